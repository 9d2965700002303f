package report

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"soku/internal/measure"
	"soku/internal/text"
)

// wavering is a campaign of two patterns, whose goodput differs by the given ratios from round
// to round.
func wavering(rounds int, ratio map[string]float64) Input {
	in := Input{Campaign: Meta{ID: "c", Name: "c"}}
	at := syntheticStart
	for round := 1; round <= rounds; round++ {
		for _, name := range []string{"calm", "rough"} {
			at = at.Add(time.Second)
			levels := []measure.Level{{Factor: "sea", Value: name}}
			in.Results = append(in.Results, &measure.Result{
				Schema: measure.Schema, ID: fmt.Sprint(name, round), Test: measure.TestTCP, StartedAt: at,
				Trial:   &measure.Trial{Campaign: "c", Pattern: name, Levels: levels, Label: "up", Round: round, Repeat: 1},
				Summary: measure.Summary{GoodputBps: 1e9 * (1 + ratio[name]*float64(2*(round%2)-1)), ReceivedBytes: 1},
			})
		}
	}
	return in
}

func TestAnIntervalThatIsWiderThanThePlanAsksForIsACaveat(t *testing.T) {
	ratios := map[string]float64{"calm": 0.001, "rough": 0.1}
	for _, c := range []struct {
		rounds int
		until  Until
		want   string
	}{
		{9, Until{IntervalRatio: 0.02, MaxRounds: 9}, "where the plan asks for ±2 % (until), after 9 rounds, the most that it allows."},
		{9, Until{IntervalRatio: 0.02, MaxRounds: 20, Tests: []string{"up"}}, "where the plan asks for ±2 % (until), after 9 rounds of at most 20."},
		{1, Until{IntervalRatio: 0.02, MaxRounds: 20}, "rough has too few rounds for an interval, where the plan asks for ±2 % (until), after 1 round of at most 20."},
		{9, Until{IntervalRatio: 0.5, MaxRounds: 20}, ""},
		{9, Until{IntervalRatio: 0.02, MaxRounds: 20, Tests: []string{"down"}}, ""},
		{9, Until{}, ""},
	} {
		in := wavering(c.rounds, ratios)
		in.Design.Until = c.until
		r, err := Build(in)
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		if err := r.Markdown(&b, text.English()); err != nil {
			t.Fatal(err)
		}
		if said := strings.Contains(b.String(), "(until)"); said != (c.want != "") || !strings.Contains(b.String(), strings.TrimPrefix(c.want, "rough")) {
			t.Errorf("%d rounds, %+v: the report has not %q:\n%s", c.rounds, c.until, c.want, b.String())
		}
		if c.rounds == 9 && c.want != "" {
			w := r.Tests[0].Caveats
			i := len(w) - 1
			for i >= 0 && w[i].Code != CaveatWide {
				i--
			}
			if i < 0 || w[i].Wide.Pattern != "rough" || w[i].Wide.IntervalRatio < 0.05 || w[i].Wide.IntervalRatio > 0.2 {
				t.Errorf("%+v: %+v", c.until, w)
			}
		}
	}
}
