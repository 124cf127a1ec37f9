//! Rows and cells of tables in an address: `row[2]`, `row[header]`, `row[2]/cell[1]`, `cell[Name]`.
//!
//! They stand at the end of an address, after a table. Invariant: printing and splitting steps again gives
//! the same steps.

use std::fmt;

use super::namespace;
use super::params::split_known_params;
use super::whole_number;

/// Which rows of a table are selected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowStep {
    /// All rows of the body.
    All,
    /// The header.
    Header,
    /// Rows of the body, 0-based, from the first to the second, inclusive.
    Range(usize, usize),
}

/// Which cells of a row are selected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CellStep {
    /// All cells.
    All,
    /// The cells at these positions, 0-based, from the first to the second, inclusive. If the table
    /// is narrower, the column with this text as its name.
    Range(usize, usize),
    /// The cell in the column with this name.
    Column(String),
}

/// The steps from a table to rows or cells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CellSteps {
    /// The rows.
    pub row: RowStep,
    /// The cells; `None` for whole rows.
    pub cell: Option<CellStep>,
}

impl fmt::Display for CellSteps {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.row {
            RowStep::All => formatter.write_str("row"),
            RowStep::Header => formatter.write_str("row[header]"),
            RowStep::Range(from, to) => write!(formatter, "row[{}]", range(from, to)),
        }?;
        match &self.cell {
            None => Ok(()),
            Some(CellStep::All) => formatter.write_str("/cell"),
            Some(CellStep::Range(from, to)) => write!(formatter, "/cell[{}]", range(*from, *to)),
            Some(CellStep::Column(name)) => {
                write!(formatter, "/cell[{}]", namespace::encode(name))
            }
        }
    }
}

/// Returns a range as it is written.
pub fn range(from: usize, to: usize) -> String {
    if from == to { from.to_string() } else { format!("{from}-{to}") }
}

/// Splits an address into that of a table and the steps from there. The parameters stay with the table, and
/// a step `page[k]` at the end becomes one. Returns `None` if the address does not end with such steps.
pub fn split(address: &str) -> Option<(String, CellSteps)> {
    let (locator, query) = match split_known_params(address) {
        Some((locator, query)) => (locator, Some(query)),
        None => (address, None),
    };
    let (locator, page) = match page_at_end(locator) {
        Some((locator, page)) => (locator, Some(format!("page={page}"))),
        None => (locator, None),
    };
    if page.is_some()
        && query.is_some_and(|query| query.contains("page=") || query.contains("full="))
    {
        return None;
    }
    let (table, steps) = row_at_end(locator)
        .map(|(table, row)| (table, row, None))
        .or_else(|| {
            // The name of a column may contain a slash, so every `/cell` is tried, the last one first.
            locator.rmatch_indices("/cell").find_map(|(at, _)| {
                let cell = cell(locator.get(at + "/cell".len()..)?)?;
                let (table, row) = row_at_end(locator.get(..at)?)?;
                Some((table, row, Some(cell)))
            })
        })
        .map(|(table, row, cell)| (table, CellSteps { row, cell }))?;
    let query: Vec<&str> = page.as_deref().into_iter().chain(query).collect();
    let mark = if query.is_empty() { "" } else { "?" };
    Some((format!("{table}{mark}{}", query.join("&")), steps))
}

/// Splits `text` before a step `page[k]` at its end.
fn page_at_end(text: &str) -> Option<(&str, usize)> {
    let (rest, index) = text.strip_suffix(']')?.rsplit_once("/page[")?;
    Some((rest, whole_number(index)?))
}

/// Splits `text` before a step `row` at its end.
fn row_at_end(text: &str) -> Option<(&str, RowStep)> {
    let at = text.rfind("/row")?;
    let (table, step) = (text.get(..at)?, text.get(at + "/row".len()..)?);
    if table.is_empty() {
        return None;
    }
    if step.is_empty() {
        return Some((table, RowStep::All));
    }
    let inside = step.strip_prefix('[')?.strip_suffix(']')?;
    if inside == "header" {
        return Some((table, RowStep::Header));
    }
    let (from, to) = parse_range(inside)?;
    Some((table, RowStep::Range(from, to)))
}

fn parse_range(text: &str) -> Option<(usize, usize)> {
    let (from, to) = text.split_once('-').unwrap_or((text, text));
    let (from, to) = (whole_number(from)?, whole_number(to)?);
    (from <= to).then_some((from, to))
}

fn cell(step: &str) -> Option<CellStep> {
    if step.is_empty() {
        return Some(CellStep::All);
    }
    let inside = step.strip_prefix('[')?.strip_suffix(']')?;
    match parse_range(inside) {
        Some((from, to)) => Some(CellStep::Range(from, to)),
        None if inside.is_empty() => None,
        None => Some(CellStep::Column(namespace::decode(inside))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_and_cells_are_split_from_the_table() {
        for (address, table, steps) in [
            ("a.md::block:table[0]/row[2]", "a.md::block:table[0]", "row[2]"),
            (
                "a.md::block:table[0]/row[header]/cell[1]",
                "a.md::block:table[0]",
                "row[header]/cell[1]",
            ),
            (
                "b#x/block:table[0]/row[0-3]/cell?full=true",
                "b#x/block:table[0]?full=true",
                "row[0-3]/cell",
            ),
            ("t/row/cell[Max/cell[0] x]", "t", "row/cell[Max/cell[0]%20x]"),
            ("t/row[1]/cell[Default]", "t", "row[1]/cell[Default]"),
            ("t/row[1]/cell[0-2]", "t", "row[1]/cell[0-2]"),
            ("t/row[1]/cell[2]/page[3]?words=9", "t?page=3&words=9", "row[1]/cell[2]"),
        ] {
            let (found, parsed) = split(address).unwrap();
            assert_eq!((found.as_str(), parsed.to_string().as_str()), (table, steps), "{address}");
            let again = table.split_once('?').map_or(table, |(table, _)| table);
            assert_eq!(split(&format!("{again}/{parsed}")).map(|(_, again)| again), Some(parsed));
        }
        for address in [
            "a.md::x",
            "row[1]",
            "/row[1]",
            "t/row[x]",
            "t/row[2-1]",
            "t/cell[1]",
            "t/row[1]/cell[]",
            "t/row[1]/x",
            "t/row[1]/page[x]",
            "t/row[1]/page[1]?full=true",
        ] {
            assert_eq!(split(address), None, "{address}");
        }
    }
}
