package cli

import (
	"strings"
	"testing"
)

func TestABaselineIsComparedWithInTheTable(t *testing.T) {
	store := ingested(t)
	out, errs, code := soku(t, "report", "interface-matrix", "--store", store, "--format", "md", "--baseline", "interface=VLAN")
	if code != 0 || !strings.Contains(out, "× interface VLAN") || !strings.Contains(out, "(1.00 ×)") {
		t.Errorf("exit code %d: %s%s", code, errs, out)
	}
	for _, c := range []struct {
		args []string
		says string
	}{
		{[]string{"--baseline", "interface=nothing"}, "no test has a pattern with interface=nothing"},
		{[]string{"--baseline", "interface=VLAN", "--baseline", "colour=red"}, "colour=red"},
		{[]string{"--baseline", "interface=VLAN", "--format", "csv"}, "--baseline: a report in csv has no such table"},
		{[]string{"--baseline", "interface"}, "selects no patterns"},
	} {
		if _, errs, code := soku(t, append([]string{"report", "interface-matrix", "--store", store}, c.args...)...); code != 2 || !strings.Contains(errs, c.says) {
			t.Errorf("%v: exit code %d: %s", c.args, code, errs)
		}
	}
}
