package tests

import (
	_ "soku/internal/engine/latency"
	"soku/internal/measure"
)

var _ = register(Descriptor{
	Test: measure.TestLatency, Rows: true, Summary: latencySummary,
	Live: func(View) []Column { return roundTripColumns("live.replies") },
})
