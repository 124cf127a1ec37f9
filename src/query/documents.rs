//! Finds documents by name: first a path or unique suffix, then a folder, then a glob, then a unique suffix of a
//! folder.

use std::borrow::Cow;
use std::collections::HashSet;
use std::path::Path;

use super::batches::{Candidates, DocumentBatches};
use super::filter::Filter;
use super::resolve::{NameMatch, Resolver, document_named, similar_documents};
use super::warning::no_document;
use super::{FilterRequest, Session, folders};
use crate::address::{
    AddressError, AddressResult, FaultCode, Interpretation, ParsedPlace, interpretations, namespace,
};
use crate::error::{Result, Warning};
use crate::glob::{Globs, is_glob, literal_folder};
use crate::limits;
use crate::links::split_extension;
use crate::message::{Message, message};
use crate::store::{DocumentFilter, Lookup, StoredDocument, Under};

/// The documents found by name, and the names without a document.
#[derive(Debug, Default)]
pub struct NamedDocuments {
    /// In the order of the names, then by path; each document once.
    pub documents: Vec<StoredDocument>,
    /// The names that match no document, or are ambiguous.
    pub faults: Vec<AddressError>,
}

/// Finds the document called `name`, which may be a path from the root after `./`. The name is
/// percent-decoded once; if that finds nothing, it is looked up as written.
pub(crate) fn by_name(session: &Session<'_>, name: &str) -> Result<NameMatch> {
    if name.is_empty() {
        return Ok(NameMatch::None);
    }
    let decoded = namespace::decode(name);
    match document_named(session.reader, &decoded)? {
        NameMatch::None if decoded != name => document_named(session.reader, name),
        other => Ok(other),
    }
}

/// Finds the document that `name` means where it is not followed by a place: first an exact path as it is written,
/// as in an address without `::`.
fn by_whole_name(session: &Session<'_>, name: &str) -> Result<NameMatch> {
    if name.contains('%')
        && let Some(stored) = session.reader.document_at(name)?
    {
        return Ok(NameMatch::One(stored));
    }
    by_name(session, name)
}

/// Returns the fault for a name without a document: the file is not ingested, or similar names exist.
pub(super) fn not_found(session: &Session<'_>, name: &str) -> Result<AddressError> {
    not_found_among(session, name, || Ok(Vec::new()))
}

/// Returns the fault for a name without a document, whose first suggestions are `folders`.
fn not_found_among(
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
        (format!("no document matches {name:?}"), Vec::new())
    } else {
        let mut suggestions = folders()?;
        suggestions.extend(similar_documents(session, name)?);
        suggestions.truncate(limits::MAX_SUGGESTIONS);
        (format!("no document is named {name:?}"), suggestions)
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
    let file = path.rsplit_once('/').map_or(path, |(_, file)| file);
    for folder in [path, literal_folder(path).unwrap_or_default()] {
        if !folder.is_empty() && session.reader.is_folder(folder)? {
            return Ok(message!(
                "`mdsel toc {path} --depth 0` lists the documents of {}",
                format!("{folder}/"),
                folder
            ));
        }
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
                "{} is not in the store: `mdsel ingest {path}`, in the root, adds it",
                path,
                path
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
            metadata.is_ok_and(|metadata| is_any || metadata.is_file())
        })
}

/// Returns the name of a document that may be named by its address.
fn without_selector(name: &str) -> &str {
    name.strip_suffix("::*").or_else(|| name.strip_suffix("::")).unwrap_or(name)
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
                result.faults.push(fault.of(name));
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

/// The documents of a list, and the filter of its items.
pub(super) struct ListedDocuments<'a> {
    /// In the order of the names, then by path, unless another order is requested; each document once.
    pub(super) documents: DocumentBatches<'a>,
    /// The names that were looked up: instead of the address of a section, the name of its document.
    pub(super) names: Cow<'a, [String]>,
    /// The names that match no document, or are ambiguous.
    pub(super) faults: Vec<AddressError>,
    /// Whether there was one name, and it means one document.
    pub(super) is_single: bool,
    pub(super) filter: Filter,
}

/// Returns the documents with the given names that match the filter, or all that match it if `names` is empty.
/// Those of the whole store or of one folder are read in batches. If all names are addresses of sections, the filter
/// takes only what is in them.
pub(super) fn listed<'a>(
    session: &'a Session<'a>,
    names: &'a [String],
    request: &FilterRequest,
) -> Result<ListedDocuments<'a>> {
    let (names, request) = of_sections(session, names, request)?;
    let request = &*request;
    let mut filter = Filter::new(session, request)?;
    let order = request.order();
    let (mut documents, mut faults) = match meaning(session, &names, &filter)? {
        Meaning::Documents(admitted) => {
            (DocumentBatches::new(session, admitted, order, Candidates::All)?, Vec::new())
        }
        Meaning::Document(document) => {
            filter.warnings.extend(shadowed_folder(session, &names, &document)?);
            let mut documents = vec![document];
            filter.retain(session, &mut documents)?;
            (DocumentBatches::of(session, documents), Vec::new())
        }
        Meaning::Names => {
            let mut found = named(session, &names)?;
            filter.retain(session, &mut found.documents)?;
            if let Some(order) = order {
                order.sort(session, &mut found.documents)?;
            }
            (DocumentBatches::of(session, found.documents), found.faults)
        }
    };
    faults.extend(filter.faults.iter().cloned());
    if !request.is_empty() && faults.is_empty() && documents.is_empty()? {
        filter.warnings.extend(match &*names {
            [] => filter.empty(session)?,
            _ if filter.has_unknown() => None,
            names => Some(no_document(&format!(
                "no document of {} passes the filters",
                names.join(", ")
            ))),
        });
    }
    let is_single = names.len() == 1 && documents.is_one()?;
    Ok(ListedDocuments { documents, names, faults, is_single, filter })
}

/// Returns a request for sections as a request for their documents with a filter.
fn of_sections<'a, 'b>(
    session: &Session<'_>,
    names: &'a [String],
    request: &'b FilterRequest,
) -> Result<(Cow<'a, [String]>, Cow<'b, FilterRequest>)> {
    let mut documents = Vec::new();
    for name in names {
        let Some(document) = document_of_section(session, name)? else {
            return Ok((names.into(), Cow::Borrowed(request)));
        };
        documents.push(document);
    }
    let mut request = request.clone();
    request.under.extend_from_slice(names);
    documents.dedup();
    Ok((documents.into(), Cow::Owned(request)))
}

/// Returns the document that an address of a place in it names; `None` if `name` is no such address.
fn document_of_section(session: &Session<'_>, name: &str) -> Result<Option<String>> {
    let is_whole = |(_, place): (&str, &str)| ["", "*"].contains(&place);
    if !name.contains([':', '#'])
        || name.split_once("::").is_some_and(is_whole)
        || !matches!(by_name(session, name)?, NameMatch::None)
    {
        return Ok(None);
    }
    for interpretation in interpretations(name) {
        if let Interpretation::Namespaced { name, .. }
        | Interpretation::PathAnchor { name, .. }
        | Interpretation::PathLine { name, .. } = interpretation
            && let NameMatch::One(_) = by_name(session, &name)?
        {
            return Ok(Some(name));
        }
    }
    Ok(None)
}

/// Returns the warning that the only name was taken for `document`, whose path ends with it, and not for the folder
/// with that path.
fn shadowed_folder(
    session: &Session<'_>,
    names: &[String],
    document: &StoredDocument,
) -> Result<Option<Warning>> {
    let [name] = names else { return Ok(None) };
    let (path, (stem, extension)) = (&document.path, split_extension(&document.path));
    // With its extension or its whole path, a name means a document.
    let decoded = namespace::decode(name);
    if decoded.ends_with(&format!(".{extension}")) || decoded == stem {
        return Ok(None);
    }
    let folder = folders::by_name(session, name)?.filter(|folder| !folder.is_empty());
    Ok(folder.map(|folder| {
        let message =
            format!("{name:?} was read as {path}, and is also a folder; write {folder}/ for that");
        Warning::new("SHADOWED_FOLDER", message)
    }))
}

/// What names of documents mean.
enum Meaning {
    /// All documents that meet conditions: no name was given, or only the name of a folder.
    Documents(DocumentFilter),
    /// The document that the only name means.
    Document(StoredDocument),
    /// What each of them means must be looked up.
    Names,
}

fn meaning(session: &Session<'_>, names: &[String], filter: &Filter) -> Result<Meaning> {
    let admitted = filter.documents.clone();
    let name = match names {
        [] => return Ok(Meaning::Documents(admitted)),
        [name] => without_selector(name),
        _ => return Ok(Meaning::Names),
    };
    let folder = match by_whole_name(session, name)? {
        NameMatch::One(document) => return Ok(Meaning::Document(document)),
        NameMatch::None => folders::by_name(session, name)?,
        NameMatch::Many(..) => return Ok(Meaning::Names),
    };
    if folder.is_none()
        && let Some(Ok(globs)) = globs_of(name)
        && takes_some(session, &globs)?
    {
        // A filter holds the globs of one list, of which the last one decides.
        return Ok(if admitted.globs.is_empty() {
            Meaning::Documents(DocumentFilter { globs, ..admitted })
        } else {
            Meaning::Names
        });
    }
    let folder = match folder {
        _ if admitted.under.is_some() => None,
        None => folders::by_suffix(session, name)?.unwrap_or_default(),
        exact => exact,
    };
    Ok(match folder {
        Some(root) if root.is_empty() => Meaning::Documents(admitted),
        Some(folder) => {
            let under = Under { folders: vec![folder], ..Under::default() };
            Meaning::Documents(DocumentFilter { under: Some(under), ..admitted })
        }
        None => Meaning::Names,
    })
}

/// Returns whether `globs` take a document.
fn takes_some(session: &Session<'_>, globs: &Globs) -> Result<bool> {
    let filter = DocumentFilter { globs: globs.clone(), ..DocumentFilter::default() };
    Ok(!session.reader.documents(&Lookup::Data(&filter, &[]), None, 1)?.is_empty())
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
            let plain = without_selector(name);
            if is_glob(plain) || folders::by_name(session, plain)?.is_some() {
                // It names no document, but a folder or a pattern.
                fault.message =
                    format!("{} documents match {name:?}, and one is needed here", documents.len())
                        .into();
            }
            Err(fault.of(name))
        }
    })
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
    let is_several = is_glob(plain) || folders::by_name(session, plain)?.is_some();
    if !is_several || !matches!(by_name(session, plain)?, NameMatch::None) {
        return Ok(found);
    }
    let message = format!("{name:?} is not the name of a document; an edit takes one by its name");
    let fault = AddressError::new(FaultCode::NamespaceNotFound, message).of(name);
    Ok(Err(fault.suggest(vec![namespace::whole(&document.path)])))
}

/// Returns the documents in the folder `name`, or else those whose paths match the glob `name`.
fn below_or_like(session: &Session<'_>, name: &str) -> Result<Vec<StoredDocument>> {
    let below = folders::below(session, name)?;
    if !below.is_empty() {
        return Ok(below);
    }
    let Some(Ok(globs)) = globs_of(name) else { return Ok(Vec::new()) };
    let filter = DocumentFilter { globs, ..DocumentFilter::default() };
    session.reader.all(&Lookup::Data(&filter, &[]))
}

/// Returns the glob that `name` is, if any. One that begins with `./` is relative to the root.
fn globs_of(name: &str) -> Option<Result<Globs>> {
    let pattern = name.strip_prefix('.').filter(|rest| rest.starts_with('/')).unwrap_or(name);
    is_glob(name).then(|| Globs::only(pattern))
}
