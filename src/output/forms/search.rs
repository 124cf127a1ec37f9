//! Formats the answers of `search`.

use std::collections::HashMap;
use std::io;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;

use super::super::ldmd::LdmdRenderer;
use super::super::text_writer::{Style, TextWriter};
use super::super::{Answer, Footer, Format, Records, Rows};
use super::page::PageJson;
use super::{TITLE_SEPARATOR, nearest_titles, value};
use crate::address::{namespace, path_before_line};
use crate::count::counted;
use crate::error::{self, Error, ErrorKind};
use crate::query::List as _;
use crate::query::search::{
    self, CUT_MARK, ContextLines, Explanation, Hit, HitDetail, Items, Method, OutputMode,
    PassageChars, PassagePart, SearchRequest,
};
use crate::schema::json_as;

/// Returns the number of candidates with their unit.
fn candidates(explanation: &Explanation) -> String {
    let unit = if explanation.method == Method::Words { "section" } else { "document" };
    counted(explanation.candidates, unit)
}

impl Answer for search::SearchAnswer {
    const NAME: &'static str = "search";
    const FORMATS: &'static [Format] = &[Format::Records];

    fn rows(&self) -> Rows<'_> {
        let items: Rows<'_> = match &self.items {
            Items::Hits(hits) => Box::new(hits.iter().map(value)),
            Items::Counts(counts) => Box::new(counts.iter().map(value)),
            Items::Files(files) => Box::new(files.iter().map(|file| json!({ "file": file }))),
        };
        let explanation =
            self.explanation.iter().map(|explanation| json!({ "explanation": explanation }));
        let total = self.total.iter().map(|total| json!({ "total": total }));
        Box::new(items.chain(explanation).chain(total))
    }

    fn footer(&self) -> Footer<'_> {
        let hits = match &self.items {
            Items::Hits(hits) => hits.as_slice(),
            Items::Counts(_) | Items::Files(_) => &[],
        };
        let cut = hits.iter().filter_map(|hit| Some((&*hit.selector, hit.rest.as_deref()?)));
        Footer::of(&self.page)
            .with_cut(cut)
            .with(hits.iter().map(|hit| (&*hit.file, hit.freshness)))
    }

    fn text(&self, writer: &mut TextWriter) {
        if let Some(advice) = &self.advice {
            writer.plain(advice);
        }
        match &self.items {
            Items::Hits(hits) if self.has_passages => {
                for (index, hit) in hits.iter().enumerate() {
                    if index > 0 {
                        writer.end();
                    }
                    hit.write_passage(writer);
                }
            }
            Items::Hits(hits) => {
                let has_context =
                    hits.iter().any(|hit| !hit.before.is_empty() || !hit.after.is_empty());
                writer.items(&shown(hits), |writer, Shown { last, hit, from, to }| {
                    let first = hit.line.saturating_sub(hit.before.len());
                    if has_context && last.is_some() && first > *from {
                        writer.line(Style::Faint, "--");
                    }
                    let is_same = last.is_some_and(|last| {
                        last.file == hit.file && last.heading_path == hit.heading_path
                    });
                    if !is_same && !hit.heading_path.is_empty() && hit.score.is_none() {
                        let titles = hit.heading_path.join(TITLE_SEPARATOR);
                        writer.titles(&titles, has_context);
                    }
                    hit.write_text(*from, *to, writer);
                });
            }
            Items::Counts(counts) => {
                for count in counts {
                    writer.line(Style::Plain, format_args!("{}:{}", count.file, count.count));
                }
            }
            Items::Files(files) => files.iter().for_each(|file| writer.line(Style::Plain, file)),
        }
        if let Some(explanation) = &self.explanation {
            let text = format!(
                "{}: {} of {}, {}",
                explanation.method,
                candidates(explanation),
                counted(explanation.documents, "document"),
                counted(explanation.trigrams, "trigram")
            );
            writer.line(Style::Faint, &text);
        }
    }

    fn ldmd(&self, renderer: &mut LdmdRenderer<'_>) -> io::Result<()> {
        let mut facts = vec![("items", self.count().to_string())];
        facts.extend(self.total.map(|total| ("total", total.to_string())));
        if let Some(explanation) = &self.explanation {
            facts.push(("candidates", candidates(explanation)));
        }
        renderer.summary(&facts)?;
        let hits = match &self.items {
            Items::Hits(hits) => hits,
            Items::Counts(counts) => {
                let lines = counts.iter().map(|count| format!("{}: {}", count.file, count.count));
                renderer.sources(counts.iter().map(|count| &*count.file));
                return renderer.key_findings(counts.len(), lines);
            }
            Items::Files(files) => {
                renderer.sources(files.iter().map(String::as_str));
                return renderer.key_findings(files.len(), files.iter().map(ToString::to_string));
            }
        };
        let line = |hit: &Hit| {
            let text = hit.text.trim_ascii();
            format!("{text} @ {}:{}:{}", path_before_line(&hit.file), hit.line, hit.column)
        };
        renderer.key_findings(hits.len(), hits.iter().map(line))?;
        // Group by document, in the order of their first hits.
        let mut groups: Vec<Vec<&Hit>> = Vec::new();
        let mut numbers: HashMap<&str, usize> = HashMap::new();
        for hit in hits {
            let number = *numbers.entry(&hit.file).or_insert(groups.len());
            match groups.get_mut(number) {
                Some(group) => group.push(hit),
                None => groups.push(vec![hit]),
            }
        }
        for group in groups {
            let file = group.first().map_or("", |hit| &*hit.file);
            let line = |hit: &&Hit| {
                let titles = hit.heading_path.join(TITLE_SEPARATOR);
                let passage = hit.passage_text();
                let text = if passage.is_empty() { &*hit.text } else { &*passage };
                format!("{} ({titles}) @ {}", text.trim_ascii(), hit.selector)
            };
            renderer.items(file, file, group.iter().map(line))?;
        }
        Ok(())
    }

    fn records(&self, records: &mut Records<'_>) -> io::Result<()> {
        let fields = [("items", self.count().to_string())];
        records.header("search", &fields)?;
        if matches!(&self.items, Items::Hits(hits) if hits.iter().any(|hit| !hit.passage.is_empty()))
        {
            records.banner()?;
        }
        match &self.items {
            Items::Hits(hits) => {
                for hit in hits {
                    let title = hit.heading_path.last().map_or(&*hit.file, String::as_str);
                    if hit.passage.is_empty() {
                        records.place(&hit.selector, hit.word, title, &hit.file)?;
                        records.summary(&hit.selector, &hit.text)?;
                    } else {
                        let lines = hit.passage_address();
                        let word = if hit.section.ends_with("::root") { "Root" } else { "Section" };
                        records.place(&lines, word, title, &hit.file)?;
                        records.body(&lines, hit.passage_text().as_bytes())?;
                    }
                    if let Some(rest) = &hit.rest {
                        records.detail(&format!("more {rest}"))?;
                    }
                }
            }
            Items::Counts(counts) => {
                for count in counts {
                    records.detail(&format!("count {} {}", count.count, count.file))?;
                }
            }
            Items::Files(files) => {
                for file in files {
                    let id = namespace::whole(file);
                    records.place(&id, "Document", file, file)?;
                }
            }
        }
        Ok(())
    }
}

impl search::SearchAnswer {
    /// Returns the parts of a hit that `format` prints.
    pub fn detail(format: Format) -> HitDetail {
        if format == Format::Text { HitDetail::Titles } else { HitDetail::Addresses }
    }

    /// Fails if `request` asks for context lines or for matches alone, and `format` prints none.
    pub fn check_surroundings(request: &SearchRequest, format: Format) -> error::Result<()> {
        let ContextLines { before, after, is_match_only } = request.surroundings;
        let has_context = before.max(after) > 0;
        let what = match (has_context, is_match_only) {
            (true, _) => "context lines",
            (false, true) => "matches alone",
            (false, false) => return Ok(()),
        };
        let has_passages = matches!(request.query, search::Query::Words(_))
            && request.passage != PassageChars::all(0);
        let refused =
            |message: String, hint| Err(Error::new(ErrorKind::Usage, message).with_hint(hint));
        match (request.form, format) {
            (OutputMode::Counts | OutputMode::Files, _) => refused(
                format!("{what} are of hits, and only documents are printed"),
                "print the hits, or leave them out",
            ),
            (OutputMode::Hits, Format::Records | Format::Ldmd) if has_context => refused(
                format!("{what} cannot be printed as {}", format.name()),
                "use {-f|the format} text or json, or ask for no context lines",
            ),
            (OutputMode::Hits, Format::Text | Format::Records) if has_passages => refused(
                format!("{what} cannot be printed with passages as {}", format.name()),
                "search for a pattern with -e or -F, or use {-f|the format} json",
            ),
            (OutputMode::Hits | OutputMode::Existence, _) => Ok(()),
        }
    }
}

/// A hit with lines that no hit before it has.
struct Shown<'a> {
    /// The hit before it that is printed.
    last: Option<&'a Hit>,
    hit: &'a Hit,
    /// The first line that is not printed yet, 1-based; 0 if the last hit does not precede this hit in
    /// its document.
    from: usize,
    /// The line before which its context ends, 1-based: the line of the next hit in the document.
    to: usize,
}

/// Returns the hits to print, so that each line is printed once, even if it has several matches.
fn shown(hits: &[Hit]) -> Vec<Shown<'_>> {
    let mut shown: Vec<Shown<'_>> = Vec::with_capacity(hits.len());
    for hit in hits {
        let last = shown.last().map(|last| last.hit);
        let above = last.filter(|last| last.file == hit.file && last.line <= hit.line);
        let from = above.map_or(0, |last| {
            let context_end = last.line_end.unwrap_or(last.line) + last.after.len();
            (last.line + last.line_count()).max(hit.line.min(context_end + 1))
        });
        if hit.is_match_only || hit.line_end.unwrap_or(hit.line) >= from {
            if let Some(last) = shown.last_mut().filter(|_| from > 0) {
                last.to = hit.line;
            }
            shown.push(Shown { last, hit, from, to: usize::MAX });
        }
    }
    shown
}

impl Hit {
    /// Writes the address and the titles of the passage, its windows, and the address of a similar section with the
    /// number of further ones.
    pub(super) fn write_passage(&self, writer: &mut TextWriter) {
        writer.piece(Style::Heading, self.passage_address());
        let titles = nearest_titles(&self.heading_path);
        if !titles.is_empty() {
            writer.piece(Style::Faint, format_args!("  {}", titles.join(TITLE_SEPARATOR)));
        }
        writer.end();
        for part in self.passage_parts() {
            match part {
                PassagePart::Gap(_) => writer.plain(part),
                lines => writer.content(format!("{lines}\n").as_bytes()),
            }
        }
        if let [first, others @ ..] = &*self.duplicates {
            let text = match others.len() {
                0 => format!("same: {first}"),
                count => format!("same: {first}, {count} more"),
            };
            writer.line(Style::Faint, &text);
        }
    }

    /// Returns the number of lines of the text.
    fn line_count(&self) -> usize {
        match self.line_end {
            None => 1,
            Some(_) => self.text.replace("\r\n", "\n").split(['\n', '\r']).count(),
        }
    }

    /// Writes a line of the text with marks where it is cut.
    fn write_line(&self, line: &str, (is_first, is_last): (bool, bool), writer: &mut TextWriter) {
        if is_first && self.text_cut_before {
            writer.piece(Style::Faint, format_args!("{CUT_MARK} "));
        }
        writer.piece(Style::Plain, line);
        if is_last && self.text_cut_after {
            writer.piece(Style::Faint, format_args!(" {CUT_MARK}"));
        }
        writer.end();
    }

    /// Writes the lines of the hit from the line `from` as `file:line:column:text`, and its context
    /// lines from `from` to `to`, exclusive, as `file-line-text`. The lines below the first line have no
    /// column.
    fn write_text(&self, from: usize, to: usize, writer: &mut TextWriter) {
        let file = path_before_line(&self.file);
        let context = |first: usize, lines: &[String], writer: &mut TextWriter| {
            for (number, line) in (first..to).zip(lines).filter(|(number, _)| *number >= from) {
                writer.piece(Style::Faint, format_args!("{file}-{number}-"));
                writer.piece(Style::Plain, line);
                if self.context_cut.contains(&number) {
                    writer.piece(Style::Faint, format_args!(" {CUT_MARK}"));
                }
                writer.end();
            }
        };
        context(self.line - self.before.len(), &self.before, writer);
        let place = format!("{file}:{}:{}:", self.line, self.column);
        if self.line_end.is_none() {
            writer.piece(Style::Faint, &place);
            self.write_line(self.text.trim_end_matches(['\r', '\n']), (true, true), writer);
        } else {
            let text = self.text.replace("\r\n", "\n");
            let last = self.line + text.matches(['\n', '\r']).count();
            let lines = (self.line..).zip(text.split(['\n', '\r']));
            for (number, line) in lines.filter(|(number, _)| self.is_match_only || *number >= from)
            {
                if number == self.line {
                    writer.piece(Style::Faint, &place);
                } else {
                    writer.piece(Style::Faint, format_args!("{file}:{number}:"));
                }
                self.write_line(line, (number == self.line, number == last), writer);
            }
        }
        context(self.line_end.unwrap_or(self.line) + 1, &self.after, writer);
    }
}

json_as!(search::SearchAnswer => SearchJson<'_>);

/// Hits, counts with `-c`, or paths with `-l`.
#[derive(JsonSchema, Serialize)]
#[serde(untagged)]
enum SearchJson<'a> {
    Hits {
        /// Each hit.
        hits: &'a [Hit],
        #[serde(flatten)]
        beside: BesideJson<'a>,
    },
    Counts {
        /// How many there are in each document: in path order, or for words best first.
        counts: &'a [search::Count],
        #[serde(flatten)]
        beside: BesideJson<'a>,
    },
    Files {
        /// The documents that have one: in path order, or for words best first.
        files: &'a [String],
        #[serde(flatten)]
        beside: BesideJson<'a>,
    },
}

/// What is beside the items.
#[derive(JsonSchema, Serialize)]
struct BesideJson<'a> {
    /// Hits in all, where they are counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    total: Option<usize>,
    /// How it was found, where that was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    explanation: Option<&'a search::Explanation>,
    #[serde(flatten)]
    page: PageJson<'a>,
}

impl<'a> From<&'a search::SearchAnswer> for SearchJson<'a> {
    fn from(answer: &'a search::SearchAnswer) -> Self {
        let search::SearchAnswer { items, total, explanation, page, .. } = answer;
        let (explanation, page) = (explanation.as_ref(), page.into());
        let beside = BesideJson { total: *total, explanation, page };
        match items {
            Items::Hits(hits) => Self::Hits { hits, beside },
            Items::Counts(counts) => Self::Counts { counts, beside },
            Items::Files(files) => Self::Files { files, beside },
        }
    }
}
