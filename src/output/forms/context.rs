//! Formats `context`.

use std::borrow::Cow;
use std::io::{self, Write};

use schemars::JsonSchema;
use serde::Serialize;

use super::super::ldmd::LdmdRenderer;
use super::super::text_writer::{Style, TextWriter};
use super::super::{Answer, Footer, Format, Records, Rows, sanitize};
use super::content::changed;
use super::page::WholePageJson;
use super::{TITLE_SEPARATOR, nearest_titles, value};
use crate::address::path_before_line;
use crate::links::file_name;
use crate::position::LineSpan;
use crate::query::context::{self, ContextItem, Outside, PlaceItem};
use crate::query::node::NodeAnswer;
use crate::query::search::PassageWindow;
use crate::schema::json_as;

/// What follows an item without an address if the item is cut. The cursor of the answer leads to the rest.
const CUT: &str = "truncated";

impl Answer for context::ContextAnswer {
    const NAME: &'static str = "context";
    const FORMATS: &'static [Format] = &[Format::Records, Format::Markdown];

    fn rows(&self) -> Rows<'_> {
        Box::new(self.items.iter().map(value))
    }

    fn footer(&self) -> Footer<'_> {
        let places = self.items.iter().filter_map(|item| match item {
            ContextItem::Place(place) => Some(changed(&place.answer)),
            ContextItem::Outside(_) => None,
        });
        let cut = self.items.iter().filter_map(|item| match item {
            ContextItem::Place(place) => place.rest(),
            ContextItem::Outside(_) => None,
        });
        Footer::of(&self.page).with_cut(cut).with(places)
    }

    fn text(&self, writer: &mut TextWriter) {
        if let Some(advice) = &self.advice {
            writer.plain(advice);
        }
        let is_said_last = self.footer().says_rest_last();
        for (index, item) in self.items.iter().enumerate() {
            if index > 0 {
                writer.end();
            }
            match item {
                ContextItem::Place(place) if place.found.is_some() => {
                    place.found.iter().for_each(|hit| hit.write_passage(writer));
                }
                ContextItem::Place(place) => {
                    let titles = nearest_titles(&place.titles).join(TITLE_SEPARATOR);
                    let title = Some(titles.as_str()).filter(|titles| !titles.is_empty());
                    let title = title.or(place.answer.title.as_deref());
                    place.answer.write_text(title, writer, is_said_last);
                    if let Some(summary) = place.node.summary.as_ref().filter(|_| !self.with_body) {
                        writer.plain(format_args!("summary: {summary}"));
                    }
                }
                ContextItem::Outside(outside) => {
                    writer.line(Style::Heading, heading(&word(&outside.kind), &origin(outside)));
                    writer.content(outside.content.as_bytes());
                    if outside.truncated {
                        writer.line(Style::Faint, CUT);
                    }
                }
            }
        }
        if self.has_summary() {
            writer.line(Style::Faint, &self.summary_note);
        }
    }

    fn ldmd(&self, renderer: &mut LdmdRenderer<'_>) -> io::Result<()> {
        let facts = [("items", self.items.len().to_string())];
        renderer.summary(&facts)?;
        let line = |item: &ContextItem| match item {
            ContextItem::Place(place) => {
                let summary = place.node.summary.as_ref();
                let summary = summary.map(|text| format!(": {text}")).unwrap_or_default();
                format!("{}{summary} @ {}", place.node.title, place.node.selector)
            }
            ContextItem::Outside(outside) => heading(&word(&outside.kind), &origin(outside)),
        };
        renderer.key_findings(self.items.len(), self.items.iter().map(line))?;
        for item in &self.items {
            let facts = std::iter::once(line(item));
            match item {
                ContextItem::Place(place) => {
                    let content = place.shown();
                    let (title, file) = (&place.node.title, &place.node.file);
                    let rest = place.rest().map(|(_, rest)| format!("more: {rest}"));
                    let facts = facts.chain(rest);
                    match content {
                        Some(content) => {
                            renderer.content(title, file, facts, &content, "markdown")?;
                        }
                        None => renderer.items(title, file, facts)?,
                    }
                }
                ContextItem::Outside(outside) => {
                    let content = outside.content.as_bytes();
                    let facts = facts.chain(outside.truncated.then(|| CUT.to_owned()));
                    // The store does not have its file.
                    renderer.content(&outside.kind, "", facts, content, "markdown")?;
                }
            }
        }
        Ok(())
    }

    fn records(&self, records: &mut Records<'_>) -> io::Result<()> {
        let fields = [("notes", self.items.len().to_string())];
        records.header("context", &fields)?;
        let has_body = |item: &ContextItem| match item {
            ContextItem::Place(place) => place.shown().is_some(),
            ContextItem::Outside(_) => true,
        };
        if self.items.iter().any(has_body) {
            records.banner()?;
        }
        for item in &self.items {
            match item {
                ContextItem::Place(place) => {
                    records.node(&place.node)?;
                    if let Some(content) = place.shown() {
                        if place.is_part {
                            let NodeAnswer { line_start, line_end, .. } = place.answer;
                            records.detail(&format!("lines {line_start}-{line_end}"))?;
                        }
                        records.body(&place.node.selector, &content)?;
                    }
                    if let Some((_, rest)) = place.rest() {
                        records.detail(&format!("more {rest}"))?;
                    }
                }
                ContextItem::Outside(outside) => {
                    let id = format!("item:{}", outside.number);
                    let file = outside.file.as_deref().unwrap_or("-");
                    records.place(&id, &outside.kind, file, file)?;
                    if let (Some(start), Some(end)) = (outside.line_start, outside.line_end) {
                        records.detail(&format!("lines {start}-{end}"))?;
                    }
                    records.body(&id, outside.content.as_bytes())?;
                    if outside.truncated {
                        records.detail(&format!("{CUT} {id}"))?;
                    }
                }
            }
        }
        Ok(())
    }

    fn markdown(&self, out: &mut dyn Write) -> io::Result<()> {
        write!(out, "## Context\n\n")?;
        let is_said_last = self.footer().says_rest_last();
        for item in &self.items {
            let block = match item {
                ContextItem::Place(place) => ContextBlock::of_place(place),
                ContextItem::Outside(outside) => ContextBlock::of_outside(outside),
            };
            block.write(out, self.language.as_deref(), self.is_strict)?;
            if matches!(item, ContextItem::Outside(outside) if outside.truncated) {
                write!(out, "{CUT}\n\n")?;
            }
            if let ContextItem::Place(place) = item
                && let Some((_, rest)) = place.rest()
                && !is_said_last
            {
                write!(out, "more: {rest}\n\n")?;
            }
        }
        Ok(())
    }
}

impl context::ContextAnswer {
    /// Returns whether a place is printed without its content. One that is cut has the address of its content.
    fn has_summary(&self) -> bool {
        let is_summary = |item: &ContextItem| match item {
            ContextItem::Place(place) => place.shown().is_none() && place.rest().is_none(),
            ContextItem::Outside(_) => false,
        };
        self.items.iter().any(is_summary)
    }
}

impl PlaceItem {
    /// Returns the address of the item and of its remainder, if the item is cut. The remainder is the
    /// next page, the rest of the passage, or the node itself if its summary is cut.
    fn rest(&self) -> Option<(&str, &str)> {
        let rest = match &self.found {
            Some(hit) => hit.rest.as_deref(),
            None => self.answer.pagination.as_ref().and_then(|pages| pages.next.as_deref()),
        };
        let is_summary_cut = self.answer.truncated && self.shown().is_none();
        let whole = is_summary_cut.then_some(self.answer.selector.as_str());
        Some((&self.answer.selector, rest.or(whole)?))
    }

    /// Returns the content to print: the passage that a search found, or the requested content of the
    /// node.
    fn shown(&self) -> Option<Cow<'_, [u8]>> {
        match &self.found {
            Some(hit) => Some(hit.passage_text().into_bytes().into()),
            None => self.answer.content.as_ref().map(|content| content.shown()),
        }
    }
}

/// A fenced block with a heading, as in the `markdown` format (`mdsel help formats`).
struct ContextBlock<'a> {
    heading: String,
    language: String,
    content: Cow<'a, [u8]>,
}

impl<'a> ContextBlock<'a> {
    fn of_place(place: &'a PlaceItem) -> Self {
        let answer = &place.answer;
        let summary = || place.node.summary.as_ref().map(|text| text.as_bytes().into());
        let content = place.shown().or_else(summary).unwrap_or_default();
        let origin = match &place.found {
            Some(hit) => hit.passage_lines(),
            None => LineSpan { start: answer.line_start, end: answer.line_end },
        };
        // An empty place has no lines.
        let origin = match origin.end.checked_sub(origin.start) {
            Some(_) => {
                format!("{}:{}-{}", path_before_line(&answer.file), origin.start, origin.end)
            }
            None => answer.file.clone(),
        };
        let heading = heading(place.word, &origin);
        match &place.code {
            Some(code) => {
                // A backtick would lengthen the opening fence or end it.
                let is_tag = |tag: &&str| !tag.is_empty() && !tag.contains('`');
                let language = Some(code.language.as_str()).filter(is_tag).unwrap_or("text");
                let content = code.within(&content, answer.byte_start).into();
                Self { heading, language: language.to_owned(), content }
            }
            None => Self { heading, language: "markdown".to_owned(), content },
        }
    }

    fn of_outside(outside: &'a Outside) -> Self {
        let file = outside.file.as_deref().unwrap_or_default();
        let extension = file_name(file).rsplit_once('.');
        let is_plain = |text: &&str| text.bytes().all(|byte| byte.is_ascii_alphanumeric());
        let language = extension.map(|(_, extension)| extension).filter(is_plain);
        Self {
            heading: heading(&word(&outside.kind), &origin(outside)),
            language: language.unwrap_or("text").to_owned(),
            content: outside.content.as_bytes().into(),
        }
    }

    fn write(
        &self,
        out: &mut dyn Write,
        language: Option<&str>,
        is_strict: bool,
    ) -> io::Result<()> {
        let mut longest = 0;
        let mut run = 0;
        for &byte in self.content.iter() {
            run = if byte == b'`' { run + 1 } else { 0 };
            longest = longest.max(run);
        }
        let fence = "`".repeat((longest + 1).max(3));
        let language = language.unwrap_or(&self.language);
        write!(out, "### {}\n{fence}{language}\n", sanitize::line(&self.heading))?;
        out.write_all(&self.content)?;
        if is_strict || !matches!(self.content.last(), None | Some(b'\n' | b'\r')) {
            writeln!(out)?;
        }
        write!(out, "{fence}\n\n")
    }
}

/// Returns the heading of a block, with its origin if the origin is known.
fn heading(word: &str, origin: &str) -> String {
    if origin.is_empty() { word.to_owned() } else { format!("{word} (from {origin})") }
}

fn origin(outside: &Outside) -> String {
    let file = outside.file.clone().unwrap_or_default();
    match (outside.line_start, outside.line_end) {
        (Some(start), Some(end)) if !file.is_empty() => format!("{file}:{start}-{end}"),
        _ => file,
    }
}

/// Capitalizes each part of a word: `repl-history` becomes `Repl-History`.
fn word(kind: &str) -> String {
    let part = |part: &str| {
        let mut scalars = part.chars();
        let first = scalars.next().map(|first| first.to_ascii_uppercase());
        first.into_iter().chain(scalars).collect::<String>()
    };
    kind.split('-').map(part).collect::<Vec<_>>().join("-")
}

json_as!(context::ContextAnswer => BundleJson<'_>);

/// The JSON of a bundle.
#[derive(JsonSchema, Serialize)]
struct BundleJson<'a> {
    /// The items.
    items: Vec<ItemJson<'a>>,
    #[serde(flatten)]
    page: WholePageJson<'a>,
}

impl<'a> From<&'a context::ContextAnswer> for BundleJson<'a> {
    fn from(answer: &'a context::ContextAnswer) -> Self {
        let items = answer.items.iter().map(ItemJson::from).collect();
        Self { items, page: (&answer.page).into() }
    }
}

json_as!(ContextItem => ItemJson<'_>);

/// A place or a text from outside.
#[derive(JsonSchema, Serialize)]
#[schemars(rename = "Item")]
#[serde(untagged)]
enum ItemJson<'a> {
    Place(Box<PlaceFields<'a>>),
    Outside(&'a Outside),
}

/// The JSON of a place.
#[derive(JsonSchema, Serialize)]
#[schemars(rename = "Place")]
struct PlaceFields<'a> {
    #[serde(flatten)]
    answer: &'a NodeAnswer,
    /// The tags of its document.
    tags: &'a [String],
    /// What sums it up, on one line.
    summary: &'a Option<String>,
    /// The parts of it that show the most of what was asked.
    #[serde(skip_serializing_if = "<[PassageWindow]>::is_empty")]
    passage: &'a [PassageWindow],
    /// The address of the rest of the passage, if the passage is cut.
    #[serde(skip_serializing_if = "Option::is_none")]
    rest: Option<&'a String>,
    /// Addresses of sections with nearly the same text.
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    duplicates: &'a [String],
    /// How many links lead to it from the places asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    hop: Option<usize>,
}

impl<'a> From<&'a ContextItem> for ItemJson<'a> {
    fn from(item: &'a ContextItem) -> Self {
        let place = match item {
            ContextItem::Outside(outside) => return Self::Outside(outside),
            ContextItem::Place(place) => place,
        };
        let PlaceItem { answer, node, found, .. } = &**place;
        Self::Place(Box::new(PlaceFields {
            answer,
            tags: &node.tags,
            summary: &node.summary,
            passage: found.as_ref().map_or(&[][..], |hit| &hit.passage),
            rest: found.as_ref().and_then(|hit| hit.rest.as_ref()),
            duplicates: found.as_ref().map_or(&[][..], |hit| &hit.duplicates),
            hop: node.hop,
        }))
    }
}
