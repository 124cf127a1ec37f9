use std::io::ErrorKind;

use proptest::prelude::*;

use super::*;
use crate::address::namespace;

fn document(path: &str, bytes: &[u8]) -> PackDocument {
    let (path, bytes) = (path.to_owned(), bytes.to_owned());
    PackDocument {
        path,
        title: "A \"title\"\n".into(),
        kind: "Document".into(),
        bytes,
        ..PackDocument::default()
    }
}

fn attachment(path: &str) -> Attachment {
    Attachment {
        path: path.into(),
        name: "p".into(),
        content_type: "image/png".into(),
        bytes: vec![0; 58],
    }
}

fn small() -> (Header, Vec<PackItem>) {
    let mut first = document("a b.md", b"# A\r\n\xff\0");
    first.tags = vec!["x".into(), "y,z".into()];
    first.sources = vec!["https://example.com/".into(), "a b".into()];
    let header =
        Header { version: "0.1.0".into(), documents: 2, options: r#"{"ext":["md"]}"#.into() };
    let link = PackLink {
        from: "a%20b.md::*".into(),
        to: "b.md::*".into(),
        kind: "supports".into(),
        is_inline: false,
    };
    let items = vec![
        PackItem::Document(first),
        PackItem::Document(document("b.md", b"")),
        PackItem::Link(link),
        PackItem::Attachment(attachment("img/a b.png")),
    ];
    (header, items)
}

fn dump(header: &Header, items: &[PackItem]) -> std::io::Result<Vec<u8>> {
    let mut writer = PackWriter::new(Vec::new(), header)?;
    items.iter().try_for_each(|item| match item {
        PackItem::Document(document) => writer.document(document),
        PackItem::Link(link) => writer.link(link),
        PackItem::Attachment(attachment) => writer.attachment(attachment),
    })?;
    writer.finish()
}

fn load(pack: &[u8]) -> Result<(Header, Vec<PackItem>), LineError> {
    let mut reader = PackReader::new(pack)?;
    let items = reader.by_ref().collect::<Result<_, _>>()?;
    Ok((reader.into_header(), items))
}

/// Appends the `END` line with the hash of `lines`.
fn with_end(lines: &str) -> Vec<u8> {
    format!("{lines}END {}\n", blake3::hash(lines.as_bytes())).into_bytes()
}

#[test]
fn a_pack_has_the_documented_format() {
    let (header, items) = small();
    let pack = dump(&header, &items).unwrap();
    let lines = r#"H pack=1 version=0.1.0 documents=2 options="{\"ext\":[\"md\"]}"
N a%20b.md::* Document "A \"title\"\n" tags=x,"y,z" path="a b.md"
S a%20b.md::* url=https://example.com/
S a%20b.md::* url="a b"
C a%20b.md::* bytes=7
IyBBDQr/AA==
C-END
N b.md::* Document "A \"title\"\n" tags=- path=b.md
C b.md::* bytes=0
C-END
L a%20b.md::* b.md::* type=supports inline=false
A "img/a b.png" name="p" content_type=image/png
D img/a%20b.png bytes=58
AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA
AA==
D-END
"#;
    assert_eq!(
        String::from_utf8(pack.clone()).unwrap(),
        String::from_utf8(with_end(lines)).unwrap()
    );
    assert_eq!(load(&pack), Ok((header.clone(), items)));
    assert_eq!(verify(&pack[..]), Ok(header));
}

#[test]
fn every_altered_byte_is_detected() {
    let (header, items) = small();
    let pack = dump(&header, &items).unwrap();
    for end in 0..pack.len() {
        assert!(verify(&pack[..end]).is_err(), "cut at {end}");
    }
    let mut damaged = pack.clone();
    for position in 0..pack.len() {
        for difference in 1..=255 {
            damaged[position] ^= difference;
            assert!(verify(&damaged[..]).is_err(), "{position} ^ {difference}");
            damaged[position] = pack[position];
        }
        let without = [&pack[..position], &pack[position + 1..]].concat();
        assert!(verify(&without[..]).is_err(), "without {position}");
    }
    for garbage in [&b"\n"[..], b"x", b"\0", &pack] {
        assert!(verify(&[&pack, garbage].concat()[..]).is_err());
    }
}

#[test]
fn an_invalid_pack_with_a_matching_hash_is_refused() {
    let head = |documents| format!("H pack=1 version=1 documents={documents} options=-\n");
    let document = |path: &str, content: &str| {
        let id = namespace::whole(path);
        let path = crate::records::value(path);
        format!("N {id} t \"\" tags=- path={path}\nC {id} {content}\nC-END\n")
    };
    let empty = |path: &str| document(path, "bytes=0");
    let link = "L a b type=t inline=true\n";
    let attachment =
        |path: &str| format!("A {path} name=\"\" content_type=t\nD {path} bytes=0\nD-END\n");
    let row = "A".repeat(76);

    let good =
        [head(2), empty("a"), empty("b"), link.into(), link.into(), attachment("a")].concat();
    verify(&with_end(&good)[..]).unwrap();
    verify(&with_end(&[head(1), document("a", &format!("bytes=58\n{row}\nAA=="))].concat())[..])
        .unwrap();

    let long = "a".repeat(5000);
    for path in
        ["/a", "../a", "a/../b", "a/..", "./a", "a/.", "a//b", "a/", "..", ".", "", "a\0b", &long]
    {
        assert!(!is_safe_path(path), "{path}");
        let problem = verify(&with_end(&[head(1), empty(path)].concat())[..]).unwrap_err();
        assert_eq!(problem.message, "the path is not a relative path without . and ..", "{path}");
    }
    for path in ["a\u{1}", "a\n.md", "a\\b", "C#.md", "..a", "a..", "...", "a b/é/日本.md", "-"]
    {
        assert!(is_safe_path(path), "{path}");
        verify(&with_end(&[head(1), empty(path)].concat())[..]).unwrap();
    }
    for (lines, line) in [
        (good.replace("pack=1", "pack=2"), 1),
        (head(0).replace("=0", "=00"), 1),
        ([head(2), empty("b"), empty("a")].concat(), 5),
        ([head(2), empty("a"), empty("a")].concat(), 5),
        ([head(1), empty("a"), empty("b")].concat(), 5),
        ([head(2), empty("a")].concat(), 5),
        ([head(1), link.into(), empty("a")].concat(), 3),
        ([head(0), attachment("a"), link.into()].concat(), 5),
        ([head(0), attachment("b"), attachment("a")].concat(), 5),
        ([head(0), attachment("../a")].concat(), 2),
        ([head(0), head(0)].concat(), 2),
        ([head(0), link.replace("true", "maybe")].concat(), 2),
        ([head(0), "\n".into()].concat(), 2),
        ([head(1), empty("a").replace("N a::*", "N b::*")].concat(), 2),
        ([head(1), empty("a").replace("C a::*", "C b::*")].concat(), 3),
        ([head(1), empty("a").replace("C a::*", "S b::* url=x\nC a::*")].concat(), 3),
        ([head(1), empty("a").replace("C-END", "D-END")].concat(), 4),
        ([head(1), empty("a").replace("C-END\n", "")].concat(), 4),
        ([head(1), document("a", "bytes=1\nAA")].concat(), 4),
        ([head(1), document("a", "bytes=1\nAB==")].concat(), 4),
        ([head(1), document("a", "bytes=1\nAAA=")].concat(), 4),
        ([head(1), document("a", "bytes=1\nAA==\nAA==")].concat(), 5),
        ([head(1), document("a", "bytes=0\n")].concat(), 4),
        ([head(1), document("a", "bytes=01\nAA==")].concat(), 3),
        ([head(1), document("a", "bytes=2\nAA==\nAA==")].concat(), 4),
        ([head(1), document("a", &format!("bytes=60\n{row}AAAA"))].concat(), 4),
        ([head(1), document("a", "bytes=1\n AA==")].concat(), 4),
        ([head(1), document("a", "bytes=1\n-_==")].concat(), 4),
        ([head(1), document("a", "bytes=1\nAA==\r")].concat(), 4),
        ([head(1), document("a", "bytes=1073741825\nAA==")].concat(), 3),
        ([head(1), document("a", "bytes=1073741824\nAA==")].concat(), 4),
        ([head(1), document("a", "bytes=18446744073709551616\nAA==")].concat(), 3),
    ] {
        let problem = verify(&with_end(&lines)[..]).unwrap_err();
        assert_eq!(problem.line, line, "{lines}: {problem}");
    }
    assert_eq!(verify(&b""[..]).unwrap_err().line, 1);
}

#[test]
fn the_writer_refuses_what_the_reader_refuses() {
    let header = |documents| Header { documents, ..Header::default() };
    let item = |path: &str| PackItem::Document(document(path, b"x"));
    let attached = |path: &str| PackItem::Attachment(attachment(path));
    let link = |to: &str| {
        PackItem::Link(PackLink { from: "a".into(), to: to.into(), ..PackLink::default() })
    };
    for (documents, items) in [
        (1, vec![]),
        (0, vec![item("a")]),
        (2, vec![item("b"), item("a")]),
        (2, vec![item("a"), item("a")]),
        (1, vec![item("../a")]),
        (1, vec![link("b"), item("a")]),
        (0, vec![attached("a"), link("b")]),
        (0, vec![attached("a"), attached("a")]),
        (0, vec![attached("/a")]),
        (0, vec![link("")]),
    ] {
        let error = dump(&header(documents), &items).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput, "{items:?}");
    }
    let items = [item("a"), link("b"), link("b"), attached("a")];
    verify(&dump(&header(1), &items).unwrap()[..]).unwrap();
}

#[test]
fn tags_and_sources_are_bounded() {
    let header = Header { documents: 1, ..Header::default() };
    let of = |tags, sources| PackDocument { tags, sources, ..document("a", b"") };
    let tags = |count| vec!["x".to_owned(); count];
    let most = dump(&header, &[PackItem::Document(of(tags(1000), vec![]))]).unwrap();
    verify(&most[..]).unwrap();
    let more = String::from_utf8(most).unwrap().replace("tags=", "tags=x,");
    assert_eq!(verify(more.as_bytes()).unwrap_err().line, 2);
    let sources = vec!["x".repeat(7 << 20); 3];
    for document in [of(tags(1001), vec![]), of(vec![], sources.clone())] {
        assert!(dump(&header, &[PackItem::Document(document)]).is_err());
    }
    let few = dump(&header, &[PackItem::Document(of(vec![], sources[1..].to_vec()))]).unwrap();
    verify(&few[..]).unwrap();
    let line = format!("S a::* url={}\n", sources[0]);
    let more = String::from_utf8(few).unwrap().replacen(&line, &line.repeat(2), 1);
    assert_eq!(verify(more.as_bytes()).unwrap_err().message, "too many sources");
}

#[test]
fn an_endless_line_is_read_only_up_to_the_limit() {
    let endless = std::io::BufReader::new(std::io::repeat(b'H'));
    assert_eq!(verify(endless).unwrap_err().message, "the line is too long");
}

fn text() -> impl Strategy<Value = String> {
    "[-, =\"\\\\u{}\n\r\u{1b}]{0,6}|[\\PC\\pC]{0,6}"
}

fn any_document() -> impl Strategy<Value = (String, PackDocument)> {
    let texts = || prop::collection::vec(text(), 0..3);
    let bytes = prop::collection::vec(any::<u8>(), 0..200);
    ("[a-zé\" :%]{1,5}(/[a-z.]{1,4}x){0,2}", text(), text(), texts(), texts(), bytes).prop_map(
        |(path, title, kind, tags, sources, bytes)| {
            (path.clone(), PackDocument { path, title, kind, tags, sources, bytes })
        },
    )
}

fn any_link() -> impl Strategy<Value = PackLink> {
    (text(), text(), text(), any::<bool>()).prop_map(|(from, to, kind, is_inline)| {
        let [from, to] = [from, to].map(|text| crate::records::id(&format!("x{text}")).into());
        PackLink { from, to, kind, is_inline }
    })
}

/// A pattern for packs that are valid or almost valid.
const ALMOST_A_PACK: &str = "(H pack=1 version=a documents=[01] options=b\n)\
    (N a::\\* t \"\" tags=- path=a\nC a::\\* bytes=[01]\n(AA==\n)?C-END\n)?\
    ((C-END\n)|(AA==\n)|(L a b type=c inline=true\n)|[\\PC]{0,9}\n){0,2}";

proptest! {
    #[test]
    fn a_written_pack_is_read_unchanged(
        documents in prop::collection::vec(any_document(), 0..4),
        links in prop::collection::vec(any_link(), 0..3),
        options in text(),
    ) {
        let documents: std::collections::BTreeMap<_, _> = documents.into_iter().collect();
        let header = Header { version: options.clone(), documents: documents.len(), options };
        let documents = documents.into_values().map(PackItem::Document);
        let items: Vec<_> = documents.chain(links.into_iter().map(PackItem::Link)).collect();
        let pack = dump(&header, &items).unwrap();
        prop_assert_eq!(load(&pack), Ok((header, items)));
    }

    #[test]
    fn every_readable_pack_is_written_unchanged(lines in ALMOST_A_PACK) {
        let pack = with_end(&lines);
        if let Ok((header, items)) = load(&pack) {
            prop_assert_eq!(dump(&header, &items).unwrap(), pack);
        }
    }
}
