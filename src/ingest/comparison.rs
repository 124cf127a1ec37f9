//! The differences between the files of a corpus and a store, before any file is read.
//!
//! Invariant: a file whose size and times equal those in the store is not read, unless the ingest is forced. A
//! document is removed only if its file was looked for and not found: a folder that could not be read keeps its
//! documents. A document that never had a file, because it was loaded from a pack, is removed only if the user names
//! its path; so are all documents of a folder in whose place there is another one without any files. If the options of
//! the store are damaged, no document is added or removed.

use rustc_hash::{FxBuildHasher, FxHashMap};

use super::IngestReport;
use super::candidates::Candidates;
use super::plan::{IngestPlan, Scopes};
use crate::corpus::{Skipped, WalkResult, is_at_or_below};
use crate::error::{Result, Warning};
use crate::message::message;
use crate::store::StoredDocument;

/// The differences between the files and the store, before any file is read.
pub(super) struct FileComparison<'a> {
    pub(super) candidates: Candidates<'a>,
    pub(super) removed: Vec<&'a StoredDocument>,
    /// The documents that stay although they have no file, because they never had one.
    pub(super) without_file: Vec<&'a StoredDocument>,
    /// Whether all documents stay, because another folder is in the place of theirs and has no files.
    pub(super) is_in_other_folder: bool,
}

impl FileComparison<'_> {
    /// Returns whether there is nothing to do.
    pub(super) fn is_empty(&self) -> bool {
        self.candidates.len() == 0 && self.removed.is_empty()
    }
}

/// The documents of a store that an ingest covers.
pub(super) struct Known<'a> {
    /// Those in each of the scopes of the plan, by their paths.
    in_scopes: Vec<FxHashMap<&'a str, &'a StoredDocument>>,
    /// The number of those in each of the collections whose folders are missing.
    in_missing: Vec<usize>,
}

impl<'a> Known<'a> {
    pub(super) fn new(plan: &IngestPlan, stored: &'a [StoredDocument]) -> Self {
        let in_scope = |scopes: &Scopes| {
            let mut known = FxHashMap::with_capacity_and_hasher(stored.len(), FxBuildHasher);
            let within = stored.iter().filter(|document| scopes.contain(&document.path));
            known.extend(within.map(|document| (document.path.as_str(), document)));
            known
        };
        let in_missing = |name: &String| {
            stored.iter().filter(|document| is_at_or_below(&document.path, name)).count()
        };
        Self {
            in_scopes: plan.scopes.iter().map(in_scope).collect(),
            in_missing: plan.missing.iter().map(in_missing).collect(),
        }
    }
}

/// Compares the files of all scopes with the store.
pub(super) fn compare_all<'a>(
    plan: &IngestPlan,
    walked: Vec<WalkResult>,
    known: Known<'a>,
    is_forced: bool,
    report: &mut IngestReport,
) -> Result<Vec<FileComparison<'a>>> {
    let pairs = walked.into_iter().zip(known.in_scopes);
    let pairs = plan.scopes.iter().zip(pairs);
    let comparisons: Vec<FileComparison<'_>> = pairs
        .map(|(scopes, (walked, known))| compare(plan, scopes, walked, known, is_forced, report))
        .collect();
    let (others, own): (Vec<_>, Vec<_>) =
        plan.scopes.iter().zip(&comparisons).partition(|(_, own)| own.is_in_other_folder);
    let without_file = own.iter().flat_map(|(_, comparison)| &comparison.without_file);
    let without_file: Vec<&StoredDocument> = without_file.copied().collect();
    let mut gone: Vec<&StoredDocument> =
        comparisons.iter().flat_map(|comparison| &comparison.removed).copied().collect();
    if plan.keeps_documents {
        gone.extend(without_file);
    } else {
        report.warnings.extend(warning_of_kept(&without_file));
    }
    for (scopes, comparison) in others {
        report.warnings.push(warning_of_other_folder(plan, scopes, comparison.without_file.len()));
    }
    for (name, documents) in plan.missing.iter().zip(known.in_missing) {
        let reason = "the folder of the collection does not exist; its documents stay".to_owned();
        report.skipped.push(Skipped { file: name.clone(), reason });
        report.unchanged += documents;
        report.missing.push(name.clone());
    }
    let gone: Vec<&str> = gone.iter().map(|document| document.path.as_str()).collect();
    plan.refuse_missing(&gone)?;
    Ok(comparisons)
}

/// Notes in the options of `plan` which folders were ingested as a whole, except those whose documents stay.
pub(super) fn note_folders(plan: &mut IngestPlan, comparisons: &[FileComparison<'_>]) {
    for (scopes, comparison) in plan.scopes.iter().zip(comparisons) {
        if scopes.is_whole() && !comparison.is_in_other_folder {
            let options = match plan.options.collections.get_mut(&scopes.root.name) {
                Some(collection) => &mut collection.options,
                None => &mut plan.options,
            };
            options.inode = scopes.root.inode();
        }
    }
}

/// Returns the warning about documents that stay although they have no file, if there are any.
fn warning_of_kept(documents: &[&StoredDocument]) -> Option<Warning> {
    let first = &documents.first()?.path;
    let what = match documents.len() {
        1 => format!("{first} has no file, and stays"),
        2 => format!("{first} and another document have no files, and stay"),
        count => format!("{first} and {} other documents have no files, and stay", count - 1),
    };
    Some(no_file(&format!("{what} because no ingest has seen any")))
}

/// Returns the warning about the documents that stay although their folder is another one than before, or may be.
fn warning_of_other_folder(plan: &IngestPlan, scopes: &Scopes, documents: usize) -> Warning {
    let stay =
        if documents == 1 { "1 document stays" } else { &format!("{documents} documents stay") };
    let folder = scopes.root.folder.display();
    let other =
        if plan.knows_folders { " and is not the folder that was ingested before" } else { "" };
    no_file(&format!("{folder} has no files to ingest{other}; {stay}"))
}

fn no_file(what: &str) -> Warning {
    Warning::new("NO_FILE", message!("{}; `mdsel ingest PATH` removes those at a path", what))
}

/// Compares the files that were found with the store. Counts unchanged documents in `report`.
fn compare<'a>(
    plan: &IngestPlan,
    scopes: &Scopes,
    walked: WalkResult,
    mut known: FxHashMap<&'a str, &'a StoredDocument>,
    is_forced: bool,
    report: &mut IngestReport,
) -> FileComparison<'a> {
    let is_in_other_folder =
        !walked.has_files && !known.is_empty() && plan.may_be_other_folder(scopes);
    let mut candidates = Vec::new();
    for found in walked.found {
        let stored = known.remove(found.path.as_str());
        if let Some(document) = stored {
            let is_clean = document.state.mtime_ns != 0 && document.state == found.state;
            if is_clean && !is_forced {
                report.unchanged += 1;
                continue;
            }
        }
        if stored.is_some() || !plan.keeps_documents {
            candidates.push((found, stored));
        }
    }
    let is_unreadable = |path: &str| {
        walked.unreadable.iter().any(|unreadable| is_at_or_below(path, &unreadable.file))
    };
    let mut named: Vec<String> = scopes.missing().collect();
    if plan.keeps_documents {
        named.clear();
    }
    let is_named = |path: &str| named.iter().any(|named| is_at_or_below(path, named));
    let (mut removed, mut without_file) = (Vec::new(), Vec::new());
    for document in known.into_values() {
        if is_in_other_folder || !document.state.is_of_file() && !is_named(&document.path) {
            report.unchanged += 1;
            without_file.push(document);
        } else if is_unreadable(&document.path) {
            report.unchanged += 1;
            report.has_kept = true;
        } else {
            removed.push(document);
        }
    }
    for documents in [&mut removed, &mut without_file] {
        documents.sort_by(|one, other| one.path.cmp(&other.path));
    }
    report.skipped.extend(walked.skipped);
    report.skipped.extend_from_slice(&walked.unreadable);
    report.unreadable.extend(walked.unreadable);
    let candidates = Candidates::new(candidates);
    FileComparison { candidates, removed, without_file, is_in_other_folder }
}
