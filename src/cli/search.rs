//! `search`: its arguments and its request.

use clap::{Args, Command};

use super::args::{AfterArgs, FilterArgs, RecordArgs};
use super::command::AnyCommand;
use super::described::{Described, described};
use super::exit::Status;
use super::global::{Global, GlobalArgs};
use super::print::kept;
use super::{habits, store};
use crate::error::{Error, ErrorKind, Result, Warning};
use crate::message::shell_value;
use crate::output::Format;
use crate::query::search::{
    ContextLines, HitDetail, OutputMode, PassageChars, PatternOptions, Query, SearchAnswer,
    SearchRequest, search,
};
use crate::query::{List as _, Outcome, Session};
use crate::visible::quoted;

/// Arguments of `search`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples: mdsel search 'install windows'    mdsel search -e 'install|build' -C 1"
)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command")]
pub(super) struct SearchArgs {
    /// A question or words, best passages first: "a phrase", +must, NOT word, prefix*, title:word
    #[arg(value_name = "QUERY", required_unless_present = "patterns", conflicts_with = "patterns")]
    query: Vec<String>,
    /// Add another wording of the question, such as the terms its answer may use; repeatable. Two of
    /// these find most answers that the question alone misses
    #[arg(long, value_name = "QUERY", allow_hyphen_values = true,
        conflicts_with_all = ["patterns", "fixed_strings"])]
    also: Vec<String>,
    /// Show about N characters of each section that matches; 0 for one line
    #[arg(long, value_name = "N")]
    passage: Option<usize>,
    /// Show every section, even if its text is nearly the same as another's
    #[arg(long)]
    keep_duplicates: bool,
    /// Omit the lines with the titles of sections; with -e or -F
    #[arg(long)]
    no_heading: bool,
    /// Accepted because other programs that search have it; it is the default
    #[arg(long = "heading", hide = true, overrides_with = "no_heading")]
    _heading: bool,
    /// Search each line for a regular expression; repeatable
    #[arg(short = 'e', long = "regexp", value_name = "PATTERN", allow_hyphen_values = true)]
    patterns: Vec<String>,
    /// Search for the QUERY, or the patterns, as literal text
    #[arg(short = 'F', long)]
    fixed_strings: bool,
    /// Ignore case in patterns (words always ignore case)
    #[arg(short, long)]
    ignore_case: bool,
    /// Match whole words only; with -e or -F
    #[arg(short, long)]
    word_regexp: bool,
    /// Let a match span lines of a section's own text; with -e or -F
    #[arg(short = 'U', long)]
    multiline: bool,
    /// Accepted because other programs that search have it; lines always have their numbers
    #[arg(short = 'n', long = "line-number", hide = true)]
    line_number: bool,
    /// Show N lines after each match
    #[arg(short = 'A', long, value_name = "N")]
    after_context: Option<usize>,
    /// Show N lines before each match
    #[arg(short = 'B', long, value_name = "N")]
    before_context: Option<usize>,
    /// Show N lines before and after each match
    #[arg(short = 'C', long, value_name = "N")]
    context: Option<usize>,
    /// Print only the number of hits in each document, with those that --keep-duplicates adds
    #[arg(short, long, conflicts_with_all = ["files", "quiet"])]
    count: bool,
    /// Print only the documents that have a hit
    #[arg(short = 'l', long, conflicts_with = "quiet")]
    files: bool,
    /// Show the match instead of its line
    #[arg(short, long)]
    only_matching: bool,
    /// Print only problems, on stderr; exit with status 0 if there is a hit
    #[arg(short, long)]
    quiet: bool,
    #[command(flatten)]
    filter: FilterArgs,
    /// Explain how the hits were found
    #[arg(long)]
    explain: bool,
    #[command(flatten)]
    records: RecordArgs,
    /// Print at most N hits; 0 for all. -c and -l print all documents [default: 20]
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
    #[command(flatten)]
    after: AfterArgs,
}

impl AnyCommand for SearchArgs {
    fn addresses(&mut self) -> Result<Vec<&mut String>> {
        Ok(self.filter.places.documents.under.iter_mut().collect())
    }

    fn run(&self, global: &Global) -> Result<Status> {
        self.check_line_number()?;
        let global = &global.with_records(self.records.form())?;
        let detail = match global.format() {
            Format::Text if self.no_heading => HitDetail::Lines,
            format => SearchAnswer::detail(format),
        };
        let mut request = request(self, detail)?;
        request.keep_to(self.passage, global.most_chars());
        SearchAnswer::check_surroundings(&request, global.format())?;
        let reader = kept(store::open_for_search(global)?);
        let session = Session::new(&**reader);
        let answer = kept(search(&session, &request)?);
        answer.page.warnings.extend(option_among_words(&self.query));
        answer.page.warnings.extend(place_among_words(&session, &self.query)?);
        if self.quiet {
            global.note_problems(answer);
            let is_found = answer.outcome() != Outcome::None;
            return Ok(if is_found { Status::Success } else { Status::Nothing });
        }
        global.print_documents(&session, answer)?;
        Ok(answer.outcome().into())
    }

    fn describe(name: &str, all: &mut Vec<Described>) {
        all.push(described::<SearchAnswer>(name));
    }
}

impl SearchArgs {
    /// Returns an error if one of several words is a number that is meant as the value of `-n`.
    fn check_line_number(&self) -> Result<()> {
        let is_number = |word: &&String| word.parse::<usize>().is_ok();
        let is_asked = self.line_number && self.query.len() > 1;
        let Some(number) = self.query.iter().find(is_number).filter(|_| is_asked) else {
            return Ok(());
        };
        let message = "-n has no value: it asks for line numbers, which are always printed";
        Err(Error::new(ErrorKind::Usage, message).with_hint(format!(
            "for {number} hits, use --limit {number}; to search for {number}, leave out -n"
        )))
    }
}

/// Returns a warning if one of several words is an option, which is one only before `--`.
fn option_among_words(words: &[String]) -> Option<Warning> {
    let names = words.iter().skip(1).map(|word| word.split('=').next().unwrap_or_default());
    let mut options = names.filter(|name| name.starts_with('-'));
    let own = GlobalArgs::augment_args(SearchArgs::augment_args(Command::new("search")));
    let name = options.find(|name| habits::find(&[&own], name).is_some())?;
    let message = format!(
        "{name} after -- was searched for as a word; put options before --",
        name = quoted(&name)
    );
    Some(Warning::new("OPTION_AS_WORD", message))
}

/// Returns a warning if one of several words is the path of a folder or of a document, which may be meant as the
/// place to search in.
fn place_among_words(session: &Session<'_>, words: &[String]) -> Result<Option<Warning>> {
    for word in words.iter().skip(1) {
        let path = word.strip_prefix("./").unwrap_or(word).trim_end_matches('/');
        let is_place = !path.is_empty()
            && (session.reader.is_folder(path)? || session.reader.document_at(path)?.is_some());
        if is_place {
            let message = format!(
                "{word} was searched for as words; to search there, use --under {}",
                shell_value(word),
                word = quoted(&word)
            );
            return Ok(Some(Warning::new("PATH_AS_WORDS", message)));
        }
    }
    Ok(None)
}

fn request(arguments: &SearchArgs, detail: HitDetail) -> Result<SearchRequest> {
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
    } else if options.is_word || options.is_multi_line || arguments.no_heading {
        return Err(Error::new(ErrorKind::Usage, "-w, -U and --no-heading apply to patterns only")
            .with_hint("give a regular expression with -e, or literal text with -F"));
    } else {
        Query::Words(std::iter::once(text).chain(arguments.also.iter().cloned()).collect())
    };
    let has_passages = matches!(query, Query::Words(_)) && !arguments.count && !arguments.files;
    if !has_passages && (arguments.passage.is_some() || arguments.keep_duplicates) {
        let message = "--passage and --keep-duplicates apply to the passages of a search for words";
        return Err(Error::new(ErrorKind::Usage, message)
            .with_hint("leave them out; -C adds the lines around the match of a pattern"));
    }
    let around = arguments.context.unwrap_or(0);
    Ok(SearchRequest {
        query,
        filter: arguments.filter.request(),
        form: if arguments.quiet {
            OutputMode::Existence
        } else if arguments.count {
            OutputMode::Counts
        } else if arguments.files {
            OutputMode::Files
        } else {
            OutputMode::Hits
        },
        surroundings: ContextLines {
            before: arguments.before_context.unwrap_or(around),
            after: arguments.after_context.unwrap_or(around),
            is_match_only: arguments.only_matching,
        },
        passage: PassageChars::new(None, None),
        keeps_duplicates: arguments.keep_duplicates,
        detail,
        explain: arguments.explain,
        limit: arguments.limit,
        max_chars: None,
        after: arguments.after.cursor()?,
    })
}
