//! Opens folders and files below the root, one path component at a time, by descriptor.
//!
//! Invariant: no symbolic link below the root is followed, even if a folder is replaced at the same time. So
//! every file was below the root when it was opened.

use std::fs::File;
use std::io::{self, Write as _};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

use rustix::fs::{AtFlags, FileType, Mode, OFlags};
use rustix::io::Errno;
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

/// Opens the folder at `path` below `root`, one path component at a time. An empty path is the root.
pub(crate) fn open_below(root: impl AsFd, path: &str) -> io::Result<OwnedFd> {
    descend(root.as_fd(), path, |_, _| Ok(()))
}

/// Opens the folder at `path` below `root` like [`open_below`], and creates missing folders. Calls `created` with the
/// parent and the name of each folder that it creates.
pub(crate) fn make_below(
    root: impl AsFd,
    path: &str,
    mut created: impl FnMut(BorrowedFd<'_>, &str) -> io::Result<()>,
) -> io::Result<OwnedFd> {
    descend(root.as_fd(), path, |parent, name| {
        match rustix::fs::mkdirat(parent, name, Mode::from_raw_mode(0o777)) {
            Ok(()) => created(parent, name),
            Err(Errno::EXIST) => Ok(()),
            Err(error) => Err(error.into()),
        }
    })
}

/// Opens the folder at `path` below `root`. Calls `prepare` with the parent and the name of each folder before it is
/// opened. The error of a symbolic link is `LOOP`, and that of another file is `NOTDIR`.
pub(crate) fn descend(
    root: BorrowedFd<'_>,
    path: &str,
    mut prepare: impl FnMut(BorrowedFd<'_>, &str) -> io::Result<()>,
) -> io::Result<OwnedFd> {
    let mut folder: Option<OwnedFd> = None;
    for name in path.split_terminator('/') {
        if matches!(name, "" | "." | "..") {
            return Err(Errno::NOENT.into());
        }
        let parent = folder.as_ref().map_or(root, AsFd::as_fd);
        prepare(parent, name)?;
        folder = match open_folder(parent, name) {
            // Linux reports a link, too, as something that is not a folder.
            Err(error) if is_not_a_folder(&error) && is_link(parent, name) => {
                return Err(Errno::LOOP.into());
            }
            opened => Some(opened?),
        };
    }
    folder.map_or_else(|| open_folder(root, "."), Ok)
}

/// Returns the number of folders that [`make_below`] would create for the file at `path`, or the error that it or
/// [`make_file`] would have. Makes nothing.
pub(crate) fn check_new(root: impl AsFd, path: &str) -> io::Result<usize> {
    for name in path.split('/') {
        if let Err(Errno::NAMETOOLONG) = rustix::fs::statat(&root, name, AtFlags::SYMLINK_NOFOLLOW)
        {
            return Err(Errno::NAMETOOLONG.into());
        }
    }
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let mut left = folder.split_terminator('/').count() + 1;
    let opened = descend(root.as_fd(), folder, |_, _| {
        left -= 1;
        Ok(())
    });
    match opened {
        Ok(_) => Ok(0),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(left),
        Err(error) => Err(error),
    }
}

fn is_link(folder: BorrowedFd<'_>, name: &str) -> bool {
    rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)
        .is_ok_and(|state| FileType::from_raw_mode(state.st_mode).is_symlink())
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
                Err(Errno::PERM) => OWNS_FILES.store(false, Ordering::Relaxed),
                opened => return Ok(File::from(opened?)),
            }
        }
    }
    Ok(File::from(rustix::fs::openat(folder, name, flags, Mode::empty())?))
}

/// Whether opening failed because of a symbolic link, or because a path component is not a folder.
pub(crate) fn is_not_a_folder(error: &io::Error) -> bool {
    matches!(Errno::from_io_error(error), Some(Errno::LOOP | Errno::NOTDIR))
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
            None => Err(Errno::NOENT.into()),
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
