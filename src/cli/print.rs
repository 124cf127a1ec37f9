//! Prints the answer of a command on standard output, within the budget, and notes on standard error.
//!
//! Invariant: standard output contains the answer and nothing else; a closed pipe is not an error.

use std::borrow::Cow;
use std::io::{self, BufWriter, IsTerminal as _, Write as _};

use super::exit::Status;
use super::global::{Color, Global};
use super::note::note;
use super::{format, store};
use crate::address::AddressError;
use crate::edit;
use crate::error::{Error, Result};
use crate::ingest::IngestReport;
use crate::limits;
use crate::message::{self, InStore, Message, Wording, shell_word};
use crate::output::{
    Answer, Caller, Format, OutputLength, OutputOptions, fits, too_small, write, write_list,
    write_worded,
};
use crate::query::finding::Findings;
use crate::query::labels::read_labels;
use crate::query::{CHANGED_FILES, List, Session};

impl Global {
    pub(super) fn format(&self) -> Format {
        self.format.unwrap_or_else(format::default)
    }

    pub(super) fn options<'a>(&self, store: &'a str) -> OutputOptions<'a> {
        OutputOptions {
            store,
            format: self.format(),
            is_pretty: self.pretty,
            is_compact: self.compact,
            has_color: match self.color {
                Color::Always => true,
                Color::Never => false,
                Color::Auto => io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none(),
            },
            max_chars: self.max_chars,
            max_bytes: self.max_bytes,
            max_tokens: self.max_tokens,
            record_form: self.record_form,
            caller: Caller::CommandLine,
        }
    }

    /// Returns the given option `--db` with a blank before it.
    pub(super) fn store_option(&self) -> Option<String> {
        self.db.as_ref()?;
        Some(format!(" --db {}", shell_word(&store::shown(self))))
    }

    /// Returns a function that adds the given `--db` and `--root` to the commands that a message names, unless it
    /// names these options itself. Without them the commands find another store or none, or other files. Returns
    /// `None` if no `--db` is given.
    pub(super) fn in_store(&self) -> Option<impl Fn(&Message) -> Message> {
        let (store, root) = (self.store_option()?, self.root_option());
        Some(move |message: &Message| {
            if message.names("--db") {
                return message.clone();
            }
            let root = if message.names("--root") { "" } else { &root };
            message.render(&InStore { options: &format!("{store}{root}") }).into()
        })
    }

    /// Returns the given option `--root` with a blank before it, or nothing.
    fn root_option(&self) -> String {
        self.root.as_ref().map_or_else(String::new, |root| {
            format!(" --root {}", shell_word(&root.display().to_string()))
        })
    }

    /// Returns a hint about an edit of a batch, with the keys of its line in place of options.
    pub(super) fn in_batch(&self, hint: &Message) -> Message {
        let options = self.store_option().map(|store| store + &self.root_option());
        let options = options.unwrap_or_default();
        let words = InStore { options: &options };
        let (text, of_line) = (hint.render(&words), hint.render(&InBatch(words)));
        if text == of_line { text.into() } else { format!("in that line, {of_line}").into() }
    }

    /// Prints the problems that a check found, and returns its status.
    pub(super) fn print_findings(&self, mut findings: Findings) -> Result<Status> {
        self.print_list(&mut findings)?;
        Ok(Status::of_check(&findings))
    }

    /// Returns a list of at most `limit` items, of which 0 means all, without most of the items that do not
    /// fit into the budget. Calls `make` with a number of items that usually fills the budget, then with
    /// greater numbers while they all fit.
    pub(super) fn filled<L: Answer + List>(
        &self,
        limit: usize,
        make: impl Fn(usize) -> Result<L>,
    ) -> Result<L> {
        let Some(most) = self.most_chars() else { return make(limit) };
        let greatest = if limit == 0 { usize::MAX } else { limit };
        let usual_chars = match self.format() {
            Format::Json | Format::Jsonl => 240,
            _ => 40,
        };
        let store = store::shown(self);
        let mut count = most / usual_chars + 1;
        loop {
            count = count.min(greatest);
            let answer = make(count)?;
            if count == greatest || answer.count() < count || !fits(&answer, self.options(&store))?
            {
                return Ok(answer);
            }
            count = count.saturating_mul(4);
        }
    }

    /// Prints an answer. Returns whether standard output was still open.
    pub(super) fn print(&self, answer: &impl Answer) -> Result<bool> {
        let store = store::shown(self);
        finish(|out| write(answer, self.options(&store), out))
    }

    /// Returns an error if the budget may be too small for the report of a change. Called before
    /// the change is made.
    pub(super) fn has_room_for_report(&self) -> Result<()> {
        let store = store::shown(self);
        let Some(most) = self.options(&store).limit() else { return Ok(()) };
        let mut longest = Vec::new();
        write(
            &IngestReport::longest(),
            OutputOptions {
                max_chars: None,
                max_bytes: None,
                max_tokens: None,
                ..self.options(&store)
            },
            &mut longest,
        )?;
        let chars = OutputLength::of(&longest).chars.max(limits::REPORT_CHARS);
        // A path in the report may have characters of four bytes.
        let bytes = longest.len().max(4 * limits::REPORT_CHARS);
        let enough = OutputLength { chars, ..OutputLength::of_ascii(bytes) };
        if enough.fits(most) { Ok(()) } else { Err(too_small(most, enough, Caller::CommandLine)) }
    }

    /// Prints an answer that is not cut: help and schemas. Fails if it does not fit into the budget.
    pub(super) fn print_whole(&self, bytes: &[u8]) -> Result<Status> {
        let length = OutputLength::of(bytes);
        match self.options("").limit() {
            Some(most) if !length.fits(most) => Err(too_small(most, length, Caller::CommandLine)),
            _ => generated(bytes),
        }
    }

    /// Returns an error if an answer does not fit into the budget. Prints nothing.
    pub(super) fn check_fits(&self, answer: &(impl Answer + List)) -> Result<()> {
        match self.most_chars() {
            None => Ok(()),
            Some(_) => {
                let store = store::shown(self);
                write_list(answer, self.options(&store), &mut io::sink()).map(|_| ())
            }
        }
    }

    /// Prints an answer about documents of `session`; see [`Self::print_list`].
    pub(super) fn print_documents(
        &self,
        session: &Session<'_>,
        answer: &mut (impl Answer + List),
    ) -> Result<bool> {
        if self.format() == Format::Records {
            read_labels(session, answer)?;
        }
        self.print_list(answer)
    }

    /// Writes the path in an address as it was given.
    pub(super) fn restore_path(&self, fault: &mut AddressError) {
        let given = self.given.borrow();
        let given = given.iter().find(|(looked_up, _)| *looked_up == fault.selector);
        if let Some((looked_up, given)) = given {
            fault.message.replace(looked_up, given);
            fault.selector.clone_from(given);
        }
    }

    /// Adds to an answer what only the command line knows about its addresses and about the store.
    fn complete(&self, answer: &mut impl List) {
        if let Some(page) = answer.page_mut() {
            page.warnings.splice(0..0, self.recovered.take());
            for fault in &mut page.unresolved_selectors {
                self.restore_path(fault);
            }
        }
    }

    /// Prints the unresolved addresses and the warnings of an answer on standard error, and nothing else of it.
    pub(super) fn note_problems(&self, answer: &mut impl List) {
        self.complete(answer);
        if let Some(in_store) = self.in_store() {
            answer.messages_mut().into_iter().for_each(|message| *message = in_store(message));
        }
        if let Some(page) = answer.page_mut() {
            page.say_once();
            page.unresolved_selectors.iter().for_each(|fault| note(&fault.to_string()));
            page.warnings.iter().for_each(|warning| note(&warning.to_string()));
        }
    }

    /// Prints an answer, with fewer items if the budget requires it. Returns whether standard
    /// output was still open. Adds the given `--db` to the commands that its messages name.
    pub(super) fn print_list(&self, answer: &mut (impl Answer + List)) -> Result<bool> {
        self.complete(answer);
        if self.refresh {
            // It is done already.
            answer.messages_mut().into_iter().for_each(|it| it.replace_part(CHANGED_FILES, ""));
        }
        let in_store = self.in_store();
        let word = |message: &Message| match &in_store {
            Some(in_store) => in_store(message),
            None => message.clone(),
        };
        let store = store::shown(self);
        finish(|out| write_worded(answer, &word, self.options(&store), out))
    }
}

/// The command line for an edit of a batch, where options are keys.
struct InBatch<'a>(InStore<'a>);

impl Wording for InBatch<'_> {
    fn command(&self, command: &message::Command) -> String {
        self.0.command(command)
    }

    fn option<'a>(&self, option: &'a str) -> Cow<'a, str> {
        edit::key_of(option).map_or(Cow::Borrowed(option), Cow::Owned)
    }
}

/// Keeps a value until the process exits. Dropping a large answer piece by piece takes as long as
/// printing it, and unmapping files takes as long as a lookup.
pub(super) fn kept<T>(value: T) -> &'static mut T {
    Box::leak(Box::new(value))
}

/// Prints text that the program generates: help, manual pages, completions.
pub(super) fn generated(bytes: &[u8]) -> Result<Status> {
    finish(|out| {
        out.write_all(bytes)
            .map_err(|error| Error::io(std::path::Path::new("standard output"), error))?;
        Ok(Vec::new())
    })?;
    Ok(Status::Success)
}

/// Writes to standard output. Returns false if the reader has closed it, which is not an error.
pub(super) fn finish(
    write: impl FnOnce(&mut dyn io::Write) -> Result<Vec<String>>,
) -> Result<bool> {
    let mut out = BufWriter::with_capacity(1 << 16, io::stdout().lock());
    let written = write(&mut out).and_then(|notes| {
        out.flush().map_err(|error| Error::io(std::path::Path::new("standard output"), error))?;
        Ok(notes)
    });
    match written {
        Ok(notes) => {
            for line in &notes {
                note(line);
            }
            Ok(true)
        }
        Err(error) if error.is_broken_pipe() => {
            // The rest of the buffer cannot be written either.
            drop(out.into_parts());
            Ok(false)
        }
        Err(error) => Err(error),
    }
}
