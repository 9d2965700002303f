package plan

import (
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
// hand: the author of the command has made the change.
func (p *Plan) Chooses(only Selection) bool {
	for _, name := range p.ByHand() {
		levels, _ := yamlfile.Ordered[[]string](only).Get(name)
		if len(levels) != 1 {
			return false
		}
	}
	return true
}

// NoTerminal returns an error of kind usage: levels must be confirmed by a person, but there is no
// terminal to ask on.
func (p *Plan) NoTerminal(levels []measure.Level) *measure.Error {
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
