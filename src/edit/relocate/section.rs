//! Gives a section another place, in its document or in another one.
//!
//! Invariant: the plan knows where each place of both documents is afterwards.

use std::rc::Rc;

use super::link_comparison::MovedPlaces;
use super::new_version::{MovedLines, NewVersion};
use super::{
    NewLabel, RelocateEffects, RelocationPlan, SectionRelocation, not_a_section, section_at,
};
use crate::address::AddressResult;
use crate::edit::change::target_of;
use crate::edit::hint::{RefusedEdit, of_whole_document};
use crate::edit::makes_no_document;
use crate::edit::operation::Operation;
use crate::edit::plan::ContentChange::{Delete, Insert};
use crate::edit::plan::{
    EditScope, EditTarget, MovedFile, MovedPlace, SectionMove, Version, move_section,
};
use crate::error::{Error, ErrorKind, Result};
use crate::links::folder_of;
use crate::markdown::Dialect;
use crate::message::{Message, message};
use crate::position::ByteSpan;
use crate::query::open_document::OpenDocument;
use crate::query::resolved_node::Target;
use crate::query::{Session, named};

/// Moves a section next to another place.
pub(super) fn moved_section(
    session: &Session<'_>,
    relocation: &SectionRelocation,
) -> Result<AddressResult<RelocationPlan>> {
    let SectionRelocation { document, section, to, position, relevel, allow, is_fuzzy } =
        relocation;
    let mut places = Vec::with_capacity(2);
    for (document, address) in [(document.as_deref(), section), (None, to)] {
        let named = named(session, document, address, *is_fuzzy).or_else(|error| {
            let hint =
                |document: &OpenDocument| (address == section).then(|| instead_of_place(document));
            Err(of_whole_document(session, error, address, hint)?)
        });
        let place = match named? {
            Ok(place) => place,
            Err(fault) if address == to => return Ok(Err(makes_no_document(fault, to))),
            Err(fault) => return Ok(Err(fault)),
        };
        let document = session.open(&place.stored)?;
        match crate::query::locate_for_edit(&document, &place, *is_fuzzy) {
            Ok(found) if places.is_empty() && found.target == Target::Document => {
                return Err(no_section_but(&document));
            }
            Ok(found) => places.push(found),
            Err(fault) => return Ok(Err(fault)),
        }
    }
    let [place, target] = places.as_slice() else { return Err(not_a_place(section)) };
    let Some((node, section)) = section_at(place) else {
        return Err(not_a_section(place));
    };
    let read = |document: &OpenDocument| {
        let bytes = session.content(document, document.span())?;
        Ok::<_, Error>(Version::read_as(bytes, Dialect::of(&document.stored.path)))
    };
    let (left_document, entered_document) = (&place.document, &target.document);
    let from = read(left_document)?;
    let is_within = left_document.stored.id == entered_document.stored.id;
    let entered = if is_within { None } else { Some(read(entered_document)?) };
    let Some(edit_target) = target_of(target).filter(|_| target.params.part.is_none()) else {
        return Err(not_a_place(to));
    };
    let position = match edit_target {
        EditTarget::Document => position.in_document(),
        _ => *position,
    };
    let (relevel, allow) = (*relevel, *allow);
    let request = SectionMove {
        section: node,
        to: entered.as_ref(),
        target: edit_target,
        position,
        relevel,
        is_same_folder: folder_of(&left_document.stored.path)
            == folder_of(&entered_document.stored.path),
        allow,
    };
    let moved = move_section(&from, request).map_err(|refused| {
        let scope = EditScope::Subtree;
        let (place, operation, file) = if refused.is_deletion {
            (place, Operation::Content(Delete { scope }), from.bytes())
        } else {
            let insertion = Insert { content: Vec::new(), position, relevel };
            let file = entered.as_ref().unwrap_or(&from).bytes();
            (target, Operation::Content(insertion), file)
        };
        let address = &place.address();
        let refused_edit = RefusedEdit { place, address, operation: &operation, file };
        refused_edit.refused(&refused.refusal)
    })?;
    let places = moved_places(moved.places, left_document.stored.id, entered_document.stored.id);
    let version =
        |old: &Rc<OpenDocument>, version| NewVersion::new(session, old, &old.stored.path, version);
    let mut versions = vec![version(left_document, moved.left)?.with_moved(None)];
    if let Some(entered) = moved.entered {
        let lines = MovedLines { lines: moved.lines, document: Rc::clone(left_document) };
        versions.push(version(entered_document, entered)?.with_moved(Some(lines)));
    }
    let to = versions.last().map(|version| version.document().address_of(moved.node));
    let labels = moved.new_labels.into_iter();
    let effects = RelocateEffects {
        renumbered: moved.renumbered,
        renumbered_total: 0,
        kept_definitions: moved.kept_definitions,
        copied_definitions: moved.copied_definitions,
        new_labels: labels.map(|(from, to)| NewLabel { from, to }).collect(),
    };
    let whole = place.span();
    let title = Some(section.title.clone());
    let section = Some([whole, ByteSpan::new(whole.start, section.own_end)]);
    let (from, to) = (place.address(), to.unwrap_or_default());
    let plan = RelocationPlan {
        versions,
        moved: places,
        section,
        from,
        to,
        title,
        effects,
        ..RelocationPlan::default()
    };
    Ok(Ok(plan))
}

/// Returns where the places of two documents, given by their ids, are after a move.
fn moved_places(
    places: impl IntoIterator<Item = ((MovedFile, MovedPlace), (MovedFile, MovedPlace))>,
    left: i64,
    entered: i64,
) -> MovedPlaces {
    let key = |(file, place)| {
        let id = match file {
            MovedFile::Left => left,
            MovedFile::Entered => entered,
        };
        match place {
            MovedPlace::Node(node) => (id, Target::Node(node)),
            MovedPlace::Ldmd(section) => (id, Target::Ldmd(section)),
        }
    };
    places.into_iter().map(|(old, new)| (key(old), Some(key(new)))).collect()
}

/// Returns what to do instead of moving a whole document next to a section.
fn instead_of_place(document: &OpenDocument) -> Message {
    message!("move the file with `mdsel move {path} PATH`", document.namespace)
}

fn no_section_but(document: &OpenDocument) -> Error {
    let message = format!("{} is a document, not a section", document.address("*"));
    Error::new(ErrorKind::EditRefused, message)
        .with_reason("NO_SUCH_POSITION")
        .with_hint(instead_of_place(document))
}

fn not_a_place(address: &str) -> Error {
    let message = format!("{address} is no place for a section");
    Error::new(ErrorKind::EditRefused, message)
        .with_reason("NO_SUCH_POSITION")
        .with_hint("name a section, or a document as DOC::* for its end")
}
