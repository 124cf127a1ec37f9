//! Lines of YAML that continue a list in brackets, or a mapping in braces, without an indentation.
//!
//! YAML requires a blank before them, but many readers do not. Invariant: time is linear in the length of the text.

use crate::position::next_line_start;

/// Returns the offsets of the lines that do not begin with a blank, and continue a list or mapping whose opening mark
/// is after a key at the start of a line.
pub(crate) fn unindented_lines(text: &str) -> Vec<usize> {
    let mut lines = Vec::new();
    let mut position = 0;
    while position < text.len() {
        let start = position;
        position = next_line_start(text.as_bytes(), position);
        let line = text.get(start..position).unwrap_or_default();
        let value = line.split_once(": ").map_or("", |(_, value)| value.trim_start());
        if line.starts_with([' ', '\t', '#']) || !value.starts_with(['[', '{']) {
            continue;
        }
        let Some(end) = end_of_flow(text, start + line.len() - value.len()) else { break };
        while position < end {
            if !text.get(position..).is_some_and(|rest| rest.starts_with(char::is_whitespace)) {
                lines.push(position);
            }
            position = next_line_start(text.as_bytes(), position);
        }
    }
    lines
}

/// Returns the offset after the mark that closes the list or mapping that begins at `start`.
fn end_of_flow(text: &str, start: usize) -> Option<usize> {
    let mut depth = 0_usize;
    let mut quote = None;
    let (mut before, mut last_mark) = (' ', ' ');
    let mut scalars = text.get(start..)?.char_indices().peekable();
    while let Some((at, scalar)) = scalars.next() {
        match (quote, scalar) {
            (Some('"'), '\\') => drop(scalars.next()),
            // A quote that is written twice ends the text, and begins it again.
            (Some(open), _) if scalar == open => {
                let is_twice =
                    scalars.peek().is_some_and(|&(_, next)| next == '\'' && open == next);
                if is_twice {
                    scalars.next();
                } else {
                    quote = None;
                }
            }
            (None, '"' | '\'') if "[{,:".contains(last_mark) => quote = Some(scalar),
            (None, '#') if before.is_whitespace() => {
                while scalars.next_if(|&(_, next)| !matches!(next, '\n' | '\r')).is_some() {}
                continue;
            }
            (None, '[' | '{') => depth += 1,
            (None, ']' | '}') => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            return Some(start + at + scalar.len_utf8());
        }
        before = scalar;
        if !scalar.is_whitespace() {
            last_mark = scalar;
        }
    }
    None
}

/// Returns `text` with a blank at the start of each of `lines`.
pub(crate) fn indented(text: &str, lines: &[usize]) -> String {
    let mut result = String::with_capacity(text.len() + lines.len());
    let mut position = 0;
    for &line in lines {
        result.push_str(text.get(position..line).unwrap_or_default());
        result.push(' ');
        position = line;
    }
    result.push_str(text.get(position..).unwrap_or_default());
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_open_brackets_are_indented() {
        for (text, expected) in [
            ("a: [1,\n2,\n  3\n]\nb: 1\n", "a: [1,\n 2,\n  3\n ]\nb: 1\n"),
            (
                "a: {x: 'it''s]',\r\ny: \"\\\"}\"}\r\nb: 1",
                "a: {x: 'it''s]',\r\n y: \"\\\"}\"}\r\nb: 1",
            ),
            ("a: [don't, # it's ]\nx]\nb: [\ny]", "a: [don't, # it's ]\n x]\nb: [\n y]"),
            ("a: [1]\nb: c\n", "a: [1]\nb: c\n"),
            ("a: [1\nb: [2,\n3]", "a: [1\nb: [2,\n3]"),
            ("a: [b, # c\n\"]\",\nd]", "a: [b, # c\n \"]\",\n d]"),
            ("a: [é,\né] # [\nb: 1", "a: [é,\n é] # [\nb: 1"),
            ("  a: [1,\n2]", "  a: [1,\n2]"),
        ] {
            assert_eq!(indented(text, &unindented_lines(text)), expected, "{text}");
        }
    }
}
