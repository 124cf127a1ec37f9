//! Checks the store, and repairs it (see `mdsel help store`).
//!
//! [`Check`] finds the problems inside the store; this module turns them into an answer, and the module
//! `repair` repairs them. A file that differs from its stored document is not a problem of the store:
//! `status --stale` and `ingest --check` list such files. Invariant: a check changes nothing. After a repair
//! a check finds no damage, and the answer lists every document of the old store that is lost.

mod documents;
mod repair;

use std::collections::BTreeSet;
use std::io::ErrorKind::{NotADirectory, NotFound};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::corpus::{Roots, is_temporary};
use crate::error::{Error, ErrorKind, Result, Warning};
use crate::message::Message;
use crate::query::Cursor;
use crate::query::finding::{Finding, Findings};
use crate::store::Store;
use crate::store::file::{Check, Checked, FaultKind, StorePart, StoreProblem, files_in_the_way};

/// A request to check or repair a store.
#[derive(Debug)]
pub struct VerifyRequest<'a> {
    /// The store. Only a file can be repaired.
    pub store: &'a Store,
    /// Whether SQLite compares all of its indices with their tables.
    pub is_full: bool,
    /// Whether to parse every document again and compare the result with the stored one.
    pub is_reparsed: bool,
    /// What to do about problems.
    pub action: Action,
    /// The longest time to wait for another writer.
    pub wait: Duration,
    /// The position at which the previous page of the answer ended.
    pub after: Option<Cursor>,
}

/// What to do about the problems of a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// List them.
    List,
    /// Repair them.
    Repair,
    /// Drop interrupted edits that cannot be finished here, and list the others.
    DropEdits,
}

/// Checks the store, and repairs it if requested.
pub fn verify(request: &VerifyRequest<'_>) -> Result<Findings> {
    let dropped =
        if request.action == Action::DropEdits { drop_edits(request)? } else { Vec::new() };
    let is_repair = request.action == Action::Repair;
    let (checked, generation, refusal) = match request.store.path() {
        Some(path) if is_repair => repair::repair(path, request)?,
        Some(path) => check(path, request)?,
        None if is_repair => {
            return Err(Error::new(ErrorKind::Usage, "only a store file can be repaired")
                .with_hint("run `mdsel ingest --force`, which parses and stores all files again"));
        }
        None => {
            let (checked, generation) =
                documents::check(request.store, request.is_reparsed, request.wait)?;
            (checked, generation, None)
        }
    };
    let is_file = request.store.path().is_some();
    // An edit of a store that is not trusted waits for the user, not for a command.
    let findings = checked.faults.into_iter();
    let findings = findings.map(|fault| finding(fault, is_file, refusal.as_ref())).collect();
    let mut findings = Findings::new(findings, Vec::new(), request.after, generation);
    findings.page.warnings.extend(dropped.into_iter().chain(checked.warnings));
    Ok(findings)
}

/// Drops the interrupted edits whose files are not here, after finishing the others. Returns the warnings about them.
fn drop_edits(request: &VerifyRequest<'_>) -> Result<Vec<Warning>> {
    let (mut writer, mut warnings) = request.store.trusted_writer(request.wait)?;
    warnings.extend(writer.drop_intents()?.into_iter().map(|path| {
        let message = format!("{path}: an interrupted edit was dropped; the stored version stays");
        Warning::new("EDIT_DROPPED", message)
    }));
    warnings.extend(writer.close()?);
    Ok(warnings)
}

/// The result of a check, the generation of the store, and the error if the user has not accepted what the store asks
/// for.
type Outcome = (Checked, u64, Option<Error>);

/// Checks the store at `path`.
fn check(path: &Path, request: &VerifyRequest<'_>) -> Result<Outcome> {
    let check = match Check::begin(path, request.wait) {
        Err(error) if error.kind() == ErrorKind::Io => {
            // What is in the way may be why the store cannot be opened.
            let faults = files_in_the_way(path);
            if faults.is_empty() {
                return Err(error);
            }
            return Ok((Checked { faults, warnings: Vec::new() }, 0, None));
        }
        check => check?,
    };
    let generation = check.generation();
    let refusal = request.store.check_trust(&check.roots()).err();
    // The check holds the lock, so no edit is running.
    let (leftovers, unread) = leftovers(&check.roots(), check.paths())?;
    let mut checked = check.run(request.is_full, request.is_reparsed)?;
    checked.warnings.extend(unread);
    checked.faults.extend(leftovers.iter().map(|path| {
        let message = "this is the temporary file of an interrupted edit";
        StoreProblem {
            file: Some(path.clone()),
            kind: FaultKind::EditLeftover,
            message: message.to_owned(),
        }
    }));
    Ok((checked, generation, refusal))
}

/// The temporary files of edits in the folders of the documents, relative to the root, and a warning for each folder
/// that cannot be read. A folder that does not exist has none.
fn leftovers(roots: &Roots, paths: Result<Vec<String>>) -> Result<(Vec<String>, Vec<Warning>)> {
    let paths = match paths {
        // The check itself reports the damage.
        Err(error) if error.kind() == ErrorKind::StoreCorrupt => Vec::new(),
        paths => paths?,
    };
    let folder = |path: &String| path.rsplit_once('/').map(|(folder, _)| folder.to_owned());
    let folders: BTreeSet<Option<String>> = paths.iter().map(folder).collect();
    let (mut leftovers, mut unread) = (Vec::new(), Vec::new());
    for folder in folders {
        let prefix = folder.map_or_else(String::new, |folder| format!("{folder}/"));
        let within = format!("{prefix}x");
        if !roots.is_really_below(&within) {
            continue;
        }
        let file = roots.file(&within);
        let Some(folder) = file.parent() else { continue };
        let names = std::fs::read_dir(folder).and_then(|entries| {
            entries.map(|entry| Ok(entry?.file_name())).collect::<std::io::Result<Vec<_>>>()
        });
        match names {
            Ok(names) => {
                let names = names.into_iter().filter_map(|name| name.into_string().ok());
                let temporary = names.filter(|name| is_temporary(name));
                leftovers.extend(temporary.map(|name| format!("{prefix}{name}")));
            }
            Err(error) if matches!(error.kind(), NotFound | NotADirectory) => {}
            Err(error) => {
                let shown = prefix.strip_suffix('/').unwrap_or(".");
                let message = format!("{shown}: {error}; its temporary files were not looked for");
                unread.push(Warning::new("FOLDER_UNREADABLE", message));
            }
        }
    }
    leftovers.sort();
    Ok((leftovers, unread))
}

fn finding(fault: StoreProblem, is_file: bool, refusal: Option<&Error>) -> Finding {
    if let (FaultKind::EditOpen | FaultKind::EditLeftover, Some(refusal)) = (fault.kind, refusal) {
        return Finding {
            code: fault.kind.code(),
            message: format!("{}: {refusal}", fault.message).into(),
            file: fault.file,
            line: None,
            hint: refusal.hints().first().cloned(),
        };
    }
    let hint = match (fault.kind, fault.kind.part()) {
        (FaultKind::Lost, _) => None,
        (FaultKind::EditOpen, _) if is_file => Some(
            "run any command where the folder is; if it is gone for good, `mdsel verify --drop-edits`",
        ),
        (FaultKind::EditOpen, _) => Some(
            "run any command where that folder is, with --root if it is not that of the store; \
             if it is gone for good, `mdsel verify --drop-edits`",
        ),
        (FaultKind::Meta, _) if !is_file => {
            Some("`mdsel ingest --ext md`, with all options of the store")
        }
        (FaultKind::IndexDiffers, _) if !is_file => {
            Some("`mdsel ingest --force`, or `mdsel copy` to a new schema")
        }
        (FaultKind::Bytes, _) if !is_file => Some(
            "`mdsel ingest --force`; if it has no file, `mdsel ingest PATH`, which removes it, then \
             `mdsel load` or `mdsel copy`",
        ),
        _ if !is_file => Some("mdsel ingest --force"),
        (FaultKind::IndexOutOfDate | FaultKind::IndexMissing, _) => {
            Some("`mdsel ingest`, any search, or `mdsel verify --repair`")
        }
        (_, StorePart::Database | StorePart::Index | StorePart::Leftover) => {
            Some("mdsel verify --repair")
        }
    };
    Finding {
        code: fault.kind.code(),
        message: fault.message.into(),
        file: fault.file,
        line: None,
        hint: hint.map(Message::from),
    }
}

/// The file name of `path`, without its folder.
fn name(path: &Path) -> PathBuf {
    path.file_name().map_or_else(|| path.to_owned(), PathBuf::from)
}
