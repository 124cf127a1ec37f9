//! Finding the files of a corpus.
//!
//! Owns which files are looked at: extension, ignore files, hidden names, symbolic links, other file
//! types, the store's own files. Invariant: nothing outside the root is ever named, no symbolic link
//! is followed, no document is opened, and whatever is left out for another reason than an ignore
//! file or a hidden name is told.

use std::path::{Path, PathBuf};

use crossbeam_channel::Sender;
use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use walkdir::{DirEntry, WalkDir};

use super::report::Skipped;
use super::state::Folder;
use crate::error::Result;
use crate::limits;
use crate::store::{FileState, IngestOptions};

/// A file whose name is taken, with its state.
#[derive(Debug)]
pub(super) struct Found {
    /// Path relative to the root, with `/`.
    pub(super) path: String,
    pub(super) state: FileState,
}

/// What a walk gave.
#[derive(Debug, Default)]
pub(super) struct Walked {
    pub(super) found: Vec<Found>,
    pub(super) skipped: Vec<Skipped>,
    /// Paths that could not be read: what the store holds of them, or below them, is kept.
    pub(super) unreadable: Vec<String>,
}

/// What decides how to walk.
pub(super) struct Walk<'a> {
    pub(super) root: &'a Path,
    pub(super) store: &'a Path,
    pub(super) options: &'a IngestOptions,
}

/// How many paths go to a thread that asks for their state at once.
const BATCH: usize = 512;

impl Walk<'_> {
    /// Walks the `scopes`, paths relative to the root ("" for all of it) that exist, on all cores.
    pub(super) fn run(&self, scopes: &[String]) -> Result<Walked> {
        let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let (sender, receiver) = crossbeam_channel::bounded::<Vec<String>>(64);
        let root = &Folder::new(self.root);
        std::thread::scope(|scope| {
            let states: Vec<_> = (0..threads)
                .map(|_| {
                    let receiver = receiver.clone();
                    scope.spawn(move || {
                        let mut walked = Walked::default();
                        for path in receiver.into_iter().flatten() {
                            self.look_at(root, path, &mut walked);
                        }
                        walked
                    })
                })
                .collect();
            drop(receiver);
            let mut walked = Walked::default();
            let mut batch = Vec::with_capacity(BATCH);
            for scope in scopes {
                self.walk(scope, &mut batch, &sender, &mut walked);
            }
            drop(sender.send(batch));
            drop(sender);
            for state in states {
                // What was not seen must not pass for what is not there.
                let part = state.join().map_err(|_| super::thread_failed())?;
                walked.found.extend(part.found);
                walked.skipped.extend(part.skipped);
                walked.unreadable.extend(part.unreadable);
            }
            Ok(walked)
        })
    }

    fn walk(
        &self,
        scope: &str,
        batch: &mut Vec<String>,
        sender: &Sender<Vec<String>>,
        walked: &mut Walked,
    ) {
        let start = self.root.join(scope);
        let mut ignores = IgnoreStack::above(self.root, &start, self.options.no_ignore);
        let mut entries =
            WalkDir::new(&start).follow_links(false).follow_root_links(false).into_iter();
        while let Some(entry) = entries.next() {
            let entry = match entry {
                Ok(entry) => entry,
                Err(error) => {
                    let path = error.path().map(|path| self.relative(path)).unwrap_or_default();
                    let reason =
                        error.io_error().map_or_else(|| error.to_string(), ToString::to_string);
                    walked.skipped.push(Skipped { file: path.clone(), reason });
                    walked.unreadable.push(path);
                    continue;
                }
            };
            let is_folder = entry.file_type().is_dir();
            // Most of what is not Markdown is told by its name alone.
            if !is_folder && entry.depth() > 0 && !self.options.takes(entry.path()) {
                continue;
            }
            ignores.leave_to(entry.depth());
            // What was named by the user is looked at whatever ignore files say.
            if entry.depth() > 0 && self.is_left_out(&entry, &ignores) {
                if is_folder {
                    entries.skip_current_dir();
                }
                continue;
            }
            if is_folder {
                ignores.enter(entry.path(), entry.depth());
                continue;
            }
            if entry.depth() == 0 && !self.options.takes(entry.path()) {
                let reason = "its extension is not taken (see --ext)".to_owned();
                walked.skipped.push(Skipped { file: self.relative(entry.path()), reason });
                continue;
            }
            let path = self.relative(entry.path());
            if let Some(reason) = self.refusal(&entry) {
                walked.skipped.push(Skipped { file: path, reason: reason.to_owned() });
                continue;
            }
            batch.push(path);
            if batch.len() == BATCH {
                drop(sender.send(std::mem::replace(batch, Vec::with_capacity(BATCH))));
            }
        }
    }

    fn look_at(&self, root: &Folder, path: String, walked: &mut Walked) {
        match root.state(&path) {
            Ok((state, _)) if state.size > self.options.max_file_bytes => {
                let reason =
                    format!("larger than --max-file-size ({} bytes)", self.options.max_file_bytes);
                walked.skipped.push(Skipped { file: path, reason });
            }
            Ok((state, _)) => walked.found.push(Found { path, state }),
            // Gone since its folder was listed.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => {
                walked.skipped.push(Skipped { file: path.clone(), reason: error.to_string() });
                walked.unreadable.push(path);
            }
        }
    }

    /// The bytes of a path behind the root. Cheaper than taking it apart into components.
    fn below_root<'a>(&self, path: &'a Path) -> &'a [u8] {
        let root = self.root.as_os_str().as_encoded_bytes();
        let path = path.as_os_str().as_encoded_bytes();
        let below = path.strip_prefix(root).unwrap_or(path);
        let separator = std::path::MAIN_SEPARATOR as u8;
        below.strip_prefix(&[separator]).unwrap_or(below)
    }

    /// The path relative to the root, with `/`; bytes that are not UTF-8 as replacement characters.
    fn relative(&self, path: &Path) -> String {
        let relative = String::from_utf8_lossy(self.below_root(path)).into_owned();
        if std::path::MAIN_SEPARATOR == '/' {
            relative
        } else {
            relative.replace(std::path::MAIN_SEPARATOR, "/")
        }
    }

    fn is_left_out(&self, entry: &DirEntry, ignores: &IgnoreStack) -> bool {
        let name = entry.file_name().as_encoded_bytes();
        let is_hidden = name.starts_with(b".");
        (is_hidden && !self.options.hidden)
            || name == b".git"
            || is_of_store(entry.path(), self.store)
            || ignores.is_ignored(entry.path(), entry.file_type().is_dir())
    }

    /// Why a file whose name is taken is not.
    fn refusal(&self, entry: &DirEntry) -> Option<&'static str> {
        let relative = self.below_root(entry.path());
        if std::str::from_utf8(relative).is_err() {
            return Some("its name is not UTF-8");
        }
        if relative.len() > limits::MAX_PATH_BYTES {
            return Some("its path is longer than the limit path-bytes");
        }
        let file_type = entry.file_type();
        if file_type.is_symlink() {
            return Some("a symbolic link, which is not followed");
        }
        (!file_type.is_file()).then_some("not a regular file")
    }
}

/// Whether `path` is the store at `store`, or one of the files and folders that belong to it.
pub(super) fn is_of_store(path: &Path, store: &Path) -> bool {
    const SUFFIXES: [&str; 7] = ["", "-wal", "-shm", "-journal", "-lock", "-new", "-fts"];
    let path = path.as_os_str().as_encoded_bytes();
    path.strip_prefix(store.as_os_str().as_encoded_bytes())
        .is_some_and(|rest| SUFFIXES.iter().any(|suffix| suffix.as_bytes() == rest))
}

/// The names of ignore files, the one that decides first in front.
pub(super) const IGNORE_FILES: [&str; 3] = [".mdselignore", ".ignore", ".gitignore"];

/// The ignore files of the folders from the top of the repository down to the current one.
struct IgnoreStack {
    is_off: bool,
    /// For each ignore file that was found: the depth of its folder (0 for those above the walk),
    /// which of [`IGNORE_FILES`] it is, and its rules.
    files: Vec<(usize, usize, Gitignore)>,
}

impl IgnoreStack {
    /// The ignore files of the folders above `start`: down from the one that holds `.git`, or from
    /// the root where there is none.
    fn above(root: &Path, start: &Path, is_off: bool) -> Self {
        let mut stack = Self { is_off, files: Vec::new() };
        let repository = root.ancestors().find(|folder| folder.join(".git").exists());
        let top = repository.unwrap_or(root);
        if let Some(repository) = repository.filter(|_| !is_off) {
            let mut builder = GitignoreBuilder::new(repository);
            if builder.add(repository.join(".git/info/exclude")).is_none() {
                stack.push(0, IGNORE_FILES.len() - 1, &builder);
            }
        }
        let folders: Vec<_> =
            start.ancestors().skip(1).take_while(|folder| folder.starts_with(top)).collect();
        for folder in folders.into_iter().rev() {
            stack.enter(folder, 0);
        }
        stack
    }

    fn enter(&mut self, folder: &Path, depth: usize) {
        if self.is_off {
            return;
        }
        for (kind, name) in IGNORE_FILES.into_iter().enumerate() {
            let path: PathBuf = folder.join(name);
            // A FIFO of that name would block.
            if !std::fs::metadata(&path).is_ok_and(|metadata| metadata.is_file()) {
                continue;
            }
            let mut builder = GitignoreBuilder::new(folder);
            // Rules that cannot be read are left out, the others of the file hold.
            drop(builder.add(&path));
            self.push(depth, kind, &builder);
        }
    }

    fn push(&mut self, depth: usize, kind: usize, builder: &GitignoreBuilder) {
        if let Ok(rules) = builder.build() {
            self.files.push((depth, kind, rules));
        }
    }

    /// Drops what holds only deeper than an entry at `depth`.
    fn leave_to(&mut self, depth: usize) {
        while self.files.last().is_some_and(|(folder, _, _)| depth > 0 && *folder >= depth) {
            self.files.pop();
        }
    }

    /// Whether the nearest rule of the first kind of ignore file that has any says so.
    fn is_ignored(&self, path: &Path, is_folder: bool) -> bool {
        for kind in 0..IGNORE_FILES.len() {
            for (_, of_kind, rules) in self.files.iter().rev() {
                if *of_kind != kind {
                    continue;
                }
                match rules.matched(path, is_folder) {
                    Match::Ignore(_) => return true,
                    Match::Whitelist(_) => return false,
                    Match::None => {}
                }
            }
        }
        false
    }
}
