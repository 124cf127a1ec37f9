//! The cells of a table row, as separate texts.
//!
//! Splits rows at pipes (GitHub Flavored Markdown, section 4.10). Invariant: no text spans two
//! cells, and every byte of a cell is mapped to its offset in the source.

use markdown_it::parser::inline::InlineRoot;

use crate::position::ByteSpan;

/// Returns the offsets of the pipes in `line`, each with whether it is after a backslash, and the end of `line`.
fn pipes(line: &str) -> impl Iterator<Item = (usize, bool)> {
    let bytes = line.as_bytes();
    let is_escaped = move |pipe: usize| pipe > 0 && bytes.get(pipe - 1) == Some(&b'\\');
    let pipes = memchr::memchr_iter(b'|', bytes).map(move |pipe| (pipe, is_escaped(pipe)));
    pipes.chain([(line.len(), false)])
}

/// Returns the spans of the cells of a row in `line`, without the blanks around them.
///
/// A pipe after a backslash belongs to its cell. An empty cell at either end is the text outside the
/// outermost pipes, so it is not a cell.
pub(crate) fn cells(line: &str) -> Vec<ByteSpan> {
    let mut cells = Vec::new();
    let mut start = 0;
    for (pipe, _) in pipes(line).filter(|(_, is_escaped)| !is_escaped) {
        let piece = line.get(start..pipe).unwrap_or_default();
        let blank = |scalar: char| matches!(scalar, ' ' | '\t' | '\r');
        let text = piece.trim_start_matches(blank);
        let first = pipe - text.len();
        cells.push(ByteSpan::new(first, first + text.trim_end_matches(blank).len()));
        start = pipe + 1;
    }
    cells.pop_if(|last| last.is_empty());
    if cells.first().is_some_and(|first| first.is_empty()) {
        cells.remove(0);
    }
    cells
}

/// Returns the cells of `line` that may contain a link. The line begins at `offset` of the source.
///
/// A pipe after a backslash belongs to its cell, and the backslash is removed, also in code spans.
pub(super) fn cells_with_links(line: &str, offset: usize) -> Vec<InlineRoot> {
    let mut cells = Vec::new();
    let mut text = String::new();
    let mut mapping = Vec::new();
    let mut start = 0;
    for (pipe, is_escaped) in pipes(line) {
        let piece = line.get(start..pipe - usize::from(is_escaped)).unwrap_or_default();
        if !piece.is_empty() {
            mapping.push((text.len(), offset + start));
            text.push_str(piece);
        }
        start = pipe;
        if !is_escaped {
            start += 1;
            let (text, mapping) = (std::mem::take(&mut text), std::mem::take(&mut mapping));
            if text.contains(']') {
                cells.push(InlineRoot::new(text, mapping));
            }
        }
    }
    cells
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cells_of_a_row_are_between_its_pipes() {
        for (line, expected) in [
            ("", vec![]),
            ("|", vec![]),
            ("||", vec![""]),
            ("a | b", vec!["a", "b"]),
            ("| a | b |", vec!["a", "b"]),
            ("| | a | | \t", vec!["", "a", ""]),
            (r"|\ta\|b\t| `\|` |", vec![r"\ta\|b\t", r"`\|`"]),
            (r"a \\| b | c\", vec![r"a \\| b", r"c\"]),
        ] {
            let found: Vec<_> =
                cells(line).into_iter().map(|span| &line[span.start..span.end]).collect();
            assert_eq!(found, expected, "{line}");
        }
    }

    #[test]
    fn rows_are_split_at_pipes_that_are_not_escaped() {
        for (line, expected) in [
            ("| [a] | b | [c]", vec![(" [a] ", vec![(0, 11)]), (" [c]", vec![(0, 21)])]),
            (r"[[a\|b]]|x", vec![("[[a|b]]", vec![(0, 10), (3, 14)])]),
            (r"\|]", vec![("|]", vec![(0, 11)])]),
            (r"]\||]", vec![("]|", vec![(0, 10), (1, 12)]), ("]", vec![(0, 14)])]),
            (r"]\", vec![(r"]\", vec![(0, 10)])]),
            ("a | b", vec![]),
        ] {
            let cells = cells_with_links(line, 10);
            let cells: Vec<_> =
                cells.iter().map(|cell| (cell.content.as_str(), cell.mapping.clone())).collect();
            assert_eq!(cells, expected, "{line}");
        }
    }
}
