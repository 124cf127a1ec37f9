//! A damaged store made whole.
//!
//! A store file that has any damage is made anew from its whole documents, parsed again, and never mended
//! in place: where one page is damaged, none that was not looked at is sure. What is left then is derived,
//! and made anew from it. Invariant: nothing is given up before its file was looked for, and what is given
//! up is told.

use std::collections::HashMap;
use std::path::Path;

use super::{Request, check, leftovers, name};
use crate::edit;
use crate::error::{Error, ErrorKind, Result, Warning};
use crate::ingest::{self, OptionChanges, Paths, Progress};
use crate::store::{
    Checked, Fault, FaultKind, LostDocument, Part, Salvage, Snapshot, clear_way, rebuild_index,
    sweep,
};
use crate::trust::{Trust, Wish};

/// Nobody is told how far it is.
struct Silent;

impl Progress for Silent {
    fn start(&self, _: usize) {}

    fn advance(&self) {}
}

/// Repairs what a check of the store at `path` finds; returns what is lost or still damaged, and the
/// generation after it.
pub(super) fn repair(path: &Path, request: &Request<'_>) -> Result<(Checked, u64)> {
    repair_store(path, request).map_err(|error| match error.kind() {
        // The hint of this error is the command that has just failed.
        ErrorKind::StoreCorrupt => {
            let message = format!("the repair failed and changed nothing: {error}");
            Error::new(ErrorKind::StoreCorrupt, message)
                .with_hint("move the store file away, then make a new one with `mdsel ingest`")
        }
        _ => error,
    })
}

fn repair_store(path: &Path, request: &Request<'_>) -> Result<(Checked, u64)> {
    let mut warnings = Vec::new();
    if path.is_file() {
        for kept in clear_way(path)? {
            let message = format!("it was in the way, and is kept as {}", name(&kept).display());
            warnings.push(Warning::new("MOVED_ASIDE", message));
        }
    }
    let found = match check(path, request) {
        Ok((checked, _)) => Some(checked.faults),
        Err(error) if error.kind() == ErrorKind::StoreCorrupt => None,
        Err(error) => return Err(error),
    };
    let is_damaged = |part: Part| {
        let faults = found.iter().flatten();
        faults.map(|fault| fault.kind.part()).any(|damaged| damaged == part)
    };
    let mut lost = Vec::new();
    if found.is_none() || is_damaged(Part::Database) {
        let mut salvage = Salvage::begin(path, request.wait)?;
        let salvaged = std::mem::take(&mut salvage.salvaged);
        warnings.extend(salvaged.warnings);
        // Ahead of the swap: behind it nothing tells any more what was lost.
        lost = from_files(path, &salvage.store(), salvaged.lost, request.trust, &mut warnings)?;
        let kept = salvage.put_in_place()?;
        warnings.insert(0, Warning::new("STORE_REPAIRED", told(salvaged.recovered, &kept)));
    } else if is_damaged(Part::Index) {
        rebuild_index(path, request.wait)?;
        warnings.push(Warning::new("INDEX_REBUILT", "the full-text index has been made anew"));
    }
    if found.is_none() || is_damaged(Part::Leftover) {
        warnings.extend(edit::settle(path, request.trust)?);
        sweep(path, request.wait)?;
        let snapshot = Snapshot::open(path)?;
        let is_trusted = is_trusted(path, &snapshot, request.trust);
        for leftover in leftovers(&snapshot)?.into_iter().filter(|_| is_trusted) {
            edit::remove_temporary(snapshot.root(), &leftover);
            let message = format!("{leftover} has been removed");
            warnings.push(Warning::new("LEFTOVER_REMOVED", message));
        }
    }
    let (mut checked, generation) = check(path, request)?;
    checked.faults.extend(lost);
    checked.warnings.splice(0..0, warnings);
    Ok((checked, generation))
}

fn told(recovered: usize, kept: &Path) -> String {
    let kept = name(kept);
    format!(
        "the store has been made anew with {recovered} documents; the old one is kept as {}",
        kept.display()
    )
}

/// Whether files may be touched as the store, which is or will be at `path`, says.
fn is_trusted(path: &Path, store: &Snapshot, trust: &Trust) -> bool {
    let wish = Wish::of(path, store.root(), store.options());
    trust.check(path, &wish, &Wish::default()).is_ok()
}

/// Brings documents that are lost into the new store at `path`, which will be at `store`, from their
/// files; tells which have none.
fn from_files(
    store: &Path,
    path: &Path,
    lost: Vec<LostDocument>,
    trust: &Trust,
    warnings: &mut Vec<Warning>,
) -> Result<Vec<Fault>> {
    let paths: Vec<String> = lost.iter().filter_map(|document| document.path.clone()).collect();
    let mut skipped = HashMap::new();
    let snapshot = Snapshot::open(path)?;
    let is_trusted = is_trusted(store, &snapshot, trust);
    if !is_trusted {
        let untrusted = |file: &String| (file.clone(), "the store is not trusted".to_owned());
        skipped.extend(paths.iter().map(untrusted));
    }
    let is_root_there = snapshot.root().is_dir();
    drop(snapshot);
    if !paths.is_empty() && is_trusted && is_root_there {
        let request = ingest::Request {
            store: path,
            root: None,
            folder: path,
            paths: Paths::Stored(&paths),
            options: OptionChanges::default(),
            force: false,
            wait: Salvage::PATIENCE,
            trust: &Trust::Everything,
        };
        let report = ingest::run(&request, &Silent)?;
        skipped =
            report.skipped.into_iter().map(|skipped| (skipped.file, skipped.reason)).collect();
    }
    let snapshot = Snapshot::open(path)?;
    let mut faults = Vec::new();
    for document in lost {
        let Some(path) = document.path else {
            let message = "documents may be lost whose paths cannot be read";
            faults.push(Fault { file: None, kind: FaultKind::Lost, message: message.to_owned() });
            continue;
        };
        let Some(stored) = snapshot.document_at(&path)? else {
            let reason = skipped.get(&path).map_or("there is none", String::as_str);
            let message = format!("its bytes are lost, and its file cannot be taken: {reason}");
            faults.push(Fault { file: Some(path), kind: FaultKind::Lost, message });
            continue;
        };
        let (code, what) = if document.hash == Some(stored.hash) {
            ("TAKEN_FROM_FILE", "it was taken from its file, which is the one that was stored")
        } else {
            ("NEW_VERSION", "it was taken from its file, which is not the one that was stored")
        };
        warnings.push(Warning::new(code, format!("{path}: {what}")));
    }
    Ok(faults)
}
