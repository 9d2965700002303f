// Package ntttcp speaks the protocol of ntttcp for Linux: the words of the sync
// connection, at both ends, and the client's session of a trial. It moves no measured
// bytes. docs/reference/ntttcp.md specifies the protocol.
//
// A receiver listens on ports B, B+1, ... for data and on B-1 for the sync
// connection. A word is 32 bits, big endian:
//
//	sender                      receiver
//	'X'            ->
//	               <-           state: 11 not started, 12 running, 13 finished
//	seconds        ->
//	               <-           seconds that both run; 0: until interrupted
//	               (data connections are opened)
//	'R' or 'L'     ->
//	               <-           'R' start; 'W' wait for a second word; 'E' refused
//	               (bytes go over the data connections)
//	'E'            ->           the sender ends early
//	               <-           state
//
// A word has no type: 88 is a request for the state and a number of seconds. So both ends
// here go by the order of the words.
//
// Goroutines: a [Registry] has one per sync connection, which end before Serve returns. A
// [Sync] and a session have none.
package ntttcp
