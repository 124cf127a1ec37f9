//! Checksums of the stored parts of a document.
//!
//! SQLite has no checksums of its pages. The column `document.seal` therefore contains one checksum
//! for each part of a document that can be read separately. A reader verifies only the parts that
//! it reads. The bytes of a document have their own hash. Invariant: a reader never gets a part
//! that differs from what was written, unless a version of mdsel without checksums wrote it.

/// A part of a document that can be read separately.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DocumentPart {
    /// The columns that a document is listed with.
    Row,
    Outline,
    Markup,
    Links,
    FrontMatter,
    Tags,
    /// The code blocks.
    Code = 7,
    Tables,
    Tasks,
}

/// The number of checksums: one for each [`DocumentPart`], and one, after that of the tags, that only
/// `verify` compares.
const PARTS: usize = 10;

/// The number of checksums that versions of mdsel wrote that did not store code, tables and tasks.
const OLD_PARTS: usize = 7;

/// Size of one checksum in bytes.
const LENGTH: usize = 8;

/// A checksum: the first [`LENGTH`] bytes of a blake3 hash.
type Checksum = [u8; LENGTH];

/// The checksums of a document; `None` if a version of mdsel without part checksums wrote it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Checksums(Option<([Checksum; PARTS], usize)>);

impl Checksums {
    /// Returns the checksums of this version, in the order of [`DocumentPart`], with that of `rest`, which only `verify`
    /// compares.
    pub(super) fn new(
        row: Checksum,
        [outline, markup, links, front_matter]: [Option<&[u8]>; 4],
        tags: &[String],
        rest: &ChecksumInput,
        data: [Option<&[u8]>; 3],
    ) -> Self {
        let [code, tables, tasks] = data.map(optional);
        let checksums = [
            row,
            optional(outline),
            optional(markup),
            optional(links),
            optional(front_matter),
            list(tags),
            rest.checksum(),
            code,
            tables,
            tasks,
        ];
        Self(Some((checksums, PARTS)))
    }

    /// Reads the stored form. Older versions wrote no bytes, or one hash of all parts. Bytes of any
    /// other length are damaged and match no part.
    pub(crate) fn stored(bytes: Option<&[u8]>) -> Self {
        let Some(bytes) = bytes.filter(|bytes| bytes.len() != blake3::OUT_LEN) else {
            return Self(None);
        };
        let mut checksums = [Checksum::default(); PARTS];
        let (parts, rest) = bytes.as_chunks::<LENGTH>();
        if !rest.is_empty() || !matches!(parts.len(), OLD_PARTS | PARTS) {
            return Self(Some((checksums, PARTS)));
        }
        for (checksum, part) in checksums.iter_mut().zip(parts) {
            *checksum = *part;
        }
        Self(Some((checksums, parts.len())))
    }

    /// Reads the stored form; `None` if its length is not that of part checksums.
    pub(crate) fn known(bytes: &[u8]) -> Option<Self> {
        let is_known = [PARTS, OLD_PARTS].into_iter().any(|parts| bytes.len() == parts * LENGTH);
        is_known.then(|| Self::stored(Some(bytes)))
    }

    /// Returns the stored form.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let parts = self.0.iter().flat_map(|(parts, count)| parts.iter().take(*count));
        parts.flatten().copied().collect()
    }

    /// Returns whether these are the checksums that an older version wrote for the same rows,
    /// without those of code, tables and tasks.
    pub(crate) fn begin_with(&self, stored: &[u8]) -> bool {
        stored.len() == OLD_PARTS * LENGTH && self.bytes().starts_with(stored)
    }

    /// Returns whether these are `other`, the checksums of this version, as this version or an older one
    /// stores them. A version without checksums stored none.
    pub(crate) fn are_those_of(&self, other: &Self) -> bool {
        self.0.is_none() || self == other || other.begin_with(&self.bytes())
    }

    /// Returns whether `checksum` matches that of `part`, or the document has no checksums.
    pub(crate) fn is(&self, part: DocumentPart, checksum: impl FnOnce() -> Checksum) -> bool {
        self.0.is_none_or(|(parts, count)| {
            let index = part as usize;
            index >= count || parts.get(index) == Some(&checksum())
        })
    }
}

/// Returns the checksum of [`DocumentPart::Row`].
pub(crate) fn row(path: &str, hash: &[u8], size: u64, is_lossy: bool, has_ldmd: bool) -> Checksum {
    let mut fields = ChecksumInput(Vec::with_capacity(128 + path.len()));
    fields.text(path);
    fields.field(hash);
    fields.field(&size.to_le_bytes());
    fields.field(&[u8::from(is_lossy), u8::from(has_ldmd)]);
    fields.checksum()
}

/// Returns the checksum of a part that is one optional value.
pub(crate) fn optional(bytes: Option<&[u8]>) -> Checksum {
    let mut fields = ChecksumInput::default();
    fields.optional(bytes);
    fields.checksum()
}

/// Returns the checksum of a part that is a list.
pub(crate) fn list(texts: &[String]) -> Checksum {
    let mut fields = ChecksumInput::default();
    fields.list(texts);
    fields.checksum()
}

/// Fields to hash. Each is preceded by its length, so the result is unambiguous. The bytes are
/// collected first, because hashing many small pieces takes several times as long.
#[derive(Default)]
pub(crate) struct ChecksumInput(Vec<u8>);

impl ChecksumInput {
    pub(crate) fn field(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(&(bytes.len() as u64).to_le_bytes());
        self.0.extend_from_slice(bytes);
    }

    pub(crate) fn text(&mut self, text: &str) {
        self.field(text.as_bytes());
    }

    pub(crate) fn optional(&mut self, bytes: Option<&[u8]>) {
        self.field(&[u8::from(bytes.is_some())]);
        self.field(bytes.unwrap_or_default());
    }

    pub(crate) fn list(&mut self, texts: &[String]) {
        self.field(&(texts.len() as u64).to_le_bytes());
        for text in texts {
            self.text(text);
        }
    }

    pub(crate) fn hash(&self) -> [u8; 32] {
        *blake3::hash(&self.0).as_bytes()
    }

    fn checksum(&self) -> Checksum {
        let mut checksum = Checksum::default();
        checksum.copy_from_slice(&self.hash()[..LENGTH]);
        checksum
    }
}
