package report

import (
	"cmp"
	"encoding/json"

	"soku/internal/measure"
)

// Basis is the metric that a ranking rests on, one figure a trial. Its JSON form
// has the metric's key as figure, higher_is_better and text.
type Basis struct {
	Metric *measure.Metric
	Text   string // "goodput, higher is better"
}

type basisJSON struct {
	Figure         string `json:"figure"`
	HigherIsBetter bool   `json:"higher_is_better"`
	Text           string `json:"text"`
}

// MarshalJSON writes the form that reports have.
func (b Basis) MarshalJSON() ([]byte, error) {
	return json.Marshal(basisJSON{b.Metric.Key, b.Metric.Better == measure.Higher, b.Text})
}

// UnmarshalJSON reads it. A metric that this version does not know has its key
// and direction and nothing else.
func (b *Basis) UnmarshalJSON(data []byte) error {
	var j basisJSON
	if err := json.Unmarshal(data, &j); err != nil {
		return err
	}
	better := measure.Lower
	if j.HigherIsBetter {
		better = measure.Higher
	}
	b.Metric = cmp.Or(measure.MetricByKey(j.Figure), &measure.Metric{Key: j.Figure, Better: better})
	b.Text = j.Text
	return nil
}

func basisOf(test measure.Test, results []*measure.Result) Basis {
	m := measure.RankingMetric(test, results)
	noun := (&Test{Test: test, Basis: Basis{Metric: m}}).noun()
	if m == measure.MetricRTTMeanMiddle {
		noun = "middle between the smallest and the largest mean of a run"
	}
	direction := "lower"
	if m.Better == measure.Higher {
		direction = "higher"
	}
	return Basis{Metric: m, Text: noun + ", " + direction + " is better"}
}

// isTime tells whether patterns are ranked by a time.
func (b Basis) isTime() bool { return b.Metric.Quantity == measure.QuantityTime }

// column is the metric whose column shows what the ranking rests on.
func (b Basis) column() *measure.Metric {
	if b.Metric == measure.MetricRTTMeanMiddle {
		return measure.MetricRTTRunMean
	}
	return b.Metric
}
