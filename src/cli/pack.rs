//! `dump`, `load` and `copy`: write a pack to standard output, read one from a file or standard input, and
//! copy a store.

use std::fs::File;
use std::io::{self, Seek as _};
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

use super::args::WaitArgs;
use super::command::AnyCommand;
use super::described::{Described, OUTPUT, RefusedOptions, described};
use super::exit::Status;
use super::global::Global;
use super::print::finish;
use super::progress::Bar;
use super::store::{self, Location};
use crate::error::{Error, Result};
use crate::ingest::{self, IngestReport, LoadRequest, Paths, Strategy};
use crate::query::{Session, dump as pack};
use crate::store::Purpose;

/// Arguments of `dump`.
#[derive(Debug, Args)]
#[command(after_help = "Example: mdsel dump > docs.pack")]
pub(super) struct DumpArgs {
    /// Add the files below the root that documents link to
    #[arg(long)]
    attachments: bool,
}

/// Arguments of `load`.
#[derive(Debug, Args)]
#[command(after_help = "Example: mdsel --db copy.db load docs.pack")]
pub(super) struct LoadArgs {
    /// The pack; - for standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// What to do with documents that are already in the store
    #[arg(long, value_enum, default_value_t = StrategyName::Skip)]
    strategy: StrategyName,
    /// Write the attachments of the pack below this folder, never over another file
    #[arg(long, value_name = "FOLDER")]
    attachments: Option<PathBuf>,
    #[command(flatten)]
    wait: WaitArgs,
}

/// What to do with a document that is already in the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum StrategyName {
    /// Keep the document of the store
    Skip,
    /// Replace it with the document of the pack
    Overwrite,
}

/// Arguments of `copy`.
#[derive(Debug, Args)]
#[command(after_help = "Example: mdsel copy .mdsel.db postgres://ann@db.example.org/notes")]
pub(super) struct CopyArgs {
    /// The store to read: a file, or the URL of a server
    #[arg(value_name = "FROM")]
    from: PathBuf,
    /// The store to write, which need not exist
    #[arg(value_name = "TO")]
    to: PathBuf,
    #[command(flatten)]
    wait: WaitArgs,
}

impl AnyCommand for DumpArgs {
    fn run(&self, global: &Global) -> Result<Status> {
        let reader = store::open_fresh(global, Purpose::Read, |_| Ok(None))?;
        if self.attachments {
            // Documents come from the store, but attachments from the folder that the store names.
            store::store(global)?.check_trust(&reader.roots())?;
        }
        finish(|out| pack::dump(&Session::new(&*reader), self.attachments, out))?;
        Ok(Status::Success)
    }

    fn describe(name: &str, all: &mut Vec<Described>) {
        let refused_options =
            &[RefusedOptions { options: &OUTPUT, reason: "it prints a pack", hint: "" }];
        all.push(Described { refused_options, ..Described::new(name, |_| false) });
    }
}

impl AnyCommand for LoadArgs {
    fn run(&self, global: &Global) -> Result<Status> {
        global.has_room_for_report()?;
        let mut report = ingest::load(LoadRequest {
            store: &store::store_to_write(global)?,
            pack: seekable(&self.file)?,
            strategy: match self.strategy {
                StrategyName::Skip => Strategy::Skip,
                StrategyName::Overwrite => Strategy::Overwrite,
            },
            attachments: self.attachments.as_deref(),
            wait: self.wait.duration(),
        })?;
        global.print_list(&mut report)?;
        Ok(Status::Success)
    }

    fn describe(name: &str, all: &mut Vec<Described>) {
        let refused_options = &[RefusedOptions {
            options: &["refresh"],
            reason: "its documents come from the pack",
            hint: "",
        }];
        all.push(Described { refused_options, ..described::<IngestReport>(name) });
    }
}

impl AnyCommand for CopyArgs {
    fn run(&self, global: &Global) -> Result<Status> {
        global.has_room_for_report()?;
        let store = |name: &PathBuf| Location::named(name.clone())?.store(global);
        let (from, to) = (store(&self.from)?, store(&self.to)?);
        if global.refresh {
            store::refresh(&from, Paths::All)?;
        }
        let bar = Bar::new();
        let report = ingest::copy(&from, &to, self.wait.duration(), &bar);
        bar.clear();
        global.print_list(&mut report?)?;
        Ok(Status::Success)
    }

    fn describe(name: &str, all: &mut Vec<Described>) {
        let refused_options =
            &[RefusedOptions { options: &["db"], reason: "FROM and TO name the stores", hint: "" }];
        all.push(Described { refused_options, ..described::<IngestReport>(name) });
    }
}

/// Returns a file that can be read twice. Standard input and pipes are copied to a temporary file.
fn seekable(path: &Path) -> Result<File> {
    let named = |error| Error::io(path, error);
    let mut source: Box<dyn io::Read> = if path == Path::new("-") {
        Box::new(io::stdin().lock())
    } else {
        let file = File::open(path).map_err(named)?;
        if file.metadata().map_err(named)?.is_file() {
            return Ok(file);
        }
        Box::new(file)
    };
    let mut file = tempfile::tempfile().map_err(named)?;
    io::copy(&mut source, &mut file).map_err(named)?;
    file.rewind().map_err(named)?;
    Ok(file)
}
