-- What is inside documents, as data: code blocks, tables, tasks and front matter. Written when a
-- document is parsed, so a query reads no text.

-- The code blocks of a document that has any, packed like the outline.
CREATE TABLE code (
    document_id INTEGER PRIMARY KEY REFERENCES document (id) ON DELETE CASCADE,
    packed BLOB NOT NULL
);

-- The tables of a document that has any, with the texts of their cells, packed like the outline.
CREATE TABLE grid (
    document_id INTEGER PRIMARY KEY REFERENCES document (id) ON DELETE CASCADE,
    packed BLOB NOT NULL
);

-- The tasks of a document that has any, with their fields, packed like the outline.
CREATE TABLE task (
    document_id INTEGER PRIMARY KEY REFERENCES document (id) ON DELETE CASCADE,
    packed BLOB NOT NULL
);

-- Hashes of the languages of the code blocks, of the columns of the tables, and of the states and
-- fields of the tasks of a document. The writer computes the keys of a deleted document from its
-- packed rows, so no index by document is needed. Used to find the documents with such a block,
-- column or task.
CREATE TABLE data_key (
    key INTEGER NOT NULL,
    document_id INTEGER NOT NULL,
    PRIMARY KEY (key, document_id)
) WITHOUT ROWID;

-- The values of front matter by key: the case-folded key, the key as it is written, the type of the
-- value, and the value as JSON. The values of one key are next to each other, so a condition on a
-- key reads only these. The writer computes the rows of a deleted document from its row in
-- `front_matter`. Used to find the documents whose front matter matches a condition, and to list
-- the keys with their types.
CREATE TABLE front_matter_value (
    key TEXT NOT NULL,
    document_id INTEGER NOT NULL,
    name TEXT NOT NULL,
    type TEXT NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (key, document_id, name)
) WITHOUT ROWID;
