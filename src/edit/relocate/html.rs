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
use crate::markdown::outline::{BlockType, NodeKind};
use crate::percent::percent_encode;
use crate::position::{ByteSpan, LineIndex};
use crate::query::open_document::OpenDocument;
use crate::store::{Lookup, StoredDocument};
use crate::terms::TrigramQuery;

/// The name and the value of an attribute in a tag.
const ATTRIBUTE: &str = r#"(?i-u)<[a-z][a-z0-9-]*\s(?:[^<>]*?\s)?(?:href|src)\s*=\s*(?:"([^"<>]*)"|'([^'<>]*)'|([^"'\s<>]+))"#;

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
        [has_all(name), has_all(&percent_encode(name, |scalar| scalar.is_ascii_graphic()))]
    });
    let attributes = has_all("href").or(has_all("src"));
    let query = TrigramQuery::any_of(names.collect()).and(attributes);
    let mut ids = comparison.session.reader.candidates(&query)?.unwrap_or_default();
    ids.retain(|id| !comparison.versions.contains_key(id));
    let is_cut = ids.len() > limits::MAX_HTML_DOCUMENTS;
    ids.truncate(limits::MAX_HTML_DOCUMENTS);
    Ok((comparison.session.reader.all(&Lookup::Ids(&ids))?, is_cut))
}

/// Returns the places in `new` of attributes that lead elsewhere than in the document in which they were before.
fn changed<'a>(
    comparison: &LinkComparison<'_>,
    new: &Rc<OpenDocument>,
    bytes: &[u8],
    old_of_line: impl Fn(usize) -> &'a Rc<OpenDocument>,
) -> Result<Vec<(String, usize)>> {
    static REGEX: OnceLock<Option<Regex>> = OnceLock::new();
    let regex = REGEX.get_or_init(|| Regex::new(ATTRIBUTE).ok());
    let lines = LineIndex::new(bytes);
    let nodes = new.tree.outline().nodes.iter();
    let code: Vec<ByteSpan> = nodes
        .filter(|node| node.kind == NodeKind::Block(BlockType::Code))
        .map(|node| node.bytes)
        .collect();
    let mut places = Vec::new();
    for found in regex.iter().flat_map(|regex| regex.captures_iter(bytes)) {
        let Some(value) = (1..=3).find_map(|group| found.get(group)) else { continue };
        let before = value.start();
        let next = code.partition_point(|code| code.end <= before);
        let is_code = code.get(next).is_some_and(|code| code.start <= before)
            || found.get(0).is_some_and(|tag| {
                bytes.get(..tag.start()).is_some_and(|text| text.ends_with(b"`"))
            });
        let target = String::from_utf8_lossy(value.as_bytes()).into_owned();
        let line = lines.line_of(before);
        let written = StoredLink { kind: Kind::Markdown, target, line };
        let old = old_of_line(line);
        if !is_code
            && !comparison.is_same(old, &written, new, &written)?
            && !comparison.was_broken(old, &written)?
        {
            places.push((new.stored.path.clone(), line));
        }
    }
    Ok(places)
}
