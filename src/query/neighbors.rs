//! `neighbors`: returns the nodes around a node.

use schemars::JsonSchema;
use serde::Serialize;

use super::cursor::Cursor;
use super::freshness::Freshness;
use super::open_document::OpenDocument;
use super::page::{self, shorten};
use super::resolve::resolve_one;
use super::resolved_node::{Cells, ResolvedNode, Target};
use super::{List, Outcome, Page, Session};
use crate::address::StepScope;
use crate::error::Result;
use crate::markdown::contents::Table;
use crate::markdown::outline::NodeKind;

/// A node next to another.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize)]
pub struct Neighbor {
    /// The address of the node.
    pub selector: String,
    /// The title of a section; `null` for other nodes.
    pub title: Option<String>,
}

/// The nodes around a node.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct Around {
    /// The primary address of the node.
    pub selector: String,
    /// The path of the document.
    #[serde(skip)]
    pub file: String,
    /// The sibling before it.
    pub prev: Option<Neighbor>,
    /// The sibling after it.
    pub next: Option<Neighbor>,
    /// The node that contains it.
    pub parent: Option<Neighbor>,
    /// The direct subsections of a section; for a container, its items and blocks.
    pub children: Vec<Neighbor>,
    /// The previous node in the document: a section for a section, a block for a block.
    pub prev_in_order: Option<Neighbor>,
    /// The next node in the document: a section for a section, a block for a block.
    pub next_in_order: Option<Neighbor>,
    /// Whether the document contains bytes that are not valid UTF-8.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub lossy: bool,
    /// Whether the file differs from the stored document.
    #[serde(flatten)]
    pub freshness: Freshness,
}

/// The answer about one node.
#[derive(Clone, Debug)]
pub struct NeighborsAnswer {
    /// The nodes around the node; `None` if the address was not resolved.
    pub around: Option<Around>,
    /// Warnings, an unresolved address, and the cursor of the children, named `next_children` in JSON.
    pub page: Page,
}

impl Around {
    fn neighbors_mut(&mut self) -> impl Iterator<Item = &mut Neighbor> {
        let single = [
            &mut self.prev,
            &mut self.next,
            &mut self.parent,
            &mut self.prev_in_order,
            &mut self.next_in_order,
        ];
        single.into_iter().flatten().chain(&mut self.children)
    }
}

/// The items are the node itself, then its children.
impl List for NeighborsAnswer {
    fn page_mut(&mut self) -> Option<&mut Page> {
        Some(&mut self.page)
    }

    fn outcome(&self) -> Outcome {
        self.page.outcome(self.around.is_some())
    }

    fn count(&self) -> usize {
        self.around.as_ref().map_or(0, |around| 1 + around.children.len())
    }

    fn first(&self, count: usize) -> Self {
        let mut result = self.clone();
        if let Some(around) = result.around.as_mut().filter(|_| count < self.count()) {
            let children = count.saturating_sub(1);
            around.children.truncate(children);
            result.page.end(children);
        }
        result
    }

    /// The node alone makes progress only if it has no children.
    fn least(&self) -> usize {
        self.count().min(2)
    }

    fn sizes_of_first(&self) -> usize {
        self.around.clone().map_or(0, |mut around| {
            let titles = around.neighbors_mut().filter_map(|near| near.title.as_deref());
            page::longest(titles)
        })
    }

    fn cut_first(&mut self, size: usize) -> bool {
        let Some(around) = &mut self.around else { return false };
        around.neighbors_mut().filter_map(|near| near.title.as_mut()).for_each(|title| {
            shorten(title, size);
        });
        true
    }
}

/// Returns the nodes around the node at `address`, with its children from `after` on.
pub fn neighbors(
    session: &Session<'_>,
    address: &str,
    after: Option<Cursor>,
) -> Result<NeighborsAnswer> {
    let mut page = Page::beginning(after, session.reader.generation());
    let (place, warnings) = match resolve_one(session, address)? {
        Ok(resolved) => resolved,
        Err(fault) => {
            page.unresolved_selectors.push(fault);
            return Ok(NeighborsAnswer { around: None, page });
        }
    };
    let document = &place.document;
    let mut around = match place.target {
        Target::Node(node) => around(document, node),
        Target::Document => Around {
            children: sections_below(document, StepScope::Document),
            ..nothing_around(place.address())
        },
        Target::FrontMatter => nothing_around(place.address()),
        Target::Cells(cells) => {
            around_cells(&place, cells, &session.reader.tables(&document.stored)?)
        }
        Target::Ldmd(section) => around_ldmd(document, section),
    };
    around.file.clone_from(&document.stored.path);
    around.lossy = document.stored.is_lossy;
    around.freshness = session.freshness(&document.stored);
    around.children.drain(..page.part.start().min(around.children.len()));
    page.warnings.extend(warnings);
    Ok(NeighborsAnswer { around: Some(around), page })
}

fn nothing_around(selector: String) -> Around {
    Around {
        selector,
        file: String::new(),
        prev: None,
        next: None,
        parent: None,
        children: Vec::new(),
        prev_in_order: None,
        next_in_order: None,
        lossy: false,
        freshness: Freshness::default(),
    }
}

fn neighbor(document: &OpenDocument, node: usize) -> Neighbor {
    Neighbor {
        selector: document.address_of(node),
        title: document.tree.section(node).map(|section| section.title.clone()),
    }
}

fn sections_below(document: &OpenDocument, scope: StepScope) -> Vec<Neighbor> {
    document.tree.child_sections(scope).map(|node| neighbor(document, node)).collect()
}

fn around(document: &OpenDocument, node: usize) -> Around {
    let tree = &document.tree;
    let nodes = &tree.outline().nodes;
    let Some(this) = tree.node(node) else { return nothing_around(document.address("*")) };
    let is_alike = |other: &usize| {
        let kind = nodes.get(*other).map(|node| node.kind);
        match this.kind {
            NodeKind::Section(_) | NodeKind::Root => matches!(kind, Some(NodeKind::Section(_))),
            NodeKind::Item => kind == Some(NodeKind::Item),
            NodeKind::Block(_) => matches!(kind, Some(NodeKind::Block(_))),
        }
    };
    // The text before the first heading precedes the first section, if there is such text.
    let root = (tree.outline().root.words > 0).then_some(0);
    let mut before = (1..node).rev().find(is_alike);
    if matches!(this.kind, NodeKind::Section(_)) {
        before = before.or(root);
    }
    let after = (node + 1..nodes.len()).find(is_alike);
    let siblings: Vec<usize> = match (this.kind, this.parent) {
        (NodeKind::Root, _) => Vec::new(),
        (NodeKind::Section(_), None) => tree.child_sections(StepScope::Document).collect(),
        (NodeKind::Section(_), Some(parent)) => {
            tree.child_sections(StepScope::Node(parent)).collect()
        }
        (_, Some(parent)) => tree.children(parent).filter(is_alike).collect(),
        (_, None) => Vec::new(),
    };
    let position = siblings.iter().position(|&sibling| sibling == node);
    let sibling = |position: Option<usize>| {
        position.and_then(|position| siblings.get(position)).map(|&node| neighbor(document, node))
    };
    let children = match this.kind {
        NodeKind::Section(_) => sections_below(document, StepScope::Node(node)),
        NodeKind::Root => Vec::new(),
        _ => tree.children(node).map(|child| neighbor(document, child)).collect(),
    };
    Around {
        prev: sibling(position.and_then(|position| position.checked_sub(1))),
        next: sibling(position.map(|position| position + 1)),
        parent: this.parent.map(|parent| neighbor(document, parent)),
        children,
        prev_in_order: before.map(|node| neighbor(document, node)),
        next_in_order: after.map(|node| neighbor(document, node)),
        ..nothing_around(document.address_of(node))
    }
}

/// Returns the rows around a row and its table, or the cells around a cell and its row.
fn around_cells(place: &ResolvedNode, cells: Cells, tables: &[Table]) -> Around {
    let table = tables.iter().find(|table| table.node == cells.node);
    let near = |row: Option<usize>, cell: Option<Option<usize>>| {
        let target = Target::Cells(Cells { row: row?, cell: cell?, ..cells });
        let selector = ResolvedNode { target, ..place.clone() }.address();
        Some(Neighbor { selector, title: None })
    };
    let below = |index: usize, count: usize| Some(index + 1).filter(|next| *next < count);
    let (prev, next, parent) = match cells.cell {
        None => (
            near(cells.row.checked_sub(1), Some(None)),
            near(below(cells.row, table.map_or(0, |table| table.rows().len())), Some(None)),
            Some(neighbor(&place.document, cells.node)),
        ),
        Some(cell) => (
            near(Some(cells.row), cell.checked_sub(1).map(Some)),
            near(Some(cells.row), below(cell, table.map_or(0, Table::width)).map(Some)),
            near(Some(cells.row), Some(None)),
        ),
    };
    Around {
        prev_in_order: prev.clone(),
        next_in_order: next.clone(),
        prev,
        next,
        parent,
        ..nothing_around(place.address())
    }
}

fn around_ldmd(document: &OpenDocument, section: usize) -> Around {
    let neighbor = |section: usize| Neighbor {
        selector: document.address_of_ldmd(section),
        title: document
            .markup
            .sections
            .get(section)
            .map(|section| section.title.clone())
            .filter(|title| !title.is_empty()),
    };
    let neighbors = document.markup.neighbors(section);
    Around {
        prev: neighbors.previous.map(neighbor),
        next: neighbors.next.map(neighbor),
        parent: neighbors.parent.map(neighbor),
        children: neighbors.children.into_iter().map(neighbor).collect(),
        prev_in_order: neighbors.previous_in_order.map(neighbor),
        next_in_order: neighbors.next_in_order.map(neighbor),
        ..nothing_around(document.address_of_ldmd(section))
    }
}
