//! Changes that not all servers committed.
//!
//! Each server commits by itself, so only where partitions are on other servers can a change be written in part.
//! Invariant: before a writer changes anything, each earlier change is visible on all servers or on none.

use tokio_postgres::types::Type;

use super::connection::{Connection, Parameter};
use super::merge;
use super::rows::column;
use super::sharded_ingest::{INCOMPLETE, publish};
use super::store_row::StoreRow;
use crate::error::Result;

/// Completes or undoes earlier changes that not all servers committed. The caller holds the lock of the store, and
/// `known` is what it read under it. Returns what is known afterwards, and the names of the ingests by several workers
/// that became visible.
pub(super) fn finish_or_undo(
    connection: &mut Connection,
    known: StoreRow,
) -> Result<(StoreRow, Vec<String>)> {
    let mut published = Vec::new();
    // All parts of such an ingest are in, but the change that makes them visible failed on a server.
    let statement = "SELECT i.id, i.name FROM ingest i \
         WHERE i.shards = (SELECT count(*) FROM ingest_shard s WHERE s.ingest = i.id)";
    for row in &connection.query(statement, &[])? {
        let (ingest, name): (i64, String) = (column(row, 0)?, column(row, 1)?);
        connection.batch("BEGIN")?;
        publish(connection, ingest)?;
        connection.batch("COMMIT")?;
        published.push(name);
    }
    let known = if published.is_empty() { known } else { StoreRow::read(connection)? };
    undo(connection, known.generation)?;
    Ok((known, published))
}

/// Takes back what a change wrote that never became a generation.
fn undo(connection: &mut Connection, generation: i64) -> Result<()> {
    if !connection.has_foreign_partitions()? {
        return Ok(());
    }
    // First, so that it is done again if this ends in between.
    merge::find_dead(connection, generation)?;
    let range: [Parameter<'_>; 2] = [(&generation, Type::INT8), (&INCOMPLETE, Type::INT8)];
    for table in ["document", "segment"] {
        let ended = format!("UPDATE {table} SET gen_to = NULL WHERE gen_to > $1 AND gen_to < $2");
        connection.execute(&ended, &range)?;
        let begun = format!("UPDATE {table} SET gen_to = 0 WHERE gen_from > $1 AND gen_from < $2");
        connection.execute(&begun, &range)?;
    }
    Ok(())
}
