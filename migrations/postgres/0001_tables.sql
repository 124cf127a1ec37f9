-- A store on a PostgreSQL server: documents, their bytes and structure, and the index for searches.
--
-- Every row belongs to a partition, `part`, which is computed from the path of its document. All rows
-- of a document are therefore in one partition, and a partition can be a foreign table on another
-- server. Ids only increase and are never reused. A changed document gets a new row.
--
-- A row with `gen_from` and `gen_to` belongs to the generations from the first to before the second.
-- Rows of a later generation than that of `store` are not part of the store yet.

-- One row. The update of `generation` makes a change visible.
CREATE TABLE store (
    one boolean PRIMARY KEY CHECK (one),
    identity text NOT NULL,
    -- The version of this schema.
    format bigint NOT NULL,
    -- The number of partitions.
    parts bigint NOT NULL,
    -- The folder that paths are relative to, and the options of the last ingest as JSON. NULL before the
    -- first ingest.
    root text,
    options text,
    parser bigint NOT NULL,
    generation bigint NOT NULL
);

-- A writer takes 100 ids at once, beginning with the number that the sequence gives.
CREATE SEQUENCE document_id INCREMENT BY 100 START WITH 100;
CREATE SEQUENCE segment_id;

-- Edits in progress: the file that is being replaced, the hash of its new bytes, and the temporary
-- file that will replace it. `owner` names the folder in which the files are.
CREATE TABLE edit_intent (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    path text NOT NULL,
    temporary text NOT NULL,
    old_hash bytea NOT NULL,
    new_hash bytea NOT NULL,
    owner text
);

CREATE TABLE document (
    part smallint NOT NULL,
    id bigint NOT NULL,
    path text COLLATE "C" NOT NULL,
    -- The case-folded path without its extension, with its components in reverse order and `/` after
    -- each of them.
    name_key text COLLATE "C" NOT NULL,
    hash bytea NOT NULL,
    size bigint NOT NULL,
    mtime_ns bigint NOT NULL,
    ctime_ns bigint NOT NULL,
    lines bigint NOT NULL,
    words bigint NOT NULL,
    sections bigint NOT NULL,
    blocks bigint NOT NULL,
    links bigint NOT NULL,
    diagnostics bigint NOT NULL,
    lossy boolean NOT NULL,
    ldmd boolean NOT NULL,
    seal bytea NOT NULL,
    gen_from bigint NOT NULL,
    gen_to bigint
) PARTITION BY LIST (part);

-- What is derived from the bytes of a document. Text that may contain U+0000, which a `text` cannot,
-- is stored as bytes.
CREATE TABLE derived (
    part smallint NOT NULL,
    document bigint NOT NULL,
    outline bytea,
    markup bytea,
    markup_ids bytea NOT NULL,
    links bytea,
    front_matter bytea,
    tags bytea NOT NULL,
    -- The code blocks, the tables and the tasks.
    code bytea,
    grid bytea,
    task bytea,
    diagnostics bytea NOT NULL,
    -- The fingerprints of the sections, 8 bytes each.
    fingerprints bytea NOT NULL
) PARTITION BY LIST (part);

-- The lookup keys of the titles of a document.
CREATE TABLE title (
    part smallint NOT NULL,
    document bigint NOT NULL,
    keys bytea NOT NULL
) PARTITION BY LIST (part);

-- Hashes of what a document is found by: its links, its names, its titles, its tags, its LDMD sections
-- and its data.
CREATE TABLE key (
    part smallint NOT NULL,
    kind smallint NOT NULL,
    key bigint NOT NULL,
    document bigint NOT NULL
) PARTITION BY LIST (part);

-- The bytes of a document in compressed chunks of equal length. `place` is the id of the document
-- times 4096 plus the number of the chunk.
CREATE TABLE content (
    part smallint NOT NULL,
    place bigint NOT NULL,
    bytes bytea NOT NULL
) PARTITION BY LIST (part);

-- The index for searches consists of segments. Each has the documents of one partition that one
-- change added, and the numbers that scores need. `documents` are the ids, `size` is their number.
CREATE TABLE segment (
    part smallint NOT NULL,
    id bigint NOT NULL,
    documents bytea NOT NULL,
    size bigint NOT NULL,
    sections bigint NOT NULL,
    title_tokens bigint NOT NULL,
    body_tokens bigint NOT NULL,
    code_tokens bigint NOT NULL,
    tags bigint NOT NULL,
    gen_from bigint NOT NULL,
    gen_to bigint
) PARTITION BY LIST (part);

-- Documents that are gone and still in a segment.
CREATE TABLE dead (
    part smallint NOT NULL,
    document bigint NOT NULL
) PARTITION BY LIST (part);

-- The sections of a segment that contain a word, with its positions. `term` is the word, or 0xFF and the
-- first bytes of several rare words, whose lists share the row.
CREATE TABLE posting (
    part smallint NOT NULL,
    segment bigint NOT NULL,
    term bytea NOT NULL,
    entries bytea NOT NULL
) PARTITION BY LIST (part);

-- The documents of a segment that contain a trigram with these first two bytes.
CREATE TABLE trigram (
    part smallint NOT NULL,
    prefix integer NOT NULL,
    segment bigint NOT NULL,
    entries bytea NOT NULL
) PARTITION BY LIST (part);

-- Ingests by several workers. What they write belongs to no generation until all of them are done. A row
-- of a worker is there when it is done; its removals are the documents whose files are gone.
CREATE TABLE ingest (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text NOT NULL UNIQUE,
    shards bigint NOT NULL,
    -- The options that the store gets with the documents, and those that it had when a part gave them.
    options text,
    options_before text
);
CREATE TABLE ingest_shard (
    ingest bigint NOT NULL,
    shard bigint NOT NULL,
    PRIMARY KEY (ingest, shard)
);
CREATE TABLE ingest_removal (
    ingest bigint NOT NULL,
    shard bigint NOT NULL,
    document bigint NOT NULL
);
