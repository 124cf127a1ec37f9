//! mdsel: a persistent, indexed Markdown store for LLM agents.
//!
//! This is the map of the project. Each entry of this list is a layer. A layer uses only itself and the layers below
//! it; a test compares the list with the source.
//!
//! - [`cli`]: the interface for people and scripts. Parses arguments into requests, and turns answers into
//!   bytes and exit statuses.
//! - [`mcp`]: the interface for agents. Parses calls into the same requests, and turns the same answers into
//!   replies.
//! - [`output`]: formats answers as JSON, text, bytes, records or LDMD, within a budget, with unsafe
//!   characters escaped. Never reads the store.
//! - [`query`], [`mod@ingest`], [`edit`] and [`verify`](mod@verify): the operations. A query reads one
//!   generation; an ingest reads files into the store; an edit changes files and the store; a check finds
//!   and repairs damage. They use each other where both must follow one rule: an edit resolves its place as
//!   a query does, and a repair ingests files. They use the store only through the traits of [`store`], except
//!   that a check and a repair use the parts of a store file through [`store::file`].
//! - [`store`]: reads and changes the documents. [`store::Reader`] and [`store::Writer`] are what an engine
//!   must answer, in batches that a server can serve in one round trip. `store/local` is the engine for one
//!   machine, SQLite and tantivy, which are used nowhere else. `store/postgres` is one for many machines,
//!   and the only module that uses the client of the server. `store/memory` is one for tests.
//! - [`trust`]: what a store file may decide for the user who runs the program.
//! - [`prepare`]: from the bytes of a file to the rows that every engine stores. `codec`: the stored form of
//!   outlines, LDMD sections and bytes.
//! - [`corpus`]: the folder of the files: which files belong to it, how they are opened, compared and
//!   replaced. Knows no store.
//! - [`pack`]: writes and reads all documents of a store as one stream. Pure.
//! - [`terms`]: tokens, word queries, trigrams and scores, the same for every engine. [`glob`]: globs over
//!   paths and titles. Pure.
//! - [`address`]: parses the text of an address into its possible meanings, in order of precedence, and
//!   resolves selectors in a tree. Pure.
//! - [`data`]: code blocks, tables, tasks and front matter as data: their typed values, expressions over
//!   them, and changes of one key of front matter. Pure.
//! - [`links`]: the links of a document, the links to it, and the target of a link. Pure.
//! - [`ldmd`]: reads, slices and writes sections between markers in HTML comments. Pure.
//! - [`markdown`]: parses the bytes of a file into its outline. Pure; the only module that uses the parser.
//! - [`records`]: writes and reads answers as lines for the context of a model. Pure.
//! - [`mod@reference`]: the pages that `mdsel help` prints.
//! - [`error`]: errors with hints. [`message`]: texts that each interface writes in its own words. [`limits`]: the table
//!   of every cap. [`position`]: spans and lines. [`visible`]: the characters that are shown unescaped. [`failpoint`]: the
//!   points at which tests inject failures. `cancellation`, `count`, `decoding`, `deserialize`, `hash`, `parallel`,
//!   `percent`, `schema` and `varint`: small pieces that several layers share. `processor_time`: for tests that show how
//!   long work takes.
//!
//! The path of a file: walk -> hash -> prepare -> store. The path of a query: arguments -> request ->
//! address -> node -> span -> bytes -> answer -> format. Neither has a cycle.
//!
//! The library prints nothing and reads neither the environment nor the current folder; only [`cli`] does,
//! and passes both on to [`mcp`]. With the feature `failpoints`, [`failpoint`] reads an environment variable, too.
//!
//! ```
//! let document = mdsel::markdown::parse(b"intro\n\n# Title\n\ntext\n");
//! let tree = mdsel::address::Tree::new(document.outline);
//! let selector = mdsel::address::Selector::parse("section[0]/block:paragraph[0]").unwrap();
//! let nodes = tree.follow(&selector.steps, 10).unwrap();
//! assert_eq!(tree.selector(nodes[0]), "heading:h1[0]/block:paragraph[0]");
//! ```

#[cfg(not(unix))]
compile_error!(
    "mdsel needs a Unix system: it opens files relative to open folders so that no symbolic link is followed"
);

pub mod address;
mod cancellation;
pub mod cli;
pub(crate) mod codec;
pub mod corpus;
mod count;
pub mod data;
mod decoding;
mod deserialize;
pub mod edit;
pub mod error;
pub mod failpoint;
pub mod glob;
mod hash;
pub mod ingest;
pub mod ldmd;
pub mod limits;
pub mod links;
pub mod markdown;
#[cfg(feature = "mcp")]
pub mod mcp;
pub mod message;
pub mod output;
pub mod pack;
mod parallel;
mod percent;
pub mod position;
pub mod prepare;
#[cfg(test)]
mod processor_time;
pub mod query;
pub mod records;
pub mod reference;
mod schema;
pub mod store;
pub mod terms;
pub mod trust;
mod varint;
pub mod verify;
pub mod visible;
