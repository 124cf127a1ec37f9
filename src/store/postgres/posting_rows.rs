//! The rows of the index of words: a row has the list of one term, or the short lists of several.
//!
//! Most terms are rare, and a row of their own would be larger than their list. Short lists of terms that
//! begin with the same bytes therefore share a row. Its key is a marker byte, which no term begins with,
//! followed by the shared prefix: the shortest of at least two bytes with which the row is not too long. Invariant:
//! the list of a term is in exactly one row of a segment, which has one of the [`keys`] of the term.

use std::collections::BTreeMap;

use crate::varint::{put, take};

/// The first byte of the key of a group. No UTF-8 text contains it.
const GROUP: u8 = 0xff;

/// The length in bytes of a list from which it has a row of its own.
const LONG: usize = 512;

/// The length in bytes of a row up to which the server keeps it in one piece.
const ROW: usize = 1900;

/// The lengths in bytes of the common beginning of a group.
const BEGINNINGS: std::ops::RangeInclusive<usize> = 2..=12;

/// Returns the rows of the lists of terms, by key.
pub(super) fn rows(lists: BTreeMap<Vec<u8>, Vec<u8>>) -> BTreeMap<Vec<u8>, Vec<u8>> {
    let (long, short): (Vec<_>, Vec<_>) =
        lists.into_iter().partition(|(_, list)| list.len() >= LONG);
    let mut rows = BTreeMap::from_iter(long);
    group(&short, *BEGINNINGS.start(), &mut rows);
    rows
}

/// Adds the rows of `lists`, which are in order. The terms of a group have at least their first `length` bytes in
/// common.
fn group(lists: &[(Vec<u8>, Vec<u8>)], length: usize, rows: &mut BTreeMap<Vec<u8>, Vec<u8>>) {
    let beginning = |term: &[u8]| term.get(..length).unwrap_or(term).to_vec();
    for group_of in lists.chunk_by(|(one, _), (other, _)| beginning(one) == beginning(other)) {
        let size: usize = group_of.iter().map(|(term, list)| term.len() + list.len() + 3).sum();
        let Some((first, _)) = group_of.first() else { continue };
        let is_last = length == *BEGINNINGS.end() || first.len() < length;
        if size > ROW && !is_last && group_of.len() > 1 {
            group(group_of, length + 1, rows);
            continue;
        }
        let mut row = Vec::with_capacity(size);
        for (term, list) in group_of {
            for part in [term, list] {
                put(&mut row, part.len() as u64);
                row.extend_from_slice(part);
            }
        }
        rows.insert([&[GROUP][..], &beginning(first)].concat(), row);
    }
}

/// Calls `visit` with each term of a row and its list; `None` if the row is damaged.
pub(super) fn each<'a>(
    key: &'a [u8],
    row: &'a [u8],
    mut visit: impl FnMut(&'a [u8], &'a [u8]) -> Option<()>,
) -> Option<()> {
    if key.first() != Some(&GROUP) {
        return visit(key, row);
    }
    let mut rest = row;
    while !rest.is_empty() {
        let term = take_part(&mut rest)?;
        let list = take_part(&mut rest)?;
        visit(term, list)?;
    }
    Some(())
}

/// Removes bytes after their length from the front of `row`.
fn take_part<'a>(row: &mut &'a [u8]) -> Option<&'a [u8]> {
    let length = usize::try_from(take(row)?).ok()?;
    let (part, rest) = row.split_at_checked(length)?;
    *row = rest;
    Some(part)
}

/// Returns the keys of the rows in which the list of `term` may be.
pub(super) fn keys(term: &[u8]) -> Vec<Vec<u8>> {
    let groups =
        BEGINNINGS.map(|length| [&[GROUP][..], term.get(..length).unwrap_or(term)].concat());
    let mut keys: Vec<Vec<u8>> = std::iter::once(term.to_vec()).chain(groups).collect();
    keys.dedup();
    keys
}

/// Returns the range of the keys of groups whose common beginning is in `range`. The groups of the terms in
/// `range` have these keys, or are among the [`keys`] of its first term.
pub(super) fn group_range((from, to): &(Vec<u8>, Vec<u8>)) -> (Vec<u8>, Vec<u8>) {
    ([&[GROUP][..], from].concat(), [&[GROUP][..], to].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Terms with lists of many lengths; "word" is both a term and the beginning of others.
    fn lists() -> BTreeMap<Vec<u8>, Vec<u8>> {
        let mut lists = BTreeMap::from([
            (b"a".to_vec(), vec![1]),
            (b"word".to_vec(), vec![2; 600]),
            (b"wo".to_vec(), vec![3; 5]),
            (vec![0, b't'], vec![4; 40]),
            ("\u{4e2d}\u{6587}".as_bytes().to_vec(), vec![5; 9]),
        ]);
        for number in 0..2000_usize {
            lists.insert(format!("word{number}").into_bytes(), vec![6; number % 30 + 1]);
            lists.insert(
                format!("{}same", "x".repeat(number % 40)).into_bytes(),
                vec![7; number % 600],
            );
        }
        lists
    }

    fn unpacked(rows: &BTreeMap<Vec<u8>, Vec<u8>>) -> BTreeMap<Vec<u8>, Vec<u8>> {
        let mut found = BTreeMap::new();
        for (key, row) in rows {
            each(key, row, |term, list| {
                assert!(keys(term).contains(key), "{term:?} {key:?}");
                assert!(found.insert(term.to_vec(), list.to_vec()).is_none(), "{term:?} twice");
                Some(())
            })
            .unwrap();
        }
        found
    }

    #[test]
    fn every_list_is_in_one_row_with_a_key_of_its_term() {
        let rows = rows(lists());
        assert_eq!(unpacked(&rows), lists());
        assert!(rows.len() * 5 < lists().len(), "{}", rows.len());
        assert!(rows.values().filter(|row| row.len() > ROW).count() < 3);
    }

    #[test]
    fn the_terms_of_a_range_are_in_its_groups_or_under_the_keys_of_its_first_term() {
        let rows = rows(lists());
        for beginning in ["word", "word1", "wo", "xx", "a"] {
            let range = (beginning.as_bytes().to_vec(), [beginning.as_bytes(), &[0xff]].concat());
            let (from, to) = group_range(&range);
            let first = keys(beginning.as_bytes());
            for (key, row) in rows.iter().filter(|(key, _)| key.first() == Some(&GROUP)) {
                let is_found = *key >= from && *key < to || first.contains(key);
                each(key, row, |term, _| {
                    assert!(is_found || !term.starts_with(beginning.as_bytes()), "{term:?}");
                    Some(())
                });
            }
        }
    }

    #[test]
    fn damaged_rows_never_panic() {
        for (key, row) in rows(lists()).into_iter().take(40) {
            for index in 0..row.len().min(200) {
                let mut bytes = row.clone();
                bytes[index] ^= 0x81;
                each(&key, &bytes, |_, _| Some(()));
                each(&key, &bytes[..index], |_, _| Some(()));
            }
        }
    }
}
