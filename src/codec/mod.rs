//! The stored form of outlines, LDMD sections, data and bytes.
//!
//! Invariants: decoding returns exactly what was encoded. Damaged bytes of any content decode to
//! `None` within a memory bound and never cause a panic. Pure.

pub(crate) mod content;
pub(crate) mod data;
pub(crate) mod markup;
pub(crate) mod outline;
pub(crate) mod row;
