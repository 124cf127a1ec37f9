//! Finds folders by name, and lists what is in one.
//!
//! Invariant: a folder is named by its path from the root without a slash at its end, and the root by the empty path.

use super::Session;
use crate::address::suggest::is_near;
use crate::address::{AddressError, AddressResult, FaultCode, namespace};
use crate::corpus::bounds_below;
use crate::error::Result;
use crate::limits;
use crate::store::{Lookup, Reader, StoredDocument, folder_beginning};
use crate::visible::quoted;

/// Returns the path of the folder called `name`, which may begin with `./`: decoded, else as it is written. The
/// root is the empty path.
pub(super) fn by_name(session: &Session<'_>, name: &str) -> Result<Option<String>> {
    let decoded = namespace::decode(name);
    if ["./", "."].contains(&&*decoded) {
        return Ok(Some(String::new()));
    }
    let written = (decoded != name).then_some(name);
    for name in [&*decoded].into_iter().chain(written) {
        let folder = name.strip_prefix("./").unwrap_or(name).trim_end_matches('/');
        if !matches!(folder, "" | ".") && session.reader.is_folder(folder)? {
            return Ok(Some(folder.to_owned()));
        }
    }
    Ok(None)
}

/// Returns the path of the only folder that ends with `/` and `name`, if any. A folder inside of another one with
/// that ending does not count. The inner error lists the folders if there are several.
pub(super) fn by_suffix(
    session: &Session<'_>,
    name: &str,
) -> Result<AddressResult<Option<String>>> {
    let decoded = namespace::decode(name);
    let suffix = decoded.trim_end_matches('/');
    if suffix.is_empty() || suffix.starts_with("./") {
        return Ok(Ok(None));
    }
    let (which, part) = (Lookup::FolderSuffix(suffix), format!("/{suffix}/"));
    let mut folders: Vec<String> = Vec::new();
    loop {
        // The documents of the last folder are skipped.
        let after = folders.last().map(|last| bounds_below(last).1);
        let found = session.reader.documents(&which, after.as_deref(), 1)?.pop();
        let Some((above, _)) = found.as_ref().and_then(|found| found.path.split_once(&part)) else {
            break;
        };
        folders.push(format!("{above}/{suffix}"));
    }
    if folders.len() < 2 {
        return Ok(Ok(folders.pop()));
    }
    let message = format!("{} folders are named {suffix}", folders.len(), suffix = quoted(&suffix));
    folders.truncate(limits::MAX_CANDIDATES_SHOWN);
    Ok(Err(AddressError::new(FaultCode::Ambiguous, message).suggest(folders)))
}

/// Returns the paths of folders whose names begin with `name`, or else are spelled nearly like it.
pub(super) fn like(session: &Session<'_>, name: &str) -> Result<Vec<String>> {
    let decoded = namespace::decode(name);
    let name = decoded.trim_end_matches('/');
    if name.is_empty() || name.starts_with('.') || name.len() > limits::MAX_HINT_CHARS {
        return Ok(Vec::new());
    }
    let folders = beginning(session, name, limits::MAX_SUGGESTIONS)?;
    if folders.is_empty() { misspelled(session, name) } else { Ok(folders) }
}

/// Returns the paths of folders that `name` may mean if the first component of it that is not a folder is spelled wrong
/// after its first character.
fn misspelled(session: &Session<'_>, name: &str) -> Result<Vec<String>> {
    let (mut above, mut wrong, mut rest) = (String::new(), name, "");
    while let Some((component, after)) = wrong.split_once('/') {
        rest = after;
        if !session.reader.is_folder(&format!("{above}{component}"))? {
            wrong = component;
            break;
        }
        above.push_str(component);
        above.push('/');
        (wrong, rest) = (after, "");
    }
    let first: String = wrong.chars().take(1).collect();
    let mut folders = beginning(session, &format!("{above}{first}"), limits::MAX_FOLDERS_COMPARED)?;
    folders.retain(|folder| is_near(wrong, folder.rsplit('/').next().unwrap_or_default()));
    folders.truncate(limits::MAX_SUGGESTIONS);
    for folder in &mut folders {
        let whole = format!("{folder}/{rest}");
        if !rest.is_empty() && session.reader.is_folder(&whole)? {
            *folder = whole;
        }
    }
    Ok(folders)
}

/// Returns the paths of the first folders whose names begin with `start`, at most `most`.
fn beginning(session: &Session<'_>, start: &str, most: usize) -> Result<Vec<String>> {
    let mut folders: Vec<String> = Vec::new();
    while folders.len() < most {
        // The documents of the last folder are skipped.
        let after = folders.last().map(|last| bounds_below(last).1);
        let which = Lookup::FolderPrefix(start);
        let found = session.reader.documents(&which, after.as_deref(), 1)?.pop();
        let Some(folder) = found.as_ref().and_then(|one| folder_beginning(&one.path, start)) else {
            break;
        };
        folders.push(folder.to_owned());
    }
    Ok(folders)
}

/// Returns the paths of the documents and of the subfolders directly in `folder`, or in the root if it is empty. Those of
/// subfolders end with `/`. Few of the documents in subfolders are read.
pub fn entries(reader: &dyn Reader, folder: &str) -> Result<Vec<String>> {
    const MOST_AT_ONCE: usize = 1024;
    let which = if folder.is_empty() { Lookup::All } else { Lookup::Folder(folder) };
    let start = if folder.is_empty() { 0 } else { folder.len() + 1 };
    let mut entries: Vec<String> = Vec::new();
    let (mut after, mut size) = (None, 1);
    loop {
        let found = reader.documents(&which, after.as_deref(), size)?;
        let has_more = found.len() == size;
        for document in found {
            let name = document.path.get(start..).unwrap_or_default();
            let end = name.find('/').map_or(document.path.len(), |end| start + end + 1);
            let entry = document.path.get(..end).unwrap_or_default();
            if entries.last().is_none_or(|last| last != entry) {
                entries.push(entry.to_owned());
            }
        }
        let Some(last) = entries.last().filter(|_| has_more) else { return Ok(entries) };
        if last.ends_with('/') {
            // The other documents of the folder are skipped.
            (after, size) = (Some(bounds_below(last.trim_end_matches('/')).1), 1);
        } else {
            (after, size) = (Some(last.clone()), (size * 4).min(MOST_AT_ONCE));
        }
    }
}

/// Returns the documents in the folder called `name` and its subfolders.
pub(super) fn below(session: &Session<'_>, name: &str) -> Result<Vec<StoredDocument>> {
    match by_name(session, name)?.as_deref() {
        None => Ok(Vec::new()),
        Some("") => session.reader.all(&Lookup::All),
        Some(folder) => session.reader.all(&Lookup::Folder(folder)),
    }
}
