package sock

import (
	"context"
	"errors"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"soku/internal/measure"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// dialled is a connection made with o's options, and its other end.
func dialled(t *testing.T, o measure.Options) (client, server *net.TCPConn, err error) {
	t.Helper()
	l, err := net.ListenTCP("tcp4", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	d, err := DialerFor("tcp", o)
	if err != nil {
		return nil, nil, err
	}
	c, err := d.DialContext(t.Context(), Network("tcp", 4), l.Addr().String())
	if err != nil {
		return nil, nil, err
	}
	s, err := l.AcceptTCP()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close(); s.Close() })
	return c.(*net.TCPConn), s, nil
}

func TestTheNetworkNameCarriesTheIPVersion(t *testing.T) {
	for v, want := range map[int]string{0: "udp", 4: "udp4", 6: "udp6"} {
		if got := Network("udp", v); got != want {
			t.Errorf("IP version %d: %q, want %q", v, got, want)
		}
	}
}

func TestTheDialerMakesPlainTCPWhateverTheProcessPrefers(t *testing.T) {
	t.Setenv("GODEBUG", "multipathtcp=1")
	var lc net.ListenConfig
	lc.SetMultipathTCP(true)
	l, err := lc.Listen(t.Context(), "tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	d, err := DialerFor("tcp", measure.Options{})
	if err != nil {
		t.Fatal(err)
	}
	c, err := d.DialContext(t.Context(), "tcp4", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if multipath, err := c.(*net.TCPConn).MultipathTCP(); multipath || err != nil {
		t.Errorf("Multipath TCP: %v, %v", multipath, err)
	}
}

func TestTheDialerBindsToTheAddress(t *testing.T) {
	d, err := DialerFor("udp", measure.Options{Bind: "127.0.0.1", ConnectTimeout: measure.Duration(time.Second)})
	if err != nil {
		t.Fatal(err)
	}
	c, err := d.DialContext(t.Context(), "udp", "127.0.0.1:9")
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if host, _, _ := net.SplitHostPort(c.LocalAddr().String()); host != "127.0.0.1" || d.Timeout != time.Second {
		t.Errorf("from %s, timeout %v", host, d.Timeout)
	}
}

func TestAnAddressThatCannotBeBoundToIsAUsageError(t *testing.T) {
	for _, o := range []measure.Options{{Bind: "eth0"}, {Bind: "::1", IPVersion: 4}, {Bind: "10.0.0.1", IPVersion: 6}} {
		if _, err := DialerFor("tcp", o); measure.KindOf(err) != measure.KindUsage {
			t.Errorf("bind %q, version %d: %v", o.Bind, o.IPVersion, err)
		}
		if _, err := Dialer(o).Dial("tcp", "127.0.0.1:9"); measure.KindOf(err) != measure.KindUsage {
			t.Errorf("dialling with bind %q: %v", o.Bind, err)
		}
	}
}

// own are options of a test alone that are socket options.
type own struct {
	MSS        int
	NoFragment bool
}

func (o own) Set(s *Settings) { s.MSS, s.NoFragment = o.MSS, o.NoFragment }

func TestTCPOptionsOnUDPAreRefused(t *testing.T) {
	for _, o := range []measure.Options{{Congestion: "reno"}, {Own: own{MSS: 1000}}} {
		d, err := DialerFor("udp", o)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := d.Dial("udp", "127.0.0.1:9"); measure.KindOf(err) != measure.KindUsage {
			t.Errorf("%+v: %v", o, err)
		}
	}
}

func TestAbortResetsThePeer(t *testing.T) {
	c, s, err := dialled(t, measure.Options{})
	if err != nil {
		t.Fatal(err)
	}
	Abort(c)
	_ = s.SetReadDeadline(time.Now().Add(5 * time.Second))
	if n, err := s.Read(make([]byte, 1)); err == nil || n > 0 || strings.Contains(err.Error(), "timeout") || err.Error() == "EOF" {
		t.Errorf("the peer read %d bytes and %v, want a reset", n, err)
	}
}

func TestAGroupStopsTogetherAndForGood(t *testing.T) {
	a, b, err := dialled(t, measure.Options{})
	if err != nil {
		t.Fatal(err)
	}
	g := NewGroup([]*net.TCPConn{a, b})
	g.DeadlineOf(0, time.Time{})
	first := errors.New("first")
	failed := make(chan error)
	for _, c := range []net.Conn{a, b} {
		go func() {
			_, err := c.Read(make([]byte, 1))
			failed <- err
		}()
	}
	select {
	case err := <-failed:
		t.Fatalf("a read ended before the stop: %v", err)
	case <-g.Stopped():
		t.Fatal("stopped before the stop")
	case <-time.After(10 * time.Millisecond):
	}
	g.Stop(first)
	g.Stop(errors.New("second"))
	<-g.Stopped()
	for range 2 {
		if err := <-failed; !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("a read ended with %v", err)
		}
	}
	g.Deadline(time.Now().Add(time.Hour))
	g.DeadlineOf(1, time.Time{})
	if _, err := b.Write([]byte("x")); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("a write after the stop: %v", err)
	}
	if !errors.Is(g.Err(), first) {
		t.Errorf("error %v, want the first", g.Err())
	}
}

func TestApplyNeedsASocketForWhatIsAsked(t *testing.T) {
	a, b := net.Pipe()
	defer a.Close()
	defer b.Close()
	if err := (Settings{}).Apply(a); err != nil {
		t.Errorf("nothing asked: %v", err)
	}
	if err := (Settings{TOS: 8}).Apply(a); measure.KindOf(err) != measure.KindInternal {
		t.Errorf("on a pipe: %v", err)
	}
}

func TestDatagramErrorsAreRecognised(t *testing.T) {
	l, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	to := l.LocalAddr().String()
	l.Close()
	c, err := (&net.Dialer{}).DialContext(context.Background(), "udp4", to)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	ReportRefusals(c)
	if _, err := c.Write(make([]byte, 70_000)); !TooLong(err) || Refused(err) || NoBuffers(err) {
		t.Errorf("70000 bytes: %v", err)
	}
	_, _ = c.Write([]byte("x"))
	_ = c.SetReadDeadline(time.Now().Add(5 * time.Second))
	if _, err := c.Read(make([]byte, 1)); !Refused(err) || TooLong(err) {
		t.Errorf("nobody listens: %v", err)
	}
}
