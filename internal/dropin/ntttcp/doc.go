// Package ntttcp is the command line of ntttcp for Linux over soku's own engines:
// the same options, the same text, XML and JSON, so that scripts and parsers that
// were written for it continue to work, and both ends work with real ntttcp.
// docs/reference/ntttcp.md lists the differences.
//
// [Parse] reads a command line, [Run] runs it. Package wire/ntttcp speaks the protocol,
// engine/bulk moves the bytes, package host has the counters.
//
// The names of options and elements and the lines of text are ntttcp's, because other
// programs read them; all code and explanations are soku's.
//
// Goroutines: Run starts those of a sender or receiver and waits for all of them.
package ntttcp
