//! Lookup keys for finding the titles of all documents.
//!
//! Invariant: if the comparable form of a title or path part of a section contains that of a text,
//! the keys of its document contain the needle of that text. The reverse is not guaranteed. The
//! caller verifies each result with the outline.

use crate::markdown::outline::Outline;
use crate::markdown::slug::comparable;

/// Returns the form in which keys are stored and searched: comparable, with hyphens instead of
/// spaces. In this form the slug of most titles equals the key of the title.
pub(super) fn needle(text: &str) -> String {
    comparable(text).replace(' ', "-")
}

/// Returns the keys of all sections. Each is a line feed and the needle of the title, followed by a
/// tab and the needle of the path part if the two differ. Anchors of headings in lists and block
/// quotes are stored like titles.
pub(super) fn of(outline: &Outline) -> String {
    let mut keys = String::new();
    for section in &outline.sections {
        let title = needle(&section.title);
        keys.push('\n');
        keys.push_str(&title);
        if let Some(part) =
            section.path_part().map(|part| needle(&part)).filter(|part| *part != title)
        {
            keys.push('\t');
            keys.push_str(&part);
        }
    }
    for contained in &outline.contained_anchors {
        keys.push('\n');
        keys.push_str(&needle(&contained.anchor));
    }
    keys
}
