//! The owner of an edit in progress: the folder with the files that it changes.
//!
//! A store on a server can be used from several machines, each with the files in a folder of its own. Invariant: an
//! interrupted edit is finished only in the folder in which it began.

use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

/// Returns the name of the owner of edits of the files below `root`; `None` if there is no such folder. It has the
/// number of the folder in its file system, because the paths on two machines may be equal.
pub(super) fn owner_of(root: &Path) -> Option<String> {
    let folder = root.canonicalize().ok()?;
    let metadata = folder.metadata().ok().filter(std::fs::Metadata::is_dir)?;
    Some(format!("{} {}", metadata.ino(), folder.display()))
}

/// Returns the folder that an owner names.
pub(super) fn folder_of(owner: &str) -> &str {
    owner.split_once(' ').map_or(owner, |(_, folder)| folder)
}

/// Returns whether the folder that an owner names is on this machine, so that the edit can be finished.
pub(super) fn is_here(owner: &str) -> bool {
    owner_of(Path::new(folder_of(owner))).is_some_and(|own| own == owner)
}

/// Returns whether an edit with this owner is to be finished by a process with the files below `root`. Older versions of
/// mdsel noted no owner.
pub(super) fn is_owned(owner: Option<&str>, root: &Path) -> bool {
    match owner {
        None => true,
        Some(owner) => owner_of(root).is_some_and(|own| own == owner),
    }
}
