package tests

import (
	_ "soku/internal/engine/mtu"
	"soku/internal/measure"
)

var _ = register(Descriptor{Test: measure.TestMTU, Summary: mtuSummary})
