package report

import (
	"cmp"
	"slices"

	"soku/internal/measure"
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
	if slices.Contains(measure.MetricsOf(r.Test).Ranking, measure.MetricConnections) {
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
		return x.Origin == nil || len(x.Origin.Missing.With(measure.CodeTimeOfFile)) == 0
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
	r.Rounds = len(rounds)
	for _, g := range byLabel(b.results, b.labels) {
		r.Tests = append(r.Tests, b.test(g))
	}
	r.Warnings = collectWarnings(b.results)
	slices.SortStableFunc(b.hosts, func(a, b Host) int { return natural(a.Name, b.Name) })
	slices.SortStableFunc(b.tools, func(a, b Tool) int { return natural(a.order(), b.order()) })
	r.Hosts, r.Tools = b.hosts, b.tools
	return r, nil
}
