//! The map of the modules in `src/lib.rs` is right.

use std::collections::BTreeSet;
use std::path::Path;

/// The layers of the map, from the top: the modules that each of its entries names.
fn layers(map: &str, source: &Path) -> Vec<Vec<String>> {
    let is_module =
        |name: &&str| source.join(name).is_dir() || source.join(format!("{name}.rs")).exists();
    let list = map.lines().skip_while(|line| !line.starts_with("//! - "));
    let list = list.take_while(|line| *line != "//!").collect::<Vec<_>>().join("\n");
    let modules = |entry: &str| {
        let names = entry.split('`').skip(1).step_by(2).map(|name| name.trim_start_matches("mod@"));
        names.filter(is_module).map(str::to_owned).collect()
    };
    list.split("//! - ").skip(1).map(modules).collect()
}

/// The lines of a file outside of its inline tests and comments.
fn code(text: &str) -> impl Iterator<Item = &str> {
    let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
    text.lines().filter(|line| !line.trim_start().starts_with("//"))
}

/// The modules of the crate that a file uses outside of its inline tests and comments.
fn used(text: &str) -> BTreeSet<&str> {
    let name = |path: &'_ str| path.find(|it: char| !it.is_ascii_lowercase() && it != '_');
    let paths = code(text).flat_map(|line| line.split("crate::").skip(1));
    paths.map(|path| &path[..name(path).unwrap_or(path.len())]).collect()
}

/// Returns the files of the source with their paths in it and their text, without files of tests.
fn files(source: &Path) -> Vec<(String, String)> {
    let files = walkdir::WalkDir::new(source).into_iter().map(Result::unwrap);
    let code = files.filter_map(|file| {
        let path = file.path().strip_prefix(source).unwrap().to_str().unwrap();
        let is_code =
            file.path().extension().is_some_and(|it| it == "rs") && !path.contains("tests");
        is_code.then(|| (path.to_owned(), std::fs::read_to_string(file.path()).unwrap()))
    });
    code.collect()
}

#[test]
fn a_layer_uses_only_itself_and_the_layers_below_it() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let map = std::fs::read_to_string(source.join("lib.rs")).unwrap();
    let layers = layers(&map, &source);
    let layer = |name: &str| layers.iter().position(|modules| modules.iter().any(|it| it == name));
    for line in map.lines() {
        let module = line.split_once("mod ").and_then(|(_, name)| name.strip_suffix(';'));
        assert!(module.is_none_or(|name| layer(name).is_some()), "not on the map: {line}");
    }
    let mut wrong = BTreeSet::new();
    for (path, text) in files(&source) {
        let Some(own) = layer(path.split(['/', '.']).next().unwrap()) else { continue };
        let above = used(&text).into_iter().filter(|name| layer(name).is_some_and(|it| it < own));
        wrong.extend(above.map(|name| format!("{path} uses {name}")));
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// The traits of `store` do not name the parts of a store file. Only a check and a repair need them.
#[test]
fn only_a_check_knows_the_parts_of_a_store_file() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let files = files(&source);
    let users = files.iter().filter(|(_, text)| text.contains("crate::store::file"));
    let users: BTreeSet<_> = users.map(|(path, _)| path.split('/').next().unwrap()).collect();
    assert_eq!(users, BTreeSet::from(["verify"]));
}

/// A crate that an engine, an interface or the parser needs is used only there, so that it can be replaced there.
#[test]
fn a_crate_of_one_layer_is_used_only_there() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let files = files(&source);
    for (name, places) in [
        ("rusqlite", &["store/local"][..]),
        ("tantivy", &["store/local"]),
        ("tokio_postgres", &["store/postgres"]),
        ("markdown_it", &["markdown"]),
        ("clap", &["cli"]),
        ("rmcp", &["mcp"]),
    ] {
        let uses = |line: &str| {
            let is_path = |(at, _): (usize, &str)| {
                let before = line[..at].chars().next_back();
                let is_start =
                    before.is_none_or(|it| !it.is_alphanumeric() && it != '_' && it != ':');
                is_start && line[at + name.len()..].starts_with("::")
            };
            line.match_indices(name).any(is_path)
        };
        let having: Vec<&String> =
            files.iter().filter(|(_, text)| code(text).any(uses)).map(|(path, _)| path).collect();
        assert!(!having.is_empty(), "{name}");
        let is_there = |path: &str| places.iter().any(|place| path.starts_with(place));
        assert!(having.iter().all(|path| is_there(path)), "{name}: {having:?}");
    }
}
