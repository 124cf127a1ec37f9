//! `completions`: the script that registers completions with a shell, and the completions
//! themselves.
//!
//! The shell runs the program with `MDSEL_COMPLETE` set and the words so far after `--`.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use clap::{Args, Command, ValueEnum};
use clap_complete::CompleteEnv;
use clap_complete::env::{Bash, EnvCompleter, Fish, Powershell, Zsh};

use super::command::AnyCommand;
use super::described::{Described, OUTPUT, RefusedOptions, STORE};
use super::exit::Status;
use super::global::Global;
use super::print::generated;
use super::store;
use crate::error::{Error, Result};

/// The environment variable that the shell sets to ask for completions.
const VARIABLE: &str = "MDSEL_COMPLETE";

const NAME: &str = "mdsel";

/// Arguments of `completions`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples: source <(mdsel completions bash)    mdsel completions fish | source\n          \
                  mdsel completions powershell | Out-String | Invoke-Expression"
)]
pub(super) struct CompletionsArgs {
    /// The shell that runs the script
    #[arg(value_enum, value_name = "SHELL")]
    shell: ShellName,
}

/// A shell that can complete words of the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ShellName {
    /// bash 4.4 or newer
    Bash,
    /// zsh
    Zsh,
    /// fish
    Fish,
    /// PowerShell, 5 or newer
    #[value(name = "powershell")]
    PowerShell,
}

impl AnyCommand for CompletionsArgs {
    /// Prints the script that registers the completions with a shell.
    fn run(&self, _: &Global) -> Result<Status> {
        let shell: &dyn EnvCompleter = match self.shell {
            ShellName::Bash => &Bash,
            ShellName::Zsh => &Zsh,
            ShellName::Fish => &Fish,
            ShellName::PowerShell => &Powershell,
        };
        // The script calls the program by name if it was called by name, else by its full path.
        let is_named = std::env::args_os().next().is_none_or(|called| !is_path(&called));
        let program = if is_named { None } else { std::env::current_exe().ok() };
        let program = program.unwrap_or_else(|| PathBuf::from(NAME));
        let mut script = Vec::new();
        shell
            .write_registration(VARIABLE, NAME, NAME, &program.to_string_lossy(), &mut script)
            .map_err(|error| Error::io(Path::new("completions"), error))?;
        generated(&script)
    }

    fn describe(name: &str, all: &mut Vec<Described>) {
        let refused_options = &[
            RefusedOptions { options: &OUTPUT, reason: "it prints a script", hint: "" },
            RefusedOptions { options: &STORE, reason: "it prints a script", hint: "" },
        ];
        all.push(Described { refused_options, ..Described::new(name, |_| false) });
    }
}

fn is_path(called: &OsStr) -> bool {
    Path::new(called).components().count() > 1
}

/// Prints the completions of `program` that a shell asks for. Returns `None` if the program was not called by a
/// shell for completions.
pub(super) fn complete(program: fn() -> Command, arguments: &[OsString]) -> Option<Status> {
    std::env::var_os(VARIABLE)?;
    let folder = store::current_folder().ok();
    let completed = CompleteEnv::with_factory(program)
        .var(VARIABLE)
        .try_complete(arguments.iter().cloned(), folder.as_deref());
    match completed {
        Ok(true) => Some(Status::Success),
        Ok(false) => None,
        Err(_) => Some(Status::Error),
    }
}
