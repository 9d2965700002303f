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
	"slices"
	"sync"
	"time"

	"soku/internal/engine/filecopy"
	"soku/internal/measure"
	"soku/internal/sock"
	"soku/internal/wire/native"
)

// Config is what an operator decides. The zero value listens on a port the
// system picks, on all addresses, without limits and without a log.
type Config struct {
	Listen      string           // host:port, for TCP and UDP; an empty host is all addresses
	Device      string           // network interface that clients come through; empty: any
	MaxClients  int              // concurrent sessions, more are refused; with Exclusive: sessions that may wait. 0: no limit
	Exclusive   bool             // one session at a time; others wait in a queue, first come first
	MaxDuration measure.Duration // longest session that is accepted, omitted start included; 0: no limit
	MaxRate     measure.Rate     // highest rate of a test (in each direction of a native one; see limit.go); 0: no limit
	Allow       []netip.Prefix   // clients that are served; nil: all
	Access      Access           // who is served and for which session; nil: everybody
	TLS         *tls.Config      // for the control API, which is then refused without; nil: no TLS
	PlainToo    bool             // with TLS: clients without it are served, too
	CopyRoot    *filecopy.Root   // takes the files of copies, and is closed by whoever opened it; nil: no copies
	Version     string           // of this program, for clients to see
	Foreign     []Foreign        // protocols of other tools, asked in this order whether they know a client
	Only        Protocol         // the one protocol that is served, on the server's own port; nil: soku's and those of Foreign
	Portable    bool             // separate UDP peers in the server, as on systems whose kernel cannot
	Log         *slog.Logger     // one line at the start and at the end of a session; nil: none
}

// CopyMaxTenth stands for a tenth of what is free on the disk, or no limit if the system does not
// report that.
const CopyMaxTenth measure.Size = -1

// OpenCopyRoot opens the folder that takes the files of copies, which may take that much of it
// together; 0 is no limit. What killed servers left in it is removed.
func (c *Config) OpenCopyRoot(folder string, most measure.Size) (err error) {
	if c.CopyRoot, err = filecopy.OpenRoot(folder); err != nil {
		return err
	}
	if most == CopyMaxTenth {
		most = 0
		if free, known := c.CopyRoot.Free(); known {
			most = measure.Size(max(1, free/10))
		}
	}
	c.CopyRoot.Limit(int64(most))
	return nil
}

// CloseCopyRoot closes the folder of copies, if there is one.
func (c *Config) CloseCopyRoot() {
	if c.CopyRoot != nil {
		_ = c.CopyRoot.Close()
	}
}

// Bounds on what connections may hold before they belong to a session.
const (
	maxUnclassified = 1024 // connections whose first bytes are awaited
	maxControl      = 4096 // control connections in addition to two for each of MaxClients
	maxIdle         = 3072 // of them without an events stream: each takes about 25 kB of memory
	maxPending      = 1024 // sessions without an attached client
)

// times are the limits a client must keep; tests shorten them.
type times struct{ sniff, attach, data, start, grace, heartbeat, silence, reattach time.Duration }

var defaultTimes = times{
	native.SniffTimeout, native.AttachTimeout, native.DataTimeout, native.StartTimeout,
	native.FinishGrace, native.Heartbeat, native.Silence, native.ReattachTimeout,
}

// Server serves on the port it was made for. Its methods may be called from any
// goroutine.
type Server struct {
	cfg          Config
	log          *slog.Logger
	engines      engines
	own          *port
	foreign      []*port     // each of one protocol
	protocols    []*protocol // of what comes to a shared port, in this order
	handlers     []Handler   // of other tools' protocols
	http         *http.Server
	control      *handoff
	sessions     *registry
	queue        *admission
	refusals     refusals
	facts        *factsCache
	details      *factsCache
	unclassified *openConns
	descriptors  *descriptors
	secret       [32]byte // keys the nonces of the UDP handshake
	times        times
	detaching    sync.Mutex     // held while a session loses its client
	live         sync.WaitGroup // one count for a session

	base context.Context // parent of every session; ends with Serve
	stop context.CancelCauseFunc
}

// New listens and returns. Errors are *measure.Error: of kind usage when the
// address is wrong or taken, permission when the port is not allowed.
func New(cfg Config) (*Server, error) {
	return newServer(cfg, realEngines())
}

func newServer(cfg Config, e engines) (*Server, error) {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	inKernel := demuxInKernel && !cfg.Portable
	own, err := openPort(nil, cfg.Listen, cfg.Device, inKernel)
	if err != nil {
		return nil, err
	}
	s := &Server{
		cfg: cfg, log: cfg.Log, engines: e, own: own,
		sessions: newRegistry(),
		queue:    &admission{max: cfg.MaxClients, exclusive: cfg.Exclusive},
		facts:    &factsCache{read: e.facts, age: factsAge, log: cfg.Log},
		times:    defaultTimes,
	}
	s.details = &factsCache{age: factsAge, log: cfg.Log, read: func(ctx context.Context, local netip.Addr) measure.Facts {
		return measure.Facts{Details: e.details(ctx, s.facts.get(ctx, local))}
	}}
	s.engines.CopyRoot = cfg.CopyRoot
	s.limitDescriptors(sock.OpenFiles())
	s.base, s.stop = context.WithCancelCause(context.Background())
	s.http = s.newHTTP()
	s.protocols = s.native()
	if cfg.Only != nil {
		own.protocol = s.speak(cfg.Only)
	}
	if err := s.openForeign(inKernel); err != nil {
		s.closePorts()
		return nil, err
	}
	_, _ = rand.Read(s.secret[:]) // never fails
	return s, nil
}

// limitDescriptors bounds what may be open by the process's limit on descriptors, 0 for none.
func (s *Server) limitDescriptors(limit int) {
	d := newDescriptors(limit)
	s.descriptors = d
	s.unclassified = newOpenConns(s.log, d.share(maxUnclassified, 8))
	s.control = newHandoff(s.own.tcp.Addr(), d.share(maxControl+2*s.cfg.MaxClients, 2))
	s.control.limit.maxEvictable = maxIdle
	if d.total > 0 {
		s.control.limit.room = func() int { return d.left() - s.unclassified.limit.most }
	}
	d.open = func() int { return s.unclassified.limit.open() + s.control.limit.open() }
}

func (s *Server) closePorts() {
	for _, at := range s.ports() {
		at.close()
	}
}

// Addr is the address and port that TCP and UDP listen on.
func (s *Server) Addr() netip.AddrPort { return s.own.addr }

// ErrShutdown is why what runs when [Server.Serve] ends is ended.
var ErrShutdown = errors.New("the server is shutting down")

func shutdown() error {
	return measure.Fail(measure.KindBroken, "server.shutdown", nil).WithCause(ErrShutdown)
}

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
		run(func() error { return guardLoop(s.log, func() error { return s.readUDP(at) }) })
	}
	// The details need the facts: the first client waits for neither.
	helpers.Go(func() { s.details.get(s.base, s.own.addr.Addr().Unmap()) })
	var err error
	select {
	case <-ctx.Done():
	case err = <-failed:
	}
	for _, at := range ports {
		_ = at.tcp.Close()
	}
	s.unclassified.closeAll()
	s.stop(shutdown())
	s.sessions.close()
	s.live.Wait()

	// Handlers now write the last event of their session, immediately unless the
	// client does not read.
	flush, cancel := context.WithTimeout(context.Background(), time.Second)
	_ = s.http.Shutdown(flush)
	cancel()
	_ = s.http.Close()
	s.control.closeAll()
	s.closePorts()
	helpers.Wait()
	s.unclassified.wait()
	for _, h := range s.handlers {
		h.Close()
	}
	s.control.wait()
	s.details.work.Wait() // which may read facts
	s.facts.work.Wait()
	return err
}

func (s *Server) serveHTTP() error {
	err := s.http.Serve(s.control)
	if errors.Is(err, http.ErrServerClosed) || errors.Is(err, net.ErrClosed) {
		return nil
	}
	return measure.Fail(measure.KindInternal, "server.serve", measure.Figures{"address": s.own.addr.String(), "cause": err})
}

// allowed reports whether clients at a are served at all.
func (s *Server) allowed(a netip.Addr) bool {
	if len(s.cfg.Allow) == 0 {
		return true
	}
	a = a.Unmap().WithZone("")
	return slices.ContainsFunc(s.cfg.Allow, func(p netip.Prefix) bool { return p.Contains(a) })
}

func (s *Server) limits() native.Limits {
	return native.Limits{
		MaxClients: s.cfg.MaxClients, Exclusive: s.cfg.Exclusive,
		MaxDuration: s.cfg.MaxDuration, MaxRate: s.cfg.MaxRate,
	}
}
