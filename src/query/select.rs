//! `select`: returns content by address, for many addresses in one request.

use std::collections::HashSet;

use super::cursor::most;
use super::node::{Extent, NodeAnswer, answer};
use super::resolve::{NodeRange, resolve_one, resolve_rest};
use super::resolved_node::{PlaceKey, ResolvedNode, Target};
use super::{Cursor, List, Outcome, Page, Session};
use crate::address::{AddressError, Params, Suggestion, namespace};
use crate::error::{Result, Warning};
use crate::limits;
use crate::message::message;

/// The code of the warning that nodes are left out because they do not have the requested page.
const PAGE_PAST_END: &str = "PAGE_PAST_END";

/// A request for content.
#[derive(Clone, Debug)]
pub struct SelectRequest {
    /// Addresses, answered in this order.
    pub addresses: Vec<String>,
    /// The number of words per page, unless an address sets it; 0 for all.
    pub max_words: usize,
    /// The maximum number of results; `None` for the default, 0 for all.
    pub limit: Option<usize>,
    /// Whether a node that several addresses name has one result, where it is named first.
    pub unique: bool,
    /// The cursor of the previous answer, if any.
    pub after: Option<Cursor>,
    /// The length of content, in Unicode scalars, after which to stop because no more would fit.
    pub room: Option<usize>,
}

/// The selected nodes.
#[derive(Clone, Debug)]
pub struct SelectAnswer {
    /// The nodes in the order of the addresses; for one address, in document order.
    pub results: Vec<NodeAnswer>,
    /// The nodes that the longest resolving prefix of each unresolved address names, without content.
    pub partial_results: Vec<NodeAnswer>,
    /// Warnings, unresolved addresses and the cursor.
    pub page: Page,
    /// The results and faults, in order.
    items: Vec<SelectedItem>,
}

/// A result or a fault, and the cursor position after it.
#[derive(Clone, Copy, Debug)]
struct SelectedItem {
    is_result: bool,
    /// The number of partial results of a fault.
    partial: usize,
    end: usize,
}

impl SelectAnswer {
    fn result(&mut self, node: NodeAnswer, end: usize) {
        self.results.push(node);
        self.items.push(SelectedItem { is_result: true, partial: 0, end });
    }

    fn fault(&mut self, fault: AddressError, partial: Vec<NodeAnswer>, end: usize) {
        self.items.push(SelectedItem { is_result: false, partial: partial.len(), end });
        self.page.unresolved_selectors.push(fault);
        self.partial_results.extend(partial);
    }
}

/// The items are the results, and the faults with their partial results.
impl List for SelectAnswer {
    fn page_mut(&mut self) -> Option<&mut Page> {
        Some(&mut self.page)
    }

    fn outcome(&self) -> Outcome {
        // Without any address, nothing was answered.
        self.page.outcome_of_list(!self.results.is_empty())
    }

    fn count(&self) -> usize {
        self.items.len()
    }

    fn first(&self, count: usize) -> Self {
        let Some(items) = self.items.get(..count).filter(|items| items.len() < self.items.len())
        else {
            return self.clone();
        };
        let results = items.iter().filter(|item| item.is_result).count();
        let partial = items.iter().map(|item| item.partial).sum();
        let mut page = self.page.ended(items.last().map_or(0, |item| item.end));
        page.unresolved_selectors.truncate(count - results);
        Self {
            results: self.results.iter().take(results).cloned().collect(),
            partial_results: self.partial_results.iter().take(partial).cloned().collect(),
            page,
            items: items.to_vec(),
        }
    }

    fn sizes_of_first(&self) -> usize {
        self.results.first().map_or(0, NodeAnswer::words_shown)
    }

    fn cut_first(&mut self, size: usize) -> bool {
        self.partial_results.clear();
        self.results.first_mut().is_some_and(|node| node.cut(size))
    }
}

/// Returns the nodes of the requested addresses.
pub fn select(session: &Session<'_>, request: &SelectRequest) -> Result<SelectAnswer> {
    if request.addresses.len() > limits::MAX_ADDRESSES {
        return Err(limits::exceeded(limits::row::MAX_ADDRESSES));
    }
    let mut page = Page::beginning(request.after, session.reader.generation());
    if request.addresses.is_empty() {
        page.warnings.push(Warning::new("NO_ADDRESS", "no address was given"));
    }
    // By default, each address that names one node has a result.
    let limit = match request.limit {
        Some(limit) => most(limit),
        None => limits::LIST_LIMIT.max(request.addresses.len()),
    };
    let mut result =
        SelectAnswer { results: Vec::new(), partial_results: Vec::new(), page, items: Vec::new() };
    let skip = result.page.part.start();
    let room = request.room.unwrap_or(usize::MAX);
    let seen = request.unique.then(HashSet::new);
    let mut selection = Selection {
        session,
        request,
        limit,
        skip,
        room,
        end: 0,
        seen,
        before: None,
        answer: &mut result,
    };
    let mut is_done = true;
    for address in &request.addresses {
        is_done = selection.add(address)?;
        if !is_done {
            break;
        }
    }
    let end = selection.end;
    if !is_done {
        result.page.end(end);
    }
    result.page.truncated |= result.results.iter().any(|node| node.truncated);
    Ok(result)
}

/// A selection that is being executed.
struct Selection<'a> {
    session: &'a Session<'a>,
    request: &'a SelectRequest,
    /// Maximum number of results.
    limit: usize,
    /// Number of nodes and faults to skip.
    skip: usize,
    /// Number of Unicode scalars of content that still fit.
    room: usize,
    /// Number of nodes and faults processed.
    end: usize,
    /// The nodes so far, also those of former answers, if each is answered once.
    seen: Option<HashSet<PlaceKey>>,
    /// The path of the last whole document that an address named.
    before: Option<String>,
    answer: &'a mut SelectAnswer,
}

/// The places of an address that are without the requested page.
#[derive(Default)]
struct Lacking {
    /// The first of them, which keeps its document open, and its fault.
    first: Option<(AddressError, ResolvedNode)>,
    /// The number of the others.
    others: usize,
}

impl Selection<'_> {
    /// Answers one address, up to the limit. Returns whether it was answered completely.
    fn add(&mut self, address: &str) -> Result<bool> {
        let mut lacking = Lacking::default();
        let is_done = self.add_places(address, &mut lacking)?;
        if let Some((fault, _)) = lacking.first {
            let others = match lacking.others {
                0 => String::new(),
                1 => ", and so is 1 other place".to_owned(),
                count => format!(", and so are {count} other places"),
            };
            let message = message!("{}; it is left out{}", fault.message, others);
            self.answer.page.warnings.push(Warning::new(PAGE_PAST_END, message));
        }
        Ok(is_done)
    }

    /// Answers one address, up to the limit. Returns whether it was answered completely. If the address names several
    /// nodes, those without the requested page become `lacking`, unless all are without it.
    fn add_places(&mut self, address: &str, lacking: &mut Lacking) -> Result<bool> {
        let mut taken = 0;
        let mut has_result = false;
        let mut rest = None;
        // Number of nodes of this address that former answers contained.
        let mut given_before = 0;
        loop {
            let take = self.limit - self.answer.results.len();
            let (skip, take) = match &self.seen {
                None => (self.skip, take),
                // Former answers have some of them. At the limit, only a node that is new ends the answer.
                Some(_) => (0, take.saturating_add(self.skip).max(limits::LIST_LIMIT)),
            };
            let range = match (&rest, taken) {
                (Some(_), _) => NodeRange { skip: 0, take },
                (None, 0) => NodeRange { skip, take },
                // All nodes are resolved each time.
                (None, _) => NodeRange { skip: skip + taken, take: usize::MAX },
            };
            let resolution = resolve_rest(self.session, address, range, rest)?;
            if taken == 0 {
                given_before = resolution.skipped;
            }
            self.answer.page.warnings.extend(resolution.warnings);
            if let Some(fault) = resolution.fault {
                let fault = self.as_section(fault, address)?;
                self.add_fault(fault, &resolution.partial)?;
                return Ok(true);
            }
            if let [ResolvedNode { document, target: Target::Document, .. }] = &*resolution.places {
                self.before = Some(document.stored.path.clone());
            }
            for place in &resolution.places {
                if let Some(seen) = &mut self.seen {
                    let is_new = seen.insert(place.key());
                    if self.skip > 0 || !is_new {
                        if self.skip > 0 {
                            self.skip -= 1;
                        } else {
                            self.end += 1;
                        }
                        has_result = true;
                        continue;
                    }
                }
                if self.answer.results.len() == self.limit {
                    return Ok(false);
                }
                if self.room == 0 && !self.answer.results.is_empty() {
                    return Ok(false);
                }
                self.end += 1;
                match answer(self.session, place, Extent::Words(self.request.max_words))? {
                    Ok(node) => {
                        has_result = true;
                        let bytes = node.content.as_ref().map_or(0, |content| content.bytes.len());
                        // A scalar has at most four bytes in UTF-8.
                        self.room = self.room.saturating_sub(bytes.div_ceil(4));
                        self.answer.result(node, self.end);
                    }
                    Err(fault) => {
                        if lacking.first.is_some() {
                            lacking.others += 1;
                            continue;
                        }
                        // The node itself may exist.
                        let whole = ResolvedNode { params: Params::default(), ..place.clone() };
                        lacking.first = Some((fault, whole));
                    }
                }
            }
            if !resolution.has_more {
                self.skip -= given_before.min(self.skip);
                if !has_result
                    && given_before == 0
                    && let Some((fault, whole)) = lacking.first.take()
                {
                    let described = answer(self.session, &whole, Extent::Structure)?.ok();
                    self.answer.fault(fault.of(address), described.into_iter().collect(), self.end);
                }
                return Ok(true);
            }
            taken += resolution.places.len();
            rest = resolution.rest;
            if self.seen.is_none() && self.answer.results.len() == self.limit {
                return Ok(false);
            }
        }
    }

    /// Adds to the fault of an address that it is a section of the document before it, if that is so.
    fn as_section(&self, fault: AddressError, address: &str) -> Result<AddressError> {
        let Some(path) = &self.before else { return Ok(fault) };
        let in_document = format!("{}::{address}", namespace::encode(path));
        let Ok((place, _)) = resolve_one(self.session, &in_document)? else { return Ok(fault) };
        let message = message!(
            "{}; `mdsel read {path} {}` reads it in that document",
            fault.message,
            path,
            address
        );
        let section = Suggestion { address: place.address(), title: place.title() };
        Ok(AddressError { message, ..fault }.suggest_first(vec![section]))
    }

    fn add_fault(&mut self, fault: AddressError, partial: &[ResolvedNode]) -> Result<()> {
        if self.skip > 0 {
            self.skip -= 1;
            return Ok(());
        }
        let mut described = Vec::new();
        for place in partial {
            described.extend(answer(self.session, place, Extent::Structure)?.ok());
        }
        self.end += 1;
        self.answer.fault(fault, described, self.end);
        Ok(())
    }
}
