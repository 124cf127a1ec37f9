//! `ldmd check`: lists the problems in the LDMD markers of documents.

use crate::error::Result;
use crate::query::finding::{Finding, Findings};
use crate::query::{Cursor, DocumentCache, documents};

/// Lists the problems in the markers of the named documents, or of all documents if `names` is empty.
pub fn check(
    library: &DocumentCache<'_>,
    names: &[String],
    after: Option<Cursor>,
) -> Result<Findings> {
    let found = documents::named(library, names)?;
    let mut findings = Vec::new();
    for stored in found.documents.iter().filter(|stored| stored.has_ldmd) {
        let markup = library.reader.markup(stored)?;
        findings.extend(markup.faults.into_iter().map(|fault| Finding {
            code: fault.kind.code(),
            message: fault.message,
            file: Some(stored.path.clone()),
            line: Some(fault.line),
            hint: None,
        }));
    }
    let generation = library.reader.generation();
    let mut findings = Findings::new(findings, found.faults, after, generation);
    findings
        .page
        .warnings
        .extend(library.warning_of_changes(&found.documents, DocumentCache::INGEST_UPDATES));
    Ok(findings)
}
