package cli

import (
	"encoding/json"
	"net"
	"runtime"
	"strings"
	"testing"

	"soku/internal/measure"
	"soku/internal/text"
	"soku/test/tier"
)

func needTrace(t *testing.T) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("the tests trace and mtu are for Linux only")
	}
}

func TestTraceIsStoredAndShown(t *testing.T) {
	needTrace(t)
	sys, out, errs := fakeSystem(t, "trace", "127.0.0.1", "-c", "2", "-i", "100ms", "--flows", "2")
	if code := Run(sys); code != 0 {
		t.Fatalf("status %d: %s", code, errs)
	}
	for _, say := range []string{"HOP  NODE", "  1  127.0.0.1", "0.0 %     4", "1 hop away", "stored"} {
		if !strings.Contains(out.String(), say) {
			t.Errorf("it does not say %q:\n%s", say, out)
		}
	}
	if strings.ContainsRune(out.String(), 0x1b) {
		t.Errorf("control characters without a terminal:\n%s", out)
	}
	again, shown, _ := fakeSystem(t, "show")
	again.DataDir = sys.DataDir
	if code := Run(again); code != 0 || !strings.Contains(shown.String(), "  1  127.0.0.1") {
		t.Errorf("show, status %d:\n%s", code, shown)
	}
	again, listed, _ := fakeSystem(t, "ls")
	again.DataDir = sys.DataDir
	if code := Run(again); code != 0 || !strings.Contains(listed.String(), "1 hop, ") {
		t.Errorf("ls, status %d:\n%s", code, listed)
	}
	again, report, _ := fakeSystem(t, "report", "--runs", "1")
	again.DataDir = sys.DataDir
	if code := Run(again); code != 0 || !strings.Contains(report.String(), "Hops of the newest trial") {
		t.Errorf("report, status %d:\n%s", code, report)
	}
}

func TestATerminalSeesTheHopsWhileTheyAreFound(t *testing.T) {
	t.Parallel()
	tier.SpendsSeconds(t)
	needTrace(t)
	sys, out, errs := fakeSystem(t, "trace", "127.0.0.1", "-c", "6", "-i", "100ms", "--no-save")
	sys.StdoutWidth = func() int { return 60 }
	if code := Run(sys); code != 0 {
		t.Fatalf("status %d: %s", code, errs)
	}
	live, summary, found := strings.Cut(out.String(), "path        ")
	if !found || !strings.Contains(live, "soku trace 127.0.0.1, round ") || !strings.HasSuffix(live, "A\r\x1b[J") {
		t.Errorf("before the summary: %q", live)
	}
	if !strings.Contains(summary, "  1  127.0.0.1") {
		t.Errorf("the summary is %q", summary)
	}
	for line := range strings.Lines(live) {
		if shown := strings.NewReplacer("\x1b[K", "", "\r", "", "\x1b[J", "").Replace(line); len([]rune(shown)) > 64 {
			t.Errorf("longer than the terminal: %q", shown)
		}
	}
}

func TestAStreamOfJSONHasTheHopsWhileTheyAreFound(t *testing.T) {
	t.Parallel()
	tier.SpendsSeconds(t)
	needTrace(t)
	out, errs, code := soku(t, "trace", "127.0.0.1", "-c", "6", "-i", "100ms", "--no-save", "--json-stream")
	if code != 0 {
		t.Fatalf("status %d: %s", code, errs)
	}
	var events []string
	for line := range strings.Lines(out) {
		var e struct {
			Event  string
			Trace  *measure.Trace
			Result *measure.Result
		}
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatal(err)
		}
		events = append(events, e.Event)
		if e.Event == "trace" && len(e.Trace.Hops) != 1 || e.Event == "result" && len(e.Result.Trace.Hops) != 1 {
			t.Errorf("%s", line)
		}
	}
	if len(events) < 2 || events[0] != "trace" || events[len(events)-1] != "result" {
		t.Errorf("events %v", events)
	}
}

func TestTheMTUOfLoopbackIsItsInterfaces(t *testing.T) {
	needTrace(t)
	out, errs, code := soku(t, "mtu", "127.0.0.1", "--probe", "udp", "-p", "9", "--no-save", "--json")
	var r measure.Result
	if err := json.Unmarshal([]byte(out), &r); err != nil || code != 0 {
		t.Fatalf("status %d, %v: %s", code, err, errs)
	}
	if m := r.PathMTU; m == nil || m.Bytes != m.InterfaceBytes || m.Limit != measure.LimitInterface {
		t.Errorf("%+v", m)
	}
}

func TestMistakesInProbesAreNamed(t *testing.T) {
	for _, c := range []struct{ args, say string }{
		{"mtu h --probe tcp", "probe tcp does not apply to the mtu test"},
		{"trace h --probe icmp --port 80", "echo requests have no port"},
		{"trace h --flows 65", "allowed: 1..64"},
		{"trace h -c -1", "allowed: 0.."},
		{"trace h --probe sctp", "use icmp, udp, tcp"},
		{"trace h --max-hops 65", "allowed: 1..64"},
		{"mtu h -c 101", "allowed: 1..100"},
	} {
		_, errs, code := soku(t, strings.Fields(c.args)...)
		if code != exitStatus[measure.KindUsage] || !strings.Contains(errs, c.say) {
			t.Errorf("soku %s: status %d, %q; want %q", c.args, code, errs, c.say)
		}
	}
}

func TestNamesOfHopsReachNoTerminalUnchecked(t *testing.T) {
	r := &measure.Trace{Hops: []measure.TraceHop{{Hop: 1, Sent: 1, Nodes: []measure.TraceNode{{Address: "192.0.2.1", Name: "evil\x1b[2J.example", Received: 1}}}}}
	var summary, live strings.Builder
	printSummary(text.English(), &summary, 0, &measure.Result{Test: measure.TestTrace, Trace: r})
	(&traceView{terminalLines: terminalLines{w: &live, catalogue: text.English(), width: func() int { return 80 }, height: func() int { return 24 }}}).draw("host", r)
	if !strings.Contains(summary.String(), "192.0.2.1") || strings.ContainsRune(summary.String(), 0x1b) || strings.Contains(live.String(), "evil\x1b") {
		t.Errorf("%q\n%q", summary.String(), live.String())
	}
}

func TestHopsGetTheirNames(t *testing.T) {
	needTrace(t)
	names, err := net.DefaultResolver.LookupAddr(t.Context(), "127.0.0.1")
	if err != nil || len(names) == 0 {
		t.Skip("this machine has no name for 127.0.0.1: ", err)
	}
	out, errs, code := soku(t, "trace", "127.0.0.1", "-c", "1", "--names", "--no-save")
	if want := strings.TrimSuffix(names[0], ".") + " (127.0.0.1)"; code != 0 || !strings.Contains(out, want) {
		t.Errorf("status %d, %s: no %q in\n%s", code, errs, want, out)
	}
	if out, _, _ := soku(t, "trace", "127.0.0.1", "-c", "1", "--no-save"); strings.Contains(out, " (127.0.0.1)  ") {
		t.Errorf("names that nobody asked for:\n%s", out)
	}
}
