//! Selectors: steps from a document to a node; see `mdsel help addresses`.
//!
//! Defines the grammar of steps, and which texts are selectors. Invariants: parsing, displaying and
//! parsing a selector again gives the same selector; a displayed selector contains no short forms.

use std::fmt;

use super::fault::{AddressError, FaultCode};
use super::params::split_known_params;
use super::whole_number;
use crate::limits;
use crate::markdown::outline::BlockType;
use crate::visible::quoted;

/// The kind of node that a step selects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StepKind {
    /// The text before the first heading.
    Root,
    /// Headings of a level, 1 to 6, with their sections.
    Heading(u8),
    /// Child sections.
    Section,
    /// Blocks of a type.
    Block(BlockType),
    /// Items of a list.
    Item,
    /// A page of the place before it.
    Page,
}

impl fmt::Display for StepKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Root => formatter.write_str("root"),
            Self::Heading(level) => write!(formatter, "heading:h{level}"),
            Self::Section => formatter.write_str("section"),
            Self::Block(block_type) => write!(formatter, "block:{}", block_type.name()),
            Self::Item => formatter.write_str("item"),
            Self::Page => formatter.write_str("page"),
        }
    }
}

/// Which of the nodes that match a step are selected, 0-based.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ordinal {
    /// All of them.
    All,
    /// One of them.
    One(usize),
    /// From the first to the second, inclusive.
    Range(usize, usize),
}

/// A step of a selector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// The kind of node that it selects.
    pub kind: StepKind,
    /// Which nodes of that kind.
    pub ordinal: Ordinal,
    /// The offset of the step in the selector, in Unicode scalars, 0-based.
    pub position: usize,
}

impl fmt::Display for Step {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.ordinal {
            Ordinal::All => write!(formatter, "{}", self.kind),
            Ordinal::One(index) => write!(formatter, "{}[{index}]", self.kind),
            Ordinal::Range(from, to) => write!(formatter, "{}[{from}-{to}]", self.kind),
        }
    }
}

/// Returns steps as they are written in an address.
pub fn joined(steps: &[Step]) -> String {
    steps.iter().map(ToString::to_string).collect::<Vec<_>>().join("/")
}

/// A sequence of steps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selector {
    /// The steps without a final page step; at least one.
    pub steps: Vec<Step>,
    /// The page of the last step, 0-based, if any.
    pub page: Option<usize>,
}

impl fmt::Display for Selector {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&joined(&self.steps))?;
        self.page.map_or(Ok(()), |page| write!(formatter, "/page[{page}]"))
    }
}

/// Steps that error messages give as examples.
const STEP_WORDS: [&str; 6] = ["root", "heading:h1", "section", "block:paragraph", "item", "page"];

/// Returns the kind that a short form stands for. A short form always has an index.
pub(super) fn shorthand(word: &str) -> Option<StepKind> {
    let kind = match word {
        "h1" => StepKind::Heading(1),
        "h2" => StepKind::Heading(2),
        "h3" => StepKind::Heading(3),
        "h4" => StepKind::Heading(4),
        "h5" => StepKind::Heading(5),
        "h6" => StepKind::Heading(6),
        "para" => StepKind::Block(BlockType::Paragraph),
        "quote" => StepKind::Block(BlockType::Blockquote),
        "heading" => return None,
        name => StepKind::Block(BlockType::named(name)?),
    };
    Some(kind)
}

/// Splits a step into its word and the rest: a bracket, a dot with digits, or nothing.
pub(super) fn split_word(step: &str) -> (&str, &str) {
    let bracket = step.find('[').unwrap_or(step.len());
    let dot = step.find('.').filter(|&dot| {
        let rest = step.get(dot + 1..).unwrap_or_default();
        rest.starts_with(|c: char| c.is_ascii_digit())
            && rest.chars().all(|c| c.is_ascii_digit() || c == '-')
    });
    step.split_at(dot.unwrap_or(step.len()).min(bracket))
}

/// Returns whether the first step of `locator` makes it a selector, and not a section path.
pub fn is_selector(locator: &str) -> bool {
    let first = locator.split(['/', '?']).next().unwrap_or_default();
    if first.starts_with("heading:") || first.starts_with("block:") {
        return true;
    }
    let (word, rest) = split_word(first);
    match word {
        "root" | "section" | "item" | "page" => rest.is_empty() || rest.starts_with('['),
        word => !rest.is_empty() && shorthand(word).is_some(),
    }
}

impl Selector {
    /// Parses a selector without namespace and parameters. Positions in errors and steps are
    /// offsets in `text`, in Unicode scalars.
    pub fn parse(text: &str) -> Result<Self, AddressError> {
        Self::parse_at(text, 0)
    }

    /// Parses a selector that begins at `position` in an address, in Unicode scalars.
    pub(super) fn parse_at(text: &str, position: usize) -> Result<Self, AddressError> {
        if text.is_empty() {
            return Err(AddressError::empty().at(position));
        }
        if text.ends_with('/') {
            let position = position + text.chars().count() - 1;
            let message =
                "nothing follows the last slash: leave it out, or add a step such as block:code[0]";
            return Err(AddressError::new(FaultCode::TrailingSlash, message).at(position));
        }
        let selector = Self::parse_steps(text, position)?;
        match selector.steps.first() {
            None => not_a_page_of(position),
            Some(_) => Ok(selector),
        }
    }

    /// Parses steps. A page step alone is accepted.
    fn parse_steps(text: &str, position: usize) -> Result<Self, AddressError> {
        let mut steps: Vec<Step> = Vec::new();
        let mut page = None;
        let mut position = position;
        for part in text.split('/') {
            if steps.len() == limits::MAX_SELECTOR_STEPS {
                let most = limits::row::MAX_SELECTOR_STEPS;
                let message = format!("the address has more steps than {most} allows");
                return Err(AddressError::new(FaultCode::Limit, message).at(position));
            }
            if page.is_some() {
                let message = "page can only be the last step";
                return Err(AddressError::new(FaultCode::InvalidSyntax, message).at(position));
            }
            let step = parse_step(part, position)?;
            check_order(&step, &steps)?;
            match (step.kind, step.ordinal) {
                (StepKind::Page, Ordinal::One(number)) => page = Some(number),
                _ => steps.push(step),
            }
            position += part.chars().count() + 1;
        }
        if let Some(step) = steps
            .iter()
            .rev()
            .skip(usize::from(page.is_none()))
            .find(|step| matches!(step.ordinal, Ordinal::Range(..)))
        {
            let message = format!("only the last step may have a range, not {step}");
            return Err(AddressError::new(FaultCode::InvalidSyntax, message).at(step.position));
        }
        Ok(Self { steps, page })
    }
}

/// Returns the error of a page step without a place before it.
fn not_a_page_of<T>(position: usize) -> Result<T, AddressError> {
    let message = "page needs a place before it, as in section[0]/page[1]";
    Err(AddressError::new(FaultCode::InvalidSyntax, message).at(position))
}

/// Splits `text` into a place and the longest sequence of valid steps at its end. Returns `None` if
/// it does not end in such steps. `position` is the offset of `text` in an address, in Unicode
/// scalars.
pub(super) fn split_tail(text: &str, position: usize) -> Option<(&str, Selector)> {
    tails(text).into_iter().find_map(|(base, tail)| {
        let position = position + base.chars().count() + 1;
        let selector = Selector::parse_steps(tail, position).ok()?;
        (!begins_with_root(&selector)).then_some((base, selector))
    })
}

/// Returns each split of `text` into a place and steps at its end that are valid by themselves, most steps first.
fn tails(text: &str) -> Vec<(&str, &str)> {
    let mut rest = text;
    let mut tails = Vec::new();
    while tails.len() < limits::MAX_SELECTOR_STEPS
        && let Some((base, step)) = rest.rsplit_once('/')
        && !base.is_empty()
        && parse_step(step, 0).is_ok()
    {
        tails.extend(text.get(base.len() + 1..).map(|tail| (base, tail)));
        rest = base;
    }
    tails.reverse();
    tails
}

fn begins_with_root(selector: &Selector) -> bool {
    selector.steps.first().is_some_and(|step| step.kind == StepKind::Root)
}

/// Returns the error of the steps that follow a place in `address`, if one of them cannot be where it is. Words
/// without an index are steps only after the name of a document, because elsewhere they may be parts of a path.
pub fn misplaced_step(address: &str) -> Option<AddressError> {
    let text = split_known_params(address).map_or(address, |(text, _)| text);
    let (base, tail) = tails(text).into_iter().next()?;
    if !base.contains("::") && !tail.contains(['[', '.', ':']) {
        return None;
    }
    let position = base.chars().count() + 1;
    match Selector::parse_steps(tail, position) {
        Err(fault) => Some(fault),
        Ok(selector) => begins_with_root(&selector).then(|| root_is_first(position)),
    }
}

/// Returns the error of a root step that follows something.
fn root_is_first(position: usize) -> AddressError {
    let message = "root can only be the first step";
    AddressError::new(FaultCode::InvalidSyntax, message).at(position)
}

/// Returns an error if the step cannot follow `before`.
fn check_order(step: &Step, before: &[Step]) -> Result<(), AddressError> {
    let previous = before.last().map(|step| step.kind);
    let message = match step.kind {
        StepKind::Root if previous.is_some() => return Err(root_is_first(step.position)),
        StepKind::Item if previous != Some(StepKind::Block(BlockType::List)) => {
            "item can only follow a list, as in block:list[0]/item[2]".to_owned()
        }
        StepKind::Page if !matches!(step.ordinal, Ordinal::One(_)) => {
            "page needs one number, as in page[0]".to_owned()
        }
        _ => return Ok(()),
    };
    Err(AddressError::new(FaultCode::InvalidSyntax, message).at(step.position))
}

pub(super) fn parse_step(text: &str, position: usize) -> Result<Step, AddressError> {
    let (word, rest) = split_word(text);
    let is_dotted = rest.starts_with('.');
    let fault = |code, message: String| Err(AddressError::new(code, message).at(position));
    let kind = if let Some(level) = word.strip_prefix("heading:") {
        let digits = level.strip_prefix('h').unwrap_or_default();
        match digits.parse::<u8>() {
            Ok(level @ 1..=6) if digits.len() == 1 => StepKind::Heading(level),
            _ => {
                let message = format!(
                    "{level} is not a heading level; the levels are h1 to h6",
                    level = quoted(&level)
                );
                return fault(FaultCode::InvalidHeadingLevel, message);
            }
        }
    } else if let Some(name) = word.strip_prefix("block:") {
        match BlockType::named(name) {
            Some(block_type) => StepKind::Block(block_type),
            None => {
                let names = BlockType::ALL.map(BlockType::name).join(", ");
                let message = format!(
                    "{name} is not a block type; the types are {names}",
                    name = quoted(&name)
                );
                return fault(FaultCode::InvalidBlockType, message);
            }
        }
    } else {
        match (word, shorthand(word)) {
            ("root", _) if rest.is_empty() => StepKind::Root,
            ("section", _) if !is_dotted => StepKind::Section,
            ("item", _) if !is_dotted => StepKind::Item,
            ("page", _) if !is_dotted => StepKind::Page,
            (_, Some(kind)) if !rest.is_empty() => kind,
            ("", _) => return fault(FaultCode::InvalidSyntax, "a step is empty".to_owned()),
            ("row" | "cell", _) => {
                let message = format!(
                    "{text} is not a step here; row[N], row[N-M] or row[header], and after it \
                     cell[N] or cell[COLUMN], end the address of a table",
                    text = quoted(&text)
                );
                return fault(FaultCode::InvalidSyntax, message);
            }
            _ => {
                let message = format!(
                    "{text} is not a step; steps are {}, ...",
                    STEP_WORDS.join(", "),
                    text = quoted(&text)
                );
                return fault(FaultCode::InvalidSyntax, message);
            }
        }
    };
    let at = position + word.chars().count();
    let ordinal = if let Some(dotted) = rest.strip_prefix('.') {
        parse_ordinal(dotted, at + 1)?
    } else if let Some(bracketed) = rest.strip_prefix('[') {
        let Some((inner, after)) = bracketed.split_once(']') else {
            let message = "the bracket is not closed: write ] after the index, as in section[0]";
            return Err(AddressError::new(FaultCode::UnclosedBracket, message).at(at));
        };
        if !after.is_empty() {
            let position = at + 2 + inner.chars().count();
            let message = format!("{after} follows the index", after = quoted(&after));
            return Err(AddressError::new(FaultCode::InvalidSyntax, message).at(position));
        }
        parse_ordinal(inner, at + 1)?
    } else {
        Ordinal::All
    };
    Ok(Step { kind, ordinal, position })
}

fn parse_ordinal(text: &str, position: usize) -> Result<Ordinal, AddressError> {
    let fault =
        |message: String| Err(AddressError::new(FaultCode::InvalidIndex, message).at(position));
    match text.split_once('-') {
        None => match whole_number(text) {
            Some(index) => Ok(Ordinal::One(index)),
            None => fault(format!(
                "{text} is not an index: write a number, as in [0], or a range, as in [0-2]",
                text = quoted(&text)
            )),
        },
        Some((from, to)) => match (whole_number(from), whole_number(to)) {
            (Some(from), Some(to)) if from <= to => Ok(Ordinal::Range(from, to)),
            (Some(_), Some(_)) => {
                fault(format!("{text} ends before it begins", text = quoted(&text)))
            }
            _ => fault(format!("{text} is not a range such as 0-2", text = quoted(&text))),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> String {
        Selector::parse(text).map_or_else(
            |fault| format!("{} at {}", fault.code.code(), fault.position.unwrap_or(usize::MAX)),
            |selector| selector.to_string(),
        )
    }

    #[test]
    fn short_forms_are_displayed_in_full() {
        for text in [
            "root",
            "root/block:paragraph[0]",
            "heading:h2[1]/section[0]/block:code[0]",
            "heading:h6",
            "section[2]/page[1]",
            "block:list[0]/item[3]/block:code[1]",
            "heading:h1[0-3]",
            "block:blockquote[0]/block:heading[0]",
        ] {
            assert!(is_selector(text), "{text}");
            assert_eq!(parsed(text), text);
        }
        for (short, long) in [
            ("h2[1]", "heading:h2[1]"),
            ("h2.1", "heading:h2[1]"),
            ("h2.1-3", "heading:h2[1-3]"),
            ("code.0", "block:code[0]"),
            ("para[0]", "block:paragraph[0]"),
            ("quote[0]/para.1", "block:blockquote[0]/block:paragraph[1]"),
        ] {
            assert!(is_selector(short), "{short}");
            assert_eq!(parsed(short), long);
        }
    }

    #[test]
    fn the_first_step_decides_what_is_a_selector() {
        for text in
            ["code", "h2", "heading", "sections", "root.1", "code.rs", "h2.x", "h7[0]", "a/root"]
        {
            assert!(!is_selector(text), "{text}");
        }
    }

    #[test]
    fn every_syntax_error_has_a_position() {
        for (text, expected) in [
            ("", "EMPTY_SELECTOR at 0"),
            ("heading:h7[0]", "INVALID_HEADING_LEVEL at 0"),
            ("heading:h0", "INVALID_HEADING_LEVEL at 0"),
            ("heading:two", "INVALID_HEADING_LEVEL at 0"),
            ("root/block:picture[0]", "INVALID_BLOCK_TYPE at 5"),
            ("heading:h2[x]", "INVALID_INDEX at 11"),
            ("heading:h2[-1]", "INVALID_INDEX at 11"),
            ("heading:h2[]", "INVALID_INDEX at 11"),
            ("heading:h2[3-1]", "INVALID_INDEX at 11"),
            ("heading:h2[1", "UNCLOSED_BRACKET at 10"),
            ("heading:h2[1]/", "TRAILING_SLASH at 13"),
            ("heading:h2[1]x", "INVALID_SYNTAX at 13"),
            ("heading:h2[1]//block:code", "INVALID_SYNTAX at 14"),
            ("heading:h2[1]/root", "INVALID_SYNTAX at 14"),
            ("root[0]", "INVALID_SYNTAX at 0"),
            ("item[0]", "INVALID_SYNTAX at 0"),
            ("section[0]/item[0]", "INVALID_SYNTAX at 11"),
            ("page[0]", "INVALID_SYNTAX at 0"),
            ("section[0]/page", "INVALID_SYNTAX at 11"),
            ("section[0]/page[0]/page[1]", "INVALID_SYNTAX at 19"),
            ("section[0-1]/block:code[0]", "INVALID_SYNTAX at 0"),
            ("section[0]/intro", "INVALID_SYNTAX at 11"),
        ] {
            assert_eq!(parsed(text), expected, "{text:?}");
        }
    }

    #[test]
    fn an_index_too_large_for_the_type_is_accepted() {
        assert!(Selector::parse("section[99999999999999999999999]").is_ok());
    }
}
