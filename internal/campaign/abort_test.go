package campaign_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"soku/internal/campaign"
	"soku/internal/measure"
)

// pairs is a plan of two servers: 10 rounds of one trial each.
const pairs = `campaign: pairs
endpoints: {a: {address: 10.0.0.1}, b: {address: 10.0.0.2}}
factors: {server: [{name: A, to: a}, {name: B, to: b, before: ./switch.sh}]}
tests: {up: {test: tcp, duration: 1s}}
rounds: 10
`

// failing has the trials of a server fail.
func failing(server string) func(campaign.Job) error {
	return func(j campaign.Job) error {
		if j.Server.Reference() == server {
			return refused()
		}
		return nil
	}
}

func (b *bench) records(kind string) (out []campaign.Record) {
	b.t.Helper()
	if err := b.campaigns().Read(b.campaign.ID(), func(r campaign.Record) error {
		if r.Kind == kind {
			out = append(out, r)
		}
		return nil
	}); err != nil {
		b.t.Fatal(err)
	}
	return out
}

func TestTrialsAreAbortedAfterIdenticalFailuresInARow(t *testing.T) {
	for key, failures := range map[string]int{"abort_after: 3\n": 3, "": campaign.DefaultAbortAfter} {
		b := newBench(t, pairs+key)
		b.create()
		b.fail = failing("b")
		out, err := b.run()
		left := 10 - failures
		if out != (campaign.Outcome{Total: 20, Done: 10 + failures, Failed: failures, Ran: 10 + failures, Skipped: left, Left: left}) || measure.KindOf(err) != measure.KindIncomplete {
			t.Errorf("with %q: outcome %+v, error %v", key, out, err)
		}
		want := fmt.Sprintf("%d of 20 trials did not run because trials of b failed in a row (abort_after), and %d failed", left, failures)
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("error is %v, want %s", err, want)
		}
		aborted, events := b.records(campaign.RecordAborted), 0
		for _, e := range b.events {
			if e.Kind == campaign.EventAborted {
				events++
			}
		}
		reason := fmt.Sprintf("%d trials in a row to b failed: connect 10.0.0.4:7658: refused", failures)
		if len(aborted) != 1 || events != 1 || *aborted[0].Abort != (campaign.AbortRecord{Server: "b", Failures: failures}) || aborted[0].Reason != reason || aborted[0].Code != "campaign.aborted" {
			t.Errorf("recorded %+v, reported %d times", aborted, events)
		}
		if n := len(b.records(campaign.RecordTrialDropped)); n != 0 {
			t.Errorf("%d trials are recorded one by one", n)
		}
		if len(b.commands) != failures {
			t.Errorf("%d commands ran for patterns without trials", len(b.commands)-failures)
		}
		b.fail = nil
		b.resume()
		if out, err := b.run(); err == nil || out.Ran != left || out.Done != 20 || out.Failed != failures {
			t.Errorf("resumed: outcome %+v, error %v", out, err)
		}
		b.onceEach(20)
	}
}

func TestTrialsAreNotAbortedForOtherFailures(t *testing.T) {
	usage := func(j campaign.Job) error {
		return measure.Fail(measure.KindUsage, "sock.congestion.unknown", measure.Figures{"name": "bbr"})
	}
	for name, c := range map[string]struct {
		text string
		fail func(n int) func(campaign.Job) error
	}{
		"abort_after is 0": {pairs + "abort_after: 0\n", func(int) func(campaign.Job) error { return failing("b") }},
		"a success between them": {pairs + "abort_after: 3\n", func(n int) func(campaign.Job) error {
			return []func(campaign.Job) error{nil, failing("b"), failing("b")}[n%3]
		}},
		"they are not identical": {pairs + "abort_after: 2\n", func(n int) func(campaign.Job) error {
			return []func(campaign.Job) error{failing("b"), func(campaign.Job) error { return errors.New("another") }}[n%2]
		}},
		"they come of what is asked": {pairs + "abort_after: 2\n", func(int) func(campaign.Job) error { return usage }},
		"the server is busy": {pairs + "abort_after: 2\n", func(int) func(campaign.Job) error {
			return func(campaign.Job) error {
				return measure.Fail(measure.KindRefused, "server.busy.sessions", nil)
			}
		}},
	} {
		b := newBench(t, c.text+"exclude: [{server: A}]\n")
		b.create()
		b.fail = func(j campaign.Job) error {
			if fail := c.fail(len(b.ran)); fail != nil {
				return fail(j)
			}
			return nil
		}
		if out, err := b.run(); out.Ran != 10 || out.Skipped != 0 {
			t.Errorf("%s: outcome %+v, error %v", name, out, err)
		}
	}
}

func TestAPatternThatFailsDoesNotAbortOthersOfItsEnds(t *testing.T) {
	b := newBench(t, study+"abort_after: 2\n") // 8 trials of each of two patterns between two ends
	b.create()
	b.fail = func(j campaign.Job) error {
		if j.Trial.Pattern == "large" {
			return refused()
		}
		return nil
	}
	if out, err := b.run(); out.Ran != 16 || out.Failed != 8 {
		t.Errorf("outcome %+v, error %v", out, err)
	}
	b = newBench(t, study+"abort_after: 2\n")
	b.create()
	b.exec.Only = campaign.Selection{{Name: "sku", Value: []string{"large"}}}
	b.fail = failing("vm")
	if out, err := b.run(); out.Ran != 2 || out.Skipped != 6 {
		t.Errorf("of one pattern alone: outcome %+v, error %v", out, err)
	}
	b.exec.Only = nil
	b.resume()
	// The first pattern's turn of 4 trials, then one of the other pattern.
	if out, err := b.run(); out.Ran > 5 || out.Skipped != 14-out.Ran {
		t.Errorf("of both: outcome %+v, error %v", out, err)
	}
}

func TestAbortAfterMayChangeWhileACampaignRuns(t *testing.T) {
	b := newBench(t, pairs)
	b.create()
	b.plan = parse(t, pairs+"abort_after: 0\n")
	b.resume()
	if _, err := campaign.Parse("p.yaml", []byte(pairs+"abort_after: -1\n")); err == nil || !strings.Contains(err.Error(), "p.yaml:6:14: abort_after: -1 is out of range; allowed: 0..1000000") {
		t.Errorf("error is %v", err)
	}
}

func TestOtherPairsOfAMeshGoOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNet(t, 9, meshOf(4), meshOf(4), meshOf(4), meshOf(4))
		n.plan.AbortAfter = 2
		n.act = func(_ context.Context, j campaign.Job, _ campaign.Hooks) error {
			if name(j) == "h0>h1" {
				return refused()
			}
			return nil
		}
		if out, err := n.run(); out != (campaign.Outcome{Total: 48, Done: 46, Failed: 2, Ran: 46, Skipped: 2, Left: 2}) {
			t.Errorf("outcome %+v, error %v", out, err)
		}
		if r := n.records(campaign.RecordAborted); len(r) != 1 || *r[0].Abort != (campaign.AbortRecord{Client: "h0", Server: "h1", Failures: 2}) ||
			r[0].Reason != "2 trials in a row from h0 to h1 failed: connect 10.0.0.4:7658: refused" {
			t.Errorf("recorded %+v", r)
		}
	})
}

func TestAGroupDoesNotRunWithoutAPair(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		blocks := append([]pair{}, append(two, pair{from: "c", to: "a"})...)
		n := newNet(t, 1, blocks, blocks, blocks, blocks)
		n.plan.AbortAfter = 2
		n.act = func(ctx context.Context, j campaign.Job, h campaign.Hooks) error {
			if name(j) == "a>b" {
				return refused()
			}
			if h.Ready != nil {
				return h.Ready(ctx)
			}
			return nil
		}
		// Two groups fail as a whole, two do not start; c>a runs each time.
		if out, err := n.run(); out != (campaign.Outcome{Total: 12, Done: 8, Failed: 4, Ran: 8, Skipped: 4, Left: 4}) {
			t.Errorf("outcome %+v, error %v", out, err)
		}
	})
}
