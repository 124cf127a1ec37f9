//! mdsel: a persistent, indexed Markdown store for LLM agents.

pub mod error;
pub mod ingest;
pub mod limits;
pub mod markdown;
pub mod position;
pub mod store;
