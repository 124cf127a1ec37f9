//! Recovering edits whose process was killed.
//!
//! Invariant: after a recovery, the store has the version of a document that its file has, old or new, and
//! no temporary file of the edit remains.

use super::Writer;
use crate::corpus::{FileHandle, FileState};
use crate::error::{Result, Warning};
use crate::failpoint::failpoint;
use crate::markdown;
use crate::prepare::Preparation;

/// Recovers the interrupted edits of a store.
pub(crate) fn recover(writer: &mut dyn Writer) -> Result<Vec<Warning>> {
    let mut warnings = Vec::new();
    let intents = writer.intents()?;
    let Some(root) = writer.root()?.filter(|_| !intents.is_empty()) else { return Ok(warnings) };
    let most = writer.options()?.unwrap_or_default().max_file_bytes;
    for (note, intent) in intents {
        let Ok(place) = FileHandle::open(&root, &intent.path) else {
            forget(writer, note)?;
            continue;
        };
        place.remove_temporary(&intent.temporary);
        failpoint!(RECOVERY_SWEPT);
        let bytes = place.read(most).map(|(bytes, _)| bytes).unwrap_or_default();
        let hash = *blake3::hash(&bytes).as_bytes();
        let stored = writer.documents()?.into_iter().find(|stored| stored.path == intent.path);
        // If the store has one of the two versions and the file the other, the file decides.
        let is_outdated = stored.is_some_and(|stored| {
            stored.hash != hash && [stored.hash, hash].contains(&intent.new_hash)
        });
        if is_outdated && markdown::refusal(&bytes).is_none() {
            let state = FileState::unknown(bytes.len());
            let mut preparation = Preparation::new()?;
            // The edit has checked that the version is accepted.
            if let Ok(document) = preparation.of_bytes(intent.path.clone(), bytes, hash, state)? {
                writer.put(vec![document])?;
                writer.commit()?;
            }
            failpoint!(RECOVERY_STORED);
        }
        forget(writer, note)?;
        let what = if hash == intent.new_hash { "was made" } else { "was not made" };
        let message = format!("{}: an interrupted edit {what}", intent.path);
        warnings.push(Warning::new("EDIT_RECOVERED", message));
    }
    Ok(warnings)
}

/// Removes the record of an edit.
pub(crate) fn forget(writer: &mut dyn Writer, note: i64) -> Result<()> {
    writer.forget_intent(note)?;
    writer.commit()
}
