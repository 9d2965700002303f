package cli

import (
	"encoding/json"
	"net"
	"testing"

	"soku/internal/measure"
	"soku/internal/measure/finding"
	"soku/internal/measure/option"
	"soku/internal/server"
	"soku/internal/sock"
	"soku/test/tier"
)

// resultOf runs a command and returns the result that it prints.
func resultOf(t *testing.T, args ...string) measure.Result {
	t.Helper()
	stdout, stderr, code := soku(t, append(args, "--json", "--no-save")...)
	var r measure.Result
	if err := json.Unmarshal([]byte(stdout), &r); code != 0 || err != nil {
		t.Fatalf("%v: code %d, %v, %s%s", args, code, err, stderr, stdout)
	}
	return r
}

// fellBack is what a result found about connections that are over one path.
func fellBack(r measure.Result) measure.Findings {
	return r.Findings.With(finding.MultipathFellBack)
}

func TestMultipathIsMeasuredInEveryProtocolThatSokuServes(t *testing.T) {
	t.Parallel()
	tier.SpendsSeconds(t)
	if err := sock.HasMultipath(); err != nil {
		t.Skip(err)
	}
	addr := startServer(t, func(c *server.Config) { c.Listen = "127.0.0.1:0" })
	for _, via := range []string{option.ViaSoku, option.ViaIperf3} {
		for _, direction := range []string{"forward", "bidirectional"} {
			r := resultOf(t, "tcp", addr, "--via", via, "--mptcp", "-n", "2M", "-P", "2", "--direction", direction)
			if found := fellBack(r); found != nil {
				t.Errorf("via %s: %+v", via, found)
			}
			for _, f := range r.Flows {
				if via == option.ViaIperf3 && f.Direction == measure.Reverse {
					continue // the server sends on until it hears of the end, and reports nothing of its kernel
				}
				if tcp := f.Streams[0].TCP; tcp == nil || tcp.Subflows != 1 {
					t.Errorf("via %s %s: the sender's kernel reports %+v", via, f.Direction, tcp)
				}
				if f.Summary.ReceivedBytes < 2_000_000 || f.Summary.SentBytes != f.Summary.ReceivedBytes {
					t.Errorf("via %s %s: %d bytes sent, %d received", via, f.Direction, f.Summary.SentBytes, f.Summary.ReceivedBytes)
				}
			}
		}
	}
	if r := resultOf(t, "latency", addr, "--mptcp", "-c", "50"); r.Latency.Received < 50 || fellBack(r) != nil {
		t.Errorf("%+v, %+v", r.Latency, r.Findings)
	}
}

// singlePath passes connections on to a server, over TCP at both sides, as something on
// a path would that knows no other.
func singlePath(t *testing.T, to string) string {
	t.Helper()
	var config net.ListenConfig
	config.SetMultipathTCP(false)
	l, err := config.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			out, err := net.Dial("tcp", to)
			if err != nil {
				in.Close()
				return
			}
			for _, way := range [][2]*net.TCPConn{{in.(*net.TCPConn), out.(*net.TCPConn)}, {out.(*net.TCPConn), in.(*net.TCPConn)}} {
				go func() {
					_, _ = way[1].ReadFrom(way[0])
					_ = way[1].CloseWrite()
				}()
			}
		}
	}()
	t.Cleanup(func() { _ = l.Close() })
	return l.Addr().String()
}

func TestConnectionsThatFellBackToOnePathAreAWarning(t *testing.T) {
	if err := sock.HasMultipath(); err != nil {
		t.Skip(err)
	}
	addr := singlePath(t, startServer(t, nil))
	r := resultOf(t, "tcp", addr, "--mptcp", "-n", "2M", "-P", "2")
	if found := fellBack(r); len(found) != 1 || found[0].Figures["fell_back"] != 2.0 || found[0].Figures["connections"] != 2.0 {
		t.Errorf("findings %+v", r.Findings)
	}
	if f := r.Flows[0]; f.TXPath == "write" || f.Streams[0].TCP.Subflows != 0 {
		t.Errorf("over TCP bytes took %s to %s, and the kernel reports %+v", f.TXPath, f.RXPath, f.Streams[0].TCP)
	}
	if r := resultOf(t, "tcp", addr, "-n", "2M"); fellBack(r) != nil {
		t.Errorf("nobody asked for it: %+v", r.Findings)
	}
}
