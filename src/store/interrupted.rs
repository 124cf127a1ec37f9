//! Recovering an edit whose process was killed, or whose files could not all be written.
//!
//! The store decides: one commit gives it the new version of every document that the edit changes. Invariant:
//! after a recovery, each file of the edit has the version that the store has, unless somebody else changed
//! the file or the store, and no temporary file of the edit remains.

use std::path::Path;

use super::{EditIntent, Engine, Purpose, Reader, Writer};
use crate::corpus::Roots;
use crate::error::{ErrorKind, Result, Warning};
use crate::failpoint::failpoint;
use crate::position::ByteSpan;

/// Recovers the interrupted edit of a store, if there is one and the folder of its files is not empty. The writer has
/// committed all its changes.
pub(crate) fn recover(writer: &mut dyn Writer, engine: &dyn Engine) -> Result<Vec<Warning>> {
    let mut warnings = Vec::new();
    let mut intents = writer.intents()?;
    let Some(root) = writer.root()?.filter(|_| !intents.is_empty()) else { return Ok(warnings) };
    let options = writer.options()?.unwrap_or_default();
    let roots = Roots::of_store(engine.path(), &root, &options);
    // Where the folder of the files is missing, or is a mount point without its volume, nothing is known about them.
    let has_files = |folder: &Path| folder.read_dir().is_ok_and(|mut all| all.next().is_some());
    intents.retain(|(_, intent)| has_files(&roots.of(&intent.path).0.folder));
    if intents.is_empty() {
        return Ok(warnings);
    }
    let reader = engine.reader(Purpose::Read)?;
    // Files are created and replaced before others are removed, so that no bytes are lost in between.
    let (removed, kept): (Vec<_>, Vec<_>) =
        intents.iter().partition(|(_, intent)| intent.new_hash.is_none());
    for (_, intent) in kept.into_iter().chain(removed) {
        warnings.extend(restore(&*reader, &roots, intent)?);
        failpoint!(RECOVERY_STORED);
    }
    drop(reader);
    for (note, _) in &intents {
        writer.forget_intent(*note)?;
    }
    writer.commit()?;
    Ok(warnings)
}

/// Gives a file the version that the store has, if it has the other one.
fn restore(reader: &dyn Reader, roots: &Roots, intent: &EditIntent) -> Result<Option<Warning>> {
    let EditIntent { path, temporary, old_hash, new_hash } = intent;
    let stored = reader.document_at(path)?;
    let wanted = stored.as_ref().map(|stored| stored.hash);
    let place = match roots.open(path) {
        Ok(place) => place,
        Err(error) if error.kind() == ErrorKind::Conflict && wanted.is_some() => {
            roots.make(path)?
        }
        Err(_) => return Ok(None),
    };
    place.remove_temporary(temporary);
    failpoint!(RECOVERY_SWEPT);
    let found = if place.is_free() { None } else { place.read(roots).ok() };
    let hash = found.as_ref().map(|(bytes, _)| *blake3::hash(bytes).as_bytes());
    let warning = |what: &str| Some(Warning::new("EDIT_RECOVERED", format!("{path}: {what}")));
    let what = if wanted == *new_hash { "was made" } else { "was not made" };
    let recovered = warning(&format!("an interrupted edit {what}"));
    if hash == wanted {
        return Ok(recovered);
    }
    if ![*old_hash, *new_hash].contains(&wanted) {
        return Ok(warning(
            "an interrupted edit was not finished, because the stored document changed since",
        ));
    }
    if ![*old_hash, *new_hash].contains(&hash) || found.is_none() && !place.is_free() {
        return Ok(warning("an interrupted edit was not finished, because the file changed since"));
    }
    match (stored, found) {
        (None, Some((_, seen))) => place.remove(&seen)?,
        (None, None) => {}
        (Some(stored), found) => {
            let length = usize::try_from(stored.state.size).unwrap_or(usize::MAX);
            let bytes = reader.content(&stored, ByteSpan::new(0, length))?;
            match found {
                Some((_, seen)) => {
                    place.stage(temporary, &bytes, Some(&place))?;
                    place.put_in_place(temporary, &seen)?;
                }
                None => {
                    place.stage(temporary, &bytes, None)?;
                    place.put_in_new_place(temporary)?;
                }
            }
        }
    }
    place.sync_folder()?;
    Ok(recovered)
}
