//! `toc`: returns the section tree of documents.

use schemars::JsonSchema;
use serde::Serialize;

use super::cursor::most;
use super::document_items::DocumentItems;
use super::filter::Filter;
use super::freshness::Freshness;
use super::listed::ListedDocuments;
use super::open_document::OpenDocument;
use super::page::{self, drop_longer, shorten};
use super::{Cursor, FilterRequest, List, Outcome, Page, Session, document_items, listed};
use crate::error::Result;
use crate::parallel;
use crate::position::ByteSpan;
use crate::store::StoredDocument;

/// Number of documents that one thread lists at a time.
pub(super) const BATCH: usize = 256;

/// A request for section trees.
#[derive(Clone, Debug)]
pub struct TocRequest {
    /// The names of the documents; empty for all.
    pub documents: Vec<String>,
    /// The documents and sections to list.
    pub filter: FilterRequest,
    /// The maximum depth in the tree; 1 for top-level sections only.
    pub depth: Option<usize>,
    /// The deepest heading level to list, 1 to 6.
    pub max_level: Option<u8>,
    /// Whether to return slugs, paths and addresses, and not only titles and lines.
    pub with_addresses: bool,
    /// The maximum number of sections; 0 for all. A document without sections counts as one.
    pub limit: usize,
    /// The cursor of the previous answer, if any.
    pub after: Option<Cursor>,
}

/// A section in the tree.
#[derive(Clone, Debug)]
pub struct TocEntry {
    /// The number of sections of the same document that contain it.
    pub depth: usize,
    /// The properties of the section.
    pub section: TocSection,
}

/// The properties of a section.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct TocSection {
    /// The title as plain text.
    pub title: String,
    /// The slug of the title, without a number.
    pub slug: String,
    /// The level of the heading, 1 to 6.
    pub level: u8,
    /// The first line, 1-based.
    pub line_start: usize,
    /// The last line including subsections, 1-based and inclusive.
    pub line_end: usize,
    /// The last line of its own text, 1-based and inclusive.
    pub own_line_end: usize,
    /// Unicode scalars including subsections.
    pub char_count: usize,
    /// Unicode scalars of its own text.
    pub own_char_count: usize,
    /// The slug path; `null` if a title on the path has no slug.
    pub path: Option<String>,
    /// The GitHub anchor; `null` if the title has none.
    pub anchor: Option<String>,
    /// The address of the section.
    pub selector: String,
    /// The number of descendant sections that are too deep to be listed.
    #[serde(skip_serializing_if = "crate::schema::is_zero")]
    pub omitted_sections: usize,
}

/// The position and size of front matter.
#[derive(Clone, Copy, Debug, JsonSchema, Serialize)]
pub struct FrontMatterSize {
    /// The first line, 1-based.
    pub line_start: usize,
    /// The last line, 1-based: that of the closing delimiter.
    pub line_end: usize,
    /// Unicode scalars including the delimiters.
    pub char_count: usize,
}

/// The sections of one document, in document order.
#[derive(Clone, Debug)]
pub struct File {
    /// The path of the document.
    pub file: String,
    /// The sections, each with its depth.
    pub entries: Vec<TocEntry>,
    /// Whether the document has sections to list. This part of the list may have none of them.
    pub has_entries: bool,
    /// Whether the document has headings.
    pub has_headings: bool,
    /// The number of its lines.
    pub lines: usize,
    /// The front matter, if any.
    pub front_matter: Option<FrontMatterSize>,
    /// The front matter, if it is in this part of the list, and in what was asked for.
    pub listed_front_matter: Option<FrontMatterSize>,
    /// Whether the document contains bytes that are not valid UTF-8.
    pub lossy: bool,
    /// Whether the file differs from the stored document.
    pub freshness: Freshness,
}

/// The section trees of this part of the list.
#[derive(Clone, Debug)]
pub struct TocAnswer {
    /// The tree of each document.
    pub files: Vec<File>,
    /// Whether the request named exactly one document.
    pub is_single: bool,
    /// Whether documents are listed without their sections.
    pub is_shallow: bool,
    /// Whether the request gave the whole path of its only document.
    pub is_path_given: bool,
    /// Warnings, names without a document, and the cursor.
    pub page: Page,
}

impl DocumentItems for File {
    fn items(&self) -> usize {
        self.entries.len()
    }

    fn keep(&mut self, from: usize, to: usize) {
        self.listed_front_matter = self.listed_front_matter.filter(|_| from == 0);
        self.entries.truncate(to);
        self.entries.drain(..from.min(self.entries.len()));
    }
}

impl List for TocAnswer {
    fn page_mut(&mut self) -> Option<&mut Page> {
        Some(&mut self.page)
    }

    fn labeled_files(&self) -> Vec<&str> {
        self.files.iter().map(|file| &*file.file).collect()
    }

    fn outcome(&self) -> Outcome {
        self.page.outcome_of_list(!self.files.is_empty())
    }

    fn count(&self) -> usize {
        document_items::count(&self.files)
    }

    fn first(&self, count: usize) -> Self {
        if count >= self.count() {
            return self.clone();
        }
        let files = document_items::first(&self.files, count);
        Self { files, page: self.page.ended(count), ..*self }
    }

    fn sizes_of_first(&self) -> usize {
        let entries = self.files.first().into_iter().flat_map(|file| &file.entries);
        page::longest(entries.flat_map(|entry| {
            let TocSection { title, path, anchor, .. } = &entry.section;
            [title, path.as_deref().unwrap_or_default(), anchor.as_deref().unwrap_or_default()]
        }))
    }

    fn cut_first(&mut self, size: usize) -> bool {
        let Some(file) = self.files.first_mut() else { return false };
        for TocEntry { section, .. } in &mut file.entries {
            shorten(&mut section.title, size);
            shorten(&mut section.slug, size);
            drop_longer(&mut section.path, size);
            drop_longer(&mut section.anchor, size);
        }
        true
    }
}

/// Lists the section trees of documents.
pub fn toc(session: &Session<'_>, request: &TocRequest) -> Result<TocAnswer> {
    let mut page = Page::beginning(request.after, session.reader.generation());
    let ListedDocuments { documents, faults, is_single, filter } =
        listed::listed(session, &request.documents, &request.filter)?;
    let is_all = most(request.limit) == usize::MAX && page.part.start() == 0;
    let files = if is_all {
        on_all_cores(session, &documents.all()?, request, &filter)?
    } else {
        let file = |stored: &StoredDocument| {
            Ok(sections(session, &*session.open(stored)?, request, &filter))
        };
        document_items::within(
            documents,
            &mut page,
            most(request.limit),
            filter.looks_inside(),
            |stored| Ok(file(stored)?.items()),
            file,
        )?
    };
    page.unresolved_selectors = faults;
    page.warnings.extend(filter.warnings.iter().cloned());
    if files.is_empty() && page.part.start() == 0 && page.unresolved_selectors.is_empty() {
        page.warnings.extend(filter.no_section(&request.documents, &request.filter));
    }
    let is_path = |path: &str| request.documents.iter().any(|name| name.starts_with(path));
    let is_path_given = is_single && files.first().is_some_and(|file| is_path(&file.file));
    let is_shallow = request.depth == Some(0);
    Ok(TocAnswer { files, is_single, is_shallow, is_path_given, page })
}

/// Returns the trees of all `documents`.
fn on_all_cores(
    session: &Session<'_>,
    documents: &[StoredDocument],
    request: &TocRequest,
    filter: &Filter,
) -> Result<Vec<File>> {
    let (reader, cancellation) = (session.reader, session.cancellation());
    // Reading and passing on documents one by one would take longer than building their trees.
    let batches: Vec<&[StoredDocument]> = documents.chunks(BATCH).collect();
    let trees = parallel::map(&batches, |batch| -> Result<Vec<File>> {
        let session = Session::of_call(reader, cancellation.clone());
        let open = session.open_all(batch)?;
        let files = open.iter().map(|document| sections(&session, document, request, filter));
        Ok(files.filter(|file| !filter.looks_inside() || file.items() > 0).collect())
    });
    let mut files = Vec::with_capacity(documents.len());
    for batch in trees {
        files.extend(batch?);
    }
    Ok(files)
}

fn sections(
    session: &Session<'_>,
    document: &OpenDocument,
    request: &TocRequest,
    filter: &Filter,
) -> File {
    let tree = &document.tree;
    let outline = tree.outline();
    // Characters of each section including subsections, which come after it in the list.
    let mut totals: Vec<usize> = outline.sections.iter().map(|section| section.own.chars).collect();
    for (index, section) in outline.sections.iter().enumerate().rev() {
        let total = totals.get(index).copied().unwrap_or(0);
        if let Some(parent) = tree.parent_section(section.node)
            && let Some(above) = totals.get_mut(parent)
        {
            *above += total;
        }
    }
    let if_wanted =
        |make: &dyn Fn() -> String| if request.with_addresses { make() } else { String::new() };
    let mut paths: Vec<Option<String>> = Vec::with_capacity(outline.sections.len());
    let mut depths: Vec<usize> = Vec::with_capacity(outline.sections.len());
    let mut entries = Vec::new();
    for (index, section) in outline.sections.iter().enumerate() {
        let parent = tree.parent_section(section.node);
        let part = if request.with_addresses { section.path_part() } else { None };
        let path = match parent {
            None => part,
            Some(parent) => match (paths.get(parent).and_then(Option::as_ref), part) {
                (Some(above), Some(part)) => Some(format!("{above}/{part}")),
                _ => None,
            },
        };
        let depth = parent.and_then(|parent| depths.get(parent)).map_or(0, |depth| depth + 1);
        paths.push(path.clone());
        depths.push(depth);
        if request.depth.is_some_and(|most| depth >= most)
            || request.max_level.is_some_and(|most| section.level > most)
        {
            // Count it for the last listed section, if it is a descendant of that section.
            let above = entries.last_mut().filter(|last: &&mut TocEntry| last.depth < depth);
            if let Some(above) = above {
                above.section.omitted_sections += 1;
            }
            continue;
        }
        if !filter.takes_section(document, section) {
            continue;
        }
        let Some(node) = tree.node(section.node) else { continue };
        // The own text of a section ends where the next section begins.
        let own_line_end = outline
            .sections
            .get(index + 1)
            .and_then(|next| tree.node(next.node))
            .map_or(node.lines.end, |next| node.lines.end.min(next.lines.start - 1));
        entries.push(TocEntry {
            depth,
            section: TocSection {
                title: section.title.clone(),
                slug: if_wanted(&|| section.slug().into_owned()),
                level: section.level,
                line_start: node.lines.start,
                line_end: node.lines.end,
                own_line_end,
                char_count: totals.get(index).copied().unwrap_or(0),
                own_char_count: section.own.chars,
                path,
                anchor: if request.with_addresses { section.anchor() } else { None },
                selector: if_wanted(&|| document.address_of(section.node)),
                omitted_sections: 0,
            },
        });
    }
    let front_matter = outline.front_matter.map(|_| FrontMatterSize {
        line_start: 1,
        line_end: outline.nodes.first().map_or(1, |root| root.lines.start - 1),
        char_count: outline.document.chars
            - outline.root.chars
            - outline.sections.iter().map(|section| section.own.chars).sum::<usize>()
            - usize::from(outline.start() > 0),
    });
    let start = ByteSpan::new(outline.start(), outline.start());
    File {
        file: document.stored.path.clone(),
        has_entries: !entries.is_empty(),
        has_headings: !outline.sections.is_empty(),
        lines: outline.lines,
        entries,
        front_matter,
        listed_front_matter: front_matter.filter(|_| filter.is_under(&document.stored, start)),
        lossy: document.stored.is_lossy,
        freshness: session.freshness(&document.stored),
    }
}
