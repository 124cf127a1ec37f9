//! Formats `toc`.

use std::fmt::{self, Display};
use std::io;

use schemars::JsonSchema;
use serde::ser::SerializeSeq as _;
use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use super::super::ldmd::LdmdRenderer;
use super::super::text_writer::{ShortCount, Style, TextWriter};
use super::super::{Answer, Footer, Format, Records, Rows};
use super::page::PageJson;
use super::value;
use crate::address::{namespace, path_before_line};
use crate::count::counted;
use crate::query::freshness::Freshness;
use crate::query::toc::{self, File, FrontMatterSize, TocEntry, TocSection};
use crate::schema::{json_as, schema_as};

impl toc::TocAnswer {
    /// Returns whether the answer prints addresses in `format`. A query need not make those that are not
    /// printed.
    pub(crate) fn has_addresses(format: Format) -> bool {
        format != Format::Text
    }
}

impl Answer for toc::TocAnswer {
    const NAME: &'static str = "toc";
    const FORMATS: &'static [Format] = &[Format::Records];

    fn rows(&self) -> Rows<'_> {
        let sections = self.files.iter().flat_map(|file| {
            let mut whole = json!({ "file": file.file, "frontmatter": file.front_matter });
            if let (Some(row), Value::Object(freshness)) =
                (whole.as_object_mut(), value(&file.freshness))
            {
                row.extend(freshness);
                if file.lossy {
                    row.insert("lossy".to_owned(), true.into());
                }
            }
            let entries = file.entries.iter().map(|entry| {
                let mut row = json!({ "file": file.file });
                if let (Some(row), Value::Object(section)) =
                    (row.as_object_mut(), value(&entry.section))
                {
                    row.extend(section);
                }
                row
            });
            std::iter::once(whole).chain(entries)
        });
        Box::new(sections)
    }

    fn footer(&self) -> Footer<'_> {
        Footer::of(&self.page).with(self.files.iter().map(|file| (&*file.file, file.freshness)))
    }

    fn text(&self, writer: &mut TextWriter) {
        writer.items(&self.files, |writer, file| {
            let is_empty = !self.is_shallow && !file.has_entries;
            if is_empty {
                let lines = counted(file.lines, "line");
                let headings = if file.has_headings { "no such headings" } else { "no headings" };
                writer
                    .piece(Style::Heading, path_before_line(&file.file))
                    .line(Style::Faint, format_args!(" ({lines}, {headings})"));
            } else if self.is_shallow || !self.is_path_given {
                writer.line(Style::Heading, path_before_line(&file.file));
            }
            if let Some(front_matter) =
                file.listed_front_matter.as_ref().filter(|_| !self.is_shallow)
            {
                let FrontMatterSize { line_start, line_end, char_count } = *front_matter;
                let size = Size(char_count);
                writer.plain(format_args!("[frontmatter] ({line_start}-{line_end}, {size})"));
            }
            for entry in &file.entries {
                let TocSection { title, line_start, line_end, .. } = &entry.section;
                let (indent, level) = (entry.depth * 2, usize::from(entry.section.level));
                let (size, omitted) = (Size(entry.section.char_count), omitted(&entry.section));
                writer
                    .piece(Style::Plain, format_args!("{:indent$}{:#>level$} {title}", "", ""))
                    .line(
                        Style::Faint,
                        format_args!(" ({line_start}-{line_end}, {size}){omitted}"),
                    );
            }
        });
    }

    fn ldmd(&self, renderer: &mut LdmdRenderer<'_>) -> io::Result<()> {
        let sections = self.files.iter().map(|file| file.entries.len()).sum::<usize>();
        let facts = [("files", self.files.len().to_string()), ("sections", sections.to_string())];
        renderer.summary(&facts)?;
        let line = |entry: &toc::TocEntry| {
            let section = &entry.section;
            let lines = format!("{}-{}", section.line_start, section.line_end);
            format!(
                "{} ({lines}, {}){} @ {}",
                section.title,
                Size(section.char_count),
                omitted(section),
                section.selector
            )
        };
        let is_top = |entry: &&toc::TocEntry| entry.depth == 0;
        let top = || self.files.iter().flat_map(|file| file.entries.iter().filter(is_top));
        renderer.key_findings(top().count(), top().map(line))?;
        for file in &self.files {
            let entries = file.entries.iter().map(|entry| {
                format!("{} {}", "#".repeat(usize::from(entry.section.level)), line(entry))
            });
            renderer.items(&file.file, &file.file, entries)?;
        }
        Ok(())
    }

    fn records(&self, records: &mut Records<'_>) -> io::Result<()> {
        let fields = [("files", self.files.len().to_string())];
        records.header("toc", &fields)?;
        for file in &self.files {
            if !file.has_entries {
                let id = namespace::whole(&file.file);
                records.place(&id, "Document", &file.file, &file.file)?;
            }
            for TocEntry { section, .. } in &file.entries {
                records.place(&section.selector, "Section", &section.title, &file.file)?;
            }
        }
        Ok(())
    }
}

/// Returns the number of descendant sections that are too deep to be listed, as text.
fn omitted(section: &toc::TocSection) -> String {
    match section.omitted_sections {
        0 => String::new(),
        count => format!(" +{count} below"),
    }
}

/// A number of characters, written as `400B` or `1.2K`.
struct Size(usize);

impl Display for Size {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unit = if self.0 < 1000 { "B" } else { "" };
        write!(formatter, "{}{unit}", ShortCount(self.0))
    }
}

json_as!(toc::TocAnswer => TocJson<'_>);

/// One document, or a list of them.
#[derive(JsonSchema, Serialize)]
#[serde(untagged)]
enum TocJson<'a> {
    Single {
        #[serde(flatten)]
        file: FileJson<'a>,
        #[serde(flatten)]
        page: PageJson<'a>,
    },
    Several {
        /// The documents.
        files: Vec<FileJson<'a>>,
        #[serde(flatten)]
        page: PageJson<'a>,
    },
}

impl<'a> From<&'a toc::TocAnswer> for TocJson<'a> {
    fn from(answer: &'a toc::TocAnswer) -> Self {
        let page = (&answer.page).into();
        match answer.files.first().filter(|_| answer.is_single) {
            Some(file) => Self::Single { file: file.into(), page },
            None => {
                Self::Several { files: answer.files.iter().map(FileJson::from).collect(), page }
            }
        }
    }
}

json_as!(File => FileJson<'_>);

/// The sections of one document.
#[derive(JsonSchema, Serialize)]
#[schemars(rename = "File")]
struct FileJson<'a> {
    /// The path of the document.
    file: &'a str,
    /// Its sections at the top.
    sections: Forest<'a>,
    /// Where its front matter is; `null` if it has none.
    frontmatter: Option<FrontMatterSize>,
    /// Whether the document contains bytes that are not valid UTF-8.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    lossy: bool,
    #[serde(flatten)]
    freshness: Freshness,
}

impl<'a> From<&'a File> for FileJson<'a> {
    fn from(file: &'a File) -> Self {
        Self {
            file: &file.file,
            sections: Forest(&file.entries),
            frontmatter: file.front_matter,
            lossy: file.lossy,
            freshness: file.freshness,
        }
    }
}

/// A section with those below it.
#[derive(JsonSchema, Serialize)]
#[schemars(rename = "Section")]
struct SectionJson<'a> {
    #[serde(flatten)]
    section: &'a TocSection,
    /// The sections directly below it that are listed.
    children: Forest<'a>,
}

/// Sibling sections, each before those below it.
struct Forest<'a>(&'a [TocEntry]);

impl Serialize for Forest<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut sequence = serializer.serialize_seq(None)?;
        let mut rest = self.0;
        while let Some((entry, after)) = rest.split_first() {
            let below = after.iter().take_while(|other| other.depth > entry.depth).count();
            let (below, next) = after.split_at(below);
            let section = &entry.section;
            sequence.serialize_element(&SectionJson { section, children: Forest(below) })?;
            rest = next;
        }
        sequence.end()
    }
}

schema_as!(Forest<'_> => Vec<SectionJson<'_>>);
