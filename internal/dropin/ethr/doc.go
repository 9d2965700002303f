// Package ethr is the command line of Ethr over soku's own parts: the same options,
// tables and log file, so that scripts that were written for Ethr go on working.
// docs/reference/ethr.md says what it takes and what is different.
//
// [Parse] reads a command line into [Settings], [Run] does what it says. The names
// of options, the members of the log and the lines of the tables are Ethr's, for they
// are what others read; all code and explanations are soku's.
//
// Goroutines: those of the engines and the server it runs; Run waits for all.
package ethr
