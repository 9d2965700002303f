-- The tables are the same in SQLite and PostgreSQL. Times are ms since 1970 by the database's clock.

-- +goose Up
CREATE TABLE fleet_agent (
    id         TEXT PRIMARY KEY NOT NULL, -- public half of its key
    name       TEXT NOT NULL,   -- for people; not unique
    labels     TEXT NOT NULL,   -- JSON; those of the token by which it joined last
    platform   TEXT NOT NULL,
    program    TEXT NOT NULL,
    token      TEXT NOT NULL,   -- hash of the token by which it joined last
    joined_at  BIGINT NOT NULL, -- for the first time
    seen_at    BIGINT NOT NULL, -- when it joined or renewed its JWT last
    revoked_at BIGINT NOT NULL  -- 0: it may connect
);
CREATE INDEX fleet_agent_revoked_at ON fleet_agent (revoked_at);

CREATE TABLE fleet_token (
    hash       TEXT PRIMARY KEY NOT NULL, -- SHA-256, hexadecimal; the token itself is nowhere
    labels     TEXT NOT NULL,             -- JSON
    uses       BIGINT NOT NULL,           -- how many agents may join by it
    used       BIGINT NOT NULL,           -- how many have
    made_at    BIGINT NOT NULL,
    expires_at BIGINT NOT NULL
);

-- +goose Down
DROP TABLE fleet_token;
DROP TABLE fleet_agent;
