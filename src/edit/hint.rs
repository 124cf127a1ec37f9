//! The errors of edits that are refused, and their hints.
//!
//! Invariant: a hint fits the command. It never names a flag that was given, nor a flag that the command
//! does not have.

use super::operation::Operation;
use super::plan::ContentChange::{Delete, Insert, Replace};
use super::plan::{EditScope, FrontMatterProblem, OutsideChange, Position, Refusal, is_line_start};
use crate::address::FRONT_MATTER_PLACE;
use crate::data::front_matter::{KeyChange, KeyFaultKind};
use crate::error::{Error, ErrorKind, Result};
use crate::ldmd::FaultKind;
use crate::markdown::Dialect;
use crate::markdown::outline::{BlockType, Node, NodeKind};
use crate::markdown::text_start;
use crate::message::{Message, message};
use crate::position::{ByteSpan, LineIndex, LineSpan};
use crate::query::node::{has_hash, narrowed, short_hash};
use crate::query::open_document::OpenDocument;
use crate::query::resolved_node::{ResolvedAs, ResolvedNode, Target};
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
        .with_hint(message!("read it again with `mdsel read {path} --refresh -f json`", path)))
}

/// Returns `error`. If it says that `text` names a whole document, its hint becomes that of `hint`, if any.
pub(super) fn of_whole_document(
    session: &Session<'_>,
    error: Error,
    text: &str,
    hint: impl Fn(&OpenDocument) -> Option<Message>,
) -> Result<Error> {
    if error.reason() != Some("WHOLE_DOCUMENT") {
        return Ok(error);
    }
    let Ok(stored) = documents::one(session, text, &[])? else { return Ok(error) };
    let hint = hint(&*session.open(&stored)?);
    Ok(error.map_hints(|other| hint.clone().unwrap_or_else(|| other.clone())))
}

/// Returns what to do instead of an edit of a whole document; `None` if the edit of its whole text may be meant.
pub(super) fn instead_of_whole(document: &OpenDocument, operation: &Operation) -> Option<Message> {
    let whole = document.address("*");
    match operation {
        Operation::Content(Insert { position, .. }) => {
            let (place, position) = match position {
                Position::FirstChild => ("beginning", "first_child"),
                _ => ("end", "last_child"),
            };
            Some(message!(
                "name a section, or insert at the {} of the document with `mdsel insert {path} --position {}`",
                place,
                whole,
                position
            ))
        }
        Operation::Content(Delete { .. }) => Some(message!(
            "empty the file with `mdsel replace {path} --content '' --allow-drop`; or delete the file, and run \
             `mdsel ingest`",
            whole
        )),
        Operation::Mark { .. } => {
            Some(message!("list the tasks with `mdsel tasks --under {path}`", document.namespace))
        }
        Operation::Content(Replace { .. }) | Operation::ReplaceText { .. } | Operation::Key(_) => {
            None
        }
    }
}

/// Returns what to do instead of giving a whole document the title `title`.
pub(super) fn instead_of_title(document: &OpenDocument, title: &str) -> Message {
    let move_it = message!("move the file with `mdsel move {path} PATH`", document.namespace);
    match document.tree.outline().sections.iter().find(|section| section.level == 1) {
        Some(section) => message!(
            "rename its first heading with `mdsel rename {path} --title {}`, or {}",
            document.address_of(section.node),
            title,
            move_it
        ),
        None => message!("name a section, or {}", move_it),
    }
}

/// The edit that was refused.
pub(super) struct RefusedEdit<'a> {
    pub(super) place: &'a ResolvedNode,
    /// The address of the place.
    pub(super) address: &'a str,
    pub(super) operation: &'a Operation,
    /// The bytes of the file.
    pub(super) file: &'a [u8],
}

impl RefusedEdit<'_> {
    /// Returns the error for `refusal`.
    pub(super) fn refused(&self, refusal: &Refusal) -> Error {
        let what = match refusal {
            Refusal::NoSuchPosition => self.impossible(),
            _ => refusal.to_string(),
        };
        let message = format!("{}: {what}", self.address);
        Error::new(ErrorKind::EditRefused, message)
            .with_reason(refusal.code())
            .with_hint(self.hint(refusal))
    }

    /// Returns what to do, as an imperative sentence.
    fn hint(&self, refusal: &Refusal) -> Message {
        let document = &self.place.document.namespace;
        match refusal {
            Refusal::NoSuchPlace if self.place.target == Target::FrontMatter => {
                message!("add it with `mdsel replace {path} --content 'title: T'`", self.front_matter())
            }
            Refusal::NoSuchPlace => {
                message!("list its places with `mdsel index {path} --blocks`", document)
            }
            Refusal::NoSuchPosition => self.position(),
            Refusal::NoSuchPart => self.part(),
            Refusal::NotApart { nested, .. } => {
                let command = self.operation.command().name();
                let address = self.address;
                message!("`mdsel {} {path}` {}s the nested {}, too", command, address, command, nested)
            }
            Refusal::NotWholeLines { .. } => message!(
                "edit the block around it: {}; or its lines, with their markers: {}{}",
                self.container_in_whole_lines().unwrap_or_default(),
                self.lines_of_place(),
                Message::from(if self.replaces() { "; or a phrase in it, with --old" } else { "" })
            ),
            Refusal::EmptyContent => {
                "give text with {--content, --content-file or standard input|content}".into()
            }
            Refusal::NotMarkdown(_) => "give text in UTF-8 without NUL bytes".into(),
            Refusal::NotUtf8 => "give text in UTF-8".into(),
            Refusal::LineEnd => {
                "give one line: each row is inserted by an edit of its own, and a line break in a cell is <br>"
                    .into()
            }
            Refusal::TooManyCells { .. } => {
                "write a pipe inside a cell as \\|, or give fewer cells".into()
            }
            Refusal::NotARow { columns } => {
                message!("write the row with its pipes, as in `|{}`", " text |".repeat(*columns))
            }
            Refusal::NotCode => self.code(),
            Refusal::NotATable { is_replaced: true } => message!(
                "to replace one row, name it as {}/row[0]; else begin the content with a header and a delimiter row, or \
                 pass --allow-change to make it text",
                self.place.address()
            ),
            Refusal::NotATable { is_replaced: false } => {
                "insert the row into the table with --position last_child, or beside a row as TABLE/row[0]"
                    .into()
            }
            Refusal::NotATask { .. } => {
                message!("list the tasks with `mdsel tasks --under {path}`", document)
            }
            Refusal::NotInPlace(fault) => self.other_way_to_change_a_key(fault.kind),
            Refusal::LeavesOpen { .. } if Dialect::of(&self.place.document.stored.path) == Dialect::Mdx => {
                "keep or add the line that closes it; if a regular expression is taken for it, pass --allow-change"
                    .into()
            }
            Refusal::LeavesOpen { .. } => "keep or add the line that closes it".into(),
            Refusal::NoSuchText => message!(
                "copy the old text exactly, with its blanks, from `mdsel read {path} -f raw`",
                self.address
            ),
            Refusal::SeveralTexts { .. } => {
                "give more of the text around it, or name a smaller place, as DOC:START-END"
                    .into()
            }
            Refusal::TooLong(_) => "divide the text into several documents".into(),
            Refusal::OpenFence { .. } => "add the line that closes it to the content".into(),
            Refusal::WouldDrop { is_itself, sections } => self.drop(*is_itself, sections),
            Refusal::WouldEscape { title, least, is_title, .. } => {
                self.own_heading(title).unwrap_or_else(|| self.escape(*least, *is_title))
            }
            Refusal::WouldReparent { .. } => self.levels(&"use headings of other levels".into()),
            Refusal::WrongLevel { wanted, .. } => {
                self.levels(&message!("begin with `{}`", hashes(*wanted)))
            }
            Refusal::NoSuchLevel { .. } => {
                "change the levels of the headings in the content".into()
            }
            Refusal::Duplicate { .. } => "pass --allow-duplicate to insert it again".into(),
            Refusal::FrontMatter(problem) => self.front_matter_hint(*problem),
            Refusal::BreaksMarkup { .. } => self.markers(),
            Refusal::FaultyMarker(fault) if fault.kind == FaultKind::DuplicateId => {
                "give one of the two another id, or pass --allow-change".into()
            }
            Refusal::FaultyMarker(_) => "correct the marker, or pass --allow-change".into(),
            Refusal::IntoItself => "name a place outside the section with --to".into(),
            Refusal::ChangesSection => {
                "close what is open before the new place, or choose another place".into()
            }
            Refusal::ChangesOutside { line, change: OutsideChange::Title { .. } } if self.is_exact() => {
                let tree = &self.place.document.tree;
                let section = tree.section_at_line(*line);
                let address = section.map_or_else(
                    || self.place.address(),
                    |section| self.place.document.address_of(section.node),
                );
                message!("{}, or pass --allow-change", rename(&address))
            }
            Refusal::ChangesOutside { change, .. } => self.change(change),
        }
    }

    /// Whether a phrase or a range of lines is edited.
    fn is_exact(&self) -> bool {
        self.place.resolved.is_some() || matches!(self.operation, Operation::ReplaceText { .. })
    }

    /// Whether text takes the place of other text.
    fn replaces(&self) -> bool {
        matches!(self.operation, Operation::Content(Replace { .. }) | Operation::ReplaceText { .. })
    }

    /// Returns what to do about a key that cannot be changed alone, or that is missing.
    fn other_way_to_change_a_key(&self, fault: KeyFaultKind) -> Message {
        let document = &self.place.document.namespace;
        let list_keys = || message!("list the keys with `mdsel meta --under {path}`", document);
        let first = match self.operation {
            _ if fault == KeyFaultKind::NoKey => list_keys(),
            Operation::Key(change) if fault == KeyFaultKind::Document => {
                let (outer, last) = split_key(change.key());
                return message!(
                    "name one document; if it is a key, write it with `mdsel meta set {path} {}`",
                    document,
                    format!("{outer}={{{last}: VALUE}}")
                );
            }
            Operation::Key(KeyChange::Add(key, _) | KeyChange::Remove(key, _)) => message!(
                "set the whole list with `mdsel meta set {path} {}`",
                document,
                // A key in backquotes may contain the sign of the value.
                if key.contains('=') { format!("`{key}`=[A, B]") } else { format!("{key}=[A, B]") }
            ),
            Operation::Key(KeyChange::Unset(key)) if key.contains('.') => message!(
                "if no other key is below {}, remove that with `mdsel meta unset {path} {}`",
                parent(key),
                document,
                parent(key)
            ),
            _ => list_keys(),
        };
        message!(
            "{}, or edit the whole front matter with `mdsel replace {path} --content-file FILE`",
            first,
            self.front_matter()
        )
    }

    /// The address of the front matter.
    fn front_matter(&self) -> String {
        format!("{}::{FRONT_MATTER_PLACE}", self.place.document.namespace)
    }

    /// The address of the lines of the place.
    fn lines_of_place(&self) -> String {
        let LineSpan { start, end } = LineIndex::new(self.file).lines(self.place.span());
        format!("{}:{start}-{end}", self.place.document.namespace)
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

    /// Says what is not possible, and what the place is.
    fn impossible(&self) -> String {
        let kind = self.kind();
        match self.operation {
            Operation::Content(Insert { relevel: true, .. }) if self.is_exact() => {
                format!("{kind} has no level for the headings")
            }
            Operation::Content(Insert { position, .. }) => {
                format!("{kind} has no position {}", position.name())
            }
            Operation::Content(Delete { .. }) => format!("{kind} cannot be deleted"),
            _ => format!("this is not possible for {kind}"),
        }
    }

    /// What the place is, in words.
    fn kind(&self) -> String {
        let tree = &self.place.document.tree;
        let kind = match self.place.target {
            _ if self.place.resolved.is_some() => "a range of lines",
            Target::Document => "the whole document",
            Target::FrontMatter => "front matter",
            Target::Ldmd(_) => "an LDMD section",
            Target::Cells(cells) if cells.cell.is_some() => "a cell",
            Target::Cells(cells) if cells.row == 0 => "the header of a table",
            Target::Cells(_) => "a row",
            Target::Node(node) => match tree.node(node).map(|node| node.kind) {
                Some(NodeKind::Section(_)) => "a section",
                Some(NodeKind::Block(block)) => return format!("a block of type {}", block.name()),
                Some(NodeKind::Item) => "a list item",
                Some(NodeKind::Root) | None => "the text before the first heading",
            },
        };
        kind.to_owned()
    }

    fn position(&self) -> Message {
        match (self.operation, self.place.target) {
            (Operation::Content(Insert { relevel: true, .. }), _) if self.is_exact() => {
                "leave out --relevel, or name a section".into()
            }
            _ if self.is_exact() => "pass --position before or after".into(),
            (_, Target::Cells(cells)) => {
                let table = self.place.document.address_of(cells.node);
                match (self.operation, cells.cell) {
                    (Operation::Content(Delete { .. }), _) => {
                        message!("delete the table: `mdsel delete {path}`", table)
                    }
                    (_, Some(_)) => {
                        "replace the cell, or insert a row before or after its row".into()
                    }
                    (_, None) => {
                        message!(
                            "pass --position after; the first row follows {}/row[header]",
                            table
                        )
                    }
                }
            }
            (Operation::Content(Delete { .. }), _) => {
                instead_of_whole(&self.place.document, self.operation).unwrap_or_else(|| "".into())
            }
            (_, Target::Document) => "pass --position first_child or last_child".into(),
            (_, Target::FrontMatter) => {
                message!("pass --position after, or replace {}", self.front_matter())
            }
            _ => "pass --position before or after".into(),
        }
    }

    /// The hint for content that is no code block.
    fn code(&self) -> Message {
        let text = self.file.get(self.place.span().start..).unwrap_or_default();
        let line = text.split(|byte| matches!(byte, b'\n' | b'\r')).next().unwrap_or_default();
        let fence = String::from_utf8_lossy(line).trim().to_owned();
        let form = if fence.starts_with("```") || fence.starts_with("~~~") {
            format!("begin the content with the line {fence}, and end it with the closing line")
        } else {
            "indent each line of the content by four spaces".to_owned()
        };
        message!("{}, replace a phrase with --old, or pass --allow-change to make it text", form)
    }

    /// The hint for markers that would no longer match.
    fn markers(&self) -> Message {
        let document = &self.place.document.namespace;
        let first = match self.operation {
            Operation::Content(Delete { .. }) => "name a section that has both markers or none",
            _ => "keep each BEGIN and END marker in the content",
        };
        message!(
            "{}, edit the LDMD section itself (`mdsel ldmd index {path}`), or pass --allow-change",
            first,
            document
        )
    }

    fn part(&self) -> Message {
        let address = self.address;
        match self.operation {
            Operation::Content(Delete { .. }) => {
                message!(
                    "delete the section's own text, too: `mdsel delete {path} --no-children`",
                    address
                )
            }
            _ => self.beside_part(),
        }
    }

    /// The hint for an insertion beside the own text of the place.
    fn beside_part(&self) -> Message {
        let document = &self.place.document;
        let node = match self.place.target {
            Target::Document => {
                return message!(
                    "name the text before the first heading: `mdsel insert {path} --position last_child`",
                    document.address("root")
                );
            }
            Target::Ldmd(_) => None,
            Target::Node(node) if document.tree.section(node).is_some() => None,
            Target::Node(node) => Some(node),
            Target::FrontMatter | Target::Cells(_) => Some(0),
        };
        let Some(node) = node else {
            return message!(
                "name the whole section: `mdsel insert {path} --position first_child` inserts the content after \
                 the section's own text",
                self.address
            );
        };
        let is_list = |child: &usize| {
            let child = document.tree.node(*child).map(|child| child.kind);
            child == Some(NodeKind::Block(BlockType::List))
        };
        let (place, position) = match document.tree.node(node).map(|node| node.kind) {
            Some(NodeKind::Root) => (self.address.to_owned(), "last_child"),
            // Its own text ends where the nested list begins.
            Some(NodeKind::Item) => match document.tree.children(node).find(is_list) {
                Some(list) => (document.address_of(list), "before"),
                None => (self.address.to_owned(), "after"),
            },
            _ => (self.address.to_owned(), "after"),
        };
        message!("name a place without ?part: `mdsel insert {path} --position {}`", place, position)
    }

    fn drop(&self, is_itself: bool, sections: &[String]) -> Message {
        let kept = kept(sections);
        let has_headings = marked(sections) < sections.len();
        if self.is_exact() && self.replaces() && has_headings {
            let section = sections.first().map_or("*", String::as_str);
            let rename = rename(&self.place.document.address_of_path(section));
            return message!(
                "{}, keep the {} in the content, or pass --allow-drop to drop them",
                rename,
                kept
            );
        }
        let is_section = matches!(self.place.target, Target::Node(node)
            if self.place.document.tree.section(node).is_some());
        if is_itself && sections.len() == 1 {
            return match self.operation.scope() {
                EditScope::Heading => "give one heading of the same level".into(),
                _ => "begin the content with a heading of the same level, leave out \
                      --no-keep-heading, or pass --allow-drop"
                    .into(),
            };
        }
        if let Some(heading) = self.heading_in_markers(sections) {
            return message!(
                "begin the content with the heading between the markers, `{}`, or pass --allow-drop to drop it",
                heading
            );
        }
        let is_subtree = self.operation.scope() == EditScope::Subtree;
        if is_subtree && is_section && has_headings && !self.is_exact() {
            return message!(
                "keep their {} in the content, pass --no-children to replace only the section's own text, or \
                 --allow-drop to drop them",
                kept
            );
        }
        if matches!(self.operation, Operation::Content(Delete { .. })) {
            return message!("leave out {} to delete them, too", self.own_text());
        }
        message!("keep their {} in the content, or pass --allow-drop to drop them", kept)
    }

    /// The line of the heading with which the text of the LDMD section begins that is the place, if the only one of the
    /// `sections` is its section.
    fn heading_in_markers(&self, sections: &[String]) -> Option<String> {
        let Target::Ldmd(index) = self.place.target else { return None };
        let content = self.place.document.markup.sections.get(index)?.content;
        let text = content.of(self.file).trim_ascii_start();
        let start = content.end - text.len();
        let tree = &self.place.document.tree;
        let node = tree.section_at(start)?;
        let is_first = tree.node(node)?.bytes.start == start;
        let line = text.split(|byte| matches!(byte, b'\n' | b'\r')).next()?;
        let is_only = is_first && sections == tree.section_path(node).as_slice();
        (is_only && line.starts_with(b"#")).then(|| String::from_utf8_lossy(line).into_owned())
    }

    /// The hint for content that begins with the heading of the section itself, but at another level.
    fn own_heading(&self, title: &str) -> Option<Message> {
        let Target::Node(node) = self.place.target else { return None };
        let section = self.place.document.tree.section(node)?;
        let is_replace = matches!(self.operation, Operation::Content(Replace { .. }));
        (is_replace && section.title == title).then(|| {
            message!(
                "begin the content with `{} {}` as it is, leave the heading out, or pass --no-keep-heading to \
                 change its level",
                hashes(section.level),
                title
            )
        })
    }

    /// What says that the subsections are not meant.
    fn own_text(&self) -> Message {
        if self.place.params.part.is_some() { "?part=own" } else { "--no-children" }.into()
    }

    fn escape(&self, least: u8, is_title: bool) -> Message {
        let is_replace = matches!(self.operation, Operation::Content(Replace { .. }));
        if is_title {
            return "pass --no-keep-heading to replace the title, too".into();
        }
        if self.operation.scope() == EditScope::Heading {
            return "give one heading of the same level".into();
        }
        if least > 6 && is_replace && self.operation.scope() == EditScope::Own {
            return message!(
                "leave the headings out of the content, leave out {} to replace the subsections, too, or pass \
                 --allow-escape",
                self.own_text()
            );
        }
        if least > 6 {
            return "insert sections with --position before or after another section, or pass \
                    --allow-escape"
                .into();
        }
        self.levels(&message!("use `{}` or deeper", hashes(least)))
    }

    /// The hint about heading levels for this command; `first` says how to change the content.
    fn levels(&self, first: &Message) -> Message {
        match self.operation {
            Operation::Content(Insert { relevel: false, .. }) => {
                message!("pass --relevel, {}, or pass --allow-escape", first)
            }
            Operation::Content(Insert { .. } | Replace { .. }) | Operation::ReplaceText { .. } => {
                message!("{}, or pass --allow-escape", first)
            }
            Operation::Content(Delete { .. }) | Operation::Mark { .. } | Operation::Key(_) => {
                "pass --allow-escape".into()
            }
        }
    }

    fn change(&self, change: &OutsideChange) -> Message {
        let kind = match self.place.target {
            Target::Node(node) => self.place.document.tree.node(node).map(|node| node.kind),
            _ => None,
        };
        match (change, kind) {
            (OutsideChange::Content | OutsideChange::Block, _)
                if self.is_exact() && self.continued().is_some() =>
            {
                message!(
                    "begin each further line of the content with `{}`, as the lines around it, or pass --allow-change",
                    self.continued().unwrap_or_default()
                )
            }
            (OutsideChange::Content | OutsideChange::Block, _) if self.list_marker().is_some() => {
                message!(
                    "begin the content with the number of the list, as in `{}text`, or pass --allow-change",
                    self.list_marker().unwrap_or_default()
                )
            }
            (OutsideChange::Content | OutsideChange::Block, _) if self.is_exact() => {
                "check the content for markers and fences, and its first and last line; or pass \
                 --allow-change"
                    .into()
            }
            (OutsideChange::Content | OutsideChange::Block, Some(NodeKind::Item)) => message!(
                "begin the content with the marker of the item, as in `{}text`, and indent its other \
                 lines to match; or pass --allow-change",
                marker(self.file.get(self.place.span().start..).unwrap_or_default())
            ),
            (OutsideChange::Content | OutsideChange::Block, Some(NodeKind::Block(BlockType::Blockquote))) => {
                "begin each line of the content with `> `, or pass --allow-change".into()
            }
            (OutsideChange::Content | OutsideChange::Block, _) => match self.container_kind() {
                Some(_) => "indent the content like the lines around it, or pass --allow-change".into(),
                None => "check for an open fence or comment, and for a list or a heading underline next to \
                         the place; to extend a list, insert before or after one of its items; or pass \
                         --allow-change"
                    .into(),
            },
            (OutsideChange::Title { .. } | OutsideChange::Link { .. } | OutsideChange::NewLink { .. }, _) => {
                "keep the link definitions unchanged, or pass --allow-change".into()
            }
            (OutsideChange::Footnote { .. }, _) => {
                "keep the footnote, use another label, or pass --allow-change".into()
            }
        }
    }

    /// What the line of a phrase begins with, if it is blanks and marks of block quotes that a further line of the content
    /// lacks.
    fn continued(&self) -> Option<String> {
        let Operation::ReplaceText { old, content, .. } = self.operation else { return None };
        let span = self.place.span();
        let first = old.lines().next().filter(|line| !line.is_empty())?;
        let at = span.start + memchr::memmem::find(span.of(self.file), first.as_bytes())?;
        let before = self.file.get(..at)?;
        let line = before.rsplit(|byte| matches!(byte, b'\n' | b'\r')).next()?;
        let is_mark = |byte: &u8| matches!(byte, b' ' | b'\t' | b'>');
        let line = line.get(..line.iter().take_while(|byte| is_mark(byte)).count())?;
        let line = String::from_utf8_lossy(line).into_owned();
        let content = String::from_utf8_lossy(content);
        let mut further = content.lines().skip(1);
        (!line.is_empty() && further.any(|further| !further.starts_with(&line))).then_some(line)
    }

    /// The marker of the first item of a numbered list, if the lines begin with it and the content with another number.
    fn list_marker(&self) -> Option<String> {
        let span =
            Some(self.place.span()).filter(|_| self.place.resolved == Some(ResolvedAs::Lines))?;
        let start = narrowed(self.place, span, span.of(self.file)).0.start;
        let tree = &self.place.document.tree;
        let is_list = |node: &Node| {
            node.kind == NodeKind::Block(BlockType::List) && node.bytes.start == start
        };
        tree.outline().nodes.iter().find(|node| is_list(node))?;
        let marker = marker(self.file.get(start..)?);
        let number = |text: &[u8]| {
            let text = text.trim_ascii_start();
            let end = text.iter().position(|byte| !byte.is_ascii_digit())?;
            let digits = std::str::from_utf8(text.get(..end)?).ok()?;
            text.get(end).filter(|byte| b".)".contains(byte))?;
            digits.parse::<u32>().ok()
        };
        let own = number(marker.as_bytes())?;
        number(self.operation.content()).filter(|given| *given != own).map(|_| marker)
    }

    fn container_kind(&self) -> Option<NodeKind> {
        let Target::Node(node) = self.place.target else { return None };
        let tree = &self.place.document.tree;
        let kind = tree.node(tree.node(node)?.parent?)?.kind;
        matches!(kind, NodeKind::Block(_) | NodeKind::Item).then_some(kind)
    }

    fn front_matter_hint(&self, problem: FrontMatterProblem) -> Message {
        let address = self.front_matter();
        match problem {
            FrontMatterProblem::NotClosed => {
                "close it with the delimiter that it begins with, or give keys and values without delimiters"
                    .into()
            }
            FrontMatterProblem::ClosedEarly => "remove the delimiter inside the content".into(),
            FrontMatterProblem::NotKeys => {
                "give lines as `key: value`, or TOML between lines of `+++`".into()
            }
            FrontMatterProblem::Appears => message!(
                "change front matter with `mdsel replace {path}`, and begin other text with another line",
                address
            ),
            FrontMatterProblem::Lost => {
                message!("change the front matter by name: `mdsel replace {path}`", address)
            }
        }
    }
}

/// The key above the one that ends with the name of a document, and that one.
fn split_key(key: &str) -> (&str, &str) {
    key.split("::").next().and_then(|name| name.rsplit_once('.')).unwrap_or_default()
}

/// The key above a nested one.
fn parent(key: &str) -> &str {
    key.rsplit_once('.').map_or(key, |(parent, _)| parent)
}

/// The advice to change the title of the section at this address with `rename`.
fn rename(section: &str) -> Message {
    message!("change a title with `mdsel rename {path} --title TITLE`", section)
}

/// The number of `sections` that are LDMD sections.
fn marked(sections: &[String]) -> usize {
    sections.iter().filter(|section| section.starts_with("ldmd:")).count()
}

/// What content must have to keep `sections`.
fn kept(sections: &[String]) -> &'static str {
    match marked(sections) {
        0 => "headings",
        marked if marked == sections.len() => "markers",
        _ => "headings and markers",
    }
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
