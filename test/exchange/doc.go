// Package exchange records the network traffic between two programs as a text file, and
// replays one end for a test of the other: soku's protocols are tested against recorded
// bytes of programs that need not be installed.
//
// A file has the steps in the order in which they were seen between the two, one per
// line:
//
//	soku exchange 1
//	# a remark
//	note what was run
//	1 > open tcp 8888
//	1 > 00000004ca11ab1e
//	+ 00ff
//	1 < more 65536
//	1 > reset
//
// A step begins with the number of its connection and the end that took it: ">" is the
// client, which opens connections, "<" the server. Bytes are hexadecimal; "+" continues
// the previous line. "more" stands for bytes that were counted and not recorded, "end" and
// "reset" for the end of a direction. Every datagram is a step.
//
// [Relay] is placed between two programs and writes such a file; test/record is the
// program for it. [Player] replays one end, over connections from [Listen] or a dialer;
// [Service] is a server of an unknown protocol. Only tests use this package.
//
// Goroutines: a relay has one per direction, a player one for each run of bytes that were
// not recorded, [Ports] one per UDP port; all have ended when Run, Play or Close return.
// Service has one per connection, which ends with its function.
package exchange
