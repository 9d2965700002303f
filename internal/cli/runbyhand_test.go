package cli

import (
	"encoding/json"
	"fmt"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"soku/internal/campaign/advice"
	"soku/internal/durable"
	"soku/test/tier"
)

// handPlan writes a plan with a factor that a person changes and returns its path.
func handPlan(t *testing.T, addr string) string {
	t.Helper()
	_, port, _ := net.SplitHostPort(addr)
	path := filepath.Join(t.TempDir(), "hand.yaml")
	text := `campaign: hand
endpoints: {server: {address: 127.0.0.1, port: ` + port + `}}
to: server
factors: {offload: {by: hand, levels: [on, off]}}
tests: {rtt: {test: latency, count: 20}}
rounds: 2
seed: 5
`
	if err := durable.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestAPlanChangedByHandWaitsForAPersonAtATerminal(t *testing.T) {
	t.Parallel()
	tier.SpendsSeconds(t)
	sys, _, errs := fakeSystem(t, "run", handPlan(t, startServer(t, nil)))
	sys.StdinTerminal = func() bool { return true }
	sys.Stdin = strings.NewReader(strings.Repeat("\n", 4))
	if code := Run(sys); code != 0 {
		t.Fatalf("exit code %d: %s", code, errs)
	}
	said := errs.String()
	n := strings.Count(said, "then press Enter:")
	if n < 3 || n > 4 || !strings.Contains(said, "set offload to off, then press Enter:") || !strings.Contains(said, "at most 4 changes by hand") {
		t.Errorf("asked %d times:\n%s", n, said)
	}
	for i := range n {
		if of := fmt.Sprintf("change %d of %d: set offload to ", i+1, n); !strings.Contains(said, of) {
			t.Errorf("no %q in\n%s", of, said)
		}
	}
	if out, _, _ := soku(t, "plan", sys.Args[1]); !strings.Contains(out, fmt.Sprintf("soku run waits for %d changes by a person", n)) || !strings.Contains(out, fmt.Sprintf(", and %d changes by hand", n)) {
		t.Errorf("the plan says\n%s", out)
	}
	journals, _ := filepath.Glob(filepath.Join(sys.DataDir, "campaigns", "*", "journal.ndjson"))
	text, err := sys.ReadFile(journals[0])
	if err != nil || !strings.Contains(string(text), `"change":{"levels":[{"factor":"offload","value":"on"}],"how":"terminal","user":"tester"}`) {
		t.Errorf("%v; the journal is %s", err, text)
	}
}

// The estimate has no more than half of the measuring time on top.
func TestTheEstimateIsThatOfARealRun(t *testing.T) {
	t.Parallel()
	tier.SpendsSeconds(t)
	_, port, _ := net.SplitHostPort(startServer(t, nil))
	plan := filepath.Join(t.TempDir(), "plan.yaml")
	text := "campaign: time\nendpoints: {server: {address: 127.0.0.1, port: " + port + "}}\nto: server\ntests: {up: {test: tcp, rate: 1M, duration: 1s}}\nrounds: 1\n"
	if err := durable.WriteFile(plan, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	stdout, _, _ := soku(t, "plan", plan, "--json")
	var planned struct{ Estimate advice.Estimate }
	if err := json.Unmarshal([]byte(stdout), &planned); err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	if _, stderr, code := soku(t, "run", plan); code != 0 {
		t.Fatal(stderr)
	}
	if took := time.Since(begin); planned.Estimate.Time > took*3/2 || planned.Estimate.Time < took/10 {
		t.Errorf("planned %s, took %s", planned.Estimate.Time, took)
	}
}

func TestAPlanChangedByHandNeedsAPersonOrAChoice(t *testing.T) {
	t.Parallel()
	tier.SpendsSeconds(t)
	plan := handPlan(t, startServer(t, nil))
	sys, _, errs := fakeSystem(t, "run", plan)
	if code := Run(sys); code != 2 || !strings.Contains(errs.String(), "offload is set by hand, but there is no terminal to ask on; run it at a terminal, or say which levels are set: --only offload=on") {
		t.Errorf("exit code %d: %s", code, errs)
	}
	if made, _ := filepath.Glob(filepath.Join(sys.DataDir, "campaigns", "*")); len(made) > 0 {
		t.Errorf("it began %s", made)
	}
	for _, args := range [][]string{{"--only", "offload=off"}, {"--only", "offload=on", "--resume"}} {
		sys.Args = append([]string{"run", plan}, args...)
		if code := Run(sys); code != 0 {
			t.Errorf("%v: exit code %d: %s", args, code, errs)
		}
	}
	sys.Args = []string{"run", plan}
	sys.StdinTerminal = func() bool { return true } // at its end: the person has gone
	if code := Run(sys); code != 130 || !strings.Contains(errs.String(), "the change by hand was not confirmed") {
		t.Errorf("exit code %d: %s", code, errs)
	}
}
