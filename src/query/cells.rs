//! Rows and cells of tables as places.
//!
//! Invariant: the span of a row is its text on its line, and the span of a cell is its text without the
//! blanks around it, so content never has a line end.

use super::place::{Cells, Place, Target};
use crate::address::{CellStep, CellSteps, Fault, FaultCode, Params, RowStep};
use crate::data::columns;
use crate::markdown::contents::{Row, Table};
use crate::markdown::outline::{BlockType, NodeKind};
use crate::position::ByteSpan;

/// Returns the rows or cells that `steps` name in the table at `place`. `tables` are those of its document.
pub(crate) fn narrow(
    place: &Place,
    steps: &CellSteps,
    tables: &[Table],
) -> Result<Vec<Place>, Fault> {
    let fault = |code, message: String| Err(Fault::new(code, message));
    let Some(node) = table_node(place) else {
        let message = format!("{steps} must follow a table, and {} is none", place.address());
        return fault(FaultCode::InvalidSyntax, message);
    };
    let Some(table) = tables.iter().find(|table| table.node == node) else {
        return fault(FaultCode::SelectorNotFound, format!("{} has no rows", place.address()));
    };
    let rows = match steps.row {
        RowStep::All => 1..table.rows.len(),
        RowStep::Header => 0..1,
        RowStep::Range(from, to) => {
            if from.saturating_add(1) >= table.rows.len() {
                let message = format!(
                    "{} has {} rows, counted from 0",
                    place.address(),
                    table.rows.len() - 1
                );
                return fault(FaultCode::IndexOutOfRange, message);
            }
            from + 1..table.rows.len().min(to.saturating_add(2))
        }
    };
    let width = table.rows.first().map_or(0, |header| header.cells.len());
    let cells = match &steps.cell {
        None => None,
        Some(CellStep::All) => Some(0..width),
        Some(CellStep::Index(index)) if *index < width => Some(*index..index + 1),
        Some(CellStep::Index(_)) => {
            let message = format!("{} has {width} columns, counted from 0", place.address());
            return fault(FaultCode::IndexOutOfRange, message);
        }
        Some(CellStep::Column(name)) => {
            let names = columns::names(table);
            match columns::index_of(&names, name) {
                Some(index) => Some(index..index + 1),
                None => {
                    let names = names.join(", ");
                    let message =
                        format!("{} has no column {name:?}, but {names}", place.address());
                    return fault(FaultCode::SelectorNotFound, message);
                }
            }
        }
    };
    let mut places = Vec::new();
    for index in rows {
        let Some(row) = table.rows.get(index) else { continue };
        let target = |cell, span| Place {
            target: Target::Cells(Cells { node, row: index, cell, span }),
            params: Params { part: None, ..place.params },
            ..place.clone()
        };
        match cells.clone() {
            None => places.push(target(None, row.span)),
            Some(cells) => {
                places.extend(cells.map(|cell| target(Some(cell), cell_span(row, cell))));
            }
        }
    }
    Ok(places)
}

/// Returns the node of the table at `place`, if it is one.
fn table_node(place: &Place) -> Option<usize> {
    let Target::Node(node) = place.target else { return None };
    let kind = place.document.tree.node(node)?.kind;
    (kind == NodeKind::Block(BlockType::Table)).then_some(node)
}

/// Returns the span of the text of a cell. A missing cell is empty, at the end of its row.
fn cell_span(row: &Row, cell: usize) -> ByteSpan {
    match row.cells.get(cell) {
        Some(cell) => {
            let start = row.span.start + cell.offset;
            ByteSpan::new(start, (start + cell.source.len()).min(row.span.end.max(start)))
        }
        None => ByteSpan::new(row.span.end, row.span.end),
    }
}
