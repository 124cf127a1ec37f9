//! The edits of a batch, and the problems of those that cannot be made.
//!
//! Invariant: a batch with a problem changes nothing, and its answer names all problems. The first error decides the code
//! of the answer, and the places that were not found are among its other problems.

use super::operation::Edit;
use crate::address::AddressError;
use crate::error::{Error, ErrorKind, Problem, Result};
use crate::limits::MAX_BATCH_PROBLEMS;
use crate::message::{Message, message};

/// The edits of a batch, and why other parts of it are none.
#[derive(Debug, Default)]
pub struct BatchEdits {
    /// The edits.
    pub edits: Vec<Edit>,
    /// The problems of the parts that are no edits.
    pub problems: EditProblems,
    /// Whether the document of an edit that names none is not known, because the edit before it is not.
    is_unknown: bool,
}

impl From<Vec<Edit>> for BatchEdits {
    fn from(edits: Vec<Edit>) -> Self {
        Self { edits, ..Self::default() }
    }
}

impl BatchEdits {
    /// Adds an edit, which messages call `origin`, or why it is none. `document` is the document of the request.
    pub fn push(&mut self, origin: &str, edit: Result<Edit>, document: Option<&String>) {
        match edit {
            Ok(edit) => {
                self.is_unknown &= edit.document.is_none() && !edit.section.contains("::");
                if !self.is_unknown || document.is_some() {
                    self.edits.push(edit);
                }
            }
            Err(error) => {
                self.is_unknown = true;
                self.problems.add(EditProblem::Refused(error.in_part(origin)));
            }
        }
    }

    /// Whether there is nothing in the batch.
    pub fn is_empty(&self) -> bool {
        self.edits.is_empty() && self.problems.is_empty()
    }
}

/// Why an edit cannot be made.
#[derive(Debug)]
enum EditProblem {
    /// Its place was not found.
    Place(AddressError),
    /// It is refused, or is no edit.
    Refused(Error),
}

impl From<EditProblem> for Problem {
    fn from(problem: EditProblem) -> Self {
        match problem {
            EditProblem::Place(fault) => fault.into(),
            EditProblem::Refused(error) => error.into(),
        }
    }
}

/// The problems of the edits of one request, in the order in which they were found.
#[derive(Debug, Default)]
pub struct EditProblems {
    listed: Vec<EditProblem>,
    /// Whether edits were left out because the answer names no more problems.
    is_cut: bool,
}

impl EditProblems {
    /// Adds a problem, unless it is listed: several edits of one key may have the same.
    fn add(&mut self, problem: EditProblem) {
        let is_same = |other: &EditProblem| match (other, &problem) {
            (EditProblem::Place(other), EditProblem::Place(fault)) => other == fault,
            (EditProblem::Refused(other), EditProblem::Refused(error)) => {
                other.to_string() == error.to_string()
            }
            _ => false,
        };
        if !self.listed.iter().any(is_same) {
            self.listed.push(problem);
        }
    }

    /// Adds a place of `edit` that was not found.
    pub(super) fn add_place(&mut self, mut fault: AddressError, edit: &Edit) {
        if let Some(origin) = &edit.origin {
            fault.message = message!("{}: {}", origin, fault.message);
        }
        self.add(EditProblem::Place(fault));
    }

    /// Adds the refusal of an edit, which messages call `origin`. An error that is not of an edit, such as that of a
    /// store, is one of the whole request, unless there is a problem before it.
    pub(super) fn add_error(&mut self, error: Error, origin: Option<&str>) -> Result<()> {
        match error.kind() {
            ErrorKind::Usage | ErrorKind::Limit | ErrorKind::Conflict | ErrorKind::EditRefused => {
                self.add(EditProblem::Refused(match origin {
                    Some(origin) => error.in_part(origin),
                    None => error,
                }));
                Ok(())
            }
            _ if self.is_empty() => Err(error),
            _ => Ok(()),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.listed.is_empty()
    }

    /// Whether the next edit is left out because the answer names no more problems.
    pub fn leave_out_next(&mut self) -> bool {
        let is_full = self.listed.len() >= MAX_BATCH_PROBLEMS;
        self.is_cut |= is_full;
        is_full
    }

    /// Returns the first error, which names the other problems; `None` if no problem is an error.
    pub fn into_error(self) -> Option<Error> {
        self.into_answer().err()
    }

    /// Returns the places that were not found, or the first error with the other problems if there is one.
    pub(super) fn into_answer(mut self) -> Result<Vec<AddressError>> {
        let is_cut = self.is_cut;
        let mark = |last: Option<&mut Message>| {
            if let Some(last) = last.filter(|_| is_cut) {
                *last = message!("{}; further edits were not checked", *last);
            }
        };
        let is_error = |problem: &EditProblem| matches!(problem, EditProblem::Refused(_));
        let first = self.listed.iter().position(is_error).map(|at| self.listed.remove(at));
        if let Some(EditProblem::Refused(error)) = first {
            let mut others: Vec<Problem> = self.listed.into_iter().map(Problem::from).collect();
            // Many lines may lack the same.
            for other in &mut others {
                other.hints.retain(|hint| !error.hints().contains(hint));
            }
            mark(others.last_mut().map(|last| &mut last.message));
            return Err(error.with_others(others));
        }
        let places = self.listed.into_iter().filter_map(|problem| match problem {
            EditProblem::Place(fault) => Some(fault),
            EditProblem::Refused(_) => None,
        });
        let mut places: Vec<_> = places.collect();
        mark(places.last_mut().map(|last| &mut last.message));
        Ok(places)
    }
}
