//! Filters the documents, sections and blocks of a query.
//!
//! Invariant: items that a filter excludes do not count toward a limit.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

use super::batches::{Candidates, DocumentBatches};
use super::containers::types_of;
use super::document_name::{self, NameMatch};
use super::document_order::DocumentOrder;
use super::node::{Extent, answer};
use super::open_document::OpenDocument;
use super::resolve::{ByTitle, NodeRange, Resolution, resolve};
use super::resolved_node::{ResolvedAs, ResolvedNode, Target};
use super::session::Session;
use super::warning::{
    NO_DOCUMENT, NO_ITEMS, OTHER_VALUES, UNKNOWN_KEY, no_document, parsed_before, unreadable_within,
};
use super::{documents, folders};
use crate::address::suggest::most_similar;
use crate::address::{AddressError, AddressResult, FaultCode, Params, namespace};
use crate::data::expression::Reason;
use crate::data::{Datum, Expression};
use crate::error::{Error, ErrorKind, Result, Warning};
use crate::glob::{Globs, is_glob};
use crate::limits;
use crate::links::file_name;
use crate::markdown::outline::{BlockType, NodeKind, Section};
use crate::message::{Message, message};
use crate::percent::percent_decode;
use crate::position::{ByteSpan, LineIndex};
use crate::store::{DocumentFilter, Lookup, SectionFilter, StoredDocument, Under};
use crate::terms::folded;
use crate::visible::quoted;

/// The filters of a request.
#[derive(Clone, Debug, Default)]
pub struct FilterRequest {
    /// Globs over paths. The last one that matches decides; a glob that begins with `!` excludes.
    pub globs: Vec<String>,
    /// Tags. A document must have all of them.
    pub tags: Vec<String>,
    /// Names of collections. A document must be in one of them.
    pub collections: Vec<String>,
    /// Addresses. A hit must be in one of these nodes.
    pub under: Vec<String>,
    /// Types of blocks. A hit must be in a block of one of these types.
    pub types: Vec<String>,
    /// The level of the innermost section of a hit, 1 to 6.
    pub level: Option<u8>,
    /// A condition on the front matter of a document; see [`Expression`].
    pub condition: Option<String>,
    /// The sort key of documents: `path`, `title` or a key of front matter; descending after `-`.
    pub sort: Option<String>,
}

/// Leaves a filter out of a request.
type LeaveOut = fn(&mut FilterRequest);

impl FilterRequest {
    /// Returns the requested order of the documents, if any.
    pub(super) fn order(&self) -> Option<DocumentOrder<'_>> {
        self.sort.as_deref().map(DocumentOrder::of)
    }

    /// Returns whether front matter decides which documents match.
    pub(super) fn has_condition(&self) -> bool {
        self.condition.is_some() || !self.tags.is_empty()
    }

    /// Returns whether the filters exclude documents and name none.
    pub(super) fn only_excludes(&self) -> bool {
        let others = Self { globs: Vec::new(), ..self.clone() };
        others.is_empty() && self.globs.iter().all(|glob| glob.starts_with('!'))
    }

    /// The option of each filter, and what leaves the filter out, those that say most about where a hit must be last.
    pub(super) const EACH: [(&'static str, LeaveOut); 7] = [
        ("{--type|types}", |it| it.types.clear()),
        ("--level", |it| it.level = None),
        ("--where", |it| it.condition = None),
        ("{--tag|tags}", |it| it.tags.clear()),
        ("{-g|globs}", |it| it.globs.clear()),
        ("--under", |it| it.under.clear()),
        ("--collection", |it| it.collections.clear()),
    ];

    /// Returns the number of filters with a value; the sort key does not count.
    pub(super) fn count(&self) -> usize {
        let filters = [&self.globs, &self.tags, &self.collections, &self.under, &self.types];
        filters.iter().filter(|filter| !filter.is_empty()).count()
            + usize::from(self.level.is_some())
            + usize::from(self.condition.is_some())
    }

    /// Returns whether nothing is filtered; the sort key does not count.
    pub fn is_empty(&self) -> bool {
        self.count() == 0
    }
}

/// Returns the name of the type of a block or an item.
pub(super) fn type_name(kind: NodeKind) -> Option<&'static str> {
    match kind {
        NodeKind::Block(block) => Some(block.name()),
        NodeKind::Item => Some("item"),
        NodeKind::Root | NodeKind::Section(_) => None,
    }
}

/// Returns the accepted types of [`FilterRequest::types`].
pub fn block_types() -> impl Iterator<Item = &'static str> {
    BlockType::ALL.into_iter().map(BlockType::name).chain(["item", "frontmatter"])
}

/// A place that hits must be in.
#[derive(Clone, Copy, Debug)]
struct Place {
    target: Target,
    params: Params,
    resolved: Option<ResolvedAs>,
    span: ByteSpan,
}

impl Place {
    /// Returns whether the place is its whole document.
    fn is_whole(&self) -> bool {
        self.target == Target::Document && !self.params.is_part()
    }
}

/// The filters of a request, resolved in a store.
#[derive(Debug, Default)]
pub(super) struct Filter {
    /// The conditions on documents.
    pub(super) documents: DocumentFilter,
    /// The places that hits in some of the documents of [`DocumentFilter::under`] must be in, by the id
    /// of the document.
    places: HashMap<i64, Vec<Place>>,
    /// The globs of [`DocumentFilter::globs`] as they are written.
    globs: Vec<String>,
    pub(super) types: Vec<String>,
    level: Option<u8>,
    /// Addresses that were not resolved.
    pub(super) faults: Vec<AddressError>,
    /// Warnings about the addresses.
    pub(super) warnings: Vec<Warning>,
}

/// Returns a warning for each of `keys` that no front matter has, with similar keys.
fn unknown_keys<'a>(
    session: &Session<'_>,
    keys: impl Iterator<Item = &'a str>,
) -> Result<Vec<Warning>> {
    let mut unknown = Vec::new();
    for key in keys.collect::<BTreeSet<&str>>() {
        if !session.reader.has_front_matter_key(key)? {
            unknown.push(key);
        }
    }
    if unknown.is_empty() {
        return Ok(Vec::new());
    }
    let types = session.reader.front_matter_keys(&DocumentFilter::default())?;
    let names: BTreeSet<&str> = types.keys().map(|(name, _)| name.as_str()).collect();
    let warning = |key| {
        let similar = most_similar(key, names.iter().copied());
        let next = if similar.is_empty() {
            "`mdsel meta --types` lists the keys".into()
        } else {
            message!("similar keys are {}", similar.join(", "))
        };
        let message =
            message!("no front matter has the key {}; {}", quoted(&key).to_string(), next);
        Warning::new(UNKNOWN_KEY, message)
    };
    Ok(unknown.into_iter().map(warning).collect())
}

/// Fails if the store has no collection called `name`.
fn known_collection(session: &Session<'_>, name: &str) -> Result<()> {
    if session.roots.collection(name).is_some() {
        return Ok(());
    }
    let known = session.roots.collections().iter().map(|root| root.name.as_str());
    let known = known.collect::<Vec<_>>().join(", ");
    let known = if known.is_empty() { "only its root" } else { &known };
    let message =
        format!("the store has no collection {name}; it has {known}", name = quoted(&name));
    Err(Error::new(ErrorKind::Usage, message).with_hint(
        "name a folder with --under, or list the collections with `mdsel status --collections`",
    ))
}

/// Returns the warning that `name` was read as `taken`, and not as the title of a section, if a section has it.
pub(super) fn shadowed(session: &Session<'_>, name: &str, taken: &str) -> Result<Option<Warning>> {
    let is_title = !session.reader.documents(&Lookup::Titles(&[name]), None, 1)?.is_empty();
    Ok(is_title.then(|| {
        let message = message!(
            "{} was read as {}, and is also the title of a section; write {value} for that",
            quoted(&name).to_string(),
            taken,
            format!("/{name}")
        );
        Warning::new("SHADOWED_TITLE", message)
    }))
}

/// Returns the documents that `address` takes as a glob; none if it is the name of a document or has a place in one.
fn globbed(session: &Session<'_>, address: &str) -> Result<Vec<StoredDocument>> {
    let name = document_name::without_selector(address);
    if !is_glob(name)
        || name.contains("::")
        || name.starts_with('/')
        || !matches!(document_name::by_whole_name(session, name)?, NameMatch::None)
    {
        return Ok(Vec::new());
    }
    documents::below_or_like(session, name)
}

/// Returns what to do instead of the glob `address`, which names no document and no section.
fn instead_of_glob(session: &Session<'_>, address: &str) -> Result<Message> {
    let below = format!("{}/**", address.trim_end_matches('/'));
    let takes_some = documents::meant(session, &below, &[])?.is_ok_and(|found| !found.is_empty());
    let glob = if takes_some { &below } else { address };
    Ok(message!(
        "no document matches this glob, and no section has this name; to filter paths, use {-g|globs} {value}",
        glob
    ))
}

/// Returns what to say about a name that was resolved to a section by its title, although it may be meant as that of a
/// folder: a fault if it is only a part of the title and the names of folders begin with it, and a warning if only one of
/// these is true. A name that begins with `/` is a title.
fn by_title(
    session: &Session<'_>,
    name: &str,
    found: &Resolution,
) -> Result<AddressResult<Option<Warning>>> {
    let (Some(by_title), [place]) = (found.by_title, found.places.as_slice()) else {
        return Ok(Ok(None));
    };
    if name.starts_with('/') {
        return Ok(Ok(None));
    }
    let section = place.address();
    let start = namespace::decode(name);
    let mut may_be = folders::beginning(session, &start, limits::MAX_SUGGESTIONS)?;
    let others = match by_title {
        ByTitle::Whole if may_be.is_empty() => return Ok(Ok(None)),
        ByTitle::Whole => {
            format!(", and the names of folders begin with it: {}", may_be.join(", "))
        }
        ByTitle::Part if may_be.is_empty() => String::new(),
        ByTitle::Part => {
            may_be.push(section);
            let message = message!(
                "no folder has this name, but the names of folders and a title contain it; write {value} for the title",
                format!("/{name}")
            );
            return Ok(Err(AddressError::new(FaultCode::Ambiguous, message).suggest(may_be)));
        }
    };
    let message = format!("{name} was read as the section {section}{others}", name = quoted(&name));
    Ok(Ok(Some(Warning::new("READ_AS_TITLE", message))))
}

/// Fails if a request has too many filters, or a type of block that does not exist.
fn check(request: &FilterRequest) -> Result<()> {
    let filters =
        [&request.globs, &request.tags, &request.collections, &request.under, &request.types];
    if filters.iter().map(|filter| filter.len()).sum::<usize>() > limits::MAX_FILTERS {
        return Err(limits::exceeded(limits::row::MAX_FILTERS));
    }
    let is_unknown = |name: &&String| !block_types().any(|known| known == **name);
    let Some(unknown) = request.types.iter().find(is_unknown) else { return Ok(()) };
    let message = format!("{unknown} is not a type of block", unknown = quoted(&unknown));
    let hint = format!("use one of {}", block_types().collect::<Vec<_>>().join(", "));
    Err(Error::new(ErrorKind::Usage, message).with_hint(hint))
}

impl Filter {
    pub(super) fn new(session: &Session<'_>, request: &FilterRequest) -> Result<Self> {
        check(request)?;
        let tags = request.tags.iter().map(|tag| folded(tag.trim_start_matches('#')));
        let mut filter = Self {
            documents: DocumentFilter {
                globs: Globs::new(&request.globs)?,
                tags: tags.collect(),
                under: None,
                condition: request.condition.as_deref().map(Expression::parse).transpose()?,
            },
            globs: request.globs.clone(),
            types: request.types.clone(),
            level: request.level,
            ..Self::default()
        };
        if request.has_condition() {
            filter.warnings.extend(parsed_before(session));
        }
        let condition = filter.documents.condition.iter().flat_map(Expression::keys);
        let sort_key = request.order().and_then(|order| order.front_matter_key());
        filter.warnings.extend(unknown_keys(session, condition.chain(sort_key))?);
        filter.set_under(session, request)?;
        if request.has_condition() {
            filter.warnings.extend(unreadable_within(session, &filter.documents)?);
        }
        Ok(filter)
    }

    /// Sets the folders and documents that the request names, and the places in the documents.
    fn set_under(&mut self, session: &Session<'_>, request: &FilterRequest) -> Result<()> {
        let collections = &request.collections;
        for name in collections {
            known_collection(session, name)?;
        }
        let is_in_collection = |path: &str| {
            let first = path.split('/').next().unwrap_or_default();
            collections.is_empty() || collections.iter().any(|name| name == first)
        };
        let mut under = (!request.under.is_empty()).then(Under::default);
        for address in &request.under {
            match self.folder(session, address)? {
                Err(fault) => self.faults.push(fault.of(address)),
                Ok(Some(root)) if root.is_empty() => under = None,
                Ok(Some(folder)) => {
                    if let Some(under) = &mut under
                        && is_in_collection(&folder)
                    {
                        under.folders.push(folder);
                    }
                }
                Ok(None) => self.add_under(session, address, &is_in_collection)?,
            }
        }
        if !collections.is_empty() {
            let folders = collections.clone();
            under = under.or(Some(Under { folders, ..Under::default() }));
        }
        if let Some(mut under) = under {
            under.documents.extend(self.places.keys());
            self.documents.under = Some(under);
        } else {
            self.places.clear();
        }
        Ok(())
    }

    /// Returns the folder that `address` names, if any. A folder takes precedence over a section with the name and over
    /// a document whose path only ends with it. A document with the whole path takes precedence over a folder whose path
    /// ends with the name or has it apart from a version.
    fn folder(
        &mut self,
        session: &Session<'_>,
        address: &str,
    ) -> Result<AddressResult<Option<String>>> {
        let folder = folders::by_name(session, address)?;
        if folder.is_some() || address.contains("::") {
            return Ok(Ok(folder));
        }
        let folder = match document_name::by_name(session, address)? {
            NameMatch::One(stored) if document_name::is_whole(address, &stored.path) => Ok(None),
            NameMatch::None => folders::by_suffix(session, address)?,
            _ => match folders::by_suffix(session, address)? {
                Err(_) => folders::by_version(session, address)?,
                folder => folder,
            },
        };
        if let Ok(Some(folder)) = &folder {
            self.warnings.extend(shadowed(session, address, &format!("the folder {folder}"))?);
        }
        Ok(folder)
    }

    /// Adds the documents that `address` takes as a glob, else its nodes, in documents whose path `takes` accepts.
    fn add_under(
        &mut self,
        session: &Session<'_>,
        address: &str,
        takes: &dyn Fn(&str) -> bool,
    ) -> Result<()> {
        let globbed = globbed(session, address)?;
        if !globbed.is_empty() {
            self.warnings.extend(shadowed(session, address, "a glob")?);
            self.add_documents(&globbed, takes);
            return Ok(());
        }
        let all = NodeRange { skip: 0, take: usize::MAX };
        let resolution = resolve(session, address, all)?;
        let Some(fault) = resolution.fault else {
            match by_title(session, address, &resolution)? {
                Ok(warning) => self.warnings.extend(warning),
                Err(fault) => {
                    self.faults.push(fault.of(address));
                    return Ok(());
                }
            }
            let places = resolution.places.iter();
            for place in places.filter(|place| takes(&place.document.stored.path)) {
                let needs_text = place.params.needs_text();
                let answer = || answer(session, place, Extent::Words(0));
                let span = match needs_text.then(answer).transpose()? {
                    None => place.part_span(),
                    Some(Ok(node)) => ByteSpan::new(node.byte_start, node.byte_end),
                    Some(Err(fault)) => {
                        self.faults.push(fault.of(address));
                        continue;
                    }
                };
                let (target, params, resolved) = (place.target, place.params, place.resolved);
                let places = self.places.entry(place.document.stored.id).or_default();
                places.push(Place { target, params, resolved, span });
            }
            self.warnings.extend(resolution.warnings);
            return Ok(());
        };
        // Other names of folders and other globs were looked up before.
        let found = if address.contains("::") || address.starts_with('/') {
            documents::meant(session, address, &[])?.unwrap_or_default()
        } else {
            Vec::new()
        };
        if found.is_empty() {
            let fault = if is_glob(address) {
                AddressError { message: instead_of_glob(session, address)?, ..fault }
            } else {
                fault.suggest_first(folders::like(session, address)?)
            };
            self.faults.push(fault);
        }
        self.add_documents(&found, takes);
        Ok(())
    }

    /// Adds those of `documents` whose path `takes` accepts.
    fn add_documents(&mut self, documents: &[StoredDocument], takes: &dyn Fn(&str) -> bool) {
        for document in documents.iter().filter(|document| takes(&document.path)) {
            let end = usize::try_from(document.state.size).unwrap_or(usize::MAX);
            let (target, span) = (Target::Document, ByteSpan::new(0, end));
            let place = Place { target, params: Params::default(), resolved: None, span };
            self.places.entry(document.id).or_default().push(place);
        }
    }

    /// Returns the warning for an empty answer whose reason is that no document passes the filters, or that the
    /// condition compares with a value of another type. Another warning or fault of the filter may give the reason.
    pub(super) fn empty(&self, session: &Session<'_>) -> Result<Option<Warning>> {
        if self.documents.is_empty() || self.has_unknown() {
            return Ok(None);
        }
        let mut passing =
            DocumentBatches::new(session, self.documents.clone(), None, Candidates::All)?;
        if passing.next().transpose()?.is_some() {
            return Ok(None);
        }
        if let Some(reason) = self.reason(session)? {
            return Ok(Some(reason));
        }
        let documents = session.reader.totals()?.documents;
        let other = self.other_glob(session)?;
        let other = other.map_or_else(String::new, |glob| {
            format!(", but the glob {glob} takes some", glob = quoted(&glob))
        });
        Ok(Some(no_document(&format!("0 of {documents} documents pass the filters{other}"))))
    }

    /// Returns the warning that no section passes the filter, for an answer without any, or none if another warning
    /// explains it. `names` are those of a list of documents, and `asked` what it was asked for.
    pub(super) fn no_section(&self, names: &[String], asked: &FilterRequest) -> Option<Warning> {
        let is_explained = self.warnings.iter().any(|warning| warning.code == NO_DOCUMENT);
        if !self.looks_inside() || self.has_unknown() || is_explained {
            return None;
        }
        let places = if names.is_empty() { &asked.under } else { names };
        let is_only_under =
            FilterRequest { under: Vec::new(), ..asked.clone() }.is_empty() && !places.is_empty();
        let message = match places {
            [place] if is_only_under => {
                message!("no section is in {}; `mdsel select {path}` prints it", place, place)
            }
            places if is_only_under => message!("no section is in {}", places.join(", ")),
            _ => "no section passes the filters; leave out a filter".into(),
        };
        Some(Warning::new(NO_ITEMS, message))
    }

    /// Returns the warning that the file of the only document in which hits can be has changed, for an empty answer.
    pub(super) fn change(&self, session: &Session<'_>) -> Result<Option<Warning>> {
        let Some(under) = &self.documents.under else { return Ok(None) };
        let mut documents = under.documents.iter();
        let (Some(id), None, []) = (documents.next(), documents.next(), under.folders.as_slice())
        else {
            return Ok(None);
        };
        let document = session.reader.document(*id)?;
        Ok(session.warning_of_changes(&document, Session::INGEST_UPDATES))
    }

    /// Returns the warning that no front matter has a value that the condition can be true for.
    fn reason(&self, session: &Session<'_>) -> Result<Option<Warning>> {
        let reasons = self.documents.condition.iter().flat_map(Reason::of);
        for mut reason in reasons {
            let condition = Some(Expression::Exists(reason.key().to_owned()));
            let with_key = DocumentFilter { condition, ..self.documents.clone() };
            let documents = session.reader.all(&Lookup::Data(&with_key, &[]))?;
            for value in session.reader.values_of(reason.key(), &documents)?.into_iter().flatten() {
                reason.add(&Datum::Json(Cow::Owned(value)));
            }
            if let Some(message) = reason.message() {
                return Ok(Some(Warning::new(OTHER_VALUES, message)));
            }
        }
        Ok(None)
    }

    /// Returns a glob that takes documents if it is written instead of the only one: with the folders above, without
    /// the escapes of a URL, or alone if several globs are one text.
    fn other_glob(&self, session: &Session<'_>) -> Result<Option<String>> {
        let [glob] = self.globs.as_slice() else { return Ok(None) };
        let folder = glob.trim_end_matches('/');
        let others = [percent_decode(glob), format!("**/{glob}"), format!("**/{folder}/**")];
        // In braces, a comma belongs to the glob.
        let alone = glob.split_once(',').filter(|_| !glob.contains('{'));
        let alone = alone.map(|(first, _)| first.trim().to_owned());
        for other in others.into_iter().chain(alone).filter(|other| other != glob) {
            let globs = Globs::new(std::slice::from_ref(&other))?;
            let documents = DocumentFilter { globs, ..self.documents.clone() };
            let mut taken = DocumentBatches::new(session, documents, None, Candidates::All)?;
            if taken.next().transpose()?.is_some() {
                return Ok(Some(other));
            }
        }
        Ok(None)
    }

    /// Returns whether an address or a key of the filter is not in the store.
    pub(super) fn has_unknown(&self) -> bool {
        !self.faults.is_empty() || self.warnings.iter().any(|warning| warning.code == UNKNOWN_KEY)
    }

    /// Keeps the documents in which hits can match.
    pub(super) fn retain(
        &self,
        session: &Session<'_>,
        documents: &mut Vec<StoredDocument>,
    ) -> Result<()> {
        session.reader.retain(&self.documents, documents)
    }

    /// Returns whether a filter depends on more than the document.
    pub(super) fn looks_inside(&self) -> bool {
        !self.places.is_empty() || !self.types.is_empty() || self.level.is_some()
    }

    /// Returns the name of the folder of all documents that the filter takes, if it names one folder and nothing else.
    pub(super) fn only_folder_name(&self) -> Option<&str> {
        let under = self.documents.under.as_ref()?;
        match under.folders.as_slice() {
            [folder] if under.documents.is_empty() => Some(file_name(folder)),
            _ => None,
        }
    }

    /// Returns whether `span` of a document is in one of the nodes that hits must be in.
    pub(super) fn is_under(&self, document: &StoredDocument, span: ByteSpan) -> bool {
        self.has_place(document, |place| place.span.contains(span))
    }

    /// Returns whether the document is in one of the folders that hits must be in, or `has_it` accepts one of the nodes.
    fn has_place(&self, document: &StoredDocument, has_it: impl Fn(&Place) -> bool) -> bool {
        self.documents.under.as_ref().is_none_or(|under| {
            let places = self.places.get(&document.id);
            under.has_in_folder(&document.path) || places.is_some_and(|all| all.iter().any(has_it))
        })
    }

    /// Returns whether a line of a document, 1-based, matches. A node has all lines that it has bytes on, so that the
    /// lines of a cell are those of its row.
    pub(super) fn takes_line(
        &self,
        document: &OpenDocument,
        index: &LineIndex,
        line: usize,
    ) -> bool {
        let span = ByteSpan::new(index.start_of(line), index.end_of(line));
        self.has_place(&document.stored, |place| index.lines(place.span).contains(line))
            && self.takes_level(document, span)
            && self.takes_type_of(document, span)
    }

    /// Returns the parts of `document` that the request names and in which something passes the filter: the whole of it,
    /// or places in it.
    pub(super) fn parts(&self, document: &Rc<OpenDocument>) -> Vec<ResolvedNode> {
        let places = self.places.get(&document.stored.id).map_or(&[][..], Vec::as_slice);
        let is_in_folder = |under: &Under| under.has_in_folder(&document.stored.path);
        let is_whole = self.documents.under.as_ref().is_none_or(is_in_folder)
            || places.iter().any(Place::is_whole);
        if is_whole {
            let passes = self.passes_in(document, document.span());
            return passes.then(|| ResolvedNode::whole(Rc::clone(document))).into_iter().collect();
        }
        let passing = places.iter().filter(|place| self.passes_in(document, place.span));
        let part = |place: &Place| {
            let Place { target, params, resolved, .. } = *place;
            ResolvedNode { document: Rc::clone(document), target, params, resolved }
        };
        passing.map(part).collect()
    }

    /// Returns whether `span`, or a section in it, has the types and the level.
    fn passes_in(&self, document: &OpenDocument, span: ByteSpan) -> bool {
        if self.types.is_empty() && self.level.is_none() {
            return true;
        }
        let tree = &document.tree;
        let is_within = |section: &&Section| {
            tree.node(section.node).is_some_and(|node| span.contains(node.bytes))
        };
        let mut sections = tree.outline().sections.iter().filter(is_within);
        sections.any(|section| self.takes_section(document, section)) || self.takes(document, span)
    }

    /// Returns whether a section matches: its level, its position, and the types of its own blocks.
    pub(super) fn takes_section(&self, document: &OpenDocument, section: &Section) -> bool {
        let tree = &document.tree;
        let span = tree.node(section.node).map(|node| node.bytes).unwrap_or_default();
        let own = tree.outline().own_text(section);
        self.is_under(&document.stored, span)
            && self.level.is_none_or(|level| section.level == level)
            && self.takes_type_in(document, own)
    }

    /// Returns whether a whole document matches.
    pub(super) fn takes_document(&self, document: &OpenDocument) -> bool {
        self.is_under(&document.stored, document.span())
            && self.level.is_none()
            && self.types.is_empty()
    }

    /// Returns whether `own`, the own text of a section, has a block of a type that matches.
    pub(super) fn takes_type_in(&self, document: &OpenDocument, own: ByteSpan) -> bool {
        self.types.is_empty()
            || self.takes_type(BlockType::Heading.name())
            || document
                .tree
                .nodes_within(own)
                .any(|node| type_name(node.kind).is_some_and(|name| self.takes_type(name)))
    }

    /// Returns whether blocks of the type with that name match.
    pub(super) fn takes_type(&self, name: &str) -> bool {
        self.types.is_empty() || self.types.iter().any(|wanted| wanted == name)
    }

    /// Returns whether a hit at `span` matches.
    pub(super) fn takes(&self, document: &OpenDocument, span: ByteSpan) -> bool {
        self.takes_level(document, span) && self.takes_place(document, span)
    }

    fn takes_level(&self, document: &OpenDocument, span: ByteSpan) -> bool {
        self.level.is_none_or(|level| {
            let section = document.tree.section_at(span.start);
            section.and_then(|node| document.tree.section(node)).is_some_and(|s| s.level == level)
        })
    }

    fn takes_place(&self, document: &OpenDocument, span: ByteSpan) -> bool {
        self.is_under(&document.stored, span) && self.takes_type_of(document, span)
    }

    fn takes_type_of(&self, document: &OpenDocument, span: ByteSpan) -> bool {
        self.types.is_empty()
            || types_of(document, span)
                .iter()
                .any(|of| self.types.iter().any(|wanted| wanted == of))
    }

    /// Returns the filter for the index, which selects sections. [`Self::takes`] then checks each hit.
    pub(super) fn sections(&self) -> SectionFilter<'_> {
        let wants_front_matter = self.types.iter().any(|name| name == "frontmatter");
        SectionFilter {
            documents: &self.documents,
            level: self.level,
            front_matter: match self.types.len() {
                0 => None,
                1 if wants_front_matter => Some(true),
                _ => (!wants_front_matter).then_some(false),
            },
            types: &self.types,
        }
    }
}
