//! Formats the answers of the `ldmd` commands.

use std::borrow::Cow;
use std::io;

use schemars::JsonSchema;
use serde::Serialize;

use super::super::ldmd::LdmdRenderer;
use super::super::text_writer::{Style, TextWriter};
use super::super::{Answer, Footer, Format, Rows};
use super::page::{ChildrenPageJson, PageJson, PlaceJson};
use super::value;
use crate::address::path_before_line;
use crate::count::counted;
use crate::query::Page;
use crate::query::freshness::Freshness;
use crate::query::ldmd::LdmdAnswer;
use crate::query::ldmd::emit::Emission;
use crate::query::ldmd::get::SectionContent;
use crate::query::ldmd::index::{Index, LdmdIndexEntry};
use crate::query::ldmd::neighbors::Neighbors;
use crate::query::ldmd::search::{LdmdMatch, Matches};
use crate::schema::json_as;

/// The parts that differ between the answers about one LDMD document.
trait Body: serde::Serialize + Sized {
    /// The name of the command.
    const NAME: &'static str;

    /// Returns one JSON value per item.
    fn rows(&self) -> Rows<'_> {
        Box::new(std::iter::once(value(self)))
    }

    /// Returns the file of the document, and whether it differs from the stored one.
    fn document(&self) -> (&str, Freshness);

    /// Describes the part of the document that the request excludes, if any.
    fn note(&self) -> Option<String> {
        None
    }

    /// The formats besides those that every answer has.
    const FORMATS: &'static [Format] = &[];

    /// Returns the bytes that `raw` prints.
    fn raw(&self) -> Vec<u8> {
        Vec::new()
    }

    fn text(&self, writer: &mut TextWriter);

    fn lines(&self) -> Vec<String>;

    fn ldmd(&self, _: &mut LdmdRenderer<'_>) -> io::Result<()> {
        Ok(())
    }
}

impl<B: Body> Answer for LdmdAnswer<B>
where
    Self: Serialize,
{
    const NAME: &'static str = B::NAME;
    const FORMATS: &'static [Format] = B::FORMATS;

    fn rows(&self) -> Rows<'_> {
        Box::new(self.body.iter().flat_map(Body::rows))
    }

    fn footer(&self) -> Footer<'_> {
        let mut footer = Footer::of(&self.page).with(self.body.iter().map(Body::document));
        footer.notes = self.body.as_ref().and_then(Body::note).into_iter().collect();
        footer
    }

    fn raw(&self) -> Vec<u8> {
        self.body.as_ref().map(Body::raw).unwrap_or_default()
    }

    fn text(&self, writer: &mut TextWriter) {
        if let Some(body) = &self.body {
            body.text(writer);
        }
    }

    fn ldmd(&self, renderer: &mut LdmdRenderer<'_>) -> io::Result<()> {
        let lines = self.body.as_ref().map(Body::lines).unwrap_or_default();
        let facts = [("items", lines.len().to_string())];
        renderer.summary(&facts)?;
        if let Some(body) = &self.body {
            renderer.source(body.document().0);
        }
        renderer.key_findings(lines.len(), lines.into_iter())?;
        self.body.as_ref().map_or(Ok(()), |body| body.ldmd(renderer))
    }
}

impl Body for Index {
    const NAME: &'static str = "ldmd index";

    fn rows(&self) -> Rows<'_> {
        Box::new(self.sections.iter().map(value))
    }

    fn document(&self) -> (&str, Freshness) {
        (&self.file, self.freshness)
    }

    fn text(&self, writer: &mut TextWriter) {
        if self.sections.is_empty() {
            writer.plain(format_args!("No LDMD section in {}.", self.file));
        }
        for section in &self.sections {
            let indent = "  ".repeat(section.depth.min(32));
            writer
                .piece(Style::Plain, format_args!("{indent}{}", section.id))
                .piece(Style::Heading, spaced(&section.title))
                .line(Style::Faint, format_args!(" ({})", extent(section)));
        }
    }

    fn lines(&self) -> Vec<String> {
        let line = |section: &LdmdIndexEntry| {
            format!(
                "{}{} ({}) @ {}",
                section.id,
                spaced(&section.title),
                extent(section),
                section.selector
            )
        };
        self.sections.iter().map(line).collect()
    }
}

fn spaced(title: &str) -> String {
    if title.is_empty() { String::new() } else { format!(" {title}") }
}

fn extent(section: &LdmdIndexEntry) -> String {
    format!("{}-{}", section.start_offset, section.end_offset)
}

impl Body for SectionContent {
    const NAME: &'static str = "ldmd get";
    const FORMATS: &'static [Format] = &[Format::Raw];

    fn document(&self) -> (&str, Freshness) {
        (&self.file, self.freshness)
    }

    fn note(&self) -> Option<String> {
        (self.omitted_sections > 0).then(|| {
            let (id, file) = (&self.section_id, &self.file);
            let sections = counted(self.omitted_sections, "section");
            // A preview is never deeper.
            let more = match self.mode {
                "preview" => "--mode full".to_owned(),
                _ => format!("--depth {}", self.depth.unwrap_or(0) + 1),
            };
            format!(
                "{sections} in {id} left out: {more} shows more; mdsel ldmd index {file} lists them"
            )
        })
    }

    fn raw(&self) -> Vec<u8> {
        self.content.shown().into_owned()
    }

    fn text(&self, writer: &mut TextWriter) {
        writer.content(&self.content.shown());
    }

    fn lines(&self) -> Vec<String> {
        vec![format!("{} ({}) @ {}", self.section_id, self.mode, self.selector)]
    }

    fn ldmd(&self, renderer: &mut LdmdRenderer<'_>) -> io::Result<()> {
        let facts = self.lines();
        let content = self.content.shown();
        renderer.content(&self.section_id, &self.file, facts.into_iter(), &content, "markdown")
    }
}

impl Body for Matches {
    const NAME: &'static str = "ldmd search";

    fn rows(&self) -> Rows<'_> {
        Box::new(self.matches.iter().map(value))
    }

    fn document(&self) -> (&str, Freshness) {
        (&self.file, self.freshness)
    }

    fn text(&self, writer: &mut TextWriter) {
        if self.matches.is_empty() {
            writer.plain(format_args!("No line in a section of {} contains this text.", self.file));
        }
        for found in &self.matches {
            writer
                .piece(
                    Style::Faint,
                    format_args!("{}:{}:", path_before_line(&self.file), found.doc_line),
                )
                .piece(Style::Heading, format_args!("{}: ", found.section_id()))
                .line(Style::Plain, &found.text);
        }
    }

    fn lines(&self) -> Vec<String> {
        let line = |found: &LdmdMatch| {
            format!(
                "{} @ {}:{} ({})",
                found.text,
                path_before_line(&self.file),
                found.doc_line,
                found.section_id()
            )
        };
        self.matches.iter().map(line).collect()
    }
}

impl Body for Neighbors {
    const NAME: &'static str = "ldmd neighbors";

    fn document(&self) -> (&str, Freshness) {
        (&self.file, self.freshness)
    }

    fn text(&self, writer: &mut TextWriter) {
        writer.line(Style::Heading, &self.section_id);
        for line in self.lines() {
            writer.line(Style::Plain, &line);
        }
    }

    fn lines(&self) -> Vec<String> {
        let single = [
            ("prev", &self.prev),
            ("next", &self.next),
            ("parent", &self.parent),
            ("prev_in_order", &self.prev_in_order),
            ("next_in_order", &self.next_in_order),
        ];
        let single = single.into_iter().filter_map(|(name, id)| id.as_ref().map(|id| (name, id)));
        let children = self.children.iter().map(|id| ("child", id));
        single.chain(children).map(|(name, id)| format!("{name:<13}  {id}")).collect()
    }
}

impl Body for Emission {
    const NAME: &'static str = "ldmd emit";
    const FORMATS: &'static [Format] = &[Format::Raw];

    fn document(&self) -> (&str, Freshness) {
        (&self.file, self.freshness)
    }

    fn raw(&self) -> Vec<u8> {
        self.content()
    }

    fn text(&self, writer: &mut TextWriter) {
        writer.content(&self.content());
    }

    fn lines(&self) -> Vec<String> {
        Vec::new()
    }
}

json_as!(LdmdAnswer<Index> => PlaceJson<'_, Index, PageJson<'_>>);
json_as!(LdmdAnswer<SectionContent> => PlaceJson<'_, SectionContent, PageJson<'_>>);
json_as!(LdmdAnswer<Matches> => PlaceJson<'_, Matches, PageJson<'_>>);
json_as!(LdmdAnswer<Emission> => PlaceJson<'_, Emission, PageJson<'_>>);
json_as!(LdmdAnswer<Neighbors> => PlaceJson<'_, Neighbors, ChildrenPageJson<'_>>);

impl<'a, Body, Beside: From<&'a Page>> From<&'a LdmdAnswer<Body>> for PlaceJson<'a, Body, Beside> {
    fn from(answer: &'a LdmdAnswer<Body>) -> Self {
        Self::new(answer.body.as_ref(), &answer.page)
    }
}

json_as!(Emission => EmissionJson<'_>);

/// The JSON of a document.
#[derive(JsonSchema, Serialize)]
#[schemars(rename = "Emission")]
struct EmissionJson<'a> {
    /// The path of the document.
    file: &'a str,
    /// The document as LDMD.
    content: String,
    /// Whether the content has bytes that are not UTF-8, which are shown as U+FFFD.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    lossy: bool,
    #[serde(flatten)]
    freshness: Freshness,
}

impl<'a> From<&'a Emission> for EmissionJson<'a> {
    fn from(emission: &'a Emission) -> Self {
        let content = emission.content();
        let text = String::from_utf8_lossy(&content);
        let lossy = matches!(text, Cow::Owned(_));
        let content = text.into_owned();
        Self { file: &emission.file, content, lossy, freshness: emission.freshness }
    }
}

json_as!(LdmdMatch => MatchJson<'_>);

/// The JSON of a line.
#[derive(JsonSchema, Serialize)]
#[schemars(rename = "Match")]
struct MatchJson<'a> {
    /// The id of the innermost section that holds it.
    section_id: String,
    /// The line, 0-based from the first content line of the section.
    line: usize,
    /// The line of the document, 1-based.
    doc_line: usize,
    /// The line without blanks around it.
    text: &'a str,
    /// Whether the line has bytes that are not UTF-8, which are shown as U+FFFD.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    lossy: bool,
    /// The ids of the sections that hold that section, outermost first.
    ancestors: Vec<String>,
}

impl<'a> From<&'a LdmdMatch> for MatchJson<'a> {
    fn from(found: &'a LdmdMatch) -> Self {
        Self {
            section_id: found.section_id(),
            line: found.line,
            doc_line: found.doc_line,
            text: &found.text,
            lossy: found.lossy,
            ancestors: found.ancestors().collect(),
        }
    }
}
