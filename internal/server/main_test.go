package server

import (
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"soku/internal/engine"
	"soku/internal/engine/connect"
	"soku/internal/engine/flows"
	"soku/internal/host"
	"soku/internal/host/series"
	"soku/internal/measure"
	"soku/internal/measure/option"
	"soku/internal/tests"
	"soku/internal/wire"
	"soku/internal/wire/native"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// prompt is what an immediate answer may take on a busy machine.
const prompt = 2 * time.Second

// secret is the token of servers under test that want one.
const secret = "sesame"

// running is a server under test.
type running struct {
	*Server
	t    *testing.T
	addr string
	tls  *tls.Config // of clients
	stop func()      // ends Serve and waits for it
	logs *logBuffer
}

type logBuffer struct {
	mu sync.Mutex
	b  strings.Builder
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// serve runs a server with fakes for the engines on loopback until the test ends.
func serve(t *testing.T, cfg Config, change ...func(*Server)) *running {
	t.Helper()
	return serveWith(t, cfg, fakes(), change...)
}

func serveWith(t *testing.T, cfg Config, e engines, change ...func(*Server)) *running {
	t.Helper()
	logs := &logBuffer{}
	cfg.Log = slog.New(slog.NewTextHandler(logs, &slog.HandlerOptions{Level: slog.LevelDebug}))
	if cfg.Listen == "" {
		cfg.Listen = "127.0.0.1:0"
	}
	s, err := newServer(cfg, e)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range change {
		c(s)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx) }()
	stop := sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
	t.Cleanup(stop)
	return &running{Server: s, t: t, addr: s.Addr().String(), stop: stop, logs: logs}
}

// portable makes a server separate UDP peers itself.
func portable(s *Server) { s.own.demux = newDemux(s.own.udp) }

// eventually waits for a condition that nothing announces.
func eventually(t *testing.T, limit time.Duration, what string, ok func() bool) {
	t.Helper()
	deadline := time.Now().Add(limit)
	for !ok() {
		if time.Now().After(deadline) {
			t.Fatalf("after %s: %s", limit, what)
		}
		time.Sleep(2 * time.Millisecond)
	}
}

// free waits until nothing of any session is left.
func (r *running) free() {
	r.t.Helper()
	eventually(r.t, prompt, "sessions are left", func() bool {
		running, waiting := r.queue.snapshot()
		return r.sessions.len() == 0 && len(running) == 0 && len(waiting) == 0
	})
}

// fakes move bytes like engines, as simply as can be.
func fakes() engines {
	return engines{Engines: tests.Engines{
		Flows: flows.Engines{
			SendTCP: func(ctx context.Context, conns []*net.TCPConn, o measure.Options, f engine.Flow) (measure.FlowEnd, error) {
				return each(ctx, conns, f.Direction, measure.Sender, func(c *net.TCPConn) (int64, error) {
					n, err := writeFor(c, o, int64(o.Bytes)/int64(len(conns)))
					if err == nil {
						err = c.CloseWrite()
					}
					return n, err
				})
			},
			ReceiveTCP: func(ctx context.Context, conns []*net.TCPConn, o measure.Options, f engine.Flow) (measure.FlowEnd, error) {
				return each(ctx, conns, f.Direction, measure.Receiver, func(c *net.TCPConn) (int64, error) { return readAll(c, f) })
			},
			SendUDP: func(ctx context.Context, conns []net.Conn, o measure.Options, f engine.Flow) (measure.FlowEnd, error) {
				return each(ctx, conns, f.Direction, measure.Sender, func(c net.Conn) (int64, error) { n, err := c.Write([]byte("end")); return int64(n), err })
			},
			ReceiveUDP: func(ctx context.Context, conns []net.Conn, o measure.Options, f engine.Flow) (measure.FlowEnd, error) {
				return each(ctx, conns, f.Direction, measure.Receiver, func(c net.Conn) (int64, error) {
					var n int64
					buf := make([]byte, 2000)
					for {
						k, err := c.Read(buf)
						n += int64(k)
						if err != nil || string(buf[:k]) == "end" {
							return n, err
						}
					}
				})
			},
		},
		Listen: connect.Listen,
		Echo: func(ctx context.Context, conns []net.Conn, _ measure.Options, _ engine.Flow, _ func(int64)) (measure.Timing, error) {
			c := conns[0]
			defer context.AfterFunc(ctx, func() { _ = c.SetDeadline(time.Unix(1, 0)) })()
			buf := make([]byte, 2000)
			for {
				n, err := c.Read(buf)
				if err != nil {
					return measure.Timing{Socket: "fake"}, err
				}
				if _, err := c.Write(buf[:n]); err != nil {
					return measure.Timing{Socket: "fake"}, err
				}
			}
		},
	},
		facts: func(context.Context, netip.Addr) measure.Facts {
			return measure.Facts{OS: "linux", Arch: "amd64", Hostname: "fake"}
		},
		details: func(context.Context, measure.Facts) measure.Details {
			return measure.Details{Cloud: &measure.Cloud{Provider: "azure", InstanceType: "Standard_D8s_v5"}}
		},
		watch: func(string) func(host.Moved) measure.Counters {
			return func(host.Moved) measure.Counters { return measure.Counters{WallNs: 1} }
		},
		sample: func(series.Config) func() *measure.Series {
			return func() *measure.Series {
				return measure.NewSeries(measure.SeriesValues{AtNs: []int64{0, 1}, Columns: map[string][]int64{"fake": {7}}})
			}
		},
	}
}

// each runs f for every connection, ends it with ctx, and counts bytes.
func each[C net.Conn](ctx context.Context, conns []C, d measure.Direction, role measure.Role, f func(C) (int64, error)) (measure.FlowEnd, error) {
	end := measure.FlowEnd{Direction: d, Role: role, Streams: make([]measure.Stream, len(conns)), Samples: []measure.Sample{}}
	errs := make([]error, len(conns))
	var wg sync.WaitGroup
	for i, c := range conns {
		wg.Go(func() {
			defer context.AfterFunc(ctx, func() { _ = c.SetDeadline(time.Unix(1, 0)) })()
			n, err := f(c)
			end.Streams[i].Index = i
			if role == measure.Sender {
				end.Streams[i].SentBytes = n
			} else {
				end.Streams[i].ReceivedBytes = n
			}
			errs[i] = err
		})
	}
	wg.Wait()
	return end, errors.Join(errs...)
}

func writeFor(c net.Conn, o measure.Options, limit int64) (int64, error) {
	buf := make([]byte, 16<<10)
	var n int64
	for end := time.Now().Add(o.Duration.Std()); limit > 0 && n < limit || limit == 0 && time.Now().Before(end); {
		if limit > 0 {
			buf = buf[:min(int64(len(buf)), limit-n)]
		}
		k, err := c.Write(buf)
		n += int64(k)
		if err != nil {
			return n, err
		}
	}
	return n, nil
}

func readAll(c net.Conn, f engine.Flow) (int64, error) {
	var n int64
	buf := make([]byte, 64<<10)
	for {
		k, err := c.Read(buf)
		n += int64(k)
		if k > 0 {
			f.Observe(measure.Progress{Direction: f.Direction, Role: measure.Receiver, Bytes: int64(k)})
		}
		switch {
		case err == nil:
		case err.Error() == "EOF":
			return n, nil
		default:
			return n, err
		}
	}
}

// client is a session seen from outside, with what its hooks heard.
type client struct {
	wire.Session
	t       *testing.T
	options measure.Options
	heard   *heard
}

type heard struct {
	mu     sync.Mutex
	states []wire.State
	bytes  int64
}

func (h *heard) hooks() wire.Hooks {
	return wire.Hooks{
		State:   func(s wire.State) { h.mu.Lock(); h.states = append(h.states, s); h.mu.Unlock() },
		Observe: func(p measure.Progress) { h.mu.Lock(); h.bytes += p.Bytes; h.mu.Unlock() },
	}
}

func (h *heard) names() (names []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, s := range h.states {
		if len(names) == 0 || names[len(names)-1] != s.Name {
			names = append(names, s.Name)
		}
	}
	return names
}

func (h *heard) position() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.states) == 0 {
		return 0
	}
	return h.states[len(h.states)-1].Position
}

// tcpOptions are effective options of a short TCP test.
func tcpOptions(change ...func(*measure.Options)) measure.Options {
	return options(measure.TestTCP, append([]func(*measure.Options){func(o *measure.Options) { o.Bytes = 100_000 }}, change...)...)
}

func options(test measure.Test, change ...func(*measure.Options)) measure.Options {
	o := option.Defaults(test)
	for _, c := range change {
		c(&o)
	}
	o, err := option.Effective(o, test)
	if err != nil {
		panic(err)
	}
	return o
}

func (r *running) request(test measure.Test, o measure.Options) wire.Request {
	return wire.Request{Test: test, Options: o, Token: secret, TLS: r.tls}
}

func (r *running) open(test measure.Test, o measure.Options) *client {
	r.t.Helper()
	h := &heard{}
	s, err := native.Open(r.t.Context(), r.addr, r.request(test, o), h.hooks())
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { _ = s.Close() })
	return &client{Session: s, t: r.t, options: s.Options(), heard: h}
}

// tcp opens the data connections or fails the test.
func (c *client) tcp() []*net.TCPConn {
	c.t.Helper()
	conns, err := c.TCP(c.t.Context())
	if err != nil {
		c.t.Fatal(err)
	}
	return conns
}

func (c *client) udp() []net.Conn {
	c.t.Helper()
	conns, err := c.UDP(c.t.Context())
	if err != nil {
		c.t.Fatal(err)
	}
	return conns
}

func (c *client) start() {
	c.t.Helper()
	if err := c.Start(c.t.Context()); err != nil {
		c.t.Fatal(err)
	}
}

func (c *client) finish() *measure.End {
	c.t.Helper()
	end, err := c.Finish(c.t.Context(), nil)
	if err != nil {
		c.t.Fatal(err)
	}
	if end.Error != nil {
		c.t.Fatalf("the server's half: %v", end.Error)
	}
	return end
}

// aborted waits for the error of a session that the server ends.
func (c *client) aborted(limit time.Duration) error {
	c.t.Helper()
	select {
	case err := <-c.Err():
		return err
	case <-time.After(limit):
		c.t.Fatalf("no error in %s", limit)
		return nil
	}
}

func (r *registry) len() int {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return len(r.byID)
}
