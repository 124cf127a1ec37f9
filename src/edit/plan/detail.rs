//! Plans an edit of a part of a block: a cell or row of a table, the mark of a task, a key of front matter.
//!
//! Invariant: the splice is exactly the bytes that are named. The new file is parsed, and its structure, its
//! tables and its tasks are those of the old file except for what was asked.

use super::draft::FrontMatterEdit;
use super::effect::{Expected, compare};
use super::refusal::{OutsideChange, Refusal};
use super::text::{dominant_line_end, is_line_start, with_line_ends};
use super::version::Version;
use super::{Allow, Plan, Side, Splice, SpliceEffects, apply};
use crate::data::front_matter::{self, KeyChange, KeyFault};
use crate::markdown;
use crate::markdown::cells::cells;
use crate::markdown::contents::{Contents, Row, Table};
use crate::markdown::front_matter::{Format, detect};
use crate::markdown::outline::NodeKind;
use crate::position::{ByteSpan, LineIndex, next_line_start, trim_line_end};

/// A row of a table: the node of the table, and the index of the row, 0 for the header.
#[derive(Clone, Copy, Debug)]
pub struct RowPlace {
    /// The node of the table.
    pub node: usize,
    /// The index of the row; 0 is the header.
    pub row: usize,
}

/// An edit of a part of a block.
#[derive(Clone, Copy, Debug)]
pub enum Detail<'a> {
    /// Replaces the text of a cell.
    Cell(RowPlace, usize, &'a [u8]),
    /// Replaces a row.
    Row(RowPlace, &'a [u8]),
    /// Inserts a row on a side of a row.
    InsertRow(RowPlace, Side, &'a [u8]),
    /// Deletes a row of the body.
    DeleteRow(RowPlace),
    /// Marks a task as done or open.
    Mark {
        /// The node of the task.
        node: usize,
        /// Whether the task is done afterwards.
        is_done: bool,
    },
    /// Changes a key of the front matter.
    Key(&'a KeyChange),
}

/// What a table or task must be afterwards.
enum Wanted {
    /// The tables and tasks are the same.
    Same,
    /// The cell has this source text.
    Cell(RowPlace, usize, String),
    /// The row has other cells.
    Row(RowPlace),
    /// The table has one more row, at this index.
    MoreRows(RowPlace),
    /// The table has one row less.
    FewerRows(RowPlace),
    /// The task at the node has this state.
    Task { node: usize, is_done: bool },
}

/// Computes the splice for `detail` in the version `old` of a file, and the version that it produces.
pub fn plan_detail(old: &Version, detail: Detail<'_>, allow: Allow) -> Result<Plan, Refusal> {
    let (at, bytes, wanted) = match detail {
        Detail::Cell(place, cell, content) => cell_splice(old, place, cell, content)?,
        Detail::Row(place, content) => {
            let (table, row) = row_of(old, place)?;
            let given = one_line(content)?.into_bytes();
            // The row as it is may have more cells than the header.
            let text = if given == row.span.of(old.bytes()).trim_ascii() {
                row.span.of(old.bytes()).to_vec()
            } else {
                row_text(old, table, row, content)?.into_bytes()
            };
            (row.span, text, Wanted::Row(place))
        }
        Detail::InsertRow(place, side, content) => row_insertion(old, place, side, content)?,
        Detail::DeleteRow(place) => {
            let (_, row) = row_of(old, place)?;
            if place.row == 0 {
                return Err(Refusal::NoSuchPosition);
            }
            (whole_line(old.bytes(), row.span), Vec::new(), Wanted::FewerRows(place))
        }
        Detail::Mark { node, is_done } => {
            let tasks = &old.document().contents.tasks;
            let task = tasks.iter().find(|task| task.node == node);
            let task = task.ok_or_else(|| Refusal::NotATask { place: word(old, node) })?;
            let at = ByteSpan::new(task.mark, task.mark + 1);
            let mark = if task.is_done == is_done {
                at.of(old.bytes()).to_vec()
            } else if is_done {
                b"x".to_vec()
            } else {
                b" ".to_vec()
            };
            (at, mark, Wanted::Task { node, is_done })
        }
        Detail::Key(change) => return key_plan(old, change, allow),
    };
    let mut splice = exact(old, at, bytes);
    if let Detail::InsertRow(..) = detail {
        // Only the last line is new.
        let last = line_start(&splice.bytes, splice.bytes.len());
        splice.removed = ByteSpan::new(at.end, at.end);
        splice.inserted.start += if at.is_empty() { 0 } else { last };
    } else if let Detail::DeleteRow(place) = detail {
        // The line end before a last line goes, too, but not its line.
        let row = row_of(old, place)?.1.span;
        splice.removed = ByteSpan::new(line_start(old.bytes(), row.start), at.end);
    } else if let Wanted::Cell(place, cell, _) = &wanted
        && row_of(old, *place)?.1.cell(*cell).is_none()
    {
        // The row is kept, and the cell had no text.
        splice.removed = ByteSpan::new(at.end, at.end);
    }
    finish(old, splice, &expected(false, FrontMatterEdit::Kept), &wanted, allow)
}

fn exact(old: &Version, at: ByteSpan, bytes: Vec<u8>) -> Splice {
    let inserted = ByteSpan::new(at.start, at.start + bytes.len());
    let is_noop = at.of(old.bytes()) == bytes;
    let effects = SpliceEffects { is_noop, ..SpliceEffects::default() };
    Splice { at, bytes, removed: at, inserted, effects, ..Splice::default() }
}

fn expected(is_front_matter: bool, front_matter: FrontMatterEdit) -> Expected {
    Expected {
        headings: Vec::new(),
        is_exact: false,
        depth: 0,
        is_contained: true,
        lists: None,
        front_matter,
        is_front_matter,
        may_move_markers: false,
    }
}

/// Parses the new file, and refuses the splice if anything else changes.
fn finish(
    old: &Version,
    mut splice: Splice,
    expected: &Expected,
    wanted: &Wanted,
    allow: Allow,
) -> Result<Plan, Refusal> {
    if splice.effects.is_noop {
        return Ok(Plan { splice, version: old.clone() });
    }
    let file = apply(old.bytes(), &splice);
    if let Some(reason) = markdown::refusal(&file) {
        return Err(Refusal::NotMarkdown(reason));
    }
    let new = Version::read_as(file, old.document().dialect);
    let mut refusals = compare(old, &new, &splice, expected).refusals;
    if !is_as_wanted(&old.document().contents, &new.document().contents, wanted) {
        let line = LineIndex::new(old.bytes()).line_of(splice.at.start);
        refusals.push(Refusal::ChangesOutside { line, change: OutsideChange::Content });
    }
    for refusal in refusals {
        if !refusal.is_allowed(allow) {
            return Err(refusal);
        }
        splice.changes.push(refusal);
    }
    Ok(Plan { splice, version: new })
}

/// Returns whether tables and tasks are the same except for what was wanted.
fn is_as_wanted(old: &Contents, new: &Contents, wanted: &Wanted) -> bool {
    let tasks = |contents: &Contents| -> Vec<(bool, String)> {
        contents.tasks.iter().map(|task| (task.is_done, task.text.clone())).collect()
    };
    let mut expected_tasks = tasks(old);
    if let Wanted::Task { node, is_done } = wanted
        && let Some(index) = old.tasks.iter().position(|task| task.node == *node)
    {
        expected_tasks[index].0 = *is_done;
    }
    let texts = |table: &Table| -> Vec<Vec<String>> {
        let row = |row: Row<'_>| row.cells().map(|cell| cell.source.to_owned()).collect();
        table.rows().map(row).collect()
    };
    let same_tables = old.tables.len() == new.tables.len()
        && old.tables.iter().zip(&new.tables).all(|(old, new)| {
            let (mut old_rows, mut new_rows) = (texts(old), texts(new));
            let take = |rows: &mut Vec<Vec<String>>, index: usize| {
                (index < rows.len()).then(|| rows.remove(index))
            };
            match wanted {
                Wanted::Cell(place, cell, text) if place.node == old.node => {
                    if let Some(row) = old_rows.get_mut(place.row) {
                        row.resize(row.len().max(cell + 1), String::new());
                        row[*cell].clone_from(text);
                    }
                    // The cells that a row lacks at its end are empty.
                    for rows in [&mut old_rows, &mut new_rows] {
                        if let Some(row) = rows.get_mut(place.row) {
                            let last = row.iter().rposition(|cell| !cell.is_empty());
                            row.truncate(last.map_or(0, |last| last + 1));
                        }
                    }
                }
                Wanted::Row(place) if place.node == old.node => {
                    take(&mut old_rows, place.row);
                    take(&mut new_rows, place.row);
                }
                Wanted::MoreRows(place) if place.node == old.node => {
                    take(&mut new_rows, place.row);
                }
                Wanted::FewerRows(place) if place.node == old.node => {
                    take(&mut old_rows, place.row);
                }
                _ => {}
            }
            old_rows == new_rows
        });
    same_tables && expected_tasks == tasks(new)
}

fn row_of(old: &Version, place: RowPlace) -> Result<(&Table, Row<'_>), Refusal> {
    let tables = &old.document().contents.tables;
    let table = tables.iter().find(|table| table.node == place.node);
    let table = table.ok_or(Refusal::NoSuchPlace)?;
    Ok((table, table.row(place.row).ok_or(Refusal::NoSuchPlace)?))
}

/// Returns content as one line, without blanks around it.
fn one_line(content: &[u8]) -> Result<String, Refusal> {
    let text = std::str::from_utf8(content).map_err(|_| Refusal::NotMarkdown("not UTF-8"))?;
    let text = text.trim_matches([' ', '\t', '\n', '\r']);
    if text.contains(['\n', '\r']) { Err(Refusal::LineEnd) } else { Ok(text.to_owned()) }
}

/// Returns content as a row of `table`, beside or in place of `row`. The marks of block quotes with which the line of
/// that row begins may be given or left out.
fn row_text(old: &Version, table: &Table, row: Row<'_>, content: &[u8]) -> Result<String, Refusal> {
    let file = old.bytes();
    let before = ByteSpan::new(line_start(file, row.span.start), row.span.start).of(file);
    let given = one_line(content)?;
    let mut text = &*given;
    for _ in before.iter().filter(|byte| **byte == b'>') {
        let Some(rest) = text.strip_prefix('>') else { break };
        text = rest.trim_start_matches([' ', '\t']);
    }
    let (cells, columns) = (cells(text).len(), table.width());
    if text.is_empty() {
        Err(Refusal::EmptyContent)
    } else if cells > columns {
        Err(Refusal::TooManyCells { cells, columns })
    } else if columns > 1 && !text.replace("\\|", "").contains('|') {
        Err(Refusal::NotARow { columns })
    } else {
        Ok(text.to_owned())
    }
}

/// Returns the text of a cell with its pipes escaped.
pub(in crate::edit) fn escaped(text: &str) -> String {
    let mut result = String::with_capacity(text.len());
    for scalar in text.chars() {
        if scalar == '|' && !result.ends_with('\\') {
            result.push('\\');
        }
        result.push(scalar);
    }
    result
}

fn cell_splice(
    old: &Version,
    place: RowPlace,
    cell: usize,
    content: &[u8],
) -> Result<(ByteSpan, Vec<u8>, Wanted), Refusal> {
    let (table, row) = row_of(old, place)?;
    let text = escaped(&one_line(content)?);
    let wanted = Wanted::Cell(place, cell, text.clone());
    let Some(found) = row.cell(cell) else {
        if cell >= table.width() {
            return Err(Refusal::NoSuchPlace);
        }
        // The row is shorter than the header. The cells up to this one are added at its end. The whole row
        // is part of the splice, because it may be the end of the table.
        let old_row = row.span.of(old.bytes());
        let empty = " |".repeat(cell - row.cells().len());
        let end = old_row.trim_ascii_end();
        let is_closed = end.ends_with(b"|") && !end.ends_with(b"\\|");
        let added = match (text.is_empty(), is_closed) {
            (true, _) => return Ok((row.span, old_row.to_vec(), wanted)),
            (false, true) => format!("{empty} {text} |"),
            (false, false) => format!("{empty} | {text}"),
        };
        return Ok((row.span, [old_row, added.as_bytes()].concat(), wanted));
    };
    let start = row.span.start + found.offset;
    if !found.source.is_empty() {
        let length = found.span_in(row.span.of(old.bytes())).len();
        let at = ByteSpan::new(start, start + length);
        // A cell without text keeps a blank, so that two pipes do not meet. The first one needs a pipe before it.
        let has_pipe = ByteSpan::new(row.span.start, start).of(old.bytes()).contains(&b'|');
        let bytes = match text.as_str() {
            "" if has_pipe || cell > 0 => b" ".to_vec(),
            "" => b"|".to_vec(),
            text => text.as_bytes().to_vec(),
        };
        return Ok((at, bytes, wanted));
    }
    // An empty cell begins at the pipe after it. The blanks before that pipe are replaced.
    let before = ByteSpan::new(row.span.start, start).of(old.bytes());
    let blanks = before.iter().rev().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    if text.is_empty() {
        return Ok((ByteSpan::new(start, start), Vec::new(), wanted));
    }
    Ok((ByteSpan::new(start - blanks, start), format!(" {text} ").into_bytes(), wanted))
}

fn row_insertion(
    old: &Version,
    place: RowPlace,
    side: Side,
    content: &[u8],
) -> Result<(ByteSpan, Vec<u8>, Wanted), Refusal> {
    let (table, row) = row_of(old, place)?;
    let file = old.bytes();
    let text = row_text(old, table, row, content)?;
    let start = line_start(file, row.span.start);
    let prefix = ByteSpan::new(start, row.span.start).of(file);
    let line_end = dominant_line_end(file).unwrap_or(b"\n");
    if side == Side::Before {
        if place.row == 0 {
            return Err(Refusal::NoSuchPosition);
        }
        let bytes = [prefix, text.as_bytes(), line_end].concat();
        return Ok((ByteSpan::new(start, start), bytes, Wanted::MoreRows(place)));
    }
    // The line of the header may begin with the marker of a list, which is not repeated, and the delimiter
    // row follows it.
    let (last_line, prefix) = match place.row {
        0 => {
            let spaced = |&byte: &u8| if byte == b'>' { byte } else { b' ' };
            (next_line_start(file, row.span.end), prefix.iter().map(spaced).collect())
        }
        _ => (start, prefix.to_vec()),
    };
    let line = ByteSpan::new(last_line, next_line_start(file, last_line)).of(file);
    let at = ByteSpan::new(row.span.start, last_line + trim_line_end(line).len());
    // The end of the table is part of the splice, so that the table may end later.
    let bytes = [at.of(file), line_end, &prefix, text.as_bytes()].concat();
    Ok((at, bytes, Wanted::MoreRows(RowPlace { row: place.row + 1, ..place })))
}

/// Returns the word for a node that is not a task.
fn word(old: &Version, node: usize) -> &'static str {
    match old.outline().nodes.get(node).map(|node| node.kind) {
        Some(NodeKind::Section(_)) => "section",
        Some(NodeKind::Block(block)) => block.name(),
        Some(NodeKind::Item) => "list item",
        Some(NodeKind::Root) | None => "text before the first heading",
    }
}

fn line_start(file: &[u8], offset: usize) -> usize {
    let before = file.get(..offset).unwrap_or_default();
    before.iter().rposition(|byte| matches!(byte, b'\n' | b'\r')).map_or(0, |at| at + 1)
}

/// Returns the whole line that contains `span`, or, for a last line without line end, the line end before
/// it and the line.
fn whole_line(file: &[u8], span: ByteSpan) -> ByteSpan {
    let (start, end) = (line_start(file, span.start), next_line_start(file, span.end));
    let has_end =
        file.get(..end).is_some_and(|text| text.ends_with(b"\n") || text.ends_with(b"\r"));
    let before = trim_line_end(file.get(..start).unwrap_or_default());
    ByteSpan::new(if has_end { start } else { before.len() }, end)
}

/// Plans a change of a key of the front matter.
fn key_plan(old: &Version, change: &KeyChange, allow: Allow) -> Result<Plan, Refusal> {
    let (file, floor) = (old.bytes(), old.floor());
    let Some(found) = detect(file, floor) else { return made(old, change, allow) };
    if let Some(fault) = found.fault {
        return Err(not_in_place(format!("the front matter cannot be parsed: {fault}")));
    }
    let text = std::str::from_utf8(found.text.of(file));
    let text = text.map_err(|_| not_in_place("the front matter is not UTF-8".to_owned()))?;
    let splice = front_matter::splice(text, found.format, change).map_err(Refusal::NotInPlace)?;
    let splice = match splice {
        None => exact(old, ByteSpan::new(found.text.start, found.text.start), Vec::new()),
        Some(splice) => {
            let at = |offset: usize| found.text.start + offset;
            let span = ByteSpan::new(at(splice.span.start), at(splice.span.end));
            let mut bytes = splice.text.into_bytes();
            if dominant_line_end(text.as_bytes()).is_none() {
                // The front matter has no lines, so use the line end of its delimiters.
                let delimiters = dominant_line_end(found.span.of(file));
                bytes = with_line_ends(&bytes, delimiters.unwrap_or(b"\n"));
            }
            let mut splice = exact(old, span, bytes);
            if splice.inserted.is_empty() && !is_line_start(file, floor, span.start) {
                // The rest of the line stays.
                let line_end = next_line_start(file, span.end) - span.len();
                splice.inserted = ByteSpan::new(line_start(file, span.start), line_end);
            }
            splice
        }
    };
    finish(old, splice, &expected(true, FrontMatterEdit::Kept), &Wanted::Same, allow)
}

fn not_in_place(reason: String) -> Refusal {
    Refusal::NotInPlace(reason.into())
}

/// Plans front matter with one key for a file without any.
fn made(old: &Version, change: &KeyChange, allow: Allow) -> Result<Plan, Refusal> {
    if change.needs_key() {
        return Err(Refusal::NotInPlace(KeyFault::no_key(change.key())));
    }
    let splice = front_matter::splice("", Format::Yaml, change).map_err(Refusal::NotInPlace)?;
    let lines = splice.map_or_else(String::new, |splice| splice.apply(""));
    let line_end = dominant_line_end(old.bytes()).unwrap_or(b"\n");
    let delimiter = Format::Yaml.delimiter();
    let text = with_line_ends(format!("{delimiter}\n{lines}{delimiter}").as_bytes(), line_end);
    let floor = old.floor();
    let rest = old.bytes().get(floor..).unwrap_or_default();
    let first = rest.get(..next_line_start(rest, 0)).unwrap_or_default();
    let is_spaced = first.iter().all(u8::is_ascii_whitespace);
    let seam = if is_spaced { line_end.to_vec() } else { line_end.repeat(2) };
    let at = ByteSpan::new(floor, floor);
    let mut splice = exact(old, at, [&text[..], &seam].concat());
    splice.inserted.end = floor + text.len();
    finish(old, splice, &expected(true, FrontMatterEdit::Made), &Wanted::Same, allow)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::front_matter::value_of;

    fn changed(text: &str, detail: Detail<'_>) -> Result<String, Refusal> {
        let old = Version::read(text.as_bytes().to_vec());
        plan_detail(&old, detail, Allow::default())
            .map(|plan| String::from_utf8(plan.version.bytes().to_vec()).unwrap())
    }

    fn table(text: &str, row: usize) -> RowPlace {
        let old = Version::read(text.as_bytes().to_vec());
        RowPlace { node: old.document().contents.tables[0].node, row }
    }

    const TABLE: &str = "x\n\n> | a | b |\n> |:-:|---|\n> |1|  |\n> | `p` | q\n\ny\n";

    #[test]
    fn only_the_bytes_of_a_cell_change() {
        for (row, cell, content, from, to) in [
            (1, 0, "ok", "|1|", "|ok|"),
            (1, 1, "new", "|1|  |", "|1| new |"),
            (1, 0, "a|b", "|1|", "|a\\|b|"),
            (1, 0, "a\\|b\n", "|1|", "|a\\|b|"),
            (0, 1, "B", "| b |", "| B |"),
            (2, 1, "r", "| q", "| r"),
            (2, 0, "", "| `p` |", "|   |"),
        ] {
            let result = changed(TABLE, Detail::Cell(table(TABLE, row), cell, content.as_bytes()));
            assert_eq!(result, Ok(TABLE.replacen(from, to, 1)), "{row} {cell} {content}");
        }
        let wide = "| a | b | c |\n|---|---|---|\n| 1 |\n| 2 | 3\n";
        for (row, cell, from, to) in [
            (1, 1, "| 1 |", "| 1 | x |"),
            (1, 2, "| 1 |", "| 1 | | x |"),
            (2, 2, "| 2 | 3", "| 2 | 3 | x"),
        ] {
            let result = changed(wide, Detail::Cell(table(wide, row), cell, b"x"));
            assert_eq!(result, Ok(wide.replacen(from, to, 1)), "{row} {cell}");
        }
        let blanks = "| a | b |\n|---|---|\n| 1 |  \n2 \\|\n";
        for (row, from, to) in [(1, "| 1 |  ", "| 1 |   x |"), (2, "2 \\|", "2 \\| | x")] {
            let result = changed(blanks, Detail::Cell(table(blanks, row), 1, b"x"));
            assert_eq!(result, Ok(blanks.replacen(from, to, 1)), "{row}");
        }
        let line_end = changed(TABLE, Detail::Cell(table(TABLE, 1), 0, b"a\nb"));
        assert_eq!(line_end, Err(Refusal::LineEnd));
        let missing = changed(TABLE, Detail::Cell(table(TABLE, 1), 5, b"a"));
        assert_eq!(missing, Err(Refusal::NoSuchPlace));
    }

    #[test]
    fn rows_are_inserted_replaced_and_deleted_in_their_container() {
        let place = |row| table(TABLE, row);
        for (detail, from, to) in [
            (Detail::Row(place(1), b"| 7 | 8 |"), "|1|  |", "| 7 | 8 |"),
            (
                Detail::InsertRow(place(1), Side::After, b"|3|4|"),
                "> |1|  |\n",
                "> |1|  |\n> |3|4|\n",
            ),
            (
                Detail::InsertRow(place(1), Side::Before, b"|3|4|"),
                "> |1|  |\n",
                "> |3|4|\n> |1|  |\n",
            ),
            (Detail::InsertRow(place(0), Side::After, b"|3|4|"), "---|\n", "---|\n> |3|4|\n"),
            (Detail::DeleteRow(place(1)), "> |1|  |\n", ""),
            (Detail::DeleteRow(place(2)), "> | `p` | q\n", ""),
        ] {
            assert_eq!(changed(TABLE, detail), Ok(TABLE.replacen(from, to, 1)), "{detail:?}");
        }
        assert_eq!(changed(TABLE, Detail::DeleteRow(place(0))), Err(Refusal::NoSuchPosition));
        let broken = changed(TABLE, Detail::Row(place(1), b"# a | b"));
        assert!(matches!(broken, Err(Refusal::ChangesOutside { .. })), "{broken:?}");
        let bare = changed(TABLE, Detail::Row(place(1), b"a \\| b"));
        assert_eq!(bare, Err(Refusal::NotARow { columns: 2 }));
        let last = "| a |\n|---|\n| 1 |";
        let inserted = changed(last, Detail::InsertRow(table(last, 1), Side::After, b"| 2 |"));
        assert_eq!(inserted, Ok(format!("{last}\n| 2 |")));
    }

    #[test]
    fn a_task_is_marked_by_one_byte() {
        let text = "1. [ ] one\n   - [X] two\n";
        let old = Version::read(text.as_bytes().to_vec());
        let tasks = &old.document().contents.tasks;
        let mark = |index: usize, is_done| {
            changed(text, Detail::Mark { node: tasks[index].node, is_done })
        };
        assert_eq!(mark(0, true), Ok(text.replace("[ ]", "[x]")));
        assert_eq!(mark(1, false), Ok(text.replace("[X]", "[ ]")));
        assert_eq!(mark(1, true), Ok(text.to_owned()));
        assert_eq!(
            changed(text, Detail::Mark { node: 0, is_done: true }),
            Err(Refusal::NotATask { place: "text before the first heading" })
        );
    }

    #[test]
    fn keys_are_changed_and_front_matter_is_made() {
        let set = KeyChange::Set("a".to_owned(), value_of("2"));
        for (text, expected) in [
            ("---\na: 1 # c\n---\n# T\n", "---\na: 2 # c\n---\n# T\n"),
            ("+++\na = 1\n+++\n", "+++\na = 2\n+++\n"),
            (";;;\n{\"a\": 1}\n;;;\n", ";;;\n{\"a\": 2}\n;;;\n"),
            ("# T\n", "---\na: 2\n---\n\n# T\n"),
            ("\u{feff}# T\r\n", "\u{feff}---\r\na: 2\r\n---\r\n\r\n# T\r\n"),
            ("", "---\na: 2\n---\n"),
            ("---\n---\nx\n", "---\na: 2\n---\nx\n"),
            ("---\r\n---\r\nx\r\n", "---\r\na: 2\r\n---\r\nx\r\n"),
        ] {
            assert_eq!(changed(text, Detail::Key(&set)).as_deref(), Ok(expected), "{text:?}");
        }
        let unset = KeyChange::Unset("a".to_owned());
        assert!(matches!(changed("# T\n", Detail::Key(&unset)), Err(Refusal::NotInPlace(_))));
        assert_eq!(changed("---\na: 1\n---\n", Detail::Key(&unset)).as_deref(), Ok("---\n---\n"));
    }
}
