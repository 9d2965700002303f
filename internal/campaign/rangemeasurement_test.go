package campaign_test

import "testing"

func TestARangeIsTheSameMeasurementAsItsLevels(t *testing.T) {
	b := newBench(t, minimal+"factors: {streams: {from: 1, to: 4, scale: log2}}\n")
	b.create()
	b.plan = parse(t, minimal+"factors: {streams: [1, 2, 4]}\n")
	b.resume()
}
