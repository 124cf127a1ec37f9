//! Formats the answers of `code`, `tables`, `tasks` and `meta`.

use std::borrow::Cow;
use std::collections::HashSet;
use std::io;

use serde_json::{Map, Value};

use super::super::ldmd::LdmdRenderer;
use super::super::text_writer::{Style, TextWriter};
use super::super::{Answer, Footer, Format, Records, Rows};
use super::{TITLE_SEPARATOR, locator, value};
use crate::address::path_before_line;
use crate::message::Message;
use crate::query::Page;
use crate::query::data::{code, meta, tables, tasks};

/// Returns a value as one line: a string as it is, and anything else as JSON.
fn line_of(value: &Value) -> String {
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    text.lines().collect::<Vec<_>>().join(" ")
}

/// Returns the entries of a map as one line: `a: 1  b: x`.
fn entries(map: &Map<String, Value>) -> String {
    let entries = map.iter().map(|(key, value)| format!("{key}: {}", line_of(value)));
    entries.collect::<Vec<_>>().join("  ")
}

/// An item of `csv`: its own fields, and its values by key.
type CsvItem<'a> = (Vec<Cow<'a, str>>, &'a Map<String, Value>);

/// Writes items for `csv`: `columns`, which are their own fields, then one column for each key of the items. A key that
/// is also the name of one of `columns` gets `_2`.
fn write_csv(
    write: &mut dyn FnMut(&[&str]) -> io::Result<()>,
    columns: &[&str],
    items: &[CsvItem<'_>],
) -> io::Result<()> {
    let mut seen = HashSet::new();
    let keys = items.iter().flat_map(|(_, map)| map.keys());
    let keys: Vec<&String> = keys.filter(|key| seen.insert(*key)).collect();
    let of_keys = keys.iter().map(|key| {
        if columns.contains(&key.as_str()) { format!("{key}_2") } else { (*key).clone() }
    });
    let of_keys: Vec<String> = of_keys.collect();
    let header = columns.iter().copied().chain(of_keys.iter().map(String::as_str));
    write(&header.collect::<Vec<_>>())?;
    for (fields, map) in items {
        let value = |key: &&String| match map.get(key.as_str()) {
            Some(Value::String(text)) => Cow::Borrowed(text.as_str()),
            Some(value) => Cow::Owned(value.to_string()),
            None => Cow::default(),
        };
        let values: Vec<Cow<'_, str>> = keys.iter().map(value).collect();
        write(&fields.iter().chain(&values).map(Cow::as_ref).collect::<Vec<_>>())?;
    }
    Ok(())
}

/// Writes that there is no item, if there is none, and neither an unresolved address nor the cursor is the reason.
fn none(writer: &mut TextWriter, page: &Page, is_empty: bool, what: &str) {
    if is_empty && page.unresolved_selectors.is_empty() && !page.is_continued() {
        let advice = page.advice.as_ref().map(Message::to_string).unwrap_or_default();
        let line = format!("No {what} matches. Try fewer filters.{advice}");
        writer.line(Style::Plain, &line);
    }
}

/// Writes the place of an item: its file and line, and the titles of its sections.
fn place(writer: &mut TextWriter, file: &str, line: usize, titles: &[String]) {
    writer.piece(Style::Heading, format_args!("{}:{line}", path_before_line(file)));
    writer.piece(Style::Faint, format_args!("  {}", titles.join(TITLE_SEPARATOR)));
}

/// The last part of a heading path, for the title of a record.
fn title_of(titles: &[String]) -> &str {
    titles.last().map_or("", String::as_str)
}

impl Answer for code::CodeAnswer {
    const NAME: &'static str = "code";
    const FORMATS: &'static [Format] = &[Format::Raw, Format::Records];

    fn rows(&self) -> Rows<'_> {
        Box::new(self.code.iter().map(value))
    }

    fn footer(&self) -> Footer<'_> {
        Footer::of(&self.page).with(self.code.iter().map(|code| (&*code.file, code.freshness)))
    }

    /// The codes one after another, each ended by a line end.
    fn raw(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        for code in &self.code {
            bytes.extend_from_slice(&code.bytes);
            if !matches!(code.bytes.last(), None | Some(b'\n' | b'\r')) {
                bytes.push(b'\n');
            }
        }
        bytes
    }

    fn text(&self, writer: &mut TextWriter) {
        none(writer, &self.page, self.code.is_empty(), "code block");
        let mut is_first = true;
        for code in &self.code {
            if !std::mem::take(&mut is_first) && code.written.is_none() {
                writer.line(Style::Plain, "");
            }
            place(writer, &code.file, code.line, &code.heading_path);
            let info = format!("{} {}", code.language, code.info);
            let info = info.trim();
            let info = if info.is_empty() { String::new() } else { format!("  [{info}]") };
            writer.line(Style::Faint, format_args!("{info}  {}", locator(&code.selector)));
            if let Some(written) = &code.written {
                writer.line(Style::Plain, format_args!("  {written}"));
            }
            if let Some(code) = &code.code {
                writer.content(code.as_bytes());
            }
        }
    }

    fn ldmd(&self, renderer: &mut LdmdRenderer<'_>) -> io::Result<()> {
        renderer.summary(&[("code blocks", self.code.len().to_string())])?;
        let blocks = self.code.iter();
        let blocks = blocks.map(|code| {
            format!("[{}] {} @ {}", code.language, title_of(&code.heading_path), code.selector)
        });
        renderer.key_findings(self.code.len(), blocks)?;
        for code in &self.code {
            let title = code.heading_path.last().unwrap_or(&code.file);
            let facts = std::iter::once(code.selector.clone());
            renderer.content(title, &code.file, facts, &code.bytes, &code.language)?;
        }
        Ok(())
    }

    fn records(&self, records: &mut Records<'_>) -> io::Result<()> {
        records.header("code", &[("items", self.code.len().to_string())])?;
        if !self.code.is_empty() {
            records.banner()?;
        }
        for code in &self.code {
            let title = title_of(&code.heading_path);
            records.place(&code.selector, "Code", title, &code.file)?;
            records.body(&code.selector, &code.bytes)?;
        }
        Ok(())
    }
}

impl Answer for tables::TableAnswer {
    const NAME: &'static str = "tables";
    const FORMATS: &'static [Format] = &[Format::Records, Format::Csv];

    fn rows(&self) -> Rows<'_> {
        Box::new(self.rows.iter().map(value))
    }

    fn footer(&self) -> Footer<'_> {
        Footer::of(&self.page).with(self.rows.iter().map(|row| (&*row.file, row.freshness)))
    }

    fn csv(&self, write: &mut dyn FnMut(&[&str]) -> io::Result<()>) -> io::Result<()> {
        let columns = self.columns();
        if columns.is_empty() {
            return Ok(());
        }
        write(&columns.iter().map(tables::Column::name).collect::<Vec<_>>())?;
        for row in &self.rows {
            let cells: Vec<_> = columns.iter().map(|column| self.cell(row, column)).collect();
            write(&cells.iter().map(Cow::as_ref).collect::<Vec<_>>())?;
        }
        Ok(())
    }

    fn text(&self, writer: &mut TextWriter) {
        none(writer, &self.page, self.rows.is_empty(), "row of a table");
        let mut last = None;
        for row in &self.rows {
            let (table, step) = row.selector.rsplit_once('/').unwrap_or_default();
            if last != Some(table) {
                place(writer, &row.file, row.line, &row.heading_path);
                writer.line(Style::Faint, format_args!("  {}", locator(table)));
                last = Some(table);
            }
            writer.piece(Style::Faint, format_args!("  {step}  "));
            writer.line(Style::Plain, entries(&row.row));
        }
    }

    fn ldmd(&self, renderer: &mut LdmdRenderer<'_>) -> io::Result<()> {
        renderer.summary(&[("rows", self.rows.len().to_string())])?;
        let rows = self.rows.iter().map(|row| format!("{} @ {}", entries(&row.row), row.selector));
        renderer.sources(self.rows.iter().map(|row| &*row.file));
        renderer.key_findings(self.rows.len(), rows)
    }

    fn records(&self, records: &mut Records<'_>) -> io::Result<()> {
        records.header("tables", &[("items", self.rows.len().to_string())])?;
        for row in &self.rows {
            records.place(&row.selector, "Row", title_of(&row.heading_path), &row.file)?;
            records.summary(&row.selector, &entries(&row.row))?;
        }
        Ok(())
    }
}

fn task_line(task: &tasks::Task) -> String {
    let mark = if task.state == tasks::State::Done { 'x' } else { ' ' };
    format!("{}[{mark}] {}", "  ".repeat(task.depth), task.text)
}

impl Answer for tasks::TaskAnswer {
    const NAME: &'static str = "tasks";
    const FORMATS: &'static [Format] = &[Format::Records, Format::Csv];

    fn csv(&self, write: &mut dyn FnMut(&[&str]) -> io::Result<()>) -> io::Result<()> {
        let fields = |task: &tasks::Task| {
            let section = task.heading_path.join(TITLE_SEPARATOR);
            let (line, depth) = (task.line.to_string(), task.depth.to_string());
            let own = [task.state.name().to_owned(), task.text.clone(), section, depth];
            [task.file.clone(), line].into_iter().chain(own).map(Cow::Owned).collect()
        };
        let items: Vec<_> = self.tasks.iter().map(|task| (fields(task), &task.fields)).collect();
        write_csv(write, &["file", "line", "state", "text", "section", "depth"], &items)
    }

    fn rows(&self) -> Rows<'_> {
        Box::new(self.tasks.iter().map(value))
    }

    fn footer(&self) -> Footer<'_> {
        Footer::of(&self.page).with(self.tasks.iter().map(|task| (&*task.file, task.freshness)))
    }

    fn text(&self, writer: &mut TextWriter) {
        none(writer, &self.page, self.tasks.is_empty(), "task");
        let mut last = None;
        for task in &self.tasks {
            let section = (&task.file, &task.heading_path);
            if last != Some(section) {
                place(writer, &task.file, task.line, &task.heading_path);
                writer.line(Style::Plain, "");
                last = Some(section);
            }
            writer.piece(Style::Faint, format_args!("  {}  ", task.line));
            writer.line(Style::Plain, task_line(task));
        }
    }

    fn ldmd(&self, renderer: &mut LdmdRenderer<'_>) -> io::Result<()> {
        renderer.summary(&[("tasks", self.tasks.len().to_string())])?;
        let tasks = self.tasks.iter();
        let tasks =
            tasks.map(|task| format!("{} @ {}", task_line(task).trim_start(), task.selector));
        renderer.sources(self.tasks.iter().map(|task| &*task.file));
        renderer.key_findings(self.tasks.len(), tasks)
    }

    fn records(&self, records: &mut Records<'_>) -> io::Result<()> {
        records.header("tasks", &[("items", self.tasks.len().to_string())])?;
        for task in &self.tasks {
            records.place(&task.selector, "Task", title_of(&task.heading_path), &task.file)?;
            records.summary(&task.selector, task_line(task).trim_start())?;
        }
        Ok(())
    }
}

impl Answer for meta::MetaAnswer {
    const NAME: &'static str = "meta";
    const FORMATS: &'static [Format] = &[Format::Records, Format::Csv];

    fn csv(&self, write: &mut dyn FnMut(&[&str]) -> io::Result<()>) -> io::Result<()> {
        let documents = self.documents.iter();
        let items: Vec<_> = documents
            .map(|document| (vec![Cow::Borrowed(document.file.as_str())], &document.meta))
            .collect();
        write_csv(write, &["file"], &items)
    }

    fn rows(&self) -> Rows<'_> {
        Box::new(self.documents.iter().map(value))
    }

    fn footer(&self) -> Footer<'_> {
        let documents = self.documents.iter();
        Footer::of(&self.page).with(documents.map(|document| (&*document.file, document.freshness)))
    }

    fn text(&self, writer: &mut TextWriter) {
        none(writer, &self.page, self.documents.is_empty(), "front matter");
        for document in &self.documents {
            writer.line(Style::Heading, &document.file);
            for (key, value) in &document.meta {
                writer.piece(Style::Faint, format_args!("  {key}: "));
                writer.line(Style::Plain, line_of(value));
            }
        }
    }

    fn ldmd(&self, renderer: &mut LdmdRenderer<'_>) -> io::Result<()> {
        renderer.summary(&[("documents", self.documents.len().to_string())])?;
        let documents = self.documents.iter();
        let documents = documents
            .map(|document| format!("{} @ {}", entries(&document.meta), document.selector));
        renderer.sources(self.documents.iter().map(|document| &*document.file));
        renderer.key_findings(self.documents.len(), documents)
    }

    fn records(&self, records: &mut Records<'_>) -> io::Result<()> {
        records.header("meta", &[("items", self.documents.len().to_string())])?;
        for document in &self.documents {
            records.place(&document.selector, "Front-Matter", "", &document.file)?;
            records.summary(&document.selector, &entries(&document.meta))?;
        }
        Ok(())
    }
}

fn types_of(key: &meta::Key) -> String {
    let types = key.types.iter().map(|(name, count)| format!("{name} {count}"));
    types.collect::<Vec<_>>().join(", ")
}

fn key_line(key: &meta::Key) -> String {
    format!("{}: {} ({})", key.key, key.documents, types_of(key))
}

impl Answer for meta::Types {
    const NAME: &'static str = "meta";
    const FORMATS: &'static [Format] = &[Format::Records, Format::Csv];

    fn csv(&self, write: &mut dyn FnMut(&[&str]) -> io::Result<()>) -> io::Result<()> {
        write(&["key", "documents", "types"])?;
        self.keys
            .iter()
            .try_for_each(|key| write(&[&key.key, &key.documents.to_string(), &types_of(key)]))
    }

    fn rows(&self) -> Rows<'_> {
        Box::new(self.keys.iter().map(value))
    }

    fn footer(&self) -> Footer<'_> {
        Footer::of(&self.page)
    }

    fn text(&self, writer: &mut TextWriter) {
        none(writer, &self.page, self.keys.is_empty(), "key of front matter");
        for key in &self.keys {
            writer.line(Style::Plain, key_line(key));
        }
    }

    fn ldmd(&self, renderer: &mut LdmdRenderer<'_>) -> io::Result<()> {
        renderer.summary(&[("keys", self.keys.len().to_string())])?;
        renderer.key_findings(self.keys.len(), self.keys.iter().map(key_line))
    }

    fn records(&self, records: &mut Records<'_>) -> io::Result<()> {
        records.header("meta", &[("items", self.keys.len().to_string())])?;
        for key in &self.keys {
            records.detail(&key_line(key))?;
        }
        Ok(())
    }
}
