package campaign

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"soku/internal/measure"
	"soku/internal/yamlfile"
)

// What makes a factor's change where its levels set nothing, as plans say it.
const (
	ByHand    = "hand"    // a person
	ByCommand = "command" // the plan's before command, which learns the level without naming its variable
)

// ByHand are the names of the factors that a person changes.
func (p *Plan) ByHand() []string {
	var out []string
	for _, f := range p.Factors {
		if f.Value.By == ByHand {
			out = append(out, f.Name)
		}
	}
	return out
}

// HandLevels are a pattern's levels of the factors that a person changes.
func (p *Plan) HandLevels(pt *Pattern) []measure.Level {
	var out []measure.Level
	for i, l := range pt.Levels {
		if p.Factors[i].Value.By == ByHand {
			out = append(out, l)
		}
	}
	return out
}

// HandStates are the levels of factors changed by hand that the selected patterns need,
// each combination once; nil where no factor is changed by hand.
func (p *Plan) HandStates(only Selection) [][]measure.Level {
	var out [][]measure.Level
	for i := range p.patterns {
		pt := &p.patterns[i]
		if !only.Matches(pt.Levels) {
			continue
		}
		levels := p.HandLevels(pt)
		if len(levels) > 0 && !slices.ContainsFunc(out, func(o []measure.Level) bool { return slices.Equal(o, levels) }) {
			out = append(out, levels)
		}
	}
	return out
}

// Chooses reports whether a selection names one level of each factor that is changed by
// hand: whoever wrote it has made the change.
func (p *Plan) Chooses(only Selection) bool {
	for _, name := range p.ByHand() {
		levels, _ := yamlfile.Ordered[[]string](only).Get(name)
		if len(levels) != 1 {
			return false
		}
	}
	return true
}

// order is the order of the patterns in a round: drawn from seed and round. Where
// factors are changed by hand, patterns that need the same of their levels follow each
// other, in the order in which each combination was first drawn: a person makes each
// change once a round.
func (p *Plan) order(seed int64, round int) []int {
	drawn := shuffled(len(p.patterns), seed, round)
	if len(p.ByHand()) == 0 {
		return drawn
	}
	first, turns := map[string]int{}, make([]int, len(drawn)) // turns: by pattern
	for turn, i := range drawn {
		key := measure.LevelsKey(p.HandLevels(&p.patterns[i]))
		if _, known := first[key]; !known {
			first[key] = turn
		}
		turns[i] = first[key]
	}
	slices.SortStableFunc(drawn, func(a, b int) int { return turns[a] - turns[b] })
	return drawn
}

// Confirmed is how a person confirmed a change by hand.
type Confirmed struct {
	How  string `json:"how"` // terminal: asked and answered; only: the selection says so
	User string `json:"user,omitempty"`
}

// Ways to confirm a change.
const (
	ConfirmedAtTerminal  = "terminal"
	ConfirmedBySelection = "only"
)

// ChangeRecord is a change by hand that was confirmed.
type ChangeRecord struct {
	Levels []measure.Level `json:"levels"` // of all factors that are changed by hand
	Confirmed
}

// NobodyAtHand is the error where levels are to be confirmed and there is nobody to ask,
// of kind usage.
func (p *Plan) NobodyAtHand(levels []measure.Level) *measure.Error {
	var only []string
	for _, l := range levels {
		text := l.Factor + "=" + l.Value
		if strings.ContainsAny(text, " '\"$&|;<>()*?") {
			text = strconv.Quote(text)
		}
		only = append(only, "--only "+text)
	}
	return measure.Fail(measure.KindUsage, "campaign.nobody_at_hand", measure.Figures{"factors": p.ByHand(), "example": strings.Join(only, " ")})
}

// changeByHand waits until a person has confirmed the levels that a block needs. At the
// start of a run nothing is known about them, so they are confirmed then, too.
func (r *run) changeByHand(ctx context.Context, b Block) error {
	levels := r.c.Plan.HandLevels(b.Pattern)
	if len(levels) == 0 || slices.Equal(levels, r.byHand) {
		return nil
	}
	if r.Confirm == nil {
		return r.c.Plan.NobodyAtHand(levels)
	}
	var change []measure.Level
	for _, l := range levels {
		if !slices.Contains(r.byHand, l) {
			change = append(change, l)
		}
	}
	confirmed, err := r.Confirm(ctx, change)
	if err != nil {
		if ctx.Err() != nil {
			return r.interrupted(ctx)
		}
		return err
	}
	r.byHand = levels
	return r.c.write(Record{Kind: RecordChanged, At: r.Now().UTC(), Change: &ChangeRecord{Levels: levels, Confirmed: confirmed}})
}
