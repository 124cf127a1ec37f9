//! Section paths: sections by slug path, title, or a part of either.
//!
//! Owns the tiers and their order. Invariant: the first tier with any hit decides, and several hits
//! of one tier are an ambiguity, never a choice.

use crate::address::Tree;
use crate::markdown::outline::Section;
use crate::markdown::slug::{comparable, slug};

/// How exactly a section is named, the most exact first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tier {
    /// By its whole slug path.
    SlugPath,
    /// By the end of its slug path.
    PathSuffix,
    /// By its title.
    Title,
    /// By a part of its title or slug.
    Substring,
}

/// A section path as it was asked for, in the forms in which it is compared.
#[derive(Debug)]
pub struct SectionPath {
    parts: Vec<PathPart>,
    is_slug_path: bool,
    title: String,
    /// The same with the `/` that may be the title's own.
    title_with_slash: Option<String>,
    /// The text as a slug, where it is written as one and nothing is lost by reading it so.
    slug: Option<String>,
}

/// A part of a section path between slashes.
#[derive(Debug)]
struct PathPart {
    text: String,
    slug: String,
}

impl SectionPath {
    /// The section path that `text` is; a leading `/` only says that it is one.
    pub fn new(text: &str) -> Self {
        let title_with_slash = text.starts_with('/').then(|| comparable(text.trim()));
        let text = text.strip_prefix('/').unwrap_or(text);
        let title = comparable(text.trim());
        let slug_of_all = comparable(&slug(text.trim()));
        let part = |part: &str| PathPart {
            text: comparable(part.trim()),
            slug: comparable(&slug(part.trim())),
        };
        Self {
            is_slug_path: text.split('/').all(|part| !part.is_empty() && slug(part) == part),
            parts: text.split('/').map(part).collect(),
            slug: (!title.is_empty() && title.replace(' ', "-") == slug_of_all)
                .then_some(slug_of_all),
            title,
            title_with_slash,
        }
    }

    /// The tiers in the order in which they are asked. What is not written as slugs, as `Setup`, and
    /// is the very title of a section, is meant as that title: `C++` has the slug of `C#`, and the
    /// first of two sections called `Setup` has the slug path `setup`. What is written as slugs is a
    /// path first, but the very title comes before the end of a path: `loc` before `class/~loc`.
    pub fn tiers(&self) -> [Tier; 4] {
        if self.is_slug_path {
            [Tier::SlugPath, Tier::Title, Tier::PathSuffix, Tier::Substring]
        } else {
            [Tier::Title, Tier::SlugPath, Tier::PathSuffix, Tier::Substring]
        }
    }

    /// The tiers without [`Tier::Substring`], in the order in which they are asked.
    pub fn exact_tiers(&self) -> [Tier; 3] {
        let [first, second, third, _] = self.tiers();
        [first, second, third]
    }

    /// The texts of which a section that this names exactly has one as its title or path part.
    pub fn exact_keys(&self) -> Vec<&str> {
        std::iter::once(self.last_part())
            .chain(self.titles())
            .filter(|key| !key.is_empty())
            .collect()
    }

    /// Its last part as a slug.
    fn last_part(&self) -> &str {
        self.parts.last().map_or("", |part| part.slug.as_str())
    }

    /// Whether it consists of one part.
    pub fn is_one_part(&self) -> bool {
        self.parts.len() == 1
    }

    /// The text as a title, in each way in which it may be one.
    pub fn titles(&self) -> Vec<&str> {
        std::iter::once(self.title.as_str()).chain(self.title_with_slash.as_deref()).collect()
    }

    /// The text as a slug, where that loses nothing of it.
    pub fn slug(&self) -> Option<&str> {
        self.slug.as_deref()
    }

    /// The sections that it names in `tree` by `tier`, as nodes in document order.
    pub fn hits(&self, tree: &Tree, tier: Tier) -> Vec<usize> {
        let sections = || tree.outline().sections.iter();
        let nodes = |is_hit: &dyn Fn(&Section) -> bool| {
            sections().filter(|section| is_hit(section)).map(|section| section.node).collect()
        };
        if self.title.is_empty() {
            return Vec::new();
        }
        match tier {
            Tier::SlugPath | Tier::PathSuffix => {
                let matched: Vec<(usize, bool)> = sections()
                    .filter_map(|section| self.match_path(tree, section, tier == Tier::SlugPath))
                    .collect();
                let has_exact = matched.iter().any(|(_, is_exact)| *is_exact);
                let chosen = matched.into_iter().filter(|(_, is_exact)| *is_exact || !has_exact);
                chosen.map(|(node, _)| node).collect()
            }
            Tier::Title => {
                // `/std:c17` may be written in full; else the slash only forces a section path.
                let is = |title: &str| {
                    let is_title = |text: &str| comparable(text) == title;
                    nodes(&|section| section.titles().any(is_title))
                };
                let written: Vec<usize> =
                    self.title_with_slash.as_deref().map_or_else(Vec::new, is);
                if written.is_empty() { is(&self.title) } else { written }
            }
            Tier::Substring => nodes(&|section| {
                section.titles().any(|text| comparable(text).contains(&self.title))
                    || self
                        .slug
                        .as_ref()
                        .is_some_and(|slug| comparable(&section.slug).contains(slug))
            }),
        }
    }

    /// The node of `section` where its slug path ends with these parts, or is them, and whether each
    /// part is written as the slug or the title.
    fn match_path(&self, tree: &Tree, section: &Section, is_whole: bool) -> Option<(usize, bool)> {
        // Most sections fail here, before their path is put together.
        if comparable(&section.path_part()?) != self.last_part() {
            return None;
        }
        let above = tree.sections_above(section.node);
        let start = above.len().checked_sub(self.parts.len())?;
        if is_whole && start > 0 {
            return None;
        }
        let mut is_exact = true;
        for (section, part) in above.into_iter().skip(start).zip(&self.parts) {
            let slug = comparable(&section.path_part()?);
            if slug != part.slug {
                return None;
            }
            is_exact &= slug == part.text || comparable(&section.title) == part.text;
        }
        Some((section.node, is_exact))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first_tier(text: &str) -> Option<(Tier, Vec<String>)> {
        let source = "# Requirements\n## Functional\n### Auth\n## Auth\n# Über uns ⚙️\n# Auth flow\n\
            # C#\n# C++\n# FAQ & Notes\n";
        let tree = Tree::new(crate::markdown::parse(source.as_bytes()).outline);
        let path = SectionPath::new(text);
        path.tiers().into_iter().find_map(|tier| {
            let hits = path.hits(&tree, tier);
            let selectors = hits.iter().map(|&node| tree.selector(node)).collect();
            (!hits.is_empty()).then_some((tier, selectors))
        })
    }

    #[expect(clippy::unnecessary_wraps, reason = "what it is compared with is one")]
    fn found(tier: Tier, selectors: &[&str]) -> Option<(Tier, Vec<String>)> {
        Some((tier, selectors.iter().map(|&selector| selector.to_owned()).collect()))
    }

    #[test]
    fn tiers_from_the_whole_path_to_a_part_of_the_title() {
        use Tier::{PathSuffix, SlugPath, Substring, Title};
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
        assert_eq!(first_tier("unc::*"), None, "what slugs drop is not what they match by");
        let auth = &["heading:h3[0]"][..];
        assert_eq!(first_tier("Requirements/Functional/Auth"), found(SlugPath, auth));
        assert_eq!(first_tier("functional/auth"), found(PathSuffix, auth));
        assert_eq!(first_tier("auth"), found(Title, &["heading:h3[0]", "heading:h2[1]"]));
        assert_eq!(first_tier("requirements"), found(SlugPath, &["heading:h1[0]"]));
        assert_eq!(first_tier("über uns ⚙"), found(Title, &["heading:h1[1]"]));
        assert_eq!(first_tier("flow"), found(Substring, &["heading:h1[2]"]));
        assert_eq!(first_tier("U\u{308}ber"), found(Substring, &["heading:h1[1]"]));
        assert_eq!(first_tier("/requirements"), found(SlugPath, &["heading:h1[0]"]));
        assert_eq!(first_tier("nothing"), None);
        assert_eq!(first_tier("/"), None);
    }
}
