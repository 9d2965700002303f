package campaign_test

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"soku/internal/campaign"
	"soku/internal/campaign/journal"
	"soku/internal/measure"
)

func TestOthersGoOnWhenAHostGoesAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNet(t, 9, meshOf(4), meshOf(4))
		changes := make(chan campaign.HostChange)
		n.exec.Hosts = changes
		gone := 0
		n.exec.Watch = func(e campaign.Event) {
			if e.Kind == campaign.EventHostGone && e.Host == "h2" && e.Error != nil {
				gone++
			}
		}
		time.AfterFunc(15*time.Second, func() {
			changes <- campaign.HostChange{Host: "h2", Gone: errors.New("no heartbeat for 5 s")}
		})
		out, err := n.run()
		// One trial with h2 was done, one ran; 4 more of its block and 6 of the next are left.
		if measure.KindOf(err) != measure.KindIncomplete || gone != 1 || out != (campaign.Outcome{Total: 24, Done: 13, Ran: 13, Skipped: 11, Left: 11}) {
			t.Fatalf("outcome %+v, error %v, reported %d times", out, err, gone)
		}
		if !strings.Contains(err.Error(), "11 of 24 trials did not run because a host went away;") {
			t.Errorf("error is %v", err)
		}
		dropped := n.records(journal.RecordTrialDropped)
		for _, r := range dropped {
			if (r.Trial.Client != "h2" && r.Trial.Server != "h2") || r.Reason != "host h2 went away: no heartbeat for 5 s" || r.Code != "campaign.host_gone" {
				t.Errorf("dropped %s>%s: %s (%s)", r.Trial.Client, r.Trial.Server, r.Reason, r.Code)
			}
		}
		if len(dropped) != 11 || len(n.store.results) != 13 {
			t.Errorf("%d trials are recorded as not run, %d have a result", len(dropped), len(n.store.results))
		}
		if ended := n.records(journal.RecordEnded); len(ended) != 1 || ended[0].Code != "campaign.skipped" {
			t.Errorf("the end of the run is recorded as %+v", ended)
		}
		n.exec.Hosts = nil
		n.resume()
		out, err = n.run()
		if out != (campaign.Outcome{Total: 24, Done: 24, Ran: 11}) {
			t.Errorf("outcome %+v, error %v", out, err)
		}
		n.onceEach(24)
	})
}

func TestAHostThatComesBackTakesPartAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNet(t, 9, meshOf(3), meshOf(3))
		changes := make(chan campaign.HostChange, 2)
		n.exec.Hosts = changes
		changes <- campaign.HostChange{Host: "h1", Gone: errors.New("rebooting")}
		time.AfterFunc(15*time.Second, func() { changes <- campaign.HostChange{Host: "h1"}; close(changes) })
		out, err := n.run()
		// Of the first block only h0 with h2 both ways; then all of the second.
		if measure.KindOf(err) != measure.KindIncomplete || out != (campaign.Outcome{Total: 12, Done: 8, Ran: 8, Skipped: 4, Left: 4}) {
			t.Errorf("outcome %+v, error %v", out, err)
		}
	})
}

func TestABlockWithoutHostsRunsNoCommands(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNet(t, 1, []pair{{from: "a", to: "b"}})
		n.plan.AllPatterns()[0].Before = []string{"switch"}
		changes := make(chan campaign.HostChange, 1)
		n.exec.Hosts = changes
		changes <- campaign.HostChange{Host: "b", Gone: errors.New("gone")}
		out, err := n.run()
		if out.Skipped != 1 || len(n.started) != 0 || len(n.records(journal.RecordCommand)) != 0 || !strings.Contains(err.Error(), "1 of 1 trial did not run because a host went away") {
			t.Errorf("outcome %+v, error %v", out, err)
		}
	})
}

func TestAGroupCountsAsNotRunWhenOneOfItsHostsGoesAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNet(t, 1, append(two, pair{from: "a", to: "c"}))
		changes := make(chan campaign.HostChange, 1)
		n.exec.Hosts = changes
		time.AfterFunc(5*time.Second, func() { changes <- campaign.HostChange{Host: "d", Gone: errors.New("gone")} })
		out, _ := n.run()
		if out != (campaign.Outcome{Total: 3, Done: 1, Ran: 1, Skipped: 2, Left: 2}) {
			t.Errorf("outcome %+v", out)
		}
	})
}
