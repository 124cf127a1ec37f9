//! Which documents, sections and blocks of a search are wanted.
//!
//! Invariant: what a filter leaves out never counts towards a limit.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::hit::types_of;
use crate::address::Fault;
use crate::error::{Error, ErrorKind, Result};
use crate::limits;
use crate::position::ByteSpan;
use crate::query::documents;
use crate::query::glob::Glob;
use crate::query::library::{Library, OpenDocument};
use crate::query::resolve::{Window, resolve};
use crate::store::{PlaceFilter, StoredDocument};

/// What is wanted, as it was asked.
#[derive(Clone, Debug, Default)]
pub struct FilterRequest {
    /// Globs, of which the document's path matches one.
    pub globs: Vec<String>,
    /// Tags, all of which the document has.
    pub tags: Vec<String>,
    /// Addresses, in one of whose places a hit stands.
    pub under: Vec<String>,
    /// The types of blocks, of which a hit stands in one.
    pub types: Vec<String>,
    /// The level of the innermost section.
    pub level: Option<u8>,
}

/// What a hit may stand in.
pub const BLOCK_TYPES: [&str; 11] = [
    "paragraph",
    "list",
    "item",
    "code",
    "table",
    "blockquote",
    "html",
    "rule",
    "definition",
    "heading",
    "frontmatter",
];

/// What is wanted.
#[derive(Debug, Default)]
pub(super) struct Filter {
    globs: Vec<Glob>,
    /// By id.
    tagged: Option<HashSet<i64>>,
    /// By id, the bytes that are wanted.
    under: Option<HashMap<i64, Vec<ByteSpan>>>,
    pub(super) types: Vec<String>,
    level: Option<u8>,
    /// Addresses that name nothing.
    pub(super) faults: Vec<Fault>,
}

impl Filter {
    pub(super) fn new(library: &Library<'_>, request: &FilterRequest) -> Result<Self> {
        let filters = [&request.globs, &request.tags, &request.under, &request.types];
        if filters.iter().map(|filter| filter.len()).sum::<usize>() > limits::MAX_FILTERS {
            return Err(limits::exceeded("filters"));
        }
        if let Some(unknown) =
            request.types.iter().find(|name| !BLOCK_TYPES.contains(&name.as_str()))
        {
            let message = format!("no type of block is named {unknown:?}");
            return Err(Error::new(ErrorKind::Usage, message)
                .with_hint(format!("the types are {}", BLOCK_TYPES.join(", "))));
        }
        let globs = request.globs.iter().map(|glob| documents::glob(glob));
        let mut filter = Self {
            globs: globs.collect::<Result<_>>()?,
            tagged: documents::tagged(library, &request.tags)?,
            types: request.types.clone(),
            level: request.level,
            ..Self::default()
        };
        for address in &request.under {
            filter.add_under(library, address)?;
        }
        Ok(filter)
    }

    /// Adds the places of `address`, or the documents that it names as a folder or a glob.
    fn add_under(&mut self, library: &Library<'_>, address: &str) -> Result<()> {
        let under = self.under.get_or_insert_default();
        // A folder is meant before a section whose title it is a part of.
        let below = documents::below(library, address)?;
        if !below.is_empty() {
            add_whole(under, &below);
            return Ok(());
        }
        let all = Window { skip: 0, take: usize::MAX };
        let resolution = resolve(library, address, all)?;
        let Some(fault) = resolution.fault else {
            for place in &resolution.places {
                under.entry(place.document.stored.id).or_default().push(place.part_span());
            }
            return Ok(());
        };
        let named = documents::named(library, &[address.to_owned()])?;
        if !named.faults.is_empty() {
            self.faults.push(fault);
        }
        add_whole(under, &named.documents);
        Ok(())
    }

    /// Whether hits in `document` may be wanted.
    pub(super) fn takes_document(&self, document: &StoredDocument) -> bool {
        (self.globs.is_empty() || self.globs.iter().any(|glob| glob.is_match(&document.path)))
            && self.tagged.as_ref().is_none_or(|tagged| tagged.contains(&document.id))
            && self.under.as_ref().is_none_or(|under| under.contains_key(&document.id))
    }

    /// Whether anything but the document decides.
    pub(super) fn looks_inside(&self) -> bool {
        self.under.is_some() || !self.types.is_empty() || self.level.is_some()
    }

    /// Whether a hit at `span` is wanted.
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
        self.under.as_ref().is_none_or(|under| {
            let spans = under.get(&document.stored.id);
            spans.is_some_and(|spans| spans.iter().any(|within| within.contains(span)))
        }) && (self.types.is_empty()
            || types_of(document, span)
                .iter()
                .any(|of| self.types.iter().any(|wanted| wanted == of)))
    }

    /// Which sections the index need not tell of. `documents` are those of the store.
    pub(super) fn places(&self, documents: &[StoredDocument]) -> Option<PlaceFilter> {
        let names_documents = self.names_documents();
        if !names_documents && self.level.is_none() {
            return None;
        }
        let level = self.level;
        let wanted: Option<HashSet<i64>> = names_documents.then(|| {
            let wanted = documents.iter().filter(|document| self.takes_document(document));
            wanted.map(|document| document.id).collect()
        });
        Some(Arc::new(move |place| {
            level.is_none_or(|level| place.level == level)
                && wanted.as_ref().is_none_or(|wanted| wanted.contains(&place.document))
        }))
    }

    /// Whether [`Self::places`] needs the documents of the store.
    pub(super) fn names_documents(&self) -> bool {
        !self.globs.is_empty() || self.tagged.is_some() || self.under.is_some()
    }
}

/// Adds all of the `documents`.
fn add_whole(under: &mut HashMap<i64, Vec<ByteSpan>>, documents: &[StoredDocument]) {
    for document in documents {
        let end = usize::try_from(document.state.size).unwrap_or(usize::MAX);
        under.entry(document.id).or_default().push(ByteSpan::new(0, end));
    }
}
