package floor

import (
	"context"
	"testing"

	"soku/internal/measure"
	"soku/internal/measure/finding"
	"soku/internal/text"
	"soku/internal/trial"
)

func TestABaselineFigureIsThatOfItsTrial(t *testing.T) {
	cost := 0.25
	tcp := &measure.Result{
		Summary: measure.Summary{GoodputBps: 4e9, CPUSecPerGB: &cost},
		Flows:   []measure.Flow{{TXPath: "splice", RXPath: "discard", Streams: []measure.Stream{{}, {TCP: &measure.TCPInfo{Congestion: "cubic"}}}}},
	}
	g := goodputOf(mode{name: "m"}, tcp)
	if g.Mode != "m" || g.GoodputBps != 4e9 || g.TXPath != "splice" || g.RXPath != "discard" || g.Congestion != "cubic" {
		t.Errorf("goodput %+v", g)
	}
	if g.BpsPerCore != 32e9 { // a core does 4 GB a second
		t.Errorf("%v bit/s a core at 0.25 s/GB", g.BpsPerCore)
	}
	half := 0.5
	udp := &measure.Result{
		Options: measure.Options{Size: 64}, Summary: measure.Summary{PacketsPerSecond: 1e6, LossRatio: &half},
		Flows: []measure.Flow{{TXPath: "gso", RXPath: "gro"}},
	}
	if p := packetsOf(mode{}, udp); p.SenderNsPerPacket != 0 || p.ReceiverNsPerPacket != 0 {
		t.Errorf("unknown costs: %+v", p)
	}
	udp.Hosts.Client = &measure.Host{Counters: &measure.Counters{CPUNsPerPacket: 100}}
	udp.Hosts.Server = &measure.Host{Counters: &measure.Counters{CPUNsPerPacket: 200}}
	p := packetsOf(mode{name: "m"}, udp)
	if p.Mode != "m" || p.SizeBytes != 64 || p.PacketsPerSecond != 1e6 || *p.LossRatio != 0.5 || p.TXPath != "gso" || p.RXPath != "gro" {
		t.Errorf("packets %+v", p)
	}
	if p.SenderNsPerPacket != 100 || p.ReceiverNsPerPacket != 200 {
		t.Errorf("the client sends: %+v", p)
	}
}

func TestABusyHostIsReported(t *testing.T) {
	for load, want := range map[float64]bool{0: false, 2: false, 2.1: true, 3: true} {
		d := &Document{Host: measure.Facts{CPUs: 4, Load1: load}}
		d.warnOfLoad()
		found := d.Findings.With(finding.HostLoaded)
		if len(found) != len(d.Findings) || (len(found) == 1) != want || want && (found[0].Figures["load_1m"] != load || found[0].Figures["cpus"] != 4.0) {
			t.Errorf("load %v of 4 processors: %+v", load, d.Findings)
		}
	}
}

func TestTheBestOfSeveralTrialsIsKept(t *testing.T) {
	figures := []float64{2, 9, 4}
	for _, kind := range []kind{goodput, packets} {
		made := 0
		r := run{Config: Config{Step: func(text.Line, int, int) {}}, lengths: brief, doc: &Document{},
			one: func(context.Context, trial.Spec, trial.Hooks) *measure.Result {
				x := figures[made]
				made++
				return &measure.Result{Summary: measure.Summary{GoodputBps: x, PacketsPerSecond: x}}
			}}
		r.best = len(figures)
		if err := r.mode(t.Context(), mode{kind, "any", measure.TestTCP, nil}); err != nil {
			t.Fatal(err)
		}
		switch d := r.doc; {
		case made != len(figures):
			t.Errorf("%d trials, want %d", made, len(figures))
		case kind == goodput && (len(d.Goodput) != 1 || d.Goodput[0].GoodputBps != 9),
			kind == packets && (len(d.Packets) != 1 || d.Packets[0].PacketsPerSecond != 9):
			t.Errorf("kept %+v and %+v", d.Goodput, d.Packets)
		}
	}
}
