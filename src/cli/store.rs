//! Finds the store, and updates it before a command reads it.

use std::path::{Path, PathBuf};

use super::global::Global;
use super::note::note;
use crate::count::counted;
use crate::error::{Error, ErrorKind, Result, Warning};
use crate::ingest::{self, Paths};
use crate::query::Session;
use crate::store::{FILE_NAME, Purpose, Reader, Store};
use crate::trust::Trust;

/// The current folder.
pub(super) fn current_folder() -> Result<PathBuf> {
    std::env::current_dir().map_err(|error| Error::io(Path::new("."), error))
}

/// Where a store is.
#[derive(Clone, Debug)]
pub(super) enum Location {
    /// A file, by its absolute path.
    File(PathBuf),
    /// A schema of a PostgreSQL server, by its URL.
    Server(String),
}

/// Returns `name` as the URL of a server, if it is one.
///
/// # Errors
///
/// `USAGE` if it is another URL with a user. As the name of a file, its password would be shown.
fn url_of_server(name: &Path) -> Result<Option<String>> {
    let parts = name.to_str().and_then(|name| name.trim().split_once(":/"));
    let Some((scheme, rest)) = parts else { return Ok(None) };
    let scheme = scheme.to_ascii_lowercase();
    if let Some(rest) = rest.strip_prefix('/')
        && ["postgres", "postgresql"].contains(&&*scheme)
    {
        return Ok(Some(format!("{scheme}://{}", with_plain_user(rest))));
    }
    let is_scheme = scheme.len() > 1 && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric());
    if is_scheme && rest.contains('@') {
        let message = "the store is named by a URL that is not one of PostgreSQL";
        return Err(Error::new(ErrorKind::Usage, message)
            .with_hint("write postgres://USER@HOST:PORT/DATABASE; see `mdsel help servers`"));
    }
    Ok(None)
}

/// Encodes what would end the user and the password before their last `@`, which a password may contain.
fn with_plain_user(rest: &str) -> String {
    // A password may contain `?`, too, but the parameters begin with a name and `=`.
    let value = rest.find('?').and_then(|start| Some(start + rest[start..].find('=')?));
    let Some(at) = rest[..value.unwrap_or(rest.len())].rfind('@') else {
        return rest.to_owned();
    };
    let (user, place) = rest.split_at(at);
    let user = user.replace('@', "%40").replace('?', "%3F").replace('/', "%2F");
    format!("{user}{place}")
}

impl Location {
    /// Returns the place that a name on the command line means.
    pub(super) fn named(name: PathBuf) -> Result<Self> {
        match url_of_server(&name)? {
            Some(url) => Ok(Self::Server(url)),
            None => Ok(Self::File(current_folder()?.join(name))),
        }
    }

    /// Returns the store there, which need not exist.
    pub(super) fn store(&self, global: &Global) -> Result<Store> {
        match self {
            Self::File(path) => Store::at(path, trust()),
            Self::Server(url) => on_server(url, global),
        }
    }
}

/// Returns the store at `url`.
#[cfg(feature = "postgres")]
fn on_server(url: &str, global: &Global) -> Result<Store> {
    use crate::corpus::canonical;
    use crate::store::{Address, Postgres};

    let address = Address::parse(url, &|name| std::env::var(name).ok())?;
    let root = global.root.as_ref().map(|root| canonical(&current_folder()?.join(root)));
    Ok(Store::new(Box::new(Postgres::new(address, root.transpose()?)), trust()))
}

#[cfg(not(feature = "postgres"))]
fn on_server(_: &str, _: &Global) -> Result<Store> {
    Err(Error::lacks_feature("postgres"))
}

/// Returns the store that `--db` or `MDSEL_DB` names, or the nearest one in this folder or above,
/// if any.
pub(super) fn find(global: &Global) -> Result<Option<Location>> {
    find_named(global.db.as_deref())
}

/// Does the same for the value of `--db`.
pub(super) fn find_named(named: Option<&Path>) -> Result<Option<Location>> {
    if let Some(name) = named.map(Path::to_owned).or_else(named_in_environment) {
        return Location::named(name).map(Some);
    }
    let folder = current_folder()?;
    // A link that leads nowhere is not passed over: the store may be on a disk that is not mounted.
    let exists = |path: &PathBuf| path.symlink_metadata().is_ok();
    let found = folder.ancestors().map(|folder| folder.join(FILE_NAME)).find(exists);
    Ok(found.map(Location::File))
}

/// Returns the value of `MDSEL_DB`, if it is not empty.
fn named_in_environment() -> Option<PathBuf> {
    std::env::var_os("MDSEL_DB").filter(|path| !path.is_empty()).map(PathBuf::from)
}

/// Returns the git repository of the current folder, if it begins below the folder of `store` and the store is not
/// named.
fn repository_below(global: &Global, store: &Store) -> Result<Option<PathBuf>> {
    if global.db.is_some() || named_in_environment().is_some() {
        return Ok(None);
    }
    let Some(above) = store.path().and_then(Path::parent) else { return Ok(None) };
    let folder = current_folder()?;
    let mut below = folder.ancestors().take_while(|folder| *folder != above);
    Ok(below.find(|folder| folder.join(".git").exists()).map(Path::to_owned))
}

/// Returns a warning if no document of `repository`, which is below the store that `reader` reads, is in the store: a
/// worktree is often below the checkout whose store would be meant.
fn of_other_repository(
    global: &Global,
    reader: &dyn Reader,
    repository: &Path,
) -> Result<Option<Warning>> {
    match reader.roots().containing(repository, repository.display()) {
        Ok((_, path)) if !reader.is_folder(&path)? => {
            let message = format!(
                "{} is the store of another repository: it has no document of the one in which you are, for which \
                 `mdsel ingest --db {FILE_NAME} .` makes one in its top folder",
                shown(global)
            );
            Ok(Some(Warning::new("OTHER_REPOSITORY", message)))
        }
        _ => Ok(None),
    }
}

/// Returns the store whose documents are changed.
///
/// # Errors
///
/// `USAGE` if the store is that of another repository. Files of the same names are in both.
pub(super) fn store_to_edit(global: &Global) -> Result<Store> {
    let store = store(global)?;
    if let Some(repository) = repository_below(global, &store)?
        && let Some(reader) = store.peek(Purpose::Read)?
        && let Some(warning) = of_other_repository(global, &*reader, &repository)?
    {
        return Err(Error::new(ErrorKind::Usage, warning.message)
            .with_hint("or name the store with --db to change its documents"));
    }
    Ok(store)
}

/// Returns the place of the store for display: its path, relative to the current folder if possible, or its
/// URL without a password.
pub(super) fn shown(global: &Global) -> String {
    let (Ok(folder), Ok(Some(location))) = (current_folder(), find(global)) else {
        return FILE_NAME.to_owned();
    };
    let path = match location {
        Location::File(path) => path,
        Location::Server(url) => return without_password(&url),
    };
    for (ups, above) in folder.ancestors().enumerate() {
        if above.parent().is_none() {
            break;
        }
        if let Ok(below) = path.strip_prefix(above) {
            return format!("{}{}", "../".repeat(ups), below.display());
        }
    }
    path.display().to_string()
}

/// Returns a URL without the password in it.
pub(super) fn without_password(url: &str) -> String {
    let (base, parameters) = url.split_once('?').unwrap_or((url, ""));
    let (scheme, rest) = base.split_once("://").unwrap_or(("", base));
    let (user, place) = rest.rsplit_once('@').unwrap_or(("", rest));
    let user = user.split(':').next().filter(|user| !user.is_empty());
    let user = user.map_or_else(String::new, |user| format!("{user}@"));
    let parameters = parameters.split('&').filter(|parameter| {
        !parameter.is_empty() && !parameter.to_ascii_lowercase().starts_with("pass")
    });
    let parameters: Vec<&str> = parameters.collect();
    let separator = if parameters.is_empty() { "" } else { "?" };
    format!("{scheme}://{user}{place}{separator}{}", parameters.join("&"))
}

/// Returns the trust file of the user. A relative folder is ignored: it would depend on the current
/// folder, whose owner may be another user.
pub(super) fn trust() -> Trust {
    let folder =
        |name| std::env::var_os(name).map(PathBuf::from).filter(|folder| folder.is_absolute());
    let configuration =
        folder("XDG_CONFIG_HOME").or_else(|| folder("HOME").map(|home| home.join(".config")));
    Trust::File(configuration.map(|folder| folder.join("mdsel/trusted")))
}

/// Returns the store to read. Fails with `STORE_NOT_FOUND` if there is none.
pub(super) fn store(global: &Global) -> Result<Store> {
    let location = find(global)?.ok_or_else(|| {
        Error::new(
            ErrorKind::StoreNotFound,
            format!("no {FILE_NAME} in this folder or one above it"),
        )
        .with_hint("create one with `mdsel ingest FOLDER`, or name one with --db")
    })?;
    location.store(global)
}

/// Returns where the store to write is, which need not exist.
pub(super) fn location_to_write(global: &Global) -> Result<Location> {
    match find(global)? {
        Some(location) => Ok(location),
        None => Ok(Location::File(current_folder()?.join(FILE_NAME))),
    }
}

/// Returns the store to write, which need not exist.
pub(super) fn store_to_write(global: &Global) -> Result<Store> {
    location_to_write(global)?.store(global)
}

/// Fails if `--root` is given to a command for which it has no meaning.
pub(super) fn check_root(global: &Global) -> Result<()> {
    if global.root.is_none() {
        return Ok(());
    }
    match find(global)? {
        Some(Location::Server(_)) => Ok(()),
        _ => {
            Err(Error::new(ErrorKind::Usage, "the root of a store file is set by its first ingest")
                .with_hint("leave out --root"))
        }
    }
}

/// Opens `store` for reading, after finishing edits that were interrupted. The answer has the warnings of the store.
pub(super) fn open(global: &Global, store: &Store, purpose: Purpose) -> Result<Box<dyn Reader>> {
    let reader = store.reader(purpose);
    let mut warnings = store.take_warnings();
    if let Ok(reader) = &reader
        && let Some(repository) = repository_below(global, store)?
    {
        warnings.extend(of_other_repository(global, &**reader, &repository)?);
    }
    let mut all = global.recovered.borrow_mut();
    // A command with `--refresh` opens the store twice.
    warnings.retain(|warning| !all.contains(warning));
    all.extend(warnings);
    reader
}

/// Opens the store for searches. With `--refresh`, ingests all changed files first.
pub(super) fn open_for_search(global: &Global) -> Result<Box<dyn Reader>> {
    let store = store(global)?;
    if global.refresh {
        refresh(&store, Paths::All)?;
    }
    open(global, &store, Purpose::Search)
}

/// Opens the store for `purpose`. With `--refresh`, first ingests changes of the documents whose
/// paths `wanted` returns, or of all documents for `None`.
pub(super) fn open_fresh(
    global: &Global,
    purpose: Purpose,
    wanted: impl FnOnce(&Session<'_>) -> Result<Option<Vec<String>>>,
) -> Result<Box<dyn Reader>> {
    let store = store(global)?;
    let reader = open(global, &store, purpose)?;
    if !global.refresh {
        return Ok(reader);
    }
    let documents = wanted(&Session::new(&*reader))?;
    // An open reader would keep the writer from truncating the write-ahead log.
    drop(reader);
    refresh(&store, documents.as_ref().map_or(Paths::All, |documents| Paths::Stored(documents)))?;
    open(global, &store, purpose)
}

/// Ingests changes of documents of `store`.
pub(super) fn refresh(store: &Store, paths: Paths<'_>) -> Result<()> {
    let report = ingest::refresh(store, paths)?;
    if report.removed > 0 {
        let removed = counted(report.removed, "document");
        note(&format!("removed {removed}: gone, or not ingested any more"));
    }
    for skipped in &report.skipped {
        note(&format!("skipped {}: {}", skipped.file, skipped.reason));
    }
    for warning in &report.warnings {
        note(&warning.to_string());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{url_of_server, without_password};

    #[test]
    fn a_url_is_shown_without_its_password() {
        for (url, shown) in [
            ("postgres://me:s:e@c@h:1/d?schema=x", "postgres://me@h:1/d?schema=x"),
            ("postgres://me:s?e@h:1/d?schema=x", "postgres://me@h:1/d?schema=x"),
            (" Postgres://me:s@e/c?r@h/d?sslrootcert=a@b", "postgres://me@h/d?sslrootcert=a@b"),
            ("postgres://:secret@h/d", "postgres://h/d"),
            ("postgres:///d?host=/run&password=secret", "postgres:///d?host=/run"),
            ("postgresql://h", "postgresql://h"),
            ("postgres://u:a/b@h/d", "postgres://u@h/d"),
        ] {
            let url = url_of_server(url.as_ref()).unwrap().unwrap();
            assert_eq!(without_password(&url), shown);
        }
    }
}
