//! What the program says of itself: help, manual pages, the skill file, completions.

use crate::harness::Place;

/// The commands, those of groups with their group, as the manual of the program and of the groups lists
/// them.
fn commands(place: &Place) -> Vec<Vec<String>> {
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

#[test]
fn the_skill_file_is_short_and_names_commands_that_there_are() {
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
    place.run(&["completions", "tcsh"]).ends(2).code();
}
