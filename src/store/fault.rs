//! What a check of the store can find.
//!
//! Invariant: every kind has one code, which is stable, and one way to be mended.

/// What is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FaultKind {
    /// SQLite finds its file damaged.
    Database,
    /// What the store says of itself is not what was written.
    Meta,
    /// A row belongs to no document.
    Orphan,
    /// The bytes of a document are not those that were taken.
    Bytes,
    /// The rows that were made of a document are damaged, or do not fit its bytes or each other.
    Rows,
    /// A document, parsed anew, gives other rows.
    Parse,
    /// There is no full-text index.
    IndexMissing,
    /// The full-text index belongs to another store, or was made by another program.
    IndexForeign,
    /// The full-text index follows an older state of the store.
    IndexBehind,
    /// Files of the full-text index are damaged.
    IndexDamaged,
    /// The full-text index holds other sections than the store.
    IndexDiffers,
    /// Temporary files of an interrupted writer lie in the folder of the full-text index.
    IndexLeftovers,
    /// Files of an interrupted repair lie beside the store.
    RepairLeftovers,
    /// An edit was begun and not ended.
    EditOpen,
    /// The temporary file of an edit lies beside a document.
    EditLeftover,
    /// A document could not be recovered.
    Lost,
}

/// Which part of the store is made anew to mend a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The SQLite file.
    Database,
    /// The full-text index.
    Index,
    /// Nothing: something only goes.
    Leftover,
}

impl FaultKind {
    /// The code as it is printed.
    pub fn code(self) -> &'static str {
        match self {
            Self::Database => "DATABASE_DAMAGED",
            Self::Meta => "META_DAMAGED",
            Self::Orphan => "ROW_ORPHANED",
            Self::Bytes => "BYTES_DAMAGED",
            Self::Rows => "ROWS_DAMAGED",
            Self::Parse => "PARSE_DIFFERS",
            Self::IndexMissing => "INDEX_MISSING",
            Self::IndexForeign => "INDEX_FOREIGN",
            Self::IndexBehind => "INDEX_BEHIND",
            Self::IndexDamaged => "INDEX_DAMAGED",
            Self::IndexDiffers => "INDEX_DIFFERS",
            Self::IndexLeftovers => "INDEX_LEFTOVERS",
            Self::RepairLeftovers => "REPAIR_LEFTOVERS",
            Self::EditOpen => "EDIT_OPEN",
            Self::EditLeftover => "EDIT_LEFTOVER",
            Self::Lost => "LOST",
        }
    }

    /// What is made anew to mend it.
    pub fn part(self) -> Part {
        match self {
            Self::Database
            | Self::Meta
            | Self::Orphan
            | Self::Bytes
            | Self::Rows
            | Self::Parse
            | Self::Lost => Part::Database,
            Self::IndexMissing
            | Self::IndexForeign
            | Self::IndexBehind
            | Self::IndexDamaged
            | Self::IndexDiffers => Part::Index,
            Self::IndexLeftovers | Self::RepairLeftovers | Self::EditOpen | Self::EditLeftover => {
                Part::Leftover
            }
        }
    }
}

/// Something in the store that is not as it should be.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Fault {
    /// The document, where it is one.
    pub file: Option<String>,
    /// What is wrong.
    pub kind: FaultKind,
    /// Where, and how that shows.
    pub message: String,
}

impl Fault {
    /// A fault of the store.
    pub(crate) fn new(kind: FaultKind, message: impl Into<String>) -> Self {
        Self { file: None, kind, message: message.into() }
    }

    /// A fault of the document at `path`.
    pub(crate) fn of(path: &str, kind: FaultKind, message: impl Into<String>) -> Self {
        Self { file: Some(path.to_owned()), kind, message: message.into() }
    }
}

/// How many numbers there are, and a sum of them that two different collections hardly share.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::store) struct Tally {
    pub(in crate::store) count: u64,
    sum: u64,
}

impl Tally {
    /// Counts one more.
    pub(in crate::store) fn add(&mut self, number: u64) {
        self.count += 1;
        // The last steps of SplitMix64 (Steele, Lea, Flood 2014).
        let mut mixed = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        self.sum = self.sum.wrapping_add(mixed ^ (mixed >> 31));
    }

    /// All of `numbers`.
    pub(in crate::store) fn of(numbers: impl IntoIterator<Item = u64>) -> Self {
        let mut tally = Self::default();
        numbers.into_iter().for_each(|number| tally.add(number));
        tally
    }
}
