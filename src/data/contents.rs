//! The data of a document in the form in which it is stored, and the keys that lead to it.
//!
//! Invariant: a document with a code block, table or task that a key describes has that key.

use serde::{Deserialize, Serialize};

use super::{columns, fields, language};
use crate::hash::first_bytes;
use crate::markdown::contents::{self as markdown, CodeBlock, Table, TaskItem};
use crate::markdown::slug::fold;

/// A code block and its language.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CodeItem {
    /// The language, folded by the table of aliases; empty if there is none.
    pub language: String,
    /// The block.
    pub block: CodeBlock,
}

/// A task and the fields of its text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskEntry {
    /// The task.
    pub item: TaskItem,
    /// The fields that its text holds, in order.
    pub fields: Vec<fields::Field>,
}

/// The data of a document.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Contents {
    /// The code blocks, in document order.
    pub code: Vec<CodeItem>,
    /// The tables, in document order.
    pub tables: Vec<Table>,
    /// The tasks, in document order.
    pub tasks: Vec<TaskEntry>,
}

/// What a document can be found by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Key<'a> {
    /// Any code block.
    Code,
    /// A code block in a language.
    Language(&'a str),
    /// Any table.
    Table,
    /// A column of a table, in any case.
    Column(&'a str),
    /// An open or a done task.
    Task {
        /// Whether it is done.
        is_done: bool,
    },
    /// A field of a task, in any case.
    Field(&'a str),
}

impl Key<'_> {
    /// Returns the number that stands for the key in a store. Different keys may have the same one.
    pub fn hash(self) -> i64 {
        let text = match self {
            Self::Code => "code".to_owned(),
            Self::Language(name) => format!("code {name}"),
            Self::Table => "table".to_owned(),
            Self::Column(name) => format!("table {}", fold(name)),
            Self::Task { is_done: false } => "open".to_owned(),
            Self::Task { is_done: true } => "done".to_owned(),
            Self::Field(name) => format!("task {}", fold(name)),
        };
        first_bytes(blake3::hash(text.as_bytes()).as_bytes())
    }
}

impl Contents {
    /// Returns the data of a document with these contents.
    pub fn of(contents: markdown::Contents) -> Self {
        let code = contents.code.into_iter().map(|block| {
            let info = block.info.as_deref().unwrap_or_default();
            CodeItem { language: language::of(info).0, block }
        });
        let tasks = contents.tasks.into_iter().map(|mut item| {
            let fields = fields::of(&item.text);
            // Only a field ends where its line does.
            item.text = item.text.replace('\n', " ");
            TaskEntry { item, fields }
        });
        Self { code: code.collect(), tables: contents.tables, tasks: tasks.collect() }
    }

    /// Whether there is nothing.
    pub fn is_empty(&self) -> bool {
        self.code.is_empty() && self.tables.is_empty() && self.tasks.is_empty()
    }

    /// Returns the hashes of the keys of the document, sorted, each once.
    pub fn keys(&self) -> Vec<i64> {
        let mut keys = Vec::new();
        for code in &self.code {
            keys.push(Key::Code.hash());
            keys.push(Key::Language(&code.language).hash());
        }
        for table in &self.tables {
            keys.push(Key::Table.hash());
            keys.extend(columns::names(table).iter().map(|name| Key::Column(name).hash()));
        }
        for task in &self.tasks {
            keys.push(Key::Task { is_done: task.item.is_done }.hash());
            keys.extend(task.fields.iter().map(|(name, _)| Key::Field(name).hash()));
        }
        keys.sort_unstable();
        keys.dedup();
        keys
    }
}
