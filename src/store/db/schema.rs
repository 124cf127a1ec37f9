//! The schema: numbered migrations, and the proof that a file has exactly theirs.
//!
//! A migration is never changed once released. Invariant: a file that passes [`check`] has the
//! tables and indices that these migrations make, byte for byte, and no trigger, view or table more.

use std::path::Path;

use rusqlite::Connection;

use super::{corrupt, file_name, foreign, store_error};
use crate::error::{Error, ErrorKind, Result};

/// "mdse" in ASCII: SQLite's mark of whose file it is.
pub(super) const APPLICATION_ID: i32 = 0x6d64_7365;

/// The migrations in order; the schema's version is how many have run.
const MIGRATIONS: &[&str] = &[include_str!("../../../migrations/0001_documents.sql")];

/// blake3 of what `sqlite_schema` holds behind the last migration.
const FINGERPRINT: &str = "5fb624807f994c82f6a235baccf5e869de821966d3be7aeeabf2824ed7f064f0";

/// The version of the schema that this program writes.
pub(super) fn version() -> i64 {
    i64::try_from(MIGRATIONS.len()).unwrap_or(i64::MAX)
}

/// Makes the schema in an empty database, in one transaction.
pub(super) fn create(connection: &mut Connection) -> rusqlite::Result<()> {
    let transaction = connection.transaction()?;
    for migration in MIGRATIONS {
        transaction.execute_batch(migration)?;
    }
    transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
    transaction.pragma_update(None, "user_version", version())?;
    transaction.commit()
}

/// Refuses a database that is not a store of a version that this program knows.
pub(super) fn check(path: &Path, connection: &Connection) -> Result<()> {
    let wrap = |error| store_error(path, error);
    let number = |name: &str| {
        connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0)).map_err(wrap)
    };
    let application_id = number("application_id")?;
    let user_version = number("user_version")?;
    if application_id != i64::from(APPLICATION_ID) {
        return Err(foreign(path));
    }
    if user_version > version() {
        return Err(Error::new(
            ErrorKind::StoreTooNew,
            format!(
                "{}: the store has version {user_version}, this program knows up to {}",
                file_name(path),
                version()
            ),
        )
        .with_hint("use the program that wrote it, or a newer one"));
    }
    if user_version < 1 || fingerprint(connection).map_err(wrap)? != FINGERPRINT {
        return Err(corrupt(path, "its schema is not the one that mdsel makes"));
    }
    Ok(())
}

fn fingerprint(connection: &Connection) -> rusqlite::Result<String> {
    let mut hasher = blake3::Hasher::new();
    let mut statement = connection
        .prepare("SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY type, name")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        for column in 0..4 {
            let text = row.get_ref(column)?.as_str_or_null().ok().flatten().unwrap_or_default();
            hasher.update(text.as_bytes());
            hasher.update(&[0]);
        }
    }
    Ok(hasher.finalize().to_hex().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fingerprint_is_that_of_the_migrations() {
        let mut connection = Connection::open_in_memory().unwrap();
        create(&mut connection).unwrap();
        assert_eq!(fingerprint(&connection).unwrap(), FINGERPRINT);
        check(Path::new("x"), &connection).unwrap();
    }

    #[test]
    fn every_migration_file_is_listed() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("migrations");
        assert_eq!(std::fs::read_dir(folder).unwrap().count(), MIGRATIONS.len());
    }

    #[test]
    fn another_table_or_view_is_refused() {
        for extra in
            ["CREATE TABLE x (y)", "CREATE VIEW v AS SELECT 1", "DROP INDEX document_name_key"]
        {
            let mut connection = Connection::open_in_memory().unwrap();
            create(&mut connection).unwrap();
            connection.execute_batch(extra).unwrap();
            let error = check(Path::new("x"), &connection).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::StoreCorrupt);
        }
    }
}
