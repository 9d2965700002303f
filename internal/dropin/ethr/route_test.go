package ethr

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"soku/internal/measure"
	"soku/test/freeport"
	"soku/test/tier"
)

// external runs a command line against a target without an Ethr server, on Linux, which
// has the sockets for it.
func external(t *testing.T, line string, status int) (out, log *screen) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("probes with a hop limit are for Linux only")
	}
	out = &screen{}
	got, log := run(t.Context(), out, line)
	if strings.Contains(out.String(), "allows this user") {
		t.Skip("this user may send no echo")
	}
	if got != status {
		t.Fatalf("%s: status %d:\n%s", line, got, out)
	}
	return out, log
}

func hasLines(t *testing.T, out *screen, patterns ...string) {
	t.Helper()
	for _, p := range patterns {
		if !regexp.MustCompile("(?m)" + p).MatchString(out.String()) {
			t.Errorf("no line is %s:\n%s", p, out)
		}
	}
}

const time3 = `[0-9]+\.[0-9]{3}[mun]?s`

func TestICMPPingPrintsTheTableOfTCPPing(t *testing.T) {
	t.Parallel()
	out, log := external(t, "-x 127.0.0.1 -p icmp -d 300ms -g 30ms", 0)
	hasLines(t, out, `^Using destination: 127.0.0.1, ip: 127.0.0.1, port: $`,
		`^\[icmp\] \[warmup\] Ping to 127.0.0.1: `+time3+`$`, `^\[icmp\] Ping to 127.0.0.1: `+time3+`$`,
		`^ICMP echo statistics for 127.0.0.1:$`, `^  Sent = [1-9]\d*, Received = [1-9]\d*, Lost = 0$`,
		`^( *`+time3+`){9}$`, `^Ethr done, duration: 300ms\.$`)
	hasLines(t, log, `"Type":"LatencyResult","RemoteAddr":"127.0.0.1","Protocol":"ICMP"`)
}

func TestATraceroutePrintsOneLinePerHop(t *testing.T) {
	t.Parallel()
	service := freeport.One(t) // a refused connection is an answer, too
	for line, what := range map[string]string{
		"-x 127.0.0.1 -p icmp -t tr":                         "ICMP",
		fmt.Sprintf("-x 127.0.0.1:%d -t tr", service):        "TCP",
		fmt.Sprintf("-c 127.0.0.1 -port %d -t tr", service):  "TCP",
		fmt.Sprintf("-x http://127.0.0.1:%d -t tr", service): "TCP",
	} {
		out, _ := external(t, line+" -debug", 0)
		// One hop further if other traffic on loopback displaced the first answer.
		hasLines(t, out, `^Tracing route to 127.0.0.1 over 30 hops:$`, `^ *\d+\.\|--127\.0\.0\.1 \[[^]]*\] +`+time3+`$`,
			`^Ethr done, measurement complete\.$`, `^`+what+` probes: .*(socket|connection attempts)`)
	}
}

func TestMtrPrintsATablePerSecond(t *testing.T) {
	t.Parallel()
	tier.SpendsSeconds(t)
	out, log := external(t, "-x 127.0.0.1 -p icmp -t mtr -d 1300ms -g 100ms", 0)
	hasLines(t, out, `^ *\d+\.\|--127\.0\.0\.1 \[[^]]*\]$`, `^Host: 127\.0\.0\.1 +Sent    Recv        Last         Avg        Best        Wrst$`,
		`^ *\d+\.\|--127\.0\.0\.1 +[1-9]\d* +[1-9]\d*( +`+time3+`){4}$`, `^Ethr done, duration: 1\.3s\.$`)
	if n := strings.Count(out.String(), "Host: "); n != 2 { // that of the second, and the last
		t.Errorf("%d tables:\n%s", n, out)
	}
	hasLines(t, log, `"Type":"INFO","Message":" *\d+.\|--127.0.0.1 `)
}

func TestHopsArePrintedInOrder(t *testing.T) {
	hop := func(n, sent int) measure.TraceHop { return measure.TraceHop{Hop: n, Sent: int64(sent)} }
	for _, c := range []struct {
		hops    []measure.TraceHop
		printed int
		want    []int
	}{
		{[]measure.TraceHop{hop(1, 1), hop(2, 0), hop(3, 1)}, 0, []int{1}},
		{[]measure.TraceHop{hop(1, 1), hop(2, 1), hop(3, 1)}, 1, []int{2, 3}},
		{[]measure.TraceHop{hop(1, 0), hop(2, 1)}, 0, nil},
		{[]measure.TraceHop{hop(1, 1)}, 3, nil}, // the target was nearer than assumed
	} {
		var got []int
		for _, h := range known(&measure.Trace{Hops: c.hops}, c.printed) {
			got = append(got, h.Hop)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%+v, %d printed: %v, want %v", c.hops, c.printed, got, c.want)
		}
	}
}

func TestATraceThatDoesNotReachItsTargetFails(t *testing.T) {
	for what, says := range map[string]string{"TCP tr": "TCP connection", "TCP mtr": "TCP connection", "ICMP tr": "ICMP Echo"} {
		asked, shown := 0, &screen{}
		protocol, kind, _ := strings.Cut(what, " ")
		x := &test{Settings: Settings{Test: kind, Protocol: protocol}, out: &output{out: shown, now: time.Now}, addr: netip.MustParseAddrPort("127.0.0.1:9")}
		x.ask = func(_ context.Context, _ netip.Addr, _ measure.Options, view func(*measure.Trace)) (*measure.Trace, *measure.Latency, error) {
			asked++
			v := &measure.Trace{Hops: []measure.TraceHop{
				{Hop: 1, Sent: 1, Nodes: []measure.TraceNode{{Address: "127.0.0.9", LastNs: 5e6}}}, {Hop: 2, Sent: 1, Lost: 1},
			}}
			view(v)
			return v, nil, nil
		}
		if err := x.route(t.Context()); !errors.Is(err, errPrinted) {
			t.Errorf("%s: %v", what, err)
		}
		hasLines(t, shown, `^ 1\.\|--127\.0\.0\.9 \[`, `^ 2\.\|--\?\?\?$`,
			`^Destination 127.0.0.1 is not responding to `+says+`\.$`, `^Terminating tracing\.\.\.$`)
		if asked != 1 || strings.Count(shown.String(), "--127.0.0.9") != 1 {
			t.Errorf("asked %d times:\n%s", asked, shown)
		}
	}
}

func TestConnectionsUseTheRequestedLocalPort(t *testing.T) {
	t.Parallel()
	tier.SpendsSeconds(t)
	port, server, _ := serving(t, "-no -debug")
	local := freeport.Row(t, 2)
	out := &screen{}
	if status, log := run(t.Context(), out, fmt.Sprintf("-c 127.0.0.1 -port %d -cport %d -n 2 -d 300ms -debug", port, local)); status != 0 {
		t.Fatal(out)
	} else {
		hasLines(t, log, `"Type":"DEBUG","Message":"Protocol: ethr`)
	}
	for i := range 2 {
		hasLines(t, out, fmt.Sprintf(`^\[ *\d+\] local 127.0.0.1 port %d connected to `, local+i))
		shows(t, server, fmt.Sprintf(`^msg=connection protocol=ethr client=127.0.0.1:%d$`, local+i))
	}
	hasLines(t, out, `^Protocol: ethr/1.0.0 with start synchronisation$`, fmt.Sprintf(`^127.0.0.1:%d to 127.0.0.1:%d: sent [1-9]\d* bytes`, local, port))
	out = &screen{}
	if status, _ := run(t.Context(), out, fmt.Sprintf("-c 127.0.0.1 -port %d -cport %d -t pi -d 200ms -g 20ms -no", port, local)); status != 0 {
		t.Fatal(out)
	}
	hasLines(t, out, fmt.Sprintf(`^\[tcp\] Connection from \[127.0.0.1\]:%d to `, local), `^  Sent = [1-9]\d*, Received = [1-9]\d*, Lost = 0$`)
	if strings.Contains(out.String(), "Protocol:") {
		t.Errorf("debugging lines that nobody asked for:\n%s", out)
	}
}

func TestDatagramsUseTheRequestedLocalPort(t *testing.T) {
	t.Parallel()
	port, _, _ := serving(t, "-no")
	local := freeport.Row(t, 2)
	out := &screen{}
	if status, _ := run(t.Context(), out, fmt.Sprintf("-c 127.0.0.1 -port %d -cport %d -n 2 -p udp -b 80K -d 200ms -no", port, local)); status != 0 {
		t.Fatal(out)
	}
	for i := range 2 {
		hasLines(t, out, fmt.Sprintf(`^\[ *\d+\] local 127.0.0.1 port %d connected to `, local+i))
	}
}
