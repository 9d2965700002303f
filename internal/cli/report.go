package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"soku/internal/campaign/plan"
	"soku/internal/measure"
	"soku/internal/publish"
	"soku/internal/report"
	"soku/internal/store"
)

func newReportCommand(sys *System) *cobra.Command {
	var f reportFlags
	cmd := &cobra.Command{
		Use:   "report [CAMPAIGN]",
		Short: "Answer, tables, ranking and charts of a campaign",
		Long: "Writes the results of a campaign: an answer in one sentence, a table, a ranking\n" +
			"that reports where no difference was shown, and in HTML charts of every trial.\n" +
			"CAMPAIGN is an identity, its beginning, a name, or \"last\", which is the default.\n" +
			"Without --format the output is text for the terminal.",
		Example: "  soku report\n  soku report --open\n  soku report gateway-sku --format html,md,csv -o out/\n  soku report last -o report.html\n  soku report --format trials.csv\n  soku report --runs 10",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return runReport(cmd.Context(), sys, f, args)
		},
	}
	f.add(sys, cmd)
	return cmd
}

func runReport(ctx context.Context, sys *System, f reportFlags, args []string) (err error) {
	switch {
	case f.output == "-" && f.open:
		return measure.Fail(measure.KindUsage, "cli.report.open_output", nil)
	case f.output == "-":
		f.output = ""
	case f.output == "" && f.open:
		f.output = currentFolder
	}
	formats, folder, err := f.plan()
	if err != nil {
		return err
	}
	if f.runs < 0 || f.runs > 0 && len(args) > 0 {
		return measure.Fail(measure.KindUsage, "cli.report.runs", measure.Figures{"runs": f.runs})
	}
	if err := f.checkBundle(); err != nil {
		return err
	}
	r, err := f.build(ctx, sys, args)
	if err != nil {
		return err
	}
	if !f.full {
		r = r.Brief()
	}
	if f.output+f.bundle != "" && !f.public {
		fmt.Fprintln(sys.Stderr, sys.Catalogue.Sentence("report.private", nil))
	}
	for _, format := range formats {
		file, err := f.write(ctx, sys, r, format, folder)
		if err == nil && f.open && format.Name == "html" {
			err = sys.browser().Open(ctx, file)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// currentFolder is the output of a report in it.
const currentFolder = "./"

// build makes the report of a campaign, or of the last tests run by hand.
func (f reportFlags) build(ctx context.Context, sys *System, args []string) (r *report.Report, err error) {
	known, err := knownLimits(sys, f.catalog)()
	if err != nil {
		return nil, err
	}
	s, err := openStore(ctx, sys, f.store)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	campaign, byHand := publish.Campaign, publish.ByHand
	if f.public {
		campaign, byHand = publish.PublicCampaign, publish.PublicByHand
	}
	if f.runs > 0 {
		if r, err = byHand(ctx, known, s, f.runs); err != nil {
			return nil, err
		}
		return f.finish(r)
	}
	id := store.Last
	if len(args) > 0 {
		id = args[0]
	}
	c, err := findCampaign(ctx, sys, s, id)
	if err != nil {
		if measure.KindOf(err) == measure.KindNotFound && len(args) == 0 {
			return nil, measure.Fail(measure.KindNotFound, "cli.report.no_campaign", nil)
		}
		return nil, err
	}
	if r, err = campaign(ctx, known, s, c, f.question); err == nil {
		r, err = f.finish(r)
	}
	if err == nil && f.bundle != "" {
		err = f.writeBundle(ctx, sys, s, c, r)
	}
	return r, err
}

// finish adds to a report what was asked for.
func (f reportFlags) finish(r *report.Report) (*report.Report, error) {
	if f.dataURL != "" {
		r = r.WithData(f.dataURL)
	}
	baseline, err := plan.ParseSelection(f.baseline)
	if err == nil && len(baseline) > 0 {
		r, err = r.WithBaseline(baseline.Levels())
	}
	if err != nil {
		return nil, err
	}
	if f.pivot != "" {
		return r.Pivoted(f.pivot)
	}
	return r, nil
}
