//! The reference describes the program: every example prints what its page shows, and every
//! command, flag and code is on a page.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use mdsel::reference::PAGES;

use crate::harness::{Place, copy, words};

pub(crate) fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The page with the current output of each of its examples, and the number of examples.
fn performed(page: &str) -> (String, usize) {
    let place = Place::new();
    copy(&repository().join("fixtures/reference"), place.path());
    place.run(&["ingest"]).success();
    let mut result = String::new();
    let mut count = 0;
    // The line that closes the console block.
    let mut fence: Option<&str> = None;
    for line in page.lines() {
        let ticks = line.trim_end_matches(|scalar| scalar != '`');
        match fence {
            None if line.ends_with("console") && ticks.len() >= 3 => fence = Some(ticks),
            Some(close) if line == close => fence = None,
            Some(_) if !line.starts_with("$ ") => continue,
            _ => {}
        }
        result.push_str(line);
        result.push('\n');
        let Some(command) = line.strip_prefix("$ ").filter(|_| fence.is_some()) else { continue };
        result.push_str(&printed(&place, command));
        count += 1;
    }
    (result, count)
}

/// What the command prints: its standard output, then its error line, without blanks at the ends of
/// lines.
fn printed(place: &Place, command: &str) -> String {
    let words = words(command);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let ["mdsel", arguments @ ..] = words.as_slice() else { panic!("what is {command:?}?") };
    let (arguments, file) = match arguments {
        [arguments @ .., ">", file] => (arguments, Some(file)),
        arguments => (arguments, None),
    };
    let answer = place.run(arguments);
    if let Some(file) = file {
        std::fs::write(place.join(file), &answer.stdout).unwrap();
        return String::new();
    }
    let text = answer.text();
    let errors = answer.stderr.lines().filter(|line| line.starts_with("mdsel: "));
    text.lines().chain(errors).map(|line| format!("{}\n", line.trim_end())).collect()
}

#[test]
fn every_example_prints_what_its_page_shows() {
    let update = std::env::var_os("MDSEL_UPDATE_REFERENCE").is_some();
    let mut count = 0;
    for page in PAGES {
        let (now, examples) = performed(page.text);
        count += examples;
        if update {
            let file = repository().join(format!("src/reference/{}.md", page.topic));
            std::fs::write(file, &now).unwrap();
        } else {
            for (number, (said, is)) in page.text.lines().zip(now.lines()).enumerate() {
                assert_eq!(is.trim_end(), said.trim_end(), "{}.md:{}", page.topic, number + 1);
            }
            assert_eq!(now.lines().count(), page.text.lines().count(), "{}.md", page.topic);
        }
    }
    assert!(count >= 60, "{count}");
}

/// The source text of the program, without its inline tests.
pub(crate) fn sources(folder: PathBuf, texts: &mut String) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(path, texts);
        } else if path.extension().is_some_and(|extension| extension == "rs")
            && path.file_stem().is_none_or(|stem| stem != "tests" && stem != "properties")
        {
            let text = std::fs::read_to_string(&path).unwrap();
            texts.push_str(text.split("#[cfg(test)]\nmod tests {").next().unwrap());
        }
    }
}

/// The codes in the program: its string literals in capitals with an underscore, and those of one word where a code
/// stands.
fn codes() -> BTreeSet<String> {
    let mut text = String::new();
    sources(repository().join("src"), &mut text);
    let others =
        ["MDSEL_", "CARGO_", "RUSTC_", "OUT_DIR", "XDG_", "NO_COLOR", "SCREAMING_", "PGCONNECT_"];
    let is_code = |text: &&str| {
        text.contains('_')
            && text.starts_with(|scalar: char| scalar.is_ascii_uppercase())
            && text.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_')
            && !others.iter().any(|other| text.starts_with(other))
    };
    let with_underscores = text.split('"').filter(is_code);
    let places = ["Warning::new(\"", "with_reason(\"", "code: \"", "=> \""];
    let literals = places.iter().flat_map(|place| text.split(place).skip(1));
    let is_word =
        |code: &&str| code.len() > 1 && code.bytes().all(|byte| byte.is_ascii_uppercase());
    let words = literals.filter_map(|rest| rest.split('"').next()).filter(is_word);
    with_underscores.chain(words).map(str::to_owned).collect()
}

#[test]
fn every_code_is_explained() {
    let errors = mdsel::reference::page("errors").unwrap().text;
    let codes = codes();
    assert!(codes.len() > 60, "{}", codes.len());
    let missing: Vec<&String> =
        codes.iter().filter(|code| !errors.contains(&format!("`{code}`"))).collect();
    assert!(missing.is_empty(), "not in errors.md: {missing:?}");
    let rows = errors.lines().filter_map(|line| line.strip_prefix("| `")?.split_once('`'));
    let mut text = String::new();
    sources(repository().join("src"), &mut text);
    let is_unknown = |code: &&str| !text.contains(&format!("\"{code}\""));
    let unknown: Vec<&str> = rows.map(|(code, _)| code).filter(is_unknown).collect();
    assert!(unknown.is_empty(), "only in errors.md: {unknown:?}");
}

/// Commands and long options that `help` lists.
fn named_in_help(place: &Place, command: &[&str], names: &mut BTreeSet<String>) {
    let help = place.run(&[command, &["--help"]].concat()).success().text();
    let mut is_command = false;
    for line in help.lines() {
        if !line.starts_with(' ') {
            is_command = line == "Commands:";
        }
        let first = line.split_whitespace().next().unwrap_or_default();
        if is_command && line.starts_with("  ") && !line.starts_with("   ") {
            let name = [command, &[first]].concat();
            names.insert(name.join(" "));
            named_in_help(place, &name, names);
        }
        let options = line.split([' ', ',', '[', ']']).filter(|word| word.starts_with("--"));
        if line.trim_start().starts_with('-') {
            names.extend(options.take(1).map(|option| option.trim_end_matches('.').to_owned()));
        }
    }
}

#[test]
fn every_command_and_option_is_on_a_page() {
    let mut names = BTreeSet::new();
    named_in_help(&Place::new(), &[], &mut names);
    assert!(names.contains("links tree") && names.contains("--max-chars"), "{names:?}");
    let all: String = PAGES.iter().map(|page| page.text).collect();
    let is_missing = |name: &&String| {
        let is_there = |end: char| all.contains(&format!("{name}{end}"));
        !['`', ' ', '\n', '=', ')', ',', '.'].into_iter().any(is_there)
    };
    let missing: Vec<&String> = names.iter().filter(is_missing).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn help_prints_pages_commands_and_the_list_of_topics() {
    let place = Place::new();
    let list = place.run(&["help"]).success().text();
    for page in PAGES {
        assert!(list.contains(&format!("mdsel help {}", page.topic)), "{}", page.topic);
        assert_eq!(place.run(&["help", page.topic]).success().text(), page.text);
    }
    assert!(place.run(&["help", "toc"]).success().text().contains("--max-level"));
    assert!(place.run(&["help", "links", "tree"]).success().text().contains("--max-hops"));
    let unknown = place.run(&["help", "nosuch"]).ends(2);
    assert!(unknown.stderr.contains("addresses, search"), "{}", unknown.stderr);
}
