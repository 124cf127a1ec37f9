//! `ldmd check`: lists the problems in the LDMD markers of documents.

use crate::error::Result;
use crate::query::finding::{Finding, Findings};
use crate::query::{Cursor, Session, documents};

/// Lists the problems in the markers of the named documents, or of all documents if `names` is empty.
pub fn check(session: &Session<'_>, names: &[String], after: Option<Cursor>) -> Result<Findings> {
    let found = documents::named(session, names)?;
    let mut findings = Vec::new();
    for stored in found.documents.iter().filter(|stored| stored.has_ldmd) {
        let markup = session.reader.markup(stored)?;
        findings.extend(markup.faults.into_iter().map(|fault| Finding {
            code: fault.kind.code(),
            message: fault.message,
            file: Some(stored.path.clone()),
            line: Some(fault.line),
            hint: None,
        }));
    }
    let generation = session.reader.generation();
    let mut findings = Findings::new(findings, found.faults, after, generation);
    findings
        .page
        .warnings
        .extend(session.warning_of_changes(&found.documents, Session::INGEST_UPDATES));
    Ok(findings)
}
