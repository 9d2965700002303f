-- Pages of a pair of endpoints, of all tests and of one, and the newest result of each pair.

-- +goose Up
CREATE INDEX result_by_pair ON result (client, server, started_at, id);
CREATE INDEX result_by_test_and_pair ON result (test, client, server, started_at, id);
