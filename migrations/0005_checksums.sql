-- Chunks have checksums from this version on (see src/codec/content.rs). The name of the column is new so that an
-- earlier version of mdsel does not take such a chunk for a damaged one. Chunks that exist stay as they are.
ALTER TABLE content RENAME COLUMN bytes TO packed;
