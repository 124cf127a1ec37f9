//! Checking the documents of a store that is not a file.
//!
//! The server checks its own files. Invariant: every document is read whole, and compared with its hash, its
//! checksums and the keys that it is found by.

use std::collections::HashSet;
use std::time::Duration;

use crate::count::counted;
use crate::error::{ErrorKind, Result};
use crate::limits;
use crate::parallel::batches;
use crate::position::ByteSpan;
use crate::prepare::Preparation;
use crate::store::file::{Checked, FaultKind, StoreProblem};
use crate::store::{IfAbsent, Lookup, Purpose, Reader, Store, StoredDocument};

/// Checks all documents, and parses them again if `is_reparsed`. Also returns the generation.
pub(super) fn check(store: &Store, is_reparsed: bool, wait: Duration) -> Result<(Checked, u64)> {
    let mut reader = store.reader(Purpose::Read)?;
    if !reader.facts().edited_elsewhere.is_empty() {
        drop(reader);
        // An edit that is not interrupted holds the lock.
        match store.writer(IfAbsent::Fail, wait) {
            Err(error) if error.kind() != ErrorKind::ReadOnly => return Err(error),
            writer => drop(writer),
        }
        reader = store.reader(Purpose::Read)?;
    }
    let mut preparation = Preparation::new()?;
    let mut checked = Checked::default();
    checked.faults.extend(reader.facts().edited_elsewhere.iter().map(|(path, folder)| {
        let message = format!("an edit was started in {folder} and not finished");
        StoreProblem::of(path, FaultKind::EditOpen, message)
    }));
    if reader.facts().has_lost_options {
        let message = "its options differ from what was written";
        checked.faults.push(StoreProblem::new(FaultKind::Meta, message));
    }
    let (missing, unindexed) = reader.index_difference()?;
    if missing > 0 {
        let message = format!("the store lacks {} of its index", counted(missing, "document"));
        checked.faults.push(StoreProblem::new(FaultKind::IndexDiffers, message));
    }
    if unindexed > 0 {
        let message = format!("the index lacks {} of the store", counted(unindexed, "document"));
        checked.faults.push(StoreProblem::new(FaultKind::IndexDiffers, message));
    }
    let documents = reader.all(&Lookup::All)?;
    let size = |document: &StoredDocument| document.state.size;
    for batch in batches(&documents, 256, limits::LARGE_DOCUMENT_BYTES as u64, size) {
        match faults(&*reader, batch, is_reparsed, &mut preparation) {
            Ok(faults) => checked.faults.extend(faults),
            // One by one, to name the document.
            Err(error) if error.kind() == ErrorKind::StoreCorrupt => {
                for document in batch {
                    let one = std::slice::from_ref(document);
                    match faults(&*reader, one, is_reparsed, &mut preparation) {
                        Ok(faults) => checked.faults.extend(faults),
                        Err(error) if error.kind() == ErrorKind::StoreCorrupt => {
                            let message = error.to_string();
                            let fault = StoreProblem::of(&document.path, FaultKind::Bytes, message);
                            checked.faults.push(fault);
                        }
                        Err(error) => return Err(error),
                    }
                }
            }
            Err(error) => return Err(error),
        }
    }
    Ok((checked, reader.generation()))
}

fn faults(
    reader: &dyn Reader,
    documents: &[StoredDocument],
    is_reparsed: bool,
    preparation: &mut Preparation,
) -> Result<Vec<StoreProblem>> {
    let parts: Vec<_> =
        documents.iter().map(|document| (document, ByteSpan::new(0, usize::MAX))).collect();
    let contents = reader.contents(&parts)?;
    let all_rows = reader.derived(documents)?;
    let with_rows: Vec<_> = documents.iter().zip(&all_rows).collect();
    // Another version of the parser may have stored other keys.
    let with_other_keys = if reader.facts().has_current_parser {
        reader.with_other_keys(&with_rows)?
    } else {
        HashSet::new()
    };
    let mut faults = Vec::new();
    for ((document, rows), bytes) in with_rows.into_iter().zip(contents) {
        let StoredDocument { path, hash, state, checksums, .. } = document;
        if !checksums.are_those_of(&rows.checksums(state.size)) {
            let message = "its rows differ from what was written";
            faults.push(StoreProblem::of(path, FaultKind::Rows, message));
            continue;
        }
        if with_other_keys.contains(&document.id) {
            let message = "the keys that it is found by do not match its rows";
            faults.push(StoreProblem::of(path, FaultKind::Rows, message));
        }
        if is_reparsed {
            let message = match preparation.of_bytes(path.clone(), bytes, *hash, *state)? {
                Ok(parsed) => rows
                    .difference(&parsed.rows)
                    .map(|part| format!("parsing it again gives other {part}")),
                Err(reason) => Some(format!("it would not be accepted: {reason}")),
            };
            faults.extend(message.map(|message| StoreProblem::of(path, FaultKind::Parse, message)));
        }
    }
    Ok(faults)
}

#[cfg(test)]
mod tests {
    use crate::corpus::{FileState, IngestOptions};
    use crate::ingest::{IngestRequest, NoProgress, Paths, run};
    use crate::ldmd::Markup;
    use crate::markdown::{Dialect, parse_as};
    use crate::store::Memory;
    use crate::trust::Trust;

    use super::*;

    #[test]
    fn a_stored_document_that_is_no_longer_accepted_is_reported() {
        let store = Store::new(Box::new(Memory::default()), Trust::Everything);
        let bytes = b"# A\n\n\0\n".to_vec();
        let hash = *blake3::hash(&bytes).as_bytes();
        let state = FileState::without_file(bytes.len());
        let (path, document) = ("a.md".to_owned(), parse_as(&bytes, Dialect::Markdown));
        let mut preparation = Preparation::new().unwrap();
        let prepared = preparation.of_parsed(path, bytes, hash, state, document, Markup::default());
        let mut writer = store.writer(IfAbsent::Create, Duration::ZERO).unwrap();
        let folder = tempfile::tempdir().unwrap();
        writer.set_up(folder.path().to_str().unwrap(), &IngestOptions::default()).unwrap();
        writer.put(vec![prepared.unwrap().unwrap()]).unwrap();
        writer.commit_last().unwrap();
        writer.complete().unwrap();
        writer.close().unwrap();
        let (checked, _) = check(&store, true, Duration::ZERO).unwrap();
        let messages: Vec<_> = checked.faults.iter().map(|fault| fault.message.as_str()).collect();
        assert_eq!(messages, ["it would not be accepted: binary (contains NUL bytes)"]);
        let request = IngestRequest::of_stored(&store, Paths::All, Duration::ZERO);
        let report = run(&IngestRequest { force: true, ..request }, &NoProgress).unwrap();
        assert_eq!(report.skipped[0].file, "a.md");
        let reason = "its stored bytes are not accepted: binary (contains NUL bytes)";
        assert_eq!(report.skipped[0].reason, reason);
    }
}
