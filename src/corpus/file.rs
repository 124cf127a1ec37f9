//! Reads and replaces a file below the root.
//!
//! Invariant: the folders of a path are opened one by one from the root, without following a symbolic link,
//! and every file is read, written and renamed by its name in the open folder. So nothing outside the root
//! is touched, even if a folder is replaced at the same time.

use std::fs::{File, Permissions};
use std::io::ErrorKind::{NotADirectory, NotFound};
use std::io::{Read as _, Write as _};
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::Path;

use rustix::fs::{AtFlags, Gid, Mode, OFlags, RenameFlags, Uid};
use rustix::io::Errno;

use super::Roots;
use super::attributes::copy_attributes;
use super::beneath::{check_new, descend, is_not_a_folder, make_below, open_root};
use crate::error::{Error, ErrorKind, Result};
use crate::failpoint::failpoint;
use crate::message::{message, shell_word};

/// The metadata of a file that changes when anybody writes to the file or replaces it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Seen {
    inode: (u64, u64),
    size: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl Seen {
    fn of(metadata: &std::fs::Metadata) -> Self {
        Self {
            inode: (metadata.dev(), metadata.ino()),
            size: metadata.len(),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
            changed: (metadata.ctime(), metadata.ctime_nsec()),
        }
    }
}

/// Folders that were created for a file, outermost first. When they are dropped, those that are empty are removed.
#[derive(Debug, Default)]
struct CreatedFolders(Vec<(OwnedFd, String)>);

impl Drop for CreatedFolders {
    fn drop(&mut self) {
        for (parent, name) in self.0.iter().rev() {
            // A folder with a file in it is kept, because the system removes only empty ones.
            rustix::fs::unlinkat(parent, name.as_str(), AtFlags::REMOVEDIR).ok();
        }
    }
}

/// The state of the folders of a file.
#[derive(Clone, Copy)]
enum Folders {
    /// They are there, and an interrupted edit made the innermost `made` ones.
    Present { made: usize },
    /// Those that are missing are created.
    Missing,
}

/// A file name in an open folder below the root.
#[derive(Debug)]
pub(crate) struct FileHandle<'a> {
    folder: OwnedFd,
    path: &'a Path,
    name: String,
    /// Removed at the end if the file was not created.
    _created: CreatedFolders,
}

impl<'a> FileHandle<'a> {
    /// Opens the folder of the file at `below`, relative to `root`. Messages call the file `path`.
    pub(super) fn open(root: &Path, below: &str, path: &'a str) -> Result<Self> {
        Self::in_folder(root, below, path, Folders::Present { made: 0 })
    }

    /// Opens the folder of a file for which an interrupted edit made the innermost `made` folders; see [`Self::open`].
    /// Those that are empty when the handle is dropped are removed.
    pub(super) fn open_made(root: &Path, below: &str, path: &'a str, made: usize) -> Result<Self> {
        Self::in_folder(root, below, path, Folders::Present { made })
    }

    /// Opens the folder of a file, and creates missing folders; see [`Self::open`]. Those that are empty when the
    /// handle is dropped are removed.
    pub(super) fn make(root: &Path, below: &str, path: &'a str) -> Result<Self> {
        Self::in_folder(root, below, path, Folders::Missing)
    }

    /// Returns the number of folders that [`Self::make`] would create, which are the innermost ones. Fails if it or the
    /// creation of the file would fail because of the path. Makes nothing.
    pub(super) fn check_new(root: &Path, below: &str, path: &str) -> Result<usize> {
        let opened = open_root(root).map_err(|error| Error::io(root, error))?;
        check_new(opened, below).map_err(|error| unmade(path, error))
    }

    fn in_folder(root: &Path, below: &str, path: &'a str, state: Folders) -> Result<Self> {
        if below.split('/').any(|part| matches!(part, "" | "." | "..")) {
            return Err(outside(path));
        }
        let root = open_root(root).map_err(|error| Error::io(root, error))?;
        let (folders, name) = below.rsplit_once('/').unwrap_or(("", below));
        let mut created = CreatedFolders::default();
        let mut add = |parent: BorrowedFd<'_>, name: &str| {
            created.0.push((parent.try_clone_to_owned()?, name.to_owned()));
            Ok(())
        };
        let folder = match state {
            Folders::Missing => make_below(root, folders, add),
            Folders::Present { made } => {
                let mut rest = folders.split_terminator('/').count();
                descend(root.as_fd(), folders, |parent, name| {
                    let is_made = rest <= made;
                    rest -= 1;
                    if is_made { add(parent, name) } else { Ok(()) }
                })
            }
        };
        let folder = folder.map_err(|error| match error {
            error if matches!(state, Folders::Missing) => unmade(path, error),
            // A symbolic link is another error than a file in the place of a folder.
            error if matches!(error.kind(), NotFound | NotADirectory) => gone(path),
            error if is_not_a_folder(&error) => outside(path),
            error => Error::io(Path::new(path), error),
        })?;
        Ok(Self { folder, path: Path::new(path), name: name.to_owned(), _created: created })
    }

    fn io(&self, error: impl Into<std::io::Error>) -> Error {
        Error::io(self.path, error.into())
    }

    /// Returns the error of a change in the folder of the file.
    fn in_folder_error(&self, error: Errno) -> Error {
        if !matches!(error, Errno::ACCESS | Errno::PERM) {
            return self.io(error);
        }
        let message = format!("{}: its folder is read-only", self.path.display());
        Error::new(ErrorKind::ReadOnly, message).with_hint(format!(
            "make the folder writable first: `chmod u+w {}`",
            shell_word(&self.path.parent().unwrap_or(self.path).to_string_lossy())
        ))
    }

    fn refused(&self, what: &str, hint: &'static str) -> Error {
        let message = format!("{}: {what}", self.path.display());
        Error::new(ErrorKind::EditRefused, message).with_reason("UNSAFE_FILE").with_hint(hint)
    }

    /// Opens the file. Refuses a symbolic link, a FIFO and a device, and a file with another hard link, which
    /// would keep the old bytes.
    fn file(&self) -> Result<File> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let opened = rustix::fs::openat(&self.folder, self.name.as_str(), flags, Mode::empty());
        let file = match opened {
            Ok(file) => File::from(file),
            Err(Errno::LOOP) => {
                return Err(self.refused(
                    "it is a symbolic link",
                    "edit the file that it leads to, if that is a document of the store",
                ));
            }
            Err(Errno::NOENT) => return Err(gone(&self.path.to_string_lossy())),
            Err(error) => return Err(self.io(error)),
        };
        let metadata = file.metadata().map_err(|error| self.io(error))?;
        if !metadata.is_file() {
            return Err(self.refused(
                "it is not a regular file",
                "replace it with a regular file, or remove the document from the store with `mdsel ingest`",
            ));
        }
        if metadata.nlink() > 1 {
            let hint = "replace it with a copy that has one link: `cp FILE NEW && mv NEW FILE`";
            return Err(self.refused("the file has several hard links", hint));
        }
        if metadata.mode() & 0o222 == 0 {
            let message = format!("{}: the file is read-only", self.path.display());
            return Err(Error::new(ErrorKind::ReadOnly, message).with_hint(format!(
                "make it writable first: `chmod u+w {}`",
                shell_word(&self.path.to_string_lossy())
            )));
        }
        Ok(file)
    }

    /// Returns the bytes of the file, and its metadata from before they were read. Fails if the file is larger than
    /// its folder in `roots` allows.
    pub(crate) fn read(&self, roots: &Roots) -> Result<(Vec<u8>, Seen)> {
        let file = self.file()?;
        // Taken before the bytes are read, so that a write during the read is detected as a change.
        let seen = Seen::of(&file.metadata().map_err(|error| self.io(error))?);
        roots.check_size(&self.path.to_string_lossy(), seen.size)?;
        let mut bytes = Vec::new();
        // With one byte more, a file that has grown since is not taken for the file that it was.
        file.take(seen.size.saturating_add(1))
            .read_to_end(&mut bytes)
            .map_err(|error| self.io(error))?;
        Ok((bytes, seen))
    }

    /// Returns whether there is nothing of this name.
    pub(crate) fn is_free(&self) -> bool {
        rustix::fs::statat(&self.folder, self.name.as_str(), AtFlags::SYMLINK_NOFOLLOW)
            .is_err_and(|error| error == Errno::NOENT)
    }

    /// Whether an edit can replace or remove the file.
    pub(crate) fn can_be_edited(&self) -> bool {
        self.file().is_ok()
    }

    /// Writes `bytes` to the file `temporary` in the same folder, with the owner, the mode and the extended
    /// attributes (access control list included) of the file `model` if there is one, and syncs it.
    pub(crate) fn stage(
        &self,
        temporary: &str,
        bytes: &[u8],
        model: Option<&FileHandle<'_>>,
    ) -> Result<()> {
        let old = model.map(FileHandle::file).transpose()?;
        let flags =
            OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        // Without a model, the mode is the one that any program gives a new file.
        let mode = if old.is_some() { 0o600 } else { 0o666 };
        let mode = Mode::from_raw_mode(mode);
        let new = rustix::fs::openat(&self.folder, temporary, flags, mode)
            .map_err(|error| self.in_folder_error(error))?;
        let mut new = File::from(new);
        failpoint!(EDIT_TEMPORARY_MADE);
        new.write_all(bytes).map_err(|error| self.io(error))?;
        if let Some(old) = old {
            let metadata = old.metadata().map_err(|error| self.io(error))?;
            let (owner, group) = (Uid::from_raw(metadata.uid()), Gid::from_raw(metadata.gid()));
            // Without the right to change the owner, the current user owns the new file. Without the right to change
            // the group, another one must not get what this one may do.
            let has_group = rustix::fs::fchown(&new, Some(owner), Some(group))
                .or_else(|_| rustix::fs::fchown(&new, None, Some(group)))
                .is_ok();
            copy_attributes(&old, &new).map_err(|error| self.io(error))?;
            let kept = if has_group { 0o7777 } else { 0o7707 };
            new.set_permissions(Permissions::from_mode(metadata.mode() & kept))
                .map_err(|error| self.io(error))?;
        }
        failpoint!(EDIT_TEMPORARY_WRITTEN);
        new.sync_all().map_err(|error| self.io(error))
    }

    /// Renames the file `temporary` to the file. Returns `CONFLICT` if the file is not the one that was `seen`:
    /// a concurrent write is kept.
    pub(crate) fn put_in_place(&self, temporary: &str, seen: &Seen) -> Result<()> {
        self.check_unchanged(seen)?;
        failpoint!(EDIT_BEFORE_RENAME);
        rustix::fs::renameat(&self.folder, temporary, &self.folder, self.name.as_str())
            .map_err(|error| self.in_folder_error(error))
    }

    fn check_unchanged(&self, seen: &Seen) -> Result<()> {
        let now = self.file()?.metadata().map_err(|error| self.io(error))?;
        if Seen::of(&now) == *seen {
            return Ok(());
        }
        Err(conflict(format!("{}: the file was changed during the edit", self.path.display())))
    }

    /// Renames the file `temporary` to the file, which must not exist.
    pub(crate) fn put_in_new_place(&self, temporary: &str) -> Result<()> {
        failpoint!(EDIT_BEFORE_RENAME);
        let name = self.name.as_str();
        let flags = RenameFlags::NOREPLACE;
        match rustix::fs::renameat_with(&self.folder, temporary, &self.folder, name, flags) {
            // A file system without this flag.
            Err(Errno::INVAL) if self.is_free() => {
                rustix::fs::renameat(&self.folder, temporary, &self.folder, name)
            }
            result => result,
        }
        .map_err(|error| match error {
            Errno::EXIST => {
                conflict(format!("{}: the file was created during the edit", self.path.display()))
            }
            error => self.in_folder_error(error),
        })
    }

    /// Removes the file. Returns `CONFLICT` if the file is not the one that was `seen`.
    pub(crate) fn remove(&self, seen: &Seen) -> Result<()> {
        self.check_unchanged(seen)?;
        failpoint!(EDIT_BEFORE_REMOVAL);
        rustix::fs::unlinkat(&self.folder, self.name.as_str(), AtFlags::empty())
            .map_err(|error| self.in_folder_error(error))
    }

    /// Syncs the folder. Until then a crash can undo the rename.
    pub(crate) fn sync_folder(&self) -> Result<()> {
        failpoint!(EDIT_RENAMED);
        rustix::fs::fsync(&self.folder).map_err(|error| self.io(error))
    }

    /// Whether the temporary file of that name is complete: whether its bytes have this hash.
    pub(crate) fn has_temporary(&self, temporary: &str, hash: &[u8; 32]) -> bool {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let open = || rustix::fs::openat(&self.folder, temporary, flags, Mode::empty()).ok();
        let Some(file) = is_temporary(temporary).then(open).flatten() else { return false };
        let mut hasher = blake3::Hasher::new();
        hasher.update_reader(File::from(file)).is_ok_and(|hasher| hasher.finalize() == *hash)
    }

    /// Removes the temporary file of that name, if it exists.
    pub(crate) fn remove_temporary(&self, temporary: &str) {
        if is_temporary(temporary) {
            rustix::fs::unlinkat(&self.folder, temporary, AtFlags::empty()).ok();
        }
    }
}

/// Returns the error for a file that is not the one that the edit was made for.
pub(crate) fn conflict(message: String) -> Error {
    Error::new(ErrorKind::Conflict, message).with_hint(
        "{run `mdsel ingest`, or pass --refresh|repeat the call with refresh and dry_run to update the store}; read \
         the section again, and repeat the edit",
    )
}

fn gone(path: &str) -> Error {
    Error::new(ErrorKind::Conflict, format!("{path}: there is no file")).with_hint(message!(
        "restore the file, whose text `mdsel read {path} -f raw` prints, or remove the document with \
         `mdsel ingest {path}`",
        path,
        path
    ))
}

/// Returns the error of a file that cannot be created at `path`.
fn unmade(path: &str, error: std::io::Error) -> Error {
    match Errno::from_io_error(&error) {
        Some(Errno::NOTDIR) => {
            Error::new(ErrorKind::EditRefused, format!("{path}: a folder in this path is a file"))
                .with_reason("EXISTS")
                .with_hint("choose another path")
        }
        Some(Errno::LOOP) => outside(path),
        _ => Error::io(Path::new(path), error),
    }
}

fn outside(path: &str) -> Error {
    Error::new(ErrorKind::OutsideRoot, format!("{path}: its folder is not below the root"))
        .with_hint(
            "replace the symbolic link with a folder, or ingest the folder that it leads to and edit there",
        )
}

/// The prefix of the names of all temporary files.
const PREFIX: &str = ".mdsel-edit-";

/// What precedes the number of folders that an edit made for a file, in the name of its temporary file.
const MADE_FOLDERS: &str = "-folders-";

/// The end of the names of temporary files that take back an edit.
const TAKE_BACK: &str = "-undo";

/// Returns a random name for a temporary file. The edit made this number of folders for the file.
pub(crate) fn temporary_name(made_folders: usize) -> String {
    use std::hash::{BuildHasher as _, Hasher as _, RandomState};
    let mut hasher = RandomState::new().build_hasher();
    hasher.write_u32(std::process::id());
    let name = format!("{PREFIX}{:016x}", hasher.finish());
    if made_folders == 0 { name } else { format!("{name}{MADE_FOLDERS}{made_folders}") }
}

/// Returns a random name for a temporary file that takes back the edit with the temporary file `name`.
pub(crate) fn temporary_name_to_take_back(name: &str) -> String {
    temporary_name(made_folders(name)) + TAKE_BACK
}

/// Whether the temporary file of that name takes back an edit.
pub(crate) fn takes_back(name: &str) -> bool {
    name.ends_with(TAKE_BACK)
}

/// Returns the number of folders that an edit made for the file with the temporary file `name`.
pub(crate) fn made_folders(name: &str) -> usize {
    let name = name.strip_suffix(TAKE_BACK).unwrap_or(name);
    name.split_once(MADE_FOLDERS).and_then(|(_, count)| count.parse().ok()).unwrap_or(0)
}

/// Whether `name` is the name of a temporary file. A hostile store may give any name.
pub(crate) fn is_temporary(name: &str) -> bool {
    let Some(rest) = name.strip_prefix(PREFIX) else { return false };
    let rest = rest.strip_suffix(TAKE_BACK).unwrap_or(rest);
    let (random, count) = rest.split_once(MADE_FOLDERS).unwrap_or((rest, "0"));
    random.bytes().all(|byte| byte.is_ascii_hexdigit())
        && count.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_temporary_file_says_what_a_recovery_does() {
        for made in [0, 2] {
            let name = temporary_name(made);
            let back = temporary_name_to_take_back(&name);
            assert!(is_temporary(&name) && is_temporary(&back), "{name} {back}");
            assert!(!takes_back(&name) && takes_back(&back), "{name} {back}");
            assert_eq!((made_folders(&name), made_folders(&back)), (made, made), "{name} {back}");
        }
        for name in
            ["README.md", ".mdsel-edit-../x", ".mdsel-edit-1-folders-/..", ".mdsel-edit-x-undo"]
        {
            assert!(!is_temporary(name), "{name}");
        }
        assert_ne!(temporary_name(0), temporary_name(0));
    }

    #[test]
    fn a_concurrent_write_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.md");
        std::fs::write(&path, "old").unwrap();
        let place = FileHandle::open(folder.path(), "x.md", "x.md").unwrap();
        let (_, seen) = place.read(&Roots::default()).unwrap();
        // An editor that saves by renaming, and one that writes in place.
        std::fs::write(folder.path().join("new"), "new").unwrap();
        std::fs::rename(folder.path().join("new"), &path).unwrap();
        place.stage(".mdsel-edit-1", b"mine", Some(&place)).unwrap();
        let error = place.put_in_place(".mdsel-edit-1", &seen).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Conflict);
        let (_, seen) = place.read(&Roots::default()).unwrap();
        std::fs::write(&path, "longer").unwrap();
        assert!(place.put_in_place(".mdsel-edit-1", &seen).is_err());
        assert_eq!(std::fs::read(&path).unwrap(), b"longer");
        let (_, seen) = place.read(&Roots::default()).unwrap();
        place.put_in_place(".mdsel-edit-1", &seen).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"mine");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn paths_outside_the_root_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("root");
        std::fs::create_dir_all(root.join("in")).unwrap();
        std::fs::create_dir(folder.path().join("out")).unwrap();
        std::fs::write(folder.path().join("out/x.md"), "x").unwrap();
        std::os::unix::fs::symlink("../out", root.join("link")).unwrap();
        std::os::unix::fs::symlink("../../out/x.md", root.join("in/x.md")).unwrap();
        for path in ["link/x.md", "../out/x.md", "in/../../out/x.md", "/out/x.md", "in//x.md", "."]
        {
            let kind = FileHandle::open(&root, path, path).unwrap_err().kind();
            assert_eq!(kind, ErrorKind::OutsideRoot, "{path}");
        }
        let link = FileHandle::open(&root, "in/x.md", "in/x.md").unwrap();
        assert_eq!(link.read(&Roots::default()).unwrap_err().kind(), ErrorKind::EditRefused);
        std::fs::write(root.join("in/y.md"), "y").unwrap();
        let other = FileHandle::open(&root, "in/y.md", "in/y.md").unwrap();
        let (_, seen) = other.read(&Roots::default()).unwrap();
        assert!(link.stage(".mdsel-edit-1", b"z", Some(&link)).is_err());
        assert!(link.put_in_place("y.md", &seen).is_err());
        assert_eq!(std::fs::read(folder.path().join("out/x.md")).unwrap(), b"x");
    }
}
