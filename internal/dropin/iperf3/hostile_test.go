package iperf3

import (
	"encoding/json"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	wire "soku/internal/wire/iperf3"
	"soku/test/exchange"
	"soku/test/hostile"
)

// hostileServer serves tests as iperf3 does, and names everything that it can name with an
// attacker's text. It returns its port.
func hostileServer(t *testing.T) string {
	t.Helper()
	var controls sync.Map // their cookies, with which streams begin, too
	_, port, _ := net.SplitHostPort(exchange.Service(t, func(c net.Conn) {
		_ = c.SetDeadline(time.Now().Add(10 * time.Second))
		var cookie wire.Cookie
		if _, err := io.ReadFull(c, cookie[:]); err != nil {
			return
		}
		if _, stream := controls.LoadOrStore(cookie, true); stream {
			_, _ = io.Copy(io.Discard, c)
			return
		}
		controlHostile(c)
	}))
	return port
}

// controlHostile is the control connection of one test: a failure of it shows at the client.
func controlHostile(c net.Conn) {
	_ = wire.WriteState(c, wire.ParamExchange)
	if _, err := wire.ReadJSON(c, 1<<20); err != nil {
		return
	}
	for _, s := range []wire.State{wire.CreateStreams, wire.TestStart, wire.TestRunning} {
		_ = wire.WriteState(c, s)
	}
	_, _ = wire.ReadState(c)
	_ = wire.WriteState(c, wire.ExchangeResults)
	_, _ = wire.ReadJSON(c, 1<<20)
	_ = wire.WriteResults(c, &wire.Results{
		SenderHasRetransmits: 1, CongestionUsed: hostile.Text, ServerOutputText: hostile.Text,
		ServerOutputJSON: json.RawMessage("{\"a\u009b31m\":\"\u202eb\x7f\"}"),
		Streams:          []wire.StreamResult{{ID: 1, Bytes: 1000, Retransmits: 1, EndTime: 1}},
	})
	_ = wire.WriteState(c, wire.DisplayResults)
	_, _ = wire.ReadState(c)
}

// Text from the server is printed without its control characters. Lines of the server's output
// are printed as lines below their heading.
func TestAServerDoesNotControlTheTerminal(t *testing.T) {
	t.Parallel()
	port := hostileServer(t)
	for _, more := range [][]string{{"-V", "--get-server-output"}, {"-J", "--get-server-output"}, {"--json-stream", "--get-server-output"}} {
		out := ours(t, append([]string{"-c", "127.0.0.1", "-p", port, "-n", "100K"}, more...)...)
		if out.code != 0 || !strings.Contains(out.stdout, "]0;x") {
			t.Errorf("%q: status %d, %s%s", more, out.code, out.stdout, out.stderr)
		}
		hostile.Clean(t, strings.Join(more, " "), strings.ReplaceAll(out.stdout, "\n"+hostile.Forged, "\n"))
	}
}

// A server of iperf3 sends its output to every client after one that requested it.
func TestTheServersOutputIsPrintedOnlyIfItWasRequested(t *testing.T) {
	t.Parallel()
	port := hostileServer(t)
	for _, format := range []string{"-J", "-V"} {
		out := ours(t, "-c", "127.0.0.1", "-p", port, "-n", "100K", format)
		if lower := strings.ToLower(out.stdout); out.code != 0 || strings.Contains(lower, "server_output") || strings.Contains(lower, "server output") {
			t.Errorf("%s: status %d, %s%s", format, out.code, out.stdout, out.stderr)
		}
	}
}
