//! Expressions over the fields of a record: front matter, a row of a table, a task.
//!
//! `key op value` with `=`, `!=`, `<`, `<=`, `>`, `>=`, `~` or `contains`, `exists key`, `not`,
//! `and`, `or` and parentheses. Invariants: an expression that is printed and parsed again is the
//! same; a comparison on a missing key is false.

mod evaluate;
mod parse;
mod reason;

use std::fmt;

use regex::Regex;

pub use evaluate::{Datum, value_at};
pub use reason::Reason;

/// The operator of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operator {
    /// Equal.
    Equal,
    /// Not equal.
    NotEqual,
    /// Less than.
    Less,
    /// Less than or equal.
    LessOrEqual,
    /// Greater than.
    Greater,
    /// Greater than or equal.
    GreaterOrEqual,
    /// Matches a regular expression.
    Matches,
    /// Is a list that contains a value, or a string that contains a part.
    Contains,
}

impl Operator {
    /// Whether it compares which of two values is greater.
    fn is_order(self) -> bool {
        matches!(self, Self::Less | Self::LessOrEqual | Self::Greater | Self::GreaterOrEqual)
    }

    /// All operators. An operator precedes the ones that it begins with.
    const ALL: [(Self, &'static str); 8] = [
        (Self::NotEqual, "!="),
        (Self::LessOrEqual, "<="),
        (Self::GreaterOrEqual, ">="),
        (Self::Equal, "="),
        (Self::Less, "<"),
        (Self::Greater, ">"),
        (Self::Matches, "~"),
        (Self::Contains, "contains"),
    ];
}

/// The right side of a comparison.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Literal {
    /// Its text, without quotes.
    pub text: String,
    /// Whether it is in double quotes. It is then a string, even if it looks like a number.
    pub is_quoted: bool,
}

impl Literal {
    /// Whether a value may be less or greater: not a truth value or null.
    fn has_order(&self) -> bool {
        self.is_quoted || !matches!(self.text.as_str(), "true" | "false" | "null")
    }
}

/// A comparison of the value of a key.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// The key as it is written, without backquotes.
    pub key: String,
    /// The operator.
    pub operator: Operator,
    /// The right side.
    pub value: Literal,
    /// The compiled right side of [`Operator::Matches`].
    pub(super) pattern: Option<Regex>,
}

/// The pattern is compiled from the value.
impl PartialEq for Comparison {
    fn eq(&self, other: &Self) -> bool {
        (&self.key, self.operator, &self.value) == (&other.key, other.operator, &other.value)
    }
}

/// A condition on a record.
#[derive(Clone, Debug, PartialEq)]
pub enum Expression {
    /// A comparison.
    Compare(Comparison),
    /// Whether the record has a key.
    Exists(String),
    /// Whether another expression is false.
    Not(Box<Expression>),
    /// Whether all are true; at least two.
    All(Vec<Expression>),
    /// Whether any is true; at least two.
    Any(Vec<Expression>),
}

impl Expression {
    /// Returns the comparisons of the expression that are not negated.
    pub fn comparisons(&self) -> Vec<&Comparison> {
        match self {
            Self::Compare(comparison) => vec![comparison],
            Self::Exists(_) | Self::Not(_) => Vec::new(),
            Self::All(parts) | Self::Any(parts) => {
                parts.iter().flat_map(Self::comparisons).collect()
            }
        }
    }

    /// Returns the keys of the expression, as they are written.
    pub fn keys(&self) -> Vec<&str> {
        match self {
            Self::Compare(comparison) => vec![&comparison.key],
            Self::Exists(key) => vec![key],
            Self::Not(inner) => inner.keys(),
            Self::All(parts) | Self::Any(parts) => parts.iter().flat_map(Self::keys).collect(),
        }
    }

    /// Returns sets of keys such that a matching record has a key of each set. The list is empty if
    /// a record without keys can match.
    pub fn required_keys(&self) -> Vec<Vec<&str>> {
        match self {
            Self::Compare(comparison) => vec![vec![&comparison.key]],
            Self::Exists(key) => vec![vec![key]],
            Self::Not(_) => Vec::new(),
            Self::All(parts) => parts.iter().flat_map(Self::required_keys).collect(),
            Self::Any(parts) => {
                let mut union = Vec::new();
                for part in parts {
                    // One of the sets of each part is enough.
                    match part.required_keys().into_iter().next() {
                        Some(keys) => union.extend(keys),
                        None => return Vec::new(),
                    }
                }
                vec![union]
            }
        }
    }
}

/// The words that are not keys.
const KEYWORDS: [&str; 5] = ["and", "or", "not", "exists", "contains"];

fn is_keyword(word: &str) -> bool {
    KEYWORDS.iter().any(|keyword| keyword.eq_ignore_ascii_case(word))
}

/// Whether `scalar` ends a key that is not in backquotes.
fn ends_key(scalar: char) -> bool {
    scalar.is_whitespace() || "()=!<>~\"`".contains(scalar)
}

fn write_key(formatter: &mut fmt::Formatter<'_>, key: &str) -> fmt::Result {
    if key.is_empty() || key.contains(ends_key) || is_keyword(key) {
        return write!(formatter, "`{}`", key.replace('`', "``"));
    }
    formatter.write_str(key)
}

impl fmt::Display for Literal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.is_quoted {
            return formatter.write_str(&self.text);
        }
        let escaped = self.text.replace('\\', "\\\\").replace('"', "\\\"");
        write!(formatter, "\"{escaped}\"")
    }
}

impl fmt::Display for Expression {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Compare(Comparison { key, operator, value, .. }) => {
                let name = Operator::ALL.iter().find(|(other, _)| other == operator);
                write_key(formatter, key)?;
                write!(formatter, " {} {value}", name.map_or("", |(_, name)| name))
            }
            Self::Exists(key) => {
                formatter.write_str("exists ")?;
                write_key(formatter, key)
            }
            Self::Not(inner) => match **inner {
                Self::All(_) | Self::Any(_) => write!(formatter, "not ({inner})"),
                _ => write!(formatter, "not {inner}"),
            },
            Self::All(parts) => write_parts(formatter, parts, " and ", |part| {
                matches!(part, Self::All(_) | Self::Any(_))
            }),
            Self::Any(parts) => {
                write_parts(formatter, parts, " or ", |part| matches!(part, Self::Any(_)))
            }
        }
    }
}

fn write_parts(
    formatter: &mut fmt::Formatter<'_>,
    parts: &[Expression],
    separator: &str,
    needs_group: fn(&Expression) -> bool,
) -> fmt::Result {
    for (index, part) in parts.iter().enumerate() {
        if index > 0 {
            formatter.write_str(separator)?;
        }
        if needs_group(part) {
            write!(formatter, "({part})")?;
        } else {
            write!(formatter, "{part}")?;
        }
    }
    Ok(())
}
