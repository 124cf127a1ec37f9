//! Watching: waiting until the files below a root have changed and come to rest.
//!
//! Invariant: whatever an ingest would see changed ends a wait; what the store itself writes does not.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use notify::{Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher as _};

use super::rules::IGNORE_FILES;
use super::walk::is_of_store;
use crate::error::{Error, ErrorKind, Result};
use crate::store::IngestOptions;

/// How long nothing must have changed: a program that saves does so in several steps.
const QUIET: Duration = Duration::from_millis(200);

/// How long changes may go on before they are taken all the same.
const LONGEST: Duration = Duration::from_secs(2);

/// The files below a root, watched.
#[derive(Debug)]
pub struct Watch {
    events: Receiver<notify::Result<Event>>,
    /// Watches as long as it lives.
    _watcher: RecommendedWatcher,
    /// The store file, as an ingest of it names it.
    store: PathBuf,
    options: IngestOptions,
}

impl Watch {
    /// Watches the folder `root` for the store at `store`, which takes what `options` say.
    pub fn new(root: &Path, store: &Path, options: &IngestOptions) -> Result<Self> {
        let (sender, events) = channel();
        let mut watcher = notify::recommended_watcher(sender).map_err(|error| fault(&error))?;
        watcher.watch(root, RecursiveMode::Recursive).map_err(|error| fault(&error))?;
        let store = store.to_owned();
        Ok(Self { events, _watcher: watcher, store, options: options.clone() })
    }

    /// Waits until something has changed, and then until nothing does any more.
    pub fn wait(&self) -> Result<()> {
        loop {
            let event = self.events.recv().map_err(|_| gone())?;
            if self.concerns(event)? {
                break;
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
                Err(RecvTimeoutError::Disconnected) => return Err(gone()),
            }
        }
        Ok(())
    }

    /// Whether an ingest may see what happened.
    fn concerns(&self, event: notify::Result<Event>) -> Result<bool> {
        let event = event.map_err(|error| fault(&error))?;
        // What is gone, or has another name now, cannot be asked whether it was a folder.
        let is_gone = matches!(
            event.kind,
            EventKind::Remove(_) | EventKind::Modify(notify::event::ModifyKind::Name(_))
        );
        let is_read = matches!(event.kind, EventKind::Access(_));
        let concerns = |path: &PathBuf| self.concerns_path(path, is_gone);
        Ok(event.need_rescan() || !is_read && event.paths.iter().any(concerns))
    }

    fn concerns_path(&self, path: &Path, is_gone: bool) -> bool {
        if path.ancestors().any(|path| is_of_store(path, &self.store)) {
            return false;
        }
        let is_ignore_file =
            path.file_name().is_some_and(|name| IGNORE_FILES.iter().any(|known| name == *known));
        is_gone || self.options.takes(path) || is_ignore_file || path.is_dir()
    }
}

fn gone() -> Error {
    Error::new(ErrorKind::Io, "the system does not tell of changes any more")
}

fn fault(error: &notify::Error) -> Error {
    let message = format!("cannot watch for changes: {error}");
    let hint = match error.kind {
        notify::ErrorKind::MaxFilesWatch => "raise the sysctl fs.inotify.max_user_watches",
        _ => "run `mdsel ingest` where something has changed",
    };
    Error::new(ErrorKind::Io, message).with_hint(hint)
}
