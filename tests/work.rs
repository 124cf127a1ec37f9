//! What a query may cost, in counts that are the same on every machine: statements, rows read
//! without an index, documents whose bytes were read, and steps of SQLite. Measured on a store, and
//! on one that is eight times as large.

use std::collections::BTreeMap;

use mdsel::query::FilterRequest;
use mdsel::query::resolve::{NodeRange, resolve};
use mdsel::query::search::{PatternOptions, Query, search};
use mdsel::query::{
    Session, context, documents, find, folders, index, links, neighbors, prime, read, select, toc,
};
use mdsel::store::file::{StatementCost, count_work};

use crate::harness::{Place, search_request};

/// A store of `count` documents that link to each other in a ring. One of them has a table.
fn store(count: usize) -> Place {
    let place = Place::new();
    for number in 0..count {
        let next = (number + 1) % count;
        let table = if number == 3 { "| common |\n| --- |\n| cell |\n\n" } else { "" };
        let text = format!(
            "---\ntags: [t{number}]\n---\n# Document {number}\n\nSee [the next]({next}.md).\n\n\
             ## Options\n\nA common line.\n\n{table}rare{number}x is here.\n\n## Number {number}, part{number}x\n\ntext\n"
        );
        place.write(&format!("docs/{number}.md"), text);
    }
    place.write("docs/inner/one.md", "# One\n");
    place.run(&["ingest"]).success();
    place
}

/// The work of a query.
#[derive(Clone, Copy, Debug, Default)]
struct Cost {
    statements: u64,
    scanned: u64,
    /// Reads of the bytes of documents.
    read: u64,
    steps: u64,
}

impl Cost {
    fn of(work: &BTreeMap<String, StatementCost>) -> Self {
        let mut cost = Self::default();
        for (statement, runs) in work {
            cost.statements += runs.runs;
            // The list of folders is read as a whole. It has no row for a document.
            if !statement.contains("FROM folder ") {
                cost.scanned += runs.scanned;
            }
            cost.steps += runs.steps;
            if statement.contains("FROM content") {
                cost.read += runs.runs;
            }
        }
        cost
    }
}

type Question = fn(&Session<'_>) -> usize;

/// A name, a query, the most statements that it may run, the most reads of bytes of documents, and
/// whether it may read every row of one table.
const QUESTIONS: &[(&str, Question, u64, u64, bool)] = &[
    ("select by path", |session| selected(session, "docs/3.md::heading:h2[0]"), 3, 1, false),
    ("select by suffix and anchor", |session| selected(session, "3.md#options"), 7, 1, false),
    ("select a line", |session| selected(session, "docs/3.md:12"), 4, 1, false),
    (
        "read by title",
        |session| {
            let place = "Options".to_owned();
            let document = Some("docs/3".to_owned());
            let request =
                read::ReadRequest { document, place, no_children: false, line_numbers: false };
            usize::from(read::read(session, &request).unwrap().node.is_some())
        },
        7,
        1,
        false,
    ),
    ("toc of one", |session| trees(session, &["docs/3.md"], 0), 2, 0, false),
    (
        "neighbors",
        |session| {
            let answer = neighbors::neighbors(session, "docs/3.md#options", None).unwrap();
            usize::from(answer.around.is_some())
        },
        3,
        0,
        false,
    ),
    (
        "links of one",
        |session| {
            let request = links::list::LinkListRequest {
                address: "docs/3.md".to_owned(),
                direction: links::Direction::Both,
                filter: links::EdgeFilter::default(),
                documents: mdsel::query::FilterRequest::default(),
                max_nodes: 0,
                limit: 0,
                after: None,
            };
            links::list::list(session, &request).unwrap().edges.len() / 2
        },
        39,
        4,
        false,
    ),
    (
        "a rare word",
        |session| {
            let query = Query::Words(vec!["rare3x".to_owned()]);
            hits(&search(session, &search_request(query, 20)).unwrap())
        },
        4,
        1,
        false,
    ),
    (
        "a common word in a rare block",
        |session| {
            let mut request = search_request(Query::Words(vec!["common".to_owned()]), 20);
            request.filter.types = vec!["table".to_owned()];
            hits(&search(session, &request).unwrap())
        },
        5,
        1,
        false,
    ),
    (
        "a rare literal",
        |session| {
            let options = PatternOptions { is_literal: true, ..PatternOptions::default() };
            let query = Query::Patterns(vec!["rare3x".to_owned()], options);
            hits(&search(session, &search_request(query, 0)).unwrap())
        },
        4,
        1,
        false,
    ),
    (
        "a pattern without a literal",
        |session| {
            let query =
                Query::Patterns(vec!["[a-z]+[0-9]+x".to_owned()], PatternOptions::default());
            hits(&search(session, &search_request(query, 0)).unwrap())
        },
        // One statement reads the bytes of several documents. Each document with a hit needs its outline.
        515,
        30,
        true,
    ),
    (
        "a page of the index",
        |session| {
            let documents = Vec::new();
            let request = index::IndexRequest {
                documents,
                filter: FilterRequest::default(),
                blocks: false,
                limit: 10,
                after: None,
            };
            index::index(session, &request).unwrap().documents.len() / 2
        },
        7,
        3,
        false,
    ),
    ("a page of all trees", |session| trees(session, &[], 10), 7, 0, false),
    ("a page of the trees that a glob names", |session| trees(session, &["**"], 10), 11, 0, false),
    (
        "the entries of the root",
        |session| folders::entries(session.reader, "").unwrap().len(),
        2,
        0,
        false,
    ),
    (
        "a bundle with what is linked",
        |session| {
            let source = context::ContextSource::Address("docs/3.md".to_owned());
            bundled(session, vec![source], FilterRequest::default())
        },
        50,
        6,
        false,
    ),
    (
        "a bundle of documents and what is linked",
        |session| {
            let globs = vec!["docs/*".to_owned()];
            let filter = FilterRequest { globs, ..FilterRequest::default() };
            bundled(session, Vec::new(), filter)
        },
        21,
        6,
        false,
    ),
    ("totals", |session| session.reader.totals().unwrap().documents, 1, 0, false),
    ("a folder by the end of its path", |session| trees(session, &["inner"], 5), 20, 0, false),
    (
        "a folder that does not exist",
        |session| {
            let named = documents::named(session, &["docs/absent/3.md".to_owned()]).unwrap();
            named.faults.len()
        },
        // The names of many documents are compared with it.
        20,
        0,
        true,
    ),
    (
        "no hit",
        |session| {
            let query = Query::Words(vec!["absent".to_owned()]);
            usize::from(search(session, &search_request(query, 5)).unwrap().advice.is_some())
        },
        2,
        0,
        false,
    ),
    (
        "a title",
        |session| {
            let request = find::FindRequest {
                pattern: "part3x".to_owned(),
                content: None,
                subtree: false,
                filter: FilterRequest::default(),
                limit: 1,
                after: None,
            };
            find::find(session, &request).unwrap().matches.len()
        },
        // The index names few documents. One statement reads their titles, one the documents with exactly this title, and
        // one the documents that have it.
        6,
        0,
        false,
    ),
    (
        "a title with a text",
        |session| {
            let request = find::FindRequest {
                pattern: "Options".to_owned(),
                content: Some("Rare3x".to_owned()),
                subtree: false,
                filter: FilterRequest::default(),
                limit: 0,
                after: None,
            };
            find::find(session, &request).unwrap().matches.len()
        },
        // The title is in every document. The index names the one that has the text, and only its bytes are read.
        7,
        1,
        true,
    ),
    (
        "a check of all links",
        |session| {
            let filter = FilterRequest::default();
            let findings = links::check::check(session, &[], &filter, None).unwrap();
            usize::from(findings.findings.is_empty())
        },
        // The targets are looked up among all documents, which are read together.
        40,
        0,
        true,
    ),
    ("a primer", |session| prime::prime(session, None).map(|_| 1).unwrap(), 150, 10, true),
];

/// The number of trees on the first page with at most `limit` sections.
fn trees(session: &Session<'_>, documents: &[&str], limit: usize) -> usize {
    let request = toc::TocRequest {
        documents: documents.iter().map(|name| (*name).to_owned()).collect(),
        filter: FilterRequest::default(),
        depth: None,
        max_level: None,
        with_addresses: true,
        limit,
        after: None,
    };
    toc::toc(session, &request).unwrap().files.len()
}

fn selected(session: &Session<'_>, address: &str) -> usize {
    let request = select::SelectRequest {
        addresses: vec![address.to_owned()],
        max_words: 500,
        limit: None,
        unique: false,
        after: None,
        room: None,
    };
    select::select(session, &request).unwrap().results.len()
}

/// Returns the number of items of a bundle of three with what is linked.
fn bundled(
    session: &Session<'_>,
    sources: Vec<context::ContextSource>,
    filter: FilterRequest,
) -> usize {
    let request = context::ContextRequest {
        sources,
        filter,
        hops: 900,
        limit: 3,
        ..context::ContextRequest::default()
    };
    context::context(session, &request).unwrap().items.len()
}

fn hits(answer: &mdsel::query::search::SearchAnswer) -> usize {
    let mdsel::query::search::Items::Hits(hits) = &answer.items else { return 0 };
    hits.len()
}

/// The cost of each query.
fn costs(place: &Place) -> Vec<Cost> {
    let path = place.join(".mdsel.db");
    let ask = |question: &Question| {
        let (reader, work) = count_work(&path).unwrap();
        assert!(question(&Session::new(&*reader)) > 0);
        Cost::of(&work.take())
    };
    QUESTIONS.iter().map(|(_, question, ..)| ask(question)).collect()
}

#[test]
fn the_cost_of_queries_does_not_grow_with_the_store() {
    // A list of all documents reads 64 of them at first.
    let small = costs(&store(80));
    let large = costs(&store(640));
    for ((name, _, statements, read, is_scan), (small, large)) in
        QUESTIONS.iter().zip(small.into_iter().zip(large))
    {
        let costs = format!("{name}: {small:?}, eight times as large: {large:?}");
        assert!(large.statements > 0, "{costs}");
        assert!(large.statements <= *statements && large.read <= *read, "{costs}");
        if *is_scan {
            assert!(large.scanned <= 640 * 4 && large.steps <= small.steps * 9, "{costs}");
        } else {
            assert_eq!(small.statements, large.statements, "{costs}");
            assert_eq!(large.scanned, 0, "{costs}");
            // The trees of pages may be a level deeper.
            assert!(large.steps <= small.steps + small.steps / 5 + 50, "{costs}");
        }
    }
}

#[test]
fn broken_links_of_a_document_cost_the_same_in_a_larger_store() {
    let cost = |count| {
        let place = store(count);
        place.write("docs/broken.md", "# Broken\n\n![no](no.png) [no](no.md) [[no]] [[no.png]]\n");
        place.run(&["ingest"]).success();
        let (reader, work) = count_work(&place.join(".mdsel.db")).unwrap();
        let names = ["docs/broken.md".to_owned()];
        let session = Session::new(&*reader);
        let found = links::check::check(&session, &names, &FilterRequest::default(), None).unwrap();
        assert_eq!(found.findings.len(), 3);
        Cost::of(&work.take())
    };
    let (small, large) = (cost(80), cost(640));
    let costs = format!("{small:?}, eight times as large: {large:?}");
    assert!(large.statements <= 60 && large.scanned == 0, "{costs}");
    assert_eq!(small.statements, large.statements, "{costs}");
    assert!(large.steps <= small.steps + small.steps / 5 + 50, "{costs}");
}

/// Links that lead nowhere are looked for among the documents whose folders have a number that orders them.
#[test]
fn a_broken_link_beside_ordered_folders_takes_the_same_statements_in_a_larger_store() {
    let cost = |folders: usize| {
        let place = Place::new();
        for number in 0..folders {
            place.write(&format!("{number:03} part/text.md"), "# Part\n");
        }
        place.write("broken.md", "# Broken\n\n[no](no.md)\n");
        place.run(&["ingest"]).success();
        let (reader, work) = count_work(&place.join(".mdsel.db")).unwrap();
        let names = ["broken.md".to_owned()];
        let session = Session::new(&*reader);
        let found = links::check::check(&session, &names, &FilterRequest::default(), None).unwrap();
        assert_eq!(found.findings.len(), 1);
        Cost::of(&work.take())
    };
    let (small, large) = (cost(40), cost(320));
    assert!(large.statements <= 60, "{large:?}");
    assert_eq!(small.statements, large.statements, "{small:?}, eight times as large: {large:?}");
}

/// Every node lacks the page, so that the answer looks at all of them.
#[test]
fn a_page_that_no_node_has_is_looked_for_once_in_each() {
    let work = |place: &Place| {
        let (reader, work) = count_work(&place.join(".mdsel.db")).unwrap();
        let request = select::SelectRequest {
            addresses: vec!["heading:h2?page=3".to_owned()],
            max_words: 500,
            limit: None,
            unique: false,
            after: None,
            room: None,
        };
        let answer = select::select(&Session::new(&*reader), &request).unwrap();
        assert_eq!(answer.page.unresolved_selectors.len(), 1);
        Cost::of(&work.take())
    };
    let (small, large) = (work(&store(80)), work(&store(640)));
    assert!(large.statements < small.statements * 9, "{small:?}, eight times as large: {large:?}");
}

/// The first tier in which a section path may match has no section here.
#[test]
fn a_name_that_every_document_has_opens_each_of_them_once() {
    let place = store(640);
    for (address, of) in [("options", "sections are named"), ("#options", "documents have")] {
        let (reader, work) = count_work(&place.join(".mdsel.db")).unwrap();
        let all = NodeRange { skip: 0, take: usize::MAX };
        let resolution = resolve(&Session::new(&*reader), address, all).unwrap();
        let fault = resolution.fault.unwrap();
        assert!(fault.message.to_string().contains(&format!("640 {of}")), "{}", fault.message);
        assert_eq!((fault.candidates.len(), fault.total), (10, 640), "{address}");
        let work = work.take();
        let outlines = work.iter().filter(|(statement, _)| statement.contains("outline"));
        let outlines: u64 = outlines.map(|(_, cost)| cost.runs).sum();
        assert!(outlines <= 640, "{address}: {outlines} outlines");
    }
}

/// Two threads search, so the number of documents that they read before the page is full differs from run to run.
#[test]
fn a_page_of_hits_lists_few_documents() {
    let steps = |place: &Place| {
        let (reader, work) = count_work(&place.join(".mdsel.db")).unwrap();
        let query = Query::Patterns(vec![r"\w\w".to_owned()], PatternOptions::default());
        let answer = search(&Session::new(&*reader), &search_request(query, 5)).unwrap();
        assert_eq!(hits(&answer), 5);
        Cost::of(&work.take()).steps
    };
    let (small, large) = (steps(&store(80)), steps(&store(640)));
    assert!(large < small * 2, "{small} steps, in a store that is eight times as large {large}");
}

/// The id of a document is never used again, so that the highest one says nothing about their number.
#[test]
fn documents_that_were_replaced_change_no_cost() {
    let place = store(80);
    let statements = || {
        let (reader, work) = count_work(&place.join(".mdsel.db")).unwrap();
        let request = find::FindRequest {
            pattern: "Options".to_owned(),
            content: None,
            subtree: false,
            filter: FilterRequest::default(),
            limit: 0,
            after: None,
        };
        assert_eq!(find::find(&Session::new(&*reader), &request).unwrap().matches.len(), 80);
        let runs = |(statement, cost): (String, StatementCost)| (statement, cost.runs);
        work.take().into_iter().map(runs).collect::<Vec<_>>()
    };
    let before = statements();
    for _ in 0..5 {
        place.run(&["ingest", "--force"]).success();
    }
    assert_eq!(statements(), before);
}

/// The number of runs of the statements with `part` in a search with these wordings.
fn runs_in_search(place: &Place, wordings: &[&str], filter: FilterRequest, part: &str) -> u64 {
    let (reader, work) = count_work(&place.join(".mdsel.db")).unwrap();
    let queries = wordings.iter().map(|&wording| wording.to_owned()).collect();
    let mut request = search_request(Query::Words(queries), 3);
    request.filter = filter;
    assert!(hits(&search(&Session::new(&*reader), &request).unwrap()) > 0);
    let work = work.take();
    work.iter().filter(|(statement, _)| statement.contains(part)).map(|(_, cost)| cost.runs).sum()
}

#[test]
fn a_filter_is_evaluated_once_for_all_wordings() {
    let place = store(80);
    let few = FilterRequest { globs: vec!["77.md".to_owned()], ..FilterRequest::default() };
    let tagged = FilterRequest { tags: vec!["t7".to_owned()], ..FilterRequest::default() };
    for (filter, part) in [(few, "name_key >="), (tagged, "FROM tag")] {
        let runs = |wordings: &[&str]| runs_in_search(&place, wordings, filter.clone(), part);
        let once = runs(&["common line"]);
        assert!(once > 0, "{part}");
        assert_eq!(runs(&["common line", "options", "document"]), once, "{part}");
    }
}

#[test]
fn documents_without_an_index_are_read_once_for_all_wordings() {
    let place = store(80);
    std::fs::remove_dir_all(place.join(".mdsel.db-fts")).unwrap();
    // No other process may write, so that a search cannot make the index again.
    let lock = std::fs::File::open(place.join(".mdsel.db-lock")).unwrap();
    lock.lock().unwrap();
    let reads = |wordings: &[&str]| {
        runs_in_search(&place, wordings, FilterRequest::default(), "FROM content")
    };
    let once = reads(&["common line"]);
    assert!(once >= 80, "{once}");
    let all = reads(&["common line", "options", "document"]);
    assert!(all < once + 40, "{once} reads for one wording, {all} for three");
}
