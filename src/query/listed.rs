//! The documents of a list: those with given names that match a filter.
//!
//! Invariant: those of the whole store or of one folder are read in batches.

use std::borrow::Cow;

use super::batches::{Candidates, DocumentBatches};
use super::document_name::{NameMatch, by_name, by_whole_name, globs_of, without_selector};
use super::documents::named;
use super::filter::Filter;
use super::resolve::{NodeRange, resolve};
use super::warning::no_document;
use super::{FilterRequest, Session, folders};
use crate::address::{AddressError, FaultCode, Interpretation, interpretations, namespace};
use crate::error::{Result, Warning};
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
    let (names, request) = of_places(session, names, request)?;
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

/// Returns a request for places as a request for their documents with a filter.
fn of_places<'a, 'b>(
    session: &Session<'_>,
    names: &'a [String],
    request: &'b FilterRequest,
) -> Result<(Cow<'a, [String]>, Cow<'b, FilterRequest>)> {
    if names.len() > limits::MAX_ADDRESSES {
        return Err(limits::exceeded(limits::row::MAX_ADDRESSES));
    }
    let (mut documents, mut has_place, mut is_named) = (Vec::new(), false, true);
    for name in names {
        match document_of_place(session, name)? {
            NamedAs::Document => documents.push(name.clone()),
            NamedAs::PlaceIn(document) => {
                has_place = true;
                documents.push(document);
            }
            NamedAs::Places => (has_place, is_named) = (true, false),
        }
    }
    if !has_place {
        return Ok((names.into(), Cow::Borrowed(request)));
    }
    let mut request = request.clone();
    request.under.extend_from_slice(names);
    documents.dedup();
    // Without names, the filter alone decides.
    documents.retain(|_| is_named);
    Ok((documents.into(), Cow::Owned(request)))
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

fn document_of_place(session: &Session<'_>, name: &str) -> Result<NamedAs> {
    if means_documents(session, name)? {
        return Ok(NamedAs::Document);
    }
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

/// Returns whether `name` is the name of documents, a folder, or a glob that takes some or cannot be read.
fn means_documents(session: &Session<'_>, name: &str) -> Result<bool> {
    let name = without_selector(name);
    if !matches!(by_whole_name(session, name)?, NameMatch::None)
        || folders::by_name(session, name)?.is_some()
    {
        return Ok(true);
    }
    let is_glob = match globs_of(name) {
        Some(Ok(globs)) => takes_some(session, &globs)?,
        Some(Err(_)) => !name.contains("::"),
        None => false,
    };
    Ok(is_glob || !matches!(folders::by_suffix(session, name)?, Ok(None)))
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
        let message = format!(
            "{name} was read as {path}, and is also a folder; write {folder}/ for that",
            name = quoted(&name)
        );
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
