//! Waits until the files below a root have changed and no further change follows.
//!
//! Invariant: every change that an ingest would see ends a wait; the store's own writes do not.

use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use notify::{Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher as _};

use crate::corpus::{IGNORE_FILES, Root, RulesAbove};
use crate::error::{Error, ErrorKind, Result};
use crate::limits;

/// The time without changes that ends a wait. A program that saves a file changes it in several steps.
const QUIET: Duration = Duration::from_millis(limits::WATCH_QUIET_MILLISECONDS as u64);

/// The longest time after the first change. Then the wait ends even if changes continue.
const LONGEST: Duration = Duration::from_millis(limits::WATCH_DELAY_MILLISECONDS as u64);

/// How often the folders are looked at. The system does not report that a missing one is there again, and reports the
/// changes of a folder that was moved away, and not those of another one in its place.
const LOOK: Duration = Duration::from_millis(limits::WATCH_RETRY_MILLISECONDS as u64);

/// A watch for changes of the files below a root.
#[derive(Debug)]
pub struct Watch {
    events: Receiver<notify::Result<Event>>,
    /// The watch ends when this is dropped.
    _watcher: RecommendedWatcher,
    /// The files and folders of the store, with the paths that an ingest uses.
    own_files: Vec<PathBuf>,
    /// The roots that were asked for.
    asked: Vec<Root>,
    /// Those that are watched, with the inodes of their folders.
    roots: Vec<(Root, Option<u64>)>,
}

impl Watch {
    /// Watches folders of documents, and the ignore files above them. `own_files` are the files of the store. A folder
    /// that is removed meanwhile is left out, and [`Self::is_of`] the roots is then false.
    pub fn new(roots: &[Root], own_files: &[PathBuf]) -> Result<Self> {
        let (sender, events) = channel();
        let mut watcher =
            notify::recommended_watcher(sender).map_err(|error| watch_error(&error))?;
        let mut start = |folder: &Path, mode| match watcher.watch(folder, mode) {
            Err(error) if !is_gone(&error) => Err(watch_error(&error)),
            result => Ok(result.is_ok()),
        };
        let existing = existing(roots);
        let mut begun = Vec::new();
        for (root, inode) in &existing {
            for folder in RulesAbove::folders(&root.folder) {
                // A folder that is in another root is watched with what is below it.
                if !existing.iter().any(|(root, _)| folder.starts_with(&root.folder)) {
                    start(&folder, RecursiveMode::NonRecursive)?;
                }
            }
            if start(&root.folder, RecursiveMode::Recursive)? {
                begun.push((root.clone(), *inode));
            }
        }
        Ok(Self {
            events,
            _watcher: watcher,
            own_files: own_files.to_owned(),
            asked: roots.to_owned(),
            roots: begun,
        })
    }

    /// Returns whether this watches the existing ones of `roots`, with their options.
    pub fn is_of(&self, roots: &[Root]) -> bool {
        self.roots == existing(roots)
    }

    /// Waits for a change, and then until there is no further change for 200 ms, at most 2 s. Also ends if a folder is
    /// missing, is there again, or is another one; [`Self::is_of`] the roots is then false.
    pub fn wait(&self) -> Result<()> {
        loop {
            match self.events.recv_timeout(LOOK) {
                Ok(event) => {
                    if self.concerns(event)? {
                        break;
                    }
                }
                Err(RecvTimeoutError::Timeout) if self.is_of(&self.asked) => {}
                Err(RecvTimeoutError::Timeout) => return Ok(()),
                Err(RecvTimeoutError::Disconnected) => return Err(disconnected()),
            }
        }
        let began = Instant::now();
        let mut rest_ends = began + QUIET;
        while began.elapsed() < LONGEST {
            let left = rest_ends.saturating_duration_since(Instant::now());
            match self.events.recv_timeout(left) {
                Ok(event) => {
                    if self.concerns(event)? {
                        rest_ends = Instant::now() + QUIET;
                    }
                }
                Err(RecvTimeoutError::Timeout) => break,
                Err(RecvTimeoutError::Disconnected) => return Err(disconnected()),
            }
        }
        Ok(())
    }

    /// Whether an ingest could see the event.
    fn concerns(&self, event: notify::Result<Event>) -> Result<bool> {
        let event = event.map_err(|error| watch_error(&error))?;
        // A path that was removed or renamed no longer shows whether it was a folder.
        let is_gone = matches!(
            event.kind,
            EventKind::Remove(_) | EventKind::Modify(notify::event::ModifyKind::Name(_))
        );
        let is_read = matches!(event.kind, EventKind::Access(_));
        let concerns = |path: &PathBuf| self.concerns_path(path, is_gone);
        Ok(event.need_rescan() || !is_read && event.paths.iter().any(concerns))
    }

    fn concerns_path(&self, path: &Path, is_gone: bool) -> bool {
        if path.ancestors().any(|path| self.own_files.iter().any(|own| own == path)) {
            return false;
        }
        let is_ignore_file =
            path.file_name().is_some_and(|name| IGNORE_FILES.iter().any(|known| name == *known));
        is_ignore_file
            || path.ends_with(".git/info/exclude")
            || self.roots.iter().any(|(root, _)| {
                let below = path.strip_prefix(&root.folder).ok();
                below.is_some_and(|below| root.options.hidden || !is_hidden(below))
                    && (is_gone || root.options.takes(path) || path.is_dir())
            })
    }
}

/// Returns whether a file or one of its folders is hidden. `path` is relative to a root.
fn is_hidden(path: &Path) -> bool {
    path.components().any(|part| part.as_os_str().as_bytes().starts_with(b"."))
}

/// Returns the roots that exist, with the inodes of their folders. A collection whose folder does not exist has no
/// changes.
fn existing(roots: &[Root]) -> Vec<(Root, Option<u64>)> {
    let existing = roots.iter().filter(|root| root.folder.is_dir());
    existing.map(|root| (root.clone(), root.inode())).collect()
}

/// Whether a folder went away before its watch began.
fn is_gone(error: &notify::Error) -> bool {
    match &error.kind {
        notify::ErrorKind::PathNotFound => true,
        notify::ErrorKind::Io(error) => error.kind() == std::io::ErrorKind::NotFound,
        _ => false,
    }
}

fn disconnected() -> Error {
    Error::new(ErrorKind::Io, "the system no longer reports changes")
        .with_hint("run `mdsel ingest --watch` again")
}

fn watch_error(error: &notify::Error) -> Error {
    let message = format!("cannot watch for changes: {error}");
    let hint = match error.kind {
        notify::ErrorKind::MaxFilesWatch => "raise the sysctl fs.inotify.max_user_watches",
        _ => "run `mdsel ingest` after files have changed",
    };
    Error::new(ErrorKind::Io, message).with_hint(hint)
}

#[cfg(test)]
mod tests {
    use notify::event::RemoveKind;

    use super::*;

    #[test]
    fn a_removed_file_below_a_hidden_folder_concerns_only_a_root_that_takes_hidden_files() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().canonicalize().unwrap();
        for is_hidden_taken in [false, true] {
            let mut root = Root { folder: folder.clone(), ..Root::default() };
            root.options.hidden = is_hidden_taken;
            let watch = Watch::new(&[root], &[]).unwrap();
            let concerns = |path: &str| {
                let event = Event::new(EventKind::Remove(RemoveKind::File));
                watch.concerns(Ok(event.add_path(folder.join(path)))).unwrap()
            };
            assert_eq!(concerns(".git/index.lock"), is_hidden_taken);
            assert_eq!(concerns("docs/.part/a.md"), is_hidden_taken);
            assert!(concerns("docs/a"));
            assert!(concerns(".git/info/exclude") && concerns(".gitignore"));
        }
    }
}
