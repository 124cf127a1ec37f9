//! The files that an ingest reads: those that are new or may have changed.
//!
//! Owns their packed form. A list of a million paths would take more memory than everything else in an ingest, and most
//! of a path is that of the file before it. Invariant: the files are read back as they were given, in the order of
//! their paths.

use std::collections::VecDeque;

use crate::corpus::{FileState, WalkedFile};
use crate::parallel;
use crate::store::StoredDocument;
use crate::varint;

/// The least number of bytes of a part that others follow. So large a block is returned to the system when it is freed,
/// and the list takes less memory the longer an ingest lasts.
const PART_BYTES: usize = 1 << 20;

/// A file that is new or may have changed.
#[derive(Debug)]
pub(super) struct ChangedFile<'a> {
    pub(super) path: String,
    pub(super) state: FileState,
    pub(super) stored: Option<&'a StoredDocument>,
}

/// Files in the order of their paths, with their documents in the store.
#[derive(Default)]
pub(super) struct Candidates<'a> {
    /// For each file: the number of bytes that its path shares with that of the file before it, the number and the
    /// bytes of the others, its size, and what its times differ by from those of the file before it.
    parts: VecDeque<Vec<u8>>,
    count: usize,
    /// The documents of the files that have one, each with the number of its file, in order.
    stored: Vec<(usize, &'a StoredDocument)>,
}

impl<'a> Candidates<'a> {
    /// Packs `files`.
    pub(super) fn new(mut files: Vec<(WalkedFile, Option<&'a StoredDocument>)>) -> Self {
        parallel::sort_by(&mut files, |(one, _), (other, _)| one.path.cmp(&other.path));
        let mut candidates = Self::default();
        let mut part = Vec::new();
        let mut previous = WalkedFile::default();
        for (file, stored) in files {
            candidates.stored.extend(stored.map(|document| (candidates.count, document)));
            candidates.count += 1;
            put(&mut part, &previous, &file);
            if part.len() >= PART_BYTES {
                candidates.parts.push_back(std::mem::take(&mut part));
            }
            previous = file;
        }
        candidates.parts.push_back(part);
        candidates
    }

    /// The number of files.
    pub(super) const fn len(&self) -> usize {
        self.count
    }

    /// Returns the files. Each part is freed after its last file.
    pub(super) fn into_iter(mut self) -> impl Iterator<Item = ChangedFile<'a>> {
        let mut part = Vec::new();
        let mut position = 0;
        let mut file = WalkedFile::default();
        let mut stored = self.stored.into_iter().peekable();
        (0..self.count).map_while(move |number| {
            if position == part.len() {
                (part, position) = (self.parts.pop_front()?, 0);
            }
            let mut rest = part.get(position..)?;
            file = take(&mut rest, &file)?;
            position = part.len() - rest.len();
            let stored = stored.next_if(|(of, _)| *of == number).map(|(_, document)| document);
            Some(ChangedFile { path: file.path.clone(), state: file.state, stored })
        })
    }
}

/// Appends `file` to `packed`. `previous` is the file before it.
fn put(packed: &mut Vec<u8>, previous: &WalkedFile, file: &WalkedFile) {
    let pairs = previous.path.bytes().zip(file.path.bytes());
    let shared = pairs.take_while(|(one, other)| one == other).count();
    let rest = file.path.as_bytes().get(shared..).unwrap_or_default();
    varint::put(packed, shared as u64);
    varint::put(packed, rest.len() as u64);
    packed.extend_from_slice(rest);
    varint::put(packed, file.state.size);
    put_difference(packed, previous.state.mtime_ns, file.state.mtime_ns);
    put_difference(packed, previous.state.ctime_ns, file.state.ctime_ns);
}

/// Removes a file from the front of `packed`. `previous` is the file before it.
fn take(packed: &mut &[u8], previous: &WalkedFile) -> Option<WalkedFile> {
    let shared = usize::try_from(varint::take(packed)?).ok()?;
    let rest = usize::try_from(varint::take(packed)?).ok()?;
    let path = [previous.path.as_bytes().get(..shared)?, packed.split_off(..rest)?].concat();
    let size = varint::take(packed)?;
    let mtime_ns = take_difference(packed, previous.state.mtime_ns)?;
    let ctime_ns = take_difference(packed, previous.state.ctime_ns)?;
    let state = FileState { size, mtime_ns, ctime_ns };
    Some(WalkedFile { path: String::from_utf8(path).ok()?, state })
}

/// Appends what `time` differs by from `previous`. Files that are read together were often written together. The sign
/// is the lowest bit, so that a small difference is short if it is negative, too.
fn put_difference(packed: &mut Vec<u8>, previous: i64, time: i64) {
    let difference = time.wrapping_sub(previous);
    varint::put(packed, (difference << 1 ^ difference >> 63).cast_unsigned());
}

/// Removes a difference from the front of `packed`, and returns the time that differs by it from `previous`.
fn take_difference(packed: &mut &[u8], previous: i64) -> Option<i64> {
    let signed = varint::take(packed)?;
    let difference = (signed >> 1).cast_signed() ^ -(signed & 1).cast_signed();
    Some(previous.wrapping_add(difference))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn files() -> impl Strategy<Value = Vec<WalkedFile>> {
        let state = (any::<u64>(), any::<i64>(), any::<i64>());
        let file = ("[aäb漢/.]{0,12}", state).prop_map(|(path, (size, mtime_ns, ctime_ns))| {
            WalkedFile { path, state: FileState { size, mtime_ns, ctime_ns } }
        });
        proptest::collection::vec(file, 0..40)
    }

    #[test]
    fn many_files_are_packed_in_several_parts() {
        let file = |number: i64| WalkedFile {
            path: format!("{number:0100}"),
            state: FileState { size: 1, mtime_ns: number * number * number, ctime_ns: -number },
        };
        let files = (0..200_000).map(|number| (file(number), None)).collect();
        let candidates = Candidates::new(files);
        assert!(candidates.parts.len() > 1, "{}", candidates.parts.len());
        let (count, mut read) = (candidates.len(), 0);
        for (number, found) in (0..).zip(candidates.into_iter()) {
            assert_eq!((found.path, found.state), (file(number).path, file(number).state));
            read += 1;
        }
        assert_eq!(read, count);
    }

    proptest! {
        #[test]
        fn files_are_read_back_in_the_order_of_their_paths(files in files()) {
            let mut expected: Vec<_> =
                files.iter().map(|file| (file.path.clone(), file.state)).collect();
            expected.sort_by(|(one, _), (other, _)| one.cmp(other));
            let candidates = Candidates::new(files.into_iter().map(|file| (file, None)).collect());
            prop_assert_eq!(candidates.len(), expected.len());
            let read: Vec<_> = candidates.into_iter().map(|file| (file.path, file.state)).collect();
            prop_assert_eq!(read, expected);
        }
    }
}
