package stats

import (
	"cmp"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// methodFile has the figures of the simulations at full size, written by make simulations.
const methodFile = "../../docs/method.md"

const (
	simulationsBegin = "<!-- simulations: written by make simulations -->\n"
	simulationsEnd   = "<!-- end of simulations -->\n"
)

// oneTime is how often a right rule fails a bound.
const oneTime = 1e-4

// simulation is a number of simulated campaigns, in some of which something happened.
type simulation struct {
	t                *testing.T
	question, design string // the row of the table
	campaigns, hits  int
}

func (s simulation) share() float64 { return float64(s.hits) / float64(s.campaigns) }

func (s simulation) String() string {
	return fmt.Sprintf("%s, %s: in %.1f %% of %d", s.question, s.design, 100*s.share(), s.campaigns)
}

// atMost fails if the number of hits is so high that a true share of p would give it with a
// probability below 1 in 10,000.
func (s simulation) atMost(p float64) {
	s.t.Helper()
	if s.hits > mostHits(s.campaigns, p) {
		s.t.Errorf("%v, want at most %.1f %%", s, 100*p)
	}
}

// atLeast fails if the number of hits is so low that a true share of p would give it with a
// probability below 1 in 10,000.
func (s simulation) atLeast(p float64) {
	s.t.Helper()
	if s.campaigns-s.hits > mostHits(s.campaigns, 1-p) {
		s.t.Errorf("%v, want at least %.1f %%", s, 100*p)
	}
}

// mostHits returns the smallest number that n trials of probability p exceed with a
// probability of less than oneTime.
func mostHits(n int, p float64) int {
	if p >= 1 {
		return n
	}
	above := 0.0
	for k := n; k > 0; k-- {
		all, _ := math.Lgamma(float64(n + 1))
		in, _ := math.Lgamma(float64(k + 1))
		out, _ := math.Lgamma(float64(n - k + 1))
		above += math.Exp(all - in - out + float64(k)*math.Log(p) + float64(n-k)*math.Log1p(-p))
		if above >= oneTime {
			return k
		}
	}
	return 0
}

func TestBoundsOfSimulationsAreThoseThatOneInTenThousandFails(t *testing.T) {
	for n, most := range map[int]int{400: 38, 1000: 77, 2000: 138} {
		if got := mostHits(n, 0.05); got != most {
			t.Errorf("%d campaigns: %d hits of 5 %%, want %d", n, got, most)
		}
	}
	if got := mostHits(100, 0); got != 0 {
		t.Errorf("%d hits of what never happens", got)
	}
}

// simulate counts the campaigns in which something happens, from seed 0 on: a reduced number
// of them, which must agree with the table in docs/method.md, or with SOKU_SIMULATIONS=N
// N times as many, for that table.
func simulate(t *testing.T, question, design string, reduced int, happens func(seed uint64) bool) simulation {
	t.Helper()
	s := simulation{t, question, design, reduced, 0}
	times, err := strconv.Atoi(os.Getenv("SOKU_SIMULATIONS"))
	full := err == nil
	if full {
		s.campaigns *= times
	}
	for seed := range uint64(s.campaigns) {
		if happens(seed) {
			s.hits++
		}
	}
	if full {
		record(s)
		return s
	}
	documented, err := documentedShare(question, design)
	if err != nil {
		t.Errorf("%s, %s: %v; run make simulations", question, design, err)
		return s
	}
	const rounding = 0.0005
	s.atMost(min(1, documented+rounding))
	s.atLeast(max(0, documented-rounding))
	return s
}

// documentedShare is the share in the table of docs/method.md.
func documentedShare(question, design string) (float64, error) {
	text, err := os.ReadFile(methodFile)
	if err != nil {
		return 0, err
	}
	_, row, ok := strings.Cut(string(text), "\n| "+question+" | "+design+" | ")
	if !ok {
		return 0, fmt.Errorf("%s has no such simulation", methodFile)
	}
	figure, _, _ := strings.Cut(row, " |")
	percent, err := strconv.ParseFloat(figure, 64)
	return percent / 100, err
}

var recorded struct {
	sync.Mutex
	all []simulation
}

func record(s simulation) {
	recorded.Lock()
	defer recorded.Unlock()
	recorded.all = append(recorded.all, s)
}

// TestMain writes the table of simulations at full size.
func TestMain(m *testing.M) {
	code := m.Run()
	if len(recorded.all) > 0 {
		if err := writeSimulations(recorded.all); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

func writeSimulations(all []simulation) error {
	slices.SortStableFunc(all, func(a, b simulation) int {
		return cmp.Or(cmp.Compare(a.question, b.question), cmp.Compare(a.design, b.design))
	})
	text, err := os.ReadFile(methodFile)
	if err != nil {
		return err
	}
	before, rest, ok := strings.Cut(string(text), simulationsBegin)
	_, after, end := strings.Cut(rest, simulationsEnd)
	if !ok || !end {
		return fmt.Errorf("%s has no place for the simulations", methodFile)
	}
	var table strings.Builder
	table.WriteString("| question | design | % of campaigns | campaigns |\n|---|---|---:|---:|\n")
	for _, s := range all {
		fmt.Fprintf(&table, "| %s | %s | %.1f | %d |\n", s.question, s.design, 100*s.share(), s.campaigns)
	}
	return os.WriteFile(methodFile, []byte(before+simulationsBegin+table.String()+simulationsEnd+after), 0o644)
}
