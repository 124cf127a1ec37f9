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

use std::rc::Rc;

use serde::Serialize;

use super::library::OpenDocument;
use super::locate::ldmd_section;
use super::{Library, List, Outcome, documents};
use crate::address::Fault;
use crate::error::{Result, Warning, shell_word};

/// An answer about one document, or why there is none.
#[derive(Clone, Debug, Serialize)]
pub struct Answer<Body> {
    /// What was asked for.
    #[serde(flatten)]
    pub body: Option<Body>,
    /// Why there is nothing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unresolved_selectors: Vec<Fault>,
    /// Remarks.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<Warning>,
}

impl<Body> Answer<Body> {
    /// How the command ended.
    pub fn outcome(&self) -> Outcome {
        Outcome::of(self.body.is_some(), !self.unresolved_selectors.is_empty())
    }
}

impl<Body: List + Clone> List for Answer<Body> {
    fn count(&self) -> usize {
        self.body.as_ref().map_or(0, List::count)
    }

    fn least(&self) -> usize {
        self.body.as_ref().map_or(1, List::least)
    }

    fn first(&self, count: usize) -> Self {
        Self { body: self.body.as_ref().map(|body| body.first(count)), ..self.clone() }
    }

    fn words_of_first(&self) -> usize {
        self.body.as_ref().map_or(0, List::words_of_first)
    }

    fn first_page(&self, words: usize) -> Option<Self> {
        let page = self.body.as_ref()?.first_page(words)?;
        Some(Self { body: Some(page), ..self.clone() })
    }
}

/// What `answer` says of the one document of that name, or why there is none.
fn in_document<Body>(
    library: &Library<'_>,
    name: &str,
    mut warnings: Vec<Warning>,
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
    let (body, unresolved_selectors) = match result {
        Ok(body) => (Some(body), Vec::new()),
        Err(fault) => (None, vec![fault]),
    };
    Ok(Answer { body, unresolved_selectors, warnings })
}

/// The section of a document with that id.
fn section(document: &Rc<OpenDocument>, id: &str) -> std::result::Result<usize, Fault> {
    ldmd_section(document, id).map_err(|fault| fault.of(id, 0))
}
