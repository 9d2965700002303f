package campaign_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"soku/internal/campaign"
)

func TestAProbeGoesAsTheTrialDoes(t *testing.T) {
	p := parse(t, strings.Replace(minimal, "test: tcp", "test: tcp, port: 99, bind: 10.0.0.9, device: eth1, connect_timeout: 9s, ip_version: 4, pin: '1'", 1))
	probes := campaign.Probes(p, nil)
	if len(probes) != 1 {
		t.Fatalf("%d probes", len(probes))
	}
	if o := probes[0].Options; o.Port != 99 || o.Bind != "10.0.0.9" || o.Device != "eth1" || o.ConnectTimeout.Std() != 9*time.Second || o.IPVersion != 4 || o.Pin != "1" {
		t.Errorf("the probe has %+v", o)
	}
	if probes := campaign.Probes(parse(t, minimal+"factors: {device: [eth0, eth1], streams: [1, 4]}\n"), nil); len(probes) != 2 {
		t.Errorf("%d probes, want one by each device", len(probes))
	}
}

// Before a person has made a change the path may not be there.
func TestWhatAPersonSetsUpFirstIsNotProbed(t *testing.T) {
	if probes := campaign.Probes(parse(t, minimal+"factors: {gateway: {by: hand, levels: [old, new]}}\n"), nil); len(probes) != 0 {
		t.Errorf("probes %+v", probes)
	}
}

// A server that is busy lets clients wait for their turn.
func TestAProbeThatStillWaitsIsNoFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, minimal)
		b.lasting(time.Hour)
		failures, err := campaign.Preflight(t.Context(), b, campaign.Probes(b.plan, nil))
		if err != nil || len(failures) != 0 || len(b.ran) != 1 {
			t.Errorf("failures %v, error %v, %d probes ran", failures, err, len(b.ran))
		}
	})
}
