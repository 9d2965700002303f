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

	"soku/internal/measure"
	"soku/internal/wire/native"
)

// Config is what an operator decides. The zero value listens on a port the
// system picks, on all addresses, without limits and without a log.
type Config struct {
	Listen      string           // host:port, for TCP and UDP; an empty host is all addresses
	MaxClients  int              // sessions at once, more are refused; with Exclusive: sessions that may wait. 0: no limit
	Exclusive   bool             // one session at a time; others wait in a queue, first come first
	MaxDuration measure.Duration // longest session that is accepted, omitted start included; 0: no limit
	MaxRate     measure.Rate     // highest rate of a session in each direction; 0: no limit
	Allow       []netip.Prefix   // clients that are served; nil: all
	Token       string           // what control requests must carry; empty: nothing
	TLS         *tls.Config      // for the control API, which is then refused without; nil: no TLS
	Version     string           // of this program, for clients to see
	Log         *slog.Logger     // one line at the start and at the end of a session; nil: none
}

// Bounds on what connections may hold before they belong to a session.
const (
	maxUntold  = 1024 // connections whose first bytes are awaited
	maxControl = 4096 // control connections beside two for each of MaxClients
	maxPending = 1024 // sessions that nobody has attached to yet
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
	cfg      Config
	log      *slog.Logger
	engines  engines
	tcp      *net.TCPListener
	udp      *net.UDPConn
	addr     netip.AddrPort
	http     *http.Server
	control  *handoff
	sessions *registry
	queue    *admission
	facts    *factsCache
	untold   *openConns
	secret   [32]byte // keys the nonces of the UDP handshake
	demux    *demux   // nil where the kernel tells UDP peers apart
	times    times
	live     sync.WaitGroup // one count for a session

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
	tcp, udp, err := listen(cfg.Listen)
	if err != nil {
		return nil, err
	}
	s := &Server{
		cfg: cfg, log: cfg.Log, engines: e, tcp: tcp, udp: udp,
		addr:     tcp.Addr().(*net.TCPAddr).AddrPort(),
		control:  newHandoff(tcp.Addr(), maxControl+2*cfg.MaxClients),
		sessions: newRegistry(),
		queue:    &admission{max: cfg.MaxClients, exclusive: cfg.Exclusive},
		facts:    &factsCache{read: e.facts, age: factsAge},
		untold:   &openConns{limit: maxUntold},
		times:    defaultTimes,
	}
	if !inKernel {
		s.demux = newDemux(udp)
	}
	if _, err := rand.Read(s.secret[:]); err != nil {
		return nil, measure.Errorf(measure.KindInternal, "read random bytes: %w", err)
	}
	s.base, s.stop = context.WithCancelCause(context.Background())
	s.http = s.newHTTP()
	return s, nil
}

// Addr is the address and port that TCP and UDP listen on.
func (s *Server) Addr() netip.AddrPort { return s.addr }

var errShutdown = measure.Errorf(measure.KindBroken, "the server is shutting down")

// Serve answers clients until ctx ends, then aborts every session, waits for
// all of them and returns nil. It returns an error when the sockets fail
// without that. It may be called once.
func (s *Server) Serve(ctx context.Context) error {
	var helpers sync.WaitGroup
	failed := make(chan error, 3)
	for _, f := range []func() error{s.acceptAll, s.readUDP, s.serveHTTP} {
		helpers.Go(func() {
			if err := f(); err != nil {
				failed <- err
			}
		})
	}
	helpers.Go(func() { s.facts.get(s.base, s.addr.Addr().Unmap()) }) // so that the first client does not wait for them
	var err error
	select {
	case <-ctx.Done():
	case err = <-failed:
	}
	_ = s.tcp.Close()
	s.untold.closeAll()
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
	_ = s.udp.Close()
	helpers.Wait()
	s.untold.wait()
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

// acceptAll takes connections until the listener is closed. Running out of
// file descriptors passes, so it is waited for.
func (s *Server) acceptAll() error {
	for {
		c, err := s.tcp.AcceptTCP()
		switch {
		case errors.Is(err, net.ErrClosed):
			return nil
		case err != nil:
			s.log.Warn("accept a connection", "error", err)
			select {
			case <-time.After(100 * time.Millisecond):
			case <-s.base.Done():
			}
		default:
			s.untold.serve(c, s.tellApart)
		}
	}
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
