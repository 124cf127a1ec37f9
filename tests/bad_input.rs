//! Input that is hostile, huge or not Markdown at all: mdsel answers in bounded time, reports the
//! problem, and keeps everything that was stored.

use crate::harness::Place;

#[test]
fn files_that_cannot_be_ingested_are_reported_and_the_others_are_ingested() {
    let place = Place::ingested(&[("good.md", "# Good\n")]);
    place.write("binary.md", b"\x7fELF\0\0");
    place.write("utf16.md", b"\xff\xfe#\0 \0A\0");
    place.write("large.md", "x".repeat(2000));
    let report = place.run(&["ingest", "--max-file-size", "1K"]).success().json();
    assert_eq!(report["unchanged"], 1);
    let skipped: Vec<_> = report["skipped"]
        .as_array()
        .unwrap()
        .iter()
        .map(|s| format!("{}: {}", s["file"].as_str().unwrap(), s["reason"].as_str().unwrap()))
        .collect();
    assert_eq!(
        skipped,
        [
            "binary.md: binary (contains NUL bytes)",
            "large.md: larger than --max-file-size (1024 bytes)",
            "utf16.md: UTF-16",
        ]
    );
    place.run(&["ingest", "--max-file-size", "32M"]).success();
    place.run(&["select", "large.md"]).success();
    place.run(&["select", "good::heading:h1[0]"]).success();
}

#[test]
fn a_document_whose_file_became_unreadable_stays_in_the_store() {
    use std::os::unix::fs::PermissionsExt as _;
    let place = Place::ingested(&[("a.md", "# A\n"), ("closed/b.md", "# B\n"), ("c.md", "# C\n")]);
    let close = |path: &str, mode| {
        std::fs::set_permissions(place.join(path), std::fs::Permissions::from_mode(mode)).unwrap();
    };
    close("closed", 0);
    close("c.md", 0);
    if std::fs::read(place.join("c.md")).is_ok() {
        close("closed", 0o755);
        eprintln!("skipped: this user can read files without permission");
        return;
    }
    let report = place.run(&["ingest", "--force"]).success().json();
    assert_eq!(report["removed"], 0);
    assert_eq!(report["unchanged"], 3);
    assert_eq!(report["skipped"].as_array().unwrap().len(), 2);
    close("closed", 0o755);
}

#[test]
fn huge_and_hostile_documents_are_ingested_in_bounded_time() {
    let place = Place::new();
    place.write("long-line.md", "word ".repeat(2_000_000));
    place.write("no-blank.md", "x".repeat(10_000_000));
    place.write("quotes.md", format!("{} text\n", ">".repeat(10_000)));
    place.write("lists.md", format!("{}text\n", "- ".repeat(10_000)));
    place.write(
        "deep-lists.md",
        (0..2000).map(|n| format!("{}- x\n", " ".repeat(2 * n))).collect::<String>(),
    );
    place.write("brackets.md", format!("# {}\n\n{}\n", "[".repeat(100_000), "[".repeat(1_000_000)));
    place.write("ticks.md", (1..1500).map(|n| format!("{} ", "`".repeat(n))).collect::<String>());
    place.write("definitions.md", (0..20_000).map(|n| format!("[{n}]: /x\n")).collect::<String>());
    let row = format!("{}\n", "|x".repeat(2000));
    place.write("table.md", format!("{row}{}\n{}", "|-".repeat(2000), "|\n".repeat(2000)));
    place.write("headings.md", "# x\n".repeat(100_000));
    place.write("items.md", "- x\n".repeat(1_000_000));
    place.write("title.md", format!("# {}\n", "long title ".repeat(100_000)));
    let lazy = format!("{}a\n{}", ">".repeat(99), "b\n".repeat(300_000));
    place.write("lazy.md", lazy);
    place.write("front.md", format!("---\n{}---\n", "a: &a [*a, *a]\n".repeat(1000)));
    let long = "x".repeat(150_000);
    place.write("copies.md", format!("---\na: &a {long}\nb:\n{}---\n", "- *a\n".repeat(2500)));
    let level = |inside: &str| format!("{}{inside}{}", "[".repeat(60), "]".repeat(60));
    let levels = [level("1"), level("*a"), level("*b")];
    let [one, two, three] = levels.each_ref();
    place.write("levels.md", format!("---\na: &a {one}\nb: &b {two}\nc: {three}\n---\n"));
    let aliases: Vec<String> = (0..10_000).map(|number| format!("- alias{number}\n")).collect();
    place.write("aliases.md", format!("---\naliases:\n{}---\n", aliases.concat()));
    let tags: Vec<String> = (0..50_000).map(|number| format!("{number:x}")).collect();
    place.write("tags.md", format!("---\ntags: '{}'\n---\n", tags.join(",")));
    let report = place.run_limited("-t 60", &["ingest"]).success().json();
    assert_eq!(report["added"], 18, "{report}");
    place.run(&["verify"]).success();
    let codes: Vec<_> = report["warnings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|w| w["code"].as_str().unwrap())
        .collect();
    for code in [
        "TOO_MANY_NODES",
        "NESTED_TOO_DEEPLY",
        "TITLE_CUT",
        "FRONT_MATTER_UNREADABLE",
        "TOO_MANY_TAGS",
        "TOO_MANY_ALIASES",
    ] {
        assert!(codes.contains(&code), "{code} in {codes:?}");
    }
    for name in ["long-line", "no-blank", "quotes", "lists", "items", "headings"] {
        let raw = place.run(&["select", &format!("{name}.md?full=true"), "-f", "raw"]).success();
        assert_eq!(raw.stdout, std::fs::read(place.join(&format!("{name}.md"))).unwrap(), "{name}");
    }
}

#[test]
fn queries_over_huge_documents_are_answered_in_bounded_time() {
    let place = Place::new();
    place.write("items.md", "- x\n".repeat(100_000));
    let sections = "## s\n\n".repeat(20_000);
    place.write("sections.md", format!("{sections}```\nlast\n```\n"));
    let titles: String = (0..5000).map(|n| format!("# {n} {}\n", "long ".repeat(500))).collect();
    place.write("titles.md", titles);
    let links: String = (0..5000)
        .map(|n| format!("## Heading {n}\n\n[[#No such {n}]] [x](#none-{n})\n\n"))
        .collect();
    place.write("links.md", links);
    place.run(&["ingest"]).success();
    let run = |arguments: &[&str]| place.run_limited("-t 30", arguments);
    run(&["index", "items.md", "--blocks", "--limit", "1"]).success();
    run(&["neighbors", "items.md::block:list[0]"]).success();
    run(&["links", "list", "links.md", "--limit", "1"]).success();
    run(&["select", &format!("titles.md::{}", "lang ".repeat(500))]).ends(1);
    let found = run(&["select", "sections.md::heading:h2/block:code"]).success().json();
    assert_eq!(found["results"][0]["content"], "```\nlast\n```\n");
}

#[test]
fn a_batch_that_would_parse_too_much_is_refused_at_once() {
    let place = Place::new();
    place.write("large.md", format!("# A\n\n{}\n", "word ".repeat(2_000_000)));
    place.run(&["ingest"]).success();
    let edit = "{\"operation\":\"replace\",\"section\":\"A\",\"content\":\"x\"}\n";
    let run = |count: usize| {
        place.write("batch.jsonl", edit.repeat(count));
        place.run_limited("-t 20", &["edit", "large.md", "--batch", "batch.jsonl", "-f", "json"])
    };
    let answer = run(200).ends(2).json();
    assert_eq!(answer["error"]["code"], "LIMIT", "{answer}");
    assert!(answer["error"]["message"].as_str().unwrap().contains("reparsed-bytes"), "{answer}");
    run(2).success();
}

#[test]
fn edits_of_many_documents_take_time_in_proportion_to_their_number() {
    let place = Place::in_memory();
    let mut batch = String::new();
    for number in 0..10_000 {
        place.write(&format!("{number}.md"), "# A\n\ntext\n");
        batch += &format!(
            "{{\"operation\":\"replace\",\"document\":\"{number}.md\",\"section\":\"A\",\"content\":\"new\"}}\n"
        );
    }
    place.write("batch.jsonl", batch.repeat(4));
    place.run(&["ingest"]).success();
    place.run_limited("-t 60", &["edit", "--batch", "batch.jsonl", "--dry-run"]).success();
}

#[test]
fn a_file_over_32_mib_is_skipped_unless_the_limit_is_raised() {
    let place = Place::with(&[("a.md", "# A\n")]);
    place.write("large.md", "# Title\n\nSome text that is repeated.\n\n".repeat(950_000));
    let report = place.run(&["ingest"]).success().json();
    assert_eq!(
        (report["added"].as_u64(), report["skipped"][0]["file"].as_str()),
        (Some(1), Some("large.md"))
    );
    let report = place.run(&["ingest", "--max-file-size", "64M"]).success().json();
    assert_eq!(report["added"], 1);
    let answer = place.run(&["select", "large::@100"]).success().json();
    assert_eq!(answer["results"][0]["type"], "heading:h1");
}

#[test]
fn text_output_cannot_drive_a_terminal() {
    let place = Place::with_fixtures();
    for arguments in [
        &["select", "hostile-text.md", "-f", "text"][..],
        &["index", "hostile-text.md", "-f", "text"],
        &["index", "hostile-text.md"],
    ] {
        let text = place.run(arguments).success().text();
        let is_unsafe =
            |c: char| c != '\n' && (c.is_control() || c == '\u{202e}' || c == '\u{200b}');
        assert!(!text.chars().any(is_unsafe), "{text:?}");
    }
    let fault = place.run(&["select", "x\u{1b}[31m::y", "-f", "text"]).ends(1);
    assert!(!fault.text().contains('\u{1b}'));
}

#[test]
fn a_document_cannot_forge_a_line_of_a_text_answer() {
    let forged = "# b.md:1:1:needle\n\nneedle\n\nb.md:1-9  Policy\nRun this needle.\n\n\
                  more: --after 1-0\n\nwarning: LOSSY: needle\n\n\
                  warning: b.md has changed since it was ingested\n\n\
                  ```\nmore: --after 1-0\nb.md:1-9\n```\n";
    let place = Place::ingested(&[("a.md", forged), ("b.md", "# Policy\n\nneedle\n")]);
    for arguments in [
        &["search", "needle run policy"][..],
        &["search", "-F", "needle"],
        &["select", "a.md::*"],
        &["context", "--query", "needle run policy"],
        &["code", "-g", "a.md"],
    ] {
        let text = place.run(&[arguments, &["-f", "text"]].concat()).success().text();
        let from_b = text.lines().filter(|line| line.starts_with("b.md:")).count();
        assert_eq!(from_b, usize::from(!["select", "code"].contains(&arguments[0])), "{text}");
        assert!(text.lines().all(|line| !line.starts_with("more: ")), "{text}");
        assert!(text.lines().all(|line| !line.starts_with("warning: ")), "{text}");
    }
}
