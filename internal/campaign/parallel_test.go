package campaign_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"soku/internal/campaign"
	"soku/internal/measure"
	"soku/internal/store"
)

func TestDisjointPairsRunAtTheSameTimeAndSharedHostsInTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNet(t, 9, []pair{{from: "a", to: "b"}, {from: "c", to: "d"}, {from: "a", to: "c"}, {from: "b", to: "a"}})
		out, err := n.run()
		if err != nil || out != (campaign.Outcome{Total: 4, Done: 4, Ran: 4}) {
			t.Fatalf("outcome %+v, error %v", out, err)
		}
		// a and b have most trials left; then a is with b again or with c.
		if n.most != 2 || !strings.HasSuffix(n.started[1], " 0s") || !strings.HasSuffix(n.started[2], " 10s") || !strings.HasSuffix(n.started[3], " 20s") {
			t.Errorf("%d at once:\n%s", n.most, lines(n.started))
		}
		// The journal has the order that happened, the results the planned one.
		var journal []string
		for _, r := range n.records(campaign.RecordTrialStarted) {
			journal = append(journal, fmt.Sprint(r.Trial.Client, ">", r.Trial.Server))
		}
		for i, s := range n.started[2:] { // the first two begin at the same moment
			if trial, _, _ := strings.Cut(s, " "); trial != journal[i+2] {
				t.Errorf("the journal has the order %q, the runner saw\n%s", journal, lines(n.started))
			}
		}
		n.onceEach(4)
	})
}

func TestALimitOfOneKeepsThePlannedOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, limit := range []int{0, 1} {
			n := newNet(t, limit, meshOf(4), meshOf(3))
			if _, err := n.run(); err != nil {
				t.Fatal(err)
			}
			var want []string
			for i, p := range append(meshOf(4), meshOf(3)...) {
				want = append(want, fmt.Sprintf("%s>%s %s", p.from, p.to, time.Duration(i)*10*time.Second))
			}
			if n.most != 1 || !slices.Equal(n.started, want) {
				t.Errorf("%d at once; ran\n%s\nwant\n%s", n.most, lines(n.started), lines(want))
			}
		}
	})
}

func TestALimitBoundsWhatRunsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNet(t, 3, meshOf(12))
		if _, err := n.run(); err != nil {
			t.Fatal(err)
		}
		// The last few may have hosts in common.
		if took := time.Since(n.begin); n.most != 3 || took < 440*time.Second || took > 480*time.Second {
			t.Errorf("%d at once, %s; 132 trials of 10 s, 3 at once, take 440 s", n.most, took)
		}
		n.onceEach(132)
	})
}

func TestBlocksRunOneAfterTheOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNet(t, 9, []pair{{from: "a", to: "b"}}, []pair{{from: "c", to: "d"}})
		if _, err := n.run(); err != nil || !slices.Equal(n.started, []string{"a>b 0s", "c>d 10s"}) {
			t.Errorf("ran %q (%v)", n.started, err)
		}
	})
}

// The executor itself is simulated here, with everything but the packets: hosts
// of a mesh wait for nothing but a free partner.
func TestTheExecutorKeepsTheHostsOfAMeshBusy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const hosts = 60
		n := newNet(t, hosts, meshOf(hosts))
		g := rand.New(rand.NewPCG(1, 2))
		n.length = func(campaign.Job) time.Duration {
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

func TestStoppingStopsAllThatRunAndNoneCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNet(t, 9, meshOf(6))
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(25*time.Second, func() { cancel(measure.TextError(measure.KindInterrupted, "interrupted", "")) })
		out, err := n.exec.Run(ctx, n.campaign)
		if measure.KindOf(err) != measure.KindInterrupted || out.Done != 6 || out.Left != 24 {
			t.Fatalf("outcome %+v, error %v", out, err)
		}
		if dropped := n.records(campaign.RecordTrialDropped); len(dropped) < 2 || len(dropped) != len(n.started)-6 || !strings.Contains(dropped[0].Reason, "6 of 30") {
			t.Errorf("dropped %+v", dropped)
		}
		n.onceEach(6)
		n.resume()
		if out, err = n.run(); err != nil || out.Ran != 24 {
			t.Errorf("outcome %+v, error %v", out, err)
		}
		n.onceEach(30)
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

func TestTheByteCapCountsWhatRunsAtTheSameTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNet(t, 9, meshOf(4))
		n.plan.Budget.Bytes = 3500
		const each = 1000
		n.act = func(_ context.Context, _ campaign.Job, h campaign.Hooks) error {
			h.Progress(measure.Progress{Direction: measure.Forward, Bytes: each})
			return nil
		}
		out, err := n.run()
		if measure.KindOf(err) != measure.KindRefused || out.Done != 2 {
			t.Errorf("outcome %+v, error %v; two trials at once move 1000 each, the cap is 3500", out, err)
		}
	})
}

func TestATrialOfKnownSizeWaitsUntilTheCapHasRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNet(t, 9, []pair{{from: "a", to: "b"}, {from: "c", to: "d"}})
		n.plan.Budget.Bytes = 15_000
		pt := n.plan.AllPatterns()
		pt[0].Tests[0].Options.Bytes = 10_000 // planned; the runner moves 1000
		out, err := n.run()
		if err != nil || out.Done != 2 || n.most != 1 {
			t.Errorf("outcome %+v, error %v, %d at once", out, err, n.most)
		}
	})
}

func TestThePauseIsBetweenTheTrialsOfAHost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNet(t, 9, []pair{{from: "a", to: "b"}, {from: "c", to: "d"}, {from: "b", to: "a"}})
		n.plan.Pause = measure.Duration(3 * time.Second)
		if _, err := n.run(); err != nil {
			t.Fatal(err)
		}
		if slices.Sort(n.started); !slices.Equal(n.started, []string{"a>b 0s", "b>a 13s", "c>d 0s"}) {
			t.Errorf("ran %q", n.started)
		}
	})
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

func TestRoundsAreAddedWhileTheCampaignRuns(t *testing.T) {
	b := newBench(t, study)
	b.create()
	added := 0
	b.exec.Watch = func(e campaign.Event) {
		if e.Kind == campaign.EventResult && e.Done == e.Total && added < 2 {
			added++
			if err := b.campaign.AddRounds(added, time.Now()); err != nil {
				t.Error(err)
			}
		}
	}
	out, err := b.run()
	if err != nil || out != (campaign.Outcome{Total: 40, Done: 40, Ran: 40}) { // 2 rounds, then 1 and 2 more
		t.Fatalf("outcome %+v, error %v", out, err)
	}
	more := parse(t, strings.Replace(study, "rounds: 2", "rounds: 5", 1))
	var want []string
	for block := range campaign.Blocks(more, "", 42) {
		for j := range block.Jobs() {
			want = append(want, j.Key().String())
		}
	}
	if !slices.Equal(b.ran, want) {
		t.Errorf("ran\n%s\nwant the order of a plan with 5 rounds", lines(b.ran))
	}
	if c, err := store.FindCampaign(t.Context(), b.store, "study"); err != nil || c.Trials != 40 || c.Done != 40 || c.FinishedAt.IsZero() {
		t.Errorf("the store has %+v (%v)", c, err)
	}
	b.resume()
	if rounds := b.campaign.Rounds(); rounds != 5 {
		t.Errorf("%d rounds after resuming, want 5", rounds)
	}
	if out, err = b.run(); err != nil || out != (campaign.Outcome{Total: 40, Done: 40}) {
		t.Errorf("outcome %+v, error %v", out, err)
	}
	if err := b.campaign.AddRounds(1, time.Now()); err != nil {
		t.Fatal(err)
	}
	infos, err := campaign.Find(b.campaigns(), "study")
	if err != nil || !infos[0].Open() || infos[0].Trials != 48 {
		t.Errorf("a campaign with a round more is %+v (%v)", infos, err)
	}
	if err := b.campaign.AddRounds(1<<21, time.Now()); measure.KindOf(err) != measure.KindUsage {
		t.Errorf("two million rounds: %v", err)
	}
	if err := b.campaign.AddRounds(0, time.Now()); measure.KindOf(err) != measure.KindUsage {
		t.Errorf("no rounds: %v", err)
	}
}
