package server

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"soku/internal/engine"
	"soku/internal/measure"
	"soku/internal/wire/iperf3"
	"soku/internal/wire/native"
)

// Config is what an operator decides. The zero value listens on a port the
// system picks, on all addresses, without limits and without a log.
type Config struct {
	Listen      string                // host:port, for TCP and UDP; an empty host is all addresses
	Device      string                // network interface that clients come through; empty: any
	Pin         measure.Pinning       // processors for tests of iperf3's clients that ask for none
	MaxClients  int                   // sessions at once, more are refused; with Exclusive: sessions that may wait. 0: no limit
	Exclusive   bool                  // one session at a time; others wait in a queue, first come first
	MaxDuration measure.Duration      // longest session that is accepted, omitted start included; 0: no limit
	MaxRate     measure.Rate          // highest rate of a session in each direction; 0: no limit
	Allow       []netip.Prefix        // clients that are served; nil: all
	Token       string                // what control requests must carry; empty: nothing
	TLS         *tls.Config           // for the control API, which is then refused without; nil: no TLS
	Version     string                // of this program, for clients to see
	Foreign     []Foreign             // ports of other protocols
	Users       *iperf3.Guard         // which clients of iperf3 are served; nil: all, or none where Token is set
	Only        string                // the one protocol that is served, on the server's own port; empty: all
	Ethr        EthrHooks             // tell of the tests of Ethr's clients
	IPerf3      func() IPerf3Observer // shows the next test of iperf3's clients; nil: none
	IPerf3Times IPerf3Times           // what such a client may take its time for
	IPerf3Files engine.Contents       // of the streams of such a client, over TCP alone
	Log         *slog.Logger          // one line at the start and at the end of a session; nil: none
}

// Bounds on what connections may hold before they belong to a session.
const (
	maxUnclassified = 1024 // connections whose first bytes are awaited
	maxControl      = 4096 // control connections beside two for each of MaxClients
	maxPending      = 1024 // sessions that nobody has attached to yet
)

// times are the limits a client must keep; tests shorten them.
type times struct{ sniff, attach, data, start, grace, heartbeat, silence time.Duration }

var defaultTimes = times{
	native.SniffTimeout, native.AttachTimeout, native.DataTimeout, native.StartTimeout,
	native.FinishGrace, native.Heartbeat, native.Silence,
}

// Server serves on the port it was made for. Its methods may be called from any
// goroutine.
type Server struct {
	cfg          Config
	log          *slog.Logger
	engines      engines
	*port                // its own
	foreign      []*port // each of one protocol
	http         *http.Server
	control      *handoff
	sessions     *registry
	queue        *admission
	facts        *factsCache
	unclassified *openConns
	ethr         *ethrTests
	iperf3       *iperf3Desk
	secret       [32]byte // keys the nonces of the UDP handshake
	times        times
	live         sync.WaitGroup // one count for a session

	base context.Context // parent of every session; ends with Serve
	stop context.CancelCauseFunc
}

// New listens and returns. Errors are *measure.Error: of kind usage when the
// address is wrong or taken, permission when the port is not allowed.
func New(cfg Config) (*Server, error) {
	return newServer(cfg, realEngines(), demuxInKernel)
}

func newServer(cfg Config, e engines, inKernel bool) (*Server, error) {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	only := called(cfg.Only)
	if cfg.Only != "" && only == nil {
		return nil, measure.Errorf(measure.KindUsage, "no protocol is called %q", cfg.Only)
	}
	own, err := openPort(only, cfg.Listen, cfg.Device, inKernel)
	if err != nil {
		return nil, err
	}
	s := &Server{
		cfg: cfg, log: cfg.Log, engines: e, port: own,
		control:      newHandoff(own.tcp.Addr(), maxControl+2*cfg.MaxClients),
		sessions:     newRegistry(),
		queue:        &admission{max: cfg.MaxClients, exclusive: cfg.Exclusive},
		facts:        &factsCache{read: e.facts, age: factsAge},
		unclassified: &openConns{limit: maxUnclassified},
		iperf3:       newIperf3Desk(),
		times:        defaultTimes,
	}
	s.ethr = newEthrTests(s, cfg.Ethr)
	if err := s.openForeign(inKernel); err != nil {
		s.closePorts()
		return nil, err
	}
	if _, err := rand.Read(s.secret[:]); err != nil {
		return nil, measure.Errorf(measure.KindInternal, "read random bytes: %w", err)
	}
	s.base, s.stop = context.WithCancelCause(context.Background())
	s.http = s.newHTTP()
	return s, nil
}

func (s *Server) closePorts() {
	for _, at := range s.ports() {
		at.close()
	}
}

// Addr is the address and port that TCP and UDP listen on.
func (s *Server) Addr() netip.AddrPort { return s.addr }

var errShutdown = measure.Errorf(measure.KindBroken, "the server is shutting down")

// Serve answers clients until ctx ends, then aborts every session, waits for
// all of them and returns nil. It returns an error when the sockets fail
// without that. It may be called once.
func (s *Server) Serve(ctx context.Context) error {
	var helpers sync.WaitGroup
	ports := s.ports()
	failed := make(chan error, 1+2*len(ports))
	run := func(f func() error) {
		helpers.Go(func() {
			if err := f(); err != nil {
				failed <- err
			}
		})
	}
	run(s.serveHTTP)
	for _, at := range ports {
		run(func() error { return s.accept(at) })
		run(func() error { return s.readUDP(at) })
	}
	helpers.Go(func() { s.ethr.run(s.base) })
	helpers.Go(func() { s.facts.get(s.base, s.addr.Addr().Unmap()) }) // so that the first client does not wait for them
	var err error
	select {
	case <-ctx.Done():
	case err = <-failed:
	}
	for _, at := range ports {
		_ = at.tcp.Close()
	}
	s.unclassified.closeAll()
	s.stop(errShutdown)
	s.sessions.close()
	s.live.Wait()

	// Handlers now write the last event of their session, at once unless the
	// client does not read.
	flush, cancel := context.WithTimeout(context.Background(), time.Second)
	_ = s.http.Shutdown(flush)
	cancel()
	_ = s.http.Close()
	s.control.closeAll()
	s.closePorts()
	helpers.Wait()
	s.unclassified.wait()
	s.ethr.end()
	s.control.wait()
	s.facts.work.Wait()
	return err
}

func (s *Server) serveHTTP() error {
	err := s.http.Serve(s.control)
	if errors.Is(err, http.ErrServerClosed) || errors.Is(err, net.ErrClosed) {
		return nil
	}
	return measure.Errorf(measure.KindInternal, "serve the control API on %s: %w", s.addr, err)
}

// allowed reports whether clients at a are served at all.
func (s *Server) allowed(a netip.Addr) bool {
	if len(s.cfg.Allow) == 0 {
		return true
	}
	a = a.Unmap().WithZone("")
	for _, p := range s.cfg.Allow {
		if p.Contains(a) {
			return true
		}
	}
	return false
}

func (s *Server) limits() native.Limits {
	return native.Limits{
		MaxClients: s.cfg.MaxClients, Exclusive: s.cfg.Exclusive,
		MaxDuration: s.cfg.MaxDuration, MaxRate: s.cfg.MaxRate,
	}
}
