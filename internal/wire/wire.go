// Package wire defines the interface of every protocol to a trial: a [Session] with the
// other end. Protocols exchange control messages; the engines move the measured packets.
// Each protocol is a package below this one. It starts no goroutines.
package wire

import (
	"context"
	"crypto/tls"
	"net"
	"net/netip"
	"time"

	"soku/internal/engine"
	"soku/internal/measure"
)

// Request is a client's request to a server.
type Request struct {
	Test    measure.Test
	Options measure.Options // effective
	Token   string          // empty: none
	TLS     *tls.Config     // nil: control without TLS
	IPerf3  IPerf3          // for a server of iperf3
	// LocalPort is the local port of the first data connection to an Ethr server, one
	// more for each further connection; 0: any.
	LocalPort int
	// Row is the number of round trips in a batch of an Ethr latency test.
	Row int64
}

// Names of the states a session goes through, in order. Queued may be skipped.
const (
	Queued  = "queued"  // the server is busy with other clients
	Ready   = "ready"   // the server waits for the data connections and the start
	Running = "running" // the engines of both ends move packets
	Done    = "done"    // the server's half has arrived
)

// State is the state of a session.
type State struct {
	Name     string
	Position int // in the queue, from 1; 0 in any other state
}

// Entry is where a server takes the connections of a connect test.
type Entry struct {
	// Own is the port that the server opened for the session; invalid if it opened
	// none. Nothing must be sent there before the request.
	Own netip.AddrPort
	// Main is the server's port, where every connection begins with Preamble and the
	// client waits for the server to close it.
	Main     netip.AddrPort
	Preamble []byte
	// Plain: connections go to Main, carry no data, and the client closes them.
	Plain bool
}

// Hooks are called while a session lives, from one goroutine of the session;
// they must return within a few milliseconds. Each may be nil.
type Hooks struct {
	State   func(State)
	Observe measure.Observer // intervals counted by the server, which receives
}

// Session is one trial's session with a server that is ready to measure.
//
// The order of calls is TCP or UDP, Start, Finish, Close; Close may come at any
// time. One goroutine makes these calls. Every error is a *measure.Error, or
// holds the cause of the context that ended it.
type Session interface {
	// Options are the requested options as the server allows them: a server that
	// limits the rate lowers Rate and reports it in Findings. Both ends measure with
	// these.
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
	// Start returns when the server has started.
	Start(ctx context.Context) error
	// Finish reports that this end has finished with the counts own, waits for the
	// server's half and returns it. The half of a failed server has its Error set; in
	// a protocol without reports it has no flows.
	Finish(ctx context.Context, own *measure.End) (*measure.End, error)
	// FlowPolicy is how the engines must move the bytes of the test at this end.
	FlowPolicy() engine.FlowPolicy
	// Server is what the server reported about its host in the handshake.
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

// Ender is a [Session] that needs the moment at which this end's flows ended. Ended is
// called once, as soon as they have without an error, and before Finish. It must return
// within a few milliseconds.
type Ender interface {
	Ended()
}

// Resumer is a [Session] that may open data connections again that were cut.
type Resumer interface {
	// Reconnect returns the way to open them, or nil if the server does not take them.
	Reconnect() *engine.Reconnect
	// ControlCuts are those of the control connection until now.
	ControlCuts() ControlCuts
}

// ControlCuts are the cuts of a control connection that was opened again.
type ControlCuts struct {
	Cuts            int
	Lasted, Longest time.Duration // all together, and the longest
}
