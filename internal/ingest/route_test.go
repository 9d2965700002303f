package ingest

import (
	"strings"
	"testing"

	"soku/internal/measure/finding"
)

// The figures here were read from the files by hand, times in µs.
func TestRoutesOfMtrAndEthrAreTraces(t *testing.T) {
	type hop struct {
		address         string
		sent, lost      int64
		mean, min, most float64
	}
	for file, want := range map[string][]hop{
		"mtr-r.txt":    {{"10.1.1.2", 4, 0, 700, 100, 2800}, {"10.1.2.2", 4, 0, 100, 100, 300}, {"10.1.3.2", 4, 0, 100, 100, 100}},
		"mtr-w.txt":    {{"10.1.1.2", 3, 0, 100, 100, 100}, {"10.1.2.2", 3, 0, 100, 100, 100}, {"10.1.3.2", 3, 0, 100, 100, 100}},
		"ethr-tr.txt":  {{"10.1.1.2", 1, 0, 363.101, 363.101, 363.101}, {"10.1.2.2", 1, 0, 129.023, 129.023, 129.023}, {"10.1.3.2", 1, 0, 55.543, 55.543, 55.543}},
		"ethr-mtr.txt": {{"10.1.1.2", 4, 0, 32.448, 14.292, 68.272}, {"10.1.2.2", 4, 0, 50.270, 21.823, 86.239}, {"10.1.3.2", 4, 0, 31.792, 22.033, 40.861}},
		"ethr-mtr.log": {{"10.1.1.2", 4, 0, 32.448, 14.292, 68.272}, {"10.1.2.2", 4, 0, 50.270, 21.823, 86.239}, {"10.1.3.2", 4, 0, 31.792, 22.033, 40.861}},
	} {
		r := one(t, file)
		if r.Trial.Label != "trace" || r.Trace == nil || !r.Trace.Reached || len(r.Trace.Hops) != len(want) {
			t.Errorf("%s: %q %+v", file, r.Trial.Label, r.Trace)
			continue
		}
		for i, h := range r.Trace.Hops {
			n := h.Nodes[0]
			if n.Address != want[i].address || h.Sent != want[i].sent || h.Lost != want[i].lost || !close2(n.MeanNs, want[i].mean*1e3) || !close2(n.MinNs, want[i].min*1e3) || !close2(n.MaxNs, want[i].most*1e3) {
				t.Errorf("%s: hop %d: %+v %+v, the file says %+v", file, i+1, h, n, want[i])
			}
		}
		f, last := r.Summary.ReportedRTT, want[len(want)-1]
		if f == nil || !close2(*f.Mean, last.mean*1e3) || f.Count != last.sent || !r.Trace.Hops[len(want)-1].Nodes[0].Target {
			t.Errorf("%s: to the target %+v", file, f)
		}
		if got := isMissing(r, finding.NoTarget); got != strings.HasPrefix(file, "mtr") {
			t.Errorf("%s: missing %+v", file, r.Origin.Missing)
		}
	}
	if r := one(t, "mtr-r.txt"); r.StartedAt.Format("15:04:05") != "10:54:08" || r.Path.Client.Name != "vm" {
		t.Errorf("%v %+v", r.StartedAt, r.Path)
	}
}

func TestEthrsProbesWithoutAnAnswerAreLost(t *testing.T) {
	results, err := read(t, Auto, strings.Replace(text(t, "ethr-mtr.txt"), "4       4    30.315us", "4       3    30.315us", 1))
	if err != nil {
		t.Fatal(err)
	}
	if h := results[0].Trace.Hops[1]; h.Sent != 4 || h.Lost != 1 {
		t.Errorf("%+v", h)
	}
}

func TestHopsWithoutAnAnswerAreKept(t *testing.T) {
	head := "HOST: vm      Loss%   Snt   Last   Avg  Best  Wrst StDev\n  1.|-- AS65001 gw.example.net (10.0.0.1) 25.0%  8  0.4 0.5 0.4 0.9 0.1\n    |  `|-- 10.0.0.9\n  2.|-- ???  100.0  8  0.0 0.0 0.0 0.0 0.0\n"
	results, err := read(t, Auto, head+"  3.|-- 10.0.0.3 0.0% 8 1.4 1.5 1.4 1.9 0.1\n"+head)
	if err != nil || len(results) != 2 {
		t.Fatalf("%d results, %v", len(results), err)
	}
	r := results[0]
	if h := r.Trace.Hops; len(h) != 3 || h[0].Lost != 2 || h[0].Nodes[0].Name != "gw.example.net" || h[0].Nodes[0].Address != "10.0.0.1" || len(h[1].Nodes) != 0 || h[1].Lost != 8 || strings.Join(r.Trace.Flows[0].Path, ",") != "10.0.0.1,,10.0.0.3" {
		t.Errorf("%+v", r.Trace)
	}
	if r := results[1]; r.Trace.Reached || r.Summary.ReportedRTT != nil || r.Path.Server.Address != "" || !isMissing(r, finding.NoTimes) {
		t.Errorf("a path whose end did not answer: %+v", r.Trace)
	}
}
