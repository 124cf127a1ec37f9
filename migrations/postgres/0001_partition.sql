-- The tables of the partition {part}. They are all that a server needs that holds this partition.
CREATE TABLE document_{part} PARTITION OF document FOR VALUES IN ({part});
ALTER TABLE document_{part} ADD PRIMARY KEY (id);
CREATE INDEX ON document_{part} (path);
CREATE INDEX ON document_{part} (name_key);
CREATE INDEX ON document_{part} (gen_from);
CREATE INDEX ON document_{part} (gen_to) WHERE gen_to IS NOT NULL;

CREATE TABLE derived_{part} PARTITION OF derived FOR VALUES IN ({part});
ALTER TABLE derived_{part} ADD PRIMARY KEY (document);
-- These bytes are packed. To compress them again takes time and saves little.
ALTER TABLE derived_{part} ALTER COLUMN outline SET STORAGE EXTERNAL,
    ALTER COLUMN markup SET STORAGE EXTERNAL, ALTER COLUMN links SET STORAGE EXTERNAL,
    ALTER COLUMN code SET STORAGE EXTERNAL, ALTER COLUMN grid SET STORAGE EXTERNAL,
    ALTER COLUMN task SET STORAGE EXTERNAL, ALTER COLUMN fingerprints SET STORAGE EXTERNAL;

CREATE TABLE title_{part} PARTITION OF title FOR VALUES IN ({part});
ALTER TABLE title_{part} ADD PRIMARY KEY (document);

CREATE TABLE key_{part} PARTITION OF key FOR VALUES IN ({part});
CREATE INDEX ON key_{part} (kind, key);
CREATE INDEX ON key_{part} USING brin (document) WITH (pages_per_range = 16);

CREATE TABLE content_{part} PARTITION OF content FOR VALUES IN ({part});
ALTER TABLE content_{part} ADD PRIMARY KEY (place);
ALTER TABLE content_{part} ALTER COLUMN bytes SET STORAGE EXTERNAL;

CREATE TABLE segment_{part} PARTITION OF segment FOR VALUES IN ({part});
ALTER TABLE segment_{part} ADD PRIMARY KEY (id);
ALTER TABLE segment_{part} ALTER COLUMN documents SET STORAGE EXTERNAL;

CREATE TABLE dead_{part} PARTITION OF dead FOR VALUES IN ({part});
ALTER TABLE dead_{part} ADD PRIMARY KEY (document);

CREATE TABLE posting_{part} PARTITION OF posting FOR VALUES IN ({part});
CREATE INDEX ON posting_{part} (term);
CREATE INDEX ON posting_{part} USING brin (segment) WITH (pages_per_range = 32);
ALTER TABLE posting_{part} ALTER COLUMN entries SET STORAGE EXTERNAL;

CREATE TABLE trigram_{part} PARTITION OF trigram FOR VALUES IN ({part});
CREATE INDEX ON trigram_{part} (prefix);
CREATE INDEX ON trigram_{part} USING brin (segment) WITH (pages_per_range = 32);
ALTER TABLE trigram_{part} ALTER COLUMN entries SET STORAGE EXTERNAL;
