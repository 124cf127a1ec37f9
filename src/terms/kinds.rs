//! Words for kinds of things beside a name: `option` in "what does the option --color do".
//!
//! The name says what the question is about, and many texts have the other word. Invariant: only the weight of a word
//! changes. What must match, must match as before.

use tantivy_query_grammar::Occur;

use super::clause::Clause;

/// Factor on the weight of such a word.
const WEIGHT: f32 = 0.15;

/// What a name in a program or a file can be called.
const KINDS: [&str; 22] = [
    "argument",
    "attribute",
    "class",
    "command",
    "component",
    "constant",
    "directive",
    "event",
    "field",
    "flag",
    "function",
    "header",
    "key",
    "method",
    "option",
    "param",
    "parameter",
    "prop",
    "property",
    "setting",
    "type",
    "variable",
];

impl Clause {
    /// Returns the same clause with less weight for words for kinds of things directly before or after a name, such as
    /// `maxRetries` and `max_retries`, or one of `options`, which are folded and without their hyphens.
    pub(super) fn with_light_kinds(self, options: &[String]) -> Self {
        let Self::Group(clauses) = self else { return self };
        let clause_at = |at: Option<usize>| at.and_then(|at| clauses.get(at));
        let is_name = |at| clause_at(at).is_some_and(|(_, clause)| clause.is_name(options));
        let is_light: Vec<bool> = (0..clauses.len())
            .map(|at| is_name(at.checked_sub(1)) || is_name(at.checked_add(1)))
            .collect();
        let clauses = clauses.into_iter().zip(is_light).map(|((occur, clause), is_light)| {
            let is_light = is_light && occur == Occur::Should && clause.is_kind();
            (occur, if is_light { Self::Boost(Box::new(clause), WEIGHT) } else { clause })
        });
        Self::Group(clauses.collect())
    }

    fn is_kind(&self) -> bool {
        matches!(self, Self::Term(term) if term.plain_word().is_some_and(|word| KINDS.contains(&word)))
    }

    fn is_name(&self, options: &[String]) -> bool {
        match self {
            Self::Term(term) => term.is_identifier || options.contains(&term.text),
            // The words of a hyphenated option, and their phrase.
            Self::Group(clauses) => clauses.last().is_some_and(|(_, last)| last.is_name(options)),
            Self::Bonus(_) | Self::Boost(..) => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::query::WordQuery;
    use super::*;

    /// Returns the words of a query with less weight.
    fn light(query: &str) -> Vec<String> {
        let clause = WordQuery::parse(query).clause.unwrap();
        let leaves = clause.leaves().into_iter();
        let light = leaves.filter(|leaf| leaf.counts && leaf.times == Some(WEIGHT));
        light.map(|leaf| leaf.term.text.clone()).collect()
    }

    #[test]
    fn a_word_for_a_kind_has_less_weight_beside_a_name() {
        for (query, expected) in [
            ("what does the parameter ttlSeconds do", &["parameter"][..]),
            ("the ttl_seconds option", &["option"]),
            ("what does the option --no-backup do", &["option"]),
            ("what does the flag --verbose do", &["flag"]),
            ("a user-defined type", &[]),
            ("HTTP header", &[]),
            ("JavaScript function", &[]),
            ("what type is ttlSeconds", &[]),
            ("how does the type system work", &[]),
            ("which option sets the timeout", &[]),
            ("+option ttlSeconds", &[]),
            ("option", &[]),
        ] {
            assert_eq!(light(query), expected, "{query}");
        }
    }
}
