//! Paths in attributes of HTML, wikilinks in the values of front matter, imports, shortcodes and links in indented
//! code that lead elsewhere after an edit. They are not links of Markdown, so they stay as they are.
//!
//! Invariant: only a warning comes of them. A document that does not contain the name of the file is not searched.

use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::path::Path;
use std::rc::Rc;
use std::sync::OnceLock;

use regex::bytes::Regex;

use super::link_comparison::LinkComparison;
use super::on_lines_at;
use crate::edit::plan::Version;
use crate::error::{Result, Warning};
use crate::limits;
use crate::links::{Kind, Outgoing, StoredLink, file_name, file_stem, folder_of, join};
use crate::markdown::front_matter::detect;
use crate::markdown::links::unescaped;
use crate::markdown::outline::{BlockType, NodeKind};
use crate::markdown::scalars_of;
use crate::percent::percent_encode;
use crate::position::{ByteSpan, LineIndex};
use crate::query::open_document::OpenDocument;
use crate::store::{Lookup, StoredDocument};
use crate::terms::TrigramQuery;

/// A comment or a tag with attributes.
const TAG: &str = r#"(?is-u)<!--.*?-->|<[a-z][a-z0-9-]*\s(?:[^<>"']|"[^"]*"|'[^']*')*>"#;

/// An attribute in a tag that leads to a file.
const ATTRIBUTE: &str = r#"(?i-u)\s(?:href|src|to)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^"'\s<>]+))"#;

/// A wikilink in a value of front matter.
const WIKILINK: &str = r"(?-u)\[\[([^\[\]|\r\n]+)(?:\|[^\[\]\r\n]*)?\]\]";

/// An import or export of MDX from a file.
const IMPORT: &str = r#"(?m-u)^(?:import|export)\s[^'";]*["']((?:\.{0,2}|@site)/[^'"\r\n]+)["']"#;

/// What a path begins with that is below the folder of the site, as Docusaurus reads it.
const IN_SITE: &str = "@site/";

/// A shortcode of Hugo that is replaced by the path of a page.
const SHORTCODE: &str = r#"(?-u)\{\{[<%]\s*(?:rel)?ref\s+(?:path\s*=\s*)?(?:"([^"\r\n]+)"|`([^`\r\n]+)`|([^\s"`<>%]+))"#;

/// What a target is in that is not rewritten, in the order of the warnings.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    Html,
    FrontMatter,
    /// An import, a shortcode or indented code, which generators of sites read as Markdown.
    Generated,
}

impl Place {
    const ALL: [Self; 3] = [Self::Html, Self::FrontMatter, Self::Generated];

    /// Returns texts of which a document with such a target contains one, if it is not in indented code.
    fn marks(self) -> &'static [&'static str] {
        match self {
            Self::Html => &["href", "src", "to="],
            Self::FrontMatter => &["\"[[", "'[["],
            Self::Generated => &["import", "export", "{{<", "{{%"],
        }
    }

    /// Returns the code of the warning, what is not rewritten, and what leads elsewhere.
    fn warning(self) -> [&'static str; 3] {
        match self {
            Self::Html => ["HTML_LINKS", "HTML is", "its attributes href, src and to"],
            Self::FrontMatter => ["FRONT_MATTER_LINKS", "front matter is", "its wikilinks"],
            Self::Generated => {
                ["GENERATOR_LINKS", "indented code, imports and shortcodes are", "their targets"]
            }
        }
    }
}

/// A line with a target that leads elsewhere after the edit: what it is in, the path and the number.
type ChangedLine = (Place, String, usize);

/// Returns warnings about the targets that are not rewritten and lead elsewhere after the edit.
pub(super) fn unchanged_targets(comparison: &LinkComparison<'_>) -> Result<Vec<Warning>> {
    let mut places = BTreeSet::new();
    for version in comparison.versions.values() {
        let of_line = |line: usize| version.origin(line);
        places.extend(changed(comparison, version.document(), version.version.bytes(), of_line)?);
    }
    let (others, is_cut) = others(comparison)?;
    for stored in others {
        let document = comparison.session.open(&stored)?;
        let bytes = comparison.session.content(&document, document.span())?;
        places.extend(changed(comparison, &document, &bytes, |_| &document)?);
    }
    let warnings = Place::ALL.into_iter().filter_map(|place| {
        let [code, kept, what] = place.warning();
        let lines = places.iter().filter(|(of, ..)| *of == place);
        let lines: Vec<String> = lines.map(|(_, path, line)| format!("{path}:{line}")).collect();
        let elsewhere = (!lines.is_empty())
            .then(|| format!("{what} lead elsewhere now {}", on_lines_at(&lines)));
        let cut = is_cut.contains(&place);
        let cut =
            cut.then(|| "the limit html-documents ended the search for such lines".to_owned());
        let said: Vec<String> = elsewhere.into_iter().chain(cut).collect();
        let message = format!("{kept} not rewritten, and {}", said.join("; "));
        (!said.is_empty()).then(|| Warning::new(code, message))
    });
    Ok(warnings.collect())
}

/// Returns the other documents that contain the name of a renamed document and may have a target that is not rewritten,
/// and what such targets are in if there are more.
fn others(comparison: &LinkComparison<'_>) -> Result<(Vec<StoredDocument>, Vec<Place>)> {
    let has_all = |text: &str| {
        let text = text.to_ascii_lowercase();
        let trigrams = text.as_bytes().windows(3).filter_map(|bytes| bytes.try_into().ok());
        TrigramQuery::all_of(trigrams.map(TrigramQuery::Has).collect())
    };
    let renamed = comparison.versions.values().filter(|version| version.is_renamed);
    let paths: Vec<&str> = renamed.map(|version| version.old.stored.path.as_str()).collect();
    let has_one = |name: fn(&str) -> &str| {
        let names = paths.iter().map(|path| name(path)).flat_map(|name| {
            let encoded = percent_encode(name, |scalar| scalar.is_ascii_graphic());
            [has_all(name), has_all(&encoded), has_all(&name.replace('&', "&amp;"))]
        });
        TrigramQuery::any_of(names.collect())
    };
    let names = has_one(file_stem);
    let reader = comparison.session.reader;
    let (mut all, mut cut) = (BTreeSet::new(), Vec::new());
    // The limit is one of each kind, so that many of one do not hide the others.
    for place in Place::ALL {
        let marks = place.marks().iter().map(|mark| has_all(mark));
        let query = names.clone().and(TrigramQuery::any_of(marks.collect()));
        // Generators that read indented code as Markdown need the extension. No trigram finds a tab.
        let query = if place == Place::Generated { query.or(has_one(file_name)) } else { query };
        let mut ids = match reader.candidates(&query)? {
            Some(ids) => ids,
            // Each document may have such a target.
            None => reader.all(&Lookup::All)?.iter().map(|stored| stored.id).collect(),
        };
        ids.retain(|id| !comparison.versions.contains_key(id));
        if ids.len() > limits::MAX_HTML_DOCUMENTS {
            cut.push(place);
        }
        ids.truncate(limits::MAX_HTML_DOCUMENTS);
        all.extend(ids);
    }
    let all: Vec<i64> = all.into_iter().collect();
    Ok((reader.all(&Lookup::Ids(&all))?, cut))
}

/// Returns the lines of `new` with a target that is not rewritten and leads elsewhere than in the document in which it
/// was before.
fn changed<'a>(
    comparison: &LinkComparison<'_>,
    new: &Rc<OpenDocument>,
    bytes: &[u8],
    old_of_line: impl Fn(usize) -> &'a Rc<OpenDocument>,
) -> Result<Vec<ChangedLine>> {
    static REGEXES: OnceLock<Option<Vec<Regex>>> = OnceLock::new();
    let regexes = REGEXES.get_or_init(|| {
        let all = [TAG, ATTRIBUTE, WIKILINK, IMPORT, SHORTCODE];
        all.into_iter().map(|regex| Regex::new(regex).ok()).collect()
    });
    let Some([tag, attribute, wikilink, import, shortcode]) = regexes.as_deref() else {
        return Ok(Vec::new());
    };
    let lines = LineIndex::new(bytes);
    let outline = new.tree.outline();
    let body = outline.front_matter.map_or(0, |front_matter| front_matter.end);
    let code = outline.nodes.iter().filter(|node| node.kind == NodeKind::Block(BlockType::Code));
    let code: Vec<ByteSpan> = code.map(|node| node.bytes).collect();
    let leads_elsewhere = |written: &StoredLink| -> Result<bool> {
        let old = old_of_line(written.line);
        Ok(!comparison.is_same(old, written, new, written)?
            && !comparison.was_broken(old, written)?)
    };
    let mut places = Vec::new();
    let scalars = OnceCell::new();
    for found in wikilink.captures_iter(bytes.get(..body).unwrap_or_default()) {
        let Some(target) = found.get(1) else { continue };
        // What is in no value is in a comment.
        let scalars = scalars.get_or_init(|| scalars_of(bytes, &detect(bytes, outline.start())?));
        let is_in = |scalar: &ByteSpan| scalar.start < target.end() && target.start() < scalar.end;
        if scalars.as_ref().is_some_and(|scalars| !scalars.iter().any(is_in)) {
            continue;
        }
        let line = lines.line_of(target.start());
        let target = String::from_utf8_lossy(target.as_bytes()).trim().to_owned();
        if leads_elsewhere(&StoredLink { kind: Kind::Wikilink, target, line })? {
            places.push((Place::FrontMatter, new.stored.path.clone(), line));
        }
    }
    for block in &code {
        for mut link in links_in_code(block.of(bytes), limits::MAX_INDENTED_NESTING) {
            link.line += lines.line_of(block.start) - 1;
            if leads_elsewhere(&link)? {
                places.push((Place::Generated, new.stored.path.clone(), link.line));
            }
        }
    }
    let tags = tag.find_iter(bytes).map(|tag| (tag.start(), tag.as_bytes(), None));
    let targets = import.captures_iter(bytes).chain(shortcode.captures_iter(bytes));
    let targets = targets.filter_map(|found| {
        let target = (1..found.len()).find_map(|group| found.get(group))?;
        Some((found.get(0)?.start(), target.as_bytes(), Some(target.start())))
    });
    let mut found: Vec<_> = tags.chain(targets).filter(|(start, ..)| *start >= body).collect();
    found.sort_unstable_by_key(|(start, ..)| *start);
    // The backticks from the start of a line to the last place in it.
    let (mut line_start, mut counted, mut backticks) = (0, 0, 0);
    for (offset, text, target) in found {
        let start = lines.start_of(lines.line_of(offset));
        if start != line_start {
            (line_start, counted, backticks) = (start, start, 0);
        }
        let between = bytes.get(counted..offset).unwrap_or_default();
        backticks += memchr::memchr_iter(b'`', between).count();
        counted = offset;
        let next = code.partition_point(|code| code.end <= offset);
        // A reader sees it as text.
        let is_text = backticks % 2 == 1
            || code.get(next).is_some_and(|code| code.start <= offset)
            || bytes.get(..offset).is_some_and(|before| before.ends_with(b"\\"));
        if text.starts_with(b"<!--") || is_text {
            continue;
        }
        if let Some(at) = target {
            let (line, target) = (lines.line_of(at), String::from_utf8_lossy(text).into_owned());
            let old = old_of_line(line);
            if let Some(path) = target.strip_prefix(IN_SITE) {
                if is_elsewhere_in_site(comparison, old, new, path)? {
                    places.push((Place::Generated, new.stored.path.clone(), line));
                }
                continue;
            }
            let by_path = StoredLink { kind: Kind::Markdown, target, line };
            // A shortcode finds a page by its path, or else by its name in another folder.
            let by_name = StoredLink { kind: Kind::Wikilink, ..by_path.clone() };
            let is_path = !comparison.was_broken(old, &by_path)?;
            let before = if is_path { &by_path } else { &by_name };
            let is_same = comparison.is_same(old, before, new, &by_path)?
                || comparison.is_same(old, before, new, &by_name)?;
            if !is_same && !comparison.was_broken(old, before)? {
                places.push((Place::Generated, new.stored.path.clone(), line));
            }
            continue;
        }
        for value in attribute.captures_iter(text) {
            let Some(value) = (1..=3).find_map(|group| value.get(group)) else { continue };
            let target = String::from_utf8_lossy(value.as_bytes()).into_owned();
            let target = unescaped(&target).into_owned();
            let line = lines.line_of(offset + value.start());
            if leads_elsewhere(&StoredLink { kind: Kind::Markdown, target, line })? {
                places.push((Place::Html, new.stored.path.clone(), line));
            }
        }
    }
    Ok(places)
}

/// Returns whether a document is no longer at `path` below the folder of the site. That folder contains the document of
/// the import, and is the nearest one in which there was a document at the path.
fn is_elsewhere_in_site(
    comparison: &LinkComparison<'_>,
    old: &Rc<OpenDocument>,
    new: &Rc<OpenDocument>,
    path: &str,
) -> Result<bool> {
    let roots = comparison.session.reader.roots();
    let link = |document: &OpenDocument, to: &str| {
        let (_, below) = roots.of(&document.stored.path);
        let target = format!("{}{to}", "../".repeat(below.matches('/').count()));
        StoredLink { kind: Kind::Markdown, target, line: 0 }
    };
    let (root, below) = roots.of(&old.stored.path);
    let inside = std::iter::successors(Some(folder_of(below)), |&folder| {
        (!folder.is_empty()).then(|| folder_of(folder))
    });
    let inside = inside.filter_map(|folder| join(folder, path));
    // The root may be in the folder of the site.
    let above = root.folder.ancestors().skip(1).filter_map(|site| {
        let root = root.folder.strip_prefix(site).ok()?;
        Some(Path::new(path).strip_prefix(root).ok()?.to_str()?.to_owned())
    });
    for target in inside.chain(above) {
        let before = link(old, &target);
        if !comparison.was_broken(old, &before)? {
            return Ok(!comparison.is_same(old, &before, new, &link(new, &target))?);
        }
    }
    Ok(false)
}

/// Returns the links of indented code that some generators read as Markdown below the line of a note or a tab. The
/// lines are those of `code`.
fn links_in_code(code: &[u8], levels: usize) -> Vec<StoredLink> {
    let is_blank = |byte: &u8| matches!(byte, b' ' | b'\t');
    let indentation = |line: &[u8]| line.iter().position(|byte| !is_blank(byte));
    let lines = || code.split_inclusive(|byte| *byte == b'\n');
    let shown = lines().filter(|line| !line.trim_ascii().is_empty());
    let common = shown.filter_map(indentation).min().unwrap_or(0);
    // A fence without indentation stays one. What is in a fence is an example.
    if common == 0 || levels == 0 || memchr::memchr(b'[', code).is_none() {
        return Vec::new();
    }
    let text = lines().flat_map(|line| line.get(common..).unwrap_or(b"\n"));
    let version = Version::read(text.copied().collect());
    let mut found = Outgoing::of(version.document(), version.markup()).links;
    let index = LineIndex::new(version.bytes());
    for node in &version.outline().nodes {
        if node.kind == NodeKind::Block(BlockType::Code) {
            let before = index.line_of(node.bytes.start) - 1;
            let nested = links_in_code(node.bytes.of(version.bytes()), levels - 1).into_iter();
            found.extend(nested.map(|link| StoredLink { line: link.line + before, ..link }));
        }
    }
    found
}
