//! Opens an index, and creates one.
//!
//! Invariant: every index has the tokenizers that its schema names, and the files of trigrams in its segments.

use std::path::Path;
use std::sync::Arc;

use tantivy::{Index, IndexBuilder};

use super::directory::{Access, IndexFolder};
use super::schema::{schema, tokenizers};
use super::trigram_component::TrigramComponent;
use super::{Unusable, Usable};

/// Opens the index in `folder`.
pub(super) fn open(folder: &Path, access: Access) -> Usable<Index> {
    let directory =
        IndexFolder::open(folder, access).map_err(|_| match folder.symlink_metadata() {
            Ok(_) => Unusable::Damaged("something else is in the place of its folder".to_owned()),
            Err(_) => Unusable::Missing,
        })?;
    let mut index = Index::open(directory)?;
    index.set_tokenizers(tokenizers());
    index.register_plugin(Arc::new(TrigramComponent));
    Ok(index)
}

/// Returns a builder for a new index.
pub(super) fn builder() -> IndexBuilder {
    Index::builder()
        .schema(schema().0)
        .tokenizers(tokenizers())
        .register_plugin(Arc::new(TrigramComponent))
}
