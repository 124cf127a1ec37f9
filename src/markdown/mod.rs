//! Markdown: parses the bytes of a file into its outline. Pure: no store and no file system.
//!
//! [`parse()`] is the entry point and [`outline`] its result. [`words`] counts words and pages,
//! [`mod@slug`] makes anchors, [`links`] and [`typed_links`] list links, and [`tiling`] checks a
//! stored outline. Only `parse`, `rules`, `quote`, `html_block`, `footnote`, `mdx`, `cells`, `title`, `links`,
//! `link_rules`, `link_scan`, `wikilink` and `html_anchors` use the parser, markdown-it. Invariants: any
//! bytes give an outline whose spans tile the file; a diagnostic reports everything that exceeded a
//! bound or could not be parsed; time and memory are linear in the size of the file.

mod block;
pub(crate) mod cells;
pub(crate) mod code_spans;
mod containers;
pub mod contents;
mod flow_lines;
mod footnote;
pub mod front_matter;
pub mod html_anchors;
mod html_block;
mod link_rules;
mod link_scan;
pub mod links;
mod mdx;
pub mod outline;
mod parse;
mod prose;
mod quote;
mod rules;
pub mod slug;
pub mod tiling;
mod title;
pub mod typed_links;
mod wikilink;
pub mod words;
mod written_value;
pub(crate) mod yaml_source;
mod yaml_tabs;

pub use prose::shows_text;

use serde_json::{Map, Value};

use crate::count::counted;
use crate::decoding::same_length_text;
use crate::limits;
use crate::position::{ByteSpan, LineIndex};
use contents::Contents;
use front_matter::FrontMatter;
use html_anchors::HtmlAnchor;
use links::Links;
use outline::Outline;
use typed_links::TypedLink;
pub(crate) use written_value::scalars_of;

/// A problem in a document: a part that could not be parsed or stored as it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Stable code in capitals.
    pub code: &'static str,
    /// Line of the file, 1-based, if known.
    pub line: Option<usize>,
    /// A description of the problem.
    pub message: String,
}

/// A parsed document.
#[derive(Clone, Debug)]
pub struct Document {
    /// Its structure.
    pub outline: Outline,
    /// Keys and values of its front matter, if it can be parsed.
    pub front_matter: Option<Map<String, Value>>,
    /// The links in its text.
    pub links: Links,
    /// The anchors in its HTML.
    pub html_anchors: Vec<HtmlAnchor>,
    /// The typed links of its front matter.
    pub typed_links: Vec<TypedLink>,
    /// Its code blocks, tables and task items.
    pub contents: Contents,
    /// The spans in which LDMD markers are not recognized, in order: front matter and fenced code
    /// blocks, including those in containers.
    pub opaque: Vec<ByteSpan>,
    /// The line, 1-based, of the first tag, brace, template or comment of MDX that is never closed.
    pub unclosed_line: Option<usize>,
    /// The problems in the document.
    pub diagnostics: Vec<Diagnostic>,
    /// Whether the file contains bytes that are not UTF-8.
    pub is_lossy: bool,
    /// The dialect in which it was parsed.
    pub dialect: Dialect,
}

/// The byte order mark of UTF-8.
pub const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// Returns the offset at which the text of a file begins: the length of its byte order mark, or 0.
pub fn text_start(file: &[u8]) -> usize {
    if file.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len() } else { 0 }
}

/// Returns the reason why bytes cannot be a Markdown document, if any.
pub fn refusal(file: &[u8]) -> Option<&'static str> {
    if file.starts_with(b"\xFF\xFE") || file.starts_with(b"\xFE\xFF") {
        return Some("UTF-16");
    }
    file.contains(&0).then_some("binary (contains NUL bytes)")
}

#[cfg(test)]
thread_local! {
    /// The number of bytes that this thread has parsed.
    pub(crate) static PARSED_BYTES: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// The syntax of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Dialect {
    /// Markdown.
    #[default]
    Markdown,
    /// Markdown with JSX, expressions, imports and exports.
    Mdx,
}

impl Dialect {
    /// Returns the dialect of the file at `path`, by its extension.
    pub fn of(path: &str) -> Self {
        let extension = path.rsplit_once('.').map_or("", |(_, extension)| extension);
        if extension.eq_ignore_ascii_case("mdx") { Self::Mdx } else { Self::Markdown }
    }
}

/// Parses the bytes of a Markdown file.
pub fn parse(file: &[u8]) -> Document {
    parse_as(file, Dialect::Markdown)
}

/// Returns a diagnostic for each bound that a document met while it was parsed.
fn bounds_met(parsed: &parse::Blocks) -> Vec<Diagnostic> {
    let mut diagnostics = Vec::new();
    let mut bounded = |happened: bool, code, message: &dyn Fn() -> String| {
        if happened {
            diagnostics.push(Diagnostic { code, line: None, message: message() });
        }
    };
    bounded(parsed.too_many_nodes, TOO_MANY_NODES, &|| {
        format!("more than {} nodes; the rest is one paragraph", limits::MAX_NODES)
    });
    bounded(parsed.too_deep, "NESTED_TOO_DEEPLY", &|| {
        format!("more than {} nested containers; deeper ones are text", limits::MAX_NESTING)
    });
    bounded(parsed.too_many_lines, TOO_MANY_LINES, &|| {
        format!(
            "more than {} lines, or more than {} in nested block quotes; they are plain text",
            limits::MAX_PARSED_LINES,
            limits::MAX_QUOTED_LINES
        )
    });
    bounded(parsed.title_was_cut, "TITLE_CUT", &|| {
        format!("a heading is longer than {} bytes; its title is cut", limits::MAX_TITLE_BYTES)
    });
    let (most, most_of_task) = (limits::MAX_CELL_BYTES, limits::MAX_FIELD_BYTES);
    bounded(parsed.cell_was_cut, CELL_CUT, &|| {
        format!("a table cell is longer than {most} bytes; its visible text is cut")
    });
    let is_cut = parsed.contents.tasks.iter().any(|task| task.text.len() > most_of_task);
    bounded(is_cut, FIELDS_CUT, &|| {
        format!("a task is longer than {most_of_task} bytes; the rest is not searched for fields")
    });
    bounded(parsed.links.too_many, "TOO_MANY_LINKS", &|| {
        format!(
            "more than {} links, {} brackets or {} bytes of targets; the rest is not read",
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
                "more than {} brackets are open at once in {}; their links are not read",
                limits::MAX_LINK_NESTING,
                counted(parsed.links.unread.len(), "text")
            ),
        });
    }
    diagnostics
}

/// Returns the diagnostic that the file is not UTF-8 at `line`.
fn not_utf8(line: usize) -> Diagnostic {
    let message = "not UTF-8; words with such bytes are not found".to_owned();
    Diagnostic { code: "NOT_UTF8", line: Some(line), message }
}

/// Returns the problems of front matter that begins at `line`.
fn front_matter_problems(found: &FrontMatter, line: usize) -> Vec<Diagnostic> {
    let fault = found.fault.as_ref().map(|fault| {
        ("FRONT_MATTER_UNREADABLE", format!("front matter could not be parsed: {fault}"))
    });
    let is_cut = |is_cut: fn(&Map<String, Value>) -> bool| found.value.as_ref().is_some_and(is_cut);
    let tags = is_cut(front_matter::has_more_tags).then(|| {
        ("TOO_MANY_TAGS", format!("more than {} tags; the rest is ignored", limits::MAX_TAGS))
    });
    let aliases = is_cut(front_matter::has_more_aliases).then(|| {
        let message = format!("more than {} aliases; the rest is ignored", limits::MAX_ALIASES);
        ("TOO_MANY_ALIASES", message)
    });
    let problems = fault.into_iter().chain(tags).chain(aliases);
    problems.map(|(code, message)| Diagnostic { code, line: Some(line), message }).collect()
}

/// The code of the diagnostic about a document whose last nodes are one paragraph.
pub(crate) const TOO_MANY_NODES: &str = "TOO_MANY_NODES";

/// The code of the diagnostic about a document whose last lines are plain text.
pub(crate) const TOO_MANY_LINES: &str = "TOO_MANY_LINES";

/// The code of the diagnostic and of the warning about a table cell whose visible text is cut.
pub(crate) const CELL_CUT: &str = "CELL_CUT";

/// The code of the diagnostic and of the warning about a task of which a part is not searched for fields.
pub(crate) const FIELDS_CUT: &str = "FIELDS_CUT";

/// Parses the bytes of a file that is written in `dialect`.
pub fn parse_as(file: &[u8], dialect: Dialect) -> Document {
    #[cfg(test)]
    PARSED_BYTES.set(PARSED_BYTES.get() + file.len());
    let lines = LineIndex::new(file);
    let start = text_start(file);
    let front_matter = front_matter::detect(file, start);
    let first_line = lines.line_of(start);
    let mut diagnostics: Vec<Diagnostic> =
        front_matter.iter().flat_map(|found| front_matter_problems(found, first_line)).collect();
    let front_matter_span = front_matter.as_ref().map(|found| found.span);
    let body = front_matter_span.map_or(start, |span| span.end);
    let bytes = file.get(body..).unwrap_or_default();
    let invalid = std::str::from_utf8(file).err().map(|error| error.valid_up_to());
    let is_lossy = invalid.is_some();
    diagnostics.extend(invalid.map(|offset| not_utf8(lines.line_of(offset))));
    let text = same_length_text(bytes, PLACEHOLDER);
    let mut parsed = parse::parse(&text, body, file, &lines, dialect);
    diagnostics.extend(bounds_met(&parsed));
    let opaque: Vec<ByteSpan> = front_matter_span.into_iter().chain(parsed.fences).collect();
    let (typed_links, faults) = typed_links::read(front_matter.as_ref(), file, &lines);
    diagnostics.extend(faults);
    let mut outline = Outline::build(file, front_matter_span, body, parsed.list, &lines);
    if is_lossy {
        for section in &mut outline.sections {
            section.set_title(section.title.replace(PLACEHOLDER, "\u{FFFD}"));
        }
        parsed.contents.change_texts(|text| text.replace(PLACEHOLDER, "\u{FFFD}"));
    }
    let mut html_anchors = html_anchors::find(file, &outline, &opaque);
    if html_anchors.len() > limits::MAX_HTML_ANCHORS {
        html_anchors.truncate(limits::MAX_HTML_ANCHORS);
        diagnostics.push(Diagnostic {
            code: "TOO_MANY_ANCHORS",
            line: None,
            message: format!(
                "more than {} anchors in HTML; the rest is ignored",
                limits::MAX_HTML_ANCHORS
            ),
        });
    }
    Document {
        outline,
        front_matter: front_matter.and_then(|found| found.value),
        html_anchors,
        links: parsed.links,
        typed_links,
        contents: parsed.contents,
        opaque,
        unclosed_line: parsed.unclosed.map(|line| lines.line_of(body) + line),
        diagnostics,
        is_lossy,
        dialect,
    }
}

/// Replaces each byte that is not UTF-8 during parsing. It is one byte long and has no meaning in
/// Markdown.
const PLACEHOLDER: char = '\u{1A}';
