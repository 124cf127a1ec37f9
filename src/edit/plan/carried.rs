//! The text of a section for another file, with the definitions and footnotes that it uses, and without those that only
//! other text uses.
//!
//! Invariant: in the other file, each reference of the section leads to the definition that it had. A label that
//! the other file uses for something else is renamed in the section.

use std::collections::{HashMap, HashSet};

use super::definitions::{Definition, definitions, labels_in};
use super::footnotes::footnote_references;
use super::labels::{all_labels, bracketed, key, label_at, reference_at};
use super::text::{dominant_line_end, trimmed};
use super::version::{Version, is_in};
use crate::markdown::links::is_external;
use crate::markdown::outline::{BlockType, NodeKind};
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
    /// The definitions and footnotes in the section that stay in its file. The section does not use them, and other text
    /// does, or they would mean something else.
    pub(super) left: Vec<ByteSpan>,
    /// Their labels.
    pub(super) left_labels: Vec<String>,
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

/// The definitions and footnotes of a file by their keys.
type ByKey<'a> = HashMap<&'a str, &'a Named>;

fn by_key(named: &[Named]) -> ByKey<'_> {
    named.iter().map(|one| (one.key.as_str(), one)).collect()
}

/// Whether all labels of the section at `span` can keep their meaning in the file `to`.
fn can_leave(from: &Version, span: ByteSpan, named: &ByKey<'_>, to: &Version) -> bool {
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
        let is_harmful = match named.get(label.as_str()) {
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
    let (named, theirs) = (by_key(&named), by_key(&theirs));
    if !can_leave(from, span, &named, to) {
        return None;
    }
    let mut inside: Vec<&Named> =
        named.values().copied().filter(|one| is_in(span, one.span.start)).collect();
    inside.sort_by_key(|one| one.span.start);
    // What only a footnote of the section uses, the section uses if it uses that footnote.
    let is_in_definition = |one: &Use| {
        let before = inside.partition_point(|other| other.span.start <= one.label.start);
        let last = before.checked_sub(1).and_then(|index| inside.get(index));
        last.is_some_and(|definition| is_in(definition.span, one.label.start))
    };
    let whole = ByteSpan::new(0, from.bytes().len());
    let (mut uses, mut others): (Vec<Use>, Vec<Use>) =
        uses(from, whole, &named).into_iter().partition(|one| is_in(span, one.label.start));
    uses.retain(|one| !is_in_definition(one));
    let used_elsewhere = keys_of(&needed(from, &named, &mut others));
    let is_elsewhere = |one: &Named| used_elsewhere.contains(one.key.as_str());
    // A footnote that no text uses goes along. A link definition does if it means the same there.
    for one in inside.iter().filter(|one| one.key.starts_with('^') && !is_elsewhere(one)) {
        uses.extend(self::uses(from, one.span, &named));
    }
    let mut labels = needed(from, &named, &mut uses);
    let needed_here = keys_of(&labels);
    inside.retain(|one| !needed_here.contains(one.key.as_str()));
    let separators = separators(from);
    let (left, unused): (Vec<&Named>, Vec<&Named>) = inside.into_iter().partition(|one| {
        let is_needed = is_elsewhere(one) || !one.is_free(is_same_folder);
        is_needed && !separators.contains(&one.span.start)
    });
    labels.extend(unused);
    labels.sort_by_key(|one| one.span.start);
    let names_used: HashSet<&str> = uses.iter().map(|one| one.key.as_str()).collect();
    let taken =
        |key: &str| named.contains_key(key) || theirs.contains_key(key) || names_used.contains(key);
    let mut new_labels: HashMap<&str, String> = HashMap::new();
    let mut copied: Vec<&Named> = Vec::new();
    let mut carried = Carried {
        left: left.iter().map(|one| one.span).collect(),
        left_labels: left.iter().map(|one| one.label.clone()).collect(),
        ..Carried::default()
    };
    let whole = ByteSpan::new(0, to.bytes().len());
    let used_there: HashSet<String> = labels_in(to, whole).into_iter().collect();
    for one in labels {
        let other = theirs.get(one.key.as_str());
        let is_same = |other: &Named| other.meaning == one.meaning && one.is_free(is_same_folder);
        // A reference without a definition would refer to the one that comes.
        let is_taken = used_there.contains(&one.key);
        if other.map_or(is_taken, |other| !is_same(other)) {
            // A label that is not UTF-8 cannot be written again.
            if one.label.contains(char::REPLACEMENT_CHARACTER) {
                return None;
            }
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
    let changes = relabelings(from, &uses, &named, &new_labels);
    let renamed = |span: ByteSpan| relabeled(from, span, &changes);
    for part in without(from.bytes(), trimmed(from.bytes(), span), &carried.left) {
        carried.bytes.extend(renamed(part));
    }
    let text = trimmed(&carried.bytes, ByteSpan::new(0, carried.bytes.len()));
    carried.bytes.truncate(text.end);
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

/// The offsets of the definitions and footnotes between two lists or two code blocks, which would be one without them.
fn separators(version: &Version) -> HashSet<usize> {
    // For each parent, the kind of its last block, and the definitions after it.
    let mut open: HashMap<Option<usize>, (Option<BlockType>, Vec<usize>)> = HashMap::new();
    let mut found = HashSet::new();
    for node in &version.outline().nodes {
        let (last, between) = open.entry(node.parent).or_default();
        match node.kind {
            NodeKind::Block(BlockType::Definition | BlockType::Footnote) => {
                between.push(node.bytes.start);
            }
            NodeKind::Block(kind) => {
                let joins =
                    matches!(kind, BlockType::List | BlockType::Code) && *last == Some(kind);
                found.extend(between.drain(..).filter(|_| joins));
                *last = Some(kind);
            }
            NodeKind::Root | NodeKind::Section(_) | NodeKind::Item => {
                between.clear();
                *last = None;
            }
        }
    }
    found
}

/// The parts of `span` without the lines of the definitions `left`, and without the blank lines after them if others
/// precede them.
fn without(file: &[u8], span: ByteSpan, left: &[ByteSpan]) -> Vec<ByteSpan> {
    let mut parts = Vec::with_capacity(left.len() + 1);
    let mut start = span.start;
    for definition in left {
        let before = trimmed(file, ByteSpan::new(start, definition.start));
        parts.push(ByteSpan::new(start, definition.start));
        start = next_line_start(file, definition.end).min(span.end);
        let is_spaced = next_line_start(file, before.end) < definition.start || before.is_empty();
        if is_spaced {
            let rest = trimmed(file, ByteSpan::new(start, span.end));
            start = if rest.is_empty() { span.end } else { rest.start };
        }
    }
    parts.push(ByteSpan::new(start, span.end));
    parts
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
        let refers = definition.is_footnote()
            && (version.links_in(definition.span).next().is_some()
                || labels_in(version, definition.span).iter().any(|label| *label != own));
        Named { key: own, label: definition.label, span: definition.span, meaning, refers }
    };
    let mut all: Vec<Named> = definitions(version, whole).into_iter().map(named).collect();
    let mut seen = HashSet::new();
    all.retain(|one| seen.insert(one.key.clone()));
    all
}

fn keys_of<'a>(all: &[&'a Named]) -> HashSet<&'a str> {
    all.iter().map(|one| one.key.as_str()).collect()
}

/// The definitions and footnotes that `uses` and these footnotes need. Adds the uses in the footnotes.
fn needed<'a>(version: &Version, named: &ByKey<'a>, uses: &mut Vec<Use>) -> Vec<&'a Named> {
    let mut found: Vec<&Named> = Vec::new();
    let mut seen: HashSet<&str> = HashSet::new();
    let mut next = 0;
    while let Some(key) = uses.get(next).map(|one| one.key.clone()) {
        next += 1;
        let Some(one) = named.get(key.as_str()).filter(|one| seen.insert(&one.key)) else {
            continue;
        };
        found.push(one);
        uses.extend(self::uses(version, one.span, named));
    }
    found
}

/// The uses of the labels of `named` at `span`.
fn uses(version: &Version, span: ByteSpan, named: &ByKey<'_>) -> Vec<Use> {
    let file = version.bytes();
    let mut uses = Vec::new();
    for (offset, _, target) in version.links_in(span) {
        let Some((label, is_text)) = reference_at(file, offset) else { continue };
        let key = label_at(file, label);
        if named.get(key.as_str()).is_some_and(|one| one.meaning == target.as_bytes()) {
            uses.push(Use { label, is_text, key });
        }
    }
    let footnotes = footnote_references(version, span).into_iter();
    uses.extend(footnotes.map(|label| Use { label, is_text: false, key: label_at(file, label) }));
    uses
}

/// A change of the text that gives a label its new name.
struct Relabeling {
    /// Where the label begins.
    label_start: usize,
    /// The bytes that are replaced.
    at: ByteSpan,
    text: String,
}

/// The changes that give the labels of the file their new names, in the order of the bytes that they replace.
fn relabelings(
    version: &Version,
    uses: &[Use],
    named: &ByKey<'_>,
    new_labels: &HashMap<&str, String>,
) -> Vec<Relabeling> {
    let file = version.bytes();
    let mut changes = Vec::new();
    for one in uses {
        let Some(name) = new_labels.get(one.key.as_str()) else { continue };
        let label_start = one.label.start;
        changes.push(if one.is_text {
            // `[label]` and `[label][]` become `[label][name]`.
            let after = one.label.end + 1;
            let is_collapsed = file.get(after..).is_some_and(|rest| rest.starts_with(b"[]"));
            let end = if is_collapsed { after + 2 } else { after };
            Relabeling { label_start, at: ByteSpan::new(after, end), text: format!("[{name}]") }
        } else {
            Relabeling { label_start, at: one.label, text: name.clone() }
        });
    }
    for one in named.values() {
        let Some(name) = new_labels.get(one.key.as_str()) else { continue };
        if let Some(at) = memchr::memchr(b'[', one.span.of(file)) {
            let start = one.span.start + at + 1;
            let at = ByteSpan::new(start, start + one.label.len());
            changes.push(Relabeling { label_start: one.span.start, at, text: name.clone() });
        }
    }
    changes.sort_by_key(|change| change.at.start);
    changes.dedup_by_key(|change| change.at.start);
    changes
}

/// The bytes at `span` with the `changes` of the labels that begin there.
fn relabeled(version: &Version, span: ByteSpan, changes: &[Relabeling]) -> Vec<u8> {
    let file = version.bytes();
    let first = changes.partition_point(|change| change.at.start < span.start);
    let near = changes.iter().skip(first).take_while(|change| change.at.start <= span.end);
    let mut bytes = Vec::with_capacity(span.len() + 16);
    let mut end = span.start;
    for change in near.filter(|change| is_in(span, change.label_start)) {
        bytes.extend_from_slice(ByteSpan::new(end, change.at.start).of(file));
        bytes.extend_from_slice(change.text.as_bytes());
        end = change.at.end;
    }
    bytes.extend_from_slice(ByteSpan::new(end, span.end).of(file));
    bytes
}
