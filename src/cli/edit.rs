//! `replace`, `insert`, `delete` and `edit`: turns their arguments into requests.

use std::io::{self, IsTerminal as _};

use serde_json::Value;

use super::args::{
    ContentArgs, DeleteArgs, EditArgs, EditOptions, Global, InsertArgs, PositionName, ReplaceArgs,
    TaskArgs,
};
use super::data::MetaCommand;
use super::input::{read, standard_input};
use super::paths::rewrite_all;
use super::{Status, store};
use crate::address::FRONT_MATTER_PLACE;
use crate::data::front_matter::{KeyChange, value_of};
use crate::edit::plan::{Allow, EditScope, Position};
use crate::edit::{
    self, BatchLine, Edit, EditAnswer, EditReport, EditRequest, Operation, checked_content,
};
use crate::error::{Error, ErrorKind, Result, shell_path, shell_word};
use crate::output::{Answer, Format};
use crate::position::trim_line_end;
use crate::query::{List, Outcome};

pub(super) fn replace(global: &Global, arguments: &ReplaceArgs) -> Result<Status> {
    let scope = scope(arguments.no_children);
    let operation = match &arguments.old {
        Some(old) => {
            let content = new_text(&arguments.content, old)?;
            Operation::replace_text(old.clone(), content, scope)?
        }
        None => {
            let content = content(&arguments.content)?;
            Operation::Replace { content, scope, keep_heading: !arguments.no_keep_heading }
        }
    };
    let edit = Edit {
        operation,
        allow: Allow {
            drop: arguments.allow_drop,
            escape: arguments.allow_escape,
            change: arguments.allow_change,
            duplicate: false,
        },
        ..of(&arguments.options)
    };
    one(global, &arguments.first, arguments.section.as_deref(), edit, &arguments.options)
}

pub(super) fn insert(global: &Global, arguments: &InsertArgs) -> Result<Status> {
    let edit = Edit {
        operation: Operation::Insert {
            content: content(&arguments.content)?,
            position: arguments.position.into(),
            relevel: arguments.relevel,
        },
        allow: Allow {
            drop: false,
            escape: arguments.allow_escape,
            change: arguments.allow_change,
            duplicate: arguments.allow_duplicate,
        },
        ..of(&arguments.options)
    };
    one(global, &arguments.first, arguments.section.as_deref(), edit, &arguments.options)
}

pub(super) fn delete(global: &Global, arguments: &DeleteArgs) -> Result<Status> {
    let operation = Operation::Delete { scope: scope(arguments.no_children) };
    let allow = Allow {
        escape: arguments.allow_escape,
        change: arguments.allow_change,
        ..Allow::default()
    };
    let edit = Edit { operation, allow, ..of(&arguments.options) };
    one(global, &arguments.first, arguments.section.as_deref(), edit, &arguments.options)
}

pub(super) fn task(global: &Global, arguments: &TaskArgs) -> Result<Status> {
    let operation = Operation::Mark { is_done: arguments.done };
    let edit = Edit { operation, ..of(&arguments.options) };
    one(global, &arguments.first, arguments.section.as_deref(), edit, &arguments.options)
}

/// Changes keys of front matter.
pub(super) fn meta(global: &Global, command: &MetaCommand) -> Result<Status> {
    let mut changes = Vec::new();
    let document = match command {
        MetaCommand::Set(arguments) => {
            for text in &arguments.values {
                let Some((key, value)) = text.split_once('=') else {
                    return Err(Error::new(ErrorKind::Usage, format!("{text:?} has no ="))
                        .with_hint("write KEY=VALUE, as in status=done"));
                };
                let key = key.trim();
                let document = shell_path(&arguments.document);
                let hint = if let Some(list) = key.strip_suffix('+') {
                    let (list, value) = (shell_word(list.trim_end()), shell_word(value));
                    format!("add a value to a list with `mdsel meta add {document} {list} {value}`")
                } else if let Some(list) = key.strip_suffix('-') {
                    let list = list.trim_end();
                    let set = shell_word(&format!("{list}=[A, B]"));
                    format!("write the values that stay, as in `mdsel meta set {document} {set}`")
                } else {
                    changes.push(KeyChange::Set(key.to_owned(), value_of(value)));
                    continue;
                };
                let message = format!("{text:?} has no KEY: a key does not end with + or -");
                return Err(Error::new(ErrorKind::Usage, message).with_hint(hint));
            }
            &arguments.document
        }
        MetaCommand::Unset(arguments) => {
            changes.extend(arguments.keys.iter().cloned().map(KeyChange::Unset));
            &arguments.document
        }
        MetaCommand::Add(arguments) => {
            let change = |value: &String| KeyChange::Add(arguments.key.clone(), value_of(value));
            changes.extend(arguments.values.iter().map(change));
            &arguments.document
        }
    };
    // The address that `mdsel meta` prints.
    let document = document
        .strip_suffix(FRONT_MATTER_PLACE)
        .and_then(|it| it.strip_suffix("::"))
        .unwrap_or(document);
    let is_batch = changes.len() > 1;
    let options = command.options();
    let edit = |change: KeyChange| Edit {
        section: FRONT_MATTER_PLACE.to_owned(),
        origin: is_batch.then(|| change.key().to_owned()),
        operation: Operation::Key(change),
        ..of(options)
    };
    run(global, Some(document), changes.into_iter().map(edit).collect(), options, is_batch)
}

pub(super) fn batch(global: &Global, arguments: &EditArgs) -> Result<Status> {
    let text = String::from_utf8(read(&arguments.batch)?)
        .map_err(|_| Error::new(ErrorKind::Usage, "the batch is not UTF-8"))?;
    let mut edits = Vec::new();
    for (origin, line) in lines_of(&text) {
        let mut line = line.map_err(|error| error.in_part(&origin))?;
        let addresses = if arguments.document.is_some() { Vec::new() } else { line.addresses() };
        rewrite_all(global, addresses).map_err(|error| error.in_part(&origin))?;
        let edit = line.into_edit(origin.clone(), arguments.options.fuzzy);
        edits.push(edit.map_err(|error| error.in_part(&origin))?);
    }
    if edits.is_empty() {
        return Err(Error::new(ErrorKind::Usage, "the batch contains no edit")
            .with_hint("write {\"operation\":\"replace\",\"section\":...,\"content\":...}"));
    }
    run(global, arguments.document.as_deref(), edits, &arguments.options, true)
}

/// Returns the edits of a batch, each with its name: one on each line, or those of a JSON array.
fn lines_of(text: &str) -> Vec<(String, Result<BatchLine>)> {
    let array = serde_json::from_str::<Vec<Value>>(text).ok();
    let of_array = array.map(|edits| {
        let edits = (1..).zip(edits);
        edits
            .map(|(number, it)| (format!("edit {number} of the batch"), BatchLine::of(&it)))
            .collect()
    });
    of_array.unwrap_or_else(|| {
        let lines = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty());
        lines
            .map(|(number, it)| (format!("line {number} of the batch"), BatchLine::parse(it)))
            .collect()
    })
}

/// Makes one edit, of a section of a document or of an address.
fn one(
    global: &Global,
    first: &str,
    section: Option<&str>,
    edit: Edit,
    options: &EditOptions,
) -> Result<Status> {
    let document = section.map(|_| first);
    let section = section.unwrap_or(first).to_owned();
    run(global, document, vec![Edit { section, ..edit }], options, false)
}

/// Returns an edit with these options. The caller sets the section and the operation.
fn of(options: &EditOptions) -> Edit {
    Edit {
        document: None,
        section: String::new(),
        operation: Operation::Delete { scope: EditScope::Subtree },
        allow: Allow::default(),
        expect: options.expect.clone(),
        is_fuzzy: options.fuzzy,
        origin: None,
    }
}

fn scope(no_children: bool) -> EditScope {
    if no_children { EditScope::Own } else { EditScope::Subtree }
}

impl From<PositionName> for Position {
    fn from(name: PositionName) -> Self {
        match name {
            PositionName::Before => Self::Before,
            PositionName::After => Self::After,
            PositionName::FirstChild => Self::FirstChild,
            PositionName::LastChild => Self::LastChild,
        }
    }
}

/// Returns the given content, or reads it from standard input.
fn content(arguments: &ContentArgs) -> Result<Vec<u8>> {
    match (&arguments.content, &arguments.content_file) {
        (Some(text), _) => checked_content(Some(text.clone().into_bytes()), true),
        (None, Some(path)) => checked_content(Some(read(path)?), false),
        (None, None) if io::stdin().is_terminal() => checked_content(None, false),
        // Reading fails if standard input is closed: then there is no content.
        (None, None) => checked_content(standard_input().ok(), false),
    }
}

/// Returns the text that replaces `old`: as it is in an argument, but without the line end that an editor adds to a
/// file, unless `old` ends with one.
fn new_text(arguments: &ContentArgs, old: &str) -> Result<Vec<u8>> {
    if let Some(text) = &arguments.content {
        return Ok(text.clone().into_bytes());
    }
    let text = content(arguments)?;
    let is_line_end = old.ends_with(['\n', '\r']);
    Ok(if is_line_end { text } else { trim_line_end(&text).to_vec() })
}

fn run(
    global: &Global,
    document: Option<&str>,
    edits: Vec<Edit>,
    options: &EditOptions,
    is_batch: bool,
) -> Result<Status> {
    let is_dry_run = options.dry_run;
    let answer =
        |report: Option<EditReport>, faults| EditAnswer::new(report, faults, is_batch, is_dry_run);
    let request = EditRequest {
        store: &store::store_to_edit(global)?,
        document: document.map(str::to_owned),
        expect: options.expect.clone().filter(|_| is_batch),
        edits,
        is_dry_run,
        is_refresh: global.refresh,
        wait: options.wait.duration(),
        confirm: &|report| global.check_fits(&answer(Some(report.clone()), Vec::new())),
    };
    let answer = match edit::edit(&request)? {
        Ok(report) => answer(Some(report), Vec::new()),
        Err(mut fault) => {
            global.restore_path(&mut fault);
            answer(None, vec![fault])
        }
    };
    let is_changed = answer.report.as_ref().is_some_and(EditReport::is_change);
    let outcome = answer.outcome();
    print_edit(global, answer, outcome, is_dry_run, is_changed)
}

/// Prints the answer of an edit. That of a dry run is a diff by default.
pub(super) fn print_edit<A: Answer + List>(
    global: &Global,
    mut answer: A,
    outcome: Outcome,
    is_dry_run: bool,
    is_changed: bool,
) -> Result<Status> {
    let is_diff = is_dry_run && global.format.is_none() && outcome == Outcome::All;
    let format = if is_diff { Some(Format::Raw) } else { global.format };
    let printed = Global { format, ..global.clone() }.print_list(&mut answer);
    if is_changed && !is_dry_run {
        printed.map_err(|error| error.in_part("the files were changed; do not repeat the edit"))?;
    } else {
        printed?;
    }
    Ok(outcome.into())
}
