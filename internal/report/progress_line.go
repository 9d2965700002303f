package report

import (
	"soku/internal/stats"
	"soku/internal/text"
)

// mostStanding is how many comparisons a line has.
const mostStanding = 3

// Standing is a line on the state of the comparisons after a number of rounds, if more may follow.
func (c *Comparisons) Standing(in *text.Catalogue, rounds int) string {
	var pairs []string
	more, open := 0, 0
	for i := range c.Tests {
		v := comparedView{c, &c.Tests[i], in}
		for _, p := range v.Pairs {
			if p.Decision == stats.NotShown {
				open++
			}
			if len(pairs) == mostStanding {
				more++
				continue
			}
			pairs = append(pairs, v.Sentence("compare.standing.pair", text.Args{
				"A": v.Choices[p.A].Name, "B": v.Choices[p.B].Name, "Named": c.AllPairs, "Difference": v.difference(p), "Decision": string(p.Decision), "Once": v.interim.rule() == nil,
			}))
		}
	}
	return in.Sentence("compare.standing", text.Args{"Rounds": rounds, "Pairs": pairs, "More": more, "Open": open})
}
