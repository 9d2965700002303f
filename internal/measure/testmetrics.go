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

// families lists every family, in the order of the reference.
func families() []*Family {
	return []*Family{
		throughputFamily, datagramFamily, segmentFamily, streamFamily, UnderLoadFamily,
		connectionFamily, roundTripFamily, reportedFamily, pathMTUFamily, hopFamily,
	}
}

// MetricsOf returns the metrics of a test. A test that this version does not know
// counts as one of throughput.
func MetricsOf(t Test) TestMetrics {
	roundTrips := []*Metric{MetricRTTMeanMiddle, MetricRTTMean, MetricRTTP50}
	roundTrip := []*Metric{MetricRTTP50, MetricRTTMean, MetricRTTMax}
	switch t {
	case TestLatency, TestPing:
		return TestMetrics{
			Families: []*Family{roundTripFamily, reportedFamily}, Ranking: roundTrips,
			Headline: [][]*Metric{roundTrip, {MetricRTTP99}, {MetricRTTLoss}},
		}
	case TestTrace:
		return TestMetrics{
			Families: []*Family{roundTripFamily, reportedFamily, hopFamily}, Ranking: roundTrips,
			Headline: [][]*Metric{{MetricHops}, {MetricRTTP50}, {MetricRTTLoss}},
		}
	case TestConnect:
		return TestMetrics{
			Families: []*Family{connectionFamily, roundTripFamily, reportedFamily}, Ranking: append([]*Metric{MetricConnections}, roundTrips...),
			Headline: [][]*Metric{{MetricConnections}, roundTrip, {MetricRTTP99}, {MetricRTTLoss}},
		}
	case TestMTU:
		return TestMetrics{Families: []*Family{pathMTUFamily}, Ranking: []*Metric{MetricPathMTU}, Headline: [][]*Metric{{MetricPathMTU}}}
	case TestUDP:
		return TestMetrics{
			Families: []*Family{throughputFamily, datagramFamily, streamFamily}, Ranking: []*Metric{MetricGoodput},
			Headline: [][]*Metric{{MetricGoodput}, {MetricLoss}},
		}
	case TestTCP:
		return TestMetrics{
			Families: []*Family{throughputFamily, segmentFamily, streamFamily, UnderLoadFamily}, Ranking: []*Metric{MetricGoodput},
			Headline: [][]*Metric{{MetricGoodput}},
		}
	}
	return TestMetrics{
		Families: []*Family{throughputFamily, datagramFamily, segmentFamily, streamFamily, UnderLoadFamily}, Ranking: []*Metric{MetricGoodput},
		Headline: [][]*Metric{{MetricGoodput}, {MetricLoss}},
	}
}

// RankingMetric is what trials of a test are ranked by.
func RankingMetric(t Test, results []*Result) *Metric {
	list := MetricsOf(t).Ranking
	if i := slices.IndexFunc(list, func(m *Metric) bool { return m.Ranks == nil || m.Ranks(results) }); i >= 0 {
		return list[i]
	}
	return list[len(list)-1]
}

// MetricValue is a metric of one result.
type MetricValue struct {
	Key   string  `json:"key"` // of a [Metric]
	Value float64 `json:"value"`
}

// Headline returns the figures that stand for a result in a list, most important
// first; none where the trial failed or measured nothing.
func Headline(r *Result) []MetricValue {
	if r.Error != nil {
		return nil
	}
	var out []MetricValue
	for _, alternatives := range MetricsOf(r.Test).Headline {
		for _, m := range alternatives {
			if v, found := m.Value(r); found {
				out = append(out, MetricValue{m.Key, v})
				break
			}
		}
	}
	return out
}
