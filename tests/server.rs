//! Stores on a PostgreSQL server. `MDSEL_POSTGRES` names a database, in which each test uses a schema of its
//! own. Without it these tests are skipped.

use mdsel::store::Store;

/// A schema on the server, dropped at the end of the test.
#[cfg(feature = "postgres")]
pub(crate) struct Schema {
    base: String,
    name: String,
}

/// Stands for a schema in a program without the feature.
#[cfg(not(feature = "postgres"))]
pub(crate) enum Schema {}

#[cfg(not(feature = "postgres"))]
impl Schema {
    pub(crate) fn new() -> Option<Self> {
        eprintln!("skipped: stores on a server need the feature postgres");
        None
    }

    pub(crate) fn store(&self) -> Store {
        match *self {}
    }
}

#[cfg(feature = "postgres")]
impl Schema {
    /// Returns a new schema; `None` if there is no server.
    pub(crate) fn new() -> Option<Self> {
        static COUNT: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
        let Some(base) = std::env::var("MDSEL_POSTGRES").ok().filter(|base| !base.is_empty())
        else {
            eprintln!("skipped: MDSEL_POSTGRES names no server");
            return None;
        };
        let count = COUNT.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        Some(Self { base, name: format!("mdsel_test_{}_{count}", std::process::id()) })
    }

    /// The address of the store in the schema.
    pub(crate) fn url(&self) -> String {
        let separator = if self.base.contains('?') { '&' } else { '?' };
        format!("{}{separator}schema={}", self.base, self.name)
    }

    /// The store in the schema.
    pub(crate) fn store(&self) -> Store {
        let address = mdsel::store::Address::parse(&self.url(), &|name| std::env::var(name).ok());
        let engine = mdsel::store::Postgres::new(address.unwrap(), None);
        Store::new(Box::new(engine), mdsel::trust::Trust::File(None))
    }

    /// A connection to the server, outside of mdsel.
    pub(crate) fn client(&self) -> postgres::Client {
        postgres::Client::connect(&self.base, postgres::NoTls).unwrap()
    }
}

#[cfg(feature = "postgres")]
impl Drop for Schema {
    fn drop(&mut self) {
        let statement = format!("DROP SCHEMA IF EXISTS {} CASCADE", self.name);
        drop(self.client().batch_execute(&statement));
    }
}
