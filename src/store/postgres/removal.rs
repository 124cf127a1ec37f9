//! Deleting the rows of documents that no reader can see.

use std::collections::BTreeMap;

use tokio_postgres::types::Type;

use super::connection::Connection;
use super::merge;
use super::rows::chunk_place;
use super::rows::column;
use crate::codec::content::chunk_count;
use crate::error::Result;

/// A document whose rows can be deleted.
struct GoneDocument {
    partition: i16,
    id: i64,
    /// Its length in bytes.
    size: i64,
}

impl GoneDocument {
    /// The columns that [`Self::of_row`] reads.
    const COLUMNS: &str = "d.part, d.id, d.size";

    fn of_row(row: &tokio_postgres::Row) -> Result<Self> {
        Ok(Self { partition: column(row, 0)?, id: column(row, 1)?, size: column(row, 2)? })
    }

    /// Returns the places of the chunks of its bytes.
    fn places(&self) -> impl Iterator<Item = i64> {
        let chunks = chunk_count(usize::try_from(self.size).unwrap_or(0));
        let id = self.id;
        (0..chunks).map(move |chunk| chunk_place(id, chunk))
    }
}

/// Deletes all rows of documents, and notes that segments may still have them.
fn delete(connection: &mut Connection, documents: &[GoneDocument]) -> Result<()> {
    let mut partitions: BTreeMap<i16, Vec<&GoneDocument>> = BTreeMap::new();
    for document in documents {
        partitions.entry(document.partition).or_default().push(document);
    }
    // A server that holds a partition deletes the rows by itself only if the statement names nothing else.
    for (partition, documents) in partitions {
        let ids: Vec<i64> = documents.iter().map(|document| document.id).collect();
        let places: Vec<i64> = documents.iter().flat_map(|document| document.places()).collect();
        for (table, name, values) in [
            ("content", "place", &places),
            ("key", "document", &ids),
            ("title", "document", &ids),
            ("derived", "document", &ids),
            ("document", "id", &ids),
        ] {
            let statement = format!("DELETE FROM {table} WHERE part = $1 AND {name} = ANY($2)");
            connection
                .execute(&statement, &[(&partition, Type::INT2), (values, Type::INT8_ARRAY)])?;
        }
        let statement = "INSERT INTO dead (part, document) SELECT $1, unnest($2)";
        connection.execute(statement, &[(&partition, Type::INT2), (&ids, Type::INT8_ARRAY)])?;
    }
    Ok(())
}

/// Deletes the documents that `condition` means with a generation. Returns their ids.
pub(super) fn delete_where(
    connection: &mut Connection,
    condition: &str,
    generation: i64,
) -> Result<Vec<i64>> {
    let statement = format!("SELECT {} FROM document d WHERE {condition}", GoneDocument::COLUMNS);
    let rows = connection.query(&statement, &[(&generation, Type::INT8)])?;
    let gone = rows.iter().map(GoneDocument::of_row).collect::<Result<Vec<_>>>()?;
    gone.chunks(10_000).try_for_each(|some| delete(connection, some))?;
    Ok(gone.iter().map(|document| document.id).collect())
}

/// Deletes what no reader of `generation` or a later one can see.
pub(super) fn sweep(connection: &mut Connection, generation: i64) -> Result<()> {
    delete_where(connection, "d.gen_to IS NOT NULL AND d.gen_to <= $1", generation)?;
    merge::delete_ended(connection, generation)
}
