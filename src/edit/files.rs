//! Changes files and their documents: all of them, or none.
//!
//! The steps that need disk space come first: the intents are stored, and the new bytes are written to
//! temporary files. Then one commit gives the store all new versions, which decides that the edit is made.
//! The renames, which need no space, come last. Invariant: if a step fails or the process is killed, the next
//! command gives each file the version that the store has; see [`crate::store::Store::recover`]. If a rename fails,
//! another commit gives the store the old versions and records that the edit is taken back.

use std::cmp::Reverse;
use std::time::Duration;

use super::plan::Version;
use crate::corpus::{FileHandle, FileState, Roots, Seen, conflict, temporary_name};
use crate::error::{Error, ErrorKind, Result, Warning};
use crate::failpoint::failpoint;
use crate::limits;
use crate::markdown::Dialect;
use crate::prepare::{Preparation, PreparedDocument};
use crate::store::{EditIntent, Lookup, Purpose, Reader, Store, StoredDocument, Writer};

/// A file as it was read.
pub(super) struct OldFile {
    pub(super) bytes: Vec<u8>,
    pub(super) seen: Seen,
}

impl OldFile {
    /// Reads the file of a document.
    ///
    /// # Errors
    ///
    /// `CONFLICT` if the file is not the one in the store.
    pub(super) fn read(reader: &dyn Reader, stored: &StoredDocument) -> Result<Self> {
        let roots = reader.roots();
        let (bytes, seen) = roots.open(&stored.path)?.read(&roots)?;
        if *blake3::hash(&bytes).as_bytes() != stored.hash {
            let path = &stored.path;
            let message = format!("{path}: the file differs from the version in the store");
            return Err(conflict(message));
        }
        Ok(Self { bytes, seen })
    }
}

/// The change of one file.
pub(super) struct FileChange {
    /// The path relative to the root, with `/` as separator.
    pub(super) path: String,
    /// The file before the edit; `None` if the edit creates it.
    pub(super) before: Option<OldFile>,
    /// The file after the edit; `None` if the edit removes it.
    pub(super) after: Option<Version>,
    /// The path of the file whose owner and mode a created file gets.
    pub(super) model: Option<String>,
}

impl FileChange {
    /// Returns the number of bytes by which the file grows.
    fn growth(&self) -> i64 {
        let length = |bytes: &[u8]| i64::try_from(bytes.len()).unwrap_or(i64::MAX);
        let after = self.after.as_ref().map_or(0, |after| length(after.bytes()));
        after - self.before.as_ref().map_or(0, |before| length(&before.bytes))
    }

    /// Returns the record of the change of a file, for which folders may have to be made.
    fn intent(&self, roots: &Roots) -> Result<EditIntent> {
        let hash = |bytes: &[u8]| *blake3::hash(bytes).as_bytes();
        let made = match &self.before {
            None => roots.check_new(&self.path)?,
            Some(_) => 0,
        };
        Ok(EditIntent {
            path: self.path.clone(),
            temporary: temporary_name(made),
            old_hash: self.before.as_ref().map(|before| hash(&before.bytes)),
            new_hash: self.after.as_ref().map(|after| hash(after.bytes())),
        })
    }
}

/// The right to change a store, and the store as it is until then.
///
/// The writer holds the lock from before the files are read until the store is written, so concurrent edits run one
/// after the other.
pub(super) struct EditTransaction<'a> {
    store: &'a Store,
    writer: Box<dyn Writer>,
    pub(super) reader: Box<dyn Reader>,
}

impl<'a> EditTransaction<'a> {
    /// Waits for other writers, at most as long as `wait`. Returns warnings about an interrupted edit, too.
    pub(super) fn begin(store: &'a Store, wait: Duration) -> Result<(Self, Vec<Warning>)> {
        let (writer, recovered) = store.trusted_writer(wait)?;
        Ok((Self { store, writer, reader: store.reader(Purpose::Read)? }, recovered))
    }

    /// Makes `changes`, unless they are only tried. Calls `confirm` before anything is written. Returns warnings.
    ///
    /// # Errors
    ///
    /// `LIMIT` if a file would be larger than its folder allows.
    pub(super) fn finish(
        self,
        changes: Vec<FileChange>,
        is_dry_run: bool,
        confirm: impl FnOnce() -> Result<()>,
    ) -> Result<Vec<Warning>> {
        let Self { store, writer, reader } = self;
        let roots = reader.roots();
        drop(reader);
        for FileChange { path, before, after, .. } in &changes {
            let bytes = after.as_ref().map_or(0, |after| after.bytes().len());
            roots.check_size(path, bytes as u64)?;
            if before.is_none() {
                roots.check_new(path)?;
            }
        }
        if is_dry_run || changes.is_empty() {
            return writer.close();
        }
        confirm()?;
        write(store, writer, &roots, changes)
    }
}

/// Makes `changes` and ends the writer. Returns warnings about steps that failed after the edit was made.
///
/// A writer whose change failed is not used again: it may have committed the change before it failed. Another
/// one recovers the edit, and the store says whether it was made.
fn write(
    store: &Store,
    mut writer: Box<dyn Writer>,
    roots: &Roots,
    changes: Vec<FileChange>,
) -> Result<Vec<Warning>> {
    let paths: Vec<String> = changes.iter().map(|change| change.path.clone()).collect();
    // Everything that can be refused is checked before anything is written.
    let opened = changes.iter().zip(&paths).map(|(change, path)| match change.before {
        None => Ok(None),
        Some(_) => roots.open(path).map(Some),
    });
    let opened = opened.collect::<Result<Vec<_>>>()?;
    let intents = changes.iter().map(|change| change.intent(roots)).collect::<Result<Vec<_>>>()?;
    // The handles are dropped after a recovery, because they remove the folders that they created and that are empty
    // then. Folders are created when a recovery knows of them.
    let mut files = Vec::with_capacity(paths.len());
    let written = writer.note_intents(&intents).and_then(|notes| {
        failpoint!(EDIT_NOTED);
        for (file, path) in opened.into_iter().zip(&paths) {
            files.push(file.map_or_else(|| roots.make(path), Ok)?);
        }
        try_write(store, writer.as_mut(), roots, changes, &files, &intents, &notes)
    });
    let error = match written {
        Ok(None) => {
            return Ok(writer.close().unwrap_or_else(|error| vec![made_nevertheless(&error)]));
        }
        // The next command removes the records of the edit.
        Ok(Some(error)) => return Ok(vec![made_nevertheless(&error)]),
        Err(error) => error,
    };
    drop(writer);
    let recovered = store.trusted_writer(limits::LOCK_WAIT).and_then(|(writer, _)| {
        writer.close()?;
        let documents = stored_at(store, &paths)?;
        let stored = |path: &String| documents.iter().find(|document| document.path == *path);
        let is_made =
            |intent: &EditIntent| stored(&intent.path).map(|one| one.hash) == intent.new_hash;
        Ok(intents.iter().all(is_made))
    });
    match recovered {
        Ok(true) => Ok(vec![made_nevertheless(&error)]),
        Ok(false) => Err(error),
        // The next command recovers the edit.
        Err(_) => {
            Err(error.in_part("the edit may have been made; read the file before you repeat it"))
        }
    }
}

/// Makes the changes. Returns the error of a step that failed after all files were changed, if one did.
fn try_write(
    store: &Store,
    writer: &mut dyn Writer,
    roots: &Roots,
    changes: Vec<FileChange>,
    files: &[FileHandle<'_>],
    intents: &[EditIntent],
    notes: &[i64],
) -> Result<Option<Error>> {
    if let Err(error) = stage(roots, &changes, files, intents) {
        sweep(files, intents);
        return Err(error);
    }
    let paths: Vec<String> = changes.iter().map(|change| change.path.clone()).collect();
    // Bytes that move from one file to another are in place before they are removed.
    let mut order: Vec<usize> = (0..changes.len()).collect();
    order.sort_by_key(|index| changes.get(*index).map(|change| Reverse(change.growth())));
    let (before, after): (Vec<_>, Vec<_>) =
        changes.into_iter().map(|change| (change.before, change.after)).unzip();
    let after = paths.iter().cloned().zip(after).collect();
    if let Err(error) = put(store, writer, after).and_then(|()| writer.commit()) {
        sweep(files, intents);
        return Err(error);
    }
    if let Err(error) = place(files, intents, &before, &order) {
        // The store gets the old versions back, and then the files that were changed do.
        sweep(files, intents);
        let read = |path: &String, old: OldFile| Version::read_as(old.bytes, Dialect::of(path));
        let old = paths.iter().zip(before);
        let old = old.map(|(path, old)| (path.clone(), old.map(|old| read(path, old))));
        put(store, writer, old.collect())?;
        // Without the new records, a recovery would take it that the store is older than the files.
        notes.iter().try_for_each(|note| writer.forget_intent(*note))?;
        let taken_back: Vec<EditIntent> = intents.iter().map(EditIntent::taken_back).collect();
        writer.note_intents(&taken_back)?;
        return Err(error);
    }
    let finished = files.iter().try_for_each(FileHandle::sync_folder).and_then(|()| {
        notes.iter().try_for_each(|note| writer.forget_intent(*note))?;
        writer.commit()
    });
    Ok(finished.err())
}

/// Writes the new bytes to temporary files.
fn stage(
    roots: &Roots,
    changes: &[FileChange],
    files: &[FileHandle<'_>],
    intents: &[EditIntent],
) -> Result<()> {
    for ((change, file), intent) in changes.iter().zip(files).zip(intents) {
        let Some(after) = &change.after else { continue };
        match (&change.before, &change.model) {
            (Some(_), _) => file.stage(&intent.temporary, after.bytes(), Some(file))?,
            (None, Some(model)) => {
                let model = roots.open(model)?;
                file.stage(&intent.temporary, after.bytes(), Some(&model))?;
            }
            (None, None) => file.stage(&intent.temporary, after.bytes(), None)?,
        }
    }
    Ok(())
}

/// Removes the temporary files.
fn sweep(files: &[FileHandle<'_>], intents: &[EditIntent]) {
    for (file, intent) in files.iter().zip(intents) {
        file.remove_temporary(&intent.temporary);
    }
}

/// Renames the temporary files into place, in `order`. Removes other files last, so that no bytes are lost in between.
fn place(
    files: &[FileHandle<'_>],
    intents: &[EditIntent],
    before: &[Option<OldFile>],
    order: &[usize],
) -> Result<()> {
    let at =
        |index: &usize| Some(((files.get(*index)?, intents.get(*index)?), before.get(*index)?));
    let all = || order.iter().filter_map(at);
    for ((file, intent), before) in all().filter(|((_, intent), _)| intent.new_hash.is_some()) {
        match before {
            Some(before) => file.put_in_place(&intent.temporary, &before.seen)?,
            None => file.put_in_new_place(&intent.temporary)?,
        }
    }
    for ((file, intent), before) in all() {
        if let (None, Some(before)) = (intent.new_hash, before) {
            file.remove(&before.seen)?;
        }
    }
    Ok(())
}

/// Stores versions of files, without a commit. A file without a version is removed.
fn put(
    store: &Store,
    writer: &mut dyn Writer,
    versions: Vec<(String, Option<Version>)>,
) -> Result<()> {
    let mut removed: Vec<String> = Vec::new();
    for (path, version) in versions {
        match version {
            Some(version) => writer.put(vec![pack(&path, version)?])?,
            None => removed.push(path),
        }
    }
    if !removed.is_empty() {
        let gone = stored_at(store, &removed)?;
        let ids: Vec<i64> = gone.iter().map(|document| document.id).collect();
        writer.remove(&ids)?;
    }
    Ok(())
}

/// Returns the documents at `paths` as they were committed.
fn stored_at(store: &Store, paths: &[String]) -> Result<Vec<StoredDocument>> {
    let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
    store.reader(Purpose::Read)?.all(&Lookup::Paths(&paths))
}

/// The warning that the edit was made although a step failed.
fn made_nevertheless(error: &Error) -> Warning {
    let message =
        format!("the file was changed, so do not repeat the edit; a step failed: {error}");
    Warning::new("EDIT_UNFINISHED", message)
}

/// Packs a new version of a file for the store.
fn pack(path: &str, version: Version) -> Result<PreparedDocument> {
    let (bytes, document, markup) = version.into_parts();
    let hash = *blake3::hash(&bytes).as_bytes();
    // The file may change again within the same clock tick, so the times are left at 0 and the next ingest
    // reads the file again.
    let state = FileState::unknown(bytes.len());
    Preparation::new()?
        .of_parsed(path.to_owned(), bytes, hash, state, document, markup)?
        .map_err(|reason| Error::new(ErrorKind::EditRefused, format!("{path}: {reason}")))
}
