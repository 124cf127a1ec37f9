//! Drops a collection from a store.
//!
//! Invariant: no file is read or written, except those of an edit that was interrupted.

use std::time::Duration;

use super::closed;
use super::report::{ChangeKind, IngestReport};
use crate::corpus::{is_at_or_below, root_from_store};
use crate::error::{Error, ErrorKind, Result};
use crate::store::{IfAbsent, Store, check_options};
use crate::visible::quoted;

/// Drops a collection: its documents leave the store, and its files stay as they are.
pub fn forget(store: &Store, name: &str, wait: Duration) -> Result<IngestReport> {
    // No file is read or written, so no trust is needed, unless an edit was interrupted.
    let (mut writer, recovered) = store.recovered_writer(IfAbsent::Fail, wait)?;
    check_options(writer.as_ref())?;
    let (root, options) = (writer.root()?.unwrap_or_default(), writer.options()?);
    let mut options = options.unwrap_or_default();
    if options.collections.remove(name).is_none() {
        let known: Vec<&str> = options.collections.keys().map(String::as_str).collect();
        let known = if known.is_empty() { "only its root".to_owned() } else { known.join(", ") };
        let message =
            format!("the store has no collection {name}; it has {known}", name = quoted(&name));
        return Err(Error::new(ErrorKind::Usage, message)
            .with_hint("`mdsel status --collections` lists them"));
    }
    let mut report = IngestReport::default();
    let documents = writer.documents()?;
    let (gone, kept): (Vec<_>, Vec<_>) =
        documents.into_iter().partition(|document| is_at_or_below(&document.path, name));
    report.unchanged = kept.len();
    for document in &gone {
        report.count(&document.path, ChangeKind::Removed);
    }
    let ids: Vec<i64> = gone.iter().map(|document| document.id).collect();
    writer.remove(&ids)?;
    writer.commit()?;
    // The documents go first: a collection without documents can be forgotten again.
    writer.set_up(&root_from_store(&root, store.path())?, &options)?;
    report.generation = writer.generation()?;
    report.note(recovered);
    report.note(closed(writer)?);
    report.finish();
    Ok(report)
}
