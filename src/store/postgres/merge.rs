//! Adding segments to the index, and replacing several by one.
//!
//! Invariants: a segment is never changed. A merged segment has the entries of those it replaces, without those of
//! documents that are gone.

use std::collections::{BTreeMap, HashMap, HashSet};

use tokio_postgres::types::Type;

use super::connection::{Connection, Parameter, Parameters};
use super::packed_ids::{pack, unpack};
use super::postings::{Entry, List, decode};
use super::query::order;
use super::rows::{column, damaged, number};
use super::segment::{SegmentBuilder, SegmentRows};
use super::{posting_rows, trigrams};
use crate::error::Result;

/// The number of segments of similar size that are merged.
const SIMILAR: usize = 8;

/// The number of documents of a segment from which it is not merged any more.
const LARGE: i64 = 50_000;

/// The number of documents that are gone from which their segments are merged, if they are many of all.
const GONE: usize = 1000;

/// The numbers of a segment.
struct Numbers {
    partition: i16,
    sections: i64,
    tokens: [i64; 3],
    tags: i64,
}

/// Adds the segments of a change, by partition, to the generations from `from`.
pub(super) fn add(
    connection: &mut Connection,
    segments: BTreeMap<i16, SegmentBuilder>,
    from: i64,
) -> Result<()> {
    for (partition, segment) in segments {
        let numbers = Numbers {
            partition,
            sections: number(segment.sections),
            tokens: segment.tokens.map(number),
            tags: number(segment.tags),
        };
        let documents = segment.documents.clone();
        write(connection, &numbers, &documents, &segment.finish(), from)?;
    }
    Ok(())
}

/// Writes a segment. Its documents must be in the order of their ids.
fn write(
    connection: &mut Connection,
    numbers: &Numbers,
    documents: &[i64],
    rows: &SegmentRows,
    from: i64,
) -> Result<()> {
    let ids = connection.query("SELECT nextval('segment_id')", &[])?;
    let id: i64 = ids.first().map(|row| column(row, 0)).transpose()?.unwrap_or(0);
    let Numbers { partition, sections, tokens: [title, body, code], tags } = numbers;
    connection.execute(
        "INSERT INTO segment (part, id, documents, size, sections, title_tokens, body_tokens, \
         code_tokens, tags, gen_from) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)",
        &[
            (partition, Type::INT2),
            (&id, Type::INT8),
            (&pack(documents), Type::BYTEA),
            (&number(documents.len() as u64), Type::INT8),
            (sections, Type::INT8),
            (title, Type::INT8),
            (body, Type::INT8),
            (code, Type::INT8),
            (tags, Type::INT8),
            (&from, Type::INT8),
        ],
    )?;
    let columns = [
        ("part", Type::INT2),
        ("segment", Type::INT8),
        ("term", Type::BYTEA),
        ("entries", Type::BYTEA),
    ];
    connection.copy("posting", &columns, |sink| {
        rows.postings.iter().try_for_each(|(term, list)| sink(&[partition, &id, term, list]))
    })?;
    let columns = [
        ("part", Type::INT2),
        ("prefix", Type::INT4),
        ("segment", Type::INT8),
        ("entries", Type::BYTEA),
    ];
    connection.copy("trigram", &columns, |sink| {
        rows.trigrams.iter().try_for_each(|(prefix, lists)| sink(&[partition, prefix, &id, lists]))
    })
}

/// A segment in use.
#[derive(Clone, Copy)]
struct Sized {
    id: i64,
    size: i64,
}

/// Merges segments where there are many of similar size, or where many documents are gone. `next` is the
/// generation that is being written.
pub(super) fn tidy(connection: &mut Connection, next: i64) -> Result<()> {
    let statement = "SELECT s.part, s.id, s.size FROM segment s \
         WHERE s.gen_to IS NULL AND s.gen_from <= $1 ORDER BY s.part, s.id";
    let rows = connection.query(statement, &[(&next, Type::INT8)])?;
    let mut partitions: BTreeMap<i16, Vec<Sized>> = BTreeMap::new();
    for row in &rows {
        let segment = Sized { id: column(row, 1)?, size: column(row, 2)? };
        partitions.entry(column(row, 0)?).or_default().push(segment);
    }
    let statement = "SELECT e.part, array_agg(e.document) FROM dead e GROUP BY e.part";
    let mut gone: HashMap<i16, Vec<i64>> = HashMap::new();
    for row in &connection.query(statement, &[])? {
        gone.insert(column(row, 0)?, column(row, 1)?);
    }
    for (partition, segments) in partitions {
        let gone = gone.remove(&partition).unwrap_or_default();
        let size: i64 = segments.iter().map(|segment| segment.size).sum();
        let has_many_gone = gone.len() > GONE && number(gone.len() as u64) * 4 > size;
        let mut classes: BTreeMap<u32, Vec<Sized>> = BTreeMap::new();
        for segment in segments {
            let class = if has_many_gone { 0 } else { segment.size.unsigned_abs().max(1).ilog(8) };
            if has_many_gone || segment.size < LARGE {
                classes.entry(class).or_default().push(segment);
            }
        }
        let gone: HashSet<i64> = gone.into_iter().collect();
        for similar in classes.into_values() {
            if similar.len() >= SIMILAR || has_many_gone {
                let ids: Vec<i64> = similar.iter().map(|segment| segment.id).collect();
                merge(connection, partition, &ids, &gone, next)?;
            }
        }
        if has_many_gone {
            // Some may have been in segments that ended before they were gone.
            let statement = "DELETE FROM dead WHERE part = $1 AND document = ANY($2)";
            let gone: Vec<i64> = gone.into_iter().collect();
            connection
                .execute(statement, &[(&partition, Type::INT2), (&gone, Type::INT8_ARRAY)])?;
        }
    }
    Ok(())
}

/// Ends the segments up to the generation `before` in the partitions whose documents are all newer. They are not read,
/// because they may be damaged.
pub(super) fn end_replaced(connection: &mut Connection, before: i64, next: i64) -> Result<()> {
    let statement = "SELECT d.part FROM document d \
         WHERE d.gen_to IS NULL AND d.gen_from <= $1 GROUP BY d.part";
    let rows = connection.query(statement, &[(&before, Type::INT8)])?;
    let kept = rows.iter().map(|row| column(row, 0)).collect::<Result<Vec<i16>>>()?;
    let statement = "UPDATE segment SET gen_to = $3 \
         WHERE NOT part = ANY($1) AND gen_from <= $2 AND gen_to IS NULL";
    let values: [Parameter<'_>; 3] =
        [(&kept, Type::INT2_ARRAY), (&before, Type::INT8), (&next, Type::INT8)];
    connection.execute(statement, &values)?;
    // They were in these segments.
    let statement = "DELETE FROM dead WHERE NOT part = ANY($1)";
    connection.execute(statement, &[(&kept, Type::INT2_ARRAY)])?;
    Ok(())
}

/// Replaces segments of a partition by one.
fn merge(
    connection: &mut Connection,
    partition: i16,
    segments: &Vec<i64>,
    gone: &HashSet<i64>,
    next: i64,
) -> Result<()> {
    let of_segments: [Parameter<'_>; 2] = [(&partition, Type::INT2), (segments, Type::INT8_ARRAY)];
    let statement = "SELECT s.id, s.documents, s.sections, s.title_tokens, s.body_tokens, \
         s.code_tokens, s.tags FROM segment s WHERE s.part = $1 AND s.id = ANY($2)";
    let mut numbers = Numbers { partition, sections: 0, tokens: [0; 3], tags: 0 };
    let mut old: HashMap<i64, Vec<i64>> = HashMap::new();
    for row in &connection.query(statement, &of_segments)? {
        let documents = unpack(column(row, 1)?).ok_or_else(|| damaged("a segment of its index"))?;
        old.insert(column(row, 0)?, documents);
        numbers.sections += column::<i64>(row, 2)?;
        for (total, index) in numbers.tokens.iter_mut().zip(3..) {
            *total += column::<i64>(row, index)?;
        }
        numbers.tags += column::<i64>(row, 6)?;
    }
    let mut documents: Vec<i64> = old.values().flatten().copied().collect();
    let (dropped, mut living): (Vec<i64>, Vec<i64>) =
        documents.drain(..).partition(|id| gone.contains(id));
    living.sort_unstable();
    // The sections of the documents that are gone are not known one by one.
    let share = |total: i64| {
        let all = number((living.len() + dropped.len()) as u64).max(1);
        total / all * number(living.len() as u64) + total % all * number(living.len() as u64) / all
    };
    numbers.sections = share(numbers.sections);
    numbers.tokens = numbers.tokens.map(share);
    numbers.tags = share(numbers.tags);
    let rows = SegmentRows {
        postings: merged_postings(connection, &of_segments, gone)?,
        trigrams: merged_trigrams(connection, &of_segments, &old, &living)?,
    };
    write(connection, &numbers, &living, &rows, next)?;
    let statement = "UPDATE segment SET gen_to = $3 WHERE part = $1 AND id = ANY($2)";
    let ended = [of_segments[0].clone(), of_segments[1].clone(), (&next, Type::INT8)];
    connection.execute(statement, &ended)?;
    let statement = "DELETE FROM dead WHERE part = $1 AND document = ANY($2)";
    connection.execute(statement, &[(&partition, Type::INT2), (&dropped, Type::INT8_ARRAY)])?;
    Ok(())
}

fn merged_postings(
    connection: &mut Connection,
    of_segments: Parameters<'_>,
    gone: &HashSet<i64>,
) -> Result<BTreeMap<Vec<u8>, Vec<u8>>> {
    let statement = "SELECT p.term, p.entries FROM posting p \
         WHERE p.part = $1 AND p.segment = ANY($2)";
    let rows = connection.query(statement, of_segments)?;
    let broken = || damaged("a list of its index");
    let mut lists: Vec<(&[u8], &[u8])> = Vec::with_capacity(rows.len());
    for row in &rows {
        let found = posting_rows::each(column(row, 0)?, column(row, 1)?, |term, list| {
            lists.push((term, list));
            Some(())
        });
        found.ok_or_else(broken)?;
    }
    lists.sort_unstable();
    let mut merged = BTreeMap::new();
    for of_term in lists.chunk_by(|(one, _), (other, _)| one == other) {
        let mut entries: Vec<Entry> = Vec::new();
        for (_, list) in of_term {
            decode(list, |_| true, &mut entries).ok_or_else(broken)?;
        }
        entries.retain(|entry| !gone.contains(&entry.place.document));
        entries.sort_by_key(|entry| order(entry.place));
        let mut list = List::default();
        for entry in &entries {
            list.push(entry);
        }
        if let Some((term, _)) = of_term.first().filter(|_| !entries.is_empty()) {
            merged.insert(term.to_vec(), list.bytes);
        }
    }
    Ok(posting_rows::rows(merged))
}

fn merged_trigrams(
    connection: &mut Connection,
    of_segments: Parameters<'_>,
    old: &HashMap<i64, Vec<i64>>,
    living: &[i64],
) -> Result<BTreeMap<i32, Vec<u8>>> {
    let statement = "SELECT t.segment, t.prefix, t.entries FROM trigram t \
         WHERE t.part = $1 AND t.segment = ANY($2)";
    let mut lists = trigrams::Lists::default();
    let ordinals: HashMap<i64, u32> = living.iter().copied().zip(0..).collect();
    for row in &connection.query(statement, of_segments)? {
        let documents = old.get(&column(row, 0)?).map(Vec::as_slice).unwrap_or_default();
        let prefix: i32 = column(row, 1)?;
        let decoded = trigrams::each(column(row, 2)?, |third, list| {
            let trigram = prefix.unsigned_abs() << 8 | u32::from(third);
            let new = list
                .ordinals()?
                .into_iter()
                .filter_map(|ordinal| ordinals.get(documents.get(ordinal as usize)?).copied());
            lists.entry(trigram).or_default().extend(new);
            Some(())
        });
        decoded.ok_or_else(|| damaged("a list of its index"))?;
    }
    for list in lists.values_mut() {
        list.sort_unstable();
    }
    lists.retain(|_, list| !list.is_empty());
    Ok(trigrams::rows(lists, living.len()))
}

/// Notes which documents are gone from the segments that a change after `generation` has replaced.
pub(super) fn find_dead(connection: &mut Connection, generation: i64) -> Result<()> {
    let statement = "SELECT s.part, s.documents FROM segment s WHERE s.gen_from <= $1 \
         AND s.gen_to > $1";
    let segments = connection.query(statement, &[(&generation, Type::INT8)])?;
    if segments.is_empty() {
        return Ok(());
    }
    let rows = connection
        .query("SELECT d.id FROM document d UNION ALL SELECT e.document FROM dead e", &[])?;
    let known = rows.iter().map(|row| column(row, 0)).collect::<Result<HashSet<i64>>>()?;
    for segment in &segments {
        let partition: i16 = column(segment, 0)?;
        let documents = unpack(column(segment, 1)?);
        let documents = documents.ok_or_else(|| damaged("a segment of its index"))?;
        let gone: Vec<i64> = documents.into_iter().filter(|id| !known.contains(id)).collect();
        let statement = "INSERT INTO dead (part, document) SELECT $1, unnest($2)";
        connection.execute(statement, &[(&partition, Type::INT2), (&gone, Type::INT8_ARRAY)])?;
    }
    Ok(())
}

/// Deletes the segments that no reader of `generation` or a later one uses.
pub(super) fn delete_ended(connection: &mut Connection, generation: i64) -> Result<()> {
    let statement = "SELECT s.id FROM segment s WHERE s.gen_to IS NOT NULL AND s.gen_to <= $1";
    let rows = connection.query(statement, &[(&generation, Type::INT8)])?;
    let ids = rows.iter().map(|row| column(row, 0)).collect::<Result<Vec<i64>>>()?;
    delete(connection, &ids)
}

/// Deletes segments.
pub(super) fn delete(connection: &mut Connection, segments: &Vec<i64>) -> Result<()> {
    if segments.is_empty() {
        return Ok(());
    }
    for (table, column) in [("posting", "segment"), ("trigram", "segment"), ("segment", "id")] {
        let statement = format!("DELETE FROM {table} WHERE {column} = ANY($1)");
        connection.execute(&statement, &[(segments, Type::INT8_ARRAY)])?;
    }
    Ok(())
}
