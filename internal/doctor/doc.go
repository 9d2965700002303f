// Package doctor finds what on a host, on a path and at its far end will spoil or limit a
// measurement, before it is made, and can change some settings and restore them.
//
// [Look] reads ([Readings]) and compares what it read with thresholds ([Checks], [PathChecks]): a
// check is a pure function, one entry of a table, in a file a group. A source that cannot be read
// costs the checks that need it and nothing else: they say why they did not look. Sentences are
// made elsewhere (package text), and docs/reference/doctor.md describes every check.
//
// Nothing is changed unless [Fix] is called, and nothing that a restart of the system would keep;
// [Undo] restores by the [Record] of it. Look starts goroutines that end with it, but for one that
// a hanging source keeps.
package doctor
