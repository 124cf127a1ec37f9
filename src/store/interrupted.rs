//! Recovering an edit whose process was killed, or whose files could not all be written.
//!
//! The store decides: one commit gives it the new version of every document that the edit changes, before the first file
//! changes. Invariant: after a recovery, each file of the edit has the version that the store has, unless somebody else
//! changed a file or the store, and no temporary file of the edit remains. What somebody else changed stays, and then no
//! file is removed whose bytes might be in no other.
//!
//! So a kill never leaves a new file and an old document. Where both are found, the store lost a commit: it was copied
//! during the edit, or its log is damaged. The edit may have been acknowledged, so its files stay. Only an edit
//! that failed is taken back, and its record says so; see [`EditIntent::taken_back`].

use std::cmp::Reverse;
use std::path::{Path, PathBuf};

use super::{EditIntent, Engine, Purpose, Reader, StoredDocument, Writer, WriterMetadata};
use crate::corpus::{FileHandle, Roots, Seen, made_folders};
use crate::error::{ErrorKind, Result, Warning};
use crate::failpoint::failpoint;
use crate::position::ByteSpan;

/// Recovers the interrupted edit of a store, if there is one. A file whose folder is missing or empty keeps its record,
/// until the folder is there again. The writer has committed all its changes.
pub(crate) fn recover(writer: &mut dyn Writer, engine: &dyn Engine) -> Result<Vec<Warning>> {
    let mut intents = writer.intents()?;
    if intents.is_empty() {
        return Ok(Vec::new());
    }
    let WriterMetadata { root, options, has_lost_options, .. } = writer.metadata()?;
    // Without options the folders of collections are unknown.
    let Some(root) = root.filter(|_| !has_lost_options) else { return Ok(Vec::new()) };
    let roots = Roots::of_store(engine.path(), &root, &options.unwrap_or_default());
    // Where the folder of the files is missing, or is a mount point without its volume, nothing is known about them.
    let count = intents.len();
    let has_files = |folder: &Path| folder.read_dir().is_ok_and(|mut all| all.next().is_some());
    intents.retain(|(_, intent)| has_files(&roots.of(&intent.path).0.folder));
    if intents.is_empty() {
        return Ok(Vec::new());
    }
    let reader = engine.reader(Purpose::Read)?;
    let own_files = engine.own_files();
    let mut files = Vec::with_capacity(intents.len());
    for (note, intent) in &intents {
        files.extend(InterruptedFile::inspect(&*reader, &roots, &own_files, *note, intent)?);
    }
    if files.len() < count {
        // The bytes of a file that is to be removed may belong in a file that is out of reach.
        let is_removal = |file: &InterruptedFile<'_>| {
            file.stored.is_none() && matches!(file.step, Step::Restore(_))
        };
        files.retain(|file| !is_removal(file));
    }
    if files.is_empty() {
        return Ok(Vec::new());
    }
    let notes: Vec<i64> = files.iter().map(|file| file.note).collect();
    let warnings = finish(&*reader, files)?;
    drop(reader);
    for note in notes {
        writer.forget_intent(note)?;
    }
    writer.commit()?;
    Ok(warnings)
}

/// What is to be done with a file.
enum Step {
    /// The file has the version that the store has.
    None,
    /// It has the other version, which was seen like this; `None` if there is no file.
    Restore(Option<Seen>),
    /// It has a newer version, because the store lost a commit.
    Keep,
    /// Somebody else changed what is named.
    Leave(&'static str),
}

/// A file of an interrupted edit.
struct InterruptedFile<'a> {
    /// The id of the record.
    note: i64,
    intent: &'a EditIntent,
    /// What the store has at its path.
    stored: Option<StoredDocument>,
    /// The folder of the file; `None` if there is none.
    place: Option<FileHandle<'a>>,
    step: Step,
    /// Whether the file has the version that the edit gives it.
    is_new: bool,
    /// Whether there is no file, and its temporary file has the version that the store has.
    is_staged: bool,
    /// The number of bytes by which the file grows.
    growth: i64,
}

impl<'a> InterruptedFile<'a> {
    /// Returns `None` if the folder of the file is missing, so that nothing is known about the file.
    fn inspect(
        reader: &dyn Reader,
        roots: &Roots,
        own_files: &[PathBuf],
        note: i64,
        intent: &'a EditIntent,
    ) -> Result<Option<Self>> {
        let EditIntent { path, temporary, old_hash, new_hash } = intent;
        let stored = reader.document_at(path)?;
        let wanted = stored.as_ref().map(|stored| stored.hash);
        let file = |stored, place, step| {
            let (is_new, is_staged, growth) = (false, false, 0);
            Some(Self { note, intent, stored, place, step, is_new, is_staged, growth })
        };
        let is_of_edit = [*old_hash, *new_hash].contains(&wanted);
        let is_missing = |file: &Path| {
            file.symlink_metadata().is_err_and(|error| error.kind() == std::io::ErrorKind::NotFound)
        };
        // An edit changes documents only, so a store that names another file was not written by an edit.
        if roots.excluded(own_files, path).is_some() {
            return Ok(file(stored, None, Step::Leave("an ingest does not take the file")));
        }
        // Folders that the edit made go with the handle, if they are empty then.
        let place = match roots.open_made(path, made_folders(temporary)) {
            // A folder that is missing may come back. One that a file replaced does not.
            Err(error)
                if error.kind() == ErrorKind::Conflict
                    && old_hash.is_some()
                    && is_of_edit
                    && is_missing(&roots.file(path)) =>
            {
                return Ok(None);
            }
            Err(error) if error.kind() == ErrorKind::Conflict && wanted.is_some() => {
                roots.make(path)
            }
            opened => opened,
        };
        let Ok(place) = place else {
            let step = match wanted {
                None => Step::None,
                Some(_) => Step::Leave("its folder changed since"),
            };
            return Ok(file(stored, None, step));
        };
        let has_version = |hash: [u8; 32]| place.has_temporary(temporary, &hash);
        let is_staged = place.is_free() && wanted.is_some_and(has_version);
        if !is_staged {
            place.remove_temporary(temporary);
        }
        failpoint!(RECOVERY_SWEPT);
        let found = if place.is_free() { None } else { place.read(roots).ok() };
        let hash = found.as_ref().map(|(bytes, _)| *blake3::hash(bytes).as_bytes());
        let is_unreadable = found.is_none() && !place.is_free();
        let length = |bytes: usize| i64::try_from(bytes).unwrap_or(i64::MAX);
        let before = found.as_ref().map_or(0, |(bytes, _)| length(bytes.len()));
        let after = stored
            .as_ref()
            .map_or(0, |stored| i64::try_from(stored.state.size).unwrap_or(i64::MAX));
        let step = if hash == wanted && !is_unreadable {
            Step::None
        } else if !is_of_edit {
            Step::Leave("the stored document changed since")
        } else if ![*old_hash, *new_hash].contains(&hash) || is_unreadable {
            Step::Leave("the file changed since")
        } else if wanted != if intent.is_taken_back() { *old_hash } else { *new_hash } {
            Step::Keep
        } else {
            Step::Restore(found.map(|(_, seen)| seen))
        };
        let is_new = hash == *new_hash && !is_unreadable;
        let growth = after - before;
        let place = Some(place);
        Ok(Some(Self { note, intent, stored, place, step, is_new, is_staged, growth }))
    }

    fn warning(&self, what: &str) -> Warning {
        Warning::new("EDIT_RECOVERED", format!("{}: {what}", self.intent.path))
    }

    fn made_or_not(&self) -> Warning {
        let what = if self.is_made() { "was made" } else { "was not made" };
        self.warning(&format!("an interrupted edit {what}"))
    }

    /// Whether the store has the version that the edit gives the file.
    fn is_made(&self) -> bool {
        self.stored.as_ref().map(|stored| stored.hash) == self.intent.new_hash
    }

    /// Gives the file the version that the store has. If there is no file, it gets the owner and the mode that its
    /// temporary file has, or else those of `model`.
    fn restore(
        &self,
        reader: &dyn Reader,
        found: Option<&Seen>,
        model: Option<&FileHandle<'_>>,
    ) -> Result<()> {
        let (temporary, Some(place)) = (&self.intent.temporary, &self.place) else { return Ok(()) };
        let Some(stored) = &self.stored else {
            if let Some(seen) = found {
                place.remove(seen)?;
            }
            return place.sync_folder();
        };
        if !self.is_staged {
            let length = usize::try_from(stored.state.size).unwrap_or(usize::MAX);
            let bytes = reader.content(stored, ByteSpan::new(0, length))?;
            place.stage(temporary, &bytes, if found.is_some() { Some(place) } else { model })?;
        }
        match found {
            Some(seen) => place.put_in_place(temporary, seen)?,
            None => place.put_in_new_place(temporary)?,
        }
        place.sync_folder()
    }
}

/// Finishes or undoes the edit of `files`, and says what became of each.
fn finish(reader: &dyn Reader, mut files: Vec<InterruptedFile<'_>>) -> Result<Vec<Warning>> {
    // Bytes that move from one file to another are written before they are removed. Files are removed last.
    files.sort_by_key(|file| (file.stored.is_none(), Reverse(file.growth)));
    let left = files.iter().find_map(|file| match file.step {
        Step::Leave(why) => Some(format!("{}: {why}", file.intent.path)),
        _ => None,
    });
    // As long as no file has its new version, all keep the old one, and the next ingest stores that.
    let is_begun = files.iter().any(|file| file.is_new && file.is_made());
    let is_undone = left.is_some() && !is_begun;
    // A file that should have been created, and is not there, may be where the bytes of a removed one are.
    let lacks_file = files.iter().any(|file| {
        file.intent.old_hash.is_none() && file.is_made() && matches!(file.step, Step::Leave(_))
    });
    // So may those of a file that was removed and is still stored.
    let lacks_copy = files.iter().any(|file| file.intent.old_hash.is_none() && !file.is_new);
    // A document that is moved is created in one place and removed in another.
    let model_of = |file: &InterruptedFile<'_>| {
        let is_other = |other: &&InterruptedFile<'_>| {
            if file.is_made() { other.stored.is_none() } else { other.intent.old_hash.is_none() }
        };
        let mut places = files.iter().filter(is_other).filter_map(|other| other.place.as_ref());
        places.find(|place| place.can_be_edited())
    };
    let mut warnings = Vec::with_capacity(files.len());
    for file in &files {
        let is_kept = file.stored.is_none() && lacks_file;
        warnings.push(match (&file.step, &left) {
            (Step::Leave(why), _) => {
                file.warning(&format!("an interrupted edit was not finished, because {why}"))
            }
            (Step::Restore(_), Some(left)) if file.is_made() && (is_undone || is_kept) => {
                file.warning(&format!("an interrupted edit was not made, because of {left}"))
            }
            (Step::Keep, _) if file.intent.new_hash.is_none() && lacks_copy => {
                file.restore(reader, None, model_of(file))?;
                file.made_or_not()
            }
            (Step::Keep, _) => file.warning(
                "an edit was made, and the store has the version before it; the file stays as it is, \
                 and the next `mdsel ingest` stores it",
            ),
            (Step::Restore(found), _) => {
                file.restore(reader, found.as_ref(), model_of(file))?;
                file.made_or_not()
            }
            (Step::None, _) => file.made_or_not(),
        });
        failpoint!(RECOVERY_STORED);
    }
    for file in files.iter().filter(|file| file.is_staged) {
        file.place.iter().for_each(|place| place.remove_temporary(&file.intent.temporary));
    }
    Ok(warnings)
}
