package campaign_test

import (
	"context"
	"slices"
	"soku/test/plans"
	"testing"
	"time"

	"soku/internal/campaign"
	"soku/internal/campaign/schedule"
	"soku/internal/measure"
)

// repeater is an endpoint that gives all its results one identity.
type repeater struct{ *bench }

func (r repeater) Run(ctx context.Context, j schedule.Job, h campaign.Hooks) *measure.Result {
	out := r.bench.Run(ctx, j, h)
	out.ID, out.Test = "00000001", measure.TestMTU
	return out
}

func TestIdentitiesAreMadeByTheCampaign(t *testing.T) {
	b := newBench(t, plans.Study)
	b.create()
	b.exec.Runner = repeater{b}
	if out, err := b.run(); err != nil || out.Ran != 16 {
		t.Fatalf("outcome %+v, error %v", out, err)
	}
	b.onceEach(16)
	for _, r := range b.results() {
		if r.Test != measure.TestTCP && r.Test != measure.TestPing {
			t.Errorf("a result of the test %s", r.Test)
		}
	}
}

func TestProgressReportsTheStateOfTheCampaign(t *testing.T) {
	b := newBench(t, plans.Study)
	b.create()
	now := time.Unix(0, 0)
	b.exec.Now = func() time.Time { return now }
	b.during = func(_ context.Context, _ schedule.Job, obs measure.Observer) {
		now = now.Add(10 * time.Second)
		obs(measure.Progress{Bytes: 1})
	}
	if _, err := b.run(); err != nil {
		t.Fatal(err)
	}
	var kinds []campaign.EventKind
	for _, e := range b.events[:3] {
		kinds = append(kinds, e.Kind)
	}
	if !slices.Equal(kinds, []campaign.EventKind{campaign.EventTrial, campaign.EventProgress, campaign.EventResult}) {
		t.Errorf("events are %v", kinds)
	}
	half := b.events[8*3-1]
	if half.Done != 8 || half.Total != 16 || half.Left < 70*time.Second || half.Left > 90*time.Second {
		t.Errorf("half way it reports %d of %d and %s left; trials took 10 s each", half.Done, half.Total, half.Left)
	}
	if last := b.events[len(b.events)-1]; last.Left != 0 || last.Done != 16 {
		t.Errorf("at the end it reports %+v", last)
	}
}
