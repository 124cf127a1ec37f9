//! The new content of an edit: its arguments, and where it comes from.
//!
//! Invariant: without an option, the content is standard input, unless that is a terminal.

use std::io::{self, IsTerminal as _};
use std::path::PathBuf;

use clap::Args;

use super::input::{read, standard_input};
use crate::edit::checked_content;
use crate::error::Result;
use crate::position::trim_line_end;

/// New content. It comes from standard input if neither option is given. No content at all is an
/// error.
#[derive(Debug, Args)]
pub(super) struct ContentArgs {
    /// Use TEXT as the new content
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true, conflicts_with = "content_file")]
    content: Option<String>,
    /// Read the new content from FILE; - for standard input
    #[arg(long, value_name = "FILE")]
    content_file: Option<PathBuf>,
}

impl ContentArgs {
    /// Returns the given content, or reads it from standard input. `empties` says whether `--content ''` empties the
    /// place.
    pub(super) fn bytes(&self, empties: bool) -> Result<Vec<u8>> {
        let (content, is_explicit) = match (&self.content, &self.content_file) {
            (Some(text), _) => (Some(text.clone().into_bytes()), true),
            (None, Some(path)) => (Some(read(path)?), false),
            (None, None) if io::stdin().is_terminal() => (None, false),
            // If standard input is closed, it is empty.
            (None, None) => (Some(standard_input()?), false),
        };
        checked_content(content, is_explicit && empties).map_err(|error| {
            let or_none = if empties { "; --content '' empties the place" } else { "" };
            error.with_hint(format!(
                "give it with --content, --content-file or standard input{or_none}"
            ))
        })
    }

    /// Returns the text that replaces `old`: as it is in an argument, but without the line end that an editor adds to a
    /// file, unless `old` ends with one.
    pub(super) fn replacing(&self, old: &str) -> Result<Vec<u8>> {
        if let Some(text) = &self.content {
            return Ok(text.clone().into_bytes());
        }
        let text = self.bytes(true)?;
        let is_line_end = old.ends_with(['\n', '\r']);
        Ok(if is_line_end { text } else { trim_line_end(&text).to_vec() })
    }
}
