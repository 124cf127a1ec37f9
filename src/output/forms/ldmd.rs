//! Formats the answers of the `ldmd` commands.

use std::io;

use schemars::JsonSchema;
use serde::ser::{SerializeMap as _, SerializeStruct as _};
use serde::{Serialize, Serializer};
use serde_json::Value;

use super::super::ldmd::LdmdRenderer;
use super::super::text_writer::{Style, TextWriter};
use super::super::{Answer, Footer, Format};
use super::page::NoPlaceShape;
use super::value;
use crate::query::Page;
use crate::query::ldmd::emit::Emission;
use crate::query::ldmd::get::SectionContent;
use crate::query::ldmd::index::{Index, LdmdIndexEntry};
use crate::query::ldmd::neighbors::Neighbors;
use crate::query::ldmd::search::{LdmdMatch, Matches};
use crate::query::ldmd::{self};
use crate::query::library::Freshness;
use crate::schema::schema_as;

/// The parts that differ between the answers about one LDMD document.
trait Body: serde::Serialize + Sized {
    /// The name of the command.
    const NAME: &'static str;

    /// Returns one JSON value per item.
    fn rows(&self) -> Vec<Value> {
        vec![value(self)]
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

impl<B: Body> Answer for ldmd::LdmdAnswer<B> {
    const FORMATS: &'static [Format] = B::FORMATS;

    fn rows(&self) -> Vec<Value> {
        self.body.iter().flat_map(Body::rows).collect()
    }

    fn rest(&self) -> Footer<'_> {
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

    fn name(&self) -> &'static str {
        B::NAME
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

    fn rows(&self) -> Vec<Value> {
        self.sections.iter().map(value).collect()
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
            let sections = if self.omitted_sections == 1 { "section" } else { "sections" };
            format!(
                "{} {sections} in {id} left out: --depth {} shows more; mdsel ldmd neighbors {file} --id {id} \
                 lists them",
                self.omitted_sections,
                self.depth.unwrap_or(0) + 1
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

    fn rows(&self) -> Vec<Value> {
        self.matches.iter().map(value).collect()
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
                .piece(Style::Faint, format_args!("{}:{}:", self.file, found.doc_line))
                .piece(Style::Heading, format_args!("{}: ", found.section_id()))
                .line(Style::Plain, &found.text);
        }
    }

    fn lines(&self) -> Vec<String> {
        let line = |found: &LdmdMatch| {
            format!("{} @ {}:{} ({})", found.text, self.file, found.doc_line, found.section_id())
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

/// What was asked for, or why there is none.
#[expect(dead_code, reason = "only its schema is used")]
#[derive(JsonSchema)]
#[schemars(untagged)]
enum AnswerShape<Body> {
    Document {
        #[schemars(flatten)]
        body: Body,
        #[schemars(flatten)]
        page: Page,
    },
    NoPlace {
        #[schemars(flatten)]
        notices: NoPlaceShape,
        /// Whether something was left out or cut.
        truncated: bool,
    },
}

schema_as!([Body] ldmd::LdmdAnswer<Body> => AnswerShape<Body>);

/// The JSON of a document.
#[expect(dead_code, reason = "only its schema is used")]
#[derive(JsonSchema)]
struct EmissionShape {
    /// The path of the document.
    file: String,
    /// The document as LDMD.
    content: String,
    #[schemars(flatten)]
    freshness: Freshness,
}

schema_as!(Emission => EmissionShape);

impl Serialize for Emission {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_map(None)?;
        fields.serialize_entry("file", &self.file)?;
        fields.serialize_entry("content", &String::from_utf8_lossy(&self.content()))?;
        self.freshness.fields(&mut fields)?;
        fields.end()
    }
}

/// The JSON of a line.
#[expect(dead_code, reason = "only its schema is used")]
#[derive(JsonSchema)]
struct MatchShape {
    /// The id of the innermost section that holds it.
    section_id: String,
    /// The line, 0-based from the first content line of the section.
    line: usize,
    /// The line of the document, 1-based.
    doc_line: usize,
    /// The line without blanks around it.
    text: String,
    /// Whether the line has bytes that are not UTF-8, which are shown as U+FFFD.
    #[serde(skip_serializing_if = "is_false")]
    lossy: bool,
    /// The ids of the sections that hold that section, outermost first.
    ancestors: Vec<String>,
}

schema_as!(LdmdMatch => MatchShape);

impl Serialize for LdmdMatch {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("Match", 5 + usize::from(self.lossy))?;
        fields.serialize_field("section_id", &self.section_id())?;
        fields.serialize_field("line", &self.line)?;
        fields.serialize_field("doc_line", &self.doc_line)?;
        fields.serialize_field("text", &self.text)?;
        if self.lossy {
            fields.serialize_field("lossy", &true)?;
        }
        fields.serialize_field("ancestors", &self.ancestors().collect::<Vec<_>>())?;
        fields.end()
    }
}
