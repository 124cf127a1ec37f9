//! Where a list goes on: the value of `next` and of `--after`.
//!
//! Invariant: going on from the cursor of an answer, on the same generation and with the same
//! arguments, continues without loss or repetition.

use std::fmt;
use std::str::FromStr;

use crate::error::{Error, ErrorKind, Warning};

/// How many items of a list were given, and of which generation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cursor {
    /// The generation that the items were of.
    pub generation: u64,
    /// How many items come before.
    pub position: usize,
}

/// Which part of a list an answer is.
#[derive(Clone, Copy, Debug, Default)]
pub struct ListPart {
    begin: Cursor,
    /// How many of the first items were given before and are only named again.
    pub(super) repeated: usize,
}

impl ListPart {
    /// The part that begins at `after`, or with the list; and the remark that the list is another by
    /// now, where it is.
    pub fn beginning(after: Option<Cursor>, generation: u64) -> (Self, Vec<Warning>) {
        let position = after.map_or(0, |after| after.position);
        let has_changed = after.is_some_and(|after| after.generation != generation);
        let warning = has_changed.then(|| {
            let message = "the store has changed since the list began; going on by position";
            Warning::new("STORE_CHANGED", message)
        });
        (
            Self { begin: Cursor { generation, position }, repeated: 0 },
            warning.into_iter().collect(),
        )
    }

    /// How many items come before.
    pub fn start(self) -> usize {
        self.begin.position
    }

    /// The cursor after the first `count` items of this part.
    pub fn next(self, count: usize) -> String {
        let position = self.begin.position + count.saturating_sub(self.repeated);
        Cursor { position, ..self.begin }.to_string()
    }
}

/// The number of items that `limit` allows, of which 0 means all.
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
            Error::new(ErrorKind::Usage, format!("{text:?} is no cursor"))
                .with_hint("give --after the `next` of the answer before")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cursors_survive_being_printed() {
        let cursor = Cursor { generation: 12, position: 50 };
        assert_eq!(cursor.to_string().parse::<Cursor>().unwrap(), cursor);
        assert!("12".parse::<Cursor>().is_err());
        assert!("12--1".parse::<Cursor>().is_err());
        assert!(ListPart::beginning(Some(cursor), 12).1.is_empty());
        let (part, warnings) = ListPart::beginning(Some(cursor), 13);
        assert_eq!(warnings[0].code, "STORE_CHANGED");
        assert_eq!(part.next(7), "13-57");
    }
}
