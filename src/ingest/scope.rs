//! Which part of the corpus an ingest is about, and what everything is relative to.
//!
//! Invariant: every scope lies inside the root; nothing outside the scopes is added, changed or
//! removed.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use super::{Paths, Request};
use crate::error::{Error, ErrorKind, Result};
use crate::store::StoredDocument;

/// The root, and the paths below it that an ingest brings up to date.
#[derive(Debug)]
pub(super) struct Scopes {
    root: PathBuf,
    /// Relative to the root, with `/`; "" is the whole root. None lies below another.
    paths: BTreeSet<String>,
    /// Those that were named, each of which must be there or be forgotten.
    must_exist: Vec<String>,
}

/// Whether `path` is `scope` or lies below it; "" is above everything.
pub(super) fn is_at_or_below(path: &str, scope: &str) -> bool {
    scope.is_empty()
        || path.strip_prefix(scope).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// The folders that `path` lies in, relative to the root, which is "".
fn above(path: &str) -> impl Iterator<Item = &str> {
    let root = (!path.is_empty()).then_some("");
    root.into_iter().chain(path.match_indices('/').filter_map(|(end, _)| path.get(..end)))
}

/// Whether `path`, relative to `root`, lies where it says: no part goes up, and the folder that holds
/// it is no symbolic link's.
pub(crate) fn is_really_below(root: &Path, path: &str) -> bool {
    let full = root.join(path);
    let parts_are_names =
        Path::new(path).components().all(|part| matches!(part, Component::Normal(_)));
    let folder = if path.is_empty() { Some(root) } else { full.parent() };
    parts_are_names
        && folder.is_some_and(|folder| folder.canonicalize().is_ok_and(|real| real == folder))
}

/// The refusal to move a root.
pub(super) fn other_root(root: &Path) -> Error {
    Error::new(ErrorKind::Usage, format!("the root of this store is {}", root.display()))
        .with_hint("leave --root out, or make another store with --db")
}

/// `root` relative to the folder of `store`, with `/`.
pub(crate) fn root_from_store(root: &Path, store: &Path) -> Result<String> {
    let folder = store.parent().unwrap_or_else(|| Path::new(""));
    let from: Vec<Component<'_>> = folder.components().collect();
    let to: Vec<Component<'_>> = root.components().collect();
    let common = from.iter().zip(&to).take_while(|(one, other)| one == other).count();
    let mut parts = vec![".."; from.len() - common];
    for part in to.iter().skip(common) {
        parts.push(part.as_os_str().to_str().ok_or_else(|| not_utf8(root))?);
    }
    Ok(if parts.is_empty() { ".".to_owned() } else { parts.join("/") })
}

impl Scopes {
    /// The scopes of `request` in `store`, whose root is `stored_root` where it has one.
    pub(super) fn new(
        request: &Request<'_>,
        store: &Path,
        stored_root: Option<&Path>,
    ) -> Result<Self> {
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
            (None, None) => new_root(store, &given),
        };
        if !root.is_dir() {
            return Err(Error::new(
                ErrorKind::Io,
                format!("{}: the root of this store is not there", root.display()),
            )
            .with_hint("ingest where the corpus is; the store answers without it"));
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

    /// Whether the whole root is meant.
    pub(super) fn is_whole(&self) -> bool {
        self.paths.contains("")
    }

    pub(super) fn contain(&self, path: &str) -> bool {
        self.paths.contains(path) || above(path).any(|above| self.paths.contains(above))
    }

    /// The scopes that exist, and no symbolic link on the way to them.
    pub(super) fn existing(&self) -> Vec<String> {
        let exists = |path: &&String| {
            self.root.join(path).symlink_metadata().is_ok() && is_really_below(&self.root, path)
        };
        self.paths.iter().filter(exists).cloned().collect()
    }

    /// Refuses a path that neither exists nor is forgotten by this ingest.
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

fn not_utf8(path: &Path) -> Error {
    Error::new(ErrorKind::Usage, format!("{}: its name is not UTF-8", path.display()))
        .with_hint("rename it")
}

/// `path` relative to `root`, with `/`.
pub(super) fn relative(root: &Path, path: &Path) -> Result<String> {
    let Ok(below) = path.strip_prefix(root) else {
        return Err(Error::new(
            ErrorKind::OutsideRoot,
            format!("{}: outside the root {}", path.display(), root.display()),
        )
        .with_hint("make another store for it with --db, or one with a wider --root"));
    };
    let parts: Option<Vec<&str>> =
        below.components().map(|part| part.as_os_str().to_str()).collect();
    parts.map(|parts| parts.join("/")).ok_or_else(|| not_utf8(path))
}

/// The root of a new store: its own folder where that holds every path, else the deepest folder
/// that does.
fn new_root(store: &Path, paths: &[PathBuf]) -> PathBuf {
    let folder = store.parent().unwrap_or_else(|| Path::new("")).to_owned();
    if paths.iter().all(|path| path.starts_with(&folder)) {
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

/// The path with symbolic links resolved as far as it exists; the rest, which names what is gone,
/// must not go up.
pub(crate) fn canonical(path: &Path) -> Result<PathBuf> {
    let mut missing = Vec::new();
    let mut existing = path;
    loop {
        match existing.canonicalize() {
            Ok(mut result) => {
                result.extend(missing.iter().rev());
                return Ok(result);
            }
            Err(error) => match (existing.parent(), existing.file_name()) {
                (Some(parent), Some(name))
                    if error.kind() == std::io::ErrorKind::NotFound
                        || error.kind() == std::io::ErrorKind::NotADirectory =>
                {
                    // A dangling link is there; it is looked at as what it is.
                    missing.push(name);
                    existing = parent;
                }
                _ => return Err(Error::io(path, error)),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::is_at_or_below;

    #[test]
    fn a_scope_holds_whole_components() {
        assert!(is_at_or_below("docs/a.md", "docs"));
        assert!(is_at_or_below("docs", "docs"));
        assert!(is_at_or_below("anything", ""));
        assert!(!is_at_or_below("docs-old/a.md", "docs"));
    }
}
