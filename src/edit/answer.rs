//! The answer of an edit.

use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

use super::plan::Renumbered;
use super::{Done, EditReport};
use crate::address::AddressError;
use crate::error::Warning;
use crate::limits;
use crate::message::Message;
use crate::query::{List, Outcome};

/// The equal lines around a change in a diff, as many as git prints.
const CONTEXT_LINES: usize = 3;

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
    /// The maximum length of each old content and of the diff, in Unicode scalars: 0 to leave them out, `None` for no
    /// limit.
    pub most_chars: Option<usize>,
    /// The maximum number of entries in each list of renumbered or removed sections and of links.
    pub most_listed: usize,
    /// The maximum number of edits of a batch that are listed.
    most_edits: usize,
    /// Whether places that were not found are left out.
    is_cut: bool,
    /// The diff, and the length of the longest text that can be shortened, in Unicode scalars. They are made when they
    /// are asked for. The parts of an answer that are tried for a budget share them.
    diff: Arc<OnceLock<Vec<u8>>>,
    longest: Arc<OnceLock<usize>>,
    diff_chars: Arc<OnceLock<usize>>,
}

impl EditAnswer {
    /// Returns the answer of an edit that was made, of a dry run, or why there is none.
    pub(crate) fn new(
        report: Option<EditReport>,
        faults: Vec<AddressError>,
        is_batch: bool,
        is_dry_run: bool,
    ) -> Self {
        Self {
            report,
            faults,
            is_batch,
            is_dry_run,
            most_chars: None,
            most_listed: limits::MAX_EFFECTS_SHOWN,
            most_edits: usize::MAX,
            is_cut: false,
            diff: Arc::default(),
            longest: Arc::default(),
            diff_chars: Arc::default(),
        }
    }

    /// The warnings of the report, if any.
    pub fn warnings(&self) -> &[Warning] {
        self.report.as_ref().map_or(&[], |report| &report.warnings)
    }

    /// The change as a unified diff in the bytes of the files; empty if nothing changes. Only its first lines if the
    /// length is limited.
    pub fn diff(&self) -> &[u8] {
        first_lines(self.whole_diff(), self.most_chars.unwrap_or(usize::MAX))
    }

    fn whole_diff(&self) -> &[u8] {
        self.diff.get_or_init(|| {
            let files = self.report.iter().flat_map(|report| &report.files);
            files.flat_map(|one| diff(&one.file, &one.file, &one.before, &one.after)).collect()
        })
    }

    /// The content before an edit, or its beginning; `None` if it is left out.
    pub(crate) fn old_content<'a>(&self, done: &'a Done) -> Option<Cow<'a, str>> {
        let whole = done.old_content.as_slice();
        match self.most_chars {
            Some(0) => None,
            Some(most) if whole.len() > most => {
                // A scalar has at most four bytes in UTF-8.
                let beginning = whole.get(..most.saturating_mul(4)).unwrap_or(whole);
                Some(String::from_utf8_lossy(beginning).chars().take(most).collect())
            }
            _ => Some(String::from_utf8_lossy(whole)),
        }
    }

    /// The length of the whole diff in Unicode scalars.
    pub(crate) fn diff_chars(&self) -> usize {
        *self.diff_chars.get_or_init(|| String::from_utf8_lossy(self.whole_diff()).chars().count())
    }

    /// The length of the longest text that can be shortened, in Unicode scalars.
    fn longest(&self) -> usize {
        *self.longest.get_or_init(|| {
            let contents = self.report.iter().flat_map(|report| &report.done);
            let contents = contents.map(|done| done.old_content.as_slice());
            let diff = self.is_dry_run.then(|| self.whole_diff());
            let texts = contents.chain(diff);
            texts.map(|text| String::from_utf8_lossy(text).chars().count()).max().unwrap_or(0)
        })
    }

    /// The renumbered sections of an edit that are listed.
    pub(crate) fn renumbered<'a>(&self, done: &'a Done) -> &'a [Renumbered] {
        self.listed(&done.effects.renumbered)
    }

    /// The edits that are listed.
    pub(crate) fn edits<'a>(&self, report: &'a EditReport) -> &'a [Done] {
        report.done.get(..self.most_edits).unwrap_or(&report.done)
    }

    /// The number of edits that can be left out of the list.
    fn edit_count(&self) -> usize {
        self.report.as_ref().filter(|_| self.is_batch).map_or(0, |report| report.done.len())
    }

    /// The entries of a list of effects that are shown.
    pub(crate) fn listed<'a, T>(&self, all: &'a [T]) -> &'a [T] {
        all.get(..self.most_listed).unwrap_or(all)
    }

    /// The number of entries in the longest list of an answer without a limit.
    fn longest_list(&self) -> usize {
        let lists = self.report.iter().flat_map(|report| {
            let done = report.done.iter().map(|done| &done.effects);
            let of_done = done.flat_map(|one| [one.renumbered.len(), one.removed_sections.len()]);
            of_done.chain([report.broken_links.len(), report.redirected_links.len()])
        });
        lists.max().unwrap_or(0).min(limits::MAX_EFFECTS_SHOWN)
    }

    /// Whether an old content, the diff or a list of effects is shorter than in an answer without a limit.
    pub(crate) fn is_cut(&self) -> bool {
        self.is_cut
            || self.most_chars.is_some_and(|most| self.longest() > most)
            || self.most_listed < self.longest_list()
            || self.most_edits < self.edit_count()
    }
}

/// Returns the first lines of `text` that have at most `most` Unicode scalars together.
pub(super) fn first_lines(text: &[u8], most: usize) -> &[u8] {
    let (mut end, mut chars) = (0, 0);
    for line in text.split_inclusive(|byte| *byte == b'\n') {
        chars += String::from_utf8_lossy(line).chars().count();
        if chars > most {
            break;
        }
        end += line.len();
    }
    text.get(..end).unwrap_or_default()
}

/// Returns a unified diff from `before`, the bytes of the file `from`, to `after`, those of the file `to`.
pub(super) fn diff(from: &str, to: &str, before: &[u8], after: &[u8]) -> Vec<u8> {
    let hunks = hunks(before, after, CONTEXT_LINES);
    if hunks.is_empty() {
        return hunks;
    }
    // Like git, a tab ends a name with a space, because patch would read the name up to the space.
    let name = |side: &str, path: &str| {
        let end = if path.contains(' ') { "\t" } else { "" };
        format!("{}{end}", quoted(&format!("{side}/{path}")))
    };
    let mut bytes = format!("--- {}\n+++ {}\n", name("a", from), name("b", to)).into_bytes();
    bytes.extend(hunks);
    bytes
}

/// Returns the parts of a unified diff that differ, each with up to `context` equal lines before and after it.
pub(super) fn hunks(before: &[u8], after: &[u8], context: usize) -> Vec<u8> {
    // Patches have lines that end with a line feed; a lone carriage return is text in them.
    let lines =
        |text| -> Vec<&[u8]> { <[u8]>::split_inclusive(text, |byte| *byte == b'\n').collect() };
    let (before, after) = (lines(before), lines(after));
    // Without a timeout, so that the same texts always have the same diff. The default algorithm bounds its work.
    let diff = similar::TextDiff::configure().diff_slices(&before, &after);
    let mut bytes = Vec::new();
    for hunk in diff.unified_diff().context_radius(context).iter_hunks() {
        bytes.extend_from_slice(format!("{}\n", hunk.header()).as_bytes());
        for change in hunk.iter_changes() {
            bytes.extend_from_slice(change.tag().to_string().as_bytes());
            bytes.extend_from_slice(change.value());
            if !change.value().ends_with(b"\n") {
                bytes.extend_from_slice(b"\n\\ No newline at end of file\n");
            }
        }
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

/// The only item of the list is the old contents and the diff, which are shortened if they do not fit the budget. Then
/// the lists of renumbered sections and of links are, too, and at last that of the edits of a batch.
impl List for EditAnswer {
    fn messages_mut(&mut self) -> Vec<&mut Message> {
        let faults = self.faults.iter_mut().map(|fault| &mut fault.message);
        let warnings = self.report.iter_mut().flat_map(|report| &mut report.warnings);
        faults.chain(warnings.map(|warning| &mut warning.message)).collect()
    }

    fn outcome(&self) -> Outcome {
        Outcome::of(self.report.is_some(), !self.faults.is_empty())
    }

    fn count(&self) -> usize {
        1
    }

    fn first(&self, _: usize) -> Self {
        self.clone()
    }

    fn sizes_of_first(&self) -> usize {
        if !self.faults.is_empty() {
            return self.faults.len();
        }
        self.longest() + self.longest_list() + self.edit_count() + 1
    }

    fn cut_first(&mut self, size: usize) -> bool {
        // The first place that was not found decides the answer.
        let count = self.faults.len();
        if count > 0 {
            self.faults.truncate(size.max(1));
            self.is_cut |= self.faults.len() < count;
            return true;
        }
        let mut most = size.saturating_sub(1);
        self.most_edits = if self.is_batch { most.min(self.edit_count()) } else { usize::MAX };
        most -= self.most_edits.min(self.edit_count());
        self.most_listed = most.min(self.longest_list());
        self.most_chars = Some(most - self.most_listed);
        true
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
