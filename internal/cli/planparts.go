package cli

import (
	"context"
	"errors"
	"math"
	"slices"

	"soku/internal/campaign/advice"
	"soku/internal/campaign/plan"
	"soku/internal/measure"
	"soku/internal/measure/metric"
	"soku/internal/stats"
	"soku/internal/store"
	"soku/internal/text"
)

// designOutline is what a plan can decide.
type designOutline struct {
	// NoiseOf is the campaign whose trials the noise is taken from. It is absent if the plan
	// gives the noise, or if the noise is unknown.
	NoiseOf   string                 `json:"noise_of,omitempty"`
	Practical float64                `json:"practical_ratio"`
	Tests     []advice.Power         `json:"tests,omitempty"` // whose noise is known
	Weak      []advice.DesignWarning `json:"warnings,omitempty"`
	Added     *addedOutline          `json:"added,omitempty"`

	compares bool
}

// addedOutline is the levels that the newest campaign of the plan's name has not.
type addedOutline struct {
	Campaign string          `json:"campaign"` // identity
	Levels   []measure.Level `json:"levels"`
	Rounds   int             `json:"rounds"` // of all levels, if the campaign goes on with the plan
}

// addedTo is nil if the campaign cannot go on with the plan, or has all its levels.
func addedTo(c store.Campaign, p *plan.Plan) *addedOutline {
	before, err := plan.ParseRecorded("", []byte(c.Plan))
	if err != nil || plan.SameMeasurement(before, p) != nil {
		return nil
	}
	if levels := p.AddedTo(before); len(levels) > 0 {
		return &addedOutline{c.ID, levels, p.LastRound()}
	}
	return nil
}

// levelTexts are levels as FACTOR LEVEL.
func levelTexts(levels []measure.Level) (out []string) {
	for _, l := range levels {
		out = append(out, l.Factor+" "+l.Value)
	}
	return out
}

// outlineDesign works out what a plan can show. The noise is that of the plan, or of the newest
// campaign of its name in the store.
func outlineDesign(ctx context.Context, sys *System, p *plan.Plan, only plan.Selection, storeFile string) (*designOutline, error) {
	out := &designOutline{Practical: p.PracticalThreshold(), Weak: advice.Warnings(p, only), compares: p.Compares(only)}
	c, noise, err := earlier(ctx, sys, p, storeFile)
	if err != nil {
		return nil, err
	}
	if p.Noise > 0 {
		noise = map[string]float64{}
		for _, label := range p.Tests.Names() {
			noise[label] = float64(p.Noise)
		}
	} else {
		out.NoiseOf = c.ID
	}
	out.Added = addedTo(c, p)
	out.Tests = advice.PowerOf(p, noise, only)
	return out, nil
}

// earlier is the newest campaign of a plan's name, or empty, and, unless the plan gives the noise,
// the noise of each test of it, by its label.
func earlier(ctx context.Context, sys *System, p *plan.Plan, storeFile string) (c store.Campaign, noise map[string]float64, err error) {
	s, err := openExistingStore(ctx, sys, storeFile)
	if s == nil || err != nil {
		return c, nil, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	found, err := findCampaign(ctx, sys, s, p.Campaign)
	switch {
	case measure.KindOf(err) == measure.KindNotFound || err == nil && found.Name != p.Campaign:
		return c, nil, nil
	case err != nil || p.Noise > 0:
		return found, nil, err
	}
	noise, err = noiseOf(ctx, s, found.ID)
	return found, noise, err
}

// turn is where a figure stands: a test's pattern between two hosts, and the round.
type turn struct {
	label, pattern, client, server string
	round                          int
}

// noiseOf is how much the patterns of each test of a campaign vary from round to round.
func noiseOf(ctx context.Context, s store.Store, id string) (map[string]float64, error) {
	values := map[turn][]float64{}
	last := 0
	for e, err := range store.Entries(ctx, s, store.Query{Campaign: id, Limit: mostForNoise}) {
		if err != nil {
			return nil, err
		}
		for _, m := range metric.Of(e.Test).Ranking {
			if v, found := e.Figures[m.Key]; found && v > 0 && e.Round > 0 && e.Round <= mostForNoise {
				at := turn{e.Label, e.Pattern, e.Client, e.Server, e.Round}
				values[at] = append(values[at], v)
				last = max(last, e.Round)
				break
			}
		}
	}
	rows := map[string]map[turn][]float64{} // by label, then by what has the row
	for at, of := range values {
		row := at
		row.round = 0
		if rows[at.label] == nil {
			rows[at.label] = map[turn][]float64{}
		}
		if rows[at.label][row] == nil {
			rows[at.label][row] = slices.Repeat([]float64{math.NaN()}, last)
		}
		rows[at.label][row][at.round-1] = math.Log(stats.Mean(of))
	}
	noise := map[string]float64{}
	for label, of := range rows {
		var logs [][]float64
		for _, row := range of {
			logs = append(logs, row)
		}
		slices.SortFunc(logs, slices.Compare) // the order of a map would change the last digits
		if sd := stats.Noise(logs); sd > 0 {
			noise[label] = sd
		}
	}
	return noise, nil
}

// mostForNoise is how many of the newest trials of a campaign its noise is taken from.
const mostForNoise = 5000

// factorTexts are the smallest differences between the levels of each factor.
func factorTexts(c *text.Catalogue, w advice.Power) (out []string) {
	for _, f := range w.Factors {
		if f.Smallest != nil {
			out = append(out, c.Sentence("plan.shows.factor", text.Args{"Factor": f.Factor, "Smallest": *f.Smallest}))
		}
	}
	return out
}

// add describes what the plan can show, and why it cannot decide.
func (d *designOutline) add(c *text.Catalogue, out *text.Lines) {
	label := "label.shows"
	for _, w := range d.Tests {
		if w.Smallest == nil && len(w.Factors) == 0 {
			continue
		}
		args := text.Args{"Label": w.Label, "Noise": w.Noise, "Of": d.NoiseOf, "Patterns": w.Patterns, "Rounds": w.Rounds, "Smallest": 0.0, "Needed": w.Needed, "Practical": d.Practical, "Factors": factorTexts(c, w)}
		if w.Smallest != nil {
			args["Smallest"] = *w.Smallest
		}
		out.Row(label, "plan.shows", args)
		label = ""
		if h := w.Halved; h != nil {
			out.Row(label, "plan.shows.halved", text.Args{"Factor": h.Factor, "Levels": h.Levels, "Rounds": h.Rounds, "Smallest": h.Smallest})
		}
	}
	if d.compares && len(d.Tests) == 0 && !slices.ContainsFunc(d.Weak, func(w advice.DesignWarning) bool { return w.Code == advice.WarnOneRound }) {
		out.Row(label, "plan.shows.unknown", nil)
	}
	if a := d.Added; a != nil {
		out.Row("label.added", "plan.added", text.Args{"Campaign": a.Campaign, "Levels": levelTexts(a.Levels), "Rounds": a.Rounds})
	}
	label = "label.warning"
	for _, w := range d.Weak {
		out.Row(label, "plan.weak."+string(w.Code), text.Args{"Tests": w.Tests, "Factor": w.Factor, "Other": w.Other, "Rounds": w.Rounds, "Hosts": w.Hosts, "Pairs": w.Pairs, "Sample": w.Sample, "Endpoints": w.Endpoints, "Port": w.Port, "Round": roughly(c, w.Round), "Step": roughly(c, w.Step)})
		label = ""
	}
}

// pairsOutline is the pairs of a plan.
type pairsOutline struct {
	Count  int `json:"count"`
	Hosts  int `json:"hosts"`
	AtOnce int `json:"trials_at_once"` // the limit, which contention: together may exceed
	// Isolated is how many of them are measured one at a time where both ways of contention are
	// compared; 0: all.
	Isolated int           `json:"isolated,omitempty"`
	Sample   []pairOutline `json:"sample"` // the first of them, with the addresses of the first pattern
}

type pairOutline struct {
	Client  string `json:"client"`
	Server  string `json:"server"`
	Address string `json:"server_address"`
}

// Pairs that are shown, in JSON and to a person.
const (
	mostPairsInJSON = 100
	mostPairsInText = 6
)

func outlinePairs(p *plan.Plan) *pairsOutline {
	o := &pairsOutline{Count: p.PairCount(), Hosts: p.HostCount(), AtOnce: p.Concurrency(), Isolated: p.IsolatedPairs}
	clients, servers := p.Ends(&p.AllPatterns()[0], mostPairsInJSON)
	for i, client := range clients {
		o.Sample = append(o.Sample, pairOutline{client.Reference(), servers[i].Reference(), servers[i].Endpoint.Address})
	}
	return o
}

// addPairs shows how many pairs there are, and the first of them.
func (o *planOutline) addPairs(out *text.Lines) {
	if o.Pairs == nil {
		return
	}
	out.Row("label.pairs", "plan.pairs", text.Args{"Pairs": o.Pairs.Count, "Hosts": o.Pairs.Hosts})
	if o.Pairs.Isolated > 0 {
		out.Under("plan.pairs.isolated", text.Args{"Pairs": min(o.Pairs.Isolated, o.Pairs.Count)})
	}
	shown := o.Pairs.Sample[:min(len(o.Pairs.Sample), mostPairsInText)]
	for _, pair := range shown {
		out.Under("plan.pair", text.Args{"Client": pair.Client, "Server": pair.Server, "Address": pair.Address})
	}
	if more := o.Pairs.Count - len(shown); more > 0 {
		out.Under("plan.pairs.more", text.Args{"N": more})
	}
}

// hasOwnTurns reports whether a test has repeats or rounds that are not the plan's.
func (o *planOutline) hasOwnTurns(t testOutline) bool {
	return t.Repeats != o.Repeats || t.Rounds != o.Rounds
}

// searchOutline is what a plan with find may run.
type searchOutline struct {
	Option    string   `json:"option"`
	Levels    []string `json:"levels"` // that the search may reach, ascending
	GainRatio float64  `json:"gain_ratio"`
	While     string   `json:"while,omitempty"` // what holds at the level that is searched
	Test      string   `json:"test"`            // label of the test whose figure decides
	Searches  int      `json:"searches"`        // one for each combination of the other factors' levels
	// FewestTrials and MostTrials are of all searches; AllTrials is what every level would take,
	// measured as often as the best one.
	FewestTrials int `json:"fewest_trials"`
	MostTrials   int `json:"most_trials"`
	AllTrials    int `json:"all_trials"`
}

// outlineSearch is nil for a plan without find.
func outlineSearch(p *plan.Plan, only plan.Selection, e advice.Estimate) *searchOutline {
	if !p.Searches() {
		return nil
	}
	o := &searchOutline{
		Option: p.Find.Option, Levels: p.SearchedLevels(), GainRatio: float64(p.Find.Gain), While: string(p.Find.While), Test: p.Find.Test,
		FewestTrials: e.FewestTrials, MostTrials: e.Trials,
	}
	o.Searches, o.AllTrials = len(p.SearchedPatterns(only)), p.TrialsOfList(only)
	return o
}

// mostSearchedLevels is how many levels a person gets to see.
const mostSearchedLevels = 16

func (o *searchOutline) add(out *text.Lines) {
	if o == nil {
		return
	}
	levels := o.Levels
	if n := len(levels); n > mostSearchedLevels {
		levels = append(append(levels[:mostSearchedLevels-1:mostSearchedLevels-1], "…"), levels[n-1])
	}
	out.Row("label.search", "plan.search", text.Args{
		"Option": o.Option, "Levels": levels, "Gain": o.GainRatio, "While": o.While, "Test": o.Test, "Searches": o.Searches,
		"Fewest": o.FewestTrials, "Most": o.MostTrials, "All": o.AllTrials,
	})
}

// untilOutline is what a plan with until comes to.
type untilOutline struct {
	IntervalRatio float64          `json:"interval_ratio"` // 0: not asked for
	Decided       bool             `json:"decided,omitempty"`
	Against       stats.Against    `json:"against,omitempty"`
	LevelRatio    float64          `json:"level_ratio,omitempty"` // of each look at the comparisons; 0: by e-values
	FewestRounds  int              `json:"fewest_rounds"`
	MostRounds    int              `json:"most_rounds"`
	Fewest        advice.Estimate  `json:"fewest"`
	Most          advice.Estimate  `json:"most"`
	MaxTime       measure.Duration `json:"max_time_ns,omitempty"`
}

// outlineUntil is nil for a plan without until.
func outlineUntil(p *plan.Plan, only plan.Selection) *untilOutline {
	fewest, most, ok := advice.UntilEstimate(p, only)
	if !ok {
		return nil
	}
	u := p.Until
	out := &untilOutline{
		IntervalRatio: float64(u.Interval), Decided: u.Decided, FewestRounds: p.FewestRounds(), MostRounds: p.MostRounds(),
		Fewest: fewest, Most: most, MaxTime: p.Budget.Time,
	}
	if u.Decided {
		out.Against = u.Against
		if looks := u.InterimAnalyses(p.LastRound()); !looks.Anytime() {
			out.LevelRatio = looks.Alpha()
		}
	}
	return out
}

func (u *untilOutline) add(c *text.Catalogue, out *text.Lines) {
	if u == nil {
		return
	}
	out.Row("label.until", "plan.until", text.Args{
		"Interval": u.IntervalRatio, "Decided": u.Decided, "Against": string(u.Against), "Level": u.LevelRatio, "Fewest": u.FewestRounds, "Most": u.MostRounds, "Trials": u.Most.Trials,
		"Least": roughly(c, u.Fewest.Time), "Longest": roughly(c, u.Most.Time), "MaxTime": u.MaxTime,
	})
}
