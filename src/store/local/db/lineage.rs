//! The lineage of a store: a random token for each of its last generations.
//!
//! Copies of a store that were changed separately, for example on two branches of a repository, have the
//! same identity and can have the same generation and the same document ids. Their tokens differ.
//!
//! Invariant: a token in the lineage of a state is that of this state or of one that led to it.

use crate::store::new_identity;

/// The number of tokens that are kept. An index of an older generation is rebuilt.
const KEPT: usize = 32;

/// Tokens in the order of their generations. Each is a generation, a hyphen and a random name. A
/// version of mdsel without tokens may have written generations between them.
#[derive(Debug, Default)]
pub(in crate::store) struct Lineage(String);

impl Lineage {
    /// Returns the lineage with these tokens, which are those of the row of the table `meta`.
    pub(super) fn of(tokens: Option<String>) -> Self {
        Self(tokens.unwrap_or_default())
    }

    /// Returns the last token if it is that of `generation`.
    pub(in crate::store) fn token(&self, generation: u64) -> Option<&str> {
        let (_, last) = self.0.rsplit_once(' ').unwrap_or(("", &self.0));
        let (number, _) = last.split_once('-')?;
        (number.parse() == Ok(generation)).then_some(last)
    }

    /// Returns whether there are no tokens.
    pub(in crate::store) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns whether `token`, which is not empty, is one of the tokens.
    pub(in crate::store) fn contains(&self, token: &str) -> bool {
        self.0.split(' ').any(|known| known == token)
    }

    /// Returns the value with a new token for `generation`.
    pub(super) fn continued(&self, generation: i64) -> String {
        let mut tokens: Vec<&str> = self.0.split_whitespace().collect();
        let token = format!("{generation}-{}", new_identity());
        tokens.push(&token);
        tokens.split_off(tokens.len().saturating_sub(KEPT)).join(" ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_tokens_are_kept() {
        let mut lineage = Lineage::default();
        assert!(lineage.token(0).is_none() && lineage.is_empty());
        for generation in 0..100 {
            lineage = Lineage(lineage.continued(generation));
        }
        let last = lineage.token(99).unwrap();
        assert!(lineage.contains(last) && lineage.token(98).is_none());
        assert_eq!(lineage.0.split(' ').count(), KEPT);
    }
}
