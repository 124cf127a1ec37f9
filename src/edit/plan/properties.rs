//! Properties of edits, tested on generated and on real documents.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use proptest::prelude::*;

use super::tests::{DELETE, OWN, SUBTREE, planned, relevel, replace};
use super::*;
use crate::markdown::outline::{NodeKind, Outline};
use crate::markdown::parse;
use crate::position::{LineIndex, trim_line_end};

/// The level and title of every section.
fn sections(file: &[u8]) -> Vec<(u8, String)> {
    parse(file).outline.sections.into_iter().map(|s| (s.level, s.title)).collect()
}

/// The lines of `file` that are not blank.
fn lines(file: &[u8]) -> Vec<&[u8]> {
    let file = file.strip_prefix(crate::markdown::BYTE_ORDER_MARK).unwrap_or(file);
    text::lines(file).map(<[u8]>::trim_ascii_end).filter(|line| !line.is_empty()).collect()
}

/// Whether a CR and an LF of the file could join into one CRLF after an edit.
fn has_joining_line_ends(file: &[u8]) -> bool {
    text::lines(file).any(|line| line.ends_with(b"\r"))
        && text::lines(file).any(|line| line.ends_with(b"\n"))
}

/// Asserts that replacing a node with what `read` prints for it changes nothing.
fn assert_replaced_by_itself(file: &[u8], outline: &Outline, node: usize) {
    let section = outline.sections.iter().find(|section| section.node == node);
    let span = outline.nodes[node].bytes;
    let mut given = vec![(span, SUBTREE, true)];
    if let Some(section) = section {
        let body = section.heading_end;
        given.push((span, SUBTREE, false));
        given.push((ByteSpan::new(span.start, section.own_end), OWN, true));
        given.push((ByteSpan::new(span.start, section.own_end), OWN, false));
        given.push((ByteSpan::new(body, span.end), SUBTREE, true));
        given.push((ByteSpan::new(body, section.own_end), OWN, true));
    }
    for (span, scope, keep_heading) in given {
        let content = span.of(file).to_vec();
        let request = ContentChange::Replace { content, scope, keep_heading };
        match planned(file, EditTarget::Node(node), &request, Allow::default()) {
            Ok(splice) => {
                assert!(splice.effects.is_noop && apply(file, &splice) == file, "{request:?}");
            }
            Err(refusal) => assert_eq!(refusal.code(), "NOT_WHOLE_LINES", "{request:?}"),
        }
    }
}

/// Inserts a section, deletes it again, and asserts that the file is restored.
fn assert_undone(file: &[u8], node: usize, position: Position) -> &'static str {
    let request = relevel(position, "## Inserted 7\n\ntext\n");
    let splice = match planned(file, EditTarget::Node(node), &request, Allow::default()) {
        Ok(splice) => splice,
        Err(refusal) => return refusal.code(),
    };
    let new = apply(file, &splice);
    let added = parse(&new).outline;
    let section = added.sections.iter().position(|section| section.title == "Inserted 7").unwrap();
    let mut expected = sections(file);
    expected.insert(section, (added.sections[section].level, "Inserted 7".into()));
    assert_eq!(sections(&new), expected);
    let target = EditTarget::Node(added.sections[section].node);
    let undo = match planned(&new, target, &DELETE, Allow::default()) {
        Ok(splice) => splice,
        Err(refusal) => return refusal.code(),
    };
    let old = apply(&new, &undo);
    let left = splice.inserted.start > splice.at.start;
    let is_last = splice.at.start >= file.trim_ascii_end().len();
    if has_joining_line_ends(file) || left && !is_last {
        assert_eq!(lines(&old), lines(file));
        "undone except for blank lines"
    } else {
        assert_eq!(String::from_utf8_lossy(&old), String::from_utf8_lossy(file));
        "undone"
    }
}

/// Asserts that a repeated replacement changes nothing, and that a deletion removes only the section.
fn assert_idempotent(file: &[u8], outline: &Outline, node: usize) -> &'static str {
    let everything = Allow { drop: true, escape: true, duplicate: true, change: false };
    let target = EditTarget::Node(node);
    let request = replace("other\n\ntext");
    let is_section = matches!(outline.nodes[node].kind, NodeKind::Root | NodeKind::Section(_));
    let code = match planned(file, target, &request, everything) {
        Err(refusal) => refusal.code(),
        Ok(splice) => {
            let new = apply(file, &splice);
            let again = planned(&new, target, &request, everything);
            assert!(!is_section || again.is_ok_and(|splice| splice.effects.is_noop));
            "idempotent"
        }
    };
    for scope in [SUBTREE, OWN] {
        let deleted = planned(file, target, &ContentChange::Delete { scope }, everything);
        let Ok(splice) = deleted else { continue };
        let new = apply(file, &splice);
        // Only definitions that other text uses stay.
        let has_kept = !splice.effects.kept_definitions.is_empty();
        let kept: &[u8] = if has_kept { &splice.bytes } else { b"" };
        assert!(has_kept || lines(&splice.bytes).is_empty());
        let rest = [&file[..splice.at.start], b"\n", kept, b"\n", &file[splice.at.end..]].concat();
        assert_eq!(lines(&new), lines(&rest));
        if !has_kept {
            assert_deleted_exactly(file, &splice, &new);
        }
        let deleted = |index: &usize| {
            let start = outline.nodes[outline.sections[*index].node].bytes.start;
            splice.at.start <= start && start < splice.at.end
        };
        let kept = (0..outline.sections.len()).filter(|index| !deleted(index)).count();
        assert_eq!(sections(&new).len(), kept);
    }
    code
}

/// Asserts that the new file is the old one without the deleted content, except for blank lines that were added and a
/// final line end.
fn assert_deleted_exactly(file: &[u8], splice: &Splice, new: &[u8]) {
    let deleted = splice.deleted(&Version::read(file.to_vec()));
    let [span] = deleted[..] else { panic!("{deleted:?}") };
    let rest = [&file[..span.start], &splice.bytes, &file[span.end..]].concat();
    assert!(new == rest || new == trim_line_end(&rest), "{:?}", String::from_utf8_lossy(file));
}

/// The levels and the offsets, each plus a constant, of the headings outside of a splice, before and after it.
fn headings_outside(old: &Outline, new: &Outline, splice: &Splice) -> [Vec<(u8, usize)>; 2] {
    let after = splice.at.start + splice.bytes.len();
    let outside = |outline: &Outline, end: usize, shift: usize| {
        let headings = outline.sections.iter().filter_map(|section| {
            let start = outline.nodes[section.node].bytes.start;
            let is_before = start < splice.at.start;
            (is_before || start >= end)
                .then(|| (section.level, start + if is_before { 0 } else { shift }))
        });
        headings.collect()
    };
    [outside(old, splice.at.end, after), outside(new, after, splice.at.end)]
}

fn markdown_files(folder: &Path, files: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for path in entries.flatten().map(|entry| entry.path()) {
        if path.is_dir() {
            markdown_files(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "md") {
            files.push(path);
        }
    }
}

/// Tests the fixtures, and about `MDSEL_CORPORA_DOCUMENTS` documents (500 by default) of the folder
/// `MDSEL_CORPORA`.
#[test]
fn edits_of_real_documents_change_nothing_outside() {
    let mut files = Vec::new();
    if let Some(folder) = std::env::var_os("MDSEL_CORPORA") {
        markdown_files(Path::new(&folder), &mut files);
        files.sort();
        let most = std::env::var("MDSEL_CORPORA_DOCUMENTS").ok().and_then(|n| n.parse().ok());
        let step = files.len().div_ceil(most.unwrap_or(500)).max(1);
        files = files.into_iter().step_by(step).collect();
    }
    markdown_files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/documents"), &mut files);
    let mut outcomes: BTreeMap<&str, usize> = BTreeMap::new();
    let positions = [Position::Before, Position::After, Position::FirstChild, Position::LastChild];
    let mut random = 1_usize;
    for path in files {
        let file = std::fs::read(&path).unwrap();
        if crate::markdown::refusal(&file).is_some() {
            continue;
        }
        let outline = parse(&file).outline;
        for (turn, position) in positions.into_iter().enumerate() {
            random = random
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            let random = random >> 33;
            let mut node = random % outline.nodes.len();
            if turn > 0 && !outline.sections.is_empty() {
                node = outline.sections[random % outline.sections.len()].node;
            }
            let caught = std::panic::catch_unwind(|| {
                assert_replaced_by_itself(&file, &outline, node);
                let undone = assert_undone(&file, node, position);
                [undone, assert_idempotent(&file, &outline, node)]
            });
            let caught = caught.unwrap_or_else(|_| panic!("{} node {node}", path.display()));
            for outcome in caught {
                *outcomes.entry(outcome).or_default() += 1;
            }
        }
    }
    println!("{outcomes:#?}");
    assert!(outcomes["undone"] > outcomes.values().sum::<usize>() / 4);
}

fn markdown_line() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "# a",
        "## b",
        "### c",
        "  ## d ##",
        "text",
        "more",
        "===",
        "---",
        "- x",
        "  y",
        "1. z",
        "    code",
        "```",
        "~~~",
        "<!-- c",
        "-->",
        "<div>",
        "> q",
        "| t |",
        "| - |",
        "[l]: /u",
        " ",
        "\t",
        "<!--LDMD:BEGIN id=\"a\"-->",
        "<!--LDMD:END id=\"a\"-->",
        "+++",
        "k: v",
    ])
}

fn markdown_text() -> impl Strategy<Value = String> {
    let line = (markdown_line(), prop::sample::select(vec!["\n", "\n", "\n\n", "\r\n", "\r", ""]));
    prop::collection::vec(line, 0..14)
        .prop_map(|lines| lines.into_iter().map(|(a, b)| format!("{a}{b}")).collect())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn edits_of_generated_documents_can_be_undone(file in markdown_text(), seed in any::<prop::sample::Index>(), at in 0..4_usize) {
        let file = file.as_bytes();
        let outline = parse(file).outline;
        let node = seed.index(outline.nodes.len());
        let position =
            [Position::Before, Position::After, Position::FirstChild, Position::LastChild][at];
        assert_replaced_by_itself(file, &outline, node);
        assert_undone(file, node, position);
        assert_idempotent(file, &outline, node);
    }

    #[test]
    fn any_content_is_inserted_whole_or_refused(
        file in markdown_text(),
        content in markdown_text(),
        seed in any::<prop::sample::Index>(),
        position in prop::sample::select(vec![Position::Before, Position::After, Position::FirstChild, Position::LastChild]),
        keep_heading in any::<bool>(),
        relevel in any::<bool>(),
        everything in any::<bool>(),
    ) {
        let (file, content) = (file.as_bytes(), content.as_bytes());
        let allow =
            Allow { drop: everything, escape: everything, duplicate: everything, change: false };
        let outline = parse(file).outline;
        let node = EditTarget::Node(seed.index(outline.nodes.len()));
        for target in [node, EditTarget::FrontMatter, EditTarget::Ldmd(0), EditTarget::Document] {
            let given = || content.to_vec();
            for request in [
                ContentChange::Replace { content: given(), scope: SUBTREE, keep_heading },
                ContentChange::Replace { content: given(), scope: OWN, keep_heading },
                ContentChange::Insert { content: given(), position, relevel },
                DELETE,
            ] {
                let Ok(splice) = planned(file, target, &request, allow) else { continue };
                let new = apply(file, &splice);
                if matches!(request, ContentChange::Replace { .. }) && target != EditTarget::FrontMatter {
                    let inserted = lines(splice.inserted.of(&new)).len();
                    prop_assert_eq!(inserted, lines(content).len());
                }
                if target != EditTarget::Document {
                    let new_outline = parse(&new).outline;
                    let [old_headings, new_headings] = headings_outside(&outline, &new_outline, &splice);
                    prop_assert_eq!(old_headings, new_headings);
                    let has_front_matter = match (target, &request) {
                        (EditTarget::FrontMatter, ContentChange::Delete { .. }) => false,
                        (EditTarget::FrontMatter, ContentChange::Replace { .. }) => true,
                        _ => outline.front_matter.is_some(),
                    };
                    prop_assert_eq!(new_outline.front_matter.is_some(), has_front_matter);
                }
            }
        }
    }

    #[test]
    fn a_phrase_is_replaced_alone_or_refused(
        file in markdown_text(),
        content in markdown_text(),
        from in any::<prop::sample::Index>(),
        length in 1..20_usize,
    ) {
        let start = from.index(file.len() + 1);
        let phrase = &file[start..file.len().min(start + length)];
        // Half of a CRLF is no line end, so such a phrase is found elsewhere or nowhere.
        let is_half = |before: &str, after: &str| before.ends_with('\r') && after.starts_with('\n');
        let end = start + phrase.len();
        prop_assume!(!is_half(&file[..start], phrase) && !is_half(phrase, &file[end..]));
        let version = Version::read(file.as_bytes().to_vec());
        let within = ByteSpan::new(0, file.len());
        let edit = ExactEdit::Phrase { within, level: None, old: phrase.as_bytes(), content: content.as_bytes().into() };
        let plan = match plan_exact(&version, &edit, Allow::default()) {
            Ok(plan) => plan,
            Err(Refusal::NoSuchText) => {
                prop_assert!(phrase.is_empty());
                return Ok(());
            }
            Err(_) => return Ok(()),
        };
        let at = plan.splice.at;
        prop_assert_eq!(at.start, start);
        let text = |text: &str| text.replace("\r\n", "\n").replace('\r', "\n");
        let count = text(&file).matches(text(phrase).as_str()).count();
        prop_assert!(count <= 1, "{count} occurrences");
        prop_assert_eq!(apply(file.as_bytes(), &plan.splice), plan.version.bytes());
        let [old_headings, new_headings] =
            headings_outside(version.outline(), plan.version.outline(), &plan.splice);
        prop_assert_eq!(old_headings, new_headings);
        let [before, now] = [&version, &plan.version].map(|version| version.outline().front_matter);
        // A phrase that is all of the front matter may be removed.
        let is_removed = before.is_some_and(|span| at.contains(span)) && now.is_none();
        prop_assert!(before.is_some() == now.is_some() || is_removed);
    }

    #[test]
    fn lines_outside_an_edit_of_lines_stay_in_blocks_of_their_type(
        file in markdown_text(),
        content in markdown_text(),
        from in any::<prop::sample::Index>(),
        count in 1..4_usize,
        kind in 0..4_u8,
    ) {
        if file.is_empty() {
            return Ok(());
        }
        let lines = LineIndex::new(file.as_bytes());
        let from = from.index(lines.count()) + 1;
        let span = ByteSpan::new(lines.start_of(from), lines.end_of((from + count - 1).min(lines.count())));
        let edit = match kind {
            0 => ExactEdit::Replace(span, content.as_bytes()),
            1 => ExactEdit::Insert(span, Side::Before, content.as_bytes()),
            2 => ExactEdit::Insert(span, Side::After, content.as_bytes()),
            _ => ExactEdit::Delete(span),
        };
        let version = Version::read(file.as_bytes().to_vec());
        let Ok(plan) = plan_exact(&version, &edit, Allow::default()) else { return Ok(()) };
        let shift = Shift::of(&plan.splice);
        let kind_at = |version: &Version, offset: usize| {
            let nodes = version.outline().nodes.iter();
            let mut around = nodes.rev().filter(|node| node.bytes.start <= offset && offset < node.bytes.end);
            around.next().map(|node| match node.kind {
                NodeKind::Section(_) => "Section".to_owned(),
                kind => format!("{kind:?}"),
            })
        };
        for (offset, byte) in file.bytes().enumerate() {
            let is_outside = offset < plan.splice.at.start || plan.splice.at.end <= offset;
            if is_outside && byte.is_ascii_alphanumeric() {
                let now = shift.start(offset).and_then(|now| kind_at(&plan.version, now));
                prop_assert_eq!(kind_at(&version, offset), now, "{} {:?}", offset, edit);
            }
        }
    }
}
