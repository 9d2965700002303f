package campaign_test

import (
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"soku/internal/campaign/schedule"
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
			n.length = func(schedule.Job) time.Duration {
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
