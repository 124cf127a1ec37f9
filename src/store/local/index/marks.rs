//! A bit for each section of a window of consecutive sections.

use tantivy::DocId;

/// The number of sections in a window.
pub(super) const WINDOW: usize = 4096;
pub(super) const WINDOW_LENGTH: DocId = 4096;

/// The bits of a window.
pub(super) type Marks = [u64; WINDOW / 64];

pub(super) fn mark(marks: &mut Marks, slot: usize) {
    if let Some(bits) = marks.get_mut(slot / 64) {
        *bits |= 1 << (slot % 64);
    }
}

pub(super) fn is_marked(marks: &Marks, slot: usize) -> bool {
    marks.get(slot / 64).is_some_and(|bits| bits & (1 << (slot % 64)) != 0)
}

/// Calls `visit` with the index of each marked section, ascending.
pub(super) fn each_marked(marks: &Marks, mut visit: impl FnMut(usize)) {
    for (index, bits) in marks.iter().enumerate() {
        let mut bits = *bits;
        while bits != 0 {
            visit(index * 64 + bits.trailing_zeros() as usize);
            bits &= bits - 1;
        }
    }
}

pub(super) fn combined(one: &Marks, other: &Marks, combine: impl Fn(u64, u64) -> u64) -> Marks {
    let mut marks = *one;
    for (bits, other) in marks.iter_mut().zip(other) {
        *bits = combine(*bits, *other);
    }
    marks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marked_sections_are_visited_in_order() {
        let mut marks = [0; WINDOW / 64];
        for slot in [4095, 0, 64, 63] {
            mark(&mut marks, slot);
        }
        let mut visited = Vec::new();
        each_marked(&marks, |slot| visited.push(slot));
        assert_eq!(visited, [0, 63, 64, 4095]);
        let mut other = [0; WINDOW / 64];
        mark(&mut other, 64);
        visited.clear();
        each_marked(&combined(&marks, &other, |one, other| one & !other), |slot| {
            visited.push(slot);
        });
        assert_eq!(visited, [0, 63, 4095]);
    }
}
