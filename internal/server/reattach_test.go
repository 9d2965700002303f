package server

import (
	"bufio"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"soku/internal/engine/filecopy"
	"soku/internal/measure"
	"soku/internal/sock"
	"soku/internal/wire"
	"soku/internal/wire/native"
)

// wholeCopy copies through a relay, checks that everything arrived and nothing is left at the
// server, and returns the cuts of the control connection.
func wholeCopy(t *testing.T, r *running, root string, o measure.Options, passes func(data, fromServer bool, b []byte) bool) wire.ControlCuts {
	t.Helper()
	path := newResetter(t, r.addr, passes)
	if r.tls != nil {
		path.mu.Lock()
		path.events = nil
		path.mu.Unlock()
	}
	got := copyThrough(t, path.addr, r, o)
	if got.err != nil || got.half.Error != nil {
		t.Fatalf("%s, %d streams: %v, %+v", o.Direction, o.Streams, got.err, got.half)
	}
	_, sink := got.own, got.half.Copy
	if o.Direction == measure.Reverse {
		sink = got.own
	}
	own := filecopy.OptionsOf(o)
	if last := sink.Stage(); last == nil || last.Files != int64(own.Files) || own.Stage == measure.StageAll && sink.Verified != int64(own.Files) {
		t.Errorf("%s, %d streams: sink %+v", o.Direction, o.Streams, sink)
	}
	if entries, err := os.ReadDir(root); err != nil || len(entries) != 0 {
		t.Errorf("%s: the folder has %v, %v", o.Direction, entries, err)
	}
	r.free()
	return got.control
}

// The second cut comes while the client opens its data connections again.
func TestACopyGoesOnWhenAllItsConnectionsAreReset(t *testing.T) {
	for _, direction := range measure.Directions()[:2] {
		for _, streams := range []int{1, 3} {
			root := t.TempDir()
			r := serveCopies(t, root)
			o := copyOptions(t, func(own *filecopy.Options) { own.Files, own.FileSize = 12, 500_001 })
			o.Direction, o.Streams = direction, streams
			if cuts := wholeCopy(t, r, root, o, afterData(1_000_000, 1_000_050, 4_000_000)); cuts.Cuts < 2 || cuts.Longest <= 0 || cuts.Lasted < cuts.Longest {
				t.Errorf("%s, %d streams: cuts of the control connection %+v", direction, streams, cuts)
			}
		}
	}
}

func TestACopyOverTLSGoesOnWhenAllItsConnectionsAreReset(t *testing.T) {
	pool, config := certificate(t)
	root := t.TempDir()
	r := serveCopiesWith(t, root, Config{TLS: config, Access: WithToken(secret)})
	r.tls = &tls.Config{RootCAs: pool}
	o := copyOptions(t, func(own *filecopy.Options) { own.Files, own.FileSize = 12, 500_001 })
	if cuts := wholeCopy(t, r, root, o, afterData(1_000_000)); cuts.Cuts != 1 {
		t.Errorf("cuts of the control connection %+v", cuts)
	}
}

// When everything is verified, the sink's last byte is lost with all connections.
func TestACopyWhoseLastAnswerIsLostEndsAsOthersDo(t *testing.T) {
	for direction, before := range map[measure.Direction]int{
		measure.Forward: 1 + 1,                   // the answer to the preamble, that of the stage
		measure.Reverse: native.PreambleSize + 1, // the preamble, the answer of the stage
	} {
		root := t.TempDir()
		r := serveCopies(t, root)
		o := copyOptions(t, func(*filecopy.Options) {})
		o.Direction, o.Streams = direction, 1
		moved, lost := 0, false
		wholeCopy(t, r, root, o, func(data, fromServer bool, b []byte) bool {
			if data && fromServer == (direction == measure.Forward) {
				moved += len(b)
			}
			if lost || moved <= before {
				return true
			}
			lost = true
			return false
		})
		if !lost {
			t.Errorf("%s: no answer was lost", direction)
		}
	}
}

// await reads events up to that of a name.
func (x *raw) await(name string) {
	x.t.Helper()
	for x.event().Event != name {
	}
}

// reattach attaches on another connection, and returns the status.
func (x *raw) reattach() (again *raw, status int) {
	x.t.Helper()
	c := x.control()
	y := &raw{t: x.t, addr: x.addr, tls: x.tls, conn: c, in: bufio.NewReader(c), created: x.created}
	response := y.ask(c, y.in, http.MethodGet, native.EventsPath, "")
	y.in = bufio.NewReader(response.Body)
	return y, response.StatusCode
}

// cut resets the connection of the events.
func (x *raw) cut() { reset(x.conn.(*net.TCPConn)) }

func TestTheEventsOfACopyAreForItsClientAlone(t *testing.T) {
	s := serve(t, Config{})
	x := s.rawCopy(true)
	x.await(native.EventRunning)
	stranger := &raw{t: t, addr: s.addr, created: native.Created{ID: strings.Repeat("0", 32)}}
	if _, status := stranger.reattach(); status != http.StatusNotFound {
		t.Errorf("with another id: %d", status)
	}
	plain := s.rawCopy(false)
	plain.await(native.EventRunning)
	if _, status := plain.reattach(); status != http.StatusConflict {
		t.Errorf("without resuming: %d", status)
	}
	for x.event().Event != native.EventAlive { // the client still has its stream
	}

	locked := serve(t, Config{Access: WithToken(secret)})
	response := locked.do(http.MethodGet, strings.Replace(native.EventsPath, "{id}", x.created.ID, 1), http.Header{}, nil)
	if response.StatusCode != http.StatusUnauthorized {
		t.Errorf("without the token: %d", response.StatusCode)
	}
}

// A client that knows of a cut before its server does: the connection that came last counts.
func TestALaterConnectionReplacesTheEventsOfACopy(t *testing.T) {
	s := serve(t, Config{})
	x := s.rawCopy(true)
	x.await(native.EventRunning)
	var both sync.WaitGroup
	attached := []net.Conn{x.control(), x.control()}
	for _, c := range attached {
		both.Go(func() {
			_, _ = fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: soku\r\n\r\n", strings.Replace(native.EventsPath, "{id}", x.created.ID, 1))
			_ = c.SetReadDeadline(time.Now().Add(5 * time.Second))
			if _, err := c.Read(make([]byte, 1)); sock.TimedOut(err) { // one may be replaced before it is answered
				t.Error(err)
			}
		})
	}
	both.Wait()
	z, _ := x.reattach()
	if e := z.event(); e.Event != native.EventAlive {
		t.Errorf("the first event is %+v", e)
	}
	for _, c := range append(attached, x.conn) {
		_ = c.SetReadDeadline(time.Now().Add(5 * time.Second))
		if _, err := io.Copy(io.Discard, c); sock.TimedOut(err) {
			t.Error("a connection that was replaced stays:", err)
		}
	}
	if s.sessions.len() != 1 {
		t.Fatal("the session has ended")
	}
	_ = z.conn.(*net.TCPConn).CloseWrite()
	s.free()
}

// finishRaw moves what a rawCopy is to move and ends it.
func (x *raw) finishRaw() {
	x.t.Helper()
	// docs/protocol.md: the stage network of one file, the file, its bytes, the end of the stage.
	b := []byte{1, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x10, 0, 0}
	b = append(b, 2, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x10, 0, 0)
	b = append(append(b, make([]byte, 1<<20)...), 3)
	b = append(append(b, make([]byte, 23)...), 4)
	b = append(b, make([]byte, 23)...)
	if _, err := x.data[0].Write(b); err != nil {
		x.t.Fatal(err)
	}
	if _, err := io.ReadFull(x.data[0], b[:2]); err != nil { // of the stage, and of the copy
		x.t.Fatal(err)
	}
	c := x.control()
	defer c.Close()
	if r := x.ask(c, bufio.NewReader(c), http.MethodPost, native.FinishPath, ""); r.StatusCode != http.StatusOK {
		x.t.Fatalf("finish: %d", r.StatusCode)
	}
}

// The system of a client that is killed closes its connections, and so does a client that ends.
func TestACopyWhoseClientEndsIsFreedAtOnce(t *testing.T) {
	pool, config := certificate(t)
	for name, c := range map[string]struct {
		cfg Config
		end func(*raw)
	}{
		"killed":      {Config{}, func(x *raw) { _ = x.conn.(*net.TCPConn).CloseWrite() }},
		"deleted":     {Config{}, func(x *raw) { x.deleteSession() }},
		"killed, TLS": {Config{TLS: config}, func(x *raw) { _ = x.conn.(*tls.Conn).NetConn().(*net.TCPConn).CloseWrite() }},
		"ends in order, TLS": {Config{TLS: config}, func(x *raw) {
			_ = x.conn.(*tls.Conn).CloseWrite()
			_ = x.conn.(*tls.Conn).NetConn().(*net.TCPConn).CloseWrite()
		}},
		"killed after a cut":  {Config{}, func(x *raw) { x.cut(); y, _ := x.reattach(); _ = y.conn.(*net.TCPConn).CloseWrite() }},
		"deleted after a cut": {Config{}, func(x *raw) { x.cut(); x.deleteSession() }},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, c.cfg)
			if c.cfg.TLS != nil {
				s.tls = &tls.Config{RootCAs: pool, ServerName: "127.0.0.1"}
			}
			x := s.rawCopy(true)
			x.await(native.EventRunning)
			c.end(x)
			s.free()
		})
	}
}

func (x *raw) deleteSession() {
	x.t.Helper()
	c := x.control()
	defer c.Close()
	if r := x.ask(c, bufio.NewReader(c), http.MethodDelete, native.SessionPath, ""); r.StatusCode != http.StatusNoContent {
		x.t.Errorf("status %d", r.StatusCode)
	}
}

// The client is interrupted while it tries, at once, and nobody tells the server.
func TestACopyWhoseClientDoesNotComeBackIsRemoved(t *testing.T) {
	root := t.TempDir()
	r := serveCopiesWith(t, root, Config{Exclusive: true}, func(s *Server) { s.times.reattach = 200 * time.Millisecond })
	o := copyOptions(t, func(own *filecopy.Options) { own.Files, own.FileSize = 8, 1<<20 })
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	var path *resetter
	moved := int64(0)
	lost := make(chan struct{})
	path = newResetter(t, r.addr, func(data, _ bool, b []byte) bool {
		if moved += int64(len(b)); moved < 2<<20 {
			return true
		}
		if !path.closed {
			path.closed = true
			close(lost)
		}
		return false
	})
	ended := make(chan error, 1)
	go func() { ended <- copyUntil(t, ctx, path.addr, r, o).err }()
	<-lost
	select {
	case err := <-ended:
		t.Fatal("the client does not try to go on:", err)
	case <-time.After(r.times.reattach / 2):
	}
	if entries, err := os.ReadDir(root); err != nil || len(entries) == 0 {
		t.Errorf("the server ended the copy at once: %v", err)
	}
	interrupt()
	select {
	case err := <-ended:
		if err == nil {
			t.Error("the copy ended without an error")
		}
	case <-time.After(prompt):
		t.Fatal("the client goes on")
	}
	r.free()
	if entries, err := os.ReadDir(root); err != nil || len(entries) != 0 {
		t.Errorf("the folder has %v, %v", entries, err)
	}
}

// A stream whose end the server has not noticed yet takes nothing from the one that replaced it.
func TestOnlyTheLatestStreamTakesEvents(t *testing.T) {
	out := newOutbox()
	first := out.open()
	out.state(native.EventRunning)
	second := out.open()
	if got := out.take(first); len(got) != 0 {
		t.Errorf("the stream that was replaced takes %+v", got)
	}
	if got := out.take(second); len(got) != 1 || got[0].Event != native.EventRunning {
		t.Errorf("%+v", got)
	}
}

// The client finishes before it has reattached: its session ends when it gets the last event.
func TestACopyThatEndsWhileItsEventsAreCutWaitsForItsClient(t *testing.T) {
	s := serve(t, Config{})
	x := s.rawCopy(true)
	x.await(native.EventRunning)
	x.cut()
	eventually(t, prompt, "the server does not notice the cut", func() bool {
		running, _ := s.queue.snapshot()
		ss := running[0].(*session)
		ss.mu.Lock()
		defer ss.mu.Unlock()
		return ss.back != nil
	})
	x.finishRaw()
	y, status := x.reattach()
	if status != http.StatusOK {
		t.Fatalf("status %d", status)
	}
	if e := y.last(); e.Event != native.EventDone || e.End.Error != nil || e.End.Copy == nil {
		t.Errorf("%+v", e)
	}
	s.free()
}

// A client that is killed while events wait unread leaves a reset, as a cut does, and never comes back.
func TestACopyWhoseClientIsKilledIsFreedWithinFiveSeconds(t *testing.T) {
	s := serve(t, Config{MaxClients: 1})
	x := s.rawCopy(true)
	x.await(native.EventRunning)
	for _, c := range x.data {
		reset(c.(*net.TCPConn))
	}
	x.cut()
	begin := time.Now()
	for s.sessions.len() > 0 && time.Since(begin) < 5*time.Second {
		time.Sleep(20 * time.Millisecond)
	}
	if s.sessions.len() > 0 {
		t.Fatal("the session keeps its place for 5 s")
	}
	s.free()
}

// cutCopies begins copies and resets the connections of their clients.
func (s *running) cutCopies(n int) {
	s.t.Helper()
	for range n {
		x := s.rawCopy(true)
		x.await(native.EventRunning)
		for _, c := range x.data {
			reset(c.(*net.TCPConn))
		}
		x.cut()
	}
}

// away is how many sessions wait for their clients to reattach.
func (s *running) away() int { return s.sessions.away(s.Addr().Addr()) }

func TestACopyWithoutItsClientYieldsItsPlace(t *testing.T) {
	s := serve(t, Config{MaxClients: maxAway})
	s.cutCopies(maxAway)
	eventually(t, prompt, "the server does not notice the cuts", func() bool { return s.away() == maxAway })
	for range maxAway {
		s.open(measure.TestTCP, tcpOptions())
	}
	s.refused(measure.TestTCP, tcpOptions(), measure.KindRefused, "busy: 4 of 4 clients")
}

func TestACopyWithoutItsClientYieldsItsTurn(t *testing.T) {
	for name, cutFirst := range map[string]bool{"to one that asks later": true, "to one that waits": false} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, Config{Exclusive: true})
			x := s.rawCopy(true)
			x.await(native.EventRunning)
			if cutFirst {
				x.cut()
				eventually(t, prompt, "the server does not notice the cut", func() bool { return s.away() == 1 })
			}
			opened := make(chan error, 1)
			go func() {
				session, err := native.Open(t.Context(), s.addr, s.request(measure.TestTCP, tcpOptions()), wire.Hooks{})
				if err == nil {
					_ = session.Close()
				}
				opened <- err
			}()
			if !cutFirst {
				eventually(t, prompt, "it does not wait", func() bool { _, waiting := s.queue.snapshot(); return len(waiting) == 1 })
				x.cut()
			}
			select {
			case err := <-opened:
				if err != nil {
					t.Error(err)
				}
			case <-time.After(s.times.reattach / 2):
				t.Error("the turn is kept for a client that is gone")
			}
		})
	}
}

// The connection that created the session is gone, and no other one has attached.
func TestASessionThatNoConnectionAttachedYieldsItsPlace(t *testing.T) {
	s := serve(t, Config{MaxClients: 1})
	x := s.raw(tcpOptions())
	_ = x.conn.Close()
	running, _ := s.queue.snapshot()
	<-running[0].(*session).creator.ch
	s.open(measure.TestTCP, tcpOptions())
}

// All see the others only if they are counted one after another.
func TestClientsThatAreCutAtTheSameTimeCountEachOther(t *testing.T) {
	s := serve(t, Config{})
	const copies = 10 * maxAway
	all := make([]*raw, copies)
	for i := range all {
		all[i] = s.rawCopy(true)
		all[i].await(native.EventRunning)
	}
	var cuts sync.WaitGroup
	for _, x := range all {
		cuts.Go(x.cut)
	}
	cuts.Wait()
	eventually(t, prompt, "copies beyond the bound wait, too", func() bool { return s.sessions.len() == maxAway })
	if n := s.away(); n != maxAway {
		t.Errorf("%d wait", n)
	}
}

func TestAnAddressHasFewSessionsWithoutTheirClients(t *testing.T) {
	s := serve(t, Config{})
	s.cutCopies(maxAway + 3)
	eventually(t, prompt, "copies beyond the bound wait, too", func() bool { return s.sessions.len() == maxAway })
	if n := s.away(); n != maxAway {
		t.Errorf("%d wait", n)
	}
}
