//! Why an edit is refused.
//!
//! A refusal says what is wrong and which flag allows it. The caller adds the hint, which depends on the
//! command. Invariant: a refusal that no flag allows would leave a file that no user can have intended.

use super::Allow;
use crate::count::counted;
use crate::data::front_matter::KeyFault;
use crate::ldmd::MarkerProblem;
use crate::limits::{self, Limit};
use crate::visible::quoted;

/// A change outside the place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OutsideChange {
    /// The content would be parsed as part of the text around it.
    Content,
    /// A block would be parsed differently.
    Block,
    /// The title of a section would change.
    Title {
        /// The title before.
        from: String,
        /// The title afterwards.
        to: String,
    },
    /// A link would lose its target or get another one.
    Link {
        /// The target before.
        from: String,
        /// The target afterwards; `None` if the text would no longer be a link.
        to: Option<String>,
    },
    /// Text would become a link.
    NewLink {
        /// Its target.
        to: String,
    },
    /// A reference would lose its footnote or get another one, or text would become a reference.
    Footnote {
        /// The label, with its `^`.
        label: String,
        /// Whether the text was not a reference before the edit.
        is_new: bool,
    },
}

impl std::fmt::Display for OutsideChange {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Content => {
                formatter.write_str("the content would be parsed as part of the text around it")
            }
            Self::Block => formatter.write_str("the text would be parsed differently"),
            Self::Title { from, to } => write!(
                formatter,
                "the title {from} would become {to}",
                from = quoted(&from),
                to = quoted(&to)
            ),
            Self::Link { from, to: Some(to) } => {
                write!(
                    formatter,
                    "the link to {from} would lead to {to}",
                    from = quoted(&from),
                    to = quoted(&to)
                )
            }
            Self::Link { from, to: None } => {
                write!(
                    formatter,
                    "the link to {from} would no longer be a link",
                    from = quoted(&from)
                )
            }
            Self::NewLink { to } => {
                write!(formatter, "the text would become a link to {to}", to = quoted(&to))
            }
            Self::Footnote { label, is_new: true } => {
                write!(formatter, "the text [{label}] would refer to a footnote")
            }
            Self::Footnote { label, is_new: false } => {
                write!(formatter, "[{label}] would lose its footnote or refer to another one")
            }
        }
    }
}

/// A problem with the front matter that an edit would leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrontMatterProblem {
    /// The content begins with a delimiter and has no closing delimiter.
    NotClosed,
    /// The content has a delimiter in the middle.
    ClosedEarly,
    /// The content does not consist of keys with values.
    NotKeys,
    /// Text at the beginning of the file would be parsed as front matter.
    Appears,
    /// The existing front matter would no longer be parsed as front matter.
    Lost,
}

/// A reason to refuse an edit. Lines are 1-based lines of the old file unless a field says otherwise.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// The outline has no such node, or the document has no front matter.
    #[error("the document has no such place")]
    NoSuchPlace,
    /// The position does not exist for this kind of place, or the place cannot be deleted.
    #[error("the operation or position is not possible for this kind of place")]
    NoSuchPosition,
    /// The address names a part of a section, and the operation needs a whole section.
    #[error("the operation needs a whole section, and not a part of one")]
    NoSuchPart,
    /// The text of a place without what is nested in it is not one piece, or is to be deleted.
    #[error("the {place} and its nested {nested} cannot be edited apart")]
    NotApart {
        /// What the place is.
        place: &'static str,
        /// What is nested in it.
        nested: &'static str,
    },
    /// The block begins on the same line as the marker of its list item or block quote.
    #[error("the block begins in the middle of line {line}")]
    NotWholeLines {
        /// The line on which the block begins.
        line: usize,
    },
    /// The content has only blank lines.
    #[error("there is no content")]
    EmptyContent,
    /// The new file would not be accepted as Markdown.
    #[error("the content would make the file unreadable: {0}")]
    NotMarkdown(&'static str),
    /// The content has bytes that are not UTF-8, and the file has none.
    #[error("the content is not UTF-8, and the file is")]
    NotUtf8,
    /// The content of a cell or a row has a line end.
    #[error("the content of a cell or a row cannot have a line end")]
    LineEnd,
    /// A row has more cells than the header. GitHub Flavored Markdown ignores those after the last column.
    #[error("the row has {}, and the table has {}", counted(cells, "cell"), width(*columns))]
    TooManyCells {
        /// The number of cells.
        cells: usize,
        /// The number of columns of the table.
        columns: usize,
    },
    /// Content without pipes would be the first cell of a row, and the other cells would be empty.
    #[error("the row has no |, and the table has {}", width(*columns))]
    NotARow {
        /// The number of columns of the table.
        columns: usize,
    },
    /// The place is a code block, and the content has none.
    #[error("the place is a code block, and the content would be text")]
    NotCode,
    /// The content is rows without a delimiter row, for a table or beside one.
    #[error("the content would be a paragraph: it has rows of a table, and no delimiter row")]
    NotATable {
        /// Whether it would replace the table.
        is_replaced: bool,
    },
    /// The place is not a task.
    #[error("the {place} is not a task")]
    NotATask {
        /// What it is.
        place: &'static str,
    },
    /// A key of front matter cannot be changed without changing anything else.
    #[error("{0}")]
    NotInPlace(KeyFault),
    /// A code fence, comment or HTML block of the content is not closed.
    #[error(
        "line {line} of the content opens a code fence, comment or HTML block that is not closed"
    )]
    OpenFence {
        /// The 1-based line of the content.
        line: usize,
    },
    /// A part of the new version would not be parsed.
    #[error(
        "with the content, the document is longer than {0} allows, so the rest of it would not be parsed"
    )]
    TooLong(Limit),
    /// A block of the new file is not closed, and would include everything after it.
    #[error("the code fence, comment or HTML block at line {line} would not be closed")]
    LeavesOpen {
        /// Its first line in the new file.
        line: usize,
    },
    /// The text to replace is not in the place.
    #[error("the old text does not occur in the place")]
    NoSuchText,
    /// The text to replace is in the place more than once.
    #[error("the old text occurs more than once, on {}", on_lines(lines, *is_cut))]
    SeveralTexts {
        /// The first lines on which it begins.
        lines: Vec<usize>,
        /// Whether it also begins elsewhere.
        is_cut: bool,
    },
    /// The content lacks sections that the place has.
    #[error("the content would drop {}: {}", count(sections), list(sections))]
    WouldDrop {
        /// Their slug paths; `@LINE` for a section without one.
        sections: Vec<String>,
        /// Whether the target is one of them.
        is_itself: bool,
    },
    /// A heading of the content is not deep enough for the place.
    #[error("the heading {} of level {level} would leave the section", quoted(title))]
    WouldEscape {
        /// Its title.
        title: String,
        /// Its level.
        level: u8,
        /// The lowest level number that stays in the section; above 6 if no heading is allowed.
        least: u8,
        /// Whether it would replace the heading that is kept.
        is_title: bool,
    },
    /// The text after the place would belong to another section than before.
    #[error("the text from line {line} on would belong to another section")]
    WouldReparent {
        /// The first line of that text.
        line: usize,
    },
    /// The first heading is deeper than the target, and would belong to another section.
    #[error(
        "the first heading has level {level}, not {wanted}, and would belong to the section before it"
    )]
    WrongLevel {
        /// Its level.
        level: u8,
        /// The level of the target.
        wanted: u8,
    },
    /// Shifting the levels would give a heading a level outside 1 to 6, or change its title.
    #[error("the heading {} cannot be shifted to level {level}", quoted(title))]
    NoSuchLevel {
        /// Its title.
        title: String,
        /// The level that it would get.
        level: i16,
    },
    /// An identical section is directly before or after the place.
    #[error("the same section is there already, at line {line}")]
    Duplicate {
        /// The line of the heading of that section.
        line: usize,
    },
    /// The front matter of the new file would not be as the edit intends.
    #[error("{}", front_matter(*.0))]
    FrontMatter(FrontMatterProblem),
    /// LDMD markers would no longer match, or would move.
    #[error("the LDMD markers around line {line} would no longer match")]
    BreaksMarkup {
        /// The line at which the splice begins.
        line: usize,
    },
    /// LDMD markers that match would have another fault.
    #[error("line {} of the new file: {}", .0.line, .0.message)]
    FaultyMarker(MarkerProblem),
    /// The new place of a section is in the section.
    #[error("a section cannot be moved into itself")]
    IntoItself,
    /// The section would not be the same at its new place.
    #[error("the text of the section would be parsed differently at its new place")]
    ChangesSection,
    /// Something outside the place would change.
    #[error("line {line}: {change}")]
    ChangesOutside {
        /// The first line that would change.
        line: usize,
        /// The change at that line.
        change: OutsideChange,
    },
}

impl Refusal {
    /// The reason, a code in capitals.
    pub fn code(&self) -> &'static str {
        match self {
            Self::NoSuchPlace => "NO_SUCH_PLACE",
            Self::NoSuchPosition => "NO_SUCH_POSITION",
            Self::NoSuchPart | Self::NotApart { .. } => "NO_SUCH_PART",
            Self::NotWholeLines { .. } => "NOT_WHOLE_LINES",
            Self::EmptyContent => "EMPTY_CONTENT",
            Self::NotMarkdown(_) | Self::NotUtf8 => "NOT_MARKDOWN",
            Self::LineEnd => "LINE_END",
            Self::TooManyCells { .. } => "TOO_MANY_CELLS",
            Self::NotARow { .. } => "NOT_A_ROW",
            Self::NotCode => "NOT_CODE",
            Self::NotATable { .. } => "NOT_A_TABLE",
            Self::NotATask { .. } => "NOT_A_TASK",
            Self::NotInPlace(_) => "NOT_IN_PLACE",
            Self::OpenFence { .. } | Self::LeavesOpen { .. } => "OPEN_FENCE",
            Self::TooLong(_) => "TOO_LONG",
            Self::NoSuchText => "TEXT_NOT_FOUND",
            Self::SeveralTexts { .. } => "TEXT_NOT_UNIQUE",
            Self::WouldDrop { .. } => "WOULD_DROP",
            Self::WouldEscape { .. } | Self::WouldReparent { .. } => "WOULD_ESCAPE",
            Self::WrongLevel { .. } => "WRONG_LEVEL",
            Self::NoSuchLevel { .. } => "NO_SUCH_LEVEL",
            Self::Duplicate { .. } => "DUPLICATE",
            Self::FrontMatter(_) => "FRONT_MATTER",
            Self::BreaksMarkup { .. } | Self::FaultyMarker(_) => "BREAKS_MARKUP",
            Self::IntoItself => "INTO_ITSELF",
            Self::ChangesSection => "CHANGES_SECTION",
            Self::ChangesOutside { .. } => "CHANGES_OUTSIDE",
        }
    }

    /// Whether the reason is this change outside the place.
    pub(super) fn is_change(&self, wanted: &OutsideChange) -> bool {
        matches!(self, Self::ChangesOutside { change, .. } if change == wanted)
    }

    /// Whether `allow` permits the edit nevertheless.
    pub(super) fn is_allowed(&self, allow: Allow) -> bool {
        match self {
            Self::WouldDrop { .. } => allow.drop,
            Self::WouldEscape { .. } | Self::WouldReparent { .. } | Self::WrongLevel { .. } => {
                allow.escape
            }
            Self::Duplicate { .. } => allow.duplicate,
            Self::ChangesOutside { .. }
            | Self::BreaksMarkup { .. }
            | Self::FaultyMarker(_)
            | Self::NotCode
            | Self::NotATable { .. } => allow.change,
            _ => false,
        }
    }
}

fn front_matter(problem: FrontMatterProblem) -> &'static str {
    match problem {
        FrontMatterProblem::NotClosed => "the front matter has no closing delimiter",
        FrontMatterProblem::ClosedEarly => {
            "a line of the content is a delimiter, and would end the front matter there"
        }
        FrontMatterProblem::NotKeys => "the content does not consist of keys with values",
        FrontMatterProblem::Appears => {
            "the text at the beginning of the file would be parsed as front matter"
        }
        FrontMatterProblem::Lost => "the front matter would no longer be parsed as front matter",
    }
}

fn on_lines(lines: &[usize], is_cut: bool) -> String {
    let numbers: Vec<String> = lines.iter().map(usize::to_string).collect();
    let (plural, more) =
        (if lines.len() == 1 { "" } else { "s" }, if is_cut { ", ..." } else { "" });
    format!("line{plural} {}{more}", numbers.join(", "))
}

fn width(count: usize) -> String {
    counted(count, "column")
}

fn count(sections: &[String]) -> String {
    counted(sections.len(), "section")
}

/// The first of `sections`, and `...` if there are more than [`limits::MAX_SECTIONS_NAMED`].
fn list(sections: &[String]) -> String {
    let most = limits::MAX_SECTIONS_NAMED;
    let shown = sections.iter().take(most).map(String::as_str).collect::<Vec<_>>().join(", ");
    if sections.len() > most { format!("{shown}, ...") } else { shown }
}
