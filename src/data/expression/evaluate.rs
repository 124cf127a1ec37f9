//! Evaluates expressions over the values of a record.
//!
//! Invariants: a comparison on a missing key is false; a comparison with a list is true if it is
//! true for any element, except that `!=` is true if `=` is false.

use std::borrow::Cow;
use std::cmp::Ordering;

use regex::Regex;
use serde_json::{Map, Value};

use super::{Comparison, Expression, Operator};
use crate::data::scalar;
use crate::markdown::slug::fold;

/// A value of a record.
#[derive(Clone, Debug)]
pub enum Datum<'a> {
    /// A text, which may be a number or a date.
    Text(&'a str),
    /// A value of front matter.
    Json(Cow<'a, Value>),
}

impl Datum<'_> {
    /// Returns the same value without copying it.
    pub fn borrowed(&self) -> Datum<'_> {
        match self {
            Datum::Text(text) => Datum::Text(text),
            Datum::Json(value) => Datum::Json(Cow::Borrowed(value)),
        }
    }
}

impl Expression {
    /// Returns whether a record matches. `get` returns the value of a key, as it is written in the
    /// expression.
    pub fn matches<'a>(&self, get: &impl Fn(&str) -> Option<Datum<'a>>) -> bool {
        match self {
            Self::Compare(comparison) => {
                get(&comparison.key).is_some_and(|datum| comparison.is_true_for(&datum))
            }
            Self::Exists(key) => get(key).is_some(),
            Self::Not(inner) => !inner.matches(get),
            Self::All(parts) => parts.iter().all(|part| part.matches(get)),
            Self::Any(parts) => parts.iter().any(|part| part.matches(get)),
        }
    }
}

impl Comparison {
    pub(super) fn is_true_for(&self, datum: &Datum<'_>) -> bool {
        match self.operator {
            Operator::NotEqual => !self.is_any_equal(datum),
            Operator::Equal => self.is_any_equal(datum),
            Operator::Contains => self.contains(datum),
            Operator::Matches => any(datum, &mut |text, kind| {
                let matches = |pattern: &Regex| pattern.is_match(text);
                kind != Kind::Null && self.pattern.as_ref().is_some_and(matches)
            }),
            Operator::Less => self.is_in_order(datum, Ordering::is_lt),
            Operator::LessOrEqual => self.is_in_order(datum, Ordering::is_le),
            Operator::Greater => self.is_in_order(datum, Ordering::is_gt),
            Operator::GreaterOrEqual => self.is_in_order(datum, Ordering::is_ge),
        }
    }

    fn is_in_order(&self, datum: &Datum<'_>, is_wanted: fn(Ordering) -> bool) -> bool {
        self.value.has_order()
            && any(datum, &mut |text, kind| {
                kind.has_order()
                    && self.is_comparable(kind)
                    && self.order(text).is_some_and(is_wanted)
            })
    }

    fn is_any_equal(&self, datum: &Datum<'_>) -> bool {
        any(datum, &mut |text, kind| self.is_comparable(kind) && self.is_equal(text))
    }

    /// Returns whether a scalar of that kind can be equal to the right side: a text in quotes is no other scalar.
    fn is_comparable(&self, kind: Kind) -> bool {
        kind == Kind::Text || !self.value.is_quoted
    }

    fn order(&self, text: &str) -> Option<Ordering> {
        scalar::compare(text, &self.value.text, self.value.is_quoted)
    }

    pub(super) fn is_equal(&self, text: &str) -> bool {
        self.order(text) == Some(Ordering::Equal)
    }

    fn contains(&self, datum: &Datum<'_>) -> bool {
        let text: &str = match datum {
            Datum::Text(text) => text,
            Datum::Json(value) => match &**value {
                Value::String(text) => text,
                Value::Object(map) => return map.contains_key(&self.value.text),
                Value::Null => return false,
                _ => return self.is_any_equal(datum),
            },
        };
        // A sentence is not a list, even if it contains commas.
        let is_item = |part: &str| !part.is_empty() && !part.contains(char::is_whitespace);
        if text.contains(',') && text.split(',').map(str::trim).all(is_item) {
            // The whole text can be asked for, too.
            return self.is_equal(text) || text.split(',').any(|part| self.is_equal(part));
        }
        if scalar::is_number(text) && scalar::is_number(&self.value.text) {
            return self.is_equal(text);
        }
        text.contains(&self.value.text)
    }
}

/// What a scalar is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A text, which may be a number or a date.
    Text,
    Number,
    Boolean,
    Null,
}

impl Kind {
    /// Whether one such scalar may be less than another.
    pub(super) fn has_order(self) -> bool {
        matches!(self, Self::Text | Self::Number)
    }
}

/// Returns whether `is_match` is true for the text of a scalar, or of any element of a list.
pub(super) fn any(datum: &Datum<'_>, is_match: &mut impl FnMut(&str, Kind) -> bool) -> bool {
    match datum {
        Datum::Text(text) => is_match(text, Kind::Text),
        Datum::Json(value) => any_value(value, is_match),
    }
}

fn any_value(value: &Value, is_match: &mut impl FnMut(&str, Kind) -> bool) -> bool {
    let kind = match value {
        Value::String(text) => return is_match(text, Kind::Text),
        Value::Array(values) => return values.iter().any(|value| any_value(value, is_match)),
        Value::Object(_) => return false,
        Value::Number(_) => Kind::Number,
        Value::Bool(_) => Kind::Boolean,
        Value::Null => Kind::Null,
    };
    is_match(&value.to_string(), kind)
}

/// Returns the value at `key` of a map, or at a dotted key in the maps below it; the list of these values if the maps
/// are in a list. A key that contains the dots itself takes precedence. Of keys that differ from `key` in case alone,
/// the first in the order of their bytes is meant.
pub fn value_at<'a>(map: &'a Map<String, Value>, key: &str) -> Option<Cow<'a, Value>> {
    let value_of = |key: &str| {
        map.get(key).or_else(|| {
            let folded = fold(key);
            let others = map.iter().filter(|(name, _)| fold(name) == folded);
            others.min_by_key(|(name, _)| *name).map(|(_, value)| value)
        })
    };
    value_of(key).map(Cow::Borrowed).or_else(|| {
        key.match_indices('.').find_map(|(dot, _)| {
            let (value, key) = (value_of(key.get(..dot)?)?, key.get(dot + 1..)?);
            match value {
                Value::Object(inner) => value_at(inner, key),
                Value::Array(values) => {
                    let maps = values.iter().filter_map(Value::as_object);
                    let inner = maps.filter_map(|map| value_at(map, key)).map(Cow::into_owned);
                    let inner: Vec<Value> = inner.collect();
                    (!inner.is_empty()).then_some(Cow::Owned(Value::Array(inner)))
                }
                _ => None,
            }
        })
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn matches(record: &Value, text: &str) -> bool {
        let map = record.as_object().unwrap();
        Expression::parse(text).unwrap().matches(&|key| value_at(map, key).map(Datum::Json))
    }

    #[test]
    fn values_compare_as_what_they_are() {
        let record = json!({
            "n": 12, "v": "1.10", "d": "2026-01-31", "s": "Draft", "b": true, "empty": null,
            "tags": ["x", "y-z", 7], "requires": "2718, 17594", "one": 7594, "deep": {"a": {"b": 1}},
            "holes": [null, "h x", true], "word": "null", "a.b": "dot", "Status": "Final", "text": "some words", "call": "call Bob, then Ann",
            "objs": [{"name": "p", "in": [{"n": 1}, {"n": 2}]}, {"name": "q"}, 3],
        });
        for text in [
            "n > 9",
            "n = 12.0",
            "n != 11",
            "d < 2026-02-01",
            "d >= 2026-01",
            "d ~ ^2026",
            "s = Draft",
            "s != draft",
            "b = true",
            "exists empty",
            "empty = null",
            "tags = x",
            "tags contains 7",
            "tags > 6",
            "requires contains 2718",
            "one contains 7594",
            "deep.a.b = 1",
            "a.b = dot",
            "status = Final",
            "text contains word",
            "call contains call",
            "call contains \"Bob, then\"",
            "requires contains \"17594\"",
            "v = 1.1",
            "not missing = 1",
            "not exists missing",
            "v < \"1.9\"",
            "requires = \"2718, 17594\"",
            "deep contains a",
            "s ~ (?i)draft",
            "d >= 2026",
            "s < Final",
            "v < 2",
            "objs.name = q",
            "objs.name contains p",
            "objs.in.n > 1",
            "not exists objs.other",
            "objs.name != r",
            "b ~ ^true$",
            "n ~ 2",
            "empty != x",
            "not empty ~ .",
            "holes contains null",
            "holes ~ x",
            "word = null",
            "word > m",
            "s < \"true\"",
        ] {
            assert!(matches(&record, text), "{text}");
        }
        for text in [
            "objs.name = r",
            "objs.name != p",
            "objs.other = 1",
            "n < 9",
            "missing = 1",
            "missing != 1",
            "missing < 1",
            "s = draft",
            "tags contains y",
            "requires contains 7594",
            "tags != x",
            "v = \"1.1\"",
            "n = \"12\"",
            "n < \"9\"",
            "b = \"true\"",
            "tags contains \"7\"",
            "deep = 1",
            "exists deep.b",
            "one contains 75",
            "text contains Word",
            "s > 5",
            "s < 2026-01-01",
            "d < soon",
            "n < soon",
            "empty ~ .",
            "empty ~ ^null$",
            "empty > m",
            "empty <= null",
            "empty contains null",
            "empty = \"null\"",
            "b > a",
            "b >= true",
            "s < true",
            "s > false",
            "s < null",
            "v <= null",
            "holes > m",
            "holes ~ null",
        ] {
            assert!(!matches(&record, text), "{text}");
        }
    }

    #[test]
    fn required_keys_are_in_every_matching_record() {
        let required = |text: &str| {
            let expression = Expression::parse(text).unwrap();
            format!("{:?}", expression.required_keys())
        };
        assert_eq!(required("a = 1 and (b = 2 or c = 3) and not d = 4"), r#"[["a"], ["b", "c"]]"#);
        assert_eq!(required("a = 1 or not b = 2"), "[]");
    }

    /// The operators, written again in the simplest way, over integers and words.
    fn model(record: &[(char, i64)], tokens: &[Token]) -> bool {
        let mut stack = Vec::new();
        for token in tokens {
            match token {
                Token::Compare(key, operator, value) => {
                    let found = record.iter().find(|(name, _)| name == key);
                    stack.push(found.is_some_and(|(_, left)| match *operator {
                        "=" => left == value,
                        "!=" => left != value,
                        "<" => left < value,
                        "<=" => left <= value,
                        ">" => left > value,
                        _ => left >= value,
                    }));
                }
                Token::Not => {
                    let top = stack.pop().unwrap_or(true);
                    stack.push(!top);
                }
                Token::And | Token::Or => {
                    let (Some(b), Some(a)) = (stack.pop(), stack.pop()) else { return true };
                    stack.push(if matches!(token, Token::And) { a && b } else { a || b });
                }
            }
        }
        stack.pop().unwrap_or(true)
    }

    /// A token of an expression in reverse Polish notation.
    #[derive(Clone, Debug)]
    enum Token {
        Compare(char, &'static str, i64),
        Not,
        And,
        Or,
    }

    /// Returns the text of an expression in reverse Polish notation, with all parentheses.
    fn text_of(tokens: &[Token]) -> Option<String> {
        let mut stack: Vec<String> = Vec::new();
        for token in tokens {
            let text = match token {
                Token::Compare(key, operator, value) => format!("{key}{operator}{value}"),
                Token::Not => format!("not ({})", stack.pop()?),
                Token::And | Token::Or => {
                    let (b, a) = (stack.pop()?, stack.pop()?);
                    let word = if matches!(token, Token::And) { "and" } else { "or" };
                    format!("({a}) {word} ({b})")
                }
            };
            stack.push(text);
        }
        (stack.len() == 1).then(|| stack.pop()).flatten()
    }

    proptest! {
        #[test]
        fn expressions_agree_with_a_naive_model(
            record in proptest::collection::vec((prop::char::range('a', 'e'), -3_i64..12), 0..4),
            tokens in proptest::collection::vec(
                prop_oneof![
                    5 => (prop::char::range('a', 'e'), 0_usize..6, -3_i64..12).prop_map(|(k, o, v)| {
                        Token::Compare(k, ["=", "!=", "<", "<=", ">", ">="][o], v)
                    }),
                    1 => Just(Token::Not),
                    2 => Just(Token::And),
                    2 => Just(Token::Or),
                ],
                1..12,
            )
        ) {
            if let Some(text) = text_of(&tokens) {
                let mut map = Map::new();
                for (key, value) in record.iter().rev() {
                    map.insert(key.to_string(), json!(value));
                }
                prop_assert_eq!(matches(&Value::Object(map), &text), model(&record, &tokens), "{}", text);
            }
        }
    }
}
