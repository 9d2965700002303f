package campaign_test

import (
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"soku/internal/campaign"
)

// idleShare is how much of the time hosts of a net were in no trial.
func (n *net) idleShare(hosts int) float64 {
	var busy time.Duration
	for _, d := range n.busy {
		busy += d
	}
	return 1 - float64(busy)/float64(time.Since(n.begin)*time.Duration(hosts))
}

func TestTheExecutorKeepsFewHostsBusy(t *testing.T) {
	for hosts, most := range map[int]float64{4: 0.05, 6: 0.08, 10: 0.12} {
		synctest.Test(t, func(t *testing.T) {
			n := newNet(t, hosts/2, meshOf(hosts))
			g := rand.New(rand.NewPCG(1, 2))
			n.length = func(campaign.Job) time.Duration {
				n.mu.Lock()
				defer n.mu.Unlock()
				return 10*time.Second + time.Duration(g.Int64N(int64(time.Second)))
			}
			if _, err := n.run(); err != nil {
				t.Fatal(err)
			}
			if idle := n.idleShare(hosts); idle > most {
				t.Errorf("%d hosts are idle %.1f %% of the time, want at most %.0f %%", hosts, 100*idle, 100*most)
			}
			if n.most != hosts/2 {
				t.Errorf("%d trials at once, want %d", n.most, hosts/2)
			}
			n.onceEach(hosts * (hosts - 1))
		})
	}
}

// Hosts wait for others that are about to come free, but not for one whose trial takes far
// longer than planned.
func TestHostsDoNotWaitForALateOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNet(t, 3, meshOf(6))
		first := true
		n.length = func(campaign.Job) time.Duration {
			n.mu.Lock()
			defer n.mu.Unlock()
			if first {
				first = false
				return 60 * time.Second
			}
			return 10 * time.Second
		}
		if _, err := n.run(); err != nil {
			t.Fatal(err)
		}
		// The other four start their second trials after a quarter of a trial of 10.3 s.
		second := n.started[3]
		if at := second[len("h0>h1 "):]; at != "12.575s" {
			t.Errorf("the second trials start at %s:\n%s", at, lines(n.started))
		}
		n.onceEach(30)
	})
}

// Pairs without other partners have nothing to wait for.
func TestPairsOfTheirOwnDoNotWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNet(t, 2, []pair{{from: "a", to: "b"}, {from: "c", to: "d"}, {from: "b", to: "a"}, {from: "d", to: "c"}})
		n.length = func(j campaign.Job) time.Duration {
			if name(j) == "c>d" {
				return 11 * time.Second
			}
			return 10 * time.Second
		}
		if _, err := n.run(); err != nil {
			t.Fatal(err)
		}
		if slices.Sort(n.started); !slices.Equal(n.started, []string{"a>b 0s", "b>a 10s", "c>d 0s", "d>c 11s"}) {
			t.Errorf("started\n%s", lines(n.started))
		}
	})
}
