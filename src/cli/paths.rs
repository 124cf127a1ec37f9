//! Paths on the command line, as seen from the current folder.
//!
//! `./x`, `../x` and absolute paths, alone or followed by a place, become `./` and the path
//! relative to the root. Such a name matches that document and no other. Invariant: every command
//! gets its addresses from here, and no address names a file outside the root.

use std::path::{Path, PathBuf};

use super::command::AnyCommand;
use super::global::Global;
use super::store;
use crate::address::{namespace, split_known_params, whole_number};
use crate::corpus::{Roots, canonical};
use crate::error::{Error, ErrorKind, Result};
use crate::query::{NameMatch, Session, by_name};
use crate::store::{Lookup, Purpose};

/// Replaces the paths in the addresses of `command` by paths relative to the root. Reads those that come from standard
/// input.
pub(super) fn rewrite(global: &Global, command: &mut impl AnyCommand) -> Result<()> {
    rewrite_all(global, command.addresses()?)
}

/// Replaces the paths in `addresses` by paths relative to the root.
pub(super) fn rewrite_all(global: &Global, mut addresses: Vec<&mut String>) -> Result<()> {
    addresses.retain(|address| is_path(address));
    if addresses.is_empty() {
        return Ok(());
    }
    // The command reports a missing store.
    let Ok(store) = store::store(global) else { return Ok(()) };
    let Ok(Some(reader)) = store.peek(Purpose::Read) else { return Ok(()) };
    let session = Session::new(&*reader);
    let is_document =
        |name: &str| by_name(&session, name).is_ok_and(|found| !matches!(found, NameMatch::None));
    let is_title = |title: &str| {
        let found = session.reader.documents(&Lookup::Titles(&[title]), None, 1);
        found.is_ok_and(|found| !found.is_empty())
    };
    let view = View {
        folder: canonical(&store::current_folder()?)?,
        roots: &session.roots,
        is_document: &is_document,
        is_title: &is_title,
    };
    for address in addresses {
        let given = std::mem::replace(address, view.below_root(address)?);
        global.given.borrow_mut().push((address.clone(), given));
    }
    Ok(())
}

/// Returns the path of a new file, relative to the root and percent-encoded. It is seen from the current folder if it
/// begins with `./`, `../` or `/`.
pub(super) fn new_path(global: &Global, path: &str) -> Result<String> {
    if !is_path(path) {
        return Ok(path.to_owned());
    }
    let roots = store::open(global, &store::store(global)?, Purpose::Read)?.roots();
    let full = canonical(&store::current_folder()?.join(namespace::decode(path)))?;
    let found = namespace::encode(&roots.containing(&full, path)?.1);
    let is_folder = path.ends_with('/') && !found.ends_with('/');
    Ok(if is_folder { found + "/" } else { found })
}

/// Returns whether an address begins with a path relative to the current folder, or an absolute
/// one.
fn is_path(address: &str) -> bool {
    let beginnings = ["./", "../", "/"];
    matches!(address, "." | "..") || beginnings.iter().any(|begin| address.starts_with(begin))
}

/// The current folder and the folders of the documents, absolute and without symbolic links.
struct View<'a> {
    folder: PathBuf,
    roots: &'a Roots,
    /// Returns whether a name, which begins with `./`, is the name of a document.
    is_document: &'a dyn Fn(&str) -> bool,
    /// Returns whether a section has this title.
    is_title: &'a dyn Fn(&str) -> bool,
}

impl View<'_> {
    /// Replaces the path at the beginning of `text` by the path relative to the root. An absolute
    /// path that is neither below the root nor in a folder may be the path of a section, such as `/C#`, and is kept.
    fn below_root(&self, text: &str) -> Result<String> {
        for (path, rest) in splits(text) {
            // First as it is written, then percent-decoded, because answers print paths encoded.
            for path in [path.to_owned(), namespace::decode(path)] {
                let Ok(full) = canonical(&self.folder.join(&path)) else { continue };
                match self.name(&path, &full) {
                    Ok(name) if full.exists() || (self.is_document)(&name) => {
                        return Ok(name + rest);
                    }
                    Err(error) if full.is_file() => return Err(error),
                    _ => {}
                }
            }
        }
        let (path, rest) = usual_split(text);
        let full = canonical(&self.folder.join(path))?;
        match self.name(path, &full) {
            Err(_) if text.starts_with('/') && !self.is_elsewhere(path, rest) => {
                Ok(text.to_owned())
            }
            name => Ok(name? + rest),
        }
    }

    /// Returns whether the absolute path `path`, followed by `rest`, is that of a file or folder, and not of a section.
    fn is_elsewhere(&self, path: &str, rest: &str) -> bool {
        if !rest.is_empty() {
            return begins_with_file(path);
        }
        let path = Path::new(path.trim_end_matches('/'));
        let is_below_first = path.components().count() > 2;
        if is_below_first && path.exists() {
            return true;
        }
        let is_in_folder = is_below_first && path.parent().is_some_and(Path::exists);
        let title = path.file_name().and_then(|name| name.to_str());
        (is_in_folder || path.exists()) && !title.is_some_and(|title| (self.is_title)(title))
    }

    /// Returns the name of the file or folder at `full`, which was written as `path`.
    fn name(&self, path: &str, full: &Path) -> Result<String> {
        if !self.roots.iter().any(|root| full.starts_with(&root.folder)) {
            let message = format!("{path} is outside the root of the store");
            let hint = "name a file below the root, which `mdsel status` shows, or a store that contains this file \
                        with --db";
            return Err(Error::new(ErrorKind::OutsideRoot, message).with_hint(hint));
        }
        let (_, path) = self.roots.containing(full, path)?;
        Ok(format!("./{}", namespace::encode(&path)))
    }
}

/// Returns whether the first component of an absolute path exists.
fn begins_with_file(path: &str) -> bool {
    let first = path.split('/').find(|part| !part.is_empty());
    first.is_some_and(|first| Path::new("/").join(first).exists())
}

/// Returns every split into a path and the rest, longest path first. The rest is empty or begins
/// with a place or parameters.
fn splits(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let ends = text.char_indices().rev().filter(|(_, scalar)| matches!(scalar, ':' | '#' | '?'));
    let ends = ends.map(|(end, _)| end);
    std::iter::once(text.len()).chain(ends).filter_map(|end| text.split_at_checked(end))
}

/// Returns where the path ends if no file exists at any of the splits.
fn usual_split(text: &str) -> (&str, &str) {
    let at = |end: usize| text.split_at_checked(end);
    let place = text.find("::").or_else(|| text.rfind('#')).and_then(at);
    if let Some(split) = place {
        return split;
    }
    let end = split_known_params(text).map_or(text.len(), |(path, _)| path.len());
    let mut path = text.get(..end).unwrap_or(text);
    while let Some((before, lines)) = path.rsplit_once(':') {
        let (from, to) = lines.split_once('-').unwrap_or((lines, lines));
        if whole_number(from).is_none() || whole_number(to).is_none() {
            break;
        }
        path = before;
    }
    at(path.len()).unwrap_or((text, ""))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rewritten(folder: &str, text: &str) -> Result<String> {
        let place = tempfile::tempdir().unwrap();
        let base = place.path().canonicalize().unwrap();
        for path in ["root/sub/here.md", "root/sub/C#.md", "root/sub/a:1.md", "root/two words.md"] {
            std::fs::create_dir_all(base.join(path).parent().unwrap()).unwrap();
            std::fs::write(base.join(path), "x").unwrap();
        }
        std::fs::write(base.join("out.md"), "x").unwrap();
        std::os::unix::fs::symlink("../../out.md", base.join("root/sub/link.md")).unwrap();
        let root = base.join("root");
        let roots = Roots::of_store(None, &root, &crate::corpus::IngestOptions::default());
        let is_document = |name: &str| name == "./sub/stored.md";
        let view = View {
            folder: base.join(folder),
            roots: &roots,
            is_document: &is_document,
            is_title: &|title| title == "usr",
        };
        view.below_root(&text.replace("BASE", base.to_str().unwrap()))
    }

    #[test]
    fn a_path_becomes_relative_to_the_root() {
        for (folder, text, expected) in [
            ("root/sub", "./here.md", "./sub/here.md"),
            ("root/sub", "./here.md#anchor", "./sub/here.md#anchor"),
            ("root/sub", "./here.md:4:2", "./sub/here.md:4:2"),
            ("root/sub", "./here.md::h2[1]/code[0]", "./sub/here.md::h2[1]/code[0]"),
            ("root/sub", "./here.md?page=1", "./sub/here.md?page=1"),
            ("root/sub", "./C#.md#x", "./sub/C#.md#x"),
            ("root/sub", "./a:1.md:1", "./sub/a:1.md:1"),
            ("root/sub", "./stored.md:1-2", "./sub/stored.md:1-2"),
            ("root/sub", "./gone.md:1-2", "./sub/gone.md:1-2"),
            ("root/sub", "./gone.md#x", "./sub/gone.md#x"),
            ("root/sub", "../two words.md::*", "./two%20words.md::*"),
            ("root/sub", "../two%20words.md::*", "./two%20words.md::*"),
            ("root/sub", "..", "./"),
            ("root/sub", ".", "./sub"),
            ("root/sub", "./", "./sub"),
            ("", "BASE/root/sub/here.md:4", "./sub/here.md:4"),
            ("", "./root/sub/../sub/here.md", "./sub/here.md"),
            ("root", "/section", "/section"),
            ("root", "/h2.1", "/h2.1"),
            ("root", "/C#", "/C#"),
            ("root", "/std::vector", "/std::vector"),
            ("root", "/usr", "/usr"),
            ("root", "/no folder/usr", "/no folder/usr"),
        ] {
            assert_eq!(rewritten(folder, text).unwrap(), expected, "{folder} {text}");
        }
    }

    #[test]
    fn a_path_outside_the_root_is_rejected() {
        for (folder, text) in [
            ("root/sub", "../../out.md#x"),
            ("root/sub", "../../gone.md"),
            ("root/sub", "./link.md"),
            ("", "./out.md"),
            ("", "."),
            ("root", "BASE/out.md:3"),
            ("root", "BASE/gone.md::*"),
            ("root", "/etc/passwd"),
            ("root", "/etc"),
            ("root", "/usr/bin"),
            ("root", "/usr/gone.md"),
            ("root", "BASE"),
        ] {
            let kind = rewritten(folder, text).unwrap_err().kind();
            assert_eq!(kind, ErrorKind::OutsideRoot, "{folder} {text}");
        }
    }
}
