-- Checksums (blake3) of what is stored for a document except its bytes: its path, its hash, its
-- counts, and the rows derived from it other than the keys in `link_key` and `name_key`. SQLite has
-- no checksums of its pages, and damage to these rows changes answers as much as damage to the
-- bytes. NULL if the document was written by a version of mdsel without checksums.
ALTER TABLE document ADD COLUMN seal BLOB;
