//! The tool `edit`: changes documents.

use rmcp::model::JsonObject;
use serde::Deserialize;
use serde_json::Value;

use super::arguments::{EDIT_FORM, parse};
use crate::address::AddressError;
use crate::edit::{self, BatchEdits, BatchLine};
use crate::error::Result;
use crate::limits;
use crate::mcp::reply::{Reply, ReplyOptions};
use crate::query::missing_document::INGEST_ADDS;
use crate::store::Store;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Edit {
    document: Option<String>,
    edits: Vec<Value>,
    #[serde(default)]
    dry_run: bool,
    #[serde(default)]
    refresh: bool,
}

pub(super) fn call(
    store: &Store,
    options: ReplyOptions<'_>,
    arguments: JsonObject,
) -> Result<Reply> {
    let arguments: Result<Edit> = parse(arguments);
    let Edit { document, edits, dry_run, refresh } =
        arguments.map_err(|error| error.with_hint(EDIT_FORM))?;
    let origin = |number: usize| format!("edit {number}");
    let line_of = if edits.len() > 1 { BatchLine::of_several } else { BatchLine::of };
    if let [edit] = edits.as_slice()
        && let Ok(line) = line_of(edit)
        && let Some(relocation) = line.relocation(document.as_ref())?
    {
        let operation = relocation.name();
        let request = edit::RelocateRequest {
            store,
            relocation,
            keeps_links: line.keeps_links(),
            expect: line.expected().cloned(),
            is_dry_run: dry_run,
            is_refresh: refresh,
            wait: limits::LOCK_WAIT,
            confirm: &|report| {
                let answer = edit::RelocateAnswer::of(report, dry_run);
                options.reply(answer).map(drop)
            },
        };
        let answer = match edit::relocate(&request)? {
            Ok(report) => edit::RelocateAnswer::of(&report, dry_run),
            Err(fault) => edit::RelocateAnswer::fault(operation, with_refresh(fault), dry_run),
        };
        return options.reply(answer);
    }
    let is_batch = edits.len() != 1;
    let mut batch = BatchEdits::default();
    for (number, edit) in (1..).zip(&edits) {
        if batch.problems.leave_out_next() {
            break;
        }
        let origin = origin(number);
        let edit = line_of(edit).and_then(|line| line.into_edit(origin.clone(), false));
        batch.push(&origin, edit, document.as_ref());
    }
    let BatchEdits { edits, problems, .. } = batch;
    let answer = |report: Option<edit::EditReport>, faults| {
        edit::EditAnswer::new(report, faults, is_batch, dry_run)
    };
    let reply = |answer: edit::EditAnswer| options.reply(answer);
    let request = edit::EditRequest {
        store,
        document,
        expect: None,
        edits,
        is_dry_run: dry_run,
        is_refresh: refresh,
        wait: limits::LOCK_WAIT,
        confirm: &|report| reply(answer(Some(report.clone()), Vec::new())).map(drop),
    };
    if let Some(refused) = edit::refused_batch(&request, problems) {
        return Err(refused);
    }
    match edit::edit(&request)? {
        Ok(report) => reply(answer(Some(report), Vec::new())),
        Err(faults) => reply(answer(None, faults.into_iter().map(with_refresh).collect())),
    }
}

/// Names the argument that takes a file which is not in the store, because a caller of tools has no shell.
fn with_refresh(mut fault: AddressError) -> AddressError {
    fault.message.replace_part(INGEST_ADDS, "repeat the call with refresh to add it");
    fault
}
