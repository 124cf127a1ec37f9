//! Entries of HTML and JSX: the elements and objects of a block, which a passage shows as a whole if they are short.
//!
//! Indentation shows what is within an entry, in the markup of any language. Rows and terms that are not indented are
//! known by their tags. Invariant: the parts of a block are in order, begin and end with lines, and have all its lines
//! that are not blank.

use super::piece::exceeds;
use crate::position::{ByteSpan, next_line_start};

/// Length in Unicode scalars of the longest entry that is one part.
const ENTRY_CHARS: usize = 400;
/// Length in Unicode scalars up to which lines that follow each other are one part.
const LINES_CHARS: usize = 120;
/// Length in Unicode scalars of the longest head of an entry.
const HEAD_CHARS: usize = 180;
/// Length in bytes of the longest term.
const TERM_BYTES: usize = 160;
/// The number of keys before a value that are read.
const MAX_KEYS: usize = 8;
/// Length in bytes of the longest tag.
const MAX_TAG_BYTES: usize = 500;
/// Length in bytes of the longest block that opens an element for the blocks after it.
const MAX_OPENING_BYTES: usize = 4000;
/// The number of entries within each other that are cut.
const MAX_DEPTH: usize = 24;
/// The tags of rows and of what begins like a row.
const ROWS: [&str; 4] = ["tr", "dt", "li", "summary"];
/// The tags of what consists of rows.
const GROUPS: [&str; 9] =
    ["table", "thead", "tbody", "tfoot", "dl", "ul", "ol", "colgroup", "details"];
/// Attributes whose values are not shown.
const HIDDEN_ATTRIBUTES: [&str; 8] =
    ["class", "className", "style", "src", "href", "icon", "width", "key"];

/// Some lines of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct HtmlPart {
    pub(super) span: ByteSpan,
    /// The byte offset of the part that begins the innermost entry around this one, if that says what the entry is.
    pub(super) head: Option<usize>,
    /// What the entry that begins with it describes, if that is said; see [`term`].
    pub(super) term: Option<ByteSpan>,
}

/// A line of a block.
#[derive(Clone, Copy, Debug)]
struct Line {
    span: ByteSpan,
    /// How deep the line is: the number of blanks before it, or the level of its tag.
    depth: usize,
    is_blank: bool,
    /// Whether it begins with what ends an entry: a closing tag or bracket.
    ends_entry: bool,
}

/// Whether a block begins with what a reader never sees: a comment, a declaration or an instruction.
pub(super) fn is_hidden(block: &[u8]) -> bool {
    let block = block.trim_ascii_start();
    [&b"<!"[..], b"<?", b"{/*"].iter().any(|start| block.starts_with(start))
}

/// Returns the parts of a block; `None` if neither indentation nor tags show any entries.
pub(super) fn parts(bytes: &[u8], block: ByteSpan) -> Option<Vec<HtmlPart>> {
    if is_hidden(block.of(bytes)) {
        return None;
    }
    let mut lines: Vec<Line> = Vec::new();
    let mut at = block.start;
    while at < block.end {
        let end = next_line_start(bytes, at).min(block.end);
        lines.push(Line::of(bytes, ByteSpan::new(at, end)));
        at = end;
    }
    let first = lines.first().map_or(0, |line| line.depth);
    if !lines.iter().any(|line| !line.is_blank && line.depth > first) {
        let rows = lines.iter().filter(|line| is_tag_of(line.span.of(bytes), &ROWS)).count();
        if rows == 0 {
            return None;
        }
        for line in &mut lines {
            line.depth = line.level_of_tag(bytes);
        }
    }
    let mut cutter = EntryCutter { bytes, parts: Vec::new(), opening: None };
    cutter.entries(&lines, None, 0);
    Some(cutter.finish())
}

impl Line {
    fn of(bytes: &[u8], span: ByteSpan) -> Self {
        let line = span.of(bytes);
        let content = line.trim_ascii_start();
        // A description is within what the term before it begins.
        let depth = line.len() - content.len() + usize::from(is_tag_of(content, &["dd"]));
        let ends_entry = content.starts_with(b"</")
            || content.starts_with(b"/>")
            || matches!(content.first(), Some(b'}' | b']' | b')' | b'>'));
        Self { span, depth, is_blank: content.is_empty(), ends_entry }
    }

    /// Returns how deep the tag at the beginning of the line is: 0 for what consists of rows, 1 for rows, 2 for all
    /// else.
    fn level_of_tag(&self, bytes: &[u8]) -> usize {
        let line = self.span.of(bytes);
        match line {
            _ if is_tag_of(line, &GROUPS) => 0,
            _ if is_tag_of(line, &ROWS) => 1,
            _ => 2,
        }
    }

    /// Whether a row, a term or an object begins with the line.
    fn begins_row(&self, bytes: &[u8]) -> bool {
        let content = self.span.of(bytes).trim_ascii();
        !self.ends_entry && (content == b"{" || is_tag_of(content, &["tr", "dt"]))
    }

    /// Whether the line begins with an opening tag or bracket.
    fn begins_entry(&self, bytes: &[u8]) -> bool {
        let content = self.span.of(bytes).trim_ascii_start();
        !self.ends_entry && matches!(content.first(), Some(b'<' | b'{'))
    }
}

/// Whether a line begins with an opening or closing tag of one of `names`.
fn is_tag_of(line: &[u8], names: &[&str]) -> bool {
    let name = tag_name(line.trim_ascii_start());
    name.is_some_and(|name| names.iter().any(|known| name.eq_ignore_ascii_case(known.as_bytes())))
}

/// Returns the name of the opening or closing tag with which a text begins.
fn tag_name(text: &[u8]) -> Option<&[u8]> {
    let rest = text.strip_prefix(b"<")?;
    let rest = rest.strip_prefix(b"/").unwrap_or(rest);
    let is_of_name =
        |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b':');
    let length = rest.iter().take_while(is_of_name).count();
    rest.get(..length).filter(|name| name.first().is_some_and(u8::is_ascii_alphabetic))
}

struct EntryCutter<'a> {
    bytes: &'a [u8],
    parts: Vec<HtmlPart>,
    /// Lines that only open something. They belong to the part that follows them.
    opening: Option<ByteSpan>,
}

impl EntryCutter<'_> {
    /// Adds the parts of entries that are at one depth or less deep than the first. `head` is that of the entry around
    /// them, and `depth` the number of entries around them.
    fn entries(&mut self, lines: &[Line], head: Option<usize>, depth: usize) {
        let from = self.parts.len();
        let mut rest = lines;
        // Whether the last part is lines that are no entry, to which more can be added.
        let mut is_open = false;
        while let Some((first, after)) = rest.split_first() {
            if first.is_blank {
                rest = after;
                continue;
            }
            let is_inside = |line: &&Line| line.is_blank || line.depth > first.depth;
            let inner = after.iter().take_while(is_inside).count();
            let ends = |line: &Line| line.ends_entry && line.depth == first.depth;
            let is_closed = inner > 0 && after.get(inner).is_some_and(ends);
            let (entry, next) = rest.split_at(1 + inner + usize::from(is_closed));
            rest = next;
            let span = span_of(entry);
            let was_open = std::mem::take(&mut is_open);
            if inner > 0 {
                let has_entries =
                    || entry.iter().skip(1).filter(|line| line.begins_row(self.bytes)).count() > 1;
                let is_short = !exceeds(span.of(self.bytes), ENTRY_CHARS);
                if is_short && !has_entries() || depth == MAX_DEPTH {
                    let begins = first.begins_entry(self.bytes);
                    let text = begins.then(|| first_text(self.bytes, span)).flatten();
                    self.add(span, head, text);
                } else {
                    self.long_entry(entry, is_closed, head, depth);
                }
                continue;
            }
            let text = first_text(self.bytes, span);
            let begins_entry = first.begins_entry(self.bytes);
            let last = self.parts.get_mut(from..).and_then(<[HtmlPart]>::last_mut);
            let last = last.filter(|_| self.opening.is_none());
            match last {
                Some(last) if text.is_none() && first.ends_entry => last.span.end = span.end,
                _ if text.is_none() && begins_entry => self.open(span),
                Some(last) if was_open && last.is_short_with(self.bytes, span) => {
                    last.span.end = span.end;
                    is_open = true;
                }
                _ => {
                    self.add(span, head, text.filter(|_| begins_entry));
                    is_open = true;
                }
            }
        }
    }

    /// Adds the parts of an entry that is too long for one: its head and what follows it.
    fn long_entry(&mut self, entry: &[Line], is_closed: bool, outer: Option<usize>, depth: usize) {
        let Some((first, mut inner)) = entry.split_first() else { return };
        let mut closing = None;
        if is_closed && let Some((last, before)) = inner.split_last() {
            (closing, inner) = (Some(last.span), before);
        }
        // The first line and those after it that have nothing within them.
        let mut head = first.span;
        let mut rest = inner;
        while let [line, next, ..] = rest {
            let longer = ByteSpan::new(head.start, line.span.end);
            let has_inner = next.depth > line.depth && !next.is_blank;
            if has_inner || exceeds(longer.of(self.bytes), HEAD_CHARS) {
                break;
            }
            head = longer;
            rest = rest.get(1..).unwrap_or_default();
        }
        let is_short = !exceeds(head.of(self.bytes), HEAD_CHARS);
        let text = is_short.then(|| first_text(self.bytes, head)).flatten();
        if text.is_some() {
            self.add(head, outer, text);
            self.entries(rest, Some(head.start), depth + 1);
        } else {
            self.open(first.span);
            self.entries(inner, outer, depth + 1);
        }
        match (closing, self.parts.last_mut()) {
            (Some(closing), Some(last)) if self.opening.is_none() => last.span.end = closing.end,
            (Some(closing), _) => self.open(closing),
            (None, _) => {}
        }
    }

    fn open(&mut self, span: ByteSpan) {
        let start = self.opening.map_or(span.start, |opening| opening.start);
        self.opening = Some(ByteSpan::new(start, span.end));
    }

    /// Adds a part. `text` is the first text of the entry that begins with it.
    fn add(&mut self, span: ByteSpan, head: Option<usize>, text: Option<ByteSpan>) {
        let term = text.filter(is_term);
        let start = self.opening.take().map_or(span.start, |opening| opening.start);
        self.parts.push(HtmlPart { span: ByteSpan::new(start, span.end), head, term });
    }

    /// Returns the parts, with the lines that open something after which nothing follows.
    fn finish(mut self) -> Vec<HtmlPart> {
        if let Some(rest) = self.opening.take() {
            self.add(rest, None, None);
        }
        self.parts
    }
}

impl HtmlPart {
    /// Whether the part is short with the lines of `span`, too.
    fn is_short_with(&self, bytes: &[u8], span: ByteSpan) -> bool {
        !exceeds(ByteSpan::new(self.span.start, span.end).of(bytes), LINES_CHARS)
    }
}

fn span_of(lines: &[Line]) -> ByteSpan {
    let written = || lines.iter().filter(|line| !line.is_blank);
    let start = written().next().map_or(0, |line| line.span.start);
    ByteSpan::new(start, written().next_back().map_or(start, |line| line.span.end))
}

/// Returns the [`first_text`] in `span` if it is short. It often is the name of what the entry describes.
pub(super) fn term(bytes: &[u8], span: ByteSpan) -> Option<ByteSpan> {
    first_text(bytes, span).filter(is_term)
}

fn is_term(text: &ByteSpan) -> bool {
    text.end - text.start <= TERM_BYTES
}

/// Returns the first text in `span` that a reader sees: the text of an element, the value of an attribute of a
/// component, or the first value of an object. Of a long one, returns the beginning.
fn first_text(bytes: &[u8], span: ByteSpan) -> Option<ByteSpan> {
    let text = span.of(bytes);
    let within = |start, end| Some(ByteSpan::new(span.start + start, span.start + end));
    let (mut at, mut keys) = (0, 0);
    while let Some(byte) = text.get(at).filter(|_| keys < MAX_KEYS) {
        let rest = text.get(at..).unwrap_or_default();
        match byte {
            b'<' => {
                let length = tag_length(rest)?;
                let name = tag_name(rest)?;
                let is_component = name.first().is_some_and(u8::is_ascii_uppercase);
                let tag = rest.get(..length).unwrap_or_default();
                let value = is_component.then(|| shown_value(tag)).flatten();
                if let Some(value) = value {
                    return within(at + value.start, at + value.end);
                }
                at += length;
            }
            b'\'' | b'"' => {
                let length = rest.iter().skip(1).position(|other| other == byte)?;
                return within(at + 1, at + 1 + length).filter(|_| length > 0);
            }
            b'`' | b'*' | b'{' | b'}' | b'[' | b']' | b',' => at += 1,
            _ if byte.is_ascii_whitespace() => at += 1,
            _ => {
                let near = rest.iter().take(TERM_BYTES + 1);
                let end = near.take_while(|byte| !b"<\n\r`*".contains(byte)).count();
                let found = rest.get(..end).unwrap_or_default().trim_ascii_end();
                // The key of a value, in an object.
                let is_key =
                    |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'?');
                let key = found.iter().take_while(|byte| is_key(byte)).count();
                match found.get(key..).and_then(|rest| rest.first()) {
                    Some(b':' | b'=') if key > 0 => {
                        at += key + 1;
                        keys += 1;
                    }
                    _ => return within(at, at + found.len()),
                }
            }
        }
    }
    None
}

/// Returns the length in bytes of the tag with which a text begins; `None` if it does not end within [`MAX_TAG_BYTES`].
fn tag_length(text: &[u8]) -> Option<usize> {
    let mut quote = None;
    for (at, byte) in text.iter().enumerate().take(MAX_TAG_BYTES) {
        match (quote, byte) {
            (None, b'"' | b'\'') => quote = Some(byte),
            (None, b'>') => return Some(at + 1),
            (Some(open), byte) if open == byte => quote = None,
            _ => {}
        }
    }
    None
}

/// A tag that ends.
struct Tag<'a> {
    name: &'a [u8],
    /// By how many elements the text after the tag is deeper: 1, or 0 if it closes itself, or -1 if it closes another.
    change: isize,
}

/// Returns the tags of a text, in order.
fn tags(text: &[u8]) -> impl Iterator<Item = Tag<'_>> {
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            at += memchr::memchr(b'<', text.get(at..)?)?;
            let rest = text.get(at..)?;
            let (Some(name), Some(length)) = (tag_name(rest), tag_length(rest)) else {
                at += 1;
                continue;
            };
            at += length;
            let change = match rest.get(..length)? {
                tag if tag.starts_with(b"</") => -1,
                tag if tag.ends_with(b"/>") => 0,
                _ => 1,
            };
            return Some(Tag { name, change });
        }
    })
}

/// Returns the span in a tag of the first value of an attribute that may be shown.
fn shown_value(tag: &[u8]) -> Option<ByteSpan> {
    let mut at = 0;
    while let Some(rest) = tag.get(at..) {
        let equals = rest.iter().position(|byte| *byte == b'=')?;
        let name = rest.get(..equals).unwrap_or_default();
        let name = name.rsplit(u8::is_ascii_whitespace).next().unwrap_or_default();
        let quote = *rest.get(equals + 1)?;
        if !matches!(quote, b'"' | b'\'') {
            return None;
        }
        let start = at + equals + 2;
        let length = tag.get(start..)?.iter().position(|byte| *byte == quote)?;
        if length > 0 && !HIDDEN_ATTRIBUTES.iter().any(|hidden| hidden.as_bytes() == name) {
            return Some(ByteSpan::new(start, start + length));
        }
        at = start + length + 1;
    }
    None
}

/// Whether a line begins with the tag of a component that shows the value of an attribute.
pub(super) fn shows_value(line: &[u8]) -> bool {
    let is_component = line.strip_prefix(b"<").and_then(|rest| rest.first());
    is_component.is_some_and(u8::is_ascii_uppercase)
        && !line.ends_with(b"/>")
        && term(line, ByteSpan::new(0, line.len())).is_some()
}

/// Returns the name of the innermost element that a block opens and does not close, if a reader sees what it is about: a
/// component with a value, or an element with text.
pub(super) fn opened(bytes: &[u8], block: ByteSpan) -> Option<&[u8]> {
    let text = block.of(bytes);
    if text.len() > MAX_OPENING_BYTES {
        return None;
    }
    first_text(bytes, block)?;
    let mut open: Vec<&[u8]> = Vec::new();
    for tag in tags(text) {
        match tag.change {
            1 => open.push(tag.name),
            -1 => {
                if let Some(last) = open.iter().rposition(|open| *open == tag.name) {
                    open.truncate(last);
                }
            }
            _ => {}
        }
    }
    let is_void = |name: &[u8]| {
        ["br", "hr", "img", "input", "p", "a"].iter().any(|void| void.as_bytes() == name)
    };
    open.into_iter().rfind(|name| !is_void(name))
}

/// Returns by how many elements with this name `text` is deeper at its end: less than 0 if it closes more than it opens.
pub(super) fn depth_change(text: &[u8], name: &[u8]) -> isize {
    tags(text).filter(|tag| tag.name == name).map(|tag| tag.change).sum()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::sample::select;

    use super::*;

    fn cut(block: &str) -> Vec<&str> {
        let parts = parts(block.as_bytes(), ByteSpan::new(0, block.len())).unwrap_or_default();
        parts.iter().map(|part| &block[part.span.start..part.span.end]).collect()
    }

    fn term_of(text: &str) -> Option<&str> {
        term(text.as_bytes(), ByteSpan::new(0, text.len())).map(|span| &text[span.start..span.end])
    }

    #[test]
    fn an_object_is_one_part() {
        let one =
            format!("    {{\n      name: 'one',\n      text: '{}',\n    }},\n", "a".repeat(200));
        let two =
            format!("    {{\n      name: 'two',\n      text: '{}',\n    }},\n", "b".repeat(200));
        let block = format!("<Options\n  content={{[\n{one}{two}  ]}}\n/>\n");
        let parts = cut(&block);
        assert_eq!(parts.concat(), block);
        assert!(parts.len() == 2 && parts[0].ends_with(&one) && parts[1].starts_with(&two));
    }

    #[test]
    fn the_head_of_a_long_entry_is_a_part_that_the_others_name() {
        let text = |letter: &str| format!("    text:\n      '{}',\n", letter.repeat(300));
        let block = format!(
            "<O list={{[\n  {{\n    name: 'one',\n{}{}  }},\n]}} />\n",
            text("a"),
            text("b")
        );
        let parts = parts(block.as_bytes(), ByteSpan::new(0, block.len())).unwrap();
        let head = block.find("<O").unwrap();
        let heads: Vec<Option<usize>> = parts.iter().map(|part| part.head).collect();
        assert_eq!(heads.len(), 3, "{parts:?}");
        assert!(
            parts[0].span.start == head
                && parts[0].span.of(block.as_bytes()).ends_with(b"'one',\n")
        );
        assert!(heads[1].is_some() && heads[1] == heads[2]);
        assert_eq!(parts[0].term.map(|term| term.of(block.as_bytes())), Some(&b"one"[..]));
    }

    #[test]
    fn each_row_of_html_is_a_part() {
        let cells =
            ["<td><code>one</code></td>\n<td>two</td>\n", "<td>three</td>\n<td>four</td>\n"];
        let flat = cells.map(|cells| format!("<tr>\n{cells}</tr>\n")).concat();
        let indented = flat.replace("<td", "  <td");
        for rows in [flat, indented] {
            let block = format!("<table>\n{rows}</table>\n");
            let parts = cut(&block);
            assert_eq!(parts.concat(), block);
            assert!(parts.len() == 2 && parts[0].contains("two") && parts[1].contains("three"));
        }
        let terms = "<dl>\n<dt>a</dt>\n<dd>one</dd>\n<dt>b</dt>\n<dd>two</dd>\n</dl>\n";
        let second = terms.find("<dt>b").unwrap();
        assert_eq!(cut(terms), [&terms[..second], &terms[second..]]);
    }

    #[test]
    fn long_lines_are_parts_of_their_own() {
        let item = |letter: &str| format!("  <li>{}</li>\n", letter.repeat(300));
        let block = format!("<ul>\n{}{}</ul>\n", item("a"), item("b"));
        let parts = cut(&block);
        assert!(parts.len() == 2 && parts[0].ends_with(&item("a")), "{parts:?}");
    }

    #[test]
    fn text_without_entries_has_no_parts() {
        for block in ["<b>one</b> two\nthree\n", "<!-- a\n  b -->\n", "<p>one\ntwo</p>\n"] {
            assert!(cut(block).is_empty(), "{block}");
        }
    }

    #[test]
    fn the_first_text_that_is_shown_is_the_term() {
        for (text, term) in [
            ("<tr class=\"a\">\n<td align=\"b\"><code>name</code></td>", Some("name")),
            ("<ParamField path=\"limit\" type=\"number\">", Some("limit")),
            ("<Card icon=\"a\" title=\"Start here\">", Some("Start here")),
            ("{ name: 'max', type: 'number' }", Some("max")),
            ("{\n  \"name\": \"max\",\n}", Some("name")),
            ("<dt>**Term**</dt>", Some("Term")),
            ("<br/><hr>", None),
            (&"a:".repeat(100), None),
            ("<a href=\"unclosed", None),
            ("content={[", None),
        ] {
            assert_eq!(term_of(text), term, "{text}");
        }
    }

    #[test]
    fn an_element_is_open_until_it_is_closed() {
        let name = |text: &str| {
            let name = opened(text.as_bytes(), ByteSpan::new(0, text.len()));
            name.map(|name| String::from_utf8_lossy(name).into_owned())
        };
        assert_eq!(name("<Tab title=\"One\">").as_deref(), Some("Tab"));
        assert_eq!(name("<ul><details><summary>One</summary>").as_deref(), Some("details"));
        for text in ["<b>one</b>", "<div>", "<Tab title=\"One\"/>", "one < two <br> three"] {
            assert_eq!(name(text), None, "{text}");
        }
        assert_eq!(depth_change(b"</Tab><Tab a=\"1\"><Tab/><Table>", b"Tab"), 0);
    }

    proptest! {
        #[test]
        fn parts_have_all_lines_in_order(
            lines in proptest::collection::vec((0_usize..6, select(TEXTS.to_vec())), 1..40)
        ) {
            let lines = lines.iter().map(|(depth, text)| format!("{}{text}\n", " ".repeat(2 * depth)));
            let block = lines.collect::<String>();
            let parts = parts(block.as_bytes(), ByteSpan::new(0, block.len()));
            let mut at = 0;
            for part in parts.unwrap_or_default() {
                prop_assert!(block[at..part.span.start].trim().is_empty() && part.span.end > at);
                prop_assert!(part.head.is_none_or(|head| head < part.span.start));
                at = part.span.end;
            }
            prop_assert!(at == 0 || block[at..].trim().is_empty());
        }
    }

    const TEXTS: [&str; 12] = [
        "<tr>",
        "</tr>",
        "<td>one</td>",
        "{",
        "},",
        "name: 'two',",
        "list: [",
        "],",
        "text",
        "",
        "<dd>",
        "a long line, a long line, a long line, a long line, a long line, a long line, a long line, a long line, a long line, a long line",
    ];
}
