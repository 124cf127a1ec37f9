//! A statement that is being put together, with its parameters.
//!
//! Invariant: a value is always a parameter and never part of the text of the statement.

use tokio_postgres::Row;
use tokio_postgres::types::{ToSql, Type};

use super::connection::{Connection, Parameter};
use super::rows::IS_VISIBLE;
use crate::error::Result;

/// A statement and its parameters.
pub(super) struct Question {
    pub(super) text: String,
    values: Vec<(Box<dyn ToSql + Sync>, Type)>,
}

impl Question {
    /// Creates a statement without parameters.
    pub(super) fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), values: Vec::new() }
    }

    /// Creates the statement that reads `columns` of the documents `d` of `generation` in the tables `from`.
    pub(super) fn of_documents(columns: &str, from: &str, generation: i64) -> Self {
        let mut question = Self::new(format!("SELECT {columns} FROM {from} WHERE {IS_VISIBLE}"));
        question.bind(generation, Type::INT8);
        question
    }

    /// Adds a parameter. Returns the text that stands for it.
    pub(super) fn bind(&mut self, value: impl ToSql + Sync + 'static, of: Type) -> String {
        self.values.push((Box::new(value), of));
        format!("${}", self.values.len())
    }

    /// Adds a parameter, and appends `before`, the text that stands for it, and `after`.
    pub(super) fn with(
        &mut self,
        before: &str,
        value: impl ToSql + Sync + 'static,
        of: Type,
        after: &str,
    ) {
        let parameter = self.bind(value, of);
        self.text.push_str(before);
        self.text.push_str(&parameter);
        self.text.push_str(after);
    }

    /// Runs the statement.
    pub(super) fn run(&self, connection: &mut Connection) -> Result<Vec<Row>> {
        let values: Vec<Parameter<'_>> =
            self.values.iter().map(|(value, of)| (value.as_ref(), of.clone())).collect();
        connection.query(&self.text, &values)
    }
}
