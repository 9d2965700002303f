package server

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"soku/internal/engine"
	"soku/internal/engine/udp"
	"soku/internal/measure"
	"soku/internal/measure/finding"
	"soku/internal/wire"
	"soku/internal/wire/native"
	"soku/test/tier"
)

// refused opens a session that the server must refuse.
func (r *running) refused(test measure.Test, o measure.Options, kind measure.Kind, parts ...string) {
	r.t.Helper()
	s, err := native.Open(r.t.Context(), r.addr, r.request(test, o), wire.Hooks{})
	if err == nil {
		_ = s.Close()
		r.t.Fatal("not refused")
	}
	var e *measure.Error
	if !errors.As(err, &e) || e.Kind != kind {
		r.t.Errorf("kind %s, want %s: %v", measure.KindOf(err), kind, err)
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			r.t.Errorf("%q does not say %q", err, part)
		}
	}
}

func TestMoreClientsThanAllowedAreRefusedUntilOneEnds(t *testing.T) {
	s := serve(t, Config{MaxClients: 2})
	first := s.open(measure.TestTCP, tcpOptions())
	s.open(measure.TestTCP, tcpOptions())
	s.refused(measure.TestTCP, tcpOptions(), measure.KindRefused, "busy: 2 of 2 clients", "--max-clients")
	_ = first.Close()
	eventually(t, prompt, "the place is not free", func() bool { running, _ := s.queue.snapshot(); return len(running) == 1 })
	s.open(measure.TestTCP, tcpOptions())
}

func TestAPlaceIsFreeWhenTheClientHasItsHalf(t *testing.T) {
	s := serve(t, Config{MaxClients: 1})
	for range 20 {
		c := s.open(measure.TestTCP, tcpOptions())
		conns := c.tcp()
		c.start()
		_ = conns[0].CloseWrite()
		c.finish() // no Close before the next
	}
}

func TestExclusiveClientsWaitInAVisibleQueue(t *testing.T) {
	s := serve(t, Config{Exclusive: true, MaxClients: 3})
	current := s.open(measure.TestTCP, tcpOptions())
	type waiter struct {
		heard *heard
		open  chan wire.Session
	}
	var waiters []waiter
	for i := range 3 {
		w := waiter{&heard{}, make(chan wire.Session, 1)}
		go func() {
			session, err := native.Open(t.Context(), s.addr, s.request(measure.TestTCP, tcpOptions()), w.heard.hooks())
			if err != nil {
				t.Error(err)
			}
			w.open <- session
		}()
		eventually(t, prompt, "not queued", func() bool { return w.heard.position() == i+1 })
		waiters = append(waiters, w)
	}
	s.refused(measure.TestTCP, tcpOptions(), measure.KindRefused, "busy", "3 of 3 already wait")

	var info native.Info
	var queue native.Queue
	s.get(native.InfoPath, &info)
	s.get(native.QueuePath, &queue)
	if info.Running != 1 || info.Queue != 3 || len(queue.Running) != 1 || len(queue.Waiting) != 3 || queue.Waiting[2].Position != 3 {
		t.Errorf("info %+v, queue %+v", info, queue)
	}
	for i, w := range waiters {
		_ = current.Close()
		session := <-w.open
		if session == nil {
			t.FailNow()
		}
		current = &client{Session: session}
		for j, behind := range waiters[i+1:] {
			eventually(t, prompt, "the position was not reported", func() bool { return behind.heard.position() == j+1 })
		}
		if names := w.heard.names(); names[0] != wire.Queued || names[len(names)-1] != wire.Ready {
			t.Errorf("states %v", names)
		}
	}
	_ = current.Close()
	s.free()
}

func TestAWaitingClientThatGivesUpLeavesTheQueue(t *testing.T) {
	s := serve(t, Config{Exclusive: true})
	s.open(measure.TestTCP, tcpOptions())
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	begin := time.Now()
	if _, err := native.Open(ctx, s.addr, s.request(measure.TestTCP, tcpOptions()), wire.Hooks{}); err == nil {
		t.Fatal("opened")
	}
	if d := time.Since(begin); d > prompt {
		t.Errorf("took %s", d)
	}
	eventually(t, prompt, "it still waits", func() bool { _, waiting := s.queue.snapshot(); return len(waiting) == 0 })
}

func TestALongerTestThanAllowedIsRefusedWithTheLimit(t *testing.T) {
	s := serve(t, Config{MaxDuration: measure.Duration(10 * time.Second)})
	long := options(measure.TestTCP, func(o *measure.Options) { o.Omit = measure.Duration(time.Second) })
	s.refused(measure.TestTCP, long, measure.KindRefused, "11s", "allows 10s", "--duration")
	request, _ := json.Marshal(native.CreateRequest{Test: measure.TestTCP, Options: long})
	answer := s.do(http.MethodPost, native.SessionsPath, http.Header{"Content-Type": {"application/json"}}, bytes.NewReader(request))
	var got struct{ Error map[string]any }
	if err := native.DecodeBody(answer.Body, native.MaxReply, &got); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"kind": "refused", "code": "server.max_duration", "figures": map[string]any{"duration_ns": 11e9, "limit_ns": 10e9},
		"message": "the test would take 11s and this server allows 10s (--max-duration)",
		"hint":    "ask for --duration 10s or less, omitted start included, or start the server with a larger --max-duration",
	}
	if !reflect.DeepEqual(got.Error, want) {
		t.Errorf("got %v\nwant %v", got.Error, want)
	}
	s.open(measure.TestTCP, options(measure.TestTCP))
}

func TestAnAmountIsCutOffByTheLongestTimeAllowed(t *testing.T) {
	s := serve(t, Config{MaxDuration: measure.Duration(200 * time.Millisecond)})
	c := s.open(measure.TestTCP, tcpOptions())
	conns := c.tcp()
	c.start()
	_, _ = conns[0].Write(make([]byte, 10)) // and never the rest
	err := c.aborted(prompt)
	if measure.KindOf(err) != measure.KindRefused || !strings.Contains(err.Error(), "200ms") || !strings.Contains(err.Error(), "--max-duration") {
		t.Errorf("got %v", err)
	}
	s.free()
}

func TestATestWithADurationIsServedNoLongerThanTheServerAllows(t *testing.T) {
	t.Parallel()
	tier.SpendsSeconds(t)
	limit := measure.Duration(500 * time.Millisecond)
	s := serve(t, Config{MaxDuration: limit})
	c := s.open(measure.TestTCP, options(measure.TestTCP, func(o *measure.Options) { o.Duration = limit / 2 }))
	conns := c.tcp()
	c.start()
	_, _ = conns[0].Write(make([]byte, 10)) // and it never ends
	if err := c.aborted(LongestServed(limit) + prompt); measure.KindOf(err) != measure.KindRefused || !strings.Contains(err.Error(), "--max-duration") {
		t.Errorf("got %v", err)
	}
	s.free()
}

func TestARateOverTheLimitIsLoweredAndReported(t *testing.T) {
	s := serve(t, Config{MaxRate: 1_000_000})
	for asked, figures := range map[measure.Rate]measure.Figures{
		0: {"rate_bps": 1_000_000}, 5_000_000: {"rate_bps": 1_000_000, "requested_bps": 5_000_000},
	} {
		want := measure.NewFinding(finding.ServerLoweredRate, measure.AtServer, figures)
		c := s.open(measure.TestTCP, tcpOptions(func(o *measure.Options) { o.Rate = asked; o.Bytes = 1000 }))
		if c.Options().Rate != 1_000_000 {
			t.Errorf("%s: rate %s", asked, c.Options().Rate)
		}
		conns := c.tcp()
		c.start()
		_ = conns[0].CloseWrite()
		end := c.finish()
		for where, found := range map[string]measure.Findings{"session": c.Findings(), "half": end.Findings} {
			if len(found) != 1 || !found[0].Equal(want) {
				t.Errorf("%s: findings of the %s: %+v, want %+v", asked, where, found, want)
			}
		}
		if len(end.Warnings) != 0 {
			t.Errorf("a client that reads findings also got sentences: %q", end.Warnings)
		}
	}
	if c := s.open(measure.TestTCP, tcpOptions(func(o *measure.Options) { o.Rate = 1000 })); c.Options().Rate != 1000 || c.Findings() != nil {
		t.Errorf("a rate within the limit: %s, %+v", c.Options().Rate, c.Findings())
	}
	c := s.open(measure.TestLatency, options(measure.TestLatency, func(o *measure.Options) { o.Size, o.RequestRate = 125, 5000 }))
	if c.Options().RequestRate != 1000 || len(c.Findings().With(finding.ServerLoweredRequests)) != 1 {
		t.Errorf("latency: %v, %+v", c.Options().RequestRate, c.Findings())
	}
}

func TestAClientThatCannotBeSlowedDownToTheRateIsEnded(t *testing.T) {
	s := serveWith(t, Config{MaxRate: 8_000_000}, realEngines())
	for name, c := range map[string]struct {
		test measure.Test
		o    measure.Options
		send func(context.Context, []net.Conn, measure.Options)
		want []string
	}{
		"datagrams": {
			measure.TestUDP, options(measure.TestUDP),
			func(ctx context.Context, conns []net.Conn, o measure.Options) {
				o.Rate *= 20
				_, _ = udp.Send(ctx, conns, o, engine.Flow{})
			},
			[]string{"sends faster than 8.000 Mbit/s", "--max-rate"},
		},
		"messages": {
			measure.TestLatency, options(measure.TestLatency, func(o *measure.Options) { o.Size = 10_000 }),
			func(_ context.Context, conns []net.Conn, _ measure.Options) {
				go func() { _, _ = io.Copy(io.Discard, conns[0]) }()
				for b := make([]byte, 1<<20); ; {
					if _, err := conns[0].Write(b); err != nil {
						return
					}
				}
			},
			[]string{"more than 8.000 Mbit/s", "--max-rate", "--request-rate 100 or less"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			session := s.open(c.test, c.o)
			var conns []net.Conn
			if c.test == measure.TestUDP {
				conns = session.udp()
			} else {
				for _, one := range session.tcp() {
					conns = append(conns, one)
				}
			}
			session.start()
			ctx, cancel := context.WithCancel(t.Context())
			var sender sync.WaitGroup
			sender.Go(func() { c.send(ctx, conns, session.Options()) })
			err := session.aborted(10 * time.Second)
			cancel()
			_ = session.Close()
			sender.Wait()
			said := fmt.Sprint(err, measure.AsError(err, measure.KindInternal).Hint)
			for _, want := range c.want {
				if measure.KindOf(err) != measure.KindRefused || !strings.Contains(said, want) {
					t.Errorf("%q does not say %q", said, want)
				}
			}
		})
	}
	s.free()
}

func TestOptionsAreCheckedAgainOnTheServer(t *testing.T) {
	s := serve(t, Config{})
	o := tcpOptions()
	o.Streams = 5000
	s.refused(measure.TestTCP, o, measure.KindUsage, "streams")
	s.refused("nonsense", measure.Options{}, measure.KindUsage, "unknown test")
	s.refused(measure.TestPing, options(measure.TestPing), measure.KindUsage, "needs no server")
}

func TestASocketOptionThatTheServerCannotSetIsReported(t *testing.T) {
	s := serve(t, Config{})
	o := tcpOptions(func(o *measure.Options) { o.Direction = measure.Reverse })
	c := s.open(measure.TestTCP, o)
	running, _ := s.queue.snapshot()
	running[0].(*session).options.Congestion = "no-such-thing" // as if only the server lacked it
	_, err := c.TCP(t.Context())
	var e *measure.Error
	if !errors.As(err, &e) || e.Code != "server.here" || e.Cause == nil || e.Message != "on the server: "+e.Cause.Message || !strings.Contains(e.Message, "congestion") {
		t.Errorf("got %v", err)
	}
	s.free()
}

func TestAnInvalidPreambleOpensNothing(t *testing.T) {
	s := serve(t, Config{})
	x := s.raw(tcpOptions())
	x.attach()
	good := native.Preamble{Version: native.Version, Kind: native.KindData, Key: x.created.Key}
	try := func(name string, change func(*native.Preamble), want native.Status, wantAnswer bool) {
		p := good
		change(&p)
		if status, answered := x.dial(p); answered != wantAnswer || answered && status != want {
			t.Errorf("%s: status %d, answered %v", name, status, answered)
		}
	}
	try("unknown key", func(p *native.Preamble) { p.Key[0]++ }, 0, false)
	try("other version", func(p *native.Preamble) { p.Version = 9 }, native.StatusVersion, true)
	try("other kind", func(p *native.Preamble) { p.Kind = 9 }, native.StatusRefused, true)
	try("index out of range", func(p *native.Preamble) { p.Index = 1 }, native.StatusRefused, true)
	try("good", func(*native.Preamble) {}, native.StatusOK, true)
	try("taken", func(*native.Preamble) {}, native.StatusRefused, true)
}

func TestAQueuedSessionCannotOpenDataConnections(t *testing.T) {
	s := serve(t, Config{Exclusive: true})
	s.open(measure.TestTCP, tcpOptions())
	x := s.raw(tcpOptions())
	x.attach()
	if status, ok := x.dial(native.Preamble{Version: native.Version, Kind: native.KindData, Key: x.created.Key}); !ok || status != native.StatusRefused {
		t.Errorf("status %d, %v", status, ok)
	}
}

func TestSessionsWithoutAnAttachedClientAreLimited(t *testing.T) {
	r := newRegistry()
	s := serve(t, Config{})
	for i := range maxPending + 1 {
		ss, err := newSession(s.base)
		if err != nil {
			t.Fatal(err)
		}
		err = r.add(ss, &s.live)
		if (err != nil) != (i == maxPending) {
			t.Fatalf("session %d: %v", i, err)
		}
		if err == nil {
			defer s.live.Done()
		}
	}
}

func TestAPortInUseIsReported(t *testing.T) {
	s := serve(t, Config{})
	_, err := New(Config{Listen: s.addr})
	if measure.KindOf(err) != measure.KindUsage || !strings.Contains(err.Error(), s.addr) || !strings.Contains(err.Error(), "another") {
		t.Errorf("got %v", err)
	}
	if _, err := New(Config{Listen: "nonsense"}); measure.KindOf(err) != measure.KindUsage {
		t.Errorf("got %v", err)
	}
	// Another test's connection may hold the same number for TCP.
	for range 20 {
		u, err := net.ListenPacket("udp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		_, err = New(Config{Listen: u.LocalAddr().String()})
		_ = u.Close()
		if err == nil {
			t.Fatal("a UDP port that is taken was taken again")
		}
		if strings.Contains(err.Error(), "(UDP)") {
			return
		}
	}
	t.Error("the error does not name UDP")
}

// A client begins a round trip after its server.
func TestATestMayLastAsLongAsTheServerAllows(t *testing.T) {
	const limit = measure.Duration(10 * time.Second)
	s := &Server{cfg: Config{MaxDuration: limit}}
	for asked, want := range map[measure.Duration]time.Duration{limit: LongestServed(limit), 0: limit.Std()} {
		if got, why := s.timeLimit(&session{options: measure.Options{Duration: asked}}); got != want || measure.KindOf(why) != measure.KindRefused {
			t.Errorf("a test of %v is ended after %v: %v; want %v", asked, got, why, want)
		}
	}
}

// goneClient is a session whose client has no connection.
type goneClient struct{ waiter }

func (goneClient) grant()       {}
func (goneClient) queued(int)   {}
func (goneClient) yields() bool { return true }

func TestAnExclusivePlaceIsNotFreeBeforeEverythingOfItHasEnded(t *testing.T) {
	a := &admission{exclusive: true}
	for want := range 3 {
		if position, err := a.enter(&goneClient{}); err != nil || position != want {
			t.Errorf("client %d is at %d of the queue: %v", want, position, err)
		}
	}
}

func TestCopiesMayTakeATenthOfTheDisk(t *testing.T) {
	var c Config
	if err := c.OpenCopyRoot(t.TempDir(), CopyMaxTenth); err != nil {
		t.Fatal(err)
	}
	defer c.CloseCopyRoot()
	free, known := c.CopyRoot.Free()
	if most := float64(c.CopyRoot.Most()); known && (most < 0.05*float64(free) || most > 0.2*float64(free)) { // others write, too
		t.Errorf("%g of %d free bytes", most, free)
	}
}
