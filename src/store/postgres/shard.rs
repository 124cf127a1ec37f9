//! [`Writer`] for one part of an ingest by several workers.
//!
//! Each part writes rows of a generation of its own, above all others, so nobody reads them. The worker that
//! completes the last part gives all of these rows the next generation. Invariants: a part is written by one
//! worker at a time. What a worker wrote that died is deleted by the next worker of that part, or by an ingest
//! with another name.

use std::cell::RefCell;
use std::cmp::Ordering;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use postgres::types::{ToSql, Type};

use super::address::Address;
use super::change::Change;
use super::connection::Connection;
use super::rows::{DOCUMENT_COLUMNS, column, damaged, text_key, unchecked_document};
use super::store_row::StoreRow;
use super::unfinished::finish_or_undo;
use super::writer::{INCOMPLETE, Ids, STORE, delete_where, lock, set_parser, sweep};
use super::{merge, question::Question, schema};
use crate::corpus::{FileState, IngestOptions};
use crate::error::{Error, ErrorKind, Result, Warning};
use crate::limits;
use crate::prepare::{MIXED_PARSERS, PARSER_VERSION, PreparedDocument};
use crate::store::{EditIntent, Shard, StoredDocument, Writer, WriterMetadata};

/// The number of generations that an ingest by several workers may use.
const SHARDS: i64 = 1 << 16;

/// The longest wait of a worker that has begun for a change of the store.
const LOCK_WAIT: Duration = Duration::from_secs(limits::MAX_LOCK_WAIT_SECONDS as u64);

/// The right to write one part of an ingest.
#[derive(Debug)]
pub(super) struct ShardWriter {
    connection: RefCell<Connection>,
    known: StoreRow,
    own_root: Option<PathBuf>,
    shard: Shard,
    /// The number of the ingest.
    ingest: i64,
    ids: Ids,
    change: Change,
    has_begun: bool,
    is_dirty: bool,
    warnings: Vec<Warning>,
}

fn lock_name(ingest: i64, shard: i64) -> String {
    format!("ingest {ingest} {shard}")
}

/// Returns the generation of the rows of a part.
fn generation(ingest: i64, shard: i64) -> i64 {
    INCOMPLETE + ingest * SHARDS + shard
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
        schema::create(&mut connection)?;
        let mut known = StoreRow::read(&mut connection)?;
        schema::upgrade(&mut connection, known.format)?;
        let mut warnings = Vec::new();
        let (known, ingest) = loop {
            let (settled, published) = finish_or_undo(&mut connection, known)?;
            if published.contains(&shard.ingest) {
                let message = format!(
                    "the ingest {:?} failed at its end and is visible now; this is a part of another one",
                    shard.ingest
                );
                warnings.push(Warning::new("INGEST_COMPLETED", message));
            }
            let ingest = begun(&mut connection, shard)?;
            // A worker of the same part may complete the ingest before it ends, so the lock of the store is
            // released for it, and the ingest is looked up again if it was.
            let part = lock_name(ingest, i64::from(shard.index));
            if lock(&mut connection, &part, Duration::ZERO).is_ok() {
                break (settled, ingest);
            }
            unlock(&mut connection, STORE)?;
            lock(&mut connection, &part, wait)?;
            unlock(&mut connection, &part)?;
            lock(&mut connection, STORE, wait)?;
            known = StoreRow::read(&mut connection)?;
        };
        drop_part(&mut connection, ingest, i64::from(shard.index))?;
        let options = options_after(&mut connection, ingest, known.options)?;
        let known = StoreRow { options, ..known };
        unlock(&mut connection, STORE)?;
        Ok(Self {
            connection: RefCell::new(connection),
            known,
            own_root,
            shard: shard.clone(),
            ingest,
            ids: Ids::default(),
            change: Change::default(),
            has_begun: false,
            is_dirty: false,
            warnings,
        })
    }

    fn begin(&mut self) -> Result<()> {
        if !self.has_begun {
            self.connection.get_mut().batch("BEGIN")?;
            self.has_begun = true;
        }
        Ok(())
    }

    fn generation_of_rows(&self) -> i64 {
        generation(self.ingest, i64::from(self.shard.index))
    }

    /// Sends what was collected, and notes which documents are gone.
    fn send(&mut self) -> Result<()> {
        self.begin()?;
        let rows = self.generation_of_rows();
        let removed = std::mem::take(&mut self.change.removed);
        let connection = self.connection.get_mut();
        if !removed.is_empty() {
            let statement = "INSERT INTO ingest_removal (ingest, shard, document) \
                 SELECT $1, $2, unnest($3)";
            let index = i64::from(self.shard.index);
            connection.execute(
                statement,
                &[(&self.ingest, Type::INT8), (&index, Type::INT8), (&removed, Type::INT8_ARRAY)],
            )?;
        }
        self.change.send(connection, rows, false)
    }
}

fn unlock(connection: &mut Connection, name: &str) -> Result<()> {
    let key = text_key(&format!("mdsel {} {name}", connection.address().schema));
    connection.query("SELECT pg_advisory_unlock($1)", &[(&key, Type::INT8)])?;
    Ok(())
}

/// Returns the error for a part of another ingest than the one that has begun.
fn other_ingest(message: String) -> Error {
    let hint = "give all workers the same number of parts and the same --ingest-id";
    Error::new(ErrorKind::Usage, message).with_hint(hint)
}

/// Returns the number of the ingest of a part, which begins if it has not begun yet. Deletes what abandoned ingests
/// wrote. The caller holds the lock of the store.
fn begun(connection: &mut Connection, shard: &Shard) -> Result<i64> {
    let count = i64::from(shard.count);
    let statement =
        "INSERT INTO ingest (name, shards) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING";
    connection.execute(statement, &[(&shard.ingest, Type::TEXT), (&count, Type::INT8)])?;
    let mut ingest = 0;
    for row in &connection.query("SELECT id, name, shards FROM ingest", &[])? {
        let (id, name, shards): (i64, String, i64) =
            (column(row, 0)?, column(row, 1)?, column(row, 2)?);
        if name != shard.ingest {
            drop_abandoned(connection, id, shards)?;
        } else if shards == count {
            ingest = id;
        } else {
            return Err(other_ingest(format!("the ingest {name:?} has {shards} parts")));
        }
    }
    Ok(ingest)
}

/// Deletes what an ingest wrote if none of its workers is connected.
fn drop_abandoned(connection: &mut Connection, ingest: i64, shards: i64) -> Result<()> {
    let mut locked = Vec::new();
    for shard in 0..shards {
        let name = lock_name(ingest, shard);
        if lock(connection, &name, Duration::ZERO).is_ok() {
            locked.push(name);
        }
    }
    if locked.len() as u64 == shards.unsigned_abs() {
        for shard in 0..shards {
            drop_part(connection, ingest, shard)?;
        }
        connection.execute("DELETE FROM ingest WHERE id = $1", &[(&ingest, Type::INT8)])?;
    }
    locked.iter().try_for_each(|name| unlock(connection, name))
}

/// Deletes what a worker wrote of a part. The caller holds the locks of the store and of the part.
fn drop_part(connection: &mut Connection, ingest: i64, shard: i64) -> Result<()> {
    let of_part: [(&(dyn ToSql + Sync), Type); 2] = [(&ingest, Type::INT8), (&shard, Type::INT8)];
    // Before any row is deleted on another server, the part is not in.
    for table in ["ingest_shard", "ingest_removal"] {
        let statement = format!("DELETE FROM {table} WHERE ingest = $1 AND shard = $2");
        connection.execute(&statement, &of_part)?;
    }
    connection.batch("BEGIN")?;
    let rows = generation(ingest, shard);
    let documents = delete_where(connection, "d.gen_from = $1", rows)?;
    let statement = "SELECT s.id FROM segment s WHERE s.gen_from = $1";
    let segments = connection.query(statement, &[(&rows, Type::INT8)])?;
    let segments = segments.iter().map(|row| column(row, 0)).collect::<Result<Vec<i64>>>()?;
    merge::delete(connection, &segments)?;
    // No segment has them any more.
    for some in documents.chunks(10_000) {
        let statement = "DELETE FROM dead WHERE document = ANY($1)";
        connection.execute(statement, &[(&some, Type::INT8_ARRAY)])?;
    }
    connection.batch("COMMIT")
}

/// Notes that the documents of collections that `before` has and `now` lacks are gone when the parts that wrote them with
/// the generations `rows` become visible.
pub(super) fn forget_collections(
    connection: &mut Connection,
    before: &StoreRow,
    now: Option<&IngestOptions>,
    rows: Range<i64>,
) -> Result<()> {
    let is_kept = |name: &str| now.is_some_and(|now| now.collections.contains_key(name));
    let names = before.options.iter().flat_map(|options| options.collections.keys());
    for name in names.filter(|name| !is_kept(name)) {
        let statement = "INSERT INTO ingest_removal (ingest, shard, document) \
             SELECT (d.gen_from - $1) / $2, (d.gen_from - $1) % $2, d.id FROM document d \
             WHERE d.gen_from >= $3 AND d.gen_from < $4 AND left(d.path, length($5)) = $5";
        connection.execute(
            statement,
            &[
                (&INCOMPLETE, Type::INT8),
                (&SHARDS, Type::INT8),
                (&rows.start, Type::INT8),
                (&rows.end, Type::INT8),
                (&format!("{name}/"), Type::TEXT),
            ],
        )?;
    }
    Ok(())
}

/// Gives the rows of all parts of an ingest the next generation. If a server fails at the end of the transaction, this is
/// done again, with the same generation, before any other change.
pub(super) fn publish(connection: &mut Connection, ingest: i64) -> Result<i64> {
    let StoreRow { generation: now, options, .. } = StoreRow::read(connection)?;
    let options = options_after(connection, ingest, options)?;
    let options = options.map(|options| serde_json::to_string(&options).unwrap_or_default());
    let next = now + 1;
    let (first, end) = (generation(ingest, 0), generation(ingest + 1, 0));
    let range: [(&(dyn ToSql + Sync), Type); 3] =
        [(&next, Type::INT8), (&first, Type::INT8), (&end, Type::INT8)];
    for statement in [
        "UPDATE document o SET gen_to = $1 FROM document n WHERE n.gen_from >= $2 AND n.gen_from < $3 \
         AND o.part = n.part AND o.path = n.path AND o.gen_from < $1 AND o.gen_to IS NULL",
        "UPDATE document SET gen_from = $1 WHERE gen_from >= $2 AND gen_from < $3",
        "UPDATE segment SET gen_from = $1 WHERE gen_from >= $2 AND gen_from < $3",
    ] {
        connection.execute(statement, &range)?;
    }
    let statement = "UPDATE document SET gen_to = $1 WHERE gen_to IS NULL AND gen_from <= $1 \
         AND id IN (SELECT document FROM ingest_removal WHERE ingest = $2)";
    connection.execute(statement, &[(&next, Type::INT8), (&ingest, Type::INT8)])?;
    for (table, name) in
        [("ingest_removal", "ingest"), ("ingest_shard", "ingest"), ("ingest", "id")]
    {
        let statement = format!("DELETE FROM {table} WHERE {name} = $1");
        connection.execute(&statement, &[(&ingest, Type::INT8)])?;
    }
    sweep(connection, now)?;
    merge::tidy(connection, next)?;
    let statement = "UPDATE store SET generation = $1, options = coalesce($2, options)";
    connection.execute(statement, &[(&next, Type::INT8), (&options, Type::TEXT)])?;
    Ok(next)
}

/// Returns the options of the store when an ingest is visible, if it has `now` before that.
fn options_after(
    connection: &mut Connection,
    ingest: i64,
    now: Option<IngestOptions>,
) -> Result<Option<IngestOptions>> {
    let statement = format!("SELECT options, options_before FROM ingest WHERE id = {ingest}");
    let row = connection.texts(&statement)?.into_iter().next().unwrap_or_default();
    let parsed = |text: &Option<String>| serde_json::from_str(text.as_deref()?).ok();
    let mut options = row.iter().map(parsed).map(|it| it.map(IngestOptions::within_limits));
    let (own, before) = (options.next().flatten(), options.next().flatten());
    Ok(match (own, now) {
        (Some(own), Some(now)) => Some(own.merged(&before.unwrap_or_default(), &now)),
        (own, now) => own.or(now),
    })
}

/// Returns the number of parts of an ingest that are in.
fn parts_in(connection: &mut Connection, ingest: i64) -> Result<i64> {
    let statement = "SELECT count(*) FROM ingest_shard WHERE ingest = $1";
    let rows = connection.query(statement, &[(&ingest, Type::INT8)])?;
    Ok(rows.first().map(|row| column(row, 0)).transpose()?.unwrap_or(0))
}

fn has_no_edits() -> Error {
    Error::new(ErrorKind::Usage, "a part of an ingest makes no edits")
        .with_hint("edit without --shard")
}

impl Writer for ShardWriter {
    fn metadata(&self) -> Result<WriterMetadata> {
        let root = self.known.root.as_ref();
        Ok(WriterMetadata {
            root: root.map(|root| self.own_root.clone().unwrap_or_else(|| PathBuf::from(root))),
            options: self.known.options.clone(),
            has_lost_options: self.known.has_lost_options,
            has_current_parser: self.known.parser == PARSER_VERSION,
            generation: self.known.generation.unsigned_abs(),
        })
    }

    fn documents(&self) -> Result<Vec<StoredDocument>> {
        let question =
            Question::of_documents(DOCUMENT_COLUMNS, "document d", self.known.generation);
        let rows = question.run(&mut self.connection.borrow_mut())?;
        rows.iter().map(unchecked_document).collect()
    }

    fn set_up(&mut self, root: &str, options: &IngestOptions) -> Result<()> {
        let connection = self.connection.get_mut();
        lock(connection, STORE, LOCK_WAIT)?;
        let now = StoreRow::read(connection)?.options;
        let before = self.known.options.clone().unwrap_or_default();
        // Another part, or another ingest, may have stored options since this part began.
        let options = match options_after(connection, self.ingest, now.clone())? {
            Some(all) => options.merged(&before, &all),
            None => options.clone(),
        };
        let statement = "UPDATE store SET root = coalesce(root, $1)";
        connection.execute(statement, &[(&root, Type::TEXT)])?;
        // The store has the options when it has the documents, because this ingest may be given up.
        let json = |options: &IngestOptions| serde_json::to_string(options).unwrap_or_default();
        let (own, now) = (json(&options), now.as_ref().map(json));
        let statement = "UPDATE ingest SET options = $1, options_before = $2 WHERE id = $3";
        let values: [(&(dyn ToSql + Sync), Type); 3] =
            [(&own, Type::TEXT), (&now, Type::TEXT), (&self.ingest, Type::INT8)];
        connection.execute(statement, &values)?;
        unlock(connection, STORE)?;
        self.known.root.get_or_insert_with(|| root.to_owned());
        self.known.options = Some(options);
        Ok(())
    }

    fn set_current_parser(&mut self, _: bool) -> Result<()> {
        Ok(())
    }

    fn put(&mut self, documents: Vec<PreparedDocument>) -> Result<()> {
        for document in documents {
            let id = self.ids.next(self.connection.get_mut())?;
            self.change.put(id, document, self.known.partitions);
            self.is_dirty = true;
            if self.change.is_large() {
                self.send()?;
            }
        }
        Ok(())
    }

    fn remove(&mut self, ids: &[i64]) -> Result<()> {
        self.change.removed.extend_from_slice(ids);
        Ok(())
    }

    fn set_states(&mut self, states: &[(i64, FileState)]) -> Result<()> {
        self.change.states.extend_from_slice(states);
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
        if !self.change.is_sent() {
            self.send()?;
        }
        if std::mem::take(&mut self.is_dirty) {
            self.begin()?;
            let (rows, segments) =
                (self.generation_of_rows(), std::mem::take(&mut self.change.segments));
            merge::add(self.connection.get_mut(), segments, rows)?;
        }
        if std::mem::take(&mut self.has_begun) {
            self.connection.get_mut().batch("COMMIT")?;
        }
        Ok(())
    }

    fn complete(&mut self) -> Result<()> {
        self.commit()?;
        let (ingest, index) = (self.ingest, i64::from(self.shard.index));
        let connection = self.connection.get_mut();
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
        let rows = generation(ingest, index);
        let options = options_after(connection, ingest, now.options)?;
        forget_collections(connection, &self.known, options.as_ref(), rows..rows + 1)?;
        let done = parts_in(connection, ingest)?;
        match done.cmp(&count) {
            Ordering::Less => {
                let message = format!(
                    "{done} of {count} parts of the ingest {:?} are in; its documents are visible when all are",
                    self.shard.ingest
                );
                self.warnings.push(Warning::new("INGEST_INCOMPLETE", message));
            }
            Ordering::Equal => self.known.generation = publish(connection, ingest)?,
            Ordering::Greater => return Err(damaged("an ingest has more parts than it should")),
        }
        connection.batch("COMMIT")?;
        unlock(connection, STORE)
    }

    fn close(mut self: Box<Self>) -> Result<Vec<Warning>> {
        if self.has_begun {
            self.connection.get_mut().batch("ROLLBACK")?;
        }
        Ok(std::mem::take(&mut self.warnings))
    }
}
