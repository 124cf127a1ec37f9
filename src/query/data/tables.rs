//! `tables`: lists the rows of tables.
//!
//! Invariant: cells are compared and shown by the names of their columns ([`columns::names`]), never by their places.

use std::borrow::Cow;
use std::collections::HashMap;
use std::rc::Rc;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use super::{ItemRequest, Source, expression, heading_path, list, list_of_items, sorts_documents};
use crate::data::expression::Reason;
use crate::data::{Datum, Expression, Key, columns};
use crate::error::{Result, Warning};
use crate::markdown::CELL_CUT;
use crate::markdown::contents::{Cell, Table};
use crate::markdown::outline::Outline;
use crate::markdown::slug::fold;
use crate::position::ByteSpan;
use crate::query::filter::Filter;
use crate::query::freshness::Freshness;
use crate::query::open_document::OpenDocument;
use crate::query::page::{cut, longest, shorten_titles};
use crate::query::warning::diagnosed_within;
use crate::query::{Page, Session};
use crate::store::StoredDocument;

/// A request for rows.
#[derive(Clone, Debug)]
pub struct TableRequest {
    /// Names of columns. A table must have all of them.
    pub headers: Vec<String>,
    /// A condition on the cells of a row.
    pub condition: Option<String>,
    /// The columns to show; empty for all.
    pub columns: Vec<Column>,
    /// The documents and the part of the list.
    pub items: ItemRequest,
}

/// A column to show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Column {
    /// The path of the document.
    File,
    /// The line of the row.
    Line,
    /// The cells below a header, in any case.
    Named(String),
}

impl Column {
    /// Returns the name of the column.
    pub fn name(&self) -> &str {
        match self {
            Self::File => "file",
            Self::Line => "line",
            Self::Named(name) => name,
        }
    }

    /// Returns the header, if it is a column of a table.
    fn header(&self) -> Option<&String> {
        match self {
            Self::Named(name) => Some(name),
            Self::File | Self::Line => None,
        }
    }
}

/// A row of a table.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct TableRow {
    /// The address of the row.
    pub selector: String,
    /// The path of the document.
    pub file: String,
    /// The line of the row, 1-based.
    pub line: usize,
    /// The titles of the sections that contain the table, outermost first.
    pub heading_path: Vec<String>,
    /// The visible texts of the cells by column.
    pub row: Map<String, Value>,
    /// The texts of the cells as they are written, where they differ.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub source: Map<String, Value>,
    /// Whether the cells have bytes that are not UTF-8, which are shown as U+FFFD.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub lossy: bool,
    /// Whether the file differs from the stored document.
    #[serde(flatten)]
    pub freshness: Freshness,
}

/// The rows that were found, in the order of documents and then of lines.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct TableAnswer {
    /// The rows of this part of the list.
    pub rows: Vec<TableRow>,
    /// The columns that were asked for.
    #[serde(skip)]
    pub asked: Vec<Column>,
    /// Warnings, unresolved addresses and the cursor.
    #[serde(flatten)]
    pub page: Page,
}

list_of_items!(
    TableAnswer,
    rows,
    "this item is cut; `mdsel select {path}` prints all of it",
    selector,
    "?full=true",
    [file],
    |item: &TableRow| longest(
        item.row
            .values()
            .chain(item.source.values())
            .filter_map(Value::as_str)
            .chain(item.heading_path.iter().map(String::as_str))
    ),
    |item: &mut TableRow, size| {
        shorten_titles(&mut item.heading_path, size);
        for value in item.row.values_mut().chain(item.source.values_mut()) {
            if let Value::String(text) = value {
                cut(text, size);
            }
        }
    };
    asked
);

impl TableAnswer {
    /// Returns the columns that were asked for, or those of all rows in the order in which they occur.
    pub fn columns(&self) -> Vec<Column> {
        if !self.asked.is_empty() {
            return self.asked.clone();
        }
        let mut seen = std::collections::HashSet::new();
        let names = self.rows.iter().flat_map(|row| row.row.keys());
        names.filter(|name| seen.insert(*name)).cloned().map(Column::Named).collect()
    }

    /// Returns the text of one of [`Self::columns`] in a row; empty if the table of the row does not have the
    /// column. A column that was asked for may have another case in the table.
    pub fn cell<'a>(&self, row: &'a TableRow, column: &Column) -> Cow<'a, str> {
        let name = match column {
            Column::File => return Cow::Borrowed(&row.file),
            Column::Line => return Cow::Owned(row.line.to_string()),
            Column::Named(name) => name,
        };
        let in_any_case = || {
            let name = fold(name);
            let mut cells = row.row.iter().filter(|_| !self.asked.is_empty());
            cells.find(|(other, _)| fold(other) == name).map(|(_, value)| value)
        };
        let cell = row.row.get(name).or_else(in_any_case);
        cell.and_then(Value::as_str).map_or_else(Cow::default, Cow::Borrowed)
    }
}

/// A row and where it is.
struct FoundRow {
    table: Rc<Table>,
    names: Rc<[String]>,
    /// Index of the body row, 0-based.
    index: usize,
}

struct RowSource<'a> {
    session: &'a Session<'a>,
    headers: &'a [String],
    columns: &'a [&'a String],
    /// Whether all columns are shown.
    is_all: bool,
    condition: Option<Expression>,
}

impl Source for RowSource<'_> {
    type Found = FoundRow;
    type Item = TableRow;

    fn find(&mut self, stored: &StoredDocument) -> Result<Vec<FoundRow>> {
        let mut found = Vec::new();
        for table in self.session.reader.tables(stored)? {
            let names = columns::names(&table);
            let has = |name: &&String| columns::index_of(&names, name).is_some();
            if !self.headers.iter().all(|name| has(&name))
                || !self.columns.is_empty() && !self.columns.iter().any(has)
            {
                continue;
            }
            // A condition names few columns, but a table may have many rows.
            let keys = self.condition.iter().flat_map(Expression::keys);
            let places: HashMap<&str, usize> =
                keys.filter_map(|key| Some((key, columns::index_of(&names, key)?))).collect();
            let (table, names): (_, Rc<[String]>) = (Rc::new(table), names.into());
            for (index, row) in table.rows().skip(1).enumerate() {
                let is_match = self.condition.as_ref().is_none_or(|condition| {
                    condition.matches(&|key| {
                        Some(Datum::Text(columns::cell(row, *places.get(key)?).text()))
                    })
                });
                if is_match {
                    let (table, names) = (Rc::clone(&table), Rc::clone(&names));
                    found.push(FoundRow { table, names, index });
                }
            }
        }
        Ok(found)
    }

    fn node(found: &FoundRow) -> Option<usize> {
        Some(found.table.node)
    }

    fn start(found: &FoundRow, _: &Outline) -> ByteSpan {
        found.table.row(found.index + 1).unwrap_or_default().span
    }

    const ITEM: &'static str = "a table";

    const HAS: &'static str = "table has the column";

    fn names(&self) -> Vec<(&str, Key<'_>)> {
        let asked = self.headers.iter().chain(self.columns.iter().copied()).map(String::as_str);
        let asked = asked.chain(self.condition.iter().flat_map(Expression::keys));
        asked.map(|name| (name, Key::Column(name))).collect()
    }

    const KEYS: &'static [Key<'static>] = &[Key::Table];

    fn all_names(&self, stored: &StoredDocument) -> Result<Vec<String>> {
        let tables = self.session.reader.tables(stored)?;
        Ok(tables.iter().flat_map(columns::names).collect())
    }

    fn has(found: &FoundRow, name: &str) -> bool {
        columns::index_of(&found.names, name).is_some()
    }

    fn warning(&self, filter: &Filter) -> Result<Option<Warning>> {
        let message =
            "the visible text of a cell is too long, so it is cut; only the source has all of it";
        diagnosed_within(self.session, &filter.documents, CELL_CUT, message)
    }

    fn condition(&self) -> Option<&Expression> {
        self.condition.as_ref()
    }

    fn add_values(&self, stored: &StoredDocument, reason: &mut Reason<'_>) -> Result<()> {
        for table in self.session.reader.tables(stored)? {
            let Some(column) = columns::index_of(&columns::names(&table), reason.key()) else {
                continue;
            };
            for row in table.rows().skip(1) {
                reason.add(&Datum::Text(columns::cell(row, column).text()));
            }
        }
        Ok(())
    }

    fn show(&mut self, document: &OpenDocument, found: FoundRow) -> Result<TableRow> {
        let FoundRow { table, names, index } = found;
        let node = table.node;
        let row = table.row(index + 1).unwrap_or_default();
        let cells: Vec<Cell<'_>> = row.cells().collect();
        let shown: Vec<usize> = match self.columns {
            [] if self.is_all => (0..names.len()).collect(),
            columns => columns.iter().filter_map(|name| columns::index_of(&names, name)).collect(),
        };
        let (mut values, mut source) = (Map::new(), Map::new());
        for column in shown {
            let (cell, name) = (cells.get(column).copied().unwrap_or_default(), &names[column]);
            values.insert(name.clone(), cell.text().into());
            if cell.visible.is_some() {
                source.insert(name.clone(), cell.source.into());
            }
        }
        // The header and the delimiter row precede the first row of the body.
        let line = document.tree.node(node).map_or(1, |node| node.lines.start) + 2 + index;
        Ok(TableRow {
            selector: format!("{}/row[{index}]", document.address_of(node)),
            file: document.stored.path.clone(),
            line,
            heading_path: heading_path(document, node),
            lossy: values.iter().any(|(name, text)| {
                document.stored.is_lossy_in(text.as_str().into_iter().chain([&**name]))
            }),
            row: values,
            source,
            freshness: self.session.freshness(&document.stored),
        })
    }
}

/// Lists the rows of tables.
pub fn tables(session: &Session<'_>, request: &TableRequest) -> Result<TableAnswer> {
    let condition = expression(request.condition.as_ref())?;
    let mut keys = vec![vec![Key::Table.hash()]];
    keys.extend(request.headers.iter().map(|name| vec![Key::Column(name).hash()]));
    let columns: Vec<&String> = request.columns.iter().filter_map(Column::header).collect();
    if !columns.is_empty() {
        keys.push(columns.iter().map(|name| Key::Column(name).hash()).collect());
    }
    for set in condition.iter().flat_map(Expression::required_keys) {
        keys.push(set.into_iter().map(|name| Key::Column(name).hash()).collect());
    }
    if keys.len() > 1 {
        keys.remove(0);
    }
    let (headers, is_all) = (&request.headers, request.columns.is_empty());
    let mut rows = RowSource { session, headers, columns: &columns, is_all, condition };
    let (rows, mut page) = list(session, &request.items, &keys, &mut rows)?;
    page.warnings.extend(sorts_documents(
        session,
        &request.items,
        |key| Key::Column(key),
        "column of tables",
    )?);
    Ok(TableAnswer { rows, asked: request.columns.clone(), page })
}
