package measure

import "slices"

// TestMetrics are the metrics of a test.
type TestMetrics struct {
	Families []*Family // in the order of tables
	// Ranking are the metrics that patterns are ranked by: the first counts that
	// can rank the trials ([Metric.Ranks]); the last one always can.
	Ranking []*Metric
	// Headline are the figures that stand for a result in a list: of each element
	// the first metric that the result has.
	Headline [][]*Metric
}

// declared are the metrics of the tests that exist.
var declared = map[Test]TestMetrics{}

// DeclareMetrics sets the metrics of a test. [Register] calls it.
func DeclareMetrics(t Test, m TestMetrics) { declared[t] = m }

// families lists every family, in the order of the reference; those that a test
// brings along come last.
func families() []*Family {
	out := []*Family{
		ThroughputFamily, DatagramFamily, SegmentFamily, StreamFamily, UnderLoadFamily,
		ConnectionFamily, RoundTripFamily, ReportedFamily, PathMTUFamily, HopFamily, CopyFamily,
	}
	for _, t := range Tests() {
		for _, f := range declared[t].Families {
			if !slices.Contains(out, f) {
				out = append(out, f)
			}
		}
	}
	return out
}

// MetricsOf returns the metrics of a test. A test that this version does not know,
// or that declares none, counts as one of throughput.
func MetricsOf(t Test) TestMetrics {
	if m := declared[t]; len(m.Ranking) > 0 {
		return m
	}
	return TestMetrics{
		Families: []*Family{ThroughputFamily, DatagramFamily, SegmentFamily, StreamFamily, UnderLoadFamily}, Ranking: []*Metric{MetricGoodput},
		Headline: [][]*Metric{{MetricGoodput}, {MetricLoss}},
	}
}

// RoundTripRanking are the metrics that round trips are ranked by.
func RoundTripRanking() []*Metric { return []*Metric{MetricRTTMeanMiddle, MetricRTTMean, MetricRTTP50} }

// RoundTripHeadline is what stands for round trips in a list: of a source that gives
// no median the mean or the largest.
func RoundTripHeadline() [][]*Metric {
	return [][]*Metric{{MetricRTTP50, MetricRTTMean, MetricRTTMax}, {MetricRTTP99}, {MetricRTTLoss}}
}

// RankingMetric is what trials of a test are ranked by.
func RankingMetric(t Test, results []*Result) *Metric {
	list := MetricsOf(t).Ranking
	if i := slices.IndexFunc(list, func(m *Metric) bool { return m.Ranks == nil || m.Ranks(results) }); i >= 0 {
		return list[i]
	}
	return list[len(list)-1]
}

// Headline picks from the figures of a result, by their keys, those that stand for
// it in a list; none where the trial failed or measured nothing.
func Headline(t Test, figures map[string]float64) map[string]float64 {
	out := map[string]float64{}
	for _, alternatives := range MetricsOf(t).Headline {
		for _, m := range alternatives {
			if v, found := figures[m.Key]; found {
				out[m.Key] = v
				break
			}
		}
	}
	return out
}
