//! The options that all commands have, and what a run collects for its answer.

use std::cell::RefCell;
use std::ops::Deref;
use std::rc::Rc;

use super::args::GlobalArgs;
use crate::error::{Error, ErrorKind, Result, Warning};
use crate::output::{Format, RecordForm};

/// The options of a run, and its state.
#[derive(Clone, Debug)]
pub(super) struct Global {
    /// The options as they are given, with the format of the environment.
    pub(super) options: GlobalArgs,
    /// The form of records, if the command has options for it.
    pub(super) record_form: RecordForm,
    /// The warnings of the store, for the answer.
    pub(super) recovered: Rc<RefCell<Vec<Warning>>>,
    /// The paths in addresses as they are looked up, and as they were given.
    pub(super) given: Rc<RefCell<Vec<(String, String)>>>,
}

impl Global {
    /// Returns the state of a new run.
    pub(super) fn new(options: GlobalArgs) -> Self {
        Self {
            options,
            record_form: RecordForm::default(),
            recovered: Rc::default(),
            given: Rc::default(),
        }
    }

    /// Returns the same run, which prints records in `record_form`.
    ///
    /// # Errors
    ///
    /// A usage error if the form is not the usual one and the answer is printed in another format.
    pub(super) fn with_records(&self, record_form: RecordForm) -> Result<Self> {
        if record_form != RecordForm::default() && self.format() != Format::Records {
            let message = "--prefix-body and --no-banner apply to records only";
            return Err(Error::new(ErrorKind::Usage, message).with_hint("add -f records"));
        }
        Ok(Self { record_form, ..self.clone() })
    }

    /// Returns the number of Unicode scalars that the answer cannot exceed, if it is limited. Each takes a byte or more.
    pub(super) fn most_chars(&self) -> Option<usize> {
        self.max_chars.into_iter().chain(self.max_bytes).min()
    }

    /// Returns the same run, which prints in `format`.
    pub(super) fn in_format(&self, format: Option<Format>) -> Self {
        Self { options: GlobalArgs { format, ..self.options.clone() }, ..self.clone() }
    }
}

impl Deref for Global {
    type Target = GlobalArgs;

    fn deref(&self) -> &GlobalArgs {
        &self.options
    }
}
