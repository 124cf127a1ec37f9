//! Formats the answers of `rename` and `move`.

use std::io;

use super::super::ldmd::LdmdRenderer;
use super::super::text_writer::{Style, TextWriter};
use super::super::{Answer, Footer, Format, Rows, edit_has};
use super::edit::{kept_definitions, renumbered};
use super::row_without;
use crate::count::counted;
use crate::edit::{RelocateAnswer, RelocateEffects, RewrittenLink};
use crate::limits;
use crate::visible::quoted;

/// Returns lines that describe the edit: the new address, and each file with its links.
fn lines(answer: &RelocateAnswer) -> Vec<String> {
    let mut all = Vec::new();
    if let (Some(from), Some(to)) = (&answer.selector, &answer.new_selector) {
        let title = answer.new_title.as_ref().map(|title| quoted(&title).to_string());
        let now = match title {
            Some(title) if from == to => title,
            Some(title) => format!("{to} {title}"),
            None => to.clone(),
        };
        let total = total(answer).unwrap_or_default();
        all.push(format!("{from} is now {now}: {total}"));
    }
    // The diff of a dry run has each link.
    let lists_links = answer.rewritten_links <= limits::MAX_EFFECTS_SHOWN;
    for file in answer.files.iter().filter(|file| !file.links.is_empty()) {
        if !lists_links {
            all.push(format!("  {}: {}", file.file, counted(file.links.len(), "link")));
            continue;
        }
        let rewritten = file.links.iter();
        all.extend(rewritten.map(|RewrittenLink { line, from, to }| {
            format!("  {}:{line}: {from} -> {to}", file.file)
        }));
    }
    if answer.files_omitted > 0 {
        all.push(format!("  and {}", counted(answer.files_omitted, "more file")));
    }
    all
}

/// Returns the number of links and files that change; `None` if the place was not found.
fn total(answer: &RelocateAnswer) -> Option<String> {
    answer.selector.as_ref()?;
    let links = counted(answer.rewritten_links, "link");
    let files = counted(answer.files.len() + answer.files_omitted, "file");
    Some(format!("{links} rewritten, {files} changed"))
}

/// Returns lines for what else changes: definitions, labels and anchors.
fn side_effects(effects: &RelocateEffects) -> Vec<String> {
    let copied = effects.copied_definitions.iter();
    let copied = copied.map(|label| format!("  copied definition: [{label}]"));
    let labels = effects.new_labels.iter();
    let labels = labels.map(|one| format!("  label: [{}] is now [{}]", one.from, one.to));
    let kept = kept_definitions(&effects.kept_definitions);
    let renumbered = renumbered(&effects.renumbered, effects.renumbered_total);
    kept.chain(copied).chain(labels).chain(renumbered).collect()
}

impl Answer for RelocateAnswer {
    const NAME: &'static str = "move";
    const FORMATS: &'static [Format] = &[Format::Raw];

    fn rows(&self) -> Rows<'_> {
        Box::new(std::iter::once(row_without(self, &["unresolved_selectors", "warnings"])))
    }

    fn footer(&self) -> Footer<'_> {
        let mut footer =
            Footer::new(&self.unresolved_selectors, &self.warnings, self.is_truncated());
        if self.is_dry_run() {
            footer.notes = side_effects(&self.effects);
            footer.notes.extend(total(self).map(|total| format!("  {total}")));
        }
        footer
    }

    fn has(&self, format: Format) -> bool {
        edit_has(format, self.is_dry_run())
    }

    fn raw(&self) -> Vec<u8> {
        self.raw.clone()
    }

    fn text(&self, writer: &mut TextWriter) {
        if self.is_dry_run() {
            writer.content(&self.changed_lines);
        } else {
            let lines = lines(self).into_iter().chain(side_effects(&self.effects));
            lines.for_each(|line| writer.line(Style::Plain, line));
        }
    }

    fn name(&self) -> &'static str {
        self.operation()
    }

    fn ldmd(&self, renderer: &mut LdmdRenderer<'_>) -> io::Result<()> {
        let mut lines = lines(self);
        if !self.is_dry_run() {
            lines.extend(side_effects(&self.effects));
        }
        renderer.summary(&[("lines", lines.len().to_string())])?;
        renderer.key_findings(lines.len(), lines.into_iter())?;
        renderer.sources(self.files.iter().map(|file| &*file.file));
        if !self.is_dry_run() {
            return Ok(());
        }
        renderer.content("Diff", "", std::iter::empty(), &self.raw, "diff")
    }
}
