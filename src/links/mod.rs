//! Links: from a target as it is written to the place that it names.
//!
//! [`resolve()`] follows the rules for the kind of the link, asking a [`Library`] what there is; how
//! anchors and headings are found in an outline is said by [`sections`]. Pure. Invariant: the answer
//! depends on the library's documents alone, not on their order, and where several documents have
//! the same claim nothing is chosen but by a rule that is written down here.

mod note;
mod outgoing;
mod path;
mod reference;
mod resolve;
pub mod sections;
#[cfg(test)]
mod shelf;

pub use outgoing::{Kind, Link, NameKind, Outgoing, link_keys, name_key};
pub(crate) use path::split_extension;
pub use resolve::resolve;

/// A document, as the store numbers it.
pub type DocumentId = i64;

/// The document in which a link stands.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    /// Its number.
    pub id: DocumentId,
    /// Its path from the root, with `/`.
    pub path: &'a str,
}

/// What there is to link to. Paths are relative to the root, with `/`; folded texts are as
/// [`crate::markdown::slug::fold`] makes them.
pub trait Library {
    /// The document at `path`, exactly.
    fn document(&self, path: &str) -> Option<DocumentId>;

    /// The documents, with their paths, whose folded path without its extension is `name` or ends in
    /// `/` and `name`.
    fn documents_named(&self, name: &str) -> Vec<(DocumentId, String)>;

    /// The documents whose folded title is `title`.
    fn documents_titled(&self, title: &str) -> Vec<DocumentId>;

    /// The documents whose front matter has the id `id`.
    fn documents_with_id(&self, id: &str) -> Vec<DocumentId>;

    /// The documents that have an alias that folds to `alias`.
    fn documents_with_alias(&self, alias: &str) -> Vec<DocumentId>;

    /// What [`sections::by_anchor`] finds in `document`.
    fn node_by_anchor(&self, document: DocumentId, anchor: &str) -> Option<usize>;

    /// What [`sections::by_headings`] finds in `document`.
    fn node_by_headings(&self, document: DocumentId, headings: &[String]) -> Option<usize>;

    /// Whether there is a file at `path` that is no document; `None` where nobody has looked.
    fn file_exists(&self, path: &str) -> Option<bool>;
}

/// What a link leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Resolution {
    /// A document, or a section of it.
    Document {
        /// The document.
        id: DocumentId,
        /// Index in its outline's nodes of the section, or of the root where an anchor before the first
        /// heading was meant; `None` for the document as a whole.
        node: Option<usize>,
    },
    /// A file that is no document, by its path from the root; that of an embed as it is written.
    Attachment(String),
    /// Something outside of the library, by its URI.
    External,
    /// Nothing.
    Broken {
        /// Why.
        reason: Reason,
        /// The document that was found, where only its section was not.
        document: Option<DocumentId>,
    },
}

/// Why a link leads to nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reason {
    /// There is no such document or file.
    File,
    /// The document has no such anchor or heading.
    Anchor,
    /// The path climbs above the root.
    Outside,
    /// Several documents have the same claim.
    Ambiguous,
}

impl Resolution {
    fn broken(reason: Reason) -> Self {
        Self::Broken { reason, document: None }
    }
}
