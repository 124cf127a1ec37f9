//! A bit for each section: of a window of consecutive sections, or of a segment.

use tantivy::{DocId, TERMINATED};

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

/// Sections of a segment.
#[derive(Default)]
pub(super) struct SectionSet {
    /// The bits of each window.
    windows: Vec<Marks>,
    /// The number of sections.
    pub(super) count: u64,
}

impl SectionSet {
    pub(super) fn insert(&mut self, section: DocId) {
        let (window, slot) = place(section);
        if self.windows.len() <= window {
            self.windows.resize(window + 1, [0; WINDOW / 64]);
        }
        if let Some(marks) = self.windows.get_mut(window).filter(|marks| !is_marked(marks, slot)) {
            mark(marks, slot);
            self.count += 1;
        }
    }

    pub(super) fn contains(&self, section: DocId) -> bool {
        let (window, slot) = place(section);
        self.windows.get(window).is_some_and(|marks| is_marked(marks, slot))
    }

    /// Returns an upper bound of the sections.
    pub(super) fn end(&self) -> DocId {
        DocId::try_from(self.windows.len() * WINDOW).unwrap_or(TERMINATED)
    }

    /// Returns the sections of the window that begins with `start`.
    pub(super) fn window(&self, start: DocId) -> Marks {
        self.windows.get(place(start).0).copied().unwrap_or([0; WINDOW / 64])
    }

    /// Returns the first section from `from` on; [`TERMINATED`] if there is none.
    pub(super) fn first_from(&self, from: DocId) -> DocId {
        let (window, slot) = place(from);
        let mut skipped = slot / 64;
        let mut within = u64::MAX << (slot % 64);
        for (start, marks) in (0..).step_by(WINDOW).zip(&self.windows).skip(window) {
            for (index, bits) in marks.iter().enumerate().skip(skipped) {
                let bits = bits & within;
                if bits != 0 {
                    let slot = index * 64 + bits.trailing_zeros() as usize;
                    return DocId::try_from(start + slot).unwrap_or(TERMINATED);
                }
                within = u64::MAX;
            }
            (skipped, within) = (0, u64::MAX);
        }
        TERMINATED
    }
}

/// Returns the number of the window of a section, and its index in the window.
fn place(section: DocId) -> (usize, usize) {
    (section as usize / WINDOW, section as usize % WINDOW)
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

    #[test]
    fn a_set_finds_its_sections_from_any_one_on() {
        let mut set = SectionSet::default();
        let sections = [3, 63, 64, 4095, 4096, 12_400];
        for section in sections.into_iter().chain([64]) {
            set.insert(section);
        }
        assert_eq!(set.count, 6);
        for from in 0..12_500 {
            let next = sections.into_iter().find(|section| *section >= from);
            assert_eq!(set.first_from(from), next.unwrap_or(TERMINATED), "{from}");
            assert_eq!(set.contains(from), sections.contains(&from), "{from}");
        }
        let mut second = Vec::new();
        each_marked(&set.window(4096), |slot| second.push(slot));
        assert_eq!(second, [0]);
        assert_eq!(set.window(1 << 20), [0; WINDOW / 64]);
    }
}
