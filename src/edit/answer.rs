//! The answer of an edit.

use std::borrow::Cow;

use super::EditReport;
use crate::address::AddressError;
use crate::error::Warning;
use crate::query::{List, Outcome};

/// The report of the edits, or why none was made.
#[derive(Clone, Debug)]
pub struct EditAnswer {
    /// The report; `None` if a place was not found.
    pub report: Option<EditReport>,
    /// The places that were not found.
    pub faults: Vec<AddressError>,
    /// Whether the request was a batch of edits.
    pub is_batch: bool,
    /// Whether this was a dry run, which writes nothing.
    pub is_dry_run: bool,
    /// Whether the answer includes the old content.
    pub with_content: bool,
}

impl EditAnswer {
    /// The warnings of the report, if any.
    pub fn warnings(&self) -> &[Warning] {
        self.report.as_ref().map_or(&[], |report| &report.warnings)
    }

    /// The change as a unified diff in the bytes of the files; empty if nothing changes.
    pub fn diff(&self) -> Vec<u8> {
        let files = self.report.iter().flat_map(|report| &report.files);
        files.flat_map(|one| diff(&one.file, &one.file, &one.before, &one.after)).collect()
    }
}

/// Returns a unified diff from `before`, the bytes of the file `from`, to `after`, those of the file `to`.
pub(super) fn diff(from: &str, to: &str, before: &[u8], after: &[u8]) -> Vec<u8> {
    let diff = similar::TextDiff::configure()
        .timeout(std::time::Duration::from_secs(1))
        .diff_lines(before, after);
    let mut bytes = Vec::new();
    for hunk in diff.unified_diff().iter_hunks() {
        if bytes.is_empty() {
            // Like git, a tab ends a name with a space, because patch would read the name up to the space.
            let name = |side: &str, path: &str| {
                let end = if path.contains(' ') { "\t" } else { "" };
                format!("{}{end}", quoted(&format!("{side}/{path}")))
            };
            bytes = format!("--- {}\n+++ {}\n", name("a", from), name("b", to)).into_bytes();
        }
        // Writing to memory cannot fail. Writing the whole diff at once would replace invalid UTF-8; writing a
        // hunk does not.
        drop(hunk.to_writer(&mut bytes));
    }
    bytes
}

/// Returns a path as git writes it in a diff: in quotation marks and with escapes, if it contains control
/// characters, quotation marks or backslashes.
pub(super) fn quoted(path: &str) -> Cow<'_, str> {
    let is_escaped = |scalar: char| scalar.is_control() || "\"\\".contains(scalar);
    if !path.contains(is_escaped) {
        return Cow::Borrowed(path);
    }
    let mut result = String::from('"');
    for scalar in path.chars() {
        match scalar {
            '"' | '\\' => result.extend(['\\', scalar]),
            '\n' => result.push_str("\\n"),
            '\r' => result.push_str("\\r"),
            '\t' => result.push_str("\\t"),
            scalar if scalar.is_control() => {
                let mut buffer = [0; 4];
                for byte in scalar.encode_utf8(&mut buffer).bytes() {
                    result.push_str(&format!("\\{byte:03o}"));
                }
            }
            scalar => result.push(scalar),
        }
    }
    result.push('"');
    Cow::Owned(result)
}

/// The only item of the list is the old content, which is left out if it does not fit the budget.
impl List for EditAnswer {
    fn messages_mut(&mut self) -> Vec<&mut String> {
        self.faults.iter_mut().map(|fault| &mut fault.message).collect()
    }

    fn outcome(&self) -> Outcome {
        Outcome::of(self.report.is_some(), !self.faults.is_empty())
    }

    fn count(&self) -> usize {
        usize::from(self.with_content)
    }

    fn least(&self) -> usize {
        0
    }

    fn first(&self, count: usize) -> Self {
        Self { with_content: count > 0, ..self.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_diff_names_files_on_one_line_each() {
        for (path, expected) in [
            ("docs/My notes é.md", "docs/My notes é.md"),
            ("a\nmore: x.md", r#""a\nmore: x.md""#),
            ("a\u{1b}\u{85}\t\"\\.md", r#""a\033\302\205\t\"\\.md""#),
        ] {
            assert_eq!(quoted(path), expected);
        }
        let diff = diff("a\n.md", "b.md", b"x\n", b"y\n");
        assert!(diff.starts_with(b"--- \"a/a\\n.md\"\n+++ b/b.md\n@@ "));
    }
}
