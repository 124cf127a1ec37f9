//! The `ldmd` commands, `ldmd:` addresses, and answers as LDMD.

use mdsel::query::{Session, ldmd::emit};
use mdsel::{ldmd, markdown};
use serde_json::{Value, json};

use crate::corpus;
use crate::harness::{Place, copy, fixtures, reader, selectors, words};
use mdsel::store::Lookup;

const ANSWER: &str = include_str!("../fixtures/documents/answer.ldmd.md");

fn answer() -> Place {
    Place::ingested(&[("answer.ldmd.md", ANSWER)])
}

fn get(place: &Place, arguments: &[&str]) -> String {
    let call = [&["ldmd", "get", "answer.ldmd.md", "-f", "raw", "--id"], arguments].concat();
    place.run(&call).success().text()
}

fn ids(index: &Value) -> Vec<&str> {
    index["sections"].as_array().unwrap().iter().map(|s| s["id"].as_str().unwrap()).collect()
}

#[test]
fn the_index_lists_sections_in_opening_order_with_their_attributes() {
    let place = answer();
    let index = place.run(&["ldmd", "index", "answer.ldmd.md"]).success().json();
    assert_eq!(
        ids(&index),
        [
            "run_meta",
            "summary",
            "key_findings",
            "key_findings_tldr",
            "key_findings_body",
            "deep",
            "artifacts"
        ]
    );
    assert_eq!(index["total_bytes"], ANSWER.len());
    assert_eq!(index["version"], "1.0");
    let sections = index["sections"].as_array().unwrap();
    let collapsed: Vec<_> = sections.iter().map(|s| s["collapsed"].as_bool().unwrap()).collect();
    assert_eq!(collapsed, [false, false, true, false, true, true, false]);
    for section in sections {
        let offset = |name: &str| usize::try_from(section[name].as_u64().unwrap()).unwrap();
        let bytes = &ANSWER[offset("start_offset")..offset("end_offset")];
        let id = section["id"].as_str().unwrap();
        assert!(bytes.trim_start().starts_with("<!--LDMD:BEGIN"), "{bytes}");
        assert!(bytes.ends_with(&format!("<!--LDMD:END id=\"{id}\"-->\n")), "{bytes}");
    }
    assert_eq!(sections[1]["title"], "The \"summary\" -- of it");
    assert_eq!(sections[1]["tags"], json!(["preview", "critical"]));
    assert_eq!(sections[2]["meta"], json!({"confidence": 0.95}));
    assert_eq!(sections[5]["attributes"], json!({"owner": "core"}));
    assert_eq!(sections[5]["parent"], "key_findings_body");
    assert_eq!((&sections[5]["depth"], &sections[5]["level"]), (&json!(2), &json!(3)));
}

#[test]
fn the_index_says_that_a_document_has_no_sections() {
    let place = Place::ingested(&[("a.md", "# A\n")]);
    let index = place.run(&["ldmd", "index", "a.md", "-f", "text"]).success();
    assert_eq!(index.text(), "No LDMD section in a.md.\n");
}

#[test]
fn a_section_is_read_in_full_to_a_depth_as_a_preview_or_by_its_summary() {
    let place = answer();
    let tldr = get(&place, &["key_findings", "--mode", "tldr"]);
    assert!(tldr.starts_with("  <!--LDMD:BEGIN id=\"key_findings_tldr\""), "{tldr}");
    assert!(tldr.ends_with("<!--LDMD:END id=\"key_findings_tldr\"-->\n"), "{tldr}");
    let full = get(&place, &["key_findings"]);
    assert!(ANSWER.contains(&full) && full.contains("Deeper text."));
    let own = get(&place, &["key_findings", "--depth", "0"]);
    assert_eq!(
        own,
        "<!--LDMD:BEGIN id=\"key_findings\" title=\"Key Findings\" level=\"1\" \
         meta='{\"confidence\": 0.95}'-->\n## Key Findings (6)\n<!--LDMD:END id=\"key_findings\"-->\n"
    );
    assert!(!get(&place, &["key_findings", "--depth", "1"]).contains("Deeper text."));
    assert_eq!(get(&place, &["key_findings", "--depth", "2"]), full);
    let stripped = get(&place, &["key_findings", "--strip-markers"]);
    assert!(!stripped.contains("LDMD") && stripped.contains("    Deeper text.\n"));
    let json = place
        .run(&["ldmd", "get", "answer.ldmd.md", "--id", "summary", "--mode", "tldr"])
        .success()
        .json();
    assert_eq!(
        (&json["mode"], &json["depth"], &json["limit_bytes"], &json["truncated"]),
        (&json!("preview"), &json!(1), &json!(4096), &json!(false)),
        "no summary: a preview"
    );
}

#[test]
fn a_stub_names_each_section_below_the_depth_and_its_bytes() {
    let place = answer();
    let own = get(&place, &["key_findings", "--depth", "0", "--stubs"]);
    let stubs: Vec<&str> = own.lines().filter(|line| line.contains("LDMD:REF")).collect();
    assert_eq!(stubs.len(), 2, "{own}");
    for (stub, id) in stubs.iter().zip(["key_findings_tldr", "key_findings_body"]) {
        let bytes = get(&place, &[id]).len();
        assert_eq!(*stub, format!("<!--LDMD:REF id=\"{id}\" bytes=\"{bytes}\"-->"));
    }
    let without: String =
        own.split_inclusive('\n').filter(|line| !line.contains("LDMD:REF")).collect();
    assert_eq!(without, get(&place, &["key_findings", "--depth", "0"]));
    let full = get(&place, &["key_findings"]);
    assert_eq!(get(&place, &["key_findings", "--stubs"]), full, "nothing is left out");
    let stripped = get(&place, &["key_findings", "--depth", "0", "--stubs", "--strip-markers"]);
    assert_eq!(stripped, format!("## Key Findings (6)\n{}\n", stubs.join("\n")));
    let call = ["ldmd", "get", "answer.ldmd.md", "--id", "key_findings", "--depth", "0", "--stubs"];
    let json = place.run(&call).success().json();
    assert_eq!((&json["content"], &json["omitted_sections"]), (&json!(own), &json!(3)));
    place.write("part.ldmd.md", &own);
    place.run(&["ingest"]).success();
    place.run(&["ldmd", "check", "part.ldmd.md"]).success();
}

#[test]
fn a_stub_has_the_id_of_a_repeated_section_and_the_line_end_of_the_document() {
    let lines = ["(a", "(b", "one", ")b", "(b", "two words", ")b", ")a"];
    let marker = |line: &str| match (line.strip_prefix('('), line.strip_prefix(')')) {
        (Some(id), _) => format!("<!--LDMD:BEGIN id=\"{id}\"-->\r\n"),
        (_, Some(id)) => format!("<!--LDMD:END id=\"{id}\"-->\r\n"),
        _ => format!("{line}\r\n"),
    };
    let text: String = lines.into_iter().map(marker).collect();
    let place = Place::ingested(&[("a.md", &text)]);
    let get = |arguments: &[&str]| {
        let call = [&["ldmd", "get", "a.md", "-f", "raw", "--id"], arguments].concat();
        place.run(&call).success().text()
    };
    let (first, second) = (get(&["b"]).len(), get(&["b@5"]).len());
    assert_eq!(
        get(&["a", "--depth", "0", "--stubs", "--strip-markers"]),
        format!(
            "<!--LDMD:REF id=\"b\" bytes=\"{first}\"-->\r\n<!--LDMD:REF id=\"b@5\" bytes=\"{second}\"-->\r\n"
        )
    );
}

#[test]
fn any_limit_returns_whole_characters_and_continuing_returns_the_rest() {
    let place = answer();
    let full = get(&place, &["key_findings"]);
    for limit in [1, 2, 3, 50, 90, 310, 311, 312, 313, 314, 315, 316, 317, 320, 330, 331, 332, 333]
    {
        let limit = limit.to_string();
        let mut all = String::new();
        let mut after: Option<String> = None;
        loop {
            let mut call = vec![
                "ldmd",
                "get",
                "answer.ldmd.md",
                "--id",
                "key_findings",
                "--limit-bytes",
                &limit,
            ];
            if let Some(after) = &after {
                call.extend(["--after", after]);
            }
            let answer = place.run(&call);
            if limit.len() < 2 && answer.stderr.contains("BUDGET_TOO_SMALL") {
                // The next character has more bytes.
                break;
            }
            let json = answer.success().json();
            let content = json["content"].as_str().unwrap();
            assert!(content.len() <= limit.parse().unwrap());
            all.push_str(content);
            let next = json.get("next").map(|next| next.as_str().unwrap().to_owned());
            assert_eq!(json["truncated"], all.len() < full.len());
            if next.is_none() || all.len() > 700 {
                break;
            }
            after = next;
        }
        assert!(full.starts_with(&all));
        assert!(limit.len() < 2 || all.len() > 90, "{limit}: {}", all.len());
    }
}

#[test]
fn search_reports_the_innermost_section_and_matches_no_marker() {
    let place = answer();
    let run = |query: &str| place.run(&["ldmd", "search", "answer.ldmd.md", "--query", query]);
    let found = run("PROCESS_batch").success().json();
    let matches = found["matches"].as_array().unwrap();
    let reported: Vec<_> = matches
        .iter()
        .map(|m| (m["section_id"].as_str().unwrap(), m["line"].as_u64(), m["doc_line"].as_u64()))
        .collect();
    assert_eq!(
        reported,
        [
            ("run_meta", Some(0), Some(3)),
            ("key_findings_tldr", Some(0), Some(15)),
            ("key_findings_body", Some(0), Some(22)),
        ]
    );
    assert_eq!(
        matches[1]["text"],
        "1. [high] High-impact call site in process_batch() @ src/batch.py:45"
    );
    assert_eq!(matches[1]["ancestors"], json!(["key_findings"]));
    assert_eq!(run("LDMD:BEGIN").ends(1).json()["matches"], json!([]));
    assert_eq!(run("").ends(2).code(), "USAGE");
}

#[test]
fn neighbors_are_siblings_and_sections_in_opening_order() {
    let place = answer();
    let run =
        |id: &str| place.run(&["ldmd", "neighbors", "answer.ldmd.md", "--id", id]).success().json();
    let around = run("key_findings");
    assert_eq!((&around["prev"], &around["next"]), (&json!("summary"), &json!("artifacts")));
    assert_eq!(around["children"], json!(["key_findings_tldr", "key_findings_body"]));
    assert_eq!(around["next_in_order"], "key_findings_tldr");
    let first = run("run_meta");
    assert_eq!((&first["prev"], &first["prev_in_order"]), (&Value::Null, &Value::Null));
    let last = run("artifacts");
    assert_eq!((&last["next"], &last["prev_in_order"]), (&Value::Null, &json!("deep")));
}

#[test]
fn an_id_is_an_address_in_every_command() {
    let place = answer();
    let json = place.run(&["select", "ldmd:deep"]).success().json();
    let result = &json["results"][0];
    assert_eq!(result["selector"], "answer.ldmd.md::ldmd:deep");
    assert_eq!((&result["type"], &result["line_start"]), (&json!("ldmd"), &json!(23)));
    assert!(result["content"].as_str().unwrap().contains("Deeper text."));
    let around = place.run(&["neighbors", "answer.ldmd::ldmd:key_findings_body"]).success().json();
    assert_eq!(around["prev"]["selector"], "answer.ldmd.md::ldmd:key_findings_tldr");
    assert_eq!(selectors(&around["children"]), ["answer.ldmd.md::ldmd:deep"]);
    let read = place.run(&["read", "answer.ldmd.md", "ldmd:key_findings?head=1"]).success().json();
    assert_eq!(read["content"], format!("{}\n", ANSWER.lines().nth(11).unwrap()));
    assert_eq!(read["children_available"], json!([]), "the first line contains none");
    let found =
        place.run(&["search", "-F", "Deeper", "--under", "ldmd:key_findings"]).success().json();
    assert_eq!(found["hits"].as_array().unwrap().len(), 1);
    assert_eq!(found["hits"][0]["ldmd"], "answer.ldmd.md::ldmd:deep", "in addition to its section");
    place.run(&["search", "-F", "Deeper", "--under", "ldmd:summary"]).ends(1);
    let lost = place.run(&["select", "answer.ldmd::ldmd:key_finding"]).ends(1).json();
    assert_eq!(
        lost["unresolved_selectors"][0]["suggestions"][0],
        "answer.ldmd.md::ldmd:key_findings"
    );
    let lost = place.run(&["ldmd", "get", "answer.ldmd.md", "--id", "depe"]).ends(1).json();
    assert_eq!(lost["unresolved_selectors"][0]["code"], "SELECTOR_NOT_FOUND");
}

#[test]
fn an_id_in_several_documents_is_ambiguous() {
    let section = "<!--LDMD:BEGIN id=\"a?b%\"-->\nx\n<!--LDMD:END id=\"a?b%\"-->\n";
    let place = Place::ingested(&[("one.md", section), ("two.md", section)]);
    let json = place.run(&["select", "ldmd:a?b%"]).ends(1).json();
    let fault = &json["unresolved_selectors"][0];
    assert_eq!(fault["code"], "AMBIGUOUS");
    let candidates = selectors(&fault["candidates"]);
    assert_eq!(candidates[0], "one.md::ldmd:a%3Fb%25");
    for candidate in candidates {
        let json = place.run(&["select", candidate]).success().json();
        assert_eq!(json["results"][0]["selector"], *candidate);
    }
}

/// Markers that break the rules of LDMD, as documented and as found elsewhere.
const FAULTY: [(&str, &[&str], &[&str]); 9] = [
    (
        "<!--LDMD:BEGIN id=\"a\"-->\n  <!--LDMD:BEGIN id=\"b\"-->\n  <!--LDMD:END id=\"a\"-->\n\
         <!--LDMD:END id=\"b\"-->\n",
        &["a"],
        &["UNCLOSED_SECTION 2", "MISMATCHED_END 3", "UNEXPECTED_END 4"],
    ),
    (
        "<!--LDMD:BEGIN id=\"summary\"-->\n<!--LDMD:END id=\"summary\"-->\n\
         <!--LDMD:BEGIN id=\"summary\"-->\n<!--LDMD:END id=\"summary\"-->\n",
        &["summary", "summary@3"],
        &["DUPLICATE_ID 3"],
    ),
    (
        "<!--LDMD:BEGIN id=\"a\"-->\n<!--LDMD:END id=\"a\"-->\n<!--LDMD:BEGIN id=\"b\"-->\n",
        &["a"],
        &["UNCLOSED_SECTION 3"],
    ),
    ("<!--LDMD:END id=\"a\"-->\n", &[], &["UNEXPECTED_END 1"]),
    ("<!--LDMD:BEGIN id=\"\"-->\n", &[], &["MALFORMED_MARKER 1"]),
    (
        "<!--LDMD:BEGIN id=\"x\" title=\"X\" level=\"1\"\n  parent=\"root\"-->\ntext\n\
         <!--LDMD:END id=\"x\"-->\n<!--LDMD:BEGIN id=\"y\"-->\n<!--LDMD:END id=\"y\"-->\n",
        &["y"],
        &["MALFORMED_MARKER 1", "UNEXPECTED_END 4"],
    ),
    (
        "<!-- LDMD:BEGIN id=\"a\"-->\n<!--ldmd:begin id=\"b\"-->\n<!--LDMD:VERSION 2.0-->\n\
         ```\n<!-- LDMD:BEGIN id=\"c\"\n```\n",
        &[],
        &["MALFORMED_MARKER 1", "MALFORMED_MARKER 2", "UNKNOWN_VERSION 3"],
    ),
    ("\u{feff}<!--LDMD:BEGIN id=\"a\"-->\r\nx\r\n<!--LDMD:END id=\"a\"-->", &["a"], &[]),
    (
        "<!--LDMD:BEGIN id=\"a\" level=\"2\"-->\n<!--LDMD:BEGIN id=\"b\" level=\"1\" parent=\"c\"-->\n\
         <!--LDMD:END id=\"b\"-->\n<!--LDMD:END id=\"a\"-->\n",
        &["a", "b"],
        &["LEVEL_MISMATCH 2", "PARENT_MISMATCH 2"],
    ),
];

#[test]
fn a_document_with_marker_problems_stays_with_its_valid_sections() {
    for (text, sections, faults) in FAULTY {
        let place = Place::with(&[("x.md", text)]);
        let report = place.run(&["ingest"]).success().json();
        let warned: Vec<&str> = report["warnings"]
            .as_array()
            .unwrap()
            .iter()
            .map(|warning| warning["code"].as_str().unwrap())
            .collect();
        let codes: Vec<&str> =
            faults.iter().map(|fault| fault.split(' ').next().unwrap()).collect();
        assert_eq!(warned, codes, "{text}");
        let index = place.run(&["ldmd", "index", "x.md"]).success().json();
        assert_eq!(ids(&index), sections, "{text}");
        let check = place.run(&["ldmd", "check"]).ends(i32::from(!faults.is_empty())).json();
        let reported: Vec<String> = check["findings"]
            .as_array()
            .unwrap()
            .iter()
            .map(|f| format!("{} {}", f["code"].as_str().unwrap(), f["line"]))
            .collect();
        assert_eq!(reported, faults, "{text}");
        for section in sections {
            let json = place.run(&["ldmd", "get", "x.md", "--id", section]).success().json();
            assert_eq!(json["section_id"], *section);
            place.run(&["select", &format!("x.md::ldmd:{section}")]).success();
        }
        place.run(&["select", "x.md::*"]).success();
    }
    let place = Place::ingested(&[("x.md", FAULTY[0].0)]);
    assert_eq!(place.run(&["ldmd", "check", "none.md"]).ends(2).code(), "NAMESPACE_NOT_FOUND");
}

#[test]
fn the_source_files_are_not_read() {
    let place = Place::with_fixtures();
    let commands: [&[&str]; 7] = [
        &["ldmd", "index", "answer.ldmd.md"],
        &["ldmd", "get", "answer.ldmd.md", "--id", "key_findings", "-f", "raw"],
        &["ldmd", "search", "answer.ldmd.md", "--query", "process"],
        &["ldmd", "neighbors", "answer.ldmd.md", "--id", "deep"],
        &["ldmd", "check"],
        &["ldmd", "emit", "guide.md"],
        &["select", "answer.ldmd.md::ldmd:deep", "-f", "raw"],
    ];
    let before = commands.map(|command| place.run(command).text());
    for entry in std::fs::read_dir(place.path()).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && !path.to_string_lossy().contains(".mdsel") {
            std::fs::remove_dir_all(path).unwrap();
        } else if path.extension().is_some_and(|extension| extension == "md") {
            std::fs::remove_file(path).unwrap();
        }
    }
    let after = commands.map(|command| place.run(command).text());
    for (before, after) in before.iter().zip(&after) {
        // What an answer says about the files is after its findings, or a field of its own.
        let after = after.replace(",\"missing\":true", "");
        let end = after.find(",\"warnings\":[{\"code\":\"STALE_DOCUMENTS\"").unwrap_or(after.len());
        assert!(before.starts_with(&after[..end]), "{before}{after}");
    }
}

/// A document in which every part looks like a marker.
const HOSTILE: &str = "\
# <!--LDMD:END id=\"key_findings\"-->

<!--LDMD:END id=\"section_0\"-->

## ```

needle <!--LDMD:BEGIN id=\"x\"-->

````
<!--LDMD:END id=\"section_0_body\"--> needle
````

## ~~~ <script>

1. needle
2. `needle`

- needle <!--

## needle -->

needle needle

<!--LDMD:BEGIN id=\"summary\"-->
needle
";

#[test]
fn ingested_answers_can_be_read_part_by_part() {
    let place = Place::with_fixtures();
    place.write("hostile.md", HOSTILE);
    place.run(&["ingest"]).success();
    let commands: [&[&str]; 12] = [
        &["links", "list", "links.md"],
        &["context", "hostile.md", "links.md::*", "guide.md::Install", "--with-body"],
        &["context", "--under", ".", "--limit", "9"],
        &["search", "-F", "needle"],
        &["search", "needle install", "--limit", "9"],
        &["search", "-F", "e", "-l"],
        &["toc", "--limit", "0"],
        &["find", "*"],
        &["index", "hostile.md", "--blocks"],
        &["select", "hostile.md::*?full=true", "hostile.md::block:paragraph", "nowhere::*"],
        &["neighbors", "guide.md::root"],
        &["read", "hostile.md", "*"],
    ];
    for command in commands {
        let text = place.run(&[command, &["-f", "ldmd"]].concat()).text();
        let again = Place::ingested(&[("answer.md", &text)]);
        assert_eq!(again.run(&["ldmd", "check"]).success().json()["findings"], json!([]));
        let index = again.run(&["ldmd", "index", "answer.md"]).success().json();
        let found = ids(&index);
        let first = ["run_meta", "summary", "key_findings"];
        let first = [&first[..], &["key_findings_tldr", "key_findings_body"]].concat();
        assert!(found.starts_with(&first), "{text}");
        assert_eq!(found.last(), Some(&"provenance"));
        let tldr = ["ldmd", "get", "answer.md", "--id", "key_findings", "--mode", "tldr"];
        let tldr = again.run(&tldr).success().json();
        assert!(tldr["content"].as_str().unwrap().contains("\n1. "), "{text}");
        let lines_of = |id| {
            let body = again.run(&["ldmd", "get", "answer.md", "--id", id]).success().json();
            body["content"].as_str().unwrap().lines().count()
        };
        if found.contains(&"section_0") {
            assert!(lines_of("section_0") > 2, "{text}");
        }
        if command[0] == "search" || command[0] == "toc" {
            assert!(lines_of("key_findings_body") > 2, "{text}");
        }
    }
}

/// `text` without the lines of its markers, and without a byte order mark.
fn without_markers(text: &[u8], markup: &ldmd::Markup) -> Vec<u8> {
    let mut is_kept = vec![true; text.len()];
    for section in &markup.sections {
        is_kept[section.span.start..section.content.start].fill(false);
        is_kept[section.content.end..section.span.end].fill(false);
    }
    let kept = text.iter().zip(is_kept).filter_map(|(&byte, is_kept)| is_kept.then_some(byte));
    let kept: Vec<u8> = kept.collect();
    kept.strip_prefix(markdown::BYTE_ORDER_MARK).map(<[u8]>::to_vec).unwrap_or(kept)
}

#[test]
fn any_document_can_be_printed_with_markers_between_its_bytes() {
    let place = Place::new();
    copy(&fixtures(), place.path());
    for (number, path) in corpus::sample(600).iter().enumerate() {
        if !path.starts_with(fixtures()) {
            std::fs::copy(path, place.join(&format!("corpus-{number}.md"))).unwrap();
        }
    }
    place.write("hostile.md", HOSTILE);
    place.write("open.md", "# A\n\ntext\n\n~~~~sh\n# B\n```\n");
    place.write("no-end.md", "---\na: 1\n---\n\n# A\r\n\r\ntext");
    place.run(&["ingest"]).success();
    let reader = reader(&place.join(".mdsel.db")).unwrap();
    let session = Session::new(&*reader);
    let (mut summaries, mut unchanged) = (0, 0);
    for stored in reader.all(&Lookup::All).unwrap() {
        let document = session.open(&stored).unwrap();
        let bytes = session.content(&document, document.span()).unwrap();
        let content = emit::emit(&session, &stored.path, None).unwrap().body.unwrap().content();
        if !document.markup.sections.is_empty() && document.markup.faults.is_empty() {
            assert_eq!(content, bytes, "{}", stored.path);
            unchanged += 1;
            continue;
        }
        let parsed = markdown::parse(&content);
        let markup = ldmd::parse(&content, &parsed.opaque);
        assert_eq!(markup.faults, [], "{}", stored.path);
        let titles = |outline: &markdown::outline::Outline| -> Vec<(u8, String)> {
            outline.sections.iter().map(|s| (s.level, s.title.clone())).collect()
        };
        assert_eq!(titles(&parsed.outline), titles(document.tree.outline()), "{}", stored.path);
        let headings = parsed.outline.sections.len();
        let is_summary = |s: &&ldmd::LdmdSection| s.id.ends_with("_tldr");
        let of_headings = markup.sections.iter().filter(|s| !is_summary(s) && s.level > 0);
        assert_eq!(of_headings.count(), headings, "{}", stored.path);
        summaries += markup.sections.iter().filter(is_summary).count();
        let plain = without_markers(&content, &markup);
        let bytes = bytes.strip_prefix(markdown::BYTE_ORDER_MARK).unwrap_or(&bytes);
        if !document.stored.has_ldmd {
            let added = plain.strip_prefix(bytes).unwrap_or_else(|| panic!("{}", stored.path));
            // A final line end, and the line that closes an open fence.
            assert!(added.trim_ascii().iter().all(|byte| b"`~".contains(byte)), "{}", stored.path);
        }
    }
    assert!(summaries > 10);
    assert!(unchanged > 0);
}

#[test]
fn a_printed_document_can_be_read_by_the_rules_of_ldmd() {
    let place = Place::with_fixtures();
    let emitted = place.run(&["ldmd", "emit", "guide.md"]).success().text();
    place.write("again.md", &emitted);
    place.run(&["ingest"]).success();
    place.run(&["ldmd", "check"]).success();
    let tldr = place
        .run(&["ldmd", "get", "again.md", "--id", "install", "--mode", "tldr"])
        .success()
        .json();
    assert_eq!((&tldr["mode"], &tldr["section_id"]), (&json!("tldr"), &json!("install")));
    let json = place.run(&["ldmd", "emit", "guide.md", "-f", "json"]).success().json();
    assert_eq!(json["content"], emitted);
    // A budget returns the first sections, and the rest can be requested.
    let mut after: Option<String> = None;
    let mut titles = Vec::new();
    loop {
        let mut call = vec!["ldmd", "emit", "guide.md", "-f", "json", "--max-chars", "1500"];
        if let Some(after) = &after {
            call.extend(["--after", after]);
        }
        let json = place.run(&call).success().json();
        let content = json["content"].as_str().unwrap();
        let markup = ldmd::parse(content.as_bytes(), &markdown::parse(content.as_bytes()).opaque);
        assert_eq!(markup.faults, []);
        titles.extend(markup.sections.iter().map(|s| s.title.clone()).filter(|t| !t.is_empty()));
        titles.retain(|title| title != "Truncated");
        match json.get("next") {
            Some(next) => after = Some(next.as_str().unwrap().to_owned()),
            None => break,
        }
    }
    let whole = ldmd::parse(emitted.as_bytes(), &[]);
    let all: Vec<_> =
        whole.sections.iter().map(|s| s.title.clone()).filter(|t| !t.is_empty()).collect();
    assert_eq!(titles, all);
}

#[test]
fn a_preview_lists_the_sections_that_it_leaves_out() {
    let place = Place::with_fixtures();
    let command = ["ldmd", "get", "answer.ldmd.md", "--id", "key_findings", "--depth", "0"];
    let count = place.run(&command).success().json()["omitted_sections"].as_u64().unwrap();
    let said = format!("{count} sections in key_findings left out: --depth 1 shows more");
    let text = place.run(&[&command[..], &["-f", "text"]].concat()).success().text();
    assert!(text.lines().last().unwrap().starts_with(&said), "{text}");
    let raw = place.run(&[&command[..], &["-f", "raw"]].concat()).success();
    assert!(raw.stderr.starts_with(&said), "{}", raw.stderr);
    let preview = [&command[..], &["--mode", "preview", "-f", "text"]].concat();
    let next = "--mode full shows more; mdsel ldmd index answer.ldmd.md lists them";
    let text = place.run(&preview).success().text();
    assert!(text.trim_end().ends_with(next), "{text}");
}

#[test]
fn a_fence_is_closed_although_its_last_line_looks_like_a_closing_one() {
    let place = Place::ingested(&[("a.md", "~~~\ncode\n    ~~~\n")]);
    let emitted = place.run(&["ldmd", "emit", "a.md", "-f", "raw"]).success().text();
    assert!(emitted.contains("\n    ~~~\n~~~\n<!--LDMD:END"), "{emitted}");
}

#[test]
fn an_emitted_document_keeps_its_references() {
    let text = "# A\n\n<!--LDMD:REF doc=\"b.md\" section=\"s\"-->\n\n<!--LDMD:REF id=\"x\" bytes=\"3\"-->\n\n\
                <!--LDMD:BEGIN id=\"y\"-->\n\n<!--LDMD:REF section=\"s\"-->\n";
    let place = Place::ingested(&[("a.md", text), ("b.md", "# B\n")]);
    let emitted = place.run(&["ldmd", "emit", "a.md", "-f", "raw"]).success().text();
    for kept in
        ["<!--LDMD:REF doc=\"b.md\" section=\"s\"-->", "<!--LDMD:REF id=\"x\" bytes=\"3\"-->"]
    {
        assert!(emitted.contains(kept), "{emitted}");
    }
    for none in ["<!--*LDMD:BEGIN id=\"y\"-->", "<!--*LDMD:REF section=\"s\"-->"] {
        assert!(emitted.contains(none), "{emitted}");
    }
    place.write("c.md", emitted);
    place.run(&["ingest"]).success();
    place.run(&["ldmd", "check", "c.md"]).success();
    let links = place.run(&["links", "list", "c.md", "--direction", "out"]).success().json();
    assert_eq!(links["edges"].as_array().unwrap().len(), 1, "{links}");
}

#[test]
fn a_line_with_invalid_bytes_says_so() {
    let place = Place::new();
    place.write("a.md", b"<!--LDMD:BEGIN id=\"a\"-->\nx \xff\nx\n<!--LDMD:END id=\"a\"-->\n");
    place.run(&["ingest"]).success();
    let found = place.run(&["ldmd", "search", "a.md", "--query", "x"]).success().json();
    assert_eq!(found["matches"][0]["lossy"], true);
    assert_eq!(found["matches"][1].get("lossy"), None);
}

#[test]
fn a_limit_that_holds_no_character_is_too_small() {
    let document = "<!--LDMD:BEGIN id=\"a\"-->\n\u{4e2d}\u{6587}\n<!--LDMD:END id=\"a\"-->\n";
    let place = Place::ingested(&[("a.md", document)]);
    let get = |bytes: &str| {
        let limit = ["--strip-markers", "--limit-bytes", bytes];
        place.run(&[&["ldmd", "get", "a.md", "--id", "a"][..], &limit].concat())
    };
    let refused = get("2").ends(2);
    assert!(refused.stderr.contains("BUDGET_TOO_SMALL"), "{}", refused.stderr);
    assert!(refused.stderr.contains("--limit-bytes 4"), "{}", refused.stderr);
    assert_eq!(get("4").success().json()["content"], "\u{4e2d}");
}

#[test]
fn a_limit_divides_a_printed_document_between_its_blocks() {
    let script: String = (0..30).map(|line| format!("echo line {line} of the script\n")).collect();
    let prose: String = (0..60).map(|line| format!("line {line} of the prose\n")).collect();
    let document = format!(
        "# A\n\nintro\n\n```sh\n{script}```\n\n- item\n\n  ```\n  x\n\n  y\n  ```\n\n## B\n\n{prose}"
    );
    let place = Place::ingested(&[("a.md", &document)]);
    let emit = |most: &str, after: &str| {
        let mut call = vec!["ldmd", "emit", "a.md", "-f", "json", "--max-chars", most];
        if !after.is_empty() {
            call.extend(["--after", after]);
        }
        place.run(&call)
    };
    let (mut joined, mut after) = (Vec::new(), String::new());
    loop {
        let page = emit("1500", &after).success().json();
        let content = page["content"].as_str().unwrap().as_bytes();
        let markup = ldmd::parse(content, &markdown::parse(content).opaque);
        assert_eq!(markup.faults, []);
        let end = memchr::memmem::find(content, b"<!--LDMD:BEGIN id=\"truncated\"");
        let shown = &content[..end.unwrap_or(content.len())];
        let markup = ldmd::parse(shown, &markdown::parse(shown).opaque);
        joined.extend(without_markers(shown, &markup));
        let Some(next) = page.get("next") else { break };
        after = next.as_str().unwrap().to_owned();
    }
    assert_eq!(String::from_utf8(joined).unwrap(), document);
    // The fence alone is larger.
    let next = emit("600", "").success().json()["next"].as_str().unwrap().to_owned();
    let refused = emit("600", &next).ends(2);
    assert!(refused.stderr.contains("BUDGET_TOO_SMALL"), "{}", refused.stderr);
    let enough = refused.stderr.split("--max-chars ").nth(1).unwrap();
    emit(enough.split(' ').next().unwrap(), &next).success();
}

#[test]
fn a_limit_divides_a_long_line_of_any_marks_between_its_words() {
    let row = "**bold** `code` | [x](y) ".repeat(200);
    let task = "`code` - 1. > ".repeat(300);
    let document = format!("# A\n\n| a | b |\n|---|---|\n| {row}|\n\n- [ ] {task}\n");
    let place = Place::ingested(&[("a.md", &document)]);
    let (mut joined, mut after) = (String::new(), Vec::new());
    loop {
        let mut call = vec!["ldmd", "emit", "a.md", "-f", "json", "--max-chars", "2000"];
        call.extend(after.iter().map(String::as_str));
        let page = place.run(&call).success().json();
        let content = page["content"].as_str().unwrap();
        let content = content.split("<!--LDMD:BEGIN id=\"truncated\"").next().unwrap();
        let lines = content.split_inclusive('\n').filter(|line| !line.starts_with("<!--LDMD"));
        joined.extend(lines);
        let Some(next) = page["next"].as_str() else { break };
        // A line end is added before a marker.
        if !document.starts_with(&joined) {
            joined.pop();
        }
        after = vec!["--after".to_owned(), next.to_owned()];
    }
    assert_eq!(joined, document);
}

#[test]
fn code_and_the_diff_of_a_dry_run_are_in_the_document() {
    let place = Place::ingested(&[("a.md", "# A\n\nold\n\n```rust\nfn x() {}\n```\n")]);
    let code = place.run(&["code", "-f", "ldmd"]).success().text();
    assert!(code.contains("```rust\nfn x() {}\n```\n"), "{code}");
    let edit = ["replace", "a.md::block:paragraph[0]", "--content", "new", "--dry-run"];
    let diff = place.run(&[&edit[..], &["-f", "ldmd"]].concat()).success().text();
    assert!(diff.contains("\n-old\n+new\n"), "{diff}");
    assert!(diff.contains("- documents: 1\n- a.md::*\n"), "{diff}");
    let outside = place.run(&["context", "--item", "text=x", "-f", "ldmd"]).success().text();
    assert!(!outside.contains("- documents: "), "{outside}");
}

#[test]
fn the_provenance_counts_the_documents_that_an_answer_is_about() {
    let broken = "# A\n\n[n](no.md) [m](no.md)\n\n<!--LDMD:BEGIN id=\"x\"-->\n";
    let place = Place::ingested(&[("a.md", broken), ("b.md", "# B\n\n[a](a.md#a)\n")]);
    for (words, count) in [
        (&["neighbors", "a.md::A"][..], Some(1)),
        (&["links", "check"], Some(1)),
        (&["ldmd", "check", "a.md"], Some(1)),
        (&["rename", "a.md::A", "--title", "C", "--dry-run"], Some(2)),
        (&["status", "--limits"], None),
        (&["verify"], None),
    ] {
        let answer = place.run(&[words, &["-f", "ldmd"]].concat()).text();
        let (_, provenance) = answer.split_once("## Provenance\n").unwrap();
        let found = provenance.lines().find_map(|line| line.strip_prefix("- documents: "));
        assert_eq!(found, count.map(|count: usize| count.to_string()).as_deref(), "{answer}");
    }
}

#[test]
fn the_provenance_of_a_list_names_its_documents() {
    let text = "---\nk: 1\n---\n# A\n\n- [ ] x\n\n| c |\n|---|\n| x |\n";
    let place = Place::ingested(&[("a.md", text), ("b.md", "[a](a.md)\n")]);
    for command in [
        &["tables"][..],
        &["tasks"],
        &["meta"],
        &["prime"],
        &["search", "-c", "x"],
        &["search", "-l", "x"],
        &["links", "path", "a.md", "a.md"],
    ] {
        let answer = place.run(&[command, &["-f", "ldmd"]].concat()).success().text();
        assert!(answer.contains("- documents: 1\n- a.md::*\n"), "{command:?}: {answer}");
    }
}

#[test]
fn a_search_ignores_case_and_composition_like_other_commands() {
    let text = "<!--LDMD:BEGIN id=\"s\"-->\n# H\n\ncafe\u{301} Stra\u{df}e \u{3a3}\u{399}\u{3a3}\n<!--LDMD:END id=\"s\"-->\n";
    let place = Place::ingested(&[("n.md", text)]);
    for query in ["caf\u{e9}", "STRASSE", "\u{3c3}\u{3b9}\u{3c2}"] {
        let json = place.run(&["ldmd", "search", "n.md", "--query", query]).success().json();
        assert_eq!(json["matches"][0]["doc_line"], 4, "{query}");
        place.run(&["find", "*", "--content", query]).success();
    }
}

#[test]
fn a_strict_check_lists_the_markers_that_other_readers_read_differently() {
    let marked = "<!--LDMD:BEGIN id=\"a\" title=\"A\" level=\"1\" tags=\"x\"-->\n\
                  \x20 <!--LDMD:BEGIN id=\"b\"-->\ntext\n  <!--LDMD:END id=\"b\"-->\n\
                  <!--LDMD:BEGIN level=\"2\" id=\"c\"-->\n<!--LDMD:END id=\"c\"-->\n\
                  <!--LDMD:END id=\"a\"-->\n<!--LDMD:END id=\"d\"-->\n";
    let place = Place::ingested(&[
        ("code.md", "# How to mark\n\n```html\n<!--LDMD:BEGIN id=\"x\"-->\n```\n"),
        ("marked.md", marked),
        ("plain.md", "# Nothing about it\n"),
    ]);
    let check = |arguments: &[&str]| {
        let answer = place.run(&[&["ldmd", "check"], arguments].concat()).ends(1).json();
        let finding = |it: &Value| {
            let text = |name: &str| it[name].as_str().unwrap().to_owned();
            format!("{}:{} {}", text("file"), it["line"], text("code"))
        };
        answer["findings"].as_array().unwrap().iter().map(finding).collect::<Vec<_>>()
    };
    assert_eq!(check(&[]), ["marked.md:8 UNEXPECTED_END"]);
    assert_eq!(
        check(&["--strict-markers"]),
        [
            "code.md:4 MARKER_IN_CODE",
            "marked.md:2 BLANKS_AROUND_MARKER",
            "marked.md:4 BLANKS_AROUND_MARKER",
            "marked.md:5 ATTRIBUTE_ORDER",
            "marked.md:8 UNEXPECTED_END"
        ]
    );
    assert_eq!(check(&["--strict-markers", "code.md"]), ["code.md:4 MARKER_IN_CODE"]);
    place.run(&["ldmd", "check", "code.md"]).success();
    place.run(&["ldmd", "check", "--strict-markers", "plain.md"]).success();
}

#[test]
fn markers_have_the_line_ends_of_the_document() {
    let text = "---\ntitle: x\n---\n\n# A\n\none\n\n## B\n\ntwo\n";
    for line_end in ["\n", "\r\n", "\r"] {
        let place = Place::ingested(&[("a.md", &*text.replace('\n', line_end))]);
        let emitted = place.run(&["ldmd", "emit", "a.md", "-f", "raw"]).success().text();
        let lines: Vec<&str> = emitted.split(line_end).collect();
        assert!(lines.len() > 15 && !lines.concat().contains(['\r', '\n']), "{emitted:?}");
        place.write("b.md", &emitted);
        place.run(&["ingest"]).success();
        place.run(&["ldmd", "check", "b.md"]).success();
    }
}

#[test]
fn a_rename_names_the_heading_in_the_section_and_the_title_of_its_marker() {
    let text = "# R\n\n<!--LDMD:BEGIN id=\"x\" title=\"X & y\"-->\n## X & y\n\nx\n<!--LDMD:END id=\"x\"-->\n\n\
                <!--LDMD:BEGIN id=\"z\" title=\"Z\"-->\nz\n<!--LDMD:END id=\"z\"-->\n";
    let text = text.replace("title=\"X & y\"", "title=\"X &amp; y\"");
    let place = Place::ingested(&[("r.md", &text)]);
    let hint = |arguments: &[&str]| {
        let fault = place.run(arguments).ends(2).json();
        fault["error"]["hint"].as_str().unwrap().to_owned()
    };
    let command = hint(&["rename", "r.md", "ldmd:x", "--title", "T & u"]);
    assert!(command.contains("`mdsel rename 'r.md::heading:h2[0]' --title 'T & u'`"), "{command}");
    let of_marker = hint(&["rename", "r.md", "ldmd:z", "--title", "T"]);
    let command = of_marker.split('`').nth(1).unwrap();
    place.run(&words(command)[1..].iter().map(String::as_str).collect::<Vec<_>>()).success();
    let answer = place.run(&["rename", "r.md", "X & y", "--title", "T & u"]).success().json();
    assert_eq!(answer["warnings"][0]["code"], "MARKER_TITLE", "{answer}");
    let command = answer["warnings"][0]["message"].as_str().unwrap().split('`').nth(1).unwrap();
    place.run(&words(command)[1..].iter().map(String::as_str).collect::<Vec<_>>()).success();
    let now = std::fs::read_to_string(place.join("r.md")).unwrap();
    let renamed = text.replace("X &amp; y", "T &amp; u").replace("X & y", "T & u");
    assert_eq!(now, renamed.replace("title=\"Z\"", "title=\"T\""));
    let again = place.run(&["rename", "r.md", "T & u", "--title", "V"]).success().json();
    place.run(&["rename", "r.md", "V", "--title", "W"]).success();
    assert_eq!(again["warnings"][0]["code"], "MARKER_TITLE", "{again}");
}

#[test]
fn the_command_that_changes_the_title_of_a_marker_works_for_each_marker() {
    let marked = |marker: &str| {
        format!("# R\n\n{marker}\n## Setup\n\n### Setup\n\ns\n<!--LDMD:END id=\"g\"-->\n")
    };
    for (old, new) in [
        (
            "<!--LDMD:BEGIN id=\"g\" subtitle=\"Setup\" title=\"Setup\"-->",
            "<!--LDMD:BEGIN id=\"g\" subtitle=\"Setup\" title=\"It's &quot;A&quot;\"-->",
        ),
        (
            "<!--LDMD:BEGIN title='Setup' id='g'-->",
            "<!--LDMD:BEGIN title='It&#39;s \"A\"' id='g'-->",
        ),
    ] {
        let place = Place::ingested(&[("r.md", &marked(old))]);
        let rename = |section| place.run(&["rename", section, "--title", "It's \"A\""]).success();
        let answer = rename("r.md::heading:h2[0]").json();
        let message = answer["warnings"][0]["message"].as_str().unwrap();
        let command = words(message.split('`').nth(1).unwrap());
        place.run(&command[1..].iter().map(String::as_str).collect::<Vec<_>>()).success();
        let now = std::fs::read_to_string(place.join("r.md")).unwrap();
        assert_eq!(now, marked(new).replacen("## Setup", "## It's \"A\"", 1));
    }
    let place = Place::ingested(&[("r.md", &marked("<!--LDMD:BEGIN id=\"g\" title=\"Setup\"-->"))]);
    let untitled =
        Place::ingested(&[("r.md", "<!--LDMD:BEGIN id=\"g\"-->\ng\n<!--LDMD:END id=\"g\"-->\n")]);
    let refused = untitled.run(&["rename", "r.md::ldmd:g", "--title", "G"]).ends(2).json();
    let hint = refused["error"]["hint"].as_str().unwrap();
    let command = words(hint.split('`').nth(1).unwrap());
    untitled.run(&command[1..].iter().map(String::as_str).collect::<Vec<_>>()).success();
    let now = std::fs::read_to_string(untitled.join("r.md")).unwrap();
    assert!(now.starts_with("<!--LDMD:BEGIN id=\"g\" title=\"G\"-->\n"), "{now}");
    let inner = place.run(&["rename", "r.md::heading:h3[0]", "--title", "Other"]).success().json();
    assert!(inner["warnings"][0].is_null(), "the marker has the title of another heading: {inner}");
}
