-- Columns are numbers and names, which queries select and sort by; sentences are
-- made when they are shown. Documents, which are large, have a table of their own,
-- so that a listing reads none. Migration 3 takes the rows over.

-- +goose Up
DROP INDEX result_by_start;
DROP INDEX result_by_test;
DROP INDEX result_by_campaign;
ALTER TABLE result RENAME TO result_of_schema_1;

CREATE TABLE result (
    id         TEXT PRIMARY KEY NOT NULL,
    started_at INTEGER NOT NULL, -- ns since 1970, UTC
    test       TEXT NOT NULL,
    client     TEXT NOT NULL,
    server     TEXT NOT NULL,
    direction  TEXT NOT NULL,
    via        TEXT NOT NULL,
    streams    INTEGER NOT NULL,
    campaign   TEXT NOT NULL, -- empty for a test run by hand
    pattern    TEXT NOT NULL,
    label      TEXT NOT NULL,
    round      INTEGER NOT NULL,
    position   INTEGER NOT NULL, -- order within the round
    repetition INTEGER NOT NULL,
    error_kind TEXT NOT NULL, -- empty for success
    error      TEXT NOT NULL,
    figures    TEXT NOT NULL, -- JSON object: key of the figure, number
    goodput_bps            REAL GENERATED ALWAYS AS (figures ->> 'goodput_bps') VIRTUAL,
    loss_ratio             REAL GENERATED ALWAYS AS (figures ->> 'loss_ratio') VIRTUAL,
    rtt_p50_ns             REAL GENERATED ALWAYS AS (figures ->> 'rtt_p50_ns') VIRTUAL,
    rtt_p99_ns             REAL GENERATED ALWAYS AS (figures ->> 'rtt_p99_ns') VIRTUAL,
    connections_per_second REAL GENERATED ALWAYS AS (figures ->> 'connections_per_second') VIRTUAL,
    path_mtu_bytes         REAL GENERATED ALWAYS AS (figures ->> 'path_mtu_bytes') VIRTUAL,
    hops                   REAL GENERATED ALWAYS AS (figures ->> 'hops') VIRTUAL
) STRICT, WITHOUT ROWID;
CREATE INDEX result_by_start ON result (started_at, id);
CREATE INDEX result_by_test ON result (test, started_at, id);
CREATE INDEX result_by_campaign ON result (campaign, started_at, id);

CREATE TABLE document (
    id       TEXT PRIMARY KEY NOT NULL REFERENCES result,
    document TEXT NOT NULL -- the whole result, JSON
) STRICT;

-- Each pattern's levels, to find results by them.
CREATE TABLE result_level (
    factor     TEXT NOT NULL,
    level      TEXT NOT NULL,
    started_at INTEGER NOT NULL,
    result     TEXT NOT NULL REFERENCES result,
    PRIMARY KEY (factor, level, started_at, result)
) STRICT, WITHOUT ROWID;

-- Names and addresses of client and server, to find results by them.
CREATE TABLE result_endpoint (
    endpoint   TEXT NOT NULL,
    started_at INTEGER NOT NULL,
    result     TEXT NOT NULL REFERENCES result,
    PRIMARY KEY (endpoint, started_at, result)
) STRICT, WITHOUT ROWID;

DROP INDEX campaign_by_name;
CREATE INDEX campaign_by_start ON campaign (started_at, id);
CREATE INDEX campaign_by_name ON campaign (name, started_at, id);
