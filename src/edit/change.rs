//! One edit: an address and an operation, applied to the bytes of a document.
//!
//! Invariant: an edit names its place exactly. A part of a title names no place unless the edit allows it,
//! and neither does a line that is not the line of a heading (see `mdsel help edits`).

use std::borrow::Cow;
use std::rc::Rc;

use super::hint::RefusedEdit;
use super::operation::{Done, Edit, Operation};
use super::plan::ContentChange::{Delete, Insert, Replace};
use super::plan::{
    self, Allow, Detail, EditScope, ExactEdit, Plan, Position, Refusal, RowPlace, Shift, Side,
    Splice, plan, plan_detail, plan_exact,
};
use crate::address::{
    AddressError, AddressResult, CellSteps, FaultCode, Params, SectionPart, lines_address,
    namespace,
};
use crate::error::{Error, ErrorKind, Result, Warning};
use crate::markdown::Dialect;
use crate::markdown::contents::TaskItem;
use crate::markdown::outline::{NodeKind, Section};
use crate::message::message;
use crate::position::{ByteSpan, LineIndex, LineSpan};
use crate::query::node::{has_hash, narrowed, short_hash};
use crate::query::open_document::OpenDocument;
use crate::query::resolved_node::{ResolvedAs, ResolvedNode, Target};
use crate::query::{NamedNode, locate_for_edit, locate_text_for_edit, narrow};
use crate::store::StoredDocument;
use crate::visible::quoted;

/// The current version of a document while a batch of edits is applied.
pub(super) struct Current {
    document: Rc<OpenDocument>,
    version: plan::Version,
    /// What each edit so far has made.
    made: Vec<NewContent>,
}

/// The new content of an edit.
struct NewContent {
    span: ByteSpan,
    /// The start of the section that was replaced, and the part of it that was.
    section: Option<(usize, EditScope)>,
    /// Whether a later edit removed it, or replaced it together with text around it.
    is_removed: bool,
}

/// Where the new content of an edit is after all edits.
pub(super) struct NewPlace {
    /// See [`Done::new_lines`].
    pub(super) lines: LineSpan,
    /// See [`Done::new_section_path`].
    pub(super) section_path: Option<String>,
    /// See [`Done::new_selector`].
    pub(super) selector: Option<String>,
}

/// Returns `span` without the blanks and the marks of block quotes at both of its ends.
fn trimmed(file: &[u8], span: ByteSpan) -> ByteSpan {
    let is_blank = |byte: &u8| byte.is_ascii_whitespace() || *byte == b'>';
    let bytes = span.of(file);
    let Some(first) = bytes.iter().position(|byte| !is_blank(byte)) else { return span };
    let last = bytes.iter().rposition(|byte| !is_blank(byte)).unwrap_or(first);
    ByteSpan::new(span.start + first, span.start + last + 1)
}

impl NewContent {
    /// Moves the spans as a later edit of `file` moves them.
    fn shift(&mut self, splice: &Splice, file: &[u8]) {
        let shift = Shift::of(splice);
        let is_same = trimmed(file, splice.at) == trimmed(file, self.span);
        let is_kept = is_same && !splice.inserted.is_empty();
        self.is_removed |= !self.span.is_empty() && splice.at.contains(self.span) && !is_kept;
        let start = |offset: usize| shift.start(offset).unwrap_or(splice.inserted.start);
        let end = |offset: usize| shift.end(offset).unwrap_or(splice.inserted.end);
        let is_gone = |start: usize| splice.inserted.is_empty() && shift.start(start).is_none();
        self.section = self.section.filter(|(start, _)| !is_gone(*start));
        self.section = self.section.map(|(offset, scope)| (start(offset), scope));
        let from = start(self.span.start);
        self.span = ByteSpan::new(from, end(self.span.end).max(from));
    }
}

/// Returns the warning that text without a heading, which is inserted beside or into a section, becomes part of another
/// section than that one and the one around it.
fn joined_section(
    old: &plan::Version,
    place: &ResolvedNode,
    splice: &Splice,
    new: &plan::Version,
) -> Option<Warning> {
    let Target::Node(node) = place.target else { return None };
    place.document.tree.section(node)?;
    let start = |section: &Section| Some(old.outline().nodes.get(section.node)?.bytes.start);
    let is_before = |section: &&Section| start(section).is_some_and(|at| at < splice.at.start);
    let last = old.outline().sections.iter().rfind(is_before)?;
    let parent = place.document.tree.sections_above(node).into_iter().rev().nth(1);
    let is_expected = last.node == node || parent.is_some_and(|parent| parent.node == last.node);
    if is_expected || new.sections_in(splice.inserted).next().is_some() {
        return None;
    }
    let message = format!(
        "the text has no heading, so it is part of the section {}; begin it with a heading to make it a section",
        old.path(last.node)
    );
    Some(Warning::new("JOINS_SECTION", message))
}

/// Returns the warning that text, which is inserted beside or into a section, is in another LDMD section than the heading
/// of that section, or in none. LDMD sections of the text itself do not count.
fn other_ldmd_section(
    old: &plan::Version,
    place: &ResolvedNode,
    splice: &Splice,
    new: &plan::Version,
) -> Option<Warning> {
    let Target::Node(node) = place.target else { return None };
    place.document.tree.section(node)?;
    let name = |version: &plan::Version, section: Option<usize>| {
        section.map(|section| format!("ldmd:{}", version.markup().name(section)))
    };
    let markup = new.markup();
    let parent = |section: &usize| markup.sections.get(*section)?.parent;
    let is_around = |section: &usize| {
        let section = markup.sections.get(*section);
        section.is_some_and(|section| section.span.start < splice.inserted.start)
    };
    let innermost = markup.innermost_at(splice.inserted.start);
    let around = std::iter::successors(innermost, parent).find(is_around);
    let begins_in = name(old, old.markup().innermost_at(place.span().start));
    let is_in = name(new, around);
    if begins_in == is_in {
        return None;
    }
    let (given, position) = match (&begins_in, &is_in) {
        (Some(section), _) => (section, "last_child"),
        (None, section) => (section.as_ref()?, "before"),
    };
    let said = |section: &Option<String>| section.clone().unwrap_or("no LDMD section".to_owned());
    let message = message!(
        "the heading of {} is in {}, and the text is in {}; `mdsel insert {path} --position {}` inserts it on the \
         other side of the marker",
        place.address(),
        said(&begins_in),
        said(&is_in),
        place.document.address(given),
        position
    );
    Some(Warning::new("OTHER_LDMD_SECTION", message))
}

impl Current {
    /// Parses `bytes`, the bytes of the file of `stored`.
    pub(super) fn new(stored: StoredDocument, bytes: Vec<u8>) -> Self {
        let dialect = Dialect::of(&stored.path);
        Self::of(stored, plan::Version::read_as(bytes, dialect))
    }

    fn of(stored: StoredDocument, version: plan::Version) -> Self {
        let (outline, markup) = (version.outline().clone(), version.markup().clone());
        let document = Rc::new(OpenDocument::new(stored, outline, markup));
        Self { document, version, made: Vec::new() }
    }

    /// The document with all edits so far.
    pub(super) fn document(&self) -> &Rc<OpenDocument> {
        &self.document
    }

    /// The version of the file with all edits so far.
    pub(super) fn version(&self) -> &plan::Version {
        &self.version
    }

    /// Returns the version of the file and drops the document.
    pub(super) fn into_version(self) -> plan::Version {
        self.version
    }

    /// Applies an edit at the place `named`; `original` are the bytes of the file before all edits. The inner error
    /// says why the place was not found.
    pub(super) fn make(
        &mut self,
        edit: &Edit,
        named: &NamedNode,
        original: &[u8],
    ) -> Result<AddressResult<Done>> {
        let place = match self.located(edit, named) {
            Ok(place) => place,
            Err(fault) => return Ok(Err(fault)),
        };
        // The part that the address names takes precedence over the flags.
        let operation = &*match place.params.part {
            Some(SectionPart::Heading) => Cow::Owned(edit.operation.on(EditScope::Heading)),
            Some(SectionPart::Own) => Cow::Owned(edit.operation.on(EditScope::Own)),
            _ if place.target == Target::Document => {
                Cow::Owned(edit.operation.clone().in_document())
            }
            Some(SectionPart::All) | None => Cow::Borrowed(&edit.operation),
        };
        let scope = operation.scope();
        let lines = self.lines(&place);
        if lines.is_some() && scope != EditScope::Subtree {
            let message = "a range of lines has no children; leave out --no-children";
            let fault = AddressError::new(FaultCode::MalformedQuery, message);
            return Ok(Err(fault.of(&edit.section)));
        }
        let address = self.address_of(&place, lines);
        if place.target == Target::Document && scope == EditScope::Own {
            let own = ResolvedNode {
                params: Params { part: Some(SectionPart::Own), ..place.params },
                ..place.clone()
            };
            if own.part_span() != place.span() {
                let message = "a document's own text has two parts, `@frontmatter` and `root`";
                let name = namespace::encode(&self.document.stored.path);
                let fault = AddressError::new(FaultCode::MalformedQuery, message).of(&edit.section);
                return Ok(Err(fault.suggest(vec![format!("{name}::root")])));
            }
        }
        if let Some(expected) = &edit.expect {
            self.expect(&place, operation, expected, original)?;
        }
        let exact = exact(operation, &place, lines);
        // Bytes that are not UTF-8 are taken only by a file that has such bytes: what was read can be given back.
        let is_text =
            self.version.document().is_lossy || std::str::from_utf8(operation.content()).is_ok();
        let planned = if is_text {
            self.planned(operation, edit.allow, &place, exact)
        } else {
            Err(Refusal::NotUtf8)
        };
        let Plan { splice, version } = planned.map_err(|refusal| {
            let (place, address, file) = (&place, &address, self.version.bytes());
            let refused_edit = RefusedEdit { place, address, operation, file };
            refused_edit.refused(&refusal)
        })?;
        if !splice.effects.is_noop {
            self.made.iter_mut().for_each(|one| one.shift(&splice, self.version.bytes()));
        }
        let (removed, around) = match operation {
            // A cell is emptied, and its line stays.
            Operation::Content(Delete { .. }) if !is_cell(&place) => {
                let removed = splice.deleted(&self.version);
                // Definitions that stay are among these lines.
                let start = removed.first().map_or(splice.at.end, |first| first.start);
                (removed, ByteSpan::new(start, splice.at.end))
            }
            _ => (vec![splice.removed], splice.removed),
        };
        let change = |change: &Refusal| Warning::new("CHANGED_OUTSIDE", change.to_string());
        let changes = splice.changes.iter().map(change);
        let is_insertion = matches!(operation, Operation::Content(Insert { .. }));
        let of_insertion = [joined_section, other_ldmd_section].into_iter().filter_map(|warning| {
            is_insertion.then(|| warning(&self.version, &place, &splice, &version)).flatten()
        });
        let warnings = changes.chain(of_insertion).collect();
        let done = Done {
            file: self.document.stored.path.clone(),
            selector: address,
            command: operation.command(),
            key: match operation {
                Operation::Key(change) => Some(change.key().to_owned()),
                _ => None,
            },
            old_content: removed.iter().flat_map(|span| self.bytes(*span)).copied().collect(),
            is_emptied: is_cell(&place),
            old_lines: LineIndex::new(self.version.bytes()).lines(around),
            new_lines: LineSpan::default(),
            new_section_path: None,
            new_selector: None,
            effects: splice.effects,
            warnings,
        };
        let mut made = std::mem::take(&mut self.made);
        // An empty replacement of the heading, too, leaves no section.
        let start = place.span().start;
        let has_section = !splice.inserted.is_empty() || splice.inserted.start > start;
        let is_section = matches!(place.target, Target::Node(node)
            if place.document.tree.section(node).is_some());
        let is_replaced = matches!(operation, Operation::Content(Replace { .. }));
        let section =
            (is_replaced && lines.is_none() && is_section && has_section).then_some((start, scope));
        // A phrase that is gone has no lines of its own.
        let is_gone =
            matches!(edit.operation, Operation::ReplaceText { .. }) && splice.inserted.is_empty();
        let tree = &place.document.tree;
        let around = tree.section_at(splice.at.start).filter(|_| is_gone);
        let around = around.and_then(|node| Some((tree.node(node)?.bytes.start, scope)));
        let section = section.or(around);
        made.push(NewContent { span: splice.inserted, section, is_removed: false });
        *self = Self { made, ..Self::of(self.document.stored.clone(), version) };
        Ok(Ok(done))
    }

    /// Returns the place of an edit.
    fn located(&self, edit: &Edit, named: &NamedNode) -> AddressResult<ResolvedNode> {
        if named.has_anchor() {
            let version = &self.version;
            self.document.set_anchors(&version.document().html_anchors, version.bytes());
        }
        let place = match &edit.operation {
            Operation::Mark { .. } => self.task(edit, named),
            Operation::Key(_) => locate_for_edit(&self.document, named, edit.is_fuzzy),
            _ => locate_text_for_edit(&self.document, named, edit.is_fuzzy),
        }?;
        match named.cells() {
            None => Ok(place),
            Some(steps) => self.narrowed(&place, steps).map_err(|fault| fault.of(&edit.section)),
        }
    }

    /// Returns the plan of an edit at `place`, which is of exact bytes, of a part of a block, or of a node.
    fn planned(
        &self,
        operation: &Operation,
        allow: Allow,
        place: &ResolvedNode,
        exact: Option<std::result::Result<ExactEdit<'_>, Refusal>>,
    ) -> std::result::Result<Plan, Refusal> {
        if let Some(exact) = exact {
            return plan_exact(&self.version, &exact?, allow);
        }
        if let Some(detail) =
            detail(operation, place).or_else(|| self.row_of_table(operation, place))
        {
            return plan_detail(&self.version, detail?, allow);
        }
        let (Some(target), Operation::Content(change)) = (target_of(place), operation) else {
            return Err(Refusal::NoSuchPosition);
        };
        let is_part = place.params.part.is_some_and(|part| part != SectionPart::All);
        if is_part && matches!(change, Insert { .. }) {
            return Err(Refusal::NoSuchPart);
        }
        plan(&self.version, target, change, allow)
    }

    /// Returns the insertion of a first or last row, if `operation` inserts content into the table at `place`.
    fn row_of_table<'a>(
        &self,
        operation: &'a Operation,
        place: &ResolvedNode,
    ) -> Option<std::result::Result<Detail<'a>, Refusal>> {
        let (Operation::Content(Insert { content, position, .. }), Target::Node(node)) =
            (operation, place.target)
        else {
            return None;
        };
        let mut tables = self.version.document().contents.tables.iter();
        let table = tables.find(|table| table.node == node)?;
        let row = match position {
            Position::FirstChild => 0,
            Position::LastChild => table.rows().len().saturating_sub(1),
            Position::Before | Position::After => return None,
        };
        Some(Ok(Detail::InsertRow(RowPlace { node, row }, Side::After, content)))
    }

    /// Returns, for each edit, where its new content is after all edits.
    pub(super) fn places(&self) -> impl Iterator<Item = NewPlace> {
        let index = LineIndex::new(self.version.bytes());
        self.made.iter().map(move |one| {
            let section = one.section.and_then(|(start, scope)| self.section_span(start, scope));
            let is_there = !one.is_removed;
            NewPlace {
                lines: index.lines(section.unwrap_or(one.span)),
                section_path: is_there.then(|| self.section_path(one.span)).flatten(),
                selector: is_there.then(|| self.selector_of(one.span, &index)),
            }
        })
    }

    /// Returns the address of the LDMD section, section, block or item that has exactly the bytes of `span`, or else that
    /// of its lines. The outermost one stands for those in it.
    fn selector_of(&self, span: ByteSpan, index: &LineIndex) -> String {
        let (document, file) = (&self.document, self.version.bytes());
        let content = trimmed(file, span);
        let is_it = |bytes: ByteSpan| trimmed(file, bytes) == content;
        let mut markup = document.markup.sections.iter();
        if let Some(section) = markup.position(|section| is_it(section.span)) {
            return document.address_of_ldmd(section);
        }
        let tree = &document.tree;
        let nodes = &tree.outline().nodes;
        let first = nodes.partition_point(|node| node.bytes.start < span.start);
        let mut beginning = (first..).map_while(|node| Some((node, tree.node(node)?)));
        let node = beginning
            .by_ref()
            .take_while(|(_, node)| node.bytes.start <= content.start)
            .find(|(_, node)| node.kind != NodeKind::Root && is_it(node.bytes));
        match node {
            Some((node, _)) => document.address_of_section(node),
            None => {
                let LineSpan { start, end } = index.lines(content);
                lines_address(&document.stored.path, start, end.max(start))
            }
        }
    }

    /// Returns the task whose mark is on a line, 1-based.
    fn task_at(&self, line: usize) -> AddressResult<ResolvedNode> {
        let lines = LineIndex::new(self.version.bytes());
        let tasks = &self.version.document().contents.tasks;
        let Some(task) = tasks.iter().find(|task| lines.line_of(task.mark) == line) else {
            let path = &self.document.stored.path;
            let message = format!("line {line} of {path} has no task");
            let fault = AddressError::new(FaultCode::SelectorNotFound, message);
            return Err(
                fault.or_else(|| message!("`mdsel tasks --under {path}` lists its tasks", path))
            );
        };
        Ok(ResolvedNode::new(Rc::clone(&self.document), Target::Node(task.node), Params::default()))
    }

    /// Returns the place of a task: the line or the whole text of a task, what an address names exactly, or, if the edit
    /// allows it, a part of the text of a task or of a title.
    fn task(&self, edit: &Edit, named: &NamedNode) -> AddressResult<ResolvedNode> {
        if let Some(line) = named.line() {
            return self.task_at(line).map_err(|fault| fault.of(&edit.section));
        }
        let path = &self.document.stored.path;
        let texts: Vec<&str> = named.texts().map(str::trim).collect();
        let given = texts.first().copied().unwrap_or_default();
        let several = |called: &[ResolvedNode], having: String| {
            let message = format!("{path} has {} tasks {having}", called.len());
            let fault = AddressError::new(FaultCode::Ambiguous, message).of(&edit.section);
            fault.among(called.iter().map(ResolvedNode::candidate), called.len())
        };
        match self.tasks_with(|task| texts.contains(&task.text.trim())).as_slice() {
            [task] => return Ok(task.clone()),
            [] => {}
            called => return Err(several(called, quoted(&given).to_string())),
        }
        let fault = match locate_for_edit(&self.document, named, false) {
            Err(fault) if fault.code == FaultCode::SelectorNotFound => fault,
            located => return located,
        };
        if edit.is_fuzzy {
            let has_part = |task: &TaskItem| texts.iter().any(|text| task.text.contains(text));
            match self.tasks_with(has_part).as_slice() {
                [task] => return Ok(task.clone()),
                [] => {}
                called => {
                    return Err(several(
                        called,
                        format!("with {given} in their text", given = quoted(&given)),
                    ));
                }
            }
            match locate_for_edit(&self.document, named, true) {
                Err(fault) if fault.code == FaultCode::SelectorNotFound => {}
                located => return located,
            }
        }
        // The fault of an anchor or of steps says what is missing.
        let Some(text) = named.title() else { return Err(fault) };
        let message = message!(
            "{} has no task {}; `mdsel tasks --under {path}` lists its tasks",
            path,
            quoted(&text).to_string(),
            path
        );
        Err(AddressError { message, ..fault })
    }

    /// Returns the tasks that `is_it` accepts.
    fn tasks_with(&self, is_it: impl Fn(&TaskItem) -> bool) -> Vec<ResolvedNode> {
        let tasks = self.version.document().contents.tasks.iter().filter(|task| is_it(task));
        let place = |task: &TaskItem| {
            let target = Target::Node(task.node);
            ResolvedNode::new(Rc::clone(&self.document), target, Params::default())
        };
        tasks.map(place).collect()
    }

    /// Returns the row or cell that `steps` name in the table at `place`.
    fn narrowed(&self, place: &ResolvedNode, steps: &CellSteps) -> AddressResult<ResolvedNode> {
        let tables = &self.version.document().contents.tables;
        let bytes = |span| self.bytes(span).to_vec();
        let places = narrow(place, steps, tables, &bytes, &mut Vec::new())?;
        match places.as_slice() {
            [place] => Ok(place.clone()),
            places => {
                let lines = LineIndex::new(self.version.bytes());
                let ends =
                    [places.first(), places.last()].map(|one| one.filter(|one| !is_cell(one)));
                let instead = match ends.map(|one| one.map(|one| lines.line_of(one.span().start))) {
                    [Some(first), Some(last)] => {
                        format!("; their lines are {}:{first}-{last}", self.document.namespace)
                    }
                    _ => String::new(),
                };
                let count = places.len();
                let message = format!("{steps} names {count} places; an edit needs one{instead}");
                let fault = AddressError::new(FaultCode::Ambiguous, message);
                Err(fault.among(places.iter().map(ResolvedNode::candidate), places.len()))
            }
        }
    }

    /// Returns the bytes of the lines, if `place` is a range of lines.
    fn lines(&self, place: &ResolvedNode) -> Option<ByteSpan> {
        let span = place.span();
        (place.resolved == Some(ResolvedAs::Lines))
            .then(|| narrowed(place, span, self.bytes(span)).0)
    }

    /// Returns the address of the lines, or else of the place.
    fn address_of(&self, place: &ResolvedNode, lines: Option<ByteSpan>) -> String {
        let Some(lines) = lines else { return place.address() };
        let LineSpan { start, end } = LineIndex::new(self.version.bytes()).lines(lines);
        format!("{}:{start}-{end}", place.document.namespace)
    }

    fn bytes(&self, span: ByteSpan) -> &[u8] {
        span.of(self.version.bytes())
    }

    /// Returns `CONFLICT` if neither the edited part nor the whole file has the hash `expected`, nor had the file before
    /// all edits, whose bytes are `original`.
    fn expect(
        &self,
        place: &ResolvedNode,
        operation: &Operation,
        expected: &str,
        original: &[u8],
    ) -> Result<()> {
        let of_part = |part| {
            let place = ResolvedNode { params: Params { part, ..place.params }, ..place.clone() };
            self.bytes(place.part_span())
        };
        let is_of = |bytes: &[u8]| has_hash(bytes, expected);
        let own = of_part(Some(SectionPart::Own));
        let whole = of_part(None);
        let scope = operation.scope();
        // Inserted content leaves both the section's own text and its subsections unchanged.
        let may_be_own =
            scope == EditScope::Own || matches!(operation, Operation::Content(Insert { .. }));
        let lines = self.lines(place);
        let is_expected = is_of(whole)
            || lines.is_some_and(|span| is_of(self.bytes(span)))
            || (may_be_own && is_of(own))
            || (scope == EditScope::Heading && is_of(of_part(Some(SectionPart::Heading))))
            || is_of(self.version.bytes())
            || is_of(original);
        if is_expected {
            return Ok(());
        }
        let address = self.address_of(place, lines);
        let found = short_hash(lines.map_or(whole, |span| self.bytes(span)));
        let message = format!("{address}: the hash is {found}, not {expected}");
        let hint = if lines.is_none() && is_of(own) {
            "that is the hash of the section's own text: pass --no-children to edit only that"
                .into()
        } else {
            message!(
                "read it again with `mdsel read {path} --refresh -f json`, and repeat the edit",
                address
            )
        };
        Err(Error::new(ErrorKind::Conflict, message).with_hint(hint))
    }

    /// Returns the part `scope` of the section that begins at `start`.
    fn section_span(&self, start: usize, scope: EditScope) -> Option<ByteSpan> {
        let tree = &self.document.tree;
        let node = tree.section_at(start)?;
        let (span, section) = (tree.node(node)?.bytes, tree.section(node)?);
        let end = match scope {
            EditScope::Subtree => span.end,
            EditScope::Own => section.own_end,
            EditScope::Heading => section.heading_end,
        };
        (span.start == start).then_some(ByteSpan::new(start, end))
    }

    /// The slug path of the first section that begins in `span`, or of the innermost section that contains it.
    fn section_path(&self, span: ByteSpan) -> Option<String> {
        let tree = &self.document.tree;
        let node = |section: &Section| tree.node(section.node);
        let sections = tree.outline().sections.iter();
        let mut within = sections.filter(|section| {
            node(section)
                .is_some_and(|node| span.start <= node.bytes.start && node.bytes.start < span.end)
        });
        let found =
            within.next().map(|section| section.node).or_else(|| tree.section_at(span.start));
        found.and_then(|node| tree.section_path(node))
    }
}

/// Returns the place in the terms of a plan; `None` for a row or a cell.
pub(super) fn target_of(place: &ResolvedNode) -> Option<plan::EditTarget> {
    match place.target {
        Target::Document => Some(plan::EditTarget::Document),
        Target::FrontMatter => Some(plan::EditTarget::FrontMatter),
        Target::Node(node) => Some(plan::EditTarget::Node(node)),
        Target::Ldmd(section) => Some(plan::EditTarget::Ldmd(section)),
        Target::Cells(_) => None,
    }
}

fn is_cell(place: &ResolvedNode) -> bool {
    matches!(place.target, Target::Cells(cells) if cells.cell.is_some())
}

/// Returns the edit of a part of a block, if `operation` at `place` is one.
fn detail<'a>(
    operation: &'a Operation,
    place: &ResolvedNode,
) -> Option<std::result::Result<Detail<'a>, Refusal>> {
    let cells = match (operation, place.target) {
        (Operation::Key(change), _) => return Some(Ok(Detail::Key(change))),
        (Operation::Mark { is_done }, Target::Node(node)) => {
            return Some(Ok(Detail::Mark { node, is_done: *is_done }));
        }
        (Operation::Mark { .. }, target) => {
            let place = match target {
                Target::Document => "document",
                Target::FrontMatter => "front matter",
                Target::Ldmd(_) => "section",
                Target::Cells(cells) if cells.cell.is_some() => "cell",
                _ => "row",
            };
            return Some(Err(Refusal::NotATask { place }));
        }
        (_, Target::Cells(cells)) => cells,
        _ => return None,
    };
    let row = RowPlace { node: cells.node, row: cells.row };
    Some(Ok(match (operation, cells.cell) {
        (Operation::Content(Replace { content, .. }), Some(cell)) => {
            Detail::Cell(row, cell, content)
        }
        (Operation::Content(Replace { content, .. }), None) => Detail::Row(row, content),
        (Operation::Content(Insert { content, position, .. }), None) => match position.side() {
            Some(side) => Detail::InsertRow(row, side, content),
            None => return Some(Err(Refusal::NoSuchPosition)),
        },
        (Operation::Content(Delete { .. }), None) => Detail::DeleteRow(row),
        (Operation::Content(Delete { .. }), Some(cell)) => Detail::Cell(row, cell, b""),
        _ => return Some(Err(Refusal::NoSuchPosition)),
    }))
}

/// Returns the edit of a phrase, or of a range of lines, if `operation` at `place` is one.
fn exact<'a>(
    operation: &'a Operation,
    place: &ResolvedNode,
    lines: Option<ByteSpan>,
) -> Option<std::result::Result<ExactEdit<'a>, Refusal>> {
    Some(Ok(match (operation, lines) {
        (Operation::ReplaceText { old, content, scope }, lines) => {
            let part = match scope {
                EditScope::Subtree => SectionPart::All,
                EditScope::Own => SectionPart::Own,
                EditScope::Heading => SectionPart::Heading,
            };
            let params = Params { part: Some(part), ..place.params };
            let part = ResolvedNode { params, ..place.clone() };
            let within = lines.unwrap_or_else(|| part.part_span());
            // A cell has one line, and a pipe ends it.
            let is_cell = is_cell(place);
            let content = match std::str::from_utf8(content) {
                Ok(text) if is_cell && text.trim_end().contains(['\n', '\r']) => {
                    return Some(Err(Refusal::LineEnd));
                }
                Ok(text) if is_cell => plan::escaped(text).into_bytes().into(),
                _ => content.into(),
            };
            let section = match place.target {
                Target::Node(node) if lines.is_none() => place.document.tree.section(node),
                _ => None,
            };
            let level = section.map(|section| section.level);
            ExactEdit::Phrase { within, level, old: old.as_bytes(), content }
        }
        (Operation::Content(Replace { content, .. }), Some(lines)) => {
            ExactEdit::Replace(lines, content)
        }
        (Operation::Content(Insert { content, position, relevel: false }), Some(lines)) => {
            match position.side() {
                Some(side) => ExactEdit::Insert(lines, side, content),
                None => return Some(Err(Refusal::NoSuchPosition)),
            }
        }
        (Operation::Content(Insert { .. }), Some(_)) => {
            return Some(Err(Refusal::NoSuchPosition));
        }
        (Operation::Content(Delete { .. }), Some(lines)) => ExactEdit::Delete(lines),
        _ => return None,
    }))
}
