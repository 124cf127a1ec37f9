-- blake3 over what is stored of a document beside its bytes: its path and hash, its counts, and every
-- packed or listed row that was made of it. SQLite keeps no checksum of its pages, and these rows decide
-- every answer as much as the bytes do. NULL where a program wrote the document that knew of no seals.
ALTER TABLE document ADD COLUMN seal BLOB;
