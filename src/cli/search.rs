//! `search`: turns its arguments into a request.

use super::args::{FormatName, Global, SearchArgs};
use super::questions::{cursor, kept};
use super::{Status, store};
use crate::error::{Error, ErrorKind, Result};
use crate::limits;
use crate::query::search::{Form, PatternOptions, Query, Request, Surroundings, search};
use crate::query::{Library, Outcome};

pub(super) fn run(global: &Global, arguments: &SearchArgs) -> Result<Status> {
    let lines_only = global.format() == FormatName::Text && arguments.no_heading;
    let mut request = request(arguments, lines_only)?;
    request.keep_to(arguments.passage, global.max_chars);
    let reader = kept(store::open_for_search(global)?);
    let answer = kept(search(&Library::new(&**reader), &request)?);
    if arguments.quiet {
        let is_found = answer.outcome() != Outcome::None;
        return Ok(if is_found { Status::Success } else { Status::Nothing });
    }
    global.print_list(answer)?;
    Ok(answer.outcome().into())
}

/// Returns the request. `lines_only` is set if the output contains no addresses.
fn request(arguments: &SearchArgs, lines_only: bool) -> Result<Request> {
    let options = PatternOptions {
        is_literal: arguments.fixed_strings,
        ignores_case: arguments.ignore_case,
        is_word: arguments.word_regexp,
        is_multi_line: arguments.multiline,
    };
    let text = arguments.query.join(" ");
    let query = if arguments.query.is_empty() {
        Query::Patterns(arguments.patterns.clone(), options)
    } else if options.is_literal {
        Query::Patterns(vec![text], options)
    } else if options.is_word || options.is_multi_line {
        return Err(Error::new(ErrorKind::Usage, "-w and -U apply to patterns only")
            .with_hint("give a regular expression with -e, or literal text with -F"));
    } else {
        Query::Words(std::iter::once(text).chain(arguments.also.iter().cloned()).collect())
    };
    let around = arguments.context.unwrap_or(0);
    Ok(Request {
        query,
        filter: arguments.filter.request(),
        form: if arguments.quiet {
            Form::Existence
        } else if arguments.count {
            Form::Counts
        } else if arguments.files {
            Form::Files
        } else {
            Form::Hits
        },
        surroundings: Surroundings {
            before: arguments.before_context.unwrap_or(around),
            after: arguments.after_context.unwrap_or(around),
            is_match_only: arguments.only_matching,
        },
        passage: limits::PASSAGE_CHARS,
        keeps_duplicates: arguments.keep_duplicates,
        lines_only,
        explain: arguments.explain,
        limit: arguments.limit,
        after: cursor(arguments.after.as_ref())?,
    })
}
