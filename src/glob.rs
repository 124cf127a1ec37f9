//! Globs over titles and paths. They match text, so `?` matches one Unicode scalar.
//!
//! `*` and `?` match as in a shell, and `**` also matches separators. `[a-z]` and `[!a-z]` match a
//! character of a set, and `{a,b}` matches one of several alternatives. A backslash escapes the next
//! character. The crate globset is not used because it matches bytes: its `?` is a part of `é`.
//! Invariant: a glob matches a whole text or does not match.

use regex::Regex;

use crate::error::{Error, ErrorKind, Result};

/// The character that `*` and `?` do not match, if any.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Separator {
    /// They match every character.
    None,
    /// They do not match a slash, as in paths.
    Slash,
}

/// Returns whether `text` has a character that means another one in a glob.
pub(crate) fn is_glob(text: &str) -> bool {
    text.contains(['*', '?', '[', '{'])
}

/// A glob, compiled to a regular expression.
#[derive(Clone, Debug)]
pub struct Glob(Regex);

impl PartialEq for Glob {
    fn eq(&self, other: &Self) -> bool {
        self.0.as_str() == other.0.as_str()
    }
}

/// Globs over paths, as for `-g` of ripgrep. The last one that matches decides; a glob that begins with
/// `!` excludes. A path that none matches is included unless some glob includes. Excluding a folder
/// excludes everything in it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Globs {
    /// The globs, and whether each excludes.
    list: Vec<(bool, Glob)>,
    /// A folder that contains every document that is included, if the globs name one.
    folder: Option<String>,
    /// The file name of every document that is included, if the globs name one.
    file_name: Option<String>,
}

impl Globs {
    /// Compiles globs. Fails with `USAGE` if one is invalid.
    pub fn new(patterns: &[String]) -> Result<Self> {
        let read = |pattern: &String| {
            let excluded = pattern.strip_prefix('!');
            let glob = excluded.map_or(pattern.as_str(), |rest| rest.trim_end_matches('/'));
            Ok((excluded.is_some(), Glob::over_paths(glob)?))
        };
        let list = patterns.iter().map(read).collect::<Result<_>>()?;
        let mut including = patterns.iter().filter(|pattern| !pattern.starts_with('!'));
        let (folder, file_name) = match (including.next(), including.next()) {
            (Some(only), None) => (literal_folder(only), literal_file_name(only)),
            _ => (None, None),
        };
        let [folder, file_name] = [folder, file_name].map(|name| name.map(str::to_owned));
        Ok(Self { list, folder, file_name })
    }

    /// Compiles one glob that includes, also if it begins with `!`. Fails with `USAGE` if it is invalid.
    pub(crate) fn only(pattern: &str) -> Result<Self> {
        let [folder, file_name] = [literal_folder(pattern), literal_file_name(pattern)]
            .map(|name| name.map(str::to_owned));
        Ok(Self { list: vec![(false, Glob::over_paths(pattern)?)], folder, file_name })
    }

    /// Returns a folder that contains every document that is included, if the globs name one.
    pub(crate) fn folder(&self) -> Option<&str> {
        self.folder.as_deref()
    }

    /// Returns the file name of every document that is included, if the globs name one.
    pub(crate) fn file_name(&self) -> Option<&str> {
        self.file_name.as_deref()
    }

    /// Returns whether there are no globs.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Returns whether the document at `path` is included.
    pub fn takes(&self, path: &str) -> bool {
        let folders = || path.match_indices('/').filter_map(|(end, _)| path.get(..end));
        let deciding = self.list.iter().rev().find(|(excludes, glob)| {
            glob.is_match(path) || (*excludes && folders().any(|folder| glob.is_match(folder)))
        });
        match deciding {
            Some((excludes, _)) => !excludes,
            None => self.list.iter().all(|(excludes, _)| *excludes),
        }
    }
}

impl Glob {
    /// Compiles a glob over document paths, as for `-g` of ripgrep: without a `/` it matches file
    /// names in every folder, and `*` does not match a `/`.
    pub fn over_paths(pattern: &str) -> Result<Self> {
        let anchored = match pattern.strip_prefix('/') {
            Some(rest) => rest.to_owned(),
            None if pattern.contains('/') => pattern.to_owned(),
            None => format!("**/{pattern}"),
        };
        Self::compiled(&anchored, Separator::Slash, pattern)
    }

    /// Compiles a glob.
    pub(crate) fn new(pattern: &str, separator: Separator) -> Result<Self> {
        Self::compiled(pattern, separator, pattern)
    }

    /// Compiles a glob that was given as `given`.
    fn compiled(pattern: &str, separator: Separator, given: &str) -> Result<Self> {
        let invalid = |what: &str| {
            Error::new(ErrorKind::Usage, format!("{given}: {what}"))
                .with_hint("write [*], [?], [[] or [{] for these characters themselves")
        };
        let one = if separator == Separator::Slash { "[^/]" } else { "." };
        let mut regex = String::from("(?s)^");
        let mut depth = 0;
        let mut rest = pattern;
        while let Some(scalar) = rest.chars().next() {
            let after = rest.get(scalar.len_utf8()..).unwrap_or_default();
            rest = after;
            match scalar {
                '*' => {
                    let run = after.len() - after.trim_start_matches('*').len();
                    rest = after.get(run..).unwrap_or_default();
                    if run == 0 || separator == Separator::None {
                        regex.push_str(&format!("{one}*"));
                    } else if let Some(below) = rest.strip_prefix('/') {
                        // `**/` matches any number of folders, or none.
                        rest = below;
                        regex.push_str("(?:.*/)?");
                    } else {
                        regex.push_str(".*");
                    }
                }
                '?' => regex.push_str(one),
                '[' => {
                    let (set, below) = set(after).ok_or_else(|| invalid("a [ is not closed"))?;
                    regex.push_str(&set);
                    rest = below;
                }
                '{' => {
                    depth += 1;
                    regex.push_str("(?:");
                }
                '}' if depth > 0 => {
                    depth -= 1;
                    regex.push(')');
                }
                ',' if depth > 0 => regex.push('|'),
                '\\' => {
                    let mut scalars = after.chars();
                    let literal = scalars.next().ok_or_else(|| invalid("ends with a backslash"))?;
                    regex.push_str(&regex::escape(&literal.to_string()));
                    rest = scalars.as_str();
                }
                literal => regex.push_str(&regex::escape(&literal.to_string())),
            }
        }
        if depth > 0 {
            return Err(invalid("a { is not closed"));
        }
        regex.push('$');
        Regex::new(&regex).map(Self).map_err(|_| invalid("not a valid glob"))
    }

    /// Returns whether the glob matches all of `text`.
    pub fn is_match(&self, text: &str) -> bool {
        self.0.is_match(text)
    }
}

/// Returns the folders with which every path begins that a glob over paths matches.
pub(crate) fn literal_folder(pattern: &str) -> Option<&str> {
    let literal = pattern.split(['*', '?', '[', '{', '\\']).next().unwrap_or_default();
    let (folder, _) = literal.strip_prefix('/').unwrap_or(literal).rsplit_once('/')?;
    Some(folder).filter(|folder| !folder.is_empty())
}

/// Returns the file name of every path that a glob over paths matches.
fn literal_file_name(pattern: &str) -> Option<&str> {
    let name = pattern.rsplit('/').next()?;
    Some(name)
        .filter(|name| !name.is_empty() && !name.contains(['*', '?', '[', ']', '{', '}', '\\']))
}

/// Parses the set after a `[`. Returns it as a regular expression, and the text after it.
fn set(text: &str) -> Option<(String, &str)> {
    let (negation, text) = match text.strip_prefix(['!', '^']) {
        Some(rest) => ("^", rest),
        None => ("", text),
    };
    // A closing bracket at the start belongs to the set.
    let first = text.chars().next()?.len_utf8();
    let end = first + text.get(first..)?.find(']')?;
    let mut set = format!("[{negation}");
    let mut scalars = text.get(..end)?.chars().peekable();
    let mut is_first = true;
    while let Some(scalar) = scalars.next() {
        // A hyphen between two characters denotes a range; elsewhere it belongs to the set.
        if scalar == '-' && !is_first && scalars.peek().is_some() {
            set.push('-');
        } else {
            set.push_str(&format!("\\x{{{:x}}}", u32::from(scalar)));
        }
        is_first = false;
    }
    set.push(']');
    Some((set, text.get(end + 1..)?))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_folder_that_one_glob_names_contains_every_document() {
        let folder = |patterns: &[&str]| {
            let patterns: Vec<String> = patterns.iter().map(|&one| one.to_owned()).collect();
            Globs::new(&patterns).unwrap().folder().map(str::to_owned)
        };
        for (pattern, expected) in [
            ("docs/**", Some("docs")),
            ("/docs/a/b*.md", Some("docs/a")),
            ("docs/a.md", Some("docs")),
            ("docs/{a,b}/*", Some("docs")),
            ("do*/a", None),
            ("a.md", None),
            ("/a.md", None),
            ("**/docs/a", None),
            ("a\\*b/c", None),
        ] {
            assert_eq!(folder(&[pattern]).as_deref(), expected, "{pattern}");
        }
        assert_eq!(folder(&["docs/**", "!docs/old/**"]).as_deref(), Some("docs"));
        assert_eq!(folder(&["docs/**", "notes/**"]), None);
        assert_eq!(folder(&["!docs/**"]), None);
    }

    #[test]
    fn a_file_name_that_one_glob_names_is_that_of_every_document() {
        let name = |patterns: &[&str]| {
            let patterns: Vec<String> = patterns.iter().map(|&one| one.to_owned()).collect();
            Globs::new(&patterns).unwrap().file_name().map(str::to_owned)
        };
        for (pattern, expected) in [
            ("README.md", Some("README.md")),
            ("**/README.md", Some("README.md")),
            ("/docs/*/a.md", Some("a.md")),
            ("{a,b}/c.md", Some("c.md")),
            ("*.md", None),
            ("docs/", None),
            ("{a/b.md,c/d.md}", None),
            ("[a/b]", None),
            ("a\\*.md", None),
        ] {
            assert_eq!(name(&[pattern]).as_deref(), expected, "{pattern}");
        }
        assert_eq!(name(&["a.md", "!docs/**"]).as_deref(), Some("a.md"));
        assert_eq!(name(&["a.md", "b.md"]), None);
    }

    fn is_match(pattern: &str, text: &str) -> bool {
        Glob::new(pattern, Separator::None).unwrap().is_match(text)
    }

    #[test]
    fn question_marks_match_one_scalar() {
        assert!(is_match("??", "한글") && !is_match("??", "é") && is_match("?", "é"));
        assert!(is_match("[ä]*", "äpfel") && !is_match("[ä]*", "é"));
        assert!(is_match("?pfel", "äpfel"));
    }

    #[test]
    fn sets_alternatives_and_escapes() {
        assert!(
            is_match("[a-c]x", "bx") && !is_match("[!a-c]x", "bx") && is_match("[!a-c]x", "dx")
        );
        assert!(is_match("[]]x", "]x") && is_match("[a-]", "-") && is_match("[[]x", "[x"));
        assert!(
            is_match("{ab,c*}d", "abd")
                && is_match("{ab,c*}d", "cxyd")
                && !is_match("{ab,c}d", "d")
        );
        assert!(is_match("a\\*", "a*") && !is_match("a\\*", "ab"));
        assert!(is_match("a.b+(c)", "a.b+(c)") && !is_match("a.b", "axb"));
        assert!(is_match("*a*", "x\ny a") && is_match("a,b}", "a,b}"));
    }

    #[test]
    fn only_double_stars_match_separators() {
        let is_match = |pattern, text| Glob::new(pattern, Separator::Slash).unwrap().is_match(text);
        assert!(is_match("docs/*.md", "docs/a.md") && !is_match("docs/*.md", "docs/x/a.md"));
        assert!(is_match("**/*.md", "a.md") && is_match("**/*.md", "x/y/a.md"));
        assert!(
            is_match("docs/**", "docs/x/a.md")
                && is_match("d/**/a", "d/a")
                && is_match("d/**/a", "d/x/y/a")
        );
        assert!(!is_match("?", "/"));
    }

    #[test]
    fn invalid_globs_are_rejected() {
        for pattern in ["[a", "{a", "a\\", "[z-a]"] {
            assert!(Glob::new(pattern, Separator::None).is_err(), "{pattern}");
        }
    }

    fn takes(patterns: &[&str], path: &str) -> bool {
        let patterns: Vec<String> = patterns.iter().map(|&pattern| pattern.to_owned()).collect();
        Globs::new(&patterns).unwrap().takes(path)
    }

    #[test]
    fn the_last_glob_that_matches_decides() {
        assert!(takes(&[], "a.md"));
        assert!(takes(&["docs/*"], "docs/a.md") && !takes(&["docs/*"], "a.md"));
        assert!(takes(&["!docs/*"], "a.md") && !takes(&["!docs/*"], "docs/a.md"));
        let last_includes = ["docs/**", "!docs/old/**", "docs/old/b.md"];
        assert!(takes(&last_includes, "docs/old/b.md") && !takes(&last_includes, "docs/old/a.md"));
        assert!(!takes(&["docs/old/b.md", "!docs/old/**"], "docs/old/b.md"));
    }

    #[test]
    fn excluding_a_folder_excludes_everything_in_it() {
        for pattern in ["!docs", "!docs/", "!d*"] {
            assert!(!takes(&[pattern], "docs/a/b.md"), "{pattern}");
            assert!(takes(&[pattern], "a/b.md"), "{pattern}");
        }
        assert!(!takes(&["docs"], "docs/a.md"), "only a glob that excludes applies to folders");
    }

    proptest! {
        #[test]
        fn escaped_text_matches_only_itself(text in ".{0,12}", other in ".{0,12}") {
            let escaped: String = text.chars().flat_map(|scalar| ['\\', scalar]).collect();
            let glob = Glob::new(&escaped, Separator::Slash).unwrap();
            prop_assert!(glob.is_match(&text));
            prop_assert_eq!(glob.is_match(&other), text == other);
        }

        #[test]
        fn a_star_matches_what_its_parts_leave(head in "[a-zé]{0,4}", middle in "[ -~]{0,6}") {
            let glob = Glob::new(&format!("{head}*"), Separator::Slash).unwrap();
            prop_assert_eq!(glob.is_match(&format!("{head}{middle}")), !middle.contains('/'));
        }

        #[test]
        fn any_pattern_is_compiled_or_refused(pattern in ".{0,20}", text in ".{0,20}") {
            if let Ok(glob) = Glob::new(&pattern, Separator::None) {
                glob.is_match(&text);
            }
        }
    }
}
