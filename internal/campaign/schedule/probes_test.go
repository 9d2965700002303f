package schedule_test

import (
	"soku/test/plans"
	"strings"
	"testing"
	"time"

	"soku/internal/campaign/schedule"
)

func TestProbesOfPairs(t *testing.T) {
	p := plans.Parse(t, plans.WithPairs("{mesh: [a, b, c]}")+"factors: {streams: [1, 2]}\n")
	if probes := schedule.Probes(p, nil); len(probes) != 6 {
		t.Errorf("%d probes of 6 pairs", len(probes))
	}
	many := plans.Parse(t, plans.ManyHosts(40)+"pairs: {mesh: ['*']}\n")
	probes := schedule.Probes(many, nil)
	clients, servers := map[string]bool{}, map[string]bool{}
	for _, j := range probes {
		clients[j.Client.Reference()], servers[j.Server.Reference()] = true, true
	}
	if len(clients) != 40 || len(servers) != 40 || len(probes) > 80 {
		t.Errorf("%d probes of 1560 pairs: from %d clients to %d servers", len(probes), len(clients), len(servers))
	}
}

func TestAProbeGoesAsTheTrialDoes(t *testing.T) {
	p := plans.Parse(t, strings.Replace(plans.Minimal, "test: tcp", "test: tcp, port: 99, bind: 10.0.0.9, device: eth1, connect_timeout: 9s, ip_version: 4, pin: '1'", 1))
	probes := schedule.Probes(p, nil)
	if len(probes) != 1 {
		t.Fatalf("%d probes", len(probes))
	}
	if o := probes[0].Options; o.Port != 99 || o.Bind != "10.0.0.9" || o.Device != "eth1" || o.ConnectTimeout.Std() != 9*time.Second || o.IPVersion != 4 || o.Pin != "1" {
		t.Errorf("the probe has %+v", o)
	}
	if probes := schedule.Probes(plans.Parse(t, plans.Minimal+"factors: {device: [eth0, eth1], streams: [1, 4]}\n"), nil); len(probes) != 2 {
		t.Errorf("%d probes, want one by each device", len(probes))
	}
}

// Before a person has made a change the path may not be there.
func TestWhatAPersonSetsUpFirstIsNotProbed(t *testing.T) {
	if probes := schedule.Probes(plans.Parse(t, plans.Minimal+"factors: {gateway: {by: hand, levels: [old, new]}}\n"), nil); len(probes) != 0 {
		t.Errorf("probes %+v", probes)
	}
}
