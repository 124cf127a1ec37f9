//! Inputs on which a fuzz target once failed: each file in a folder of `fixtures/fuzz/` is given to
//! the check with the name of the folder.

use std::path::Path;

use crate::checks;

#[test]
fn inputs_that_once_failed_pass_their_checks() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/fuzz");
    for (name, check) in checks::ALL {
        let mut count = 0;
        for entry in std::fs::read_dir(folder.join(name)).unwrap() {
            check(&std::fs::read(entry.unwrap().path()).unwrap());
            count += 1;
        }
        assert!(count > 0, "{name} has no example");
    }
}

/// A target that is not built, or a check that no target calls, would never run.
#[test]
fn every_check_has_a_fuzz_target() {
    let manifest = include_str!("fuzz/Cargo.toml");
    for (name, _) in checks::ALL {
        assert!(manifest.contains(&format!("path = \"targets/{name}.rs\"")), "{name}");
    }
}
