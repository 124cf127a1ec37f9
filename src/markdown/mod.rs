//! Markdown: the bytes of a file in, its outline out. Pure: no store, no file system.
//!
//! [`parse()`] is the way in; [`outline`] says what comes out, [`words`] counts and pages,
//! [`mod@slug`] makes anchors. [`links`] and [`typed_links`] say what it links to;
//! [`tiling`] proves an outline that was kept. The parser
//! (markdown-it) is known to `parse`, `rules`, `footnote`, `mdx`, `cells`, `title`, `links`,
//! `link_rules` and `wikilink` alone.
//! Invariant: any bytes give an outline whose spans tile the file; what had to be bounded or could
//! not be read is told in diagnostics, and time and memory are linear in the file.

mod block;
mod cells;
mod fence;
mod footnote;
pub mod front_matter;
pub mod html_anchors;
mod link_rules;
pub mod links;
mod mdx;
pub mod outline;
mod parse;
mod prose;
mod rules;
pub mod slug;
pub mod tiling;
mod title;
pub mod typed_links;
mod wikilink;
pub mod words;

pub use fence::{Fence, fence_of};
pub use prose::shows_text;

use serde_json::{Map, Value};

use crate::limits;
use crate::position::{ByteSpan, LineIndex};
use html_anchors::HtmlAnchor;
use links::Links;
use outline::Outline;
use typed_links::TypedLink;

/// Something in a document that could not be taken as it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Stable code in capitals.
    pub code: &'static str,
    /// Line of the file, 1-based, where it is known.
    pub line: Option<usize>,
    /// What it is about.
    pub message: String,
}

/// A parsed document.
#[derive(Clone, Debug)]
pub struct Document {
    /// Its structure.
    pub outline: Outline,
    /// The keys and values of its front matter, where it has any that can be read.
    pub front_matter: Option<Map<String, Value>>,
    /// The links in its text.
    pub links: Links,
    /// The anchors that its HTML sets.
    pub html_anchors: Vec<HtmlAnchor>,
    /// The typed links of its front matter.
    pub typed_links: Vec<TypedLink>,
    /// Where no marker of LDMD is one, in order: front matter and the fenced code blocks, in containers
    /// too.
    pub opaque: Vec<ByteSpan>,
    /// What could not be taken as it stands.
    pub diagnostics: Vec<Diagnostic>,
    /// Whether the file holds bytes that are not UTF-8.
    pub is_lossy: bool,
    /// What it is written in.
    pub dialect: Dialect,
}

/// The byte order mark of UTF-8.
pub const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// Why bytes cannot be a Markdown document, or `None` where they can.
pub fn refusal(file: &[u8]) -> Option<&'static str> {
    if file.starts_with(b"\xFF\xFE") || file.starts_with(b"\xFE\xFF") {
        return Some("UTF-16");
    }
    file.contains(&0).then_some("binary (holds NUL bytes)")
}

#[cfg(test)]
thread_local! {
    /// How many bytes this thread has parsed.
    pub(crate) static PARSED_BYTES: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// What a file is written in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Dialect {
    /// Markdown.
    #[default]
    Markdown,
    /// Markdown with JSX, expressions, imports and exports.
    Mdx,
}

impl Dialect {
    /// That of the file at `path`, by its extension.
    pub fn of(path: &str) -> Self {
        let extension = path.rsplit_once('.').map_or("", |(_, extension)| extension);
        if extension.eq_ignore_ascii_case("mdx") { Self::Mdx } else { Self::Markdown }
    }
}

/// Parses the bytes of a Markdown file.
pub fn parse(file: &[u8]) -> Document {
    parse_as(file, Dialect::Markdown)
}

/// Parses the bytes of a file that is written in `dialect`.
pub fn parse_as(file: &[u8], dialect: Dialect) -> Document {
    #[cfg(test)]
    PARSED_BYTES.set(PARSED_BYTES.get() + file.len());
    let lines = LineIndex::new(file);
    let mut diagnostics = Vec::new();
    let start = if file.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len() } else { 0 };
    let front_matter = front_matter::detect(file, start);
    if let Some(fault) = front_matter.as_ref().and_then(|found| found.fault.as_ref()) {
        diagnostics.push(Diagnostic {
            code: "FRONT_MATTER_UNREADABLE",
            line: Some(lines.line_of(start)),
            message: format!("front matter is not read as data: {fault}"),
        });
    }
    let front_matter_span = front_matter.as_ref().map(|found| found.span);
    let body = front_matter_span.map_or(start, |span| span.end);
    let bytes = file.get(body..).unwrap_or_default();
    let valid = std::str::from_utf8(bytes);
    let is_lossy = valid.is_err() || std::str::from_utf8(file).is_err();
    let mut parsed = match valid {
        Ok(text) => parse::parse(text, body, file, &lines, dialect),
        Err(_) => parse::parse(&with_placeholders(bytes), body, file, &lines, dialect),
    };
    let mut bounded = |happened: bool, code, message: &dyn Fn() -> String| {
        if happened {
            diagnostics.push(Diagnostic { code, line: None, message: message() });
        }
    };
    bounded(parsed.too_many_nodes, "TOO_MANY_NODES", &|| {
        format!("more than {} nodes: the rest is one paragraph", limits::MAX_NODES)
    });
    bounded(parsed.too_deep, "NESTED_TOO_DEEPLY", &|| {
        format!(
            "more than {} containers inside each other: deeper ones are text",
            limits::MAX_NESTING
        )
    });
    bounded(parsed.too_many_lines, "TOO_MANY_LINES", &|| {
        format!(
            "more lines than {}, or in nested block quotes than {}: they are kept as plain text",
            limits::MAX_PARSED_LINES,
            limits::MAX_QUOTED_LINES
        )
    });
    bounded(parsed.title_was_cut, "TITLE_CUT", &|| {
        format!("a heading longer than {} bytes: its title is cut", limits::MAX_TITLE_BYTES)
    });
    let opaque = front_matter_span.into_iter().chain(parsed.fences).collect();
    bounded(parsed.links.too_many, "TOO_MANY_LINKS", &|| {
        format!(
            "more links than {}, brackets than {} or bytes of targets than {}: the rest is not read",
            limits::MAX_LINKS_PER_DOCUMENT,
            limits::MAX_LINK_BRACKETS,
            limits::MAX_LINK_BYTES
        )
    });
    if let Some(&line) = parsed.links.unread.first() {
        diagnostics.push(Diagnostic {
            code: "LINKS_UNREAD",
            line: Some(line),
            message: format!(
                "more than {} brackets are left open in {} texts: their links are not read",
                limits::MAX_LINK_NESTING,
                parsed.links.unread.len()
            ),
        });
    }
    let (typed_links, faults) = typed_links::read(front_matter.as_ref(), file, &lines);
    diagnostics.extend(faults);
    let mut outline = Outline::build(file, front_matter_span, body, parsed.list, &lines);
    if is_lossy {
        for section in &mut outline.sections {
            section.title = section.title.replace(PLACEHOLDER, "\u{FFFD}");
        }
        for link in &mut parsed.links.list {
            link.target = link.target.replace(PLACEHOLDER, "\u{FFFD}");
            link.text = link.text.replace(PLACEHOLDER, "\u{FFFD}");
        }
    }
    let html_anchors = html_anchors::find(file, &outline);
    if html_anchors.len() == limits::MAX_HTML_ANCHORS {
        diagnostics.push(Diagnostic {
            code: "TOO_MANY_ANCHORS",
            line: None,
            message: format!("more than {} anchors in HTML", limits::MAX_HTML_ANCHORS),
        });
    }
    Document {
        outline,
        front_matter: front_matter.and_then(|found| found.value),
        html_anchors,
        links: parsed.links,
        typed_links,
        opaque,
        diagnostics,
        is_lossy,
        dialect,
    }
}

/// What stands for a byte that is not UTF-8 while parsing: as long as it, and no Markdown.
const PLACEHOLDER: char = '\u{1A}';

/// The text that `bytes` are, byte for byte as long, so that offsets hold.
fn with_placeholders(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        text.extend(chunk.invalid().iter().map(|_| PLACEHOLDER));
    }
    text
}
