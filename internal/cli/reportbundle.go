package cli

import (
	"context"
	"fmt"

	"soku/internal/measure"
	"soku/internal/publish"
	"soku/internal/report"
	"soku/internal/store"
	"soku/internal/text"
)

// bundled are the formats of a bundle; Markdown comes with its pictures.
var bundled = []string{"html", "md", "xlsx", "csv", "trials.csv", "json"}

// writeBundle writes a report in these formats, the plan and the results to one zip file.
func (f reportFlags) writeBundle(ctx context.Context, sys *System, s store.Store, c store.Campaign, r *report.Report) error {
	var names []string
	files := map[string][]byte{}
	add := func(name string, data []byte) { names, files[name] = append(names, name), data }
	if c.Plan != "" {
		add("plan.yaml", []byte(c.Plan))
	}
	for _, name := range bundled {
		format, _ := publish.FormatOf(name)
		all, err := format.Files(r, "report", publish.Options{Catalogue: sys.Catalogue, Plain: f.plain})
		if err != nil {
			return err
		}
		for _, file := range all {
			add(file.Name, file.Data)
		}
	}
	b, err := bundleOf(ctx, s, c, names, files)
	if err == nil {
		err = writeReport(sys, f.bundle, b)
	}
	if err == nil {
		fmt.Fprintln(sys.Stdout, sys.Catalogue.Sentence("report.wrote", text.Args{"File": f.bundle, "More": 0}))
	}
	return err
}

// checkBundle refuses what a bundle cannot be.
func (f reportFlags) checkBundle() error {
	switch {
	case f.bundle == "":
	case f.public:
		return measure.Fail(measure.KindUsage, "cli.report.bundle_public", nil)
	case f.runs > 0:
		return measure.Fail(measure.KindUsage, "cli.report.bundle_runs", nil)
	}
	return nil
}
