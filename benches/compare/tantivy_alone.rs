//! A small program over tantivy, for comparison: indexes the words of whole files, without structure.
//!
//! ```text
//! tantivy_alone index FOLDER INDEX     rebuilds the index
//! tantivy_alone search INDEX QUERY     prints the paths of the 20 best files
//! ```
#![allow(clippy::print_stdout, reason = "the program prints its answer")]

use std::path::Path;

use tantivy::collector::TopDocs;
use tantivy::query::QueryParser;
use tantivy::schema::{STORED, STRING, Schema, TEXT, Value as _};
use tantivy::{Index, TantivyDocument, doc};

type Result = std::result::Result<(), Box<dyn std::error::Error>>;

fn index(folder: &Path, path: &Path) -> Result {
    drop(std::fs::remove_dir_all(path));
    std::fs::create_dir_all(path)?;
    let mut schema = Schema::builder();
    let file = schema.add_text_field("file", STRING | STORED);
    let text = schema.add_text_field("text", TEXT);
    let index = Index::create_in_dir(path, schema.build())?;
    let mut writer = index.writer_with_num_threads(2, 128 << 20)?;
    for entry in walkdir::WalkDir::new(folder) {
        let entry = entry?;
        if entry.path().extension().is_some_and(|extension| extension == "md") {
            let bytes = std::fs::read(entry.path())?;
            let words = String::from_utf8_lossy(&bytes).into_owned();
            let name = entry.path().display().to_string();
            writer.add_document(doc!(file => name, text => words))?;
        }
    }
    writer.commit()?;
    Ok(writer.wait_merging_threads()?)
}

fn search(path: &Path, query: &str) -> Result {
    let index = Index::open_in_dir(path)?;
    let (file, text) = (index.schema().get_field("file")?, index.schema().get_field("text")?);
    let query = QueryParser::for_index(&index, vec![text]).parse_query(query)?;
    let searcher = index.reader()?.searcher();
    for (_, address) in searcher.search(&query, &TopDocs::with_limit(20).order_by_score())? {
        let found: TantivyDocument = searcher.doc(address)?;
        println!("{}", found.get_first(file).and_then(|name| name.as_str()).unwrap_or_default());
    }
    Ok(())
}

fn main() -> Result {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["index", folder, path] => index(Path::new(folder), Path::new(path)),
        ["search", path, query] => search(Path::new(path), query),
        _ => Err("tantivy_alone index FOLDER INDEX | search INDEX QUERY".into()),
    }
}
