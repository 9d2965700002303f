package metric_test

import (
	"testing"

	"soku/internal/measure"
	"soku/internal/measure/metric"
	_ "soku/internal/tests"
)

func TestAGoodputOfZeroIsAFigureWhereTheSourceStatesIt(t *testing.T) {
	flows, none := []measure.Flow{{Direction: measure.Forward}}, 0.0
	all := 1.0
	for name, c := range map[string]struct {
		r     measure.Result
		found bool
	}{
		"ingested":               {measure.Result{Origin: &measure.Origin{}, Flows: flows}, true},
		"ingested, all lost":     {measure.Result{Origin: &measure.Origin{}, Flows: flows, Summary: measure.Summary{LossRatio: &all}}, true},
		"ingested, only packets": {measure.Result{Origin: &measure.Origin{}, Flows: flows, Summary: measure.Summary{PacketsPerSecond: 5}}, false},
		"ingested, only a loss":  {measure.Result{Origin: &measure.Origin{}, Flows: flows, Summary: measure.Summary{LossRatio: &none}}, false},
		"ingested, failed":       {measure.Result{Origin: &measure.Origin{}, Flows: flows, Error: measure.TextError(measure.KindBroken, "x", "")}, false},
		"ingested, nothing":      {measure.Result{Origin: &measure.Origin{}}, false},
		"measured, all lost":     {measure.Result{Flows: flows, Summary: measure.Summary{LossRatio: &all}}, true},
		"measured, no count":     {measure.Result{Flows: flows}, false},
	} {
		c.r.Test = measure.TestUDP
		if v, found := metric.Goodput.Value(&c.r); v != 0 || found != c.found {
			t.Errorf("%s: %v, %v", name, v, found)
		}
	}
}
