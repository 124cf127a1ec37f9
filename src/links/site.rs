//! Site roots: folders in which links that begin with `/` are resolved.
//!
//! Invariant: the folder of a site is below the root.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::path::join;

/// A folder whose files are served at a path of a web site.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct SiteRoot {
    /// The folder, relative to the root, with `/`; empty for the root itself.
    pub folder: String,
    /// The path of the site, which begins with `/` and does not end with it; empty for the whole
    /// site.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub prefix: String,
}

impl SiteRoot {
    /// Returns the file of `path`, relative to the root, or `None` if `path` is not in this part of
    /// the site.
    pub(super) fn file_of(&self, path: &str) -> Option<String> {
        let rest = path.strip_prefix(&self.prefix)?;
        if !(rest.is_empty() || rest.starts_with('/')) {
            return None;
        }
        let folder = join("", &self.folder)?;
        let below = join("", rest)?;
        join(&folder, &below)
    }
}

#[cfg(test)]
mod tests {
    use super::SiteRoot;

    #[test]
    fn a_path_of_the_site_is_resolved_in_its_folder() {
        for (folder, prefix, path, expected) in [
            ("pages/en", "", "/about/eol", Some("pages/en/about/eol")),
            ("pages/en", "", "/", Some("pages/en")),
            ("", "", "/a", Some("a")),
            ("docs", "/cpp", "/cpp/x/", Some("docs/x")),
            ("docs", "/cpp", "/cpp", Some("docs")),
            ("docs", "/cpp", "/cpp2/x", None),
            ("docs", "", "/../x", None),
            ("../docs", "", "/x", None),
        ] {
            let site = SiteRoot { folder: folder.to_owned(), prefix: prefix.to_owned() };
            assert_eq!(site.file_of(path).as_deref(), expected, "{folder} {prefix} {path}");
        }
    }
}
