//! The columns of tables: their names, and the values of a row.
//!
//! Invariant: the names of the columns of a table are unique.

use std::collections::{HashMap, HashSet};

use crate::markdown::contents::{Cell, Row, Table};
use crate::markdown::slug::fold;

/// Returns the names of the columns: the visible text of the header. An empty header is `column_1`
/// by its position, 1-based, and a name that occurred before gets `_2`, `_3` and so on, whichever no header has.
pub fn names(table: &Table) -> Vec<String> {
    let header = table.row(0).unwrap_or_default().cells();
    let texts: Vec<&str> = header.map(|cell| cell.text().trim()).collect();
    let written: HashSet<&str> = texts.iter().copied().collect();
    let mut used = HashSet::new();
    let mut numbers: HashMap<String, usize> = HashMap::new();
    let mut names = Vec::with_capacity(texts.len());
    for (index, text) in texts.iter().enumerate() {
        let base =
            if text.is_empty() { format!("column_{}", index + 1) } else { (*text).to_owned() };
        let number = numbers.entry(base.clone()).or_insert(1);
        let mut name = base.clone();
        while name != *text && written.contains(name.as_str()) || !used.insert(name.clone()) {
            *number += 1;
            name = format!("{base}_{number}");
        }
        names.push(name);
    }
    names
}

/// Returns the index of the column called `name`: the same text, or the same text in another case.
pub fn index_of(names: &[String], name: &str) -> Option<usize> {
    names.iter().position(|other| other == name).or_else(|| {
        let folded = fold(name);
        names.iter().position(|other| fold(other) == folded)
    })
}

/// Returns the cell of a row, or an empty one if the row is shorter than the header.
pub fn cell(row: Row<'_>, column: usize) -> Cell<'_> {
    row.cell(column).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(text: &str) -> Table {
        crate::markdown::parse(text.as_bytes()).contents.tables.remove(0)
    }

    #[test]
    fn equal_and_empty_headers_get_names_of_their_own() {
        let found = names(&table("| a | a | | column_3 |\n|-|-|-|-|\n"));
        assert_eq!(found, ["a", "a_2", "column_3_2", "column_3"]);
        let names = names(&table("| a | a | | a_2 | **B** | a |\n|-|-|-|-|-|-|\n"));
        assert_eq!(names, ["a", "a_3", "column_3", "a_2", "B", "a_4"]);
        assert_eq!(index_of(&names, "b"), Some(4));
        assert_eq!(index_of(&names, "c"), None);
    }

    #[test]
    fn short_rows_have_empty_cells_and_long_rows_lose_the_rest() {
        let table = table("> | a | b |\n> |-|-|\n> | 1 |\n> | `x\\|y` | 2 | 3 |\n");
        assert_eq!(table.rows().len(), 3);
        assert_eq!(cell(table.row(1).unwrap(), 1).text(), "");
        assert_eq!(table.row(2).unwrap().cells().len(), 2);
        assert_eq!(table.row(2).unwrap().cell(0).unwrap().source, "`x\\|y`");
        assert_eq!(table.row(2).unwrap().cell(0).unwrap().text(), "x|y");
    }
}
