//! Checksums of what is stored of a document, part by part.
//!
//! SQLite keeps no checksum of its pages, so the column `document.seal` has one for each part of a document
//! that is read by itself: a reader checks what it reads, and pays for nothing else. The bytes of a document
//! have a hash of their own. Invariant: a part that is not what was written is never given to a reader,
//! unless an older program wrote it without checksums.

use super::derived::DerivedRows;

/// A part of a document that is read by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// What [`super::snapshot::stored_document`] reads.
    Row,
    Outline,
    Markup,
    Links,
    FrontMatter,
    Tags,
}

/// The parts, and last what only `verify` checks.
const PARTS: usize = 7;

/// Bytes of one checksum.
const LENGTH: usize = 8;

/// A checksum: the first bytes of a blake3 hash.
type Checksum = [u8; LENGTH];

/// The checksums of a document; `None` where an older program wrote it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::store) struct Checksums(Option<[Checksum; PARTS]>);

impl Checksums {
    /// Those of `rows`, of a document of `size` bytes.
    pub(super) fn of(rows: &DerivedRows, size: u64) -> Self {
        let mut rest = Fields::default();
        rest.text(&rows.name_key);
        rows.counts.iter().for_each(|count| rest.field(&count.to_le_bytes()));
        rest.optional(rows.title_keys.as_ref().map(String::as_bytes));
        rest.list(&rows.markup_ids);
        for diagnostic in &rows.diagnostics {
            rest.text(&diagnostic.code);
            rest.field(&diagnostic.line.unwrap_or(-1).to_le_bytes());
            rest.text(&diagnostic.message);
        }
        let row = row(&rows.path, &rows.hash, size, rows.is_lossy, rows.has_markup);
        let front_matter = rows.front_matter.as_ref().map(String::as_bytes);
        Self(Some([
            row,
            optional(rows.outline.as_deref()),
            optional(rows.markup.as_deref()),
            optional(rows.links.as_deref()),
            optional(front_matter),
            list(&rows.tags),
            rest.checksum(),
        ]))
    }

    /// Those that are stored as `bytes`. Older programs wrote none, or one hash of everything; anything else
    /// is damage, and no part agrees with it.
    pub(super) fn stored(bytes: Option<&[u8]>) -> Self {
        let Some(bytes) = bytes.filter(|bytes| bytes.len() != blake3::OUT_LEN) else {
            return Self(None);
        };
        let (parts, rest) = bytes.as_chunks::<LENGTH>();
        let parts = <[Checksum; PARTS]>::try_from(parts).ok().filter(|_| rest.is_empty());
        Self(Some(parts.unwrap_or_default()))
    }

    /// Likewise, only where they are those of parts.
    pub(super) fn known(bytes: &[u8]) -> Option<Self> {
        (bytes.len() == PARTS * LENGTH).then(|| Self::stored(Some(bytes)))
    }

    /// As they are stored.
    pub(super) fn bytes(&self) -> Vec<u8> {
        self.0.iter().flatten().flatten().copied().collect()
    }

    /// Whether `checksum` is that of a part, as far as it is known.
    pub(super) fn is(&self, part: Part, checksum: impl FnOnce() -> Checksum) -> bool {
        self.0.is_none_or(|parts| parts.get(part as usize) == Some(&checksum()))
    }
}

/// The checksum of what every reader asks of a document.
pub(super) fn row(path: &str, hash: &[u8], size: u64, is_lossy: bool, has_ldmd: bool) -> Checksum {
    let mut fields = Fields(Vec::with_capacity(128 + path.len()));
    fields.text(path);
    fields.field(hash);
    fields.field(&size.to_le_bytes());
    fields.field(&[u8::from(is_lossy), u8::from(has_ldmd)]);
    fields.checksum()
}

/// The checksum of a part that is one value, or none.
pub(super) fn optional(bytes: Option<&[u8]>) -> Checksum {
    let mut fields = Fields::default();
    fields.optional(bytes);
    fields.checksum()
}

/// The checksum of a part that is a list.
pub(super) fn list(texts: &[String]) -> Checksum {
    let mut fields = Fields::default();
    fields.list(texts);
    fields.checksum()
}

/// Fields to be hashed, none of which can be taken for a part of another. They are gathered first: to hash many
/// small pieces takes several times as long.
#[derive(Default)]
pub(super) struct Fields(Vec<u8>);

impl Fields {
    pub(super) fn field(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(&(bytes.len() as u64).to_le_bytes());
        self.0.extend_from_slice(bytes);
    }

    pub(super) fn text(&mut self, text: &str) {
        self.field(text.as_bytes());
    }

    pub(super) fn optional(&mut self, bytes: Option<&[u8]>) {
        self.field(&[u8::from(bytes.is_some())]);
        self.field(bytes.unwrap_or_default());
    }

    pub(super) fn list(&mut self, texts: &[String]) {
        self.field(&(texts.len() as u64).to_le_bytes());
        for text in texts {
            self.text(text);
        }
    }

    pub(super) fn hash(&self) -> [u8; 32] {
        *blake3::hash(&self.0).as_bytes()
    }

    fn checksum(&self) -> Checksum {
        let mut checksum = Checksum::default();
        checksum.copy_from_slice(&self.hash()[..LENGTH]);
        checksum
    }
}
