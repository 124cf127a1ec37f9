//! What is known about the store: the row of the table `store`.

use tokio_postgres::types::Type;

use super::address::Address;
use super::connection::Connection;
use super::rows::damaged;
use super::schema;
use crate::corpus::IngestOptions;
use crate::error::Result;

/// The row of the table `store`.
#[derive(Clone, Debug, Default)]
pub(super) struct StoreRow {
    pub(super) format: i64,
    /// The number of partitions; 0 in a schema that only holds partitions of a store on another server.
    pub(super) partitions: i64,
    /// The root; `None` in a store without documents, and empty if they were loaded and no ingest gave it yet.
    pub(super) root: Option<String>,
    /// The options of the last ingest; `None` before the first one, and if they are damaged.
    pub(super) options: Option<IngestOptions>,
    pub(super) has_lost_options: bool,
    pub(super) parser: i64,
    pub(super) generation: i64,
}

/// What `load` stores as the root of a new store. Other roots are absolute on a server.
const LOADED: &str = ".";

/// Sets the root to `$1`, unless an ingest gave it.
pub(super) const SET_ROOT: &str =
    "root = CASE WHEN coalesce(root, '') IN ('', '.') THEN $1 ELSE root END";

impl StoreRow {
    /// Whether no ingest gave the root yet, though there may be documents.
    pub(super) fn lacks_root(&self) -> bool {
        self.root.as_ref().is_some_and(String::is_empty)
    }

    /// Does what [`SET_ROOT`] does.
    pub(super) fn set_root(&mut self, root: &str) {
        if self.root.as_deref().unwrap_or_default().is_empty() {
            self.root = Some(if root == LOADED { "" } else { root }.to_owned());
        }
    }

    /// The columns that [`Self::parse`] reads.
    pub(super) const COLUMNS: &str =
        "current_setting('search_path'), format, parts, root, options, parser, generation";

    /// Reads the row.
    pub(super) fn read(connection: &mut Connection) -> Result<Self> {
        let rows = connection.texts(&format!("SELECT {} FROM store", Self::COLUMNS))?;
        let row = rows.into_iter().next().unwrap_or_default();
        Ok(Self::parse(&row, connection.address())?.0)
    }

    /// Parses a row that begins with [`Self::COLUMNS`], and returns the other values, too. Fails if the row is of
    /// another schema, if the schema holds partitions of a store on another server, and if a newer version of mdsel wrote
    /// the store.
    pub(super) fn parse<'a>(
        row: &'a [Option<String>],
        address: &Address,
    ) -> Result<(Self, &'a [Option<String>])> {
        let [search_path, format, partitions, root, options, parser, generation, others @ ..] = row
        else {
            return Err(damaged("its metadata is missing"));
        };
        let number = |text: &Option<String>| {
            let number = text.as_ref().and_then(|text| text.parse::<i64>().ok());
            number.ok_or_else(|| damaged("its metadata cannot be read"))
        };
        schema::check_search_path(address, search_path.as_deref().unwrap_or_default())?;
        let partitions = number(partitions)?;
        if partitions == 0 {
            let reason = "the schema holds partitions of a store on another server";
            return Err(schema::foreign(address, reason));
        }
        let format = number(format)?;
        schema::check(format)?;
        let parsed: Option<IngestOptions> =
            options.as_ref().and_then(|options| serde_json::from_str(options).ok());
        let row = Self {
            format,
            partitions,
            root: root
                .as_ref()
                .map(|root| if root == LOADED { String::new() } else { root.clone() }),
            has_lost_options: options.is_some() && parsed.is_none(),
            options: parsed.map(IngestOptions::within_limits),
            parser: number(parser)?,
            generation: number(generation)?,
        };
        Ok((row, others))
    }
}

/// Records the parser version of all documents.
pub(super) fn set_parser(connection: &mut Connection, version: i64) -> Result<()> {
    connection.execute("UPDATE store SET parser = $1", &[(&version, Type::INT8)])?;
    Ok(())
}
