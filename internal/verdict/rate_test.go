package verdict

import (
	"slices"
	"testing"

	"soku/internal/measure"
	"soku/internal/measure/finding"
	"soku/internal/measure/option"
)

// atRate is a trial of datagrams that all arrive at the rate of its options.
func atRate(rate measure.Rate, findings measure.Findings) *measure.Result {
	loss, o := 0.0, option.Defaults(measure.TestUDP)
	o.Rate = rate
	s := measure.Summary{GoodputBps: float64(rate), LossRatio: &loss, PacketsSent: 1000, PacketsReceived: 1000, DurationNs: o.Duration}
	return &measure.Result{
		Test: measure.TestUDP, Options: o, Summary: s, Findings: findings,
		Flows: []measure.Flow{{Direction: measure.Forward, Summary: s, Streams: []measure.Stream{{}}}},
	}
}

func TestARateThatNobodyAskedForIsNamed(t *testing.T) {
	lowered := func(figures measure.Figures) measure.Findings {
		return measure.Findings{measure.NewFinding(finding.ServerLoweredRate, measure.AtServer, figures)}
	}
	for _, c := range []struct {
		name string
		r    *measure.Result
		want *measure.RateLimit
	}{
		{"asked for", atRate(25e6, nil), nil},
		{"default", atRate(10e6, nil), &measure.RateLimit{Source: measure.RateOfDefault, Bps: 10e6}},
		{"lowered", atRate(300e6, lowered(measure.Figures{"rate_bps": 300e6, "requested_bps": 500e6})), &measure.RateLimit{Source: measure.RateOfServer, Bps: 300e6, RequestedBps: 500e6}},
		{"without a limit", atRate(300e6, lowered(measure.Figures{"rate_bps": 300e6})), &measure.RateLimit{Source: measure.RateOfServer, Bps: 300e6}},
	} {
		v := Judge(c.r)
		if v.LimitedBy != measure.BottleneckApplication {
			t.Errorf("%s: %+v", c.name, v)
		}
		if got := v.Rate; (got == nil) != (c.want == nil) || got != nil && *got != *c.want {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
}

func TestOnABusyHostNoLimitOfThePathIsCertain(t *testing.T) {
	r, sender, receiver := transfer()
	for i := range sender.Columns["forward.0.rtt_ns"] { // a queue in which the control connection waits, too
		for _, column := range []string{"forward.0.rtt_ns", "forward.1.rtt_ns"} {
			sender.Columns[column][i] = 40e6
		}
		sender.Columns["control.rtt_ns"][i] = 40e6 + int64(i)
	}
	r.Options.Rate = 0
	for _, findings := range []measure.Findings{nil, {measure.NewFinding(finding.HostBusy, measure.AtClient, measure.Figures{"run_delay_ratio": 0.3})}} {
		r.Findings = findings
		v := Judge(withSeries(r, sender, receiver))
		want, probe := measure.High, measure.Probe("")
		if findings != nil {
			want, probe = measure.Medium, measure.ProbeAnotherTime
		}
		if counted(v) || v.Confidence != want || v.NextMeasurement != probe {
			t.Errorf("%+v, want a limit of the path with the confidence %s", v, want)
		}
	}
}

// A busy host makes threads, packets and acknowledgements wait. What is counted says the same there.
func TestOnlyWhatIsCountedIsCertainOnABusyHost(t *testing.T) {
	certain := []measure.Bottleneck{
		measure.BottleneckApplication, measure.BottleneckNone, measure.BottleneckInstanceAllowance,
		measure.BottleneckDiskRead, measure.BottleneckDiskWrite, measure.BottleneckFileCost,
	}
	counters := []Key{SenderThrottled, ReceiverThrottled, SocketDrops, ListenDrops, ListenStall, ConntrackDrops}
	for _, rule := range Rules {
		v := judge(examples[rule.Name].figures(), rule.Tests[0])
		counter := slices.ContainsFunc(v.Evidence, func(e measure.Evidence) bool {
			return slices.Contains(counters, Key(e.Figure)) && e.Comparison == ">="
		})
		if got, want := counted(v), counter || slices.Contains(certain, v.LimitedBy); got != want {
			t.Errorf("%s rests on counters: %v, want %v", rule.Name, got, want)
		}
	}
}

// What varies on a busy host may vary for its other work.
func TestAGoodputThatVariesOnABusyHostShowsNoOtherTraffic(t *testing.T) {
	v := judge(examples["queue_unsteady"].figures(), measure.TestTCP)
	if lessCertain(v); v.LimitedBy != measure.BottleneckCompetingTraffic || v.Confidence != measure.Low || v.NextMeasurement != measure.ProbeAnotherTime {
		t.Errorf("%+v", v)
	}
}

func TestACopyThatItsDiskLimitsIsAsCertainOnABusyHost(t *testing.T) {
	r := copied(func(source, _ *measure.CopyWork) { source.ReadNs = 18e9 })
	want := Judge(r)
	r.Findings = measure.Findings{measure.NewFinding(finding.HostBusy, measure.AtClient, measure.Figures{"run_delay_ratio": 0.3})}
	if got := Judge(r); want.LimitedBy != measure.BottleneckDiskRead || want.Confidence != measure.High || got.Confidence != want.Confidence {
		t.Errorf("%+v on a busy host, want %+v", got, want)
	}
}
