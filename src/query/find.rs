//! `find`: finds sections by title in all documents.

use std::collections::HashMap;

use schemars::JsonSchema;
use serde::Serialize;

use super::batches::{Candidates, DocumentBatches};
use super::contained_text::ContainedText;
use super::cursor::most;
use super::filter::Filter;
use super::freshness::Freshness;
use super::open_document::OpenDocument;
use super::page::{self, drop_longer, shorten};
use super::warning::CHANGED_FILES;
use super::{Cursor, FilterRequest, List, Outcome, Page, Session};
use crate::error::Result;
use crate::glob::{Glob, Separator, is_glob};
use crate::limits;
use crate::markdown::front_matter;
use crate::markdown::outline::Section;
use crate::markdown::slug::comparable;
use crate::message::{Message, message};
use crate::store::{FrontMatterData, Lookup, StoredDocument};
use crate::visible::quoted;

/// A request for sections.
#[derive(Clone, Debug)]
pub struct FindRequest {
    /// A glob that must match the whole title, or a part of the title as it is.
    pub pattern: String,
    /// A text that the text of the section must contain, if given.
    pub content: Option<String>,
    /// Whether the text of subsections counts as the text of a section.
    pub subtree: bool,
    /// The documents and sections to consider.
    pub filter: FilterRequest,
    /// The maximum number of sections; 0 for all.
    pub limit: usize,
    /// The cursor of the previous answer, if any.
    pub after: Option<Cursor>,
}

/// A section that was found.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct FoundSection {
    /// The path of the document.
    pub file: String,
    /// The slug path; `null` if a title on the path has no slug.
    pub path: Option<String>,
    /// The title as plain text.
    pub title: String,
    /// The level of the heading, 1 to 6; 0 for a document that has this title in its front matter.
    pub level: u8,
    /// The first line, 1-based.
    pub line_start: usize,
    /// The last line including subsections, 1-based and inclusive.
    pub line_end: usize,
    /// Unicode scalars including subsections.
    pub char_count: usize,
    /// The address of the section.
    pub selector: String,
    /// Whether the document contains bytes that are not valid UTF-8.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub lossy: bool,
    /// Whether the file differs from the stored document.
    #[serde(flatten)]
    pub freshness: Freshness,
}

/// The sections that were found, and the documents with this title in their front matter: those with the whole title
/// first, each in the order of documents and then of lines.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct FindAnswer {
    /// The sections of this part of the list.
    pub matches: Vec<FoundSection>,
    /// Warnings, unresolved addresses and the cursor.
    #[serde(flatten)]
    pub page: Page,
    /// What was searched for and what to try next, if nothing was found.
    #[serde(skip)]
    pub advice: Option<Message>,
}

impl FindAnswer {
    /// Adds a match, or skips it while `skip` is not 0. Ends the page and returns `false` if there are `limit` matches
    /// already.
    fn add(
        &mut self,
        skip: &mut usize,
        limit: usize,
        found: impl FnOnce() -> FoundSection,
    ) -> bool {
        if *skip > 0 {
            *skip -= 1;
        } else if self.matches.len() == limit {
            self.page.end(limit);
            return false;
        } else {
            self.matches.push(found());
        }
        true
    }
}

impl List for FindAnswer {
    fn page_mut(&mut self) -> Option<&mut Page> {
        Some(&mut self.page)
    }

    fn messages_mut(&mut self) -> Vec<&mut Message> {
        self.advice.iter_mut().chain(self.page.messages_mut()).collect()
    }

    fn outcome(&self) -> Outcome {
        self.page.outcome_of_list(!self.matches.is_empty())
    }

    fn count(&self) -> usize {
        self.matches.len()
    }

    fn first(&self, count: usize) -> Self {
        match self.matches.get(..count) {
            Some(first) if count < self.matches.len() => {
                Self { matches: first.to_vec(), page: self.page.ended(count), advice: None }
            }
            _ => self.clone(),
        }
    }

    fn sizes_of_first(&self) -> usize {
        let texts = |found: &FoundSection| {
            page::longest([found.title.as_str(), found.path.as_deref().unwrap_or_default()])
        };
        self.matches.first().map_or(0, texts)
    }

    fn cut_first(&mut self, size: usize) -> bool {
        let Some(found) = self.matches.first_mut() else { return false };
        shorten(&mut found.title, size);
        drop_longer(&mut found.path, size);
        true
    }
}

/// A pattern for titles.
enum TitlePattern {
    Contains(String),
    /// A glob, or the text of it as a part of the title, such as `[net]`.
    Whole(Glob, String),
}

impl TitlePattern {
    fn new(pattern: &str) -> Result<Self> {
        let pattern = comparable(pattern);
        if !is_glob(&pattern) {
            return Ok(Self::Contains(pattern));
        }
        let glob = Glob::new(&pattern, Separator::None)?;
        Ok(Self::Whole(glob, pattern))
    }

    fn is_match(&self, title: &str) -> bool {
        let title = comparable(title);
        match self {
            Self::Contains(part) => title.contains(part) || is_function(&title, part),
            Self::Whole(glob, text) => glob.is_match(&title) || title.contains(text),
        }
    }

    /// Whether the pattern is the whole title of the section.
    fn is_whole_title_of(&self, section: &Section) -> bool {
        self.is_whole(&section.title)
    }

    fn is_whole(&self, title: &str) -> bool {
        matches!(self, Self::Contains(text) if comparable(title) == *text)
    }

    fn is_title_of(&self, section: &Section) -> bool {
        // A whole title may be copied from its source.
        let is_source = |title: &str| match self {
            Self::Contains(_) => false,
            Self::Whole(_, text) => comparable(title).contains(text),
        };
        section.searched_titles().any(|title| self.is_match(&title))
            || section.titles().any(is_source)
    }
}

/// Returns whether `title` begins with the name of the function `text`, which ends with `()`, and its parameters.
fn is_function(title: &str, text: &str) -> bool {
    let name = text.strip_suffix("()").filter(|name| !name.is_empty());
    let rest = name.and_then(|name| title.strip_prefix(name));
    rest.is_some_and(|rest| rest.starts_with('('))
}

/// Returns the longest run of characters that each matching title must contain.
fn literal_of(pattern: &str) -> &str {
    // Text in brackets or braces or after a backslash is not analyzed.
    let plain_end = pattern.find(['[', '{', '\\']).unwrap_or(pattern.len());
    let plain = pattern.get(..plain_end).unwrap_or_default();
    // The title of a function has its parameters between the parentheses.
    let plain = plain.strip_suffix(')').filter(|name| name.ends_with('(')).unwrap_or(plain);
    plain.split(['*', '?']).max_by_key(|run| run.len()).unwrap_or_default()
}

/// Finds sections by title.
pub fn find(session: &Session<'_>, request: &FindRequest) -> Result<FindAnswer> {
    let page = Page::beginning(request.after, session.reader.generation());
    let mut result = FindAnswer { matches: Vec::new(), page, advice: None };
    let title = TitlePattern::new(&request.pattern)?;
    let filter = Filter::new(session, &request.filter)?;
    result.page.unresolved_selectors.clone_from(&filter.faults);
    result.page.warnings.extend(filter.warnings.iter().cloned());
    let content = request.content.as_ref();
    let content = content.map(|text| ContainedText::new(session, text)).transpose()?;
    let limit = most(request.limit);
    let literal = literal_of(&request.pattern);
    let mut skip = result.page.part.start();
    let mut candidates = session.reader.with_title_parts(&[literal])?;
    if let Some(content) = &content {
        candidates.retain(|id| content.may_be_in(*id));
    }
    let (whole, are_all) = titled_wholly(session, &title, &candidates)?;
    let is_sorted = request.filter.sort.is_some();
    let titled: Vec<i64> =
        if is_sorted { Vec::new() } else { whole.iter().map(|stored| stored.id).collect() };
    let mut pages = PageTitles { whole, are_all, read: None };
    let order = request.filter.order();
    let batches = |ids, order| -> Result<DocumentBatches<'_>> {
        let candidates = Candidates::Ids(ids);
        let documents = DocumentBatches::new(session, filter.documents.clone(), order, candidates)?;
        Ok(if limit == usize::MAX { documents.at_once() } else { documents })
    };
    let first = if titled.is_empty() { None } else { Some(batches(titled.clone(), None)?) };
    let first = first.into_iter().flatten().map(|stored| (stored, true));
    for (stored, is_whole) in first.chain(batches(candidates, order)?.map(|stored| (stored, false)))
    {
        let stored = stored?;
        let has_whole = titled.binary_search(&stored.id).is_ok();
        let document = session.open(&stored)?;
        let outline = document.tree.outline();
        if is_whole || is_sorted || !are_all && !has_whole {
            let is_titled =
                content.is_none() && !outline.sections.iter().any(|it| title.is_whole_title_of(it));
            let page = if is_titled && filter.takes_document(&document) {
                pages.of(session, &title, &stored)?
            } else {
                None
            };
            if let Some(own) = page
                && !result.add(&mut skip, limit, || found_document(session, &document, own))
            {
                return Ok(result);
            }
        }
        // The bytes of the document, once the text of a section is compared.
        let mut bytes = None;
        for section in &outline.sections {
            let is_other = (has_whole && title.is_whole_title_of(section)) != is_whole;
            if is_other || !title.is_title_of(section) || !filter.takes_section(&document, section)
            {
                continue;
            }
            if let Some(content) = &content {
                let bytes = match &mut bytes {
                    Some(bytes) => bytes,
                    None => bytes.insert(session.content(&document, document.span())?),
                };
                let text = match outline.nodes.get(section.node).filter(|_| request.subtree) {
                    Some(whole) => whole.bytes,
                    None => outline.own_text(section),
                };
                if !content.is_in(text.of(bytes)) {
                    continue;
                }
            }
            if !result.add(&mut skip, limit, || found(session, &document, section)) {
                return Ok(result);
            }
        }
    }
    if result.matches.is_empty() && result.page.part.start() == 0 {
        let empty = filter.empty(session)?;
        if empty.is_none() && !filter.has_unknown() {
            let titled = match content {
                None => titled_document(session, &title, literal, &filter)?,
                Some(_) => None,
            };
            result.advice = Some(advice(request, titled));
        }
        result.page.warnings.extend(empty);
        result.page.warnings.extend(filter.change(session)?);
    }
    Ok(result)
}

/// Returns those of `candidates` that have the whole title or a section with it, by id, and whether these are all. Of a
/// frequent title these are the first ones.
fn titled_wholly(
    session: &Session<'_>,
    title: &TitlePattern,
    candidates: &[i64],
) -> Result<(Vec<StoredDocument>, bool)> {
    let TitlePattern::Contains(text) = title else { return Ok((Vec::new(), true)) };
    if text.is_empty() {
        return Ok((Vec::new(), true));
    }
    let mut titled =
        session.reader.documents(&Lookup::Titles(&[text]), None, limits::MAX_TITLED)?;
    let are_all = titled.len() < limits::MAX_TITLED;
    titled.retain(|stored| candidates.binary_search(&stored.id).is_ok());
    titled.sort_unstable_by_key(|stored| stored.id);
    Ok((titled, are_all))
}

/// The titles in the front matter of the documents that have the whole title or a section with it, which are read
/// together once one is needed.
struct PageTitles {
    whole: Vec<StoredDocument>,
    /// Whether no other document has the whole title.
    are_all: bool,
    read: Option<HashMap<i64, String>>,
}

impl PageTitles {
    /// Returns the title in the front matter of `stored` if it is the whole title that is searched for.
    fn of(
        &mut self,
        session: &Session<'_>,
        title: &TitlePattern,
        stored: &StoredDocument,
    ) -> Result<Option<String>> {
        let own = |values: FrontMatterData| values.as_ref().and_then(front_matter::title);
        if self.whole.binary_search_by_key(&stored.id, |it| it.id).is_err() {
            if self.are_all {
                return Ok(None);
            }
            let own = own(session.reader.front_matter(stored)?);
            return Ok(own.filter(|own| title.is_whole(own)));
        }
        let read = match &mut self.read {
            Some(read) => read,
            None => {
                let values = session.reader.front_matters(&self.whole)?;
                let titles = self.whole.iter().zip(values);
                let titles = titles.filter_map(|(stored, values)| Some((stored.id, own(values)?)));
                self.read.insert(titles.filter(|(_, own)| title.is_whole(own)).collect())
            }
        };
        Ok(read.get(&stored.id).cloned())
    }
}

/// Returns a document that `filter` takes whose title in front matter matches, if one of the first that may have it
/// does.
fn titled_document(
    session: &Session<'_>,
    title: &TitlePattern,
    literal: &str,
    filter: &Filter,
) -> Result<Option<StoredDocument>> {
    let candidates = Candidates::Ids(session.reader.with_title_parts(&[literal])?);
    let documents = DocumentBatches::new(session, filter.documents.clone(), None, candidates)?;
    let documents: Vec<_> = documents.take(limits::LIST_LIMIT).collect::<Result<_>>()?;
    let values = session.reader.front_matters(&documents)?;
    let is_match = |values: &FrontMatterData| {
        let own = values.as_ref().and_then(front_matter::title);
        own.is_some_and(|own| title.is_match(&own))
    };
    let mut all = documents.into_iter().zip(values);
    Ok(all.find(|(_, values)| is_match(values)).map(|(document, _)| document))
}

/// Returns the text for an empty answer: what was searched for and what to try next.
fn advice(request: &FindRequest, titled: Option<StoredDocument>) -> Message {
    let mut pattern = request.pattern.clone();
    shorten(&mut pattern, 60);
    let what = match &request.content {
        Some(content) => {
            format!(
                "has a title that matches {pattern} and {content} in its text",
                pattern = quoted(&pattern),
                content = quoted(&content)
            )
        }
        None => format!("has a title that matches {pattern}", pattern = quoted(&pattern)),
    };
    if let Some(StoredDocument { path, .. }) = titled {
        return message!(
            "No section {}, but the document {} does: `mdsel read {}`.",
            what,
            path,
            path
        );
    }
    let others = if request.filter.is_empty() { "" } else { " without filters," };
    message!(
        "No section {}. Try a part of the title,{} or `mdsel search WORDS`.{}",
        what,
        others,
        Message::from(CHANGED_FILES)
    )
}

fn found_document(session: &Session<'_>, document: &OpenDocument, title: String) -> FoundSection {
    let outline = document.tree.outline();
    FoundSection {
        file: document.stored.path.clone(),
        path: None,
        title,
        level: 0,
        line_start: 1,
        line_end: outline.lines,
        char_count: outline.document.chars,
        selector: document.address("*"),
        lossy: document.stored.is_lossy,
        freshness: session.freshness(&document.stored),
    }
}

fn found(session: &Session<'_>, document: &OpenDocument, section: &Section) -> FoundSection {
    let tree = &document.tree;
    let lines = tree.node(section.node).map(|node| node.lines).unwrap_or_default();
    FoundSection {
        file: document.stored.path.clone(),
        path: tree.section_path(section.node),
        title: section.title.clone(),
        level: section.level,
        line_start: lines.start,
        line_end: lines.end,
        char_count: tree.sections_within(section.node).map(|section| section.own.chars).sum(),
        selector: document.address_of(section.node),
        lossy: document.stored.is_lossy,
        freshness: session.freshness(&document.stored),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn globs_match_whole_titles_and_plain_text_matches_parts() {
        for (pattern, title, expected) in [
            ("auth", "User Authentication", true),
            ("auth*", "User Authentication", false),
            ("*auth*", "User Authentication", true),
            ("AUTH", "authentication", true),
            ("a?c", "ABC", true),
            ("[ab]x", "bx", true),
            ("über", "Über uns", true),
            ("*/*", "a/b", true),
            ("fs.rm()", "fs.rm(path)", true),
            ("fs.rm()", "The method fs.rm()", true),
            ("s.rm()", "fs.rm(path)", false),
            ("[net]", "The [net] section", true),
            ("[net]", "The net section", false),
        ] {
            assert_eq!(TitlePattern::new(pattern).unwrap().is_match(title), expected, "{pattern}");
        }
        assert!(TitlePattern::new("[a").is_err());
    }

    #[test]
    fn the_literal_is_in_every_match() {
        assert_eq!(literal_of("*auth*"), "auth");
        assert_eq!(literal_of("fs.rm()"), "fs.rm(");
        assert_eq!(literal_of("a*configuration?x"), "configuration");
        assert_eq!(literal_of("ab[cd]efgh"), "ab");
        assert_eq!(literal_of("*"), "");
    }
}
