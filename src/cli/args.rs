//! The arguments that several commands have. Those of one command are beside what it does.

use std::time::Duration;

use clap::Args;
use clap::builder::PossibleValuesParser;
use clap_complete::engine::ArgValueCompleter;

use super::completers::{addresses, sections};
use crate::error::Error;
use crate::limits;
use crate::output::RecordForm;
use crate::query::{Cursor, FilterRequest, block_types};

/// How long to wait for the lock of the store.
#[derive(Clone, Copy, Debug, Args)]
pub(super) struct WaitArgs {
    /// Wait up to this many seconds for another writer
    #[arg(long, value_name = "SECONDS", default_value_t = limits::LOCK_WAIT_SECONDS as u64,
        value_parser = clap::value_parser!(u64).range(..=limits::MAX_LOCK_WAIT_SECONDS as u64))]
    wait: u64,
}

impl WaitArgs {
    pub(super) fn duration(self) -> Duration {
        Duration::from_secs(self.wait)
    }
}

/// A document and a place in it, or the address of the place.
#[derive(Debug, Args)]
pub(super) struct SectionArgs {
    /// The document; or the whole address, without SECTION
    // A command that has another help text for one of them would reorder them without the index.
    #[arg(index = 1, value_name = "DOC|ADDRESS", add = ArgValueCompleter::new(addresses))]
    pub(super) first: String,
    /// The section in the document
    #[arg(index = 2, value_name = "SECTION", add = ArgValueCompleter::new(sections))]
    section: Option<String>,
}

impl SectionArgs {
    /// Returns the document; `None` if the place is an address.
    pub(super) fn document(&self) -> Option<&String> {
        self.section.as_ref().map(|_| &self.first)
    }

    /// Returns the place in the document, or its address.
    pub(super) fn place(&self) -> &String {
        self.section.as_ref().unwrap_or(&self.first)
    }
}

/// Where a list continues.
#[derive(Debug, Args)]
pub(super) struct AfterArgs {
    /// Continue after the cursor that an answer gave as `next`
    #[arg(long, value_name = "CURSOR")]
    after: Option<String>,
}

impl AfterArgs {
    /// Returns the cursor, if one is given.
    pub(super) fn cursor(&self) -> Result<Option<Cursor>, Error> {
        Cursor::given(self.after.as_ref())
    }
}

/// Limits of a list.
#[derive(Debug, Args)]
pub(super) struct ListArgs {
    /// List at most N items; 0 for all
    #[arg(long, value_name = "N", default_value_t = limits::LIST_LIMIT)]
    pub(super) limit: usize,
    #[command(flatten)]
    pub(super) after: AfterArgs,
}

/// Options for the bodies of records.
#[derive(Clone, Copy, Debug, Args)]
pub(super) struct RecordArgs {
    /// Begin each line of a body with a bar, so that no text can look like a record; with -f records
    #[arg(long)]
    prefix_body: bool,
    /// Omit the line that says that bodies are not instructions; with -f records
    #[arg(long)]
    no_banner: bool,
}

impl RecordArgs {
    /// Returns the form of records for these arguments.
    pub(super) fn form(self) -> RecordForm {
        RecordForm { prefixes_bodies: self.prefix_body, omits_banner: self.no_banner }
    }
}

/// Filters by document, the same for every command that reads many documents.
#[derive(Debug, Args)]
pub(super) struct DocumentFilterArgs {
    /// Take only documents whose path matches this glob; a leading ! excludes them; repeatable
    #[arg(short, long = "glob", value_name = "GLOB", allow_hyphen_values = true)]
    globs: Vec<String>,
    /// Take only documents with this tag; if repeated, with all of them
    #[arg(long = "tag", value_name = "TAG")]
    tags: Vec<String>,
    /// Take only documents of this collection; repeatable
    #[arg(long = "collection", value_name = "NAME")]
    collections: Vec<String>,
    /// Take only what is below this folder, document or section; repeatable
    #[arg(long, value_name = "ADDRESS", add = ArgValueCompleter::new(addresses))]
    pub(super) under: Vec<String>,
}

impl DocumentFilterArgs {
    /// Moves `addresses`, which are given without an option, to those of `--under`. Returns all of them.
    pub(super) fn all_under(&mut self, addresses: &mut Vec<String>) -> Vec<&mut String> {
        self.under.append(addresses);
        self.under.iter_mut().collect()
    }

    /// Returns the filter for these arguments.
    pub(super) fn request(&self) -> FilterRequest {
        FilterRequest {
            globs: self.globs.clone(),
            tags: self.tags.clone(),
            collections: self.collections.clone(),
            under: self.under.clone(),
            ..FilterRequest::default()
        }
    }
}

/// Filters by document, section and block.
#[derive(Debug, Args)]
pub(super) struct PlaceFilterArgs {
    #[command(flatten)]
    pub(super) documents: DocumentFilterArgs,
    /// Take only blocks of this type, or places that contain one; repeatable
    #[arg(long = "type", value_name = "TYPE", value_parser = PossibleValuesParser::new(block_types()))]
    types: Vec<String>,
    /// Take only sections of this level, 1 to 6
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=6))]
    level: Option<u8>,
    /// Sort documents by path, title or a key of front matter; -KEY for descending
    #[arg(long, value_name = "KEY", allow_hyphen_values = true)]
    sort: Option<String>,
}

impl PlaceFilterArgs {
    /// Returns the filter as a request of the library. `condition` is that of the front matter.
    pub(super) fn request(&self, condition: Option<&String>) -> FilterRequest {
        FilterRequest {
            types: self.types.clone(),
            level: self.level,
            sort: self.sort.clone(),
            condition: condition.cloned(),
            ..self.documents.request()
        }
    }
}

/// Filters by place and front matter, the same for every command that reads many documents.
#[derive(Debug, Args)]
pub(super) struct FilterArgs {
    #[command(flatten)]
    pub(super) places: PlaceFilterArgs,
    /// Take only documents whose front matter matches, as in 'status = Final and due < 2026-06-01'
    #[arg(long = "where", value_name = "EXPR", id = "where")]
    condition: Option<String>,
}

impl FilterArgs {
    /// Returns the filter as a request of the library.
    pub(super) fn request(&self) -> FilterRequest {
        self.places.request(self.condition.as_ref())
    }
}
