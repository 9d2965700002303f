package campaign_test

import (
	"context"
	"soku/test/plans"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"soku/internal/campaign/advice"
	"soku/internal/campaign/plan"
	"soku/internal/campaign/schedule"
	"soku/internal/measure"
)

// lasting makes every trial of the bench take so long, or until it is stopped.
func (b *bench) lasting(length time.Duration) {
	b.during = func(ctx context.Context, _ schedule.Job, _ measure.Observer) {
		select {
		case <-time.After(length):
		case <-ctx.Done():
		}
	}
}

func TestRoundsThatAreAddedWhileNothingRunsTakeNoneOfTheTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, plans.Study)
		b.lasting(time.Second)
		b.create()
		if _, err := b.run(); err != nil {
			t.Fatal(err)
		}
		worked := b.campaign.Worked()
		time.Sleep(time.Hour)
		if err := b.campaign.AddRounds(1, time.Now()); err != nil {
			t.Fatal(err)
		}
		b.resume()
		if got := b.campaign.Worked(); worked <= 0 || got != worked {
			t.Errorf("the runs took %s, and with an hour between them %s", worked, got)
		}
	})
}

func TestTheLeastOfTheLimitsOnBytesCounts(t *testing.T) {
	for _, c := range []struct {
		keys  string
		limit int64
		key   string
	}{
		{"", 0, ""},
		{"budget: {bytes: 4k}\n", 4000, "budget.bytes"},
		{"budget: {bytes: 4k, time: 1h}\n", 4000, "budget.bytes"},
		{"budget: {egress_price_per_gb: 1000, price: 0.006, bytes: 4k}\n", 4000, "budget.bytes"},
		{"budget: {egress_price_per_gb: 0.08, price: 20}\n", 250e9, "budget.price"},
		{"budget: {egress_price_per_gb: 1000, price: 0.002, bytes: 4k}\n", 2000, "budget.price"},
		{"budget: {egress_price_per_gb: 0.08}\n", 0, ""},
	} {
		p := plans.Parse(t, plans.Study+c.keys)
		if limit, key := p.MostBytes(); limit != c.limit || key != c.key {
			t.Errorf("%s%d bytes by %q, want %d by %q", c.keys, limit, key, c.limit, c.key)
		}
		if e := advice.EstimateOf(p, nil); e.MaxBytes != c.limit || e.MaxBytesKey != c.key || e.MaxTime != p.Budget.Time.Std() {
			t.Errorf("%sestimate %+v", c.keys, e)
		}
	}
	_, err := plan.Parse("plan.yaml", []byte(plans.Study+"budget: {price: 20}\n"))
	if err == nil || !strings.HasPrefix(err.Error(), "plan.yaml:10:17: budget.price: a price needs a price of each byte") {
		t.Errorf("a price without one a byte: %v", err)
	}
}
