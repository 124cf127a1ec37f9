//! Finds the links that an edit of a document would break, or lead to another section.
//!
//! Invariant: a link is listed if it has a target before the edit and none after it, or if its section has
//! another anchor after it and another section has the old one. The store is not read if every name by which
//! links find their targets still exists after the edit, and no section has another anchor.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use schemars::JsonSchema;
use serde::Serialize;

use super::EdgeFilter;
use super::graph::{Destination, Graph};
use crate::error::Result;
use crate::links::{Outgoing, StoredLink};
use crate::markdown::outline::Section;
use crate::query::library::{DocumentCache, OpenDocument};
use crate::query::place::{ResolvedNode, Target};

/// A document as it is after an edit.
#[derive(Clone, Debug)]
pub(crate) struct Changed<'a> {
    /// The structure; its `stored.id` is that of the document before the edit.
    pub(crate) document: Rc<OpenDocument>,
    /// The links and names after the edit.
    pub(crate) links: &'a Outgoing,
    /// The bytes after the edit.
    pub(crate) bytes: &'a [u8],
    /// The path before the edit, if the edit moves the document.
    pub(crate) left: Option<String>,
}

/// A link that an edit of its target affects.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize)]
pub struct AffectedLink {
    /// The path of the document that contains the link.
    pub file: String,
    /// The line of the link, 1-based; in the edited document, the line after the edit.
    pub line: usize,
    /// The target as written.
    pub target: String,
}

/// Returns the links into documents that have no target after an edit. Each document is given as it is before the
/// edit, with its bytes, and as it is afterwards.
pub(crate) fn broken_by(
    library: &DocumentCache<'_>,
    documents: &[(&Rc<OpenDocument>, &[u8], Changed<'_>)],
) -> Result<Vec<AffectedLink>> {
    let mut is_named_as_before = true;
    for (old, bytes, changed) in documents {
        let links = library.reader.links(&old.stored)?;
        let now = names(&changed.document, changed.links, changed.bytes);
        is_named_as_before &= names(old, &links, bytes).is_subset(&now);
    }
    if is_named_as_before {
        return Ok(Vec::new());
    }
    let before = Graph::new(library, EdgeFilter::default());
    let changed = documents.iter().map(|(.., changed)| changed.clone());
    let after = Graph::new(library, EdgeFilter::default()).with(changed.collect());
    let mut broken = Vec::new();
    let mut check = |document: &Rc<OpenDocument>, link: &StoredLink| -> Result<()> {
        if let Some(Destination::Broken(_)) = after.follow(document, link)? {
            let file = document.stored.path.clone();
            broken.push(AffectedLink { file, line: link.line, target: link.target.clone() });
        }
        Ok(())
    };
    let is_edited = |id| documents.iter().any(|(old, ..)| old.stored.id == id);
    for (old, _, changed) in documents {
        for edge in before.leading_to(&ResolvedNode::whole(Rc::clone(old)))? {
            if !is_edited(edge.from.document.stored.id) {
                check(&edge.from.document, &edge.link)?;
            }
        }
        for link in &changed.links.links {
            if !matches!(before.follow(old, link)?, Some(Destination::Broken(_))) {
                check(&changed.document, link)?;
            }
        }
    }
    Ok(broken)
}

/// Returns the links that lead to another section after an edit, because another section has the anchor that theirs
/// had. `anchors` are the anchors that sections had before the edit, with those that they have afterwards, and
/// `old` is the document before it.
pub(crate) fn redirected_by(
    library: &DocumentCache<'_>,
    old: &Rc<OpenDocument>,
    changed: &Changed<'_>,
    anchors: &HashMap<String, String>,
) -> Result<Vec<AffectedLink>> {
    let mut redirected = Vec::new();
    if anchors.is_empty() {
        return Ok(redirected);
    }
    let before = Graph::new(library, EdgeFilter::default());
    let after = Graph::new(library, EdgeFilter::default()).with(vec![changed.clone()]);
    let anchor = |to: Option<Destination>| match to {
        Some(Destination::Place(ResolvedNode { document, target: Target::Node(node), .. })) => {
            document.tree.section(node).and_then(Section::anchor)
        }
        _ => None,
    };
    let mut check = |was: Option<Destination>, from: &Rc<OpenDocument>, link: &StoredLink| {
        let Some(was) = anchor(was) else { return Ok(()) };
        // The section of an anchor that only another section has now is gone.
        let wanted = anchors.get(&was);
        let is_taken = wanted.is_some() || anchors.values().any(|other| *other == was);
        if is_taken
            && let Some(now) = anchor(after.follow(from, link)?)
            && wanted != Some(&now)
        {
            let file = from.stored.path.clone();
            redirected.push(AffectedLink { file, line: link.line, target: link.target.clone() });
        }
        Ok::<_, crate::error::Error>(())
    };
    for edge in before.leading_to(&ResolvedNode::whole(Rc::clone(old)))? {
        if edge.from.document.stored.id != old.stored.id {
            check(Some(edge.to), &edge.from.document, &edge.link)?;
        }
    }
    // Links that the edit itself writes lead where they were meant to lead.
    let links = library.reader.links(&old.stored)?.links;
    let known: HashSet<&str> = links.iter().map(|link| link.target.as_str()).collect();
    for link in changed.links.links.iter().filter(|link| known.contains(link.target.as_str())) {
        check(before.follow(old, link)?, &changed.document, link)?;
    }
    Ok(redirected)
}

/// Returns the names by which links can refer to a document and to places in it.
pub(crate) fn names(document: &OpenDocument, links: &Outgoing, bytes: &[u8]) -> HashSet<String> {
    let outline = document.tree.outline();
    let anchors = outline.sections.iter().filter_map(Section::anchor);
    let contained = outline.contained_anchors.iter().map(|contained| contained.anchor.clone());
    let html = links.html_anchors.iter().map(|html| html.name.clone());
    let anchors = anchors.chain(contained).chain(html).map(|anchor| format!("#{anchor}"));
    let headings = outline.sections.iter().filter_map(|section| {
        let above = document.tree.sections_above(section.node);
        let titles: Vec<&str> = above.iter().map(|section| section.title.as_str()).collect();
        (!titles.is_empty()).then(|| titles.join("\n"))
    });
    let sections = &document.markup.sections;
    let marked =
        (0..sections.len()).map(|section| format!("ldmd:{}", document.markup.name(section)));
    let called = links.names().map(|(kind, name)| format!("{kind:?} {name}"));
    let blocks = memchr::memchr_iter(b'^', bytes).filter_map(|at| {
        let rest = bytes.get(at..)?;
        let id = rest.split(|byte| matches!(byte, b'\n' | b'\r')).next()?.trim_ascii_end();
        let is_id = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'-';
        let is_block = id.len() > 1 && id.get(1..)?.iter().all(is_id);
        is_block.then(|| String::from_utf8_lossy(id).into_owned())
    });
    anchors.chain(headings).chain(marked).chain(called).chain(blocks).collect()
}
