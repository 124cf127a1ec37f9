//! The progress of an ingest: a bar if standard error is a terminal, otherwise nothing.

use std::io::IsTerminal as _;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::ingest::Progress;

/// A progress bar on standard error. It is hidden if standard error is not a terminal.
pub(super) struct Bar(ProgressBar);

impl Bar {
    pub(super) fn new() -> Self {
        let target = if std::io::stderr().is_terminal() {
            ProgressDrawTarget::stderr()
        } else {
            ProgressDrawTarget::hidden()
        };
        Self(ProgressBar::with_draw_target(Some(0), target))
    }

    pub(super) fn clear(&self) {
        self.0.finish_and_clear();
    }
}

impl Progress for Bar {
    fn start(&self, files: usize) {
        self.0.set_length(files as u64);
        if let Ok(style) = ProgressStyle::with_template("{bar:40} {pos}/{len} files {eta}") {
            self.0.set_style(style);
        }
    }

    fn advance(&self) {
        self.0.inc(1);
    }
}
