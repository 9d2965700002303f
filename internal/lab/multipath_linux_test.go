package lab

import (
	"bytes"
	"context"
	"net"
	"os/exec"
	"testing"
	"time"

	"soku/internal/engine"
	"soku/internal/engine/tcp"
	"soku/internal/measure"
	"soku/internal/measure/option"
	"soku/internal/sock"
	"soku/test/tier"
)

// twoPaths are two hosts with a narrow way over each of two routers.
const twoPaths = `
hosts: {a: , b: }
routers: {r1: , r2: }
links:
  - {from: a, to: r1, rate: 20M}
  - {from: r1, to: b}
  - {from: a, to: r2, rate: 20M}
  - {from: r2, to: b}
`

func TestMultipathTCPIsMeasuredOverBothOfTwoPaths(t *testing.T) {
	tier.WatchesTheClock(t)
	if err := sock.HasMultipath(); err != nil {
		t.Skip(err)
	}
	if _, err := exec.LookPath("ip"); err != nil {
		t.Skip("no ip(8)")
	}
	l := up(t, twoPaths)
	// The server announces its second address, and the client connects to it.
	second := address(t, l, "b", "r2")
	for host, commands := range map[string][][]string{
		"a": {{"limits", "set", "subflows", "1", "add_addr_accepted", "1"}},
		"b": {{"limits", "set", "subflows", "1"}, {"endpoint", "add", second, "signal"}},
	} {
		for _, c := range commands {
			var out bytes.Buffer
			if err := l.Exec(t.Context(), host, append([]string{"ip", "mptcp"}, c...), nil, &out, &out); err != nil {
				t.Skipf("ip mptcp %v: %v: %s", c, err, out.String())
			}
		}
	}
	single, subflows := overPaths(t, l, false)
	if subflows != 0 {
		t.Errorf("TCP has %d subflows", subflows)
	}
	both, subflows := overPaths(t, l, true)
	if subflows != 2 {
		t.Errorf("Multipath TCP has %d subflows, want 2", subflows)
	}
	if single > 20e6 || both < 1.3*single {
		t.Errorf("over one path %.1f Mbit/s, over both %.1f", single/1e6, both/1e6)
	}
}

// overPaths measures from a to the first address of b, and returns the goodput in bits
// a second and how many subflows there were in the end.
func overPaths(t *testing.T, l *Lab, multipath bool) (bps float64, subflows int64) {
	t.Helper()
	listener := on(t, l, "b", func() (net.Listener, error) {
		var config net.ListenConfig
		config.SetMultipathTCP(true) // as soku server does, at all addresses: a path joins at another
		return config.Listen(t.Context(), "tcp", ":0")
	})
	defer listener.Close()
	o := option.Defaults(measure.TestTCP)
	o.Multipath, o.Duration, o.Congestion = multipath, measure.Duration(1500*time.Millisecond), "cubic"
	o, err := option.Effective(o, measure.TestTCP)
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	near := on(t, l, "a", func() (net.Conn, error) {
		return sock.Dialer(o).DialContext(t.Context(), "tcp", net.JoinHostPort(address(t, l, "b", "r1"), port))
	}).(*net.TCPConn)
	defer near.Close()
	c, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	far := c.(*net.TCPConn)
	defer far.Close()
	quiet := func(measure.Progress) {}
	received := make(chan measure.FlowEnd, 1)
	go func() {
		end, err := tcp.Receive(context.Background(), []*net.TCPConn{far}, o, engine.Flow{Direction: measure.Forward, Observe: quiet})
		if err != nil {
			t.Error(err)
		}
		received <- end
	}()
	sent, err := tcp.Send(t.Context(), []*net.TCPConn{near}, o, engine.Flow{Direction: measure.Forward, Observe: quiet})
	if err != nil {
		t.Error(err)
	}
	end := <-received
	if a, b := sent.Streams[0].SentBytes, end.Streams[0].ReceivedBytes; a != b {
		t.Errorf("Multipath TCP %v: %d bytes sent, %d received", multipath, a, b)
	}
	for _, s := range sent.Streams[0].Samples {
		if s.TCP != nil {
			subflows = max(subflows, s.TCP.Subflows)
		}
	}
	return float64(end.Streams[0].ReceivedBytes) * 8e9 / float64(end.DurationNs), subflows
}
