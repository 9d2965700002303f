package cli

import (
	"encoding/json"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"soku/internal/report"
)

// The criteria of a plan reach the report and the comparison of its campaign.
func TestThePlanOfACampaignSaysHowItIsJudged(t *testing.T) {
	plan := filepath.Join(t.TempDir(), "judged.yaml")
	text := `campaign: judged
endpoints: {server: {address: 127.0.0.1, port: PORT, limits: {connections: 1G, source: data sheet}}}
to: server
factors:
  streams:
    - {name: 1, limits: {connections: 5k, source: stream page}}
    - 2
    - 3
control: {streams: 3}
practical: 50%
tests: {load: {test: connect, count: 20}}
rounds: 2
`
	_, port, _ := net.SplitHostPort(startServer(t, nil))
	if err := os.WriteFile(plan, []byte(strings.ReplaceAll(text, "PORT", port)), 0o600); err != nil {
		t.Fatal(err)
	}
	store := filepath.Join(t.TempDir(), "soku.db")
	if out, errs, code := soku(t, "run", plan, "--store", store); code != 0 {
		t.Fatalf("run: %d %s %s", code, out, errs)
	}
	out, errs, code := soku(t, "report", "judged", "--store", store, "--format", "json")
	if code != 0 {
		t.Fatal(errs)
	}
	var doc report.Report
	if err := json.Unmarshal([]byte(out), &doc); err != nil {
		t.Fatal(err)
	}
	test := doc.Tests[0]
	if test.Practical != 0.5 || len(test.Rows) != 2 || len(test.ControlRows) != 1 || len(test.Controls) != 1 {
		t.Fatalf("practical %v, %d rows, %d control rows, %+v", test.Practical, len(test.Rows), len(test.ControlRows), test.Controls)
	}
	for i, want := range []string{"streams=1", "server"} {
		if l := test.Rows[i].Limits; len(l) != 1 || l[0].Of != want || l[0].Share == nil {
			t.Errorf("%s: %+v, want the limit of %s", test.Rows[i].Pattern, l, want)
		}
	}
	out, errs, code = soku(t, "compare", "judged:streams=1", "judged:streams=2", "--store", store, "--json")
	if code != 0 || !strings.Contains(out, `"practical_ratio": 0.5`) {
		t.Errorf("compare: %d %s %s, want the threshold of the plan", code, out, errs)
	}
	out, _, _ = soku(t, "compare", "judged:streams=1", "judged:streams=2", "--store", store, "--json", "--practical", "4%")
	if !strings.Contains(out, `"practical_ratio": 0.04`) {
		t.Errorf("compare: %s, want the threshold that was asked for", out)
	}
}
