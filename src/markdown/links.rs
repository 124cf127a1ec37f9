//! Links in the text of a document: their kinds, targets and positions.
//!
//! A text is parsed for links only if it contains brackets that may be a link. Invariants (see
//! `mdsel help links`): code, comments and HTML contain no links; links are in document order; a
//! document has at most [`limits::MAX_LINKS_PER_DOCUMENT`].

use std::sync::OnceLock;

use markdown_it::parser::extset::{InlineRootExtSet, RootExtSet};
use markdown_it::parser::inline::InlineRoot;
use markdown_it::plugins::cmark::block::reference::ReferenceMap;
use markdown_it::plugins::cmark::inline::image::Image;
use markdown_it::plugins::cmark::inline::link;
use markdown_it::{MarkdownIt, Node};

use super::PLACEHOLDER;
use super::link_rules::link_parser;
use super::link_scan::LinkScanState;
use super::title::plain_text;
use super::wikilink::Wikilink;
use crate::limits;
use crate::position::LineIndex;

/// The syntax of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LinkKind {
    /// `[text](target)`, or a reference to a definition.
    Markdown,
    /// `![text](target)`, or a reference to a definition.
    Image,
    /// `[[target|text]]`.
    Wikilink,
    /// `![[target|text]]`.
    Embed,
}

/// A link in the text of a document whose target is not external.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// The syntax of the link.
    pub kind: LinkKind,
    /// The destination with escapes and entities decoded (`CommonMark` section 6.3) and
    /// percent-encoding kept. For a wikilink, the text before the `|`.
    pub target: String,
    /// The rendered label, alias or alternative text; for a wikilink without alias, its target. At
    /// most [`limits::MAX_LINK_TEXT_CHARS`] Unicode scalars.
    pub text: String,
    /// Offset of the link's first byte in the file.
    pub offset: usize,
    /// Offset after the link's last byte in the file.
    pub end: usize,
    /// Line on which the link begins, 1-based.
    pub line: usize,
}

/// A link or image in the text of a document with an external target. Autolinks are not listed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExternalLink {
    /// The syntax of the link.
    pub kind: LinkKind,
    /// The destination, in the form of [`Link::target`].
    pub target: String,
    /// Offset of the link's first byte in the file.
    pub offset: usize,
    /// Offset after the link's last byte in the file.
    pub end: usize,
}

/// The links of a document.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Links {
    /// Links to documents and files, in document order.
    pub list: Vec<Link>,
    /// Links with an external target, in document order. The store does not keep them.
    pub external: Vec<ExternalLink>,
    /// Whether there are more than the caps allow.
    pub(super) too_many: bool,
    /// Lines (1-based) of the texts whose links were not read because their brackets nest too
    /// deeply.
    pub(super) unread: Vec<usize>,
}

/// Returns a destination with its escapes and entities decoded (`CommonMark` section 6.3).
pub fn unescaped(destination: &str) -> std::borrow::Cow<'_, str> {
    markdown_it::common::utils::unescape_all(destination)
}

/// Returns the text of the entity `&name;`, if there is one with this name (`CommonMark` section 2.5).
pub fn named_entity(name: &str) -> Option<&'static str> {
    markdown_it::common::utils::get_entity_from_str(&format!("&{name};"))
}

/// Returns whether `target` is external: it has a URI scheme (RFC 3986, section 3.1; at least two
/// letters, as in `CommonMark`) or names a host.
pub fn is_external(target: &str) -> bool {
    let is_scheme = |scheme: &str| {
        scheme.len() > 1
            && scheme.starts_with(|first: char| first.is_ascii_alphabetic())
            && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
    };
    target.starts_with("//") || target.split_once(':').is_some_and(|(scheme, _)| is_scheme(scheme))
}

/// A text that may contain links, and the offset of each of its lines in the body.
pub(super) struct LinkText {
    content: String,
    mapping: Vec<(usize, usize)>,
}

impl LinkText {
    /// Takes the text out of `node`, if it has one.
    pub(super) fn take(node: &mut Node) -> Option<Self> {
        let root = node.cast_mut::<InlineRoot>()?;
        let (content, mapping) = (&mut root.content, &mut root.mapping);
        Some(Self { content: std::mem::take(content), mapping: std::mem::take(mapping) })
    }

    /// Puts U+FFFD in place of each byte of `body` that is not UTF-8. Destinations end at a [`PLACEHOLDER`].
    pub(super) fn mark_invalid_bytes(&mut self, body: &[u8]) {
        if !self.content.contains(PLACEHOLDER) {
            return;
        }
        let content = std::mem::take(&mut self.content);
        let mut pieces = std::mem::take(&mut self.mapping).into_iter().peekable();
        let mut piece = (0, 0);
        for (at, scalar) in content.char_indices() {
            while let Some(begun) = pieces.next_if(|(start, _)| *start <= at) {
                piece = begun;
                self.mapping.push((self.content.len(), begun.1));
            }
            let offset = piece.1 + (at - piece.0);
            let is_invalid = scalar == PLACEHOLDER
                && body.get(offset).is_some_and(|byte| char::from(*byte) != PLACEHOLDER);
            self.content.push(if is_invalid { char::REPLACEMENT_CHARACTER } else { scalar });
            if is_invalid {
                self.mapping.push((self.content.len(), offset + 1));
            }
        }
    }

    /// Returns whether the text contains brackets that may be a link.
    fn has_brackets(&self, has_definitions: bool) -> bool {
        let bytes = self.content.as_bytes();
        memchr::memchr_iter(b']', bytes)
            .any(|at| has_definitions || matches!(bytes.get(at + 1), Some(b'(' | b'[' | b']')))
    }
}

/// Reads the links of `texts`. `base` is the offset of the body in the file, and `extensions`
/// contain the link definitions.
pub(super) fn read(
    texts: Vec<LinkText>,
    extensions: RootExtSet,
    base: usize,
    lines: &LineIndex,
) -> Links {
    let has_definitions = extensions.contains::<ReferenceMap>();
    let mut reader = LinkExtractor { extensions, base, lines, links: Links::default() };
    for text in texts.into_iter().filter(|text| text.has_brackets(has_definitions)) {
        reader.read(text);
    }
    reader.links.too_many =
        reader.extensions.get::<LinkScanState>().is_some_and(LinkScanState::is_spent);
    debug_assert!(reader.links.list.is_sorted_by_key(|link| link.offset));
    debug_assert!(reader.links.external.is_sorted_by_key(|link| link.offset));
    reader.links
}

struct LinkExtractor<'a> {
    extensions: RootExtSet,
    base: usize,
    lines: &'a LineIndex,
    links: Links,
}

impl LinkExtractor<'_> {
    fn read(&mut self, LinkText { content, mapping }: LinkText) {
        static PARSER: OnceLock<MarkdownIt> = OnceLock::new();
        let parser = PARSER.get_or_init(link_parser);
        let start = self.base + mapping.first().map_or(0, |first| first.1);
        let mut state = InlineRootExtSet::new();
        let tree = parser.inline.parse(
            content,
            mapping,
            Node::default(),
            parser,
            &mut self.extensions,
            &mut state,
        );
        let reading = self.extensions.get_or_insert_default::<LinkScanState>();
        if std::mem::take(&mut reading.is_too_deep) {
            self.links.unread.push(self.lines.line_of(start));
        }
        tree.walk(|node, _| self.add(node));
    }

    fn add(&mut self, node: &Node) {
        let (kind, target, is_external) = if let Some(link) = node.cast::<link::Link>() {
            (LinkKind::Markdown, &link.url, is_external(&link.url))
        } else if let Some(image) = node.cast::<Image>() {
            (LinkKind::Image, &image.url, is_external(&image.url))
        } else if let Some(link) = node.cast::<Wikilink>() {
            let kind = if link.is_embed { LinkKind::Embed } else { LinkKind::Wikilink };
            // The title of a note may contain a colon.
            (kind, &link.target, link.target.contains("://"))
        } else {
            return;
        };
        let (start, end) = node.srcmap.map_or((0, 0), |place| place.get_byte_offsets());
        let (offset, end) = (self.base + start, self.base + end);
        if is_external {
            self.links.external.push(ExternalLink { kind, target: target.clone(), offset, end });
            return;
        }
        let mut text = node.cast::<Wikilink>().map_or_else(|| plain_text(node), |l| l.text.clone());
        if let Some((end, _)) = text.char_indices().nth(limits::MAX_LINK_TEXT_CHARS) {
            text.truncate(end);
        }
        self.links.list.push(Link {
            kind,
            target: target.clone(),
            text,
            offset,
            end,
            line: self.lines.line_of(offset),
        });
    }
}

#[cfg(test)]
mod tests {
    use LinkKind::{Embed, Image, Markdown, Wikilink};
    use proptest::prelude::*;

    use super::*;

    fn links(text: &str) -> Vec<Link> {
        crate::markdown::parse(text.as_bytes()).links.list
    }

    /// Asserts kind, target and text of the links of `text`, and that each begins at its offset and
    /// line.
    fn check(text: &str, expected: &[(LinkKind, &str, &str)]) {
        let links = links(text);
        let found: Vec<_> =
            links.iter().map(|l| (l.kind, l.target.as_str(), l.text.as_str())).collect();
        assert_eq!(found, expected, "{text}");
        for link in links {
            assert!(text[link.offset..].starts_with(['[', '!']), "{text}: {link:?}");
            assert!(text[..link.end].ends_with([']', ')']), "{text}: {link:?}");
            assert_eq!(link.line, 1 + text[..link.offset].matches('\n').count(), "{text}");
        }
    }

    #[test]
    fn links_of_every_kind() {
        check("[a *b* `c`](d.md \"title\")", &[(Markdown, "d.md", "a b c")]);
        check("![alt **x**](i.png)", &[(Image, "i.png", "alt x")]);
        check("[[a]] ![[b]]", &[(Wikilink, "a", "a"), (Embed, "b", "b")]);
        check("[![i](i.png)](a.md)", &[(Markdown, "a.md", "i"), (Image, "i.png", "i")]);
        check("![[i.png|10x20]]", &[(Embed, "i.png", "10x20")]);
        check("[](a.md) [x]()", &[(Markdown, "a.md", ""), (Markdown, "", "x")]);
        check("[](<>)", &[(Markdown, "", "")]);
    }

    #[test]
    fn destinations_keep_percent_encoding() {
        for (text, target) in [
            ("[a](<b c.md>)", "b c.md"),
            ("[a](b\\_c\\(.md)", "b_c(.md"),
            ("[a](b&amp;c&#35;.md)", "b&c#.md"),
            ("[a](b%20c.md#d%C3%A9)", "b%20c.md#d%C3%A9"),
            ("[a](b(c)d.md)", "b(c)d.md"),
            ("[a](日本語 'x')", "日本語"),
            ("[a]( b.md )", "b.md"),
            ("[a](file.md#x \"t (u)\")", "file.md#x"),
            ("[a](a\\b.md)", "a\\b.md"),
        ] {
            check(text, &[(Markdown, target, "a")]);
        }
    }

    #[test]
    fn reference_links() {
        check(
            "[a][b] [b][] [b]\n\n[B]: c.md 't'",
            &[(Markdown, "c.md", "a"), (Markdown, "c.md", "b"), (Markdown, "c.md", "b")],
        );
        check(
            "> ![a][x]\n> \n> [x]: i.png\n\n# [x]",
            &[(Image, "i.png", "a"), (Markdown, "i.png", "x")],
        );
        check("[a][b] [b]", &[]);
        check("[^1]\n\n[^1]: note", &[]);
        check("[^1](a.md)\n\n[^1]: note", &[(Markdown, "a.md", "^1")]);
    }

    #[test]
    fn wikilinks() {
        for (text, target, shown) in [
            ("[[a|b]]", "a", "b"),
            ("[[ a | b c ]]", "a", "b c"),
            ("[[a\\|b]]", "a", "b"),
            ("[[a#h|b]]", "a#h", "b"),
            ("[[a#h 1#h 2]]", "a#h 1#h 2", "a#h 1#h 2"),
            ("[[a^block]]", "a^block", "a^block"),
            ("[[#^block]]", "#^block", "#^block"),
            ("[[a%20b]]", "a%20b", "a%20b"),
            ("[[a|]]", "a", "a"),
            ("[[Sq]uare]]", "Sq]uare", "Sq]uare"),
            ("[[Ünï/*x*]]", "Ünï/*x*", "Ünï/*x*"),
            ("[[a|`b`]]", "a", "`b`"),
            ("[[Topic: part]]", "Topic: part", "Topic: part"),
        ] {
            check(text, &[(Wikilink, target, shown)]);
        }
        for text in
            ["[[]]", "[[ ]]", "[[|a]]", "[[a\nb]]", "[[a [b] c]]", "\\[[a]]", "[[a]", "[a]]"]
        {
            check(text, &[]);
        }
    }

    #[test]
    fn commonmark_wins_over_wikilinks() {
        check("[[1]](a.md)", &[(Markdown, "a.md", "[1]")]);
        check("[[1]]\n\n[1]: a.md", &[(Markdown, "a.md", "1")]);
        check("[[a]] (b)", &[(Wikilink, "a", "a")]);
    }

    #[test]
    fn code_comments_and_html_contain_no_links() {
        for text in [
            "`[a](b.md)` ``[[c]]``",
            "` x [a](b.md) `` y `",
            "[`a`, `[b](c.md)` `",
            "```\n[a](b.md)\n```",
            "~~~\n[[a]]\n~~~",
            "x\n\n    [a](b.md)",
            "<!-- [a](b.md) -->",
            "x <!-- [a](b.md)\n[[c]] --> y",
            "x <!-- [a](b.md) -- [a](b.md)\n-- --> y",
            "x <!-- [a](#b--c) -->",
            "<div>\n[a](b.md)\n</div>",
            "x <b title=\"[a](b.md)\">y</b>",
            "x <? [a](b.md) ?> <![CDATA[ [[a]] ]]> <!A [a](b.md)>",
            "<a href=\"b.md\">x</a>",
            "\\[a](b.md)",
            "[a] (b.md)",
            "| `[a](b.md)` | <!-- [[a]] --> |\n| - | - |",
        ] {
            check(text, &[]);
        }
        check(
            "x <!--> [a](b.md) <!---> [a](b.md) -->",
            &[(Markdown, "b.md", "a"), (Markdown, "b.md", "a")],
        );
        check("x <!-- [a](b.md)", &[(Markdown, "b.md", "a")]);
        check("[x <!-- ](y.md) -->](b.md)", &[(Markdown, "b.md", "x")]);
        check("`` a ` [x](y.md)", &[(Markdown, "y.md", "x")]);
        check("`` a `[x](y.md)` b", &[]);
        check("<details>\n\n[a](b.md)\n\n</details>", &[(Markdown, "b.md", "a")]);
    }

    #[test]
    fn lines_are_exact_in_containers_and_tables() {
        let cases = [
            "> a\n> b [x](y.md)\nlazy [x](y.md)\n> > [x](y.md)",
            "- a\n  [x](y.md)\n\n\t[x](y.md)\n1. a\n\n   > b\n   >\t[x](y.md)",
            "a\n\t  [x](y.md)\n    [x](y.md)",
            "a [x](y.md)\nb [x](y.md)\n===\n\n## c [x](y.md) ##",
            "| a | b \\| [x](y.md) |\n| --- | - |\n| [x](y.md) | é [x](y.md)\n[x](y.md)",
            "---\na: 1\n---\n\ntext [x\n](y.md) and [x](y.md)",
        ];
        for text in cases {
            let count = text.matches("](y.md)").count();
            check(text, &vec![(Markdown, "y.md", "x"); count]);
        }
        let file = "\u{FEFF}a\r\n[[b]]\r[[c]]";
        let lines: Vec<_> = links(file).iter().map(|link| (link.offset, link.line)).collect();
        assert_eq!(lines, [(6, 2), (12, 3)]);
        check(
            "| [[a\\|b]] | ![[c\\|d\\|e]] |\n|-|-|",
            &[(Wikilink, "a", "b"), (Embed, "c", "d|e")],
        );
    }

    #[test]
    fn external_targets_are_listed_separately() {
        let text = "[a](http://b) ![c](//d/e) [f](mailto:g@h) <http://i> [[http://j]] [k](C:/l)";
        let document = crate::markdown::parse(text.as_bytes());
        assert_eq!(document.links.external.len(), 4);
        assert_eq!(document.links.list.len(), 1);
        assert!(is_external("xref:a.b") && !is_external("a/b:c") && !is_external("a b:c"));
    }

    #[test]
    fn invalid_bytes_become_replacement_characters() {
        let document = crate::markdown::parse(b"[a\xFFb](<c\xFE.md>)");
        let link = &document.links.list[0];
        assert_eq!((&*link.target, &*link.text), ("c\u{FFFD}.md", "a\u{FFFD}b"));
    }

    #[test]
    fn texts_of_links_are_bounded() {
        let text = links(&format!("[{}](a.md)", "é".repeat(1000))).remove(0).text;
        assert_eq!(text.chars().count(), limits::MAX_LINK_TEXT_CHARS);
    }

    #[test]
    fn too_many_links_are_reported() {
        let text = "[a](b)\n".repeat(limits::MAX_LINKS_PER_DOCUMENT + 10);
        let document = crate::markdown::parse(text.as_bytes());
        assert_eq!(document.links.list.len(), limits::MAX_LINKS_PER_DOCUMENT);
        assert_eq!(document.diagnostics[0].code, "TOO_MANY_LINKS");
    }

    #[test]
    fn brackets_nested_too_deeply_are_reported() {
        let text = format!("a\n\n[x](y) {}\n\n[x](y)", "[a ".repeat(limits::MAX_LINK_NESTING + 1));
        let document = crate::markdown::parse(text.as_bytes());
        assert_eq!(document.links.list.len(), 2);
        let diagnostic = &document.diagnostics[0];
        assert_eq!((diagnostic.code, diagnostic.line), ("LINKS_UNREAD", Some(3)));
    }

    proptest! {
        #[test]
        fn links_begin_with_brackets_on_their_lines(
            text in "([\\[\\]()!`<>|\\\\#^*_~& \t\nab.:-]|\\[\\[|\\]\\]|\\]\\(|> |- |é|\r\n){0,60}",
        ) {
            let lines = LineIndex::new(text.as_bytes());
            let mut last = 0;
            for link in links(&text) {
                prop_assert!(text[link.offset..].starts_with(['[', '!']));
                prop_assert!(text[..link.end].ends_with([']', ')']));
                prop_assert_eq!(link.line, lines.line_of(link.offset));
                prop_assert!(link.offset >= last);
                last = link.offset;
            }
        }
    }
}
