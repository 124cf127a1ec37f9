//! The graph between documents: `links`, and what a later ingest makes of it.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::Path;

use mdsel::query::Library;
use mdsel::query::links::graph::Graph;
use mdsel::query::links::{Edge, EdgeFilter};
use mdsel::query::place::Place as Node;
use mdsel::query::resolve::resolve_one;
use mdsel::store::Snapshot;
use serde_json::{Value, json};

use crate::harness::{Place, copy, fixtures, selectors};

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
fn links_run_from_section_to_section_and_never_from_code() {
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
fn broken_links_on_one_line_are_all_told() {
    let place = Place::ingested(&[("a.md", "[a](x.md) [b](y.md) [c](../z.md) [a](x.md)\n")]);
    let out = place.run(&["links", "list", "a.md"]).success().json();
    let targets: Vec<&str> =
        out["edges"].as_array().unwrap().iter().map(|e| e["target"].as_str().unwrap()).collect();
    assert_eq!(targets, ["../z.md", "x.md", "y.md"]);
    let check = place.run(&["links", "check"]).ends(1).json();
    assert_eq!(check["findings"].as_array().unwrap().len(), 3);
}

#[test]
fn check_tells_each_broken_link_once_and_what_was_meant() {
    let place = place();
    let check = place.run(&["links", "check"]).ends(1).json();
    let told: Vec<String> = check["findings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|f| {
            format!("{}:{} {}", f["file"].as_str().unwrap(), f["line"], f["code"].as_str().unwrap())
        })
        .collect();
    assert_eq!(told, ["a.md:19 BROKEN_FILE", "deep/Note.md:5 BROKEN_ANCHOR"]);
    place.run(&["links", "check", "sub", "c.markdown"]).success();
    assert_eq!(place.run(&["links", "check", "none"]).ends(2).code(), "NAMESPACE_NOT_FOUND");
    // What comes later is found, and what goes is missed, without the source being read again.
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

/// Hops to each document that can be reached.
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
fn tree_and_path_agree_with_a_plain_breadth_first_search() {
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
                for to in 0..16 {
                    let to_file = format!("n{to}.md");
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
                    match expected.get(&to) {
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
        assert_eq!(cut["truncated"], false, "hops cut nothing off that was asked for");
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
    let snapshot = Snapshot::open(&place.join(".mdsel.db")).unwrap();
    let library = Library::new(&snapshot);
    let graph = Graph::new(&library, EdgeFilter::default());
    let mut expected: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut whole = Vec::new();
    for stored in snapshot.documents(None, usize::MAX).unwrap() {
        let address = format!("{}::*", library.open(&stored).unwrap().namespace);
        let (document, _) = resolve_one(&library, &address).unwrap().unwrap();
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

/// Links of real documents, and where a reader of their own sites is led.
const CHECKED: &str = include_str!("../fixtures/links.tsv");

#[test]
fn links_of_real_documents_lead_where_their_sites_lead() {
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
    let snapshot = Snapshot::open(&place.join(".mdsel.db")).unwrap();
    let library = Library::new(&snapshot);
    let graph = Graph::new(&library, EdgeFilter::default());
    for row in CHECKED.lines() {
        let fields: Vec<&str> = row.split('\t').collect();
        let [source, line, target, expected, heading] = fields[..] else { panic!("{row}") };
        if !parts.iter().any(|part| source.starts_with(part)) {
            continue;
        }
        let stored = snapshot.document_at(source).unwrap().unwrap_or_else(|| panic!("{row}"));
        let namespace = library.open(&stored).unwrap().namespace.clone();
        let (document, _) = resolve_one(&library, &format!("{namespace}::*")).unwrap().unwrap();
        let edges = graph.out_of(&document).unwrap();
        let mut edges = edges.iter();
        if expected == "ATTACHMENT" {
            // Whether there is such a file is not for the store to say.
            assert!(!edges.any(|edge| edge.link.target == target), "{row}");
            continue;
        }
        let edge = edges
            .find(|edge| edge.link.line.to_string() == line && edge.link.target == target)
            .unwrap_or_else(|| panic!("no such link: {row}"));
        let told = match edge.target() {
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
        assert_eq!(told, (expected.to_owned(), heading.to_owned()), "{row}");
    }
}

#[test]
fn both_ends_of_every_edge_are_nodes() {
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
fn a_path_that_is_not_there_says_how_far_it_came() {
    let place = Place::ingested(&[
        ("a.md", "# A\n\n[b](b.md)\n"),
        ("b.md", "# B\n"),
        ("c.md", "# C\n\n[d](d.md)\n"),
        ("d.md", "# D\n"),
    ]);
    let command = ["links", "path", "a.md", "d.md", "--direction", "out"];
    let none = &place.run(&command).ends(1).json()["no_path"];
    assert_eq!((&none["hops"], &none["places"]), (&10.into(), &1.into()));
    assert_eq!(none["farthest"][0], "b.md::*");
    assert_eq!(none["reached_from"][0], "c.md::*");
    let text = place.run(&[&command[..], &["-f", "text"]].concat()).ends(1).text();
    assert!(
        text.starts_with("No path from a.md::* to d.md::*: 10 hops tried, 1 places reached.\n"),
        "{text}"
    );
}

#[test]
fn a_type_of_link_that_is_not_there_is_said() {
    let place = Place::with_fixtures();
    let warned =
        place.run(&["links", "list", "links.md", "--link-type", "nosuch"]).success().json();
    assert_eq!(warned["warnings"][0]["code"], "NO_SUCH_LINK_TYPE");
    let refused = place.run(&["links", "tree", "links.md", "--type", "nosuch"]).ends(2);
    assert!(refused.stderr.contains("--link-type nosuch"), "{}", refused.stderr);
}
