//! Paths in attributes of HTML, and wikilinks in the values of front matter, that lead elsewhere after an edit. They are
//! not links, so they stay as they are.
//!
//! Invariant: only a warning comes of them. A document that does not contain the name of the file is not searched.

use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::OnceLock;

use regex::bytes::Regex;

use super::link_comparison::LinkComparison;
use super::new_version::NewVersion;
use crate::count::counted;
use crate::error::{Result, Warning};
use crate::limits;
use crate::links::{Kind, StoredLink, split_extension};
use crate::markdown::front_matter::detect;
use crate::markdown::links::unescaped;
use crate::markdown::outline::{BlockType, NodeKind};
use crate::markdown::scalars_of;
use crate::percent::percent_encode;
use crate::position::{ByteSpan, LineIndex};
use crate::query::open_document::OpenDocument;
use crate::store::{Lookup, StoredDocument};
use crate::terms::TrigramQuery;

/// A comment or a tag with attributes.
const TAG: &str = r#"(?is-u)<!--.*?-->|<[a-z][a-z0-9-]*\s(?:[^<>"']|"[^"]*"|'[^']*')*>"#;

/// An attribute in a tag that leads to a file.
const ATTRIBUTE: &str = r#"(?i-u)\s(?:href|src)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^"'\s<>]+))"#;

/// A wikilink in a value of front matter.
const WIKILINK: &str = r"(?-u)\[\[([^\[\]|\r\n]+)(?:\|[^\[\]\r\n]*)?\]\]";

/// A line with a target that leads elsewhere after the edit: whether it is in front matter, the path and the number.
type ChangedLine = (bool, String, usize);

/// Returns warnings about the attributes `href` and `src`, and about the wikilinks in front matter, that lead elsewhere
/// after the edit.
pub(super) fn unchanged_targets(comparison: &LinkComparison<'_>) -> Result<Vec<Warning>> {
    let mut places = BTreeSet::new();
    for version in comparison.versions.values() {
        let of_line = |line: usize| version.origin(line);
        places.extend(changed(comparison, version.document(), version.version.bytes(), of_line)?);
    }
    let (others, is_cut) = others(comparison)?;
    for stored in others {
        let document = comparison.session.open(&stored)?;
        let bytes = comparison.session.content(&document, document.span())?;
        places.extend(changed(comparison, &document, &bytes, |_| &document)?);
    }
    let (front_matter, html): (Vec<_>, Vec<_>) =
        places.into_iter().partition(|(is_front_matter, ..)| *is_front_matter);
    let html = listed("its attributes href and src", &html);
    let cut = is_cut.then(|| "the limit html-documents ended the search for such lines".to_owned());
    let said: Vec<String> = html.into_iter().chain(cut).collect();
    let html = (!said.is_empty()).then(|| {
        Warning::new("HTML_LINKS", format!("HTML is not rewritten, and {}", said.join("; ")))
    });
    let front_matter = listed("its wikilinks", &front_matter).map(|said| {
        Warning::new("FRONT_MATTER_LINKS", format!("front matter is not rewritten, and {said}"))
    });
    Ok(html.into_iter().chain(front_matter).collect())
}

/// Returns that `what` leads elsewhere on `lines`, if there are any.
fn listed(what: &str, lines: &[ChangedLine]) -> Option<String> {
    let most = limits::MAX_SUGGESTIONS;
    let shown = lines.iter().take(most).map(|(_, path, line)| format!("{path}:{line}"));
    let shown = shown.collect::<Vec<_>>().join(", ");
    let more = if lines.len() > most { ", ..." } else { "" };
    let count = counted(lines.len(), "line");
    (!lines.is_empty()).then(|| format!("{what} lead elsewhere now on {count}: {shown}{more}"))
}

/// Returns the other documents that contain the name of a renamed document and an attribute or a quoted wikilink, and
/// whether there are more.
fn others(comparison: &LinkComparison<'_>) -> Result<(Vec<StoredDocument>, bool)> {
    let has_all = |text: &str| {
        let text = text.to_ascii_lowercase();
        let trigrams = text.as_bytes().windows(3).filter_map(|bytes| bytes.try_into().ok());
        TrigramQuery::all_of(trigrams.map(TrigramQuery::Has).collect())
    };
    let renamed = comparison.versions.values().filter(|version| version.is_renamed);
    let names = renamed.flat_map(|version: &NewVersion| {
        let path = split_extension(&version.old.stored.path).0;
        let name = path.rsplit('/').next().unwrap_or(path);
        let encoded = percent_encode(name, |scalar| scalar.is_ascii_graphic());
        [has_all(name), has_all(&encoded), has_all(&name.replace('&', "&amp;"))]
    });
    let names = TrigramQuery::any_of(names.collect());
    let reader = comparison.session.reader;
    let (mut all, mut is_cut) = (BTreeSet::new(), false);
    // The limit is one of either kind, so that many of one do not hide the other.
    for targets in [["href", "src"], ["\"[[", "'[["]] {
        let query = names.clone().and(TrigramQuery::any_of(targets.map(has_all).into()));
        let mut ids = match reader.candidates(&query)? {
            Some(ids) => ids,
            // Each document may have such a target.
            None => reader.all(&Lookup::All)?.iter().map(|stored| stored.id).collect(),
        };
        ids.retain(|id| !comparison.versions.contains_key(id));
        is_cut |= ids.len() > limits::MAX_HTML_DOCUMENTS;
        ids.truncate(limits::MAX_HTML_DOCUMENTS);
        all.extend(ids);
    }
    let all: Vec<i64> = all.into_iter().collect();
    Ok((reader.all(&Lookup::Ids(&all))?, is_cut))
}

/// Returns the lines of `new` with an attribute or a wikilink that leads elsewhere than in the document in which it was
/// before.
fn changed<'a>(
    comparison: &LinkComparison<'_>,
    new: &Rc<OpenDocument>,
    bytes: &[u8],
    old_of_line: impl Fn(usize) -> &'a Rc<OpenDocument>,
) -> Result<Vec<ChangedLine>> {
    static REGEXES: OnceLock<Option<[Regex; 3]>> = OnceLock::new();
    let regexes = REGEXES.get_or_init(|| {
        Some([Regex::new(TAG).ok()?, Regex::new(ATTRIBUTE).ok()?, Regex::new(WIKILINK).ok()?])
    });
    let Some([tag, attribute, wikilink]) = regexes else { return Ok(Vec::new()) };
    let lines = LineIndex::new(bytes);
    let outline = new.tree.outline();
    let body = outline.front_matter.map_or(0, |front_matter| front_matter.end);
    let code = outline.nodes.iter().filter(|node| node.kind == NodeKind::Block(BlockType::Code));
    let code: Vec<ByteSpan> = code.map(|node| node.bytes).collect();
    let leads_elsewhere = |written: &StoredLink| -> Result<bool> {
        let old = old_of_line(written.line);
        Ok(!comparison.is_same(old, written, new, written)?
            && !comparison.was_broken(old, written)?)
    };
    let mut places = Vec::new();
    let scalars = OnceCell::new();
    for found in wikilink.captures_iter(bytes.get(..body).unwrap_or_default()) {
        let Some(target) = found.get(1) else { continue };
        // What is in no value is in a comment.
        let scalars = scalars.get_or_init(|| scalars_of(bytes, &detect(bytes, outline.start())?));
        let is_in = |scalar: &ByteSpan| scalar.start < target.end() && target.start() < scalar.end;
        if scalars.as_ref().is_some_and(|scalars| !scalars.iter().any(is_in)) {
            continue;
        }
        let line = lines.line_of(target.start());
        let target = String::from_utf8_lossy(target.as_bytes()).trim().to_owned();
        if leads_elsewhere(&StoredLink { kind: Kind::Wikilink, target, line })? {
            places.push((true, new.stored.path.clone(), line));
        }
    }
    // The backticks from the start of a line to the last tag in it.
    let (mut line_start, mut counted, mut backticks) = (0, 0, 0);
    for found in tag.find_iter(bytes).filter(|tag| tag.start() >= body) {
        let start = lines.start_of(lines.line_of(found.start()));
        if start != line_start {
            (line_start, counted, backticks) = (start, start, 0);
        }
        let between = bytes.get(counted..found.start()).unwrap_or_default();
        backticks += memchr::memchr_iter(b'`', between).count();
        counted = found.start();
        let next = code.partition_point(|code| code.end <= found.start());
        // A reader sees the tag as text.
        let is_text = backticks % 2 == 1
            || code.get(next).is_some_and(|code| code.start <= found.start())
            || bytes.get(..found.start()).is_some_and(|before| before.ends_with(b"\\"));
        if found.as_bytes().starts_with(b"<!--") || is_text {
            continue;
        }
        for value in attribute.captures_iter(found.as_bytes()) {
            let Some(value) = (1..=3).find_map(|group| value.get(group)) else { continue };
            let target = String::from_utf8_lossy(value.as_bytes()).into_owned();
            let target = unescaped(&target).into_owned();
            let line = lines.line_of(found.start() + value.start());
            if leads_elsewhere(&StoredLink { kind: Kind::Markdown, target, line })? {
                places.push((false, new.stored.path.clone(), line));
            }
        }
    }
    Ok(places)
}
