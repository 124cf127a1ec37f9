//! Locates lines in a document.
//!
//! Invariant: the place that is returned contains every line that was asked for and exists.

use std::rc::Rc;

use super::located::{Located, RANGE_PAST_END, fault};
use crate::address::{AddressError, FaultCode, Params};
use crate::count::counted;
use crate::error::Warning;
use crate::position::LineSpan;
use crate::query::open_document::OpenDocument;
use crate::query::resolved_node::{ResolvedAs, ResolvedNode, Target};

/// Returns the section whose heading is on the line, or else the node that contains the line.
pub(super) fn at_line(document: &Rc<OpenDocument>, line: usize, params: Params) -> Located {
    let outline = document.tree.outline();
    if line == 0 || line > outline.lines {
        let message = out_of_range(document, LineSpan { start: line, end: line });
        let nearest = line.clamp(1, outline.lines.max(1));
        let nearest = (outline.lines > 0).then(|| document.address(&format!("@{nearest}")));
        let fault = AddressError::new(FaultCode::IndexOutOfRange, message);
        return Located::fault(fault.suggest(nearest.into_iter().collect()));
    }
    let first_line = |node: usize| outline.nodes.get(node).map_or(1, |node| node.lines.start);
    let section = document.tree.section_at_line(line);
    let mut place = ResolvedNode::new(Rc::clone(document), Target::Node(0), params);
    match section {
        Some(section) => {
            place.target = Target::Node(section.node);
            // A setext heading has several lines.
            if line >= first_line(section.node) + section.heading_lines {
                place.resolved = Some(ResolvedAs::Containing);
            }
        }
        None => {
            if outline.front_matter.is_some() && line < first_line(0) {
                place.target = Target::FrontMatter;
            }
            place.resolved = Some(ResolvedAs::Containing);
        }
    }
    Located::place(place)
}

/// Returns exactly these lines, as part of the innermost section that contains them. With `head` or `tail`, returns
/// the first or last of these lines.
pub(super) fn at_lines(document: &Rc<OpenDocument>, lines: LineSpan, params: Params) -> Located {
    let outline = document.tree.outline();
    if lines.start == 0 || lines.start > lines.end || lines.start > outline.lines {
        return fault(FaultCode::IndexOutOfRange, out_of_range(document, lines));
    }
    if params.part.is_some() {
        let message = "part is of a section, and lines are none; leave out part";
        return fault(FaultCode::MalformedQuery, message);
    }
    let past_end = (lines.end > outline.lines).then(|| {
        let LineSpan { start, end } = lines;
        let (path, last) = (&document.stored.path, outline.lines);
        let message =
            format!("{path}: lines {start}-{end} reach past the last line, which is {last}");
        Warning::new(RANGE_PAST_END, message)
    });
    let lines = LineSpan { start: lines.start, end: lines.end.min(outline.lines) };
    let span_of = |node: usize| outline.nodes.get(node).map(|node| node.lines).unwrap_or_default();
    let contains =
        |node: &usize| span_of(*node).start <= lines.start && lines.end <= span_of(*node).end;
    let innermost =
        outline.sections.iter().rev().map(|section| section.node).chain([0]).find(contains);
    let first_line = innermost.map_or(1, |node| span_of(node).start);
    let target = innermost.map_or(Target::Document, Target::Node);
    let count = lines.end + 1 - lines.start;
    let head = params.head.map_or(count, |head| head.min(count));
    let tail = params.tail.map_or(head, |tail| tail.min(head));
    // The lines are the tail of the head, so a page of them has an address like any other.
    let head = Some(lines.start - first_line + head);
    let params = Params { head, tail: Some(tail), ..params };
    let mut place = ResolvedNode::new(Rc::clone(document), target, params);
    place.resolved = Some(ResolvedAs::Lines);
    let mut located = Located::place(place);
    located.warnings.extend(past_end);
    located
}

/// Returns why lines, 1-based, are not in a document.
fn out_of_range(document: &OpenDocument, lines: LineSpan) -> String {
    let LineSpan { start, end } = lines;
    match start {
        0 => "the first line is 1".to_owned(),
        _ if start > end => format!("the range of lines {start}-{end} ends before it begins"),
        _ => {
            let lines = counted(document.tree.outline().lines, "line");
            format!("{} has {lines}", document.stored.path)
        }
    }
}
