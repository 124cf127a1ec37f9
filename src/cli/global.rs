//! The options that all commands have, and what a run collects for its answer.

use std::cell::RefCell;
use std::ops::Deref;
use std::rc::Rc;

use super::args::GlobalArgs;
use crate::error::Warning;
use crate::output::Format;

/// The options of a run, and its state.
#[derive(Clone, Debug)]
pub(super) struct Global {
    /// The options as they are given, with the format of the environment.
    pub(super) options: GlobalArgs,
    /// The warnings of the store, for the answer.
    pub(super) recovered: Rc<RefCell<Vec<Warning>>>,
    /// The paths in addresses as they are looked up, and as they were given.
    pub(super) given: Rc<RefCell<Vec<(String, String)>>>,
}

impl Global {
    /// Returns the state of a new run.
    pub(super) fn new(options: GlobalArgs) -> Self {
        Self { options, recovered: Rc::default(), given: Rc::default() }
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
