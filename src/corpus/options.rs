//! The options that decide which files of a folder belong to the corpus.

use std::collections::BTreeMap;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use crate::links::SiteRoot;

/// The options that select the files of an ingest. They are stored and apply until they are
/// changed.
#[derive(
    Clone, Debug, PartialEq, Eq, schemars::JsonSchema, serde::Serialize, serde::Deserialize,
)]
pub struct IngestOptions {
    /// The extensions without the dot, compared case-insensitively.
    pub extensions: Vec<String>,
    /// Whether hidden files are ingested.
    pub hidden: bool,
    /// Whether `.gitignore`, `.ignore` and `.mdselignore` files are not read.
    pub no_ignore: bool,
    /// The size in bytes of the largest file that is ingested.
    pub max_file_bytes: u64,
    /// Where links that begin with `/` lead.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub site_roots: Vec<SiteRoot>,
    /// The collections by name: folders with options of their own.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub collections: BTreeMap<String, Collection>,
    /// Whether only collections are ingested, and not the root.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub only_collections: bool,
    /// The inode of the folder when an ingest covered all of it last, by which another folder in its place is
    /// recognized. `None` if that is not known, and in a store on a server, whose users each have a folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(skip)]
    pub inode: Option<u64>,
}

/// A folder of documents with a name.
#[derive(
    Clone, Debug, PartialEq, Eq, schemars::JsonSchema, serde::Serialize, serde::Deserialize,
)]
pub struct Collection {
    /// The folder, relative to the folder of the store file, or to the root if the store is not a file. It may be
    /// absolute in a store on a server that an older version wrote.
    pub root: String,
    /// The options of its ingest.
    #[serde(flatten)]
    pub options: IngestOptions,
}

/// Whether a collection can be called `name`, which is the first component of the paths of its documents.
pub(crate) fn is_collection_name(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with(['.', '-'])
        && !name.contains(['/', '\\'])
        && !name.contains("::")
        && !name.contains(char::is_control)
        && name.trim() == name
}

/// Returns the extension that `text`, with or without its dot, names; `None` if `text` is not an extension.
pub(crate) fn extension(text: &str) -> Option<&str> {
    let extension = text.strip_prefix('.').unwrap_or(text);
    let is_other =
        |scalar: char| "./*?[".contains(scalar) || scalar.is_whitespace() || scalar.is_control();
    (!extension.is_empty() && !extension.contains(is_other)).then_some(extension)
}

impl IngestOptions {
    /// Returns whether the file at `path` has one of the extensions.
    pub fn takes(&self, path: &Path) -> bool {
        // A walk asks this for every file, and dividing the path into its components takes longer.
        let path = path.as_os_str().as_bytes();
        let name = path.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
        let extension = match name.iter().rposition(|byte| *byte == b'.') {
            None | Some(0) => return false,
            Some(dot) => name.get(dot + 1..).unwrap_or_default(),
        };
        self.extensions.iter().any(|taken| taken.as_bytes().eq_ignore_ascii_case(extension))
    }

    /// Returns these options, which an ingest made from `before`, with what others have stored since: `now`. An ingest
    /// removes no collection.
    #[cfg(feature = "postgres")]
    pub(crate) fn merged(&self, before: &Self, now: &Self) -> Self {
        fn newest<'a, T: PartialEq>(own: &'a T, before: &T, now: &'a T) -> &'a T {
            if own == before { now } else { own }
        }
        let is_added =
            |(name, own): &(&String, &Collection)| before.collections.get(*name) != Some(*own);
        let added =
            self.collections.iter().filter(is_added).map(|(name, own)| (name.clone(), own.clone()));
        Self {
            extensions: newest(&self.extensions, &before.extensions, &now.extensions).clone(),
            hidden: *newest(&self.hidden, &before.hidden, &now.hidden),
            no_ignore: *newest(&self.no_ignore, &before.no_ignore, &now.no_ignore),
            max_file_bytes: *newest(
                &self.max_file_bytes,
                &before.max_file_bytes,
                &now.max_file_bytes,
            ),
            site_roots: newest(&self.site_roots, &before.site_roots, &now.site_roots).clone(),
            collections: now.collections.clone().into_iter().chain(added).collect(),
            only_collections: self.only_collections && now.only_collections,
            inode: None,
        }
    }

    /// Returns these options without what is true of one folder on one machine only.
    pub(crate) fn portable(mut self) -> Self {
        self.inode = None;
        for collection in self.collections.values_mut() {
            collection.options.inode = None;
        }
        self
    }

    /// Limits `max_file_bytes` to what this version allows, because stored options are not trusted.
    pub(crate) fn within_limits(mut self) -> Self {
        let most = crate::limits::LARGEST_MAX_FILE_BYTES as u64;
        self.max_file_bytes = self.max_file_bytes.min(most);
        for collection in self.collections.values_mut() {
            collection.options.max_file_bytes = collection.options.max_file_bytes.min(most);
        }
        self
    }
}

impl Default for IngestOptions {
    fn default() -> Self {
        Self {
            extensions: ["md", "markdown", "mdx"].map(str::to_owned).to_vec(),
            hidden: false,
            no_ignore: false,
            max_file_bytes: crate::limits::MAX_FILE_BYTES as u64,
            site_roots: Vec::new(),
            collections: BTreeMap::new(),
            only_collections: false,
            inode: None,
        }
    }
}
