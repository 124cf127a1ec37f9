//! Finding the store, and bringing it up to date before it is asked.

use std::path::{Path, PathBuf};

use super::args::Global;
use super::remark;
use crate::edit;
use crate::error::{Error, ErrorKind, Result};
use crate::ingest::{self, Paths};
use crate::query::Library;
use crate::store::{FullText, Snapshot};
use crate::trust::Trust;

/// The name of a store that is not named.
const FILE_NAME: &str = ".mdsel.db";

/// The current folder.
pub(super) fn current_folder() -> Result<PathBuf> {
    std::env::current_dir().map_err(|error| Error::io(Path::new("."), error))
}

/// The store that is named, or the nearest one upwards; `None` where there is none.
pub(super) fn find(global: &Global) -> Result<Option<PathBuf>> {
    find_named(global.db.as_deref())
}

/// Likewise, where `--db` gave `named`.
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

/// The store as it is told to a reader: relative to the current folder where that can be.
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

/// Where a store that is not found is made.
pub(super) fn new_path() -> Result<PathBuf> {
    Ok(current_folder()?.join(FILE_NAME))
}

/// The trust file of the user. A relative folder would be one of whoever made the current one.
pub(super) fn trust() -> Trust {
    let folder =
        |name| std::env::var_os(name).map(PathBuf::from).filter(|folder| folder.is_absolute());
    let configuration =
        folder("XDG_CONFIG_HOME").or_else(|| folder("HOME").map(|home| home.join(".config")));
    Trust::File(configuration.map(|folder| folder.join("mdsel/trusted")))
}

/// The store that is there to be asked.
pub(super) fn existing(global: &Global) -> Result<PathBuf> {
    find(global)?.ok_or_else(|| {
        Error::new(
            ErrorKind::StoreNotFound,
            format!("no {FILE_NAME} in this folder or one above it"),
        )
        .with_hint("make one with `mdsel ingest FOLDER`, or name one with --db")
    })
}

/// Opens the store for reading, behind the end of an edit that was interrupted.
pub(super) fn open(global: &Global) -> Result<Snapshot> {
    let path = existing(global)?;
    let snapshot = Snapshot::open(&path)?;
    if !snapshot.has_edit_intents()? {
        return Ok(snapshot);
    }
    drop(snapshot);
    settle(&path);
    Snapshot::open(&path)
}

/// Ends edits that were interrupted, where there are any; what the store lacks is told by who needs it.
pub(super) fn settle_where_needed(path: &Path) {
    let has_intents =
        Snapshot::open(path).and_then(|snapshot| snapshot.has_edit_intents()).unwrap_or(false);
    if has_intents {
        settle(path);
    }
}

/// Ends edits that were interrupted; where that cannot be done now, the store as it is still answers.
fn settle(path: &Path) {
    match edit::settle(path, &trust()) {
        Ok(warnings) => {
            for warning in warnings {
                remark(&format!("warning: {}", warning.message));
            }
        }
        Err(error) => {
            remark(&format!("warning: an edit that was interrupted is not ended yet: {error}"));
        }
    }
}

/// Opens the store and its full-text index; where `--refresh` asks for it, brings all of it up to
/// date first.
pub(super) fn open_full_text(global: &Global) -> Result<(Snapshot, FullText)> {
    let path = existing(global)?;
    if global.refresh {
        refresh(&path, Paths::All)?;
    }
    let (snapshot, full_text) = FullText::open(&path)?;
    if !snapshot.has_edit_intents()? {
        return Ok((snapshot, full_text));
    }
    drop((snapshot, full_text));
    settle(&path);
    FullText::open(&path)
}

/// Opens the store for reading; where `--refresh` asks for it, brings first up to date what `wanted`
/// names: documents by path, or `None` for all.
pub(super) fn open_fresh(
    global: &Global,
    wanted: impl FnOnce(&Library<'_>) -> Result<Option<Vec<String>>>,
) -> Result<Snapshot> {
    let snapshot = open(global)?;
    if !global.refresh {
        return Ok(snapshot);
    }
    let documents = wanted(&Library::new(&snapshot))?;
    let store = snapshot.path().to_owned();
    // A reader of the old state would keep the writer from emptying its log.
    drop(snapshot);
    refresh(&store, documents.as_ref().map_or(Paths::All, |documents| Paths::Stored(documents)))?;
    open(global)
}

/// Brings documents of the store at `store` up to date.
fn refresh(store: &Path, paths: Paths<'_>) -> Result<()> {
    let report = ingest::refresh(store, paths, &trust())?;
    for skipped in &report.skipped {
        remark(&format!("skipped {}: {}", skipped.file, skipped.reason));
    }
    for warning in &report.warnings {
        remark(&format!("warning: {}", warning.message));
    }
    Ok(())
}
