package tests

import (
	_ "soku/internal/engine/ping"
	"soku/internal/measure"
)

var _ = register(Descriptor{
	Test: measure.TestPing, Summary: latencySummary,
	Live: func(View) []Column { return roundTripColumns("live.replies") },
})
