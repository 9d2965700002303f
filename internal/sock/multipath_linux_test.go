package sock

import (
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"soku/internal/measure"
)

// multipathPair is a connection that client makes to a listener that does, or does not,
// take Multipath TCP.
func multipathPair(t *testing.T, client, server bool) (c, s *net.TCPConn) {
	t.Helper()
	if err := HasMultipath(); err != nil {
		t.Skip(err)
	}
	var lc net.ListenConfig
	lc.SetMultipathTCP(server)
	l, err := lc.Listen(t.Context(), "tcp", ":0") // as a server listens, for both versions of IP
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	d, err := DialerFor("tcp", measure.Options{Multipath: client})
	if err != nil {
		t.Fatal(err)
	}
	near, err := d.DialContext(t.Context(), "tcp", net.JoinHostPort("127.0.0.1", strings.TrimPrefix(l.Addr().String(), "[::]:")))
	if err != nil {
		t.Fatal(err)
	}
	far, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { near.Close(); far.Close() })
	return near.(*net.TCPConn), far.(*net.TCPConn)
}

func TestMultipathIsWhatBothEndsSpeak(t *testing.T) {
	for _, c := range []struct{ client, server bool }{{true, true}, {true, false}, {false, true}, {false, false}} {
		near, far := multipathPair(t, c.client, c.server)
		for end, conn := range map[string]*net.TCPConn{"client": near, "server": far} {
			is, known := Multipath(conn)
			if want := c.client && c.server; is != want || !known {
				t.Errorf("%+v: at the %s Multipath TCP is %v, %v", c, end, is, known)
			}
			info, ok := TCPInfo(conn)
			if want := map[bool]int64{true: 1}[is]; !ok || info.Subflows != want || info.MSS == 0 || info.Congestion == "" {
				t.Errorf("%+v: at the %s the kernel reports %+v, want %d subflows", c, end, info, want)
			}
		}
		near.Close()
		if is, known := Multipath(near); is || known {
			t.Errorf("of a closed connection it is known: %v", is)
		}
	}
}

// A server listens for Multipath TCP at all times, so that what it accepts of others
// must be what they would get from a listener of TCP.
func TestPlainTCPFromAListenerOfMultipathIsAnOrdinarySocket(t *testing.T) {
	_, far := multipathPair(t, false, true)
	fds, err := holdAll([]*net.TCPConn{far})
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fds[0])
	if p, err := unix.GetsockoptInt(fds[0], unix.SOL_SOCKET, unix.SO_PROTOCOL); p != unix.IPPROTO_TCP || err != nil {
		t.Errorf("its protocol is %d, %v", p, err)
	}
	// These no socket of Multipath TCP takes.
	for name, option := range map[string]int{"SO_ZEROCOPY": unix.SO_ZEROCOPY, "SO_MAX_PACING_RATE": unix.SO_MAX_PACING_RATE} {
		if err := unix.SetsockoptInt(fds[0], unix.SOL_SOCKET, option, 1); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestOptionsOfATrialGoOnMultipathSockets(t *testing.T) {
	near, far := multipathPair(t, true, true)
	s := Settings{Window: 100_000, TOS: 8, NoDelay: true, Congestion: "reno"}
	for _, c := range []*net.TCPConn{near, far} { // the far one is IPv4 on a socket of IPv6
		if err := s.Apply(c); err != nil {
			t.Errorf("%s: %v", c.LocalAddr(), err)
		}
		if info, _ := TCPInfo(c); info.Congestion != "reno" {
			t.Errorf("congestion control %q", info.Congestion)
		}
	}
}

// Whatever way bytes take into the kernel of Multipath TCP, as many come out.
func TestEveryPathCountsWhatMultipathCarries(t *testing.T) {
	for _, path := range []string{"write", "splice", "sendfile"} {
		near, far := multipathPair(t, true, true)
		o, err := OpenWriter([]*net.TCPConn{near}, path, RandomContent)
		if err != nil {
			t.Fatal(err)
		}
		read := make(chan int64)
		go func() { n, _ := io.Copy(io.Discard, far); read <- n }()
		var sent int64
		for sent < 8<<20 {
			n, err := o.Put(0, 1<<20)
			sent += int64(n)
			if errors.Is(err, ErrWouldBlock) {
				o.Wait(20 * time.Millisecond)
			} else if err != nil {
				t.Fatal(err)
			}
		}
		o.Close()
		near.CloseWrite()
		if got := <-read; got != sent {
			t.Errorf("%s: %d bytes went in, %d came out", path, sent, got)
		}
	}
}

func TestAHostWithoutMultipathIsReported(t *testing.T) {
	err := HasMultipath()
	d, failed := DialerFor("tcp", measure.Options{Multipath: true})
	if err == nil && failed != nil || err != nil && (failed == nil || measure.KindOf(failed) != measure.KindUsage || d != nil) {
		t.Errorf("the host says %v, the dialer %v", err, failed)
	}
	// Datagrams have no such thing, and need none.
	if _, err := DialerFor("udp", measure.Options{Multipath: true}); err != nil {
		t.Error(err)
	}
}
