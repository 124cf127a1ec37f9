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
use super::targets::Changed;
use crate::error::Result;
use crate::links::{Outgoing, StoredLink, block_ids};
use crate::markdown::outline::Section;
use crate::query::open_document::OpenDocument;
use crate::query::resolved_node::{ResolvedNode, Target};
use crate::query::session::Session;

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

/// A document before and after an edit.
pub(crate) struct EditedVersions<'a> {
    /// The document before the edit.
    pub(crate) old: &'a Rc<OpenDocument>,
    /// The bytes before the edit.
    pub(crate) bytes: &'a [u8],
    /// The document after the edit.
    pub(crate) changed: Changed<'a>,
    /// The anchors that sections had before the edit, with the others that they have afterwards.
    pub(crate) anchors: HashMap<String, String>,
}

/// The links into documents that an edit of these documents affects.
#[derive(Debug, Default)]
pub(crate) struct AffectedLinks {
    /// Those that have no target afterwards.
    pub(crate) broken: Vec<AffectedLink>,
    /// Those that lead to another section afterwards, because it has the anchor that theirs had.
    pub(crate) redirected: Vec<AffectedLink>,
}

/// Returns the links that an edit of `documents` affects.
pub(crate) fn affected_by(
    session: &Session<'_>,
    documents: &[EditedVersions<'_>],
) -> Result<AffectedLinks> {
    let mut affected = AffectedLinks::default();
    let mut is_named_as_before = true;
    for EditedVersions { old, bytes, changed, anchors } in documents {
        let links = session.reader.links(&old.stored)?;
        let now = names(&changed.document, changed.links, changed.bytes);
        is_named_as_before &= anchors.is_empty() && names(old, &links, bytes).is_subset(&now);
    }
    if is_named_as_before {
        return Ok(affected);
    }
    let before = Graph::new(session, EdgeFilter::default());
    let changed = documents.iter().map(|edited| edited.changed.clone());
    let after = Graph::new(session, EdgeFilter::default()).with(changed.collect());
    let edited = |id| documents.iter().find(|edited| edited.old.stored.id == id);
    let is_redirected = |was: Option<&Destination>, now: Option<&Destination>| {
        let Some((id, was)) = section(was) else { return false };
        let Some(EditedVersions { anchors, .. }) = edited(id) else { return false };
        let wanted = anchors.get(&was);
        // The section of an anchor that only another section has now is gone.
        let is_taken = wanted.is_some() || anchors.values().any(|other| *other == was);
        is_taken && section(now).is_some_and(|(_, now)| wanted != Some(&now))
    };
    let mut check = |document: &Rc<OpenDocument>,
                     link: &StoredLink,
                     was: Option<&Destination>,
                     is_old: bool|
     -> Result<()> {
        let now = after.follow(document, link)?;
        let list = match &now {
            Some(Destination::Broken(_)) => &mut affected.broken,
            // What the edit itself writes leads where it was meant to lead.
            now if is_old && is_redirected(was, now.as_ref()) => &mut affected.redirected,
            _ => return Ok(()),
        };
        let file = document.stored.path.clone();
        list.push(AffectedLink { file, line: link.line, target: link.shown_target().into_owned() });
        Ok(())
    };
    for EditedVersions { old, changed, .. } in documents {
        for edge in before.leading_to(&ResolvedNode::whole(Rc::clone(old)))? {
            if edited(edge.from.document.stored.id).is_none() {
                check(&edge.from.document, &edge.link, Some(&edge.to), true)?;
            }
        }
        let links = session.reader.links(&old.stored)?.links;
        let targets: HashSet<&str> = links.iter().map(|link| link.target.as_str()).collect();
        for link in &changed.links.links {
            let was = before.follow(old, link)?;
            if !matches!(was, Some(Destination::Broken(_))) {
                let is_old = targets.contains(link.target.as_str());
                check(&changed.document, link, was.as_ref(), is_old)?;
            }
        }
    }
    Ok(affected)
}

/// Returns the document and the anchor of the section to which a link leads.
fn section(to: Option<&Destination>) -> Option<(i64, String)> {
    let Some(Destination::Place(place)) = to else { return None };
    let Target::Node(node) = place.target else { return None };
    let anchor = place.document.tree.section(node)?.anchor()?;
    Some((place.document.stored.id, anchor))
}

/// Returns the names by which links can refer to a document and to places in it.
pub(crate) fn names(document: &OpenDocument, links: &Outgoing, bytes: &[u8]) -> HashSet<String> {
    let outline = document.tree.outline();
    let anchors = outline.sections.iter().filter_map(Section::anchor);
    let contained = outline.contained_anchors.iter().map(|contained| contained.anchor.clone());
    let html = links.html_anchors.iter().map(|html| html.name.clone());
    let ids =
        outline.sections.iter().filter_map(|section| section.id_in_title().map(str::to_owned));
    let anchors = anchors.chain(contained).chain(html).chain(ids);
    let anchors = anchors.map(|anchor| format!("#{anchor}"));
    let headings = outline.sections.iter().filter_map(|section| {
        let above = document.tree.sections_above(section.node);
        (!above.is_empty()).then(|| {
            let titles = |title: fn(&Section) -> &str| {
                above.iter().map(|section| title(section)).collect::<Vec<_>>().join("\n")
            };
            [titles(|section| &section.title), titles(Section::title_shown)]
        })
    });
    let headings = headings.flatten();
    let sections = &document.markup.sections;
    let marked =
        (0..sections.len()).map(|section| format!("ldmd:{}", document.markup.name(section)));
    let called = links.names().map(|(kind, name)| format!("{kind:?} {name}"));
    let is_id = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'-';
    let blocks = block_ids(bytes).filter(|(id, _)| id.iter().all(is_id));
    let blocks = blocks.map(|(id, _)| format!("^{}", String::from_utf8_lossy(id)));
    anchors.chain(headings).chain(marked).chain(called).chain(blocks).collect()
}
