//! Code spans: where one that begins at a run of backticks ends (`CommonMark` section 6.1).
//!
//! Invariant: a code span ends at the next run of exactly as many backticks. The work for all runs of a text is linear
//! in its length, whatever their lengths are.

use std::collections::HashMap;

/// The last run of backticks of each length in a text.
#[derive(Debug)]
pub(super) struct CodeSpans {
    /// The offsets of the last runs, by their lengths.
    last: HashMap<usize, usize>,
}

impl CodeSpans {
    pub(super) fn of(text: &str) -> Self {
        Self { last: runs(text, 0).map(|(start, length)| (length, start)).collect() }
    }

    /// Returns the length in bytes of the code span at the start of `rest`, which is the text from `start` on and begins
    /// with a backtick; `None` if it begins no span.
    pub(super) fn length_at(&self, start: usize, rest: &str) -> Option<usize> {
        let is_closed = self.last.get(&run_length(rest)).is_some_and(|last| *last > start);
        if is_closed { code_span(rest) } else { None }
    }
}

/// Returns the length in bytes of the code span at the start of `text`, which begins with a backtick; `None` if no run
/// of as many backticks follows.
pub(crate) fn code_span(text: &str) -> Option<usize> {
    let opening = run_length(text);
    let closing = runs(text, opening).find(|(_, length)| *length == opening);
    closing.map(|(start, length)| start + length)
}

/// Returns the length in bytes of the run of backticks at the start of `text`.
pub(crate) fn run_length(text: &str) -> usize {
    text.len() - text.trim_start_matches('`').len()
}

/// Returns the offset and the length of each run of backticks of `text` from `position` on.
fn runs(text: &str, mut position: usize) -> impl Iterator<Item = (usize, usize)> {
    std::iter::from_fn(move || {
        let start = position + memchr::memchr(b'`', text.as_bytes().get(position..)?)?;
        let length = run_length(text.get(start..)?);
        position = start + length;
        Some((start, length))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_span_ends_at_a_run_of_as_many_backticks() {
        for (text, length) in [
            ("`a`", Some(3)),
            ("`a``b` c", Some(6)),
            ("``a`b`` c", Some(7)),
            ("`é``", None),
            ("``` ` ``", None),
            ("`", None),
        ] {
            assert_eq!(code_span(text), length, "{text}");
            assert_eq!(CodeSpans::of(text).length_at(0, text), length, "{text}");
        }
        let spans = CodeSpans::of("`a` b `");
        assert_eq!([spans.length_at(0, "`a` b `"), spans.length_at(6, "`")], [Some(3), None]);
    }
}
