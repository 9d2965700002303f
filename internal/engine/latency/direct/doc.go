// Package direct moves the messages of the latency test past the Go net poller, on Linux.
// [OpenBlocking] makes blocking system calls through the runtime. [Open] runs whole loops
// outside of it: a closed loop, an open loop that spins, or the echo, each in slices of up
// to 60 ms that are one long system call to the runtime
// ([soku/internal/sock/longcall]). Only between two slices does a loop count in
// [requests.Counts], check its context and meet Go code. In such a closed loop the kernel
// can also stamp departing messages, so that a round trip is split into path and hosts.
//
// The package starts no goroutine or thread. A loop of a [Looper] needs a system thread of
// its own ([soku/internal/sock.OwnThread]), and other calls of a blocking link a goroutine
// that is locked to its thread; the caller, which also pins them, provides both.
package direct
