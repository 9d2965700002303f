package report

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"soku/internal/text"
)

// graded are patterns p1, p2, …, each slower than the one before by a step, in rounds with 0.6 % of noise.
func graded(patterns, rounds int, step float64) Input {
	r := rand.New(rand.NewPCG(1, 2))
	goodputs := map[string][]float64{}
	for i := range patterns {
		name := fmt.Sprintf("p%d", i+1)
		for range rounds {
			goodputs[name] = append(goodputs[name], 1e9*math.Exp(-step*float64(i)+0.006*r.NormFloat64()))
		}
	}
	return campaignOf(goodputs)
}

type placeDocument struct {
	Pattern, Letters string
	Rank             int
	RankLow          *int `json:"rank_low"`
	RankHigh         *int `json:"rank_high"`
	Best             bool
}

func rankingOf(t *testing.T, r *Report) []placeDocument {
	t.Helper()
	var document struct {
		Tests []struct{ Ranking []placeDocument }
	}
	if err := json.Unmarshal([]byte(written(t, r.JSON)), &document); err != nil {
		t.Fatal(err)
	}
	return document.Tests[0].Ranking
}

func TestADocumentHasTheRanksThatAPatternMayHave(t *testing.T) {
	places := rankingOf(t, build(t, graded(8, 6, 0.006)))
	for i, p := range places {
		if p.RankLow == nil || p.RankHigh == nil {
			t.Fatalf("%+v", p)
		}
		if *p.RankLow > i+1 || *p.RankHigh < i+1 || p.Letters == "" {
			t.Errorf("place %d: %d to %d, letters %q", i+1, *p.RankLow, *p.RankHigh, p.Letters)
		}
		for _, o := range places[:i] {
			if p.Rank == o.Rank && !strings.ContainsAny(p.Letters, o.Letters) {
				t.Errorf("%s and %s have rank %d, letters %q and %q", o.Pattern, p.Pattern, p.Rank, o.Letters, p.Letters)
			}
		}
	}
	if first, last := places[0], places[7]; !first.Best || last.Best || strings.ContainsAny(first.Letters, last.Letters) || *first.RankLow != 1 || *last.RankHigh != 8 {
		t.Errorf("first %+v, last %+v", first, last)
	}
}

func TestADocumentOfOneRoundHasNoTestedRanks(t *testing.T) {
	for _, p := range rankingOf(t, build(t, graded(3, 1, 0.1))) {
		if p.RankLow != nil || p.RankHigh != nil || p.Best || p.Letters != "" {
			t.Errorf("%+v", p)
		}
	}
}

func TestTablesHaveTheRankRangeWhereItSaysMoreThanEqualRanks(t *testing.T) {
	for name, c := range map[string]struct {
		in   Input
		want bool
	}{
		"overlapping": {graded(20, 6, 0.006), true},
		"vague":       {graded(4, 6, 0.003), false},
		"apart":       {graded(4, 6, 0.2), false},
		"alike":       {graded(4, 6, 0), false},
		"one round":   {graded(4, 1, 0.2), false},
	} {
		r := build(t, c.in)
		for form, write := range forms(r) {
			if form == "csv" || form == "json" {
				continue
			}
			if got := strings.Contains(written(t, write), "rank range"); got != c.want {
				t.Errorf("%s: the %s has the column: %v", name, form, got)
			}
		}
	}
	narrow := written(t, func(w io.Writer) error { return build(t, graded(20, 6, 0.006)).Text(w, text.English(), 44) })
	if strings.Contains(narrow, "rank range") || !strings.Contains(narrow, "goodput") {
		t.Errorf("on a narrow terminal:\n%s", narrow)
	}
}
