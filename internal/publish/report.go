package publish

import (
	"cmp"
	"context"
	"slices"

	"soku/internal/campaign/plan"
	"soku/internal/catalog"
	"soku/internal/measure"
	"soku/internal/report"
	"soku/internal/store"
)

// Campaign makes the report of a campaign from its results in the store, with patterns and
// tests in the order of its plan. If this version cannot read the plan, the report is made
// without it. One document is in memory at a time. question is what it is about, in place of the
// plan's, or ""; an error is of kind usage if no test has such a factor.
func Campaign(ctx context.Context, known *catalog.Catalog, s store.Store, c store.Campaign, question string) (*report.Report, error) {
	return campaign(ctx, known, s, c, question, nil)
}

// PublicCampaign is Campaign without addresses, names of hosts and users, paths, tokens and the plan.
func PublicCampaign(ctx context.Context, known *catalog.Catalog, s store.Store, c store.Campaign, question string) (*report.Report, error) {
	p := newPublic()
	for r, err := range s.Results(ctx, store.Query{Campaign: c.ID, OldestFirst: true}, store.WithoutRows) {
		if err != nil {
			return nil, err
		}
		p.see(r)
	}
	return campaign(ctx, known, s, c, question, p)
}

// campaign makes the report, a public one if p is not nil.
func campaign(ctx context.Context, known *catalog.Catalog, s store.Store, c store.Campaign, question string, p *public) (*report.Report, error) {
	in := report.Input{Campaign: report.Meta{
		ID: c.ID, Name: c.Name, Title: c.Title, StartedAt: c.StartedAt, FinishedAt: c.FinishedAt, Seed: c.Seed, Plan: c.Plan,
	}}
	in.Design.Limits = limitsOfHosts(known)
	var baseline []measure.Level
	if plan, err := plan.ParseRecorded("", []byte(c.Plan)); err == nil {
		for _, p := range plan.AllPatterns() {
			in.Patterns = append(in.Patterns, p.Levels)
		}
		in.Tests, in.Unvaried, in.Design, baseline = plan.Tests.Names(), plan.Unvaried(), designOf(plan, known), plan.Baseline.Levels()
	}
	in.Design.Question = cmp.Or(question, in.Design.Question)
	q := store.Query{Campaign: c.ID, OldestFirst: true}
	trials, err := s.Count(ctx, q)
	if err != nil {
		return nil, err
	}
	add := p.input(&in)
	if p != nil {
		baseline = p.levelsOf(baseline)
	}
	b := report.NewBuilder(in, trials)
	for r, err := range s.Results(ctx, q, store.WithoutRows) {
		if err != nil {
			return nil, err
		}
		add(r)
		b.Add(r)
	}
	r, err := b.Report()
	if err == nil && question != "" {
		err = r.CheckQuestion(question)
	}
	if err != nil {
		return nil, err
	}
	if over, err := r.WithBaseline(baseline); err == nil { // else not measured yet
		r = over
	}
	return r, nil
}

// ByHand makes the report of the last n results that belong to no campaign.
func ByHand(ctx context.Context, known *catalog.Catalog, s store.Store, n int) (*report.Report, error) {
	return byHand(ctx, known, s, n, nil)
}

// PublicByHand is ByHand as [PublicCampaign] is [Campaign].
func PublicByHand(ctx context.Context, known *catalog.Catalog, s store.Store, n int) (*report.Report, error) {
	return byHand(ctx, known, s, n, newPublic())
}

func byHand(ctx context.Context, known *catalog.Catalog, s store.Store, n int, p *public) (*report.Report, error) {
	ids, err := store.IDs(ctx, s, store.Query{ByHand: true, Limit: n})
	if err != nil {
		return nil, err
	}
	var all []*measure.Result
	for _, id := range slices.Backward(ids) {
		r, err := s.Get(ctx, id)
		if err != nil {
			return nil, err
		}
		if p != nil {
			p.see(r)
		}
		all = append(all, r)
	}
	in := report.Input{Design: report.Design{Limits: limitsOfHosts(known)}}
	add := p.input(&in)
	b := report.NewBuilder(in, len(ids))
	for _, r := range all {
		add(r)
		b.Add(r)
	}
	return b.Report()
}

// Single makes the report of one result.
func Single(known *catalog.Catalog, r *measure.Result) (*report.Report, error) {
	b := report.NewBuilder(report.Input{Design: report.Design{Limits: limitsOfHosts(known)}}, 1)
	b.Add(r)
	return b.Report()
}

// designOf returns how the results of a plan are judged.
func designOf(p *plan.Plan, known *catalog.Catalog) report.Design {
	d := report.Design{
		Practical: float64(p.Practical), Control: p.IsControl, Question: p.Question, Emulated: p.Lab != "",
		Searched: p.Find.Option, While: report.While{Text: string(p.Find.While), Test: p.Find.Test, Holds: p.Find.While.Holds},
		Until:  Until(p),
		Every:  p.Every.Std(),
		Limits: func(r *measure.Result) []measure.Limit { return p.LimitsOf(r, known) },
	}
	if p.For > 0 {
		d.Times = p.Rounds
	}
	return d
}

// limitsOfHosts returns, without a plan, the documented limits of the machine types that the
// ends of a trial report.
func limitsOfHosts(known *catalog.Catalog) func(*measure.Result) []measure.Limit {
	return func(r *measure.Result) []measure.Limit { return new(plan.Plan).LimitsOf(r, known) }
}

// Until returns when a plan has enough rounds.
func Until(p *plan.Plan) report.Until {
	u := report.Until{IntervalRatio: float64(p.Until.Interval), Against: p.Until.Against, MaxRounds: p.Until.MaxRounds, Tests: p.Until.Tests}
	if p.Until.Decided {
		u.Looks = p.Until.InterimAnalyses
	}
	return u
}
