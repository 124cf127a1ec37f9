//! The layout of JSON front matter, which is read as YAML in braces.

use super::layout::Layout;
use super::yaml;

/// Returns the layout of `text`.
pub(super) fn layout(text: &str) -> Result<Layout, String> {
    yaml::layout(text)
}
