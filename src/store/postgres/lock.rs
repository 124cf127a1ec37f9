//! Locks of the server, which end with the connection.

use std::time::{Duration, Instant};

use tokio_postgres::types::Type;

use super::connection::Connection;
use super::rows::{column, text_key};
use crate::error::{Error, ErrorKind, Result};
use crate::store::LOCKED_HINT;

/// The name of the lock that every change of the newest generation needs.
pub(super) const STORE: &str = "store";

/// Returns the key of a lock of this store.
fn key_of(connection: &Connection, name: &str) -> i64 {
    text_key(&format!("mdsel {} {name}", connection.address().schema))
}

/// Waits up to `wait` for a lock of the server, which ends with the connection.
pub(super) fn lock(connection: &mut Connection, name: &str, wait: Duration) -> Result<()> {
    let deadline = Instant::now() + wait;
    let key = key_of(connection, name);
    loop {
        let statement = "SELECT pg_try_advisory_lock($1)";
        let rows = connection.query(statement, &[(&key, Type::INT8)])?;
        if rows.first().map(|row| column(row, 0)).transpose()?.unwrap_or(false) {
            return Ok(());
        }
        if Instant::now() >= deadline {
            let message = format!("{}: another process is writing", connection.address());
            return Err(Error::new(ErrorKind::Locked, message).with_hint(LOCKED_HINT));
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Releases a lock.
pub(super) fn unlock(connection: &mut Connection, name: &str) -> Result<()> {
    let key = key_of(connection, name);
    connection.query("SELECT pg_advisory_unlock($1)", &[(&key, Type::INT8)])?;
    Ok(())
}
