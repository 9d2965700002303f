-- The tables are the same in SQLite and PostgreSQL.

-- +goose Up
CREATE TABLE journal (
    campaign    TEXT PRIMARY KEY NOT NULL,
    records     BIGINT NOT NULL, -- how many there are
    holder      TEXT NOT NULL,   -- who may append until then; empty: no process
    held_until  BIGINT NOT NULL, -- ms since 1970 by the database's clock
    fence       BIGINT NOT NULL  -- counts the holders: what an earlier one writes is refused
);

CREATE TABLE journal_record (
    campaign TEXT NOT NULL REFERENCES journal,
    place    BIGINT NOT NULL, -- from 1
    record   TEXT NOT NULL,   -- JSON; results that the store has are references
    PRIMARY KEY (campaign, place)
);

-- The highest number of a campaign, in its one row.
CREATE TABLE journal_number (
    only_row BIGINT PRIMARY KEY NOT NULL,
    number   BIGINT NOT NULL
);
INSERT INTO journal_number (only_row, number) VALUES (1, 0);

-- +goose Down
DROP TABLE journal_number;
DROP TABLE journal_record;
DROP TABLE journal;
