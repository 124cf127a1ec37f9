//! Finds the files of a corpus.
//!
//! Owns the rules for which files are ingested: extension, ignore files, hidden names, symbolic links, file
//! types, and the store's own files. Invariant: nothing outside the root is opened or read, folders are opened
//! one by one, no symbolic link is followed, except to ask whether it leads to a folder, and no document is
//! opened. A file with a matching extension, or a link to a folder, that is left out is reported, unless an
//! ignore file or a hidden name excludes it and the user did not name it.

use std::ffi::OsStr;
use std::io::Read as _;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::ScopedJoinHandle;

use rustix::fs::{AtFlags, Dir, FileType};
use rustix::io::Errno;
use rustix::path::Arg;
use schemars::JsonSchema;
use serde::Serialize;

use super::beneath::{Files, is_not_a_folder, open_below, open_folder, open_root};
use super::paths::root_from_store;
use super::rules::{RULE_NAMES, Rules, RulesAbove};
use super::state::state_in;
use super::{FileState, IngestOptions};
use crate::error::{Error, Result, is_exhaustion};
use crate::limits;
use crate::message::{Message, message};

/// A file that was skipped.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, JsonSchema, Serialize)]
pub struct Skipped {
    /// Its path relative to the root.
    pub file: String,
    /// Why the file was skipped.
    pub reason: String,
}

/// A file to ingest, with its state.
#[derive(Debug, Default)]
pub(crate) struct WalkedFile {
    /// Path relative to the root, with `/`.
    pub(crate) path: String,
    pub(crate) state: FileState,
}

/// The result of a walk.
#[derive(Debug, Default)]
pub(crate) struct WalkResult {
    pub(crate) found: Vec<WalkedFile>,
    pub(crate) skipped: Vec<Skipped>,
    /// Files and folders that could not be read. The documents at or below them stay in the store.
    pub(crate) unreadable: Vec<Skipped>,
    /// Whether files were found. The caller sets it before it leaves out those of other shards.
    pub(crate) has_files: bool,
    /// An error that makes the walk incomplete.
    failure: Option<Error>,
}

impl WalkResult {
    fn skip(&mut self, path: &[u8], reason: impl Into<String>) {
        self.skipped.push(Skipped { file: shown(path), reason: reason.into() });
    }

    fn fail(&mut self, path: &[u8], error: impl Into<std::io::Error>) {
        let error = error.into();
        let file = shown(path);
        if is_exhaustion(&error) {
            self.failure.get_or_insert(Error::io(Path::new(&file), error));
        } else {
            self.unreadable.push(Skipped { file, reason: error.to_string() });
        }
    }
}

/// A path as text, with replacement characters for bytes that are not UTF-8.
fn shown(path: &[u8]) -> String {
    String::from_utf8_lossy(path).into_owned()
}

/// The parameters of a walk.
pub(crate) struct Walk<'a> {
    pub(crate) root: &'a Path,
    pub(crate) own_files: &'a [PathBuf],
    pub(crate) options: &'a IngestOptions,
}

/// A folder to walk, as its name in an open folder.
struct FolderToWalk {
    parent: Arc<OwnedFd>,
    /// Empty for the open folder itself.
    name: Vec<u8>,
    /// Path relative to the root.
    path: Vec<u8>,
    rules: Arc<Rules>,
}

/// The folders to walk, and the number of folders that are being walked. The last folder is taken first, so
/// that few folders stay open.
#[derive(Default)]
struct FolderQueue {
    state: Mutex<(Vec<FolderToWalk>, usize)>,
    changed: Condvar,
}

/// Counts the walk of one folder as running until it is dropped.
struct Turn<'a>(&'a FolderQueue);

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.0.lock().1 -= 1;
        self.0.changed.notify_all();
    }
}

impl FolderQueue {
    fn lock(&self) -> MutexGuard<'_, (Vec<FolderToWalk>, usize)> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn push(&self, tasks: Vec<FolderToWalk>) {
        if !tasks.is_empty() {
            self.lock().0.extend(tasks);
            self.changed.notify_all();
        }
    }

    /// Waits for the next folder; `None` after all folders are walked.
    fn next(&self) -> Option<(FolderToWalk, Turn<'_>)> {
        let mut state = self.lock();
        loop {
            if let Some(task) = state.0.pop() {
                state.1 += 1;
                return Some((task, Turn(self)));
            }
            if state.1 == 0 {
                return None;
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl Walk<'_> {
    /// Walks the `scopes` on all cores. Scopes are existing paths relative to the root; "" is the whole root.
    pub(crate) fn run(&self, scopes: &[String]) -> Result<WalkResult> {
        let root = open_root(self.root).map_err(|error| Error::io(self.root, error))?;
        let root = Arc::new(root);
        let queue = &FolderQueue::default();
        let mut walked = WalkResult::default();
        let mut above = RulesAbove::new(self.root);
        for scope in scopes {
            self.begin(&root, scope, &mut above, queue, &mut walked);
        }
        let threads = crate::parallel::cores();
        std::thread::scope(|scope| {
            let walk = || {
                let mut walked = WalkResult::default();
                while let Some((task, _turn)) = queue.next() {
                    self.folder(task, queue, &mut walked);
                }
                walked
            };
            let walks: Vec<_> = (1..threads)
                .flat_map(|_| std::thread::Builder::new().spawn_scoped(scope, walk))
                .collect();
            // The calling thread walks, too: no other may have been made.
            let own = walk();
            for part in
                std::iter::once(Ok(own)).chain(walks.into_iter().map(ScopedJoinHandle::join))
            {
                // After a panic the walk is incomplete, and missing files would be removed from the store.
                let part = part.map_err(|_| crate::parallel::thread_failed())?;
                walked.found.extend(part.found);
                walked.skipped.extend(part.skipped);
                walked.unreadable.extend(part.unreadable);
                walked.failure = walked.failure.or(part.failure);
            }
            walked.failure.take().map_or(Ok(walked), Err)
        })
    }

    /// Starts the walk of a scope. The scope itself is walked even if an ignore file excludes it: it may be a document
    /// that is stored already.
    fn begin(
        &self,
        root: &Arc<OwnedFd>,
        scope: &str,
        above: &mut RulesAbove<'_>,
        queue: &FolderQueue,
        walked: &mut WalkResult,
    ) {
        let start = self.root.join(scope);
        let rules = if self.options.no_ignore {
            Arc::default()
        } else {
            above.of(&start, &mut |file, reason| self.skip_rules(file, reason, walked))
        };
        let path = scope.as_bytes().to_vec();
        if scope.is_empty() {
            let parent = Arc::clone(root);
            return queue.push(vec![FolderToWalk { parent, name: Vec::new(), path, rules }]);
        }
        let (parent, name) = match scope.rsplit_once('/') {
            None => (Arc::clone(root), scope),
            Some((folders, name)) => match open_below(root, folders) {
                Ok(parent) => (Arc::new(parent), name),
                // A folder was replaced after the scopes were computed.
                Err(error) if is_not_a_folder(&error) => return,
                Err(error) => return walked.fail(&path, error),
            },
        };
        match rustix::fs::statat(&*parent, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(state) if FileType::from_raw_mode(state.st_mode).is_dir() => {
                let name = name.as_bytes().to_vec();
                queue.push(vec![FolderToWalk { parent, name, path, rules }]);
            }
            Ok(_) if !self.options.takes(Path::new(name)) => {
                walked.skip(&path, "its extension is not ingested (see --ext)");
            }
            Ok(state) => {
                let kind = FileType::from_raw_mode(state.st_mode);
                self.file(&parent, name, path, kind, walked);
            }
            Err(error) => walked.fail(&path, error),
        }
    }

    fn folder(&self, task: FolderToWalk, queue: &FolderQueue, walked: &mut WalkResult) {
        let FolderToWalk { parent, name, path, rules } = task;
        let name = if name.is_empty() { b".".as_slice() } else { &name };
        let (folder, entries) = match open_folder(&*parent, name).and_then(entries_of) {
            Ok(opened) => opened,
            // The folder was replaced by a link after it was listed; the link is not followed.
            Err(error) if is_not_a_folder(&error) => return,
            Err(error) => return walked.fail(&path, error),
        };
        drop(parent);
        let folder = Arc::new(folder);
        let full = self.root.join(OsStr::from_bytes(&path));
        let present: Vec<&str> = RULE_NAMES
            .into_iter()
            .filter(|file| entries.iter().any(|(name, _)| name == file.as_bytes()))
            .collect();
        let rules = if present.is_empty() || self.options.no_ignore {
            rules
        } else {
            let mut failed = |file: &Path, reason| self.skip_rules(file, reason, walked);
            Rules::of_folder(&rules, &folder, &full, &present, &mut failed)
        };
        let path_below = |name: &[u8]| {
            if path.is_empty() { name.to_vec() } else { [&path, &b"/"[..], name].concat() }
        };
        let mut tasks = Vec::new();
        for (name, mut kind) in entries.iter() {
            let is_taken = self.options.takes(Path::new(OsStr::from_bytes(name)));
            let may_be_folder =
                matches!(kind, FileType::Directory | FileType::Symlink | FileType::Unknown);
            // Checked first, because it is cheap and excludes most files.
            if !may_be_folder && !is_taken {
                continue;
            }
            if kind == FileType::Unknown {
                match rustix::fs::statat(&*folder, name, AtFlags::SYMLINK_NOFOLLOW) {
                    Ok(stat) => kind = FileType::from_raw_mode(stat.st_mode),
                    Err(Errno::NOENT) => continue,
                    Err(error) => {
                        walked.fail(&path_below(name), error);
                        continue;
                    }
                }
            }
            if self.is_left_out(&full, name, kind.is_dir(), &rules)
                || !kind.is_dir() && !is_taken && !is_link_to_folder(&folder, name, kind)
            {
                continue;
            }
            let path = path_below(name);
            if kind.is_dir() {
                let (parent, rules) = (Arc::clone(&folder), Arc::clone(&rules));
                tasks.push(FolderToWalk { parent, name: name.to_vec(), path, rules });
            } else {
                self.file(&folder, name, path, kind, walked);
            }
        }
        queue.push(tasks);
    }

    /// Adds an ignore file to the skipped files.
    fn skip_rules(&self, file: &Path, reason: String, walked: &mut WalkResult) {
        // An ignore file above the root is named relative to the root, too.
        let path = root_from_store(file, Some(&self.root.join("x")));
        let path = path.unwrap_or_else(|_| file.display().to_string());
        let skipped = Skipped { file: path, reason };
        walked.skipped.push(skipped);
    }

    /// Adds a file to the found files, or to the skipped files with a reason.
    fn file(
        &self,
        folder: &OwnedFd,
        name: impl Arg,
        path: Vec<u8>,
        kind: FileType,
        walked: &mut WalkResult,
    ) {
        let path = match String::from_utf8(path) {
            Ok(path) => path,
            Err(error) => return walked.skip(error.as_bytes(), "its name is not UTF-8"),
        };
        if let Some(reason) = refusal(&path, kind) {
            return walked.skip(path.as_bytes(), reason);
        }
        match state_in(folder, name) {
            Ok((state, _)) if state.size > self.options.max_file_bytes => {
                let most = self.options.max_file_bytes;
                walked.skip(path.as_bytes(), format!("larger than --max-file-size ({most} bytes)"));
            }
            Ok((state, _)) => walked.found.push(WalkedFile { path, state }),
            // The file was removed after its folder was listed.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => walked.fail(path.as_bytes(), error),
        }
    }

    /// Returns the reason why the file or folder at `path`, relative to the root, is excluded: it belongs to the store, it
    /// is in `.git`, its name is hidden, or an ignore file excludes it.
    pub(crate) fn excluded(&self, path: &str, is_folder: bool) -> Option<Message> {
        if let Some(reason) = self.owned(path) {
            return Some(reason);
        }
        let mut parts = path.split('/').filter(|part| !["", "."].contains(part)).peekable();
        let mut full = self.root.to_owned();
        let mut above = RulesAbove::new(self.root);
        while let Some(part) = parts.next() {
            let folder = full.clone();
            full.push(part);
            if part == ".git" {
                return Some("it is in .git, which no ingest reads".into());
            }
            if part.starts_with('.') && !self.options.hidden {
                return Some(message!(
                    "{} is hidden; `mdsel ingest --hidden` takes hidden files",
                    part
                ));
            }
            let rules = if self.options.no_ignore {
                Arc::default()
            } else {
                above.of(&full, &mut |_, _| ())
            };
            let is_folder = is_folder || parts.peek().is_some();
            if self.is_left_out(&folder, part.as_bytes(), is_folder, &rules) {
                let reason =
                    "an ignore file excludes it; `mdsel ingest --no-ignore` takes such files";
                return Some(reason.into());
            }
        }
        None
    }

    /// Returns the reason why a file of the store is left out, if the file at `path`, relative to the root, is one.
    fn owned(&self, path: &str) -> Option<Message> {
        let full = self.root.join(path);
        let is_own = self.own_files.iter().any(|own| full.starts_with(own));
        is_own.then(|| "it belongs to the store".into())
    }

    /// Whether the entry `name` of `folder` is left out.
    fn is_left_out(&self, folder: &Path, name: &[u8], is_folder: bool, rules: &Rules) -> bool {
        let path = || folder.join(OsStr::from_bytes(name));
        // Paths are compared, and built, only if the cheaper conditions do not decide.
        let is_own = |own: &PathBuf| own.as_os_str().as_bytes().ends_with(name) && *own == path();
        (name.starts_with(b".") && !self.options.hidden)
            || name == b".git"
            || self.own_files.iter().any(is_own)
            || (!rules.is_empty() && rules.ignore(&path(), is_folder))
    }
}

/// The entries of a folder. Their names are in one allocation: a walk meets one for every file.
#[derive(Default)]
struct Entries {
    /// The names, one after another.
    names: Vec<u8>,
    /// Where each name ends, and the type of the entry.
    ends: Vec<(usize, FileType)>,
}

impl Entries {
    fn push(&mut self, name: &[u8], kind: FileType) {
        self.names.extend_from_slice(name);
        self.ends.push((self.names.len(), kind));
    }

    /// Returns the name and the type of each entry.
    fn iter(&self) -> impl Iterator<Item = (&[u8], FileType)> {
        let mut start = 0;
        self.ends.iter().map(move |&(end, kind)| {
            let name = self.names.get(start..end).unwrap_or_default();
            start = end;
            (name, kind)
        })
    }
}

/// Returns the entries of `folder` except `.` and `..`, and the folder.
fn entries_of(folder: OwnedFd) -> std::io::Result<(OwnedFd, Entries)> {
    let mut entries = Entries::default();
    // Duplicating the descriptor costs less than opening the folder again.
    for entry in Dir::new(folder.try_clone()?)? {
        let entry = entry?;
        let name = entry.file_name().to_bytes();
        if name != b"." && name != b".." {
            entries.push(name, entry.file_type());
        }
    }
    Ok((folder, entries))
}

/// Whether an entry of `folder` is a symbolic link that leads to a folder.
fn is_link_to_folder(folder: &OwnedFd, name: &[u8], kind: FileType) -> bool {
    kind.is_symlink()
        && rustix::fs::statat(folder, name, AtFlags::empty())
            .is_ok_and(|state| FileType::from_raw_mode(state.st_mode).is_dir())
}

const PATH_TOO_LONG: &str = "its path is longer than the limit path-bytes";

/// The reason to skip a file with a matching extension, or a link to a folder, if any.
fn refusal(path: &str, kind: FileType) -> Option<&'static str> {
    if path.len() > limits::MAX_PATH_BYTES {
        return Some(PATH_TOO_LONG);
    }
    if kind.is_symlink() {
        return Some("it is a symbolic link, which is not followed");
    }
    (!kind.is_file()).then_some("it is not a regular file")
}

/// The reason why the path of a file, relative to `root`, excludes it from an ingest; `None` if it does not. The
/// file need not exist.
pub(crate) fn excluded(
    root: &Path,
    own_files: &[PathBuf],
    options: &IngestOptions,
    path: &str,
) -> Option<Message> {
    let walk = Walk { root, own_files, options };
    if let Some(reason) = walk.owned(path) {
        return Some(reason);
    }
    if path.len() > limits::MAX_PATH_BYTES {
        return Some(PATH_TOO_LONG.into());
    }
    if !options.takes(Path::new(path)) {
        // The option sets the whole list, so that the documents of the other extensions would go.
        let extension = Path::new(path).extension().and_then(OsStr::to_str);
        let all = options.extensions.iter().map(String::as_str).chain(extension);
        return Some(match extension {
            None => "it has no extension; give it one that is ingested, such as .md".into(),
            Some(_) => message!(
                "its extension is not ingested; `mdsel ingest --ext {}` takes it, too",
                all.collect::<Vec<_>>().join(",")
            ),
        });
    }
    walk.excluded(path, false)
}

/// The reason why an ingest skips the file at `path`, relative to `root`; `None` if it would be ingested.
pub(crate) fn left_out(
    root: &Path,
    own_files: &[PathBuf],
    options: &IngestOptions,
    path: &str,
) -> Option<Message> {
    if let Some(reason) = excluded(root, own_files, options, path) {
        return Some(reason);
    }
    let opened = open_root(root).ok()?;
    let mut file = match Files::new(&opened).open(path) {
        Ok(file) => file,
        Err(error) if is_not_a_folder(&error) => {
            return Some("it is a symbolic link, which is not followed".into());
        }
        // A socket cannot be opened.
        Err(error) if error.raw_os_error() == Some(Errno::NXIO.raw_os_error()) => {
            return Some("it is not a regular file".into());
        }
        Err(error) => return Some(error.to_string().into()),
    };
    let metadata = file.metadata().ok()?;
    if !metadata.is_file() {
        return Some("it is not a regular file".into());
    }
    if metadata.len() > options.max_file_bytes {
        let most = options.max_file_bytes;
        return Some(message!("larger than --max-file-size ({} bytes)", most));
    }
    let mut bytes = Vec::new();
    match (&mut file).take(options.max_file_bytes).read_to_end(&mut bytes) {
        Ok(_) => crate::markdown::refusal(&bytes).map(Message::from),
        Err(error) => Some(error.to_string().into()),
    }
}
