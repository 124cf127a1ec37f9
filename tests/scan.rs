//! A pattern finds exactly what a plain scan of the files finds: over the fixtures and the corpora,
//! and over random files.

use std::collections::BTreeMap;
use std::path::Path;

use mdsel::markdown::{parse, refusal, text_start};
use mdsel::position::{ByteSpan, LineIndex, trim_line_end};
use mdsel::query::search::{Items, PatternOptions, Query, search};
use mdsel::query::{Session, select};
use proptest::prelude::*;
use regex::bytes::{Regex, RegexBuilder};

use crate::corpus;
use crate::harness::{Place, ingest, reader, search_request, store, tampered};

/// Ingests a folder into a store in it.
fn ingested(folder: &Path) {
    let report = ingest(&store(&folder.join(".mdsel.db")), folder);
    assert!(report.warnings.iter().all(|warning| !warning.code.starts_with("INDEX")));
}

/// A pattern and its options.
#[derive(Clone, Debug)]
struct Sought {
    pattern: String,
    options: PatternOptions,
}

impl Sought {
    fn plain(pattern: impl Into<String>) -> Self {
        Self { pattern: pattern.into(), options: PatternOptions::default() }
    }

    /// The same pattern for the `regex` crate.
    fn regex(&self) -> Option<Regex> {
        let options = self.options;
        let pattern =
            if options.is_literal { regex::escape(&self.pattern) } else { self.pattern.clone() };
        let pattern = if options.is_word {
            format!(r"\b{{start-half}}(?:{pattern})\b{{end-half}}")
        } else {
            pattern
        };
        RegexBuilder::new(&pattern)
            .case_insensitive(options.ignores_case)
            .multi_line(options.is_multi_line)
            .crlf(options.is_multi_line)
            .build()
            .ok()
    }

    /// The matches that a plain scan of a file finds.
    fn scan(&self, regex: &Regex, file: &[u8]) -> Vec<ByteSpan> {
        let mut spans = Vec::new();
        // An empty match is not between the bytes of a character.
        let mut boundaries = vec![true; file.len() + 1];
        let mut at = 0;
        for chunk in file.utf8_chunks() {
            let valid = chunk.valid();
            for offset in (0..valid.len()).filter(|offset| !valid.is_char_boundary(*offset)) {
                boundaries[at + offset] = false;
            }
            at += valid.len() + chunk.invalid().len();
        }
        let mut within = |start: usize, text: &[u8]| {
            // No line begins after the last line end of a text.
            let is_ended = text.is_empty() || trim_line_end(text).len() < text.len();
            let ends = self.options.is_multi_line && is_ended;
            let found = regex
                .find_iter(text)
                .filter(|found| !(ends && found.is_empty() && found.end() == text.len()))
                .filter(|found| !found.is_empty() || boundaries[start + found.start()]);
            spans.extend(
                found.map(|found| ByteSpan::new(start + found.start(), start + found.end())),
            );
        };
        if self.options.is_multi_line {
            let outline = parse(file).outline;
            for span in outline.front_matter.into_iter().chain([outline.nodes[0].bytes]) {
                within(span.start, &file[span.start..span.end]);
            }
            for section in &outline.sections {
                let start = outline.nodes[section.node].bytes.start;
                within(start, &file[start..section.own_end]);
            }
        } else {
            // A byte order mark belongs to no line.
            let text = &file[text_start(file)..];
            let lines = LineIndex::new(text);
            for line in 1..=lines.count() {
                let start = lines.start_of(line);
                let line = trim_line_end(&text[start..lines.end_of(line)]);
                within(text_start(file) + start, line);
            }
        }
        spans
    }
}

/// The store of some files, queried through the library.
struct Searched {
    place: Place,
    files: BTreeMap<String, Vec<u8>>,
}

impl Searched {
    fn new(files: BTreeMap<String, Vec<u8>>) -> Self {
        let place = Place::new();
        for (name, file) in &files {
            place.write(name, file);
        }
        ingested(place.path());
        Self { place, files }
    }

    /// Asserts that the hits are those of a scan, and that the addresses of some hits resolve to
    /// them.
    fn check(&self, sought: &Sought, addresses: usize) {
        let Some(regex) = sought.regex() else { return };
        let reader = reader(&self.place.join(".mdsel.db")).unwrap();
        let session = Session::new(&*reader);
        let query = Query::Patterns(vec![sought.pattern.clone()], sought.options);
        let request = search_request(query, 0);
        let answer = search(&session, &request).unwrap();
        let Items::Hits(hits) = &answer.items else { panic!("{answer:?}") };
        let mut expected = Vec::new();
        for (name, file) in &self.files {
            if refusal(file).is_none() {
                let spans = sought.scan(&regex, file);
                expected.extend(spans.into_iter().map(|span| (name.as_str(), span)));
            }
        }
        let found: Vec<(&str, ByteSpan)> = hits
            .iter()
            .map(|hit| (&*hit.file, ByteSpan::new(hit.byte_start, hit.byte_end)))
            .collect();
        if answer.page.truncated {
            expected.truncate(found.len());
        }
        let difference = found.iter().zip(&expected).find(|(one, other)| one != other);
        assert_eq!(found.len(), expected.len(), "{sought:?}: {difference:?}");
        assert_eq!(difference, None, "{sought:?}");
        let step = (hits.len() / addresses.max(1)).max(1);
        for hit in hits.iter().step_by(step).take(addresses) {
            let request = select::SelectRequest {
                addresses: vec![hit.selector.clone()],
                max_words: 500,
                limit: None,
                unique: false,
                after: None,
                room: None,
            };
            let answer = select::select(&session, &request).unwrap();
            let result = answer.results.first();
            let content = result.and_then(|result| result.content.as_ref());
            let text = &self.files[&*hit.file][hit.byte_start..hit.byte_end];
            let contains = content.is_some_and(|content| {
                text.is_empty() || content.bytes.windows(text.len()).any(|window| window == text)
            });
            assert!(contains, "{sought:?}: {hit:?}: {answer:?}");
        }
    }
}

/// Pseudorandom numbers that are the same in every run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % end as u64).unwrap()
    }
}

/// A random piece of some file, of `length` characters.
fn piece(files: &[&Vec<u8>], numbers: &mut Numbers, length: usize) -> String {
    loop {
        let Ok(text) = std::str::from_utf8(files[numbers.below(files.len())]) else { continue };
        let count = text.chars().count();
        if count > length {
            let skip = numbers.below(count - length);
            let piece: String = text.chars().skip(skip).take(length).collect();
            if !piece.contains(['\n', '\r']) {
                return piece;
            }
        }
    }
}

fn patterns(files: &BTreeMap<String, Vec<u8>>) -> Vec<Sought> {
    let files: Vec<&Vec<u8>> = files.values().collect();
    let mut numbers = Numbers(0x9E37_79B9_7F4A_7C15);
    let fixed = [
        "",
        "^",
        "$",
        "^$",
        r"\s+$",
        r"^\s*$",
        "[^x]+",
        r"\d+",
        r"\d{4}-\d\d",
        r"\w{12,}",
        r"[A-Z]{4}",
        r"\bthe\b",
        r"(?i)\bthe$",
        "(?i)straße",
        "(?i)kelvin",
        "(?i)ſ",
        "K",
        "(?i)İ",
        r"\p{Greek}+",
        r"\p{Han}{3}",
        r"[\p{Hiragana}ー]+",
        "[。，]",
        "é",
        "(?i)É",
        r"(foo)?bar",
        "(foo|ba)r?",
        "a|bc|def",
        "colou?r",
        "(get|set)_?[a-z]+",
        r"^#{1,3} ",
        r"^```\w*$",
        r"\[[^\]]*\]\([^)]*\)",
        r"<!--.*-->",
        r"\Afoo",
        r"\.\z",
        r"(?s).",
        r"(?-u)\xe4",
        r"(?-u:\w)+\b",
        r"\B-\B",
        "x*",
        "(a|b)*c",
        "z{0}",
        "-->?",
        r"https?://[^\s)]+",
        r"(?m)^a",
        r"[\n]",
        r"\r",
        "\u{feff}",
        r"\x00",
        "[a-c]{3}",
        "(?i)[k-m]{3}",
        "(ab|cd)(ef|gh)",
        "in(stall|clude)(ing|s)?",
        "..",
        "(?:^|x)y",
        r"\bno\b|\byes\b",
        "n{2,3}",
        "[[:punct:]]{5}",
    ];
    let mut patterns: Vec<Sought> = fixed.into_iter().map(Sought::plain).collect();
    for number in 0..120 {
        let literal = piece(&files, &mut numbers, 1 + number % 20);
        let options = PatternOptions {
            is_literal: true,
            ignores_case: number % 3 == 1,
            is_word: number % 5 == 2,
            is_multi_line: number % 7 == 3,
        };
        patterns.push(Sought { pattern: literal, options });
    }
    for number in 0..120 {
        let mut escaped = |length: usize| regex::escape(&piece(&files, &mut numbers, length));
        let (one, two) = (escaped(2 + number % 5), escaped(1 + number % 9));
        let pattern = match number % 10 {
            0 => format!("{one}|{two}"),
            1 => format!("({one})?{two}"),
            2 => format!("{one}.*{two}"),
            3 => format!("^.*{one}"),
            4 => format!("{one}$"),
            5 => format!("({one}|x){two}?"),
            6 => format!(r"\b{one}\w*"),
            7 => format!("[{}a-c]{two}", regex::escape(&one)),
            8 => format!("(?:{one}){{1,3}}"),
            _ => format!(r"{one}[\s\S]{{0,20}}{two}"),
        };
        let options = PatternOptions {
            ignores_case: number % 4 == 1,
            is_multi_line: number % 3 == 0,
            ..PatternOptions::default()
        };
        patterns.push(Sought { pattern, options });
    }
    patterns
}

#[test]
fn three_hundred_patterns_find_what_a_scan_finds() {
    let mut files = BTreeMap::new();
    for (number, path) in corpus::sample(500).into_iter().enumerate() {
        let name = format!("{:02}/document {number}.md", number % 20);
        files.insert(name, std::fs::read(path).unwrap());
    }
    let searched = Searched::new(files);
    let patterns = patterns(&searched.files);
    assert!(patterns.len() >= 290, "{}", patterns.len());
    std::thread::scope(|scope| {
        for part in patterns.chunks(patterns.len().div_ceil(2)) {
            let searched = &searched;
            scope.spawn(move || part.iter().for_each(|sought| searched.check(sought, 20)));
        }
    });
}

#[test]
fn documents_of_every_size_are_searched_and_compared_with_their_hashes() {
    let place = Place::new();
    let name = |number: usize| format!("{number:02}.md");
    let text = |number: usize, version: usize| match number % 10 {
        3 => String::new(),
        5 => format!("{}line{number} of {version}\n", "long line\n".repeat(30_000)),
        _ => format!("line{number} of {version}\n"),
    };
    (0..60).for_each(|number| place.write(&name(number), text(number, 1)));
    place.run(&["ingest"]).success();
    // Changed documents get new ids, so the ids are not in the order of the paths.
    (0..60).step_by(7).for_each(|number| place.write(&name(number), text(number, 2)));
    place.run(&["ingest"]).success();
    let found = place.run(&["search", "-e", "[a-z]+[0-9]+ of [0-9]", "--limit", "0", "-f", "text"]);
    let found = found.success().text();
    let hits = (0..60).filter(|number| number % 10 != 3);
    for (line, number) in found.lines().zip(hits.clone()) {
        let version = if number % 7 == 0 { 2 } else { 1 };
        let (path, hit) = (name(number), format!("line{number} of {version}"));
        assert!(line.starts_with(&path) && line.ends_with(&hit), "{line}: {path}, {hit}");
    }
    assert_eq!(found.lines().count(), hits.count());

    let (one, other) = ("path = '11.md'", "path = '12.md'");
    let chunk = |path| format!("(SELECT id * 4096 FROM document WHERE {path})");
    tampered(
        &place,
        &format!(
            "UPDATE content SET packed = (SELECT packed FROM content WHERE place = {}) \
             WHERE place = {}",
            chunk(one),
            chunk(other)
        ),
    );
    let answer = place.run(&["search", "-e", "[0-9] of"]).ends(2);
    assert_eq!(answer.code(), "STORE_CORRUPT");
    assert!(
        answer.json()["error"]["message"].as_str().unwrap().contains("12.md"),
        "{}",
        answer.json()
    );
}

#[test]
fn a_byte_order_mark_belongs_to_no_line() {
    let place = Place::ingested(&[("a.md", "\u{FEFF}# Title\n\nText\n")]);
    for flags in [&[][..], &["-U"]] {
        let found = |pattern| {
            let command =
                [&["search", "-e", pattern, "-f", "text", "--no-heading"], flags].concat();
            place.run(&command)
        };
        assert_eq!(found("^# T").success().text(), "a.md:1:1:# Title\n", "{flags:?}");
        found("\u{FEFF}").ends(1);
    }
}

#[test]
fn empty_matches_of_sections_are_those_of_the_file() {
    let place = Place::ingested(&[("u.md", "intro\n\n# A\n\nx\n\n## B\nfoo\n")]);
    let lines = |pattern| {
        let answer = place.run(&["search", "-U", "-e", pattern]).success().json();
        let hits = answer["hits"].as_array().unwrap().iter();
        hits.map(|hit| hit["line"].as_u64().unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(lines("^$"), [2, 4, 6]);
    assert_eq!(lines("^"), [1, 2, 3, 4, 5, 6, 7, 8]);
}

/// Pieces of patterns and files.
fn pieces() -> impl Strategy<Value = &'static str> {
    proptest::sample::select(vec![
        "a", "b", "ab", "abc", "foo", "Bar", "k", "K", "\u{212A}", "\u{FEFF}", "ſ", "é", "中文",
        " ", "\n", "\r\n", "\r", "# ", "- ", "```", "x1", "_", ".", "-", "07", "9f", "\u{665}",
    ])
}

fn pattern() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        4 => pieces().prop_map(regex::escape),
        1 => Just(".".to_owned()),
        2 => proptest::sample::select(vec![
            r"\w", r"\d", r"\s", r"\S", "[^a]", "[a-cK]", "[0-9]", "[0-9a-f]", r"[^\x00-\x7F]",
        ])
        .prop_map(str::to_owned),
        1 => Just("^".to_owned()),
        1 => Just("$".to_owned()),
        1 => Just(r"\b".to_owned()),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 1..4).prop_map(|parts| parts.concat()),
            proptest::collection::vec(inner.clone(), 2..4)
                .prop_map(|parts| format!("(?:{})", parts.join("|"))),
            (inner, proptest::sample::select(vec!["?", "*", "+", "{2}", "{1,3}", "{2,}"]))
                .prop_map(|(part, times)| format!("(?:{part}){times}")),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn any_pattern_finds_what_a_scan_finds(
        files in proptest::collection::vec(
            proptest::collection::vec(pieces(), 0..40).prop_map(|pieces| pieces.concat()), 1..6),
        patterns in proptest::collection::vec((pattern(), any::<[bool; 3]>()), 1..12),
    ) {
        let files = files.into_iter().enumerate();
        let searched = Searched::new(
            files.map(|(number, file)| (format!("{number}.md"), file.into_bytes())).collect());
        for (pattern, [ignores_case, is_word, is_multi_line]) in patterns {
            let options = PatternOptions { is_literal: false, ignores_case, is_word, is_multi_line };
            searched.check(&Sought { pattern, options }, 5);
        }
    }
}
