package report

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"soku/internal/measure"
)

// tunnelled is a campaign of one pattern whose trials have flows with these shares, in Mbit/s.
func tunnelled(trials ...[]float64) Input {
	in := Input{Campaign: Meta{ID: "c", Name: "c"}}
	for i, shares := range trials {
		r := tcpTrial("active/active", i+1, 0)
		f := measure.Flow{Direction: measure.Forward, Summary: measure.Summary{DurationNs: measure.Duration(10e9)}}
		for k, mbps := range shares {
			f.Streams = append(f.Streams, measure.Stream{Index: k, ReceivedBytes: int64(mbps * 1e6 / 8 * 10)})
			r.Summary.GoodputBps += mbps * 1e6
			f.Summary.ReceivedBytes += int64(mbps * 1e6 / 8 * 10)
		}
		f.Summary.GoodputBps = r.Summary.GoodputBps
		r.ID, r.Flows = fmt.Sprint("t", i), []measure.Flow{f}
		in.Results = append(in.Results, r)
	}
	return in
}

func TestFlowsThatFallIntoGroupsSayWhatAnotherDrawGives(t *testing.T) {
	r := build(t, tunnelled([]float64{250, 250, 500}, []float64{167, 166, 167}, []float64{500, 251, 250}, []float64{250, 500, 249}))
	tcp := r.test(t, "tcp")
	if len(tcp.FlowGroups) != 1 {
		t.Fatalf("%+v", tcp.FlowGroups)
	}
	g := tcp.FlowGroups[0]
	// All three flows miss a group in one draw of eight: 2 (1 - 1/8) groups are in use on average.
	if g.Groups != 2 || g.Flows != 3 || g.Trials != 4 || math.Abs(g.CapacityBps-500e6) > 1e6 || math.Abs(g.ExpectedBps-1.75*g.CapacityBps) > 1 || g.MostBps != 2*g.CapacityBps {
		t.Errorf("%+v", g)
	}
	want := "active/active: the 3 flows of a trial fall into up to 2 groups of 500.0 Mbit/s each, as hashing over tunnels does. Another draw of ports gives 875.0 Mbit/s on average and 1.000 Gbit/s at best; the 4 trials had 500.0 Mbit/s to 1.001 Gbit/s."
	if got := english(tcp).causes(); len(got) != 1 || got[0] != want {
		t.Errorf("%q\nwant %q", got, want)
	}
	var doc struct {
		Tests []struct {
			FlowGroups []map[string]any `json:"flow_groups"`
		}
	}
	if err := json.Unmarshal([]byte(written(t, r.JSON)), &doc); err != nil || doc.Tests[0].FlowGroups[0]["groups"] != 2.0 {
		t.Errorf("%v %+v", err, doc)
	}
	for _, form := range []string{"html", "md", "txt"} {
		if got := strings.Join(strings.Fields(written(t, forms(r)[form])), " "); !strings.Contains(got, "Another draw of ports gives 875.0 Mbit/s on average") {
			t.Errorf("%s does not say it", form)
		}
	}
}

func TestFlowsWithoutGroupsAreSaidToHaveNone(t *testing.T) {
	tcp := build(t, tunnelled([]float64{500, 90, 40}, []float64{400, 210, 30}, []float64{300, 20, 10})).test(t, "tcp")
	said := english(tcp).sentences()
	if last := said[len(said)-1]; !strings.HasPrefix(last, "Active/active: flows share unevenly (fairness down to 0.4") || !strings.HasSuffix(last, "would give is unknown.") {
		t.Errorf("%q", said)
	}
	if g := tcp.FlowGroups[0]; g.Groups != 0 || g.CapacityBps != 0 || g.LowBps != 330e6 || g.HighBps != 640e6 {
		t.Errorf("%+v", g)
	}
}

// severalTunnelled are the trials of several patterns.
func severalTunnelled(patterns map[string]Input) (in Input) {
	for name, one := range patterns {
		in.Campaign = one.Campaign
		for _, r := range one.Results {
			r.ID, r.Trial.Pattern, r.Trial.Levels = name+r.ID, name, []measure.Level{{Factor: "path", Value: name}}
			in.Results = append(in.Results, r)
		}
	}
	return in
}

func TestGroupsOfSeveralPatternsAreOneSentenceAndATable(t *testing.T) {
	r := build(t, severalTunnelled(map[string]Input{
		"a": tunnelled([]float64{250, 250, 500}, []float64{167, 166, 167}, []float64{500, 251, 250}, []float64{250, 500, 249}),
		"b": tunnelled([]float64{500, 500, 1000}, []float64{334, 333, 333}, []float64{1000, 500, 500}),
	}))
	v := english(r.test(t, "tcp"))
	want := "The flows of 2 patterns fall into groups of equal capacity, as hashing over tunnels does: up to 2 groups of 500.0 Mbit/s to 1.000 Gbit/s each."
	if got := v.hashing(); got != want {
		t.Errorf("%q\nwant %q", got, want)
	}
	for i, want := range []string{"a 3 2 500.0 875.0 1000 500.0 to 1001", "b 3 2 1000 1750 2000 1000 to 2000"} {
		if got := strings.Join(texts(v.flowTable())[i], " "); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	for _, form := range []string{"html", "md", "txt"} {
		if got := written(t, forms(r)[form]); !strings.Contains(got, "groups of flows") || !strings.Contains(got, "another draw") {
			t.Errorf("%s has no table of them", form)
		}
	}
}

func TestOfManyUnevenPatternsTheWorstIsNamed(t *testing.T) {
	uneven := tunnelled([]float64{500, 90, 40}, []float64{400, 210, 30}, []float64{300, 20, 10})
	for patterns, want := range map[*map[string]Input]string{
		{"a": uneven, "b": tunnelled([]float64{250, 230, 250}, []float64{250, 230, 250}), "c": tunnelled([]float64{500, 290, 40}, []float64{400, 210, 30})}: "Flows share unevenly in 2 of 3 patterns (fairness down to 0.401, a) and do not fall",
		{"b": tunnelled([]float64{500, 90, 40}), "c": tunnelled([]float64{500, 290, 40}, []float64{400, 210, 30})}:                                          "Flows share unevenly in all 2 patterns (fairness down to 0.509, b) and do not fall",
	} {
		if got := english(build(t, severalTunnelled(*patterns)).test(t, "tcp")).ungrouped(); !strings.HasPrefix(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestFlowsThatShareEvenlyNeedNoExplanation(t *testing.T) {
	for name, in := range map[string]Input{
		"even":             tunnelled([]float64{250, 250, 240}, []float64{250, 230, 250}),
		"one flow":         tunnelled([]float64{250}, []float64{900}),
		"different counts": tunnelled([]float64{250, 250, 500}, []float64{500, 500}, []float64{250, 500, 250}),
	} {
		if tcp := build(t, in).test(t, "tcp"); tcp.FlowGroups != nil || len(english(tcp).causes()) > 0 {
			t.Errorf("%s: %+v", name, tcp.FlowGroups)
		}
	}
}
