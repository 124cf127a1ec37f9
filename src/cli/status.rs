//! `status`: what the store holds.

use std::time::Duration;

use serde_json::{Value, json};

use super::args::{Global, StatusArgs};
use super::progress::Silent;
use super::{Status, store};
use crate::error::Result;
use crate::ingest::{self, OptionChanges, Paths};
use crate::limits;

pub(super) fn run(global: &Global, arguments: &StatusArgs) -> Result<Status> {
    if arguments.limits {
        let rows = limits::TABLE.iter().map(|limit| {
            (limit.name.to_owned(), json!({ "value": limit.value, "meaning": limit.meaning }))
        });
        global.print(&Value::Object(rows.collect()))?;
        return Ok(Status::Success);
    }
    let snapshot = store::open_fresh(global, |_| Ok(None))?;
    let mut answer = serde_json::to_value(snapshot.totals()?).unwrap_or_default();
    if let Some(fields) = answer.as_object_mut() {
        fields.insert("generation".to_owned(), json!(snapshot.generation()));
        let index = crate::store::index_generation(&snapshot);
        fields.insert("index_generation".to_owned(), json!(index));
        fields.insert("options".to_owned(), json!(snapshot.options()));
        if arguments.stale {
            let request = ingest::Request {
                store: snapshot.path(),
                root: None,
                folder: snapshot.path(),
                paths: Paths::All,
                options: OptionChanges::default(),
                force: false,
                wait: Duration::ZERO,
            };
            let report = ingest::preview(&request, &Silent)?;
            fields.insert("stale".to_owned(), json!(report.changes));
        }
    }
    global.print(&answer)?;
    Ok(Status::Success)
}
