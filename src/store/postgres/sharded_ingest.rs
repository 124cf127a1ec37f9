//! The rows of an ingest by several workers.
//!
//! The rows of each part have a stamp in place of their generation. It is greater than any generation, so nobody reads
//! them. The worker that completes the last part gives all of these rows the next generation. Invariant: what a worker wrote that died is
//! deleted by the next worker of that part, or by an ingest with another name.

use std::ops::Range;
use std::time::Duration;

use tokio_postgres::types::Type;

use super::connection::{Connection, Parameter};
use super::lock::{lock, unlock};
use super::merge;
use super::removal::{delete_where, sweep};
use super::rows::column;
use super::store_row::StoreRow;
use crate::corpus::IngestOptions;
use crate::error::{Error, ErrorKind, Result, Warning};
use crate::store::Shard;
use crate::visible::quoted;

/// The first stamp. Rows with a stamp are those of ingests that are not complete.
pub(super) const INCOMPLETE: i64 = 1 << 62;

/// The number of stamps of an ingest by several workers.
pub(super) const SHARDS: i64 = 1 << 16;

pub(super) fn lock_name(ingest: i64, shard: i64) -> String {
    format!("ingest {ingest} {shard}")
}

/// Returns the stamp of a part: what its rows have in place of a generation until all parts are in.
pub(super) fn stamp(ingest: i64, shard: i64) -> i64 {
    INCOMPLETE + ingest * SHARDS + shard
}

/// Returns the error for a part of another ingest than the one that has begun.
pub(super) fn other_ingest(message: String) -> Error {
    let hint = "give all workers the same number of parts and the same --ingest-id";
    Error::new(ErrorKind::Usage, message).with_hint(hint)
}

/// Returns the number of the ingest of a part, which begins if it has not begun yet. Deletes what abandoned ingests
/// wrote, and warns of each. The caller holds the lock of the store.
pub(super) fn begun(
    connection: &mut Connection,
    shard: &Shard,
    warnings: &mut Vec<Warning>,
) -> Result<i64> {
    let count = i64::from(shard.count);
    let statement =
        "INSERT INTO ingest (name, shards) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING";
    connection.execute(statement, &[(&shard.ingest, Type::TEXT), (&count, Type::INT8)])?;
    let mut ingest = 0;
    for row in &connection.query("SELECT id, name, shards FROM ingest", &[])? {
        let (id, name, shards): (i64, String, i64) =
            (column(row, 0)?, column(row, 1)?, column(row, 2)?);
        if name != shard.ingest {
            let done = shards_in(connection, id)?;
            if drop_abandoned(connection, id, shards)? {
                let message = format!(
                    "the ingest {} was not complete and is deleted, with {done} of {shards} parts; it begins again \
                     if a part of it is ingested",
                    quoted(&name)
                );
                warnings.push(Warning::new("INGEST_DROPPED", message));
            }
        } else if shards == count {
            ingest = id;
        } else {
            return Err(other_ingest(format!(
                "the ingest {name} has {shards} parts",
                name = quoted(&name)
            )));
        }
    }
    Ok(ingest)
}

/// Deletes what an ingest wrote if none of its workers is connected. Returns whether it did.
fn drop_abandoned(connection: &mut Connection, ingest: i64, shards: i64) -> Result<bool> {
    let mut locked = Vec::new();
    for shard in 0..shards {
        let name = lock_name(ingest, shard);
        if lock(connection, &name, Duration::ZERO).is_ok() {
            locked.push(name);
        }
    }
    let is_abandoned = locked.len() as u64 == shards.unsigned_abs();
    if is_abandoned {
        for shard in 0..shards {
            drop_shard(connection, ingest, shard)?;
        }
        connection.execute("DELETE FROM ingest WHERE id = $1", &[(&ingest, Type::INT8)])?;
    }
    locked.iter().try_for_each(|name| unlock(connection, name))?;
    Ok(is_abandoned)
}

/// Deletes what a worker wrote of a part. The caller holds the locks of the store and of the part.
pub(super) fn drop_shard(connection: &mut Connection, ingest: i64, shard: i64) -> Result<()> {
    let of_shard: [Parameter<'_>; 2] = [(&ingest, Type::INT8), (&shard, Type::INT8)];
    // Before any row is deleted on another server, the part is not in.
    for table in ["ingest_shard", "ingest_removal"] {
        let statement = format!("DELETE FROM {table} WHERE ingest = $1 AND shard = $2");
        connection.execute(&statement, &of_shard)?;
    }
    connection.batch("BEGIN")?;
    let stamp = stamp(ingest, shard);
    let documents = delete_where(connection, "d.gen_from = $1", stamp)?;
    let statement = "SELECT s.id FROM segment s WHERE s.gen_from = $1";
    let segments = connection.query(statement, &[(&stamp, Type::INT8)])?;
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
/// `stamps` become visible.
pub(super) fn forget_collections(
    connection: &mut Connection,
    before: &StoreRow,
    now: Option<&IngestOptions>,
    stamps: Range<i64>,
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
                (&stamps.start, Type::INT8),
                (&stamps.end, Type::INT8),
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
    let (first, end) = (stamp(ingest, 0), stamp(ingest + 1, 0));
    let range: [Parameter<'_>; 3] = [(&next, Type::INT8), (&first, Type::INT8), (&end, Type::INT8)];
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
pub(super) fn options_after(
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
pub(super) fn shards_in(connection: &mut Connection, ingest: i64) -> Result<i64> {
    let statement = "SELECT count(*) FROM ingest_shard WHERE ingest = $1";
    let rows = connection.query(statement, &[(&ingest, Type::INT8)])?;
    Ok(rows.first().map(|row| column(row, 0)).transpose()?.unwrap_or(0))
}
