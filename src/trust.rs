//! What a store file may decide for the user who runs the program. A store may come from somebody else.
//!
//! Without trust a store may use only the folder that contains it, with the default options. A root outside
//! that folder, or other options, need the user's consent: given with the command, or recorded before. The
//! user's trust file lists the recorded consent, one JSON object per line. Reading a store needs no trust
//! (see `mdsel help store`). Invariant: a trust file that others than the owner of its
//! folder could have written is rejected, and a write replaces the whole file atomically.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{ErrorKind as IoKind, Read as _, Write as _};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::corpus::{IngestOptions, Root, Roots};
use crate::error::{Error, ErrorKind, Result, Warning};
use crate::limits;
use crate::links::SiteRoot;
use crate::message::shell_word;

/// Who decides which stores are trusted.
#[derive(Clone, Debug)]
pub enum Trust {
    /// Every store is trusted; the caller has checked them.
    Everything,
    /// The user's trust file at this path; `None` trusts no store.
    File(Option<PathBuf>),
}

/// What a store asks for beyond its own folder and the default options. The default asks for nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wish {
    /// The root, absolute, if it is outside the folder of the store.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub root: Option<PathBuf>,
    /// The extensions of files to ingest, if they are not the default ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extensions: Option<Vec<String>>,
    /// Whether hidden files are ingested.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub hidden: bool,
    /// Whether ignore files such as `.gitignore` are disregarded.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub no_ignore: bool,
    /// The site roots, to which links that begin with `/` are relative, if there are any: absolute folders in
    /// the form of `--site-root`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub site_roots: Option<Vec<String>>,
    /// What the collections ask for, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub collections: BTreeMap<String, Wish>,
}

/// A line of the trust file.
#[derive(Debug, Serialize, Deserialize)]
struct TrustedStore {
    /// The store file, absolute.
    store: PathBuf,
    #[serde(flatten)]
    wish: Wish,
}

/// Why a store is trusted, or that it is not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TrustSource {
    /// The store asks for nothing that needs trust.
    OwnFolder,
    /// The trust file records that the user accepted what the store asks for.
    Recorded,
    /// The store is on a server, and the rights there decide who writes it.
    Server,
    /// The store is not trusted: ingests and edits refuse it.
    Untrusted,
}

impl Wish {
    /// Returns what the store at `store` asks for if it has these folders. `store` must be absolute and free of
    /// symbolic links.
    pub fn of(store: &Path, roots: &Roots) -> Self {
        let of =
            |root: &Root| (root.name.clone(), Self::of_root(store, &root.folder, &root.options));
        let collections = roots.collections().iter().map(of).filter(|(_, wish)| !wish.is_empty());
        let root = roots.unnamed();
        Self {
            collections: collections.collect(),
            ..Self::of_root(store, &root.folder, &root.options)
        }
    }

    fn of_root(store: &Path, root: &Path, options: &IngestOptions) -> Self {
        let folder = store.parent().unwrap_or_else(|| Path::new(""));
        let plain = IngestOptions::default();
        let is_plain = sorted(&options.extensions) == sorted(&plain.extensions);
        Self {
            root: (!root.starts_with(folder)).then(|| root.to_owned()),
            extensions: (!is_plain).then(|| options.extensions.clone()),
            hidden: options.hidden,
            no_ignore: options.no_ignore,
            site_roots: (!options.site_roots.is_empty())
                .then(|| options.site_roots.iter().map(|site| site_argument(root, site)).collect()),
            collections: BTreeMap::new(),
        }
    }

    /// Whether nothing is asked for.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    fn has_site_root(&self, site: &String) -> bool {
        self.site_roots.as_ref().is_some_and(|all| all.contains(site))
    }

    /// Whether consent to `self` includes everything that `other` asks for.
    fn covers(&self, other: &Self) -> bool {
        let extensions = |wish: &Self| wish.extensions.as_deref().map(sorted);
        (other.root.is_none() || other.root == self.root)
            && (other.extensions.is_none() || extensions(other) == extensions(self))
            && (!other.hidden || self.hidden)
            && (!other.no_ignore || self.no_ignore)
            && other.site_roots.iter().flatten().all(|site| self.has_site_root(site))
            && other.collections.iter().all(|(name, other)| {
                self.collections.get(name).is_some_and(|wish| wish.covers(other))
            })
    }

    /// Returns this consent with that to `accepted`, which replaces it for the collections that it names, and for the
    /// root without a name if `has_root`.
    pub(crate) fn with(mut self, accepted: Self, has_root: bool) -> Self {
        self.collections.extend(accepted.collections.clone());
        if has_root {
            return Self { collections: self.collections, ..accepted };
        }
        self
    }

    /// What the roots with these names ask for; the empty name is the root without a name.
    pub(crate) fn of_roots(&self, names: &[&str]) -> Self {
        let own = if names.contains(&"") { self.clone() } else { Self::default() };
        let collections =
            self.collections.iter().filter(|(name, _)| names.contains(&name.as_str()));
        let collections = collections.map(|(name, wish)| (name.clone(), wish.clone())).collect();
        Self { collections, ..own }
    }

    /// What is asked for and not in `given`, which is what the user asked for with this command.
    fn without(&self, given: &Self) -> Self {
        let none = Self::default();
        let is_new = |site: &&String| !given.has_site_root(site);
        let sites = self.site_roots.as_ref();
        let sites = sites.map(|all| all.iter().filter(is_new).cloned().collect::<Vec<_>>());
        let collections = self.collections.iter().map(|(name, wish)| {
            (name.clone(), wish.without(given.collections.get(name).unwrap_or(&none)))
        });
        Self {
            root: self.root.clone().filter(|_| self.root != given.root),
            extensions: self.extensions.clone().filter(|_| given.extensions.is_none()),
            hidden: self.hidden && !given.hidden,
            no_ignore: self.no_ignore && !given.no_ignore,
            site_roots: sites.filter(|sites| !sites.is_empty()),
            collections: collections.filter(|(_, wish)| !wish.is_empty()).collect(),
        }
    }

    /// The options of `mdsel ingest` that ask for the same, each after a space.
    fn arguments(&self) -> String {
        let mut arguments = String::new();
        if let Some(root) = &self.root {
            arguments += &format!(" --root {}", shell_word(&root.to_string_lossy()));
        }
        arguments += &self.option_arguments();
        for (name, wish) in &self.collections {
            arguments += &wish.collection_arguments(name);
        }
        arguments
    }

    /// The arguments for the collection `name`.
    fn collection_arguments(&self, name: &str) -> String {
        let folder = self.root.as_ref().map(|root| shell_word(&root.to_string_lossy()));
        let folder = folder.map(|folder| format!(" {folder}")).unwrap_or_default();
        format!(" --collection {}{folder}{}", shell_word(name), self.option_arguments())
    }

    fn option_arguments(&self) -> String {
        let mut arguments = String::new();
        if let Some(extensions) = &self.extensions {
            arguments += &format!(" --ext {}", shell_word(&extensions.join(",")));
        }
        for (is_asked, name) in [(self.hidden, "hidden"), (self.no_ignore, "no-ignore")] {
            if is_asked {
                arguments += &format!(" --{name}");
            }
        }
        for site in self.site_roots.iter().flatten() {
            arguments += &format!(" --site-root {}", shell_word(site));
        }
        arguments
    }
}

impl Trust {
    /// Returns `UNTRUSTED_STORE` if the store at `store` asks for more than the user accepted. `given` is what
    /// the user asked for with this command, which needs no record.
    pub fn check(&self, store: &Path, wish: &Wish, given: &Wish) -> Result<()> {
        let not_given = wish.without(given);
        let reason = match self.source(store, &not_given) {
            Ok(TrustSource::OwnFolder | TrustSource::Recorded | TrustSource::Server) => {
                return Ok(());
            }
            Ok(TrustSource::Untrusted) => String::new(),
            Err(error) => format!("; {error}"),
        };
        let message = format!(
            "{}: the store asks for{}, which this user has not accepted{reason}",
            store.display(),
            not_given.arguments()
        );
        // One ingest accepts what one collection asks for. The one that accepts what the root asks for ingests the
        // collections, too, so it comes last.
        let recorded = self.recorded(store);
        let is_new = |(name, wish): &(&String, &Wish)| {
            !recorded.collections.get(*name).is_some_and(|recorded| recorded.covers(wish))
        };
        let new = not_given.collections.iter().filter(is_new);
        let new = new.filter_map(|(name, _)| wish.collections.get_key_value(name));
        let mut accepting: Vec<String> =
            new.map(|(name, wish)| wish.collection_arguments(name)).collect();
        let own = |wish: &Wish| Wish { collections: BTreeMap::new(), ..wish.clone() };
        if accepting.is_empty() || !recorded.covers(&own(&not_given)) {
            accepting.push(own(wish).arguments());
        }
        let store = shell_word(&store.to_string_lossy());
        let commands: Vec<String> = accepting
            .iter()
            .map(|arguments| format!("mdsel ingest --db {store}{arguments}"))
            .collect();
        let hint = format!(
            "if you trust it, accept that with `{}`; reading needs no trust",
            commands.join(" && ")
        );
        Err(Error::new(ErrorKind::UntrustedStore, message).with_hint(hint))
    }

    /// Returns why the store at `store`, which asks for `wish`, is trusted, or that it is not. Fails if the
    /// trust file is rejected or cannot be read.
    pub fn source(&self, store: &Path, wish: &Wish) -> Result<TrustSource> {
        if wish.is_empty() {
            return Ok(TrustSource::OwnFolder);
        }
        let file = match self {
            Self::Everything => return Ok(TrustSource::Recorded),
            Self::File(None) => return Ok(TrustSource::Untrusted),
            Self::File(Some(file)) => file,
        };
        let text = read(file)?;
        let is_recorded = text.lines().any(|line| {
            entry(line).is_some_and(|entry| entry.store == store && entry.wish.covers(wish))
        });
        Ok(if is_recorded { TrustSource::Recorded } else { TrustSource::Untrusted })
    }

    /// Returns what the user accepted for the store at `store`; nothing if the trust file cannot be read.
    pub(crate) fn recorded(&self, store: &Path) -> Wish {
        let Self::File(Some(file)) = self else { return Wish::default() };
        let text = read(file).unwrap_or_default();
        let known = text.lines().filter_map(entry).find(|entry| entry.store == store);
        known.map(|entry| entry.wish).unwrap_or_default()
    }

    /// Records that the user accepts `wish` for the store at `store`, replacing its previous record. Returns a
    /// warning if that fails.
    pub(crate) fn record(&self, store: &Path, wish: &Wish) -> Option<Warning> {
        let Self::File(file) = self else { return None };
        let recorded = match file {
            None => Err(Error::new(ErrorKind::Io, "neither XDG_CONFIG_HOME nor HOME is set")
                .with_hint("set one of them to an absolute path")),
            Some(file) => record(file, store, wish),
        };
        // A store that asks for nothing needs no record, unless an earlier one says more.
        let is_needed = !wish.is_empty() || !self.recorded(store).is_empty();
        let error = recorded.err().filter(|_| is_needed)?;
        let message = format!(
            "the trust in the store was not recorded: {error}; give{} again with the next ingest",
            wish.arguments()
        );
        Some(Warning::new("TRUST_NOT_RECORDED", message))
    }
}

/// A site root in the form of `--site-root`.
pub(crate) fn site_argument(root: &Path, site: &SiteRoot) -> String {
    let folder = root.join(&site.folder);
    let prefix = if site.prefix.is_empty() { String::new() } else { format!("={}", site.prefix) };
    format!("{}{prefix}", folder.display())
}

fn sorted(extensions: &[String]) -> Vec<String> {
    let mut sorted: Vec<String> = extensions.iter().map(|one| one.to_ascii_lowercase()).collect();
    sorted.sort();
    sorted.dedup();
    sorted
}

/// Parses a line of the trust file; `None` if the line is not an entry.
fn entry(line: &str) -> Option<TrustedStore> {
    serde_json::from_str(line).ok()
}

fn rejected(file: &Path, why: &str) -> Error {
    Error::new(ErrorKind::Io, format!("{}: {why}, so the file is rejected", file.display()))
        .with_hint("let only this user own and write the file and its folder, or delete the file")
}

/// The text of the trust file; empty if there is no file. Rejects a file that others than the owner of its folder
/// could have written.
fn read(file: &Path) -> Result<String> {
    use rustix::fs::{Mode, OFlags};
    use std::os::unix::fs::MetadataExt as _;
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let opened = match rustix::fs::open(file, flags, Mode::empty()) {
        Ok(opened) => File::from(opened),
        Err(rustix::io::Errno::NOENT | rustix::io::Errno::NOTDIR) => return Ok(String::new()),
        Err(rustix::io::Errno::LOOP) => return Err(rejected(file, "it is a symbolic link")),
        Err(error) => return Err(Error::io(file, error.into())),
    };
    let metadata = opened.metadata().map_err(|error| Error::io(file, error))?;
    if !metadata.is_file() {
        return Err(rejected(file, "it is not a regular file"));
    }
    let folder = file.parent().unwrap_or_else(|| Path::new("")).metadata();
    let folder = folder.map_err(|error| Error::io(file, error))?;
    if metadata.uid() != folder.uid() {
        return Err(rejected(file, "another user owns the file"));
    }
    if (metadata.mode() | folder.mode()) & 0o022 != 0 {
        return Err(rejected(file, "other users can write to it"));
    }
    let mut text = String::new();
    let most = limits::MAX_TRUST_BYTES as u64;
    let read = opened.take(most + 1).read_to_string(&mut text);
    read.map_err(|error| Error::io(file, error))?;
    if text.len() as u64 > most {
        return Err(rejected(file, "it is larger than the limit trust-bytes"));
    }
    Ok(text)
}

/// Replaces the entry of `store` in the trust file. A lock file in the same folder serializes writers.
fn record(file: &Path, store: &Path, wish: &Wish) -> Result<()> {
    use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
    let wrap = |error| Error::io(file, error);
    let before = read(file)?;
    let recorded = before.lines().filter_map(entry).find(|entry| entry.store == store);
    if recorded.map_or_else(Wish::default, |entry| entry.wish) == *wish {
        return Ok(());
    }
    let folder = file.parent().unwrap_or_else(|| Path::new(""));
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(wrap)?;
    let mut options = File::options();
    options.create(true).write(true).mode(0o600);
    options.custom_flags((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed());
    let lock = options.open(folder.join("trusted.lock")).map_err(wrap)?;
    lock.lock().map_err(wrap)?;
    let before = read(file)?;
    let is_other = |line: &&str| entry(line).is_none_or(|entry| entry.store != store);
    let mut lines: Vec<String> = before.lines().filter(is_other).map(str::to_owned).collect();
    if !wish.is_empty() {
        let entry = TrustedStore { store: store.to_owned(), wish: wish.clone() };
        let line = serde_json::to_string(&entry);
        lines.push(line.map_err(|error| wrap(std::io::Error::new(IoKind::InvalidData, error)))?);
    }
    let text = lines.iter().map(|line| format!("{line}\n")).collect::<String>();
    // Only the owner can read the new file. The rename replaces a symbolic link and does not follow it.
    let mut new = tempfile::NamedTempFile::new_in(folder).map_err(wrap)?;
    new.write_all(text.as_bytes()).map_err(wrap)?;
    new.as_file().sync_all().map_err(wrap)?;
    new.persist(file).map_err(|error| wrap(error.error))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hidden() -> Wish {
        Wish { hidden: true, ..Wish::default() }
    }

    fn wide() -> Wish {
        let extensions = Some(vec!["md".to_owned(), "env".to_owned()]);
        Wish {
            root: Some("/home".into()),
            extensions,
            hidden: true,
            no_ignore: true,
            site_roots: None,
            collections: BTreeMap::new(),
        }
    }

    #[test]
    fn a_store_asks_for_an_outside_root_and_for_options_that_are_not_default() {
        let options = IngestOptions::default();
        let store = Path::new("/home/u/.mdsel.db");
        for root in ["/home/u", "/home/u/docs"] {
            assert!(
                Wish::of(store, &Roots::of_store(Some(store), Path::new(root), &options))
                    .is_empty()
            );
        }
        for root in ["/home", "/home/u2", "/"] {
            assert_eq!(
                Wish::of(store, &Roots::of_store(Some(store), Path::new(root), &options)).root,
                Some(root.into())
            );
        }
        let order = IngestOptions {
            extensions: ["MDX", "md", "markdown"].map(str::to_owned).to_vec(),
            ..options.clone()
        };
        assert!(
            Wish::of(store, &Roots::of_store(Some(store), Path::new("/home/u"), &order)).is_empty()
        );
        let fewer = IngestOptions { extensions: vec!["md".to_owned()], ..options };
        assert!(
            !Wish::of(store, &Roots::of_store(Some(store), Path::new("/home/u"), &fewer))
                .is_empty()
        );
    }

    #[test]
    fn a_record_applies_to_its_own_store_only() {
        let folder = tempfile::tempdir().unwrap();
        let trust = Trust::File(Some(folder.path().join("mdsel/trusted")));
        let (one, other) = (Path::new("/a/.mdsel.db"), Path::new("/b/.mdsel.db"));
        assert_eq!(trust.source(one, &wide()).unwrap(), TrustSource::Untrusted);
        assert!(trust.record(one, &wide()).is_none());
        assert!(trust.record(other, &hidden()).is_none());
        assert_eq!(trust.source(one, &wide()).unwrap(), TrustSource::Recorded);
        assert_eq!(trust.source(one, &hidden()).unwrap(), TrustSource::Recorded);
        assert_eq!(trust.source(other, &wide()).unwrap(), TrustSource::Untrusted);
        assert!(trust.record(one, &Wish::default()).is_none());
        assert_eq!(trust.source(one, &hidden()).unwrap(), TrustSource::Untrusted);
        assert_eq!(trust.source(other, &hidden()).unwrap(), TrustSource::Recorded);
    }

    #[test]
    fn options_given_with_the_command_need_no_record() {
        let trust = Trust::File(None);
        let store = Path::new("/a/.mdsel.db");
        assert!(trust.check(store, &wide(), &wide()).is_ok());
        assert!(trust.check(store, &Wish::default(), &Wish::default()).is_ok());
        let error = trust.check(store, &wide(), &hidden()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::UntrustedStore);
        assert!(error.to_string().contains("--root /home --ext md,env --no-ignore"), "{error}");
        assert!(error.hint().contains("--root /home --ext md,env --hidden --no-ignore`"));
    }

    #[test]
    fn concurrent_writers_lose_no_record() {
        let folder = tempfile::tempdir().unwrap();
        let trust = &Trust::File(Some(folder.path().join("trusted")));
        let store = |number: usize| PathBuf::from(format!("/{number}/.mdsel.db"));
        std::thread::scope(|scope| {
            for number in 0..8 {
                scope.spawn(move || assert!(trust.record(&store(number), &hidden()).is_none()));
            }
        });
        for number in 0..8 {
            assert_eq!(trust.source(&store(number), &hidden()).unwrap(), TrustSource::Recorded);
        }
    }

    #[test]
    fn a_trust_file_that_others_could_have_written_is_rejected() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("mdsel/trusted");
        let trust = Trust::File(Some(file.clone()));
        let store = Path::new("/a/.mdsel.db");
        assert!(trust.record(store, &hidden()).is_none());
        let mode = |file: &Path| file.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&file), 0o600);
        std::fs::set_permissions(&file, PermissionsExt::from_mode(0o622)).unwrap();
        assert!(trust.check(store, &hidden(), &Wish::default()).is_err());
        std::fs::set_permissions(&file, PermissionsExt::from_mode(0o600)).unwrap();
        assert!(trust.check(store, &hidden(), &Wish::default()).is_ok());
        std::fs::rename(&file, folder.path().join("mdsel/elsewhere")).unwrap();
        std::os::unix::fs::symlink("elsewhere", &file).unwrap();
        let error = trust.check(store, &hidden(), &Wish::default()).unwrap_err();
        assert!(error.to_string().contains("symbolic link"), "{error}");
        assert_eq!(trust.record(store, &hidden()).unwrap().code, "TRUST_NOT_RECORDED");
    }
}
