//! Section paths: name sections by slug path, by title, or by a part of either.
//!
//! Defines the tiers and their order. Invariant: the first tier with a match decides. Several matches in
//! one tier are an ambiguity error.

use crate::address::{Tree, split_marks};
use crate::limits;
use crate::markdown::outline::Section;
use crate::markdown::slug::{comparable, slug};

/// How exactly a text names a section, the most exact first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tier {
    /// The text is the heading: the title after as many marks as the level.
    Heading,
    /// The text is the whole slug path.
    SlugPath,
    /// The text is the end of the slug path.
    PathSuffix,
    /// The text is the title.
    Title,
    /// The text is the titles from the top of the document.
    TitlePath,
    /// The text is the titles of the innermost sections.
    TitlePathSuffix,
    /// The first of these that a section has:
    ///
    /// 1. a title that begins with the text and a `(`, or with the text if that ends with `()`;
    /// 2. a title or slug of which the text is a part;
    /// 3. the slug path of the text, or a slug path that ends with it, if the text has characters that slugs drop: `C++`
    ///    for `C#`;
    /// 4. the text as its title, after parts of the titles of the sections around it, as in `1.1.0/Added` for a change
    ///    log;
    /// 5. the text as a part of its title or slug, after the titles of the sections around it.
    Substring,
}

/// A section path in the normalized forms that are compared.
#[derive(Debug)]
pub(super) struct SectionPath {
    /// The number of marks before the text, if it is written as a heading.
    level: Option<usize>,
    parts: Vec<PathPart>,
    is_slug_path: bool,
    title: String,
    /// The title with the leading `/`, which may belong to the title.
    title_with_slash: Option<String>,
    /// The text as a slug, if conversion to a slug loses nothing.
    slug: Option<String>,
}

/// A part of a section path, between slashes.
#[derive(Debug)]
struct PathPart {
    text: String,
    slug: String,
    is_slug: bool,
    /// Whether the slug has all characters of the text.
    is_lossless: bool,
}

impl PathPart {
    /// Returns whether the part names `section` by its title, or by the slug as it is printed.
    fn is_title_of(&self, section: &Section) -> bool {
        section.titles().any(|title| comparable(title) == self.text)
            || self.is_slug
                && section.path_part().is_some_and(|slug| comparable(&slug) == self.slug)
    }
}

impl SectionPath {
    /// Parses a section path, which may be written as a heading. A leading `/` only marks the text as a section path.
    pub(super) fn new(text: &str) -> Self {
        let heading = split_marks(text).filter(|(_, title)| !title.is_empty());
        let text = heading.map_or(text, |(_, title)| title);
        let title_with_slash = text.starts_with('/').then(|| comparable(text.trim()));
        let text = text.strip_prefix('/').unwrap_or(text);
        let title = comparable(text.trim());
        let slug_of_all = comparable(&slug(text.trim()));
        let is_lossless = |text: &str, slug: &str| text.replace(' ', "-") == slug;
        let part = |part: &str| {
            let (text, of_text) = (comparable(part.trim()), comparable(&slug(part.trim())));
            PathPart {
                is_slug: !part.is_empty() && slug(part) == part,
                is_lossless: is_lossless(&text, &of_text),
                text,
                slug: of_text,
            }
        };
        let parts: Vec<PathPart> = text.split('/').map(part).collect();
        Self {
            level: heading.map(|(level, _)| level),
            is_slug_path: heading.is_none() && parts.iter().all(|part| part.is_slug),
            parts,
            slug: (!title.is_empty() && is_lossless(&title, &slug_of_all)).then_some(slug_of_all),
            title,
            title_with_slash,
        }
    }

    /// Returns the tiers in the order in which they are tried.
    ///
    /// A text that is not written as slugs, such as `Setup`, is tried as a title first: `C++` has the
    /// same slug as `C#`, and the first of two sections titled `Setup` has the slug path `setup`. A text
    /// that is written as slugs is tried as a path first, then as a title before the end of a path:
    /// `loc` before `class/~loc`. Titles of nested sections come where a title does: the first of two
    /// sections `Parent/Child` has the slug path `parent/child`.
    pub(super) fn exact_tiers(&self) -> &'static [Tier] {
        use Tier::{Heading, PathSuffix, SlugPath, Title, TitlePath, TitlePathSuffix};
        if self.is_slug_path {
            &[SlugPath, Title, TitlePath, TitlePathSuffix, PathSuffix]
        } else if self.level.is_none() {
            &[Title, TitlePath, SlugPath, TitlePathSuffix, PathSuffix]
        } else {
            &[Heading, Title, TitlePath, SlugPath, TitlePathSuffix, PathSuffix]
        }
    }

    /// Returns the keys to look up: a section that this names exactly has one of them as its title or
    /// path part.
    pub(super) fn exact_keys(&self) -> Vec<String> {
        let texts: Vec<&str> = self.parts.iter().map(|part| part.text.as_str()).collect();
        // A title may have slashes, but not many.
        let first = texts.len().saturating_sub(limits::MAX_TITLE_PARTS).max(1);
        let ends = (first..texts.len()).filter_map(|start| Some(texts.get(start..)?.join("/")));
        std::iter::once(self.last_part().to_owned())
            .chain(ends)
            .chain(self.titles().into_iter().map(str::to_owned))
            .filter(|key| !key.is_empty())
            .collect()
    }

    /// Returns the last part as a slug.
    fn last_part(&self) -> &str {
        self.parts.last().map_or("", |part| part.slug.as_str())
    }

    /// Returns whether the path has one part.
    pub(super) fn is_one_part(&self) -> bool {
        self.parts.len() == 1
    }

    /// Returns the text as a title, with and without the leading `/`.
    pub(super) fn titles(&self) -> Vec<&str> {
        std::iter::once(self.title.as_str()).chain(self.title_with_slash.as_deref()).collect()
    }

    /// Returns the text as a slug, if conversion to a slug loses nothing.
    pub(super) fn slug(&self) -> Option<&str> {
        self.slug.as_deref()
    }

    /// Returns the beginning of the title of a function with this name. The name may end with `()`.
    fn before_parameters(&self) -> String {
        format!("{}(", self.title.strip_suffix("()").unwrap_or(&self.title))
    }

    /// Returns the texts of which a section in [`Tier::Substring`] has one in its title or slug.
    pub(super) fn parts_of_titles(&self) -> Vec<String> {
        let function = self.title.ends_with("()").then(|| self.before_parameters());
        let titles = self.titles().into_iter().chain(self.slug()).map(str::to_owned);
        let last = Some(self.last_part().to_owned()).filter(|slug| !slug.is_empty());
        titles.chain(function).chain(last).collect()
    }

    /// Returns the sections of `tree` that the path names exactly, from the first tier that has any, as nodes in document
    /// order.
    pub(super) fn exact_hits(&self, tree: &Tree) -> Vec<usize> {
        let tiers = self.exact_tiers().iter();
        tiers.map(|tier| self.hits(tree, *tier)).find(|hits| !hits.is_empty()).unwrap_or_default()
    }

    /// Returns the sections of `tree` that the path names in `tier`, as nodes in document order.
    pub(super) fn hits(&self, tree: &Tree, tier: Tier) -> Vec<usize> {
        let nodes = |is_hit: &dyn Fn(&Section) -> bool| nodes_of(tree, is_hit);
        if self.title.is_empty() {
            return Vec::new();
        }
        match tier {
            Tier::Heading => {
                let is_at_level = |node: &usize| {
                    let section = tree.section(*node);
                    section.is_some_and(|section| Some(usize::from(section.level)) == self.level)
                };
                let titled = self.hits(tree, Tier::Title);
                titled.into_iter().filter(is_at_level).collect()
            }
            Tier::SlugPath => nodes(&|section| self.is_path_of(tree, section, true)),
            Tier::PathSuffix => nodes(&|section| self.is_path_of(tree, section, false)),
            Tier::TitlePath => nodes(&|section| self.is_title_path_of(tree, section, true)),
            Tier::TitlePathSuffix => nodes(&|section| self.is_title_path_of(tree, section, false)),
            Tier::Title => {
                // A title such as `/std:c17` may include the slash; otherwise the slash only marks a
                // section path.
                let is = |title: &str| {
                    let is_title = |text: &str| comparable(text) == title;
                    nodes(&|section| section.titles().any(is_title))
                };
                let written: Vec<usize> =
                    self.title_with_slash.as_deref().map_or_else(Vec::new, is);
                if written.is_empty() { is(&self.title) } else { written }
            }
            Tier::Substring => self.substring_hits(tree),
        }
    }

    /// Returns the sections of `tree` that the path names in [`Tier::Substring`].
    fn substring_hits(&self, tree: &Tree) -> Vec<usize> {
        let nodes = |is_hit: &dyn Fn(&Section) -> bool| nodes_of(tree, is_hit);
        // The name of a function is all of its title before the parameters.
        let before_parameters = self.before_parameters();
        let functions = nodes(&|section| {
            section.titles().any(|text| comparable(text).starts_with(&before_parameters))
        });
        if !functions.is_empty() {
            return functions;
        }
        let parts = nodes(&|section| {
            section.searched_titles().any(|text| comparable(&text).contains(&self.title))
                || self.slug.as_ref().is_some_and(|slug| comparable(&section.slug()).contains(slug))
        });
        if !parts.is_empty() {
            return parts;
        }
        let has_slug = |section: &Section, part: &PathPart| {
            !part.slug.is_empty() && comparable(&section.slug()) == part.slug
        };
        let slugs = nodes(&|section| self.matches(tree, section, false, &has_slug));
        if !slugs.is_empty() || self.is_one_part() {
            return slugs;
        }
        let has_part = |section: &Section, part: &PathPart| {
            let mut titles = section.searched_titles();
            !part.text.is_empty() && titles.any(|text| comparable(&text).contains(&part.text))
        };
        let Some(last) = self.parts.last() else { return parts };
        let titled = nodes(&|section| {
            last.is_title_of(section) && self.matches(tree, section, false, &has_part)
        });
        if !titled.is_empty() {
            return titled;
        }
        let is_below = |section: &Section, part: &PathPart| {
            if std::ptr::eq(part, last) {
                has_part(section, part)
                    || part.is_slug && comparable(&section.slug()).contains(&part.slug)
            } else {
                part.is_title_of(section)
            }
        };
        nodes(&|section| self.matches(tree, section, false, &is_below))
    }

    /// Returns whether the slug path of `section` is these parts, or ends with them. A title or a slug may stand for a
    /// part, but not a text of which the slug drops characters.
    fn is_path_of(&self, tree: &Tree, section: &Section, is_whole: bool) -> bool {
        let is_part = |section: &Section, part: &PathPart| {
            section.path_part().is_some_and(|slug| comparable(&slug) == part.slug)
                && (part.is_lossless || part.is_title_of(section))
        };
        self.matches(tree, section, is_whole, &is_part)
    }

    /// Returns whether these parts are the titles of nested sections of which `section` is the innermost.
    fn is_title_path_of(&self, tree: &Tree, section: &Section, is_whole: bool) -> bool {
        let ends_here = |section: &Section| {
            self.parts.last().is_some_and(|part| part.is_title_of(section))
                || section.titles().any(|title| title.contains('/'))
        };
        !self.is_one_part()
            && ends_here(section)
            && are_titles_of(&tree.sections_above(section.node), &self.parts, is_whole)
    }

    fn matches(
        &self,
        tree: &Tree,
        section: &Section,
        is_whole: bool,
        is_part: &dyn Fn(&Section, &PathPart) -> bool,
    ) -> bool {
        // Most sections fail this check, before their path is built.
        if !self.parts.last().is_some_and(|part| is_part(section, part)) {
            return false;
        }
        let above = tree.sections_above(section.node);
        let Some(start) = above.len().checked_sub(self.parts.len()) else { return false };
        (!is_whole || start == 0)
            && above.into_iter().skip(start).zip(&self.parts).all(|(one, part)| is_part(one, part))
    }
}

/// Returns whether `parts` are the titles of the innermost of `sections`, or if `is_whole`, of all. A title with slashes
/// is as many parts.
fn are_titles_of(sections: &[&Section], parts: &[PathPart], is_whole: bool) -> bool {
    let (Some((section, outer)), Some((last, rest))) = (sections.split_last(), parts.split_last())
    else {
        return parts.is_empty() && (sections.is_empty() || !is_whole);
    };
    let has_slashes = |title: &str| {
        let of_title: Vec<String> = title.split('/').map(|part| comparable(part.trim())).collect();
        let is_several = (2..=limits::MAX_TITLE_PARTS).contains(&of_title.len());
        let start = parts.len().checked_sub(of_title.len()).filter(|_| is_several);
        start.is_some_and(|start| {
            let (rest, own) = parts.split_at(start);
            own.iter().map(|part| &part.text).eq(&of_title) && are_titles_of(outer, rest, is_whole)
        })
    };
    last.is_title_of(section) && are_titles_of(outer, rest, is_whole)
        || section.titles().any(has_slashes)
}

/// Returns the sections of `tree` for which `is_hit` is true, as nodes in document order.
fn nodes_of(tree: &Tree, is_hit: &dyn Fn(&Section) -> bool) -> Vec<usize> {
    let sections = tree.outline().sections.iter();
    sections.filter(|section| is_hit(section)).map(|section| section.node).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first_tier(text: &str) -> Option<(Tier, Vec<String>)> {
        let source = "# Requirements\n## Functional\n### Auth\n## Auth\n# Über uns ⚙️\n# Auth flow\n\
            # C#\n# C++\n# FAQ & Notes\n# `fs.rm(path)`\n# fs.rmdir(path)\n# Twins\n## Twin\n## Twin\n\
            # Protocols\n## TCP/IP\n### Ports\n";
        let tree = Tree::new(crate::markdown::parse(source.as_bytes()).outline);
        let path = SectionPath::new(text);
        path.exact_tiers().iter().chain(&[Tier::Substring]).find_map(|&tier| {
            let hits = path.hits(&tree, tier);
            let selectors = hits.iter().map(|&node| tree.selector(node)).collect();
            (!hits.is_empty()).then_some((tier, selectors))
        })
    }

    #[expect(clippy::unnecessary_wraps, reason = "compared with an Option")]
    fn found(tier: Tier, selectors: &[&str]) -> Option<(Tier, Vec<String>)> {
        Some((tier, selectors.iter().map(|&selector| selector.to_owned()).collect()))
    }

    #[test]
    fn the_first_tier_with_a_match_decides() {
        use Tier::{SlugPath, Substring, Title, TitlePath, TitlePathSuffix};
        assert_eq!(first_tier("C#"), found(Title, &["heading:h1[3]"]));
        assert_eq!(
            first_tier("c++"),
            found(Title, &["heading:h1[4]"]),
            "not the first slug of both"
        );
        assert_eq!(first_tier("c-1"), found(SlugPath, &["heading:h1[4]"]));
        assert_eq!(first_tier("faq--notes"), found(SlugPath, &["heading:h1[5]"]));
        assert_eq!(first_tier("FAQ & Notes"), found(Title, &["heading:h1[5]"]));
        assert_eq!(first_tier("Auth"), found(Title, &["heading:h3[0]", "heading:h2[1]"]));
        assert_eq!(first_tier("unc::*"), None, "characters that slugs drop are significant");
        let auth = &["heading:h3[0]"][..];
        assert_eq!(first_tier("Requirements/Functional/Auth"), found(TitlePath, auth));
        assert_eq!(first_tier("requirements/functional/auth"), found(SlugPath, auth));
        assert_eq!(first_tier("functional/auth"), found(TitlePathSuffix, auth));
        assert_eq!(first_tier("auth"), found(Title, &["heading:h3[0]", "heading:h2[1]"]));
        assert_eq!(first_tier("requirements"), found(SlugPath, &["heading:h1[0]"]));
        assert_eq!(first_tier("über uns ⚙"), found(Title, &["heading:h1[1]"]));
        assert_eq!(first_tier("flow"), found(Substring, &["heading:h1[2]"]));
        assert_eq!(first_tier("U\u{308}ber"), found(Substring, &["heading:h1[1]"]));
        assert_eq!(first_tier("/requirements"), found(SlugPath, &["heading:h1[0]"]));
        assert_eq!(first_tier("fs.rm"), found(Substring, &["heading:h1[6]"]));
        assert_eq!(first_tier("fs.rm()"), found(Substring, &["heading:h1[6]"]));
        assert_eq!(first_tier("s.rm()"), None, "only a whole name is before parameters");
        assert_eq!(first_tier("fs"), found(Substring, &["heading:h1[6]", "heading:h1[7]"]));
        assert_eq!(first_tier("Twins/Twin"), found(TitlePath, &["heading:h2[2]", "heading:h2[3]"]));
        assert_eq!(first_tier("twins/twin"), found(SlugPath, &["heading:h2[2]"]));
        assert_eq!(first_tier("Twins/twin-1"), found(TitlePath, &["heading:h2[3]"]));
        assert_eq!(first_tier("quire/Functional/Auth"), found(Substring, auth));
        assert_eq!(first_tier("quire/Functional/uth"), None);
        assert_eq!(first_tier("Requirements/Functional/uth"), found(Substring, auth));
        assert_eq!(first_tier("C*"), found(Substring, &["heading:h1[3]", "heading:h1[4]"]));
        assert_eq!(first_tier("Protocols/TCP/IP"), found(TitlePath, &["heading:h2[4]"]));
        assert_eq!(first_tier("TCP / IP/Ports"), found(TitlePathSuffix, &["heading:h3[1]"]));
        assert_eq!(first_tier("TCP/Ports"), found(Substring, &["heading:h3[1]"]));
        assert_eq!(first_tier("twins/wi"), found(Substring, &["heading:h2[2]", "heading:h2[3]"]));
        assert_eq!(first_tier("nothing"), None);
        assert_eq!(first_tier("/"), None);
    }
}
