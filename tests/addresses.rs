//! Every form of address, alone and beside others, and what is done with two readings.

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
fn lines_parts_and_ranges() {
    let place = Place::with_fixtures();
    let content = |address: &str| resolved(&place, address)["content"].as_str().unwrap().to_owned();
    assert_eq!(resolved(&place, "guide.md::@23")["resolved"], "containing");
    assert_eq!(selector(&place, "guide.md::@23"), "guide.md::heading:h3[0]");
    assert_eq!(selector(&place, "guide.md::@2"), "guide.md::@frontmatter");
    assert_eq!(selector(&place, "guide.md::@5"), "guide.md::root");
    assert_eq!(place.run(&["select", "guide.md::@9999"]).ends(1).code(), "INDEX_OUT_OF_RANGE");
    assert_eq!(place.run(&["select", "guide.md::@0"]).ends(1).code(), "INDEX_OUT_OF_RANGE");
    // Every line of a setext heading is its heading's.
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
fn titles_that_read_as_something_else() {
    let place = Place::with_fixtures();
    let title = |locator: &str| {
        resolved(&place, &format!("titles-with-syntax.md::{locator}"))["title"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    assert_eq!(title("code"), "code", "a type without ordinal is no selector");
    assert_eq!(title("What is it?"), "What is it?");
    assert_eq!(title("What is it??part=heading"), "What is it?");
    assert_eq!(title("std::vector"), "std::vector");
    assert_eq!(title("@babel/core"), "@babel/core");
    assert_eq!(title("a/b"), "a/b");
    assert_eq!(title("/section"), "section");
    assert_eq!(title("/h2.1"), "h2.1");
    assert_eq!(title("#a:2024"), "#2024");
    // Without a document: the left of `::` names none, so the whole is a title.
    assert_eq!(resolved(&place, "std::vector")["title"], "std::vector");
    let shadowed = place.run(&["select", "titles-with-syntax.md::h2.1"]).success().json();
    assert_eq!(shadowed["warnings"][0]["code"], "SHADOWED_TITLE");
    assert_eq!(shadowed["results"][0]["title"], "section");
}

#[test]
fn digits_that_are_index_and_anchor() {
    let place = Place::ingested(&[("a.md", "# One\n# 0\n# Three\n# 2024\n")]);
    let fault = place.run(&["select", "a::#0"]).ends(1).json();
    assert_eq!(fault["unresolved_selectors"][0]["code"], "AMBIGUOUS");
    assert_eq!(
        fault["unresolved_selectors"][0]["candidates"],
        json!(["a.md::heading:h1[0]", "a.md::heading:h1[1]"])
    );
    assert_eq!(selector(&place, "a::#2024"), "a.md::heading:h1[3]");
    assert_eq!(selector(&place, "a::#2"), "a.md::heading:h1[2]");
    assert_eq!(selector(&place, "a.md#0"), "a.md::heading:h1[1]", "behind a path always an anchor");
}

#[test]
fn files_whose_names_read_as_addresses() {
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
fn what_is_not_unique_is_ambiguous_and_its_candidates_resolve() {
    let place = Place::with_fixtures();
    for address in ["duplicate-titles.md::Notes", "duplicate-titles.md::Linux", "Setup"] {
        let json = place.run(&["select", address]).ends(1).json();
        let fault = &json["unresolved_selectors"][0];
        assert_eq!(fault["code"], "AMBIGUOUS", "{address}");
        let candidates = fault["candidates"].as_array().unwrap();
        assert!(candidates.len() > 1);
        for candidate in candidates {
            place.run(&["select", candidate.as_str().unwrap()]).success();
        }
    }
}

#[test]
fn places_without_a_document() {
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
fn anchors_of_headings_in_containers_lead_to_what_holds_them() {
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
fn every_address_that_is_printed_can_be_given_back() {
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

/// Every section of a sample, by each of its forms, in one call a document.
#[test]
fn sections_of_a_sample_by_every_form() {
    let place = Place::new();
    for (number, path) in corpus::sample(1000).into_iter().enumerate() {
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
            // `#12` may be an index and an anchor; that is told, and not tested here.
            expected.extend(std::iter::repeat_n(selector.to_owned(), forms.len()));
            addresses.extend(forms);
            sections += 1;
        }
        if addresses.is_empty() {
            continue;
        }
        let input = addresses.join("\n");
        let json = place.run_in("", &["select", "-", "--max-words", "1"], &input).json();
        let faults: Vec<&Value> = json["unresolved_selectors"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|fault| {
                !fault["message"].as_str().unwrap().contains("is the index of one section")
            })
            .collect();
        assert!(faults.is_empty(), "{name}: {faults:?}");
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
