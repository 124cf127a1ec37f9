//! `links check`: every link that leads nowhere.

use std::collections::HashMap;

use super::graph::{Destination, Graph};
use super::{EdgeFilter, Library};
use crate::address::suggest::most_similar;
use crate::error::Result;
use crate::limits;
use crate::links::{Link, Reason};
use crate::markdown::outline::Section;
use crate::query::finding::{Finding, Findings};
use crate::query::library::OpenDocument;
use crate::query::{Cursor, documents};
use crate::store::StoredDocument;

/// Lists the broken links of the documents of those names; of all of them where there are no names.
pub fn check(library: &Library<'_>, names: &[String], after: Option<Cursor>) -> Result<Findings> {
    let found = documents::named(library, names)?;
    let graph = Graph::new(library, EdgeFilter::default());
    let mut hints = Hints { library, files: HashMap::new() };
    let mut findings = Vec::new();
    for stored in &found.documents {
        let links = library.snapshot.links(stored)?.links;
        if links.is_empty() {
            continue;
        }
        let document = library.open(stored)?;
        for (index, link) in links.iter().enumerate() {
            let is_repeated = links.iter().take(index).rev();
            let mut same_line = is_repeated.take_while(|other| other.line == link.line);
            if same_line.any(|other| other.target == link.target) {
                continue;
            }
            if let Some(Destination::Broken(reason)) = graph.follow(&document, link)? {
                findings.push(finding(stored, link, reason, hints.of(&document, link, reason)?));
            }
        }
    }
    Ok(Findings::new(findings, found.faults, after, library.snapshot.generation()))
}

fn finding(stored: &StoredDocument, link: &Link, reason: Reason, hint: Option<String>) -> Finding {
    let (code, what) = match reason {
        Reason::File => ("BROKEN_FILE", "no document is there"),
        Reason::Anchor => ("BROKEN_ANCHOR", "the document has no such section"),
        Reason::Outside => ("BROKEN_OUTSIDE", "the path climbs above the root"),
        Reason::Ambiguous => ("BROKEN_AMBIGUOUS", "several documents are called so"),
    };
    Finding {
        code,
        message: format!("{:?}: {what}", link.target),
        file: Some(stored.path.clone()),
        line: Some(link.line),
        hint,
    }
}

/// What may have been meant.
struct Hints<'a> {
    library: &'a Library<'a>,
    /// By the last part of a target, so that what many links have wrong is looked for once.
    files: HashMap<String, Option<String>>,
}

impl Hints<'_> {
    fn of(
        &mut self,
        document: &OpenDocument,
        link: &Link,
        reason: Reason,
    ) -> Result<Option<String>> {
        match reason {
            Reason::File => self.file(&link.target),
            Reason::Anchor => Ok(anchor(document, &link.target)),
            Reason::Outside | Reason::Ambiguous => Ok(None),
        }
    }

    /// The only document whose name is that of the target.
    fn file(&mut self, target: &str) -> Result<Option<String>> {
        let path = target.split(['#', '?']).next().unwrap_or(target).trim_end_matches('/');
        let name = path.rsplit('/').next().unwrap_or(path);
        let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
        if let Some(known) = self.files.get(stem) {
            return Ok(known.clone());
        }
        let hint = match self.library.snapshot.documents_with_stem(stem)?.as_slice() {
            [(_, path)] if !stem.is_empty() => Some(format!("did you mean {path}?")),
            _ => None,
        };
        self.files.insert(stem.to_owned(), hint.clone());
        Ok(hint)
    }
}

/// The anchor of the document itself that is most like the one that it lacks.
fn anchor(document: &OpenDocument, target: &str) -> Option<String> {
    let (path, anchor) = target.split_once('#')?;
    if !path.is_empty() {
        return None;
    }
    let sections = &document.tree.outline().sections;
    let anchors = sections.iter().take(limits::MAX_SECTIONS_COMPARED).filter_map(Section::anchor);
    let similar = most_similar(anchor, anchors.collect::<Vec<_>>());
    similar.first().map(|anchor| format!("did you mean #{anchor}?"))
}
