//! Documents by name: a literal path or unique suffix first, a folder second, a glob third.

use globset::{GlobBuilder, GlobMatcher};

use super::Library;
use super::suggestion::similar_namespaces;
use crate::address::{Fault, FaultCode, namespace};
use crate::error::{Error, ErrorKind, Result};
use crate::store::{NameMatch, StoredDocument};

/// The documents that were named, and the names that none has.
#[derive(Debug, Default)]
pub struct Named {
    /// In the order of the names, those of one name in path order, each once.
    pub documents: Vec<StoredDocument>,
    /// Names without document, or with several.
    pub faults: Vec<Fault>,
}

/// A glob over document paths, as ripgrep's `-g` reads them: without a `/` it matches names in any
/// folder, and `*` does not match a `/`.
pub fn glob(pattern: &str) -> Result<GlobMatcher> {
    let anchored = match pattern.strip_prefix('/') {
        Some(rest) => rest.to_owned(),
        None if pattern.contains('/') => pattern.to_owned(),
        None => format!("**/{pattern}"),
    };
    GlobBuilder::new(&anchored)
        .literal_separator(true)
        .backslash_escape(true)
        .build()
        .map(|glob| glob.compile_matcher())
        .map_err(|error| Error::new(ErrorKind::Usage, format!("{pattern}: {}", error.kind())))
}

/// The documents that `names` name; all of them where there are no names.
pub fn named(library: &Library<'_>, names: &[String]) -> Result<Named> {
    let mut result = Named::default();
    if names.is_empty() {
        result.documents = library.snapshot.documents(None, usize::MAX)?;
        return Ok(result);
    }
    let mut seen = std::collections::HashSet::new();
    let mut all: Option<Vec<StoredDocument>> = None;
    for name in names {
        // A document may be named as it stands in an address.
        let plain = name.strip_suffix("::*").or_else(|| name.strip_suffix("::")).unwrap_or(name);
        let decoded = namespace::decode(plain);
        let mut matched = library.snapshot.named(plain)?;
        if matches!(matched, NameMatch::None) && decoded != plain {
            matched = library.snapshot.named(&decoded)?;
        }
        let found = match matched {
            NameMatch::One(document) => vec![document],
            NameMatch::Many(paths, total) => {
                let message = format!("{total} documents are named {name:?}");
                let mut fault = Fault::new(FaultCode::Ambiguous, message).of(name, 0);
                fault.candidates = paths;
                result.faults.push(fault);
                continue;
            }
            NameMatch::None => {
                if all.is_none() {
                    all = Some(library.snapshot.documents(None, usize::MAX)?);
                }
                let all = all.as_deref().unwrap_or_default();
                let folder = format!("{}/", plain.trim_start_matches("./").trim_end_matches('/'));
                let is_all = folder == "/" || folder == "./";
                let mut found: Vec<_> = all
                    .iter()
                    .filter(|document| is_all || document.path.starts_with(&folder))
                    .cloned()
                    .collect();
                if found.is_empty() && name.contains(['*', '?', '[', '{']) {
                    let glob = glob(name)?;
                    found = all
                        .iter()
                        .filter(|document| glob.is_match(&document.path))
                        .cloned()
                        .collect();
                }
                found
            }
        };
        if found.is_empty() {
            let message = format!("no document is named {name:?}");
            let suggestions = similar_namespaces(library, plain, "*")?;
            let fault = Fault::new(FaultCode::NamespaceNotFound, message).of(name, 0);
            result.faults.push(fault.suggest(suggestions));
        }
        result.documents.extend(found.into_iter().filter(|document| seen.insert(document.id)));
    }
    Ok(result)
}
