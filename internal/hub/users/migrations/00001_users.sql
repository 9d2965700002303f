-- The tables are the same in SQLite and PostgreSQL. Times are ms since 1970 by the database's clock.

-- +goose Up
CREATE TABLE hub_user (
    name     TEXT PRIMARY KEY NOT NULL,
    role     TEXT NOT NULL,
    password TEXT NOT NULL,   -- argon2id with its parameters; empty: none was set yet
    made_at  BIGINT NOT NULL
);

CREATE TABLE hub_session (
    hash       TEXT PRIMARY KEY NOT NULL, -- SHA-256 of the cookie
    name       TEXT NOT NULL,
    seen_at    BIGINT NOT NULL,
    expires_at BIGINT NOT NULL
);
CREATE INDEX hub_session_name ON hub_session (name);

CREATE TABLE hub_user_token (
    hash       TEXT PRIMARY KEY NOT NULL, -- SHA-256; the token itself is nowhere
    name       TEXT NOT NULL,             -- whose it is
    role       TEXT NOT NULL,             -- at most; the user's may be less
    made_at    BIGINT NOT NULL,
    expires_at BIGINT NOT NULL
);
CREATE INDEX hub_user_token_name ON hub_user_token (name);

CREATE TABLE hub_user_link (
    hash       TEXT PRIMARY KEY NOT NULL, -- SHA-256 of the link's token
    name       TEXT NOT NULL,             -- who sets a password; empty: the first admin, who chooses a name
    expires_at BIGINT NOT NULL
);

CREATE TABLE hub_audit (
    id      TEXT PRIMARY KEY NOT NULL,
    at      BIGINT NOT NULL,
    who     TEXT NOT NULL,
    address TEXT NOT NULL,
    action  TEXT NOT NULL,
    subject TEXT NOT NULL,
    failure TEXT NOT NULL -- code of the failure; empty: it was done
);
CREATE INDEX hub_audit_at ON hub_audit (at, id);

-- +goose Down
DROP TABLE hub_audit;
DROP TABLE hub_user_link;
DROP TABLE hub_user_token;
DROP TABLE hub_session;
DROP TABLE hub_user;
