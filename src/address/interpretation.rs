//! Interpretations: all possible meanings of an address, in order of precedence.
//!
//! Only this module parses the text of an address. A resolver looks up the interpretations in a store one
//! after another, and takes the first that names an existing place. Invariant: the interpretations depend
//! on the text alone, and are completely parsed.

use std::borrow::Cow;
use std::fmt;

use super::fault::AddressError;
use super::namespace;
use super::notation::path_and_lines;
use super::params::{Params, parse_params, split_known_params};
use super::place::{Locator, ParsedPlace, parse_places};
use super::selector::{self, Selector};
use super::whole_number;
use crate::percent::percent_encode;
use crate::position::LineSpan;
use crate::visible::is_unsafe;

/// One meaning of an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Interpretation {
    /// The document with exactly this path.
    ExactPath {
        /// The path.
        path: String,
        /// The whole document, or the node that steps select in it.
        place: ParsedPlace,
    },
    /// `name::place`.
    Namespaced {
        /// The name of a document.
        name: String,
        /// The possible meanings of the text after the `::`, in order of precedence, or its error.
        places: Result<Vec<ParsedPlace>, AddressError>,
    },
    /// Steps that are followed in every document.
    Selector(ParsedPlace),
    /// An LDMD section of any document.
    LdmdSection(ParsedPlace),
    /// `name:LINE`, `name:LINE:COLUMN` or `name:START-END`.
    PathLine {
        /// The name of a document.
        name: String,
        /// The line or lines.
        place: ParsedPlace,
    },
    /// `name#anchor`.
    PathAnchor {
        /// The name of a document.
        name: String,
        /// The anchor.
        place: ParsedPlace,
    },
    /// A whole document by its name, or the node that steps select in it.
    DocumentName {
        /// The name of a document.
        name: String,
        /// The whole document, or the node that steps select in it.
        place: ParsedPlace,
    },
    /// A section of any document, by its exact slug path or title.
    SectionPath(ParsedPlace),
    /// An anchor in any document.
    Anchor(ParsedPlace),
    /// A section of any document, by a part of its title or slug.
    TitlePart(ParsedPlace),
    /// A place that every document has, such as `*` or `@48`. It is valid if the store has only one
    /// document.
    OnlyDocument(ParsedPlace),
    /// A text that is not an address.
    Malformed(AddressError),
}

impl fmt::Display for Interpretation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ExactPath { path, place } => write!(formatter, "exact path {path:?}: {place}"),
            Self::Namespaced { name, places } => {
                write!(formatter, "document {name:?}: ")?;
                match places {
                    Ok(places) => {
                        let places: Vec<String> = places.iter().map(ToString::to_string).collect();
                        formatter.write_str(&places.join("; "))
                    }
                    Err(fault) => write!(formatter, "{}", fault.code.code()),
                }
            }
            Self::PathLine { name, place } | Self::PathAnchor { name, place } => {
                write!(formatter, "document {name:?}: {place}")
            }
            Self::DocumentName { name, place } => {
                write!(formatter, "document name {name:?}: {place}")
            }
            Self::Selector(place) => write!(formatter, "every document: {place}"),
            Self::LdmdSection(place)
            | Self::SectionPath(place)
            | Self::Anchor(place)
            | Self::TitlePart(place) => write!(formatter, "any document: {place}"),
            Self::OnlyDocument(place) => write!(formatter, "the only document: {place}"),
            Self::Malformed(fault) => {
                write!(formatter, "{}: {}", fault.code.code(), fault.message)
            }
        }
    }
}

/// Parses the text of an address into its interpretations.
pub fn interpretations(address: &str) -> Vec<Interpretation> {
    match address.split_once("::") {
        Some((name, place)) => with_namespace(address, name, place),
        None => without_namespace(address)
            .unwrap_or_else(|fault| vec![Interpretation::Malformed(fault)]),
    }
}

/// Returns whether the address selects nodes in every document.
pub fn is_for_every_document(address: &str) -> bool {
    matches!(interpretations(address).as_slice(), [.., Interpretation::Selector(_)])
}

/// Returns the address of the lines from `start` to `end`, 1-based and inclusive, of the document at `path`.
pub fn lines_address(path: &str, start: usize, end: usize) -> String {
    format!("{}:{start}-{end}", name_before_lines(path))
}

/// Returns the path of a document as it is written before lines.
fn name_before_lines(path: &str) -> String {
    let name = namespace::encode(path);
    let is_read = matches!(
        interpretations(&format!("{name}:1-1")).as_slice(),
        [Interpretation::ExactPath { .. }, Interpretation::PathLine { .. }, ..]
    );
    // The path may look like another kind of address.
    if is_read && ends_at_lines(&name) { name } else { without_punctuation(path) }
}

/// Returns whether the first lines in a line of an answer that begins with `name` and lines are those after `name`. A path
/// may itself have the number of a line.
fn ends_at_lines(name: &str) -> bool {
    path_and_lines(&format!("{name}:1:1:")).is_some_and(|(found, ..)| found == name)
}

/// Encodes the first character and the punctuation of a path, so that it looks like no other kind of address.
fn without_punctuation(path: &str) -> String {
    let mut is_first = true;
    percent_encode(path, |scalar| {
        let is_plain = scalar.is_ascii_alphanumeric() || "/.-_".contains(scalar);
        !std::mem::take(&mut is_first) && is_plain
    })
}

/// Returns the path of a document as it is printed before the number of a line: as it is, if it is read so.
pub fn path_before_line(path: &str) -> Cow<'_, str> {
    // Each line of an answer has a path, so this takes no longer than to print it.
    let is_plain =
        |scalar: char| scalar.is_alphanumeric() || matches!(scalar, '/' | '.' | '-' | '_' | ' ');
    // Two blanks would look like those before titles.
    let mut pairs = path.as_bytes().windows(2);
    let has_usual_blanks = !pairs.any(|pair| pair == b"  ") && path.trim() == path;
    if has_usual_blanks && path.chars().all(is_plain) {
        return Cow::Borrowed(path);
    }
    let is_path = |name: &str| name == path && namespace::decode(name) == path;
    let is_other_blank = |scalar: char| scalar.is_whitespace() && scalar != ' ';
    let is_read = has_usual_blanks
        && ends_at_lines(path)
        && !path.chars().any(|scalar| is_unsafe(scalar) || is_other_blank(scalar))
        && matches!(
            interpretations(&format!("{path}:1")).as_slice(),
            [Interpretation::ExactPath { .. }, Interpretation::PathLine { name, .. }, ..] if is_path(name)
        );
    if is_read { Cow::Borrowed(path) } else { Cow::Owned(name_before_lines(path)) }
}

/// Returns whether a name can only be a path relative to the root.
fn is_path_from_root(name: &str) -> bool {
    name.starts_with("./")
}

/// Reads `name::place`. The whole text may also be a title, such as `std::vector`, or the path of a
/// document.
fn with_namespace(address: &str, name: &str, place: &str) -> Vec<Interpretation> {
    let namespaced = |name: &str, place| {
        let places = parse_places(place, name.chars().count() + 2);
        Interpretation::Namespaced { name: name.to_owned(), places }
    };
    let mut interpretations = vec![namespaced(name, place)];
    // The path of a document may have `::`, but hardly many.
    let later = place.match_indices("::").take(4).filter_map(|(at, mark)| {
        let end = name.len() + mark.len() + at;
        Some((address.get(..end)?, address.get(end + mark.len()..)?))
    });
    interpretations.extend(later.map(|(name, place)| namespaced(name, place)));
    if !is_path_from_root(name) {
        if let Ok((text, params)) = split_params(address) {
            interpretations
                .push(Interpretation::ExactPath { path: text.to_owned(), place: whole(params) });
        }
        interpretations.extend(sections(address).unwrap_or_default());
    }
    interpretations
}

fn without_namespace(address: &str) -> Result<Vec<Interpretation>, AddressError> {
    let path =
        |text: &str, params| Interpretation::ExactPath { path: exact(text), place: whole(params) };
    let mut interpretations = vec![path(address, Params::default())];
    if selector::is_selector(address) {
        match parse_places(address, 0).map(|mut places| places.swap_remove(0)) {
            Ok(place) => interpretations.push(Interpretation::Selector(place)),
            Err(fault) => {
                // The path of a document may begin like a selector, as `page/guide.md` does.
                let (text, params) = split_params(address).unwrap_or((address, Params::default()));
                interpretations.extend(of_document(text, params, None)?);
                interpretations.extend(with_steps(text, params)?);
                interpretations.push(Interpretation::Malformed(fault));
            }
        }
        return Ok(interpretations);
    }
    let (text, params) = match split_params(address) {
        Ok(split) => split,
        Err(fault) => {
            // The question mark may be part of the name of a document.
            interpretations.extend(of_document(address, Params::default(), None)?);
            interpretations.push(Interpretation::Malformed(fault));
            return Ok(interpretations);
        }
    };
    if text != address {
        interpretations.push(path(text, params));
    }
    if address.starts_with("ldmd:") {
        let places = parse_places(address, 0)?;
        interpretations.extend(places.into_iter().map(Interpretation::LdmdSection));
        return Ok(interpretations);
    }
    if text != address {
        interpretations.extend(of_document(address, Params::default(), None)?);
    }
    interpretations.extend(of_document(text, params, None)?);
    let names = with_steps(text, params)?;
    if is_path_from_root(address) {
        interpretations.extend(names);
        return Ok(interpretations);
    }
    // A section named by the whole text comes before places with steps. A part of a title comes
    // last.
    let mut sections = sections(address)?.into_iter();
    interpretations.extend(sections.next());
    interpretations.extend(names);
    interpretations.extend(sections);
    Ok(interpretations)
}

/// Returns the path that a text is. One from the root is printed percent-encoded, and its `#` may look like that of an
/// anchor.
fn exact(text: &str) -> String {
    match text.strip_prefix("./") {
        Some(path) => namespace::decode(path),
        None => text.to_owned(),
    }
}

/// Returns the interpretations of a text as the name of a document, with or without a place in it, and steps.
fn with_steps(text: &str, params: Params) -> Result<Vec<Interpretation>, AddressError> {
    let Some((base, tail)) = selector::split_tail(text, 0) else { return Ok(Vec::new()) };
    let place = whole(params).continued(Some(&tail))?;
    let mut names = vec![Interpretation::ExactPath { path: exact(base), place }];
    names.extend(of_document(base, params, Some(&tail))?);
    Ok(names)
}

/// Returns the interpretations of a text as the name of a document, with or without a place in it.
fn of_document(
    text: &str,
    params: Params,
    tail: Option<&Selector>,
) -> Result<Vec<Interpretation>, AddressError> {
    let mut interpretations = Vec::new();
    for (name, locator) in lines_of_path(text) {
        let place = ParsedPlace::new(locator, params).continued(tail)?;
        interpretations.push(Interpretation::PathLine { name: name.to_owned(), place });
    }
    if let Some((name, anchor)) = text.rsplit_once('#')
        && !name.is_empty()
    {
        let locator = Locator::Anchor(anchor.to_owned());
        let place = ParsedPlace::new(locator, params).continued(tail)?;
        interpretations.push(Interpretation::PathAnchor { name: name.to_owned(), place });
    }
    if !text.is_empty() {
        let place = whole(params).continued(tail)?;
        interpretations.push(Interpretation::DocumentName { name: text.to_owned(), place });
    }
    Ok(interpretations)
}

/// Splits `text` into a path and lines: `path:LINE:COLUMN` before `path:LINE`.
fn lines_of_path(text: &str) -> Vec<(&str, Locator)> {
    let mut paths = Vec::new();
    let Some((left, last)) = text.rsplit_once(':') else { return paths };
    if let Some((start, end)) = last.split_once('-') {
        if let (Some(start), Some(end)) = (whole_number(start), whole_number(end)) {
            paths.push((left, Locator::Lines(LineSpan { start, end })));
        }
    } else if let Some(number) = whole_number(last) {
        if let Some((name, line)) = left.rsplit_once(':')
            && let Some(line) = whole_number(line)
        {
            paths.push((name, Locator::Line(line)));
        }
        paths.push((left, Locator::Line(number)));
    }
    paths.retain(|(name, _)| !name.is_empty());
    paths
}

/// Returns the interpretations of a text as a locator in the whole store.
fn sections(address: &str) -> Result<Vec<Interpretation>, AddressError> {
    let interpretation = |place: ParsedPlace| match place.locator {
        Locator::SectionPath(_) => Interpretation::SectionPath(place),
        Locator::TitlePart(_) => Interpretation::TitlePart(place),
        Locator::Anchor(_) => Interpretation::Anchor(place),
        Locator::Ldmd(_) => Interpretation::LdmdSection(place),
        _ => Interpretation::OnlyDocument(place),
    };
    Ok(parse_places(address, 0)?.into_iter().map(interpretation).collect())
}

fn whole(params: Params) -> ParsedPlace {
    ParsedPlace::new(Locator::Document, params)
}

fn split_params(address: &str) -> Result<(&str, Params), AddressError> {
    match split_known_params(address) {
        Some((text, query)) => Ok((text, parse_params(query, text.chars().count() + 1)?)),
        None => Ok((address, Params::default())),
    }
}

/// Addresses that show every kind of interpretation.
pub const EXAMPLES: [&str; 11] = [
    "eip-1559",
    "guide.md::@23/block:list[0]/item[2]",
    "std::vector",
    "heading:h2[1]",
    "ldmd:intro",
    "guide.md:11-13",
    "guide.md:23:4",
    "guide#install/block:table[0]",
    "#install",
    "*/page[1]",
    "section[x]",
];

/// Returns the interpretations of all [`EXAMPLES`] as text: one address per line, with its interpretations
/// indented below it.
pub fn table() -> String {
    let mut table = String::new();
    for address in EXAMPLES {
        table.push_str(address);
        table.push('\n');
        for interpretation in interpretations(address) {
            table.push_str(&format!("  {interpretation}\n"));
        }
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "\
eip-1559
  exact path \"eip-1559\": the document
  document name \"eip-1559\": the document
  any document: section \"eip-1559\"
  any document: part of a title \"eip-1559\"
guide.md::@23/block:list[0]/item[2]
  document \"guide.md\": section \"@23/block:list[0]/item[2]\"; line 23, then block:list[0]/item[2]
  exact path \"guide.md::@23/block:list[0]/item[2]\": the document
  any document: section \"guide.md::@23/block:list[0]/item[2]\"
  any document: section \"guide.md::@23\", then block:list[0]/item[2]
  any document: part of a title \"guide.md::@23/block:list[0]/item[2]\"
  any document: part of a title \"guide.md::@23\", then block:list[0]/item[2]
std::vector
  document \"std\": section \"vector\"; part of a title \"vector\"
  exact path \"std::vector\": the document
  any document: section \"std::vector\"
  any document: part of a title \"std::vector\"
heading:h2[1]
  exact path \"heading:h2[1]\": the document
  every document: selector heading:h2[1]
ldmd:intro
  exact path \"ldmd:intro\": the document
  any document: LDMD section \"intro\"
guide.md:11-13
  exact path \"guide.md:11-13\": the document
  document \"guide.md\": lines 11-13
  document name \"guide.md:11-13\": the document
  any document: section \"guide.md:11-13\"
  any document: part of a title \"guide.md:11-13\"
guide.md:23:4
  exact path \"guide.md:23:4\": the document
  document \"guide.md\": line 23
  document \"guide.md:23\": line 4
  document name \"guide.md:23:4\": the document
  any document: section \"guide.md:23:4\"
  any document: part of a title \"guide.md:23:4\"
guide#install/block:table[0]
  exact path \"guide#install/block:table[0]\": the document
  document \"guide\": anchor \"install/block:table[0]\"
  document name \"guide#install/block:table[0]\": the document
  any document: section \"guide#install/block:table[0]\"
  exact path \"guide#install\": the document, then block:table[0]
  document \"guide\": anchor \"install\", then block:table[0]
  document name \"guide#install\": the document, then block:table[0]
  any document: section \"guide#install\", then block:table[0]
  any document: part of a title \"guide#install/block:table[0]\"
  any document: part of a title \"guide#install\", then block:table[0]
#install
  exact path \"#install\": the document
  document name \"#install\": the document
  any document: anchor \"install\"
*/page[1]
  exact path \"*/page[1]\": the document
  document name \"*/page[1]\": the document
  any document: section \"*/page[1]\"
  exact path \"*\": the document, page 1
  document name \"*\": the document, page 1
  the only document: the document, page 1
section[x]
  exact path \"section[x]\": the document
  document name \"section[x]\": the document
  INVALID_INDEX: \"x\" is not an index: write a number, as in [0], or a range, as in [0-2]
";

    #[test]
    fn readings_are_in_order_of_precedence() {
        assert_eq!(table(), TABLE);
    }

    #[test]
    fn the_address_of_lines_is_read_as_lines() {
        for (path, expected) in [
            ("guide.md", "guide.md:3-4"),
            ("a b.md", "a%20b.md:3-4"),
            ("a%20b.md", "a%2520b.md:3-4"),
            ("C#.md", "C#.md:3-4"),
            ("a::b.md", "a:%3Ab.md:3-4"),
            ("q?page=1.md", "q?page=1.md:3-4"),
            ("h2[1].md", "h2[1].md:3-4"),
            ("page/root.md", "page/root.md:3-4"),
            ("block:code.md", "block:code.md:3-4"),
            ("ldmd:x.md", "%6Cdmd%3Ax.md:3-4"),
            ("b.md:3:1:t.md", "%62.md%3A3%3A1%3At.md:3-4"),
        ] {
            let address = lines_address(path, 3, 4);
            assert_eq!(address, expected);
            let [_, Interpretation::PathLine { name, place }, ..] = &interpretations(&address)[..]
            else {
                panic!("{address}");
            };
            assert_eq!(namespace::decode(name), path);
            assert_eq!(place.locator, Locator::Lines(LineSpan { start: 3, end: 4 }));
        }
    }

    #[test]
    fn a_path_before_a_line_is_read_as_that_path() {
        for (path, expected) in [
            ("guide.md", "guide.md"),
            ("a b.md", "a b.md"),
            ("100%.md", "100%.md"),
            ("C#.md", "C#.md"),
            ("a:1.md", "a:1.md"),
            ("a%41.md", "a%2541.md"),
            ("a::b.md", "a:%3Ab.md"),
            ("tab\t.md", "tab%09.md"),
            ("two  blanks.md", "two%20%20blanks.md"),
            ("h2[1].md", "h2[1].md"),
            ("page/root.md", "page/root.md"),
            ("a.md:3:1:t.md", "%61.md%3A3%3A1%3At.md"),
            ("x:2:y.md", "%78%3A2%3Ay.md"),
            ("a -> b.md", "a%20->%20b.md"),
        ] {
            let printed = path_before_line(path);
            assert_eq!(printed, expected);
            let readings = interpretations(&format!("{printed}:3:1"));
            let [_, Interpretation::PathLine { name, .. }, ..] = &readings[..] else {
                panic!("{printed}");
            };
            assert_eq!(namespace::decode(name), path);
            let hit = format!("{printed}:3:1:text: 5:6:");
            assert_eq!(path_and_lines(&hit), Some((&*printed, "3:1", ":text: 5:6:")));
        }
    }

    #[test]
    fn only_selectors_are_for_every_document() {
        assert!(is_for_every_document("heading:h2[1]/block:code"));
        assert!(!is_for_every_document("guide.md::heading:h2[1]"));
        assert!(!is_for_every_document("heading"));
    }

    #[test]
    fn a_path_from_the_root_is_not_read_as_a_section() {
        for interpretation in interpretations("./guide.md#install") {
            assert!(
                !matches!(
                    interpretation,
                    Interpretation::SectionPath(_) | Interpretation::Anchor(_)
                ),
                "{interpretation}"
            );
        }
    }
}
