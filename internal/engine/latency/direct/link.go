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

import (
	"context"
	"errors"
	"syscall"
	"time"

	"soku/internal/engine"
	"soku/internal/engine/latency/requests"
	"soku/internal/measure"
)

// ErrTick means that a read or write waited for a whole tick: time to check the context
// and the time-outs.
var ErrTick = errors.New("nothing happened for a tick")

// ErrSilent means that the client was silent for so long that its echo needs no thread until the next
// message.
var ErrSilent = errors.New("the client is silent")

// Link moves bytes over a connection and never waits for longer than a tick. One
// goroutine may read while another writes.
type Link interface {
	// Read returns one datagram (truncated to len(b)) or available bytes of the stream,
	// ErrTick, io.EOF at the end of a stream, or the system's error.
	Read(b []byte) (int, error)
	// Write sends a datagram or a part of b; ErrTick if the queue was full for a tick.
	Write(b []byte) (int, error)
	// Stamp enables arrival time stamps, which Late uses.
	Stamp()
	// Late returns how long before the end of the last read its bytes had reached this
	// host, or 0 if unknown.
	Late() time.Duration
	// Release restores the socket.
	Release()
	// Busy reports whether reads never sleep, so that the link needs a processor.
	Busy() bool
	// Blocking reports whether calls block an OS thread, which should then be the
	// caller's own.
	Blocking() bool
	// Timing is who takes the times of what arrives, and how a read waits.
	Timing() measure.Timing
}

// Looper is a link that runs whole loops by itself, on a system thread of their own. Its
// error may be one of the connection, a [requests.Failure] or the cause of ctx.
type Looper interface {
	Link
	// Split enables stamps of departing requests and arriving replies, of which the
	// program has the parts of a round trip; false if it cannot. iface is the outgoing
	// interface, if known.
	Split(iface string) bool
	// Ask is the closed loop over links in turn, of which this is the first and which are
	// all from [Open].
	Ask(ctx context.Context, c *requests.Counts, links []Link) error
	// AskOnSchedule is the open loop of a link that spins: it polls for replies until the
	// next request is due. It restarts the clock of c.
	AskOnSchedule(ctx context.Context, c *requests.Counts) error
	// Answer is the echo over links, of which this is the first and which are all from
	// [Open]. Several must spin.
	Answer(ctx context.Context, links []Link, size int, farTimes bool, limit engine.Limit) error
	// Park waits for the next message after Answer returned [ErrSilent], outside of the loop's
	// thread. Its error is the cause of ctx, or one of the connection.
	Park(ctx context.Context) error
	// MayRest lets the echo sleep after the client was silent for a while, and Answer over one
	// link end with [ErrSilent] after it was silent for longer. It is called
	// before the loop has its own thread, which sees no descriptors opened later.
	MayRest(after, silent time.Duration)
	// Socket is what the loop's thread must keep open.
	Socket() syscall.RawConn
}
