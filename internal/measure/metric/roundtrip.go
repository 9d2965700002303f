package metric

import "soku/internal/measure"

// The round trips that results keep as histograms.
var (
	// RoundTrips are those of latency, ping and of trace to its target, and the
	// set-ups of connections (SYN to SYN-ACK) of connect.
	RoundTrips = &Distribution{"rtt_ns", func(r *measure.Result) []*measure.Histogram { return histograms(r.Latency) }}
	// IdleRoundTrips are those before and after a load.
	IdleRoundTrips = &Distribution{"latency_under_load.idle", func(r *measure.Result) []*measure.Histogram {
		if r.UnderLoad == nil {
			return nil
		}
		return histograms(r.UnderLoad.Before, r.UnderLoad.After)
	}}
	// LoadedRoundTrips are those under load.
	LoadedRoundTrips = &Distribution{"latency_under_load.loaded", func(r *measure.Result) []*measure.Histogram {
		if r.UnderLoad == nil {
			return nil
		}
		return histograms(r.UnderLoad.During)
	}}
)

// Distributions lists all of them.
func Distributions() []*Distribution {
	return []*Distribution{RoundTrips, IdleRoundTrips, LoadedRoundTrips}
}

func histograms(parts ...*measure.Latency) []*measure.Histogram {
	var out []*measure.Histogram
	for _, l := range parts {
		if l != nil {
			out = append(out, l.Histogram)
		}
	}
	return out
}

// The figures of round trips that other code names.
var (
	RTTMean = RoundTripFamily.metric("rtt_mean_ns")
	RTTP50  = RoundTripFamily.metric("rtt_p50_ns")
	RTTP99  = RoundTripFamily.metric("rtt_p99_ns")
	RTTP999 = RoundTripFamily.metric("rtt_p99_9_ns")
	RTTMax  = RoundTripFamily.metric("rtt_max_ns")
	RTTLoss = RoundTripFamily.metric("rtt_loss_ratio")
	// RTTRunMean is the mean of a single trial.
	RTTRunMean = RoundTripFamily.metric("rtt_run_mean_ns")
	Floor      = RoundTripFamily.metric("floor_ns")
)

// RoundTripFamily is what is read from histograms of round trips, and the requests
// that had no reply.
var RoundTripFamily = &Family{
	"Round trips",
	"Of the test connect these are set-ups of connections, SYN to SYN-ACK; of trace the round trips to the target.", roundTripMetrics(),
}

func roundTripMetrics() []*Definition {
	columns := map[string]*Column{}
	drop := map[string]int{"min": 7, "mean": 4, "p50": 0, "p90": 8, "p95": 9, "p99": 1, "p99_9": 6, "p99_99": 10, "max": 5}
	for i, s := range statistics() {
		columns[s.name] = &Column{Drop: drop[s.name], Show: UnlessIngested, Instead: ReportedFamily.Metrics[i]}
	}
	columns["p50"].Scales, columns["mean"].Scales = 1, 2
	out := statisticsOf("rtt", "round trips", RoundTrips, true, columns)
	for _, m := range out {
		switch {
		case m.Column != nil:
			m.Take = orReported(m.Read, m.Column.Instead)
		case m.Key == "rtt_count":
			m.Take = ofAsked(func(r *measure.Result) float64 {
				if h := RoundTrips.Histogram(r); h != nil {
					return float64(h.Count())
				}
				return 0
			})
		}
		if m.Key == "rtt_mean_ns" {
			m.Ranks = func(results []*measure.Result) bool { means, _ := onlyMeans(results); return means }
		}
	}
	return append(out,
		&Definition{
			Key: "rtt_run_mean_ns", Help: "mean of the round trips of a single trial",
			Quantity: QuantityTime, Unit: "ns", Suffix: "ns", Better: Lower, Over: Range, Of: RoundTrips, Read: meanWithin, Member: "rtt_ns.run_mean",
			Column: &Column{Drop: 8, Ends: true, Show: UnlessIngested, Instead: columns["mean"].Instead},
		},
		total("sent", "requests that were sent", func(l *measure.Latency) int64 { return l.Sent }),
		total("received", "replies that came", func(l *measure.Latency) int64 { return l.Received }),
		total("lost", "requests without a reply in time; of connect attempts that opened no connection", func(l *measure.Latency) int64 { return l.Lost }),
		&Definition{
			Key: "rtt_loss_ratio", Help: "lost divided by sent",
			Quantity: QuantityRatio, Suffix: "ratio", Better: Lower, Over: RatioOfSums, Of: RoundTrips, Member: "rtt_ns.loss_ratio",
			Take: func(r *measure.Result) (float64, bool) { return optional(r.Summary.LossRatio) },
			Parts: func(r *measure.Result) (lost, sent float64, found bool) {
				if !asked(r) {
					return publishedLoss(r)
				}
				return float64(BoundedCount(r.Latency.Lost)), float64(BoundedCount(r.Latency.Sent)), true
			},
			Column: &Column{Drop: 2, Show: UnlessIngested},
		},
		&Definition{
			Key: "floor_ns", Help: "median round trip that the tool and the host add: the same test on the client's loopback",
			Quantity: QuantityTime, Unit: "ns", Suffix: "ns", Better: Lower, Over: MeanOfTrials, CSV: CSVMean, Member: "floor_ns",
			Take: func(r *measure.Result) (float64, bool) {
				if r.Summary.FloorNs == nil && r.Latency != nil && r.Latency.Floor != nil {
					return r.Latency.Floor.RTT.P50, true
				}
				return optional(r.Summary.FloorNs)
			},
		},
	)
}

// orReported is a figure of one trial: of its histogram or, without one, as its
// source gives it.
func orReported(read func(*measure.Histogram) float64, reported *Definition) func(*measure.Result) (float64, bool) {
	return func(r *measure.Result) (float64, bool) {
		if h := RoundTrips.Histogram(r); h != nil {
			return read(h), true
		}
		return reported.Take(r)
	}
}

// total is a count of requests over all trials.
func total(name, help string, count func(*measure.Latency) int64) *Definition {
	return &Definition{
		Key: "rtt_" + name, Help: help, Quantity: QuantityCount, Unit: "requests", Over: Sum, Of: RoundTrips, CSV: CSVNone, Member: "rtt_ns." + name,
		Take: ofAsked(func(r *measure.Result) float64 { return float64(BoundedCount(count(r.Latency))) }),
	}
}

// ofAsked is a count of results that have round trips, or unanswered requests.
func ofAsked(count func(*measure.Result) float64) func(*measure.Result) (float64, bool) {
	return func(r *measure.Result) (float64, bool) {
		if !asked(r) {
			return 0, false
		}
		return count(r), true
	}
}

// publishedLoss is the loss of a result whose source gives a ratio and no counts. Its weight is
// the requests behind its figures; one where the source does not say how many.
func publishedLoss(r *measure.Result) (lost, sent float64, found bool) {
	if r.Latency != nil || r.Origin == nil || r.Summary.LossRatio == nil {
		return 0, 0, false
	}
	ratio := min(max(*r.Summary.LossRatio, 0), 1)
	sent = 1
	if f := r.Summary.ReportedRTT; f != nil && f.Count > 0 && ratio < 1 {
		sent = float64(BoundedCount(f.Count)) / (1 - ratio)
	}
	return ratio * sent, sent, true
}

func asked(r *measure.Result) bool {
	return r.Latency != nil && (r.Latency.Sent > 0 || RoundTrips.Histogram(r) != nil)
}

// BoundedCount keeps a count from a document so small that sums stay whole numbers.
func BoundedCount(n int64) int64 { return min(max(n, 0), 1<<40) }
