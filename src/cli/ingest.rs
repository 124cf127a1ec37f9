//! `ingest`, `ingest --dry-run` and `ingest --check`.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use schemars::JsonSchema;

use super::args::WaitArgs;
use super::command::AnyCommand;
use super::described::{Described, RefusedOptions, described, schema_of};
use super::exit::Status;
use super::global::Global;
use super::note::note;
use super::progress::Bar;
use super::store::{self, Location};
use crate::corpus::{Roots, Skipped, canonical};
use crate::error::Result;
use crate::ingest::{
    ChangeKind, IngestReport, IngestRequest, OptionChanges, Paths, forget, preview, run as ingest,
};
use crate::limits;
use crate::message::{Message, message};
use crate::query::finding::{Finding, Findings};
use crate::store::{EMPTY_STORE, OPTIONS_LOST, Purpose, Shard};
use crate::trust::site_argument;

/// Arguments of `ingest`.
#[derive(Debug, Args)]
#[command(after_help = "Example: mdsel ingest docs")]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command")]
pub(super) struct IngestArgs {
    /// Ingest only these files and folders [default: the root and all collections]
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Ingest only this collection: the folder PATH, with options of its own, whose documents are NAME/...
    #[arg(long, value_name = "NAME")]
    collection: Option<String>,
    /// Drop this collection from the store; its files stay
    #[arg(long, value_name = "NAME", conflicts_with_all = ["paths", "collection", "check",
        "dry_run", "force", "shard", "watch", "ext", "hidden", "no_ignore", "max_file_size", "site_roots"])]
    forget: Option<String>,
    /// Take files with these extensions (remembered) [default: md,markdown,mdx]
    #[arg(long, value_name = "EXT", value_delimiter = ',', value_parser = extension)]
    ext: Option<Vec<String>>,
    /// Take hidden files (remembered)
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL")]
    hidden: Option<bool>,
    /// Do not respect .gitignore, .ignore and .mdselignore files (remembered)
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL")]
    no_ignore: Option<bool>,
    /// Skip larger files (remembered) [default: 32M]
    #[arg(long, value_name = "BYTES", value_parser = byte_size)]
    max_file_size: Option<u64>,
    /// Look up links such as /about in this folder; with =/PREFIX, links such as /PREFIX/about (repeatable,
    /// added to those that are remembered; '' forgets them)
    #[arg(long = "site-root", value_name = "FOLDER[=/PREFIX]")]
    site_roots: Option<Vec<String>>,
    /// Change nothing; exit with status 1 if the store is out of date
    #[arg(long, conflicts_with_all = ["dry_run", "force"])]
    check: bool,
    /// Change nothing; list what would change
    #[arg(long)]
    dry_run: bool,
    /// Parse unchanged files again
    #[arg(long)]
    force: bool,
    /// Ingest only part I of N of the files; other machines ingest the other parts (see `mdsel help servers`)
    #[arg(long, value_name = "I/N", value_parser = shard, requires = "ingest_id",
        conflicts_with_all = ["check", "dry_run"])]
    shard: Option<(u32, u32)>,
    /// The name of the ingest, the same for all of its parts
    #[arg(long, value_name = "NAME", requires = "shard")]
    ingest_id: Option<String>,
    /// Keep running and ingest each change; print an answer for each
    #[arg(long, conflicts_with_all = ["check", "dry_run", "shard"])]
    watch: bool,
    #[command(flatten)]
    wait: WaitArgs,
}

/// Parses the value of `--shard`: the number of a part from 1, and the number of parts.
fn shard(text: &str) -> std::result::Result<(u32, u32), String> {
    let parsed = text
        .split_once('/')
        .and_then(|(index, count)| Some((index.parse::<u32>().ok()?, count.parse::<u32>().ok()?)));
    match parsed {
        Some((index, count)) if index >= 1 && index <= count => Ok((index, count)),
        _ => Err("write I/N, such as 2/8 for the second of eight parts".to_owned()),
    }
}

/// Parses a file extension, with or without its dot.
fn extension(text: &str) -> std::result::Result<String, String> {
    let extension = crate::corpus::extension(text).map(str::to_owned);
    extension.ok_or_else(|| "not a file extension such as md".to_owned())
}

/// Parses a number of bytes, with an optional suffix K, M or G for powers of 1024.
fn byte_size(text: &str) -> std::result::Result<u64, String> {
    let upper = text.to_ascii_uppercase();
    let number = upper.strip_suffix('B').unwrap_or(&upper);
    let units = [('K', 1 << 10), ('M', 1 << 20), ('G', 1 << 30)];
    let (digits, unit) = units
        .into_iter()
        .find_map(|(name, unit)| number.strip_suffix(name).map(|digits| (digits, unit)))
        .unwrap_or((number, 1));
    let bytes = digits.parse::<u64>().ok().and_then(|number| number.checked_mul(unit));
    match bytes {
        Some(bytes) if bytes <= limits::LARGEST_MAX_FILE_BYTES as u64 => Ok(bytes),
        Some(_) => Err(format!("exceeds {}", limits::row::LARGEST_MAX_FILE_BYTES)),
        None => Err("not a number of bytes such as 500K or 32M".to_owned()),
    }
}

/// What an ingest did, or with `--check` what differs.
#[expect(dead_code, reason = "only its schema is used")]
#[derive(JsonSchema)]
#[schemars(untagged)]
enum Ingested {
    Report(IngestReport),
    Check(Findings),
}

impl AnyCommand for IngestArgs {
    fn run(&self, global: &Global) -> Result<Status> {
        if self.watch && !cfg!(feature = "watch") {
            return Err(crate::error::Error::lacks_feature("watch"));
        }
        if !self.check && !self.dry_run {
            global.has_room_for_report()?;
        }
        let folder = store::current_folder()?;
        let location = store::location_to_write(global)?;
        let store = location.store(global)?;
        let (is_new, shown) = match &location {
            Location::File(path) => {
                (!path.exists(), path.strip_prefix(&folder).unwrap_or(path).display().to_string())
            }
            Location::Server(url) => (!store.exists()?, store::without_password(url)),
        };
        let paths: Vec<PathBuf> = self.paths.iter().map(|path| folder.join(path)).collect();
        let root = global.root.as_ref().map(|root| folder.join(root));
        let shard = self.shard.zip(self.ingest_id.clone());
        let shard = shard.map(|((index, count), ingest)| Shard { index: index - 1, count, ingest });
        if let Some(name) = &self.forget {
            let mut report = forget(&store, name, self.wait.duration())?;
            note(&format!("store: {shown}"));
            global.print_list(&mut report)?;
            return Ok(Status::Success);
        }
        let request = IngestRequest {
            store: &store,
            root: root.as_deref(),
            folder: &folder,
            collection: self.collection.as_deref(),
            paths: if paths.is_empty() { Paths::All } else { Paths::Given(&paths) },
            options: OptionChanges {
                extensions: self.ext.clone(),
                hidden: self.hidden,
                no_ignore: self.no_ignore,
                max_file_bytes: self.max_file_size,
                site_roots: self.site_roots.as_ref().map(|given| site_roots(given, &folder)),
                forgets_site_roots: self.site_roots.iter().flatten().any(String::is_empty),
            },
            force: self.force,
            shard: shard.as_ref(),
            wait: self.wait.duration(),
        };
        let is_preview = self.check || self.dry_run;
        if !is_preview && !is_new {
            note(&format!("store: {shown}"));
        }
        if !is_new && !is_preview {
            // This finishes an interrupted edit. Errors of the store are left to the ingest.
            drop(store.reader(Purpose::ReadWithin(Duration::ZERO)));
        }
        let bar = Bar::new();
        let report = if is_preview { preview(&request, &bar) } else { ingest(&request, &bar) };
        bar.clear();
        // An ingest that failed may have created the store.
        if is_new && !is_preview && (report.is_ok() || store.path().is_some_and(Path::exists)) {
            note(&format!("store: {shown} (new)"));
        }
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
                if self.site_roots.is_some()
                    && root.name == self.collection.as_deref().unwrap_or_default()
                {
                    for site in &root.options.site_roots {
                        note(&format!("site root: {}", site_argument(&root.folder, site)));
                    }
                }
            }
        }
        if self.check {
            let roots = store
                .peek(Purpose::ReadWithin(request.wait))?
                .map_or_else(Roots::default, |reader| reader.roots());
            let named: Vec<String> =
                paths.iter().filter_map(|path| named_document(&roots, path)).collect();
            let findings = findings(&report, &roots, &named, &command(global, self));
            let of_options = report.warnings.iter().filter(|warning| warning.code == OPTIONS_LOST);
            global.recovered.borrow_mut().extend(of_options.cloned());
            let status = global.print_findings(findings)?;
            return Ok(if report.unreadable.is_empty() { status } else { Status::Error });
        }
        if global.print_list(&mut report)? {
            #[cfg(feature = "watch")]
            if self.watch {
                watch(global, &IngestRequest { force: false, ..request })?;
            }
        }
        Ok(Status::Success)
    }

    fn describe(name: &str, all: &mut Vec<Described>) {
        let refused_options = &[RefusedOptions {
            options: &["refresh"],
            reason: "it ingests the changed files itself",
            hint: "",
        }];
        let schema = Some(schema_of::<Ingested> as fn() -> _);
        all.push(Described { schema, refused_options, ..described::<IngestReport>(name) });
    }
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
const RETRY: std::time::Duration =
    std::time::Duration::from_millis(crate::limits::WATCH_RETRY_MILLISECONDS as u64);

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
    let mut missing = Vec::new();
    loop {
        // The first ingest comes before the first wait: files may have changed before the watch
        // began.
        let now = match run_again(request) {
            Ok(mut report) => {
                let is_news = report.has_changes() || report.missing != missing;
                missing.clone_from(&report.missing);
                if is_news && !global.print_list(&mut report)? {
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
fn command(global: &Global, arguments: &IngestArgs) -> Message {
    let IngestArgs { collection, ext, hidden, no_ignore, max_file_size, site_roots, .. } =
        arguments;
    let sites = site_roots.iter().flatten().map(|site| ("--site-root", site.clone()));
    let options = [
        ("--root", global.root.as_ref().map(|root| root.to_string_lossy().into_owned())),
        ("--collection", collection.clone()),
        ("--ext", ext.as_ref().map(|ext| ext.join(","))),
        ("--max-file-size", max_file_size.map(|bytes| bytes.to_string())),
    ];
    let options = options.into_iter().filter_map(|(name, value)| Some((name, value?)));
    let mut words = Message::from("");
    for (name, value) in options.chain(sites) {
        words = message!("{} {} {}", words, Message::from(name), value);
    }
    let flags =
        [(hidden, "--hidden", "--hidden=false"), (no_ignore, "--no-ignore", "--no-ignore=false")];
    for (value, set, unset) in flags {
        if let Some(is_set) = value {
            words = message!("{} {}", words, Message::from(if *is_set { set } else { unset }));
        }
    }
    for path in &arguments.paths {
        words = message!("{} {path}", words, path.to_string_lossy());
    }
    message!("mdsel ingest {}", words)
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
fn findings(report: &IngestReport, roots: &Roots, named: &[String], command: &Message) -> Findings {
    let findings = report.changes.iter().flatten().map(|change| {
        let (code, what) = match change.change {
            ChangeKind::Added => ("ADDED", "is not in the store"),
            ChangeKind::Changed => ("CHANGED", "differs from what is stored"),
            // A folder of the same name is another thing than the file.
            ChangeKind::Removed
                if roots.file(&change.file).symlink_metadata().is_ok_and(|it| !it.is_dir()) =>
            {
                ("REMOVED", "is in the store, but the file is left out now")
            }
            ChangeKind::Removed => ("REMOVED", "is in the store, but the file is gone"),
        };
        Finding {
            code,
            message: format!("{} {what}", change.file).into(),
            file: Some(change.file.clone()),
            line: None,
            hint: Some(command.clone()),
        }
    });
    let missing = report.missing.iter().map(|name| Finding {
        code: "MISSING_FOLDER",
        message: format!("the folder of the collection {name} does not exist").into(),
        file: None,
        line: None,
        hint: Some(message!("mdsel ingest --forget {}", name)),
    });
    let unreadable = report.unreadable.iter().map(|unreadable| Finding {
        code: "UNREADABLE",
        message: message!("{} could not be checked: {}", unreadable.file, unreadable.reason),
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
        message: message!("{} is not ingested: {}", skipped.file, skipped.reason),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn byte_sizes_accept_units() {
        assert_eq!(byte_size("500"), Ok(500));
        assert_eq!(byte_size("2k"), Ok(2048));
        assert_eq!(byte_size("32MB"), Ok(32 << 20));
        assert!(byte_size("2G").is_err());
        assert!(byte_size("x").is_err());
        assert!(byte_size("5KK").is_err());
    }
}
