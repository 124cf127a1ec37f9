//! Summaries: the paragraph that describes a document or a section.
//!
//! Invariant: a summary is text of the document; nothing is generated. It is one paragraph, or the
//! `summary` in front matter.

use serde_json::{Map, Value};

use super::page::shorten;
use super::resolved_node::{ResolvedNode, Target};
use super::session::Session;
use crate::address::{StepKind, StepScope, Tree};
use crate::error::Result;
use crate::limits;
use crate::markdown::outline::{BlockType, Section};
use crate::markdown::shows_text;
use crate::position::ByteSpan;

/// Returns the paragraph that summarizes `scope`: the first one directly in a section titled "Summary",
/// preferably of level 2, or else the first one in `scope`. Paragraphs in containers are not considered.
///
/// A paragraph counts only if `shows_text` returns true for it.
pub fn paragraph(
    tree: &Tree,
    scope: StepScope,
    mut shows_text: impl FnMut(ByteSpan) -> Result<bool>,
) -> Result<Option<ByteSpan>> {
    let sections: Vec<&Section> = match scope {
        StepScope::Document | StepScope::Nodes(..) => tree.outline().sections.iter().collect(),
        StepScope::Node(node) => tree.sections_within(node).collect(),
    };
    let is_summary = |section: &&&Section| section.title.trim().eq_ignore_ascii_case("summary");
    let summary = sections
        .iter()
        .filter(is_summary)
        .find(|section| section.level == 2)
        .or_else(|| sections.iter().find(is_summary));
    let paragraphs = |scope| tree.matches(scope, StepKind::Block(BlockType::Paragraph));
    let span = |node: usize| tree.node(node).map(|node| node.bytes);
    let mut first = |scope, end: usize| -> Result<Option<ByteSpan>> {
        let spans = paragraphs(scope).into_iter().filter_map(span);
        for span in spans.take_while(|span| span.end <= end).take(limits::MAX_SUMMARY_PARAGRAPHS) {
            if shows_text(span)? {
                return Ok(Some(span));
            }
        }
        Ok(None)
    };
    if let Some(section) = summary
        && let Some(found) = first(StepScope::Node(section.node), section.own_end)?
    {
        return Ok(Some(found));
    }
    first(scope, usize::MAX)
}

impl Session<'_> {
    /// Returns the summary of a place on one line. For a document this is the `summary` in front matter,
    /// if any, or else a paragraph.
    pub fn summary(
        &self,
        place: &ResolvedNode,
        front_matter: Option<&Map<String, Value>>,
    ) -> Result<Option<String>> {
        let tree = &place.document.tree;
        let scope = match place.target {
            Target::Document => {
                let written = front_matter.and_then(|values| text_of(values.get("summary")?));
                if written.is_some() {
                    return Ok(written);
                }
                StepScope::Document
            }
            Target::Node(node) => StepScope::Node(node),
            Target::FrontMatter | Target::Ldmd(_) | Target::Cells(_) => return Ok(None),
        };
        let mut text = None;
        paragraph(tree, scope, |span| {
            let bytes = self.content(&place.document, span)?;
            text =
                Some(String::from_utf8_lossy(&bytes).into_owned()).filter(|text| shows_text(text));
            Ok(text.is_some())
        })?;
        Ok(text.map(|text| on_one_line(&text)))
    }
}

/// Returns the text of a string, or the joined strings of a list, in front matter.
fn text_of(value: &Value) -> Option<String> {
    let text = match value {
        Value::String(text) => on_one_line(text),
        Value::Array(list) => {
            on_one_line(&list.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" "))
        }
        _ => return None,
    };
    (!text.is_empty()).then_some(text)
}

/// Returns a summary on one line. It is cut if it is longer than the limit: it may have data of any length in it.
fn on_one_line(text: &str) -> String {
    let mut line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    shorten(&mut line, limits::MAX_SUMMARY_CHARS);
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    fn summary(text: &str) -> Option<&str> {
        let tree = Tree::new(crate::markdown::parse(text.as_bytes()).outline);
        let shows = |span: ByteSpan| Ok(shows_text(&text[span.start..span.end]));
        let span = paragraph(&tree, StepScope::Document, shows).unwrap();
        span.map(|span| &text[span.start..span.end])
    }

    #[test]
    fn a_section_titled_summary_takes_precedence_over_the_first_paragraph() {
        assert_eq!(summary("# A\n\none\n\n## summary\n\ntwo\n"), Some("two\n"));
        assert_eq!(summary("# Summary\n\none\n\n## Summary\n\ntwo\n"), Some("two\n"));
        assert_eq!(summary("# A\n\none\n\n## Summary of things\n\ntwo\n"), Some("one\n"));
        assert_eq!(summary("# A\n\none\n\n## Summary\n\n### Deep\n\ntwo\n"), Some("one\n"));
        assert_eq!(summary("```\n## Summary\n\ntwo\n```\n\none\n"), Some("one\n"));
    }

    #[test]
    fn blocks_other_than_paragraphs_are_not_summaries() {
        assert_eq!(summary("# A\n\n- item\n\n> quote\n\n```\ncode\n```\n"), None);
        assert_eq!(summary(""), None);
        assert_eq!(summary("<a id=\"x\"></a>\n\n[![b](c)](d)\n"), None);
    }

    #[test]
    fn a_paragraph_without_text_is_skipped() {
        let text = "<a id=\"x\"></a>\n\n# A\n\n[![b](c)](d)\n\ntext\n";
        assert_eq!(summary(text), Some("text\n"));
        let text = "one\n\n## Summary\n\n<a id=\"x\"></a>\n\n### Deep\n\ntwo\n";
        assert_eq!(summary(text), Some("one\n"));
    }
}
