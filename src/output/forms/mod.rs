//! Each answer in the formats that are not one JSON value: rows, bytes, text for people, LDMD.
//!
//! Invariant: every form of an answer says whatever its JSON says of faults, warnings and what was
//! left out; bytes alone say it in remarks.

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
