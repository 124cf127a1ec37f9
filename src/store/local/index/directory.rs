//! The folder of an index as a tantivy directory.
//!
//! Invariant: an index on a read-only file system can be read.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tantivy::Directory;
use tantivy::directory::error::{
    DeleteError, LockError, OpenDirectoryError, OpenReadError, OpenWriteError,
};
use tantivy::directory::{
    DirectoryLock, FileHandle, Lock, MmapDirectory, WatchCallback, WatchHandle, WritePtr,
};

/// A folder in which readers work without a lock if the lock file cannot be written, as on a full
/// disk. No other process can write to the index then either.
#[derive(Clone, Debug)]
pub(super) struct IndexFolder {
    inner: MmapDirectory,
}

impl IndexFolder {
    /// Opens the folder at `path`. Fails if it does not exist or is a symbolic link.
    pub(super) fn open(path: &Path) -> Result<Self, OpenDirectoryError> {
        match path.symlink_metadata() {
            Ok(metadata) if metadata.is_dir() => {
                MmapDirectory::open(path).map(|inner| Self { inner })
            }
            _ => Err(OpenDirectoryError::DoesNotExist(PathBuf::from(path))),
        }
    }
}

impl Directory for IndexFolder {
    fn get_file_handle(&self, path: &Path) -> Result<Arc<dyn FileHandle>, OpenReadError> {
        self.inner.get_file_handle(path)
    }

    fn delete(&self, path: &Path) -> Result<(), DeleteError> {
        self.inner.delete(path)
    }

    fn exists(&self, path: &Path) -> Result<bool, OpenReadError> {
        self.inner.exists(path)
    }

    fn open_write(&self, path: &Path) -> Result<WritePtr, OpenWriteError> {
        self.inner.open_write(path)
    }

    fn atomic_read(&self, path: &Path) -> Result<Vec<u8>, OpenReadError> {
        self.inner.atomic_read(path)
    }

    fn atomic_write(&self, path: &Path, data: &[u8]) -> io::Result<()> {
        self.inner.atomic_write(path, data)
    }

    fn sync_directory(&self) -> io::Result<()> {
        self.inner.sync_directory()
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
