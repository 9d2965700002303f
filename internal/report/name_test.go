package report

import (
	"slices"
	"testing"

	"soku/internal/measure"
	"soku/internal/report/outline"
)

// gatewaysBehindPaths is a plan in which only one of two paths has a gateway: patterns of the
// other have "none".
func gatewaysBehindPaths() Input {
	in := design{
		factors: []string{"path", "gateway", "zone", "streams"}, levels: [][]string{{"vnet", "circuit"}, {"none", "small", "large"}, {"none", "1"}, {"1", "8"}}, rounds: 4, noise: 0.01,
		bps: func([]string) float64 { return 1e9 },
	}.input()
	in.Results = slices.DeleteFunc(in.Results, func(r *measure.Result) bool {
		return (r.Trial.Levels[0].Value == "vnet") != (r.Trial.Levels[1].Value == "none")
	})
	return in
}

func TestSentencesLeaveOutLevelsThatAFactorIsAbsentBy(t *testing.T) {
	v := english(build(t, gatewaysBehindPaths()).test(t, "tcp"))
	for full, want := range map[string]string{
		"vnet / none / none / 8":     "vnet / none / 8", // the zone is none or 1 there
		"vnet / none / 1 / 8":        "vnet / 1 / 8",
		"circuit / small / none / 1": "circuit / small / none / 1",
		"of another test":            "of another test",
	} {
		if got := v.called(full); got != want {
			t.Errorf("%s is called %q, want %q", full, got, want)
		}
	}
	if !slices.ContainsFunc(v.figureTable().Rows, func(r outline.Row) bool { return r.Name == "vnet / none / none / 8" }) {
		t.Error("a name of a table has no place for each factor")
	}
}

func TestNamesThatWouldBeAlikeKeepAllLevels(t *testing.T) {
	test := &Test{Factors: []string{"a", "b"}}
	for _, levels := range [][2]string{{"none", "8"}, {"8", "none"}, {"7", "none"}} {
		all := []measure.Level{{Factor: "a", Value: levels[0]}, {Factor: "b", Value: levels[1]}}
		test.Rows = append(test.Rows, Row{Pattern: measure.JoinLevels(all), Levels: all})
	}
	v := english(test)
	if got := v.callEach([]string{"none / 8", "8 / none", "7 / none"}); !slices.Equal(got, []string{"none / 8", "8 / none", "7"}) {
		t.Errorf("%q", got)
	}
}

func TestASentenceSaysOnceWhatItsPatternsShare(t *testing.T) {
	v := english(build(t, gatewaysBehindPaths()).test(t, "tcp"))
	for _, c := range []struct {
		patterns, names []string
		shared          string
	}{
		{[]string{"circuit / small / 1 / 1", "circuit / small / 1 / 8", "circuit / large / 1 / 8"}, []string{"small / 1", "small / 8", "large / 8"}, ", all with path circuit, zone 1"},
		{[]string{"circuit / small / 1 / 1", "circuit / small / 1 / 8"}, []string{"circuit / small / 1 / 1", "circuit / small / 1 / 8"}, ""}, // one level would be left
		{[]string{"circuit / small / 1 / 1", "vnet / none / 1 / 8"}, []string{"circuit / small / 1 / 1", "vnet / 1 / 8"}, ""},
		{[]string{"circuit / small / 1 / 1"}, []string{"circuit / small / 1 / 1"}, ""},
	} {
		names, shared := v.callTogether(c.patterns)
		if !slices.Equal(names, c.names) || v.shared(shared) != c.shared {
			t.Errorf("%q%q, want %q%q", names, v.shared(shared), c.names, c.shared)
		}
	}
}
