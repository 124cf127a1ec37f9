//! Trigrams: finding the documents that may contain a text by its three-byte sequences.
//!
//! A trigram here is a sequence of three bytes without control characters, with ASCII letters in
//! lower case. Invariant: if a document contains three such bytes in sequence, it has their
//! trigram. The index can therefore exclude documents that cannot match; the bytes of the others
//! are searched.
//!
//! The keys of titles have trigrams of their own, so that titles are found without those of all other
//! documents. They differ from trigrams of text in their first byte, of which only the low bits are kept:
//! see [`title_trigrams`].

/// Three consecutive bytes, with ASCII letters in lower case.
pub type Trigram = [u8; 3];

/// Trigrams by their first two bytes, each with the third bytes.
pub(crate) type ByPrefix = Vec<([u8; 2], Vec<u8>)>;

/// A condition on the trigrams of a document that every document with a match meets.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TrigramQuery {
    /// Every document may contain a match.
    All,
    /// No document contains a match.
    None,
    /// The document must have this trigram.
    Has(Trigram),
    /// The document must meet all of these conditions.
    And(Vec<TrigramQuery>),
    /// The document must meet at least one of these conditions.
    Or(Vec<TrigramQuery>),
}

impl TrigramQuery {
    /// Returns a query that requires both conditions.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self::all_of(vec![self, other])
    }

    /// Returns a query that requires at least one of the conditions.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self::any_of(vec![self, other])
    }

    /// Returns a query that requires all of `queries`.
    pub fn all_of(queries: Vec<Self>) -> Self {
        Self::joined(queries, Self::All, Self::None, Self::And, |query| match query {
            Self::And(queries) => Ok(queries),
            other => Err(other),
        })
    }

    /// Returns a query that requires at least one of `queries`.
    pub fn any_of(queries: Vec<Self>) -> Self {
        Self::joined(queries, Self::None, Self::All, Self::Or, |query| match query {
            Self::Or(queries) => Ok(queries),
            other => Err(other),
        })
    }

    /// Joins `queries`. The query `neutral` changes nothing; a query `absorbing` is the result. `parts` returns the parts of
    /// a query that was joined in the same way, and any other query unchanged.
    fn joined(
        mut queries: Vec<Self>,
        neutral: Self,
        absorbing: Self,
        join: fn(Vec<Self>) -> Self,
        parts: fn(Self) -> Result<Vec<Self>, Self>,
    ) -> Self {
        if queries.contains(&absorbing) {
            return absorbing;
        }
        queries.retain(|query| *query != neutral);
        // The parts of a single query are in order already.
        if queries.len() < 2 {
            return queries.pop().unwrap_or(neutral);
        }
        let mut joined = Vec::new();
        for query in queries {
            match parts(query) {
                Ok(parts) => joined.extend(parts),
                Err(query) => joined.push(query),
            }
        }
        joined.sort_unstable();
        joined.dedup();
        if joined.len() == 1 { joined.pop().unwrap_or(neutral) } else { join(joined) }
    }

    /// Returns a query that every document meets of which a title key contains one of `needles`.
    pub(crate) fn of_title_parts(needles: &[String]) -> Self {
        let has_all = |needle: &String| {
            Self::all_of(title_trigrams(needle.as_bytes()).map(Self::Has).collect())
        };
        Self::any_of(needles.iter().map(has_all).collect())
    }

    /// Returns whether a document meets the condition, if it has the trigrams for which `has`
    /// returns true.
    pub fn is_met_by(&self, has: &impl Fn(Trigram) -> bool) -> bool {
        match self {
            Self::All => true,
            Self::None => false,
            Self::Has(trigram) => has(*trigram),
            Self::And(queries) => queries.iter().all(|query| query.is_met_by(has)),
            Self::Or(queries) => queries.iter().any(|query| query.is_met_by(has)),
        }
    }

    /// Divides alternatives into those that are one trigram, by its first two bytes and with the third bytes, and
    /// the others. An index that keeps the trigrams with the same first two bytes together reads them once.
    pub(crate) fn by_prefix(alternatives: &[Self]) -> (ByPrefix, Vec<&Self>) {
        let mut prefixes = ByPrefix::new();
        let mut others = Vec::new();
        for query in alternatives {
            match query {
                Self::Has([one, two, third]) => match prefixes.last_mut() {
                    Some((prefix, thirds)) if *prefix == [*one, *two] => thirds.push(*third),
                    _ => prefixes.push(([*one, *two], vec![*third])),
                },
                other => others.push(other),
            }
        }
        (prefixes, others)
    }

    /// Returns the number of trigrams in the query.
    pub fn len(&self) -> usize {
        match self {
            Self::All | Self::None => 0,
            Self::Has(_) => 1,
            Self::And(queries) | Self::Or(queries) => queries.iter().map(Self::len).sum(),
        }
    }

    /// Returns whether the query contains no trigrams.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Returns the trigram of three bytes; `None` if there are not three or one of them is a control
/// character.
pub fn trigram(bytes: &[u8]) -> Option<Trigram> {
    let &[one, two, three] = bytes else { return None };
    let is_plain = one >= b' ' && two >= b' ' && three >= b' ';
    is_plain.then(|| [one, two, three].map(|byte| byte.to_ascii_lowercase()))
}

/// Returns the trigrams of title keys, or of a part of one. Words are divided at hyphens, which stand for spaces
/// in keys, because nearly every document would have some of the trigrams with a hyphen.
///
/// The first byte of a trigram keeps its low five bits, so it is below those of all trigrams of text. Trigrams
/// that differ only in the others become equal, so a document may be found that has no such title.
pub(crate) fn title_trigrams(keys: &[u8]) -> impl Iterator<Item = Trigram> {
    let words = keys.split(|byte| *byte == b'-' || *byte < b' ');
    let trigrams = words.flat_map(|word| word.windows(3).filter_map(trigram));
    trigrams.map(|[one, two, three]| [one & 0x1F, two, three])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_has_the_trigrams_of_each_of_its_parts() {
        let keys = "\nüber-die-größe\tsize\nc++-2.0";
        for part in ["größe", "er-die", "siz", "c++", "2.0", "r-d", ""] {
            let query = TrigramQuery::of_title_parts(&[part.to_owned()]);
            assert!(
                query.is_met_by(&|wanted| title_trigrams(keys.as_bytes()).any(|t| t == wanted)),
                "{part}"
            );
        }
        let no_title = TrigramQuery::of_title_parts(&["sizes".to_owned(), "grosse".to_owned()]);
        assert!(
            !no_title.is_met_by(&|wanted| title_trigrams(keys.as_bytes()).any(|t| t == wanted))
        );
        assert_eq!(TrigramQuery::of_title_parts(&["a-b".to_owned()]), TrigramQuery::All);
        assert_eq!(TrigramQuery::of_title_parts(&[]), TrigramQuery::None);
        let of_text = |text: &[u8]| text.windows(3).filter_map(trigram).collect::<Vec<_>>();
        assert!(title_trigrams(b"size").all(|t| !of_text(b"size").contains(&t)), "they are marked");
    }

    #[test]
    fn queries_simplify() {
        let has = |text: &[u8; 3]| TrigramQuery::Has(*text);
        assert_eq!(
            has(b"bcd").and(has(b"abc")).and(TrigramQuery::All),
            TrigramQuery::And(vec![has(b"abc"), has(b"bcd")])
        );
        assert_eq!(has(b"abc").and(TrigramQuery::None), TrigramQuery::None);
        assert_eq!(has(b"abc").or(TrigramQuery::All), TrigramQuery::All);
        assert_eq!(has(b"abc").or(has(b"abc")), has(b"abc"));
    }
}
