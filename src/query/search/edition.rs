//! Editions of a file: copies of it with other versions in their names or those of their folders, or in folders named
//! after languages.
//!
//! Invariant: of two editions, at most one is shown instead of the other.

use crate::query::folder_version::name_and_version;

/// Returns whether the files at `path` and `other` are editions of one file: their paths differ only in versions, and in
/// languages in the names of folders.
pub(super) fn are_editions(path: &str, other: &str) -> bool {
    path != other && same_parts(path).eq(same_parts(other))
}

/// Returns whether two editions are of different versions, which may state different facts.
pub(super) fn are_versions(path: &str, other: &str) -> bool {
    are_editions(path, other) && versions(path) != versions(other)
}

/// Returns whether the file at `path` is an edition of the one at `other` that is shown instead of it: the one whose version
/// is in one of `queries`, or else the newer one. One without a version is the newest.
pub(super) fn is_preferred(path: &str, other: &str, queries: &[String]) -> bool {
    if !are_editions(path, other) {
        return false;
    }
    let (own, others) = (versions(path), versions(other));
    let is_named = |versions: &[Vec<u64>]| {
        let mut words = queries.iter().flat_map(|query| query.split_ascii_whitespace());
        words.any(|word| {
            let word = word.trim_matches(|scalar: char| !scalar.is_alphanumeric());
            name_and_version(word).1.is_some_and(|version| versions.contains(&version))
        })
    };
    match (is_named(&own), is_named(&others)) {
        (true, false) => return true,
        (false, true) => return false,
        _ => {}
    }
    let is_newest = own.is_empty() && !others.is_empty();
    is_newest || !others.is_empty() && own > others
}

/// Returns the parts of a path that are the same in every edition.
fn same_parts(path: &str) -> impl Iterator<Item = &str> {
    let (folders, name) = split(path);
    let folders = folders.map(|folder| without_language(name_and_version(folder).0));
    folders.filter(|name| !name.is_empty()).chain([name_and_version(name).0])
}

fn versions(path: &str) -> Vec<Vec<u64>> {
    let (folders, name) = split(path);
    folders.chain([name]).filter_map(|part| name_and_version(part).1).collect()
}

/// Returns the folders of a path, and the name of the file without its extension.
fn split(path: &str) -> (impl Iterator<Item = &str>, &str) {
    let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    (folders.split('/').filter(|folder| !folder.is_empty()), stem)
}

/// Returns the name of a folder without the code of a language: `pages` for `pages.pt_BR`, and nothing for `de` or `zh-Hans`.
fn without_language(name: &str) -> &str {
    let (before, last) = name.rsplit_once('.').unwrap_or(("", name));
    let (language, region) = last.split_once(['-', '_']).unwrap_or((last, "XX"));
    let is_code = language.len() == 2
        && language.bytes().all(|byte| byte.is_ascii_lowercase())
        && (2..=4).contains(&region.len())
        && region.bytes().all(|byte| byte.is_ascii_alphanumeric());
    if is_code { before } else { name }
}

#[cfg(test)]
mod tests {
    use super::{are_editions, are_versions, is_preferred};

    #[test]
    fn the_newer_edition_is_preferred_unless_the_query_names_the_other() {
        for (newer, older) in [
            ("reference/7.10/a.md", "reference/7.4/a.md"),
            ("docs/cli/a.md", "docs/v3/cli/a.md"),
            ("docs/v3/a.md", "docs/v2/a.md"),
            ("docs/2.x/a.md", "docs/2.9/a.md"),
            ("docs/version-2.0/a.md", "docs/version-1.9.1/a.md"),
            ("docs/2.0.1/a.md", "docs/2.0/a.md"),
            ("lib-1.12.1/a.md", "lib-1.9.0/a.md"),
            ("api/v1.10.md", "api/v1.9.md"),
            ("LOG_V10.md", "LOG_V9.md"),
            ("lib@2.0.0-rc.1+x/a.md", "lib@1.0.0/a.md"),
        ] {
            assert!(is_preferred(newer, older, &[]), "{newer} {older}");
            assert!(!is_preferred(older, newer, &[]), "{newer} {older}");
        }
        for (one, other) in [
            ("docs/2.0/a.md", "docs/1.0/b.md"),
            ("docs/2.0/a.md", "docs/2.0/a.md"),
            ("docs/a2/a.md", "docs/a1/a.md"),
            ("docs/01-app/a.md", "docs/02-pages/a.md"),
            ("2.0.md", "1.md.md"),
            ("part-2.md", "part-1.md"),
            ("one-2.0.0/a.md", "two-1.0.0/a.md"),
            ("part-2/a.md", "part-1/a.md"),
            ("de/a.md", "fr/a.md"),
        ] {
            let is_one = is_preferred(one, other, &[]) || is_preferred(other, one, &[]);
            assert!(!is_one, "{one} {other}");
        }
        let (newer, older) = ("docs/v3/a.md", "docs/v2/a.md");
        for query in ["is it in v2?", "2 things", "the (v2) server"] {
            assert!(is_preferred(older, newer, &[query.to_owned()]), "{query}");
            assert!(!is_preferred(newer, older, &[query.to_owned()]), "{query}");
        }
        assert!(is_preferred(newer, older, &["v2 or v3".to_owned()]));
    }

    #[test]
    fn editions_differ_in_versions_and_languages_of_folders() {
        for (one, other) in [
            ("docs/v1/a.md", "docs/a.md"),
            ("pages/common/tar.md", "pages.pt_BR/common/tar.md"),
            ("en/a/b.md", "zh-Hans/a/b.md"),
            ("de/1.0/b.md", "2.0/b.md"),
            ("serde-1.0.1/README.md", "serde-2.0.0/README.md"),
        ] {
            assert!(are_editions(one, other) && are_editions(other, one), "{one} {other}");
            assert_eq!(are_versions(one, other), one.contains(['0', '1']), "{one} {other}");
        }
        for (one, other) in [
            ("docs/a.md", "docs/a.md"),
            ("docs/v1/a.md", "docs/v1/b.md"),
            ("serde-1.0.1/README.md", "toml-1.0.1/README.md"),
            ("go-lang/a.md", "rust-lang/a.md"),
            ("go-1.2-notes-of-it/a.md", "go/a.md"),
            ("app.de.v/a.md", "app.fr.v/a.md"),
            ("de.md", "fr.md"),
        ] {
            assert!(!are_editions(one, other), "{one} {other}");
        }
    }
}
