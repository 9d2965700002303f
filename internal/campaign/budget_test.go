package campaign_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"soku/internal/campaign"
	"soku/internal/measure"
)

// lasting makes every trial of the bench take so long, or until it is stopped.
func (b *bench) lasting(length time.Duration) {
	b.during = func(ctx context.Context, _ campaign.Job, _ measure.Observer) {
		select {
		case <-time.After(length):
		case <-ctx.Done():
		}
	}
}

// ofTheTime fails if the error is not that of a campaign that has used its time.
func ofTheTime(t *testing.T, err error, out campaign.Outcome, done int) {
	t.Helper()
	if e := measure.AsError(err, measure.KindInternal); e == nil || e.Kind != measure.KindRefused || e.Code != "campaign.time_budget" || out.Done != done {
		t.Errorf("outcome %+v, error %v; want %d trials done", out, err, done)
	}
}

func TestNoTrialBeginsThatWouldEndAfterTheBudgetOfTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, strings.Replace(study, "  rtt: {test: ping, count: 10}\n", "", 1)+"budget: {time: 10s}\n") // 8 trials of 1 s, planned as 1.3 s
		b.lasting(3 * time.Second)
		b.create()
		out, err := b.run()
		ofTheTime(t, err, out, 3) // the fourth would begin at 9 s
		if len(b.ran) != 3 {
			t.Errorf("%d trials began", len(b.ran))
		}
		// The time of all runs counts, not that between them.
		time.Sleep(time.Hour)
		b.resume()
		out, err = b.run()
		ofTheTime(t, err, out, 3)
		// With more of it the campaign goes on.
		b.plan.Budget.Time = measure.Duration(13 * time.Second)
		b.resume()
		out, err = b.run()
		ofTheTime(t, err, out, 4)
		b.plan.Budget.Time = 0
		b.resume()
		if out, err = b.run(); err != nil || out.Done != 8 {
			t.Errorf("outcome %+v, error %v", out, err)
		}
		b.onceEach(8)
	})
}

func TestATrialThatRunsLongerThanTheBudgetIsStoppedAndNotLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, study+"budget: {time: 5s}\n")
		b.lasting(time.Hour)
		b.create()
		begin := time.Now()
		out, err := b.run()
		ofTheTime(t, err, out, 0)
		if took := time.Since(begin); took != 5*time.Second {
			t.Errorf("the run took %s", took)
		}
		if kinds := b.journal(); kinds[campaign.RecordTrialDropped] != 1 || kinds[campaign.RecordTrialFinished] != 0 || kinds[campaign.RecordEnded] != 1 {
			t.Errorf("the journal has %v", kinds)
		}
	})
}

func TestACommandCountsAgainstTheBudgetOfTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, study+"before: switch\nafter: back\nbudget: {time: 5s}\n")
		b.create()
		b.exec.Command = func(ctx context.Context, text string, _ []string) ([]byte, error) {
			b.commands = append(b.commands, text)
			if text == "switch" {
				select {
				case <-time.After(time.Minute):
				case <-ctx.Done():
					return nil, ctx.Err()
				}
			}
			return nil, nil
		}
		out, err := b.run()
		ofTheTime(t, err, out, 0)
		if got := strings.Join(b.commands, " "); got != "switch back" {
			t.Errorf("commands were %q", got)
		}
	})
}

func TestRoundsThatAreAddedWhileNothingRunsTakeNoneOfTheTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, study)
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
		p := parse(t, study+c.keys)
		if limit, key := p.MostBytes(); limit != c.limit || key != c.key {
			t.Errorf("%s%d bytes by %q, want %d by %q", c.keys, limit, key, c.limit, c.key)
		}
		if e := campaign.EstimateOf(p, nil); e.MaxBytes != c.limit || e.MaxBytesKey != c.key || e.MaxTime != p.Budget.Time.Std() {
			t.Errorf("%sestimate %+v", c.keys, e)
		}
	}
	_, err := campaign.Parse("plan.yaml", []byte(study+"budget: {price: 20}\n"))
	if err == nil || !strings.HasPrefix(err.Error(), "plan.yaml:10:17: budget.price: a price needs a price of each byte") {
		t.Errorf("a price without one a byte: %v", err)
	}
}

func TestABudgetOfPriceEndsTheCampaign(t *testing.T) {
	b := newBench(t, study+"budget: {egress_price_per_gb: 1000, price: 2.5}\n") // 2.5 MB; a trial moves 1 MB
	b.bytes = 1e6
	b.create()
	out, err := b.run()
	if e := measure.AsError(err, measure.KindInternal); e == nil || e.Kind != measure.KindRefused || e.Code != "campaign.byte_cap" || e.Figures["key"] != "budget.price" {
		t.Fatalf("outcome %+v, error %v", out, err)
	}
	if out.Done < 2 || out.Done > 3 || len(b.results()) != out.Done {
		t.Errorf("%+v, %d results", out, len(b.results()))
	}
}

// journal is how many records of each kind the journal of the bench's campaign has.
func (b *bench) journal() map[string]int {
	b.t.Helper()
	kinds := map[string]int{}
	if err := b.campaigns().Read(b.campaign.ID(), func(r campaign.Record) error { kinds[r.Kind]++; return nil }); err != nil {
		b.t.Fatal(err)
	}
	return kinds
}
