//! Texts that contain an address, or write it in another way: lines of this program's answers, and the notations of
//! links and of other tools.
//!
//! Invariant: the results depend on the text alone and need not name anything. They apply only if the text as it is
//! names nothing.

use super::place::FRONT_MATTER_PLACE;
use super::selector::is_selector;
use super::whole_number;

/// What an answer has between an address and its titles, and between titles and an address.
const TITLES_SEPARATOR: &str = "  ";

/// What an answer has between the titles of nested sections.
const TRAIL_SEPARATOR: &str = " > ";

/// What an answer has between the line of a link and its target.
const TARGET_SEPARATOR: &str = " -> ";

/// What an answer has before an address in a list, before the address of the rest, and before that of a similar section.
const LABELS: [&str; 3] = ["- ", "more: ", "same: "];

/// What a line of an answer may name.
#[derive(Debug, Default)]
pub struct PrintedLine<'a> {
    /// The document whose lines it begins with, and the address of these lines, or of the node at its end.
    pub start: Option<(&'a str, String)>,
    /// The namespaces and addresses in it that have a document and a selector.
    pub addresses: Vec<(&'a str, &'a str)>,
    /// It without its sizes, then without its label, and then with the titles of nested sections as a path, if these are
    /// other texts.
    pub names: Vec<String>,
}

/// Returns what a line of an answer may name. It has one of these forms; addresses have no blanks.
///
/// ```text
/// PATH:LINE:COLUMN:TEXT   PATH:LINE:TEXT   PATH:START-END  TITLES
/// PATH:START-END: TITLE  ::SELECTOR   PATH:LINE  TITLES  ::SELECTOR   PATH:LINE  TITLE -> ADDRESS
/// ADDRESS  TITLE   LABEL  ADDRESS  TITLE   TITLES  ADDRESS
/// ADDRESS TITLE (SIZES)   more: ADDRESS   same: ADDRESS, 2 more   - ADDRESS TYPE ADDRESS
/// PATH (SIZES)   TITLE (SIZES)   TITLE > TITLE
/// ```
pub fn in_printed_line<'a>(line: &'a str) -> PrintedLine<'a> {
    let shown = line.trim();
    let sized = without_sizes(shown).unwrap_or(shown);
    // Text may begin like a label.
    let has_address = |text: &&str| text.contains("::") || path_and_lines(text).is_some();
    let labeled = LABELS.iter().find_map(|label| sized.strip_prefix(label)).filter(has_address);
    let text = labeled.unwrap_or(sized);
    let has_more = text.len() < shown.len();
    let address = |part: &'a str| {
        let words = part.trim().split(' ').next().map(|word| word.trim_end_matches(','));
        let address = if has_more { words? } else { part.trim() };
        let (namespace, place) = address.split_once("::")?;
        let is_place = is_selector(place) || ["*", FRONT_MATTER_PLACE].contains(&place);
        let is_address = is_place || place.starts_with("ldmd:");
        (is_address && !namespace.is_empty() && !address.contains(' ') && address != line)
            .then_some((namespace, address))
    };
    // The path of a document may begin like a label.
    let mut names = [sized, text].map(str::to_owned).to_vec();
    names.push(text.replace(TRAIL_SEPARATOR, "/"));
    names.dedup();
    names.retain(|name| name != line);
    PrintedLine {
        start: start_of(shown),
        addresses: text.split(TITLES_SEPARATOR).filter_map(address).collect(),
        names,
    }
}

/// Returns the document whose lines a line of an answer begins with, and the address of these lines. If it ends with the
/// selector of a node, it is that of the node. `None` if it has nothing else.
fn start_of(line: &str) -> Option<(&str, String)> {
    let (path, lines, rest) = path_and_lines(line)?;
    let node = line.rsplit(TITLES_SEPARATOR).next().filter(|node| {
        // A range has a node after its title, and a number has one after its titles. Other text may look like one.
        let has_node = !lines.contains(':') && lines.contains('-') == rest.starts_with(':');
        has_node && node.strip_prefix("::").is_some_and(is_selector)
    });
    let address = node.map_or_else(|| format!("{path}:{lines}"), |node| format!("{path}{node}"));
    (!rest.is_empty()).then_some((path, address))
}

/// Splits `path:LINE:COLUMN:text`, `path:START-END: text`, `path:LINE  titles` and `path:LINE` into the path, the lines and
/// what follows.
pub(super) fn path_and_lines(line: &str) -> Option<(&str, &str, &str)> {
    let length = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let ends = [TITLES_SEPARATOR, TARGET_SEPARATOR].map(|end| line.find(end));
    let first = line.get(..ends.into_iter().flatten().min().unwrap_or(line.len()))?;
    first.match_indices(':').find_map(|(colon, _)| {
        let rest = first.get(colon + 1..)?;
        let mut end = length(rest);
        if end == 0 || colon == 0 {
            return None;
        }
        if rest.get(end..)?.starts_with([':', '-']) {
            let more = length(rest.get(end + 1..)?);
            end += if more == 0 { 0 } else { more + 1 };
        }
        let is_end = matches!(rest.get(end..)?.chars().next(), None | Some(':'));
        let after = line.get(colon + 1 + end..)?;
        is_end.then(|| Some((line.get(..colon)?, rest.get(..end)?, after)))?
    })
}

/// Returns the text before sizes as answers print them: `(6-45, 1.2K)`, `(lines 3-9, 12 words)`, `(9 lines, 12 words)`. A
/// title may end with other parentheses.
fn without_sizes(text: &str) -> Option<&str> {
    let (before, rest) = text.rsplit_once(" (")?;
    let (sizes, below) = rest.split_once(')')?;
    let mut sizes = sizes.split(", ");
    let (lines, size) = (sizes.next()?, sizes.next()?);
    let is_of = |size: &str, units: &[&str]| {
        let is_digit = |scalar: char| scalar.is_ascii_digit() || scalar == '.';
        let unit = size.trim_start_matches(is_digit);
        // A large number of words is `1.2K words`.
        let counted = unit.trim_start_matches(['K', 'M']);
        unit.len() < size.len() && (units.contains(&unit) || units.contains(&counted))
    };
    let range = lines.strip_prefix("lines ").unwrap_or(lines);
    let is_range = range
        .split_once('-')
        .is_some_and(|(start, end)| whole_number(start).is_some() && whole_number(end).is_some());
    let is_sized = (is_range || is_of(lines, &[" line", " lines"]))
        && is_of(size, &["B", "K", "M", " word", " words"]);
    let count = below.strip_prefix(" +").and_then(|below| below.strip_suffix(" below"));
    let is_end = below.is_empty() || count.is_some_and(|count| whole_number(count).is_some());
    (is_sized && is_end).then_some(before)
}

/// Returns the addresses that a text may mean in another notation: a link, a page of a site, a path with backslashes, or a
/// place that a colon or a blank separates from its document.
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
    if plain.contains('\\') {
        addresses.push(plain.replace('\\', "/"));
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
    fn a_printed_line_has_the_address_of_what_it_is_about() {
        let about = |line| {
            let PrintedLine { start, addresses, names } = in_printed_line(line);
            let addresses: Vec<_> = addresses.into_iter().map(|(_, address)| address).collect();
            let start = start.map(|(_, address)| address);
            start
                .or((!addresses.is_empty()).then(|| addresses.join(" ")))
                .or(names.into_iter().next_back())
        };
        for (line, expected) in [
            ("a.md:3-4  A > B", "a.md:3-4"),
            ("a b.md:3-4  ::root", "a b.md:3-4"),
            ("a.md:3-9: ## B  ::heading:h2[0]", "a.md::heading:h2[0]"),
            ("a.md:3  A  [sh]  ::root/block:code[0]", "a.md::root/block:code[0]"),
            ("a.md:3  ::delete", "a.md:3"),
            ("a.md:3:1:text: 5", "a.md:3:1"),
            ("a.md:4:5:    x  ::heading:h2[0]", "a.md:4:5"),
            ("a.md:4:x  ::heading:h2[0]", "a.md:4"),
            ("a.md:3-9:", "a.md:3-9"),
            ("a.md:3 -> b.md::*", "a.md:3"),
            ("a.md:3  A -> b.md::heading:h2[0]  B", "a.md:3"),
            ("a.md::heading:h2[0]  B", "a.md::heading:h2[0]"),
            ("- a.md::heading:h2[0]  B b.md::*", "a.md::heading:h2[0]"),
            ("- a/b (@3)  B  a.md::heading:h2[0]", "a.md::heading:h2[0]"),
            ("Setup  a.md::*", "a.md::*"),
            ("  Setup  a.md::ldmd:x%20y", "a.md::ldmd:x%20y"),
            ("prev           a.md::heading:h2[0]  B", "a.md::heading:h2[0]"),
            ("b.md::*  a.md::*", "b.md::* a.md::*"),
            ("a.md::h2[0] B b.md::* (lines 3-4, 12 words, page 0 of pages 0-1)", "a.md::h2[0]"),
            ("a.md::@frontmatter (lines 1-4, 1.2K words)", "a.md::@frontmatter"),
            ("more: a.md::heading:h2[0]?page=1&words=9", "a.md::heading:h2[0]?page=1&words=9"),
            ("more: a.md:3-9", "a.md:3-9"),
            ("same: a.md::heading:h2[0], 2 more", "a.md::heading:h2[0]"),
            ("  - a.md::* related b.md::* inline", "a.md::*"),
            ("a.md (8 lines, 16 words)", "a.md"),
            ("  ## B > C (8-46, 1.2K) +3 below", "## B/C"),
            ("A > B", "A/B"),
        ] {
            assert_eq!(about(line).as_deref(), Some(expected), "{line}");
        }
        for line in [
            "a.md:3-4",
            "a.md",
            "A",
            "a.md:3",
            "std::vector",
            "a.md::heading:h2[0]",
            "a.md::heading:h2[0] B",
            "a.md::B  B",
            "a#b  B",
            "B (2024)",
            "B (16, 9)",
            "B (16-20, 9)",
            "Model (7B)",
            "Settings (removed in v2, 3K)",
            "Install (5 lines)",
            "Install (3-9, 12B) see the one below",
            "a.md::heading:h2[0] B (7B)",
            "- Install",
            "more: Settings",
        ] {
            assert_eq!(about(line), None, "{line}");
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
            (r"a\b.md#c", "a/b.md#c"),
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
