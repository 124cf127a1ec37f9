//! The corpus: the folder of the files, apart from any store.
//!
//! Which files belong to it, how they are opened without following a symbolic link out of the root,
//! whether a file is the one that was read before, and how one file is replaced. Invariant: nothing
//! outside the root is read as a document or written.

mod attributes;
mod beneath;
mod disk;
mod file;
mod options;
mod paths;
mod roots;
mod rules;
mod state;
mod walk;

pub(crate) use beneath::{Files, is_not_a_folder, make_below, make_file, open_file, open_root};
pub(crate) use disk::Disk;
pub(crate) use file::{
    FileHandle, Seen, conflict, is_temporary, made_folders, takes_back, temporary_name,
    temporary_name_to_take_back,
};
pub use options::{Collection, IngestOptions};
pub(crate) use options::{extension, is_collection_name};
pub(crate) use paths::{
    bounds_below, canonical, collection_root, is_at_or_below, is_really_below, relative, resolved,
    root_folder, root_from_store,
};
pub use roots::{Root, Roots};
#[cfg(feature = "watch")]
pub(crate) use rules::{IGNORE_FILES, RulesAbove};
pub use state::FileState;
pub(crate) use state::{FolderHandle, file_state, is_racy};
pub use walk::Skipped;
pub(crate) use walk::{Walk, WalkResult, WalkedFile};
