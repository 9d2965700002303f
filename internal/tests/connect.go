package tests

import (
	_ "soku/internal/engine/connect"
	"soku/internal/measure"
)

var _ = register(Descriptor{
	Test: measure.TestConnect, Summary: connectSummary,
	Live: func(View) []Column { return roundTripColumns("live.set_up") },
})
