package truth

import (
	"bufio"
	"encoding/json"
	"net"
	"strings"
	"testing"

	"soku/internal/measure"
	"soku/test/built"
	"soku/test/congestion"
)

// A server whose default congestion control paces accepts connections before it knows the
// congestion control of the test.
func TestTheSystemsBBRDoesNotPaceAChosenCongestionControl(t *testing.T) {
	needNetworks(t)
	congestion.Allow(t, "bbr")
	l := network(t, `
hosts:
  client:
  server:
links:
  - {from: client, to: server}
`)
	if out, err := l.Command(t.Context(), "server", "sh", "-c", "echo bbr > /proc/sys/net/ipv4/tcp_congestion_control").CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	addr, err := l.Topology.Address("server", "")
	if err != nil {
		t.Fatal(err)
	}
	at := net.JoinHostPort(addr.String(), "7000")
	server := l.Command(t.Context(), "server", built.Program(t), "server", "-q", "--listen", at)
	output, err := server.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = server.Process.Kill(); _ = server.Wait() }()
	if line, err := bufio.NewReader(output).ReadString('\n'); err != nil || !strings.Contains(line, "listening") {
		t.Fatalf("the server prints %q, %v", line, err)
	}

	measured := func(flags ...string) *measure.Result {
		t.Helper()
		c := l.Command(t.Context(), "client", append([]string{built.Program(t), "tcp", addr.String(), "-p", "7000", "-t", "1s", "-P", "4", "--json", "--no-save"}, flags...)...)
		out, err := c.Output()
		if err != nil {
			t.Fatal(err)
		}
		var r measure.Result
		if err := json.Unmarshal(out, &r); err != nil {
			t.Fatal(err)
		}
		return &r
	}
	used := func(r *measure.Result) string { return r.Flows[0].Streams[0].TCP.Congestion }
	if got := used(measured("-R")); got != "bbr" {
		t.Errorf("a server without a chosen congestion control sends with %s, want the system's bbr", got)
	}
	var shares []float64
	for range 3 {
		forward, reverse := measured("-C", "cubic"), measured("-C", "cubic", "-R")
		if got := used(reverse); got != "cubic" {
			t.Fatalf("a server with -C cubic sends with %s", got)
		}
		shares = append(shares, reverse.Summary.GoodputBps/forward.Summary.GoodputBps)
	}
	if m := median(shares); m < 0.5 {
		t.Errorf("the server sends at %.2f of the client's rate, both with cubic; all: %.2f", m, shares)
	}
}
