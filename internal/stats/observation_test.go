package stats

import (
	"math"
	"reflect"
	"testing"
)

func TestTableIsReducedToRoundMeansOfCells(t *testing.T) {
	row := func(sku, zone string, session, round, repeat int, value float64) Observation {
		return Observation{Test: "tcp", Metric: "goodput", Value: value, Session: session, Round: round, Repeat: repeat, Deployment: sku, Levels: []string{sku, zone}}
	}
	o := Observations{Factors: []Factor{{"sku", []string{"small"}}, {Name: "zone"}}, Rows: []Observation{
		row("large", "1", 1, 2, 1, 40), // a round that a later session ended
		row("small", "1", 0, 1, 1, 10),
		row("small", "1", 0, 1, 2, 20),
		row("small", "2", 0, 1, 1, math.NaN()),
		row("large", "1", 0, 1, 1, 30),
		row("small", "1", 0, 2, 1, 12),
		{Test: "udp", Metric: "goodput", Value: 1, Levels: []string{"small", "3"}},
		{Test: "tcp", Metric: "retransmits", Value: 1, Levels: []string{"small", "3"}},
	}}
	nan := math.NaN()
	got := o.Cells("tcp", "goodput")
	want := Cells{
		Factors:     []Factor{{"sku", []string{"small", "large"}}, {"zone", []string{"1"}}},
		Of:          [][]int{{1, 0}, {0, 0}},
		Blocks:      []Block{{0, 1}, {0, 2}, {1, 2}},
		Means:       [][]float64{{30, nan, 40}, {15, 12, nan}},
		Deployments: [][]string{{"large", "", "large"}, {"small", "small", ""}},
	}
	for i, means := range want.Means {
		for j, v := range means {
			near(t, "mean", got.Means[i][j], v, 0)
			near(t, "logarithm", got.Logs()[i][j], math.Log(v), 0)
		}
	}
	got.Means, want.Means = nil, nil
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestFiguresThatAreNotPositiveHaveNoLogarithm(t *testing.T) {
	for _, v := range []float64{0, -1} {
		logs := (Cells{Means: [][]float64{{v}}}).Logs()
		near(t, "logarithm", logs[0][0], math.NaN(), 0)
	}
}
