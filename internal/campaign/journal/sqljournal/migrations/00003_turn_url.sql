-- Where the hub that serves is reached.

-- +goose Up
ALTER TABLE hub_turn ADD COLUMN url TEXT NOT NULL DEFAULT '';

-- +goose Down
ALTER TABLE hub_turn DROP COLUMN url;
