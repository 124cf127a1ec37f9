//! `dump`, `load` and `copy`: write a pack to standard output, read one from a file or standard input, and
//! copy a store.

use std::fs::File;
use std::io::{self, Seek as _};
use std::path::{Path, PathBuf};

use super::args::{CopyArgs, DumpArgs, Global, LoadArgs, StrategyName};
use super::progress::Bar;
use super::store::{self, Location};
use super::{Status, finish};
use crate::error::{Error, Result};
use crate::ingest::{self, LoadRequest, Strategy};
use crate::query::{Session, dump as pack};
use crate::store::Purpose;

pub(super) fn dump(global: &Global, arguments: &DumpArgs) -> Result<Status> {
    let reader = store::open_fresh(global, Purpose::Read, |_| Ok(None))?;
    if arguments.attachments {
        // Documents come from the store, but attachments from the folder that the store names.
        store::store(global)?.check_trust(&reader.roots())?;
    }
    finish(|out| pack::dump(&Session::new(&*reader), arguments.attachments, out))?;
    Ok(Status::Success)
}

pub(super) fn load(global: &Global, arguments: &LoadArgs) -> Result<Status> {
    global.has_room_for_report()?;
    let mut report = ingest::load(LoadRequest {
        store: &store::store_to_write(global)?,
        pack: seekable(&arguments.file)?,
        strategy: match arguments.strategy {
            StrategyName::Skip => Strategy::Skip,
            StrategyName::Overwrite => Strategy::Overwrite,
        },
        attachments: arguments.attachments.as_deref(),
        wait: arguments.wait.duration(),
    })?;
    global.print_list(&mut report)?;
    Ok(Status::Success)
}

pub(super) fn copy(global: &Global, arguments: &CopyArgs) -> Result<Status> {
    global.has_room_for_report()?;
    let store = |name: &PathBuf| Location::named(name.clone())?.store(global);
    let (from, to) = (store(&arguments.from)?, store(&arguments.to)?);
    let bar = Bar::new();
    let report = ingest::copy(&from, &to, arguments.wait.duration(), &bar);
    bar.clear();
    global.print_list(&mut report?)?;
    Ok(Status::Success)
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
