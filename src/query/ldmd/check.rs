//! `ldmd check`: lists the problems in the LDMD markers of documents.

use crate::error::Result;
use crate::ldmd::strict_problems;
use crate::query::contained_text::ContainedText;
use crate::query::finding::{Finding, Findings};
use crate::query::{Cursor, Session, documents};

/// Lists the problems in the markers of the named documents, or of all documents if `names` is empty. If `is_strict`,
/// also the markers that a strict reader reads differently; then the documents are read, too.
pub fn check(
    session: &Session<'_>,
    names: &[String],
    is_strict: bool,
    after: Option<Cursor>,
) -> Result<Findings> {
    let found = documents::named(session, names)?;
    let mut findings = Vec::new();
    // A document whose only markers are in code has none.
    let read = if is_strict { Some(ContainedText::in_code(session, "LDMD")?) } else { None };
    for stored in &found.documents {
        let is_read = read.as_ref().is_some_and(|text| text.may_be_in(stored.id));
        if !stored.has_ldmd && !is_read {
            continue;
        }
        let markup = session.reader.markup(stored)?;
        let finding = |code, line, message: String| {
            let message = message.into();
            let (file, line) = (Some(stored.path.clone()), Some(line));
            Finding { code, message, file, line, hint: None }
        };
        let from = findings.len();
        if is_read {
            let document = session.open(stored)?;
            let bytes = session.content(&document, document.span())?;
            let problems = strict_problems(&bytes, &markup).into_iter();
            findings.extend(problems.map(|it| finding(it.code, it.line, it.message.to_owned())));
        }
        let faults = markup.faults.into_iter();
        findings.extend(faults.map(|fault| finding(fault.kind.code(), fault.line, fault.message)));
        findings.get_mut(from..).unwrap_or_default().sort_by_key(|finding| finding.line);
    }
    let generation = session.reader.generation();
    let mut findings = Findings::new(findings, found.faults, after, generation);
    findings
        .page
        .warnings
        .extend(session.warning_of_changes(&found.documents, Session::INGEST_UPDATES));
    Ok(findings)
}
