//! `rename` and `move`: every link keeps its target and its style, and nothing else changes.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::harness::{Place, copy, fixtures, repeats};
use crate::vault::{MOVE, assert_all_or_none, files, vault};

fn text(place: &Place, path: &str) -> String {
    std::fs::read_to_string(place.join(path)).unwrap()
}

#[test]
fn a_move_rewrites_links_of_every_kind_in_their_style() {
    let place = vault();
    let before = place.run(&["links", "check"]).json();
    let answer = place.run(&MOVE).success().json();
    assert_eq!(answer["new_selector"], "archive/old/The%20target%20(1).md::*");
    assert!(!place.join("notes/target.md").exists());
    for (path, expected) in [
        (
            "archive/old/The target (1).md",
            "---\nlinks:\n  - id: other\n---\n# The goal\n\n[a](../../notes/other.md#part) ![i](../../i.png) [[other]] [b](../../notes/other.md) [self](#part-one) [out](../../../x.md)\n\n## Part one\n\nText. ^block\n",
        ),
        (
            "notes/other.md",
            "# Other\n\n[up](../archive/old/The%20target%20(1).md) [[The target (1)#Part one|x]] ![[The target (1)#^block]]\n\n## Part\n",
        ),
        (
            "index.md",
            "---\nlinks: [The target (1), \"old/The target (1)\"]\n---\n# Index\n\n- [one](archive/old/The%20target%20(1).md \"Title\")\n- [two](<archive/old/The%20target%20(1).md#part-one>)\n- [three][t], [t]\n- [[old/The target (1)|shown]]\n- [[The goal]]\n- <https://x.org/notes/target.md>\n- `[code](notes/target.md)`\n\n| a |\n| - |\n| [[The target (1)\\|b]] |\n\n[t]: archive/old/The%20target%20(1).md 'Title'\n",
        ),
        (
            "deep/er/far.md",
            "# Far\n\n[far](../../archive/old/The%20target%20(1).md?x=1#part-one) [root](/archive/old/The%20target%20(1).md) [[old/The target (1)]]\n",
        ),
        (
            "answer.md",
            "# Answer\n\n<!--LDMD:REF doc=\"archive/old/The%20target%20(1).md\"-->\n<!--LDMD:REF section=\"none\" doc=\"archive/old/The%20target%20(1).md\"-->\n",
        ),
        ("plain.md", "# Plain\n\nno links\n"),
    ] {
        assert_eq!(text(&place, path), expected, "{path}");
    }
    let after = place.run(&["links", "check"]).json();
    assert_eq!(
        before["findings"].as_array().unwrap().len(),
        after["findings"].as_array().unwrap().len()
    );
    place.assert_in_step();
}

#[test]
fn a_rename_rewrites_anchors_and_headings() {
    let place = vault();
    let answer = place.run(&["rename", "notes/target.md", "Part one", "--title", "Next: `x` & y"]);
    let answer = answer.success().json();
    assert_eq!(answer["rewritten_links"], 4, "{answer}");
    assert!(text(&place, "notes/target.md").contains("[self](#next-x--y)"));
    assert!(text(&place, "notes/target.md").contains("\n## Next: `x` & y\n\nText. ^block\n"));
    assert!(text(&place, "index.md").contains("(<notes/target.md#next-x--y>)"));
    assert!(text(&place, "deep/er/far.md").contains("target.md?x=1#next-x--y)"));
    assert!(text(&place, "notes/other.md").contains("[[target#Next: x & y|x]]"));
    // The title of a document is a name of it.
    place.run(&["rename", "notes/target.md", "The goal", "--title", "The aim"]).success();
    assert!(text(&place, "index.md").contains("- [[The aim]]\n"), "{}", text(&place, "index.md"));
    place.assert_in_step();
}

#[test]
fn links_to_what_is_missing_stay_as_they_are_written() {
    let links = "[x](../sub/gone.md#z) [y](../sub/b.md) ![i](../sub/./i.png) [w]: <../sub/no.md>";
    let a = format!("# A\n\n{links}\n\n## I\n\n[self](#i) [[../sub/none]]\n");
    let c = format!("# C\n\n[to](../sub/a.md#i) {links}\n");
    let place = Place::ingested(&[("sub/a.md", &a), ("sub/b.md", "# B\n"), ("sub/c.md", &c)]);
    let renamed = place.run(&["rename", "sub/a.md", "I", "--title", "J"]).success().json();
    assert_eq!(renamed["rewritten_links"], 2, "{renamed}");
    assert_eq!(text(&place, "sub/a.md"), a.replace("## I", "## J").replace("#i)", "#j)"));
    assert_eq!(text(&place, "sub/c.md"), c.replace("a.md#i", "a.md#j"));
    let (a, c) = (text(&place, "sub/a.md"), text(&place, "sub/c.md"));
    place.run(&["move", "sub/a.md", "sub/d.md"]).success();
    assert_eq!(text(&place, "sub/d.md"), a);
    let found = text(&place, "sub/c.md");
    assert_eq!(found.split_once(") ").unwrap().1, c.split_once(") ").unwrap().1);
    assert!(found.contains("d.md#j)"), "{found}");
}

#[test]
fn a_link_to_the_html_page_of_a_document_follows_it() {
    let links = "[g](guide/index.html#set-up) [w](guide\\index.html)\n";
    let marker = "<!--LDMD:REF doc=\"guide.md?view=1\"-->\n";
    let place = Place::ingested(&[
        ("guide.md", "# Guide\n\n## Set up\n"),
        ("page.md", &format!("# Page\n\n{links}\n{marker}")),
    ]);
    let back = place.run(&["links", "list", "guide.md", "--direction", "in"]).success().json();
    assert_eq!(back["edges"].as_array().unwrap().len(), 3, "{back}");
    let answer = place.run(&["move", "guide.md", "docs/guide.md"]).success().json();
    assert_eq!(answer["rewritten_links"], 3, "{answer}");
    place.run(&["links", "check"]).success();
    let back = place.run(&["links", "list", "docs/guide.md", "--direction", "in"]);
    assert_eq!(back.success().json()["edges"].as_array().unwrap().len(), 3);
}

#[test]
fn a_note_with_a_number_sign_in_its_name_keeps_its_links() {
    let links = "---\nlinks: [\"C#\"]\n---\n# Links\n\n[[F#10]] [[C#]] [[C#part]] [[d]]\n";
    let place = Place::ingested(&[
        ("F#10.md", "# Lang\n"),
        ("C#.md", "# Sharp\n\n## Part\n"),
        ("d.md", "# Dee\n"),
        ("p.md", links),
    ]);
    for (from, to) in [("F#10.md", "old/fs10.md"), ("C#.md", "csharp.md"), ("d.md", "a#b.md")] {
        place.run(&["move", from, to]).success();
    }
    let moved =
        "---\nlinks: [\"csharp\"]\n---\n# Links\n\n[[fs10]] [[csharp]] [[C#part]] [[a#b]]\n";
    assert_eq!(text(&place, "p.md"), moved);
    place.run(&["move", "a#b.md", "e.md"]).success();
    assert_eq!(text(&place, "p.md"), moved.replace("[[a#b]]", "[[e]]"));
}

#[test]
fn a_move_that_changes_only_the_case_rewrites_paths() {
    let b = "# B\n\n[a](../a.md) [a](/a.md#a) [[a]] [c](c.md)\n";
    let place = Place::ingested(&[("a.md", "# A\n"), ("d/b.md", b), ("d/c.md", "# C\n")]);
    place.run(&["move", "a.md", "A.md"]).success();
    assert_eq!(text(&place, "d/b.md"), b.replace("/a.md", "/A.md"));
    place.run(&["move", "d/b.md", "D/b.md"]).success();
    assert!(text(&place, "D/b.md").ends_with("[[a]] [c](../d/c.md)\n"));
    place.assert_in_step();
}

#[test]
fn a_title_that_ends_with_number_signs_is_written_so_that_it_keeps_them() {
    for (heading, title, written) in [
        ("## B", "C #", "## C \\#"),
        ("## B", "C ###", "## C \\###"),
        ("## B", "C#", "## C#"),
        ("## B ##", "C #", "## C # ##"),
        ("B\n-", "C #", "C #\n-"),
    ] {
        let place = Place::ingested(&[("a.md", &format!("# A\n\n{heading}\n\ntext\n"))]);
        place.run(&["rename", "a.md", "B", "--title", title]).success();
        assert_eq!(text(&place, "a.md"), format!("# A\n\n{written}\n\ntext\n"));
        let toc = place.run(&["toc", "a.md"]).json();
        assert_eq!(toc["sections"][0]["children"][0]["title"], title, "{toc}");
    }
}

#[test]
fn headings_keep_their_form() {
    for (from, to) in [
        ("  ##  Old  ##\r\ntext\r\n", "  ##  New  ##\r\ntext\r\n"),
        ("Old\n---\ntext\n", "New\n---\ntext\n"),
        ("## Old", "## New"),
    ] {
        let place = Place::ingested(&[("a.md", from)]);
        place.run(&["rename", "a", "Old", "--title", "New"]).success();
        assert_eq!(text(&place, "a.md"), to);
    }
}

#[test]
fn code_and_emphasis_stay_around_what_a_new_title_keeps() {
    for (heading, old, new, written) in [
        ("### `clear(timeout)`", "clear(timeout)", "clear(timer)", "### `clear(timer)`"),
        (
            "## Class: `SocketError`",
            "Class: SocketError",
            "Class: SocketFault",
            "## Class: `SocketFault`",
        ),
        ("## `a.b` and *c* d", "a.b and c d", "a.b and c e", "## `a.b` and *c* e"),
        ("## `a` `a b`", "a a b", "a x b", "## `a` `x b`"),
        ("## Use `x`", "Use x", "Use x now", "## Use `x` now"),
        ("`x` y\n---", "x y", "z y", "`z` y\n---"),
        // Nothing is kept, or the new title has marks of its own.
        ("## `x`", "x", "Other", "## Other"),
        ("## `x y`", "x y", "x **z**", "## x **z**"),
    ] {
        let place = Place::ingested(&[("a.md", &format!("# A\n\n{heading}\n\ntext\n"))]);
        place.run(&["rename", "a.md", old, "--title", new]).success();
        assert_eq!(text(&place, "a.md"), format!("# A\n\n{written}\n\ntext\n"));
    }
}

#[test]
fn an_equal_title_renumbers_others_and_their_links_follow() {
    let place = Place::ingested(&[
        ("a.md", "# A\n\n## One\n\n## Two\n\n## Two\n"),
        ("b.md", "[x](a.md#two) [y](a.md#two-1)\n"),
    ]);
    let answer = place.run(&["rename", "a.md::heading:h2[0]", "--title", "Two"]).success().json();
    assert_eq!(answer["renumbered"][0], json!({"title": "Two", "from": "#two", "to": "#two-1"}));
    assert_eq!(text(&place, "b.md"), "[x](a.md#two-1) [y](a.md#two-2)\n");
}

#[test]
fn a_dry_run_prints_the_diff_of_every_file_and_writes_nothing() {
    let place = vault();
    let before = files(&place);
    let run =
        |more: &[&str]| place.run(&[&MOVE[..], &["--dry-run"], more].concat()).success().text();
    let diff = run(&["-f", "raw"]);
    assert!(
        diff.starts_with("diff --git a/notes/target.md b/archive/old/The target (1).md\nrename from notes/target.md\nrename to archive/old/The target (1).md\n")
    );
    for path in ["answer.md", "deep/er/far.md", "index.md", "notes/other.md"] {
        assert!(diff.contains(&format!("--- a/{path}\n")), "{path}");
    }
    // By default it shows the changed lines only, with the number of links in each file.
    let lines = run(&[]);
    assert!(lines.starts_with("notes/target.md => archive/old/The target (1).md: "), "{lines}");
    for path in ["answer.md", "deep/er/far.md", "index.md", "notes/other.md"] {
        let (_, of_file) = lines.split_once(&format!("\n{path}: ")).unwrap();
        let (count, changed) = of_file.split_once('\n').unwrap();
        assert!(count.ends_with(" link") || count.ends_with(" links"), "{lines}");
        assert!(changed.starts_with("@@ "), "{lines}");
    }
    let shown = lines.lines().filter(|line| line.starts_with(['+', '-'])).count();
    let hunks = lines.lines().filter(|line| line.starts_with("@@")).count();
    assert!(hunks > 2 && shown >= 2 * hunks, "{lines}");
    let names = lines.lines().filter(|line| line.contains(".md") && line.ends_with(" links"));
    let other = lines.lines().filter(|line| !line.starts_with(['@', '+', '-', ' ']));
    assert!(names.count() > 1 && other.count() == 5, "{lines}");
    assert!(lines.contains("\n  ") && lines.contains(" links rewritten, "), "{lines}");
    assert!(lines.len() < diff.len(), "{lines}");
    assert_eq!(files(&place), before);
    let kept = place.run(&[&MOVE[..], &["--no-links"]].concat()).success().json();
    assert_eq!(kept["rewritten_links"], 0);
    let kept = files(&place);
    assert_eq!(kept["archive/old/The target (1).md"], before["notes/target.md"]);
    assert_eq!(kept["index.md"], before["index.md"]);
}

#[test]
fn a_path_that_no_ingest_would_take_is_refused() {
    let place = vault();
    place.write(".gitignore", "ignored/\n");
    let before = files(&place);
    for (path, status, code) in [
        ("plain.md", 2, "EXISTS"),
        ("i.png", 2, "NOT_INGESTED"),
        ("ignored/x.md", 2, "NOT_INGESTED"),
        (".hidden/x.md", 2, "NOT_INGESTED"),
        ("n%00.md", 2, "USAGE"),
        ("n%0A.md", 2, "USAGE"),
        ("../x.md", 2, "OUTSIDE_ROOT"),
        ("a/../x.md", 2, "OUTSIDE_ROOT"),
        ("", 2, "OUTSIDE_ROOT"),
    ] {
        let fault = place.run(&["move", "notes/target.md", path]).ends(status).json();
        let error = &fault["error"];
        assert!(error["reason"] == code || error["code"] == code, "{path}: {fault}");
        let dry = place.run(&["move", "notes/target.md", path, "--dry-run", "-f", "json"]);
        assert_eq!(dry.ends(status).json(), fault, "{path}");
    }
    place.run(&["move", "no such document", "x.md"]).ends(1);
    place.run(&["rename", "notes/target.md", "No such section", "--title", "x"]).ends(1);
    for title in ["", "a\nb"] {
        place.run(&["rename", "notes/target.md", "The goal", "--title", title]).ends(2);
    }
    let wide = place.run(&["rename", "notes/target.md", "root", "--title", "x"]).ends(2).json();
    assert_eq!(wide["error"]["reason"], "NO_SUCH_POSITION");
    assert_eq!(files(&place), before);
}

#[test]
fn a_file_that_changed_since_the_ingest_is_a_conflict_and_nothing_changes() {
    let place = vault();
    let read = place.run(&["read", "notes/target.md", "Part one", "-f", "json"]).success().json();
    let rename = ["rename", "notes/target.md", "Part one", "--title", "x", "--expect"];
    place.run(&[&rename[..], &["0123456789abcdef"]].concat()).ends(2);
    place.run(&[&rename[..], &[read["hash"].as_str().unwrap()]].concat()).success();
    for path in ["notes/target.md", "deep/er/far.md"] {
        let place = vault();
        place.write(path, format!("{}\nmore\n", text(&place, path)));
        let before = files(&place);
        let fault = place.run(&MOVE).ends(2).json();
        assert_eq!(fault["error"]["code"], "CONFLICT", "{fault}");
        assert_eq!(files(&place), before);
        place.run(&[&MOVE[..], &["--refresh"]].concat()).success();
        place.assert_in_step();
    }
}

#[test]
fn a_document_that_becomes_mdx_keeps_the_targets_of_its_links() {
    // In MDX the lines of the export are no paragraphs, so later sections have other positions in the tree.
    let guide = "# Guide\n\nexport const meta = {\n\n  a: 1\n\n}\n\n## Install\n\nx\n\n## Usage\n\n## FAQ\n";
    let links = "[i](g.md#install) [u](g.md#usage) [[g#FAQ]]\n";
    let place = Place::ingested(&[("g.md", guide), ("b.md", links)]);
    place.run(&["move", "g.md", "g.mdx"]).success();
    assert_eq!(text(&place, "b.md"), "[i](g.mdx#install) [u](g.mdx#usage) [[g#FAQ]]\n");
    place.assert_in_step();
}

#[test]
fn a_section_that_would_lose_sections_in_another_dialect_is_not_moved() {
    let section = "# A\n\n## S\n\n{/*\nnote\n\n### In comment\n*/}\n\n### T\n\n### U\n";
    let files = [("a.md", section), ("m.mdx", "# M\n"), ("b.md", "[t](a.md#t)\n")];
    let place = Place::ingested(&files);
    let moves = ["move", "a.md::s", "--to", "m.mdx::m", "--position", "last_child"];
    assert_eq!(place.run(&moves).ends(2).code(), "EDIT_REFUSED");
    assert_eq!(text(&place, "b.md"), files[2].1);
}

#[test]
fn a_link_to_a_folder_stays_one() {
    let home = ("docs/README.md", "# Home\n");
    let place = Place::ingested(&[home, ("docs/guide/page.md", "[h](../) [t](../#home)\n")]);
    place.run(&["move", "docs/guide/page.md", "docs/page.md"]).success();
    assert_eq!(text(&place, "docs/page.md"), "[h](./) [t](./#home)\n");
    let place = Place::ingested(&[("docs/index.md", "# Home\n"), ("docs/n.md", "[h](./)\n")]);
    place.run(&["move", "docs/index.md", "index.md"]).success();
    assert_eq!(text(&place, "docs/n.md"), "[h](../)\n");
    place.assert_in_step();
}

#[test]
fn links_that_were_added_since_the_ingest_are_found_with_refresh() {
    let files = [("a.md", "# A\n\n## Old\n"), ("b.md", "# B\n"), ("c.md", "# C\n")];
    let rename = ["rename", "a.md::Old", "--title", "New", "-f", "json"];
    for is_refresh in [false, true] {
        let place = Place::ingested(&files);
        place.write("b.md", "# B\n\n[old](a.md#old)\n");
        let refresh: &[&str] = if is_refresh { &["--refresh"] } else { &[] };
        let report = place.run(&[&rename[..], refresh].concat()).success().json();
        assert_eq!(text(&place, "b.md").contains("a.md#new"), is_refresh);
        let warning = &report["warnings"][0];
        assert_eq!(warning["code"] == "STALE_DOCUMENTS", !is_refresh, "{report}");
        if !is_refresh {
            let message = warning["message"].as_str().unwrap();
            assert!(message.starts_with("b.md has changed") && message.contains("--refresh"));
        }
    }
}

#[test]
fn a_file_that_is_not_ingested_is_named_because_its_links_stay() {
    let rename = ["rename", "docs/in/p.md", "S", "--title", "T"];
    for (added, content, is_named) in [
        ("n.md", "[s](docs/in/p.md#s)\n", true),
        ("docs/n.md", "[s](in/p.md#s)\n", true),
        ("docs/in/n.md", "[s](p.md#s)\n", true),
        ("docs/in/n.txt", "[s](p.md#s)\n", false),
        ("docs/in/.n.md", "[s](p.md#s)\n", false),
        ("docs/in/left-out.md", "[s](p.md#s)\n", false),
        ("docs/in/n.md", "binary \0\n", false),
    ] {
        let files = [("docs/in/p.md", "# P\n\n## S\n"), (".mdselignore", "left-out.md\n")];
        let place = Place::ingested(&files);
        place.write(added, content);
        let answer = place.run(&rename).success().json();
        let message = answer["warnings"][0]["message"].as_str();
        assert_eq!(message.is_some_and(|text| text.starts_with(added)), is_named, "{answer}");
        let command = format!("`mdsel ingest {}`", place.join(added).display());
        assert_eq!(message.is_some_and(|text| text.contains(&command)), is_named, "{answer}");
        let refreshed =
            place.run(&["rename", "docs/in/p.md", "T", "--title", "S", "--refresh"]).success();
        assert!(!refreshed.text().contains("STALE_DOCUMENTS"), "{}", refreshed.text());
    }
}

#[test]
fn a_moved_document_that_would_take_the_name_of_another_leaves_its_links() {
    let place = Place::ingested(&[
        ("a/Note.md", "# A\n"),
        ("b/Other.md", "# B\n"),
        ("c.md", "[[Note]] [[Other]]\n"),
    ]);
    place.run(&["move", "b/Other.md", "Note.md"]).success();
    assert_eq!(text(&place, "c.md"), "[[a/Note]] [[Note]]\n");
    place.assert_in_step();
}

#[test]
fn a_wikilink_to_a_file_name_follows_the_file_though_its_title_is_the_same() {
    let links = "[[Setup]] ![[setup.md|x]] [[Setup#Install]] [[Other name]] [[The id]]\n";
    let place = Place::ingested(&[
        (
            "Setup.md",
            "---\nid: The id\naliases: [Other name]\n---\n# Setup\n\n## Install\n\n[[Setup]]\n",
        ),
        ("typed.md", "---\nlinks: [Setup, {type: s, id: \"[[Setup#Install]]\"}]\n---\n# Typed\n"),
        ("n1.md", "---\nid: n1\n---\n# n1\n"),
        ("of-id.md", "---\nlinks: [n1]\n---\n[[n1]]\n"),
        ("p.md", links),
    ]);
    place.run(&["move", "Setup.md", "docs/Installation.md"]).success();
    let moved = links.replace("[[Setup", "[[Installation").replace("setup.md", "Installation.md");
    assert_eq!(text(&place, "p.md"), moved);
    assert!(text(&place, "docs/Installation.md").ends_with("[[Installation]]\n"));
    let typed = "links: [Installation, {type: s, id: \"[[Installation#Install]]\"}]";
    assert!(text(&place, "typed.md").contains(typed), "{}", text(&place, "typed.md"));
    // An id is a name of its own in front matter.
    place.run(&["move", "n1.md", "old.md"]).success();
    assert_eq!(text(&place, "of-id.md"), "---\nlinks: [n1]\n---\n[[old]]\n");
    // A new file of the old name takes no link over.
    place.write("Setup.md", "# Setup\n");
    place.run(&["ingest"]).success();
    assert!(backlinks(&place, "Setup.md").is_empty());
    assert_eq!(backlinks(&place, "docs/Installation.md").len(), 8);
}

#[test]
fn a_short_wikilink_that_would_mean_two_notes_gets_a_folder() {
    let place = Place::ingested(&[
        ("z/N.md", "# One\n"),
        ("z/Q.md", "# Two\n\n## Part\n"),
        ("p.md", "[[Q]] [[Q#Part]] [[z/Q]] [[One]]\n"),
    ]);
    place.run(&["move", "z/Q.md", "a/N.md"]).success();
    assert_eq!(text(&place, "p.md"), "[[a/N]] [[a/N#Part]] [[a/N]] [[One]]\n");
    // It stays short where it was short for several notes.
    place.write("p.md", "[[N#Part]]\n");
    place.run(&["ingest"]).success();
    place.run(&["rename", "a/N.md", "Part", "--title", "Piece"]).success();
    assert_eq!(text(&place, "p.md"), "[[N#Piece]]\n");
}

#[test]
fn a_heading_in_a_wikilink_never_becomes_an_anchor() {
    let note = "# Note\n\n## Beta\n\n### Own\n\n## Alpha\n\n### Part\n";
    let links = "[[Note#Alpha]] [[Note#Part]] [a](Note.md#alpha) [[Note#Beta]]\n";
    let place = Place::ingested(&[("Note.md", note), ("p.md", links)]);
    let rename = ["rename", "Note.md", "Alpha", "--title", "Beta"];
    let refused = place.run(&rename).ends(2).json();
    assert_eq!(refused["error"]["reason"], "LINKS", "{refused}");
    assert!(refused["error"]["message"].as_str().unwrap().contains("p.md:1 to Note#Alpha"));
    // The headings above it tell it from another one.
    place.run(&["rename", "Note.md", "Part", "--title", "Own"]).success();
    assert_eq!(text(&place, "p.md"), links.replace("[[Note#Part", "[[Note#Alpha#Own"));
    place.write("p.md", "[[Note#alpha]] [[Note#own-1]] [a](Note.md#alpha)\n");
    place.run(&["ingest"]).success();
    place.run(&["rename", "Note.md", "Alpha/Own", "--title", "Beta"]).success();
    assert_eq!(text(&place, "p.md"), "[[Note#alpha]] [[Note#beta-1]] [a](Note.md#alpha)\n");
}

#[test]
fn a_reference_to_the_text_of_a_heading_never_becomes_an_anchor() {
    let links = "[a](b.md#Sec%20Two) [b](b.md#Part#Sec%20Two) [c](<b.md#Part#Sec Two>) [d](b.md#sec-two) [e](b.md#Part)\n";
    let place = Place::ingested(&[("a.md", links), ("b.md", "## Part\n\n### Sec Two\n\nt ^x\n")]);
    place.run(&["rename", "b.md", "Sec Two", "--title", "New: (one) & so"]).success();
    let renamed = links
        .replace("Sec%20Two", "New:%20(one)%20%26%20so")
        .replace("Sec Two", "New: (one) %26 so")
        .replace("sec-two", "new-one--so");
    assert_eq!(text(&place, "a.md"), renamed);
    place.run(&["rename", "b.md", "Part", "--title", "All parts"]).success();
    let renamed = renamed
        .replace("b.md#Part#New:%20", "b.md#All%20parts#New:%20")
        .replace("Part#New: ", "All parts#New: ")
        .replace("#Part", "#All%20parts");
    assert_eq!(text(&place, "a.md"), renamed);
    assert!(findings(&place).is_empty());
    place.assert_in_step();
}

#[test]
fn a_rename_keeps_what_is_no_text_of_the_heading() {
    let links = "[a](#id) [b](#in-html) [c](#old) [[a#Old]]";
    for (heading, old, new, written) in [
        ("## Old {#id}", "Old {#id}", "New", "## New {#id}"),
        ("## Old {: #id .x }  ##", "Old {: #id .x }", "New", "## New {: #id .x }  ##"),
        ("## Old {#id}", "Old {#id}", "New {#other}", "## New {#other}"),
        ("## Old <a id=\"in-html\"></a>", "Old", "New", "## New <a id=\"in-html\"></a>"),
        ("## <a name='in-html'></a> Old", "Old", "New", "## <a name='in-html'></a> New"),
        ("Old <!-- omit in toc -->\n---", "Old", "New", "New <!-- omit in toc -->\n---"),
        ("## Old {/* #id */}", "Old {/* #id */}", "New", "## New {/* #id */}"),
        ("## `Old` x[^1]", "Old x[^1]", "New x", "## `New` x[^1]"),
        ("## Old [^none]", "Old [^none]", "New", "## New"),
        ("## See [it](u.md) here", "See it here", "See it there", "## See [it](u.md) there"),
        (
            "## See [it](u.md) here",
            "See it here",
            "Look at it, please",
            "## Look at [it](u.md), please",
        ),
        ("## See [it](u.md)", "See it", "Read [it](u.md)", "## Read [it](u.md)"),
        ("## See [it](u.md)", "See it", "Read [that](u.md)", "## Read [that](u.md)"),
        ("## [1.1.0] - 2020", "1.1.0 - 2020", "1.1.0 - 2021", "## [1.1.0] - 2021"),
        ("## ![logo](i.png) Old", "logo Old", "logo New", "## ![logo](i.png) New"),
        ("## `<a id=x>` y", "<a id=x> y", "New", "## New"),
    ] {
        let file = |heading: &str| {
            format!("# A\n\n{heading}\n\n{links}\n\n[1.1.0]: https://x.y\n\n[^1]: Note.\n")
        };
        let place = Place::ingested(&[("a.md", &file(heading)), ("u.md", "# U\n")]);
        let rename = ["rename", "a.md::heading:h2[0]", "--title", new];
        let answer = place.run(&rename).success().json();
        let found = text(&place, "a.md");
        assert!(found.contains(&format!("\n{written}\n")), "{old}: {found}");
        // What stays keeps the links to it.
        for kept in ["[a](#id)", "[b](#in-html)"] {
            assert!(found.contains(kept) || new.contains("{#"), "{found} {answer}");
        }
        place.assert_in_step();
    }
}

#[test]
fn a_rename_that_would_lose_a_part_of_the_heading_says_which() {
    for (heading, new, part) in [
        ("See [it](u.md) here", "See that here", "[it](u.md)"),
        ("[1.1.0] - 2020", "1.2.0 - 2021", "[1.1.0]"),
        ("![logo](i.png) Old", "New", "![logo](i.png)"),
        ("Old [[u|it]]", "New", "[[u|it]]"),
        ("Old[^1] and more", "New", "[^1]"),
        ("Old <a id=\"x\">y</a> z", "New", "<a id=\"x\">"),
    ] {
        let file = format!("# A\n\n## {heading}\n\n[1.1.0]: https://x.y\n\n[^1]: Note.\n");
        let place = Place::ingested(&[("a.md", &file), ("u.md", "# U\n")]);
        let fault = place.run(&["rename", "a.md::heading:h2[0]", "--title", new]).ends(2).json();
        assert_eq!(fault["error"]["reason"], "LINKS", "{fault}");
        let message = fault["error"]["message"].as_str().unwrap();
        assert!(message.ends_with(&format!("would lose {part} of the heading")), "{message}");
        let hint = fault["error"]["hint"].as_str().unwrap();
        assert!(hint.starts_with(&format!("write {part} in the title, too;")), "{hint}");
        assert_eq!(text(&place, "a.md"), file);
    }
}

#[test]
fn an_id_that_another_heading_has_is_named() {
    let place = Place::ingested(&[("a.md", "# A\n\n## One {#custom}\n\n## Zero\n\nz\n")]);
    let rename = |section: &str, title: &str| {
        place.run(&["rename", "a.md", section, "--title", title]).success().json()
    };
    let answer = rename("Zero", "Zero {#custom}");
    assert_eq!(answer["warnings"][0]["code"], "DUPLICATE_ANCHOR", "{answer}");
    let message = answer["warnings"][0]["message"].as_str().unwrap();
    assert!(message.starts_with("a.md::heading:h2[0] has the id custom"), "{message}");
    let answer = rename("@5", "Zero {#other}");
    assert!(answer.get("warnings").is_none_or(|all| *all == json!([])), "{answer}");
}

#[test]
fn a_wikilink_names_a_heading_without_its_attributes() {
    let place = Place::ingested(&[
        ("t.md", "# T\n\n## Foo {#foo-id}\n\n[x](#foo-jd)\n"),
        ("p.md", "[[t#Foo]] [y](t.md#foo-id)\n"),
    ]);
    let found = place.run(&["links", "check"]).json();
    assert_eq!(found["findings"].as_array().unwrap().len(), 1, "{found}");
    assert_eq!(found["findings"][0]["hint"], "did you mean #foo-id?");
    place.run(&["rename", "t.md::heading:h2[0]", "--title", "Bar"]).success();
    assert_eq!(text(&place, "p.md"), "[[t#Bar]] [y](t.md#foo-id)\n");
}

#[test]
fn the_number_signs_of_a_heading_are_no_part_of_its_title() {
    let place = Place::ingested(&[("a.md", "# A\n\n### B\n\ntext\n")]);
    let rename = |title: &str| place.run(&["rename", "a.md::heading:h3[0]", "--title", title]);
    rename("### C").success();
    assert_eq!(text(&place, "a.md"), "# A\n\n### C\n\ntext\n");
    let fault = rename("## D").ends(2).json();
    assert_eq!(fault["error"]["code"], "USAGE", "{fault}");
    assert!(fault["error"]["hint"].as_str().unwrap().contains("--no-keep-heading"), "{fault}");
    rename("#tag").success();
    assert_eq!(text(&place, "a.md"), "# A\n\n### #tag\n\ntext\n");
}

#[test]
fn the_text_of_a_rename_names_the_title_and_counts_in_words() {
    let place = Place::ingested(&[
        ("a.md", "# A\n\n## B\n\n## C\n\ntext\n"),
        ("b.md", "[c](a.md#c)\n"),
        ("c.md", "# X\n"),
    ]);
    let run = |arguments: &[&str]| place.run(&[arguments, &["-f", "text"]].concat()).success();
    let first = |arguments: &[&str]| run(arguments).text().lines().next().unwrap().to_owned();
    assert_eq!(
        first(&["rename", "a.md::heading:h2[0]", "--title", "New"]),
        "a.md::heading:h2[0] is now \"New\": 0 links rewritten, 1 file changed"
    );
    assert_eq!(
        first(&["rename", "a.md::heading:h2[1]", "--title", "Other"]),
        "a.md::heading:h2[1] is now \"Other\": 1 link rewritten, 2 files changed"
    );
    assert_eq!(
        first(&["move", "a.md::heading:h2[1]", "--to", "c.md::*", "--position", "last_child"]),
        "a.md::heading:h2[1] is now c.md::heading:h2[0] \"Other\": 1 link rewritten, 3 files changed"
    );
}

#[test]
fn a_line_of_text_suggests_only_its_section_for_a_rename() {
    let place = Place::ingested(&[("a.md", "# A\n\n## B\n\ntext\n")]);
    let fault = place.run(&["rename", "a.md:5", "--title", "C"]).ends(1).json();
    let suggestions = &fault["unresolved_selectors"][0]["suggestions"];
    assert_eq!(*suggestions, json!(["a.md::heading:h2[0]"]));
}

#[test]
fn a_dry_run_that_is_cut_says_how_much_would_change() {
    let place = Place::ingested(&[("t.md", "# T\n\n## Target\n\nx\n")]);
    for number in 0..40 {
        place.write(&format!("d{number}.md"), "[t](t.md#target)\n");
    }
    place.run(&["ingest"]).success();
    let rename = ["rename", "t.md", "Target", "--title", "Goal", "--dry-run", "-f", "text"];
    let cut = place.run(&[&rename[..], &["--max-chars", "600"]].concat()).success().text();
    assert!(
        cut.contains("40 links rewritten, 41 files changed") && cut.contains("truncated"),
        "{cut}"
    );
    let whole = place.run(&rename).success().text();
    assert!(whole.contains("d9.md: 1 link\n") && !whole.contains("truncated"), "{whole}");
}

#[test]
fn a_wikilink_keeps_its_alias_and_its_headings() {
    let guide = "---\naliases: [Alt]\n---\n# G\n\n## Tail\n\n### Sub\n";
    let links = "[[Alt#Tail]] [[guide#Tail#Sub]] [[guide#G#Tail]] [[Alt#Tail#Sub|x]] [[Tail]]\n";
    let place = Place::ingested(&[("guide.md", guide), ("o.md", links)]);
    let now = || std::fs::read_to_string(place.join("o.md")).unwrap();
    place.run(&["rename", "guide.md", "Tail", "--title", "Queue"]).success();
    let queue =
        "[[Alt#Queue]] [[guide#Queue#Sub]] [[guide#G#Queue]] [[Alt#Queue#Sub|x]] [[Tail]]\n";
    assert_eq!(now(), queue);
    place.run(&["rename", "guide.md", "G", "--title", "H"]).success();
    assert_eq!(now(), queue.replace("#G#", "#H#"));
}

#[test]
fn a_new_document_is_made_as_a_file_before_an_edit() {
    let place = Place::ingested(&[("a.md", "# A\n\n## T\n\nx\n")]);
    let insert = ["insert", "new.md::*", "--position", "last_child", "--content", "y"];
    for edit in [&["move", "a.md::T", "--to", "new.md::*"][..], &insert] {
        let fault = place.run(edit).ends(1).text();
        assert!(fault.contains("no edit makes a document"), "{fault}");
        place.write("new.md", "# New\n");
        place.run(&[edit, &["--refresh"]].concat()).success();
        place.remove("new.md");
        place.run(&["ingest"]).success();
    }
}

#[test]
fn a_section_moves_to_the_end_of_a_document() {
    let place = Place::ingested(&[("a.md", "# A\n\n## T\n\nx\n"), ("o.md", "# O\n\n## Last\n")]);
    // The address as an answer writes it under the name of the document.
    assert_eq!(
        place.run(&["read", "a.md", "::heading:h2[0]", "-f", "raw"]).success().text(),
        "## T\n\nx\n"
    );
    place.run(&["move", "a.md::T", "--to", "o.md::*"]).success();
    assert_eq!(
        std::fs::read_to_string(place.join("o.md")).unwrap(),
        "# O\n\n## Last\n\n## T\n\nx\n"
    );
    place.run(&["delete", "o.md", "::heading:h2[1]"]).success();
    assert_eq!(std::fs::read_to_string(place.join("o.md")).unwrap(), "# O\n\n## Last\n");
}

#[test]
fn a_move_of_a_section_without_to_says_so() {
    let place = Place::ingested(&[("a.md", "# A\n\n## B\n"), ("b.md", "# C\n")]);
    let fault = place.run(&["move", "a.md#b", "b.md#c"]).ends(1).json();
    let message = fault["unresolved_selectors"][0]["message"].as_str().unwrap();
    assert!(message.contains("`mdsel move 'a.md#b' --to 'b.md#c'`"), "{message}");
}

/// A change log of `count` releases with equal sections, and a document with a link to one of them.
fn change_log(count: usize) -> Place {
    let mut log = "# Log\n".to_owned();
    for number in (0..count).rev() {
        log.push_str(&format!("\n## 1.0.{number}\n\n### Patch Changes\n\n- x\n"));
    }
    let link = format!("[p](log.md#patch-changes-{})\n", count - 5);
    Place::ingested(&[("log.md", &log), ("p.md", &link)])
}

#[test]
fn the_answer_lists_some_renumbered_sections_and_those_with_links_first() {
    let place = change_log(300);
    let content = "## 1.0.300\n\n### Patch Changes\n\n- new\n";
    let insert = ["insert", "log.md", "1.0.299", "--position", "before", "--content", content];
    let is_linked_first = |answer: &Value, from: &str| {
        assert_eq!(answer["renumbered"].as_array().unwrap().len(), 20);
        assert_eq!(answer["renumbered"][0]["from"], from, "{answer}");
        assert!(answer["renumbered_total"].as_u64().unwrap() >= 299, "{answer}");
    };
    let lines = place.run(&[&insert[..], &["-f", "text"]].concat()).success().text();
    assert!(lines.contains("renumbered: #patch-changes-295 is now #patch-changes-296"), "{lines}");
    assert!(lines.lines().count() < 30 && lines.contains(" more\n"), "{lines}");
    let place = change_log(300);
    is_linked_first(&place.run(&insert).success().json(), "#patch-changes-295");
    // A budget shortens the list, and the edit is made.
    let place = change_log(300);
    let short = place.run(&[&insert[..], &["--max-chars", "500"]].concat()).success().json();
    assert!(short["renumbered"].as_array().is_none_or(|all| all.len() < 20), "{short}");
    assert_eq!((&short["truncated"], &short["renumbered_total"]), (&json!(true), &json!(300)));
    let place = change_log(300);
    let rename = ["rename", "log.md::heading:h3[0]", "--title", "Other"];
    let short = place.run(&[&rename[..], &["--max-chars", "600"]].concat()).success().json();
    assert_eq!((&short["truncated"], &short["renumbered_total"]), (&json!(true), &json!(299)));
    let place = change_log(300);
    is_linked_first(&place.run(&rename).success().json(), "#patch-changes-295");
    assert_eq!(text(&place, "p.md"), "[p](log.md#patch-changes-294)\n");
}

#[test]
fn a_path_that_ends_with_a_slash_is_a_folder_to_move_into() {
    let files = [("n/a.md", "# A\n"), ("docs/x.md", "[a](../n/a.md)\n"), ("b.md", "# B\n")];
    let place = Place::ingested(&files);
    let fault = place.run(&["move", "n/a.md", "docs"]).ends(2).json();
    assert_eq!(fault["error"]["reason"], "EXISTS", "{fault}");
    assert!(fault["error"]["hint"].as_str().unwrap().contains("`mdsel move n/a.md docs/`"));
    place.run(&["move", "n/a.md", "docs/"]).success();
    assert_eq!(text(&place, "docs/x.md"), "[a](a.md)\n");
    // The folder need not be there, and may be seen from the current one.
    place.run(&["move", "b.md", "./new/deep/"]).success();
    assert_eq!(text(&place, "new/deep/b.md"), "# B\n");
    place.run(&["move", "b.md", "new/deep/"]).success();
    place.run(&["move", "b.md", "./"]).success();
    assert_eq!(text(&place, "b.md"), "# B\n");
}

#[test]
fn a_new_path_may_be_encoded_as_answers_print_paths() {
    let place = Place::ingested(&[("My dir/p.md", "# P\n"), ("My dir/q.md", "# Q\n\n[p](p.md)\n")]);
    let moved = place.run(&["move", "My%20dir/p.md", "My%20dir/new%20p.md"]).success().json();
    assert_eq!(moved["new_selector"], "My%20dir/new%20p.md::*");
    assert_eq!(text(&place, "My dir/new p.md"), "# P\n");
    assert!(!place.join("My%20dir").exists());
    place.run_in("My dir", &["move", "./q.md", "./100%25.md"], "").success();
    assert!(place.join("My dir/100%.md").exists());
    let taken = place.run(&["move", "My dir/100%25.md", "My%20dir/new%20p.md"]).ends(2).json();
    assert_eq!(taken["error"]["reason"], "EXISTS", "{taken}");
}

#[test]
fn a_move_that_fails_leaves_no_folder() {
    let place = Place::ingested(&[("a.md", "# A\n")]);
    std::fs::create_dir(place.join("old")).unwrap();
    let path = format!("old/new/{}/a.md", "x".repeat(300));
    place.run(&["move", "a.md", &path]).ends(2);
    assert!(!place.join("old/new").exists());
    assert!(place.join("old").is_dir(), "a folder that was there is kept");
    place.run(&["move", "a.md", "old/new/a.md"]).success();
    assert_eq!(text(&place, "old/new/a.md"), "# A\n");
}

#[test]
fn a_killed_move_changes_all_files_or_none() {
    let (before, after, length) = {
        let place = vault();
        let before = files(&place);
        let began = Instant::now();
        place.run(&MOVE).success();
        (before, files(&place), began.elapsed())
    };
    let count = repeats(20);
    let mut made = 0;
    for number in 0..count {
        let place = vault();
        let nanos = length.as_nanos() * 3 / 2 * u128::from(number) / u128::from(count);
        place.kill(&MOVE, Duration::from_nanos(u64::try_from(nanos).unwrap()));
        place.run(&["status"]).success();
        assert_all_or_none(&place, &before, &after, &format!("killed after {nanos} ns"));
        made += u64::from(files(&place) == after);
    }
    eprintln!("{count} kills of a move; {made} were made");
}

#[test]
fn a_move_warns_of_links_that_lead_nowhere_and_end_in_its_name() {
    let place = Place::ingested(&[
        ("pino/docs/redaction.md", "# R\n"),
        ("pino/a.md", "[a](/docs/redaction.md) [b](/docs/redaction) [c](docs/redaction.md)\n"),
        ("x/other.md", "[o](/x/gone.md)\n"),
    ]);
    let answer = place.run(&["move", "pino/docs/redaction.md", "pino/docs/hiding.md"]).success();
    let answer = answer.json();
    let warning = &answer["warnings"][0];
    assert_eq!(warning["code"], "UNRESOLVED_LINKS", "{answer}");
    let message = warning["message"].as_str().unwrap();
    assert!(message.starts_with("2 unresolved links end in the name \"redaction\""), "{message}");
    assert!(message.contains("pino/a.md:1 to /docs/redaction.md"), "{message}");
    let answer = place.run(&["move", "x/other.md", "x/none.md"]).success().json();
    assert!(answer.get("warnings").is_none_or(|it| it == &json!([])), "{answer}");
}

/// The findings of `links check` by file, line and code.
fn findings(place: &Place) -> Vec<(String, u64, String)> {
    let answer = place.run(&["links", "check", "--limit", "0"]).json();
    let finding = |one: &Value| {
        let text = |key: &str| one[key].as_str().unwrap_or_default().to_owned();
        (text("file"), one["line"].as_u64().unwrap_or_default(), text("code"))
    };
    answer["findings"].as_array().unwrap().iter().map(finding).collect()
}

/// The files and lines of the links to a place.
fn backlinks(place: &Place, address: &str) -> Vec<(String, u64)> {
    let links = ["links", "list", address, "--direction", "in", "--limit", "0"];
    let answer = place.run(&links).json();
    let link =
        |one: &Value| (one["file"].as_str().unwrap().to_owned(), one["line"].as_u64().unwrap());
    let mut all: Vec<_> = answer["edges"].as_array().unwrap().iter().map(link).collect();
    all.sort();
    all
}

/// A line without the targets of its links, as a second reader finds them.
fn without_targets(line: &str) -> String {
    // A REF marker, and a typed link in front matter.
    if line.starts_with("<!--LDMD:REF") || line.contains("{type: ") {
        return "link".to_owned();
    }
    let mut rest = line;
    let mut text = String::new();
    while let Some(at) = rest.find("](").into_iter().chain(rest.find("[[")).min() {
        let (before, after) = rest.split_at(at + 2);
        text.push_str(before);
        let is_wikilink = before.ends_with("[[");
        let mut depth = 0;
        let end = after.find(|c: char| match c {
            '|' | ']' | '\\' if is_wikilink => true,
            '(' if !is_wikilink => {
                depth += 1;
                false
            }
            ')' if !is_wikilink => {
                depth -= 1;
                depth < 0
            }
            _ => false,
        });
        rest = &after[end.unwrap_or(after.len())..];
    }
    text + rest
}

/// Asserts that each changed byte of these files is in a link, a definition, or the renamed heading.
fn assert_only_links_differ(place: &Place, old: &BTreeMap<String, String>, arguments: &[&str]) {
    for (file, old) in old {
        let new = std::fs::read(place.join(file)).unwrap();
        let new = String::from_utf8_lossy(&new).into_owned();
        assert_eq!(old.lines().count(), new.lines().count(), "{arguments:?}: {file}");
        for (one, other) in old.lines().zip(new.lines()) {
            let is_heading = arguments[0] == "rename" && other.contains(arguments[3]);
            let is_definition = one.trim_start().starts_with('[') && one.contains("]:");
            assert!(
                is_heading || is_definition || without_targets(one) == without_targets(other),
                "{arguments:?}: {file}: {one:?} {other:?}"
            );
        }
    }
}

/// A store of the fixtures and of these folders of real documents, if there are any, and the paths of the documents.
fn corpus(folders: &[&str]) -> (Place, Vec<String>) {
    let place = Place::in_memory();
    copy(&fixtures(), &place.join("fixtures"));
    if let Some(corpora) = std::env::var_os("MDSEL_CORPORA") {
        for folder in folders {
            let from = Path::new(&corpora).join(folder);
            if from.is_dir() {
                copy(&from, &place.join(folder));
            }
        }
    }
    place.run(&["ingest"]).success();
    let paths = place.run(&["toc", "--limit", "0"]).success().json();
    let paths = paths["files"].as_array().unwrap().iter();
    let paths = paths.map(|file| file["file"].as_str().unwrap().to_owned()).collect();
    (place, paths)
}

/// Returns numbers below a bound, always the same ones for a seed.
fn random(mut seed: u64) -> impl FnMut(usize) -> usize {
    move |below| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(seed >> 33).unwrap() % below
    }
}

/// The addresses of the sections of a document.
fn sections(place: &Place, document: &str) -> Vec<String> {
    let index = place.run(&["index", document, "--limit", "0"]).json();
    let headings = index["documents"][0]["headings"].as_array().cloned().unwrap_or_default();
    headings.iter().map(|heading| heading["selector"].as_str().unwrap().to_owned()).collect()
}

/// Random renames and moves over real documents. All links lead where they led, and each changed byte is in a
/// link, in the heading, or in a definition.
#[test]
fn random_renames_and_moves_change_only_links() {
    let (place, mut paths) = corpus(&["obsidian-help/en", "powershell-docs", "commonmark"]);
    let mut random = random(0x9e37_79b9);
    let mut before = findings(&place);
    let (mut rewritten, mut refused) = (0, 0);
    let count = repeats(30);
    for number in 0..count {
        let at = random(paths.len());
        let path = paths[at].clone();
        let document = mdsel::address::namespace::encode(&path);
        let (arguments, to, address) = if random(2) == 0 {
            let folder =
                paths[random(paths.len())].rsplit_once('/').map_or("", |(f, _)| f).to_owned();
            let name = match random(3) {
                0 => path.rsplit('/').next().unwrap().to_owned(),
                1 => format!("Moved ({number}).md"),
                _ => format!("\u{fc}ber {number}.md"),
            };
            let to = format!("{folder}/{name}").trim_start_matches('/').to_owned();
            (vec!["move".to_owned(), document.clone(), to.clone()], to, format!("{document}::*"))
        } else {
            let sections = sections(&place, &document);
            if sections.is_empty() {
                continue;
            }
            let selector = sections[random(sections.len())].clone();
            let titles = ["Overview", "A & B", "What is `x`?", "Notes"];
            let title = format!("{} {number}", titles[random(titles.len())]);
            let arguments =
                vec!["rename".to_owned(), selector.clone(), "--title".to_owned(), title];
            (arguments, path.clone(), selector)
        };
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let what = format!("{arguments:?}");
        let links = backlinks(&place, &address);
        let trial = place.run(&[&arguments[..], &["--dry-run", "-f", "json"]].concat());
        if trial.status != 0 {
            assert!(trial.text().contains("\"reason\""), "{what}: {}", trial.text());
            refused += 1;
            continue;
        }
        let trial = trial.json();
        let old: BTreeMap<String, String> = trial["files"]
            .as_array()
            .unwrap()
            .iter()
            .map(|file| {
                let now = file["file"].as_str().unwrap();
                let from = file["moved_from"].as_str().unwrap_or(now);
                let bytes = std::fs::read(place.join(from)).unwrap();
                (now.to_owned(), String::from_utf8_lossy(&bytes).into_owned())
            })
            .collect();
        let answer = place.run(&arguments).success().json();
        rewritten += answer["rewritten_links"].as_u64().unwrap();
        paths[at].clone_from(&to);
        let mapped = |file: &str| if file == path { to.clone() } else { file.to_owned() };
        let mut expected: Vec<_> =
            before.iter().map(|(file, line, code)| (mapped(file), *line, code.clone())).collect();
        before = findings(&place);
        let mut found = before.clone();
        expected.sort();
        found.sort();
        assert_eq!(found, expected, "{what}");
        let mut expected: Vec<_> = links.iter().map(|(file, line)| (mapped(file), *line)).collect();
        expected.sort();
        assert_eq!(backlinks(&place, answer["new_selector"].as_str().unwrap()), expected, "{what}");
        assert_only_links_differ(&place, &old, &arguments);
    }
    place.assert_in_step();
    eprintln!("{count} renames and moves, {rewritten} links rewritten, {refused} refused");
}

/// The lines of files without targets of links, marks of headings and blank lines, with their numbers.
fn lines_without_targets(place: &Place, paths: &[String]) -> BTreeMap<String, usize> {
    let mut lines = BTreeMap::new();
    for path in paths {
        let bytes = std::fs::read(place.join(path)).unwrap();
        for line in String::from_utf8_lossy(&bytes).split(['\n', '\r']) {
            let line = without_targets(line);
            let line = line.trim_start_matches(['\u{feff}', '#']).trim();
            // The target of a definition may be rewritten.
            let is_definition = line.starts_with('[') && line.contains("]: ");
            let line = if is_definition { line.split("]: ").next().unwrap() } else { line };
            if !line.trim_matches(['=', '-']).is_empty() {
                *lines.entry(line.to_owned()).or_default() += 1;
            }
        }
    }
    lines
}

/// Random moves of sections over real documents. No line is lost, and all links lead where they led.
#[test]
fn random_moves_of_sections_lose_nothing() {
    let (place, paths) = corpus(&["obsidian-help/en", "commonmark"]);
    let mut random = random(0x1234_5678);
    let codes = |findings: Vec<(String, u64, String)>| {
        let mut codes: Vec<String> = findings.into_iter().map(|(_, _, code)| code).collect();
        codes.sort();
        codes
    };
    let before = codes(findings(&place));
    let (mut made, mut rewritten, mut refused) = (0, 0, 0);
    let count = repeats(30);
    for _ in 0..count {
        let from = mdsel::address::namespace::encode(&paths[random(paths.len())]);
        let to = mdsel::address::namespace::encode(&paths[random(paths.len())]);
        let (from, there) = (sections(&place, &from), sections(&place, &to));
        if from.is_empty() {
            continue;
        }
        let from = &from[random(from.len())];
        let position = ["before", "after", "first_child", "last_child"][random(4)];
        let to = match there.len() {
            0 => format!("{to}::*"),
            count => there[random(count)].clone(),
        };
        let position = if to.ends_with("::*") { "last_child" } else { position };
        let arguments = ["move", from, "--to", &to, "--position", position, "--relevel"];
        let what = format!("{arguments:?}");
        let links = backlinks(&place, from).len();
        let trial = place.run(&[&arguments[..], &["--dry-run", "-f", "json"]].concat());
        if trial.status != 0 {
            assert!(trial.text().contains("\"reason\""), "{what}: {}", trial.text());
            refused += 1;
            continue;
        }
        let changed = trial.json();
        let changed = changed["files"].as_array().unwrap().iter();
        let changed: Vec<String> =
            changed.map(|file| file["file"].as_str().unwrap().to_owned()).collect();
        let old = lines_without_targets(&place, &changed);
        let answer = place.run(&arguments).success().json();
        made += 1;
        rewritten += answer["rewritten_links"].as_u64().unwrap();
        if answer["new_labels"].is_null() {
            let new = lines_without_targets(&place, &changed);
            for (line, count) in old {
                let now = new.get(&line).copied().unwrap_or_default();
                assert!(now >= count, "{what}: {line:?} is lost");
            }
        }
        assert_eq!(codes(findings(&place)), before, "{what}");
        let now = backlinks(&place, answer["new_selector"].as_str().unwrap()).len();
        assert_eq!(now, links, "{what}");
    }
    place.assert_in_step();
    eprintln!("{made} sections moved, {rewritten} links rewritten, {refused} moves refused");
}

#[test]
fn a_moved_section_takes_its_links_and_definitions_along() {
    let place = Place::ingested(&[
        (
            "a/from.md",
            "# From\n\n[down](#part) [ref][r] note[^1]\n\n## Part\n\n[up](#from) [near](near.md) [r] [ext][e] ![i](i.png) [[#From]] note[^1] and[^2] `[^1]`\n\n[e]: https://example.com\n\n### Deep\n\nText. ^block\n\n## Rest\n\n[e] [s](#deep)\n\n[r]: near.md#n 'T'\n\n[^1]: First.\n\n    More.\n\n[^2]: Second [r].\n",
        ),
        ("a/near.md", "# N\n\n[p](from.md#part) [[from#^block]] [[from#Deep]]\n"),
        (
            "b/to.md",
            "# To\n\n## Part\n\n[x](#part) [r] note[^1]\n\n## Last\n\n[r]: other.md\n\n[^1]: Theirs.\n",
        ),
    ]);
    let before = findings(&place);
    let answer = place.run(&["move", "a/from.md::heading:h2[0]", "--to", "b/to.md::heading:h2[0]"]);
    let answer = answer.success().json();
    assert_eq!(answer["new_selector"], "b/to.md::heading:h2[1]");
    assert_eq!(
        text(&place, "a/from.md"),
        "# From\n\n[down](../b/to.md#part-1) [ref][r] note[^1]\n\n[e]: https://example.com\n\n## Rest\n\n[e] [s](../b/to.md#deep)\n\n[r]: near.md#n 'T'\n\n[^1]: First.\n\n    More.\n\n[^2]: Second [r].\n"
    );
    assert_eq!(
        text(&place, "b/to.md"),
        "# To\n\n## Part\n\n[x](#part) [r] note[^1]\n\n## Part\n\n[up](../a/from.md#from) [near](../a/near.md) [r][r-2] [ext][e] ![i](../a/i.png) [[from#From]] note[^1-2] and[^2] `[^1]`\n\n[e]: https://example.com\n\n### Deep\n\nText. ^block\n\n[r-2]: ../a/near.md#n 'T'\n\n[^1-2]: First.\n\n    More.\n\n[^2]: Second [r][r-2].\n\n## Last\n\n[r]: other.md\n\n[^1]: Theirs.\n"
    );
    assert_eq!(
        text(&place, "a/near.md"),
        "# N\n\n[p](../b/to.md#part-1) [[to#^block]] [[to#Deep]]\n"
    );
    assert_eq!(answer["kept_definitions"], json!(["e"]));
    assert_eq!(answer["copied_definitions"], json!(["r", "^1", "^2"]));
    assert_eq!(
        answer["new_labels"],
        json!([{"from": "r", "to": "r-2"}, {"from": "^1", "to": "^1-2"}])
    );
    assert_eq!(findings(&place).len(), before.len());
    place.assert_in_step();
}

#[test]
fn a_section_moves_within_its_file() {
    let place = Place::ingested(&[
        (
            "a.md",
            "# A\n\n## One\n\n[two](#same-1) [own](#same)\n\n### Same\n\n## Two\n\n### Same\n\nEnd.\n",
        ),
        ("b.md", "[x](a.md#same) [y](a.md#same-1)\n"),
    ]);
    let there = ["move", "a.md::heading:h2[0]", "--to", "a.md::heading:h2[1]"];
    let answer = place.run(&there).success().json();
    assert_eq!(answer["new_selector"], "a.md::heading:h2[1]");
    assert_eq!(
        text(&place, "a.md"),
        "# A\n\n## Two\n\n### Same\n\nEnd.\n\n## One\n\n[two](#same) [own](#same-1)\n\n### Same\n"
    );
    assert_eq!(text(&place, "b.md"), "[x](a.md#same-1) [y](a.md#same)\n");
    let back =
        ["move", "a.md::heading:h2[1]", "--to", "a.md::heading:h2[0]", "--position", "before"];
    place.run(&back).success();
    assert_eq!(
        text(&place, "a.md"),
        "# A\n\n## One\n\n[two](#same-1) [own](#same)\n\n### Same\n\n## Two\n\n### Same\n\nEnd.\n"
    );
    assert_eq!(text(&place, "b.md"), "[x](a.md#same) [y](a.md#same-1)\n");
    // To where it is.
    let stay =
        ["move", "a.md::heading:h2[0]", "--to", "a.md::heading:h2[1]", "--position", "before"];
    assert_eq!(place.run(&stay).success().json()["files"], json!([]));
    place.assert_in_step();
}

#[test]
fn a_section_that_does_not_fit_its_new_place_is_refused() {
    let place = Place::ingested(&[
        ("a.md", "# A\n\ntext\n\n## One\n\n### Deep\n\n[x]: y.md\n\n## Two\n"),
        ("b.md", "# B\n\n```\nopen\n"),
        ("c.md", "# C\n\n## D\n"),
    ]);
    let before = files(&place);
    for (section, to, position, reason, hint) in [
        ("a.md::heading:h2[0]", "a.md::heading:h3[0]", "last_child", "INTO_ITSELF", "outside"),
        ("a.md::heading:h2[0]", "c.md::heading:h1[0]", "after", "WRONG_LEVEL", "--relevel"),
        ("a.md::root", "c.md::*", "last_child", "NO_SUCH_POSITION", "name a section"),
        ("a.md::*", "c.md::*", "last_child", "NO_SUCH_POSITION", "move a.md PATH"),
        ("a.md::heading:h2[0]", "b.md::*", "last_child", "CHANGES_OUTSIDE", "fence"),
    ] {
        let arguments = ["move", section, "--to", to, "--position", position];
        let fault = place.run(&arguments).ends(2).json();
        assert_eq!(fault["error"]["reason"], reason, "{arguments:?}: {fault}");
        assert!(fault["error"]["hint"].as_str().unwrap().contains(hint), "{fault}");
    }
    place.run(&["move", "a.md::heading:h2[9]", "--to", "c.md::*"]).ends(1);
    place.run(&["move", "a.md::heading:h2[0]", "--to", "nowhere.md::*"]).ends(1);
    for command in ["move", "delete"] {
        let to: &[&str] = if command == "move" { &["--to", "c.md::*"] } else { &[] };
        let both = [&[command, "a.md::heading:h2[0]", "x.md"], to].concat();
        let fault = place.run(&both).ends(1).text();
        assert!(fault.contains("leave out x.md"), "{fault}");
    }
    place.run(&["move", "a.md", "x.md", "--relevel"]).ends(2);
    assert_eq!(files(&place), before);
    let answer = place
        .run(&[
            "move",
            "a.md::heading:h2[0]",
            "--to",
            "c.md::heading:h2[0]",
            "--position",
            "last_child",
            "--relevel",
        ])
        .success()
        .json();
    assert_eq!(answer["new_selector"], "c.md::heading:h3[0]");
    assert_eq!(text(&place, "c.md"), "# C\n\n## D\n\n### One\n\n#### Deep\n\n[x]: y.md\n");
    assert_eq!(text(&place, "a.md"), "# A\n\ntext\n\n## Two\n");
}

#[test]
fn a_section_with_one_of_two_markers_is_refused_at_its_own_place() {
    let report = "# R\n\n<!--LDMD:BEGIN id=\"x\"-->\n\n## X\n\nx\n\n<!--LDMD:END id=\"x\"-->\n";
    let place = Place::ingested(&[("report.md", report), ("h.md", "# H\n\n## A\n")]);
    let to = ["move", "report.md::X", "--to", "h.md::A"];
    let refused = place.run(&to).ends(2).json();
    assert_eq!(refused["error"]["reason"], "BREAKS_MARKUP", "{refused}");
    let message = refused["error"]["message"].as_str().unwrap();
    assert!(message.starts_with("report.md::heading:h2[0]: "), "{message}");
    assert!(message.contains("around line 9 "), "{message}");
    let hint = refused["error"]["hint"].as_str().unwrap();
    assert!(hint.contains("`mdsel ldmd index report.md`"), "{hint}");
}

#[test]
fn a_second_section_with_an_id_is_the_reason_of_a_refusal() {
    let marked = |text| format!("<!--LDMD:BEGIN id=\"x\"-->\n{text}\n<!--LDMD:END id=\"x\"-->\n");
    let (a, b) = (format!("# A\n\n## P\n\n{}", marked("p")), format!("# B\n\n{}", marked("b")));
    let place = Place::ingested(&[("a.md", &a), ("b.md", &b)]);
    let to = ["move", "a.md::p", "--to", "b.md::b", "--position", "last_child"];
    let refused = place.run(&to).ends(2).json();
    assert_eq!(refused["error"]["reason"], "BREAKS_MARKUP", "{refused}");
    let message = refused["error"]["message"].as_str().unwrap();
    assert!(
        message.ends_with("line 8 of the new file: section \"x\" begins on line 3, too"),
        "{message}"
    );
    assert!(refused["error"]["hint"].as_str().unwrap().contains("another id"), "{refused}");
    place.run(&[&to[..], &["--allow-change"]].concat()).success();
}

/// A section moves to the end of another file, whose footnotes and definitions have the same labels.
#[test]
fn labels_keep_their_meaning_or_the_section_stays() {
    let refused = |reason: &str| Err(reason.to_owned());
    for (name, a, b, expected) in [
        (
            "an equal footnote that refers to something else",
            "# A\n\n## S\n\nT[^1].\n\n## R\n\n[x]: c.md\n\n[^1]: See [x].\n",
            "# B\n\nb[^1]\n\n[x]: d.md\n\n[^1]: See [x].\n",
            Ok("## S\n\nT[^1-2].\n\n[x-2]: c.md\n\n[^1-2]: See [x][x-2].\n"),
        ),
        (
            "an equal footnote with a link of its own",
            "# A\n\n## S\n\nT[^1].\n\n## R\n\n[^1]: See [x](#r).\n",
            "# B\n\n## R\n\nb[^1]\n\n[^1]: See [x](#r).\n",
            Ok("## S\n\nT[^1-2].\n\n[^1-2]: See [x](a.md#r).\n"),
        ),
        (
            "a footnote in a title",
            "# A\n\n## S\n\n### T[^1]\n\nT[^1].\n\n## R\n\n[^1]: note\n",
            "# B\n\nb[^1]\n\n[^1]: other\n",
            Ok("## S\n\n### T[^1-2]\n\nT[^1-2].\n\n[^1-2]: note\n"),
        ),
        (
            "what looks like a footnote in a title",
            "# A\n\n## S\n\n### Class `[^1]`\n\nT[^1]\n\n## R\n\n[^1]: note\n",
            "# B\n\nb[^1]\n\n[^1]: other\n",
            Ok("## S\n\n### Class `[^1]`\n\nT[^1-2]\n\n[^1-2]: note\n"),
        ),
        (
            "a definition after a footnote",
            "# A\n\n## S\n\nT[^1].\n\n## R\n\n[^1]: See [x].\n\n[x]: c.md\n",
            "# B\n\n[x]\n\n[x]: d.md\n",
            Ok("## S\n\nT[^1].\n\n[^1]: See [x][x-2].\n\n[x-2]: c.md\n"),
        ),
        (
            "equal targets in other places",
            "# A\n\n## S\n\n[x]\n\n## R\n\n[x]: #r\n",
            "# B\n\n## R\n\n[x]\n\n[x]: #r\n",
            Ok("## S\n\n[x][x-2]\n\n[x-2]: a.md#r\n"),
        ),
        (
            "code spans end with their block",
            "# A\n\n## S\n\n- one ` tick\n- two[^1] ` tick\n\n## R\n\n[^1]: note\n",
            "# B\n\nq[^1]\n\n[^1]: other\n",
            Ok("## S\n\n- one ` tick\n- two[^1-2] ` tick\n\n[^1-2]: note\n"),
        ),
        (
            "a block id that is there",
            "# A\n\n## S\n\nPara A ^k\n\n## R\n\n[[#^k]]\n",
            "# B\n\nPara B ^k\n\n[[#^k]]\n",
            refused("LINKS"),
        ),
        (
            "text that would become a link",
            "# A\n\n## S\n\nSee RFC [1].\n",
            "# B\n\nq [1]\n\n[1]: c.md\n",
            refused("CHANGES_SECTION"),
        ),
        (
            "text that would become a footnote",
            "# A\n\n## S\n\nSee [^1].\n",
            "# B\n\nq[^1]\n\n[^1]: x\n",
            refused("CHANGES_SECTION"),
        ),
        (
            "a footnote that another one overrides",
            "# A\n\n[^1]: live\n\n## S\n\nT[^1]\n\n[^1]: dead\n",
            "# B\n",
            refused("CHANGES_SECTION"),
        ),
        (
            "a footnote in a quote elsewhere",
            "# A\n\n## S\n\nT[^1]\n\n## R\n\n> q\n>\n> [^1]: note\n",
            "# B\n",
            refused("CHANGES_SECTION"),
        ),
        (
            "a footnote in a quote that other text uses",
            "# A\n\n## S\n\n> T[^1]\n>\n> [^1]: note\n\n## R\n\nr[^1]\n",
            "# B\n",
            refused("CHANGES_SECTION"),
        ),
    ] {
        let files = [("a.md", a), ("b.md", b), ("c.md", "# C\n"), ("d.md", "# D\n")];
        let place = Place::ingested(&files);
        let to = ["move", "a.md::S", "--to", "b.md::B", "--position", "last_child"];
        let answer = place.run(&to);
        match expected {
            Ok(end) => {
                answer.success();
                let now = text(&place, "b.md");
                assert!(now.ends_with(end), "{name}: {now}");
                place.assert_in_step();
            }
            Err(reason) => {
                assert_eq!(answer.ends(2).json()["error"]["reason"], reason, "{name}");
                assert_eq!((text(&place, "a.md"), text(&place, "b.md")), (a.into(), b.into()));
            }
        }
    }
}

#[test]
fn what_a_kept_footnote_uses_stays_too() {
    let files = [
        (
            "a.md",
            "# A\n\n## S\n\nT[^1]\n\n[^1]: one[^2] [x]\n\n[^2]: two\n\n[x]: c.md\n\n## R\n\nq[^1]\n",
        ),
        ("b.md", "# B\n"),
        ("c.md", "# C\n"),
    ];
    let place = Place::ingested(&files);
    let to = ["move", "a.md::S", "--to", "b.md::B", "--position", "last_child"];
    let answer = place.run(&to).success().json();
    assert_eq!(answer["kept_definitions"], json!(["^1", "^2", "x"]));
    assert!(
        text(&place, "a.md")
            .starts_with("# A\n\n[^1]: one[^2] [x]\n\n[^2]: two\n\n[x]: c.md\n\n## R\n\nq[^1]\n")
    );
    // Within a file, the footnotes of a section go with it and leave no copy.
    let text_of = "# A\n\n## S\n\nT[^1]\n\n[^1]: one\n\n## R\n\nr\n";
    let place = Place::ingested(&[("a.md", text_of)]);
    place.run(&["move", "a.md::S", "--to", "a.md::R"]).success();
    assert_eq!(text(&place, "a.md"), "# A\n\n## R\n\nr\n\n## S\n\nT[^1]\n\n[^1]: one\n");
    place.run(&["move", "a.md::S", "--to", "a.md::R", "--position", "before"]).success();
    assert_eq!(text(&place, "a.md"), text_of);
}

#[test]
fn definitions_that_a_moved_section_does_not_use_stay() {
    let last = "[01]: sub/one.md\n[02]: sub/two.md\n\n[^n]: Note [02].\n";
    let a = format!(
        "# A\n\nUse [one][01] and note[^n].\n\n## Last\n\nSee [x].\n\n[x]: sub/two.md\n\nMore.\n\n{last}"
    );
    let files = [("a.md", a.as_str()), ("d/d.md", "# D\n"), ("sub/one.md", ""), ("sub/two.md", "")];
    let place = Place::ingested(&files);
    let to = ["move", "a.md", "Last", "--to", "d/d.md::*", "--relevel"];
    let answer = place.run(&to).success().json();
    assert_eq!(text(&place, "a.md"), format!("# A\n\nUse [one][01] and note[^n].\n\n{last}"));
    let moved = "# D\n\n# Last\n\nSee [x].\n\n[x]: ../sub/two.md\n\nMore.\n";
    assert_eq!(text(&place, "d/d.md"), moved);
    assert_eq!(answer["kept_definitions"], json!(["01", "02", "^n"]), "{answer}");
    assert_eq!(findings(&place), []);
    place.assert_in_step();
    // A definition between two texts leaves no gap, and one that no text uses goes along if its target is the same.
    let text_of = "# A\n\n## S\n\none\n\n[u]: u.md\n[v]: https://x.org\n\n[^n]: See [w].\n\ntwo\n\n[w]: w.md\n\n## R\n";
    let place = Place::ingested(&[("a.md", text_of), ("d/b.md", "# B\n"), ("w.md", "# W\n")]);
    place.run(&["move", "a.md::S", "--to", "d/b.md::B", "--position", "last_child"]).success();
    assert_eq!(text(&place, "a.md"), "# A\n\n[u]: u.md\n\n## R\n");
    assert_eq!(
        text(&place, "d/b.md"),
        "# B\n\n## S\n\none\n\n[v]: https://x.org\n\n[^n]: See [w].\n\ntwo\n\n[w]: ../w.md\n"
    );
}

#[test]
fn a_target_in_front_matter_is_a_text_for_every_parser() {
    let links = "links:\n  - {type: s, id: bb}\n  - id: 'bb'\n  - bb # c\n  - \"[[bb]]\"\n";
    for (name, expected) in [
        ("010", "{type: s, id: \"010\"}\n  - id: '010'\n  - \"010\" # c\n  - \"[[010]]\""),
        ("on", "{type: s, id: \"on\"}\n  - id: 'on'\n  - \"on\" # c\n  - \"[[on]]\""),
        ("true", "{type: s, id: \"true\"}\n  - id: 'true'\n  - \"true\" # c\n  - \"[[true]]\""),
        ("it's", "{type: s, id: it's}\n  - id: 'it''s'\n  - it's # c\n  - \"[[it's]]\""),
        ("a, b", "{type: s, id: \"a, b\"}\n  - id: 'a, b'\n  - \"a, b\" # c\n  - \"[[a, b]]\""),
    ] {
        let file = format!("---\n{links}---\ntext\n");
        let place = Place::ingested(&[("a.md", file.as_str()), ("bb.md", "nothing\n")]);
        place.run(&["move", "bb.md", &format!("{name}.md")]).success();
        assert_eq!(text(&place, "a.md"), format!("---\nlinks:\n  - {expected}\n---\ntext\n"));
        place.assert_in_step();
    }
}

#[test]
fn an_escaped_target_in_front_matter_is_found_and_rewritten() {
    let links =
        "links:\n  - x\n  - \"d.md#Say \\\"hi\\\"\"\n  - 'it''s.md'\n  - {id: '[[it''s|1]]'}\n";
    let a = format!("---\n{links}---\n# A\n");
    let place = Place::ingested(&[
        ("a.md", a.as_str()),
        ("d.md", "# D\n\n## Say \"hi\"\n"),
        ("it's.md", "# Nothing\n"),
    ]);
    let edges = place.run(&["links", "list", "a.md", "--direction", "out"]).success().json();
    let found =
        edges["edges"].as_array().unwrap().iter().map(|edge| edge["line"].as_u64().unwrap());
    assert_eq!(found.collect::<std::collections::BTreeSet<_>>(), [3, 4, 5, 6].into());
    place.run(&["rename", "d.md", "Say \"hi\"", "--title", "No \"x\" \\\\ y"]).success();
    place.run(&["move", "it's.md", "that's.md"]).success();
    let expected = a.replace("Say \\\"hi\\\"", "No \\\"x\\\" y").replace("it''s", "that''s");
    assert_eq!(text(&place, "a.md"), expected);
    place.assert_in_step();
}

#[test]
fn a_section_that_a_link_lacked_may_appear() {
    let a = "# A\n\n[x](#new-title) [y](b.md#other)\n\n## Old\n\n## Other\n";
    let place = Place::ingested(&[("a.md", a), ("b.md", "# B\n")]);
    let renamed = place.run(&["rename", "a.md", "Old", "--title", "New title"]).success().json();
    assert_eq!(renamed["rewritten_links"], 0, "{renamed}");
    place.run(&["move", "a.md::Other", "--to", "b.md::B", "--position", "last_child"]).success();
    assert_eq!(text(&place, "a.md"), "# A\n\n[x](#new-title) [y](b.md#other)\n\n## New title\n");
    place.run(&["links", "check"]).success();
    place.assert_in_step();
}

#[test]
fn a_title_in_a_link_stays_as_it_is_written() {
    let place = Place::ingested(&[
        ("x.md", "# Beta Doc\n\n## Old\n"),
        ("a.md", "# A\n\n[[beta doc#Old]] [[Beta Doc#Old|b]]\n"),
    ]);
    place.run(&["rename", "x.md::Old", "--title", "New"]).success();
    assert_eq!(text(&place, "a.md"), "# A\n\n[[beta doc#New]] [[Beta Doc#New|b]]\n");
    place.run(&["rename", "x.md::Beta Doc", "--title", "Gamma"]).success();
    assert_eq!(text(&place, "a.md"), "# A\n\n[[Gamma#New]] [[Gamma#New|b]]\n");
}

#[test]
fn a_refusal_names_each_link_once() {
    let place = Place::ingested(&[("a.md", "# A\n\n[[b#q|al]]\n"), ("b.md", "x\n\n## Q\n")]);
    let refused = place.run(&["move", "b.md", "[br].md"]).ends(2).json();
    assert_eq!(refused["error"]["reason"], "LINKS", "{refused}");
    let message = refused["error"]["message"].as_str().unwrap();
    assert!(message.ends_with("no new target keeps these links: a.md:3 to b#q"), "{message}");
}

#[test]
fn only_the_targets_of_typed_links_change_in_front_matter() {
    let typed = "---\nlinks:\n  - {type: supersedes, note: \"b.md was wrong\", id: b.md}\n  - {type: Setup, id: Setup}\n  - type: s\n    # id: b.md\n    id: b.md\n---\n# A\n";
    let toml = "+++\nnote = \"b.md\"\nlinks = [\n  { type = 'b.md', id = 'b.md' }, 7]\n+++\n";
    let aliased = "---\nfirst: &b x/c.md\nlinks:\n- *b\n---\n";
    let place = Place::ingested(&[
        ("a.md", typed),
        ("toml.md", toml),
        ("aliased.md", aliased),
        ("b.md", "# B\n"),
        ("s.md", "# Setup\n"),
        ("x/c.md", "# C\n"),
    ]);
    let answer = place.run(&["move", "b.md", "old.md"]).success().json();
    assert_eq!(answer["rewritten_links"], 3);
    let answer = place.run(&["rename", "s.md", "Setup", "--title", "Install"]).success().json();
    assert_eq!(answer["rewritten_links"], 1);
    let expected = typed
        .replace(" id: b.md", " id: old.md")
        .replace("# id: old.md", "# id: b.md")
        .replace("id: Setup", "id: Install");
    assert_eq!(text(&place, "a.md"), expected);
    assert_eq!(text(&place, "toml.md"), toml.replace("id = 'b.md'", "id = 'old.md'"));
    // Another value would change with the alias.
    let refused = place.run(&["move", "x/c.md", "d.md"]).ends(2).json();
    assert_eq!(refused["error"]["reason"], "LINKS", "{refused}");
    assert_eq!(text(&place, "aliased.md"), aliased);
    place.assert_in_step();
}

#[test]
fn typed_links_whose_targets_end_alike_are_distinguished() {
    let place = Place::ingested(&[
        ("d.md", "---\nlinks:\n- id: x/b.md\n- id: b.md\n---\n"),
        ("b.md", "# B\n"),
        ("x/b.md", "# N\n"),
    ]);
    let links = place.run(&["links", "list", "d.md", "--direction", "out"]).success().json();
    let line_of: BTreeMap<&str, i64> = links["edges"]
        .as_array()
        .unwrap()
        .iter()
        .map(|edge| (edge["to"].as_str().unwrap(), edge["line"].as_i64().unwrap()))
        .collect();
    assert_eq!(line_of, BTreeMap::from([("b.md::*", 4), ("x/b.md::*", 3)]));
    place.run(&["move", "b.md", "c.md"]).success();
    assert_eq!(text(&place, "d.md"), "---\nlinks:\n- id: x/b.md\n- id: c.md\n---\n");
    place.assert_in_step();
}

#[test]
fn a_document_whose_sections_or_links_depend_on_the_dialect_keeps_its_extension() {
    for (from, to, content, line) in [
        ("a.mdx", "a.md", "# T\n\n{/* [y](gone.md) */}\n", 3),
        ("a.mdx", "a.markdown", "# T\n\n{/*\n## Draft\n*/}\n", 4),
        ("a.md", "b/a.mdx", "# T\n\n{/*\n## Part\n*/}\n", 4),
        ("a.md", "a.mdx", "x\n\n    code\n\n{/*\n[b](b.md)\n*/}\n", 3),
    ] {
        let place = Place::ingested(&[(from, content), ("b.md", "# B\n")]);
        let refused = place.run(&["move", from, to]).ends(2).json();
        assert_eq!(refused["error"]["reason"], "CHANGES_SECTION", "{refused}");
        let message = refused["error"]["message"].as_str().unwrap();
        assert!(
            message
                .ends_with(&format!("line {line} of {from} would be parsed differently in {to}")),
            "{message}"
        );
        assert_eq!(text(&place, from), content);
        assert!(!place.join(to).exists());
    }
}

#[test]
fn the_diff_of_a_move_can_be_applied_with_git() {
    for (from, to) in [("notes/a.md", "old/My a.md"), ("notes/a.md", "notes/q\"1.md")] {
        let place = Place::ingested(&[
            ("notes/a.md", "# A\n\n[b](b.md)\n"),
            ("notes/b.md", "# B\n\n[a](a.md)\n"),
            ("My index.md", "[a](notes/a.md)\n"),
        ]);
        let diff = place.run(&["move", from, to, "--dry-run", "-f", "raw"]).success().text();
        assert!(diff.starts_with("diff --git a/notes/a.md "), "{diff}");
        let copied = Place::with(&[
            ("notes/a.md", &text(&place, "notes/a.md")),
            ("notes/b.md", &text(&place, "notes/b.md")),
            ("My index.md", &text(&place, "My index.md")),
            ("move.diff", &diff),
        ]);
        place.run(&["move", from, to]).success();
        let applied = std::process::Command::new("git")
            .args(["apply", "move.diff"])
            .current_dir(copied.path())
            .env("GIT_CEILING_DIRECTORIES", copied.path().parent().unwrap())
            .output();
        let Ok(applied) = applied else { return };
        assert!(applied.status.success(), "{}\n{diff}", String::from_utf8_lossy(&applied.stderr));
        for file in [to, "notes/b.md", "My index.md"] {
            assert_eq!(text(&copied, file), text(&place, file), "{diff}");
        }
        assert!(!copied.join(from).exists());
    }
}

#[test]
fn a_link_from_the_root_does_not_become_one_of_a_site() {
    let place = Place::with(&[
        ("docs/x.md", "# X\n"),
        ("docs/docs/z.md", "# Z\n"),
        ("top.md", "[w](/docs/x.md) [s](/manual/x) [t](/manual/docs/z.md)\n"),
    ]);
    place.run(&["ingest", "--site-root", "docs=/manual"]).success();
    place.run(&["move", "docs/x.md", "docs/y.md"]).success();
    place.run(&["move", "docs/docs/z.md", "docs/v.md"]).success();
    assert_eq!(text(&place, "top.md"), "[w](/docs/y.md) [s](/manual/y) [t](/manual/v.md)\n");
    // What leaves the folder of a site has no path on it.
    place.run(&["move", "docs/y.md", "y.md"]).success();
    assert_eq!(text(&place, "top.md"), "[w](/y.md) [s](/y) [t](/manual/v.md)\n");
}

#[test]
fn a_reference_to_an_anchor_follows_its_section() {
    let place = Place::ingested(&[
        ("guide.md", "# Guide\n\n## Install\n\nx\n"),
        (
            "a.md",
            "<!--LDMD:REF doc=\"guide.md\" section=\"install\"-->\n<!--LDMD:REF section=\"instal\" doc=\"guide.md\"-->\n",
        ),
        ("b.md", "# B\n"),
    ]);
    let found = place.run(&["links", "check"]).ends(1).json();
    let found = found["findings"].as_array().unwrap();
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0]["hint"], "did you mean install?");
    let links = place.run(&["links", "list", "guide.md#install", "--direction", "in"]).success();
    assert_eq!(links.json()["edges"][0]["line"], 1);
    let rename = ["rename", "guide.md", "Install", "--title", "Set \"up\" & go"];
    assert_eq!(place.run(&rename).success().json()["rewritten_links"], 1);
    let reference = "<!--LDMD:REF doc=\"guide.md\" section=\"set-up--go\"-->\n";
    assert!(text(&place, "a.md").starts_with(reference), "{}", text(&place, "a.md"));
    let to = ["move", "guide.md#set-up--go", "--to", "b.md::*"];
    assert_eq!(place.run(&to).success().json()["rewritten_links"], 1);
    assert!(text(&place, "a.md").starts_with(&reference.replace("guide", "b")));
    place
        .run(&["replace", "b.md#set-up--go", "--no-keep-heading", "--content", "## Other"])
        .success();
    assert_eq!(
        place.run(&["links", "check"]).ends(1).json()["findings"].as_array().unwrap().len(),
        2
    );
}

#[test]
fn html_that_leads_elsewhere_after_a_move_is_named() {
    let place = Place::ingested(&[
        ("docs/my guide.md", "# Guide\n\n<img src=\"i.png\">\n\n## Part\n"),
        ("docs/i.png.md", "# Not the image\n"),
        (
            "a.md",
            "<a class=x href='docs/my%20guide.md#part'>g</a>\n\n<a href=\"docs/my guide.md\">g</a>\n",
        ),
        (
            "b.md",
            "`<a href=\"docs/my%20guide.md\">` [x](docs/my%20guide.md)\n\n    <a href=\"docs/my%20guide.md\">\n",
        ),
        ("c.md", "<a href=\"https://x.org/my%20guide.md\"> <a href=\"gone/my%20guide.md\">\n"),
    ]);
    std::fs::write(place.join("docs/i.png"), "").unwrap();
    let said = |arguments: &[&str]| {
        let answer = place.run(arguments).success().json();
        let mut warnings = answer["warnings"].as_array().into_iter().flatten();
        let warning = warnings.find(|warning| warning["code"] == "HTML_LINKS").cloned();
        warning.map(|warning| warning["message"].as_str().unwrap().to_owned())
    };
    let rename =
        ["rename", "docs/my guide.md", "Part", "--title", "Other", "--dry-run", "-f", "json"];
    assert!(said(&rename).unwrap().ends_with("on 1 line: a.md:1"));
    let moved = said(&["move", "docs/my guide.md", "guide.md"]).unwrap();
    assert!(moved.ends_with("on 3 lines: a.md:1, a.md:3, guide.md:3"), "{moved}");
    assert_eq!(said(&["move", "b.md", "d.md"]), None);
}

#[test]
fn targets_for_generators_that_lead_elsewhere_are_named() {
    let place = Place::ingested(&[
        ("b.md", "# B\n\n## Set up\n"),
        ("other.md", "# Other\n"),
        // A note, a tab in it, and fenced code in a tab.
        (
            "mk.md",
            "!!! note\n\n    [s](b.md#set-up)\n\n    === \"T\"\n\n        [b](b.md)\n\n=== \"F\"\n\n    ```md\n    [b](b.md)\n    ```\n",
        ),
        ("example.md", "# E\n\n    [o](other.md) is not b\n\n```md\n    [b](b.md)\n```\n"),
        ("page.mdx", "import B from './b.md'\n\n<Link to=\"b.md\">B</Link>\n"),
        ("a-tab.md", "!!! note\n\n\t[b](b.md)\n"),
        ("site/docs/c.md", "# C\n"),
        ("site/i18n/p.mdx", "import C from '@site/docs/c.md'\nimport D from '@site/docs/d.md'\n"),
        (
            "hugo/a.md",
            "See {{< ref \"../b.md\" >}} and\n[x]({{% relref path=\"b.md#set-up\" %}}),\nnot `{{< ref \"../b.md\" >}}`.\n",
        ),
    ]);
    let said = |arguments: &[&str]| {
        let answer = place.run(arguments).success().json();
        let warnings = answer["warnings"].as_array().cloned().unwrap_or_default();
        let said = warnings.iter().filter(|it| it["code"].as_str().unwrap().ends_with("_LINKS"));
        said.map(|it| it["message"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let message = "indented code, imports and shortcodes are not rewritten, and their targets lead \
                   elsewhere now on ";
    let renamed = ["rename", "b.md", "Set up", "--title", "Setup", "--dry-run", "-f", "json"];
    assert_eq!(said(&renamed), [format!("{message}2 lines: hugo/a.md:2, mk.md:3")]);
    let moved = ["move", "b.md", "sub/c.md", "-f", "json"];
    let html = "HTML is not rewritten, and its attributes href, src and to lead elsewhere now on ";
    assert_eq!(
        said(&moved),
        [
            format!("{html}1 line: page.mdx:3"),
            format!(
                "{message}6 lines: a-tab.md:3, hugo/a.md:1, hugo/a.md:2, mk.md:3, mk.md:7, ..."
            )
        ]
    );
    assert!(said(&["move", "site/i18n/p.mdx", "site/docs/p.mdx"]).is_empty());
    let moved = said(&["move", "site/docs/c.md", "site/docs/e.md"]);
    assert_eq!(moved, [format!("{message}1 line: site/docs/p.mdx:1")]);
    // The root is in the folder of the site.
    place.run(&["ingest", "--db", "docs.db", "--root", "site/docs", "site/docs"]).success();
    place.write("site/docs/p.mdx", "import C from '@site/docs/e.md'\n");
    let command = ["move", "e.md", "g.md", "--db", "docs.db", "--refresh"];
    assert_eq!(said(&command), [format!("{message}1 line: p.mdx:1")]);
}

#[test]
fn a_shortcode_that_still_finds_its_page_by_name_is_not_named() {
    let place = Place::ingested(&[("b.md", "# B\n"), ("h.md", "See [b]({{< ref \"b.md\" >}}).\n")]);
    for arguments in [["move", "b.md", "sub/b.md"], ["move", "h.md", "sub/h.md"]] {
        let answer = place.run(&arguments).success().text();
        assert!(!answer.contains("GENERATOR_LINKS"), "{answer}");
    }
}

#[test]
fn wikilinks_in_front_matter_that_lead_elsewhere_are_named() {
    let place = Place::ingested(&[
        ("people/ann.md", "# Ann\n\n## Work\n"),
        ("a.md", "---\nx: 1\nowner: \"[[ann]]\"\n---\n# A\n\nBy [[ann]].\n"),
        ("b.md", "---\nteam:\n  - '[[people/ann#Work|Ann]]'\n  - '[[bob]]'\n---\n# B\n"),
        (
            "c.md",
            "---\nlinks: [{type: by, id: people/ann.md}]\nx: '[[gone ann]]'\n---\n`\"[[ann]]`\n",
        ),
        ("bob.md", "# Bob\n"),
        // A comment has no links.
        ("d.md", "---\n# See \"[[ann]]\".\nx: 1 # not '[[ann]]'\ny: 'a # [[ann]]'\n---\n# D\n"),
        ("e.md", "+++\nx = 1 # \"[[ann]]\"\ny = [\n  \"[[ann]]\", # '[[ann]]'\n]\n+++\n# E\n"),
    ]);
    let said = |arguments: &[&str]| {
        let answer = place.run(arguments).success().json();
        let warnings = answer["warnings"].as_array().cloned().unwrap_or_default();
        let mut warnings = warnings.iter().filter(|it| it["code"] == "FRONT_MATTER_LINKS");
        warnings.next().map(|warning| warning["message"].as_str().unwrap().to_owned())
    };
    let moved = said(&["move", "ann.md", "people/zoe.md", "--dry-run", "-f", "json"]).unwrap();
    let message = "front matter is not rewritten, and its wikilinks lead elsewhere now on ";
    assert_eq!(moved, format!("{message}4 lines: a.md:3, b.md:3, d.md:4, e.md:4"));
    let renamed = ["rename", "ann.md", "Work", "--title", "Job", "--dry-run", "-f", "json"];
    assert_eq!(said(&renamed).unwrap(), format!("{message}1 line: b.md:3"));
    assert_eq!(said(&["move", "bob.md", "people/bob.md", "--dry-run", "-f", "json"]), None);
}

#[test]
fn many_rewritten_links_are_counted_by_file() {
    let links = "[b](b.md)\n\n".repeat(15);
    let place = Place::ingested(&[
        ("a.md", &format!("# A\n\n{links}")),
        ("b.md", "# B\n"),
        ("c.md", &format!("# C\n\n{links}")),
    ]);
    let moved = place.run(&["move", "b.md", "d.md", "-f", "text"]).success().text();
    let printed: Vec<&str> = moved.lines().collect();
    assert_eq!(printed[0], "b.md::* is now d.md::*: 30 links rewritten, 3 files changed");
    assert_eq!(printed[1..], ["  a.md: 15 links", "  c.md: 15 links"]);
}

#[test]
fn the_warning_about_html_names_what_a_reader_can_click() {
    let link = "<a href=\"guide.md\">g</a>";
    let place = Place::ingested(&[
        ("guide.md", "# G\n"),
        ("a.md", "<a title=\"a > b\" href=\"guide.md\">g</a>\n"),
        ("b.md", "<a href=\"guide.md\" src=\"http://a/b\">g</a>\n"),
        ("c.md", &format!("Write `see {link}`.\n")),
        ("d.md", &format!("<!-- {link} -->\n")),
        ("e.md", &format!("\\{link}\n")),
        ("f.md", &format!("---\nx: '{link}'\n---\n")),
        ("a&b.md", "# A\n"),
        ("g.md", "<a href=\"a&amp;b.md\">g</a>\n"),
    ]);
    let warning = |from: &str| {
        let moved = place.run(&["move", from, "x.md", "--dry-run", "-f", "json"]).success().json();
        moved["warnings"][0]["message"].as_str().unwrap().to_owned()
    };
    assert!(warning("guide.md").ends_with("on 2 lines: a.md:1, b.md:1"), "{}", warning("guide.md"));
    assert!(warning("a&b.md").ends_with("on 1 line: g.md:1"));
}

#[test]
fn a_document_whose_blocks_depend_on_its_dialect_keeps_its_extension() {
    let place = Place::ingested(&[
        ("a.md", "# A\n\nText.\n\n    rm -rf build\n"),
        ("b.md", "# B\n\ntext\n"),
    ]);
    let refused = place.run(&["move", "a.md", "a.mdx", "-f", "json"]).ends(2).json();
    assert_eq!(refused["error"]["reason"], "CHANGES_SECTION");
    assert!(refused["error"]["message"].as_str().unwrap().contains("line 5"), "{refused}");
    place.run(&["move", "b.md", "b.mdx"]).success();
}

#[test]
fn a_section_is_moved_by_its_document_and_its_name() {
    for (document, section) in [("a.md", "To move"), ("a", "#to-move"), ("a.md", "::heading:h2[0]")]
    {
        let place = Place::ingested(&[
            ("a.md", "# A\n\n## To move\n\nx\n"),
            ("b.md", "# B\n\n## To move\n"),
        ]);
        let moved = ["move", document, section, "--to", "b.md::*", "--allow-duplicate"];
        place.run(&moved).success();
        let entered = std::fs::read_to_string(place.join("b.md")).unwrap();
        assert_eq!(entered, "# B\n\n## To move\n\n## To move\n\nx\n", "{section}");
        assert_eq!(std::fs::read_to_string(place.join("a.md")).unwrap(), "# A\n");
        let fault = place.run(&["move", "a.md", "c.md", "--relevel"]).ends(2);
        assert!(fault.stderr.contains("--to"), "{}", fault.stderr);
        place.run(&["move", "a.md", "c.md"]).success();
    }
}

#[test]
fn markers_are_rewritten_however_their_attributes_are_separated() {
    let markers =
        "<!--LDMD:REF\tdoc=\"b.md\"-->\n<!--LDMD:REF note='x doc=\"b.md\"' doc=\"b.md\"-->\n";
    let place = Place::ingested(&[("a.md", &format!("# A\n\n{markers}")), ("b.md", "# B\n")]);
    place.run(&["move", "b.md", "c.md"]).success();
    let expected =
        "<!--LDMD:REF\tdoc=\"c.md\"-->\n<!--LDMD:REF note='x doc=\"b.md\"' doc=\"c.md\"-->\n";
    assert_eq!(text(&place, "a.md"), format!("# A\n\n{expected}"));
}

#[test]
fn a_moved_section_may_have_an_equal_one_beside_it_if_that_is_allowed() {
    let section = "## Same\n\nThe same text.\n";
    let a = format!("# A\n\n{section}");
    let place = Place::ingested(&[("a.md", &a), ("b.md", &a.replace("# A", "# B"))]);
    let command = ["move", "a.md::heading:h2[0]", "--to", "b.md::heading:h2[0]"];
    assert_eq!(place.run(&command).ends(2).json()["error"]["reason"], "DUPLICATE");
    place.run(&[&command[..], &["--allow-duplicate"]].concat()).success();
    assert_eq!(text(&place, "b.md").matches("The same text.").count(), 2);
    assert_eq!(text(&place, "a.md"), "# A\n");
}

#[test]
fn a_section_is_never_moved_into_itself_nor_by_a_part_of_it() {
    let place = Place::ingested(&[("a.md", "# A\n\n## S\n\nText.\n\n### Deep\n\nMore.\n")]);
    let error = |command: &[&str]| place.run(command).ends(2).json()["error"].clone();
    let into = error(&["move", "a.md::S", "--to", "a.md::Deep"]);
    assert_eq!(into["reason"], "INTO_ITSELF", "{into}");
    for command in [
        &["move", "a.md::S?part=own", "--to", "a.md::*"][..],
        &["rename", "a.md::S?part=own", "--title", "T"],
    ] {
        let part = error(command);
        assert_eq!(part["reason"], "NO_SUCH_PART", "{part}");
        assert!(part["hint"].as_str().unwrap().contains("leave out ?part"), "{part}");
    }
}

#[test]
fn code_in_a_moved_footnote_stays_as_it_is() {
    let note = "[^1]: note\n\n    ```\n    code\n\n    see [^2] here\n    ```\n";
    let a = format!("# A\n\n## S\n\nuse[^1]\n\n{note}\n[^2]: two\n");
    let place = Place::ingested(&[("a.md", &a), ("z.md", "# Z\n\nz[^2]\n\n[^2]: of z\n")]);
    place.run(&["move", "a.md::S", "--to", "z.md::Z", "--position", "last_child"]).success();
    assert!(text(&place, "z.md").contains("    see [^2] here\n"), "{}", text(&place, "z.md"));
}

#[test]
fn lists_and_code_that_a_definition_separates_stay_apart() {
    for blocks in ["1. a\n2. b\n\n[x]: x.md\n\n1. c", "    one\n\n[x]: x.md\n\n    two"] {
        let a = format!("# A\n\n[x]\n\n## S\n\n{blocks}\n\n## T\n");
        let place = Place::ingested(&[("a.md", &a), ("b.md", "# B\n"), ("x.md", "# X\n")]);
        place.run(&["move", "a.md::S", "--to", "b.md::*"]).success();
        assert_eq!(text(&place, "b.md"), format!("# B\n\n## S\n\n{blocks}\n"));
        assert_eq!(text(&place, "a.md"), "# A\n\n[x]\n\n[x]: x.md\n\n## T\n");
    }
}

#[test]
fn a_dry_run_refuses_a_path_as_the_move_does() {
    let place = Place::ingested(&[("a.md", "# A\n"), ("b.md", "# B\n"), ("real/c.md", "# C\n")]);
    std::os::unix::fs::symlink("real", place.join("lnk")).unwrap();
    let long_path = format!("{}x.md", "d/".repeat(2500));
    let long_name = format!("new/{}.md", "n".repeat(300));
    for (path, code, part) in [
        ("a.md/x.md", "EDIT_REFUSED", "a folder in this path is a file"),
        ("lnk/x.md", "OUTSIDE_ROOT", "symbolic link"),
        (&long_path, "EDIT_REFUSED", "path-bytes"),
        (&long_name, "IO", "too long"),
    ] {
        let real = place.run(&["move", "b.md", path]).ends(2);
        let tried = place.run(&["move", "b.md", path, "--dry-run", "-f", "json"]).ends(2);
        assert_eq!((tried.code(), &tried.stderr), (real.code(), &real.stderr));
        assert_eq!(tried.code(), code, "{}", tried.stderr);
        assert!(tried.stderr.contains(part), "{}", tried.stderr);
    }
    assert!(!place.join("new").exists());
    place.run(&["move", "b.md", "new/deep/b.md", "--dry-run"]).success();
    assert!(!place.join("new").exists());
}

#[test]
fn the_fault_of_an_address_comes_before_the_format() {
    let place = Place::ingested(&[("a.md", "# A\n")]);
    for command in [
        &["move", "nodoc.md", "x.md"][..],
        &["move", "nodoc.md::X", "--to", "a.md::*"],
        &["rename", "nodoc.md::X", "--title", "y"],
    ] {
        let answer = place.run(&[command, &["--dry-run", "-f", "raw"]].concat()).ends(1);
        assert!(answer.stderr.contains("NOT_FOUND"), "{command:?}: {}", answer.stderr);
    }
}

#[test]
fn a_document_is_not_moved_next_to_a_section() {
    let place = Place::ingested(&[("u.md", "# U\n"), ("k/k.md", "# K\n")]);
    for command in [
        ["u.md", "--to", "k/u.md"],
        ["u.md::*", "--to", "k/u.md"],
        ["u.md::*", "--to", "k/k.md::*"],
    ] {
        let refused = place.run(&[&["move"][..], &command].concat()).ends(2);
        assert!(refused.stderr.contains("`mdsel move u.md PATH`"), "{}", refused.stderr);
    }
}

#[test]
fn an_anchor_of_a_typed_link_stays_an_anchor() {
    let place = Place::ingested(&[
        ("a.md", "---\nlinks:\n  - id: 'b.md#beta'\n  - id: 'b.md#Beta'\n---\n# A\n\n[[b#beta]]\n"),
        ("b.md", "# B\n\n## Beta\n"),
    ]);
    place.run(&["rename", "b.md", "Beta", "--title", "C#"]).success();
    let expected = "---\nlinks:\n  - id: 'b.md#c'\n  - id: 'b.md#C'\n---\n# A\n\n[[b#C]]\n";
    assert_eq!(text(&place, "a.md"), expected);
    place.run(&["links", "check"]).success();
}

#[test]
fn a_rename_names_the_links_whose_text_is_the_old_title() {
    let place = Place::ingested(&[
        ("a.md", "# A\n\n## Old `x`\n\n[Old x](#old-x), [Old `x`](#old-x)\n\n## Foo\n\n## Foo\n"),
        (
            "b.md",
            "[Old `x`](a.md#old-x) [[a#Old x|Old x]]\n\n[other](a.md#old-x)\n\n[Foo](a.md#foo-1)\n",
        ),
    ]);
    let warnings = |from: &str, to: &str| {
        let answer = place.run(&["rename", from, "--title", to]).success().json();
        let warnings = answer["warnings"].as_array().cloned().unwrap_or_default();
        warnings.iter().map(|one| one["message"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let expected =
        "links to the section still have its old title as their text on 2 lines: a.md:5, b.md:1";
    assert_eq!(warnings("a.md::Old x", "New"), [expected]);
    // A link to another section that has the title is as it should be.
    assert_eq!(warnings("a.md::heading:h2[1]", "Bar"), Vec::<String>::new());
    let b = std::fs::read_to_string(place.join("b.md")).unwrap();
    assert!(b.contains("[Foo](a.md#foo)") && b.contains("[Old `x`](a.md#new)"), "{b}");
}
