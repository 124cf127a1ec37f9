//! The rows of new documents, until they are copied to the server.
//!
//! Invariant: rows of a document are copied together, in one transaction.

use std::collections::{BTreeMap, HashSet};
use std::convert::Infallible;
use std::sync::{Mutex, PoisonError};

use tokio_postgres::types::Type;

use super::connection::Connection;
use super::rows::chunk_place;
use super::rows::{KeyKind, number, packed_texts, partition_of, text_key};
use super::segment::SegmentBuilder;
use crate::corpus::FileState;
use crate::error::Result;
use crate::failpoint::batch_bytes;
use crate::parallel;
use crate::prepare::rows::{DerivedRows, unpackable};
use crate::prepare::{LookupKeys, PreparedDocument, title_keys};
use crate::terms::DocumentText;

/// The bytes of rows and texts that are collected before they are sent.
const SEND_BYTES: usize = 48 << 20;

/// A new document.
#[derive(Debug)]
struct NewDocument {
    id: i64,
    partition: i16,
    rows: DerivedRows,
    state: FileState,
    checksums: Vec<u8>,
    chunks: Vec<Vec<u8>>,
    keys: Vec<(i16, i64)>,
    fingerprints: Vec<u8>,
}

/// The changes that were not sent to the server.
#[derive(Debug, Default)]
pub(super) struct PendingChange {
    documents: Vec<NewDocument>,
    paths: HashSet<String>,
    /// The bytes of the rows and texts, approximately.
    bytes: usize,
    /// The ids of removed documents.
    pub(super) removed: Vec<i64>,
    pub(super) states: Vec<(i64, FileState)>,
    /// The index of the documents since the last commit, by partition.
    pub(super) segments: BTreeMap<i16, SegmentBuilder>,
    /// The texts that are not in the index yet, by partition.
    texts: BTreeMap<i16, Vec<(i64, DocumentText)>>,
}

impl PendingChange {
    /// Whether there is nothing to send except for the index.
    pub(super) fn is_sent(&self) -> bool {
        self.documents.is_empty() && self.removed.is_empty() && self.states.is_empty()
    }

    /// Whether there is so much that it should be sent now.
    pub(super) fn is_large(&self) -> bool {
        self.bytes >= batch_bytes(SEND_BYTES)
    }

    /// Whether a new document has this path.
    pub(super) fn has_path(&self, path: &str) -> bool {
        self.paths.contains(path)
    }

    /// Adds a document.
    pub(super) fn put(&mut self, id: i64, document: PreparedDocument, partitions: i64) {
        let partition = partition_of(&document.rows.path, partitions);
        let text = &document.text;
        self.bytes += text.size();
        let fingerprints =
            text.sections().flat_map(|section| text.fingerprint(section).to_le_bytes());
        let fingerprints = fingerprints.collect();
        let keys = keys(&document.rows, &document.keys);
        let PreparedDocument { state, chunks, rows, checksums, text, .. } = document;
        self.texts.entry(partition).or_default().push((id, text));
        let lengths =
            [&rows.outline, &rows.links, &rows.markup].into_iter().flatten().map(Vec::len);
        self.bytes += lengths.chain(chunks.iter().map(Vec::len)).sum::<usize>() + keys.len() * 24;
        self.paths.insert(rows.path.clone());
        let checksums = checksums.bytes();
        let new = NewDocument { id, partition, rows, state, checksums, chunks, keys, fingerprints };
        self.documents.push(new);
    }

    /// Adds the texts to the index, the partitions at the same time.
    fn index_texts(&mut self) {
        let texts = std::mem::take(&mut self.texts).into_iter();
        let work = texts.map(|(partition, texts)| {
            let builder = self.segments.remove(&partition).unwrap_or_default();
            (partition, Mutex::new(Some((builder, texts))))
        });
        let work: Vec<_> = work.collect();
        let build = |(): &mut (), (_, work): &(i16, Mutex<Option<_>>)| {
            let taken = work.lock().unwrap_or_else(PoisonError::into_inner).take();
            let (mut builder, texts): (SegmentBuilder, Vec<(i64, DocumentText)>) =
                taken.unwrap_or_default();
            for (id, text) in &texts {
                builder.add(*id, text);
            }
            builder
        };
        let segments = &mut self.segments;
        let Ok(()) = parallel::ordered(
            &work,
            || (),
            build,
            |(partition, _), builder| {
                segments.insert(*partition, builder);
                Ok::<(), Infallible>(())
            },
        );
    }

    /// Sends everything except the index. New documents belong to the generations from `from`. If `ends`, the
    /// documents that they replace, and the removed ones, belong to the generations before `from`.
    pub(super) fn send(
        &mut self,
        connection: &mut Connection,
        from: i64,
        ends: bool,
    ) -> Result<()> {
        self.index_texts();
        if ends {
            let paths: Vec<String> = self.paths.drain().collect();
            end(connection, "d.path = ANY($2)", &paths, Type::TEXT_ARRAY, from)?;
            end(connection, "d.id = ANY($2)", &self.removed, Type::INT8_ARRAY, from)?;
        }
        self.removed.clear();
        self.paths.clear();
        self.send_states(connection)?;
        let documents = std::mem::take(&mut self.documents);
        self.bytes = 0;
        if documents.is_empty() {
            return Ok(());
        }
        copy_documents(connection, &documents, from)?;
        copy_derived(connection, &documents)?;
        connection.copy(
            "title",
            &[("part", Type::INT2), ("document", Type::INT8), ("keys", Type::BYTEA)],
            |sink| {
                documents.iter().try_for_each(|new| match &new.rows.title_keys {
                    Some(keys) => sink(&[&new.partition, &new.id, &keys.as_bytes()]),
                    None => Ok(()),
                })
            },
        )?;
        let columns = [
            ("part", Type::INT2),
            ("kind", Type::INT2),
            ("key", Type::INT8),
            ("document", Type::INT8),
        ];
        connection.copy("key", &columns, |sink| {
            documents.iter().try_for_each(|new| {
                new.keys
                    .iter()
                    .try_for_each(|(kind, key)| sink(&[&new.partition, kind, key, &new.id]))
            })
        })?;
        let columns = [("part", Type::INT2), ("place", Type::INT8), ("bytes", Type::BYTEA)];
        connection.copy("content", &columns, |sink| {
            documents.iter().try_for_each(|new| {
                new.chunks.iter().enumerate().try_for_each(|(index, chunk)| {
                    sink(&[&new.partition, &chunk_place(new.id, index), chunk])
                })
            })
        })
    }

    fn send_states(&mut self, connection: &mut Connection) -> Result<()> {
        let states = std::mem::take(&mut self.states);
        if states.is_empty() {
            return Ok(());
        }
        let ids: Vec<i64> = states.iter().map(|(id, _)| *id).collect();
        let mtimes: Vec<i64> = states.iter().map(|(_, state)| state.mtime_ns).collect();
        let ctimes: Vec<i64> = states.iter().map(|(_, state)| state.ctime_ns).collect();
        connection.execute(
            "UPDATE document d SET mtime_ns = n.mtime_ns, ctime_ns = n.ctime_ns \
             FROM unnest($1, $2, $3) AS n (id, mtime_ns, ctime_ns) \
             WHERE d.id = n.id AND d.id = ANY($1)",
            &[(&ids, Type::INT8_ARRAY), (&mtimes, Type::INT8_ARRAY), (&ctimes, Type::INT8_ARRAY)],
        )?;
        Ok(())
    }
}

/// Ends the documents that `condition` means with `values`, at the generation `from`.
fn end<T: tokio_postgres::types::ToSql + Sync>(
    connection: &mut Connection,
    condition: &str,
    values: &Vec<T>,
    of: Type,
    from: i64,
) -> Result<()> {
    if values.is_empty() {
        return Ok(());
    }
    let statement = format!(
        "UPDATE document d SET gen_to = $1 WHERE {condition} AND d.gen_to IS NULL AND d.gen_from <= $1"
    );
    connection.execute(&statement, &[(&from, Type::INT8), (values, of)])?;
    Ok(())
}

/// Returns what a document is found by, sorted, each once.
pub(super) fn keys(rows: &DerivedRows, keys: &LookupKeys) -> Vec<(i16, i64)> {
    let LookupKeys { links, names, data } = keys;
    let of = |kind: KeyKind, keys: &[i64]| -> Vec<(i16, i64)> {
        keys.iter().map(|key| (kind as i16, *key)).collect()
    };
    let mut keys = of(KeyKind::Link, links);
    keys.extend(of(KeyKind::Name, names));
    keys.extend(of(KeyKind::Data, data));
    let titles = rows.title_keys.as_deref().unwrap_or_default();
    keys.extend(title_keys::each(titles).map(|key| (KeyKind::Title as i16, text_key(key))));
    for tag in &rows.tags {
        // A document with `area/topic` also has the tag `area`.
        let above = tag.match_indices('/').filter_map(|(end, _)| tag.get(..end));
        let all = above.chain([tag.as_str()]);
        keys.extend(all.map(|tag| (KeyKind::Tag as i16, text_key(tag))));
    }
    keys.extend(rows.markup_ids.iter().map(|id| (KeyKind::Markup as i16, text_key(id))));
    keys.sort_unstable();
    keys.dedup();
    keys
}

fn copy_documents(connection: &mut Connection, documents: &[NewDocument], from: i64) -> Result<()> {
    let columns = [
        ("part", Type::INT2),
        ("id", Type::INT8),
        ("path", Type::TEXT),
        ("name_key", Type::TEXT),
        ("hash", Type::BYTEA),
        ("size", Type::INT8),
        ("mtime_ns", Type::INT8),
        ("ctime_ns", Type::INT8),
        ("lines", Type::INT8),
        ("words", Type::INT8),
        ("sections", Type::INT8),
        ("blocks", Type::INT8),
        ("links", Type::INT8),
        ("diagnostics", Type::INT8),
        ("lossy", Type::BOOL),
        ("ldmd", Type::BOOL),
        ("seal", Type::BYTEA),
        ("gen_from", Type::INT8),
    ];
    connection.copy("document", &columns, |sink| {
        documents.iter().try_for_each(|new| {
            let rows = &new.rows;
            let [lines, words, sections, blocks, link_count] = &rows.counts;
            sink(&[
                &new.partition,
                &new.id,
                &rows.path,
                &rows.name_key,
                &rows.hash.as_slice(),
                &number(new.state.size),
                &new.state.mtime_ns,
                &new.state.ctime_ns,
                lines,
                words,
                sections,
                blocks,
                link_count,
                &number(rows.diagnostics.len() as u64),
                &rows.is_lossy,
                &rows.has_markup,
                &new.checksums,
                &from,
            ])
        })
    })
}

fn copy_derived(connection: &mut Connection, documents: &[NewDocument]) -> Result<()> {
    let columns = [
        ("part", Type::INT2),
        ("document", Type::INT8),
        ("outline", Type::BYTEA),
        ("markup", Type::BYTEA),
        ("markup_ids", Type::BYTEA),
        ("links", Type::BYTEA),
        ("front_matter", Type::BYTEA),
        ("tags", Type::BYTEA),
        ("code", Type::BYTEA),
        ("grid", Type::BYTEA),
        ("task", Type::BYTEA),
        ("diagnostics", Type::BYTEA),
        ("fingerprints", Type::BYTEA),
    ];
    connection.copy("derived", &columns, |sink| {
        documents.iter().try_for_each(|new| {
            let rows = &new.rows;
            let [code, tables, tasks] = &rows.data;
            let diagnostics = rows.diagnostics.iter();
            let diagnostics: Vec<(&str, Option<i64>, &str)> = diagnostics
                .map(|one| (one.code.as_str(), one.line, one.message.as_str()))
                .collect();
            let diagnostics = postcard::to_stdvec(&diagnostics)
                .map_err(|error| unpackable(&rows.path, &error.to_string()))?;
            sink(&[
                &new.partition,
                &new.id,
                &rows.outline,
                &rows.markup,
                &packed_texts(&rows.markup_ids),
                &rows.links,
                &rows.front_matter.as_ref().map(String::as_bytes),
                &packed_texts(&rows.tags),
                code,
                tables,
                tasks,
                &diagnostics,
                &new.fingerprints,
            ])
        })
    })
}
