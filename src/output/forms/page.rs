//! The JSON fields that answers share: everything except their items.

use schemars::JsonSchema;
use serde::Serialize;

use crate::address::AddressError;
use crate::error::Warning;
use crate::query::Page;
use crate::schema::json_as;

/// The JSON fields of a list other than its items.
#[derive(JsonSchema, Serialize)]
pub(super) struct PageJson<'a> {
    #[serde(flatten)]
    notices: NoticesJson<'a>,
    /// Whether something was left out or cut.
    truncated: bool,
    /// The cursor of the items that were left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<&'a String>,
}

/// The JSON fields of a place that has another field `next`, other than its children.
#[derive(JsonSchema, Serialize)]
pub(super) struct ChildrenPageJson<'a> {
    #[serde(flatten)]
    notices: NoticesJson<'a>,
    /// Whether something was left out or cut.
    truncated: bool,
    /// The cursor of the children that were left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_children: Option<&'a String>,
}

/// A page with its lists, even if they are empty.
#[derive(JsonSchema, Serialize)]
pub(super) struct WholePageJson<'a> {
    /// Addresses without an answer.
    unresolved_selectors: &'a [AddressError],
    /// Warnings.
    warnings: &'a [Warning],
    /// Whether something was left out or cut.
    truncated: bool,
    /// The cursor of the items that were left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<&'a String>,
}

/// The problems and warnings of an answer.
#[derive(JsonSchema, Serialize)]
pub(super) struct NoticesJson<'a> {
    /// Addresses without an answer.
    #[serde(skip_serializing_if = "<[AddressError]>::is_empty")]
    unresolved_selectors: &'a [AddressError],
    /// Warnings.
    #[serde(skip_serializing_if = "<[Warning]>::is_empty")]
    warnings: &'a [Warning],
}

/// The answer about one place, or why there is no such place.
#[derive(JsonSchema, Serialize)]
#[serde(untagged)]
pub(super) enum PlaceJson<'a, Place, Beside> {
    Place {
        #[serde(flatten)]
        place: &'a Place,
        #[serde(flatten)]
        beside: Beside,
    },
    NoPlace {
        /// Why the address has no answer.
        unresolved_selectors: &'a [AddressError],
        /// Warnings.
        #[serde(skip_serializing_if = "<[Warning]>::is_empty")]
        warnings: &'a [Warning],
        /// Whether something was left out or cut.
        truncated: bool,
    },
}

impl<'a, Place, Beside: From<&'a Page>> PlaceJson<'a, Place, Beside> {
    pub(super) fn new(place: Option<&'a Place>, page: &'a Page) -> Self {
        match place {
            Some(place) => Self::Place { place, beside: Beside::from(page) },
            None => Self::NoPlace {
                unresolved_selectors: &page.unresolved_selectors,
                warnings: &page.warnings,
                truncated: page.truncated,
            },
        }
    }
}

json_as!(Page => PageJson<'_>);

impl<'a> From<&'a Page> for PageJson<'a> {
    fn from(page: &'a Page) -> Self {
        Self { notices: page.into(), truncated: page.truncated, next: page.next.as_ref() }
    }
}

impl<'a> From<&'a Page> for ChildrenPageJson<'a> {
    fn from(page: &'a Page) -> Self {
        Self { notices: page.into(), truncated: page.truncated, next_children: page.next.as_ref() }
    }
}

impl<'a> From<&'a Page> for WholePageJson<'a> {
    fn from(page: &'a Page) -> Self {
        Self {
            unresolved_selectors: &page.unresolved_selectors,
            warnings: &page.warnings,
            truncated: page.truncated,
            next: page.next.as_ref(),
        }
    }
}

impl<'a> From<&'a Page> for NoticesJson<'a> {
    fn from(page: &'a Page) -> Self {
        Self { unresolved_selectors: &page.unresolved_selectors, warnings: &page.warnings }
    }
}
