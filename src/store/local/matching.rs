//! The documents whose front matter matches a condition.
//!
//! Only the values of the keys in the condition are read, those of each key once. Invariant: a document
//! without any of the keys matches if and only if the condition is true for empty front matter.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde_json::{Map, Value};

use super::Snapshot;
use super::ids::Ids;
use crate::data::expression::value_at;
use crate::data::{Datum, Expression};
use crate::error::Result;
use crate::markdown::slug::fold;

/// Returns the documents whose front matter matches `condition`.
pub(super) fn matching(snapshot: &Snapshot, condition: &Expression) -> Result<Ids> {
    let mut tests: Vec<Test<'_>> = Vec::new();
    collect(condition, &mut tests);
    let keys: BTreeSet<&str> = tests.iter().map(|test| test.key).collect();
    for key in keys {
        let mut of_key: Vec<&mut Test<'_>> =
            tests.iter_mut().filter(|test| test.key == key).collect();
        read(snapshot, key, &mut of_key)?;
    }
    let mut results = tests.into_iter().map(|test| Ids::of(test.found));
    Ok(combined(condition, &mut results))
}

/// A part of a condition that is about one key, and the documents for which it is true, ascending.
struct Test<'a> {
    key: &'a str,
    part: &'a Expression,
    found: Vec<i64>,
}

impl Test<'_> {
    fn run(&mut self, document: i64, datum: &Datum<'_>) {
        if self.part.matches(&|_| Some(datum.borrowed())) {
            self.found.push(document);
        }
    }
}

/// Adds the parts of `condition` that are about one key, in the order in which [`combined`] takes them.
fn collect<'a>(condition: &'a Expression, tests: &mut Vec<Test<'a>>) {
    match condition {
        Expression::Compare(comparison) => {
            tests.push(Test { key: &comparison.key, part: condition, found: Vec::new() });
        }
        Expression::Exists(key) => tests.push(Test { key, part: condition, found: Vec::new() }),
        Expression::Not(inner) => collect(inner, tests),
        Expression::All(parts) | Expression::Any(parts) => {
            for part in parts {
                collect(part, tests);
            }
        }
    }
}

fn combined(condition: &Expression, results: &mut impl Iterator<Item = Ids>) -> Ids {
    let none = || Ids::of(Vec::new());
    match condition {
        Expression::Compare(_) | Expression::Exists(_) => results.next().unwrap_or_else(none),
        Expression::Not(inner) => combined(inner, results).complement(),
        Expression::All(parts) => {
            parts.iter().fold(Ids::all(), |ids, part| ids.and(&combined(part, results)))
        }
        Expression::Any(parts) => {
            parts.iter().fold(none(), |ids, part| ids.or(combined(part, results)))
        }
    }
}

/// Returns the value of `key` by the id of the document; `None` if it may be in maps.
pub(super) fn values(snapshot: &Snapshot, key: &str) -> Result<Option<HashMap<i64, Value>>> {
    if has_maps(snapshot, key)? {
        return Ok(None);
    }
    let mut values = HashMap::new();
    visit(snapshot, key, |document, value, _| {
        values.insert(document, parsed_value(value));
    })?;
    Ok(Some(values))
}

/// Calls `take` with the value of `key` as JSON, for each document that has it at the top. If the
/// last argument is true, the value replaces the one of the last call, which is of the same document.
///
/// Of names that differ in case only, the same text precedes others.
fn visit(snapshot: &Snapshot, key: &str, mut take: impl FnMut(i64, &str, bool)) -> Result<()> {
    let mut last: Option<(i64, bool)> = None;
    snapshot.visit_front_matter(&fold(key), |document, name, value| {
        let is_exact = name == key;
        let before = last.filter(|(before, _)| *before == document);
        if before.is_none_or(|(_, was_exact)| is_exact && !was_exact) {
            last = Some((document, is_exact));
            take(document, value, before.is_some());
        }
    })
}

/// Runs `tests` on the value of `key` in each document that has it.
fn read(snapshot: &Snapshot, key: &str, tests: &mut [&mut Test<'_>]) -> Result<()> {
    if has_maps(snapshot, key)? {
        return read_nested(snapshot, key, tests);
    }
    visit(snapshot, key, |document, value, replaces| {
        if replaces {
            for test in &mut *tests {
                test.found.pop_if(|found| *found == document);
            }
        }
        let datum = match plain(value) {
            Some(text) => Datum::Text(text),
            None => Datum::Json(Cow::Owned(parsed_value(value))),
        };
        for test in &mut *tests {
            test.run(document, &datum);
        }
    })
}

/// Returns the text of a string in JSON that has no escapes.
fn plain(json: &str) -> Option<&str> {
    let text = json.strip_prefix('"')?.strip_suffix('"')?;
    (!text.contains('\\')).then_some(text)
}

/// Parses a stored value. `verify` finds damage; until then a damaged value is null.
fn parsed_value(json: &str) -> Value {
    serde_json::from_str(json).unwrap_or(Value::Null)
}

/// Returns the case-folded parts of a dotted key before its dots.
fn maps_of(key: &str) -> impl Iterator<Item = String> {
    key.match_indices('.').filter_map(|(dot, _)| key.get(..dot)).map(fold)
}

/// Returns whether any document has a map, or a list of maps, in which a dotted key may be.
fn has_maps(snapshot: &Snapshot, key: &str) -> Result<bool> {
    let mut has_map = false;
    for part in maps_of(key) {
        snapshot
            .visit_front_matter(&part, |_, _, value| has_map |= value.starts_with(['{', '[']))?;
    }
    Ok(has_map)
}

/// Runs `tests` on the value of a dotted key, which may be a key with dots or be in the maps below its first
/// parts.
fn read_nested(snapshot: &Snapshot, key: &str, tests: &mut [&mut Test<'_>]) -> Result<()> {
    let mut documents: BTreeMap<i64, Map<String, Value>> = BTreeMap::new();
    for part in maps_of(key).chain([fold(key)]) {
        snapshot.visit_front_matter(&part, |document, name, value| {
            documents.entry(document).or_default().insert(name.to_owned(), parsed_value(value));
        })?;
    }
    for (document, map) in documents {
        if let Some(datum) = value_at(&map, key).map(Datum::Json) {
            for test in &mut *tests {
                test.run(document, &datum);
            }
        }
    }
    Ok(())
}
