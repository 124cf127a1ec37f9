//! Scores sections by the index and by their passages, and sorts them.
//!
//! Invariant: a fixed number of the best sections is sorted again by how much of the question their
//! passages cover, so the order does not depend on the number of hits requested. Sections with nearly
//! the same text are folded into one.

use std::cell::OnceCell;
use std::collections::HashMap;
use std::ops::Deref;
use std::rc::Rc;

use super::candidates::RankedCandidate;
use super::edition::{are_editions, are_versions, is_preferred};
use super::hit::ScoreParts;
use super::link_list::is_link_list;
use super::question::{BELOW_BYTES, IsWanted, Pieces, SectionText, WeightedTerms};
use super::{Query, Search};
use crate::address::FRONT_MATTER_PLACE;
use crate::decoding;
use crate::error::Result;
use crate::links::file_name;
use crate::markdown::front_matter;
use crate::markdown::outline::{BlockType, Node, NodeKind, Outline};
use crate::parallel;
use crate::position::{ByteSpan, LineIndex};
use crate::query::open_document::OpenDocument;
use crate::store::{FrontMatterData, StoredDocument};
use crate::terms::{Fingerprint, has_same_numbers, is_near, is_similar};

/// Number of best sections that are sorted again by how much of the question their passages cover.
pub(super) const REORDERED: usize = 24;
/// Score of a section with a piece that covers the whole question; the best score of the index counts 1.
const COVERAGE: f32 = 3.0;
/// Factor on the score of a section in another language than the question.
const FOREIGN: f32 = 0.8;
/// Factor on the score of a section that is a list of links: the answer is in the linked documents.
const LINKS: f32 = 0.8;
/// A second thread searches at least this many bytes.
const MANY_BYTES: usize = if cfg!(test) { 1 } else { 8 << 10 };
/// Maximum size in bytes of the cached documents. Documents with about as many more bytes are searched together.
const CACHE_BYTES: usize = 16 << 20;

/// Candidates with nearly the same text, the one that is shown first.
pub(super) type Group<'a> = Vec<&'a RankedCandidate>;

/// The text of a section.
pub(super) struct ScoredText {
    pub(super) document: Rc<OpenDocument>,
    /// The span of its own text, with the heading.
    pub(super) own: ByteSpan,
    /// The byte offset after its heading.
    pub(super) body: usize,
    /// The byte offset after its subsections.
    pub(super) end: usize,
    pub(super) titles: String,
    pub(super) is_front_matter: bool,
}

/// A candidate with its text and its score.
pub(super) struct ScoredSection<'a> {
    pub(super) candidate: &'a RankedCandidate,
    pub(super) section: ScoredText,
    /// The first word of the query on its best line.
    pub(super) span: ByteSpan,
    pub(super) pieces: Pieces,
    pub(super) parts: ScoreParts,
    /// The addresses of sections with nearly the same text.
    pub(super) duplicates: Vec<String>,
    /// The fingerprint of its own text, or of its subsections if it has no own text.
    fingerprint: u64,
}

/// A candidate whose text was read, before it is scored.
struct ReadSection<'a> {
    candidate: &'a RankedCandidate,
    section: ScoredText,
    text: Rc<DocumentText>,
    /// The titles of the section, and the title in front matter.
    all_titles: String,
}

/// What is found in the text of a section.
struct Findings {
    /// The first word of the query on its best line.
    span: ByteSpan,
    pieces: Pieces,
    /// The fingerprint of its own text, or of its subsections if it has no own text.
    fingerprint: u64,
}

/// What is needed to search a section. It can be sent to another thread.
struct SectionView<'a> {
    /// The file.
    bytes: &'a [u8],
    outline: &'a Outline,
    own: ByteSpan,
    body: usize,
    end: usize,
    titles: &'a str,
    is_front_matter: bool,
    /// The fingerprint of its own text in the index; 0 if it has none.
    fingerprint: u64,
}

impl<'a> ReadSection<'a> {
    fn view(&self) -> SectionView<'_> {
        let ScoredText { own, body, end, is_front_matter, .. } = self.section;
        SectionView {
            bytes: &self.text,
            outline: self.section.document.tree.outline(),
            own,
            body,
            end,
            titles: &self.all_titles,
            is_front_matter,
            fingerprint: self.candidate.found.fingerprint,
        }
    }

    fn with(self, found: Findings) -> ScoredSection<'a> {
        let Self { candidate, section, .. } = self;
        let Findings { span, pieces, fingerprint } = found;
        let (parts, duplicates) = (ScoreParts::default(), Vec::new());
        ScoredSection { candidate, section, span, pieces, parts, duplicates, fingerprint }
    }
}

impl SectionView<'_> {
    /// Searches the section. Only lines that `is_wanted` accepts are in its pieces. Returns `None` if `is_taken` accepts no
    /// word of the question. If `is_taken` is not set, the words may also be in the titles or the path alone.
    fn findings(
        &self,
        question: &WeightedTerms<'_>,
        is_taken: IsWanted<'_>,
        is_wanted: IsWanted<'_>,
    ) -> Option<Findings> {
        let Self { bytes, outline, own, body, end, titles, .. } = *self;
        let occurrences = question.highlighter.occurrences(bytes, own);
        let takes = |span| is_taken.is_none_or(|is_taken| is_taken(span));
        let best = question.highlighter.best(bytes, own, &occurrences, takes);
        let start = || is_taken.is_none().then_some(ByteSpan::new(own.start, own.start));
        let span = best.or_else(start)?;
        let pieces = if self.is_front_matter {
            question.front_matter(bytes, own, first_paragraph(outline), titles, is_wanted)
        } else {
            let own = ByteSpan::new(body, own.end.max(body));
            let occurrences = &*occurrences;
            let text = SectionText { bytes, outline, own, end, titles, occurrences };
            question.pieces(&text, is_wanted)
        };
        let fingerprint = match self.fingerprint {
            0 => {
                let end = end.min(body + BELOW_BYTES);
                let mut below = Fingerprint::new();
                below.add(&decoding::text(bytes.get(body..end).unwrap_or_default()));
                below.finish()
            }
            of_own_text => of_own_text,
        };
        Some(Findings { span, pieces, fingerprint })
    }
}

impl Search<'_> {
    /// Groups the best candidates by nearly equal text, without those in which the filter accepts no block, which
    /// not every store leaves out. Returns the groups and the remaining candidates.
    pub(super) fn distinct<'a>(
        &self,
        candidates: &'a [RankedCandidate],
    ) -> Result<(Vec<Group<'a>>, &'a [RankedCandidate])> {
        // A filter inside documents may accept another section of a group than the best.
        let folds = !self.request.keeps_duplicates && !self.filter.looks_inside();
        let mut groups: Vec<Group<'a>> = Vec::with_capacity(REORDERED);
        let has_types = !self.filter.types.is_empty();
        let queries = self.wordings();
        for (index, candidate) in candidates.iter().enumerate() {
            if has_types && index % REORDERED == 0 {
                let next = candidates.iter().skip(index).take(REORDERED);
                self.session.open_together(next.map(|candidate| &*candidate.document))?;
            }
            let firsts = groups.iter().filter(|_| folds).filter_map(|group| group.first().copied());
            let twin = self.twin_among(firsts, candidate)?;
            if let Some(group) = twin.and_then(|twin| groups.get_mut(twin)) {
                group.push(candidate);
                show_preferred_edition(group, queries);
            } else if groups.len() == REORDERED {
                return Ok((groups, candidates.get(index..).unwrap_or_default()));
            } else if !has_types || self.section(candidate)?.is_some() {
                groups.push(vec![candidate]);
            }
        }
        Ok((groups, &[]))
    }

    /// Returns the best candidates, sorted by score and coverage, one for each group of nearly equal
    /// text.
    pub(super) fn reordered<'a>(
        &self,
        groups: &[Group<'a>],
        best: f32,
        question: &WeightedTerms<'_>,
        texts: &mut DocumentTexts<'_>,
    ) -> Result<Vec<ScoredSection<'a>>> {
        let members = groups.iter().flatten().map(|candidate| &*candidate.document);
        self.session.open_together(members)?;
        let heads = groups.iter().filter_map(|group| group.first());
        texts.read_together(heads.map(|candidate| &*candidate.document))?;
        let mut scored = Vec::with_capacity(groups.len());
        let mut twins_of = Vec::with_capacity(groups.len());
        let (mut read, mut size) = (Vec::new(), 0);
        // The sections of a large document are read one after the other, because the cache holds few such documents.
        let mut by_document: Vec<&Group<'a>> = groups.iter().collect();
        by_document.sort_by_key(|group| group.first().map(|candidate| candidate.document.id));
        for group in by_document {
            let Some((candidate, twins)) = group.split_first() else { continue };
            let Some(section) = self.read_section(candidate, texts)? else { continue };
            size += section.text.len();
            read.push(section);
            twins_of.push(twins);
            if size > CACHE_BYTES {
                scored.extend(self.scored_together(std::mem::take(&mut read), question)?);
                size = 0;
            }
        }
        scored.extend(self.scored_together(read, question)?);
        let mut all = Vec::with_capacity(groups.len());
        // The best coverage of the sections of each document.
        let mut covered: HashMap<i64, f64> = HashMap::new();
        for (scored, twins) in scored.into_iter().zip(twins_of) {
            let Some((mut scored, factor)) = scored else { continue };
            for twin in twins {
                let section = self.section(twin)?;
                scored.duplicates.extend(section.map(|section| section.address()));
            }
            let candidate = scored.candidate;
            let coverage = scored.pieces.coverage(question);
            scored.parts.ranking = rounded(factor * candidate.score / best);
            scored.parts.coverage = rounded(factor * COVERAGE * coverage);
            let place = candidate.found.place;
            if !place.is_front_matter() {
                let covered = covered.entry(place.document).or_default();
                *covered = covered.max(scored.parts.coverage);
            }
            all.push(scored);
        }
        all.sort_by(|one, other| {
            let by_parts = other.parts.sum().total_cmp(&one.parts.sum());
            by_parts.then_with(|| one.candidate.order(other.candidate))
        });
        let folds = !self.request.keeps_duplicates;
        let queries = self.wordings();
        let mut result: Vec<ScoredSection<'a>> = Vec::with_capacity(all.len());
        for scored in all {
            let found = &scored.candidate.found;
            // Front matter that covers no more than a section of its document adds nothing to that
            // section.
            let of_document = covered.get(&found.place.document);
            let is_covered = of_document.is_some_and(|covered| *covered >= scored.parts.coverage);
            let adds_nothing = found.place.is_front_matter() && is_covered;
            if adds_nothing && folds && self.filter.types.is_empty() {
                continue;
            }
            let others = result.iter().filter(|_| folds);
            let twin =
                self.twin_among(others.clone().map(|other| other.candidate), scored.candidate)?;
            let twin =
                twin.or_else(|| others.clone().position(|other| scored.is_edition_of(other)));
            match twin.and_then(|twin| result.get_mut(twin)) {
                Some(twin) => twin.fold(scored, queries),
                None => result.push(scored),
            }
        }
        Ok(result)
    }

    /// Returns the wordings of the question; none for patterns.
    fn wordings(&self) -> &[String] {
        match &self.request.query {
            Query::Words(texts) => texts,
            Query::Patterns(..) => &[],
        }
    }

    /// Returns the index of the first of `others` that has nearly the same text as `candidate`. Sections with different
    /// titles are about different things, even if few words differ. So are those with different numbers, except in two
    /// versions, and the front matter of two files that are no editions.
    pub(super) fn twin_among<'c>(
        &self,
        others: impl Iterator<Item = &'c RankedCandidate>,
        candidate: &RankedCandidate,
    ) -> Result<Option<usize>> {
        for (index, other) in others.enumerate() {
            let (one, two) = (&other.found, &candidate.found);
            let (path, other_path) = (&candidate.document.path, &other.document.path);
            let says_the_same = || {
                let is_of_file = || !one.place.is_front_matter() || are_editions(path, other_path);
                are_versions(path, other_path) || one.has_same_numbers(two) && is_of_file()
            };
            if one.is_nearly(two) && says_the_same() && self.have_same_title(other, candidate)? {
                return Ok(Some(index));
            }
        }
        Ok(None)
    }

    /// Returns whether the sections of two candidates have the same title. Those of two documents may differ in numbers
    /// and case, as in two editions. What has no title is called like its file, unless the texts are equal.
    fn have_same_title(&self, one: &RankedCandidate, other: &RankedCandidate) -> Result<bool> {
        let (one_title, other_title) = (self.title(one)?, self.title(other)?);
        if one_title.is_none() && other_title.is_none() {
            let (path, other_path) = (&one.document.path, &other.document.path);
            return Ok(one.found.fingerprint == other.found.fingerprint
                || file_name(path) == file_name(other_path)
                || are_editions(path, other_path));
        }
        let letters = |title: Option<String>| -> Option<String> {
            Some(title?.to_lowercase().chars().filter(|it| it.is_alphabetic()).collect())
        };
        Ok(one_title == other_title
            || one.document.id != other.document.id && letters(one_title) == letters(other_title))
    }

    /// Returns the title of the section of a candidate, if it has one.
    fn title(&self, candidate: &RankedCandidate) -> Result<Option<String>> {
        let document = self.session.open(&candidate.document)?;
        let index = candidate.found.place.section.checked_sub(1);
        let section = index.and_then(|index| document.tree.outline().sections.get(index));
        Ok(section.map(|section| section.title.clone()))
    }

    /// Returns a candidate with its text. Returns `None` if the section does not exist, or the filter
    /// accepts nothing in it.
    pub(super) fn scored<'a>(
        &self,
        candidate: &'a RankedCandidate,
        question: &WeightedTerms<'_>,
        texts: &mut DocumentTexts<'_>,
    ) -> Result<Option<ScoredSection<'a>>> {
        let Some(read) = self.read_section(candidate, texts)? else { return Ok(None) };
        let found = self.findings(&read, question);
        Ok(found.map(|found| read.with(found)))
    }

    /// Reads the text of a candidate. Returns `None` if the section does not exist, or the filter accepts no block in it.
    fn read_section<'a>(
        &self,
        candidate: &'a RankedCandidate,
        texts: &mut DocumentTexts<'_>,
    ) -> Result<Option<ReadSection<'a>>> {
        let Some(section) = self.section(candidate)? else { return Ok(None) };
        let text = texts.of(&section.document)?;
        let mut all_titles = section.titles.clone();
        if !section.is_front_matter
            && let Some(title) = texts.title(&section.document)?
        {
            all_titles.push('\n');
            all_titles.push_str(&title);
        }
        Ok(Some(ReadSection { candidate, section, text, all_titles }))
    }

    /// Returns each of `all` with what is found in it and the factor on its score; `None` where the filter accepts nothing.
    /// Long texts are searched in two parts at the same time.
    fn scored_together<'a>(
        &self,
        all: Vec<ReadSection<'a>>,
        question: &WeightedTerms<'_>,
    ) -> Result<Vec<Option<(ScoredSection<'a>, f32)>>> {
        self.session.cancellation().check()?;
        let found = if self.filter.looks_inside() || self.excluded.is_some() {
            all.iter().map(|read| self.findings(read, question)).collect()
        } else {
            let views: Vec<SectionView<'_>> = all.iter().map(ReadSection::view).collect();
            let (one, other) = parallel::halves(&views, |view| view.own.len());
            let find = |views: &[SectionView<'_>]| -> Vec<Option<Findings>> {
                views.iter().map(|view| view.findings(question, None, None)).collect()
            };
            if other.iter().map(|view| view.own.len()).sum::<usize>() < MANY_BYTES {
                find(&views)
            } else {
                let (mut found, others) = parallel::join(|| find(one), || find(other));
                found.extend(others?);
                found
            }
        };
        let scored = all.into_iter().zip(found).map(|(read, found)| {
            let found = found?;
            let factor = self.factor(&read.section, &read.text);
            Some((read.with(found), factor))
        });
        Ok(scored.collect())
    }

    /// Returns what is found in a section; `None` if the filter accepts nothing in it.
    fn findings(&self, read: &ReadSection<'_>, question: &WeightedTerms<'_>) -> Option<Findings> {
        let is_taken = |span| self.filter.takes(&read.section.document, span);
        let excluded = self.excluded_below(&read.section, &read.text);
        let is_wanted =
            |span| is_taken(span) && !excluded.iter().any(|outer: &ByteSpan| outer.contains(span));
        let looks_inside = self.filter.looks_inside();
        let chooses = looks_inside || !excluded.is_empty();
        read.view().findings(
            question,
            looks_inside.then_some(&is_taken),
            chooses.then_some(&is_wanted),
        )
    }

    /// Returns the factor on the score of a section: less than 1 if the text is in another language than
    /// the question, or is a list of links.
    fn factor(&self, section: &ScoredText, bytes: &[u8]) -> f32 {
        let text = bytes.get(section.body..section.own.end).unwrap_or_default();
        let is_foreign = self.language.as_ref().is_some_and(|language| language.is_foreign(text));
        let of_language = if is_foreign { FOREIGN } else { 1.0 };
        let of_links = if !section.is_front_matter && is_link_list(text) { LINKS } else { 1.0 };
        of_language * of_links
    }

    /// Returns the section of a candidate. Returns `None` if the document does not contain it, or the filter
    /// accepts no block in it.
    pub(super) fn section(&self, candidate: &RankedCandidate) -> Result<Option<ScoredText>> {
        let text = self.text(candidate)?;
        let is_taken = |text: &ScoredText| {
            if text.is_front_matter {
                self.filter.takes_type("frontmatter")
            } else {
                self.filter.takes_type_in(&text.document, text.own)
            }
        };
        Ok(text.filter(is_taken))
    }

    /// Returns the section of a candidate, or `None` if the document does not contain it.
    fn text(&self, candidate: &RankedCandidate) -> Result<Option<ScoredText>> {
        let document = self.session.open(&candidate.document)?;
        let outline = document.tree.outline();
        let place = candidate.found.place;
        if place.is_front_matter() {
            let own = outline.front_matter;
            // Its keys are about what the document is about.
            let title = outline.sections.first().map_or("", |section| section.title.as_str());
            let titles = format!("{}\n{title}", document.stored.path);
            return Ok(own.map(|own| ScoredText {
                own,
                body: own.start,
                end: own.end,
                titles,
                is_front_matter: true,
                document,
            }));
        }
        let Some(index) = place.section.checked_sub(1) else {
            let root = outline.nodes.first().map(|root| root.bytes).unwrap_or_default();
            return Ok(Some(ScoredText {
                own: root,
                body: root.start,
                end: root.end,
                titles: document.stored.path.clone(),
                is_front_matter: false,
                document,
            }));
        };
        let Some(section) = outline.sections.get(index) else { return Ok(None) };
        let own = outline.own_text(section);
        let end = outline.nodes.get(section.node).map_or(own.end, |node| node.bytes.end);
        let body = section.heading_end.clamp(own.start, own.end);
        let mut titles = document.stored.path.clone();
        for above in document.tree.sections_above(section.node) {
            titles.push('\n');
            titles.push_str(&above.title);
        }
        Ok(Some(ScoredText { own, body, end, titles, is_front_matter: false, document }))
    }

    /// Returns what the query excludes of the text that a passage of `section` may show besides its own: subsections,
    /// or the first paragraph of the document for front matter.
    fn excluded_below(&self, section: &ScoredText, bytes: &[u8]) -> Vec<ByteSpan> {
        let Some(terms) = &self.excluded else { return Vec::new() };
        let outline = section.document.tree.outline();
        let end = section.end.min(section.body + BELOW_BYTES);
        if section.is_front_matter {
            let paragraph = first_paragraph(outline).filter(|span| terms.has_term(bytes, *span));
            return paragraph.into_iter().collect();
        }
        let mut excluded: Vec<ByteSpan> = Vec::new();
        for below in &outline.sections {
            let node = outline.nodes.get(below.node).map(|node| node.bytes).unwrap_or_default();
            let is_known = excluded.last().is_some_and(|last| last.contains(node));
            if is_known || node.start < section.own.end || node.start >= end {
                continue;
            }
            let own = outline.own_text(below);
            // The words of a title count for the sections below it, too.
            if terms.has_term(bytes, ByteSpan::new(own.start, below.heading_end)) {
                excluded.push(node);
            } else if terms.has_term(bytes, own) {
                excluded.push(own);
            }
        }
        excluded
    }
}

/// Puts the last of a group first if it is a preferred edition of the first with about the same score.
fn show_preferred_edition(group: &mut Group<'_>, queries: &[String]) {
    if let [first, .., last] = group.as_mut_slice()
        && is_preferred_edition(last, first, queries)
    {
        std::mem::swap(first, last);
    }
}

/// Returns whether a candidate is shown instead of `other`: a preferred edition of it with about the same score.
fn is_preferred_edition(
    candidate: &RankedCandidate,
    other: &RankedCandidate,
    queries: &[String],
) -> bool {
    candidate.is_about_as_good(other)
        && is_preferred(&candidate.document.path, &other.document.path, queries)
}

impl ScoredSection<'_> {
    /// Returns whether both are the same section of two editions of a file, or of two files with nearly the same text.
    fn is_edition_of(&self, other: &Self) -> bool {
        let (one, two) = (self.fingerprint, other.fingerprint);
        let (path, other_path) = (&self.candidate.document.path, &other.candidate.document.path);
        let is_edition = || is_similar(one, two) && are_editions(path, other_path);
        let is_copy = || is_near(one, two) && file_name(path) == file_name(other_path);
        self.section.section_titles() == other.section.section_titles()
            && (has_same_numbers(one, two) && (is_copy() || is_edition())
                || is_similar(one, two) && are_versions(path, other_path))
    }

    /// Folds `other`, a later section with nearly the same text, into this one. Shows the preferred edition.
    fn fold(&mut self, mut other: Self, queries: &[String]) {
        if is_preferred_edition(other.candidate, self.candidate, queries) {
            other.parts = self.parts;
            std::mem::swap(self, &mut other);
        }
        self.duplicates.push(other.section.address());
        self.duplicates.append(&mut other.duplicates);
    }
}

impl ScoredText {
    /// Returns the title of the section and those above it, one a line.
    fn section_titles(&self) -> &str {
        self.titles.split_once('\n').map_or("", |(_, titles)| titles)
    }

    /// Returns the primary address.
    pub(super) fn address(&self) -> String {
        let document = &self.document;
        if self.is_front_matter {
            return document.address(FRONT_MATTER_PLACE);
        }
        let node = document.tree.section_at(self.own.start);
        node.map_or_else(|| document.address("root"), |node| document.address_of(node))
    }
}

/// The bytes of a document.
pub(super) struct DocumentText {
    bytes: Vec<u8>,
    lines: OnceCell<LineIndex>,
}

impl DocumentText {
    fn new(bytes: Vec<u8>) -> Self {
        Self { bytes, lines: OnceCell::new() }
    }

    /// Returns the lines, which are indexed once for all hits.
    pub(super) fn lines(&self) -> &LineIndex {
        self.lines.get_or_init(|| LineIndex::new(&self.bytes))
    }
}

impl Deref for DocumentText {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes
    }
}

/// The bytes of documents, with a cache.
pub(super) struct DocumentTexts<'a> {
    pub(super) search: &'a Search<'a>,
    cache: HashMap<i64, Rc<DocumentText>>,
    size: usize,
    /// The titles in front matter.
    titles: HashMap<i64, Option<String>>,
}

impl<'a> DocumentTexts<'a> {
    pub(super) fn new(search: &'a Search<'a>) -> Self {
        Self { search, cache: HashMap::new(), size: 0, titles: HashMap::new() }
    }

    /// Reads documents together, so that [`of`](Self::of) finds them in the cache. Reads no more than it holds.
    pub(super) fn read_together<'d>(
        &mut self,
        documents: impl Iterator<Item = &'d StoredDocument>,
    ) -> Result<()> {
        let mut missing: Vec<(&StoredDocument, ByteSpan)> = Vec::new();
        let mut size = self.size;
        for document in documents {
            let length = usize::try_from(document.state.size).unwrap_or(usize::MAX);
            let is_known = self.cache.contains_key(&document.id)
                || missing.iter().any(|(missing, _)| missing.id == document.id);
            if !is_known && size.saturating_add(length) <= CACHE_BYTES {
                size += length;
                missing.push((document, ByteSpan::new(0, length)));
            }
        }
        let reader = self.search.session.reader;
        let texts = reader.contents(&missing)?;
        let stored: Vec<StoredDocument> =
            missing.iter().map(|(document, _)| (*document).clone()).collect();
        let titles = reader.front_matters(&stored)?.into_iter().map(title_of);
        self.titles.extend(stored.iter().map(|document| document.id).zip(titles));
        let read = missing.into_iter().map(|(document, _)| document.id);
        self.cache.extend(read.zip(texts.into_iter().map(DocumentText::new).map(Rc::new)));
        self.size = size;
        Ok(())
    }

    pub(super) fn of(&mut self, document: &OpenDocument) -> Result<Rc<DocumentText>> {
        if let Some(bytes) = self.cache.get(&document.stored.id) {
            return Ok(Rc::clone(bytes));
        }
        let bytes = self.search.session.content(document, document.span())?;
        let bytes = Rc::new(DocumentText::new(bytes));
        if self.size + bytes.len() > CACHE_BYTES {
            self.cache.clear();
            self.size = 0;
        }
        self.size += bytes.len();
        self.cache.insert(document.stored.id, Rc::clone(&bytes));
        Ok(bytes)
    }

    /// Returns the title in the front matter of a document. It counts for all sections.
    fn title(&mut self, document: &OpenDocument) -> Result<Option<String>> {
        let id = document.stored.id;
        if document.tree.outline().front_matter.is_some() && !self.titles.contains_key(&id) {
            let values = self.search.session.reader.front_matter(&document.stored)?;
            self.titles.insert(id, title_of(values));
        }
        Ok(self.titles.get(&id).cloned().flatten())
    }
}

/// Returns the first paragraph of a document.
fn first_paragraph(outline: &Outline) -> Option<ByteSpan> {
    let is_paragraph = |node: &&Node| node.kind == NodeKind::Block(BlockType::Paragraph);
    outline.nodes.iter().find(is_paragraph).map(|node| node.bytes)
}

fn title_of(front_matter: FrontMatterData) -> Option<String> {
    front_matter::title(&front_matter?)
}

/// Rounds a score to three decimals.
pub(super) fn rounded(score: f32) -> f64 {
    (f64::from(score) * 1000.0).round() / 1000.0
}
