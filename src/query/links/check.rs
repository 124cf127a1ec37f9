//! `links check`: lists the links without a target, and the links that cannot be checked.
//!
//! Invariant: a target that several links of a line have is listed once. Broken links come before those that were not
//! checked.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use super::all_documents::AllDocuments;
use super::graph::{Destination, Graph, visit_sources};
use super::{EdgeFilter, Session};
use crate::address::suggest::most_similar;
use crate::error::Result;
use crate::limits;
use crate::links::rewrite::{NewTarget, candidates};
use crate::links::{Kind, OnDisk, Reason, StoredLink, file_name, folder_of};
use crate::markdown::outline::Section;
use crate::message::{Message, message};
use crate::percent::percent_decode;
use crate::position::LineIndex;
use crate::query::finding::{Finding, Findings, UNCHECKED};
use crate::query::listed::ListedDocuments;
use crate::query::missing_document::INGEST_ADDS;
use crate::query::open_document::OpenDocument;
use crate::query::{Cursor, FilterRequest, listed};
use crate::store::{Lookup, StoredDocument};
use crate::visible::quoted;

/// Lists the broken links, and then those that were not checked, of the documents of those names, or of all documents if
/// there are no names. The filter must admit the document and the line of the link.
pub fn check(
    session: &Session<'_>,
    names: &[String],
    filter: &FilterRequest,
    after: Option<Cursor>,
) -> Result<Findings> {
    let ListedDocuments { documents, faults, filter, .. } = listed::listed(session, names, filter)?;
    let documents = documents.all()?;
    // Most targets of few documents are not among them. To ask the store for each takes less time than to read all.
    let asks_most = documents.len() * 2 >= session.reader.totals()?.documents;
    let all = asks_most.then(|| AllDocuments::read(session.reader)).transpose()?;
    let mut graph = Graph::new(session, EdgeFilter::default());
    if let Some(all) = &all {
        graph = graph.among(all);
    }
    let mut hints = Hints {
        session,
        graph: &graph,
        files: HashMap::new(),
        anchors: HashMap::new(),
        compared: 0,
    };
    let mut findings = Vec::new();
    visit_sources(
        session,
        &documents,
        |_, _| true,
        |document, links| {
            let index = if filter.looks_inside() {
                Some(LineIndex::new(&session.content(document, document.span())?))
            } else {
                None
            };
            let takes_line = |line: usize| {
                index.as_ref().is_none_or(|index| filter.takes_line(document, index, line))
            };
            graph
                .open_targets_of(&document.stored, links.iter().filter(|link| link.names_part()))?;
            let mut known = HashSet::new();
            for link in &links {
                if !known.insert((link.line, link.shown_target())) || !takes_line(link.line) {
                    continue;
                }
                let Some(to) = graph.follow_into(document, link)? else { continue };
                if let Some((code, message)) = problem(session, link, &to)? {
                    findings.push(Finding {
                        code,
                        message: message!(
                            "{}: {}",
                            quoted(&link.shown_target()).to_string(),
                            message
                        ),
                        file: Some(document.stored.path.clone()),
                        line: Some(link.line),
                        hint: hints.of(document, link, &to)?,
                    });
                }
            }
            Ok(())
        },
    )?;
    // Of a website most links may be unchecked.
    findings.sort_by_key(|finding| finding.code == UNCHECKED);
    let generation = session.reader.generation();
    let mut findings = Findings::new(findings, faults, after, generation);
    findings.page.warnings.extend(filter.warnings);
    findings.page.warnings.extend(session.warning_of_changes(&documents, Session::INGEST_UPDATES));
    Ok(findings)
}

/// Returns the code and the description of the problem with a link to `to`, or `None` if the link works.
fn problem(
    session: &Session<'_>,
    link: &StoredLink,
    to: &Destination,
) -> Result<Option<(&'static str, Message)>> {
    let reason = match to {
        Destination::Place(_) | Destination::Attachment { is_checked: true, .. } => {
            return Ok(None);
        }
        Destination::Attachment { path, .. } => {
            let why = match session.disk().at(&session.roots.of(path).0.name) {
                OnDisk::Folder if !session.has_files(path)? => "the documents have no files here",
                OnDisk::Folder => "its path has a symbolic link or cannot be read",
                _ => "the root of the store is not on this disk",
            };
            return Ok(Some((UNCHECKED, message!("{} was not checked: {}", path, why))));
        }
        Destination::NotInStore(path) => {
            let why = why_left_out(session, path);
            let why = why.unwrap_or_else(|| "it has not been ingested yet".into());
            return Ok(Some(("NOT_IN_STORE", message!("{} is not in the store: {}", path, why))));
        }
        // Several generators replace this by a table of contents.
        Destination::Broken(Reason::File)
            if link.kind == Kind::Wikilink
                && ["toc", "_toc_"].iter().any(|toc| link.target.eq_ignore_ascii_case(toc)) =>
        {
            return Ok(None);
        }
        Destination::Broken(reason) => reason,
    };
    let (code, what) = match reason {
        Reason::File if link.target.starts_with('/') => {
            ("BROKEN_FILE", "no such file or document below the root or a site root")
        }
        Reason::File => ("BROKEN_FILE", "no such file or document"),
        Reason::Anchor => ("BROKEN_ANCHOR", "the document has no such section or anchor"),
        Reason::Ambiguous => ("BROKEN_AMBIGUOUS", "several documents have this name"),
        Reason::Outside => {
            (UNCHECKED, "it leads out of the root, where mdsel does not check files")
        }
        Reason::Site => {
            (UNCHECKED, "it is not below the root, and the store has no site root for it")
        }
    };
    Ok(Some((code, what.into())))
}

/// Returns why an ingest excludes the Markdown file at `path`, or `None` if it does not.
fn why_left_out(session: &Session<'_>, path: &str) -> Option<Message> {
    session.roots.left_out(&session.reader.facts().own_files, path)
}

/// The first document whose path has an ending, if any, and whether there are more.
type Ending = (Option<StoredDocument>, bool);

/// Finds the targets that may have been meant.
struct Hints<'a> {
    session: &'a Session<'a>,
    graph: &'a Graph<'a>,
    /// Documents by collection and end of their path without extension, so a target that many links get wrong is looked
    /// up once.
    files: HashMap<(String, String), Ending>,
    /// Similar anchors by document and missing anchor, with the syntax of the link.
    anchors: HashMap<(i64, Kind, String), Option<String>>,
    /// The number of names compared with missing anchors, up to [`limits::MAX_ANCHORS_COMPARED`].
    compared: usize,
}

impl Hints<'_> {
    fn of(
        &mut self,
        document: &Rc<OpenDocument>,
        link: &StoredLink,
        to: &Destination,
    ) -> Result<Option<Message>> {
        Ok(match to {
            Destination::Broken(Reason::File) => self.file(document, link)?.map(Message::from),
            Destination::Broken(Reason::Anchor) => {
                let mark = if link.kind.ldmd_section().is_some() { "" } else { "#" };
                let similar = self.anchor(document, link)?;
                similar.map(|name| format!("did you mean {mark}{name}?").into())
            }
            Destination::Broken(Reason::Site) => {
                let hint = self.file(document, link)?.map(Message::from);
                Some(hint.unwrap_or_else(|| {
                    let collection = match self.collection_of(document) {
                        "" => "".into(),
                        name => message!("--collection {}", name),
                    };
                    message!(
                        "set the folder of the website: `mdsel ingest {} --site-root FOLDER`",
                        collection
                    )
                }))
            }
            Destination::NotInStore(path) => {
                why_left_out(self.session, path).is_none().then(|| INGEST_ADDS.into())
            }
            _ => None,
        })
    }

    /// Returns the name of the collection of a document; empty if it is below the root.
    fn collection_of(&self, document: &OpenDocument) -> &str {
        &self.session.roots.of(&document.stored.path).0.name
    }

    /// Returns the target in the style of the link that leads to the document that may have been meant, if any.
    fn file(&mut self, document: &Rc<OpenDocument>, link: &StoredLink) -> Result<Option<String>> {
        let Some(meant) = self.named_like(document, &link.target)? else { return Ok(None) };
        let (stored, sites) = (&document.stored, &self.session.link_roots);
        let to = NewTarget { path: &meant.path, ..NewTarget::default() };
        let (name, part) = link.target.split_at(link.target.find('#').unwrap_or(link.target.len()));
        let link = StoredLink { target: name.to_owned(), ..link.clone() };
        for target in candidates(&link, folder_of(&stored.path), &to, sites) {
            let link = StoredLink { target, ..link.clone() };
            if self.graph.linked_document(stored, &link)? == Some(meant.id) {
                let whole = StoredLink { target: format!("{}{part}", link.target), ..link.clone() };
                let part = if part.is_empty() || self.leads_to_place(document, &whole)? {
                    part.to_owned()
                } else {
                    // That document may lack it.
                    let similar = self.anchor(document, &whole)?;
                    similar.map_or_else(String::new, |name| format!("#{name}"))
                };
                return Ok(Some(format!("did you mean {}{part}?", link.shown_target())));
            }
        }
        Ok(None)
    }

    /// Returns the only document of the same collection that has the file name of the target; if several have it, the
    /// only one in a folder with the name that the target has, too.
    fn named_like(
        &mut self,
        document: &OpenDocument,
        target: &str,
    ) -> Result<Option<StoredDocument>> {
        let path = percent_decode(target.split(['#', '?']).next().unwrap_or(target));
        let path = path.trim_end_matches('/');
        let name = file_name(path);
        let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
        if stem.is_empty() {
            return Ok(None);
        }
        let (first, is_several) = self.with_ending(document, stem)?;
        let folder = path.rsplit('/').nth(1).filter(|folder| !["", ".", ".."].contains(folder));
        match folder.filter(|_| is_several) {
            Some(folder) => {
                let (first, is_several) =
                    self.with_ending(document, &format!("{folder}/{stem}"))?;
                Ok(first.filter(|_| !is_several))
            }
            None => Ok(first.filter(|_| !is_several)),
        }
    }

    /// Returns the first document of the same collection whose path without extension ends with these components, and
    /// whether there are more.
    fn with_ending(&mut self, document: &OpenDocument, ending: &str) -> Result<Ending> {
        let key = (self.collection_of(document).to_owned(), ending.to_owned());
        if let Some(known) = self.files.get(&key) {
            return Ok(known.clone());
        }
        let named = self.session.reader.all(&Lookup::Names(&[ending]))?.into_iter();
        let mut named = named.filter(|found| self.session.roots.of(&found.path).0.name == key.0);
        let found = (named.next(), named.next().is_some());
        self.files.insert(key, found.clone());
        Ok(found)
    }

    fn leads_to_place(&self, document: &Rc<OpenDocument>, link: &StoredLink) -> Result<bool> {
        Ok(matches!(self.graph.follow_into(document, link)?, Some(Destination::Place(_))))
    }

    /// Returns the anchor that is most similar to the missing one, in the document to which the link leads.
    fn anchor(&mut self, document: &Rc<OpenDocument>, link: &StoredLink) -> Result<Option<String>> {
        let fragment = || link.target.rsplit_once('#').map(|(_, fragment)| fragment);
        let Some(wanted) = link.kind.ldmd_section().or_else(fragment) else { return Ok(None) };
        let Some(target) = self.graph.document_of_anchor(document, link)? else { return Ok(None) };
        let key = (target.stored.id, link.kind.clone(), wanted.to_owned());
        if let Some(known) = self.anchors.get(&key) {
            return Ok(known.clone());
        }
        if wanted.starts_with('^') || self.compared >= limits::MAX_ANCHORS_COMPARED {
            return Ok(None);
        }
        let names = names_of_places(&target, &link.kind);
        self.compared += names.len();
        let similar = most_similar(&percent_decode(wanted), names);
        let mut found = None;
        for name in similar {
            // A title may have characters that end a target.
            let target = link.target.strip_suffix(wanted).unwrap_or_default();
            let there = StoredLink { target: format!("{target}{name}"), ..link.clone() };
            if link.kind.ldmd_section().is_some() || self.leads_to_place(document, &there)? {
                found = Some(name);
                break;
            }
        }
        self.anchors.insert(key, found.clone());
        Ok(found)
    }
}

/// Returns the names by which a link of this kind can name places in a document: ids of LDMD sections and anchors,
/// titles, or anchors.
fn names_of_places(document: &OpenDocument, kind: &Kind) -> Vec<String> {
    let most = limits::MAX_SECTIONS_COMPARED;
    let sections = document.tree.outline().sections.iter().take(most);
    match kind {
        Kind::Wikilink | Kind::Embed | Kind::Typed(_) => {
            sections.map(|section| section.title.clone()).collect()
        }
        Kind::Ldmd(_) => {
            let markup = &document.markup;
            let ids = (0..markup.sections.len()).take(most).map(|index| markup.name(index));
            ids.chain(sections.filter_map(Section::link_anchor)).collect()
        }
        _ => sections.filter_map(Section::link_anchor).collect(),
    }
}
