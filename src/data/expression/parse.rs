//! Parses expressions.
//!
//! Invariants: time is linear in the length of the text; the depth of the recursion is bounded; an
//! error names the column, in Unicode scalars, 1-based.

use regex::RegexBuilder;

use super::{Comparison, Expression, KEYWORDS, Literal, Operator, ends_key, is_keyword};
use crate::data::scalar;
use crate::error::{Error, ErrorKind, Result};
use crate::limits;
use crate::message::{Message, message};
use crate::visible::quoted;

/// The hint of an error that has no better one.
const FORM: &str = "write `key op value` with the operators = != < <= > >= ~ contains, or `exists \
    key`, joined by and, or, not and parentheses{; see mdsel help data|}";

impl Expression {
    /// Parses `text`.
    pub fn parse(text: &str) -> Result<Self> {
        if text.len() > limits::MAX_EXPRESSION_BYTES {
            return Err(limits::exceeded(limits::row::MAX_EXPRESSION_BYTES));
        }
        let mut parser = Parser { text, position: 0, depth: 0 };
        let expression = parser.any()?;
        parser.skip_blanks();
        if parser.rest().is_empty() {
            return Ok(expression);
        }
        Err(if parser.rest().starts_with(')') {
            parser.fault("a parenthesis closes that was not opened", FORM)
        } else {
            let hint = match parser.rest() {
                rest if rest.starts_with("&&") => "write and instead of &&",
                rest if rest.starts_with("||") => "write or instead of ||",
                _ => {
                    "join comparisons with `and` or `or`; put a value with blanks in double quotes"
                }
            };
            parser.fault(&format!("{} is not expected here", quoted(parser.word())), hint)
        })
    }
}

struct Parser<'a> {
    text: &'a str,
    /// Offset of the first byte that is not parsed yet.
    position: usize,
    /// The number of open parentheses and of `not`.
    depth: usize,
}

impl<'a> Parser<'a> {
    fn rest(&self) -> &'a str {
        self.text.get(self.position..).unwrap_or_default()
    }

    /// Returns `message` with the column of the next scalar.
    fn placed(&self, message: &str) -> String {
        let column = self.text.get(..self.position).map_or(0, |text| text.chars().count()) + 1;
        format!("expression {}, column {column}: {message}", quoted(self.text))
    }

    fn fault(&self, message: &str, hint: impl Into<Message>) -> Error {
        Error::new(ErrorKind::InvalidExpression, self.placed(message)).with_hint(hint)
    }

    fn skip_blanks(&mut self) {
        let rest = self.rest();
        self.position += rest.len() - rest.trim_start().len();
    }

    /// Returns the next word: everything up to the next blank or mark.
    fn word(&self) -> &'a str {
        let rest = self.rest();
        let end = rest.find(ends_key).unwrap_or(rest.len());
        let end = if end == 0 { rest.chars().next().map_or(0, char::len_utf8) } else { end };
        rest.get(..end).unwrap_or_default()
    }

    fn takes_keyword(&mut self, keyword: &str) -> bool {
        self.skip_blanks();
        let takes = self.word().eq_ignore_ascii_case(keyword);
        if takes {
            self.position += keyword.len();
        }
        takes
    }

    fn any(&mut self) -> Result<Expression> {
        let mut parts = vec![self.all()?];
        while self.takes_keyword("or") {
            parts.push(self.all()?);
        }
        Ok(single(parts).unwrap_or_else(Expression::Any))
    }

    fn all(&mut self) -> Result<Expression> {
        let mut parts = vec![self.negation()?];
        while self.takes_keyword("and") {
            parts.push(self.negation()?);
        }
        Ok(single(parts).unwrap_or_else(Expression::All))
    }

    fn negation(&mut self) -> Result<Expression> {
        self.depth += 1;
        if self.depth > limits::MAX_EXPRESSION_NESTING {
            return Err(limits::exceeded(limits::row::MAX_EXPRESSION_NESTING));
        }
        let expression = if self.takes_keyword("not") {
            Expression::Not(Box::new(self.negation()?))
        } else {
            self.term()?
        };
        self.depth -= 1;
        Ok(expression)
    }

    fn term(&mut self) -> Result<Expression> {
        self.skip_blanks();
        if self.rest().starts_with('(') {
            let start = self.position;
            self.position += 1;
            let inner = self.any()?;
            self.skip_blanks();
            if !self.rest().starts_with(')') {
                if self.rest().is_empty() {
                    self.position = start;
                    return Err(self.fault("this parenthesis is not closed", "close it with )"));
                }
                return Err(self.fault("expected and, or or )", FORM));
            }
            self.position += 1;
            return Ok(inner);
        }
        if self.takes_keyword("exists") {
            self.skip_blanks();
            if self.rest().starts_with('(') {
                return Err(self.fault("expected a key, found \"(\"", "write `exists key`"));
            }
            return self.key().map(Expression::Exists);
        }
        let key = self.key()?;
        let operator = self.operator(&key)?;
        self.skip_blanks();
        let start = self.position;
        let value = self.value()?;
        if operator.is_order()
            && !value.is_quoted
            && let Some((wanted, hint)) = looks_like(&value.text)
        {
            self.position = start;
            return Err(self.fault(&format!("{} is not {wanted}", quoted(&value.text)), hint));
        }
        let pattern = match operator {
            Operator::Matches => Some(pattern(&value.text, |message| {
                self.position = start;
                self.placed(message)
            })?),
            _ => None,
        };
        Ok(Expression::Compare(Comparison { key, operator, value, pattern }))
    }

    fn key(&mut self) -> Result<String> {
        self.skip_blanks();
        let rest = self.rest();
        if rest.starts_with('`') {
            let start = self.position;
            self.position += 1;
            let key = self.quoted('`', |next| (next == '`').then_some('`'));
            return key.ok_or_else(|| {
                self.position = start;
                self.fault("this backquote is not closed", "write a key with blanks as `a key`")
            });
        }
        let end = rest.find(ends_key).unwrap_or(rest.len());
        let key = rest.get(..end).unwrap_or_default();
        if key.is_empty() || is_keyword(key) {
            let found = if rest.is_empty() { "the end" } else { self.word() };
            let hint = message!(
                "put a key that is one of {}, or has blanks or marks, in backquotes; {}",
                KEYWORDS.join(", "),
                Message::from(FORM)
            );
            return Err(
                self.fault(&format!("expected a key, found {found}", found = quoted(&found)), hint)
            );
        }
        self.position += end;
        Ok(key.to_owned())
    }

    fn operator(&mut self, key: &str) -> Result<Operator> {
        self.skip_blanks();
        for (operator, name) in Operator::ALL {
            let takes = if operator == Operator::Contains {
                self.word().eq_ignore_ascii_case(name)
            } else {
                self.rest().starts_with(name)
            };
            if takes {
                self.position += name.len();
                // `==` is what other languages write for `=`.
                if operator == Operator::Equal && self.rest().starts_with('=') {
                    self.position += 1;
                }
                return Ok(operator);
            }
        }
        let written = Expression::Exists(key.to_owned()).to_string();
        let name = written.trim_start_matches("exists ");
        let comparison = |rest: &str| form(&format!("{name} {rest}"));
        let hint = if let Some(quoted) = key.strip_prefix('\'') {
            let rest = self.text.split_once(key).map_or("", |(_, rest)| rest);
            let whole = format!("{quoted}{rest}");
            let quoted = whole.split('\'').next().unwrap_or_default();
            format!("put a key with blanks in backquotes: `{quoted}`").into()
        } else {
            match self.word().to_ascii_lowercase().as_str() {
                "like" | "ilike" | "matches" => {
                    let (pattern, part) = (comparison("~ pattern"), comparison("contains part"));
                    format!("write {pattern} for a regular expression, or {part}").into()
                }
                "is" => {
                    let (value, null) = (comparison("= value"), comparison("= null"));
                    format!("write {value}, or {null} for a key without a value").into()
                }
                "between" => {
                    let range = form(&format!("{name} >= x and {name} <= y"));
                    format!("write {range}").into()
                }
                "!" | "≠" | "≤" | "≥" => {
                    let either = [comparison("!= x"), comparison("<= x"), comparison(">= x")];
                    let not = form(&format!("not {name} ~ pattern"));
                    format!("write {}, or {not}", either.join(", ")).into()
                }
                "in" => {
                    let either = form(&format!("{name} = x or {name} = y"));
                    format!("write {either} for a value that is one of several").into()
                }
                _ => message!(
                    "write {} for documents with the key; put a key with blanks in backquotes; {}",
                    form(&written),
                    Message::from(FORM)
                ),
            }
        };
        Err(self
            .fault(&format!("expected an operator after the key {key}", key = quoted(&key)), hint))
    }

    fn value(&mut self) -> Result<Literal> {
        self.skip_blanks();
        let rest = self.rest();
        if rest.starts_with('"') {
            let start = self.position;
            self.position += 1;
            let text = self.quoted('\\', |next| matches!(next, '"' | '\\').then_some(next));
            return match text {
                Some(text) => Ok(Literal { text, is_quoted: true }),
                None => {
                    self.position = start;
                    Err(self.fault("this quote is not closed", "end the value with \""))
                }
            };
        }
        let mut open = 0_usize;
        let end = rest.find(|scalar: char| {
            match scalar {
                '(' => open += 1,
                ')' if open == 0 => return true,
                ')' => open -= 1,
                _ => {}
            }
            scalar.is_whitespace()
        });
        let text = rest.get(..end.unwrap_or(rest.len())).unwrap_or_default();
        if text.is_empty() || text.starts_with(begins_no_value) {
            let before = self.text.get(..self.position).unwrap_or_default();
            let hint = match (before.chars().next_back(), text.chars().next()) {
                (Some('<'), Some('>')) | (Some('='), Some('!')) => "write != for not equal",
                (Some('='), Some('<')) => "write <= for less than or equal",
                (Some('='), Some('>')) => "write >= for greater than or equal",
                (_, Some('\'')) => "write the value in double quotes",
                _ => "put a value that is empty, has blanks or begins with a mark in double quotes",
            };
            return Err(self.fault("expected a value", hint));
        }
        self.position += text.len();
        Ok(Literal { text: text.to_owned(), is_quoted: false })
    }

    /// Returns the text up to the closing mark, which is a double quote if the escape is a
    /// backslash, and else the escape itself. `escaped` returns what an escape and the scalar after
    /// it stand for. Returns `None` if the text is not closed.
    fn quoted(&mut self, escape: char, escaped: impl Fn(char) -> Option<char>) -> Option<String> {
        let close = if escape == '\\' { '"' } else { escape };
        let mut text = String::new();
        let mut scalars = self.rest().char_indices().peekable();
        while let Some((at, scalar)) = scalars.next() {
            let next = scalars.peek().and_then(|&(_, next)| escaped(next));
            match next {
                Some(next) if scalar == escape => {
                    scalars.next();
                    text.push(next);
                }
                _ if scalar == close => {
                    self.position += at + scalar.len_utf8();
                    return Some(text);
                }
                _ => text.push(scalar),
            }
        }
        None
    }
}

/// Returns an expression as a hint shows it: in backquotes, unless it has some.
pub(super) fn form(text: &str) -> String {
    if text.contains('`') { text.to_owned() } else { format!("`{text}`") }
}

/// Returns the pattern `text`. `placed` returns the message of an error with the column of the pattern.
fn pattern(text: &str, placed: impl FnOnce(&str) -> String) -> Result<regex::Regex> {
    let fault = |message: String| {
        Error::new(ErrorKind::InvalidPattern, placed(&message))
            .with_hint("escape the characters of plain text with \\{; see mdsel help search|}")
    };
    if text.len() > limits::MAX_PATTERN_BYTES {
        return Err(limits::exceeded(limits::row::MAX_PATTERN_BYTES));
    }
    RegexBuilder::new(text)
        .size_limit(limits::MAX_PATTERN_MEMORY_BYTES)
        .dfa_size_limit(limits::MAX_PATTERN_MEMORY_BYTES / 4)
        .nest_limit(limits::PATTERN_NESTING)
        .build()
        .map_err(|error| match error {
            regex::Error::CompiledTooBig(_) => {
                limits::exceeded(limits::row::MAX_PATTERN_MEMORY_BYTES)
            }
            error => {
                let reason = error.to_string();
                let reason = reason.lines().last().unwrap_or_default();
                let reason = reason.trim_start_matches("error: ");
                fault(format!("{text} is not a regular expression: {reason}", text = quoted(&text)))
            }
        })
}

/// Whether `scalar` cannot begin a value that is not in quotes.
fn begins_no_value(scalar: char) -> bool {
    "=<>~!'".contains(scalar)
}

/// Whether `text` means a date that depends on the day on which it is read.
fn is_relative_date(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    ["today", "now", "yesterday", "tomorrow"].contains(&text.as_str()) || text.starts_with("date(")
}

/// Returns what `text` looks like but is not, and a hint: a date that does not exist, or a number with a unit, a
/// percentage, a price or a version. The order of its letters is not the order of what it means.
fn looks_like(text: &str) -> Option<(&'static str, &'static str)> {
    const DATE: (&str, &str) =
        ("a date", "write a date, as in due < 2026-06-01; a text is written in double quotes");
    const NUMBER: (&str, &str) = (
        "a number or a date",
        "write the number alone, as in size < 1200.5; a text is written in double quotes, and compared letter by letter",
    );
    if is_relative_date(text) {
        return Some(DATE);
    }
    if scalar::type_name(text) != "string" {
        return None;
    }
    let digits = text.trim_start_matches(|scalar| "+-−$€£¥#".contains(scalar));
    let rest = digits.trim_start_matches(|scalar: char| scalar.is_ascii_digit());
    match digits.len() - rest.len() {
        0 => None,
        4 if rest.starts_with('-') => {
            rest[1..].starts_with(|first: char| first.is_ascii_digit()).then_some(DATE)
        }
        // The order of `2026-Q1`, `2026/05/20` and `09:30` is that of their letters.
        4 if rest.starts_with('/') => None,
        2 if rest.starts_with(':') => None,
        _ => Some(NUMBER),
    }
}

/// Returns the only part, or all of them if there are several.
fn single(mut parts: Vec<Expression>) -> std::result::Result<Expression, Vec<Expression>> {
    if parts.len() == 1 { parts.pop().ok_or(parts) } else { Err(parts) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn printed(text: &str) -> String {
        Expression::parse(text).unwrap().to_string()
    }

    #[test]
    fn not_binds_before_and_and_and_before_or() {
        let parsed = Expression::parse("a = 1 or not b=2 and c<3").unwrap();
        let Expression::Any(parts) = &parsed else { panic!("{parsed:?}") };
        assert!(matches!(&parts[1], Expression::All(all) if matches!(all[0], Expression::Not(_))));
        assert_eq!(printed("a = 1 or not b=2 and c<3"), "a = 1 or not b = 2 and c < 3");
        assert_eq!(printed("NOT (a=1 OR b=2) AND c=3"), "not (a = 1 or b = 2) and c = 3");
    }

    #[test]
    fn keys_and_values_may_contain_marks() {
        for (text, expected) in [
            ("`Due date`>=2026-01-31", "`Due date` >= 2026-01-31"),
            ("`a``b`==\"x \\\" \\\\ y\"", "`a``b` = \"x \\\" \\\\ y\""),
            ("url = https://a.b/c?d=e", "url = https://a.b/c?d=e"),
            ("t ~ ^(a|b)c$", "t ~ ^(a|b)c$"),
            ("(t ~ x)", "t ~ x"),
            ("`not` contains or", "`not` contains or"),
            ("a.b != c", "a.b != c"),
            ("a == b", "a = b"),
            ("when = today", "when = today"),
            ("when < \"today\"", "when < \"today\""),
            ("v = 1.10.2", "v = 1.10.2"),
            ("v < \"1.10.2\"", "v < \"1.10.2\""),
            ("v < v1.10.2", "v < v1.10.2"),
            ("q < 2026-Q1", "q < 2026-Q1"),
            ("q >= 2026/05/20", "q >= 2026/05/20"),
            ("t > 09:30", "t > 09:30"),
            ("when < \"2026-06-31\"", "when < \"2026-06-31\""),
            ("exists `exists`", "exists `exists`"),
            ("ключ = значение", "ключ = значение"),
        ] {
            assert_eq!(printed(text), expected, "{text}");
        }
    }

    #[test]
    fn errors_name_the_column() {
        for (text, column, part) in [
            ("", 1, "expected a key"),
            ("a", 2, "expected an operator after the key \"a\""),
            ("ä = 1 b = 2", 7, "\"b\" is not expected"),
            ("a =", 4, "expected a value"),
            ("a = 'b c'", 5, "expected a value"),
            ("a => 1", 4, "expected a value"),
            ("a <> 1", 4, "expected a value"),
            ("a && b", 3, "expected an operator"),
            ("ä < today", 5, "\"today\" is not a date"),
            ("a > date(now)", 5, "is not a date"),
            ("a <= 2026-06-31", 6, "\"2026-06-31\" is not a date"),
            ("a <= 2026-6-30", 6, "is not a date"),
            ("a < 2026-13", 5, "is not a date"),
            ("a < 2026-01-31T25:00", 5, "is not a date"),
            ("ä < 31/01/2026", 5, "\"31/01/2026\" is not a number or a date"),
            ("a < 1,000", 5, "is not a number or a date"),
            ("a > 40%", 5, "is not a number or a date"),
            ("a >= $5", 6, "is not a number or a date"),
            ("a >= 1.10.2", 6, "is not a number or a date"),
            ("exists(a)", 7, "expected a key"),
            ("(a = 1", 1, "not closed"),
            ("a = 1)", 6, "was not opened"),
            ("a = \"b", 5, "quote is not closed"),
            ("`a = 1", 1, "backquote is not closed"),
            ("a = 1 and", 10, "expected a key, found \"the end\""),
            ("not", 4, "expected a key"),
        ] {
            let error = Expression::parse(text).unwrap_err().to_string();
            assert!(error.contains(&format!("column {column}: ")), "{text}: {error}");
            assert!(error.contains(part), "{text}: {error}");
        }
        let pattern = Expression::parse("a ~ (b").unwrap_err();
        assert_eq!(pattern.kind(), ErrorKind::InvalidPattern);
        let pattern = Expression::parse("é = 1 and b ~ \"x (\"").unwrap_err().to_string();
        assert!(pattern.contains("column 15: \"x (\" is not a regular expression"), "{pattern}");
        assert!(Expression::parse(&"not ".repeat(500)).unwrap_err().to_string().contains("limit"));
        assert!(
            Expression::parse("a ~ (((x{99}){99}){99}){99}")
                .unwrap_err()
                .to_string()
                .contains("pattern-memory")
        );
    }

    #[test]
    fn the_hint_for_a_missing_operator_is_an_expression() {
        for (text, part) in [
            ("`a b` like c", "write `a b` ~ pattern for"),
            ("a LIKE c", "write `a ~ pattern` for"),
            ("'a b' = c", "in backquotes: `a b`"),
            ("`a b` c", "write exists `a b` for"),
            ("a is not null", "write `a = value`, or `a = null` for a key without a value"),
            ("a IN (1, 2)", "write `a = x or a = y` for"),
            ("a between 1 and 2", "write `a >= x and a <= y`"),
            ("a !~ x", "`not a ~ pattern`"),
            ("a ≥ 1", "`a >= x`"),
            ("a <> 1", "write != "),
            ("a =! 1", "write != "),
            ("a => 1", "write >= "),
            ("a =< 1", "write <= "),
            ("a = 'b'", "write the value in double quotes"),
            ("a = 1 && b = 2", "write and instead of &&"),
            ("a = 1 || b = 2", "write or instead of ||"),
            ("exists (a)", "write `exists key`"),
        ] {
            let error = Expression::parse(text).unwrap_err();
            let hint = error.hint();
            assert!(hint.contains(part), "{text}: {hint}");
        }
    }

    fn key() -> impl Strategy<Value = String> {
        prop_oneof!["[a-z.]{1,4}", "[ -~é]{1,5}", Just("and".to_owned()), Just("exists".to_owned())]
    }

    fn literal() -> impl Strategy<Value = Literal> {
        prop_oneof![
            "[a-z0-9.:-][a-z0-9.:=<-]{0,5}".prop_map(|text| Literal { text, is_quoted: false }),
            "[ -~é\n]{0,6}".prop_map(|text| Literal { text, is_quoted: true }),
        ]
    }

    /// Whether an expression with these parts is accepted.
    fn is_written((_, operator, value): &(String, Operator, Literal)) -> bool {
        value.is_quoted || !operator.is_order() || looks_like(&value.text).is_none()
    }

    fn expression() -> impl Strategy<Value = Expression> {
        let operator = (0..Operator::ALL.len()).prop_map(|index| Operator::ALL[index].0);
        let operator =
            operator.prop_filter("patterns are tested above", |o| *o != Operator::Matches);
        let leaf = prop_oneof![
            (key(), operator, literal()).prop_filter("refused", is_written).prop_map(
                |(key, operator, value)| {
                    Expression::Compare(Comparison { key, operator, value, pattern: None })
                }
            ),
            key().prop_map(Expression::Exists),
        ];
        leaf.prop_recursive(4, 24, 3, |inner| {
            prop_oneof![
                inner.clone().prop_map(|inner| Expression::Not(Box::new(inner))),
                proptest::collection::vec(inner.clone(), 2..4).prop_map(Expression::All),
                proptest::collection::vec(inner, 2..4).prop_map(Expression::Any),
            ]
        })
    }

    proptest! {
        #[test]
        fn a_printed_expression_is_parsed_to_the_same(expression in expression()) {
            let text = expression.to_string();
            let parsed = Expression::parse(&text);
            prop_assert_eq!(parsed.ok(), Some(expression), "{}", text);
        }

        #[test]
        fn any_text_is_parsed_or_refused(text in "[a-z ()=<>~`\"\\\\!é.]{0,40}") {
            if let Ok(parsed) = Expression::parse(&text) {
                prop_assert_eq!(Expression::parse(&parsed.to_string()).ok(), Some(parsed));
            }
        }
    }
}
