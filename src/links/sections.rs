//! Sections of an outline as links name them: by anchor, or by headings.
//!
//! Invariant: of several sections that a name fits the first is found, as browsers and Obsidian do.

use std::iter::successors;

use crate::markdown::outline::{NodeKind, Outline};
use crate::markdown::slug::{comparable, fold};

/// The section whose anchor compares as `anchor`, which is in the form of [`comparable`]; for a
/// heading in a list or block quote the section that holds it.
pub fn by_anchor(outline: &Outline, anchor: &str) -> Option<usize> {
    let is_it = |other: &str| comparable(other) == anchor;
    outline
        .sections
        .iter()
        .position(|section| section.anchor().is_some_and(|other| is_it(&other)))
        .or_else(|| {
            let contained = outline.contained_anchors.iter().find(|c| is_it(&c.anchor))?;
            enclosing(outline, contained.node).next()
        })
}

/// The section whose heading is the last of `headings` and that lies below sections with the other
/// headings, in order, as in `[[Note#Heading#Subheading]]`; all in the form of [`heading_key`].
pub fn by_headings(outline: &Outline, headings: &[String]) -> Option<usize> {
    let (last, above) = headings.split_last()?;
    let has_title = |index: usize, heading: &String| {
        outline.sections.get(index).is_some_and(|section| heading_key(&section.title) == *heading)
    };
    (0..outline.sections.len()).find(|&index| {
        let Some(section) = outline.sections.get(index) else { return false };
        let mut ancestors = enclosing(outline, section.node).skip(1);
        has_title(index, last)
            && above.iter().rev().all(|heading| ancestors.any(|index| has_title(index, heading)))
    })
}

/// The sections that hold `node`, innermost first, itself included.
fn enclosing(outline: &Outline, node: usize) -> impl Iterator<Item = usize> {
    successors(outline.nodes.get(node), |node| outline.nodes.get(node.parent?)).filter_map(|node| {
        match node.kind {
            NodeKind::Section(index) => Some(index),
            _ => None,
        }
    })
}

/// The form in which Obsidian compares headings: the punctuation that a link cannot hold, and more of
/// its kind, counts as a blank; runs of blanks count as one; case does not count.
pub fn heading_key(heading: &str) -> String {
    let is_blank = |scalar: char| {
        scalar.is_whitespace() || (scalar.is_ascii_punctuation() && !"'-_".contains(scalar))
    };
    let words: Vec<&str> = heading.split(is_blank).filter(|word| !word.is_empty()).collect();
    fold(&words.join(" ")).replace('\u{FE0F}', "")
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str =
        "# A\n\n## Set up: x\n\n> ## Quoted\n\n# B\n\n### Set up (x)\n\n## Ünï ⚙\u{FE0F}\n";

    fn outline() -> Outline {
        crate::markdown::parse(TEXT.as_bytes()).outline
    }

    #[test]
    fn anchors_are_found_in_whatever_case_and_form() {
        for (anchor, expected) in [
            ("set-up-x", Some(1)),
            ("Set-Up-x-1", Some(3)),
            ("quoted", Some(1)),
            ("u\u{308}nï-", Some(4)),
            ("set", None),
            ("", None),
        ] {
            assert_eq!(by_anchor(&outline(), &comparable(anchor)), expected, "{anchor}");
        }
    }

    #[test]
    fn headings_are_found_below_others() {
        for (headings, expected) in [
            (&["Set up x"][..], Some(1)),
            (&["set up: X"], Some(1)),
            (&["B", "Set up x"], Some(3)),
            (&["A", "B"], None),
            (&["C", "Set up x"], None),
            (&["Ünï ⚙"], Some(4)),
            (&[], None),
        ] {
            let keys: Vec<_> = headings.iter().map(|heading| heading_key(heading)).collect();
            assert_eq!(by_headings(&outline(), &keys), expected, "{headings:?}");
        }
    }
}
