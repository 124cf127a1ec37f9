//! `load`: the documents of a pack, brought into the store without their files, and its attachments.
//!
//! Invariant: a pack is read to its end and found whole before anything of it is taken, and all its documents
//! are taken in one transaction, or none. Attachments are written below one folder, through no symbolic link
//! and never over a file.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufReader, Read as _, Seek as _, Write as _};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::beneath::{is_no_folder, make_below, make_file, open_file, open_root};
use super::report::{ChangeKind, Report, Skipped};
use crate::error::{Error, ErrorKind, Result, Warning};
use crate::pack::{self, Attachment, Item};
use crate::store::{FileState, IngestOptions, Packer, StoredDocument, Writer, packed};

/// What becomes of a document that the store has already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strategy {
    /// It stays as it is.
    Skip,
    /// The one of the pack takes its place.
    Overwrite,
}

/// What to load.
#[derive(Debug)]
pub struct LoadRequest<'a> {
    /// The store file, absolute.
    pub store: &'a Path,
    /// The pack, which is read twice.
    pub pack: File,
    /// What becomes of documents that are there.
    pub strategy: Strategy,
    /// The folder below which attachments are written; without one they are left out.
    pub attachments: Option<&'a Path>,
    /// How long to wait for another writer.
    pub wait: Duration,
}

fn refused(fault: &pack::Fault) -> Error {
    Error::new(ErrorKind::Usage, format!("the pack is not whole: {fault}"))
        .with_hint("nothing was loaded; make it again with `mdsel dump`")
}

/// Brings the documents of a pack into the store.
pub fn load(request: LoadRequest<'_>) -> Result<Report> {
    let store = super::resolved(request.store)?;
    let mut file = request.pack;
    let header = pack::verify(BufReader::new(&file)).map_err(|fault| refused(&fault))?;
    file.rewind().map_err(|error| Error::io(Path::new("the pack"), error))?;
    let mut writer = Writer::open(&store, request.wait)?;
    if writer.root()?.is_none() {
        let options: IngestOptions = serde_json::from_str(&header.options).unwrap_or_default();
        writer.set_up(".", &options)?;
    }
    let stored: HashMap<String, StoredDocument> =
        writer.documents()?.into_iter().map(|document| (document.path.clone(), document)).collect();
    let mut load = Load {
        stored,
        strategy: request.strategy,
        packer: Packer::new()?,
        report: Report::default(),
        folder: request.attachments.map(Folder::new).transpose()?,
        left_out: 0,
    };
    writer.begin()?;
    for item in pack::Reader::new(BufReader::new(&file)).map_err(|fault| refused(&fault))? {
        load.take(item.map_err(|fault| refused(&fault))?, &mut writer)?;
    }
    writer.commit()?;
    let Load { mut report, left_out, .. } = load;
    if left_out > 0 {
        let message =
            format!("{left_out} attachments were left out; load --attachments FOLDER writes them");
        report.note(vec![Warning::new("ATTACHMENTS", message)]);
    }
    report.generation = writer.generation()?;
    report.note(writer.close()?);
    report.finish();
    Ok(report)
}

struct Load {
    stored: HashMap<String, StoredDocument>,
    strategy: Strategy,
    packer: Packer,
    report: Report,
    folder: Option<Folder>,
    /// Attachments that were not written because no folder is named.
    left_out: usize,
}

/// The folder below which attachments are written.
struct Folder {
    opened: OwnedFd,
    path: PathBuf,
}

impl Folder {
    fn new(path: &Path) -> Result<Self> {
        let named = |error| Error::io(path, error);
        std::fs::create_dir_all(path).map_err(named)?;
        let path = path.canonicalize().map_err(named)?;
        Ok(Self { opened: open_root(&path).map_err(|error| Error::io(&path, error))?, path })
    }

    /// Writes an attachment; whether it is there now.
    fn write(&self, attachment: &Attachment) -> Result<bool> {
        let path = self.path.join(&attachment.path);
        self.try_write(attachment).map_err(|error| Error::io(&path, error))
    }

    fn try_write(&self, attachment: &Attachment) -> io::Result<bool> {
        let (folder, name) = attachment.path.rsplit_once('/').unwrap_or(("", &attachment.path));
        let folder = match make_below(&self.opened, folder) {
            Err(error) if is_no_folder(&error) => return Ok(false),
            folder => folder?,
        };
        match make_file(&folder, name) {
            Ok(mut file) => file.write_all(&attachment.bytes).map(|()| true),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                let mut there = Vec::new();
                let most = attachment.bytes.len() as u64 + 1;
                let read = open_file(&folder, name)
                    .and_then(|file| file.take(most).read_to_end(&mut there));
                Ok(read.is_ok() && there == attachment.bytes)
            }
            Err(error) => Err(error),
        }
    }
}

impl Load {
    fn take(&mut self, item: Item, writer: &mut Writer) -> Result<()> {
        let document = match item {
            Item::Document(document) => document,
            // Links are found again in the documents.
            Item::Link(_) => return Ok(()),
            Item::Attachment(attachment) => {
                match &self.folder {
                    None => self.left_out += 1,
                    Some(folder) if folder.write(&attachment)? => self.report.attachments += 1,
                    Some(_) => self.report.skipped.push(Skipped {
                        file: attachment.path,
                        reason: "another file is there".to_owned(),
                    }),
                }
                return Ok(());
            }
        };
        let hash = *blake3::hash(&document.bytes).as_bytes();
        let known = self.stored.get(&document.path);
        if known.is_some_and(|known| known.hash == hash || self.strategy == Strategy::Skip) {
            self.report.unchanged += 1;
            return Ok(());
        }
        // Of its file nothing is known.
        let state = FileState { size: document.bytes.len() as u64, mtime_ns: 0, ctime_ns: 0 };
        let change = if known.is_some() { ChangeKind::Changed } else { ChangeKind::Added };
        let path = document.path;
        match packed(path.clone(), document.bytes, hash, state, &mut self.packer)? {
            Ok(document) => {
                self.report.warn(&path, &document.diagnostics);
                writer.put(document)?;
                self.report.count(&path, change);
            }
            Err(reason) => {
                let skipped = Skipped { file: path, reason: reason.to_owned() };
                self.report.skipped.push(skipped);
            }
        }
        Ok(())
    }
}
