//! The edits of a batch, and the problems of those that cannot be made.
//!
//! Invariant: a batch with a problem changes nothing. The first problem decides the code of the answer. If it is an error,
//! the answer names all others, too; if it is a place that was not found, the other places that were not found.

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
    /// The errors of the parts that are no edits.
    pub errors: Vec<Error>,
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
                self.errors.push(error.in_part(origin));
            }
        }
    }

    /// Whether there is nothing in the batch.
    pub fn is_empty(&self) -> bool {
        self.edits.is_empty() && self.errors.is_empty()
    }

    /// Whether so many parts are no edits that the answer does not name more.
    pub fn is_full(&self) -> bool {
        self.errors.len() >= MAX_BATCH_PROBLEMS
    }
}

/// Returns the first of the errors, which names the others.
pub fn first_of(errors: Vec<Error>) -> Option<Error> {
    EditProblems::after(errors).into_answer().err()
}

/// Why an edit cannot be made.
pub(super) enum EditProblem {
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
pub(super) struct EditProblems(Vec<EditProblem>);

impl EditProblems {
    /// Begins with the errors of the parts of a batch that are no edits.
    pub(super) fn after(errors: Vec<Error>) -> Self {
        Self(errors.into_iter().map(EditProblem::Refused).collect())
    }

    /// Adds a place of `edit` that was not found.
    pub(super) fn add_place(&mut self, mut fault: AddressError, edit: &Edit) {
        if let Some(origin) = &edit.origin {
            fault.message = message!("{}: {}", origin, fault.message);
        }
        self.0.push(EditProblem::Place(fault));
    }

    /// Adds the refusal of an edit, which messages call `origin`. An error that is not of an edit, such as that of a
    /// store, is one of the whole request, unless there is a problem before it.
    pub(super) fn add_error(&mut self, error: Error, origin: Option<&str>) -> Result<()> {
        match error.kind() {
            ErrorKind::Usage | ErrorKind::Limit | ErrorKind::Conflict | ErrorKind::EditRefused => {
                self.0.push(EditProblem::Refused(match origin {
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
        self.0.is_empty()
    }

    /// Whether the answer names no more problems.
    pub(super) fn is_full(&self) -> bool {
        self.0.len() >= MAX_BATCH_PROBLEMS
    }

    /// Returns the places that were not found, or an error with the other problems if the first one is an error.
    pub(super) fn into_answer(self) -> Result<Vec<AddressError>> {
        let is_full = self.is_full();
        let mark = |last: Option<&mut Message>| {
            if let Some(last) = last.filter(|_| is_full) {
                *last = message!("{}; further edits were not checked", *last);
            }
        };
        let mut problems = self.0.into_iter();
        match problems.next() {
            Some(EditProblem::Refused(error)) => {
                let mut others: Vec<Problem> = problems.map(Problem::from).collect();
                // Many lines may lack the same.
                for other in &mut others {
                    other.hints.retain(|hint| !error.hints().contains(hint));
                }
                mark(others.last_mut().map(|last| &mut last.message));
                Err(error.with_others(others))
            }
            first => {
                let places =
                    first.into_iter().chain(problems).filter_map(|problem| match problem {
                        EditProblem::Place(fault) => Some(fault),
                        EditProblem::Refused(_) => None,
                    });
                let mut places: Vec<_> = places.collect();
                mark(places.last_mut().map(|last| &mut last.message));
                Ok(places)
            }
        }
    }
}
