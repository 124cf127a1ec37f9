//! `status`: prints counts, options, the root and the trust of the store.

use std::time::Duration;

use serde_json::{Value, json};

use super::args::{Global, StatusArgs};
use super::progress::Silent;
use super::{Status, store};
use crate::error::Result;
use crate::ingest::{self, OptionChanges, Paths};
use crate::limits;
use crate::trust::{Source, Wish};

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
        let trust = store::trust();
        let path = ingest::resolved(snapshot.path())?;
        let wish = Wish::of(&path, snapshot.root(), snapshot.options());
        let source = trust.source(&path, &wish).unwrap_or(Source::Untrusted);
        let root = ingest::root_from_store(snapshot.root(), &path)?;
        fields.insert("root".to_owned(), json!(root));
        fields.insert("trust".to_owned(), json!(source));
        if arguments.stale {
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
            let report = ingest::preview(&request, &Silent)?;
            fields.insert("stale".to_owned(), json!(report.changes));
        }
    }
    global.print(&answer)?;
    Ok(Status::Success)
}
