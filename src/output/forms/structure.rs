//! Formats the answers about structure: `index`, `toc`, `find` and `neighbors`.

use std::io;

use serde_json::{Value, json};

use super::super::ldmd::LdmdRenderer;
use super::super::text_writer::{Style, TextWriter, short_count};
use super::super::{Answer, Footer, Format, Records};
use super::{locator, value};
use crate::query::{find, index, neighbors, toc};

impl Answer for index::Answer {
    fn rows(&self) -> Vec<Value> {
        self.documents.iter().map(value).collect()
    }

    fn rest(&self) -> Footer<'_> {
        Footer::of(&self.page)
            .with(self.documents.iter().map(|document| (&*document.namespace, document.freshness)))
    }

    fn text(&self, writer: &mut TextWriter) {
        for document in &self.documents {
            let size =
                format!(" ({} lines, {} words)", document.lines, short_count(document.words));
            writer.piece(Style::Heading, &document.namespace).line(Style::Plain, &size);
            if document.root.words > 0 {
                let words = format!("  root  {} words", short_count(document.root.words));
                writer.line(Style::Plain, &words);
            }
            let width = document.headings.iter().map(|h| locator(&h.selector).len()).max();
            for heading in &document.headings {
                let indent = "  ".repeat(usize::from(heading.level));
                let locator = format!("{:<1$}", locator(&heading.selector), width.unwrap_or(0));
                writer
                    .piece(Style::Faint, &format!("  {locator}"))
                    .piece(Style::Plain, &format!("{indent}{}", heading.text))
                    .line(Style::Faint, &format!("  {} words", short_count(heading.words)));
            }
            for block in document.block_list.iter().flatten() {
                writer
                    .piece(Style::Faint, &format!("  {}  ", locator(&block.selector)))
                    .line(Style::Plain, &block.preview);
            }
        }
    }

    fn name(&self) -> &'static str {
        "index"
    }

    fn ldmd(&self, renderer: &mut LdmdRenderer<'_>) -> io::Result<()> {
        let facts = [("documents", self.documents.len().to_string())];
        renderer.summary(&facts)?;
        let documents = self.documents.iter().map(|document| {
            let words = short_count(document.words);
            format!("{}::* ({} lines, {words} words)", document.namespace, document.lines)
        });
        renderer.key_findings(self.documents.len(), documents)?;
        for document in &self.documents {
            let headings = document.headings.iter().map(|heading| {
                let words = short_count(heading.words);
                format!("{} ({words} words) @ {}", heading.text, heading.selector)
            });
            let blocks = document.block_list.iter().flatten();
            let blocks = blocks.map(|block| format!("{} @ {}", block.preview, block.selector));
            let file = crate::address::namespace::decode(&document.namespace);
            renderer.items(&file, &file, headings.chain(blocks))?;
        }
        Ok(())
    }
}

impl Answer for toc::Answer {
    const FORMATS: &'static [Format] = &[Format::Records];

    fn has_addresses(format: Format) -> bool {
        format != Format::Text
    }

    fn rows(&self) -> Vec<Value> {
        let sections = self.files.iter().flat_map(|file| {
            let mut whole = json!({ "file": file.file, "frontmatter": file.front_matter });
            if let (Some(row), Value::Object(freshness)) =
                (whole.as_object_mut(), value(&file.freshness))
            {
                row.extend(freshness);
            }
            let entries = file.entries.iter().map(|entry| {
                let mut row = json!({ "file": file.file });
                if let (Some(row), Value::Object(section)) =
                    (row.as_object_mut(), value(&entry.section))
                {
                    row.extend(section);
                }
                row
            });
            std::iter::once(whole).chain(entries)
        });
        sections.collect()
    }

    fn rest(&self) -> Footer<'_> {
        Footer::of(&self.page).with(self.files.iter().map(|file| (&*file.file, file.freshness)))
    }

    fn text(&self, writer: &mut TextWriter) {
        writer.items(&self.files, |writer, file| {
            if !self.is_single {
                writer.line(Style::Heading, &file.file);
            }
            if let Some(front_matter) = &file.front_matter {
                let size = size(front_matter.char_count);
                let lines =
                    format!("({}-{}, {size})", front_matter.line_start, front_matter.line_end);
                writer.line(Style::Plain, &format!("[frontmatter] {lines}"));
            }
            for entry in &file.entries {
                let section = &entry.section;
                let marks = "#".repeat(usize::from(section.level));
                let indent = "  ".repeat(entry.depth);
                let lines = format!("{}-{}", section.line_start, section.line_end);
                writer.piece(Style::Plain, &format!("{indent}{marks} {}", section.title)).line(
                    Style::Faint,
                    &format!(" ({lines}, {}){}", size(section.char_count), omitted(section)),
                );
            }
        });
    }

    fn name(&self) -> &'static str {
        "toc"
    }

    fn ldmd(&self, renderer: &mut LdmdRenderer<'_>) -> io::Result<()> {
        let sections = self.files.iter().map(|file| file.entries.len()).sum::<usize>();
        let facts = [("files", self.files.len().to_string()), ("sections", sections.to_string())];
        renderer.summary(&facts)?;
        let line = |entry: &toc::Entry| {
            let section = &entry.section;
            let lines = format!("{}-{}", section.line_start, section.line_end);
            format!(
                "{} ({lines}, {}){} @ {}",
                section.title,
                size(section.char_count),
                omitted(section),
                section.selector
            )
        };
        let is_top = |entry: &&toc::Entry| entry.depth == 0;
        let top = || self.files.iter().flat_map(|file| file.entries.iter().filter(is_top));
        renderer.key_findings(top().count(), top().map(line))?;
        for file in &self.files {
            let entries = file.entries.iter().map(|entry| {
                format!("{} {}", "#".repeat(usize::from(entry.section.level)), line(entry))
            });
            renderer.items(&file.file, &file.file, entries)?;
        }
        Ok(())
    }

    fn records(&self, records: &mut Records<'_>) -> io::Result<()> {
        let fields = [("files", self.files.len().to_string())];
        records.header("toc", &fields)?;
        for file in &self.files {
            for entry in &file.entries {
                let section = &entry.section;
                records.place(&section.selector, "Section", &section.title, &file.file)?;
            }
        }
        Ok(())
    }
}

/// Returns the number of descendant sections that are too deep to be listed, as text.
fn omitted(section: &toc::Section) -> String {
    match section.omitted_sections {
        0 => String::new(),
        count => format!(" +{count} below"),
    }
}

/// Formats a number of characters as `400B` or `1.2K`.
fn size(chars: usize) -> String {
    let mut text = short_count(chars);
    if text.ends_with(|c: char| c.is_ascii_digit()) {
        text.push('B');
    }
    text
}

impl Answer for find::Answer {
    fn rows(&self) -> Vec<Value> {
        self.matches.iter().map(value).collect()
    }

    fn rest(&self) -> Footer<'_> {
        Footer::of(&self.page)
            .with(self.matches.iter().map(|found| (&*found.file, found.freshness)))
    }

    fn text(&self, writer: &mut TextWriter) {
        if let Some(advice) = &self.advice {
            writer.plain(advice);
        }
        for found in &self.matches {
            let marks = "#".repeat(usize::from(found.level));
            writer
                .piece(
                    Style::Plain,
                    &format!("{}:{}-{}: ", found.file, found.line_start, found.line_end),
                )
                .piece(Style::Heading, &format!("{marks} {}", found.title))
                .line(Style::Faint, &format!("  {}", locator(&found.selector)));
        }
    }

    fn name(&self) -> &'static str {
        "find"
    }

    fn ldmd(&self, renderer: &mut LdmdRenderer<'_>) -> io::Result<()> {
        let facts = [("matches", self.matches.len().to_string())];
        renderer.summary(&facts)?;
        let line = |found: &find::Match| {
            let lines = format!("{}:{}-{}", found.file, found.line_start, found.line_end);
            format!("{} @ {lines}", found.title)
        };
        renderer.key_findings(self.matches.len(), self.matches.iter().map(line))?;
        for found in self.matches.chunk_by(|one, other| one.file == other.file) {
            let file = found.first().map_or("", |found| &found.file);
            let items = found.iter().map(|found| format!("{} @ {}", found.title, found.selector));
            renderer.items(file, file, items)?;
        }
        Ok(())
    }
}

impl Answer for neighbors::Answer {
    fn rows(&self) -> Vec<Value> {
        self.around.iter().map(value).collect()
    }

    fn rest(&self) -> Footer<'_> {
        Footer::of(&self.page)
            .with(self.around.iter().map(|around| (&*around.selector, around.freshness)))
    }

    fn text(&self, writer: &mut TextWriter) {
        if let Some(around) = &self.around {
            writer.line(Style::Heading, &around.selector);
            for (name, neighbor) in all_around(around) {
                writer
                    .piece(Style::Faint, &format!("{name:<13}  "))
                    .piece(Style::Plain, &neighbor.selector)
                    .line(
                        Style::Plain,
                        &neighbor.title.iter().map(|t| format!("  {t}")).collect::<String>(),
                    );
            }
        }
    }

    fn name(&self) -> &'static str {
        "neighbors"
    }

    fn ldmd(&self, renderer: &mut LdmdRenderer<'_>) -> io::Result<()> {
        renderer.summary(&[])?;
        let Some(around) = &self.around else { return Ok(()) };
        let line = |(name, neighbor): (&str, &neighbors::Neighbor)| {
            let title = neighbor.title.as_ref().map(|title| format!("{title} @ "));
            format!("{name}: {}{}", title.unwrap_or_default(), neighbor.selector)
        };
        let count = all_around(around).count();
        renderer.key_findings(count, all_around(around).map(line))
    }
}

/// Returns the neighbors of a node, each with its relation.
fn all_around(
    around: &neighbors::Around,
) -> impl Iterator<Item = (&'static str, &neighbors::Neighbor)> {
    let single = [
        ("prev", &around.prev),
        ("next", &around.next),
        ("parent", &around.parent),
        ("prev_in_order", &around.prev_in_order),
        ("next_in_order", &around.next_in_order),
    ];
    let single = single.into_iter().filter_map(|(name, at)| at.as_ref().map(|at| (name, at)));
    single.chain(around.children.iter().map(|child| ("child", child)))
}
