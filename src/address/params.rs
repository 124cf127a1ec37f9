//! Parameters: which part of a place is meant.
//!
//! Parses the part of an address after the `?`. Invariant: a key that is unknown, or given twice,
//! is an error and is never ignored.

use std::fmt;

use super::fault::{AddressError, FaultCode};
use crate::visible::quoted;

/// Which part of a section is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SectionPart {
    /// The lines of its heading.
    Heading,
    /// Its heading and own text, without child sections.
    Own,
    /// The whole section.
    All,
}

/// Which part of a node is meant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Params {
    /// The whole node, however long.
    pub full: bool,
    /// One page, 0-based.
    pub page: Option<usize>,
    /// Words per page; 0 for one page.
    pub words: Option<usize>,
    /// The number of words to leave out at the beginning. The pages are those of the rest.
    pub from: Option<usize>,
    /// A part of a section.
    pub part: Option<SectionPart>,
    /// Only the first lines, this many.
    pub head: Option<usize>,
    /// Only the last lines, this many; if `head` is given, the last of those.
    pub tail: Option<usize>,
}

impl Params {
    /// Returns whether a node with these parameters is a part of it. A whole node has pages, too, which are no parts if
    /// they are not named.
    pub fn is_part(self) -> bool {
        self.part.is_some_and(|part| part != SectionPart::All) || self.needs_text()
    }

    /// Returns whether only the text of a node decides where the part is.
    pub fn needs_text(self) -> bool {
        let Self { full, page, words, from, head, tail, part: _ } = self;
        page.or(from).or(head).or(tail).is_some() || !full && words.is_some_and(|words| words > 0)
    }
}

/// Writes the parameters as the end of an address: with a `?`, or nothing if there are none.
impl fmt::Display for Params {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { full, page, words, from, part, head, tail } = *self;
        let part = part.map(|part| match part {
            SectionPart::Heading => "heading",
            SectionPart::Own => "own",
            SectionPart::All => "all",
        });
        let number = |number: Option<usize>| number.map(|number| number.to_string());
        let values = [
            full.then(|| "true".to_owned()),
            number(page),
            number(words),
            number(from),
            part.map(str::to_owned),
            number(head),
            number(tail),
        ];
        let mut sign = '?';
        for (key, value) in KEYS.iter().zip(values) {
            if let Some(value) = value {
                write!(f, "{sign}{key}={value}")?;
                sign = '&';
            }
        }
        Ok(())
    }
}

/// Splits `text` at the last `?`, if only known keys follow it.
pub fn split_known_params(text: &str) -> Option<(&str, &str)> {
    let (locator, query) = text.rsplit_once('?')?;
    let is_known = |pair: &str| pair.split_once('=').is_some_and(|(key, _)| KEYS.contains(&key));
    // A question mark before `::` is part of the name of a document.
    let is_query = !query.contains("::") && query.split('&').all(is_known);
    is_query.then_some((locator, query))
}

const KEYS: [&str; 7] = ["full", "page", "words", "from", "part", "head", "tail"];

/// Parses the text after the `?`. `position` is its offset in the address, in Unicode scalars.
pub fn parse_params(query: &str, position: usize) -> Result<Params, AddressError> {
    let mut params = Params::default();
    let mut at = position;
    let mut seen = Vec::new();
    for pair in query.split('&') {
        let fault =
            |message: String| Err(AddressError::new(FaultCode::MalformedQuery, message).at(at));
        let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
        if seen.contains(&key) {
            return fault(format!("{key} is given twice", key = quoted(&key)));
        }
        let number = value.parse::<usize>().ok().filter(|_| !value.starts_with('+'));
        let is_right = match key {
            "full" => {
                params.full = value == "true";
                matches!(value, "true" | "false")
            }
            "part" => {
                params.part = match value {
                    "heading" => Some(SectionPart::Heading),
                    "own" => Some(SectionPart::Own),
                    "all" => Some(SectionPart::All),
                    _ => None,
                };
                params.part.is_some()
            }
            "page" | "words" | "from" | "head" | "tail" => {
                match key {
                    "page" => params.page = number,
                    "words" => params.words = number,
                    "from" => params.from = number,
                    "head" => params.head = number,
                    _ => params.tail = number,
                }
                number.is_some()
            }
            _ => {
                let lines = match key {
                    "line" | "lines" => "; write lines after a colon, as in DOC:12-20",
                    _ => "",
                };
                return fault(format!(
                    "{key} is not a parameter; the parameters are {}{lines}",
                    KEYS.join(", "),
                    key = quoted(&key)
                ));
            }
        };
        if !is_right {
            let values = match key {
                "full" => "true or false",
                "part" => "heading, own or all",
                _ => "a number",
            };
            return fault(format!(
                "{value} is not a value of {key}; it takes {values}",
                value = quoted(&value)
            ));
        }
        seen.push(key);
        at += pair.chars().count() + 1;
    }
    if params.page.is_some() && params.full {
        let message = "page and full cannot be combined";
        return Err(AddressError::new(FaultCode::MalformedQuery, message).at(position));
    }
    Ok(params)
}

#[cfg(test)]
mod tests {
    use super::{Params, parse_params};

    #[test]
    fn written_parameters_are_read_back() {
        for query in ["full=true", "part=own", "page=2&words=30&from=4", "head=1&tail=2"] {
            let params = parse_params(query, 0).unwrap();
            assert_eq!(params.to_string(), format!("?{query}"));
        }
        assert_eq!(Params::default().to_string(), "");
    }
}
