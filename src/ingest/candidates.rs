//! The files that an ingest reads: those that are new or may have changed.
//!
//! Owns their packed form. A list of a million paths would take more memory than everything else in an ingest, and most
//! of a path is that of the file before it. Invariant: the files are read back as they were given, in the order of
//! their paths.

use super::comparison::ChangedFile;
use crate::codec::varint;
use crate::corpus::{FileState, WalkedFile};
use crate::parallel;
use crate::store::StoredDocument;

/// Files in the order of their paths, with their documents in the store.
#[derive(Default)]
pub(super) struct Candidates<'a> {
    /// For each file: the number of bytes that its path shares with that of the file before it, the number and the
    /// bytes of the others, its size, and its times.
    packed: Vec<u8>,
    count: usize,
    /// The documents of the files that have one, each with the number of its file, in order.
    stored: Vec<(usize, &'a StoredDocument)>,
}

impl<'a> Candidates<'a> {
    /// Packs `files`.
    pub(super) fn new(mut files: Vec<(WalkedFile, Option<&'a StoredDocument>)>) -> Self {
        parallel::sort_by(&mut files, |(one, _), (other, _)| one.path.cmp(&other.path));
        let mut candidates = Self::default();
        let mut previous = String::new();
        for (file, stored) in files {
            candidates.stored.extend(stored.map(|document| (candidates.count, document)));
            candidates.push(&previous, &file);
            previous = file.path;
        }
        candidates.packed.shrink_to_fit();
        candidates
    }

    fn push(&mut self, previous: &str, file: &WalkedFile) {
        let pairs = previous.bytes().zip(file.path.bytes());
        let shared = pairs.take_while(|(one, other)| one == other).count();
        let rest = file.path.as_bytes().get(shared..).unwrap_or_default();
        varint::put(&mut self.packed, shared as u64);
        varint::put(&mut self.packed, rest.len() as u64);
        self.packed.extend_from_slice(rest);
        varint::put(&mut self.packed, file.state.size);
        self.packed.extend_from_slice(&file.state.mtime_ns.to_le_bytes());
        self.packed.extend_from_slice(&file.state.ctime_ns.to_le_bytes());
        self.count += 1;
    }

    /// The number of files.
    pub(super) const fn len(&self) -> usize {
        self.count
    }

    /// Returns the files.
    pub(super) fn iter(&self) -> impl Iterator<Item = ChangedFile<'a>> {
        let mut packed = self.packed.as_slice();
        let mut path = Vec::new();
        let mut stored = self.stored.iter().peekable();
        (0..self.count).map_while(move |number| {
            let (of_path, state) = take(&mut packed, &mut path)?;
            let stored = stored.next_if(|(of, _)| *of == number).map(|(_, document)| *document);
            Some(ChangedFile { path: of_path, state, stored })
        })
    }
}

/// Removes a file from the front of `packed`. `path` is the path of the file before it, and then its own.
fn take(packed: &mut &[u8], path: &mut Vec<u8>) -> Option<(String, FileState)> {
    path.truncate(usize::try_from(varint::take(packed)?).ok()?);
    let rest = usize::try_from(varint::take(packed)?).ok()?;
    path.extend_from_slice(packed.split_off(..rest)?);
    let size = varint::take(packed)?;
    let mut time = || Some(i64::from_le_bytes(*packed.split_off(..8)?.first_chunk()?));
    let state = FileState { size, mtime_ns: time()?, ctime_ns: time()? };
    Some((String::from_utf8(path.clone()).ok()?, state))
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

    proptest! {
        #[test]
        fn files_are_read_back_in_the_order_of_their_paths(files in files()) {
            let mut expected: Vec<_> =
                files.iter().map(|file| (file.path.clone(), file.state)).collect();
            expected.sort_by(|(one, _), (other, _)| one.cmp(other));
            let candidates = Candidates::new(files.into_iter().map(|file| (file, None)).collect());
            prop_assert_eq!(candidates.len(), expected.len());
            let read: Vec<_> = candidates.iter().map(|file| (file.path, file.state)).collect();
            prop_assert_eq!(read, expected);
        }
    }
}
