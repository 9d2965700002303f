package campaign_test

import (
	"soku/test/plans"
	"testing"
)

func TestARangeIsTheSameMeasurementAsItsLevels(t *testing.T) {
	b := newBench(t, plans.Minimal+"factors: {streams: {from: 1, to: 4, scale: log2}}\n")
	b.create()
	b.plan = plans.Parse(t, plans.Minimal+"factors: {streams: [1, 2, 4]}\n")
	b.resume()
}
