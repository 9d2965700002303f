// Package ingest converts the output of other programs into results: iperf3, iperf2, ntttcp,
// Ethr, ping, fping, sockperf, netperf, nuttcp, mtr, latte, PsPing, lagscope and cps, and tables in CSV with a
// mapping file.
// docs/reference/ingest.md describes what is read from each format and what is missing from a
// result.
//
// A result has only the figures of its source; what the source does not give is absent and
// listed in the result's origin. Percentiles without a histogram stay percentiles.
//
// Files are untrusted input: their size, lines, nesting and number of records are limited,
// and every decoder has a fuzz target. A file is ingested completely or not at all. The
// package opens no files and starts no goroutines.
package ingest
