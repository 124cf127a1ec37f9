//! Each answer in the formats that are not one JSON value: rows, bytes, text for people, records, LDMD.
//!
//! Invariant: a form tells the items of an answer and nothing else; what stands beside them is said for
//! all forms by [`super::Rest`].

mod content;
mod context;
mod edit;
mod ingest;
mod ldmd;
mod links;
mod search;
mod structure;

use serde_json::Value;

fn value(item: &impl serde::Serialize) -> Value {
    serde_json::to_value(item).unwrap_or_default()
}

/// What stands behind the namespace of an address.
fn locator(address: &str) -> &str {
    address.split_once("::").map_or(address, |(_, locator)| locator)
}
