//! Gives a section another title.
//!
//! Invariant: only the text of the heading changes. Its marks, blanks and line end stay, and so does the structure of
//! the document. Code and emphasis stay around the part of the title that is the same. What is no text, or leads
//! elsewhere, is never lost.

use super::heading::{Parts, links, lost, with_links};
use super::new_version::NewVersion;
use super::{
    ChangedFile, RelocateEffects, RelocationPlan, RewrittenLink, not_a_section, on_lines_at,
    section_at,
};
use crate::address::{AddressResult, split_marks};
use crate::edit::hint::instead_of_title;
use crate::edit::plan::{Version, renumbered};
use crate::error::{Error, ErrorKind, Result, Warning};
use crate::ldmd::marker::value_span;
use crate::ldmd::{LdmdSection, attribute};
use crate::markdown::Dialect;
use crate::markdown::outline::{Outline, Section};
use crate::markdown::slug::comparable;
use crate::message::{Message, message};
use crate::percent::percent_decode;
use crate::position::{ByteSpan, LineIndex};
use crate::query::open_document::OpenDocument;
use crate::query::resolved_node::{ResolvedNode, Target};
use crate::query::{NamedNode, Session, locate_section_for_edit};
use crate::visible::quoted;

/// Gives the section at `place` another title.
pub(super) fn renamed(
    session: &Session<'_>,
    place: &NamedNode,
    title: &str,
    is_fuzzy: bool,
) -> Result<AddressResult<RelocationPlan>> {
    let title = title.trim();
    if title.is_empty() || title.contains(['\n', '\r']) {
        return Err(Error::new(ErrorKind::Usage, "a title is one line of text, not empty")
            .with_hint("give --title one line of text"));
    }
    let old = session.open(&place.stored)?;
    let bytes = session.content(&old, old.span())?;
    let found = match locate_section_for_edit(&old, place, is_fuzzy) {
        Ok(found) => found,
        Err(fault) => return Ok(Err(fault)),
    };
    let Some((node, section)) = section_at(&found) else {
        let error = not_a_section(&found);
        let is_part = matches!(found.target, Target::Node(node) if node > 0);
        let instead = || instead(&found, &bytes, title);
        return Err(error.map_hints(|hint| if is_part { hint.clone() } else { instead() }));
    };
    let section = section.clone();
    let old_title = section.title.clone();
    let title = without_marks(title, section.level, &found)?;
    let whole = found.span();
    let heading = ByteSpan::new(whole.start, section.heading_end);
    let text = text_of_heading(heading.of(&bytes));
    let at = ByteSpan::new(heading.start + text.start, heading.start + text.end);
    let dialect = Dialect::of(&old.stored.path);
    let before_edit = Version::read_as(bytes.clone(), dialect);
    let version = with_new_title(&before_edit, dialect, &section, heading, at, title);
    let address = found.address();
    if !is_same_structure(old.tree.outline(), version.outline(), node) {
        let message = format!(
            "{address}: {title} would not be the title of that section alone",
            title = quoted(&title)
        );
        return Err(Error::new(ErrorKind::EditRefused, message)
            .with_reason("CHANGES_OUTSIDE")
            .with_hint("escape what begins a block or an anchor, or choose another title"));
    }
    let lost = lost(&before_edit, at, &version, bytes.len() - heading.end);
    if let Some(first) = lost.first() {
        let message = format!(
            "{address}: {title} would lose {} of the heading",
            lost.join(", "),
            title = quoted(&title)
        );
        return Err(Error::new(ErrorKind::EditRefused, message).with_reason("LINKS").with_hint(
            message!(
                "write {} in the title, too; to drop it, replace the heading: `mdsel replace {path}`",
                first,
                format!("{address}?part=heading")
            ),
        ));
    }
    let others = old.tree.outline().sections.iter().filter(|section| section.node != node);
    let others =
        others.flat_map(|other| renumbered(&before_edit, other.node, &version, other.node));
    let renumbered = others.collect();
    let version = NewVersion::new(session, &old, &old.stored.path, version)?;
    if version.links().links.len() > session.reader.links(&old.stored)?.links.len() {
        let message = format!(
            "{address}: {title} has a link that the heading does not have",
            title = quoted(&title)
        );
        return Err(Error::new(ErrorKind::EditRefused, message).with_reason("LINKS").with_hint(
            message!(
                "replace the heading instead: `mdsel replace {path}`",
                format!("{address}?part=heading")
            ),
        ));
    }
    let to = version.document().address_of(node);
    let title = version.document().tree.section(node).map(|section| section.title.clone());
    let old_texts = version.document().tree.section(node).map(|renamed| OldTitle {
        texts: section.titles().map(str::to_owned).collect(),
        names: renamed.link_anchor().into_iter().chain([renamed.title.clone()]).collect(),
    });
    let old_texts = old_texts.filter(|_| title.as_ref() != Some(&old_title));
    let section = Some([whole, ByteSpan::new(whole.start, section.own_end)]);
    let effects = RelocateEffects { renumbered, ..RelocateEffects::default() };
    let marker = marker_with(&old, &bytes, node, &old_title, title.as_deref());
    let warnings = marker.into_iter().chain(second_id(version.document(), node)).collect();
    let (versions, from) = (vec![version], address);
    Ok(Ok(RelocationPlan {
        versions,
        section,
        from,
        to,
        title,
        old_title: old_texts,
        effects,
        warnings,
        ..RelocationPlan::default()
    }))
}

/// Returns the document with another title of `section`: in the style of the old title if that gives the same title and
/// loses nothing, and as it is written otherwise. `heading` is the span of the heading, and `at` that of its text.
fn with_new_title(
    before_edit: &Version,
    dialect: Dialect,
    section: &Section,
    heading: ByteSpan,
    at: ByteSpan,
    title: &str,
) -> Version {
    let bytes = before_edit.bytes();
    let before = bytes.get(..heading.start).unwrap_or_default();
    let after = bytes.get(heading.end..).unwrap_or_default();
    let with = |written: &str| {
        let version = [before, &with_title(heading.of(bytes), written), after].concat();
        Version::read_as(version, dialect)
    };
    let text = String::from_utf8_lossy(at.of(bytes));
    let parts = Parts::of(&text, before_edit);
    let around = parts.around(title);
    let shown = around.title(title);
    let is_same = |version: &Version| {
        let mut sections = version.outline().sections.iter();
        let found = sections.find(|found| found.node == section.node);
        found.is_some_and(|found| found.title == shown)
            && lost(before_edit, at, version, after.len()).is_empty()
    };
    let mut written = styled(parts.text, parts.title(&section.title), title);
    written.extend(with_links(before_edit, at, title));
    // Only a title with the link itself may give a link another text.
    let links = links(before_edit, at);
    written.retain(|written| links.iter().all(|link| written.contains(link)));
    let mut versions = written.iter().map(|written| with(&around.text(written)));
    versions.find(is_same).unwrap_or_else(|| with(&around.text(title)))
}

/// The title that a section had.
pub(super) struct OldTitle {
    /// The title, as it is rendered and as it is written.
    texts: Vec<String>,
    /// How links name the section now: by its anchor or its title.
    names: Vec<String>,
}

impl OldTitle {
    /// Returns the warning that rewritten links to the section still have its old title as their text, which stays as it
    /// is: it may be more than a name.
    pub(super) fn warning(&self, files: &[ChangedFile]) -> Option<Warning> {
        let leads_here = |target: &str| {
            let fragment = target.rsplit_once('#').map(|(_, fragment)| percent_decode(fragment));
            let is_name =
                |name: &String| Some(comparable(name)) == fragment.as_deref().map(comparable);
            self.names.iter().any(is_name)
        };
        let mut places = Vec::new();
        for file in files {
            let lines = LineIndex::new(&file.after);
            for RewrittenLink { line, to, .. } in
                file.links.iter().filter(|link| leads_here(&link.to))
            {
                let place = format!("{}:{line}", file.file);
                if places.last() == Some(&place) {
                    continue;
                }
                let span = ByteSpan::new(lines.start_of(*line), lines.start_of(line + 1));
                let text = String::from_utf8_lossy(span.of(&file.after)).into_owned();
                let has = |old: &String| {
                    let written = [
                        format!("[{old}]({to})"),
                        format!("[{old}]({to} "),
                        format!("[{old}](<{to}>"),
                        format!("[[{to}|{old}]]"),
                    ];
                    written.iter().any(|link| text.contains(link))
                };
                if self.texts.iter().any(has) {
                    places.push(place);
                }
            }
        }
        let on_lines = on_lines_at(&places);
        let message =
            format!("links to the section still have its old title as their text {on_lines}");
        (!places.is_empty()).then(|| Warning::new("LINK_TEXTS", message))
    }
}

/// Returns the warning that the section at `node` has an id in its title that another section has, too.
fn second_id(document: &OpenDocument, node: usize) -> Option<Warning> {
    let sections = &document.tree.outline().sections;
    let id = document.tree.section(node)?.id_in_title()?;
    let is_other = |one: &&Section| one.node != node && one.id_in_title() == Some(id);
    let other = document.address_of(sections.iter().find(is_other)?.node);
    let message =
        format!("{other} has the id {id}, too, and a link to #{id} leads to the first of them");
    Some(Warning::new("DUPLICATE_ANCHOR", message))
}

/// Returns what to do instead of giving the title `title` to a place that is not a section of the outline.
fn instead(place: &ResolvedNode, file: &[u8], title: &str) -> Message {
    let document = &place.document;
    let Target::Ldmd(index) = place.target else { return instead_of_title(document, title) };
    let Some(marked) = document.markup.sections.get(index) else { return "".into() };
    match first_heading(document, marked) {
        Some(heading) => message!(
            "rename the heading in it with `mdsel rename {path} --title {}`",
            document.address_of(heading),
            title
        ),
        None => message!(
            "change the title in its marker with {}",
            retitle(document, marked, file, title)
        ),
    }
}

/// Returns the node of the first section whose heading is in an LDMD section.
fn first_heading(document: &OpenDocument, marked: &LdmdSection) -> Option<usize> {
    let mut sections = document.tree.outline().sections.iter().map(|section| section.node);
    sections.find(|node| {
        let start = document.tree.node(*node).map_or(0, |node| node.bytes.start);
        marked.content.start <= start && start < marked.content.end
    })
}

/// Returns the command that changes the title in the BEGIN marker of an LDMD section.
fn retitle(document: &OpenDocument, marked: &LdmdSection, file: &[u8], title: &str) -> Message {
    let line = marked.lines.start;
    let address = format!("{}:{line}-{line}", document.namespace);
    let written = ByteSpan::new(marked.span.start, marked.content.start).of(file);
    let written = String::from_utf8_lossy(written);
    let old = written.trim();
    let new = match value_span(old, "title") {
        Some(value) => {
            // From its name to the quote after its value.
            let (start, end) = (value.start - "title=\"".len(), value.end + 1);
            let quote = old.get(value.end..end).and_then(|quote| quote.chars().next());
            let attribute = attribute("title", title, quote.unwrap_or('"'));
            let (before, after) = (old.get(..start), old.get(end..));
            [before.unwrap_or_default(), attribute.trim(), after.unwrap_or_default()].concat()
        }
        None => {
            let unclosed = old.strip_suffix("-->").unwrap_or(old);
            format!("{unclosed}{}-->", attribute("title", title, '"'))
        }
    };
    message!("`mdsel replace {path} --old {} --content {}`", address, old, new)
}

/// Returns the warning that the marker of the LDMD section whose first heading is that of the section at `node` still
/// has the old title of the heading.
fn marker_with(
    document: &OpenDocument,
    file: &[u8],
    node: usize,
    old: &str,
    new: Option<&str>,
) -> Option<Warning> {
    let new = new.filter(|new| *new != old)?;
    let index = document.markup.innermost_at(document.tree.node(node)?.bytes.start)?;
    let marked = document.markup.sections.get(index).filter(|marked| marked.title == old)?;
    if first_heading(document, marked) != Some(node) {
        return None;
    }
    let message = message!(
        "the marker of ldmd:{} still has the title {}; {} changes it",
        document.markup.name(index),
        quoted(&old).to_string(),
        retitle(document, marked, file, new)
    );
    Some(Warning::new("MARKER_TITLE", message))
}

/// Returns a title without the number signs of its level, as `read` and `find` print headings.
fn without_marks<'a>(title: &'a str, level: u8, section: &ResolvedNode) -> Result<&'a str> {
    let Some((given, text)) = split_marks(title).filter(|(_, text)| !text.is_empty()) else {
        return Ok(title);
    };
    if given == usize::from(level) {
        return Ok(text);
    }
    let address = section.address();
    let message = format!(
        "{title} has level {given}, and {address} has level {level}",
        title = quoted(&title)
    );
    Err(Error::new(ErrorKind::Usage, message).with_hint(message!(
        "leave out the number signs, or replace the section with its heading: `mdsel replace {path} --no-keep-heading`",
        address
    )))
}

/// Returns a heading with another title.
fn with_title(heading: &[u8], title: &str) -> Vec<u8> {
    let text = text_of_heading(heading);
    let before = heading.get(..text.start).unwrap_or_default();
    let after = heading.get(text.end..).unwrap_or_default();
    // A heading without text may lack the blank after its marks.
    let blank: &[u8] = if text.is_empty() && before.ends_with(b"#") { b" " } else { b"" };
    let with = |title: &str| [before, blank, title.as_bytes(), after].concat();
    let new = with(title);
    if !title.ends_with('#') || text_of_heading(&new).len() == title.len() {
        return new;
    }
    // The number signs at the end would be the closing sequence of the heading.
    let words = title.trim_end_matches('#');
    with(&format!("{words}\\{}", title.get(words.len()..).unwrap_or_default()))
}

/// Returns the texts that a heading with the text `written` and the title `old` may have for the title `new`, if only a
/// part of the title differs and the text has code, emphasis or links.
fn styled(written: &str, old: &str, new: &str) -> Vec<String> {
    let is_mark = |scalar: char| "`*_~\\&<[".contains(scalar);
    if !written.contains(['`', '*', '_', '[', '<']) || new.contains(is_mark) {
        return Vec::new();
    }
    let (before, middle) = (common_words(old, new, false), common_words(old, new, true));
    let after = middle.min(old.len().min(new.len()) - before);
    let is_kept =
        |text: Option<&str>| text.is_some_and(|text| text.contains(char::is_alphanumeric));
    if !is_kept(old.get(..before)) && !is_kept(old.get(old.len() - after..)) {
        return Vec::new();
    }
    let part = |text: &'_ str| text.get(before..text.len() - after).unwrap_or_default().to_owned();
    let (old_part, new_part) = (part(old), part(new));
    match (old_part.is_empty(), before, after) {
        (true, 0, _) => vec![format!("{new_part}{written}")],
        (true, _, 0) => vec![format!("{written}{new_part}")],
        (true, ..) => Vec::new(),
        (false, ..) => {
            let places = written.match_indices(&old_part);
            let with = |(at, old): (usize, &str)| {
                let (start, rest) = written.split_at(at);
                format!("{start}{new_part}{}", rest.get(old.len()..).unwrap_or_default())
            };
            places.map(with).collect()
        }
    }
}

/// Returns the length in bytes of the words with which both texts begin, or end.
fn common_words(one: &str, other: &str, at_end: bool) -> usize {
    let (one, other): (Vec<char>, Vec<char>) = (one.chars().collect(), other.chars().collect());
    let at = |text: &[char], index: usize| {
        if at_end { text.iter().rev().nth(index).copied() } else { text.get(index).copied() }
    };
    let same = (0..).take_while(|index| {
        at(&one, *index).is_some_and(|scalar| Some(scalar) == at(&other, *index))
    });
    let mut count = same.count();
    // A word that differs in part differs.
    let is_within = |text: &[char], count: usize| {
        let is_word = |scalar: Option<char>| scalar.is_some_and(char::is_alphanumeric);
        count > 0 && is_word(at(text, count - 1)) && is_word(at(text, count))
    };
    while is_within(&one, count) || is_within(&other, count) {
        count -= 1;
    }
    (0..count).filter_map(|index| at(&one, index)).map(char::len_utf8).sum()
}

/// Returns the span of the text of a heading, ATX or setext, without marks and blanks around it.
fn text_of_heading(heading: &[u8]) -> ByteSpan {
    let is_blank = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\n' | b'\r');
    let count = |bytes: &mut dyn Iterator<Item = &u8>, is: &dyn Fn(&u8) -> bool| {
        bytes.take_while(|byte| is(byte)).count()
    };
    let mut start = count(&mut heading.iter(), &is_blank);
    let mut end = heading.len() - count(&mut heading.iter().rev(), &is_blank);
    let rest = |start: usize, end: usize| heading.get(start..end).unwrap_or_default();
    if rest(start, end).starts_with(b"#") {
        start += count(&mut rest(start, end).iter(), &|byte| *byte == b'#');
        start += count(&mut rest(start, end).iter(), &is_blank);
        // A closing sequence is not part of the text if a blank precedes it.
        let marks = count(&mut rest(start, end).iter().rev(), &|byte| *byte == b'#');
        let blanks = count(&mut rest(start, end - marks).iter().rev(), &is_blank);
        if blanks > 0 || start + marks == end {
            end -= marks + blanks;
        }
    } else {
        end -= count(&mut rest(start, end).iter().rev(), &|byte| matches!(byte, b'=' | b'-'));
        end -= count(&mut rest(start, end).iter().rev(), &is_blank);
    }
    ByteSpan::new(start, end.max(start))
}

/// Returns whether two outlines differ only in the title of the section at `node`.
fn is_same_structure(old: &Outline, new: &Outline, node: usize) -> bool {
    let kinds = |outline: &Outline| -> Vec<_> {
        outline.nodes.iter().map(|node| (node.kind, node.parent)).collect()
    };
    kinds(old) == kinds(new)
        && old.sections.len() == new.sections.len()
        && old.sections.iter().zip(&new.sections).all(|(old, new)| {
            let is_kept =
                if old.node == node { !new.title.is_empty() } else { old.title == new.title };
            old.level == new.level && is_kept
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_of_a_heading_is_without_its_marks() {
        for (heading, text) in [
            ("# a b\n", "a b"),
            ("  ##\ta #\r\n", "a"),
            ("## a#\n", "a#"),
            ("# #\n", ""),
            ("#\n", ""),
            ("### `a` ###", "`a`"),
            ("a\nb\n---\n", "a\nb"),
            ("a =\n===", "a ="),
        ] {
            let span = text_of_heading(heading.as_bytes());
            assert_eq!(&heading[span.start..span.end], text, "{heading:?}");
        }
    }
}
