//! Answers as records: what every answer's records have in common.
//!
//! Invariant: the header comes first and tells the format's version, the store, the command and whether
//! anything was left out; faults and warnings follow it.

use std::io::{self, Write};

use super::Rest;
use crate::query::links::{Edge, Node};
use crate::records::{self, Writer};

/// An answer being written as records.
pub struct Records<'a> {
    writer: Writer<&'a mut dyn Write>,
    store: &'a str,
    rest: &'a Rest<'a>,
    /// The last edge: places that are linked several times alike have one.
    last_edge: String,
}

impl<'a> Records<'a> {
    pub(super) fn new(out: &'a mut dyn Write, store: &'a str, rest: &'a Rest<'a>) -> Self {
        Self { writer: Writer::new(out), store, rest, last_edge: String::new() }
    }

    /// The header, what could not be answered, and how to go on.
    pub(super) fn header(&mut self, mode: &str, fields: &[(&str, String)]) -> io::Result<()> {
        let truncated = self.rest.is_truncated.to_string();
        let mut all = vec![("store", self.store), ("mode", mode)];
        all.extend(fields.iter().map(|(name, value)| (*name, value.as_str())));
        all.extend(self.rest.next.map(|next| ("next", next.as_str())));
        all.push(("truncated", &truncated));
        self.writer.header(&all)?;
        for remark in self.rest.remarks() {
            self.writer.warning(&remark)?;
        }
        Ok(())
    }

    /// A place and what sums it up.
    pub(super) fn node(&mut self, node: &Node) -> io::Result<()> {
        self.writer.node(&records::Node {
            id: &node.selector,
            kind: &node.node_type,
            title: &node.title,
            tags: &node.tags,
            path: &node.file,
        })?;
        match &node.summary {
            Some(summary) => self.writer.summary(&node.selector, summary),
            None => Ok(()),
        }
    }

    /// A link that leads somewhere.
    pub(super) fn edge(&mut self, edge: &Edge) -> io::Result<()> {
        let Some(to) = edge.target() else {
            let (from, target) = (edge.from.address(), &edge.link.target);
            return self.writer.detail(&format!("broken {} {target}", records::id(&from)));
        };
        let kind = &edge.link.kind;
        self.link(&edge.from.address(), kind.relation(), &to.address(), kind.is_typed())
    }

    /// A link between two places; several alike after each other are one.
    pub(super) fn link(
        &mut self,
        from: &str,
        relation: &str,
        to: &str,
        is_typed: bool,
    ) -> io::Result<()> {
        let written = format!("{from} {relation} {to} {is_typed}");
        if written == self.last_edge {
            return Ok(());
        }
        self.writer.edge(from, relation, to, is_typed)?;
        self.last_edge = written;
        Ok(())
    }

    /// Bytes of a place.
    pub(super) fn body(&mut self, address: &str, bytes: &[u8]) -> io::Result<()> {
        self.writer.body(address, bytes)
    }

    /// A place, told without its tags.
    pub(super) fn place(
        &mut self,
        id: &str,
        kind: &str,
        title: &str,
        path: &str,
    ) -> io::Result<()> {
        self.writer.node(&records::Node { id, kind, title, tags: &[], path })
    }

    /// What sums up a place, or what was found in it.
    pub(super) fn summary(&mut self, id: &str, text: &str) -> io::Result<()> {
        self.writer.summary(id, text)
    }

    /// A remark for the reader.
    pub(super) fn warning(&mut self, text: &str) -> io::Result<()> {
        self.writer.warning(text)
    }

    /// A detail.
    pub(super) fn detail(&mut self, text: &str) -> io::Result<()> {
        self.writer.detail(text)
    }

    /// A command, and what it does.
    pub(super) fn command(&mut self, command: &str, what: &str) -> io::Result<()> {
        self.writer.command(command, what)
    }

    /// A place that many links lead to.
    pub(super) fn map_of_content(&mut self, node: &Node) -> io::Result<()> {
        self.writer.map_of_content(&node.selector, &node.title, &node.tags)
    }
}
