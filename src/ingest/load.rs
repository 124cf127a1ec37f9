//! `load`: stores the documents of a pack without their files, and writes its attachments.
//!
//! Invariant: the whole pack is read and verified before anything of it is stored, and its documents are
//! stored in one transaction. Attachments are written below one folder, never through a symbolic link, and
//! never replace a file.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufReader, Read as _, Seek as _};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Map, Value};

use super::closed;
use super::report::{ChangeKind, IngestReport};
use crate::corpus::{
    FileState, IngestOptions, Roots, Skipped, extension, is_collection_name, is_not_a_folder,
    make_below, make_file, open_file, open_root,
};
use crate::count::counted;
use crate::error::{Error, ErrorKind, Result, Warning};
use crate::message::message;
use crate::pack::{self, Attachment, Header, PACKED_ROOT, PackItem};
use crate::prepare::Preparation;
use crate::store::{IfAbsent, Store, StoredDocument, Writer, options_lost};
use crate::visible::quoted;

/// What to do with a document that the store already has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strategy {
    /// Keep the stored document.
    Skip,
    /// Replace it with the document of the pack.
    Overwrite,
}

/// A request to load a pack.
#[derive(Debug)]
pub struct LoadRequest<'a> {
    /// The store.
    pub store: &'a Store,
    /// The pack. It is read twice, so it must be seekable.
    pub pack: File,
    /// What to do with documents that the store already has.
    pub strategy: Strategy,
    /// The folder below which attachments are written; `None` leaves attachments out.
    pub attachments: Option<&'a Path>,
    /// The longest time to wait for another writer.
    pub wait: Duration,
}

fn refused(problem: &pack::LineError) -> Error {
    Error::new(ErrorKind::Usage, format!("the pack is damaged: {problem}"))
        .with_hint("nothing was loaded; create the pack again with `mdsel dump`")
}

/// Returns the root and the options that a pack gives a new store. Those that it lacks are the defaults.
fn options(header: &Header) -> Result<(String, IngestOptions)> {
    let damaged = |problem: &dyn std::fmt::Display| {
        Error::new(ErrorKind::Usage, format!("the options of the pack are damaged: {problem}"))
            .with_hint("nothing was loaded; create the pack again with `mdsel dump`")
    };
    let mut given: Map<String, Value> = match header.options.as_str() {
        "" => Map::new(),
        text => serde_json::from_str(text).map_err(|error| damaged(&error))?,
    };
    let root = match given.shift_remove(PACKED_ROOT) {
        None => ".".to_owned(),
        Some(Value::String(root)) if Path::new(&root).is_relative() => root,
        Some(other) => return Err(damaged(&format!("{other} is not a relative path"))),
    };
    let mut all = serde_json::to_value(IngestOptions::default()).unwrap_or_default();
    if let Some(all) = all.as_object_mut() {
        all.extend(given);
    }
    let options: IngestOptions = serde_json::from_value(all).map_err(|error| damaged(&error))?;
    if let Some(name) = options.collections.keys().find(|name| !is_collection_name(name)) {
        return Err(damaged(&format!(
            "{name} cannot be the name of a collection",
            name = quoted(&name)
        )));
    }
    let collections = options.collections.values().map(|collection| &collection.options);
    for text in collections.chain([&options]).flat_map(|options| &options.extensions) {
        if extension(text).is_none() {
            return Err(damaged(&format!("{text} is not a file extension", text = quoted(&text))));
        }
    }
    Ok((root, options))
}

/// Stores the documents of a pack.
pub fn load(request: LoadRequest<'_>) -> Result<IngestReport> {
    let mut file = request.pack;
    let header = pack::verify(BufReader::new(&file)).map_err(|problem| refused(&problem))?;
    file.rewind().map_err(|error| Error::io(Path::new("the pack"), error))?;
    let (root, options) = options(&header)?;
    let (mut writer, recovered) = request.store.recovered_writer(IfAbsent::Create, request.wait)?;
    if writer.root()?.is_none() {
        // A store that is not a file has no folder to which the root could be relative.
        let root = request.store.path().map_or(".", |_| root.as_str());
        writer.set_up(root, &options)?;
    }
    let root = writer.root()?.unwrap_or_default();
    let roots =
        Roots::of_store(request.store.path(), &root, &writer.options()?.unwrap_or_default());
    let stored: HashMap<String, StoredDocument> =
        writer.documents()?.into_iter().map(|document| (document.path.clone(), document)).collect();
    let mut load = Load {
        stored,
        roots,
        strategy: request.strategy,
        preparation: Preparation::new()?,
        report: IngestReport::default(),
        folder: request.attachments.map(AttachmentFolder::new).transpose()?,
        left_out: 0,
    };
    for item in pack::PackReader::new(BufReader::new(&file)).map_err(|problem| refused(&problem))? {
        load.take(item.map_err(|problem| refused(&problem))?, writer.as_mut())?;
    }
    writer.commit_last()?;
    let Load { mut report, left_out, .. } = load;
    report.note(recovered);
    if writer.metadata()?.has_lost_options {
        report.note(vec![options_lost()]);
    }
    if left_out > 0 {
        let message = message!(
            "left out: {}; `mdsel load --attachments FOLDER` writes attachments",
            counted(left_out, "attachment")
        );
        report.note(vec![Warning::new("ATTACHMENTS", message)]);
    }
    report.generation = writer.generation()?;
    report.note(closed(writer)?);
    report.finish();
    Ok(report)
}

struct Load {
    stored: HashMap<String, StoredDocument>,
    roots: Roots,
    strategy: Strategy,
    preparation: Preparation,
    report: IngestReport,
    folder: Option<AttachmentFolder>,
    /// The number of attachments that were not written because no folder was given.
    left_out: usize,
}

/// The folder below which attachments are written.
struct AttachmentFolder {
    opened: OwnedFd,
    path: PathBuf,
}

impl AttachmentFolder {
    fn new(path: &Path) -> Result<Self> {
        let named = |error| Error::io(path, error);
        std::fs::create_dir_all(path).map_err(named)?;
        let path = path.canonicalize().map_err(named)?;
        Ok(Self { opened: open_root(&path).map_err(|error| Error::io(&path, error))?, path })
    }

    /// Writes an attachment. Returns false if a different file, or something that is not a file, has its path.
    fn write(&self, attachment: &Attachment) -> Result<bool> {
        let path = self.path.join(&attachment.path);
        self.try_write(attachment).map_err(|error| Error::io(&path, error))
    }

    fn try_write(&self, attachment: &Attachment) -> io::Result<bool> {
        let (folder, name) = attachment.path.rsplit_once('/').unwrap_or(("", &attachment.path));
        let folder = match make_below(&self.opened, folder, |_, _| Ok(())) {
            Err(error) if is_not_a_folder(&error) => return Ok(false),
            folder => folder?,
        };
        match make_file(&folder, name, &attachment.bytes) {
            Ok(()) => Ok(true),
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
    fn take(&mut self, item: PackItem, writer: &mut dyn Writer) -> Result<()> {
        let document = match item {
            PackItem::Document(document) => document,
            // The links are derived from the documents again.
            PackItem::Link(_) => return Ok(()),
            PackItem::Attachment(attachment) => {
                let is_hidden = attachment.path.split('/').any(|part| part.starts_with('.'));
                match &self.folder {
                    None => self.left_out += 1,
                    // Programs run what is in files such as `.git/hooks`.
                    Some(_) if is_hidden => self.report.skipped.push(Skipped {
                        file: attachment.path,
                        reason: "it would be hidden".to_owned(),
                    }),
                    Some(folder) if folder.write(&attachment)? => self.report.attachments += 1,
                    Some(_) => self.report.skipped.push(Skipped {
                        file: attachment.path,
                        reason: "another file already exists there".to_owned(),
                    }),
                }
                return Ok(());
            }
        };
        let hash = *blake3::hash(&document.bytes).as_bytes();
        let known = self.stored.get(&document.path);
        // Otherwise the next ingest would remove what was loaded, because the file is not there.
        let was_of_file = known.is_some_and(|known| known.state.is_of_file());
        let has_file = was_of_file && self.roots.has_entry(&document.path);
        let state = if has_file { FileState::unknown } else { FileState::without_file };
        let state = state(document.bytes.len());
        if let Some(known) = known
            && (known.hash == hash || self.strategy == Strategy::Skip)
        {
            if known.hash != hash {
                let reason =
                    "the store has another version; `mdsel load --strategy overwrite` replaces it";
                let skipped = Skipped { file: document.path, reason: reason.to_owned() };
                self.report.skipped.push(skipped);
                return Ok(());
            }
            if was_of_file && !has_file {
                writer.set_states(&[(known.id, state)])?;
            }
            self.report.unchanged += 1;
            return Ok(());
        }
        let change = if known.is_some() { ChangeKind::Changed } else { ChangeKind::Added };
        let path = document.path;
        match self.preparation.of_bytes(path.clone(), document.bytes, hash, state)? {
            Ok(document) => {
                self.report.warn(&path, &document.diagnostics);
                writer.put(vec![document])?;
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
