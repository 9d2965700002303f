// Package metric is the table of every figure that results have: how it is taken from a result,
// how it combines over trials, in which unit it is, and where reports have it. A test declares
// its metrics as a [Set]; reports, rankings and headlines are made from them.
// docs/reference/metrics.md is generated from the table.
//
// It compares nothing and writes nothing for people. Its tables do not change after start-up and
// may be read by several goroutines.
package metric
