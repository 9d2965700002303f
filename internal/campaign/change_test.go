package campaign_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"soku/internal/campaign"
	"soku/internal/measure"
)

// byHand is a plan of two factors, one of which a person changes: 4 patterns of one
// trial in each of 3 rounds.
const byHand = `campaign: hand
endpoints: {vm: {address: 10.0.0.4}}
to: vm
factors:
  offload: {by: hand, levels: [on, off]}
  streams: [1, 16]
tests: {up: {test: tcp, duration: 1s}}
`

func TestAPersonMakesEachChangeOnceARound(t *testing.T) {
	b := newBench(t, byHand)
	b.create()
	var asked []string
	b.exec.Confirm = func(_ context.Context, levels []measure.Level) (campaign.Confirmed, error) {
		asked = append(asked, fmt.Sprint(len(b.ran), levels))
		return campaign.Confirmed{How: campaign.ConfirmedAtTerminal, User: "ann"}, nil
	}
	out, err := b.run()
	if err != nil || out.Ran != 12 {
		t.Fatalf("outcome %+v, error %v", out, err)
	}
	// Every turn of a level is two patterns; neighbouring turns of one level need no change.
	var want []string
	state := ""
	for i, key := range b.ran {
		if level, _, _ := strings.Cut(key, " "); level != state {
			state = level
			want = append(want, fmt.Sprint(i, []measure.Level{{Factor: "offload", Value: level}}))
		}
	}
	if !slices.Equal(asked, want) || len(asked) > 6 || len(asked) < 4 {
		t.Errorf("asked %q, want %q", asked, want)
	}
	var confirmed []string
	if err := b.campaigns().Read(b.campaign.ID(), func(r campaign.Record) error {
		if r.Kind == campaign.RecordChanged {
			confirmed = append(confirmed, fmt.Sprint(r.Change.Levels[0].Value, r.Change.How, r.Change.User, r.At.IsZero()))
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if len(confirmed) != len(asked) || !strings.HasSuffix(confirmed[0], "terminalannfalse") {
		t.Errorf("the journal has %q", confirmed)
	}
}

func TestAChangeThatIsNotConfirmedEndsTheRun(t *testing.T) {
	b := newBench(t, byHand)
	b.create()
	if _, err := b.run(); measure.KindOf(err) != measure.KindUsage || len(b.ran) != 0 {
		t.Errorf("with nobody to ask the error is %v after %d trials", err, len(b.ran))
	}
	b.exec.Confirm = func(context.Context, []measure.Level) (campaign.Confirmed, error) {
		return campaign.Confirmed{}, errors.New("gone")
	}
	if _, err := b.run(); err == nil || len(b.ran) != 0 {
		t.Errorf("the error is %v after %d trials", err, len(b.ran))
	}
}

func TestBlocksFollowTheLevelsThatAPersonChanges(t *testing.T) {
	p := parse(t, byHand+"rounds: 200\n")
	first := map[string]int{}
	changes, round, state := 0, 0, ""
	for b := range campaign.Blocks(p, "c", 3) {
		level := b.Pattern.Levels[0].Value
		if b.Round != round {
			first[b.Pattern.Name]++
			round, state = b.Round, ""
		}
		if level != state {
			changes++
		}
		state = level
	}
	if changes != 400 {
		t.Errorf("%d changes in 200 rounds of two levels", changes)
	}
	for name, n := range first {
		if n < 25 || n > 80 { // 50 expected; 4.1 standard deviations
			t.Errorf("%s comes first %d times of 200", name, n)
		}
	}
}

func TestOnlyChoosesLevelsThatAPersonChanges(t *testing.T) {
	p := parse(t, byHand)
	for _, c := range []struct {
		only   []string
		states int
		chosen bool
	}{
		{nil, 2, false}, {[]string{"streams=1"}, 2, false}, {[]string{"offload=on,off"}, 2, false}, {[]string{"offload=on"}, 1, true},
	} {
		s, err := campaign.ParseSelection(c.only)
		if err != nil {
			t.Fatal(err)
		}
		if got := len(p.HandStates(s)); got != c.states || p.Chooses(s) != c.chosen {
			t.Errorf("%v needs %d states, chosen %v", c.only, got, p.Chooses(s))
		}
	}
}

func TestByMayBeAddedToACampaignOfAnOlderVersion(t *testing.T) {
	b := newBench(t, byHand)
	older, err := campaign.ParseRecorded("plan.yaml", []byte(strings.Replace(byHand, "{by: hand, levels: [on, off]}", "[on, off]", 1)))
	if err != nil {
		t.Fatal(err)
	}
	b.plan = older
	b.create()
	b.plan = parse(t, byHand)
	b.resume()
}
