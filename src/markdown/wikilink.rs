//! Wikilinks and embeds, as a rule of the inline parser.
//!
//! Invariant: the search for the end of a link is linear in the text, because it stops where the
//! next link could begin.

use markdown_it::parser::inline::{InlineRule, InlineState};
use markdown_it::plugins::cmark::block::reference::ReferenceMap;
use markdown_it::{Node, NodeValue};

use super::link_scan::{LinkScanState, rest};

/// A wikilink or an embed.
#[derive(Debug)]
pub(super) struct Wikilink {
    pub(super) is_embed: bool,
    pub(super) target: String,
    /// The visible text: the alias, or the target.
    pub(super) text: String,
}
impl NodeValue for Wikilink {}

/// `[[target|alias]]`, or `![[target|alias]]`.
pub(super) struct WikilinkRule<const EMBED: bool>;

impl<const EMBED: bool> WikilinkRule<EMBED> {
    const OPENING: &'static str = if EMBED { "![[" } else { "[[" };

    /// Returns the text between the brackets. It is on one line and contains no opening bracket.
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

    /// Splits the text between the brackets into target and visible text. In a table, `|` is
    /// written as `\|`.
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
        state.root_ext.get_or_insert_default::<LinkScanState>().add(&target);
        Some((Node::new(Wikilink { is_embed: EMBED, target, text }), length))
    }
}
