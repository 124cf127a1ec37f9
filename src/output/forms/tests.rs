//! Every format of every answer stays valid, whatever the documents contain.

use serde_json::{Map, Value, json};

use super::super::{Answer, Caller, Format, OutputOptions, RecordForm, write, write_list};
use crate::error::{ErrorKind, Warning};
use crate::query::context::{self, ContextItem, Outside};
use crate::query::data::{code, meta, tables, tasks};
use crate::query::finding::{Finding, Findings};
use crate::query::freshness::Freshness;
use crate::query::index;
use crate::query::links::LinkNode;
use crate::query::node::{Content, Counts};
use crate::query::{List, Page, find, neighbors, prime, toc};
use crate::visible::is_unsafe;
use crate::{ldmd, markdown, records};

/// Text that tries to end a line, a fence and a section, and to control a terminal.
const HOSTILE: &str = "T\n<!--LDMD:BEGIN id=\"forged\" title=\"x\" level=\"1\"-->\r\n```\n\
    <!--LDMD:END id=\"summary\"-->\nN a b \"c\" tags= path=d\u{1b}[2J\u{202e}\u{9b}";

fn options(format: Format, max_chars: Option<usize>) -> OutputOptions<'static> {
    OutputOptions {
        format,
        is_pretty: false,
        is_compact: false,
        has_color: false,
        max_chars,
        max_bytes: None,
        max_tokens: None,
        record_form: RecordForm::default(),
        store: ".mdsel.db",
        caller: Caller::CommandLine,
    }
}

fn written(answer: &impl Answer, format: Format) -> String {
    let mut bytes = Vec::new();
    write(answer, options(format, None), &mut bytes).unwrap();
    String::from_utf8(bytes).unwrap()
}

/// Asserts that `text` is a document of `format`.
fn assert_valid(text: &str, format: Format, name: &str) {
    match format {
        Format::Json => assert!(serde_json::from_str::<Value>(text).is_ok(), "{name}: {text}"),
        Format::Jsonl => {
            for line in text.lines() {
                assert!(serde_json::from_str::<Value>(line).is_ok(), "{name}: {line}");
            }
        }
        Format::Ldmd => {
            let opaque = markdown::parse(text.as_bytes()).opaque;
            let markup = ldmd::parse(text.as_bytes(), &opaque);
            assert_eq!(markup.faults, [], "{name}: {text}");
            assert!(markup.sections.iter().any(|section| section.id == "provenance"), "{name}");
            assert!(markup.sections.iter().all(|section| section.id != "forged"), "{name}: {text}");
        }
        Format::Records => {
            let read: Result<Vec<_>, _> = records::RecordReader::new(text.as_bytes()).collect();
            assert!(read.is_ok_and(|records| !records.is_empty()), "{name}: {text}");
        }
        Format::Csv => {
            let widths = csv_widths(text).unwrap_or_else(|| panic!("{name}: {text}"));
            assert!(widths.windows(2).all(|pair| pair[0] == pair[1]), "{name}: {text}");
        }
        Format::Text | Format::Raw | Format::Markdown | Format::Mermaid | Format::Dot => {}
    }
    // These formats have the bytes of content unchanged.
    let has_bytes = match format {
        Format::Raw | Format::Markdown | Format::Csv => true,
        Format::Ldmd | Format::Records => matches!(name, "context" | "code"),
        _ => false,
    };
    if !has_bytes {
        let is_plain = |scalar: char| scalar == '\n' || !is_unsafe(scalar);
        assert!(text.replace("\r\n", "\n").chars().all(is_plain), "{name} {format:?}: {text:?}");
    }
}

/// Returns the number of fields of each record of comma-separated values, or `None` if a quote is not
/// closed or is inside a field.
fn csv_widths(text: &str) -> Option<Vec<usize>> {
    let (mut widths, mut width, mut is_quoted) = (Vec::new(), 1, false);
    let mut scalars = text.chars().peekable();
    let mut is_start = true;
    while let Some(scalar) = scalars.next() {
        match scalar {
            '"' if is_quoted && scalars.next_if_eq(&'"').is_some() => {}
            '"' if is_quoted || is_start => is_quoted = !is_quoted,
            '"' => return None,
            ',' if !is_quoted => width += 1,
            '\n' if !is_quoted => widths.push(std::mem::replace(&mut width, 1)),
            _ => {}
        }
        is_start = matches!(scalar, ',' | '\n') && !is_quoted;
    }
    (!is_quoted && width == 1).then_some(widths)
}

/// Asserts that an answer is valid in the formats that it declares, also if it is cut, and that it refuses
/// the others.
fn assert_forms(answer: &(impl Answer + List)) {
    for format in Format::ALL {
        let name = answer.name();
        if answer.has(format) {
            let whole = written(answer, format);
            // The bytes of an empty code block are no bytes.
            assert!(!whole.is_empty() || format == Format::Raw, "{name} {format:?}");
            assert_valid(&whole, format, name);
            for most in (0..whole.chars().count()).step_by(37) {
                let mut cut = Vec::new();
                match write_list(answer, options(format, Some(most)), &mut cut) {
                    Ok(_) => {
                        let cut = String::from_utf8(cut).unwrap();
                        assert!(cut.chars().count() <= most, "{name} {format:?} {most}");
                        assert_valid(&cut, format, name);
                    }
                    Err(error) => assert_eq!(error.kind(), ErrorKind::BudgetTooSmall, "{name}"),
                }
            }
        } else {
            let error = write(answer, options(format, None), &mut Vec::new()).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Usage);
            assert!(!error.hint().contains(format.name()), "{name}: {}", error.hint());
        }
    }
}

fn page(text: &str) -> Page {
    let mut page = Page::default();
    page.warnings.push(Warning::new("LOSSY", text.to_owned()));
    page
}

fn changed() -> Freshness {
    Freshness { is_stale: true, ..Freshness::default() }
}

fn matches(text: &str) -> find::FindAnswer {
    let found = |level| find::FoundSection {
        file: text.to_owned(),
        path: None,
        title: text.to_owned(),
        level,
        line_start: 1,
        line_end: 3,
        char_count: 9,
        selector: format!("a.md::heading:h{level}[0]"),
        lossy: false,
        freshness: changed(),
    };
    find::FindAnswer { matches: vec![found(1), found(2)], page: page(text), advice: None }
}

fn section(text: &str, level: u8) -> toc::TocSection {
    toc::TocSection {
        title: text.to_owned(),
        slug: String::new(),
        level,
        line_start: 1,
        line_end: 9,
        own_line_end: 4,
        char_count: 1234,
        own_char_count: 5,
        path: None,
        anchor: None,
        selector: format!("a.md::heading:h{level}[0]"),
        omitted_sections: usize::from(level == 2),
    }
}

fn trees(text: &str) -> toc::TocAnswer {
    let entry = |depth, level| toc::TocEntry { depth, section: section(text, level) };
    let file = toc::File {
        file: text.to_owned(),
        entries: vec![entry(0, 1), entry(1, 2), entry(0, 1)],
        has_entries: true,
        has_headings: true,
        lines: 3,
        front_matter: Some(toc::FrontMatterSize { line_start: 1, line_end: 3, char_count: 20 }),
        listed_front_matter: Some(toc::FrontMatterSize {
            line_start: 1,
            line_end: 3,
            char_count: 20,
        }),
        lossy: false,
        freshness: changed(),
    };
    toc::TocAnswer {
        files: vec![file.clone(), file],
        is_single: false,
        is_shallow: false,
        is_path_given: false,
        page: page(text),
    }
}

fn documents(text: &str) -> index::IndexAnswer {
    let document = index::IndexedDocument {
        namespace: text.to_owned(),
        words: 7,
        lines: 3,
        bytes: 30,
        root: index::Root {
            selector: "a.md::root".to_owned(),
            node_type: "root",
            words: 2,
            content: Content::new(text.as_bytes().to_vec()),
            truncated: false,
        },
        headings: vec![index::IndexedHeading {
            selector: "a.md::heading:h1[0]".to_owned(),
            text: text.to_owned(),
            node_type: "heading:h1".to_owned(),
            level: 1,
            line_start: 1,
            words: 5,
            children: 0,
            truncated: false,
        }],
        blocks: Counts(vec![("block:code", 1)]),
        block_list: Some(vec![index::IndexedBlock {
            selector: "a.md::block:code[0]".to_owned(),
            node_type: "block:code".to_owned(),
            preview: text.to_owned(),
        }]),
        freshness: Freshness::default(),
        lossy: false,
    };
    index::IndexAnswer { documents: vec![document], page: page(text) }
}

fn around(text: &str) -> neighbors::NeighborsAnswer {
    let neighbor = || neighbors::Neighbor {
        selector: "a.md::heading:h2[0]".to_owned(),
        title: Some(text.to_owned()),
    };
    let around = neighbors::Around {
        selector: text.to_owned(),
        prev: None,
        next: Some(neighbor()),
        parent: Some(neighbor()),
        children: vec![neighbor(), neighbor()],
        prev_in_order: None,
        next_in_order: Some(neighbor()),
        lossy: false,
        file: text.to_owned(),
        freshness: changed(),
    };
    neighbors::NeighborsAnswer { around: Some(around), page: page(text) }
}

fn introduction(text: &str) -> prime::PrimeAnswer {
    let node = LinkNode {
        lossy: false,
        selector: "a.md::*".to_owned(),
        node_type: text.to_owned(),
        title: text.to_owned(),
        tags: vec![text.to_owned()],
        file: text.to_owned(),
        hop: None,
        summary: Some(text.to_owned()),
        freshness: Freshness::default(),
    };
    prime::PrimeAnswer {
        totals: crate::store::Totals::default(),
        folders: vec![prime::Folder {
            folder: text.to_owned(),
            documents: 2,
            is_collection: false,
        }],
        most_linked: vec![prime::Linked { node, linked_from: 3 }],
        commands: vec![prime::Advice { command: "mdsel toc DOC", what: "the tree" }],
        page: page(text),
    }
}

fn bundle(text: &str) -> context::ContextAnswer {
    let item = ContextItem::Outside(Outside {
        kind: "repl-history".to_owned(),
        file: Some("x.py".to_owned()),
        line_start: Some(1),
        line_end: Some(4),
        content: text.to_owned(),
        lossy: false,
        truncated: false,
        number: 0,
    });
    context::ContextAnswer {
        items: vec![item.clone(), item],
        page: Page::default(),
        with_body: true,
        advice: None,
        summary_note: context::ContextAnswer::SUMMARY_NOTE.into(),
        language: None,
        is_strict: false,
        left: context::LinkedLeft::default(),
        longer: None,
    }
}

fn problems(text: &str) -> Findings {
    let finding = Finding {
        code: "BROKEN_LINK",
        message: text.to_owned().into(),
        file: Some(text.to_owned()),
        line: Some(3),
        hint: Some(text.to_owned().into()),
    };
    Findings {
        findings: vec![finding.clone(), finding],
        page: page(text),
        total: 2,
        shown_total: None,
        repeated: Vec::new(),
        summary: Vec::new(),
    }
}

fn map(text: &str) -> Map<String, Value> {
    [("key".to_owned(), text.into()), (text.to_owned(), json!([text, 1]))].into_iter().collect()
}

fn code_blocks(text: &str) -> code::CodeAnswer {
    let block = code::Code {
        selector: "a.md::block:code[0]".to_owned(),
        file: text.to_owned(),
        line: 3,
        heading_path: vec![text.to_owned(), text.to_owned()],
        language: text.to_owned(),
        info: text.to_owned(),
        code: Some(text.to_owned()),
        bytes: text.as_bytes().to_vec(),
        lossy: false,
        written: Some(text.to_owned()),
        freshness: changed(),
    };
    code::CodeAnswer { code: vec![block.clone(), block], page: page(text) }
}

fn rows(text: &str) -> tables::TableAnswer {
    let row = tables::TableRow {
        lossy: false,
        selector: "a.md::block:table[0]/row[0]".to_owned(),
        file: text.to_owned(),
        line: 3,
        heading_path: vec![text.to_owned()],
        row: [("a".to_owned(), text.into()), (text.to_owned(), text.into())].into_iter().collect(),
        source: Map::new(),
        freshness: changed(),
    };
    let narrow = tables::TableRow { row: Map::new(), ..row.clone() };
    tables::TableAnswer { rows: vec![row, narrow], asked: Vec::new(), page: page(text) }
}

fn task_list(text: &str) -> tasks::TaskAnswer {
    let task = |depth| tasks::Task {
        lossy: false,
        selector: "a.md::block:list[0]/item[0]".to_owned(),
        file: text.to_owned(),
        line: 3,
        heading_path: vec![text.to_owned()],
        state: tasks::State::Open,
        text: text.to_owned(),
        depth,
        fields: map(text),
        freshness: changed(),
    };
    tasks::TaskAnswer { tasks: vec![task(0), task(1)], page: page(text) }
}

fn front_matter(text: &str) -> meta::MetaAnswer {
    let document = meta::Document {
        selector: "a.md::@frontmatter".to_owned(),
        file: text.to_owned(),
        meta: map(text),
        freshness: changed(),
    };
    meta::MetaAnswer { documents: vec![document.clone(), document], page: page(text) }
}

fn keys(text: &str) -> meta::Types {
    let types = [("string".to_owned(), 2), ("date".to_owned(), 1)].into_iter().collect();
    let key = meta::Key { key: text.to_owned(), documents: 3, types };
    meta::Types { keys: vec![key.clone(), key], page: page(text) }
}

#[test]
fn every_format_is_valid_whatever_documents_contain() {
    for text in ["plain", HOSTILE, ""] {
        assert_forms(&matches(text));
        assert_forms(&trees(text));
        assert_forms(&documents(text));
        assert_forms(&around(text));
        assert_forms(&introduction(text));
        assert_forms(&bundle(text));
        assert_forms(&problems(text));
        assert_forms(&code_blocks(text));
        assert_forms(&rows(text));
        assert_forms(&task_list(text));
        assert_forms(&front_matter(text));
        assert_forms(&keys(text));
    }
}

#[test]
fn text_shows_a_line_for_each_item() {
    let text = written(&matches("Title"), Format::Text);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "Title:1-3: # Title  ::heading:h1[0]");
    assert_eq!(lines[1], "Title:1-3: ## Title  ::heading:h2[0]");
    assert_eq!(
        lines[2],
        "warning: Title has changed since it was ingested; add --refresh to ingest it first"
    );
    assert_eq!(lines[3], "warning: LOSSY: Title");
    let text = written(&trees("Title"), Format::Text);
    assert_eq!(
        text.lines().take(5).collect::<Vec<_>>(),
        [
            "Title",
            "[frontmatter] (1-3, 20B)",
            "# Title (1-9, 1.2K)",
            "  ## Title (1-9, 1.2K) +1 below",
            "# Title (1-9, 1.2K)"
        ]
    );
    let text = written(&problems("Title"), Format::Text);
    assert_eq!(text.lines().next(), Some("Title:3: BROKEN_LINK: Title (Title)"));
}

#[test]
fn the_json_of_sections_is_a_tree() {
    let json: Value = serde_json::from_str(&written(&trees("T"), Format::Json)).unwrap();
    let sections = &json["files"][0]["sections"];
    assert_eq!(sections.as_array().unwrap().len(), 2);
    assert_eq!(sections[0]["children"][0]["level"], 2);
    assert_eq!(sections[0]["children"][0]["omitted_sections"], 1);
    assert_eq!(sections[0].get("omitted_sections"), None);
    assert_eq!(json["files"][0]["stale"], true);
    assert_eq!(json["files"][0].get("missing"), None);
    let single = toc::TocAnswer { is_single: true, is_path_given: true, ..trees("T") };
    let json: Value = serde_json::from_str(&written(&single, Format::Json)).unwrap();
    assert_eq!(json["file"], "T");
    assert_eq!(json["warnings"][0]["code"], "LOSSY");
}

#[test]
fn a_cut_answer_says_so_in_every_format() {
    let mut answer = matches("Title");
    answer.page.warnings.clear();
    answer.page.truncated = true;
    answer.page.next = Some("1-2".to_owned());
    let json: Value = serde_json::from_str(&written(&answer, Format::Json)).unwrap();
    assert_eq!((&json["truncated"], &json["next"]), (&true.into(), &"1-2".into()));
    let rows = written(&answer, Format::Jsonl);
    assert_eq!(rows.lines().last(), Some(r#"{"truncated":true,"next":"1-2"}"#));
    let text = written(&answer, Format::Text);
    assert_eq!(text.lines().last(), Some("more: --after 1-2"));
    assert!(written(&answer, Format::Ldmd).contains("\n- next: 1-2\n"));
    let mut trees = trees("Title");
    trees.page = answer.page;
    assert!(written(&trees, Format::Records).lines().next().unwrap().contains("next=1-2"));
}

#[test]
fn blocks_of_markdown_have_longer_fences_than_their_content() {
    let text = written(&bundle("a\n````\nb"), Format::Markdown);
    assert!(text.starts_with(
        "## Context\n\n### Repl-History (from x.py:1-4)\n`````py\na\n````\nb\n`````\n"
    ));
}
