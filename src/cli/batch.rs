//! `edit`: its arguments and its request.

use std::path::PathBuf;

use clap::Args;
use clap_complete::engine::ArgValueCompleter;
use serde_json::Value;

use super::completers::documents;
use super::edit::{EditArguments, EditOptions, FuzzyArgs, run};
use super::exit::Status;
use super::global::Global;
use super::input::read;
use super::paths::rewrite_all;
use crate::edit::{BatchEdits, BatchLine};
use crate::error::{Error, ErrorKind, Result};
use crate::output::forms::edit_json::Batch;

/// Arguments of `edit`.
#[derive(Debug, Args)]
#[command(after_help = "Example: mdsel edit guide --batch edits.jsonl\nA line of a batch: \
                  {\"operation\":\"insert\",\"section\":\"Options\",\"position\":\"after\",\"content\":\"## News\\n\"}")]
pub(super) struct BatchArgs {
    /// The document; without it, the edits name theirs, and may be of several
    #[arg(value_name = "DOC", add = ArgValueCompleter::new(documents))]
    document: Option<String>,
    /// Read the edits from FILE, one JSON object per line or a JSON array: operation (replace, insert, delete, done, open, set,
    /// unset, add, remove), document, section (the key, for the last four), content (the value), position and the options
    /// of the command
    #[arg(long, value_name = "FILE")]
    batch: PathBuf,
    #[command(flatten)]
    fuzzy: FuzzyArgs,
}

impl EditArguments for BatchArgs {
    type Json = Batch<'static>;

    fn addresses(&mut self) -> Vec<&mut String> {
        self.document.iter_mut().collect()
    }

    fn run(&self, global: &Global, options: &EditOptions) -> Result<Status> {
        let text = String::from_utf8(read(&self.batch)?).map_err(|_| {
            Error::new(ErrorKind::Usage, "the batch is not UTF-8").with_hint("convert it to UTF-8")
        })?;
        let mut edits = BatchEdits::default();
        for (origin, line) in lines_of(&text) {
            if edits.problems.leave_out_next() {
                break;
            }
            let edit = line.and_then(|mut line| {
                let addresses = if self.document.is_some() { Vec::new() } else { line.addresses() };
                rewrite_all(global, addresses)?;
                line.into_edit(origin.clone(), self.fuzzy.is_fuzzy)
            });
            edits.push(&origin, edit, self.document.as_ref());
        }
        if edits.is_empty() {
            return Err(Error::new(ErrorKind::Usage, "the batch contains no edit")
                .with_hint("write {\"operation\":\"replace\",\"section\":...,\"content\":...}"));
        }
        run(global, self.document.as_deref(), edits, options, true)
    }
}

/// Returns the edits of a batch, each with its name: one on each line, or those of a JSON array.
fn lines_of(text: &str) -> Vec<(String, Result<BatchLine>)> {
    if !text.trim_start().starts_with('[') {
        let lines = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty());
        return lines
            .map(|(number, it)| (format!("line {number} of the batch"), BatchLine::parse(it)))
            .collect();
    }
    match serde_json::from_str::<Vec<Value>>(text) {
        Ok(edits) => (1..)
            .zip(edits)
            .map(|(number, it)| (format!("edit {number} of the batch"), BatchLine::of_several(&it)))
            .collect(),
        // Its lines are no edits.
        Err(error) => {
            let message = format!("it is not a JSON array: {error}");
            let error = Error::new(ErrorKind::Usage, message).with_hint(
                "write one JSON object on each line, or separate the objects with commas",
            );
            vec![("the batch".to_owned(), Err(error))]
        }
    }
}
