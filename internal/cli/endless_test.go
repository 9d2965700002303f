package cli

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"soku/internal/measure"
	"soku/internal/text"
	"soku/test/tier"
)

// untilInterrupted runs a command line that is interrupted after a number of lines.
func untilInterrupted(t *testing.T, lines int, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	sys, _, errs := fakeSystem(t, args...)
	interrupts := make(chan os.Signal, 1)
	out := &interrupting{after: lines, to: interrupts}
	sys.Stdout, sys.Interrupts = out, interrupts
	code = Run(sys)
	return out.String(), errs.String(), code
}

func TestPingAndTraceOfNoCountGoOnUntilAnInterrupt(t *testing.T) {
	t.Parallel()
	tier.SpendsSeconds(t)
	out, errs, code := untilInterrupted(t, 13, "ping", "127.0.0.1", "-c", "0", "-i", "1s", "--no-save")
	if code == exitStatus[measure.KindPermission] {
		t.Skip("this user may not ping: " + errs)
	}
	if code != 0 || errs != "" || !strings.Contains(out, "packets transmitted") || !strings.Contains(out, "0% packet loss") {
		t.Errorf("ping: status %d, %s\n%s", code, errs, out)
	}
	needTrace(t)
	out, errs, code = untilInterrupted(t, 12, "trace", "127.0.0.1", "-c", "0", "-i", "100ms", "--no-save", "--json-stream")
	if code != 0 || errs != "" {
		t.Fatalf("trace: status %d, %s", code, errs)
	}
	var last struct{ Result *measure.Result }
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &last); err != nil || last.Result == nil {
		t.Fatalf("%v in %s", err, lines[len(lines)-1])
	}
	if r := last.Result; r.Error != nil || r.Trace.Rounds < 11 || r.Options.Count != r.Trace.Rounds {
		t.Errorf("error %v, %d rounds, count %d", r.Error, r.Trace.Rounds, r.Options.Count)
	}
}

func TestATestWithADurationEndsThoughTheCountIsZero(t *testing.T) {
	t.Parallel()
	tier.SpendsSeconds(t)
	if _, errs, code := soku(t, "ping", "127.0.0.1", "-c", "0", "-t", "300ms", "--no-save"); code != 0 && code != exitStatus[measure.KindPermission] {
		t.Errorf("status %d, %s", code, errs)
	}
}

func TestATraceIntoAPipePrintsEachHopWhenItIsKnown(t *testing.T) {
	node := func(address string, ns float64) measure.TraceHop {
		return measure.TraceHop{Nodes: []measure.TraceNode{{Address: address, LastNs: ns}}}
	}
	silent := measure.TraceHop{}
	hops := func(list ...measure.TraceHop) []measure.TraceHop {
		for i := range list {
			list[i].Hop = i + 1
		}
		return list
	}
	var out strings.Builder
	v := &traceView{terminalLines: terminalLines{w: &out, catalogue: text.English(), width: func() int { return 0 }, height: func() int { return 0 }}}
	expect := func(want string) {
		t.Helper()
		if out.String() != want {
			t.Errorf("%q, want %q", out.String(), want)
		}
		out.Reset()
	}
	v.draw("h", &measure.Trace{Rounds: 1, Hops: hops(node("192.0.2.1", 1e6))})
	expect("  1  192.0.2.1 1.000 ms\n")
	v.draw("h", &measure.Trace{Rounds: 1, Hops: hops(node("192.0.2.1", 2e6), silent, node("192.0.2.3", 3e6))})
	expect("") // the second may still answer
	v.draw("h", &measure.Trace{Rounds: 2, Hops: hops(node("192.0.2.1", 2e6), silent, node("192.0.2.3", 3e6))})
	expect("  2  no answer\n  3  192.0.2.3 3.000 ms\n")
	v.end(&measure.Trace{Rounds: 2, Hops: hops(node("192.0.2.1", 2e6), silent, node("192.0.2.3", 3e6), node("192.0.2.4", 4e6))})
	expect("  4  192.0.2.4 4.000 ms\n\n")
	v.listed = 0
	v.end(&measure.Trace{Rounds: 2, Hops: hops(node("192.0.2.1", 2e6))})
	expect("") // the table of a trace that was over before has it
}
