//! `--max-chars`, `--max-bytes` and `--max-tokens`: an answer never exceeds them, is always valid, says exactly what was
//! left out, and is complete when every page is read.

use mdsel::error::{ErrorKind, Result};
use mdsel::output::{Caller, Format, OutputOptions, RecordForm, write_list};
use mdsel::query::context::{self, ContextSource, Outside};
use mdsel::query::data::{self, code, meta, tables, tasks};
use mdsel::query::links::{Direction, EdgeFilter, list, walk};
use mdsel::query::page::fitting;
use mdsel::query::search::{
    self, ContextLines, HitDetail, OutputMode, PassageChars, PatternOptions, Query,
};
use mdsel::query::{Cursor, FilterRequest, List, Session, find, index, ldmd as marked, neighbors};
use mdsel::query::{prime, read, select, toc};
use mdsel::records::{Record, RecordReader};
use mdsel::store::Purpose;
use mdsel::{ldmd, markdown};
use serde_json::Value;

use crate::harness::{Place, in_memory, ingest, reader, repeats};
use crate::server::Schema;

/// The options of a call.
#[derive(Clone, Copy)]
pub(crate) struct Call {
    pub(crate) format: Format,
    pub(crate) max_chars: Option<usize>,
    pub(crate) max_bytes: Option<usize>,
    pub(crate) max_tokens: Option<usize>,
    pub(crate) after: Option<Cursor>,
}

impl Call {
    /// Asks for the whole answer.
    pub(crate) fn whole(format: Format) -> Self {
        Self { format, max_chars: None, max_bytes: None, max_tokens: None, after: None }
    }
}

/// An open store.
pub(crate) struct Opened<'a> {
    pub(crate) session: Session<'a>,
}

fn printed(answer: &(impl mdsel::output::Answer + List), call: Call) -> Result<String> {
    let options = OutputOptions {
        format: call.format,
        is_pretty: false,
        is_compact: false,
        has_color: false,
        max_chars: call.max_chars,
        max_bytes: call.max_bytes,
        max_tokens: call.max_tokens,
        record_form: RecordForm::default(),
        store: ".mdsel.db",
        caller: Caller::CommandLine,
    };
    let mut bytes = Vec::new();
    write_list(answer, options, &mut bytes)?;
    Ok(String::from_utf8(bytes).unwrap())
}

pub(crate) type Ask = fn(&mut Opened<'_>, Call) -> Result<String>;

fn words(opened: &mut Opened<'_>, call: Call, query: Query, form: OutputMode) -> Result<String> {
    let mut request = search::SearchRequest {
        query,
        filter: FilterRequest::default(),
        form,
        surroundings: ContextLines::default(),
        passage: PassageChars::all(0),
        keeps_duplicates: false,
        detail: HitDetail::Addresses,
        explain: false,
        limit: Some(0),
        max_chars: None,
        after: call.after,
    };
    request.keep_to(None, call.max_chars);
    printed(&search::search(&opened.session, &request)?, call)
}

fn literal(text: &str) -> Query {
    let options = PatternOptions { is_literal: true, ..PatternOptions::default() };
    Query::Patterns(vec![text.to_owned()], options)
}

fn selected(
    opened: &Opened<'_>,
    call: Call,
    addresses: &[&str],
    max_words: usize,
) -> Result<String> {
    let request = select::SelectRequest {
        addresses: addresses.iter().map(ToString::to_string).collect(),
        max_words,
        limit: Some(call.max_chars.map_or(0, |most| most + 1)),
        unique: false,
        after: call.after,
        room: call.max_chars,
    };
    printed(&select::select(&opened.session, &request)?, call)
}

fn walked(opened: &Opened<'_>, call: Call, to: Option<&str>, hops: usize) -> Result<String> {
    let request = walk::LinkWalkRequest {
        from: "links.md".to_owned(),
        to: to.map(str::to_owned),
        direction: Direction::Both,
        filter: EdgeFilter::default(),
        documents: FilterRequest::default(),
        max_hops: hops,
        max_nodes: fitting(0, call.max_chars),
        after: call.after,
    };
    printed(&walk::walk(&opened.session, &request)?, call)
}

fn bundled(
    opened: &mut Opened<'_>,
    call: Call,
    request: context::ContextRequest,
) -> Result<String> {
    let request = context::ContextRequest {
        passage: PassageChars::new(None, call.max_chars),
        limit: fitting(0, call.max_chars),
        max_chars: call.max_chars,
        after: call.after,
        shows_content: call.format == Format::Markdown,
        ..request
    };
    printed(&context::context(&opened.session, &request)?, call)
}

fn texts(list: &[&str]) -> Vec<String> {
    list.iter().map(ToString::to_string).collect()
}

fn addresses(list: &[&str]) -> Vec<ContextSource> {
    list.iter().map(|address| ContextSource::Address((*address).to_owned())).collect()
}

fn item_request(call: Call) -> data::ItemRequest {
    data::ItemRequest {
        filter: FilterRequest::default(),
        limit: fitting(0, call.max_chars),
        after: call.after,
    }
}

/// Every command that reads and whose answer can be long.
pub(crate) const COMMANDS: &[(&str, Ask)] = &[
    ("search words", |opened, call| {
        words(opened, call, Query::Words(texts(&["install the document"])), OutputMode::Hits)
    }),
    ("search lines", |opened, call| words(opened, call, literal("install"), OutputMode::Hits)),
    ("search nothing", |opened, call| words(opened, call, literal("qqzzy"), OutputMode::Hits)),
    ("search -c", |opened, call| words(opened, call, literal("e"), OutputMode::Counts)),
    ("search -l", |opened, call| words(opened, call, literal("e"), OutputMode::Files)),
    ("find", |opened, call| {
        let request = find::FindRequest {
            pattern: "a".to_owned(),
            content: None,
            subtree: false,
            filter: FilterRequest::default(),
            limit: fitting(0, call.max_chars),
            after: call.after,
        };
        printed(&find::find(&opened.session, &request)?, call)
    }),
    ("toc", |opened, call| {
        let request = toc::TocRequest {
            documents: texts(&["guide.md", "headings.md", "links.md", "none.md"]),
            filter: FilterRequest::default(),
            depth: None,
            max_level: None,
            with_addresses: call.format != Format::Text,
            limit: fitting(0, call.max_chars),
            after: call.after,
        };
        printed(&toc::toc(&opened.session, &request)?, call)
    }),
    ("index", |opened, call| {
        let request = index::IndexRequest {
            documents: texts(&["guide.md", "headings.md", "C#.md"]),
            filter: FilterRequest::default(),
            blocks: true,
            limit: fitting(0, call.max_chars),
            after: call.after,
        };
        printed(&index::index(&opened.session, &request)?, call)
    }),
    ("select", |opened, call| {
        let addresses =
            ["guide.md::section", "guide.md::heading:h2", "nowhere::x", "cjk/中文 文档.md"];
        selected(opened, call, &addresses, 500)
    }),
    ("select blocks", |opened, call| {
        selected(opened, call, &["guide.md::block:paragraph", "links.md::block:paragraph"], 500)
    }),
    ("select all", |opened, call| selected(opened, call, &["long-words.md::*"], 0)),
    ("read", |opened, call| {
        let place = "guide.md::Use".to_owned();
        let request =
            read::ReadRequest { document: None, place, no_children: false, line_numbers: false };
        printed(&read::read(&opened.session, &request)?, call)
    }),
    ("neighbors", |opened, call| {
        printed(&neighbors::neighbors(&opened.session, "guide.md::Guide", call.after)?, call)
    }),
    ("links list", |opened, call| {
        let request = list::LinkListRequest {
            address: "links.md".to_owned(),
            direction: Direction::Both,
            filter: EdgeFilter::default(),
            documents: mdsel::query::FilterRequest::default(),
            max_nodes: 0,
            limit: fitting(0, call.max_chars),
            after: call.after,
        };
        printed(&list::list(&opened.session, &request)?, call)
    }),
    ("links tree", |opened, call| walked(opened, call, None, 3)),
    ("links path", |opened, call| walked(opened, call, Some("guide.md"), 10)),
    ("links path to nowhere", |opened, call| walked(opened, call, Some("long-words.md"), 10)),
    ("context", |opened, call| {
        let sources = addresses(&["guide.md::Install", "links.md", "headings.md", "none.md"]);
        bundled(
            opened,
            call,
            context::ContextRequest { sources, ..context::ContextRequest::default() },
        )
    }),
    ("context --with-body", |opened, call| {
        let outside = Outside {
            kind: "text".to_owned(),
            file: None,
            line_start: None,
            line_end: None,
            content: "`` ` ``".to_owned(),
            lossy: false,
            truncated: false,
            number: 0,
        };
        let mut sources = addresses(&["links.md::*", "guide.md::Install"]);
        sources.push(ContextSource::Outside(outside));
        let request = context::ContextRequest {
            sources,
            with_body: true,
            ..context::ContextRequest::default()
        };
        bundled(opened, call, request)
    }),
    ("context --query", |opened, call| {
        let queries = texts(&["install the document"]);
        bundled(
            opened,
            call,
            context::ContextRequest { queries, ..context::ContextRequest::default() },
        )
    }),
    ("prime", |opened, call| printed(&prime::prime(&opened.session, call.after)?, call)),
    ("ldmd index", |opened, call| {
        let document = "answer.ldmd.md".to_owned();
        let request = marked::index::LdmdIndexRequest { document, limit: 0, after: call.after };
        printed(&marked::index::index(&opened.session, &request)?, call)
    }),
    ("ldmd search", |opened, call| {
        let (document, query) = ("answer.ldmd.md".to_owned(), "e".to_owned());
        let request =
            marked::search::LdmdSearchRequest { document, query, limit: 0, after: call.after };
        printed(&marked::search::search(&opened.session, &request)?, call)
    }),
    ("code", |opened, call| {
        let (languages, containing) = (Vec::new(), None);
        let request = code::CodeRequest { languages, containing, items: item_request(call) };
        printed(&code::code(&opened.session, &request)?, call)
    }),
    ("code --containing", |opened, call| {
        let (languages, containing) = (texts(&["sh", "md"]), Some("INSTALL".to_owned()));
        let request = code::CodeRequest { languages, containing, items: item_request(call) };
        printed(&code::code(&opened.session, &request)?, call)
    }),
    ("tables", |opened, call| {
        let (headers, condition, columns) = (Vec::new(), None, Vec::new());
        let request =
            tables::TableRequest { headers, condition, columns, items: item_request(call) };
        printed(&tables::tables(&opened.session, &request)?, call)
    }),
    ("tasks", |opened, call| {
        let request =
            tasks::TaskRequest { is_done: None, condition: None, items: item_request(call) };
        printed(&tasks::tasks(&opened.session, &request)?, call)
    }),
    ("tasks --where", |opened, call| {
        let condition = Some("due < 2026-06-01 and not text ~ ^x".to_owned());
        let request =
            tasks::TaskRequest { is_done: Some(false), condition, items: item_request(call) };
        printed(&tasks::tasks(&opened.session, &request)?, call)
    }),
    ("meta", |opened, call| {
        let request = meta::MetaRequest { keys: Vec::new(), items: item_request(call) };
        printed(&meta::meta(&opened.session, &request)?, call)
    }),
    ("meta --where", |opened, call| {
        let mut items = item_request(call);
        items.filter.condition = Some("not exists status or tags contains draft".to_owned());
        let request = meta::MetaRequest { keys: texts(&["title", "tags"]), items };
        printed(&meta::meta(&opened.session, &request)?, call)
    }),
    ("meta --types", |opened, call| {
        printed(&meta::types(&opened.session, &item_request(call))?, call)
    }),
    ("ldmd neighbors", |opened, call| {
        let (document, id) = ("answer.ldmd.md", "key_findings");
        printed(&marked::neighbors::neighbors(&opened.session, document, id, call.after)?, call)
    }),
];

pub(crate) const FORMATS: [Format; 10] = [
    Format::Json,
    Format::Jsonl,
    Format::Text,
    Format::Raw,
    Format::Ldmd,
    Format::Records,
    Format::Markdown,
    Format::Mermaid,
    Format::Dot,
    Format::Csv,
];

/// What identifies the items of a JSON answer, in their order: their addresses if they have them,
/// else all of their fields.
fn items(json: &Value) -> Vec<String> {
    fn sections(list: &Value, all: &mut Vec<String>) {
        for section in list.as_array().unwrap() {
            all.push(section["selector"].as_str().unwrap().to_owned());
            sections(&section["children"], all);
        }
    }
    let mut all = Vec::new();
    for name in [
        "results",
        "matches",
        "hits",
        "edges",
        "nodes",
        "items",
        "commands",
        "most_linked",
        "code",
        "rows",
        "tasks",
        "keys",
    ] {
        for item in json[name].as_array().into_iter().flatten() {
            let place = ["selector", "command", "key"].map(|name| item[name].as_str());
            let place = place.into_iter().flatten().next().map(str::to_owned);
            let line = item["line"].as_u64().or(item["doc_line"].as_u64()).unwrap_or(0);
            let column = item["column"].as_u64().unwrap_or(0);
            let target = item["target"].as_str().unwrap_or_default();
            let from = item["from"].as_str().unwrap_or_default();
            let what = format!("{} {from} {line}:{column} {target}", place.unwrap_or_default());
            all.push(format!("{name} {what}"));
        }
    }
    for name in ["counts", "files", "folders", "documents"] {
        for item in json[name].as_array().into_iter().flatten() {
            match (item.get("sections"), item.get("headings")) {
                (Some(list), _) => sections(list, &mut all),
                (_, Some(headings)) => {
                    let blocks = item["block_list"].as_array().into_iter().flatten();
                    for heading in headings.as_array().unwrap().iter().chain(blocks) {
                        all.push(heading["selector"].as_str().unwrap().to_owned());
                    }
                }
                _ => all.push(item.to_string()),
            }
        }
    }
    let marked = json["sections"].as_array().into_iter().flatten();
    all.extend(marked.map(|section| section["id"].to_string()));
    let children = json["children"].as_array().into_iter().flatten();
    all.extend(children.map(ToString::to_string));
    for fault in json["unresolved_selectors"].as_array().into_iter().flatten() {
        all.push(fault["code"].to_string());
    }
    all
}

/// `items` without repetitions, in the order of their first appearance.
fn once(items: Vec<String>) -> Vec<String> {
    let mut known = std::collections::HashSet::new();
    items.into_iter().filter(|item| known.insert(item.clone())).collect()
}

/// Some numbers from 0 to `length`: all near both ends, fewer between.
fn budgets(length: usize) -> Vec<usize> {
    let count = usize::try_from(repeats(30)).unwrap();
    let step = (length / count).max(1);
    let mut budgets: Vec<usize> = (0..length).step_by(step).collect();
    budgets.extend([300, 400, 500, length.saturating_sub(1), length, length + 1]);
    budgets
}

/// Asserts that a text is a complete document of its format.
fn assert_valid(text: &str, format: Format, what: &str) {
    match format {
        Format::Json => drop(serde_json::from_str::<Value>(text).unwrap()),
        Format::Jsonl => {
            text.lines().for_each(|line| drop(serde_json::from_str::<Value>(line).unwrap()));
        }
        Format::Ldmd => {
            let markup = ldmd::parse(text.as_bytes(), &markdown::parse(text.as_bytes()).opaque);
            assert_eq!(markup.faults, [], "{what}");
            let last = markup.sections.last().unwrap();
            assert_eq!((last.id.as_str(), last.span.end), ("provenance", text.len()), "{what}");
        }
        Format::Records => {
            let records = RecordReader::new(text.as_bytes())
                .collect::<std::result::Result<Vec<_>, _>>()
                .unwrap();
            assert!(matches!(records.first(), Some(Record::Header(_))), "{what}: {text}");
        }
        Format::Markdown => assert!(text.starts_with("## Context\n\n"), "{what}"),
        Format::Text | Format::Raw | Format::Csv | Format::Mermaid | Format::Dot => {}
    }
}

/// Calls `check` with the open store, and with stores of the same files in memory and in `schema`.
fn with_store(place: &Place, schema: Option<&Schema>, check: impl Fn(&mut Opened<'_>)) {
    let reader = reader(&place.join(".mdsel.db")).unwrap();
    check(&mut Opened { session: Session::new(&*reader) });
    for store in std::iter::once(in_memory()).chain(schema.map(Schema::store)) {
        ingest(&store, place.path());
        let reader = store.reader(Purpose::Search).unwrap();
        check(&mut Opened { session: Session::new(&*reader) });
    }
}

#[test]
fn answers_fit_any_budget_in_every_format() {
    let place = Place::with_fixtures();
    with_store(&place, None, |opened| {
        for (name, ask) in COMMANDS {
            for format in FORMATS {
                let call = Call::whole(format);
                let whole = match ask(opened, call) {
                    Err(error) if error.kind() == ErrorKind::Usage => continue,
                    whole => whole.unwrap(),
                };
                let length = whole.chars().count();
                for budget in budgets(length) {
                    let what = format!("{name} {format:?} --max-chars {budget}");
                    let call = Call { max_chars: Some(budget), ..call };
                    match ask(opened, call) {
                        Ok(text) => {
                            assert!(text.chars().count() <= budget, "{what}: {text}");
                            assert_valid(&text, format, &what);
                        }
                        Err(error) => {
                            assert_eq!(error.kind(), ErrorKind::BudgetTooSmall, "{what}: {error}");
                            assert!(budget < length, "{what}");
                            assert!(format != Format::Text || budget < 300, "{what}: {error:?}");
                            let hint = error.hint();
                            let enough = hint.split(' ').find_map(|word| word.parse().ok());
                            let enough: usize = enough.unwrap();
                            assert!(budget < enough, "{what}: {hint}");
                            let call = Call { max_chars: Some(enough), ..call };
                            assert!(ask(opened, call).is_ok(), "{what}: {hint}");
                        }
                    }
                }
            }
        }
    });
}

#[test]
fn answers_fit_any_budget_in_bytes_and_in_both_units() {
    let place = Place::with_fixtures();
    let reader = reader(&place.join(".mdsel.db")).unwrap();
    let mut opened = Opened { session: Session::new(&*reader) };
    for (name, ask) in COMMANDS {
        for format in FORMATS {
            let call = Call::whole(format);
            let whole = match ask(&mut opened, call) {
                Err(error) if error.kind() == ErrorKind::Usage => continue,
                whole => whole.unwrap(),
            };
            let (length, chars) = (whole.len(), whole.chars().count());
            let fifths = (0..5).map(|part| length * part / 5);
            for most in fifths.chain([length.saturating_sub(1), length]) {
                for max_chars in [None, Some(most), Some(most * 9 / 10), Some(chars)] {
                    let what = format!("{name} {format:?} --max-bytes {most} {max_chars:?}");
                    let call = Call { max_chars, max_bytes: Some(most), ..call };
                    let text = ask(&mut opened, call).unwrap_or_else(|error| {
                        assert_eq!(error.kind(), ErrorKind::BudgetTooSmall, "{what}: {error}");
                        let hint = error.hint();
                        let enough = |option: &str| -> Option<usize> {
                            let number = hint.split(option).nth(1)?.trim_start().split(' ').next();
                            number.unwrap().parse().ok()
                        };
                        let (bytes, chars) = (enough("--max-bytes"), enough("--max-chars"));
                        assert!(bytes.is_none_or(|enough| enough > most), "{what}: {hint}");
                        assert!(
                            chars.is_none_or(|enough| enough > max_chars.unwrap()),
                            "{what}: {hint}"
                        );
                        let max_bytes = bytes.or(call.max_bytes);
                        let call = Call { max_chars: chars.or(max_chars), max_bytes, ..call };
                        let text = ask(&mut opened, call);
                        assert!(text.is_ok(), "{what}: {hint}: {text:?}");
                        assert!(
                            max_bytes.is_some_and(|most| text.unwrap().len() <= most),
                            "{what}"
                        );
                        String::new()
                    });
                    assert!(text.len() <= most, "{what}: {text}");
                    assert!(max_chars.is_none_or(|most| text.chars().count() <= most), "{what}");
                    if !text.is_empty() {
                        assert_valid(&text, format, &what);
                    }
                    if most == length && max_chars.is_none_or(|most| most >= chars) {
                        assert_eq!(text, whole, "{what}");
                    }
                }
            }
        }
    }
}

#[test]
fn a_limit_in_bytes_counts_bytes_and_both_limits_hold() {
    let sections: String =
        (0..20).map(|at| format!("## 日本語の文書 {at}\n\n本文。\n\n")).collect();
    let place = Place::ingested(&[("a.md", &sections)]);
    let find = |options: &[&str]| {
        let call = [&["find", "文書", "-f", "text"][..], options].concat();
        let answer = place.run(&call).success();
        (answer.stdout.len(), answer.text().chars().count(), answer.text())
    };
    let (bytes, chars, whole) = find(&[]);
    assert!(bytes > chars);
    assert_eq!(find(&["--max-bytes", &bytes.to_string()]).2, whole);
    let (in_bytes, fewer, part) = find(&["--max-bytes", "600"]);
    assert!((500..=600).contains(&in_bytes) && part.contains("more: --after"), "{part}");
    let (_, in_chars, longer) = find(&["--max-chars", "600"]);
    assert!(in_chars > fewer && longer.len() > 600, "{longer}");
    assert_eq!(find(&["--max-chars", "600", "--max-bytes", "600"]).2, part);
    let chars = fewer.to_string();
    let (least, most, _) = find(&["--max-chars", &chars, "--max-bytes", "100000"]);
    assert!(least <= in_bytes && most <= fewer);
    let read = ["read", "a.md::heading:h2[0]", "-f", "text", "--max-bytes"];
    let error = place.run(&[&read[..], &["5"]].concat()).ends(2);
    assert!(error.stdout.is_empty() && error.stderr.contains("BUDGET_TOO_SMALL"));
    let enough = error.stderr.split("use --max-bytes ").nth(1).unwrap();
    let enough = enough.split(' ').next().unwrap();
    let answer = place.run(&[&read[..], &[enough]].concat()).success();
    assert!(answer.stdout.len() <= enough.parse().unwrap());
    for command in [&["help", "search"][..], &["schema", "search"], &["ingest"]] {
        for option in ["--max-bytes", "--max-tokens"] {
            let refused = place.run(&[command, &[option, "66"]].concat()).ends(2);
            assert!(refused.stdout.is_empty() && refused.stderr.contains(&format!("use {option}")));
        }
    }
}

#[test]
fn answers_fit_any_budget_in_tokens() {
    let place = Place::with_fixtures();
    let reader = reader(&place.join(".mdsel.db")).unwrap();
    let mut opened = Opened { session: Session::new(&*reader) };
    for (name, ask) in COMMANDS {
        for format in FORMATS {
            let call = Call::whole(format);
            let whole = match ask(&mut opened, call) {
                Err(error) if error.kind() == ErrorKind::Usage => continue,
                whole => whole.unwrap(),
            };
            let tokens = whole.len().div_ceil(3);
            for most in (0..=6).map(|part| tokens * part / 6).chain([tokens.saturating_sub(1)]) {
                let what = format!("{name} {format:?} --max-tokens {most}");
                let call = Call { max_tokens: Some(most), ..call };
                match ask(&mut opened, call) {
                    Ok(text) => {
                        assert!(text.len() <= most * 3, "{what}: {text}");
                        assert!(most < tokens || text == whole, "{what}: {text}");
                        assert_valid(&text, format, &what);
                    }
                    Err(error) => {
                        assert_eq!(error.kind(), ErrorKind::BudgetTooSmall, "{what}: {error}");
                        let hint = error.hint();
                        let enough = hint.strip_prefix("use --max-tokens ");
                        let enough = enough.and_then(|rest| rest.split(' ').next()).unwrap();
                        let call = Call { max_tokens: Some(enough.parse().unwrap()), ..call };
                        assert!(ask(&mut opened, call).is_ok(), "{what}: {error:?}");
                    }
                }
            }
        }
    }
}

#[test]
fn continuing_returns_every_item_once() {
    let place = Place::with_fixtures();
    let schema = Schema::new();
    with_store(&place, schema.as_ref(), |opened| {
        for (name, ask) in COMMANDS {
            let call = Call::whole(Format::Json);
            let whole = items(&serde_json::from_str(&ask(opened, call).unwrap()).unwrap());
            for budget in [700, 1200, 2500, 6000] {
                let mut given: Vec<String> = Vec::new();
                let mut call = Call { max_chars: Some(budget), ..call };
                loop {
                    let Ok(text) = ask(opened, call) else {
                        assert!(budget < 2500, "{name} {budget}");
                        break;
                    };
                    let json: Value = serde_json::from_str(&text).unwrap();
                    given.extend(items(&json));
                    let is_of_children = json.get("children").is_some();
                    let next = json[if is_of_children { "next_children" } else { "next" }].as_str();
                    let cut = ["results", "items", "hits"]
                        .iter()
                        .filter_map(|name| json[*name].as_array());
                    let has_cut = cut.flatten().any(|item| item["truncated"] == true);
                    // A list is never cut without a cursor, but its last item may itself be cut.
                    let is_cut_short = json["truncated"] == true && next.is_none();
                    let is_last = once(given.clone()).len() == once(whole.clone()).len();
                    assert!(!is_cut_short || has_cut || is_last, "{name} {budget}: {text}");
                    let Some(next) = next else {
                        let mut given = once(given);
                        let mut whole = once(whole.clone());
                        // A later page repeats the nodes that its edges need, and an edge is on the
                        // page of the later of its two ends.
                        given.sort();
                        whole.sort();
                        assert_eq!(given, whole, "{name} {budget}");
                        break;
                    };
                    let after: Cursor = next.parse().unwrap();
                    let position = |cursor: Cursor| (cursor.position, cursor.offset);
                    let before = call.after.map_or((0, 0), position);
                    assert!(position(after) > before, "{name} {budget}: continuing makes progress");
                    call.after = Some(after);
                }
            }
        }
    });
}

#[test]
fn an_item_that_does_not_fit_is_split_into_pages() {
    let place = Place::with_fixtures();
    let whole = place.run(&["read", "long-words.md", "Long"]).success().json();
    let whole = whole["content"].as_str().unwrap().to_owned();
    let mut address = "long-words.md::Long".to_owned();
    let mut text = String::new();
    let mut pages = 0;
    loop {
        let json = place.run(&["read", &address, "--max-chars", "1500"]).success().json();
        text += json["content"].as_str().unwrap();
        pages += 1;
        let Some(next) = json["pagination"].get("next") else { break };
        next.as_str().unwrap().clone_into(&mut address);
    }
    assert!(pages > 5);
    assert_eq!(text, whole);
    let raw =
        place.run(&["read", "long-words.md", "Long", "-f", "raw", "--max-chars", "20"]).success();
    assert_eq!(raw.text(), "# Long\n\nword0 word1 ");
    assert!(raw.stderr.contains("long-words.md::heading:h1[0]?from=4"), "{}", raw.stderr);
}

#[test]
fn a_cursor_past_the_end_of_a_list_is_not_taken_for_an_empty_list() {
    let place = Place::ingested(&[
        ("a.md", "# A\n\n- [ ] [b](b.md)\n"),
        ("b.md", "| x |\n| --- |\n| 1 |\n"),
    ]);
    for command in [
        &["find", "*"][..],
        &["search", "-e", "A"],
        &["search", "A"],
        &["select", "a.md::block:list"],
        &["toc"],
        &["index"],
        &["tasks"],
        &["tables"],
        &["links", "list", "a.md"],
        &["links", "tree", "a.md"],
        &["links", "check"],
        &["context", "a.md"],
    ] {
        let past = [command, &["--after", "1-50"]].concat();
        let json = place.run(&past).json();
        let codes: Vec<&Value> =
            json["warnings"].as_array().unwrap().iter().map(|warning| &warning["code"]).collect();
        assert_eq!(codes, ["LIST_PAST_END"], "{command:?}: {json}");
        let text = place.run(&[&past[..], &["-f", "text"]].concat()).text();
        assert!(!text.contains("No ") && text.contains("LIST_PAST_END"), "{command:?}: {text}");
    }
    for command in
        [&["tasks", "nope"][..], &["links", "path", "b.md", "a.md", "--direction", "out"]]
    {
        let text = place.run(&[command, &["--after", "1-2"]].concat()).ends(1).text();
        assert!(!text.contains("LIST_PAST_END"), "{command:?}: {text}");
    }
}

#[test]
fn a_page_that_is_cut_keeps_a_path_that_fits() {
    let text = format!("# {}\n\n## Sub\n\n{}", "long ".repeat(40), "word ".repeat(2_000));
    let place = Place::ingested(&[("a.md", &text)]);
    let page = place.run(&["read", "a.md::heading:h2[0]", "--max-chars", "4000"]).json();
    assert!(page["path"].as_str().is_some_and(|path| path.ends_with("/sub")), "{page}");
}

#[test]
fn a_title_that_does_not_fit_is_cut_in_every_format() {
    let title = "needle ".repeat(600);
    let text =
        format!("# {title}\n\n[b](b.md)\n\n- [ ] task\n\n```sh\nls\n```\n\n| k |\n|---|\n| v |\n");
    let place = Place::ingested(&[("a.md", &text), ("b.md", "# B\n")]);
    for command in [
        &["find", "needle"][..],
        &["toc", "a.md"],
        &["code"],
        &["tables"],
        &["tasks"],
        &["search", "needle"],
        &["context", "--query", "needle"],
        &["select", "a.md::heading:h1[0]"],
        &["links", "list", "a.md"],
    ] {
        for format in ["json", "jsonl", "text"] {
            let format = ["-f", format, "--max-chars", "1000"];
            let answer = place.run(&[command, &format].concat()).success().text();
            assert!(answer.contains("needle"), "{command:?}: {answer}");
        }
    }
    let tree = ["toc", "a.md", "--max-chars", "1000"];
    let section = place.run(&tree).json()["sections"][0].clone();
    assert!(section["title"].as_str().unwrap().ends_with('\u{2026}'), "{section}");
    assert_eq!([&section["path"], &section["anchor"]], [&serde_json::Value::Null; 2]);
}

#[test]
fn a_line_number_does_not_count_as_a_word() {
    let place = Place::with_fixtures();
    let numbered = place.run(&["read", "guide.md", "Use", "-n", "-f", "raw"]).success().text();
    assert!(numbered.starts_with("    30\t## Use\n    31\t\n    32\t| command"), "{numbered}");
    let json = place.run(&["read", "guide.md", "Use", "-n", "--max-chars", "700"]).success().json();
    assert!(numbered.starts_with(json["content"].as_str().unwrap()));
    assert_eq!(json["truncated"], true);
}

/// Returns the number of items of an answer: the length of its first list.
fn items_of(answer: &serde_json::Value) -> usize {
    let lists = answer.as_object().unwrap().values();
    lists.filter_map(serde_json::Value::as_array).map(Vec::len).next().unwrap_or(0)
}

#[test]
fn a_command_prints_as_many_items_as_fit() {
    let place = Place::with_fixtures();
    for command in [
        &["find", "*"][..],
        &["meta"],
        &["tables"],
        &["tasks"],
        &["code"],
        &["select", "block:paragraph"],
    ] {
        for form in [&["--compact"][..], &[]] {
            let run = |options: &[&str]| {
                place.run(&[command, form, options, &["-f", "json"]].concat()).success().text()
            };
            let total = items_of(&serde_json::from_str(&run(&["--limit", "0"])).unwrap());
            for most in [700, 1000, 2000, 5000, 20_000] {
                let text = run(&["--limit", "0", "--max-chars", &most.to_string()]);
                assert!(text.chars().count() <= most, "{command:?} {most}: {text}");
                let count = items_of(&serde_json::from_str(&text).unwrap());
                let one_more = run(&["--limit", &(count + 1).to_string()]);
                let is_longer = one_more.chars().count() > most;
                assert!(count == total || is_longer, "{command:?} {form:?} {most}: {count}");
            }
        }
    }
}

#[test]
fn a_list_of_the_shortest_items_fills_its_budget() {
    let place = Place::ingested(&[("a.md", &"```\nx\n```\n\n".repeat(20))]);
    let code = ["code", "--limit", "0", "-f", "raw"];
    assert_eq!(place.run(&code).success().text(), "x\n".repeat(20));
    let most = |most: &str| place.run(&[&code[..], &["--max-chars", most]].concat()).success();
    assert_eq!(most("40").text(), "x\n".repeat(20));
    let part = most("39");
    assert_eq!(part.text(), "x\n".repeat(19));
    assert!(part.stderr.contains("more: --after"), "{}", part.stderr);
    for name in 'b'..='z' {
        place.write(&format!("{name}.md"), "text\n");
    }
    place.run(&["ingest"]).success();
    let toc = ["toc", "--limit", "0", "-f", "text"];
    let whole = place.run(&toc).success().text();
    let length = whole.chars().count().to_string();
    assert_eq!(place.run(&[&toc[..], &["--max-chars", &length]].concat()).text(), whole);
}

#[test]
fn a_part_with_a_cursor_may_be_almost_as_long_as_the_whole() {
    let place = Place::new();
    // The cursor has the generation.
    for round in 0..100 {
        place.write("a.md", format!("- [ ] some work\n- [x] y\n\n<!-- {round} -->\n"));
        place.run(&["ingest"]).success();
    }
    for most in 1..80 {
        let tasks = ["tasks", "-f", "text", "--max-chars", &most.to_string()];
        let answer = place.run(&tasks);
        if answer.status == 2 {
            let hint = answer.stderr.rsplit("--max-chars ").next().unwrap();
            let enough: String = hint.chars().take_while(char::is_ascii_digit).collect();
            place.run(&["tasks", "-f", "text", "--max-chars", &enough]).success();
        }
    }
}

#[test]
fn the_limit_that_an_error_names_suffices() {
    let place = Place::ingested(&[("w.md", "# W\n\nword\n")]);
    for command in [
        &["select", "w.md::block:paragraph[0]", "-f", "text"][..],
        &["read", "w.md::block:paragraph[0]", "-f", "jsonl"],
        &["read", "w.md::block:paragraph[0]", "-f", "ldmd"],
    ] {
        let whole = place.run(command).success().text().chars().count();
        let error = place.run(&[command, &["--max-chars", "20"]].concat()).ends(2).stderr;
        let number = error.split("--max-chars ").nth(1).and_then(|rest| rest.split(' ').next());
        let number = number.unwrap_or_else(|| panic!("{error}"));
        assert!(number.parse::<usize>().unwrap() <= whole, "{error}");
        let again = place.run(&[command, &["--max-chars", number]].concat()).success().text();
        assert_eq!(again.chars().count(), number.parse::<usize>().unwrap());
    }
}

#[test]
fn an_answer_that_says_it_is_truncated_leaves_something_out() {
    let place = Place::ingested(&[("n.md", "# A\n\n## B\n\nx\n")]);
    let whole = place.run(&["find", "a"]).success().text();
    for chars in [whole.chars().count() - 1, whole.chars().count() - 2] {
        let answer = place.run(&["find", "a", "--max-chars", &chars.to_string()]);
        let is_whole = answer.text() == whole.replace("\"truncated\":false", "\"truncated\":true");
        assert!(!is_whole, "{}", answer.text());
    }
}

#[test]
fn a_budget_that_is_too_small_for_the_report_of_an_ingest_leaves_the_store_as_it_is() {
    let place = Place::ingested(&[("a.md", "# A\n")]);
    for format in ["ldmd", "json", "text"] {
        place.write(&format!("{format}.md"), "# New\n");
        let ingest = |most: &str| place.run(&["ingest", "-f", format, "--max-chars", most]);
        let refused = ingest("299").ends(2);
        let enough = refused.stderr.split("--max-chars ").nth(1).unwrap();
        let enough: usize = enough.split(' ').next().unwrap().parse().unwrap();
        assert!(ingest(&(enough - 1).to_string()).ends(2).stderr.contains("BUDGET_TOO_SMALL"));
        place.run(&["ingest", "--check"]).ends(1);
        ingest(&enough.to_string()).success();
        place.remove(&format!("{format}.md"));
        place.run(&["ingest"]).success();
    }
}

#[test]
fn the_rest_of_a_place_is_read_in_the_largest_pages_that_fit() {
    let words: Vec<String> = (0..2000)
        .map(|number| if number == 7 { "x".repeat(130) } else { format!("{:02}", number % 97) })
        .collect();
    let document = format!("{}\n", words.join(" "));
    let place = Place::ingested(&[("a.md", &document)]);
    let (mut joined, mut address, mut lengths) =
        (String::new(), "a.md::*".to_owned(), Vec::<usize>::new());
    loop {
        let call = ["read", &address, "--max-chars", "420", "-f", "json"];
        let page = place.run(&call).success().json();
        let content = page["content"].as_str().unwrap();
        joined += content;
        lengths.push(content.len());
        let Some(next) = page["pagination"]["next"].as_str() else { break };
        address = next.to_owned();
    }
    assert_eq!(joined, document);
    // All pages are nearly as long as the first, except the one before the long word and the last.
    let short = lengths.iter().filter(|length| **length + 10 < lengths[0]).count();
    assert!(short <= 2, "{lengths:?}");
}

#[test]
fn a_budget_cuts_the_list_of_what_was_changed_and_not_the_change() {
    let blocks = "```sh\na\n```\n\n".repeat(60);
    let place = Place::ingested(&[("a.md", &format!("# A\n\n{blocks}"))]);
    let edits: Vec<String> = (0..30)
        .map(|number| {
            let content = format!("## Part {number}\n");
            serde_json::json!({"operation": "insert", "section": "A", "position": "last_child", "content": content})
                .to_string()
        })
        .collect();
    place.write("edits.jsonl", edits.join("\n"));
    let edit = ["edit", "a.md", "--batch", "edits.jsonl", "-f", "json", "--max-chars"];
    let refused = place.run(&[&edit[..], &["20"]].concat()).ends(2);
    assert!(refused.stderr.contains("nothing was changed: the answer does not fit"));
    let answer = place.run(&[&edit[..], &["400"]].concat()).success().json();
    let listed = answer["edits"].as_array().unwrap().len();
    assert_eq!(answer["edits_omitted"], 30 - listed);
    assert_eq!(answer["truncated"], true);
    let now = std::fs::read_to_string(place.join("a.md")).unwrap();
    assert_eq!(now.matches("## Part").count(), 30);
    let out = ["code", "--lang", "sh", "--out", "o", "-f", "json", "--max-chars"];
    let refused = place.run(&[&out[..], &["20"]].concat()).ends(2);
    assert!(refused.stderr.contains("no file was written: the answer does not fit"));
    let answer = place.run(&[&out[..], &["600"]].concat()).success().json();
    assert_eq!(answer["warnings"][0]["code"], "FILES_LEFT_OUT");
    let message = format!(
        "60 files are written, and {} of them are listed",
        answer["code"].as_array().unwrap().len()
    );
    assert_eq!(answer["warnings"][0]["message"], message);
    assert_eq!(answer["next"], serde_json::Value::Null);
    assert_eq!(std::fs::read_dir(place.join("o")).unwrap().count(), 60);
}

/// What is said about names of nothing takes no more room than what was found.
#[test]
fn many_messages_leave_room_for_more_than_one_item() {
    let names = ["a.md", "b.md", "c.md"];
    let place = Place::ingested(&names.map(|name| (name, "# One\n\n## Two\n")));
    let absent: Vec<String> = (0..80).map(|number| format!("nowhere{number}.md")).collect();
    for format in ["json", "text", "records"] {
        let mut command = vec!["toc", "-f", format, "--max-chars", "1500"];
        command.extend(absent.iter().map(String::as_str).chain(names));
        let answer = place.run(&command);
        let text = answer.text();
        assert!(text.chars().count() <= 1500, "{text}");
        assert!(names.iter().all(|name| text.contains(name)), "{format}: {text}");
        let said = format!("{text}{}", answer.stderr);
        assert!(said.contains("79 more messages"), "{format}: {said}");
    }
}
