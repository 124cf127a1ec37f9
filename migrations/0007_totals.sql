-- The totals of all documents, which each commit that changes a document keeps up to date.
CREATE TABLE totals (
    id INTEGER PRIMARY KEY,
    documents INTEGER NOT NULL,
    sections INTEGER NOT NULL,
    blocks INTEGER NOT NULL,
    links INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    words INTEGER NOT NULL,
    lines INTEGER NOT NULL,
    diagnostics INTEGER NOT NULL
);

INSERT INTO totals
SELECT 1, count(*), coalesce(sum(sections), 0), coalesce(sum(blocks), 0), coalesce(sum(links), 0),
    coalesce(sum(size), 0), coalesce(sum(words), 0), coalesce(sum(lines), 0),
    (SELECT count(*) FROM diagnostic)
FROM document;
