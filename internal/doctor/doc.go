// Package doctor finds host and path problems that will spoil or limit a measurement before it
// is made, on this host, on the path and on the server. It can change some settings and restore
// them.
//
// [Look] reads ([Readings]) and compares what it read with thresholds ([Checks], [PathChecks]): a
// check is a pure function and one entry of a table, and each group has a file. If a source cannot
// be read, only the checks that need it are skipped, and they report the reason. Package text
// makes the sentences, and docs/reference/doctor.md describes every check.
//
// Only [Fix] changes settings, and a restart of the system resets all of them; [Undo] restores
// them from the [Record]. Look starts goroutines that end before it returns, except a goroutine
// that waits in a hanging source.
package doctor
