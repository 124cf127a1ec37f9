//! The request for one edit, and its result. Owns no rule: `change` makes the edit, and [`super::plan`] refuses it.

use super::plan::ContentChange::{Delete, Insert, Replace};
use super::plan::{Allow, ContentChange, EditScope, SpliceEffects};
use crate::data::front_matter::KeyChange;
use crate::error::{Error, ErrorKind, Result, Warning};
use crate::position::LineSpan;

/// The operation of an edit.
#[derive(Clone, Debug)]
pub enum Operation {
    /// Changes the content at the place.
    Content(ContentChange),
    /// Replaces the only occurrence of a text in the place.
    ReplaceText {
        /// The text.
        old: String,
        /// The new text.
        content: Vec<u8>,
        /// How much of a section is searched for the text.
        scope: EditScope,
    },
    /// Marks a task.
    Mark {
        /// Whether it is done.
        is_done: bool,
    },
    /// Changes a key of the front matter.
    Key(KeyChange),
}

impl Operation {
    /// Returns the replacement of the only occurrence of `old`. Any new text is allowed, also an empty or a blank one.
    pub fn replace_text(old: String, content: Vec<u8>, scope: EditScope) -> Result<Self> {
        if old.is_empty() {
            return Err(Error::new(ErrorKind::Usage, "the old text is empty")
                .with_hint("give the text to replace, or use insert"));
        }
        Ok(Self::ReplaceText { old, content, scope })
    }

    /// Returns how much of a section the operation covers.
    pub(super) fn scope(&self) -> EditScope {
        match self {
            Self::Content(Replace { scope, .. } | Delete { scope })
            | Self::ReplaceText { scope, .. } => *scope,
            Self::Content(Insert { .. }) | Self::Mark { .. } | Self::Key(_) => EditScope::Subtree,
        }
    }

    /// Returns the text that the user gave; empty for an operation without text.
    pub(super) fn content(&self) -> &[u8] {
        match self {
            Self::Content(Replace { content, .. } | Insert { content, .. })
            | Self::ReplaceText { content, .. } => content,
            Self::Content(Delete { .. }) | Self::Mark { .. } | Self::Key(_) => b"",
        }
    }

    /// Returns the operation on a whole document; the usual position means its end.
    pub(super) fn in_document(mut self) -> Self {
        if let Self::Content(Insert { position, .. }) = &mut self {
            *position = position.in_document();
        }
        self
    }

    /// Returns the same operation on another part of a section, if it has one.
    pub(super) fn on(&self, part: EditScope) -> Self {
        let mut operation = self.clone();
        if let Self::Content(Replace { scope, .. } | Delete { scope })
        | Self::ReplaceText { scope, .. } = &mut operation
        {
            *scope = part;
        }
        operation
    }

    /// Returns the command that makes such edits.
    pub(super) fn command(&self) -> EditCommand {
        match self {
            Self::Content(Replace { .. }) | Self::ReplaceText { .. } => EditCommand::Replace,
            Self::Content(Insert { .. }) => EditCommand::Insert,
            Self::Content(Delete { .. }) => EditCommand::Delete,
            Self::Mark { .. } => EditCommand::Task,
            Self::Key(_) => EditCommand::Meta,
        }
    }
}

/// A command that edits one place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EditCommand {
    /// Replaces a place.
    Replace,
    /// Inserts content.
    Insert,
    /// Deletes a place.
    Delete,
    /// Marks a task.
    Task,
    /// Changes a key of the front matter.
    Meta,
}

impl EditCommand {
    /// Returns the name of the command.
    pub fn name(self) -> &'static str {
        match self {
            Self::Replace => "replace",
            Self::Insert => "insert",
            Self::Delete => "delete",
            Self::Task => "task",
            Self::Meta => "meta",
        }
    }
}

/// One edit of a document.
#[derive(Clone, Debug)]
pub struct Edit {
    /// The name of the document; `None` if the request or the place names it.
    pub document: Option<String>,
    /// The place: a locator in the document, or an address with its document.
    pub section: String,
    /// The operation on the place.
    pub operation: Operation,
    /// The consequences that the user has allowed.
    pub allow: Allow,
    /// The hash that the place must have, or the whole file before this edit or before all edits, in the short form of
    /// `mdsel read -f json` or in full.
    pub expect: Option<String>,
    /// Whether a unique part of a title may name the place.
    pub is_fuzzy: bool,
    /// Which one of several edits it is, for messages, such as `line 3 of the batch`.
    pub origin: Option<String>,
}

/// The result of one edit.
#[derive(Clone, Debug)]
pub struct Done {
    /// The path of the file, relative to the root.
    pub file: String,
    /// The address of the place, before this edit.
    pub selector: String,
    /// The command that makes such edits.
    pub command: EditCommand,
    /// The key of front matter that it changed.
    pub key: Option<String>,
    /// The bytes that were removed, before this edit. Those of a deletion are whole lines, with the blank lines that went
    /// along, or the text of a cell.
    pub old_content: Vec<u8>,
    /// Whether the place itself stays, as a cell that is deleted does.
    pub is_emptied: bool,
    /// The lines of the removed bytes, before this edit. Definitions that stay may be among them.
    pub old_lines: LineSpan,
    /// After all edits, the lines of the section that was replaced, with its heading; else those of the new content.
    pub new_lines: LineSpan,
    /// The slug path of the first section of the new content, or of the section that contains it, after all edits.
    pub new_section_path: Option<String>,
    /// The address of the section, block or item that is the new content, or of its lines if it is not one of these, after
    /// all edits. `None` if a later edit removed it.
    pub new_selector: Option<String>,
    /// What else it did.
    pub effects: SpliceEffects,
    /// Changes outside the place, which the edit allows.
    pub warnings: Vec<Warning>,
}
