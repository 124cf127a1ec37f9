//! Ignore files, and the paths that they exclude.
//!
//! Invariants: the kinds of ignore files are consulted in the order of [`IGNORE_FILES`]; the nearest matching
//! rule of the first kind with a match decides. The rules of a git repository do not apply in another repository
//! within it.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs::File;
use std::io::Read as _;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use rustix::fs::{Mode, OFlags};

use crate::limits;

/// The names of ignore files, the one with the highest precedence first.
pub(crate) const IGNORE_FILES: [&str; 3] = [".mdselignore", ".ignore", ".gitignore"];

/// The name of the folder of a repository, or of the file that leads to it.
const REPOSITORY: &str = ".git";

/// The names in a folder that [`Rules::of_folder`] asks for.
pub(crate) const RULE_NAMES: [&str; 4] =
    [IGNORE_FILES[0], IGNORE_FILES[1], IGNORE_FILES[2], REPOSITORY];

/// The rules of a folder and of the folders above it.
#[derive(Debug, Default)]
pub(crate) struct Rules {
    above: Option<Arc<Self>>,
    /// The rules of each of [`IGNORE_FILES`] in this folder.
    kinds: [Option<Gitignore>; IGNORE_FILES.len()],
    /// Whether a repository begins in this folder.
    is_repository: bool,
}

/// The rules of the folders above given paths, each read once.
pub(crate) struct RulesAbove<'a> {
    /// The folder of the highest rules: the nearest one at or above the root that contains `.git`, else the root.
    top: &'a Path,
    #[cfg(feature = "watch")]
    has_repository: bool,
    known: HashMap<PathBuf, Arc<Rules>>,
}

impl<'a> RulesAbove<'a> {
    pub(crate) fn new(root: &'a Path) -> Self {
        let repository = root.ancestors().find(|folder| folder.join(REPOSITORY).exists());
        Self {
            top: repository.unwrap_or(root),
            #[cfg(feature = "watch")]
            has_repository: repository.is_some(),
            known: HashMap::new(),
        }
    }

    /// The folders outside of the root whose files are rules for the root.
    #[cfg(feature = "watch")]
    pub(crate) fn folders(root: &Path) -> Vec<PathBuf> {
        let above = RulesAbove::new(root);
        if !above.has_repository {
            return Vec::new();
        }
        let folders = root.ancestors().skip(1).take_while(|folder| folder.starts_with(above.top));
        let mut folders: Vec<PathBuf> = folders.map(Path::to_owned).collect();
        folders.extend(info_of(above.top).filter(|_| above.top != root));
        folders.retain(|folder| folder.is_dir());
        folders
    }

    /// The rules that apply to `start`: those of the folders above it, from the folder that contains `.git`
    /// down, or from the root if there is no such folder. `failed` gets the ignore files that are read now and not
    /// completely, and why.
    pub(crate) fn of(&mut self, start: &Path, failed: &mut dyn FnMut(&Path, String)) -> Arc<Rules> {
        let folders = start.ancestors().skip(1).take_while(|folder| folder.starts_with(self.top));
        let mut unknown = Vec::new();
        let mut rules = None;
        for folder in folders {
            rules = self.known.get(folder).cloned();
            if rules.is_some() {
                break;
            }
            unknown.push(folder);
        }
        let mut rules = rules.unwrap_or_default();
        for folder in unknown.into_iter().rev() {
            if let Ok(opened) = File::open(folder) {
                let is_repository = folder.join(REPOSITORY).exists();
                let present = if is_repository { &RULE_NAMES[..] } else { &IGNORE_FILES };
                rules = Rules::of_folder(&rules, &opened, folder, present, failed);
            }
            self.known.insert(folder.to_owned(), Arc::clone(&rules));
        }
        rules
    }
}

impl Rules {
    /// The rules of the open folder at `path`, in front of the rules `above`. Only those of [`RULE_NAMES`] that are
    /// `present` are read. `failed` gets the files that are not read completely, and why.
    pub(crate) fn of_folder(
        above: &Arc<Self>,
        folder: impl AsFd,
        path: &Path,
        present: &[&str],
        failed: &mut dyn FnMut(&Path, String),
    ) -> Arc<Self> {
        let rules_of = |name: &str| {
            let is_present = present.contains(&name);
            is_present.then(|| parsed(path, &folder, &path.join(name), failed)).flatten()
        };
        let kinds = IGNORE_FILES.map(rules_of);
        let is_repository = present.contains(&REPOSITORY);
        let mut above = Arc::clone(above);
        if is_repository {
            let info = info_of(path);
            let opened = info.as_ref().and_then(|info| File::open(info).ok());
            let exclude = opened
                .zip(info)
                .and_then(|(opened, info)| parsed(path, opened, &info.join("exclude"), failed));
            // Without rules above or its own, the repository needs no end.
            if exclude.is_some() || !above.is_empty() {
                above = Arc::new(Self {
                    above: Some(above),
                    kinds: [None, None, exclude],
                    is_repository,
                });
            }
        }
        if kinds.iter().all(Option::is_none) {
            return above;
        }
        Arc::new(Self { above: Some(above), kinds, is_repository: false })
    }

    /// Whether there are no rules.
    pub(crate) fn is_empty(&self) -> bool {
        self.above.is_none() && self.kinds.iter().all(Option::is_none)
    }

    /// Whether the rules exclude the file or folder at `path`.
    pub(crate) fn ignore(&self, path: &Path, is_folder: bool) -> bool {
        for kind in 0..IGNORE_FILES.len() {
            let mut rules = Some(self);
            while let Some(folder) = rules {
                let of_kind = folder.kinds.get(kind).and_then(Option::as_ref);
                match of_kind.map_or(Match::None, |of_kind| of_kind.matched(path, is_folder)) {
                    Match::Ignore(_) => return true,
                    Match::Whitelist(_) => return false,
                    Match::None => {}
                }
                let is_of_git = IGNORE_FILES.get(kind) == Some(&".gitignore");
                rules = folder.above.as_deref().filter(|_| !(is_of_git && folder.is_repository));
            }
        }
        false
    }
}

/// Returns the folder `info` of the repository that begins in the folder `top`. A worktree and a submodule have a file
/// that leads to it (gitrepository-layout(5)).
fn info_of(top: &Path) -> Option<PathBuf> {
    let line = |file: &Path| {
        let bytes = read(rustix::fs::CWD, file.as_os_str()).ok()??;
        Some(String::from_utf8(bytes).ok()?.trim_end().to_owned())
    };
    let repository = top.join(REPOSITORY);
    if repository.is_dir() {
        return Some(repository.join("info"));
    }
    let own = top.join(line(&repository)?.strip_prefix("gitdir:")?.trim_start());
    // The rules of a worktree are those of the repository to which it belongs.
    let shared = line(&own.join("commondir")).map(|shared| own.join(shared));
    Some(shared.unwrap_or(own).join("info"))
}

/// The rules of the ignore file `file`, which is in the open `folder`. They apply below `base`.
fn parsed(
    base: &Path,
    folder: impl AsFd,
    file: &Path,
    failed: &mut dyn FnMut(&Path, String),
) -> Option<Gitignore> {
    let bytes = match read(folder, file.file_name()?) {
        Ok(bytes) => bytes?,
        Err(error) => {
            failed(file, format!("its rules do not apply: {error}"));
            return None;
        }
    };
    let most = limits::MAX_IGNORE_FILE_BYTES;
    if bytes.len() > most {
        let reason = format!("only the rules in its first {most} bytes apply");
        failed(file, format!("{reason}, which is the limit ignore-file-bytes"));
    }
    // The last line is complete only if the file is.
    let bytes = match bytes.get(..=most) {
        Some(read) => read.get(..read.iter().rposition(|byte| *byte == b'\n')?)?,
        None => &bytes,
    };
    let bytes = bytes.strip_prefix(crate::markdown::BYTE_ORDER_MARK).unwrap_or(bytes);
    let mut builder = GitignoreBuilder::new(base);
    let mut is_first = true;
    for (number, line) in (1..).zip(String::from_utf8_lossy(bytes).lines()) {
        // The other rules of the file apply.
        let add = |glob: Cow<'_, str>| builder.add_line(Some(file.to_owned()), &glob).is_ok();
        if !as_glob(line).is_some_and(add) && is_first {
            failed(file, format!("the rule on line {number} does not apply: it is not a pattern"));
            is_first = false;
        }
    }
    builder.build().ok()
}

/// The classes of characters that a bracket expression may name, and the ranges that they contain (POSIX locale).
const CLASSES: [(&str, &[(char, char)]); 12] = [
    ("alpha", &[('a', 'z'), ('A', 'Z')]),
    ("digit", &[('0', '9')]),
    ("alnum", &[('a', 'z'), ('A', 'Z'), ('0', '9')]),
    ("upper", &[('A', 'Z')]),
    ("lower", &[('a', 'z')]),
    ("xdigit", &[('0', '9'), ('a', 'f'), ('A', 'F')]),
    ("space", &[(' ', ' '), ('\t', '\r')]),
    ("blank", &[(' ', ' '), ('\t', '\t')]),
    ("punct", &[('!', '/'), (':', '@'), ('[', '`'), ('{', '~')]),
    ("cntrl", &[('\u{1}', '\u{1f}'), ('\u{7f}', '\u{7f}')]),
    ("graph", &[('!', '~')]),
    ("print", &[(' ', '~')]),
];

/// Translates a rule of gitignore(5) into the syntax of the crate `ignore`, in which braces are special, bracket
/// expressions have no escapes and no named classes, and a tab at the end is left out. Returns `None` if brackets are
/// not closed, which matches nothing.
fn as_glob(rule: &str) -> Option<Cow<'_, str>> {
    if rule.starts_with('#') || !rule.contains(['{', '}', '[', '\t']) {
        return Some(Cow::Borrowed(rule));
    }
    let mut glob = String::with_capacity(rule.len() + 8);
    let mut rest = rule;
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '\\' => {
                let escaped = rest.chars().nth(1).map_or(0, char::len_utf8);
                glob.push_str(rest.get(..1 + escaped).unwrap_or_default());
                1 + escaped
            }
            '[' => {
                let (brackets, length) = bracketed(rest)?;
                glob.push_str(&brackets);
                length
            }
            '\t' => {
                glob.push_str("[\t]");
                1
            }
            scalar => {
                if "{}".contains(scalar) {
                    glob.push('\\');
                }
                glob.push(scalar);
                scalar.len_utf8()
            }
        };
        rest = rest.get(length..).unwrap_or_default();
    }
    Some(Cow::Owned(glob))
}

/// Translates the bracket expression at the start of `text`. Returns it with its length in `text`.
fn bracketed(text: &str) -> Option<(String, usize)> {
    let inside = text.strip_prefix('[')?;
    let (is_negated, inside) = match inside.strip_prefix(['!', '^']) {
        Some(rest) => (true, rest),
        None => (false, inside),
    };
    let mut ranges: Vec<(char, char)> = Vec::new();
    let mut rest = inside;
    loop {
        if rest.starts_with(']') && rest.len() < inside.len() {
            break;
        }
        let class = CLASSES.iter().find_map(|(name, ranges)| {
            let rest = rest.strip_prefix("[:")?.strip_prefix(name)?.strip_prefix(":]")?;
            Some((*ranges, rest))
        });
        if let Some((class, after)) = class {
            ranges.extend(class);
            rest = after;
            continue;
        }
        let (start, after) = literal(rest)?;
        rest = after;
        let end = rest.strip_prefix('-').filter(|end| !end.starts_with(']'));
        ranges.push(match end {
            Some(end) => {
                let (end, after) = literal(end)?;
                rest = after;
                (start, end)
            }
            None => (start, start),
        });
    }
    let length = text.len() - rest.len() + 1;
    Some((expression(&ranges, is_negated), length))
}

/// Writes a bracket expression in which no character needs an escape: a bracket is literal as the first character, a
/// hyphen as the last, and `!` and `^` anywhere but first.
fn expression(ranges: &[(char, char)], is_negated: bool) -> String {
    let mut special: Vec<char> = Vec::new();
    let mut others = String::new();
    for &(mut start, mut end) in ranges {
        let mut take = |scalar: char| {
            let is_special = matches!(scalar, ']' | '!' | '^' | '-');
            if is_special && !special.contains(&scalar) {
                special.push(scalar);
            }
            is_special
        };
        while start < end && take(start) {
            start = char::from_u32(start as u32 + 1).unwrap_or(end);
        }
        if start < end && take(end) {
            end = char::from_u32(end as u32 - 1).unwrap_or(start);
        }
        if start == end && take(start) {
            continue;
        }
        others.push(start);
        if start != end {
            others.extend(['-', end]);
        }
    }
    let has = |scalar: char| special.contains(&scalar).then_some(scalar);
    let first: String = has(']').into_iter().chain(others.chars()).collect();
    let last: String = ['!', '^'].into_iter().filter_map(has).collect();
    let (negation, hyphen) = (if is_negated { "!" } else { "" }, has('-'));
    match (first.as_str(), hyphen) {
        // Without another character before them, `!` and `^` are escaped outside of brackets.
        ("", None) if !is_negated => {
            let escaped: Vec<String> = last.chars().map(|scalar| format!("\\{scalar}")).collect();
            format!("{{{}}}", escaped.join(","))
        }
        ("", Some(hyphen)) => format!("[{negation}{hyphen}{last}]"),
        (first, hyphen) => {
            let hyphen = hyphen.map(String::from).unwrap_or_default();
            format!("[{negation}{first}{last}{hyphen}]")
        }
    }
}

/// Returns the first character of `text`, which a backslash may precede, and the rest.
fn literal(text: &str) -> Option<(char, &str)> {
    let text = text.strip_prefix('\\').unwrap_or(text);
    let mut scalars = text.chars();
    Some((scalars.next()?, scalars.as_str()))
}

/// The bytes of an ignore file, at most one more than the limit; `None` if it does not exist or is a folder. A
/// symbolic link is followed, because the rules can only exclude files.
fn read(folder: impl AsFd, name: &OsStr) -> std::io::Result<Option<Vec<u8>>> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = match rustix::fs::openat(folder, name, flags, Mode::empty()) {
        Ok(file) => File::from(file),
        Err(rustix::io::Errno::NOENT) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let metadata = file.metadata()?;
    if metadata.is_dir() {
        return Ok(None);
    }
    // Reading a FIFO of that name would block.
    if !metadata.is_file() {
        return Err(std::io::Error::other("it is not a regular file"));
    }
    let mut bytes = Vec::new();
    file.take(limits::MAX_IGNORE_FILE_BYTES as u64 + 1).read_to_end(&mut bytes)?;
    Ok(Some(bytes))
}
