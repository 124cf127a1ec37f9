//! Migrations: upgrading a store from an older schema to the newest one.
//!
//! The caller holds the lock of the store. Invariants: at any moment the store has the old schema
//! or the new one. A copy of the old store is kept next to it if the disk has room. No existing
//! file is overwritten.

use std::path::{Path, PathBuf};

use rusqlite::Connection;
use rusqlite::limits::Limit;

use super::schema::{Age, Migration, check};
use super::{sql, store_error, with_suffix};
use crate::error::{Error, Result};
use crate::failpoint::failpoint;

/// The result of a migration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::store) struct Migrated {
    /// The version of the schema before.
    pub(in crate::store) from: usize,
    /// The version of the schema after.
    pub(in crate::store) to: usize,
    /// The copy of the old store; `None` if none was made.
    pub(in crate::store) copy: Option<PathBuf>,
}

/// Runs the `migrations` that the store at `path` does not have yet, in one transaction. Returns
/// `None` if there are none to run.
pub(super) fn migrate(
    path: &Path,
    connection: &mut Connection,
    migrations: &[Migration],
) -> Result<Option<Migrated>> {
    let Age::Old(from) = check(path, connection, migrations)? else { return Ok(None) };
    let wrap = |error| store_error(path, error);
    let suffix = format!(".v{from}.bak");
    let copy = copy_beside(path, connection, &format!("{suffix}-new"))?;
    failpoint!(MIGRATION_COPIED);
    let to = migrations.len();
    let transaction = connection.transaction().map_err(wrap)?;
    failpoint!(MIGRATION_BEGUN);
    for migration in migrations.iter().skip(from) {
        transaction.execute_batch(migration.sql).map_err(wrap)?;
    }
    transaction.pragma_update(None, "user_version", sql(to)).map_err(wrap)?;
    // A migrated store that would be refused is not committed.
    check(path, &transaction, migrations)?;
    failpoint!(MIGRATION_RUN);
    // The copy gets its final name only now, so a migration that fails repeatedly leaves only one
    // copy.
    let copy = copy.map(|copy| named(&copy, &free_name(path, &suffix))).transpose()?;
    failpoint!(MIGRATION_KEPT);
    transaction.commit().map_err(wrap)?;
    failpoint!(MIGRATION_COMMITTED);
    Ok(Some(Migrated { from, to, copy }))
}

/// Copies the store to a file next to it, if the disk has room for the copy and the migration. The
/// name is that of the store plus `suffix`. A partial copy of an interrupted migration is removed
/// first.
fn copy_beside(path: &Path, connection: &Connection, suffix: &str) -> Result<Option<PathBuf>> {
    let copy = with_suffix(path, suffix);
    for suffix in ["", "-journal"] {
        drop(std::fs::remove_file(with_suffix(&copy, suffix)));
    }
    let size = std::fs::metadata(path).map_err(|error| Error::io(path, error))?.len();
    if !has_room(path, size.saturating_mul(3)) {
        return Ok(None);
    }
    let wrap = |error| store_error(path, error);
    // SQLite accepts only UTF-8 file names.
    let Some(name) = copy.to_str() else { return Ok(None) };
    // `VACUUM INTO` attaches the target as a database.
    let attached = connection.set_limit(Limit::SQLITE_LIMIT_ATTACHED, 1).map_err(wrap)?;
    let copied = connection.execute("VACUUM INTO ?1", [name]);
    connection.set_limit(Limit::SQLITE_LIMIT_ATTACHED, attached).map_err(wrap)?;
    copied.map_err(wrap)?;
    let synced = std::fs::File::open(&copy).and_then(|file| file.sync_all());
    synced.map_err(|error| Error::io(&copy, error))?;
    Ok(Some(copy))
}

/// Renames the file at `path` to `name`.
fn named(path: &Path, name: &Path) -> Result<PathBuf> {
    std::fs::rename(path, name).map_err(|error| Error::io(name, error))?;
    Ok(name.to_owned())
}

/// Returns a name next to the store that no file has, and whose log does not exist either: the name
/// of the store plus `suffix`, and a number after that if necessary.
pub(in crate::store) fn free_name(path: &Path, suffix: &str) -> PathBuf {
    let mut name = with_suffix(path, suffix);
    let mut number = 0_u64;
    while name.symlink_metadata().is_ok() || with_suffix(&name, "-wal").symlink_metadata().is_ok() {
        number += 1;
        name = with_suffix(path, &format!("{suffix}-{number}"));
    }
    name
}

/// Returns whether the disk has room for `bytes` more; `false` if this cannot be determined.
fn has_room(path: &Path, bytes: u64) -> bool {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    rustix::fs::statvfs(folder.unwrap_or_else(|| Path::new(".")))
        .is_ok_and(|disk| disk.f_bavail.saturating_mul(disk.f_frsize) >= bytes)
}

#[cfg(test)]
mod tests {
    use super::super::schema::{APPLICATION_ID, fingerprint};
    use super::*;

    const ONE: &str = "CREATE TABLE one (x)";
    const TWO: &str = "ALTER TABLE one ADD COLUMN y; INSERT INTO one VALUES (1, 2)";

    fn fingerprint_of(statements: &[&str]) -> &'static str {
        let connection = Connection::open_in_memory().unwrap();
        for sql in statements {
            connection.execute_batch(sql).unwrap();
        }
        Box::leak(fingerprint(&connection).unwrap().into_boxed_str())
    }

    fn old_store(path: &Path) -> Connection {
        let connection = Connection::open(path).unwrap();
        connection.execute_batch(ONE).unwrap();
        connection.pragma_update(None, "application_id", APPLICATION_ID).unwrap();
        connection.pragma_update(None, "user_version", 1).unwrap();
        connection
    }

    #[test]
    fn a_store_is_copied_and_then_migrated() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.db");
        let mut connection = old_store(&path);
        let first = Migration { sql: ONE, fingerprint: fingerprint_of(&[ONE]) };
        let second = Migration { sql: TWO, fingerprint: fingerprint_of(&[ONE, TWO]) };
        let migrations = [first, second];
        std::fs::write(folder.path().join("a.db.v1.bak"), "mine").unwrap();
        std::fs::write(folder.path().join("a.db.v1.bak-new"), "partial copy").unwrap();
        let migrated = migrate(&path, &mut connection, &migrations).unwrap().unwrap();
        assert_eq!((migrated.from, migrated.to), (1, 2));
        let sum = |connection: &Connection| {
            connection.query_row("SELECT sum(y) FROM one", [], |row| row.get::<_, i64>(0))
        };
        assert_eq!(sum(&connection).unwrap(), 2);
        assert_eq!(check(&path, &connection, &migrations).unwrap(), Age::Current);
        assert_eq!(migrate(&path, &mut connection, &migrations).unwrap(), None);
        assert_eq!(std::fs::read(folder.path().join("a.db.v1.bak")).unwrap(), b"mine");
        let copy = Connection::open(migrated.copy.unwrap()).unwrap();
        assert_eq!(check(&path, &copy, &migrations).unwrap(), Age::Old(1));
        let number: i64 = copy.query_row("SELECT count(*) FROM one", [], |row| row.get(0)).unwrap();
        assert_eq!(number, 0);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 3);
    }

    #[test]
    fn a_migration_that_fails_changes_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.db");
        let mut connection = old_store(&path);
        let before = fingerprint(&connection).unwrap();
        let first = || Migration { sql: ONE, fingerprint: fingerprint_of(&[ONE]) };
        // One fails halfway, the other gives a schema with another fingerprint.
        for sql in ["CREATE TABLE two (x); CREATE TABLE one (x)", TWO] {
            let migrations = [first(), Migration { sql, fingerprint: "another" }];
            assert!(migrate(&path, &mut connection, &migrations).is_err());
            assert_eq!(fingerprint(&connection).unwrap(), before);
            assert_eq!(check(&path, &connection, &migrations).unwrap(), Age::Old(1));
        }
    }
}
