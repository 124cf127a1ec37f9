//! Parses bytes into sections, in one pass over the markers with a stack.
//!
//! Invariant: a marker that breaks the nesting never changes another section. A BEGIN without an
//! END and an END without a BEGIN become strays, and have no other effect.

use std::collections::HashMap;

use memchr::memmem;
use serde_json::{Map, Value};

use super::fault::{Faults, quoted};
use super::marker::{Attributes, COMMENT, Marker, is_begun};
use super::tree::{Begun, build_tree, verify};
use super::{FaultKind, LdmdSection, Markup, Reference};
use crate::position::{ByteSpan, LineIndex, LineSpan, trim_line_end};

/// Parses the markers of a document.
///
/// `opaque` contains the spans of whole lines that never contain markers (fenced code, front
/// matter), sorted and disjoint. A byte order mark before a marker in the first line belongs to the
/// span of the marker.
pub fn parse(bytes: &[u8], opaque: &[ByteSpan]) -> Markup {
    let comments = memmem::find_iter(bytes, COMMENT);
    let mut begun = comments.filter(|at| bytes.get(*at..).is_some_and(is_begun)).peekable();
    if begun.peek().is_none() {
        return Markup::default();
    }
    let index = LineIndex::new(bytes);
    let mut reader = MarkerParser::default();
    let mut after = 0;
    for at in begun {
        let hidden = opaque.get(opaque.partition_point(|span| span.end <= at));
        if at < after || hidden.is_some_and(|span| span.start <= at) {
            continue;
        }
        let line = index.line_of(at);
        let span = ByteSpan::new(index.start_of(line), index.end_of(line));
        after = span.end;
        let text = trim_line_end(span.of(bytes));
        let bare = text.strip_prefix(b"\xef\xbb\xbf").filter(|_| span.start == 0).unwrap_or(text);
        if let Some(marker) = Marker::read(bare) {
            reader.take(marker, span, line);
        }
    }
    reader.finish()
}

#[derive(Default)]
struct MarkerParser {
    markup: Markup,
    faults: Faults,
    begun: Vec<Begun>,
    /// The open sections as indexes into `begun`, innermost last.
    open: Vec<usize>,
    /// The number of open sections with an id, so that an END without a BEGIN need not search the
    /// stack.
    open_ids: HashMap<String, usize>,
}

impl MarkerParser {
    fn take(&mut self, marker: Marker, span: ByteSpan, line: usize) {
        match marker {
            Marker::Begin(id, attributes) => return self.begin(id, attributes, span, line),
            Marker::End(id) if self.open_ids.get(&id).is_some_and(|&count| count > 0) => {
                return self.end(&id, span, line);
            }
            Marker::End(id) => {
                let message = format!("no section {} is open", quoted(&id));
                self.faults.add(FaultKind::UnexpectedEnd, line, message);
            }
            Marker::Version(version) => {
                if version.split('.').next() != Some("1") {
                    let message = format!("version {} is unknown", quoted(&version));
                    self.faults.add(FaultKind::UnknownVersion, line, message);
                }
                self.markup.version.get_or_insert(version);
            }
            Marker::Reference(document, section) => {
                self.markup.references.push(Reference { document, section, span, line });
            }
            Marker::Stub => {}
            Marker::Malformed(message) => {
                self.faults.add(FaultKind::MalformedMarker, line, message);
            }
        }
        self.markup.strays.push(span);
    }

    fn begin(&mut self, id: String, mut attributes: Attributes, span: ByteSpan, line: usize) {
        for name in &attributes.repeated {
            let message = format!("attribute {} occurs twice", quoted(name));
            self.faults.add(FaultKind::InvalidAttribute, line, message);
        }
        let level = attributes.take("level").and_then(|text| {
            let level = text.parse().ok().filter(|_| !text.starts_with('+'));
            self.checked(level, FaultKind::InvalidAttribute, line, "level is not a number")
        });
        let declared_collapsed = attributes.take("collapsed").and_then(|text| {
            let choice = text.parse().ok();
            self.checked(
                choice,
                FaultKind::InvalidAttribute,
                line,
                "collapsed is not true or false",
            )
        });
        let meta = attributes.take("meta").and_then(|text| {
            let is_object = serde_json::from_str::<Map<String, Value>>(&text).is_ok();
            let object = is_object.then_some(text);
            self.checked(object, FaultKind::MetaUnreadable, line, "meta is not a JSON object")
        });
        let tags = attributes.take("tags").unwrap_or_default();
        let section = LdmdSection {
            title: attributes.take("title").unwrap_or_default(),
            level: level.unwrap_or_default(),
            declared_parent: attributes.take("parent").filter(|parent| !parent.is_empty()),
            tags: tags
                .split(',')
                .map(str::trim)
                .filter(|tag| !tag.is_empty())
                .map(str::to_owned)
                .collect(),
            meta,
            declared_collapsed,
            attributes: attributes.pairs,
            span,
            content: ByteSpan::new(span.end, span.end),
            lines: LineSpan { start: line, end: line },
            id,
            ..LdmdSection::default()
        };
        *self.open_ids.entry(section.id.clone()).or_default() += 1;
        let enclosing = self.open.last().copied();
        self.open.push(self.begun.len());
        self.begun.push(Begun { section, level, enclosing, is_closed: false });
    }

    fn checked<T>(
        &mut self,
        value: Option<T>,
        kind: FaultKind,
        line: usize,
        or: &str,
    ) -> Option<T> {
        if value.is_none() {
            self.faults.add(kind, line, or.to_owned());
        }
        value
    }

    /// Closes the innermost open section `id`, which must exist. Open sections inside of it stay
    /// without an END.
    fn end(&mut self, id: &str, span: ByteSpan, line: usize) {
        let mut is_innermost = true;
        while let Some(begun) = self.pop() {
            let section = &mut begun.section;
            if section.id == id {
                section.content.end = span.start;
                section.span.end = span.end;
                section.lines.end = line;
                begun.is_closed = true;
                return;
            }
            let (inner, begin) = (quoted(&section.id), section.lines.start);
            if is_innermost {
                let message = format!("expected the end of {inner}, got {}", quoted(id));
                self.faults.add(FaultKind::MismatchedEnd, line, message);
                is_innermost = false;
            }
            let message = format!("section {inner} is not closed before {} is", quoted(id));
            self.faults.add(FaultKind::UnclosedSection, begin, message);
        }
    }

    fn pop(&mut self) -> Option<&mut Begun> {
        let begun = self.open.pop().and_then(|index| self.begun.get_mut(index))?;
        if let Some(count) = self.open_ids.get_mut(&begun.section.id) {
            *count -= 1;
        }
        Some(begun)
    }

    fn finish(mut self) -> Markup {
        while let Some(Begun { section, .. }) = self.pop() {
            let (id, begin) = (quoted(&section.id), section.lines.start);
            let message = format!("section {id} is not closed");
            self.faults.add(FaultKind::UnclosedSection, begin, message);
        }
        let Self { mut markup, mut faults, begun, .. } = self;
        let levels = build_tree(begun, &mut markup, &mut faults);
        verify(&mut markup.sections, &levels, &mut faults);
        markup.strays.sort_unstable_by_key(|span| span.start);
        markup.faults = faults.finish();
        markup
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{DEEP, FLAT, fences, nested};
    use super::*;
    use crate::processor_time::within;

    fn codes(markup: &Markup) -> Vec<(usize, &'static str)> {
        markup.faults.iter().map(|fault| (fault.line, fault.kind.code())).collect()
    }

    /// Returns the ids in opening order, each with its depth.
    fn tree(markup: &Markup) -> Vec<(&str, usize)> {
        markup.sections.iter().map(|section| (section.id.as_str(), section.depth)).collect()
    }

    #[test]
    fn the_grammar_of_the_ldmd_paper() {
        let text = "<!--LDMD:BEGIN id=\"section_id\" title=\"Section Title\" level=\"1\" \
                    parent=\"parent_id\" tags=\"tag1,tag2\"-->\n\
                    Section content goes here.\nNested sections allowed.\n\
                    <!--LDMD:END id=\"section_id\"-->\n";
        let markup = parse(text.as_bytes(), &[]);
        let [section] = markup.sections.as_slice() else { panic!("{markup:?}") };
        assert_eq!((section.title.as_str(), section.level), ("Section Title", 1));
        assert_eq!(section.declared_parent.as_deref(), Some("parent_id"));
        assert_eq!(section.tags, ["tag1", "tag2"]);
        assert_eq!(section.span, ByteSpan::new(0, text.len()));
        let content = &text[section.content.start..section.content.end];
        assert_eq!(content, "Section content goes here.\nNested sections allowed.\n");
        assert_eq!(section.lines, LineSpan { start: 1, end: 4 });
        assert_eq!(markup.faults, [], "the parent of an excerpt may be in another document");
    }

    #[test]
    fn nesting_and_attribute_order_of_the_ldmd_paper() {
        let text = "<!--LDMD:BEGIN id=\"outer\"-->\n  Content A\n  <!--LDMD:BEGIN id=\"inner\"-->\n\
                    \x20   Content B\n  <!--LDMD:END id=\"inner\"-->\n  Content C\n\
                    <!--LDMD:END id=\"outer\"-->\n\
                    <!--LDMD:BEGIN id=\"key_findings_tldr\" parent=\"key_findings\" level=\"2\"-->\n\
                    1. [high] x\n<!--LDMD:END id=\"key_findings_tldr\"-->";
        let markup = parse(text.as_bytes(), &[]);
        assert_eq!(codes(&markup), []);
        assert_eq!(tree(&markup), [("outer", 0), ("inner", 1), ("key_findings_tldr", 0)]);
        assert_eq!(markup.sections[1].parent, Some(0));
        let inner = markup.sections[1].span;
        assert!(text[inner.start..].starts_with("  <!--"), "spans begin at the start of the line");
        assert_eq!(markup.sections[2].span.end, text.len());
    }

    #[test]
    fn a_problem_never_removes_another_section() {
        type Case<'a> = (&'a str, &'a [(usize, &'a str)], &'a [(&'a str, usize)]);
        let cases: &[Case<'_>] = &[
            // LDMD paper: mismatched END, without and with its comment.
            (
                "(a\n(b\n)a\n)b",
                &[(2, "UNCLOSED_SECTION"), (3, "MISMATCHED_END"), (4, "UNEXPECTED_END")],
                &[("a", 0)],
            ),
            (
                "(a\n(b\n)a <!-- ERROR -->\n)b",
                &[(1, "UNCLOSED_SECTION"), (3, "MALFORMED_MARKER")],
                &[("b", 0)],
            ),
            // LDMD paper: duplicate id.
            ("(s\n)s\n(s\n)s", &[(3, "DUPLICATE_ID")], &[("s", 0), ("s", 0)]),
            ("(s\n(s\n)s\n)s", &[(2, "DUPLICATE_ID")], &[("s", 0), ("s", 1)]),
            (")a\n(b\n)b", &[(1, "UNEXPECTED_END")], &[("b", 0)]),
            ("(a\n(b\n)b\n(c", &[(1, "UNCLOSED_SECTION"), (4, "UNCLOSED_SECTION")], &[("b", 0)]),
            // Closed sections inside of an unclosed section move one level up.
            (
                "(a\n(b\n(c\n)c\n(d\n)a\n(e\n)e",
                &[(2, "UNCLOSED_SECTION"), (5, "UNCLOSED_SECTION"), (6, "MISMATCHED_END")],
                &[("a", 0), ("c", 1), ("e", 0)],
            ),
            ("(x\n(x\n)x", &[(1, "UNCLOSED_SECTION"), (2, "DUPLICATE_ID")], &[("x", 0)]),
            ("(a\n<!--LDMD:NOTE-->\n)a", &[(2, "MALFORMED_MARKER")], &[("a", 0)]),
            (
                "<!--LDMD:VERSION 1.0-->\n<!--LDMD:VERSION 2.0-->\n(a\n)a",
                &[(2, "UNKNOWN_VERSION")],
                &[("a", 0)],
            ),
        ];
        for (sketch, faults, sections) in cases {
            let text: String = sketch.lines().map(marker).collect();
            let markup = parse(text.as_bytes(), &[]);
            assert_eq!(codes(&markup), *faults, "{sketch}");
            assert_eq!(tree(&markup), *sections, "{sketch}");
            let bounds: usize = markup.sections.len() * 2;
            assert_eq!(bounds + markup.strays.len(), text.lines().count(), "{sketch}");
            assert!(markup.strays.is_sorted_by_key(|span| span.start));
        }
    }

    /// Returns the markers for `(id` and `)id`.
    fn marker(line: &str) -> String {
        let (word, after) = line.split_once(' ').map_or((line, ""), |(word, rest)| (word, rest));
        match (word.strip_prefix('('), word.strip_prefix(')')) {
            (Some(id), _) => format!("<!--LDMD:BEGIN id=\"{id}\"-->{after}\n"),
            (_, Some(id)) => format!("<!--LDMD:END id=\"{id}\"-->{after}\n"),
            _ => format!("{line}\n"),
        }
    }

    #[test]
    fn line_ends_and_byte_order_marks_belong_to_the_section() {
        let lines = ["<!--LDMD:BEGIN id=\"a\"-->", "text", "<!--LDMD:END id=\"a\"-->"];
        for line_end in ["\n", "\r\n", "\r"] {
            for (before, after) in [("", ""), ("\u{feff}", line_end), ("", line_end)] {
                let text = format!("{before}{}{after}", lines.join(line_end));
                let markup = parse(text.as_bytes(), &[]);
                assert_eq!(codes(&markup), [], "{text:?}");
                let section = &markup.sections[0];
                assert_eq!(section.span, ByteSpan::new(0, text.len()), "{text:?}");
                let content = &text[section.content.start..section.content.end];
                assert_eq!(content, format!("text{line_end}"));
                assert_eq!(section.lines, LineSpan { start: 1, end: 3 });
            }
        }
        let misplaced = "\n\u{feff}<!--LDMD:END id=\"a\"-->\n";
        assert!(parse(misplaced.as_bytes(), &[]).is_empty());
    }

    #[test]
    fn markers_in_fences_are_text() {
        let text = "<!--LDMD:BEGIN id=\"a\"-->\n```html\n<!--LDMD:BEGIN id=\"b\"-->\n<!--LDMD:FOO-->\n\
                    ```\n    <!--LDMD:END id=\"a\"-->\n<!--LDMD:REF doc=\"x.md\"-->\n";
        let markup = parse(text.as_bytes(), &fences(text.as_bytes()));
        assert_eq!(tree(&markup), [("a", 0)]);
        assert_eq!(codes(&markup), []);
        let [reference] = markup.references.as_slice() else { panic!("{markup:?}") };
        assert_eq!((reference.document.as_str(), reference.line), ("x.md", 7));
        assert_eq!(markup.strays, [reference.span]);
        assert!(!markup.is_empty());
        assert!(parse(b"# no markers\n", &[]).is_empty());
    }

    #[test]
    fn unlisted_problems_are_counted() {
        let line = "<!--LDMD:NOTE-->\n";
        let markup = parse(line.repeat(1500).as_bytes(), &[]);
        assert_eq!(markup.faults.len(), 1001);
        let last = markup.faults.last().unwrap();
        assert_eq!(
            (last.kind, last.message.as_str()),
            (FaultKind::TooManyFaults, "the list leaves out 500 more problems")
        );
        assert_eq!(markup.strays.len(), 1500);
        let id = "i\u{1b}".repeat(1 << 16);
        let markup = parse(format!("<!--LDMD:END id=\"{id}\"-->").as_bytes(), &[]);
        assert!(
            markup.faults[0].message.len() < 300 && !markup.faults[0].message.contains('\u{1b}')
        );
    }

    #[test]
    fn hostile_nesting_takes_linear_time() {
        let open: String =
            (0..DEEP).map(|at| format!("<!--LDMD:BEGIN id=\"s{at}\"-->\n")).collect();
        let ends = "<!--LDMD:END id=\"none\"-->\n".repeat(FLAT);
        let text = format!("{open}{ends}");
        let markup = within(5, "markers that end nothing", || parse(text.as_bytes(), &[]));
        assert_eq!(markup.strays.len(), DEEP + FLAT);
        let deep = within(5, "nested sections", || parse(nested(DEEP).as_bytes(), &[]));
        assert_eq!((deep.sections.len(), deep.sections[DEEP - 1].depth), (DEEP, DEEP - 1));
        assert_eq!(deep.ancestors(DEEP - 1).len(), DEEP - 1);
    }
}
