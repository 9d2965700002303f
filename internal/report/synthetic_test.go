package report

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"soku/internal/measure"
	"soku/internal/measure/option"
	"soku/internal/stats"
)

// synthetic describes a campaign to make up: results as real trials leave
// them, from a seeded source, so that every run gives the same documents.
type synthetic struct {
	patterns []syntheticPattern
	rounds   int
	udp      bool
	seconds  int
}

type syntheticPattern struct {
	sku, zone string
	bps       float64
	rtt       time.Duration // median
}

func fourPatterns() synthetic {
	return synthetic{rounds: 3, seconds: 10, patterns: []syntheticPattern{
		{"Standard", "none", 412e6, 4200 * time.Microsecond},
		{"Ultra Performance + FastPath, zone redundant", "1", 962e6, 1150 * time.Microsecond},
		{"高性能ゲートウェイ（東日本）", "2", 741e6, 2650 * time.Microsecond},
		{"ErGw1AZ", "3", 739e6, 2600 * time.Microsecond},
	}}
}

func (s synthetic) meta() Meta {
	return Meta{
		ID: "01KAJ3V6Q8ZB7T5W", Name: "gateway-skus", Title: "Which gateway is fastest from the office?", Seed: 42,
		StartedAt: syntheticStart, FinishedAt: syntheticStart.Add(40 * time.Minute),
		Plan: "campaign: gateway-skus\nrounds: 3\nfactors:\n  sku: [Standard, ErGw1AZ]   # and two more\n",
	}
}

var syntheticStart = time.Date(2026, 3, 14, 9, 26, 0, 0, time.UTC)

func (s synthetic) input() Input {
	r := rand.New(rand.NewPCG(7, 7))
	in := Input{Campaign: s.meta()}
	at, n := syntheticStart, 0
	tests := []measure.Test{measure.TestTCP, measure.TestLatency}
	if s.udp {
		tests = append(tests, measure.TestUDP)
	}
	for round := 1; round <= s.rounds; round++ {
		drift := 1 + 0.02*r.NormFloat64()
		for order, i := range r.Perm(len(s.patterns)) {
			for _, test := range tests {
				n++
				at = at.Add(17 * time.Second)
				res := s.trial(r, s.patterns[i], test, drift)
				res.ID, res.StartedAt = fmt.Sprintf("01KAJ%06d", n), at
				res.Trial.Round, res.Trial.Repeat, res.Trial.Order = round, 1, order+1
				in.Results = append(in.Results, res)
			}
		}
	}
	return in
}

func (s synthetic) trial(r *rand.Rand, p syntheticPattern, test measure.Test, drift float64) *measure.Result {
	o, err := option.Effective(option.Defaults(test), test)
	if err != nil {
		panic(err)
	}
	o.Duration = measure.Duration(time.Duration(s.seconds) * time.Second)
	res := &measure.Result{
		Schema: measure.Schema, Test: test, Tool: measure.Tool{Name: "soku", Version: "1.0.0", Protocol: "soku/1"},
		Trial: &measure.Trial{
			Campaign: s.meta().ID, Name: "gateway-skus", Pattern: p.sku + "/" + p.zone, Label: string(test), Seed: 42,
			Levels: []measure.Level{{Factor: "gateway SKU", Value: p.sku}, {Factor: "zone", Value: p.zone}},
		},
		Path:    measure.Path{Client: measure.Endpoint{Name: "office", Address: "192.0.2.10"}, Server: measure.Endpoint{Name: "vm-" + p.zone, Address: "198.51.100.7", Label: "private"}, Direction: measure.Forward},
		Options: o,
		Hosts:   measure.Hosts{Client: syntheticHost("office", 8, "bbr"), Server: syntheticHost("vm-"+p.zone, 4, "cubic")},
	}
	switch test {
	case measure.TestLatency:
		s.latency(r, res, p, drift)
	default:
		s.throughput(r, res, p, drift)
	}
	return res
}

func (s synthetic) throughput(r *rand.Rand, res *measure.Result, p syntheticPattern, drift float64) {
	rate, wander := p.bps*drift*(1+0.01*r.NormFloat64())/8, 0.0
	if res.Test == measure.TestUDP {
		rate = min(rate, 90e6/8)
	}
	f := measure.Flow{Direction: measure.Forward}
	for i := range s.seconds * 10 {
		wander = 0.8*wander + 0.02*r.NormFloat64()
		share := min(1, math.Exp2(float64(i)-6)) * (1 + wander)
		from := int64(i) * 100e6
		f.Samples = append(f.Samples, measure.Sample{StartNs: from, EndNs: from + 100e6, ReceivedBytes: int64(rate * share / 10)})
		f.Summary.ReceivedBytes += int64(rate * share / 10)
	}
	steady := stats.SteadyState(f.Samples, int64(s.seconds)*1e9)
	f.Summary.GoodputBps = steady.Bps()
	f.Summary.SetConfidence(steady.Confidence, steady.Reason)
	f.Summary.DurationNs = measure.Duration(time.Duration(s.seconds) * time.Second)
	resent := int64(r.IntN(40))
	f.Summary.Retransmits = &resent
	cost := 0.3 - p.bps/5e9
	f.Summary.CPUSecPerGB = &cost
	if res.Test == measure.TestUDP {
		loss, jitter := 0.002*r.Float64(), 40e3*(1+r.Float64())
		f.Summary.LossRatio, f.Summary.JitterNs, f.Summary.Retransmits = &loss, &jitter, nil
		f.Summary.PacketsPerSecond = steady.Bps() / 8 / 1400
		res.Findings = append(res.Findings, measure.TextFinding(fmt.Sprintf("the receiver dropped %d datagrams for want of buffer", 10+r.IntN(90))))
	}
	res.Flows, res.Summary = []measure.Flow{f}, f.Summary
}

func (s synthetic) latency(r *rand.Rand, res *measure.Result, p syntheticPattern, drift float64) {
	l := &measure.Latency{Timing: &measure.Timing{Loop: measure.LoopClosed, Clock: measure.ClockProgram}, Histogram: measure.NewHistogram()}
	for i := range 200 {
		slice := make([]int64, 20)
		for j := range slice {
			v := float64(p.rtt) * drift * math.Exp(0.06*r.NormFloat64())
			if r.IntN(200) == 0 {
				v *= 1 + 6*r.Float64()
			}
			slice[j] = int64(v)
			l.Histogram.Record(slice[j])
			l.Sent++
			l.Received++
		}
		slices.Sort(slice)
		l.Series = append(l.Series, measure.LatencyPoint{AtNs: int64(i) * int64(s.seconds) * 5e6, P50Ns: slice[10], MaxNs: slice[19]})
	}
	floor := measure.NewHistogram()
	for range 100 {
		floor.Record(int64(21e3 * math.Exp(0.1*r.NormFloat64())))
	}
	l.Floor = &measure.FloorReading{RTT: *floor.Percentiles(), Clock: "CLOCK_MONOTONIC"}
	res.Latency = l
	res.Summary.RTT = l.Histogram.Percentiles()
	res.Summary.FloorNs = &l.Floor.RTT.P50
	res.Summary.Confidence = measure.High
}

func syntheticHost(name string, cpus int, congestion string) *measure.Host {
	return &measure.Host{Facts: measure.Facts{
		Hostname: name, OS: "linux", Arch: "amd64", Distribution: "Debian GNU/Linux 13", Kernel: "6.12.48", Virtual: "kvm",
		CPUModel: "Example CPU 8370C 2.80GHz", CPUs: cpus, MemoryBytes: 16 << 30, Interface: "eth0", MTU: 1500, Driver: "mlx5_core",
		LinkSpeedMbps: 25000, Qdisc: "mq", Congestion: congestion, ClockSource: "tsc",
		Offloads: map[string]bool{"gro": true, "gso": true, "lro": false},
		Sysctl:   map[string]string{"net.core.rmem_max": "212992"},
	}}
}

// failed turns a result into one that broke off.
func failed(r *measure.Result) {
	r.Error = &measure.Error{Kind: measure.KindBroken, Message: "tcp to vm-2.private: connection reset after 3.1 s", Hint: "see the server's log"}
	for i := range r.Flows {
		r.Flows[i].Samples = r.Flows[i].Samples[:31]
	}
	r.Summary = measure.Summary{GoodputBps: 1}
}

// campaignWithFailure is the report most tests look at: 4 patterns, 2 tests, 3
// rounds, one failed trial.
func campaignWithFailure() Input {
	in := fourPatterns().input()
	for _, r := range in.Results {
		if r.Test == measure.TestTCP && r.Trial.Round == 2 && r.Trial.Levels[1].Value == "2" {
			failed(r)
		}
	}
	return in
}
