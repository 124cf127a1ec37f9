//! Formats the answers of `rename` and `move`.

use std::io;

use serde_json::Value;

use super::super::ldmd::LdmdRenderer;
use super::super::text_writer::{Style, TextWriter};
use super::super::{Answer, Footer, Format};
use super::value;
use crate::edit::RelocateAnswer;

impl Answer for RelocateAnswer {
    const FORMATS: &'static [Format] = &[Format::Raw];

    fn rows(&self) -> Vec<Value> {
        vec![value(self)]
    }

    fn rest(&self) -> Footer<'_> {
        let mut footer =
            Footer::new(&self.unresolved_selectors, &self.warnings, self.is_truncated());
        if self.is_dry_run() {
            footer.notes = self.side_effects();
        }
        footer
    }

    /// Only a dry run has a diff for `raw`.
    fn has(&self, format: Format) -> bool {
        Format::COMMON.contains(&format) || format == Format::Raw && self.is_dry_run()
    }

    fn raw(&self) -> Vec<u8> {
        self.raw.clone()
    }

    fn text(&self, writer: &mut TextWriter) {
        if self.is_dry_run() {
            writer.content(&self.raw);
        } else {
            let lines = self.lines().into_iter().chain(self.side_effects());
            lines.for_each(|line| writer.line(Style::Plain, line));
        }
    }

    fn name(&self) -> &'static str {
        self.operation()
    }

    fn ldmd(&self, renderer: &mut LdmdRenderer<'_>) -> io::Result<()> {
        let mut lines = self.lines();
        if !self.is_dry_run() {
            lines.extend(self.side_effects());
        }
        renderer.summary(&[("lines", lines.len().to_string())])?;
        renderer.key_findings(lines.len(), lines.into_iter())?;
        if !self.is_dry_run() {
            return Ok(());
        }
        renderer.content("Diff", "", std::iter::empty(), &self.raw, "diff")
    }
}
