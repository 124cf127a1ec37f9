//! The `mdsel` program: see [`mdsel::cli`].

use std::process::ExitCode;

fn main() -> ExitCode {
    mdsel::cli::run(std::env::args_os())
}
