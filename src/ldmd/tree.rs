//! Builds the tree of closed sections.
//!
//! Invariant: a section inside of an unclosed section moves to the nearest closed section around
//! it. Nesting alone decides the parents; an attribute that disagrees is a problem.

use std::collections::HashMap;

use super::fault::{Faults, quoted};
use super::{FaultKind, LdmdSection, Markup};
use crate::limits::MAX_LDMD_SECTIONS;
use crate::position::ByteSpan;

/// A section whose BEGIN has been read.
pub(super) struct Begun {
    /// The section; until it is closed, `span` is the line of its BEGIN.
    pub(super) section: LdmdSection,
    /// The `level` attribute, if any.
    pub(super) level: Option<u32>,
    /// The open section around it, as an index into the sections begun.
    pub(super) enclosing: Option<usize>,
    /// Whether its END has been read.
    pub(super) is_closed: bool,
}

/// Adds the closed sections to `markup`, with their parents and depths. Returns their `level`
/// attributes.
pub(super) fn build_tree(
    begun: Vec<Begun>,
    markup: &mut Markup,
    faults: &mut Faults,
) -> Vec<Option<u32>> {
    let mut levels = Vec::new();
    let mut first_dropped = None;
    // For each begun section, itself or the nearest section around it that is kept.
    let mut kept: Vec<Option<usize>> = Vec::with_capacity(begun.len());
    let mut begun_ids: HashMap<String, usize> = HashMap::with_capacity(begun.len());
    for Begun { mut section, level, enclosing, is_closed } in begun {
        let line = section.lines.start;
        let first = *begun_ids.entry(section.id.clone()).or_insert(line);
        if first != line {
            let message = format!("section {} begins on line {first}, too", quoted(&section.id));
            faults.add(FaultKind::DuplicateId, line, message);
        }
        let parent = enclosing.and_then(|index| kept.get(index).copied().flatten());
        if is_closed && markup.sections.len() < MAX_LDMD_SECTIONS {
            kept.push(Some(markup.sections.len()));
            section.parent = parent;
            let around = parent.and_then(|index| markup.sections.get(index));
            section.depth = around.map_or(0, |around| around.depth + 1);
            markup.sections.push(section);
            levels.push(level);
            continue;
        }
        kept.push(parent);
        markup.strays.push(ByteSpan::new(section.span.start, section.content.start));
        if is_closed {
            markup.strays.push(ByteSpan::new(section.content.end, section.span.end));
            first_dropped.get_or_insert(section.lines.start);
        }
    }
    if let Some(line) = first_dropped {
        let message = format!("only {MAX_LDMD_SECTIONS} sections are kept");
        faults.add(FaultKind::TooManySections, line, message);
    }
    levels
}

/// Marks duplicate ids, and reports attributes that disagree with the nesting.
pub(super) fn verify(sections: &mut [LdmdSection], levels: &[Option<u32>], faults: &mut Faults) {
    let mut first_lines: HashMap<String, usize> = HashMap::with_capacity(sections.len());
    for section in sections.iter_mut() {
        let line = section.lines.start;
        let first = *first_lines.entry(section.id.clone()).or_insert(line);
        section.is_duplicate = first != line;
    }
    for (section, level) in sections.iter().zip(levels) {
        let around = section.parent.and_then(|index| sections.get(index));
        let outer_level = section.parent.and_then(|index| levels.get(index).copied().flatten());
        if let (Some(level), Some(outer)) = (level, outer_level)
            && *level <= outer
        {
            let message = format!("level {level} is inside of level {outer}");
            faults.add(FaultKind::LevelMismatch, section.lines.start, message);
        }
        // The parent of an excerpt may be in another document.
        let is_elsewhere = |declared: &String| match around {
            Some(around) => around.id != *declared,
            None => first_lines.contains_key(declared),
        };
        if let Some(declared) =
            section.declared_parent.as_ref().filter(|parent| is_elsewhere(parent))
            && !is_part_of(&section.id, declared)
        {
            let outer = around.map_or_else(|| "no section".to_owned(), |around| quoted(&around.id));
            let message =
                format!("parent {} is declared, but {outer} is around it", quoted(declared));
            faults.add(FaultKind::ParentMismatch, section.lines.start, message);
        }
    }
}

/// Returns whether `id` is the summary or the body of `whole`, which may be outside of it (LDMD
/// paper, section "ID Scheme Convention").
fn is_part_of(id: &str, whole: &str) -> bool {
    matches!(id.strip_prefix(whole), Some("_tldr" | "_body"))
}

#[cfg(test)]
mod tests {
    use super::super::parse;
    use super::*;

    fn codes(markup: &Markup) -> Vec<(usize, &'static str)> {
        markup.faults.iter().map(|fault| (fault.line, fault.kind.code())).collect()
    }

    #[test]
    fn attributes_are_checked() {
        for (attributes, expected) in [
            ("level=\"2\" collapsed=\"false\" meta='{\"a\": [1]}' x=\"1\"", ""),
            ("meta=\"{&quot;a&quot;: 1}\"", ""),
            ("level=\"two\"", "INVALID_ATTRIBUTE"),
            ("level=\"+2\"", "INVALID_ATTRIBUTE"),
            ("level=\"99999999999\"", "INVALID_ATTRIBUTE"),
            ("collapsed=\"maybe\"", "INVALID_ATTRIBUTE"),
            ("title=\"a\" title=\"b\"", "INVALID_ATTRIBUTE"),
            ("meta='[1]'", "META_UNREADABLE"),
            ("meta='{'", "META_UNREADABLE"),
            ("level=\"1\"", "LEVEL_MISMATCH"),
            ("level=\"0\"", "LEVEL_MISMATCH"),
            ("parent=\"outer\"", ""),
            ("parent=\"\"", ""),
            ("parent=\"beside\"", "PARENT_MISMATCH"),
            ("parent=\"nowhere\"", "PARENT_MISMATCH"),
            ("parent=\"in\"", ""),
        ] {
            let text = format!(
                "<!--LDMD:BEGIN id=\"outer\" level=\"1\"-->\n\
                 <!--LDMD:BEGIN id=\"in_tldr\" {attributes}-->\n<!--LDMD:END id=\"in_tldr\"-->\n\
                 <!--LDMD:END id=\"outer\"-->\n\
                 <!--LDMD:BEGIN id=\"beside\"-->\n<!--LDMD:END id=\"beside\"-->\n"
            );
            let markup = parse(text.as_bytes(), &[]);
            let found: Vec<&str> = markup.faults.iter().map(|fault| fault.kind.code()).collect();
            assert_eq!(found.join(" "), expected, "{attributes}");
            assert_eq!(markup.sections.len(), 3);
        }
        let text = "<!--LDMD:BEGIN id=\"a\" collapsed=\"false\" meta='{\"a\": [1]}' x=\"1\" tags=\" a ,,b\"-->\n\
                    <!--LDMD:END id=\"a\"-->\n";
        let section = &parse(text.as_bytes(), &[]).sections[0];
        assert_eq!(section.meta.as_deref(), Some("{\"a\": [1]}"));
        assert_eq!(section.declared_collapsed, Some(false));
        assert_eq!(section.attributes, [("x".to_owned(), "1".to_owned())]);
        assert_eq!(section.tags, ["a", "b"]);
        let apart = "<!--LDMD:BEGIN id=\"p\"-->\n<!--LDMD:END id=\"p\"-->\n\
                     <!--LDMD:BEGIN id=\"p_body\" parent=\"p\"-->\n<!--LDMD:END id=\"p_body\"-->\n\
                     <!--LDMD:BEGIN id=\"q\" parent=\"p\"-->\n<!--LDMD:END id=\"q\"-->\n";
        assert_eq!(codes(&parse(apart.as_bytes(), &[])), [(5, "PARENT_MISMATCH")]);
    }
}
