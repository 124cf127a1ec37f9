//! `ldmd`: the commands for documents with LDMD markers (`mdsel help ldmd`).
//!
//! Each module answers one command, from the markers that were stored at ingest. Invariant: no source
//! file is read and nothing is parsed; offsets and bytes belong to the stored document.

pub mod check;
pub mod emit;
pub mod get;
pub mod index;
pub mod neighbors;
pub mod search;

use std::rc::Rc;

use super::open_document::OpenDocument;
use super::resolve::{ldmd_section, missing_ldmd_section};
use super::{List, Outcome, Page, Session, documents};
use crate::address::AddressResult;
use crate::count::counted;
use crate::error::{Result, Warning};
use crate::message::message;
use crate::query::cursor::{Cursor, ListPart};

/// An answer about one document.
#[derive(Clone, Debug)]
pub struct LdmdAnswer<Body> {
    /// The body of the answer; `None` if the document or section was not found.
    pub body: Option<Body>,
    /// Warnings, what was not found, and the cursor.
    pub page: Page,
}

/// A body that is a list, of which the first items can be returned alone.
pub trait Items: Clone {
    /// Returns the number of items.
    fn count(&self) -> usize;

    /// Returns whether the list answers the request; a search without matches does not.
    fn has_result(&self) -> bool {
        true
    }

    /// Returns the smallest number of items with which the list makes progress.
    fn least(&self) -> usize {
        self.count().min(1)
    }

    /// Returns the first `count` items; `count` is less than the number of items.
    #[must_use]
    fn first(&self, count: usize) -> Self;

    /// Returns the cursor position after the first `count` items.
    fn position(&self, count: usize) -> usize {
        count
    }

    /// Returns the number of sizes to which the first item can be cut; 0 if it cannot be cut.
    fn sizes_of_first(&self) -> usize {
        0
    }

    /// Cuts the first item to one of these sizes. Returns the cursor position of the remainder, if the
    /// list can continue there.
    fn cut_first(&mut self, size: usize) -> Option<usize> {
        let _ = size;
        None
    }
}

impl<Body: Items> List for LdmdAnswer<Body> {
    fn page_mut(&mut self) -> Option<&mut Page> {
        Some(&mut self.page)
    }

    fn outcome(&self) -> Outcome {
        match &self.body {
            Some(body) if !body.has_result() => Outcome::None,
            body => self.page.outcome(body.is_some()),
        }
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

/// Answers a request about the one document called `name`.
fn in_document<Body>(
    session: &Session<'_>,
    name: &str,
    after: Option<Cursor>,
    answer: impl FnOnce(&Rc<OpenDocument>, ListPart) -> Result<AddressResult<Body>>,
) -> Result<LdmdAnswer<Body>> {
    let mut page = Page::beginning(after, session.reader.generation());
    let named = documents::one(session, name, &[])?;
    let result = match named {
        Ok(stored) => {
            let document = session.open(&stored)?;
            let problems = document.markup.faults.len();
            if problems > 0 {
                let message = message!(
                    "{}: its markers have {}; `mdsel ldmd check {path}` lists them",
                    stored.path,
                    counted(problems, "problem"),
                    stored.path
                );
                page.warnings.push(Warning::new("LDMD_FAULTS", message));
            }
            answer(&document, page.part)?
        }
        Err(fault) => Err(fault),
    };
    let body = result.map_err(|fault| page.unresolved_selectors.push(fault)).ok();
    Ok(LdmdAnswer { body, page })
}

/// Returns the index of the section with that id.
fn section(document: &Rc<OpenDocument>, id: &str) -> AddressResult<usize> {
    ldmd_section(document, id).ok_or_else(|| missing_ldmd_section(document, id).of(id))
}
