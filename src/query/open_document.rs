//! A document with its structure, as it is stored.
//!
//! Invariant: an address that it returns names a place in this version of the document.

use crate::address::{Tree, namespace};
use crate::error::Result;
use crate::ldmd::Markup;
use crate::markdown::outline::Outline;
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
}

impl OpenDocument {
    /// Returns a document with the given outline and LDMD sections.
    pub fn new(stored: StoredDocument, outline: Outline, markup: Markup) -> Self {
        let namespace = namespace::encode(&stored.path);
        Self { stored, tree: Tree::new(outline), markup, namespace }
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
