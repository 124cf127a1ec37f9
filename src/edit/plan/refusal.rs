//! Why an edit is not made.
//!
//! A refusal says what is wrong and which flag allows it; what to do instead depends on what was asked
//! for, and is said by the caller. Invariant: what no flag allows would leave a file that nobody meant.

use super::Allow;

/// Something outside the place that would change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// The content would be read as part of what is around it.
    Content,
    /// A block would be read differently.
    Block,
    /// The title of a section.
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
        /// The target afterwards; `None` where it would no longer be a link.
        to: Option<String>,
    },
    /// Text would become a link.
    NewLink {
        /// Its target.
        to: String,
    },
}

impl std::fmt::Display for Change {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Content => {
                formatter.write_str("the content would be read as part of the text around it")
            }
            Self::Block => formatter.write_str("the text would be read differently"),
            Self::Title { from, to } => write!(formatter, "the title {from:?} would become {to:?}"),
            Self::Link { from, to: Some(to) } => {
                write!(formatter, "the link to {from:?} would lead to {to:?}")
            }
            Self::Link { from, to: None } => {
                write!(formatter, "the link to {from:?} would no longer be one")
            }
            Self::NewLink { to } => write!(formatter, "the text would become a link to {to:?}"),
        }
    }
}

/// What is wrong with the front matter that an edit would leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrontMatterProblem {
    /// The content begins with a delimiter and has no second one.
    NotClosed,
    /// The content holds a delimiter in the middle.
    ClosedEarly,
    /// The content is not keys and values.
    NotKeys,
    /// Text at the beginning of the file would be read as front matter.
    Appears,
    /// The front matter that is there would no longer be read as such.
    Lost,
}

/// A reason not to make an edit. Lines are 1-based lines of the old file unless said otherwise.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// The outline has no such node, or the document no front matter.
    #[error("the document has no such place")]
    NoSuchPlace,
    /// The position means nothing for this kind of place, or the place cannot be deleted.
    #[error("this cannot be done with such a place")]
    NoSuchPosition,
    /// A part of a section was named where a whole one is needed.
    #[error("only a replacement can be of a heading alone")]
    NoSuchPart,
    /// A block stands behind the marker of its list item or block quote.
    #[error("the block begins in the middle of line {line}")]
    NotWholeLines {
        /// That line.
        line: usize,
    },
    /// Only blank lines were given.
    #[error("there is no content")]
    EmptyContent,
    /// The new file would not be taken as Markdown.
    #[error("the content would make the file unreadable: {0}")]
    NotMarkdown(&'static str),
    /// A code fence, comment or HTML block of the content is not closed.
    #[error(
        "line {line} of the content opens a code fence, comment or HTML block that is not closed"
    )]
    OpenFence {
        /// The line of the content.
        line: usize,
    },
    /// The content lacks sections that are there.
    #[error("the content would drop {}: {}", count(sections), list(sections))]
    WouldDrop {
        /// Their slug paths; `@LINE` where there is none.
        sections: Vec<String>,
        /// Whether the named section is one of them.
        is_itself: bool,
    },
    /// A heading of the content is not deep enough to stand at the place.
    #[error("the heading {title:?} of level {level} would leave the section")]
    WouldEscape {
        /// Its title.
        title: String,
        /// Its level.
        level: u8,
        /// The lowest level that stays; above 6 where no heading may stand.
        least: u8,
        /// Whether it is in the place of the heading that stays.
        is_title: bool,
    },
    /// What follows would belong to another section than before.
    #[error("the text from line {line} on would belong to another section")]
    WouldReparent {
        /// The first line of that.
        line: usize,
    },
    /// The first heading is deeper than its neighbour, and would stand below another section.
    #[error(
        "the first heading has level {level}, not {wanted}, and would stand below the section before it"
    )]
    WrongLevel {
        /// Its level.
        level: u8,
        /// The level of the anchor.
        wanted: u8,
    },
    /// A heading cannot be moved to the level that it would get.
    #[error("the heading {title:?} cannot be moved to level {level}")]
    NoSuchLevel {
        /// Its title.
        title: String,
        /// That level; those of Markdown are 1 to 6.
        level: i16,
    },
    /// The same section stands there already.
    #[error("the same section is there already, at line {line}")]
    Duplicate {
        /// The line of its heading.
        line: usize,
    },
    /// The file would have other front matter than it is meant to have.
    #[error("{}", front_matter(*.0))]
    FrontMatter(FrontMatterProblem),
    /// LDMD markers that match would no longer do so, or would have another place.
    #[error("the LDMD markers around line {line} would no longer match")]
    BreaksMarkup {
        /// The first line that is concerned.
        line: usize,
    },
    /// Something outside the place would change.
    #[error("line {line}: {change}")]
    ChangesOutside {
        /// The first line that is concerned.
        line: usize,
        /// What would change there.
        change: Change,
    },
}

impl Refusal {
    /// The reason as a code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::NoSuchPlace => "NO_SUCH_PLACE",
            Self::NoSuchPosition => "NO_SUCH_POSITION",
            Self::NoSuchPart => "NO_SUCH_PART",
            Self::NotWholeLines { .. } => "NOT_WHOLE_LINES",
            Self::EmptyContent => "EMPTY_CONTENT",
            Self::NotMarkdown(_) => "NOT_MARKDOWN",
            Self::OpenFence { .. } => "OPEN_FENCE",
            Self::WouldDrop { .. } => "WOULD_DROP",
            Self::WouldEscape { .. } | Self::WouldReparent { .. } => "WOULD_ESCAPE",
            Self::WrongLevel { .. } => "WRONG_LEVEL",
            Self::NoSuchLevel { .. } => "NO_SUCH_LEVEL",
            Self::Duplicate { .. } => "DUPLICATE",
            Self::FrontMatter(_) => "FRONT_MATTER",
            Self::BreaksMarkup { .. } => "BREAKS_MARKUP",
            Self::ChangesOutside { .. } => "CHANGES_OUTSIDE",
        }
    }

    /// Whether the edit is made all the same.
    pub(super) fn is_allowed(&self, allow: Allow) -> bool {
        match self {
            Self::WouldDrop { .. } => allow.drop,
            Self::WouldEscape { .. } | Self::WouldReparent { .. } | Self::WrongLevel { .. } => {
                allow.escape
            }
            Self::Duplicate { .. } => allow.duplicate,
            Self::ChangesOutside { .. } | Self::BreaksMarkup { .. } => allow.change,
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
        FrontMatterProblem::NotKeys => "the content is not keys with values",
        FrontMatterProblem::Appears => {
            "the text at the beginning of the file would be read as front matter"
        }
        FrontMatterProblem::Lost => "the front matter would no longer be read as such",
    }
}

fn count(sections: &[String]) -> String {
    let plural = if sections.len() == 1 { "" } else { "s" };
    format!("{} section{plural}", sections.len())
}

/// The first few of `sections`; the count tells that there are more.
fn list(sections: &[String]) -> String {
    let shown = sections.iter().take(5).map(String::as_str).collect::<Vec<_>>().join(", ");
    if sections.len() > 5 { format!("{shown}, ...") } else { shown }
}
