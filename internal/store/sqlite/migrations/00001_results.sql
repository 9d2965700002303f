-- +goose Up
CREATE TABLE result (
    id         TEXT PRIMARY KEY NOT NULL,
    started_at INTEGER NOT NULL, -- ns since 1970, UTC
    test       TEXT NOT NULL,
    client     TEXT NOT NULL,
    server     TEXT NOT NULL,
    campaign   TEXT NOT NULL, -- empty for a test run by hand
    pattern    TEXT NOT NULL,
    label      TEXT NOT NULL,
    round      INTEGER NOT NULL,
    position   INTEGER NOT NULL, -- order within the round
    repetition INTEGER NOT NULL,
    headline   TEXT NOT NULL,
    error      TEXT NOT NULL, -- empty for success
    document   TEXT NOT NULL  -- the whole result, JSON
) STRICT;
CREATE INDEX result_by_start ON result (started_at DESC, id DESC);
CREATE INDEX result_by_test ON result (test, started_at DESC, id DESC);
CREATE INDEX result_by_campaign ON result (campaign, round, position, repetition);

CREATE TABLE campaign (
    id          TEXT PRIMARY KEY NOT NULL,
    name        TEXT NOT NULL,
    title       TEXT NOT NULL,
    started_at  INTEGER NOT NULL,
    finished_at INTEGER, -- NULL while trials are left
    plan        TEXT NOT NULL,
    seed        INTEGER NOT NULL,
    patterns    INTEGER NOT NULL,
    trials      INTEGER NOT NULL,
    done        INTEGER NOT NULL,
    failed      INTEGER NOT NULL
) STRICT;
CREATE INDEX campaign_by_name ON campaign (name, started_at DESC);

-- +goose Down
DROP TABLE campaign;
DROP TABLE result;
