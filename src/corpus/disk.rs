//! Looks up files and folders below the root, for links to files that are not documents.
//!
//! Invariant: no path outside the root is accessed, no symbolic link is followed, and no file is opened.

use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::io::ErrorKind;
use std::os::fd::OwnedFd;

use rustix::fs::{AtFlags, Dir, FileType};
use rustix::io::Errno;

use super::beneath::{open_below, open_root};
use super::{Root, Roots};
use crate::limits;
use crate::links::{OnDisk, file_name};
use crate::markdown::slug::fold;

/// The files and folders below the roots of a store.
#[derive(Debug, Default)]
pub(crate) struct Disk {
    roots: Vec<OpenRoot>,
}

/// The files and folders below one root.
#[derive(Debug, Default)]
struct OpenRoot {
    root: Root,
    /// `None` if the root cannot be opened.
    opened: Option<OwnedFd>,
    /// The folder of the last lookup, with its path, or the state of everything below that path.
    last: RefCell<Option<(String, Result<OwnedFd, OnDisk>)>>,
    names: OnceCell<Option<Names>>,
}

/// The files below a root.
#[derive(Debug, Default)]
struct Names {
    /// Their paths by their case-folded names.
    paths: HashMap<String, Vec<String>>,
    /// Whether a folder could not be read, so that files may be missing.
    has_unread: bool,
}

impl Disk {
    /// Looks up files below `roots`, which need not exist.
    pub(crate) fn new(roots: &Roots) -> Self {
        let open = |root: &Root| OpenRoot {
            opened: open_root(&root.folder).ok(),
            root: root.clone(),
            ..OpenRoot::default()
        };
        Self { roots: roots.with_documents().map(open).collect() }
    }

    /// Returns what is at `path`, which has no `.` and `..`; "" is the root without a name, and the name of a
    /// collection is its root. Nothing is outside of the roots.
    pub(crate) fn at(&self, path: &str) -> OnDisk {
        let first = path.split_once('/').map_or(path, |(first, _)| first);
        let root_of = |name| self.roots.iter().find(|root| root.root.name == name);
        match root_of(first).or_else(|| root_of("")) {
            Some(root) if path == root.root.name && root.opened.is_some() => OnDisk::Folder,
            Some(root) => root.at(root.root.below(path)),
            None => OnDisk::Missing,
        }
    }

    /// Returns the paths of the files whose path equals `path` or ends with `/` and `path`, ignoring case. `None`
    /// if a root cannot be opened or has more than [`limits::MAX_FILES_LISTED`] entries, or if there are none and a folder
    /// cannot be read.
    pub(crate) fn ending_in(&self, path: &str) -> Option<Vec<String>> {
        let mut found = Vec::new();
        let mut has_unread = false;
        for root in &self.roots {
            let names = root.names.get_or_init(|| names_below(root.opened.as_ref()?)).as_ref()?;
            has_unread |= names.has_unread;
            let below = names.ending_in(root.root.below(path));
            found.extend(below.iter().map(|below| root.root.path_of(below)));
        }
        (!found.is_empty() || !has_unread).then_some(found)
    }
}

impl OpenRoot {
    fn at(&self, path: &str) -> OnDisk {
        let Some(root) = &self.opened else { return OnDisk::Unknown };
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        if path.is_empty() {
            return OnDisk::Folder;
        }
        if folder.is_empty() {
            return entry(root, name);
        }
        let mut last = self.last.borrow_mut();
        let known = last.take_if(|(known, _)| known == folder);
        let (_, opened) =
            last.insert(known.unwrap_or_else(|| (folder.to_owned(), folder_at(root, folder))));
        match opened {
            Ok(opened) => entry(opened, name),
            Err(state) => *state,
        }
    }
}

impl Names {
    fn ending_in(&self, path: &str) -> Vec<String> {
        let path = fold(path);
        let name = file_name(&path);
        let has_path = |other: &&String| {
            fold(other)
                .strip_suffix(&path)
                .is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
        };
        let mut found: Vec<String> =
            self.paths.get(name).into_iter().flatten().filter(has_path).cloned().collect();
        found.sort();
        found
    }
}

/// Returns the state of the entry `name` in `folder`.
fn entry(folder: &OwnedFd, name: &str) -> OnDisk {
    match rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(state) if FileType::from_raw_mode(state.st_mode).is_dir() => OnDisk::Folder,
        Ok(_) => OnDisk::File,
        Err(Errno::NOENT | Errno::NOTDIR | Errno::NAMETOOLONG | Errno::INVAL) => OnDisk::Missing,
        Err(_) => OnDisk::Unknown,
    }
}

/// Opens the folder at `path`. If that fails, returns the state of everything below `path`.
fn folder_at(root: &OwnedFd, path: &str) -> Result<OwnedFd, OnDisk> {
    open_below(root, path).map_err(|error| match Errno::from_io_error(&error) {
        Some(Errno::NOENT | Errno::NOTDIR | Errno::NAMETOOLONG | Errno::INVAL) => OnDisk::Missing,
        // A link may lead out of the root.
        _ => OnDisk::Unknown,
    })
}

/// The files below `root`; `None` if there are more than [`limits::MAX_FILES_LISTED`] entries.
fn names_below(root: &OwnedFd) -> Option<Names> {
    let mut names = Names::default();
    let mut count = 0;
    let mut folders = vec![String::new()];
    while let Some(path) = folders.pop() {
        let entries = match open_below(root, &path).and_then(|opened| Ok(Dir::read_from(&opened)?))
        {
            Ok(entries) => entries,
            Err(error) => {
                names.has_unread |= error.kind() != ErrorKind::NotFound;
                continue;
            }
        };
        for entry in entries {
            let Ok(entry) = entry else {
                names.has_unread = true;
                break;
            };
            let Ok(name) = entry.file_name().to_str() else { continue };
            if matches!(name, "." | ".." | ".git") {
                continue;
            }
            count += 1;
            if count > limits::MAX_FILES_LISTED {
                return None;
            }
            let below = if path.is_empty() { name.to_owned() } else { format!("{path}/{name}") };
            if entry.file_type().is_dir() {
                folders.push(below);
            } else {
                names.paths.entry(fold(name)).or_default().push(below);
            }
        }
    }
    Some(names)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::corpus::IngestOptions;

    #[test]
    fn paths_outside_the_root_are_not_accessed() {
        let place = tempfile::tempdir().unwrap();
        let root = place.path().join("root");
        std::fs::create_dir_all(root.join("in/deep")).unwrap();
        std::fs::create_dir(place.path().join("out")).unwrap();
        std::fs::write(place.path().join("out/secret"), "x").unwrap();
        std::fs::write(root.join("in/deep/Pic.PNG"), "x").unwrap();
        std::os::unix::fs::symlink("../out", root.join("link")).unwrap();
        let disk = |root: &Path| Disk::new(&Roots::of_store(None, root, &IngestOptions::default()));
        let gone = disk(&place.path().join("none"));
        let disk = disk(&root);
        for (path, expected) in [
            ("", OnDisk::Folder),
            ("in", OnDisk::Folder),
            ("in/deep/Pic.PNG", OnDisk::File),
            ("in/deep/pic.png", OnDisk::Missing),
            ("in/deep/Pic.PNG/x", OnDisk::Missing),
            ("in/none/x", OnDisk::Missing),
            ("link", OnDisk::File),
            ("link/secret", OnDisk::Unknown),
            ("link/none", OnDisk::Unknown),
        ] {
            assert_eq!(disk.at(path), expected, "{path}");
        }
        assert_eq!(disk.ending_in("deep/pic.png"), Some(vec!["in/deep/Pic.PNG".to_owned()]));
        assert_eq!(disk.ending_in("eep/pic.png"), Some(Vec::new()));
        assert_eq!(disk.ending_in("secret"), Some(Vec::new()));
        let mut names = names_below(disk.roots[0].opened.as_ref().unwrap()).unwrap();
        assert!(!names.has_unread);
        names.has_unread = true;
        let roots = [OpenRoot { names: OnceCell::from(Some(names)), ..OpenRoot::default() }];
        let partial = Disk { roots: roots.into() };
        assert_eq!(partial.ending_in("pic.png"), Some(vec!["in/deep/Pic.PNG".to_owned()]));
        assert_eq!(partial.ending_in("secret"), None, "it may be in the folder that is not read");
        assert_eq!((gone.at("in"), gone.ending_in("x")), (OnDisk::Unknown, None));
    }
}
