//! Lines that answers print as text. Pasted as an address, each names the place that it is about.

use mdsel::address::{FaultCode, lines_address, namespace, path_before_line};
use mdsel::query::Session;
use mdsel::query::resolve::{NodeRange, resolve};
use mdsel::query::resolved_node::ResolvedNode;
use mdsel::store::Purpose;
use serde_json::{Value, json};

use crate::harness::{Place, selectors, store};

/// Which lines of an answer are about a place, and the addresses of these places in the JSON of the answer.
struct Lines {
    command: &'static [&'static str],
    is_about_place: fn(&str) -> bool,
    expected: fn(&Value) -> Vec<String>,
}

/// Returns the texts at the end of `path`, in which `*` stands for every element of a list.
fn texts(answer: &Value, path: &str) -> Vec<String> {
    let mut values = vec![answer];
    for key in path.split('/') {
        values = match key {
            "*" => values.iter().flat_map(|list| list.as_array().into_iter().flatten()).collect(),
            key => values.iter().filter_map(|value| value.get(key)).collect(),
        };
    }
    values.into_iter().map(|value| value.as_str().unwrap().to_owned()).collect()
}

/// Returns the address of line `line` of each item in a list.
fn places(list: &Value, line: &str) -> Vec<String> {
    let place = |item: &Value| {
        let file = path_before_line(item["file"].as_str().unwrap()).into_owned();
        format!("{file}:{}", item[line])
    };
    let mut places: Vec<String> = list.as_array().unwrap().iter().map(place).collect();
    // Hits of one line have one line.
    places.dedup();
    places
}

fn passages(answer: &Value) -> Vec<String> {
    let passage = |hit: &Value| {
        let number = |line: &Value| line.as_u64().unwrap().try_into().unwrap();
        let windows = hit["passage"].as_array();
        // The heading of an empty section has no passage.
        let (start, end) = match windows.map_or(&[][..], Vec::as_slice) {
            [] => (&hit["line"], &hit["line"]),
            [first, ..] => (&first["line_start"], &windows.unwrap().last().unwrap()["line_end"]),
        };
        lines_address(hit["file"].as_str().unwrap(), number(start), number(end))
    };
    answer["hits"].as_array().unwrap().iter().map(passage).collect()
}

const ANSWERS: &[Lines] = &[
    Lines {
        command: &["find", "*", "--limit", "0"],
        is_about_place: |_| true,
        expected: |answer| texts(answer, "matches/*/selector"),
    },
    Lines {
        command: &["search", "needle", "--keep-duplicates", "--limit", "0"],
        is_about_place: |line| {
            let (start, _) = line.split_once("  ").unwrap_or((line, ""));
            !line.starts_with(' ')
                && start.contains('-')
                && start.rsplit_once(':').is_some_and(|(_, lines)| {
                    !lines.is_empty()
                        && lines.bytes().all(|byte| byte == b'-' || byte.is_ascii_digit())
                })
        },
        expected: passages,
    },
    Lines {
        command: &["search", "-F", "needle", "--no-heading", "--limit", "0"],
        is_about_place: |_| true,
        expected: |answer| places(&answer["hits"], "line"),
    },
    Lines {
        command: &["search", "-U", "-e", "needle\\nb.md::\\* +"],
        is_about_place: |line| line.starts_with("hits.md:"),
        expected: |_| vec!["hits.md:9".to_owned(), "hits.md:10".to_owned()],
    },
    Lines {
        command: &["select", "block:code", "--limit", "0"],
        is_about_place: |line| !line.starts_with(' ') && line.ends_with(" words)"),
        expected: |answer| texts(answer, "results/*/selector"),
    },
    Lines {
        command: &["select", "hits.md::*?words=3", "titles.md::*?words=3"],
        is_about_place: |line| line.starts_with("more: ") && line.contains("::"),
        expected: |answer| texts(answer, "results/*/pagination/next"),
    },
    Lines {
        command: &["index", "--blocks", "--limit", "0"],
        is_about_place: |line| !line.starts_with(' '),
        expected: |answer| {
            let names = texts(answer, "documents/*/namespace");
            names.iter().map(|name| format!("{name}::*")).collect()
        },
    },
    Lines {
        command: &["toc", "titles.md"],
        is_about_place: |_| true,
        expected: |_| {
            let below = (0..10).map(|index| format!("titles.md::heading:h2[{index}]"));
            std::iter::once("titles.md::heading:h1[0]".to_owned()).chain(below).collect()
        },
    },
    Lines {
        command: &["context", "titles.md::*", "hits.md::heading:h1[0]", "b.md::root"],
        is_about_place: |line| line.ends_with(" words)"),
        expected: |answer| texts(answer, "items/*/selector"),
    },
    Lines {
        command: &["code", "--limit", "0"],
        is_about_place: |line| line.contains("/block:code["),
        expected: |answer| texts(answer, "code/*/selector"),
    },
    Lines {
        command: &["tables", "--limit", "0"],
        is_about_place: |line| !line.starts_with(' '),
        expected: |answer| {
            let rows = texts(answer, "rows/*/selector");
            rows.iter().map(|row| row.rsplit_once('/').unwrap().0.to_owned()).collect()
        },
    },
    Lines {
        command: &["tasks", "--limit", "0"],
        is_about_place: |line| !line.starts_with(' '),
        expected: |answer| places(&answer["tasks"], "line"),
    },
    Lines {
        command: &["links", "list", "hits.md", "--direction", "both"],
        is_about_place: |_| true,
        expected: |answer| {
            let edges = answer["edges"].as_array().unwrap().iter();
            let place = |edge: &Value| {
                let from = edge["from"].as_str().unwrap().split("::").next().unwrap();
                format!("{}:{}", path_before_line(&namespace::decode(from)), edge["line"])
            };
            edges.map(place).collect()
        },
    },
    Lines {
        command: &["links", "tree", "hits.md"],
        is_about_place: |line| !line.trim().starts_with("- "),
        expected: |answer| texts(answer, "nodes/*/selector"),
    },
    Lines {
        command: &["links", "tree", "hits.md"],
        is_about_place: |line| line.trim().starts_with("- "),
        expected: |answer| texts(answer, "edges/*/from"),
    },
    Lines {
        command: &["neighbors", "titles.md::heading:h2[1]"],
        is_about_place: |line| line.starts_with("prev ") || line.starts_with("next "),
        expected: |answer| {
            [texts(answer, "prev/selector"), texts(answer, "next/selector")].concat()
        },
    },
    Lines {
        command: &["prime"],
        is_about_place: |line| line.ends_with("::*"),
        expected: |answer| texts(answer, "most_linked/*/selector"),
    },
    Lines {
        command: &["read", "titles.md::Nedle"],
        is_about_place: |line| line.starts_with("- "),
        expected: |answer| texts(answer, "unresolved_selectors/*/suggestions/*"),
    },
    Lines {
        command: &["read", "titles.md::Twice"],
        is_about_place: |line| line.starts_with("- "),
        expected: |answer| texts(answer, "unresolved_selectors/*/candidates/*/selector"),
    },
];

/// Documents whose paths, titles and text look like the lines of answers.
fn hostile() -> Place {
    let titles = "# Titles\n\nneedle\n\n## b.md::*\n\nneedle\n\n## hits.md:3: needle\n\nneedle\n\n\
        ## ::heading:h1[0]\n\nneedle\n\n## A > B  C\n\nneedle\n\n## x (lines 3-4, 5 words)\n\nneedle\n\n\
        ## Needle (3-4, 5B)\n\n## Twice\n\n## Twice\n\n## more: b.md::root\n\n- [ ] needle\n\n\
        ## a -> b.md::* c\n\n| a |\n| - |\n| needle |\n\n```sh\nneedle  b.md::*\n```\n";
    let hits = "# Hits\n\n[t](titles.md#bmd) [b](<two words.md>)\n\nneedle  b.md::*\n\nneedle:3: b.md:1\n\n\
        needle\nb.md::*  c\n\n    needle  ::heading:h1[0]\n";
    let text = "intro [h](hits.md)\n\n# Title\n\n## sub\n\nneedle\n\n```sh\nneedle\n```\n\n- [ ] needle\n\n\
        | a |\n| - |\n| needle |\n";
    let paths = [
        "b.md",
        "sub/b.md",
        "pct%41.md",
        "co::lon.md",
        "tab\t.md",
        "two  blanks.md",
        "two words.md",
        "a -> c.md",
        "- list.md",
        "h2[1].md",
        "100%.md",
        "b.md:3:1:t.md",
    ];
    let mut files = vec![("titles.md", titles), ("hits.md", hits)];
    files.extend(paths.map(|path| (path, text)));
    Place::ingested(&files)
}

#[test]
fn every_line_about_a_place_names_it() {
    let place = hostile();
    let reader = store(&place.join(".mdsel.db")).reader(Purpose::Search).unwrap();
    let session = Session::new(&*reader);
    let window = NodeRange { skip: 0, take: 20 };
    let named = |address: &str| {
        let key = |node: &ResolvedNode| (node.address(), node.part_span());
        let found = resolve(&session, address, window).unwrap();
        (found.places.iter().map(key).collect::<Vec<_>>(), found.fault)
    };
    for Lines { command, is_about_place, expected } in ANSWERS {
        let run = |format| place.run(&[command, &["-f", format][..]].concat());
        let (text, json) = (run("text").text(), run("json").json());
        let lines: Vec<&str> = text.lines().filter(|line| is_about_place(line)).collect();
        let expected = expected(&json);
        assert!(!expected.is_empty(), "{command:?}");
        let is_every = lines.len() == expected.len();
        assert!(is_every, "{command:?}: {lines:#?} {expected:#?}");
        for (line, address) in lines.iter().zip(&expected) {
            let (meant, fault) = named(address);
            assert!(fault.is_none(), "{address}: {fault:?}");
            match named(line) {
                (found, None) => assert_eq!(found, meant, "{command:?}: {line}"),
                (_, Some(fault)) => {
                    assert_eq!(fault.code, FaultCode::Ambiguous, "{line}: {fault}");
                    let has =
                        |(address, _)| fault.candidates.iter().any(|it| it.selector == address);
                    assert!(meant.into_iter().all(has), "{line}: {fault:?}");
                }
            }
        }
    }
}

#[test]
fn the_address_in_a_printed_line_comes_before_its_titles() {
    let place = Place::ingested(&[
        ("setup.md", "# Setup guide\n\nold\n"),
        ("new-setup.md", "# Setup\n\nsee [c](c.md)\n"),
        ("c.md", "# C\n\n[s](new-setup.md)\n"),
        ("x/o.md", "# Overview\n\n[y](../y/o.md)\n"),
        ("y/o.md", "# Overview\n\n## b.md::*\n\n## std::vector\n"),
        ("b.md", "# B\n"),
    ]);
    let tree = place.run(&["links", "tree", "new-setup.md", "-f", "text"]).success().text();
    let line = tree.lines().next().unwrap();
    assert_eq!(line, "Setup  new-setup.md::*");
    for (line, expected) in [
        (line, "new-setup.md::*"),
        ("  Setup  new-setup.md::*", "new-setup.md::*"),
        ("C  new-setup.md::*", "new-setup.md::*"),
        ("Overview  y/o.md::*", "y/o.md::*"),
        ("y/o.md::heading:h2[1]  std::vector", "y/o.md::heading:h2[1]"),
        ("next           y/o.md::heading:h2[1]  std::vector", "y/o.md::heading:h2[1]"),
    ] {
        let read = place.run(&["select", line]).success().json();
        assert_eq!(selectors(&read["results"]), [expected], "{line}");
        assert_eq!(read["warnings"], json!([]), "{line}");
    }
    for (line, code) in [
        ("C  nosuch.md::*", "NAMESPACE_NOT_FOUND"),
        ("C  new-setup.md::heading:h2[0]", "SELECTOR_NOT_FOUND"),
        ("C  new-setup.md#nothing", "SELECTOR_NOT_FOUND"),
        ("Setup guide  anything at all", "SELECTOR_NOT_FOUND"),
        ("y/o.md::std::vector  anything", "SELECTOR_NOT_FOUND"),
        ("setup::Setup guide  Setup guide", "SELECTOR_NOT_FOUND"),
        ("setup.md  Setup guide", "SELECTOR_NOT_FOUND"),
        ("Setup guide  Setup guide", "SELECTOR_NOT_FOUND"),
        ("setup.md::heading:h1[0] Setup guide", "INVALID_SYNTAX"),
        ("Setup guide (2024)", "SELECTOR_NOT_FOUND"),
        ("y/o.md::heading:h2[0]  b.md::*", "AMBIGUOUS"),
    ] {
        let fault = place.run(&["select", line]).ends(1).json();
        assert_eq!(fault["unresolved_selectors"][0]["code"], code, "{line}");
    }
}

#[test]
fn a_place_before_text_names_its_document_in_any_way_and_comes_first() {
    let place = Place::ingested(&[
        ("docs/guide.md", "# G\n\n## S\n\nneedle here\n"),
        (
            "a.md",
            "# A\n\nx\n\n    b.md:1\n    b.md#nope\n\ncode  b.md::*  more\n\n    x  ::heading:h1[0]\n",
        ),
        ("b.md", "# B\n"),
        ("c.md", "# C\n\n## ::delete\n\nx\n\n## delete\n"),
    ]);
    for (line, expected) in [
        ("./docs/guide.md:5:needle here", "docs/guide.md::heading:h2[0]"),
        ("guide.md:5:needle here", "docs/guide.md::heading:h2[0]"),
        ("guide:5:needle here", "docs/guide.md::heading:h2[0]"),
        ("guide.md:5:    b.md:1", "docs/guide.md::heading:h2[0]"),
        ("guide.md:5  S", "docs/guide.md::heading:h2[0]"),
        ("G  guide::heading:h2[0]", "docs/guide.md::heading:h2[0]"),
        ("c.md:3-5  ::delete", "c.md::heading:h2[0]"),
    ] {
        let read = place.run(&["select", line]).success().json();
        assert_eq!(read["results"][0]["selector"], expected, "{line}");
    }
    // A line that is gone is not the address in the text that it had.
    let fault = place.run(&["select", "a.md:400:5:    b.md:1"]).ends(1).json();
    let message = fault["unresolved_selectors"][0]["message"].as_str().unwrap();
    assert!(message.contains("a.md"), "{fault}");
    // It may be the title before the address.
    let fault = place.run(&["select", "guide:5: a title  b.md::*"]).ends(1).json();
    let candidates = &fault["unresolved_selectors"][0]["candidates"];
    assert_eq!(selectors(candidates), ["b.md::*", "docs/guide.md::heading:h2[0]"]);
    // The lines of a list are about the document before them.
    let fault = place.run(&["select", "  ::heading:h2[0]    S  2 words"]).ends(1).json();
    let fault = &fault["unresolved_selectors"][0];
    assert_eq!(fault["code"], "NAMESPACE_REQUIRED", "{fault}");
    assert!(fault["message"].as_str().unwrap().contains("`DOC::heading:h2[0]`"), "{fault}");
    for line in ["  ::heading:h2[0]    S  2 words", "  ## S (3-5, 18B)"] {
        assert_eq!(place.run(&["read", "guide.md", line]).success().json()["title"], "S", "{line}");
    }
}

#[test]
fn a_path_is_printed_as_it_is_if_it_is_read_so() {
    let place = hostile();
    let search = place.run(&["search", "-F", "# Title", "-f", "text"]).success().text();
    assert!(search.contains("two words.md:3:1:"), "editors open it: {search}");
    for address in ["co::lon.md::sub", "co::lon.md::heading:h2[0]", "co:%3Alon.md::sub"] {
        let read = place.run(&["select", address]).success().json();
        assert_eq!(read["results"][0]["file"], "co::lon.md", "{address}");
    }
    place.run(&["replace", "co::lon.md::sub", "--content", "x", "--allow-drop"]).success();
}
