//! Tests of edits, as tables of files before and after.

use super::*;
use crate::markdown::outline::{BlockType, NodeKind, Outline};
use crate::markdown::parse;
use crate::processor_time::timed;

pub(super) const SUBTREE: EditScope = EditScope::Subtree;
pub(super) const OWN: EditScope = EditScope::Own;

pub(super) fn replace(content: &str) -> ContentChange {
    ContentChange::Replace { content: content.into(), scope: SUBTREE, keep_heading: true }
}

fn replace_own(content: &str) -> ContentChange {
    ContentChange::Replace { content: content.into(), scope: OWN, keep_heading: true }
}

fn replace_all(content: &str) -> ContentChange {
    ContentChange::Replace { content: content.into(), scope: SUBTREE, keep_heading: false }
}

fn insert(position: Position, content: &str) -> ContentChange {
    ContentChange::Insert { content: content.into(), position, relevel: false }
}

pub(super) fn relevel(position: Position, content: &str) -> ContentChange {
    ContentChange::Insert { content: content.into(), position, relevel: true }
}

fn before(content: &str) -> ContentChange {
    insert(Position::Before, content)
}

fn after(content: &str) -> ContentChange {
    insert(Position::After, content)
}

fn first(content: &str) -> ContentChange {
    insert(Position::FirstChild, content)
}

fn last(content: &str) -> ContentChange {
    insert(Position::LastChild, content)
}

pub(super) const DELETE: ContentChange = ContentChange::Delete { scope: SUBTREE };
const DELETE_OWN: ContentChange = ContentChange::Delete { scope: OWN };

/// The target that `name` means: a section title, `root`, `document`, `front matter`, or a block type, `item`
/// or `ldmd` with its index in the file.
fn target(outline: &Outline, name: &str) -> EditTarget {
    let (kind, index) = name.split_once(' ').unwrap_or((name, "0"));
    let index: usize = index.parse().unwrap_or(0);
    let block_type = BlockType::named(kind);
    let nth = |is_match: &dyn Fn(NodeKind) -> bool| {
        let mut nodes = (0..outline.nodes.len()).filter(|&node| is_match(outline.nodes[node].kind));
        EditTarget::Node(nodes.nth(index).expect(name))
    };
    match (name, kind, block_type) {
        ("root", ..) => EditTarget::Node(0),
        ("document", ..) => EditTarget::Document,
        ("front matter", ..) => EditTarget::FrontMatter,
        (_, "ldmd", _) => EditTarget::Ldmd(index),
        (_, "item", _) => nth(&|kind| kind == NodeKind::Item),
        (_, _, Some(block_type)) => nth(&|kind| kind == NodeKind::Block(block_type)),
        _ => {
            let section = outline.sections.iter().find(|section| section.title == name);
            EditTarget::Node(section.expect(name).node)
        }
    }
}

/// Returns the splice of a plan, and asserts that the version of the plan is the file with the splice
/// applied.
pub(super) fn planned(
    file: &[u8],
    target: EditTarget,
    request: &ContentChange,
    allow: Allow,
) -> Result<Splice, Refusal> {
    let Plan { splice, version } = plan(&Version::read(file.to_vec()), target, request, allow)?;
    assert_eq!(apply(file, &splice), version.bytes());
    Ok(splice)
}

fn edit(file: &[u8], name: &str, request: &ContentChange) -> Result<(Splice, Vec<u8>), Refusal> {
    edit_allowing(Allow::default(), file, name, request)
}

fn edit_allowing(
    allow: Allow,
    file: &[u8],
    name: &str,
    request: &ContentChange,
) -> Result<(Splice, Vec<u8>), Refusal> {
    let outline = parse(file).outline;
    let splice = planned(file, target(&outline, name), request, allow)?;
    let new = apply(file, &splice);
    Ok((splice, new))
}

type Form = fn(&str) -> Vec<u8>;

/// Variants of the same text, applied both to the file and to the expected result.
fn variants() -> [(&'static str, Form); 5] {
    [
        ("LF", |text| text.as_bytes().to_vec()),
        ("CRLF", |text| text.replace('\n', "\r\n").into_bytes()),
        ("CR", |text| text.replace('\n', "\r").into_bytes()),
        ("byte order mark", |text| format!("\u{FEFF}{text}").into_bytes()),
        ("no final line end", |text| text.strip_suffix('\n').unwrap_or(text).as_bytes().to_vec()),
    ]
}

fn check_table(table: &[(&str, &str, ContentChange, &str)]) {
    for (file, name, request, expected) in table {
        for (variant, form) in variants() {
            // In a file without line ends, those of the content are used, which are always LF here.
            if !file.contains('\n') && variant.starts_with("CR") {
                continue;
            }
            let old = form(file);
            let (splice, new) = edit(&old, name, request).unwrap_or_else(|refusal| {
                panic!("{variant}: {file:?} {name} {request:?}: {refusal}")
            });
            assert_eq!(
                String::from_utf8_lossy(&new),
                String::from_utf8_lossy(&form(expected)),
                "{variant}: {name} {request:?}"
            );
            assert_eq!(splice.effects.is_noop, old == new);
            if let ContentChange::Insert { content, relevel: false, .. } = request {
                let inserted = text::with_line_ends(splice.inserted.of(&new), b"\n");
                assert_eq!(inserted.trim_ascii(), content.trim_ascii(), "{variant}: {request:?}");
            }
        }
    }
}

const ATX: &str = "# A\n\na\n\n## B\n\nb\n\n### C\n\nc\n\n## D\n\nd\n";
const SETEXT: &str = "A\n=\n\na\n\nB one\nB two\n---\n\nb\n\n### C\n\nc\n\nD\n-\n\nd\n";

#[test]
fn replace_keeps_the_heading() {
    check_table(&[
        (ATX, "B", replace("x\n\n### C\n"), "# A\n\na\n\n## B\n\nx\n\n### C\n\n## D\n\nd\n"),
        (ATX, "B", replace_own("x"), "# A\n\na\n\n## B\n\nx\n\n### C\n\nc\n\n## D\n\nd\n"),
        (ATX, "B", replace_own("## B\nx"), "# A\n\na\n\n## B\nx\n\n### C\n\nc\n\n## D\n\nd\n"),
        (
            ATX,
            "C",
            replace("\n\n \nx\n\ny\n\n\n\n"),
            "# A\n\na\n\n## B\n\nb\n\n### C\n\nx\n\ny\n\n## D\n\nd\n",
        ),
        (ATX, "D", replace("x\n\n"), "# A\n\na\n\n## B\n\nb\n\n### C\n\nc\n\n## D\n\nx\n"),
        (ATX, "D", replace("## D\n\nx\n"), "# A\n\na\n\n## B\n\nb\n\n### C\n\nc\n\n## D\n\nx\n"),
        (ATX, "D", replace(""), "# A\n\na\n\n## B\n\nb\n\n### C\n\nc\n\n## D\n"),
        (ATX, "C", replace("\n"), "# A\n\na\n\n## B\n\nb\n\n### C\n\n## D\n\nd\n"),
        (
            SETEXT,
            "B one B two",
            replace("x\n\n### C\n\nc"),
            "A\n=\n\na\n\nB one\nB two\n---\n\nx\n\n### C\n\nc\n\nD\n-\n\nd\n",
        ),
        (
            SETEXT,
            "B one B two",
            replace_own("B one\nB two\n---\nx\n"),
            "A\n=\n\na\n\nB one\nB two\n---\nx\n\n### C\n\nc\n\nD\n-\n\nd\n",
        ),
        (
            SETEXT,
            "B one B two",
            replace_own("## B one B two\n\nx\n"),
            "A\n=\n\na\n\n## B one B two\n\nx\n\n### C\n\nc\n\nD\n-\n\nd\n",
        ),
        (
            SETEXT,
            "C",
            replace_all("### X\n\nx"),
            "A\n=\n\na\n\nB one\nB two\n---\n\nb\n\n### X\n\nx\n\nD\n-\n\nd\n",
        ),
        ("# A\n## B\n# C\n", "B", replace("b"), "# A\n## B\n\nb\n\n# C\n"),
        ("# A\n\n\n\n# C\n", "A", replace("a"), "# A\n\n\n\na\n\n# C\n"),
        ("# A\n", "A", replace("a"), "# A\n\na\n"),
        ("# A\n\n\n", "A", replace("a"), "# A\n\na\n\n\n"),
        // Lines that were adjacent stay adjacent; a blank line separates other lines.
        ("# A\nx\ny\n# C\n", "A", replace("x\nz\ny"), "# A\nx\nz\ny\n# C\n"),
        ("# A\nx\ny\n# C\n", "A", replace("x\nz"), "# A\nx\nz\n\n# C\n"),
        ("# A\nx\ny\n# C\n", "A", replace("z"), "# A\n\nz\n\n# C\n"),
        ("---\na: 1\n---\n# A\n\na\n", "A", replace("x"), "---\na: 1\n---\n# A\n\nx\n"),
    ]);
}

#[test]
fn replace_accepts_the_root_blocks_and_items() {
    check_table(&[
        ("r\n\n# A\n", "root", replace("x\n"), "x\n\n# A\n"),
        ("# A\n", "root", replace("x\n"), "x\n\n# A\n"),
        ("---\na: 1\n---\n# A\n", "root", replace("x\n"), "---\na: 1\n---\n\nx\n\n# A\n"),
        ("---\na: 1\n---\n\nr\n\ns\n", "root", replace("x\n"), "---\na: 1\n---\n\nx\n"),
        ("---\na: 1\n---", "root", replace("x\n"), "---\na: 1\n---\n\nx"),
        ("---\na: 1\n---", "root", first("x\n"), "---\na: 1\n---\n\nx"),
        (
            "# A\n\np\n\n```\nc\n```\nq\n",
            "code",
            replace("```\nd\n```"),
            "# A\n\np\n\n```\nd\n```\nq\n",
        ),
        ("- a\n- b\n- c\n", "item 1", replace("- x\n  y\n"), "- a\n- x\n  y\n- c\n"),
        ("- a\n\n  p\n\n- b\n", "paragraph 1", replace("  x\n"), "- a\n\n  x\n\n- b\n"),
    ]);
}

#[test]
fn text_replaces_a_code_block_only_if_changes_are_allowed() {
    let file = b"# A\n\np\n\n```\nc\n```\nq\n";
    let code = target(&parse(file).outline, "code");
    assert_eq!(planned(file, code, &replace("x"), Allow::default()), Err(Refusal::NotCode));
    let allow = Allow { change: true, ..Allow::default() };
    let splice = planned(file, code, &replace("x"), allow).unwrap();
    assert_eq!(apply(file, &splice), b"# A\n\np\n\nx\n\nq\n");
}

#[test]
fn insert_accepts_four_positions() {
    let new = "## N\n\nn\n";
    check_table(&[
        (ATX, "B", before(new), "# A\n\na\n\n## N\n\nn\n\n## B\n\nb\n\n### C\n\nc\n\n## D\n\nd\n"),
        (ATX, "B", after(new), "# A\n\na\n\n## B\n\nb\n\n### C\n\nc\n\n## N\n\nn\n\n## D\n\nd\n"),
        (ATX, "B", first("### N"), "# A\n\na\n\n## B\n\nb\n\n### N\n\n### C\n\nc\n\n## D\n\nd\n"),
        (ATX, "B", last("### N"), "# A\n\na\n\n## B\n\nb\n\n### C\n\nc\n\n### N\n\n## D\n\nd\n"),
        (ATX, "D", after(new), "# A\n\na\n\n## B\n\nb\n\n### C\n\nc\n\n## D\n\nd\n\n## N\n\nn\n"),
        (ATX, "A", last(new), "# A\n\na\n\n## B\n\nb\n\n### C\n\nc\n\n## D\n\nd\n\n## N\n\nn\n"),
        (ATX, "B", last("text"), "# A\n\na\n\n## B\n\nb\n\n### C\n\nc\n\ntext\n\n## D\n\nd\n"),
        (
            SETEXT,
            "D",
            before(new),
            "A\n=\n\na\n\nB one\nB two\n---\n\nb\n\n### C\n\nc\n\n## N\n\nn\n\nD\n-\n\nd\n",
        ),
        (
            SETEXT,
            "B one B two",
            first("text\n"),
            "A\n=\n\na\n\nB one\nB two\n---\n\nb\n\ntext\n\n### C\n\nc\n\nD\n-\n\nd\n",
        ),
        (
            ATX,
            "B",
            relevel(Position::FirstChild, "X\n=\n\n## Y\n"),
            "# A\n\na\n\n## B\n\nb\n\n### X\n\n#### Y\n\n### C\n\nc\n\n## D\n\nd\n",
        ),
        (
            ATX,
            "D",
            relevel(Position::After, "#### X\n"),
            "# A\n\na\n\n## B\n\nb\n\n### C\n\nc\n\n## D\n\nd\n\n## X\n",
        ),
        ("# A\n### C\n", "A", relevel(Position::LastChild, "# X\n"), "# A\n### C\n\n### X\n"),
        ("# A\n# B\n", "A", last("a"), "# A\n\na\n\n# B\n"),
        ("# A\n\n\n# B\n", "A", last("a"), "# A\n\n\na\n\n# B\n"),
        ("# A\n\n\n", "A", after("# B\n"), "# A\n\n# B\n\n\n"),
        ("# A\n", "A", before("# B\n"), "# B\n\n# A\n"),
        ("---\na: 1\n---\n# A\n", "A", before("# B\n"), "---\na: 1\n---\n\n# B\n\n# A\n"),
        ("---\na: 1\n---\n", "front matter", after("# B"), "---\na: 1\n---\n\n# B\n"),
        ("---\na: 1\n---\nr\n", "root", first("x"), "---\na: 1\n---\n\nx\n\nr\n"),
        ("r\n\n# A\n", "root", last("x"), "r\n\nx\n\n# A\n"),
        ("r\n\n# A\n", "document", last("# B"), "r\n\n# A\n\n# B\n"),
        ("p\n- a\n", "paragraph", after("x\n"), "p\n\nx\n\n- a\n"),
        ("- a\n- b\n\np\n", "item 1", after("- c\n"), "- a\n- b\n- c\n\np\n"),
        ("- a\n- b\n", "item 1", after("- c\n"), "- a\n- b\n- c\n"),
        ("- a\n- b\n", "item 0", before("- c\n"), "- c\n- a\n- b\n"),
        ("- a\n\n  b\n", "paragraph 1", after("\n  c\n"), "- a\n\n  b\n\n  c\n"),
    ]);
}

#[test]
fn delete_removes_one_run_of_blank_lines() {
    check_table(&[
        (ATX, "B", DELETE, "# A\n\na\n\n## D\n\nd\n"),
        (ATX, "B", DELETE_OWN, "# A\n\na\n\n### C\n\nc\n\n## D\n\nd\n"),
        (ATX, "D", DELETE, "# A\n\na\n\n## B\n\nb\n\n### C\n\nc\n"),
        (ATX, "A", DELETE_OWN, "## B\n\nb\n\n### C\n\nc\n\n## D\n\nd\n"),
        (ATX, "A", DELETE, ""),
        (SETEXT, "B one B two", DELETE, "A\n=\n\na\n\nD\n-\n\nd\n"),
        (SETEXT, "D", DELETE, "A\n=\n\na\n\nB one\nB two\n---\n\nb\n\n### C\n\nc\n"),
        ("# A\n\n\n\n# B\n\n# C\n", "B", DELETE, "# A\n\n\n\n# C\n"),
        ("# A\na\n# B\n\n\n# C\n", "B", DELETE, "# A\na\n\n\n# C\n"),
        ("# A\na\n# B\nb\n# C\n", "B", DELETE, "# A\na\n# C\n"),
        ("# A\na\n# B\nC\n=\n", "B", DELETE, "# A\na\n\nC\n=\n"),
        ("---\na: 1\n---\n\n# A\n\n# B\n", "A", DELETE, "---\na: 1\n---\n\n# B\n"),
        ("---\na: 1\n---\n\n# A\n", "A", DELETE, "---\na: 1\n---\n"),
        ("---\na: 1\n---\n\n# A\n", "front matter", DELETE, "# A\n"),
        ("r\n\ns\n\n# A\n", "root", DELETE, "# A\n"),
        ("p\n```\nc\n```\nq\n", "code", DELETE, "p\n\nq\n"),
        ("- a\n- b\n\np\n", "item 1", DELETE, "- a\n\np\n"),
        ("- a\n\n- b\n\n- c\n", "item 1", DELETE, "- a\n\n- c\n"),
        ("- a\n", "item", DELETE, ""),
    ]);
}

#[test]
fn front_matter_keeps_its_delimiters() {
    check_table(&[
        ("---\na: 1\n---\n# A\n", "front matter", replace("b: 2\n"), "---\nb: 2\n---\n# A\n"),
        ("---\na: 1\n---\n", "front matter", replace("---\nb: 2\n---\n"), "---\nb: 2\n---\n"),
        ("---\na: 1\n---\nx\n", "front matter", replace("+++\nb = 2\n+++"), "+++\nb = 2\n+++\nx\n"),
        ("---\n---\n\nx\n", "front matter", replace("b: 2"), "---\nb: 2\n---\n\nx\n"),
        ("---\n\na: 1\n\n...\nx\n", "front matter", replace(""), "---\n\n...\nx\n"),
    ]);
    let file = b"---\na: 1\n---\n\n# A\n";
    for content in ["- a list", "---\na: 1", "a: 1\n---\n# B", "---\nprose\n---"] {
        let refusal = edit(file, "front matter", &replace(content)).unwrap_err();
        assert!(matches!(refusal, Refusal::FrontMatter(_)), "{content:?}");
    }
    let (_, new) = edit(b"\xEF\xBB\xBF---\na: 1\n---\nx", "document", &replace("y\n\n")).unwrap();
    assert_eq!(new, b"\xEF\xBB\xBFy\n\n", "a whole document keeps its final blank line");
    let refusal = edit(b"x\n", "root", &replace("---\na: 1\n...")).unwrap_err();
    assert_eq!(refusal, Refusal::FrontMatter(FrontMatterProblem::Appears));
    let file = b"---\na: 1\n---\n\n---\nb: 1\n---\n";
    let refusal = edit(file, "front matter", &DELETE).unwrap_err();
    assert!(matches!(refusal, Refusal::FrontMatter(_)));
}

#[test]
fn harmful_edits_are_refused_unless_their_flag_is_given() {
    let drop = Allow { drop: true, ..Allow::default() };
    let escape = Allow { escape: true, ..Allow::default() };
    let duplicate = Allow { duplicate: true, ..Allow::default() };
    for (name, request, code, allow) in [
        ("B", replace("x"), "WOULD_DROP", drop),
        ("B", replace("## B\n\nx"), "WOULD_DROP", drop),
        ("B", replace(""), "WOULD_DROP", drop),
        ("D", replace_all("x"), "WOULD_DROP", drop),
        ("document", replace("# A\n"), "WOULD_DROP", drop),
        ("B", replace("x\n\n### Y"), "WOULD_DROP", drop),
        ("document", replace("# A\n\n## B\n\n### X\n\n## D\n"), "WOULD_DROP", drop),
        ("D", replace("x\n\n## Y"), "WOULD_ESCAPE", escape),
        ("D", replace("## d\n\nx"), "WOULD_ESCAPE", escape),
        ("D", replace("# D\n\nx"), "WOULD_ESCAPE", escape),
        ("D", replace_all("# D\n\nx"), "WOULD_ESCAPE", escape),
        ("D", replace_all("### D\n\nx"), "WRONG_LEVEL", escape),
        ("B", replace_own("## B\n\nb\n\n### C\n\nc"), "WOULD_ESCAPE", escape),
        ("root", replace("# X"), "WOULD_ESCAPE", escape),
        ("D", before("### N"), "WRONG_LEVEL", escape),
        ("D", after("### N"), "WRONG_LEVEL", escape),
        ("D", after("# N"), "WOULD_ESCAPE", escape),
        ("D", last("## N"), "WOULD_ESCAPE", escape),
        ("D", last("text\n\n# N"), "WOULD_ESCAPE", escape),
        ("A", first("# N"), "WOULD_ESCAPE", escape),
        ("paragraph 1", before("### N"), "WOULD_ESCAPE", escape),
        ("B", after("## D\n\nd\n"), "DUPLICATE", duplicate),
        ("D", after("\n## D\n\nd\n\n\n"), "DUPLICATE", duplicate),
        ("D", before("## D\n\nd\n"), "DUPLICATE", duplicate),
        ("B", last("### C\n\nc"), "DUPLICATE", duplicate),
        ("B", first("### C\n\nc"), "DUPLICATE", duplicate),
    ] {
        let refusal = edit(ATX.as_bytes(), name, &request).expect_err(code);
        assert_eq!(refusal.code(), code, "{name} {request:?}: {refusal}");
        let done = edit_allowing(allow, ATX.as_bytes(), name, &request);
        assert!(done.is_ok(), "{name} {request:?}: {done:?}");
    }
}

#[test]
fn unsafe_edits_are_refused_regardless_of_flags() {
    let everything = Allow { drop: true, escape: true, duplicate: true, change: false };
    let cr = "\r";
    for (file, name, request, code) in [
        (ATX, "B", first("```\nx"), "OPEN_FENCE"),
        (ATX, "C", replace("text\n\n<!-- x"), "OPEN_FENCE"),
        (ATX, "D", after(" \n\t\n"), "EMPTY_CONTENT"),
        (ATX, "D", after(cr), "EMPTY_CONTENT"),
        (ATX, "D", after("a\0b"), "NOT_MARKDOWN"),
        (ATX, "document", replace("a\0b"), "NOT_MARKDOWN"),
        (ATX, "document", after("x"), "NO_SUCH_POSITION"),
        (ATX, "document", DELETE, "NO_SUCH_POSITION"),
        (ATX, "paragraph", first("x"), "NO_SUCH_POSITION"),
        (ATX, "front matter", DELETE, "NO_SUCH_PLACE"),
        (ATX, "C", relevel(Position::LastChild, "# X\n\n#### Y"), "NO_SUCH_LEVEL"),
        (ATX, "root", relevel(Position::LastChild, "# X"), "NO_SUCH_LEVEL"),
        ("- a\n", "paragraph", replace("x"), "NOT_WHOLE_LINES"),
        ("> a\n", "paragraph", DELETE, "NOT_WHOLE_LINES"),
        // The text around the place would absorb the content, or the content would absorb that text.
        ("# A\n\n```\ncode\n", "A", after("# B\n"), "CHANGES_OUTSIDE"),
        ("# A\n\n<!-- x\n\n", "A", last("text\n"), "CHANGES_OUTSIDE"),
        ("# A\n\n  ## B\n", "A", insert(Position::FirstChild, "- a\n"), "CHANGES_OUTSIDE"),
        ("p\n\n    code\n", "paragraph", replace("- a\n"), "CHANGES_OUTSIDE"),
        ("- a\n\n# A\n\n  ## B\n", "A", DELETE_OWN, "CHANGES_OUTSIDE"),
        ("- a\n- b\n", "item", replace("text\n"), "CHANGES_OUTSIDE"),
        ("- a\n- b\n", "item", after("## B\n"), "CHANGES_OUTSIDE"),
        ("- a\n\n  p\n- b\n", "paragraph 1", replace(" p\n"), "CHANGES_OUTSIDE"),
    ] {
        let refusal = edit_allowing(everything, file.as_bytes(), name, &request).expect_err(code);
        assert_eq!(refusal.code(), code, "{file:?} {name} {request:?}: {refusal}");
        assert!(!refusal.to_string().ends_with('.'));
    }
    for target in [EditTarget::Node(999), EditTarget::Ldmd(0)] {
        let refusal = planned(ATX.as_bytes(), target, &DELETE, everything).unwrap_err();
        assert_eq!(refusal, Refusal::NoSuchPlace);
    }
}

/// An inserted underline or thematic break must not turn the text before it into a heading
/// (basic-memory#1585).
#[test]
fn inserted_underlines_do_not_make_headings() {
    check_table(&[
        ("# A\n\ntext\n", "A", last("---\n"), "# A\n\ntext\n\n---\n"),
        ("# A\ntext\n", "A", after("===\n"), "# A\ntext\n\n===\n"),
        ("# A\n\n***\nB\n---\n", "A", replace_own("text"), "# A\n\ntext\n\nB\n---\n"),
        ("# A\n\n***\nB\n===\n", "rule", replace("text"), "# A\n\ntext\n\nB\n===\n"),
        ("x\n\n- a\n", "paragraph", replace("* b\n"), "* b\n\n- a\n"),
    ]);
}

#[test]
fn removed_and_reparented_sections_are_listed() {
    let drop = Allow { drop: true, ..Allow::default() };
    let (splice, _) = edit_allowing(drop, ATX.as_bytes(), "B", &replace("x")).unwrap();
    assert_eq!(splice.effects.removed_sections, ["a/b/c"]);
    assert_eq!(splice.removed.of(ATX.as_bytes()), b"\nb\n\n### C\n\nc\n\n");
    let (splice, _) =
        edit_allowing(drop, ATX.as_bytes(), "B", &replace("## B\n\n### E\n")).unwrap();
    assert!(splice.effects.stripped_heading);
    assert_eq!(splice.effects.removed_sections, ["a/b/c"], "another section replaced it");
    let (splice, new) = edit(ATX.as_bytes(), "B", &DELETE_OWN).unwrap();
    let moved = Reparented { from: "a/b/c".into(), to: "a/c".into() };
    assert_eq!(
        (splice.effects.removed_sections, splice.effects.reparented),
        (vec!["a/b".into()], vec![moved])
    );
    assert_eq!(splice.removed.of(ATX.as_bytes()), b"## B\n\nb\n\n");
    assert!(new.len() < ATX.len());
    let (splice, _) = edit(b"# \n\n# B\n", "", &DELETE).unwrap();
    assert_eq!(splice.effects.removed_sections, ["@1"]);
}

const LDMD: &str = "\
    <!--LDMD:BEGIN id=\"a\"-->\n# A\nx\n<!--LDMD:END id=\"a\"-->\n\n\
    <!--LDMD:BEGIN id=\"b\"-->\n<!--LDMD:END id=\"b\"-->\n";

#[test]
fn ldmd_sections_keep_their_markers() {
    let a = "<!--LDMD:BEGIN id=\"a\"-->\n# A\nx\n<!--LDMD:END id=\"a\"-->\n";
    let b = "<!--LDMD:BEGIN id=\"b\"-->\n<!--LDMD:END id=\"b\"-->\n";
    let a_with = |content: &str| format!("{}\n{b}", a.replace("# A\nx\n", content));
    for (name, request, expected) in [
        ("ldmd 0", replace("# A\n\ny\n"), a_with("# A\n\ny\n")),
        ("ldmd 0", replace(&a.replace('x', "y")), a_with("# A\ny\n")),
        ("ldmd 0", last("# N"), a_with("# A\nx\n\n# N\n")),
        ("ldmd 0", last("y"), a_with("# A\nx\n\ny\n")),
        ("ldmd 0", first("- y\n"), a_with("- y\n\n# A\nx\n")),
        ("ldmd 1", replace("y\n"), format!("{a}\n{}", b.replace("-->\n<", "-->\ny\n<"))),
        ("ldmd 0", DELETE, b.to_owned()),
        ("ldmd 1", DELETE, a.to_owned()),
        ("ldmd 0", before("y"), format!("y\n{LDMD}")),
        ("ldmd 0", after("y"), format!("{a}\ny\n{b}")),
        (
            "A",
            replace(
                "y\n\n<!--LDMD:END id=\"a\"-->\n\n<!--LDMD:BEGIN id=\"b\"-->\n<!--LDMD:END id=\"b\"-->\n",
            ),
            a_with("# A\n\ny\n\n"),
        ),
    ] {
        check_table(&[(LDMD, name, request, &expected)]);
    }
    for (name, request) in [
        ("A", replace("y")),
        ("A", DELETE),
        ("A", after("<!--LDMD:BEGIN id=\"c\"-->")),
        ("ldmd 0", replace("<!--LDMD:END id=\"a\"-->")),
        ("ldmd 1", replace("<!--LDMD:BEGIN id=\"a\"-->\n<!--LDMD:END id=\"a\"-->")),
    ] {
        let refusal = edit(LDMD.as_bytes(), name, &request).unwrap_err();
        let codes = ["BREAKS_MARKUP", "WOULD_DROP"];
        assert!(codes.contains(&refusal.code()), "{name} {request:?}: {}", refusal.code());
    }
}

#[test]
fn mixed_line_ends_and_invalid_utf8_are_kept() {
    let file = b"# A\r\n\r\nx\ny\r\n\n# B\n\xff\n";
    let read = b"# A\n\nx\ny\n\n";
    let outline = parse(file).outline;
    let request =
        ContentChange::Replace { content: read.into(), scope: SUBTREE, keep_heading: true };
    let splice = planned(file, target(&outline, "A"), &request, Allow::default()).unwrap();
    assert!(splice.effects.is_noop && apply(file, &splice) == file);
    let (_, new) = edit(file, "A", &replace("z")).unwrap();
    assert_eq!(new, b"# A\r\n\r\nz\r\n\n# B\n\xff\n");
}

#[test]
fn content_may_repeat_a_heading_whose_definition_is_elsewhere() {
    let file = "# See [it]\n\ntext\n\n# B\n\n[it]: http://x\n";
    let (splice, new) = edit(file.as_bytes(), "See it", &replace("# See [it]\n\nother\n")).unwrap();
    assert!(splice.effects.stripped_heading);
    assert_eq!(new, file.replace("text", "other").as_bytes());
}

#[test]
fn content_may_repeat_a_heading_whose_paragraph_begins_above_it() {
    let file = "# A\n[l]: /u\n    title\n===\ntext\n";
    let read = "    title\n===\ntext\n";
    let (splice, new) = edit(file.as_bytes(), "title", &replace(read)).unwrap();
    assert!(splice.effects.is_noop && splice.effects.stripped_heading);
    assert_eq!(new, file.as_bytes());
}

#[test]
fn planning_takes_linear_time() {
    let files = |count: usize| {
        let nested =
            (0..count).map(|i| format!("{} t{i}\n\n- a\n\n", "#".repeat(i % 6 + 1))).collect();
        let lines = 10 * count;
        let blank = format!("# A\n{}# B\n{}", "\n".repeat(lines), " \n".repeat(lines));
        let items = format!("# A\n\n{}", "- a\n\n\n".repeat(count));
        let uses: String = (0..count / 4).map(|i| format!("a[^{i}]\n\n")).collect();
        let notes: String = (0..count / 4).map(|i| format!("[^{i}]: b\n\n")).collect();
        [nested, blank, items, format!("# A\n\n{uses}# B\n\n{notes}")]
    };
    let seconds = |files: &[String; 4], file: usize, name: &str| {
        let requests = [
            replace("x\n"),
            last("###### y"),
            last(&files[2]),
            after("- z\n"),
            replace(&files[0]),
            DELETE,
            DELETE_OWN,
        ];
        requests.map(|request| {
            let everything = Allow { drop: true, escape: true, duplicate: false, change: false };
            let edit = || edit_allowing(everything, files[file].as_bytes(), name, &request);
            timed(edit).1.as_secs_f64()
        })
    };
    let (few, many) = (files(2_000), files(8_000));
    for (file, name) in
        [(0, "t998"), (1, "A"), (2, "A"), (0, "root"), (2, "item 999"), (3, "B"), (3, "A")]
    {
        let (few, many) = (seconds(&few, file, name), seconds(&many, file, name));
        let pairs = few.iter().zip(&many);
        assert!(
            pairs.clone().all(|(few, many)| *many < 9.0 * few + 0.5),
            "{name} {few:?} {many:?}"
        );
    }
}

const CHANGELOG: &str = "# Log\n\nintro [1.0.0]\n\n## [1.1.0]\n\nnew\n\n## [1.0.0]\n\nold [own]\n\n\
    [1.1.0]: https://x/1.1\n[1.0.0]: https://x/1.0\n[own]: /own\n";

#[test]
fn definitions_that_other_text_uses_are_kept() {
    let kept = "[1.1.0]: https://x/1.1\n[1.0.0]: https://x/1.0\n";
    let rest = CHANGELOG.split("## [1.0.0]").next().unwrap();
    check_table(&[
        (CHANGELOG, "1.0.0", DELETE, &format!("{rest}{kept}")),
        (CHANGELOG, "1.0.0", DELETE_OWN, &format!("{rest}{kept}")),
        (CHANGELOG, "1.0.0", replace("less\n"), &format!("{rest}## [1.0.0]\n\nless\n\n{kept}")),
        (CHANGELOG, "1.0.0", replace(""), &format!("{rest}## [1.0.0]\n\n{kept}")),
        (
            CHANGELOG,
            "1.0.0",
            replace("x\n\n[1.1.0]: https://x/1.1\n"),
            &format!("{rest}## [1.0.0]\n\nx\n\n[1.1.0]: https://x/1.1\n\n[1.0.0]: https://x/1.0\n"),
        ),
        ("[a]\n\n# B\n\nx\n\n[a]: /u\n\ny\n\n[a b]: /u\n", "B", DELETE, "[a]\n\n[a]: /u\n"),
    ]);
    let (splice, new) = edit(CHANGELOG.as_bytes(), "1.0.0", &replace("less")).unwrap();
    assert_eq!(splice.effects.kept_definitions, ["1.1.0", "1.0.0"]);
    assert_eq!(splice.inserted.of(&new), b"less");
    // Without their definitions the links have no target; with others they have another target.
    for (name, request) in [
        ("definition 1", DELETE),
        ("definition 1", replace("[1.0.0]: /other")),
        ("1.0.0", replace("[1.1.0]: /other")),
        ("1.1.0", replace("[intro]: /u\n\n[1.0.0]: /u")),
    ] {
        let refusal = edit(CHANGELOG.as_bytes(), name, &request).unwrap_err();
        assert_eq!(refusal.code(), "CHANGES_OUTSIDE", "{name} {request:?}");
        let change = Allow { change: true, ..Allow::default() };
        let (splice, _) = edit_allowing(change, CHANGELOG.as_bytes(), name, &request).unwrap();
        assert!(!splice.changes.is_empty());
    }
}

#[test]
fn references_elsewhere_keep_their_footnotes() {
    let file = b"# A\n\nx[^1] y[^2]\n\n## B\n\nb\n\n[^1]: one\n";
    for (name, request) in [
        ("footnote", DELETE),
        ("footnote", replace("zz")),
        ("A", first("[^1]: NEW")),
        ("B", first("[^2]: NEW")),
    ] {
        let refusal = edit(file, name, &request).unwrap_err();
        assert_eq!(refusal.code(), "CHANGES_OUTSIDE", "{name} {request:?}");
        let change = Allow { change: true, ..Allow::default() };
        assert!(edit_allowing(change, file, name, &request).is_ok());
    }
    for (name, request) in [("footnote", replace("[^1]: better")), ("B", last("c[^3]\n\n[^3]: t"))]
    {
        assert!(edit(file, name, &request).is_ok(), "{name} {request:?}");
    }
}

#[test]
fn lists_elsewhere_are_neither_joined_nor_extended() {
    let lists = "# A\n\n1. a\n2. b\n\nNext:\n\n1. c\n2. d\n";
    let list = "# A\n\n- a\n\n## B\n\nx\n";
    for (file, name, request) in [
        (lists, "paragraph 2", DELETE),
        (lists, "paragraph 2", replace("1. x")),
        (lists, "paragraph 2", after("3. x")),
        (lists, "item 2", replace("* x")),
        (list, "A", first("    make install")),
        (list, "A", first("  x")),
    ] {
        let refusal = edit(file.as_bytes(), name, &request).unwrap_err();
        assert_eq!(refusal.code(), "CHANGES_OUTSIDE", "{file:?} {name} {request:?}");
        let change = Allow { change: true, ..Allow::default() };
        assert!(edit_allowing(change, file.as_bytes(), name, &request).is_ok());
    }
    for (file, name, request) in [
        (lists, "list", after("3. x")),
        (lists, "list", replace("- x\n- y")),
        (lists, "item", before("1. x")),
        (lists, "item", DELETE),
        (lists, "item 1", after("3. x")),
        (lists, "item 3", replace("* x")),
        (list, "list", before("- x")),
        (list, "A", first("- b")),
        (list, "A", last("- b")),
        (list, "A", first("* b")),
    ] {
        assert!(edit(file.as_bytes(), name, &request).is_ok(), "{file:?} {name} {request:?}");
    }
}

#[test]
fn a_list_that_is_extended_keeps_its_number_and_stays_tight() {
    check_table(&[
        ("5. a\n6. b\n\nx\n", "list", after("9. c"), "5. a\n6. b\n9. c\n\nx\n"),
        ("x\n\n- a\n", "list", before("- b"), "x\n\n- b\n- a\n"),
        ("# A\n\n- a\n\n## B\n", "A", first("- b"), "# A\n\n- a\n- b\n\n## B\n"),
        ("# A\n\n- a\n", "A", last("- b"), "# A\n\n- a\n- b\n"),
        ("- a\n\n- b\n\nx\n", "list", after("- c"), "- a\n\n- b\n\n- c\n\nx\n"),
        ("- a\n\nx\n", "list", after("text"), "- a\n\ntext\n\nx\n"),
    ]);
    for (file, request) in [
        ("5. a\n6. b\n", before("9. c")),
        ("  5. a\n  6. b\n", before("  9. c")),
        ("- a\n- b\n", after("- c\n\n- d")),
        ("- a\n- b\n", before("- c\n\n  d")),
    ] {
        let refusal = edit(file.as_bytes(), "list", &request).unwrap_err();
        assert_eq!(refusal.code(), "CHANGES_OUTSIDE", "{file:?} {request:?}");
        let change = Allow { change: true, ..Allow::default() };
        assert!(edit_allowing(change, file.as_bytes(), "list", &request).is_ok());
    }
    let list = "1. a\n2. b\n";
    let refusal = edit(list.as_bytes(), "item 0", &before("5. new")).unwrap_err();
    assert_eq!(refusal.code(), "CHANGES_OUTSIDE");
    check_table(&[
        (list, "item 0", before("1. new"), "1. new\n1. a\n2. b\n"),
        (list, "item 0", after("2. new"), "1. a\n2. new\n2. b\n"),
        (list, "item 0", replace("5. new"), "5. new\n2. b\n"),
    ]);
}

#[test]
fn content_in_a_list_is_indented_and_spaced_like_its_neighbors() {
    let nested = "1. one\n   - x\n\n     > q\n   - y\n";
    let loose = "- a\n\n- b\n\n  ```\n  c\n  ```\n\nend\n";
    check_table(&[
        ("1. one\n   - x\n   - y\n", "item 1", after("- z"), "1. one\n   - x\n   - z\n   - y\n"),
        ("1. one\n   - x\n", "item 1", before("   - z"), "1. one\n   - z\n   - x\n"),
        (nested, "item 2", after("- z"), "1. one\n   - x\n\n     > q\n   - y\n\n   - z\n"),
        (loose, "item 0", after("- x"), "- a\n\n- x\n\n- b\n\n  ```\n  c\n  ```\n\nend\n"),
        (loose, "item 0", before("- x"), "- x\n\n- a\n\n- b\n\n  ```\n  c\n  ```\n\nend\n"),
        (loose, "item 0", after("\n- x\n"), "- a\n\n- x\n\n- b\n\n  ```\n  c\n  ```\n\nend\n"),
        (loose, "item 1", after("- x"), "- a\n\n- b\n\n  ```\n  c\n  ```\n\n- x\n\nend\n"),
        (loose, "code", replace("```\nx\n```"), "- a\n\n- b\n\n  ```\n  x\n  ```\n\nend\n"),
        ("- a\n\n  p\n- b\n", "paragraph 1", replace("q\n\nr"), "- a\n\n  q\n\n  r\n- b\n"),
        (nested, "item 2", replace("- z\n  z"), "1. one\n   - x\n\n     > q\n   - z\n     z\n"),
        (loose, "code", after("p"), "- a\n\n- b\n\n  ```\n  c\n  ```\n\n  p\n\nend\n"),
    ]);
}

#[test]
fn front_matter_is_added_to_a_file_without_any() {
    check_table(&[
        ("# A\n", "front matter", replace("a: 1\n"), "---\na: 1\n---\n\n# A\n"),
        ("\n# A\n", "front matter", replace("---\na: 1\n---"), "---\na: 1\n---\n\n# A\n"),
        ("text\n", "front matter", replace("+++\na = 1\n+++\n"), "+++\na = 1\n+++\n\ntext\n"),
    ]);
    let (splice, new) = edit(b"", "front matter", &replace("a: 1")).unwrap();
    assert_eq!((&new[..], splice.effects.removed_sections.len()), (&b"---\na: 1\n---\n"[..], 0));
    for (content, problem) in [
        ("---\na: 1", FrontMatterProblem::NotClosed),
        ("a: 1\n---\nb: 2", FrontMatterProblem::ClosedEarly),
        ("prose", FrontMatterProblem::NotKeys),
    ] {
        let refusal = edit(b"# A\n", "front matter", &replace(content)).unwrap_err();
        assert_eq!(refusal, Refusal::FrontMatter(problem), "{content}");
    }
}

#[test]
fn renumbered_sections_are_listed() {
    let file = "# A\n\n## T\n\n# B\n\n## T\n\n## T\n";
    let (splice, _) = edit(file.as_bytes(), "T", &DELETE).unwrap();
    let renumbered: Vec<_> =
        splice.effects.renumbered.iter().map(|one| (one.from.as_str(), one.to.as_str())).collect();
    assert_eq!(renumbered, [("#t-1", "#t"), ("#t-2", "#t-1")]);
    let (splice, _) = edit(b"# A\n\n# T\n\n# T\n", "A", &after("# T\n\nnew")).unwrap();
    let to: Vec<_> = splice.effects.renumbered.iter().map(|one| one.to.as_str()).collect();
    assert_eq!(to, ["#t-1", "t-1", "#t-2", "t-2"]);
}

#[test]
fn a_heading_can_only_be_replaced_by_one_heading() {
    let heading = |content: &'static str| ContentChange::Replace {
        content: content.into(),
        scope: EditScope::Heading,
        keep_heading: true,
    };
    let renamed = ATX.replace("## B", "## X");
    check_table(&[(ATX, "B", heading("## X\n"), &renamed)]);
    for (request, code) in [
        (heading("x"), "WOULD_DROP"),
        (heading("# X"), "WOULD_ESCAPE"),
        (heading("## X\n\n### Y"), "WOULD_ESCAPE"),
        (ContentChange::Delete { scope: EditScope::Heading }, "NO_SUCH_PART"),
    ] {
        assert_eq!(edit(ATX.as_bytes(), "B", &request).unwrap_err().code(), code, "{request:?}");
    }
}

#[test]
fn a_version_is_parsed_once() {
    let file = Version::read("# T\n\ntext\n\n".repeat(1000).into_bytes());
    let target = EditTarget::Node(file.outline().sections[500].node);
    let before = crate::markdown::PARSED_BYTES.get();
    let plan = plan(&file, target, &replace("new text\n"), Allow::default()).unwrap();
    let parsed = crate::markdown::PARSED_BYTES.get() - before;
    assert!(parsed < plan.version.bytes().len() + 100, "{parsed} bytes");
}

#[test]
fn content_that_is_too_long_to_be_parsed_is_refused_with_the_limit() {
    let content = "x\n\n".repeat(crate::limits::MAX_NODES + 1);
    let refusal = edit(ATX.as_bytes(), "B", &replace(&content)).unwrap_err();
    assert_eq!(refusal.code(), "TOO_LONG");
    assert!(refusal.to_string().contains("the limit nodes (400000)"), "{refusal}");
}
