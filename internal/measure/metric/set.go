package metric

import (
	"slices"

	"soku/internal/measure"
)

// Set are the metrics of a test.
type Set struct {
	Families []*Family // in the order of tables
	// Ranking are the metrics that patterns are ranked by: the first counts that
	// can rank the trials ([Definition.Ranks]); the last one always can.
	Ranking []*Definition
	// Headline are the figures that stand for a result in a list: of each element
	// the first metric that the result has.
	Headline [][]*Definition
}

// declared are the metrics of the tests that exist.
var declared = map[measure.Test]Set{}

// Declare sets the metrics of a test. Package option calls it when a test is registered.
func Declare(t measure.Test, m Set) { declared[t] = m }

// families lists every family, in the order of the reference; those that a test
// brings along come last.
func families() []*Family {
	out := []*Family{
		ThroughputFamily, DatagramFamily, SegmentFamily, StreamFamily, UnderLoadFamily,
		ConnectionFamily, RoundTripFamily, ReportedFamily, PathMTUFamily, HopFamily, CopyFamily,
	}
	for _, t := range measure.Tests() {
		for _, f := range declared[t].Families {
			if !slices.Contains(out, f) {
				out = append(out, f)
			}
		}
	}
	return out
}

// Of returns the metrics of a test. A test that this version does not know,
// or that declares none, counts as one of throughput.
func Of(t measure.Test) Set {
	if m := declared[t]; len(m.Ranking) > 0 {
		return m
	}
	return Set{
		Families: []*Family{ThroughputFamily, DatagramFamily, SegmentFamily, StreamFamily, UnderLoadFamily}, Ranking: []*Definition{Goodput},
		Headline: [][]*Definition{{Goodput}, {Loss}},
	}
}

// RoundTripRanking are the metrics that round trips are ranked by.
func RoundTripRanking() []*Definition { return []*Definition{RTTMeanMiddle, RTTMean, RTTP50} }

// RoundTripHeadline is what stands for round trips in a list: of a source that gives
// no median the mean or the largest.
func RoundTripHeadline() [][]*Definition {
	return [][]*Definition{{RTTP50, RTTMean, RTTMax}, {RTTP99}, {RTTLoss}}
}

// Ranking is what trials of a test are ranked by.
func Ranking(t measure.Test, results []*measure.Result) *Definition {
	list := Of(t).Ranking
	if i := slices.IndexFunc(list, func(m *Definition) bool { return m.Ranks == nil || m.Ranks(results) }); i >= 0 {
		return list[i]
	}
	return list[len(list)-1]
}

// Headline picks from the figures of a result, by their keys, those that stand for
// it in a list; none where the trial failed or measured nothing.
func Headline(t measure.Test, figures map[string]float64) map[string]float64 {
	out := map[string]float64{}
	for _, alternatives := range Of(t).Headline {
		for _, m := range alternatives {
			if v, found := figures[m.Key]; found && m.Supported(figures) {
				out[m.Key] = v
				break
			}
		}
	}
	return out
}

// Supported reports whether a result with these figures, by their keys, has enough round trips for
// the figure, if that is a percentile of them.
func (m *Definition) Supported(figures map[string]float64) bool {
	count, known := figures["rtt_count"]
	return !known || m.Of == nil || m.Of != RTTP99.Of || measure.SupportsPercentile(int64(count), m.Quantile)
}
