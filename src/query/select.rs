//! `select`: content by address, many addresses in one call.

use serde::Serialize;

use super::cursor::{ListPart, most};
use super::node::{Extent, NodeAnswer, answer};
use super::place::Place;
use super::resolve::{Window, resolve};
use super::{Cursor, Library, List, Outcome};
use crate::address::Fault;
use crate::error::{Result, Warning};
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
}

/// What was selected.
#[derive(Clone, Debug, Serialize)]
pub struct Answer {
    /// The places, in the order of the addresses, those of one address in document order.
    pub results: Vec<NodeAnswer>,
    /// What the longest resolving prefix of each unresolved selector names, without content.
    pub partial_results: Vec<NodeAnswer>,
    /// The addresses that have no answer.
    pub unresolved_selectors: Vec<Fault>,
    /// Remarks.
    pub warnings: Vec<Warning>,
    /// Whether results were left out, or one of them is cut.
    pub truncated: bool,
    /// The cursor of what was left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
    /// Results and faults in their order.
    #[serde(skip)]
    items: Vec<Item>,
    #[serde(skip)]
    part: ListPart,
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
        Outcome::of(!self.results.is_empty(), !self.unresolved_selectors.is_empty())
    }

    fn result(&mut self, node: NodeAnswer, end: usize) {
        self.results.push(node);
        self.items.push(Item { is_result: true, partial: 0, end });
    }

    fn fault(&mut self, fault: Fault, partial: Vec<NodeAnswer>, end: usize) {
        self.items.push(Item { is_result: false, partial: partial.len(), end });
        self.unresolved_selectors.push(fault);
        self.partial_results.extend(partial);
    }
}

/// A result is an item, and so is a fault with its partial results.
impl List for Answer {
    fn count(&self) -> usize {
        self.items.len()
    }

    fn first(&self, count: usize) -> Self {
        let mut result = self.clone();
        if count < self.items.len() {
            result.items.truncate(count);
            let results = result.items.iter().filter(|item| item.is_result).count();
            result.results.truncate(results);
            result.unresolved_selectors.truncate(count - results);
            result.partial_results.truncate(result.items.iter().map(|item| item.partial).sum());
            result.truncated = true;
            result.next = Some(self.part.next(result.items.last().map_or(0, |item| item.end)));
        }
        result
    }

    fn first_bare(&self) -> Option<Self> {
        let mut result = self.first(1);
        result.results = vec![self.results.first()?.bare()?];
        result.truncated = true;
        Some(result)
    }

    fn words_of_first(&self) -> usize {
        let is_result = self.items.first().is_some_and(|item| item.is_result);
        self.results.first().filter(|_| is_result).map_or(0, NodeAnswer::words_shown)
    }

    fn first_page(&self, words: usize) -> Option<Self> {
        let mut result = self.first(1);
        result.results = vec![self.results.first()?.paged(words)?];
        result.truncated = true;
        Some(result)
    }
}

/// Selects.
pub fn select(library: &Library<'_>, request: &Request) -> Result<Answer> {
    if request.addresses.len() > limits::MAX_ADDRESSES {
        return Err(limits::exceeded("addresses"));
    }
    let (part, warnings) = ListPart::beginning(request.after, library.snapshot.generation());
    // Every place that was named by itself is given.
    let limit = match request.limit {
        Some(limit) => most(limit),
        None => limits::LIST_LIMIT.max(request.addresses.len()),
    };
    let mut result = Answer {
        results: Vec::new(),
        partial_results: Vec::new(),
        unresolved_selectors: Vec::new(),
        warnings,
        truncated: false,
        next: None,
        items: Vec::new(),
        part,
    };
    let mut selection =
        Selection { library, request, limit, skip: part.start(), end: 0, answer: &mut result };
    let mut is_done = true;
    for address in &request.addresses {
        is_done = selection.add(address)?;
        if !is_done {
            break;
        }
    }
    let end = selection.end;
    if !is_done {
        result.next = Some(part.next(end));
    }
    result.truncated = !is_done || result.results.iter().any(|node| node.truncated);
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
                if !self.answer.warnings.contains(&warning) {
                    self.answer.warnings.push(warning);
                }
            }
            if let Some(fault) = resolution.fault {
                self.add_fault(fault, &resolution.partial)?;
                return Ok(true);
            }
            for place in &resolution.places {
                self.end += 1;
                match answer(self.library, place, Extent::Words(self.request.max_words))? {
                    Ok(node) => {
                        has_result = true;
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
