//! Why a comparison is false for every value of its key.
//!
//! Invariant: there is a reason only if every value was added and none of them makes the comparison true.

use super::evaluate::{Datum, any};
use super::{Comparison, Expression, Operator};
use crate::data::scalar;
use crate::markdown::slug::fold;

/// What the values of the key of a comparison have in common that makes it false.
#[derive(Debug)]
pub struct Reason<'a> {
    comparison: &'a Comparison,
    /// Whether the comparison is true for a value.
    is_true: bool,
    /// Whether a value has the type of the right side.
    is_comparable: bool,
    /// A value that differs from the right side in case alone.
    other_case: Option<String>,
    /// The first value, and whether it is a text.
    example: Option<(String, bool)>,
}

impl<'a> Reason<'a> {
    /// Returns the reasons of the comparisons of `expression`, without values yet.
    pub fn of(expression: &'a Expression) -> Vec<Self> {
        let comparisons = expression.comparisons().into_iter();
        let comparisons = comparisons.filter(|comparison| comparison.operator != Operator::Matches);
        let reason = |comparison| Self {
            comparison,
            is_true: false,
            is_comparable: false,
            other_case: None,
            example: None,
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
        let wanted = fold(&value.text);
        let is_part = *operator == Operator::Contains;
        any(datum, &mut |text, is_text| {
            self.is_comparable |= is_part
                || (is_text || !value.is_quoted)
                    && scalar::compare(text, &value.text, value.is_quoted).is_some();
            let is_alike = !operator.is_order()
                && (fold(text) == wanted || is_part && fold(text).contains(&wanted));
            if self.other_case.is_none() && is_text && is_alike {
                self.other_case = Some(text.to_owned());
            }
            if self.example.is_none() {
                self.example = Some((text.to_owned(), is_text));
            }
            false
        });
    }

    /// Returns the reason as a sentence.
    pub fn message(&self) -> Option<String> {
        let Comparison { key, value, .. } = self.comparison;
        let (text, is_text) = self.example.as_ref().filter(|_| !self.is_true)?;
        if let Some(other) = &self.other_case {
            return Some(format!(
                "{key:?} has the value {other:?}, whose case is not that of {value}"
            ));
        }
        if self.is_comparable {
            return None;
        }
        let name = |text: &str| match scalar::type_name(text) {
            "string" => "text",
            name => name,
        };
        let (of_value, next) = match (value.is_quoted, *is_text) {
            (true, _) => ("text", "leave out the quotes"),
            (false, true) => {
                (name(&value.text), "compare texts with ~, or with the value in double quotes")
            }
            (false, false) => (name(&value.text), "write a value of the same type"),
        };
        let example = if *is_text { format!("{text:?}") } else { text.clone() };
        Some(format!(
            "{key:?} has values of the type {} such as {example}, and {value} is of the type {of_value}; {next}",
            name(text)
        ))
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
