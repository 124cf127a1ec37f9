-- The store: documents, their bytes and their structure.
--
-- Ids only increase and are never reused. A changed document gets a new row, so a reference to a
-- document by id always refers to one version of it.

CREATE TABLE meta (
    key TEXT NOT NULL PRIMARY KEY,
    value NOT NULL
) WITHOUT ROWID;

-- `path` is relative to the root and uses `/` as separator. `name_key` is the case-folded path
-- without its extension, with its components in reverse order and `/` after each of them
-- ("guide/api/docs/"). Every suffix of whole components is therefore a prefix of the key.
CREATE TABLE document (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    path TEXT NOT NULL UNIQUE,
    name_key TEXT NOT NULL,
    hash BLOB NOT NULL,
    size INTEGER NOT NULL,
    mtime_ns INTEGER NOT NULL,
    ctime_ns INTEGER NOT NULL,
    lines INTEGER NOT NULL,
    words INTEGER NOT NULL,
    sections INTEGER NOT NULL,
    blocks INTEGER NOT NULL,
    links INTEGER NOT NULL,
    lossy INTEGER NOT NULL,
    ldmd INTEGER NOT NULL,
    generation INTEGER NOT NULL
);

-- Used to find a document by a unique suffix of its path.
CREATE INDEX document_name_key ON document (name_key);

-- The bytes of a document in chunks of equal length. A span of a large document is read from its chunks
-- only (see src/codec/content.rs). `place` is the id of the
-- document times 4096 plus the number of the chunk. A chunk is therefore found by its row id
-- without another index, and chunks are stored in the order of document ids.
CREATE TABLE content (
    place INTEGER PRIMARY KEY,
    bytes BLOB NOT NULL
);

-- The front matter as JSON, if it can be parsed. It is not a column of `document`, because every
-- ingest reads all rows of that table.
CREATE TABLE front_matter (
    document_id INTEGER PRIMARY KEY REFERENCES document (id) ON DELETE CASCADE,
    value TEXT NOT NULL
);

-- The tags in the front matter of a document, case-folded, without `#`. Used to find the documents
-- with a tag or with a tag below it (`area/topic` is below `area`).
CREATE TABLE tag (
    tag TEXT NOT NULL,
    document_id INTEGER NOT NULL REFERENCES document (id) ON DELETE CASCADE,
    PRIMARY KEY (tag, document_id)
) WITHOUT ROWID;

-- Used to delete the tags of a deleted document.
CREATE INDEX tag_document_id ON tag (document_id);

-- All nodes of a document in one packed row. Queries about structure read the whole outline. One
-- row per node would need several times the space, and several times the time to write and to read.
CREATE TABLE outline (
    document_id INTEGER PRIMARY KEY REFERENCES document (id) ON DELETE CASCADE,
    packed BLOB NOT NULL
);

-- The lookup keys of the titles of a document. For each section there is a line feed and the folded
-- title with hyphens instead of spaces. If the folded part of the section in a path differs from
-- the title, a tab and that part follow. Anchors of headings in lists and block quotes are stored
-- like titles. Used to find sections by title in the whole store: a search scans only this table.
CREATE TABLE title (
    document_id INTEGER PRIMARY KEY REFERENCES document (id) ON DELETE CASCADE,
    keys TEXT NOT NULL
);

-- The LDMD sections, problems and markers of a document that has any (`document.ldmd`), packed like
-- the outline.
CREATE TABLE ldmd (
    document_id INTEGER PRIMARY KEY REFERENCES document (id) ON DELETE CASCADE,
    packed BLOB NOT NULL
);

-- Used to find LDMD sections by id in the whole store.
CREATE TABLE ldmd_section (
    id TEXT NOT NULL,
    document_id INTEGER NOT NULL REFERENCES document (id) ON DELETE CASCADE,
    PRIMARY KEY (id, document_id)
) WITHOUT ROWID;

-- Used to delete the LDMD section ids of a deleted document.
CREATE INDEX ldmd_section_document_id ON ldmd_section (document_id);

-- The links of a document and the names by which other documents can link to it, packed like the
-- outline. The target of a link is resolved when it is queried, so the result is correct after any
-- later change to other documents.
CREATE TABLE link (
    document_id INTEGER PRIMARY KEY REFERENCES document (id) ON DELETE CASCADE,
    packed BLOB NOT NULL
);

-- Hashes of the last components of the link targets of a document. No foreign key refers to this
-- table. The writer computes the keys of a deleted document from its packed links, so no index by
-- document is needed. Used to find the documents that may link to a document.
CREATE TABLE link_key (
    key INTEGER NOT NULL,
    document_id INTEGER NOT NULL,
    PRIMARY KEY (key, document_id)
) WITHOUT ROWID;

-- Hashes of the title, the front matter id and the aliases of a document, with the same rules. Used
-- to find the documents that a link can name by something other than their path.
CREATE TABLE name_key (
    key INTEGER NOT NULL,
    document_id INTEGER NOT NULL,
    PRIMARY KEY (key, document_id)
) WITHOUT ROWID;

-- Edits in progress: the file that is being replaced, the hash of its new bytes, and the temporary
-- file that will replace it. If the writer stops before it finishes, the file has either its old
-- bytes or its new bytes.
CREATE TABLE edit_intent (
    id INTEGER PRIMARY KEY,
    path TEXT NOT NULL,
    temporary TEXT NOT NULL,
    new_hash BLOB NOT NULL
);

CREATE TABLE diagnostic (
    document_id INTEGER NOT NULL REFERENCES document (id) ON DELETE CASCADE,
    ordinal INTEGER NOT NULL,
    code TEXT NOT NULL,
    line INTEGER,
    message TEXT NOT NULL,
    PRIMARY KEY (document_id, ordinal)
) WITHOUT ROWID;
