//! Finds the store, and updates it before a command reads it.

use std::path::{Path, PathBuf};

use super::args::Global;
use super::note;
use crate::error::{Error, ErrorKind, Result};
use crate::ingest::{self, Paths};
use crate::query::Library;
use crate::store::{Purpose, Reader, Store};
use crate::trust::Trust;

/// The default file name of a store.
const FILE_NAME: &str = ".mdsel.db";

/// The current folder.
pub(super) fn current_folder() -> Result<PathBuf> {
    std::env::current_dir().map_err(|error| Error::io(Path::new("."), error))
}

/// Returns the store that `--db` or `MDSEL_DB` names, or the nearest one in this folder or above,
/// if any.
pub(super) fn find(global: &Global) -> Result<Option<PathBuf>> {
    find_named(global.db.as_deref())
}

/// Does the same for the value of `--db`.
pub(super) fn find_named(named: Option<&Path>) -> Result<Option<PathBuf>> {
    let folder = current_folder()?;
    let named = named.map(Path::to_owned).or_else(|| {
        std::env::var_os("MDSEL_DB").filter(|path| !path.is_empty()).map(PathBuf::from)
    });
    if let Some(path) = named {
        return Ok(Some(folder.join(path)));
    }
    Ok(folder.ancestors().map(|folder| folder.join(FILE_NAME)).find(|path| path.exists()))
}

/// Returns the path of the store for display, relative to the current folder if possible.
pub(super) fn shown(global: &Global) -> String {
    let (Ok(folder), Ok(Some(path))) = (current_folder(), find(global)) else {
        return FILE_NAME.to_owned();
    };
    for (ups, above) in folder.ancestors().enumerate() {
        if above.parent().is_none() {
            break;
        }
        if let Ok(below) = path.strip_prefix(above) {
            return format!("{}{}", "../".repeat(ups), below.display());
        }
    }
    path.display().to_string()
}

/// Returns the path at which a store is created if none was found.
fn new_path() -> Result<PathBuf> {
    Ok(current_folder()?.join(FILE_NAME))
}

/// Returns the trust file of the user. A relative folder is ignored: it would depend on the current
/// folder, whose owner may be another user.
pub(super) fn trust() -> Trust {
    let folder =
        |name| std::env::var_os(name).map(PathBuf::from).filter(|folder| folder.is_absolute());
    let configuration =
        folder("XDG_CONFIG_HOME").or_else(|| folder("HOME").map(|home| home.join(".config")));
    Trust::File(configuration.map(|folder| folder.join("mdsel/trusted")))
}

/// Returns the path of the store to read. Fails with `STORE_NOT_FOUND` if there is none.
pub(super) fn existing(global: &Global) -> Result<PathBuf> {
    find(global)?.ok_or_else(|| {
        Error::new(
            ErrorKind::StoreNotFound,
            format!("no {FILE_NAME} in this folder or one above it"),
        )
        .with_hint("create one with `mdsel ingest FOLDER`, or name one with --db")
    })
}

/// Returns the store to read.
pub(super) fn store(global: &Global) -> Result<Store> {
    Store::at(&existing(global)?, trust())
}

/// Returns the path of the store to write, which need not exist.
pub(super) fn path_to_write(global: &Global) -> Result<PathBuf> {
    match find(global)? {
        Some(path) => Ok(path),
        None => new_path(),
    }
}

/// Returns the store to write, which need not exist.
pub(super) fn store_to_write(global: &Global) -> Result<Store> {
    Store::at(&path_to_write(global)?, trust())
}

/// Opens `store` for reading, after finishing edits that were interrupted.
pub(super) fn open(store: &Store, purpose: Purpose) -> Result<Box<dyn Reader>> {
    let reader = store.reader(purpose);
    for warning in store.take_warnings() {
        note(&format!("warning: {}", warning.message));
    }
    reader
}

/// Opens the store for searches. With `--refresh`, ingests all changed files first.
pub(super) fn open_for_search(global: &Global) -> Result<Box<dyn Reader>> {
    let store = store(global)?;
    if global.refresh {
        refresh(&store, Paths::All)?;
    }
    open(&store, Purpose::Search)
}

/// Opens the store for reading. With `--refresh`, first ingests changes of the documents whose
/// paths `wanted` returns, or of all documents for `None`.
pub(super) fn open_fresh(
    global: &Global,
    wanted: impl FnOnce(&Library<'_>) -> Result<Option<Vec<String>>>,
) -> Result<Box<dyn Reader>> {
    let store = store(global)?;
    let reader = open(&store, Purpose::Read)?;
    if !global.refresh {
        return Ok(reader);
    }
    let documents = wanted(&Library::new(&*reader))?;
    // An open reader would keep the writer from truncating the write-ahead log.
    drop(reader);
    refresh(&store, documents.as_ref().map_or(Paths::All, |documents| Paths::Stored(documents)))?;
    open(&store, Purpose::Read)
}

/// Ingests changes of documents of `store`.
fn refresh(store: &Store, paths: Paths<'_>) -> Result<()> {
    let report = ingest::refresh(store, paths)?;
    for skipped in &report.skipped {
        note(&format!("skipped {}: {}", skipped.file, skipped.reason));
    }
    for warning in &report.warnings {
        note(&format!("warning: {}", warning.message));
    }
    Ok(())
}
