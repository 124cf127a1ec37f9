//! `status`: prints counts, options, the root and the trust of the store.

use std::collections::BTreeMap;
use std::time::Duration;

use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use super::command::AnyCommand;
use super::described::{Described, has, schema_of};
use super::exit::Status;
use super::global::Global;
use super::store;
use crate::corpus::{Collection, IngestOptions, Skipped, root_from_store};
use crate::error::{Result, Warning};
use crate::ingest::{self, Change, Paths};
use crate::limits;
use crate::output::{Format, NamedValues};
use crate::store::{Purpose, Reader, Totals};
use crate::trust::{TrustSource, Wish};

/// Arguments of `status`.
#[derive(Debug, Args)]
#[command(after_help = "Example: mdsel status -f text")]
#[group(multiple = false)]
pub(super) struct StatusArgs {
    /// List the files that have changed since the ingest
    #[arg(long)]
    stale: bool,
    /// List the collections
    #[arg(long)]
    collections: bool,
    /// List every limit of the program
    #[arg(long)]
    limits: bool,
}

/// What the store holds.
#[derive(Debug, JsonSchema, Serialize)]
pub(super) struct StatusAnswer {
    #[serde(flatten)]
    totals: Totals,
    /// The number of changes that the store has seen.
    generation: u64,
    /// The generation of the full-text index; `null` if there is no index.
    index_generation: Option<u64>,
    /// The options that select files.
    options: IngestOptions,
    /// The root: relative to the folder of the store file; absolute for a store on a server.
    root: String,
    /// Why the store is trusted, or that it is not.
    trust: TrustSource,
    /// The documents whose files differ from the store, if that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    stale: Option<Vec<Change>>,
    /// The files and folders that could not be read, so that their documents may differ, too.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unreadable: Vec<Skipped>,
    /// The warnings about the store.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<Warning>,
}

impl AnyCommand for StatusArgs {
    fn run(&self, global: &Global) -> Result<Status> {
        if self.limits {
            let rows = limits::TABLE.iter().map(|limit| {
                let status = LimitStatus { value: limit.value, meaning: limit.meaning };
                (limit.name.to_owned(), json!(status))
            });
            global.print(&NamedValues::of(&Value::Object(rows.collect())))?;
            return Ok(Status::Success);
        }
        let reader = store::open_fresh(global, Purpose::Read, |_| Ok(None))?;
        if self.collections {
            global.print(&NamedValues::of(&collections(&*reader)?))?;
            return Ok(Status::Success);
        }
        let store = store::store(global)?;
        let root = root_from_store(reader.root(), store.path())?;
        let trust = store.path().map_or(TrustSource::Server, |path| {
            let wish = Wish::of(path, &reader.roots());
            store.trust().source(path, &wish).unwrap_or(TrustSource::Untrusted)
        });
        let (stale, unreadable) = if self.stale {
            let request = ingest::IngestRequest::of_stored(&store, Paths::All, Duration::ZERO);
            let report = ingest::preview(&request, &ingest::NoProgress)?;
            (report.changes, report.unreadable)
        } else {
            (None, Vec::new())
        };
        let answer = StatusAnswer {
            totals: reader.totals()?,
            generation: reader.generation(),
            index_generation: reader.index_generation(),
            options: reader.options().clone().portable(),
            root,
            trust,
            stale,
            unreadable,
            // Standard error has them, too, for those who read the counts alone. Text needs them once.
            warnings: match global.format() {
                Format::Text => Vec::new(),
                _ => global.recovered.borrow().clone(),
            },
        };
        global.print(&NamedValues::of(&answer))?;
        Ok(Status::Success)
    }

    fn describe(name: &str, all: &mut Vec<Described>) {
        let schema = Some(schema_of::<StatusShape> as fn() -> _);
        all.push(Described { schema, ..Described::new(name, has::<NamedValues>) });
    }
}

/// A collection of a store.
#[derive(JsonSchema, Serialize)]
pub(super) struct CollectionStatus {
    /// Its folder: relative to the folder of the store file, or to the root if the store is on a server.
    root: String,
    /// The number of its documents.
    documents: usize,
    /// The bytes of its documents.
    bytes: u64,
    /// The options that select its files.
    options: IngestOptions,
}

/// Returns the collections by name.
fn collections(reader: &dyn Reader) -> Result<BTreeMap<String, CollectionStatus>> {
    let status = |(name, collection): (&String, &Collection)| {
        let (documents, bytes) = reader.size_of_folder(name)?;
        let status = CollectionStatus {
            root: collection.root.clone(),
            documents,
            bytes,
            options: collection.options.clone().portable(),
        };
        Ok((name.clone(), status))
    };
    reader.options().collections.iter().map(status).collect()
}

/// What the store holds, or with `--limits` every limit by its name, or with `--collections` the collections.
#[expect(dead_code, reason = "only its schema is used")]
#[derive(JsonSchema)]
#[schemars(untagged)]
enum StatusShape {
    Store(Box<StatusAnswer>),
    Limits(BTreeMap<String, LimitStatus>),
    Collections(BTreeMap<String, CollectionStatus>),
}

/// A limit.
#[derive(JsonSchema, Serialize)]
#[schemars(rename = "LimitShape")]
struct LimitStatus {
    /// Its value.
    value: usize,
    /// What it limits, and in which unit.
    meaning: &'static str,
}
