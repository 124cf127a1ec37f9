//! Places within one document: what a locator comes to once the document is known. Pure.
//!
//! Invariant: a locator that could mean two places is an ambiguity whose candidates resolve.

use std::rc::Rc;

use super::library::OpenDocument;
use super::place::{Place, Target};
use super::section_path::{SectionPath, Tier};
use super::suggestion;
use crate::address::{
    Fault, FaultCode, Locator, Ordinal, Params, ParsedPlace, Part, Scope, Selector, Step, StepKind,
    namespace, parse_place,
};
use crate::error::Warning;
use crate::limits;
use crate::markdown::outline::Section;
use crate::markdown::slug::comparable;
use crate::position::LineSpan;

/// What a text comes to: places, or a fault.
#[derive(Debug, Default)]
pub(super) struct Reading {
    pub(super) places: Vec<Place>,
    pub(super) fault: Option<Fault>,
    /// What the longest prefix that does resolve names.
    pub(super) partial: Vec<Place>,
    pub(super) warnings: Vec<Warning>,
}

impl Reading {
    pub(super) fn place(place: Place) -> Self {
        Self { places: vec![place], ..Self::default() }
    }

    pub(super) fn fault(fault: Fault) -> Self {
        Self { fault: Some(fault), ..Self::default() }
    }

    /// Whether nothing of that name is there, in which case another reading may be right.
    pub(super) fn is_not_found(&self) -> bool {
        self.fault.as_ref().is_some_and(|fault| fault.code == FaultCode::SelectorNotFound)
    }

    /// Makes its fault that of the whole `address`, where the reading began at byte `offset`.
    pub(super) fn in_address(mut self, address: &str, offset: usize) -> Self {
        self.fault = self.fault.map(|fault| fault.of(address, offset));
        self
    }
}

fn fault(code: FaultCode, message: impl Into<String>) -> Reading {
    Reading::fault(Fault::new(code, message))
}

/// Reads `text`, a locator with its parameters, in `document`.
pub(super) fn locate(document: &Rc<OpenDocument>, text: &str) -> Reading {
    let warnings: Vec<Warning> = shadowed(document, text).into_iter().collect();
    let ParsedPlace { locator, params } = match parse_place(text) {
        Ok(place) => place,
        Err(fault) => return Reading { warnings, ..Reading::fault(fault) },
    };
    let whole = |target| Reading::place(Place::new(Rc::clone(document), target, params));
    let path = &document.stored.path;
    let reading = match &locator {
        Locator::Document => whole(Target::Document),
        Locator::FrontMatter if document.tree.outline().front_matter.is_none() => {
            fault(FaultCode::SelectorNotFound, format!("{path} has no front matter"))
        }
        Locator::FrontMatter => whole(Target::FrontMatter),
        Locator::Line(line) => at_line(document, *line, params),
        Locator::IndexPath(path, digits) => at_index_path(document, path, digits, params),
        Locator::Anchor(anchor) => at_anchor(document, anchor, params),
        Locator::Ldmd(id) => at_ldmd_section(document, id, params),
        Locator::SectionPath(path) => at_section_path(document, path, params),
        Locator::Selector(selector) => {
            let mut reading = follow(document, selector, params);
            reading.warnings.extend(warnings);
            return reading;
        }
    };
    with_its_part(reading)
}

/// The only hit, or the ambiguity.
pub(super) fn only(
    hits: Vec<(Rc<OpenDocument>, usize)>,
    text: &str,
    params: Params,
    is_cut: bool,
) -> Reading {
    if hits.len() == 1 && !is_cut {
        let places = hits
            .into_iter()
            .map(|(document, node)| Place::new(document, Target::Node(node), params))
            .collect();
        return with_its_part(Reading { places, ..Reading::default() });
    }
    let least = if is_cut { "at least " } else { "" };
    let message = format!("{least}{} sections are named {text:?}", hits.len());
    let mut fault = Fault::new(FaultCode::Ambiguous, message);
    fault.candidates = hits
        .iter()
        .take(limits::MAX_CANDIDATES_SHOWN)
        .map(|(document, node)| document.address_of(*node))
        .collect();
    Reading::fault(fault)
}

pub(super) fn at_section_path(document: &Rc<OpenDocument>, text: &str, params: Params) -> Reading {
    in_tiers(document, text, SectionPath::new(text).tiers().into_iter(), params)
}

/// What a section path names in the first of `tiers` in which it names anything.
pub(super) fn in_tiers(
    document: &Rc<OpenDocument>,
    text: &str,
    tiers: impl Iterator<Item = Tier>,
    params: Params,
) -> Reading {
    let path = SectionPath::new(text);
    for tier in tiers {
        let hits = path.hits(&document.tree, tier);
        if !hits.is_empty() {
            let hits = hits.into_iter().map(|node| (Rc::clone(document), node)).collect();
            return only(hits, text, params, false);
        }
    }
    let suggestions = suggestion::similar_sections(document, text);
    let message = format!("{} has no section named {text:?}", document.stored.path);
    Reading::fault(Fault::new(FaultCode::SelectorNotFound, message).suggest(suggestions))
}

/// Where a line is: the section whose heading it is, else what contains it.
pub(super) fn at_line(document: &Rc<OpenDocument>, line: usize, params: Params) -> Reading {
    let outline = document.tree.outline();
    if line == 0 || line > outline.lines {
        let message = format!("{} has {} lines", document.stored.path, outline.lines);
        let last = (outline.lines > 0).then(|| document.address(&format!("@{}", outline.lines)));
        let fault = Fault::new(FaultCode::IndexOutOfRange, message);
        return Reading::fault(fault.suggest(last.into_iter().collect()));
    }
    let first_line = |node: usize| outline.nodes.get(node).map_or(1, |node| node.lines.start);
    let section = document.tree.section_at_line(line);
    let mut place = Place::new(Rc::clone(document), Target::Node(0), params);
    match section {
        Some(section) => {
            place.target = Target::Node(section.node);
            // A setext heading has several lines.
            if line >= first_line(section.node) + section.heading_lines {
                place.resolved = Some("containing");
            }
        }
        None => {
            if outline.front_matter.is_some() && line < first_line(0) {
                place.target = Target::FrontMatter;
            }
            place.resolved = Some("containing");
        }
    }
    with_its_part(Reading::place(place))
}

/// Exactly these lines of the innermost section that holds them.
pub(super) fn at_lines(document: &Rc<OpenDocument>, lines: LineSpan, params: Params) -> Reading {
    let outline = document.tree.outline();
    if lines.start == 0 || lines.start > lines.end || lines.start > outline.lines {
        let message = format!("{} has {} lines", document.stored.path, outline.lines);
        return fault(FaultCode::IndexOutOfRange, message);
    }
    let lines = LineSpan { start: lines.start, end: lines.end.min(outline.lines) };
    let span_of = |node: usize| outline.nodes.get(node).map(|node| node.lines).unwrap_or_default();
    let holds =
        |node: &usize| span_of(*node).start <= lines.start && lines.end <= span_of(*node).end;
    let innermost =
        outline.sections.iter().rev().map(|section| section.node).chain([0]).find(holds);
    let first_line = innermost.map_or(1, |node| span_of(node).start);
    let target = innermost.map_or(Target::Document, Target::Node);
    // The last lines of the first ones: so a page of them has an address like any other.
    let params = Params {
        head: Some(lines.end + 1 - first_line),
        tail: Some(lines.end + 1 - lines.start),
        ..params
    };
    let mut place = Place::new(Rc::clone(document), target, params);
    place.resolved = Some("lines");
    Reading::place(place)
}

/// `#0/#1`: by index; or, where that is one section's anchor too, an ambiguity.
fn at_index_path(
    document: &Rc<OpenDocument>,
    path: &[usize],
    digits: &str,
    params: Params,
) -> Reading {
    let mut scope = Scope::Document;
    let mut dead_end = None;
    for (depth, &index) in path.iter().enumerate() {
        let children: Vec<usize> = document.tree.child_sections(scope).collect();
        match children.get(index) {
            Some(&node) => scope = Scope::Node(node),
            None => {
                dead_end = Some((depth, children.len()));
                break;
            }
        }
    }
    let by_anchor =
        if path.len() == 1 { at_anchor(document, digits, params).places } else { vec![] };
    match (dead_end, scope, by_anchor.first()) {
        (None, Scope::Node(node), Some(anchored)) if anchored.target != Target::Node(node) => {
            let message =
                format!("#{digits} is the index of one section and the anchor of another");
            let mut fault = Fault::new(FaultCode::Ambiguous, message);
            fault.candidates = vec![document.address_of(node), anchored.address()];
            Reading::fault(fault)
        }
        (None, Scope::Node(node), _) => {
            Reading::place(Place::new(Rc::clone(document), Target::Node(node), params))
        }
        (_, _, Some(anchored)) => Reading::place(anchored.clone()),
        (Some((depth, count)), ..) => {
            let message = format!("there are {count} sections at step {depth}, counted from 0");
            let suggestion = count.checked_sub(1).map(|last| {
                let before = path.iter().take(depth).chain([&last]);
                let steps: Vec<String> = before.map(|index| format!("#{index}")).collect();
                document.address(&steps.join("/"))
            });
            let fault = Fault::new(FaultCode::IndexOutOfRange, message);
            Reading::fault(fault.suggest(suggestion.into_iter().collect()))
        }
        (None, Scope::Document, None) => fault(FaultCode::SelectorNotFound, "nothing is there"),
    }
}

/// A GitHub anchor; that of a heading in a container stands for what holds the container.
///
/// The very anchor comes before what only compares as equal, of which there may be several.
pub(super) fn at_anchor(document: &Rc<OpenDocument>, anchor: &str, params: Params) -> Reading {
    let tree = &document.tree;
    let outline = tree.outline();
    let decoded = namespace::decode(anchor);
    let anchors: Vec<(usize, String)> = outline
        .sections
        .iter()
        .filter_map(|section| Some((section.node, section.anchor()?)))
        .chain(outline.contained_anchors.iter().map(|c| (c.node, c.anchor.clone())))
        .collect();
    let same = |other: &str| comparable(other) == comparable(&decoded);
    let tests: [&dyn Fn(&str) -> bool; 3] =
        [&|other| other == anchor, &|other| other == decoded, &same];
    for is_it in tests {
        let hits: Vec<usize> =
            anchors.iter().filter(|(_, anchor)| is_it(anchor)).map(|(node, _)| *node).collect();
        let [node] = hits.as_slice() else {
            if hits.is_empty() {
                continue;
            }
            let hits = hits.into_iter().map(|node| (Rc::clone(document), node)).collect();
            return only(hits, &format!("#{anchor}"), params, false);
        };
        let mut place = Place::new(Rc::clone(document), Target::Node(*node), params);
        if tree.section(*node).is_none() {
            let offset = tree.node(*node).map_or(0, |node| node.bytes.start);
            place.target = Target::Node(tree.section_at(offset).unwrap_or(0));
            place.resolved = Some("containing");
        }
        return with_its_part(Reading::place(place));
    }
    let message = format!("{} has no anchor #{anchor}", document.stored.path);
    let suggestions = suggestion::similar_sections(document, &decoded.replace('-', " "));
    Reading::fault(Fault::new(FaultCode::SelectorNotFound, message).suggest(suggestions))
}

/// The LDMD section with that id, as it is written or decoded once.
pub(super) fn ldmd_section(document: &OpenDocument, id: &str) -> Result<usize, Fault> {
    let markup = &document.markup;
    markup.named(id).or_else(|_| markup.named(&namespace::decode(id))).map_err(|others| {
        let message = format!("{} has no LDMD section {id:?}", document.stored.path);
        let mut suggestions: Vec<String> =
            others.into_iter().map(|section| document.address_of_ldmd(section)).collect();
        suggestions.truncate(limits::MAX_SUGGESTIONS);
        if suggestions.is_empty() {
            suggestions = suggestion::similar_ldmd_sections(document, id);
        }
        Fault::new(FaultCode::SelectorNotFound, message).suggest(suggestions)
    })
}

pub(super) fn at_ldmd_section(document: &Rc<OpenDocument>, id: &str, params: Params) -> Reading {
    match ldmd_section(document, id) {
        Ok(section) => {
            let target = Target::Ldmd(section);
            with_its_part(Reading::place(Place::new(Rc::clone(document), target, params)))
        }
        Err(fault) => Reading::fault(fault),
    }
}

/// Follows a selector.
pub(super) fn follow(document: &Rc<OpenDocument>, selector: &Selector, params: Params) -> Reading {
    let place = |node| Place::new(Rc::clone(document), Target::Node(node), params);
    let steps = &selector.steps;
    let mut nodes = match document.tree.follow(steps, limits::MAX_EXPANSION + 1) {
        Ok(nodes) => nodes,
        Err(dead_end) => {
            let partial = match steps.get(..dead_end.step).unwrap_or_default() {
                [] => Vec::new(),
                prefix => document.tree.follow(prefix, limits::MAX_SUGGESTIONS).unwrap_or_default(),
            };
            return Reading {
                fault: Some(suggestion::of_dead_end(document, selector, dead_end)),
                partial: partial.into_iter().map(place).collect(),
                ..Reading::default()
            };
        }
    };
    let mut warnings = Vec::new();
    if nodes.len() > limits::MAX_EXPANSION {
        nodes.truncate(limits::MAX_EXPANSION);
        let path = &document.stored.path;
        let message =
            format!("{path}: {selector} matches more nodes than the limit expansion allows");
        warnings.push(Warning::new("EXPANSION_CUT", message));
    }
    let before_last = steps.get(..steps.len().saturating_sub(1)).unwrap_or_default();
    let is_unindexed = |step: &&Step| step.ordinal == Ordinal::All && step.kind != StepKind::Root;
    if let Some(step) = before_last.iter().find(is_unindexed) {
        let message = format!("{step} has no index: every one of them was followed");
        warnings.push(Warning::new("UNINDEXED_STEP", message));
    }
    let places = nodes.into_iter().map(place).collect();
    with_its_part(Reading { places, warnings, ..Reading::default() })
}

/// The reading, unless a part is asked for where there is none.
pub(super) fn with_its_part(reading: Reading) -> Reading {
    let is_split = |place: &&Place| {
        let holds_others = |section| place.document.markup.children(section).next().is_some();
        place.params.part == Some(Part::Own)
            && matches!(place.target, Target::Ldmd(section) if holds_others(section))
    };
    if let Some(place) = reading.places.iter().find(is_split) {
        let address = place.address();
        let message =
            format!("{address} has sections within: `ldmd get --depth 0` leaves them out");
        return fault(FaultCode::MalformedQuery, message);
    }
    let lacks_heading = |place: &&Place| {
        let is_section = match place.target {
            Target::Node(node) => place.document.tree.section(node).is_some(),
            _ => false,
        };
        place.params.part == Some(Part::Heading) && !is_section
    };
    match reading.places.iter().find(lacks_heading) {
        Some(place) => {
            fault(FaultCode::SelectorNotFound, format!("{} has no heading", place.address()))
        }
        None => reading,
    }
}

/// The remark that a selector hides the title of a section, where `text` is both.
fn shadowed(document: &OpenDocument, text: &str) -> Option<Warning> {
    if !crate::address::selector::is_selector(text) {
        return None;
    }
    let text = text.split('?').next().unwrap_or(text);
    let wanted = comparable(text);
    let is_title = |section: &Section| comparable(&section.title) == wanted;
    document.tree.outline().sections.iter().any(is_title).then(|| shadows(text))
}

/// The remark that `text`, a selector, is the title of a section, too.
pub(super) fn shadows(text: &str) -> Warning {
    let message = format!("{text} is read as a selector; the section of that title is `/{text}`");
    Warning::new("SHADOWED_TITLE", message)
}
