//! An edit as one JSON object: a line of a batch, or an item of a call.
//!
//! Invariant: its keys are the flags of `replace`, `insert` and `delete`, with the same defaults, and any other key is
//! an error. `document` names its document, if the edits are of several. `done` and `open` mark the task at `section`.
//! `set`, `unset` and `add` change the key `section` of the front matter, with the value in `content`. `rename` gives
//! `section` the title in `content`, and `move` the document `section` the path in `content`, or the section `section`
//! to the place `to`; they stand alone.

use serde::Deserialize;
use serde_json::Value;

use super::content::checked_content;
use super::operation::{Edit, Operation};
use super::plan::{Allow, EditScope, Position};
use super::relocate::{Relocation, SectionRelocation};
use crate::address::FRONT_MATTER_PLACE;
use crate::data::front_matter::{KeyChange, value_of};
use crate::deserialize::from_object;
use crate::error::{Error, ErrorKind, Result};

/// The JSON object of an edit.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object with operation and section")]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of a command")]
pub struct BatchLine {
    operation: OperationName,
    document: Option<String>,
    section: String,
    content: Option<String>,
    old: Option<String>,
    to: Option<String>,
    position: Option<Position>,
    expect: Option<String>,
    #[serde(default)]
    no_children: bool,
    #[serde(default)]
    no_keep_heading: bool,
    #[serde(default)]
    relevel: bool,
    #[serde(default)]
    allow_drop: bool,
    #[serde(default)]
    allow_escape: bool,
    #[serde(default)]
    allow_duplicate: bool,
    #[serde(default)]
    allow_change: bool,
    #[serde(default)]
    fuzzy: bool,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(try_from = "String")]
enum OperationName {
    Replace,
    Insert,
    Delete,
    Done,
    Open,
    Set,
    Unset,
    Add,
    Rename,
    Move,
}

impl OperationName {
    /// Whether the operation is on a key of the front matter.
    fn is_of_key(self) -> bool {
        matches!(self, Self::Set | Self::Unset | Self::Add)
    }
}

impl TryFrom<String> for OperationName {
    type Error = String;

    fn try_from(name: String) -> std::result::Result<Self, String> {
        Ok(match name.as_str() {
            "replace" => Self::Replace,
            "insert" => Self::Insert,
            "delete" => Self::Delete,
            "done" => Self::Done,
            "open" => Self::Open,
            "set" => Self::Set,
            "unset" => Self::Unset,
            "add" => Self::Add,
            "rename" => Self::Rename,
            "move" => Self::Move,
            _ => {
                return Err(format!(
                    "no operation is called {name:?}: use replace, insert, delete, done, open, set, unset or add; \
                     rename and move stand alone"
                ));
            }
        })
    }
}

/// Returns how to write an edit with this operation.
fn form_of(operation: &str) -> &'static str {
    match operation {
        "insert" => {
            r#"write {"operation":"insert","section":...,"content":...,"position":"after"}, or "before", "first_child" or "last_child""#
        }
        "rename" => r#"write {"operation":"rename","section":...,"content":TITLE}"#,
        "move" => {
            r#"write {"operation":"move","section":...,"to":ADDRESS}, or "content":PATH for a document"#
        }
        "set" | "add" => {
            r#"write {"operation":"set","section":KEY,"content":VALUE}: the key is the section, and add adds to a list"#
        }
        "unset" => r#"write {"operation":"unset","section":KEY}"#,
        "done" | "open" => r#"write {"operation":"done","section":"DOC:LINE"}, or "open""#,
        "delete" => r#"write {"operation":"delete","section":...}"#,
        _ => r#"write {"operation":"replace","section":...,"content":...}"#,
    }
}

impl BatchLine {
    /// Parses a line of a batch.
    pub fn parse(text: &str) -> Result<Self> {
        let value = serde_json::from_str(text).map_err(|error| {
            Error::new(ErrorKind::Usage, format!("it is not JSON: {error}")).with_hint(form_of(""))
        })?;
        Self::of(&value)
    }

    /// Converts the JSON object of an edit.
    pub fn of(value: &Value) -> Result<Self> {
        from_object(value).map_err(|message| {
            let operation = value.get("operation").and_then(Value::as_str);
            Error::new(ErrorKind::Usage, message).with_hint(form_of(operation.unwrap_or_default()))
        })
    }

    /// Returns an error if a key has no meaning for the operation: an edit that ignores it is another edit than the
    /// one that was meant.
    fn check_keys(&self) -> Result<()> {
        use OperationName::{Delete, Insert, Move, Rename, Replace};
        let operation = self.operation;
        let moves_section = matches!(operation, Move) && self.to.is_some();
        let moves_document = matches!(operation, Move) && !moves_section;
        let is_placed = matches!(operation, Insert) || moves_section;
        let is_of_sections = is_placed || matches!(operation, Replace | Delete);
        for (key, is_given, has_meaning) in [
            ("to", self.to.is_some(), matches!(operation, Move)),
            ("old", self.old.is_some(), matches!(operation, Replace)),
            ("position", self.position.is_some(), is_placed),
            ("relevel", self.relevel, is_placed),
            ("no_children", self.no_children, matches!(operation, Replace | Delete)),
            (
                "no_keep_heading",
                self.no_keep_heading,
                matches!(operation, Replace) && self.old.is_none(),
            ),
            ("allow_drop", self.allow_drop, matches!(operation, Replace)),
            ("allow_escape", self.allow_escape, is_of_sections),
            ("allow_duplicate", self.allow_duplicate, is_placed),
            ("allow_change", self.allow_change, !moves_document && !matches!(operation, Rename)),
            ("fuzzy", self.fuzzy, !moves_document && !operation.is_of_key()),
            ("content", moves_section && self.content.is_some(), false),
        ] {
            if is_given && !has_meaning {
                let name = format!("{operation:?}").to_ascii_lowercase();
                let message = format!("{key} has no meaning for {name}");
                return Err(Error::new(ErrorKind::Usage, message)
                    .with_hint(format!("leave out {key}, or use another operation")));
            }
        }
        Ok(())
    }

    /// Returns what the object renames or moves; `None` for an edit of one file. `document` is the document
    /// of the call.
    pub fn relocation(&self, document: Option<&String>) -> Result<Option<Relocation>> {
        self.check_keys()?;
        let document = self.document.as_ref().or(document);
        let content = |what: &str| {
            let content = self.content.clone().filter(|content| !content.is_empty());
            content.ok_or_else(|| Error::new(ErrorKind::Usage, format!("content must be {what}")))
        };
        Ok(match self.operation {
            OperationName::Rename => Some(Relocation::Rename {
                document: document.cloned(),
                section: self.section.clone(),
                title: content("the new title")?,
                is_fuzzy: self.fuzzy,
            }),
            OperationName::Move => Some(match &self.to {
                Some(to) => Relocation::MoveSection(SectionRelocation {
                    section: match document {
                        Some(document) => format!("{document}::{}", self.section),
                        None => self.section.clone(),
                    },
                    to: to.clone(),
                    position: self.position.unwrap_or(Position::After),
                    relevel: self.relevel,
                    allow: self.allow(),
                    is_fuzzy: self.fuzzy,
                }),
                None => {
                    let what = "the new path of a document; a section needs the address to move to as `to`";
                    let whole = document.filter(|_| self.section == "*");
                    let document = whole.unwrap_or(&self.section).clone();
                    let path = content(what)?;
                    if document.contains("::") && !document.ends_with("::*") {
                        let message = "only a document is moved to a path";
                        return Err(Error::new(ErrorKind::Usage, message)
                            .with_hint("give the address to move a section to as `to`"));
                    }
                    Relocation::Move { document, path }
                }
            }),
            _ => None,
        })
    }

    fn allow(&self) -> Allow {
        Allow {
            drop: self.allow_drop,
            escape: self.allow_escape,
            duplicate: self.allow_duplicate,
            change: self.allow_change,
        }
    }

    /// Returns the names of documents and the addresses in the object.
    pub fn addresses(&mut self) -> Vec<&mut String> {
        // Without a document, the place may begin with one.
        let section = Some(&mut self.section).filter(|_| self.document.is_none());
        section.into_iter().chain(&mut self.document).chain(&mut self.to).collect()
    }

    /// Returns the hash that the place must have.
    pub fn expected(&self) -> Option<&String> {
        self.expect.as_ref()
    }

    /// Converts the object to an edit, which messages call `origin`. If `is_fuzzy`, a unique part of a title
    /// may name the place even without the key `fuzzy`.
    pub fn into_edit(self, origin: String, is_fuzzy: bool) -> Result<Edit> {
        self.check_keys()?;
        let usage = |message: &str| Error::new(ErrorKind::Usage, message);
        let scope = EditScope::without_children(self.no_children);
        let allow = self.allow();
        let content = self.content.map(String::into_bytes);
        let given = |content| {
            checked_content(content, true).map_err(|error| {
                error.map_hints(|_| match self.operation {
                    OperationName::Set | OperationName::Add => form_of("set").to_owned(),
                    _ => r#"give it as "content"; "content":"" empties the place"#.to_owned(),
                })
            })
        };
        let operation = match (self.operation, content) {
            (OperationName::Rename | OperationName::Move, _) => {
                return Err(usage("rename and move change several files, so they stand alone")
                    .with_hint(
                        "use `mdsel rename` or `mdsel move`; over MCP, a call with this edit only",
                    ));
            }
            (OperationName::Delete, None) => Operation::Delete { scope },
            (OperationName::Delete, Some(_)) => return Err(usage("delete takes no content")),
            (OperationName::Done | OperationName::Open | OperationName::Unset, Some(_)) => {
                return Err(usage("done, open and unset take no content"));
            }
            (OperationName::Done, None) => Operation::Mark { is_done: true },
            (OperationName::Open, None) => Operation::Mark { is_done: false },
            (OperationName::Unset, None) => Operation::Key(KeyChange::Unset(self.section.clone())),
            (OperationName::Set | OperationName::Add, content) => {
                let content = given(content)?;
                let value = value_of(&String::from_utf8_lossy(&content));
                let key = self.section.clone();
                Operation::Key(match self.operation {
                    OperationName::Add => KeyChange::Add(key, value),
                    _ => KeyChange::Set(key, value),
                })
            }
            (OperationName::Replace, content) if self.old.is_some() => {
                let content = content.map_or_else(|| given(None), Ok)?;
                Operation::replace_text(self.old.unwrap_or_default(), content, scope)?
            }
            (OperationName::Replace, content) => Operation::Replace {
                content: given(content)?,
                scope,
                keep_heading: !self.no_keep_heading,
            },
            (OperationName::Insert, content) => Operation::Insert {
                content: given(content)?,
                position: self.position.unwrap_or(Position::After),
                relevel: self.relevel,
            },
        };
        Ok(Edit {
            document: self.document,
            section: if self.operation.is_of_key() {
                FRONT_MATTER_PLACE.to_owned()
            } else {
                self.section
            },
            operation,
            allow,
            expect: self.expect,
            is_fuzzy: is_fuzzy || self.fuzzy,
            origin: Some(origin),
        })
    }
}
