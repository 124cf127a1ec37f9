//! Paths of files: real ones, and those relative to the root.
//!
//! Invariant: a path relative to the root uses `/` and is UTF-8.

use std::borrow::Cow;
use std::fmt::Display;
use std::path::{Component, Path, PathBuf};

use crate::error::{Error, ErrorKind, Result};
use crate::message::{Message, message};

/// Whether `path` is `scope` or is below it. Every path is below "".
pub(crate) fn is_at_or_below(path: &str, scope: &str) -> bool {
    scope.is_empty()
        || path.strip_prefix(scope).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Whether `path`, relative to `root`, is really below it: it has no `..`, and no folder on the way is a
/// symbolic link.
pub(crate) fn is_really_below(root: &Path, path: &str) -> bool {
    let full = root.join(path);
    let parts_are_names =
        Path::new(path).components().all(|part| matches!(part, Component::Normal(_)));
    let folder = if path.is_empty() { Some(root) } else { full.parent() };
    parts_are_names
        && folder.is_some_and(|folder| folder.canonicalize().is_ok_and(|real| real == folder))
}

/// Returns `root` as it is stored: relative to the folder of the file `store`, with `/`; "." if it is that folder.
/// Without a store file it is absolute. A store that has no root yet gets the folder of the file.
pub(crate) fn root_from_store(root: &Path, store: Option<&Path>) -> Result<String> {
    let Some(store) = store else { return Ok(root.display().to_string()) };
    if root.as_os_str().is_empty() {
        return Ok(".".to_owned());
    }
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

/// Returns the file whose folder the folders of collections are relative to: the file `store`, or any one in the `root`
/// of a store that is not a file.
fn origin<'a>(store: Option<&'a Path>, root: &Path) -> Cow<'a, Path> {
    store.map_or_else(|| root.join("x").into(), Cow::from)
}

/// Returns `folder`, that of a collection, as it is stored. `root` is the folder without a name.
pub(crate) fn collection_root(folder: &Path, store: Option<&Path>, root: &Path) -> Result<String> {
    root_from_store(folder, Some(&origin(store, root)))
}

/// Returns the folder of a collection that is stored as `stored`. An absolute one is the same for every root.
pub(crate) fn collection_folder(stored: &str, store: Option<&Path>, root: &Path) -> PathBuf {
    root_folder(&origin(store, root), stored)
}

/// Returns the folder that is stored as `root`, which is relative to the folder of the file `store`.
pub(crate) fn root_folder(store: &Path, root: &str) -> PathBuf {
    let folder = store.parent().unwrap_or_else(|| Path::new(""));
    let joined = if root == "." { folder.to_owned() } else { folder.join(root) };
    canonical(&joined).unwrap_or(joined)
}

/// Returns the bounds of the paths below `folder`: they are greater than the first and less than the second.
pub(crate) fn bounds_below(folder: &str) -> (String, String) {
    // `0` is the character after `/`.
    (format!("{folder}/"), format!("{folder}0"))
}

fn not_utf8(path: &Path) -> Error {
    Error::new(ErrorKind::Usage, format!("{}: its name is not UTF-8", path.display()))
        .with_hint("rename it")
}

/// Returns `path` relative to `root`, with `/`. Fails if it is outside the root or not UTF-8; the error names it as it
/// was `written`.
pub(crate) fn relative(root: &Path, path: &Path, written: impl Display) -> Result<String> {
    let Ok(below) = path.strip_prefix(root) else {
        let written = written.to_string();
        let message = format!("{written} is outside the root of the store");
        let other = Message::from(
            "`mdsel status` shows the root; create another store for it with --db, or one with a wider --root",
        );
        // Answers print paths from the root, and commands take them from the current folder.
        let is_path = |part: Component<'_>| matches!(part, Component::Normal(_));
        let hint = if Path::new(&written).components().all(is_path) {
            message!(
                "in the root of the store, the path is {}; {}",
                root.join(&written).display().to_string(),
                other
            )
        } else {
            other
        };
        return Err(Error::new(ErrorKind::OutsideRoot, message).with_hint(hint));
    };
    let parts: Option<Vec<&str>> =
        below.components().map(|part| part.as_os_str().to_str()).collect();
    parts.map(|parts| parts.join("/")).ok_or_else(|| not_utf8(path))
}

/// Resolves the symbolic links in the existing part of `path`, and appends the missing part, which must
/// have no `..`.
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
                (Some(parent), Some(name)) if leads_nowhere(&error) => {
                    // A link that leads nowhere exists, but counts as the missing part.
                    missing.push(name);
                    existing = parent;
                }
                _ => return Err(Error::io(path, error)),
            },
        }
    }
}

/// Whether `error` says that there is nothing at a path: nothing of this name, a link to nothing or to itself, or a name
/// that no file can have.
fn leads_nowhere(error: &std::io::Error) -> bool {
    use rustix::io::Errno;
    let nowhere = [Errno::NOENT, Errno::NOTDIR, Errno::LOOP, Errno::NAMETOOLONG];
    Errno::from_io_error(error).is_some_and(|error| nowhere.contains(&error))
}

/// Resolves symbolic links in the path of a store, so that the store has one lock and one root under every
/// name. The store need not exist, but a symbolic link in its place must lead to it: it may come from somebody else, and
/// would make a store in any folder.
pub(crate) fn resolved(path: &Path) -> Result<PathBuf> {
    if let Ok(target) = std::fs::read_link(path) {
        if path.metadata().is_err_and(|error| leads_nowhere(&error)) {
            let message = format!(
                "{}: it is a symbolic link to {}, where there is no store",
                path.display(),
                target.display()
            );
            return Err(Error::new(ErrorKind::StoreNotFound, message).with_hint(
                "remove the link, or make the store at its target with `mdsel ingest --db FILE`",
            ));
        }
        return path.canonicalize().map_err(|error| Error::io(path, error));
    }
    canonical(path)
}

#[cfg(test)]
mod tests {
    use super::is_at_or_below;

    #[test]
    fn scopes_match_whole_path_components() {
        assert!(is_at_or_below("docs/a.md", "docs"));
        assert!(is_at_or_below("docs", "docs"));
        assert!(is_at_or_below("anything", ""));
        assert!(!is_at_or_below("docs-old/a.md", "docs"));
    }
}
