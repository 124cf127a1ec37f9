//! Properties of arbitrary bytes. The fuzz targets call them with generated input, and the test
//! suite with inputs on which they once failed.

#![allow(dead_code, reason = "each target calls one of them")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a check that does not hold panics")]

use std::io::Write as _;

use mdsel::address::{Interpretation, Locator, Selector, Tree, interpretations, parse_params};
use mdsel::edit::plan::{Allow, ContentChange, EditScope, EditTarget, Position, Version, plan};
use mdsel::ldmd::{Mode, Piece, whole_scalars};
use mdsel::markdown::{self, tiling};
use mdsel::output::sanitize;
use mdsel::position::ByteSpan;
use mdsel::query::search::{PatternOptions, required_trigrams};
use mdsel::store::{Lookup, Purpose, Store};
use mdsel::terms::trigram;
use mdsel::trust::Trust;

/// A check of arbitrary bytes.
type Check = fn(&[u8]);

/// The checks by name.
pub(crate) const ALL: [(&str, Check); 8] = [
    ("outline", outline),
    ("address", address),
    ("edit", edit),
    ("trigrams", trigrams),
    ("ldmd", ldmd),
    ("records", records),
    ("shown", shown),
    ("store", store),
];

/// The number of nodes of a document that are checked one by one.
const NODES: usize = 40;

/// Front matter, headings, blocks and blank lines cover every byte once, and each node has its own
/// selector.
pub(crate) fn outline(bytes: &[u8]) {
    if markdown::refusal(bytes).is_some() {
        return;
    }
    let document = markdown::parse(bytes);
    assert_eq!(tiling::fault(&document.outline, bytes), None);
    let tree = Tree::new(document.outline);
    for node in (0..tree.outline().nodes.len()).take(NODES) {
        let selector = tree.selector(node);
        let parsed = Selector::parse(&selector).unwrap();
        assert_eq!(tree.follow(&parsed.steps, 2).unwrap(), [node], "{selector}");
    }
}

/// Any text is an address, or is refused with a position in it.
pub(crate) fn address(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let scalars = text.chars().count();
    if let Err(fault) = parse_params(text, 0) {
        assert!(fault.position.is_none_or(|position| position <= scalars));
    }
    for reading in interpretations(text) {
        match reading {
            Interpretation::Malformed(fault) => {
                assert!(fault.position.is_none_or(|position| position <= scalars + 1));
            }
            Interpretation::Selector(place) => {
                let Locator::Selector(selector, _) = place.locator else { continue };
                let sample = b"intro\n\n# One\n\n- a\n- b\n\n## Two\n\n> quote\n\n# Three\n\n```\ncode\n```\n";
                let tree = Tree::new(markdown::parse(sample).outline);
                if let Ok(nodes) = tree.follow(&selector.steps, 50) {
                    assert!(nodes.iter().all(|node| *node < tree.outline().nodes.len()));
                }
            }
            _ => {}
        }
    }
}

/// An accepted plan changes nothing outside its place, and the result is parsed as planned.
pub(crate) fn edit(bytes: &[u8]) {
    let Some((&[kind, node, flags], rest)) = bytes.split_first_chunk::<3>() else { return };
    let mut parts = rest.splitn(2, |byte| *byte == 0xff);
    let (Some(file), content) = (parts.next(), parts.next().unwrap_or_default()) else { return };
    // In a file that is not UTF-8, this control character reads like a byte that cannot be decoded.
    let is_unambiguous = !bytes.contains(&0x1a);
    if markdown::refusal(file).is_some() || file.len() > 20_000 || !is_unambiguous {
        return;
    }
    let version = Version::read(file.to_vec());
    let (outline, markup) = (version.outline(), version.markup());
    let scope = if flags & 1 == 0 { EditScope::Subtree } else { EditScope::Own };
    let allow = Allow {
        drop: flags & 2 != 0,
        escape: flags & 4 != 0,
        duplicate: flags & 8 != 0,
        change: false,
    };
    let positions = [Position::Before, Position::After, Position::FirstChild, Position::LastChild];
    let request = match kind % 6 {
        0 => ContentChange::Replace {
            content: content.to_vec(),
            scope,
            keep_heading: flags & 16 == 0,
        },
        1 => ContentChange::Delete { scope },
        other => ContentChange::Insert {
            content: content.to_vec(),
            position: positions[usize::from(other) - 2],
            relevel: flags & 16 != 0,
        },
    };
    let target = match usize::from(node) {
        255 => EditTarget::FrontMatter,
        node if flags & 32 != 0 && !markup.sections.is_empty() => {
            EditTarget::Ldmd(node % markup.sections.len())
        }
        node => EditTarget::Node(node % outline.nodes.len()),
    };
    let Ok(plan) = plan(&version, target, &request, allow) else { return };
    let (splice, after) = (plan.splice, plan.version.bytes());
    assert!(splice.at.start <= splice.at.end && splice.at.end <= file.len());
    assert_eq!(splice.effects.is_noop, after == file);
    assert!(after.starts_with(&file[..splice.at.start]));
    assert!(after.ends_with(&file[splice.at.end..]));
    let new = plan.version.outline();
    assert_eq!(tiling::fault(new, after), None);
    // Sections outside the place keep their titles and their bytes.
    let begins = |outline: &markdown::outline::Outline, from: usize, to: usize| -> Vec<_> {
        let sections = outline.sections.iter().map(|section| {
            (outline.nodes[section.node].bytes.start, section.level, section.title.clone())
        });
        sections.filter(|(start, ..)| (from..to).contains(start)).collect()
    };
    let moved = |start: usize| start + after.len() - file.len();
    assert_eq!(begins(outline, 0, splice.at.start), begins(new, 0, splice.at.start));
    let after_place: Vec<_> = begins(outline, splice.at.end, file.len())
        .into_iter()
        .map(|(start, level, title)| (moved(start), level, title))
        .collect();
    assert_eq!(after_place, begins(new, moved(splice.at.end), after.len()));
}

/// A text that matches a pattern has the trigrams that the pattern requires.
pub(crate) fn trigrams(bytes: &[u8]) {
    let mut parts = bytes.splitn(3, |byte| *byte == 0xff);
    let (Some(&[flags, ..]), Some(pattern), Some(text)) =
        (parts.next(), parts.next(), parts.next())
    else {
        return;
    };
    let Ok(pattern) = std::str::from_utf8(pattern) else { return };
    let options = PatternOptions {
        is_literal: flags & 1 != 0,
        ignores_case: flags & 2 != 0,
        is_word: flags & 4 != 0,
        is_multi_line: false,
    };
    let Ok(required) = required_trigrams(&[pattern.to_owned()], options) else { return };
    let body = if options.is_literal { regex::escape(pattern) } else { pattern.to_owned() };
    let body = if options.is_word { format!(r"\b(?:{body})\b") } else { body };
    let Ok(regex) = regex::bytes::RegexBuilder::new(&body)
        .case_insensitive(options.ignores_case)
        .size_limit(1 << 20)
        .build()
    else {
        return;
    };
    for line in text.split(|byte| *byte == b'\n' || *byte == b'\r') {
        if regex.is_match(line) {
            let is_there = |wanted| line.windows(3).any(|three| trigram(three) == Some(wanted));
            assert!(required.is_met_by(&is_there), "{pattern:?} on {line:?}: {required:?}");
        }
    }
}

/// Sections are nested, and every slice consists of their bytes and of whole characters.
pub(crate) fn ldmd(bytes: &[u8]) {
    if markdown::refusal(bytes).is_some() {
        return;
    }
    let document = markdown::parse(bytes);
    let markup = mdsel::ldmd::parse(bytes, &document.opaque);
    for (index, section) in markup.sections.iter().enumerate().take(NODES) {
        assert!(section.span.contains(section.content) && section.span.end <= bytes.len());
        if let Some(parent) = section.parent {
            assert!(parent < index && markup.sections[parent].content.contains(section.span));
            assert_eq!(section.depth, markup.sections[parent].depth + 1);
        }
        for (mode, depth, limit_bytes, strip_markers) in [
            (Mode::Full, None, 0, false),
            (Mode::Full, Some(0), 7, true),
            (Mode::Preview, Some(1), 100, false),
            (Mode::Tldr, None, 3, true),
        ] {
            let request = mdsel::ldmd::SliceRequest {
                mode,
                depth,
                limit_bytes,
                strip_markers,
                stub_end: strip_markers.then_some("\n"),
            };
            let slice = markup.slice(index, &request);
            let (pieces, is_cut) = slice.limited(0);
            let part = |piece: Piece| match piece {
                Piece::File(span) => bytes[span.start..span.end].to_vec(),
                Piece::Stub(line) => line,
            };
            let content: Vec<u8> = pieces.into_iter().flat_map(part).collect();
            assert!(limit_bytes == 0 || content.len() <= slice.limit_bytes.max(1));
            assert_eq!(is_cut, content.len() < slice.bytes());
            if std::str::from_utf8(bytes).is_ok() && is_cut {
                assert!(std::str::from_utf8(whole_scalars(&content)).is_ok());
            }
        }
    }
}

/// Records and packs are read to their end or to the first error.
pub(crate) fn records(bytes: &[u8]) {
    let mut faults = mdsel::records::RecordReader::new(bytes).filter(Result::is_err);
    assert!(faults.by_ref().take(2).count() <= 1);
    if let Ok(pack) = mdsel::pack::PackReader::new(bytes) {
        assert!(pack.filter(Result::is_err).take(2).count() <= 1);
    }
}

/// Printed text contains no control sequence for a terminal.
pub(crate) fn shown(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let is_safe =
        |scalar: char| matches!(scalar, '\n' | '\t') || !mdsel::visible::is_unsafe(scalar);
    let shown = sanitize::text(&text);
    assert!(shown.replace("\r\n", "\n").chars().all(is_safe), "{shown:?}");
    let line = sanitize::line(&text);
    assert!(line.chars().all(|scalar| is_safe(scalar) && scalar != '\n' && scalar != '\t'));
    let json = mdsel::output::json::compact(&text);
    assert!(json.chars().all(is_safe), "{json:?}");
}

/// A store of two small documents.
const STORE: &[u8] = include_bytes!("../../fixtures/compat/2.db");

/// A store with changed bytes answers or is refused, and its answers are within its documents. Each
/// change is four of `bytes`: three for the position, one for the value.
pub(crate) fn store(bytes: &[u8]) {
    let mut file = STORE.to_vec();
    for change in bytes.chunks_exact(4).take(64) {
        let place = u32::from_be_bytes([0, change[0], change[1], change[2]]) as usize;
        let length = file.len();
        file[place % length] = change[3];
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    std::fs::File::create(&path).unwrap().write_all(&file).unwrap();
    let Ok(store) = Store::at(&path, Trust::File(None)) else { return };
    let Ok(reader) = store.reader(Purpose::Read) else { return };
    let Ok(documents) = reader.documents(&Lookup::All, None, 100) else { return };
    drop(reader.totals());
    for document in documents {
        drop(reader.tags(&document));
        drop(reader.front_matter(&document));
        drop(reader.links(&document));
        drop(reader.markup(&document));
        drop(mdsel::query::document_named(&*reader, &document.path));
        let Ok(outline) = reader.outline(&document) else { continue };
        let whole = ByteSpan::new(0, outline.bytes);
        let content = reader.content(&document, whole);
        assert!(content.is_err() || content.is_ok_and(|content| content.len() == outline.bytes));
        let tree = Tree::new(outline);
        for node in (0..tree.outline().nodes.len()).take(NODES) {
            assert!(whole.contains(tree.outline().nodes[node].bytes));
            tree.selector(node);
        }
    }
}
