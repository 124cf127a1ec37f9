//! Tabs between a colon of YAML and its value.
//!
//! YAML 1.2 allows them (section 6.2), but the parser refuses one before a letter, a digit or a hyphen. Invariant: the
//! text with spaces has the same length, so offsets in it are offsets in the text.

use std::borrow::Cow;

use saphyr_parser::Parser;

use crate::limits;

/// Returns `text` with a space for each tab after a colon that the parser refuses. The parser says where one is, because
/// a tab may also be part of a scalar. Since it starts again after each, the work is bounded.
pub(crate) fn with_spaces(text: &str) -> Cow<'_, str> {
    let mut result = Cow::Borrowed(text);
    if !text.contains(":\t") {
        return result;
    }
    for _ in 0..limits::MAX_YAML_TAB_BYTES / text.len() {
        let fault = Parser::new_from_str(&result).find_map(Result::err);
        let Some(at) = fault.map(|fault| fault.marker().index()) else { break };
        let before = result.char_indices().nth(at).map_or(result.len(), |(at, _)| at);
        let before = result.get(..before).unwrap_or_default();
        let colon = before.trim_end_matches('\t').len();
        let tabs = before.len() - colon;
        if tabs == 0
            || !before.ends_with('\t')
            || !before.get(..colon).unwrap_or_default().ends_with(':')
        {
            break;
        }
        result.to_mut().replace_range(colon..colon + tabs, &" ".repeat(tabs));
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::processor_time::within;

    #[test]
    fn a_tab_after_a_key_becomes_a_space() {
        for (text, expected) in [
            ("a:\tb\nc:\t\t1\n", "a: b\nc:  1\n"),
            ("é: {b:\t1, c: [d:\t-2]}\n", "é: {b: 1, c: [d: -2]}\n"),
            ("a: 'x:\ty'\nb: |\n  x:\ty\nc:\td\te\n", "a: 'x:\ty'\nb: |\n  x:\ty\nc: d\te\n"),
            ("a:\t\"b\"\n", "a:\t\"b\"\n"),
            ("a:\n\tb: c\n", "a:\n\tb: c\n"),
            ("", ""),
        ] {
            assert_eq!(with_spaces(text), expected, "{text}");
        }
    }

    #[test]
    fn many_tabs_take_bounded_time() {
        let text = "k:\tv\n".repeat(limits::MAX_FRONT_MATTER_BYTES / 5);
        within(5, "tabs", || with_spaces(&text));
    }
}
