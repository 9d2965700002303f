package campaign_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"soku/internal/campaign"
	"soku/internal/measure"
	"soku/internal/store"
)

func TestACampaignRunsEveryTrialOnceInOrder(t *testing.T) {
	b := newBench(t, study)
	b.create()
	out, err := b.run()
	if err != nil {
		t.Fatal(err)
	}
	if out != (campaign.Outcome{Total: 16, Done: 16, Ran: 16}) {
		t.Errorf("outcome is %+v", out)
	}
	var want []string
	for block := range campaign.Blocks(b.plan, "", 42) {
		for j := range block.Jobs() {
			want = append(want, j.Key().String())
		}
	}
	if !slices.Equal(b.ran, want) {
		t.Errorf("ran\n%s\nwant\n%s", strings.Join(b.ran, "\n"), strings.Join(want, "\n"))
	}
	b.onceEach(16)
	c, err := store.FindCampaign(t.Context(), b.store, "study")
	if err != nil || c.Done != 16 || c.Failed != 0 || c.FinishedAt.IsZero() || c.Plan != study || c.Seed != 42 || c.Patterns != 2 || c.Trials != 16 {
		t.Errorf("the store has %+v (%v)", c, err)
	}
}

func TestAFailedTrialIsAResultAndTheCampaignContinues(t *testing.T) {
	b := newBench(t, study)
	b.create()
	b.fail = func(j campaign.Job) error {
		if j.Trial.Pattern == "large" && j.Trial.Label == "up" {
			return measure.TextError(measure.KindUnreachable, "connect 10.0.0.4:7658: refused", "")
		}
		return nil
	}
	out, err := b.run()
	if measure.KindOf(err) != measure.KindIncomplete || out.Failed != 4 || out.Done != 16 {
		t.Errorf("outcome is %+v, error %v", out, err)
	}
	b.onceEach(16)
	failed := 0
	for _, r := range b.results() {
		if r.Error != nil {
			failed++
		}
	}
	if failed != 4 {
		t.Errorf("%d results have an error, want 4", failed)
	}
}

func TestResumingDoesNotRepeatFailuresUnlessAsked(t *testing.T) {
	b := newBench(t, study)
	b.create()
	b.fail = func(j campaign.Job) error {
		if j.Trial.Repeat == 2 {
			return measure.TextError(measure.KindBroken, "peer gone", "")
		}
		return nil
	}
	if _, err := b.run(); measure.KindOf(err) != measure.KindIncomplete {
		t.Fatal(err)
	}
	b.fail = nil
	b.resume()
	out, err := b.run()
	if len(b.ran) != 0 || measure.KindOf(err) != measure.KindIncomplete || out.Failed != 8 {
		t.Errorf("ran %v, outcome %+v, error %v", b.ran, out, err)
	}
	b.resume()
	b.exec.RetryFailed = true
	out, err = b.run()
	if err != nil || len(b.ran) != 8 || out != (campaign.Outcome{Total: 16, Done: 16, Ran: 8}) {
		t.Errorf("ran %d, outcome %+v, error %v", len(b.ran), out, err)
	}
	all := b.results()
	if len(all) != 24 {
		t.Errorf("%d results, want the 16 first and the 8 that replace", len(all))
	}
	replacing := 0
	for _, r := range all {
		replacing += len(r.Findings.With(measure.CodeReplacesResult))
	}
	if replacing != 8 {
		t.Errorf("%d results say that they replace one, want 8", replacing)
	}
	if c, err := store.FindCampaign(t.Context(), b.store, "last"); err != nil || c.Failed != 0 || c.Done != 16 {
		t.Errorf("the store has %+v (%v)", c, err)
	}
}

func TestASelectionRunsNowAndTheRestLater(t *testing.T) {
	b := newBench(t, study)
	b.create()
	b.exec.Only = campaign.Selection{{Name: "sku", Value: []string{"large"}}}
	out, err := b.run()
	if err != nil || out != (campaign.Outcome{Total: 8, Done: 8, Ran: 8, Left: 8}) {
		t.Errorf("outcome %+v, error %v", out, err)
	}
	for _, k := range b.ran {
		if !strings.HasPrefix(k, "large,") {
			t.Errorf("ran %s", k)
		}
	}
	if c, _ := store.FindCampaign(t.Context(), b.store, "last"); !c.FinishedAt.IsZero() || c.Done != 8 {
		t.Errorf("a campaign with trials left is finished: %+v", c)
	}
	infos, err := campaign.Find(b.campaigns(), "study")
	if err != nil || len(infos) != 1 || !infos[0].Open() {
		t.Errorf("found %+v (%v)", infos, err)
	}
	b.resume()
	b.exec.Only = nil
	out, err = b.run()
	if err != nil || out != (campaign.Outcome{Total: 16, Done: 16, Ran: 8}) {
		t.Errorf("outcome %+v, error %v", out, err)
	}
	b.onceEach(16)
}

// repeater is an endpoint that gives all its results one identity.
type repeater struct{ *bench }

func (r repeater) Run(ctx context.Context, j campaign.Job, h campaign.Hooks) *measure.Result {
	out := r.bench.Run(ctx, j, h)
	out.ID, out.Test = "00000001", measure.TestMTU
	return out
}

func TestIdentitiesAreMadeByTheCampaign(t *testing.T) {
	b := newBench(t, study)
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

func TestCommandsSurroundEachPatternsTrials(t *testing.T) {
	b := newBench(t, strings.Replace(study, "[small, {name: large, options: {dscp: 8}}]", "[{name: small, before: b-small, after: a-small}, large]", 1)+"before: b\nafter: a\n")
	b.create()
	b.during = func(_ context.Context, j campaign.Job, _ measure.Observer) {
		if j.Trial.Repeat == 1 && j.Trial.Label == "up" {
			b.commands = append(b.commands, "trials "+j.Trial.Pattern)
		}
	}
	if _, err := b.run(); err != nil {
		t.Fatal(err)
	}
	env := func(command, pattern string, round int) string {
		return fmt.Sprintf("%s [SOKU_PATTERN=%s SOKU_ROUND=%d SOKU_FACTOR_SKU=%s]", command, pattern, round, pattern)
	}
	var want []string
	for block := range campaign.Blocks(b.plan, "", 42) {
		n, r := block.Pattern.Name, block.Round
		want = append(want, env("b", n, r))
		if n == "small" {
			want = append(want, env("b-small", n, r))
		}
		want = append(want, "trials "+n)
		if n == "small" {
			want = append(want, env("a-small", n, r))
		}
		want = append(want, env("a", n, r))
	}
	if !slices.Equal(b.commands, want) {
		t.Errorf("happened\n%s\nwant\n%s", strings.Join(b.commands, "\n"), strings.Join(want, "\n"))
	}
}

func TestAFailedBeforeCommandFailsItsTrialsOnly(t *testing.T) {
	b := newBench(t, strings.Replace(study, "[small, {name: large, options: {dscp: 8}}]", "[{name: small, before: fail, after: undo}, large]", 1))
	b.create()
	out, err := b.run()
	if measure.KindOf(err) != measure.KindIncomplete || out.Failed != 8 || out.Done != 16 {
		t.Errorf("outcome %+v, error %v", out, err)
	}
	for _, k := range b.ran {
		if strings.HasPrefix(k, "small") {
			t.Errorf("ran %s though its before command failed", k)
		}
	}
	for _, r := range b.results() {
		if r.Trial.Pattern == "small" && (r.Error == nil || !strings.Contains(r.Error.Message, "exit status 3: no such gateway")) {
			t.Errorf("a trial after the failed command has the error %v", r.Error)
		}
	}
	if !slices.ContainsFunc(b.commands, func(s string) bool { return strings.HasPrefix(s, "undo") }) {
		t.Error("the after command did not run")
	}
}

func TestAStoppedCampaignResumesWithTheRemainingTrials(t *testing.T) {
	b := newBench(t, study+"after: undo\n")
	b.create()
	ctx, cancel := context.WithCancelCause(t.Context())
	trials := 0
	b.during = func(context.Context, campaign.Job, measure.Observer) {
		if trials++; trials == 6 {
			cancel(measure.TextError(measure.KindInterrupted, "interrupted", ""))
		}
	}
	out, err := b.exec.Run(ctx, b.campaign)
	if measure.KindOf(err) != measure.KindInterrupted || !strings.Contains(err.Error(), "5 of 16") || !strings.Contains(err.Error(), "--resume") {
		t.Errorf("error is %v", err)
	}
	if out.Done != 5 || out.Left != 11 || !strings.HasPrefix(b.commands[len(b.commands)-1], "undo") {
		t.Errorf("outcome %+v, commands %v", out, b.commands)
	}
	b.onceEach(5)
	b.during = nil
	b.resume()
	out, err = b.run()
	if err != nil || out.Ran != 11 {
		t.Errorf("outcome %+v, error %v", out, err)
	}
	b.onceEach(16)
}

func TestTheByteCapStopsBeforeATrialThatWouldBreakIt(t *testing.T) {
	b := newBench(t, study+"budget: {bytes: 3500k}\n") // a transfer moves 1 MB by its rate
	b.create()
	b.bytes = 1e6
	out, err := b.run()
	if measure.KindOf(err) != measure.KindRefused || !strings.Contains(err.Error(), "budget.bytes") {
		t.Errorf("error is %v", err)
	}
	if out.Left == 0 || out.Ran == 0 || out.Ran > 6 {
		t.Errorf("outcome is %+v", out)
	}
	b.plan = parse(t, study+"budget: {bytes: 1G}\n") // raising the cap is not a change of what is measured
	b.resume()
	if _, err := b.run(); err != nil {
		t.Error(err)
	}
	b.onceEach(16)
}

func TestTheByteCapCutsATrialOfUnknownRate(t *testing.T) {
	b := newBench(t, strings.Replace(study, ", rate: 8M", "", 1)+"budget: {bytes: 10MB}\n")
	b.create()
	intervals := 0
	b.during = func(ctx context.Context, j campaign.Job, obs measure.Observer) {
		if j.Trial.Label != "up" {
			return
		}
		for ; ctx.Err() == nil; intervals++ { // both ends report the same bytes: they count once
			obs(measure.Progress{Direction: measure.Forward, Role: measure.Sender, Bytes: 1e6})
			obs(measure.Progress{Direction: measure.Forward, Role: measure.Receiver, Bytes: 1e6 - 5})
		}
	}
	_, err := b.run()
	if measure.KindOf(err) != measure.KindRefused {
		t.Fatalf("error is %v", err)
	}
	if intervals < 10 || intervals > 11 {
		t.Errorf("cut after %d intervals of 1 MB, the cap is 10 MB", intervals)
	}
	b.resume() // what the cut trial moved still counts
	b.during = nil
	out, err := b.run()
	if measure.KindOf(err) != measure.KindRefused || out.Ran != 0 {
		t.Errorf("outcome %+v, error %v", out, err)
	}
}

func TestProgressReportsTheStateOfTheCampaign(t *testing.T) {
	b := newBench(t, study)
	b.create()
	now := time.Unix(0, 0)
	b.exec.Now = func() time.Time { return now }
	b.during = func(_ context.Context, _ campaign.Job, obs measure.Observer) {
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
