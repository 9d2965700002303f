package campaign_test

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"soku/internal/campaign"
	"soku/internal/measure"
)

var two = []pair{{from: "a", to: "b", group: 1}, {from: "c", to: "d", group: 1}}

func TestAGroupStartsTogetherWhenAllAreReady(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNet(t, 1, append(two, pair{from: "a", to: "c"})) // the limit is for what is no group
		var mu sync.Mutex
		released := map[string]time.Duration{}
		n.act = func(ctx context.Context, j campaign.Job, h campaign.Hooks) error {
			if h.Ready == nil {
				return nil
			}
			if name(j) == "c>d" {
				time.Sleep(3 * time.Second) // its session takes longer to open
			}
			err := h.Ready(ctx)
			mu.Lock()
			defer mu.Unlock()
			released[name(j)] = time.Since(n.begin)
			if name(j) == "a>b" { // its failure is reported elsewhere
				h.Started(time.Now().Add(7*time.Millisecond), 2*time.Millisecond)
			}
			return err
		}
		out, err := n.run()
		if err != nil || out.Done != 3 {
			t.Fatalf("outcome %+v, error %v", out, err)
		}
		if released["a>b"] != 3*time.Second || released["c>d"] != 3*time.Second {
			t.Errorf("released after %v", released)
		}
		skews := map[string]int64{}
		for _, r := range n.store.results {
			if g := r.Trial.Group; g != nil {
				if g.ID != "1.1" || g.Trials != 2 || g.StartSkewNs == nil {
					t.Fatalf("group is %+v", g)
				}
				skews[r.Trial.Pair.Client.Name] = *g.StartSkewNs
				if g.StartSkewErrorNs != map[string]int64{"a": 2e6}[r.Trial.Pair.Client.Name] {
					t.Errorf("%s: the skew is known within ± %d ns", r.Trial.Pair.Client.Name, g.StartSkewErrorNs)
				}
			} else if r.Trial.Pair.Client.Name != "a" || r.Trial.Pair.Server.Name != "c" {
				t.Errorf("%+v has no group", r.Trial.Pair)
			}
		}
		if len(skews) != 2 || skews["a"] != 7e6 || skews["c"] != 0 {
			t.Errorf("skews are %v, want 7 ms and 0", skews)
		}
		if groups := n.records(campaign.RecordGroupFinished); len(groups) != 1 || len(groups[0].Group) != 2 {
			t.Errorf("groups in the journal: %+v", groups)
		}
		n.onceEach(3)
	})
}

func TestAGroupFailsIfOneTrialCannotStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNet(t, 4, append(two, pair{from: "a", to: "c"}))
		n.act = func(ctx context.Context, j campaign.Job, h campaign.Hooks) error {
			if h.Ready == nil {
				return nil
			}
			if name(j) == "c>d" {
				time.Sleep(time.Second)
				return measure.TextError(measure.KindUnreachable, "connect d: refused", "is soku server running there?")
			}
			if err := h.Ready(ctx); err != nil {
				return err
			}
			t.Errorf("%s started", name(j))
			return nil
		}
		out, err := n.run()
		if measure.KindOf(err) != measure.KindIncomplete || out.Failed != 2 || out.Done != 3 {
			t.Fatalf("outcome %+v, error %v", out, err)
		}
		for _, r := range n.store.results {
			want := map[string]string{"a>b": "the group did not start: all, throughput, round 1, repeat 1 (c > d) failed: connect d: refused", "c>d": "connect d: refused"}[r.Trial.Pair.Client.Name+">"+r.Trial.Pair.Server.Name]
			if (r.Error == nil) != (want == "") || r.Error != nil && (r.Error.Message != want || r.Error.Kind != measure.KindUnreachable || r.Error.Hint == "" || r.Trial.Group.StartSkewNs != nil) {
				t.Errorf("%+v has the error %v and group %+v, want %q", r.Trial.Pair, r.Error, r.Trial.Group, want)
			}
		}
		// Its trials run again together, though a result of each is there.
		n.act, n.exec.RetryFailed = nil, true
		n.resume()
		if out, err = n.run(); err != nil || out != (campaign.Outcome{Total: 3, Done: 3, Ran: 2}) || n.most != 2 {
			t.Errorf("outcome %+v, error %v, %d at once", out, err, n.most)
		}
	})
}

func TestAllOfAGroupRunAgainIfOneFailed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNet(t, 1, two)
		n.act = func(ctx context.Context, j campaign.Job, h campaign.Hooks) error {
			if err := h.Ready(ctx); err != nil || name(j) == "a>b" {
				return err
			}
			return measure.TextError(measure.KindBroken, "connection reset", "")
		}
		if out, err := n.run(); out.Failed != 1 || out.Done != 2 {
			t.Fatalf("outcome %+v, error %v", out, err)
		}
		n.act, n.exec.RetryFailed = nil, true
		n.resume()
		if out, err := n.run(); err != nil || out != (campaign.Outcome{Total: 2, Done: 2, Ran: 2}) {
			t.Errorf("outcome %+v, error %v", out, err)
		}
		for _, r := range n.store.results {
			if code := map[string]measure.Code{"a": measure.CodeReplacesGroup, "c": measure.CodeReplacesResult}[r.Trial.Pair.Client.Name]; len(r.Findings) > 0 && r.Findings[0].Code != code {
				t.Errorf("%+v has the finding %+v, want %s", r.Trial.Pair, r.Findings[0], code)
			}
		}
		if len(n.store.results) != 4 {
			t.Errorf("%d results, want the first two and the two that replace them", len(n.store.results))
		}
	})
}

func TestAGroupDoesNotWaitForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNet(t, 1, two)
		n.act = func(ctx context.Context, j campaign.Job, h campaign.Hooks) error {
			if name(j) == "a>b" {
				return h.Ready(ctx)
			}
			<-ctx.Done() // its server has it wait
			return context.Cause(ctx)
		}
		out, err := n.run()
		if out.Failed != 2 || time.Since(n.begin) != 20*time.Second {
			t.Fatalf("outcome %+v, error %v, after %s", out, err, time.Since(n.begin))
		}
		for _, r := range n.store.results {
			if !strings.Contains(r.Error.Message, "(c > d) was not ready within 20s") {
				t.Errorf("error is %v", r.Error)
			}
		}
	})
}

func TestAGroupThatIsCutCountsAsNotRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNet(t, 1, two)
		n.length = func(j campaign.Job) time.Duration {
			return map[string]time.Duration{"a>b": time.Second, "c>d": time.Minute}[name(j)]
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(5*time.Second, func() { cancel(measure.TextError(measure.KindInterrupted, "interrupted", "")) })
		out, err := n.exec.Run(ctx, n.campaign) // a>b has ended by then
		if measure.KindOf(err) != measure.KindInterrupted || out.Done != 0 || len(n.records(campaign.RecordTrialDropped)) != 2 {
			t.Fatalf("outcome %+v, error %v", out, err)
		}
		n.onceEach(0)
		n.resume()
		if out, err = n.run(); err != nil || out.Ran != 2 {
			t.Errorf("outcome %+v, error %v", out, err)
		}
		n.onceEach(2)
	})
}

// A kill leaves a journal that ends anywhere: of a group all results or none.
func TestAGroupIsOneRecordOfTheJournal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNet(t, 1, two)
		if _, err := n.run(); err != nil {
			t.Fatal(err)
		}
		whole := n.in.Bytes(n.campaign.ID())
		from := bytes.Index(whole, []byte(`"record":"group_finished"`))
		to := from + bytes.IndexByte(whole[from:], '\n') + 1
		for cut := from; cut <= to; cut += 7 {
			done := map[string]bool{}
			if _, err := campaign.ReadJournal(bytes.NewReader(whole[:cut]), func(r campaign.Record) error {
				for _, f := range r.Group {
					done[fmt.Sprint(f.Trial.Client)] = true
				}
				return nil
			}); err != nil {
				t.Fatal(err)
			}
			if len(done) != 0 {
				t.Errorf("cut at %d of %d..%d: %v are done", cut, from, to, done)
			}
		}
	})
}
