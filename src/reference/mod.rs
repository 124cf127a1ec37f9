//! The user's reference, which `mdsel help TOPIC` prints.
//!
//! Each page is a Markdown file in this folder. Invariant: every page is in [`PAGES`], and every example on it
//! prints what the page shows, with the files of `fixtures/reference`.

/// A page of the reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReferencePage {
    /// The name by which `mdsel help` prints it.
    pub topic: &'static str,
    /// What it is about, in one line.
    pub summary: &'static str,
    /// The Markdown text.
    pub text: &'static str,
}

macro_rules! pages {
    ($($topic:ident: $summary:literal,)*) => {
        /// Every page, in reading order.
        pub const PAGES: &[ReferencePage] = &[$(ReferencePage {
            topic: stringify!($topic),
            summary: $summary,
            text: include_str!(concat!(stringify!($topic), ".md")),
        },)*];

        $(
            #[allow(clippy::doc_markdown, reason = "the pages are for readers of `mdsel help`")]
            #[doc = include_str!(concat!(stringify!($topic), ".md"))]
            pub mod $topic {}
        )*
    };
}

pages! {
    addresses: "how to name a section, a block, lines or a document",
    search: "questions, words, patterns and titles",
    data: "code, tables, tasks and front matter: questions and changes",
    formats: "output formats, size limits and cursors",
    ldmd: "documents in parts, between markers",
    links: "links of a place, links to it, and broken links",
    records: "context for models, records and the MCP server",
    edits: "how to replace, insert and delete, and what is refused",
    errors: "exit statuses, and every error, warning and problem by its code",
    store: "ingest, trust, crashes, damage and repair",
    servers: "stores on a PostgreSQL server, for many machines",
}

/// The page about `topic`.
pub fn page(topic: &str) -> Option<&'static ReferencePage> {
    PAGES.iter().find(|page| page.topic == topic)
}
