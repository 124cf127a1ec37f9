//! `dump`: writes all documents of the store, their links and their attachments as a pack.
//!
//! Invariant: equal documents give an equal pack, independent of when and where they were ingested.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::Path;

use serde_json::Value;

use super::Session;
use super::labels::sorted_tags;
use super::links::graph::{Destination, Graph};
use super::links::{AllDocuments, EdgeFilter, source_word};
use super::resolved_node::ResolvedNode;
use crate::corpus::root_from_store;
use crate::error::{Error, ErrorKind, Result};
use crate::limits;
use crate::links::file_name;
use crate::pack::{
    Attachment, Header, PACKED_ROOT, PackDocument, PackLink, PackWriter, is_safe_path,
};
use crate::parallel::batches;
use crate::position::ByteSpan;
use crate::store::{Lookup, Reader, StoredDocument};
use crate::visible::quoted;

/// The number of documents that are read at once.
const TOGETHER: usize = 64;

/// Writes the pack of a store. `with_attachments` adds the linked files that are not documents, except for those that
/// an ingest would leave out as hidden or ignored. Returns a line for each linked file that exists and could not be
/// added.
pub fn dump(session: &Session<'_>, with_attachments: bool, out: impl Write) -> Result<Vec<String>> {
    let reader = session.reader;
    let documents = reader.all(&Lookup::All)?;
    if let Some(unsafe_one) = documents.iter().find(|document| !is_safe_path(&document.path)) {
        let message = format!("the path {} is not allowed in a pack", quoted(&unsafe_one.path));
        return Err(Error::new(ErrorKind::Usage, message)
            .with_hint("run `mdsel ingest` to store the corpus again"));
    }
    let header = Header {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        documents: documents.len(),
        options: serde_json::to_string(&options(reader)).unwrap_or_default(),
    };
    let unwritten = |error| Error::io(Path::new("standard output"), error);
    let mut writer = PackWriter::new(out, &header).map_err(unwritten)?;
    let size = |document: &StoredDocument| document.state.size;
    let (mut name_keys, mut index) = (Vec::new(), 0);
    for batch in batches(&documents, TOGETHER, limits::LARGE_DOCUMENT_BYTES as u64, size) {
        for (document, keys) in packed(session.reader, batch)? {
            writer.document(&document).map_err(unwritten)?;
            name_keys.extend(keys.into_iter().map(|key| (key, index)));
            index += 1;
        }
    }
    let all = AllDocuments::new(documents, name_keys);
    let graph = Graph::new(session, EdgeFilter::default()).among(&all);
    let mut attachments = BTreeSet::new();
    for batch in all.documents().chunks(TOGETHER) {
        for document in session.open_together(batch.iter())? {
            let document = ResolvedNode::whole(document);
            graph.open_targets(&document)?;
            for edge in graph.all_out_of(&document)? {
                let kind = &edge.link.kind;
                match &edge.to {
                    Destination::Place(to) => writer
                        .link(&PackLink {
                            from: edge.from.address(),
                            to: to.address(),
                            kind: kind.relation().to_owned(),
                            is_inline: source_word(kind) == "inline",
                        })
                        .map_err(unwritten)?,
                    Destination::Attachment { path, .. } => drop(attachments.insert(path.clone())),
                    Destination::NotInStore(_) | Destination::Broken(_) => {}
                }
            }
        }
    }
    let mut left_out = Vec::new();
    attachments.retain(|path| with_attachments && !session.roots.file(path).is_dir());
    for path in attachments {
        match attachment(session, &path) {
            Ok(attachment) => writer.attachment(&attachment).map_err(unwritten)?,
            Err(reason) => left_out.push(format!("{path} is not in the pack: {reason}")),
        }
    }
    writer.finish().and_then(|mut out| out.flush()).map_err(unwritten)?;
    Ok(left_out)
}

/// Returns the options of the store as they are in a pack. The root is among them if links between it and collections
/// name its folder.
fn options(reader: &dyn Reader) -> Value {
    let options = reader.options().clone().portable();
    let root = match reader.path() {
        Some(store) if !options.collections.is_empty() && !options.only_collections => {
            root_from_store(reader.root(), Some(store)).ok().filter(|root| root != ".")
        }
        _ => None,
    };
    let mut options = serde_json::to_value(options).unwrap_or_default();
    if let (Some(root), Some(options)) = (root, options.as_object_mut()) {
        options.insert(PACKED_ROOT.to_owned(), root.into());
    }
    options
}

/// Reads documents as they are in a pack, and the keys of their names.
fn packed(
    reader: &dyn Reader,
    documents: &[StoredDocument],
) -> Result<Vec<(PackDocument, Vec<i64>)>> {
    let whole: Vec<_> =
        documents.iter().map(|document| (document, ByteSpan::new(0, usize::MAX))).collect();
    let contents = reader.contents(&whole)?;
    let values = reader.front_matters(documents)?.into_iter();
    let values = values.zip(reader.all_links(documents)?).zip(contents);
    let mut packed = Vec::with_capacity(documents.len());
    for (stored, ((front_matter, links), bytes)) in documents.iter().zip(values) {
        let field = |name: &str| front_matter.as_ref().and_then(|values| values.get(name));
        let keys = links.name_keys();
        let document = PackDocument {
            path: stored.path.clone(),
            title: links.title.unwrap_or_else(|| stored.path.clone()),
            kind: field("type").and_then(Value::as_str).unwrap_or("Document").to_owned(),
            tags: front_matter.as_ref().map(sorted_tags).unwrap_or_default(),
            sources: field("sources").map(sources).unwrap_or_default(),
            bytes,
        };
        packed.push((document, keys));
    }
    Ok(packed)
}

/// Returns the URLs of a list of strings, or of mappings with the key `url`.
fn sources(value: &Value) -> Vec<String> {
    let entries = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
    let url =
        |entry: &Value| entry.as_str().or_else(|| entry.get("url")?.as_str()).map(str::to_owned);
    entries.iter().filter_map(url).filter(|url| !url.is_empty()).collect()
}

/// Reads the file at `path`. The error is the reason why it does not belong in a pack.
fn attachment(session: &Session<'_>, path: &str) -> std::result::Result<Attachment, String> {
    if !is_safe_path(path) {
        return Err("its path is not allowed in a pack".to_owned());
    }
    let own_files = &session.reader.facts().own_files;
    if let Some(reason) = session.roots.concealed(own_files, path) {
        return Err(reason.to_string());
    }
    let most = limits::MAX_DOCUMENT_BYTES as u64;
    let bytes = session.roots.read(path, most).map_err(|error| match error.kind() {
        std::io::ErrorKind::InvalidInput => "it is not a regular file".to_owned(),
        std::io::ErrorKind::FileTooLarge => format!("it has more than {most} bytes"),
        _ => error.to_string(),
    })?;
    let name = file_name(path).to_owned();
    let content_type = content_type(&name).to_owned();
    Ok(Attachment { path: path.to_owned(), name, content_type, bytes })
}

/// Returns the media type (IANA) for the extension of a file name.
fn content_type(name: &str) -> &'static str {
    let extension = name.rsplit('.').next().unwrap_or_default().to_ascii_lowercase();
    match extension.as_str() {
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "gif" => "image/gif",
        "svg" => "image/svg+xml",
        "webp" => "image/webp",
        "pdf" => "application/pdf",
        "json" => "application/json",
        "csv" => "text/csv",
        "txt" => "text/plain",
        "html" | "htm" => "text/html",
        "mp4" => "video/mp4",
        "mp3" => "audio/mpeg",
        _ => "application/octet-stream",
    }
}
