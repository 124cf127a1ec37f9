//! Lookup keys for finding the titles of all documents.
//!
//! Invariant: if the comparable form of a title or path part of a section, or of the title in front matter, contains that
//! of a text, the keys of its document contain the needle of that text. The reverse is not guaranteed. The caller
//! verifies each result with the outline.

use crate::markdown::outline::Outline;
use crate::markdown::slug::comparable;

/// Returns the form in which keys are stored and searched: comparable, with hyphens instead of
/// spaces. In this form the slug of most titles equals the key of the title.
pub(crate) fn needle(text: &str) -> String {
    comparable(text).replace(' ', "-")
}

/// Returns the keys of all sections. Each is a line feed and the needle of the title, then a tab and
/// the needle of the path part, and a tab and the title as it is written, where they differ from the
/// title. Anchors of headings in lists and block quotes are stored like titles, and so is `title`, the one in the front
/// matter, unless a section has it.
pub(crate) fn of(outline: &Outline, title: Option<&str>) -> String {
    let mut keys = String::new();
    for section in &outline.sections {
        let title = needle(&section.title);
        keys.push('\n');
        keys.push_str(&title);
        let others = [section.path_part(), section.written.clone()];
        for other in others.into_iter().flatten().map(|other| needle(&other)) {
            if other != title {
                keys.push('\t');
                keys.push_str(&other);
            }
        }
    }
    for contained in &outline.contained_anchors {
        keys.push('\n');
        keys.push_str(&needle(&contained.anchor));
    }
    if let Some(title) = title.map(needle).filter(|title| !holds(&keys, title)) {
        keys.push('\n');
        keys.push_str(&title);
    }
    keys
}

/// Returns each of `keys`.
pub(crate) fn each(keys: &str) -> impl Iterator<Item = &str> {
    keys.split(['\n', '\t']).skip(1)
}

/// Whether one of `keys` is `needle`.
pub(crate) fn holds(keys: &str, needle: &str) -> bool {
    each(keys).any(|key| key == needle)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_section_is_held_by_its_title_its_path_part_and_as_it_is_written() {
        let text = "# The **Title**\n\n## Notes\n\n## Notes\n\n> # Quoted\n";
        let outline = crate::markdown::parse(text.as_bytes()).outline;
        assert_eq!(of(&outline, Some("Notes")), of(&outline, None));
        let keys = of(&outline, Some("A page"));
        for key in ["The Title", "The **Title**", "notes", "notes-1", "quoted", "a page"] {
            assert!(holds(&keys, &needle(key)), "{key}: {keys:?}");
        }
        for key in ["title", "note", "notes-2", "the", ""] {
            assert!(!holds(&keys, &needle(key)), "{key}: {keys:?}");
        }
    }
}
