//! The inline parser that reads links: the stock rules, bounded, and that of wikilinks.
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
use markdown_it::plugins::cmark::inline::autolink::AutolinkScanner;
use markdown_it::plugins::cmark::inline::escape::EscapeScanner;
use markdown_it::plugins::cmark::inline::image::{self, Image};
use markdown_it::plugins::cmark::inline::link::{self, Link};
use markdown_it::plugins::cmark::inline::{backticks, emphasis, entity, newline};
use markdown_it::plugins::extra::strikethrough;
use markdown_it::plugins::html::html_inline::HtmlInlineScanner;
use markdown_it::{MarkdownIt, Node};

use super::wikilink::WikilinkRule;
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
    parser.inline.add_rule::<LabelOnly<EscapeScanner>>();
    backticks::add(&mut parser);
    parser.inline.remove_rule::<CodePairScanner<'`'>>();
    parser.inline.add_rule::<LabelOnly<CodeSpan>>();
    emphasis::add(&mut parser);
    parser.inline.add_rule::<LabelOnly<AutolinkScanner>>();
    entity::add(&mut parser);
    strikethrough::add(&mut parser);
    parser.inline.add_rule::<LabelOnly<Html>>();
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

/// How far the reading of a document has come.
#[derive(Debug, Default)]
pub(super) struct Reading {
    brackets: usize,
    links: usize,
    bytes: usize,
    /// Whether the brackets of the text are nested too deeply for it to be read.
    pub(super) is_too_deep: bool,
}
impl RootExt for Reading {}

impl Reading {
    /// Counts a link.
    pub(super) fn add(&mut self, target: &str) {
        self.links += 1;
        self.bytes += target.len();
    }

    /// Whether no further link is read.
    pub(super) fn is_spent(&self) -> bool {
        self.links >= limits::MAX_LINKS_PER_DOCUMENT
            || self.bytes >= limits::MAX_LINK_BYTES
            || self.brackets >= limits::MAX_LINK_BRACKETS
    }
}

/// The text from the current position on.
pub(super) fn rest<'a>(state: &'a InlineState) -> &'a str {
    state.src.get(state.pos..state.pos_max).unwrap_or_default()
}

/// The length of all that is left, where nothing more of this text is to be read.
fn given_up(state: &mut InlineState) -> Option<usize> {
    let reading = state.root_ext.get_or_insert_default::<Reading>();
    reading.brackets += 1;
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

/// Whether markup is read for the text that it shows: in labels, and of long ones, of which little is
/// kept, at the end alone, for emphasis nests as deeply as its text is long.
fn is_rendered(state: &InlineState) -> bool {
    state.link_level > 0 && state.pos_max - state.pos <= limits::MAX_TITLE_BYTES
}

/// A rule whose node is left out where nobody reads it; what it takes is taken all the same.
struct LabelOnly<Rule>(PhantomData<Rule>);

impl<Rule: InlineRule> InlineRule for LabelOnly<Rule> {
    const MARKER: char = Rule::MARKER;

    fn check(state: &mut InlineState) -> Option<usize> {
        Rule::check(state)
    }

    fn run(state: &mut InlineState) -> Option<(Node, usize)> {
        let is_kept = is_rendered(state);
        Rule::run(state)
            .map(|(node, length)| (if is_kept { node } else { Node::default() }, length))
    }
}

/// Text up to the next byte at which a rule may begin; kept inside of links alone.
struct PlainText;

impl PlainText {
    fn length(state: &InlineState, with_markup: bool) -> usize {
        let rest = rest(state).as_bytes();
        let begins = |(at, byte): (usize, &u8)| match byte {
            b'[' | b']' | b'`' | b'<' | b'\\' => true,
            b'!' => rest.get(at + 1) == Some(&b'['),
            b'*' | b'_' | b'~' | b'&' | b'\n' => with_markup,
            _ => false,
        };
        rest.iter().enumerate().position(begins).unwrap_or(rest.len())
    }
}

impl InlineRule for PlainText {
    const MARKER: char = '\0';

    fn check(state: &mut InlineState) -> Option<usize> {
        Some(Self::length(state, false)).filter(|&length| length > 0)
    }

    fn run(state: &mut InlineState) -> Option<(Node, usize)> {
        let length = Self::length(state, is_rendered(state));
        if state.link_level > 0 {
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

#[cfg(test)]
mod tests {
    #[test]
    fn hostile_texts_take_linear_time() {
        let definition = format!("[a]: <{}>\n\n", "x".repeat(4000));
        for part in [
            "[",
            "![",
            "[[",
            "![[",
            "[a](",
            "[a](<",
            "[a](b \"",
            "[a](b (",
            "[a][",
            "[a]",
            "[[a]]",
            "[[a|",
            "*a ",
            "[*a ",
            "`a``b",
            "[`]`",
            "[`]` ",
            "<a ",
            "<?",
            "<?[a]",
            "<![CDATA[",
            "<!A ",
            "<!--",
            "<!-- ",
            "<a b='",
            "&",
            "\\",
            "]",
            "]](",
            "[ ![ ",
            "[]()[",
            "|[a](b)",
            "[[a]](",
            "[a\\",
            "![a](b)[",
            "`",
            "[_*",
            "[](`",
            "(",
            "[](\\(",
        ] {
            for (before, after) in
                [("", ""), ("[", "](x)"), ("x ", "]"), (&*definition, "]"), ("[a]: ", "")]
            {
                let text = [before, &part.repeat(1_000_000 / part.len()), after].concat();
                let start = std::time::Instant::now();
                crate::markdown::parse(text.as_bytes());
                assert!(start.elapsed().as_secs() < 5, "{before:.9} {part}");
            }
        }
        let growing: String = (1..1400).map(|length| "`".repeat(length) + "[a]").collect();
        let start = std::time::Instant::now();
        crate::markdown::parse([&growing, "[a](b)"].concat().as_bytes());
        assert!(start.elapsed().as_secs() < 5);
    }
}
