package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"soku/internal/measure"
	"soku/internal/text"
)

// longTrace is a path of that many hops, each with two answers' worth of figures.
func longTrace(hops int, address string) *measure.Trace {
	t := &measure.Trace{Rounds: 3, Sent: 99, Flows: make([]measure.TraceFlow, 2)}
	for i := range hops {
		node := measure.TraceNode{Address: address, LastNs: 12.34e6, MeanNs: 23.45e6, MinNs: 3.456e6, MaxNs: 345.6e6, StdDevNs: 4.567e6, Flows: []int{0, 1}}
		t.Hops = append(t.Hops, measure.TraceHop{Hop: i + 1, Sent: 40, Nodes: []measure.TraceNode{node}})
	}
	return t
}

// drawnOn are the lines of a live table on a terminal of that size.
func drawnOn(width, height int, host string, t *measure.Trace) []string {
	var b bytes.Buffer
	v := &traceView{terminalLines: terminalLines{w: &b, catalogue: text.English(), width: func() int { return width }, height: func() int { return height }}}
	v.draw(host, t)
	return strings.Split(strings.TrimSuffix(strings.NewReplacer("\x1b[K", "", "\r", "", "\x1b[J", "").Replace(b.String()), "\n"), "\n")
}

func TestTheLiveTableIsAsTallAsTheTerminal(t *testing.T) {
	for _, c := range []struct{ hops, height, lines, left int }{
		{50, 60, 52, 0}, {50, 53, 52, 0}, {50, 52, 51, 2}, {50, 24, 23, 30}, {50, 0, 23, 30}, {5, 24, 7, 0}, {50, 2, 2, 51},
	} {
		lines := drawnOn(100, c.height, "192.0.2.1", longTrace(c.hops, "192.0.2.200"))
		last := lines[len(lines)-1]
		if len(lines) != c.lines || (c.left > 0) != (last == fmt.Sprintf("… and %d lines more", c.left)) {
			t.Errorf("%d hops on %d rows: %d lines, the last %q; want %d with %d left out", c.hops, c.height, len(lines), last, c.lines, c.left)
		}
	}
}

func TestANarrowTerminalSeesTheColumnsThatMatterMost(t *testing.T) {
	for width, columns := range map[int]string{
		100: "HOP NODE LOSS SENT LAST AVG BEST WORST STDDEV FLOWS",
		80:  "HOP NODE LOSS SENT LAST AVG BEST WORST FLOWS",
		60:  "HOP NODE LOSS SENT AVG BEST WORST",
		46:  "HOP NODE LOSS SENT AVG",
	} {
		lines := drawnOn(width, 24, "a-host-with-a-name-that-is-far-too-long.example.net", longTrace(12, "192.0.2.200"))
		if got := strings.Join(strings.Fields(lines[1]), " "); got != columns {
			t.Errorf("%d columns show %q, want %q", width, got, columns)
		}
		for _, line := range lines {
			if text.Terminal.StringWidth(line) >= width || strings.HasSuffix(line, "…") {
				t.Errorf("on %d columns: %q", width, line)
			}
		}
		if !strings.HasPrefix(lines[0], "soku trace a-host-w") || !strings.Contains(lines[0], ", round 3, 99 probes") {
			t.Errorf("on %d columns the head is %q", width, lines[0])
		}
	}
}

func TestTheSearchForTheMTUIsOneLineThatFits(t *testing.T) {
	for step, say := range map[measure.MTUStep]string{
		{Asking: 68}:                                           ": trying 68 bytes",
		{Asking: 65535, Passed: 1400}:                          ": trying 65535 bytes; 1400 pass",
		{Asking: 65000, Passed: 64999, Failed: 65535}:          ": trying 65000 bytes; 64999 pass, 65535 do not",
		{Asking: 65001, Passed: 65000, Failed: 65001, Hop: 30}: ": 65000 bytes pass; hop 30 with 65001",
	} {
		for _, width := range []int{200, 80, 60, 20, 8, 2} {
			for _, host := range []string{"vm2", "2001:db8:1111:2222:3333:4444:5555:6666", "悪い\x1b[2J名前.example"} {
				var b bytes.Buffer
				v := &mtuView{w: &b, catalogue: text.English(), width: func() int { return width }}
				v.draw(host, step)
				line := strings.TrimSuffix(strings.TrimPrefix(b.String(), "\r"), "\x1b[K")
				if strings.ContainsAny(line, "\r\n\x1b") || text.Terminal.StringWidth(line) >= width {
					t.Errorf("on %d columns: %q", width, line)
				}
				if width >= 80 && !strings.HasSuffix(line, say) {
					t.Errorf("on %d columns: %q does not end in %q", width, line, say)
				}
			}
		}
	}
}

func TestATerminalSeesTheSearchForTheMTU(t *testing.T) {
	needTrace(t)
	sys, out, errs := fakeSystem(t, "mtu", "127.0.0.1", "--probe", "udp", "-p", "9", "--no-save")
	sys.StdoutWidth = func() int { return 60 }
	if code := Run(sys); code != 0 {
		t.Fatalf("status %d: %s", code, errs)
	}
	live, summary, found := strings.Cut(out.String(), "path        ")
	if !found || !strings.HasPrefix(live, "\rsoku mtu 127.0.0.1: trying 68 bytes\x1b[K\rsoku mtu 127.0.0.1: trying 65535 bytes; 68 pass\x1b[K") || !strings.HasSuffix(live, "\r\x1b[K") {
		t.Errorf("before the summary: %q", live)
	}
	if strings.ContainsAny(summary, "\r\x1b") || errs.String() != "" {
		t.Errorf("the summary is %q, beside it %q", summary, errs)
	}
	out2, _, _ := soku(t, "mtu", "127.0.0.1", "--probe", "udp", "-p", "9", "--no-save")
	if strings.Contains(out2, "trying") || strings.ContainsAny(out2, "\r\x1b") {
		t.Errorf("without a terminal: %q", out2)
	}
}

func TestASearchThatFailsLeavesNoLineBehind(t *testing.T) {
	var b bytes.Buffer
	v := &mtuView{w: &b, catalogue: text.English(), width: func() int { return 60 }}
	l := &live{out: &b, catalogue: text.English(), flags: &measureFlags{}, view: &traceView{terminalLines: terminalLines{w: &b}}, search: v, test: measure.TestMTU}
	l.mtu(measure.MTUStep{Asking: 68})
	if err := l.finish(&measure.Result{Test: measure.TestMTU, Error: measure.TextError(measure.KindUnreachable, "x", "")}, false); err != nil {
		t.Fatal(err)
	}
	if !strings.HasSuffix(b.String(), "\x1b[K\r\x1b[K") {
		t.Errorf("%q", b.String())
	}
}

func TestAStreamOfJSONHasTheSearchForTheMTU(t *testing.T) {
	needTrace(t)
	out, errs, code := soku(t, "mtu", "127.0.0.1", "--probe", "udp", "-p", "9", "--no-save", "--json-stream")
	if code != 0 {
		t.Fatalf("status %d: %s", code, errs)
	}
	var asked []int
	var last string
	for line := range strings.Lines(out) {
		var e struct {
			Event string
			MTU   *measure.MTUStep
		}
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatal(err)
		}
		if last = e.Event; e.MTU != nil {
			asked = append(asked, e.MTU.Asking)
		}
	}
	if len(asked) < 2 || asked[0] != 68 || last != "result" {
		t.Errorf("asked %v, the last event is %q", asked, last)
	}
}
