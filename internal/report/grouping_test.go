package report

import (
	"slices"
	"strings"
	"testing"

	"soku/internal/measure"
	"soku/internal/text"
)

func TestAReportGroupsTrialsByLabelAndPattern(t *testing.T) {
	r := build(t, campaignWithFailure())
	if len(r.Tests) != 2 || r.Tests[0].Label != "tcp" || r.Tests[1].Label != "latency" {
		t.Fatalf("tests %+v", r.Tests)
	}
	if r.Trials != 24 || r.Failed != 1 || r.Rounds != 3 {
		t.Errorf("%d trials, %d failed, %d rounds", r.Trials, r.Failed, r.Rounds)
	}
	tcp := r.test(t, "tcp")
	if !slices.Equal(tcp.Factors, []string{"gateway SKU", "zone"}) || len(tcp.Rows) != 4 {
		t.Errorf("factors %v, %d rows", tcp.Factors, len(tcp.Rows))
	}
	for _, row := range tcp.Rows {
		if row.Trials+row.Failed != 3 {
			t.Errorf("%s: %d trials", row.Pattern, row.Trials+row.Failed)
		}
	}
}

// Levels of a factor that sets nothing in a test are one pattern there.
func TestPatternsAreNotComparedByAFactorThatSetsNothing(t *testing.T) {
	in := Input{Campaign: Meta{ID: "c", Name: "c", Seed: 1}, Unvaried: map[string][]string{"rtt": {"streams"}, "ping": {"streams", "path"}}}
	for _, path := range []string{"vpc", "public"} {
		for i, streams := range []string{"1", "16"} {
			levels := []measure.Level{{Factor: "path", Value: path}, {Factor: "streams", Value: streams}}
			in.Patterns = append(in.Patterns, levels)
			for _, label := range []string{"up", "rtt", "ping"} {
				for round := 1; round <= 2; round++ {
					r := tcpTrial(path+" / "+streams, round, 100e6+1e6*float64(i+round))
					r.ID, r.Trial.Label, r.Trial.Levels = label+r.ID, label, levels
					in.Results = append(in.Results, r)
				}
			}
		}
	}
	r := build(t, in)
	for label, want := range map[string]struct {
		patterns []string
		caveat   string
	}{
		"up":   {[]string{"vpc / 1", "vpc / 16", "public / 1", "public / 16"}, ""},
		"rtt":  {[]string{"vpc", "public"}, "Streams sets nothing in this test: trials of all its levels are counted together."},
		"ping": {[]string{"all"}, "Streams and path set nothing in this test: trials of all their levels are counted together."},
	} {
		test := r.test(t, label)
		var got []string
		for _, row := range test.Rows {
			got = append(got, row.Pattern)
			if all := len(test.Rows) * row.Trials; all != 8 {
				t.Errorf("%s: %s has %d trials", label, row.Pattern, row.Trials)
			}
		}
		if !slices.Equal(got, want.patterns) || len(test.Ranking) != len(want.patterns) {
			t.Errorf("%s: rows %q, ranking %+v", label, got, test.Ranking)
		}
		if said := strings.Join(english(test).caveats(), ""); said != want.caveat {
			t.Errorf("%s: caveats %q", label, said)
		}
	}
}

func TestBytesDroppedAndBytesReadAreNeverCompared(t *testing.T) {
	results := func(paths ...string) []*measure.Result {
		var in []*measure.Result
		for _, x := range fourPatterns().input().Results {
			if x.Test != measure.TestTCP {
				continue
			}
			x.Flows[0].RXPath = paths[len(in)%len(paths)]
			in = append(in, x)
		}
		return in
	}
	labels := func(in []*measure.Result) (out []string) {
		r, err := Build(Input{Results: in})
		if err != nil {
			t.Fatal(err)
		}
		for i := range r.Tests {
			out = append(out, english(&r.Tests[i]).label())
		}
		return out
	}
	if got := labels(results("discard", "read")); !slices.Equal(got, []string{"tcp, bytes discarded", "tcp, bytes read"}) {
		t.Errorf("two kinds of receiving make the tests %q", got)
	}
	if got := labels(results("discard", "")); !slices.Equal(got, []string{"tcp"}) {
		t.Errorf("a trial that took no byte is of a kind of its own: %q", got)
	}
}

func TestPatternsOfOneNameStayApart(t *testing.T) {
	a, b := tcpTrial("p", 1, 1e6), tcpTrial("p", 1, 2e6)
	b.Trial.Levels = []measure.Level{{Factor: "path", Value: "other"}}
	test := build(t, Input{Results: []*measure.Result{a, b}}).Tests[0]
	if len(test.Rows) != 2 || test.Rows[0].Pattern == test.Rows[1].Pattern {
		t.Errorf("%+v", test.Rows)
	}
}

func TestAPatternIsItsLevelsWhateverItIsCalled(t *testing.T) {
	a, b := tcpTrial("p", 1, 1e6), tcpTrial("p", 2, 2e6)
	b.Trial.Pattern = `"p"`
	test := build(t, Input{Results: []*measure.Result{a, b}}).Tests[0]
	if len(test.Rows) != 1 || test.Rows[0].Trials != 2 {
		t.Errorf("%+v", test.Rows)
	}
}

func TestTrialsByHandAreNamedByPathAndOptions(t *testing.T) {
	in := Input{}
	for i, streams := range []int{16, 2, 16} {
		r := tcpTrial("x", 1, float64(100+i))
		r.Trial = nil
		r.Options.Streams = streams
		r.Path = measure.Path{Client: measure.Endpoint{Name: "me"}, Server: measure.Endpoint{Name: "vm"}}
		in.Results = append(in.Results, r)
	}
	report := build(t, in)
	test := report.Tests[0]
	if title := (reportView{report, text.English()}).title(); title != "Trials run by hand" || !slices.Equal(test.Factors, []string{"path", "streams"}) || len(test.Rows) != 2 {
		t.Fatalf("%q %v %d rows", title, test.Factors, len(test.Rows))
	}
	if test.Rows[0].Pattern != "me → vm, streams 2" || test.Rows[1].Trials != 2 {
		t.Errorf("%+v", test.Rows)
	}
	if !strings.Contains(english(&test).answer(), "not tested") || !slices.ContainsFunc(english(&test).caveats(), func(s string) bool { return strings.Contains(s, "by hand") }) {
		t.Errorf("%+v %+v", test.Answer, test.Caveats)
	}
}
