// Package ntttcp speaks the protocol of ntttcp for Linux: the words that its ends
// exchange over the sync connection, at both ends, and the client's session of a
// trial. It moves no measured bytes. docs/reference/ntttcp.md specifies what is
// spoken.
//
// A receiver listens on ports B, B+1, ... for data and on B-1 for the sync
// connection. A word is 32 bits, big endian:
//
//	sender                      receiver
//	'X'            ->
//	               <-           state: 11 not started, 12 running, 13 finished
//	seconds        ->
//	               <-           seconds that both run; 0 is until interrupted
//	               (data connections are made)
//	'R' or 'L'     ->
//	               <-           'R' go; 'W' wait for a second word; 'E' no
//	               (bytes go over the data connections)
//	'E'            ->           the sender ends before the time
//	               <-           state
//
// No word tells what is meant by it: 88 is a state to ask for and a number of
// seconds. So both ends here go by the order.
//
// Goroutines: a [Registry] has one a sync connection, which end before Serve returns.
// A [Sync] and a session have none.
package ntttcp
