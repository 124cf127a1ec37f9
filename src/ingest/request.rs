//! What an ingest is asked for, and what it may do to a store of somebody else.
//!
//! Invariant: an ingest follows a wish of a store only if the user trusts the store or gives the wish with the request.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::options::OptionChanges;
use super::plan::IngestPlan;
use crate::error::{Result, Warning};
use crate::store::{Shard, Store};
use crate::trust::{Wish, site_argument};

/// A request to ingest files.
#[derive(Debug)]
pub struct IngestRequest<'a> {
    /// The store.
    pub store: &'a Store,
    /// The root, absolute, if the user gave one.
    pub root: Option<&'a Path>,
    /// The folder to ingest, absolute, if a new store is given neither root nor paths.
    pub folder: &'a Path,
    /// The collection to ingest, if only one is. Its folder is the only path, or the stored one.
    pub collection: Option<&'a str>,
    /// The part of the corpus to ingest.
    pub paths: Paths<'a>,
    /// The options that the user gave, which replace stored ones.
    pub options: OptionChanges,
    /// Whether to parse unchanged files, too.
    pub force: bool,
    /// The part of an ingest by several workers; `None` for an ingest by one.
    pub shard: Option<&'a Shard>,
    /// The longest time to wait for another writer.
    pub wait: Duration,
}

/// The part of the corpus that an ingest covers.
#[derive(Clone, Copy, Debug)]
pub enum Paths<'a> {
    /// The whole root.
    All,
    /// These files and folders, absolute.
    Given(&'a [PathBuf]),
    /// These documents of the store, relative to the root, even if their files no longer exist.
    Stored(&'a [String]),
}

impl<'a> IngestRequest<'a> {
    /// Returns whether the document at `path` is in the part of the corpus that this worker ingests.
    pub(super) fn takes(&self, path: &str) -> bool {
        self.shard.is_none_or(|shard| shard.takes(path))
    }

    /// Returns a request for `paths` of a store, with its root and its options.
    pub fn of_stored(store: &'a Store, paths: Paths<'a>, wait: Duration) -> Self {
        Self {
            store,
            root: None,
            folder: Path::new(""),
            collection: None,
            paths,
            options: OptionChanges::default(),
            force: false,
            shard: None,
            wait,
        }
    }

    /// Returns what the folders that are ingested ask for, with what the user accepted for the others; `None` if the
    /// store is not a file. Fails unless this request gives it or the user trusts the store. For a store without a
    /// root, `root` counts as given.
    pub(super) fn checked_wish(&self, is_new: bool, plan: &IngestPlan) -> Result<Option<Wish>> {
        let Some(path) = self.store.path() else { return Ok(None) };
        let names: Vec<&str> = plan.scopes.iter().map(|scopes| scopes.root.name.as_str()).collect();
        let wish = Wish::of(path, &plan.roots).of_roots(&names);
        let name = self.collection.unwrap_or_default();
        let folder = plan.roots.iter().find(|root| root.name == name).map(|root| &root.folder);
        let sites = match folder {
            Some(folder) => {
                let sites = self.options.given_site_roots(folder)?;
                Some(sites.iter().map(|site| site_argument(folder, site)).collect())
            }
            None => None,
        };
        let given = |wish: &Wish, is_root_given: bool| Wish {
            root: wish.root.clone().filter(|_| is_root_given),
            extensions: self.options.extensions.clone(),
            hidden: self.options.hidden.is_some(),
            no_ignore: self.options.no_ignore.is_some(),
            site_roots: sites.clone(),
            collections: BTreeMap::new(),
        };
        let given = match self.collection {
            None => given(&wish, self.root.is_some() || is_new),
            Some(name) => {
                let of_collection = wish.collections.get(name).cloned().unwrap_or_default();
                let given = given(&of_collection, plan.given_collection.is_some());
                Wish { collections: [(name.to_owned(), given)].into(), ..Wish::default() }
            }
        };
        self.store.trust().check(path, &wish, &given)?;
        let others = plan.roots.iter().map(|root| root.name.as_str());
        let others: Vec<&str> = others.filter(|name| !names.contains(name)).collect();
        let recorded = self.store.trust().recorded(path).of_roots(&others);
        Ok(Some(recorded.with(wish, names.contains(&""))))
    }

    /// Records that the user accepts `wish`. Returns a warning if that fails.
    pub(super) fn record(&self, wish: Option<&Wish>) -> Option<Warning> {
        self.store.trust().record(self.store.path()?, wish?)
    }

    /// Whether this request gives options of the store.
    pub(super) fn gives_options(&self) -> bool {
        self.collection.is_some() || self.options != OptionChanges::default()
    }

    /// Whether this request decides what the store may do: the store is new, or the request gives a root or
    /// options.
    pub(super) fn gives_trust(&self, is_new: bool) -> bool {
        // The size of files is the only option that does not widen what the store may read.
        let OptionChanges { extensions, hidden, no_ignore, site_roots, .. } = &self.options;
        is_new
            || self.collection.is_some()
            || self.root.is_some()
            || extensions.is_some()
            || hidden.is_some()
            || no_ignore.is_some()
            || site_roots.is_some()
    }
}
