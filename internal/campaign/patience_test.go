package campaign_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"soku/internal/campaign"
	"soku/internal/measure"
	"soku/test/tier"
)

func refused() error {
	return measure.Fail(measure.KindUnreachable, "dial.refused", measure.Figures{"address": "10.0.0.4:7658"})
}

func TestAServerThatRestartsIsWaitedFor(t *testing.T) {
	tier.SpendsSeconds(t)
	t.Parallel()
	b := newBench(t, minimal+"rounds: 2\n")
	b.create()
	b.exec.Patience = 10 * time.Second
	b.fail = func(campaign.Job) error {
		if len(b.ran) < 3 {
			return refused()
		}
		return nil
	}
	out, err := b.run()
	if err != nil || out.Ran != 2 || out.Failed != 0 {
		t.Fatalf("outcome %+v, error %v", out, err)
	}
	b.onceEach(2)
	waiting := 0
	for _, e := range b.events {
		if e.Kind == campaign.EventWaiting {
			waiting++
		}
	}
	results := b.results()
	if f := results[0].Findings; waiting != 1 || len(f) != 1 || f[0].Code != measure.CodeServerAwaited || f[0].Figures["attempts"] != 3.0 || !strings.Contains(f[0].Text("cause"), "refused") {
		t.Errorf("%d events, findings %+v", waiting, f)
	}
	if len(results[1].Findings) != 0 {
		t.Errorf("findings of a trial that did not wait: %+v", results[1].Findings)
	}
}

func TestAServerThatDoesNotComeBackIsWaitedForOnce(t *testing.T) {
	b := newBench(t, minimal+"rounds: 3\n")
	b.create()
	b.exec.Patience = 50 * time.Millisecond
	b.fail = func(campaign.Job) error { return refused() }
	out, err := b.run()
	if measure.KindOf(err) != measure.KindIncomplete || out.Failed != 3 || len(b.ran) != 4 {
		t.Errorf("outcome %+v after %d attempts, error %v", out, len(b.ran), err)
	}
	if f := b.results()[0].Findings; len(f) != 1 || f[0].Code != measure.CodeServerAwaited {
		t.Errorf("findings %+v", f)
	}
}

func TestOnlyAConnectionThatWasNotAcceptedIsTriedAgain(t *testing.T) {
	b := newBench(t, minimal+"rounds: 1\n")
	b.create()
	b.exec.Patience = time.Minute
	b.fail = func(campaign.Job) error {
		return measure.Fail(measure.KindUnreachable, "dns.not_found", measure.Figures{"host": "vm"})
	}
	if _, err := b.run(); measure.KindOf(err) != measure.KindIncomplete || len(b.ran) != 1 {
		t.Errorf("%d attempts, error %v", len(b.ran), err)
	}
}

func TestAnInterruptEndsTheWaitForAServer(t *testing.T) {
	b := newBench(t, minimal)
	b.create()
	b.exec.Patience = time.Hour
	b.fail = func(campaign.Job) error { return refused() }
	ctx, cancel := context.WithCancel(t.Context())
	b.exec.Watch = func(e campaign.Event) {
		if e.Kind == campaign.EventWaiting {
			cancel()
		}
	}
	if _, err := b.exec.Run(ctx, b.campaign); measure.KindOf(err) != measure.KindInterrupted {
		t.Errorf("error %v", err)
	}
}

func TestAllEndpointsAreCheckedAtOnce(t *testing.T) {
	b := newBench(t, `campaign: paths
endpoints: {one: {address: 10.0.0.1}, two: {address: 10.0.0.2, port: 99}, three: {address: 10.0.0.3}, four: {address: 10.0.0.4}}
factors:
  path: [{name: a, to: one}, {name: b, to: two}, {name: c, to: three}, {name: d, to: four, before: ./up.sh}]
  streams: [1, 4]
tests: {up: {test: tcp}, rtt: {test: latency, count: 9}, ping: {test: ping}, theirs: {test: tcp, via: iperf3}}
`)
	probes := campaign.Probes(b.plan, nil)
	if len(probes) != 4 || probes[2].Options.Port != 99 || probes[2].Test != measure.TestLatency || probes[2].Options.Count != 1 || probes[1].Test != measure.TestPing {
		t.Fatalf("probes are %+v", probes)
	}
	b.fail = func(j campaign.Job) error {
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
	b.fail = func(j campaign.Job) error {
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
