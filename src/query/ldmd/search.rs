//! `ldmd search`: the lines of the sections of a document that hold a text.

use serde::Serialize;

use super::{Answer, in_document};
use crate::error::{Error, ErrorKind, Result};
use crate::ldmd;
use crate::query::cursor::{ListPart, most};
use crate::query::library::{Freshness, is_false};
use crate::query::{Cursor, Library, List, Outcome};

/// What to search.
#[derive(Clone, Debug)]
pub struct Request {
    /// The document by name.
    pub document: String,
    /// The text, whose case is not regarded.
    pub query: String,
    /// Lines to give at most; 0 for all.
    pub limit: usize,
    /// Where a former answer ended.
    pub after: Option<Cursor>,
}

/// A line that holds the text.
#[derive(Clone, Debug, Serialize)]
pub struct Match {
    /// The innermost section that holds it.
    pub section_id: String,
    /// The line, 0-based from the first content line of the section.
    pub line: usize,
    /// The line of the document, 1-based.
    pub doc_line: usize,
    /// The line without blanks around it.
    pub text: String,
    /// The ids of the sections that hold the section, outermost first.
    pub ancestors: Vec<String>,
}

/// The lines.
#[derive(Clone, Debug, Serialize)]
pub struct Matches {
    /// The document.
    pub file: String,
    /// The lines, in document order.
    pub matches: Vec<Match>,
    /// Whether the file is still the same.
    #[serde(flatten)]
    pub freshness: Freshness,
    /// Whether lines were left out.
    #[serde(skip_serializing_if = "is_false")]
    pub truncated: bool,
    /// The cursor of what was left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
    #[serde(skip)]
    part: ListPart,
}

impl List for Matches {
    fn count(&self) -> usize {
        self.matches.len()
    }

    fn first(&self, count: usize) -> Self {
        let mut result = self.clone();
        if count < self.matches.len() {
            result.matches.truncate(count);
            result.truncated = true;
            result.next = Some(self.part.next(count));
        }
        result
    }
}

impl Answer<Matches> {
    /// How the command ended: nothing is found where no line holds the text.
    pub fn search_outcome(&self) -> Outcome {
        let has_match = self.body.as_ref().is_some_and(|found| !found.matches.is_empty());
        if has_match { self.outcome() } else { Outcome::None }
    }
}

/// Searches the sections of a document.
pub fn search(library: &Library<'_>, request: &Request) -> Result<Answer<Matches>> {
    if request.query.is_empty() {
        return Err(Error::new(ErrorKind::Usage, "the query is empty")
            .with_hint("give the text to look for with --query"));
    }
    let (part, warnings) = ListPart::beginning(request.after, library.snapshot.generation());
    in_document(library, &request.document, warnings, |document| {
        let markup = &document.markup;
        let bytes = library.content(document, document.span())?;
        let found = ldmd::search(markup, &bytes, &request.query);
        let all = Matches {
            file: document.stored.path.clone(),
            matches: found
                .into_iter()
                .skip(part.start())
                .map(|found| Match {
                    section_id: markup.name(found.section),
                    line: found.line,
                    doc_line: found.document_line,
                    text: found.text,
                    ancestors: markup
                        .ancestors(found.section)
                        .into_iter()
                        .map(|section| markup.name(section))
                        .collect(),
                })
                .collect(),
            freshness: library.freshness(&document.stored),
            truncated: false,
            next: None,
            part,
        };
        Ok(Ok(all.first(most(request.limit))))
    })
}
