//! Formats `index`, `find` and `neighbors`.

use std::io;

use schemars::JsonSchema;
use serde::Serialize;

use super::super::ldmd::LdmdRenderer;
use super::super::text_writer::{ShortCount, Style, TextWriter};
use super::super::{Answer, Footer, Rows};
use super::page::{ChildrenPageJson, PlaceJson, WholePageJson};
use super::{locator, value};
use crate::address::namespace::decode;
use crate::address::{lines_address, path_before_line};
use crate::count::counted;
use crate::query::{find, index, neighbors};
use crate::schema::json_as;

/// Returns the lines and words of a document as text after its name.
fn size(document: &index::IndexedDocument) -> String {
    let (lines, words) =
        (counted(document.lines, "line"), counted(ShortCount(document.words), "word"));
    format!(" ({lines}, {words})")
}

impl Answer for index::IndexAnswer {
    const NAME: &'static str = "index";

    fn rows(&self) -> Rows<'_> {
        Box::new(self.documents.iter().map(value))
    }

    fn footer(&self) -> Footer<'_> {
        Footer::of(&self.page)
            .with(self.documents.iter().map(|document| (&*document.namespace, document.freshness)))
    }

    fn text(&self, writer: &mut TextWriter) {
        for document in &self.documents {
            let size = size(document);
            let path = decode(&document.namespace);
            writer.piece(Style::Heading, path_before_line(&path)).line(Style::Plain, &size);
            if document.root.words > 0 {
                let words = counted(ShortCount(document.root.words), "word");
                writer.line(Style::Plain, format_args!("  root  {words}"));
            }
            let width = document.headings.iter().map(|h| locator(&h.selector).len()).max();
            for heading in &document.headings {
                let indent = "  ".repeat(usize::from(heading.level));
                let locator = format!("{:<1$}", locator(&heading.selector), width.unwrap_or(0));
                writer
                    .piece(Style::Faint, format_args!("  {locator}"))
                    .piece(Style::Plain, format_args!("{indent}{}", heading.text))
                    .line(
                        Style::Faint,
                        format_args!("  {}", counted(ShortCount(heading.words), "word")),
                    );
            }
            for block in document.block_list.iter().flatten() {
                writer
                    .piece(Style::Faint, format_args!("  {}  ", locator(&block.selector)))
                    .line(Style::Plain, &block.preview);
            }
        }
    }

    fn ldmd(&self, renderer: &mut LdmdRenderer<'_>) -> io::Result<()> {
        let facts = [("documents", self.documents.len().to_string())];
        renderer.summary(&facts)?;
        let documents = self
            .documents
            .iter()
            .map(|document| format!("{}::*{}", document.namespace, size(document)));
        renderer.key_findings(self.documents.len(), documents)?;
        for document in &self.documents {
            let headings = document.headings.iter().map(|heading| {
                let words = counted(ShortCount(heading.words), "word");
                format!("{} ({words}) @ {}", heading.text, heading.selector)
            });
            let blocks = document.block_list.iter().flatten();
            let blocks = blocks.map(|block| format!("{} @ {}", block.preview, block.selector));
            let file = decode(&document.namespace);
            renderer.items(&file, &file, headings.chain(blocks))?;
        }
        Ok(())
    }
}

impl Answer for find::FindAnswer {
    const NAME: &'static str = "find";

    fn rows(&self) -> Rows<'_> {
        Box::new(self.matches.iter().map(value))
    }

    fn footer(&self) -> Footer<'_> {
        Footer::of(&self.page)
            .with(self.matches.iter().map(|found| (&*found.file, found.freshness)))
    }

    fn text(&self, writer: &mut TextWriter) {
        if let Some(advice) = &self.advice {
            writer.plain(advice);
        }
        for found in &self.matches {
            let marks = "#".repeat(usize::from(found.level));
            let lines = lines_address(&found.file, found.line_start, found.line_end);
            writer
                .piece(Style::Plain, format_args!("{lines}: "))
                .piece(
                    Style::Heading,
                    format_args!("{}", format!("{marks} {}", found.title).trim_start()),
                )
                .line(Style::Faint, format_args!("  {}", locator(&found.selector)));
        }
    }

    fn ldmd(&self, renderer: &mut LdmdRenderer<'_>) -> io::Result<()> {
        let facts = [("matches", self.matches.len().to_string())];
        renderer.summary(&facts)?;
        let line = |found: &find::FoundSection| {
            let lines = lines_address(&found.file, found.line_start, found.line_end);
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

impl Answer for neighbors::NeighborsAnswer {
    const NAME: &'static str = "neighbors";

    fn rows(&self) -> Rows<'_> {
        Box::new(self.around.iter().map(value))
    }

    fn footer(&self) -> Footer<'_> {
        Footer::of(&self.page)
            .with(self.around.iter().map(|around| (&*around.file, around.freshness)))
    }

    fn text(&self, writer: &mut TextWriter) {
        if let Some(around) = &self.around {
            writer.line(Style::Heading, &around.selector);
            for (name, neighbor) in all_around(around) {
                writer
                    .piece(Style::Faint, format_args!("{name:<13}  "))
                    .piece(Style::Plain, &neighbor.selector)
                    .line(
                        Style::Plain,
                        neighbor.title.iter().map(|t| format!("  {t}")).collect::<String>(),
                    );
            }
        }
    }

    fn ldmd(&self, renderer: &mut LdmdRenderer<'_>) -> io::Result<()> {
        renderer.summary(&[])?;
        let Some(around) = &self.around else { return Ok(()) };
        renderer.source(&around.file);
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

json_as!(index::IndexAnswer => IndexJson<'_>);

/// The documents of this part of the list.
#[derive(JsonSchema, Serialize)]
struct IndexJson<'a> {
    /// The documents, in the order in which they were named.
    documents: &'a [index::IndexedDocument],
    #[serde(flatten)]
    page: WholePageJson<'a>,
}

impl<'a> From<&'a index::IndexAnswer> for IndexJson<'a> {
    fn from(answer: &'a index::IndexAnswer) -> Self {
        Self { documents: &answer.documents, page: (&answer.page).into() }
    }
}

json_as!(neighbors::NeighborsAnswer => PlaceJson<'_, neighbors::Around, ChildrenPageJson<'_>>);

impl<'a> From<&'a neighbors::NeighborsAnswer>
    for PlaceJson<'a, neighbors::Around, ChildrenPageJson<'a>>
{
    fn from(answer: &'a neighbors::NeighborsAnswer) -> Self {
        Self::new(answer.around.as_ref(), &answer.page)
    }
}
