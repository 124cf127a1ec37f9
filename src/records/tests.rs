use std::io::Result;

use proptest::prelude::*;

use super::*;
use crate::visible::is_unsafe;

type Output<'a> = RecordWriter<&'a mut Vec<u8>>;

fn written(write: impl FnOnce(&mut Output<'_>) -> Result<()>) -> Vec<u8> {
    let mut output = Vec::new();
    let mut writer = RecordWriter::new(&mut output);
    writer.header(&[("store", "./"), ("truncated", "false")]).unwrap();
    write(&mut writer).unwrap();
    output
}

/// The records after the header.
fn read(bytes: &[u8]) -> std::result::Result<Vec<Record>, LineError> {
    let mut records: Vec<_> = RecordReader::new(bytes).collect::<std::result::Result<_, _>>()?;
    assert!(matches!(records.remove(0), Record::Header(fields) if fields.len() == 2));
    Ok(records)
}

fn write(record: &Record, writer: &mut Output<'_>) -> Result<()> {
    match record {
        Record::Header(fields) => {
            let fields: Vec<_> = fields.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
            writer.header(&fields)
        }
        Record::Node { id, kind, title, tags, path } => {
            writer.node(&RecordNode { id, kind, title, tags, path })
        }
        Record::Summary { id, text } => writer.summary(id, text),
        Record::Edge { from, kind, to, is_typed } => writer.edge(from, kind, to, *is_typed),
        Record::Body { id, bytes } => writer.body(id, bytes),
        Record::Detail(text) => writer.detail(text),
        Record::Warning(text) => writer.warning(text),
        Record::Command { command, what } => writer.command(command, what),
        Record::MapOfContent { id, title, tags } => writer.map_of_content(id, title, tags),
    }
}

#[test]
fn each_record_has_the_documented_format() {
    let tags = ["zettel".to_owned(), "a, b".to_owned()];
    let bytes = written(|writer| {
        let node = RecordNode {
            id: "a b.md::*",
            kind: "Section",
            title: "A \"x\"\\\n",
            tags: &tags,
            path: "a b.md",
        };
        writer.node(&node)?;
        writer.node(&RecordNode {
            id: "b.md::*",
            kind: "my type",
            title: "",
            tags: &[],
            path: "b.md",
        })?;
        writer.summary("b.md::*", " one \r\n\ttwo\u{a0}\u{1b}[0m ")?;
        writer.summary("b.md::*", " \n")?;
        writer.edge("b.md::*", "supports", "c.md::*", true)?;
        writer.edge("b.md::*", "", "c.md::*", false)?;
        writer.body("b.md::*", b"text\n")?;
        writer.body("b.md::*", b"")?;
        writer.detail("one  two\nN x")?;
        writer.warning("not-found x\r")?;
        writer.command("toc", "sections of a document")?;
        writer.command("links tree", "what is \"near\"")?;
        writer.map_of_content("m.md::*", "Map", &["moc".to_owned()])
    });
    let expected = r#"H mdsel=1 records=1 store=./ truncated=false
N a%20b.md::* Section "A \"x\"\\\n" tags=zettel,"a, b" path="a b.md"
N b.md::* "my type" "" tags=- path=b.md
S b.md::* one two \u{1b}[0m
E b.md::* supports c.md::* typed
E b.md::* "" c.md::* inline
B b.md::* bytes=5
text

B-END
B b.md::* bytes=0

B-END
D one  two\nN x
W not-found x\r
C toc "sections of a document"
C "links tree" "what is \"near\""
M m.md::* "Map" tags=moc
"#;
    assert_eq!(String::from_utf8(bytes.clone()).unwrap(), expected);
    let records = read(&bytes).unwrap();
    assert_eq!(records.len(), 12);
    assert_eq!(
        written(|writer| records.iter().try_for_each(|record| write(record, writer))),
        bytes
    );
}

#[test]
fn a_bar_begins_each_line_of_a_body() {
    let barred = |bodies: &[&[u8]]| {
        let mut output = Vec::new();
        let mut writer = RecordWriter::new(&mut output).prefixing_bodies();
        writer.header(&[("store", "./")]).unwrap();
        for body in bodies {
            writer.body("a.md::*", body).unwrap();
        }
        output
    };
    let text = String::from_utf8(barred(&[b"N x\r\rB-END\n\nW y", b""])).unwrap();
    let expected = "H mdsel=1 records=1 store=./ prefix_body=true\nB a.md::* bytes=25\n\
                    | N x\r| \r| B-END\n| \n| W y\nB-END\nB a.md::* bytes=0\n\nB-END\n";
    assert_eq!(text, expected);
    for (body, is_read) in [
        ("| a\n| b", true),
        ("| a\r\n| ", false),
        ("| a\r| \n", false),
        ("| a\nb", false),
        ("|a", false),
        ("a", false),
        ("", true),
    ] {
        let length = body.len();
        let text = format!(
            "H mdsel=1 records=1 prefix_body=true\nB a.md::* bytes={length}\n{body}\nB-END\n"
        );
        let read: std::result::Result<Vec<_>, _> = RecordReader::new(text.as_bytes()).collect();
        match read {
            Ok(records) => assert!(is_read && records.len() == 2, "{body:?}"),
            Err(error) => {
                assert!(!is_read && error.message.contains("bar"), "{body:?}: {error}");
            }
        }
    }
}

proptest! {
    #[test]
    fn bodies_with_bars_are_read_unchanged(
        bodies in prop::collection::vec("[|a \r\n\u{e9}]{0,9}", 0..4)
    ) {
        let mut output = Vec::new();
        let mut writer = RecordWriter::new(&mut output).prefixing_bodies();
        writer.header(&[]).unwrap();
        for body in &bodies {
            writer.body("a.md::*", body.as_bytes()).unwrap();
        }
        let records = RecordReader::new(output.as_slice()).skip(1);
        let read: Vec<String> = records
            .map(|record| match record.unwrap() {
                Record::Body { bytes, .. } => String::from_utf8(bytes).unwrap(),
                other => panic!("{other:?}"),
            })
            .collect();
        prop_assert_eq!(read, bodies);
    }
}

#[test]
fn compact_records_say_a_path_once() {
    let mut records = Vec::new();
    for (path, title, kind, tags) in [
        ("a b.md", "One", "Section", &[][..]),
        ("a b.md", "Two", "Section", &[]),
        ("c.md", "Three", "note", &["x"]),
        ("c.md", "Four", "note", &["x"]),
        ("c.md", "Five", "note", &["y"]),
        ("c.md", "Six", "Section", &["y"]),
    ] {
        let id = format!("{}::{title}", id(path));
        let (kind, path) = (kind.to_owned(), path.to_owned());
        let tags = tags.iter().map(|tag| (*tag).to_owned()).collect();
        let other = format!("{id}/b");
        records.extend([
            Record::Node { id: id.clone(), kind, title: title.to_owned(), tags, path },
            Record::Summary { id: id.clone(), text: "text".to_owned() },
            Record::Edge { from: id.clone(), kind: "up".to_owned(), to: other, is_typed: true },
            Record::Body { id: id.clone(), bytes: b"x".to_vec() },
            Record::MapOfContent { id, title: String::new(), tags: Vec::new() },
        ]);
    }
    let mut bytes = Vec::new();
    let mut writer = Output::compact(&mut bytes);
    writer.header(&[("store", "./")]).unwrap();
    for record in &records {
        write(record, &mut writer).unwrap();
    }
    let text = String::from_utf8(bytes.clone()).unwrap();
    let lines: Vec<_> = text.lines().filter(|line| line.starts_with(['H', 'N'])).collect();
    let expected = [
        "H mdsel=1 records=1 store=./ compact=true",
        "N a%20b.md::One Section \"One\" tags=- path=\"a b.md\"",
        "N ::Two \"Two\"",
        "N c.md::Three note \"Three\" tags=x path=c.md",
        "N ::Four \"Four\"",
        "N c.md::Five note \"Five\" tags=y path=c.md",
        "N c.md::Six Section \"Six\" tags=y path=c.md",
    ];
    assert_eq!(lines, expected);
    assert!(text.contains("S ::Two text\nE ::Two up ::Two/b typed\nB ::Two bytes=1\n"), "{text}");
    assert_eq!(read(&bytes), Ok(records));
}

#[test]
fn a_body_cannot_form_a_record() {
    for body in [
        "B-END",
        "B-END\n",
        "\nB-END\n",
        "x\nB-END\nN a b \"c\" tags=- path=d\n",
        "a\r\nb\r\n",
        "a\r",
        "no final newline",
        "\n\n",
        "B x bytes=1\ny\nB-END",
        "H mdsel=1 records=1",
    ] {
        let bytes = written(|writer| {
            writer.body("a.md::*", body.as_bytes())?;
            writer.body("b.md::*", b"\xff\0")
        });
        let expected = [("a.md::*", body.as_bytes()), ("b.md::*", b"\xff\0")]
            .map(|(id, bytes)| Record::Body { id: id.into(), bytes: bytes.into() });
        assert_eq!(read(&bytes).unwrap(), expected, "{body:?}");
    }
}

#[test]
fn malformed_records_are_refused() {
    let head = "H mdsel=1 records=1 a=b c=d\n";
    for (records, line) in [
        ("H mdsel=1 records=1 a=b c=d\n", 2),
        ("X\n", 2),
        ("\n", 2),
        ("S a\n", 2),
        ("N a b c tags=- path=d\n", 2),
        ("N a b \"c\" tags=-, path=d\n", 2),
        ("N a b \"c\" tags=\"plain\" path=d\n", 2),
        ("N a b \"c\" tags=- path=d \n", 2),
        ("N a b \"\\u{41}\" tags=- path=d\n", 2),
        ("N a  \"c\" tags=- path=d\n", 2),
        ("E a b c\n", 2),
        ("E a b c virtual\n", 2),
        ("W a\r\n", 2),
        ("W a", 2),
        ("B a bytes=3\nabc", 3),
        ("B a bytes=4\nabc", 2),
        ("B a bytes=03\nabc\nB-END\n", 2),
        ("B a bytes=+3\nabc\nB-END\n", 2),
        ("B a bytes=2\nabc\nB-END\n", 3),
        ("B a bytes=3\nabc\nB-END", 4),
        ("B a bytes=3\nabc\n\nB-END\n", 4),
        ("B a bytes=99999999999999999999\n\nB-END\n", 2),
        ("B a bytes=9999999999999\n\nB-END\n", 2),
    ] {
        let problem = read([head, records].concat().as_bytes()).unwrap_err();
        assert_eq!(problem.line, line, "{records:?}: {problem}");
    }
    for header in [
        "N a b \"c\" tags=- path=d\n",
        "B a bytes=0\n\nB-END\n",
        "H mdsel=1 records=2\n",
        "H mdsel=1 records=1 a b=c\n",
        "H mdsel=1 records=1 a=\n",
    ] {
        assert!(RecordReader::new(header.as_bytes()).next().unwrap().is_err(), "{header:?}");
    }
    let mut reader = RecordReader::new(&b"\xff\n"[..]);
    assert!(reader.next().unwrap().is_err());
    assert!(reader.next().is_none());
}

/// Text that could leave its field, or any text.
fn text() -> impl Strategy<Value = String> {
    "[-, =\"\\\\u{}N\n\r\t\u{1b}]{0,8}|[\\PC\\pC]{0,8}"
}

fn record() -> impl Strategy<Value = Record> {
    let word = || "[a-z\"=,#*:%]{1,6}";
    let tags = || prop::collection::vec(text(), 0..3);
    let line = || "[a-z\"\\\\]{1,4}( [a-z\"]{1,4}){0,2}";
    prop_oneof![
        (word(), text(), text(), tags(), text())
            .prop_map(|(id, kind, title, tags, path)| Record::Node { id, kind, title, tags, path }),
        (word(), line()).prop_map(|(id, text)| Record::Summary { id, text }),
        (word(), text(), word(), any::<bool>())
            .prop_map(|(from, kind, to, is_typed)| Record::Edge { from, kind, to, is_typed }),
        (word(), "(B-END|N a|\r|\n|x){0,6}")
            .prop_map(|(id, text)| Record::Body { id, bytes: text.into_bytes() }),
        line().prop_map(Record::Detail),
        line().prop_map(Record::Warning),
        (text(), text()).prop_map(|(command, what)| Record::Command { command, what }),
        (word(), text(), tags()).prop_map(|(id, title, tags)| Record::MapOfContent {
            id,
            title,
            tags
        }),
    ]
}

proptest! {
    #[test]
    fn written_records_are_read_unchanged(records in prop::collection::vec(record(), 0..6)) {
        let bytes = written(|writer| records.iter().try_for_each(|record| write(record, writer)));
        prop_assert_eq!(read(&bytes), Ok(records));
    }

    #[test]
    fn a_written_header_is_read_unchanged(texts in prop::collection::vec(text(), 0..4)) {
        let fields: Vec<_> = texts.iter().map(|text| ("name", text.as_str())).collect();
        let mut bytes = Vec::new();
        RecordWriter::new(&mut bytes).header(&fields).unwrap();
        let expected = fields.iter().map(|(name, text)| ((*name).into(), (*text).into())).collect();
        prop_assert_eq!(RecordReader::new(&bytes[..]).next(), Some(Ok(Record::Header(expected))));
    }

    #[test]
    fn text_can_neither_form_a_record_nor_control_a_terminal(id in text(), other in text()) {
        let bytes = written(|writer| {
            let tags = std::slice::from_ref(&other);
            writer.node(&RecordNode { id: &id, kind: &other, title: &id, tags, path: &id })?;
            writer.edge(&id, &other, &id, false)?;
            writer.summary("a", &format!("x{other}"))?;
            writer.detail(&other)?;
            writer.command(&other, &id)
        });
        let lines = String::from_utf8(bytes).unwrap();
        prop_assert_eq!(lines.matches('\n').count(), 6);
        let starts: String = lines.lines().filter_map(|line| line.chars().next()).collect();
        prop_assert_eq!(starts, "HNESDC");
        prop_assert!(!lines.contains(|scalar| is_unsafe(scalar) || scalar == '\t'));
    }
}
