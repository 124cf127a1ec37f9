//! The options of an ingest that replace stored ones.
//!
//! Invariant: an option that is not given stays as it is stored.

use std::path::{Path, PathBuf};

use crate::corpus::{IngestOptions, canonical, relative};
use crate::error::{Error, ErrorKind, Result};
use crate::limits;
use crate::links::SiteRoot;

/// The options of an ingest that the user gave; `None` keeps the stored option.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OptionChanges {
    /// See [`IngestOptions::extensions`].
    pub extensions: Option<Vec<String>>,
    /// See [`IngestOptions::hidden`].
    pub hidden: Option<bool>,
    /// See [`IngestOptions::no_ignore`].
    pub no_ignore: Option<bool>,
    /// See [`IngestOptions::max_file_bytes`].
    pub max_file_bytes: Option<u64>,
    /// Absolute folders, each with the URL path below which a web site serves it. See
    /// [`IngestOptions::site_roots`].
    pub site_roots: Option<Vec<(PathBuf, String)>>,
    /// Whether the site roots that are stored are dropped. Else those that are given are added to them.
    pub forgets_site_roots: bool,
}

impl OptionChanges {
    /// Returns the `stored` options with these changes, for a store with this `root`. Fails if a site root is
    /// no folder or not below the root.
    pub(super) fn over(&self, stored: IngestOptions, root: &Path) -> Result<IngestOptions> {
        let mut site_roots = stored.site_roots;
        if self.forgets_site_roots {
            site_roots.clear();
        }
        for site in self.given_site_roots(root)? {
            if !site_roots.contains(&site) {
                site_roots.push(site);
            }
        }
        if self.site_roots.is_some() && site_roots.len() > limits::MAX_SITE_ROOTS {
            return Err(limits::exceeded(limits::row::MAX_SITE_ROOTS));
        }
        Ok(IngestOptions {
            extensions: self.extensions.clone().unwrap_or(stored.extensions),
            hidden: self.hidden.unwrap_or(stored.hidden),
            no_ignore: self.no_ignore.unwrap_or(stored.no_ignore),
            max_file_bytes: self.max_file_bytes.unwrap_or(stored.max_file_bytes),
            site_roots,
            collections: stored.collections,
            only_collections: stored.only_collections,
            inode: stored.inode,
        })
    }

    /// Returns the site roots that are given, for a store with this `root`.
    pub(super) fn given_site_roots(&self, root: &Path) -> Result<Vec<SiteRoot>> {
        let site = |(folder, prefix): &(PathBuf, String)| {
            let folder = canonical(folder)?;
            if !folder.is_dir() {
                let message = format!("{}: a site root must be a folder", folder.display());
                return Err(Error::new(ErrorKind::Usage, message).with_hint(
                    "name the folder from which the web site is built: --site-root FOLDER",
                ));
            }
            Ok(SiteRoot { folder: relative(root, &folder, "a site root")?, prefix: prefix.clone() })
        };
        self.site_roots.iter().flatten().map(site).collect()
    }
}
