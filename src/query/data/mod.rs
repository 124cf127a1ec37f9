//! `code`, `tables`, `tasks` and `meta`: what is inside documents, as data.
//!
//! `list` finds the documents by the keys that an ingest stored, and each module answers one command.
//! Invariant: no text is parsed; the texts of code blocks are read from the stored bytes, and everything
//! else from the rows of the document.

pub mod code;
pub mod meta;
pub mod tables;
pub mod tasks;

use std::collections::HashSet;

use super::batches::{Candidates, DocumentBatches};
use super::cursor::most;
use super::filter::Filter;
use super::open_document::OpenDocument;
use super::warning::{CHANGED_FILES, NO_ITEMS, OTHER_VALUES, UNKNOWN_KEY, parsed_before};
use super::{Cursor, FilterRequest, Page, Session};
use crate::address::suggest::most_similar;
use crate::data::expression::Reason;
use crate::data::{Expression, Key};
use crate::error::{Result, Warning};
use crate::limits;
use crate::markdown::outline::Outline;
use crate::message::message;
use crate::position::ByteSpan;
use crate::store::{DocumentFilter, Lookup, StoredDocument};
use crate::visible::quoted;

/// The part of a request for items that says which documents they are in, and which part of the list to return.
#[derive(Clone, Debug)]
pub struct ItemRequest {
    /// The documents, sections and blocks to consider.
    pub filter: FilterRequest,
    /// The maximum number of items; 0 for all.
    pub limit: usize,
    /// The cursor of the previous answer, if any.
    pub after: Option<Cursor>,
}

/// Implements an answer whose items are in one field. `$cut_message` names the command that prints a whole item, by its
/// field `$name` with `$params` after it. `$file` is its field with the path of the document, if any. Each `$other` is a
/// field that all parts of the answer have in common.
macro_rules! list_of_items {
    ($answer:ident, $field:ident, $cut_message:literal, $name:ident, $params:literal, [$($file:ident)?], $longest:expr,
     $cut:expr
     $(; $other:ident)*) => {
        impl crate::query::List for $answer {
            fn page_mut(&mut self) -> Option<&mut crate::query::Page> {
                Some(&mut self.page)
            }

            $(fn labeled_files(&self) -> Vec<&str> {
                self.$field.iter().map(|item| &*item.$file).collect()
            })?

            fn outcome(&self) -> crate::query::Outcome {
                self.page.outcome_of_list(!self.$field.is_empty())
            }

            fn count(&self) -> usize {
                self.$field.len()
            }

            fn first(&self, count: usize) -> Self {
                match self.$field.get(..count) {
                    Some(first) if count < self.$field.len() => {
                        $(let $other = self.$other.clone();)*
                        Self { $field: first.to_vec(), page: self.page.ended(count) $(, $other)* }
                    }
                    _ => self.clone(),
                }
            }

            fn sizes_of_first(&self) -> usize {
                self.$field.first().map_or(0, $longest)
            }

            fn cut_first(&mut self, size: usize) -> bool {
                let Some(item) = self.$field.first_mut() else { return false };
                let name = item.$name.clone();
                $cut(item, size);
                let message = crate::message::message!(
                    $cut_message,
                    format!("{name}{}", $params)
                );
                self.page.cut_item(message);
                true
            }
        }
    };
}

use list_of_items;

/// Parses the expression of a request.
fn expression(text: Option<&String>) -> Result<Option<Expression>> {
    text.map(|text| Expression::parse(text)).transpose()
}

/// The items of one document that are found before any of them is shown.
trait Source {
    /// An item as it is stored.
    type Found;
    /// An item as it is shown.
    type Item;

    /// Returns the matching items of a document, in document order.
    fn find(&mut self, stored: &StoredDocument) -> Result<Vec<Self::Found>>;

    /// Returns the node of an item in the outline; `None` for the whole document.
    fn node(found: &Self::Found) -> Option<usize>;

    /// Returns the first bytes of an item. An item is in the lines in which it begins.
    fn start(found: &Self::Found, outline: &Outline) -> ByteSpan {
        let span = match Self::node(found) {
            Some(node) => outline.nodes.get(node).map(|node| node.bytes),
            None => outline.front_matter,
        };
        let span = span.unwrap_or_default();
        ByteSpan { end: span.end.min(span.start + 1), ..span }
    }

    /// What the items are, or are in.
    const ITEM: &'static str;

    /// Returns whether a document that `filter` admits has items.
    fn has_items(&self, session: &Session<'_>, filter: &DocumentFilter) -> Result<bool> {
        has_any(session, filter, &[Self::KEYS.iter().map(|key| key.hash()).collect()])
    }

    /// What says that something has a name of [`Self::names`].
    const HAS: &'static str = "";

    /// Returns the names of columns, fields or languages that were asked for, and their keys.
    fn names(&self) -> Vec<(&str, Key<'_>)> {
        Vec::new()
    }

    /// The keys of which the documents with such names have one.
    const KEYS: &'static [Key<'static>] = &[];

    /// Returns all names that the items of a document have.
    fn all_names(&self, _: &StoredDocument) -> Result<Vec<String>> {
        Ok(Vec::new())
    }

    /// Returns whether an item, or what it is in, has a name of [`Self::names`].
    fn has(_: &Self::Found, _: &str) -> bool {
        false
    }

    /// Returns the condition on the items.
    fn condition(&self) -> Option<&Expression> {
        None
    }

    /// Adds the values of the items of a document at the key of a comparison of the condition.
    fn add_values(&self, _: &StoredDocument, _: &mut Reason<'_>) -> Result<()> {
        Ok(())
    }

    /// Returns the warning about items that cannot be listed. It does not depend on the part of the list.
    fn warning(&self, _: &Filter) -> Result<Option<Warning>> {
        Ok(None)
    }

    /// Returns an item to show.
    fn show(&mut self, document: &OpenDocument, found: Self::Found) -> Result<Self::Item>;
}

/// Number of items among which a name that was asked for is looked for before the whole store is.
const FIRST_ITEMS: usize = 64;

/// Lists the items of `source` in the documents that have a key of each set of `keys`. A set is the
/// hashes of [`crate::data::Key`]s.
fn list<S: Source>(
    session: &Session<'_>,
    request: &ItemRequest,
    keys: &[Vec<i64>],
    source: &mut S,
) -> Result<(Vec<S::Item>, Page)> {
    let mut page = Page::beginning(request.after, session.reader.generation());
    let filter = Filter::new(session, &request.filter)?;
    page.unresolved_selectors.clone_from(&filter.faults);
    page.warnings.extend(filter.warnings.iter().cloned());
    if !request.filter.has_condition() {
        page.warnings.extend(parsed_before(session));
    }
    page.warnings.extend(source.warning(&filter)?);
    let limit = most(request.limit);
    let mut skip = page.part.start();
    let mut items = Vec::new();
    // The names that none of the first items has.
    let mut seen = HashSet::new();
    let names = source.names().into_iter().map(|(name, key)| (name.to_owned(), key.hash()));
    let mut names: Vec<(String, i64)> = names.filter(|(_, hash)| seen.insert(*hash)).collect();
    let order = request.filter.order();
    let candidates = Candidates::Keys(keys);
    let documents = DocumentBatches::new(session, filter.documents.clone(), order, candidates)?;
    'documents: for stored in documents {
        let stored = stored?;
        let found = source.find(&stored)?;
        if found.is_empty() {
            continue;
        }
        let mut open = None;
        for found in found {
            let is_taken = !filter.looks_inside() || {
                let document = opened(session, &stored, &mut open)?;
                filter.takes(document, S::start(&found, document.tree.outline()))
            };
            if !is_taken {
                continue;
            }
            if skip > 0 {
                skip -= 1;
                continue;
            }
            if items.len() == limit {
                page.end(limit);
                break 'documents;
            }
            if items.len() < FIRST_ITEMS {
                names.retain(|(name, _)| !S::has(&found, name));
            }
            let document = opened(session, &stored, &mut open)?;
            items.push(source.show(document, found)?);
        }
    }
    if page.part.start() == 0 {
        let everywhere = DocumentFilter::default();
        for (name, hash) in &names {
            if !has_any(session, &everywhere, &[vec![*hash]])? {
                page.warnings.push(unknown(session, source, name, &everywhere)?);
            }
        }
        let is_known = !page.warnings.iter().any(|one| one.code == UNKNOWN_KEY);
        if items.is_empty() && is_known {
            page.warnings.extend(reason(session, &filter, keys, names, source)?);
        }
        if items.is_empty()
            && is_unexplained(&page)
            && !source.has_items(session, &filter.documents)?
        {
            page.warnings.push(no_items(S::ITEM));
        }
        if items.is_empty() {
            let change = filter.change(session)?;
            page.advice = change.is_none().then(|| CHANGED_FILES.into());
            page.warnings.extend(change);
        }
    }
    Ok((items, page))
}

/// Returns whether nothing in the answer says why there are no items.
fn is_unexplained(page: &Page) -> bool {
    page.warnings.is_empty() && page.unresolved_selectors.is_empty()
}

/// Returns the warning that there are no items, which are `what` or are in it.
fn no_items(what: &str) -> Warning {
    let message = message!(
        "none of the documents asked about has {}; `mdsel toc --depth 0` lists all documents",
        what
    );
    Warning::new(NO_ITEMS, message)
}

/// Returns the warning for an empty list of items whose names occur in the store.
fn reason<S: Source>(
    session: &Session<'_>,
    filter: &Filter,
    keys: &[Vec<i64>],
    names: Vec<(String, i64)>,
    source: &mut S,
) -> Result<Option<Warning>> {
    let empty = filter.empty(session)?;
    if empty.is_some() || filter.has_unknown() {
        return Ok(empty);
    }
    if !filter.documents.is_empty() {
        for (name, hash) in names {
            if !has_any(session, &filter.documents, &[vec![hash]])? {
                return unknown(session, source, &name, &filter.documents).map(Some);
            }
        }
    }
    let Some(condition) = source.condition().cloned() else { return Ok(None) };
    let mut reasons = Reason::of(&condition);
    let candidates = Candidates::Keys(keys);
    for stored in DocumentBatches::new(session, filter.documents.clone(), None, candidates)? {
        let stored = stored?;
        for reason in &mut reasons {
            source.add_values(&stored, reason)?;
        }
    }
    let message = reasons.iter().find_map(Reason::message);
    Ok(message.map(|message| Warning::new(OTHER_VALUES, message)))
}

/// Returns the warning that no item in the documents that `filter` admits has the name `name`.
fn unknown<S: Source>(
    session: &Session<'_>,
    source: &S,
    name: &str,
    filter: &DocumentFilter,
) -> Result<Warning> {
    let known = match known_names(session, source, name, filter)?.as_slice() {
        [] => String::new(),
        known => format!("; there are {}", known.join(", ")),
    };
    let place = if filter.is_empty() { "" } else { " in the documents that pass the filters" };
    Ok(Warning::new(
        UNKNOWN_KEY,
        format!("no {} {name}{place}{known}", S::HAS, name = quoted(&name)),
    ))
}

/// Returns the names in the first documents with items of `source`, those similar to `name` first.
fn known_names<S: Source>(
    session: &Session<'_>,
    source: &S,
    name: &str,
    filter: &DocumentFilter,
) -> Result<Vec<String>> {
    let keys = [S::KEYS.iter().map(|key| key.hash()).collect()];
    let documents = session.reader.documents(&Lookup::Data(filter, &keys), None, FIRST_ITEMS)?;
    let mut names = Vec::new();
    for stored in &documents {
        for found in source.all_names(stored)? {
            if !names.contains(&found) && names.len() < limits::MAX_NAMES_COMPARED {
                names.push(found);
            }
        }
    }
    let similar = most_similar(name, names.iter().cloned());
    let mut shown: Vec<String> = similar;
    for name in names {
        if shown.len() < limits::MAX_CANDIDATES_SHOWN && !shown.contains(&name) {
            shown.push(name);
        }
    }
    Ok(shown)
}

/// Returns the warning that the sort key, which is also a name of items, orders documents. `what` is what has the name.
fn sorts_documents(
    session: &Session<'_>,
    request: &ItemRequest,
    key_of: fn(&str) -> Key<'_>,
    what: &str,
) -> Result<Option<Warning>> {
    let Some(key) = request.filter.order().and_then(|order| order.front_matter_key()) else {
        return Ok(None);
    };
    if !has_any(session, &DocumentFilter::default(), &[vec![key_of(key).hash()]])? {
        return Ok(None);
    }
    let message = message!(
        "{} is also a {}; --sort orders documents by their front matter, and --where '{} < VALUE' \
         selects items by their own values",
        key,
        what,
        key
    );
    Ok(Some(Warning::new("SORTS_DOCUMENTS", message)))
}

/// Returns whether a document that `filter` admits has a key of each set of `keys`.
fn has_any(session: &Session<'_>, filter: &DocumentFilter, keys: &[Vec<i64>]) -> Result<bool> {
    Ok(!session.reader.documents(&Lookup::Data(filter, keys), None, 1)?.is_empty())
}

fn opened<'a>(
    session: &Session<'_>,
    stored: &StoredDocument,
    open: &'a mut Option<std::rc::Rc<OpenDocument>>,
) -> Result<&'a OpenDocument> {
    let document = match open.take() {
        Some(document) => document,
        None => session.open(stored)?,
    };
    Ok(&*open.insert(document))
}

/// Returns the titles of the sections that contain a node, outermost first.
pub(super) fn heading_path(document: &OpenDocument, node: usize) -> Vec<String> {
    let sections = document.tree.sections_above(node);
    sections.into_iter().map(|section| section.title.clone()).collect()
}
