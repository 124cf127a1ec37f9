-- A checksum (blake3) of everything stored for a document except its bytes: its path, its hash, its
-- counts, and every row derived from it. SQLite has no checksums of its pages, and damage to these
-- rows would change answers as much as damage to the bytes. NULL if the document was written by a
-- version of mdsel that has no checksums.
ALTER TABLE document ADD COLUMN seal BLOB;
