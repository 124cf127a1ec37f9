//! A connection to the server, and the connections that nobody uses at the moment.
//!
//! Every statement of the engine goes through here, with its parameters apart from its text, in one round
//! trip. Invariants: an error names the server and never a password. A connection on which a statement
//! failed is not used again.

use std::collections::BTreeSet;
use std::error::Error as _;
use std::fmt;
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio_postgres::binary_copy::BinaryCopyInWriter;
use tokio_postgres::error::{DbError, SqlState};
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, Row, SimpleQueryMessage};

use super::address::Address;
use super::driver::{Driver, Failure};
use super::tls;
use crate::error::{Error, ErrorKind, Result};
use crate::limits;

/// Whether a partition of the store is a foreign table.
pub(super) const HAS_FOREIGN: &str = "EXISTS (SELECT 1 FROM pg_foreign_table f \
    JOIN pg_class c ON c.oid = f.ftrelid WHERE c.relnamespace = current_schema()::regnamespace)";

/// What the context of an error of another server begins with.
const REMOTE: &str = "remote SQL command";

/// The foreign tables of the store, each with the host of its server, and whether there is a connection to it.
const PARTITIONS: &str = "SELECT c.relname::text, concat_ws(':', \
    (SELECT option_value FROM pg_options_to_table(s.srvoptions) WHERE option_name = 'host'), \
    (SELECT option_value FROM pg_options_to_table(s.srvoptions) WHERE option_name = 'port')), \
    s.srvname IN (SELECT server_name FROM public.postgres_fdw_get_connections()) \
    FROM pg_foreign_table f JOIN pg_class c ON c.oid = f.ftrelid \
    JOIN pg_foreign_server s ON s.oid = f.ftserver \
    WHERE c.relnamespace = current_schema()::regnamespace";

/// What to do about a pooler that does not pass on the parameters of a connection.
pub(super) const POOLER_HINT: &str = "connect to the server itself, or let the pooler pass on the \
    parameter `options`; see `mdsel help servers`";

/// What to do about a schema that is not a store.
pub(super) const FOREIGN_HINT: &str = "name another schema in the URL, such as ?schema=NAME";

/// A parameter of a statement with its type.
pub(super) type Parameter<'a> = (&'a (dyn ToSql + Sync), Type);

/// The parameters of a statement.
pub(super) type Parameters<'a> = &'a [Parameter<'a>];

/// A connection.
pub(super) struct Connection {
    /// Before `driver`, which ends the session when it has no client.
    client: Client,
    driver: Driver,
    address: Arc<Address>,
    /// Whether no statement failed.
    is_sound: bool,
    /// Whether partitions are on other servers; `None` before that was asked.
    has_foreign: Option<bool>,
}

impl fmt::Debug for Connection {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("Connection").field(&self.address).finish()
    }
}

impl Connection {
    /// Connects to the server. Statements run for at most `timeout`; 0 is without a limit.
    pub(super) fn open(address: &Arc<Address>, timeout: Duration) -> Result<Self> {
        let mut config = address.config.clone();
        let given = config.get_options().unwrap_or_default();
        let options = format!(
            "{given} -c search_path={} -c statement_timeout={} \
             -c idle_in_transaction_session_timeout=0 -c enable_partitionwise_join=on \
             -c enable_partitionwise_aggregate=on -c default_transaction_isolation=read\\ committed",
            address.schema,
            timeout.as_millis()
        );
        config.options(&options);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| {
            Error::new(ErrorKind::Io, format!("{}: {error}", address.hosts())).with_source(error)
        })?;
        let (client, driver) = Driver::connect(runtime, config, tls::connector(address)?)
            .map_err(|failure| named(address, failure, true, None))?;
        let address = Arc::clone(address);
        Ok(Self { client, driver, address, is_sound: true, has_foreign: None })
    }

    pub(super) fn address(&self) -> &Address {
        &self.address
    }

    /// Returns whether the connection can be used again.
    pub(super) fn is_usable(&self) -> bool {
        self.is_sound && !self.client.is_closed()
    }

    fn checked<T>(&mut self, result: std::result::Result<T, Failure>) -> Result<T> {
        result.map_err(|failure| {
            self.is_sound = false;
            let is_lost = self.client.is_closed();
            let place = match &failure {
                Failure::Reported(error) => error.as_db_error().and_then(DbError::where_),
                Failure::Silent => None,
            };
            let partition = self.partition_in(place.unwrap_or_default()).ok().flatten();
            named(&self.address, failure, is_lost, partition)
        })
    }

    /// Returns the hosts of the partitions on which a statement failed. `place` is the context of its error. The end of
    /// a transaction names no partition there, but its server is the one to which the first has no connection any more.
    fn partition_in(&mut self, place: &str) -> std::result::Result<Option<String>, Failure> {
        if !place.contains(REMOTE) {
            return Ok(None);
        }
        self.driver.run(self.client.batch_execute("ROLLBACK"))?;
        let mut named = BTreeSet::new();
        let mut without_connection = BTreeSet::new();
        for row in &self.driver.run(self.client.query_typed(PARTITIONS, &[]))? {
            let (table, host): (&str, String) = (row.get(0), row.get(1));
            if place.contains(table) {
                named.insert(host.clone());
            }
            if !row.get::<_, bool>(2) {
                without_connection.insert(host);
            }
        }
        let hosts = if named.is_empty() { without_connection } else { named };
        let hosts: Vec<String> = hosts.into_iter().collect();
        Ok((!hosts.is_empty()).then(|| hosts.join(", ")))
    }

    /// Runs statements without parameters, and ignores their rows.
    pub(super) fn batch(&mut self, statements: &str) -> Result<()> {
        let result = self.driver.run(self.client.batch_execute(statements));
        self.checked(result)
    }

    /// Runs statements without parameters. Returns the texts of the rows of the last one.
    pub(super) fn texts(&mut self, statements: &str) -> Result<Vec<Vec<Option<String>>>> {
        let result = self.driver.run(self.client.simple_query(statements));
        let messages = self.checked(result)?;
        let rows = messages.iter().filter_map(|message| match message {
            SimpleQueryMessage::Row(row) => Some(row),
            _ => None,
        });
        let texts = rows
            .map(|row| (0..row.len()).map(|column| row.get(column).map(str::to_owned)).collect());
        Ok(texts.collect())
    }

    /// Runs a statement and returns its rows.
    pub(super) fn query(
        &mut self,
        statement: &str,
        parameters: Parameters<'_>,
    ) -> Result<Vec<Row>> {
        let result = self.driver.run(self.client.query_typed(statement, parameters));
        self.checked(result)
    }

    /// Runs a statement and returns the number of rows that it changed.
    pub(super) fn execute(&mut self, statement: &str, parameters: Parameters<'_>) -> Result<u64> {
        let result = self.driver.run(self.client.execute_typed(statement, parameters));
        self.checked(result)
    }

    /// Returns whether partitions of the store are on other servers.
    pub(super) fn has_foreign_partitions(&mut self) -> Result<bool> {
        if let Some(known) = self.has_foreign {
            return Ok(known);
        }
        let rows = self.texts(&format!("SELECT {HAS_FOREIGN}"))?;
        let answer = rows.first().and_then(|row| row.first()?.as_deref()) == Some("t");
        self.has_foreign = Some(answer);
        Ok(answer)
    }

    /// Returns the newest generation of the store.
    pub(super) fn generation(&mut self) -> Result<Option<i64>> {
        let rows = self.texts("SELECT generation FROM store")?;
        let text = rows.into_iter().flatten().next().flatten();
        Ok(text.and_then(|text| text.parse().ok()))
    }

    /// Notes whether partitions of the store are on other servers.
    pub(super) fn set_has_foreign_partitions(&mut self, has_foreign: bool) {
        self.has_foreign = Some(has_foreign);
    }

    /// Copies rows into `columns` of `table`, in a transaction. `write` passes each row to its argument.
    pub(super) fn copy(
        &mut self,
        table: &str,
        columns: &[(&str, Type)],
        write: impl FnOnce(&mut RowSink<'_>) -> Result<()>,
    ) -> Result<()> {
        let names: Vec<&str> = columns.iter().map(|(name, _)| *name).collect();
        let names = names.join(", ");
        if !self.has_foreign_partitions()? {
            return self.copy_into(table, &names, columns, write);
        }
        // A copy sends the rows of a foreign partition one by one, an insertion sends them in batches.
        let new = format!("new_{table}");
        self.batch(&format!(
            "CREATE TEMPORARY TABLE IF NOT EXISTS {new} (LIKE {table}) ON COMMIT DELETE ROWS"
        ))?;
        self.copy_into(&new, &names, columns, write)?;
        self.batch(&format!(
            "INSERT INTO {table} ({names}) SELECT {names} FROM {new}; TRUNCATE {new}"
        ))
    }

    fn copy_into(
        &mut self,
        table: &str,
        names: &str,
        columns: &[(&str, Type)],
        write: impl FnOnce(&mut RowSink<'_>) -> Result<()>,
    ) -> Result<()> {
        let types: Vec<Type> = columns.iter().map(|(_, of)| of.clone()).collect();
        let statement = format!("COPY {table} ({names}) FROM STDIN BINARY");
        let sink = self.driver.run(self.client.copy_in(&statement));
        let mut writer = pin!(BinaryCopyInWriter::new(self.checked(sink)?, &types));
        write(&mut |values| {
            let written = self.driver.run(writer.as_mut().write(values));
            self.checked(written)
        })?;
        let copied = self.driver.run(writer.finish());
        self.checked(copied)?;
        Ok(())
    }
}

/// Takes the rows of a copy.
pub(super) type RowSink<'a> = dyn FnMut(&[&(dyn ToSql + Sync)]) -> Result<()> + 'a;

/// What the client says if the server asks for a password and there is none.
const PASSWORD_MISSING: &str = "password missing";

/// What to do about a user or a password that the server does not accept.
const PASSWORD_HINT: &str = "give user and password in the URL, PGUSER and PGPASSWORD, or the file PGPASSFILE, \
                             which only its owner may read";

/// What to do about a server that does not answer.
const UNREACHABLE_HINT: &str = "check the address and the server, and try again";

/// Converts a failure. Names the server, or the one with the `partition` on which the statement failed.
fn named(address: &Address, failure: Failure, is_lost: bool, partition: Option<String>) -> Error {
    let Failure::Reported(error) = failure else {
        let message = format!("{}: the server does not answer", address.hosts());
        return Error::new(ErrorKind::StoreUnreachable, message).with_hint(UNREACHABLE_HINT);
    };
    let Some(refusal) = error.as_db_error() else {
        let cause = error.source().map_or_else(|| error.to_string(), cause_of);
        let hint = if cause == PASSWORD_MISSING { PASSWORD_HINT } else { UNREACHABLE_HINT };
        let message = format!("{}: {cause}", address.hosts());
        let kind = if is_lost || error.is_closed() || is_of_network(&error) {
            ErrorKind::StoreUnreachable
        } else {
            ErrorKind::Io
        };
        let error = Error::new(kind, message).with_source(error);
        return match kind {
            ErrorKind::StoreUnreachable => error.with_hint(hint),
            _ => error,
        };
    };
    let (kind, hint) = match *refusal.code() {
        SqlState::INVALID_PASSWORD | SqlState::INVALID_AUTHORIZATION_SPECIFICATION => {
            (ErrorKind::StoreUnreachable, PASSWORD_HINT)
        }
        SqlState::INVALID_CATALOG_NAME => {
            (ErrorKind::StoreUnreachable, "create the database, or name another one in the URL")
        }
        SqlState::TOO_MANY_CONNECTIONS
        | SqlState::CANNOT_CONNECT_NOW
        | SqlState::ADMIN_SHUTDOWN
        | SqlState::CRASH_SHUTDOWN => {
            (ErrorKind::StoreUnreachable, "wait until the server takes connections, and try again")
        }
        SqlState::SQLCLIENT_UNABLE_TO_ESTABLISH_SQLCONNECTION
        | SqlState::CONNECTION_FAILURE
        | SqlState::CONNECTION_EXCEPTION => (
            ErrorKind::StoreUnreachable,
            "start the server that holds this partition, and try again",
        ),
        SqlState::READ_ONLY_SQL_TRANSACTION => (
            ErrorKind::ReadOnly,
            "name the server that takes writes, if this one is a replica; \
             otherwise leave out default_transaction_read_only",
        ),
        SqlState::INSUFFICIENT_PRIVILEGE => {
            (ErrorKind::ReadOnly, "grant this user the rights on the schema of the store")
        }
        SqlState::QUERY_CANCELED => {
            (ErrorKind::Limit, "ask for less at once; `mdsel status --limits` lists every limit")
        }
        SqlState::UNDEFINED_TABLE | SqlState::UNDEFINED_COLUMN | SqlState::DATA_CORRUPTED => (
            ErrorKind::StoreCorrupt,
            "copy the store to a new schema with `mdsel copy`, or ingest the files again",
        ),
        // Only tables that are created can exist already.
        SqlState::DUPLICATE_TABLE | SqlState::DUPLICATE_OBJECT => {
            (ErrorKind::StoreForeign, FOREIGN_HINT)
        }
        // A pooler that knows the parameter `options` and does not take it.
        SqlState::PROTOCOL_VIOLATION => (ErrorKind::StoreUnreachable, POOLER_HINT),
        SqlState::DISK_FULL => (ErrorKind::Io, "make room on the disk of the server"),
        _ if is_lost => (ErrorKind::StoreUnreachable, UNREACHABLE_HINT),
        _ => (ErrorKind::Io, "see the log of the server"),
    };
    let first_line = refusal.message().lines().next().unwrap_or_default();
    let host = partition.map_or_else(|| address.hosts(), |host| format!("{host} (a partition)"));
    let mut message = format!("{host}: {first_line}");
    if let Some(detail) = refusal.detail().filter(|_| kind == ErrorKind::StoreUnreachable) {
        // The host and port of the server of a partition.
        message = format!("{message}: {}", detail.lines().next().unwrap_or_default());
    }
    Error::new(kind, message).with_hint(hint)
}

/// Returns the innermost cause of an error.
fn cause_of(error: &(dyn std::error::Error + 'static)) -> String {
    let mut cause = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    cause.to_string()
}

fn is_of_network(error: &tokio_postgres::Error) -> bool {
    error.source().is_some_and(|source| source.downcast_ref::<std::io::Error>().is_some())
}

/// Connections that no reader uses.
#[derive(Debug, Default)]
pub(super) struct Idle(Mutex<Vec<Connection>>);

impl Idle {
    /// Returns a connection that may have been idle, if any.
    pub(super) fn take(&self) -> Option<Connection> {
        let mut idle = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        while let Some(connection) = idle.pop() {
            if connection.is_usable() {
                return Some(connection);
            }
        }
        None
    }

    /// Keeps a connection without an open transaction for a later reader.
    pub(super) fn put_back(&self, connection: Connection) {
        let mut idle = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if connection.is_usable() && idle.len() < limits::CALLS_AT_ONCE {
            idle.push(connection);
        }
    }
}
