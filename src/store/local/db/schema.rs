//! The schema: numbered migrations, and the check that a file has exactly their result.
//!
//! A migration is never changed after its release. `migrate` runs the ones that a store does not
//! have yet. Invariant: a file that passes [`check`] has exactly the tables and indices that the
//! migrations up to its version create, byte for byte, and no other trigger, view or table.

use std::path::Path;

use rusqlite::Connection;

use super::{corrupt, file_name, sql, store_error};
use crate::error::{Error, ErrorKind, Result};

/// "mdse" in ASCII: the application id in the header of a SQLite file.
pub(super) const APPLICATION_ID: i32 = 0x6d64_7365;

/// A step from one version of the schema to the next.
pub(super) struct Migration {
    pub(super) sql: &'static str,
    /// blake3 of the content of `sqlite_schema` after this migration.
    pub(super) fingerprint: &'static str,
}

/// All migrations in order. The version of a schema is the number of migrations that have run.
pub(super) const MIGRATIONS: &[Migration] = &[
    Migration {
        sql: include_str!("../../../../migrations/0001_documents.sql"),
        fingerprint: "5fb624807f994c82f6a235baccf5e869de821966d3be7aeeabf2824ed7f064f0",
    },
    Migration {
        sql: include_str!("../../../../migrations/0002_seals.sql"),
        fingerprint: "dc5b18c41e85c4f012a41431c1fc6f692b94f7d72508ba0fd8e0e30a2377bbfb",
    },
    Migration {
        sql: include_str!("../../../../migrations/0003_data.sql"),
        fingerprint: "6066612bf10c73352157742714dd621d2722a221daa91c738dc17b0e4dbab95e",
    },
    Migration {
        sql: include_str!("../../../../migrations/0004_edits.sql"),
        fingerprint: "484a04571b84d11c1e7805186e28030495781fc89be4e90ae885c5ff66b2afc6",
    },
    Migration {
        sql: include_str!("../../../../migrations/0005_checksums.sql"),
        fingerprint: "ecfdc02bed0db66a2e807d8260974c5eb7c5d6c1aad7ff94d5da9fbc407e70cd",
    },
    Migration {
        sql: include_str!("../../../../migrations/0006_file_times.sql"),
        fingerprint: "b86733d39c24c523e7fa46763bb7056d3513b8a7dcb7ea60c365003cb1dbd8ec",
    },
    Migration {
        sql: include_str!("../../../../migrations/0007_totals.sql"),
        fingerprint: "f8eb218dfa01beca41ee6b614d72786f15f99242a27a713356f492651c6d0b56",
    },
    Migration {
        sql: include_str!("../../../../migrations/0008_compressed_rows.sql"),
        fingerprint: "086e7417cf3d387a03c6757e271b2cf740f5fd898016ff63498bf8e99f38791a",
    },
    Migration {
        sql: include_str!("../../../../migrations/0009_folders.sql"),
        fingerprint: "9ba65170a136bef8e1f71edd50fe3e2a76e724ea503a8e2737f8c6b30d20bde6",
    },
];

/// Creates the schema of a version in an empty database, in one transaction.
pub(super) fn create(connection: &mut Connection, version: usize) -> rusqlite::Result<()> {
    let transaction = connection.transaction()?;
    for migration in MIGRATIONS.iter().take(version) {
        transaction.execute_batch(migration.sql)?;
    }
    transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
    transaction.pragma_update(None, "user_version", sql(version))?;
    transaction.commit()
}

/// Whether a store must be migrated before it is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Age {
    /// The store has the newest schema.
    Current,
    /// This many migrations have run and more exist.
    Old(usize),
}

/// Checks that a database is a store with the schema of one of the versions of `migrations`.
pub(super) fn check(path: &Path, connection: &Connection, migrations: &[Migration]) -> Result<Age> {
    let wrap = |error| store_error(path, error);
    let number = |name: &str| {
        connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0)).map_err(wrap)
    };
    let application_id = number("application_id")?;
    let user_version = number("user_version")?;
    let found = fingerprint(connection).map_err(wrap)?;
    let newest = migrations.len();
    let known = migrations.iter().position(|migration| migration.fingerprint == found);
    // The file header has been checked before, so another id comes from the write-ahead log.
    if application_id != i64::from(APPLICATION_ID) {
        return Err(corrupt(path, "its log belongs to another database"));
    }
    if user_version > sql(newest) {
        return Err(Error::new(
            ErrorKind::StoreTooNew,
            format!(
                "{}: the store has version {user_version}; this program supports up to {newest}",
                file_name(path),
            ),
        )
        .with_hint("use the version of mdsel that wrote it, or a newer one"));
    }
    let Some(version) = known.map(|last| last + 1) else {
        return Err(corrupt(path, "its schema differs from the one that mdsel creates"));
    };
    // Each version has a unique schema.
    if user_version != sql(version) {
        return Err(corrupt(path, "its version number does not match its schema"));
    }
    Ok(if version == newest { Age::Current } else { Age::Old(version) })
}

pub(super) fn fingerprint(connection: &Connection) -> rusqlite::Result<String> {
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
    fn the_fingerprints_match_the_migrations() {
        let connection = Connection::open_in_memory().unwrap();
        for migration in MIGRATIONS {
            connection.execute_batch(migration.sql).unwrap();
            assert_eq!(fingerprint(&connection).unwrap(), migration.fingerprint);
        }
    }

    /// A store is identified by its schema as well as by its version number.
    #[test]
    fn every_version_has_a_unique_schema() {
        let fingerprints: std::collections::HashSet<_> =
            MIGRATIONS.iter().map(|migration| migration.fingerprint).collect();
        assert_eq!(fingerprints.len(), MIGRATIONS.len());
    }

    #[test]
    fn a_new_store_has_the_current_schema() {
        let mut connection = Connection::open_in_memory().unwrap();
        create(&mut connection, MIGRATIONS.len()).unwrap();
        assert_eq!(check(Path::new("x"), &connection, MIGRATIONS).unwrap(), Age::Current);
    }

    #[test]
    fn every_migration_file_is_listed() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("migrations");
        let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        let sql = files.filter(|path| path.extension().is_some_and(|ending| ending == "sql"));
        assert_eq!(sql.count(), MIGRATIONS.len());
    }

    #[test]
    fn a_changed_schema_is_refused() {
        for extra in
            ["CREATE TABLE x (y)", "CREATE VIEW v AS SELECT 1", "DROP INDEX document_name_key"]
        {
            let mut connection = Connection::open_in_memory().unwrap();
            create(&mut connection, MIGRATIONS.len()).unwrap();
            connection.execute_batch(extra).unwrap();
            let error = check(Path::new("x"), &connection, MIGRATIONS).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::StoreCorrupt);
        }
    }
}
