//! The store: the ingested documents, and the ways to find them.
//!
//! All commands access documents through this module only. `local` is the engine for one machine: a
//! SQLite file and a full-text index derived from it. `postgres` is the engine for many machines: a schema of
//! a server. `memory` is for tests.
//!
//! Invariants: all parts of a document change together or not at all. All answers of a reader come
//! from one generation.

pub mod file;
mod interrupted;
mod local;
mod memory;
#[cfg(feature = "postgres")]
mod postgres;
mod reader;
mod search;
mod write;

pub(crate) use local::is_guarded;
pub use memory::Memory;
#[cfg(feature = "postgres")]
pub use postgres::{Address, Postgres};
pub use reader::{Facts, FrontMatterData, KeyTypes, Lookup, Purpose, Reader, Totals};
pub use search::{DocumentFilter, Ranked, RankedSection, Ranking, SectionFilter, SectionId, Under};
use write::new_identity;
pub use write::{Writer, WriterMetadata};

use std::fmt::Debug;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crate::corpus::{FileState, Roots, resolved, takes_back, temporary_name_to_take_back};
use crate::error::{Error, ErrorKind, Result, Warning};
use crate::prepare::checksums::Checksums;
use crate::trust::{Trust, Wish};
use local::LocalEngine;

/// What to do if another process has locked the store, and how long this one waits cannot be set.
pub(crate) const REPEAT_WHEN_UNLOCKED: &str =
    "wait until the other process has finished, then repeat the {command|call}";

/// What to do if another process has locked the store.
const LOCKED_HINT: &str = "wait until the other process has finished{, or wait longer with --wait SECONDS|, then repeat the call}";

/// Where documents are kept: what differs between a file on this machine and a server.
pub trait Engine: Debug + Send + Sync {
    /// Returns the path of the store file, absolute and free of symbolic links; `None` if the store is
    /// not a file.
    fn path(&self) -> Option<&Path>;

    /// Returns the files and folders that belong to the store and are never documents.
    fn own_files(&self) -> Vec<PathBuf>;

    /// Opens the newest generation.
    ///
    /// # Errors
    ///
    /// `STORE_NOT_FOUND` if the store does not exist.
    fn reader(&self, purpose: Purpose) -> Result<Box<dyn Reader>>;

    /// Opens the store for writing. Waits up to `wait` for another writer.
    ///
    /// # Errors
    ///
    /// `STORE_NOT_FOUND` if the store does not exist and is not to be created.
    fn writer(&self, if_absent: IfAbsent, wait: Duration) -> Result<Box<dyn Writer>>;

    /// Opens the store for one part of an ingest by several workers, and creates it if it does not exist.
    /// What the writer commits is seen by readers when all parts are complete.
    ///
    /// # Errors
    ///
    /// `USAGE` if the store has one writer at a time.
    fn shard_writer(&self, _: &Shard, _: Duration) -> Result<Box<dyn Writer>> {
        Err(Error::new(ErrorKind::Usage, "only a store on a server is ingested in parts")
            .with_hint("leave out --shard, or name a server with --db; see `mdsel help servers`"))
    }
}

/// What a writer does if its store does not exist, which is decided while no other process writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IfAbsent {
    /// Creates an empty store.
    Create,
    /// Fails with `STORE_NOT_FOUND`.
    Fail,
}

/// One part of an ingest by several workers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shard {
    /// The number of the part, from 0.
    pub index: u32,
    /// The number of parts, at most 65,535.
    pub count: u32,
    /// The name of the ingest, the same for all parts.
    pub ingest: String,
}

impl Shard {
    /// Returns whether the document at `path` is in this part.
    pub(crate) fn takes(&self, path: &str) -> bool {
        let mut bytes = [0; 4];
        bytes.copy_from_slice(&blake3::hash(path.as_bytes()).as_bytes()[8..12]);
        u32::from_le_bytes(bytes) % self.count.max(1) == self.index
    }
}

/// A store, which need not exist yet, and the decision which of its settings to follow.
#[derive(Debug)]
pub struct Store {
    engine: Box<dyn Engine>,
    trust: Trust,
    warnings: Mutex<Vec<Warning>>,
}

impl Store {
    /// Returns the store file at `path`, which must be absolute.
    ///
    /// # Errors
    ///
    /// `STORE_NOT_FOUND` if `path` is a symbolic link that leads to no file: a store would be made in another folder.
    pub fn at(path: &Path, trust: Trust) -> Result<Self> {
        Ok(Self::new(Box::new(LocalEngine::new(resolved(path)?)), trust))
    }

    /// Returns the store that `engine` keeps.
    pub fn new(engine: Box<dyn Engine>, trust: Trust) -> Self {
        Self { engine, trust, warnings: Mutex::default() }
    }

    /// Returns the path of the store file; `None` if the store is not a file.
    pub fn path(&self) -> Option<&Path> {
        self.engine.path()
    }

    /// Returns the files and folders that belong to the store and are never documents.
    pub fn own_files(&self) -> Vec<PathBuf> {
        self.engine.own_files()
    }

    /// Returns what decides which settings of the store to follow.
    pub fn trust(&self) -> &Trust {
        &self.trust
    }

    /// Returns whether the user accepted everything that the store asks for. `roots` are its folders.
    pub(crate) fn is_trusted(&self, roots: &Roots) -> bool {
        self.check_trust(roots).is_ok()
    }

    /// Returns the warnings about interrupted edits, damaged options and a store without documents since the last call.
    pub fn take_warnings(&self) -> Vec<Warning> {
        std::mem::take(&mut *self.warnings.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Opens the store for reading, after finishing edits that were interrupted.
    pub fn reader(&self, purpose: Purpose) -> Result<Box<dyn Reader>> {
        let mut reader = self.open(purpose)?;
        if reader.facts().is_interrupted {
            drop(reader);
            let finished = self.try_to_finish_edits();
            reader = self.open(purpose)?;
            match finished {
                Ok(warnings) => self.warn(warnings),
                // Another process finishes the edit, or is about to make it.
                Err(error) if error.kind() == ErrorKind::Locked => {}
                // If the edits cannot be finished now, the store can still be read.
                Err(error) if reader.facts().is_interrupted => {
                    let message = format!("an edit was begun and not finished yet: {error}");
                    self.warn(vec![Warning::new(EDIT_OPEN, message)]);
                }
                Err(_) => {}
            }
        }
        if reader.facts().has_lost_options {
            self.warn(vec![options_lost()]);
        }
        // The first ingest found no file, or it was killed.
        if reader.generation() == 0 {
            let message = "no document was ever ingested into the store; run `mdsel ingest`";
            self.warn(vec![Warning::new(EMPTY_STORE, message)]);
        }
        Ok(reader)
    }

    /// Opens the newest generation. Most readers wait for a fixed time.
    fn open(&self, purpose: Purpose) -> Result<Box<dyn Reader>> {
        self.engine.reader(purpose).map_err(|error| match (error.kind(), purpose) {
            (ErrorKind::Locked, Purpose::Read | Purpose::Search) => {
                error.map_hints(|_| REPEAT_WHEN_UNLOCKED.into())
            }
            _ => error,
        })
    }

    /// Adds the warnings that [`Self::take_warnings`] does not return yet.
    fn warn(&self, warnings: Vec<Warning>) {
        let mut all = self.warnings.lock().unwrap_or_else(PoisonError::into_inner);
        for warning in warnings {
            if !all.contains(&warning) {
                all.push(warning);
            }
        }
    }

    /// Opens the store for reading, and leaves interrupted edits as they are; `None` if it does not
    /// exist.
    pub fn peek(&self, purpose: Purpose) -> Result<Option<Box<dyn Reader>>> {
        match self.open(purpose) {
            Ok(reader) => Ok(Some(reader)),
            Err(error) if error.kind() == ErrorKind::StoreNotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Returns whether the store exists. Does not wait for a program that locks it.
    pub fn exists(&self) -> Result<bool> {
        match self.engine.reader(Purpose::ReadWithin(Duration::ZERO)) {
            Ok(_) => Ok(true),
            Err(error) => match error.kind() {
                ErrorKind::Locked => Ok(true),
                ErrorKind::StoreNotFound => Ok(false),
                _ => Err(error),
            },
        }
    }

    /// Opens the store for writing; see [`Engine::writer`].
    pub fn writer(&self, if_absent: IfAbsent, wait: Duration) -> Result<Box<dyn Writer>> {
        self.engine.writer(if_absent, wait)
    }

    /// Opens the store for one part of an ingest by several workers; see [`Engine::shard_writer`].
    pub fn shard_writer(&self, shard: &Shard, wait: Duration) -> Result<Box<dyn Writer>> {
        self.engine.shard_writer(shard, wait)
    }

    /// Opens the store for a change that reads no files: finishes interrupted edits first, because they compare the
    /// files with the stored documents. Returns the warnings about them.
    ///
    /// # Errors
    ///
    /// `STORE_NOT_FOUND` if the store does not exist and is not to be created. `UNTRUSTED_STORE` if an edit was
    /// interrupted and the user has not accepted what the store asks for.
    pub(crate) fn recovered_writer(
        &self,
        if_absent: IfAbsent,
        wait: Duration,
    ) -> Result<(Box<dyn Writer>, Vec<Warning>)> {
        let writer = self.writer(if_absent, wait)?;
        if writer.intents()?.is_empty() { Ok((writer, Vec::new())) } else { self.checked(writer) }
    }

    /// Opens the store for an edit: finishes interrupted edits first, and returns the warnings about
    /// them.
    ///
    /// # Errors
    ///
    /// `STORE_NOT_FOUND` if the store does not exist: it is not created. `UNTRUSTED_STORE` if the user has not
    /// accepted what the store asks for, because its edits name files. `STORE_CORRUPT` if its options are damaged.
    pub fn trusted_writer(&self, wait: Duration) -> Result<(Box<dyn Writer>, Vec<Warning>)> {
        let writer = self.writer(IfAbsent::Fail, wait)?;
        self.checked(writer)
    }

    /// Finishes interrupted edits, if the user has accepted what the store asks for.
    fn checked(&self, mut writer: Box<dyn Writer>) -> Result<(Box<dyn Writer>, Vec<Warning>)> {
        check_options(writer.as_ref())?;
        if let Some(root) = writer.root()? {
            let options = writer.options()?.unwrap_or_default();
            self.check_trust(&Roots::of_store(self.path(), &root, &options))?;
        }
        let warnings = self.recover(writer.as_mut())?;
        Ok((writer, warnings))
    }

    /// Returns `UNTRUSTED_STORE` if the user has not accepted that the store names files below `roots`. A server names
    /// none.
    pub fn check_trust(&self, roots: &Roots) -> Result<()> {
        self.path()
            .map_or(Ok(()), |path| self.trust.check(path, &Wish::of(path, roots), &Wish::default()))
    }

    /// Finishes or undoes an interrupted edit: gives each of its files the version that the store has.
    /// `writer` has committed all its changes.
    pub(crate) fn recover(&self, writer: &mut dyn Writer) -> Result<Vec<Warning>> {
        interrupted::recover(writer, &*self.engine)
    }

    /// Finishes edits that were interrupted. Does nothing if another process is writing, if the store
    /// is read-only, or if the store is not trusted.
    pub fn finish_edits(&self) -> Result<Vec<Warning>> {
        self.try_to_finish_edits().or_else(|error| match error.kind() {
            ErrorKind::Locked | ErrorKind::ReadOnly | ErrorKind::UntrustedStore => Ok(Vec::new()),
            _ => Err(error),
        })
    }

    /// Finishes edits that were interrupted, unless the folder of their files is missing.
    fn try_to_finish_edits(&self) -> Result<Vec<Warning>> {
        let (writer, mut warnings) = self.trusted_writer(Duration::ZERO)?;
        if !writer.intents()?.is_empty() {
            let message = "an edit was begun and not finished, and a folder of its files is missing or empty; \
                           `mdsel verify --drop-edits` drops it if the folder is gone for good";
            warnings.push(Warning::new(EDIT_OPEN, message));
        }
        warnings.extend(writer.close()?);
        Ok(warnings)
    }
}

/// The default name of a store file.
pub(crate) const FILE_NAME: &str = ".mdsel.db";

/// The code of the warning about a store that never had a document.
pub(crate) const EMPTY_STORE: &str = "EMPTY_STORE";

/// The code of the warning about an edit that was begun and not finished.
const EDIT_OPEN: &str = "EDIT_OPEN";

/// The code of the warning about damaged options.
pub(crate) const OPTIONS_LOST: &str = "OPTIONS_LOST";

/// Returns the warning that the store may lack what is inside documents, because a program that did not find it parsed
/// them.
pub(crate) fn parsed_before() -> Warning {
    let message = "an older version parsed the documents, so some of their code, tables, tasks and front \
                   matter may not be found; the next `mdsel ingest` parses them again";
    Warning::new("PARSED_BEFORE", message)
}

/// Returns the warning that the options of the store are damaged.
pub(crate) fn options_lost() -> Warning {
    let message = "the settings of the store are damaged; until they are given again, as in `mdsel ingest --ext md` \
                   and `mdsel ingest --collection NAME FOLDER`, its collections are unknown, and no document is added \
                   or removed";
    Warning::new(OPTIONS_LOST, message)
}

/// Returns the error of a command that needs options that are damaged.
pub(crate) fn options_unknown() -> Error {
    let message =
        "the settings of the store are damaged, so the folders of its documents are unknown";
    let hint = "give the settings again, as in `mdsel ingest --ext md` and `mdsel ingest --collection NAME FOLDER`";
    Error::new(ErrorKind::StoreCorrupt, message).with_hint(hint)
}

/// Fails if the options of the store are damaged, so that nobody knows where the files of its documents are.
pub(crate) fn check_options(writer: &dyn Writer) -> Result<()> {
    if writer.metadata()?.has_lost_options { Err(options_unknown()) } else { Ok(()) }
}

/// A stored document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredDocument {
    /// The id, which is never reused for another version of the document.
    pub id: i64,
    /// The path relative to the root, with `/` as separator.
    pub path: String,
    /// blake3 of the bytes.
    pub hash: [u8; 32],
    /// The metadata of the file when it was ingested.
    pub state: FileState,
    /// Whether the document contains bytes that are not UTF-8.
    pub is_lossy: bool,
    /// Whether the document contains LDMD markers.
    pub has_ldmd: bool,
    /// The checksums of the parts of the document; a part is compared when it is read.
    pub(crate) checksums: Checksums,
}

impl StoredDocument {
    /// Returns whether one of `texts` of the document has bytes that are not UTF-8, which are shown as U+FFFD.
    pub(crate) fn is_lossy_in<'a>(&self, texts: impl IntoIterator<Item = &'a str>) -> bool {
        let mut texts = texts.into_iter();
        self.is_lossy && texts.any(|text| text.contains(char::REPLACEMENT_CHARACTER))
    }
}

/// A file that an edit is replacing, creating or removing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EditIntent {
    /// The path relative to the root, with `/` as separator.
    pub path: String,
    /// The name of the temporary file in the same folder. It also says how many folders the edit made for the file, and
    /// whether the edit is taken back.
    pub temporary: String,
    /// blake3 of the old bytes; `None` if the file does not exist before the edit.
    pub old_hash: Option<[u8; 32]>,
    /// blake3 of the new bytes; `None` if the file does not exist after the edit.
    pub new_hash: Option<[u8; 32]>,
}

impl EditIntent {
    /// Returns the record of the edit while it is taken back: the store has the old version again, and the file may have
    /// the new one. Without such a record, a recovery never replaces a new version by an old one.
    pub(crate) fn taken_back(&self) -> Self {
        Self { temporary: temporary_name_to_take_back(&self.temporary), ..self.clone() }
    }

    /// Whether the edit failed and is taken back.
    fn is_taken_back(&self) -> bool {
        takes_back(&self.temporary)
    }
}

#[cfg(test)]
impl StoredDocument {
    /// Returns a document without bytes at `path`.
    pub(crate) fn at(path: &str) -> Self {
        Self {
            id: 1,
            path: path.to_owned(),
            hash: [0; 32],
            state: FileState { size: 0, mtime_ns: 0, ctime_ns: 0 },
            is_lossy: false,
            has_ldmd: false,
            checksums: Checksums::stored(None),
        }
    }
}
