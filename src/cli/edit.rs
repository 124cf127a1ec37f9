//! `replace`, `insert`, `delete` and `edit`: their arguments as requests.

use std::io::{self, IsTerminal as _};
use std::time::Duration;

use super::args::{
    ContentArgs, DeleteArgs, EditArgs, EditOptions, FormatName, Global, InsertArgs, PositionName,
    ReplaceArgs,
};
use super::input::{read, standard_input};
use super::{Status, store};
use crate::edit::plan::{Allow, Position, Scope};
use crate::edit::{self, Answer, Edit, Line, Operation, Report, Request};
use crate::error::{Error, ErrorKind, Result};
use crate::query::Outcome;

pub(super) fn replace(global: &Global, arguments: &ReplaceArgs) -> Result<Status> {
    let edit = Edit {
        operation: Operation::Replace {
            content: content(&arguments.content)?,
            scope: scope(arguments.no_children),
            keep_heading: !arguments.no_keep_heading,
        },
        allow: Allow {
            drop: arguments.allow_drop,
            escape: arguments.allow_escape,
            duplicate: false,
        },
        ..of(&arguments.section, &arguments.options)
    };
    run(global, &arguments.document, vec![edit], &arguments.options, false)
}

pub(super) fn insert(global: &Global, arguments: &InsertArgs) -> Result<Status> {
    let edit = Edit {
        operation: Operation::Insert {
            content: content(&arguments.content)?,
            position: position(arguments.position),
            relevel: arguments.relevel,
        },
        allow: Allow {
            drop: false,
            escape: arguments.allow_escape,
            duplicate: arguments.allow_duplicate,
        },
        ..of(&arguments.anchor, &arguments.options)
    };
    run(global, &arguments.document, vec![edit], &arguments.options, false)
}

pub(super) fn delete(global: &Global, arguments: &DeleteArgs) -> Result<Status> {
    let operation = Operation::Delete { scope: scope(arguments.no_children) };
    let edit = Edit { operation, ..of(&arguments.section, &arguments.options) };
    run(global, &arguments.document, vec![edit], &arguments.options, false)
}

pub(super) fn batch(global: &Global, arguments: &EditArgs) -> Result<Status> {
    let text = String::from_utf8(read(&arguments.batch)?)
        .map_err(|_| Error::new(ErrorKind::Usage, "the batch is not UTF-8"))?;
    let mut edits = Vec::new();
    for (number, line) in (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty()) {
        let fault = |message: &dyn std::fmt::Display| {
            Error::new(ErrorKind::Usage, format!("line {number} of the batch: {message}"))
                .with_hint("write {\"operation\":\"replace\",\"section\":...,\"content\":...}")
        };
        let line: Line = serde_json::from_str(line).map_err(|error| fault(&error))?;
        edits.push(line.into_edit(arguments.options.fuzzy).map_err(|error| fault(&error))?);
    }
    run(global, &arguments.document, edits, &arguments.options, true)
}

fn of(section: &str, options: &EditOptions) -> Edit {
    Edit {
        section: section.to_owned(),
        operation: Operation::Delete { scope: Scope::Subtree },
        allow: Allow::default(),
        expect: options.expect.clone(),
        is_fuzzy: options.fuzzy,
    }
}

fn scope(no_children: bool) -> Scope {
    if no_children { Scope::Own } else { Scope::Subtree }
}

fn position(name: PositionName) -> Position {
    match name {
        PositionName::Before => Position::Before,
        PositionName::After => Position::After,
        PositionName::FirstChild => Position::FirstChild,
        PositionName::LastChild => Position::LastChild,
    }
}

/// The content that is given, or what standard input holds.
fn content(arguments: &ContentArgs) -> Result<Vec<u8>> {
    match (&arguments.content, &arguments.content_file) {
        (Some(text), _) => Ok(text.clone().into_bytes()),
        (None, Some(path)) => read(path),
        (None, None) if io::stdin().is_terminal() => {
            Err(Error::new(ErrorKind::Usage, "no content was given")
                .with_hint("give it with --content, --content-file, or by standard input"))
        }
        (None, None) => standard_input(),
    }
}

fn run(
    global: &Global,
    document: &str,
    edits: Vec<Edit>,
    options: &EditOptions,
    is_batch: bool,
) -> Result<Status> {
    let is_dry_run = options.dry_run;
    let answer = |report: Option<Report>, faults| Answer {
        report,
        faults,
        is_batch,
        is_dry_run,
        with_content: true,
    };
    let request = Request {
        store: &store::existing(global)?,
        document: document.to_owned(),
        edits,
        is_dry_run,
        wait: Duration::from_secs(options.wait),
        trust: &store::trust(),
        confirm: &|report| global.can_tell(&answer(Some(report.clone()), Vec::new())),
    };
    let answer = match edit::edit(&request)? {
        Ok(report) => answer(Some(report), Vec::new()),
        Err(fault) => answer(None, vec![fault]),
    };
    // A trial is a diff, unless it is asked for otherwise.
    let is_diff = is_dry_run && global.format.is_none() && answer.outcome() == Outcome::All;
    let format = if is_diff { Some(FormatName::Raw) } else { global.format };
    Global { format, ..global.clone() }.print_list(&answer)?;
    Ok(answer.outcome().into())
}
