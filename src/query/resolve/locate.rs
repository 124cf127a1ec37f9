//! Resolves a locator within one document. Pure.
//!
//! Invariant: a locator that could mean two nodes is ambiguous, and each of its candidates resolves.

use std::rc::Rc;

use super::locate_lines::{at_line, at_lines};
use super::located::{Located, fault, with_its_part};
use super::section_path::{SectionPath, Tier};
use super::steps::{continued, follow};
use super::suggestion::unique;
use super::{ResolvedSections, suggestion};
use crate::address::{
    AddressError, FaultCode, Locator, Params, ParsedPlace, StepScope, Suggestion, parse_places,
    split_marks, wrong_params,
};
use crate::count::counted;
use crate::error::Warning;
use crate::limits;
use crate::markdown::slug::{comparable, slug};
use crate::message::message;
use crate::percent::percent_decode;
use crate::query::open_document::OpenDocument;
use crate::query::resolved_node::{ResolvedAs, ResolvedNode, Target};
use crate::visible::quoted;

/// Returns the result of the first of `places` that names anything in `document`.
pub(super) fn locate_first(document: &Rc<OpenDocument>, places: &[ParsedPlace]) -> Located {
    first_located(document, places).unwrap_or_else(|| Located::fault(missing(document, places)))
}

/// Works like [`locate_first`], and returns `None` if no place names anything.
pub(super) fn first_located(
    document: &Rc<OpenDocument>,
    places: &[ParsedPlace],
) -> Option<Located> {
    places.iter().enumerate().find_map(|(index, place)| {
        let others = places.get(index + 1..).unwrap_or_default();
        Some(locate(document, place)?.warn(hidden_steps(document, place, others)))
    })
}

/// Returns whether one of `places` is an anchor.
pub(super) fn has_anchor(places: &[ParsedPlace]) -> bool {
    places.iter().any(|place| matches!(place.locator, Locator::Anchor(_)))
}

/// Returns what `place` names in `document`. Returns `None` if nothing in it has that name; another
/// interpretation may then apply.
pub(super) fn locate(document: &Rc<OpenDocument>, place: &ParsedPlace) -> Option<Located> {
    if place.steps.is_empty() {
        return at_locator(document, &place.locator, place.params).map(with_its_part);
    }
    let base = at_locator(document, &place.locator, Params::default())?;
    Some(match base.places.as_slice() {
        [only] if base.fault.is_none() => continued(only, &place.steps, place.params),
        _ => base,
    })
}

fn at_locator(document: &Rc<OpenDocument>, locator: &Locator, params: Params) -> Option<Located> {
    let whole = |target| Located::place(ResolvedNode::new(Rc::clone(document), target, params));
    Some(match locator {
        Locator::Document => whole(Target::Document),
        Locator::FrontMatter if document.tree.outline().front_matter.is_none() => {
            let path = &document.stored.path;
            let message = message!(
                "{} has no front matter; `mdsel toc {path}` lists its sections",
                path,
                path
            );
            fault(FaultCode::SelectorNotFound, message)
        }
        Locator::FrontMatter => whole(Target::FrontMatter),
        Locator::Line(line) => at_line(document, *line, params),
        Locator::Lines(lines) => at_lines(document, *lines, params),
        Locator::IndexPath(path, digits) => at_index_path(document, path, digits, params),
        Locator::Anchor(anchor) => return at_anchor(document, anchor, params),
        Locator::Ldmd(id) => whole(Target::Ldmd(ldmd_section(document, id)?)),
        Locator::SectionPath(text) => {
            let path = SectionPath::new(text);
            return in_tiers(document, text, path.exact_tiers(), params);
        }
        Locator::TitlePart(text) => return in_tiers(document, text, &[Tier::Substring], params),
        Locator::Selector(selector, text) => {
            let scope = StepScope::Document;
            let base = ResolvedNode::whole(Rc::clone(document));
            follow(&base, scope, &selector.steps, params).warn(shadowed(document, text))
        }
    })
}

/// Returns the warning that a section path takes precedence over a node named by steps.
fn hidden_steps(
    document: &Rc<OpenDocument>,
    place: &ParsedPlace,
    others: &[ParsedPlace],
) -> Option<Warning> {
    let hidden = others
        .iter()
        .filter(|other| place.steps.is_empty() && !other.steps.is_empty())
        .filter_map(|other| locate(document, other))
        .find(|located| located.fault.is_none())?;
    Some(hides_steps(&place.locator, hidden.places.first()?))
}

/// Returns the warning that `locator` as a whole takes precedence over `hidden`, which steps lead to.
pub(super) fn hides_steps(locator: &Locator, hidden: &ResolvedNode) -> Warning {
    let message =
        format!("read as the {locator}; if the end is read as steps, it is {}", hidden.address());
    Warning::new("SHADOWED_STEPS", message)
}

/// Returns the fault that none of `places` names anything in `document`.
pub(super) fn missing(document: &Rc<OpenDocument>, places: &[ParsedPlace]) -> AddressError {
    // A place with steps gives a more precise error than the whole text.
    let place = places.iter().find(|place| !place.steps.is_empty()).or_else(|| places.first());
    let path = &document.stored.path;
    let not_found = |message: String| AddressError::new(FaultCode::SelectorNotFound, message);
    let Some(place) = place else { return not_found(format!("{path} has no such place")) };
    let toc = || message!("`mdsel toc {path}` lists its sections", path);
    match &place.locator {
        Locator::Ldmd(id) => missing_ldmd_section(document, id),
        Locator::Anchor(anchor) => {
            if let Some(fault) = wrong_params(anchor) {
                return fault;
            }
            let text = percent_decode(anchor).replace('-', " ");
            let lines = suggestion::lines_in(document, anchor);
            not_found(format!("{path} has no anchor #{anchor}"))
                .suggest(suggestion::similar_places(document, &text, &place.steps))
                .suggest_first(lines.into_iter().collect())
                .or_else(toc)
        }
        Locator::SectionPath(text) | Locator::TitlePart(text) => {
            let whole = match places.first().map(|place| &place.locator) {
                Some(Locator::SectionPath(whole)) => whole,
                _ => text,
            };
            if let Some(fault) = wrong_params(whole) {
                return fault;
            }
            let corrected = crate::address::corrections(whole);
            let corrected = corrected.iter().map(String::as_str);
            let mut suggestions = of_corrections(document, corrected);
            let title = split_marks(text).map_or(text.as_str(), |(_, title)| title);
            suggestions.extend(suggestion::similar_places(document, title, &place.steps));
            suggestions.truncate(limits::MAX_SUGGESTIONS);
            let lines = suggestion::lines_in(document, whole);
            not_found(format!("{path} has no section named {text}", text = quoted(&text)))
                .suggest(suggestions)
                .suggest_first(lines.into_iter().collect())
                .or_else(toc)
        }
        other => not_found(format!("{path} has no {other}")).or_else(toc),
    }
}

/// Returns the only hit, or an ambiguity error.
pub(super) fn only(
    hits: ResolvedSections,
    message: impl FnOnce(&str) -> String,
    params: Params,
    is_cut: bool,
) -> Located {
    let place = |(document, node)| ResolvedNode::new(document, Target::Node(node), params);
    let count = hits.count;
    let mut places = hits.first.into_iter().map(place);
    if count == 1 && !is_cut {
        return with_its_part(Located { places: places.collect(), ..Located::default() });
    }
    let least = if is_cut { "at least " } else { "" };
    let fault = AddressError::new(FaultCode::Ambiguous, message(&format!("{least}{count}")));
    let shown = places.by_ref().take(limits::MAX_CANDIDATES_SHOWN);
    Located::fault(fault.among(shown.map(|place| place.candidate()), count))
}

/// Returns the message for several sections with one name, or with the text in their titles.
pub(super) fn several(text: &str, is_part: bool) -> impl FnOnce(&str) -> String + '_ {
    move |count| {
        if is_part {
            format!(
                "{count} sections have {text} in their title or slug, none as a whole",
                text = quoted(&text)
            )
        } else {
            format!("{count} sections are named {text}", text = quoted(&text))
        }
    }
}

/// Returns what a section path names, in the first of `tiers` with a match.
pub(super) fn in_tiers(
    document: &Rc<OpenDocument>,
    text: &str,
    tiers: &[Tier],
    params: Params,
) -> Option<Located> {
    let path = SectionPath::new(text);
    let hits = |tier: &Tier| Some((*tier, path.hits(&document.tree, *tier)));
    let (tier, hits) = tiers.iter().filter_map(hits).find(|(_, hits)| !hits.is_empty())?;
    let hits = ResolvedSections::within(document, hits);
    Some(only(hits, several(text, tier == Tier::Substring), params, false))
}

/// Resolves `#0/#1` by index. Ambiguous if it is also the anchor of another section.
fn at_index_path(
    document: &Rc<OpenDocument>,
    path: &[usize],
    digits: &str,
    params: Params,
) -> Located {
    let mut scope = StepScope::Document;
    let mut dead_end = None;
    for (depth, &index) in path.iter().enumerate() {
        let children: Vec<usize> = document.tree.child_sections(scope).collect();
        match children.get(index) {
            Some(&node) => scope = StepScope::Node(node),
            None => {
                dead_end = Some((depth, children.len()));
                break;
            }
        }
    }
    let by_anchor = match at_anchor(document, digits, params) {
        Some(anchored) if path.len() == 1 => anchored.places,
        _ => Vec::new(),
    };
    match (dead_end, scope, by_anchor.first()) {
        (None, StepScope::Node(node), Some(anchored)) if anchored.target != Target::Node(node) => {
            let message =
                format!("#{digits} is the index of one section and the anchor of another");
            let indexed = ResolvedNode::new(Rc::clone(document), Target::Node(node), params);
            let candidates = [indexed.candidate(), anchored.candidate()];
            Located::fault(AddressError::new(FaultCode::Ambiguous, message).among(candidates, 2))
        }
        (None, StepScope::Node(node), _) => {
            Located::place(ResolvedNode::new(Rc::clone(document), Target::Node(node), params))
        }
        (_, _, Some(anchored)) => Located::place(anchored.clone()),
        (Some((depth, count)), ..) => {
            let (file, sections) = (&document.stored.path, counted(count, "section"));
            let message =
                format!("{file} has {sections} at step {depth} of the index; indexes begin at 0");
            let suggestion = count.checked_sub(1).map(|last| {
                let before = path.iter().take(depth).chain([&last]);
                let steps: Vec<String> = before.map(|index| format!("#{index}")).collect();
                document.address(&steps.join("/"))
            });
            let fault = AddressError::new(FaultCode::IndexOutOfRange, message);
            Located::fault(fault.suggest(suggestion.into_iter().collect()))
        }
        (None, _, None) => fault(FaultCode::SelectorNotFound, "there is no such section"),
    }
}

/// Resolves a GitHub anchor. The anchor of a heading in a container means the section that contains the
/// container.
///
/// An identical anchor takes precedence over anchors that are equal only after normalization, of which
/// there may be several. A title in place of an anchor, as in wikilinks, means the anchor that it has. The first anchor
/// in HTML, or id of a block, is taken if no heading has that name, as links do.
fn at_anchor(document: &Rc<OpenDocument>, anchor: &str, params: Params) -> Option<Located> {
    let tree = &document.tree;
    let decoded = percent_decode(anchor);
    let slug = slug(&decoded);
    for (name, is_exact) in [(anchor, true), (&decoded, true), (&decoded, false), (&slug, true)] {
        let like = document.anchors_like(&comparable(name)).iter();
        let same = like.filter(|(_, other)| !is_exact || other == name);
        let mut hits: Vec<usize> = same.map(|(node, _)| *node).collect();
        hits.sort_unstable();
        hits.dedup();
        let [node] = hits.as_slice() else {
            if hits.is_empty() {
                continue;
            }
            let hits = ResolvedSections::within(document, hits);
            let message = |count: &str| format!("{count} sections have the anchor #{anchor}");
            return Some(only(hits, message, params, false));
        };
        let mut place = ResolvedNode::new(Rc::clone(document), Target::Node(*node), params);
        if tree.section(*node).is_none() {
            let offset = tree.node(*node).map_or(0, |node| node.bytes.start);
            place.target = Target::Node(tree.section_at(offset).unwrap_or(0));
            place.resolved = Some(ResolvedAs::Containing);
        }
        return Some(Located::place(place));
    }
    let node = document.other_anchor(&decoded)?;
    let mut place = ResolvedNode::new(Rc::clone(document), Target::Node(node), params);
    if !decoded.starts_with('^') && node > 0 && tree.section(node).is_none() {
        place.resolved = Some(ResolvedAs::Containing);
    }
    Some(Located::place(place))
}

/// Returns the LDMD section with that id, as written or percent-decoded once.
pub(in crate::query) fn ldmd_section(document: &OpenDocument, id: &str) -> Option<usize> {
    let markup = &document.markup;
    markup.named(id).or_else(|_| markup.named(&percent_decode(id))).ok()
}

/// Returns the fault that a document has no LDMD section with that id, or several.
pub(in crate::query) fn missing_ldmd_section(document: &OpenDocument, id: &str) -> AddressError {
    let same = document.markup.named(&percent_decode(id)).err().unwrap_or_default();
    let mut suggestions: Vec<String> =
        same.into_iter().map(|section| document.address_of_ldmd(section)).collect();
    suggestions.truncate(limits::MAX_SUGGESTIONS);
    if suggestions.is_empty() {
        suggestions = suggestion::similar_ldmd_sections(document, id);
    }
    let path = &document.stored.path;
    let message = format!("{path} has no LDMD section {id}", id = quoted(&id));
    let fault = AddressError::new(FaultCode::SelectorNotFound, message).suggest(suggestions);
    let has_none = document.markup.sections.is_empty();
    fault.or_else(|| {
        if has_none {
            message!("it has only headings; `mdsel toc {path}` lists them", path)
        } else {
            message!("`mdsel ldmd index {path}` lists them", path)
        }
    })
}

/// Returns the warning that a selector hides a section with the title or the slug path `text`, if there is such a
/// section.
pub(super) fn shadowed(document: &OpenDocument, text: &str) -> Option<Warning> {
    // No slug has a colon, so the selectors that answers print are not looked up.
    let has_path = || {
        text.contains('/')
            && !text.contains(':')
            && !SectionPath::new(text).hits(&document.tree, Tier::SlugPath).is_empty()
    };
    (!text.is_empty() && (document.has_title(text) || has_path())).then(|| shadows(text))
}

/// Returns the warning that the selector `text` is also the title of a section.
pub(super) fn shadows(text: &str) -> Warning {
    let message = format!("{text} is read as a selector; the section of that name is `/{text}`");
    Warning::new("SHADOWED_TITLE", message)
}

/// Returns the `corrected` locators that resolve in a document, as addresses. An index that is out of
/// range is replaced by the last valid one.
pub(super) fn of_corrections<'a>(
    document: &Rc<OpenDocument>,
    corrected: impl Iterator<Item = &'a str>,
) -> Vec<Suggestion> {
    let suggestion = |text: &str| {
        let places = parse_places(text, 0).ok()?;
        let located = places.iter().find_map(|place| locate(document, place))?;
        match located.fault {
            None => {
                let title = located.places.first().and_then(ResolvedNode::title);
                Some(Suggestion { address: document.address(text), title })
            }
            Some(fault) if fault.code == FaultCode::IndexOutOfRange => {
                fault.suggestions.into_iter().next()
            }
            Some(_) => None,
        }
    };
    unique(corrected.filter_map(suggestion).collect())
}
