//! The parts of a heading that are not its text: attributes, anchors, comments and footnote references at its ends, and
//! links in it.
//!
//! Invariant: a heading consists of the parts before its text, the text, and those after it, byte for byte.

use std::sync::OnceLock;

use regex::Regex;

use crate::edit::plan::{Version, has_footnote, references_in_text};
use crate::markdown::outline::split_attributes;
use crate::position::ByteSpan;

/// Matches an element without content, or a comment of HTML or MDX.
const EMPTY_HTML: &str = r"(?:<a(?:\s[^<>]*)?>\s*</a>|<span(?:\s[^<>]*)?>\s*</span>|<a\s[^<>]*/>|<!--(?:[^-]|-[^-])*-->|\{/\*[^*]*\*/\})";

/// Matches a tag with an attribute, or a comment.
const HTML: &str = r"(?i)<[a-z][^<>]*=[^<>]*>|<!--(?:[^-]|-[^-])*-->";

/// Matches a code span of one or two backticks.
const CODE: &str = r"``[^`]*``|`[^`]*`";

/// The regular expressions for headings.
struct Patterns {
    first: Regex,
    last: Regex,
    footnote: Regex,
    html: Regex,
    code: Regex,
    tag: Regex,
}

fn patterns() -> Option<&'static Patterns> {
    static PATTERNS: OnceLock<Option<Patterns>> = OnceLock::new();
    let make = || {
        Some(Patterns {
            first: Regex::new(&format!(r"(?i)^{EMPTY_HTML}\s*")).ok()?,
            last: Regex::new(&format!(r"(?i)\s*{EMPTY_HTML}$")).ok()?,
            footnote: Regex::new(r"\s*\[(\^[^\[\]\s]+)\]$").ok()?,
            html: Regex::new(HTML).ok()?,
            code: Regex::new(CODE).ok()?,
            tag: Regex::new("<[^<>]*>").ok()?,
        })
    };
    PATTERNS.get_or_init(make).as_ref()
}

/// The text of a heading, and what stands before and after it, with the blanks between them.
pub(super) struct Parts<'a> {
    before: Vec<&'a str>,
    /// The text.
    pub(super) text: &'a str,
    after: Vec<&'a str>,
}

/// What stays before and after a new title.
pub(super) struct Around {
    before: String,
    after: String,
}

impl<'a> Parts<'a> {
    /// Returns the parts of the heading `written` of a document.
    pub(super) fn of(written: &'a str, version: &Version) -> Self {
        let (mut before, mut text, mut after) = (Vec::new(), written, Vec::new());
        let Some(patterns) = patterns() else { return Self { before, text, after } };
        while let Some(found) = patterns.first.find(text) {
            let (part, rest) = text.split_at(found.end());
            before.push(part);
            text = rest;
        }
        while let Some(at) = end_of_text(text, patterns, version) {
            let (rest, part) = text.split_at(at);
            after.push(part);
            text = rest;
        }
        after.reverse();
        Self { before, text, after }
    }

    /// Returns the rendered title of the text, for the rendered `title` of the whole heading.
    pub(super) fn title<'b>(&self, title: &'b str) -> &'b str {
        let after = shown(&self.after.concat());
        title.strip_suffix(after.trim_end()).unwrap_or(title).trim()
    }

    /// Returns the parts that stay around a new title: those that it does not have itself.
    pub(super) fn around(&self, title: &str) -> Around {
        let has_attributes = split_attributes(title).is_some();
        let stays = |part: &&&str| {
            let is_doubled = has_attributes && split_attributes(part).is_some();
            !is_doubled && !title.contains(part.trim())
        };
        let kept = |parts: &[&str]| parts.iter().filter(stays).copied().collect();
        Around { before: kept(&self.before), after: kept(&self.after) }
    }
}

impl Around {
    /// Returns a heading with the text `written`.
    pub(super) fn text(&self, written: &str) -> String {
        format!("{}{written}{}", self.before, self.after)
    }

    /// Returns the rendered title of a heading whose text is rendered as `title`.
    pub(super) fn title(&self, title: &str) -> String {
        format!("{title}{}", shown(&self.after)).trim_end().to_owned()
    }
}

/// Returns where the last part of a heading begins that is no text.
fn end_of_text(text: &str, patterns: &Patterns, version: &Version) -> Option<usize> {
    let found = patterns.last.find(text).map(|found| found.start());
    let footnote = || {
        let found = patterns.footnote.captures(text)?;
        let (whole, label) = (found.get(0)?, found.get(1)?);
        let is_escaped = text.get(..label.start() - 1).is_some_and(|text| text.ends_with('\\'));
        (!is_escaped && has_footnote(version, label.as_str())).then_some(whole.start())
    };
    let attributes = || split_attributes(text).map(|(before, _)| before.len());
    found.or_else(footnote).or_else(attributes)
}

/// Returns the rendered text of parts after a title.
fn shown(parts: &str) -> String {
    patterns().map_or_else(String::new, |known| known.tag.replace_all(parts, "").into_owned())
}

/// Returns the title with the links of the heading at `heading` around their texts; `None` if it lacks one of them, or
/// may have links itself.
pub(super) fn with_links(version: &Version, heading: ByteSpan, title: &str) -> Option<String> {
    let links = links(version, heading);
    if links.is_empty() || title.contains('[') {
        return None;
    }
    let mut text = String::new();
    let mut rest = title;
    for link in links {
        let label = label(&link)?.replace(['`', '*'], "");
        let at = rest.find(&label).filter(|_| !label.is_empty())?;
        text.push_str(rest.get(..at)?);
        text.push_str(&link);
        rest = rest.get(at + label.len()..)?;
    }
    Some(text + rest)
}

/// Returns the text of a link or image, as it is written.
fn label(link: &str) -> Option<&str> {
    if let Some(inside) = link.trim_start_matches('!').strip_prefix("[[") {
        let inside = inside.strip_suffix("]]")?;
        return inside.rsplit('|').next();
    }
    let inside = link.trim_start_matches('!').strip_prefix('[')?;
    inside.find(']').and_then(|end| inside.get(..end))
}

fn source(version: &Version, span: ByteSpan) -> String {
    String::from_utf8_lossy(span.of(version.bytes())).into_owned()
}

/// Returns the links in `span` that are in no other link, as they are written, in order.
pub(super) fn links(version: &Version, span: ByteSpan) -> Vec<String> {
    let links = &version.document().links;
    let local = links.list.iter().map(|link| ByteSpan::new(link.offset, link.end));
    let external = links.external.iter().map(|link| ByteSpan::new(link.offset, link.end));
    let mut spans: Vec<ByteSpan> =
        local.chain(external).filter(|link| span.contains(*link)).collect();
    spans.sort_by_key(|span| (span.start, span.end));
    let mut end = 0;
    spans.retain(|span| {
        let is_apart = span.start >= end;
        end = end.max(span.end);
        is_apart
    });
    spans.into_iter().map(|span| source(version, span)).collect()
}

/// Returns what the heading at `at` of `old` has besides text, and the heading of `new`, which has as many bytes after it
/// on its line and below as `old`, has not: links, images, footnote references, tags with attributes, and comments.
pub(super) fn lost(old: &Version, at: ByteSpan, new: &Version, rest: usize) -> Vec<String> {
    let end = new.bytes().len().saturating_sub(rest);
    let mut now = besides_text(new, ByteSpan::new(at.start, end));
    let mut lost = Vec::new();
    for (what, written) in besides_text(old, at) {
        match now.iter().position(|(other, _)| *other == what) {
            Some(found) => drop(now.swap_remove(found)),
            None => lost.push(written),
        }
    }
    lost
}

/// Returns what the heading at `span` has besides text: what it is, and how it is written.
fn besides_text(version: &Version, span: ByteSpan) -> Vec<(String, String)> {
    let links = &version.document().links;
    let local = links.list.iter().map(|link| (link.offset, link.end, link.kind, &link.target));
    let external =
        links.external.iter().map(|link| (link.offset, link.end, link.kind, &link.target));
    let links =
        local.chain(external).filter(|(start, ..)| span.start <= *start && *start < span.end);
    let links = links.map(|(start, end, kind, target)| {
        (format!("{kind:?} {target}"), source(version, ByteSpan::new(start, end)))
    });
    let references = references_in_text(version.bytes(), span).into_iter();
    let references = references.map(|label| source(version, label));
    let references = references.filter(|label| has_footnote(version, label));
    let references = references.map(|label| (label.clone(), format!("[{label}]")));
    let mut all: Vec<(String, String)> = links.chain(references).collect();
    if let Some(patterns) = patterns() {
        let text = source(version, span);
        let text = patterns.code.replace_all(&text, "");
        let tags = patterns.html.find_iter(&text).map(|tag| tag.as_str().to_owned());
        all.extend(tags.map(|tag| (tag.clone(), tag)));
    }
    all
}
