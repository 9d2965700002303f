package campaign_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"soku/test/plans"
	"sync"
	"testing"
	"time"

	"soku/internal/campaign"
	"soku/internal/campaign/journal"
	"soku/internal/campaign/plan"
	"soku/internal/campaign/schedule"
	"soku/internal/measure"
	"soku/internal/store"
	"soku/internal/store/memory"

	"go.uber.org/goleak"
)

// TestMain is also the processes that tests start, see childRoles and commands.
func TestMain(m *testing.M) {
	if role := childRoles[os.Getenv("SOKU_TEST_ROLE")]; role != nil {
		os.Exit(role())
	}
	if len(os.Args) > 1 && commands[os.Args[1]] != nil {
		if err := commands[os.Args[1]](os.Args[2:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

// commands are the commands of soku that tests have the test program run in the
// place of soku.
var commands = map[string]func(args []string) error{}

// bench is a campaign folder, a store and a runner that invents results.
type bench struct {
	t        *testing.T
	dir      string
	store    store.Store
	plan     *plan.Plan
	campaign *campaign.Campaign
	exec     *campaign.Executor

	mu       sync.Mutex
	ran      []string // trials in the order in which the runner got them
	commands []string
	events   []campaign.Event
	fail     func(j schedule.Job) error
	during   func(ctx context.Context, j schedule.Job, obs measure.Observer)
	bytes    int64 // payload of a trial
	goodput  func(j schedule.Job) float64
}

func newBench(t *testing.T, text string) *bench {
	t.Helper()
	b := &bench{t: t, dir: t.TempDir(), bytes: 1000}
	b.store = memory.New()
	b.plan = plans.Parse(t, text)
	b.exec = &campaign.Executor{Runner: b, Store: b.store, Now: time.Now, Command: b.command,
		Watch: func(e campaign.Event) { b.events = append(b.events, e) }}
	return b
}

func (b *bench) create() {
	b.t.Helper()
	c, err := campaign.Create(b.campaigns(), b.plan, 42, "test", time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
	if err != nil {
		b.t.Fatal(err)
	}
	b.hold(c)
}

func (b *bench) campaigns() journal.Folder {
	return journal.Folder(filepath.Join(b.dir, "campaigns"))
}

func (b *bench) hold(c *campaign.Campaign) {
	b.campaign = c
	b.t.Cleanup(func() { _ = c.Close() })
}

// resume closes the campaign and opens it again, with the plan as it is now.
func (b *bench) resume() {
	b.t.Helper()
	id := b.campaign.ID()
	if err := b.campaign.Close(); err != nil {
		b.t.Fatal(err)
	}
	c, err := campaign.Resume(b.campaigns(), id, b.plan)
	if err != nil {
		b.t.Fatal(err)
	}
	b.hold(c)
}

func (b *bench) run() (campaign.Outcome, error) {
	b.t.Helper()
	b.ran, b.events, b.commands = nil, nil, nil
	return b.exec.Run(b.t.Context(), b.campaign)
}

var serial struct {
	sync.Mutex
	n int
}

func (b *bench) Run(ctx context.Context, j schedule.Job, h campaign.Hooks) *measure.Result {
	b.mu.Lock()
	b.ran = append(b.ran, j.Key().String())
	b.mu.Unlock()
	serial.Lock()
	serial.n++
	id := fmt.Sprintf("%08d", serial.n)
	serial.Unlock()
	r := invented(j, id, b.bytes)
	if b.goodput != nil {
		r.Summary.GoodputBps = b.goodput(j)
	}
	if b.during != nil {
		b.during(ctx, j, h.Progress)
	}
	if ctx.Err() != nil {
		r.Error = measure.AsError(context.Cause(ctx), measure.KindInterrupted)
	} else if b.fail != nil {
		r.Error = measure.AsError(b.fail(j), measure.KindUnreachable)
	}
	return r
}

func invented(j schedule.Job, id string, bytes int64) *measure.Result {
	trial := j.Trial
	return &measure.Result{Schema: measure.Schema, ID: id, Test: j.Test, Trial: &trial, StartedAt: time.Now().UTC(), Options: j.Options,
		Flows: []measure.Flow{{Direction: measure.Forward, Summary: measure.Summary{SentBytes: bytes, ReceivedBytes: bytes}}}}
}

func (b *bench) command(_ context.Context, text string, env []string) ([]byte, error) {
	b.commands = append(b.commands, fmt.Sprint(text, " ", env[1:]))
	if text == "fail" {
		return []byte("switching\nno such gateway\n"), fmt.Errorf("exit status 3")
	}
	return []byte("done\n"), nil
}

// results are the campaign's results in the store.
func (b *bench) results() []*measure.Result {
	b.t.Helper()
	return campaignResults(b.t, b.store, b.campaign.ID())
}

// campaignResults are the results of a campaign in a store, in the order in which
// they were measured.
func campaignResults(t *testing.T, st store.Store, id string) (out []*measure.Result) {
	t.Helper()
	for r, err := range st.Results(t.Context(), store.Query{Campaign: id, OldestFirst: true}, store.Whole) {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, r)
	}
	return out
}

// onceEach fails if a trial has no or two results in the store.
func (b *bench) onceEach(want int) {
	b.t.Helper()
	seen := map[string]bool{}
	for _, r := range b.results() {
		k := fmt.Sprint(r.Trial.Pattern, r.Trial.Label, r.Trial.Round, r.Trial.Repeat)
		if seen[k] {
			b.t.Errorf("trial %s has two results", k)
		}
		seen[k] = true
	}
	if len(seen) != want {
		b.t.Errorf("%d trials have a result, want %d", len(seen), want)
	}
}
