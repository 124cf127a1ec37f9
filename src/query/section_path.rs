//! Section paths: sections by slug path, title, or a part of either.
//!
//! Owns the tiers of contract section 2. Invariant: the first tier with any hit decides, and several
//! hits of one tier are an ambiguity, never a choice.

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

impl Tier {
    /// All tiers, in order.
    pub const ALL: [Self; 4] = [Self::SlugPath, Self::PathSuffix, Self::Title, Self::Substring];
}

/// A section path as it was asked for, in the forms in which it is compared.
#[derive(Debug)]
pub struct SectionPath {
    parts: Vec<String>,
    title: String,
    slug: String,
}

impl SectionPath {
    /// The section path that `text` is; a leading `/` only says that it is one.
    pub fn new(text: &str) -> Self {
        let text = text.strip_prefix('/').unwrap_or(text);
        Self {
            parts: text.split('/').map(|part| comparable(&slug(part.trim()))).collect(),
            title: comparable(text.trim()),
            slug: comparable(&slug(text.trim())),
        }
    }

    /// Its last part as a slug.
    pub fn last_part(&self) -> &str {
        self.parts.last().map_or("", String::as_str)
    }

    /// The text as a title.
    pub fn title(&self) -> &str {
        &self.title
    }

    /// The sections that it names in `tree` by `tier`, as nodes in document order.
    pub fn hits(&self, tree: &Tree, tier: Tier) -> Vec<usize> {
        let has_empty_part = self.parts.iter().any(String::is_empty);
        let is_hit = |section: &Section| match tier {
            Tier::SlugPath | Tier::PathSuffix => {
                !has_empty_part
                    && section.path_part().is_some_and(|part| comparable(&part) == self.last_part())
                    && self.ends_path(tree, section.node, tier == Tier::SlugPath)
            }
            Tier::Title => comparable(&section.title) == self.title,
            Tier::Substring => {
                comparable(&section.title).contains(&self.title)
                    || (!self.slug.is_empty() && comparable(&section.slug).contains(&self.slug))
            }
        };
        let sections = tree.outline().sections.iter();
        if self.title.is_empty() {
            return Vec::new();
        }
        sections.filter(|section| is_hit(section)).map(|section| section.node).collect()
    }

    /// Whether the slug path of `node` ends with these parts, or is them.
    fn ends_path(&self, tree: &Tree, node: usize, is_whole: bool) -> bool {
        let path: Vec<String> = tree
            .sections_above(node)
            .into_iter()
            .map(|section| section.path_part().map(|part| comparable(&part)).unwrap_or_default())
            .collect();
        if is_whole { path == self.parts } else { path.ends_with(&self.parts) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first_tier(text: &str) -> Option<(Tier, Vec<String>)> {
        let source = "# Requirements\n## Functional\n### Auth\n## Auth\n# Über uns ⚙️\n# Auth flow\n";
        let tree = Tree::new(crate::markdown::parse(source.as_bytes()).outline);
        let path = SectionPath::new(text);
        Tier::ALL.into_iter().find_map(|tier| {
            let hits = path.hits(&tree, tier);
            let selectors = hits.iter().map(|&node| tree.selector(node)).collect();
            (!hits.is_empty()).then_some((tier, selectors))
        })
    }

    fn found(tier: Tier, selectors: &[&str]) -> Option<(Tier, Vec<String>)> {
        Some((tier, selectors.iter().map(|&selector| selector.to_owned()).collect()))
    }

    #[test]
    fn tiers_from_the_whole_path_to_a_part_of_the_title() {
        use Tier::{PathSuffix, SlugPath, Substring, Title};
        let auth = &["heading:h3[0]"][..];
        assert_eq!(first_tier("Requirements/Functional/Auth"), found(SlugPath, auth));
        assert_eq!(first_tier("functional/auth"), found(PathSuffix, auth));
        assert_eq!(first_tier("auth"), found(PathSuffix, &["heading:h3[0]", "heading:h2[1]"]));
        assert_eq!(first_tier("requirements"), found(SlugPath, &["heading:h1[0]"]));
        assert_eq!(first_tier("über uns ⚙"), found(SlugPath, &["heading:h1[1]"]));
        assert_eq!(first_tier("flow"), found(Substring, &["heading:h1[2]"]));
        assert_eq!(first_tier("U\u{308}ber"), found(Substring, &["heading:h1[1]"]));
        assert_eq!(first_tier("/requirements"), found(SlugPath, &["heading:h1[0]"]));
        assert_eq!(first_tier("nothing"), None);
        assert_eq!(first_tier("/"), None);
        let _ = Title;
    }
}
