//! Random edits, checked by a second reader: either everything outside the edited place keeps its
//! meaning, or the edit was refused.
//!
//! This reader does not use the parser. It reads lines: fences, comments, headings, definitions,
//! and the brackets that refer to them.

use std::collections::{BTreeMap, HashMap};

use mdsel::edit::plan::{Allow, ContentChange, EditScope, EditTarget, Position, Version, plan};
use mdsel::markdown::refusal;

use crate::corpus;
use crate::harness::{Place, repeats};

/// The kind of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Class {
    Blank,
    FrontMatter,
    Heading(usize),
    /// The underline of a setext heading.
    Underline,
    Code,
    Html,
    Definition,
    Text,
}

/// A document as the second reader sees it.
struct Reading<'a> {
    lines: Vec<&'a str>,
    classes: Vec<Class>,
    /// The target of the first definition of each label.
    targets: HashMap<String, String>,
}

/// The lines of a text, with any line end.
fn lines(text: &str) -> Vec<&str> {
    let mut lines = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let end = rest
            .find(['\n', '\r'])
            .map_or(rest.len(), |at| at + if rest[at..].starts_with("\r\n") { 2 } else { 1 });
        lines.push(&rest[..end]);
        rest = &rest[end..];
    }
    lines
}

/// A line without its indentation, and the width of the indentation; a tab counts as four columns.
fn indented(line: &str) -> (usize, &str) {
    let text = line.trim_start_matches([' ', '\t']);
    let blanks = &line[..line.len() - text.len()];
    (blanks.chars().map(|c| if c == '\t' { 4 } else { 1 }).sum(), text.trim_end())
}

/// The label and the target of a line that defines a link.
fn definition(text: &str) -> Option<(String, &str)> {
    let rest = text.strip_prefix('[')?;
    let end = rest.find(']')?;
    let target = rest[end..].strip_prefix("]:")?.trim();
    let label = &rest[..end];
    (!label.trim().is_empty() && !label.starts_with('^') && !label.contains('['))
        .then(|| (key(label), target.split_whitespace().next().unwrap_or_default()))
}

fn key(label: &str) -> String {
    label.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()
}

impl<'a> Reading<'a> {
    fn of(text: &'a str) -> Self {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let lines = lines(text);
        let mut classes = Vec::with_capacity(lines.len());
        let mut targets = HashMap::new();
        let mut fence: Option<(char, usize)> = None;
        let mut in_comment = false;
        let mut in_html = false;
        let mut first = 0;
        if let Some(mark) = ["---", "+++"]
            .into_iter()
            .find(|mark| lines.first().is_some_and(|line| line.trim_end() == *mark))
            && let Some(end) = lines.iter().skip(1).position(|line| {
                line.trim_end() == mark || (mark == "---" && line.trim_end() == "...")
            })
            && lines.get(1..=end).unwrap_or_default().iter().any(|l| l.contains([':', '=']))
        {
            first = end + 2;
            classes.resize(first, Class::FrontMatter);
        }
        for line in &lines[first..] {
            let (indent, text) = indented(line);
            let last = classes.last().copied();
            let mark = text.chars().next().filter(|c| "`~".contains(*c) && indent < 4);
            let run = mark.map_or(0, |mark| text.chars().take_while(|c| *c == mark).count());
            let class = if let Some((open, length)) = fence {
                if mark == Some(open) && run >= length && text.len() == run {
                    fence = None;
                }
                Class::Code
            } else if in_comment {
                in_comment = !text.contains("-->");
                Class::Html
            } else if text.is_empty() {
                in_html = false;
                Class::Blank
            } else if in_html {
                Class::Html
            } else if indent >= 4 && last != Some(Class::Text) {
                Class::Code
            } else if run >= 3 && !(mark == Some('`') && text[run..].contains('`')) {
                fence = mark.map(|mark| (mark, run));
                Class::Code
            } else if indent < 4 && text.starts_with("<!--") {
                in_comment = !text.contains("-->");
                Class::Html
            } else if indent < 4 && text.starts_with('<') && last != Some(Class::Text) {
                in_html = true;
                Class::Html
            } else if let Some(level) = atx(text).filter(|_| indent < 4) {
                Class::Heading(level)
            } else if indent < 4
                && last == Some(Class::Text)
                && (text.bytes().all(|b| b == b'=') || text.bytes().all(|b| b == b'-'))
            {
                Class::Underline
            } else if let Some((label, target)) =
                definition(text).filter(|_| indent < 4 && last != Some(Class::Text))
            {
                targets.entry(label).or_insert_with(|| target.to_owned());
                Class::Definition
            } else {
                Class::Text
            };
            classes.push(class);
        }
        Self { lines, classes, targets }
    }

    /// The targets of the labels that a line refers to.
    fn links(&self, line: usize) -> Vec<(String, Option<&String>)> {
        if !matches!(self.classes[line], Class::Text | Class::Heading(_)) {
            return Vec::new();
        }
        // Links inside code spans do not count.
        let text: String = self.lines[line].split('`').step_by(2).collect::<Vec<_>>().join(" ");
        let mut labels = Vec::new();
        let mut rest = text.as_str();
        while let Some(open) = rest.find('[') {
            let is_escaped = rest[..open].ends_with('\\');
            rest = &rest[open + 1..];
            let Some(close) = rest.find(['[', ']']).filter(|at| rest[*at..].starts_with(']'))
            else {
                continue;
            };
            let (label, after) = (&rest[..close], &rest[close + 1..]);
            let is_other = after.starts_with(['(', ':'])
                || (after.starts_with('[') && !after.starts_with("[]"));
            if !is_escaped && !is_other && !label.starts_with('^') {
                labels.push(key(label));
            }
            rest = after;
        }
        labels.into_iter().map(|label| (label.clone(), self.targets.get(&label))).collect()
    }

    /// The heading of the section that contains a heading.
    fn parent(&self, line: usize) -> Option<usize> {
        let Class::Heading(level) = self.classes[line] else { return None };
        (0..line)
            .rev()
            .find(|above| matches!(self.classes[*above], Class::Heading(other) if other < level))
    }
}

fn atx(text: &str) -> Option<usize> {
    let level = text.bytes().take_while(|byte| *byte == b'#').count();
    let rest = &text[level..];
    ((1..=6).contains(&level) && (rest.is_empty() || rest.starts_with([' ', '\t'])))
        .then_some(level)
}

/// Pseudorandom numbers that are the same in every run.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).unwrap() % bound.max(1)
    }

    pub(crate) fn is(&mut self, one_in: usize) -> bool {
        self.below(one_in) == 0
    }
}

const PIECES: [&str; 22] = [
    "text",
    "some [a] and [b][1.0.0] text",
    "# Top",
    "## Two",
    "### Three",
    "###### Six",
    "Set\n===",
    "Set\n---",
    "```\n# code\n```",
    "```\nopen",
    "~~~\nopen",
    "<!-- comment -->",
    "<!-- open",
    "[a]: /a",
    "[1.0.0]: /other",
    "---\nkey: value\n---",
    "key: value",
    "- item\n- item",
    "> quote",
    "| a | b |\n| - | - |\n| 1 | 2 |",
    "    code",
    "---",
];

/// Content: random pieces, and sometimes lines or titles of the document itself.
fn content(random: &mut Random, version: &Version) -> String {
    let mut parts = Vec::new();
    for _ in 0..random.below(5) {
        let sections = &version.outline().sections;
        if random.is(4) && !sections.is_empty() {
            let section = &sections[random.below(sections.len())];
            let span = version.outline().nodes[section.node].bytes;
            let end = if random.is(2) { section.heading_end } else { section.own_end };
            parts.push(String::from_utf8_lossy(&version.bytes()[span.start..end]).into_owned());
        } else {
            parts.push(PIECES[random.below(PIECES.len())].to_owned());
        }
    }
    parts.join(if random.is(4) { "\n" } else { "\n\n" })
}

fn target(random: &mut Random, version: &Version) -> EditTarget {
    let outline = version.outline();
    if random.is(12) {
        return EditTarget::FrontMatter;
    }
    if random.is(40) {
        return EditTarget::Document;
    }
    if !version.markup().sections.is_empty() && random.is(2) {
        return EditTarget::Ldmd(random.below(version.markup().sections.len()));
    }
    if !outline.sections.is_empty() && !random.is(3) {
        // The last section contains the definitions.
        let index = random.below(outline.sections.len() + outline.sections.len() / 3 + 1);
        return EditTarget::Node(outline.sections[index.min(outline.sections.len() - 1)].node);
    }
    EditTarget::Node(random.below(outline.nodes.len()))
}

/// The part of the file that an edit names, in bytes.
fn named(version: &Version, target: EditTarget, request: &ContentChange) -> (usize, usize) {
    let outline = version.outline();
    let scope = match request {
        ContentChange::Replace { scope, .. } | ContentChange::Delete { scope } => *scope,
        ContentChange::Insert { .. } => EditScope::Subtree,
    };
    let span = match target {
        EditTarget::Document => return (0, version.bytes().len()),
        EditTarget::FrontMatter => outline.front_matter.unwrap_or_default(),
        EditTarget::Ldmd(section) => version.markup().sections[section].span,
        EditTarget::Node(node) => outline.nodes[node].bytes,
    };
    let section = outline.sections.iter().find(|section| target == EditTarget::Node(section.node));
    match (section, scope) {
        (Some(section), EditScope::Own) => (span.start, section.own_end),
        (Some(section), EditScope::Heading) => (span.start, section.heading_end),
        _ => (span.start, span.end),
    }
}

/// A change outside the place that the edit named.
fn side_effect(
    old: &str,
    new: &str,
    place: (usize, usize),
    is_insert: bool,
    allow: Allow,
) -> Option<String> {
    let (before, after) = (Reading::of(old), Reading::of(new));
    let count = |text: &str| lines(text.strip_prefix('\u{feff}').unwrap_or(text)).len();
    let same = |(one, other): &(&&str, &&str)| one.trim_end() == other.trim_end();
    let shorter = before.lines.len().min(after.lines.len());
    let head = before.lines.iter().zip(&after.lines).take_while(same).count();
    let tail = before.lines.iter().rev().zip(after.lines.iter().rev()).take_while(same).count();
    // Blank lines beside the place may change.
    if !is_insert {
        let (above, below) = (count(old[..place.0].trim_end()), count(old[place.1..].trim_start()));
        let (head, tail) = (head.min(above), tail.min(shorter - head.min(above)));
        if head < above || tail < below {
            return Some("lines outside the place are not the same".to_owned());
        }
        return difference(&before, &after, (head, below), allow);
    }
    // For an insertion, the place is where the lines differ. If the new lines are equal to lines beside
    // them, there are two such places.
    let not_blank = before.lines.iter().filter(|line| !line.trim().is_empty()).count();
    let mut found = None;
    for (head, tail) in
        [(head, tail.min(shorter - head)), (head.min(shorter - tail.min(shorter)), tail)]
    {
        found = if head + tail < not_blank {
            Some("lines outside the place are not the same".to_owned())
        } else {
            difference(&before, &after, (head, tail), allow)
        };
        found.as_ref()?;
    }
    found
}

/// What is different in the first `head` and the last `tail` lines, although their text is the same.
fn difference(
    before: &Reading,
    after: &Reading,
    (head, tail): (usize, usize),
    allow: Allow,
) -> Option<String> {
    if allow.change {
        return None;
    }
    let pairs = (0..head)
        .map(|line| (line, line))
        .chain((1..=tail).rev().map(|line| (before.lines.len() - line, after.lines.len() - line)));
    let moved: HashMap<usize, usize> = pairs.clone().collect();
    for (was, is) in pairs {
        let describe =
            |what: &str| Some(format!("{what} of line {}: {:?}", was + 1, before.lines[was]));
        if before.classes[was] != after.classes[is] {
            return describe(&format!("{:?} is {:?}", before.classes[was], after.classes[is]));
        }
        if before.links(was) != after.links(is) {
            return describe(&format!("links {:?} are {:?}", before.links(was), after.links(is)));
        }
        let parent = before.parent(was);
        if !allow.escape
            && parent.is_none_or(|parent| moved.contains_key(&parent))
            && after.parent(is) != parent.and_then(|parent| moved.get(&parent).copied())
        {
            return describe("the section above");
        }
    }
    None
}

#[test]
fn the_second_reader_detects_changes_outside_the_place() {
    let old = "# A\n\nsee [x] here\n\n## B\n\nold\n\n[x]: /x\n\n# C\n\nlast\n\n## D\n";
    let start = old.find("old").unwrap();
    let place = (start, old.find("# C").unwrap());
    let checked = |content: &str, allow| {
        let new = format!("{}{content}\n\n{}", &old[..place.0], &old[place.1..]);
        side_effect(old, &new, place, false, allow)
    };
    let none = Allow::default();
    assert_eq!(checked("new\n\n[x]: /x", none), None);
    for content in
        ["new", "[x]: /y", "```\n[x]: /x", "<!--\n\n[x]: /x", "[x]: /x\n\n[last]: /z\n---"]
    {
        let is_harmless = content.starts_with("[x]: /x\n");
        assert_eq!(checked(content, none).is_none(), is_harmless, "{content}");
    }
    let escaped = "[x]: /x\n\n# New";
    assert_eq!(checked(escaped, none), None, "what follows is at the top level");
    let below = old.replace("# C", "## C").replace("## D", "### D");
    let end = below.find("## C").unwrap();
    let new = format!("{}[x]: /x\n\n# New\n\n{}", &below[..start], &below[end..]);
    assert!(
        side_effect(&below, &new, (start, end), false, none)
            .is_some_and(|side_effect| side_effect.contains("above"))
    );
    let allow = Allow { escape: true, ..none };
    assert_eq!(side_effect(&below, &new, (start, end), false, allow), None);
    let other = old.replace("last", "lost").replace("old", "new");
    assert!(side_effect(old, &other, place, false, none).is_some());
    let inserted = old.replace("# C\n", "# C\n\nmore\n");
    assert_eq!(side_effect(old, &inserted, place, true, none), None);
}

#[test]
fn random_edits_change_their_place_and_nothing_else() {
    let most = usize::try_from(repeats(400)).unwrap();
    let documents: Vec<Version> = corpus::sample(100)
        .into_iter()
        .map(|path| std::fs::read(path).unwrap())
        .filter(|bytes| refusal(bytes).is_none() && bytes.len() < 200_000)
        .filter(|bytes| std::str::from_utf8(bytes).is_ok())
        .map(Version::read)
        .collect();
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let mut outcomes: BTreeMap<&str, usize> = BTreeMap::new();
    let place = Place::new();
    let positions = [Position::Before, Position::After, Position::FirstChild, Position::LastChild];
    for number in 0..most {
        let version = &documents
            [if number < documents.len() { number } else { random.below(documents.len()) }];
        let target = target(&mut random, version);
        let content = content(&mut random, version);
        let scope = [EditScope::Subtree, EditScope::Subtree, EditScope::Own, EditScope::Heading]
            [random.below(4)];
        let request = match random.below(4) {
            0 => ContentChange::Delete { scope },
            1 => ContentChange::Insert {
                content: content.clone().into_bytes(),
                position: positions[random.below(4)],
                relevel: random.is(2),
            },
            _ => ContentChange::Replace {
                content: content.clone().into_bytes(),
                scope,
                keep_heading: !random.is(4),
            },
        };
        let allow = Allow {
            drop: random.is(2),
            escape: random.is(4),
            duplicate: random.is(4),
            change: random.is(8),
        };
        let outcome = match plan(version, target, &request, allow) {
            Err(refusal) => refusal.code(),
            Ok(plan) if plan.splice.effects.is_noop => "nothing to do",
            Ok(plan) => {
                let old = std::str::from_utf8(version.bytes()).unwrap();
                let new = std::str::from_utf8(plan.version.bytes()).unwrap();
                let span = named(version, target, &request);
                let is_insert = matches!(request, ContentChange::Insert { .. });
                let moves = matches!(request, ContentChange::Delete { scope: EditScope::Own });
                let checked = Allow { escape: allow.escape || moves, ..allow };
                if let Some(side_effect) = side_effect(old, new, span, is_insert, checked) {
                    panic!(
                        "edit {number}: {target:?} {request:?} {allow:?}: {side_effect}\n{old}\n-> {new}"
                    );
                }
                "made"
            }
        };
        *outcomes.entry(outcome).or_default() += 1;
        if number % 40 == 0 {
            assert_the_program_agrees(&place, version, &content, outcome);
        }
    }
    eprintln!("{most} random edits of {} documents: {outcomes:?}", documents.len());
    assert!(outcomes["made"] > most / 4);
    for code in ["WOULD_DROP", "WOULD_ESCAPE", "CHANGES_OUTSIDE", "OPEN_FENCE"] {
        assert!(outcomes.contains_key(code), "{code} never");
    }
}

/// Asserts that the program writes what the plan says, and writes nothing if the plan is refused.
fn assert_the_program_agrees(place: &Place, version: &Version, content: &str, _: &str) {
    if content.trim().is_empty() {
        return;
    }
    place.write("doc.md", version.bytes());
    place.run(&["ingest"]).success();
    let request = ContentChange::Replace {
        content: content.as_bytes().to_vec(),
        scope: EditScope::Subtree,
        keep_heading: true,
    };
    let planned = plan(version, EditTarget::Node(0), &request, Allow::default());
    let answer = place.run(&["replace", "doc.md::root", "--content", content]);
    let file = std::fs::read(place.join("doc.md")).unwrap();
    match planned {
        Ok(plan) => {
            assert!(answer.status == 0 && file == plan.version.bytes(), "{}", answer.text());
        }
        Err(refusal) => {
            assert_eq!(answer.json()["error"]["reason"], refusal.code());
            assert!(file == version.bytes());
        }
    }
}
