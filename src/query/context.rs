//! `context`: a bundle of places, and of text from outside, for the context of a model.
//!
//! Invariant: items come in the order in which they were asked for, each place once; a place stands
//! for itself, whatever else was found with it.

use std::collections::{HashMap, HashSet};

use serde::ser::SerializeMap as _;
use serde::{Serialize, Serializer};

use super::cursor::{ListPart, most};
use super::library::is_false;
use super::links::{self, Direction, EdgeFilter, Node};
use super::node::{Extent, NodeAnswer, answer};
use super::page::longest;
use super::place::{Place, Target};
use super::resolve::{Window, resolve, resolve_one};
use super::search::{self, Form, Hit, Query, Surroundings};
use super::{Cursor, FilterRequest, Library, List, Outcome, Page, documents};
use crate::address::{Fault, Params};
use crate::error::{Result, Warning};
use crate::limits;
use crate::markdown::outline::{BlockType, NodeKind};
use crate::store::FullText;

/// What to bundle.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// Places by address.
    pub addresses: Vec<String>,
    /// A question in words, whose best passages are taken, and other phrasings of it; or none.
    pub queries: Vec<String>,
    /// Unicode scalars of a passage, about.
    pub passage: usize,
    /// Which sections a query finds; without one, which documents are taken, if it asks for any.
    pub filter: FilterRequest,
    /// How many links away from these places further ones are taken.
    pub hops: usize,
    /// Whether to give the content, too.
    pub with_body: bool,
    /// Text from outside.
    pub outside: Vec<Outside>,
    /// Items to give at most; 0 for all.
    pub limit: usize,
    /// Where a former answer ended.
    pub after: Option<Cursor>,
}

/// Text that is in no document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Outside {
    /// What it is: `code`, `error`, `text`, `repl-history` or `file`.
    #[serde(rename = "type")]
    pub kind: String,
    /// Where it comes from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Its first line there, 1-based.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line_start: Option<usize>,
    /// Its last line there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line_end: Option<usize>,
    /// The text.
    pub content: String,
    /// Whether it is cut to keep to a budget.
    #[serde(skip_serializing_if = "is_false")]
    pub truncated: bool,
}

/// An item of the bundle.
#[derive(Clone, Debug)]
pub enum Item {
    /// A place.
    Place(Box<PlaceItem>),
    /// Text from outside.
    Outside(Outside),
}

/// A place with what it is about.
#[derive(Clone, Debug)]
pub struct PlaceItem {
    /// The place, with its content where that was asked for.
    pub answer: NodeAnswer,
    /// What records tell of it.
    pub node: Node,
    /// The word for what it is.
    pub word: &'static str,
    /// Whether it is a code block.
    pub is_code: bool,
    /// The hit of the question, whose passage is shown in place of the summary.
    pub found: Option<Hit>,
}

impl Serialize for Item {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Flat<'a> {
            #[serde(flatten)]
            answer: &'a NodeAnswer,
            tags: &'a [String],
            summary: &'a Option<String>,
            #[serde(skip_serializing_if = "<[search::Window]>::is_empty")]
            passage: &'a [search::Window],
            #[serde(skip_serializing_if = "Option::is_none")]
            rest: Option<&'a String>,
            #[serde(skip_serializing_if = "<[String]>::is_empty")]
            duplicates: &'a [String],
            #[serde(skip_serializing_if = "Option::is_none")]
            hop: Option<usize>,
        }
        match self {
            Self::Outside(outside) => outside.serialize(serializer),
            Self::Place(place) => {
                let PlaceItem { answer, node, found, .. } = &**place;
                let (tags, summary, hop) = (&node.tags, &node.summary, node.hop);
                let passage = found.as_ref().map_or(&[][..], |hit| &hit.passage);
                let duplicates = found.as_ref().map_or(&[][..], |hit| &hit.duplicates);
                let rest = found.as_ref().and_then(|hit| hit.rest.as_ref());
                Flat { answer, tags, summary, passage, rest, duplicates, hop }.serialize(serializer)
            }
        }
    }
}

/// The bundle.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The items.
    pub items: Vec<Item>,
    /// What is beside them.
    pub page: Page,
    /// Whether content was asked for.
    pub with_body: bool,
    /// What was searched and what to try, if a query found nothing.
    pub advice: Option<String>,
    /// What tags the fences of all items, whatever they are.
    pub language: Option<String>,
}

impl Answer {
    /// How the command ended.
    pub fn outcome(&self) -> Outcome {
        match (self.items.is_empty(), self.page.unresolved_selectors.is_empty()) {
            (true, _) => Outcome::None,
            (false, is_whole) => Outcome::of(true, !is_whole),
        }
    }
}

impl Serialize for Answer {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("items", &self.items)?;
        self.page.fields(&mut map)?;
        map.end()
    }
}

impl List for Answer {
    fn page_mut(&mut self) -> Option<&mut Page> {
        Some(&mut self.page)
    }

    fn count(&self) -> usize {
        self.items.len()
    }

    fn first(&self, count: usize) -> Self {
        match self.items.get(..count) {
            Some(first) if count < self.items.len() => Self {
                items: first.to_vec(),
                page: self.page.ended(count),
                with_body: self.with_body,
                advice: None,
                language: self.language.clone(),
            },
            _ => self.clone(),
        }
    }

    fn lines_of(&self, index: usize) -> usize {
        match self.items.get(index) {
            Some(Item::Place(place)) => place.found.as_ref().map_or(0, Hit::passage_lines),
            _ => 0,
        }
    }

    fn cut_last(&mut self, lines: usize) -> bool {
        let Some(Item::Place(place)) = self.items.last_mut() else { return false };
        let cut = place.found.as_mut().is_some_and(|hit| hit.cut(lines));
        self.page.truncated |= cut;
        cut
    }

    fn sizes_of_first(&self) -> usize {
        match self.items.first() {
            Some(Item::Place(place)) => {
                let texts = longest(place.node.texts());
                let passage = place.found.as_ref().map_or(0, Hit::sizes);
                place.answer.words_shown().max(texts).max(passage)
            }
            Some(Item::Outside(outside)) => outside.content.chars().count(),
            None => 0,
        }
    }

    fn cut_first(&mut self, size: usize) -> bool {
        match self.items.first_mut() {
            Some(Item::Place(place)) => {
                place.answer.cut(size);
                place.answer.truncated = true;
                place.node.shorten(size);
                if let Some(hit) = &mut place.found {
                    hit.cut_to(size);
                }
                true
            }
            // Whoever gave the text has the rest of it.
            Some(Item::Outside(outside)) => {
                outside.content = outside.content.chars().take(size).collect();
                outside.truncated = true;
                true
            }
            None => false,
        }
    }
}

/// Bundles.
pub fn context(
    library: &Library<'_>,
    full_text: Option<&mut FullText>,
    request: &Request,
) -> Result<Answer> {
    let (part, warnings) = ListPart::beginning(request.after, library.snapshot.generation());
    // Places after those that are asked for are only counted on to be there.
    let enough = part.start().saturating_add(most(request.limit)).saturating_add(1);
    let mut bundle = Bundle {
        library,
        request,
        enough,
        places: Vec::new(),
        seen: HashSet::new(),
        passages: HashMap::new(),
        warnings,
        faults: Vec::new(),
        advice: None,
    };
    bundle.add_addresses()?;
    match full_text.filter(|_| !request.queries.is_empty()) {
        Some(full_text) => bundle.add_found(full_text)?,
        None => bundle.add_documents()?,
    }
    bundle.add_linked()?;
    let Bundle { places, warnings, faults, mut passages, advice, .. } = bundle;
    let mut answer = Answer {
        items: Vec::new(),
        page: Page { unresolved_selectors: faults, ..Page::new((part, warnings)) }
            .with_empty_lists(),
        with_body: request.with_body,
        advice: advice.filter(|_| places.is_empty()),
        language: None,
    };
    let total = places.len() + request.outside.len();
    let from = part.start().min(total);
    let to = from.saturating_add(most(request.limit)).min(total);
    for index in from..to {
        match places.get(index) {
            Some((place, hop)) => match item(library, place, *hop, request.with_body)? {
                Ok(item) => {
                    let key = (place.document.stored.id, place.target, place.params);
                    let found = passages.remove(&key).filter(|_| !request.with_body);
                    answer.items.push(Item::Place(Box::new(PlaceItem { found, ..item })));
                }
                Err(fault) => answer.page.unresolved_selectors.push(fault),
            },
            None => {
                let outside = request.outside.get(index - places.len());
                answer.items.extend(outside.cloned().map(Item::Outside));
            }
        }
    }
    if to < total {
        answer.page.end(to - from);
    }
    let has_cut = |item: &Item| matches!(item, Item::Place(place) if place.answer.truncated);
    answer.page.truncated |= answer.items.iter().any(has_cut);
    Ok(answer)
}

fn item(
    library: &Library<'_>,
    place: &Place,
    hop: Option<usize>,
    with_body: bool,
) -> Result<std::result::Result<PlaceItem, Fault>> {
    let extent = if with_body { Extent::Words(0) } else { Extent::Structure };
    let answer = match answer(library, place, extent)? {
        Ok(answer) => answer,
        Err(fault) => return Ok(Err(fault.of(&place.address()))),
    };
    let is_code = match place.target {
        Target::Node(node) => place
            .document
            .tree
            .node(node)
            .is_some_and(|node| node.kind == NodeKind::Block(BlockType::Code)),
        _ => false,
    };
    let node = Node { hop, ..Node::of(library, place)? };
    Ok(Ok(PlaceItem { answer, node, word: place.word(), is_code, found: None }))
}

/// What makes a place the same as another.
type PlaceKey = (i64, Target, Params);

/// A bundle under way.
struct Bundle<'a> {
    library: &'a Library<'a>,
    request: &'a Request,
    /// How many places are looked for.
    enough: usize,
    /// The places, and how many links away those are that were not asked for.
    places: Vec<(Place, Option<usize>)>,
    seen: HashSet<PlaceKey>,
    /// The hits of a question, by the place of each.
    passages: HashMap<PlaceKey, Hit>,
    warnings: Vec<Warning>,
    faults: Vec<Fault>,
    /// What a query that found nothing says.
    advice: Option<String>,
}

impl Bundle<'_> {
    fn add(&mut self, place: Place, hop: Option<usize>) {
        if self.seen.insert((place.document.stored.id, place.target, place.params)) {
            self.places.push((place, hop));
        }
    }

    fn add_addresses(&mut self) -> Result<()> {
        let window = Window { skip: 0, take: limits::MAX_EXPANSION };
        for address in &self.request.addresses {
            let resolution = resolve(self.library, address, window)?;
            self.warnings.extend(resolution.warnings);
            self.faults.extend(resolution.fault);
            for place in resolution.places {
                self.add(place, None);
            }
        }
        Ok(())
    }

    /// Adds the sections that the words find, with their passages.
    fn add_found(&mut self, full_text: &mut FullText) -> Result<()> {
        let request = search::Request {
            query: Query::Words(self.request.queries.clone()),
            filter: self.request.filter.clone(),
            form: Form::Hits,
            surroundings: Surroundings::default(),
            passage: self.request.passage,
            keeps_duplicates: false,
            lines_only: false,
            explain: false,
            // One more than is given tells that there are more.
            limit: if self.enough == usize::MAX { 0 } else { self.enough },
            after: None,
        };
        let found = search::search(self.library, full_text, &request)?;
        self.warnings.extend(found.page.warnings);
        self.faults.extend(found.page.unresolved_selectors);
        self.advice = found.advice;
        let search::Items::Hits(hits) = found.items else { return Ok(()) };
        for hit in hits {
            if let Ok((place, _)) = resolve_one(self.library, &hit.section)? {
                let key = (place.document.stored.id, place.target, place.params);
                self.passages.insert(key, hit);
                self.add(place, None);
            }
        }
        Ok(())
    }

    /// Adds the documents that the filters take.
    fn add_documents(&mut self) -> Result<()> {
        if self.request.filter.is_empty() {
            return Ok(());
        }
        // A document is taken whole, so that what it is below is a folder or a document.
        let others = FilterRequest { under: Vec::new(), ..self.request.filter.clone() };
        let (found, filter) =
            documents::filtered(self.library, &self.request.filter.under, &others)?;
        self.faults.extend(found.faults);
        for stored in found.documents {
            if self.request.hops == 0 && self.places.len() >= self.enough {
                break;
            }
            let document = self.library.open(&stored)?;
            let sections = &document.tree.outline().sections;
            if !filter.looks_inside()
                || sections.iter().any(|section| filter.takes_section(&document, section))
            {
                self.add(Place::whole(document), None);
            }
        }
        Ok(())
    }

    /// Adds what is some links away from the places.
    fn add_linked(&mut self) -> Result<()> {
        if self.request.hops == 0 {
            return Ok(());
        }
        let roots: Vec<Place> = self.places.iter().map(|(place, _)| place.clone()).collect();
        let filter = EdgeFilter::default();
        let linked =
            links::reachable(self.library, roots, Direction::Both, filter, self.request.hops)?;
        for (place, hop) in linked {
            self.add(place, Some(hop));
        }
        Ok(())
    }
}
