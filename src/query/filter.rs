//! Filters the documents, sections and blocks of a query.
//!
//! Invariant: items that a filter excludes do not count toward a limit.

use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};

use serde_json::Value;

use super::documents;
use super::glob::Globs;
use super::library::{Library, OpenDocument};
use super::matching::Matching;
use super::resolve::{Window, resolve};
use super::search::types_of;
use crate::address::Fault;
use crate::error::{Error, ErrorKind, Result, Warning};
use crate::limits;
use crate::markdown::outline::{BlockType, NodeKind, Section};
use crate::markdown::slug::comparable;
use crate::position::ByteSpan;
use crate::store::{SectionFilter, Snapshot, StoredDocument};

/// The filters of a request.
#[derive(Clone, Debug, Default)]
pub struct FilterRequest {
    /// Globs over paths. The last one that matches decides; a glob that begins with `!` excludes.
    pub globs: Vec<String>,
    /// Tags. A document must have all of them.
    pub tags: Vec<String>,
    /// Addresses. A hit must be in one of these nodes.
    pub under: Vec<String>,
    /// Types of blocks. A hit must be in a block of one of these types.
    pub types: Vec<String>,
    /// The level of the innermost section of a hit, 1 to 6.
    pub level: Option<u8>,
    /// A condition on the front matter of a document.
    pub condition: Option<String>,
    /// The sort key of documents: `path`, `title` or a key of front matter; descending after `-`.
    pub sort: Option<String>,
}

impl FilterRequest {
    /// Returns whether nothing is filtered; the sort key does not count.
    pub fn is_empty(&self) -> bool {
        let filters = [&self.globs, &self.tags, &self.under, &self.types];
        filters.iter().all(|filter| filter.is_empty())
            && self.level.is_none()
            && self.condition.is_none()
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

/// The sort order of documents.
#[derive(Debug)]
pub(super) struct Order<'a> {
    key: &'a str,
    is_descending: bool,
}

impl<'a> Order<'a> {
    /// Returns the requested order, if any.
    pub(super) fn of(request: &'a FilterRequest) -> Option<Self> {
        let asked = request.sort.as_deref()?;
        let descending = asked.strip_prefix('-');
        Some(Self { key: descending.unwrap_or(asked), is_descending: descending.is_some() })
    }

    /// Sorts documents. Those without the key come last; those with equal keys are sorted by path.
    pub(super) fn sort(
        &self,
        library: &Library<'_>,
        documents: &mut Vec<StoredDocument>,
    ) -> Result<()> {
        let mut keyed = Vec::with_capacity(documents.len());
        for document in documents.drain(..) {
            keyed.push((self.value(library, &document)?, document));
        }
        keyed.sort_by(|(one, a), (other, b)| {
            let order = match (one, other) {
                (None, None) => Ordering::Equal,
                (None, Some(_)) => Ordering::Greater,
                (Some(_), None) => Ordering::Less,
                (Some(one), Some(other)) if self.is_descending => other.cmp(one),
                (Some(one), Some(other)) => one.cmp(other),
            };
            order.then_with(|| a.path.cmp(&b.path))
        });
        documents.extend(keyed.into_iter().map(|(_, document)| document));
        Ok(())
    }

    fn value(&self, library: &Library<'_>, document: &StoredDocument) -> Result<Option<SortKey>> {
        Ok(match self.key {
            "path" => Some(SortKey::Text(document.path.clone())),
            "title" => {
                library.snapshot.links(document)?.title.map(|title| SortKey::of_text(&title))
            }
            key => {
                let values = library.snapshot.front_matter(document)?;
                values.as_ref().and_then(|values| values.get(key)).and_then(SortKey::of)
            }
        })
    }
}

/// A value of the sort key; numbers come before strings.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum SortKey {
    /// The bits of a number, transformed so that they sort as the number does.
    Number(u64),
    Text(String),
}

impl SortKey {
    fn of(value: &Value) -> Option<Self> {
        match value {
            Value::Number(number) => {
                let bits = number.as_f64()?.to_bits();
                // The bits of positive numbers sort as the numbers do; those of negative numbers sort in
                // reverse.
                let is_negative = bits >> 63 == 1;
                Some(Self::Number(if is_negative { !bits } else { bits | 1 << 63 }))
            }
            Value::String(text) => Some(Self::of_text(text)),
            Value::Bool(is_so) => Some(Self::Text(is_so.to_string())),
            Value::Null | Value::Array(_) | Value::Object(_) => None,
        }
    }

    fn of_text(text: &str) -> Self {
        Self::Text(comparable(text))
    }
}

/// The accepted types of [`FilterRequest::types`].
pub const BLOCK_TYPES: [&str; 12] = [
    "paragraph",
    "list",
    "item",
    "code",
    "table",
    "blockquote",
    "html",
    "rule",
    "definition",
    "footnote",
    "heading",
    "frontmatter",
];

/// The nodes that hits must be in.
#[derive(Debug, Default)]
struct Under {
    /// Folders, whose documents match as a whole.
    folders: Vec<String>,
    /// Byte spans, by the id of the document.
    places: HashMap<i64, Vec<ByteSpan>>,
}

impl Under {
    fn has_in_folder(&self, path: &str) -> bool {
        self.folders.iter().any(|folder| {
            let rest = path.strip_prefix(folder.as_str());
            rest.is_some_and(|rest| rest.starts_with('/'))
        })
    }

    /// Adds each document as a whole.
    fn add_whole(&mut self, documents: &[StoredDocument]) {
        for document in documents {
            let end = usize::try_from(document.state.size).unwrap_or(usize::MAX);
            self.places.entry(document.id).or_default().push(ByteSpan::new(0, end));
        }
    }
}

/// The filters of a request, resolved in a store.
#[derive(Debug, Default)]
pub(super) struct Filter {
    globs: Globs,
    /// The ids of the documents with all tags, if tags were given.
    tagged: Option<HashSet<i64>>,
    /// The documents whose front matter matches the condition, if one was given.
    matching: Option<Matching>,
    under: Option<Under>,
    pub(super) types: Vec<String>,
    level: Option<u8>,
    /// Addresses that were not resolved.
    pub(super) faults: Vec<Fault>,
    /// Warnings about the addresses.
    pub(super) warnings: Vec<Warning>,
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
            let message = format!("{unknown:?} is not a type of block");
            return Err(Error::new(ErrorKind::Usage, message)
                .with_hint(format!("use one of {}", BLOCK_TYPES.join(", "))));
        }
        let mut filter = Self {
            globs: Globs::new(&request.globs)?,
            tagged: documents::tagged(library, &request.tags)?,
            matching: request
                .condition
                .as_deref()
                .map(|condition| Matching::new(library.snapshot, condition))
                .transpose()?,
            types: request.types.clone(),
            level: request.level,
            ..Self::default()
        };
        for address in &request.under {
            filter.add_under(library, address)?;
        }
        Ok(filter)
    }

    /// Adds the nodes of `address`, or the documents if it is a folder or a glob.
    fn add_under(&mut self, library: &Library<'_>, address: &str) -> Result<()> {
        let under = self.under.get_or_insert_default();
        // A folder takes precedence over a section whose title contains the name.
        match documents::folder_path(address) {
            Some(root) if root.is_empty() => {
                under.add_whole(&library.snapshot.documents(None, usize::MAX)?);
                return Ok(());
            }
            Some(folder) if library.snapshot.is_folder(&folder)? => {
                under.folders.push(folder);
                return Ok(());
            }
            _ => {}
        }
        let all = Window { skip: 0, take: usize::MAX };
        let resolution = resolve(library, address, all)?;
        let Some(fault) = resolution.fault else {
            for place in &resolution.places {
                let spans = under.places.entry(place.document.stored.id).or_default();
                spans.push(place.part_span());
            }
            self.warnings.extend(resolution.warnings);
            return Ok(());
        };
        let named = documents::named(library, &[address.to_owned()])?;
        if !named.faults.is_empty() {
            self.faults.push(fault);
        }
        under.add_whole(&named.documents);
        Ok(())
    }

    /// Returns whether hits in `document` can match.
    pub(super) fn takes_document(&self, document: &StoredDocument) -> bool {
        self.takes_named(document.id, &document.path)
    }

    /// Returns whether hits in the document with this id and path can match.
    pub(super) fn takes_named(&self, id: i64, path: &str) -> bool {
        self.takes_id(id)
            && self.globs.takes(path)
            && self
                .under
                .as_ref()
                .is_none_or(|under| under.has_in_folder(path) || under.places.contains_key(&id))
    }

    /// Returns the ids of the documents whose tags and front matter match, if these are few enough to be
    /// listed.
    pub(super) fn ids(&self) -> Option<Vec<i64>> {
        let ids = match (&self.matching, &self.tagged) {
            (Some(matching), _) if matching.ids().is_some() => matching.ids(),
            (_, tagged) => tagged.as_ref(),
        };
        Some(ids?.iter().copied().filter(|id| self.takes_id(*id)).collect())
    }

    /// Returns whether the tags and the front matter of the document with this id match.
    pub(super) fn takes_id(&self, id: i64) -> bool {
        self.tagged.as_ref().is_none_or(|tagged| tagged.contains(&id))
            && self.matching.as_ref().is_none_or(|matching| matching.takes(id))
    }

    /// Returns whether a filter depends on more than the document.
    pub(super) fn looks_inside(&self) -> bool {
        self.under.as_ref().is_some_and(|under| !under.places.is_empty())
            || !self.types.is_empty()
            || self.level.is_some()
    }

    /// Returns whether a section matches: its level, its position, and the types of its own blocks.
    pub(super) fn takes_section(&self, document: &OpenDocument, section: &Section) -> bool {
        let tree = &document.tree;
        let span = tree.node(section.node).map(|node| node.bytes).unwrap_or_default();
        let own = tree.outline().own_text(section);
        let is_under = self.under.as_ref().is_none_or(|under| {
            let spans = under.places.get(&document.stored.id);
            under.has_in_folder(&document.stored.path)
                || spans.is_some_and(|spans| spans.iter().any(|within| within.contains(span)))
        });
        is_under
            && self.level.is_none_or(|level| section.level == level)
            && (self.types.is_empty()
                || self.types.iter().any(|name| name == BlockType::Heading.name())
                || tree.outline().nodes.iter().any(|node| {
                    own.contains(node.bytes)
                        && type_name(node.kind).is_some_and(|name| self.takes_type(name))
                }))
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
        self.under.as_ref().is_none_or(|under| {
            let spans = under.places.get(&document.stored.id);
            under.has_in_folder(&document.stored.path)
                || spans.is_some_and(|spans| spans.iter().any(|within| within.contains(span)))
        }) && (self.types.is_empty()
            || types_of(document, span)
                .iter()
                .any(|of| self.types.iter().any(|wanted| wanted == of)))
    }

    /// Returns the filter for the index, which selects sections. [`Self::takes`] then checks each hit.
    pub(super) fn sections(&self, snapshot: &Snapshot) -> Result<SectionFilter> {
        let wants_front_matter = self.types.iter().any(|name| name == "frontmatter");
        let mut sections = SectionFilter {
            level: self.level,
            front_matter: match self.types.len() {
                0 => None,
                1 if wants_front_matter => Some(true),
                _ => (!wants_front_matter).then_some(false),
            },
            ..SectionFilter::default()
        };
        sections.documents.extend(self.tagged.clone());
        if let Some(matching) = &self.matching {
            sections.documents.push(matching.documents(snapshot)?);
        }
        if let Some(under) = &self.under {
            if under.places.is_empty() {
                sections.folders.clone_from(&under.folders);
            } else {
                let mut documents: HashSet<i64> = under.places.keys().copied().collect();
                for folder in &under.folders {
                    documents
                        .extend(snapshot.documents_below(folder)?.iter().map(|below| below.id));
                }
                sections.documents.push(documents);
            }
        }
        if !self.globs.is_empty() {
            let mut paths = snapshot.paths()?;
            paths.retain(|(_, path)| self.globs.takes(path));
            sections.documents.push(paths.into_iter().map(|(id, _)| id).collect());
        }
        Ok(sections)
    }
}
