//! `select`: content by address, many addresses in one call.

use schemars::JsonSchema;
use serde::Serialize;

use super::cursor::{ListPart, most};
use super::node::{Extent, NodeAnswer, answer};
use super::page::WholePageShape;
use super::place::Place;
use super::resolve::{Window, resolve};
use super::{Cursor, Library, List, Outcome, Page};
use crate::address::Fault;
use crate::error::Result;
use crate::limits;

/// What to select.
#[derive(Clone, Debug)]
pub struct Request {
    /// Addresses, answered in this order.
    pub addresses: Vec<String>,
    /// Words a page, where an address does not say; 0 for all.
    pub max_words: usize,
    /// Results to give at most; `None` for the default, 0 for all.
    pub limit: Option<usize>,
    /// Where a former answer ended.
    pub after: Option<Cursor>,
    /// Unicode scalars of content after which no more is looked for, because it would not fit.
    pub room: Option<usize>,
}

/// What was selected.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct Answer {
    /// The places, in the order of the addresses, those of one address in document order.
    pub results: Vec<NodeAnswer>,
    /// What the longest resolving prefix of each unresolved selector names, without content.
    pub partial_results: Vec<NodeAnswer>,
    /// What is beside them.
    #[serde(flatten)]
    #[schemars(with = "WholePageShape")]
    pub page: Page,
    /// Results and faults in their order.
    #[serde(skip)]
    items: Vec<Item>,
}

/// A result or a fault, and how many places and faults of this part come up to its end.
#[derive(Clone, Copy, Debug)]
struct Item {
    is_result: bool,
    /// How many partial results go with a fault.
    partial: usize,
    end: usize,
}

impl Answer {
    /// How the command ended.
    pub fn outcome(&self) -> Outcome {
        Outcome::of(!self.results.is_empty(), !self.page.unresolved_selectors.is_empty())
    }

    fn result(&mut self, node: NodeAnswer, end: usize) {
        self.results.push(node);
        self.items.push(Item { is_result: true, partial: 0, end });
    }

    fn fault(&mut self, fault: Fault, partial: Vec<NodeAnswer>, end: usize) {
        self.items.push(Item { is_result: false, partial: partial.len(), end });
        self.page.unresolved_selectors.push(fault);
        self.partial_results.extend(partial);
    }
}

/// A result is an item, and so is a fault with its partial results.
impl List for Answer {
    fn page_mut(&mut self) -> Option<&mut Page> {
        Some(&mut self.page)
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

/// Selects.
pub fn select(library: &Library<'_>, request: &Request) -> Result<Answer> {
    if request.addresses.len() > limits::MAX_ADDRESSES {
        return Err(limits::exceeded("addresses"));
    }
    let page = Page::new(ListPart::beginning(request.after, library.snapshot.generation()));
    // Every place that was named by itself is given.
    let limit = match request.limit {
        Some(limit) => most(limit),
        None => limits::LIST_LIMIT.max(request.addresses.len()),
    };
    let mut result = Answer {
        results: Vec::new(),
        partial_results: Vec::new(),
        page: page.with_empty_lists(),
        items: Vec::new(),
    };
    let skip = result.page.part.start();
    let room = request.room.unwrap_or(usize::MAX);
    let mut selection =
        Selection { library, request, limit, skip, room, end: 0, answer: &mut result };
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

/// A selection under way.
struct Selection<'a> {
    library: &'a Library<'a>,
    request: &'a Request,
    /// Results to give at most.
    limit: usize,
    /// Places and faults that are still to be passed over.
    skip: usize,
    /// Unicode scalars of content that still fit.
    room: usize,
    /// Places and faults that were gone through.
    end: usize,
    answer: &'a mut Answer,
}

impl Selection<'_> {
    /// Answers one address, up to the limit; whether nothing of it is left.
    fn add(&mut self, address: &str) -> Result<bool> {
        let mut taken = 0;
        // Of many places, those without the page that is asked for do not count unless all lack it.
        let mut lacking = None;
        let mut has_result = false;
        loop {
            let take = self.limit - self.answer.results.len();
            let window = Window { skip: self.skip + taken, take };
            let resolution = resolve(self.library, address, window)?;
            for warning in resolution.warnings {
                if !self.answer.page.warnings.contains(&warning) {
                    self.answer.page.warnings.push(warning);
                }
            }
            if let Some(fault) = resolution.fault {
                self.add_fault(fault, &resolution.partial)?;
                return Ok(true);
            }
            for place in &resolution.places {
                if self.room == 0 && !self.answer.results.is_empty() {
                    return Ok(false);
                }
                self.end += 1;
                match answer(self.library, place, Extent::Words(self.request.max_words))? {
                    Ok(node) => {
                        has_result = true;
                        let bytes = node.content.as_ref().map_or(0, |content| content.bytes.len());
                        // No scalar has more than four bytes.
                        self.room = self.room.saturating_sub(bytes.div_ceil(4));
                        self.answer.result(node, self.end);
                    }
                    Err(fault) => lacking = lacking.or(Some(fault)),
                }
            }
            if !resolution.has_more {
                // Places of this address that were given with an answer before.
                let given_before = resolution.skipped.saturating_sub(taken);
                self.skip -= given_before.min(self.skip);
                if let Some(fault) = lacking.filter(|_| !has_result && given_before == 0) {
                    self.answer.fault(fault.of(address), Vec::new(), self.end);
                }
                return Ok(true);
            }
            taken += resolution.places.len();
            if self.answer.results.len() == self.limit {
                return Ok(false);
            }
        }
    }

    fn add_fault(&mut self, fault: Fault, partial: &[Place]) -> Result<()> {
        if self.skip > 0 {
            self.skip -= 1;
            return Ok(());
        }
        let mut described = Vec::new();
        for place in partial {
            described.extend(answer(self.library, place, Extent::Structure)?.ok());
        }
        self.end += 1;
        self.answer.fault(fault, described, self.end);
        Ok(())
    }
}
