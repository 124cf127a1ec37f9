//! mdsel: a persistent, indexed Markdown store for LLM agents.

pub mod address;
pub mod cli;
pub mod error;
pub mod ingest;
pub mod limits;
pub mod markdown;
pub mod output;
pub mod position;
pub mod query;
pub mod store;
