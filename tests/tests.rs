//! The suite of the command line and of the properties that hold for any corpus.
//!
//! One binary, one module a subject; `harness` runs the program in a folder of its own. Properties
//! run over `fixtures/` always, and over the corpora below `MDSEL_CORPORA` where that is set.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "a test that cannot go on fails, and one that is skipped says so"
)]

mod addresses;
mod bad_input;
mod budgets;
#[path = "fuzz/checks.rs"]
mod checks;
mod context;
mod corpus;
mod damage;
mod edit_effects;
mod edit_rules;
mod edits;
mod errors;
mod faults;
mod filters;
mod findings;
mod harness;
mod help;
mod ingest;
mod kills;
mod ldmd;
mod library;
mod links;
mod mcp;
mod memory;
mod names;
mod packs;
mod properties;
mod readme;
mod recovery;
mod reference;
mod scan;
mod search;
mod select;
mod steps;
mod stores;
mod swaps;
mod trust;
mod verify;
mod watch;
mod work;

/// A test file that is not listed above would never run.
#[test]
fn every_file_is_a_module() {
    let listed = include_str!("tests.rs");
    for entry in std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/tests")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap();
        let is_binary = ["tests", "failpoints"].contains(&name);
        if path.extension().is_some_and(|extension| extension == "rs") && !is_binary {
            assert!(listed.contains(&format!("mod {name};")), "{name} is not listed");
        }
    }
}
