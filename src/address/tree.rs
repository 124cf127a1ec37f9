//! The tree of an outline's nodes: following steps down to nodes, and printing the selector of a
//! node.
//!
//! Defines how steps count. Invariant: following the primary selector of a node from the document
//! selects this node and no other.

use std::collections::HashSet;
use std::iter::successors;
use std::sync::OnceLock;

use super::selector::{Ordinal, Step, StepKind};
use crate::markdown::outline::{BlockType, Node, NodeKind, Outline, Section};
use crate::position::ByteSpan;

/// Where a step starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StepScope {
    /// The whole document.
    Document,
    /// A node.
    Node(usize),
    /// The nodes from the first index up to the second, exclusive.
    Nodes(usize, usize),
}

/// A step that matches nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeadEnd {
    /// Index of the step that matches nothing.
    pub step: usize,
    /// Where that step was followed from.
    pub scope: StepScope,
    /// How many nodes the step would match without its index.
    pub available: usize,
}

/// An outline with the indexes needed to navigate it.
#[derive(Clone, Debug)]
pub struct Tree {
    outline: Outline,
    /// For each node, the index after its last descendant.
    ends: Vec<usize>,
    /// For each section, the number of sections of the same level before it.
    level_ordinals: Vec<usize>,
    /// For each other node, the number of nodes of its kind before it in the same container.
    /// Computed on first use.
    sibling_ordinals: OnceLock<Vec<usize>>,
}

impl Tree {
    /// Creates the tree of `outline`.
    pub fn new(outline: Outline) -> Self {
        let mut ends: Vec<usize> = (1..=outline.nodes.len()).collect();
        for (index, node) in outline.nodes.iter().enumerate().rev() {
            let end = ends.get(index).copied().unwrap_or(index + 1);
            if let Some(above) = node.parent.and_then(|parent| ends.get_mut(parent)) {
                *above = (*above).max(end);
            }
        }
        let mut seen = [0; 7];
        let level_ordinals = outline
            .sections
            .iter()
            .map(|section| match seen.get_mut(usize::from(section.level)) {
                Some(count) => {
                    *count += 1;
                    *count - 1
                }
                None => 0,
            })
            .collect();
        Self { outline, ends, level_ordinals, sibling_ordinals: OnceLock::new() }
    }

    /// Returns the outline.
    pub fn outline(&self) -> &Outline {
        &self.outline
    }

    /// Returns the node at an index.
    pub fn node(&self, index: usize) -> Option<&Node> {
        self.outline.nodes.get(index)
    }

    /// Returns the section of a node, if the node is a section.
    pub fn section(&self, node: usize) -> Option<&Section> {
        match self.node(node)?.kind {
            NodeKind::Section(section) => self.outline.sections.get(section),
            _ => None,
        }
    }

    fn end(&self, node: usize) -> usize {
        self.ends.get(node).copied().unwrap_or(node + 1)
    }

    fn siblings(&self, from: usize, to: usize) -> impl Iterator<Item = usize> + '_ {
        let mut next = from;
        std::iter::from_fn(move || {
            let current = next;
            (current < to).then(|| {
                next = self.end(current);
                current
            })
        })
    }

    /// Returns the nodes directly below `node`, in document order.
    pub fn children(&self, node: usize) -> impl Iterator<Item = usize> + '_ {
        self.siblings(node + 1, self.end(node))
    }

    /// Returns the range of nodes in a scope: the first index, and the index after the last.
    fn nodes_in(&self, scope: StepScope) -> (usize, usize) {
        match scope {
            StepScope::Document => (0, self.outline.nodes.len()),
            StepScope::Node(node) => (node + 1, self.end(node)),
            StepScope::Nodes(from, to) => (from, to),
        }
    }

    /// Returns the nodes that are within `span`, without the root.
    pub fn nodes_within(&self, span: ByteSpan) -> impl Iterator<Item = &Node> {
        let (from, to) = self.nodes_in(self.scope_of(span));
        let nodes = self.outline.nodes.get(from..to).unwrap_or_default();
        nodes.iter().filter(move |node| span.contains(node.bytes))
    }

    /// Returns the scope of the nodes that begin within `span`.
    pub fn scope_of(&self, span: ByteSpan) -> StepScope {
        let before =
            |offset: usize| self.outline.nodes.partition_point(|node| node.bytes.start < offset);
        StepScope::Nodes(before(span.start).max(1), before(span.end))
    }

    /// Returns the sections directly below `scope`, in document order.
    pub fn child_sections(&self, scope: StepScope) -> impl Iterator<Item = usize> + '_ {
        let (from, to) = self.nodes_in(scope);
        self.siblings(from, to).filter(|&node| self.section(node).is_some())
    }

    /// Counts the blocks of each type directly in `node`, and the items if it is a list. Types
    /// without blocks are left out.
    pub fn block_counts(&self, node: usize) -> Vec<(&'static str, usize)> {
        let mut items = 0;
        let mut counts = [0; BlockType::ALL.len()];
        for child in self.children(node) {
            match self.node(child).map(|node| node.kind) {
                Some(NodeKind::Item) => items += 1,
                Some(NodeKind::Block(block_type)) => {
                    let index = BlockType::ALL.iter().position(|&other| other == block_type);
                    if let Some(count) = index.and_then(|index| counts.get_mut(index)) {
                        *count += 1;
                    }
                }
                _ => {}
            }
        }
        std::iter::once(("item", items))
            .chain(BlockType::ALL.iter().map(|block_type| block_type.name()).zip(counts))
            .filter(|(_, count)| *count > 0)
            .collect()
    }

    /// Returns the section whose heading or own text contains the line (1-based), or `None` before
    /// the first heading.
    pub fn section_at_line(&self, line: usize) -> Option<&Section> {
        let first_line = |node: usize| self.node(node).map_or(1, |node| node.lines.start);
        let sections = &self.outline.sections;
        let after = sections.partition_point(|section| first_line(section.node) <= line);
        after.checked_sub(1).and_then(|index| sections.get(index))
    }

    /// Returns the node of the innermost section that contains the byte at `offset`, or `None`
    /// before the first heading.
    pub fn section_at(&self, offset: usize) -> Option<usize> {
        let after = self.outline.sections.partition_point(|section| {
            self.node(section.node).is_some_and(|node| node.bytes.start <= offset)
        });
        // Sections have no gaps, so the last one that begins at or before the offset contains it.
        self.outline.sections.get(after.checked_sub(1)?).map(|section| section.node)
    }

    /// Returns the block before the block at `index` in the same section or container.
    pub fn sibling_before(&self, index: usize) -> Option<usize> {
        let parent = self.node(index)?.parent;
        let is_sibling =
            |other: &usize| self.node(*other).is_some_and(|node| node.parent == parent);
        (0..index).rev().take_while(|other| Some(*other) != parent).find(is_sibling)
    }

    /// Returns the innermost node that contains the byte at `offset`.
    pub fn node_at(&self, offset: usize) -> Option<usize> {
        let nodes = &self.outline.nodes;
        let contains = |index: &usize| {
            self.node(*index)
                .is_some_and(|node| (node.bytes.start..node.bytes.end).contains(&offset))
        };
        // A node comes after the one that contains it.
        let last = nodes.partition_point(|node| node.bytes.start <= offset).checked_sub(1)?;
        successors(Some(last), |index| self.node(*index)?.parent).find(contains)
    }

    /// Returns the nodes that a step of `kind` matches in `scope`, in document order.
    pub fn matches(&self, scope: StepScope, kind: StepKind) -> Vec<usize> {
        let nodes = &self.outline.nodes;
        let (from, to) = self.nodes_in(scope);
        let scope_kind = match scope {
            StepScope::Document | StepScope::Nodes(..) => None,
            StepScope::Node(node) => self.node(node).map(|node| node.kind),
        };
        let has_sections = matches!(scope_kind, None | Some(NodeKind::Section(_)));
        match kind {
            StepKind::Root if scope == StepScope::Document => vec![0],
            StepKind::Heading(level) if has_sections => (from..to)
                .filter(|&node| self.section(node).is_some_and(|section| section.level == level))
                .collect(),
            StepKind::Section if has_sections => self.child_sections(scope).collect(),
            StepKind::Item if scope_kind == Some(NodeKind::Block(BlockType::List)) => {
                self.siblings(from, to).collect()
            }
            StepKind::Block(block_type) => {
                let is_match = |&node: &usize| {
                    nodes.get(node).is_some_and(|node| node.kind == NodeKind::Block(block_type))
                };
                match scope_kind {
                    // Blocks in lists and block quotes do not match.
                    None | Some(NodeKind::Section(_)) => (from..to)
                        .filter(is_match)
                        .filter(|&node| !self.is_contained(node))
                        .collect(),
                    Some(NodeKind::Block(BlockType::List)) => self
                        .siblings(from, to)
                        .flat_map(|item| self.children(item))
                        .filter(is_match)
                        .collect(),
                    _ => self.siblings(from, to).filter(is_match).collect(),
                }
            }
            _ => Vec::new(),
        }
    }

    /// Returns whether a block is in a list or block quote.
    fn is_contained(&self, node: usize) -> bool {
        let parent = self.node(node).and_then(|node| node.parent).and_then(|node| self.node(node));
        parent.is_some_and(|parent| !matches!(parent.kind, NodeKind::Root | NodeKind::Section(_)))
    }

    /// Follows `steps` from the document; see [`Self::follow_from`].
    pub fn follow(&self, steps: &[Step], most: usize) -> Result<Vec<usize>, DeadEnd> {
        self.follow_from(StepScope::Document, steps, most)
    }

    /// Follows `steps` from `scope`. Returns the nodes that they select in document order, at most
    /// `most`, or the first step that matches nothing. If a step selects several nodes, those
    /// without a match for the next step are ignored, unless none has one.
    pub fn follow_from(
        &self,
        scope: StepScope,
        steps: &[Step],
        most: usize,
    ) -> Result<Vec<usize>, DeadEnd> {
        let mut scopes = vec![scope];
        for (index, step) in steps.iter().enumerate() {
            let mut next = Vec::new();
            let mut dead_end = None;
            for &scope in &scopes {
                let all = self.matches(scope, step.kind);
                let before = next.len();
                next.extend(chosen(&all, step.ordinal).iter().map(|&node| StepScope::Node(node)));
                if next.len() == before && dead_end.is_none() {
                    dead_end = Some(DeadEnd { step: index, scope, available: all.len() });
                }
            }
            if let (true, Some(dead_end)) = (next.is_empty(), dead_end) {
                return Err(dead_end);
            }
            // Nested scopes may reach the same node twice. Removing duplicates bounds the scopes by
            // the number of nodes.
            let mut seen = HashSet::new();
            next.retain(|&scope| seen.insert(scope));
            scopes = next;
        }
        let nodes = scopes.into_iter().filter_map(|scope| match scope {
            StepScope::Node(node) => Some(node),
            StepScope::Document | StepScope::Nodes(..) => None,
        });
        Ok(nodes.take(most).collect())
    }

    /// Returns the name of a node's type in answers: `heading:h2`, `block:code`, `item`, `root`.
    pub fn type_name(&self, node: usize) -> String {
        match self.node(node).map(|node| node.kind) {
            Some(NodeKind::Section(section)) => {
                let level = self.outline.sections.get(section).map_or(0, |section| section.level);
                StepKind::Heading(level).to_string()
            }
            Some(NodeKind::Block(block_type)) => StepKind::Block(block_type).to_string(),
            Some(NodeKind::Item) => StepKind::Item.to_string(),
            Some(NodeKind::Root) | None => StepKind::Root.to_string(),
        }
    }

    /// Returns the primary selector of a node, without namespace.
    pub fn selector(&self, node: usize) -> String {
        let mut steps = Vec::new();
        let mut current = Some(node);
        while let Some(index) = current {
            let Some(node) = self.node(index) else { break };
            let (kind, ordinal) = match node.kind {
                NodeKind::Root => {
                    steps.push(StepKind::Root.to_string());
                    break;
                }
                NodeKind::Section(section) => {
                    let level = self.outline.sections.get(section).map_or(0, |s| s.level);
                    let ordinal = self.level_ordinals.get(section).copied().unwrap_or(0);
                    (StepKind::Heading(level), ordinal)
                }
                NodeKind::Block(block_type) => {
                    (StepKind::Block(block_type), self.ordinal_among_siblings(index))
                }
                NodeKind::Item => (StepKind::Item, self.ordinal_among_siblings(index)),
            };
            steps.push(format!("{kind}[{ordinal}]"));
            // Headings are counted in the whole document.
            current = node.parent.filter(|_| !matches!(node.kind, NodeKind::Section(_)));
        }
        steps.reverse();
        steps.join("/")
    }

    fn ordinal_among_siblings(&self, index: usize) -> usize {
        let ordinals = self.sibling_ordinals.get_or_init(|| {
            // Counts by container and kind: items first, then each type of block.
            const KINDS: usize = BlockType::ALL.len() + 1;
            let mut seen = vec![0; self.outline.nodes.len() * KINDS];
            let ordinal = |node: &Node| {
                let kind = match node.kind {
                    NodeKind::Item => 0,
                    NodeKind::Block(block_type) => block_type as usize + 1,
                    NodeKind::Root | NodeKind::Section(_) => return 0,
                };
                let Some(count) =
                    node.parent.and_then(|parent| seen.get_mut(parent * KINDS + kind))
                else {
                    return 0;
                };
                *count += 1;
                *count - 1
            };
            self.outline.nodes.iter().map(ordinal).collect()
        });
        ordinals.get(index).copied().unwrap_or(0)
    }

    /// Returns the sections that contain `node`, outermost first, including `node` if it is a
    /// section.
    pub fn sections_above(&self, node: usize) -> Vec<&Section> {
        let mut above: Vec<&Section> =
            std::iter::successors(Some(node), |&node| self.node(node).and_then(|node| node.parent))
                .filter_map(|node| self.section(node))
                .collect();
        above.reverse();
        above
    }

    /// Returns the index of the section directly above `node`.
    pub fn parent_section(&self, node: usize) -> Option<usize> {
        match self.node(self.node(node)?.parent?)?.kind {
            NodeKind::Section(section) => Some(section),
            _ => None,
        }
    }

    /// Returns the section of `node` and the sections below it, in document order.
    pub fn sections_within(&self, node: usize) -> impl Iterator<Item = &Section> + '_ {
        let end = self.end(node);
        let from = match self.node(node).map(|node| node.kind) {
            Some(NodeKind::Section(section)) => section,
            _ => self.outline.sections.len(),
        };
        let sections = self.outline.sections.get(from..).unwrap_or_default();
        sections.iter().take_while(move |section| section.node < end)
    }

    /// Returns the slug path of a section, or `None` if any of its parts is empty.
    pub fn section_path(&self, node: usize) -> Option<String> {
        let parts: Option<Vec<String>> =
            self.sections_above(node).into_iter().map(Section::path_part).collect();
        parts.filter(|parts| !parts.is_empty()).map(|parts| parts.join("/"))
    }
}

/// Returns the elements of `all` that `ordinal` selects.
fn chosen(all: &[usize], ordinal: Ordinal) -> &[usize] {
    match ordinal {
        Ordinal::All => all,
        Ordinal::One(index) => all.get(index..=index).unwrap_or_default(),
        Ordinal::Range(from, to) => {
            let end = to.saturating_add(1).min(all.len());
            all.get(from..end).unwrap_or_default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::address::Selector;

    const TEXT: &str = "\
intro

# A

p

- one

  in one
- two

  > # quoted
  > ```
  > x
  > ```

## B

```
code
```

#### deep

## C

p

# D

```
last
```
";

    fn tree() -> Tree {
        Tree::new(crate::markdown::parse(TEXT.as_bytes()).outline)
    }

    fn followed(text: &str) -> Vec<String> {
        let tree = tree();
        let selector = Selector::parse(text).unwrap();
        match tree.follow(&selector.steps, 100) {
            Ok(nodes) => nodes.into_iter().map(|node| tree.selector(node)).collect(),
            Err(dead_end) => vec![format!("step {} of {}", dead_end.step, dead_end.available)],
        }
    }

    #[test]
    fn a_primary_selector_selects_exactly_its_node() {
        let tree = tree();
        for node in 0..tree.outline().nodes.len() {
            let selector = Selector::parse(&tree.selector(node)).unwrap();
            assert_eq!(tree.follow(&selector.steps, 100), Ok(vec![node]), "{selector}");
        }
    }

    #[test]
    fn headings_count_from_the_document_or_inside_the_scope() {
        assert_eq!(followed("heading:h2[1]"), ["heading:h2[1]"]);
        assert_eq!(followed("heading:h1[0]/heading:h2[1]"), ["heading:h2[1]"]);
        assert_eq!(followed("heading:h1[1]/heading:h2[0]"), ["step 1 of 0"]);
        assert_eq!(followed("heading:h2[0]/heading:h2[0]"), ["step 1 of 0"], "never itself");
        assert_eq!(followed("heading:h1[0-5]"), ["heading:h1[0]", "heading:h1[1]"]);
    }

    #[test]
    fn sections_are_direct_children_of_any_level() {
        assert_eq!(followed("section[1]"), ["heading:h1[1]"]);
        assert_eq!(followed("section[0]/section[0]/section[0]"), ["heading:h4[0]"]);
        assert_eq!(followed("section[0]/section[2]"), ["step 1 of 2"]);
    }

    #[test]
    fn blocks_in_containers_do_not_count() {
        assert_eq!(
            followed("block:code"),
            ["heading:h2[0]/block:code[0]", "heading:h1[1]/block:code[0]"]
        );
        assert_eq!(
            followed("heading:h1[0]/block:paragraph[1]"),
            ["heading:h2[1]/block:paragraph[0]"]
        );
        assert_eq!(followed("root/block:paragraph[0]"), ["root/block:paragraph[0]"]);
        let list = "heading:h1[0]/block:list[0]";
        assert_eq!(
            followed("block:list[0]/block:paragraph[1]"),
            [format!("{list}/item[0]/block:paragraph[1]")]
        );
        let quote = format!("{list}/item[1]/block:blockquote[0]");
        assert_eq!(followed(&format!("{quote}/block:code[0]")), [format!("{quote}/block:code[0]")]);
        assert_eq!(
            followed(&format!("{quote}/block:heading[0]")),
            [format!("{quote}/block:heading[0]")]
        );
        assert_eq!(followed("block:heading[0]"), ["step 0 of 0"]);
    }

    #[test]
    fn steps_without_index_select_all_in_document_order() {
        assert_eq!(
            followed("section/block:code[0]"),
            ["heading:h2[0]/block:code[0]", "heading:h1[1]/block:code[0]"]
        );
    }
}
