//! Every command in the README works as described.

use crate::harness::{Place, copy, fixtures, words};

/// The lines that begin with `$ ` in the console blocks of the README, each with the output that
/// the README shows for it, which may be empty.
fn commands() -> Vec<(String, String)> {
    let mut commands: Vec<(String, String)> = Vec::new();
    let mut is_console = false;
    for line in include_str!("../README.md").lines() {
        if let Some(command) = line.strip_prefix("$ ").filter(|_| is_console) {
            commands.push((command.to_owned(), String::new()));
        } else if line.starts_with("```") {
            is_console = line == "```console";
        } else if let Some((_, output)) = commands.last_mut().filter(|_| is_console) {
            output.push_str(line);
            output.push('\n');
        }
    }
    commands
}

#[test]
fn every_command_succeeds_in_a_folder_with_the_fixtures() {
    let place = Place::new();
    copy(fixtures().parent().unwrap(), &place.join("fixtures"));
    let mut count = 0;
    for (command, output) in commands() {
        let words = words(&command);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let (["cargo", "run", "--release", "--", arguments @ ..] | ["mdsel", arguments @ ..]) =
            words.as_slice()
        else {
            panic!("what is {command:?}?")
        };
        // A later command may read a file that an earlier one wrote.
        let (arguments, file) = match arguments {
            [arguments @ .., ">", file] => (arguments, Some(file)),
            arguments => (arguments, None),
        };
        let answer = place.run(arguments).success();
        if let Some(file) = file {
            std::fs::write(place.join(file), &answer.stdout).unwrap();
        }
        assert!(!answer.stdout.is_empty(), "{command}");
        assert!(output.is_empty() || output == answer.text(), "{command}\n{}", answer.text());
        count += 1;
    }
    assert!(count >= 40, "{count}");
}

#[test]
fn every_address_of_the_table_resolves() {
    let place = Place::new();
    copy(&fixtures(), place.path());
    place.run(&["ingest"]).success();
    let readme = include_str!("../README.md");
    let table: Vec<&str> = readme
        .lines()
        .filter(|line| line.starts_with("| `") && !line.contains("| --- |"))
        .collect();
    assert!(table.len() >= 10);
    let mut out_of_range = Vec::new();
    for row in table {
        let cell = row.trim_start_matches("| ").split(" | ").next().unwrap();
        for address in cell.split('`').skip(1).step_by(2) {
            let answer = place.run(&["select", address]);
            // The first list of the guide has no item [2], so the address is valid and out of
            // range.
            if answer.status == 1 && answer.code() == "INDEX_OUT_OF_RANGE" {
                out_of_range.push(address);
            } else {
                assert_eq!(answer.status, 0, "{address}: {}", answer.text());
            }
        }
    }
    assert!(out_of_range.len() <= 1, "{out_of_range:?}");
}

#[test]
fn what_the_readme_says_of_paths_and_lines_is_true() {
    let place = Place::with(&[("docs/guide.md", "# Guide\n\none\n\ntwo\n")]);
    for (ingest, path) in
        [(&["ingest", "docs"][..], "docs/guide.md"), (&["ingest", "--root", "docs"], "guide.md")]
    {
        place.run(&[ingest, &["--db", &path.replace('/', "-")]].concat()).success();
        let toc = place.run(&["toc", "guide", "--db", &path.replace('/', "-")]).success().json();
        assert_eq!(toc["file"], path);
    }
    let store = ["--db", "guide.md"];
    for command in [
        &["rename", "guide.md:3-5", "--title", "X"][..],
        &["move", "guide.md:3-5", "--to", "guide.md::*"],
        &["task", "guide.md:3-5", "--done"],
    ] {
        let fault = place.run(&[command, &store].concat()).ends(1).json();
        let suggestions = &fault["unresolved_selectors"][0]["suggestions"];
        assert_eq!(suggestions[0], "guide.md::heading:h1[0]", "{fault}");
    }
}
