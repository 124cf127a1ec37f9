//! Every cap of the program, in one table.
//!
//! Owns the numbers and their names; `status --limits` prints the table and an answer that runs
//! into a cap names it. Invariant: no other module holds a bound on what a user may give or get.

/// A cap: what it is called, what it is, and what happens beyond it.
#[derive(Clone, Copy, Debug)]
pub struct Limit {
    /// Name as told to users.
    pub name: &'static str,
    /// The cap itself, in the unit that `meaning` gives.
    pub value: usize,
    /// Unit and consequence.
    pub meaning: &'static str,
}

macro_rules! limits {
    ($($constant:ident = $value:expr, $name:literal, $meaning:literal;)*) => {
        $(#[doc = $meaning] pub const $constant: usize = $value;)*
        /// The whole table, in the order of the pipeline.
        pub const TABLE: &[Limit] =
            &[$(Limit { name: $name, value: $constant, meaning: $meaning },)*];
    };
}

/// How deeply groups of a pattern may be nested, in the type that the parser of patterns asks for.
pub const MAX_PATTERN_NESTING: u32 = 100;

/// Where faults are asked for, a few documents make several batches.
const SMALL: bool = cfg!(feature = "failpoints");

limits! {
    MAX_FILE_BYTES = 32 << 20, "max-file-size",
        "bytes of one file unless --max-file-size says otherwise; a larger one is skipped";
    LARGEST_MAX_FILE_BYTES = 1 << 30, "largest-max-file-size",
        "bytes, the most that --max-file-size may ask for";
    MAX_IGNORE_FILE_BYTES = 4 << 20, "ignore-file-bytes",
        "bytes of an ignore file that are read";
    MAX_TRUST_BYTES = 1 << 20, "trust-bytes",
        "bytes of the file that lists the stores that a user trusts; a larger one is not believed";
    MAX_PATH_BYTES = 4096, "path-bytes", "bytes of a document's path; a longer one is skipped";
    MAX_FRONT_MATTER_BYTES = 256 << 10, "front-matter-bytes",
        "bytes of front matter that are read as data; longer front matter keeps its span only";
    MAX_FRONT_MATTER_VALUES = 20_000, "front-matter-values",
        "values in front matter after aliases are expanded; beyond it keeps its span only";
    MAX_FRONT_MATTER_DEPTH = 64, "front-matter-depth",
        "nested collections in front matter; deeper front matter keeps its span only";
    MAX_TAGS = 1000, "tags", "tags of one document; those behind are not kept";
    MAX_NESTING = 32, "nesting",
        "containers inside each other; deeper markers are text of the innermost one";
    MAX_NODES = 400_000, "nodes",
        "parsed nodes of one document, a heading being two; the text after them becomes one paragraph";
    MAX_PARSED_LINES = 2 << 20, "parsed-lines",
        "lines of one document that are parsed; the text after them is kept as paragraphs";
    MAX_QUOTED_LINES = 1 << 20, "quoted-lines",
        "lines of block quotes inside block quotes, counted for each; deeper markers are text";
    HEAVY_DOCUMENT_BYTES = 512 << 10, "heavy-document-bytes",
        "bytes of a document beyond which no other such document is parsed at the same time";
    MAX_MDX_NESTING = 256, "mdx-nesting",
        "tags, braces and templates inside each other in MDX; deeper ones are not counted";
    MAX_DEFINITION_LINES = 32, "definition-lines",
        "lines of one link reference definition; a longer one is read as a paragraph";
    MAX_DEFINITION_BYTES = 4096, "definition-bytes",
        "bytes of one link reference definition; a longer one is read as a paragraph";
    MAX_LINKS_PER_DOCUMENT = 200_000, "links", "links of one document; those behind are not kept";
    MAX_LINK_BYTES = 64 << 20, "link-bytes",
        "bytes of the targets of the links of one document; those behind are not kept";
    MAX_LINK_BRACKETS = 1_000_000, "link-brackets",
        "opening brackets of one document that are tried as links; those behind are text";
    MAX_LINK_NESTING = 64, "link-nesting",
        "brackets left open inside each other in one text; beyond it the links of that text are not read";
    MAX_HTML_ANCHORS = 200_000, "html-anchors",
        "anchors in HTML of one document; those behind are not kept";
    MAX_LINK_TEXT_CHARS = 200, "link-text-chars",
        "characters that are kept of the label, alias or alternative text of a link";
    MAX_TITLE_BYTES = 4096, "title-bytes",
        "bytes of a heading that are rendered as its title; a longer title is cut";
    MAX_TITLE_BRACKETS = 64, "title-brackets",
        "opening brackets in a heading whose inline markup is read; beyond it the title is the raw text";
    MAX_LDMD_SECTIONS = 1_000_000, "ldmd-sections",
        "LDMD sections of one document; those that close behind are text";
    MAX_LDMD_FAULTS = 1_000, "ldmd-faults", "faults of LDMD markers listed for one document";
    MAX_LDMD_ATTRIBUTES = 64, "ldmd-attributes",
        "attributes of one LDMD marker; one with more is malformed";
    LDMD_PREVIEW_BYTES = 4096, "ldmd-preview-bytes",
        "bytes of the preview of an LDMD section unless --limit-bytes says otherwise";
    LARGE_DOCUMENT_BYTES = 4 << 20, "large-document-bytes",
        "bytes of documents that are parsed at once for each core; a larger one is parsed alone";
    MAX_OUTLINE_BYTES = 64 << 20, "outline-bytes",
        "bytes of the packed outline, and of the titles, of one document; beyond it the file is skipped";
    MAX_ROW_BYTES = 128 << 20, "row-bytes",
        "bytes of one row of the store that a check reads; a longer one is damaged";
    MAX_WARNINGS_SHOWN = 100, "warnings-shown", "warnings that an ingest lists; the rest is counted";
    BATCH_BYTES = if SMALL { 512 } else { 48 << 20 }, "batch-bytes", "bytes of documents that one commit of an ingest takes";
    CONTENT_CHUNK_BYTES = 256 << 10, "content-chunk-bytes",
        "bytes of a document that are compressed and read together";
    INDEX_QUEUE_BYTES = 16 << 20, "index-queue-bytes",
        "bytes of text that wait for the full-text index; the ingest waits with them";
    INDEX_BATCH_BYTES = if SMALL { 4 << 10 } else { 512 << 20 }, "index-batch-bytes",
        "bytes of text and trigrams that one commit of the full-text index takes";
    INDEX_MEMORY_BYTES = 64 << 20, "index-memory-bytes",
        "bytes of memory of each thread that fills the full-text index";
    INDEX_SEGMENTS = 8, "index-segments",
        "segments of equal size of the full-text index that are left unmerged";
    INDEX_CHECK_BYTES = 2 << 20, "index-check-bytes",
        "bytes of the smallest files of the full-text index that every search compares with their checksums";
    INDEX_MERGE_BYTES = 192 << 20, "index-merge-bytes",
        "bytes of segments of the full-text index that are merged at once; larger ones are left as they are";
    MAX_QUERY_BYTES = 2048, "query-bytes",
        "bytes of a query in words; only the words of a longer one are searched";
    MAX_QUERY_GROUPS = 32, "query-groups",
        "opening parentheses of a query in words; beyond it only its words are searched";
    MAX_QUERY_WORDS = 64, "query-words", "words of a query; those behind are not searched";
    MAX_WORD_BYTES = 120, "word-bytes",
        "bytes of a word by which search finds it; longer words are found by their beginning";
    MAX_WORDS = 500, "max-words", "words of a page of select unless --max-words says otherwise";
    LIST_LIMIT = 50, "list-limit", "items of a list unless --limit says otherwise";
    MAX_ADDRESS_BYTES = 4096, "address-bytes", "bytes of one address";
    MAX_ADDRESSES = 10_000, "addresses", "addresses, or names of documents, of one call";
    MAX_FILTERS = 1000, "filters", "globs, tags, places and types that narrow one search";
    MAX_SELECTOR_STEPS = 256, "selector-steps", "steps of one selector";
    MAX_EXPANSION = 10_000, "expansion",
        "nodes that one selector without an index may match in one document";
    MAX_SUGGESTIONS = 5, "suggestions", "suggestions for an address that did not resolve";
    MAX_CANDIDATES_SHOWN = 10, "candidates", "candidates shown for an ambiguous address";
    MAX_NAMESPACES_COMPARED = 2_000, "namespaces-compared",
        "document names that are compared with a name that does not exist";
    MAX_DOCUMENTS_TRIED = 256, "documents-tried",
        "documents in which the correction of a misspelt selector is tried";
    MAX_SECTIONS_COMPARED = 5_000, "sections-compared",
        "titles of a document that are compared with a title that does not exist";
    MAX_FILES_LISTED = 1_000_000, "files-listed",
        "files and folders below the root among which a file is looked for by its name; with more it counts as unchecked";
    MAX_SUMMARY_PARAGRAPHS = 50, "summary-paragraphs",
        "paragraphs among which one that shows text is looked for as the summary";
    MAX_SITE_ROOTS = 100, "site-roots", "folders that --site-root may name";
    MAX_TITLE_DOCUMENTS = 5_000, "title-documents",
        "documents that are searched for a part of a title named without its document";
    MAX_COMPARED_CHARS = 128, "compared-chars",
        "characters of two names that are compared to find out how similar they are";
    SEARCH_LIMIT = 20, "search-limit", "hits of a search unless --limit says otherwise";
    PASSAGE_CHARS = 600, "passage-chars",
        "characters of a passage, about, unless --passage or --max-chars says otherwise";
    MAX_SEARCH_HITS = 250_000, "search-hits",
        "hits of one answer of a search; further ones follow with --after";
    MAX_CONTEXT_LINES = 1000, "context-lines", "lines shown before or behind a hit";
    HIT_CHARS = 400, "hit-chars",
        "characters of the line of a hit that are shown; of a longer line those around the hit";
    SEARCH_SECONDS = 30, "search-seconds", "seconds that a search for a pattern may take";
    MAX_PATTERN_BYTES = 4096, "pattern-bytes", "bytes of a pattern";
    MAX_PATTERN_MEMORY_BYTES = 10 << 20, "pattern-memory",
        "bytes of memory that a compiled pattern may take";
    MAX_DOCUMENT_BYTES = 1 << 30, "document-bytes",
        "bytes of one document, attachment or body in a pack or in records; more are refused";
    MAX_RECORD_BYTES = 16 << 20, "record-bytes",
        "bytes of one line of a pack or of records; a longer line is refused";
    REPORT_CHARS = 300, "report-chars",
        "characters that --max-chars must allow a command that changes the store";
    MAX_REQUEST_BYTES = 16 << 20, "request-bytes",
        "bytes of one message to the server; a longer one is skipped, with an error";
    CALLS_AT_ONCE = 4, "calls-at-once", "calls that the server answers at once; others wait";
    SEARCH_REPLY_CHARS = 4000, "search-reply-chars",
        "characters of passages in a reply of the server unless its call says otherwise";
    REPLY_CHARS = 24_000, "reply-chars",
        "characters of one reply of the server unless --max-chars, or the call, says otherwise";
    RESOURCES_LISTED = 200, "resources-listed",
        "documents of the list of resources; any address is a resource, listed or not";
    PREVIEW_CHARS = 80, "preview-chars", "characters of the preview of a block";
    CLOSE_WAIT_MILLISECONDS = 250, "close-wait",
        "milliseconds that a writer waits for readers of an older state before it leaves its log";
    MAX_LOCK_WAIT_SECONDS = 86_400, "largest-wait", "seconds, the most that --wait may ask for";
    LOCK_WAIT_SECONDS = 10, "wait",
        "seconds a writer waits for another one unless --wait says otherwise";
    QUERY_SECONDS = 10, "query-seconds", "seconds one statement of the store may run";
    CHECK_SECONDS = 7200, "check-seconds", "seconds one statement of a check of the whole store may run";
    CHECK_BYTES = 4 << 20, "check-bytes",
        "bytes of a document beyond which it is checked alone, not beside others";
    MAX_FAULTS = 1000, "faults", "faults of one kind that SQLite lists in a check of the store";
}

/// A cap was exceeded: which one.
pub fn exceeded(name: &'static str) -> crate::error::Error {
    let limit = TABLE.iter().find(|limit| limit.name == name);
    let value = limit.map_or(0, |limit| limit.value);
    crate::error::Error::new(
        crate::error::ErrorKind::Limit,
        format!("more than the limit {name} allows ({value})"),
    )
    .with_hint("ask for less at once; `mdsel status --limits` lists every limit")
}

#[cfg(test)]
mod tests {
    use super::TABLE;

    #[test]
    fn names_are_unique() {
        let mut names: Vec<_> = TABLE.iter().map(|limit| limit.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), TABLE.len());
    }
}
