//! The folders whose files are the documents of a store.
//!
//! One folder has no name, and the paths of its documents are relative to it. Each other one is a collection: the
//! paths of its documents begin with its name. Invariant: each path of a document means one file, in one folder.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;
use std::io::{self, Read as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use super::beneath::{Files, open_root};
use super::paths::{collection_folder, is_really_below, relative};
use super::walk::{Walk, excluded, left_out};
use super::{FileHandle, IngestOptions};
use crate::error::{Error, ErrorKind, Result};
use crate::limits;
use crate::links::{SiteRoot, file_name, folder_of, join, normalized};
use crate::message::{Message, message};

/// A folder of documents.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Root {
    /// The name of the collection; empty for the folder without a name.
    pub name: String,
    /// The folder, absolute. It may not exist.
    pub folder: PathBuf,
    /// Which of its files are documents.
    pub options: IngestOptions,
}

/// The folders of a store.
#[derive(Clone, Debug, Default)]
pub struct Roots {
    /// The folder without a name comes first, then the collections by name.
    all: Vec<Root>,
    /// Whether only the files of collections are documents. The folder without a name may be above theirs.
    only_collections: bool,
}

impl Root {
    /// Returns the path of a document, relative to this folder.
    pub(crate) fn below<'a>(&self, path: &'a str) -> &'a str {
        let below = path.strip_prefix(self.name.as_str()).and_then(|rest| rest.strip_prefix('/'));
        below.filter(|_| !self.name.is_empty()).unwrap_or(path)
    }

    /// Returns the path of a document by its path in this folder.
    pub(crate) fn path_of(&self, below: &str) -> String {
        match (self.name.as_str(), below) {
            ("", below) => below.to_owned(),
            (name, "") => name.to_owned(),
            (name, below) => format!("{name}/{below}"),
        }
    }

    /// Returns the inode of the folder; `None` if it cannot be read.
    pub(crate) fn inode(&self) -> Option<u64> {
        self.folder.metadata().ok().map(|metadata| metadata.ino())
    }
}

impl Roots {
    /// Returns the folders of the store file `store`; `None` for a store that is not a file. `folder` is the folder
    /// without a name.
    pub(crate) fn of_store(store: Option<&Path>, folder: &Path, options: &IngestOptions) -> Self {
        let unnamed = Root {
            name: String::new(),
            folder: folder.to_owned(),
            options: IngestOptions { collections: BTreeMap::new(), ..options.clone() },
        };
        let collections = options.collections.iter().map(|(name, collection)| Root {
            name: name.clone(),
            folder: collection_folder(&collection.root, store, folder),
            options: collection.options.clone(),
        });
        Self {
            all: std::iter::once(unnamed).chain(collections).collect(),
            only_collections: options.only_collections,
        }
    }

    /// Returns the folder of the document at `path`, and the path relative to it.
    pub(crate) fn of<'a>(&self, path: &'a str) -> (&Root, &'a str) {
        let root = self.collection(first(path)).unwrap_or_else(|| self.unnamed());
        (root, root.below(path))
    }

    /// Fails if `bytes` is more than the file of the document at `path` may have.
    pub(crate) fn check_size(&self, path: &str, bytes: u64) -> Result<()> {
        let (root, _) = self.of(path);
        let max = root.options.max_file_bytes;
        if bytes <= max {
            return Ok(());
        }
        let of_collection = match root.name.as_str() {
            "" => "".into(),
            name => message!("--collection {}", name),
        };
        let message = format!("{path}: {bytes} bytes; --max-file-size is {max}");
        Err(Error::new(ErrorKind::Limit, message).with_hint(message!(
            "raise it with `mdsel ingest {} --max-file-size {}`",
            of_collection,
            bytes
        )))
    }

    /// Returns the absolute path of the file of the document at `path`.
    pub(crate) fn file(&self, path: &str) -> PathBuf {
        let (root, below) = self.of(path);
        root.folder.join(below)
    }

    /// Returns whether anything is in the place of the file of the document at `path`.
    pub(crate) fn has_entry(&self, path: &str) -> bool {
        self.file(path).symlink_metadata().is_ok()
    }

    /// Returns the absolute path of the file of the document at `path`, without the `/` at its beginning. Returns
    /// `None` if it is not UTF-8.
    pub(crate) fn on_disk(&self, path: &str) -> Option<String> {
        let (root, below) = self.of(path);
        Some(normalized(root.folder.to_str()?, below))
    }

    /// Returns the paths of two documents on disk, like [`Self::on_disk`], if they are in different folders.
    pub(crate) fn apart_on_disk(&self, one: &str, other: &str) -> Option<(String, String)> {
        let is_apart = self.of(one).0.name != self.of(other).0.name;
        is_apart.then(|| self.on_disk(one).zip(self.on_disk(other))).flatten()
    }

    /// Returns the path of the document or file to which the relative path `link` of the document at `source` leads on
    /// disk. Returns `None` if that is below none of the folders, or if the path stays in the folder of the source.
    pub(crate) fn across(&self, source: &str, link: &str) -> Option<String> {
        if self.collections().is_empty() || link.starts_with('/') {
            return None;
        }
        let (here, below) = self.of(source);
        // It may lead out of the folder and back.
        let leaves = join(folder_of(below), link).is_none();
        let is_other = |root: &Root| leaves || root.name != here.name;
        let full = normalized(folder_of(&self.on_disk(source)?), link);
        let path = self.with_documents().filter(|root| is_other(root)).find_map(|root| {
            let folder = normalized("", root.folder.to_str()?);
            Some(root.path_of(full.strip_prefix(&folder)?.strip_prefix('/')?))
        })?;
        is_other(self.of(&path).0).then_some(path)
    }

    /// Reads the regular file at `path`, of at most `most` bytes. Follows no symbolic link below the folder.
    pub(crate) fn read(&self, path: &str, most: u64) -> io::Result<Vec<u8>> {
        let (root, below) = self.of(path);
        let folder = open_root(&root.folder)?;
        let file = Files::new(&folder).open(below)?;
        if !file.metadata()?.is_file() {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let mut bytes = Vec::new();
        file.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > most {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        Ok(bytes)
    }

    /// Returns whether the file of the document at `path` is really below its folder; see [`is_really_below`].
    pub(crate) fn is_really_below(&self, path: &str) -> bool {
        let (root, below) = self.of(path);
        is_really_below(&root.folder, below)
    }

    /// Opens the folder of the document at `path`.
    pub(crate) fn open<'a>(&self, path: &'a str) -> Result<FileHandle<'a>> {
        let (root, below) = self.of(path);
        FileHandle::open(&root.folder, below, path)
    }

    /// Opens the folder of the document at `path`, of which an interrupted edit made the innermost `made` folders; see
    /// [`FileHandle::open_made`].
    pub(crate) fn open_made<'a>(&self, path: &'a str, made: usize) -> Result<FileHandle<'a>> {
        let (root, below) = self.of(path);
        FileHandle::open_made(&root.folder, below, path, made)
    }

    /// Removes the temporary file at `path` if it exists.
    pub(crate) fn remove_temporary(&self, path: &str) {
        if let Ok(file) = self.open(path) {
            file.remove_temporary(file_name(path));
        }
    }

    /// Returns the number of folders that are missing for a file at `path`. Fails if none can be created; see
    /// [`FileHandle::check_new`].
    pub(crate) fn check_new(&self, path: &str) -> Result<usize> {
        let (root, below) = self.of(path);
        FileHandle::check_new(&root.folder, below, path)
    }

    /// Opens the folder of a document at `path`, and creates missing folders.
    pub(crate) fn make<'a>(&self, path: &'a str) -> Result<FileHandle<'a>> {
        let (root, below) = self.of(path);
        FileHandle::make(&root.folder, below, path)
    }

    /// Returns the reason why the path excludes a file from an ingest; see [`excluded`].
    pub(crate) fn excluded(&self, own_files: &[PathBuf], path: &str) -> Option<Message> {
        let (root, below) = self.of(path);
        excluded(&root.folder, own_files, &root.options, below)
    }

    /// Returns the reason why a hidden name or an ignore file excludes a file of any extension.
    pub(crate) fn concealed(&self, own_files: &[PathBuf], path: &str) -> Option<Message> {
        let (root, below) = self.of(path);
        Walk { root: &root.folder, own_files, options: &root.options }.excluded(below, false)
    }

    /// Returns the reason why an ingest skips the file at `path`; see [`left_out`].
    pub(crate) fn left_out(&self, own_files: &[PathBuf], path: &str) -> Option<Message> {
        let (root, below) = self.of(path);
        left_out(&root.folder, own_files, &root.options, below)
    }

    /// Returns the path of a file that an ingest would take, if one is in a folder of the documents at `known`, which
    /// are sorted, or in one above, and is not among them. Lists only these folders, and reads at most
    /// [`limits::MAX_ADDED_FILES_TRIED`] files.
    pub(crate) fn added_beside(&self, own_files: &[PathBuf], known: &[&str]) -> Option<String> {
        let mut of_documents: Vec<&str> = known.iter().copied().map(folder_of).collect();
        of_documents.dedup();
        let above = |folder| {
            std::iter::successors(Some(folder), |folder: &&str| {
                (!folder.is_empty()).then(|| folder_of(folder))
            })
        };
        let folders: BTreeSet<&str> = of_documents.into_iter().flat_map(above).collect();
        let in_folder = |folder: &str, name: &str| match folder {
            "" => name.to_owned(),
            folder => format!("{folder}/{name}"),
        };
        let mut added = Vec::new();
        for folder in folders {
            let any = in_folder(folder, "-");
            let (root, below) = self.of(&any);
            if root.name.is_empty() && self.only_collections {
                continue;
            }
            let Ok(entries) = root.folder.join(folder_of(below)).read_dir() else { continue };
            let names = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok());
            let names = names.filter(|name| root.options.takes(Path::new(name)));
            let paths = names.map(|name| in_folder(folder, &name));
            added.extend(paths.filter(|path| known.binary_search(&path.as_str()).is_err()));
        }
        added.sort();
        let mut added = added.into_iter().take(limits::MAX_ADDED_FILES_TRIED);
        added.find(|path| self.left_out(own_files, path).is_none())
    }

    /// Returns the folder without a name.
    pub(crate) fn unnamed(&self) -> &Root {
        static NONE: std::sync::LazyLock<Root> = std::sync::LazyLock::new(Root::default);
        self.all.first().unwrap_or(&NONE)
    }

    /// Returns the collection called `name`.
    pub(crate) fn collection(&self, name: &str) -> Option<&Root> {
        self.collections().iter().find(|root| root.name == name)
    }

    /// Returns the collections, by name.
    pub(crate) fn collections(&self) -> &[Root] {
        self.all.get(1..).unwrap_or_default()
    }

    /// Returns the folders whose files are documents: all, or the collections.
    pub(crate) fn with_documents(&self) -> impl Iterator<Item = &Root> {
        self.iter().filter(|root| !root.name.is_empty() || !self.only_collections)
    }

    /// Returns all folders.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Root> {
        self.all.iter()
    }

    /// Returns the folder that contains the absolute path `full`, and the path of the document there. Uses the folder
    /// without a name if no collection contains the path. Errors name the path as it was `written`.
    ///
    /// # Errors
    ///
    /// `OUTSIDE_ROOT` if the path is in no folder, or if its name is that of a collection.
    pub(crate) fn containing(&self, full: &Path, written: impl Display) -> Result<(&Root, String)> {
        let is_within = |root: &&Root| full.starts_with(&root.folder);
        let root = self.collections().iter().find(is_within).unwrap_or_else(|| self.unnamed());
        let path = root.path_of(&relative(&root.folder, full, &written)?);
        let (meant, _) = self.of(&path);
        if meant.name != root.name {
            let name = &meant.name;
            let message = format!("{written} is no document: {name} is the name of a collection");
            return Err(Error::new(ErrorKind::OutsideRoot, message)
                .with_hint("rename the folder, or forget the collection with --forget"));
        }
        Ok((root, path))
    }

    /// Returns the folders in which links that begin with `/` are resolved, relative to the paths of documents.
    pub(crate) fn site_roots(&self) -> Vec<SiteRoot> {
        let of_root = |root: &Root| -> Vec<SiteRoot> {
            let sites = root.options.site_roots.iter();
            sites
                .map(|site| SiteRoot { folder: root.path_of(&site.folder), ..site.clone() })
                .collect()
        };
        self.all.iter().flat_map(of_root).collect()
    }

    /// Returns [`Self::site_roots`] and the folders of the collections, to which their own links that begin with `/`
    /// are relative.
    pub(crate) fn link_roots(&self) -> Vec<SiteRoot> {
        let of_collection =
            |root: &Root| SiteRoot { folder: root.name.clone(), prefix: String::new() };
        let mut all = self.site_roots();
        all.extend(self.collections().iter().map(of_collection));
        all
    }
}

/// Returns the first component of a path that has several.
fn first(path: &str) -> &str {
    path.split_once('/').map_or(path, |(first, _)| first)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::corpus::Collection;

    #[test]
    fn a_path_means_a_file_in_one_folder() {
        let collection =
            Collection { root: "../wiki".to_owned(), options: IngestOptions::default() };
        let options = IngestOptions {
            collections: [("wiki".to_owned(), collection)].into(),
            ..IngestOptions::default()
        };
        let store = Path::new("/a/docs/.mdsel.db");
        let roots = Roots::of_store(Some(store), Path::new("/a/docs"), &options);
        for (path, name, below) in [
            ("x.md", "", "x.md"),
            ("wiki/x.md", "wiki", "x.md"),
            ("wiki/a/x.md", "wiki", "a/x.md"),
            ("wiki2/x.md", "", "wiki2/x.md"),
            ("a/wiki/x.md", "", "a/wiki/x.md"),
        ] {
            let (root, found) = roots.of(path);
            assert_eq!((root.name.as_str(), found), (name, below), "{path}");
            assert_eq!(root.path_of(below), path);
        }
        let (root, path) =
            roots.containing(Path::new("/a/docs/../wiki/y.md"), "/a/docs/../wiki/y.md").unwrap();
        assert_eq!((root.name.as_str(), path.as_str()), ("wiki", "wiki/y.md"));
        assert!(roots.containing(Path::new("/b/y.md"), "/b/y.md").is_err());
    }
}
