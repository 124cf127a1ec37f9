//! Locates the node that an edit names, in the newest version of its document.
//!
//! Invariant: the node is exactly what was named. A text with several meanings, a part of a place, or a line
//! in the middle of a block is refused.

use std::rc::Rc;

use super::edit_place::{NamedNode, edit_fault, not_exact, without_params};
use super::locate::of_corrections;
use super::locate::{locate, locate_first, missing};
use super::located::{Located, RANGE_PAST_END, dedup_places};
use super::section_path::SectionPath;
use super::several_places;
use crate::address::{
    AddressError, AddressResult, CellSteps, FaultCode, Locator, Ordinal, Params, RowStep, Selector,
    StepKind, Suggestion, lines_address,
};
use crate::limits;
use crate::markdown::outline::{BlockType, NodeKind};
use crate::query::open_document::OpenDocument;
use crate::query::resolved_node::{ResolvedAs, ResolvedNode, Target};
use crate::visible::quoted;

/// Locates the named node in `document`, which may have changed since it was named. A selector with all
/// its indices and its document, as every command prints addresses, has only one meaning.
pub(crate) fn locate_for_edit(
    document: &Rc<OpenDocument>,
    named: &NamedNode,
    is_fuzzy: bool,
) -> AddressResult<ResolvedNode> {
    let place = locate_text_for_edit(document, named, is_fuzzy).map_err(|mut fault| {
        let line = line_address(document, named);
        fault.suggestions.retain(|one| Some(&one.address) != line.as_ref());
        fault
    })?;
    if place.resolved != Some(ResolvedAs::Lines) {
        return Ok(place);
    }
    let address = place.address();
    let message = format!(
        "this edit cannot name a range of lines; name one line of a task, or {address}, which contains them"
    );
    Err(edit_fault(FaultCode::SelectorNotFound, &named.text, message).suggest(vec![address]))
}

/// Locates the named section in `document`, as [`locate_for_edit`] does. For a line that is not a heading, it suggests
/// the section that contains the line.
pub(crate) fn locate_section_for_edit(
    document: &Rc<OpenDocument>,
    named: &NamedNode,
    is_fuzzy: bool,
) -> AddressResult<ResolvedNode> {
    locate_for_edit(document, named, is_fuzzy).map_err(|fault| {
        let section = named.line().and_then(|line| document.tree.section_at_line(line));
        let Some(section) = section else { return fault };
        let address = document.address_of(section.node);
        let message = format!("this line is not a heading; it is in {address}");
        let title = Some(section.title.clone());
        edit_fault(FaultCode::SelectorNotFound, &named.text, message)
            .suggest(vec![Suggestion { address, title }])
    })
}

/// Locates the named node, or the named range of lines, in `document`, as [`locate_for_edit`] does.
pub(crate) fn locate_text_for_edit(
    document: &Rc<OpenDocument>,
    named: &NamedNode,
    is_fuzzy: bool,
) -> AddressResult<ResolvedNode> {
    let text = named.text.as_str();
    if let Some(fault) = ambiguous_word(document, named) {
        return Err(fault);
    }
    let places = match &named.places {
        Ok(places) => places,
        Err(fault) => {
            let suggestions = of_corrections(document, fault.suggested());
            return Err(fault.clone().suggest(suggestions).of(text));
        }
    };
    let mut hits: Vec<ResolvedNode> = Vec::new();
    for place in places {
        let located = match place.locator {
            // An edit can create front matter that does not exist yet.
            Locator::FrontMatter if place.steps.is_empty() => Some(Located::place(
                ResolvedNode::new(Rc::clone(document), Target::FrontMatter, place.params),
            )),
            Locator::TitlePart(_) if !hits.is_empty() => None,
            _ => locate(document, place),
        };
        let Some(located) = located else { continue };
        if let Some(fault) = located.fault {
            return Err(fault.of(text));
        }
        // An edit changes no other lines or nodes than those that were named.
        if let Some(warning) = located.warnings.iter().find(|one| one.code == RANGE_PAST_END) {
            return Err(edit_fault(FaultCode::IndexOutOfRange, text, warning.message.clone()));
        }
        if matches!(place.locator, Locator::TitlePart(_)) {
            return match located.places.as_slice() {
                [place] if is_fuzzy => checked(place, named),
                [place] => Err(not_exact(text, place)),
                places => Err(several_places(text, places, "")),
            };
        }
        hits.extend(located.places);
    }
    dedup_places(&mut hits);
    match hits.as_slice() {
        [] => Err(missing(document, places).of(text)),
        [place] => checked(place, named),
        places => Err(several_places(text, places, "")),
    }
}

/// Returns the node, if `place` is exactly the named node and has no parameter except `part`, or is a range of lines.
fn checked(place: &ResolvedNode, named: &NamedNode) -> AddressResult<ResolvedNode> {
    let text = named.text.as_str();
    let Params { page, from, head, tail, part, .. } = place.params;
    let is_page = page.is_some() || from.is_some();
    if place.resolved == Some(ResolvedAs::Lines) && !is_page {
        return Ok(place.clone());
    }
    if place.resolved.is_some() {
        let mut around = named.line().map_or(Vec::new(), |line| blocks_at(&place.document, line));
        around.push(place.address());
        let innermost = around.first().map_or("", String::as_str);
        let message = format!("this line is not a heading; it is in {innermost}");
        around.extend(line_address(&place.document, named));
        return Err(edit_fault(FaultCode::SelectorNotFound, text, message).suggest(around));
    }
    if is_page || head.is_some() || tail.is_some() {
        let message = format!("an edit applies to a whole place: {}", place.address());
        let fault = edit_fault(FaultCode::MalformedQuery, text, message);
        return Err(fault.suggest(vec![place.address()]));
    }
    Ok(ResolvedNode { params: Params { part, ..Params::default() }, ..place.clone() })
}

/// Returns the address of the named line as a range, which names the line itself.
fn line_address(document: &OpenDocument, named: &NamedNode) -> Option<String> {
    named.line().map(|line| lines_address(&document.stored.path, line, line))
}

/// Returns the addresses of the row, the blocks and the items that contain a line, innermost first.
fn blocks_at(document: &OpenDocument, line: usize) -> Vec<String> {
    let tree = &document.tree;
    let nodes = tree.outline().nodes.iter().enumerate().rev();
    let at_line = nodes.filter(|(_, node)| node.lines.start <= line && line <= node.lines.end);
    let blocks =
        at_line.filter(|(_, node)| matches!(node.kind, NodeKind::Block(_) | NodeKind::Item));
    let addresses = blocks.flat_map(|(index, node)| {
        let address = document.address_of(index);
        let is_table = node.kind == NodeKind::Block(BlockType::Table);
        let row = is_table.then(|| row_at(line - node.lines.start)).flatten();
        row.map(|row| format!("{address}/{row}")).into_iter().chain([address])
    });
    // The whole place and the line itself are suggested, too.
    addresses.take(limits::MAX_SUGGESTIONS - 2).collect()
}

/// Returns the step to the row on a line of a table, counted from 0. Each row is one line, and the delimiter row, which
/// is none, follows the header.
fn row_at(line: usize) -> Option<CellSteps> {
    let row = match line {
        0 => RowStep::Header,
        _ => RowStep::Range(line.checked_sub(2)?, line - 2),
    };
    Some(CellSteps { row, cell: None })
}

/// Returns the fault for a text that is both the title of a section and a location of another kind.
fn ambiguous_word(document: &Rc<OpenDocument>, named: &NamedNode) -> Option<AddressError> {
    let text = named.text.as_str();
    let title = text.split_once("::").filter(|_| named.is_address).map_or(text, |(_, place)| place);
    let (title, _) = without_params(title);
    let places = named.places.as_deref();
    let is_other_kind = match places.map(|places| places.first().map(|place| &place.locator)) {
        // Reads take `@frontmatter` for the front matter too, even if a section has this title.
        Ok(
            Some(
                Locator::SectionPath(_)
                | Locator::TitlePart(_)
                | Locator::Document
                | Locator::FrontMatter,
            )
            | None,
        ) => false,
        Ok(Some(Locator::Selector(selector, written))) => {
            !(named.is_address && is_primary(selector, written))
        }
        Ok(Some(_)) => !named.is_address,
        Err(_) => true,
    };
    if !is_other_kind {
        return None;
    }
    let sections = SectionPath::new(title).exact_hits(&document.tree);
    if sections.is_empty() {
        return None;
    }
    let titled =
        |node| ResolvedNode::new(Rc::clone(document), Target::Node(node), Params::default());
    let titled: Vec<ResolvedNode> = sections.into_iter().map(titled).collect();
    let mut all = locate_first(document, places.unwrap_or_default()).places;
    let count = all.len();
    all.extend(titled.iter().cloned());
    dedup_places(&mut all);
    if count == titled.len() && all.len() == count {
        return None;
    }
    let message =
        format!("{title} is both a selector and the title of a section", title = quoted(&title));
    let fault = edit_fault(FaultCode::Ambiguous, text, message);
    Some(fault.among(all.iter().map(ResolvedNode::candidate), all.len()))
}

/// Returns whether a selector, written as `text`, is in the form in which addresses are printed: without
/// shorthand, and with one index at each step except `root`.
fn is_primary(selector: &Selector, text: &str) -> bool {
    let has_index = |ordinal| matches!(ordinal, Ordinal::One(_));
    text == selector.to_string()
        && selector.steps.iter().all(|step| step.kind == StepKind::Root || has_index(step.ordinal))
}
