//! The folder of an index as a tantivy directory.
//!
//! Invariants: an index on a read-only file system can be read. A merge does not map the files that it
//! reads into memory. An open file can be read after it was deleted. The files of a segment are on the disk
//! before `meta.json` names them.

use std::ffi::OsStr;
use std::fs::{File, Permissions};
use std::io::{self, Write as _};
use std::ops::Range;
use std::os::unix::fs::{FileExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use tantivy::directory::error::{
    DeleteError, LockError, OpenDirectoryError, OpenReadError, OpenWriteError,
};
use tantivy::directory::{
    AntiCallToken, DirectoryLock, FileHandle, Lock, MmapDirectory, OwnedBytes, TerminatingWrite,
    WatchCallback, WatchHandle, WritePtr,
};
use tantivy::{Directory, HasLen};

/// Bytes of a file that are read at once.
const PIECE_BYTES: usize = 128 << 10;

/// The maximum number of bytes that a search copies out of a file. To copy so few takes less time than to
/// map their pages into memory.
const COPIED_BYTES: usize = 16 << 10;

/// The file in which tantivy lists the files that it made, to delete those that no segment has any more. It writes
/// and syncs the list for each new file, so it is read from the folder instead.
const LIST: &str = ".managed.json";

/// The maximum number of files that may wait to be synced. They are open, and a process may open few files.
const MOST_UNSYNCED: usize = 32;

/// What the files of an index are opened for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Access {
    /// For searches, which read few of their bytes.
    Read,
    /// For merges, which read all of their bytes in order.
    Write,
}

/// A folder in which readers work without a lock if the lock file cannot be written, as on a full
/// disk. No other process can write to the index then either.
#[derive(Clone, Debug)]
pub(super) struct IndexFolder {
    inner: MmapDirectory,
    path: PathBuf,
    access: Access,
    unsynced: Unsynced,
}

/// Files that are written and not yet synced. To sync a segment file by file takes several times as long as to
/// sync its files at once.
#[derive(Clone, Debug, Default)]
struct Unsynced(Arc<Mutex<Vec<File>>>);

impl Unsynced {
    /// Adds a file, or syncs it at once if many wait.
    fn add(&self, file: File) -> io::Result<()> {
        let mut files = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if files.len() < MOST_UNSYNCED {
            files.push(file);
            return Ok(());
        }
        drop(files);
        file.sync_data()
    }

    /// Syncs the files, each on a thread of its own if one can be made, because each only waits for the disk.
    fn sync(&self) -> io::Result<()> {
        let files = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        if let [file] = &files[..] {
            return file.sync_data();
        }
        std::thread::scope(|scope| {
            let start = |file| {
                let sync = move || File::sync_data(file);
                (file, std::thread::Builder::new().spawn_scoped(scope, sync))
            };
            let syncs: Vec<_> = files.iter().map(start).collect();
            syncs.into_iter().try_for_each(|(file, sync)| match sync {
                Ok(sync) => {
                    sync.join().unwrap_or_else(|_| Err(io::Error::other("a thread failed")))
                }
                Err(_) => file.sync_data(),
            })
        })
    }
}

impl IndexFolder {
    /// Opens the folder at `path`. Fails if it does not exist or is a symbolic link.
    pub(super) fn open(path: &Path, access: Access) -> Result<Self, OpenDirectoryError> {
        match path.symlink_metadata() {
            Ok(metadata) if metadata.is_dir() => {
                let inner = MmapDirectory::open(path)?;
                Ok(Self { inner, path: path.to_owned(), access, unsynced: Unsynced::default() })
            }
            _ => Err(OpenDirectoryError::DoesNotExist(PathBuf::from(path))),
        }
    }

    /// Returns what tantivy reads from [`LIST`].
    fn list(&self) -> io::Result<Vec<u8>> {
        let mut names = Vec::new();
        for entry in self.path.read_dir()? {
            let name = entry?.file_name();
            names.extend(name.into_string().ok().filter(|name| is_index_file(name)));
        }
        Ok(serde_json::to_vec(&names)?)
    }
}

/// Whether a file has a name that tantivy gives: the id of a segment with an extension, or `meta.json`.
fn is_index_file(name: &str) -> bool {
    let id = name.split('.').next().unwrap_or_default();
    name == "meta.json" || id.len() == 32 && id.bytes().all(|byte| byte.is_ascii_hexdigit())
}

impl Directory for IndexFolder {
    fn get_file_handle(&self, path: &Path) -> Result<Arc<dyn FileHandle>, OpenReadError> {
        let extension = path.extension().and_then(OsStr::to_str).unwrap_or_default();
        match (self.access, extension) {
            (Access::Write, _) => Ok(Arc::new(PiecewiseFile::open(&self.path, path)?)),
            // A search reads few blocks of terms and few lists of postings, which are far apart.
            (Access::Read, "term" | "idx") => {
                let (file, _) = open_file(&self.path, path)?;
                let mapped = self.inner.get_file_handle(path)?;
                Ok(Arc::new(SearchedFile { file, mapped }))
            }
            (Access::Read, _) => self.inner.get_file_handle(path),
        }
    }

    fn delete(&self, path: &Path) -> Result<(), DeleteError> {
        self.inner.delete(path)
    }

    fn exists(&self, path: &Path) -> Result<bool, OpenReadError> {
        self.inner.exists(path)
    }

    fn open_write(&self, path: &Path) -> Result<WritePtr, OpenWriteError> {
        let file = File::create_new(self.path.join(path)).map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => OpenWriteError::FileAlreadyExists(path.to_owned()),
            _ => OpenWriteError::wrap_io_error(error, path.to_owned()),
        })?;
        let unsynced = self.unsynced.clone();
        Ok(WritePtr::new(Box::new(NewFile { file: Some(file), unsynced })))
    }

    fn atomic_read(&self, path: &Path) -> Result<Vec<u8>, OpenReadError> {
        if path == Path::new(LIST) {
            return self
                .list()
                .map_err(|error| OpenReadError::wrap_io_error(error, path.to_owned()));
        }
        self.inner.atomic_read(path)
    }

    fn atomic_write(&self, path: &Path, data: &[u8]) -> io::Result<()> {
        if path == Path::new(LIST) {
            return Ok(());
        }
        self.unsynced.sync()?;
        // tantivy would make these files readable for their owner only. Like all others, they get the
        // permissions that the umask leaves.
        let mut file = tempfile::Builder::new()
            .permissions(Permissions::from_mode(0o666))
            .tempfile_in(&self.path)?;
        file.write_all(data)?;
        file.as_file().sync_data()?;
        file.persist(self.path.join(path))?;
        Ok(())
    }

    fn sync_directory(&self) -> io::Result<()> {
        self.unsynced.add(File::open(&self.path)?)?;
        self.unsynced.sync()
    }

    fn acquire_lock(&self, lock: &Lock) -> Result<DirectoryLock, LockError> {
        match self.inner.acquire_lock(lock) {
            Err(LockError::IoError(error))
                if lock.is_blocking
                    && matches!(
                        error.kind(),
                        io::ErrorKind::ReadOnlyFilesystem
                            | io::ErrorKind::PermissionDenied
                            | io::ErrorKind::StorageFull
                    ) =>
            {
                Ok(DirectoryLock::from(Box::new(())))
            }
            other => other,
        }
    }

    fn watch(&self, _: WatchCallback) -> tantivy::Result<WatchHandle> {
        Ok(WatchHandle::empty())
    }
}

/// Opens the file `name` in `folder`. Returns it and its length in bytes.
fn open_file(folder: &Path, name: &Path) -> Result<(File, usize), OpenReadError> {
    let open = || {
        let file = File::open(folder.join(name))?;
        let length = usize::try_from(file.metadata()?.len()).map_err(io::Error::other)?;
        Ok((file, length))
    };
    open().map_err(|error: io::Error| match error.kind() {
        io::ErrorKind::NotFound => OpenReadError::FileDoesNotExist(name.to_owned()),
        _ => OpenReadError::wrap_io_error(error, name.to_owned()),
    })
}

/// A file that is being written.
struct NewFile {
    /// `None` after it is complete.
    file: Option<File>,
    unsynced: Unsynced,
}

impl io::Write for NewFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.file {
            Some(file) => file.write(bytes),
            None => Err(io::Error::other("the file is complete")),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl TerminatingWrite for NewFile {
    fn terminate_ref(&mut self, _: AntiCallToken) -> io::Result<()> {
        self.file.take().map_or(Ok(()), |file| self.unsynced.add(file))
    }
}

fn read(file: &File, range: Range<usize>) -> io::Result<OwnedBytes> {
    let mut bytes = vec![0; range.len()];
    file.read_exact_at(&mut bytes, range.start as u64)?;
    Ok(OwnedBytes::new(bytes))
}

/// A file that is read in pieces. A merge reads each file from its beginning to its end, a few bytes at a
/// time. Mapped into memory, all files of a merge would count as memory of the process.
#[derive(Debug)]
struct PiecewiseFile {
    file: File,
    length: usize,
    /// The bytes that were read last, and their offset.
    piece: Mutex<(usize, OwnedBytes)>,
}

impl PiecewiseFile {
    fn open(folder: &Path, name: &Path) -> Result<Self, OpenReadError> {
        let (file, length) = open_file(folder, name)?;
        Ok(Self { file, length, piece: Mutex::new((0, OwnedBytes::empty())) })
    }
}

impl HasLen for PiecewiseFile {
    fn len(&self) -> usize {
        self.length
    }
}

impl FileHandle for PiecewiseFile {
    fn read_bytes(&self, range: Range<usize>) -> io::Result<OwnedBytes> {
        if range.start > range.end || range.end > self.length {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        if range.len() > PIECE_BYTES / 2 {
            return read(&self.file, range);
        }
        let mut piece = self.piece.lock().unwrap_or_else(PoisonError::into_inner);
        let (start, bytes) = &*piece;
        if range.start < *start || range.end > start + bytes.len() {
            let end = self.length.min(range.start + PIECE_BYTES);
            *piece = (range.start, read(&self.file, range.start..end)?);
        }
        let (start, bytes) = &*piece;
        Ok(bytes.slice(range.start - start..range.end - start))
    }
}

/// A file of which short ranges are copied. Longer ones are mapped.
#[derive(Debug)]
struct SearchedFile {
    file: File,
    mapped: Arc<dyn FileHandle>,
}

impl HasLen for SearchedFile {
    fn len(&self) -> usize {
        self.mapped.len()
    }
}

impl FileHandle for SearchedFile {
    fn read_bytes(&self, range: Range<usize>) -> io::Result<OwnedBytes> {
        if range.len() > COPIED_BYTES || range.start > range.end || range.end > self.len() {
            return self.mapped.read_bytes(range);
        }
        read(&self.file, range)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_wait_to_be_synced_until_the_folder_is() {
        let place = tempfile::tempdir().unwrap();
        let folder = IndexFolder::open(place.path(), Access::Write).unwrap();
        let waiting = || folder.unsynced.0.lock().unwrap().len();
        for number in 0..MOST_UNSYNCED + 8 {
            let mut file = folder.open_write(Path::new(&format!("{number}.pos"))).unwrap();
            file.write_all(b"bytes").unwrap();
            file.terminate().unwrap();
        }
        assert_eq!(waiting(), MOST_UNSYNCED);
        folder.sync_directory().unwrap();
        assert_eq!(waiting(), 0);
        folder.open_write(Path::new("a.pos")).unwrap().terminate().unwrap();
        assert_eq!(waiting(), 1);
        folder.atomic_write(Path::new("meta.json"), b"{}").unwrap();
        assert_eq!(waiting(), 0);
    }

    #[test]
    fn a_file_has_the_same_bytes_however_it_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let bytes: Vec<u8> = (0..251).cycle().take(PIECE_BYTES * 3).collect();
        for extension in ["pos", "idx"] {
            std::fs::write(folder.path().join(format!("a.{extension}")), &bytes).unwrap();
        }
        let open = |access, name| {
            let folder = IndexFolder::open(folder.path(), access).unwrap();
            folder.get_file_handle(Path::new(name)).unwrap()
        };
        let mapped = open(Access::Read, "a.pos");
        let others = [open(Access::Write, "a.pos"), open(Access::Read, "a.idx")];
        assert!(others.iter().all(|file| file.len() == mapped.len()));
        let piece = PIECE_BYTES;
        let end = bytes.len();
        for range in [
            0..0,
            0..10,
            5..piece,
            piece - 1..piece + 1,
            7..12,
            end - 3..end,
            end..end,
            0..end,
            piece..2 * piece,
            1..COPIED_BYTES + 1,
            1..COPIED_BYTES + 2,
        ] {
            for file in &others {
                let read = file.read_bytes(range.clone()).unwrap();
                assert_eq!(&*read, &bytes[range.clone()], "{range:?}");
                assert_eq!(&*read, &*mapped.read_bytes(range.clone()).unwrap());
            }
        }
        assert!(others[0].read_bytes(0..end + 1).is_err());
        let missing = IndexFolder::open(folder.path(), Access::Write).unwrap();
        let missing = missing.get_file_handle(Path::new("b.idx")).unwrap_err();
        assert!(matches!(missing, OpenReadError::FileDoesNotExist(_)), "{missing:?}");
    }
}
