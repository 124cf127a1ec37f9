//! Text for people, line by line.
//!
//! Invariant: whatever stems from a document goes through [`sanitize`]; colour never carries meaning
//! that the text does not.

use super::sanitize;
use crate::address::Fault;
use crate::error::Warning;
use crate::parallel;

/// Items that one core paints at once.
const SHARE: usize = 512;

/// Collects lines of text.
#[derive(Debug)]
pub struct Painter {
    text: String,
    has_color: bool,
}

/// How a piece of text stands out (ECMA-48, section 8.3.117).
#[derive(Clone, Copy, Debug)]
pub(super) enum Style {
    Plain,
    Heading,
    Faint,
    Warning,
}

impl Painter {
    /// A painter, with colours or without.
    pub fn new(has_color: bool) -> Self {
        Self { text: String::new(), has_color }
    }

    /// Paints `items` on all cores, in their order.
    pub(super) fn paint<I: Sync>(&mut self, items: &[I], paint: impl Fn(&mut Self, &I) + Sync) {
        let has_color = self.has_color;
        let shares: Vec<&[I]> = items.chunks(SHARE).collect();
        if let [share] = *shares.as_slice() {
            return share.iter().for_each(|item| paint(self, item));
        }
        let painted = parallel::map(&shares, |share| {
            let mut painter = Self::new(has_color);
            share.iter().for_each(|item| paint(&mut painter, item));
            painter.finish()
        });
        self.text.extend(painted);
    }

    pub(super) fn finish(self) -> String {
        self.text
    }

    /// A piece of a line.
    pub(super) fn piece(&mut self, style: Style, text: &str) -> &mut Self {
        let code = match style {
            Style::Plain => "",
            Style::Heading => "1",
            Style::Faint => "2",
            Style::Warning => "33",
        };
        if self.has_color && !code.is_empty() {
            self.text.push_str(&format!("\u{1b}[{code}m{}\u{1b}[0m", sanitize::line(text)));
        } else {
            self.text.push_str(&sanitize::line(text));
        }
        self
    }

    /// Ends a line.
    pub(super) fn end(&mut self) {
        self.text.push('\n');
    }

    /// A whole line that stands out in nothing.
    pub fn plain(&mut self, text: &str) {
        self.line(Style::Plain, text);
    }

    /// A whole line.
    pub(super) fn line(&mut self, style: Style, text: &str) {
        self.piece(style, text).end();
    }

    /// Whether `line` was the last line.
    pub(super) fn ends_with(&self, line: &str) -> bool {
        self.text.trim_end_matches("\u{1b}[0m\n").trim_end().ends_with(line)
    }

    /// Content of a document, on lines of its own.
    pub(super) fn content(&mut self, bytes: &[u8]) {
        let text = String::from_utf8_lossy(bytes);
        self.text.push_str(&sanitize::text(&text));
        if !text.is_empty() && !text.ends_with('\n') {
            self.text.push('\n');
        }
    }

    /// Warnings and faults, as every answer ends.
    pub(super) fn remarks(&mut self, warnings: &[Warning], faults: &[Fault]) {
        for warning in warnings {
            let text = format!("warning: {}: {}", warning.code, warning.message);
            self.line(Style::Warning, &text);
        }
        for fault in faults {
            let at = fault.position.map_or_else(String::new, |at| format!(" at {at}"));
            let text = format!("{}: {}{at}: {}", fault.selector, fault.code.code(), fault.message);
            self.line(Style::Warning, &text);
            if !fault.suggestions.is_empty() {
                self.plain("Did you mean:");
            }
            for address in &fault.suggestions {
                self.plain(&format!("- {address}"));
            }
            if !fault.candidates.is_empty() {
                self.plain(&fault.candidates_heading());
            }
            for candidate in &fault.candidates {
                self.plain(&format!("- {candidate}"));
            }
        }
    }
}

/// A size as people read it: 950, 1.2K, 3.4M.
pub(super) fn short_count(count: usize) -> String {
    let scaled = |unit: usize, name: &str| {
        let tenths = (count * 10 + unit / 2) / unit;
        if tenths.is_multiple_of(10) {
            format!("{}{name}", tenths / 10)
        } else {
            format!("{}.{}{name}", tenths / 10, tenths % 10)
        }
    };
    match count {
        0..1000 => count.to_string(),
        1000..999_950 => scaled(1000, "K"),
        _ => scaled(1_000_000, "M"),
    }
}

#[cfg(test)]
mod tests {
    use super::short_count;

    #[test]
    fn counts_are_short() {
        assert_eq!(short_count(120), "120");
        assert_eq!(short_count(1200), "1.2K");
        assert_eq!(short_count(8500), "8.5K");
        assert_eq!(short_count(999_949), "999.9K");
        assert_eq!(short_count(999_950), "1M");
        assert_eq!(short_count(3_400_000), "3.4M");
    }
}
