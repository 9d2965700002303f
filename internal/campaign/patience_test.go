package campaign_test

import (
	"context"
	"strings"
	"testing"

	"soku/internal/campaign"
	"soku/internal/campaign/schedule"
	"soku/internal/measure"
)

func TestAllEndpointsAreCheckedAtOnce(t *testing.T) {
	b := newBench(t, `campaign: paths
endpoints: {one: {address: 10.0.0.1}, two: {address: 10.0.0.2, port: 99}, three: {address: 10.0.0.3}, four: {address: 10.0.0.4}}
factors:
  path: [{name: a, to: one}, {name: b, to: two}, {name: c, to: three}, {name: d, to: four, before: ./up.sh}]
  streams: [1, 4]
tests: {up: {test: tcp}, rtt: {test: latency, count: 9}, ping: {test: ping}, theirs: {test: tcp, via: iperf3}}
`)
	probes := schedule.Probes(b.plan, nil)
	if len(probes) != 4 || probes[2].Options.Port != 99 || probes[2].Test != measure.TestLatency || probes[2].Options.Count != 1 || probes[1].Test != measure.TestPing {
		t.Fatalf("probes are %+v", probes)
	}
	b.fail = func(j schedule.Job) error {
		switch j.Server.Endpoint.Name {
		case "one":
			if j.Test == measure.TestPing { // whether it is answered is for the trial to find out
				return measure.Fail(measure.KindUnreachable, "dial.no_answer", measure.Figures{"address": "10.0.0.1"})
			}
			return nil
		case "two":
			return measure.Fail(measure.KindUnreachable, "dial.refused", measure.Figures{"address": "10.0.0.2:99"})
		}
		return measure.Fail(measure.KindUnreachable, "dial.no_answer", measure.Figures{"address": "10.0.0.3:7658"})
	}
	failures, err := campaign.Preflight(t.Context(), b, probes)
	if err != nil || len(failures) != 2 || failures[0].Error() != "two: connect 10.0.0.2:99: refused" || !strings.HasPrefix(failures[1].Error(), "three: connect 10.0.0.3:7658: no answer in time") {
		t.Errorf("failures %v, error %v", failures, err)
	}
	b.fail = func(j schedule.Job) error {
		if j.Test == measure.TestPing {
			return measure.Fail(measure.KindPermission, "ping.permission", measure.Figures{"target": "10.0.0.1", "cause": "not permitted"})
		}
		return nil
	}
	if failures, err = campaign.Preflight(t.Context(), b, probes); err != nil || len(failures) != 1 || failures[0].Kind != measure.KindPermission {
		t.Errorf("failures %v, error %v", failures, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := campaign.Preflight(ctx, b, probes); measure.KindOf(err) != measure.KindInterrupted {
		t.Errorf("error %v", err)
	}
}
