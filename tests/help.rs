//! The program's own documentation: help, manual pages, the skill file, completions.

use crate::harness::{Answer, Place, copy, fixtures, words};

/// The commands, those of groups with their group, as the manual of the program and of the groups lists
/// them.
pub(crate) fn commands(place: &Place) -> Vec<Vec<String>> {
    let below = |words: &[String]| -> Vec<Vec<String>> {
        let mut arguments = vec!["man".to_owned()];
        arguments.extend(words.iter().cloned());
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let page = place.run(&arguments).success().text();
        let prefix = std::iter::once("mdsel").chain(words.iter().map(String::as_str));
        let prefix = format!("{}\\-", prefix.collect::<Vec<_>>().join("\\-"));
        let listed = page.lines().filter_map(|line| line.strip_prefix(&prefix));
        let names = listed.filter_map(|line| line.strip_suffix("(1)"));
        names.map(|name| [words, &[name.replace('\\', "")]].concat()).collect()
    };
    let mut result = Vec::new();
    for command in below(&[]) {
        let inner = below(&command);
        if inner.is_empty() { result.push(command) } else { result.extend(inner) }
    }
    result
}

/// The commands in the examples of a help, except those that name a file, a server or another program.
pub(crate) fn examples(help: &str) -> impl Iterator<Item = Vec<String>> {
    let (_, examples) = help.rsplit_once("Example").unwrap_or_else(|| panic!("{help}"));
    let examples = examples.trim_start_matches('s').trim_start_matches(':');
    let parts = examples.lines().flat_map(|line| line.split("    ")).map(str::trim);
    let is_own = |part: &&str| {
        let others = ["|", ">", "postgres", "new.md", "edits.jsonl", ".pack", "@build.log", "docs"];
        part.starts_with("mdsel ") && !others.iter().any(|other| part.contains(other))
    };
    parts.filter(is_own).map(words)
}

#[test]
fn the_examples_in_the_help_work_with_the_documents_of_the_readme() {
    let place = Place::new();
    let mut count = 0;
    for command in commands(&place) {
        let place = Place::new();
        copy(&fixtures(), place.path());
        place.run(&["ingest"]).success();
        let command: Vec<&str> = command.iter().map(String::as_str).collect();
        let help = place.run(&[&command[..], &["--help"]].concat()).success().text();
        for example in examples(&help) {
            let arguments: Vec<&str> = example[1..].iter().map(String::as_str).collect();
            let answer = place.run(&arguments);
            assert_eq!(answer.status, 0, "{example:?}: {} {}", answer.text(), answer.stderr);
            count += 1;
        }
    }
    assert!(count >= 30, "{count}");
}

#[test]
fn every_command_shows_an_example_and_has_a_manual_page() {
    let place = Place::new();
    let commands = commands(&place);
    assert!(commands.len() > 28, "{commands:?}");
    for command in commands {
        let words: Vec<&str> = command.iter().map(String::as_str).collect();
        let help = place.run(&[&words[..], &["--help"]].concat()).success().text();
        let example = format!("mdsel {}", words.join(" "));
        let (_, examples) = help.rsplit_once("Example").unwrap_or_else(|| panic!("{help}"));
        assert!(examples.contains(words[words.len() - 1]), "{example}: {examples}");
        let page = place.run(&[&["man"], &words[..]].concat()).success().text();
        let name = format!("mdsel\\-{}", words.join("\\-"));
        assert!(page.contains(".TH") && page.contains(&name), "{page}");
    }
    let answer = place.run(&["man", "dance"]).ends(2);
    assert!(answer.stderr.contains("search"), "{}", answer.stderr);
}

/// The lines of the help of a command below each heading.
fn headings(help: &str) -> Vec<(String, Vec<String>)> {
    let mut result: Vec<(String, Vec<String>)> = Vec::new();
    for line in help.lines() {
        let is_heading = line.ends_with(':') && !line.starts_with(' ');
        match result.last_mut() {
            _ if is_heading => result.push((line.trim_end_matches(':').to_owned(), Vec::new())),
            Some((_, lines)) => lines.push(line.trim().to_owned()),
            None => {}
        }
    }
    result
}

#[test]
fn help_lists_options_in_groups_and_global_options_separately() {
    let place = Place::new();
    let help = place.run(&["search", "--help"]).success().text();
    let groups = headings(&help);
    let group_of = |option: &str| -> &str {
        let has_it = |lines: &Vec<String>| {
            lines.iter().any(|line| line.split([' ', ',']).any(|word| word == option))
        };
        let mut found = groups.iter().filter(|(_, lines)| has_it(lines));
        &found.next().unwrap_or_else(|| panic!("{option}: {help}")).0
    };
    for (option, group) in [
        ("--also", "Query"),
        ("--ignore-case", "Query"),
        ("--under", "Filters"),
        ("--tag", "Filters"),
        ("--limit", "Output"),
        ("--format", "Output"),
        ("--max-chars", "Output"),
        ("--db", "Store"),
        ("--root", "Store"),
        ("--refresh", "Store"),
    ] {
        assert_eq!(group_of(option), group, "{help}");
    }
    for command in commands(&place) {
        let words: Vec<&str> = command.iter().map(String::as_str).collect();
        let help = place.run(&[&words[..], &["--help"]].concat()).success().text();
        for (heading, lines) in headings(&help) {
            let is_own = heading == "Options" || heading == "Arguments";
            let is_of_all =
                |line: &String| line.starts_with("--db") || line.starts_with("--pretty");
            assert!(!is_own || !lines.iter().any(is_of_all), "{help}");
        }
    }
}

#[test]
fn an_option_that_would_do_nothing_is_refused_and_not_listed() {
    let place = Place::ingested(&[("a.md", "# A\n")]);
    for (command, option, hint) in [
        (&["mcp"][..], &["--refresh"][..], "run `mdsel ingest --watch`"),
        (&["mcp"], &["--pretty"], "leave out --pretty"),
        (&["mcp"], &["--max-bytes", "5"], "limit them with --max-chars"),
        (&["mcp"], &["--max-tokens", "5"], "limit them with --max-chars"),
        (&["verify"], &["--refresh"], "run `mdsel ingest` first"),
        (&["ingest"], &["--refresh"], "leave out --refresh"),
        (&["load", "x.pack"], &["--refresh"], "leave out --refresh"),
        (&["copy", ".mdsel.db", "to.db"], &["--db", ".mdsel.db"], "leave out --db"),
        (&["dump"], &["--max-chars", "5"], "leave out --max-chars"),
        (&["dump"], &["--compact"], "leave out --compact"),
        (&["dump"], &["--format", "json"], "leave out -f"),
        (&["man"], &["--max-chars", "5"], "leave out --max-chars"),
        (&["completions", "bash"], &["--db", ".mdsel.db"], "leave out --db"),
        (&["help"], &["--refresh"], "leave out --refresh"),
        (&["schema"], &["--color", "always"], "leave out --color"),
    ] {
        let help = place.run(&[&command[..1], &["--help"]].concat()).success().text();
        assert!(
            !help.contains(&format!("{} ", option[0]))
                && !help.contains(&format!("{}\n", option[0])),
            "{help}"
        );
        for arguments in [[command, option].concat(), [option, command].concat()] {
            let refused = place.run(&arguments).ends(2);
            let message = format!("USAGE: {} does not accept ", command[0]);
            assert!(refused.stderr.contains(&message), "{}", refused.stderr);
            assert!(refused.stderr.contains(hint), "{}", refused.stderr);
        }
    }
    let help = place.run(&["mcp", "--help"]).success().text();
    assert!(help.contains("--allow-write") && help.contains("--max-chars"), "{help}");
}

#[test]
fn a_dump_and_a_copy_can_be_refreshed() {
    let place = Place::ingested(&[("a.md", "# Old\n")]);
    place.write("a.md", "# Newer\n");
    place.run(&["copy", ".mdsel.db", "to.db"]).success();
    assert!(place.run(&["--db", "to.db", "find", "Newer"]).ends(1).text().contains("[]"));
    place.run(&["copy", ".mdsel.db", "to.db", "--refresh"]).success();
    place.run(&["--db", "to.db", "find", "Newer"]).success();
    place.write("a.md", "# Newest of all\n");
    assert!(place.run(&["dump", "--refresh"]).success().text().contains("Newest of all"));
}

#[test]
fn help_lists_the_formats_that_a_command_has() {
    let place = Place::ingested(&[("a.md", "# A\n")]);
    for command in commands(&place) {
        let words: Vec<&str> = command.iter().map(String::as_str).collect();
        let help = place.run(&[&words[..], &["-h"]].concat()).success().text();
        let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
        let option = help.split_once("--format <FORMAT>").map_or("", |(_, rest)| rest);
        let values = option.split_once("[possible values: ").and_then(|(_, it)| it.split_once(']'));
        let listed: Vec<&str> =
            values.map_or(Vec::new(), |(values, _)| values.split(", ").collect());
        let all = [
            "json", "jsonl", "raw", "text", "ldmd", "records", "markdown", "mermaid", "dot", "csv",
        ];
        for format in all {
            let dry = match words[0] {
                "replace" | "insert" | "delete" | "task" | "rename" | "move" | "edit" => {
                    &["--dry-run"][..]
                }
                "meta" if words.len() > 1 => &["--dry-run"],
                _ => &[],
            };
            let options: &[&str] = match words[..] {
                ["mcp"] => continue,
                ["replace" | "insert" | "delete"] => &["a.md", "A"],
                ["task"] => &["a.md", "A", "--done"],
                ["rename"] => &["a.md", "A", "--title", "B"],
                ["move"] => &["a.md", "b.md"],
                ["edit"] => &["--batch", "none"],
                ["meta", "set"] => &["a.md", "a=1"],
                ["meta", "unset"] => &["a.md", "a"],
                ["meta", "add" | "remove"] => &["a.md", "a", "b"],
                ["load"] => &["none"],
                ["copy"] => &["none.db", "to.db"],
                ["completions"] => &["bash"],
                ["select" | "read" | "neighbors" | "find" | "search" | "context"]
                | ["links", "list" | "tree"] => &["A"],
                ["ldmd", "index" | "emit"] => &["a.md"],
                ["ldmd", "get" | "neighbors"] => &["a.md", "--id", "x"],
                ["ldmd", "search"] => &["a.md", "--query", "x"],
                ["links", "path"] => &["A", "A"],
                _ => &[],
            };
            let answer = place.run(&[&words[..], options, dry, &["-f", format]].concat());
            let is_refused = answer.stderr.contains("does not support the format")
                || answer.stderr.contains("does not accept -f");
            assert_eq!(
                !is_refused,
                listed.contains(&format),
                "{words:?} {format}: {}",
                answer.stderr
            );
        }
    }
}

#[test]
fn the_default_format_depends_on_the_reader() {
    let place = Place::ingested(&[("a.md", "# A\n\ntext\n")]);
    let with = |format: &str, arguments: &[&str]| {
        let output = place.command("", arguments).env("MDSEL_FORMAT", format).output().unwrap();
        (output.status.code().unwrap(), String::from_utf8(output.stdout).unwrap())
    };
    assert!(place.run(&["toc"]).success().text().starts_with('{'));
    assert!(with("text", &["toc"]).1.contains("# A"));
    assert!(with("records", &["toc"]).1.starts_with("H mdsel=1"));
    // A command without the format of `MDSEL_FORMAT` uses its own default; with `-f` it refuses the
    // format.
    assert!(with("records", &["find", "A"]).1.starts_with('{'));
    let refused = place.run(&["find", "A", "-f", "records"]).ends(2);
    assert!(refused.stderr.contains("USAGE"), "{}", refused.stderr);
    assert!(with("text", &["toc", "-f", "json"]).1.starts_with('{'));
    assert!(with("text", &["help", "links"]).1.starts_with("# "));
    for command in
        [&["help"][..], &["man"], &["dump"], &["completions", "bash"], &["prime", "--skill"]]
    {
        let refused = place.run(&[command, &["-f", "json"]].concat()).ends(2);
        assert!(refused.stderr.contains("leave out -f"), "{}", refused.stderr);
        assert_eq!(refused.text(), "", "standard output is that of the command, or empty");
        assert_eq!(with("records", command).0, 0, "{command:?}");
    }
    let (status, answer) = with("xml", &["toc"]);
    assert_eq!(status, 2);
    assert!(answer.contains("MDSEL_FORMAT"), "{answer}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_terminal_gets_text() {
    let place = Place::ingested(&[("a.md", "# A\n\ntext\n")]);
    // Needs script(1) of util-linux. Without it, only the unit test of the rule runs.
    let script = std::process::Command::new("script")
        .args(["-qec", &format!("{} toc a.md", crate::harness::PROGRAM), "/dev/null"])
        .current_dir(place.path())
        .env_remove("MDSEL_FORMAT")
        .env_remove("MDSEL_DB")
        .stdin(std::process::Stdio::null())
        .output();
    let Ok(output) = script else {
        eprintln!("skipped: script(1) is not installed");
        return;
    };
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("# A") && text.contains("(1-3"), "{text}");
}

#[test]
fn the_skill_file_is_short_and_names_only_existing_commands() {
    let place = Place::new();
    let skill = place.run(&["prime", "--skill"]).success().text();
    assert!(skill.starts_with("---\nname: mdsel\n"));
    assert!(skill.split_whitespace().count() < 400);
    let commands = commands(&place);
    let mut named = 0;
    for part in skill.split("`mdsel ").skip(1) {
        let words: Vec<&str> = part.split(['`', ' ', '\n']).take(2).collect();
        let is_there = commands.iter().any(|command| {
            command.iter().map(String::as_str).eq(words.iter().copied().take(command.len()))
        });
        assert!(is_there, "mdsel {}", words.join(" "));
        named += 1;
    }
    assert!(named >= 12, "{named}");
}

#[test]
fn completions_are_printed_for_four_shells() {
    let place = Place::new();
    for (shell, part) in [
        ("bash", "complete -o nospace"),
        ("zsh", "#compdef mdsel"),
        ("fish", "complete --keep-order"),
        ("powershell", "Register-ArgumentCompleter"),
    ] {
        let script = place.run(&["completions", shell]).success().text();
        assert!(script.contains(part) && script.contains("MDSEL_COMPLETE"), "{script}");
    }
    assert_eq!(place.run(&["completions", "tcsh"]).ends(2).code(), "USAGE");
}

#[test]
fn a_document_is_completed_one_folder_at_a_time() {
    let place = Place::ingested(&[
        ("a b.md", "# A\n"),
        ("docs/one.md", "# One\n"),
        ("docs/deep/two.md", "# Two\n"),
        ("notes/three.md", "# Three\n"),
    ]);
    let completed = |typed: &str| {
        let mut command = place.command("", &["--", "mdsel", "toc", typed]);
        command.env("MDSEL_COMPLETE", "bash").env("_CLAP_COMPLETE_INDEX", "2");
        let answer = Answer::of(&["toc", typed], command.output().unwrap()).success().text();
        let words = answer.lines().map(str::trim).filter(|word| !word.starts_with('-'));
        words.map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(completed(""), ["a%20b.md", "docs/", "notes/"]);
    assert_eq!(completed("d"), ["docs/"]);
    assert_eq!(completed("docs/"), ["docs/deep/", "docs/one.md"]);
    assert_eq!(completed("docs/de"), ["docs/deep/"]);
    assert!(completed("none/").is_empty());
}

#[test]
fn a_section_path_that_would_be_a_selector_is_completed_after_a_slash() {
    let place = Place::ingested(&[("a.md", "# Root\n\n## Sub\n\n# page\n\n# rooms\n\n# h1\n")]);
    let completed = |typed: &str| {
        let mut command = place.command("", &["--", "mdsel", "read", "a.md", typed]);
        command.env("MDSEL_COMPLETE", "bash").env("_CLAP_COMPLETE_INDEX", "3");
        let answer = Answer::of(&["read"], command.output().unwrap()).success().text();
        let words = answer.lines().map(str::trim).filter(|word| !word.starts_with('-'));
        words.map(str::to_owned).collect::<Vec<_>>()
    };
    let all = ["/root", "/root/sub", "/page", "rooms", "h1"];
    let mut sorted = completed("");
    sorted.sort_by_key(|word| all.iter().position(|known| known == word));
    assert_eq!(sorted, all);
    for word in all {
        place.run(&["read", "a.md", word]).success();
    }
    assert!(completed("roo").contains(&"/root".to_owned()));
    assert_eq!(completed("/roo").len(), 3);
}

#[test]
fn a_count_of_a_list_names_what_to_count() {
    let place = Place::ingested(&[("a.md", "# A\n\n- [ ] one\n- [x] two\n")]);
    for (command, option) in [
        (&["find", "A"][..], "-c"),
        (&["code"], "--count"),
        (&["tables"], "--count"),
        (&["tasks"], "-c"),
        (&["meta"], "--count"),
    ] {
        let refused = place.run(&[command, &[option]].concat()).ends(2).stderr;
        let hint = "--limit 0 -f jsonl";
        assert!(refused.contains(hint), "{refused}");
    }
    let lines = place.run(&["tasks", "--limit", "0", "-f", "jsonl"]).success().text();
    assert_eq!(lines.lines().count(), 2);
}

#[test]
fn help_and_schemas_respect_the_budget() {
    let place = Place::new();
    for command in
        [&["help", "search"][..], &["help"], &["schema", "search"], &["prime", "--skill"]]
    {
        let whole = place.run(command).success().text();
        let chars = whole.chars().count();
        let with =
            |most: usize| place.run(&[command, &["--max-chars", &most.to_string()]].concat());
        assert_eq!(with(chars).success().text(), whole);
        let answer = with(chars - 1).ends(2);
        assert!(answer.stdout.is_empty() && answer.stderr.contains("BUDGET_TOO_SMALL"));
        assert!(answer.stderr.contains(&format!("--max-chars {chars}")), "{}", answer.stderr);
    }
}

#[test]
fn help_that_cannot_be_printed_says_so_and_a_closed_pipe_is_no_error() {
    let status = |script: &str| {
        let arguments = ["-c", script, crate::harness::PROGRAM];
        std::process::Command::new("bash").args(arguments).output().unwrap()
    };
    for option in ["--help", "-V", "search --help"] {
        let output = status(&format!("set -o pipefail; {{ sleep 0.3; \"$0\" {option}; }} | true"));
        assert_eq!(output.status.code(), Some(0), "{option}");
        if !std::path::Path::new("/dev/full").exists() {
            continue;
        }
        let output = status(&format!("\"$0\" {option} > /dev/full"));
        assert_eq!(output.status.code(), Some(2), "{option}");
        assert!(String::from_utf8_lossy(&output.stderr).contains("standard output"), "{option}");
    }
}
