//! Every text of the repository uses plain words with American spelling.

use std::collections::BTreeSet;
use std::path::Path;

/// What is checked, below the root of the repository.
const CHECKED: [&str; 6] = ["README.md", ".github", "benches", "migrations", "src", "tests"];

/// Words and phrases that must not occur, and what to write instead.
///
/// A tilde splits each of them, so that this list does not contain what it forbids. The check removes
/// the tildes.
const FORBIDDEN: &[(&str, &str)] = &[
    ("be~hind", "after"),
    ("to~ld", "printed, reported, returned, listed"),
    ("tel~ls", "prints, reports, returns, lists"),
    ("me~nd", "repair"),
    ("me~nds", "repairs"),
    ("me~nded", "repaired"),
    ("an~ew", "again"),
    ("f~or to", "to"),
    ("as f~ar as", "if, up to"),
    ("c~ome to", "reach"),
    ("c~omes to", "reaches"),
    ("rem~ark", "warning, notice"),
    ("rem~arks", "warnings, notices"),
    ("sal~vage", "recover"),
    ("sal~vages", "recovers"),
    ("sal~vaged", "recovered"),
    ("wre~ck", "damaged store"),
    ("pain~ter", "writer"),
    ("the con~tract", "the page of the reference"),
    ("con~tract section", "the page of the reference"),
    ("se~ed paper", "the page of the reference"),
    ("the pa~per", "the page of the reference"),
    ("miss~pelt", "misspelled"),
    ("whi~lst", "while"),
];

/// The beginnings of words with British spelling.
const BRITISH: &[&str] = &["behav~iour", "col~our", "fav~our", "hon~our", "lab~our", "neigh~bour"];

/// Verbs that end in `ize`, without this ending.
const VERBS: &[&str] = &[
    "apolog",
    "author",
    "capital",
    "categor",
    "character",
    "custom",
    "deserial",
    "emphas",
    "equal",
    "final",
    "general",
    "initial",
    "local",
    "maxim",
    "minim",
    "modern",
    "normal",
    "optim",
    "organ",
    "priorit",
    "real",
    "recogn",
    "sanit",
    "serial",
    "special",
    "standard",
    "summar",
    "synchron",
    "token",
    "util",
    "visual",
];

/// The British endings of these verbs.
const ENDINGS: [&str; 6] = ["ise", "ised", "iser", "ises", "ising", "isation"];

/// Parts of lines that may contain a forbidden word, with the reason. Tildes are as in `FORBIDDEN`.
const ALLOWED: &[(&str, &str)] =
    &[("# A heading be~hind a blank line", "a heading in fixtures/documents/headings.md")];

/// The words of a text in lower case, each with the number of its line.
///
/// A word ends at a character that is not a letter, and between a small letter and a capital one.
fn words_of(text: &str) -> Vec<(usize, String)> {
    let mut words: Vec<(usize, String)> = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let mut last = ' ';
        for letter in line.chars() {
            let begins = !last.is_ascii_alphabetic()
                || last.is_ascii_lowercase() && letter.is_ascii_uppercase();
            if letter.is_ascii_alphabetic() {
                if begins {
                    words.push((number, String::new()));
                }
                words.last_mut().unwrap().1.push(letter.to_ascii_lowercase());
            }
            last = letter;
        }
    }
    words
}

fn is_british(word: &str) -> bool {
    let has_ending =
        |verb: &&str| word.strip_prefix(*verb).is_some_and(|ending| ENDINGS.contains(&ending));
    BRITISH.iter().any(|start| word.starts_with(&start.replace('~', "")))
        || VERBS.iter().any(has_ending)
}

/// The forbidden words in a text, each with its line and what to write instead. Adds the parts of
/// `ALLOWED` that occur to `used`.
fn problems(text: &str, used: &mut BTreeSet<&'static str>) -> Vec<String> {
    let mut text = text.to_owned();
    for (part, _) in ALLOWED {
        let plain = part.replace('~', "");
        if text.contains(&plain) {
            used.insert(part);
            text = text.replace(&plain, "");
        }
    }
    let words = words_of(&text);
    let mut problems = Vec::new();
    for (phrase, instead) in FORBIDDEN {
        let phrase = phrase.replace('~', "");
        let wanted: Vec<&str> = phrase.split(' ').collect();
        for found in words.windows(wanted.len()) {
            if found.iter().zip(&wanted).all(|((_, word), wanted)| word == wanted) {
                problems.push(format!("{}: \"{phrase}\": write {instead}", found[0].0));
            }
        }
    }
    for (line, word) in &words {
        if is_british(word) {
            problems.push(format!("{line}: \"{word}\": write the American spelling"));
        }
    }
    problems
}

/// Adds the problems of a file, or of every file in a folder, each with its path.
fn check(path: &Path, used: &mut BTreeSet<&'static str>, problems_found: &mut Vec<String>) {
    if path.is_dir() {
        for entry in std::fs::read_dir(path).unwrap() {
            let entry = entry.unwrap();
            if entry.file_name() != "target" {
                check(&entry.path(), used, problems_found);
            }
        }
    } else if let Ok(text) = std::fs::read_to_string(path) {
        let shown = path.strip_prefix(env!("CARGO_MANIFEST_DIR")).unwrap().display();
        let found = problems(&text, used);
        problems_found.extend(found.iter().map(|problem| format!("{shown}:{problem}")));
    }
}

#[test]
fn no_file_contains_a_forbidden_word() {
    let (mut used, mut found) = (BTreeSet::new(), Vec::new());
    for path in CHECKED {
        check(&Path::new(env!("CARGO_MANIFEST_DIR")).join(path), &mut used, &mut found);
    }
    assert!(found.is_empty(), "{} forbidden words:\n{}", found.len(), found.join("\n"));
    let unused: Vec<_> = ALLOWED.iter().filter(|(part, _)| !used.contains(part)).collect();
    assert!(unused.is_empty(), "remove from ALLOWED: {unused:?}");
}

#[test]
fn forbidden_words_are_found_in_names_phrases_and_british_forms() {
    let problems = |text: &str| {
        let text = text.replace('~', "");
        problems(&text, &mut BTreeSet::new())
    };
    assert_eq!(problems("one\nit is Be~hind\n"), ["2: \"be~hind\": write after".replace('~', "")]);
    assert_eq!(problems("fn what_is_to~ld() -> IsTo~ld").len(), 2);
    assert_eq!(problems("// as far\n// a~s this").len(), 1, "over the end of a line");
    assert_eq!(problems("normal~ised and Col~ouring").len(), 2);
    assert!(problems("recommend, stoled, the emphasis of an optimist").is_empty());
}
