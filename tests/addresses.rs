//! Every form of address, alone and mixed with others, and addresses with two readings.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::corpus;
use crate::harness::{Place, selectors};

fn resolved(place: &Place, address: &str) -> Value {
    let json = place.run(&["select", address]).success().json();
    let results = json["results"].as_array().unwrap();
    assert_eq!(results.len(), 1, "{address}");
    results[0].clone()
}

fn selector(place: &Place, address: &str) -> String {
    resolved(place, address)["selector"].as_str().unwrap().to_owned()
}

#[test]
fn all_forms_name_the_same_section_and_mix_in_one_call() {
    let place = Place::with_fixtures();
    let forms = [
        "guide.md::heading:h3[0]",
        "guide.md::section[0]/section[0]/section[0]",
        "guide.md::h3.0",
        "guide.md::guide/install/from-source",
        "guide.md::Guide/Install/From source",
        "guide.md::install/from-source",
        "guide.md::From source",
        "guide.md::rom sour",
        "guide.md::#0/#0/#0",
        "guide.md::@21",
        "guide.md::#from-source",
        "guide.md::#a:from-source",
        "guide.md#from-source",
        "guide.md:21",
        "guide.md:21:5",
    ];
    let expected = resolved(&place, forms[0]);
    for form in forms {
        assert_eq!(resolved(&place, form), expected, "{form}");
    }
    let all = place.run(&[&["select"][..], &forms[..]].concat()).success().json();
    assert_eq!(selectors(&all["results"]), ["guide.md::heading:h3[0]"; 15]);
}

#[test]
fn lines_parts_and_ranges_select_their_text() {
    let place = Place::with_fixtures();
    let content = |address: &str| resolved(&place, address)["content"].as_str().unwrap().to_owned();
    assert_eq!(resolved(&place, "guide.md::@23")["resolved"], "containing");
    assert_eq!(selector(&place, "guide.md::@23"), "guide.md::heading:h3[0]");
    assert_eq!(selector(&place, "guide.md::@2"), "guide.md::@frontmatter");
    assert_eq!(selector(&place, "guide.md::@5"), "guide.md::root");
    assert_eq!(place.run(&["select", "guide.md::@9999"]).ends(1).code(), "INDEX_OUT_OF_RANGE");
    assert_eq!(place.run(&["select", "guide.md::@0"]).ends(1).code(), "INDEX_OUT_OF_RANGE");
    let message = |address: &str| {
        let answer = place.run(&["select", address]).ends(1);
        assert_eq!(answer.code(), "INDEX_OUT_OF_RANGE", "{address}");
        answer.json()["unresolved_selectors"][0]["message"].as_str().unwrap().to_owned()
    };
    assert_eq!(message("guide.md:0"), "the first line is 1");
    assert_eq!(message("guide.md:9-3"), "the range of lines 9-3 ends before it begins");
    assert!(message("guide.md:900-903").starts_with("guide.md has "));
    let past_end = place.run(&["select", "guide.md:20-999"]).success().json();
    assert_eq!(past_end["warnings"][0]["code"], "RANGE_PAST_END", "{past_end}");
    // Every line of a setext heading belongs to the heading.
    for line in ["@1", "@2", "@3"] {
        let found = resolved(&place, &format!("headings.md::{line}"));
        assert_eq!(
            (found["selector"].as_str(), found.get("resolved")),
            (Some("headings.md::heading:h1[0]"), None)
        );
    }
    assert_eq!(content("guide.md::Install?part=heading"), "## Install\n");
    assert!(content("guide.md::Install?part=own").ends_with("Or from source.\n\n"));
    assert_eq!(content("guide.md::Install?head=1"), "## Install\n");
    assert_eq!(content("guide.md::FAQ & Notes?tail=1"), "Nothing yet.\n");
    assert_eq!(content("guide.md:11-13"), "## Install\n\nInstall it with cargo:\n");
    assert_eq!(resolved(&place, "guide.md:11-13")["line_end"], 13);
    assert_eq!(content("guide.md::*?head=2"), "---\ntitle: A guide\n");
    assert_eq!(
        place.run(&["select", "guide.md::root?part=heading"]).ends(1).code(),
        "SELECTOR_NOT_FOUND"
    );
}

#[test]
fn titles_that_look_like_other_syntax_are_found() {
    let place = Place::with_fixtures();
    let title = |locator: &str| {
        resolved(&place, &format!("titles-with-syntax.md::{locator}"))["title"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    assert_eq!(title("code"), "code", "a type without an index is not a selector");
    assert_eq!(title("What is it?"), "What is it?");
    assert_eq!(title("What is it??part=heading"), "What is it?");
    assert_eq!(title("std::vector"), "std::vector");
    assert_eq!(title("@babel/core"), "@babel/core");
    assert_eq!(title("a/b"), "a/b");
    assert_eq!(title("/section"), "section");
    assert_eq!(title("/h2.1"), "h2.1");
    assert_eq!(title("#a:2024"), "#2024");
    // Nothing to the left of `::` names a document here, so the whole text is a title.
    assert_eq!(resolved(&place, "std::vector")["title"], "std::vector");
    let shadowed = place.run(&["select", "titles-with-syntax.md::h2.1"]).success().json();
    assert_eq!(shadowed["warnings"][0]["code"], "SHADOWED_TITLE");
    assert_eq!(shadowed["results"][0]["title"], "section");
}

#[test]
fn a_selector_without_a_meaning_names_the_section_of_its_path() {
    let place = Place::ingested(&[("a.md", "# Section\n\n## Long Title\n\ntext\n")]);
    let fault = place.run(&["select", "a.md::section/long-title"]).ends(1).json();
    assert_eq!(fault["unresolved_selectors"][0]["code"], "INVALID_SYNTAX");
    assert_eq!(fault["warnings"][0]["code"], "SHADOWED_TITLE", "{fault}");
    assert_eq!(resolved(&place, "a.md::/section/long-title")["title"], "Long Title");
    let fault = place.run(&["select", "section/long-title"]).ends(1).json();
    assert_eq!(fault["warnings"][0]["code"], "SHADOWED_TITLE", "{fault}");
    assert_eq!(resolved(&place, "/section/long-title")["title"], "Long Title");
}

#[test]
fn a_slash_forces_a_section_path() {
    let text = "# @48\n\n## x[0]\n\n## #foo\n\n## *\n\n## ldmd:id\n\n## block:code[0]\n";
    let place = Place::ingested(&[("a.md", text), ("b.md", "# B\n")]);
    let titles = ["@48", "x[0]", "#foo", "*", "ldmd:id", "block:code[0]"];
    for title in titles {
        assert_eq!(resolved(&place, &format!("a.md::/{title}"))["title"], title);
    }
}

#[test]
fn digits_can_be_an_index_or_an_anchor() {
    let place = Place::ingested(&[("a.md", "# One\n# 0\n# Three\n# 2024\n")]);
    let fault = place.run(&["select", "a::#0"]).ends(1).json();
    assert_eq!(fault["unresolved_selectors"][0]["code"], "AMBIGUOUS");
    assert_eq!(
        fault["unresolved_selectors"][0]["candidates"],
        json!([
            { "selector": "a.md::heading:h1[0]", "file": "a.md", "path": "one", "title": "One",
                "line": 1 },
            { "selector": "a.md::heading:h1[1]", "file": "a.md", "path": "0", "title": "0",
                "line": 2 },
        ])
    );
    assert_eq!(fault["unresolved_selectors"][0]["total"], 2);
    assert_eq!(selector(&place, "a::#2024"), "a.md::heading:h1[3]");
    assert_eq!(selector(&place, "a::#2"), "a.md::heading:h1[2]");
    assert_eq!(
        selector(&place, "a.md#0"),
        "a.md::heading:h1[1]",
        "after a path it is always an anchor"
    );
}

#[test]
fn files_whose_names_look_like_addresses_are_found() {
    let place = Place::ingested(&[
        ("a.md:48", "# Not Markdown by name\n"),
        ("a.md", "# A\n"),
        ("C#.md", "# C sharp\n\n## Intro\n"),
        ("README.md", "# Top\n"),
        ("docs/README.md", "# Docs\n"),
        ("a::b.md", "# Colons\n"),
        ("what?.md", "# What\n"),
    ]);
    place.run(&["ingest", "--ext", "md,md:48"]).success();
    assert_eq!(selector(&place, "a.md:48"), "a.md:48::*");
    assert_eq!(selector(&place, "C#.md"), "C#.md::*");
    assert_eq!(selector(&place, "C#.md#intro"), "C#.md::heading:h2[0]");
    assert_eq!(selector(&place, "README.md"), "README.md::*");
    assert_eq!(selector(&place, "docs/README.md"), "docs/README.md::*");
    assert_eq!(selector(&place, "a:%3Ab.md::*"), "a:%3Ab.md::*");
    assert_eq!(selector(&place, "a:%3Ab.md::section[0]"), "a:%3Ab.md::heading:h1[0]");
    assert_eq!(selector(&place, "what?.md"), "what?.md::*");
    assert_eq!(selector(&place, "what?.md::*?head=1"), "what?.md::*");
}

#[test]
fn an_address_that_is_not_unique_is_ambiguous_and_its_candidates_resolve() {
    let place = Place::with_fixtures();
    for address in ["duplicate-titles.md::Notes", "duplicate-titles.md::Linux", "Setup"] {
        let json = place.run(&["select", address]).ends(1).json();
        let fault = &json["unresolved_selectors"][0];
        assert_eq!(fault["code"], "AMBIGUOUS", "{address}");
        let candidates = selectors(&fault["candidates"]);
        assert!(candidates.len() > 1);
        for candidate in candidates {
            place.run(&["select", candidate]).success();
        }
    }
}

#[test]
fn addresses_without_a_document_are_resolved() {
    let place = Place::with_fixtures();
    for address in ["*", "@5", "#0", "@frontmatter"] {
        assert_eq!(
            place.run(&["select", address]).ends(1).code(),
            "NAMESPACE_REQUIRED",
            "{address}"
        );
    }
    assert_eq!(selector(&place, "FAQ & Notes"), "guide.md::heading:h2[2]");
    assert_eq!(selector(&place, "#faq--notes"), "guide.md::heading:h2[2]");
    let single = Place::ingested(&[("a.md", "---\nx: 1\n---\n# A\n\n## B\n")]);
    assert_eq!(selector(&single, "*"), "a.md::*");
    assert_eq!(selector(&single, "@4"), "a.md::heading:h1[0]");
    assert_eq!(selector(&single, "#0/#0"), "a.md::heading:h2[0]");
    assert_eq!(selector(&single, "@frontmatter"), "a.md::@frontmatter");
}

#[test]
fn an_id_in_the_attributes_of_a_heading_is_its_anchor() {
    let place = Place::ingested(&[
        (
            "a.md",
            "# Removing {#remove}\n\none\n\n## Adding {#add .new}\n\ntwo\n\n# C {#c-c}\n\n## {#}\n",
        ),
        ("b.md", "# B\n\n[a](a.md#remove) [b](a.md#add) [c](a.md#removing) [d](c.mdx#my-id)\n"),
        ("c.mdx", "# Title {/* #my-id */}\n"),
    ]);
    place.run(&["select", "c.mdx#my-id"]).success();
    assert!(place.run(&["select", "a.md#remove", "-f", "text"]).success().text().contains("one"));
    let added = place.run(&["select", "a.md#add", "-f", "text"]).success().text();
    assert!(added.contains("two") && !added.contains("one"), "{added}");
    place.run(&["select", "a.md#c-c", "-f", "text"]).success();
    let broken = place.run(&["links", "check", "-f", "text"]).ends(1).text();
    assert!(broken.contains("a.md#removing") && !broken.contains("a.md#remove\""), "{broken}");
}

#[test]
fn an_anchor_that_a_link_may_name_is_an_address() {
    let text = "# T\n\n## Usage <a name=\"use\"></a>\n\nused\n\n<h2 id=\"opts\">Options</h2>\n\ntext ^blk\n\n\
        - item ^in-list\n\n| a |\n|---|\n| 1 |\n\n^table\n\n<h3>Our Sponsors</h3>\n\n(label)=\n## Labeled\n\nlast\n";
    let links = "[](a.md#use) [](a.md#opts) [](a.md#^blk) [](a.md#our-sponsors) [](a.md#label)\n";
    let place = Place::ingested(&[("a.md", text), ("b.md", links)]);
    place.run(&["links", "check"]).success();
    for (anchor, first) in [
        ("use", "## Usage"),
        ("opts", "## Usage"),
        ("our-sponsors", "## Usage"),
        ("label", "## Labeled"),
        ("^blk", "text ^blk"),
        ("^in-list", "- item"),
        ("^table", "| a |"),
    ] {
        let address = format!("a.md#{anchor}");
        let read = place.run(&["read", &address, "-f", "raw"]).success().text();
        assert!(read.starts_with(first), "{anchor}: {read}");
        let within = place.run(&["read", "a.md", &format!("#{anchor}"), "-f", "raw"]).success();
        assert_eq!(within.text(), read, "{anchor}");
        place.run(&["neighbors", &address]).success();
    }
    place.run(&["read", "a.md#none"]).ends(1);
    place.run(&["replace", "a.md#label", "--old", "last", "--content", "new"]).success();
    assert!(std::fs::read_to_string(place.join("a.md")).unwrap().ends_with("\n\nnew\n"));
}

#[test]
fn a_title_is_found_with_and_without_the_attributes_of_its_heading() {
    let place = Place::ingested(&[("a.md", "# Removing {#remove}\n\n## Adding {: #add .new }\n")]);
    for address in ["Adding", "Removing/Adding", "Adding {: #add .new }"] {
        assert_eq!(selector(&place, &format!("a.md::{address}")), "a.md::heading:h2[0]");
    }
    // An edit accepts no part of a title.
    place.run(&["rename", "a.md", "Add", "--title", "Putting"]).ends(1);
    place.run(&["rename", "a.md", "Adding", "--title", "Putting"]).success();
    let text = std::fs::read_to_string(place.join("a.md")).unwrap();
    assert_eq!(text, "# Removing {#remove}\n\n## Putting {: #add .new }\n");
}

#[test]
fn anchors_of_headings_in_containers_resolve_to_the_container() {
    let place = Place::ingested(&[("a.md", "# Foo\n\n> # Foo\n\n## Foo\n")]);
    assert_eq!(selector(&place, "a.md#foo"), "a.md::heading:h1[0]");
    let contained = resolved(&place, "a.md#foo-1");
    assert_eq!(
        (contained["selector"].as_str(), contained["resolved"].as_str()),
        (Some("a.md::heading:h1[0]"), Some("containing"))
    );
    assert_eq!(selector(&place, "a.md#foo-2"), "a.md::heading:h2[0]");
}

/// Collects the addresses in an answer.
fn collect(value: &Value, addresses: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                match value {
                    Value::String(text) if name == "selector" && !text.is_empty() => {
                        addresses.push(text.clone());
                    }
                    Value::String(text) if name == "next" && text.contains("::") => {
                        addresses.push(text.clone());
                    }
                    value => collect(value, addresses),
                }
            }
        }
        Value::Array(values) => values.iter().for_each(|value| collect(value, addresses)),
        _ => {}
    }
}

#[test]
fn every_printed_address_is_accepted_again() {
    let place = Place::with_fixtures();
    let mut addresses = Vec::new();
    for arguments in [
        &["index", "--blocks", "--limit", "0"][..],
        &["toc", "--limit", "0"],
        &["select", "block:list", "section", "--limit", "0"],
        &["select", "long-words.md", "--max-words", "7"],
        &["find", "*", "--limit", "0"],
        &["neighbors", "guide.md::heading:h2[1]"],
        &["neighbors", "containers.md::block:list[0]/item[1]"],
        &["read", "guide.md", "Use"],
    ] {
        collect(&place.run(arguments).success().json(), &mut addresses);
    }
    addresses.sort();
    addresses.dedup();
    assert!(addresses.len() > 200);
    let input = addresses.join("\n");
    let json = place.run_in("", &["select", "-", "--limit", "0"], &input).success().json();
    assert_eq!(json["results"].as_array().unwrap().len(), addresses.len());
}

/// Selects every section of a sample by each of its forms, in one call per document.
#[test]
fn sections_of_a_sample_resolve_by_every_form() {
    let place = Place::new();
    for (number, path) in corpus::sample(300).into_iter().enumerate() {
        place.write(&format!("{number}.md"), std::fs::read(path).unwrap());
    }
    place.run(&["ingest"]).success();
    let toc = place.run(&["toc", "--limit", "0"]).success().json();
    let mut sections = 0;
    for file in toc["files"].as_array().unwrap() {
        let name = file["file"].as_str().unwrap();
        let mut flat = Vec::new();
        flatten(&file["sections"], "", &mut flat);
        let is_unique = |title: &str| {
            let same =
                |other: &(Value, String)| fold(other.0["title"].as_str().unwrap()) == fold(title);
            flat.iter().filter(|other| same(other)).count() == 1
        };
        let mut addresses = Vec::new();
        let mut expected = Vec::new();
        assert_ambiguous_titles(&place, name, &flat);
        // Large documents repeat what small ones show.
        for (section, index) in flat.iter().take(200) {
            let selector = section["selector"].as_str().unwrap();
            let mut forms = vec![
                format!("{name}::{index}"),
                format!("{name}::@{}", section["line_start"]),
                format!("{name}:{}", section["line_start"]),
                selector.to_owned(),
            ];
            if let Some(path) = section["path"].as_str() {
                forms.push(format!("{name}::/{path}"));
            }
            if let Some(anchor) = section["anchor"].as_str() {
                forms.push(format!("{name}#{anchor}"));
                forms.push(format!("{name}::#a:{anchor}"));
            }
            let title = section["title"].as_str().unwrap();
            // A title that is another section's slug path means that section.
            let is_slug = flat.iter().any(|(other, _)| {
                other["selector"] != section["selector"]
                    && other["path"].as_str().is_some_and(|path| path.ends_with(&fold(title)))
            });
            if is_unique(title)
                && !title.is_empty()
                && !title.contains(['/', '\n', '?'])
                && !is_slug
            {
                forms.push(format!("{name}::/{title}"));
            }
            // `#12` may be an index and an anchor. It is then ambiguous, which another test covers.
            expected.extend(std::iter::repeat_n(selector.to_owned(), forms.len()));
            addresses.extend(forms);
            sections += 1;
        }
        if addresses.is_empty() {
            continue;
        }
        let input = addresses.join("\n");
        let json = place.run_in("", &["select", "-", "--max-words", "1"], &input).json();
        let unresolved: Vec<&Value> = json["unresolved_selectors"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|fault| {
                !fault["message"].as_str().unwrap().contains("is the index of one section")
            })
            .collect();
        assert!(unresolved.is_empty(), "{name}: {unresolved:?}");
        let mut results = json["results"].as_array().unwrap().iter();
        let ambiguous: Vec<&str> = json["unresolved_selectors"]
            .as_array()
            .unwrap()
            .iter()
            .map(|fault| fault["selector"].as_str().unwrap())
            .collect();
        for (address, expected) in addresses.iter().zip(&expected) {
            if !ambiguous.contains(&address.as_str()) {
                assert_eq!(
                    results.next().unwrap()["selector"].as_str().unwrap(),
                    expected,
                    "{address}"
                );
            }
        }
    }
    assert!(sections > 50);
}

/// Asserts that a title of several sections is ambiguous among all of them, unless it is written as
/// the slug path of one of them.
fn assert_ambiguous_titles(place: &Place, name: &str, flat: &[(Value, String)]) {
    let mut by_title: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (section, _) in flat {
        let selector = section["selector"].as_str().unwrap().to_owned();
        by_title.entry(fold(section["title"].as_str().unwrap())).or_default().push(selector);
    }
    let title_of = |(section, _): &(Value, String)| section["title"].as_str().unwrap().to_owned();
    let mut titles: Vec<String> = flat.iter().map(title_of).collect();
    titles.sort();
    titles.dedup();
    let is_repeated = |title: &String| by_title[&fold(title)].len() > 1;
    let is_plain = |title: &String| !title.is_empty() && !title.contains(['\n', '?', '/']);
    let is_path =
        |title: &String| flat.iter().any(|(section, _)| section["path"].as_str() == Some(title));
    let titles: Vec<String> = titles
        .into_iter()
        .filter(|title| is_repeated(title) && is_plain(title) && !is_path(title))
        .take(50)
        .collect();
    if titles.is_empty() {
        return;
    }
    let input = titles.iter().map(|title| format!("{name}::/{title}\n")).collect::<String>();
    let json = place.run_in("", &["select", "-"], &input).ends(1).json();
    let unresolved = json["unresolved_selectors"].as_array().unwrap();
    assert_eq!(unresolved.len(), titles.len());
    for (fault, title) in unresolved.iter().zip(&titles) {
        let all = &by_title[&fold(title)];
        assert_eq!(fault["code"], "AMBIGUOUS", "{name}::/{title}");
        let candidates = selectors(&fault["candidates"]);
        assert_eq!(fault["total"], all.len());
        assert_eq!(candidates, all[..all.len().min(10)]);
        assert!(fault["message"].as_str().unwrap().starts_with(&all.len().to_string()));
    }
}

fn fold(text: &str) -> String {
    text.to_lowercase().replace('\u{fe0f}', "")
}

/// Sections with their index paths, in document order.
fn flatten(sections: &Value, above: &str, flat: &mut Vec<(Value, String)>) {
    for (index, section) in sections.as_array().unwrap().iter().enumerate() {
        let path = if above.is_empty() { format!("#{index}") } else { format!("{above}/#{index}") };
        flat.push((section.clone(), path.clone()));
        flatten(&section["children"], &path, flat);
    }
}

#[test]
fn titles_with_the_same_slug_are_distinguished_by_their_text() {
    let place = Place::ingested(&[
        ("o.md", "# Opts\n\n## /std:c++17\n\nA\n\n## /std:c17\n\nB\n"),
        ("k.md", "# k class\n\n## ~loc\n\n## loc\n"),
        ("a.md", "# C#\n"),
        ("b.md", "# Languages\n\n## C++\n"),
    ]);
    assert_eq!(resolved(&place, "o.md::/std:c17")["title"], "/std:c17");
    assert_eq!(resolved(&place, "o.md::/std:c++17")["title"], "/std:c++17");
    assert_eq!(resolved(&place, "k.md::loc")["title"], "loc");
    assert_eq!(resolved(&place, "k.md::k-class/loc")["title"], "~loc");
    assert_eq!(resolved(&place, "C++")["title"], "C++");
    assert_eq!(resolved(&place, "C#")["title"], "C#");
}

#[test]
fn an_exact_anchor_wins_over_an_equivalent_one() {
    let text = "# caf\u{e9}\n\n# cafe\u{301}\n\n# \u{2699}\u{fe0f} X\n\n# \u{2699} X\n";
    let place = Place::ingested(&[("nf.md", text)]);
    for (anchor, section) in [("caf\u{e9}", 0), ("cafe\u{301}", 1), ("\u{fe0f}-x", 2), ("-x", 3)] {
        assert_eq!(
            selector(&place, &format!("nf.md#{anchor}")),
            format!("nf.md::heading:h1[{section}]")
        );
    }
    assert_eq!(place.run(&["select", "nf.md#CAF\u{c9}"]).ends(1).code(), "AMBIGUOUS");
}

#[test]
fn folders_and_files_named_like_selectors_are_reachable() {
    let words = (0..600).map(|n| format!("w{n} ")).collect::<String>();
    let place = Place::ingested(&[
        ("section/intro.md", &format!("# S\n\n{words}\n")),
        ("#hash.md", "# H\n\na b c\n"),
    ]);
    let json = place.run(&["select", "intro.md:1-3"]).success().json();
    let next = json["results"][0]["pagination"]["next"].as_str().unwrap();
    let rest = place.run(&["select", next]).success().json();
    assert!(rest["results"][0]["content"].as_str().unwrap().ends_with("w599 \n"));
    assert_eq!(selector(&place, "#hash.md:1"), "#hash.md::heading:h1[0]");
}

#[test]
fn anchors_resolve_alike_with_and_without_a_document() {
    let place =
        Place::ingested(&[("c.md", "# Top\n\n> # Quoted head\n\n# 你好\n"), ("d.md", "# Other\n")]);
    for anchor in ["quoted-head", "%E4%BD%A0%E5%A5%BD", "你好"] {
        assert_eq!(
            resolved(&place, &format!("#{anchor}")),
            resolved(&place, &format!("c.md#{anchor}"))
        );
    }
}

#[test]
fn files_that_are_not_ingested_are_reported_for_every_form() {
    let place = Place::ingested(&[("a.md", "# A\n")]);
    place.write("new.md", "# New\n");
    for arguments in [
        &["select", "new.md"][..],
        &["select", "new::*"],
        &["select", "new.md:1"],
        &["select", "new.md#new"],
        &["toc", "new.md"],
        &["index", "new"],
        &["read", "new.md", "New"],
    ] {
        assert_eq!(place.run(arguments).ends(1).code(), "NOT_IN_STORE", "{arguments:?}");
    }
}

#[test]
fn titles_with_colons_and_parameters_are_found() {
    let place = Place::ingested(&[("s.md", "# S\n\n## item\n\n# std::vec\n\na b c\n")]);
    assert_eq!(resolved(&place, "std::vec?part=heading")["content"], "# std::vec\n");
    let hidden = place.run(&["select", "s.md::item"]).ends(1).json();
    assert_eq!(hidden["warnings"][0]["code"], "SHADOWED_TITLE");
    let place = Place::ingested(&[("s.md", "# H2[0]\n\n## HEADING:h1\n\n## Other\n")]);
    let addresses = ["s.md::heading:h1", "s.md::h2[0]", "s.md::heading:h2[1]"];
    let all = place.run(&[&["select"], &addresses[..]].concat()).success().json();
    let warnings = all["warnings"].as_array().unwrap();
    let shadows = |(text, warning): (&str, &serde_json::Value)| {
        warning["code"] == "SHADOWED_TITLE"
            && warning["message"].as_str().unwrap().starts_with(text)
    };
    assert!(["heading:h1 is", "h2[0] is"].into_iter().zip(warnings).all(shadows), "{all}");
    assert_eq!(warnings.len(), 2, "{all}");
}

#[test]
fn neighbors_page_through_their_children() {
    let text = (0..30).map(|n| format!("\n## c{n}\n")).collect::<String>();
    let place = Place::ingested(&[("n.md", &format!("# N\n{text}"))]);
    let all = place.run(&["neighbors", "n.md::h1[0]"]).success().json()["children"].clone();
    let mut given = Vec::new();
    let mut after = "1-0".to_owned();
    loop {
        let arguments = ["neighbors", "n.md::h1[0]", "--max-chars", "600", "--after", &after];
        let json = place.run(&arguments).success().json();
        given.extend(json["children"].as_array().unwrap().clone());
        let Some(next) = json.get("next_children") else { break };
        next.as_str().unwrap().clone_into(&mut after);
    }
    assert_eq!(Value::Array(given), all);
}

#[test]
fn globs_match_characters() {
    let place = Place::ingested(&[("g.md", "# 한글\n\n## é\n\n## äpfel\n"), ("ä.md", "# x\n")]);
    let titles = |pattern: &str| {
        let json = place.run(&["find", pattern]).json();
        let matches = json["matches"].as_array().unwrap().clone();
        matches.iter().map(|m| m["title"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(titles("??"), ["한글"]);
    assert_eq!(titles("[ä]*"), ["äpfel"]);
    assert_eq!(titles("?pfel"), ["äpfel"]);
    assert_eq!(
        place.run(&["find", "*", "-g", "[ä].md"]).success().json()["matches"][0]["file"],
        "ä.md"
    );
    assert_eq!(place.run(&["find", "[a"]).ends(2).code(), "USAGE");
}

#[test]
fn the_toc_lists_headings_and_nothing_that_only_looks_like_one() {
    let place = Place::with_fixtures();
    let text = place.run(&["toc", "headings.md", "-f", "text"]).success().text();
    let titles: Vec<&str> =
        text.lines().map(|line| line.trim_start().split(" (").next().unwrap()).collect();
    assert_eq!(
        titles,
        [
            "# Setext over two lines",
            "## Another",
            "### Three spaces are a heading",
            "## ",
            "## Closing",
            "## C#",
            "# foo #",
            "## code emphasis link alt & html",
            "# A heading behind a blank line",
            "#### Skipped two levels",
        ]
    );
    let guide = place.run(&["toc", "guide.md", "-f", "text", "--max-level", "2"]).success().text();
    assert_eq!(
        guide,
        "[frontmatter] (1-4, 46B)\n# Guide (7-51, 450B)\n  ## Install (11-29, 182B) +1 below\n  ## Use (30-48, 203B) +1 below\n  ## FAQ & Notes (49-51, 29B)\n"
    );
}

#[test]
fn the_toc_of_a_document_without_headings_says_so() {
    let place = Place::ingested(&[
        ("one.md", "text\n"),
        ("two.md", "---\ntags: [a]\n---\ntext\n\n## Part\n"),
    ]);
    let text = |arguments: &[&str]| place.run(arguments).success().text();
    assert_eq!(text(&["toc", "one.md", "-f", "text"]), "one.md (1 line, no headings)\n");
    assert_eq!(
        text(&["toc", "two.md", "--max-level", "1", "-f", "text"]),
        "two.md (6 lines, no such headings)\n[frontmatter] (1-3, 18B)\n"
    );
    let all = text(&["toc", "-f", "text"]);
    assert!(all.starts_with("one.md (1 line, no headings)\ntwo.md\n"), "{all}");
}

/// A file in a folder below the root with the same name as a file in the root.
fn namesakes() -> Place {
    Place::ingested(&[
        ("README.md", "# Root\n"),
        ("sub/README.md", "# Sub\n\n## Part\n\ntext\n"),
        ("sub/empty/.keep", ""),
        ("two words.md", "# Words\n"),
    ])
}

#[test]
fn a_path_is_relative_to_the_current_folder() {
    let place = namesakes();
    let absolute = place.join("sub/README.md");
    let absolute = absolute.to_str().unwrap();
    let first = |folder: &str, address: &str| {
        let answer = place.run_in(folder, &["select", address], "").success().json();
        answer["results"][0]["selector"].as_str().unwrap().to_owned()
    };
    for (folder, address, selector) in [
        ("sub", "./README.md", "sub/README.md::*"),
        ("sub", "../README.md", "README.md::*"),
        ("sub/empty", "../README.md#part", "sub/README.md::heading:h2[0]"),
        ("sub", "./README.md:3", "sub/README.md::heading:h2[0]"),
        ("sub", "./README.md::Part", "sub/README.md::heading:h2[0]"),
        ("sub", "./README", "sub/README.md::*"),
        ("", "./README.md", "README.md::*"),
        ("", "./two words.md::Words", "two%20words.md::heading:h1[0]"),
        ("", absolute, "sub/README.md::*"),
        ("", &format!("{absolute}:3"), "sub/README.md::heading:h2[0]"),
        // A path that begins with a slash and names no file is a section path.
        ("", "/part", "sub/README.md::heading:h2[0]"),
    ] {
        assert_eq!(first(folder, address), selector, "{folder} {address}");
    }
    assert_eq!(
        place.run_in("sub", &["select", "-"], "./README.md\n").success().json()["results"][0]["file"],
        "sub/README.md"
    );
}

#[test]
fn every_command_reads_paths_relative_to_the_current_folder() {
    let place = namesakes();
    for arguments in [
        &["read", "./README.md", "Sub"][..],
        &["read", "./README.md#sub"],
        &["toc", "./README.md"],
        &["toc", "."],
        &["index", "./README.md"],
        &["search", "text", "--under", "."],
        &["context", "./README.md"],
        &["neighbors", "./README.md#part"],
        &["ldmd", "emit", "./README.md"],
        &["links", "list", "./README.md"],
        &["replace", "./README.md", "Part", "--content", "new\n"],
    ] {
        let answer = place.run_in("sub", arguments, "").success();
        assert!(!answer.text().contains("# Root"), "{arguments:?}: {}", answer.text());
    }
    assert_eq!(std::fs::read_to_string(place.join("README.md")).unwrap(), "# Root\n");
    let sub = std::fs::read_to_string(place.join("sub/README.md")).unwrap();
    assert_eq!(sub, "# Sub\n\n## Part\n\nnew\n");
}

#[test]
fn a_path_never_means_the_file_of_the_same_name_in_the_root() {
    let place = namesakes();
    let gone = ["select", "toc", "context", "neighbors"];
    for command in gone {
        let answer = place.run_in("sub/empty", &[command, "./README.md"], "").ends(1);
        assert_eq!(answer.code(), "NAMESPACE_NOT_FOUND", "{command}");
    }
    let edit = ["replace", "./README.md", "Root", "--content", "x"];
    place.run_in("sub/empty", &edit, "").ends(1);
    for address in ["../../out.md", "/etc/passwd", "../../out.md#x"] {
        for command in ["select", "toc", "neighbors"] {
            let answer = place.run_in("sub", &[command, address], "").ends(2);
            assert_eq!(answer.code(), "OUTSIDE_ROOT", "{command} {address}");
            let root = place.path().canonicalize().unwrap();
            assert!(!answer.text().contains(root.to_str().unwrap()), "{}", answer.text());
            assert!(answer.text().contains("mdsel status"), "{}", answer.text());
        }
    }
}

#[test]
fn a_file_that_was_left_out_is_reported_with_the_reason() {
    let place = namesakes();
    place.write(".gitignore", "ignored.md\n");
    place.write("sub/ignored.md", "# A\n");
    place.write("sub/.hidden.md", "# A\n");
    place.write("sub/notes.txt", "A\n");
    place.write("sub/binary.md", b"a\0b");
    place.write("sub/new.md", "# New\n");
    std::fs::create_dir(place.join("sub/folder.md")).unwrap();
    std::os::unix::fs::symlink("none", place.join("sub/link.md")).unwrap();
    drop(std::os::unix::net::UnixListener::bind(place.join("sub/socket.md")).unwrap());
    for (path, reason) in [
        ("./folder.md", "it is not a regular file"),
        ("./link.md", "it is a symbolic link"),
        ("./socket.md", "it is not a regular file"),
        ("./ignored.md", "an ignore file"),
        ("./.hidden.md", "--hidden"),
        ("./notes.txt:1", "--ext"),
        ("./binary.md#x", "binary"),
        ("./new.md", "`mdsel ingest` adds it"),
    ] {
        for command in ["select", "neighbors"] {
            let answer = place.run_in("sub", &[command, path], "").ends(1);
            assert_eq!(answer.code(), "NOT_IN_STORE", "{command} {path}");
            assert!(answer.text().contains(reason), "{command} {path}: {}", answer.text());
        }
    }
}

#[test]
fn a_store_in_another_folder_has_the_same_paths() {
    let place = Place::with(&[("docs/a/x.md", "# X\n"), ("stores/none", "")]);
    place.run(&["ingest", "--db", "stores/s.db", "docs"]).success();
    let read = |folder: &str, path: &str| {
        let store = place.join("stores/s.db");
        place.run_in(folder, &["select", "--db", store.to_str().unwrap(), path], "")
    };
    let named = |folder: &str, path: &str| {
        read(folder, path).success().json()["results"][0]["selector"].clone()
    };
    assert_eq!(named("docs/a", "./x.md"), "a/x.md::*");
    assert_eq!(named("", "./docs/a/x.md"), "a/x.md::*");
    assert_eq!(read("stores", "./x.md").ends(2).code(), "OUTSIDE_ROOT");
}

#[test]
fn a_page_is_the_same_in_every_command() {
    let words: Vec<String> = (1..=1200).map(|number| format!("w{number}")).collect();
    let place = Place::ingested(&[("a.md", &format!("# A\n\n{}\n", words.join(" ")))]);
    let hit = place.run(&["search", "-e", "w700"]).success().json();
    let address = hit["hits"][0]["selector"].as_str().unwrap();
    assert_eq!(address, "a.md::heading:h1[0]/block:paragraph[0]?page=1");
    let page = place.run(&["select", address, "-f", "raw"]).success().text();
    assert!(page.starts_with("w501 ") && page.trim_end().ends_with(" w1000"), "{page}");
    assert_eq!(place.run(&["read", address, "-f", "raw"]).success().text(), page);
    assert!(place.run(&["context", "--with-body", address]).success().text().contains("w501 "));
}

#[test]
fn parameters_of_lines_are_about_these_lines() {
    let place = Place::ingested(&[("a.md", "# T\n\none\n\n## A\n\ntwo\n\nthree\n")]);
    for (address, content) in [
        ("a.md:3-7", "one\n\n## A\n\ntwo\n"),
        ("a.md:3-7?head=1", "one\n"),
        ("a.md:3-7?tail=2", "\ntwo\n"),
        ("a.md:3-7?head=3&tail=1", "## A\n"),
        ("a.md:7-9?head=9", "two\n\nthree\n"),
    ] {
        assert_eq!(place.run(&["read", address, "-f", "raw"]).success().text(), content);
    }
    for part in ["heading", "own", "all"] {
        let answer = place.run(&["select", &format!("a.md:7-9?part={part}")]).ends(1).json();
        assert_eq!(answer["unresolved_selectors"][0]["code"], "MALFORMED_QUERY", "{part}");
    }
}

#[test]
fn repeated_slashes_and_dots_in_a_path_do_not_matter() {
    let place = Place::ingested(&[("in/o.md", "# O\n")]);
    for name in ["in//o.md", "in/./o.md", "./in//./o.md"] {
        place.run(&["select", name]).success();
    }
}

#[test]
fn the_heading_of_a_hit_is_an_address() {
    let place = Place::ingested(&[
        ("a.md", "# Pump\n\n## Blades of a pump\n\nThe pump has 12 blades.\n"),
        ("two  blanks.md", "# Two\n\nblanks\n"),
    ]);
    let found = place.run(&["search", "12 blades", "-f", "text"]).success().text();
    let heading = found.lines().next().unwrap();
    assert_eq!(heading, "a.md:5-5  Pump > Blades of a pump");
    let read = place.run(&["read", heading, "-f", "raw"]).success().text();
    assert_eq!(read, "The pump has 12 blades.\n");
    let read = place.run(&["read", "two  blanks.md:3-3", "-f", "raw"]).success().text();
    assert_eq!(read, "blanks\n");
    let fault = place.run(&["read", "none.md:3-3  Pump"]).ends(1).text();
    assert!(fault.contains("none.md"), "{fault}");
}

#[test]
fn the_lines_of_a_passage_are_read_from_the_file_that_was_found() {
    let names = [
        "a b.md",
        "a%20b.md",
        "a::b.md",
        "h2[1].md",
        "block:code.md",
        "ldmd:x.md",
        "q?page=1.md",
        "C#.md",
        "root.md",
        "é.md",
    ];
    let files: Vec<(&str, String)> =
        names.iter().enumerate().map(|(n, name)| (*name, format!("# T\n\nalpha{n}\n"))).collect();
    let files: Vec<(&str, &str)> =
        files.iter().map(|(name, text)| (*name, text.as_str())).collect();
    let place = Place::ingested(&files);
    for (n, (name, text)) in files.iter().enumerate() {
        let found = place.run(&["search", &format!("alpha{n}"), "-f", "text"]).success().text();
        let Some((address, _)) = found.split_once("  ") else { panic!("{name}: {found}") };
        let lines = place.run(&["select", address, "-f", "raw"]).success().text();
        assert_eq!(lines, text.replace("# T\n\n", ""), "{name}: {address}");
    }
    // The lines of a section that is found by its title.
    let found = place.run(&["find", "T", "--limit", "0", "-f", "text"]).success().text();
    assert_eq!(found.lines().count(), names.len(), "{found}");
    let mut read: Vec<String> = Vec::new();
    for line in found.lines() {
        let Some((address, _)) = line.split_once(": ") else { panic!("{line}") };
        read.push(place.run(&["select", address, "-f", "raw"]).success().text());
    }
    read.sort_unstable();
    let mut texts: Vec<&str> = files.iter().map(|(_, text)| *text).collect();
    texts.sort_unstable();
    assert_eq!(read, texts);
}

#[test]
fn a_name_with_a_question_mark_is_a_name() {
    let text = "# Q\n\n| k |\n|---|\n| v |\n";
    let place = Place::ingested(&[("q?page=1.md", text), ("other.md", "# O\n")]);
    assert_eq!(place.run(&["select", "q?page=1.md", "-f", "raw"]).success().text(), text);
    assert_eq!(place.run(&["select", "q?page=1.md:1-1", "-f", "raw"]).success().text(), "# Q\n");
    let rows = place.run(&["tables"]).success().json();
    let address = rows["rows"][0]["selector"].as_str().unwrap();
    assert_eq!(place.run(&["select", address, "-f", "raw"]).success().text(), "| v |");
    for (address, expected) in [
        ("other.md?page=x", "it takes a number"),
        ("other.md?lines=3", "tail; write lines after a colon, as in DOC:12-20"),
        ("other.md::*?size=3", "the parameters are full, page"),
        ("other.md#o?size=3", "the parameters are full, page"),
    ] {
        let fault = place.run(&["select", address]).ends(1).json();
        let fault = &fault["unresolved_selectors"][0];
        assert_eq!(fault["code"], "MALFORMED_QUERY", "{fault}");
        assert!(fault["message"].as_str().unwrap().contains(expected), "{fault}");
    }
}

#[test]
fn titles_of_nested_sections_that_several_have_are_ambiguous() {
    let text = "# Release\n\n## Added\n\na\n\n## Added\n\nb\n\n# Foo\n\n## Foo\n\nc\n\n# Foo-1\n\n## Foo\n\nd\n\n## Foo\n";
    let place = Place::ingested(&[("a.md", text), ("b.md", "# Foo\n\n# Foo\n\n## Foo\n")]);
    for (address, expected) in [
        ("a.md::Release/Added", &["a.md::heading:h2[0]", "a.md::heading:h2[1]"][..]),
        ("Release/Added", &["a.md::heading:h2[0]", "a.md::heading:h2[1]"]),
        ("a.md::Foo-1/Foo", &["a.md::heading:h2[3]", "a.md::heading:h2[4]"]),
    ] {
        let read = place.run(&["select", address]).ends(1).json();
        let edit = place.run(&["delete", "--dry-run", address, "-f", "json"]).ends(1).json();
        for answer in [read, edit] {
            let fault = &answer["unresolved_selectors"][0];
            assert_eq!(fault["code"], "AMBIGUOUS", "{address}");
            assert_eq!(selectors(&fault["candidates"]), expected, "{address}");
        }
    }
    // A slug path has one meaning, and so have titles if one of them is written as a slug with its number.
    assert_eq!(selector(&place, "a.md::release/added-1"), "a.md::heading:h2[1]");
    assert_eq!(selector(&place, "a.md::Release/added-1"), "a.md::heading:h2[1]");
    assert_eq!(selector(&place, "a.md::Foo/Foo"), "a.md::heading:h2[2]");
    assert_eq!(selector(&place, "b.md::Foo-1/Foo"), "b.md::heading:h2[0]");
}

/// Two documents with functions and nested sections.
fn functions() -> Place {
    let fs = "# File system\n\n## Callback API\n\n### fs.read(path, callback)\n\ntext needle\n\n\
        ### fs.readdir(path)\n\n```sh\nrun\n```\n\n## Notes\n\nlast\n";
    let net = "# Net\n\n## Callback API\n\n### net.open(path)\n\n### server.open(path)\n";
    Place::ingested(&[("api/fs.md", fs), ("api/net.md", net), ("other/net.md", "# N\n\na\n\nb\n")])
}

#[test]
fn a_function_is_named_with_empty_parentheses() {
    let place = functions();
    let read = "api/fs.md::heading:h3[0]";
    assert_eq!(selector(&place, "api/fs.md::fs.read()"), read);
    assert_eq!(selector(&place, "fs.read()"), read);
    let found = place.run(&["find", "fs.read()"]).success().json();
    assert_eq!(selectors(&found["matches"]), [read]);
    place.run(&["select", "open()"]).ends(1);
    place.run(&["replace", "api/fs.md", "fs.read()", "--content", "x"]).ends(1);
}

#[test]
fn a_title_may_be_written_as_a_heading() {
    let place = functions();
    assert_eq!(selector(&place, "api/fs.md::## Notes"), "api/fs.md::heading:h2[1]");
    assert_eq!(selector(&place, "## Notes"), "api/fs.md::heading:h2[1]");
    place.run(&["read", "api/fs.md", "## Notes"]).success();
    let replace = ["replace", "api/fs.md", "## Notes", "--content", "new"];
    place.run(&replace).success();
}

#[test]
fn places_in_other_notations_are_suggested() {
    let place = functions();
    for (address, suggestion) in [
        ("fs.md#L3-L5", "api/fs.md:3-5"),
        ("fs.md#L3", "api/fs.md:3"),
        ("fs.md::3-5", "api/fs.md:3-5"),
        ("fs.md::@3-5", "api/fs.md:3-5"),
        ("fs.md:12-", "api/fs.md:12-17"),
        ("fs.md:3,5", "api/fs.md:3-5"),
        ("fs.md:3..5", "api/fs.md:3-5"),
        ("fs.md:heading:h3[1]", "api/fs.md::heading:h3[1]"),
        ("fs.md heading:h3[1]", "api/fs.md::heading:h3[1]"),
        ("[[fs#Notes]]", "api/fs.md::heading:h2[1]"),
        ("[[fs#Nots]]", "api/fs.md::heading:h2[1]"),
        ("[text](fs.md#notes)", "api/fs.md::heading:h2[1]"),
        ("fs.html#notes", "api/fs.md::heading:h2[1]"),
        (r"api\fs.md", "api/fs.md::*"),
        (r".\api\fs.md#notes", "api/fs.md::heading:h2[1]"),
    ] {
        let fault = place.run(&["select", address]).ends(1).json();
        let first = &fault["unresolved_selectors"][0]["suggestions"][0];
        assert_eq!(first, suggestion, "{address}");
        place.run(&["select", first.as_str().unwrap()]).success();
    }
    let fault = place.run(&["select", "[[net#open]]"]).ends(1).json();
    assert_eq!(fault["unresolved_selectors"][0]["code"], "AMBIGUOUS", "{fault}");
    let fault = place.run(&["read", "fs.md", "3-5"]).ends(1).json();
    assert_eq!(fault["unresolved_selectors"][0]["suggestions"][0], "api/fs.md:3-5", "{fault}");
}

#[test]
fn a_place_without_its_document_and_several_places_say_what_to_write() {
    let place = functions();
    let message = |arguments: &[&str]| {
        let fault = place.run(arguments).ends(1).json();
        fault["unresolved_selectors"][0]["message"].as_str().unwrap().to_owned()
    };
    for (address, example) in [("::heading:h3[1]", "`DOC::heading:h3[1]`"), ("::@3-5", "`DOC:3-5`")]
    {
        let message = message(&["select", address]);
        assert!(message.contains(example), "{message}");
    }
    let both = message(&["read", "fs.md#notes", "api/net.md#net"]);
    assert!(both.contains("`mdsel select 'fs.md#notes' 'api/net.md#net'`"), "{both}");
    let range = message(&["read", "fs.md::heading:h3[0-1]"]);
    assert!(range.contains("`mdsel select 'fs.md::heading:h3[0-1]'`"), "{range}");
    let lines = place.run(&["select", "net.md:1-3"]).ends(1).json();
    let candidates = selectors(&lines["unresolved_selectors"][0]["candidates"]);
    assert_eq!(candidates, ["api/net.md:1-3", "other/net.md:1-3"]);
}

#[test]
fn printed_lines_are_addresses() {
    let place = functions();
    let lines =
        |arguments: &[&str]| place.run(&[arguments, &["-f", "text"]].concat()).success().text();
    let find = lines(&["find", "readdir"]);
    assert_eq!(selector(&place, find.trim_end()), "api/fs.md::heading:h3[1]");
    let code = lines(&["code"]);
    let code = code.lines().next().unwrap();
    assert_eq!(selector(&place, code), "api/fs.md::heading:h3[1]/block:code[0]");
    let search = lines(&["search", "-F", "needle"]);
    let [trail, hit] = search.lines().collect::<Vec<_>>()[..] else { panic!("{search}") };
    assert_eq!(selector(&place, trail), "api/fs.md::heading:h3[0]");
    assert_eq!(selector(&place, hit), "api/fs.md::heading:h3[0]");
    for (line, expected) in [
        ("api/fs.md::heading:h3[1]  fs.readdir(path)", "api/fs.md::heading:h3[1]"),
        ("a/b (@9)  fs.readdir(path)  api/fs.md::heading:h3[1]", "api/fs.md::heading:h3[1]"),
        ("api/fs.md::Callback API > fs.readdir(path)", "api/fs.md::heading:h3[1]"),
    ] {
        assert_eq!(selector(&place, line), expected, "{line}");
    }
    // Titles that several sections have stay ambiguous.
    let fault = place.run(&["select", "api/net.md::Net > Missing"]).ends(1).json();
    assert_eq!(fault["unresolved_selectors"][0]["code"], "SELECTOR_NOT_FOUND", "{fault}");
    place.write("api/two.md", "# Net\n\n## Callback API\n");
    place.run(&["ingest"]).success();
    let fault = place.run(&["select", "Net > Callback API"]).ends(1).json();
    assert_eq!(fault["unresolved_selectors"][0]["code"], "AMBIGUOUS", "{fault}");
}

#[test]
fn a_text_with_the_slug_of_another_title_is_not_that_title() {
    let file = "# Log\n\n## 11.1\n\nnew\n\n## 1.1.1\n\nold\n\n## C#\n\nsharp\n";
    let place = Place::ingested(&[("a.md", file)]);
    let fault = place.run(&["select", "a::1.11"]).ends(1).json();
    assert_eq!(fault["unresolved_selectors"][0]["code"], "AMBIGUOUS");
    let read = place.run(&["select", "a::C*"]).success().json();
    assert_eq!(read["results"][0]["title"], "C#");
    for (section, code) in [("1.11", "AMBIGUOUS"), ("C++", "SELECTOR_NOT_FOUND")] {
        let edit = place.run(&["replace", "a.md", section, "--content", "x"]).ends(1).json();
        assert_eq!(edit["unresolved_selectors"][0]["code"], code, "{edit}");
        assert_eq!(std::fs::read_to_string(place.join("a.md")).unwrap(), file);
    }
}

#[test]
fn a_title_with_slashes_is_a_part_of_a_title_path() {
    let place =
        Place::ingested(&[("a.md", "# A\n\n## TCP/IP\n\n### Z\n\nzebra\n"), ("b.md", "# B\n")]);
    let hit = place.run(&["search", "zebra", "-f", "text"]).success().text();
    let (_, titles) = hit.lines().next().unwrap().split_once("  ").unwrap();
    assert_eq!(titles, "A > TCP/IP > Z");
    for address in [titles, "A/TCP/IP/Z", "a::TCP/IP/Z", "a.md::A/TCP/IP", "A > TCP/IP"] {
        let read = place.run(&["select", address]).success().json();
        assert_eq!(read["results"][0]["file"], "a.md", "{address}");
    }
    place.run(&["replace", "a.md", "TCP/IP/Z", "--content", "x"]).success();
}

#[test]
fn an_answer_without_a_place_in_a_document_says_that_its_file_has_changed() {
    let place = Place::ingested(&[("a.md", "# A\n\ntext\n"), ("b.md", "# B\n")]);
    let empty: [&[&str]; 5] = [
        &["search", "newword", "--under", "a.md"],
        &["search", "-e", "newword", "--under", "a.md"],
        &["find", "newword", "--under", "a.md"],
        &["tasks", "--under", "a.md"],
        &["read", "a.md#newword"],
    ];
    let others: [&[&str]; 6] = [
        &["read", "a.md::Newword"],
        &["read", "a.md:99"],
        &["read", "a.md::heading:h2[0]"],
        &["neighbors", "a.md#newword"],
        &["links", "list", "a.md#newword"],
        &["search", "newword", "--under", "a.md::Newword"],
    ];
    let change = "a.md has changed or is gone since the ingest";
    let answers = |is_changed: bool| {
        for command in empty.iter().chain(&others) {
            let text = place.run(command).text();
            assert_eq!(text.contains(change), is_changed, "{command:?}: {text}");
        }
    };
    answers(false);
    place.write("a.md", "# A\n\ntext\n\n## Newword\n\n- [ ] newword\n");
    answers(true);
    // The other document is the one that was stored.
    for command in [&["read", "b.md#newword"][..], &["search", "newword", "--under", "b.md"]] {
        assert!(!place.run(command).text().contains("has changed"), "{command:?}");
    }
    assert!(!place.run(&["search", "newword"]).text().contains(change));
}

#[test]
fn a_part_of_a_title_is_not_looked_for_in_the_destinations_of_its_links() {
    let version = |new: &str, old: &str| {
        let url = format!("https://example.org/compare/v{old}...v{new}");
        format!("## [{new}]({url}) - 2024-01-02\n\nChanges of {new}.\n\n")
    };
    let text = format!("# Changelog\n\n{}{}", version("1.4.1", "1.4.0"), version("1.4.0", "1.3.0"));
    let place = Place::ingested(&[("CHANGELOG.md", &text)]);
    let read = place.run(&["read", "CHANGELOG.md", "1.4.0", "-f", "raw"]).success().text();
    assert!(read.starts_with("## [1.4.0]"), "{read}");
    let titles = |pattern: &str| {
        let found = place.run(&["find", pattern]).success().json();
        let matches = found["matches"].as_array().unwrap().clone();
        matches.iter().map(|it| it["title"].as_str().unwrap()[..5].to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(titles("1.4.0"), ["1.4.0"]);
    assert_eq!(titles("*1.4.0*"), ["1.4.0"]);
    assert_eq!(titles("[1.4.0] -"), ["1.4.0"], "the source without the destination");
    let whole = "[1.4.0](https://example.org/compare/v1.3.0...v1.4.0)";
    assert_eq!(titles(whole), ["1.4.0"], "the source as it is");
    place.run(&["find", "example.org"]).ends(1);
}

/// Returns the unresolved address of a command that finds nothing.
fn unresolved(place: &Place, command: &[&str]) -> Value {
    let mut json = place.run(command).ends(1).json();
    match json["unresolved_selectors"].get_mut(0) {
        Some(fault) => fault.take(),
        None => panic!("{command:?}: {json}"),
    }
}

#[test]
fn a_wrong_document_name_before_a_section_suggests_the_section() {
    let place = Place::ingested(&[
        ("tool/COMMANDS.md", "# Commands\n\n## tool root\n\n## tool latest\n\n[a](#x)\n"),
        ("tool/CONDUCT.md", "# Conduct\n"),
    ]);
    let latest = "tool/COMMANDS.md::heading:h2[1]";
    let others: [&[&str]; 6] = [
        &["read", "tool/COMANDS.md", "tool latest"],
        &["read", "doc/tool/COMMANDS.md", "tool latest"],
        &["select", "tool/COMANDS.md::tool latest"],
        &["select", "tool/COMANDS.md#tool-latest"],
        &["select", "docs/tool/COMMANDS.md#tool-latest"],
        &["replace", "tool/COMANDS.md", "tool latest", "--content", "x"],
    ];
    for command in others {
        let fault = unresolved(&place, command);
        assert_eq!(fault["suggestions"][0], latest, "{command:?}: {fault}");
    }
    let lines = unresolved(&place, &["select", "tool/COMANDS.md:3-5"]);
    assert_eq!(lines["suggestions"][0], "tool/COMMANDS.md:3-5", "{lines}");
    // A document without such a section is suggested as a whole.
    let fault = unresolved(&place, &["select", "tool/COMANDS.md#nothing"]);
    assert_eq!(fault["suggestions"][0], "tool/COMMANDS.md::*", "{fault}");
    let text = place.run(&["read", "tool/COMANDS.md", "tool latest", "-f", "text"]).text();
    assert!(text.contains(&format!("- {latest}  tool latest\n")), "{text}");
}

#[test]
fn the_documents_with_the_section_are_the_first_candidates_for_a_name_that_many_have() {
    let mut files: Vec<(String, String)> = (0..40)
        .map(|number| (format!("{number:02}/README.md"), "# A\n\n## Use\n".to_owned()))
        .collect();
    for (number, title) in [(21, "Supported targets"), (33, "Supported targets of it")] {
        files[number].1 = format!("# A\n\n## Use\n\n## {title}\n");
    }
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (&**path, &**text)).collect();
    let place = Place::ingested(&files);
    let candidates = |command: &[&str]| {
        let fault = unresolved(&place, command);
        assert_eq!((&fault["code"], &fault["total"]), (&json!("AMBIGUOUS"), &json!(40)));
        selectors(&fault["candidates"]).into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    let section = |number: usize| format!("{number}/README.md::heading:h2[1]");
    let commands: [(&[&str], usize); 5] = [
        (&["read", "README.md", "Supported targets"], 2),
        (&["read", "README.md", "A/Supported targets"], 2),
        (&["select", "README.md::Supported targets"], 2),
        (&["select", "README.md#supported-targets"], 1),
        (&["delete", "README.md", "Supported targets"], 2),
    ];
    for (command, count) in commands {
        let found = candidates(command);
        assert_eq!(found.len(), 10, "{command:?}");
        assert_eq!(found[..count], [section(21), section(33)][..count], "{command:?}");
        assert_eq!(found[count], "00/README.md::*", "{command:?}");
    }
    // If all have it, the first ones are listed.
    let found = candidates(&["read", "README.md", "Use"]);
    assert_eq!(
        (&*found[0], &*found[9]),
        ("00/README.md::heading:h2[0]", "09/README.md::heading:h2[0]")
    );
    assert_eq!(candidates(&["select", "README.md:3"])[9], "09/README.md::heading:h2[0]");
}

#[test]
fn the_toc_takes_every_address_of_a_section() {
    let place =
        Place::ingested(&[("a.md", "# A\n\n## B c\n\n### D\n\n## E\n"), ("x#b.md", "# X\n")]);
    let toc = |address: &str| place.run(&["toc", address]).success().json();
    let expected = toc("a.md::B c");
    assert_eq!(expected["sections"][0]["title"], "B c", "{expected}");
    for address in ["a.md#b-c", "a#b-c", "a.md:3", "a::B c"] {
        assert_eq!(toc(address), expected, "{address}");
    }
    assert_eq!(toc("x#b.md")["sections"][0]["title"], "X", "a document with that name comes first");
    assert_eq!(place.run(&["toc", "a.md#nothing"]).ends(1).code(), "SELECTOR_NOT_FOUND");
}

#[test]
fn blocks_in_lists_and_quotes_are_suggested() {
    let text = "# A\n\n| a |\n| - |\n\n- x\n\n  ```\n  code\n  ```\n\n  | b |\n  | - |\n\n> | c |\n> | - |\n";
    let place = Place::ingested(&[("a.md", text)]);
    let fault = |address: &str| {
        place.run(&["select", address]).ends(1).json()["unresolved_selectors"][0].clone()
    };
    let code = fault("a.md::block:code[0]");
    assert_eq!(code["suggestions"][0], "a.md::heading:h1[0]/block:list[0]/item[0]/block:code[0]");
    assert!(
        code["message"].as_str().unwrap().contains("there is 1 in lists or block quotes"),
        "{code}"
    );
    let tables = fault("a.md::heading:h1[0]/block:table[1]");
    assert_eq!(tables["code"], "INDEX_OUT_OF_RANGE");
    let message = tables["message"].as_str().unwrap();
    assert!(message.contains("has 1 block:table, and 2 in lists or block quotes"), "{message}");
    let suggestions = tables["suggestions"].to_string();
    assert!(suggestions.contains("block:blockquote[0]/block:table[0]"), "{suggestions}");
    let place = Place::ingested(&[("b.md", "- x\n")]);
    let address = "b.md::root/block:list[0]/item[0]/block:list[0]";
    let fault = place.run(&["select", address]).ends(1).json()["unresolved_selectors"][0].clone();
    let message = fault["message"].as_str().unwrap();
    assert!(
        message.ends_with("has no block:list"),
        "the list around the item is not in it: {message}"
    );
}

#[test]
fn sections_with_the_whole_title_are_found_first() {
    let mut files: Vec<(String, String)> =
        (10..40).map(|number| (format!("a{number}.md"), format!("# Start {number}\n"))).collect();
    files.push(("m.md".to_owned(), "# Restart\n\n## Tar\n\nx\n\n## *tar*\n".to_owned()));
    files.push(("z.md".to_owned(), "# TAR\n".to_owned()));
    let files: Vec<_> = files.iter().map(|(file, text)| (file.as_str(), text.as_str())).collect();
    let place = Place::ingested(&files);
    let titles = |arguments: &[&str]| -> Vec<String> {
        let answer = place.run(&[&["find", "tar"], arguments].concat()).success().json();
        let found = answer["matches"].as_array().unwrap().iter();
        found.map(|it| format!("{} {}", it["file"].as_str().unwrap(), it["title"])).collect()
    };
    let all = titles(&["--limit", "0"]);
    let first = ["m.md \"Tar\"", "m.md \"tar\"", "z.md \"TAR\"", "a10.md \"Start 10\""];
    assert_eq!((&all[..4], all.len()), (&first.map(str::to_owned)[..], 34));
    assert_eq!(all[33], "m.md \"Restart\"");
    let pages = (0..34).step_by(2).flat_map(|at| {
        let cursor = format!("1-{at}");
        let after = if at == 0 { Vec::new() } else { vec!["--after", cursor.as_str()] };
        titles(&[&["--limit", "2"][..], &after].concat())
    });
    assert_eq!(pages.collect::<Vec<_>>(), all);
    assert_eq!(titles(&["--level", "1", "--limit", "1"]), ["z.md \"TAR\""]);
    assert_eq!(titles(&["--sort", "path", "--limit", "1"]), ["a10.md \"Start 10\""]);
}
