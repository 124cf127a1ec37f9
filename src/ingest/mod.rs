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
mod forget;
mod load;
mod options;
mod pipeline;
mod plan;
mod report;
mod request;
mod run;
mod sink;
#[cfg(feature = "watch")]
mod watch;

pub use copy::copy;
pub use forget::forget;
pub use load::{LoadRequest, Strategy, load};
pub use options::OptionChanges;
pub use report::{Change, ChangeKind, IngestReport};
pub use request::{IngestRequest, Paths};
#[cfg(feature = "watch")]
pub use watch::Watch;

use std::path::PathBuf;

use crate::corpus::{FileState, Root, Skipped, Walk, WalkResult, root_from_store};
use crate::error::{Error, ErrorKind, Result, Warning};
use crate::limits;
use crate::parallel;
use crate::store::{
    IfAbsent, Lookup, OPTIONS_LOST, Purpose, REPEAT_WHEN_UNLOCKED, Store, StoredDocument, Writer,
    WriterMetadata, options_lost,
};
use comparison::{Known, compare_all, note_folders};
use plan::{IngestPlan, Scopes};
use run::Run;
use sink::Nowhere;

/// Ingests `paths` of the store at `store` with its stored options.
pub fn refresh(store: &Store, paths: Paths<'_>) -> Result<IngestReport> {
    let request = IngestRequest::of_stored(store, paths, limits::LOCK_WAIT);
    run_again(&request).map_err(|error| match error.kind() {
        ErrorKind::Locked => error.map_hints(|_| REPEAT_WHEN_UNLOCKED.into()),
        _ => error,
    })
}

/// Ingests like [`run()`], and creates no store.
///
/// # Errors
///
/// `STORE_NOT_FOUND` if the store does not exist, or no longer does.
pub fn run_again(request: &IngestRequest<'_>) -> Result<IngestReport> {
    run_if(IfAbsent::Fail, request, &NoProgress)
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

/// The files of the scopes of a plan that `request` takes, in the order of the scopes.
fn walk(
    request: &IngestRequest<'_>,
    plan: &IngestPlan,
    own_files: &[PathBuf],
) -> Result<Vec<WalkResult>> {
    let walk = |scopes: &Scopes| {
        let Root { folder, options, .. } = &scopes.root;
        let walk = Walk { root: folder, own_files, options };
        let (mut existing, mut left_out) = (scopes.existing(), Vec::new());
        if !scopes.is_whole() {
            existing.retain(|path| {
                let reason = walk.excluded(path, folder.join(path).is_dir());
                let skipped =
                    reason.map(|reason| Skipped { file: path.clone(), reason: reason.to_string() });
                let is_taken = skipped.is_none();
                left_out.extend(skipped);
                is_taken
            });
        }
        let mut walked =
            if existing.is_empty() { WalkResult::default() } else { walk.run(&existing)? };
        walked.skipped.append(&mut left_out);
        let mut walked = scopes.named(walked);
        walked.found.retain(|found| request.takes(&found.path));
        Ok(walked)
    };
    plan.scopes.iter().map(walk).collect()
}

/// Ingests the requested part of the corpus.
pub fn run(request: &IngestRequest<'_>, progress: &dyn Progress) -> Result<IngestReport> {
    if !request.store.exists()? {
        // Refuse the request before a store is created for it.
        IngestPlan::new(request, None)?.refuse_missing(&[])?;
    }
    run_if(IfAbsent::Create, request, progress)
}

/// See [`run()`] and [`run_again`].
fn run_if(
    if_absent: IfAbsent,
    request: &IngestRequest<'_>,
    progress: &dyn Progress,
) -> Result<IngestReport> {
    let mut writer = match request.shard {
        Some(shard) => request.store.shard_writer(shard, request.wait)?,
        None => request.store.writer(if_absent, request.wait)?,
    };
    let WriterMetadata {
        root: stored_root,
        lacks_root,
        options: stored_options,
        has_lost_options,
        has_current_parser: is_current,
        ..
    } = writer.metadata()?;
    let options = stored_options.clone().unwrap_or_default();
    let mut plan = IngestPlan::new(request, stored_root.as_deref().map(|root| (root, &options)))?;
    plan.keeps_documents = has_lost_options && !request.gives_options();
    let is_new = stored_root.is_none();
    let root = root_from_store(&plan.root, request.store.path())?;
    let wish = request.checked_wish(is_new, &plan)?;
    let of_options = has_lost_options.then(|| warning_of_options(&plan));
    if has_lost_options && !plan.keeps_documents {
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
    if request.force {
        writer.replace_index();
    }
    let own_files = request.store.own_files();
    let mut stored = Vec::new();
    let documents = &mut stored;
    // The documents are read and put in order while the files are looked for.
    let (known, walked) = parallel::join(
        || {
            *documents = writer.documents()?;
            documents.retain(|document| request.takes(&document.path));
            if has_lost_options {
                documents.iter_mut().for_each(forget_file);
            }
            let others = if is_current { Vec::new() } else { plan.outside(documents) };
            Ok::<_, Error>((Known::new(&plan, documents), others))
        },
        || walk(request, &plan, &own_files),
    );
    let mut run = Run { is_forced, progress, report: IngestReport::default() };
    let (walked, (known, others)) = (walked.flatten()?, known?);
    let comparisons = compare_all(&plan, walked, known, is_forced, &mut run.report)?;
    if plan.knows_folders {
        note_folders(&mut plan, &comparisons);
    }
    // The trust is recorded first, so that an ingest that is killed does not leave an untrusted store.
    let warning = request.gives_trust(is_new).then(|| request.record(wish.as_ref())).flatten();
    let has_changes = lacks_root || stored_options.as_ref() != Some(&plan.options);
    if is_new || !plan.keeps_documents && has_changes {
        writer.set_up(&root, &plan.options)?;
    }
    let has_parsed_all = run.write(request, &plan, comparisons, &others, writer.as_mut())?;
    let mut report = run.report;
    // Each part knows only its own files.
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
    documents.retain(|document| request.takes(&document.path));
    documents.iter_mut().for_each(forget_file);
    let states: Vec<_> = documents.iter().map(|document| (document.id, document.state)).collect();
    writer.set_states(&states)?;
    writer.commit()
}

/// Returns the warning about damaged options, which `plan` gives again or not.
fn warning_of_options(plan: &IngestPlan) -> Warning {
    if plan.keeps_documents {
        return options_lost();
    }
    let message = "the settings of the store were damaged; those that were not given are now the defaults, and the \
                   documents that they leave out stay until `mdsel ingest PATH` removes them";
    Warning::new(OPTIONS_LOST, message)
}

/// Returns the report of what [`run()`] would do. Writes nothing and takes no lock.
pub fn preview(request: &IngestRequest<'_>, progress: &dyn Progress) -> Result<IngestReport> {
    let reader = request.store.peek(Purpose::ReadWithin(request.wait))?;
    let known = reader.as_ref().map(|reader| (reader.root(), reader.options()));
    let mut plan = IngestPlan::new(request, known)?;
    let has_lost_options = reader.as_ref().is_some_and(|reader| reader.facts().has_lost_options);
    plan.keeps_documents = has_lost_options && !request.gives_options();
    request.checked_wish(reader.is_none(), &plan)?;
    let mut stored = match &reader {
        Some(reader) => reader.all(&Lookup::All)?,
        None => Vec::new(),
    };
    stored.retain(|document| request.takes(&document.path));
    if has_lost_options {
        stored.iter_mut().for_each(forget_file);
    }
    let is_current = reader.as_ref().is_none_or(|reader| reader.facts().has_current_parser);
    let is_forced = request.force || !is_current;
    let walked = walk(request, &plan, &request.store.own_files())?;
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
