package schedule_test

import (
	"fmt"
	"os"
	"slices"
	"soku/test/plans"
	"strings"
	"testing"
	"testing/quick"

	"soku/internal/campaign/plan"
	"soku/internal/campaign/schedule"
)

func order(p *plan.Plan, seed int64) string {
	var s []string
	for b := range schedule.Blocks(p, "c", seed) {
		s = append(s, fmt.Sprintf("%d:%s", b.Round, b.Pattern.Name))
	}
	return strings.Join(s, " ")
}

func TestTheOrderOfASeedNeverChanges(t *testing.T) {
	p := plans.Parse(t, plans.Minimal+"rounds: 3\nfactors: {f: [a, b, c, d, e]}\nbefore: set $SOKU_FACTOR_F\n")
	// Written down once: a recorded campaign must resume in its own order with every later version.
	want := "1:e 1:d 1:b 1:c 1:a 2:c 2:b 2:e 2:d 2:a 3:c 3:b 3:a 3:e 3:d"
	if got := order(p, 42); got != want {
		t.Errorf("order is\n%s, want\n%s", got, want)
	}
}

// testdata/orders.txt was written before the schedule was taken apart from the
// executor: seed, round, order, pattern, label and repeat of each trial.
func TestTheOrderOfEveryTrialNeverChanges(t *testing.T) {
	want, err := os.ReadFile("testdata/orders.txt")
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	p := plans.Parse(t, plans.Full)
	for _, seed := range []int64{1, 42, 1<<53 - 1, -7} {
		for b := range schedule.Blocks(p, "c", seed) {
			for j := range b.Jobs() {
				fmt.Fprintln(&got, seed, j.Trial.Round, j.Trial.Order, j.Trial.Pattern, j.Trial.Label, j.Trial.Repeat)
			}
		}
	}
	if got.String() != string(want) {
		t.Errorf("the order of trials differs from testdata/orders.txt:\n%s", got.String())
	}
}

func TestABlockNamesTheMachinesItOccupies(t *testing.T) {
	for text, want := range map[string][]string{
		plans.Study:                     {"", "vm"},
		plans.Study + "from: vm.vlan\n": {"vm"}, // two addresses of one machine
		strings.Replace(plans.Study, "endpoints: {", "endpoints: {client: {host: a}, ", 1) + "lab: lab.yaml\nfrom: client\n": {"a", "vm"},
	} {
		p := plans.Parse(t, strings.Replace(text, "{address: 10.0.0.4}", "{address: 10.0.0.4, addresses: {vlan: 10.1.0.4}}", 1))
		for b := range schedule.Blocks(p, "c", 1) {
			for i := range b.Len {
				if s := b.Slot(i); !slices.Equal(b.Hosts, want) || s.Client != 0 || s.Server != len(want)-1 || s.Group != 0 {
					t.Errorf("hosts are %q, slot %+v; want %q", b.Hosts, s, want)
				}
			}
		}
	}
}

func TestEveryRoundHasEveryPatternOnceInAnOrderOfItsOwn(t *testing.T) {
	p := plans.Parse(t, plans.Minimal+"factors: {f: [a, b, c, d, e, f, g, h]}\nrounds: 4\nbefore: set $SOKU_FACTOR_F\n")
	if err := quick.Check(func(seed int64) bool {
		rounds := map[int]string{}
		for b := range schedule.Blocks(p, "c", seed) {
			if strings.Contains(rounds[b.Round], b.Pattern.Name) {
				return false
			}
			rounds[b.Round] += b.Pattern.Name
		}
		orders := map[string]bool{}
		for _, s := range rounds {
			if len(s) != 8 {
				return false
			}
			orders[s] = true
		}
		return len(orders) > 1
	}, nil); err != nil {
		t.Error(err)
	}
}

func TestEachPlaceInTheOrderIsEquallyLikely(t *testing.T) {
	p := plans.Parse(t, plans.Minimal+"factors: {f: [a, b, c, d]}\nrounds: 4000\nbefore: set $SOKU_FACTOR_F\n")
	first := map[string]int{}
	previous := 0
	for b := range schedule.Blocks(p, "c", 7) {
		if b.Round != previous {
			first[b.Pattern.Name]++
			previous = b.Round
		}
	}
	for name, n := range first {
		if n < 880 || n > 1120 { // 1000 expected; 4.4 standard deviations
			t.Errorf("%s comes first %d times of 4000", name, n)
		}
	}
}

func TestABlockHasAllTestsInEachRepeat(t *testing.T) {
	p := plans.Parse(t, plans.Study)
	var got []string
	for b := range schedule.Blocks(p, "c9", 42) {
		if b.Round != 2 {
			continue
		}
		for j := range b.Jobs() {
			if j.Trial.Campaign != "c9" || j.Trial.Seed != 42 || j.Trial.Name != "study" || j.Trial.Levels[0].Factor != "sku" {
				t.Errorf("identity is %+v", j.Trial)
			}
			got = append(got, fmt.Sprintf("%d %s %s %d", j.Trial.Order, j.Trial.Pattern, j.Trial.Label, j.Trial.Repeat))
		}
	}
	block := func(from int, pattern string) string {
		return fmt.Sprintf("%[1]d %[5]s up 1\n%[2]d %[5]s rtt 1\n%[3]d %[5]s up 2\n%[4]d %[5]s rtt 2\n", from, from+1, from+2, from+3, pattern)
	}
	text := strings.Join(got, "\n") + "\n"
	if text != block(1, "small")+block(5, "large") && text != block(1, "large")+block(5, "small") {
		t.Errorf("trials are\n%s", text)
	}
}

func TestDrawnSeedsDifferAndAreExactInJSON(t *testing.T) {
	a, b := schedule.DrawSeed(), schedule.DrawSeed()
	if a == b || a < 0 || a >= 1<<53 || b < 0 || b >= 1<<53 {
		t.Errorf("seeds are %d and %d", a, b)
	}
}
