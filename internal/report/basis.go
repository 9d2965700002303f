package report

import (
	"cmp"
	"encoding/json"

	"soku/internal/measure/metric"
)

// Basis is the metric that a ranking rests on, one figure a trial. Its JSON form
// has the metric's key as figure, higher_is_better and text, a sentence.
type Basis struct {
	Metric *metric.Definition
}

type basisJSON struct {
	Figure         string `json:"figure"`
	HigherIsBetter bool   `json:"higher_is_better"`
	Text           string `json:"text"`
}

// UnmarshalJSON reads what a [Test] writes. It sets only the key and the direction of a metric
// that this version does not know.
func (b *Basis) UnmarshalJSON(data []byte) error {
	var j basisJSON
	if err := json.Unmarshal(data, &j); err != nil {
		return err
	}
	better := metric.Lower
	if j.HigherIsBetter {
		better = metric.Higher
	}
	b.Metric = cmp.Or(metric.ByKey(j.Figure), &metric.Definition{Key: j.Figure, Better: better})
	return nil
}

// isTime reports whether patterns are ranked by a time.
func (b Basis) isTime() bool { return b.Metric.Quantity == metric.QuantityTime }

// column is the metric whose column shows what the ranking rests on.
func (b Basis) column() *metric.Definition {
	if b.Metric == metric.RTTMeanMiddle {
		return metric.RTTRunMean
	}
	return b.Metric
}
