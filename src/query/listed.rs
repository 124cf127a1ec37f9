//! The documents of a list: those with given names that match a filter.
//!
//! Invariant: those of the whole store or of one folder are read in batches.

use std::borrow::Cow;

use super::batches::{Candidates, DocumentBatches};
use super::document_name::{
    NameMatch, by_name, by_whole_name, globs_of, is_whole, without_selector,
};
use super::documents::named;
use super::filter::{Filter, shadowed};
use super::resolve::{NodeRange, Resolver, resolve};
use super::warning::no_document;
use super::{FilterRequest, Session, folders};
use crate::address::{AddressError, FaultCode, Interpretation, interpretations, namespace};
use crate::error::{Error, ErrorKind, Result, Warning};
use crate::glob::Globs;
use crate::limits;
use crate::links::split_extension;
use crate::store::{DocumentFilter, Lookup, StoredDocument, Under};
use crate::visible::quoted;

/// The documents of a list, and the filter of its items.
pub(super) struct ListedDocuments<'a> {
    /// In the order of the names, then by path, unless another order is requested; each document once.
    pub(super) documents: DocumentBatches<'a>,
    /// The names that match no document, or are ambiguous.
    pub(super) faults: Vec<AddressError>,
    /// Whether there was one name, and it means one document.
    pub(super) is_single: bool,
    pub(super) filter: Filter,
}

/// Returns the documents with the given names that match the filter, or all that match it if `names` is empty.
/// Those of the whole store or of one folder are read in batches. If a name is the address of a place, the filter takes
/// only what is in the places and documents that are named.
pub(super) fn listed<'a>(
    session: &'a Session<'a>,
    names: &'a [String],
    request: &FilterRequest,
) -> Result<ListedDocuments<'a>> {
    let (names, request, found, warnings) = of_places(session, names, request)?;
    let request = &*request;
    let mut filter = Filter::new(session, request)?;
    filter.warnings.extend(warnings);
    let order = request.order();
    let (mut documents, mut faults) = match meaning(&names, found, &filter) {
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
    let is_new = |fault: &&AddressError| !faults.iter().any(|one| one.selector == fault.selector);
    let of_filter: Vec<AddressError> = filter.faults.iter().filter(is_new).cloned().collect();
    faults.extend(of_filter);
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
    Ok(ListedDocuments { documents, faults, is_single, filter })
}

/// A request for documents: their names, the filter, what the last name means, and the warnings about the names.
type OfDocuments<'a, 'b> = (Cow<'a, [String]>, Cow<'b, FilterRequest>, Found, Vec<Warning>);

/// Returns a request for places as a request for their documents with a filter.
fn of_places<'a, 'b>(
    session: &Session<'_>,
    names: &'a [String],
    request: &'b FilterRequest,
) -> Result<OfDocuments<'a, 'b>> {
    if names.len() > limits::MAX_ADDRESSES {
        return Err(limits::exceeded(limits::row::MAX_ADDRESSES));
    }
    let (mut documents, mut has_place, mut is_named) = (Vec::new(), false, true);
    let (mut found, mut warnings) = (Found::Nothing, Vec::new());
    for name in names {
        found = looked_up(session, name)?;
        warnings.extend(shadowed_titles(session, name, &found)?);
        let named_as = match found {
            Found::Nothing => document_of_place(session, name)?,
            _ => NamedAs::Document,
        };
        match named_as {
            NamedAs::Document => documents.push(name.clone()),
            NamedAs::PlaceIn(document) => {
                has_place = true;
                documents.push(document);
            }
            NamedAs::Places => (has_place, is_named) = (true, false),
        }
    }
    if !has_place {
        return Ok((names.into(), Cow::Borrowed(request), found, warnings));
    }
    if !request.under.is_empty() {
        return Err(Error::new(
            ErrorKind::Usage,
            "--under cannot be combined with the address of a place in a document",
        )
        .with_hint("leave out --under, or name documents only"));
    }
    let mut request = request.clone();
    request.under.extend_from_slice(names);
    documents.dedup();
    // Without names, the filter alone decides.
    documents.retain(|_| is_named);
    let last = documents.last();
    let found = last.map_or(Ok(Found::Nothing), |name| looked_up(session, name))?;
    // The filter gives the same warnings.
    Ok((documents.into(), Cow::Owned(request), found, Vec::new()))
}

/// Returns the warnings that `name` was taken for what was `found`, and not for the section with that title, as for the
/// name of a place to search.
fn shadowed_titles(session: &Session<'_>, name: &str, found: &Found) -> Result<Vec<Warning>> {
    let taken = match found {
        // With `::`, a name means no section.
        _ if name.contains("::") => return Ok(Vec::new()),
        Found::Document(document) if has_extension(name, document) => return Ok(Vec::new()),
        Found::Document(document) => {
            let hidden = Resolver { session }.hidden_sections(name, document)?;
            return Ok(hidden.into_iter().collect());
        }
        Found::Folder(folder) if folders::by_name(session, name)?.is_none() => {
            format!("the folder {folder}")
        }
        // No name is a pattern.
        Found::Folder(_) | Found::Globs(_) | Found::Fault | Found::Nothing => {
            return Ok(Vec::new());
        }
    };
    Ok(shadowed(session, name, &taken)?.into_iter().collect())
}

/// What the name of a document or a place means.
enum NamedAs {
    /// Documents, or nothing.
    Document,
    /// Places in the document with that name.
    PlaceIn(String),
    /// Places in several documents, or one of several.
    Places,
}

/// Returns what `name` means, which is not the name of documents.
fn document_of_place(session: &Session<'_>, name: &str) -> Result<NamedAs> {
    for interpretation in interpretations(name) {
        if let Interpretation::Namespaced { name, .. }
        | Interpretation::PathAnchor { name, .. }
        | Interpretation::PathLine { name, .. } = interpretation
            && let NameMatch::One(_) = by_name(session, &name)?
        {
            return Ok(NamedAs::PlaceIn(name));
        }
    }
    let found = resolve(session, name, NodeRange { skip: 0, take: 1 })?;
    Ok(match (found.fault, found.places.as_slice()) {
        (Some(fault), _) if fault.code != FaultCode::Ambiguous => NamedAs::Document,
        (None, [place]) if !found.has_more => NamedAs::PlaceIn(place.document.stored.path.clone()),
        _ => NamedAs::Places,
    })
}

/// What the name of documents means.
enum Found {
    Document(StoredDocument),
    Folder(String),
    /// A pattern that takes some documents.
    Globs(Globs),
    /// Several documents or folders, or a pattern that cannot be read.
    Fault,
    Nothing,
}

fn looked_up(session: &Session<'_>, name: &str) -> Result<Found> {
    let name = without_selector(name);
    match by_whole_name(session, name)? {
        NameMatch::One(document) => return Ok(Found::Document(document)),
        NameMatch::Many(_) => return Ok(Found::Fault),
        NameMatch::None => {}
    }
    if let Some(folder) = folders::by_name(session, name)? {
        return Ok(Found::Folder(folder));
    }
    match globs_of(name) {
        Some(Ok(globs)) if takes_some(session, &globs)? => return Ok(Found::Globs(globs)),
        Some(Err(_)) if !name.contains("::") => return Ok(Found::Fault),
        _ => {}
    }
    Ok(match folders::by_suffix(session, name)? {
        Ok(folder) => folder.map_or(Found::Nothing, Found::Folder),
        Err(_) => Found::Fault,
    })
}

/// Returns the warning that the only name was taken for `document`, whose path ends with it, and not for the folder
/// with that path.
fn shadowed_folder(
    session: &Session<'_>,
    names: &[String],
    document: &StoredDocument,
) -> Result<Option<Warning>> {
    let [name] = names else { return Ok(None) };
    let path = &document.path;
    if has_extension(name, document) || is_whole(name, path) {
        return Ok(None);
    }
    let folder = match folders::by_name(session, name)? {
        None => folders::by_version(session, name)?.unwrap_or_default(),
        folder => folder.filter(|folder| !folder.is_empty()),
    };
    Ok(folder.map(|folder| {
        let message = format!(
            "{name} was read as {path}, and is also a folder; write {folder}/ for that",
            name = quoted(&name)
        );
        Warning::new("SHADOWED_FOLDER", message)
    }))
}

/// Returns whether `name` has the extension of `document`, so that nothing but a document is meant.
fn has_extension(name: &str, document: &StoredDocument) -> bool {
    let (_, extension) = split_extension(&document.path);
    namespace::decode(name).ends_with(&format!(".{extension}"))
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

/// Returns what `names` mean. `found` is what the last of them means.
fn meaning(names: &[String], found: Found, filter: &Filter) -> Meaning {
    let admitted = filter.documents.clone();
    match (names, found) {
        ([], _) => Meaning::Documents(admitted),
        ([_], Found::Document(document)) => Meaning::Document(document),
        // A filter holds the globs of one list, of which the last one decides.
        ([_], Found::Globs(globs)) if admitted.globs.is_empty() => {
            Meaning::Documents(DocumentFilter { globs, ..admitted })
        }
        ([_], Found::Folder(folder)) if admitted.under.is_none() => {
            let under = Under { folders: vec![folder], ..Under::default() };
            let is_root = under.folders.iter().all(String::is_empty);
            Meaning::Documents(DocumentFilter { under: (!is_root).then_some(under), ..admitted })
        }
        _ => Meaning::Names,
    }
}

/// Returns whether `globs` take a document.
fn takes_some(session: &Session<'_>, globs: &Globs) -> Result<bool> {
    let filter = DocumentFilter { globs: globs.clone(), ..DocumentFilter::default() };
    Ok(!session.reader.documents(&Lookup::Data(&filter, &[]), None, 1)?.is_empty())
}
