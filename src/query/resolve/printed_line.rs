//! Finds what a line that an answer printed names, if the line is pasted as an address.
//!
//! Invariant: nothing is chosen. If an address in the line leads nowhere, that is a fault, and several places are
//! ambiguous. The exception is a line that begins with the whole path of a document and the number of a line: its titles and
//! its text may look like addresses.

use super::located::{Located, dedup_places};
use super::{NodeRange, Resolution, Resolver, is_missing, resolve_text, several_places};
use crate::address::{AddressError, PrintedLine, in_printed_line};
use crate::error::Result;
use crate::limits;
use crate::query::document_name::{self, NameMatch};
use crate::query::session::Session;

/// Returns what a line of an answer names, or `None` if it has neither an address nor titles.
pub(super) fn resolve_printed(
    session: &Session<'_>,
    line: &str,
    range: NodeRange,
) -> Result<Option<Resolution>> {
    let PrintedLine { start, addresses, names } = in_printed_line(line);
    let resolver = Resolver { session };
    let mut found: Vec<&str> = Vec::new();
    let is_after_path =
        start.as_ref().map_or(Ok(false), |(document, _)| resolver.is_whole_path(document))?;
    for (document, address) in &addresses {
        // A path may itself have the number of a line.
        let is_text = is_after_path && !line.trim_start().starts_with(address);
        if !is_text && resolver.is_whole_path(document)? {
            found.push(address);
        }
    }
    // A program that runs in a folder of the store prints the end of a path.
    if let Some((document, address)) = &start
        && !matches!(document_name::by_name(session, document)?, NameMatch::None)
    {
        found.push(address);
    }
    if found.is_empty() {
        found.extend(addresses.iter().map(|(_, address)| address));
    }
    // A position in a part is none in the line.
    let of_line = |fault: AddressError| AddressError { position: None, ..fault.of(line) };
    let meaning = |text: &str, range| -> Result<Resolution> {
        let part = resolve_text(session, text, range, None)?;
        Ok(Resolution { fault: part.fault.map(of_line), ..part })
    };
    match found.as_slice() {
        [] => {
            for name in &names {
                let named = meaning(name, range)?;
                if !named.fault.as_ref().is_some_and(is_missing) {
                    return Ok(Some(named));
                }
            }
            Ok(None)
        }
        [address] => meaning(address, range).map(Some),
        several => {
            let mut places = Vec::new();
            for address in several {
                let part = meaning(address, NodeRange { skip: 0, take: limits::MAX_EXPANSION })?;
                if part.fault.is_some() {
                    return Ok(Some(part));
                }
                places.extend(part.places);
            }
            dedup_places(&mut places);
            let located = match places.as_slice() {
                [_] => Located { places, ..Located::default() },
                places => Located::fault(several_places(line, places, "")),
            };
            Ok(Some(Resolution::of(located, range)))
        }
    }
}
