//! [`Writer`] for one part of an ingest by several workers.
//!
//! What it writes is in no generation of the store before all parts are complete; see the module `sharded_ingest`.
//! Invariant: a part is written by one worker at a time.

use std::cmp::Ordering;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tokio_postgres::types::Type;

use super::address::Address;
use super::connection::Connection;
use super::lock::{STORE, lock, unlock};
use super::rows::damaged;
use super::sharded_ingest::{
    SHARDS, begun, drop_shard, forget_collections, lock_name, options_after, other_ingest, publish,
    shards_in, stamp,
};
use super::store_row::{SET_ROOT, StoreRow, set_parser};
use super::unfinished::finish_or_undo;
use super::writer_base::WriterBase;
use super::{merge, schema};
use crate::corpus::{FileState, IngestOptions};
use crate::error::{Error, ErrorKind, Result, Warning};
use crate::limits;
use crate::prepare::{MIXED_PARSERS, PARSER_VERSION, PreparedDocument};
use crate::store::{EditIntent, IfAbsent, Shard, StoredDocument, Writer, WriterMetadata};
use crate::visible::quoted;

/// The longest wait of a worker that has begun for a change of the store.
const LOCK_WAIT: Duration = Duration::from_secs(limits::MAX_LOCK_WAIT_SECONDS as u64);

/// The right to write one part of an ingest.
#[derive(Debug)]
pub(super) struct ShardWriter {
    base: WriterBase,
    shard: Shard,
    /// The number of the ingest.
    ingest: i64,
    warnings: Vec<Warning>,
}

impl ShardWriter {
    /// Connects, and creates the store if it does not exist. Waits up to `wait` for another worker.
    pub(super) fn open(
        address: &Arc<Address>,
        own_root: Option<PathBuf>,
        shard: &Shard,
        wait: Duration,
    ) -> Result<Self> {
        let mut connection = Connection::open(address, Duration::ZERO)?;
        if i64::from(shard.count) >= SHARDS {
            return Err(other_ingest(format!("{} parts are too many", shard.count)));
        }
        lock(&mut connection, STORE, wait)?;
        schema::ensure(&mut connection, IfAbsent::Create)?;
        let mut known = StoreRow::read(&mut connection)?;
        schema::upgrade(&mut connection, known.format)?;
        let mut warnings = Vec::new();
        let (known, ingest) = loop {
            let (settled, published) = finish_or_undo(&mut connection, known)?;
            if published.contains(&shard.ingest) {
                let message = format!(
                    "the ingest {} failed at its end and is visible now; this is a part of another one",
                    quoted(&shard.ingest)
                );
                warnings.push(Warning::new("INGEST_COMPLETED", message));
            }
            let ingest = begun(&mut connection, shard, &mut warnings)?;
            // A worker of the same part may complete the ingest before it ends, so the lock of the store is
            // released for it, and the ingest is looked up again if it was.
            let of_shard = lock_name(ingest, i64::from(shard.index));
            if lock(&mut connection, &of_shard, Duration::ZERO).is_ok() {
                break (settled, ingest);
            }
            unlock(&mut connection, STORE)?;
            lock(&mut connection, &of_shard, wait)?;
            unlock(&mut connection, &of_shard)?;
            lock(&mut connection, STORE, wait)?;
            known = StoreRow::read(&mut connection)?;
        };
        drop_shard(&mut connection, ingest, i64::from(shard.index))?;
        let options = options_after(&mut connection, ingest, known.options)?;
        let known = StoreRow { options, ..known };
        unlock(&mut connection, STORE)?;
        let base = WriterBase::new(connection, known, own_root);
        Ok(Self { base, shard: shard.clone(), ingest, warnings })
    }

    fn stamp(&self) -> i64 {
        stamp(self.ingest, i64::from(self.shard.index))
    }

    /// Sends what was collected, and notes which documents are gone.
    fn send(&mut self) -> Result<()> {
        let stamp = self.stamp();
        let removed = std::mem::take(&mut self.base.change.removed);
        if !removed.is_empty() {
            let statement = "INSERT INTO ingest_removal (ingest, shard, document) \
                 SELECT $1, $2, unnest($3)";
            let index = i64::from(self.shard.index);
            self.base.begin()?.execute(
                statement,
                &[(&self.ingest, Type::INT8), (&index, Type::INT8), (&removed, Type::INT8_ARRAY)],
            )?;
        }
        self.base.send(stamp, false)
    }
}

fn has_no_edits() -> Error {
    Error::new(ErrorKind::Usage, "a part of an ingest makes no edits")
        .with_hint("edit without --shard")
}

impl Writer for ShardWriter {
    fn metadata(&self) -> Result<WriterMetadata> {
        Ok(self.base.metadata())
    }

    fn documents(&self) -> Result<Vec<StoredDocument>> {
        self.base.documents()
    }

    fn set_up(&mut self, root: &str, options: &IngestOptions) -> Result<()> {
        let before = self.base.store.options.clone().unwrap_or_default();
        let connection = self.base.connection();
        lock(connection, STORE, LOCK_WAIT)?;
        let now = StoreRow::read(connection)?.options;
        // Another part, or another ingest, may have stored options since this part began.
        let options = match options_after(connection, self.ingest, now.clone())? {
            Some(all) => options.merged(&before, &all),
            None => options.clone(),
        };
        let statement = format!("UPDATE store SET {SET_ROOT}");
        connection.execute(&statement, &[(&root, Type::TEXT)])?;
        // The store has the options when it has the documents, because this ingest may be given up.
        let json = |options: &IngestOptions| serde_json::to_string(options).unwrap_or_default();
        let (own, now) = (json(&options), now.as_ref().map(json));
        let statement = "UPDATE ingest SET options = $1, options_before = $2 WHERE id = $3";
        connection.execute(
            statement,
            &[(&own, Type::TEXT), (&now, Type::TEXT), (&self.ingest, Type::INT8)],
        )?;
        unlock(connection, STORE)?;
        self.base.store.set_root(root);
        self.base.store.options = Some(options);
        Ok(())
    }

    fn set_current_parser(&mut self, _: bool) -> Result<()> {
        Ok(())
    }

    fn put(&mut self, documents: Vec<PreparedDocument>) -> Result<()> {
        for document in documents {
            self.base.put(document)?;
            if self.base.change.is_large() {
                self.send()?;
            }
        }
        Ok(())
    }

    fn remove(&mut self, ids: &[i64]) -> Result<()> {
        self.base.change.removed.extend_from_slice(ids);
        Ok(())
    }

    fn set_states(&mut self, states: &[(i64, FileState)]) -> Result<()> {
        self.base.change.states.extend_from_slice(states);
        Ok(())
    }

    fn note_intents(&mut self, _: &[EditIntent]) -> Result<Vec<i64>> {
        Err(has_no_edits())
    }

    fn forget_intent(&mut self, _: i64) -> Result<()> {
        Err(has_no_edits())
    }

    fn intents(&self) -> Result<Vec<(i64, EditIntent)>> {
        Ok(Vec::new())
    }

    fn commit(&mut self) -> Result<()> {
        if !self.base.change.is_sent() {
            self.send()?;
        }
        if std::mem::take(&mut self.base.is_dirty) {
            let stamp = self.stamp();
            let segments = std::mem::take(&mut self.base.change.segments);
            merge::add(self.base.begin()?, segments, stamp)?;
        }
        self.base.commit()
    }

    fn complete(&mut self) -> Result<()> {
        self.commit()?;
        let (ingest, index) = (self.ingest, i64::from(self.shard.index));
        let before = self.base.store.clone();
        let connection = self.base.connection();
        lock(connection, STORE, LOCK_WAIT)?;
        let count = i64::from(self.shard.count);
        let known = StoreRow::read(connection)?;
        let (now, _) = finish_or_undo(connection, known)?;
        // This is committed before anything else, so that it is known if what follows fails on a server.
        let statement = "INSERT INTO ingest_shard (ingest, shard) VALUES ($1, $2)";
        connection.execute(statement, &[(&ingest, Type::INT8), (&index, Type::INT8)])?;
        connection.batch("BEGIN")?;
        if now.parser != PARSER_VERSION {
            set_parser(connection, MIXED_PARSERS)?;
        }
        let stamp = stamp(ingest, index);
        let options = options_after(connection, ingest, now.options)?;
        forget_collections(connection, &before, options.as_ref(), stamp..stamp + 1)?;
        let mut published = None;
        let done = shards_in(connection, ingest)?;
        match done.cmp(&count) {
            Ordering::Less => {
                let message = format!(
                    "{done} of {count} parts of the ingest {} are in; its documents are visible when all are",
                    quoted(&self.shard.ingest)
                );
                self.warnings.push(Warning::new("INGEST_INCOMPLETE", message));
            }
            Ordering::Equal => published = Some(publish(connection, ingest)?),
            Ordering::Greater => return Err(damaged("an ingest has more parts than it should")),
        }
        connection.batch("COMMIT")?;
        unlock(connection, STORE)?;
        self.base.store.generation = published.unwrap_or(before.generation);
        Ok(())
    }

    fn close(mut self: Box<Self>) -> Result<Vec<Warning>> {
        self.base.roll_back()?;
        Ok(self.warnings)
    }
}
