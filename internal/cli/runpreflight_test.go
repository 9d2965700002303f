package cli

import (
	"net"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"soku/test/freeport"
	"soku/test/tier"

	"soku/internal/durable"
)

func TestAllServersThatCannotBeReachedAreShownBeforeTheFirstTrial(t *testing.T) {
	tier.SpendsSeconds(t)
	_, port, _ := net.SplitHostPort(startServer(t, nil))
	plan := filepath.Join(t.TempDir(), "plan.yaml")
	text := `campaign: some
endpoints:
  up: {address: 127.0.0.1, port: ` + port + `}
  down: {address: 127.0.0.1, port: ` + strconv.Itoa(freeport.One(t)) + `}
  elsewhere: {command: [sh, -c, "echo no route to that machine >&2; exit 255"]}
factors: {path: [{name: a, to: up}, {name: b, to: down}, {name: c, from: elsewhere, to: up}]}
tests: {rtt: {test: latency, count: 20}}
rounds: 2
`
	if err := durable.WriteFile(plan, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	sys, _, errs := fakeSystem(t, "run", plan)
	if code := Run(sys); code != 4 {
		t.Errorf("exit code %d", code)
	}
	for _, want := range []string{"soku: down: connect 127.0.0.1:", ": refused", "soku: elsewhere → up: the process", "no route to that machine", "2 checks before the first trial failed; nothing was measured"} {
		if !strings.Contains(errs.String(), want) {
			t.Errorf("no %q in %s", want, errs)
		}
	}
	if made, _ := filepath.Glob(filepath.Join(sys.DataDir, "campaigns", "*")); len(made) > 0 {
		t.Errorf("it began %s", made)
	}
	// Without the check they are failed trials; each reason is there once, with a count.
	sys, _, errs = fakeSystem(t, "run", plan, "--no-preflight", "--patience", "0")
	if code := Run(sys); code != 10 {
		t.Errorf("exit code %d", code)
	}
	if n := strings.Count(errs.String(), "refused;"); n != 2 || !strings.Contains(errs.String(), "failed, for the same reason (2 trials)") {
		t.Errorf("the reason is there %d times: %s", n, errs)
	}
}
