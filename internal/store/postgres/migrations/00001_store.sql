-- Columns are numbers and names, which queries select and sort by. Documents, which are large, have a
-- table of their own, so that a listing reads none. Identities and names are sorted by their bytes.

-- +goose Up
CREATE TABLE result (
    id         text COLLATE "C" PRIMARY KEY,
    started_at bigint NOT NULL, -- ns since 1970, UTC
    test       text COLLATE "C" NOT NULL,
    client     text COLLATE "C" NOT NULL,
    server     text COLLATE "C" NOT NULL,
    direction  text COLLATE "C" NOT NULL,
    via        text COLLATE "C" NOT NULL,
    streams    bigint NOT NULL,
    campaign   text COLLATE "C" NOT NULL, -- empty for a test run by hand
    pattern    text COLLATE "C" NOT NULL,
    label      text COLLATE "C" NOT NULL,
    round      bigint NOT NULL,
    position   bigint NOT NULL, -- order within the round
    repetition bigint NOT NULL,
    error_kind text COLLATE "C" NOT NULL, -- empty for success
    error      text COLLATE "C" NOT NULL,
    figures    jsonb NOT NULL -- key of the figure, number
);
CREATE INDEX result_by_start ON result (started_at, id);
CREATE INDEX result_by_test ON result (test, started_at, id);
CREATE INDEX result_by_campaign ON result (campaign, started_at, id);

CREATE TABLE document (
    id       text COLLATE "C" PRIMARY KEY REFERENCES result,
    document bytea NOT NULL -- the whole result: JSON, compressed with zstd
);
ALTER TABLE document ALTER COLUMN document SET STORAGE EXTERNAL; -- it is compressed already

-- Each pattern's levels, to find results by them.
CREATE TABLE result_level (
    factor     text COLLATE "C" NOT NULL,
    level      text COLLATE "C" NOT NULL,
    started_at bigint NOT NULL,
    result     text COLLATE "C" NOT NULL REFERENCES result,
    PRIMARY KEY (factor, level, started_at, result)
);
CREATE INDEX result_level_by_result ON result_level (result);

-- Names and addresses of client and server, to find results by them.
CREATE TABLE result_endpoint (
    endpoint   text COLLATE "C" NOT NULL,
    started_at bigint NOT NULL,
    result     text COLLATE "C" NOT NULL REFERENCES result,
    PRIMARY KEY (endpoint, started_at, result)
);
CREATE INDEX result_endpoint_by_result ON result_endpoint (result);

CREATE TABLE campaign (
    id          text COLLATE "C" PRIMARY KEY,
    name        text COLLATE "C" NOT NULL,
    title       text COLLATE "C" NOT NULL,
    started_at  bigint NOT NULL,
    finished_at bigint, -- NULL while trials are left
    plan        text COLLATE "C" NOT NULL,
    seed        bigint NOT NULL,
    patterns    bigint NOT NULL,
    trials      bigint NOT NULL,
    done        bigint NOT NULL,
    failed      bigint NOT NULL
);
CREATE INDEX campaign_by_start ON campaign (started_at, id);
CREATE INDEX campaign_by_name ON campaign (name, started_at, id);

-- +goose Down
DROP TABLE campaign;
DROP TABLE result_endpoint;
DROP TABLE result_level;
DROP TABLE document;
DROP TABLE result;
