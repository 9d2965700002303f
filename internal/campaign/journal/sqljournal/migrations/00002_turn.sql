-- Which of several hubs of one database serves, in its one row.

-- +goose Up
CREATE TABLE hub_turn (
    only_row    BIGINT PRIMARY KEY NOT NULL,
    holder      TEXT NOT NULL,   -- empty: none
    held_until  BIGINT NOT NULL, -- ms since 1970 by the database's clock
    fence       BIGINT NOT NULL  -- counts the holders
);
INSERT INTO hub_turn (only_row, holder, held_until, fence) VALUES (1, '', 0, 0);

-- +goose Down
DROP TABLE hub_turn;
