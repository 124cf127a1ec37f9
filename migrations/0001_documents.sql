-- The store: documents, their bytes and their structure.
--
-- Ids only grow and are never reused: a changed document is a new row, so that anything derived
-- from a document can name it by id without ever meaning another version of it.

CREATE TABLE meta (
    key TEXT NOT NULL PRIMARY KEY,
    value NOT NULL
) WITHOUT ROWID;

-- `path` is relative to the root, with `/`. `name_key` is the folded path without extension, its
-- components reversed and each closed by `/` ("guide/api/docs/"), so that every suffix of whole
-- components is a prefix of it.
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

-- Serves: a document by any unique suffix of its path.
CREATE INDEX document_name_key ON document (name_key);

-- The bytes of a document in chunks of equal length, each compressed by itself (zstd), so that a
-- span of a large document costs its own length and not the document's. `place` is the id of the
-- document times 4096, and the number of the chunk, so that a chunk is one look-up without an index,
-- and the chunks of documents lie in the order of their ids.
CREATE TABLE content (
    place INTEGER PRIMARY KEY,
    bytes BLOB NOT NULL
);

-- Front matter as JSON, where it can be read. Beside the documents, whose rows every ingest reads.
CREATE TABLE front_matter (
    document_id INTEGER PRIMARY KEY REFERENCES document (id) ON DELETE CASCADE,
    value TEXT NOT NULL
);

-- The tags that front matter gives a document, case-folded, without `#`.
-- Serves: documents with a tag, and with tags below it (`area/topic` is below `area`).
CREATE TABLE tag (
    tag TEXT NOT NULL,
    document_id INTEGER NOT NULL REFERENCES document (id) ON DELETE CASCADE,
    PRIMARY KEY (tag, document_id)
) WITHOUT ROWID;

-- Serves: forgetting the tags of a document that is forgotten.
CREATE INDEX tag_document_id ON tag (document_id);

-- All nodes of a document in one packed row: a question about structure reads the whole outline, and
-- a row a node would cost several times the space and the time of both writing and reading.
CREATE TABLE outline (
    document_id INTEGER PRIMARY KEY REFERENCES document (id) ON DELETE CASCADE,
    packed BLOB NOT NULL
);

-- What the titles of a document are looked up by: for each section a line end, its folded title with
-- hyphens for blanks, and, where that is not its part of a section path too, a tab and that part.
-- Serves: sections by title over the whole store, by scanning no more than the titles.
CREATE TABLE title (
    document_id INTEGER PRIMARY KEY REFERENCES document (id) ON DELETE CASCADE,
    keys TEXT NOT NULL
);

-- The LDMD sections, faults and markers of a document that has any (`document.ldmd`), packed for the
-- same reason.
CREATE TABLE ldmd (
    document_id INTEGER PRIMARY KEY REFERENCES document (id) ON DELETE CASCADE,
    packed BLOB NOT NULL
);

-- Serves: LDMD sections by id over the whole store.
CREATE TABLE ldmd_section (
    id TEXT NOT NULL,
    document_id INTEGER NOT NULL REFERENCES document (id) ON DELETE CASCADE,
    PRIMARY KEY (id, document_id)
) WITHOUT ROWID;

-- Serves: forgetting the LDMD sections of a document that is forgotten.
CREATE INDEX ldmd_section_document_id ON ldmd_section (document_id);

-- The links of a document and the names by which it can be linked to, packed for the same reason.
-- Where a link leads is found out when it is asked, so that it is right whatever came or went since.
CREATE TABLE link (
    document_id INTEGER PRIMARY KEY REFERENCES document (id) ON DELETE CASCADE,
    packed BLOB NOT NULL
);

-- Hashes of what the targets of a document's links end with. No row refers to another: the writer
-- takes them away with the packed links that they are made of, and needs no index to find them.
-- Serves: the documents that may link to a document.
CREATE TABLE link_key (
    key INTEGER NOT NULL,
    document_id INTEGER NOT NULL,
    PRIMARY KEY (key, document_id)
) WITHOUT ROWID;

-- Hashes of title, front matter id and aliases of a document, likewise.
-- Serves: the documents that a link names by anything but their path.
CREATE TABLE name_key (
    key INTEGER NOT NULL,
    document_id INTEGER NOT NULL,
    PRIMARY KEY (key, document_id)
) WITHOUT ROWID;

-- Edits under way: a file that is being replaced, by what, and the temporary file that will take its
-- place. Whoever meets one whose writer is gone finds the file as it was or as it should be.
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
