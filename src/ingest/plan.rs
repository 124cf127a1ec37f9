//! The part of the corpus that an ingest covers: for each folder of documents, the paths below it.
//!
//! Invariant: every scope is a folder of documents or below it; no document outside the scopes is added, changed
//! or removed.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::{IngestRequest, Paths};
use crate::corpus::{
    Collection, IngestOptions, Root, Roots, Skipped, WalkResult, canonical, collection_root,
    is_at_or_below, is_collection_name, is_really_below,
};
use crate::error::{Error, ErrorKind, Result};
use crate::message::{Message, message};
use crate::store::StoredDocument;
use crate::visible::quoted;

/// What an ingest is to do: the folders of the store after it, and the scopes.
#[derive(Debug)]
pub(super) struct IngestPlan {
    /// The root of the store, absolute.
    pub(super) root: PathBuf,
    /// The options of the store after the ingest.
    pub(super) options: IngestOptions,
    /// The folders of the store after the ingest.
    pub(super) roots: Roots,
    /// The name of the collection whose folder the user gave.
    pub(super) given_collection: Option<String>,
    pub(super) scopes: Vec<Scopes>,
    /// The collections whose folders do not exist. Their documents stay as they are.
    pub(super) missing: Vec<String>,
    /// Whether the store has no root yet.
    is_new: bool,
    /// Whether no document is added or removed, because the options are lost and not given again.
    pub(super) keeps_documents: bool,
    /// Whether the options note which folders were ingested, so that another one is recognized. Users of a server have
    /// folders of their own.
    pub(super) knows_folders: bool,
}

/// A folder of documents, and the paths below it that an ingest covers.
#[derive(Debug)]
pub(super) struct Scopes {
    pub(super) root: Root,
    /// The names of the collections, whose documents are not below the folder without a name.
    collections: BTreeSet<String>,
    /// Paths relative to the folder, with `/`; "" is the whole folder. No path is below another one.
    paths: BTreeSet<String>,
    /// The paths that the user named. Each must exist, or have documents in the store to remove.
    must_exist: Vec<String>,
}

/// The folders above `path`, relative to the root; the root itself is "".
fn above(path: &str) -> impl Iterator<Item = &str> {
    let root = (!path.is_empty()).then_some("");
    root.into_iter().chain(path.match_indices('/').filter_map(|(end, _)| path.get(..end)))
}

/// Returns the error for a request to change the root of a store with these `options`.
fn other_root(root: &Path, options: &IngestOptions) -> Error {
    if !root.is_dir() {
        return no_root(root);
    }
    if options.only_collections {
        let message = "this store has only collections, so --root does not add a folder";
        return Error::new(ErrorKind::Usage, message)
            .with_hint("leave out --root, and give --collection NAME with the folder");
    }
    Error::new(ErrorKind::Usage, format!("the root of this store is {}", root.display()))
        .with_hint("leave out --root, or create another store with --db")
}

impl IngestPlan {
    /// Returns the plan for `request`. `stored` are the root and the options of the store, if it has them.
    pub(super) fn new(
        request: &IngestRequest<'_>,
        stored: Option<(&Path, &IngestOptions)>,
    ) -> Result<Self> {
        if let Some((root, _)) = stored.filter(|(root, _)| root.as_os_str().is_empty()) {
            return Err(no_root(root));
        }
        let given = match request.paths {
            Paths::Given(paths) => {
                paths.iter().map(|path| canonical(path)).collect::<Result<_>>()?
            }
            Paths::All | Paths::Stored(_) => Vec::new(),
        };
        let mut plan = match request.collection {
            Some(name) => Self::of_collection(request, stored, name, &given)?,
            None => Self::of_all(request, stored, given)?,
        };
        plan.refuse_overlaps()?;
        let options = &plan.options;
        // A new store has no documents to keep, and the path that does not exist is reported.
        let is_there = |scopes: &Scopes| stored.is_none() || scopes.root.folder.is_dir();
        let (there, missing): (Vec<_>, Vec<_>) = plan.scopes.into_iter().partition(is_there);
        plan.scopes = there;
        for scopes in missing {
            if scopes.root.name.is_empty() || request.collection.is_some() {
                return Err(no_folder(&scopes.root));
            }
            plan.missing.push(scopes.root.name);
        }
        if plan.scopes.is_empty() && plan.missing.is_empty() && options.only_collections {
            return Err(Error::new(
                ErrorKind::Usage,
                "this store has only collections, and none is left",
            )
            .with_hint(
                "name a folder to ingest, or add a collection with --collection NAME FOLDER",
            ));
        }
        Ok(plan)
    }

    /// Returns the plan for the ingest of one collection.
    fn of_collection(
        request: &IngestRequest<'_>,
        stored: Option<(&Path, &IngestOptions)>,
        name: &str,
        given: &[PathBuf],
    ) -> Result<Self> {
        let store = request.store.path();
        let (root, mut options) = match stored {
            Some((root, options)) => {
                let given = request.root.map(canonical).transpose()?;
                if given.is_some_and(|given| given != root) {
                    return Err(other_root(root, options));
                }
                (root.to_owned(), options.clone())
            }
            None => {
                let folder = store.and_then(Path::parent).unwrap_or(request.folder);
                let root = new_root_folder(canonical(request.root.unwrap_or(folder))?)?;
                (root, IngestOptions { only_collections: true, ..IngestOptions::default() })
            }
        };
        let known = Roots::of_store(store, &root, &options);
        let known = known.collection(name);
        let folder = folder_of_collection(name, given, known)?;
        if known.is_none() {
            let is_used = !options.only_collections;
            check_new_collection(name, &folder, Some(root.as_path()).filter(|_| is_used))?;
        }
        let stored_options = known.map(|known| known.options.clone()).unwrap_or_default();
        let collection = Collection {
            root: collection_root(&folder, store, &root)?,
            options: request.options.over(stored_options, &folder)?,
        };
        options.collections.insert(name.to_owned(), collection);
        let roots = Roots::of_store(store, &root, &options);
        let scopes = roots.collection(name).cloned().map(|root| Scopes::whole(root, &options));
        Ok(Self {
            root,
            roots,
            given_collection: (!given.is_empty()).then(|| name.to_owned()),
            scopes: scopes.into_iter().collect(),
            missing: Vec::new(),
            options,
            is_new: stored.is_none(),
            keeps_documents: false,
            knows_folders: request.store.path().is_some(),
        })
    }

    /// Returns the plan for the ingest of all folders, or of some paths.
    fn of_all(
        request: &IngestRequest<'_>,
        stored: Option<(&Path, &IngestOptions)>,
        mut given: Vec<PathBuf>,
    ) -> Result<Self> {
        let stored_root = stored.map(|(root, _)| root);
        let given_root =
            request.root.map(|root| root.canonicalize().map_err(|error| Error::io(root, error)));
        if matches!(request.paths, Paths::All) && stored_root.is_none() && request.root.is_none() {
            given.push(canonical(request.folder)?);
        }
        let root = match (stored, given_root.transpose()?) {
            (Some((stored, options)), Some(given)) if stored != given => {
                return Err(other_root(stored, options));
            }
            (Some((stored, _)), _) => stored.to_owned(),
            (None, Some(given)) => new_root_folder(given)?,
            (None, None) => new_root(request.store.path(), &given),
        };
        let mut options = stored.map(|(_, options)| options.clone()).unwrap_or_default();
        let roots = Roots::of_store(request.store.path(), &root, &options);
        let named: Vec<(Root, String)> = match request.paths {
            Paths::All if given.is_empty() => {
                let is_used = |root: &&Root| {
                    !root.name.is_empty() || !options.only_collections || request.root.is_some()
                };
                roots.iter().filter(is_used).map(|root| (root.clone(), String::new())).collect()
            }
            Paths::All | Paths::Given(_) => {
                let written = match request.paths {
                    Paths::Given(paths) => paths,
                    _ => &given,
                };
                let place = |(path, written): (&PathBuf, &PathBuf)| {
                    let below = written.strip_prefix(request.folder);
                    let written = match below {
                        Ok(below) if below.as_os_str().is_empty() => Path::new("."),
                        below => below.unwrap_or(written),
                    };
                    let found = roots.containing(path, written.display());
                    let (root, path) = found.map_err(|error| {
                        if !root.is_dir() {
                            // Nothing is below a root that does not exist.
                            return no_root(&root);
                        }
                        match stored {
                            None if !path.starts_with(&root) => {
                                error.map_hints(|_| "name a --root that contains it".into())
                            }
                            Some(_) if options.only_collections && !path.starts_with(&root) => {
                                error.map_hints(|_| as_collection(path, written))
                            }
                            _ => error,
                        }
                    })?;
                    let below = if path == root.name { "" } else { root.below(&path) };
                    Ok((root.clone(), below.to_owned()))
                };
                given.iter().zip(written).map(place).collect::<Result<_>>()?
            }
            Paths::Stored(documents) => {
                let place = |path: &String| {
                    let (root, below) = roots.of(path);
                    (root.clone(), below.to_owned())
                };
                documents.iter().map(place).collect()
            }
        };
        let is_unnamed = |(root, _): &(Root, String)| root.name.is_empty();
        if named.iter().any(is_unnamed) && matches!(request.paths, Paths::All | Paths::Given(_)) {
            options.only_collections = false;
        }
        options = request.options.over(options, &root)?;
        let roots = Roots::of_store(request.store.path(), &root, &options);
        let mut scopes = Vec::new();
        for root in roots.iter() {
            let of_root = named.iter().filter(|(of, _)| of.name == root.name);
            let paths: Vec<String> = of_root.map(|(_, below)| below.clone()).collect();
            if !paths.is_empty() {
                let is_given = matches!(request.paths, Paths::Given(_));
                scopes.push(Scopes::new(root.clone(), &options, paths, is_given));
            }
        }
        Ok(Self {
            root,
            options,
            roots,
            given_collection: None,
            scopes,
            missing: Vec::new(),
            is_new: stored.is_none(),
            keeps_documents: false,
            knows_folders: request.store.path().is_some(),
        })
    }

    /// Fails if a folder of documents is inside another one.
    fn refuse_overlaps(&self) -> Result<()> {
        let used: Vec<&Root> = self.roots.with_documents().collect();
        for one in &used {
            for other in used.iter().filter(|other| other.name != one.name) {
                if one.folder.starts_with(&other.folder) {
                    let name = |root: &Root| match root.name.as_str() {
                        "" => "the root".to_owned(),
                        name => format!("the collection {name}"),
                    };
                    let (inner, outer) = (name(one), name(other));
                    let folder = one.folder.display();
                    let message = format!("{folder}, {inner}, is inside {outer}");
                    return Err(Error::new(ErrorKind::Usage, message)
                        .with_hint("each file may be in one collection only: choose folders apart from each other"));
                }
            }
        }
        Ok(())
    }

    /// Returns those of `documents` that are in no scope.
    pub(super) fn outside<'a>(&self, documents: &'a [StoredDocument]) -> Vec<&'a StoredDocument> {
        let is_inside = |document: &StoredDocument| {
            self.scopes.iter().any(|scopes| scopes.contain(&document.path))
        };
        documents.iter().filter(|document| !is_inside(document)).collect()
    }

    /// Whether the documents of `scopes` may be those of another folder.
    pub(super) fn may_be_other_folder(&self, scopes: &Scopes) -> bool {
        if self.knows_folders {
            return scopes.is_other_folder();
        }
        // The folders of collections are given relative to the root.
        scopes.is_whole() && scopes.root.name.is_empty()
    }

    /// Fails if a named path does not exist and this ingest removes no document of it from the store.
    pub(super) fn refuse_missing(&self, removed: &[&str]) -> Result<()> {
        self.scopes.iter().try_for_each(|scopes| scopes.refuse_missing(removed, self.is_new))
    }
}

/// Returns the hint for the folder or file at `path`, which is outside the folders of a store that has only collections.
fn as_collection(path: &Path, written: &Path) -> Message {
    let folder = if path.is_dir() { written.to_string_lossy() } else { "FOLDER".into() };
    message!("`mdsel ingest --collection NAME {}` adds a folder", folder)
}

/// Returns the root of a new store, which must be a folder.
fn new_root_folder(root: PathBuf) -> Result<PathBuf> {
    if root.is_dir() {
        return Ok(root);
    }
    let message = format!("{}: the root must be a folder", root.display());
    usage(message, "name the folder of the documents")
}

fn usage<T>(message: String, hint: &'static str) -> Result<T> {
    Err(Error::new(ErrorKind::Usage, message).with_hint(hint))
}

/// Returns the folder of a collection: the one that is given, or else the one that is `known`.
fn folder_of_collection(name: &str, given: &[PathBuf], known: Option<&Root>) -> Result<PathBuf> {
    match (given, known) {
        ([], Some(known)) => Ok(known.folder.clone()),
        ([folder], Some(known)) if *folder != known.folder => usage(
            format!("the folder of the collection {name} is {}", known.folder.display()),
            "leave out the folder, choose another name, or forget it first with --forget",
        ),
        ([folder], _) => Ok(folder.clone()),
        _ => usage(
            format!("the collection {name} has one folder, and {} are given", given.len()),
            "give one folder: `mdsel ingest --collection NAME FOLDER`",
        ),
    }
}

/// Fails if a collection cannot be called `name`, or if it is not a folder. `root` is the folder without a name, if
/// it is ingested.
fn check_new_collection(name: &str, folder: &Path, root: Option<&Path>) -> Result<()> {
    if !is_collection_name(name) {
        return usage(
            format!("{name} cannot be the name of a collection", name = quoted(&name)),
            "choose a name without / and ::, which does not begin with a dot or a hyphen",
        );
    }
    if !folder.is_dir() {
        let message = format!("{}: a collection must be a folder", folder.display());
        return usage(message, "name a folder");
    }
    if root.is_some_and(|root| root.join(name).symlink_metadata().is_ok()) {
        let message = format!("{name} is the name of a file or folder below the root");
        return usage(message, "choose another name for the collection");
    }
    Ok(())
}

/// Returns the error for a store whose root does not exist.
fn no_root(root: &Path) -> Error {
    if root.as_os_str().is_empty() {
        let message = "the documents of this store were loaded, and it has no root yet";
        return Error::new(ErrorKind::Usage, message)
            .with_hint("name the folder of their files: `mdsel ingest --root FOLDER`");
    }
    let message = format!("{}: the root of this store does not exist", root.display());
    Error::new(ErrorKind::Io, message).with_hint(
        "run the ingest where the files are: a store and its root stay in the same place to each other, and another \
         store is made with --db; queries work without the files",
    )
}

fn no_folder(root: &Root) -> Error {
    if root.name.is_empty() {
        return no_root(&root.folder);
    }
    let (folder, name) = (root.folder.display(), &root.name);
    Error::new(
        ErrorKind::Io,
        format!("{folder}: the folder of the collection {name} does not exist"),
    )
    .with_hint(message!("drop its documents with `mdsel ingest --forget {}`", name))
}

impl Scopes {
    fn whole(root: Root, options: &IngestOptions) -> Self {
        Self::new(root, options, vec![String::new()], false)
    }

    /// Returns the scopes `named`, relative to `root`. If `is_given`, the user named them.
    fn new(root: Root, options: &IngestOptions, named: Vec<String>, is_given: bool) -> Self {
        let all: BTreeSet<String> = named.iter().cloned().collect();
        let is_highest = |path: &&String| !above(path).any(|above| all.contains(above));
        let paths = all.iter().filter(is_highest).cloned().collect();
        let must_exist = if is_given { named } else { Vec::new() };
        let is_unnamed = root.name.is_empty();
        let collections = options.collections.keys().filter(|_| is_unnamed).cloned().collect();
        Self { root, collections, paths, must_exist }
    }

    /// Whether the scope is the whole folder.
    pub(super) fn is_whole(&self) -> bool {
        self.paths.contains("")
    }

    /// Whether the scope is a whole folder, and another one than was ingested before: the store was copied, or what was
    /// mounted there is not.
    pub(super) fn is_other_folder(&self) -> bool {
        let known = self.root.options.inode;
        self.is_whole() && known.is_some() && known != self.root.inode()
    }

    /// Whether the document at `path` is in the scope.
    pub(super) fn contain(&self, path: &str) -> bool {
        let is_here = match self.root.name.as_str() {
            "" => self.collection_of(path).is_none(),
            name => path.split('/').next() == Some(name),
        };
        if !is_here || self.is_whole() {
            return is_here;
        }
        let below = self.root.below(path);
        self.paths.contains(below) || above(below).any(|above| self.paths.contains(above))
    }

    /// The scopes that exist and are really below the folder.
    pub(super) fn existing(&self) -> Vec<String> {
        let folder = &self.root.folder;
        let exists = |path: &&String| {
            folder.join(path).symlink_metadata().is_ok() && is_really_below(folder, path)
        };
        self.paths.iter().filter(exists).cloned().collect()
    }

    /// Returns what was found, by the paths of documents. A file below the root whose path begins with the name of
    /// a collection is skipped.
    pub(super) fn named(&self, mut walked: WalkResult) -> WalkResult {
        let WalkResult { found, skipped, unreadable, .. } = &mut walked;
        if self.root.name.is_empty() {
            found.retain(|file| match self.collection_of(&file.path) {
                None => true,
                Some(name) => {
                    let reason = format!("{name} is the name of a collection");
                    skipped.push(Skipped { file: file.path.clone(), reason });
                    false
                }
            });
        } else {
            let found = found.iter_mut().map(|file| &mut file.path);
            // An ignore file above the folder has a path of its own.
            let is_below =
                |file: &&mut Skipped| !file.file.starts_with('/') && !file.file.starts_with("../");
            let skipped = skipped.iter_mut().filter(is_below).chain(unreadable);
            for path in found.chain(skipped.map(|skipped| &mut skipped.file)) {
                *path = self.root.path_of(path);
            }
        }
        walked.has_files = !walked.found.is_empty();
        walked
    }

    /// The collection whose name begins `path`, if any.
    fn collection_of<'p>(&self, path: &'p str) -> Option<&'p str> {
        // Most stores have none, and all their paths are asked about.
        if self.collections.is_empty() {
            return None;
        }
        path.split('/').next().filter(|first| self.collections.contains(*first))
    }

    /// The paths that the user named and that do not exist, as paths of documents.
    pub(super) fn missing(&self) -> impl Iterator<Item = String> {
        let Root { folder, .. } = &self.root;
        let is_missing = |below: &&String| folder.join(below).symlink_metadata().is_err();
        self.must_exist.iter().filter(is_missing).map(|below| self.root.path_of(below))
    }

    fn refuse_missing(&self, removed: &[&str], is_new: bool) -> Result<()> {
        let is_forgotten = |path: &str| removed.iter().any(|removed| is_at_or_below(removed, path));
        match self.missing().find(|path| !is_forgotten(path)) {
            None => Ok(()),
            Some(path) if is_new => {
                Err(Error::new(ErrorKind::Io, format!("{path}: no such file or folder"))
                    .with_hint("check the path"))
            }
            Some(path) => Err(Error::new(
                ErrorKind::Io,
                format!("{path}: no such file or folder, and no such document in the store"),
            )
            .with_hint("check the path, or run `mdsel ingest` to refresh the whole root")),
        }
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
