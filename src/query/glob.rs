//! Globs over titles and paths, which are text: `?` is one character, whatever its bytes.
//!
//! `*` and `?` match as in a shell, `**` over separators too, `[a-z]` and `[!a-z]` a character of a
//! set, `{a,b}` one of several, a backslash takes the meaning from what follows. Invariant: a glob
//! matches a text as a whole or not at all.

use regex::Regex;

use crate::error::{Error, ErrorKind, Result};

/// Whether some character ends what `*` and `?` match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Separator {
    /// None does.
    None,
    /// A slash does, as in paths.
    Slash,
}

/// A glob.
#[derive(Debug)]
pub struct Glob(Regex);

/// Globs over paths, as ripgrep's `-g` takes them: the last one that matches decides, with `!` it excludes, and
/// what none matches is taken unless some glob includes. An excluded folder excludes all below it.
#[derive(Debug, Default)]
pub(super) struct Globs {
    /// Whether each excludes, and the glob.
    list: Vec<(bool, Glob)>,
}

impl Globs {
    pub(super) fn new(patterns: &[String]) -> Result<Self> {
        let read = |pattern: &String| {
            let excluded = pattern.strip_prefix('!');
            let glob = excluded.map_or(pattern.as_str(), |rest| rest.trim_end_matches('/'));
            Ok((excluded.is_some(), super::documents::glob(glob)?))
        };
        Ok(Self { list: patterns.iter().map(read).collect::<Result<_>>()? })
    }

    pub(super) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Whether the document at `path` is wanted.
    pub(super) fn takes(&self, path: &str) -> bool {
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
    /// Reads a glob.
    pub(super) fn new(pattern: &str, separator: Separator) -> Result<Self> {
        let wrong = |what: &str| {
            Error::new(ErrorKind::Usage, format!("{pattern}: {what}"))
                .with_hint("write [*], [?], [[] or [{] for these characters themselves")
        };
        let one = if separator == Separator::Slash { "[^/]" } else { "." };
        let mut regex = String::from("(?s)^");
        let mut depth = 0;
        let mut rest = pattern;
        while let Some(scalar) = rest.chars().next() {
            let behind = rest.get(scalar.len_utf8()..).unwrap_or_default();
            rest = behind;
            match scalar {
                '*' => {
                    let run = behind.len() - behind.trim_start_matches('*').len();
                    rest = behind.get(run..).unwrap_or_default();
                    if run == 0 || separator == Separator::None {
                        regex.push_str(&format!("{one}*"));
                    } else if let Some(below) = rest.strip_prefix('/') {
                        // Folders, or none.
                        rest = below;
                        regex.push_str("(?:.*/)?");
                    } else {
                        regex.push_str(".*");
                    }
                }
                '?' => regex.push_str(one),
                '[' => {
                    let (set, below) = set(behind).ok_or_else(|| wrong("a [ is not closed"))?;
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
                    let mut scalars = behind.chars();
                    let literal = scalars.next().ok_or_else(|| wrong("ends with a backslash"))?;
                    regex.push_str(&regex::escape(&literal.to_string()));
                    rest = scalars.as_str();
                }
                literal => regex.push_str(&regex::escape(&literal.to_string())),
            }
        }
        if depth > 0 {
            return Err(wrong("a { is not closed"));
        }
        regex.push('$');
        Regex::new(&regex).map(Self).map_err(|_| wrong("is no glob"))
    }

    /// Whether the glob matches all of `text`.
    pub fn is_match(&self, text: &str) -> bool {
        self.0.is_match(text)
    }
}

/// The set that begins behind a `[`, as a regular expression, and what follows it.
fn set(text: &str) -> Option<(String, &str)> {
    let (negation, text) = match text.strip_prefix(['!', '^']) {
        Some(rest) => ("^", rest),
        None => ("", text),
    };
    // A bracket right at the start is one of the set.
    let first = text.chars().next()?.len_utf8();
    let end = first + text.get(first..)?.find(']')?;
    let mut set = format!("[{negation}");
    let mut scalars = text.get(..end)?.chars().peekable();
    let mut is_first = true;
    while let Some(scalar) = scalars.next() {
        // A hyphen between two characters makes a range; elsewhere it is one of the set.
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
    use super::*;

    fn is_match(pattern: &str, text: &str) -> bool {
        Glob::new(pattern, Separator::None).unwrap().is_match(text)
    }

    #[test]
    fn characters_are_scalars() {
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
    fn separators_end_stars_but_double_ones() {
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
    fn what_is_not_a_glob_is_told() {
        for pattern in ["[a", "{a", "a\\", "[z-a]"] {
            assert!(Glob::new(pattern, Separator::None).is_err(), "{pattern}");
        }
    }
}
