// Package ethr is the command line of Ethr over soku's own engines: the same options,
// tables and log file, so that scripts written for Ethr continue to work.
// docs/reference/ethr.md describes what it supports and what is different.
//
// [Parse] reads a command line into [Settings], [Run] runs it. The names of options, the
// members of the log and the lines of the tables are Ethr's, because other programs read
// them; all code and explanations are soku's.
//
// Goroutines: those of the engines and the server it runs; Run waits for all.
package ethr
