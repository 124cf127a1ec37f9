//! Places in a document, as they are written after the `::` of an address.
//!
//! Defines locators, and the order in which a text is interpreted as one. Invariant: a text means
//! the first of its places that exists in a document.

use std::fmt;

use super::corrections::corrections;
use super::fault::{AddressError, FaultCode};
use super::params::{Params, parse_params, split_known_params};
use super::selector::{self, Selector, Step};
use super::whole_number;
use crate::position::LineSpan;

/// The place of the front matter of a document.
pub const FRONT_MATTER_PLACE: &str = "@frontmatter";

/// A place in a document, in the form in which it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Locator {
    /// `*`: the whole document.
    Document,
    /// `@frontmatter`.
    FrontMatter,
    /// `@48`: the section at a line, 1-based.
    Line(usize),
    /// `path:11-13`: exactly these lines, 1-based and inclusive. Only after the path of a document.
    Lines(LineSpan),
    /// `#0/#1`: child sections by index, 0-based, and the digits as they were written.
    IndexPath(Vec<usize>, String),
    /// `#name`: a GitHub anchor.
    Anchor(String),
    /// `ldmd:id`: an LDMD section.
    Ldmd(String),
    /// Steps from the document, and their text, which may also be the title of a section.
    Selector(Selector, String),
    /// A section by its exact slug path or title.
    SectionPath(String),
    /// A section by a part of its title or slug.
    TitlePart(String),
}

impl fmt::Display for Locator {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Document => formatter.write_str("the document"),
            Self::FrontMatter => formatter.write_str("front matter"),
            Self::Line(line) => write!(formatter, "line {line}"),
            Self::Lines(lines) => write!(formatter, "lines {}-{}", lines.start, lines.end),
            Self::IndexPath(_, digits) => write!(formatter, "index #{digits}"),
            Self::Anchor(anchor) => write!(formatter, "anchor {anchor:?}"),
            Self::Ldmd(id) => write!(formatter, "LDMD section {id:?}"),
            Self::Selector(selector, _) => write!(formatter, "selector {selector}"),
            Self::SectionPath(path) => write!(formatter, "section {path:?}"),
            Self::TitlePart(part) => write!(formatter, "part of a title {part:?}"),
        }
    }
}

/// A place, the steps that follow it, and the part of it that is meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParsedPlace {
    /// The place.
    pub locator: Locator,
    /// Steps from that place; empty for the place itself.
    pub steps: Vec<Step>,
    /// Which part of it is meant.
    pub params: Params,
}

impl ParsedPlace {
    /// Creates a place without further steps.
    pub fn new(locator: Locator, params: Params) -> Self {
        Self { locator, steps: Vec::new(), params }
    }

    /// Returns the place followed by the steps of `tail`.
    pub(super) fn continued(mut self, tail: Option<&Selector>) -> Result<Self, AddressError> {
        if let Some(tail) = tail {
            self.steps.clone_from(&tail.steps);
            self.params = with_page(self.params, tail.page, 0)?;
        }
        Ok(self)
    }
}

impl fmt::Display for ParsedPlace {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.locator.fmt(formatter)?;
        for (index, step) in self.steps.iter().enumerate() {
            formatter.write_str(if index == 0 { ", then " } else { "/" })?;
            step.fmt(formatter)?;
        }
        self.params.page.map_or(Ok(()), |page| write!(formatter, ", page {page}"))
    }
}

/// Returns the parameters with the page of a `page[n]` step.
fn with_page(params: Params, page: Option<usize>, position: usize) -> Result<Params, AddressError> {
    if page.is_none() {
        return Ok(params);
    }
    if params.page.is_some() || params.full {
        let message = "a page[n] step cannot be combined with page= or full=";
        return Err(AddressError::new(FaultCode::MalformedQuery, message).at(position));
    }
    Ok(Params { page, ..params })
}

/// Splits a title that is written as a heading, such as `## Notes`, into the number of its marks and its text.
pub fn split_marks(text: &str) -> Option<(usize, &str)> {
    let rest = text.trim_start_matches('#');
    let level = text.len() - rest.len();
    let is_heading = (1..=6).contains(&level) && rest.starts_with([' ', '\t']);
    is_heading.then(|| (level, rest.trim()))
}

/// Parses a locator with its parameters in each possible way, in order of precedence: first as one
/// section path, then as a place followed by steps; exact names before parts of names.
///
/// `position` is the offset of `text` in the address, in Unicode scalars. In a selector the
/// parameters begin at the first `?`, and must be valid. In any other locator they begin at the
/// last `?` if only known keys follow it; otherwise the `?` is text. An error contains the text of
/// the selector and suggests similar locators, which need not exist.
pub fn parse_places(text: &str, position: usize) -> Result<Vec<ParsedPlace>, AddressError> {
    if selector::is_selector(text) {
        return Ok(vec![parse_selector(text, position)?]);
    }
    let (text, params) = match split_known_params(text) {
        Some((text, query)) => (text, parse_params(query, position + text.chars().count() + 1)?),
        None => (text, Params::default()),
    };
    let alone = parse_locator(text, position)?;
    let Some((base, tail)) = selector::split_tail(text, position) else {
        let mut places = vec![ParsedPlace::new(alone, params)];
        places.extend(as_title_part(&places));
        return Ok(places);
    };
    let continued = ParsedPlace {
        steps: tail.steps,
        params: with_page(params, tail.page, position)?,
        locator: parse_locator(base, position)?,
    };
    let alone = match alone {
        Locator::Ldmd(id) => Locator::Ldmd(id),
        _ => Locator::SectionPath(text.to_owned()),
    };
    let mut places = vec![ParsedPlace::new(alone, params), continued];
    if matches!(places.last(), Some(ParsedPlace { locator: Locator::SectionPath(_), .. })) {
        places.extend(as_title_part(&places));
    }
    Ok(places)
}

/// Returns the section paths of `places` as parts of titles.
fn as_title_part(places: &[ParsedPlace]) -> Vec<ParsedPlace> {
    let part = |place: &ParsedPlace| match &place.locator {
        Locator::SectionPath(path) => {
            Some(ParsedPlace { locator: Locator::TitlePart(path.clone()), ..place.clone() })
        }
        _ => None,
    };
    places.iter().filter_map(part).collect()
}

fn parse_selector(text: &str, position: usize) -> Result<ParsedPlace, AddressError> {
    let (steps, query) = match text.split_once('?') {
        Some((steps, query)) => (steps, Some(query)),
        None => (text, None),
    };
    let mut selector = Selector::parse_at(steps, position)
        .map_err(|fault| fault.of(steps).suggest(corrections(steps)))?;
    let after = position + steps.chars().count() + 1;
    let params = match query {
        Some(query) => parse_params(query, after)?,
        None => Params::default(),
    };
    let params = with_page(params, selector.page.take(), after)?;
    Ok(ParsedPlace::new(Locator::Selector(selector, steps.to_owned()), params))
}

/// The fault of the parameters at the end of `text`, such as `guide.md?lines=3`, which names nothing; `None` if there are
/// none, or if they are right.
pub fn wrong_params(text: &str) -> Option<AddressError> {
    let (_, query) = text.rsplit_once('?')?;
    let is_pair = |pair: &str| {
        let (key, value) = pair.split_once('=').unwrap_or_default();
        let is_key = |key: &str| key.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
        !key.is_empty() && is_key(key) && !value.contains(char::is_whitespace)
    };
    if !query.split('&').all(is_pair) {
        return None;
    }
    let mut fault = parse_params(query, 0).err()?;
    fault.position = None;
    Some(fault)
}

fn parse_locator(text: &str, position: usize) -> Result<Locator, AddressError> {
    if text.is_empty() {
        return Err(AddressError::empty().at(position));
    }
    if text == "*" {
        return Ok(Locator::Document);
    }
    if text == FRONT_MATTER_PLACE {
        return Ok(Locator::FrontMatter);
    }
    if let Some(line) = text.strip_prefix('@').and_then(whole_number) {
        return Ok(Locator::Line(line));
    }
    if let Some(id) = text.strip_prefix("ldmd:") {
        return Ok(Locator::Ldmd(id.to_owned()));
    }
    if let Some(anchor) = text.strip_prefix("#a:") {
        return Ok(Locator::Anchor(anchor.to_owned()));
    }
    if split_marks(text).is_some_and(|(_, title)| !title.is_empty()) {
        return Ok(Locator::SectionPath(text.to_owned()));
    }
    if let Some(rest) = text.strip_prefix('#') {
        let parts: Option<Vec<usize>> =
            text.split('/').map(|part| part.strip_prefix('#').and_then(whole_number)).collect();
        return Ok(match parts {
            Some(path) => Locator::IndexPath(path, rest.to_owned()),
            None => Locator::Anchor(rest.to_owned()),
        });
    }
    Ok(Locator::SectionPath(text.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(text: &str) -> Vec<ParsedPlace> {
        parse_places(text, 0).unwrap()
    }

    fn locator(text: &str) -> Locator {
        places(text).swap_remove(0).locator
    }

    #[test]
    fn every_kind_of_locator() {
        assert_eq!(locator("*"), Locator::Document);
        assert_eq!(locator("@frontmatter"), Locator::FrontMatter);
        assert_eq!(locator("@48"), Locator::Line(48));
        assert_eq!(locator("@babel/core"), Locator::SectionPath("@babel/core".into()));
        assert_eq!(locator("#0/#1"), Locator::IndexPath(vec![0, 1], "0/#1".into()));
        assert_eq!(locator("#2024"), Locator::IndexPath(vec![2024], "2024".into()));
        assert_eq!(locator("#a:2024"), Locator::Anchor("2024".into()));
        assert_eq!(locator("#foo-1"), Locator::Anchor("foo-1".into()));
        assert_eq!(locator("ldmd:a/b#c"), Locator::Ldmd("a/b#c".into()));
        assert_eq!(locator("code"), Locator::SectionPath("code".into()));
        assert_eq!(locator("/h2.1"), Locator::SectionPath("/h2.1".into()));
        assert!(matches!(locator("h2.1"), Locator::Selector(..)));
        assert_eq!(parse_places("", 7).unwrap_err().position, Some(7));
    }

    #[test]
    fn the_longest_tail_of_steps_continues_a_place() {
        let listed = |text: &str| places(text).iter().map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!(
            listed("Beta/block:code[0]"),
            [
                "section \"Beta/block:code[0]\"",
                "section \"Beta\", then block:code[0]",
                "part of a title \"Beta/block:code[0]\"",
                "part of a title \"Beta\", then block:code[0]",
            ]
        );
        assert_eq!(
            listed("@23/block:list[0]/item[2]"),
            ["section \"@23/block:list[0]/item[2]\"", "line 23, then block:list[0]/item[2]"]
        );
        assert_eq!(
            listed("#0/#1/h2.1"),
            ["section \"#0/#1/h2.1\"", "index #0/#1, then heading:h2[1]"]
        );
        assert_eq!(listed("*/page[1]"), ["section \"*/page[1]\"", "the document, page 1"]);
        assert_eq!(
            listed("ldmd:a/section[0]"),
            ["LDMD section \"a/section[0]\"", "LDMD section \"a\", then section[0]"]
        );
        assert_eq!(listed("/section/h2[0]")[1], "section \"/section\", then heading:h2[0]");
        for text in ["/section[0]", "Beta/item[0]", "Beta/root", "Beta/blok:code[0]", "Beta/"] {
            assert_eq!(
                listed(text),
                [format!("section {text:?}"), format!("part of a title {text:?}")],
                "no well-formed tail"
            );
        }
    }

    #[test]
    fn a_question_mark_begins_parameters_only_before_known_keys() {
        assert_eq!(locator("What is it?"), Locator::SectionPath("What is it?".into()));
        let place = places("What is it??page=2&words=7").swap_remove(0);
        assert_eq!(place.locator, Locator::SectionPath("What is it?".into()));
        assert_eq!((place.params.page, place.params.words), (Some(2), Some(7)));
        assert_eq!(locator("why?because=x"), Locator::SectionPath("why?because=x".into()));
    }

    #[test]
    fn invalid_parameters_of_a_selector_are_reported_with_their_position() {
        for (text, position) in [
            ("section[0]?because=x", 11),
            ("section[0]?", 11),
            ("section[0]?full", 11),
            ("section[0]?page=1&page=2", 18),
            ("section[0]?page=1&full=true", 11),
            ("section[0]?page=-1", 11),
            ("section[0]/page[1]?full=true", 19),
            ("section[0]?part=body", 11),
        ] {
            let fault = parse_places(text, 0).unwrap_err();
            assert_eq!((fault.code, fault.position), (FaultCode::MalformedQuery, Some(position)));
        }
        assert!(parse_places("section[0]?page=1&full=false", 0).is_ok());
        assert!(parse_places("Beta/page[1]?full=true", 0).is_err());
    }
}
