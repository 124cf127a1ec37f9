//! The state that the inline rules for links share.
//!
//! Invariant: what is counted here never decreases while a document is read, so that a cap that was reached stays
//! reached.

use markdown_it::parser::extset::RootExt;
use markdown_it::parser::inline::InlineState;

use crate::limits;

/// The state of reading the links of a document.
#[derive(Debug, Default)]
pub(super) struct LinkScanState {
    brackets: usize,
    links: usize,
    bytes: usize,
    /// Whether the brackets of the current text are nested too deeply to parse it.
    pub(super) is_too_deep: bool,
}

impl RootExt for LinkScanState {}

impl LinkScanState {
    /// Counts a link.
    pub(super) fn add(&mut self, target: &str) {
        self.links += 1;
        self.bytes += target.len();
    }

    /// Returns whether a cap is reached, so that no further link is read.
    pub(super) fn is_spent(&self) -> bool {
        self.links >= limits::MAX_LINKS_PER_DOCUMENT
            || self.bytes >= limits::MAX_LINK_BYTES
            || self.brackets >= limits::MAX_LINK_BRACKETS
    }
}

/// Returns the text from the current position on.
pub(super) fn rest<'a>(state: &'a InlineState) -> &'a str {
    state.src.get(state.pos..state.pos_max).unwrap_or_default()
}

/// Counts a bracket. Returns the length of the remaining text if it must be skipped because a cap
/// is reached.
pub(super) fn given_up(state: &mut InlineState) -> Option<usize> {
    let reading = state.root_ext.get_or_insert_default::<LinkScanState>();
    reading.brackets += 1;
    // The stock rule recurses once for every open bracket.
    reading.is_too_deep |= state.level as usize >= limits::MAX_LINK_NESTING;
    (reading.is_too_deep || reading.is_spent()).then(|| state.pos_max - state.pos)
}
