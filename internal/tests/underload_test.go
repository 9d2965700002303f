package tests

import (
	"testing"

	"soku/internal/engine/latency"
	"soku/internal/engine/tcp"
	"soku/internal/measure"
	"soku/internal/measure/option"
)

func TestAProbeLeavesTheProcessorsToTheLoad(t *testing.T) {
	idle := tcp.IdleProbe(option.Defaults(measure.TestTCP))
	got := probeOptions(idle)
	want := latency.OptionsOf(idle)
	if want.Spin = "off"; latency.OptionsOf(got) != want {
		t.Errorf("%+v, want %+v", got.Own, want)
	}
	if _, err := option.Effective(got, measure.TestLatency); err != nil {
		t.Error(err)
	}
}
