//! Where the targets of links are written in a file, and how to write others there.
//!
//! A link that refers to a definition has its target in the definition, which is listed instead. Invariant:
//! the text at a span is the target as it is written; a link whose target is not found has no span.

use std::borrow::Cow;

use memchr::memmem;

use crate::data::front_matter::text_scalar;
use crate::edit::plan::{Version, bracketed};
use crate::ldmd::Reference;
use crate::ldmd::marker::value_span;
use crate::links::{Kind, StoredLink};
use crate::markdown::front_matter::{Format, detect};
use crate::markdown::links::{Link, LinkKind, is_external, unescaped};
use crate::markdown::outline::{BlockType, NodeKind};
use crate::markdown::typed_links::{self, TypedLink};
use crate::position::{ByteSpan, LineIndex};

/// How a target is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// The destination of an inline link or a definition (`CommonMark`, section 6.3).
    Destination,
    /// The same between `<` and `>`.
    Angle,
    /// The name in a wikilink.
    Name,
    /// A value in double quotes of an LDMD marker.
    Attribute,
    /// A scalar in front matter in these quotes, if any.
    Scalar(Format, Option<char>),
    /// The name in a wikilink in front matter, in these quotes, if any.
    Value(Option<char>),
}

/// The target of a link in a file.
#[derive(Clone, Debug)]
pub(super) struct Occurrence {
    /// The link.
    pub(super) link: StoredLink,
    /// The bytes of the target; `None` if they were not found.
    pub(super) span: Option<ByteSpan>,
    pub(super) form: Form,
    /// The end of the target that is not in the span and stays as it is.
    kept: String,
    /// The bytes of the attribute `section` of a REF marker.
    section: Option<ByteSpan>,
    /// Whether it is in a table, where a pipe is escaped.
    pub(super) is_in_table: bool,
}

impl Occurrence {
    /// Returns what is written, and where, to make this link `new`; `None` if that is not known.
    pub(super) fn splices(&self, new: &StoredLink) -> Option<Vec<(ByteSpan, String)>> {
        let mut splices = Vec::new();
        if new.target != self.link.target {
            splices.push((self.span?, self.written(new.target.strip_suffix(&self.kept)?)));
        }
        if new.kind != self.link.kind {
            splices.push((self.section?, self.written(new.kind.ldmd_section()?)));
        }
        Some(splices)
    }

    /// Returns `target` as it is written in place of the old one.
    fn written(&self, target: &str) -> String {
        if let Form::Scalar(format, quote) = self.form {
            return text_scalar(target, format, quote);
        }
        if let Form::Value(Some(quote)) = self.form {
            return typed_links::escaped(target, quote);
        }
        let text = self.escaped(target, "&");
        let is_destination = matches!(self.form, Form::Destination | Form::Angle);
        // An ampersand needs an escape only if it would begin an entity.
        if is_destination && unescaped(&text) == unescaped(&self.escaped(target, "&amp;"))
            || self.form != Form::Attribute && !is_destination
        {
            return text;
        }
        self.escaped(target, "&amp;")
    }

    fn escaped(&self, target: &str, ampersand: &str) -> String {
        let mut text = String::with_capacity(target.len());
        for scalar in target.chars() {
            match (self.form, scalar) {
                (Form::Destination, ' ') => text.push_str("%20"),
                (Form::Destination | Form::Angle, '\\' | '<' | '>') => text.extend(['\\', scalar]),
                (Form::Attribute, '"') => text.push_str("&quot;"),
                (_, '&') => text.push_str(ampersand),
                (_, '|') if self.is_in_table => text.push_str("\\|"),
                _ => text.push(scalar),
            }
        }
        text
    }
}

/// Returns the links of a file whose targets are written in it: those in text, the definitions, the REF markers,
/// and the typed links, in this order.
pub(super) fn occurrences(version: &Version) -> Vec<Occurrence> {
    let file = version.bytes();
    let document = version.document();
    let outline = version.outline();
    let tables: Vec<ByteSpan> = outline
        .nodes
        .iter()
        .filter(|node| node.kind == NodeKind::Block(BlockType::Table))
        .map(|node| node.bytes)
        .collect();
    let is_in_table = |offset: usize| {
        let at = tables.partition_point(|table| table.end <= offset);
        tables.get(at).is_some_and(|table| table.start <= offset)
    };
    let lines = LineIndex::new(file);
    let inline = document.links.list.iter().filter_map(|link| {
        let text = file.get(link.offset..link.end)?;
        let (kind, (span, form)) = match link.kind {
            LinkKind::Wikilink => (Kind::Wikilink, (name(text), Form::Name)),
            LinkKind::Embed => (Kind::Embed, (name(text), Form::Name)),
            _ if !text.ends_with(b")") => return None,
            LinkKind::Markdown => (Kind::Markdown, inline(text, link)),
            LinkKind::Image => (Kind::Image, inline(text, link)),
        };
        let (span, kept) = span.and_then(|span| without_invalid(text, span, &link.target)).unzip();
        let kept = kept.unwrap_or_default();
        let span = span.map(|span| moved(span, link.offset));
        let is_in_table = is_in_table(link.offset);
        let link = StoredLink { kind, target: link.target.clone(), line: link.line };
        Some(Occurrence { link, span, form, kept, section: None, is_in_table })
    });
    let definitions = outline.nodes.iter().filter_map(|node| {
        let is_definition = node.kind == NodeKind::Block(BlockType::Definition);
        let text = is_definition.then(|| file.get(node.bytes.start..node.bytes.end))??;
        let (span, form) = definition(text)?;
        let target = target_at(text, span).into_owned();
        let line = lines.line_of(node.bytes.start);
        (!is_external(&target)).then(|| Occurrence {
            link: StoredLink { kind: Kind::Markdown, target, line },
            span: Some(moved(span, node.bytes.start)),
            form,
            kept: String::new(),
            section: None,
            is_in_table: false,
        })
    });
    let references = version.markup().references.iter().map(|reference| {
        let span = attribute(file, reference, "doc");
        let section = attribute(file, reference, "section");
        let kind = Kind::Ldmd(reference.section.clone());
        let link = StoredLink { kind, target: reference.document.clone(), line: reference.line };
        let (form, kept) = (Form::Attribute, String::new());
        Occurrence { link, span, form, kept, section, is_in_table: false }
    });
    let has_typed = !document.typed_links.is_empty();
    let front_matter = has_typed.then(|| detect(file, version.floor())).flatten();
    let format = front_matter.map_or(Format::Yaml, |found| found.format);
    let typed = document.typed_links.iter().map(|typed| {
        let (span, form) = value(file, typed, format).unzip();
        let kind = Kind::Typed(typed.kind_name.clone());
        let link = StoredLink { kind, target: typed.target.clone(), line: typed.line };
        let form = form.unwrap_or(Form::Value(None));
        Occurrence { link, span, form, kept: String::new(), section: None, is_in_table: false }
    });
    inline.chain(definitions).chain(references).chain(typed).collect()
}

/// Returns the bytes of a target that can be written again, and the part of `target` after them: the fragment if only it
/// has bytes that are not UTF-8, which would be lost.
fn without_invalid(text: &[u8], span: ByteSpan, target: &str) -> Option<(ByteSpan, String)> {
    let raw = span.of(text);
    if std::str::from_utf8(raw).is_ok() {
        return Some((span, String::new()));
    }
    let (name, fragment) = target.split_at(target.find('#')?);
    let end = memchr::memchr(b'#', raw)?;
    let name_span = ByteSpan::new(span.start, span.start + end);
    let is_name = std::str::from_utf8(name_span.of(text)).is_ok_and(|raw| unescaped(raw) == name);
    is_name.then(|| (name_span, fragment.to_owned()))
}

fn moved(span: ByteSpan, offset: usize) -> ByteSpan {
    ByteSpan::new(offset + span.start, offset + span.end)
}

fn target_at(text: &[u8], span: ByteSpan) -> Cow<'_, str> {
    match String::from_utf8_lossy(span.of(text)) {
        Cow::Borrowed(text) => unescaped(text),
        Cow::Owned(text) => Cow::Owned(unescaped(&text).into_owned()),
    }
}

/// Returns the target in the wikilink `text`, without blanks.
fn name(text: &[u8]) -> Option<ByteSpan> {
    let start = memmem::find(text, b"[[")? + 2;
    let inside = text.get(start..text.len().checked_sub(2)?)?;
    let end = memchr::memchr(b'|', inside).unwrap_or(inside.len());
    let mut name = inside.get(..end)?;
    if end < inside.len() {
        name = name.strip_suffix(b"\\").unwrap_or(name);
    }
    let blanks = name.len() - name.trim_ascii_start().len();
    Some(ByteSpan::new(start + blanks, start + name.trim_ascii_end().len()))
}

/// Returns the destination in the inline link or image `text`: the last one that ends with the text.
fn inline(text: &[u8], link: &Link) -> (Option<ByteSpan>, Form) {
    let found = memmem::rfind_iter(text, b"](").find_map(|at| {
        let (span, form) = destination(text, blanks(text, at + 2))?;
        let after = title(text, blanks(text, form.end_of(span)));
        (after == Some(text.len() - 1) && target_at(text, span) == link.target.as_str())
            .then_some((span, form))
    });
    found.map_or((None, Form::Destination), |(span, form)| (Some(span), form))
}

impl Form {
    /// Returns the offset after a destination, with its bracket.
    fn end_of(self, span: ByteSpan) -> usize {
        span.end + usize::from(self == Self::Angle)
    }
}

/// Returns the destination of the definition `text`.
fn definition(text: &[u8]) -> Option<(ByteSpan, Form)> {
    let open = memchr::memchr(b'[', text)?;
    let (_, rest) = bracketed(text.get(open..)?)?;
    rest.starts_with(b":").then_some(())?;
    destination(text, blanks(text, text.len() - rest.len() + 1))
}

/// Returns the destination at `start`, without brackets.
fn destination(text: &[u8], start: usize) -> Option<(ByteSpan, Form)> {
    let mut at = start;
    if text.get(at) == Some(&b'<') {
        loop {
            at += 1;
            match text.get(at)? {
                b'\\' => at += 1,
                b'\n' | b'\r' | b'<' => return None,
                b'>' => return Some((ByteSpan::new(start + 1, at), Form::Angle)),
                _ => {}
            }
        }
    }
    let mut depth = 0_usize;
    while let Some(byte) = text.get(at) {
        match byte {
            b'\\' if text.get(at + 1).is_some_and(u8::is_ascii_punctuation) => at += 1,
            b'(' => depth += 1,
            b')' if depth == 0 => break,
            b')' => depth -= 1,
            byte if byte.is_ascii_whitespace() || byte.is_ascii_control() => break,
            _ => {}
        }
        at += 1;
    }
    Some((ByteSpan::new(start, at), Form::Destination))
}

/// Returns the offset after the title at `start` and the blanks after it; `start` if there is none.
fn title(text: &[u8], start: usize) -> Option<usize> {
    let close = match text.get(start) {
        Some(b'"') => b'"',
        Some(b'\'') => b'\'',
        Some(b'(') => b')',
        _ => return Some(start),
    };
    let mut at = start + 1;
    while *text.get(at)? != close {
        at += if text.get(at) == Some(&b'\\') { 2 } else { 1 };
    }
    Some(blanks(text, at + 1))
}

/// Returns the offset after the blanks at `start`, with a line end and the marks of block quotes after it.
fn blanks(text: &[u8], start: usize) -> usize {
    let mut at = start;
    let mut is_new_line = false;
    while let Some(byte) = text.get(at) {
        match byte {
            b' ' | b'\t' => {}
            b'\n' | b'\r' => is_new_line = true,
            b'>' if is_new_line => {}
            _ => break,
        }
        at += 1;
    }
    at
}

/// Returns the value of an attribute of a REF marker.
fn attribute(file: &[u8], reference: &Reference, name: &str) -> Option<ByteSpan> {
    let line = str::from_utf8(reference.span.of(file)).ok()?;
    let value = value_span(line.trim_ascii_start(), name)?;
    let start = reference.span.end - line.trim_ascii_start().len();
    Some(ByteSpan::new(start + value.start, start + value.end))
}

/// Returns the target of a typed link; `None` if an alias stands for it.
fn value(file: &[u8], typed: &TypedLink, format: Format) -> Option<(ByteSpan, Form)> {
    let whole = typed.span?;
    let text = std::str::from_utf8(whole.of(file)).ok()?;
    let quote = text.chars().next().filter(|first| matches!(first, '"' | '\''));
    let inside = quote.map_or(text, |quote| text.trim_matches(quote)).trim();
    if let Some(inside) = inside.strip_prefix("[[") {
        let name = inside.split('|').next()?.trim_end_matches(']').trim();
        let start = whole.start + text.find(name)?;
        return Some((ByteSpan::new(start, start + name.len()), Form::Value(quote)));
    }
    let written = ByteSpan::new(whole.start, whole.start + text.trim_end().len());
    let is_known = quote.is_some() || text.trim_end() == typed.target;
    is_known.then_some((written, Form::Scalar(format, quote)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the targets as they are written, with their forms.
    fn written(text: &str) -> Vec<(String, Form)> {
        let version = Version::read(text.as_bytes().to_vec());
        let found = occurrences(&version).into_iter();
        found
            .map(|found| {
                let span = found.span.unwrap_or_default();
                (text[span.start..span.end].to_owned(), found.form)
            })
            .collect()
    }

    #[test]
    fn targets_are_found_where_they_are_written() {
        let scalar = |quote| Form::Scalar(Format::Yaml, quote);
        for (text, expected) in [
            ("[a](b.md)", vec![("b.md", Form::Destination)]),
            ("![a]( <b c.md> \"t](x\" )", vec![("b c.md", Form::Angle)]),
            ("[a](b\\_c(d).md 'x')", vec![("b\\_c(d).md", Form::Destination)]),
            ("> [a\n> b](\n> c.md\n> \"t\")", vec![("c.md", Form::Destination)]),
            (
                "[![i](i.png)](a.md)",
                vec![("a.md", Form::Destination), ("i.png", Form::Destination)],
            ),
            ("[`](`](a.md)", vec![("a.md", Form::Destination)]),
            ("[[ a b | c ]] ![[d]]", vec![("a b", Form::Name), ("d", Form::Name)]),
            ("| a |\n|---|\n| [[b\\|c]] |", vec![("b", Form::Name)]),
            ("[x] [y][x]\n\n[x]: <c d.md> 't'", vec![("c d.md", Form::Angle)]),
            ("> [x]\n>\n> [x]:\n>   c.md", vec![("c.md", Form::Destination)]),
            ("[x]: http://a\n\n[x]", vec![]),
            ("<!--LDMD:REF section=\"s\" doc=\"a.md\"-->\n", vec![("a.md", Form::Attribute)]),
            (
                "---\nlinks: [one, 'two words', one]\n---\n",
                vec![
                    ("one", scalar(None)),
                    ("'two words'", scalar(Some('\''))),
                    ("one", scalar(None)),
                ],
            ),
            (
                "---\nlinks: [&x one, !!str 'two', *x]\n---\n",
                vec![("one", scalar(None)), ("'two'", scalar(Some('\''))), ("", Form::Value(None))],
            ),
            ("---\nlinks: ['[[one|1]]']\n---\n", vec![("one", Form::Value(Some('\'')))]),
        ] {
            let expected: Vec<_> =
                expected.into_iter().map(|(text, form)| (text.to_owned(), form)).collect();
            assert_eq!(written(text), expected, "{text}");
        }
    }

    #[test]
    fn a_new_target_is_escaped() {
        let form = |form, is_in_table| Occurrence {
            link: StoredLink { kind: Kind::Markdown, target: String::new(), line: 1 },
            span: None,
            form,
            kept: String::new(),
            section: None,
            is_in_table,
        };
        assert_eq!(form(Form::Destination, false).written("a b&\\c"), "a%20b&\\\\c");
        assert_eq!(form(Form::Destination, false).written("a&copy;"), "a&amp;copy;");
        assert_eq!(form(Form::Angle, false).written("a b>"), "a b\\>");
        assert_eq!(form(Form::Attribute, false).written("a\"&"), "a&quot;&amp;");
        assert_eq!(form(Form::Name, true).written("a|b"), "a\\|b");
        let scalar = |quote| Form::Scalar(Format::Yaml, quote);
        for (quote, target, written) in [
            (None, "a b.md", "a b.md"),
            (None, "010", "\"010\""),
            (None, "yes", "\"yes\""),
            (None, "2026-01-31", "\"2026-01-31\""),
            (None, "a, b", "\"a, b\""),
            (None, "?x.md", "\"?x.md\""),
            (Some('\''), "it's", "'it''s'"),
            (Some('"'), "q\"q", "\"q\\\"q\""),
        ] {
            assert_eq!(form(scalar(quote), false).written(target), written);
        }
    }
}
