//! The cells of a table row, as separate texts.
//!
//! Splits rows at pipes (GitHub Flavored Markdown, section 4.10). Invariant: no text spans two
//! cells, and every byte of a cell is mapped to its offset in the source.

use markdown_it::parser::inline::InlineRoot;

/// Returns the cells of `line` that may contain a link. The line begins at `offset` of the source.
///
/// A pipe after a backslash belongs to its cell, and the backslash is removed, also in code spans.
pub(super) fn cells_with_links(line: &str, offset: usize) -> Vec<InlineRoot> {
    let bytes = line.as_bytes();
    let mut cells = Vec::new();
    let mut text = String::new();
    let mut mapping = Vec::new();
    let mut start = 0;
    for pipe in memchr::memchr_iter(b'|', bytes).chain([line.len()]) {
        let is_escaped = line.get(start..pipe).is_some_and(|piece| piece.ends_with('\\'));
        let is_escaped = is_escaped && pipe < line.len();
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
