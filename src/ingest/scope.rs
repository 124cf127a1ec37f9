//! The part of the corpus that an ingest covers, and the root to which all paths are relative.
//!
//! Invariant: every scope is the root or below it; no document outside the scopes is added, changed or
//! removed.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::{Paths, Request};
use crate::corpus::{canonical, is_at_or_below, is_really_below, relative};
use crate::error::{Error, ErrorKind, Result};
use crate::store::StoredDocument;

/// The root, and the paths below it that an ingest covers.
#[derive(Debug)]
pub(super) struct Scopes {
    root: PathBuf,
    /// Paths relative to the root, with `/`; "" is the whole root. No path is below another one.
    paths: BTreeSet<String>,
    /// The paths that the user named. Each must exist, or have documents in the store to remove.
    must_exist: Vec<String>,
}

/// The folders above `path`, relative to the root; the root itself is "".
fn above(path: &str) -> impl Iterator<Item = &str> {
    let root = (!path.is_empty()).then_some("");
    root.into_iter().chain(path.match_indices('/').filter_map(|(end, _)| path.get(..end)))
}

/// Returns the error for a request to change the root of a store.
pub(super) fn other_root(root: &Path) -> Error {
    Error::new(ErrorKind::Usage, format!("the root of this store is {}", root.display()))
        .with_hint("leave out --root, or create another store with --db")
}

impl Scopes {
    /// Returns the scopes of `request`. `stored_root` is the root of the store, if it has one.
    pub(super) fn new(request: &Request<'_>, stored_root: Option<&Path>) -> Result<Self> {
        let given_root =
            request.root.map(|root| root.canonicalize().map_err(|error| Error::io(root, error)));
        let given = match request.paths {
            Paths::Given(paths) => {
                paths.iter().map(|path| canonical(path)).collect::<Result<Vec<_>>>()?
            }
            Paths::All if stored_root.is_none() && request.root.is_none() => {
                vec![canonical(request.folder)?]
            }
            Paths::All | Paths::Stored(_) => Vec::new(),
        };
        let root = match (stored_root, given_root.transpose()?) {
            (Some(stored), Some(given)) if stored != given => return Err(other_root(stored)),
            (Some(stored), _) => stored.to_owned(),
            (None, Some(given)) => given,
            (None, None) => new_root(request.store.path(), &given),
        };
        if !root.is_dir() {
            return Err(Error::new(
                ErrorKind::Io,
                format!("{}: the root of this store does not exist", root.display()),
            )
            .with_hint("run the ingest where the files are; queries work without them"));
        }
        let named = match request.paths {
            Paths::All if given.is_empty() => vec![String::new()],
            Paths::All | Paths::Given(_) => {
                given.iter().map(|path| relative(&root, path)).collect::<Result<Vec<_>>>()?
            }
            Paths::Stored(documents) => documents.to_vec(),
        };
        let all: BTreeSet<String> = named.iter().cloned().collect();
        let is_highest = |path: &&String| !above(path).any(|above| all.contains(above));
        let paths = all.iter().filter(is_highest).cloned().collect();
        let must_exist = if matches!(request.paths, Paths::Given(_)) { named } else { Vec::new() };
        Ok(Self { root, paths, must_exist })
    }

    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// Whether the scope is the whole root.
    pub(super) fn is_whole(&self) -> bool {
        self.paths.contains("")
    }

    pub(super) fn contain(&self, path: &str) -> bool {
        self.paths.contains(path) || above(path).any(|above| self.paths.contains(above))
    }

    /// The scopes that exist and are really below the root.
    pub(super) fn existing(&self) -> Vec<String> {
        let exists = |path: &&String| {
            self.root.join(path).symlink_metadata().is_ok() && is_really_below(&self.root, path)
        };
        self.paths.iter().filter(exists).cloned().collect()
    }

    /// Fails if a named path does not exist and this ingest removes no document of it from the store.
    pub(super) fn refuse_missing(&self, removed: &[StoredDocument]) -> Result<()> {
        for path in &self.must_exist {
            let full = self.root.join(path);
            let is_forgotten = removed.iter().any(|document| is_at_or_below(&document.path, path));
            if full.symlink_metadata().is_err() && !is_forgotten {
                return Err(Error::new(
                    ErrorKind::Io,
                    format!("{path}: no such file or folder, and no such document in the store"),
                )
                .with_hint("check the path, or run `mdsel ingest` to refresh the whole root"));
            }
        }
        Ok(())
    }
}

/// The root of a new store: its own folder if that contains every path, else the deepest folder that
/// contains them all.
fn new_root(store: Option<&Path>, paths: &[PathBuf]) -> PathBuf {
    let folder = store.and_then(Path::parent).map(Path::to_owned).unwrap_or_default();
    if store.is_some() && paths.iter().all(|path| path.starts_with(&folder)) {
        return folder;
    }
    let folder_of = |path: &PathBuf| {
        if path.is_dir() { Some(path.clone()) } else { path.parent().map(Path::to_owned) }
    };
    let mut common = paths.first().and_then(folder_of).unwrap_or(folder);
    for path in paths {
        while !path.starts_with(&common) {
            if !common.pop() {
                break;
            }
        }
    }
    common
}
