//! Documents in which every line identifies their version, and what must be true of a store of
//! them.
//!
//! Invariant: two versions share no line that a search could confuse. An answer that mixes two
//! versions, or shows half a file, is detected.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::Value;

use crate::harness::Place;

/// The versions of the documents by number; `None` if a document does not exist.
pub(crate) type Versions = Vec<Option<u64>>;

/// The path of a document.
pub(crate) fn path(number: usize) -> String {
    format!("folder-{}/{number}.md", number % 2)
}

/// The word that is on every line of a version and nowhere else.
pub(crate) fn word(number: usize, version: u64) -> String {
    let letters = |number: u64| -> String {
        number.to_string().bytes().map(|digit| char::from(digit - b'0' + b'b')).collect()
    };
    format!("q{}v{}x", letters(number as u64), letters(version))
}

/// A version of a document: three sections, of a length that changes from version to version.
pub(crate) fn document(number: usize, version: u64) -> String {
    let word = word(number, version);
    let lines = format!("{word} line\n").repeat(1 + usize::try_from(version % 5).unwrap());
    let next = path(number + 1);
    format!("# Title\n\n{lines}\n## Alpha\n\n{word} [next](../{next})\n\n## Beta\n\n{lines}")
}

/// The version of a line that begins with its word.
pub(crate) fn version_of_line(line: &str) -> Option<u64> {
    let word = line.split(' ').next()?;
    let letters = word.rsplit('v').next()?.trim_end_matches('x').bytes();
    let digits: Vec<u8> =
        letters.map(|letter| letter.wrapping_sub(b'b').wrapping_add(b'0')).collect();
    String::from_utf8(digits).ok()?.parse().ok()
}

/// The version of these bytes, which must be complete.
pub(crate) fn version(number: usize, bytes: &[u8]) -> u64 {
    let text = std::str::from_utf8(bytes).unwrap();
    let version = text.lines().nth(2).and_then(version_of_line).unwrap_or_default();
    assert!(text == document(number, version), "{} is torn: {text:?}", path(number));
    version
}

/// Writes or removes the files of these versions.
pub(crate) fn write(place: &Place, versions: &Versions) {
    for (number, version) in versions.iter().enumerate() {
        match version {
            Some(version) => place.write(&path(number), document(number, *version)),
            None => drop(std::fs::remove_file(place.join(&path(number)))),
        }
    }
}

/// The versions of the files, each of which must be complete.
pub(crate) fn of_files(place: &Place, count: usize) -> Versions {
    let file = |number: usize| std::fs::read(place.join(&path(number))).ok();
    (0..count).map(|number| file(number).map(|bytes| version(number, &bytes))).collect()
}

/// The versions in a pack, each of which must be complete.
pub(crate) fn of_pack(pack: &[u8], count: usize) -> Versions {
    let mut versions = vec![None; count];
    for item in mdsel::pack::PackReader::new(pack).unwrap() {
        if let mdsel::pack::PackItem::Document(document) = item.unwrap() {
            let number = (0..count).find(|&number| path(number) == document.path).unwrap();
            versions[number] = Some(version(number, &document.bytes));
        }
    }
    versions
}

/// The versions in the store, each of which must be complete.
pub(crate) fn of_store(place: &Place, count: usize) -> Versions {
    of_pack(&place.run(&["dump"]).success().stdout, count)
}

/// A pack of these versions.
pub(crate) fn pack(versions: &Versions) -> Vec<u8> {
    let mut documents: Vec<_> = versions
        .iter()
        .enumerate()
        .filter_map(|(number, version)| version.map(|version| (path(number), number, version)))
        .collect();
    documents.sort();
    let header = mdsel::pack::Header { documents: documents.len(), ..Default::default() };
    let mut writer = mdsel::pack::PackWriter::new(Vec::new(), &header).unwrap();
    for (path, number, version) in documents {
        let bytes = document(number, version).into_bytes();
        let kind = "Document".to_owned();
        let document = mdsel::pack::PackDocument { path, kind, bytes, ..Default::default() };
        writer.document(&document).unwrap();
    }
    writer.finish().unwrap()
}

/// A line that a search returns: file, line number, text.
pub(crate) type Line = (String, u64, String);

/// The lines of these versions that contain their words.
pub(crate) fn lines(versions: &Versions) -> BTreeSet<Line> {
    let mut lines = BTreeSet::new();
    for (number, version) in versions.iter().enumerate() {
        let Some(version) = version else { continue };
        for (line, text) in (1..).zip(document(number, *version).lines()) {
            if text.contains(&word(number, *version)) {
                lines.insert((path(number), line, text.to_owned()));
            }
        }
    }
    lines
}

/// The lines in an answer of `search`, each of them once.
pub(crate) fn hits(answer: &Value) -> BTreeSet<Line> {
    let hits = answer["hits"].as_array().unwrap_or_else(|| panic!("{answer}"));
    let lines: BTreeSet<Line> = hits
        .iter()
        .map(|hit| {
            let text = |field: &str| hit[field].as_str().unwrap().to_owned();
            (text("file"), hit["line"].as_u64().unwrap(), text("text"))
        })
        .collect();
    assert_eq!(lines.len(), hits.len(), "a hit is listed twice: {answer}");
    lines
}

/// Asserts that searches, by words and by pattern, return what the store contains and nothing else.
/// `others` are versions that are in no document. Afterwards the index is up to date.
pub(crate) fn assert_agrees(place: &Place, versions: &Versions, others: &[&Versions]) {
    let mut words = BTreeSet::new();
    for versions in [versions].into_iter().chain(others.iter().copied()) {
        let known = versions.iter().enumerate();
        words.extend(known.filter_map(|(number, version)| version.map(|v| word(number, v))));
    }
    let words: Vec<String> = words.into_iter().collect();
    let expected = lines(versions);
    for words in words.chunks(24) {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let has_word = |text: &str| words.iter().any(|word| text.contains(word));
        let expected: BTreeSet<Line> =
            expected.iter().filter(|(_, _, text)| has_word(text)).cloned().collect();
        let patterns = words.iter().flat_map(|word| ["-e", word]);
        let by_pattern = ["search", "-F", "--limit", "0"].into_iter().chain(patterns);
        let answer = place.run(&by_pattern.collect::<Vec<_>>()).json();
        assert_eq!(hits(&answer), expected, "{answer}");
        // A ranked search returns each section once, by one of its lines.
        let ranked = ["search", &words.join(" "), "--limit", "0", "--keep-duplicates"];
        let answer = place.run(&ranked).json();
        assert!(hits(&answer).is_subset(&expected), "{answer} {expected:?}");
        let sections_hit = answer["hits"].as_array().unwrap().iter();
        let sections_hit: Vec<&str> =
            sections_hit.map(|hit| hit["section"].as_str().unwrap()).collect();
        let files: BTreeSet<&String> = expected.iter().map(|(file, _, _)| file).collect();
        let sections: BTreeSet<String> = files
            .iter()
            .flat_map(|file| ["h1[0]", "h2[0]", "h2[1]"].map(|h| format!("{file}::heading:{h}")))
            .collect();
        assert_eq!(sections_hit.len(), sections.len(), "{answer}");
        assert!(sections_hit.iter().all(|section| sections.contains(*section)), "{answer}");
        // A first ingest that failed leaves a store without documents, and the answer says so.
        let warnings = answer.get("warnings").and_then(|all| all.as_array()).into_iter().flatten();
        let codes: Vec<&Value> = warnings.map(|warning| &warning["code"]).collect();
        assert!(codes.is_empty() || files.is_empty() && codes == ["EMPTY_STORE"], "{answer}");
    }
    let status = place.run(&["status"]).success().json();
    assert_eq!(status["generation"], status["index_generation"]);
    assert_whole(place);
}

/// Asserts that the store reports no problem. Leftovers, which only take space, are removed by the
/// next writer.
pub(crate) fn assert_whole(place: &Place) {
    let verified = place.run(&["verify", "--reparse"]);
    assert!(verified.status < 2, "{}", verified.text());
    let findings = verified.json()["findings"].as_array().unwrap().clone();
    assert!(findings.iter().all(|finding| finding["code"] == "INDEX_LEFTOVERS"), "{findings:?}");
}

/// Asserts that an interrupted command has left no files.
pub(crate) fn assert_no_leftovers(place: &Place) {
    assert_none_below(place.path());
}

fn assert_none_below(folder: &Path) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        let is_of_store = name.starts_with(".mdsel.db");
        let is_left = name.starts_with(".tmp")
            || name.contains("mdsel-edit")
            || is_of_store && ["-new", "-repaired"].iter().any(|part| name.contains(part));
        assert!(!is_left, "{} is left", path.display());
        if path.is_dir() {
            assert_none_below(&path);
        }
    }
}
