//! The problems that a check of the store reports.
//!
//! Invariant: every kind has one stable code and one way to repair it.

/// The kind of a problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FaultKind {
    /// SQLite reports that its file is damaged.
    Database,
    /// The metadata of the store differs from what was written.
    Meta,
    /// A row refers to a document that does not exist.
    Orphan,
    /// The bytes of a document differ from those that were ingested.
    Bytes,
    /// The rows derived from a document are damaged, or do not match its bytes or each other.
    Rows,
    /// Parsing a document again gives different rows.
    Parse,
    /// The full-text index does not exist.
    IndexMissing,
    /// The full-text index belongs to another store or branch of it, or another version wrote it.
    IndexForeign,
    /// The full-text index was built from an older state of the store.
    IndexOutOfDate,
    /// Files of the full-text index are damaged.
    IndexDamaged,
    /// The sections in the full-text index differ from those in the store.
    IndexDiffers,
    /// Temporary files of an interrupted writer are in the folder of the full-text index.
    IndexLeftovers,
    /// Files of an interrupted repair are next to the store.
    RepairLeftovers,
    /// A file of another type is in the place of a file of the store.
    InTheWay,
    /// An edit was started and not finished.
    EditOpen,
    /// The temporary file of an edit is next to a document.
    EditLeftover,
    /// A document could not be recovered.
    Lost,
}

/// The part of the store that a repair rebuilds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StorePart {
    /// The SQLite file.
    Database,
    /// The full-text index.
    Index,
    /// Nothing: the repair only removes files.
    Leftover,
}

impl FaultKind {
    /// Returns the code that is printed; see `mdsel help errors`.
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
            Self::IndexOutOfDate => "INDEX_OUT_OF_DATE",
            Self::IndexDamaged => "INDEX_DAMAGED",
            Self::IndexDiffers => "INDEX_DIFFERS",
            Self::IndexLeftovers => "INDEX_LEFTOVERS",
            Self::RepairLeftovers => "REPAIR_LEFTOVERS",
            Self::InTheWay => "FILE_IN_THE_WAY",
            Self::EditOpen => "EDIT_OPEN",
            Self::EditLeftover => "EDIT_LEFTOVER",
            Self::Lost => "LOST",
        }
    }

    /// Returns the part that a repair rebuilds.
    pub fn part(self) -> StorePart {
        match self {
            Self::Database
            | Self::Meta
            | Self::Orphan
            | Self::Bytes
            | Self::Rows
            | Self::Parse
            | Self::Lost => StorePart::Database,
            Self::IndexMissing
            | Self::IndexForeign
            | Self::IndexOutOfDate
            | Self::IndexDamaged
            | Self::IndexDiffers => StorePart::Index,
            Self::IndexLeftovers
            | Self::RepairLeftovers
            | Self::InTheWay
            | Self::EditOpen
            | Self::EditLeftover => StorePart::Leftover,
        }
    }
}

/// A problem in the store.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct StoreProblem {
    /// The path of the affected document; `None` if the problem affects the store itself.
    pub file: Option<String>,
    /// The kind of the problem.
    pub kind: FaultKind,
    /// A description of the problem.
    pub message: String,
}

impl StoreProblem {
    /// Creates a problem of the store.
    pub(crate) fn new(kind: FaultKind, message: impl Into<String>) -> Self {
        Self { file: None, kind, message: message.into() }
    }

    /// Creates a problem of the document at `path`.
    pub(crate) fn of(path: &str, kind: FaultKind, message: impl Into<String>) -> Self {
        Self { file: Some(path.to_owned()), kind, message: message.into() }
    }
}

/// A count of numbers and an order-independent sum, for comparing two multisets of numbers. Two
/// different multisets are unlikely to have equal tallies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::store) struct Tally {
    pub(in crate::store) count: u64,
    sum: u64,
}

impl Tally {
    /// Adds a number.
    pub(in crate::store) fn add(&mut self, number: u64) {
        self.count += 1;
        // The output function of SplitMix64 (Steele, Lea, Flood 2014).
        let mut mixed = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        self.sum = self.sum.wrapping_add(mixed ^ (mixed >> 31));
    }

    /// Tallies all of `numbers`.
    pub(in crate::store) fn of(numbers: impl IntoIterator<Item = u64>) -> Self {
        let mut tally = Self::default();
        numbers.into_iter().for_each(|number| tally.add(number));
        tally
    }
}
