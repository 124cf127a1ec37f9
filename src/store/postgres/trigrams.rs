//! The lists of the documents of a segment by trigram, in one row per first two bytes.
//!
//! A row has, for each third byte that occurs, that byte, the length of the list and the list. A list is
//! the ordinals of the documents in the segment: as gaps, or as a bitmap if that is shorter. Invariant:
//! decoding any bytes neither panics nor uses more memory than the segment has documents.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use rustc_hash::FxHashMap;

use crate::terms::{Trigram, TrigramQuery};
use crate::varint::{put, take};

/// The documents of a segment by trigram, while they are collected.
pub(super) type Lists = FxHashMap<u32, Vec<u32>>;

/// Returns the rows of a segment of `documents` documents: the first two bytes of each, and its value.
pub(super) fn rows(lists: Lists, documents: usize) -> BTreeMap<i32, Vec<u8>> {
    let sorted: BTreeMap<u32, Vec<u32>> = lists.into_iter().collect();
    let mut rows: BTreeMap<i32, Vec<u8>> = BTreeMap::new();
    for (trigram, ordinals) in sorted {
        let [_, one, two, three] = trigram.to_be_bytes();
        let row = rows.entry(prefix([one, two, three])).or_default();
        push(row, three, &ordinals, documents);
    }
    rows
}

/// Returns the key of the row of a trigram.
fn prefix([one, two, _]: Trigram) -> i32 {
    i32::from(one) << 8 | i32::from(two)
}

/// Appends the list of the third byte `third` to a row.
fn push(row: &mut Vec<u8>, third: u8, ordinals: &[u32], documents: usize) {
    let mut gaps = Vec::new();
    let mut last = 0;
    for ordinal in ordinals {
        put(&mut gaps, u64::from(ordinal - last));
        last = *ordinal;
    }
    let is_bits = gaps.len() > documents.div_ceil(8);
    if is_bits {
        gaps = vec![0; documents.div_ceil(8)];
        for ordinal in ordinals {
            if let Some(byte) = gaps.get_mut(*ordinal as usize / 8) {
                *byte |= 1 << (ordinal % 8);
            }
        }
    }
    row.push(third);
    put(row, (gaps.len() as u64) << 1 | u64::from(is_bits));
    row.extend_from_slice(&gaps);
}

/// Calls `visit` with each third byte of a row and its list; `None` if the row is damaged.
pub(super) fn each(
    mut row: &[u8],
    mut visit: impl FnMut(u8, EncodedList<'_>) -> Option<()>,
) -> Option<()> {
    while let Some((third, rest)) = row.split_first() {
        row = rest;
        let header = take(&mut row)?;
        let (list, rest) = row.split_at_checked(usize::try_from(header >> 1).ok()?)?;
        row = rest;
        visit(*third, EncodedList { bytes: list, is_bits: header & 1 == 1 })?;
    }
    Some(())
}

/// The documents of a segment that have a trigram, as they are stored.
pub(super) struct EncodedList<'a> {
    bytes: &'a [u8],
    is_bits: bool,
}

impl EncodedList<'_> {
    /// Returns the ordinals of the documents; `None` if the list is damaged.
    pub(super) fn ordinals(&self) -> Option<Vec<u32>> {
        let mut list = self.bytes;
        let mut ordinals = Vec::new();
        if self.is_bits {
            for (place, byte) in (0_u32..).zip(list) {
                ordinals
                    .extend((0..8).filter(|bit| byte >> bit & 1 == 1).map(|bit| place * 8 + bit));
            }
            return Some(ordinals);
        }
        let mut before = 0_u32;
        while !list.is_empty() {
            before = before.checked_add(u32::try_from(take(&mut list)?).ok()?)?;
            ordinals.push(before);
        }
        Some(ordinals)
    }
}

/// Returns the keys of the rows that `query` needs.
pub(super) fn prefixes(query: &TrigramQuery) -> BTreeSet<i32> {
    match query {
        TrigramQuery::All | TrigramQuery::None => BTreeSet::new(),
        TrigramQuery::Has(trigram) => BTreeSet::from([prefix(*trigram)]),
        TrigramQuery::And(queries) | TrigramQuery::Or(queries) => {
            queries.iter().flat_map(prefixes).collect()
        }
    }
}

/// The rows of a segment that a query needs.
pub(super) struct Segment<'a> {
    /// The number of documents.
    pub(super) documents: usize,
    /// The rows, by their keys.
    pub(super) rows: HashMap<i32, &'a [u8]>,
}

impl Segment<'_> {
    /// Returns for each document of the segment whether it meets one of `queries`; `None` if a row is damaged.
    fn meeting_any(&self, queries: &[TrigramQuery]) -> Option<Vec<bool>> {
        let mut result = vec![false; self.documents];
        let (prefixes, others) = TrigramQuery::by_prefix(queries);
        for ([one, two], thirds) in prefixes {
            let Some(row) = self.rows.get(&prefix([one, two, 0])) else { continue };
            each(row, |third, list| {
                let wanted = if thirds.contains(&third) { list.ordinals()? } else { Vec::new() };
                for ordinal in wanted {
                    if let Some(meets) = result.get_mut(ordinal as usize) {
                        *meets = true;
                    }
                }
                Some(())
            })?;
        }
        for query in others {
            for (one, other) in result.iter_mut().zip(self.meeting(query)?) {
                *one |= other;
            }
        }
        Some(result)
    }

    /// Returns for each document of the segment whether it meets `query`; `None` if a row is damaged.
    pub(super) fn meeting(&self, query: &TrigramQuery) -> Option<Vec<bool>> {
        let all = |value| vec![value; self.documents];
        match query {
            TrigramQuery::All => Some(all(true)),
            TrigramQuery::None => Some(all(false)),
            TrigramQuery::And(queries) => {
                let mut result = all(true);
                for query in queries {
                    for (one, other) in result.iter_mut().zip(self.meeting(query)?) {
                        *one &= other;
                    }
                }
                Some(result)
            }
            TrigramQuery::Has(_) => self.meeting_any(std::slice::from_ref(query)),
            TrigramQuery::Or(queries) => self.meeting_any(queries),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number([one, two, three]: Trigram) -> u32 {
        u32::from_be_bytes([0, one, two, three])
    }

    #[test]
    fn documents_are_found_by_their_trigrams() {
        let mut lists = Lists::default();
        for ordinal in 0..1000 {
            for (trigram, has) in
                [(b"abc", ordinal % 3 == 0), (b"abd", ordinal != 7), (b"xyz", ordinal == 600)]
            {
                if has {
                    lists.entry(number(*trigram)).or_default().push(ordinal);
                }
            }
        }
        let rows = rows(lists, 1000);
        let rows = rows.iter().map(|(key, row)| (*key, row.as_slice())).collect();
        let segment = Segment { documents: 1000, rows };
        let count = |query: &TrigramQuery| {
            segment.meeting(query).unwrap().into_iter().filter(|meets| *meets).count()
        };
        let has = |text: &[u8; 3]| TrigramQuery::Has(*text);
        assert_eq!(count(&has(b"abc")), 334);
        assert_eq!(count(&has(b"abd")), 999);
        assert_eq!(count(&has(b"xyz")), 1);
        assert_eq!(count(&has(b"nil")), 0);
        assert_eq!(count(&has(b"abc").and(has(b"xyz"))), 1);
        assert_eq!(count(&has(b"xyz").or(has(b"abc"))), 334);
        assert_eq!(count(&TrigramQuery::All), 1000);
        assert_eq!(count(&TrigramQuery::None), 0);
    }

    #[test]
    fn damaged_rows_never_panic() {
        let lists = [(number(*b"abc"), vec![0, 9]), (number(*b"abd"), vec![3])];
        let lists = lists.into_iter().collect();
        let row = rows(lists, 10).into_values().next().unwrap();
        for index in 0..row.len() {
            for bit in 0..8 {
                let mut bytes = row.clone();
                bytes[index] ^= 1 << bit;
                let rows = HashMap::from([(prefix(*b"abc"), bytes.as_slice())]);
                drop(Segment { documents: 10, rows }.meeting(&TrigramQuery::Has(*b"abd")));
            }
        }
    }
}
