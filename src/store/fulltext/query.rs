//! What a user asks for in words.
//!
//! The grammar is tantivy's, read leniently: words, `"phrases"`, `+must`, `AND OR NOT`, parentheses,
//! `^boost`, `prefix*`, and the fields `title: body: code: path: tags: meta:`. Hyphens before a word mean
//! nothing, because options are written so. Words that are joined (`read-only`) are words of their own,
//! and a section that has them in a row is better. Stop words are left out where another word remains.
//! Invariant: every text is a query. What the grammar does not give a meaning here becomes plain words,
//! and the remark says so; a query that could only exclude does, too.

use std::borrow::Cow;

use tantivy::query_grammar::{Delimiter, Occur, UserInputAst, UserInputLeaf, parse_query_lenient};

use super::term::{QueryTerm, TextField, term};
use super::tokens::{TokenKind, Tokens};
use crate::limits;

/// A query, or a part of one.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Clause {
    Term(QueryTerm),
    /// What makes a match better and is none by itself.
    Bonus(QueryTerm),
    Group(Vec<(Occur, Clause)>),
    Boost(Box<Clause>, f32),
}

/// A query in words.
#[derive(Clone, Debug, PartialEq)]
pub struct WordQuery {
    /// `None` where there is no word in it.
    pub(super) clause: Option<Clause>,
    /// Why it was not read as it was written, where it was not.
    pub remark: Option<String>,
    /// What a hit must not hold, as it was written.
    pub excluded: Vec<String>,
    /// Words that were written behind one hyphen, which does not exclude them.
    pub hyphenated: Vec<String>,
}

impl WordQuery {
    /// Reads `text`.
    pub fn parse(text: &str) -> Self {
        let (text, hyphenated) = without_hyphens(text);
        match read(&text) {
            Ok(clause) => {
                let mut excluded = Vec::new();
                clause.excluded(&mut excluded);
                let clause = clause.without_stop_words().unwrap_or(clause);
                Self { clause: Some(clause), remark: None, excluded, hyphenated }
            }
            Err(remark) => {
                let (clause, is_cut) = plain_words(&text);
                let clause = clause.map(|all| all.without_stop_words().unwrap_or(all));
                let cut = is_cut.then(|| {
                    format!("only its first {} words are searched", limits::MAX_QUERY_WORDS)
                });
                Self { clause, remark: remark.or(cut), excluded: Vec::new(), hyphenated }
            }
        }
    }

    /// Whether it holds any word.
    pub fn has_words(&self) -> bool {
        self.clause.is_some()
    }

    /// The terms that a hit may hold; no stop words that are left out.
    pub fn terms(&self) -> Vec<&QueryTerm> {
        let mut terms = Vec::new();
        if let Some(clause) = &self.clause {
            clause.terms(&mut terms);
        }
        terms
    }

    /// The same query with every word of a phrase or a compound by itself; `None` where that is the
    /// same.
    pub fn loosened(&self) -> Option<Self> {
        let clause = self.clause.as_ref().map(Clause::loosened);
        (clause != self.clause).then(|| Self { clause, remark: None, ..self.clone() })
    }
}

impl Clause {
    fn terms<'a>(&'a self, terms: &mut Vec<&'a QueryTerm>) {
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

    /// The texts of the terms that must not match.
    fn excluded(&self, texts: &mut Vec<String>) {
        match self {
            Self::Term(_) | Self::Bonus(_) => {}
            Self::Boost(clause, _) => clause.excluded(texts),
            Self::Group(clauses) => {
                for (occur, clause) in clauses {
                    if *occur == Occur::MustNot {
                        let mut terms = Vec::new();
                        clause.terms(&mut terms);
                        texts.extend(terms.into_iter().map(|term| term.text.clone()));
                    } else {
                        clause.excluded(texts);
                    }
                }
            }
        }
    }

    /// The same with its words alone, not with others of the same stem.
    fn without_stems(self) -> Self {
        match self {
            Self::Term(term) => Self::Term(QueryTerm { stems: None, ..term }),
            Self::Bonus(term) => Self::Bonus(term),
            Self::Boost(clause, boost) => Self::Boost(Box::new(clause.without_stems()), boost),
            Self::Group(clauses) => Self::Group(
                clauses
                    .into_iter()
                    .map(|(occur, clause)| (occur, clause.without_stems()))
                    .collect(),
            ),
        }
    }

    /// The same without the stop words that it could do without; `None` where nothing else is left.
    fn without_stop_words(&self) -> Option<Self> {
        Some(match self {
            Self::Term(term) if term.is_stop_word => return None,
            Self::Term(_) | Self::Bonus(_) => self.clone(),
            Self::Boost(clause, boost) => {
                Self::Boost(Box::new(clause.without_stop_words()?), *boost)
            }
            Self::Group(clauses) => {
                let clauses = clauses.iter().filter_map(|(occur, clause)| match occur {
                    Occur::Should => Some((*occur, clause.without_stop_words()?)),
                    _ => Some((*occur, clause.clone())),
                });
                let group = Self::Group(clauses.collect());
                group.is_positive().then_some(group)?
            }
        })
    }

    fn loosened(&self) -> Self {
        match self {
            Self::Term(term) if term.words.len() > 1 => {
                let words = term.words.iter().map(|(_, word)| {
                    let word = QueryTerm {
                        words: vec![(0, word.clone())],
                        compound: None,
                        is_prefix: false,
                        slop: 0,
                        ..term.clone()
                    };
                    (Occur::Should, Self::Term(word))
                });
                Self::Group(words.collect())
            }
            Self::Term(term) => Self::Term(QueryTerm { compound: None, ..term.clone() }),
            Self::Bonus(term) => Self::Bonus(term.clone()),
            Self::Group(clauses) => {
                let loosened = clauses.iter().map(|(occur, clause)| {
                    // What must not be there is still no less than what was written.
                    let is_not = *occur == Occur::MustNot;
                    (*occur, if is_not { clause.clone() } else { clause.loosened() })
                });
                Self::Group(loosened.collect())
            }
            Self::Boost(clause, boost) => Self::Boost(Box::new(clause.loosened()), *boost),
        }
    }

    /// Whether something can match that does not only exclude.
    fn is_positive(&self) -> bool {
        match self {
            Self::Term(_) => true,
            Self::Bonus(_) => false,
            Self::Boost(clause, _) => clause.is_positive(),
            Self::Group(clauses) => clauses
                .iter()
                .any(|(occur, clause)| *occur != Occur::MustNot && clause.is_positive()),
        }
    }
}

/// Reads `text` by the grammar; the remark says why it cannot be, where there is something to say.
fn read(text: &str) -> Result<Clause, Option<String>> {
    let is_long = text.len() > limits::MAX_QUERY_BYTES
        || text.bytes().filter(|&byte| byte == b'(').count() > limits::MAX_QUERY_GROUPS;
    if is_long {
        return Err(Some("it is too long for a query; its words are searched".to_owned()));
    }
    let (tree, errors) = parse_query_lenient(text);
    // What is no field and so was a word with a colon is no fault here.
    let is_fault = |message: &str| message != "parsed possible invalid field as term";
    if let Some(error) = errors.iter().find(|error| is_fault(&error.message)) {
        let remark = || format!("{}; its words are searched", error.message);
        return Err(has_operators(text).then(remark));
    }
    // The grammar drops the sign of a term that is alone.
    match clause(tree, text.trim_start().starts_with('+')) {
        Some(clause) if clause.is_positive() => Ok(clause),
        Some(_) => Err(Some("it only excludes; its words are searched".to_owned())),
        None => Err(has_operators(text)
            .then(|| "it is not a query of words; its words are searched".to_owned())),
    }
}

/// Whether `text` has operators of the grammar, which plain words lose. Parentheses, brackets and other signs are
/// in code, paths and addresses too.
fn has_operators(text: &str) -> bool {
    text.contains('"')
        || text.split_whitespace().any(|word| {
            let is_field = || {
                let name = word.split_once(':').map(|(name, _)| name.trim_start_matches('('));
                name.and_then(TextField::named).is_some()
            };
            matches!(word, "AND" | "OR" | "NOT")
                || word.starts_with('+')
                || word.ends_with('*')
                || is_field()
        })
}

/// A tree of the grammar as a clause, its joined words a phrase where it `is_literal`; `None` where it has
/// no meaning here.
fn clause(tree: UserInputAst, is_literal: bool) -> Option<Clause> {
    Some(match tree {
        UserInputAst::Clause(clauses) => {
            let mut result = Vec::with_capacity(clauses.len());
            for (occur, tree) in clauses {
                let occur = occur.unwrap_or(Occur::Should);
                // What must or must not be there is taken as it is written.
                let is_literal = occur != Occur::Should;
                // A word without any letter says nothing beside others.
                if let Some(clause) = clause(tree, is_literal)?.non_empty() {
                    match clause {
                        _ if occur == Occur::MustNot => {
                            result.push((occur, clause.without_stems()));
                        }
                        // What only excludes does so where it stands: `a AND NOT b`.
                        Clause::Group(inner) if inner.iter().all(|(o, _)| *o == Occur::MustNot) => {
                            result.extend(inner);
                        }
                        clause => result.push((occur, clause)),
                    }
                }
            }
            Clause::Group(result)
        }
        UserInputAst::Boost(tree, boost) => {
            #[expect(clippy::cast_possible_truncation, reason = "a boost needs no precision")]
            let boost = boost.into_inner() as f32;
            Clause::Boost(Box::new(clause(*tree, is_literal)?), boost)
        }
        UserInputAst::Leaf(leaf) => match *leaf {
            UserInputLeaf::Literal(literal) => {
                let field = literal.field_name.as_deref();
                let is_quoted = literal.delimiter != Delimiter::None;
                match (field, field.and_then(TextField::named)) {
                    (Some(name), None) => plain_words(&format!("{name}:{}", literal.phrase)).0?,
                    (_, field) => match term(field, &literal.phrase, is_quoted, literal.prefix) {
                        None => Clause::Group(Vec::new()),
                        Some(term)
                            if term.words.len() > 1
                                && term.compound.is_none()
                                && field.is_none()
                                && !(is_quoted || is_literal || term.is_prefix) =>
                        {
                            joined_words(&literal.phrase, term)
                        }
                        Some(term) => Clause::Term(QueryTerm { slop: literal.slop, ..term }),
                    },
                }
            }
            _ => return None,
        },
    })
}

impl Clause {
    fn non_empty(self) -> Option<Self> {
        match self {
            Self::Group(clauses) if clauses.is_empty() => None,
            other => Some(other),
        }
    }
}

/// The words of `text` that nothing but signs is between, and the phrase that they are, which is better.
fn joined_words(text: &str, phrase: QueryTerm) -> Clause {
    let Some(Clause::Group(mut clauses)) = plain_words(text).0 else { return Clause::Term(phrase) };
    // `to-do` is a subject; `what's` is two stop words.
    let is_name = !text.contains(['\'', '\u{2019}'])
        && clauses.iter().all(|(_, clause)| clause.without_stop_words().is_none());
    if is_name {
        for (_, clause) in &mut clauses {
            if let Clause::Term(term) = clause {
                term.is_stop_word = false;
            }
        }
    }
    clauses.push((Occur::Should, Clause::Bonus(phrase)));
    Clause::Group(clauses)
}

/// `text` with blanks for the hyphens before words and between blanks, outside of quotes, and the words
/// behind one hyphen.
fn without_hyphens(text: &str) -> (Cow<'_, str>, Vec<String>) {
    let mut hyphenated = Vec::new();
    let mut result = String::new();
    let mut copied = 0;
    let (mut is_quoted, mut is_start) = (false, true);
    for (offset, scalar) in text.char_indices() {
        let is_first = is_start;
        is_start = scalar.is_whitespace() || scalar == '(';
        is_quoted ^= scalar == '"';
        let rest = text.get(offset..).unwrap_or_default();
        if is_quoted || !is_first || scalar != '-' {
            continue;
        }
        let word = rest.trim_start_matches('-');
        let hyphens = rest.len() - word.len();
        result.push_str(text.get(copied..offset).unwrap_or_default());
        result.extend(std::iter::repeat_n(' ', hyphens));
        copied = offset + hyphens;
        let word = word.split(char::is_whitespace).next().unwrap_or_default();
        if hyphens == 1 && !word.is_empty() {
            hyphenated.push(word.to_owned());
        }
    }
    if copied == 0 {
        return (Cow::Borrowed(text), hyphenated);
    }
    result.push_str(text.get(copied..).unwrap_or_default());
    (Cow::Owned(result), hyphenated)
}

/// The words of `text`, any of which may match, and whether there were more.
fn plain_words(text: &str) -> (Option<Clause>, bool) {
    let mut clauses: Vec<(Occur, Clause)> = Vec::new();
    let mut tokens = Tokens::new(text);
    // Where the last compound ends, whose words follow it, and the last pair.
    let (mut compound_end, mut pair_end) = (0, 0);
    while tokens.advance() {
        let is_in_pair = tokens.kind == TokenKind::Last && tokens.span.start < pair_end;
        if tokens.span.start < compound_end || is_in_pair {
            continue;
        }
        match tokens.kind {
            TokenKind::Compound => compound_end = tokens.span.end,
            TokenKind::Pair => pair_end = tokens.span.end,
            TokenKind::Word | TokenKind::Last => {}
        }
        let word = text.get(tokens.span.start..tokens.span.end).unwrap_or_default();
        if let Some(term) = term(None, word, false, false) {
            let clause = Clause::Term(term);
            if !clauses.iter().any(|(_, other)| *other == clause) {
                clauses.push((Occur::Should, clause));
            }
        }
        if clauses.len() == limits::MAX_QUERY_WORDS {
            return (Some(Clause::Group(clauses)), true);
        }
    }
    (Clause::Group(clauses).non_empty(), false)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str) -> String {
        fn tell(clause: &Clause) -> String {
            match clause {
                Clause::Term(term) => {
                    let words: Vec<&str> =
                        term.words.iter().map(|(_, word)| word.as_str()).collect();
                    format!(
                        "{}{}{}{}",
                        term.field.map_or_else(String::new, |field| format!("{field:?}:")),
                        term.compound.iter().map(|one| format!("<{one}>")).collect::<String>(),
                        words.join("_"),
                        if term.is_prefix { "*" } else { "" }
                    )
                }
                Clause::Group(clauses) => {
                    let clauses = clauses.iter().map(|(occur, clause)| {
                        let sign = match occur {
                            Occur::Should => "",
                            Occur::Must => "+",
                            Occur::MustNot => "-",
                        };
                        format!("{sign}{}", tell(clause))
                    });
                    format!("({})", clauses.collect::<Vec<_>>().join(" "))
                }
                Clause::Bonus(term) => format!("~{}", tell(&Clause::Term(term.clone()))),
                Clause::Boost(clause, boost) => format!("{}^{boost}", tell(clause)),
            }
        }
        let query = WordQuery::parse(text);
        let clause = query.clause.as_ref().map_or_else(|| "nothing".to_owned(), tell);
        if query.remark.is_some() { format!("{clause} !") } else { clause }
    }

    #[test]
    fn the_grammar_is_read() {
        for (text, expected) in [
            ("one Two", "(one two)"),
            ("+one NOT two three", "(+one -two three)"),
            ("one AND NOT two", "(+one -two)"),
            ("one NOT \"two three\"", "(one -two_three)"),
            ("one AND two OR three", "((+one +two) three)"),
            ("\"one two\"", "one_two"),
            ("title:one code:\"a b\"", "(Title:one Code:a_b)"),
            ("tags:(a b)", "(Tags:a Tags:b)"),
            ("inst*", "inst*"),
            ("one^2", "one^2"),
        ] {
            assert_eq!(told(text), expected, "{text}");
        }
    }

    #[test]
    fn joined_words_are_a_phrase_and_one_word() {
        for (text, expected) in [
            ("get_slice", "<get_slice>get_slice"),
            ("foo.bar", "<foo.bar>foo_bar"),
            ("c++", "<c++>c"),
            ("c++ c#", "(<c++>c <c#>c)"),
            ("disk-free", "(disk free ~disk_free)"),
            ("read-only", "(read ~read_only)"),
            ("+read-only NOT write-once", "(+read_only -write_once)"),
            ("\"read-only\"", "read_only"),
            ("全文搜索", "(全文 文搜 搜索 ~全文_文搜_搜索)"),
            ("中文", "中文"),
            ("中", "中*"),
        ] {
            assert_eq!(told(text), expected, "{text}");
        }
    }

    #[test]
    fn hyphens_before_words_mean_nothing() {
        for (text, expected, hyphenated) in [
            ("get -Recurse", "(get recurse)", &["Recurse"][..]),
            ("-x", "x", &["x"]),
            ("list --format fzf", "(list format fzf)", &[]),
            ("one - two", "(one two)", &[]),
            ("one (-two)", "(one two)", &["two)"]),
            ("\"one -two\"", "one_two", &[]),
            ("one two-three", "(one (two three ~two_three))", &[]),
        ] {
            assert_eq!(told(text), expected, "{text}");
            assert_eq!(WordQuery::parse(text).hyphenated, hyphenated, "{text}");
        }
    }

    #[test]
    fn stop_words_count_only_where_nothing_else_is_left() {
        for (text, expected) in [
            ("how do I share a file", "(share file)"),
            ("how do I", "(how do i)"),
            ("\"how to\" share", "(how_to share)"),
            ("+how share", "(+how share)"),
            ("title:what is", "(Title:what)"),
            ("what's new", "(new)"),
            ("to-do lists", "((to do ~to_do) lists)"),
        ] {
            assert_eq!(told(text), expected, "{text}");
        }
    }

    #[test]
    fn what_is_no_query_becomes_words() {
        for (text, expected) in [
            ("std::vector<bool>", "(<std::vector>std_vector bool)"),
            ("key: value", "(key value)"),
            ("--flag", "flag"),
            ("(", "nothing"),
            (":", "nothing !"),
            ("", "nothing"),
            ("AND", "and"),
            ("\"open phrase", "(open phrase) !"),
            ("{{< x >}}", "(x)"),
            ("[one TO two]", "(one two)"),
            ("*", "nothing !"),
            ("fn foo(a: &str) -> U", "(fn foo str u)"),
            ("@a", "a"),
            ("\u{0}x\u{7}", "x"),
            ("x && b", "(x b)"),
            ("{中文 搜}", "(中文 搜*)"),
            ("http://a.b/c", "(http <a.b>a_b c)"),
        ] {
            assert_eq!(told(text), expected, "{text}");
        }
    }

    #[test]
    fn hostile_queries_are_words() {
        let deep = "(".repeat(10_000) + "x";
        assert_eq!(told(&deep), "(x) !");
        let long = (0..5000).map(|number| format!("w{number} ")).collect::<String>();
        assert_eq!(WordQuery::parse(&long).terms().len(), limits::MAX_QUERY_WORDS);
    }

    #[test]
    fn loosened_queries_ask_for_each_word() {
        let query = WordQuery::parse("get_slice +\"one two\" NOT \"x y\"").loosened().unwrap();
        let words: Vec<_> = query.terms().iter().map(|term| term.words[0].1.clone()).collect();
        assert_eq!(words, ["get", "slice", "one", "two"]);
    }

    #[test]
    fn what_is_left_out_is_told() {
        assert_eq!(WordQuery::parse("get-childitem NOT Recurse").excluded, ["recurse"]);
        assert!(WordQuery::parse("a \"NOT b\" -c").excluded.is_empty());
    }
}
