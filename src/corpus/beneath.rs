//! Opens folders and files below the root, one path component at a time, by descriptor.
//!
//! Invariant: no symbolic link below the root is followed, even if a folder is replaced at the same time. So
//! every file was below the root when it was opened.

use std::fs::File;
use std::io::{self, Write as _};
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use rustix::fs::{AtFlags, Mode, OFlags};
use rustix::path::Arg;

/// Opens the root, whose own path must have no symbolic links.
pub(crate) fn open_root(root: &Path) -> io::Result<OwnedFd> {
    open_folder(rustix::fs::CWD, root)
}

/// Opens the folder called `name` in `parent`.
pub(crate) fn open_folder(parent: impl AsFd, name: impl Arg) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(rustix::fs::openat(parent, name, flags, Mode::empty())?)
}

/// Opens the folder at `path` below `parent`, one path component at a time.
pub(crate) fn open_below(parent: impl AsFd, path: &str) -> io::Result<OwnedFd> {
    let mut parts = path.split('/');
    let mut folder = open_part(parent, parts.next().unwrap_or_default())?;
    for part in parts {
        folder = open_part(&folder, part)?;
    }
    Ok(folder)
}

fn open_part(parent: impl AsFd, part: &str) -> io::Result<OwnedFd> {
    if matches!(part, "" | "." | "..") {
        return Err(rustix::io::Errno::NOENT.into());
    }
    open_folder(parent, part)
}

/// Opens the folder at `path` below `parent`, one path component at a time, and creates missing folders.
pub(crate) fn make_below(parent: impl AsFd, path: &str) -> io::Result<OwnedFd> {
    let mut folder = open_folder(parent, ".")?;
    for part in path.split('/').filter(|part| !part.is_empty()) {
        match rustix::fs::mkdirat(&folder, part, Mode::from_raw_mode(0o777)) {
            Ok(()) | Err(rustix::io::Errno::EXIST) => {}
            Err(error) => return Err(error.into()),
        }
        folder = open_part(&folder, part)?;
    }
    Ok(folder)
}

/// Creates the file called `name` in `folder`. Fails if the name exists. A file that cannot be written whole is removed.
pub(crate) fn make_file(folder: impl AsFd, name: &str, bytes: &[u8]) -> io::Result<()> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file = rustix::fs::openat(&folder, name, flags, Mode::from_raw_mode(0o666))?;
    let written = File::from(file).write_all(bytes);
    if written.is_err() {
        rustix::fs::unlinkat(&folder, name, AtFlags::empty()).ok();
    }
    written
}

/// Opens the file called `name` in `folder`. Opening a FIFO does not block. On Linux, reading the file leaves its
/// access time as it is if this user may ask for that, because a new one is a write to the disk for each file.
pub(crate) fn open_file(folder: impl AsFd, name: &str) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    #[cfg(target_os = "linux")]
    {
        use std::sync::atomic::{AtomicBool, Ordering};

        // Only the owner of a file may ask for that. After one refusal it is not asked for again, because files of
        // other owners are rarely alone.
        static OWNS_FILES: AtomicBool = AtomicBool::new(true);
        if OWNS_FILES.load(Ordering::Relaxed) {
            match rustix::fs::openat(&folder, name, flags | OFlags::NOATIME, Mode::empty()) {
                Err(rustix::io::Errno::PERM) => OWNS_FILES.store(false, Ordering::Relaxed),
                opened => return Ok(File::from(opened?)),
            }
        }
    }
    Ok(File::from(rustix::fs::openat(folder, name, flags, Mode::empty())?))
}

/// Whether opening failed because of a symbolic link, or because a path component is not a folder.
pub(crate) fn is_not_a_folder(error: &io::Error) -> bool {
    let errno = rustix::io::Errno::from_io_error(error);
    matches!(errno, Some(rustix::io::Errno::LOOP | rustix::io::Errno::NOTDIR))
}

/// Opens the files below a root. Keeps the last folder open, because most files are opened in the order of
/// their paths.
#[derive(Debug)]
pub(crate) struct Files<'a> {
    root: &'a OwnedFd,
    folder: Option<(String, OwnedFd)>,
}

impl<'a> Files<'a> {
    /// Opens files below `root`.
    pub(crate) fn new(root: &'a OwnedFd) -> Self {
        Self { root, folder: None }
    }

    /// Opens the file at `path`, relative to the root, for reading.
    pub(crate) fn open(&mut self, path: &str) -> io::Result<File> {
        let Some((folder, name)) = path.rsplit_once('/') else {
            return open_file(self.root, path);
        };
        if self.folder.as_ref().is_none_or(|(opened, _)| opened != folder) {
            self.folder = Some((folder.to_owned(), open_below(self.root, folder)?));
        }
        match &self.folder {
            Some((_, opened)) => open_file(opened, name),
            None => Err(rustix::io::Errno::NOENT.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(target_os = "linux")]
    #[test]
    fn a_read_leaves_the_access_time_of_a_file() {
        use std::time::{Duration, SystemTime};

        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("a.md");
        std::fs::write(&path, "text").unwrap();
        let long_ago = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
        let times = std::fs::FileTimes::new().set_accessed(long_ago);
        File::options().write(true).open(&path).unwrap().set_times(times).unwrap();
        let mut file = open_file(open_root(place.path()).unwrap(), "a.md").unwrap();
        assert_eq!(io::read_to_string(&mut file).unwrap(), "text");
        assert_eq!(path.metadata().unwrap().accessed().unwrap(), long_ago);
    }

    #[test]
    fn symbolic_links_below_the_root_are_not_followed() {
        let place = tempfile::tempdir().unwrap();
        let root = place.path().join("root");
        std::fs::create_dir_all(root.join("in/deep")).unwrap();
        std::fs::create_dir(place.path().join("out")).unwrap();
        std::fs::write(place.path().join("out/x.md"), "x").unwrap();
        std::fs::write(root.join("in/deep/x.md"), "x").unwrap();
        std::os::unix::fs::symlink("../out", root.join("link")).unwrap();
        std::os::unix::fs::symlink("../../out", root.join("in/link")).unwrap();
        std::os::unix::fs::symlink("../out/x.md", root.join("x.md")).unwrap();
        let opened = open_root(&root).unwrap();
        let mut files = Files::new(&opened);
        assert!(files.open("in/deep/x.md").is_ok());
        for path in ["link/x.md", "in/link/x.md", "x.md", "in/deep/x.md/x.md"] {
            assert!(is_not_a_folder(&files.open(path).unwrap_err()), "{path}");
        }
        for path in ["../out/x.md", "in/../../out/x.md", "/etc/passwd", "in//deep/x.md"] {
            assert!(files.open(path).is_err(), "{path}");
        }
    }
}
