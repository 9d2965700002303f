package server

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"soku/internal/measure"
	"soku/internal/wire"
	"soku/internal/wire/native"
	"soku/test/tier"
)

// raw is a client that does each step of the protocol by hand, so that it can
// die between any two.
type raw struct {
	t       *testing.T
	addr    string
	conn    net.Conn // creates and then carries the events
	in      *bufio.Reader
	created native.Created
	data    []net.Conn
	tls     *tls.Config // of control connections; nil: none
}

func (r *running) raw(o measure.Options) *raw {
	r.t.Helper()
	c, err := net.Dial("tcp", r.addr)
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { _ = c.Close() })
	x := &raw{t: r.t, addr: r.addr, conn: c, in: bufio.NewReader(c)}
	body, _ := json.Marshal(native.CreateRequest{Test: measure.TestTCP, Options: o})
	response := x.ask(x.conn, x.in, http.MethodPost, native.SessionsPath, string(body))
	if err := native.DecodeBody(response.Body, native.MaxReply, &x.created); err != nil || response.StatusCode != http.StatusCreated {
		r.t.Fatalf("create: %d, %v", response.StatusCode, err)
	}
	return x
}

func (x *raw) ask(c net.Conn, in *bufio.Reader, method, path, body string) *http.Response {
	x.t.Helper()
	path = strings.Replace(path, "{id}", x.created.ID, 1)
	_, _ = fmt.Fprintf(c, "%s %s HTTP/1.1\r\nHost: soku\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", method, path, len(body), body)
	request, _ := http.NewRequest(method, "http://soku"+path, nil)
	_ = c.SetReadDeadline(time.Now().Add(5 * time.Second))
	response, err := http.ReadResponse(in, request)
	if err != nil {
		x.t.Fatalf("%s %s: %v", method, path, err)
	}
	return response
}

func (x *raw) attach() {
	x.t.Helper()
	response := x.ask(x.conn, x.in, http.MethodGet, native.EventsPath, "")
	if response.StatusCode != http.StatusOK {
		x.t.Fatalf("events: %d", response.StatusCode)
	}
	x.in = bufio.NewReader(response.Body)
}

func (x *raw) event() *native.Event {
	x.t.Helper()
	_ = x.conn.SetReadDeadline(time.Now().Add(5 * time.Second))
	e, err := native.ReadEvent(x.in, func() int { return 1 << 20 })
	if err != nil {
		x.t.Fatal(err)
	}
	return e
}

// last reads to the end of the events.
func (x *raw) last() *native.Event {
	x.t.Helper()
	for {
		if e := x.event(); e.Last() {
			return e
		}
	}
}

// dial opens a data connection with any preamble and returns the answer;
// false when the server closed it without one.
func (x *raw) dial(p native.Preamble) (status native.Status, answered bool) {
	x.t.Helper()
	c, err := net.Dial("tcp", x.addr)
	if err != nil {
		x.t.Fatal(err)
	}
	x.t.Cleanup(func() { _ = c.Close() })
	x.data = append(x.data, c)
	_, _ = c.Write(p.Append(nil))
	_ = c.SetReadDeadline(time.Now().Add(5 * time.Second))
	var b [1]byte
	n, _ := c.Read(b[:])
	return native.Status(b[0]), n == 1
}

func (x *raw) open(index int) {
	x.t.Helper()
	p := native.Preamble{Version: native.Version, Kind: native.KindData, Index: uint16(index), Key: x.created.Key}
	if status, ok := x.dial(p); status != native.StatusOK || !ok {
		x.t.Fatalf("data connection %d: status %d, %v", index, status, ok)
	}
}

// control opens another control connection.
func (x *raw) control() net.Conn {
	x.t.Helper()
	c, err := net.Dial("tcp", x.addr)
	if err != nil {
		x.t.Fatal(err)
	}
	x.t.Cleanup(func() { _ = c.Close() })
	if x.tls != nil {
		return tls.Client(c, x.tls)
	}
	return c
}

func (x *raw) start() {
	x.t.Helper()
	c := x.control()
	defer c.Close()
	if r := x.ask(c, bufio.NewReader(c), http.MethodPost, native.StartPath, ""); r.StatusCode != http.StatusOK {
		x.t.Fatalf("start: %d", r.StatusCode)
	}
}

// die is what the death of a process looks like: its kernel closes everything.
func (x *raw) die() {
	_ = x.conn.Close()
	for _, c := range x.data {
		_ = c.Close()
	}
}

func TestAClientThatDiesFreesEverythingAndTheNextOneGetsItsTurn(t *testing.T) {
	tier.SpendsSeconds(t)
	two := tcpOptions(func(o *measure.Options) { o.Streams = 2 })
	for _, phase := range []struct {
		name string
		live func(*raw)
	}{
		{"created", func(*raw) {}},
		{"attached", func(x *raw) { x.attach() }},
		{"half of the data connections", func(x *raw) { x.attach(); x.open(0) }},
		{"all data connections", func(x *raw) { x.attach(); x.open(0); x.open(1) }},
		{"started", func(x *raw) { x.attach(); x.open(0); x.open(1); x.start() }},
		{"in mid-transfer", func(x *raw) {
			x.attach()
			x.open(0)
			x.open(1)
			x.start()
			_, _ = x.data[0].Write(make([]byte, 30_000))
			for x.event().Event != native.EventInterval {
			}
		}},
		{"only the events stream, in mid-transfer", func(x *raw) {
			x.attach()
			x.open(0)
			x.open(1)
			x.start()
			_, _ = x.data[0].Write(make([]byte, 30_000))
			x.data = nil // these live on until the test ends
		}},
	} {
		t.Run(phase.name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, Config{Exclusive: true})
			first := s.raw(two)
			phase.live(first)
			h := &heard{}
			type opened struct {
				session wire.Session
				err     error
			}
			next := make(chan opened, 1)
			go func() {
				session, err := native.Open(t.Context(), s.addr, s.request(measure.TestTCP, tcpOptions()), h.hooks())
				next <- opened{session, err}
			}()
			eventually(t, prompt, "the second does not wait", func() bool { return h.position() == 1 })
			first.die()
			died := time.Now()
			select {
			case o := <-next:
				if o.err != nil {
					t.Fatal(o.err)
				}
				t.Logf("its turn came after %s", time.Since(died).Round(time.Millisecond))
				_ = o.session.Close()
			case <-time.After(prompt):
				t.Fatal("the next client did not get its turn")
			}
			s.free()
		})
	}
}

func TestAClientThatDiesInTheQueueLeavesIt(t *testing.T) {
	s := serve(t, Config{Exclusive: true})
	s.open(measure.TestTCP, tcpOptions())
	second, third := s.raw(tcpOptions()), s.raw(tcpOptions())
	second.attach()
	third.attach()
	if e := third.event(); e.Event != native.EventQueued || e.Position != 2 {
		t.Fatalf("third: %+v", e)
	}
	second.die()
	if e := third.event(); e.Event != native.EventQueued || e.Position != 1 {
		t.Errorf("after the death of the second: %+v", e)
	}
}

func TestASessionThatLetsATimePassIsFreed(t *testing.T) {
	t.Parallel()
	tier.SpendsSeconds(t)
	short := 150 * time.Millisecond
	two := tcpOptions(func(o *measure.Options) { o.Streams = 2 })
	t.Run("nobody attaches", func(t *testing.T) {
		s := serve(t, Config{}, func(s *Server) { s.times.attach = short })
		s.raw(two)
		s.free()
	})
	t.Run("data connections do not come", func(t *testing.T) {
		s := serve(t, Config{}, func(s *Server) { s.times.data = short })
		x := s.raw(two)
		x.attach()
		x.open(0)
		if e := x.last(); e.Event != native.EventAborted || !strings.Contains(e.Error.Message, "data connections") {
			t.Errorf("%+v", e)
		}
		s.free()
	})
	t.Run("it is not started", func(t *testing.T) {
		s := serve(t, Config{}, func(s *Server) { s.times.start = short })
		x := s.raw(tcpOptions())
		x.attach()
		x.open(0)
		if e := x.last(); e.Event != native.EventAborted || !strings.Contains(e.Error.Message, "not started") {
			t.Errorf("%+v", e)
		}
		s.free()
	})
	t.Run("the client does not say that it is finished", func(t *testing.T) {
		s := serve(t, Config{}, func(s *Server) { s.times.grace = short })
		x := s.raw(tcpOptions())
		x.attach()
		x.open(0)
		x.start()
		_ = x.data[0].(*net.TCPConn).CloseWrite()
		if e := x.last(); e.Event != native.EventDone || e.End.Error != nil {
			t.Errorf("%+v", e)
		}
		s.free()
	})
}

func TestASessionOutlivesItsCreatingConnectionLongEnoughToAttachOverAnother(t *testing.T) {
	s := serve(t, Config{})
	x := s.raw(tcpOptions())
	_ = x.conn.Close()
	c, err := net.Dial("tcp", s.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	x.conn, x.in = c, bufio.NewReader(c)
	x.attach()
	if e := x.event(); e.Event != native.EventReady {
		t.Errorf("%+v", e)
	}
}

func TestAnUnreadEventsStreamHoldsUpNoEngineAndNoMemory(t *testing.T) {
	s := serve(t, Config{})
	x := s.raw(tcpOptions())
	x.attach()
	running, _ := s.queue.snapshot()
	out := running[0].(*session).out
	begin := time.Now()
	for range 100_000 {
		out.interval(measure.Progress{Streams: make([]int64, 32)})
	}
	if d := time.Since(begin); d > prompt {
		t.Errorf("took %s", d)
	}
	out.mu.Lock()
	defer out.mu.Unlock()
	if len(out.events) > maxIntervals {
		t.Errorf("%d events wait", len(out.events))
	}
}

func TestDeleteReturnsWhenEverythingIsFree(t *testing.T) {
	s := serve(t, Config{})
	x := s.raw(tcpOptions())
	x.attach()
	x.open(0)
	c, err := net.Dial("tcp", s.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if r := x.ask(c, bufio.NewReader(c), http.MethodDelete, native.SessionPath, ""); r.StatusCode != http.StatusNoContent {
		t.Errorf("status %d", r.StatusCode)
	}
	if n := s.sessions.len(); n != 0 {
		t.Errorf("%d sessions are left", n)
	}
	if e := x.last(); e.Event != native.EventAborted {
		t.Errorf("%+v", e)
	}
}

func TestAClientGetsTheReasonWhenItsServerDies(t *testing.T) {
	s := serve(t, Config{})
	c := s.open(measure.TestTCP, tcpOptions())
	// The kernel of a killed process closes its sockets without a last event.
	s.control.closeAll()
	err := c.aborted(prompt)
	if measure.KindOf(err) != measure.KindBroken || !strings.Contains(err.Error(), "went away") {
		t.Errorf("got %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), prompt)
	defer cancel()
	if _, err := c.Finish(ctx, nil); err == nil || ctx.Err() != nil {
		t.Errorf("Finish: %v", err)
	}
}
