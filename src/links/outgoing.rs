//! The data of a document in the link graph: its links, the names by which other documents can link
//! to it, and the keys that match links with names.
//!
//! Invariant: if a link resolves to another document ([`super::resolve()`]), the keys of the link
//! and the keys of that document have at least one in common. So the links to a document can be
//! found by looking up its keys.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::path::{file_name, folder_of, join, normalized, split_extension, without_order};
use super::reference::{INDEX_NAMES, sources_of_page, split_reference};
use super::site::SiteRoot;
use crate::hash::first_bytes;
use crate::ldmd::Markup;
use crate::markdown::Document;
use crate::markdown::front_matter::{self, aliases, text};
use crate::markdown::html_anchors::HtmlAnchor;
use crate::markdown::links::LinkKind;
use crate::markdown::slug::fold;
use crate::percent::percent_decode;

/// The syntax of a link.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Kind {
    /// `[text](target)`.
    Markdown,
    /// `![text](target)`.
    Image,
    /// `[[target]]`.
    Wikilink,
    /// `![[target]]`.
    Embed,
    /// A REF marker of LDMD, with the id of the section if it names one.
    Ldmd(Option<String>),
    /// An entry of `links` in front matter, with its type.
    Typed(String),
}

impl Kind {
    /// Returns the type of the link: the type in front matter, or a default for the syntax.
    pub fn relation(&self) -> &str {
        match self {
            Self::Markdown | Self::Wikilink => "related",
            Self::Image | Self::Embed => "embeds",
            Self::Ldmd(_) => "references",
            Self::Typed(relation) => relation,
        }
    }

    /// Returns the id of the LDMD section that the link names, if any.
    pub fn ldmd_section(&self) -> Option<&str> {
        match self {
            Self::Ldmd(section) => section.as_deref(),
            _ => None,
        }
    }

    /// Returns whether the link is from front matter.
    pub fn is_typed(&self) -> bool {
        matches!(self, Self::Typed(_))
    }
}

/// A link as it is stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredLink {
    /// The syntax of the link.
    pub kind: Kind,
    /// The target, as it is written.
    pub target: String,
    /// The line on which it begins, 1-based.
    pub line: usize,
}

impl StoredLink {
    /// Returns the target as answers show it: as it is written, and after a `#` the section that a REF marker
    /// names.
    pub fn shown_target(&self) -> Cow<'_, str> {
        match self.kind.ldmd_section() {
            Some(section) => Cow::Owned(format!("{}#{section}", self.target)),
            None => Cow::Borrowed(&self.target),
        }
    }

    /// Returns whether the link names a part of a document, as an anchor, a block or an LDMD section.
    pub(crate) fn names_part(&self) -> bool {
        self.target.contains('#') || self.kind.ldmd_section().is_some()
    }

    /// Returns the texts of which [`Self::shown_target`] consists.
    pub(crate) fn target_texts(&self) -> impl Iterator<Item = &str> {
        [self.target.as_str()].into_iter().chain(self.kind.ldmd_section())
    }

    /// Returns the texts of which [`Self::shown_target`] consists, to change them.
    pub(crate) fn target_texts_mut(&mut self) -> impl Iterator<Item = &mut String> {
        let section = match &mut self.kind {
            Kind::Ldmd(section) => section.as_mut(),
            _ => None,
        };
        [&mut self.target].into_iter().chain(section)
    }
}

/// The data of a document in the link graph.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outgoing {
    /// Its links, by line. On the same line, links of front matter come first.
    pub links: Vec<StoredLink>,
    /// Its title: from front matter, or else from its first heading of level 1, or else from its
    /// first heading if no other heading has a higher level.
    pub title: Option<String>,
    /// Its id, from front matter.
    pub id: Option<String>,
    /// Its aliases, from front matter.
    pub aliases: Vec<String>,
    /// The anchors in its HTML.
    pub html_anchors: Vec<HtmlAnchor>,
}

/// A kind of name by which a document can be found, besides its path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameKind {
    /// Its title.
    Title,
    /// Its id in front matter, which is case-sensitive.
    Id,
    /// An alias.
    Alias,
}

impl Outgoing {
    /// Collects the data of a parsed document.
    pub fn of(document: &Document, markup: &Markup) -> Self {
        let typed = document.typed_links.iter().map(|link| StoredLink {
            kind: Kind::Typed(link.kind_name.clone()),
            target: link.target.clone(),
            line: link.line,
        });
        let inline = document.links.list.iter().map(|link| StoredLink {
            kind: match link.kind {
                LinkKind::Markdown => Kind::Markdown,
                LinkKind::Image => Kind::Image,
                LinkKind::Wikilink => Kind::Wikilink,
                LinkKind::Embed => Kind::Embed,
            },
            target: link.target.clone(),
            line: link.line,
        });
        let references = markup.references.iter().map(|reference| StoredLink {
            kind: Kind::Ldmd(reference.section.clone()),
            target: reference.document.clone(),
            line: reference.line,
        });
        let mut links: Vec<StoredLink> = typed.chain(inline).chain(references).collect();
        links.sort_by_key(|link| link.line);
        let values = document.front_matter.as_ref();
        let sections = &document.outline.sections;
        let highest = sections.iter().map(|section| section.level).min();
        let first = sections.first().filter(|section| Some(section.level) == highest);
        let first = sections.iter().find(|section| section.level == 1).or(first);
        Self {
            links,
            title: values
                .and_then(front_matter::title)
                .or_else(|| first.map(|section| section.title.clone()))
                .filter(|title| !title.trim().is_empty()),
            id: values.and_then(|values| text(values.get("id")?)),
            aliases: values.map(aliases).unwrap_or_default(),
            html_anchors: document.html_anchors.clone(),
        }
    }

    /// Returns whether the document has no links and no names.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Returns the names of the document.
    pub fn names(&self) -> impl Iterator<Item = (NameKind, &str)> {
        let title = self.title.iter().map(|title| (NameKind::Title, title));
        let id = self.id.iter().map(|id| (NameKind::Id, id));
        let aliases = self.aliases.iter().map(|alias| (NameKind::Alias, alias));
        title.chain(id).chain(aliases).map(|(kind, name)| (kind, name.as_str()))
    }

    /// Returns the keys of its names, without duplicates.
    pub fn name_keys(&self) -> Vec<i64> {
        unique(self.names().map(|(kind, name)| name_key(kind, name)).collect())
    }

    /// Returns the keys of its links, without duplicates. `path` is the path of the document.
    pub fn link_keys(&self, path: &str) -> Vec<i64> {
        unique(self.links.iter().flat_map(|link| link_keys(path, link)).collect())
    }

    /// Returns the keys that links to the document may have, without duplicates. `path` is the path
    /// of the document. Links that begin with `/` are also resolved in `sites`.
    pub fn target_keys(&self, path: &str, sites: &[SiteRoot]) -> Vec<i64> {
        let mut keys: Vec<i64> =
            self.names().map(|(_, name)| hash("link", &fold(last(name)))).collect();
        let (whole, _) = split_extension(path);
        let stem = fold(last(whole));
        if INDEX_NAMES.iter().any(|name| fold(name) == without_order(&stem)) {
            let folder = fold(last(folder_of(path)));
            keys.push(hash("link", without_order(&folder)));
            keys.push(hash("link", &folder));
        }
        // A link names the folder of a site by the path at which it is served.
        let of_folder = |site: &&SiteRoot| {
            fold(&site.folder) == fold(folder_of(path)) || fold(&site.folder) == fold(whole)
        };
        let sites = sites.iter().filter(of_folder);
        keys.extend(sites.map(|site| hash("link", &fold(last(&site.prefix)))));
        // A link to a file of a web site may leave out the numbers that order files and folders.
        keys.push(hash("link", without_order(&stem)));
        keys.push(hash("link", &stem));
        unique(keys)
    }
}

/// Returns the keys of a link in the document at `path`. They include those of older versions, because the keys of a
/// document are deleted by their values.
pub fn link_keys(path: &str, link: &StoredLink) -> Vec<i64> {
    let target = &link.target;
    let is_reference = matches!(link.kind, Kind::Markdown | Kind::Image | Kind::Ldmd(_));
    let address = target.split('#').next().unwrap_or_default();
    let name = if is_reference { split_reference(target).0 } else { address };
    if name.trim().is_empty() {
        // The link is to its own document.
        return Vec::new();
    }
    let mut texts: Vec<String> = Vec::new();
    let mut add = |text: &str| {
        let text = last(text.trim());
        texts.extend([text, split_extension(text).0].map(str::to_owned));
    };
    add(target);
    // A backslash separates folders in references, too.
    let with_slashes = name.replace('\\', "/");
    let mut names = vec![address, name, &with_slashes];
    names.dedup();
    let folder = folder_of(path);
    for name in names {
        let decoded = percent_decode(name);
        add(name);
        add(&decoded);
        add(&join(folder, &decoded).unwrap_or_default());
        if is_reference {
            let folder = if decoded.starts_with('/') { "" } else { folder };
            sources_of_page(&normalized(folder, &decoded)).for_each(&mut add);
        }
    }
    // Most of these texts are equal, and comparing them costs less than hashing them.
    texts.sort_unstable();
    texts.dedup();
    unique(texts.into_iter().map(|text| hash("link", &fold(&text))).collect())
}

/// Returns the key of a name of a document.
pub fn name_key(kind: NameKind, name: &str) -> i64 {
    match kind {
        NameKind::Title => hash("title", &fold(name)),
        NameKind::Id => hash("id", name),
        NameKind::Alias => hash("alias", &fold(name)),
    }
}

/// Returns the last component of a path, without a slash at its end.
fn last(path: &str) -> &str {
    file_name(path.trim_end_matches('/'))
}

fn hash(kind: &str, text: &str) -> i64 {
    let mut hasher = blake3::Hasher::new();
    hasher.update(kind.as_bytes()).update(&[0]).update(text.as_bytes());
    first_bytes(hasher.finalize().as_bytes())
}

fn unique(mut keys: Vec<i64>) -> Vec<i64> {
    keys.sort_unstable();
    keys.dedup();
    keys
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shares(path: &str, kind: Kind, target: &str, document: &str, named: &Outgoing) -> bool {
        let link = StoredLink { kind, target: target.to_owned(), line: 1 };
        let keys = link_keys(path, &link);
        named.target_keys(document, &[]).iter().any(|key| keys.contains(key))
    }

    #[test]
    fn a_link_shares_a_key_with_its_possible_targets() {
        let none = Outgoing::default();
        for (target, document) in [
            ("b.md", "a/b.md"),
            ("../x/b#c", "x/B.md"),
            ("..\\x\\b.md#c", "x/B.md"),
            ("b.html?x=1", "a/b.md"),
            ("b/index.html", "a/b.md"),
            ("..\\x\\b\\index.html", "x/b.md"),
            ("./", "a/index.md"),
            ("..", "README.md"),
            ("../c/", "c/_index.md"),
            ("C%23.md", "a/C#.md"),
            ("C#.md", "a/C#.md"),
            ("v1.2", "a/v1.2.md"),
        ] {
            assert!(shares("a/s.md", Kind::Markdown, target, document, &none), "{target}");
        }
        assert!(!shares("a/s.md", Kind::Markdown, "c.md", "a/b.md", &none));
        let named = Outgoing {
            title: Some("A / B".to_owned()),
            id: Some("x-1".to_owned()),
            aliases: vec!["C# Notes".to_owned()],
            ..none
        };
        for target in ["a / b", "x-1", "c# notes", "folder/N", "N.md#h"] {
            assert!(shares("a/s.md", Kind::Wikilink, target, "folder/n.md", &named), "{target}");
        }
    }

    #[test]
    fn the_title_is_the_highest_heading() {
        for (text, title) in [
            ("---\ntitle: F\n---\n# One\n", Some("F")),
            ("## Two\n\n# One\n\n# Other\n", Some("One")),
            ("## Data Types\n\n### Deep\n\n## More\n", Some("Data Types")),
            ("### Deep\n\n## More\n", None),
            ("#\n\n## More\n", None),
            ("text\n", None),
        ] {
            let document = crate::markdown::parse(text.as_bytes());
            let outgoing = Outgoing::of(&document, &Markup::default());
            assert_eq!(outgoing.title.as_deref(), title, "{text}");
        }
    }

    #[test]
    fn names_are_from_front_matter_and_the_first_heading() {
        let text =
            "---\nid: 7\naliases: [One, ' ']\nlinks: [other]\n---\n## x\n\n# T\n\n[a](b.md)\n";
        let outgoing = Outgoing::of(&crate::markdown::parse(text.as_bytes()), &Markup::default());
        let names: Vec<_> = outgoing.names().collect();
        assert_eq!(names, [(NameKind::Title, "T"), (NameKind::Id, "7"), (NameKind::Alias, "One")]);
        let links: Vec<_> =
            outgoing.links.iter().map(|l| (l.kind.relation(), &*l.target, l.line)).collect();
        assert_eq!(links, [("related", "other", 4), ("related", "b.md", 10)]);
    }
}
