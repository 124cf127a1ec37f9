//! What all commands have in common that answer from the store.
//!
//! Invariant: the formats and the schema of a command come from the type of its answer.

use schemars::JsonSchema;

use super::command::AnyCommand;
use super::described::{Described, described};
use super::exit::Status;
use super::global::Global;
use super::input::standard_input;
use super::print::kept;
use super::store::open_fresh;
use crate::address::is_for_every_document;
use crate::decoding;
use crate::error::Result;
use crate::output::{Answer, RecordForm};
use crate::query::resolve::{NodeRange, resolve};
use crate::query::{List, Session, documents};
use crate::store::Purpose;

/// A question to the store, as the arguments of a command.
pub(super) trait QueryArguments {
    /// The answer. It determines the formats and the schema of the command.
    type Answer: Answer + List + JsonSchema + 'static;

    /// See [`AnyCommand::addresses`].
    fn addresses(&mut self) -> Result<Vec<&mut String>> {
        Ok(Vec::new())
    }

    /// Returns the paths of the documents that the answer comes from, which `--refresh` ingests first;
    /// `None` for all documents.
    fn documents(&self, _: &Session<'_>) -> Result<Option<Vec<String>>> {
        Ok(None)
    }

    /// Returns the form of records that the command is asked for.
    fn record_form(&self) -> RecordForm {
        RecordForm::default()
    }

    /// Returns what the store is opened for.
    fn purpose(&self) -> Purpose {
        Purpose::Read
    }

    /// Returns the answer.
    fn answer(&self, global: &Global, session: &Session<'_>) -> Result<Self::Answer>;

    /// Returns the exit status of the command.
    fn status(answer: &Self::Answer) -> Status {
        answer.outcome().into()
    }
}

/// Returns what the store is opened for if an answer depends on `text`, which documents must contain.
pub(super) fn purpose(text: Option<&String>) -> Purpose {
    if text.is_some() { Purpose::Search } else { Purpose::Read }
}

/// Returns the documents that contain the places of `addresses`. Returns `None` if an address
/// applies to the whole store, or names something that is not in the store yet.
pub(super) fn documents_of(
    session: &Session<'_>,
    addresses: &[String],
) -> Result<Option<Vec<String>>> {
    let mut paths = Vec::new();
    for address in addresses {
        let is_global = is_for_every_document(address);
        let all = NodeRange { skip: 0, take: usize::MAX };
        let resolution = if is_global { None } else { Some(resolve(session, address, all)?) };
        match resolution {
            Some(resolution) if resolution.fault.is_none() => {
                paths.extend(
                    resolution.places.iter().map(|place| place.document.stored.path.clone()),
                );
            }
            _ => return Ok(None),
        }
    }
    paths.sort();
    paths.dedup();
    Ok(Some(paths))
}

/// Returns the paths of the named documents, or `None` for all documents.
pub(super) fn named_documents(
    session: &Session<'_>,
    names: &[String],
) -> Result<Option<Vec<String>>> {
    if names.is_empty() {
        return Ok(None);
    }
    let found = documents::named(session, names)?;
    if !found.faults.is_empty() {
        return Ok(None);
    }
    Ok(Some(found.documents.into_iter().map(|document| document.path).collect()))
}

/// Returns the addresses given. Replaces `-` by the lines of standard input.
pub(super) fn addresses(given: &[String]) -> Result<Vec<String>> {
    let mut addresses = Vec::new();
    for address in given {
        if address != "-" {
            addresses.push(address.clone());
            continue;
        }
        let bytes = standard_input()?;
        // An address that is not UTF-8 names nothing; the others are answered.
        let text = decoding::text(&bytes);
        addresses.extend(text.lines().filter(|line| !line.is_empty()).map(str::to_owned));
    }
    Ok(addresses)
}

impl<Q: QueryArguments> AnyCommand for Q {
    fn addresses(&mut self) -> Result<Vec<&mut String>> {
        QueryArguments::addresses(self)
    }

    fn run(&self, global: &Global) -> Result<Status> {
        let global = &global.with_records(self.record_form())?;
        let reader = open_fresh(global, self.purpose(), |session| self.documents(session))?;
        let session = Session::new(&*reader);
        let answer = kept(self.answer(global, &session)?);
        global.print_documents(&session, answer)?;
        Ok(Q::status(answer))
    }

    fn describe(name: &str, all: &mut Vec<Described>) {
        all.push(described::<Q::Answer>(name));
    }
}
