//! Cursors: the value of `next` in an answer and of `--after` in a request.
//!
//! Invariant: a request with the cursor of an answer, the same generation and the same arguments
//! continues the list without omission or repetition.

use std::fmt;
use std::str::FromStr;

use crate::error::{Error, ErrorKind};
use crate::message::message;
use crate::visible::quoted;

/// A position in a list, and the generation of the store that the list was made from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cursor {
    /// The generation of the store.
    pub generation: u64,
    /// The number of items before this position.
    pub position: usize,
    /// The number of Unicode scalars of the next item before this position, if that item was cut and has no address. Of a
    /// node in a walk along links, it is the number of edges.
    pub offset: usize,
}

impl Cursor {
    /// Returns the cursor that a request gave, if any.
    pub(crate) fn given(after: Option<&String>) -> Result<Option<Self>, Error> {
        after.map(|after| after.parse()).transpose()
    }
}

/// The part of a list that an answer contains.
#[derive(Clone, Copy, Debug, Default)]
pub struct ListPart {
    begin: Cursor,
}

impl ListPart {
    /// Returns the part that begins at `after` or at the start of the list.
    pub(super) fn beginning(after: Option<Cursor>, generation: u64) -> Self {
        Self { begin: Cursor { generation, ..after.unwrap_or_default() } }
    }

    /// Returns the number of items before this part.
    pub fn start(self) -> usize {
        self.begin.position
    }

    /// Returns the number of Unicode scalars of the first item that are before this part.
    pub(super) fn offset(self) -> usize {
        self.begin.offset
    }

    /// Returns the cursor after the first `count` items of this part.
    pub fn next(self, count: usize) -> String {
        let position = self.begin.position + count;
        let offset = if count == 0 { self.begin.offset } else { 0 };
        Cursor { position, offset, ..self.begin }.to_string()
    }

    /// Returns the cursor after the first `chars` Unicode scalars of the first item.
    pub(super) fn next_within(self, chars: usize) -> String {
        Cursor { offset: self.begin.offset + chars, ..self.begin }.to_string()
    }
}

/// Returns the number of items that `limit` allows; 0 means all.
pub(super) fn most(limit: usize) -> usize {
    if limit == 0 { usize::MAX } else { limit }
}

impl fmt::Display for Cursor {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}-{}", self.generation, self.position)?;
        if self.offset > 0 { write!(formatter, ".{}", self.offset) } else { Ok(()) }
    }
}

impl FromStr for Cursor {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let parsed = text.split_once('-').and_then(|(generation, position)| {
            let (position, offset) = position.split_once('.').unwrap_or((position, "0"));
            let (position, offset) = (position.parse().ok()?, offset.parse().ok()?);
            Some(Self { generation: generation.parse().ok()?, position, offset })
        });
        parsed.ok_or_else(|| {
            let hint = if text.contains("::") {
                message!("it is an address: `mdsel select {path}` continues there", text)
            } else {
                "use the value of `next` from the previous answer".into()
            };
            Error::new(ErrorKind::Usage, format!("{text} is not a cursor", text = quoted(&text)))
                .with_hint(hint)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn printed_cursors_parse_to_the_same_cursor() {
        for (offset, text) in [(0, "12-50"), (7, "12-50.7")] {
            let cursor = Cursor { generation: 12, position: 50, offset };
            assert_eq!(cursor.to_string(), text);
            assert_eq!(text.parse::<Cursor>().unwrap(), cursor);
        }
        assert!("12".parse::<Cursor>().is_err());
        assert!("12--1".parse::<Cursor>().is_err());
        let within = Cursor { generation: 12, position: 50, offset: 7 };
        let part = ListPart::beginning(Some(within), 13);
        assert_eq!(
            (part.next(7), part.next_within(3)),
            ("13-57".to_owned(), "13-50.10".to_owned())
        );
    }
}
