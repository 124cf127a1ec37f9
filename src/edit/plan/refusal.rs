//! Why an edit is not made, and how to ask for it all the same.

/// A reason not to make an edit. Lines are 1-based lines of the old file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// The outline has no such node, or the document no front matter.
    #[error("the document has no such place")]
    NoSuchPlace,
    /// The position means nothing for this kind of anchor.
    #[error("nothing can be put at this position of such a place")]
    NoSuchPosition,
    /// A block stands behind the marker of its list item or block quote.
    #[error("the block begins in the middle of line {line}")]
    NotWholeLines {
        /// That line.
        line: usize,
    },
    /// Only blank lines were to be inserted.
    #[error("there is nothing to insert")]
    EmptyContent,
    /// The new file would not be taken as Markdown.
    #[error("the content would make the file unreadable: {0}")]
    NotMarkdown(&'static str),
    /// A code fence, comment or HTML block of the content is not closed.
    #[error(
        "the content leaves a code fence, comment or HTML block open, and what follows would be part of it"
    )]
    OpenBlock,
    /// Replacing would leave fewer sections than there are.
    #[error("the content would drop {}: {}", count(sections), list(sections))]
    WouldDropSections {
        /// Their slug paths; `@LINE` where there is none.
        sections: Vec<String>,
    },
    /// A heading of the content is not deep enough to stand at the place.
    #[error("the heading {title:?} of level {level} would leave the section")]
    WouldEscape {
        /// Its title.
        title: String,
        /// Its level.
        level: u8,
    },
    /// What follows would belong to another section than before.
    #[error("what follows from line {line} on would belong to another section")]
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
    #[error("the same section stands there already, at line {line}")]
    Duplicate {
        /// The line of its heading.
        line: usize,
    },
    /// The file would have other front matter than it is meant to have.
    #[error("the beginning of the file would not be read as the front matter that is meant")]
    FrontMatter,
    /// LDMD markers that match would no longer do so, or would have another place.
    #[error("the LDMD markers around line {line} would no longer match")]
    BreaksMarkup {
        /// The first line that is concerned.
        line: usize,
    },
    /// The content, or what stands around it, would be read as something else.
    #[error("the text around line {line} would be read differently after this edit")]
    ChangesOutside {
        /// The first line that is concerned.
        line: usize,
    },
}

impl Refusal {
    /// The reason as a code.
    pub fn code(&self) -> &'static str {
        self.row().0
    }

    /// What to do, as an imperative sentence.
    pub fn hint(&self) -> &'static str {
        self.row().1
    }

    fn row(&self) -> (&'static str, &'static str) {
        match self {
            Self::NoSuchPlace => ("NO_SUCH_PLACE", "read the document's toc for its places"),
            Self::NoSuchPosition => {
                ("NO_SUCH_POSITION", "use another --position, or another anchor")
            }
            Self::NotWholeLines { .. } => {
                ("NOT_WHOLE_LINES", "edit the list item or block quote that holds it")
            }
            Self::EmptyContent => ("EMPTY_CONTENT", "give content that is not blank"),
            Self::NotMarkdown(_) => ("NOT_MARKDOWN", "give UTF-8 text without NUL bytes"),
            Self::OpenBlock => ("OPEN_BLOCK", "close every fence, comment and HTML element"),
            Self::WouldDropSections { .. } => (
                "WOULD_DROP_SECTIONS",
                "pass --no-children to replace the own text alone, or --allow-drop to drop them",
            ),
            Self::WouldEscape { .. } => {
                ("WOULD_ESCAPE", "use deeper headings (insert: --relevel), or pass --allow-escape")
            }
            Self::WouldReparent { .. } => {
                ("WOULD_REPARENT", "use other levels (insert: --relevel), or pass --allow-escape")
            }
            Self::WrongLevel { .. } => (
                "WRONG_LEVEL",
                "use the level of its neighbour (insert: --relevel), or pass --allow-escape",
            ),
            Self::NoSuchLevel { .. } => ("NO_SUCH_LEVEL", "change the levels in the content"),
            Self::Duplicate { .. } => ("DUPLICATE", "pass --allow-duplicate to insert it again"),
            Self::FrontMatter => {
                ("FRONT_MATTER", "give keys and values, between --- and --- or without delimiters")
            }
            Self::BreaksMarkup { .. } => {
                ("BREAKS_MARKUP", "edit ldmd:ID, or keep each BEGIN and END marker in the content")
            }
            Self::ChangesOutside { .. } => (
                "CHANGES_OUTSIDE",
                "look for an open fence or comment, a list or an underline beside the place",
            ),
        }
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
