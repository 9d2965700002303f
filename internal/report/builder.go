package report

import (
	"cmp"
	"slices"

	"soku/internal/measure"
	"soku/internal/measure/finding"
	"soku/internal/measure/metric"
)

// Builder makes a report of trials that come one after another. It keeps of each
// what a report shows and no more, so that the report of a long campaign does not
// hold its documents. A Builder is not safe for concurrent use.
type Builder struct {
	campaign Meta
	patterns [][]measure.Level
	labels   []string
	unvaried map[string][]string
	design   Design
	trials   int // that will come
	results  []*measure.Result
	seen     map[string]bool // IDs
	drawn    map[*measure.Result]drawing
	hosts    []Host
	tools    []Tool
}

// Build makes a report of results that are all there, in any order.
func Build(in Input) (*Report, error) {
	results := distinct(in.Results)
	b := NewBuilder(Input{Campaign: in.Campaign, Patterns: in.Patterns, Tests: in.Tests, Unvaried: in.Unvaried, Design: in.Design}, len(results))
	for _, r := range results {
		b.Add(r)
	}
	return b.Report()
}

// NewBuilder begins a report of an [Input] whose results are added one after another.
// trials is how many [Builder.Add] will get: it decides with how many points each is drawn.
func NewBuilder(in Input, trials int) *Builder {
	return &Builder{campaign: in.Campaign, patterns: in.Patterns, labels: in.Tests, unvaried: in.Unvaried, design: in.Design, trials: trials, seen: map[string]bool{}, drawn: map[*measure.Result]drawing{}}
}

// Add takes a result into account. Results come in the order of their start and
// then of their IDs; one whose ID was there before is left out. The result is not
// changed, and parts of it are kept.
func (b *Builder) Add(r *measure.Result) {
	if r == nil || r.ID != "" && b.seen[r.ID] {
		return
	}
	b.seen[r.ID] = true
	b.hosts = addHosts(b.hosts, r)
	b.tools = addTool(b.tools, r)
	short := r.WithoutSeries()
	short.Hosts = measure.Hosts{Client: withoutFacts(r.Hosts.Client), Server: withoutFacts(r.Hosts.Server)}
	b.results = append(b.results, short)
	b.drawn[short] = draw(r, b.trials)
}

// withoutFacts is a host without what is in the report's list of hosts, but with its
// deployment: that can change between trials.
func withoutFacts(h *measure.Host) *measure.Host {
	if h == nil {
		return nil
	}
	return &measure.Host{Facts: measure.Facts{Deployment: h.Facts.Deployment}, Counters: h.Counters, PinnedCPUs: h.PinnedCPUs}
}

// draw extracts what the charts show of one trial of allTrials.
func draw(r *measure.Result, allTrials int) drawing {
	d := drawing{points: pointsOf(r, allTrials)}
	if slices.Contains(metric.Of(r.Test).Ranking, metric.Connections) {
		d.connections = connectionSeries(r.Latency, pointsFor(allTrials))
	}
	if r.Error == nil {
		d.copied = copySeriesOf(r, pointsFor(allTrials))
		d.sharings = sharingOf(r, allTrials)
		if r.UnderLoad != nil {
			d.load = loadSeriesOf(r, pointsFor(allTrials))
		}
	}
	return d
}

// Report is the report of the results that were added. The error is of kind
// not_found when there was none.
func (b *Builder) Report() (*Report, error) {
	c := b.campaign
	if len(b.results) == 0 {
		name := cmp.Or(c.Name, c.ID)
		if name == "" {
			return nil, measure.Fail(measure.KindNotFound, "report.no_results.by_hand", nil)
		}
		return nil, measure.Fail(measure.KindNotFound, "report.no_results", measure.Figures{"campaign": name})
	}
	r := &Report{Schema: Schema, Campaign: c, Trials: len(b.results), Title: cmp.Or(c.Title, c.Name, c.ID)}
	r.From, r.To = b.results[0].StartedAt, b.results[len(b.results)-1].StartedAt
	r.undated = !slices.ContainsFunc(b.results, func(x *measure.Result) bool {
		return x.Origin == nil || len(x.Origin.Missing.With(finding.TimeOfFile)) == 0
	})
	rounds := map[int]bool{}
	for _, x := range b.results {
		if x.Error != nil {
			r.Failed++
		}
		if x.Origin != nil {
			r.Ingested++
		}
		if x.Trial != nil {
			rounds[x.Trial.Round] = true
		}
	}
	r.Emulated = b.design.Emulated
	r.Rounds, r.Times = len(rounds), timesOf(b.results, c, b.design)
	for _, g := range byLabel(b.results, b.labels) {
		r.Tests = append(r.Tests, b.test(g))
	}
	r.assignHues()
	r.Warnings = collectWarnings(b.results)
	slices.SortStableFunc(b.hosts, func(a, b Host) int { return natural(a.Name, b.Name) })
	slices.SortStableFunc(b.tools, func(a, b Tool) int { return natural(a.order(), b.order()) })
	r.Hosts, r.Tools = b.hosts, b.tools
	return r, nil
}

// distinct drops nils and repeated IDs and sorts by time, so that a report does
// not depend on the order it was given.
func distinct(results []*measure.Result) []*measure.Result {
	seen := map[string]bool{}
	out := make([]*measure.Result, 0, len(results))
	for _, r := range results {
		if r == nil || r.ID != "" && seen[r.ID] {
			continue
		}
		seen[r.ID] = true
		out = append(out, r)
	}
	slices.SortStableFunc(out, func(a, b *measure.Result) int {
		return cmp.Or(a.StartedAt.Compare(b.StartedAt), cmp.Compare(a.ID, b.ID))
	})
	return out
}

func (b *Builder) test(g labelled) Test {
	t := Test{Label: g.label, Test: g.test, ByHand: g.byHand, Capture: g.capture, apart: g.apart, Basis: Basis{metric.Ranking(g.test, g.results)}}
	t.Same, t.Different = compareOptions(g)
	t.Unvaried = b.unvaried[g.label]
	g.pair = pairingOf(g.results)
	patterns := byPattern(g, t.Different, b.patterns, t.Unvaried)
	t.Factors = factorsOf(patterns)
	if !g.byHand {
		nameAbsentLevels(patterns, t.Factors)
	}
	numberDuplicates(patterns)
	rounds := roundIndex(g)
	t.Rounds = len(rounds)
	t.Practical = b.design.practical()
	if !t.ByHand {
		t.interim = b.design.Until.interim(t.Label, lastRound(g.results))
	}
	for _, p := range patterns {
		t.Failures = append(t.Failures, failuresOf(p)...)
	}
	if !t.ByHand {
		t.NotMeasured = b.notMeasured(patterns, t.Unvaried, g.pair.factor)
	}
	patterns, control := b.design.withoutControl(patterns)
	for _, p := range patterns {
		t.Rows = append(t.Rows, b.row(p, &t, rounds))
	}
	for _, p := range control {
		t.ControlRows = append(t.ControlRows, b.row(p, &t, rounds))
	}
	t.findWithoutFigure()
	t.rank(patterns, rounds)
	t.decided = t.findDecided(b.design.Until, t.groups(patterns, rounds))
	t.shareLimits()
	t.findReached()
	t.findMoved()
	t.findControl(patterns, control, rounds)
	t.findCurves(patterns, rounds, b.design)
	t.findEffects(patterns)
	question := cmp.Or(b.design.Question, questionOf(g.results))
	t.asked, t.askedByName = t.askedFactor(question), slices.Contains(t.Factors, question)
	t.byPatterns = question == measure.QuestionPatterns
	t.findAtBest(patterns, rounds, question)
	t.findDisjointRanges()
	t.Pairs = t.findPairs(g.pair, patterns, rounds)
	t.findFlowGroups()
	if floor, found := combined(metric.Floor, successful(g.results), nil, nil); found {
		t.Floor = &floor.Spread
	}
	t.Timings = timingsOf(g.results)
	t.Ingested, t.Missing = ingested(g.results)
	t.stated = statedRounds(g.results)
	t.Runs = differentRuns(patterns, t.Basis.Metric)
	t.placed = singlePlacements(patterns, t.Factors, g.pair.factor)
	t.later = laterLevels(patterns, t.Factors, b.design.Searched)
	t.wide = t.widest(b.design.Until)
	t.Answer, t.Caveats = t.findAnswer(), t.findCaveats()
	t.Headline = t.findHeadline(question)
	return t
}

// questionOf is what the sources of ingested results ask about, or "".
func questionOf(results []*measure.Result) string {
	for _, r := range results {
		if r.Origin != nil && r.Origin.Question != "" {
			return r.Origin.Question
		}
	}
	return ""
}

// rank fills Ranking and the rows' ranks.
func (t *Test) rank(patterns []pattern, rounds map[int]int) {
	groups := t.groups(patterns, rounds)
	for _, k := range t.interim.Rank(groups, t.Basis.Metric.Better == metric.Higher, t.Practical) {
		t.Ranking = append(t.Ranking, Place{
			Rank: k.Rank, RankLow: k.Ranks.Low, RankHigh: k.Ranks.High, Letters: k.Letters, Best: k.Best, behind: k.Behind,
			Pattern: k.Name, Reason: k.Reason, alike: k.Alike,
			Estimate: finite(k.Estimate), Low: finite(max(k.Low, 0)), High: finite(k.High), // no figure that ranks can be below 0
		})
		for i := range t.Rows {
			if t.Rows[i].Pattern == k.Name {
				t.Rows[i].Rank = k.Rank
			}
		}
	}
	t.findSame(groups)
}

func failuresOf(p pattern) []Failure {
	var out []Failure
	for _, r := range p.results {
		if r.Error == nil {
			continue
		}
		f := Failure{Pattern: p.name, Repeat: repeatOf(r), Error: r.Error, Result: r.ID}
		if r.Trial != nil {
			f.Round = r.Trial.Round
		}
		out = append(out, f)
	}
	return out
}

// notMeasured are the names of the plan's patterns that no trial of a test was made of, in the
// plan's order. factor is that of the pairs of hosts, which plans do not have. A search
// leaves levels out on purpose: it is named where it has no trial at all.
func (b *Builder) notMeasured(patterns []pattern, unvaried []string, factor string) (out []string) {
	seen := map[string]bool{}
	for _, p := range patterns {
		seen[measure.LevelsKey(without(p.levels, []string{factor, b.design.Searched}))] = true
	}
	for _, levels := range b.patterns {
		levels = without(without(levels, unvaried), []string{b.design.Searched})
		if key := measure.LevelsKey(levels); !seen[key] {
			seen[key] = true
			out = append(out, measure.JoinLevels(levels))
		}
	}
	return out
}
