// Package iperf3 is the command line of iperf3 over soku's own engines: the same
// options, the same text, the same JSON, so that scripts and parsers that were
// written for iperf3 continue to work. docs/reference/soku-iperf3.md describes what it
// supports and what is different; the table there is generated from the table here.
//
// [Parse] reads a command line into [Settings]. Two writers turn what happened
// ([Start], [Interval], [End]) into text or JSON. Package trial moves the bytes, package
// wire/iperf3 speaks the protocol.
//
// The option names, the members of the documents and the lines of the text are
// iperf3's, because other programs read them; all code and explanations are soku's.
package iperf3
