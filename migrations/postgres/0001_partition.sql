-- The tables of the partition {part}. They are all that a server needs that holds this partition.
CREATE TABLE document_{part} PARTITION OF document FOR VALUES IN ({part});
ALTER TABLE document_{part} ADD PRIMARY KEY (id);
CREATE INDEX ON document_{part} (path);
CREATE INDEX ON document_{part} (name_key);
CREATE INDEX ON document_{part} (gen_from);
CREATE INDEX ON document_{part} (gen_to) WHERE gen_to IS NOT NULL;

CREATE TABLE derived_{part} PARTITION OF derived FOR VALUES IN ({part});
ALTER TABLE derived_{part} ADD PRIMARY KEY (document);

CREATE TABLE title_{part} PARTITION OF title FOR VALUES IN ({part});
ALTER TABLE title_{part} ADD PRIMARY KEY (document);

CREATE TABLE key_{part} PARTITION OF key FOR VALUES IN ({part});
CREATE INDEX ON key_{part} (kind, key);
CREATE INDEX ON key_{part} (document);

CREATE TABLE content_{part} PARTITION OF content FOR VALUES IN ({part});
ALTER TABLE content_{part} ADD PRIMARY KEY (place);

CREATE TABLE segment_{part} PARTITION OF segment FOR VALUES IN ({part});
ALTER TABLE segment_{part} ADD PRIMARY KEY (id);

CREATE TABLE posting_{part} PARTITION OF posting FOR VALUES IN ({part});
CREATE INDEX ON posting_{part} (term);
CREATE INDEX ON posting_{part} (segment);

CREATE TABLE trigram_{part} PARTITION OF trigram FOR VALUES IN ({part});
CREATE INDEX ON trigram_{part} (prefix);
CREATE INDEX ON trigram_{part} (segment);
