//! The parts of the program that a feature leaves out. Without the feature they fail before they change anything.

use crate::harness::Place;

/// Whether the program under test has the feature. Prints what is not tested otherwise.
pub(crate) fn has(feature: &str) -> bool {
    let has = match feature {
        "mcp" => cfg!(feature = "mcp"),
        "watch" => cfg!(feature = "watch"),
        "postgres" => cfg!(feature = "postgres"),
        other => panic!("no feature {other:?}"),
    };
    if !has {
        eprintln!("skipped: the program under test was built without the feature {feature:?}");
    }
    has
}

#[test]
fn a_store_on_a_server_without_the_feature_says_how_to_get_it() {
    if has("postgres") {
        return;
    }
    let place = Place::with(&[("a.md", "# A\n")]);
    for command in [&["status"][..], &["ingest"], &["search", "a"]] {
        let answer = place.run(&[command, &["--db", "postgres://me:secret@h/d"]].concat()).ends(2);
        assert!(answer.stderr.contains("--features postgres"), "{}", answer.stderr);
        assert!(!answer.stderr.contains("secret"), "{}", answer.stderr);
    }
}
