//! Linked notes, and a move that changes several of their files.

use std::collections::BTreeMap;
use std::path::Path;

use crate::harness::Place;

/// The files below a folder, by path, without the store.
pub(crate) type Files = BTreeMap<String, Vec<u8>>;

/// Notes with a link of every kind to `notes/target.md`, and links out of it.
pub(crate) const NOTES: &[(&str, &str)] = &[
    (
        "notes/target.md",
        "---\nlinks:\n  - id: other\n---\n# The goal\n\n[a](other.md#part) ![i](../i.png) [[other]] [b](./other.md) [self](#part-one) [out](../../x.md)\n\n## Part one\n\nText. ^block\n",
    ),
    (
        "notes/other.md",
        "# Other\n\n[up](target.md) [[target#Part one|x]] ![[target#^block]]\n\n## Part\n",
    ),
    (
        "index.md",
        "---\nlinks: [target, \"notes/target\"]\n---\n# Index\n\n- [one](notes/target.md \"Title\")\n- [two](<notes/target.md#part-one>)\n- [three][t], [t]\n- [[notes/target|shown]]\n- [[The goal]]\n- <https://x.org/notes/target.md>\n- `[code](notes/target.md)`\n\n| a |\n| - |\n| [[target\\|b]] |\n\n[t]: notes/target.md 'Title'\n",
    ),
    (
        "deep/er/far.md",
        "# Far\n\n[far](../../notes/target.md?x=1#part-one) [root](/notes/target.md) [[notes/target]]\n",
    ),
    (
        "answer.md",
        "# Answer\n\n<!--LDMD:REF doc=\"notes/target.md\"-->\n<!--LDMD:REF section=\"none\" doc=\"notes/target.md\"-->\n",
    ),
    ("plain.md", "# Plain\n\nno links\n"),
];

/// The command that moves the target.
pub(crate) const MOVE: [&str; 3] = ["move", "notes/target.md", "archive/old/The target (1).md"];

/// A store of the notes.
pub(crate) fn vault() -> Place {
    let place = Place::with(NOTES);
    place.write("i.png", "");
    place.run(&["ingest"]).success();
    place
}

/// The files of a place, by path, without the store.
pub(crate) fn files(place: &Place) -> Files {
    fn collect(folder: &Path, prefix: &str, files: &mut Files) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let entry = entry.unwrap();
            let name = entry.file_name().into_string().unwrap();
            let path = format!("{prefix}{name}");
            if name.starts_with(".mdsel.db") || name == ".config" {
                continue;
            }
            if entry.file_type().unwrap().is_dir() {
                collect(&entry.path(), &format!("{path}/"), files);
            } else {
                files.insert(path, std::fs::read(entry.path()).unwrap());
            }
        }
    }
    let mut all = Files::new();
    collect(place.path(), "", &mut all);
    all
}

/// Asserts that the files are all as before or all as after, and that the store has the same versions.
pub(crate) fn assert_all_or_none(place: &Place, before: &Files, after: &Files, what: &str) {
    let now = files(place);
    assert!(now == *before || now == *after, "{what}: {:?}", now.keys().collect::<Vec<_>>());
    let check = place.run(&["ingest", "--check"]).json();
    assert_eq!(check["findings"], serde_json::json!([]), "{what}");
}
