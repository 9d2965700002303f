package publish

import (
	"context"
	"slices"

	"soku/internal/campaign/plan"
	"soku/internal/catalog"
	"soku/internal/measure"
	"soku/internal/measure/option"
	"soku/internal/report"
	"soku/internal/store"
	"soku/internal/yamlfile"
)

// Choice returns the results of a campaign's patterns that only selects, as a choice with a
// name. A factor that sets nothing in a test does not select there. An error is of kind usage
// if no result has a selected factor, level or pattern.
func Choice(ctx context.Context, known *catalog.Catalog, s store.Store, c store.Campaign, name string, only plan.Selection) (*report.Choice, error) {
	choice := report.NewChoice(name, nil)
	if plan, err := plan.ParseRecorded("", []byte(c.Plan)); err == nil {
		d := designOf(plan, known)
		choice.Unvaried, choice.Practical, choice.Limits, choice.Until = plan.Unvaried(), d.Practical, d.Limits, d.Until
	}
	unvaried := choice.Unvaried
	var seen Levels
	for r, err := range s.Results(ctx, store.Query{Campaign: c.ID, OldestFirst: true}, store.WithoutRows) {
		if err != nil {
			return nil, err
		}
		if r.Trial == nil {
			continue
		}
		seen.Add(r.Trial.Levels)
		here := slices.DeleteFunc(slices.Clone(only), func(e yamlfile.Entry[[]string]) bool { return slices.Contains(unvaried[r.Trial.Label], e.Name) })
		if here.Matches(r.Trial.Levels) {
			choice.Add(r)
		}
	}
	if err := seen.check(c, only); err != nil {
		return nil, err
	}
	if len(choice.Results) == 0 && len(only) > 0 {
		return nil, measure.Fail(measure.KindUsage, "cli.compare.no_pattern", measure.Figures{"choice": name, "campaign": c.Name})
	}
	return choice, nil
}

// ChoiceByHand returns the last n results that belong to no campaign, as a choice with a name.
// Each is a round of the pattern that its ends and options make up. An error is of kind
// not_found if there are none.
func ChoiceByHand(ctx context.Context, known *catalog.Catalog, s store.Store, n int, name string) (*report.Choice, error) {
	choice := report.NewChoice(name, nil)
	choice.Limits = limitsOfHosts(known)
	for r, err := range s.Results(ctx, store.Query{ByHand: true, Limit: n}, store.WithoutRows) {
		if err != nil {
			return nil, err
		}
		levels := []measure.Level{{Factor: "path", Value: r.Path.String()}}
		if changed := option.Changed(r); changed != "" {
			levels = append(levels, measure.Level{Factor: "options", Value: changed})
		}
		r.Trial = &measure.Trial{Campaign: name, Label: string(r.Test), Round: n - len(choice.Results), Repeat: 1, Levels: levels, Pattern: measure.JoinLevels(levels)}
		choice.Add(r)
	}
	if choice.Single = len(choice.Results) == 1; len(choice.Results) == 0 {
		return nil, measure.Fail(measure.KindNotFound, "store.no_results", measure.Figures{"store": s.Name()})
	}
	return choice, nil
}

// Levels are the levels of several trials or patterns by factor, in the order of their first use.
type Levels yamlfile.Ordered[[]string]

// Add adds the levels of a trial or pattern.
func (l *Levels) Add(levels []measure.Level) {
	for _, v := range levels {
		i := slices.IndexFunc(*l, func(e yamlfile.Entry[[]string]) bool { return e.Name == v.Factor })
		if i < 0 {
			i = len(*l)
			*l = append(*l, yamlfile.Entry[[]string]{Name: v.Factor})
		}
		if e := &(*l)[i]; !slices.Contains(e.Value, v.Value) {
			e.Value = append(e.Value, v.Value)
		}
	}
}

// check returns an error if the selection has a factor or a level that l lacks.
func (l *Levels) check(c store.Campaign, only plan.Selection) error {
	names := yamlfile.Ordered[[]string](*l)
	for _, e := range only {
		levels, known := names.Get(e.Name)
		if !known {
			err := measure.Fail(measure.KindUsage, "cli.compare.no_factor", measure.Figures{"campaign": c.Name, "factor": e.Name, "factors": names.Names()})
			return WithSimilar(err, e.Name, names.Names())
		}
		for _, level := range e.Value {
			if !slices.Contains(levels, level) {
				err := measure.Fail(measure.KindUsage, "cli.compare.no_level", measure.Figures{"campaign": c.Name, "factor": e.Name, "level": level, "levels": levels})
				return WithSimilar(err, level, levels)
			}
		}
	}
	return nil
}

// WithSimilar adds a hint with the known name that is nearest to name, if one is near.
func WithSimilar(err *measure.Error, name string, known []string) error {
	if near := yamlfile.Nearest(name, known); near != "" {
		return err.WithHintCode("similar_choice", measure.Figures{"near": near})
	}
	return err
}
