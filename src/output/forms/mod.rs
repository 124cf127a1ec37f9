//! Formats each answer as rows, bytes, text, records and LDMD.
//!
//! Invariant: a format prints the items of an answer and nothing else. [`super::Footer`] prints warnings,
//! unresolved selectors and the cursor for all formats.

mod content;
mod context;
mod data;
mod edit;
pub(crate) mod edit_json;
mod ingest;
mod ldmd;
mod links;
mod page;
mod prime;
mod relocate;
mod search;
mod structure;
#[cfg(test)]
mod tests;
mod toc;

pub use ingest::NamedValues;
use serde_json::Value;

use crate::limits;

/// What separates the titles above a place.
const TITLE_SEPARATOR: &str = " > ";

/// Returns the nearest of the `titles` above a place that fit into [`limits::TITLES_CHARS`], or the nearest one.
fn nearest_titles(mut titles: &[String]) -> &[String] {
    while let [_, nearer @ ..] = titles
        && !nearer.is_empty()
        && titles.join(TITLE_SEPARATOR).chars().count() > limits::TITLES_CHARS
    {
        titles = nearer;
    }
    titles
}

fn value(item: &impl serde::Serialize) -> Value {
    serde_json::to_value(item).unwrap_or_default()
}

/// Returns the row of an answer, without the `fields` that have rows of their own.
fn row_without(answer: &impl serde::Serialize, fields: &[&str]) -> Value {
    let mut row = value(answer);
    if let Value::Object(all) = &mut row {
        all.retain(|name, _| !fields.contains(&name.as_str()));
    }
    row
}

/// Returns the part of an address after the namespace, with the `::` without which it would name a place in every document.
fn locator(address: &str) -> &str {
    address.find("::").and_then(|at| address.get(at..)).unwrap_or(address)
}
