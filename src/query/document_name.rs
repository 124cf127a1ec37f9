//! The rule by which a name means a document; see `mdsel help addresses`.
//!
//! Invariant: the first tier with a match decides, and a tier with several matches is an ambiguity.

use std::borrow::Cow;

use super::Session;
use crate::address::namespace;
use crate::error::Result;
use crate::glob::{Globs, is_glob};
use crate::links::split_extension;
use crate::markdown::slug::fold;
use crate::store::{Lookup, Reader, StoredDocument};

/// The result of looking up a document by name.
#[derive(Debug)]
pub enum NameMatch {
    /// No document has this name.
    None,
    /// Exactly one document has this name.
    One(StoredDocument),
    /// Several documents have this name. They are in path order.
    Many(Vec<StoredDocument>),
}

/// Finds the document called `name`. Repeated slashes, and `.` between slashes, do not matter.
pub fn document_named(reader: &dyn Reader, name: &str) -> Result<NameMatch> {
    let name = &*simplified(name);
    let path = name.strip_prefix("./").unwrap_or(name);
    if let Some(document) = reader.document_at(path)? {
        return Ok(NameMatch::One(document));
    }
    let names = [stem(path), path];
    let names = if stem(path) == path { &names[..1] } else { &names[..] };
    Ok(choose(name, reader.all(&Lookup::Names(names))?))
}

/// Finds the document called `name`, which may be a path from the root after `./`. The name is
/// percent-decoded once; if that finds nothing, it is looked up as written.
pub(crate) fn by_name(session: &Session<'_>, name: &str) -> Result<NameMatch> {
    if name.is_empty() {
        return Ok(NameMatch::None);
    }
    let decoded = namespace::decode(name);
    match document_named(session.reader, &decoded)? {
        NameMatch::None if decoded != name => document_named(session.reader, name),
        other => Ok(other),
    }
}

/// Finds the document that `name` means where it is not followed by a place: first an exact path as it is written,
/// as in an address without `::`.
pub(super) fn by_whole_name(session: &Session<'_>, name: &str) -> Result<NameMatch> {
    if name.contains('%')
        && let Some(stored) = session.reader.document_at(name)?
    {
        return Ok(NameMatch::One(stored));
    }
    by_name(session, name)
}

/// Returns whether `name` is the whole `path` of a document, with or without its extension.
pub(super) fn is_whole(name: &str, path: &str) -> bool {
    let decoded = namespace::decode(name);
    let name = decoded.strip_prefix("./").unwrap_or(&decoded);
    name == path || name == stem(path)
}

/// Returns the name of a document that may be named by its address.
pub(super) fn without_selector(name: &str) -> &str {
    name.strip_suffix("::*").or_else(|| name.strip_suffix("::")).unwrap_or(name)
}

/// Returns the glob that `name` is, if any. One that begins with `./` is relative to the root.
pub(super) fn globs_of(name: &str) -> Option<Result<Globs>> {
    let pattern = name.strip_prefix('.').filter(|rest| rest.starts_with('/')).unwrap_or(name);
    is_glob(name).then(|| Globs::only(pattern))
}

/// Returns `name` without empty components and without `.`, except at its start.
fn simplified(name: &str) -> Cow<'_, str> {
    if !name.contains("//") && !name.contains("/./") {
        return Cow::Borrowed(name);
    }
    let parts = name.split('/').enumerate();
    let kept = parts.filter(|(index, part)| *index == 0 || !["", "."].contains(part));
    Cow::Owned(kept.map(|(_, part)| part).collect::<Vec<_>>().join("/"))
}

fn stem(path: &str) -> &str {
    split_extension(path).0
}

/// Chooses among the documents whose paths may be meant by `name`. The tiers are: the exact path;
/// the path without its extension; a suffix of whole components with or without the extension; and
/// the same with case folded. If `name` begins with `./`, only the first two tiers are used.
fn choose(name: &str, mut documents: Vec<StoredDocument>) -> NameMatch {
    let (name, tiers) = name.strip_prefix("./").map_or((name, 8), |path| (path, 2));
    let folded = fold(name);
    let is_suffix = |path: &str, name: &str| {
        path.strip_suffix(name).is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
    };
    for tier in 0..tiers {
        let is_hit = |document: &StoredDocument| {
            let path = document.path.as_str();
            match tier {
                0 => path == name,
                1 => stem(path) == name,
                2 => is_suffix(path, name),
                3 => is_suffix(stem(path), name),
                4 => fold(path) == folded,
                5 => fold(stem(path)) == folded,
                6 => is_suffix(&fold(path), &folded),
                _ => is_suffix(&fold(stem(path)), &folded),
            }
        };
        let hits: Vec<usize> = (0..documents.len())
            .filter(|index| documents.get(*index).is_some_and(is_hit))
            .collect();
        match hits.as_slice() {
            [] => {}
            [only] => return NameMatch::One(documents.swap_remove(*only)),
            many => {
                let hits = many.iter().filter_map(|index| documents.get(*index).cloned());
                return NameMatch::Many(hits.collect());
            }
        }
    }
    NameMatch::None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(name: &str, paths: &[&str]) -> String {
        let documents = paths.iter().map(|path| StoredDocument::at(path)).collect();
        match choose(name, documents) {
            NameMatch::None => "none".to_owned(),
            NameMatch::One(document) => document.path,
            NameMatch::Many(many) => {
                let paths: Vec<&str> = many.iter().map(|document| document.path.as_str()).collect();
                format!("{}: {}", many.len(), paths.join(" "))
            }
        }
    }

    #[test]
    fn the_first_tier_with_a_match_decides() {
        for (name, paths, expected) in [
            ("a.md", &["a.md", "b/a.md"][..], "a.md"),
            ("a", &["a.md", "b/a.md"], "a.md"),
            ("a", &["a.md", "a.mdx", "b/a.md"], "2: a.md a.mdx"),
            ("a.md", &["b/a.md", "c/A.md"], "b/a.md"),
            ("a", &["b/a.md", "c/a.md"], "2: b/a.md c/a.md"),
            ("b/a", &["x/b/a.md", "c/a.md"], "x/b/a.md"),
            ("A", &["b/a.md"], "b/a.md"),
            ("README", &["readme.md", "b/README.md"], "b/README.md"),
            ("./README", &["readme.md", "b/README.md"], "none"),
            ("./a", &["a.md"], "a.md"),
            ("a", &["ba.md"], "none"),
        ] {
            assert_eq!(chosen(name, paths), expected, "{name}");
        }
    }
}
