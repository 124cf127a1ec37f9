//! `context` and `prime`: turns their arguments into requests.

use super::args::{ContextArgs, FormatName, Global, PrimeArgs};
use super::input::standard_input;
use super::questions::cursor;
use super::{Status, generated, store};
use crate::error::{Error, ErrorKind, Result};
use crate::query::Library;
use crate::query::context::{Outside, Request, context};
use crate::query::page::fitting;
use crate::query::prime as primer;
use crate::query::search::passage_chars;

/// The types of text from outside that `--item` accepts.
const KINDS: [&str; 5] = ["code", "error", "text", "repl-history", "file"];

pub(super) fn run(global: &Global, arguments: &ContextArgs) -> Result<Status> {
    // A Markdown block shows the content of its place. With a query it shows a passage.
    let is_blocks = global.format() == FormatName::Markdown && arguments.query.is_none();
    let request = Request {
        addresses: arguments.addresses.clone(),
        queries: arguments.query.iter().chain(&arguments.also).cloned().collect(),
        passage: passage_chars(arguments.passage, global.max_chars),
        filter: arguments.filter.request(),
        hops: arguments.hops,
        with_body: arguments.with_body || is_blocks,
        outside: arguments.items.iter().map(|item| outside(item)).collect::<Result<_>>()?,
        limit: fitting(arguments.list.limit, global.max_chars),
        after: cursor(arguments.list.after.as_ref())?,
    };
    let mut answer = if arguments.query.is_some() {
        let reader = store::open_for_search(global)?;
        context(&Library::new(&*reader), &request)?
    } else {
        let reader = store::open_fresh(global, |_| Ok(None))?;
        context(&Library::new(&*reader), &request)?
    };
    answer.language.clone_from(&arguments.lang);
    global.print_list(&answer)?;
    Ok(answer.outcome().into())
}

/// The skill file, which explains the program to an agent.
const SKILL: &str = include_str!("skill.md");

pub(super) fn prime(global: &Global, arguments: &PrimeArgs) -> Result<Status> {
    if arguments.skill {
        return generated(SKILL.as_bytes());
    }
    let reader = store::open_fresh(global, |_| Ok(None))?;
    let after = cursor(arguments.after.as_ref())?;
    global.print_list(&primer::prime(&Library::new(&*reader), after)?)?;
    Ok(Status::Success)
}

/// Parses `TYPE[:FILE[:START-END]]=TEXT`. `@FILE` as the text is the content of that file, and `-`
/// is standard input.
fn outside(item: &str) -> Result<Outside> {
    let usage = |message: String| {
        Error::new(ErrorKind::Usage, message)
            .with_hint("write it as TYPE[:FILE[:START-END]]=TEXT, or =@FILE, or =-")
    };
    let (what, text) = item
        .split_once('=')
        .ok_or_else(|| usage(format!("{item:?} is not an item because it has no =")))?;
    let (kind, origin) = what.split_once(':').unwrap_or((what, ""));
    if !KINDS.contains(&kind) {
        let known = KINDS.join(", ");
        return Err(usage(format!("{kind:?} is not a type of item; the types are {known}")));
    }
    let lines = origin.rsplit_once(':').and_then(|(file, lines)| {
        let (start, end) = lines.split_once('-')?;
        let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        (is_number(start) && is_number(end)).then(|| (file, start.parse().ok(), end.parse().ok()))
    });
    let (file, line_start, line_end) = lines.unwrap_or((origin, None, None));
    if let (Some(start), Some(end)) = (line_start, line_end)
        && start > end
    {
        return Err(usage(format!("{start}-{end} is not a range of lines")));
    }
    Ok(Outside {
        kind: kind.to_owned(),
        file: (!file.is_empty()).then(|| file.to_owned()),
        line_start,
        line_end,
        content: text_of(text)?,
        truncated: false,
    })
}

fn text_of(text: &str) -> Result<String> {
    let bytes = match text.strip_prefix('@') {
        Some(path) => {
            std::fs::read(path).map_err(|error| Error::io(std::path::Path::new(path), error))?
        }
        None if text == "-" => standard_input()?,
        None => return Ok(text.to_owned()),
    };
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
