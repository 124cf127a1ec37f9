//! `status`: prints counts, options, the root and the trust of the store.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use super::args::{Global, StatusArgs};
use super::progress::Silent;
use super::{Status, store};
use crate::corpus::IngestOptions;
use crate::error::Result;
use crate::ingest::{self, Change, OptionChanges, Paths};
use crate::limits;
use crate::store::Totals;
use crate::trust::{Source, Wish};

/// What the store holds.
#[derive(Debug, JsonSchema, Serialize)]
pub(super) struct Answer {
    #[serde(flatten)]
    totals: Totals,
    /// The number of changes that the store has seen.
    generation: u64,
    /// The generation of the full-text index; `null` if there is no index.
    index_generation: Option<u64>,
    /// The options that select files.
    options: IngestOptions,
    /// The root, absolute.
    root: String,
    /// Why the store is trusted, or that it is not.
    trust: Source,
    /// The documents whose files differ from the store, if that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    stale: Option<Vec<Change>>,
}

pub(super) fn run(global: &Global, arguments: &StatusArgs) -> Result<Status> {
    if arguments.limits {
        let rows = limits::TABLE.iter().map(|limit| {
            (limit.name.to_owned(), json!({ "value": limit.value, "meaning": limit.meaning }))
        });
        global.print(&Value::Object(rows.collect()))?;
        return Ok(Status::Success);
    }
    let snapshot = store::open_fresh(global, |_| Ok(None))?;
    let trust = store::trust();
    let path = crate::corpus::resolved(snapshot.path())?;
    let wish = Wish::of(&path, snapshot.root(), snapshot.options());
    let stale = if arguments.stale {
        let request = ingest::Request {
            store: snapshot.path(),
            root: None,
            folder: snapshot.path(),
            paths: Paths::All,
            options: OptionChanges::default(),
            force: false,
            wait: Duration::ZERO,
            trust: &trust,
        };
        ingest::preview(&request, &Silent)?.changes
    } else {
        None
    };
    let answer = Answer {
        totals: snapshot.totals()?,
        generation: snapshot.generation(),
        index_generation: crate::store::index_generation(&snapshot),
        options: snapshot.options().clone(),
        root: crate::corpus::root_from_store(snapshot.root(), &path)?,
        trust: trust.source(&path, &wish).unwrap_or(Source::Untrusted),
        stale,
    };
    global.print(&serde_json::to_value(answer).unwrap_or_default())?;
    Ok(Status::Success)
}
