//! What is true of every document: tiling, pages, selectors.

use std::collections::HashSet;

use mdsel::address::{Selector, Tree};
use mdsel::markdown::outline::{NodeKind, Outline};
use mdsel::markdown::words::{measure, page, page_count};
use mdsel::markdown::{BYTE_ORDER_MARK, parse, refusal, tiling};
use mdsel::position::{ByteSpan, LineIndex};
use mdsel::query::{Session, select};
use proptest::prelude::*;

use crate::corpus;
use crate::harness::{Place, ingest, store};
use mdsel::store::Purpose;

/// Asserts that front matter, headings, blocks and blank lines cover every byte exactly once.
fn assert_tiles(file: &[u8], outline: &Outline) {
    let lines = LineIndex::new(file);
    let mut tiles: Vec<ByteSpan> = outline.front_matter.into_iter().collect();
    for node in &outline.nodes {
        let is_top = node.parent.is_none_or(|parent| {
            matches!(outline.nodes[parent].kind, NodeKind::Root | NodeKind::Section(_))
        });
        match node.kind {
            NodeKind::Section(section) => {
                tiles.push(ByteSpan::new(node.bytes.start, outline.sections[section].heading_end));
            }
            NodeKind::Block(_) if is_top => tiles.push(node.bytes),
            _ => {}
        }
    }
    let mut position = if file.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len() } else { 0 };
    let is_line_start = |offset| {
        offset == 3 && file.starts_with(BYTE_ORDER_MARK)
            || lines.start_of(lines.line_of(offset)) == offset
    };
    for tile in tiles.into_iter().chain([ByteSpan::new(file.len(), file.len())]) {
        assert!(position <= tile.start, "a tile at {} overlaps one before", tile.start);
        let gap = &file[position..tile.start];
        assert!(
            gap.iter().all(u8::is_ascii_whitespace),
            "bytes {position}..{} belong to nothing",
            tile.start
        );
        assert!(
            is_line_start(tile.start) && is_line_start(tile.end),
            "{tile:?} is not whole lines"
        );
        position = tile.end;
    }
    let mut ends: Vec<usize> = Vec::new();
    for (index, node) in outline.nodes.iter().enumerate() {
        assert!(node.bytes.end <= file.len());
        assert_eq!(node.lines, lines.lines(node.bytes));
        ends.push(node.bytes.start);
        if let Some(parent) = node.parent {
            assert!(parent < index);
            assert!(
                outline.nodes[parent].bytes.contains(node.bytes),
                "{node:?} leaves its container"
            );
            if !matches!(node.kind, NodeKind::Section(_)) {
                assert!(ends[parent] <= node.bytes.start, "{node:?} overlaps its sibling");
                ends[parent] = node.bytes.end;
            }
        }
    }
    for (index, section) in outline.sections.iter().enumerate() {
        let node = &outline.nodes[section.node];
        let end = outline.sections[index + 1..]
            .iter()
            .find(|other| other.level <= section.level)
            .map_or(file.len(), |other| outline.nodes[other.node].bytes.start);
        assert_eq!(node.bytes.end, end);
        assert!(node.bytes.start <= section.heading_end && section.heading_end <= section.own_end);
    }
    assert_eq!(outline.document, measure(file));
    assert_eq!(tiling::fault(outline, file), None);
}

#[test]
fn documents_of_a_sample_are_tiled() {
    let paths = corpus::sample(5000);
    let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    std::thread::scope(|scope| {
        for part in paths.chunks(paths.len().div_ceil(threads)) {
            scope.spawn(move || {
                for path in part {
                    let file = std::fs::read(path).unwrap();
                    if refusal(&file).is_some() {
                        continue;
                    }
                    let outline = parse(&file).outline;
                    let checked = std::panic::catch_unwind(|| assert_tiles(&file, &outline));
                    assert!(checked.is_ok(), "{}", path.display());
                }
            });
        }
    });
}

/// Random sequences of pieces of Markdown syntax.
fn markdown() -> impl Strategy<Value = Vec<u8>> {
    let pieces = [
        "\n",
        "\n",
        "\n",
        "\r\n",
        "\r",
        "    ",
        "  ",
        "\t",
        "# ",
        "## ",
        "- ",
        "1. ",
        "> ",
        "```",
        "~~~",
        "---",
        "===",
        "| a | b |",
        "|--|--|",
        "<div>",
        "<!--",
        "-->",
        "[a]: b",
        "text",
        "é",
        "日本",
        "*",
        "\\",
        "`",
        "\u{feff}",
        "+++",
        "a: 1",
        "...",
    ];
    let piece = proptest::sample::select(pieces.to_vec());
    let bytes = prop_oneof![40 => piece.prop_map(|piece| piece.as_bytes().to_vec()),
        1 => Just(vec![0xff]), 1 => Just(vec![0xe2, 0x82])];
    proptest::collection::vec(bytes, 0..60).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn any_text_is_tiled_and_its_selectors_are_its_own(file in markdown()) {
        let outline = parse(&file).outline;
        assert_tiles(&file, &outline);
        assert_selectors(&Tree::new(outline));
    }
}

/// Asserts that every primary selector resolves to its node, and that no two nodes share one.
fn assert_selectors(tree: &Tree) {
    let mut seen = HashSet::new();
    for node in 0..tree.outline().nodes.len() {
        let text = tree.selector(node);
        let selector = Selector::parse(&text).unwrap();
        assert_eq!(selector.to_string(), text);
        assert_eq!(tree.follow(&selector.steps, usize::MAX), Ok(vec![node]), "{text}");
        assert!(seen.insert(text));
    }
}

#[test]
fn selectors_and_pages_of_a_sample_cover_their_documents() {
    for path in corpus::sample(300) {
        let file = std::fs::read(&path).unwrap();
        let tree = Tree::new(parse(&file).outline);
        assert_selectors(&tree);
        for node in &tree.outline().nodes {
            let bytes = &file[node.bytes.start..node.bytes.end];
            let total = measure(bytes).words;
            for size in [1, 7, 500] {
                let pages = page_count(total, size);
                // Each page is computed from the start, so only some are tested in long documents.
                let step = (pages * bytes.len() / 2_000_000).max(1);
                for number in (0..pages).step_by(step) {
                    let (span, more) = page(bytes, size, number).unwrap();
                    let text = &bytes[span.start..span.end];
                    assert_eq!(more, number + 1 < pages);
                    assert!(measure(text).words == size || !more, "{}", path.display());
                    match page(bytes, size, number + 1) {
                        Some((next, _)) => assert_eq!(span.end, next.start),
                        None => assert_eq!(span.end, bytes.len()),
                    }
                }
            }
        }
    }
}

#[test]
fn emitted_selectors_select_exactly_their_node() {
    let place = Place::new();
    let mut files = Vec::new();
    for (number, path) in corpus::sample(300).into_iter().enumerate() {
        let file = std::fs::read(path).unwrap();
        let name = format!("{:02}/document {number}.md", number % 40);
        place.write(&name, &file);
        files.push((name, file));
    }
    let store = store(&place.join(".mdsel.db"));
    ingest(&store, place.path());
    let reader = store.reader(Purpose::Read).unwrap();
    let session = Session::new(&*reader);
    for (name, file) in files {
        let stored = reader.document_at(&name).unwrap().unwrap();
        let document = session.open(&stored).unwrap();
        assert_eq!(document.tree.outline(), &parse(&file).outline, "{name}");
        assert_eq!(session.content(&document, document.span()).unwrap(), file);
        let nodes = &document.tree.outline().nodes;
        for chunk in (0..nodes.len()).collect::<Vec<_>>().chunks(10_000) {
            let addresses: Vec<String> =
                chunk.iter().map(|&node| document.address_of(node)).collect();
            let request = select::SelectRequest {
                addresses: addresses.clone(),
                max_words: 0,
                limit: None,
                unique: false,
                after: None,
                room: None,
            };
            let answer = select::select(&session, &request).unwrap();
            assert_eq!(answer.results.len(), addresses.len());
            for ((result, address), &node) in answer.results.iter().zip(&addresses).zip(chunk) {
                let span = nodes[node].bytes;
                assert_eq!(&result.selector, address);
                assert_eq!((result.byte_start, result.byte_end), (span.start, span.end));
                assert_eq!(result.content.as_ref().unwrap().bytes, file[span.start..span.end]);
            }
        }
    }
}
