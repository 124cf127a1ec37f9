//! The check of the whole store: SQLite's own check, each document against its rows, and the
//! full-text index against both.
//!
//! A writer commits to SQLite first and to the index afterwards, so an index that is one commit
//! older is not a problem. The check therefore holds the writer's lock while it reads the index and
//! pins the SQLite snapshot. The documents take longest. They are read from that snapshot after the
//! lock is released.
//!
//! Invariants: a check changes nothing, trusts no stored value that it has not verified, and uses
//! bounded memory for any content of the rows.

use std::fs::File;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use super::db::{self, StoredRows};
use super::fault::{FaultKind, StoreProblem, Tally};
use super::index::check::{self as index, Inspection, PlaceTallies, expected, inspect};
use super::index::{Unusable, Usable, folder};
use super::recovery::has_leftovers;
use super::{Snapshot, in_the_way, is_index_of};
use crate::corpus::Roots;
use crate::count::counted;
use crate::error::{Error, ErrorKind, Result, Warning};
use crate::limits;
use crate::parallel::ordered;
use crate::prepare::values::ValueRow;
use crate::prepare::{LookupKeys, Preparation};
use crate::store::parsed_before;

/// A check in progress.
#[derive(Debug)]
pub struct Check {
    snapshot: Snapshot,
    inspection: Usable<Inspection>,
    faults: Vec<StoreProblem>,
    /// The lock of the store. `None` if the file system is read-only, so there are no writers.
    lock: Option<File>,
}

/// The result of a check.
#[derive(Clone, Debug, Default)]
pub struct Checked {
    /// The problems, sorted; those of the store itself come before those of its documents.
    pub faults: Vec<StoreProblem>,
    /// Warnings about parts that were not checked.
    pub warnings: Vec<Warning>,
}

/// The result of checking one document.
#[derive(Default)]
struct CheckedDocument {
    id: i64,
    path: String,
    fault: Option<StoreProblem>,
    lacks_checksums: bool,
    /// The expected entries of the document in the link graph and in the index; `None` if its rows
    /// cannot be decoded.
    tallies: Option<Tallies>,
}

struct Tallies {
    link_keys: Tally,
    name_keys: Tally,
    data_keys: Tally,
    values: Tally,
    places: Tally,
}

/// Returns a problem for each file that is in the way of a file of the store at `path`.
pub fn files_in_the_way(path: &Path) -> Vec<StoreProblem> {
    let problem = |way: &PathBuf| {
        let message = format!("{} is not a file of the store", db::file_name(way));
        StoreProblem::new(FaultKind::InTheWay, message)
    };
    in_the_way(path).iter().map(problem).collect()
}

impl Check {
    /// Starts a check of the store at `path`. Waits up to `wait` for a writer, and blocks other
    /// writers until [`Self::run`] is called.
    pub fn begin(path: &Path, wait: Duration) -> Result<Self> {
        // Fails before a lock file is created next to a file that is not a store.
        drop(Snapshot::open_within(path, None, wait)?);
        let lock = match db::lock(path, wait) {
            Ok(lock) => Some(lock),
            Err(error) if error.kind() == ErrorKind::ReadOnly => None,
            Err(error) => return Err(error),
        };
        let snapshot = Snapshot::open_within(path, lock.as_ref(), wait)?;
        let folder = folder(snapshot.path());
        let inspection = inspect(&folder);
        let mut faults = Vec::new();
        if index::has_leftovers(&folder) {
            let message = "temporary files of an interrupted writer take space";
            faults.push(StoreProblem::new(FaultKind::IndexLeftovers, message));
        }
        if has_leftovers(snapshot.path()) {
            let message = "files of an interrupted repair take space";
            faults.push(StoreProblem::new(FaultKind::RepairLeftovers, message));
        }
        faults.extend(files_in_the_way(snapshot.path()));
        let open = or_fault(snapshot.intent_paths(), &mut faults)?;
        faults.extend(open.iter().map(|path| {
            StoreProblem::of(path, FaultKind::EditOpen, "an edit was started and not finished")
        }));
        Ok(Self { snapshot, inspection, faults, lock })
    }

    /// Returns the generation that is checked.
    pub fn generation(&self) -> u64 {
        self.snapshot.generation()
    }

    /// Returns the folders of the documents.
    pub fn roots(&self) -> Roots {
        self.snapshot.roots()
    }

    /// Returns the paths of all documents, even of damaged ones.
    pub fn paths(&self) -> Result<Vec<String>> {
        self.snapshot.stored_paths()
    }

    /// Runs the check. If `is_full` is set, SQLite also compares all indices with their tables. If
    /// `is_reparsed` is set, every document is parsed again and the result is compared with the
    /// stored rows.
    pub fn run(self, is_full: bool, is_reparsed: bool) -> Result<Checked> {
        let Self { snapshot, inspection, mut faults, lock } = self;
        drop(lock);
        for found in
            [snapshot.database_faults(is_full), snapshot.meta_faults(), snapshot.orphan_faults()]
        {
            let found = or_fault(found, &mut faults)?;
            faults.extend(found);
        }
        let mut warnings = Vec::new();
        let can_parse = snapshot.has_current_parser();
        if !can_parse {
            warnings.push(parsed_before());
        }
        let mut keys = or_fault(snapshot.key_tallies(), &mut faults)?;
        let mut index = IndexComparison::new(&inspection, &snapshot, &mut faults)?;
        let ids = or_fault(snapshot.ids(), &mut faults)?;
        let documents = Documents {
            snapshot: &snapshot,
            is_reparsed: is_reparsed && can_parse,
            large: Mutex::new(()),
        };
        let mut unchecked = 0_usize;
        ordered(
            &ids,
            || Preparation::new().ok(),
            |preparation, id| documents.check(*id, preparation.as_mut()),
            |_, checked: Result<CheckedDocument>| -> Result<()> {
                let CheckedDocument { id, path, fault, lacks_checksums, tallies } = checked?;
                unchecked += usize::from(lacks_checksums);
                let [in_links, in_names, in_data, in_values] =
                    keys.each_mut().map(|keys| keys.remove(&id).unwrap_or_default());
                let Some(tallies) = tallies else {
                    index.skip(id);
                    faults.extend(fault);
                    return Ok(());
                };
                // An older version may have stored others, or none.
                let is_in_graph =
                    !can_parse || [in_links, in_names] == [tallies.link_keys, tallies.name_keys];
                let is_in_data =
                    !can_parse || [in_data, in_values] == [tallies.data_keys, tallies.values];
                faults.extend(fault.or_else(|| {
                    let message = "its keys in the link graph do not match its links and names";
                    (!is_in_graph).then(|| StoreProblem::of(&path, FaultKind::Rows, message))
                }));
                if !is_in_data {
                    let message =
                        "the keys of its code, tables, tasks or front matter do not match";
                    faults.push(StoreProblem::of(&path, FaultKind::Rows, message));
                }
                faults.extend(index.compare(id, &path, tallies.places));
                Ok(())
            },
        )?;
        if unchecked > 0 && can_parse {
            let documents = counted(unchecked, "document");
            let message = format!("the store has {documents} without checksums");
            faults.push(StoreProblem::new(FaultKind::Meta, message));
        }
        if keys.iter().any(|keys| !keys.is_empty()) {
            let message = "a key of the link graph, of data or of front matter has no document";
            faults.push(StoreProblem::new(FaultKind::Orphan, message));
        }
        faults.extend(index.unmatched());
        faults.sort();
        faults.dedup();
        Ok(Checked { faults, warnings })
    }
}

/// Replaces a [`ErrorKind::StoreCorrupt`] error by a problem in `faults` and the default value.
/// Returns all other errors.
fn or_fault<T: Default>(result: Result<T>, faults: &mut Vec<StoreProblem>) -> Result<T> {
    match result {
        Err(error) if error.kind() == ErrorKind::StoreCorrupt => {
            faults.push(StoreProblem::new(FaultKind::Database, error.to_string()));
            Ok(T::default())
        }
        other => other,
    }
}

/// The comparison of the index with the store.
struct IndexComparison<'a> {
    /// The sections in the index; `None` if the index is missing, damaged or out of date.
    places: Option<&'a PlaceTallies>,
    seen: usize,
}

impl<'a> IndexComparison<'a> {
    fn new(
        inspection: &'a Usable<Inspection>,
        snapshot: &Snapshot,
        faults: &mut Vec<StoreProblem>,
    ) -> Result<Self> {
        let highest = or_fault(snapshot.ids(), faults)?.last().copied().unwrap_or(0);
        let (kind, message) = match inspection {
            Ok(Inspection { metadata, places }) => {
                if !is_index_of(metadata, snapshot) {
                    (FaultKind::IndexForeign, Unusable::Foreign.to_string())
                } else if metadata.generation < snapshot.generation() {
                    let message = "the full-text index was built from an older state of the store";
                    (FaultKind::IndexOutOfDate, message.to_owned())
                } else if metadata.last_indexed_id != highest {
                    let message = "its metadata names another last document";
                    (FaultKind::IndexDamaged, message.to_owned())
                } else {
                    return Ok(Self { places: Some(places), seen: 0 });
                }
            }
            Err(reason) => {
                let kind = match reason {
                    Unusable::Missing => FaultKind::IndexMissing,
                    Unusable::Foreign => FaultKind::IndexForeign,
                    Unusable::Unreadable(_) | Unusable::Unwritable(_) | Unusable::Damaged(_) => {
                        FaultKind::IndexDamaged
                    }
                };
                (kind, reason.to_string())
            }
        };
        faults.push(StoreProblem::new(kind, message));
        Ok(Self { places: None, seen: 0 })
    }

    /// Compares the sections that the index contains for a document with the expected ones.
    fn compare(&mut self, id: i64, path: &str, expected: Tally) -> Option<StoreProblem> {
        let found = self.places?.get(&id).copied();
        self.seen += usize::from(found.is_some());
        let message = match found {
            Some(found) if found == expected => return None,
            Some(_) => "its sections in the full-text index differ",
            None => "it is missing from the full-text index",
        };
        Some(StoreProblem::of(path, FaultKind::IndexDiffers, message))
    }

    /// Skips a document whose rows cannot be decoded.
    fn skip(&mut self, id: i64) {
        let is_indexed = self.places.is_some_and(|places| places.contains_key(&id));
        self.seen += usize::from(is_indexed);
    }

    /// Reports sections in the index whose document does not exist.
    fn unmatched(&self) -> Option<StoreProblem> {
        let found = self.places?.len();
        (found > self.seen).then(|| {
            let message = "the full-text index contains sections of documents that do not exist";
            StoreProblem::new(FaultKind::IndexDiffers, message)
        })
    }
}

/// The documents that are checked.
struct Documents<'a> {
    snapshot: &'a Snapshot,
    is_reparsed: bool,
    /// Locked while a document of more than [`limits::CHECK_BYTES`] is checked, so only one at a
    /// time is in memory.
    large: Mutex<()>,
}

impl Documents<'_> {
    fn check(&self, id: i64, preparation: Option<&mut Preparation>) -> Result<CheckedDocument> {
        let stored = match self.snapshot.unchecked(id) {
            Ok(Some(stored)) => stored,
            Ok(None) => return Ok(unreadable(id, "it is listed, but its row is missing")),
            Err(error) => return damaged(id, error),
        };
        let is_large = stored.state.size > limits::CHECK_BYTES as u64;
        let alone = is_large.then(|| self.large.lock().unwrap_or_else(PoisonError::into_inner));
        let checked = match self.snapshot.rows(id) {
            Ok(Some(rows)) => Ok(self.check_rows(id, &rows, preparation)),
            Ok(None) => Ok(unreadable(id, "it is listed, but its row is missing")),
            Err(error) => damaged(id, error).map(|checked| {
                let fault =
                    checked.fault.map(|fault| StoreProblem { file: Some(stored.path), ..fault });
                CheckedDocument { fault, ..checked }
            }),
        };
        drop(alone);
        checked
    }

    fn check_rows(
        &self,
        id: i64,
        rows: &StoredRows,
        preparation: Option<&mut Preparation>,
    ) -> CheckedDocument {
        let path = rows.document.path.clone();
        let lacks_checksums = !rows.has_checksums();
        let faulty = |kind, message: String| CheckedDocument {
            fault: Some(StoreProblem::of(&path, kind, message)),
            lacks_checksums,
            id,
            ..Default::default()
        };
        let bytes = match rows.bytes() {
            Ok(bytes) => bytes,
            Err(message) => return faulty(FaultKind::Bytes, message.to_owned()),
        };
        let decoded = match rows.decode(&bytes) {
            Ok(decoded) => decoded,
            Err(message) => return faulty(FaultKind::Rows, message),
        };
        let sum = |keys: Vec<i64>| Tally::of(keys.into_iter().map(i64::cast_unsigned));
        let keys = LookupKeys::of(&path, &decoded.links, &decoded.contents);
        let tallies = Tallies {
            link_keys: sum(keys.links),
            name_keys: sum(keys.names),
            data_keys: sum(keys.data),
            values: Tally::of(decoded.values.iter().map(ValueRow::own_hash)),
            places: expected(id, &decoded.outline),
        };
        drop(decoded);
        let preparation = preparation.filter(|_| self.is_reparsed);
        let difference = preparation.and_then(|preparation| reparsed(rows, bytes, preparation));
        let fault = difference.map(|message| StoreProblem::of(&path, FaultKind::Parse, message));
        CheckedDocument { id, fault, lacks_checksums, tallies: Some(tallies), path }
    }
}

/// Parses the bytes again and returns a description of the first difference from the stored rows.
fn reparsed(rows: &StoredRows, bytes: Vec<u8>, preparation: &mut Preparation) -> Option<String> {
    let stored = &rows.document;
    // A panic of the parser is reported as a problem of this document, and the check continues.
    let parsed = catch_unwind(AssertUnwindSafe(|| {
        preparation.of_bytes(stored.path.clone(), bytes, stored.hash, stored.state)
    }));
    match parsed.unwrap_or(Ok(Err("it cannot be parsed"))) {
        Ok(Ok(fresh)) => {
            let part = rows.derived.difference(&fresh.rows)?;
            Some(format!("parsing it again changes its {part}"))
        }
        Ok(Err(reason)) => Some(format!("it would not be accepted: {reason}")),
        Err(error) => Some(format!("it cannot be parsed: {error}")),
    }
}

/// Returns the result for a document whose row cannot be read, so its path is unknown.
fn unreadable(id: i64, message: &str) -> CheckedDocument {
    let message = format!("document {id}: {message}");
    let fault = Some(StoreProblem::new(FaultKind::Database, message));
    CheckedDocument { id, fault, ..Default::default() }
}

/// Converts an error that damage can cause into a problem of the document. Returns all other
/// errors.
fn damaged(id: i64, error: Error) -> Result<CheckedDocument> {
    match error.kind() {
        ErrorKind::StoreCorrupt | ErrorKind::Limit => Ok(unreadable(id, &error.to_string())),
        _ => Err(error),
    }
}
