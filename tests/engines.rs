//! Every engine of the store gives the same answers: a store file, a store in memory, a store on a server if
//! there is one, and a store on several servers if there are some.

use std::time::Duration;

use mdsel::edit::plan::{Allow, ContentChange, EditScope};
use mdsel::edit::{self, Edit, Operation};
use mdsel::error::ErrorKind;
use mdsel::ingest::{IngestRequest, Paths, run_again};
use mdsel::output::Format;
use mdsel::query::documents::named;
use mdsel::query::folders::entries;
use mdsel::query::links::check::check as check_links;
use mdsel::query::resolve::{NodeRange, resolve};
use mdsel::query::search::{self, PatternOptions, Query};
use mdsel::query::{FilterRequest, Session, ask, index};
use mdsel::store::{IfAbsent, Lookup, Purpose, Store};
use serde_json::Value;

use crate::budgets::{COMMANDS, Call, FORMATS, Opened};
use crate::harness::{Place, in_memory, ingest, search_request, store};
use crate::server::Schema;

/// Stores of all engines.
struct Engines {
    stores: Vec<Store>,
    /// Dropped last.
    _schemas: Vec<Schema>,
}

impl Engines {
    /// Returns empty stores. The store file is in `place`.
    fn empty(place: &Place) -> Self {
        let schemas: Vec<Schema> = Schema::new().into_iter().chain(Schema::on_several()).collect();
        let mut stores = vec![store(&place.join(".mdsel.db")), in_memory()];
        stores.extend(schemas.iter().map(Schema::store));
        Self { stores, _schemas: schemas }
    }

    /// Returns stores with the documents of `place`.
    fn with(place: &Place) -> Self {
        let engines = Self::empty(place);
        for engine in &engines.stores {
            ingest(engine, place.path());
        }
        engines
    }
}

/// Asserts that `question` has the same answer with all engines, and returns it.
fn same<T: PartialEq + std::fmt::Debug>(
    engines: &Engines,
    what: &str,
    question: impl Fn(&Session<'_>) -> mdsel::error::Result<T>,
) -> T {
    let (file, others) = engines.stores.split_first().unwrap();
    let expected = ask(file, Purpose::Search, &question).unwrap();
    for (number, other) in others.iter().enumerate() {
        assert_eq!(ask(other, Purpose::Search, &question).unwrap(), expected, "{what} {number}");
    }
    expected
}

#[test]
fn only_a_writer_that_may_create_a_store_creates_one() {
    let place = Place::with(&[("a.md", "# One\n")]);
    let schema = Schema::new();
    let of_one = [store(&place.join(".mdsel.db")), in_memory()];
    for store in &of_one.into_iter().chain(schema.as_ref().map(Schema::store)).collect::<Vec<_>>() {
        let refused = store.writer(IfAbsent::Fail, Duration::ZERO).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::StoreNotFound, "{store:?}");
        let again = IngestRequest::of_stored(store, Paths::All, Duration::ZERO);
        let refused = run_again(&again).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::StoreNotFound, "{store:?}");
        assert!(store.peek(Purpose::Read).unwrap().is_none(), "{store:?}");
        ingest(store, place.path());
        store.writer(IfAbsent::Fail, Duration::ZERO).unwrap();
    }
    let files = std::fs::read_dir(place.path()).unwrap();
    assert_eq!(files.count(), 4, "the document, the store, its lock and its index");
}

/// The hits of a search, in order. Their scores may differ: an index counts removed documents, too.
fn hits(session: &Session<'_>, query: Query, filter: FilterRequest) -> mdsel::error::Result<Value> {
    let request = search::SearchRequest { filter, ..search_request(query, 0) };
    let answer = search::search(session, &request)?;
    let rows = mdsel::output::Answer::rows(&answer).map(|mut row| {
        row.as_object_mut().unwrap().shift_remove("score");
        row
    });
    Ok(rows.collect())
}

#[test]
fn commands_print_the_same_in_every_format() {
    let place = Place::with_fixtures();
    let engines = Engines::with(&place);
    for (name, command) in COMMANDS {
        for format in FORMATS {
            for max_chars in [None, Some(700)] {
                let call = Call { max_chars, ..Call::whole(format) };
                let printed = |session: &Session<'_>| {
                    let session = Session::new(session.reader);
                    // A format that a command does not have is the same error.
                    let printed = command(&mut Opened { session }, call);
                    Ok(printed.map_err(|error| error.to_string()))
                };
                let printed = same(&engines, &format!("{name} {format:?} {max_chars:?}"), printed);
                assert!(printed.is_err() || format != Format::Json || !printed.unwrap().is_empty());
            }
        }
    }
}

#[test]
fn words_and_patterns_find_the_same() {
    let place = Place::with_fixtures();
    let engines = Engines::with(&place);
    let words = [
        "install",
        "installing documents",
        "\"the document\"",
        "\"the document\"~2",
        "\"document the\"~3",
        "inst*",
        "title:guide",
        "code:install NOT guide",
        "+install +guide",
        "path:cjk",
        "meta:title",
        "tags:draft",
        "中文 文档",
        "read-only",
        "nothing-like-this-exists",
    ];
    let of_types = |types: &[&str]| FilterRequest {
        types: types.iter().map(|name| (*name).to_owned()).collect(),
        ..Default::default()
    };
    let mut found = 0;
    for text in words {
        for filter in [
            FilterRequest::default(),
            FilterRequest { globs: vec!["*.md".to_owned()], level: Some(2), ..Default::default() },
            FilterRequest { under: vec!["guide.md".to_owned()], ..Default::default() },
            FilterRequest { globs: vec!["cjk/**".to_owned()], ..Default::default() },
            of_types(&["paragraph"]),
            of_types(&["code"]),
            of_types(&["item", "blockquote"]),
            of_types(&["frontmatter", "table", "html"]),
        ] {
            let query = Query::Words(vec![text.to_owned()]);
            let rows = same(&engines, &format!("{text} {filter:?}"), |session| {
                hits(session, query.clone(), filter.clone())
            });
            found += rows.as_array().unwrap().len();
        }
    }
    assert!(found > 50, "{found}");
    for (pattern, is_literal) in [("install", true), ("(?i)the|a", false), ("e", true)] {
        let options = PatternOptions { is_literal, ..PatternOptions::default() };
        let query = Query::Patterns(vec![pattern.to_owned()], options);
        let rows = same(&engines, pattern, |session| {
            hits(session, query.clone(), FilterRequest::default())
        });
        assert!(!rows.as_array().unwrap().is_empty(), "{pattern}");
    }
}

#[test]
fn words_of_front_matter_and_names_score_the_same() {
    let place = Place::new();
    let files = [
        ("a.md", "---\ndescription: how to install\n---\n# A\n\ntext\n"),
        ("d.md", "# Get slice of\n\nget_slice gets\n\n## Other\n\nto get slice five\n"),
        ("one two/e.md", "# E\n\nbody\n"),
        ("f.md", "# F\n\none two word\n\n# G\n\nword #tag\n"),
        ("short.md", "# S\n\none foo bar\n\none foo bat\n"),
        ("forms.md", "# F\n\nзаметками Notizen\n\n# G\n\nзаметка Notizbuch\n"),
        (
            "code.md",
            "# C\n\nfiller\n\n```\nraise portcullis of one\n```\n\n# D\n\n```\nraise it\n```\n",
        ),
        ("cjk.md", "# C\n\n\u{6fb3}\u{5927}\u{5229}\u{4e9a}\n\n# D\n\n\u{6fb3}\u{5927}\n"),
    ];
    for (path, text) in files {
        place.write(path, text);
        place.write(&format!("part/{path}"), format!("{text}\nin a part, one\n"));
    }
    place.write("b.md", "---\ntitle: none\ndescription: other\n---\n# B\n\ninstall it\n");
    place.write("c.md", "# Install\n\ndescription of the install\n\n## Description\n");
    place.write(
        "long.md",
        "# L\n\na long line of words before one foo bar and foo and words after it\n",
    );
    for number in 0..6 {
        place.write(&format!("{number}.md"), "# N\n\none two filler\n");
    }
    let engines = Engines::with(&place);
    let texts = [
        "meta:description",
        "meta:description install",
        "meta:inst*",
        "meta:\"how to\"",
        "get_slice",
        "other get_slice",
        "path:\"one two\" word",
        "path:on* word",
        "path:one_two word",
        "\"foo ba\"*",
        "\"one foo ba\"*",
        "\u{6fb3}\u{5927}\u{5229}*",
        "\u{6fb3}\u{5927}*",
        "portcullis filler",
        "raised filler",
        "gate::raise.portcullis word",
        "заметка",
        "Wie kann ich hier eine Notiz finden?",
    ];
    // Words are counted in the folder that is searched.
    for (text, under) in texts.iter().flat_map(|text| [(text, None), (text, Some("part"))]) {
        let of = |store: &Store| -> Vec<(String, f64)> {
            let mut request = search_request(Query::Words(vec![(*text).to_owned()]), 0);
            request.filter.under = under.into_iter().map(str::to_owned).collect();
            let ranked = |session: &Session<'_>| search::search(session, &request);
            let answer = ask(store, Purpose::Search, ranked).unwrap();
            let rows = mdsel::output::Answer::rows(&answer);
            let hit = |row: Value| {
                (row["selector"].as_str().unwrap().to_owned(), row["score"].as_f64().unwrap())
            };
            rows.map(hit).collect()
        };
        let (file, others) = engines.stores.split_first().unwrap();
        let expected = of(file);
        assert!(!expected.is_empty(), "{text} {under:?}");
        let is_meta = text.starts_with("meta:");
        assert!(!is_meta || expected[0].0.ends_with("@frontmatter"), "{text}: {expected:?}");
        for (number, other) in others.iter().enumerate() {
            let found = of(other);
            assert_eq!(
                found.len(),
                expected.len(),
                "{text} {under:?} {number}: {found:?} {expected:?}"
            );
            for (found, expected) in found.iter().zip(&expected) {
                // An index rounds the mean length of the texts in a folder.
                let most = if under.is_some() { 0.02 * expected.1 } else { 0.002 };
                let is_near = (found.1 - expected.1).abs() < most;
                assert!(
                    found.0 == expected.0 && is_near,
                    "{text} {under:?} {number}: {found:?} {expected:?}"
                );
            }
        }
    }
}

#[test]
fn every_address_and_link_leads_to_the_same_place() {
    let place = Place::with_fixtures();
    place.write(
        "manual/01-first/2_steps.md",
        "# Steps\n\n[on](/first/steps) [by name](../first/steps.md)\n",
    );
    place.run(&["ingest"]).success();
    let engines = Engines::with(&place);
    let addresses = same(&engines, "index", |session| {
        let request = index::IndexRequest {
            documents: Vec::new(),
            filter: FilterRequest::default(),
            blocks: true,
            limit: 0,
            after: None,
        };
        let answer = index::index(session, &request)?;
        let rows = mdsel::output::Answer::rows(&answer);
        let headings = rows.flat_map(|row| row["headings"].as_array().unwrap().clone());
        let field = |heading: &Value, name: &str| heading[name].as_str().unwrap_or("").to_owned();
        let addresses = headings.flat_map(|heading| {
            [field(&heading, "selector"), field(&heading, "title"), field(&heading, "anchor")]
        });
        Ok(addresses.filter(|address| !address.is_empty()).collect::<Vec<_>>())
    });
    let documents = same(&engines, "documents", |session| {
        let documents = session.reader.all(&Lookup::All)?;
        Ok(documents.into_iter().map(|document| document.path).collect::<Vec<_>>())
    });
    assert!(addresses.len() > 60 && documents.len() > 20);
    let wrong = documents.iter().map(|path| format!("{path}x"));
    let suffixes = documents.iter().filter_map(|path| path.rsplit('/').next().map(str::to_owned));
    for address in addresses.iter().cloned().chain(documents.clone()).chain(wrong).chain(suffixes) {
        same(&engines, &address, |session| {
            let found = resolve(session, &address, NodeRange { skip: 0, take: 20 })?;
            let places: Vec<String> = found
                .places
                .iter()
                .map(mdsel::query::resolved_node::ResolvedNode::address)
                .collect();
            Ok((places, found.fault.map(|fault| format!("{fault:?}"))))
        });
    }
    let folders = documents.iter().flat_map(|path| {
        let parts: Vec<&str> = path.split('/').collect();
        (1..parts.len()).map(move |end| parts[end.min(1)..=end].join("/")).collect::<Vec<_>>()
    });
    for name in folders.chain(["o".to_owned(), "%".to_owned()]) {
        same(&engines, &name, |session| {
            let found = named(session, std::slice::from_ref(&name))?;
            let paths = found.documents.into_iter().map(|document| document.path);
            Ok((paths.collect::<Vec<_>>(), format!("{:?}", found.faults)))
        });
    }
    same(&engines, "folders", |session| session.reader.folders());
    let numbered = same(&engines, "numbered", |session| {
        let documents = session.reader.all(&Lookup::Numbered)?;
        Ok(documents.into_iter().map(|document| document.path).collect::<Vec<_>>())
    });
    assert!(!numbered.is_empty());
    let problems = same(&engines, "links check", |session| {
        let checked = check_links(session, &[], &FilterRequest::default(), None)?;
        Ok(checked.findings.iter().map(|finding| format!("{finding:?}")).collect::<Vec<_>>())
    });
    assert!(!problems.is_empty());
}

/// The index of a store file names the documents whose titles may contain a text. The other engines compare the
/// titles of all documents.
#[test]
fn parts_of_titles_are_found_the_same() {
    let place = Place::with_fixtures();
    place.write(
        "titles.md",
        "# ÄRGER mit *halb*fetten W\u{f6}rtern\n\n## C++ &amp; `std::vec`\n\n## 目次 と 索引\n",
    );
    let engines = Engines::with(&place);
    let found = same(&engines, "titles", |session| {
        let mut parts: Vec<String> =
            ["", "-", "ab", "no such title", "Zzz"].map(str::to_owned).into();
        let documents = session.reader.all(&Lookup::All)?;
        for section in session.reader.outlines(&documents)?.iter().flat_map(|tree| &tree.sections) {
            for title in section.titles() {
                let scalars: Vec<char> = title.chars().collect();
                let windows =
                    (1..12).step_by(2).flat_map(|length| scalars.windows(length).step_by(3));
                parts.extend(windows.map(|part| part.iter().collect()));
                parts.push(title.to_owned());
                parts.push(title.to_uppercase());
            }
        }
        parts.sort_unstable();
        parts.dedup();
        let found = |text: &String| {
            let paths = |which: Lookup<'_>| -> mdsel::error::Result<Vec<String>> {
                let documents = session.reader.all(&which)?;
                Ok(documents.into_iter().map(|document| document.path).collect())
            };
            let parts = paths(Lookup::TitleParts(&[text]))?;
            let whole = paths(Lookup::Titles(&[text, "Zzz"]))?;
            let ids = session.reader.with_title_parts(&[text])?;
            assert_eq!(ids.len(), parts.len(), "{text:?}");
            mdsel::error::Result::Ok((text.clone(), parts, whole))
        };
        parts.iter().map(found).collect::<mdsel::error::Result<Vec<_>>>()
    });
    for (text, parts, whole) in &found {
        assert_eq!(parts.is_empty(), ["no such title", "Zzz"].contains(&text.as_str()), "{text:?}");
        assert!(whole.iter().all(|path| parts.contains(path)), "{text:?}");
    }
    assert!(found.len() > 500, "{}", found.len());
    assert!(found.iter().filter(|(_, _, whole)| !whole.is_empty()).count() > 60);
}

#[test]
fn an_ingest_and_an_edit_change_the_same() {
    let places = [(); 4].map(|()| Place::new());
    for place in &places {
        place.write("a.md", "# A\n\none\n\n## Below\n\ntwo\n");
        place.write("b/c.md", "# C\n\n[a](../a.md#below)\n");
        place.write("gone.md", "# Gone\n");
    }
    let engines = Engines::empty(&places[0]);
    let mut reports = Vec::new();
    for (engine, place) in engines.stores.iter().zip(&places) {
        ingest(engine, place.path());
        place.write("a.md", "# A\n\nchanged\n\n## Below\n\ntwo\n");
        place.write("new.md", "# New\n");
        std::fs::remove_file(place.join("gone.md")).unwrap();
        let report = ingest(engine, place.path());
        reports.push((report.added, report.changed, report.removed, report.unchanged));
        let request = edit::EditRequest {
            store: engine,
            document: None,
            expect: None,
            edits: vec![Edit {
                document: None,
                section: "a.md::A/Below".to_owned(),
                operation: Operation::Content(ContentChange::Replace {
                    content: b"three\n".to_vec(),
                    scope: EditScope::Subtree,
                    keep_heading: true,
                }),
                allow: Allow::default(),
                expect: None,
                is_fuzzy: false,
                origin: None,
            }],
            is_dry_run: false,
            is_refresh: false,
            // A test in another thread that starts a program holds the lock for a moment.
            wait: Duration::from_secs(10),
            confirm: &|_| Ok(()),
        };
        edit::edit(&request).unwrap().unwrap();
        let expected = "# A\n\nchanged\n\n## Below\n\nthree\n";
        assert_eq!(std::fs::read_to_string(place.join("a.md")).unwrap(), expected);
    }
    assert!(reports.iter().all(|report| *report == (1, 1, 1, 1)), "{reports:?}");
    let contents = same(&engines, "contents", |session| {
        let documents = session.reader.all(&Lookup::All)?;
        let parts: Vec<_> = documents
            .iter()
            .map(|document| (document, mdsel::position::ByteSpan::new(0, usize::MAX)))
            .collect();
        session.reader.contents(&parts)
    });
    assert_eq!(contents.len(), 3);
    let hit = same(&engines, "search", |session| {
        hits(session, Query::Words(vec!["three".to_owned()]), FilterRequest::default())
    });
    assert_eq!(hit[0]["selector"], "a.md::heading:h2[0]/block:paragraph[0]");
}

#[test]
fn front_matter_that_could_not_be_parsed_is_known_without_the_document() {
    let place = Place::new();
    place.write("a.md", "# A\n");
    place.write("b.md", "---\nk: [\n---\n");
    place.write("c.md", "---\nk: 2\n---\n");
    let engines = Engines::with(&place);
    let paths = same(&engines, "unreadable", |session| {
        let ids = session.reader.with_diagnostic("FRONT_MATTER_UNREADABLE")?;
        let documents = session.reader.all(&Lookup::All)?.into_iter();
        Ok(documents.filter(|one| ids.contains(&one.id)).map(|one| one.path).collect::<Vec<_>>())
    });
    assert_eq!(paths, ["b.md"]);
}

#[test]
fn a_folder_has_the_same_size_and_entries() {
    let place = Place::with(&[
        ("a.md", "# A\n"),
        ("a/b.md", "# Longer\n"),
        ("a/c/d.md", "# D\n"),
        ("a/c.md", "# C\n"),
        ("a-b/e.md", "# E\n"),
        ("z.md", "# Z\n"),
    ]);
    let engines = Engines::with(&place);
    let size = |folder| same(&engines, folder, |session| session.reader.size_of_folder(folder));
    assert_eq!(size("a"), (3, 17));
    assert_eq!(size("a/c"), (1, 4));
    assert_eq!(size("none"), (0, 0));
    let entries = |folder| same(&engines, folder, |session| entries(session.reader, folder));
    assert_eq!(entries(""), ["a-b/", "a.md", "a/", "z.md"]);
    assert_eq!(entries("a"), ["a/b.md", "a/c.md", "a/c/"]);
}
