package server

import (
	"bytes"
	"context"
	"io"
	"net"
	"reflect"
	"strings"
	"testing"
	"time"

	"soku/internal/engine"
	"soku/internal/engine/latency"
	"soku/internal/engine/tcp"
	"soku/internal/measure"
	"soku/internal/wire"
	"soku/internal/wire/native"
)

func TestTheServerReceivesAForwardTestAndReturnsItsHalf(t *testing.T) {
	s := serve(t, Config{})
	c := s.open(measure.TestTCP, tcpOptions(func(o *measure.Options) { o.Streams = 2 }))
	conns := c.tcp()
	c.start()
	for _, conn := range conns {
		_, _ = conn.Write(make([]byte, 50_000))
		_ = conn.CloseWrite()
	}
	end := c.finish()
	if len(end.Flows) != 1 || end.Flows[0].Direction != measure.Forward || end.Flows[0].Role != measure.Receiver {
		t.Fatalf("flows %+v", end.Flows)
	}
	for i, st := range end.Flows[0].Streams {
		if st.Index != i || st.ReceivedBytes != 50_000 {
			t.Errorf("stream %d: %+v", i, st)
		}
	}
	if end.Host == nil || end.Host.Counters == nil || end.Host.Facts.Hostname != "fake" || end.Host.Facts.Cloud.InstanceType == "" {
		t.Errorf("host %+v", end.Host)
	}
	if want := []string{wire.Ready, wire.Running, wire.Done}; !reflect.DeepEqual(c.heard.names(), want) {
		t.Errorf("states %v, want %v", c.heard.names(), want)
	}
	if c.heard.bytes != 100_000 {
		t.Errorf("intervals say %d bytes", c.heard.bytes)
	}
	if c.Protocol() != "soku/1" || c.Server().Facts.Hostname != "fake" {
		t.Errorf("handshake: %s, %+v", c.Protocol(), c.Server())
	}
	s.free()
}

func TestTheServerSendsAReverseTest(t *testing.T) {
	s := serve(t, Config{})
	c := s.open(measure.TestTCP, tcpOptions(func(o *measure.Options) { o.Direction = measure.Reverse }))
	conns := c.tcp()
	c.start()
	n, err := io.Copy(io.Discard, conns[0])
	if n != 100_000 || err != nil {
		t.Errorf("received %d, %v", n, err)
	}
	if end := c.finish(); end.Flows[0].Direction != measure.Reverse || end.Flows[0].Streams[0].SentBytes != 100_000 {
		t.Errorf("flows %+v", end.Flows)
	}
}

func TestABidirectionalTestHasForwardConnectionsFirst(t *testing.T) {
	s := serve(t, Config{})
	c := s.open(measure.TestTCP, tcpOptions(func(o *measure.Options) { o.Direction, o.Streams = measure.Bidirectional, 2 }))
	conns := c.tcp()
	if len(conns) != 4 {
		t.Fatalf("%d connections", len(conns))
	}
	c.start()
	for _, conn := range conns[:2] {
		_, _ = conn.Write(make([]byte, 7))
		_ = conn.CloseWrite()
	}
	for _, conn := range conns[2:] {
		if n, err := io.Copy(io.Discard, conn); n != 50_000 || err != nil {
			t.Errorf("received %d, %v", n, err)
		}
	}
	end := c.finish()
	if len(end.Flows) != 2 || end.Flows[0].Streams[1].ReceivedBytes != 7 || end.Flows[1].Streams[1].SentBytes != 50_000 {
		t.Errorf("flows %+v", end.Flows)
	}
}

func TestALatencyTestIsAnsweredUntilTheClientIsFinished(t *testing.T) {
	for _, protocol := range []string{"tcp", "udp"} {
		t.Run(protocol, func(t *testing.T) {
			s := serve(t, Config{})
			c := s.open(measure.TestLatency, options(measure.TestLatency, func(o *measure.Options) { measure.EditOwn(o, func(own *latency.Options) { own.Protocol = protocol }) }))
			var conn net.Conn
			if protocol == "tcp" {
				conn = c.tcp()[0]
			} else {
				conn = c.udp()[0]
			}
			c.start()
			for i := range 3 {
				message := bytes.Repeat([]byte{byte(i)}, 64)
				_, _ = conn.Write(message)
				got := make([]byte, 64)
				if _, err := io.ReadFull(conn, got); err != nil || !bytes.Equal(got, message) {
					t.Fatalf("answer %d: %v", i, err)
				}
			}
			if end := c.finish(); end.Host.Counters == nil {
				t.Error("no counters")
			}
			s.free()
		})
	}
}

func TestAnEndMayComeLongAfterTheTestOfASlowPath(t *testing.T) {
	// The client's engine is done and the server still reads what is queued.
	s := serve(t, Config{})
	c := s.open(measure.TestTCP, tcpOptions())
	conns := c.tcp()
	c.start()
	go func() {
		for range 10 {
			_, _ = conns[0].Write(make([]byte, 1000))
			time.Sleep(10 * time.Millisecond)
		}
		_ = conns[0].CloseWrite()
	}()
	if end := c.finish(); end.Flows[0].Streams[0].ReceivedBytes != 10_000 {
		t.Errorf("received %d", end.Flows[0].Streams[0].ReceivedBytes)
	}
}

func TestAFailedEngineGivesTheClientTheReasonAndWhatWasCounted(t *testing.T) {
	s := serve(t, Config{})
	c := s.open(measure.TestTCP, tcpOptions())
	conns := c.tcp()
	c.start()
	_, _ = conns[0].Write(make([]byte, 500))
	eventually(t, prompt, "no interval came", func() bool { c.heard.mu.Lock(); defer c.heard.mu.Unlock(); return c.heard.bytes == 500 })
	_ = conns[0].SetLinger(0)
	_ = conns[0].Close() // a reset
	if err := c.aborted(prompt); measure.KindOf(err) != measure.KindBroken {
		t.Errorf("got %v", err)
	}
	end, err := c.Finish(t.Context(), nil)
	if err != nil || end.Error == nil || end.Flows[0].Streams[0].ReceivedBytes != 500 {
		t.Errorf("half %+v, %v", end, err)
	}
	s.free()
}

func TestShutdownTellsClientsWhyAndWaitsForAll(t *testing.T) {
	s := serve(t, Config{Exclusive: true})
	c := s.open(measure.TestTCP, tcpOptions())
	c.tcp()
	c.start()
	waiting := make(chan error, 1)
	h := &heard{}
	go func() {
		_, err := native.Open(t.Context(), s.addr, s.request(measure.TestTCP, tcpOptions()), h.hooks())
		waiting <- err
	}()
	eventually(t, prompt, "nobody waits", func() bool { return h.position() == 1 })
	begin := time.Now()
	s.stop()
	if d := time.Since(begin); d > prompt {
		t.Errorf("took %s", d)
	}
	for _, err := range []error{c.aborted(prompt), <-waiting} {
		if err == nil || !strings.Contains(err.Error(), "shutting down") {
			t.Errorf("got %v", err)
		}
	}
	if _, err := native.Open(t.Context(), s.addr, s.request(measure.TestTCP, tcpOptions()), wire.Hooks{}); measure.KindOf(err) != measure.KindUnreachable {
		t.Errorf("after the end: %v", err)
	}
}

func TestShutdownWaitsForTheEngines(t *testing.T) {
	e := fakes()
	begun, ended := newLatch(), newLatch()
	e.Flows.ReceiveTCP = func(ctx context.Context, _ []*net.TCPConn, _ measure.Options, _ engine.Flow) (measure.FlowEnd, error) {
		begun.fire()
		<-ctx.Done()
		time.Sleep(200 * time.Millisecond) // what an engine does to end its threads
		ended.fire()
		return measure.FlowEnd{}, context.Cause(ctx)
	}
	s := serveWith(t, Config{}, e)
	c := s.open(measure.TestTCP, tcpOptions())
	c.tcp()
	c.start()
	<-begun.ch
	_ = c.Close() // so that no request holds the server up
	eventually(t, prompt, "the client is still connected", func() bool {
		s.control.mu.Lock()
		defer s.control.mu.Unlock()
		return len(s.control.open) == 0
	})
	s.stop()
	if !ended.fired() {
		t.Error("Serve returned before the engine")
	}
}

func TestTheHalfComesWhenTheClientIsFinishedToo(t *testing.T) {
	s := serve(t, Config{})
	x := s.raw(tcpOptions(func(o *measure.Options) { o.Direction = measure.Reverse; o.Bytes = 1000 }))
	x.attach()
	x.open(0)
	x.start()
	if n, err := io.Copy(io.Discard, x.data[0]); n != 1000 || err != nil { // all of the server's half
		t.Fatalf("received %d, %v", n, err)
	}
	for _, want := range []string{native.EventReady, native.EventRunning} {
		if e := x.event(); e.Event != want {
			t.Fatalf("%+v instead of %s", e, want)
		}
	}
	if s.sessions.id(x.created.ID) == nil {
		t.Error("the session did not wait for the client")
	}
	_ = x.conn.SetReadDeadline(time.Now().Add(50 * time.Millisecond))
	if e, err := native.ReadEvent(x.in, func() int { return 1 << 20 }); err == nil {
		t.Errorf("%+v before the client was finished", e)
	}
}

func TestTheLogHasALineAtStartAndEndAndNoKey(t *testing.T) {
	s := serve(t, Config{Access: WithToken(secret)})
	c := s.open(measure.TestTCP, tcpOptions())
	conns := c.tcp()
	var ss *session
	running, _ := s.queue.snapshot()
	ss = running[0].(*session)
	c.start()
	_ = conns[0].CloseWrite()
	c.finish()
	s.free()
	s.stop()
	text := s.logs.String()
	for _, want := range []string{"test started", "test ended", ss.id[:8]} {
		if !strings.Contains(text, want) {
			t.Errorf("the log lacks %q:\n%s", want, text)
		}
	}
	key, _ := ss.key.MarshalText()
	for _, secret := range []string{string(key[:16]), ss.id, "sesame"} {
		if strings.Contains(text, secret) {
			t.Errorf("the log shows a secret:\n%s", text)
		}
	}
}

func TestClosingASessionTwiceOrEarlyIsFine(t *testing.T) {
	s := serve(t, Config{})
	c := s.open(measure.TestTCP, tcpOptions())
	conns := c.tcp()
	for range 2 {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := conns[0].Write([]byte("x")); err == nil {
		t.Error("a data connection is open after Close")
	}
	if _, err := c.TCP(t.Context()); err == nil {
		t.Error("a closed session opened connections")
	}
	s.free()
}

// The client's SYN agreed on the segment size; some systems refuse it on an open connection.
func TestAcceptedConnectionsKeepTheSegmentSizeOfTheClient(t *testing.T) {
	ss := &session{test: measure.TestTCP, options: tcpOptions(func(o *measure.Options) {
		o.Own = tcp.Options{MSS: 1000, NoDelay: true}
	})}
	if s := acceptedSettings(ss, 0); s.MSS != 0 || !s.NoDelay {
		t.Errorf("%+v", s)
	}
}
