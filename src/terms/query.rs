//! Parsing word queries.
//!
//! The grammar is that of tantivy with lenient parsing: words, `"phrases"`, `+must`, `AND OR NOT`,
//! parentheses, `^boost`, `prefix*`, and the fields `title: body: code: path: tags: meta:`. A
//! hyphen before a word has no meaning, because options are written that way. The words of a
//! hyphenated word (`read-only`) are separate words, and a section that contains them in sequence
//! gets a higher score. So does one that contains adjacent words of the query as one word (`file name`
//! and `filename`, `read file` and `readFile`). Stop words are dropped if the query has other words.
//! See `mdsel help search`.
//!
//! Invariant: every text is a valid query. Text that the grammar does not accept is searched as
//! plain words with a notice. The same applies to a query that only excludes.

use std::borrow::Cow;
use std::collections::HashSet;

use tantivy_query_grammar::{Delimiter, Occur, UserInputAst, UserInputLeaf, parse_query_lenient};

use super::clause::Clause;
use super::numbers::asks_for_number;
use super::stop_words::{LanguageSet, QuestionLanguages, is_stop_word};
use super::term::{QueryTerm, TextField, term};
use super::tokens::{TokenKind, Tokens, fold_into};
use crate::limits;
use crate::position::ByteSpan;

/// The number of words at the beginning of a query that are also searched joined to their neighbors. Each of them costs
/// time, and long questions have other words to be found by.
const MAX_JOINED_WORDS: usize = 16;

/// A parsed word query.
#[derive(Clone, Debug, PartialEq)]
pub struct WordQuery {
    /// `None` if the query contains no words.
    pub(crate) clause: Option<Clause>,
    /// The reason why the text was not parsed as a query; `None` if it was.
    pub notice: Option<String>,
    /// The texts of the terms that must not match.
    pub excluded: Vec<String>,
    /// The words that were written after a single hyphen, which does not exclude them.
    pub hyphenated: Vec<String>,
    /// Whether it is a question for a number.
    pub(crate) asks_for_number: bool,
}

impl WordQuery {
    /// Parses `text`.
    pub fn parse(text: &str) -> Self {
        let mut query = Self::parse_as_written(text);
        let joined = joined_neighbors(text).map(|term| (Occur::Should, Clause::Bonus(term)));
        query.clause = query.clause.map(|clause| match clause {
            Clause::Group(clauses) => Clause::Group(clauses.into_iter().chain(joined).collect()),
            one => one,
        });
        query
    }

    fn parse_as_written(text: &str) -> Self {
        let asks_for_number = asks_for_number(text);
        let languages = QuestionLanguages::of(text);
        let WithoutHyphens { text, hyphenated, options } = without_hyphens(text);
        let in_its_language = |clause: Clause| {
            let clause = clause.with_light_kinds(&options);
            let without = clause.without_stop_words(languages.of_stop_words);
            let without = without.or_else(|| clause.without_stop_words(LanguageSet::ENGLISH));
            let clause = without.unwrap_or(clause);
            if languages.may_be_other_than_english { clause.in_any_language() } else { clause }
        };
        match read(&text) {
            Ok(clause) => {
                let clause = clause.with_phrases(&options);
                let mut excluded = Vec::new();
                clause.excluded(&mut excluded);
                let excluded = excluded.into_iter().map(|term| term.text.clone()).collect();
                let clause = Some(in_its_language(clause));
                Self { clause, notice: None, excluded, hyphenated, asks_for_number }
            }
            Err(notice) => {
                let (clause, is_cut) = plain_words(&text);
                let clause = clause.map(in_its_language);
                let cut = is_cut.then(|| {
                    format!("only its first {} words are searched", limits::MAX_QUERY_WORDS)
                });
                let notice = notice.or(cut);
                Self { clause, notice, excluded: Vec::new(), hyphenated, asks_for_number }
            }
        }
    }

    /// Makes each query exclude what any of them excludes: they are wordings of one question.
    pub fn share_exclusions(queries: &mut [Self]) {
        let is_not = |(occur, _): &&(Occur, Clause)| *occur == Occur::MustNot;
        let mut shared: Vec<(Occur, Clause)> = Vec::new();
        for clause in queries.iter().filter_map(|query| query.clause.as_ref()) {
            if let Clause::Group(clauses) = clause {
                for one in clauses.iter().filter(is_not) {
                    if !shared.contains(one) {
                        shared.push(one.clone());
                    }
                }
            }
        }
        for query in queries {
            let Some(clause) = query.clause.take() else { continue };
            let mut clauses = match clause {
                Clause::Group(clauses) => clauses,
                one => vec![(Occur::Should, one)],
            };
            let missing = shared.iter().filter(|one| !clauses.contains(one)).cloned();
            let missing: Vec<_> = missing.collect();
            clauses.extend(missing);
            query.clause = Some(Clause::Group(clauses));
        }
    }

    /// Drops the words of `name` from the query, unless nothing else remains. A quoted word stays. It is the name of the
    /// only folder that is searched: everything in that is found by it, so it does not tell one section from another.
    pub fn drop_words_of(&mut self, name: &str) {
        let mut words = HashSet::new();
        let mut tokens = Tokens::new(name);
        while tokens.advance() {
            words.insert(tokens.token.clone());
        }
        let is_dropped =
            |term: &QueryTerm| term.plain_word().is_some_and(|word| words.contains(word));
        let rest = self.clause.as_ref().and_then(|clause| clause.without(&is_dropped));
        self.clause = rest.or_else(|| self.clause.take());
    }

    /// Returns whether the query contains a word.
    pub fn has_words(&self) -> bool {
        self.clause.is_some()
    }

    /// Returns the terms that can match, without dropped stop words.
    pub fn terms(&self) -> Vec<&QueryTerm> {
        let mut terms = Vec::new();
        if let Some(clause) = &self.clause {
            clause.terms(&mut terms);
        }
        terms
    }

    /// Returns the terms that must not match.
    pub(crate) fn excluded_terms(&self) -> Vec<&QueryTerm> {
        let mut terms = Vec::new();
        if let Some(clause) = &self.clause {
            clause.excluded(&mut terms);
        }
        terms
    }

    /// Returns the names of several words that need not match and that can be divided.
    pub fn divisible(&self) -> Vec<QueryTerm> {
        let mut terms = Vec::new();
        if let Some(clause) = &self.clause {
            clause.divisible(&mut terms);
        }
        terms.into_iter().cloned().collect()
    }

    /// Returns the query for a term alone.
    pub fn of_term(term: QueryTerm) -> Self {
        Self {
            clause: Some(Clause::Term(term)),
            notice: None,
            excluded: Vec::new(),
            hyphenated: Vec::new(),
            asks_for_number: false,
        }
    }

    /// Searches the names or words in these [names](Self::divisible), and other spellings of them, instead of them.
    pub fn divide(&mut self, absent: &[QueryTerm]) {
        self.clause = self.clause.as_ref().map(|clause| clause.divided(absent));
    }

    /// Returns the same query with the words of each phrase and compound as separate terms, and names in their other
    /// forms; `None` if nothing changes.
    pub fn loosened(&self) -> Option<Self> {
        let clause = self.clause.as_ref().map(Clause::loosened);
        (clause != self.clause).then(|| Self { clause, notice: None, ..self.clone() })
    }
}

/// Parses `text` with the grammar. The error is the notice to show, or `None` if none is needed.
fn read(text: &str) -> Result<Clause, Option<String>> {
    let is_long = text.len() > limits::MAX_QUERY_BYTES
        || text.bytes().filter(|&byte| byte == b'(').count() > limits::MAX_QUERY_GROUPS;
    if is_long {
        return Err(Some("it is too long for a query; its words are searched".to_owned()));
    }
    let (tree, errors) = parse_query_lenient(text);
    // An unknown field name becomes a word with a colon, which is valid here.
    let is_fault = |message: &str| message != "parsed possible invalid field as term";
    if let Some(error) = errors.iter().find(|error| is_fault(&error.message)) {
        let notice = || format!("{}; its words are searched", error.message);
        return Err(has_operators(text).then(notice));
    }
    // The grammar drops the sign of a single term.
    match clause(tree, text.trim_start().starts_with('+')) {
        Some(clause) if clause.is_positive() => Ok(clause),
        Some(_) => Err(Some("it only excludes; its words are searched".to_owned())),
        None => Err(has_operators(text)
            .then(|| "it cannot be parsed as a query; its words are searched".to_owned())),
    }
}

/// Returns whether `text` has operators that are lost if it is searched as plain words.
/// Parentheses, brackets and other signs do not count, because they also occur in code, paths and
/// addresses.
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

/// Converts a syntax tree to a clause. If `is_literal` is set, joined words become a phrase. `None`
/// if the tree has no meaning here.
fn clause(tree: UserInputAst, is_literal: bool) -> Option<Clause> {
    Some(match tree {
        UserInputAst::Clause(clauses) => {
            let mut result = Vec::with_capacity(clauses.len());
            for (occur, tree) in clauses {
                let occur = occur.unwrap_or(Occur::Should);
                // A term that must or must not match is used as it is written.
                let is_literal = occur != Occur::Should;
                // A word without letters or digits has no tokens and is dropped.
                if let Some(clause) = clause(tree, is_literal)?.non_empty() {
                    match clause {
                        _ if occur == Occur::MustNot => {
                            result.push((occur, clause.without_stems()));
                        }
                        // A group that only excludes applies to the group around it: `a AND NOT b`.
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

/// Returns the words of `text`, which are separated only by signs, as separate terms. The phrase of
/// them increases the score.
fn joined_words(text: &str, phrase: QueryTerm) -> Clause {
    let Some(Clause::Group(mut clauses)) = plain_words(text).0 else { return Clause::Term(phrase) };
    // `to-do` is a name and its words are kept; `what's` is two stop words.
    let is_name = !text.contains(['\'', '\u{2019}'])
        && clauses
            .iter()
            .all(|(_, clause)| clause.without_stop_words(LanguageSet::ENGLISH).is_none());
    if is_name {
        for (_, clause) in &mut clauses {
            if let Clause::Term(term) = clause {
                term.stop_word_of = LanguageSet::default();
            }
        }
    }
    clauses.push((Occur::Should, Clause::Bonus(phrase)));
    Clause::Group(clauses)
}

/// Returns each two and each three adjacent words of `text`, with a blank or a hyphen between them, as one word.
fn joined_neighbors(text: &str) -> impl Iterator<Item = QueryTerm> {
    let mut words: Vec<(String, ByteSpan)> = Vec::new();
    let mut tokens = Tokens::new(text);
    while words.len() < MAX_JOINED_WORDS && tokens.advance() {
        if tokens.kind == TokenKind::Word {
            words.push((tokens.token.clone(), tokens.span));
        }
    }
    let joined = |words: &[(String, ByteSpan)]| {
        let is_near = |pair: &[(String, ByteSpan)]| match pair {
            [(_, one), (_, other)] => {
                matches!(text.get(one.end..other.start), Some(" " | "-"))
            }
            _ => false,
        };
        // `log in` is also written `login`, but `how to` and `is it` are not.
        let is_stopped = words.first().is_none_or(|(word, _)| is_stop_word(word));
        let word: String = words.iter().map(|(word, _)| word.as_str()).collect();
        let term = term(None, &word, true, false);
        term.filter(|_| !is_stopped && words.windows(2).all(is_near))
    };
    let runs = [2, 3].into_iter().flat_map(|count| words.windows(count));
    runs.filter_map(joined).collect::<Vec<_>>().into_iter()
}

/// A query without the hyphens before its words.
struct WithoutHyphens<'a> {
    text: Cow<'a, str>,
    /// The words that were written after a single hyphen.
    hyphenated: Vec<String>,
    /// The words that were written after two hyphens, folded.
    options: Vec<String>,
}

/// Replaces the hyphens before words and between spaces by spaces, except in quotes.
fn without_hyphens(text: &str) -> WithoutHyphens<'_> {
    let (mut hyphenated, mut options) = (Vec::new(), Vec::new());
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
        match hyphens {
            _ if word.is_empty() => {}
            1 => hyphenated.push(word.to_owned()),
            _ => {
                let mut option = String::new();
                fold_into(word, &mut option);
                options.push(option);
            }
        }
    }
    if copied == 0 {
        return WithoutHyphens { text: Cow::Borrowed(text), hyphenated, options };
    }
    result.push_str(text.get(copied..).unwrap_or_default());
    WithoutHyphens { text: Cow::Owned(result), hyphenated, options }
}

/// Returns a clause that matches any word of `text`, and whether words were left out.
fn plain_words(text: &str) -> (Option<Clause>, bool) {
    let mut clauses: Vec<(Occur, Clause)> = Vec::new();
    let mut tokens = Tokens::new(text);
    // The end of the last compound, whose words follow it, and of the last pair.
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

    fn describe(clause: &Clause) -> String {
        match clause {
            Clause::Term(term) => {
                let words: Vec<&str> = term.words.iter().map(|(_, word)| word.as_str()).collect();
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
                    format!("{sign}{}", describe(clause))
                });
                format!("({})", clauses.collect::<Vec<_>>().join(" "))
            }
            Clause::Bonus(term) => format!("~{}", describe(&Clause::Term(term.clone()))),
            Clause::Boost(clause, boost) => format!("{}^{boost}", describe(clause)),
        }
    }

    fn parsed(text: &str) -> String {
        let query = WordQuery::parse_as_written(text);
        let clause = query.clause.as_ref().map_or_else(|| "nothing".to_owned(), describe);
        if query.notice.is_some() { format!("{clause} !") } else { clause }
    }

    #[test]
    fn operators_and_fields_are_parsed() {
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
            assert_eq!(parsed(text), expected, "{text}");
        }
    }

    #[test]
    fn words_have_the_forms_of_the_language_of_the_query() {
        let has = |text: &str, word: &str| {
            let query = WordQuery::parse(text);
            query.terms().iter().filter_map(|term| term.stems.as_ref()).any(|class| class.has(word))
        };
        assert!(has("Wie kann ich eine Notiz mit der anderen verlinken?", "notizen"));
        assert!(has("größe", "grossen"), "English has no such letters");
        assert!(has("размер заметки", "заметками"));
        assert!(has("size of a заметка", "заметки"), "only its language has these letters");
        for text in ["notiz", "größe notiz", "\"größe\" notiz", "搜索 notiz", "größe NOT notiz"]
        {
            assert!(!has(text, "notizen"), "{text}");
        }
        for text in ["Günther policy", "🚀 policy", "10µs policy", "wie kann ich hier die policy"]
        {
            assert!(has(text, "policies"), "{text}");
        }
        assert!(has("größe 2.14", "2.14.1"));
    }

    #[test]
    fn joined_words_become_compounds_or_phrases() {
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
            assert_eq!(parsed(text), expected, "{text}");
        }
    }

    #[test]
    fn names_that_need_not_match_can_be_divided() {
        for (text, expected) in [
            ("std::vector::push_back speed", "(((std vector <push_back>push_back)) speed)"),
            ("Cache.get^2 slow", "((cache get)^2 slow)"),
            ("get_slice twice", "((getslice get slice) twice)"),
            ("getSlice twice", "((<get_slice>get_slice get slice) twice)"),
            ("one (map.a two)", "(one ((map a) two))"),
            ("(map.a", "((map a))"),
            ("one e.g. two", "(one <e.g>e_g two)"),
            ("2.14 one", "(<2.14>2_14 one)"),
            ("c++ one", "(<c++>c one)"),
            ("\"map.a\" one", "(<map.a>map_a one)"),
            ("+map.a one", "(+<map.a>map_a one)"),
            ("one NOT map.a", "(one -<map.a>map_a)"),
            ("title:map.a one", "(Title:<map.a>map_a one)"),
        ] {
            let mut query = WordQuery::parse_as_written(text);
            query.divide(&query.divisible());
            assert_eq!(describe(query.clause.as_ref().unwrap()), expected, "{text}");
        }
    }

    #[test]
    fn adjacent_words_are_also_joined() {
        for (text, expected) in [
            ("file", &[][..]),
            ("read file sync", &["readfile", "filesync", "readfilesync"]),
            ("log in, file-system", &["login", "filesystem"]),
            ("how to read. Files", &[]),
        ] {
            let joined: Vec<_> = joined_neighbors(text).map(|term| term.text).collect();
            assert_eq!(joined, expected, "{text}");
        }
        let query = WordQuery::parse("read file");
        assert_eq!(query.terms().len(), 2, "a joined word need not occur");
        assert_eq!(query.clause.unwrap().leaves().len(), 3);
    }

    #[test]
    fn hyphens_before_words_have_no_meaning() {
        for (text, expected, hyphenated) in [
            ("get -Recurse", "(get recurse)", &["Recurse"][..]),
            ("-x", "x", &["x"]),
            ("list --format fzf", "(list format fzf)", &[]),
            ("one - two", "(one two)", &[]),
            ("one (-two)", "(one two)", &["two)"]),
            ("\"one -two\"", "one_two", &[]),
            ("one two-three", "(one (two three ~two_three))", &[]),
        ] {
            assert_eq!(parsed(text), expected, "{text}");
            assert_eq!(WordQuery::parse(text).hyphenated, hyphenated, "{text}");
        }
    }

    #[test]
    fn the_words_of_a_folder_are_dropped_if_other_words_remain() {
        let rest = |text: &str, name: &str| {
            let mut query = WordQuery::parse(text);
            query.drop_words_of(name);
            query.terms().into_iter().map(|term| term.text.clone()).collect::<Vec<_>>()
        };
        assert_eq!(rest("Obsidian sync limits", "obsidian-help"), ["sync", "limits"]);
        assert_eq!(rest("help for Obsidian", "obsidian-help"), ["help", "obsidian"]);
        assert_eq!(rest("\"sync\" limits", "sync"), ["sync", "limits"]);
        assert_eq!(rest("+sync limits", "sync"), ["sync", "limits"]);
        assert_eq!(rest("title:sync limits", "sync"), ["sync", "limits"]);
    }

    #[test]
    fn stop_words_are_dropped_if_other_words_remain() {
        for (text, expected) in [
            ("how do I share a file", "(share file)"),
            ("how do I", "(how do i)"),
            ("\"how to\" share", "(how_to share)"),
            ("+how share", "(+how share)"),
            ("title:what is", "(Title:what)"),
            ("what's new", "(new)"),
            ("to-do lists", "((to do ~to_do) lists)"),
            ("Wie habe ich hier die Sicherung gemacht", "(sicherung gemacht)"),
            ("+ich habe hier die Sicherung", "(+ich sicherung)"),
            ("die cast", "(die cast)"),
        ] {
            assert_eq!(parsed(text), expected, "{text}");
        }
    }

    #[test]
    fn text_that_cannot_be_parsed_becomes_words() {
        for (text, expected) in [
            ("std::vector<bool>", "(<std::vector>std_vector bool)"),
            ("key: value", "(key value)"),
            ("--flag", "flag"),
            ("(", "nothing"),
            (":", "nothing !"),
            ("", "nothing !"),
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
            assert_eq!(parsed(text), expected, "{text}");
        }
    }

    #[test]
    fn oversized_queries_become_words() {
        let deep = "(".repeat(10_000) + "x";
        assert_eq!(parsed(&deep), "(x) !");
        let long = (0..5000).map(|number| format!("w{number} ")).collect::<String>();
        assert_eq!(WordQuery::parse(&long).terms().len(), limits::MAX_QUERY_WORDS);
    }

    #[test]
    fn loosened_queries_have_each_word_as_a_term() {
        let query = WordQuery::parse("get_slice +\"one two\" NOT \"x y\"").loosened().unwrap();
        let words: Vec<_> = query.terms().iter().map(|term| term.words[0].1.clone()).collect();
        assert_eq!(words, ["get", "slice", "one", "two"]);
    }

    #[test]
    fn wordings_share_what_they_exclude() {
        let mut queries =
            ["sync NOT windows", "mirror", "copy NOT windows NOT mac"].map(WordQuery::parse);
        WordQuery::share_exclusions(&mut queries);
        for query in &queries {
            let excluded = query.excluded_terms();
            let mut excluded: Vec<_> = excluded.iter().map(|term| &*term.text).collect();
            excluded.sort_unstable();
            assert_eq!(excluded, ["mac", "windows"], "{query:?}");
            assert_eq!(query.terms().len(), 1);
        }
    }

    #[test]
    fn excluded_terms_are_listed() {
        assert_eq!(WordQuery::parse("get-childitem NOT Recurse").excluded, ["recurse"]);
        assert!(WordQuery::parse("a \"NOT b\" -c").excluded.is_empty());
    }
}
