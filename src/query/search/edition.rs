//! Editions of a file: copies of it in folders that are named after versions.
//!
//! Invariant: of two editions, at most one is shown instead of the other.

/// Returns whether the file at `path` is an edition of the one at `other` that is shown instead of it: the one whose version
/// is in one of `queries`, or else the newer one. Editions differ only in folders that are named after versions. One
/// without such a folder is the newest.
pub(super) fn is_preferred(path: &str, other: &str, queries: &[String]) -> bool {
    if !file(path).eq(file(other)) {
        return false;
    }
    let (own, others) = (versions(path), versions(other));
    let is_named = |versions: &[Vec<u64>]| {
        let mut words = queries.iter().flat_map(|query| query.split_ascii_whitespace());
        words.any(|word| {
            let word = word.trim_matches(|scalar: char| !scalar.is_alphanumeric());
            version(word).is_some_and(|version| versions.contains(&version))
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
fn file(path: &str) -> impl Iterator<Item = &str> {
    path.split('/').filter(|part| version(part).is_none())
}

fn versions(path: &str) -> Vec<Vec<u64>> {
    path.split('/').filter_map(version).collect()
}

/// Returns the numbers of a folder that is named after a version, such as `7.4`, `v3`, `2.x` or `version-1.0`.
fn version(folder: &str) -> Option<Vec<u64>> {
    let start = folder.find(|scalar: char| scalar.is_ascii_digit())?;
    let (name, numbers) = folder.split_at_checked(start)?;
    if !["", "v", "v.", "version-", "release-"].contains(&name.to_ascii_lowercase().as_str()) {
        return None;
    }
    let number = |part: &str| if part == "x" { Some(u64::MAX) } else { part.parse().ok() };
    numbers.split('.').map(number).collect()
}

#[cfg(test)]
mod tests {
    use super::is_preferred;

    #[test]
    fn the_newer_edition_is_preferred_unless_the_query_names_the_other() {
        for (newer, older) in [
            ("reference/7.10/a.md", "reference/7.4/a.md"),
            ("docs/cli/a.md", "docs/v3/cli/a.md"),
            ("docs/v3/a.md", "docs/v2/a.md"),
            ("docs/2.x/a.md", "docs/2.9/a.md"),
            ("docs/version-2.0/a.md", "docs/version-1.9.1/a.md"),
            ("docs/2.0.1/a.md", "docs/2.0/a.md"),
        ] {
            assert!(is_preferred(newer, older, &[]), "{newer} {older}");
            assert!(!is_preferred(older, newer, &[]), "{newer} {older}");
        }
        for (one, other) in [
            ("docs/2.0/a.md", "docs/1.0/b.md"),
            ("docs/2.0/a.md", "docs/2.0/a.md"),
            ("docs/a2/a.md", "docs/a1/a.md"),
            ("docs/01-app/a.md", "docs/02-pages/a.md"),
            ("2.0.md", "1.0.md"),
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
}
