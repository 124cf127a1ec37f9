//! The engine for many machines: a store in a schema of a PostgreSQL server.
//!
//! A reader is a read-only transaction on a connection of a small pool; a writer holds an advisory lock of
//! the store. Documents and what is derived from them are rows. The index for searches consists of segments:
//! the word lists and trigram lists of the documents that one change added. The program reads the lists of a
//! query and scores them itself, so that an answer is that of a store file.
//!
//! Invariants: all rows of a document are in the partition of its path. A reader uses only rows of its
//! generation. A segment is never changed; a writer replaces several by one.

mod address;
mod connection;
mod derived;
mod driver;
mod engine;
mod lock;
mod lookup;
mod merge;
mod owner;
mod packed_ids;
mod pending_change;
mod posting_rows;
mod postings;
mod query;
mod question;
mod ranking;
mod reader;
mod removal;
mod rows;
mod schema;
mod segment;
mod shard;
mod sharded_ingest;
mod state;
mod store_row;
mod tls;
mod trigrams;
mod unfinished;
mod writer;
mod writer_base;

pub use address::Address;
pub use engine::Postgres;
