//! Repairs a damaged store.
//!
//! A store file with any damage is rebuilt from its undamaged documents, which are parsed again. It is never
//! repaired in place, because the unchecked pages next to a damaged page cannot be trusted. The full-text
//! index is derived from the documents and is rebuilt, too. Invariant: a document is given up only if its
//! file cannot be ingested, and every lost document is reported.

use std::collections::HashMap;
use std::path::Path;

use super::{Outcome, VerifyRequest, check, leftovers, name};
use crate::count::counted;
use crate::error::{Error, ErrorKind, Result, Warning};
use crate::ingest::{self, ChangeKind, IngestRequest, NoProgress, Paths};
use crate::store::file::{
    FaultKind, INDEX_REBUILT, LostDocument, Recovery, StorePart, StoreProblem, clear_way,
    rebuild_index, sweep,
};
use crate::store::{Lookup, Purpose, Store};
use crate::trust::Trust;

/// Repairs the problems of the store at `path`. Returns what is lost or still damaged.
pub(super) fn repair(path: &Path, request: &VerifyRequest<'_>) -> Result<Outcome> {
    repair_store(path, request).map_err(|error| match error.kind() {
        // The original hint names the command that has just failed.
        ErrorKind::StoreCorrupt => {
            let message = format!("the repair failed and changed nothing: {error}");
            Error::new(ErrorKind::StoreCorrupt, message)
                .with_hint("move the store file away, then create a new store with `mdsel ingest`")
        }
        _ => error,
    })
}

fn repair_store(path: &Path, request: &VerifyRequest<'_>) -> Result<Outcome> {
    let mut warnings = Vec::new();
    if path.is_file() {
        for kept in clear_way(path)? {
            let message =
                format!("a file was in the way, and is kept as {}", name(&kept).display());
            warnings.push(Warning::new("MOVED_ASIDE", message));
        }
    }
    let found = match check(path, request) {
        Ok((checked, ..)) => Some(checked.faults),
        Err(error) if error.kind() == ErrorKind::StoreCorrupt => None,
        Err(error) => return Err(error),
    };
    let is_damaged = |part: StorePart| {
        let faults = found.iter().flatten();
        faults.map(|fault| fault.kind.part()).any(|damaged| damaged == part)
    };
    let mut lost = Vec::new();
    if found.is_none() || is_damaged(StorePart::Database) {
        let mut recovery = Recovery::begin(path, request.wait)?;
        let report = std::mem::take(&mut recovery.report);
        warnings.extend(report.warnings);
        // Before the new store replaces the old one, because afterwards nothing lists the lost documents.
        let new = Store::at(&recovery.store(), Trust::Everything)?;
        lost = from_files(request.store, &new, report.lost, report.is_cut_off, &mut warnings)?;
        let kept = recovery.put_in_place()?;
        warnings.insert(0, Warning::new("STORE_REPAIRED", repaired(report.recovered, &kept)));
    } else if is_damaged(StorePart::Index) {
        let mut failures = rebuild_index(path, request.wait)?;
        failures.retain(|warning| warning.code != INDEX_REBUILT);
        if failures.iter().all(|warning| warning.code != FaultKind::IndexOutOfDate.code()) {
            warnings.push(Warning::new(INDEX_REBUILT, "the full-text index was rebuilt"));
        }
        warnings.extend(failures);
    }
    if found.is_none() || is_damaged(StorePart::Leftover) {
        warnings.extend(request.store.finish_edits()?);
        sweep(path, request.wait)?;
        let reader = request.store.reader(Purpose::Read)?;
        let is_trusted = request.store.is_trusted(&reader.roots());
        let paths = reader.all(&Lookup::All)?.into_iter().map(|document| document.path);
        // The check below reports the folders that cannot be read.
        let (leftovers, _) = leftovers(&reader.roots(), Ok(paths.collect()))?;
        for leftover in leftovers.into_iter().filter(|_| is_trusted) {
            reader.roots().remove_temporary(&leftover);
            let message = format!("{leftover} was removed");
            warnings.push(Warning::new("LEFTOVER_REMOVED", message));
        }
    }
    let (mut checked, generation, refusal) = check(path, request)?;
    checked.faults.extend(lost);
    checked.warnings.splice(0..0, warnings);
    Ok((checked, generation, refusal))
}

fn repaired(recovered: usize, kept: &Path) -> String {
    let kept = name(kept);
    format!(
        "the store was rebuilt with {}; the damaged store is kept as {}",
        counted(recovered, "document"),
        kept.display()
    )
}

/// Ingests the lost documents from their files into the store `new`, which will replace `store`. If the end of
/// the old file `is_cut_off`, ingests all files that have no document. Returns the documents that remain lost.
fn from_files(
    store: &Store,
    new: &Store,
    lost: Vec<LostDocument>,
    is_cut_off: bool,
    warnings: &mut Vec<Warning>,
) -> Result<Vec<StoreProblem>> {
    let mut paths: Vec<String> = lost.iter().filter_map(|document| document.path.clone()).collect();
    let mut skipped = HashMap::new();
    let reader = new.reader(Purpose::Read)?;
    // The content of `store` will be that of `new`.
    let is_trusted = store.is_trusted(&reader.roots());
    if !is_trusted {
        let untrusted = |file: &String| (file.clone(), "the store is not trusted".to_owned());
        skipped.extend(paths.iter().map(untrusted));
    }
    let is_root_there = reader.root().is_dir();
    drop(reader);
    // The file of a document without a path can be any file.
    let is_every_file = is_cut_off || paths.len() < lost.len();
    let mut added = 0;
    if (is_every_file || !lost.is_empty()) && is_trusted && is_root_there {
        let request = |paths| IngestRequest::of_stored(new, paths, Recovery::LOCK_WAIT);
        if is_every_file {
            // A recovered document without a file stays.
            let changes = ingest::preview(&request(Paths::All), &NoProgress)?.changes;
            let new = changes.into_iter().flatten().filter(|it| it.change == ChangeKind::Added);
            paths.extend(new.map(|change| change.file));
        }
        let report = ingest::run(&request(Paths::Stored(&paths)), &NoProgress)?;
        added = report.added;
        skipped =
            report.skipped.into_iter().map(|skipped| (skipped.file, skipped.reason)).collect();
    }
    let reader = new.reader(Purpose::Read)?;
    let stored = if is_every_file { reader.all(&Lookup::All)? } else { Vec::new() };
    let mut faults = Vec::new();
    if is_cut_off {
        let message = format!(
            "the end of the store file is missing; an ingest of the files added {}, and others may be \
             lost",
            counted(added, "document")
        );
        faults.push(StoreProblem { file: None, kind: FaultKind::Lost, message });
    }
    for document in lost {
        let Some(path) = document.path else {
            let same = stored.iter().find(|stored| Some(stored.hash) == document.hash);
            if let Some(stored) = same {
                warnings.push(taken(&stored.path, Some(true)));
            } else {
                let message = "a document is lost; its path cannot be read".to_owned();
                faults.push(StoreProblem { file: None, kind: FaultKind::Lost, message });
            }
            continue;
        };
        let Some(stored) = reader.document_at(&path)? else {
            let reason = skipped.get(&path).map_or("there is no such file", String::as_str);
            let message = format!("its bytes are lost, and its file cannot be ingested: {reason}");
            faults.push(StoreProblem { file: Some(path), kind: FaultKind::Lost, message });
            continue;
        };
        warnings.push(taken(&path, document.hash.map(|hash| hash == stored.hash)));
    }
    Ok(faults)
}

/// Returns the warning that a document was ingested from its file. `is_stored_version` is `None` if the hash
/// of the stored version is lost.
fn taken(path: &str, is_stored_version: Option<bool>) -> Warning {
    let (code, what) = match is_stored_version {
        Some(true) => {
            ("TAKEN_FROM_FILE", "it was ingested from its file, which is the stored version")
        }
        Some(false) => {
            ("NEW_VERSION", "it was ingested from its file, which is not the stored version")
        }
        None => ("TAKEN_FROM_FILE", "it was ingested from its file; the stored version is unknown"),
    };
    Warning::new(code, format!("{path}: {what}"))
}
