package tests

import (
	"testing"

	"soku/internal/engine/latency"
	"soku/internal/engine/tcp"
	"soku/internal/measure"
)

func TestAProbeLeavesTheProcessorsToTheLoad(t *testing.T) {
	idle := tcp.IdleProbe(measure.Defaults(measure.TestTCP))
	got := probeOptions(idle)
	want := latency.OptionsOf(idle)
	if want.Spin = "off"; latency.OptionsOf(got) != want {
		t.Errorf("%+v, want %+v", got.Own, want)
	}
	if _, err := got.Effective(measure.TestLatency); err != nil {
		t.Error(err)
	}
}
