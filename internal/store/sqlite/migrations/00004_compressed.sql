-- A document that its sender compressed stays compressed; the column document is empty then.

-- +goose Up
ALTER TABLE document ADD COLUMN zstd BLOB;
