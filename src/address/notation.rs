//! Texts that contain an address, or write it in another way: lines of this program's answers, and the notations of
//! links and of other tools.
//!
//! Invariant: the results depend on the text alone and need not name anything. They apply only if the text as it is
//! names nothing.

use super::selector::is_selector;
use super::whole_number;

/// What an answer has between an address and its titles, and between a title and an address.
const TITLES_SEPARATOR: &str = "  ";

/// What an answer has between the titles of nested sections.
const TRAIL_SEPARATOR: &str = " > ";

/// The place that a line of an answer begins with, as in `path:LINE:COLUMN:text`.
#[derive(Debug)]
pub struct PlaceBeforeText<'a> {
    /// The name of a document.
    pub document: &'a str,
    /// The addresses of the node at the end of the line, if it has one, and of the lines.
    pub addresses: Vec<String>,
    /// Whether a colon follows.
    pub is_before_text: bool,
}

/// Returns the lines of a document that a line of an answer begins with, if it has more text.
pub fn place_before_text(line: &str) -> Option<PlaceBeforeText<'_>> {
    let mut parts = line.split(TITLES_SEPARATOR);
    let first = parts.next()?;
    let (document, lines) = path_and_lines(first)?;
    let place = format!("{document}:{lines}");
    if place == line {
        return None;
    }
    // A pattern search prints a column, and no node after the text.
    let node = parts.last().map(str::trim);
    let node = node.filter(|node| node.starts_with("::") && !lines.contains(':'));
    let is_before_text = first.get(place.len()..)?.starts_with(':');
    let node = node.map(|node| format!("{document}{node}"));
    let addresses: Vec<String> = node.into_iter().chain([place]).collect();
    Some(PlaceBeforeText { document, addresses, is_before_text })
}

/// Returns the addresses that a line of an answer may contain: of a section that was found, a suggestion, a candidate, or
/// a node.
pub fn in_printed_line(line: &str) -> Vec<String> {
    let parts = line.split(TITLES_SEPARATOR).map(str::trim);
    parts.filter(|part| !part.is_empty() && *part != line).map(str::to_owned).collect()
}

/// Returns the titles of nested sections in a line of an answer as a path.
pub fn titles_in_printed_line(line: &str) -> Option<String> {
    line.contains(TRAIL_SEPARATOR).then(|| line.replace(TRAIL_SEPARATOR, "/"))
}

/// Splits `path:LINE:COLUMN:text`, `path:START-END: text` and `path:LINE` into the path and the lines.
pub(super) fn path_and_lines(line: &str) -> Option<(&str, &str)> {
    let length = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    line.match_indices(':').find_map(|(colon, _)| {
        let rest = line.get(colon + 1..)?;
        let mut end = length(rest);
        if end == 0 || colon == 0 {
            return None;
        }
        if rest.get(end..)?.starts_with([':', '-']) {
            let more = length(rest.get(end + 1..)?);
            end += if more == 0 { 0 } else { more + 1 };
        }
        let is_end = matches!(rest.get(end..)?.chars().next(), None | Some(':'));
        is_end.then(|| Some((line.get(..colon)?, rest.get(..end)?)))?
    })
}

/// Returns the addresses that a text may mean in another notation: a link, a page of a site, or a place that a colon or a
/// blank separates from its document.
pub fn other_notations(text: &str) -> Vec<String> {
    let link = in_link(text);
    let plain = link.unwrap_or(text);
    let mut addresses: Vec<String> = link.map(str::to_owned).into_iter().collect();
    for ending in [".html", ".htm"] {
        if let Some((page, rest)) = plain.split_once(ending)
            && (rest.is_empty() || rest.starts_with('#'))
        {
            addresses.push(format!("{page}{rest}"));
        }
    }
    let mut separators = plain.match_indices([':', ' ']).filter(|(at, _)| *at > 0);
    addresses.extend(separators.find_map(|(at, _)| {
        let (document, place) = (plain.get(..at)?, plain.get(at + 1..)?.trim_start());
        is_selector(place).then(|| format!("{}::{place}", document.trim_end_matches([':', ' '])))
    }));
    addresses
}

/// Returns the target of a wikilink or a link.
pub fn in_link(text: &str) -> Option<&str> {
    let text = text.trim().trim_start_matches('!');
    if let Some(inside) = text.strip_prefix("[[").and_then(|rest| rest.strip_suffix("]]")) {
        return Some(inside.split('|').next().unwrap_or(inside));
    }
    let (_, target) = text.strip_prefix('[')?.strip_suffix(')')?.split_once("](")?;
    let target = target.split(" \"").next().unwrap_or(target).trim();
    Some(target.strip_prefix('<').and_then(|rest| rest.strip_suffix('>')).unwrap_or(target))
}

/// Parses lines in the notations of other tools, such as `L5-L10`, `5..10`, `5,10`, `5-` and `@5-10`, into the first line
/// and the last one, if there is one.
pub fn lines_in_other_notation(text: &str) -> Option<(usize, Option<usize>)> {
    let number = |text: &str| whole_number(text.strip_prefix(['L', 'l']).unwrap_or(text));
    let text = text.strip_prefix('@').unwrap_or(text);
    let Some(separator) = ["..", "-", ","].into_iter().find(|one| text.contains(one)) else {
        return number(text).map(|line| (line, Some(line)));
    };
    let (start, end) = text.split_once(separator)?;
    let end = if end.is_empty() { None } else { Some(number(end)?) };
    Some((number(start)?, end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn printed_lines_contain_addresses() {
        for (line, address) in [
            ("a.md:3-4  A > B", "a.md:3-4"),
            ("a.md:3-9: ## B  ::heading:h2[0]", "a.md::heading:h2[0]"),
            ("a.md:3  A  [sh]  ::root/block:code[0]", "a.md::root/block:code[0]"),
            ("a.md::heading:h2[0]  B", "a.md::heading:h2[0]"),
            ("a/b (@3)  B  a.md::heading:h2[0]", "a.md::heading:h2[0]"),
            ("a.md:3:1:text: 5", "a.md:3:1"),
            ("a.md:3-9:", "a.md:3-9"),
            ("Setup  a.md::*", "a.md::*"),
            ("prev           a.md::heading:h2[0]  B", "a.md::heading:h2[0]"),
        ] {
            let before_text = place_before_text(line).map(|start| start.addresses);
            let found = before_text.unwrap_or_else(|| in_printed_line(line));
            assert!(found.iter().any(|found| found == address), "{line}");
        }
        for line in ["a.md:3-4", "a.md", "A", "a.md:3", "std::vector"] {
            assert!(in_printed_line(line).is_empty(), "{line}: {:?}", in_printed_line(line));
            assert!(place_before_text(line).is_none(), "{line}");
        }
        let hit = place_before_text("a.md:4:5:    x  ::heading:h2[0]").unwrap();
        assert_eq!(hit.addresses, ["a.md:4:5"], "the text of a hit has no node");
        for (line, path) in
            [("A > B", Some("A/B")), ("a.md::A > B", Some("a.md::A/B")), ("A", None)]
        {
            assert_eq!(titles_in_printed_line(line).as_deref(), path, "{line}");
        }
    }

    #[test]
    fn other_notations_contain_addresses() {
        for (text, address) in [
            ("[[Note#Part|shown]]", "Note#Part"),
            ("![[Note]]", "Note"),
            ("[text](a.md#b \"Title\")", "a.md#b"),
            ("[text](<a b.html#c>)", "a b#c"),
            ("a.html#b", "a#b"),
            ("a.md:heading:h3[6]", "a.md::heading:h3[6]"),
            ("a.md h3[6]", "a.md::h3[6]"),
            ("a.md: block:code[0]", "a.md::block:code[0]"),
        ] {
            assert!(other_notations(text).iter().any(|found| found == address), "{text}");
        }
        for text in ["a.md", "a b", "std::vector", ":h2[0]", "a.htmlx"] {
            assert!(other_notations(text).is_empty(), "{text}: {:?}", other_notations(text));
        }
    }

    #[test]
    fn lines_in_the_notations_of_other_tools() {
        for (text, lines) in [
            ("L5-L10", Some((5, Some(10)))),
            ("L5", Some((5, Some(5)))),
            ("@5-10", Some((5, Some(10)))),
            ("5-", Some((5, None))),
            ("5,10", Some((5, Some(10)))),
            ("5..10", Some((5, Some(10)))),
            ("5-x", None),
            ("-5", None),
            ("2024-01-05", None),
            ("", None),
        ] {
            assert_eq!(lines_in_other_notation(text), lines, "{text}");
        }
    }
}
