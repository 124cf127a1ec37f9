//! Sets of ids of documents.
//!
//! A set lists the ids that are in it, or those that are not. Invariant: the listed ids are ascending, each
//! once.

use std::cmp::Ordering;

/// A set of ids.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Ids {
    listed: Vec<i64>,
    /// Whether the listed ids are those that are not in the set.
    are_excluded: bool,
}

impl Ids {
    /// Returns the set of all ids.
    pub(super) fn all() -> Self {
        Self { listed: Vec::new(), are_excluded: true }
    }

    /// Returns the set of these ids.
    pub(super) fn of(mut ids: Vec<i64>) -> Self {
        if !ids.is_sorted_by(|one, other| one < other) {
            ids.sort_unstable();
            ids.dedup();
        }
        Self { listed: ids, are_excluded: false }
    }

    /// Returns the ids in the set, ascending, unless it lists those that are not.
    pub(super) fn listed(&self) -> Option<&[i64]> {
        (!self.are_excluded).then_some(self.listed.as_slice())
    }

    pub(super) fn contains(&self, id: i64) -> bool {
        self.listed.binary_search(&id).is_ok() != self.are_excluded
    }

    pub(super) fn complement(self) -> Self {
        Self { are_excluded: !self.are_excluded, ..self }
    }

    /// Returns the ids in both sets.
    pub(super) fn and(&self, other: &Self) -> Self {
        let (one, two) = (&self.listed, &other.listed);
        let (listed, are_excluded) = match (self.are_excluded, other.are_excluded) {
            (false, false) => (merged(one, two, |a, b| a && b), false),
            (false, true) => (merged(one, two, |a, b| a && !b), false),
            (true, false) => (merged(one, two, |a, b| !a && b), false),
            (true, true) => (merged(one, two, |a, b| a || b), true),
        };
        Self { listed, are_excluded }
    }

    /// Returns the ids in any of the sets.
    pub(super) fn or(self, other: Self) -> Self {
        self.complement().and(&other.complement()).complement()
    }
}

/// Returns the ids in the lists for which `keeps` is true, given whether each list has the id.
fn merged(one: &[i64], two: &[i64], keeps: fn(bool, bool) -> bool) -> Vec<i64> {
    let mut result = Vec::new();
    let (mut rest_of_one, mut rest_of_two) = (one.iter(), two.iter());
    let (mut a, mut b) = (rest_of_one.next(), rest_of_two.next());
    loop {
        let (id, in_one, in_two) = match (a, b) {
            (None, None) => return result,
            (Some(id), None) => (id, true, false),
            (None, Some(id)) => (id, false, true),
            (Some(one), Some(two)) => match one.cmp(two) {
                Ordering::Less => (one, true, false),
                Ordering::Greater => (two, false, true),
                Ordering::Equal => (one, true, true),
            },
        };
        if keeps(in_one, in_two) {
            result.push(*id);
        }
        if in_one {
            a = rest_of_one.next();
        }
        if in_two {
            b = rest_of_two.next();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::Ids;

    proptest! {
        #[test]
        fn operations_agree_with_those_of_the_standard_library(
            lists in proptest::collection::vec(proptest::collection::vec(0_i64..20, 0..12), 2),
            complements in proptest::collection::vec(any::<bool>(), 2),
        ) {
            let sets: Vec<(Ids, BTreeSet<i64>)> = lists
                .into_iter()
                .zip(complements)
                .map(|(list, is_complement)| {
                    let ids = Ids::of(list.clone());
                    let has = |id: &i64| list.contains(id) != is_complement;
                    (if is_complement { ids.complement() } else { ids }, (0..20).filter(has).collect())
                })
                .collect();
            let [(one, naive_one), (two, naive_two)] = &sets[..] else { unreachable!() };
            let within = |ids: &Ids| (0..20).filter(|id| ids.contains(*id)).collect::<BTreeSet<_>>();
            prop_assert_eq!(&within(one), naive_one);
            prop_assert_eq!(within(&one.and(two)), naive_one & naive_two);
            prop_assert_eq!(within(&one.clone().or(two.clone())), naive_one | naive_two);
            prop_assert_eq!(one.and(&Ids::all()), one.clone());
        }
    }
}
