package campaign_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"soku/internal/campaign"
	"soku/internal/campaign/schedule"
	"soku/internal/measure"
)

// The executor itself is simulated here, with everything but the packets: hosts
// of a mesh wait for nothing but a free partner.
func TestTheExecutorKeepsTheHostsOfAMeshBusy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const hosts = 60
		n := newNet(t, hosts, meshOf(hosts))
		g := rand.New(rand.NewPCG(1, 2))
		n.length = func(schedule.Job) time.Duration {
			n.mu.Lock()
			defer n.mu.Unlock()
			return 10*time.Second + time.Duration(g.Int64N(int64(4*time.Second)))
		}
		if _, err := n.run(); err != nil {
			t.Fatal(err)
		}
		if idle := n.idleShare(hosts); idle > 0.06 {
			t.Errorf("hosts are idle %.1f %% of the time", 100*idle)
		}
		n.onceEach(hosts * (hosts - 1))
	})
}

func TestAJournalThatCannotBeWrittenStopsAllThatRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNet(t, 9, meshOf(6))
		broken := errors.New("the store is full")
		n.exec.Store = &failingStore{memoryStore: &n.store, after: 4, err: broken}
		out, err := n.run()
		if !errors.Is(err, broken) || out.Ran < 5 || out.Ran > 6 || len(n.started) != 6 {
			t.Errorf("outcome %+v, error %v, started\n%s", out, err, lines(n.started))
		}
	})
}

type failingStore struct {
	*memoryStore
	after int
	err   error
}

func (s *failingStore) Put(ctx context.Context, results ...*measure.Result) error {
	if s.after--; s.after < 0 {
		return s.err
	}
	return s.memoryStore.Put(ctx, results...)
}

func TestTheTimeLeftCountsWhatRunsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNet(t, 2, meshOf(4), meshOf(4))
		var left time.Duration
		n.exec.Watch = func(e campaign.Event) {
			if e.Kind == campaign.EventResult && e.Done == 12 {
				left = e.Left
			}
		}
		if _, err := n.run(); err != nil {
			t.Fatal(err)
		}
		if left < 55*time.Second || left > 65*time.Second {
			t.Errorf("half way %s are left; 12 trials of 10 s, two at once, take 60 s", left)
		}
	})
}
