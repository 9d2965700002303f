// Package exchange keeps what two programs said to each other over the network
// as a text file, and plays one of the two for a test of the other: what soku
// speaks is tested against the bytes of programs that are not there.
//
// A file holds the steps in the order in which they were seen between the two,
// a line each:
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
// A step begins with the number of its connection and with who took it: ">" is
// the client, which opens connections, "<" the server. Bytes are hexadecimal;
// "+" goes on where the line before stopped. "more" stands for bytes that were
// not written down, "end" and "reset" for the end of a direction. Every datagram
// is a step of its own.
//
// [Relay] stands between two programs and writes such a file; test/record makes a
// program of it. [Player] plays one end, over what [Listen] or a dialer gives it;
// [Service] is a far end that no program knows.
// None of it is part of soku itself: only tests use it.
//
// Goroutines: a relay has one a direction, a player one for each run of bytes that
// were not written down, [Ports] one a UDP port; all have ended when Run, Play or
// Close return. Service has one a connection, which ends with what is done with it.
package exchange
