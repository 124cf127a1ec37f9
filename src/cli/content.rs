//! The new content of an edit: its arguments, and where it comes from.

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
    /// Returns the given content, or reads it from standard input.
    pub(super) fn bytes(&self) -> Result<Vec<u8>> {
        match (&self.content, &self.content_file) {
            (Some(text), _) => checked_content(Some(text.clone().into_bytes()), true),
            (None, Some(path)) => checked_content(Some(read(path)?), false),
            (None, None) if io::stdin().is_terminal() => checked_content(None, false),
            // Reading fails if standard input is closed: then there is no content.
            (None, None) => checked_content(standard_input().ok(), false),
        }
    }

    /// Returns the text that replaces `old`: as it is in an argument, but without the line end that an editor adds to a
    /// file, unless `old` ends with one.
    pub(super) fn replacing(&self, old: &str) -> Result<Vec<u8>> {
        if let Some(text) = &self.content {
            return Ok(text.clone().into_bytes());
        }
        let text = self.bytes()?;
        let is_line_end = old.ends_with(['\n', '\r']);
        Ok(if is_line_end { text } else { trim_line_end(&text).to_vec() })
    }
}
