-- A result and its rows in the other tables are written in one transaction and deleted in one. A check of each such row
-- against its result took 45 % of the time of writing it.

-- +goose Up
ALTER TABLE document DROP CONSTRAINT document_id_fkey;
ALTER TABLE result_level DROP CONSTRAINT result_level_result_fkey;
ALTER TABLE result_endpoint DROP CONSTRAINT result_endpoint_result_fkey;
