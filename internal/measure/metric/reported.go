package metric

import "soku/internal/measure"

// ReportedFamily is round trips as another program or a table sums them up.
var ReportedFamily = &Family{
	"Round trips of ingested trials without a histogram",
	"Another program or a table sums them up, so that nothing but their means can be averaged.", reportedMetrics(),
}

func reportedMetrics() []*Definition {
	var out []*Definition
	for _, s := range statistics() {
		out = append(out, &Definition{
			Key: "rtt_reported_" + s.name + "_ns", Help: s.words + " of the round trips as the source gives it",
			Quantity: QuantityTime, Unit: "ns", Suffix: "ns", Better: Lower, Over: s.over, Member: "rtt_reported_ns." + s.name,
			Take: func(r *measure.Result) (float64, bool) {
				if f := ReportedOnly(r); f != nil {
					return optional(s.reported(f))
				}
				return 0, false
			},
		})
	}
	return append(out, RTTMeanMiddle)
}

// RTTMeanMiddle ranks trials of which a source gives only the smallest and
// the largest mean.
var RTTMeanMiddle = &Definition{
	Key: "rtt_mean_middle_ns", Help: "middle between the smallest and the largest mean of a run, where a source gives only these; for rankings",
	Quantity: QuantityTime, Unit: "ns", Suffix: "ns", Better: Lower, Over: MeanOfRounds, CSV: CSVNone,
	Take: func(r *measure.Result) (float64, bool) {
		if h := RoundTrips.Histogram(r); h != nil {
			return meanWithin(h), true
		}
		if f := ReportedOnly(r); f != nil {
			return optional(f.Mean)
		}
		return 0, false
	},
	Ranks: func(results []*measure.Result) bool { means, ends := onlyMeans(results); return means && ends },
}

// onlyMeans reports whether trials must be ranked by their means, because a source
// gives no median and every one a mean: a median and a mean do not compare. ends:
// some trials are the ends of a range.
func onlyMeans(results []*measure.Result) (only, ends bool) {
	means, missing := true, false
	for _, r := range results {
		f := ReportedOnly(r)
		if r.Error != nil || f == nil {
			continue
		}
		ends = ends || r.IsRangeEnd()
		missing = missing || f.P50 == nil
		means = means && f.Mean != nil
	}
	return missing && means, ends
}

// ReportedOnly are the round trips of a result that has no histogram, as its
// source sums them up. It is nil for other results.
func ReportedOnly(r *measure.Result) *measure.RTTFigures {
	if RoundTrips.Histogram(r) != nil {
		return nil
	}
	return r.Summary.ReportedRTT
}
