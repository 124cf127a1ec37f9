//! Why a comparison is false for every value of its key.
//!
//! Invariant: there is a reason only if every value was added and none of them makes the comparison true.

use serde_json::Value;

use super::evaluate::{Datum, Kind, any};
use super::parse::form;
use super::{Comparison, Expression, Literal, Operator};
use crate::data::scalar;
use crate::markdown::slug::fold;
use crate::visible::quoted;

/// What the values of the key of a comparison have in common that makes it false.
#[derive(Debug)]
pub struct Reason<'a> {
    comparison: &'a Comparison,
    /// The comparison with a right side that is case-folded.
    folded: Comparison,
    /// Whether the comparison is true for a value.
    is_true: bool,
    /// Whether a value has the type of the right side.
    is_comparable: bool,
    /// A value that differs from the right side in case alone.
    other_case: Option<String>,
    /// The first value that is not null, or null if all are.
    example: Option<(String, Kind)>,
}

/// Returns the name of the type of a scalar.
fn type_of(text: &str, kind: Kind) -> &'static str {
    match (kind, scalar::type_name(text)) {
        (Kind::Number, _) => "number",
        (Kind::Boolean, _) => "boolean",
        (Kind::Null, _) => "null",
        (Kind::Text, "string") => "text",
        (Kind::Text, name) => name,
    }
}

/// Returns the kind of a value that is written without quotes.
fn kind_of(text: &str) -> Kind {
    match text {
        "true" | "false" => Kind::Boolean,
        "null" => Kind::Null,
        _ => Kind::Text,
    }
}

impl<'a> Reason<'a> {
    /// Returns the reasons of the comparisons of `expression`, without values yet.
    pub fn of(expression: &'a Expression) -> Vec<Self> {
        let comparisons = expression.comparisons().into_iter();
        let comparisons = comparisons.filter(|comparison| comparison.operator != Operator::Matches);
        let reason = |comparison: &'a Comparison| {
            let Literal { text, is_quoted } = &comparison.value;
            let value = Literal { text: fold(text), is_quoted: *is_quoted };
            Self {
                comparison,
                folded: Comparison { value, ..comparison.clone() },
                is_true: false,
                is_comparable: false,
                other_case: None,
                example: None,
            }
        };
        comparisons.map(reason).collect()
    }

    /// Returns the key of the comparison.
    pub fn key(&self) -> &'a str {
        &self.comparison.key
    }

    /// Adds a value of the key.
    pub fn add(&mut self, datum: &Datum<'_>) {
        self.is_true |= self.comparison.is_true_for(datum);
        if self.is_true {
            return;
        }
        let Comparison { operator, value, .. } = self.comparison;
        let is_list = matches!(datum, Datum::Json(value) if matches!(**value, Value::Array(_)));
        any(datum, &mut |text, kind| {
            let compares = || scalar::compare(text, &value.text, value.is_quoted).is_some();
            self.is_comparable |= match kind {
                Kind::Null => false,
                _ if *operator == Operator::Contains => true,
                Kind::Text => compares() && (value.has_order() || !operator.is_order()),
                Kind::Number => !value.is_quoted && compares(),
                Kind::Boolean => {
                    !value.is_quoted && !operator.is_order() && kind_of(&value.text) == kind
                }
            };
            if kind == Kind::Text && self.other_case.is_none() {
                let folded = fold(text);
                let is_alike = match operator {
                    Operator::Contains if !is_list => {
                        self.folded.is_true_for(&Datum::Text(&folded))
                    }
                    Operator::Contains | Operator::Equal => self.folded.is_equal(&folded),
                    _ => false,
                };
                self.other_case = is_alike.then(|| text.to_owned());
            }
            if self.example.as_ref().is_none_or(|(_, kind)| *kind == Kind::Null) {
                self.example = Some((text.to_owned(), kind));
            }
            false
        });
    }

    /// Returns the reason as a sentence.
    pub fn message(&self) -> Option<String> {
        let Comparison { key, operator, value, .. } = self.comparison;
        let (text, kind) = self.example.as_ref().filter(|_| !self.is_true)?;
        if let Some(other) = &self.other_case {
            return Some(format!(
                "{key} has the value {other}, whose case is not that of {value}",
                key = quoted(&key),
                other = quoted(&other)
            ));
        }
        if self.is_comparable {
            return None;
        }
        let example = if *kind == Kind::Text { quoted(&text).to_string() } else { text.clone() };
        let of_key = type_of(text, *kind);
        let values =
            format!("{key} has values of the type {of_key} such as {example}", key = quoted(&key));
        if operator.is_order() && !kind.has_order() {
            return Some(format!("{values}, which only = and != compare"));
        }
        let without_quotes = type_of(&value.text, kind_of(&value.text));
        let next = match kind {
            Kind::Null => {
                let value = Literal { text: "null".to_owned(), is_quoted: false };
                let operator = Operator::Equal;
                let comparison = Comparison { operator, value, ..self.comparison.clone() };
                format!("write {}", form(&Expression::Compare(comparison).to_string()))
            }
            Kind::Text => "compare texts with ~, or with the value in double quotes".to_owned(),
            _ if value.is_quoted && without_quotes == of_key => "leave out the quotes".to_owned(),
            _ => "write a value of the same type".to_owned(),
        };
        let of_value = if value.is_quoted { "text" } else { without_quotes };
        Some(format!("{values}, and {value} is of the type {of_value}; {next}"))
    }
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use serde_json::{Value, json};

    use super::*;

    fn message(text: &str, values: &[Value]) -> Option<String> {
        let expression = Expression::parse(text).unwrap();
        let mut reasons = Reason::of(&expression);
        for value in values {
            for reason in &mut reasons {
                reason.add(&Datum::Json(Cow::Borrowed(value)));
            }
        }
        reasons.iter().find_map(Reason::message)
    }

    #[test]
    fn values_of_another_type_and_of_another_case_are_reasons() {
        for (text, values, part) in [
            (
                "d > 2025-01-01",
                json!(["10/22/2025", "x"]),
                Some("such as \"10/22/2025\", and 2025-01-01"),
            ),
            (
                "n = \"1\"",
                json!([1, 2]),
                Some("such as 1, and \"1\" is of the type text; leave out"),
            ),
            ("n > x", json!([1]), Some("type number such as 1, and x")),
            ("s = yarn", json!(["npm", "Yarn"]), Some("the value \"Yarn\"")),
            ("s contains yarn", json!(["Yarn 2"]), Some("the value \"Yarn 2\"")),
            ("d > 2025-01-01 and s = a", json!(["b"]), Some("is of the type date")),
            ("s contains rust", json!([["a", "Rust"]]), Some("the value \"Rust\"")),
            (
                "b = \"true\"",
                json!([true]),
                Some("such as true, and \"true\" is of the type text; leave"),
            ),
            (
                "b = yes",
                json!([true]),
                Some("type boolean such as true, and yes is of the type text; write a"),
            ),
            ("b > true", json!([true]), Some("such as true, which only = and != compare")),
            ("s < true", json!(["abc"]), Some("true is of the type boolean; compare texts with ~")),
            (
                "n = \"x\"",
                json!([null, 1]),
                Some("such as 1, and \"x\" is of the type text; write a"),
            ),
            (
                "`l m` = \"\"",
                json!([null]),
                Some("such as null, and \"\" is of the type text; write `l m` = null"),
            ),
            ("t contains tag", json!([["tag/sub"]]), None),
            ("s != a", json!(["a"]), None),
            ("b = true", json!([false]), None),
            ("s = yarn", json!(["Yarn", "yarn"]), None),
            ("d > 2025-01-01", json!(["10/22/2025", "2024-01-01"]), None),
            ("s ~ yarn", json!(["Yarn"]), None),
            ("s = a", json!(["b"]), None),
            ("s > b", json!(["a"]), None),
            ("s = a", json!([]), None),
        ] {
            let message = message(text, values.as_array().unwrap());
            let is_expected = match part {
                Some(part) => message.as_ref().is_some_and(|message| message.contains(part)),
                None => message.is_none(),
            };
            assert!(is_expected, "{text}: {message:?}");
        }
    }
}
