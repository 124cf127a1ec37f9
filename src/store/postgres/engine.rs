//! Opening a store on a server.
//!
//! Invariant: after a connection is lost, the next reader or writer connects again.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::address::Address;
use super::connection::{Connection, Idle};
use super::reader::PostgresReader;
use super::shard::ShardWriter;
use super::state::State;
use super::writer::PostgresWriter;
use crate::error::{Error, ErrorKind, Result};
use crate::limits;
use crate::store::{Engine, IfAbsent, Purpose, Reader, Shard, Writer};

/// The number of times that a reader of a store on several servers tries to see one state of all of them.
const OPENINGS: usize = 20;

/// A store in a schema of a server.
#[derive(Debug)]
pub struct Postgres {
    address: Arc<Address>,
    /// The folder of the files on this machine; `None` if it is the one that the store names.
    root: Option<PathBuf>,
    idle: Arc<Idle>,
    /// Connections that read the newest generation and have no transaction on other servers.
    checking: Idle,
}

impl Postgres {
    /// Creates an entry for the store at `address`, which need not exist. `root` is the folder of its files on
    /// this machine, absolute, if that is not the one that the store names.
    pub fn new(address: Address, root: Option<PathBuf>) -> Self {
        Self { address: Arc::new(address), root, idle: Arc::default(), checking: Idle::default() }
    }

    /// Calls `act` with one of `idle`, or with a new connection if there is none or it was lost, which only a
    /// statement shows.
    fn on<T>(&self, idle: &Idle, act: impl Fn(Connection) -> Result<T>) -> Result<T> {
        if let Some(connection) = idle.take() {
            match act(connection) {
                Err(error) if error.kind() == ErrorKind::StoreUnreachable => {}
                result => return result,
            }
        }
        let timeout = Duration::from_secs(limits::QUERY_SECONDS as u64);
        act(Connection::open(&self.address, timeout)?)
    }

    /// Pins the newest generation of the tables on the server itself.
    fn newest(&self) -> Result<State> {
        self.on(&self.idle, State::open)
    }

    /// Returns the newest generation, outside of any transaction.
    fn newest_generation(&self) -> Result<Option<i64>> {
        self.on(&self.checking, |mut connection| {
            let generation = connection.generation()?;
            self.checking.put_back(connection);
            Ok(generation)
        })
    }

    /// Pins the newest generation on all servers. Each server has a snapshot of its own, and a change deletes
    /// what the change before it replaced, so no change may end before all servers have their snapshots.
    fn state(&self) -> Result<State> {
        let mut state = self.newest()?;
        if !state.has_foreign_partitions()? {
            return Ok(state);
        }
        for _ in 0..OPENINGS {
            state.begin_everywhere()?;
            if self.newest_generation()? == Some(state.generation) {
                return Ok(state);
            }
            if let Some(connection) = state.close() {
                self.idle.put_back(connection);
            }
            state = self.newest()?;
        }
        let message = format!("{}: the store changes faster than it can be read", self.address);
        Err(Error::new(ErrorKind::Locked, message).with_hint("try again after the ingest"))
    }
}

impl Engine for Postgres {
    fn path(&self) -> Option<&Path> {
        None
    }

    fn own_files(&self) -> Vec<PathBuf> {
        Vec::new()
    }

    fn reader(&self, _: Purpose) -> Result<Box<dyn Reader>> {
        let mut state = self.state()?;
        state.set_root(self.root.as_deref());
        Ok(Box::new(PostgresReader::new(state, Arc::clone(&self.idle))))
    }

    fn shard_writer(&self, shard: &Shard, wait: Duration) -> Result<Box<dyn Writer>> {
        Ok(Box::new(ShardWriter::open(&self.address, self.root.clone(), shard, wait)?))
    }

    fn writer(&self, if_absent: IfAbsent, wait: Duration) -> Result<Box<dyn Writer>> {
        let root = self.root.clone();
        Ok(Box::new(PostgresWriter::open(&self.address, root, if_absent, wait)?))
    }
}
