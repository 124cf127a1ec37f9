//! Ignore files, and the paths that they exclude.
//!
//! Invariant: the kinds of ignore files are consulted in the order of [`IGNORE_FILES`]; the nearest matching
//! rule of the first kind with a match decides.

use std::fs::File;
use std::io::Read as _;
use std::os::fd::AsFd;
use std::path::Path;
use std::sync::Arc;

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use rustix::fs::{Mode, OFlags};

use crate::limits;

/// The names of ignore files, the one with the highest precedence first.
pub(crate) const IGNORE_FILES: [&str; 3] = [".mdselignore", ".ignore", ".gitignore"];

/// The rules of a folder and of the folders above it.
#[derive(Debug, Default)]
pub(crate) struct Rules {
    above: Option<Arc<Self>>,
    /// The rules of each of [`IGNORE_FILES`] in this folder.
    kinds: [Option<Gitignore>; IGNORE_FILES.len()],
}

impl Rules {
    /// The rules that apply to `start`: those of the folders above it, from the folder that contains `.git`
    /// down, or from the root if there is no such folder.
    pub(crate) fn above(root: &Path, start: &Path) -> Arc<Self> {
        let mut rules = Arc::new(Self::default());
        let repository = root.ancestors().find(|folder| folder.join(".git").exists());
        if let Some(repository) = repository {
            let mut builder = GitignoreBuilder::new(repository);
            if builder.add(repository.join(".git/info/exclude")).is_none() {
                rules = Self::below(&rules, [None, None, builder.build().ok()]);
            }
        }
        let top = repository.unwrap_or(root);
        let folders: Vec<&Path> =
            start.ancestors().skip(1).take_while(|folder| folder.starts_with(top)).collect();
        for folder in folders.into_iter().rev() {
            let Ok(opened) = File::open(folder) else { continue };
            rules = Self::of_folder(&rules, &opened, folder, &IGNORE_FILES);
        }
        rules
    }

    fn below(above: &Arc<Self>, kinds: [Option<Gitignore>; 3]) -> Arc<Self> {
        if kinds.iter().all(Option::is_none) {
            return Arc::clone(above);
        }
        Arc::new(Self { above: Some(Arc::clone(above)), kinds })
    }

    /// The rules of the open folder at `path`, in front of the rules `above`. Only the ignore files `present`
    /// are read.
    pub(crate) fn of_folder(
        above: &Arc<Self>,
        folder: impl AsFd,
        path: &Path,
        present: &[&str],
    ) -> Arc<Self> {
        let rules_of = |name: &str| {
            let text = present.contains(&name).then(|| read(&folder, name)).flatten()?;
            let mut builder = GitignoreBuilder::new(path);
            let file = path.join(name);
            for line in text.lines() {
                // A rule that cannot be parsed is skipped; the other rules of the file apply.
                drop(builder.add_line(Some(file.clone()), line));
            }
            builder.build().ok()
        };
        Self::below(above, IGNORE_FILES.map(rules_of))
    }

    /// Whether there are no rules.
    pub(crate) fn is_empty(&self) -> bool {
        self.above.is_none() && self.kinds.iter().all(Option::is_none)
    }

    /// Whether the rules exclude the file or folder at `path`.
    pub(crate) fn ignore(&self, path: &Path, is_folder: bool) -> bool {
        for kind in 0..IGNORE_FILES.len() {
            let mut rules = Some(self);
            while let Some(folder) = rules {
                let of_kind = folder.kinds.get(kind).and_then(Option::as_ref);
                match of_kind.map_or(Match::None, |of_kind| of_kind.matched(path, is_folder)) {
                    Match::Ignore(_) => return true,
                    Match::Whitelist(_) => return false,
                    Match::None => {}
                }
                rules = folder.above.as_deref();
            }
        }
        false
    }
}

/// The text of an ignore file before the first line that is not UTF-8. A symbolic link is followed, because
/// the rules can only exclude files.
fn read(folder: impl AsFd, name: &str) -> Option<String> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = File::from(rustix::fs::openat(folder, name, flags, Mode::empty()).ok()?);
    // Reading a FIFO of that name would block.
    if !file.metadata().is_ok_and(|metadata| metadata.is_file()) {
        return None;
    }
    let mut bytes = Vec::new();
    file.take(limits::MAX_IGNORE_FILE_BYTES as u64).read_to_end(&mut bytes).ok()?;
    let bytes = bytes.strip_prefix(crate::markdown::BYTE_ORDER_MARK).unwrap_or(&bytes);
    Some(bytes.utf8_chunks().next().map_or_else(String::new, |chunk| {
        let valid = chunk.valid();
        let is_cut = valid.len() < bytes.len();
        let end = if is_cut { valid.rfind('\n').unwrap_or(0) } else { valid.len() };
        valid.get(..end).unwrap_or_default().to_owned()
    }))
}
