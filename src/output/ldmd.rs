//! Writes an answer as an LDMD document: the command, a summary, and all items in sections that can be
//! read one by one (`mdsel help ldmd`).
//!
//! Invariant: the program writes every line. Text of a document is either on one such line or inside a
//! fence, so no document can forge a section. Only the names of the documents are kept in memory while
//! the answer is written.

use std::collections::HashSet;
use std::io::{self, Write};

use super::text_writer::ShortCount;
use super::{Footer, sanitize};
use crate::ldmd::{MarkerWriter, Opening};

/// Number of items in the `_tldr` section of a list.
const ITEMS_IN_SHORT: usize = 5;

/// Writes one answer as LDMD.
pub struct LdmdRenderer<'a> {
    writer: MarkerWriter<&'a mut dyn Write>,
    footer: &'a Footer<'a>,
    sections: usize,
    files: Vec<String>,
    known: HashSet<String>,
}

impl<'a> LdmdRenderer<'a> {
    /// Begins the answer of `command` and writes its `run_meta` section.
    pub(super) fn begin(
        out: &'a mut dyn Write,
        command: &str,
        footer: &'a Footer<'a>,
    ) -> io::Result<Self> {
        let mut renderer = Self {
            writer: MarkerWriter::new(out),
            footer,
            sections: 0,
            files: Vec::new(),
            known: HashSet::new(),
        };
        renderer.open("run_meta", "Run", 1, "")?;
        renderer.line(&format!("## mdsel {command}"))?;
        renderer.line(&format!("- mdsel: {}", env!("CARGO_PKG_VERSION")))?;
        renderer.close()?;
        Ok(renderer)
    }

    fn open(&mut self, id: &str, title: &str, level: u32, parent: &str) -> io::Result<()> {
        self.writer.begin(&Opening { id, title, level, parent, ..Opening::default() })
    }

    fn close(&mut self) -> io::Result<()> {
        self.writer.end()
    }

    fn line(&mut self, line: &str) -> io::Result<()> {
        self.writer.text(&sanitize::line(line))
    }

    /// Writes the `summary` section: the facts given, then the footer.
    pub(super) fn summary(&mut self, facts: &[(&str, String)]) -> io::Result<()> {
        self.open("summary", "Summary", 1, "")?;
        self.line("## Summary")?;
        for (name, value) in facts {
            self.line(&format!("- {name}: {value}"))?;
        }
        for item in self.footer.items() {
            self.line(&format!("- {item}"))?;
        }
        self.close()
    }

    /// Records a document for the `provenance` section; nothing if `file` is empty.
    pub(super) fn source(&mut self, file: &str) {
        if file.is_empty() {
            return;
        }
        // Items of the same document are usually adjacent.
        if self.files.last().is_none_or(|last| last != file) && self.known.insert(file.to_owned()) {
            self.files.push(file.to_owned());
        }
    }

    /// Records the documents of an answer without a section for each of them.
    pub(super) fn sources<'s>(&mut self, files: impl Iterator<Item = &'s str>) {
        files.for_each(|file| self.source(file));
    }

    /// Writes the `key_findings` section, one line per item. It has both of its parts even if they are empty, because a
    /// reader asks for them by their ids.
    pub(super) fn key_findings(
        &mut self,
        count: usize,
        items: impl Iterator<Item = String>,
    ) -> io::Result<()> {
        let mut items = items;
        self.open("key_findings", "Key Findings", 1, "")?;
        self.line(&format!("## Key Findings ({count})"))?;
        self.first_items("key_findings", &mut items)?;
        self.other_items("key_findings", items)?;
        self.close()
    }

    /// Writes the first items, numbered, as section `ID_tldr`.
    fn first_items(&mut self, id: &str, items: &mut dyn Iterator<Item = String>) -> io::Result<()> {
        self.open(&format!("{id}_tldr"), "", 2, id)?;
        for (number, item) in (1..).zip(items.take(ITEMS_IN_SHORT)) {
            self.line(&format!("{number}. {item}"))?;
        }
        self.close()
    }

    /// Writes the other items as section `ID_body`.
    fn other_items(&mut self, id: &str, items: impl Iterator<Item = String>) -> io::Result<()> {
        self.open(&format!("{id}_body"), "", 2, id)?;
        for item in items {
            self.line(&format!("- {item}"))?;
        }
        self.close()
    }

    fn open_section(&mut self, title: &str, file: &str) -> io::Result<String> {
        let id = format!("section_{}", self.sections);
        self.sections += 1;
        self.source(file);
        self.open(&id, &sanitize::line(title), 1, "")?;
        self.line(&format!("## {title}"))?;
        Ok(id)
    }

    /// Writes a section of items that all belong to the document `file`.
    pub(super) fn items(
        &mut self,
        title: &str,
        file: &str,
        items: impl Iterator<Item = String>,
    ) -> io::Result<()> {
        let id = self.open_section(title, file)?;
        let mut items = items;
        self.first_items(&id, &mut items)?;
        let mut others = items.peekable();
        if others.peek().is_some() {
            self.other_items(&id, others)?;
        }
        self.close()
    }

    /// Writes a section with facts, then content of the document `file` in a fence with the info string `info`.
    pub(super) fn content(
        &mut self,
        title: &str,
        file: &str,
        facts: impl Iterator<Item = String>,
        content: &[u8],
        info: &str,
    ) -> io::Result<()> {
        let id = self.open_section(title, file)?;
        self.open(&format!("{id}_tldr"), "", 2, &id)?;
        for fact in facts {
            self.line(&format!("- {fact}"))?;
        }
        self.close()?;
        self.open(&format!("{id}_body"), "", 2, &id)?;
        self.writer.fenced(content, &sanitize::line(info))?;
        self.close()?;
        self.close()
    }

    /// Ends the answer with the list of the documents that it quotes or is about, if there are any.
    pub(super) fn finish(mut self) -> io::Result<()> {
        self.open("provenance", "Provenance", 1, "")?;
        self.line("## Provenance")?;
        if !self.files.is_empty() {
            self.line(&format!("- documents: {}", ShortCount(self.files.len())))?;
        }
        for file in std::mem::take(&mut self.files) {
            self.line(&format!("- {}::*", crate::address::namespace::encode(&file)))?;
        }
        self.close()?;
        self.writer.finish().map(|_| ())
    }
}
