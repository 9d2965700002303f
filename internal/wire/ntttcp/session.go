package ntttcp

import (
	"context"
	"errors"
	"net"
	"os"
	"strconv"
	"syscall"
	"time"

	"soku/internal/engine"
	"soku/internal/measure"
	"soku/internal/sock"
	"soku/internal/wire"
)

// Name of the protocol in results. The protocol has no version; this is the version of
// the tool.
const Name = "ntttcp/1.4"

// PortsMost is the maximum number of ports of a receiver.
const PortsMost = 512

// session is a trial's session with a receiver.
type session struct {
	hooks   wire.Hooks
	sync    *Sync
	host    string
	base    int
	o       measure.Options
	seconds int
	agreed  int
	conns   []net.Conn

	running bool // started, and not yet ended normally
	several bool // there are other senders
	err     chan error
}

// Open requests a TCP or UDP test of r from the receiver at hostPort, the first of its
// data ports. An error has kind usage for an option that the protocol does not support, or
// kind unreachable, refused or broken.
func Open(ctx context.Context, hostPort string, r wire.Request, h wire.Hooks) (wire.Session, error) {
	if err := speakable(r); err != nil {
		return nil, err
	}
	host, port, err := net.SplitHostPort(hostPort)
	if err != nil {
		return nil, measure.Fail(measure.KindUsage, "ntttcp.malformed", measure.Figures{"address": hostPort})
	}
	base, err := strconv.Atoi(port)
	if err != nil || base < 2 || base > 65535 {
		return nil, measure.Fail(measure.KindUsage, "ntttcp.port", measure.Figures{"address": hostPort})
	}
	s := &session{hooks: h, host: host, base: base, o: r.Options, seconds: secondsOf(r.Options), err: make(chan error, 1)}
	c, err := s.dial(ctx, "tcp", base-1)
	if err != nil {
		return nil, err
	}
	s.sync = NewSync(c)
	if err := s.agree(ctx); err != nil {
		_ = s.Close()
		return nil, err
	}
	if h.State != nil {
		h.State(wire.State{Name: wire.Ready})
	}
	return s, nil
}

// speakable refuses options that the protocol cannot express.
func speakable(r wire.Request) error {
	o := r.Options
	switch {
	case r.Test != measure.TestTCP && r.Test != measure.TestUDP:
		return measure.Fail(measure.KindUsage, "ntttcp.unsupported.test", measure.Figures{"test": r.Test})
	case o.Direction != measure.Forward && o.Direction != "":
		return measure.Fail(measure.KindUsage, "ntttcp.unsupported.direction", measure.Figures{"direction": o.Direction})
	case o.Bytes > 0:
		return measure.Fail(measure.KindUsage, "ntttcp.unsupported.bytes", nil)
	case r.Token != "":
		return measure.Fail(measure.KindUsage, "ntttcp.unsupported.token", nil)
	case r.TLS != nil:
		return measure.Fail(measure.KindUsage, "ntttcp.unsupported.tls", nil)
	case o.Streams > PortsMost:
		return measure.Fail(measure.KindUsage, "ntttcp.unsupported.streams", measure.Figures{"streams": o.Streams, "most": PortsMost})
	}
	return nil
}

// secondsOf is the duration to request: whole seconds, and no number that a receiver
// takes for a command.
func secondsOf(o measure.Options) int {
	all := o.Omit.Std() + o.Duration.Std()
	seconds := int((all + time.Second - 1) / time.Second)
	for Letter(seconds) {
		seconds++
	}
	return max(1, seconds)
}

func (s *session) agree(ctx context.Context) (err error) {
	if err = s.sync.Ask(ctx); err != nil {
		return err
	}
	if s.agreed, err = s.sync.Agree(ctx, s.seconds); err != nil {
		return err
	}
	if short := s.agreed; short > 0 && time.Duration(short)*time.Second < s.o.Omit.Std()+s.o.Duration.Std() {
		return measure.Fail(measure.KindRefused, "ntttcp.shorter", measure.Figures{"host": s.host, "seconds": s.seconds, "receiver_seconds": short})
	}
	return nil
}

func (s *session) dial(ctx context.Context, network string, port int) (net.Conn, error) {
	d, err := sock.DialerFor(network, s.o)
	if err != nil {
		return nil, err
	}
	to := net.JoinHostPort(s.host, strconv.Itoa(port))
	c, err := d.DialContext(ctx, network, to)
	if err != nil {
		return nil, Unreachable(ctx, to, err)
	}
	return c, nil
}

// TCP implements wire.Session. Streams go to the receiver's ports in turn, up to the
// number of streams or of ports.
func (s *session) TCP(ctx context.Context) ([]*net.TCPConn, error) {
	var out []*net.TCPConn
	ports := min(s.o.Streams, 65536-s.base)
	for i := 0; i < s.o.Streams; i++ {
		c, err := s.dial(ctx, "tcp", s.base+i%ports)
		if sock.Refused(err) && i > 0 && i < ports {
			ports = i // the receiver has no more
			c, err = s.dial(ctx, "tcp", s.base)
		}
		if err != nil {
			return nil, err
		}
		s.conns = append(s.conns, c)
		out = append(out, c.(*net.TCPConn))
	}
	return out, nil
}

// UDP implements wire.Session. The receiver sends nothing over UDP, so there is no return
// path to prove; the sync connection has shown that it is a receiver.
func (s *session) UDP(ctx context.Context) ([]net.Conn, error) {
	for i := range s.o.Streams {
		if s.base+i > 65535 {
			return nil, measure.Fail(measure.KindUsage, "ntttcp.ports", measure.Figures{"streams": s.o.Streams, "port": s.base})
		}
		c, err := s.dial(ctx, "udp", s.base+i)
		if err != nil {
			return nil, err
		}
		s.conns = append(s.conns, c)
	}
	return s.conns, nil
}

// Start implements wire.Session.
func (s *session) Start(ctx context.Context) error {
	s.running = true
	err := s.sync.Begin(ctx, false, func() {
		s.several = true
		if s.hooks.State != nil {
			s.hooks.State(wire.State{Name: wire.Queued})
		}
	})
	if err == nil && s.hooks.State != nil {
		s.hooks.State(wire.State{Name: wire.Running})
	}
	return err
}

// Finish implements wire.Session. The receiver reports nothing. If its test is much
// longer, it is sent Exit, unless there are other senders.
func (s *session) Finish(ctx context.Context, _ *measure.End) (*measure.End, error) {
	s.running = false
	if s.several || s.agreed == s.seconds {
		s.sync.Linger(ctx)
	} else {
		s.sync.Exit()
	}
	if s.hooks.State != nil {
		s.hooks.State(wire.State{Name: wire.Done})
	}
	return &measure.End{}, ctx.Err()
}

// FlowPolicy implements wire.Session.
func (s *session) FlowPolicy() engine.FlowPolicy {
	return engine.FlowPolicy{KeepOpen: true, NoPeerReport: true, Datagrams: bare{}}
}

// Close implements wire.Session.
func (s *session) Close() error {
	if s.running && !s.several {
		s.running = false
		s.sync.exit(hurryTime) // an interrupted trial must end soon
	}
	for _, c := range s.conns {
		_ = c.Close()
	}
	return s.sync.Close()
}

// Options implements wire.Session.
func (s *session) Options() measure.Options { return s.o }

// Findings implements wire.Session.
func (*session) Findings() measure.Findings { return nil }

// Entry implements wire.Session: there are no connect tests.
func (s *session) Entry() wire.Entry { return wire.Entry{} }

// Server implements wire.Session: the receiver reports nothing about its host.
func (s *session) Server() *measure.Host { return nil }

// Protocol implements wire.Session.
func (s *session) Protocol() string { return Name }

// Err implements wire.Session. A receiver never sends first; its loss shows on the data
// connections.
func (s *session) Err() <-chan error { return s.err }

// bare is the format of datagrams without a header.
type bare struct{}

func (bare) Size() int                                  { return 1 }
func (bare) PutAll([]byte, int, int, uint64, time.Time) {}
func (bare) Parse([]byte) (uint64, int64, bool, bool)   { return 0, 0, false, false }
func (bare) Fin([]byte, int, uint64, time.Time) int     { return 0 }

// Unreachable is the error for a connection to a receiver's address and port that
// could not be made; it keeps err as its cause.
func Unreachable(ctx context.Context, to string, err error) error {
	if known := wire.Known(ctx, err); known != nil {
		return known
	}
	switch {
	case sock.Refused(err):
		return measure.Fail(measure.KindUnreachable, "dial.refused", measure.Figures{"address": to}).WithHintCode("ntttcp.refused", nil).WithCause(err)
	case sock.TimedOut(err):
		return measure.Fail(measure.KindUnreachable, "dial.no_answer", measure.Figures{"address": to}).WithHintCode("ntttcp.no_answer", nil)
	case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE):
		return measure.Fail(measure.KindPermission, "dial.files", measure.Figures{"address": to}).WithHintCode("dial.files_connections", nil)
	case errors.Is(err, os.ErrPermission):
		return measure.Fail(measure.KindPermission, "dial.forbidden", measure.Figures{"address": to})
	}
	if errno, ok := errors.AsType[syscall.Errno](err); ok {
		err = errno // without the addresses, which the sentence has
	}
	return measure.Fail(measure.KindUnreachable, "dial.failed", measure.Figures{"address": to, "cause": err}).WithHintCode("dial.routes_family", nil)
}
