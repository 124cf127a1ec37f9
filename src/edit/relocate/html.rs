//! Paths in attributes of HTML that lead elsewhere after an edit. They are not links, so they stay as they are.
//!
//! Invariant: only a warning comes of them. A document that does not contain the name of the file is not searched.

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
use crate::markdown::links::unescaped;
use crate::markdown::outline::{BlockType, NodeKind};
use crate::percent::percent_encode;
use crate::position::{ByteSpan, LineIndex};
use crate::query::open_document::OpenDocument;
use crate::store::{Lookup, StoredDocument};
use crate::terms::TrigramQuery;

/// A comment or a tag with attributes.
const TAG: &str = r#"(?is-u)<!--.*?-->|<[a-z][a-z0-9-]*\s(?:[^<>"']|"[^"]*"|'[^']*')*>"#;

/// An attribute in a tag that leads to a file.
const ATTRIBUTE: &str = r#"(?i-u)\s(?:href|src)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^"'\s<>]+))"#;

/// Returns a warning about the attributes `href` and `src` that lead elsewhere after the edit, if there are any.
pub(super) fn unchanged_html(comparison: &LinkComparison<'_>) -> Result<Option<Warning>> {
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
    let most = limits::MAX_SUGGESTIONS;
    let shown: Vec<String> =
        places.iter().take(most).map(|(path, line)| format!("{path}:{line}")).collect();
    let more = if places.len() > most { ", ..." } else { "" };
    let found = (!places.is_empty()).then(|| {
        let lines = counted(places.len(), "line");
        let shown = shown.join(", ");
        format!("its attributes href and src lead elsewhere now on {lines}: {shown}{more}")
    });
    let cut = is_cut.then(|| "the limit html-documents ended the search for such lines".to_owned());
    let said: Vec<String> = found.into_iter().chain(cut).collect();
    let message = format!("HTML is not rewritten, and {}", said.join("; "));
    Ok((!said.is_empty()).then(|| Warning::new("HTML_LINKS", message)))
}

/// Returns the other documents that contain the name of a renamed document and an attribute, and whether there are
/// more.
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
    let attributes = has_all("href").or(has_all("src"));
    let query = TrigramQuery::any_of(names.collect()).and(attributes);
    let reader = comparison.session.reader;
    let mut ids = match reader.candidates(&query)? {
        Some(ids) => ids,
        // Each document may have such an attribute.
        None => reader.all(&Lookup::All)?.iter().map(|stored| stored.id).collect(),
    };
    ids.retain(|id| !comparison.versions.contains_key(id));
    let is_cut = ids.len() > limits::MAX_HTML_DOCUMENTS;
    ids.truncate(limits::MAX_HTML_DOCUMENTS);
    Ok((reader.all(&Lookup::Ids(&ids))?, is_cut))
}

/// Returns the places in `new` of attributes that lead elsewhere than in the document in which they were before.
fn changed<'a>(
    comparison: &LinkComparison<'_>,
    new: &Rc<OpenDocument>,
    bytes: &[u8],
    old_of_line: impl Fn(usize) -> &'a Rc<OpenDocument>,
) -> Result<Vec<(String, usize)>> {
    static REGEXES: OnceLock<Option<[Regex; 2]>> = OnceLock::new();
    let regexes =
        REGEXES.get_or_init(|| Some([Regex::new(TAG).ok()?, Regex::new(ATTRIBUTE).ok()?]));
    let Some([tag, attribute]) = regexes else { return Ok(Vec::new()) };
    let lines = LineIndex::new(bytes);
    let outline = new.tree.outline();
    let body = outline.front_matter.map_or(0, |front_matter| front_matter.end);
    let code = outline.nodes.iter().filter(|node| node.kind == NodeKind::Block(BlockType::Code));
    let code: Vec<ByteSpan> = code.map(|node| node.bytes).collect();
    let mut places = Vec::new();
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
            let written = StoredLink { kind: Kind::Markdown, target, line };
            let old = old_of_line(line);
            if !comparison.is_same(old, &written, new, &written)?
                && !comparison.was_broken(old, &written)?
            {
                places.push((new.stored.path.clone(), line));
            }
        }
    }
    Ok(places)
}
