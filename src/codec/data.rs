//! The packed forms of the code blocks, tables and tasks of a document: one blob for each kind.
//!
//! Invariants: decoding an encoded value returns the same value. Decoding any other bytes returns
//! `None`, or data whose spans are within the file. A reader looks up its nodes in the outline, which may lack them.

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::data::{CodeItem, TaskEntry};
use crate::markdown::contents::Table;
use crate::position::ByteSpan;

/// Data of one kind.
pub(crate) trait Packable: Serialize + DeserializeOwned {
    /// Whether its spans are within a file of `bytes` bytes.
    fn is_within(&self, bytes: usize) -> bool;
}

fn is_span(span: ByteSpan, bytes: usize) -> bool {
    span.start <= span.end && span.end <= bytes
}

impl Packable for CodeItem {
    fn is_within(&self, bytes: usize) -> bool {
        let lines =
            self.block.cuts.iter().try_fold(0_usize, |sum, (count, _)| sum.checked_add(*count));
        is_span(self.block.code, bytes) && lines.is_some_and(|lines| lines <= bytes)
    }
}

impl Packable for Table {
    fn is_within(&self, bytes: usize) -> bool {
        Self::is_within(self, bytes)
    }
}

impl Packable for TaskEntry {
    fn is_within(&self, bytes: usize) -> bool {
        self.item.mark < bytes
    }
}

/// Packs `items`; `None` if there are none.
pub(crate) fn encode<T: Packable>(items: &[T]) -> postcard::Result<Option<Vec<u8>>> {
    (!items.is_empty()).then(|| postcard::to_stdvec(items)).transpose()
}

/// Unpacks the items of a document of `bytes` bytes; `None` if `packed` is invalid.
pub(crate) fn decode<T: Packable>(packed: Option<&[u8]>, bytes: usize) -> Option<Vec<T>> {
    let Some(packed) = packed else { return Some(Vec::new()) };
    let items: Vec<T> = postcard::from_bytes(packed).ok()?;
    items.iter().all(|item| item.is_within(bytes)).then_some(items)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::data::Contents;

    const TEXT: &[u8] = b"| a | b |\n|---|---|\n| `1` | 2 |\n\n- [ ] x due:2026-01-31\n  - [x] y\n\n> ```rs\n> x\n> ```\n";

    proptest! {
        #[test]
        fn damaged_blobs_never_panic_and_spans_stay_in_the_file(
            changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4)
        ) {
            let contents = Contents::of(crate::markdown::parse(TEXT).contents);
            let damaged = |mut packed: Vec<u8>| {
                for (index, value) in &changes {
                    let index = index.index(packed.len());
                    packed[index] = *value;
                }
                packed
            };
            let code = decode::<CodeItem>(Some(&damaged(encode(&contents.code).unwrap().unwrap())), TEXT.len());
            let tables = decode::<Table>(Some(&damaged(encode(&contents.tables).unwrap().unwrap())), TEXT.len());
            let tasks = decode::<TaskEntry>(Some(&damaged(encode(&contents.tasks).unwrap().unwrap())), TEXT.len());
            if changes.is_empty() {
                prop_assert_eq!(Some(Contents { code: code.unwrap(), tables: tables.unwrap(), tasks: tasks.unwrap() }), Some(contents));
            } else {
                for item in code.iter().flatten() {
                    prop_assert!(item.block.code.end <= TEXT.len());
                    item.block.text(&TEXT[item.block.code.start..item.block.code.end]);
                }
                for row in tables.iter().flatten().flat_map(Table::rows) {
                    prop_assert!(row.span.end <= TEXT.len());
                }
            }
        }
    }
}
