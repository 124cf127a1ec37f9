//! What only a store file has: its parts, how they are checked and repaired, and the work of its statements.
//!
//! Invariant: only [`crate::verify`] and tests use this. The other operations know no engine.

pub use super::local::{
    Check, Checked, FaultKind, INDEX_REBUILT, LostDocument, Recovery, RecoveryReport,
    StatementCost, StatementStats, StorePart, StoreProblem, clear_way, count_work,
    files_in_the_way, rebuild_index, sweep,
};
