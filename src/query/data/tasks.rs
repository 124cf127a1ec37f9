//! `tasks`: lists the tasks of lists.
//!
//! Invariant: a value that every task has, such as its line, precedes a field of the same name in its text.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use super::{ItemRequest, Source, expression, heading_path, list, list_of_items, sorts_documents};
use crate::data::expression::{Reason, value_at};
use crate::data::{Datum, Expression, Key, TaskEntry};
use crate::error::{Result, Warning};
use crate::markdown::FIELDS_CUT;
use crate::markdown::slug::fold;
use crate::message::message;
use crate::query::filter::Filter;
use crate::query::freshness::Freshness;
use crate::query::open_document::OpenDocument;
use crate::query::page::{cut, longest, shorten_titles};
use crate::query::warning::diagnosed_within;
use crate::query::{Page, Session};
use crate::store::StoredDocument;

/// A request for tasks.
#[derive(Clone, Debug)]
pub struct TaskRequest {
    /// Whether only open or only done tasks are listed.
    pub is_done: Option<bool>,
    /// A condition on a task.
    pub condition: Option<String>,
    /// The documents and the part of the list.
    pub items: ItemRequest,
}

/// The state of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// The brackets are empty.
    Open,
    /// There is an x in the brackets.
    Done,
}

impl State {
    /// Returns the word for the state.
    pub fn name(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Done => "done",
        }
    }
}

/// A task.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct Task {
    /// The address of the list item.
    pub selector: String,
    /// The path of the document.
    pub file: String,
    /// The line of the task, 1-based.
    pub line: usize,
    /// The titles of the sections that contain it, outermost first.
    pub heading_path: Vec<String>,
    /// Whether it is open or done.
    pub state: State,
    /// The text as it is written, on one line.
    pub text: String,
    /// The number of tasks that contain it.
    pub depth: usize,
    /// The fields that the text holds. A field that occurs several times is a list.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub fields: Map<String, Value>,
    /// Whether the text has bytes that are not UTF-8, which are shown as U+FFFD.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub lossy: bool,
    /// Whether the file differs from the stored document.
    #[serde(flatten)]
    pub freshness: Freshness,
}

/// The tasks that were found, in the order of documents and then of lines.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct TaskAnswer {
    /// The tasks of this part of the list.
    pub tasks: Vec<Task>,
    /// Warnings, unresolved addresses and the cursor.
    #[serde(flatten)]
    pub page: Page,
}

list_of_items!(
    TaskAnswer,
    tasks,
    "this item is cut; `mdsel select {path}` prints all of it",
    selector,
    "?full=true",
    [file],
    |item: &Task| longest(item.heading_path.iter().chain([&item.text]).map(String::as_str)),
    |item: &mut Task, size| {
        shorten_titles(&mut item.heading_path, size);
        cut(&mut item.text, size);
        item.fields.clear();
    }
);

/// The keys of a task that are not fields of its text.
const OWN_KEYS: [&str; 5] = ["text", "state", "depth", "line", "section"];

/// Returns the key of a task, in any case, that is not a field of its text.
fn own_key(key: &str) -> Option<&'static str> {
    OWN_KEYS.into_iter().find(|own| own.eq_ignore_ascii_case(key))
}

/// Returns the line of a task, 1-based.
fn line_of(document: &OpenDocument, task: &TaskEntry) -> usize {
    document.tree.node(task.item.node).map_or(1, |node| node.lines.start)
}

/// Returns the fields of a task; tags are always a list. Fields whose names differ in case are one field, with the
/// first name.
fn fields_of(task: &TaskEntry) -> Map<String, Value> {
    let mut fields = Map::new();
    for (name, value) in &task.fields {
        let value = Value::from(value.as_str());
        let folded = fold(name);
        let other = fields.iter_mut().find(|(other, _)| fold(other) == folded);
        match other.map(|(_, value)| value) {
            None if name == "tags" => {
                fields.insert(name.clone(), Value::Array(vec![value]));
            }
            None => {
                fields.insert(name.clone(), value);
            }
            Some(Value::Array(values)) => values.push(value),
            Some(one) => *one = Value::Array(vec![one.take(), value]),
        }
    }
    fields
}

fn state_of(task: &TaskEntry) -> State {
    if task.item.is_done { State::Done } else { State::Open }
}

/// Returns the value of a task, which has `fields`, at a key of a condition. `document` is given if the condition asks
/// for the line or the section.
fn value_of<'a>(
    task: &'a TaskEntry,
    fields: &'a Map<String, Value>,
    document: Option<&OpenDocument>,
    key: &str,
) -> Option<Datum<'a>> {
    let number = |number: usize| Datum::Json(Cow::Owned(number.to_string().into()));
    match own_key(key) {
        Some("line") => document.map(|document| number(line_of(document, task))),
        Some("section") => document
            .map(|document| Datum::Json(Cow::Owned(heading_path(document, task.item.node).into()))),
        Some("text") => Some(Datum::Text(&task.item.text)),
        Some("state") => Some(Datum::Text(state_of(task).name())),
        Some("depth") => Some(number(task.item.depth)),
        // A field whose name has dots is never a key of a map.
        _ => value_at(fields, key).map(Datum::Json),
    }
}

/// Whether a key of a condition is a value that only the opened document has.
fn is_placed(key: &str) -> bool {
    matches!(own_key(key), Some("line" | "section"))
}

struct TaskSource<'a> {
    session: &'a Session<'a>,
    is_done: Option<bool>,
    condition: Option<Expression>,
}

impl Source for TaskSource<'_> {
    type Found = TaskEntry;
    type Item = Task;

    fn find(&mut self, stored: &StoredDocument) -> Result<Vec<TaskEntry>> {
        let mut tasks = self.session.reader.tasks(stored)?;
        let keys = self.condition.iter().flat_map(Expression::keys);
        let is_placed = keys.into_iter().any(is_placed);
        let document =
            if is_placed && !tasks.is_empty() { Some(self.session.open(stored)?) } else { None };
        tasks.retain(|task| {
            let fields = fields_of(task);
            let matches = |condition: &Expression| {
                condition.matches(&|key| value_of(task, &fields, document.as_deref(), key))
            };
            self.is_done.is_none_or(|is_done| task.item.is_done == is_done)
                && self.condition.as_ref().is_none_or(matches)
        });
        Ok(tasks)
    }

    fn node(found: &TaskEntry) -> Option<usize> {
        Some(found.item.node)
    }

    const ITEM: &'static str = "a task";

    const HAS: &'static str = "task has the field";

    fn names(&self) -> Vec<(&str, Key<'_>)> {
        let asked = self.condition.iter().flat_map(Expression::keys);
        let of_text = asked.filter(|name| own_key(name).is_none());
        of_text.map(|name| (name, Key::Field(name))).collect()
    }

    const KEYS: &'static [Key<'static>] =
        &[Key::Task { is_done: false }, Key::Task { is_done: true }];

    fn all_names(&self, stored: &StoredDocument) -> Result<Vec<String>> {
        let tasks = self.session.reader.tasks(stored)?;
        let fields = tasks.into_iter().flat_map(|task| task.fields).map(|(name, _)| name);
        Ok(OWN_KEYS.iter().map(ToString::to_string).chain(fields).collect())
    }

    fn has(found: &TaskEntry, name: &str) -> bool {
        let name = fold(name);
        found.fields.iter().any(|(other, _)| fold(other) == name)
    }

    fn warning(&self, filter: &Filter) -> Result<Option<Warning>> {
        let message = "a task is too long, so the fields in the rest of it are not known";
        diagnosed_within(self.session, &filter.documents, FIELDS_CUT, message)
    }

    fn condition(&self) -> Option<&Expression> {
        self.condition.as_ref()
    }

    fn add_values(&self, stored: &StoredDocument, reason: &mut Reason<'_>) -> Result<()> {
        let document =
            if is_placed(reason.key()) { Some(self.session.open(stored)?) } else { None };
        for task in self.session.reader.tasks(stored)? {
            let fields = fields_of(&task);
            if let Some(value) = value_of(&task, &fields, document.as_deref(), reason.key()) {
                reason.add(&value);
            }
        }
        Ok(())
    }

    fn show(&mut self, document: &OpenDocument, found: TaskEntry) -> Result<Task> {
        let node = found.item.node;
        Ok(Task {
            selector: document.address_of(node),
            file: document.stored.path.clone(),
            line: line_of(document, &found),
            heading_path: heading_path(document, node),
            state: state_of(&found),
            depth: found.item.depth,
            fields: fields_of(&found),
            lossy: document.stored.is_lossy_in([&*found.item.text]),
            text: found.item.text,
            freshness: self.session.freshness(&document.stored),
        })
    }
}

/// Lists tasks.
pub fn tasks(session: &Session<'_>, request: &TaskRequest) -> Result<TaskAnswer> {
    let condition = expression(request.condition.as_ref()).map_err(|error| {
        match request.condition.as_deref().map(str::trim) {
            Some(state @ ("open" | "done")) => {
                error.map_hints(|_| message!("write `state = {}`", state))
            }
            _ => error,
        }
    })?;
    let states = match request.is_done {
        Some(is_done) => vec![is_done],
        None => vec![false, true],
    };
    let mut keys = vec![states.into_iter().map(|is_done| Key::Task { is_done }.hash()).collect()];
    for set in condition.iter().flat_map(Expression::required_keys) {
        if !set.iter().any(|key| own_key(key).is_some()) {
            keys.push(set.into_iter().map(|name| Key::Field(name).hash()).collect());
        }
    }
    // The rarest key first: fields are rarer than states.
    keys.reverse();
    let mut tasks = TaskSource { session, is_done: request.is_done, condition };
    let (tasks, mut page) = list(session, &request.items, &keys, &mut tasks)?;
    page.warnings.extend(sorts_documents(
        session,
        &request.items,
        |key| Key::Field(key),
        "field of tasks",
    )?);
    Ok(TaskAnswer { tasks, page })
}
