//! Follows steps from a node, and reports how they were followed.
//!
//! Invariant: steps never leave the node from which they are followed.

use std::rc::Rc;

use super::located::{Located, RANGE_PAST_END, fault, with_its_part};
use super::suggestion;
use crate::address::{FaultCode, Ordinal, Params, Step, StepKind, StepScope, joined};
use crate::error::Warning;
use crate::limits;
use crate::message::message;
use crate::query::resolved_node::{ResolvedNode, Target};
use crate::query::warning::EXPANSION_CUT;

/// Returns the nodes that steps name from a place.
pub(super) fn continued(base: &ResolvedNode, steps: &[Step], params: Params) -> Located {
    let scope = match base.target {
        _ if base.params.head.is_some() => {
            let message = "steps cannot follow a range of lines; name one line, as in @11";
            return fault(FaultCode::InvalidSyntax, message);
        }
        Target::FrontMatter => {
            return fault(
                FaultCode::SelectorNotFound,
                "front matter contains no sections or blocks",
            );
        }
        Target::Cells(_) => {
            return fault(FaultCode::SelectorNotFound, "a row or cell contains no blocks");
        }
        Target::Document => StepScope::Document,
        Target::Node(node) => StepScope::Node(node),
        Target::Ldmd(_) => base.document.tree.scope_of(base.span()),
    };
    let mut located = follow(base, scope, steps, params);
    for place in &mut located.places {
        place.resolved = base.resolved;
    }
    located
}

/// Returns the nodes that steps name from `scope`, which is the scope of `base`.
pub(super) fn follow(
    base: &ResolvedNode,
    scope: StepScope,
    steps: &[Step],
    params: Params,
) -> Located {
    let document = &base.document;
    let place = |node| ResolvedNode::new(Rc::clone(document), Target::Node(node), params);
    if steps.is_empty() {
        return with_its_part(Located::place(ResolvedNode { params, ..base.clone() }));
    }
    let mut nodes = match document.tree.follow_from(scope, steps, limits::MAX_EXPANSION + 1) {
        Ok(nodes) => nodes,
        Err(dead_end) => {
            let prefix = steps.get(..dead_end.step).unwrap_or_default();
            let partial = match (prefix, base.target) {
                ([], Target::Document) => Vec::new(),
                ([], _) => vec![base.clone()],
                (prefix, _) => {
                    let most = limits::MAX_SUGGESTIONS;
                    let nodes = document.tree.follow_from(scope, prefix, most);
                    nodes.unwrap_or_default().into_iter().map(place).collect()
                }
            };
            let fault = suggestion::of_dead_end(base, steps, dead_end);
            return Located { fault: Some(fault), partial, ..Located::default() };
        }
    };
    let path = &document.stored.path;
    let written = joined(steps);
    let mut located = Located::default();
    let is_cut = nodes.len() > limits::MAX_EXPANSION;
    let before_last = steps.get(..steps.len().saturating_sub(1)).unwrap_or_default();
    let is_unindexed = |step: &&Step| step.ordinal == Ordinal::All && step.kind != StepKind::Root;
    if is_cut {
        nodes.truncate(limits::MAX_EXPANSION);
        let mut cut = expansion_cut(&format!("{path}: {written}"));
        // Each of several scopes has indexes of its own.
        if !before_last.iter().any(|step| is_unindexed(&step))
            && let Some(last) = steps.last()
        {
            let rest = joined(&[before_last, &[after_cut(*last)]].concat());
            let rest = match base.target {
                Target::Document => document.address(&rest),
                _ => format!("{}/{rest}", base.address()),
            };
            let rest = format!("{rest}{params}");
            cut.message = message!("{}; `mdsel select {path}` goes on", cut.message, rest);
        }
        located.warnings.push(cut);
    }
    if let Some(step) = before_last.iter().find(is_unindexed) {
        let message = format!("{step} has no index, so every match of it was followed");
        located.warnings.push(Warning::new("UNINDEXED_STEP", message));
    } else if let Some(Step { kind, ordinal: Ordinal::Range(from, to), .. }) = steps.last()
        && !is_cut
        && nodes.len() <= to - from
    {
        let count = from + nodes.len();
        let message =
            format!("{path}: {written} reaches past the last {kind}, which is [{}]", count - 1);
        located.warnings.push(Warning::new(RANGE_PAST_END, message));
    }
    located.places = nodes.into_iter().map(place).collect();
    with_its_part(located)
}

/// Returns the step for what `step` matches after the limit.
fn after_cut(step: Step) -> Step {
    let (from, to) = match step.ordinal {
        Ordinal::Range(from, to) => (from, to),
        Ordinal::One(index) => (index, index),
        Ordinal::All => (0, usize::MAX),
    };
    let from = from.saturating_add(limits::MAX_EXPANSION);
    let to = to.min(from.saturating_add(limits::MAX_EXPANSION - 1));
    Step { ordinal: Ordinal::Range(from, to), ..step }
}

/// Returns the warning that `what` names more nodes than are followed.
pub(in crate::query) fn expansion_cut(what: &str) -> Warning {
    let message = format!("{what} matches more nodes than {} allows", limits::row::MAX_EXPANSION);
    Warning::new(EXPANSION_CUT, message)
}
