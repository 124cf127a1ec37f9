-- Packed rows that are long are compressed from this version on (see src/codec/row.rs). The name of the column is
-- new so that an earlier version of mdsel does not take such a row for a damaged one. Rows that exist stay as they
-- are.
ALTER TABLE outline RENAME COLUMN packed TO stored;
ALTER TABLE ldmd RENAME COLUMN packed TO stored;
ALTER TABLE link RENAME COLUMN packed TO stored;
ALTER TABLE code RENAME COLUMN packed TO stored;
ALTER TABLE grid RENAME COLUMN packed TO stored;
ALTER TABLE task RENAME COLUMN packed TO stored;
