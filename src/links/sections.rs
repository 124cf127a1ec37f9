//! Finds the section of an outline that a link names, by anchor or by headings.
//!
//! Invariant: if several sections match, the first one is found, as in browsers and in Obsidian.

use std::cell::RefCell;
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

/// The headings that a link names, and whether it is a wikilink.
type Question = (Vec<String>, bool);

/// The sections of a document by the keys of their titles: [`heading_key`].
#[derive(Debug)]
pub struct HeadingIndex {
    /// By the titles as they are.
    titles: TitleIndex,
    /// By the titles without the attributes at their ends, if one has attributes.
    shown: Option<TitleIndex>,
    /// The nodes that were looked for. Many links may name the same headings, and many sections may have one title.
    known: RefCell<HashMap<Question, Option<usize>>>,
}

impl HeadingIndex {
    /// Indexes the sections of `outline`.
    pub fn of(outline: &Outline) -> Self {
        let has_attributes = |section: &Section| section.title_shown() != section.title;
        let is_any = outline.sections.iter().any(has_attributes);
        Self {
            titles: TitleIndex::of(outline, |section| &section.title),
            shown: is_any.then(|| TitleIndex::of(outline, Section::title_shown)),
            known: RefCell::default(),
        }
    }

    /// Returns the node of the section of `outline`, which was indexed, whose heading is the last of `headings`, and
    /// which is below sections with the other headings, in order, as in `[[Note#Heading#Subheading]]`. All headings
    /// have the form of [`heading_key`]. If `is_wikilink` and no section has them, attributes at the end of a title
    /// need not be given.
    pub fn node(&self, outline: &Outline, headings: &[String], is_wikilink: bool) -> Option<usize> {
        *self.known.borrow_mut().entry((headings.to_vec(), is_wikilink)).or_insert_with(|| {
            let shown = self.shown.as_ref().filter(|_| is_wikilink);
            let found = self.titles.node(outline, headings);
            found.or_else(|| shown?.node(outline, headings))
        })
    }
}

/// The sections of a document by one form of their titles.
#[derive(Debug)]
struct TitleIndex {
    /// The number of each key.
    numbers: HashMap<String, usize>,
    /// The nodes of the sections with each key, by its number, in document order.
    nodes: Vec<Vec<usize>>,
    /// The number of the key of each section.
    of_sections: Vec<usize>,
}

impl TitleIndex {
    fn of(outline: &Outline, title: fn(&Section) -> &str) -> Self {
        let mut index =
            Self { numbers: HashMap::new(), nodes: Vec::new(), of_sections: Vec::new() };
        for section in &outline.sections {
            let new = index.nodes.len();
            let number = *index.numbers.entry(heading_key(title(section))).or_insert(new);
            if number == new {
                index.nodes.push(Vec::new());
            }
            index.nodes[number].push(section.node);
            index.of_sections.push(number);
        }
        index
    }

    fn node(&self, outline: &Outline, headings: &[String]) -> Option<usize> {
        let numbers: Option<Vec<usize>> =
            headings.iter().map(|heading| self.numbers.get(heading).copied()).collect();
        let numbers = numbers?;
        // Many sections may have one title, so the search begins with the rarest one, the last of several.
        let count = |at: &usize| self.with(numbers.get(*at).copied()).len();
        let rarest = (0..numbers.len()).rev().min_by_key(count)?;
        let (above, from) = numbers.split_at(rarest);
        let is_below_others = |node: usize| {
            let mut around = sections_around(outline, node).skip(1);
            above.iter().rev().all(|&number| around.any(|node| self.has(outline, node, number)))
        };
        let (&first, below) = from.split_first()?;
        let candidates = self.with(Some(first)).iter().copied();
        self.first_with(outline, candidates.filter(|&node| is_below_others(node)), below)
    }

    /// Returns the first of `nodes`, in document order, or the first section with the last of the titles `below` that is
    /// below one of them and below sections with the other titles, in order.
    fn first_with(
        &self,
        outline: &Outline,
        nodes: impl Iterator<Item = usize>,
        below: &[usize],
    ) -> Option<usize> {
        let mut nodes = nodes;
        let Some((&next, rest)) = below.split_first() else { return nodes.next() };
        let next = self.with(Some(next));
        // What is not below a section is not below those in it.
        let mut known = 0;
        nodes.find_map(|node| {
            let end = outline.nodes.get(node)?.bytes.end;
            let is_within = |index: &usize| {
                outline.nodes.get(*index).is_some_and(|inner| inner.bytes.start < end)
            };
            let from = next.partition_point(|inner| *inner <= node).max(known);
            let inner = next.get(from..).unwrap_or_default();
            let inner = inner.get(..inner.partition_point(is_within)).unwrap_or_default();
            known = from + inner.len();
            self.first_with(outline, inner.iter().copied(), rest)
        })
    }

    /// Returns the nodes of the sections whose key has this number.
    fn with(&self, number: Option<usize>) -> &[usize] {
        number.and_then(|number| self.nodes.get(number)).map_or(&[], Vec::as_slice)
    }

    /// Returns whether `node` is a section whose key has this number.
    fn has(&self, outline: &Outline, node: usize, number: usize) -> bool {
        match outline.nodes.get(node).map(|it| it.kind) {
            Some(NodeKind::Section(index)) => self.of_sections.get(index) == Some(&number),
            _ => false,
        }
    }
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
    use proptest::prelude::*;

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
        let heading = |name: &str| {
            let index = HeadingIndex::of(&outline);
            section(&outline, index.node(&outline, &[heading_key(name)], true)?)
        };
        let found = ["Bar", "C", "Foo", "Foo {#one}", "Set"].map(heading);
        // A heading with exactly this text is preferred.
        assert_eq!(found, [Some(1), Some(4), Some(2), Some(0), None]);
    }

    #[test]
    fn many_links_to_headings_take_time_in_proportion_to_their_number() {
        let count = 20_000;
        let text: String = (0..count).map(|number| format!("## A {number}\n")).collect();
        let equal = "## Same\n".repeat(count);
        let outline =
            crate::markdown::parse(format!("# T\n{text}# B\n{text}# C\n{equal}").as_bytes())
                .outline;
        crate::processor_time::within(10, "headings", || {
            let index = HeadingIndex::of(&outline);
            let find = |headings: &[&str]| {
                let headings: Vec<String> = headings.iter().map(|it| (*it).to_owned()).collect();
                index.node(&outline, &headings, true)
            };
            for number in 0..count {
                let [last, none] = [&*format!("a {number}"), &*format!("b {number}")];
                assert!(find(&["t", last]).is_some());
                assert!(find(&["b", last]).is_some_and(|found| find(&["t", last]) != Some(found)));
                for missing in [&[none][..], &["c", last], &[last, "same"], &["t", last, "same"]] {
                    assert_eq!(find(missing), None, "{missing:?}");
                }
            }
            assert!(find(&["c", "same"]).is_some());
        });
    }

    proptest! {
        #[test]
        fn the_first_section_below_the_others_is_found(
            sections in prop::collection::vec((1_usize..5, "[abc]"), 0..12),
            headings in prop::collection::vec("[abc]", 1..5),
        ) {
            let line = |(level, title): &(usize, String)| format!("{} {title}\n", "#".repeat(*level));
            let text: String = sections.iter().map(line).collect();
            let outline = crate::markdown::parse(text.as_bytes()).outline;
            let title = |node: usize| {
                outline.sections.iter().find(|section| section.node == node).map(|it| &it.title)
            };
            let (last, above) = headings.split_last().unwrap();
            let is_named = |node: &usize| {
                let mut around = sections_around(&outline, *node).skip(1);
                title(*node) == Some(last)
                    && above.iter().rev().all(|name| around.any(|node| title(node) == Some(name)))
            };
            let expected = outline.sections.iter().map(|section| section.node).find(is_named);
            let found = HeadingIndex::of(&outline).node(&outline, &headings, true);
            prop_assert_eq!(found, expected, "{} {:?}", text, headings);
        }
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
            let index = HeadingIndex::of(&document.outline);
            let node = index.node(&document.outline, &keys, false);
            let found = node.and_then(|node| section(&document.outline, node));
            assert_eq!(found, expected, "{headings:?}");
        }
    }
}
