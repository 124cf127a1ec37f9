//! The folders of the documents, in a table of their own, so that a folder is found without reading the paths of all
//! documents.
//!
//! Invariant: in every committed state they are those of the documents.

use std::collections::BTreeMap;

use rusqlite::{Connection, Row, params};

use super::count;

/// Returns the stored folders; see [`crate::store::Reader::folders`].
pub(super) fn stored(connection: &Connection) -> rusqlite::Result<Vec<(String, usize)>> {
    let statement = "SELECT path, documents FROM folder ORDER BY path";
    let folder = |row: &Row<'_>| Ok((row.get(0)?, count(row.get(1)?)));
    connection.prepare_cached(statement)?.query_map([], folder)?.collect()
}

/// Selects the folders of the documents. What is removed from the end of a path are all characters that are no `/`.
const COUNTED: &str =
    "SELECT rtrim(path, replace(path, '/', '')), count(*) FROM document GROUP BY 1";

/// Returns whether the stored folders are those of the documents.
pub(super) fn are_complete(connection: &Connection) -> rusqlite::Result<bool> {
    let stored = "SELECT path, documents FROM folder";
    let difference = format!(
        "SELECT NOT EXISTS ({stored} EXCEPT {COUNTED}) AND NOT EXISTS ({COUNTED} EXCEPT {stored})"
    );
    connection.query_row(&difference, [], |row| row.get(0))
}

/// The difference that the documents make that a transaction has added and removed.
#[derive(Debug, Default)]
pub(super) struct FolderChange {
    /// The number of documents by folder.
    documents: BTreeMap<String, i64>,
    /// Whether a document was removed of which nobody knows the folder that it was counted in.
    is_unknown: bool,
}

impl FolderChange {
    /// Adds the document at `path`.
    pub(super) fn add(&mut self, path: &str) {
        self.change(path, 1);
    }

    /// Subtracts the document at `path`, which is deleted; `None` if its path is damaged.
    pub(super) fn remove(&mut self, path: Option<&str>) {
        match path {
            Some(path) => self.change(path, -1),
            None => self.is_unknown = true,
        }
    }

    fn change(&mut self, path: &str, by: i64) {
        let folder = path.get(..path.rfind('/').map_or(0, |slash| slash + 1)).unwrap_or_default();
        match self.documents.get_mut(folder) {
            Some(documents) => *documents += by,
            None => drop(self.documents.insert(folder.to_owned(), by)),
        }
    }

    /// Adds the difference to the stored folders, once. If it is not known as a whole, counts all documents instead,
    /// which are those that the transaction leaves.
    pub(super) fn write(&mut self, connection: &Connection) -> rusqlite::Result<()> {
        let Self { documents, is_unknown } = std::mem::take(self);
        if is_unknown {
            connection.execute("DELETE FROM folder", [])?;
            return connection
                .execute(&format!("INSERT INTO folder (path, documents) {COUNTED}"), [])
                .map(|_| ());
        }
        for (folder, change) in documents {
            if change == 0 {
                continue;
            }
            let statement = "INSERT INTO folder (path, documents) VALUES (?1, ?2) \
                ON CONFLICT (path) DO UPDATE SET documents = documents + ?2";
            connection.prepare_cached(statement)?.execute(params![folder, change])?;
            if change < 0 {
                let statement = "DELETE FROM folder WHERE path = ?1 AND documents <= 0";
                connection.prepare_cached(statement)?.execute([folder])?;
            }
        }
        Ok(())
    }
}
