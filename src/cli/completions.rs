//! `completions`: what makes a shell complete, and what it then asks for.
//!
//! The shell calls the program with `MDSEL_COMPLETE` set and the words so far behind `--`; documents and
//! sections come from the store that the finished command would ask. Invariant: a completed word needs no
//! quotes in any shell, because what would is percent-encoded, as an address allows; and a store that
//! cannot be asked completes nothing and says nothing.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use clap_complete::CompleteEnv;
use clap_complete::engine::CompletionCandidate;
use clap_complete::env::{Bash, EnvCompleter, Fish, Powershell, Zsh};

use super::args::{CompletionsArgs, ShellName};
use super::{Status, generated, groups, store};
use crate::error::{Error, Result};
use crate::markdown::outline::Section;
use crate::query::Library;
use crate::query::library::OpenDocument;
use crate::store::{NameMatch, Snapshot};

/// Set by the shell when it wants words completed.
const VARIABLE: &str = "MDSEL_COMPLETE";

const NAME: &str = "mdsel";

/// Prints what registers the completions with a shell.
pub(super) fn run(arguments: &CompletionsArgs) -> Result<Status> {
    let shell: &dyn EnvCompleter = match arguments.shell {
        ShellName::Bash => &Bash,
        ShellName::Zsh => &Zsh,
        ShellName::Fish => &Fish,
        ShellName::PowerShell => &Powershell,
    };
    // Found by name where it was called by name; else this very file.
    let is_named = std::env::args_os().next().is_none_or(|called| !is_path(&called));
    let program = if is_named { None } else { std::env::current_exe().ok() };
    let program = program.unwrap_or_else(|| PathBuf::from(NAME));
    let mut script = Vec::new();
    shell
        .write_registration(VARIABLE, NAME, NAME, &program.to_string_lossy(), &mut script)
        .map_err(|error| Error::io(Path::new("completions"), error))?;
    generated(&script)
}

fn is_path(called: &OsStr) -> bool {
    Path::new(called).components().count() > 1
}

/// Answers a shell that wants words completed; `None` where none does.
pub(super) fn complete(arguments: &[OsString]) -> Option<Status> {
    std::env::var_os(VARIABLE)?;
    let folder = store::current_folder().ok();
    let completed = CompleteEnv::with_factory(groups::command)
        .var(VARIABLE)
        .try_complete(arguments.iter().cloned(), folder.as_deref());
    match completed {
        Ok(true) => Some(Status::Success),
        Ok(false) => None,
        Err(_) => Some(Status::Fault),
    }
}

/// Documents whose path begins with what is typed, folder by folder.
pub(super) fn documents(typed: &OsStr) -> Vec<CompletionCandidate> {
    candidates(typed, |snapshot, typed| {
        let folder = typed.rsplit_once('/').map_or("", |(folder, _)| folder);
        let documents = if folder.is_empty() {
            snapshot.documents(None, usize::MAX)
        } else {
            snapshot.documents_below(&crate::address::namespace::decode(folder))
        };
        let mut words = BTreeSet::new();
        for document in documents.ok()? {
            let word = encoded(&document.path);
            let Some(rest) = word.strip_prefix(typed) else { continue };
            let length = rest.find('/').map_or(word.len(), |at| typed.len() + at + 1);
            words.extend(word.get(..length).map(str::to_owned));
        }
        Some(words.into_iter().collect())
    })
}

/// Documents, and behind the `#` of one its sections.
pub(super) fn addresses(typed: &OsStr) -> Vec<CompletionCandidate> {
    let Some((document, anchor)) = typed.to_str().and_then(|typed| typed.split_once('#')) else {
        return documents(typed);
    };
    candidates(typed, |snapshot, _| {
        let document = open(snapshot, document)?;
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

/// The sections of the document that was typed before.
pub(super) fn sections(typed: &OsStr) -> Vec<CompletionCandidate> {
    candidates(typed, |snapshot, typed| {
        let before = words_before();
        let document = before.iter().rev().find_map(|word| open(snapshot, word))?;
        let sections = document.tree.outline().sections.iter();
        let paths = sections.filter_map(|section| document.tree.section_path(section.node));
        Some(paths.filter(|path| path.starts_with(typed)).collect())
    })
}

fn candidates(
    typed: &OsStr,
    words: impl FnOnce(&Snapshot, &str) -> Option<Vec<String>>,
) -> Vec<CompletionCandidate> {
    let words = typed.to_str().and_then(|typed| words(&snapshot()?, typed));
    words.unwrap_or_default().into_iter().map(CompletionCandidate::new).collect()
}

/// The store that the command would ask.
fn snapshot() -> Option<Snapshot> {
    let words = words_before();
    let named = words.iter().enumerate().find_map(|(at, word)| match word.strip_prefix("--db") {
        Some("") => words.get(at + 1).map(String::as_str),
        Some(rest) => rest.strip_prefix('='),
        None => None,
    });
    let path = store::find_named(named.map(Path::new)).ok()??;
    Snapshot::open(&path).ok()
}

/// The words of the command line but the one that is completed, as the shell gave them.
fn words_before() -> Vec<String> {
    let mut words: Vec<String> = std::env::args_os()
        .skip_while(|word| word != "--")
        .skip(2)
        .map(|word| word.to_string_lossy().into_owned())
        .collect();
    words.pop();
    words
}

fn open(snapshot: &Snapshot, name: &str) -> Option<std::rc::Rc<OpenDocument>> {
    let name = crate::address::namespace::decode(name);
    match snapshot.named(&name).ok()? {
        NameMatch::One(document) => Library::new(snapshot).open(&document).ok(),
        NameMatch::None | NameMatch::Many(..) => None,
    }
}

/// A path as a name in an address that no shell reads as anything else.
fn encoded(path: &str) -> String {
    let mut result = String::with_capacity(path.len());
    for (at, scalar) in path.char_indices() {
        // A dash in front would make an option of it.
        let is_plain =
            scalar.is_alphanumeric() || "/._+".contains(scalar) || scalar == '-' && at > 0;
        if is_plain {
            result.push(scalar);
        } else {
            let mut buffer = [0; 4];
            for byte in scalar.encode_utf8(&mut buffer).bytes() {
                result.push_str(&format!("%{byte:02X}"));
            }
        }
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_need_no_quotes() {
        let path = "a b/C#'s (new) $x:y.md";
        assert_eq!(encoded(path), "a%20b/C%23%27s%20%28new%29%20%24x%3Ay.md");
        assert_eq!(crate::address::namespace::decode(&encoded(path)), path);
        assert_eq!(encoded("日本/é.md"), "日本/é.md");
        assert_eq!(encoded("-a-b,c.md"), "%2Da-b%2Cc.md");
    }
}
