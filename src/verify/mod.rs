//! The store checked, and made whole again.
//!
//! What the store can tell of itself is told by [`Check`]; here it becomes findings, and [`repair`](self)
//! acts on them. Files that differ from what is stored are no damage, and no finding: `status --stale` and
//! `ingest --check` tell of them. Invariant: a check changes nothing; a repair leaves a store that its check
//! finds whole, and names whatever of the old one is not in it.

mod repair;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::edit;
use crate::error::{ErrorKind, Result};
use crate::ingest::{is_really_below, resolved};
use crate::query::Cursor;
use crate::query::finding::{Finding, Findings};
use crate::store::{Check, Checked, Fault, FaultKind, Part, Snapshot};
use crate::trust::Trust;

/// What to check, and how.
#[derive(Debug)]
pub struct Request<'a> {
    /// The store file, absolute.
    pub store: &'a Path,
    /// Let SQLite check the agreement of all of its indices.
    pub is_full: bool,
    /// Parse every document anew, and compare.
    pub is_reparsed: bool,
    /// Mend what is found.
    pub is_repair: bool,
    /// How long to wait for another writer.
    pub wait: Duration,
    /// Who says what the store may decide.
    pub trust: &'a Trust,
    /// Where an answer before this one ended.
    pub after: Option<Cursor>,
}

/// Checks the store, and mends it where that is asked for.
pub fn verify(request: &Request<'_>) -> Result<Findings> {
    let store = resolved(request.store)?;
    let (checked, generation) =
        if request.is_repair { repair::repair(&store, request)? } else { check(&store, request)? };
    let findings = checked.faults.into_iter().map(finding).collect();
    let mut findings = Findings::new(findings, Vec::new(), request.after, generation);
    findings.page.warnings.extend(checked.warnings);
    Ok(findings)
}

/// Checks the store at `path`; tells its generation, too.
fn check(path: &Path, request: &Request<'_>) -> Result<(Checked, u64)> {
    let check = Check::begin(path, request.wait)?;
    let generation = check.snapshot().generation();
    // While no edit can be under way.
    let leftovers = leftovers(check.snapshot())?;
    let mut checked = check.run(request.is_full, request.is_reparsed)?;
    checked.faults.extend(leftovers.iter().map(|path| {
        let message = "the temporary file of an edit that was interrupted";
        Fault {
            file: Some(path.clone()),
            kind: FaultKind::EditLeftover,
            message: message.to_owned(),
        }
    }));
    Ok((checked, generation))
}

/// The temporary files of edits beside the documents, relative to the root.
fn leftovers(snapshot: &Snapshot) -> Result<Vec<String>> {
    let paths = match snapshot.stored_paths() {
        // The check reports what is wrong with them.
        Err(error) if error.kind() == ErrorKind::StoreCorrupt => Vec::new(),
        paths => paths?,
    };
    let folder = |path: &String| path.rsplit_once('/').map(|(folder, _)| folder.to_owned());
    let folders: BTreeSet<Option<String>> = paths.iter().map(folder).collect();
    let mut leftovers = Vec::new();
    for folder in folders {
        let prefix = folder.map_or_else(String::new, |folder| format!("{folder}/"));
        if !is_really_below(snapshot.root(), &format!("{prefix}x")) {
            continue;
        }
        let entries = std::fs::read_dir(snapshot.root().join(&prefix));
        let names = entries.into_iter().flatten().flatten().map(|entry| entry.file_name());
        let names = names.filter_map(|name| name.into_string().ok());
        let temporary = names.filter(|name| edit::is_temporary(name));
        leftovers.extend(temporary.map(|name| format!("{prefix}{name}")));
    }
    leftovers.sort();
    Ok(leftovers)
}

fn finding(fault: Fault) -> Finding {
    let hint = match (fault.kind, fault.kind.part()) {
        (FaultKind::Lost, _) => None,
        (FaultKind::IndexBehind | FaultKind::IndexMissing, _) => {
            Some("mdsel ingest, or any search; or mdsel verify --repair")
        }
        (_, Part::Database | Part::Index | Part::Leftover) => Some("mdsel verify --repair"),
    };
    Finding {
        code: fault.kind.code(),
        message: fault.message,
        file: fault.file,
        line: None,
        hint: hint.map(str::to_owned),
    }
}

/// The name of a file beside the store.
fn name(path: &Path) -> PathBuf {
    path.file_name().map_or_else(|| path.to_owned(), PathBuf::from)
}
