//! The graph between documents: `links`, and how a later ingest changes it.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::Path;

use mdsel::query::Session;
use mdsel::query::links::graph::Graph;
use mdsel::query::links::{Edge, EdgeFilter};
use mdsel::query::resolve::resolve_one;
use mdsel::query::resolved_node::ResolvedNode as Node;
use serde_json::{Value, json};

use crate::harness::{Place, copy, fixtures, reader, selectors};
use mdsel::store::Lookup;

const FILES: [(&str, &str); 5] = [
    (
        "a.md",
        "---\ntitle: First\ntype: guide\ntags: [x, y]\nlinks:\n  - {type: supports, id: n-1}\n  - other note\n---\n\
         # A\n\nOf A. See [b](sub/b.md#part-two), [again](sub/b.md).\n\n## Two\n\n\
         | [[Note\\|shown]] |\n| --- |\n| ![](c.markdown) |\n\n> [up](#a) and [gone](gone.md) [gone](gone.md)\n\n\
         `[no](sub/b.md)` <!-- [no](sub/b.md) -->\n\n```\n[no](sub/b.md) [[Note]]\n```\n\n<div>[no](sub/b.md)</div>\n",
    ),
    ("sub/b.md", "# B\n\nOf B.\n\n## Part two\n\nBack to [a](../a.md).\n"),
    ("deep/Note.md", "---\nid: n-1\naliases: [Other Note]\n---\nOf the note. [[a]] [[#Nothing]]\n"),
    ("c.markdown", "no links, [out](https://example.org) ![](x.png)\n"),
    ("d.md", "<!--LDMD:REF doc=\"e.ldmd.md\" section=\"s\"-->\n"),
];

const LDMD: &str = "<!--LDMD:BEGIN id=\"s\"-->\nx\n<!--LDMD:END id=\"s\"-->\n";

fn place() -> Place {
    let place = Place::with(&FILES);
    place.write("x.png", "no document");
    place.write("e.ldmd.md", LDMD);
    place.run(&["ingest"]).success();
    place
}

/// `from type to source` of each edge.
fn edges(json: &Value) -> Vec<String> {
    let edge = |edge: &Value| {
        let text = |name: &str| edge[name].as_str().unwrap_or("-").to_owned();
        format!("{} {} {} {}", text("from"), text("type"), text("to"), text("source"))
    };
    json["edges"].as_array().unwrap().iter().map(edge).collect()
}

#[test]
fn links_run_between_sections_and_never_from_code() {
    let place = place();
    let out = place.run(&["links", "list", "a.md", "--direction", "out"]).success().json();
    assert_eq!(
        edges(&out),
        [
            "a.md::heading:h2[0] embeds c.markdown::* inline",
            "a.md::heading:h2[0] related - inline",
            "a.md::heading:h2[0] related a.md::heading:h1[0] inline",
            "a.md::* related deep/Note.md::* typed",
            "a.md::heading:h2[0] related deep/Note.md::* inline",
            "a.md::heading:h1[0] related sub/b.md::* inline",
            "a.md::heading:h1[0] related sub/b.md::heading:h2[0] inline",
            "a.md::* supports deep/Note.md::* typed",
        ]
    );
    let broken = out["edges"].as_array().unwrap().iter().find(|edge| edge["to"].is_null()).unwrap();
    assert_eq!((&broken["broken"], &broken["target"]), (&json!("file"), &json!("gone.md")));
    let root = &out["nodes"][0];
    assert_eq!((&root["type"], &root["title"]), (&json!("guide"), &json!("First")));
    assert_eq!(
        (&root["tags"], &root["summary"]),
        (&json!(["x", "y"]), &json!("Of A. See [b](sub/b.md#part-two), [again](sub/b.md)."))
    );
    assert_eq!(
        edges(&place.run(&["links", "list", "a.md::Two", "--direction", "out"]).success().json())
            .len(),
        4,
        "those of the section alone"
    );
    let into = place.run(&["links", "list", "sub/b.md#part-two", "--direction", "in"]).success();
    assert_eq!(
        edges(&into.json()),
        ["a.md::heading:h1[0] related sub/b.md::heading:h2[0] inline"],
        "a heading has backlinks"
    );
    let typed = ["links", "list", "deep/Note.md", "--direction", "in", "--typed-only"];
    assert_eq!(edges(&place.run(&typed).success().json()).len(), 2);
    let supports = ["links", "list", "deep/Note.md", "--link-type", "supports"];
    assert_eq!(edges(&place.run(&supports).success().json()).len(), 1);
    let ldmd = place.run(&["links", "list", "d.md"]).success().json();
    assert_eq!(edges(&ldmd), ["d.md::root references e.ldmd.md::ldmd:s inline"]);
    let into = place.run(&["links", "list", "ldmd:s", "--direction", "in"]).success().json();
    assert_eq!(edges(&into), edges(&ldmd));
    assert_eq!(
        edges(&place.run(&["links", "list", "c.markdown", "--direction", "out"]).success().json()),
        [""; 0]
    );
}

#[test]
fn every_broken_link_on_a_line_is_reported() {
    let place = Place::ingested(&[("a.md", "[a](x.md) [b](y.md) [c](../z.md) [a](x.md)\n")]);
    let out = place.run(&["links", "list", "a.md"]).success().json();
    let targets: Vec<&str> =
        out["edges"].as_array().unwrap().iter().map(|e| e["target"].as_str().unwrap()).collect();
    assert_eq!(targets, ["../z.md", "x.md", "y.md"]);
    let check = place.run(&["links", "check"]).ends(1).json();
    assert_eq!(check["findings"].as_array().unwrap().len(), 3);
}

/// `line code` of each problem of a document.
fn problems(place: &Place, document: &str) -> Vec<String> {
    let check = place.run(&["links", "check", document]);
    let problems = check.json()["findings"].as_array().unwrap().clone();
    assert_eq!(check.status, i32::from(!problems.is_empty()), "{}", check.text());
    let word =
        |problem: &Value| format!("{} {}", problem["line"], problem["code"].as_str().unwrap());
    problems.iter().map(word).collect()
}

#[test]
fn a_link_to_an_existing_file_is_not_broken() {
    let links = [
        ("LICENSE", ""),
        ("./src/", ""),
        ("src", ""),
        (".github/TEMPLATE.md", "NOT_IN_STORE"),
        ("src/main.rs#L3", ""),
        ("nosuch.rs", "BROKEN_FILE"),
        ("src/nosuch", "BROKEN_FILE"),
        ("nosuch/", "BROKEN_FILE"),
        ("nosuch.md", "BROKEN_FILE"),
        ("ignored.md#any", "NOT_IN_STORE"),
        ("ignored", "NOT_IN_STORE"),
        ("sub/", ""),
        ("a%20b.png", ""),
        ("c%20d.png", "BROKEN_FILE"),
        ("../secret", "UNCHECKED"),
        ("out/secret", "UNCHECKED"),
        ("out", ""),
        ("out/notes.md", "UNCHECKED"),
        ("/about", "UNCHECKED"),
    ];
    let place = Place::new();
    let text: String = links.iter().map(|(target, _)| format!("[x]({target})\n")).collect();
    let wiki = "[[Pic.png]] ![[art/pic.png]]\n![[none.png]]\n[[Ignored]]\n";
    place.write("root/a.md", format!("{text}{wiki}"));
    for file in ["LICENSE", "src/main.rs", ".github/TEMPLATE.md", "ignored.md", "sub/b.md"] {
        place.write(&format!("root/{file}"), "x\n");
    }
    place.write("root/a b.png", "x");
    place.write("root/deep/art/pic.PNG", "x");
    place.write("root/.ignore", "ignored.md\n");
    place.write("secret", "x");
    place.write("notes.md", "x");
    std::os::unix::fs::symlink("..", place.join("root/out")).unwrap();
    assert_eq!(place.run_in("root", &["ingest"], "").status, 0);
    let codes = links.iter().map(|(_, code)| *code).chain(["", "BROKEN_FILE", "NOT_IN_STORE"]);
    let expected: Vec<String> = (1..)
        .zip(codes)
        .filter(|(_, code)| !code.is_empty())
        .map(|(line, code)| format!("{line} {code}"))
        .collect();
    let is_unchecked = |problem: &String| problem.ends_with("UNCHECKED");
    let (unchecked, broken): (Vec<_>, Vec<_>) = expected.into_iter().partition(is_unchecked);
    let expected = [broken, unchecked].concat();
    let check = place.run_in("root", &["links", "check"], "").ends(1).json();
    let problems = check["findings"].as_array().unwrap();
    let found: Vec<String> = problems
        .iter()
        .map(|problem| format!("{} {}", problem["line"], problem["code"].as_str().unwrap()))
        .collect();
    assert_eq!(found, expected);
    let message = |line: usize| {
        let problem = problems.iter().find(|problem| problem["line"] == line).unwrap();
        problem["message"].as_str().unwrap().to_owned()
    };
    assert!(message(10).contains("an ignore file excludes it; `mdsel ingest --no-ignore`"));
    assert!(message(4).contains(".github is hidden; `mdsel ingest --hidden`"));
    // A store that travels without its files cannot tell, and says so.
    place.run(&["ingest", "--db", "alone.db", "--root", "root", "root"]).success();
    std::fs::rename(place.join("root"), place.join("elsewhere")).unwrap();
    let alone = place.run(&["links", "check", "--db", "alone.db"]).ends(1).json();
    let code = |line: usize| {
        let problems = alone["findings"].as_array().unwrap().iter();
        let mut of_line = problems.filter(|problem| problem["line"] == line);
        of_line.next().map(|problem| problem["code"].as_str().unwrap().to_owned())
    };
    assert_eq!(code(1).as_deref(), Some("UNCHECKED"), "LICENSE");
    assert_eq!(code(9).as_deref(), Some("BROKEN_FILE"), "a missing document");
}

#[test]
fn site_roots_define_where_site_links_lead() {
    let text = "[1](/about/eol)\n[2](/about/eol.html)\n[3](/about/eol/#two)\n[4](/)\n\
        [5](/about/gone)\n[6](/static/logo.svg)\n[7](/api/fs.html)\n[8](/api/none)\n";
    let place = Place::with(&[
        ("pages/en/index.md", text),
        ("pages/en/about/eol.md", "# End\n\n## Two\n"),
        ("apidoc/fs.md", "# fs\n"),
    ]);
    place.write("public/static/logo.svg", "x");
    place.run(&["ingest"]).success();
    // The root must be an existing folder.
    let unknown = [1, 2, 3, 5, 6, 7, 8];
    let all = unknown.map(|line| format!("{line} UNCHECKED"));
    assert_eq!(problems(&place, "pages/en/index.md"), all);
    let check = place.run(&["links", "check"]).ends(1).json();
    let hint = check["findings"][3]["hint"].as_str().unwrap();
    assert!(hint.contains("mdsel ingest --site-root FOLDER"), "{hint}");
    // Folders are relative to the current folder, and are remembered.
    let roots = ["ingest", "--site-root", "en", "--site-root", "../public", "--site-root"];
    let given = [&roots[..], &["../apidoc=/api"]].concat();
    assert_eq!(place.run_in("pages", &given, "").status, 0);
    place.run(&["ingest"]).success();
    assert_eq!(problems(&place, "pages/en/index.md"), ["5 BROKEN_FILE", "8 BROKEN_FILE"]);
    let into = place.run(&["links", "list", "pages/en/index.md", "--direction", "in"]).success();
    assert_eq!(
        edges(&into.json()),
        ["pages/en/index.md::root related pages/en/index.md::* inline"]
    );
    let into = place.run(&["links", "list", "apidoc/fs.md", "--direction", "in"]).success();
    assert_eq!(edges(&into.json()).len(), 1);
    let status = place.run(&["status"]).success().json();
    assert_eq!(status["options"]["site_roots"][2], json!({"folder": "apidoc", "prefix": "/api"}));
    // Another user has not accepted them.
    place.remove(".config/mdsel/trusted");
    assert_eq!(place.run(&["ingest"]).ends(2).code(), "UNTRUSTED_STORE");
    place.run(&["ingest", "--site-root", ""]).success();
    assert_eq!(problems(&place, "pages/en/index.md"), all);
    let outside = place.run(&["ingest", "--site-root", ".."]).ends(2);
    assert_eq!(outside.code(), "OUTSIDE_ROOT");
    assert_eq!(place.run(&["ingest", "--site-root", "apidoc/fs.md"]).ends(2).code(), "USAGE");
}

#[test]
fn links_of_a_site_leave_out_the_numbers_that_order_its_files() {
    let place = Place::with(&[
        (
            "docs/index.md",
            "[a](/docs/agents/loop#Two)\n[b](/docs/agents)\n[c](/docs/twice)\n[d](/docs/none)\n\
             [e](agents/loop)\n",
        ),
        ("docs/03-agents/index.mdx", "# Agents\n"),
        ("docs/03-agents/04-loop.mdx", "# Loop\n\n## Two\n"),
        ("docs/01-twice.md", "# One\n"),
        ("docs/02-twice.md", "# Other\n"),
    ]);
    place.run(&["ingest", "--site-root", "docs=/docs"]).success();
    let broken = ["3 BROKEN_FILE", "4 BROKEN_FILE", "5 BROKEN_FILE"];
    assert_eq!(problems(&place, "docs/index.md"), broken);
    let into = |document: &str| {
        let list = ["links", "list", document, "--direction", "in"];
        edges(&place.run(&list).success().json())
    };
    let loops = ["docs/index.md::root related docs/03-agents/04-loop.mdx::heading:h2[0] inline"];
    assert_eq!(into("docs/03-agents/04-loop.mdx"), loops);
    assert_eq!(into("docs/03-agents/index.mdx").len(), 1);
    place.run(&["move", "docs/03-agents/04-loop.mdx", "docs/03-agents/05-cycle.mdx"]).success();
    let index = std::fs::read_to_string(place.join("docs/index.md")).unwrap();
    assert!(index.starts_with("[a](/docs/agents/cycle#Two)\n"), "{index}");
    assert_eq!(problems(&place, "docs/index.md"), broken);
}

#[test]
fn a_check_lists_the_first_problems_and_those_of_most_places() {
    let place = Place::with(&[("z.md", "[x](one.md)\n")]);
    for name in 0..60 {
        place.write(&format!("d/{name:02}.md"), format!("[a](gone.md)\n[b](no{name}.md)\n"));
    }
    place.run(&["ingest"]).success();
    let check = place.run(&["links", "check"]).ends(1).json();
    assert_eq!(check["findings"].as_array().unwrap().len(), 50);
    assert_eq!((&check["total"], &check["truncated"]), (&json!(121), &json!(true)));
    let repeated = check["repeated"].as_array().unwrap();
    assert_eq!((repeated.len(), &repeated[0]["count"]), (1, &json!(60)), "{check}");
    assert_eq!(repeated[0]["file"], "d/00.md");
    let large = place.run(&["links", "check", "--max-chars", "100000"]).ends(1).json();
    assert_eq!(large, check);
    let small = ["links", "check", "--limit", "0", "--max-chars"];
    let small = |most: &str| place.run(&[&small[..], &[most]].concat()).ends(1).json();
    for most in ["10000", "2000", "900"] {
        assert_eq!(small(most)["repeated"], check["repeated"], "{most}");
        assert!(small(most)["findings"].as_array().unwrap().len() > 1, "{most}");
    }
    assert!(!small("400")["findings"].as_array().unwrap().is_empty());
    let one = ["links", "check", "--limit", "1", "--max-chars", "400"];
    assert_eq!(place.run(&one).ends(1).json()["findings"], json!([check["findings"][0]]));
    let all = place.run(&["links", "check", "--limit", "0"]).ends(1).json();
    assert_eq!(all["findings"].as_array().unwrap().len(), 121);
    assert!(all.get("total").is_none() && all.get("repeated").is_none(), "{all}");
    let next = check["next"].as_str().unwrap();
    let rest = place.run(&["links", "check", "--after", next, "--limit", "0"]).ends(1).json();
    assert_eq!(rest["findings"].as_array().unwrap().len(), 71);
    let text = place.run(&["links", "check", "--limit", "1", "-f", "text"]).ends(1).text();
    assert!(text.contains("60 times: d/00.md:1: BROKEN_FILE: \"gone.md\""), "{text}");
    assert!(text.contains("1 of 121 problems are listed"), "{text}");
}

#[test]
fn a_link_without_a_target_is_called_what_the_check_calls_it() {
    let place = Place::with(&[("a.md", "[x](../out.md) [y](none.md) [z](left.md)\n")]);
    place.run(&["ingest"]).success();
    place.write("left.md", "# Left\n");
    let text = place.run(&["links", "list", "a.md", "-f", "text"]).success().text();
    for expected in ["../out.md (unchecked)", "none.md (broken)", "left.md (not in the store)"] {
        assert!(text.contains(expected), "{expected}: {text}");
    }
    let records = place.run(&["links", "list", "a.md", "-f", "records"]).success().text();
    let details: Vec<&str> = records.lines().filter(|line| line.starts_with("D ")).collect();
    let expected = [
        "D unchecked a.md::root ../out.md",
        "D not in the store a.md::root left.md",
        "D broken a.md::root none.md",
    ];
    assert_eq!(details, expected, "{records}");
}

#[test]
fn several_links_between_two_places_are_one_line_of_a_tree() {
    let place = Place::ingested(&[("a.md", "[x](b.md)\n\n[y](b.md)\n"), ("b.md", "# B\n")]);
    let text = place.run(&["links", "tree", "a.md", "-f", "text"]).success().text();
    assert_eq!(text.matches("related").count(), 1, "{text}");
    assert!(text.contains("inline x2\n"), "{text}");
}

#[test]
fn a_node_has_the_title_and_a_summary_of_its_document() {
    let place = Place::ingested(&[
        (
            "types.md",
            "<a id=\"types\"></a>\n\n## Data Types\n\n[![CI](https://ci/x.svg)](https://ci)\n\n\
             <!-- a comment -->\n\nOf types. [n](none.md)\n\n### Deep\n",
        ),
        ("rising.md", "### Deep\n\n## Higher\n"),
        ("a.md", "[[Data Types]] [x](rising.md)\n"),
    ]);
    let list = place.run(&["links", "list", "a.md", "--direction", "out"]).success().json();
    let node = |file: &str| {
        let mut nodes = list["nodes"].as_array().unwrap().iter();
        nodes.find(|node| node["file"] == file).unwrap_or_else(|| panic!("{list}")).clone()
    };
    assert_eq!(node("types.md")["title"], "Data Types");
    assert_eq!(node("types.md")["summary"], "Of types. [n](none.md)");
    assert_eq!(node("rising.md")["title"], "rising");
}

#[test]
fn check_reports_each_broken_link_once_with_a_suggestion() {
    let place = place();
    let check = place.run(&["links", "check"]).ends(1).json();
    let found: Vec<String> = check["findings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|f| {
            format!("{}:{} {}", f["file"].as_str().unwrap(), f["line"], f["code"].as_str().unwrap())
        })
        .collect();
    assert_eq!(found, ["a.md:19 BROKEN_FILE", "deep/Note.md:5 BROKEN_ANCHOR"]);
    place.run(&["links", "check", "sub", "c.markdown"]).success();
    assert_eq!(place.run(&["links", "check", "none"]).ends(2).code(), "NAMESPACE_NOT_FOUND");
    // A target that is added later is found, and one that is removed is reported, without reading
    // the source again.
    place.write("gone.md", "# Gone\n");
    place.run(&["ingest"]).success();
    place.run(&["links", "check", "a.md"]).success();
    let into = place.run(&["links", "list", "gone.md", "--direction", "in"]).success().json();
    assert_eq!(selectors(&into["nodes"]), ["gone.md::*", "a.md::heading:h2[0]"]);
    place.write("gone.md", "# Gone\n\nmore\n");
    place.run(&["ingest"]).success();
    assert_eq!(
        edges(&place.run(&["links", "list", "gone.md", "--direction", "in"]).success().json())
            .len(),
        1,
        "the same link leads to what has changed"
    );
    place.remove("gone.md");
    place.run(&["ingest"]).success();
    place.run(&["links", "check", "a.md"]).ends(1);
    place.write("moved/gone.md", "# Gone\n");
    place.run(&["ingest"]).success();
    let hint = place.run(&["links", "check", "a.md"]).ends(1).json();
    assert_eq!(hint["findings"][0]["hint"], "did you mean moved/gone.md?");
}

#[test]
fn a_suggestion_can_be_put_into_the_link() {
    let place = Place::ingested(&[
        ("guide/g.md", "[r](ref.md) [s](./ref#p) [[no/Ref#P|x]] [h](/no/ref.html) <a@b.c>\n"),
        (
            "x/y/a.md",
            "---\nlinks: [no/ref]\n---\n[m](b%20c.md?q=1#s) [n](<b c.md>) ![[up/b c.md]]\n",
        ),
        ("api/Ref.md", "# Reference\n\n## P\n\n## Set up\n"),
        ("b c.md", "# B\n\n## S\n"),
        (
            "anchors.md",
            "[t](./no/ref.md#set-ups) [u](no/ref.md#zzz) [[no/Ref#Set ups]] [[no/Ref#^id]]\n",
        ),
    ]);
    let hints = |file: &str| {
        let check = place.run(&["links", "check", file]).ends(1).json();
        let findings = check["findings"].as_array().unwrap().iter();
        let hint = |finding: &Value| finding["hint"].as_str().unwrap_or_default().to_owned();
        findings.map(hint).collect::<Vec<_>>()
    };
    let mean = |targets: &[&str]| {
        targets.iter().map(|target| format!("did you mean {target}?")).collect::<Vec<_>>()
    };
    assert_eq!(
        hints("guide/g.md"),
        mean(&["../api/Ref.md", "../api/Ref#p", "api/Ref#P", "/api/Ref.html"])
    );
    assert_eq!(
        hints("x/y/a.md"),
        mean(&["api/Ref", "../../b%20c.md?q=1#s", "../../b c.md", "b c.md"])
    );
    // A section that the document lacks is not suggested again.
    assert_eq!(
        hints("anchors.md"),
        mean(&["./api/Ref.md#set-up", "api/Ref.md", "api/Ref#Set up", "api/Ref"])
    );
}

#[test]
fn a_command_in_a_finding_names_the_store() {
    let place = Place::with(&[("a.md", "[i](i.md)\n\n[i](i.md)\n"), (".gitignore", "i.md\n")]);
    place.write("i.md", "# I\n");
    place.run(&["--db", "s.db", "ingest"]).success();
    let command = "`mdsel ingest --db s.db --no-ignore`";
    for options in [&["-f", "json"][..], &["-f", "text"], &["-f", "json", "--limit", "1"]] {
        let text =
            place.run(&[&["--db", "s.db", "links", "check"], options].concat()).ends(1).text();
        assert!(text.contains(command) && !text.contains("mdsel ingest --no"), "{text}");
    }
}

#[test]
fn every_place_has_the_links_in_it() {
    let text = "---\nlinks: [{type: s, id: b}]\n---\n# A\n\n- i0 [c](c.md)\n- i1\n\n  p [b](b.md)\n\n<!--LDMD:BEGIN id=\"x\"-->\n[d](d.md)\n<!--LDMD:END id=\"x\"-->\n\n## S\n\n| t |\n| - |\n| [b](b.md) |\n| [c](c.md#c) |\n";
    let place = Place::ingested(&[
        ("a.md", text),
        ("b.md", "# B\n\n[a](a.md) [s](a.md#s) [x](a.md#a)\n"),
        ("c.md", "# C\n"),
        ("d.md", "# D\n"),
    ]);
    let ends = |address: &str, direction: &str| {
        let list = ["links", "list", address, "--direction", direction];
        let json = place.run(&list).success().json();
        let key = if direction == "out" { "target" } else { "to" };
        let edges = json["edges"].as_array().unwrap().iter();
        edges.map(|edge| edge[key].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    for (address, expected) in [
        ("a.md::heading:h1[0]/block:list[0]", &["b.md", "c.md"][..]),
        ("a.md::heading:h1[0]/block:list[0]/item[1]", &["b.md"]),
        ("a.md::heading:h1[0]/block:list[0]/item[1]/block:paragraph[1]", &["b.md"]),
        ("a.md::@frontmatter", &["b"]),
        ("a.md::ldmd:x", &["d.md"]),
        ("a.md::S/block:table[0]/row[1]", &["c.md#c"]),
        ("a.md::S/block:table[0]/row[0]/cell[0]", &["b.md"]),
        ("a.md:6-7", &["c.md"]),
        ("a.md::heading:h1[0]?part=own", &["b.md", "c.md", "d.md"]),
        ("a.md::heading:h1[0]?head=3", &["c.md"]),
        ("a.md::heading:h1[0]?part=heading", &[]),
        ("a.md::S", &["b.md", "c.md#c"]),
    ] {
        assert_eq!(ends(address, "out"), expected, "{address}");
        let hops = |from: &str, to: &str, direction: &str| {
            let path = ["links", "path", from, to, "--max-hops", "1", "--direction", direction];
            place.run(&path).status == 0
        };
        for end in ["b.md", "c.md", "d.md"] {
            let is_there = expected.iter().any(|target| target.starts_with(&end[..1]));
            assert_eq!(hops(address, end, "out"), is_there, "{address} to {end}");
            assert_eq!(hops(end, address, "in"), is_there, "{end} to {address}");
            assert!(hops(end, address, "both") >= is_there, "{end} to {address}");
        }
    }
    let (h1, h2) = ("a.md::heading:h1[0]", "a.md::heading:h2[0]");
    assert_eq!(ends(h1, "in"), [h1, h2]);
    assert_eq!(ends("a.md::heading:h1[0]?part=own", "in"), [h1]);
    assert_eq!(ends("a.md:15-16", "in"), [h2]);
    assert_eq!(ends("a.md::@frontmatter", "in"), [""; 0]);
    let tree = ["links", "tree", "a.md::@frontmatter", "--direction", "out", "-f", "records"];
    assert!(place.run(&tree).success().text().contains("E a.md::@frontmatter s b.md::* typed"));
    let item = "a.md::heading:h1[0]/block:list[0]/item[0]";
    let context = place.run(&["context", item, "--links", "1", "-f", "records"]).success().text();
    assert!(context.contains("c.md") && !context.contains("d.md"), "{context}");
}

/// A small graph: the links of each document, by number.
fn graph(seed: u64, count: usize) -> Vec<BTreeSet<usize>> {
    let mut state = seed;
    let mut random = |most: usize| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(state >> 33).unwrap() % most
    };
    (0..count).map(|_| (0..random(3)).map(|_| random(count)).collect()).collect()
}

/// The number of links to each document that can be reached.
fn breadth_first(
    links: &[BTreeSet<usize>],
    from: usize,
    direction: &str,
) -> BTreeMap<usize, usize> {
    let mut hops = BTreeMap::from([(from, 0)]);
    let mut queue = VecDeque::from([from]);
    while let Some(here) = queue.pop_front() {
        let out = links[here].iter().copied().filter(|_| direction != "in");
        let into =
            (0..links.len()).filter(|&other| direction != "out" && links[other].contains(&here));
        for next in out.chain(into).collect::<Vec<_>>() {
            if !hops.contains_key(&next) {
                hops.insert(next, hops[&here] + 1);
                queue.push_back(next);
            }
        }
    }
    hops
}

#[test]
fn tree_and_path_agree_with_a_breadth_first_search() {
    for seed in 1..5 {
        let links = graph(seed, 16);
        let place = Place::new();
        for (number, targets) in links.iter().enumerate() {
            let text: String = targets.iter().map(|t| format!("[x](n{t}.md) ")).collect();
            place.write(&format!("n{number}.md"), format!("{text}\n"));
        }
        place.run(&["ingest"]).success();
        for direction in ["out", "in", "both"] {
            for from in [0, 5, 11] {
                let expected = breadth_first(&links, from, direction);
                let root = format!("n{from}.md");
                let tree = ["links", "tree", &root, "--direction", direction, "--max-hops", "99"];
                let json = place.run(&tree).success().json();
                let reached: BTreeMap<String, u64> = json["nodes"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .map(|node| {
                        (node["file"].as_str().unwrap().to_owned(), node["hop"].as_u64().unwrap())
                    })
                    .collect();
                let expected_files: BTreeMap<String, u64> = expected
                    .iter()
                    .map(|(number, hop)| (format!("n{number}.md"), *hop as u64))
                    .collect();
                assert_eq!(reached, expected_files, "seed {seed} from {from} {direction}");
                for end in 0..16 {
                    let to_file = format!("n{end}.md");
                    let path = [
                        "links",
                        "path",
                        &root,
                        &to_file,
                        "--direction",
                        direction,
                        "--max-hops",
                        "99",
                    ];
                    let answer = place.run(&path);
                    let json = answer.json();
                    let nodes = json["nodes"].as_array().unwrap();
                    match expected.get(&end) {
                        Some(hops) => {
                            assert_eq!((answer.status, nodes.len()), (0, hops + 1));
                            assert_eq!(json["edges"].as_array().unwrap().len(), *hops);
                        }
                        None => assert_eq!((answer.status, nodes.len()), (1, 0)),
                    }
                }
            }
        }
        let cut = place.run(&["links", "tree", "n0.md", "--max-hops", "1"]).success().json();
        assert_eq!(cut["truncated"], false, "the limit of links cut nothing");
        assert!(
            cut["nodes"].as_array().unwrap().iter().all(|node| node["hop"].as_u64() <= Some(1))
        );
        let most = place.run(&["links", "tree", "n0.md", "--max-nodes", "1"]).success().json();
        assert_eq!(most["nodes"].as_array().unwrap().len(), 1);
        assert_eq!(
            most["truncated"],
            !links[0].iter().all(|&t| t == 0) || links.iter().skip(1).any(|l| l.contains(&0))
        );
    }
}

#[test]
fn there_is_a_path_exactly_if_there_is_one_the_other_way() {
    for seed in 1..3 {
        let links = graph(seed, 12);
        let place = Place::new();
        // Each document has its name as its first heading, and two sections below it.
        let name = |number: usize| match number % 3 {
            0 => format!("n{}.md", number / 3),
            part => format!("n{}.md#s{part}", number / 3),
        };
        for (file, parts) in links.chunks(3).enumerate() {
            let part = |(part, targets): (usize, &BTreeSet<usize>)| {
                let heading = if part == 0 { "# N".to_owned() } else { format!("## S{part}") };
                let links: String = targets.iter().map(|t| format!("[x]({}) ", name(*t))).collect();
                format!("{heading}\n\n{links}\n\n")
            };
            let text: String = parts.iter().enumerate().map(part).collect();
            place.write(&format!("n{file}.md"), text);
        }
        place.run(&["ingest"]).success();
        let hops = |from: usize, to: usize, direction: &str| {
            let (from, to) = (name(from), name(to));
            let answer = place.run(&["links", "path", &from, &to, "--direction", direction]);
            let json = answer.json();
            let nodes = json["nodes"].as_array().unwrap();
            for edge in json["edges"].as_array().unwrap() {
                for end in [&edge["from"], &edge["to"]] {
                    assert!(nodes.iter().any(|node| node["selector"] == *end), "{edge}");
                }
            }
            (answer.status == 0).then(|| nodes.len() - 1)
        };
        for (from, to) in (0..12).flat_map(|from| (0..12).map(move |to| (from, to))) {
            let (out, both) = (hops(from, to, "out"), hops(from, to, "both"));
            let case = format!("seed {seed}: {} to {}", name(from), name(to));
            assert_eq!(out, hops(to, from, "in"), "{case}");
            let back = hops(to, from, "both");
            assert_eq!(both.is_some(), back.is_some(), "{case}");
            // A part is in its document, but the document leads to the part over links.
            assert!(both == back || from / 3 == to / 3, "{case}");
            assert!(out.is_none_or(|out| both.is_some_and(|both| both <= out)), "{case}");
        }
    }
}

#[test]
fn a_path_over_links_backward_leads_to_the_section_that_holds_the_link() {
    let place = Place::ingested(&[
        ("a.md", "# A\n\n## S1\n\n[b](b.md)\n\n## S2\n\n## S3\n\n[c](c.md#c2)\n"),
        ("b.md", "# B\n"),
        ("c.md", "# C\n\n## C2\n\n[s](a.md#s1)\n"),
        ("z.md", "# Z\n\n[s](a.md#s2)\n"),
    ]);
    let path = |from: &str, to: &str, direction: &str| {
        let path = ["links", "path", from, to, "--direction", direction];
        let json = place.run(&path).json();
        let nodes = json["nodes"].as_array().unwrap().iter();
        nodes.map(|node| node["selector"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let (s1, s2, s3) = ("a.md::heading:h2[0]", "a.md::heading:h2[1]", "a.md::heading:h2[2]");
    let (b, c2) = ("b.md::*", "c.md::heading:h2[0]");
    for direction in ["in", "both"] {
        assert_eq!(path(b, s1, direction), [b, s1], "{direction}");
        assert_eq!(path(b, "c.md", direction).len(), 3, "{direction}");
    }
    assert_eq!(path(b, s3, "in"), [b, s1, c2, s3]);
    assert_eq!(path(s3, b, "out"), [s3, c2, s1, b]);
    assert_eq!(path(b, "c.md", "both"), [b, s1, c2]);
    // Links into another section lead there only if the sections count as one document.
    assert_eq!(path("z.md", b, "out"), [""; 0]);
    assert_eq!(path(b, "z.md", "in"), [""; 0]);
    assert_eq!(path("z.md", b, "both"), ["z.md::*", "a.md::*", b]);
    assert_eq!(path(b, "z.md", "both").len(), 3);
    assert_eq!(path(b, s2, "in"), [""; 0]);
    let none = place.run(&["links", "path", "z.md", b, "--direction", "out"]).ends(1).json();
    assert_eq!(none["no_path"]["farthest"], serde_json::json!([s2]), "{none}");
    assert!(!none["no_path"]["reached_from"].to_string().contains("z.md"), "{none}");
    let none = place.run(&["links", "path", b, "z.md", "--direction", "in"]).ends(1).json();
    assert_eq!(none["no_path"]["reached_from"], serde_json::json!([s2]), "{none}");
}

#[test]
fn the_limit_of_a_tree_and_a_path_of_links_is_that_of_its_places() {
    let place = Place::ingested(&[
        ("a.md", "# A\n\n[b](b.md)\n"),
        ("b.md", "# B\n\n[c](c.md)\n"),
        ("c.md", "# C\n"),
    ]);
    for command in [&["links", "tree", "a.md"][..], &["links", "path", "a.md", "c.md"]] {
        let limited = |option| place.run(&[command, &[option, "2"]].concat()).success().json();
        let by_limit = limited("--limit");
        assert_eq!(by_limit["nodes"].as_array().unwrap().len(), 2, "{by_limit}");
        assert_eq!(by_limit, limited("--max-nodes"));
    }
}

#[test]
fn a_list_of_links_has_a_link_with_any_number_of_nodes() {
    let place = Place::ingested(&[("a.md", "# A\n\n[b](b.md) [b](b.md)\n"), ("b.md", "# B\n")]);
    for most in ["1", "2"] {
        let list = ["links", "list", "a.md", "--max-nodes", most];
        let first = place.run(&list).success().json();
        assert!(!first["edges"].as_array().unwrap().is_empty());
        let Some(next) = first["next"].as_str() else { continue };
        let rest = place.run(&[&list[..], &["--after", next]].concat()).success().json();
        assert_ne!(rest["next"].as_str(), Some(next));
    }
}

fn key(edge: &Edge) -> String {
    let to = edge.target().map(Node::address).unwrap_or_default();
    format!("{} {} {to} {}", edge.from.address(), edge.link.target, edge.link.line)
}

#[test]
fn backlinks_are_the_inverse_of_links() {
    let place = place();
    copy(&fixtures(), &place.join("fixtures"));
    if let Some(corpora) = std::env::var_os("MDSEL_CORPORA") {
        let vault = Path::new(&corpora).join("obsidian-help/en");
        if vault.is_dir() {
            copy(&vault, &place.join("vault"));
        }
    }
    place.run(&["ingest"]).success();
    let reader = reader(&place.join(".mdsel.db")).unwrap();
    let session = Session::new(&*reader);
    let graph = Graph::new(&session, EdgeFilter::default());
    let mut expected: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut whole = Vec::new();
    for stored in reader.all(&Lookup::All).unwrap() {
        let address = format!("{}::*", session.open(&stored).unwrap().namespace);
        let (document, _) = resolve_one(&session, &address).unwrap().unwrap();
        for edge in graph.out_of(&document).unwrap() {
            if let Some(to) = edge.target() {
                expected.entry(to.document.stored.path.clone()).or_default().insert(key(&edge));
            }
        }
        whole.push(document);
    }
    for document in whole {
        let into: BTreeSet<String> = graph.leading_to(&document).unwrap().iter().map(key).collect();
        let path = &document.document.stored.path;
        assert_eq!(into, expected.remove(path).unwrap_or_default(), "{path}");
    }
    assert!(expected.is_empty());
}

/// Links of real documents, and where they lead on their own sites.
const CHECKED: &str = include_str!("../fixtures/links.tsv");

#[test]
fn links_of_real_documents_lead_where_they_lead_on_their_sites() {
    let Some(corpora) = std::env::var_os("MDSEL_CORPORA") else { return };
    let place = Place::new();
    let mut parts = Vec::new();
    for part in ["obsidian-help", "cpp-docs"] {
        let folder = Path::new(&corpora).join(part);
        if folder.is_dir() {
            copy(&folder, &place.join(part));
            parts.push(part);
        }
    }
    place.run(&["ingest"]).success();
    let reader = reader(&place.join(".mdsel.db")).unwrap();
    let session = Session::new(&*reader);
    let graph = Graph::new(&session, EdgeFilter::default());
    for row in CHECKED.lines() {
        let fields: Vec<&str> = row.split('\t').collect();
        let [source, line, target, expected, heading] = fields[..] else { panic!("{row}") };
        if !parts.iter().any(|part| source.starts_with(part)) {
            continue;
        }
        let stored = reader.document_at(source).unwrap().unwrap_or_else(|| panic!("{row}"));
        let namespace = session.open(&stored).unwrap().namespace.clone();
        let (document, _) = resolve_one(&session, &format!("{namespace}::*")).unwrap().unwrap();
        let edges = graph.out_of(&document).unwrap();
        let mut edges = edges.iter();
        if expected == "ATTACHMENT" {
            // The corpus has no attachments, so the link leads to no document.
            let mut of_target = edges.filter(|edge| edge.link.target == target);
            assert!(of_target.all(|edge| edge.target().is_none()), "{row}");
            continue;
        }
        let edge = edges
            .find(|edge| edge.link.line.to_string() == line && edge.link.target == target)
            .unwrap_or_else(|| panic!("no such link: {row}"));
        let found = match edge.target() {
            Some(to) => {
                let first = to.document.tree.section_at(to.span().start);
                let is_section = to.title().is_some();
                let line =
                    first.and_then(|node| to.document.tree.node(node)).map(|n| n.lines.start);
                let line = line.filter(|_| is_section).map(|line| line.to_string());
                (to.document.stored.path.clone(), line.unwrap_or_default())
            }
            None => {
                let reason = serde_json::to_value(edge).unwrap()["broken"].clone();
                (format!("BROKEN_{}", reason.as_str().unwrap().to_uppercase()), String::new())
            }
        };
        assert_eq!(found, (expected.to_owned(), heading.to_owned()), "{row}");
    }
}

#[test]
fn both_ends_of_every_edge_are_listed_as_nodes() {
    let place = Place::with_fixtures();
    for command in [
        &["links", "list", "links.md"][..],
        &["links", "tree", "links.md"],
        &["links", "tree", "links.md", "--max-nodes", "2"],
        &["links", "tree", "links.md", "--max-chars", "1500"],
        &["links", "path", "links.md", "guide.md#install"],
    ] {
        let json = place.run(command).success().json();
        let nodes = json["nodes"].as_array().unwrap();
        let edges = json["edges"].as_array().unwrap();
        assert!(!edges.is_empty(), "{command:?}");
        for edge in edges {
            for end in [&edge["from"], &edge["to"]] {
                let is_node = nodes.iter().any(|node| node["selector"] == *end);
                assert!(is_node || end.is_null(), "{command:?}: {edge}");
            }
        }
    }
}

#[test]
fn a_missing_path_reports_how_far_the_search_went() {
    let place = Place::ingested(&[
        ("a.md", "# A\n\n[b](b.md)\n"),
        ("b.md", "# B\n"),
        ("c.md", "# C\n\n[d](d.md)\n"),
        ("d.md", "# D\n"),
    ]);
    let command = ["links", "path", "a.md", "d.md", "--direction", "out"];
    let none = &place.run(&command).ends(1).json()["no_path"];
    assert_eq!((&none["hops"], &none["places"]), (&2.into(), &1.into()));
    assert_eq!(none["farthest"][0], "b.md::*");
    assert_eq!(none["reached_from"][0], "c.md::*");
    let one = place.run(&[&command[..], &["--max-hops", "1"]].concat()).ends(1).json();
    assert_eq!(one["no_path"]["hops"], 1);
    let text = place.run(&[&command[..], &["-f", "text"]].concat()).ends(1).text();
    assert!(
        text.starts_with("No path from a.md::* to d.md::*: 2 hops tried, 1 place reached.\n"),
        "{text}"
    );
}

#[test]
fn a_walk_of_no_hops_stays_at_its_place() {
    let place = Place::ingested(&[
        ("a.md", "# A\n\n[b](b.md) [a](a.md)\n"),
        ("b.md", "# B\n\n[a](a.md)\n"),
    ]);
    let run =
        |arguments: &[&str]| place.run(&[&["links"], arguments, &["--max-hops", "0"]].concat());
    let tree = run(&["tree", "a.md"]).success().json();
    assert_eq!(selectors(&tree["nodes"]), ["a.md::*"]);
    assert_eq!((&tree["nodes"][0]["hop"], &tree["truncated"]), (&json!(0), &json!(false)));
    let records = run(&["tree", "a.md", "-f", "records"]).success().text();
    assert!(records.contains(" max_hops=0 nodes=1 truncated=false\nN a.md::* "), "{records}");
    let none = run(&["path", "a.md", "b.md"]).ends(1).json();
    let tried = (&none["no_path"]["hops"], &none["nodes"], &none["edges"]);
    assert_eq!(tried, (&json!(0), &json!([]), &json!([])));
    let same = run(&["path", "a.md", "a.md"]).success().json();
    assert_eq!((selectors(&same["nodes"]), &same["edges"]), (vec!["a.md::*"], &json!([])));
    let wrong = place.run(&["links", "tree", "a.md", "--max-hops", "-1"]).ends(2);
    assert_eq!(wrong.code(), "USAGE");
}

#[test]
fn an_unknown_link_type_is_reported() {
    let place = Place::with_fixtures();
    let warned =
        place.run(&["links", "list", "links.md", "--link-type", "nosuch"]).success().json();
    assert_eq!(warned["warnings"][0]["code"], "NO_SUCH_LINK_TYPE");
    // Links have no blocks, so this is their type, too.
    for name in ["--link-type", "--type"] {
        let found = place.run(&["links", "list", "links.md", name, "explains"]).success().json();
        assert_eq!(found["edges"].as_array().unwrap().len(), 1, "{found}");
    }
}

#[test]
fn checks_and_lists_of_files_say_that_files_have_changed_since_the_ingest() {
    let place = Place::ingested(&[("a.md", "# A\n\n[l](b.md)\n"), ("b.md", "# B\n")]);
    let check = |command: &[&str]| place.run(command).success().json()["warnings"].clone();
    for command in [&["links", "check"][..], &["ldmd", "check"]] {
        assert_eq!(check(command), json!(null), "{command:?}");
    }
    std::fs::write(place.join("a.md"), "# A\n\n[x](nope.md)\n").unwrap();
    for command in [&["links", "check"][..], &["ldmd", "check", "a.md"]] {
        let warnings = check(command);
        assert_eq!(warnings[0]["code"], "STALE_DOCUMENTS", "{command:?}");
        let message = warnings[0]["message"].as_str().unwrap();
        assert!(message.starts_with("a.md has changed or is gone since the ingest"), "{message}");
    }
    assert_eq!(check(&["links", "check", "b.md"]), json!(null));
    std::fs::remove_file(place.join("b.md")).unwrap();
    let message = check(&["links", "check"])[0]["message"].clone();
    assert!(
        message.as_str().unwrap().starts_with("a.md and another file have changed or are gone"),
        "{message}"
    );
    for command in [&["search", "-F", "#", "-l"][..], &["search", "l", "-c"]] {
        assert_eq!(check(command)[0]["code"], "STALE_DOCUMENTS", "{command:?}");
    }
    assert_eq!(check(&["search", "-F", "#", "-l", "--refresh"]), json!(null));
    place.write("b.md", "# B\n");
    place.run(&["ingest"]).success();
    place.write("a.md", "# A\n\n[x](nope.md)\n\nMore.\n");
    let refreshed = place.run(&["links", "check", "--refresh"]).ends(1).json();
    assert_eq!(refreshed["findings"][0]["code"], "BROKEN_FILE", "{refreshed}");
    assert_eq!(refreshed["warnings"], json!(null));
}

#[test]
fn the_links_of_many_sections_of_one_document_are_walked_in_linear_time() {
    let seconds = [500, 2_000].map(|count| {
        let heads: String = (0..count).map(|n| format!("## Same\n\nText {n}.\n\n")).collect();
        let links: String =
            (0..count).map(|n| format!("- [x](heads.md#same-{n})\n")).collect::<String>();
        let place = Place::ingested(&[("heads.md", &heads), ("links.md", &links)]);
        let took = (0..3).map(|_| {
            let began = std::time::Instant::now();
            let tree = ["links", "tree", "links.md", "--max-nodes", "0", "-f", "json"];
            let tree = place.run(&tree).success().json();
            assert!(tree["nodes"].as_array().unwrap().len() > count - 2, "{count}");
            began.elapsed().as_secs_f64()
        });
        took.fold(f64::MAX, f64::min)
    });
    assert!(seconds[1] < 9.0 * seconds[0] + 0.2, "{seconds:?}");
}

#[test]
fn changed_files_are_counted_among_many() {
    let names: Vec<String> = (0..1300).map(|number| format!("n{number:04}.md")).collect();
    let files: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "one\n")).collect();
    let place = Place::ingested(&files);
    place.write("n0400.md", "one and two\n");
    place.write("n0700.md", "one and two\n");
    std::fs::remove_file(place.join("n1200.md")).unwrap();
    let found = place.run(&["search", "-F", "one", "-c"]).success().json();
    let expected = "n0400.md and 2 other files have changed or are gone since the ingest";
    let message = found["warnings"][0]["message"].as_str().unwrap();
    assert!(message.starts_with(expected), "{message}");
}

#[test]
fn many_links_in_one_line_are_checked_in_linear_time() {
    let seconds = [4_000, 16_000].map(|count| {
        let line: String = (0..count).map(|n| format!("[[none {n}]] ")).collect();
        let place = Place::ingested(&[("a.md", &line)]);
        let took = (0..3).map(|_| {
            let began = std::time::Instant::now();
            let checked = place.run(&["links", "check"]).ends(1).json();
            assert_eq!(checked["total"], count, "{checked}");
            began.elapsed().as_secs_f64()
        });
        took.fold(f64::MAX, f64::min)
    });
    assert!(seconds[1] < 7.0 * seconds[0] + 0.1, "{seconds:?}");
}

#[test]
fn broken_anchors_have_suggestions_and_name_the_section_of_a_marker() {
    let markers = "<!--LDMD:REF doc=\"e.ldmd.md\" section=\"intro\"-->\n\n<!--LDMD:REF doc=\"e.ldmd.md\" section=\"zzz\"-->\n";
    let place = Place::ingested(&[
        (
            "z.md",
            "# Z\n\n## s2\n\n[one](z.md#s3)\n\n[two](a/foo.md#foo-nots)\n\n[[a/foo#Foo nots]]\n\n[[a/foo#^x]]\n",
        ),
        ("a/foo.md", "# Foo note\n"),
        ("e.ldmd.md", &LDMD.replace("\"s\"", "\"intros\"")),
        ("m.md", markers),
    ]);
    let findings = place.run(&["links", "check"]).ends(1).json()["findings"].clone();
    let found: Vec<(&str, Option<&str>)> = findings
        .as_array()
        .unwrap()
        .iter()
        .map(|finding| (finding["message"].as_str().unwrap(), finding["hint"].as_str()))
        .collect();
    let no = |target: &str| format!("{target:?}: the document has no such section or anchor");
    assert_eq!(
        found,
        [
            (no("e.ldmd.md#intro").as_str(), Some("did you mean intros?")),
            (no("e.ldmd.md#zzz").as_str(), None),
            (no("z.md#s3").as_str(), Some("did you mean #s2?")),
            (no("a/foo.md#foo-nots").as_str(), Some("did you mean #foo-note?")),
            (no("a/foo#Foo nots").as_str(), Some("did you mean #Foo note?")),
            (no("a/foo#^x").as_str(), None),
        ]
    );
    let listed = place.run(&["links", "list", "m.md::*", "--direction", "out"]).success().json();
    let targets = listed["edges"].as_array().unwrap().iter().map(|edge| edge["target"].clone());
    assert_eq!(targets.collect::<Vec<_>>(), ["e.ldmd.md#intro", "e.ldmd.md#zzz"]);
}

#[test]
fn the_records_of_a_part_of_a_list_are_the_beginning_of_the_whole() {
    let place = Place::ingested(&[
        ("a.md", "[b](b.md) [c](c.md) [b](b.md) [[d]]\n"),
        ("b.md", "# B\n\nText.\n"),
        ("c.md", "# C\n"),
        ("d.md", "# D\n\n[a](a.md)\n"),
    ]);
    let list = ["links", "list", "a.md::*", "--direction", "both", "-f", "records"];
    let records = |more: &[&str]| {
        let text = place.run(&[&list[..], more].concat()).success().text();
        text.lines().skip(1).map(str::to_owned).collect::<Vec<_>>()
    };
    let whole = records(&[]);
    let letters: String = whole.iter().filter_map(|line| line.chars().next()).collect();
    assert_eq!(letters, "NSNSENSNSENENSE", "{whole:?}");
    for limit in ["1", "2", "3"] {
        let part = records(&["--limit", limit]);
        assert_eq!(part, whole[..part.len()], "{limit}");
    }
    let no_path =
        place.run(&["links", "path", "b.md", "c.md", "--direction", "out", "-f", "records"]);
    assert!(no_path.text().contains(" root=b.md::* "), "{}", no_path.text());
}

#[test]
fn the_places_of_a_walk_can_be_filtered() {
    let place = Place::ingested(&[
        ("a.md", "# A\n\n[b](x/b.md) [c](c.md)\n"),
        ("x/b.md", "---\ntags: [t]\nstatus: Final\n---\n# B\n\n[d](../d.md) [e](e.md)\n"),
        ("c.md", "# C\n\n[d](d.md)\n"),
        ("d.md", "# D\n\n## Part\n\n[e](x/e.md)\n"),
        ("x/e.md", "---\ntags: [t]\nstatus: Final\n---\n# E\n\n[p](../d.md#part)\n"),
    ]);
    let walk = |options: &[&str]| {
        let tree = [&["links", "tree", "a.md", "--direction", "out"], options].concat();
        let nodes = place.run(&tree).success().json()["nodes"].clone();
        let nodes = nodes.as_array().unwrap().iter();
        nodes.map(|node| node["selector"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let in_x = ["a.md::*", "x/b.md::*", "x/e.md::*"];
    for options in
        [&["--under", "x"][..], &["-g", "x/*"], &["--tag", "t"], &["--where", "status = Final"]]
    {
        assert_eq!(walk(options), in_x, "{options:?}");
    }
    assert_eq!(walk(&["-g", "!x/*"]), ["a.md::*", "c.md::*", "d.md::*"]);
    assert_eq!(walk(&["--level", "2"]), ["a.md::*"]);
    let none = place.run(&["links", "tree", "a.md", "--tag", "no"]).success().json();
    assert_eq!(none["warnings"][0]["code"], "NO_DOCUMENT", "{none}");
    let path = |options: &[&str]| {
        let path = ["links", "path", "a.md", "x/e.md", "--direction", "out", "-f", "text"];
        place.run(&[&path, options].concat())
    };
    assert!(path(&[]).success().text().contains("x/b.md"));
    assert!(path(&["--tag", "t"]).success().text().contains("x/b.md"));
    let other = path(&["-g", "!x/b.md"]).success().text();
    assert!(other.contains("c.md::*") && !other.contains("x/b.md"), "{other}");
    let none = path(&["-g", "!x/*"]).ends(1);
    assert!(none.text().contains("x/e.md::* does not pass the filters"), "{}", none.text());
    // An unknown place admits nothing, as in a list of links.
    for command in ["tree", "list"] {
        let unknown = place.run(&["links", command, "a.md", "--under", "no"]);
        assert_eq!(unknown.code(), "SELECTOR_NOT_FOUND", "{command}");
        assert_eq!(unknown.json()["nodes"].as_array().unwrap().len(), 1, "{command}");
    }
}

#[test]
fn a_link_that_is_cut_to_a_limit_is_marked_with_its_place() {
    let target = format!("a-target-that-does-not-exist-{}.md", "y".repeat(200));
    let text = format!("# A title of some length here\n\n[x]({target})\n");
    let place = Place::ingested(&[("a.md", &text)]);
    for (command, most, status) in
        [(["links", "list", "a.md"], "600", 0), (["links", "check", "a.md"], "300", 1)]
    {
        let answer =
            place.run(&[&command[..], &["--max-chars", most]].concat()).ends(status).json();
        let warning = &answer["warnings"][0];
        assert_eq!(
            (&warning["code"], &answer["truncated"]),
            (&json!("ITEM_CUT"), &json!(true)),
            "{answer}"
        );
        let message = warning["message"].as_str().unwrap();
        assert!(message.contains("`mdsel select a.md:3-3`"), "{message}");
    }
    let line = place.run(&["select", "a.md:3-3", "-f", "raw"]).success().text();
    assert!(line.contains(&target), "{line}");
}

#[test]
fn a_node_of_a_tree_that_is_cut_to_a_limit_is_marked_with_its_place() {
    let text = |title: &str, link: &str| format!("# {title}\n\n{link}{}\n", "words ".repeat(300));
    let (a, b) = (text("A", "[b](b.md) "), text("B", ""));
    let place = Place::ingested(&[("a.md", &a), ("b.md", &b), ("lone.md", &text("L", ""))]);
    for (start, after, cut) in [
        ("lone.md", None, "lone.md::*"),
        ("a.md", None, "a.md::*"),
        ("a.md", Some("1-1"), "b.md::*"),
    ] {
        let mut tree = vec!["links", "tree", start, "--max-chars", "900"];
        tree.extend(after.iter().flat_map(|after| ["--after", after]));
        let json = place.run(&tree).success().json();
        assert_eq!(
            (&json["truncated"], &json["warnings"][0]["code"]),
            (&json!(true), &json!("ITEM_CUT"))
        );
        let message = json["warnings"][0]["message"].as_str().unwrap();
        assert!(message.contains(&format!("`mdsel select '{cut}'`")), "{message}");
        assert_eq!(json["next"].is_string(), start == "a.md" && after.is_none(), "{json}");
    }
}

#[test]
fn a_tree_with_many_links_between_two_places_goes_on_under_any_budget() {
    let links = |name: &str| (1..=40).map(|n| format!("[x]({name}?v={n})\n")).collect::<String>();
    let place = Place::ingested(&[
        ("a.md", "# A\n\n[b](b.md)\n"),
        ("b.md", &format!("# B\n\n{}", links("a.md"))),
    ]);
    let tree = ["links", "tree", "a.md", "-f", "json"];
    let whole = place.run(&tree).success().json();
    let edges = |json: &Value| json["edges"].as_array().unwrap().clone();
    assert_eq!(edges(&whole).len(), 41);
    for most in ["1100", "1500", "4000"] {
        let mut all = Vec::new();
        let mut after = None;
        loop {
            let mut command = [&tree[..], &["--max-chars", most]].concat();
            command.extend(after.iter().flat_map(|after: &String| ["--after", after.as_str()]));
            let answer = place.run(&command).success();
            assert!(answer.text().chars().count() <= most.parse().unwrap());
            let json = answer.json();
            let nodes = json["nodes"].as_array().unwrap().clone();
            for edge in edges(&json) {
                for end in ["from", "to"] {
                    assert!(nodes.iter().any(|node| node["selector"] == edge[end]), "{json}");
                }
                all.push(edge);
            }
            after = json["next"].as_str().map(str::to_owned);
            if after.is_none() {
                break;
            }
        }
        assert_eq!(all, edges(&whole), "{most}");
    }
}

#[test]
fn a_link_to_a_part_of_the_root_makes_no_second_node() {
    let place = Place::ingested(&[
        ("a.md", "# A\n\n## One\n\n[b](b.md)\n"),
        ("b.md", "# B\n\n[a](a.md#one)\n"),
    ]);
    let tree = place.run(&["links", "tree", "a.md", "-f", "json"]).success().json();
    let nodes: Vec<_> = tree["nodes"].as_array().unwrap().iter().map(|n| &n["selector"]).collect();
    assert_eq!(nodes, ["a.md::*", "b.md::*"], "{tree}");
    assert_eq!(tree["edges"].as_array().unwrap().len(), 2);
    let context = place.run(&["context", "a.md", "--links", "2", "-f", "text"]).success().text();
    assert!(!context.contains("One"), "{context}");
    let path = ["links", "path", "a.md", "a.md::One", "-f", "json"];
    assert_eq!(place.run(&path).success().json()["nodes"].as_array().unwrap().len(), 3);
}

#[test]
fn a_markdown_link_with_bytes_that_are_not_utf8_is_listed_and_left_as_it_is() {
    let place = Place::ingested(&[("c.md", "# C\n")]);
    let text = b"# A \xff\n\n\xff[l](b\xff.md) [m](c.md#\xff) ![i](p\xff.png)\n- [ok](c.md) [n](%FF.md)\n[[c#\xff]]\n\n\x1a[z](c\x1a.md)\n";
    place.write("a.md", text.as_slice());
    place.run(&["ingest"]).success();
    let listed = place.run(&["links", "list", "a.md", "--direction", "out"]).success().json();
    let mut targets: Vec<(&str, u64)> = listed["edges"]
        .as_array()
        .unwrap()
        .iter()
        .map(|edge| (edge["target"].as_str().unwrap(), edge["line"].as_u64().unwrap()))
        .collect();
    targets.sort_by_key(|(target, line)| (*line, *target));
    let expected = [
        ("b\u{fffd}.md", 3),
        ("c.md#\u{fffd}", 3),
        ("p\u{fffd}.png", 3),
        ("%FF.md", 4),
        ("c.md", 4),
        ("c#\u{fffd}", 5),
    ];
    assert_eq!(targets, expected, "{listed}");
    let check = place.run(&["links", "check"]).ends(1).json();
    assert_eq!(check["findings"].as_array().unwrap().len(), 5, "{check}");
    place.run(&["move", "c.md", "d.md"]).success();
    let now = std::fs::read(place.join("a.md")).unwrap();
    let moved = String::from_utf8_lossy(text).replace("(c.md", "(d.md");
    assert_eq!(String::from_utf8_lossy(&now), moved);
    assert_eq!(now.split(|byte| *byte == 0xff).count(), 7);
}

#[test]
fn a_link_to_its_own_document_shows_its_target() {
    let place = Place::ingested(&[("l.md", "# L\n[self](#) and [me](l.md)\n")]);
    let answer = place.run(&["links", "list", "l.md", "-f", "text"]).success().text();
    assert_eq!(answer.matches(" -> l.md").count(), 2, "{answer}");
}

#[test]
fn a_site_root_is_added_to_those_before() {
    let place = Place::with(&[
        ("one/a.md", "[x](/docs/x) [y](/docs/y)\n"),
        ("one/x.md", "# X\n"),
        ("two/y.md", "# Y\n"),
    ]);
    place.run(&["ingest", "--site-root", "one=/docs"]).success();
    place.run(&["ingest", "--site-root", "two=/docs"]).success();
    let roots = || place.run(&["status"]).success().json()["options"]["site_roots"].clone();
    let [one, two] = ["one", "two"].map(|it| json!({"folder": it, "prefix": "/docs"}));
    assert_eq!(roots(), json!([one, two]));
    assert_eq!(problems(&place, "one/a.md"), [""; 0]);
    // What this user has not accepted is not accepted with another one.
    place.remove(".config/mdsel/trusted");
    let untrusted = place.run(&["ingest", "--site-root", "two=/docs"]).ends(2);
    assert_eq!(untrusted.code(), "UNTRUSTED_STORE");
    place.run(&["ingest", "--site-root", "", "--site-root", "two=/docs"]).success();
    assert_eq!(roots(), json!([two]));
}

#[test]
fn a_file_with_a_frequent_name_is_suggested_by_its_folder() {
    let place = Place::ingested(&[
        ("a/l.md", "[x](../old/queue/README.md) [y](../old/gone/README.md)\n"),
        ("pk/queue/README.md", "# Q\n"),
        ("pk/README.md", "# P\n"),
    ]);
    let check = place.run(&["links", "check"]).ends(1).json();
    assert_eq!(check["findings"][0]["hint"], "did you mean ../pk/queue/README.md?");
    assert_eq!(check["findings"][1]["hint"], json!(null));
}
