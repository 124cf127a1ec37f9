//! Tests of addresses, from their text to the content of the node, over documents in memory.

use std::fs;
use std::time::Duration;

use tempfile::TempDir;

use super::node::{Extent, NodeAnswer, answer};
use super::resolve::{NodeRange, resolve, resolve_one};
use super::resolved_node::ResolvedNode;
use super::toc::{self, TocRequest};
use super::{FilterRequest, Session, ask};
use crate::address::AddressError;
use crate::cancellation::Cancellation;
use crate::ingest::{self, NoProgress, OptionChanges, Paths};
use crate::store::{Memory, Purpose, Store};
use crate::trust::Trust;

const GUIDE: &str = "---\ntitle: The guide\n---\n# Guide\n\nFirst words.\n\n## Install\n\nRun it.\n\n\
    ### Linux\n\n- one\n- two\n\n  more\n\n## Install\n\nAgain.\n\n## Use\n\n```sh\nmdsel\n```\n";
const API: &str = "# API\n\n## Calls\n\nText.\n\n<!--LDMD:BEGIN id=\"note\" title=\"A note\"-->\nBytes.\n\
    <!--LDMD:END id=\"note\"-->\n";
const OTHER_GUIDE: &str =
    "# Second guide\n\n## Setup\n\nHere.\n\n| a | b |\n| - | - |\n| 1 | 2 |\n";
const SECTION: &str = "# Title\n\nA document with the name of a selector word.\n";

const FILES: [(&str, &str); 5] = [
    ("guide.md", GUIDE),
    ("api/calls.md", API),
    ("old/manual.md", OTHER_GUIDE),
    ("new/manual.md", OTHER_GUIDE),
    ("section.md", SECTION),
];

/// Answers `question` from a store of `files`.
fn over<T>(files: &[(&str, &str)], question: impl FnOnce(&Session<'_>) -> T) -> T {
    let folder = TempDir::new().unwrap();
    for (path, text) in files {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let store = Store::new(Box::new(Memory::default()), Trust::File(None));
    let request = ingest::IngestRequest {
        store: &store,
        root: Some(folder.path()),
        folder: folder.path(),
        collection: None,
        paths: Paths::All,
        options: OptionChanges::default(),
        force: false,
        shard: None,
        wait: Duration::ZERO,
    };
    ingest::run(&request, &NoProgress).unwrap();
    ask(&store, Purpose::Search, |session| Ok(question(session))).unwrap()
}

/// Returns the places of `address`, or the code of its fault and its candidates, and the codes of the
/// warnings.
fn resolved(session: &Session<'_>, address: &str) -> String {
    let found = resolve(session, address, NodeRange { skip: 0, take: 9 }).unwrap();
    let mut words: Vec<String> = found.places.iter().map(ResolvedNode::address).collect();
    if let Some(fault) = found.fault {
        words.push(fault.code.code().to_owned());
        words.extend(fault.candidates.into_iter().map(|candidate| candidate.selector));
    }
    words.extend(found.warnings.into_iter().map(|warning| format!("({})", warning.code)));
    words.join(" ")
}

fn assert_resolved(table: &[(&str, &str)]) {
    over(&FILES, |session| {
        for (address, expected) in table {
            assert_eq!(resolved(session, address), *expected, "{address}");
        }
    });
}

#[test]
fn the_name_of_a_document_precedes_the_titles_of_sections() {
    assert_resolved(&[
        ("guide.md", "guide.md::*"),
        ("./guide.md", "guide.md::*"),
        ("guide", "guide.md::*"),
        ("calls", "api/calls.md::*"),
        ("/calls", "api/calls.md::heading:h2[0]"),
        ("manual", "AMBIGUOUS new/manual.md::* old/manual.md::*"),
        ("old/manual", "old/manual.md::*"),
        ("nothing", "SELECTOR_NOT_FOUND"),
    ]);
}

#[test]
fn a_part_of_a_title_is_the_last_thing_that_a_name_can_be() {
    assert_resolved(&[
        ("linux", "guide.md::heading:h3[0]"),
        ("inu", "guide.md::heading:h3[0]"),
        ("install", "AMBIGUOUS guide.md::heading:h2[0] guide.md::heading:h2[1]"),
        ("setup", "AMBIGUOUS new/manual.md::heading:h2[0] old/manual.md::heading:h2[0]"),
    ]);
}

#[test]
fn a_selector_without_a_document_is_followed_in_all_documents() {
    assert_resolved(&[
        (
            "block:table",
            "new/manual.md::heading:h2[0]/block:table[0] old/manual.md::heading:h2[0]/block:table[0]",
        ),
        ("heading:h3/block:list", "guide.md::heading:h3[0]/block:list[0] (UNINDEXED_STEP)"),
    ]);
}

#[test]
fn places_in_a_document() {
    assert_resolved(&[
        ("guide::install-1", "guide.md::heading:h2[1]"),
        ("guide::guide/install/linux", "guide.md::heading:h3[0]"),
        ("guide.md:6", "guide.md::heading:h1[0]"),
        ("guide.md:13-14", "guide.md::heading:h3[0]"),
        ("guide.md#use", "guide.md::heading:h2[2]"),
        ("old/manual.md#Second guide", "old/manual.md::heading:h1[0]"),
        ("guide.md#Guide Use", "SELECTOR_NOT_FOUND"),
        ("guide::@frontmatter", "guide.md::@frontmatter"),
        ("manual::setup", "AMBIGUOUS new/manual.md::heading:h2[0] old/manual.md::heading:h2[0]"),
        ("calls::ldmd:note", "api/calls.md::ldmd:note"),
    ]);
}

#[test]
fn places_that_a_document_does_not_have() {
    assert_resolved(&[
        ("guide::heading:h2[3]", "INDEX_OUT_OF_RANGE"),
        ("guide::heading:h2[-1]/block:code[0]", "INVALID_INDEX"),
        ("guide::99", "SELECTOR_NOT_FOUND"),
        ("old/manual::@frontmatter", "SELECTOR_NOT_FOUND"),
    ]);
}

#[test]
fn an_address_of_one_node_names_its_candidates() {
    over(&FILES, |session| {
        let AddressError { candidates, .. } =
            resolve_one(session, "guide::install").unwrap().unwrap_err();
        for candidate in candidates {
            let (place, _) = resolve_one(session, &candidate.selector).unwrap().unwrap();
            assert_eq!(place.address(), candidate.selector);
        }
        assert!(resolve_one(session, "guide::use").unwrap().is_ok());
    });
}

/// Returns the answer for the node at `address` with pages of `words` words.
fn described(session: &Session<'_>, address: &str, words: usize) -> NodeAnswer {
    let (place, _) = resolve_one(session, address).unwrap().unwrap();
    answer(session, &place, Extent::Words(words)).unwrap().unwrap()
}

#[test]
fn a_node_has_its_bytes_lines_and_subsections() {
    over(&FILES, |session| {
        for (address, text, lines, subsections) in [
            ("guide::guide?part=own", "# Guide\n\nFirst words.\n\n", (4, 7), 3),
            ("guide::guide?head=1", "# Guide\n", (4, 4), 3),
            ("guide::use?tail=2", "mdsel\n```\n", (26, 27), 0),
            ("guide::install-1", "## Install\n\nAgain.\n\n", (19, 22), 0),
            ("guide::heading:h3[0]/block:list[0]/item[0]", "- one\n", (14, 14), 0),
            ("guide::@frontmatter", "---\ntitle: The guide\n---\n", (1, 3), 0),
            ("calls::ldmd:note", &API[API.find("<!--").unwrap()..], (7, 9), 0),
        ] {
            let node = described(session, address, 0);
            let content = node.content.unwrap().bytes;
            assert_eq!(String::from_utf8_lossy(&content), text, "{address}");
            assert_eq!((node.line_start, node.line_end), lines, "{address}");
            assert_eq!(node.byte_end - node.byte_start, content.len(), "{address}");
            assert_eq!(node.children_available.len(), subsections, "{address}");
        }
    });
}

#[test]
fn the_pages_of_a_node_join_to_its_bytes() {
    over(&FILES, |session| {
        let whole = described(session, "guide.md", 0).content.unwrap().bytes;
        assert_eq!(whole, GUIDE.as_bytes());
        for words in 1..12 {
            let mut address = "guide.md".to_owned();
            let mut joined = Vec::new();
            loop {
                let page = described(session, &address, words);
                joined.extend(page.content.unwrap().bytes);
                let Some(next) = page.pagination.and_then(|pagination| pagination.next) else {
                    break;
                };
                address = next;
            }
            assert_eq!(joined, whole, "{words} words");
        }
    });
}

#[test]
fn a_cancelled_call_ends_on_every_thread() {
    let request = TocRequest {
        documents: Vec::new(),
        filter: FilterRequest::default(),
        depth: None,
        max_level: None,
        with_addresses: false,
        limit: 0,
        after: None,
    };
    // One thread alone would be the calling one.
    let paths: Vec<String> = (0..2 * toc::BATCH).map(|number| format!("{number}.md")).collect();
    let files: Vec<(&str, &str)> = paths.iter().map(|path| (path.as_str(), SECTION)).collect();
    over(&files, |session| {
        let call = Cancellation::default();
        let trees = || toc::toc(&Session::new(session.reader), &request);
        assert_eq!(call.during(trees).unwrap().files.len(), files.len());
        call.cancel();
        assert!(call.during(trees).is_err());
    });
}
