//! Trigrams: which documents may hold a text, told from the three-byte sequences that they hold.
//!
//! Owns what a trigram is here: three bytes in a row, ASCII letters in lower case, none of them a
//! control character. Invariant: a document that holds three such bytes in a row has their trigram, so
//! that what is required of a match can be asked of the index, and the bytes decide.

/// Three bytes in a row, ASCII letters in lower case.
pub type Trigram = [u8; 3];

/// What the trigrams of a document must be for it to be worth looking at.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TrigramQuery {
    /// Any document may hold a match.
    All,
    /// None can.
    None,
    /// The document must have this one.
    Has(Trigram),
    /// All of these.
    And(Vec<TrigramQuery>),
    /// One of these.
    Or(Vec<TrigramQuery>),
}

impl TrigramQuery {
    /// What must hold for both.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::None, _) | (_, Self::None) => Self::None,
            (Self::All, query) | (query, Self::All) => query,
            (one, other) if one == other => one,
            (one, other) => Self::And(Self::flat(one, other, |query| match query {
                Self::And(queries) => Ok(queries),
                other => Err(other),
            })),
        }
    }

    /// What must hold for either.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        match (self, other) {
            (Self::All, _) | (_, Self::All) => Self::All,
            (Self::None, query) | (query, Self::None) => query,
            (one, other) if one == other => one,
            (one, other) => Self::Or(Self::flat(one, other, |query| match query {
                Self::Or(queries) => Ok(queries),
                other => Err(other),
            })),
        }
    }

    fn flat(one: Self, other: Self, parts: impl Fn(Self) -> Result<Vec<Self>, Self>) -> Vec<Self> {
        let mut result = Vec::new();
        for query in [one, other] {
            match parts(query) {
                Ok(queries) => result.extend(queries),
                Err(query) => result.push(query),
            }
        }
        result.sort_unstable();
        result.dedup();
        result
    }

    /// What a text must have: all of its trigrams.
    pub fn of_literal(literal: &[u8]) -> Self {
        let mut trigrams: Vec<Self> =
            literal.windows(3).filter_map(trigram).map(Self::Has).collect();
        trigrams.sort_unstable();
        trigrams.dedup();
        match trigrams.len() {
            0 => Self::All,
            1 => trigrams.pop().unwrap_or(Self::All),
            _ => Self::And(trigrams),
        }
    }

    /// Whether a document is worth looking at that has the trigrams for which `has` says so.
    pub fn is_met_by(&self, has: &impl Fn(Trigram) -> bool) -> bool {
        match self {
            Self::All => true,
            Self::None => false,
            Self::Has(trigram) => has(*trigram),
            Self::And(queries) => queries.iter().all(|query| query.is_met_by(has)),
            Self::Or(queries) => queries.iter().any(|query| query.is_met_by(has)),
        }
    }

    /// How many trigrams it names.
    pub fn len(&self) -> usize {
        match self {
            Self::All | Self::None => 0,
            Self::Has(_) => 1,
            Self::And(queries) | Self::Or(queries) => queries.iter().map(Self::len).sum(),
        }
    }

    /// Whether it names none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// The trigram of three bytes; `None` where one of them is a control character.
pub fn trigram(bytes: &[u8]) -> Option<Trigram> {
    let &[one, two, three] = bytes else { return None };
    let is_plain = one >= b' ' && two >= b' ' && three >= b' ';
    is_plain.then(|| [one, two, three].map(|byte| byte.to_ascii_lowercase()))
}

/// Finds the distinct trigrams of documents; keeps a bit for each possible one.
pub(super) struct TrigramCollector {
    seen: Vec<u64>,
    found: Vec<u32>,
}

impl TrigramCollector {
    pub(super) fn new() -> Self {
        Self { seen: vec![0; 1 << 18], found: Vec::new() }
    }

    /// The distinct trigrams of `bytes`, each as the number that its bytes are, most significant first.
    pub(super) fn distinct(&mut self, bytes: &[u8]) -> Vec<u32> {
        let mut value = 0;
        // How many bytes in a row were no control character.
        let mut plain = 0;
        for &byte in bytes {
            if byte < b' ' {
                plain = 0;
                continue;
            }
            plain += 1;
            value = (value << 8 | u32::from(byte.to_ascii_lowercase())) & 0xFF_FFFF;
            if plain < 3 {
                continue;
            }
            let bit = 1 << (value & 63);
            if let Some(word) = self.seen.get_mut((value >> 6) as usize)
                && *word & bit == 0
            {
                *word |= bit;
                self.found.push(value);
            }
        }
        for value in &self.found {
            if let Some(word) = self.seen.get_mut((value >> 6) as usize) {
                *word = 0;
            }
        }
        let distinct = self.found.clone();
        self.found.clear();
        distinct
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn distinct(bytes: &[u8]) -> Vec<Trigram> {
        let distinct = TrigramCollector::new().distinct(bytes);
        distinct.iter().map(|value| value.to_be_bytes()[1..].try_into().unwrap()).collect()
    }

    #[test]
    fn distinct_trigrams_in_lower_case_without_controls() {
        assert_eq!(distinct(b"abCabc"), [*b"abc", *b"bca", *b"cab"]);
        assert_eq!(distinct(b"ab\ncd\tefg"), [*b"efg"]);
        assert_eq!(distinct("é!".as_bytes()), [*b"\xc3\xa9!"]);
        assert_eq!(distinct(b"\xff\xfe\xfd"), [*b"\xff\xfe\xfd"]);
        assert!(distinct(b"ab").is_empty());
    }

    #[test]
    fn a_collector_forgets_the_document_before() {
        let mut collector = TrigramCollector::new();
        assert_eq!(collector.distinct(b"abc"), collector.distinct(b"abc"));
    }

    #[test]
    fn queries_simplify() {
        let has = |text: &[u8; 3]| TrigramQuery::Has(*text);
        assert_eq!(TrigramQuery::of_literal(b"ab"), TrigramQuery::All);
        assert_eq!(TrigramQuery::of_literal(b"ABC"), has(b"abc"));
        assert_eq!(
            TrigramQuery::of_literal(b"abcd"),
            TrigramQuery::And(vec![has(b"abc"), has(b"bcd")])
        );
        assert_eq!(has(b"abc").and(TrigramQuery::None), TrigramQuery::None);
        assert_eq!(has(b"abc").or(TrigramQuery::All), TrigramQuery::All);
        assert_eq!(has(b"abc").or(has(b"abc")), has(b"abc"));
    }
}
