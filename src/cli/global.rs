//! The options that all commands have, and what a run collects for its answer.

use std::cell::RefCell;
use std::ops::Deref;
use std::path::PathBuf;
use std::rc::Rc;

use clap::{Args, Command, ValueEnum};

use super::described::Described;
use crate::error::{Error, ErrorKind, Result, Warning};
use crate::output::{Format, OutputLength, RecordForm};

/// Options that are accepted before and after the name of the command.
#[derive(Clone, Debug, Args)]
pub(super) struct GlobalArgs {
    /// Use this store: a file, or the URL of a server, postgres://... [default: $MDSEL_DB, or the nearest
    /// .mdsel.db in this folder or above]
    #[arg(long, global = true, value_name = "PATH")]
    pub(super) db: Option<PathBuf>,
    /// Make document paths relative to this folder, which the first ingest sets for good. For a store on a server:
    /// the folder of its files on this machine
    #[arg(long, global = true, value_name = "FOLDER")]
    pub(super) root: Option<PathBuf>,
    /// Print the answer in this format
    #[arg(
        short,
        long,
        global = true,
        value_enum,
        help = "Print the answer in this format [default: $MDSEL_FORMAT, or text on a terminal, else \
                json]"
    )]
    pub(super) format: Option<Format>,
    /// Limit the answer to N characters; it stays valid in its format
    #[arg(long, global = true, value_name = "N")]
    pub(super) max_chars: Option<usize>,
    /// Limit the answer to N bytes, in the same way
    #[arg(long, global = true, value_name = "N")]
    pub(super) max_bytes: Option<usize>,
    /// Limit the answer to N tokens of a model, estimated as 3 bytes each
    #[arg(long, global = true, value_name = "N")]
    pub(super) max_tokens: Option<usize>,
    /// Indent JSON
    #[arg(long, global = true)]
    pub(super) pretty: bool,
    /// Omit the fields of JSON and records that other fields imply
    #[arg(long, global = true)]
    pub(super) compact: bool,
    /// First ingest the changed files that the answer comes from
    #[arg(long, global = true)]
    pub(super) refresh: bool,
    /// Print text in color
    #[arg(long, global = true, value_enum, default_value_t = Color::Auto, value_name = "WHEN")]
    pub(super) color: Color,
}

/// When to color text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Color {
    /// On a terminal, unless NO_COLOR is set
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// The options of a run, and its state.
#[derive(Clone, Debug)]
pub(super) struct Global {
    /// The options as they are given, with the format of the environment.
    pub(super) options: GlobalArgs,
    /// Builds the whole program with the options of each command in groups, for commands that describe it.
    pub(super) program: fn() -> Command,
    /// Lists all commands.
    pub(super) commands: fn() -> Vec<Described>,
    /// The form of records, if the command has options for it.
    pub(super) record_form: RecordForm,
    /// The warnings of the store, for the answer.
    pub(super) recovered: Rc<RefCell<Vec<Warning>>>,
    /// The paths in addresses as they are looked up, and as they were given.
    pub(super) given: Rc<RefCell<Vec<(String, String)>>>,
}

impl Global {
    /// Returns the state of a new run.
    pub(super) fn new(
        options: GlobalArgs,
        program: fn() -> Command,
        commands: fn() -> Vec<Described>,
    ) -> Self {
        Self {
            options,
            program,
            commands,
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
        self.options("").limit().map(OutputLength::most_chars)
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
