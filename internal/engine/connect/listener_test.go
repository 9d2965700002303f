package connect

import (
	"bytes"
	"io"
	"net"
	"net/netip"
	"testing"
	"time"

	"soku/internal/measure"
)

func dial(t *testing.T, port int) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", netip.AddrPortFrom(loopback, uint16(port)).String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	_ = c.SetDeadline(time.Now().Add(20 * time.Second))
	return c
}

func eachAcceptor(t *testing.T, f func(t *testing.T, with acceptors)) {
	t.Run("best", func(t *testing.T) { f(t, bestAcceptor) })
	t.Run("net", func(t *testing.T) { f(t, listenNet) })
}

func TestConnectionsOfOthersAreClosedAndNotCounted(t *testing.T) {
	eachAcceptor(t, func(t *testing.T, with acceptors) {
		l := listen(t, options(func(*measure.Options) {}), with, netip.MustParseAddr("127.0.0.9"))
		if n, err := dial(t, l.Port()).Read(make([]byte, 1)); err == nil {
			t.Errorf("read %d bytes", n)
		}
		if c := l.stop(); *c.Accepted != 0 || c.ForeignConns != 1 {
			t.Errorf("%d accepted, %d foreign", *c.Accepted, c.ForeignConns)
		}
	})
}

func TestWhatCameBeforeTheBeginningIsNotCounted(t *testing.T) {
	eachAcceptor(t, func(t *testing.T, with acceptors) {
		l, err := listenWith(loopback, []netip.Addr{loopback}, options(func(*measure.Options) {}), with)
		if err != nil {
			t.Fatal(err)
		}
		var early []net.Conn
		for range 150 { // more than are taken in a moment; Windows has room for 200
			early = append(early, dial(t, l.Port()))
		}
		l.Begin(t.Context())
		for _, c := range early {
			if _, err := c.Read(make([]byte, 1)); err == nil {
				t.Error("an early connection was answered")
			}
		}
		ctx := within(t, 100*time.Millisecond)
		if c := l.Serve(ctx, nil); *c.Accepted != 0 {
			t.Errorf("%d accepted", *c.Accepted)
		}
		l.Close()
	})
}

func TestSilentOrOversizedClientsDoNotBlockOthers(t *testing.T) {
	eachAcceptor(t, func(t *testing.T, with acceptors) {
		o := options(func(o *measure.Options) { o.Count, o.Streams, o.Size = 100, 2, 64 })
		l := listen(t, o, with)
		for range 20 {
			dial(t, l.Port()) // never says a word
			c := dial(t, l.Port())
			_, _ = c.Write(bytes.Repeat([]byte("garbage "), 4000))
			half := dial(t, l.Port())
			_, _ = half.Write([]byte("half"))
			_ = half.Close()
		}
		end, err := Run(within(t, 60*time.Second), l.target(false), o, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		if end.Connect.Opened != 100 {
			t.Errorf("%+v", end.Connect)
		}
		if c := l.stop(); *c.Accepted < 100 || c.Unserved == 0 {
			t.Errorf("%d accepted, %d not served", *c.Accepted, c.Unserved)
		}
	})
}

func TestTheAnswerIsTheRequest(t *testing.T) {
	eachAcceptor(t, func(t *testing.T, with acceptors) {
		l := listen(t, options(func(o *measure.Options) { o.Size = 5000 }), with)
		c := dial(t, l.Port())
		sent := bytes.Repeat([]byte{1, 2, 3, 4, 5}, 1000)
		_, _ = c.Write(sent)
		got, err := io.ReadAll(c)
		if err != nil || !bytes.Equal(got, sent) {
			t.Errorf("got %d bytes, %v", len(got), err)
		}
	})
}

func TestConnectionsTakenElsewhereCount(t *testing.T) {
	o := options(func(o *measure.Options) { o.Size = 3 })
	l := Portless(o)
	near, far := net.Pipe()
	defer near.Close()
	if l.Take(far) {
		t.Error("counted before the beginning")
	}
	l.Begin(t.Context())
	go func() { _, _ = near.Write([]byte("abc")) }()
	done := make(chan bool)
	go func() { done <- l.Take(far) }()
	got := make([]byte, 3)
	if _, err := io.ReadFull(near, got); err != nil || string(got) != "abc" || !<-done {
		t.Errorf("answered %q, %v", got, err)
	}
	if c := l.Serve(within(t, 10*time.Millisecond), nil); *c.Accepted != 1 || l.Port() != 0 {
		t.Errorf("%d accepted, port %d", *c.Accepted, l.Port())
	}
}
