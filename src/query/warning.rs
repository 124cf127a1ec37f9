//! The warnings that several commands give about the documents that they consider.
//!
//! Invariant: a module that looks for the code of a warning takes the constant from here.

use super::session::Session;
use crate::error::{Result, Warning};
use crate::message::message;
use crate::store::{self, DocumentFilter, Lookup};

/// What to do if files have changed, at the end of the text for an empty answer. A caller of tools has no such option.
pub(crate) const CHANGED_FILES: &str =
    " If files have changed, {add --refresh|run `mdsel ingest` in the user's terminal}.";

/// Returns the warning that an older version parsed the documents, if one did.
pub(super) fn parsed_before(session: &Session<'_>) -> Option<Warning> {
    (!session.reader.facts().has_current_parser).then(store::parsed_before)
}

/// The code of the warning that an address names more nodes than are followed.
pub(super) const EXPANSION_CUT: &str = "EXPANSION_CUT";

/// The code of the diagnostic and of the warning about front matter that could not be parsed.
pub(super) const UNREADABLE: &str = "FRONT_MATTER_UNREADABLE";

/// Returns the warning about the documents with front matter that could not be parsed that the conditions of `filter`
/// on other things admit.
pub(super) fn unreadable_within(
    session: &Session<'_>,
    filter: &DocumentFilter,
) -> Result<Option<Warning>> {
    let filter = DocumentFilter { tags: Vec::new(), condition: None, ..filter.clone() };
    let message = "front matter could not be parsed, so it counts as absent";
    diagnosed_within(session, &filter, UNREADABLE, message)
}

/// Returns a warning about the documents with a diagnostic `code` that `filter` admits. It has the same code.
pub(super) fn diagnosed_within(
    session: &Session<'_>,
    filter: &DocumentFilter,
    code: &'static str,
    message: &str,
) -> Result<Option<Warning>> {
    let ids: Vec<i64> = session.reader.with_diagnostic(code)?.into_iter().collect();
    if ids.is_empty() {
        return Ok(None);
    }
    let mut documents = session.reader.all(&Lookup::Ids(&ids))?;
    session.reader.retain(filter, &mut documents)?;
    let first = documents.iter().map(|document| document.path.as_str()).min();
    Ok(first.map(|first| {
        let others = documents.len() - 1;
        let more = if others > 0 { format!(" and {others} more") } else { String::new() };
        Warning::new(code, format!("{message}: {first}{more}"))
    }))
}

/// The code of the warning that no document passes the filters.
pub(super) const NO_DOCUMENT: &str = "NO_DOCUMENT";

/// Returns the warning that no document passes the filters. `message` says of which documents.
pub(super) fn no_document(message: &str) -> Warning {
    let message = message!(
        "{}; leave out a filter, or see `mdsel toc --depth 0`, which lists the documents",
        message
    );
    Warning::new(NO_DOCUMENT, message)
}

/// The code of the warning that nothing that was asked about has what the command lists.
pub(super) const NO_ITEMS: &str = "NO_ITEMS";

/// The code of the warning that no value has the type or the case of the one that a condition compares with.
pub(super) const OTHER_VALUES: &str = "OTHER_VALUES";

/// The code of the warning that nothing has a key, column or field that was asked for.
pub(super) const UNKNOWN_KEY: &str = "UNKNOWN_KEY";
