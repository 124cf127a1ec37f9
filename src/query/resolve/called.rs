//! Documents by what they call themselves: by title, or by an id or an alias in front matter, as wikilinks name them.
//!
//! Only reads use this module, and only for a text that names nothing else exactly. Invariant: the first kind of name
//! with a match decides, and several documents with that name are an ambiguity.

use super::Resolver;
use super::locate::locate_first;
use super::located::Located;
use crate::address::{Interpretation, ParsedPlace, namespace};
use crate::error::{Result, Warning};
use crate::links::{NameKind, name_key};
use crate::query::document_name::{self, NameMatch};
use crate::store::{Lookup, StoredDocument};

/// The kinds of names, in order of precedence.
const KINDS: [NameKind; 3] = [NameKind::Title, NameKind::Id, NameKind::Alias];

impl Resolver<'_> {
    /// Returns the place that the first of `interpretations` names whose document is called by its title, its
    /// id or an alias.
    pub(super) fn called(&self, interpretations: &[Interpretation]) -> Result<Option<Located>> {
        for interpretation in interpretations {
            let (name, places) = match interpretation {
                Interpretation::Namespaced { name, places: Ok(places) } => (name, &places[..]),
                Interpretation::PathLine { name, place }
                | Interpretation::PathAnchor { name, place }
                | Interpretation::DocumentName { name, place } => {
                    (name, std::slice::from_ref(place))
                }
                _ => continue,
            };
            // A document of that name has no such place, or it would have been found.
            if !matches!(document_name::by_name(self.session, name)?, NameMatch::None) {
                continue;
            }
            if let Some(located) = self.in_called(name, places)? {
                return Ok(Some(located));
            }
        }
        Ok(None)
    }

    /// Returns the first of `places` in the document that calls itself `name`.
    fn in_called(&self, name: &str, places: &[ParsedPlace]) -> Result<Option<Located>> {
        let decoded = namespace::decode(name);
        for kind in KINDS {
            let documents = self.session.reader.all(&Lookup::NameKey(name_key(kind, &decoded)))?;
            let [stored] = documents.as_slice() else {
                if documents.is_empty() {
                    continue;
                }
                let fault = self.ambiguous_document(name, places, &documents)?;
                return Ok(Some(Located::fault(fault)));
            };
            let located = locate_first(&self.session.open(stored)?, places);
            return Ok(Some(located.warn([read_as(&decoded, kind, stored)])));
        }
        Ok(None)
    }
}

/// Returns the warning that a name led to a document.
fn read_as(name: &str, kind: NameKind, stored: &StoredDocument) -> Warning {
    let kind = match kind {
        NameKind::Title => "title",
        NameKind::Id => "id",
        NameKind::Alias => "alias",
    };
    let message = format!("{name} is read as the document {} with that {kind}", stored.path);
    Warning::new("NAME_IN_DOCUMENT", message)
}
