//! Ingest: updates the store to match the files of a folder.
//!
//! First the size and times of every file are compared with the store. Then the files that may have changed
//! are read and hashed, those that did change are parsed on all cores, and one writer stores them in
//! batches. Invariant: after an ingest of the whole root that could read every file, the store equals a
//! new store of the same files, except that documents that never had a file stay. If a run is killed, the
//! store has only complete documents, and the next run continues from there.

mod candidates;
mod comparison;
mod copy;
mod load;
mod options;
mod pipeline;
mod plan;
mod report;
mod sink;
#[cfg(feature = "watch")]
mod watch;

pub use copy::copy;
pub use load::{LoadRequest, Strategy, load};
pub use options::OptionChanges;
pub use report::{Change, ChangeKind, IngestReport};
#[cfg(feature = "watch")]
pub use watch::Watch;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::corpus::{FileState, Root, Skipped, Walk, WalkResult, is_at_or_below, root_from_store};
use crate::error::{Error, ErrorKind, Result, Warning};
use crate::limits;
use crate::parallel;
use crate::position::ByteSpan;
use crate::prepare::Preparation;
use crate::store::{
    Lookup, OPTIONS_LOST, Shard, Store, StoredDocument, Writer, WriterMetadata, check_options,
    options_lost,
};
use crate::trust::Wish;
use comparison::{ChangedFile, FileComparison, Known, compare_all, note_folders};
use pipeline::PreparedFile;
use plan::{IngestPlan, Scopes};
use sink::{Batches, Nowhere, Sink};

/// A request to ingest files.
#[derive(Debug)]
pub struct IngestRequest<'a> {
    /// The store.
    pub store: &'a Store,
    /// The root, absolute, if the user gave one.
    pub root: Option<&'a Path>,
    /// The folder to ingest, absolute, if a new store is given neither root nor paths.
    pub folder: &'a Path,
    /// The collection to ingest, if only one is. Its folder is the only path, or the stored one.
    pub collection: Option<&'a str>,
    /// The part of the corpus to ingest.
    pub paths: Paths<'a>,
    /// The options that the user gave, which replace stored ones.
    pub options: OptionChanges,
    /// Whether to parse unchanged files, too.
    pub force: bool,
    /// The part of an ingest by several workers; `None` for an ingest by one.
    pub shard: Option<&'a Shard>,
    /// The longest time to wait for another writer.
    pub wait: Duration,
}

/// The part of the corpus that an ingest covers.
#[derive(Clone, Copy, Debug)]
pub enum Paths<'a> {
    /// The whole root.
    All,
    /// These files and folders, absolute.
    Given(&'a [PathBuf]),
    /// These documents of the store, relative to the root, even if their files no longer exist.
    Stored(&'a [String]),
}

/// Ingests `paths` of the store at `store` with its stored options.
pub fn refresh(store: &Store, paths: Paths<'_>) -> Result<IngestReport> {
    let request = IngestRequest::of_stored(store, paths, limits::LOCK_WAIT);
    run_again(&request).map_err(|error| match error.kind() {
        ErrorKind::Locked => {
            let hint = "wait until the other process has finished, then repeat the command";
            error.map_hints(|_| hint.to_owned())
        }
        _ => error,
    })
}

/// Ingests like [`run`], and creates no store.
///
/// # Errors
///
/// `STORE_NOT_FOUND` if the store does not exist, or no longer does.
pub fn run_again(request: &IngestRequest<'_>) -> Result<IngestReport> {
    if request.store.peek()?.is_none() {
        return Err(no_store());
    }
    run(request, &NoProgress)
}

impl<'a> IngestRequest<'a> {
    /// Returns a request for `paths` of a store, with its root and its options.
    pub fn of_stored(store: &'a Store, paths: Paths<'a>, wait: Duration) -> Self {
        Self {
            store,
            root: None,
            folder: Path::new(""),
            collection: None,
            paths,
            options: OptionChanges::default(),
            force: false,
            shard: None,
            wait,
        }
    }

    /// Returns what the folders that are ingested ask for, with what the user accepted for the others; `None` if the
    /// store is not a file. Fails unless this request gives it or the user trusts the store. For a store without a
    /// root, `root` counts as given.
    fn checked_wish(&self, is_new: bool, plan: &IngestPlan) -> Result<Option<Wish>> {
        let Some(path) = self.store.path() else { return Ok(None) };
        let names: Vec<&str> = plan.scopes.iter().map(|scopes| scopes.root.name.as_str()).collect();
        let wish = Wish::of(path, &plan.roots).of_roots(&names);
        let given = |wish: &Wish, is_root_given: bool| Wish {
            root: wish.root.clone().filter(|_| is_root_given),
            extensions: self.options.extensions.clone(),
            hidden: self.options.hidden.is_some(),
            no_ignore: self.options.no_ignore.is_some(),
            site_roots: wish.site_roots.clone().filter(|_| self.options.site_roots.is_some()),
            collections: BTreeMap::new(),
        };
        let given = match self.collection {
            None => given(&wish, self.root.is_some() || is_new),
            Some(name) => {
                let of_collection = wish.collections.get(name).cloned().unwrap_or_default();
                let given = given(&of_collection, plan.given_collection.is_some());
                Wish { collections: [(name.to_owned(), given)].into(), ..Wish::default() }
            }
        };
        self.store.trust().check(path, &wish, &given)?;
        let others = plan.roots.iter().map(|root| root.name.as_str());
        let others: Vec<&str> = others.filter(|name| !names.contains(name)).collect();
        let recorded = self.store.trust().recorded(path).of_roots(&others);
        Ok(Some(recorded.with(wish, names.contains(&""))))
    }

    /// Records that the user accepts `wish`. Returns a warning if that fails.
    fn record(&self, wish: Option<&Wish>) -> Option<Warning> {
        self.store.trust().record(self.store.path()?, wish?)
    }

    /// Whether this request gives options of the store.
    fn gives_options(&self) -> bool {
        self.collection.is_some() || self.options != OptionChanges::default()
    }

    /// Whether this request decides what the store may do: the store is new, or the request gives a root or
    /// options.
    fn gives_trust(&self, is_new: bool) -> bool {
        let options = &self.options;
        is_new
            || self.collection.is_some()
            || self.root.is_some()
            || options.extensions.is_some()
            || options.hidden.is_some()
            || options.no_ignore.is_some()
            || options.site_roots.is_some()
    }
}

/// Receives the progress of an ingest.
pub trait Progress {
    /// Called once with the number of files that will be read.
    fn start(&self, files: usize);
    /// Called after each of these files is processed.
    fn advance(&self);
}

/// Reports no progress.
#[derive(Clone, Copy, Debug)]
pub struct NoProgress;

impl Progress for NoProgress {
    fn start(&self, _: usize) {}

    fn advance(&self) {}
}

/// The number of files that are unpacked and processed together.
const FILES_AT_ONCE: usize = 8192;

/// A running ingest.
struct Run<'a> {
    is_forced: bool,
    progress: &'a dyn Progress,
    report: IngestReport,
}

impl Run<'_> {
    /// Reads the candidates in `root` and sends every change to `sink`.
    fn apply(
        &mut self,
        root: &Root,
        comparison: FileComparison<'_>,
        sink: &mut dyn Sink,
    ) -> Result<()> {
        for document in &comparison.removed {
            sink.remove(document)?;
            self.report.count(&document.path, ChangeKind::Removed);
        }
        let mut candidates = comparison.candidates.into_iter();
        loop {
            let part: Vec<_> = candidates.by_ref().take(FILES_AT_ONCE).collect();
            if part.is_empty() {
                return Ok(());
            }
            pipeline::run(root, &part, self.is_forced, |candidate, outcome| {
                self.progress.advance();
                self.take(candidate, outcome, sink)
            })?;
        }
    }

    /// Parses documents again from the bytes in the store.
    fn parse_stored(
        &mut self,
        store: &Store,
        documents: &[&StoredDocument],
        sink: &mut dyn Sink,
    ) -> Result<()> {
        let reader = if documents.is_empty() { None } else { store.peek()? };
        let Some(reader) = reader else { return Ok(()) };
        let mut preparation = Preparation::new()?;
        for document in documents {
            let StoredDocument { path, hash, state, .. } = document;
            let whole = ByteSpan::new(0, usize::try_from(state.size).unwrap_or(usize::MAX));
            let bytes = match reader.content(document, whole) {
                // A read of the document reports the damage.
                Err(error) if error.kind() == ErrorKind::StoreCorrupt => {
                    self.report.has_kept = true;
                    continue;
                }
                read => read?,
            };
            match preparation.of_bytes(path.clone(), bytes, *hash, *state)? {
                Ok(document) => sink.put(document, state.size)?,
                Err(_) => self.report.has_kept = true,
            }
        }
        Ok(())
    }

    /// Reports the outcome of a candidate, and sends its change, if any, to `sink`.
    fn take(
        &mut self,
        candidate: &ChangedFile<'_>,
        outcome: PreparedFile,
        sink: &mut dyn Sink,
    ) -> Result<()> {
        let ChangedFile { path, stored, .. } = candidate;
        let (reason, is_kept) = match outcome {
            PreparedFile::Put(document) => {
                self.report.warn(path, &document.diagnostics);
                let hash = document.hash();
                sink.put(*document, candidate.state.size)?;
                match stored {
                    // The document was parsed again, and its bytes did not change.
                    Some(stored) if stored.hash == hash => self.report.unchanged += 1,
                    Some(_) => self.report.count(path, ChangeKind::Changed),
                    None => self.report.count(path, ChangeKind::Added),
                }
                return Ok(());
            }
            PreparedFile::Same(state) => {
                self.report.unchanged += 1;
                return match stored.filter(|stored| stored.state != state) {
                    Some(stored) => sink.note_state(stored, state),
                    None => Ok(()),
                };
            }
            PreparedFile::Gone => (None, false),
            PreparedFile::Refused(reason) => (Some(reason.to_owned()), false),
            // A document whose file cannot be read now stays in the store.
            PreparedFile::Unreadable(reason) => (Some(reason), true),
        };
        if let Some(reason) = reason {
            let skipped = Skipped { file: path.clone(), reason };
            self.report.unreadable.extend(is_kept.then(|| skipped.clone()));
            self.report.skipped.push(skipped);
        }
        match stored {
            // A document that never had a file does not depend on one that cannot be stored.
            Some(stored) if is_kept || !stored.state.is_of_file() => {
                self.report.unchanged += 1;
                self.report.has_kept = true;
            }
            Some(stored) => {
                sink.remove(stored)?;
                self.report.count(path, ChangeKind::Removed);
            }
            None => {}
        }
        Ok(())
    }
}

/// The files of the scopes of a plan, in the order of the scopes.
fn walk(plan: &IngestPlan, own_files: &[PathBuf]) -> Result<Vec<WalkResult>> {
    let walk = |scopes: &Scopes| {
        let Root { folder, options, .. } = &scopes.root;
        let walk = Walk { root: folder, own_files, options };
        let (mut existing, mut left_out) = (scopes.existing(), Vec::new());
        if !scopes.is_whole() {
            existing.retain(|path| {
                let reason = walk.excluded(path, folder.join(path).is_dir());
                let skipped = reason.map(|reason| Skipped { file: path.clone(), reason });
                let is_taken = skipped.is_none();
                left_out.extend(skipped);
                is_taken
            });
        }
        let mut walked =
            if existing.is_empty() { WalkResult::default() } else { walk.run(&existing)? };
        walked.skipped.append(&mut left_out);
        Ok(scopes.named(walked))
    };
    plan.scopes.iter().map(walk).collect()
}

/// Ingests the requested part of the corpus.
pub fn run(request: &IngestRequest<'_>, progress: &dyn Progress) -> Result<IngestReport> {
    if request.store.peek()?.is_none() {
        // Refuse the request before a store is created for it.
        IngestPlan::new(request, None)?.refuse_missing(&[])?;
    }
    let mut writer = match request.shard {
        Some(shard) => request.store.shard_writer(shard, request.wait)?,
        None => request.store.writer(request.wait)?,
    };
    let WriterMetadata {
        root: stored_root,
        options: stored_options,
        has_lost_options,
        has_current_parser: is_current,
        ..
    } = writer.metadata()?;
    let options = stored_options.clone().unwrap_or_default();
    let mut plan = IngestPlan::new(request, stored_root.as_deref().map(|root| (root, &options)))?;
    plan.has_lost_options =
        has_lost_options && stored_options.is_none() && !request.gives_options();
    let is_new = stored_root.is_none();
    let root = root_from_store(&plan.root, request.store.path())?;
    let wish = request.checked_wish(is_new, &plan)?;
    let of_options = has_lost_options.then(|| warning_of_options(&plan));
    if has_lost_options && !plan.has_lost_options {
        forget_files(request, writer.as_mut())?;
        writer.set_up(&root, &plan.options)?;
    }
    // The files of an interrupted edit have their versions before they are read: a half-made edit would be stored
    // otherwise, and the bytes that it moved would be nowhere.
    let recovered = match request.shard {
        Some(_) => Vec::new(),
        None => request.store.recover(writer.as_mut())?,
    };
    let is_forced = request.force || !is_current;
    let own_files = request.store.own_files();
    let mut stored = Vec::new();
    let documents = &mut stored;
    // The documents are read and put in order while the files are looked for.
    let (known, walked) = parallel::join(
        || {
            *documents = writer.documents()?;
            if let Some(shard) = request.shard {
                documents.retain(|document| shard.takes(&document.path));
            }
            if has_lost_options {
                documents.iter_mut().for_each(forget_file);
            }
            let others = if is_current { Vec::new() } else { plan.outside(documents) };
            Ok::<_, Error>((Known::new(&plan, documents), others))
        },
        || walk(&plan, &own_files),
    );
    let mut run = Run { is_forced, progress, report: IngestReport::default() };
    let (mut walked, (known, others)) = (walked.flatten()?, known?);
    if let Some(shard) = request.shard {
        for walked in &mut walked {
            walked.found.retain(|found| shard.takes(&found.path));
        }
    }
    let comparisons = compare_all(&plan, walked, known, is_forced, &mut run.report)?;
    if plan.knows_folders {
        note_folders(&mut plan, &comparisons);
    }
    // The trust is recorded first, so that an ingest that is killed does not leave an untrusted store.
    let warning = request.gives_trust(is_new).then(|| request.record(wish.as_ref())).flatten();
    if is_new || !plan.has_lost_options && stored_options.as_ref() != Some(&plan.options) {
        writer.set_up(&root, &plan.options)?;
    }
    // What a part writes replaces what others store until all parts are in; a file is read again then, and the bytes
    // of a document without one would be lost.
    let parses_stored = is_forced && request.shard.is_none();
    // A store whose documents are of several parsers would be parsed by every ingest. A refresh does not wait for that.
    let parses_others = parses_stored && !matches!(request.paths, Paths::Stored(_));
    let has_work = |comparison: &FileComparison<'_>| {
        !comparison.is_empty() || parses_stored && !comparison.without_file.is_empty()
    };
    if comparisons.iter().any(has_work) || parses_others && !others.is_empty() {
        progress.start(comparisons.iter().map(|one| one.candidates.len()).sum());
        let mut batches = Batches { writer: writer.as_mut(), bytes: 0 };
        for (scopes, mut comparison) in plan.scopes.iter().zip(comparisons) {
            let without_file = std::mem::take(&mut comparison.without_file);
            run.apply(&scopes.root, comparison, &mut batches)?;
            if parses_stored {
                run.parse_stored(request.store, &without_file, &mut batches)?;
            }
        }
        if parses_others {
            run.parse_stored(request.store, &others, &mut batches)?;
        }
        writer.commit_last()?;
    }
    let mut report = run.report;
    // Each part knows only its own files.
    let has_parsed_all = others.is_empty() || parses_others;
    if !is_current && has_parsed_all && !report.has_kept && request.shard.is_none() {
        writer.set_current_parser(true)?;
    }
    writer.complete()?;
    report.generation = writer.generation()?;
    let warnings = std::thread::scope(|scope| {
        // Segments are merged next, which takes memory, too. To free many paths takes as long as to close a store.
        // If no thread can be made, they are freed here.
        drop(std::thread::Builder::new().spawn_scoped(scope, || drop(stored)));
        closed(writer)
    });
    let warnings = of_options.into_iter().chain(recovered).chain(warnings?).chain(warning);
    report.note(warnings.collect());
    report.roots = plan.scopes.into_iter().map(|scopes| scopes.root).collect();
    report.finish();
    Ok(report)
}

/// Makes a document one that never had a file, so that it stays if its file is not found.
fn forget_file(document: &mut StoredDocument) {
    let size = usize::try_from(document.state.size).unwrap_or(usize::MAX);
    document.state = FileState::without_file(size);
}

/// Forgets the files of the documents that `request` covers: the options that it gives may leave out some of them.
fn forget_files(request: &IngestRequest<'_>, writer: &mut dyn Writer) -> Result<()> {
    let mut documents = writer.documents()?;
    documents.retain(|document| request.shard.is_none_or(|shard| shard.takes(&document.path)));
    documents.iter_mut().for_each(forget_file);
    let states: Vec<_> = documents.iter().map(|document| (document.id, document.state)).collect();
    writer.set_states(&states)?;
    writer.commit()
}

/// Returns the warning about damaged options, which `plan` gives again or not.
fn warning_of_options(plan: &IngestPlan) -> Warning {
    if plan.has_lost_options {
        return options_lost();
    }
    let message = "the settings of the store were damaged; those that were not given are now the defaults, and the \
                   documents that they leave out stay until `mdsel ingest PATH` removes them";
    Warning::new(OPTIONS_LOST, message)
}

/// Returns the report of what [`run`] would do. Writes nothing and takes no lock.
pub fn preview(request: &IngestRequest<'_>, progress: &dyn Progress) -> Result<IngestReport> {
    let reader = request.store.peek()?;
    let known = reader.as_ref().map(|reader| (reader.root(), reader.options()));
    let mut plan = IngestPlan::new(request, known)?;
    let has_lost_options = reader.as_ref().is_some_and(|reader| reader.facts().has_lost_options);
    plan.has_lost_options = has_lost_options && !request.gives_options();
    request.checked_wish(reader.is_none(), &plan)?;
    let mut stored = match &reader {
        Some(reader) => reader.all(&Lookup::All)?,
        None => Vec::new(),
    };
    if has_lost_options {
        stored.iter_mut().for_each(forget_file);
    }
    let is_current = reader.as_ref().is_none_or(|reader| reader.facts().has_current_parser);
    let is_forced = request.force || !is_current;
    let walked = walk(&plan, &request.store.own_files())?;
    let report = IngestReport { changes: Some(Vec::new()), ..IngestReport::default() };
    let mut run = Run { is_forced, progress, report };
    let known = Known::new(&plan, &stored);
    let comparisons = compare_all(&plan, walked, known, is_forced, &mut run.report)?;
    progress.start(comparisons.iter().map(|one| one.candidates.len()).sum());
    for (scopes, comparison) in plan.scopes.iter().zip(comparisons) {
        run.apply(&scopes.root, comparison, &mut Nowhere)?;
    }
    let mut report = run.report;
    report.note(has_lost_options.then(|| warning_of_options(&plan)).into_iter().collect());
    report.generation = reader.map_or(0, |reader| reader.generation());
    report.finish();
    Ok(report)
}

fn no_store() -> Error {
    Error::new(ErrorKind::StoreNotFound, "the store does not exist")
        .with_hint("create it with `mdsel ingest FOLDER`")
}

/// Drops a collection: its documents leave the store, and its files stay as they are.
pub fn forget(store: &Store, name: &str, wait: Duration) -> Result<IngestReport> {
    if store.peek()?.is_none() {
        return Err(no_store());
    }
    // No file is read or written, so no trust is needed, unless an edit was interrupted.
    let (mut writer, recovered) = store.recovered_writer(wait)?;
    check_options(writer.as_ref())?;
    let (root, options) = (writer.root()?.unwrap_or_default(), writer.options()?);
    let mut options = options.unwrap_or_default();
    if options.collections.remove(name).is_none() {
        let known: Vec<&str> = options.collections.keys().map(String::as_str).collect();
        let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
        let message = format!("the store has no collection {name:?}; it has {known}");
        return Err(Error::new(ErrorKind::Usage, message)
            .with_hint("`mdsel status --collections` lists them"));
    }
    let mut report = IngestReport::default();
    let documents = writer.documents()?;
    let (gone, kept): (Vec<_>, Vec<_>) =
        documents.into_iter().partition(|document| is_at_or_below(&document.path, name));
    report.unchanged = kept.len();
    for document in &gone {
        report.count(&document.path, ChangeKind::Removed);
    }
    let ids: Vec<i64> = gone.iter().map(|document| document.id).collect();
    writer.remove(&ids)?;
    writer.commit()?;
    // The documents go first: a collection without documents can be forgotten again.
    writer.set_up(&root_from_store(&root, store.path())?, &options)?;
    report.generation = writer.generation()?;
    report.note(recovered);
    report.note(closed(writer)?);
    report.finish();
    Ok(report)
}

/// Closes a writer that has committed everything. The documents are stored, so an error of the disk is a warning.
fn closed(writer: Box<dyn Writer>) -> Result<Vec<Warning>> {
    match writer.close() {
        Err(error) if error.kind() == ErrorKind::Io => {
            let message = format!("{error}; the documents are stored");
            Ok(vec![Warning::new("LOG_KEPT", message)])
        }
        closed => closed,
    }
}
