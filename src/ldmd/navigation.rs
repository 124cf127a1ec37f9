//! Navigation between the sections of a document: by id, to parents, children and siblings.
//!
//! Invariant: everything is computed from the section table, whose opening order and parents are
//! enough. An index without a section has no neighbors.

use super::{LdmdSection, Markup};

/// The sections around one section, as indexes into [`Markup::sections`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SectionNeighbors {
    /// The sibling before it, which is a section with the same parent.
    pub previous: Option<usize>,
    /// The sibling after it.
    pub next: Option<usize>,
    /// The section around it.
    pub parent: Option<usize>,
    /// The sections directly inside of it.
    pub children: Vec<usize>,
    /// The section that opens before it, at any depth.
    pub previous_in_order: Option<usize>,
    /// The section that opens after it, at any depth.
    pub next_in_order: Option<usize>,
}

impl Markup {
    /// Returns the section with this id. For `id@LINE`, returns the section with this id whose
    /// BEGIN is on that line (1-based); otherwise the first section whose id is exactly `id`.
    ///
    /// The error contains the sections that may have been meant: those with the right id if none of
    /// them begins on LINE, else none.
    pub fn named(&self, id: &str) -> Result<usize, Vec<usize>> {
        let numbered =
            id.rsplit_once('@').and_then(|(id, line)| Some((id, line.parse::<usize>().ok()?)));
        let at_line = numbered.and_then(|(id, line)| self.at_line(id, line));
        at_line.or_else(|| self.sections.iter().position(|section| section.id == id)).ok_or_else(
            || {
                let is_meant =
                    |section: &LdmdSection| numbered.is_some_and(|it| it.0 == section.id);
                let sections = self.sections.iter().enumerate();
                sections.filter(|(_, it)| is_meant(it)).map(|(index, _)| index).collect()
            },
        )
    }

    /// Returns the section with this id whose BEGIN is on `line`, 1-based.
    fn at_line(&self, id: &str, line: usize) -> Option<usize> {
        let index = self.sections.partition_point(|section| section.lines.start < line);
        let section = self.sections.get(index)?;
        (section.lines.start == line && section.id == id).then_some(index)
    }

    /// Returns the name with which [`Markup::named`] finds `section`: its id, or `id@LINE` if the
    /// id alone finds another section.
    pub fn name(&self, section: usize) -> String {
        self.sections.get(section).map_or_else(String::new, |found| {
            let LdmdSection { id, lines, .. } = found;
            // The id alone finds the first section that has it, unless it is `id@LINE` of another one.
            let numbered = id.rsplit_once('@');
            let other = numbered.and_then(|(id, line)| self.at_line(id, line.parse().ok()?));
            if found.is_duplicate || other.is_some_and(|other| other != section) {
                format!("{id}@{}", lines.start)
            } else {
                id.clone()
            }
        })
    }

    /// Returns the sections inside of `section`, at any depth, in opening order.
    pub(crate) fn nested(&self, section: usize) -> impl Iterator<Item = (usize, &LdmdSection)> {
        let end = self.sections.get(section).map_or(0, |section| section.span.end);
        let after = self.sections.iter().enumerate().skip(section.saturating_add(1));
        after.take_while(move |(_, nested)| nested.span.start < end)
    }

    /// Returns the sections directly inside of `section`. Time is linear in the number of all
    /// sections inside of it.
    pub fn children(&self, section: usize) -> impl Iterator<Item = usize> {
        self.nested(section)
            .filter(move |(_, nested)| nested.parent == Some(section))
            .map(|(index, _)| index)
    }

    /// Returns the sections around `section`, outermost first.
    pub fn ancestors(&self, section: usize) -> Vec<usize> {
        let parent = |&index: &usize| self.sections.get(index).and_then(|section| section.parent);
        let mut ancestors: Vec<usize> =
            std::iter::successors(parent(&section), |index| parent(index)).collect();
        ancestors.reverse();
        ancestors
    }

    /// Returns the neighbors of `section`. Time is linear in the number of sections.
    pub fn neighbors(&self, section: usize) -> SectionNeighbors {
        let Some(here) = self.sections.get(section) else { return SectionNeighbors::default() };
        let sibling = |(index, other): (usize, &LdmdSection)| {
            (other.parent == here.parent && index != section).then_some(index)
        };
        let mut before = self.sections.iter().enumerate().take(section).rev();
        let mut after = self.sections.iter().enumerate().skip(section + 1);
        SectionNeighbors {
            previous: before.find_map(sibling),
            next: after.find_map(sibling),
            parent: here.parent,
            children: self.children(section).collect(),
            previous_in_order: section.checked_sub(1),
            next_in_order: Some(section + 1).filter(|&next| next < self.sections.len()),
        }
    }

    /// Returns the deepest section whose span contains the byte at `offset`. Marker lines belong to
    /// their section.
    pub fn innermost_at(&self, offset: usize) -> Option<usize> {
        let opened = self.sections.partition_point(|section| section.span.start <= offset);
        let mut candidate = opened.checked_sub(1);
        while let Some(section) = candidate.and_then(|index| self.sections.get(index)) {
            if offset < section.span.end {
                return candidate;
            }
            candidate = section.parent;
        }
        None
    }

    /// Returns whether `section` is collapsed at first. Its `collapsed` attribute decides. By
    /// default all sections are collapsed, except summaries (`*_tldr`) and top-level sections
    /// without children.
    pub fn is_collapsed(&self, section: usize) -> bool {
        let Some(here) = self.sections.get(section) else { return false };
        here.declared_collapsed.unwrap_or_else(|| {
            let child = self.sections.get(section + 1);
            let has_children = child.is_some_and(|child| child.parent == Some(section));
            !here.id.ends_with("_tldr") && (here.depth > 0 || has_children)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::FLAT;
    use super::super::{Markup, parse};
    use crate::processor_time::within;

    const DOCUMENT: &str = "<!--LDMD:BEGIN id=\"run_meta\"-->
<!--LDMD:END id=\"run_meta\"-->
text
<!--LDMD:BEGIN id=\"findings\"-->
<!--LDMD:BEGIN id=\"findings_tldr\"-->
<!--LDMD:END id=\"findings_tldr\"-->
<!--LDMD:BEGIN id=\"body\"-->
<!--LDMD:BEGIN id=\"deep\"-->
<!--LDMD:END id=\"deep\"-->
<!--LDMD:END id=\"body\"-->
<!--LDMD:END id=\"findings\"-->
<!--LDMD:BEGIN id=\"body\" collapsed=\"true\"-->
<!--LDMD:END id=\"body\"-->
<!--LDMD:BEGIN id=\"body@7\" collapsed=\"no\"-->
<!--LDMD:END id=\"body@7\"-->
";

    fn markup() -> Markup {
        parse(DOCUMENT.as_bytes(), &[])
    }

    #[test]
    fn sections_are_found_by_id_and_line() {
        let markup = markup();
        for (id, expected) in [
            ("findings", Ok(1)),
            ("body", Ok(3)),
            ("body@12", Ok(5)),
            ("body@7", Ok(3)),
            ("body@7@14", Ok(6)),
            ("run_meta@1", Ok(0)),
            ("body@8", Err(vec![3, 5])),
            ("body@", Err(vec![])),
            ("none", Err(vec![])),
            ("none@7", Err(vec![])),
            ("", Err(vec![])),
        ] {
            assert_eq!(markup.named(id), expected, "{id}");
        }
        let names: Vec<String> = (0..8).map(|index| markup.name(index)).collect();
        let expected =
            ["run_meta", "findings", "findings_tldr", "body", "deep", "body@12", "body@7@14", ""];
        assert_eq!(names, expected);
    }

    #[test]
    fn the_names_of_many_sections_take_linear_time() {
        let section =
            |at: usize| format!("<!--LDMD:BEGIN id=\"s@{at}\"-->\n<!--LDMD:END id=\"s@{at}\"-->\n");
        let text: String = (0..FLAT).map(section).collect();
        let markup = parse(text.as_bytes(), &[]);
        let names = within(5, "names", || {
            (0..markup.sections.len()).map(|index| markup.name(index)).collect::<Vec<_>>()
        });
        assert_eq!(names[0], "s@0");
        assert_eq!(markup.named(&names[FLAT - 1]), Ok(FLAT - 1));
    }

    #[test]
    fn neighbors_are_relatives_and_sections_in_opening_order() {
        let markup = markup();
        let around = |section| {
            let near = markup.neighbors(section);
            let order = (near.previous_in_order, near.next_in_order);
            (near.previous, near.next, near.parent, near.children, order)
        };
        assert_eq!(around(0), (None, Some(1), None, vec![], (None, Some(1))));
        assert_eq!(around(1), (Some(0), Some(5), None, vec![2, 3], (Some(0), Some(2))));
        assert_eq!(around(3), (Some(2), None, Some(1), vec![4], (Some(2), Some(4))));
        assert_eq!(around(6), (Some(5), None, None, vec![], (Some(5), None)));
        assert_eq!(around(7), (None, None, None, vec![], (None, None)));
    }

    #[test]
    fn ancestors_and_innermost_sections_are_found() {
        let markup = markup();
        assert_eq!(markup.ancestors(4), [1, 3]);
        assert!(markup.ancestors(0).is_empty());
        assert!(markup.ancestors(9).is_empty());
        for (text, expected) in [
            ("<!--LDMD:BEGIN id=\"run_meta\"", Some(0)),
            ("text", None),
            ("<!--LDMD:END id=\"findings\"", Some(1)),
            ("<!--LDMD:END id=\"deep\"", Some(4)),
            ("<!--LDMD:END id=\"body\"", Some(3)),
        ] {
            let offset = DOCUMENT.find(text).unwrap();
            assert_eq!(markup.innermost_at(offset), expected, "{text}");
        }
        assert_eq!(markup.innermost_at(DOCUMENT.len()), None);
        assert_eq!(markup.innermost_at(DOCUMENT.len() - 1), Some(6));
    }

    #[test]
    fn summaries_and_top_level_sections_without_children_are_expanded() {
        let markup = markup();
        let collapsed: Vec<bool> = (0..8).map(|index| markup.is_collapsed(index)).collect();
        assert_eq!(collapsed, [false, true, false, true, true, true, false, false]);
    }
}
