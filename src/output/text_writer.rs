//! Writes text for people, line by line.
//!
//! Invariant: text of documents passes through [`sanitize`]. Color never carries information that the
//! text does not.

use std::borrow::Cow;
use std::fmt::{self, Display, Write as _};

use super::{own_lines, sanitize};
use crate::decoding;
use crate::parallel;

/// Number of items that one thread formats at a time.
const BATCH: usize = 512;

/// Collects lines of text.
#[derive(Debug)]
pub struct TextWriter {
    text: String,
    has_color: bool,
}

/// How a piece of text is highlighted (ECMA-48, section 8.3.117).
#[derive(Clone, Copy, Debug)]
pub(super) enum Style {
    Plain,
    Heading,
    Faint,
    Warning,
}

impl TextWriter {
    /// Returns an empty writer; `has_color` enables colors.
    pub fn new(has_color: bool) -> Self {
        Self { text: String::new(), has_color }
    }

    /// Formats `items` on all cores and appends the results in order.
    pub(super) fn items<I: Sync>(
        &mut self,
        items: &[I],
        write_item: impl Fn(&mut Self, &I) + Sync,
    ) {
        let has_color = self.has_color;
        let batches: Vec<&[I]> = items.chunks(BATCH).collect();
        if let [batch] = *batches.as_slice() {
            return batch.iter().for_each(|item| write_item(self, item));
        }
        let texts = parallel::map(&batches, |batch| {
            let mut writer = Self::new(has_color);
            batch.iter().for_each(|item| write_item(&mut writer, item));
            writer.finish()
        });
        self.text.extend(texts);
    }

    pub(super) fn finish(self) -> String {
        self.text
    }

    /// Appends a piece of a line.
    pub(super) fn piece(&mut self, style: Style, text: impl Display) -> &mut Self {
        let code = match style {
            Style::Heading if self.has_color => "1",
            Style::Faint if self.has_color => "2",
            Style::Warning if self.has_color => "33",
            _ => {
                self.sanitized(text);
                return self;
            }
        };
        for part in ["\u{1b}[", code, "m"] {
            self.text.push_str(part);
        }
        self.sanitized(text);
        self.text.push_str("\u{1b}[0m");
        self
    }

    /// Appends a text that must stay on one line. It is formatted in its place, because a list has many.
    fn sanitized(&mut self, text: impl Display) {
        let start = self.text.len();
        // Writing to a string cannot fail.
        let _ = write!(self.text, "{text}");
        if let Cow::Owned(escaped) = sanitize::line(self.text.get(start..).unwrap_or_default()) {
            self.text.truncate(start);
            self.text.push_str(&escaped);
        }
    }

    /// Ends a line.
    pub(super) fn end(&mut self) {
        self.text.push('\n');
    }

    /// Appends a line without highlighting.
    pub fn plain(&mut self, text: impl Display) {
        self.line(Style::Plain, text);
    }

    /// Appends a line.
    pub(super) fn line(&mut self, style: Style, text: impl Display) {
        self.piece(style, text).end();
    }

    /// Appends a line of titles above matches. It is indented if it looks like a match, or like one of their context lines,
    /// if there are any.
    pub(super) fn titles(&mut self, titles: &str, has_context: bool) {
        let indent = if own_lines::is_like_match(titles, has_context) { " " } else { "" };
        self.line(Style::Heading, format_args!("{indent}{titles}"));
    }

    /// Appends content of a document, followed by a line feed if it has none. A line that looks like one that
    /// this program writes is indented.
    pub(super) fn content(&mut self, bytes: &[u8]) {
        let text = decoding::text(bytes);
        self.text.push_str(&own_lines::indented(&sanitize::text(&text)));
        if !text.is_empty() && !text.ends_with('\n') {
            self.text.push('\n');
        }
    }
}

/// A count for people: 950, 1.2K, 3.4M.
pub(super) struct ShortCount(pub(super) usize);

impl Display for ShortCount {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (unit, name) = match self.0 {
            0..1000 => return self.0.fmt(formatter),
            1000..999_950 => (1000, "K"),
            _ => (1_000_000, "M"),
        };
        let tenths = (self.0 * 10 + unit / 2) / unit;
        match tenths % 10 {
            0 => write!(formatter, "{}{name}", tenths / 10),
            tenth => write!(formatter, "{}.{tenth}{name}", tenths / 10),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::ShortCount;

    #[test]
    fn counts_are_abbreviated() {
        assert_eq!(ShortCount(120).to_string(), "120");
        assert_eq!(ShortCount(1200).to_string(), "1.2K");
        assert_eq!(ShortCount(8500).to_string(), "8.5K");
        assert_eq!(ShortCount(999_949).to_string(), "999.9K");
        assert_eq!(ShortCount(999_950).to_string(), "1M");
        assert_eq!(ShortCount(3_400_000).to_string(), "3.4M");
    }
}
