//! The inline parser for links: the stock rules with bounds, and the rule for wikilinks.
//!
//! Invariants: the work for a text is linear in its length times [`limits::MAX_LINK_NESTING`]; code
//! spans, comments and HTML tags contain no links. If both a `CommonMark` rule and the wikilink
//! rule match the same brackets, `CommonMark` wins: `[[1]](url)` is a link, and so is `[[name]]` if
//! `[name]` has a definition.

use std::collections::HashMap;
use std::marker::PhantomData;

use markdown_it::generics::inline::full_link::{LinkPrefixScanner, LinkScanner};
use markdown_it::parser::extset::InlineRootExt;
use markdown_it::parser::inline::builtin::TextScanner;
use markdown_it::parser::inline::{InlineRule, InlineState, Text};
use markdown_it::parser::linkfmt::LinkFormatter;
use markdown_it::plugins::cmark::inline::autolink::AutolinkScanner;
use markdown_it::plugins::cmark::inline::backticks::CodeInline;
use markdown_it::plugins::cmark::inline::escape::EscapeScanner;
use markdown_it::plugins::cmark::inline::image::{self, Image};
use markdown_it::plugins::cmark::inline::link::{self, Link};
use markdown_it::plugins::cmark::inline::{emphasis, entity, newline};
use markdown_it::plugins::extra::strikethrough;
use markdown_it::plugins::html::html_inline::{HtmlInline, HtmlInlineScanner};
use markdown_it::{MarkdownIt, Node};

use super::code_spans::{CodeSpans, run_length};
use super::link_scan::{LinkScanState, given_up, rest};
use super::wikilink::WikilinkRule;
use crate::limits;

/// Returns a parser of inline text whose tree contains every link. Text outside of links is left
/// out.
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

/// Keeps destinations as they are written. None is percent-encoded or rejected, because targets are
/// printed and never opened.
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

/// A stock rule for links with bounded recursion. A text that is nested more deeply is skipped.
struct Bounded<Rule>(PhantomData<Rule>);

impl<Rule: InlineRule> Bounded<Rule> {
    fn begins(state: &InlineState) -> bool {
        let rest = rest(state);
        if Rule::MARKER == '[' { rest.starts_with('[') } else { rest.starts_with("![") }
    }

    /// Returns whether the brackets are a footnote reference. `[^1]: url` looks like a link
    /// definition.
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
        state.root_ext.get_or_insert_default::<LinkScanState>().add(target.unwrap_or_default());
        Some((node, length))
    }
}

/// Returns whether the rendered text of markup is kept. Only labels are kept, and of a long label
/// only the last [`limits::MAX_TITLE_BYTES`], because the depth of emphasis grows with the length
/// of the text.
fn is_rendered(state: &InlineState) -> bool {
    state.link_level > 0 && state.pos_max - state.pos <= limits::MAX_TITLE_BYTES
}

/// A rule whose nodes are kept only in labels. It consumes the same text in any case.
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

/// Matches text up to the next byte at which another rule may match. Keeps it only inside of links.
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
            // The rules after this one continue at its end.
            state.pos += length;
            return None;
        }
        Some((Node::default(), length))
    }
}

/// The code spans of a text, once one of its runs of backticks is parsed.
#[derive(Debug, Default)]
struct Spans(Option<CodeSpans>);
impl InlineRootExt for Spans {}

/// Code spans. The stock rule remembers which runs close no span, but the brackets of a link are parsed twice, and the
/// second time it takes the runs that closed one the first time for such runs. It also scans a run that opens no span
/// again from each of its backticks. This rule takes such a run as text.
pub(super) struct CodeSpan;

impl CodeSpan {
    /// Returns the length in bytes of the run of backticks at the current position, and of the span that it begins.
    fn lengths(state: &mut InlineState) -> Option<(usize, Option<usize>)> {
        let run = Some(run_length(rest(state))).filter(|&length| length > 0)?;
        if state.inline_ext.get::<Spans>().is_none() {
            let spans = Spans(Some(CodeSpans::of(&state.src)));
            *state.inline_ext.get_or_insert_default::<Spans>() = spans;
        }
        let spans = state.inline_ext.get::<Spans>().and_then(|spans| spans.0.as_ref());
        Some((run, spans.and_then(|spans| spans.length_at(state.pos, rest(state)))))
    }
}

impl InlineRule for CodeSpan {
    const MARKER: char = '`';

    fn check(state: &mut InlineState) -> Option<usize> {
        Self::lengths(state).map(|(run, span)| span.unwrap_or(run))
    }

    fn run(state: &mut InlineState) -> Option<(Node, usize)> {
        let (run, span) = Self::lengths(state)?;
        let rest = rest(state);
        let text = |content: String| Node::new(Text { content });
        let Some(span) = span else {
            return Some((text(rest.get(..run)?.to_owned()), run));
        };
        let code = rest.get(run..span - run)?.replace('\n', " ");
        // A space at both ends is not part of the code, unless it is all spaces.
        let inner = code.strip_prefix(' ').and_then(|code| code.strip_suffix(' '));
        let inner = inner.filter(|inner| !inner.trim_start_matches(' ').is_empty());
        let mut node = Node::new(CodeInline { marker: '`', marker_len: run });
        node.children.push(text(inner.map_or_else(|| code.clone(), str::to_owned)));
        Some((node, span))
    }
}

/// The last offset of each closing delimiter of HTML in a text.
#[derive(Debug, Default)]
struct LastClosers(HashMap<&'static str, usize>);
impl InlineRootExt for LastClosers {}

/// The part of a text in which the end of a comment was not found: from a position to the end of the text that
/// was parsed then.
#[derive(Debug, Default)]
struct OpenComment(std::ops::Range<usize>);
impl InlineRootExt for OpenComment {}

/// Inline HTML. From each opening of an instruction, a declaration or a CDATA section, the stock
/// rule searches the whole text for the end. This rule calls it only if an end exists. A comment is parsed as
/// `CommonMark` 0.31 says: it ends at the first `-->`, and may contain `--`.
pub(super) struct Html;

/// Returns the comment at the start of the text that is left, which begins with `<!--`.
fn comment(state: &mut InlineState) -> Option<(Node, usize)> {
    let rest = rest(state);
    let empty = ["<!-->", "<!--->"].into_iter().find(|empty| rest.starts_with(empty));
    let open = state.inline_ext.get::<OpenComment>();
    let is_open = open.is_some_and(|open| open.0.start <= state.pos && state.pos_max <= open.0.end);
    let length = match empty {
        Some(empty) => Some(empty.len()),
        None if is_open => return None,
        None => rest.get(4..).and_then(|inside| inside.find("-->")).map(|end| 4 + end + 3),
    };
    let Some(length) = length else {
        let open = OpenComment(state.pos..state.pos_max);
        *state.inline_ext.get_or_insert_default::<OpenComment>() = open;
        return None;
    };
    let content = rest.get(..length)?.to_owned();
    Some((Node::new(HtmlInline { content }), length))
}

impl InlineRule for Html {
    const MARKER: char = '<';

    fn run(state: &mut InlineState) -> Option<(Node, usize)> {
        let rest = rest(state);
        if rest.starts_with("<!--") {
            return comment(state);
        }
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
    use crate::processor_time::within;

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
            "[<!-- a](u) ",
            "![<!--](u)",
            "[<!-- a](u) <!-- ",
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
                let text = [before, &part.repeat(500_000 / part.len()), after].concat();
                within(5, &format!("{before:.9} {part}"), || {
                    crate::markdown::parse(text.as_bytes())
                });
            }
        }
        let growing: String = (1..1400).map(|length| "`".repeat(length) + "[a]").collect();
        let text = [&growing, "[a](b)"].concat();
        within(5, "growing runs", || crate::markdown::parse(text.as_bytes()));
    }
}
