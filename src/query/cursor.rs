//! Cursors: the value of `next` in an answer and of `--after` in a request.
//!
//! Invariant: a request with the cursor of an answer, the same generation and the same arguments
//! continues the list without omission or repetition.

use std::fmt;
use std::str::FromStr;

use crate::error::{Error, ErrorKind, shell_word};

/// A position in a list, and the generation of the store that the list was made from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cursor {
    /// The generation of the store.
    pub generation: u64,
    /// The number of items before this position.
    pub position: usize,
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
        let position = after.map_or(0, |after| after.position);
        Self { begin: Cursor { generation, position } }
    }

    /// Returns the number of items before this part.
    pub fn start(self) -> usize {
        self.begin.position
    }

    /// Returns the cursor after the first `count` items of this part.
    pub fn next(self, count: usize) -> String {
        let position = self.begin.position + count;
        Cursor { position, ..self.begin }.to_string()
    }
}

/// Returns the number of items that `limit` allows; 0 means all.
pub(super) fn most(limit: usize) -> usize {
    if limit == 0 { usize::MAX } else { limit }
}

impl fmt::Display for Cursor {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}-{}", self.generation, self.position)
    }
}

impl FromStr for Cursor {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let parsed = text.split_once('-').and_then(|(generation, position)| {
            Some(Self { generation: generation.parse().ok()?, position: position.parse().ok()? })
        });
        parsed.ok_or_else(|| {
            let hint = if text.contains("::") {
                format!("it is an address: `mdsel select {}` continues there", shell_word(text))
            } else {
                "use the value of `next` from the previous answer".to_owned()
            };
            Error::new(ErrorKind::Usage, format!("{text:?} is not a cursor")).with_hint(hint)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn printed_cursors_parse_to_the_same_cursor() {
        let cursor = Cursor { generation: 12, position: 50 };
        assert_eq!(cursor.to_string().parse::<Cursor>().unwrap(), cursor);
        assert!("12".parse::<Cursor>().is_err());
        assert!("12--1".parse::<Cursor>().is_err());
        assert_eq!(ListPart::beginning(Some(cursor), 13).next(7), "13-57");
    }
}
