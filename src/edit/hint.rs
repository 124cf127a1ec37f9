//! The errors of edits that are refused, and their hints.
//!
//! Invariant: a hint fits the command. It never names a flag that was given, nor a flag that the command
//! does not have.

use super::operation::Operation;
use super::plan::{EditScope, FrontMatterProblem, OutsideChange, Position, Refusal, is_line_start};
use crate::address::FRONT_MATTER_PLACE;
use crate::error::{Error, ErrorKind, Result, shell_path, shell_word};
use crate::markdown::outline::{BlockType, NodeKind};
use crate::markdown::text_start;
use crate::position::ByteSpan;
use crate::query::node::{has_hash, short_hash};
use crate::query::open_document::OpenDocument;
use crate::query::resolved_node::{ResolvedNode, Target};
use crate::query::{Session, documents};

/// Returns `CONFLICT` if neither the file at `path`, whose bytes are `bytes`, nor one of the `spans` of it has the hash
/// `expected`.
pub(super) fn check_hash(
    path: &str,
    bytes: &[u8],
    spans: &[ByteSpan],
    expected: &str,
) -> Result<()> {
    let is_of = |bytes: &[u8]| has_hash(bytes, expected);
    if is_of(bytes) || spans.iter().any(|span| is_of(span.of(bytes))) {
        return Ok(());
    }
    let found = short_hash(spans.first().map_or(bytes, |span| span.of(bytes)));
    Err(Error::new(ErrorKind::Conflict, format!("{path}: the hash is {found}, not {expected}"))
        .with_hint(format!(
            "read it again with `mdsel read {} --refresh -f json`",
            shell_path(path)
        )))
}

/// Returns `error`. If it says that `text` names a whole document, its hint becomes that of `hint`, if any.
pub(super) fn of_whole_document(
    session: &Session<'_>,
    error: Error,
    text: &str,
    hint: impl Fn(&OpenDocument) -> Option<String>,
) -> Result<Error> {
    if error.reason() != Some("WHOLE_DOCUMENT") {
        return Ok(error);
    }
    let Ok(stored) = documents::one(session, text)? else { return Ok(error) };
    let hint = hint(&*session.open(&stored)?);
    Ok(error.map_hints(|other| hint.clone().unwrap_or_else(|| other.to_owned())))
}

/// Returns what to do instead of an edit of a whole document; `None` if the edit of its whole text may be meant.
pub(super) fn instead_of_whole(document: &OpenDocument, operation: &Operation) -> Option<String> {
    let whole = shell_path(&document.address("*"));
    match operation {
        Operation::Insert { position, .. } => {
            let (place, position) = match position {
                Position::FirstChild => ("beginning", "first_child"),
                _ => ("end", "last_child"),
            };
            Some(format!(
                "name a section, or insert at the {place} of the document with \
                 `mdsel insert {whole} --position {position}`"
            ))
        }
        Operation::Delete { .. } => Some(format!(
            "empty the file with `mdsel replace {whole} --content '' --allow-drop`; or delete the file, and run \
             `mdsel ingest`"
        )),
        Operation::Mark { .. } => Some(format!(
            "list the tasks with `mdsel tasks --under {}`",
            shell_path(&document.namespace)
        )),
        Operation::Replace { .. } | Operation::ReplaceText { .. } | Operation::Key(_) => None,
    }
}

/// Returns what to do instead of giving a whole document the title `title`.
pub(super) fn instead_of_title(document: &OpenDocument, title: &str) -> String {
    let move_it =
        format!("move the file with `mdsel move {} PATH`", shell_path(&document.namespace));
    match document.tree.outline().sections.iter().find(|section| section.level == 1) {
        Some(section) => format!(
            "rename its first heading with `mdsel rename {} --title {}`, or {move_it}",
            shell_path(&document.address_of(section.node)),
            shell_word(title)
        ),
        None => format!("name a section, or {move_it}"),
    }
}

/// The edit that was refused.
pub(super) struct RefusedEdit<'a> {
    pub(super) place: &'a ResolvedNode,
    /// The address of the place.
    pub(super) address: &'a str,
    pub(super) operation: &'a Operation,
    pub(super) scope: EditScope,
    /// The bytes of the file.
    pub(super) file: &'a [u8],
}

impl RefusedEdit<'_> {
    /// Returns the error for `refusal`.
    pub(super) fn refused(&self, refusal: &Refusal) -> Error {
        let message = format!("{}: {refusal}", self.address);
        Error::new(ErrorKind::EditRefused, message)
            .with_reason(refusal.code())
            .with_hint(self.hint(refusal))
    }

    /// Returns what to do, as an imperative sentence.
    fn hint(&self, refusal: &Refusal) -> String {
        let document = self.document();
        match refusal {
            Refusal::NoSuchPlace if self.place.target == Target::FrontMatter => {
                let front_matter = self.front_matter();
                format!("add it with `mdsel replace {front_matter} --content 'title: T'`")
            }
            Refusal::NoSuchPlace => {
                format!("list its places with `mdsel index {document} --blocks`")
            }
            Refusal::NoSuchPosition => self.position(),
            Refusal::NoSuchPart => self.part(),
            Refusal::NotApart => {
                let (command, address) = (self.operation.command().name(), self.address());
                format!("`mdsel {command} {address}` {command}s the nested lists, too")
            }
            Refusal::NotWholeLines { .. } => format!(
                "edit the block around it: {}",
                self.container_in_whole_lines().unwrap_or_default()
            ),
            Refusal::EmptyContent => {
                "give text with --content, --content-file or standard input".to_owned()
            }
            Refusal::NotMarkdown(_) => "give text in UTF-8 without NUL bytes".to_owned(),
            Refusal::LineEnd => "give one line; write <br> for a line break in a cell".to_owned(),
            Refusal::TooManyCells { .. } => {
                "write a pipe inside a cell as \\|, or give fewer cells".to_owned()
            }
            Refusal::NotARow { columns } => {
                format!("write the row with its pipes, as in `|{}`", " text |".repeat(*columns))
            }
            Refusal::NotCode => self.code(),
            Refusal::NotATable { is_replaced: true } => format!(
                "to replace one row, name it as {}/row[0]; else begin the content with a header and a delimiter row, or \
                 pass --allow-change to make it text",
                self.place.address()
            ),
            Refusal::NotATable { is_replaced: false } => {
                "insert the row into the table with --position last_child, or beside a row as TABLE/row[0]"
                    .to_owned()
            }
            Refusal::NotATask => format!("list the tasks with `mdsel tasks --under {document}`"),
            Refusal::NotInPlace(_) => format!(
                "list the keys with `mdsel meta --under {document}`, or edit the whole front matter with \
                 `mdsel replace {} --content-file FILE`",
                self.front_matter()
            ),
            Refusal::LeavesOpen { .. } => "keep or add the line that closes it".to_owned(),
            Refusal::NoSuchText => format!(
                "copy the old text exactly, with its blanks, from `mdsel read {} -f raw`",
                self.address()
            ),
            Refusal::SeveralTexts { .. } => {
                "give more of the text around it, or name a smaller place, as DOC:START-END"
                    .to_owned()
            }
            Refusal::OpenFence { .. } => "add the line that closes it to the content".to_owned(),
            Refusal::WouldDrop { sections, .. } if self.is_exact() && self.replaces() => {
                let section = sections.first().map_or("*", String::as_str);
                let rename = rename(&self.place.document.address(section));
                format!(
                    "{rename}, keep the headings in the content, or pass --allow-drop to drop them"
                )
            }
            Refusal::WouldDrop { is_itself, sections } => self.drop(*is_itself, sections.len()),
            Refusal::WouldEscape { least, is_title, .. } => self.escape(*least, *is_title),
            Refusal::WouldReparent { .. } => self.levels("use headings of other levels"),
            Refusal::WrongLevel { wanted, .. } => {
                self.levels(&format!("begin with `{}`", hashes(*wanted)))
            }
            Refusal::NoSuchLevel { .. } => {
                "change the levels of the headings in the content".to_owned()
            }
            Refusal::Duplicate { .. } => "pass --allow-duplicate to insert it again".to_owned(),
            Refusal::FrontMatter(problem) => self.front_matter_hint(*problem),
            Refusal::BreaksMarkup { .. } => format!(
                "keep each BEGIN and END marker in the content, edit the LDMD section itself \
                 (`mdsel ldmd index {document}`), or pass --allow-change"
            ),
            Refusal::IntoItself => "name a place outside the section with --to".to_owned(),
            Refusal::ChangesSection => {
                "close what is open before the new place, or choose another place".to_owned()
            }
            Refusal::ChangesOutside { line, change: OutsideChange::Title { .. } } if self.is_exact() => {
                let tree = &self.place.document.tree;
                let section = tree.section_at_line(*line);
                let address = section.map_or_else(
                    || self.place.address(),
                    |section| self.place.document.address_of(section.node),
                );
                format!("{}, or pass --allow-change", rename(&address))
            }
            Refusal::ChangesOutside { change, .. } => self.change(change),
        }
    }

    /// The address of the place, as a word of a shell command.
    fn address(&self) -> String {
        shell_path(self.address)
    }

    /// Whether a phrase or a range of lines is edited.
    fn is_exact(&self) -> bool {
        self.place.resolved.is_some() || matches!(self.operation, Operation::ReplaceText { .. })
    }

    /// Whether text takes the place of other text.
    fn replaces(&self) -> bool {
        matches!(self.operation, Operation::Replace { .. } | Operation::ReplaceText { .. })
    }

    /// The document, as a word of a shell command.
    fn document(&self) -> String {
        shell_path(&self.place.document.namespace)
    }

    /// The address of the front matter, as a word of a shell command.
    fn front_matter(&self) -> String {
        shell_path(&format!("{}::{FRONT_MATTER_PLACE}", self.place.document.namespace))
    }

    /// The address of the innermost list, item or block quote around the place that begins at the start of a line, as
    /// each one at the top level does.
    fn container_in_whole_lines(&self) -> Option<String> {
        let Target::Node(node) = self.place.target else { return None };
        let tree = &self.place.document.tree;
        let parent = |&node: &usize| tree.node(node)?.parent;
        let begins_line = |&node: &usize| {
            let start = tree.node(node).map_or(0, |node| node.bytes.start);
            is_line_start(self.file, text_start(self.file), start)
        };
        let above = std::iter::successors(parent(&node), parent);
        Some(self.place.document.address_of(above.into_iter().find(begins_line)?))
    }

    fn position(&self) -> String {
        let document = &self.place.document.namespace;
        match (self.operation, self.place.target) {
            (Operation::Insert { relevel: true, .. }, _) if self.is_exact() => {
                "leave out --relevel, or name a section".to_owned()
            }
            _ if self.is_exact() => "pass --position before or after".to_owned(),
            (_, Target::Cells(cells)) => {
                let table = self.place.document.address_of(cells.node);
                match (self.operation, cells.cell) {
                    (Operation::Delete { .. }, _) => {
                        format!("delete the table: `mdsel delete {}`", shell_path(&table))
                    }
                    (_, Some(_)) => {
                        "replace the cell, or insert a row before or after its row".to_owned()
                    }
                    (_, None) => {
                        format!("pass --position after; the first row follows {table}/row[header]")
                    }
                }
            }
            (Operation::Delete { .. }, _) => {
                instead_of_whole(&self.place.document, self.operation).unwrap_or_default()
            }
            (_, Target::Document) => "pass --position first_child or last_child".to_owned(),
            (_, Target::FrontMatter) => {
                format!("pass --position after, or replace {document}::{FRONT_MATTER_PLACE}")
            }
            _ => "pass --position before or after".to_owned(),
        }
    }

    /// The hint for content that is no code block.
    fn code(&self) -> String {
        let text = self.file.get(self.place.span().start..).unwrap_or_default();
        let line = text.split(|byte| matches!(byte, b'\n' | b'\r')).next().unwrap_or_default();
        let fence = String::from_utf8_lossy(line).trim().to_owned();
        let form = if fence.starts_with("```") || fence.starts_with("~~~") {
            format!("begin the content with the line {fence}, and end it with the closing line")
        } else {
            "indent each line of the content by four spaces".to_owned()
        };
        format!("{form}, replace a phrase with --old, or pass --allow-change to make it text")
    }

    fn part(&self) -> String {
        let address = self.address();
        match self.operation {
            Operation::Delete { .. } => {
                format!(
                    "delete the section's own text, too: `mdsel delete {address} --no-children`"
                )
            }
            _ => format!(
                "name the whole section: `mdsel insert {address} --position first_child` inserts the \
                 content after the section's own text"
            ),
        }
    }

    fn drop(&self, is_itself: bool, count: usize) -> String {
        let is_section = matches!(self.place.target, Target::Node(node)
            if self.place.document.tree.section(node).is_some());
        if is_itself && count == 1 {
            return match self.scope {
                EditScope::Heading => "give one heading of the same level".to_owned(),
                _ => "begin the content with a heading of the same level, leave out \
                      --no-keep-heading, or pass --allow-drop"
                    .to_owned(),
            };
        }
        if self.scope == EditScope::Subtree && is_section && !self.is_exact() {
            return "keep their headings in the content, pass --no-children to replace only the section's \
                    own text, or --allow-drop to drop them"
                .to_owned();
        }
        if matches!(self.operation, Operation::Delete { .. }) {
            return "leave out --no-children to delete them, too".to_owned();
        }
        let kept =
            if matches!(self.place.target, Target::Ldmd(_)) { "markers" } else { "headings" };
        format!("keep their {kept} in the content, or pass --allow-drop to drop them")
    }

    fn escape(&self, least: u8, is_title: bool) -> String {
        let is_replace = matches!(self.operation, Operation::Replace { .. });
        if is_title {
            return "pass --no-keep-heading to replace the title, too".to_owned();
        }
        if self.scope == EditScope::Heading {
            return "give one heading of the same level".to_owned();
        }
        if least > 6 && is_replace && self.scope == EditScope::Own {
            return "leave the headings out of the content, leave out --no-children to replace the \
                    subsections, too, or pass --allow-escape"
                .to_owned();
        }
        if least > 6 {
            return "insert sections with --position before or after another section, or pass \
                    --allow-escape"
                .to_owned();
        }
        self.levels(&format!("use `{}` or deeper", hashes(least)))
    }

    /// The hint about heading levels for this command; `first` says how to change the content.
    fn levels(&self, first: &str) -> String {
        match self.operation {
            Operation::Insert { relevel: false, .. } => {
                format!("pass --relevel, {first}, or pass --allow-escape")
            }
            Operation::Insert { .. }
            | Operation::Replace { .. }
            | Operation::ReplaceText { .. } => {
                format!("{first}, or pass --allow-escape")
            }
            Operation::Delete { .. } | Operation::Mark { .. } | Operation::Key(_) => {
                "pass --allow-escape".to_owned()
            }
        }
    }

    fn change(&self, change: &OutsideChange) -> String {
        let kind = match self.place.target {
            Target::Node(node) => self.place.document.tree.node(node).map(|node| node.kind),
            _ => None,
        };
        match (change, kind) {
            (OutsideChange::Content | OutsideChange::Block, _) if self.is_exact() => {
                "check the content for markers and fences, and its first and last line; or pass \
                 --allow-change"
                    .to_owned()
            }
            (OutsideChange::Content | OutsideChange::Block, Some(NodeKind::Item)) => format!(
                "begin the content with the marker of the item, as in `{}text`, and indent its other \
                 lines to match; or pass --allow-change",
                marker(self.file.get(self.place.span().start..).unwrap_or_default())
            ),
            (OutsideChange::Content | OutsideChange::Block, Some(NodeKind::Block(BlockType::Blockquote))) => {
                "begin each line of the content with `> `, or pass --allow-change".to_owned()
            }
            (OutsideChange::Content | OutsideChange::Block, _) => match self.container_kind() {
                Some(_) => "indent the content like the lines around it, or pass --allow-change".to_owned(),
                None => "check for an open fence or comment, and for a list or a heading underline next to \
                         the place; to extend a list, insert before or after one of its items; or pass \
                         --allow-change"
                    .to_owned(),
            },
            (OutsideChange::Title { .. } | OutsideChange::Link { .. } | OutsideChange::NewLink { .. }, _) => {
                "keep the link definitions unchanged, or pass --allow-change".to_owned()
            }
            (OutsideChange::Footnote { .. }, _) => {
                "keep the footnote, use another label, or pass --allow-change".to_owned()
            }
        }
    }

    fn container_kind(&self) -> Option<NodeKind> {
        let Target::Node(node) = self.place.target else { return None };
        let tree = &self.place.document.tree;
        let kind = tree.node(tree.node(node)?.parent?)?.kind;
        matches!(kind, NodeKind::Block(_) | NodeKind::Item).then_some(kind)
    }

    fn front_matter_hint(&self, problem: FrontMatterProblem) -> String {
        let address = self.front_matter();
        match problem {
            FrontMatterProblem::NotClosed => {
                "close it with the delimiter that it begins with, or give keys and values without delimiters"
                    .to_owned()
            }
            FrontMatterProblem::ClosedEarly => "remove the delimiter inside the content".to_owned(),
            FrontMatterProblem::NotKeys => {
                "give lines as `key: value`, or TOML between lines of `+++`".to_owned()
            }
            FrontMatterProblem::Appears => format!(
                "change front matter with `mdsel replace {address}`, and begin other text with another line"
            ),
            FrontMatterProblem::Lost => {
                format!("change the front matter by name: `mdsel replace {address}`")
            }
        }
    }
}

/// The advice to change the title of the section at this address with `rename`.
fn rename(section: &str) -> String {
    format!("change a title with `mdsel rename {} --title TITLE`", shell_path(section))
}

fn hashes(level: u8) -> String {
    "#".repeat(level.into())
}

/// The marker at the start of an item, with the space after it; `- ` if the item has none.
fn marker(item: &[u8]) -> String {
    let text = String::from_utf8_lossy(item);
    let line = text.lines().next().unwrap_or_default();
    let end =
        line.trim_start().find(' ').map_or(0, |at| at + line.len() - line.trim_start().len() + 1);
    line.get(..end).filter(|marker| !marker.is_empty()).unwrap_or("- ").to_owned()
}
