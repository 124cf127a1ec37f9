//! `ldmd index`: lists the sections of a document in the order of their BEGIN markers.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use super::{Items, LdmdAnswer, in_document};
use crate::error::Result;
use crate::ldmd::Markup;
use crate::query::cursor::most;
use crate::query::freshness::Freshness;
use crate::query::open_document::OpenDocument;
use crate::query::page::{self, shorten};
use crate::query::{Cursor, List as _, Session};

/// A request for the sections of a document.
#[derive(Clone, Debug)]
pub struct LdmdIndexRequest {
    /// The name of the document.
    pub document: String,
    /// The maximum number of sections; 0 for all.
    pub limit: usize,
    /// The cursor of the previous answer, if any.
    pub after: Option<Cursor>,
}

/// A section of the list.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct LdmdIndexEntry {
    /// The id; a repeated id is followed by `@` and the line of its marker.
    pub id: String,
    /// The title; empty if the marker has none.
    pub title: String,
    /// The `level` of the marker; 0 if it has none.
    pub level: u32,
    /// The id of the section that contains it, if any.
    pub parent: Option<String>,
    /// The tags of the marker.
    pub tags: Vec<String>,
    /// The JSON value of the `meta` attribute, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub meta: Option<Value>,
    /// The attributes that LDMD does not define.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub attributes: Map<String, Value>,
    /// The byte offset of the line with the BEGIN marker.
    pub start_offset: usize,
    /// The byte offset after the line with the END marker.
    pub end_offset: usize,
    /// The number of sections that contain it.
    pub depth: usize,
    /// Whether a viewer should show it collapsed at first.
    pub collapsed: bool,
    /// The address of the section.
    pub selector: String,
}

/// The sections of a document.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct Index {
    /// The path of the document.
    pub file: String,
    /// The sections of this part of the list.
    pub sections: Vec<LdmdIndexEntry>,
    /// The size of the document in bytes.
    pub total_bytes: usize,
    /// The version of LDMD that the document declares, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Whether the file differs from the stored document.
    #[serde(flatten)]
    pub freshness: Freshness,
}

impl Items for Index {
    fn count(&self) -> usize {
        self.sections.len()
    }

    fn first(&self, count: usize) -> Self {
        let sections = self.sections.iter().take(count).cloned().collect();
        Self { sections, file: self.file.clone(), version: self.version.clone(), ..*self }
    }

    fn sizes_of_first(&self) -> usize {
        self.sections.first().map_or(0, |first| page::longest([first.title.as_str()]))
    }

    fn cut_first(&mut self, size: usize) -> Option<usize> {
        self.sections.iter_mut().for_each(|section| shorten(&mut section.title, size));
        None
    }
}

/// Lists the sections of a document.
pub fn index(session: &Session<'_>, request: &LdmdIndexRequest) -> Result<LdmdAnswer<Index>> {
    let answer = in_document(session, &request.document, request.after, |document, part| {
        let markup = &document.markup;
        let from = part.start().min(markup.sections.len());
        Ok(Ok(Index {
            file: document.stored.path.clone(),
            sections: (from..markup.sections.len())
                .filter_map(|section| entry(document, markup, section))
                .collect(),
            total_bytes: document.span().len(),
            version: markup.version.clone(),
            freshness: session.freshness(&document.stored),
        }))
    })?;
    Ok(answer.first(most(request.limit)))
}

fn entry(document: &OpenDocument, markup: &Markup, index: usize) -> Option<LdmdIndexEntry> {
    let section = markup.sections.get(index)?;
    Some(LdmdIndexEntry {
        id: markup.name(index),
        title: section.title.clone(),
        level: section.level,
        parent: section.parent.map(|parent| markup.name(parent)),
        tags: section.tags.clone(),
        meta: section.meta.as_ref().and_then(|meta| serde_json::from_str(meta).ok()),
        attributes: section
            .attributes
            .iter()
            .map(|(name, value)| (name.clone(), Value::from(value.as_str())))
            .collect(),
        start_offset: section.span.start,
        end_offset: section.span.end,
        depth: section.depth,
        collapsed: markup.is_collapsed(index),
        selector: document.address_of_ldmd(index),
    })
}
