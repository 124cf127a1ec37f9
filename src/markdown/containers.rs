//! The containers that are open while blocks are parsed: how deep they nest, and what a line is inside of them.
//!
//! Invariant: no rule of a container opens one below [`limits::MAX_NESTING`] levels.

use markdown_it::Node;
use markdown_it::parser::block::{BlockRule, BlockState};
use markdown_it::parser::extset::RootExt;

use crate::limits;

/// The number of nodes in the document so far, and the caps that were exceeded.
#[derive(Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a bound that was met")]
pub(super) struct Bounds {
    pub(super) nodes: usize,
    pub(super) too_many_nodes: bool,
    pub(super) too_deep: bool,
    /// The indentations of the open containers except the innermost, which the state has.
    outer_indents: Vec<usize>,
    /// Whether a block quote is open.
    pub(super) is_in_quote: bool,
    /// The number of lines that the open block quotes have copied, each quote its own.
    pub(super) kept_lines: usize,
    /// Whether a block quote was not opened because it would copy too many lines.
    pub(super) too_many_lines: bool,
    /// The line after the last definition, and the level of its container.
    pub(super) after_definition: Option<(usize, u32)>,
}
impl RootExt for Bounds {}

/// Returns whether the nesting is too deep for a container of `Rule`. Records it if one would begin
/// here.
fn is_too_deep<Rule: BlockRule>(state: &mut BlockState) -> bool {
    if (state.level as usize) < limits::MAX_NESTING {
        return false;
    }
    if Rule::check(state).is_some() {
        state.root_ext.get_or_insert_default::<Bounds>().too_deep = true;
    }
    true
}

/// Applies the check of a container unless one level more is too deep.
pub(super) fn check_bounded<Rule: BlockRule>(state: &mut BlockState) -> Option<()> {
    if is_too_deep::<Rule>(state) { None } else { Rule::check(state) }
}

/// Runs the rule of a container one level deeper.
pub(super) fn run_bounded<Rule: BlockRule>(state: &mut BlockState) -> Option<(Node, usize)> {
    if is_too_deep::<Rule>(state) {
        return None;
    }
    let indent = state.blk_indent;
    state.root_ext.get_or_insert_default::<Bounds>().outer_indents.push(indent);
    state.level += 1;
    let result = Rule::run(state);
    state.level -= 1;
    state.root_ext.get_or_insert_default::<Bounds>().outer_indents.pop();
    result
}

/// Returns whether `line` is indented as code in the innermost container that it belongs to. Code cannot interrupt a
/// paragraph, so such a line continues one, whatever it contains. The stock rules see only whether a line that is
/// outside the innermost container is indented less than that.
pub(super) fn is_indented_as_code(state: &BlockState, line: usize) -> bool {
    let offsets = state.line_offsets.get(line);
    let indent = offsets.map_or(0, |offsets| offsets.indent_nonspace);
    // A block quote marks a line that continues a paragraph with a negative indentation.
    let Ok(columns) = usize::try_from(indent) else { return true };
    let mut container = state.blk_indent;
    if columns < container {
        let bounds = state.root_ext.get::<Bounds>();
        let mut outer = bounds.into_iter().flat_map(|bounds| bounds.outer_indents.iter().rev());
        container = outer.find(|outer| **outer <= columns).copied().unwrap_or_default();
    }
    i32::try_from(columns - container).is_ok_and(|columns| columns >= state.md.max_indent)
}

/// Returns whether the current line begins a list that the stock rule takes for text, because it could not
/// interrupt a paragraph: an ordered one that does not begin with 1, or one whose item is empty.
pub(super) fn begins_list(state: &BlockState) -> bool {
    let line = state.get_line(state.line);
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let marks: &[char] = if digits == 0 { &['-', '+', '*'] } else { &['.', ')'] };
    let after = line.get(digits..).and_then(|rest| rest.strip_prefix(marks));
    digits < 10 && after.is_some_and(|after| after.is_empty() || after.starts_with([' ', '\t']))
}
