// Package iperf3 is the command line of iperf3 over soku's own engines: the same
// options, the same text, the same JSON, so that scripts and parsers that were
// written for iperf3 go on working. What it takes and what is different is in
// docs/reference/soku-iperf3.md; the table there is made from the table here.
//
// [Parse] reads a command line into [Settings]. Two writers turn what happened
// ([Start], [Interval], [End]) into text or JSON. It moves no bytes and speaks no
// protocol: package trial does the one, wire/iperf3 the other.
//
// The option names, the members of the documents and the lines of the text are
// iperf3's, for they are what others read; all code and explanations are soku's.
package iperf3
