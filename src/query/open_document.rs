//! A document with its structure, as it is stored.
//!
//! Invariant: an address that it returns names a place in this version of the document.

use std::cell::OnceCell;
use std::collections::{HashMap, HashSet};

use crate::address::{Tree, is_selector, namespace};
use crate::error::Result;
use crate::ldmd::Markup;
use crate::links::block_ids;
use crate::markdown::html_anchors::HtmlAnchor;
use crate::markdown::outline::{NodeKind, Outline, Section};
use crate::markdown::slug::comparable;
use crate::position::ByteSpan;
use crate::store::{Reader, StoredDocument};

/// A document and its structure.
#[derive(Debug)]
pub struct OpenDocument {
    /// The entry of the document in the store.
    pub stored: StoredDocument,
    /// The tree of nodes.
    pub tree: Tree,
    /// The LDMD sections.
    pub markup: Markup,
    /// The name of the document in addresses.
    pub namespace: String,
    /// The anchors besides those of headings, with the nodes that they name: those in HTML, and the ids of blocks as
    /// `^id`. Few addresses name one, so they are set when one does.
    pub(crate) other_anchors: OnceCell<Vec<(String, usize)>>,
    /// The titles of sections without a colon, and those with one, in the form of [`comparable`].
    titles: [OnceCell<HashSet<String>>; 2],
    /// The anchors of headings and the ids in titles with their nodes, by the anchor in the form of [`comparable`].
    anchors: OnceCell<HashMap<String, Vec<(usize, String)>>>,
}

impl OpenDocument {
    /// Returns a document with the given outline and LDMD sections.
    pub fn new(stored: StoredDocument, outline: Outline, markup: Markup) -> Self {
        let namespace = namespace::encode(&stored.path);
        Self {
            stored,
            tree: Tree::new(outline),
            markup,
            namespace,
            other_anchors: OnceCell::new(),
            titles: Default::default(),
            anchors: OnceCell::new(),
        }
    }

    /// Returns whether a section has this title, in any case. One call may look up many names, so titles are folded once:
    /// those with a colon apart, because most selectors have a colon and few titles do.
    pub(crate) fn has_title(&self, title: &str) -> bool {
        let has_colon = title.contains(':');
        let [without, with] = &self.titles;
        let titles = if has_colon { with } else { without }.get_or_init(|| {
            let titles = self.tree.outline().sections.iter().flat_map(Section::titles);
            titles.filter(|title| title.contains(':') == has_colon).map(comparable).collect()
        });
        titles.contains(&comparable(title))
    }

    /// Returns the anchors of headings and the ids in titles that are `anchor` in the form of [`comparable`], with their
    /// nodes.
    pub(crate) fn anchors_like(&self, anchor: &str) -> &[(usize, String)] {
        let anchors = self.anchors.get_or_init(|| {
            let outline = self.tree.outline();
            let sections = || outline.sections.iter();
            let of_titles = sections().filter_map(|one| Some((one.node, one.anchor()?)));
            let contained = outline.contained_anchors.iter().map(|c| (c.node, c.anchor.clone()));
            let ids = sections().filter_map(|one| Some((one.node, one.id_in_title()?.to_owned())));
            let mut anchors: HashMap<String, Vec<(usize, String)>> = HashMap::new();
            for (node, anchor) in of_titles.chain(contained).chain(ids) {
                anchors.entry(comparable(&anchor)).or_default().push((node, anchor));
            }
            anchors
        });
        anchors.get(anchor).map_or(&[], Vec::as_slice)
    }

    /// Sets the anchors besides those of headings, from the `html` of the document and its bytes.
    pub(crate) fn set_anchors(&self, html: &[HtmlAnchor], bytes: &[u8]) {
        let html = html.iter().map(|anchor| (anchor.name.clone(), anchor.node));
        let blocks = block_ids(bytes).filter_map(|(id, offset)| {
            let node = self.tree.node_at(offset)?;
            // An id that stands alone is that of the block before it.
            let is_alone = self.tree.node(node).is_some_and(|node| node.bytes.start == offset);
            let before = is_alone.then(|| self.tree.sibling_before(node)).flatten();
            // The text of an item stands for the item.
            let parent = self.tree.node(node)?.parent.filter(|parent| parent + 1 == node);
            let item = parent.filter(|parent| {
                self.tree.node(*parent).is_some_and(|parent| parent.kind == NodeKind::Item)
            });
            let named = before.or(item).unwrap_or(node);
            Some((format!("^{}", std::str::from_utf8(id).ok()?), named))
        });
        drop(self.other_anchors.set(html.chain(blocks).collect()));
    }

    /// Returns the node that `anchor` names, which is not that of a heading; `None` if there is none, or
    /// if these anchors were not set.
    pub(crate) fn other_anchor(&self, anchor: &str) -> Option<usize> {
        let (anchor, anchors) = (comparable(anchor), self.other_anchors.get()?);
        anchors.iter().find(|(name, _)| comparable(name) == anchor).map(|(_, node)| *node)
    }

    /// Reads the outlines of `stored` documents, and their LDMD sections if `has_markup`.
    pub fn read(
        reader: &dyn Reader,
        stored: &[StoredDocument],
        has_markup: bool,
    ) -> Result<Vec<Self>> {
        let outlines = reader.outlines(stored)?;
        let markups = if has_markup { reader.markups(stored)? } else { Vec::new() };
        let markups = markups.into_iter().chain(std::iter::repeat_with(Markup::default));
        let parts = stored.iter().zip(outlines).zip(markups);
        Ok(parts
            .map(|((stored, outline), markup)| Self::new(stored.clone(), outline, markup))
            .collect())
    }

    /// Returns the address of `locator` in this document.
    pub fn address(&self, locator: &str) -> String {
        format!("{}::{locator}", self.namespace)
    }

    /// Returns the primary address of a node.
    pub fn address_of(&self, node: usize) -> String {
        self.address(&self.tree.selector(node))
    }

    /// Returns the address of a section by its slug path, if it has one; else the primary address of the node.
    pub(crate) fn address_of_section(&self, node: usize) -> String {
        match self.tree.section(node).and_then(|_| self.tree.section_path(node)) {
            Some(path) => self.address_of_path(&path),
            None => self.address_of(node),
        }
    }

    /// Returns the address of the section with this slug path, whose first part may be a word of selectors.
    pub(crate) fn address_of_path(&self, path: &str) -> String {
        let slash = if is_selector(path) { "/" } else { "" };
        self.address(&format!("{slash}{path}"))
    }

    /// Returns the primary address of an LDMD section.
    pub fn address_of_ldmd(&self, section: usize) -> String {
        // A question mark would begin the parameters.
        let name = namespace::encode(&self.markup.name(section)).replace('?', "%3F");
        self.address(&format!("ldmd:{name}"))
    }

    /// Returns the span of the whole document.
    pub fn span(&self) -> ByteSpan {
        ByteSpan::new(0, self.tree.outline().bytes)
    }
}
