//! Where a list goes on: the value of `next` and of `--after`.
//!
//! Invariant: going on from the cursor of an answer, on the same generation and with the same
//! arguments, continues without loss or repetition.

use std::fmt;
use std::str::FromStr;

use crate::error::{Error, ErrorKind, Warning};

/// How many items of a list were given, and of which generation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cursor {
    /// The generation that the items were of.
    pub generation: u64,
    /// How many items come before.
    pub position: usize,
}

impl Cursor {
    /// The remark that the list has changed since, where it has.
    pub fn warning(self, generation: u64) -> Option<Warning> {
        (self.generation != generation).then(|| {
            Warning::new(
                "STORE_CHANGED",
                "the store has changed since the list began; going on by position",
            )
        })
    }
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
        assert!(cursor.warning(12).is_none());
        assert_eq!(cursor.warning(13).unwrap().code, "STORE_CHANGED");
    }
}
