package cli

import (
	"encoding/json"
	"net"
	"path/filepath"
	"strings"
	"testing"

	"soku/test/tier"
)

func TestVersusGoesOnUntilItsComparisonsAreDecided(t *testing.T) {
	t.Parallel()
	tier.SpendsSeconds(t)
	_, port, _ := net.SplitHostPort(startServer(t, nil))
	db := filepath.Join(t.TempDir(), "soku.db")
	slow, fast := "tcp 127.0.0.1 -t 0.2s -b 5M -p "+port, "tcp 127.0.0.1 -t 0.2s -b 20M -p "+port
	out, errs, code := soku(t, "versus", slow, fast, "--until", "decided", "--store", db, "--json")
	if code != 0 {
		t.Fatalf("status %d: %s%s", code, out, errs)
	}
	var doc struct {
		Comparisons []struct {
			Decision string
			Rounds   int `json:"paired_rounds"`
			Looks    struct {
				Level float64 `json:"level_ratio"`
			}
		}
	}
	if err := json.Unmarshal([]byte(out), &doc); err != nil || len(doc.Comparisons) != 1 {
		t.Fatalf("%v: %s", err, out)
	}
	if c := doc.Comparisons[0]; c.Decision != "better" || c.Rounds < 6 || c.Looks.Level != 0.007 {
		t.Errorf("%+v", c)
	}
	for _, want := range []string{"after 3 rounds: " + fast + ": goodput ", "× as high (95 % interval ", "the comparison is decided after "} {
		if !strings.Contains(errs, want) {
			t.Errorf("no %q in\n%s", want, errs)
		}
	}
	if before, _, _ := strings.Cut(errs, "the comparison is decided"); strings.Contains(before, "better") {
		t.Errorf("a decision before the end:\n%s", errs)
	}
	if strings.Contains(errs, "after 1 round") {
		t.Errorf("one round decides nothing:\n%s", errs)
	}
}

func TestUntilOfVersusIsDecidedOrAnInterval(t *testing.T) {
	if err := new(untilFlag).Set("often"); err == nil {
		t.Error("often is accepted")
	}
	var u untilFlag
	for _, text := range []string{"decided", "2%"} {
		if err := u.Set(text); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
	if u.String() != "decided, 2%" {
		t.Errorf("%s", u.String())
	}
	f := versusFlags{until: u, rounds: 50, allPairs: true}
	if p := f.untilPlan(); !p.Decided || p.Against != "all" || p.MaxRounds != 50 || p.Interval != 0.02 {
		t.Errorf("%+v", p)
	}
}
