package cli

import (
	"encoding/json"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"soku/internal/report"
	"soku/internal/stats"
)

// answersOf is the report of a published table as JSON, and as text with one space between
// words.
func answersOf(t *testing.T, study, table string) (doc report.Report, said string) {
	t.Helper()
	store, base := filepath.Join(t.TempDir(), "soku.db"), filepath.Join(casesDir, study, table)
	if out, errs, code := soku(t, "ingest", "--store", store, "--map", base+".yaml", base+".csv"); code != 0 {
		t.Fatalf("ingest: %d %s %s", code, out, errs)
	}
	out, errs, code := soku(t, "report", study, "--store", store, "--format", "json")
	if code != 0 || json.Unmarshal([]byte(out), &doc) != nil {
		t.Fatalf("report: %d %s", code, errs)
	}
	out, _, _ = soku(t, "report", study, "--store", store, "--full")
	return doc, strings.Join(strings.Fields(out), " ")
}

func effectOf(t *testing.T, test report.Test, factor, a, b string) report.LevelEffect {
	t.Helper()
	for _, e := range test.Effects {
		switch {
		case e.Factor == factor && e.A == a && e.B == b:
			return e
		case e.Factor == factor && e.A == b && e.B == a && e.Ratio != nil:
			ratio := 1 / *e.Ratio
			e.A, e.B, e.Ratio, e.Low, e.High = a, b, &ratio, inverse(e.High), inverse(e.Low)
			return e
		}
	}
	t.Fatalf("no effect of %s: %s against %s", factor, a, b)
	return report.LevelEffect{}
}

func inverse(v *float64) *float64 {
	if v == nil {
		return nil
	}
	out := 1 / *v
	return &out
}

func says(t *testing.T, said string, sentences ...string) {
	t.Helper()
	for _, s := range sentences {
		if !strings.Contains(said, s) {
			t.Errorf("the report does not say: %s in\n%.3000s", s, said)
		}
	}
}

func TestTheInterfaceMatrixShowsWhatSetsTheThroughput(t *testing.T) {
	doc, said := answersOf(t, "interface-matrix", "interface-matrix-throughput")
	says(t, said, "Instance type sets the goodput: 3.01 × from Premium 4 GB to Premium 512 GB", "Interface makes no practical difference to the goodput: +0.5 % at most",
		"99.8 % to 101.0 % of the published limit is reached, least by")
	for _, pair := range [][2]string{{"VLAN", "public IP"}, {"VPC", "public IP"}, {"VLAN", "VPC"}} {
		if e := effectOf(t, doc.Tests[0], "interface", pair[0], pair[1]); e.Decision != stats.Same || e.Low == nil || *e.Low < 1/1.02 || *e.High > 1.02 {
			t.Errorf("%v: %+v, want no practical difference with an interval within 2 %%", pair, e)
		}
	}
}

func TestTheInterfaceMatrixShowsThatRoundTripsDiffer(t *testing.T) {
	doc, said := answersOf(t, "interface-matrix", "interface-matrix-ping")
	says(t, said, "Interface changes the mean round trip: +17.1 % from VLAN to public IP (95 % interval 6.2 to 29.1 %), in 9 combinations of other levels.",
		"After correction for 3 comparisons VLAN and public IP are the pair that differs; VPC and public IP; VLAN and VPC are not told apart.")
	for pair, decision := range map[[2]string]stats.Decision{
		{"VLAN", "public IP"}: stats.Better, {"VPC", "public IP"}: stats.NotShown, {"VLAN", "VPC"}: stats.NotShown,
	} {
		e := effectOf(t, doc.Tests[0], "interface", pair[0], pair[1])
		if pair == [2]string{"VLAN", "public IP"} && (e.P == nil || *e.P > 0.05) || e.Low == nil || (e.Decision != decision && e.Decision != opposite(decision)) {
			t.Errorf("%v: %+v, want %s", pair, e, decision)
		}
	}
}

func opposite(d stats.Decision) stats.Decision {
	return map[stats.Decision]stats.Decision{stats.Better: stats.Worse, stats.Worse: stats.Better}[d]
}

func TestTheBandwidthStudyShowsTheShareOfTheLimitAndWhatSetsIt(t *testing.T) {
	doc, said := answersOf(t, "vm-bandwidth-cap", "vm-bandwidth-cap")
	says(t, said, "Circuit (Mbit/s): the same goodput with 100 and 1000, in 1 combination of other levels, too few to test.",
		"Gateway SKU: goodput 7.0 × from Standard to UltraPerformance, in 1 combination of other levels, too few to test.",
		"90.8 % to 140.0 % of the published limit is reached, least by peered-vnet (10.90 Gbit/s of 12.00 Gbit/s, with streams 32), most by expressroute / Standard / 100 (1.400 Gbit/s of 1.000 Gbit/s, with streams 32).",
		"largest share of the published limit, of patterns that differ in streams only", "expressroute UltraPerformance 1000 32 98.3 ", "same-vnet – – 32 93.3 ")
	want := map[string]float64{
		"same-vnet": 11200.0 / 12000, "peered-vnet": 10900.0 / 12000, "expressroute/Standard/100": 1.4, "expressroute/Standard/1000": 1.4,
		"expressroute/UltraPerformance/1000": 0.983,
	}
	for _, r := range doc.Tests[0].Reached {
		var names []string
		for _, l := range r.Levels {
			if l.Value != "" {
				names = append(names, l.Value)
			}
		}
		path := strings.Join(names, "/")
		if math.Abs(*r.Share-want[path]) > 1e-9 {
			t.Errorf("%s: %v of the limit, want %v", path, *r.Share, want[path])
		}
		delete(want, path)
	}
	if len(want) > 0 {
		t.Errorf("no share of the limit for %v", want)
	}
}

func TestTheLatencyStudyShowsWhatItsRangesAllow(t *testing.T) {
	doc, said := answersOf(t, "expressroute-latency", "expressroute-latency")
	says(t, said, "FastPath: every run with true was below every run with false, all else equal (1 comparison); ranges only, so not tested.",
		"Gateway zone: every run with 1, 2 and 3 was below every run with none, all else equal (3 comparisons)",
		"Gateway zone: every run with 2 and 3 was below every run with none, all else equal (2 comparisons)")
	for _, test := range doc.Tests {
		for _, r := range test.Ranges {
			if r.Factor == "gateway zone" && r.Higher[0] != "none" {
				t.Errorf("%+v: zone-redundant gateways are the slower ones", r)
			}
		}
	}
}
