//! Passages of `search`: which sections come first, and what each hit shows.

use crate::harness::Place;

/// The reply of `search QUERY -f text` with other arguments.
fn reply(place: &Place, arguments: &[&str]) -> String {
    place.run(&[&["search", "-f", "text"], arguments].concat()).success().text()
}

/// The file names of the hits of a reply, best first.
fn files(reply: &str) -> Vec<&str> {
    let names = reply.lines().filter_map(|line| Some(line.split_once(".md:")?.0));
    names.filter(|name| !name.contains(' ')).collect()
}

/// Paragraphs without a word of any query in these tests.
fn filler(paragraphs: usize) -> String {
    (0..paragraphs)
        .map(|n| format!("Paragraph {n} is about other things altogether.\n\n"))
        .collect()
}

#[test]
fn a_sentence_with_the_whole_question_precedes_scattered_words() {
    let place = Place::ingested(&[
        ("one.md", "# One\n\nSet the pressure of the valve with the sensor.\n"),
        (
            "scattered.md",
            "# Scattered\n\nA valve, a valve, and a valve.\n\nThe pressure, pressure and pressure.\n\n\
             Sensor after sensor after sensor.\n",
        ),
    ]);
    assert_eq!(files(&reply(&place, &["sensor pressure valve"])), ["one", "scattered"]);
}

#[test]
fn a_question_for_a_number_prefers_text_with_one() {
    let place = Place::ingested(&[
        ("without.md", "# Pump\n\nThe blades of the pump are made of steel.\n"),
        ("with.md", "# Pump\n\nFor many years, the pump of this house has had 12 blades.\n"),
    ]);
    assert_eq!(files(&reply(&place, &["pump blades"])), ["without", "with"]);
    for question in ["how many blades does the pump have", "Combien de blades, pump?"] {
        assert_eq!(files(&reply(&place, &[question])), ["with", "without"], "{question}");
    }
}

#[test]
fn each_wording_counts_by_itself() {
    let place = Place::ingested(&[
        ("answer.md", "# A\n\nA durable object keeps its alarm after a restart.\n"),
        ("mixed.md", "# B\n\nThe object wakes.\n\nA timer of a durable box.\n"),
        ("other.md", "# C\n\nA worker wakes the timer of another worker.\n"),
    ]);
    let (one, other) = ("durable object alarm restart", "worker timer wakes");
    for wordings in [[one, "--also", other], [other, "--also", one]] {
        let reply = reply(&place, &wordings);
        assert_eq!(files(&reply), ["answer", "other", "mixed"], "{reply}");
    }
}

#[test]
fn a_passage_shows_what_answers_one_wording() {
    let text = format!(
        "# Client\n\nThe maximum of open connections is reached when attempts of several clients overlap.\n\n\
         {}The retry limit defaults to five, and what fails as often is given back to the caller.\n",
        filler(3)
    );
    let place = Place::ingested(&[("a.md", &text)]);
    let others = ["--also", "maximum attempts", "--also", "open connections before giving up"];
    let question = ["retry limit default", "--passage", "100"];
    let reply = reply(&place, &[&question[..], &others].concat());
    assert!(reply.contains("The retry limit defaults to five"), "{reply}");
}

#[test]
fn the_nearest_titles_are_shown_if_all_are_long() {
    let machine = "The complete manual of the machine for rewinding spindles";
    let text = format!(
        "# {machine}\n\n## Maintenance in winter\n\n### Oil\n\nUse the green oil.\n\n\
         # {machine}, {machine}\n\nUse a lantern.\n"
    );
    let place = Place::ingested(&[("a.md", &text)]);
    let titles = |query| reply(&place, &[query]).lines().next().unwrap().to_owned();
    assert_eq!(titles("green oil"), "a.md:7-7  Maintenance in winter > Oil");
    assert_eq!(titles("lantern"), format!("a.md:11-11  {machine}, {machine}"), "the only title");
    let place = Place::ingested(&[("a.md", "# Manual\n\n## Winter\n\nUse the green oil.\n")]);
    assert_eq!(reply(&place, &["oil"]).lines().next(), Some("a.md:5-5  Manual > Winter"));
}

#[test]
fn a_line_that_ends_with_a_colon_is_shown_with_what_it_announces() {
    for (announced, last) in [
        ("```sh\nmake clean\nmake everything\n```\n", "make everything"),
        ("1. Open the lid.\n2. Turn it over.\n", "2. Turn it over."),
        ("> Never force it.\n", "Never force it."),
    ] {
        let text = format!(
            "# Manual\n\n{}To rewind the spindle, do this:\n\n{announced}\n{}",
            filler(8),
            filler(8)
        );
        let place = Place::ingested(&[("a.md", &text)]);
        let reply = reply(&place, &["rewind spindle", "--passage", "150"]);
        assert!(reply.contains("do this:"), "{reply}");
        assert!(reply.contains(last), "{reply}");
    }
}

#[test]
fn a_nested_item_is_shown_with_the_items_above_it() {
    let text = format!(
        "# Parts\n\n{}- Engines\n  - of boats\n    - the zirconium gasket\n    - a bolt\n- Wheels\n\n{}",
        filler(8),
        filler(8)
    );
    let place = Place::ingested(&[("a.md", &text)]);
    let reply = reply(&place, &["zirconium", "--passage", "60"]);
    let expected = "- Engines\n  - of boats\n    - the zirconium gasket\n";
    assert!(reply.contains(expected), "{reply}");
}

#[test]
fn a_line_within_an_item_is_shown_with_the_beginning_of_the_item() {
    let item = |name: &str, what: &str| {
        let lines = "It is passed to the program that is started, and nothing else reads it.\n    "
            .repeat(4);
        format!("- `--{name}`\n\n    {lines}\n\n    {what}\n\n")
    };
    let text = format!(
        "# Options\n\n{}{}{}",
        item("first", "The default is none."),
        item("second", "A zirconium valve is opened by it."),
        item("third", "The default is all."),
    );
    let place = Place::ingested(&[("options.md", &text)]);
    let reply = reply(&place, &["what opens a zirconium valve", "--passage", "120"]);
    assert!(reply.contains("zirconium valve is opened"), "{reply}");
    assert!(reply.contains("`--second`"), "{reply}");
}

#[test]
fn a_sentence_that_refers_back_is_shown_with_what_it_refers_to() {
    let text = format!(
        "# Pumps\n\n{}Set `mode` to 4.\n\nThis restarts a pump whose zirconium valve is stuck.\n\n{}",
        filler(6),
        filler(6)
    );
    let place = Place::ingested(&[("pumps.md", &text)]);
    let reply = reply(&place, &["restart pump stuck zirconium valve", "--passage", "80"]);
    assert!(reply.contains("Set `mode` to 4.\n\nThis restarts"), "{reply}");
}

#[test]
fn a_later_word_that_refers_back_counts_as_well() {
    let text = format!(
        "# Limits\n\n{}To stop this, set the switch to off. When this switch is off, nothing beyond the list of \
         known widgets is ever rendered, and the request for any other widget is answered with the page for \
         errors.\n\n{}",
        filler(12),
        filler(12)
    );
    let place = Place::ingested(&[("a.md", &*text), ("b.md", "# Widgets\n\nNone.\n")]);
    let query = ["unknown widgets rendered error page", "--max-chars", "420", "--under", "a.md"];
    assert!(reply(&place, &query).contains("set the switch to off"));
}

#[test]
fn the_sentences_of_wrapped_lines_are_shown_whole() {
    let other = filler(1).trim_end().replace(" about", "\nabout");
    let text = format!(
        "# Valves\n\n{filler}{other} If the sensor and\nthe handle disagree about the valve, the\nhandle wins. {other}\n\n{filler}",
        filler = filler(20)
    );
    let place = Place::ingested(&[("a.md", &text)]);
    let found = reply(&place, &["sensor valve handle", "--passage", "100"]);
    let sentence = "If the sensor and\nthe handle disagree about the valve, the\nhandle wins.";
    assert!(found.contains(sentence), "{found}");
    assert!(found.contains("altogether. If the sensor"), "lines are whole: {found}");
}

#[test]
fn a_sentence_whose_beginning_is_shown_is_shown_to_its_end() {
    let text = format!(
        "# Valves\n\n{filler}The sensor of the valve fails if the water is much colder than the limit\n\
         of the maker of it, which is a rather common case. To repair it, take off\n\
         the cover and turn the screw until the lamp is green.\n\n\
         {filler}A valve is in the cellar of this old house.\n\n{filler}",
        filler = filler(20)
    );
    let place = Place::ingested(&[("a.md", &text)]);
    let found = reply(&place, &["sensor valve fails", "--passage", "160"]);
    assert!(found.contains("turn the screw until the lamp is green."), "{found}");
}

#[test]
fn a_section_that_the_question_names_is_shown_first_and_from_its_beginning() {
    let details = "The Raw parameter of this command takes no value.\n\n".repeat(8);
    let text = format!(
        "# Get-Item\n\n## Examples\n\nGet-Item has a raw parameter. Get-Item with the parameter Raw.\n\n\
         ## Parameters\n\n### -Wait\n\nWaits.\n\n### -Raw\n\nIgnores the ends of lines.\n\n{details}"
    );
    let place = Place::ingested(&[("get-item.md", &*text)]);
    let query = ["what does the Raw parameter of Get-Item do", "--max-chars", "200"];
    let reply = reply(&place, &query);
    assert!(
        reply.starts_with("get-item.md:15-")
            && reply.contains("> -Raw\nIgnores the ends of lines.\n"),
        "{reply}"
    );
}

#[test]
fn a_comment_without_words_of_the_question_is_not_shown() {
    let text =
        "# Pump\n\n<!-- added: v1.2, changed: v1.3 -->\n\nThe pump has blades.\n\n<!-- end -->\n";
    let place = Place::ingested(&[("a.md", text)]);
    let found = reply(&place, &["pump blades"]);
    assert_eq!(found, "a.md:5-5  Pump\nThe pump has blades.\n");
    let found = reply(&place, &["pump changed"]);
    assert!(found.contains("<!-- added: v1.2, changed: v1.3 -->"), "{found}");
}

#[test]
fn a_comment_with_a_version_answers_since_when() {
    let parameters = filler(4).replace("Filler", "The valve of the pump is described here. Filler");
    let text = format!("# pump.open\n\n<!-- added: v1.2 -->\n\n{parameters}");
    let place = Place::ingested(&[("a.md", &text)]);
    let found = reply(&place, &["since when is there pump.open", "--passage", "200"]);
    assert!(found.contains("added: v1.2"), "{found}");
    let found = reply(&place, &["what is pump.open", "--passage", "200"]);
    assert!(!found.contains("added: v1.2"), "{found}");
}

#[test]
fn a_row_that_defines_the_words_comes_before_what_mentions_them() {
    let rows = ["wrap_code", "guess_lang", "auto_title", "strip_lines"].map(|name| {
        format!(
            "| `{name}` | bool | Whether this part of the code is changed before it is shown. |\n"
        )
    });
    let table = format!("# Options\n\n| Name | Type | Use |\n|---|---|---|\n{}", rows.concat());
    let log = "# Changes\n\n- The option `style` did not follow `guess_lang`.\n";
    let linked = "# See also\n\n| Name |\n|---|\n| [guess_lang](options.md) |\n";
    let repeated = "# Matrix\n\n| Option | Value |\n|---|---|\n| `guess_lang` | on |\n| `guess_lang` | off |\n";
    let files_of = |others: &[(&str, &str)]| {
        let place = Place::ingested(&[&[("options.md", table.as_str())], others].concat());
        files(&reply(&place, &["guess_lang"])).first().map(|name| (*name).to_owned())
    };
    assert_eq!(files_of(&[("log.md", log)]).as_deref(), Some("options"));
    assert_eq!(files_of(&[("linked.md", linked)]).as_deref(), Some("options"));
    assert_eq!(files_of(&[("repeated.md", repeated)]).as_deref(), Some("options"));
}

#[test]
fn text_without_words_of_the_question_does_not_fill_a_passage() {
    let long = format!("A line about{}.", " other things".repeat(23));
    let needle = format!("The needle is{} here.", " very".repeat(25));
    let text = format!("# Title\n\nFar above.\n\n{long}\n\n{needle}\n\n{long}\n\nFar below.\n");
    let place = Place::ingested(&[("a.md", &text)]);
    let found = reply(&place, &["needle", "--passage", "300"]);
    assert_eq!(found, format!("a.md:7-7  Title\n{needle}\n"));
}

#[test]
fn comments_and_labels_of_other_dialects_are_not_shown() {
    let text = "# Pump\n\n{/* changed in\n\nv1.3 */}\n\nThe pump has blades.\n\n(valve-label)=\n";
    let place = Place::ingested(&[("a.md", text)]);
    assert_eq!(reply(&place, &["pump blades"]), "a.md:7-7  Pump\nThe pump has blades.\n");
}

#[test]
fn words_in_adjacent_sentences_count_more_than_scattered_ones() {
    let far = format!("# Far\n\nA zirconium part.\n\n{}A valve.\n\n", filler(20));
    let near = format!("# Near\n\n{}A zirconium part.\n\nA valve.\n\n{}", filler(10), filler(14));
    let place = Place::ingested(&[("a.md", &far), ("b.md", &near)]);
    assert_eq!(files(&reply(&place, &["zirconium valve"])), ["b", "a"]);
}

#[test]
fn a_list_of_links_follows_prose_with_the_same_words() {
    let place = Place::ingested(&[
        (
            "links.md",
            "# See also\n\n- [Rotate the signing key](rotate.md)\n- [Signing key](key.md)\n",
        ),
        ("prose.md", "# Keys\n\nEvery year, rotate the old signing key with the tool.\n"),
    ]);
    assert_eq!(files(&reply(&place, &["rotate signing key"])), ["prose", "links"]);
}

#[test]
fn a_reply_does_not_end_with_a_line_of_a_passage() {
    let section = |name: &str, line: &str| format!("# {name}\n\nA needle.\n\n{}", line.repeat(8));
    let place = Place::ingested(&[
        ("a.md", &section("A", "- a longer line about a needle in a haystack\n")),
        ("b.md", &section("B", "- some sewing machines break one needle every week\n")),
    ]);
    let whole = reply(&place, &["needle", "--limit", "1"]).chars().count();
    let mut shown = std::collections::BTreeSet::new();
    for more in 0..150 {
        let most = (whole + more).to_string();
        let reply = reply(&place, &["needle", "--max-chars", &most]);
        let (_, second) = reply.split_once("\n\na.md").unwrap_or_default();
        let lines = second.lines().filter(|line| line.contains("needle")).count();
        assert!(reply.contains("more: "), "{reply}");
        shown.insert(lines);
    }
    assert!(!shown.contains(&1) && shown.contains(&0) && shown.contains(&3), "{shown:?}");
}

#[test]
fn the_newest_of_several_copies_is_shown_and_the_others_are_named() {
    let text = format!("# Timeout\n\nThe timeout is ten seconds.\n\n{}", filler(3));
    let editions: Vec<(String, String)> = ["1.0", "1.1", "2.0", "2.1", "3.0"]
        .map(|version| (format!("docs/{version}/net/timeout.md"), text.clone()))
        .to_vec();
    let place = Place::new();
    for (file, text) in editions.iter().take(3) {
        place.write(file, text);
    }
    place.run(&["ingest"]).success();
    let same = |place: &Place| {
        let reply = reply(place, &["timeout seconds"]);
        reply.lines().find(|line| line.starts_with("same: ")).unwrap_or_default().to_owned()
    };
    assert_eq!(same(&place), "same: docs/1.0/net/timeout.md::heading:h1[0], 1 more");
    assert_eq!(files(&reply(&place, &["timeout seconds"])), ["docs/2.0/net/timeout"]);
    for (file, text) in editions.iter().skip(3) {
        place.write(file, text);
    }
    place.run(&["ingest"]).success();
    assert_eq!(same(&place), "same: docs/1.0/net/timeout.md::heading:h1[0], 3 more");
    assert_eq!(files(&reply(&place, &["timeout seconds"])), ["docs/3.0/net/timeout"]);
    let of_two = reply(&place, &["timeout seconds", "--also", "how long ten"]);
    assert_eq!(files(&of_two), ["docs/3.0/net/timeout"], "each wording ranks them alike");
    // A query that names a version means it.
    let of_version = reply(&place, &["timeout seconds 1.1"]);
    assert_eq!(files(&of_version), ["docs/1.1/net/timeout"]);
    let place = Place::ingested(&[("a.md", &text), ("b.md", &text)]);
    assert_eq!(same(&place), "same: b.md::heading:h1[0]");
}

#[test]
fn a_section_with_another_title_is_no_copy() {
    let option =
        |name: &str| format!("# {name}\n\nThe size above which it copies.\n\n{}", filler(3));
    let place = Place::ingested(&[
        ("a.md", &option("--left-cutoff")),
        ("b.md", &option("--right-cutoff")),
        ("c.md", &option("--LEFT-cutoff")),
    ]);
    let reply = reply(&place, &["cutoff size"]);
    assert_eq!(files(&reply), ["a", "b"], "{reply}");
    assert!(reply.contains("same: c.md::heading:h1[0]"), "{reply}");
}

#[test]
fn a_first_hit_that_is_far_ahead_shows_more() {
    let sentence = |n: usize| format!("Sentence {n} is about the zirconium valve of a pump.\n\n");
    let text: String = (0..40).map(sentence).collect();
    let place = Place::ingested(&[
        ("ahead.md", &format!("# Zirconium valve pump\n\n{text}")),
        ("second.md", &format!("# Other\n\nA pump.\n\n{}", filler(40))),
    ]);
    let shown = |more: &[&str]| {
        let command = [&["zirconium valve pump", "--max-chars", "2000"], more].concat();
        let reply = reply(&place, &command);
        let passage = reply.split("\n\nsecond.md").next().unwrap_or_default();
        passage.lines().skip(1).map(|line| line.chars().count() + 1).sum::<usize>()
    };
    assert!((900..1300).contains(&shown(&[])), "{}", shown(&[]));
    assert!((200..400).contains(&shown(&["--passage", "300"])), "{}", shown(&["--passage", "300"]));
}

#[test]
fn every_section_with_the_text_of_a_hit_is_listed() {
    let mut files: Vec<(String, String)> = (0..60)
        .map(|n| (format!("{n:02}.md"), format!("# Zebra {n}\n\nzebra {}\n", "word ".repeat(n))))
        .collect();
    let text: String = (0..400).map(|n| format!("w{} ", n * 7919 % 997)).collect();
    files.extend(
        ["x", "y", "z"]
            .map(|name| (format!("twin-{name}.md"), format!("# Notes\n\n{text} zebra {text}\n"))),
    );
    let files: Vec<(&str, &str)> =
        files.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    let place = Place::ingested(&files);
    let found = place.run(&["search", "zebra", "--limit", "0"]).success().json();
    let hits = found["hits"].as_array().unwrap();
    let twin = hits.iter().position(|hit| hit["file"].as_str().unwrap().starts_with("twin-"));
    assert!(twin.unwrap() >= 24, "{twin:?}");
    assert_eq!(hits[twin.unwrap()]["duplicates"].as_array().map(Vec::len), Some(2));
}

#[test]
fn a_short_version_finds_the_versions_that_it_begins() {
    let place = Place::ingested(&[(
        "changes.md",
        "# Changes\n\n## 1.2.14\n\nFixed lantern.\n\n## 2.14.0\n\nFixed valve.\n\n## 2.0.14\n\nFixed pump.\n\n\
         ## 14.2\n\nFixed spindle.\n",
    )]);
    for (query, fixed) in
        [("what was fixed in 2.14", "Fixed valve."), ("which fix had 14.x", "Fixed spindle.")]
    {
        let reply = reply(&place, &[query, "--limit", "1"]);
        assert!(reply.contains(fixed), "{reply}");
    }
}

#[test]
fn a_passage_that_is_cut_keeps_what_was_asked_for() {
    let entry = |number: usize| format!("word number {number} among the words of this page");
    let with = |text: String| text.replace("word number 20 ", "numbat ");
    let list: String = (0..40).map(|number| format!("- {}\n", entry(number))).collect();
    let rows: String =
        (0..40).map(|number| format!("| {number} | {} |\n", entry(number))).collect();
    let prose: String = (0..40).map(|number| format!("There is {}. ", entry(number))).collect();
    let table = format!("| key | meaning |\n| --- | --- |\n{rows}");
    for text in [list, table, prose] {
        let place = Place::ingested(&[("a.md", &with(format!("# Words\n\n{text}\n")))]);
        for most in (120..1000).step_by(20) {
            let reply = reply(&place, &["numbat", "--max-chars", &most.to_string()]);
            assert!(reply.contains("numbat"), "{most}: {reply}");
            assert!(reply.chars().count() <= most, "{most}: {reply}");
        }
    }
}

#[test]
fn a_version_is_found_with_and_without_a_v() {
    let place = Place::ingested(&[
        ("api.md", "# API\n\n## open()\n\nAdded in: v20.18.0\n"),
        ("log.md", "# Log\n\n## 2024-10-03, Version 20.18.0\n\nNew things came.\n"),
    ]);
    for version in ["v20.18.0", "20.18.0", "v20.18"] {
        let mut found = reply(&place, &[version]);
        found.retain(|scalar| scalar != '\r');
        assert!(found.contains("api.md:") && found.contains("log.md:"), "{version}: {found}");
    }
}

#[test]
fn other_forms_of_a_name_are_found_and_shown() {
    let place = Place::ingested(&[("a.md", "# Notes\n\nUse getSlices and HTTPServers here.\n")]);
    for query in ["getSlice", "HTTPServer", "slice", "slice --under a.md"] {
        let arguments: Vec<&str> = query.split(' ').collect();
        assert!(reply(&place, &arguments).contains("getSlices"), "{query}");
    }
}

#[test]
fn words_that_a_name_joins_rank_it_first() {
    let place = Place::ingested(&[
        ("notes.md", "# Sync\n\nRead the file. To read a file in sync, read it again.\n"),
        ("api.md", "# API\n\n## fs.readFileSync(path)\n\nReturns what a file contains.\n"),
        ("case.md", "# Case\n\nThe names of headers are in lowercase.\n"),
        ("lower.md", "# Lower\n\nIn the lower case, the headers of names are left out.\n"),
    ]);
    for query in ["read file sync", "read-file-sync", "how do I read file sync"] {
        assert!(reply(&place, &[query]).starts_with("api.md:"), "{query}");
    }
    assert!(reply(&place, &["lower case names of headers"]).contains("case.md:"));
}

#[test]
fn a_short_introduction_is_shown_with_what_it_introduces() {
    let place = Place::ingested(&[(
        "CHANGELOG.md",
        "# Changelog\n\n## 1.40.0\n\nThis includes 1.39.3.\n\n### Added\n\n- io: add `reopen`\n\n\
         ## 1.39.0\n\nThis includes 1.38.1.\n\n### Added\n\n- io: add `close`\n",
    )]);
    let first = reply(&place, &["what was added in 1.40.0", "--limit", "1"]);
    assert!(first.contains("add `reopen`") && !first.contains("add `close`"), "{first}");
}

#[test]
fn nothing_is_shown_twice() {
    let place = Place::ingested(&[(
        "g.md",
        "# Gizmo\n\n## Gizmo options\n\nThe gizmo options are many and each gizmo has them.\n",
    )]);
    for filter in [&[][..], &["--under", "g.md"], &["--type", "paragraph"]] {
        let found = reply(&place, &[&["gizmo"], filter].concat());
        assert_eq!(found.matches("options are many").count(), 1, "{filter:?}: {found}");
    }
}

#[test]
fn what_is_not_rendered_is_shown_only_for_a_word_that_no_text_has() {
    let place = Place::ingested(&[(
        "g.md",
        "# Gizmo\n\n[![gizmo build](https://ci.test/gizmo.svg)](https://ci.test/gizmo)\n\n\
         A gizmo turns, as [the guide] says.\n\n[the guide]: https://docs.test/gizmo/guide.html\n",
    )]);
    let found = reply(&place, &["gizmo guide"]);
    assert!(found.contains("A gizmo turns") && !found.contains("://"), "{found}");
    let found = reply(&place, &["gizmo html"]);
    assert!(found.contains("docs.test/gizmo/guide.html"), "{found}");
}

#[test]
fn a_section_whose_words_were_shown_above_is_no_hit() {
    let items: String = (0..40).map(|n| format!("- item {n} blah blah blah\n")).collect();
    let text = format!("# A\n\nwidget intro\n\n## B\n\nwidget again\n\n{items}");
    let place = Place::ingested(&[("a.md", &text)]);
    let found = reply(&place, &["widget", "--max-chars", "400"]);
    assert_eq!(files(&found).len(), 1, "{found}");
    assert!(found.contains("widget again") && !found.contains("more: --after"), "{found}");
}

#[test]
fn the_section_that_the_question_names_stays_a_hit() {
    let text = "# Service guide\n\nIntro text.\n\n## Retry policy\n\nFive attempts, thirty seconds apart.\n\n\
                ### History\n\nThe retry policy was introduced in 2019; the retry policy of 2018 was another.\n";
    let place = Place::ingested(&[("g.md", text)]);
    let found = reply(&place, &["retry policy"]);
    assert!(found.contains("Five attempts"), "{found}");
}

#[test]
fn many_pieces_take_no_more_than_linear_time() {
    let items = |count: usize| {
        (0..count).map(|n| format!("- `opt{n}` sets widget {n}\n")).collect::<String>()
    };
    // No row fits beside the introduction, because it would come with its header.
    let rows = |count: usize| {
        let header = format!("| {} |\n|{}\n", "widget ".repeat(70), "---|");
        let rows = (0..count).map(|n| format!("| opt{n} widget |\n")).collect::<String>();
        format!("opt77 widget, as in this table:\n\n{header}{rows}")
    };
    for text in [&items as &dyn Fn(usize) -> String, &rows] {
        let seconds = [3_000, 12_000].map(|count| {
            let place = Place::ingested(&[("f.md", &format!("# Flat\n\n{}", text(count)))]);
            let took = (0..3).map(|_| {
                let began = std::time::Instant::now();
                reply(&place, &["opt77 widget", "--max-chars", "500"]);
                began.elapsed().as_secs_f64()
            });
            took.fold(f64::MAX, f64::min)
        });
        assert!(seconds[1] < 9.0 * seconds[0] + 0.2, "{seconds:?}");
    }
}

#[test]
fn a_header_row_longer_than_a_passage_is_not_shown() {
    let cells = |name: &str| (0..400).map(|n| format!("{name}{n}|")).collect::<String>();
    let text =
        format!("# Wide\n\n|{}\n|{}\n|zebra|1|\n|lion|2|\n", cells("column"), "---|".repeat(400));
    let place = Place::ingested(&[("a.md", &text)]);
    let found = reply(&place, &["zebra"]);
    assert!(found.contains("|zebra|1|") && !found.contains("column9"), "{found}");
}

#[test]
fn an_item_that_defines_a_word_of_the_question_is_shown_to_its_end() {
    let item = |name: &str, default: &str| {
        format!(
            "* `{name}` {{integer}} The time in milliseconds after which a socket without activity is closed, \
             which the\n  server may shorten. It is ignored for sockets that are in use.\n  **Default:** `{default}`.\n"
        )
    };
    let items: String = ["headersTimeout", "idleTimeout", "bodyTimeout", "connectTimeout"]
        .iter()
        .enumerate()
        .map(|(n, name)| item(name, &n.to_string()))
        .collect();
    let other = "* `maxIdleTimeout` {integer} The greatest `idleTimeout` that a server may ask for. **Default:** `9`.\n";
    let text = format!(
        "# new Client(options)\n\n{items}{other}\nCreates a client. A client keeps its options.\n"
    );
    let place = Place::ingested(&[("client.md", &text)]);
    let question = ["default of the idleTimeout option of new Client", "--max-chars", "500"];
    let found = reply(&place, &question);
    assert!(found.contains("`idleTimeout` {integer} The time"), "{found}");
    assert!(found.contains("**Default:** `1`"), "{found}");
}

#[test]
fn records_say_where_the_rest_of_a_passage_is() {
    let text = format!("# Words\n\n{}\n", "A needle is in this line.\n\n".repeat(20));
    let place = Place::ingested(&[("a.md", &text)]);
    let arguments = ["search", "needle", "-f", "records", "--max-chars", "400"];
    let records = place.run(&arguments).success().text();
    assert!(records.lines().any(|line| line.starts_with("D more a.md:")), "{records}");
    // The address of a passage is that of its lines.
    let id = records.lines().find_map(|line| line.strip_prefix("N ")?.split(' ').next()).unwrap();
    let lines = place.run(&["read", id, "-f", "raw"]).success().text();
    assert!(id.starts_with("a.md:3-") && lines.starts_with("A needle"), "{id}: {lines}");
}

#[test]
fn a_long_line_with_a_match_in_each_word_takes_bounded_time() {
    let place = Place::ingested(&[("a.md", &format!("# Words\n\n{}\n", "word ".repeat(1 << 20)))]);
    let found = place.run_limited("-t 20", &["search", "word", "-f", "text"]).success();
    assert!(found.text().contains("word word"));
}

#[test]
fn sections_without_own_text_are_the_same_only_if_their_subsections_are() {
    let changelog =
        |change: &str| format!("# Changelog\n\n## 0.14.0\n\n### Changes\n\n- {change}\n");
    let wombat = changelog("Increased the wombat");
    let files =
        [("x/C.md", wombat.clone()), ("y/C.md", changelog("Fixed a crash")), ("z/C.md", wombat)];
    let place = Place::new();
    for (file, text) in &files {
        place.write(file, text);
    }
    place.run(&["ingest"]).success();
    let reply = reply(&place, &["0.14.0", "--limit", "0"]);
    assert!(reply.contains("Increased the wombat") && reply.contains("Fixed a crash"), "{reply}");
    assert_eq!(reply.matches("Increased the wombat").count(), 1, "{reply}");
}

#[test]
fn texts_with_other_numbers_are_no_duplicates_unless_they_are_editions() {
    let text = |number: u32| {
        format!("# Policy\n\n{}\nThe walrus needs version {number} of the ice.\n", filler(3))
    };
    let shown = |files: &[(&str, u32)], options: &[&str]| {
        let place = Place::new();
        for (file, number) in files {
            place.write(file, text(*number));
        }
        place.run(&["ingest"]).success();
        let found = reply(&place, &[&["walrus ice version"], options].concat());
        let is_shown = |(file, _): &&(&str, u32)| {
            found.lines().any(|line| line.starts_with(&format!("{file}:")))
        };
        let numbers: Vec<u32> = files.iter().filter(is_shown).map(|(_, number)| *number).collect();
        (numbers, found)
    };
    let projects = [("one-1.0/a.md", 60), ("two-1.0/a.md", 61), ("three-1.0/a.md", 60)];
    let (numbers, found) = shown(&projects, &[]);
    assert_eq!(numbers, [60, 61], "{found}");
    assert!(found.contains("same: three-1.0/a.md"), "{found}");
    for editions in [
        [("v2/a.md", 60), ("v3/a.md", 61)],
        [("one-1.9.0/a.md", 60), ("one-1.10.0/a.md", 61)],
        [("api/v1.9.md", 60), ("api/v1.10.md", 61)],
    ] {
        let (numbers, found) = shown(&editions, &[]);
        assert_eq!(numbers, [61], "the newest edition is shown: {found}");
        assert!(found.contains("same: "), "{found}");
    }
    assert_eq!(shown(&[("v2/a.md", 60), ("v3/a.md", 61)], &["--keep-duplicates"]).0, [60, 61]);
}

#[test]
fn front_matter_of_other_documents_is_no_duplicate() {
    let matter = |budget: &str| {
        format!(
            "---\ntype: project\nstatus: active\nowner: Ann Walrus\nteam: [ann, bob, carl, dora, emil]\nbudget: {budget}\n\
             due: 2026-09-30\npriority: 2\nphase: build and deliver everything to the customer\ntags: [cold, client]\n---\n"
        )
    };
    let place = Place::ingested(&[
        ("c/Cooler rebuild.md", &*format!("{}# Cooler rebuild\n\nThe work.\n", matter("large"))),
        ("r/Rocket.md", &*format!("{}# Rocket\n\nThe launch.\n", matter("small"))),
    ]);
    let found = reply(&place, &["budget of Cooler rebuild"]);
    assert!(found.contains("budget: large"), "{found}");
    let found = reply(&place, &["budget"]);
    assert!(found.contains("budget: large") && found.contains("budget: small"), "{found}");
}

#[test]
fn duplicates_are_below_the_hit_that_they_repeat() {
    let words = |seed: usize, count: usize| {
        let word = |index: usize| format!("w{}", (seed * 7919 + index * 104_729) % 5003);
        (0..count).map(word).collect::<Vec<_>>().join(" ")
    };
    let place = Place::new();
    // The children are shown with their parents, so they are no hits of their own.
    for index in 0..5 {
        let (own, child) = (words(index, 3), words(index + 50, 8));
        let text =
            format!("# Policy {index}\n\nThe policy {own}.\n\n## Child\n\nSome policy {child}.\n");
        place.write(&format!("a{index}.md"), text);
    }
    for index in 0..40 {
        let text = format!("# M{index}\n\npolicy {}\n", words(index + 100, 20 + index));
        place.write(&format!("m{index}.md"), text);
    }
    let twin = format!("# Zed\n\npolicy {}\n", words(400, 90));
    for name in ["z0.md", "z1.md", "z2.md"] {
        place.write(name, &twin);
    }
    for index in 0..10 {
        let text = format!("# Last{index}\n\npolicy {}\n", words(index + 500, 200 + index));
        place.write(&format!("zz{index}.md"), text);
    }
    place.run(&["ingest"]).success();
    let answer = place.run(&["search", "policy", "--limit", "0", "-f", "json"]).success().json();
    let with_twins: Vec<(&str, usize)> = answer["hits"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|hit| Some((hit["file"].as_str()?, hit["duplicates"].as_array()?.len())))
        .collect();
    assert_eq!(with_twins, [("z0.md", 2)]);
}

#[test]
fn a_sentence_whose_end_is_shown_is_shown_from_its_beginning() {
    let wrapped = "Some columns cannot be used with some functions. For example, the mean needs numbers, so it rejects\n\
                   columns that store text, because text has no mean. A conflict between the options of a panel and the\n\
                   walrus makes a column gray.\n";
    let text = format!("# Panels\n\n{}\n{wrapped}\n{}", filler(8), filler(8));
    let place = Place::ingested(&[("a.md", &text)]);
    let reply = reply(&place, &["conflict walrus", "--passage", "300"]);
    assert!(reply.contains("it rejects\ncolumns that store text"), "{reply}");
}

#[test]
fn an_item_between_two_that_are_shown_is_shown() {
    let steps = "1. Stop the walrus, and wait for the tusks to be at rest.\n2. Count to ten.\n\
                 3. Start the walrus with new tusks.\n";
    let text = format!("# Steps\n\n{}\n{steps}\n{}", filler(8), filler(8));
    let place = Place::ingested(&[("a.md", &text)]);
    let reply = reply(&place, &["walrus tusks", "--passage", "150"]);
    assert!(reply.contains(steps.trim_end()), "{reply}");
}

#[test]
fn a_line_whose_end_is_not_shown_is_marked() {
    let more = "Somebody wrote a long sentence about other things that nobody has asked for yet. ";
    let text = format!("# A\n\nThe widget has a switch. {}\n\nLast.\n", more.repeat(4));
    let place = Place::ingested(&[("a.md", &text), ("b.md", "# B\n\nA widget switch.\n")]);
    let found = reply(&place, &["widget switch", "--passage", "80"]);
    let line = |beginning| found.lines().find(|line| line.starts_with(beginning)).unwrap();
    assert!(line("The widget has a switch.").ends_with(" for yet. [...]"), "{found}");
    assert!(line("A widget").ends_with("switch."), "{found}");
}

#[test]
fn blank_lines_between_parts_of_a_passage_are_no_gap() {
    let table = "| walrus | tusks |\n|---|---|\n| Old | two |\n| Young | none |\n";
    let text = format!(
        "# Animals\n\n{}\nA walrus on ice has these tusks\n\n\n{table}\nNo other walrus has tusks.\n\n{}",
        filler(8),
        filler(8)
    );
    let place = Place::ingested(&[("a.md", &text)]);
    let reply = reply(&place, &["walrus tusks ice", "--passage", "120"]);
    // Only the delimiter row is left out.
    let shown = "A walrus on ice has these tusks\n\n\n| walrus | tusks |\n... 25\n| Old | two |\n| Young | none |\n\nNo other walrus";
    assert!(reply.contains(shown), "{reply}");
    assert_eq!(reply.matches("\n... ").count(), 1, "{reply}");
}

#[test]
fn documents_are_listed_and_counted_in_the_order_of_their_best_sections() {
    let place = Place::ingested(&[
        ("a.md", &format!("# A\n\nA walrus is here once.\n\n{}", filler(8))),
        ("b.md", "# Walrus\n\nThe walrus.\n"),
    ]);
    for form in ["-l", "-c"] {
        let answer = place.run(&["search", "walrus", form, "-f", "text"]).success().text();
        let names: Vec<_> = answer.lines().filter_map(|line| line.get(..4)).collect();
        assert_eq!(names, ["b.md", "a.md"], "{answer}");
    }
}

#[test]
fn a_passage_shows_no_subsection_that_the_query_excludes() {
    let text = "# Release\n\nnotes\n\n## Linux\n\non linux.\n\n## Windows\n\nneedle on windows.\n\n\
                ### Old\n\nolder needle.\n\n## Other\n\nas on windows.\n\n### Mac\n\non a mac.\n";
    let place = Place::ingested(&[("a.md", text)]);
    let excludes = "warning: EXCLUDES: sections with windows are left out\n";
    let expected =
        "a.md:3-23  Release\nnotes\n\n## Linux\n\non linux.\n... 21\n### Mac\n\non a mac.\n";
    assert_eq!(reply(&place, &["release NOT windows"]), format!("{expected}{excludes}"));
    let context = ["context", "--query", "release NOT windows", "-f", "markdown"];
    assert!(!place.run(&context).success().text().contains("needle"));
    // A phrase excludes only what has all of its words.
    assert!(reply(&place, &["release NOT \"needle on linux\""]).contains("needle on windows"));
    let levels = reply(&place, &["release", "--level", "1"]);
    assert_eq!(levels, "a.md:3-3  Release\nnotes\n");
}

#[test]
fn a_passage_shows_only_what_the_filters_take() {
    let text = "---\nkey: needle\n---\n# A\n\nneedle in prose.\n\n```sh\nneedle --in-code\n\nrun\n```\n\n\
                > needle quoted\n\n- needle item\n  > ```\n  > needle inside\n  > ```\n\nThe end.\n";
    let place = Place::ingested(&[("a.md", text)]);
    for (filter, value, lines, shown) in [
        (
            "--type",
            "code",
            "8-19",
            "```sh\nneedle --in-code\n\nrun\n```\n... 17\n  > ```\n  > needle inside\n  > ```\n",
        ),
        ("--type", "item", "16-19", "- needle item\n  > ```\n  > needle inside\n  > ```\n"),
        (
            "--type",
            "blockquote",
            "14-19",
            "> needle quoted\n... 17\n  > ```\n  > needle inside\n  > ```\n",
        ),
        ("--type", "frontmatter", "2-2", "key: needle\n"),
        ("--under", "a.md::block:code[0]", "8-12", "```sh\nneedle --in-code\n\nrun\n```\n"),
        ("--under", "a.md:14-14", "14-14", "> needle quoted\n"),
    ] {
        let found = reply(&place, &["needle", filter, value]);
        let (place, passage) = found.split_once('\n').unwrap();
        assert_eq!(
            (place.trim_end_matches("  A"), passage),
            (&*format!("a.md:{lines}"), shown),
            "{value}"
        );
    }
}

#[test]
fn a_long_value_of_front_matter_is_shown_in_part_with_its_key() {
    let names: Vec<String> = (0..300).map(|number| format!("\"ns::fn{number:03}\"")).collect();
    let lines: String = names.iter().map(|name| format!("  - {name}\n")).collect();
    for (value, shown) in [
        (
            format!(" [{}, \"ns::quokka\", \"last\"]\n", names.join(", ")),
            "\"ns::quokka\", \"last\"]\n",
        ),
        (format!("\n{lines}  - \"ns::quokka\"\n"), "  - \"ns::quokka\"\n"),
    ] {
        let text = format!("---\ntitle: T\nkw:{value}---\n# H\n\nintro\n");
        let place = Place::ingested(&[("a.md", &text)]);
        let found = reply(&place, &["quokka", "--passage", "200"]);
        assert!(found.contains("\nkw:\n... ") && found.contains(shown), "{found}");
        assert!(found.chars().count() < 700, "{found}");
    }
}

#[test]
fn sections_of_one_document_with_different_titles_are_different_hits() {
    let section = |sign: &str, word: &str| {
        let text = "Compares two ranges of numbers, element by element, and returns true if the first range";
        let more = "The order of the elements is that of the type. It takes time that grows with the length.";
        format!("## operator{sign}\n\n{text} is {word} the other one. {more}\n\n")
    };
    let text = format!("# Range\n\n{}{}", section("<=", "below"), section(">=", "above"));
    let place = Place::ingested(&[("a.md", &text)]);
    let titles = |place: &Place| -> Vec<String> {
        let reply = reply(place, &["compares ranges element"]);
        let titles = reply.lines().filter_map(|line| Some(line.split_once(" > ")?.1.to_owned()));
        titles.collect()
    };
    assert_eq!(titles(&place), ["operator<=", "operator>="]);
    // A copy of the document adds no hit.
    place.write("b.md", &text);
    place.run(&["ingest"]).success();
    assert_eq!(titles(&place), ["operator<=", "operator>="]);
}

#[test]
fn a_limit_that_holds_the_whole_answer_shortens_no_passage() {
    let sentences = |name: &str, says: &str| -> String {
        let sentence =
            |number| format!("Zebra sentence number {number}{name} {says} about it.\n\n");
        format!("# Guide\n\n## Zebra {name}\n\n{}", (1..10).map(sentence).collect::<String>())
    };
    let place = Place::ingested(&[
        ("a.md", &sentences("a", "has one more thing to say")),
        ("b.md", &sentences("b", "says a little more")),
    ]);
    for command in [
        &["search", "zebra", "-f", "text"][..],
        &["search", "zebra", "-f", "json"],
        &["context", "--query", "zebra", "-f", "markdown"],
    ] {
        let within = |most: usize| {
            let limit = ["--max-chars", &most.to_string()];
            place.run(&[command, &limit].concat()).success().text()
        };
        let whole = place.run(command).success().text();
        let length = whole.chars().count();
        assert_eq!(within(length), whole);
        assert_eq!(within(length + 300), whole);
        let shorter = within(length - 1);
        assert!(
            shorter.chars().count() < length && shorter.contains("Zebra sentence number 1b"),
            "{shorter}"
        );
    }
}

#[test]
fn rows_of_a_table_do_not_displace_the_paragraph_that_answers() {
    let rows: String = (0..12)
        .map(|n| format!("| `image-{n}` | the image for builds of the machine {n} |\n"))
        .collect();
    let text = format!(
        "# Images\n\nSets the image.\n\n| option | meaning |\n|---|---|\n{rows}\nWhat an image for the builds of musl \
         can be: a name, or an address.\n\n{}",
        filler(20)
    );
    let place = Place::ingested(&[("images.md", &text)]);
    let query = "What can I set as image for musl builds?";
    let shown = reply(&place, &[query, "--passage", "450"]);
    assert!(shown.contains("a name, or an address"), "{shown}");
}

#[test]
fn a_compound_counts_once_for_a_question() {
    let mut files: Vec<(String, String)> = (0..30)
        .map(|n| (format!("n{n}.md"), format!("# Node.js step {n}\n\nSet up part {n} of it.\n")))
        .collect();
    files.extend((0..60).map(|n| {
        (format!("p{n}.md"), format!("# Topic {n}\n\nA node of the tree and some js text {n}.\n"))
    }));
    let answer = "# Checks\n\nA text on what runs at night and by which job, on which machine and for whom. The \
                  translations are tested by it. It also removes files and sends mail to the owners.\n";
    files.push(("checks.md".to_owned(), answer.to_owned()));
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (&**path, &**text)).collect();
    let place = Place::ingested(&files);
    let shown = reply(&place, &["how are translations tested in Node.js"]);
    assert_eq!(self::files(&shown)[0], "checks", "{shown}");
}

#[test]
fn a_cut_passage_has_the_offsets_of_its_text_in_a_file_that_is_not_utf8() {
    let place = Place::new();
    let long = "long ".repeat(60);
    let bytes = [
        b"# T\n\nalpha \xff\xff\xff here \xe2\x82 \xef\xbf\xbd ",
        long.as_bytes(),
        b"beta \xf0\x9f\x92 end.\n\nMore \xfe",
        filler(9).as_bytes(),
        b"beta word\xfe\xfe here.\n\nalpha again.\n",
    ]
    .concat();
    place.write("a.md", &bytes);
    place.run(&["ingest"]).success();
    let mut cut = 0;
    for (query, most) in
        (420..1100).step_by(17).flat_map(|most| [("alpha beta", most), ("beta", most)])
    {
        let answer = place.run(&["search", query, "--max-chars", &most.to_string()]);
        if answer.status != 0 {
            continue;
        }
        let hits = answer.json()["hits"].clone();
        for window in hits[0]["passage"].as_array().unwrap() {
            let offset = |name: &str| usize::try_from(window[name].as_u64().unwrap()).unwrap();
            let own = &bytes[offset("byte_start")..offset("byte_end")];
            assert_eq!(window["text"], *String::from_utf8_lossy(own), "{query} {most}: {window}");
        }
        cut += usize::from(hits[0]["truncated"] == true);
    }
    assert!(cut > 10, "{cut} passages are cut");
}

#[test]
fn an_entry_of_html_or_jsx_is_shown_with_its_text() {
    let names = ["alphaLimit", "betaLimit", "gammaLimit", "deltaLimit", "omegaLimit"];
    let text = |name: &str| {
        format!(
            "The number of items after which the server, whatever it does, stops for {name}_ now."
        )
    };
    let all = |entry: &dyn Fn(&str) -> String| names.map(entry).concat();
    let object = all(&|name| {
        format!(
            "    {{\n      name: '{name}',\n      type: 'number',\n      description:\n        '{}',\n    }},\n",
            text(name)
        )
    });
    let cells = all(&|name| {
        format!(
            "<tr>\n<td><code>{name}</code></td>\n<td>number</td>\n<td>{}</td>\n</tr>\n",
            text(name)
        )
    });
    let field = all(&|name| {
        format!(
            "<ParamField path=\"{name}\" type=\"number\">\n\n{}\n\n</ParamField>\n\n",
            text(name)
        )
    });
    let terms = all(&|name| format!("<dt>{name}</dt>\n<dd>{}</dd>\n", text(name)));
    for (name, body) in [
        ("object.mdx", format!("<Options\n  content={{[\n{object}  ]}}\n/>\n")),
        ("object.md", format!("<Options\n  content={{[\n{object}  ]}}\n/>\n")),
        ("cells.md", format!("<table>\n{cells}</table>\n")),
        ("cells.mdx", format!("<table>\n{cells}</table>\n")),
        ("field.mdx", field),
        ("terms.md", format!("<dl>\n{terms}</dl>\n")),
    ] {
        let place = Place::ingested(&[(name, &format!("# Limits\n\n{body}"))]);
        for asked in &names[1..] {
            let question = format!("what does the option {asked} do");
            let shown = reply(&place, &[&question, "--max-chars", "420"]);
            let at = shown.find(asked).unwrap_or_else(|| panic!("{name} {asked}: {shown}"));
            let own = shown[at..].find(&format!("stops for {asked}_ now"));
            assert!(own.is_some_and(|at| at < 220), "{name} {asked}: {shown}");
        }
    }
}

#[test]
fn lines_of_two_code_blocks_do_not_read_like_one() {
    let line = |text: &str| {
        format!("    let {text} = compute_something_that_is_needed_later_on_in_the_program();\n")
    };
    let rest = (0..12).map(|n| line(&format!("filler_{n}"))).collect::<String>();
    let code = |word: &str| {
        format!(
            "```rust\nfn {word}() {{\n{rest}{}{rest}}}\n```\n\n",
            line(&format!("needle_{word}"))
        )
    };
    let text =
        format!("# Code\n\n{}Some text between the two.\n\n{}", code("first"), code("second"));
    let place = Place::ingested(&[("a.md", &text)]);
    let shown = reply(&place, &["needle_first needle_second", "--passage", "1000"]);
    let [first, second] = ["let needle_first", "let needle_second"].map(|it| shown.find(it));
    let (first, second) = (first.expect(&shown), second.expect(&shown));
    assert!(shown[first..second].contains("```rust\nfn second"), "{shown}");
}

#[test]
fn a_name_counts_more_than_the_word_for_what_it_is() {
    let page = |n: usize| {
        format!("# Parameters {n}\n\nThe parameters of tool {n}. Each parameter is a parameter.\n")
    };
    let mut files: Vec<(String, String)> = (0..40).map(|n| (format!("p{n}.md"), page(n))).collect();
    let items: String =
        (0..60).map(|n| format!("- Item {n} of the input and its many words.\n")).collect();
    let text = format!(
        "# Input\n\n{items}\nThe lifetime is `ttlSeconds`, half an hour unless it is set.\n"
    );
    files.push(("input.md".to_owned(), text));
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (&**path, &**text)).collect();
    let place = Place::ingested(&files);
    let shown = reply(&place, &["what does the parameter ttlSeconds do"]);
    assert_eq!(self::files(&shown)[0], "input", "{shown}");
}

#[test]
fn a_whole_option_precedes_its_words() {
    let words = format!(
        "# Login\n\n{}Auth has no use without credentials, and credentials have none without auth.\n",
        filler(9)
    );
    let option = format!("# Run\n\n{}Skip it with `--no-auth-credentials`.\n", filler(9));
    let mut files: Vec<(String, &str)> =
        (0..9).map(|n| (format!("words{n}.md"), &*words)).collect();
    files.push(("option.md".to_owned(), &option));
    files
        .extend((0..60).map(|n| (format!("other{n}.md"), "# Other\n\nOther things altogether.\n")));
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (&**path, *text)).collect();
    let place = Place::ingested(&files);
    for query in ["--no-auth-credentials", "what does the option --no-auth-credentials do"] {
        let shown = reply(&place, &["--", query]);
        assert_eq!(self::files(&shown)[0], "option", "{shown}");
    }
}

#[test]
fn an_entry_that_does_not_fit_is_cut_between_its_lines() {
    let row = |n: usize| {
        let (one, two) = ("eats leaves from high trees".repeat(2), "and so on, ".repeat(8));
        format!(
            "  <tr>\n    <td>name{n}</td>\n    <td>The giraffe {n} {one}</td>\n    <td>{two}</td>\n  </tr>\n"
        )
    };
    let rows: String = (0..12).map(row).collect();
    let place = Place::ingested(&[("a.md", &format!("# Doc\n\n<table>\n{rows}</table>\n"))]);
    let shown = reply(&place, &["giraffe", "--max-chars", "220"]);
    assert!(shown.contains("<td>The giraffe"), "{shown}");
}

#[test]
fn a_comment_before_a_paragraph_or_a_table_is_left_out() {
    let rows = "  <tr>\n    <td>one</td>\n    <td>a zebra</td>\n  </tr>\n".repeat(9);
    for text in ["The zebra option does X.\n".to_owned(), format!("<table>\n{rows}</table>\n")] {
        let place = Place::ingested(&[("a.md", &format!("# Doc\n\n<!-- lint off -->\n{text}"))]);
        let shown = reply(&place, &["zebra"]);
        assert!(shown.contains("zebra") && !shown.contains("lint"), "{shown}");
    }
}

/// Without its heading, nobody knows which sign a text is about.
#[test]
fn a_heading_of_signs_is_shown() {
    let text = "# Syntax\n\nGlob signs of the shell.\n\n## `*`\n\nAny number of characters.\n\n## `?`\n\nOne character.\n\n## 🎉\n\nA party.\n";
    let place = Place::ingested(&[("glob.md", text)]);
    let shown = place.run(&["search", "glob signs shell", "-f", "text"]).success().text();
    for heading in ["## `*`", "## `?`", "## 🎉"] {
        assert!(shown.contains(heading), "{shown}");
    }
}
