package publish

import (
	"context"

	"soku/internal/campaign/advice"
	"soku/internal/campaign/plan"
	"soku/internal/catalog"
	"soku/internal/measure"
	"soku/internal/report"
	"soku/internal/store"
	"soku/internal/yamlfile"
)

// CommandChoice returns the results of a command in a campaign of a [advice.CommandPlan]. An
// error is of kind usage if the command did not run yet.
func CommandChoice(ctx context.Context, known *catalog.Catalog, s store.Store, c store.Campaign, command advice.Command) (*report.Choice, error) {
	only := plan.Selection{yamlfile.Entry[[]string]{Name: advice.CommandFactor, Value: []string{command.Line}}}
	return Choice(ctx, known, s, c, command.Line, only)
}

// CompareCommands compares the commands of a campaign of a [advice.CommandPlan] that ran.
func CompareCommands(ctx context.Context, known *catalog.Catalog, s store.Store, c store.Campaign, commands []advice.Command, o report.CompareOptions) (*report.Comparisons, error) {
	var choices []*report.Choice
	var failed []report.FailedChoice
	for _, command := range commands {
		choice, err := CommandChoice(ctx, known, s, c, command)
		if measure.KindOf(err) == measure.KindUsage {
			continue // it did not run yet
		}
		if err != nil {
			return nil, err
		}
		if r := choice.Failed(); r != nil {
			failed = append(failed, *r)
			continue
		}
		choices = append(choices, choice)
	}
	compared := &report.Comparisons{Practical: o.Practical, AllPairs: o.AllPairs}
	if len(choices) > 1 {
		var err error
		if compared, err = report.Compare(choices, o); err != nil {
			return nil, err
		}
	}
	compared.Campaign, compared.Failed = c.ID, failed
	return compared, nil
}
