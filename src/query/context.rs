//! `context`: a bundle of nodes and of other text, for the context of a model.
//!
//! Invariant: items are in the order of the request, and each node is in the bundle once. The order of the items does
//! not depend on the limits of the answer.

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;

use super::cursor::most;
use super::data::heading_path;
use super::links::{self, EndFilter, LinkNode};
use super::listed::ListedDocuments;
use super::node::{Extent, NodeAnswer, WORD_CHARS, answer};
use super::page::{longest, shorten_titles};
use super::resolve::{NodeRange, expansion_cut, resolve, resolve_one};
use super::resolved_node::{PlaceKey, ResolvedNode, Target};
use super::search::{self, ContextLines, Hit, OutputMode, PassageChars, Query};
use super::{Cursor, FilterRequest, List, Outcome, Page, Session, listed};
use crate::address::{AddressError, AddressResult, FaultCode};
use crate::count::counted;
use crate::data::CodeItem;
use crate::error::{Result, Warning};
use crate::limits;
use crate::markdown::outline::{BlockType, NodeKind};
use crate::message::{Message, message};
use crate::position::ByteSpan;
use crate::visible::quoted;

/// The best hits of a question, which keep their ranks whatever links to them.
const RANKED_HITS: usize = 10;

/// The most linked nodes that follow a hit. The next hit is worth more than all links of a table of contents.
const LINKED_BESIDE_HIT: usize = 3;

/// A request for a bundle.
#[derive(Clone, Debug, Default)]
pub struct ContextRequest {
    /// What to take first, in order.
    pub sources: Vec<ContextSource>,
    /// A question in words and other wordings of it. Its best passages are added. May be empty.
    pub queries: Vec<String>,
    /// The length of a passage.
    pub passage: PassageChars,
    /// The sections that the question may find. Without a question, the documents to add; if empty, none
    /// are added.
    pub filter: FilterRequest,
    /// The maximum distance, in links, of further nodes to add.
    pub hops: usize,
    /// Whether to return the content too.
    pub with_body: bool,
    /// Whether an item with neither a passage nor a summary has its content, of a document or a section the beginning.
    pub shows_content: bool,
    /// The maximum number of items; 0 for all.
    pub limit: usize,
    /// The maximum length of the answer in Unicode scalars, if limited. Sections of the question that cannot
    /// fit are not looked for.
    pub max_chars: Option<usize>,
    /// The cursor of the previous answer, if any.
    pub after: Option<Cursor>,
}

/// What a request names.
#[derive(Clone, Debug)]
pub enum ContextSource {
    /// The nodes at an address.
    Address(String),
    /// Text that is not in a document.
    Outside(Outside),
}

/// Text that is not in a document.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize)]
pub struct Outside {
    /// Its type: `code`, `error`, `text`, `repl-history` or `file`.
    #[serde(rename = "type")]
    pub kind: String,
    /// The file that it comes from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Its first line in the file, 1-based.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line_start: Option<usize>,
    /// Its last line in the file, 1-based and inclusive.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line_end: Option<usize>,
    /// The text itself.
    pub content: String,
    /// Whether the text has bytes that are not UTF-8, which are shown as U+FFFD.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub lossy: bool,
    /// Whether the text is cut to fit the limit of characters.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
    /// Its place among the items of the request, 0-based. It is its number in records, on every page.
    #[serde(skip)]
    pub number: usize,
}

impl Outside {
    /// Drops the first `chars` Unicode scalars.
    fn skip(&mut self, chars: usize) {
        let skipped: String = self.content.chars().take(chars).collect();
        self.content.drain(..skipped.len());
        self.line_start = self.line_start.map(|start| start.saturating_add(line_ends(&skipped)));
    }

    /// Keeps the words within the first `chars` Unicode scalars; a part of the first word if it is longer. Returns the
    /// number of Unicode scalars that it keeps.
    fn keep(&mut self, chars: usize) -> usize {
        let Some((most, next)) = self.content.char_indices().nth(chars) else {
            return self.content.chars().count();
        };
        let kept = self.content.get(..most).unwrap_or_default();
        let words = if next.is_whitespace() { kept } else { kept.trim_end_matches(is_of_word) };
        let end = if words.trim().is_empty() { most } else { words.len() };
        self.content.truncate(end);
        let (end, start) = (self.line_end, self.line_start);
        let last = start.map(|start| start.saturating_add(line_ends(self.content.trim_end())));
        self.line_end = end.zip(last).map(|(end, last)| end.min(last)).or(end);
        self.truncated = true;
        self.content.chars().count()
    }
}

fn is_of_word(scalar: char) -> bool {
    !scalar.is_whitespace()
}

fn line_ends(text: &str) -> usize {
    text.bytes().filter(|byte| *byte == b'\n').count()
}

/// An item of the bundle.
#[derive(Clone, Debug)]
pub enum ContextItem {
    /// A node of a document.
    Place(Box<PlaceItem>),
    /// Text that is not in a document.
    Outside(Outside),
}

/// A node of a document, with its description.
#[derive(Clone, Debug)]
pub struct PlaceItem {
    /// The node, with its content if that was requested.
    pub answer: NodeAnswer,
    /// Its title, tags and summary, for records.
    pub node: LinkNode,
    /// The titles of the sections that it is in, from the top; for a section its own is the last.
    pub titles: Vec<String>,
    /// The word for its type, in headings.
    pub word: &'static str,
    /// Its code, if it is a fenced code block and its content was requested.
    pub code: Option<FencedCode>,
    /// The hit that found it. Its passage is printed instead of the summary.
    pub found: Option<Hit>,
    /// Whether the content is that of some lines of the node.
    pub is_part: bool,
}

/// The code of a fenced code block.
#[derive(Clone, Debug)]
pub struct FencedCode {
    /// The first word of the info string, or empty.
    pub language: String,
    /// The spans in the file that are code, in order.
    lines: Vec<ByteSpan>,
}

impl FencedCode {
    /// Returns the code in `content`, a part of the block that begins at the offset `start` of the file.
    pub fn within(&self, content: &[u8], start: usize) -> Vec<u8> {
        let within = |at: usize| at.saturating_sub(start).min(content.len());
        let lines = self.lines.iter();
        let parts = lines.filter_map(|line| content.get(within(line.start)..within(line.end)));
        parts.flatten().copied().collect()
    }
}

/// The bundle that was assembled.
#[derive(Clone, Debug)]
pub struct ContextAnswer {
    /// The items, in the order of the request.
    pub items: Vec<ContextItem>,
    /// Warnings, unresolved addresses and the cursor.
    pub page: Page,
    /// Whether the content was requested.
    pub with_body: bool,
    /// What to try next, if the question found nothing.
    pub advice: Option<Message>,
    /// How to get the content of the items that have only a summary.
    pub summary_note: Message,
    /// The info string for the fences of all items; `None` to choose one per item.
    pub language: Option<String>,
    /// Whether a line end follows the content of every block, also content that ends with one.
    pub is_strict: bool,
    /// The linked places that are left out.
    pub(crate) left: LinkedLeft,
    /// The items with longer passages, if they may fit into the limit of characters.
    pub(crate) longer: Option<Vec<ContextItem>>,
}

impl ContextAnswer {
    /// How to get the content of the items that have only a summary, for [`Self::summary_note`].
    pub const SUMMARY_NOTE: &'static str = "add --with-body for the content instead of a summary";
}

/// The code of the warning about linked places that are left out.
const LINKED_LEFT_OUT: &str = "LINKED_LEFT_OUT";

/// The number of linked places that a bundle leaves out.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LinkedLeft {
    count: usize,
    /// Whether there may be more, because not all links were followed.
    is_least: bool,
}

impl LinkedLeft {
    /// Adds those of `items`, and says in the warnings how many there are.
    fn with(self, items: &[ContextItem], warnings: &mut Vec<Warning>) -> Self {
        let is_linked = |item: &&ContextItem| matches!(item, ContextItem::Place(place) if place.node.hop > Some(0));
        let left = Self { count: self.count + items.iter().filter(is_linked).count(), ..self };
        warnings.retain(|warning| warning.code != LINKED_LEFT_OUT);
        if left.count > 0 {
            let places = counted(left.count, "linked place");
            let least = if left.is_least { "at least " } else { "" };
            let verb = if left.count == 1 { "is" } else { "are" };
            let message = format!("{least}{places} {verb} left out");
            warnings.push(Warning::new(LINKED_LEFT_OUT, message));
        }
        left
    }
}

impl List for ContextAnswer {
    fn page_mut(&mut self) -> Option<&mut Page> {
        Some(&mut self.page)
    }

    fn messages_mut(&mut self) -> Vec<&mut Message> {
        let own = self.advice.iter_mut().chain([&mut self.summary_note]);
        own.chain(self.page.messages_mut()).collect()
    }

    fn outcome(&self) -> Outcome {
        self.page.outcome_of_list(!self.items.is_empty())
    }

    fn count(&self) -> usize {
        self.items.len()
    }

    fn first(&self, count: usize) -> Self {
        match self.items.split_at_checked(count) {
            Some((first, rest)) if !rest.is_empty() => {
                let mut page = self.page.ended(count);
                Self {
                    items: first.to_vec(),
                    left: self.left.with(rest, &mut page.warnings),
                    page,
                    with_body: self.with_body,
                    advice: None,
                    summary_note: self.summary_note.clone(),
                    language: self.language.clone(),
                    is_strict: self.is_strict,
                    longer: None,
                }
            }
            _ => self.clone(),
        }
    }

    fn longer(&self) -> Option<Self> {
        Some(Self { items: self.longer.clone()?, longer: None, ..self.clone() })
    }

    fn cuts_of(&self, index: usize) -> Range<usize> {
        match self.items.get(index) {
            Some(ContextItem::Place(place)) => match &place.found {
                Some(hit) => hit.passage_cuts(),
                None => limits::LEAST_CUT_CHARS / WORD_CHARS..place.answer.words_shown(),
            },
            _ => 0..0,
        }
    }

    fn cut_last(&mut self, parts: usize) -> bool {
        let Some(ContextItem::Place(place)) = self.items.last_mut() else { return false };
        let cut = match &mut place.found {
            Some(hit) => hit.cut(parts),
            None => place.answer.cut(parts),
        };
        self.page.truncated |= cut;
        cut
    }

    fn sizes_of_first(&self) -> usize {
        match self.items.first() {
            Some(ContextItem::Place(place)) => {
                let texts = longest(place.node.texts());
                let passage = place.found.as_ref().map_or(0, Hit::sizes);
                place.answer.words_shown().max(texts).max(passage)
            }
            Some(ContextItem::Outside(outside)) => outside.content.chars().count(),
            None => 0,
        }
    }

    fn cut_first(&mut self, size: usize) -> bool {
        // Content comes before the number of what follows it, and `next` says that something does.
        self.page.warnings.retain(|warning| warning.code != LINKED_LEFT_OUT);
        let all = self.sizes_of_first();
        match self.items.first_mut() {
            Some(ContextItem::Place(place)) => {
                place.answer.cut(size);
                place.answer.truncated |= size < all;
                place.node.shorten(size);
                shorten_titles(&mut place.titles, size);
                if let Some(hit) = &mut place.found {
                    hit.cut_to(size);
                }
                true
            }
            Some(ContextItem::Outside(outside)) => {
                let kept = outside.keep(size);
                if outside.truncated {
                    self.page.end_within(kept);
                }
                true
            }
            None => false,
        }
    }
}

/// Assembles the bundle.
pub fn context(session: &Session<'_>, request: &ContextRequest) -> Result<ContextAnswer> {
    let Page { part, warnings, .. } = Page::beginning(request.after, session.reader.generation());
    // One item more than requested is enough: it shows that there are further items.
    let enough = part.start().saturating_add(most(request.limit)).saturating_add(1);
    let mut bundle = Bundle {
        session,
        request,
        enough,
        items: Vec::new(),
        seen: HashSet::new(),
        passages: HashMap::new(),
        longer: None,
        warnings,
        faults: Vec::new(),
        ends: EndFilter::excluding(session, &request.filter.globs)?,
        linked: HashSet::new(),
        has_far: false,
        has_more: false,
        advice: None,
    };
    bundle.add_sources()?;
    if request.queries.is_empty() {
        bundle.add_documents()?;
    } else {
        bundle.add_found()?;
    }
    if !bundle.has_more {
        bundle.add_linked()?;
    }
    let left = bundle.left();
    let Bundle { items, warnings, mut faults, mut passages, longer, has_more, advice, .. } = bundle;
    let has_place = items.iter().any(|item| matches!(item, BundleItem::Place(..)));
    if !has_place && request.queries.is_empty() {
        let is_source = |fault: &&mut AddressError| {
            request.sources.iter().any(|source| {
                matches!(source, ContextSource::Address(address) if *address == fault.selector)
            })
        };
        faults.iter_mut().filter(is_source).for_each(hint_at_question);
    }
    let mut answer = ContextAnswer {
        items: Vec::new(),
        page: Page { unresolved_selectors: faults, warnings, part, ..Page::default() },
        with_body: request.with_body,
        advice: advice.filter(|_| !has_place),
        summary_note: ContextAnswer::SUMMARY_NOTE.into(),
        language: None,
        is_strict: false,
        left: LinkedLeft::default(),
        longer: None,
    };
    let mut codes = DocumentCode { session, last: None };
    let total = items.len();
    let from = part.start().min(total);
    let to = from.saturating_add(most(request.limit)).min(total);
    for (index, bundled) in items.into_iter().enumerate().take(to).skip(from) {
        match bundled {
            BundleItem::Place(place, hop) => {
                let found = passages.remove(&place.key()).filter(|_| !request.with_body);
                match item(session, &mut codes, &place, hop, found.is_some(), request)? {
                    Ok(mut item) => {
                        // The passage often begins with the same text.
                        if found.as_ref().is_some_and(|hit| !hit.passage.is_empty()) {
                            item.node.summary = None;
                        }
                        item.answer.lossy |= found.as_ref().is_some_and(|hit| hit.lossy);
                        let item = Box::new(PlaceItem { found, ..item });
                        answer.items.push(ContextItem::Place(item));
                    }
                    Err(fault) => answer.page.unresolved_selectors.push(fault),
                }
            }
            BundleItem::Outside(mut outside) => {
                if index == from {
                    outside.skip(part.offset());
                }
                answer.items.push(ContextItem::Outside(outside));
            }
        }
    }
    if to < total || has_more {
        answer.page.end(to - from);
    }
    answer.left = left.with(&[], &mut answer.page.warnings);
    // An item that a source names stays even if no hit has it.
    if request.sources.is_empty() && request.hops == 0 && !request.with_body {
        answer.longer = longer.map(|hits| with_passages(&answer.items, hits));
    }
    let has_cut =
        |item: &ContextItem| matches!(item, ContextItem::Place(place) if place.answer.truncated);
    answer.page.truncated |= answer.items.iter().any(has_cut);
    Ok(answer)
}

/// Says in the fault of an address of several words that they may be a question.
fn hint_at_question(fault: &mut AddressError) {
    let is_unknown = fault.code == FaultCode::SelectorNotFound;
    if is_unknown && fault.selector.contains(char::is_whitespace) {
        fault.message = message!(
            "no document and no section is named {}; to take the passages that answer a question, use \
             `mdsel context --query {}`",
            quoted(&fault.selector).to_string(),
            fault.selector
        );
    }
}

/// Returns those of `items` that `hits` has, with the passages of these.
fn with_passages(items: &[ContextItem], hits: Vec<Hit>) -> Vec<ContextItem> {
    let hits = hits.into_iter().map(|hit| (Arc::clone(&hit.section), hit));
    let mut hits: HashMap<Arc<str>, Hit> = hits.collect();
    let items = items.iter().filter_map(|item| {
        let ContextItem::Place(place) = item else { return None };
        let found = hits.remove(&place.found.as_ref()?.section);
        Some(ContextItem::Place(Box::new(PlaceItem { found: Some(found?), ..(**place).clone() })))
    });
    items.collect()
}

/// The code blocks of the last document that was asked for. A bundle may have many blocks of a document.
struct DocumentCode<'a> {
    session: &'a Session<'a>,
    last: Option<(i64, Vec<CodeItem>)>,
}

impl DocumentCode<'_> {
    /// Returns the code of `place`, or `None` if it is not a fenced code block.
    fn of(&mut self, place: &ResolvedNode) -> Result<Option<FencedCode>> {
        let (document, Target::Node(node)) = (&place.document, place.target) else {
            return Ok(None);
        };
        let code = NodeKind::Block(BlockType::Code);
        if document.tree.node(node).is_none_or(|node| node.kind != code) {
            return Ok(None);
        }
        let blocks = match self.last.take() {
            Some((id, blocks)) if id == document.stored.id => blocks,
            _ => self.session.reader.code(&document.stored)?,
        };
        let (_, blocks) = self.last.insert((document.stored.id, blocks));
        let block = blocks.iter().map(|item| &item.block).find(|block| block.node == node);
        let Some((block, info)) = block.and_then(|block| Some((block, block.info.as_ref()?)))
        else {
            return Ok(None);
        };
        let bytes = self.session.content(document, block.code)?;
        let start = block.code.start;
        let in_file = |line: ByteSpan| ByteSpan::new(start + line.start, start + line.end);
        let language = info.split_whitespace().next().unwrap_or_default().to_owned();
        Ok(Some(FencedCode { language, lines: block.text_spans(&bytes).map(in_file).collect() }))
    }
}

fn item(
    session: &Session<'_>,
    codes: &mut DocumentCode<'_>,
    place: &ResolvedNode,
    hop: Option<usize>,
    has_passage: bool,
    request: &ContextRequest,
) -> Result<AddressResult<PlaceItem>> {
    let node = LinkNode { hop, ..LinkNode::of(session, place)? };
    let is_bare = !has_passage && node.summary.is_none();
    let with_body = request.with_body || request.shows_content && is_bare;
    let extent = match (request.with_body, with_body) {
        (false, true) if has_sections(place) => Extent::Words(limits::SUMMARY_WORDS),
        (_, true) => Extent::Words(0),
        (_, false) => Extent::Structure,
    };
    let mut answer = match answer(session, place, extent)? {
        Ok(answer) => answer,
        Err(fault) => return Ok(Err(fault.of(&place.address()))),
    };
    let code = if with_body { codes.of(place)? } else { None };
    answer.lossy |= node.lossy;
    let titles = match place.target {
        Target::Node(node) => heading_path(&place.document, node),
        _ => Vec::new(),
    };
    let is_part = place.params.is_part();
    let word = place.word();
    Ok(Ok(PlaceItem { answer, node, titles, word, code, found: None, is_part }))
}

/// Returns whether `place` may have any number of sections in it, so that its content is no summary.
fn has_sections(place: &ResolvedNode) -> bool {
    match place.target {
        Target::Document | Target::Ldmd(_) => true,
        Target::Node(node) => {
            let kind = place.document.tree.node(node).map(|node| node.kind);
            matches!(kind, Some(NodeKind::Root | NodeKind::Section(_)))
        }
        Target::FrontMatter | Target::Cells(_) => false,
    }
}

/// An item of a bundle that is being assembled.
enum BundleItem {
    /// A node. For one that was reached by links, the number of links.
    Place(ResolvedNode, Option<usize>),
    Outside(Outside),
}

/// A bundle that is being assembled.
struct Bundle<'a> {
    session: &'a Session<'a>,
    request: &'a ContextRequest,
    /// The number of items that suffices; later ones are not looked for.
    enough: usize,
    items: Vec<BundleItem>,
    seen: HashSet<PlaceKey>,
    /// The hits of the question, by node.
    passages: HashMap<PlaceKey, Hit>,
    /// The same hits with longer passages, if they may fit.
    longer: Option<Vec<Hit>>,
    warnings: Vec<Warning>,
    faults: Vec<AddressError>,
    /// Takes what links lead to; `None` if it is everything.
    ends: Option<EndFilter<'a>>,
    /// The nodes that links from hits lead to.
    linked: HashSet<PlaceKey>,
    /// Whether links may lead to further nodes.
    has_far: bool,
    /// Whether the question finds further nodes, for which there is no room.
    has_more: bool,
    /// The advice of a question that found nothing.
    advice: Option<Message>,
}

impl Bundle<'_> {
    fn add(&mut self, place: ResolvedNode, hop: Option<usize>) {
        if self.seen.insert(place.key()) {
            self.items.push(BundleItem::Place(place, hop));
        }
    }

    /// Returns the number of linked nodes that are not on the page or before it.
    fn left(&self) -> LinkedLeft {
        let shown = self.enough.saturating_sub(1);
        let after = self.items.iter().skip(shown);
        let after = after.filter(|item| matches!(item, BundleItem::Place(_, Some(_)))).count();
        let unadded = self.linked.iter().filter(|key| !self.seen.contains(key)).count();
        LinkedLeft { count: after + unadded, is_least: self.has_more || self.has_far }
    }

    fn add_sources(&mut self) -> Result<()> {
        let range = NodeRange { skip: 0, take: limits::MAX_EXPANSION };
        let mut number = 0;
        for source in &self.request.sources {
            let address = match source {
                ContextSource::Address(address) => address,
                ContextSource::Outside(outside) => {
                    self.items.push(BundleItem::Outside(Outside { number, ..outside.clone() }));
                    number += 1;
                    continue;
                }
            };
            let resolution = resolve(self.session, address, range)?;
            self.warnings.extend(resolution.warnings);
            self.warnings.extend(resolution.has_more.then(|| expansion_cut(address)));
            self.faults.extend(resolution.fault);
            for place in resolution.places {
                self.add(place, None);
            }
        }
        Ok(())
    }

    /// Adds the sections that the question finds, with their passages.
    fn add_found(&mut self) -> Result<()> {
        let fixed = if self.request.hops > 0 { RANKED_HITS } else { 0 };
        let request = search::SearchRequest {
            query: Query::Words(self.request.queries.clone()),
            filter: self.request.filter.clone(),
            form: OutputMode::Hits,
            surroundings: ContextLines::default(),
            passage: self.request.passage,
            keeps_duplicates: false,
            detail: search::HitDetail::Addresses,
            explain: false,
            // One more hit than is returned shows that there are further hits.
            limit: Some(if self.enough == usize::MAX { 0 } else { self.enough.max(fixed) }),
            // The items before those of a later page take no room.
            max_chars: self
                .request
                .max_chars
                .filter(|_| self.request.after.is_none() && fixed == 0),
            after: None,
        };
        let found = search::search(self.session, &request)?;
        self.warnings.extend(found.page.warnings);
        self.faults.extend(found.page.unresolved_selectors);
        self.advice = found.advice;
        self.longer = found.longer;
        let search::Items::Hits(hits) = found.items else { return Ok(()) };
        self.has_more = found.page.next.is_some() && hits.len() < self.enough;
        let mut places = Vec::with_capacity(hits.len());
        for hit in hits {
            if let Ok((place, _)) = resolve_one(self.session, &hit.section)? {
                places.push((place, hit));
            }
        }
        // The best hits keep their ranks, whatever links to them. Which ones these are does not depend on the page.
        let ranked: HashSet<PlaceKey> =
            places.iter().take(fixed).map(|(place, _)| place.key()).collect();
        let mut linked = HashSet::new();
        for (place, hit) in places {
            if self.request.hops > 0 && self.items.len() >= self.enough {
                self.has_more = true;
                break;
            }
            let key = place.key();
            // Whether a linked place is found, too, may depend on the page.
            if linked.contains(&key) {
                continue;
            }
            // A query without words may have several hits in a section.
            let is_new = !self.seen.contains(&key);
            self.passages.entry(key).or_insert(hit);
            self.add(place.clone(), None);
            if is_new && self.request.hops > 0 {
                self.add_linked_from(place, &ranked, &mut linked)?;
            }
        }
        Ok(())
    }

    /// Adds the first nodes that are reachable by links from a hit, but for those in `ranked`. The others come after all
    /// hits.
    fn add_linked_from(
        &mut self,
        place: ResolvedNode,
        ranked: &HashSet<PlaceKey>,
        beside: &mut HashSet<PlaceKey>,
    ) -> Result<()> {
        let (most, hops) = (limits::LIST_LIMIT, self.request.hops);
        let ends = self.ends.as_ref();
        let linked = links::reachable(self.session, vec![place], ends, hops, most)?;
        self.has_far |= linked.len() >= most;
        let mut room = LINKED_BESIDE_HIT;
        for (place, hop) in linked {
            let key = place.key();
            self.linked.insert(key);
            if room > 0 && !ranked.contains(&key) && !self.seen.contains(&key) {
                self.add(place, Some(hop));
                beside.insert(key);
                room -= 1;
            }
        }
        Ok(())
    }

    /// Adds the documents that match the filters, or the places in them that the filters name.
    fn add_documents(&mut self) -> Result<()> {
        let ContextRequest { filter, sources, .. } = self.request;
        // What only excludes documents takes none.
        if filter.is_empty() || !sources.is_empty() && filter.only_excludes() {
            return Ok(());
        }
        let ListedDocuments { documents, faults, filter, .. } =
            listed::listed(self.session, &[], &self.request.filter)?;
        self.faults.extend(faults);
        self.warnings.extend(filter.warnings.iter().cloned());
        let mut has_taken = false;
        for stored in documents {
            let stored = stored?;
            if self.items.len() >= self.enough {
                return Ok(());
            }
            for part in filter.parts(&self.session.open(&stored)?) {
                self.add(part, None);
                has_taken = true;
            }
        }
        if !has_taken && self.faults.is_empty() {
            self.warnings.extend(filter.no_section(&[], &self.request.filter));
        }
        Ok(())
    }

    /// Adds the nodes that are reachable by links from the nodes so far.
    fn add_linked(&mut self) -> Result<()> {
        // Nodes that are linked come after all others, but for the first ones of each hit.
        let room = self.enough.saturating_sub(self.items.len());
        if self.request.hops == 0 || room == 0 {
            self.has_far = room == 0;
            return Ok(());
        }
        let places = self.items.iter().filter_map(|item| match item {
            BundleItem::Place(place, None) => Some(place.clone()),
            BundleItem::Place(_, Some(_)) | BundleItem::Outside(_) => None,
        });
        let roots: Vec<ResolvedNode> = places.collect();
        // The nodes that are in the bundle already may be reached again.
        let room = room.saturating_add(self.items.len() - roots.len());
        let (ends, hops) = (self.ends.as_ref(), self.request.hops);
        let linked = links::reachable(self.session, roots, ends, hops, room)?;
        self.has_far = linked.len() >= room;
        for (place, hop) in linked {
            self.add(place, Some(hop));
        }
        Ok(())
    }
}
