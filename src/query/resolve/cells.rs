//! Rows and cells of tables as places.
//!
//! Invariant: the span of a row is its text on its line, and the span of a cell is its text without the
//! blanks around it, so content never has a line end.

use std::ops::Range;

use super::located::RANGE_PAST_END;
use crate::address::{
    AddressError, CellStep, CellSteps, FaultCode, Ordinal, Params, RowStep, Step, StepKind,
    StepScope, cells,
};
use crate::count::counted;
use crate::data::columns;
use crate::error::Warning;
use crate::limits;
use crate::markdown::contents::{Cell, Row, Table};
use crate::markdown::outline::{BlockType, NodeKind};
use crate::position::ByteSpan;
use crate::query::resolved_node::{Cells, ResolvedNode, Target};
use crate::visible::quoted;

/// Returns the rows or cells that `steps` name in the table at `place`. `tables` are those of its document,
/// and `bytes` returns bytes of it. Adds a warning if they name more than exists, or more than one row on the
/// way to cells.
pub(crate) fn narrow(
    place: &ResolvedNode,
    steps: &CellSteps,
    tables: &[Table],
    bytes: &dyn Fn(ByteSpan) -> Vec<u8>,
    warnings: &mut Vec<Warning>,
) -> Result<Vec<ResolvedNode>, AddressError> {
    let Some(node) = table_node(place) else {
        let message = format!("{steps} must follow a table, and {} is none", place.address());
        return Err(AddressError::new(FaultCode::InvalidSyntax, message)
            .suggest(tables_below(place).map(|table| format!("{table}/{steps}")).collect()));
    };
    let Some(table) = tables.iter().find(|table| table.node == node) else {
        let message = format!("{} has no rows", place.address());
        return Err(AddressError::new(FaultCode::SelectorNotFound, message));
    };
    let rows = rows_of(place, steps, table, warnings)?;
    let cells = steps.cell.as_ref().map(|step| cells_of(place, steps, step, table)).transpose()?;
    if steps.row == RowStep::All && cells.is_some() {
        let message = "row has no index, so every row was followed";
        warn(warnings, Warning::new("UNINDEXED_STEP", message));
    }
    let mut places = Vec::new();
    for index in rows {
        let Some(row) = table.row(index) else { continue };
        let target = |cell, span| ResolvedNode {
            target: Target::Cells(Cells { node, row: index, cell, span }),
            params: Params { part: None, ..place.params },
            ..place.clone()
        };
        match cells.clone() {
            None => places.push(target(None, row.span)),
            Some(cells) => {
                // The missing cells of a short row are empty.
                let written = row.cells().map(Some).chain(std::iter::repeat(None));
                let named = cells.clone().zip(written.skip(cells.start));
                places
                    .extend(named.map(|(at, cell)| target(Some(at), cell_span(row, cell, bytes))));
            }
        }
    }
    Ok(places)
}

/// Adds a warning, unless there is one of its kind: one is enough for all tables.
fn warn(warnings: &mut Vec<Warning>, warning: Warning) {
    if !warnings.iter().any(|known| known.code == warning.code) {
        warnings.push(warning);
    }
}

/// Returns the addresses of the tables in the section or container at `place`.
fn tables_below(place: &ResolvedNode) -> impl Iterator<Item = String> {
    let scope = match place.target {
        Target::Node(node) => Some(StepScope::Node(node)),
        Target::Document => Some(StepScope::Document),
        _ => None,
    };
    let step = Step { kind: StepKind::Block(BlockType::Table), ordinal: Ordinal::All, position: 0 };
    let most = limits::MAX_SUGGESTIONS;
    let tree = &place.document.tree;
    let nodes = scope.and_then(|scope| tree.follow_from(scope, &[step], most).ok());
    nodes.unwrap_or_default().into_iter().take(most).map(|node| place.document.address_of(node))
}

/// Returns the indices of the rows that a step names; 0 is the header.
fn rows_of(
    place: &ResolvedNode,
    steps: &CellSteps,
    table: &Table,
    warnings: &mut Vec<Warning>,
) -> Result<Range<usize>, AddressError> {
    let count = table.rows().len().saturating_sub(1);
    let RowStep::Range(from, to) = steps.row else {
        return Ok(if steps.row == RowStep::Header { 0..1 } else { 1..count + 1 });
    };
    let address = place.address();
    if from >= count {
        let message = format!("{address} has {}; indexes begin at 0", counted(count, "row"));
        let last = count.checked_sub(1).map(|last| {
            let row = RowStep::Range(last, last);
            format!("{address}/{}", CellSteps { row, ..steps.clone() })
        });
        return Err(AddressError::new(FaultCode::IndexOutOfRange, message)
            .suggest(last.into_iter().collect()));
    }
    if to >= count {
        let message =
            format!("{address}/{steps} reaches past the last row, which is [{}]", count - 1);
        warn(warnings, Warning::new(RANGE_PAST_END, message));
    }
    Ok(from + 1..count.min(to.saturating_add(1)) + 1)
}

/// Returns the indices of the columns that a step names.
fn cells_of(
    place: &ResolvedNode,
    steps: &CellSteps,
    step: &CellStep,
    table: &Table,
) -> Result<Range<usize>, AddressError> {
    let width = table.width();
    let names = columns::names(table);
    let name = match step {
        CellStep::All => return Ok(0..width),
        CellStep::Range(from, to) if *to < width => return Ok(*from..to + 1),
        CellStep::Range(from, to) => &cells::range(*from, *to),
        CellStep::Column(name) => name,
    };
    if let Some(index) = columns::index_of(&names, name) {
        return Ok(index..index + 1);
    }
    Err(if matches!(step, CellStep::Column(_)) {
        let names = names.join(", ");
        let message = format!(
            "{} has no column {name}; its columns are {names}",
            place.address(),
            name = quoted(&name)
        );
        AddressError::new(FaultCode::SelectorNotFound, message)
    } else {
        let columns = counted(width, "column");
        let message = format!("{} has {columns}; indexes begin at 0", place.address());
        let last = width.checked_sub(1).map(|last| {
            let cell = Some(CellStep::Range(last, last));
            format!("{}/{}", place.address(), CellSteps { cell, ..steps.clone() })
        });
        AddressError::new(FaultCode::IndexOutOfRange, message).suggest(last.into_iter().collect())
    })
}

/// Returns the node of the table at `place`, if it is one.
fn table_node(place: &ResolvedNode) -> Option<usize> {
    let Target::Node(node) = place.target else { return None };
    let kind = place.document.tree.node(node)?.kind;
    (kind == NodeKind::Block(BlockType::Table)).then_some(node)
}

/// Returns the span of the text of a cell. A missing cell is empty, at the end of its row.
fn cell_span(
    row: Row<'_>,
    cell: Option<Cell<'_>>,
    bytes: &dyn Fn(ByteSpan) -> Vec<u8>,
) -> ByteSpan {
    match cell {
        Some(cell) if cell.source.contains(char::REPLACEMENT_CHARACTER) => {
            let ByteSpan { start, end } = cell.span_in(&bytes(row.span));
            ByteSpan::new(row.span.start + start, row.span.start + end)
        }
        Some(cell) => {
            let start = row.span.start + cell.offset;
            ByteSpan::new(start, (start + cell.source.len()).min(row.span.end.max(start)))
        }
        None => ByteSpan::new(row.span.end, row.span.end),
    }
}
