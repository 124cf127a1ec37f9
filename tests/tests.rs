//! The integration tests: the command line, and properties of any corpus.
//!
//! One binary with one module per subject; `harness` runs the program in a temporary folder. The
//! properties always run over `fixtures/`, and over the corpora in `MDSEL_CORPORA` if it is set.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "a test that cannot continue fails, and a skipped test prints why"
)]

mod addresses;
mod bad_input;
mod budgets;
#[path = "fuzz/checks.rs"]
mod checks;
mod collections;
mod compact;
mod context;
mod corpus;
mod damage;
mod data;
mod edit_effects;
mod edit_rules;
mod edits;
mod engines;
mod errors;
mod faults;
mod features;
mod filters;
mod fuzz_examples;
mod harness;
mod help;
mod ingest;
mod kills;
mod layers;
mod ldmd;
mod library;
mod links;
#[cfg(feature = "mcp")]
mod mcp;
mod memory;
mod names;
mod packs;
mod passages;
mod printed;
mod properties;
mod readme;
mod recovery;
mod reference;
mod relocate;
mod scan;
mod schema;
mod schemas;
mod search;
mod select;
mod server;
#[cfg(feature = "postgres")]
mod server_faults;
#[cfg(feature = "postgres")]
mod servers;
mod steps;
mod stores;
mod swaps;
mod trust;
mod vault;
mod verify;
#[cfg(feature = "watch")]
mod watch;
mod words;
mod work;

/// A test file that is not listed above would never run.
#[test]
fn every_test_file_is_listed_as_a_module() {
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
