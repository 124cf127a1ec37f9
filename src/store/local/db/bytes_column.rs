//! Reading many rows of a table by one statement.
//!
//! Invariant: the result is the same as if each row was looked for alone.

use std::collections::{HashMap, HashSet};

use rusqlite::{Connection, Rows};

use super::sql;

/// A column of bytes in a table whose rows are found by a number.
pub(super) struct BytesColumn {
    pub(super) table: &'static str,
    /// The column with the row id.
    pub(super) key: &'static str,
    pub(super) bytes: &'static str,
    /// The difference between the keys of two documents with consecutive ids.
    pub(super) step: usize,
    /// The size in bytes of the largest value. A larger one is damaged and is not read.
    pub(super) most: usize,
}

impl BytesColumn {
    /// Reads the values with these keys. A key without a row is left out.
    pub(super) fn read(
        &self,
        connection: &Connection,
        keys: &HashSet<i64>,
    ) -> rusqlite::Result<HashMap<i64, Vec<u8>>> {
        let (Some(&first), Some(&last)) = (keys.iter().min(), keys.iter().max()) else {
            return Ok(HashMap::new());
        };
        let Self { table, key, bytes, step, most } = *self;
        let mut values = HashMap::with_capacity(keys.len());
        let mut keep = |mut rows: Rows<'_>| -> rusqlite::Result<()> {
            while let Some(row) = rows.next()? {
                let key = row.get(0)?;
                if keys.contains(&key) {
                    values.insert(key, row.get(1)?);
                }
            }
            Ok(())
        };
        let select = format!(
            "SELECT {key}, {bytes} FROM {table} WHERE length({bytes}) <= {} AND {key}",
            sql(most)
        );
        // Scanning a dense range is faster than looking up each key.
        if last.abs_diff(first) / step as u64 >= 2 * keys.len() as u64 {
            let statement = format!("{select} IN (SELECT value FROM json_each(?1))");
            let keys = serde_json::to_string(keys).unwrap_or_default();
            keep(connection.prepare_cached(&statement)?.query([keys])?)?;
        } else {
            let statement = format!("{select} BETWEEN ?1 AND ?2");
            keep(connection.prepare_cached(&statement)?.query([first, last])?)?;
        }
        Ok(values)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_found_whether_their_keys_are_close_or_far_apart() {
        let connection = Connection::open_in_memory().unwrap();
        connection.execute_batch("CREATE TABLE t (k INTEGER PRIMARY KEY, v BLOB)").unwrap();
        for key in (0..100).map(|number| number * 10) {
            let value = format!("{key}").into_bytes();
            connection.execute("INSERT INTO t VALUES (?1, ?2)", (key, value)).unwrap();
        }
        connection.execute("INSERT INTO t VALUES (5, zeroblob(9))", ()).unwrap();
        let column = BytesColumn { table: "t", key: "k", bytes: "v", step: 10, most: 8 };
        let read = |keys: &[i64]| {
            let mut found: Vec<_> = column
                .read(&connection, &keys.iter().copied().collect())
                .unwrap()
                .into_iter()
                .map(|(key, value)| (key, String::from_utf8(value).unwrap()))
                .collect();
            found.sort_unstable();
            found.into_iter().map(|(key, value)| format!("{key}={value}")).collect::<Vec<_>>()
        };
        assert_eq!(read(&[]), [""; 0]);
        assert_eq!(read(&[20]), ["20=20"]);
        assert_eq!(read(&[30, 10, 20]), ["10=10", "20=20", "30=30"]);
        assert_eq!(read(&[990, 0, 500, 7]), ["0=0", "500=500", "990=990"], "no row has the key 7");
        assert_eq!(read(&[0, 5, 10]), ["0=0", "10=10"], "a value that is too large is left out");
        assert_eq!(read(&[5, 900]), ["900=900"]);
    }
}
