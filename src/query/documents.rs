//! Documents by name: a literal path or unique suffix first, a folder second, a glob third.

use std::collections::HashSet;
use std::path::Path;

use super::filter::{Filter, Order};
use super::glob::{Glob, Separator};
use super::resolve::Resolver;
use super::suggestion::similar_documents;
use super::{FilterRequest, Library};
use crate::address::{Fault, FaultCode, namespace};
use crate::error::{Result, shell_word};
use crate::ingest::{is_really_below, left_out};
use crate::limits;
use crate::markdown::slug::fold;
use crate::store::{NameMatch, StoredDocument};

/// Characters of a name that a hint repeats.
const MAX_PART_CHARS: usize = 40;

/// The documents that were named, and the names that none has.
#[derive(Debug, Default)]
pub struct Named {
    /// In the order of the names, those of one name in path order, each once.
    pub documents: Vec<StoredDocument>,
    /// Names without document, or with several.
    pub faults: Vec<Fault>,
}

/// The document of a name, or with `./` that of a path from the root: decoded once, at last as it was written.
pub(crate) fn by_name(library: &Library<'_>, name: &str) -> Result<NameMatch> {
    if name.is_empty() {
        return Ok(NameMatch::None);
    }
    let decoded = namespace::decode(name);
    match library.snapshot.named(&decoded)? {
        NameMatch::None if decoded != name => library.snapshot.named(name),
        other => Ok(other),
    }
}

/// Says that no document is named `name`: because it was not ingested yet, or with names like it.
pub(super) fn not_found(library: &Library<'_>, name: &str) -> Result<Fault> {
    if let Some(fault) = not_ingested(library, name)? {
        return Ok(fault);
    }
    let message = format!("no document is named {name:?}");
    let suggestions = similar_documents(library, name)?;
    let fault = Fault::new(FaultCode::NamespaceNotFound, message).suggest(suggestions);
    let next = next_command(library, name)?;
    Ok(fault.or_else(|| next))
}

/// The command that lists what may be meant by a name that resembles none: the documents of its folder, else the
/// sections with a part of it in their titles.
pub(super) fn next_command(library: &Library<'_>, name: &str) -> Result<String> {
    let decoded = namespace::decode(name);
    let path = decoded.strip_prefix("./").unwrap_or(&decoded);
    let (folder, file) = path.rsplit_once('/').unwrap_or(("", path));
    if !folder.is_empty() && library.snapshot.is_folder(folder)? {
        let folder = shell_word(folder);
        return Ok(format!("`mdsel toc {folder} --depth 1` lists the documents of {folder}"));
    }
    let stem = file.rsplit_once('.').map_or(file, |(stem, _)| stem);
    let part = if stem.is_empty() { file } else { stem };
    let part: String = part.chars().take(MAX_PART_CHARS).collect();
    let part = shell_word(&format!("*{}*", part.replace(['*', '?', '[', '{', '\\'], "?")));
    Ok(format!("`mdsel find {part}` looks in titles, `mdsel index -f text` lists all documents"))
}

/// Says that a file of that name is there and was not ingested yet, where that is so.
pub(super) fn not_ingested(library: &Library<'_>, name: &str) -> Result<Option<Fault>> {
    let Some(path) = file_on_disk(library, name) else { return Ok(None) };
    if library.snapshot.document_at(&path)?.is_some() {
        return Ok(None);
    }
    let snapshot = library.snapshot;
    let message = match left_out(snapshot.root(), snapshot.path(), snapshot.options(), &path) {
        Some(reason) => format!("{path} is not in the store: {reason}"),
        None => format!("{path} is not in the store: `mdsel ingest` takes it"),
    };
    Ok(Some(Fault::new(FaultCode::NotInStore, message)))
}

/// The path below the root at which a file of that name lies.
fn file_on_disk(library: &Library<'_>, name: &str) -> Option<String> {
    let root = library.snapshot.root();
    let options = library.snapshot.options();
    let decoded = namespace::decode(name);
    // A path may be that of any file, a name is that of a document.
    let (name, is_path) =
        decoded.strip_prefix("./").map_or((decoded.as_str(), false), |path| (path, true));
    std::iter::once(name.to_owned())
        .chain(options.extensions.iter().map(|extension| format!("{name}.{extension}")))
        .filter(|path| is_path || options.takes(Path::new(path)))
        .filter(|path| is_really_below(root, path))
        .find(|path| root.join(path).symlink_metadata().is_ok_and(|metadata| metadata.is_file()))
}

/// A glob over document paths, as ripgrep's `-g` reads them: without a `/` it matches names in any
/// folder, and `*` does not match a `/`.
pub fn glob(pattern: &str) -> Result<Glob> {
    let anchored = match pattern.strip_prefix('/') {
        Some(rest) => rest.to_owned(),
        None if pattern.contains('/') => pattern.to_owned(),
        None => format!("**/{pattern}"),
    };
    Glob::new(&anchored, Separator::Slash)
}

/// The documents that `names` name; all of them where there are no names.
pub fn named(library: &Library<'_>, names: &[String]) -> Result<Named> {
    let mut result = Named::default();
    if names.is_empty() {
        result.documents = library.snapshot.documents(None, usize::MAX)?;
        return Ok(result);
    }
    if names.len() > limits::MAX_ADDRESSES {
        return Err(limits::exceeded("addresses"));
    }
    let mut seen = HashSet::new();
    for name in names {
        // A document may be named as it stands in an address.
        let plain = name.strip_suffix("::*").or_else(|| name.strip_suffix("::")).unwrap_or(name);
        let found = match by_name(library, plain)? {
            NameMatch::One(document) => vec![document],
            NameMatch::Many(paths, total) => {
                let resolver = Resolver { library };
                let fault = resolver.ambiguous_document(name, &[], &paths, total)?;
                result.faults.push(fault.of(name));
                continue;
            }
            NameMatch::None => below_or_like(library, name, plain)?,
        };
        if found.is_empty() {
            result.faults.push(not_found(library, plain)?.of(name));
        }
        result.documents.extend(found.into_iter().filter(|document| seen.insert(document.id)));
    }
    Ok(result)
}

/// The documents that `names` name and `filter` takes, in the order that `request` asks for, and the filter.
pub(super) fn filtered(
    library: &Library<'_>,
    names: &[String],
    request: &FilterRequest,
) -> Result<(Named, Filter)> {
    let filter = Filter::new(library, request)?;
    let mut found = named(library, names)?;
    found.documents.retain(|stored| filter.takes_document(stored));
    if let Some(order) = Order::of(request) {
        order.sort(library, &mut found.documents)?;
    }
    found.faults.extend(filter.faults.iter().cloned());
    Ok((found, filter))
}

/// The ids of the documents that have all of `tags`, or tags below them; `None` where there are no tags.
pub(super) fn tagged(library: &Library<'_>, tags: &[String]) -> Result<Option<HashSet<i64>>> {
    let mut tagged: Option<HashSet<i64>> = None;
    for tag in tags {
        let tag = fold(tag.trim_start_matches('#'));
        let having: HashSet<i64> = library.snapshot.documents_with_tag(&tag)?.into_iter().collect();
        tagged = Some(match tagged {
            Some(tagged) => tagged.intersection(&having).copied().collect(),
            None => having,
        });
    }
    Ok(tagged)
}

/// The only document of that name, which may also be a folder or a glob; the inner fault says why there
/// is none.
pub fn one(
    library: &Library<'_>,
    name: &str,
) -> Result<std::result::Result<StoredDocument, Fault>> {
    let mut named = named(library, std::slice::from_ref(&name.to_owned()))?;
    if let Some(fault) = named.faults.pop() {
        return Ok(Err(fault));
    }
    Ok(match named.documents.as_slice() {
        [document] => Ok(document.clone()),
        documents => {
            let paths = documents.iter().take(limits::MAX_CANDIDATES_SHOWN);
            let paths: Vec<String> = paths.map(|stored| stored.path.clone()).collect();
            let resolver = Resolver { library };
            let fault = resolver.ambiguous_document(name, &[], &paths, documents.len())?;
            Err(fault.of(name))
        }
    })
}

/// The path of the folder called `name`, which may begin with `./`; empty for the root. `None` if it names no
/// folder.
pub(super) fn folder_path(name: &str) -> Option<String> {
    let decoded = namespace::decode(name);
    let is_root = ["./", "."].contains(&&*decoded);
    let folder = decoded.strip_prefix("./").unwrap_or(&decoded).trim_end_matches('/');
    match folder {
        "" | "." if !is_root => None,
        "." => Some(String::new()),
        folder => Some(folder.to_owned()),
    }
}

/// The documents below the folder called `name`; all of them for the root.
pub(super) fn below(library: &Library<'_>, name: &str) -> Result<Vec<StoredDocument>> {
    match folder_path(name).as_deref() {
        None => Ok(Vec::new()),
        Some("") => library.snapshot.documents(None, usize::MAX),
        Some(folder) => library.snapshot.documents_below(folder),
    }
}

/// The documents below the folder `plain`, or those whose path the glob `name` matches.
fn below_or_like(library: &Library<'_>, name: &str, plain: &str) -> Result<Vec<StoredDocument>> {
    if plain.is_empty() {
        return Ok(Vec::new());
    }
    let below = below(library, plain)?;
    if !below.is_empty() || !name.contains(['*', '?', '[', '{']) {
        return Ok(below);
    }
    // What is no glob either names nothing.
    // From the root where it begins with `./`.
    let pattern = name.strip_prefix('.').filter(|rest| rest.starts_with('/')).unwrap_or(name);
    let Ok(glob) = glob(pattern) else { return Ok(Vec::new()) };
    let mut all = library.snapshot.documents(None, usize::MAX)?;
    all.retain(|document| glob.is_match(&document.path));
    Ok(all)
}
