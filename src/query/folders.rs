//! Finds folders by name, and lists what is in one.
//!
//! Invariant: a folder is named by its path from the root without a slash at its end, and the root by the empty path.

use std::collections::BTreeSet;

use super::Session;
use super::folder_version::{SEPARATORS, name_and_version};
use super::resolve::too_long;
use crate::address::suggest::is_near;
use crate::address::{AddressError, AddressResult, FaultCode, namespace};
use crate::corpus::bounds_below;
use crate::error::Result;
use crate::limits;
use crate::links::file_name;
use crate::store::{Lookup, Reader, StoredDocument};
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

/// Returns the path of the only folder that has the path `name` apart from its version, such as `tokio-1.54.1` for `tokio`,
/// if any. The inner error lists the folders if there are several.
pub(super) fn by_version(
    session: &Session<'_>,
    name: &str,
) -> Result<AddressResult<Option<String>>> {
    let decoded = namespace::decode(name);
    let path = decoded.strip_prefix("./").unwrap_or(&decoded).trim_end_matches('/');
    let mut folders = Vec::new();
    for separator in SEPARATORS {
        let entries = beginning_with(session.reader, &format!("{path}{separator}"))?;
        folders
            .extend(entries.iter().filter_map(|entry| entry.strip_suffix('/')).map(str::to_owned));
    }
    folders.retain(|folder| without_version(folder) == Some(path));
    Ok(only(path, folders))
}

/// Returns the path of a folder without the version at its end, or `None` if that is not a name and a version.
fn without_version(folder: &str) -> Option<&str> {
    let start = folder.rfind('/').map_or(0, |slash| slash + 1);
    let (name, version) = name_and_version(folder.get(start..)?);
    version.filter(|_| !name.is_empty())?;
    folder.get(..start + name.len())
}

/// Returns the only one of the `folders` called `name`, if any. The inner error lists them if there are several.
fn only(name: &str, mut folders: Vec<String>) -> AddressResult<Option<String>> {
    if folders.len() < 2 {
        return Ok(folders.pop());
    }
    let message = format!("{} folders are named {name}", folders.len(), name = quoted(&name));
    folders.truncate(limits::MAX_CANDIDATES_SHOWN);
    Err(AddressError::new(FaultCode::Ambiguous, message).suggest(folders))
}

/// Returns the path of the only folder with the path `name` and a version, else of the only one that ends with `/` and
/// `name`, else of the only one that ends with both, if any. A folder inside of another one with that ending does not
/// count. The inner error lists the folders if there are several.
pub(super) fn by_suffix(
    session: &Session<'_>,
    name: &str,
) -> Result<AddressResult<Option<String>>> {
    if too_long(name).is_some() {
        return Ok(Ok(None));
    }
    let by_version = by_version(session, name)?;
    if !matches!(by_version, Ok(None)) {
        return Ok(by_version);
    }
    let decoded = namespace::decode(name);
    let suffix = decoded.trim_end_matches('/');
    if suffix.is_empty() || suffix.starts_with("./") {
        return Ok(Ok(None));
    }
    let part = format!("/{suffix}/");
    let is_meant =
        |folder: &&String| folder.split_once(&part).is_some_and(|(_, inside)| inside.is_empty());
    let mut folders: Vec<String> =
        session.folders()?.iter().filter(is_meant).map(|folder| without_slash(folder)).collect();
    if folders.is_empty() {
        for separator in SEPARATORS {
            folders.extend(beginning(session, &format!("{suffix}{separator}"), usize::MAX)?);
        }
        let ending = format!("/{suffix}");
        folders
            .retain(|folder| without_version(folder).is_some_and(|path| path.ends_with(&ending)));
    }
    Ok(only(suffix, folders))
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
    folders.retain(|folder| is_near(wrong, file_name(folder)));
    folders.truncate(limits::MAX_SUGGESTIONS);
    for folder in &mut folders {
        let whole = format!("{folder}/{rest}");
        if !rest.is_empty() && session.reader.is_folder(&whole)? {
            *folder = whole;
        }
    }
    Ok(folders)
}

/// Returns the paths of the first folders whose names begin with `start`, without regard to the case of ASCII letters, at
/// most `most`. `start` may have the names of folders above. A folder inside of another one that begins with it does not
/// count.
pub(super) fn beginning(session: &Session<'_>, start: &str, most: usize) -> Result<Vec<String>> {
    let folders = session.folders()?.iter().filter(|folder| is_beginning(folder, start));
    Ok(folders.take(most).map(|folder| without_slash(folder)).collect())
}

/// Returns whether the first part of the path of `folder` that begins with `start` is at its end.
fn is_beginning(folder: &str, start: &str) -> bool {
    let names = std::iter::once(0).chain(folder.match_indices('/').map(|(slash, _)| slash + 1));
    let mut rests = names.filter_map(|name| {
        let (beginning, rest) = folder.as_bytes().get(name..)?.split_at_checked(start.len())?;
        beginning.eq_ignore_ascii_case(start.as_bytes()).then_some(rest)
    });
    let rest = rests.next().unwrap_or_default();
    rest.iter().position(|byte| *byte == b'/').is_some_and(|slash| slash + 1 == rest.len())
}

/// Returns the paths of the folders that have documents in them or in a subfolder, in the order of the paths of these.
/// A path ends with `/` here.
pub(super) fn all(reader: &dyn Reader) -> Result<Vec<String>> {
    let mut folders = BTreeSet::new();
    for (folder, _) in reader.folders()? {
        let mut path = folder;
        // Those above a folder that is known are known.
        while !path.is_empty() && folders.insert(path.clone()) {
            path.truncate(path.trim_end_matches('/').rfind('/').map_or(0, |slash| slash + 1));
        }
    }
    Ok(folders.into_iter().collect())
}

fn without_slash(folder: &str) -> String {
    folder.trim_end_matches('/').to_owned()
}

/// Returns the paths of the documents and of the subfolders directly in `folder`, or in the root if it is empty. Those of
/// subfolders end with `/`. Few of the documents in subfolders are read.
pub fn entries(reader: &dyn Reader, folder: &str) -> Result<Vec<String>> {
    let start = if folder.is_empty() { String::new() } else { format!("{folder}/") };
    beginning_with(reader, &start)
}

/// Returns the paths of the documents and folders whose paths begin with `start`, which has the whole path of the folder
/// that they are in. Those of folders end with `/`. Few of the documents in the folders are read.
fn beginning_with(reader: &dyn Reader, start: &str) -> Result<Vec<String>> {
    const MOST_AT_ONCE: usize = 1024;
    let mut entries: Vec<String> = Vec::new();
    let (mut after, mut size) = (Some(start.to_owned()), 1);
    loop {
        let mut found = reader.documents(&Lookup::All, after.as_deref(), size)?;
        found.truncate(found.partition_point(|document| document.path.starts_with(start)));
        let has_more = found.len() == size;
        for document in found {
            let name = document.path.get(start.len()..).unwrap_or_default();
            let end = name.find('/').map_or(document.path.len(), |end| start.len() + end + 1);
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
