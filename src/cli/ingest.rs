//! `ingest`, `ingest --dry-run` and `ingest --check`.

use std::path::{Path, PathBuf};

use super::args::{Global, IngestArgs};
use super::progress::Bar;
use super::store::{self, Location};
use super::{Status, note};
use crate::corpus::{Roots, Skipped, canonical};
use crate::error::{Result, shell_path, shell_word};
use crate::ingest::{
    ChangeKind, IngestReport, IngestRequest, OptionChanges, Paths, forget, preview, run as ingest,
};
use crate::query::finding::{Finding, Findings};
use crate::store::{EMPTY_STORE, OPTIONS_LOST, Purpose, Shard};

pub(super) fn run(global: &Global, arguments: &IngestArgs) -> Result<Status> {
    if arguments.watch && !cfg!(feature = "watch") {
        return Err(super::lacks_feature("watch"));
    }
    if !arguments.check && !arguments.dry_run {
        global.has_room_for_report()?;
    }
    let folder = store::current_folder()?;
    let location = store::location_to_write(global)?;
    let store = location.store(global)?;
    let (is_new, shown) = match &location {
        Location::File(path) => {
            (!path.exists(), path.strip_prefix(&folder).unwrap_or(path).display().to_string())
        }
        Location::Server(url) => (store.peek()?.is_none(), store::without_password(url)),
    };
    let paths: Vec<PathBuf> = arguments.paths.iter().map(|path| folder.join(path)).collect();
    let root = global.root.as_ref().map(|root| folder.join(root));
    let shard = arguments.shard.zip(arguments.ingest_id.clone());
    let shard = shard.map(|((index, count), ingest)| Shard { index: index - 1, count, ingest });
    if let Some(name) = &arguments.forget {
        let mut report = forget(&store, name, arguments.wait.duration())?;
        note(&format!("store: {shown}"));
        global.print_list(&mut report)?;
        return Ok(Status::Success);
    }
    let request = IngestRequest {
        store: &store,
        root: root.as_deref(),
        folder: &folder,
        collection: arguments.collection.as_deref(),
        paths: if paths.is_empty() { Paths::All } else { Paths::Given(&paths) },
        options: OptionChanges {
            extensions: arguments.ext.clone(),
            hidden: arguments.hidden,
            no_ignore: arguments.no_ignore,
            max_file_bytes: arguments.max_file_size,
            site_roots: arguments.site_roots.as_ref().map(|given| site_roots(given, &folder)),
        },
        force: arguments.force,
        shard: shard.as_ref(),
        wait: arguments.wait.duration(),
    };
    let is_preview = arguments.check || arguments.dry_run;
    if !is_preview {
        note(&format!("store: {shown}{}", if is_new { " (new)" } else { "" }));
    }
    if !is_new && !is_preview {
        // This finishes an interrupted edit. Errors of the store are left to the ingest.
        drop(store.reader(Purpose::Read));
    }
    let bar = Bar::new();
    let report = if is_preview { preview(&request, &bar) } else { ingest(&request, &bar) };
    bar.clear();
    let mut report = report?;
    // The ingest itself warns about damaged options, and may store the first document.
    let mut recovered = store.take_warnings();
    recovered.retain(|warning| ![OPTIONS_LOST, EMPTY_STORE].contains(&warning.code));
    report.warnings.splice(0..0, recovered);
    if !is_preview {
        for root in &report.roots {
            let folder = root.folder.display();
            note(&match root.name.as_str() {
                "" => format!("root: {folder}"),
                name => format!("root of {name}: {folder}"),
            });
        }
    }
    if arguments.check {
        let roots = store.peek()?.map_or_else(Roots::default, |reader| reader.roots());
        let named: Vec<String> =
            paths.iter().filter_map(|path| named_document(&roots, path)).collect();
        let findings = findings(&report, &roots, &named, &command(global, arguments));
        let of_options = report.warnings.iter().filter(|warning| warning.code == OPTIONS_LOST);
        global.recovered.borrow_mut().extend(of_options.cloned());
        let status = global.print_findings(findings)?;
        return Ok(if report.unreadable.is_empty() { status } else { Status::Error });
    }
    if global.print_list(&mut report)? {
        #[cfg(feature = "watch")]
        if arguments.watch {
            watch(global, &IngestRequest { force: false, ..request })?;
        }
    }
    Ok(Status::Success)
}

/// Parses the values of `--site-root` into absolute folders and the path prefixes that they are
/// served at. Empty values are ignored.
fn site_roots(given: &[String], current: &Path) -> Vec<(PathBuf, String)> {
    let given = given.iter().filter(|value| !value.is_empty());
    given
        .map(|value| {
            let (folder, prefix) = match value.rfind("=/") {
                Some(at) => (value.get(..at).unwrap_or_default(), value.get(at + 1..)),
                None => (value.as_str(), None),
            };
            let prefix = prefix.unwrap_or_default().trim_end_matches('/');
            (current.join(folder), prefix.to_owned())
        })
        .collect()
}

/// The time after which a watch tries again.
#[cfg(feature = "watch")]
const RETRY: std::time::Duration = std::time::Duration::from_millis(500);

/// Ingests after each change, until nobody reads the output or the store is gone or damaged.
#[cfg(feature = "watch")]
fn watch(global: &Global, request: &IngestRequest<'_>) -> Result<()> {
    use crate::corpus::Root;
    use crate::error::ErrorKind::{Io, Locked, StoreUnreachable};
    use crate::ingest::{Watch, run_again};

    let roots = || -> Result<Vec<Root>> {
        let reader = request.store.reader(Purpose::Read)?;
        Ok(reader.roots().with_documents().cloned().collect())
    };
    let own_files = request.store.own_files();
    let mut watch = Watch::new(&roots()?, &own_files)?;
    // Whether the ingest of the last change failed and is tried again.
    let mut is_waiting = false;
    loop {
        // The first ingest comes before the first wait: files may have changed before the watch
        // began.
        let now = match run_again(request) {
            Ok(mut report) => {
                if report.has_changes() && !global.print_list(&mut report)? {
                    return Ok(());
                }
                // Another process may have added a collection, or changed the options.
                roots()
            }
            Err(error) => Err(error),
        };
        match now {
            // Folders that were away for a while are other ones for the system.
            Ok(now) if std::mem::take(&mut is_waiting) || !watch.is_of(&now) => {
                watch = Watch::new(&now, &own_files)?;
            }
            Ok(_) => watch.wait()?,
            // Another process is writing, the server is down, or a disk is full or not mounted.
            Err(error) if matches!(error.kind(), Locked | StoreUnreachable | Io) => {
                if !is_waiting {
                    note(&format!("warning: {error}; the change is ingested after that"));
                }
                is_waiting = true;
                std::thread::sleep(RETRY);
            }
            Err(error) => return Err(error),
        }
    }
}

/// Returns the command that ingests what a check with these arguments compares.
fn command(global: &Global, arguments: &IngestArgs) -> String {
    let IngestArgs { collection, ext, hidden, no_ignore, max_file_size, site_roots, .. } =
        arguments;
    let sites = site_roots.iter().flatten().map(|site| ("site-root", site.clone()));
    let options = [
        ("root", global.root.as_ref().map(|root| root.to_string_lossy().into_owned())),
        ("collection", collection.clone()),
        ("ext", ext.as_ref().map(|ext| ext.join(","))),
        ("max-file-size", max_file_size.map(|bytes| bytes.to_string())),
    ];
    let options = options.into_iter().filter_map(|(name, value)| Some((name, value?)));
    let mut command = "mdsel ingest".to_owned();
    for (name, value) in options.chain(sites) {
        command += &format!(" --{name} {}", shell_word(&value));
    }
    for (name, value) in [("hidden", hidden), ("no-ignore", no_ignore)] {
        command += &match value {
            Some(true) => format!(" --{name}"),
            Some(false) => format!(" --{name}=false"),
            None => String::new(),
        };
    }
    for path in &arguments.paths {
        command += &format!(" {}", shell_path(&path.to_string_lossy()));
    }
    command
}

/// Returns the path that the document of the file at `path` has or would have; `None` if `path` is a folder.
fn named_document(roots: &Roots, path: &Path) -> Option<String> {
    if path.is_dir() {
        return None;
    }
    // The file itself may be a link, which no ingest follows.
    let full = canonical(path.parent()?).ok()?.join(path.file_name()?);
    roots.containing(&full, path.display()).ok().map(|(_, path)| path)
}

/// Returns a problem for each document that differs from the store, which `command` resolves, and for each of the `named`
/// documents that an ingest leaves out.
fn findings(report: &IngestReport, roots: &Roots, named: &[String], command: &str) -> Findings {
    let findings = report.changes.iter().flatten().map(|change| {
        let (code, what) = match change.change {
            ChangeKind::Added => ("ADDED", "is not in the store"),
            ChangeKind::Changed => ("CHANGED", "differs from what is stored"),
            ChangeKind::Removed if roots.file(&change.file).symlink_metadata().is_ok() => {
                ("REMOVED", "is in the store, but the file is left out now")
            }
            ChangeKind::Removed => ("REMOVED", "is in the store, but the file is gone"),
        };
        Finding {
            code,
            message: format!("{} {what}", change.file),
            file: Some(change.file.clone()),
            line: None,
            hint: Some(command.to_owned()),
        }
    });
    let missing = report.missing.iter().map(|name| Finding {
        code: "MISSING_FOLDER",
        message: format!("the folder of the collection {name} does not exist"),
        file: None,
        line: None,
        hint: Some(format!("mdsel ingest --forget {}", shell_word(name))),
    });
    let unreadable = report.unreadable.iter().map(|unreadable| Finding {
        code: "UNREADABLE",
        message: format!("{} could not be checked: {}", unreadable.file, unreadable.reason),
        file: Some(unreadable.file.clone()),
        line: None,
        hint: None,
    });
    let is_left_out = |skipped: &&Skipped| {
        named.contains(&skipped.file)
            && !report.unreadable.iter().any(|one| one.file == skipped.file)
    };
    let left_out = report.skipped.iter().filter(is_left_out).map(|skipped| Finding {
        code: "LEFT_OUT",
        message: format!("{} is not ingested: {}", skipped.file, skipped.reason),
        file: Some(skipped.file.clone()),
        line: None,
        hint: None,
    });
    Findings::new(
        findings.chain(missing).chain(unreadable).chain(left_out).collect(),
        Vec::new(),
        None,
        report.generation,
    )
}
