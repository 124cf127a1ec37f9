//! Ignore files, and the paths that they exclude.
//!
//! Invariant: the kinds of ignore files are consulted in the order of [`IGNORE_FILES`]; the nearest matching
//! rule of the first kind with a match decides.

use std::ffi::OsStr;
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
    /// down, or from the root if there is no such folder. `failed` gets the ignore files that are not read
    /// completely, and why.
    pub(crate) fn above(
        root: &Path,
        start: &Path,
        failed: &mut dyn FnMut(&Path, String),
    ) -> Arc<Self> {
        let mut rules = Arc::new(Self::default());
        let repository = root.ancestors().find(|folder| folder.join(".git").exists());
        if let Some(repository) = repository {
            let info = repository.join(".git/info");
            let exclude = File::open(&info)
                .ok()
                .and_then(|folder| parsed(repository, folder, &info.join("exclude"), failed));
            rules = Self::below(&rules, [None, None, exclude]);
        }
        let top = repository.unwrap_or(root);
        let folders: Vec<&Path> =
            start.ancestors().skip(1).take_while(|folder| folder.starts_with(top)).collect();
        for folder in folders.into_iter().rev() {
            let Ok(opened) = File::open(folder) else { continue };
            rules = Self::of_folder(&rules, &opened, folder, &IGNORE_FILES, failed);
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
    /// are read. `failed` gets those that are not read completely, and why.
    pub(crate) fn of_folder(
        above: &Arc<Self>,
        folder: impl AsFd,
        path: &Path,
        present: &[&str],
        failed: &mut dyn FnMut(&Path, String),
    ) -> Arc<Self> {
        let rules_of = |name: &str| {
            let is_present = present.contains(&name);
            is_present.then(|| parsed(path, &folder, &path.join(name), failed)).flatten()
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

/// The rules of the ignore file `file`, which is in the open `folder`. They apply below `base`.
fn parsed(
    base: &Path,
    folder: impl AsFd,
    file: &Path,
    failed: &mut dyn FnMut(&Path, String),
) -> Option<Gitignore> {
    let bytes = match read(folder, file.file_name()?) {
        Ok(bytes) => bytes?,
        Err(error) => {
            failed(file, format!("its rules do not apply: {error}"));
            return None;
        }
    };
    let most = limits::MAX_IGNORE_FILE_BYTES;
    if bytes.len() > most {
        let reason = format!("only the rules in its first {most} bytes apply");
        failed(file, format!("{reason}, which is the limit ignore-file-bytes"));
    }
    // The last line is complete only if the file is.
    let bytes = match bytes.get(..=most) {
        Some(read) => read.get(..read.iter().rposition(|byte| *byte == b'\n')?)?,
        None => &bytes,
    };
    let bytes = bytes.strip_prefix(crate::markdown::BYTE_ORDER_MARK).unwrap_or(bytes);
    let mut builder = GitignoreBuilder::new(base);
    for line in String::from_utf8_lossy(bytes).lines() {
        // A rule that cannot be parsed is skipped; the other rules of the file apply.
        drop(builder.add_line(Some(file.to_owned()), line));
    }
    builder.build().ok()
}

/// The bytes of an ignore file, at most one more than the limit; `None` if it does not exist or is a folder. A
/// symbolic link is followed, because the rules can only exclude files.
fn read(folder: impl AsFd, name: &OsStr) -> std::io::Result<Option<Vec<u8>>> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = match rustix::fs::openat(folder, name, flags, Mode::empty()) {
        Ok(file) => File::from(file),
        Err(rustix::io::Errno::NOENT) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let metadata = file.metadata()?;
    if metadata.is_dir() {
        return Ok(None);
    }
    // Reading a FIFO of that name would block.
    if !metadata.is_file() {
        return Err(std::io::Error::other("it is not a regular file"));
    }
    let mut bytes = Vec::new();
    file.take(limits::MAX_IGNORE_FILE_BYTES as u64 + 1).read_to_end(&mut bytes)?;
    Ok(Some(bytes))
}
