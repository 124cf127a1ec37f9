-- The folders that have documents directly in them, which each commit that adds or removes a document keeps up to date.
-- A path ends with `/`, and that of the root is empty.
CREATE TABLE folder (
    path TEXT PRIMARY KEY,
    documents INTEGER NOT NULL
) WITHOUT ROWID;

-- What is removed from the end are all characters that are no `/`.
INSERT INTO folder
SELECT rtrim(path, replace(path, '/', '')), count(*) FROM document GROUP BY 1;
