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
mod site;

pub use outgoing::{Kind, Link, NameKind, Outgoing, link_keys, name_key};
pub(crate) use path::split_extension;
pub use resolve::resolve;
pub use site::SiteRoot;

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

    /// What is on disk at `path`.
    fn on_disk(&self, path: &str) -> OnDisk;

    /// The paths of the files on disk whose path is `path` or ends in `/` and `path`, without case; `None`
    /// if it was not possible to look.
    fn files_ending_in(&self, path: &str) -> Option<Vec<String>>;

    /// Where links that begin with `/` lead, besides below the root.
    fn site_roots(&self) -> &[SiteRoot];
}

/// What is on disk at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnDisk {
    /// A file, or anything else that is no folder.
    File,
    /// A folder.
    Folder,
    /// Nothing.
    Missing,
    /// It was not possible to look: the root is not there, or a symbolic link is on the way.
    Unknown,
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
    /// A file or a folder that is no document.
    Attachment {
        /// Its path from the root; that of an embed as it is written.
        path: String,
        /// Whether it is known to be on disk.
        is_checked: bool,
    },
    /// A Markdown file that is on disk and not in the store, by its path from the root.
    NotInStore(String),
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
    /// The path climbs above the root, where nothing is looked at.
    Outside,
    /// The path begins with `/`, is not below the root, and no site root says where it leads.
    Site,
    /// Several documents have the same claim.
    Ambiguous,
}

impl Resolution {
    fn broken(reason: Reason) -> Self {
        Self::Broken { reason, document: None }
    }
}
