-- The times of a file that was found again with other times and the same bytes. They take precedence over those in
-- `document`, whose rows are so wide that new times of all files would write the whole table again.
CREATE TABLE file_times (
    document_id INTEGER PRIMARY KEY REFERENCES document (id) ON DELETE CASCADE,
    mtime_ns INTEGER NOT NULL,
    ctime_ns INTEGER NOT NULL
);
