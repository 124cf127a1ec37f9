//! Writes LDMD documents as a stream.
//!
//! Invariant: the output parses to the sections that were begun, for any titles and contents. Only
//! the ids are kept in memory.

use std::collections::HashSet;
use std::io::{Error, ErrorKind, Result, Write};

use crate::position::next_line_start;

/// The attributes of a BEGIN marker. Empty ones are left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Opening<'a> {
    /// The id.
    pub id: &'a str,
    /// The title.
    pub title: &'a str,
    /// The level, 0 for none.
    pub level: u32,
    /// The id of the section around it.
    pub parent: &'a str,
    /// The tags, without commas.
    pub tags: &'a [&'a str],
    /// The text of a JSON object.
    pub meta: Option<&'a str>,
}

/// Returns the BEGIN marker of `section`, without a line end.
pub fn opening(section: &Opening<'_>) -> String {
    let level = if section.level == 0 { String::new() } else { section.level.to_string() };
    let mut marker = format!("<!--LDMD:BEGIN{}", attribute("id", section.id, '"'));
    for (name, value, quote) in [
        ("title", section.title, '"'),
        ("level", &level, '"'),
        ("parent", section.parent, '"'),
        ("tags", &section.tags.join(","), '"'),
        // JSON contains many double quotes.
        ("meta", section.meta.unwrap_or_default(), '\''),
    ] {
        if !value.is_empty() {
            marker.push_str(&attribute(name, value, quote));
        }
    }
    marker + "-->"
}

/// Returns the END marker of the section `id`, without a line end.
pub fn closing(id: &str) -> String {
    format!("<!--LDMD:END{}-->", attribute("id", id, '"'))
}

/// Returns the stub of the section `id`, without a line end. It stands for the section where that is left out, with all
/// of its `bytes` bytes.
pub fn stub(id: &str, bytes: usize) -> String {
    format!(
        "<!--LDMD:REF{}{}-->",
        attribute("id", id, '"'),
        attribute("bytes", &bytes.to_string(), '"')
    )
}

/// Returns an attribute with a blank before it. The value is encoded so that it ends neither the
/// comment nor the line.
pub(crate) fn attribute(name: &str, value: &str, quote: char) -> String {
    let mut encoded = String::with_capacity(value.len());
    for scalar in value.chars() {
        match scalar {
            '&' => encoded.push_str("&amp;"),
            '<' => encoded.push_str("&lt;"),
            '>' => encoded.push_str("&gt;"),
            '"' if quote == '"' => encoded.push_str("&quot;"),
            '\u{2028}' | '\u{2029}' => encoded.push_str(&format!("&#{};", u32::from(scalar))),
            _ if scalar == quote || scalar.is_control() => {
                encoded.push_str(&format!("&#{};", u32::from(scalar)));
            }
            _ => encoded.push(scalar),
        }
    }
    let encoded = encoded.replace("--", "&#45;&#45;");
    format!(" {name}={quote}{encoded}{quote}")
}

/// A writer of one document, section by section.
#[derive(Debug)]
pub struct MarkerWriter<W: Write> {
    output: W,
    used: HashSet<String>,
    open: Vec<String>,
}

impl<W: Write> MarkerWriter<W> {
    /// Creates a writer to `output`.
    pub fn new(output: W) -> Self {
        Self { output, used: HashSet::new(), open: Vec::new() }
    }

    /// Writes the VERSION marker.
    pub fn version(&mut self, version: &str) -> Result<()> {
        writeln!(self.output, "<!--LDMD:VERSION {version}-->")
    }

    /// Begins a section inside of the open ones. Fails if the id is already used, or contains
    /// anything except ASCII letters, digits and `_.:/-`.
    pub fn begin(&mut self, section: &Opening<'_>) -> Result<()> {
        let is_id_part = |byte: u8| byte.is_ascii_alphanumeric() || b"_.:/-".contains(&byte);
        if section.id.is_empty() || !section.id.bytes().all(is_id_part) {
            return Err(invalid(
                "the id of a section contains other characters than letters, digits and _.:/-",
            ));
        }
        if !self.used.insert(section.id.to_owned()) {
            return Err(invalid("the id of a section is already used"));
        }
        self.open.push(section.id.to_owned());
        writeln!(self.output, "{}", opening(section))
    }

    /// Ends the section that was begun last. Fails if none is open.
    pub fn end(&mut self) -> Result<()> {
        let id = self.open.pop().ok_or_else(|| invalid("no section is open"))?;
        writeln!(self.output, "{}", closing(&id))
    }

    /// Writes a REF marker to `section` of `document`.
    pub fn reference(&mut self, document: &str, section: Option<&str>) -> Result<()> {
        let document = attribute("doc", document, '"');
        let section = section.map_or_else(String::new, |id| attribute("section", id, '"'));
        writeln!(self.output, "<!--LDMD:REF{document}{section}-->")
    }

    /// Writes generated Markdown and a line end. A backslash keeps each line from being a marker,
    /// and from opening a fence or an HTML block, which would contain the lines after it.
    pub fn text(&mut self, text: &str) -> Result<()> {
        for line in text.replace("\r\n", "\n").split(['\n', '\r']) {
            // Characters that may precede a block: blanks, including those that a marker may have
            // around it, a byte order mark, and markers of quotes and lists.
            let before =
                |scalar: char| " \t\u{c}\u{feff}>-+*.)".contains(scalar) || scalar.is_ascii_digit();
            let block = line.trim_start_matches(before);
            let (prefix, _) = line.split_at(line.len() - block.len());
            let is_opening = ["<", "```", "~~~"].iter().any(|start| block.starts_with(start));
            writeln!(self.output, "{prefix}{}{block}", if is_opening { "\\" } else { "" })?;
        }
        Ok(())
    }

    /// Writes `content` unchanged into a fenced code block. Adds a line end if it has none. `info`
    /// is the info string; characters that would break the fence are left out.
    pub fn fenced(&mut self, content: &[u8], info: &str) -> Result<()> {
        let fence = "`".repeat(longest_fence(content).saturating_add(1).max(3));
        let info: String =
            info.chars().filter(|&scalar| scalar != '`' && !scalar.is_control()).collect();
        writeln!(self.output, "{fence}{info}")?;
        self.output.write_all(content)?;
        if !matches!(content.last(), None | Some(b'\n' | b'\r')) {
            writeln!(self.output)?;
        }
        writeln!(self.output, "{fence}")
    }

    /// Closes the open sections, and returns the output.
    pub fn finish(mut self) -> Result<W> {
        while !self.open.is_empty() {
            self.end()?;
        }
        self.output.flush()?;
        Ok(self.output)
    }
}

/// Returns the length of the longest run of backticks at the start of a line of `content`.
fn longest_fence(content: &[u8]) -> usize {
    let mut longest = 0;
    let mut start = 0;
    while let Some(rest) = content.get(start..).filter(|rest| !rest.is_empty()) {
        let run = rest.iter().skip_while(|byte| matches!(byte, b' ' | b'\t'));
        longest = longest.max(run.take_while(|&&byte| byte == b'`').count());
        start = next_line_start(content, start);
    }
    longest
}

fn invalid(message: &str) -> Error {
    Error::new(ErrorKind::InvalidInput, message)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::tests::fences;
    use super::super::{LdmdSection, Markup, is_marker_line, parse};
    use super::*;

    fn read(bytes: &[u8]) -> Markup {
        parse(bytes, &fences(bytes))
    }

    fn written(write: impl FnOnce(&mut MarkerWriter<Vec<u8>>) -> Result<()>) -> String {
        let mut writer = MarkerWriter::new(Vec::new());
        write(&mut writer).unwrap();
        String::from_utf8(writer.finish().unwrap()).unwrap()
    }

    #[test]
    fn markers_are_written_in_the_canonical_order() {
        let section = Opening {
            id: "a:b/c-1",
            title: "\"x\" --> <y> & --\u{0}z\r\n",
            level: 2,
            parent: "a",
            tags: &["one", "two"],
            meta: Some("{\"q\":\"it's --\"}"),
        };
        assert_eq!(
            opening(&section),
            "<!--LDMD:BEGIN id=\"a:b/c-1\" title=\"&quot;x&quot; &#45;&#45;&gt; &lt;y&gt; &amp; &#45;&#45;&#0;z&#13;&#10;\" \
             level=\"2\" parent=\"a\" tags=\"one,two\" \
             meta='{\"q\":\"it&#39;s &#45;&#45;\"}'-->"
        );
        assert_eq!(
            opening(&Opening { id: "a", ..Opening::default() }),
            "<!--LDMD:BEGIN id=\"a\"-->"
        );
        assert_eq!(closing("a"), "<!--LDMD:END id=\"a\"-->");
    }

    #[test]
    fn every_part_of_a_document_is_written() {
        let text = written(|writer| {
            writer.version("1.0")?;
            writer.begin(&Opening { id: "a", ..Opening::default() })?;
            writer.text("## Title\nplain")?;
            writer.fenced(b"x\n", "rust`\n")?;
            writer.end()?;
            writer.reference("b \"c\".md", Some("d"))?;
            writer.begin(&Opening { id: "left_open", ..Opening::default() })
        });
        assert_eq!(
            text,
            "<!--LDMD:VERSION 1.0-->\n<!--LDMD:BEGIN id=\"a\"-->\n## Title\nplain\n```rust\nx\n```\n\
             <!--LDMD:END id=\"a\"-->\n<!--LDMD:REF doc=\"b &quot;c&quot;.md\" section=\"d\"-->\n\
             <!--LDMD:BEGIN id=\"left_open\"-->\n<!--LDMD:END id=\"left_open\"-->\n"
        );
        let markup = read(text.as_bytes());
        assert_eq!((markup.version.as_deref(), markup.faults.len()), (Some("1.0"), 0));
        assert_eq!(markup.references[0].document, "b \"c\".md");
    }

    #[test]
    fn invalid_ids_are_rejected() {
        let mut writer = MarkerWriter::new(Vec::new());
        for id in ["", "a b", "a\"", "\u{e9}", "a\n"] {
            let error = writer.begin(&Opening { id, ..Opening::default() }).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidInput, "{id}");
        }
        writer.begin(&Opening { id: "a", ..Opening::default() }).unwrap();
        writer.end().unwrap();
        assert!(writer.begin(&Opening { id: "a", ..Opening::default() }).is_err());
        assert!(writer.end().is_err());
        assert_eq!(read(&writer.finish().unwrap()).sections.len(), 1);
    }

    #[test]
    fn text_opens_no_block_and_no_section() {
        for (text, expected) in [
            ("", "\n"),
            ("a\r\nb\rc\n", "a\nb\nc\n\n"),
            ("<!--LDMD:END id=\"a\"-->", "\\<!--LDMD:END id=\"a\"-->\n"),
            ("  <pre>", "  \\<pre>\n"),
            ("```", "\\```\n"),
            ("> 1) - ~~~~", "> 1) - \\~~~~\n"),
            ("- **a:** `b` <c>", "- **a:** `b` <c>\n"),
        ] {
            assert_eq!(written(|writer| writer.text(text)), expected);
        }
    }

    #[test]
    fn fences_are_longer_than_those_in_the_content() {
        for (content, fence) in
            [("", 3), ("a ```` b", 3), ("  ````\n```", 5), ("~~~~", 3), ("a\r````\r", 5)]
        {
            let text = written(|writer| writer.fenced(content.as_bytes(), ""));
            assert!(text.starts_with(&("`".repeat(fence) + "\n")), "{text}");
            assert!(
                text.ends_with(&"`".repeat(fence)) || text.ends_with(&("`".repeat(fence) + "\n"))
            );
            assert_eq!(fences(text.as_bytes()).len(), 1);
            assert_eq!(fences(text.as_bytes())[0].end, text.len());
        }
    }

    /// A section to write: sections to close before it, title, text, content.
    type Sketch = (usize, String, String, Vec<u8>);

    fn sketch() -> impl Strategy<Value = Sketch> {
        let line = prop_oneof![
            "[ -~\u{e9}\u{4e2d}\u{1f600}\r\n\t-]{0,20}",
            Just("<!--LDMD:END id=\"s0\"-->".to_owned()),
            Just("\u{c}<!--LDMD:END id=\"s1\"--> ".to_owned()),
            Just(" <!--LDMD:BEGIN id=\"x\"-->\n````".to_owned()),
            Just("- ~~~\n\"--> & --- <!--\n'".to_owned()),
        ];
        let content = line.clone().prop_map(String::into_bytes);
        (0..4_usize, line.clone(), line, content)
    }

    proptest! {
        #[test]
        fn written_documents_are_parsed_back(sketches in proptest::collection::vec(sketch(), 0..12)) {
            let mut writer = MarkerWriter::new(Vec::new());
            let mut open: Vec<String> = Vec::new();
            let mut expected = Vec::new();
            for (at, (up, title, text, content)) in sketches.iter().enumerate() {
                for _ in 0..*up {
                    if open.pop().is_some() {
                        writer.end().unwrap();
                    }
                }
                let id = format!("s{at}");
                let parent = open.last().cloned();
                let section = Opening {
                    id: &id,
                    title,
                    level: u32::try_from(open.len()).unwrap() + 1,
                    parent: parent.as_deref().unwrap_or_default(),
                    tags: &["t"],
                    meta: Some("{\"a\":\"'--&\"}"),
                };
                writer.begin(&section).unwrap();
                writer.text(text).unwrap();
                writer.fenced(content, text).unwrap();
                expected.push((id.clone(), title.clone(), open.len(), parent));
                open.push(id);
            }
            let bytes = writer.finish().unwrap();
            let markup = read(&bytes);
            prop_assert_eq!(&markup.faults, &[]);
            prop_assert_eq!(&markup.strays, &[]);
            let tree: Vec<_> = markup.sections.iter().map(|section| {
                let LdmdSection { id, title, depth, declared_parent, .. } = section.clone();
                (id, title, depth, declared_parent)
            }).collect();
            prop_assert_eq!(tree, expected);
            for (index, section) in markup.sections.iter().enumerate() {
                prop_assert_eq!(section.meta.as_deref(), Some("{\"a\":\"'--&\"}"));
                let around = section.parent.map(|parent| markup.sections[parent].id.clone());
                prop_assert_eq!(&around, &section.declared_parent);
                let alone = read(&bytes[section.span.start..section.span.end]);
                prop_assert_eq!(&alone.faults, &[]);
                prop_assert_eq!(alone.sections.len(), markup.nested(index).count() + 1);
                let root = &alone.sections[0];
                prop_assert_eq!((&root.id, root.span.len()), (&section.id, section.span.len()));
                prop_assert_eq!(alone.sections.iter().filter(|section| section.depth == 0).count(), 1);
            }
        }

        #[test]
        fn any_title_gives_one_marker_line(title in "\\PC*|[\\x00-\\x7f]*") {
            let line = opening(&Opening { id: "a", title: &title, ..Opening::default() });
            prop_assert!(is_marker_line(line.as_bytes()));
            prop_assert!(!line.contains(['\n', '\r']));
            prop_assert_eq!(line.find("-->"), Some(line.len() - 3));
            prop_assert_eq!(line[4..line.len() - 3].find("--"), None);
        }
    }
}
