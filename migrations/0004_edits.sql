-- The blake3 hash of a file before an edit, with `new_hash` for the hash after it. An empty hash stands
-- for a file that does not exist. All rows belong to one edit, which may change several files. If the
-- writer stops before it finishes, the store has either all old versions or all new versions of these
-- files, and the next writer gives each file the version that the store has.
ALTER TABLE edit_intent ADD COLUMN old_hash BLOB NOT NULL DEFAULT x'';
