//! The inline parser that reads links: the stock rules, bounded, and wikilinks.
//!
//! Invariant: the work for a text is linear in it times [`limits::MAX_LINK_NESTING`], and what stands
//! in code spans, comments and HTML tags is never a link. Where the rules of `CommonMark` and those of
//! wikilinks both read the same brackets, `CommonMark` wins: `[[1]](url)` is a link, and so is
//! `[[name]]` where `[name]` has a definition.

use std::collections::HashMap;
use std::marker::PhantomData;

use markdown_it::generics::inline::code_pair::CodePairScanner;
use markdown_it::generics::inline::full_link::{LinkPrefixScanner, LinkScanner};
use markdown_it::parser::extset::{InlineRootExt, RootExt};
use markdown_it::parser::inline::builtin::TextScanner;
use markdown_it::parser::inline::{InlineRule, InlineState};
use markdown_it::parser::linkfmt::LinkFormatter;
use markdown_it::plugins::cmark::block::reference::ReferenceMap;
use markdown_it::plugins::cmark::inline::image::{self, Image};
use markdown_it::plugins::cmark::inline::link::{self, Link};
use markdown_it::plugins::cmark::inline::{autolink, backticks, emphasis, entity, escape, newline};
use markdown_it::plugins::extra::strikethrough;
use markdown_it::plugins::html::html_inline::HtmlInlineScanner;
use markdown_it::{MarkdownIt, Node, NodeValue};

use crate::limits;

/// A parser of inline text whose tree holds every link; text outside of links is left out.
pub(super) fn link_parser() -> MarkdownIt {
    let mut parser = MarkdownIt::new();
    parser.link_formatter = Box::new(AsWritten);
    link::add(&mut parser);
    image::add(&mut parser);
    parser.inline.remove_rule::<StockLink>();
    parser.inline.remove_rule::<StockImage>();
    parser.inline.remove_rule::<TextScanner>();
    parser.inline.add_rule::<PlainText>().before_all();
    parser.inline.add_rule::<Bounded<StockLink>>();
    parser.inline.add_rule::<Bounded<StockImage>>();
    parser.inline.add_rule::<WikilinkRule<false>>();
    parser.inline.add_rule::<WikilinkRule<true>>();
    newline::add(&mut parser);
    escape::add(&mut parser);
    backticks::add(&mut parser);
    parser.inline.remove_rule::<CodePairScanner<'`'>>();
    parser.inline.add_rule::<CodeSpan>();
    emphasis::add(&mut parser);
    autolink::add(&mut parser);
    entity::add(&mut parser);
    strikethrough::add(&mut parser);
    parser.inline.add_rule::<Html>();
    parser
}

type StockLink = LinkScanner<false>;
type StockImage = LinkPrefixScanner<'!', true>;

/// Leaves destinations as they are written: nothing is percent-encoded, and none is refused, for a
/// target is told and never followed.
#[derive(Debug)]
pub(super) struct AsWritten;

impl LinkFormatter for AsWritten {
    fn validate_link(&self, _: &str) -> Option<()> {
        Some(())
    }

    fn normalize_link(&self, url: &str) -> String {
        url.to_owned()
    }

    fn normalize_link_text(&self, url: &str) -> String {
        url.to_owned()
    }
}

/// A wikilink or an embed.
#[derive(Debug)]
pub(super) struct Wikilink {
    pub(super) is_embed: bool,
    pub(super) target: String,
    /// What a reader sees: the alias, or the target.
    pub(super) text: String,
}
impl NodeValue for Wikilink {}

/// How far the reading of a document has come.
#[derive(Debug, Default)]
pub(super) struct Reading {
    links: usize,
    bytes: usize,
    /// Whether the brackets of the text are nested too deeply for it to be read.
    pub(super) is_too_deep: bool,
}
impl RootExt for Reading {}

impl Reading {
    fn add(&mut self, target: &str) {
        self.links += 1;
        self.bytes += target.len();
    }

    /// Whether no further link is read.
    pub(super) fn is_spent(&self) -> bool {
        self.links >= limits::MAX_LINKS_PER_DOCUMENT || self.bytes >= limits::MAX_LINK_BYTES
    }
}

fn rest<'a>(state: &'a InlineState) -> &'a str {
    state.src.get(state.pos..state.pos_max).unwrap_or_default()
}

/// The length of all that is left, where nothing more of this text is to be read.
fn given_up(state: &mut InlineState) -> Option<usize> {
    let reading = state.root_ext.get_or_insert_default::<Reading>();
    // The stock rule recurses once for every bracket that is open.
    reading.is_too_deep |= state.level as usize >= limits::MAX_LINK_NESTING;
    (reading.is_too_deep || reading.is_spent()).then(|| state.pos_max - state.pos)
}

/// A stock rule of links whose recursion is bounded; a text that goes deeper is given up.
struct Bounded<Rule>(PhantomData<Rule>);

impl<Rule: InlineRule> Bounded<Rule> {
    fn begins(state: &InlineState) -> bool {
        let rest = rest(state);
        if Rule::MARKER == '[' { rest.starts_with('[') } else { rest.starts_with("![") }
    }

    /// Whether the brackets are a footnote reference, though `[^1]: url` looks like a definition.
    fn is_footnote(state: &InlineState, length: usize) -> bool {
        let rest = rest(state);
        rest.starts_with("[^") && !rest.get(..length).is_some_and(|link| link.ends_with(')'))
    }
}

impl<Rule: InlineRule> InlineRule for Bounded<Rule> {
    const MARKER: char = Rule::MARKER;

    fn check(state: &mut InlineState) -> Option<usize> {
        if !Self::begins(state) {
            return None;
        }
        if let Some(length) = given_up(state) {
            return Some(length);
        }
        state.level += 1;
        let length = Rule::check(state);
        state.level -= 1;
        length.filter(|&length| !Self::is_footnote(state, length))
    }

    fn run(state: &mut InlineState) -> Option<(Node, usize)> {
        if !Self::begins(state) {
            return None;
        }
        if let Some(length) = given_up(state) {
            return Some((Node::default(), length));
        }
        state.level += 1;
        let result = Rule::run(state);
        state.level -= 1;
        let (node, length) = result.filter(|(_, length)| !Self::is_footnote(state, *length))?;
        let target = node.cast::<Link>().map(|link| link.url.as_str());
        let target = target.or_else(|| node.cast::<Image>().map(|image| image.url.as_str()));
        state.root_ext.get_or_insert_default::<Reading>().add(target.unwrap_or_default());
        Some((node, length))
    }
}

/// `[[target|alias]]`, or `![[target|alias]]`.
struct WikilinkRule<const EMBED: bool>;

impl<const EMBED: bool> WikilinkRule<EMBED> {
    const OPENING: &'static str = if EMBED { "![[" } else { "[[" };

    /// What stands between the brackets: on one line, without a further opening bracket.
    fn inside<'a>(state: &'a InlineState) -> Option<&'a str> {
        let text = rest(state).strip_prefix(Self::OPENING)?;
        let mut end = 0;
        loop {
            let tail = text.get(end..)?;
            let at = tail.find(['[', ']', '\n'])?;
            end += at;
            match tail.get(at..)? {
                tail if tail.starts_with("]]") => break,
                tail if tail.starts_with(']') => end += 1,
                _ => return None,
            }
        }
        let inside = text.get(..end)?;
        let is_defined = |map: &ReferenceMap| map.get(inside).is_some();
        (!state.root_ext.get::<ReferenceMap>().is_some_and(is_defined)).then_some(inside)
    }

    fn length_of(inside: &str) -> usize {
        Self::OPENING.len() + inside.len() + "]]".len()
    }

    /// Target and text; `\|` is how a table says `|`.
    fn parts(inside: &str) -> Option<(&str, &str)> {
        let (target, alias) = inside.split_once('|').map_or((inside, ""), |(target, alias)| {
            (target.strip_suffix('\\').unwrap_or(target), alias)
        });
        let (target, alias) = (target.trim(), alias.trim());
        (!target.is_empty()).then_some((target, if alias.is_empty() { target } else { alias }))
    }
}

impl<const EMBED: bool> InlineRule for WikilinkRule<EMBED> {
    const MARKER: char = if EMBED { '!' } else { '[' };

    fn check(state: &mut InlineState) -> Option<usize> {
        let inside = Self::inside(state)?;
        Self::parts(inside)?;
        Some(Self::length_of(inside))
    }

    fn run(state: &mut InlineState) -> Option<(Node, usize)> {
        let inside = Self::inside(state)?;
        let length = Self::length_of(inside);
        let (target, text) = Self::parts(inside)?;
        let (target, text) = (target.to_owned(), text.to_owned());
        state.root_ext.get_or_insert_default::<Reading>().add(&target);
        Some((Node::new(Wikilink { is_embed: EMBED, target, text }), length))
    }
}

/// Text up to the next byte at which a rule may begin; kept inside of links alone.
struct PlainText;

impl PlainText {
    fn length(state: &InlineState, markers: &[u8]) -> usize {
        let rest = rest(state).as_bytes();
        let begins = |(at, byte): (usize, &u8)| match byte {
            b'[' | b']' | b'`' | b'<' | b'\\' => true,
            b'!' => rest.get(at + 1) == Some(&b'['),
            _ => markers.contains(byte),
        };
        rest.iter().enumerate().position(|place| begins(place)).unwrap_or(rest.len())
    }
}

impl InlineRule for PlainText {
    const MARKER: char = '\0';

    fn check(state: &mut InlineState) -> Option<usize> {
        Some(Self::length(state, b"")).filter(|&length| length > 0)
    }

    fn run(state: &mut InlineState) -> Option<(Node, usize)> {
        let is_label = state.link_level > 0;
        // Emphasis nests as deeply as its text is long, and of a long label little is kept.
        let is_short = state.pos_max - state.pos <= limits::MAX_TITLE_BYTES;
        let markers: &[u8] = if is_label && is_short { b"*_~&\n" } else { b"" };
        let length = Self::length(state, markers);
        if is_label {
            state.trailing_text_push(state.pos, state.pos + length);
        }
        if length < state.pos_max - state.pos {
            // The rules behind this one go on where it ends.
            state.pos += length;
            return None;
        }
        Some((Node::default(), length))
    }
}

/// Code spans. The stock rule reads a run of backticks that opens no span anew from each backtick; here
/// such a run is text as a whole.
struct CodeSpan;

impl CodeSpan {
    fn run_length(state: &InlineState) -> Option<usize> {
        let rest = rest(state);
        Some(rest.len() - rest.trim_start_matches('`').len()).filter(|&length| length > 0)
    }
}

impl InlineRule for CodeSpan {
    const MARKER: char = '`';

    fn check(state: &mut InlineState) -> Option<usize> {
        let length = Self::run_length(state)?;
        CodePairScanner::<'`'>::check(state).or(Some(length))
    }

    fn run(state: &mut InlineState) -> Option<(Node, usize)> {
        let length = Self::run_length(state)?;
        let span = CodePairScanner::<'`'>::run(state);
        if span.is_none() && state.link_level > 0 {
            state.trailing_text_push(state.pos, state.pos + length);
        }
        span.or_else(|| Some((Node::default(), length)))
    }
}

/// Where each closing delimiter of HTML stands last in a text.
#[derive(Debug, Default)]
struct LastClosers(HashMap<&'static str, usize>);
impl InlineRootExt for LastClosers {}

/// The stock rule of inline HTML looks for the end of an instruction, a declaration or a CDATA
/// section in all of the text, from each beginning anew; here only where there is an end.
struct Html;

impl InlineRule for Html {
    const MARKER: char = '<';

    fn run(state: &mut InlineState) -> Option<(Node, usize)> {
        let rest = rest(state);
        let closer = match rest.as_bytes() {
            [b'<', b'?', ..] => "?>",
            [b'<', b'!', b'[', ..] => "]]>",
            [b'<', ..] => ">",
            _ => return None,
        };
        let closers = state.inline_ext.get::<LastClosers>();
        let last = match closers.and_then(|closers| closers.0.get(closer)) {
            Some(&last) => last,
            None => {
                let last = state.src.rfind(closer).unwrap_or(0);
                state.inline_ext.get_or_insert_default::<LastClosers>().0.insert(closer, last);
                last
            }
        };
        if last < state.pos { None } else { HtmlInlineScanner::run(state) }
    }
}
