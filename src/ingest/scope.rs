//! Which part of the corpus an ingest is about, and what everything is relative to.
//!
//! Invariant: every scope lies inside the root; nothing outside the scopes is added, changed or
//! removed.

use std::path::{Component, Path, PathBuf};

use super::Request;
use crate::error::{Error, ErrorKind, Result};
use crate::store::StoredDocument;

/// The root, and the paths below it that an ingest brings up to date.
#[derive(Debug)]
pub(super) struct Scopes {
    root: PathBuf,
    /// Relative to the root, with `/`; "" is the whole root. None lies below another.
    paths: Vec<String>,
}

/// Whether `path` is `scope` or lies below it; "" is above everything.
pub(super) fn is_at_or_below(path: &str, scope: &str) -> bool {
    scope.is_empty()
        || path.strip_prefix(scope).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// The refusal to move a root.
pub(super) fn other_root(root: &Path) -> Error {
    Error::new(ErrorKind::Usage, format!("the root of this store is {}", root.display()))
        .with_hint("leave --root out, or make another store with --db")
}

impl Scopes {
    /// The scopes of `request` in a store whose root is `stored_root`, where it has one.
    pub(super) fn new(request: &Request<'_>, stored_root: Option<PathBuf>) -> Result<Self> {
        let given_root =
            request.root.map(|root| root.canonicalize().map_err(|error| Error::io(root, error)));
        let paths = request.paths.iter().map(|path| canonical(path)).collect::<Result<Vec<_>>>()?;
        let root = match (stored_root, given_root.transpose()?) {
            (Some(stored), Some(given)) if stored != given => return Err(other_root(&stored)),
            (Some(stored), _) => stored,
            (None, Some(given)) => given,
            (None, None) => new_root(request.store, &paths)?,
        };
        if !root.is_dir() {
            return Err(Error::new(
                ErrorKind::Io,
                format!("{}: the root of this store is not there", root.display()),
            )
            .with_hint("ingest where the corpus is; the store answers without it"));
        }
        let mut relative = Vec::new();
        for path in paths {
            let Ok(below) = path.strip_prefix(&root) else {
                return Err(Error::new(
                    ErrorKind::OutsideRoot,
                    format!("{}: outside the root {}", path.display(), root.display()),
                )
                .with_hint("make another store for it with --db, or one with a wider --root"));
            };
            let parts: Vec<_> =
                below.components().map(|part| part.as_os_str().to_string_lossy()).collect();
            relative.push(parts.join("/"));
        }
        if relative.is_empty() {
            relative.push(String::new());
        }
        relative.sort();
        let mut paths: Vec<String> = Vec::new();
        for path in relative {
            if !paths.iter().any(|above| is_at_or_below(&path, above)) {
                paths.push(path);
            }
        }
        Ok(Self { root, paths })
    }

    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// The root relative to the folder of `store`, with `/`.
    pub(super) fn root_from_store(&self, store: &Path) -> String {
        let folder = store.parent().unwrap_or_else(|| Path::new(""));
        let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
        let from: Vec<Component<'_>> = folder.components().collect();
        let to: Vec<Component<'_>> = self.root.components().collect();
        let common = from.iter().zip(&to).take_while(|(one, other)| one == other).count();
        let mut parts = vec!["..".to_owned(); from.len() - common];
        parts.extend(to.iter().skip(common).map(|part| part.as_os_str().to_string_lossy().into()));
        if parts.is_empty() { ".".to_owned() } else { parts.join("/") }
    }

    /// Whether the whole root is meant.
    pub(super) fn is_whole(&self) -> bool {
        self.paths.iter().any(String::is_empty)
    }

    pub(super) fn contain(&self, path: &str) -> bool {
        self.paths.iter().any(|scope| is_at_or_below(path, scope))
    }

    /// The scopes that exist.
    pub(super) fn existing(&self) -> Vec<String> {
        let exists = |path: &&String| self.root.join(path).symlink_metadata().is_ok();
        self.paths.iter().filter(exists).cloned().collect()
    }

    /// Refuses a path that neither exists nor is forgotten by this ingest.
    pub(super) fn refuse_missing(&self, removed: &[StoredDocument]) -> Result<()> {
        for path in &self.paths {
            let full = self.root.join(path);
            let is_forgotten = removed.iter().any(|document| is_at_or_below(&document.path, path));
            if full.symlink_metadata().is_err() && !is_forgotten {
                return Err(Error::new(
                    ErrorKind::Io,
                    format!("{path}: no such file or folder, and no such document in the store"),
                ));
            }
        }
        Ok(())
    }
}

/// The root of a new store: its own folder where that holds every path, else the deepest folder
/// that does.
fn new_root(store: &Path, paths: &[PathBuf]) -> Result<PathBuf> {
    let folder = store.parent().unwrap_or_else(|| Path::new(""));
    let folder = folder.canonicalize().map_err(|error| Error::io(folder, error))?;
    if paths.iter().all(|path| path.starts_with(&folder)) {
        return Ok(folder);
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
    Ok(common)
}

/// The path with symbolic links resolved as far as it exists; the rest, which names what is gone,
/// must not go up.
fn canonical(path: &Path) -> Result<PathBuf> {
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
