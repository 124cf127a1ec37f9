//! The text of a section for another file, with the definitions and footnotes that it uses.
//!
//! Invariant: in the other file, each reference of the section leads to the definition that it had. A label that
//! the other file uses for something else is renamed in the section.

use std::collections::{HashMap, HashSet};

use super::definitions::{
    Definition, all_labels, bracketed, definitions, key, label_at, labels_in, reference_at,
};
use super::footnotes::footnote_references;
use super::text::{dominant_line_end, trimmed};
use super::version::{Version, is_in};
use crate::markdown::links::is_external;
use crate::position::{ByteSpan, next_line_start};

/// A section for another file.
#[derive(Debug, Default)]
pub(super) struct Carried {
    /// Its bytes, followed by what was copied.
    pub(super) bytes: Vec<u8>,
    /// The labels of the definitions and footnotes that were copied.
    pub(super) copied_definitions: Vec<String>,
    /// Where they are in the file of the section.
    pub(super) copied: Vec<ByteSpan>,
    /// The labels that got another name, with that name.
    pub(super) new_labels: Vec<(String, String)>,
}

/// Something that a label names: a link reference definition, or a footnote.
struct Named {
    span: ByteSpan,
    label: String,
    /// The label in the form in which labels are compared. That of a footnote begins with `^`.
    key: String,
    /// What must be equal for two of them to mean the same: the target of a link, or the text of a footnote.
    meaning: Vec<u8>,
    /// Whether it is a footnote with links or footnotes in it.
    refers: bool,
}

impl Named {
    /// Whether the same text means the same in another file.
    fn is_free(&self, is_same_folder: bool) -> bool {
        if self.key.starts_with('^') {
            return !self.refers;
        }
        let target = String::from_utf8_lossy(&self.meaning);
        is_external(&target) || is_same_folder && !target.starts_with('#')
    }
}

/// Whether all labels of the section at `span` can keep their meaning in the file `to`.
fn can_leave(from: &Version, span: ByteSpan, named: &[Named], to: &Version) -> bool {
    let whole = ByteSpan::new(0, from.bytes().len());
    let (inside, outside): (Vec<_>, Vec<_>) = footnote_references(from, whole)
        .into_iter()
        .partition(|reference| is_in(span, reference.start));
    let label = |reference: ByteSpan| label_at(from.bytes(), reference);
    let outside: HashSet<String> = outside.into_iter().map(label).collect();
    let used: HashSet<String> = labels_in(from, span).into_iter().collect();
    let ours = all_labels(from);
    for (at, label) in &ours {
        let is_inside = is_in(span, at.start);
        let is_harmful = match named.iter().find(|one| one.key == *label) {
            // A definition of the section that another one overrides would take effect.
            Some(effective) => is_inside && effective.span.start != at.start,
            // One inside a list or a block quote is neither copied nor kept.
            None if is_inside => outside.contains(label),
            None => used.contains(label),
        };
        if is_harmful {
            return false;
        }
    }
    // A footnote reference that has no footnote must not find one.
    let labels = |all: Vec<(ByteSpan, String)>| -> HashSet<String> {
        all.into_iter().map(|(_, label)| label).collect()
    };
    let (ours, theirs) = (labels(ours), labels(all_labels(to)));
    inside.into_iter().map(label).all(|label| ours.contains(&label) || !theirs.contains(&label))
}

/// A use of a label in the text.
struct Use {
    /// The bytes of the label, without brackets.
    label: ByteSpan,
    /// Whether the label is also the text of the link, so that a renamed label is put after it.
    is_text: bool,
    key: String,
}

/// Returns the section at `span` of `from` for the file `to`. If the files are in the same folder, equal relative
/// targets mean the same. `None` if a label of the section cannot keep its meaning: its definition is inside a list or
/// a block quote elsewhere, an equal label precedes it, or only the other file defines it.
pub(super) fn carried(
    from: &Version,
    span: ByteSpan,
    to: &Version,
    is_same_folder: bool,
) -> Option<Carried> {
    let named = all_named(from);
    let theirs = all_named(to);
    if !can_leave(from, span, &named, to) {
        return None;
    }
    let mut uses = uses(from, span, &named);
    let mut labels: Vec<&Named> = Vec::new();
    // A footnote may use labels, too.
    let mut next = 0;
    while let Some(key) = uses.get(next).map(|one| one.key.clone()) {
        next += 1;
        let Some(found) = named.iter().find(|one| one.key == key) else { continue };
        if labels.iter().any(|one| one.key == key) {
            continue;
        }
        labels.push(found);
        if !is_in(span, found.span.start) {
            uses.extend(self::uses(from, found.span, &named));
        }
    }
    // A definition of the section that the section itself does not use may still be used where it goes.
    let inside = named.iter().filter(|one| is_in(span, one.span.start));
    let unused: Vec<&Named> =
        inside.filter(|one| !labels.iter().any(|other| other.key == one.key)).collect();
    labels.extend(unused);
    labels.sort_by_key(|one| one.span.start);
    let taken = |key: &str| {
        named.iter().chain(&theirs).any(|one| one.key == key)
            || uses.iter().any(|one| one.key == key)
    };
    let mut new_labels: HashMap<&str, String> = HashMap::new();
    let mut copied: Vec<&Named> = Vec::new();
    let mut carried = Carried::default();
    let whole = ByteSpan::new(0, to.bytes().len());
    let used_there: HashSet<String> = labels_in(to, whole).into_iter().collect();
    for one in labels {
        let other = theirs.iter().find(|other| other.key == one.key);
        let is_same = |other: &Named| other.meaning == one.meaning && one.is_free(is_same_folder);
        // A reference without a definition would refer to the one that comes.
        let is_taken = used_there.contains(&one.key);
        if other.map_or(is_taken, |other| !is_same(other)) {
            let name = (2..).map(|number| format!("{}-{number}", one.label));
            let name = name.into_iter().find(|name| !taken(&key(name)));
            let name = name.unwrap_or_else(|| one.label.clone());
            carried.new_labels.push((one.label.clone(), name.clone()));
            new_labels.insert(&one.key, name);
        } else if other.is_some() {
            // The other file has the same definition.
            continue;
        }
        if !is_in(span, one.span.start) {
            copied.push(one);
        }
    }
    let renamed = |span: ByteSpan| relabeled(from, span, &uses, &named, &new_labels);
    carried.bytes = renamed(trimmed(from.bytes(), span));
    let line_end = dominant_line_end(from.bytes()).unwrap_or(b"\n");
    let mut previous: Option<&Named> = None;
    for one in copied {
        // Adjacent link definitions stay adjacent.
        let is_next = previous.is_some_and(|previous| {
            !previous.key.starts_with('^')
                && next_line_start(from.bytes(), previous.span.end) == one.span.start
        });
        carried.bytes.extend(line_end.repeat(if is_next { 1 } else { 2 }));
        carried.bytes.extend(renamed(one.span));
        carried.copied_definitions.push(one.label.clone());
        carried.copied.push(one.span);
        previous = Some(one);
    }
    Some(carried)
}

/// The definitions and footnotes of a file. Of several with the same label, the first one counts.
fn all_named(version: &Version) -> Vec<Named> {
    let whole = ByteSpan::new(0, version.bytes().len());
    let named = |definition: Definition| {
        let text = bracketed(definition.span.of(version.bytes()).trim_ascii_start());
        let meaning = if definition.is_footnote() {
            text.map(|(_, text)| text.trim_ascii().to_vec()).unwrap_or_default()
        } else {
            definition.target.clone().unwrap_or_default().into_bytes()
        };
        let own = key(&definition.label);
        let mut links = version.all_links();
        let refers = definition.is_footnote()
            && (links.any(|(offset, ..)| is_in(definition.span, offset))
                || labels_in(version, definition.span).iter().any(|label| *label != own));
        Named { key: own, label: definition.label, span: definition.span, meaning, refers }
    };
    let mut all: Vec<Named> = definitions(version, whole).into_iter().map(named).collect();
    let mut seen = HashSet::new();
    all.retain(|one| seen.insert(one.key.clone()));
    all
}

/// The uses of the labels of `named` at `span`.
fn uses(version: &Version, span: ByteSpan, named: &[Named]) -> Vec<Use> {
    let file = version.bytes();
    let mut uses = Vec::new();
    for (offset, _, target) in version.all_links().filter(|(offset, ..)| is_in(span, *offset)) {
        let Some((label, is_text)) = reference_at(file, offset) else { continue };
        let key = label_at(file, label);
        if named.iter().any(|one| one.key == key && one.meaning == target.as_bytes()) {
            uses.push(Use { label, is_text, key });
        }
    }
    let footnotes = footnote_references(version, span).into_iter();
    uses.extend(footnotes.map(|label| Use { label, is_text: false, key: label_at(file, label) }));
    uses
}

/// The bytes at `span` with the new labels.
fn relabeled(
    version: &Version,
    span: ByteSpan,
    uses: &[Use],
    named: &[Named],
    new_labels: &HashMap<&str, String>,
) -> Vec<u8> {
    let file = version.bytes();
    let mut changes: Vec<(ByteSpan, String)> = Vec::new();
    for one in uses.iter().filter(|one| is_in(span, one.label.start)) {
        let Some(name) = new_labels.get(one.key.as_str()) else { continue };
        if one.is_text {
            // `[label]` and `[label][]` become `[label][name]`.
            let after = one.label.end + 1;
            let is_collapsed = file.get(after..).is_some_and(|rest| rest.starts_with(b"[]"));
            let end = if is_collapsed { after + 2 } else { after };
            changes.push((ByteSpan::new(after, end), format!("[{name}]")));
        } else {
            changes.push((one.label, name.clone()));
        }
    }
    for one in named.iter().filter(|one| is_in(span, one.span.start)) {
        let Some(name) = new_labels.get(one.key.as_str()) else { continue };
        let text = one.span.of(file);
        if let Some(at) = memchr::memchr(b'[', text) {
            let start = one.span.start + at + 1;
            changes.push((ByteSpan::new(start, start + one.label.len()), name.clone()));
        }
    }
    changes.sort_by_key(|(span, _)| span.start);
    changes.dedup_by_key(|(span, _)| span.start);
    let mut bytes = Vec::with_capacity(span.len() + 16);
    let mut end = span.start;
    for (at, text) in changes {
        bytes.extend_from_slice(ByteSpan::new(end, at.start).of(file));
        bytes.extend_from_slice(text.as_bytes());
        end = at.end;
    }
    bytes.extend_from_slice(ByteSpan::new(end, span.end).of(file));
    bytes
}
