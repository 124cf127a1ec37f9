//! [`Reader`] over one generation of a store on a server.
//!
//! A reader is a read-only transaction. The rows of its generation are chosen by number, so the answers are
//! of one generation even where partitions are on several servers. Invariant: a method takes one round trip or two, however
//! many documents it is given. A list of all documents takes one for each page, and a word query one each for the
//! filter, for words, for their lists, and for the best documents. The index of a generation is read once.

use std::collections::HashSet;
use std::sync::Arc;

use tokio_postgres::Row;
use tokio_postgres::types::Type;

use super::connection::Idle;
use super::lookup::{self, within};
use super::packed_ids::unpack;
use super::question::Question;
use super::ranking::IS_IN_USE;
use super::rows::{
    self, KeyKind, chunk_place, column, damaged, damaged_part, length, partition_of,
};
use super::state::State;
use crate::codec::content::{PackedSpan, UnpackedSpan, chunks_of};
use crate::codec::{markup, outline};
use crate::data::{CodeItem, TaskEntry};
use crate::error::{Result, Warning};
use crate::ldmd::Markup;
use crate::limits::CONTENT_CHUNK_BYTES;
use crate::links::Outgoing;
use crate::markdown::contents::Table;
use crate::markdown::outline::Outline;
use crate::position::ByteSpan;
use crate::prepare::checksums::{self, DocumentPart};
use crate::prepare::integer;
use crate::prepare::rows::DerivedRows;
use crate::prepare::values;
use crate::store::{
    DocumentFilter, Facts, FrontMatterData, KeyTypes, Lookup, Ranking, Reader, SectionFilter,
    StoredDocument, Totals,
};
use crate::terms::{TrigramQuery, WordQuery};

/// A generation in use.
#[derive(Debug)]
pub(super) struct PostgresReader {
    /// `None` only while it is dropped.
    state: Option<State>,
    idle: Arc<Idle>,
}

impl PostgresReader {
    pub(super) fn new(state: State, idle: Arc<Idle>) -> Self {
        Self { state: Some(state), idle }
    }

    fn state(&self) -> Result<&State> {
        self.state.as_ref().ok_or_else(|| damaged("the reader is closed"))
    }
}

impl Drop for PostgresReader {
    fn drop(&mut self) {
        if let Some(connection) = self.state.take().and_then(State::close) {
            self.idle.put_back(connection);
        }
    }
}

/// The facts of a reader that is being dropped.
static CLOSED: std::sync::LazyLock<Facts> = std::sync::LazyLock::new(Facts::default);

impl Reader for PostgresReader {
    fn facts(&self) -> &Facts {
        self.state.as_ref().map_or(&CLOSED, |state| &state.facts)
    }

    fn take_warnings(&self) -> Vec<Warning> {
        Vec::new()
    }

    fn index_generation(&self) -> Option<u64> {
        Some(self.facts().generation)
    }

    fn totals(&self) -> Result<Totals> {
        let state = self.state()?;
        let sums = ["sections", "blocks", "size", "words", "lines", "diagnostics", "links"]
            .map(|name| format!("coalesce(sum(d.{name}), 0)::bigint"));
        let columns = format!("count(*), {}", sums.join(", "));
        let mut question = Question::of_documents(&columns, "document d", state.generation);
        // The server of a partition adds up its rows only if partitions are not added up together.
        question.text.push_str(" GROUP BY d.part");
        let rows = question.run(&mut state.connection())?;
        let number = |index| -> Result<usize> {
            let of_partitions = rows.iter().map(|row| column::<i64>(row, index));
            let sum: i64 = of_partitions.sum::<Result<i64>>()?;
            Ok(usize::try_from(sum).unwrap_or(0))
        };
        Ok(Totals {
            documents: number(0)?,
            sections: number(1)?,
            blocks: number(2)?,
            bytes: number(3)?,
            words: number(4)?,
            lines: number(5)?,
            diagnostics: number(6)?,
            links: number(7)?,
        })
    }

    fn folders(&self) -> Result<Vec<(String, usize)>> {
        let state = self.state()?;
        let columns = "regexp_replace(d.path, '[^/]*$', '') AS folder, count(*)";
        let mut question = Question::of_documents(columns, "document d", state.generation);
        question.text.push_str(" GROUP BY folder");
        let rows = question.run(&mut state.connection())?;
        let folder =
            |row: &Row| Ok((column(row, 0)?, usize::try_from(column::<i64>(row, 1)?).unwrap_or(0)));
        let mut folders: Vec<(String, usize)> = rows.iter().map(folder).collect::<Result<_>>()?;
        // The server returns groups in any order.
        folders.sort();
        Ok(folders)
    }

    fn size_of_folder(&self, folder: &str) -> Result<(usize, u64)> {
        let state = self.state()?;
        let columns = "count(*), coalesce(sum(d.size), 0)::bigint";
        let mut question = Question::of_documents(columns, "document d", state.generation);
        question.text.push_str(" AND ");
        within(&mut question, folder);
        let rows = question.run(&mut state.connection())?;
        let number = |index| rows.first().map_or(Ok(0), |row| column::<i64>(row, index));
        Ok((usize::try_from(number(0)?).unwrap_or(0), u64::try_from(number(1)?).unwrap_or(0)))
    }

    fn documents(
        &self,
        which: &Lookup<'_>,
        after: Option<&str>,
        most: usize,
    ) -> Result<Vec<StoredDocument>> {
        self.state()?.find(which, after, most)
    }

    fn with_title_parts(&self, texts: &[&str]) -> Result<Vec<i64>> {
        self.state()?.with_title_parts(texts)
    }

    fn outlines(&self, documents: &[StoredDocument]) -> Result<Vec<Outline>> {
        self.state()?.unpacked(documents, "v.outline", DocumentPart::Outline, |document, packed| {
            let outline = outline::decode(packed?)?;
            (outline.bytes as u64 == document.state.size).then_some(outline)
        })
    }

    fn markups(&self, documents: &[StoredDocument]) -> Result<Vec<Markup>> {
        // Most documents have none.
        let with: Vec<StoredDocument> =
            documents.iter().filter(|document| document.has_ldmd).cloned().collect();
        let read =
            self.state()?.unpacked(&with, "v.markup", DocumentPart::Markup, |document, packed| {
                markup::decode(packed?, length(document).ok()?)
            });
        let mut read = read?.into_iter();
        let of = |document: &StoredDocument| {
            if document.has_ldmd { read.next() } else { Some(Markup::default()) }
        };
        Ok(documents.iter().filter_map(of).collect())
    }

    fn all_links(&self, documents: &[StoredDocument]) -> Result<Vec<Outgoing>> {
        self.state()?.unpacked(
            documents,
            "v.links",
            DocumentPart::Links,
            |_, packed| match packed {
                Some(packed) => postcard::from_bytes(packed).ok(),
                None => Some(Outgoing::default()),
            },
        )
    }

    fn all_tags(&self, documents: &[StoredDocument]) -> Result<Vec<Vec<String>>> {
        self.state()?.each(documents, "v.tags", |document, row| {
            let tags = rows::unpacked_texts(column(row, 1)?);
            let is_whole = |tags: &Vec<String>| {
                document.checksums.is(DocumentPart::Tags, || checksums::list(tags))
            };
            tags.filter(is_whole).ok_or_else(|| damaged_part(document, "tags"))
        })
    }

    fn front_matters(&self, documents: &[StoredDocument]) -> Result<Vec<FrontMatterData>> {
        self.state()?.unpacked(
            documents,
            "v.front_matter",
            DocumentPart::FrontMatter,
            |_, values| values.map(serde_json::from_slice).transpose().ok(),
        )
    }

    fn all_code(&self, documents: &[StoredDocument]) -> Result<Vec<Vec<CodeItem>>> {
        self.state()?.data(documents, "v.code", DocumentPart::Code)
    }

    fn all_tables(&self, documents: &[StoredDocument]) -> Result<Vec<Vec<Table>>> {
        self.state()?.data(documents, "v.grid", DocumentPart::Tables)
    }

    fn all_tasks(&self, documents: &[StoredDocument]) -> Result<Vec<Vec<TaskEntry>>> {
        self.state()?.data(documents, "v.task", DocumentPart::Tasks)
    }

    fn front_matter_keys(&self, filter: &DocumentFilter) -> Result<KeyTypes> {
        let state = self.state()?;
        let admitted: Option<HashSet<i64>> =
            state.admitted(filter)?.map(|ids| ids.into_iter().collect());
        let columns = "d.id, v.front_matter";
        let mut question = Question::of_documents(columns, lookup::WITH_DERIVED, state.generation);
        question.text.push_str(" AND v.front_matter IS NOT NULL");
        let rows = question.run(&mut state.connection())?;
        let mut keys = KeyTypes::new();
        for row in &rows {
            let id: i64 = column(row, 0)?;
            if admitted.as_ref().is_some_and(|admitted| !admitted.contains(&id)) {
                continue;
            }
            let text = std::str::from_utf8(column(row, 1)?)
                .map_err(|error| damaged(&error.to_string()))?;
            let values = values::of(Some(text)).ok_or_else(|| damaged("its front matter"))?;
            for value in values {
                *keys.entry((value.name, value.type_name.to_owned())).or_default() += 1;
            }
        }
        Ok(keys)
    }

    fn with_diagnostic(&self, code: &str) -> Result<HashSet<i64>> {
        self.state()?.with_diagnostic(code)
    }

    fn index_difference(&self) -> Result<(usize, usize)> {
        let state = self.state()?;
        let mut question =
            Question::new(format!("SELECT s.documents FROM segment s WHERE {IS_IN_USE}"));
        question.bind(state.generation, Type::INT8);
        let segments = question.run(&mut state.connection())?;
        // Also of documents that were replaced and are not deleted yet.
        let known = "SELECT d.id FROM document d UNION ALL SELECT e.document FROM dead e";
        let known = Question::new(known).run(&mut state.connection())?;
        let known = known.iter().map(|row| column(row, 0)).collect::<Result<HashSet<i64>>>()?;
        let question = Question::of_documents("d.id", "document d", state.generation);
        let visible = question.run(&mut state.connection())?;
        let visible = visible.iter().map(|row| column(row, 0));
        let mut unindexed = visible.collect::<Result<HashSet<i64>>>()?;
        let mut missing = 0;
        for segment in &segments {
            let documents = unpack(column(segment, 0)?);
            let documents = documents.ok_or_else(|| damaged("a segment of its index"))?;
            for id in &documents {
                missing += usize::from(!known.contains(id));
                unindexed.remove(id);
            }
        }
        Ok((missing, unindexed.len()))
    }

    fn with_other_keys(&self, rows: &[(&StoredDocument, &DerivedRows)]) -> Result<HashSet<i64>> {
        self.state()?.with_other_keys(rows)
    }

    fn derived(&self, documents: &[StoredDocument]) -> Result<Vec<DerivedRows>> {
        self.state()?.derived(documents)
    }

    fn contents(&self, parts: &[(&StoredDocument, ByteSpan)]) -> Result<Vec<Vec<u8>>> {
        let state = self.state()?;
        // An earlier version wrote no checksums. A small document is read whole, and compared with its hash.
        let has_checksums = state.facts.has_current_parser;
        let read = |document: &StoredDocument, span: ByteSpan| -> Result<(usize, ByteSpan)> {
            let length = length(document)?;
            let is_whole = !has_checksums && length <= CONTENT_CHUNK_BYTES;
            Ok((length, if is_whole { ByteSpan::new(0, length) } else { span.clipped(length) }))
        };
        let (mut partitions, mut places) = (HashSet::new(), HashSet::new());
        for (document, span) in parts {
            let chunks = chunks_of(read(document, *span)?.1);
            partitions.insert(partition_of(&document.path, state.partitions));
            places.extend(chunks.map(|chunk| chunk_place(document.id, chunk)));
        }
        let found = state.chunks(partitions.into_iter().collect(), places.into_iter().collect())?;
        let content = |(document, span): &(&StoredDocument, ByteSpan)| {
            let (length, read) = read(document, *span)?;
            let chunks =
                chunks_of(read).map(|chunk| found.get(&chunk_place(document.id, chunk)).cloned());
            let chunks = chunks.collect::<Option<Vec<_>>>();
            let unpacked = chunks.and_then(|chunks| {
                PackedSpan { span: read, length, chunks }.unpack(&document.hash)
            });
            let is_right = |unpacked: &UnpackedSpan| {
                unpacked.is_checked
                    || read.len() < length
                    || *blake3::hash(&unpacked.bytes).as_bytes() == document.hash
            };
            let Some(UnpackedSpan { mut bytes, .. }) = unpacked.filter(is_right) else {
                return Err(damaged_part(document, "bytes"));
            };
            let span = span.clipped(length);
            bytes.truncate(span.end - read.start);
            bytes.drain(..span.start - read.start);
            Ok(bytes)
        };
        parts.iter().map(content).collect()
    }

    fn frequent_link_keys(&self, count: usize) -> Result<Vec<(i64, usize)>> {
        let state = self.state()?;
        let from = "document d JOIN key k ON k.part = d.part AND k.document = d.id";
        let columns = "k.key, count(*)";
        let mut question = Question::of_documents(columns, from, state.generation);
        question.text.push_str(&format!(" AND k.kind = {}", KeyKind::Link as i16));
        let order = " GROUP BY k.key ORDER BY count(*) DESC, k.key LIMIT ";
        question.with(order, integer(count), Type::INT8, "");
        let rows = question.run(&mut state.connection())?;
        let pair =
            |row: &Row| Ok((column(row, 0)?, usize::try_from(column::<i64>(row, 1)?).unwrap_or(0)));
        rows.iter().map(pair).collect()
    }

    fn ranked(
        &self,
        query: &WordQuery,
        filter: &SectionFilter<'_>,
        count: usize,
    ) -> Result<Ranking> {
        self.state()?.ranked(query, filter, count)
    }

    fn candidates(&self, query: &TrigramQuery) -> Result<Option<Vec<i64>>> {
        self.state()?.candidates(query)
    }
}
