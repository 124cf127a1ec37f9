//! Paths in targets: joins and splits them.
//!
//! Invariant: a joined path is relative to the root, without `.`, `..` and empty components.

use crate::markdown::slug::fold;
use crate::percent::percent_decode;

/// The extensions that a target may leave out, preferred ones first.
pub(super) const MARKDOWN_EXTENSIONS: [&str; 3] = ["md", "markdown", "mdx"];

/// Joins `path` to `folder`, or to the root if it begins with `/`. Returns `None` if it leads above
/// the root.
pub(crate) fn join(folder: &str, path: &str) -> Option<String> {
    let folder = if path.starts_with('/') { "" } else { folder };
    let mut components: Vec<&str> = Vec::new();
    for component in folder.split('/').chain(path.split('/')) {
        match component {
            "" | "." => {}
            ".." => drop(components.pop()?),
            _ => components.push(component),
        }
    }
    Some(components.join("/"))
}

/// Returns `path`, which is relative to `folder`, relative to the root. It begins with `..` if it leads above.
pub(crate) fn normalized(folder: &str, path: &str) -> String {
    let mut components: Vec<&str> = Vec::new();
    for component in folder.split('/').chain(path.split('/')) {
        match component {
            "" | "." => {}
            ".." if components.last().is_some_and(|last| *last != "..") => drop(components.pop()),
            component => components.push(component),
        }
    }
    components.join("/")
}

/// Returns the folder that contains `path`; empty for the root.
pub(crate) fn folder_of(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// Returns the name of the file or folder at `path`.
pub(crate) fn file_name(path: &str) -> &str {
    path.rsplit_once('/').map_or(path, |(_, name)| name)
}

/// Returns the name of the file at `path` without its extension.
pub(crate) fn file_stem(path: &str) -> &str {
    split_extension(file_name(path)).0
}

/// Splits `path` before the extension of its file name. The extension is empty if it has none.
pub(crate) fn split_extension(path: &str) -> (&str, &str) {
    match path.rsplit_once('.') {
        Some((stem, extension))
            if !stem.is_empty() && !stem.ends_with('/') && !extension.contains('/') =>
        {
            (stem, extension)
        }
        _ => (path, ""),
    }
}

/// Returns the name of a file or folder without the number that orders it, which generators of web sites leave out:
/// `install` for `01-install`. A number before another one is part of a date or of a version, and stays.
pub(crate) fn without_order(name: &str) -> &str {
    let after = name.trim_start_matches(|digit: char| digit.is_ascii_digit());
    let rest = after.trim_start_matches(['-', '_', '.', ' ']);
    let is_ordered = after.len() < name.len() && rest.len() < after.len();
    let is_name = rest.starts_with(|first: char| !first.is_ascii_digit());
    if is_ordered && is_name { rest } else { name }
}

/// Returns the folded `path` without extension and without the numbers that order its files and folders.
pub(crate) fn unordered(path: &str) -> String {
    let folded = fold(path);
    let parts: Vec<&str> = split_extension(&folded).0.split('/').map(without_order).collect();
    parts.join("/")
}

/// Returns whether the folded `path` without extension is `name`, or ends in `/` and `name`. This is the rule of
/// [`super::LinkTargets::documents_named`].
pub(crate) fn is_named(path: &str, name: &str) -> bool {
    let folded = fold(path);
    let (stem, _) = split_extension(&folded);
    stem.strip_suffix(name).is_some_and(|before| before.is_empty() || before.ends_with('/'))
}

/// Returns whether a wikilink to `name` means the document at `path` by its path or the end of it.
pub(crate) fn is_name_of(path: &str, name: &str) -> bool {
    let name = fold(&percent_decode(name));
    let name = name.trim_start_matches('/');
    let (stem, extension) = split_extension(name);
    is_named(path, name)
        || is_markdown(extension)
            && fold(split_extension(path).1) == extension
            && is_named(path, stem)
}

/// Returns whether `extension` is an extension of Markdown files.
pub(crate) fn is_markdown(extension: &str) -> bool {
    MARKDOWN_EXTENSIONS.iter().any(|markdown| extension.eq_ignore_ascii_case(markdown))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn joined_paths_never_lead_above_the_root() {
        for (folder, path, expected) in [
            ("a/b", "c.md", Some("a/b/c.md")),
            ("a/b", "../c.md", Some("a/c.md")),
            ("a/b", "./../../c/./d//e.md", Some("c/d/e.md")),
            ("a/b", "/c.md", Some("c.md")),
            ("a", "../../c.md", None),
            ("a", "/../c.md", None),
            ("", "..", None),
            ("a", "..", Some("")),
            ("a", "c/", Some("a/c")),
        ] {
            assert_eq!(join(folder, path).as_deref(), expected, "{folder} {path}");
        }
    }

    #[test]
    fn a_number_that_orders_names_is_not_part_of_them() {
        for (name, expected) in [
            ("01-install.md", "install.md"),
            ("01_install", "install"),
            ("1. Install", "Install"),
            ("2024-01-31-news", "2024-01-31-news"),
            ("7.0-notes", "7.0-notes"),
            ("404", "404"),
            ("3d-models", "3d-models"),
            ("install-01", "install-01"),
        ] {
            assert_eq!(without_order(name), expected);
        }
    }

    #[test]
    fn extensions_belong_to_file_names() {
        for (path, expected) in [
            ("a/b.md", ("a/b", "md")),
            ("a.b/c", ("a.b/c", "")),
            ("a/.hidden", ("a/.hidden", "")),
            (".hidden", (".hidden", "")),
            ("v1.2.md", ("v1.2", "md")),
        ] {
            assert_eq!(split_extension(path), expected);
        }
    }
}
