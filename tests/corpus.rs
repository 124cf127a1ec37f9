//! The documents that the properties run over: the fixtures, and a sample of the files in
//! `MDSEL_CORPORA`.

use std::path::{Path, PathBuf};

use crate::harness::{fixtures, repeats};

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let path = entry.path();
        let file_type = entry.file_type().unwrap();
        if file_type.is_dir() {
            collect(&path, files);
        } else if file_type.is_file() && path.extension().is_some_and(|extension| extension == "md")
        {
            files.push(path);
        }
    }
}

/// Every document.
fn all() -> Vec<PathBuf> {
    let mut files = Vec::new();
    collect(&fixtures(), &mut files);
    if let Some(folder) = std::env::var_os("MDSEL_CORPORA") {
        collect(Path::new(&folder), &mut files);
    }
    files.sort();
    files
}

/// All fixtures, and about `few` documents of the corpora, times `MDSEL_SOAK` if it is set, evenly spread.
pub(crate) fn sample(few: u64) -> Vec<PathBuf> {
    let all = all();
    let count = usize::try_from(repeats(few)).unwrap();
    let step = (all.len() / count).max(1);
    let fixtures = fixtures();
    all.into_iter()
        .enumerate()
        .filter(|(index, path)| path.starts_with(&fixtures) || index % step == 0)
        .map(|(_, path)| path)
        .collect()
}
