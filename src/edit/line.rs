//! An edit as one JSON object: a line of a batch, or an item of a call.
//!
//! Invariant: its keys are the flags of `replace`, `insert` and `delete`, with the same defaults, and any other key is
//! an error. `document` names its document, if the edits are of several. `done` and `open` mark the task at `section`.
//! `set`, `unset`, `add` and `remove` change the key `section` of the front matter, with the value in `content`.
//! `rename` gives `section` the title in `content`, and `move` the document `section` the path in `content`, or the
//! section `section` to the place `to`; they stand alone.

use serde::Deserialize;
use serde_json::Value;

use super::content::checked_content;
use super::operation::{Edit, Operation};
use super::plan::{Allow, ContentChange, EditScope, Position};
use super::relocate::{Relocation, SectionRelocation};
use crate::address::FRONT_MATTER_PLACE;
use crate::data::front_matter::{KeyChange, value_of};
use crate::deserialize::from_object;
use crate::error::{Error, ErrorKind, Result};
use crate::message::argument_of;
use crate::visible::quoted;

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
    no_links: bool,
    #[serde(default)]
    fuzzy: bool,
}

/// The operation of an edit.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(try_from = "String")]
enum OperationName {
    Replace,
    /// A replacement with `old`.
    ReplaceText,
    Insert,
    Delete,
    Done,
    Open,
    Set,
    Unset,
    Add,
    Remove,
    Rename,
    Move,
    /// A move with `to`.
    MoveSection,
}

use OperationName::{
    Add, Delete, Done, Insert, Move, MoveSection, Open, Remove, Rename, Replace, ReplaceText, Set,
    Unset,
};

/// The names of operations. The last two stand alone.
const OPERATIONS: [(&str, OperationName); 11] = [
    ("replace", Replace),
    ("insert", Insert),
    ("delete", Delete),
    ("done", Done),
    ("open", Open),
    ("set", Set),
    ("unset", Unset),
    ("add", Add),
    ("remove", Remove),
    ("rename", Rename),
    ("move", Move),
];

/// A key of the object, whether it is given, and the operations for which it has a meaning. The options of commands have
/// the same meanings.
type Key = (&'static str, fn(&BatchLine) -> bool, &'static [OperationName]);

/// The keys that do not have a meaning for every operation.
const KEYS: [Key; 13] = [
    (
        "content",
        |it| it.content.is_some(),
        &[Replace, ReplaceText, Insert, Set, Add, Remove, Rename, Move],
    ),
    ("old", |it| it.old.is_some(), &[ReplaceText]),
    ("to", |it| it.to.is_some(), &[MoveSection]),
    ("position", |it| it.position.is_some(), &[Insert, MoveSection]),
    ("relevel", |it| it.relevel, &[Insert, MoveSection]),
    ("no_children", |it| it.no_children, &[Replace, ReplaceText, Delete]),
    ("no_keep_heading", |it| it.no_keep_heading, &[Replace]),
    ("allow_drop", |it| it.allow_drop, &[Replace, ReplaceText]),
    ("allow_escape", |it| it.allow_escape, &OF_SECTIONS),
    ("allow_duplicate", |it| it.allow_duplicate, &[Insert, MoveSection]),
    ("allow_change", |it| it.allow_change, &OF_SECTIONS),
    ("no_links", |it| it.no_links, &[Rename, Move, MoveSection]),
    (
        "fuzzy",
        |it| it.fuzzy,
        &[Replace, ReplaceText, Insert, Delete, Done, Open, Rename, MoveSection],
    ),
];

/// The operations that may change other sections.
const OF_SECTIONS: [OperationName; 5] = [Replace, ReplaceText, Insert, Delete, MoveSection];

/// Returns the names of the operations.
pub fn operations() -> [&'static str; 11] {
    OPERATIONS.map(|(name, _)| name)
}

impl OperationName {
    /// Whether the operation is on a key of the front matter.
    fn is_of_key(self) -> bool {
        matches!(self, Set | Unset | Add | Remove)
    }
}

impl TryFrom<String> for OperationName {
    type Error = String;

    fn try_from(name: String) -> std::result::Result<Self, String> {
        let known = OPERATIONS.iter().find(|(known, _)| *known == name);
        known.map(|(_, operation)| *operation).ok_or_else(|| {
            let names = operations().join(", ");
            format!(
                "no operation is called {name}: use one of {names}; rename and move stand alone",
                name = quoted(&name)
            )
        })
    }
}

/// Returns how to write an edit with this operation, or with the one that is meant by another name for it.
fn form_of(operation: &str) -> &'static str {
    match operation {
        "append" | "append_to" | "push" | "extend" => {
            r#"write {"operation":"insert","section":...,"content":...,"position":"last_child"}"#
        }
        "prepend" => {
            r#"write {"operation":"insert","section":...,"content":...,"position":"first_child"}"#
        }
        "insert" | "insert_after" | "insert_before" | "create" | "new" | "write" => {
            r#"write {"operation":"insert","section":...,"content":...,"position":"after"}, or "before", "first_child" or "last_child""#
        }
        "rename" => r#"write {"operation":"rename","section":...,"content":TITLE}"#,
        "move" => {
            r#"write {"operation":"move","section":...,"to":ADDRESS}, or "content":PATH for a document"#
        }
        "set" | "add" | "upsert" | "put" => {
            r#"write {"operation":"set","section":KEY,"content":VALUE}: the key is the section, and add adds to a list"#
        }
        "unset" => r#"write {"operation":"unset","section":KEY}"#,
        "done" | "open" | "task" | "check" | "complete" => {
            r#"write {"operation":"done","section":"DOC:LINE"}, or "open""#
        }
        "delete" => r#"write {"operation":"delete","section":...}"#,
        "remove" | "rm" | "del" | "erase" | "clear" => {
            r#"write {"operation":"delete","section":...}, {"operation":"unset","section":KEY}, or {"operation":"remove","section":KEY,"content":VALUE} for a value of a list"#
        }
        "" | "replace" | "update" | "edit" | "change" | "modify" | "rewrite" | "overwrite" => {
            r#"write {"operation":"replace","section":...,"content":...}"#
        }
        _ => r#"write {"operation":...,"section":...,"content":...}"#,
    }
}

/// Returns what the option `--name` of a command is in an edit that is one JSON object: a key, with its value if that is
/// always the same. Returns `None` if an edit has no such key.
pub(crate) fn key_of(option: &str) -> Option<String> {
    /// The keys that are options with a value.
    const WITH_VALUE: [&str; 5] = ["content", "old", "to", "position", "expect"];
    let name = option.strip_prefix("--")?;
    let name = argument_of(name);
    if WITH_VALUE.contains(&&*name) {
        return Some(quoted(&name).to_string());
    }
    KEYS.iter().any(|(key, ..)| *key == name).then(|| format!("{name}:true", name = quoted(&name)))
}

/// Returns the error for a rename or a move beside other edits.
fn alone(operation: OperationName) -> Error {
    let message = "rename and move change several files, so they stand alone";
    Error::new(ErrorKind::Usage, message).with_hint(how_alone(operation))
}

/// Returns how to make a rename or a move.
fn how_alone(operation: OperationName) -> &'static str {
    match operation {
        Rename => "{use `mdsel rename ADDRESS --title TITLE`|make a call with this edit only}",
        _ => {
            "{use `mdsel move DOC PATH` or `mdsel move ADDRESS --to ADDRESS`|make a call with this edit only}"
        }
    }
}

impl BatchLine {
    /// Parses a line of a batch.
    pub fn parse(text: &str) -> Result<Self> {
        let value = serde_json::from_str(text).map_err(|error| {
            Error::new(ErrorKind::Usage, format!("it is not JSON: {error}")).with_hint(form_of(""))
        })?;
        Self::of_several(&value)
    }

    /// Converts the JSON object of an edit that is not a request of its own.
    pub fn of_several(value: &Value) -> Result<Self> {
        // A rename or a move with other keys would be refused, too.
        Self::of(value).map_err(|error| match value.get("operation").and_then(Value::as_str) {
            Some("rename") => alone(Rename),
            Some("move") => alone(Move),
            _ => error,
        })
    }

    /// Converts the JSON object of an edit.
    pub fn of(value: &Value) -> Result<Self> {
        from_object(value).map_err(|message| {
            let operation = value.get("operation").and_then(Value::as_str);
            Error::new(ErrorKind::Usage, message).with_hint(form_of(operation.unwrap_or_default()))
        })
    }

    /// Returns the operation, as the keys determine it.
    fn operation(&self) -> OperationName {
        match self.operation {
            Replace if self.old.is_some() => ReplaceText,
            Move if self.to.is_some() => MoveSection,
            operation => operation,
        }
    }

    fn operation_name(&self) -> &'static str {
        let name = OPERATIONS.iter().find(|(_, named)| *named == self.operation);
        name.map_or("it", |(name, _)| name)
    }

    /// Returns an error if a key has no meaning for the operation: an edit that ignores it is another edit than the
    /// one that was meant.
    fn check_keys(&self) -> Result<()> {
        let operation = self.operation();
        // A key may have two colons, too.
        let is_document = |name: &str| name.contains('.') || self.document.as_deref() == Some(name);
        if operation.is_of_key()
            && let Some((document, place)) = self.section.split_once("::")
            && (place == FRONT_MATTER_PLACE || is_document(document))
        {
            let (name, section) = (self.operation_name(), quoted(&self.section));
            let key = if place == FRONT_MATTER_PLACE { "KEY" } else { place };
            let content = if operation == Unset { "" } else { r#","content":VALUE"# };
            let message = format!("the section of {name} is a key, and {section} is an address");
            let hint = format!(
                r#"write {{"operation":"{name}","document":{},"section":{}{content}}}"#,
                Value::from(document),
                Value::from(key)
            );
            return Err(Error::new(ErrorKind::Usage, message).with_hint(hint));
        }
        let unused = KEYS
            .iter()
            .find(|(_, is_given, operations)| is_given(self) && !operations.contains(&operation));
        let Some((key, ..)) = unused else { return Ok(()) };
        let name = self.operation_name();
        let usage = |message| Error::new(ErrorKind::Usage, message);
        if (*key, self.operation) == ("content", Move) {
            return Err(
                usage("a move has to or content, not both".to_owned()).with_hint(form_of(name))
            );
        }
        let hint = match *key {
            // What was meant is given in another key.
            "to" => form_of(name).to_owned(),
            key => format!("leave out {key}, or use another operation"),
        };
        Err(usage(format!("{key} has no meaning for {name}")).with_hint(hint))
    }

    /// Returns what the object renames or moves; `None` for an edit of one file. `document` is the document
    /// of the call.
    pub fn relocation(&self, document: Option<&String>) -> Result<Option<Relocation>> {
        self.check_keys()?;
        let document = self.document.as_ref().or(document);
        let content = |what: &str| {
            let content = self.content.clone().filter(|content| !content.is_empty());
            content.ok_or_else(|| {
                Error::new(ErrorKind::Usage, format!("content must be {what}"))
                    .with_hint(form_of(self.operation_name()))
            })
        };
        Ok(match self.operation {
            Rename => Some(Relocation::Rename {
                document: document.cloned(),
                section: self.section.clone(),
                title: content("the new title")?,
                is_fuzzy: self.fuzzy,
            }),
            Move => Some(match &self.to {
                Some(to) => Relocation::MoveSection(SectionRelocation {
                    document: document.cloned(),
                    section: self.section.clone(),
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

    /// Whether a relocation leaves links as they are.
    pub fn keeps_links(&self) -> bool {
        self.no_links
    }

    /// Returns the hash that the place must have.
    pub fn expected(&self) -> Option<&String> {
        self.expect.as_ref()
    }

    /// Converts the object to an edit, which messages call `origin`. If `is_fuzzy`, a unique part of a title
    /// may name the place even without the key `fuzzy`.
    pub fn into_edit(self, origin: String, is_fuzzy: bool) -> Result<Edit> {
        self.check_keys().map_err(|error| match self.operation {
            Rename | Move => error.map_hints(|_| how_alone(self.operation).into()),
            _ => error,
        })?;
        let scope = EditScope::without_children(self.no_children);
        let allow = self.allow();
        let operation = self.operation();
        let content = self.content.map(String::into_bytes);
        // An insertion of nothing is no edit.
        let given = |content| {
            checked_content(content, operation != Insert).map_err(|error| {
                error.with_hint(match operation {
                    Set | Add => form_of("set"),
                    Remove => form_of("remove"),
                    Replace => r#"give it as "content"; "content":"" empties the place"#,
                    _ => r#"give it as "content""#,
                })
            })
        };
        let operation = match operation {
            Rename | Move | MoveSection => return Err(alone(operation)),
            Delete => Operation::Content(ContentChange::Delete { scope }),
            Done => Operation::Mark { is_done: true },
            Open => Operation::Mark { is_done: false },
            Unset => Operation::Key(KeyChange::Unset(self.section.clone())),
            Set | Add | Remove => {
                let value = value_of(&String::from_utf8_lossy(&given(content)?));
                let key = self.section.clone();
                Operation::Key(match operation {
                    Add => KeyChange::Add(key, value),
                    Remove => KeyChange::Remove(key, value),
                    _ => KeyChange::Set(key, value),
                })
            }
            // Any new text is allowed, also a blank one.
            ReplaceText => {
                let content = content.map_or_else(|| given(None), Ok)?;
                Operation::replace_text(self.old.unwrap_or_default(), content, scope)?
            }
            Replace => Operation::Content(ContentChange::Replace {
                content: given(content)?,
                scope,
                keep_heading: !self.no_keep_heading,
            }),
            Insert => Operation::Content(ContentChange::Insert {
                content: given(content)?,
                position: self.position.unwrap_or(Position::After),
                relevel: self.relevel,
            }),
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
