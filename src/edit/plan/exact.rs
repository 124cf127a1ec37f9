//! Plans an exact edit: of a phrase, or of whole lines that need not be a block.
//!
//! Invariant: the splice is exactly the bytes that are named, and no blank line is added or removed. Everything outside
//! it is compared as for any other edit, so the phrase or the lines are the place.

use std::borrow::Cow;
use std::collections::BTreeSet;

use memchr::memmem;

use super::definitions::{Definition, definitions};
use super::draft::{Draft, FrontMatterEdit};
use super::effect::{Expected, Shift, compare};
use super::fragment::{Fragment, converted};
use super::labels::key;
use super::planner::Planner;
use super::text::{dominant_line_end, lines, trimmed};
use super::version::Version;
use super::{Allow, EditTarget, OutsideChange, Plan, Refusal, Side, Splice, apply};
use crate::limits;
use crate::markdown;
use crate::markdown::cells::cells;
use crate::markdown::contents::Table;
use crate::markdown::outline::{BlockType, Node, NodeKind, Section};
use crate::position::{ByteSpan, LineIndex, trim_line_end};

/// An edit of exactly the named bytes. The content of whole lines has the line ends of these lines, not its own last
/// one.
#[derive(Clone, Debug)]
pub enum ExactEdit<'a> {
    /// Replaces the only occurrence of `old` in a span. A line end in `old` is any line end of the file.
    Phrase {
        /// The span.
        within: ByteSpan,
        /// The level of the section at the span, if it is one. The new text has no heading of this level or a higher one.
        level: Option<u8>,
        /// The text that is replaced.
        old: &'a [u8],
        /// The new text, of which only the line ends are converted.
        content: Cow<'a, [u8]>,
    },
    /// Replaces whole lines.
    Replace(ByteSpan, &'a [u8]),
    /// Inserts lines on a side of whole lines.
    Insert(ByteSpan, Side, &'a [u8]),
    /// Deletes whole lines.
    Delete(ByteSpan),
}

/// Computes the splice for `edit` in the version `old` of a file, and the version that it produces.
///
/// Parses the new file once, and at most both versions once more if the splice is in the last block.
pub fn plan_exact(old: &Version, edit: &ExactEdit<'_>, allow: Allow) -> Result<Plan, Refusal> {
    let file = old.bytes();
    let line_end = dominant_line_end(file).unwrap_or(b"\n");
    let text = |content: &[u8]| trim_line_end(&converted(content, line_end)).to_vec();
    // A byte order mark belongs to no line.
    let after_mark = |span: ByteSpan| ByteSpan::new(span.start.max(old.floor()), span.end);
    let without_end = |span: ByteSpan| span.start + trim_line_end(span.of(file)).len();
    let (at, bytes) = match edit {
        ExactEdit::Phrase { within, old: phrase, content, .. } => {
            (only(file, *within, phrase)?, converted(content, line_end))
        }
        &ExactEdit::Replace(span, content) => {
            let span = after_mark(span);
            (ByteSpan::new(span.start, without_end(span)), text(content))
        }
        // Only the seam is the place: the named lines are outside.
        &ExactEdit::Insert(span, side, content) => {
            let span = after_mark(span);
            let is_before = side == Side::Before;
            let seam = if is_before { span.start } else { span.end };
            let is_after_line_end = is_before || without_end(span) < span.end;
            let parts = if is_after_line_end {
                [&text(content)[..], line_end].concat()
            } else {
                [line_end, &text(content)[..]].concat()
            };
            (ByteSpan::new(seam, seam), parts)
        }
        &ExactEdit::Delete(span) => (after_mark(span), Vec::new()),
    };
    let is_noop = at.of(file) == bytes;
    let inserted = ByteSpan::new(at.start, at.start + bytes.len());
    let mut splice = Splice { at, bytes, removed: at, inserted, ..Splice::default() };
    let mut lists = None;
    if let &ExactEdit::Insert(span, side, _) = edit {
        let is_before = side == Side::Before;
        let added = splice.bytes.len() - line_end.len();
        let is_line_end_first = !is_before && without_end(span) == span.end;
        let start = at.start + if is_line_end_first { line_end.len() } else { 0 };
        splice.inserted = ByteSpan::new(start, start + added);
        let seam = if is_before { at.start } else { without_end(span) };
        splice.removed = ByteSpan::new(seam, seam);
        // A new first item extends the list of the named lines.
        lists = Some(span);
    }
    if is_noop {
        splice.effects.is_noop = true;
        return Ok(Plan { splice, version: old.clone() });
    }
    let changed = apply(file, &splice);
    if let Some(reason) = markdown::refusal(&changed) {
        return Err(Refusal::NotMarkdown(reason));
    }
    let new = Version::read_as(changed, old.document().dialect);
    refuse_open(old, &new, splice.at.start + splice.bytes.len())?;
    let after = ByteSpan::new(at.start, at.start + splice.bytes.len());
    let (before, now) = (overfull(old, at), overfull(&new, after));
    if let Some((cells, columns)) = now.last().copied().filter(|_| now.len() > before.len()) {
        return Err(Refusal::TooManyCells { cells, columns });
    }
    if let ExactEdit::Phrase { within, level: Some(level), .. } = edit {
        let refusal = escaped(&new, *within, *level, after);
        refusal.filter(|refusal| !refusal.is_allowed(allow)).map_or(Ok(()), Err)?;
    }
    let is_front_matter = old.outline().front_matter.is_some_and(|span| span.contains(at));
    let expected = Expected {
        headings: Vec::new(),
        is_exact: true,
        depth: 0,
        is_contained: true,
        lists,
        front_matter: FrontMatterEdit::Kept,
        is_front_matter,
        may_move_markers: false,
    };
    let mut effect = compare(old, &new, &splice, &expected);
    if cells_after(old, at.end) != cells_after(&new, after.end) {
        let line = LineIndex::new(file).line_of(at.end);
        effect.refusals.push(Refusal::ChangesOutside { line, change: OutsideChange::Content });
    }
    let is_deletion = matches!(edit, ExactEdit::Delete(_));
    if let ExactEdit::Phrase { within, .. } = edit
        && let Some(change) = retarget(old, &new, *within, &splice)
    {
        effect.refusals.retain(|refusal| !refusal.is_change(&change));
    }
    let allow = Allow { drop: allow.drop || is_deletion, ..allow };
    let planner = Planner { old, line_end, allow, target: EditTarget::Document, keeps: &[] };
    let draft = Draft { removed: splice.removed, ..Draft::default() };
    planner.judge(&draft, splice, new, effect, Vec::new())
}

/// Returns the change of the links that use the definition at `within`, if that is one and `splice` gives it another
/// target.
fn retarget(
    old: &Version,
    new: &Version,
    within: ByteSpan,
    splice: &Splice,
) -> Option<OutsideChange> {
    let named = trimmed(old.bytes(), within);
    let is_named = |node: &&Node| {
        node.kind == NodeKind::Block(BlockType::Definition) && node.bytes.contains(named)
    };
    let before = old.outline().nodes.iter().find(is_named)?.bytes;
    // The phrase may begin before the definition, which is gone then.
    let end = Shift::of(splice).end(before.end).filter(|end| before.start <= *end)?;
    let now = ByteSpan::new(before.start, end);
    let only = |version: &Version, span: ByteSpan| {
        <[Definition; 1]>::try_from(definitions(version, span)).ok().map(|[definition]| definition)
    };
    let (before, now) = (only(old, before)?, only(new, now)?);
    let from = before.target.filter(|_| key(&before.label) == key(&now.label))?;
    Some(OutsideChange::Link { from, to: now.target })
}

/// Returns the refusal of new text at `after` that has a heading which ends the section of this `level` at `within`.
fn escaped(new: &Version, within: ByteSpan, level: u8, after: ByteSpan) -> Option<Refusal> {
    let outline = new.outline();
    let ends_it = |section: &&Section| {
        let start = outline.nodes.get(section.node).map_or(0, |node| node.bytes.start);
        let is_new = start < after.end && section.heading_end > after.start;
        is_new && start > within.start && section.level <= level
    };
    let heading = outline.sections.iter().find(ends_it)?;
    Some(Refusal::WouldEscape {
        title: heading.title.clone(),
        level: heading.level,
        least: level + 1,
        is_title: false,
    })
}

/// Returns where `phrase` occurs in `within`, if it does so once.
fn only(file: &[u8], within: ByteSpan, phrase: &[u8]) -> Result<ByteSpan, Refusal> {
    let text = within.of(file);
    let (with_one_end, cuts) = with_one_line_end(text);
    let (phrase, _) = with_one_line_end(phrase);
    let in_file =
        |offset: usize| within.start + offset + cuts.partition_point(|line_end| *line_end < offset);
    let finder = memmem::Finder::new(&*phrase);
    let mut found = Vec::new();
    let mut from = 0;
    while !phrase.is_empty()
        && found.len() <= limits::MAX_OCCURRENCES_NAMED
        && let Some(at) = with_one_end.get(from..).and_then(|rest| finder.find(rest))
    {
        let start = from + at;
        found.push(ByteSpan::new(in_file(start), in_file(start + phrase.len())));
        from = start + 1;
    }
    match found.as_slice() {
        [span] => Ok(*span),
        [] => Err(Refusal::NoSuchText),
        several => {
            let index = LineIndex::new(file);
            let named = several.iter().take(limits::MAX_OCCURRENCES_NAMED);
            let lines: BTreeSet<usize> = named.map(|span| index.line_of(span.start)).collect();
            let is_cut = several.len() > limits::MAX_OCCURRENCES_NAMED;
            Err(Refusal::SeveralTexts { lines: lines.into_iter().collect(), is_cut })
        }
    }
}

/// Returns `text` with LF as its only line end, and the offsets in it of those that are CRLF in `text`.
fn with_one_line_end(text: &[u8]) -> (Cow<'_, [u8]>, Vec<usize>) {
    if memchr::memchr(b'\r', text).is_none() {
        return (Cow::Borrowed(text), Vec::new());
    }
    let mut result = Vec::with_capacity(text.len());
    let mut cuts = Vec::new();
    for line in lines(text) {
        let words = trim_line_end(line);
        result.extend_from_slice(words);
        if line.len() == words.len() + 2 {
            cuts.push(result.len());
        }
        if words.len() < line.len() {
            result.push(b'\n');
        }
    }
    (Cow::Owned(result), cuts)
}

/// Refuses new text, which ends at `end` in `new`, that leaves a block open. That includes everything after it, so `end`
/// is in the last block.
fn refuse_open(old: &Version, new: &Version, end: usize) -> Result<(), Refusal> {
    if new.outline().nodes.iter().any(|node| node.bytes.start >= end) {
        return Ok(());
    }
    let open_line = |version: &Version| {
        let text = version.bytes().get(version.floor()..).unwrap_or_default();
        Fragment::read(text.to_vec(), version.document().dialect).open_line
    };
    match open_line(new) {
        Some(line) if open_line(old).is_none() => Err(Refusal::LeavesOpen { line }),
        _ => Ok(()),
    }
}

/// The numbers of cells and of columns of the rows at `span` whose last cells are ignored.
fn overfull(version: &Version, span: ByteSpan) -> Vec<(usize, usize)> {
    let tables = version.document().contents.tables.iter();
    let rows = tables.flat_map(|table| table.rows().map(|row| (row.span, table.width())));
    let at = rows.filter(|(row, _)| row.start <= span.end && span.start <= row.end);
    let counted = at.map(|(row, columns)| {
        let text = String::from_utf8_lossy(row.of(version.bytes()));
        (cells(&text).len(), columns)
    });
    counted.filter(|(cells, columns)| cells > columns).collect()
}

/// The cells after the byte at `offset` in its row, relative to it. A backslash before a pipe joins two cells.
fn cells_after(version: &Version, offset: usize) -> Vec<(usize, usize)> {
    let tables = version.document().contents.tables.iter();
    let mut rows = tables.flat_map(Table::rows);
    let Some(row) = rows.find(|row| row.span.start <= offset && offset <= row.span.end) else {
        return Vec::new();
    };
    let text = String::from_utf8_lossy(row.span.of(version.bytes()));
    let spans = cells(&text).into_iter();
    let spans = spans.map(|cell| (row.span.start + cell.start, row.span.start + cell.end));
    spans
        .filter(|(start, _)| *start >= offset)
        .map(|(start, end)| (start - offset, end - offset))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn phrase(text: &str, old: &str, content: &str) -> Result<String, Refusal> {
        let version = Version::read(text.as_bytes().to_vec());
        let within = ByteSpan::new(0, text.len());
        let edit = ExactEdit::Phrase {
            within,
            level: None,
            old: old.as_bytes(),
            content: content.as_bytes().into(),
        };
        text_of(plan_exact(&version, &edit, Allow::default()))
    }

    fn text_of(plan: Result<Plan, Refusal>) -> Result<String, Refusal> {
        plan.map(|plan| String::from_utf8(plan.version.bytes().to_vec()).unwrap())
    }

    #[test]
    fn only_the_bytes_of_a_phrase_change() {
        for (text, old, content) in [
            ("# A\n\nOne two.\n\n\n\nThree", "two", "2"),
            ("- a\n- b\n", "a\n- b", "x\n- y\n- z"),
            ("> 1. [t](u.md) v\n> 2. w\n", "u.md", "v.md"),
            ("| a | b |\n|---|---|\n| c | d |\n", "d |", "e |\n| f | g |"),
            ("# A\n\none\n\n## B\n\ntwo\n", "two", "two\n\n### C\n\nthree"),
            ("# A\n\none\n\n## B\n\ntwo\n", "one\n\n## B\n", "1\n\n## B\n"),
            ("---\na: 1\n---\n\nx\n", "a: 1", "a: 2\nb: 3"),
            ("x  \ny\n", "x  \n", ""),
            ("One two. z\n\nx\n", "two. z", "two.\n\nNew."),
            ("x [y](https://example.org/a) z\n", "org/a", "com"),
            ("a[^1]\n\n[^1]: n\n\n[^2]: m\n", "^1]\n", "^2]\n"),
            ("one  two\n", "one  ", "one\n"),
            ("one two\n", " two", "  "),
            ("|1|2|\n|---|---|\n|3|4|\n", "3", "x\\|"),
            ("# A\n\n## B\n\nb\n\n### C\n", "## B", "## D\n\nd\n\n## B"),
        ] {
            let expected = text.replacen(old, content, 1);
            assert_eq!(phrase(text, old, content), Ok(expected), "{text:?} {old:?}");
        }
        let mixed = "a\r\nb\r\nc\nd\r\n";
        assert_eq!(phrase(mixed, "b\nc", "B\nC").as_deref(), Ok("a\r\nB\r\nC\nd\r\n"));
    }

    #[test]
    fn a_phrase_occurs_exactly_once() {
        for (text, old, lines) in [
            ("aa\nb aaa", "aa", vec![1, 2]),
            ("x\n\nx\n", "x", vec![1, 3]),
            ("a\r\n\r\n", "\n", vec![1, 2]),
        ] {
            let refusal = Refusal::SeveralTexts { lines, is_cut: false };
            assert_eq!(phrase(text, old, "y"), Err(refusal), "{old:?}");
        }
        for old in ["b", "A", "", "a\n\n\n"] {
            assert_eq!(phrase("a\n\n", old, "y"), Err(Refusal::NoSuchText), "{old:?}");
        }
    }

    #[test]
    fn the_lines_of_the_first_occurrences_of_a_phrase_are_named() {
        let refusal = phrase(&"x\n\n".repeat(20), "x", "y").unwrap_err();
        let message = "the old text occurs more than once, on lines 1, 3, 5, 7, 9, ...";
        assert_eq!(refusal.to_string(), message);
    }

    #[test]
    fn a_phrase_has_any_line_ends() {
        for (text, old, expected) in [
            ("a\r\nb\rc\nd\r\n", "b\nc\r\nd", "a\r\nX\r\n"),
            ("a\r\n\r\nb\r\n", "\n\nb\n", "aX"),
            ("a\r\n\r\nb\r\n", "a\r\r", "Xb\r\n"),
        ] {
            let version = Version::read(text.as_bytes().to_vec());
            let within = ByteSpan::new(0, text.len());
            let span = only(version.bytes(), within, old.as_bytes()).unwrap();
            let changed = [&text[..span.start], "X", &text[span.end..]].concat();
            assert_eq!(changed, expected, "{text:?} {old:?}");
        }
    }

    #[test]
    fn a_search_for_a_phrase_takes_time_in_proportion_to_the_text() {
        let text = "a\n".repeat(300_000);
        let old = "a\n".repeat(5000) + "b";
        let within = ByteSpan::new(0, text.len());
        let found = crate::processor_time::within(5, "phrase", || {
            only(text.as_bytes(), within, old.as_bytes())
        });
        assert_eq!(found, Err(Refusal::NoSuchText));
    }

    #[test]
    fn a_phrase_before_the_last_block_needs_one_parse() {
        let text = format!("# T\n\n{}last\n", "text\n\n".repeat(1000));
        let version = Version::read(text.clone().into_bytes());
        let before = markdown::PARSED_BYTES.get();
        let edit = ExactEdit::Replace(ByteSpan::new(0, 4), b"# U");
        text_of(plan_exact(&version, &edit, Allow { drop: true, ..Allow::default() })).unwrap();
        let parsed = markdown::PARSED_BYTES.get() - before;
        assert!(parsed < text.len() + 100, "{parsed} bytes");
    }

    #[test]
    fn nothing_outside_a_phrase_is_parsed_differently() {
        for (text, old, content, code) in [
            ("# A\n\ntext\n", "A", "B", "CHANGES_OUTSIDE"),
            ("# A\n\ntext\n\n## B\n", "text", "```", "OPEN_FENCE"),
            ("# A\n\n```\ntext\n```\n", "text\n```\n", "text\n", "OPEN_FENCE"),
            ("# A\n\ntext", "text", "<!-- text", "OPEN_FENCE"),
            ("# A\n\none\n\ntwo\n", "one\n\n", "one\n", "CHANGES_OUTSIDE"),
            ("# A\n\none\n\ntwo\n", "one", "## B", "WOULD_ESCAPE"),
            ("# A\n\n## B\n\none\n", "## B\n\n", "", "WOULD_DROP"),
            ("[a] b\n\n[a]: c.md\n", "c.md", "d.md", "CHANGES_OUTSIDE"),
            ("---\na: 1\n---\nx\n", "a: 1", "---", "FRONT_MATTER"),
            ("text\n", "text", "a\0b", "NOT_MARKDOWN"),
            ("| a |\n|---|\n| b c |\n", "b c", "b | c", "TOO_MANY_CELLS"),
            ("|a|b|\n|---|---|\n|1|2|\n", "1", "x\\", "CHANGES_OUTSIDE"),
            ("|a|b|\n|---|---|\n|\\1|2|\n", "1", "", "CHANGES_OUTSIDE"),
            ("# A\n\n## B\n\nb\n\n### C\n", "## B", "## B\n\n## D", "WOULD_ESCAPE"),
        ] {
            let refusal = phrase(text, old, content).unwrap_err();
            assert_eq!(refusal.code(), code, "{text:?} {old:?} {content:?}");
        }
    }

    #[test]
    fn lines_are_replaced_inserted_and_deleted_exactly() {
        let text = "# A\n\n> - one\n> - two\nlast";
        let version = Version::read(text.as_bytes().to_vec());
        let index = LineIndex::new(text.as_bytes());
        let span = |from, to| ByteSpan::new(index.start_of(from), index.end_of(to));
        for (edit, from, to) in [
            (ExactEdit::Replace(span(3, 3), b"> - 1\n> - 1b\n"), "> - one", "> - 1\n> - 1b"),
            (ExactEdit::Insert(span(3, 3), Side::After, b"> - 1b\n"), "one\n", "one\n> - 1b\n"),
            (ExactEdit::Insert(span(3, 3), Side::Before, b"> - 0\n"), "> - one", "> - 0\n> - one"),
            (ExactEdit::Insert(span(5, 5), Side::After, b"x"), "last", "last\nx"),
            (ExactEdit::Delete(span(3, 3)), "> - one\n", ""),
            (ExactEdit::Insert(span(5, 5), Side::Before, b"x"), "last", "x\nlast"),
            (ExactEdit::Delete(span(5, 5)), "last", ""),
        ] {
            let result = text_of(plan_exact(&version, &edit, Allow::default()));
            assert_eq!(result, Ok(text.replacen(from, to, 1)), "{edit:?}");
        }
    }

    fn lines_edited(
        text: &str,
        from: usize,
        to: usize,
        edit: &LineEdit,
    ) -> Result<String, Refusal> {
        let version = Version::read(text.as_bytes().to_vec());
        let index = LineIndex::new(text.as_bytes());
        let span = ByteSpan::new(index.start_of(from), index.end_of(to));
        let edit = match edit {
            LineEdit::Replace(content) => ExactEdit::Replace(span, content.as_bytes()),
            LineEdit::Before(content) => ExactEdit::Insert(span, Side::Before, content.as_bytes()),
            LineEdit::After(content) => ExactEdit::Insert(span, Side::After, content.as_bytes()),
            LineEdit::Delete => ExactEdit::Delete(span),
        };
        text_of(plan_exact(&version, &edit, Allow::default()))
    }

    #[derive(Debug)]
    enum LineEdit {
        Replace(&'static str),
        Before(&'static str),
        After(&'static str),
        Delete,
    }

    #[test]
    fn lines_outside_the_seam_and_the_rest_of_a_cut_block_keep_their_type_and_section() {
        use LineEdit::{After, Before, Delete, Replace};
        let table = "# A\n\n| h | i |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |\n";
        let nested = "# A\n\n## B\n\nb1\n\n### B1\n\nb2\n\n## C\n\nc\n";
        for (text, from, to, edit, code) in [
            ("# A\n\none\n\n## B\n\nx\n", 3, 3, After("---"), "CHANGES_OUTSIDE"),
            ("# A\n\n| one |\n\nx\n", 3, 3, After("|---|"), "CHANGES_OUTSIDE"),
            ("# A\n\n|---|\n\nx\n", 3, 3, Before("| one |"), "CHANGES_OUTSIDE"),
            ("# A\n\n---\n\nx\n", 3, 3, Before("one"), "CHANGES_OUTSIDE"),
            ("# A\n\none\n---\n\nx\n", 3, 3, Before("zero"), "CHANGES_OUTSIDE"),
            (table, 3, 4, After("\ntext"), "CHANGES_OUTSIDE"),
            ("# A\n\n- a\n  b\n", 3, 3, After("\nout"), "CHANGES_OUTSIDE"),
            ("a\nh\n| - |\n", 2, 2, After("| h |\n# a\nh"), "CHANGES_OUTSIDE"),
            (table, 3, 3, Delete, "CHANGES_OUTSIDE"),
            (table, 3, 4, Delete, "CHANGES_OUTSIDE"),
            ("# A\n\n- a\n  more\n", 3, 3, Delete, "CHANGES_OUTSIDE"),
            ("# A\n\n- a\n  more\n", 3, 3, Replace("text"), "CHANGES_OUTSIDE"),
            ("# A\n\ntext\n    more\n", 3, 3, Delete, "CHANGES_OUTSIDE"),
            ("# A\n\none\n---\ntwo\n", 3, 3, Delete, "CHANGES_OUTSIDE"),
            (nested, 3, 3, Replace("## B\n\n## D"), "WOULD_ESCAPE"),
            (nested, 7, 7, Delete, "WOULD_ESCAPE"),
        ] {
            let refusal = lines_edited(text, from, to, &edit).map_err(|refusal| refusal.code());
            assert_eq!(refusal, Err(code), "{text:?} {from}-{to} {edit:?}");
        }
        for (text, from, to, edit, expected) in [
            ("one\ntwo\n", 2, 2, After("three"), "one\ntwo\nthree\n"),
            ("one\ntwo\n", 1, 1, Before("zero"), "zero\none\ntwo\n"),
            ("> one\n> two\n", 1, 1, Before("> zero"), "> zero\n> one\n> two\n"),
            ("one\ntwo\n", 1, 1, Delete, "two\n"),
            ("| h |\n|---|\n", 2, 2, After("| 1 |"), "| h |\n|---|\n| 1 |\n"),
            ("| h |\n|---|\n", 1, 1, Replace("| k |"), "| k |\n|---|\n"),
            ("# A\n\na\n\nb", 5, 5, Delete, "# A\n\na\n\n"),
            ("\u{feff}a\n\nb\n", 1, 1, Delete, "\u{feff}\nb\n"),
            ("\u{feff}a\n", 1, 1, Before("x\n\n"), "\u{feff}x\n\na\n"),
        ] {
            let result = lines_edited(text, from, to, &edit);
            assert_eq!(result.as_deref(), Ok(expected), "{text:?} {edit:?}");
        }
    }
}
