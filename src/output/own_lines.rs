//! Indents lines of documents that look like the lines that this program writes around them, in text.
//!
//! Invariant: a line of a document never looks like the place of a hit, a mark of lines that are left out, a warning, a
//! fault, or the line that says how to continue. Such a line is indented by one space.

use std::borrow::Cow;

/// Returns `text` with one space before each line that looks like a line of an answer.
pub(super) fn indented(text: &str) -> Cow<'_, str> {
    if !text.split(['\n', '\r']).any(is_like_own) {
        return Cow::Borrowed(text);
    }
    let mut result = String::with_capacity(text.len() + 16);
    for line in text.split_inclusive(['\n', '\r']) {
        if is_like_own(line.trim_end_matches(['\n', '\r'])) {
            result.push(' ');
        }
        result.push_str(line);
    }
    Cow::Owned(result)
}

/// Returns whether a line of titles looks like `FILE:LINE:COLUMN:TEXT`, or like `FILE-LINE-TEXT` in an answer that has such
/// lines of context. A title may have a date.
pub(super) fn is_like_match(titles: &str, has_context: bool) -> bool {
    let is_after_number = |mark: char| {
        titles.split(mark).skip(1).any(|rest| digits(rest) > 0 && rest.len() == digits(rest))
    };
    is_after_number(':') || has_context && is_after_number('-')
}

fn is_like_own(line: &str) -> bool {
    if line.starts_with(char::is_whitespace) {
        return false;
    }
    if let Some(rest) = line.strip_prefix("... ") {
        return digits(rest) == rest.len();
    }
    if let Some(rest) = line.strip_prefix("more: ") {
        return rest.starts_with("--after ")
            || rest.starts_with("after: \"")
            || rest.contains("::");
    }
    if let Some(rest) = line.strip_prefix("same: ") {
        return rest.contains("::");
    }
    if let Some(rest) = line.strip_prefix("warning: ") {
        let code = rest.split(": ").next().unwrap_or_default();
        return rest.contains(" since it was ingested") || code.len() < rest.len() && is_code(code);
    }
    if line == "Did you mean:" || line.starts_with("It may be") && line.ends_with(':') {
        return true;
    }
    is_place(line)
        || is_fault(line)
        || line.ends_with(')') && line.contains("::") && line.contains(" (lines ")
}

/// Returns whether a line looks like `SELECTOR: CODE: MESSAGE` or `SELECTOR: CODE at OFFSET: MESSAGE`. Codes of one
/// word are those of documents, too, except this one.
fn is_fault(line: &str) -> bool {
    let codes = line.split(": ").skip(1).map(|part| part.split(" at ").next().unwrap_or_default());
    let mut codes = codes.filter(|code| *code == "AMBIGUOUS" || code.contains('_'));
    codes.any(|code| is_code(code) && !line.ends_with(code))
}

fn is_code(text: &str) -> bool {
    text.bytes().all(|it| it.is_ascii_uppercase() || it == b'_')
}

/// Returns whether a line looks like `FILE:START-END`, or like that or `FILE:LINE` with titles after it.
fn is_place(line: &str) -> bool {
    line.split(':').skip(1).any(|rest| {
        let start = digits(rest);
        let after = rest.get(start..).unwrap_or_default();
        let end = after.strip_prefix('-').map_or(0, digits);
        let rest = if end > 0 { after.get(1 + end..).unwrap_or_default() } else { after };
        start > 0 && (rest.starts_with("  ") || end > 0 && rest.is_empty())
    })
}

/// Returns the number of digits at the start of `text`.
fn digits(text: &str) -> usize {
    text.bytes().take_while(u8::is_ascii_digit).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_look_like_those_of_an_answer_are_indented() {
        for line in [
            "a.md:3-9",
            "a b.md:3-9  Title > Other",
            "a.md:3  Title",
            "... 12",
            "more: --after 2-50",
            "more: after: \"2-50\"",
            "more: a.md::*?page=1",
            "same: docs/a.md::heading:h2[0], 2 more",
            "warning: STORE_CHANGED: the store changed",
            "warning: a.md has been deleted since it was ingested",
            "warning: a.md has changed since it was ingested; add --refresh to ingest it first",
            "a.md::X: SELECTOR_NOT_FOUND at 6: a.md has no section named \"X\"",
            "X: AMBIGUOUS: several sections have this name",
            "Did you mean:",
            "a.md::heading:h2[0] Title (lines 3-9, 12 words)",
        ] {
            assert_eq!(indented(&format!("x\n{line}\r\ny")), format!("x\n {line}\r\ny"));
        }
    }

    #[test]
    fn ordinary_lines_are_unchanged() {
        for line in [
            "",
            "At 10:30",
            "src/main.rs:10:5: error: no",
            "more: true",
            "same: value",
            "warning: unused variable",
            "status: OK: all is well",
            "The limit is set by: MAX_SIZE",
            "... and so on",
            "  a.md:3-9",
            "localhost:8080",
            "note: see a::b (below)",
        ] {
            assert!(matches!(indented(line), Cow::Borrowed(_)), "{line}");
        }
    }

    #[test]
    fn titles_like_matches_are_recognized() {
        assert!(is_like_match("a.md:3:9:text", false) && is_like_match("a.md-3-text", true));
        assert!(!is_like_match("Install > 2.0: What is new", true));
        assert!(!is_like_match("Log > 0.2.187 - 2026-07-20", false));
    }
}
