//! `ldmd search`: finds the lines in sections of a document that contain a text.

use std::rc::Rc;

use schemars::JsonSchema;
use serde::Serialize;

use super::{Items, LdmdAnswer, in_document};
use crate::error::{Error, ErrorKind, Result};
use crate::ldmd;
use crate::query::cursor::most;
use crate::query::freshness::Freshness;
use crate::query::open_document::OpenDocument;
use crate::query::page::{self, shorten};
use crate::query::{Cursor, List as _, Session};

/// A request for lines.
#[derive(Clone, Debug)]
pub struct LdmdSearchRequest {
    /// The name of the document.
    pub document: String,
    /// The text to find, without regard to case.
    pub query: String,
    /// The maximum number of lines; 0 for all.
    pub limit: usize,
    /// The cursor of the previous answer, if any.
    pub after: Option<Cursor>,
}

/// A line that contains the text.
#[derive(Clone, Debug)]
pub struct LdmdMatch {
    /// The line, 0-based from the first line of content of the section.
    pub line: usize,
    /// The line in the document, 1-based.
    pub doc_line: usize,
    /// The text of the line, without leading and trailing blanks.
    pub text: String,
    /// Whether the text has bytes that are not UTF-8, which are shown as U+FFFD.
    pub lossy: bool,
    document: Rc<OpenDocument>,
    section: usize,
}

impl LdmdMatch {
    /// Returns the id of the innermost section that contains the line.
    pub fn section_id(&self) -> String {
        self.document.markup.name(self.section)
    }

    /// Returns the ids of the sections around that section, outermost first. They are computed on each
    /// call, because there can be as many as the nesting is deep.
    pub fn ancestors(&self) -> impl Iterator<Item = String> {
        let markup = &self.document.markup;
        markup.ancestors(self.section).into_iter().map(|section| markup.name(section))
    }
}

/// The lines that contain the text.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct Matches {
    /// The path of the document.
    pub file: String,
    /// The lines, in document order.
    pub matches: Vec<LdmdMatch>,
    /// Whether the file differs from the stored document.
    #[serde(flatten)]
    pub freshness: Freshness,
}

impl Items for Matches {
    fn count(&self) -> usize {
        self.matches.len()
    }

    fn has_result(&self) -> bool {
        !self.matches.is_empty()
    }

    fn first(&self, count: usize) -> Self {
        let matches = self.matches.iter().take(count).cloned().collect();
        Self { matches, file: self.file.clone(), ..*self }
    }

    fn sizes_of_first(&self) -> usize {
        self.matches.first().map_or(0, |first| page::longest([first.text.as_str()]))
    }

    fn cut_first(&mut self, size: usize) -> Option<usize> {
        self.matches.iter_mut().for_each(|found| shorten(&mut found.text, size));
        None
    }
}

/// Finds the lines in sections of a document that contain the text.
pub fn search(session: &Session<'_>, request: &LdmdSearchRequest) -> Result<LdmdAnswer<Matches>> {
    if request.query.is_empty() {
        return Err(Error::new(ErrorKind::Usage, "the query is empty")
            .with_hint("pass the text to find with --query"));
    }
    let answer = in_document(session, &request.document, request.after, |document, part| {
        let markup = &document.markup;
        let bytes = session.content(document, document.span())?;
        let found = ldmd::search(markup, &bytes, &request.query);
        Ok(Ok(Matches {
            file: document.stored.path.clone(),
            matches: found
                .into_iter()
                .skip(part.start())
                .map(|found| LdmdMatch {
                    line: found.line,
                    doc_line: found.document_line,
                    text: found.text,
                    lossy: found.is_lossy,
                    document: Rc::clone(document),
                    section: found.section,
                })
                .collect(),
            freshness: session.freshness(&document.stored),
        }))
    })?;
    Ok(answer.first(most(request.limit)))
}
