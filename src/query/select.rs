//! `select`: content by address, many addresses in one call.

use serde::Serialize;

use super::node::{Extent, NodeAnswer, answer};
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
    #[serde(skip)]
    cursor: Cursor,
}

impl Answer {
    /// How the command ended.
    pub fn outcome(&self) -> Outcome {
        Outcome::of(!self.results.is_empty(), !self.unresolved_selectors.is_empty())
    }
}

impl List for Answer {
    fn count(&self) -> usize {
        self.results.len()
    }

    fn first(&self, count: usize) -> Self {
        let mut result = self.clone();
        if count < self.results.len() {
            result.results.truncate(count);
            result.truncated = true;
            let position = self.cursor.position + count;
            result.next = Some(Cursor { position, ..self.cursor }.to_string());
        }
        result
    }

    fn words_of_first(&self) -> usize {
        self.results.first().map_or(0, NodeAnswer::words_shown)
    }

    fn first_page(&self, words: usize) -> Option<Self> {
        let mut result = self.first(1);
        let page = self.results.first()?.paged(words)?;
        result.results = vec![page];
        result.truncated = true;
        Some(result)
    }
}

/// Selects.
pub fn select(library: &Library<'_>, request: &Request) -> Result<Answer> {
    if request.addresses.len() > limits::MAX_ADDRESSES {
        return Err(limits::exceeded("addresses"));
    }
    let generation = library.snapshot.generation();
    let after = request.after.unwrap_or(Cursor { generation, position: 0 });
    // Every place that was named by itself is given.
    let limit = match request.limit {
        Some(0) => usize::MAX,
        Some(limit) => limit,
        None => limits::LIST_LIMIT.max(request.addresses.len()),
    };
    let mut result = Answer {
        results: Vec::new(),
        partial_results: Vec::new(),
        unresolved_selectors: Vec::new(),
        warnings: after.warning(generation).into_iter().collect(),
        truncated: false,
        next: None,
        cursor: Cursor { generation, position: after.position },
    };
    let mut skip = after.position;
    let mut taken = 0;
    for address in &request.addresses {
        let resolution = resolve(library, address, Window { skip, take: limit - taken })?;
        skip -= resolution.skipped.min(skip);
        for warning in resolution.warnings {
            if !result.warnings.contains(&warning) {
                result.warnings.push(warning);
            }
        }
        for place in &resolution.partial {
            if let Ok(partial) = answer(library, place, Extent::Structure)? {
                result.partial_results.push(partial);
            }
        }
        // Told once, with the first results.
        result.unresolved_selectors.extend(resolution.fault);
        for place in &resolution.places {
            taken += 1;
            match answer(library, place, Extent::Words(request.max_words))? {
                Ok(node) => result.results.push(node),
                Err(fault) => result.unresolved_selectors.push(fault.of(address, 0)),
            }
        }
        if resolution.has_more {
            let position = after.position + taken;
            result.next = Some(Cursor { generation, position }.to_string());
            break;
        }
    }
    result.truncated = result.next.is_some() || result.results.iter().any(|node| node.truncated);
    Ok(result)
}
