use proptest::prelude::*;
use serde_json::json;

use super::*;

fn changed(format: Format, text: &str, change: &KeyChange) -> Result<String, String> {
    splice(text, format, change)
        .map(|splice| splice.map_or_else(|| text.to_owned(), |splice| splice.apply(text)))
        .map_err(|fault| fault.reason)
}

fn set(key: &str, value: &str) -> KeyChange {
    KeyChange::Set(key.to_owned(), value_of(value))
}

fn unset(key: &str) -> KeyChange {
    KeyChange::Unset(key.to_owned())
}

fn add(key: &str, value: &str) -> KeyChange {
    KeyChange::Add(key.to_owned(), value_of(value))
}

fn remove(key: &str, value: &str) -> KeyChange {
    KeyChange::Remove(key.to_owned(), value_of(value))
}

#[test]
fn the_lines_of_items_that_stay_are_the_same() {
    let text = "k:  # of k\n  # of a\n  - 'a'   # its own\n\n  # of b\n  - \"b\"\n  - c: 1\n    # in c\n    d: 2\n  - |\n    - e\n  # end\nz: 1\n";
    for (change, from, to) in [
        (remove("k", "a"), "  - 'a'   # its own\n", ""),
        (remove("k", "b"), "  - \"b\"\n", ""),
        (remove("k", "{c: 1, d: 2}"), "  - c: 1\n    # in c\n    d: 2\n", ""),
        (remove("k", "\"- e\\n\""), "  - |\n    - e\n", ""),
        (remove("k", "x"), "", ""),
        (
            set("k", "[b]"),
            &text["k:  # of k\n".len()..text.find("  # end").unwrap()],
            "  # of a\n\n  # of b\n  - \"b\"\n",
        ),
        (set("k", "[a, x, b, {c: 1, d: 2}, \"- e\\n\"]"), "its own\n", "its own\n  - x\n"),
        (
            set("k", "[{c: 1, d: 2}, b, a]"),
            &text["k:  # of k\n".len()..text.find("  # end").unwrap()],
            "  - c: 1\n    # in c\n    d: 2\n\n  # of b\n  - \"b\"\n  # of a\n  - 'a'   # its own\n",
        ),
    ] {
        for end in ["\n", "\r\n"] {
            let eol = |text: &str| text.replace('\n', end);
            let result = changed(Format::Yaml, &eol(text), &change);
            // The line ends in a block scalar are LF in its value.
            assert_eq!(result, Ok(eol(&text.replacen(from, to, 1))), "{change:?}");
        }
    }
}

#[test]
fn items_that_cannot_keep_their_lines_are_written_again() {
    for (list, value) in [
        ("\n- a\n- |\n  deep\n  #x\n", "[\"deep\\n#x\\n\"]"),
        ("\n- a\n- |+\n  y\n\n- b\n", "[a, b, \"y\\n\\n\"]"),
        ("\n- |\n  p\n- |\n  q\n  # tail\n- c\n", "[\"p\\n\", c]"),
    ] {
        let text = format!("k:{list}z: 1\n");
        let result = changed(Format::Yaml, &text, &set("k", value)).unwrap();
        let map = parse(result.as_bytes(), Format::Yaml).unwrap().unwrap();
        assert_eq!((&map["k"], &map["z"]), (&value_of(value), &1.into()), "{result}");
    }
}

#[test]
fn a_value_is_removed_from_a_list_of_any_form() {
    for (list, value, expected) in [
        (" [a, 'b', c]", "b", " [a, c]"),
        (" [a, 'b', c]", "a", " ['b', c]"),
        (" [a, 'b', c]", "c", " [a, 'b']"),
        (" [a, b,] # c", "b", " [a,] # c"),
        (" [ a ]", "a", " [  ]"),
        (" [a,]", "a", " []"),
        (" [\n  a, # of a\n  b, # of b\n]", "a", " [\n  b, # of b\n]"),
        (" [\n  a, # of a\n  b, # of b\n]", "b", " [\n  a, # of a\n]"),
        (" [\n  a, # of a\n  b # of b\n]", "b", " [\n  a, # of a\n]"),
        (" [\n  a,\n  b\n]", "b", " [\n  a\n]"),
        (" [b, a: 1, c]", "c", " [b, a: 1]"),
        (" [b, a: 1, c]", "{a: 1}", " [b, c]"),
        (" [a: [x], b]", "b", " [a: [x]]"),
        (" [a: , b]", "b", " [a:]"),
        ("\n- a", "a", " []"),
        (" # of k\n# above\n- a # of a\n# below", "a", " [] # of k\n# above\n# below"),
        ("\n  # above\n  - \"a\n    # b\"", "\"a # b\"", " []\n  # above"),
        ("\n- a\n- b\n- a", "a", "\n- b"),
        ("\n- - a\n- a", "a", "\n- - a"),
        ("\n- |\n  x\n  # y\n- c", "\"x\\n# y\\n\"", "\n- c"),
        ("\n- \"x\n  # y\"\n- c", "\"x # y\"", "\n- c"),
        ("\n- a: |\n    x\n    # y\n- c", "c", "\n- a: |\n    x\n    # y"),
        ("", "a", ""),
    ] {
        let text = format!("k:{list}\nz: 1\n");
        let result = changed(Format::Yaml, &text, &remove("k", value));
        assert_eq!(result, Ok(format!("k:{expected}\nz: 1\n")), "{text}");
    }
    let toml = "k = [\n  \"a\", # of a\n  \"b\", # of b\n]\n";
    let result = changed(Format::Toml, toml, &remove("k", "a"));
    assert_eq!(result, Ok(toml.replace("  \"a\", # of a\n", "")));
    let json = "{\n  \"k\": [\n    \"a\",\n    \"b\"\n  ]\n}\n";
    let result = changed(Format::Json, json, &remove("k", "b"));
    assert_eq!(result, Ok(json.replace(",\n    \"b\"", "")));
    for (list, part) in
        [(" [a, b, a]", "twice"), (" [a, # of a\n  b]", "comment"), (" a", "no list")]
    {
        let text = format!("k:{list}\n");
        let fault = changed(Format::Yaml, &text, &remove("k", "a")).unwrap_err();
        assert!(fault.contains(part), "{text}: {fault}");
    }
    assert!(changed(Format::Yaml, "a: 1\n", &remove("k", "a")).unwrap_err().contains("no key"));
}

#[test]
fn a_list_that_goes_on_at_the_start_of_a_line_is_changed_in_place() {
    let text = "# é\ntitle: t\ntags: [\"á\",\n\"b\",\nc]\nend: {a: 1,\nb: 2} # note\n";
    for (change, expected) in [
        (add("tags", "d"), text.replace("\nc]", "\nc,\nd]")),
        (set("end.b", "3"), text.replace("b: 2", "b: 3")),
        (set("title", "u"), text.replace("title: t", "title: u")),
        (unset("tags"), text.replace("tags: [\"á\",\n\"b\",\nc]\n", "")),
        (set("tags", "[x]"), text.replace("[\"á\",\n\"b\",\nc]", "[x]")),
    ] {
        assert_eq!(changed(Format::Yaml, text, &change), Ok(expected), "{change:?}");
    }
}

#[test]
fn values_are_read_as_they_are_written_on_a_command_line() {
    for (text, value) in [
        ("done", json!("done")),
        ("3", json!(3)),
        ("1.10", json!("1.10")),
        ("true", json!(true)),
        ("null", json!(null)),
        ("", json!("")),
        ("~", json!("~")),
        ("\"3\"", json!("3")),
        ("[a, b c, 3]", json!(["a", "b c", 3])),
        ("{a: 1}", json!({"a": 1})),
        ("{{ site.name }}", json!("{{ site.name }}")),
        ("{\"a\": [1]}", json!({"a": [1]})),
        ("Title: with colon", json!("Title: with colon")),
        ("[not a list", json!("[not a list")),
        ("[a](b)", json!("[a](b)")),
        ("[[Note]]", json!("[[Note]]")),
        ("[[Note#Part|alias, x]]", json!("[[Note#Part|alias, x]]")),
        ("[[1]]", json!([[1]])),
        ("[[a], [b]]", json!([["a"], ["b"]])),
        ("['[[a]]', b]", json!(["[[a]]", "b"])),
    ] {
        assert_eq!(value_of(text), value, "{text}");
    }
}

#[test]
fn only_the_lines_of_a_yaml_key_change() {
    let yaml = "# top\ntitle: 'Old'  # why\ntags:\n  - a\n  # more\n  - b\n\n# about n\nn: 1\nempty:  # none\nflow: [x, \"y\"] # f\n\
        deep:\n  one: 1\n  two:\n    three: 3\ntext: |\n  line\n  # no comment\n\nlong: \"a\n  # b\"\nlast: \"z\"\n";
    for (change, from, to) in [
        (set("title", "It's new"), "'Old'  # why", "'It''s new'  # why"),
        (set("n", "2"), "n: 1\n", "n: 2\n"),
        (set("last", "3"), "\"z\"", "3"),
        (set("last", "x: y"), "\"z\"", "\"x: y\""),
        (set("empty", "1.10"), "empty:  # none", "empty: \"1.10\"  # none"),
        (set("n", "2026-01-31"), "n: 1", "n: 2026-01-31"),
        (set("n", "yes"), "n: 1", "n: \"yes\""),
        (set("tags", "[c, d: e]"), "  - a\n  # more\n  - b\n", "  # more\n  - c\n  - {d: e}\n"),
        (set("tags", "none"), "tags:\n  - a\n  # more\n  - b\n", "tags: none\n  # more\n"),
        (set("text", "short"), "|\n  line\n  # no comment\n", "short\n"),
        (set("flow", "[]"), "[x, \"y\"] # f", "[] # f"),
        (set("deep.two.three", "4"), "three: 3", "three: 4"),
        (set("deep.two.four", "4"), "three: 3\n", "three: 3\n    four: 4\n"),
        (set("deep", "{}"), "deep:\n  one: 1\n  two:\n    three: 3\n", "deep: {}\n"),
        (set("n", "{'a:?': b?, c: 'd:e'}"), "n: 1", "n: {\"a:?\": \"b?\", c: \"d:e\"}"),
        (set("new", "v"), "last: \"z\"\n", "last: \"z\"\nnew: v\n"),
        (set("new.er", "v"), "last: \"z\"\n", "last: \"z\"\nnew: {er: v}\n"),
        (unset("title"), "title: 'Old'  # why\n", ""),
        (unset("long"), "long: \"a\n  # b\"\n", ""),
        (unset("tags"), "tags:\n  - a\n  # more\n  - b\n", ""),
        (unset("n"), "n: 1\n", ""),
        (unset("deep.two"), "  two:\n    three: 3\n", ""),
        (unset("text"), "text: |\n  line\n  # no comment\n", ""),
        (add("tags", "c"), "  - b\n", "  - b\n  - c\n"),
        (add("flow", "z"), "\"y\"]", "\"y\", z]"),
        (add("flow", "x"), "", ""),
        (add("empty", "x"), "empty:  # none", "empty: [x]  # none"),
        (add("new", "x"), "last: \"z\"\n", "last: \"z\"\nnew: [x]\n"),
    ] {
        for end in ["\n", "\r\n"] {
            let eol = |text: &str| text.replace('\n', end);
            let result = changed(Format::Yaml, &eol(yaml), &change);
            assert_eq!(result, Ok(eol(&yaml.replacen(from, to, 1))), "{change:?}");
        }
    }
}

#[test]
fn an_item_is_added_after_items_of_any_form() {
    for (items, added) in [
        ("- [x]", "- new"),
        ("-  [x]", "-  new"),
        ("- []", "- new"),
        ("-", "- new"),
        ("-\n- x", "- new"),
        ("- {a: 1}", "- new"),
        ("- x\n- [y]", "- new"),
        ("  - [x]", "  - new"),
        ("  -", "  - new"),
    ] {
        let text = format!("due:\n{items}\nk: 1\n");
        let result = changed(Format::Yaml, &text, &add("due", "new"));
        assert_eq!(result, Ok(format!("due:\n{items}\n{added}\nk: 1\n")), "{text}");
    }
}

#[test]
fn mappings_of_a_dotted_toml_key_go_with_it() {
    for (text, expected) in [
        ("x.y.z = 1\n", ""),
        ("a = 1\n[x]\ny.z = 1\n", "a = 1\n[x]\n"),
        ("x.y.z = 1\nx.w = 2\n", "x.w = 2\n"),
        ("[x.y]\nz = 1\n", "[x.y]\n"),
        ("x = { y = { z = 1 } }\n", "x = { y = {  } }\n"),
    ] {
        let result = changed(Format::Toml, text, &unset("x.y.z"));
        assert_eq!(result, Ok(expected.to_owned()), "{text}");
    }
}

#[test]
fn a_value_after_a_tab_is_changed_in_place() {
    let text = "a:\tb\nc: {d:\te}\n";
    for (change, from, to) in [(set("a", "x"), "b", "x"), (set("c.d", "x"), "e", "x")] {
        let result = changed(Format::Yaml, text, &change);
        assert_eq!(result, Ok(text.replacen(from, to, 1)), "{change:?}");
    }
}

#[test]
fn toml_and_json_are_changed_in_place() {
    let toml = "# top\ntitle = \"Old\" # why\ntags = [\n  \"a\",\n  \"b\", # b\n]\ndate = 2024-01-02\na.b = 1\n\n[deep]\none = 1\n\n[deep.two]\nx = { y = 1 }\n";
    for (change, from, to) in [
        (set("title", "New"), "\"Old\"", "\"New\""),
        (set("date", "2026-01-31"), "2024-01-02", "2026-01-31"),
        (set("new", "1"), "a.b = 1\n", "a.b = 1\nnew = 1\n"),
        (set("deep.new", "x"), "one = 1\n", "one = 1\nnew = \"x\"\n"),
        (set("deep.two.x.y", "2"), "y = 1", "y = 2"),
        (set("deep.two.x.z", "2"), "y = 1", "y = 1, z = 2"),
        (unset("title"), "title = \"Old\" # why\n", ""),
        (unset("tags"), "tags = [\n  \"a\",\n  \"b\", # b\n]\n", ""),
        (unset("deep.one"), "one = 1\n", ""),
        (add("tags", "c"), "\"b\", # b\n", "\"b\", # b\n  \"c\",\n"),
    ] {
        assert_eq!(
            changed(Format::Toml, toml, &change),
            Ok(toml.replacen(from, to, 1)),
            "{change:?}"
        );
    }
    for change in [set("x", "null"), set("x", "[null]"), add("x", "null")] {
        let result = changed(Format::Toml, "x = inf\n", &change);
        assert_eq!(
            result,
            Err("the key x cannot have a null, which TOML does not know".to_owned()),
            "{change:?}"
        );
    }
    for number in ["inf", "-inf", "nan"] {
        let result = changed(Format::Toml, &format!("x = {number}\n"), &add("x", "1"));
        assert_eq!(result, Err("the value of x is no list".to_owned()), "{number}");
    }
    let json = "{\n  \"title\": \"Old\",\n  \"tags\": [\"a\"],\n  \"deep\": {\"n\": 1}\n}\n";
    for (change, from, to) in [
        (set("title", "New"), "Old", "New"),
        (set("deep.n", "[1]"), "\"n\": 1", "\"n\": [1]"),
        (set("new", "x"), "1}\n", "1},\n  \"new\": \"x\"\n"),
        (set("deep.m", "null"), "\"n\": 1", "\"n\": 1, \"m\": null"),
        (add("tags", "b"), "\"a\"", "\"a\", \"b\""),
        (unset("title"), "\"title\": \"Old\",\n  ", ""),
        (unset("deep"), ",\n  \"deep\": {\"n\": 1}", ""),
        (unset("deep.n"), "\"n\": 1", ""),
    ] {
        for format in [Format::Json, Format::Yaml] {
            // YAML in braces is changed in the same way, with other quotes.
            if format == Format::Yaml
                && matches!(&change, KeyChange::Set(key, _) | KeyChange::Add(key, _) if key != "title")
            {
                continue;
            }
            let result = changed(format, json, &change);
            assert_eq!(result, Ok(json.replacen(from, to, 1)), "{change:?}");
        }
    }
}

#[test]
fn what_cannot_be_changed_in_place_is_refused() {
    for (text, change, part) in [
        ("a: &x 1\nb: *x\n", set("a", "2"), "anchor"),
        ("a: &x 1\nb: *x\n", set("b", "2"), "alias"),
        ("a: &x 1\nb: *x\n", unset("a"), "anchor"),
        ("a: !!str 1\n", set("a", "2"), "tag"),
        ("a: 1\n", unset("b"), "there is no key b"),
        ("a: 1\n", add("a", "2"), "no list"),
        ("a: 1\n", set("a.b", "2"), "no mapping"),
        ("a: 1\na: 2\n", set("a", "2"), "twice"),
        ("a: [1\n", set("a", "2"), ""),
        ("- a\n", set("a", "2"), "not a mapping"),
        ("a: 1\n", set("", "2"), "not a key"),
        ("a: 1\n", set("b..c", "2"), "not a key"),
        ("a: 1\n", set("b.md", "2"), "b.md is the name of a document, and there is no key b"),
        ("a: 1\n", add("c/b.MDX::@frontmatter", "2"), "the name of a document"),
    ] {
        let fault = changed(Format::Yaml, text, &change).unwrap_err();
        assert!(fault.contains(part), "{text:?} {change:?}: {fault}");
    }
    let tables = "[[a]]\nx = 1\n";
    assert!(changed(Format::Toml, tables, &set("a", "1")).is_err());
    assert!(changed(Format::Toml, tables, &set("b", "null")).is_err());
}

/// Reads YAML with a parser of another origin. Numbers, dates and the like become texts.
fn read_elsewhere(text: &str) -> Option<Map<String, Value>> {
    fn value_of(value: serde_yaml_ng::Value) -> Value {
        match value {
            serde_yaml_ng::Value::Null => Value::Null,
            serde_yaml_ng::Value::Bool(truth) => Value::Bool(truth),
            serde_yaml_ng::Value::Number(number) => Value::String(number.to_string()),
            serde_yaml_ng::Value::String(text) => Value::String(text),
            serde_yaml_ng::Value::Sequence(values) => values.into_iter().map(value_of).collect(),
            serde_yaml_ng::Value::Mapping(map) => Value::Object(map_of(map)),
            serde_yaml_ng::Value::Tagged(tagged) => value_of(tagged.value),
        }
    }
    fn map_of(map: serde_yaml_ng::Mapping) -> Map<String, Value> {
        map.into_iter()
            .map(|(key, value)| {
                let key = match value_of(key) {
                    Value::String(text) => text,
                    other => other.to_string(),
                };
                (key, value_of(value))
            })
            .collect()
    }
    if text.trim().is_empty() {
        return Some(Map::new());
    }
    match serde_yaml_ng::from_str(text).ok()? {
        serde_yaml_ng::Value::Mapping(map) => Some(map_of(map)),
        serde_yaml_ng::Value::Null => Some(Map::new()),
        _ => None,
    }
}

/// Returns the value as the other parser reads it.
fn elsewhere(value: &Value) -> Value {
    match value {
        Value::Number(number) => Value::String(number.to_string()),
        Value::Array(values) => values.iter().map(elsewhere).collect(),
        Value::Object(map) => {
            Value::Object(map.iter().map(|(key, value)| (key.clone(), elsewhere(value))).collect())
        }
        other => other.clone(),
    }
}

/// Checks a change of `text`: another parser reads the new value and the old ones, and only lines
/// of the key differ. Returns whether it was made.
fn check(text: &str, change: &KeyChange) -> bool {
    let Ok(Some(splice)) = splice(text, Format::Yaml, change) else { return false };
    let new = splice.apply(text);
    let Some(old_values) = read_elsewhere(text) else { return false };
    let new_values = read_elsewhere(&new)
        .unwrap_or_else(|| panic!("another parser cannot read it: {change:?}\n{text}\n=>\n{new}"));
    let map = |text: &str| parse(text.as_bytes(), Format::Yaml).unwrap().unwrap();
    let (own, key) = (map(&new), change.key());
    // A key that has dots is the same key in both, so its path is that where it occurs.
    let is_unset = matches!(change, KeyChange::Unset(_));
    let old = map(text);
    let top = path_of(if is_unset { &old } else { &own }, key).remove(0);
    for (name, value) in &old_values {
        if *name != top {
            assert_eq!(new_values.get(name), Some(value), "{change:?}\n{text}\n=>\n{new}");
        }
    }
    for name in new_values.keys() {
        assert!(old_values.contains_key(name) || *name == top, "{change:?}\n{text}\n=>\n{new}");
    }
    if let KeyChange::Set(_, value) = change {
        let mut written = Value::Object(new_values.clone());
        for part in path_of(&own, key) {
            written = written.get(&part).cloned().unwrap_or_default();
        }
        assert_eq!(written, elsewhere(value), "{change:?}\n{text}\n=>\n{new}");
    }
    // Every line that is gone or new is between the same lines as before; the splice is within the
    // lines of the key, which no other key has.
    let removed = text.get(splice.span.start..splice.span.end).unwrap();
    for name in old_values.keys().filter(|name| **name != top) {
        let line = format!("\n{name}:");
        assert!(!removed.contains(&line), "{change:?}\n{text}\n=>\n{new}");
    }
    true
}

fn some_value() -> impl Strategy<Value = Value> {
    let text = prop_oneof![
        "[ -~]{0,12}",
        "[a-z ]{1,8}",
        "[äß→\t\n\u{85}\u{feff}'\"\\\\:#-]{1,6}",
        Just("2026-01-31".to_owned()),
        Just("yes".to_owned()),
        Just("007".to_owned()),
        Just("- x".to_owned()),
    ];
    let leaf = prop_oneof![
        text.prop_map(Value::String),
        any::<i32>().prop_map(Value::from),
        any::<bool>().prop_map(Value::from),
        Just(Value::Null),
    ];
    leaf.prop_recursive(2, 6, 3, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..3).prop_map(Value::Array),
            proptest::collection::vec(("[a-z]{1,3}|[ -~]{1,4}", inner), 0..3)
                .prop_map(|entries| Value::Object(entries.into_iter().collect())),
        ]
    })
}

/// The lines of a key in the styles that people write.
fn some_entry(key: usize) -> impl Strategy<Value = String> {
    let key = format!("k{key}");
    prop_oneof![
        "[a-z0-9 ]{0,8}".prop_map(|value| format!("K: {value}\n")),
        "[ -!#-\\[\\]-~]{0,8}".prop_map(|value| format!("K: \"{value}\" # c\n")),
        "[ -&(-~]{0,8}".prop_map(|value| format!("K: '{value}'\n")),
        "[a-z]{1,4}".prop_map(|value| format!("K:\n  - {value}\n  # c\n  - 'x y'\n\n")),
        "[a-z]{1,4}".prop_map(|value| format!("K:\n- {value}\n- b: 1\n  c: 2\n")),
        "[a-z]{1,4}".prop_map(|value| format!("# above\nK: [{value}, 1, \"z\"] # c\n")),
        "[a-z]{1,4}".prop_map(|value| format!("K: [\n  {value},\n  1,\n]\n")),
        "[a-z]{1,4}".prop_map(|value| format!("K: |\n  {value}\n\n  # text\n")),
        "[a-z]{1,4}".prop_map(|value| format!("K: >-\n    {value}\n    b\n# c\n")),
        "[a-z]{1,4}".prop_map(|value| format!("K: {{a: {value}, b: [1]}}\n")),
        "[a-z]{1,4}".prop_map(|value| format!("K:\n  a: {value}\n  b:\n    - 1\n")),
        "[a-z]{1,4}".prop_map(|value| format!("K: {value}\n  continued\n")),
        Just("K:\n".to_owned()),
        Just("K: # c\n".to_owned()),
        Just("\"K\" : 1\n".to_owned()),
    ]
    .prop_map(move |lines| lines.replace('K', &key))
}

fn some_text() -> impl Strategy<Value = String> {
    (1_usize..5).prop_flat_map(|count| {
        let entries: Vec<_> = (0..count).map(|key| some_entry(key).boxed()).collect();
        (entries, any::<bool>()).prop_map(|(entries, is_crlf)| {
            let text = entries.concat();
            if is_crlf { text.replace('\n', "\r\n") } else { text }
        })
    })
}

fn some_change() -> impl Strategy<Value = KeyChange> {
    let key = prop_oneof![4 => "k[0-4]", 1 => "k[0-4]\\.[ab]", 1 => "new|a b|x: y"];
    (key, some_value(), 0_u8..5).prop_map(|(key, value, kind)| match kind {
        0 => KeyChange::Unset(key),
        2 => KeyChange::Remove(key, value),
        1 => KeyChange::Add(key, value),
        _ => KeyChange::Set(key, value),
    })
}

#[test]
fn a_key_that_is_no_text_has_the_name_that_is_read() {
    let text = "Null: 1\nTrue: 2\n7: 3\n\"Null \": 4\n";
    let keys: Vec<String> =
        parse(text.as_bytes(), Format::Yaml).unwrap().unwrap().keys().cloned().collect();
    assert_eq!(keys, ["null", "true", "7", "Null "]);
    for (number, key) in keys.iter().enumerate() {
        let (old, new) = (format!(": {}\n", number + 1), ": x\n");
        let expected = text.replace(&old, new);
        assert_eq!(changed(Format::Yaml, text, &set(key, "x")).unwrap(), expected, "{key}");
        let line = text.split_inclusive('\n').nth(number).unwrap();
        assert_eq!(
            changed(Format::Yaml, text, &unset(key)).unwrap(),
            text.replace(line, ""),
            "{key}"
        );
    }
    for change in [set("Null", "x"), unset("Null")] {
        let reason = changed(Format::Yaml, text, &change).unwrap_err();
        assert_eq!(reason, "there is no key Null, but null");
    }
    let quoted = changed(Format::Yaml, "a: 1\n", &set("Null", "x")).unwrap();
    assert_eq!(quoted, "a: 1\n\"Null\": x\n");
}

#[test]
fn a_key_beside_one_in_another_case_and_a_null_in_toml_are_refused() {
    for change in [set("Status", "x"), unset("STATUS"), add("status.", "x")] {
        let result = changed(Format::Yaml, "status: a\n", &change);
        assert!(result.is_err(), "{change:?}: {result:?}");
    }
    let reason = changed(Format::Yaml, "a:\n  Key: 1\n", &set("a.key", "2")).unwrap_err();
    assert_eq!(reason, "there is no key key, but Key");
    assert_eq!(
        changed(Format::Toml, "a = 1\n", &set("b", "null")).unwrap_err(),
        "the key b cannot have a null, which TOML does not know"
    );
}

#[test]
fn comments_between_braces_and_brackets_stay_where_they_are() {
    let yaml = "flow: {\n  a: 1, # ca\n  b: 2, # cb\n  c: 3  # cc\n}\nl: [a,\n  b # lb\n]\nm: [a, b] # cm\n";
    for change in [set("flow.d", "4"), add("l", "c")] {
        let result = changed(Format::Yaml, yaml, &change);
        assert!(result.is_err(), "{change:?}: {result:?}");
    }
    for (change, from, to) in [
        (add("m", "c"), "[a, b]", "[a, b, c]"),
        (unset("flow.b"), "  b: 2, # cb\n", ""),
        (unset("flow.c"), "  c: 3  # cc\n", ""),
    ] {
        let result = changed(Format::Yaml, yaml, &change);
        assert_eq!(result, Ok(yaml.replace(from, to)), "{change:?}");
    }
    assert!(changed(Format::Toml, "l = [\n  1, # one\n  2 # two\n]\n", &add("l", "3")).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn a_change_of_generated_yaml_changes_one_value(text in some_text(), change in some_change()) {
        check(&text, &change);
        let map = parse(text.as_bytes(), Format::Yaml).ok().flatten().unwrap_or_default();
        for (key, value) in &map {
            let Value::Array(values) = value else { continue };
            for value in values {
                check(&text, &KeyChange::Remove(key.clone(), value.clone()));
            }
            let reversed = values.iter().rev().skip(1).cloned().collect();
            check(&text, &KeyChange::Set(key.clone(), Value::Array(reversed)));
        }
    }

    #[test]
    fn a_simple_change_of_generated_yaml_is_made(text in some_text(), value in "[a-z]{1,4} [a-z]") {
        // No style of an entry is refused.
        for change in [set("k0", &value), unset("k0"), set("new", &value)] {
            let result = changed(Format::Yaml, &text, &change);
            prop_assert!(result.is_ok(), "{:?} {:?}\n{}", result, change, text);
        }
    }
}

/// Front matter as people write it for site generators and note programs.
const REAL: [&str; 6] = [
    "title: \"Apps & widgets\"\nlayout: post\ndate: 2024-03-01 10:00:00 +0200\ncategories: [news, 'a: b']\npermalink: /a/b:c/\n# comment\nexcerpt: >-\n  A long\n  excerpt: with colon\n\nimage:\n  path: /x.png   # png\n  alt: \"x\\ty\"\n",
    "id: intro\nsidebar_label: 'It''s here'\nkeywords:\n- one\n- two words\n\n- \"three\"\nslug: /\ncustom_edit_url: null\nhide_title: true\n",
    "aliases:\n    - First\n    - Second # s\ntags:\n  - a/b\n  # none\n  - c\ncssclass:\npublish: false\nup: \"[[Index]]\"\nrating: 4.50\n",
    "eip: 7594\ntitle: PeerDAS - Peer Data Availability Sampling\nauthor: Danny Ryan (@djrtwo), Dankrad Feist <d@e.org>\nrequires: 4844, 2718\ncreated: 2024-01-12\n",
    "ms.date: 01/30/2024\nms.topic: conceptual\nSchema: 2.0.0\nonline version: https://learn.example/x?view=ps#y\nmodule name: \"M.N\"\n",
    "{title: x, tags: [a, b], n: 1}\n",
];

/// The YAML front matter of the documents below `folder`.
fn collect(folder: &std::path::Path, texts: &mut Vec<String>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    let mut paths: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            collect(&path, texts);
        } else if path.extension().is_some_and(|extension| extension == "md")
            && let Ok(file) = std::fs::read(&path)
            && let Some(found) = crate::markdown::front_matter::detect(&file, 0)
            && found.format == Format::Yaml
            && let Ok(text) = std::str::from_utf8(&file[found.text.start..found.text.end])
        {
            texts.push(text.to_owned());
        }
    }
}

/// 200 random changes, and 3,000 of the front matter of `MDSEL_CORPORA` if `MDSEL_SOAK` is set.
#[test]
fn changes_of_real_front_matter_change_one_value() {
    let mut texts: Vec<String> = REAL.map(str::to_owned).to_vec();
    collect(&std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures"), &mut texts);
    let mut count = 200;
    if let (Some(_), Some(folder)) =
        (std::env::var_os("MDSEL_SOAK"), std::env::var_os("MDSEL_CORPORA"))
    {
        collect(std::path::Path::new(&folder), &mut texts);
        count = 3000;
    }
    let values = [
        "x",
        "two words",
        "3",
        "1.10",
        "true",
        "null",
        "[a, b]",
        "{a: 1}",
        "a: b",
        "# c",
        "",
        "it's",
        "\"q\"",
        "2026-01-31",
        "yes",
        "é\tx",
        "- a",
        "[[Note]]",
    ];
    let mut random = 7_u64;
    let mut next = |most: usize| {
        random =
            random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(random >> 33).unwrap() % most
    };
    let (mut made, mut refused) = (0, std::collections::BTreeMap::<String, usize>::new());
    for _ in 0..count {
        let text = texts[next(texts.len())].clone();
        let Ok(Some(map)) = parse(text.as_bytes(), Format::Yaml) else { continue };
        let keys: Vec<&String> = map.keys().collect();
        let key = match next(5) {
            0 => "new_key".to_owned(),
            _ if keys.is_empty() => "new_key".to_owned(),
            _ => keys[next(keys.len())].clone(),
        };
        let value = value_of(values[next(values.len())]);
        let change = match next(4) {
            0 => KeyChange::Unset(key),
            1 => KeyChange::Add(key, value),
            _ => KeyChange::Set(key, value),
        };
        match splice(&text, Format::Yaml, &change) {
            Ok(None) => {}
            Ok(Some(_)) => made += usize::from(check(&text, &change)),
            Err(fault) => {
                let reason = fault.reason.split(':').next_back().unwrap().to_owned();
                *refused.entry(reason).or_default() += 1;
            }
        }
    }
    println!("{made} made, refused: {refused:#?}");
    assert!(made * 2 > count, "{made} of {count}: {refused:#?}");
}
