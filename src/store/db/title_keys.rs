//! What the titles of a document are looked up by over the whole store.
//!
//! Invariant: where the comparable form of a section's title or path part contains that of a text,
//! the keys of its document contain the needle of that text. The opposite need not hold: who looks
//! something up verifies it on the outline.

use crate::markdown::outline::Outline;
use crate::markdown::slug::comparable;

/// The form in which keys are kept and sought: comparable, with hyphens for blanks, so that most
/// slugs are the key of their title.
pub(super) fn needle(text: &str) -> String {
    comparable(text).replace(' ', "-")
}

/// The keys of all sections: each a line end and the needle of the title, then a tab and the path
/// part where that is another text. Anchors of headings in containers stand there as titles do.
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
