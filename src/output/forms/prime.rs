//! Formats `prime`.

use std::io;

use serde_json::json;

use super::super::ldmd::LdmdRenderer;
use super::super::text_writer::{ShortCount, Style, TextWriter};
use super::super::{Answer, Footer, Format, Records, Rows};
use super::links::changed;
use super::value;
use crate::count::counted;
use crate::query::prime;

fn kind(folder: &prime::Folder) -> &'static str {
    if folder.is_collection { " (collection)" } else { "" }
}

impl Answer for prime::PrimeAnswer {
    const NAME: &'static str = "prime";
    const FORMATS: &'static [Format] = &[Format::Records];

    fn rows(&self) -> Rows<'_> {
        let totals = std::iter::once(json!({ "totals": self.totals }));
        let commands = self.commands.iter().map(value);
        let linked = self.most_linked.iter().map(value);
        let folders = self.folders.iter().map(value);
        Box::new(totals.chain(commands).chain(linked).chain(folders))
    }

    fn footer(&self) -> Footer<'_> {
        Footer::of(&self.page).with(self.most_linked.iter().map(|linked| changed(&linked.node)))
    }

    fn text(&self, writer: &mut TextWriter) {
        writer.line(Style::Heading, totals(self));
        for folder in &self.folders {
            writer.line(
                Style::Plain,
                format_args!(
                    "  {}/  {}{}",
                    folder.folder,
                    counted(folder.documents, "document"),
                    kind(folder)
                ),
            );
        }
        for linked in &self.most_linked {
            writer
                .piece(Style::Plain, format_args!("  {}", linked.node.title))
                .line(Style::Faint, format_args!("  {}", linked.node.selector));
        }
        for advice in &self.commands {
            writer
                .piece(Style::Plain, format_args!("  {:<30}", advice.command))
                .line(Style::Faint, format_args!("  {}", advice.what));
        }
    }

    fn ldmd(&self, renderer: &mut LdmdRenderer<'_>) -> io::Result<()> {
        let facts = [
            ("documents", self.totals.documents.to_string()),
            ("sections", self.totals.sections.to_string()),
            ("words", self.totals.words.to_string()),
        ];
        renderer.summary(&facts)?;
        let linked = self.most_linked.iter();
        let linked =
            linked.map(|linked| format!("{} @ {}", linked.node.title, linked.node.selector));
        let advice =
            self.commands.iter().map(|advice| format!("{}: {}", advice.command, advice.what));
        let count = self.most_linked.len() + self.commands.len();
        renderer.sources(self.most_linked.iter().map(|linked| &*linked.node.file));
        renderer.key_findings(count, linked.chain(advice))
    }

    fn records(&self, records: &mut Records<'_>) -> io::Result<()> {
        let fields = [
            ("documents", self.totals.documents.to_string()),
            ("sections", self.totals.sections.to_string()),
            ("words", self.totals.words.to_string()),
        ];
        records.header("prime", &fields)?;
        for folder in &self.folders {
            let kind = if folder.is_collection { "collection" } else { "folder" };
            records.detail(&format!("{kind} {}/ documents={}", folder.folder, folder.documents))?;
        }
        for linked in &self.most_linked {
            records.map_of_content(&linked.node)?;
        }
        for advice in &self.commands {
            records.command(advice.command, advice.what)?;
        }
        Ok(())
    }
}

fn totals(answer: &prime::PrimeAnswer) -> String {
    let totals = &answer.totals;
    format!(
        "{}, {}, {}",
        counted(totals.documents, "document"),
        counted(totals.sections, "section"),
        counted(ShortCount(totals.words), "word")
    )
}
