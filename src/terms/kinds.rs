//! Words for kinds of things beside a name: `option` in "what does the option --color do".
//!
//! The name says what the question is about, and many texts have the other word. Invariant: only the weight of a word
//! changes. What must match, must match as before.

use tantivy_query_grammar::Occur;

use super::clause::Clause;
use super::term::Look;

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
    /// Returns the same clause with less weight for words for kinds of things directly before or after a name. `options`
    /// are names, folded and without their hyphens. Before a name, more words are meant as names than after one: "the
    /// type read-only" names a type, and "a read-only type" describes one.
    pub(super) fn with_light_kinds(self, options: &[String]) -> Self {
        let Self::Group(clauses) = self else { return self };
        let clause_at = |at: Option<usize>| at.and_then(|at| clauses.get(at));
        let is_light = |at: usize| {
            clause_at(at.checked_sub(1)).is_some_and(|(_, name)| name.is_name(options))
                || clause_at(at.checked_add(1))
                    .is_some_and(|(_, name)| name.is_name(options) || name.may_be_name())
        };
        let is_light: Vec<bool> = (0..clauses.len()).map(is_light).collect();
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
            Self::Term(term) => term.look == Look::Identifier || options.contains(&term.text),
            // The words of a hyphenated option, and their phrase.
            Self::Group(clauses) => clauses.last().is_some_and(|(_, last)| last.is_name(options)),
            Self::Bonus(_) | Self::Boost(..) => false,
        }
    }

    /// Whether a name can be written like this: `HttpClient`, `a.b` or `a-b`.
    fn may_be_name(&self) -> bool {
        match self {
            Self::Term(term) => term.look == Look::Capitalized || term.compound.is_some(),
            Self::Group(clauses) => matches!(clauses.last(), Some((_, Self::Bonus(_)))),
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
            ("the type user-defined", &["type"]),
            ("a user-defined type", &[]),
            ("the class HttpClient", &["class"]),
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
