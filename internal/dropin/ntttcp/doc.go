// Package ntttcp is the command line of ntttcp for Linux over soku's own engines:
// the same options, the same text, XML and JSON, so that scripts and parsers that
// were written for it go on working, and both ends work with the real ones. What
// is different is in docs/reference/ntttcp.md.
//
// [Parse] reads a command line, [Run] does what it says. Package wire/ntttcp speaks
// with the other end, engine/bulk moves the bytes, package host has the counters.
//
// The names of options and elements and the lines of text are ntttcp's, for they
// are what others read; all code and explanations are soku's.
//
// Goroutines: Run starts those of a sender or receiver and waits for all of them.
package ntttcp
