//! Every limit of the program, in one table.
//!
//! Owns the numbers and their names. `mdsel status --limits` prints the table, and an error that a limit
//! causes names the limit. Invariant: every bound that a user can notice is here, because something is
//! refused, cut, left out or waited for. A number that only affects speed or ranking is in the module that
//! it tunes, and so is the width of a stored field. The limits do not depend on features.

use std::fmt;

/// A limit: its name, its value, and what happens above it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit {
    /// The name that users see.
    pub name: &'static str,
    /// The largest allowed value, in the unit that `meaning` gives.
    pub value: usize,
    /// The unit of `value`, and what happens above it.
    pub meaning: &'static str,
}

macro_rules! limits {
    ($($constant:ident = $value:expr, $name:literal, $meaning:literal;)*) => {
        $(#[doc = $meaning] pub const $constant: usize = $value;)*
        /// The rows of the table.
        pub mod row {
            use super::Limit;
            $(
                #[doc = $meaning]
                pub const $constant: Limit =
                    Limit { name: $name, value: super::$constant, meaning: $meaning };
            )*
        }
        /// The whole table, in the order of the pipeline: ingest, index, query, output, store.
        pub const TABLE: &[Limit] = &[$(row::$constant,)*];
    };
}

/// The limit `pattern-nesting` in the type that the pattern parsers take.
pub const PATTERN_NESTING: u32 = 100;

limits! {
    MAX_FILE_BYTES = 32 << 20, "max-file-size",
        "bytes of one file unless --max-file-size is given; a larger file is skipped";
    LARGEST_MAX_FILE_BYTES = 1 << 30, "largest-max-file-size",
        "bytes; the largest value of --max-file-size";
    MAX_IGNORE_FILE_BYTES = 4 << 20, "ignore-file-bytes",
        "bytes of an ignore file that are read; the rest is ignored";
    MAX_TRUST_BYTES = 1 << 20, "trust-bytes",
        "bytes of the file that lists the stores that a user trusts; a larger file is rejected";
    MAX_PATH_BYTES = 2560, "path-bytes",
        "bytes of a document's path, as it is and case-folded; a file with a longer path is skipped";
    MAX_FRONT_MATTER_BYTES = 256 << 10, "front-matter-bytes",
        "bytes of front matter that is parsed; longer front matter is kept as text only";
    MAX_FRONT_MATTER_VALUES = 20_000, "front-matter-values",
        "values in front matter after aliases are expanded; larger front matter is kept as text only";
    MAX_FRONT_MATTER_TEXT_BYTES = 1 << 20, "front-matter-text-bytes",
        "bytes of the keys and texts in front matter after aliases are expanded; larger front matter is kept as text only";
    MAX_FRONT_MATTER_DEPTH = 64, "front-matter-depth",
        "levels of nested collections in front matter; deeper front matter is kept as text only";
    MAX_YAML_TAB_BYTES = 4 << 20, "yaml-tab-bytes",
        "bytes of YAML that are parsed again because of tabs after colons; YAML with more such tabs is kept as text only";
    MAX_TAGS = 1000, "tags", "tags of one document; later tags are dropped";
    MAX_ALIASES = 1000, "aliases", "aliases of one document; later aliases are dropped";
    MAX_NESTING = 32, "nesting",
        "levels of nested containers; deeper markers are text of the innermost container";
    MAX_NODES = 400_000, "nodes",
        "parsed nodes of one document, a heading counting as two; the text after them becomes one paragraph";
    MAX_PARSED_LINES = 2 << 20, "parsed-lines",
        "lines of one document that are parsed; the text after them is kept as paragraphs";
    MAX_QUOTED_LINES = 1 << 20, "quoted-lines",
        "lines of nested block quotes, counted once for each level; deeper markers are text";
    HEAVY_DOCUMENT_BYTES = 512 << 10, "heavy-document-bytes",
        "bytes of a document; only one larger document is parsed at a time";
    MAX_MDX_NESTING = 256, "mdx-nesting",
        "levels of nested tags, braces and templates in MDX; deeper ones are not counted";
    MAX_MATH_LINES = 512, "math-lines",
        "lines of one block of math between `$$`; a longer block is parsed as Markdown";
    MAX_DEFINITION_LINES = 32, "definition-lines",
        "lines of one link reference definition; a longer definition is parsed as a paragraph";
    MAX_DEFINITION_BYTES = 4096, "definition-bytes",
        "bytes of one link reference definition; a longer definition is parsed as a paragraph";
    MAX_LINKS_PER_DOCUMENT = 200_000, "links", "links of one document; later links are dropped";
    MAX_LINK_BYTES = 64 << 20, "link-bytes",
        "bytes of the link targets of one document; later links are dropped";
    MAX_LINK_BRACKETS = 1_000_000, "link-brackets",
        "opening brackets of one document that are tried as links; later brackets are text";
    MAX_LINK_NESTING = 64, "link-nesting",
        "levels of nested brackets in one text; the links of a text with more levels are not parsed";
    MAX_HTML_ANCHORS = 200_000, "html-anchors",
        "HTML anchors of one document; later anchors are dropped";
    MAX_LINK_TEXT_CHARS = 200, "link-text-chars",
        "characters of the label, alias or alternative text of a link that are kept";
    MAX_TITLE_BYTES = 4096, "title-bytes",
        "bytes of a heading that are rendered as its title; a longer title is truncated";
    MAX_CELL_BYTES = 16 << 10, "cell-bytes",
        "bytes of a table cell whose visible text is stored; the rest is kept as source only";
    MAX_CELL_MARKS = 1000, "cell-marks",
        "runs of `*`, `_` and `~` in a table cell whose inline markup is parsed; with more, its visible text is its source";
    MAX_FIELD_BYTES = 2048, "field-bytes",
        "bytes of the text of a task that are searched for fields";
    MAX_TITLE_BRACKETS = 64, "title-brackets",
        "opening brackets in a heading whose inline markup is parsed; with more, the title is the raw text";
    MAX_LDMD_SECTIONS = 1_000_000, "ldmd-sections",
        "LDMD sections of one document; the markers of sections that end later are text";
    MAX_LDMD_FAULTS = 1_000, "ldmd-faults", "problems of LDMD markers listed for one document";
    MAX_LDMD_ATTRIBUTES = 64, "ldmd-attributes",
        "attributes of one LDMD marker; a marker with more is malformed";
    MAX_LDMD_QUOTED_CHARS = 60, "ldmd-quoted-chars",
        "characters of an id or value that the message of a problem of LDMD markers quotes";
    LDMD_PREVIEW_BYTES = 4096, "ldmd-preview-bytes",
        "bytes of the preview of an LDMD section unless --limit-bytes is given";
    LARGE_DOCUMENT_BYTES = 4 << 20, "large-document-bytes",
        "bytes of documents per core that are parsed at the same time; a larger document is parsed alone";
    MAX_OUTLINE_BYTES = 64 << 20, "outline-bytes",
        "bytes of the packed outline, and of the titles, of one document; a file with more is skipped";
    MAX_ROW_BYTES = 128 << 20, "row-bytes",
        "bytes of one row of the store that a check reads; a longer row is reported as damaged";
    MAX_SQLITE_ROW_BYTES = 2 * MAX_ROW_BYTES, "sqlite-row-bytes",
        "bytes of one row of the store that SQLite reads or writes; a longer row is an error";
    MAX_WARNINGS_SHOWN = 100, "warnings-shown", "warnings that an ingest lists; the others are counted";
    BATCH_BYTES = 48 << 20, "batch-bytes",
        "bytes of documents in one commit of an ingest";
    CONTENT_CHUNK_BYTES = 256 << 10, "content-chunk-bytes",
        "bytes of a document that are stored and read together";
    INDEX_QUEUE_BYTES = 16 << 20, "index-queue-bytes",
        "bytes of text that wait to be indexed; the ingest waits while there are more";
    INDEX_BATCH_BYTES = 512 << 20, "index-batch-bytes",
        "bytes of text and trigrams in one commit of the full-text index";
    INDEX_MEMORY_BYTES = 144 << 20, "index-memory-bytes",
        "bytes of memory of the threads that write the full-text index";
    INDEX_SEGMENTS = 8, "index-segments",
        "segments of similar size that the full-text index keeps unmerged";
    INDEX_CHECK_BYTES = 512 << 10, "index-check-bytes",
        "bytes of the files of a full-text index that every search compares with their checksums";
    INDEX_MERGE_BYTES = 192 << 20, "index-merge-bytes",
        "bytes of segments of the full-text index that are merged at once; larger segments are not merged";
    INDEX_ERROR_CHARS = 120, "index-error-chars",
        "characters of an error of the full-text index that a message repeats";
    MAX_EDITED_FILES = 10_000, "edited-files", "files that one edit changes";
    MAX_BATCH_PROBLEMS = 20, "batch-problems",
        "edits of one batch that cannot be made which its answer names; further edits are not checked";
    MAX_REPARSED_BYTES = 1 << 30, "reparsed-bytes",
        "bytes of documents that one batch of edits parses again: each edit of a document after its first parses all of it";
    MAX_FOOTNOTE_NESTING = 8, "footnote-nesting",
        "footnotes in footnotes whose references an edit follows; deeper ones are text";
    MAX_LINK_ROUNDS = 5, "link-rounds",
        "times that a rename or a move rewrites links in headings, each of which may rename another section; one that \
         needs more is refused";
    MAX_HTML_DOCUMENTS = 1_000, "html-documents",
        "documents in which a move searches for targets of one kind that it does not rewrite";
    MAX_INDENTED_NESTING = 4, "indented-nesting",
        "levels of indented code in indented code in which a move searches for targets; deeper ones are not searched";
    MAX_QUERY_BYTES = 2048, "query-bytes",
        "bytes of a query; of a longer query only the words are searched, without its operators";
    MAX_QUERY_GROUPS = 32, "query-groups",
        "opening parentheses of a query; of a query with more only the words are searched";
    MAX_QUERY_WORDS = 64, "query-words", "words of a query; later words are not searched";
    MAX_WORD_BYTES = 120, "word-bytes",
        "bytes of a word that are indexed; a longer word is found by its beginning";
    MAX_WORDS = 500, "max-words", "words of a page of select unless --max-words is given";
    LIST_LIMIT = 50, "list-limit", "items of a list unless --limit is given";
    MAX_REPEATED_SHOWN = 10, "repeated-shown",
        "problems that `links check` names with the number of their places";
    MAX_ADDRESS_BYTES = 4096, "address-bytes", "bytes of one address";
    MAX_ADDRESSES = 10_000, "addresses", "addresses, or names of documents, in one command or call";
    MAX_FILTERS = 1000, "filters", "globs, tags, places and types that filter one search";
    MAX_SELECTOR_STEPS = 256, "selector-steps", "steps of one selector";
    MAX_EXPANSION = 10_000, "expansion",
        "nodes that one selector without an index may match in one document";
    MAX_SUGGESTIONS = 5, "suggestions", "suggestions for an address that did not resolve";
    MAX_CANDIDATES_SHOWN = 10, "candidates", "candidates shown for an ambiguous address";
    MAX_SECTIONS_NAMED = 5, "sections-named",
        "sections that the error of a refused edit names; the others are counted";
    MAX_OCCURRENCES_NAMED = 5, "occurrences-named",
        "occurrences of a text to replace whose lines the error of a refused edit names";
    MAX_REFERENCE_BYTES = 4096, "reference-bytes",
        "bytes of a link in which an edit looks for the label of a definition; for a longer link the definition is kept";
    SUMMARY_WORDS = 50, "summary-words",
        "words of the content that stands for the summary of a place without one";
    MAX_SUMMARY_CHARS = 1000, "summary-chars",
        "characters of the summary of a place; a longer one is cut";
    MAX_HINT_CHARS = 40, "hint-chars", "characters of a name that a hint repeats";
    MAX_NAMESPACES_COMPARED = 2_000, "namespaces-compared",
        "document names that are compared with a name that was not found";
    MAX_NAMES_COMPARED = 1_000, "names-compared",
        "names of languages, columns or keys that are compared with one that was not found";
    MAX_FOLDERS_COMPARED = 50, "folders-compared",
        "names of folders that are compared with one that was not found";
    MAX_DOCUMENTS_TRIED = 256, "documents-tried",
        "documents in which the correction of a misspelled selector is tried";
    MAX_SECTIONS_COMPARED = 5_000, "sections-compared",
        "titles of a document that are compared with a title that was not found";
    MAX_TITLE_PARTS = 8, "title-parts",
        "parts between slashes of one title in a path of titles; a title with more is not found by such a path";
    MAX_ANCHORS_COMPARED = 1_000_000, "anchors-compared",
        "names that a check of links compares with missing anchors to suggest others";
    MAX_FILES_LISTED = 1_000_000, "files-listed",
        "files and folders below the root that are searched for a file by name; with more, the link is unchecked";
    MAX_ADDED_FILES_TRIED = 100, "added-files",
        "files in the folders of documents that are tried to find one that was added after the ingest";
    MAX_SUMMARY_PARAGRAPHS = 50, "summary-paragraphs",
        "paragraphs of a document that are searched for one with visible text, for the summary";
    MAX_SITE_ROOTS = 100, "site-roots", "folders that --site-root may name";
    MAX_TITLE_DOCUMENTS = 5_000, "title-documents",
        "documents in which a part of a title is looked up if no document is named";
    MAX_TITLED = 1_000, "titled-documents",
        "documents whose sections with the whole title `find` lists first; those of others keep their place in path order";
    MAX_COMPARED_CHARS = 128, "compared-chars",
        "characters of a name that are compared to find similar names";
    MAX_LINK_TYPES_SHOWN = 10, "link-types-shown",
        "existing types that the warning for an unknown type of links lists";
    MAX_EFFECTS_SHOWN = 20, "effects-shown",
        "renumbered sections of each place, and links that lead elsewhere, that the answer of an edit lists; of more \
         rewritten links the text of a move has the number in each file";
    MAX_ENDS_SHOWN = 5, "ends-shown",
        "farthest nodes that are listed if no path of links was found";
    MAX_NODES_BACKWARD = 2000, "nodes-backward",
        "nodes visited backward from the end of a path that was not found";
    PRIME_FOLDERS = 40, "prime-folders", "folders that prime lists";
    PRIME_DOCUMENTS = 5, "prime-documents", "most linked documents that prime lists";
    PRIME_LINK_TARGETS = 200, "prime-link-targets",
        "most frequent names in links among which prime looks for the most linked documents";
    PRIME_SOURCES = 20, "prime-sources",
        "documents with a frequent name in a link that prime reads to count the links to a document";
    PRIME_LINKS = 300, "prime-links", "links that prime follows";
    SEARCH_LIMIT = 20, "search-limit", "hits of a search unless --limit is given";
    PASSAGE_CHARS = 600, "passage-chars",
        "characters of a passage, approximately, unless --passage or --max-chars is given";
    LEADING_PASSAGE_CHARS = 1_200, "leading-passage-chars",
        "characters, approximately, of the passage of a first hit that is far ahead, unless --passage is given";
    MAX_PASSAGE_CHARS = 20_000, "largest-passage-chars",
        "characters; the largest value of --passage";
    LEAST_PASSAGE_CHARS = 300, "least-passage-chars",
        "characters, approximately, of the shortest passage that --max-chars causes";
    MAX_SEARCH_HITS = 250_000, "search-hits",
        "hits of one answer of a search; --after continues";
    MAX_CONTEXT_LINES = 1000, "context-lines", "lines shown before or after a hit";
    TITLES_CHARS = 70, "titles-chars",
        "characters of the titles above a passage, unless the nearest one is longer; the first titles are left out";
    HIT_CHARS = 400, "hit-chars",
        "characters of the line of a hit that are shown; of a longer line, those around the hit";
    SEARCH_SECONDS = 30, "search-seconds", "seconds that a search for a pattern may take";
    MAX_EXPRESSION_BYTES = 4096, "expression-bytes", "bytes of an expression";
    MAX_EXPRESSION_NESTING = 64, "expression-nesting",
        "nested parentheses and nots of an expression";
    MAX_PATTERN_BYTES = 4096, "pattern-bytes", "bytes of a pattern";
    MAX_PATTERN_NESTING = PATTERN_NESTING as usize, "pattern-nesting",
        "levels of nested groups, repetitions and classes of a pattern; a deeper pattern is invalid";
    MAX_PATTERN_MEMORY_BYTES = 10 << 20, "pattern-memory",
        "bytes of memory of a compiled pattern";
    MAX_DOCUMENT_BYTES = 1 << 30, "document-bytes",
        "bytes of one document, attachment or body in a pack or in records; a larger one is refused";
    MAX_RECORD_BYTES = 16 << 20, "record-bytes",
        "bytes of one line of a pack or of records; a longer line is refused";
    LEAST_CUT_CHARS = 80, "least-cut-chars",
        "characters of the first part of a passage that is cut, so that the last hit is of use";
    HIT_TITLE_CHARS = 40, "hit-title-chars",
        "characters of each title of a hit that does not fit into --max-chars";
    CUT_TITLE_CHARS = 80, "cut-title-chars",
        "characters of each title of a node that does not fit into --max-chars";
    BRIEF_MESSAGE_CHARS = 60, "brief-message-chars",
        "characters of a message that does not fit into --max-chars";
    REPORT_CHARS = 300, "report-chars",
        "characters; the smallest --max-chars of a command that changes the store, except with -f ldmd";
    MAX_REQUEST_BYTES = 16 << 20, "request-bytes",
        "bytes of one message to the server; a longer message is answered with an error";
    OPEN_REQUEST_BYTES = 64 << 20, "open-request-bytes",
        "bytes of the messages to the server that are not answered yet; a further one is answered with an error";
    CALLS_AT_ONCE = 16, "calls-at-once", "calls that the server runs at the same time; others wait";
    SEARCH_REPLY_CHARS = 4000, "search-reply-chars",
        "characters of passages in a reply of the server unless the call gives a limit";
    REPLY_CHARS = 24_000, "reply-chars",
        "characters of one reply of the server unless --max-chars or the call gives a limit";
    RESOURCES_LISTED = 200, "resources-listed",
        "documents in one page of the list of resources; every address is a resource";
    PREVIEW_CHARS = 80, "preview-chars", "characters of the preview of a block";
    CLOSE_WAIT_MILLISECONDS = 250, "close-wait",
        "milliseconds that a writer waits for readers of an older snapshot before it leaves its write-ahead log";
    MAX_LOCK_WAIT_SECONDS = 86_400, "largest-wait", "seconds; the largest value of --wait";
    LOCK_WAIT_SECONDS = 10, "wait",
        "seconds that a writer waits for another writer unless --wait is given";
    READER_WAIT_SECONDS = 5, "reader-wait",
        "seconds that a reader waits for another program that locks the whole store";
    WATCH_QUIET_MILLISECONDS = 200, "watch-quiet",
        "milliseconds without changes after which ingest --watch ingests";
    WATCH_DELAY_MILLISECONDS = 2000, "watch-delay",
        "milliseconds after a change after which ingest --watch ingests, even if changes continue";
    WATCH_RETRY_MILLISECONDS = 500, "watch-retry",
        "milliseconds after which ingest --watch tries again if the store or the files cannot be used";
    CONNECT_SECONDS = 10, "connect-seconds",
        "seconds to wait for a connection to a server unless the URL or `PGCONNECT_TIMEOUT` says how long";
    QUERY_SECONDS = 10, "query-seconds", "seconds that one SQL statement may run";
    CHECK_SECONDS = 7200, "check-seconds",
        "seconds that one SQL statement may run in a check of the whole store";
    CHECK_BYTES = 4 << 20, "check-bytes",
        "bytes of a document; a larger document is checked alone";
    MAX_HASHES_SEARCHED = 256, "hashes-searched",
        "documents whose hash a repair of a damaged store searches for on all pages; of further ones the bytes are not \
         recognized";
    MAX_FAULTS = 1000, "faults", "problems that one check by SQLite lists";
}

/// The default of the longest time to wait for another writer.
pub const LOCK_WAIT: std::time::Duration = std::time::Duration::from_secs(LOCK_WAIT_SECONDS as u64);

impl fmt::Display for Limit {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "the limit {} ({})", self.name, self.value)
    }
}

/// Returns the error for `limit`, which was exceeded.
pub fn exceeded(limit: Limit) -> crate::error::Error {
    crate::error::Error::new(
        crate::error::ErrorKind::Limit,
        format!("more than the limit {} allows ({})", limit.name, limit.value),
    )
    .with_hint("ask for less at once; `mdsel status --limits` lists every limit")
}

#[cfg(test)]
mod tests {
    use super::TABLE;

    #[test]
    fn limit_names_are_unique() {
        let mut names: Vec<_> = TABLE.iter().map(|limit| limit.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), TABLE.len());
    }
}
