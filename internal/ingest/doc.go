// Package ingest turns what other programs left into results: the output of
// iperf3, iperf2, ntttcp, Ethr, ping, sockperf and netperf, and tables in CSV
// that a mapping file explains. docs/reference/ingest.md says what is read of
// each format and what a result made from it lacks.
//
// It makes no figure up. A result holds what its source says; what the source
// does not say stays absent and is named in the result's origin. Percentiles
// without a histogram stay percentiles.
//
// Files are hostile: their size, lines, nesting and number of records are
// bounded, and every decoder has a fuzz target. A file goes in whole or not at
// all. The package opens no files and starts no goroutines.
package ingest
