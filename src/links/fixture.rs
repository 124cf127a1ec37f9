//! A few documents as the targets of links, for tests.

use std::cell::Cell;

use super::path::{split_extension, unordered};
use super::{
    DocumentId, Kind, LinkSource, LinkTarget, LinkTargets, OnDisk, Outgoing, Reason, SiteRoot,
    StoredLink, link_keys, resolve,
    sections::{self, AnchorIndex},
};
use crate::ldmd::Markup;
use crate::markdown::slug::fold;
use crate::markdown::{self, Document};

/// The documents by path. The index of a document is its id.
pub(super) struct Fixture {
    documents: Vec<(String, Document)>,
    sites: Vec<SiteRoot>,
    /// The number of paths that were looked up on disk.
    pub(super) lookups: Cell<usize>,
}

/// What exists on disk besides the documents.
const DISK: [(&str, OnDisk); 6] = [
    ("known/LICENSE", OnDisk::File),
    ("known/src", OnDisk::Folder),
    ("known/100%.txt", OnDisk::File),
    ("docs/img/a b.png", OnDisk::File),
    ("vault/files/Pic.png", OnDisk::File),
    ("known/ignored.md", OnDisk::File),
];

impl Fixture {
    pub(super) fn new(documents: &[(&str, &str)]) -> Self {
        let parse = |text: &str| markdown::parse(text.as_bytes());
        let documents = documents.iter().map(|(path, text)| ((*path).to_owned(), parse(text)));
        Self { documents: documents.collect(), sites: Vec::new(), lookups: Cell::default() }
    }

    /// Returns the fixture with folders that are served as parts of web sites, each at a path.
    pub(super) fn with_sites(mut self, sites: &[(&str, &str)]) -> Self {
        let site = |(folder, prefix): &(&str, &str)| SiteRoot {
            folder: (*folder).to_owned(),
            prefix: (*prefix).to_owned(),
        };
        self.sites = sites.iter().map(site).collect();
        self
    }

    fn which(&self, is_it: impl Fn(&str, &Document) -> bool) -> Vec<DocumentId> {
        let numbered = (0..).zip(&self.documents);
        numbered.filter(|(_, (path, document))| is_it(path, document)).map(|(id, _)| id).collect()
    }

    fn with(&self, key: &str, value: &str) -> Vec<DocumentId> {
        self.which(|_, document| {
            let found = document.front_matter.as_ref().and_then(|front| front.get(key));
            found.and_then(|found| found.as_str()).is_some_and(|found| fold(found) == value)
        })
    }

    fn at(&self, id: DocumentId) -> &(String, Document) {
        &self.documents[usize::try_from(id).unwrap()]
    }

    /// Resolves a link. Returns a path, and `#` and the title of the section if any, or the reason
    /// why it is broken. Asserts that the link has a key of the document to which it leads.
    pub(super) fn find(&self, source: &str, kind: &Kind, target: &str) -> String {
        let id = self.document(source).unwrap();
        match resolve(self, LinkSource { id, path: source }, kind, target) {
            LinkTarget::Document { id, node } => {
                let (path, document) = self.at(id);
                if path != source {
                    let link =
                        StoredLink { kind: kind.clone(), target: target.to_owned(), line: 1 };
                    let keys = link_keys(source, &link);
                    let outgoing = Outgoing::of(document, &Markup::default());
                    let wanted = outgoing.target_keys(path, &self.sites);
                    assert!(wanted.iter().any(|key| keys.contains(key)), "{target}: {path}");
                }
                let sections = &document.outline.sections;
                let section = sections.iter().find(|section| Some(section.node) == node);
                section.map_or_else(|| path.clone(), |found| format!("{path}#{}", found.title))
            }
            LinkTarget::Attachment { path, is_checked: true } => format!("file {path}"),
            LinkTarget::Attachment { path, is_checked: false } => format!("unchecked {path}"),
            LinkTarget::NotInStore(path) => format!("left out {path}"),
            LinkTarget::External => "external".to_owned(),
            LinkTarget::Broken { reason, document } => {
                assert_eq!(document.is_some(), reason == Reason::Anchor);
                format!("{reason:?}")
            }
        }
    }
}

impl LinkTargets for Fixture {
    fn document(&self, path: &str) -> Option<DocumentId> {
        self.which(|other, _| other == path).first().copied()
    }

    fn documents_named(&self, name: &str) -> Vec<(DocumentId, String)> {
        let has_name = |path: &str| {
            let folded = fold(split_extension(path).0);
            folded == name || folded.ends_with(&format!("/{name}"))
        };
        let ids = self.which(|path, _| has_name(path));
        ids.into_iter().map(|id| (id, self.at(id).0.clone())).collect()
    }

    fn documents_titled(&self, title: &str) -> Vec<DocumentId> {
        self.with("title", title)
    }

    fn documents_with_id(&self, id: &str) -> Vec<DocumentId> {
        self.with("id", id)
    }

    fn documents_with_alias(&self, alias: &str) -> Vec<DocumentId> {
        self.with("alias", alias)
    }

    fn documents_unordered(&self, path: &str) -> Vec<DocumentId> {
        self.which(|other, _| unordered(other) == path && fold(split_extension(other).0) != path)
    }

    fn node_by_anchor(&self, document: DocumentId, anchor: &str) -> Option<usize> {
        let (_, document) = self.at(document);
        let headings = AnchorIndex::of_headings(&document.outline).node(anchor);
        headings.or_else(|| AnchorIndex::of_html(&document.html_anchors).node(anchor))
    }

    fn node_by_headings(
        &self,
        document: DocumentId,
        headings: &[String],
        is_wikilink: bool,
    ) -> Option<usize> {
        let outline = &self.at(document).1.outline;
        sections::HeadingIndex::of(outline).node(outline, headings, is_wikilink)
    }

    fn on_disk(&self, path: &str) -> OnDisk {
        self.lookups.update(|count| count + 1);
        let state = DISK.iter().find(|(other, _)| *other == path).map(|(_, state)| *state);
        let is_unknown = path.starts_with("unknown/");
        state.unwrap_or(if is_unknown { OnDisk::Unknown } else { OnDisk::Missing })
    }

    fn files_ending_in(&self, path: &str) -> Option<Vec<String>> {
        let has_it =
            |other: &str| format!("/{}", fold(other)).ends_with(&format!("/{}", fold(path)));
        Some(DISK.iter().map(|(other, _)| (*other).to_owned()).filter(|o| has_it(o)).collect())
    }

    fn site_roots(&self) -> &[SiteRoot] {
        &self.sites
    }
}

/// A document with several kinds of headings.
pub(super) const GUIDE: &str =
    "# Guide\n\n## Set up\n\n### Über ⚙\u{FE0F} uns\n\n## Set up\n\n<a name=old></a>x\n";
