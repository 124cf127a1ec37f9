//! `load`: the documents of a pack, brought into the store without their files.
//!
//! Invariant: a pack is read to its end and found whole before anything of it is taken, and all of it is
//! taken in one transaction, or nothing.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufReader, Seek as _};
use std::path::Path;
use std::time::Duration;

use super::report::{ChangeKind, Report, Skipped};
use crate::error::{Error, ErrorKind, Result, Warning};
use crate::pack::{self, Item};
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
        attachments: 0,
    };
    writer.begin()?;
    for item in pack::Reader::new(BufReader::new(&file)).map_err(|fault| refused(&fault))? {
        load.take(item.map_err(|fault| refused(&fault))?, &mut writer)?;
    }
    writer.commit()?;
    let Load { mut report, attachments, .. } = load;
    if attachments > 0 {
        let message = format!("{attachments} attachments are no documents, and were not taken");
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
    attachments: usize,
}

impl Load {
    fn take(&mut self, item: Item, writer: &mut Writer) -> Result<()> {
        let document = match item {
            Item::Document(document) => document,
            // Links are found again in the documents.
            Item::Link(_) => return Ok(()),
            Item::Attachment(_) => {
                self.attachments += 1;
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
