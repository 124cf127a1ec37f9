//! The documents, addresses and sections that a shell completes.
//!
//! They come from the store that the finished command would read. Invariants: a completed word needs no quotes in any
//! shell, because other characters are percent-encoded, which addresses allow; a store that cannot be read completes
//! nothing and prints nothing.

use std::ffi::OsStr;
use std::path::Path;

use clap_complete::engine::CompletionCandidate;

use super::store::{self, Location};
use crate::address::{is_selector, namespace};
use crate::markdown::outline::Section;
use crate::percent::percent_encode;
use crate::query::Session;
use crate::query::folders::entries;
use crate::query::open_document::OpenDocument;
use crate::query::{NameMatch, document_named};
use crate::store::{Purpose, Reader, Store};

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

/// Returns the section paths of the document that was typed before this word, after `/` if one would be a selector.
pub(super) fn sections(typed: &OsStr) -> Vec<CompletionCandidate> {
    candidates(typed, |reader, typed| {
        let before = words_before();
        let document = before.iter().rev().find_map(|word| open(reader, word))?;
        let sections = document.tree.outline().sections.iter();
        let paths = sections.filter_map(|section| document.tree.section_path(section.node));
        let paths = paths.filter(|path| path.starts_with(typed.strip_prefix('/').unwrap_or(typed)));
        let is_marked = |path: &str| typed.starts_with('/') || is_selector(path);
        Some(paths.map(|path| if is_marked(&path) { format!("/{path}") } else { path }).collect())
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
        Location::File(path) => Store::at(&path, store::trust()).ok()?.peek(Purpose::Read).ok()?,
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
