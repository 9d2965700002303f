-- Pages of a pair of endpoints, of all tests and of one, and the newest result of each pair.
--
-- The index of all results in order of time is on an expression, so that only queries for all results use it: for a page of
-- an old campaign PostgreSQL would read all results that are newer, as it takes those of the campaign for spread evenly.

-- +goose Up
CREATE INDEX result_by_pair ON result (client, server, started_at, id);
CREATE INDEX result_by_test_and_pair ON result (test, client, server, started_at, id);
DROP INDEX result_by_start;
CREATE INDEX result_by_start ON result ((started_at + 0), id);
