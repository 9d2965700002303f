package trial

import (
	"slices"
	"testing"

	"soku/internal/measure"
	"soku/internal/measure/finding"
)

// busyHost is an end of 2 s whose threads waited for a processor for some time, on a host whose
// processors worked for some time. Both are in ns, and the program itself worked for 1 s.
func busyHost(boot string, waited, worked int64) *measure.Host {
	return &measure.Host{
		Facts:    measure.Facts{Deployment: &measure.Deployment{BootID: boot}},
		Counters: &measure.Counters{WallNs: 2e9, ProcessUserNs: 5e8, ProcessSysNs: 5e8, CPUBusyNs: worked},
		Series:   measure.NewSeries(measure.SeriesValues{AtNs: []int64{0, 1e9, 2e9}, Columns: map[string][]int64{"process.wait_ns": {waited / 2, waited / 2}}}),
	}
}

func TestABusyHostLowersTheConfidence(t *testing.T) {
	const busyWait, quietWait = 6e8, 2e8
	for name, c := range map[string]struct {
		client, server *measure.Host
		want           []measure.Where
	}{
		"quiet":                            {busyHost("a", quietWait, 11e8), busyHost("b", quietWait, 11e8), nil},
		"busy client":                      {busyHost("a", busyWait, 38e8), busyHost("b", quietWait, 11e8), []measure.Where{measure.AtClient}},
		"busy server":                      {busyHost("a", quietWait, 11e8), busyHost("b", busyWait, 38e8), []measure.Where{measure.AtServer}},
		"threads that wait for each other": {busyHost("a", busyWait, 11e8), busyHost("b", quietWait, 11e8), nil},
		"both ends on one machine":         {busyHost("a", busyWait, 22e8), busyHost("a", busyWait, 22e8), nil},
		"and others with them":             {busyHost("a", busyWait, 39e8), busyHost("a", busyWait, 39e8), []measure.Where{measure.AtClient, measure.AtServer}},
		"nothing is known":                 {&measure.Host{}, nil, nil},
	} {
		s := measure.Summary{Confidence: measure.High}
		r := &measure.Result{Test: measure.TestTCP, Summary: s, Flows: []measure.Flow{{Summary: s}}, Hosts: measure.Hosts{Client: c.client, Server: c.server}}
		warnBusy(r)
		var where []measure.Where
		for _, f := range r.Findings.With(finding.HostBusy) {
			where = append(where, f.Where)
			if ratio, _ := f.Number("run_delay_ratio"); ratio != 0.3 {
				t.Errorf("%s: waited %v of the time", name, ratio)
			}
		}
		if !slices.Equal(where, c.want) {
			t.Errorf("%s: found at %v, want %v", name, where, c.want)
		}
		confidence := measure.High
		if len(c.want) > 0 {
			confidence = measure.Medium
		}
		if why, _ := r.Summary.Why(); r.Summary.Confidence != confidence || r.Flows[0].Summary.Confidence != confidence || len(c.want) > 0 && why.Code != finding.HostBusy {
			t.Errorf("%s: confidence %s, %s (%s)", name, r.Summary.Confidence, r.Flows[0].Summary.Confidence, why.Code)
		}
	}
}

func TestAProgramThatWakesUpLateIsOnABusyHost(t *testing.T) {
	for wakeUp, busy := range map[float64]bool{30e3: false, 657e3: true} {
		r := &measure.Result{Test: measure.TestLatency, Summary: measure.Summary{
			Confidence: measure.High, RTT: &measure.Percentiles{P50: 1e6}, ApplicationRTT: &measure.Percentiles{P50: 1e6 + wakeUp},
		}}
		warnBusy(r)
		if found := r.Findings.With(finding.HostBusy); (len(found) == 1) != busy || (r.Summary.Confidence == measure.Medium) != busy {
			t.Errorf("%v ns: %+v, confidence %s", wakeUp, found, r.Summary.Confidence)
		}
	}
}
