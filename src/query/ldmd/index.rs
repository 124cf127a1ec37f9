//! `ldmd index`: the sections of a document in opening order.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use super::{Answer, Items, in_document};
use crate::error::Result;
use crate::ldmd::Markup;
use crate::query::cursor::{ListPart, most};
use crate::query::library::{Freshness, OpenDocument};
use crate::query::page::{self, shorten};
use crate::query::{Cursor, Library, List as _};

/// What to list.
#[derive(Clone, Debug)]
pub struct Request {
    /// The document by name.
    pub document: String,
    /// Sections to give at most; 0 for all.
    pub limit: usize,
    /// Where a former answer ended.
    pub after: Option<Cursor>,
}

/// A section.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct Entry {
    /// Its id; a repeated one with `@` and the line of its marker.
    pub id: String,
    /// Its title, empty where it has none.
    pub title: String,
    /// The level that its marker gives, 0 where it gives none.
    pub level: u32,
    /// The id of the section that holds it.
    pub parent: Option<String>,
    /// Its tags.
    pub tags: Vec<String>,
    /// What its marker says of it beyond.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub meta: Option<Value>,
    /// Attributes of its marker that the protocol does not know.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub attributes: Map<String, Value>,
    /// Offset of the first byte of the line of its BEGIN.
    pub start_offset: usize,
    /// Offset behind the line end of its END.
    pub end_offset: usize,
    /// How many sections hold it.
    pub depth: usize,
    /// Whether it is to be shown closed at first.
    pub collapsed: bool,
    /// Its address.
    pub selector: String,
}

/// The sections of a document.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct Index {
    /// The document.
    pub file: String,
    /// Its sections.
    pub sections: Vec<Entry>,
    /// Bytes of the document.
    pub total_bytes: usize,
    /// The version of the format that the document names.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Whether the file is still the same.
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
pub fn index(library: &Library<'_>, request: &Request) -> Result<Answer<Index>> {
    let (part, warnings) = ListPart::beginning(request.after, library.snapshot.generation());
    let answer = in_document(library, &request.document, (part, warnings), |document| {
        let markup = &document.markup;
        let from = part.start().min(markup.sections.len());
        Ok(Ok(Index {
            file: document.stored.path.clone(),
            sections: (from..markup.sections.len())
                .filter_map(|section| entry(document, markup, section))
                .collect(),
            total_bytes: document.span().len(),
            version: markup.version.clone(),
            freshness: library.freshness(&document.stored),
        }))
    })?;
    Ok(answer.first(most(request.limit)))
}

fn entry(document: &OpenDocument, markup: &Markup, index: usize) -> Option<Entry> {
    let section = markup.sections.get(index)?;
    Some(Entry {
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
