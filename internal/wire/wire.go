// Package wire holds what every protocol offers to a trial: a [Session] with
// the far end. It says who speaks what and nothing about how fast; the packets
// of a measurement are moved by the engines. Each protocol is a package below
// this one. It starts no goroutines.
package wire

import (
	"context"
	"crypto/tls"
	"net"
	"net/netip"

	"soku/internal/engine"
	"soku/internal/measure"
)

// Request is what a client asks of a server.
type Request struct {
	Test    measure.Test
	Options measure.Options // effective
	Token   string          // empty: none
	TLS     *tls.Config     // nil: control without TLS
	IPerf3  IPerf3          // for a server of iperf3
	// LocalPort is where the first data connection to a server of Ethr leaves from,
	// and each other from one more; 0: wherever the system likes.
	LocalPort int
	// Row is how many round trips a server of Ethr sums up at a time, in a latency test.
	Row int64
}

// Names of the states a session goes through, in order. Queued may be skipped.
const (
	Queued  = "queued"  // the server measures for somebody else first
	Ready   = "ready"   // the server waits for the data connections and the start
	Running = "running" // the engines of both ends move packets
	Done    = "done"    // the server's half is in
)

// State is where a session stands.
type State struct {
	Name     string
	Position int // in the queue, from 1; 0 in any other state
}

// Entry is where a server takes the connections of a connect test.
type Entry struct {
	// Own is the port that the server opened for the session; not valid where
	// it opened none. Nothing is to be sent there before the request.
	Own netip.AddrPort
	// Main is the server's port, where Preamble must come first on every
	// connection, and the server's close must be awaited.
	Main     netip.AddrPort
	Preamble []byte
	// Plain: connections go to Main, carry nothing, and the client ends them.
	Plain bool
}

// Hooks are called while a session lives, from one goroutine of the session;
// they must return within a few milliseconds. Each may be nil.
type Hooks struct {
	State   func(State)
	Observe measure.Observer // intervals counted by the server, which receives
}

// Session is one trial's agreement with a server that is ready to measure.
//
// The order of calls is TCP or UDP, Start, Finish, Close; Close may come at any
// time. One goroutine makes these calls. Every error is a *measure.Error, or
// holds the cause of the context that ended it.
type Session interface {
	// Options are the requested options as the server allows them: a server
	// that limits the rate lowers Rate and says so in Findings. Both ends
	// measure with these.
	Options() measure.Options
	// Findings are the server's remarks on the request.
	Findings() measure.Findings
	// TCP opens the data connections in index order: Options.Streams of them,
	// twice as many for bidirectional (forward first), Options.Flows for latency,
	// none for connect, tcp.ProbeConnections more with latency under load.
	TCP(ctx context.Context) ([]*net.TCPConn, error)
	// UDP opens the same number of connected datagram sockets and proves the
	// return path of each.
	UDP(ctx context.Context) ([]net.Conn, error)
	// Entry is where the connections of a connect test go.
	Entry() Entry
	// Start returns when the server has begun.
	Start(ctx context.Context) error
	// Finish says that this end is finished and has counted own, waits for the
	// server's half and returns it. The half of a server that failed has its Error
	// set; that of a protocol in which nothing is told has no flows.
	Finish(ctx context.Context, own *measure.End) (*measure.End, error)
	// FlowPolicy is how the engines are to move the bytes of the test, at this end.
	FlowPolicy() engine.FlowPolicy
	// Server is what the server told about its host in the handshake.
	Server() *measure.Host
	// Protocol is the name and version of the protocol, such as "soku/1".
	Protocol() string
	// Err delivers one error if the server goes away or aborts before it
	// delivered its half; otherwise nothing.
	Err() <-chan error
	// Close ends everything at both ends, the connections of TCP and UDP
	// included. Safe at any time and more than once.
	Close() error
}
