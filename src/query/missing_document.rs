//! Why a name means no document, and what to do about it.
//!
//! Invariant: the fault names the next command, or documents that may be meant.

use std::path::Path;

use super::Session;
use super::document_name::globs_of;
use super::resolve::similar_documents;
use crate::address::{AddressError, FaultCode, namespace};
use crate::error::Result;
use crate::glob::literal_folder;
use crate::limits;
use crate::links::file_name;
use crate::message::{Message, message};
use crate::visible::quoted;

/// Returns the fault for a name without a document: the file is not ingested, or similar names exist.
pub(super) fn not_found(session: &Session<'_>, name: &str) -> Result<AddressError> {
    not_found_among(session, name, || Ok(Vec::new()))
}

/// Returns the fault for a name without a document, whose first suggestions are `folders`.
pub(super) fn not_found_among(
    session: &Session<'_>,
    name: &str,
    folders: impl FnOnce() -> Result<Vec<String>>,
) -> Result<AddressError> {
    if let Some(fault) = not_ingested(session, name)? {
        return Ok(fault);
    }
    let (message, suggestions) = if let Some(globs) = globs_of(name) {
        if let Err(invalid) = globs {
            return Ok(AddressError::new(FaultCode::InvalidSyntax, invalid.message().clone()));
        }
        (format!("no document matches {name}", name = quoted(&name)), Vec::new())
    } else {
        let mut suggestions = folders()?;
        suggestions.extend(similar_documents(session, name)?);
        suggestions.truncate(limits::MAX_SUGGESTIONS);
        (format!("no document is named {name}", name = quoted(&name)), suggestions)
    };
    let fault = AddressError::new(FaultCode::NamespaceNotFound, message).suggest(suggestions);
    let next = next_command(session, name)?;
    Ok(fault.or_else(|| next))
}

/// The command that lists what may be meant by a name that resembles none: the documents of its folder, else the
/// sections with a part of it in their titles.
pub(super) fn next_command(session: &Session<'_>, name: &str) -> Result<Message> {
    let decoded = namespace::decode(name);
    let path = decoded.strip_prefix("./").unwrap_or(&decoded).trim_end_matches('/');
    let file = file_name(path);
    for folder in [path, literal_folder(path).unwrap_or_default()] {
        if !folder.is_empty() && session.reader.is_folder(folder)? {
            return Ok(message!(
                "`mdsel toc {path} --depth 0` lists the documents of {}",
                format!("{folder}/"),
                folder
            ));
        }
    }
    if file.is_empty() {
        return Ok("`mdsel toc --depth 0` lists the documents".into());
    }
    let stem = file.rsplit_once('.').map_or(file, |(stem, _)| stem);
    let part = if stem.is_empty() { file } else { stem };
    let part: String = part.chars().take(limits::MAX_HINT_CHARS).collect();
    let part = format!("*{}*", part.replace(['*', '?', '[', '{', '\\'], "?"));
    Ok(message!("`mdsel find {}` looks in titles, `mdsel toc --depth 0` lists the documents", part))
}

/// What to do about a file that has not been ingested.
pub(crate) const INGEST_ADDS: &str = "`mdsel ingest` adds it";

/// Returns a fault if `name` is a file that has not been ingested.
pub(super) fn not_ingested(session: &Session<'_>, name: &str) -> Result<Option<AddressError>> {
    let Some(path) = file_on_disk(session, name) else { return Ok(None) };
    if session.reader.document_at(&path)?.is_some() || session.reader.is_folder(&path)? {
        return Ok(None);
    }
    let reader = session.reader;
    let message = match session.roots.left_out(&reader.facts().own_files, &path) {
        Some(reason) => message!("{} is not in the store: {}", path, reason),
        // Without a path, an ingest takes only the collections.
        None if reader.options().only_collections && session.roots.of(&path).0.name.is_empty() => {
            message!(
                "{} is not in the store: `mdsel ingest {path}` adds it",
                path,
                session.roots.file(&path).display().to_string()
            )
        }
        None => message!("{} is not in the store: {}", path, Message::from(INGEST_ADDS)),
    };
    Ok(Some(AddressError::new(FaultCode::NotInStore, message)))
}

/// Returns the path, relative to the root, of the file with that name.
fn file_on_disk(session: &Session<'_>, name: &str) -> Option<String> {
    let (root, _) = session.roots.of(name.strip_prefix("./").unwrap_or(name));
    let options = &root.options;
    let decoded = namespace::decode(name);
    // A path may name any file; a name without `./` only a file that an ingest accepts.
    let (name, is_path) =
        decoded.strip_prefix("./").map_or((decoded.as_str(), false), |path| (path, true));
    std::iter::once(name.to_owned())
        .chain(options.extensions.iter().map(|extension| format!("{name}.{extension}")))
        .filter(|path| is_path || options.takes(Path::new(path)))
        .filter(|path| session.roots.is_really_below(path))
        .find(|path| {
            // A path with an ingested extension may name anything, even a folder.
            let is_any = is_path && options.takes(Path::new(path));
            let metadata = session.roots.file(path).symlink_metadata();
            metadata.is_ok_and(|metadata| is_any || metadata.is_file() || metadata.is_symlink())
        })
}
