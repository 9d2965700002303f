package cli

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"soku/internal/floor"
	"soku/internal/host"
	"soku/internal/measure"
	"soku/internal/measure/finding"
	"soku/internal/version"
)

// keepFloorOf makes sys have a floor of this host that a change is made to.
func keepFloorOf(t *testing.T, sys *System, change func(*floor.Document)) string {
	t.Helper()
	d := &floor.Document{
		Schema: floor.Schema, Tool: measure.Tool{Name: "soku", Version: version.String()},
		HostFloor: measure.HostFloor{
			MeasuredAt: sys.Now().Add(-49 * time.Hour),
			Goodput:    []measure.FloorGoodput{{Mode: "any", GoodputBps: 1}},
		},
		Host: host.Facts(t.Context(), netip.Addr{}),
	}
	// Every way into and out of the kernel that a test may take.
	for _, rx := range []string{"read", "discard"} {
		d.Goodput = append(d.Goodput, measure.FloorGoodput{Mode: rx, RXPath: rx, GoodputBps: 1})
	}
	change(d)
	file, err := keepFloor(sys, d)
	if err != nil {
		t.Fatal(err)
	}
	return file
}

func TestATestReportsAFigureNearTheStoredBaseline(t *testing.T) {
	addr := startServer(t, nil)
	sys, out, errs := fakeSystem(t, "tcp", addr, "-t", "300ms", "--json", "--no-save")
	keepFloorOf(t, sys, func(*floor.Document) {})
	if code := Run(sys); code != 0 {
		t.Fatalf("status %d: %s", code, errs)
	}
	var r measure.Result
	if err := json.Unmarshal(out.Bytes(), &r); err != nil {
		t.Fatal(err)
	}
	if r.Hosts.Client.Floor == nil || len(r.Hosts.Client.Floor.Goodput) != 3 || errs.String() != "" {
		t.Errorf("floor %+v, said %q", r.Hosts.Client.Floor, errs)
	}
	near := r.Findings.With(finding.GoodputNearBaseline)
	if len(near) != 1 || near[0].Figures["baseline_bps"] == nil || near[0].Figures["baseline_age_ns"].(float64) < float64(48*time.Hour) {
		t.Errorf("findings %+v", r.Findings)
	}
	// Client and server are one process here, so the cost of neither is known.
	if c := r.Hosts.Server.Counters; c == nil || !c.Shared || c.CPUSecPerGB != 0 || r.Summary.CPUSecPerGB != nil {
		t.Errorf("counters %+v", c)
	}
}

func TestAStoredBaselineThatDoesNotApplyIsReportedAndNotUsed(t *testing.T) {
	addr := startServer(t, nil)
	for name, c := range map[string]struct {
		change func(*floor.Document)
		want   string
	}{
		"another version": {func(d *floor.Document) { d.Tool.Version = "v0.0.1\x1b[2J" }, "the stored loopback baseline of this host is not used: soku was v0.0.1"},
		"another schema":  {func(d *floor.Document) { d.Schema = "soku.floor/9" }, `it is of schema "soku.floor/9"`},
	} {
		sys, out, errs := fakeSystem(t, "tcp", addr, "-t", "100ms", "--no-save")
		keepFloorOf(t, sys, c.change)
		if code := Run(sys); code != 0 || !strings.Contains(errs.String(), c.want) || !strings.Contains(errs.String(), "run soku floor") && !strings.Contains(errs.String(), "run: soku floor") {
			t.Errorf("%s: status %d, said %q", name, code, errs)
		}
		if strings.Contains(out.String(), "near what this host") || strings.Contains(errs.String(), "\x1b") {
			t.Errorf("%s: %q", name, out)
		}
	}
}

func TestShowPrintsTheStoredBaseline(t *testing.T) {
	sys, out, errs := fakeSystem(t, "floor", "--show")
	if code := Run(sys); code != exitStatus[measure.KindNotFound] || !strings.Contains(errs.String(), "measure it: soku floor") {
		t.Errorf("nothing stored: status %d, %s", code, errs)
	}
	keepFloorOf(t, sys, func(d *floor.Document) { d.Host.Kernel = "0.1\x1b[2J" })
	if code := Run(sys); code != 0 || !strings.Contains(out.String(), "goodput, one stream") || !strings.Contains(out.String(), "outdated") {
		t.Errorf("status %d\n%s", code, out)
	}
	if strings.Contains(out.String(), "\x1b") {
		t.Errorf("a control character reached the terminal: %q", out)
	}
	out.Reset()
	sys.Args = []string{"floor", "--show", "--json"}
	if code := Run(sys); code != 0 {
		t.Errorf("status %d", code)
	}
	if d, err := floor.Decode(out.Bytes()); err != nil || len(d.Goodput) != 3 {
		t.Errorf("%v in %s", err, out)
	}
}

func TestABaselineThatCannotBeStoredIsReportedAfterTheFigures(t *testing.T) {
	sys, _, _ := fakeSystem(t)
	sys.WriteFile = func(string, []byte, os.FileMode) error { return errors.New("no space left on device") }
	_, err := keepFloor(sys, &floor.Document{})
	if measure.KindOf(err) != measure.KindStore || !strings.Contains(err.Error(), "no space left on device") {
		t.Errorf("%v", err)
	}
}

func TestFloorFailsWithoutAProgramToStart(t *testing.T) {
	for name, program := range map[string]func() (string, error){
		"unknown":        func() (string, error) { return "", errors.New("gone") },
		"not there":      func() (string, error) { return filepath.Join(t.TempDir(), "soku"), nil },
		"something else": func() (string, error) { return "/bin/echo", nil },
	} {
		sys, out, errs := fakeSystem(t, "floor", "--quick")
		sys.Executable = program
		if code := Run(sys); code == 0 || !strings.Contains(errs.String(), "start a server on loopback: ") || out.Len() > 0 {
			t.Errorf("%s: status %d, %s%s", name, code, out, errs)
		}
	}
}

func TestAServerProcessIgnoresSignalsAndEndsWithItsInput(t *testing.T) {
	in, parent := io.Pipe()
	lines, out := io.Pipe()
	interrupts := make(chan os.Signal, 1)
	sys, _, _ := fakeSystem(t, "server", "--child", "--quiet", "--listen", "127.0.0.1:0")
	sys.Stdin, sys.Stdout, sys.Interrupts = in, out, interrupts
	done := make(chan int, 1)
	go func() { done <- Run(sys) }()
	line, err := bufio.NewReader(lines).ReadString('\n')
	address := strings.TrimSuffix(line, "\n")
	if _, parseErr := netip.ParseAddrPort(address); err != nil || parseErr != nil {
		t.Fatalf("%q, %v", line, err)
	}
	interrupts <- os.Interrupt
	if said, errs, code := soku(t, "latency", address, "-t", "50ms", "--no-save"); code != 0 {
		t.Errorf("after the signal: status %d, %s%s", code, said, errs)
	}
	_ = parent.Close()
	if code := <-done; code != 0 {
		t.Errorf("status %d", code)
	}
}
