//! Finds the section of an outline that a link names, by anchor or by headings.
//!
//! Invariant: if several sections match, the first one is found, as in browsers and in Obsidian.

use std::collections::HashMap;
use std::iter::successors;

use crate::markdown::html_anchors::HtmlAnchor;
use crate::markdown::outline::{NodeKind, Outline, Section};
use crate::markdown::slug::{comparable, fold};

/// The nodes of a document that anchors name, by anchor in the form of [`comparable`].
#[derive(Clone, Debug, Default)]
pub struct AnchorIndex(HashMap<String, usize>);

impl AnchorIndex {
    /// Indexes the anchors of headings, then the ids in their titles. The anchor of a heading in a list or block quote
    /// names the section around it.
    pub fn of_headings(outline: &Outline) -> Self {
        let mut index = Self::default();
        for section in &outline.sections {
            if let Some(anchor) = section.anchor() {
                index.add(&anchor, section.node);
            }
        }
        for contained in &outline.contained_anchors {
            let around = sections_around(outline, contained.node).next();
            index.add(&contained.anchor, around.unwrap_or(0));
        }
        for section in &outline.sections {
            if let Some(id) = section.id_in_title() {
                index.add(id, section.node);
            }
        }
        index
    }

    /// Indexes anchors in HTML.
    pub fn of_html(anchors: &[HtmlAnchor]) -> Self {
        let mut index = Self::default();
        for anchor in anchors {
            index.add(&anchor.name, anchor.node);
        }
        index
    }

    /// Adds an anchor, unless an earlier one is equal.
    fn add(&mut self, anchor: &str, node: usize) {
        self.0.entry(comparable(anchor)).or_insert(node);
    }

    /// Returns the node that `anchor`, in the form of [`comparable`], names.
    pub fn node(&self, anchor: &str) -> Option<usize> {
        self.0.get(anchor).copied()
    }
}

/// Returns the node of the section whose heading is the last of `headings`, and which is below
/// sections with the other headings, in order, as in `[[Note#Heading#Subheading]]`. All headings
/// have the form of [`heading_key`]. If `is_wikilink` and no section has them, attributes at the end of a title need not be
/// given.
pub fn by_headings(outline: &Outline, headings: &[String], is_wikilink: bool) -> Option<usize> {
    let titled = |title: fn(&Section) -> &str| {
        let keys: Vec<String> = outline.sections.iter().map(|s| heading_key(title(s))).collect();
        by_keys(outline, &keys, headings)
    };
    let has_attributes = |section: &Section| section.title_shown() != section.title;
    titled(|section| &section.title).or_else(|| {
        let is_any = is_wikilink && outline.sections.iter().any(has_attributes);
        is_any.then(|| titled(Section::title_shown)).flatten()
    })
}

/// Works like [`by_headings`] for sections whose titles have these `keys`.
fn by_keys(outline: &Outline, keys: &[String], headings: &[String]) -> Option<usize> {
    let (last, above) = headings.split_last()?;
    let has_title = |node: usize, heading: &String| match outline.nodes.get(node)?.kind {
        NodeKind::Section(index) => keys.get(index).filter(|key| *key == heading),
        _ => None,
    };
    outline.sections.iter().map(|section| section.node).find(|&node| {
        let mut around = sections_around(outline, node);
        around.next().is_some_and(|node| has_title(node, last).is_some())
            && above.iter().rev().all(|h| around.any(|node| has_title(node, h).is_some()))
    })
}

/// Returns the nodes of the sections that contain `node`, innermost first, including `node` itself.
fn sections_around(outline: &Outline, node: usize) -> impl Iterator<Item = usize> {
    let node_at = |index: &usize| outline.nodes.get(*index);
    successors(Some(node), move |node| node_at(node)?.parent)
        .filter(move |node| node_at(node).is_some_and(|n| matches!(n.kind, NodeKind::Section(_))))
}

/// Returns the form in which Obsidian compares headings. Punctuation that a link cannot contain,
/// and most other punctuation, counts as a blank. Runs of blanks count as one, and case is ignored.
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

    const TEXT: &str = "- # First\n\n<a id=\"Top\">x</a>\n\n# A\n\n\
        ## Set up: x\n\n> ## Quoted\n\n# B\n\n### Set up (x)\n\n## Ünï ⚙\u{FE0F}\n";

    /// Returns the index of the section of a node, if the node is a section.
    fn section(outline: &Outline, node: usize) -> Option<usize> {
        outline.sections.iter().position(|section| section.node == node)
    }

    #[test]
    fn anchors_are_found_in_any_case_and_unicode_form() {
        let document = crate::markdown::parse(TEXT.as_bytes());
        for (anchor, expected) in [
            ("set-up-x", Some(Some(1))),
            ("Set-Up-x-1", Some(Some(3))),
            ("quoted", Some(Some(1))),
            ("first", Some(None)),
            ("top", Some(None)),
            ("u\u{308}nï-", Some(Some(4))),
            ("set", None),
            ("", None),
        ] {
            let anchor = comparable(anchor);
            let headings = AnchorIndex::of_headings(&document.outline).node(&anchor);
            let html = || AnchorIndex::of_html(&document.html_anchors).node(&anchor);
            let node = headings.or_else(html);
            let found = node.map(|node| section(&document.outline, node));
            assert_eq!(found, expected, "{anchor}");
        }
    }

    #[test]
    fn attributes_of_a_heading_name_it_and_are_no_part_of_its_title() {
        let text =
            "## Foo {#one}\n\n## Bar {: #two .x }\n\n## Foo\n\n## Set {a, b}\n\n## C {.x #y}\n";
        let outline = crate::markdown::parse(text.as_bytes()).outline;
        let index = AnchorIndex::of_headings(&outline);
        let anchor = |name: &str| section(&outline, index.node(name)?);
        assert_eq!(["one", "two", "y", "x"].map(anchor), [Some(0), Some(1), Some(4), None]);
        let heading =
            |name: &str| section(&outline, by_headings(&outline, &[heading_key(name)], true)?);
        let found = ["Bar", "C", "Foo", "Foo {#one}", "Set"].map(heading);
        // A heading with exactly this text is preferred.
        assert_eq!(found, [Some(1), Some(4), Some(2), Some(0), None]);
    }

    #[test]
    fn headings_are_found_below_other_headings() {
        let document = crate::markdown::parse(TEXT.as_bytes());
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
            let node = by_headings(&document.outline, &keys, false);
            let found = node.and_then(|node| section(&document.outline, node));
            assert_eq!(found, expected, "{headings:?}");
        }
    }
}
