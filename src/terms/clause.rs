//! The clauses of a parsed query, and what is derived from them.
//!
//! Invariant: what is derived from a clause keeps the terms that must not match as they are written.

use tantivy_query_grammar::Occur;

use super::names;
use super::stems::StemClass;
use super::stop_words::LanguageSet;
use super::term::QueryTerm;

/// A query or a part of one.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Clause {
    Term(QueryTerm),
    /// A term that increases the score of a match but does not make one.
    Bonus(QueryTerm),
    Group(Vec<(Occur, Clause)>),
    Boost(Box<Clause>, f32),
}

impl Clause {
    /// Collects the terms that can match.
    pub(super) fn terms<'a>(&'a self, terms: &mut Vec<&'a QueryTerm>) {
        match self {
            Self::Term(term) => terms.push(term),
            Self::Bonus(_) => {}
            Self::Group(clauses) => {
                for (occur, clause) in clauses {
                    if *occur != Occur::MustNot {
                        clause.terms(terms);
                    }
                }
            }
            Self::Boost(clause, _) => clause.terms(terms),
        }
    }

    /// Collects the terms that must not match.
    pub(super) fn excluded<'a>(&'a self, terms: &mut Vec<&'a QueryTerm>) {
        match self {
            Self::Term(_) | Self::Bonus(_) => {}
            Self::Boost(clause, _) => clause.excluded(terms),
            Self::Group(clauses) => {
                for (occur, clause) in clauses {
                    if *occur == Occur::MustNot {
                        clause.terms(terms);
                    } else {
                        clause.excluded(terms);
                    }
                }
            }
        }
    }

    /// Collects the names that need not match and that can be divided.
    pub(super) fn divisible<'a>(&'a self, terms: &mut Vec<&'a QueryTerm>) {
        match self {
            Self::Term(term) if term.written.is_some() => terms.push(term),
            Self::Term(_) | Self::Bonus(_) => {}
            Self::Boost(clause, _) => clause.divisible(terms),
            Self::Group(clauses) => {
                let optional = clauses.iter().filter(|(occur, _)| *occur == Occur::Should);
                optional.for_each(|(_, clause)| clause.divisible(terms));
            }
        }
    }

    /// Returns the same clause with the [parts](names::parts) of these [names](Self::divisible) instead of them.
    pub(super) fn divided(&self, absent: &[QueryTerm]) -> Self {
        match self {
            Self::Term(term) if absent.contains(term) => {
                let parts = names::parts(term.written.as_deref().unwrap_or_default()).into_iter();
                Self::Group(parts.map(|part| (Occur::Should, Self::Term(part))).collect())
            }
            Self::Term(_) | Self::Bonus(_) => self.clone(),
            Self::Boost(clause, boost) => Self::Boost(Box::new(clause.divided(absent)), *boost),
            Self::Group(clauses) => {
                let divided = clauses.iter().map(|(occur, clause)| match occur {
                    Occur::Should => (*occur, clause.divided(absent)),
                    _ => (*occur, clause.clone()),
                });
                Self::Group(divided.collect())
            }
        }
    }

    /// Returns the same clause without the other words with the same stems.
    pub(super) fn without_stems(self) -> Self {
        self.with_stems(&|_| None)
    }

    /// Returns the same clause in which the phrases of the hyphenated words `options` count as terms do, so that a text with
    /// the whole option goes before one that has its words.
    pub(super) fn with_phrases(self, options: &[String]) -> Self {
        match self {
            Self::Bonus(phrase) if options.contains(&phrase.text) => Self::Term(phrase),
            Self::Group(clauses) => {
                let clauses = clauses.into_iter();
                let clauses = clauses.map(|(occur, clause)| (occur, clause.with_phrases(options)));
                Self::Group(clauses.collect())
            }
            other => other,
        }
    }

    /// Returns the same clause with the other forms of its words in any language.
    pub(super) fn in_any_language(self) -> Self {
        self.with_stems(&|term| {
            let other = match term.words.as_slice() {
                [(_, word)] if term.stems.is_some() && term.compound.is_none() => {
                    StemClass::in_any_language(word)
                }
                _ => None,
            };
            other.or_else(|| term.stems.clone())
        })
    }

    /// Returns the same clause in which each term has the stems that `stems_of` returns for it.
    fn with_stems(self, stems_of: &impl Fn(&QueryTerm) -> Option<StemClass>) -> Self {
        match self {
            Self::Term(term) => Self::Term(QueryTerm { stems: stems_of(&term), ..term }),
            Self::Bonus(term) => Self::Bonus(term),
            Self::Boost(clause, boost) => Self::Boost(Box::new(clause.with_stems(stems_of)), boost),
            Self::Group(clauses) => {
                let clauses = clauses.into_iter();
                let clauses = clauses.map(|(occur, clause)| (occur, clause.with_stems(stems_of)));
                Self::Group(clauses.collect())
            }
        }
    }

    /// Returns the same clause without the terms for which `is_dropped` returns true, except those that must match or
    /// must not; `None` if nothing else remains.
    pub(super) fn without(&self, is_dropped: &impl Fn(&QueryTerm) -> bool) -> Option<Self> {
        Some(match self {
            Self::Term(term) if is_dropped(term) => return None,
            Self::Term(_) | Self::Bonus(_) => self.clone(),
            Self::Boost(clause, boost) => {
                Self::Boost(Box::new(clause.without(is_dropped)?), *boost)
            }
            Self::Group(clauses) => {
                let clauses = clauses.iter().filter_map(|(occur, clause)| match occur {
                    Occur::Should => Some((*occur, clause.without(is_dropped)?)),
                    _ => Some((*occur, clause.clone())),
                });
                let group = Self::Group(clauses.collect());
                group.is_positive().then_some(group)?
            }
        })
    }

    /// Returns the same clause without the stop words of `languages`; `None` if nothing else remains.
    pub(super) fn without_stop_words(&self, languages: LanguageSet) -> Option<Self> {
        self.without(&|term| !term.stop_word_of.intersection(languages).is_empty())
    }

    /// Returns the same clause with the words of each phrase and compound as separate terms, and names in their other
    /// forms.
    pub(super) fn loosened(&self) -> Self {
        match self {
            Self::Term(term) if term.words.len() > 1 => {
                let words = term.words.iter().map(|(_, word)| {
                    let word = QueryTerm {
                        words: vec![(0, word.clone())],
                        compound: None,
                        stems: None,
                        is_prefix: false,
                        slop: 0,
                        ..term.clone()
                    };
                    (Occur::Should, Self::Term(word))
                });
                Self::Group(words.collect())
            }
            Self::Term(term) => {
                let name = term.words.first().filter(|_| term.is_name);
                let of_name = || name.and_then(|(_, name)| StemClass::of(name));
                let stems = term.stems.clone().or_else(of_name);
                Self::Term(QueryTerm { compound: None, stems, ..term.clone() })
            }
            Self::Bonus(term) => Self::Bonus(term.clone()),
            Self::Group(clauses) => {
                let loosened = clauses.iter().map(|(occur, clause)| {
                    // A term that must not match stays as it was written.
                    let is_not = *occur == Occur::MustNot;
                    (*occur, if is_not { clause.clone() } else { clause.loosened() })
                });
                Self::Group(loosened.collect())
            }
            Self::Boost(clause, boost) => Self::Boost(Box::new(clause.loosened()), *boost),
        }
    }

    /// Returns whether the clause can match something, and does not only exclude.
    pub(super) fn is_positive(&self) -> bool {
        match self {
            Self::Term(_) => true,
            Self::Bonus(_) => false,
            Self::Boost(clause, _) => clause.is_positive(),
            Self::Group(clauses) => clauses
                .iter()
                .any(|(occur, clause)| *occur != Occur::MustNot && clause.is_positive()),
        }
    }

    /// Returns `None` if the clause is an empty group.
    pub(super) fn non_empty(self) -> Option<Self> {
        match self {
            Self::Group(clauses) if clauses.is_empty() => None,
            other => Some(other),
        }
    }
}
