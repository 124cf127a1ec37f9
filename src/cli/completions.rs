//! `completions`: the script that registers completions with a shell, and the completions
//! themselves.
//!
//! The shell runs the program with `MDSEL_COMPLETE` set and the words so far after `--`. Documents
//! and sections come from the store that the finished command would read. Invariants: a completed
//! word needs no quotes in any shell, because other characters are percent-encoded, which addresses
//! allow; a store that cannot be read completes nothing and prints nothing.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use clap_complete::CompleteEnv;
use clap_complete::engine::CompletionCandidate;
use clap_complete::env::{Bash, EnvCompleter, Fish, Powershell, Zsh};

use super::command::{AnyCommand, Described};
use super::global::Global;
use super::print::generated;
use super::refused_options::{OUTPUT, RefusedOptions, STORE};
use super::store::{self, Location};
use super::{Status, option_groups};
use crate::address::namespace;
use crate::error::{Error, Result};
use crate::markdown::outline::Section;
use crate::percent::percent_encode;
use crate::query::Session;
use crate::query::folders::entries;
use crate::query::open_document::OpenDocument;
use crate::query::{NameMatch, document_named};
use crate::store::{Reader, Store};

/// The environment variable that the shell sets to ask for completions.
const VARIABLE: &str = "MDSEL_COMPLETE";

const NAME: &str = "mdsel";

/// Arguments of `completions`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples: source <(mdsel completions bash)    mdsel completions fish | source\n          \
                  mdsel completions powershell | Out-String | Invoke-Expression"
)]
pub(super) struct CompletionsArgs {
    /// The shell that runs the script
    #[arg(value_enum, value_name = "SHELL")]
    shell: ShellName,
}

/// A shell that can complete words of the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ShellName {
    /// bash 4.4 or newer
    Bash,
    /// zsh
    Zsh,
    /// fish
    Fish,
    /// PowerShell, 5 or newer
    #[value(name = "powershell")]
    PowerShell,
}

impl AnyCommand for CompletionsArgs {
    /// Prints the script that registers the completions with a shell.
    fn run(&self, _: &Global) -> Result<Status> {
        let shell: &dyn EnvCompleter = match self.shell {
            ShellName::Bash => &Bash,
            ShellName::Zsh => &Zsh,
            ShellName::Fish => &Fish,
            ShellName::PowerShell => &Powershell,
        };
        // The script calls the program by name if it was called by name, else by its full path.
        let is_named = std::env::args_os().next().is_none_or(|called| !is_path(&called));
        let program = if is_named { None } else { std::env::current_exe().ok() };
        let program = program.unwrap_or_else(|| PathBuf::from(NAME));
        let mut script = Vec::new();
        shell
            .write_registration(VARIABLE, NAME, NAME, &program.to_string_lossy(), &mut script)
            .map_err(|error| Error::io(Path::new("completions"), error))?;
        generated(&script)
    }

    fn describe(name: &str, all: &mut Vec<Described>) {
        let refused_options = &[
            RefusedOptions { options: &OUTPUT, reason: "it prints a script", hint: "" },
            RefusedOptions { options: &STORE, reason: "it prints a script", hint: "" },
        ];
        all.push(Described { refused_options, ..Described::new(name, |_| false) });
    }
}

fn is_path(called: &OsStr) -> bool {
    Path::new(called).components().count() > 1
}

/// Prints the completions that a shell asks for. Returns `None` if the program was not called by a
/// shell for completions.
pub(super) fn complete(arguments: &[OsString]) -> Option<Status> {
    std::env::var_os(VARIABLE)?;
    let folder = store::current_folder().ok();
    let completed = CompleteEnv::with_factory(option_groups::command)
        .var(VARIABLE)
        .try_complete(arguments.iter().cloned(), folder.as_deref());
    match completed {
        Ok(true) => Some(Status::Success),
        Ok(false) => None,
        Err(_) => Some(Status::Error),
    }
}

/// Returns documents whose path begins with `typed`, one folder level at a time.
pub(super) fn documents(typed: &OsStr) -> Vec<CompletionCandidate> {
    candidates(typed, |reader, typed| {
        let folder = typed.rsplit_once('/').map_or("", |(folder, _)| folder);
        let entries = entries(reader, &namespace::decode(folder)).ok()?;
        let words = entries.iter().map(|path| encoded(path));
        Some(words.filter(|word| word.starts_with(typed)).collect())
    })
}

/// Returns documents, or after the `#` of a document its anchors.
pub(super) fn addresses(typed: &OsStr) -> Vec<CompletionCandidate> {
    let Some((document, anchor)) = typed.to_str().and_then(|typed| typed.split_once('#')) else {
        return documents(typed);
    };
    candidates(typed, |reader, _| {
        let document = open(reader, document)?;
        let name = encoded(&document.stored.path);
        let sections = document.tree.outline().sections.iter();
        let anchors = sections.filter_map(Section::anchor);
        Some(
            anchors
                .filter(|found| found.starts_with(anchor))
                .map(|anchor| format!("{name}#{anchor}"))
                .collect(),
        )
    })
}

/// Returns the section paths of the document that was typed before this word.
pub(super) fn sections(typed: &OsStr) -> Vec<CompletionCandidate> {
    candidates(typed, |reader, typed| {
        let before = words_before();
        let document = before.iter().rev().find_map(|word| open(reader, word))?;
        let sections = document.tree.outline().sections.iter();
        let paths = sections.filter_map(|section| document.tree.section_path(section.node));
        Some(paths.filter(|path| path.starts_with(typed)).collect())
    })
}

fn candidates(
    typed: &OsStr,
    words: impl FnOnce(&dyn Reader, &str) -> Option<Vec<String>>,
) -> Vec<CompletionCandidate> {
    let words = typed.to_str().and_then(|typed| words(&*reader()?, typed));
    words.unwrap_or_default().into_iter().map(CompletionCandidate::new).collect()
}

/// Opens the store that the finished command would read.
fn reader() -> Option<Box<dyn Reader>> {
    let words = words_before();
    let named = words.iter().enumerate().find_map(|(at, word)| match word.strip_prefix("--db") {
        Some("") => words.get(at + 1).map(String::as_str),
        Some(rest) => rest.strip_prefix('='),
        None => None,
    });
    match store::find_named(named.map(Path::new)).ok()?? {
        Location::File(path) => Store::at(&path, store::trust()).ok()?.peek().ok()?,
        // A completion must not wait for a server.
        Location::Server(_) => None,
    }
}

/// Returns the words of the command line before the one that is completed.
fn words_before() -> Vec<String> {
    let mut words: Vec<String> = std::env::args_os()
        .skip_while(|word| word != "--")
        .skip(2)
        .map(|word| word.to_string_lossy().into_owned())
        .collect();
    words.pop();
    words
}

fn open(reader: &dyn Reader, name: &str) -> Option<std::rc::Rc<OpenDocument>> {
    let name = namespace::decode(name);
    match document_named(reader, &name).ok()? {
        NameMatch::One(document) => Session::new(reader).open(&document).ok(),
        NameMatch::None | NameMatch::Many(..) => None,
    }
}

/// Percent-encodes a path, as addresses allow, so that it needs no quotes in any shell.
fn encoded(path: &str) -> String {
    let encoded =
        percent_encode(path, |scalar| scalar.is_alphanumeric() || "/._+-".contains(scalar));
    // A word that begins with a dash would be an option.
    match encoded.strip_prefix('-') {
        Some(rest) => format!("%2D{rest}"),
        None => encoded,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn completed_words_need_no_quotes() {
        let path = "a b/C#'s (new) $x:y.md";
        assert_eq!(encoded(path), "a%20b/C%23%27s%20%28new%29%20%24x%3Ay.md");
        assert_eq!(namespace::decode(&encoded(path)), path);
        assert_eq!(encoded("日本/é.md"), "日本/é.md");
        assert_eq!(encoded("-a-b,c.md"), "%2Da-b%2Cc.md");
    }
}
