//! Links: resolves the target of a link to the place that it names.
//!
//! [`resolve()`] follows the rules for the kind of the link (see `mdsel help links`), and asks a
//! [`LinkTargets`] which documents exist. [`sections`] finds anchors and headings in an outline, and [`rewrite`]
//! proposes new targets for links. Pure.
//! Invariant: the result depends only on the documents that exist, not on their order. If
//! several documents match equally, one is chosen only by a rule that is documented here.

#[cfg(test)]
mod fixture;
mod fragment;
mod note;
mod outgoing;
mod path;
mod reference;
mod resolve;
pub mod rewrite;
pub mod sections;
mod site;

pub(crate) use fragment::block_ids;
pub use outgoing::{Kind, NameKind, Outgoing, StoredLink, link_keys, name_key};
pub(crate) use path::{
    file_name, file_stem, folder_of, is_markdown, is_name_of, is_named, join, normalized,
    split_extension, unordered, without_order,
};
pub use resolve::{is_unique_name, resolve, resolve_to_document};
pub use site::SiteRoot;

/// The id of a document in the store.
pub type DocumentId = i64;

/// The document that contains a link.
#[derive(Clone, Copy, Debug)]
pub struct LinkSource<'a> {
    /// The id of the document.
    pub id: DocumentId,
    /// Its path relative to the root, with `/`.
    pub path: &'a str,
}

/// The possible targets of links. Paths are relative to the root, with `/`. Folded texts have the
/// form of [`crate::markdown::slug::fold`].
pub trait LinkTargets {
    /// Returns the document at exactly `path`.
    fn document(&self, path: &str) -> Option<DocumentId>;

    /// Returns the documents, with their paths, whose folded path without extension is `name` or
    /// ends in `/` and `name`.
    fn documents_named(&self, name: &str) -> Vec<(DocumentId, String)>;

    /// Returns the documents whose folded title is `title`.
    fn documents_titled(&self, title: &str) -> Vec<DocumentId>;

    /// Returns the documents whose front matter has the id `id`.
    fn documents_with_id(&self, id: &str) -> Vec<DocumentId>;

    /// Returns the documents with an alias whose folded form is `alias`.
    fn documents_with_alias(&self, alias: &str) -> Vec<DocumentId>;

    /// Returns the node of `document` that `anchor` names: that of a heading, else that of HTML. The anchor has
    /// the form of [`crate::markdown::slug::comparable`].
    fn node_by_anchor(&self, document: DocumentId, anchor: &str) -> Option<usize>;

    /// Returns the node that [`sections::HeadingIndex::node`] finds in `document`.
    fn node_by_headings(
        &self,
        document: DocumentId,
        headings: &[String],
        is_wikilink: bool,
    ) -> Option<usize>;

    /// Returns what exists on disk at `path`.
    fn on_disk(&self, path: &str) -> OnDisk;

    /// Returns the paths of the files on disk whose path is `path` or ends in `/` and `path`,
    /// ignoring case. Returns `None` if the disk could not be searched.
    fn files_ending_in(&self, path: &str) -> Option<Vec<String>>;

    /// Returns the folders in which links that begin with `/` are resolved, in addition to the
    /// root.
    fn site_roots(&self) -> &[SiteRoot];

    /// Returns the documents with numbers that order files or folders in their paths, whose folded path without extension
    /// and without these numbers is `path`.
    fn documents_unordered(&self, _path: &str) -> Vec<DocumentId> {
        Vec::new()
    }

    /// Returns the names of the collections: the first components of the paths of documents that are not below the
    /// root.
    fn collections(&self) -> &[String] {
        &[]
    }

    /// Returns the path of a document. It is asked for only if there are collections.
    fn path_of(&self, _: DocumentId) -> Option<String> {
        None
    }

    /// Returns the path of the document or file to which the relative path `link` of the document at `source` leads on
    /// disk. Returns `None` if that is below no root, or if the path stays below the root of the source.
    fn across(&self, _source: &str, _link: &str) -> Option<String> {
        None
    }

    /// Returns the collection of the document or file at `path`; empty for one below the root.
    fn collection_of<'a>(&self, path: &'a str) -> &'a str {
        let first = path.split_once('/').map_or(path, |(first, _)| first);
        if self.collections().iter().any(|name| name == first) { first } else { "" }
    }

    /// Keeps the documents in the collection of `source`, because only a path leads into another one.
    fn retain_near(&self, source: LinkSource<'_>, documents: &mut Vec<DocumentId>) {
        if !self.collections().is_empty() {
            let here = self.collection_of(source.path);
            documents.retain(|id| {
                self.path_of(*id).is_some_and(|path| self.collection_of(&path) == here)
            });
        }
    }
}

/// What exists on disk at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnDisk {
    /// A file, or anything else that is not a folder.
    File,
    /// A folder.
    Folder,
    /// The path does not exist.
    Missing,
    /// Unknown, because the root does not exist or the path goes through a symbolic link.
    Unknown,
}

/// The target of a link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LinkTarget {
    /// A document, or a section of it.
    Document {
        /// The id of the document.
        id: DocumentId,
        /// Index of the section's node in the outline, or of the root if the anchor is before the
        /// first heading; `None` for the whole document.
        node: Option<usize>,
    },
    /// A file or folder that is not a document.
    Attachment {
        /// Its path relative to the root; for an embed by name, the name as it is written.
        path: String,
        /// Whether it is known to exist on disk.
        is_checked: bool,
    },
    /// A Markdown file that exists on disk but is not in the store, by its path relative to the
    /// root.
    NotInStore(String),
    /// A target outside of the store, named by a URI.
    External,
    /// No target was found.
    Broken {
        /// The reason.
        reason: Reason,
        /// The document, if it was found but its section was not.
        document: Option<DocumentId>,
    },
}

/// The reason why a link is broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reason {
    /// No document or file of this name exists.
    File,
    /// The document has no such anchor or heading.
    Anchor,
    /// The path leads above the root, where no file is read.
    Outside,
    /// The path begins with `/`, does not exist below the root, and no site root covers it.
    Site,
    /// Several documents match equally.
    Ambiguous,
}

impl LinkTarget {
    fn broken(reason: Reason) -> Self {
        Self::Broken { reason, document: None }
    }
}
