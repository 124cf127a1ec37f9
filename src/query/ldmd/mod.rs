//! `ldmd`: what the markers of a document say, answered from what was stored of them at ingest.
//!
//! Each module answers one command of the protocol (CQ's paper, section 5). Invariant: no source file
//! is read and nothing is parsed; offsets and bytes are of the stored document.

pub mod check;
pub mod emit;
pub mod get;
pub mod index;
pub mod neighbors;
pub mod search;

use crate::query::page::NoPlaceShape;
use crate::schema::schema_as;
use std::rc::Rc;

use schemars::JsonSchema;
use serde::Serialize;

use super::library::OpenDocument;
use super::locate::{ldmd_section, missing_ldmd_section};
use super::{Library, List, Outcome, Page, documents};
use crate::address::Fault;
use crate::error::{Result, Warning, shell_word};
use crate::query::cursor::ListPart;

/// An answer about one document, or why there is none.
#[derive(Clone, Debug, Serialize)]
pub struct Answer<Body> {
    /// What was asked for.
    #[serde(flatten)]
    pub body: Option<Body>,
    /// What is beside it.
    #[serde(flatten)]
    pub page: Page,
}

/// What was asked for, or why there is none.
#[expect(dead_code, reason = "only its schema is used")]
#[derive(JsonSchema)]
#[schemars(untagged)]
enum Shape<Body> {
    Document {
        #[schemars(flatten)]
        body: Body,
        #[schemars(flatten)]
        page: Page,
    },
    NoPlace {
        #[schemars(flatten)]
        remarks: NoPlaceShape,
        /// Whether something was left out or cut.
        truncated: bool,
    },
}

schema_as!([Body] Answer<Body> => Shape<Body>);

impl<Body> Answer<Body> {
    /// How the command ended.
    pub fn outcome(&self) -> Outcome {
        Outcome::of(self.body.is_some(), !self.page.unresolved_selectors.is_empty())
    }
}

/// What is told of a document, of which the first items can be given alone.
pub trait Items: Clone {
    /// How many items it has.
    fn count(&self) -> usize;

    /// How many must be given for going on to make progress.
    fn least(&self) -> usize {
        self.count().min(1)
    }

    /// The first `count` items, which are fewer than it has.
    #[must_use]
    fn first(&self, count: usize) -> Self;

    /// The cursor position after the first `count` items.
    fn position(&self, count: usize) -> usize {
        count
    }

    /// Sizes to which the first item can be cut; 0 if it cannot be cut.
    fn sizes_of_first(&self) -> usize {
        0
    }

    /// Cuts the first item to one of these sizes; the cursor position of its rest, if that can be gone on with.
    fn cut_first(&mut self, size: usize) -> Option<usize> {
        let _ = size;
        None
    }
}

impl<Body: Items> List for Answer<Body> {
    fn page_mut(&mut self) -> Option<&mut Page> {
        Some(&mut self.page)
    }

    fn count(&self) -> usize {
        self.body.as_ref().map_or(0, Items::count)
    }

    fn least(&self) -> usize {
        self.body.as_ref().map_or(0, Items::least)
    }

    fn first(&self, count: usize) -> Self {
        match &self.body {
            Some(body) if count < body.count() => {
                Self { page: self.page.ended(body.position(count)), body: Some(body.first(count)) }
            }
            _ => self.clone(),
        }
    }

    fn sizes_of_first(&self) -> usize {
        self.body.as_ref().map_or(0, Items::sizes_of_first)
    }

    fn cut_first(&mut self, size: usize) -> bool {
        let Some(body) = &mut self.body else { return false };
        if let Some(position) = body.cut_first(size) {
            self.page.end(position);
        }
        true
    }
}

/// What `answer` says of the one document of that name, or why there is none.
fn in_document<Body>(
    library: &Library<'_>,
    name: &str,
    (part, mut warnings): (ListPart, Vec<Warning>),
    answer: impl FnOnce(&Rc<OpenDocument>) -> Result<std::result::Result<Body, Fault>>,
) -> Result<Answer<Body>> {
    let named = documents::one(library, name)?;
    let result = match named {
        Ok(stored) => {
            let document = library.open(&stored)?;
            let faults = document.markup.faults.len();
            if faults > 0 {
                let message = format!(
                    "{}: its markers have {faults} faults; `mdsel ldmd check {}` lists them",
                    stored.path,
                    shell_word(&stored.path)
                );
                warnings.push(Warning::new("LDMD_FAULTS", message));
            }
            answer(&document)?
        }
        Err(fault) => Err(fault),
    };
    let mut page = Page::new((part, warnings));
    let body = result.map_err(|fault| page.unresolved_selectors.push(fault)).ok();
    Ok(Answer { body, page })
}

/// The section of a document with that id.
fn section(document: &Rc<OpenDocument>, id: &str) -> std::result::Result<usize, Fault> {
    ldmd_section(document, id).ok_or_else(|| missing_ldmd_section(document, id).of(id))
}
