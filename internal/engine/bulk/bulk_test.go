package bulk

import (
	"context"
	"errors"
	"net"
	"os"
	"strconv"
	"testing"
	"time"

	"soku/internal/measure"
	"soku/test/freeport"
)

const forever = 20 * time.Second

// listen opens listeners on free ports.
func listen(t *testing.T, ports int) (listeners []*net.TCPListener) {
	t.Helper()
	for range ports {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { l.Close() })
		listeners = append(listeners, l.(*net.TCPListener))
	}
	return listeners
}

func dial(t *testing.T, l *net.TCPListener) *net.TCPConn {
	t.Helper()
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c.(*net.TCPConn)
}

// serve runs a sink until the test ends or the returned function is called.
func serve(t *testing.T, s *Sink, listeners []*net.TCPListener) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), forever)
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx, listeners) }()
	stopped := false
	stop = func() {
		if stopped {
			return
		}
		stopped = true
		cancel()
		select {
		case err := <-done:
			if err != nil {
				t.Errorf("serve: %v", err)
			}
		case <-time.After(forever):
			t.Error("the sink does not end")
		}
	}
	t.Cleanup(stop)
	return stop
}

func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(forever); !is(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("never: %s", what)
		}
	}
}

func total(counts []int64) (n int64) {
	for _, c := range counts {
		n += c
	}
	return n
}

// ways are the options of each path of a sink.
func ways() map[string]SinkOptions {
	return map[string]SinkOptions{"as fast as it goes": {}, "read": {Unit: 4096}, "portable": {Portable: true}}
}

func TestSinkCountsByPortAcrossConnections(t *testing.T) {
	for name, o := range ways() {
		t.Run(name, func(t *testing.T) {
			listeners := listen(t, 3)
			s := NewSink(len(listeners), o)
			serve(t, s, listeners)
			want := []int64{0, 0, 0}
			for round := range 20 {
				for port, l := range listeners {
					c := dial(t, l)
					n := 1000*port + 17*round
					if _, err := c.Write(make([]byte, n)); err != nil {
						t.Fatal(err)
					}
					want[port] += int64(n)
					c.Close()
				}
			}
			eventually(t, "all bytes are counted", func() bool { return total(s.Bytes()) == total(want) })
			for port, n := range s.Bytes() {
				if n != want[port] {
					t.Errorf("port %d: %d bytes, want %d", port, n, want[port])
				}
			}
			eventually(t, "no connection is left", func() bool { return s.Open() == 0 })
			if s.Opened() != 60 {
				t.Errorf("%d connections came, want 60", s.Opened())
			}
		})
	}
}

func TestASourcePortIsFreeAsSoonAsASinkHasReceivedAll(t *testing.T) {
	for name, o := range ways() {
		t.Run(name, func(t *testing.T) {
			listeners := listen(t, 1)
			s := NewSink(1, o)
			serve(t, s, listeners)
			dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: freeport.Row(t, 1)}}
			for round := range 3 {
				c, err := dialer.Dial("tcp", listeners[0].Addr().String())
				if err != nil {
					t.Fatalf("round %d: %v", round, err)
				}
				if _, err := c.Write(make([]byte, 1<<20)); err != nil {
					t.Fatal(err)
				}
				c.Close()
				eventually(t, "the connection ends", func() bool { return s.Opened() == int64(round+1) && s.Open() == 0 })
			}
			if n := total(s.Bytes()); n != 3<<20 {
				t.Errorf("%d bytes were counted of %d", n, 3<<20)
			}
		})
	}
}

func TestSinkClosesConnectionsBeyondItsLimit(t *testing.T) {
	listeners := listen(t, 1)
	s := NewSink(1, SinkOptions{Connections: 2})
	serve(t, s, listeners)
	kept := []*net.TCPConn{dial(t, listeners[0]), dial(t, listeners[0])}
	eventually(t, "two are taken", func() bool { return s.Open() == 2 })
	if beyond, err := net.Dial("tcp", listeners[0].Addr().String()); err == nil { // the reset may come before the call returns
		defer beyond.Close()
		_ = beyond.SetReadDeadline(time.Now().Add(forever))
		var one [1]byte
		if _, err := beyond.Read(one[:]); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("a third connection is held: %v", err)
		}
	}
	kept[0].Close()
	eventually(t, "its place is free", func() bool { return s.Open() == 1 })
	again := dial(t, listeners[0])
	if _, err := again.Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the place is given anew", func() bool { return total(s.Bytes()) == 1 })
}

func TestSinkClosesOpenConnectionsWhenItEnds(t *testing.T) {
	for name, o := range ways() {
		t.Run(name, func(t *testing.T) {
			listeners := listen(t, 2)
			s := NewSink(len(listeners), o)
			stop := serve(t, s, listeners)
			c := dial(t, listeners[1])
			eventually(t, "it is taken", func() bool { return s.Open() == 1 })
			stop()
			_ = c.SetReadDeadline(time.Now().Add(forever))
			var one [1]byte
			if _, err := c.Read(one[:]); err == nil {
				t.Error("the connection is open")
			}
			if _, err := net.Dial("tcp", listeners[0].Addr().String()); err == nil {
				t.Error("the listener is open")
			}
		})
	}
}

// sources are the options of each path of a source.
func sources() map[string]SourceOptions {
	return map[string]SourceOptions{"as fast as it goes": {}, "written": {Unit: 32 << 10}, "portable": {Portable: true}}
}

func TestWhatASourceSendsASinkCounts(t *testing.T) {
	for name, o := range sources() {
		t.Run(name, func(t *testing.T) {
			listeners := listen(t, 2)
			s := NewSink(2, SinkOptions{})
			serve(t, s, listeners)
			var conns []*net.TCPConn
			for i := range 6 {
				conns = append(conns, dial(t, listeners[i%2]))
			}
			source := NewSource(conns, o)
			ctx, cancel := context.WithTimeout(context.Background(), forever)
			defer cancel()
			done := make(chan error, 1)
			go func() { done <- source.Run(ctx) }()
			eventually(t, "every connection sends", func() bool {
				for _, n := range source.Bytes() {
					if n < 1<<20 {
						return false
					}
				}
				return true
			})
			cancel()
			if err := <-done; err != nil {
				t.Fatal(err)
			}
			sent := total(source.Bytes())
			eventually(t, "all of it is counted", func() bool { return total(s.Bytes()) == sent })
		})
	}
}

func TestASourceHoldsItsRateOnAverage(t *testing.T) {
	for name, portable := range map[string]bool{"loops": false, "portable": true} {
		t.Run(name, func(t *testing.T) {
			listeners := listen(t, 1)
			s := NewSink(1, SinkOptions{})
			serve(t, s, listeners)
			source := NewSource([]*net.TCPConn{dial(t, listeners[0]), dial(t, listeners[0])}, SourceOptions{Rate: 8e6, Portable: portable})
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			done := make(chan error, 1)
			begin := time.Now()
			go func() { done <- source.Run(ctx) }()
			eventually(t, "a while of it is sent", func() bool { return total(source.Bytes()) > 400_000 })
			least := time.Duration(float64(total(source.Bytes())) * 8e9 / 16e6)
			if took := time.Since(begin); took < least-10*time.Millisecond {
				t.Errorf("sent in %v what takes %v at the rate", took, least)
			}
			cancel()
			if err := <-done; err != nil {
				t.Fatal(err)
			}
		})
	}
}

func TestASourceEndsWithAnErrorWhenAllConnectionsFailed(t *testing.T) {
	for name, o := range sources() {
		t.Run(name, func(t *testing.T) {
			listeners := listen(t, 1)
			s := NewSink(1, SinkOptions{})
			stop := serve(t, s, listeners)
			source := NewSource([]*net.TCPConn{dial(t, listeners[0])}, o)
			ctx, cancel := context.WithTimeout(context.Background(), forever)
			defer cancel()
			done := make(chan error, 1)
			go func() { done <- source.Run(ctx) }()
			eventually(t, "it sends", func() bool { return total(s.Bytes()) > 0 })
			stop()
			select {
			case err := <-done:
				if measure.KindOf(err) != measure.KindBroken {
					t.Errorf("ended with %v", err)
				}
			case <-time.After(forever):
				t.Error("the source does not end")
			}
		})
	}
}

func TestWholeDatagramsAreCountedThoughOnlyTheirBeginningIsCopied(t *testing.T) {
	for name, unit := range map[string]int{"beginning": 0, "all": 65535} {
		t.Run(name, func(t *testing.T) {
			var sockets []*net.UDPConn
			for range 2 {
				c, err := net.ListenPacket("udp", "127.0.0.1:0")
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { c.Close() })
				sockets = append(sockets, c.(*net.UDPConn))
			}
			s := NewDatagramSink(2, unit, nil)
			ctx, cancel := context.WithTimeout(context.Background(), forever)
			defer cancel()
			served := make(chan error, 1)
			go func() { served <- s.Serve(ctx, sockets) }()
			c, err := net.Dial("udp", sockets[1].LocalAddr().String())
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			for _, n := range []int{10, 1400, 60000} {
				if _, err := c.Write(make([]byte, n)); err != nil {
					t.Fatal(err)
				}
			}
			eventually(t, "all are counted", func() bool { return s.Bytes()[1] == 61410 })
			if s.Bytes()[0] != 0 {
				t.Errorf("the other port counted %d", s.Bytes()[0])
			}
			cancel()
			if err := <-served; err != nil {
				t.Fatal(err)
			}
		})
	}
}

func TestADatagramSourceContinuesWhenThePortIsClosed(t *testing.T) {
	nobody := net.JoinHostPort("127.0.0.1", strconv.Itoa(freeport.One(t)))
	out, err := net.Dial("udp", nobody)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	s := NewDatagramSource([]net.Conn{out}, 1000, 80e6, nil)
	ctx, cancel := context.WithTimeout(context.Background(), forever)
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	eventually(t, "some are sent", func() bool { return s.Bytes()[0] > 20_000 })
	cancel()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}
