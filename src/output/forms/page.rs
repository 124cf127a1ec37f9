//! The JSON that answers share: the fields of a page, and whether a document differs from its file.

use schemars::JsonSchema;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use crate::address::Fault;
use crate::error::Warning;
use crate::query::Page;
use crate::query::library::Freshness;
use crate::schema::schema_as;

impl Page {
    /// Adds the fields of the page to an answer.
    pub(super) fn fields<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        self.messages(map)?;
        map.serialize_entry("truncated", &self.truncated)?;
        let name = if self.is_of_children { "next_children" } else { "next" };
        match &self.next {
            Some(next) => map.serialize_entry(name, next),
            None => Ok(()),
        }
    }

    /// Adds the unresolved addresses and the warnings to an answer.
    pub(super) fn messages<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        if self.has_empty_lists || !self.unresolved_selectors.is_empty() {
            map.serialize_entry("unresolved_selectors", &self.unresolved_selectors)?;
        }
        if self.has_empty_lists || !self.warnings.is_empty() {
            map.serialize_entry("warnings", &self.warnings)?;
        }
        Ok(())
    }
}

impl Serialize for Page {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        self.fields(&mut map)?;
        map.end()
    }
}

/// The JSON fields of a list other than its items.
#[expect(dead_code, reason = "only its schema is used")]
#[derive(JsonSchema)]
struct PageShape {
    #[schemars(flatten)]
    notices: NoticesShape,
    /// Whether something was left out or cut.
    truncated: bool,
    /// The cursor of the items that were left out.
    #[schemars(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
}

schema_as!(Page => PageShape);

/// The problems and warnings of an answer.
#[expect(dead_code, reason = "only its schema is used")]
#[derive(JsonSchema)]
pub(super) struct NoticesShape {
    /// Addresses without an answer.
    #[schemars(skip_serializing_if = "Option::is_none")]
    unresolved_selectors: Option<Vec<Fault>>,
    /// Warnings.
    #[schemars(skip_serializing_if = "Option::is_none")]
    warnings: Option<Vec<Warning>>,
}

/// The JSON fields of an answer about one place that does not exist.
#[expect(dead_code, reason = "only its schema is used")]
#[derive(JsonSchema)]
pub(super) struct NoPlaceShape {
    /// Why the address has no answer.
    unresolved_selectors: Vec<Fault>,
    /// Warnings.
    #[schemars(skip_serializing_if = "Option::is_none")]
    warnings: Option<Vec<Warning>>,
}

/// A page that has all lists.
#[expect(dead_code, reason = "only its schema is used")]
#[derive(JsonSchema)]
pub(super) struct WholePageShape {
    /// Addresses without an answer.
    unresolved_selectors: Vec<Fault>,
    /// Warnings.
    warnings: Vec<Warning>,
    /// Whether something was left out or cut.
    truncated: bool,
    /// The cursor of the items that were left out.
    #[schemars(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
}

impl Freshness {
    /// Adds the fields that are true to an answer.
    pub(super) fn fields<M: SerializeMap>(self, map: &mut M) -> Result<(), M::Error> {
        for (name, is_so) in [("stale", self.is_stale), ("missing", self.is_missing)] {
            if is_so {
                map.serialize_entry(name, &true)?;
            }
        }
        Ok(())
    }
}
