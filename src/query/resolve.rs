//! The resolver: an address in, the places that it names out. Every command that takes a place asks
//! here and nowhere else.
//!
//! Owns the order in which a text is read (contract, section 2) and how readings fail. Invariant:
//! fail closed. Several places for one that must be unique are an ambiguity whose candidates resolve;
//! nothing is ever chosen because it came first.

use std::rc::Rc;

use super::library::{Library, OpenDocument};
use super::section_path::{SectionPath, Tier};
use super::suggestion;
use crate::address::{
    Fault, FaultCode, Locator, Params, Part, Place as ParsedPlace, Selector, namespace,
    parse_params, parse_place, selector::is_selector, split_known_params,
};
use crate::error::{Result, Warning};
use crate::limits;
use crate::markdown::outline::NodeKind;
use crate::markdown::slug::comparable;
use crate::position::{ByteSpan, LineSpan};
use crate::store::{NameMatch, StoredDocument};

/// What a place is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// The whole document.
    Document,
    /// Its front matter.
    FrontMatter,
    /// A node.
    Node(usize),
}

/// A place that an address names.
#[derive(Clone, Debug)]
pub struct Place {
    /// The document.
    pub document: Rc<OpenDocument>,
    /// What in it.
    pub target: Target,
    /// How much of it.
    pub params: Params,
    /// Why it is not quite what was named: `containing` or `lines`.
    pub resolved: Option<&'static str>,
    /// The lines that were named, where they are less than the target.
    pub lines: Option<LineSpan>,
}

impl Place {
    fn new(document: Rc<OpenDocument>, target: Target, params: Params) -> Self {
        Self { document, target, params, resolved: None, lines: None }
    }

    /// The primary address.
    pub fn address(&self) -> String {
        match self.target {
            Target::Document => self.document.address("*"),
            Target::FrontMatter => self.document.address("@frontmatter"),
            Target::Node(node) => self.document.address_of(node),
        }
    }

    /// The bytes of the whole target.
    pub fn span(&self) -> ByteSpan {
        let outline = self.document.tree.outline();
        match self.target {
            Target::Document => self.document.span(),
            Target::FrontMatter => outline.front_matter.unwrap_or_default(),
            Target::Node(node) => {
                outline.nodes.get(node).map(|node| node.bytes).unwrap_or_default()
            }
        }
    }

    /// The bytes of the part that is named.
    pub fn part_span(&self) -> ByteSpan {
        let mut span = self.span();
        if let Target::Node(node) = self.target
            && let Some(section) = self.document.tree.section(node)
        {
            span.end = match self.params.part {
                Some(Part::Heading) => section.heading_end,
                Some(Part::Own) => section.own_end,
                Some(Part::All) | None => span.end,
            };
        }
        span
    }
}

/// How many places to pass over, and how many to give.
#[derive(Clone, Copy, Debug)]
pub struct Window {
    /// Places of this call that were given before.
    pub skip: usize,
    /// Places to give at most.
    pub take: usize,
}

/// What an address came to.
#[derive(Debug, Default)]
pub struct Resolution {
    /// The places within the window.
    pub places: Vec<Place>,
    /// How many places were passed over.
    pub skipped: usize,
    /// Whether there are places behind the window.
    pub has_more: bool,
    /// Why there is none.
    pub fault: Option<Fault>,
    /// What the longest prefix of the address that does resolve names.
    pub partial: Vec<Place>,
    /// Remarks.
    pub warnings: Vec<Warning>,
}

impl Resolution {
    fn fault(fault: Fault) -> Self {
        Self { fault: Some(fault), ..Self::default() }
    }
}

/// Everything that an address may come to before the window is laid over it.
enum Reading {
    Places(Vec<Place>, Vec<Warning>),
    Fault(Fault, Vec<Place>),
}

fn found(place: Place) -> Reading {
    Reading::Places(vec![place], Vec::new())
}

fn fault(code: FaultCode, message: impl Into<String>) -> Reading {
    Reading::Fault(Fault::new(code, message), Vec::new())
}

/// Resolves `address`.
pub fn resolve(library: &Library<'_>, address: &str, window: Window) -> Result<Resolution> {
    if address.len() > limits::MAX_ADDRESS_BYTES {
        let message = "longer than the limit address-bytes allows";
        return Ok(Resolution::fault(Fault::new(FaultCode::InvalidSyntax, message).of(address, 0)));
    }
    let resolver = Resolver { library };
    let reading = match address.split_once("::") {
        Some((name, rest)) => {
            let offset = name.len() + 2;
            match resolver.in_namespace(name, rest)? {
                Ok(reading) => in_address(reading, address, offset),
                Err(not_found) => match resolver.section_over_store(address, Params::default())? {
                    Reading::Fault(fault, _) if fault.code != FaultCode::Ambiguous => {
                        in_address(Reading::Fault(not_found, Vec::new()), address, 0)
                    }
                    reading => in_address(reading, address, 0),
                },
            }
        }
        None => {
            if let Some(reading) = resolver.exact_path(address)? {
                reading
            } else if is_selector(address) {
                return match parse_place(address) {
                    Ok(ParsedPlace { locator: Locator::Selector(selector), params }) => {
                        resolver.selector_over_store(address, &selector, params, window)
                    }
                    Ok(_) => Ok(Resolution::default()),
                    Err(fault) => Ok(Resolution::fault(fault.of(address, 0))),
                };
            } else {
                in_address(resolver.without_namespace(address)?, address, 0)
            }
        }
    };
    Ok(match reading {
        Reading::Fault(fault, partial) => {
            Resolution { fault: Some(fault), partial, ..Resolution::default() }
        }
        Reading::Places(places, warnings) => {
            let count = places.len();
            let places: Vec<Place> =
                places.into_iter().skip(window.skip).take(window.take).collect();
            let skipped = window.skip.min(count);
            Resolution {
                has_more: skipped + places.len() < count,
                skipped,
                places,
                warnings,
                ..Resolution::default()
            }
        }
    })
}

/// Resolves an address that must name one place; several are an ambiguity.
pub fn resolve_one(
    library: &Library<'_>,
    address: &str,
) -> Result<std::result::Result<(Place, Vec<Warning>), Fault>> {
    let window = Window { skip: 0, take: limits::MAX_CANDIDATES_SHOWN };
    let mut resolution = resolve(library, address, window)?;
    if let Some(fault) = resolution.fault {
        return Ok(Err(fault));
    }
    Ok(match (resolution.places.pop(), resolution.places.is_empty()) {
        (Some(place), true) => Ok((place, resolution.warnings)),
        (Some(last), false) => {
            let more = if resolution.has_more { "more than " } else { "" };
            let count = resolution.places.len() + 1;
            let message = format!("{more}{count} places are named {address:?}: give an index");
            let mut fault = Fault::new(FaultCode::Ambiguous, message).of(address, 0);
            fault.candidates =
                resolution.places.iter().chain([&last]).map(Place::address).collect();
            Err(fault)
        }
        (None, _) => {
            Err(Fault::new(FaultCode::SelectorNotFound, "nothing is there").of(address, 0))
        }
    })
}

/// Makes the fault of a reading that of the whole `address`, where the reading began at `offset`.
fn in_address(reading: Reading, address: &str, offset: usize) -> Reading {
    match reading {
        Reading::Fault(fault, partial) => Reading::Fault(fault.of(address, offset), partial),
        places @ Reading::Places(..) => places,
    }
}

struct Resolver<'a> {
    library: &'a Library<'a>,
}

impl Resolver<'_> {
    /// The document of a namespace: decoded once, at last as it was written.
    fn document(&self, name: &str) -> Result<NameMatch> {
        let decoded = namespace::decode(name);
        match self.library.snapshot.named(&decoded)? {
            NameMatch::None if decoded != name => self.library.snapshot.named(name),
            other => Ok(other),
        }
    }

    /// Reads `rest` in the document that `name` names; the inner fault says that none is.
    fn in_namespace(&self, name: &str, rest: &str) -> Result<std::result::Result<Reading, Fault>> {
        match self.document(name)? {
            NameMatch::One(stored) => self.in_document(&stored, rest).map(Ok),
            NameMatch::Many(paths, total) => {
                Ok(Ok(Reading::Fault(ambiguous_document(name, rest, &paths, total), Vec::new())))
            }
            NameMatch::None => Ok(Err(self.no_document(name, rest)?)),
        }
    }

    fn no_document(&self, name: &str, rest: &str) -> Result<Fault> {
        if let Some(path) = self.file_on_disk(&namespace::decode(name)) {
            let message = format!("{path} is not in the store: `mdsel ingest {path}` takes it");
            return Ok(Fault::new(FaultCode::NotInStore, message).at(0));
        }
        let suggestions = suggestion::similar_namespaces(self.library, name, rest)?;
        let message = format!("no document is named {name:?}");
        Ok(Fault::new(FaultCode::NamespaceNotFound, message).at(0).suggest(suggestions))
    }

    /// The path below the root at which a file of that name lies.
    fn file_on_disk(&self, name: &str) -> Option<String> {
        use std::path::Component;
        let is_inside = std::path::Path::new(name)
            .components()
            .all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
        if !is_inside || name.is_empty() {
            return None;
        }
        let root = self.library.snapshot.root();
        let is_file = |path: &String| root.join(path).is_file();
        let extensions = &self.library.snapshot.options().extensions;
        std::iter::once(name.to_owned())
            .chain(extensions.iter().map(|extension| format!("{name}.{extension}")))
            .find(is_file)
    }

    /// The whole document whose path is the text, or the text before its parameters.
    fn exact_path(&self, address: &str) -> Result<Option<Reading>> {
        let whole = |stored: &StoredDocument, params| {
            Ok(Some(found(Place::new(self.library.open(stored)?, Target::Document, params))))
        };
        if let Some(stored) = self.library.snapshot.document_at(address)? {
            return whole(&stored, Params::default());
        }
        if let Some((path, query)) = split_known_params(address)
            && let Some(stored) = self.library.snapshot.document_at(path)?
        {
            return match parse_params(query, path.chars().count() + 1) {
                Ok(params) => whole(&stored, params),
                Err(fault) => Ok(Some(Reading::Fault(fault.of(address, 0), Vec::new()))),
            };
        }
        Ok(None)
    }

    /// Reads an address that has no `::` and is neither a path nor a selector.
    fn without_namespace(&self, address: &str) -> Result<Reading> {
        let place = match parse_place(address) {
            Ok(place) => place,
            Err(fault) => return Ok(Reading::Fault(fault, Vec::new())),
        };
        let ParsedPlace { locator, params } = place;
        let mut anchor_fault = None;
        if let Locator::SectionPath(text) = &locator {
            if let Some(reading) = self.line_of_path(text, params)? {
                return Ok(reading);
            }
            match self.anchor_of_path(text, params)? {
                Some(Reading::Fault(fault, _)) if fault.code == FaultCode::SelectorNotFound => {
                    anchor_fault = Some(fault);
                }
                Some(reading) => return Ok(reading),
                None => {}
            }
        }
        let reading = match &locator {
            Locator::SectionPath(text) => self.section_over_store(text, params)?,
            Locator::Anchor(anchor) => self.anchor_over_store(anchor, params)?,
            _ => match self.library.snapshot.documents(None, 2)?.as_slice() {
                [stored] => self.in_document(stored, address)?,
                _ => fault(
                    FaultCode::NamespaceRequired,
                    format!("{address} is a place in a document: name it, as in `doc::{address}`"),
                ),
            },
        };
        match (reading, anchor_fault) {
            (Reading::Fault(fault, _), Some(anchor_fault))
                if fault.code == FaultCode::SelectorNotFound =>
            {
                Ok(Reading::Fault(anchor_fault, Vec::new()))
            }
            (reading, _) => Ok(reading),
        }
    }

    /// `path:LINE`, `path:LINE:COL`, `path:START-END`, where the left part names a document.
    fn line_of_path(&self, text: &str, params: Params) -> Result<Option<Reading>> {
        let is_number = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
        let number = |part: &str| part.parse::<usize>().unwrap_or(usize::MAX);
        let Some((left, last)) = text.rsplit_once(':') else { return Ok(None) };
        let range = match last.split_once('-') {
            Some((from, to)) if is_number(from) && is_number(to) => {
                Some((number(from), number(to)))
            }
            None if is_number(last) => None,
            _ => return Ok(None),
        };
        let with_column =
            left.rsplit_once(':').filter(|(_, line)| range.is_none() && is_number(line));
        for (name, line) in with_column.into_iter().chain([(left, last)]) {
            let document = match self.document(name)? {
                NameMatch::One(stored) => self.library.open(&stored)?,
                NameMatch::Many(paths, total) => {
                    let rest = format!("@{}", range.map_or_else(|| number(line), |(from, _)| from));
                    let fault = ambiguous_document(name, &rest, &paths, total);
                    return Ok(Some(Reading::Fault(fault, Vec::new())));
                }
                NameMatch::None => continue,
            };
            return Ok(Some(match range {
                Some((from, to)) => lines(&document, LineSpan { start: from, end: to }, params),
                None => at_line(&document, number(line), params),
            }));
        }
        Ok(None)
    }

    /// `path#anchor`, where the left part names a document.
    fn anchor_of_path(&self, text: &str, params: Params) -> Result<Option<Reading>> {
        let Some((name, anchor)) = text.rsplit_once('#') else { return Ok(None) };
        match self.document(name)? {
            NameMatch::One(stored) => {
                let document = self.library.open(&stored)?;
                Ok(Some(at_anchor(&document, anchor, params)))
            }
            NameMatch::Many(paths, total) => {
                let rest = format!("#a:{anchor}");
                let fault = ambiguous_document(name, &rest, &paths, total);
                Ok(Some(Reading::Fault(fault, Vec::new())))
            }
            NameMatch::None => Ok(None),
        }
    }

    /// Reads a locator in a document.
    fn in_document(&self, stored: &StoredDocument, text: &str) -> Result<Reading> {
        let document = self.library.open(stored)?;
        let ParsedPlace { locator, params } = match parse_place(text) {
            Ok(place) => place,
            Err(fault) => return Ok(Reading::Fault(fault, Vec::new())),
        };
        let whole = |target| Place::new(Rc::clone(&document), target, params);
        let reading = match &locator {
            Locator::Document => found(whole(Target::Document)),
            Locator::FrontMatter if document.tree.outline().front_matter.is_none() => {
                fault(FaultCode::SelectorNotFound, format!("{} has no front matter", stored.path))
            }
            Locator::FrontMatter => found(whole(Target::FrontMatter)),
            Locator::Line(line) => at_line(&document, *line, params),
            Locator::IndexPath(path, digits) => at_index_path(&document, path, digits, params),
            Locator::Anchor(anchor) => at_anchor(&document, anchor, params),
            Locator::SectionPath(path) => section_in_document(&document, path, params),
            Locator::Selector(selector) => {
                return Ok(follow(&document, selector, params, shadowed(&document, text)));
            }
        };
        Ok(match reading {
            Reading::Places(places, _) if lacks_heading(&places) => no_heading(&places),
            reading => reading,
        })
    }

    /// A section path over the whole store, where it must be unique.
    fn section_over_store(&self, text: &str, params: Params) -> Result<Reading> {
        let path = SectionPath::new(text);
        let snapshot = self.library.snapshot;
        let mut exact = snapshot.documents_with_title(path.last_part())?;
        exact.extend(snapshot.documents_with_title(path.title())?);
        exact.sort_by(|one, other| one.path.cmp(&other.path));
        exact.dedup();
        for tier in path.tiers().into_iter().filter(|tier| *tier != Tier::Substring) {
            let hits = self.sections_of(&exact, &path, tier)?;
            if !hits.is_empty() {
                return Ok(only(hits, text, params, false));
            }
        }
        let most = limits::MAX_TITLE_DOCUMENTS;
        let mut part = snapshot.documents_with_title_part(path.title(), most)?;
        if let Some(slug) = path.slug() {
            part.extend(snapshot.documents_with_title_part(slug, most)?);
        }
        part.sort_by(|one, other| one.path.cmp(&other.path));
        part.dedup();
        let is_cut = part.len() >= most;
        let hits = self.sections_of(&part, &path, Tier::Substring)?;
        if hits.is_empty() {
            let suggestions = suggestion::similar_namespaces(self.library, text, "*")?;
            let message = format!("no document and no section is named {text:?}");
            let fault = Fault::new(FaultCode::SelectorNotFound, message).suggest(suggestions);
            return Ok(Reading::Fault(fault, Vec::new()));
        }
        Ok(only(hits, text, params, is_cut))
    }

    fn sections_of(
        &self,
        documents: &[StoredDocument],
        path: &SectionPath,
        tier: Tier,
    ) -> Result<Vec<(Rc<OpenDocument>, usize)>> {
        let mut hits = Vec::new();
        for stored in documents {
            let document = self.library.open(stored)?;
            let nodes = path.hits(&document.tree, tier);
            hits.extend(nodes.into_iter().map(|node| (Rc::clone(&document), node)));
        }
        Ok(hits)
    }

    /// A GitHub anchor over the whole store, where it must be unique.
    fn anchor_over_store(&self, anchor: &str, params: Params) -> Result<Reading> {
        let snapshot = self.library.snapshot;
        // Anchors are numbered by document, path parts among siblings: the number may be one's alone.
        let unnumbered = anchor
            .rsplit_once('-')
            .filter(|(_, number)| number.bytes().all(|byte| byte.is_ascii_digit()));
        let mut documents = snapshot.documents_with_title(anchor)?;
        if let Some((slug, _)) = unnumbered {
            documents.extend(snapshot.documents_with_title(slug)?);
            documents.sort_by(|one, other| one.path.cmp(&other.path));
            documents.dedup();
        }
        let mut hits = Vec::new();
        for stored in &documents {
            let document = self.library.open(stored)?;
            if let Reading::Places(places, _) = at_anchor(&document, anchor, params) {
                hits.extend(places.into_iter().filter_map(|place| match place.target {
                    Target::Node(node) => Some((place.document, node)),
                    _ => None,
                }));
            }
        }
        if hits.is_empty() {
            return Ok(fault(
                FaultCode::SelectorNotFound,
                format!("no document has the anchor #{anchor}"),
            ));
        }
        Ok(only(hits, &format!("#{anchor}"), params, false))
    }

    /// A selector without namespace: in every document, in path order.
    fn selector_over_store(
        &self,
        address: &str,
        selector: &Selector,
        params: Params,
        window: Window,
    ) -> Result<Resolution> {
        const DOCUMENTS_AT_ONCE: usize = 256;
        let mut resolution = Resolution::default();
        let mut after: Option<String> = None;
        let mut count = 0;
        let mut first_fault = None;
        loop {
            let documents = self.library.snapshot.documents(after.as_deref(), DOCUMENTS_AT_ONCE)?;
            for stored in &documents {
                let document = self.library.open(stored)?;
                match follow(&document, selector, params, None) {
                    Reading::Places(places, warnings) => {
                        resolution.warnings.extend(warnings);
                        for place in places {
                            if count < window.skip {
                                resolution.skipped += 1;
                            } else if resolution.places.len() < window.take {
                                resolution.places.push(place);
                            } else {
                                resolution.has_more = true;
                                resolution.warnings.dedup();
                                return Ok(resolution);
                            }
                            count += 1;
                        }
                    }
                    Reading::Fault(fault, partial) if first_fault.is_none() => {
                        first_fault = Some((fault, partial));
                    }
                    Reading::Fault(..) => {}
                }
            }
            match documents.last() {
                Some(last) if documents.len() == DOCUMENTS_AT_ONCE => {
                    after = Some(last.path.clone());
                }
                _ => break,
            }
        }
        resolution.warnings.dedup();
        if count == 0 {
            let (fault, partial) = first_fault.unwrap_or_else(|| {
                (Fault::new(FaultCode::SelectorNotFound, "the store holds no document"), Vec::new())
            });
            resolution.fault = Some(fault.of(address, 0));
            resolution.partial = partial;
        } else if let Some(word) =
            Some(selector.to_string()).filter(|_| !address.contains([':', '[']))
            && !self.library.snapshot.documents_with_title(address)?.is_empty()
        {
            resolution.warnings.push(shadows(&word, address));
        }
        Ok(resolution)
    }
}

/// A document's name that several documents have.
fn ambiguous_document(name: &str, rest: &str, paths: &[String], total: usize) -> Fault {
    let mut fault =
        Fault::new(FaultCode::Ambiguous, format!("{total} documents are named {name:?}")).at(0);
    fault.candidates =
        paths.iter().map(|path| format!("{}::{rest}", namespace::encode(path))).collect();
    fault
}

/// The only hit, or the ambiguity.
fn only(hits: Vec<(Rc<OpenDocument>, usize)>, text: &str, params: Params, is_cut: bool) -> Reading {
    if hits.len() == 1 {
        let place = hits
            .into_iter()
            .map(|(document, node)| Place::new(document, Target::Node(node), params));
        return Reading::Places(place.collect(), Vec::new());
    }
    let count = hits.len();
    let least = if is_cut { "at least " } else { "" };
    let mut fault =
        Fault::new(FaultCode::Ambiguous, format!("{least}{count} sections are named {text:?}"));
    fault.candidates = hits
        .iter()
        .take(limits::MAX_CANDIDATES_SHOWN)
        .map(|(document, node)| document.address_of(*node))
        .collect();
    Reading::Fault(fault, Vec::new())
}

fn section_in_document(document: &Rc<OpenDocument>, text: &str, params: Params) -> Reading {
    let path = SectionPath::new(text);
    for tier in path.tiers() {
        let hits = path.hits(&document.tree, tier);
        if !hits.is_empty() {
            let hits = hits.into_iter().map(|node| (Rc::clone(document), node)).collect();
            return only(hits, text, params, false);
        }
    }
    let suggestions = suggestion::similar_sections(document, text);
    let message = format!("{} has no section named {text:?}", document.stored.path);
    Reading::Fault(
        Fault::new(FaultCode::SelectorNotFound, message).suggest(suggestions),
        Vec::new(),
    )
}

/// Where a line is: the section whose heading it is, else what contains it.
fn at_line(document: &Rc<OpenDocument>, line: usize, params: Params) -> Reading {
    let outline = document.tree.outline();
    if line == 0 || line > outline.lines {
        let last = document.address(&format!("@{}", outline.lines));
        let message = format!("{} has {} lines", document.stored.path, outline.lines);
        let suggestions = if outline.lines > 0 { vec![last] } else { Vec::new() };
        let fault = Fault::new(FaultCode::IndexOutOfRange, message).suggest(suggestions);
        return Reading::Fault(fault, Vec::new());
    }
    let starts_behind = |node: &crate::markdown::outline::Node| node.lines.start > line;
    let last = outline
        .sections
        .iter()
        .take_while(|section| !outline.nodes.get(section.node).is_none_or(starts_behind))
        .last();
    let mut place = Place::new(Rc::clone(document), Target::Node(0), params);
    match last {
        Some(section) => {
            place.target = Target::Node(section.node);
            let start = outline.nodes.get(section.node).map_or(0, |node| node.lines.start);
            // A setext heading has several lines.
            if line != start && !is_heading_line(document, section.node, line) {
                place.resolved = Some("containing");
            }
        }
        None => {
            let root_start = outline.nodes.first().map_or(1, |root| root.lines.start);
            let is_front_matter = outline.front_matter.is_some() && line < root_start;
            if is_front_matter {
                place.target = Target::FrontMatter;
            }
            place.resolved = Some("containing");
        }
    }
    if lacks_heading(std::slice::from_ref(&place)) {
        return no_heading(&[place]);
    }
    found(place)
}

/// Whether `line` is one of the heading's lines of the section that `node` is.
fn is_heading_line(document: &OpenDocument, node: usize, line: usize) -> bool {
    let tree = &document.tree;
    let (Some(section), Some(start)) = (tree.section(node), tree.node(node)) else { return false };
    line < start.lines.start + section.heading_lines
}

/// Exactly these lines of the innermost section that holds them.
fn lines(document: &Rc<OpenDocument>, lines: LineSpan, params: Params) -> Reading {
    let outline = document.tree.outline();
    if lines.start == 0 || lines.start > lines.end || lines.start > outline.lines {
        let message = format!("{} has {} lines", document.stored.path, outline.lines);
        return fault(FaultCode::IndexOutOfRange, message);
    }
    let lines = LineSpan { start: lines.start, end: lines.end.min(outline.lines) };
    let holds = |node: usize| {
        let node = outline.nodes.get(node)?;
        (node.lines.start <= lines.start && lines.end <= node.lines.end).then_some(())
    };
    let innermost = outline
        .sections
        .iter()
        .rev()
        .map(|section| section.node)
        .chain([0])
        .find(|&node| holds(node).is_some());
    let target = innermost.map_or(Target::Document, Target::Node);
    let mut place = Place::new(Rc::clone(document), target, params);
    place.resolved = Some("lines");
    place.lines = Some(lines);
    found(place)
}

/// `#0/#1`: by index; or, where that is one section's anchor too, an ambiguity.
fn at_index_path(
    document: &Rc<OpenDocument>,
    path: &[usize],
    digits: &str,
    params: Params,
) -> Reading {
    let tree = &document.tree;
    let mut scope = crate::address::Scope::Document;
    let mut by_index = None;
    for (depth, &index) in path.iter().enumerate() {
        let children: Vec<usize> = tree.child_sections(scope).collect();
        let Some(&node) = children.get(index) else {
            by_index = Some(Err((depth, children.len())));
            break;
        };
        scope = crate::address::Scope::Node(node);
        by_index = Some(Ok(node));
    }
    let by_anchor = match at_anchor(document, digits, params) {
        Reading::Places(places, _) if path.len() == 1 => places.into_iter().next(),
        _ => None,
    };
    match (by_index, by_anchor) {
        (Some(Ok(node)), Some(anchored)) if anchored.target != Target::Node(node) => {
            let mut fault = Fault::new(
                FaultCode::Ambiguous,
                format!("#{digits} is the index of one section and the anchor of another"),
            );
            fault.candidates = vec![document.address_of(node), anchored.address()];
            Reading::Fault(fault, Vec::new())
        }
        (Some(Ok(node)), _) => found(Place::new(Rc::clone(document), Target::Node(node), params)),
        (_, Some(anchored)) => found(anchored),
        (Some(Err((depth, count))), None) => {
            let message = format!("there are {count} sections at step {depth}, counted from 0");
            let valid: Vec<String> =
                path.iter().take(depth).map(|index| format!("#{index}")).collect();
            let suggestion = count.checked_sub(1).map(|last| {
                let steps: Vec<String> =
                    valid.iter().cloned().chain([format!("#{last}")]).collect();
                document.address(&steps.join("/"))
            });
            let fault = Fault::new(FaultCode::IndexOutOfRange, message);
            Reading::Fault(fault.suggest(suggestion.into_iter().collect()), Vec::new())
        }
        (None, None) => fault(FaultCode::SelectorNotFound, "nothing is there"),
    }
}

/// A GitHub anchor; that of a heading in a container stands for what holds the container.
fn at_anchor(document: &Rc<OpenDocument>, anchor: &str, params: Params) -> Reading {
    let tree = &document.tree;
    let outline = tree.outline();
    let decoded = namespace::decode(anchor);
    for anchor in [comparable(anchor), comparable(&decoded)] {
        let is_it = |other: &str| comparable(other) == anchor;
        let section =
            outline.sections.iter().find(|section| section.anchor().is_some_and(|a| is_it(&a)));
        if let Some(section) = section {
            return found(Place::new(Rc::clone(document), Target::Node(section.node), params));
        }
        if let Some(contained) = outline.contained_anchors.iter().find(|c| is_it(&c.anchor)) {
            let offset = tree.node(contained.node).map_or(0, |node| node.bytes.start);
            let node = tree.section_at(offset).unwrap_or(0);
            let mut place = Place::new(Rc::clone(document), Target::Node(node), params);
            place.resolved = Some("containing");
            return found(place);
        }
    }
    let message = format!("{} has no anchor #{anchor}", document.stored.path);
    let suggestions = suggestion::similar_sections(document, &anchor.replace('-', " "));
    Reading::Fault(
        Fault::new(FaultCode::SelectorNotFound, message).suggest(suggestions),
        Vec::new(),
    )
}

/// Follows a selector in a document.
fn follow(
    document: &Rc<OpenDocument>,
    selector: &Selector,
    params: Params,
    warning: Option<Warning>,
) -> Reading {
    let place = |node| Place::new(Rc::clone(document), Target::Node(node), params);
    let mut warnings: Vec<Warning> = warning.into_iter().collect();
    let steps = &selector.steps;
    match document.tree.follow(steps, limits::MAX_EXPANSION + 1) {
        Ok(mut nodes) => {
            if nodes.len() > limits::MAX_EXPANSION {
                nodes.truncate(limits::MAX_EXPANSION);
                let message = format!(
                    "{}: {selector} matches more nodes than the limit expansion allows",
                    document.stored.path
                );
                warnings.push(Warning::new("EXPANSION_CUT", message));
            }
            let before_last = steps.get(..steps.len().saturating_sub(1)).unwrap_or_default();
            if let Some(step) = before_last
                .iter()
                .find(|step| step.ordinal == crate::address::Ordinal::All && has_index(step.kind))
            {
                let message = format!("{step} has no index: every one of them was followed");
                warnings.push(Warning::new("UNINDEXED_STEP", message));
            }
            let places: Vec<Place> = nodes.into_iter().map(place).collect();
            if lacks_heading(&places) {
                no_heading(&places)
            } else {
                Reading::Places(places, warnings)
            }
        }
        Err(dead_end) => {
            let prefix = steps.get(..dead_end.step).unwrap_or_default();
            let partial = match prefix {
                [] => Vec::new(),
                prefix => document.tree.follow(prefix, limits::MAX_SUGGESTIONS).unwrap_or_default(),
            };
            let fault = suggestion::of_dead_end(document, selector, dead_end);
            Reading::Fault(fault, partial.into_iter().map(place).collect())
        }
    }
}

fn has_index(kind: crate::address::StepKind) -> bool {
    kind != crate::address::StepKind::Root
}

/// Whether a heading is asked for where there is none.
fn lacks_heading(places: &[Place]) -> bool {
    places.iter().any(|place| {
        let is_section = match place.target {
            Target::Node(node) => place
                .document
                .tree
                .node(node)
                .is_some_and(|node| matches!(node.kind, NodeKind::Section(_))),
            _ => false,
        };
        place.params.part == Some(Part::Heading) && !is_section
    })
}

fn no_heading(places: &[Place]) -> Reading {
    let address = places.first().map(Place::address).unwrap_or_default();
    fault(FaultCode::SelectorNotFound, format!("{address} has no heading"))
}

/// The remark that a selector hides the title of a section.
fn shadowed(document: &OpenDocument, text: &str) -> Option<Warning> {
    let text = text.split('?').next().unwrap_or(text);
    let wanted = comparable(text);
    let is_title =
        |section: &crate::markdown::outline::Section| comparable(&section.title) == wanted;
    document.tree.outline().sections.iter().any(is_title).then(|| shadows(text, text))
}

fn shadows(selector: &str, text: &str) -> Warning {
    let message =
        format!("{selector} is read as a selector; the section of that title is `/{text}`");
    Warning::new("SHADOWED_TITLE", message)
}
