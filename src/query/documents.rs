//! Finds documents by name: first a path or unique suffix, then a folder, then a glob, then a unique suffix of a
//! folder.

use std::collections::HashSet;

use super::document_name::{NameMatch, by_whole_name, globs_of, without_selector};
use super::missing_document::not_found_among;
use super::resolve::{Resolver, too_long};
use super::{Session, folders};
use crate::address::{AddressError, AddressResult, FaultCode, ParsedPlace, namespace};
use crate::error::Result;
use crate::glob::is_glob;
use crate::limits;
use crate::message::message;
use crate::store::{DocumentFilter, Lookup, StoredDocument};
use crate::visible::quoted;

/// The documents found by name, and the names without a document.
#[derive(Debug, Default)]
pub struct NamedDocuments {
    /// In the order of the names, then by path; each document once.
    pub documents: Vec<StoredDocument>,
    /// The names that match no document, or are ambiguous.
    pub faults: Vec<AddressError>,
}

/// Returns the documents with the given names, or all documents if `names` is empty.
pub fn named(session: &Session<'_>, names: &[String]) -> Result<NamedDocuments> {
    let mut result = NamedDocuments::default();
    if names.is_empty() {
        result.documents = session.reader.all(&Lookup::All)?;
        return Ok(result);
    }
    if names.len() > limits::MAX_ADDRESSES {
        return Err(limits::exceeded(limits::row::MAX_ADDRESSES));
    }
    let mut seen = HashSet::new();
    for name in names {
        let found = match meant(session, name, &[])? {
            Ok(found) => found,
            Err(fault) => {
                result.faults.push(or_folder(session, fault, name)?.of(name));
                continue;
            }
        };
        if found.is_empty() {
            result.faults.push(nothing_named(session, name)?);
        }
        result.documents.extend(found.into_iter().filter(|document| seen.insert(document.id)));
    }
    Ok(result)
}

/// Adds to the fault of an ambiguous name the folder with that path, which may be meant where folders are taken.
fn or_folder(session: &Session<'_>, fault: AddressError, name: &str) -> Result<AddressError> {
    if fault.code != FaultCode::Ambiguous {
        return Ok(fault);
    }
    let Some(folder) = folders::by_name(session, without_selector(name))? else { return Ok(fault) };
    let folder = format!("{folder}/");
    let message = message!("{} is a folder, and {}", folder, fault.message);
    Ok(AddressError { message, ..fault }.suggest_first(vec![folder]))
}

/// Returns the fault for a name that means no documents.
fn nothing_named(session: &Session<'_>, name: &str) -> Result<AddressError> {
    let plain = without_selector(name);
    let fault = not_found_among(session, plain, || folders::like(session, plain))?;
    Ok(fault.of(name))
}

/// Returns the documents that a name refers to, if any. The inner error lists what it may mean if that is ambiguous: one
/// of `places` in a document, or the document.
pub(super) fn meant(
    session: &Session<'_>,
    name: &str,
    places: &[ParsedPlace],
) -> Result<AddressResult<Vec<StoredDocument>>> {
    if let Some(fault) = too_long(name) {
        return Ok(Err(fault));
    }
    let plain = without_selector(name);
    match by_whole_name(session, plain)? {
        NameMatch::One(document) => return Ok(Ok(vec![document])),
        NameMatch::Many(many) => {
            return Ok(Err(Resolver { session }.ambiguous_document(name, places, &many)?));
        }
        NameMatch::None => {}
    }
    let found = below_or_like(session, plain)?;
    if !found.is_empty() {
        return Ok(Ok(found));
    }
    Ok(match folders::by_suffix(session, plain)? {
        Ok(Some(folder)) => Ok(session.reader.all(&Lookup::Folder(&folder))?),
        Ok(None) => Ok(Vec::new()),
        Err(fault) => Err(fault),
    })
}

/// Returns the one document with that name, which may also be a folder or a glob. The inner error
/// explains why there is not exactly one. It lists the first of `places` in each document that has one.
pub fn one(
    session: &Session<'_>,
    name: &str,
    places: &[ParsedPlace],
) -> Result<AddressResult<StoredDocument>> {
    let resolver = Resolver { session };
    let documents = match meant(session, name, places)? {
        Ok(documents) => documents,
        Err(fault) => return Ok(Err(fault.of(name))),
    };
    Ok(match documents.as_slice() {
        [document] => Ok(document.clone()),
        [] => Err(resolver.suggest_places(nothing_named(session, name)?, places)?),
        documents => {
            let mut fault = resolver.ambiguous_document(name, places, documents)?;
            let count = documents.len();
            fault.message = match folder_of(session, without_selector(name))? {
                Some(folder) => message!(
                    "{} was read as the folder {}, which has {} documents, and one is needed here; \
                     `mdsel toc {path} --depth 0` lists them",
                    quoted(&name).to_string(),
                    folder,
                    count,
                    folder
                ),
                None if is_glob(name) => {
                    let name = quoted(&name);
                    format!("{count} documents match {name}, and one is needed here").into()
                }
                None => fault.message,
            };
            Err(fault.of(name))
        }
    })
}

/// Returns the folder that [`meant`] reads `name` as, if it is not the name of a document; `.` for the root.
fn folder_of(session: &Session<'_>, name: &str) -> Result<Option<String>> {
    let folder = match folders::by_name(session, name)? {
        None if !is_glob(name) => folders::by_suffix(session, name)?.unwrap_or_default(),
        folder => folder,
    };
    Ok(folder.map(|folder| if folder.is_empty() { ".".to_owned() } else { folder }))
}

/// Returns the one document with that name, to change it. A folder or a glob names none, even if it has one document now.
pub(crate) fn one_to_edit(
    session: &Session<'_>,
    name: &str,
    places: &[ParsedPlace],
) -> Result<AddressResult<StoredDocument>> {
    let found = one(session, name, places)?;
    let Ok(document) = &found else { return Ok(found) };
    let plain = without_selector(name);
    if !matches!(by_whole_name(session, plain)?, NameMatch::None) {
        return Ok(found);
    }
    let name_of = quoted(&name);
    let message = match folder_of(session, plain)? {
        Some(folder) => format!(
            "{name_of} was read as the folder {folder}; an edit takes a document by its name"
        ),
        None => format!("{name_of} is not the name of a document; an edit takes one by its name"),
    };
    let fault = AddressError::new(FaultCode::NamespaceNotFound, message).of(name);
    Ok(Err(fault.suggest(vec![namespace::whole(&document.path)])))
}

/// Returns the documents in the folder `name`, or else those whose paths match the glob `name`.
pub(super) fn below_or_like(session: &Session<'_>, name: &str) -> Result<Vec<StoredDocument>> {
    let below = folders::below(session, name)?;
    if !below.is_empty() {
        return Ok(below);
    }
    let Some(Ok(globs)) = globs_of(name) else { return Ok(Vec::new()) };
    let filter = DocumentFilter { globs, ..DocumentFilter::default() };
    session.reader.all(&Lookup::Data(&filter, &[]))
}
