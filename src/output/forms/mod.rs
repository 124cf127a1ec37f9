//! Each answer in the formats that are not one JSON value: rows, bytes, text for people, LDMD.
//!
//! Invariant: every form of an answer says whatever its JSON says of faults, warnings and what was
//! left out; bytes alone say it in remarks.

mod content;
mod context;
mod ingest;
mod ldmd;
mod links;
mod search;
mod structure;

use serde_json::{Value, json};

use crate::address::Fault;
use crate::error::Warning;

/// The rows behind the items: faults, warnings, and how to go on.
fn closing_rows(faults: &[Fault], warnings: &[Warning], next: Option<&String>) -> Vec<Value> {
    let faults = faults.iter().map(|fault| json!({ "unresolved": fault }));
    let warnings = warnings.iter().map(|warning| json!({ "warning": warning }));
    let next = next.map(|next| json!({ "truncated": true, "next": next }));
    faults.chain(warnings).chain(next).collect()
}

/// The same as lines, for who gets bytes alone.
fn closing_lines(faults: &[Fault], warnings: &[Warning], next: Option<&String>) -> Vec<String> {
    let faults = faults
        .iter()
        .map(|fault| format!("{}: {}: {}", fault.selector, fault.code.code(), fault.message));
    let warnings = warnings.iter().map(|warning| format!("warning: {}", warning.message));
    let next = next.map(|next| format!("more: --after {next}"));
    faults.chain(warnings).chain(next).collect()
}

fn value(item: &impl serde::Serialize) -> Value {
    serde_json::to_value(item).unwrap_or_default()
}

/// What stands behind the namespace of an address.
fn locator(address: &str) -> &str {
    address.split_once("::").map_or(address, |(_, locator)| locator)
}
