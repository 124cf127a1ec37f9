//! Addresses: one grammar for every place in every document. Pure.
//!
//! An address is a namespace, a locator and parameters (contract, section 2). This module takes text
//! apart; what its parts stand for in a store is decided in [`crate::query`]. Invariant: whatever
//! this program emits parses to what it was made from.

pub mod fault;
pub mod namespace;
pub mod selector;
pub mod suggest;
pub mod tree;

pub use fault::{Fault, FaultCode};
pub use selector::{Ordinal, Selector, Step, StepKind};
pub use tree::{DeadEnd, Scope, Tree};

/// Which part of a section is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Part {
    /// Its heading lines.
    Heading,
    /// Its own text, heading included, child sections not.
    Own,
    /// All of it.
    All,
}

/// How much of a node is meant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Params {
    /// The whole node, however long.
    pub full: bool,
    /// One page, 0-based.
    pub page: Option<usize>,
    /// Words a page; 0 for one page of everything.
    pub words: Option<usize>,
    /// One part of a section.
    pub part: Option<Part>,
    /// The first lines only.
    pub head: Option<usize>,
    /// The last lines only, of the first ones where `head` is given too.
    pub tail: Option<usize>,
}

/// A place in a document, as it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Locator {
    /// `*`: the whole document.
    Document,
    /// `@frontmatter`.
    FrontMatter,
    /// `@48`: what stands at a line, 1-based.
    Line(usize),
    /// `#0/#1`: child sections by index, 0-based, with the digits as they were written.
    IndexPath(Vec<usize>, String),
    /// `#name`: a GitHub anchor.
    Anchor(String),
    /// `ldmd:id`: an LDMD section.
    Ldmd(String),
    /// Steps.
    Selector(Selector),
    /// A path of slugs, a title, or a part of one.
    SectionPath(String),
}

/// A locator with its parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParsedPlace {
    /// The place.
    pub locator: Locator,
    /// How much of it.
    pub params: Params,
}

/// Takes a locator and its parameters apart. `text` stands behind the `::`, or has none.
///
/// In a selector the first `?` begins the parameters, and they must be right. In any other locator
/// they begin at the last `?` whose rest is made of known keys; otherwise it is text.
pub fn parse_place(text: &str) -> Result<ParsedPlace, Fault> {
    if selector::is_selector(text) {
        let (steps, query) = match text.split_once('?') {
            Some((steps, query)) => (steps, Some(query)),
            None => (text, None),
        };
        let mut selector = Selector::parse(steps)?;
        let mut params = match query {
            Some(query) => parse_params(query, steps.chars().count() + 1)?,
            None => Params::default(),
        };
        if let Some(page) = selector.page.take() {
            if params.page.is_some() || params.full {
                let message = "a page[n] step goes with neither page= nor full=";
                return Err(
                    Fault::new(FaultCode::MalformedQuery, message).at(steps.chars().count() + 1)
                );
            }
            params.page = Some(page);
        }
        return Ok(ParsedPlace { locator: Locator::Selector(selector), params });
    }
    let (locator, params) = match split_known_params(text) {
        Some((locator, query)) => (locator, parse_params(query, locator.chars().count() + 1)?),
        None => (text, Params::default()),
    };
    Ok(ParsedPlace { locator: parse_locator(locator)?, params })
}

/// The text before the last `?` and that behind it, where that is made of known keys alone.
pub fn split_known_params(text: &str) -> Option<(&str, &str)> {
    let (locator, query) = text.rsplit_once('?')?;
    let is_known = |pair: &str| pair.split_once('=').is_some_and(|(key, _)| KEYS.contains(&key));
    query.split('&').all(is_known).then_some((locator, query))
}

const KEYS: [&str; 6] = ["full", "page", "words", "part", "head", "tail"];

/// The number that digits alone are; one beyond all numbers is the largest, and so out of range.
pub fn whole_number(digits: &str) -> Option<usize> {
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| digits.parse().unwrap_or(usize::MAX))
}

fn parse_locator(text: &str) -> Result<Locator, Fault> {
    if text.is_empty() {
        return Err(Fault::new(FaultCode::EmptySelector, "nothing is named").at(0));
    }
    if text == "*" {
        return Ok(Locator::Document);
    }
    if text == "@frontmatter" {
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

/// Parses what stands behind the `?`; `position` is where that is, in Unicode scalars.
pub fn parse_params(query: &str, position: usize) -> Result<Params, Fault> {
    let mut params = Params::default();
    let mut at = position;
    let mut seen = Vec::new();
    for pair in query.split('&') {
        let fault = |message: String| Err(Fault::new(FaultCode::MalformedQuery, message).at(at));
        let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
        if seen.contains(&key) {
            return fault(format!("{key:?} stands twice"));
        }
        let number = value.parse::<usize>().ok().filter(|_| !value.starts_with('+'));
        let is_right = match key {
            "full" => {
                params.full = value == "true";
                matches!(value, "true" | "false")
            }
            "part" => {
                params.part = match value {
                    "heading" => Some(Part::Heading),
                    "own" => Some(Part::Own),
                    "all" => Some(Part::All),
                    _ => None,
                };
                params.part.is_some()
            }
            "page" | "words" | "head" | "tail" => {
                match key {
                    "page" => params.page = number,
                    "words" => params.words = number,
                    "head" => params.head = number,
                    _ => params.tail = number,
                }
                number.is_some()
            }
            _ => return fault(format!("{key:?} is no parameter: {} are", KEYS.join(", "))),
        };
        if !is_right {
            return fault(format!("{value:?} is no value of {key}"));
        }
        seen.push(key);
        at += pair.chars().count() + 1;
    }
    if params.page.is_some() && params.full {
        let message = "page and full do not go together";
        return Err(Fault::new(FaultCode::MalformedQuery, message).at(position));
    }
    Ok(params)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn locator(text: &str) -> Locator {
        parse_place(text).unwrap().locator
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
        assert!(matches!(locator("h2.1"), Locator::Selector(_)));
        assert_eq!(parse_place("").unwrap_err().code, FaultCode::EmptySelector);
    }

    #[test]
    fn a_question_mark_begins_parameters_only_where_they_are_known() {
        assert_eq!(locator("What is it?"), Locator::SectionPath("What is it?".into()));
        let place = parse_place("What is it??page=2&words=7").unwrap();
        assert_eq!(place.locator, Locator::SectionPath("What is it?".into()));
        assert_eq!((place.params.page, place.params.words), (Some(2), Some(7)));
        assert_eq!(locator("why?because=x"), Locator::SectionPath("why?because=x".into()));
    }

    #[test]
    fn wrong_parameters_of_a_selector_are_told_with_their_place() {
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
            let fault = parse_place(text).unwrap_err();
            assert_eq!((fault.code, fault.position), (FaultCode::MalformedQuery, Some(position)));
        }
        assert!(parse_place("section[0]?page=1&full=false").is_ok());
    }
}
