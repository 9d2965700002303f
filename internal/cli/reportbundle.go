package cli

import (
	"archive/zip"
	"bytes"
	"context"
	"fmt"

	"soku/internal/archive"
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
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	add := func(name string, data []byte) error {
		w, err := z.Create(name)
		if err == nil {
			_, err = w.Write(data)
		}
		return err
	}
	err := archive.WriteBundle(ctx, z, s, c)
	if err == nil && c.Plan != "" {
		err = add("plan.yaml", []byte(c.Plan))
	}
	for _, name := range bundled {
		if err != nil {
			break
		}
		format, _ := publish.FormatOf(name)
		var files []publish.File
		if files, err = format.Files(r, "report", publish.Options{Catalogue: sys.Catalogue, Plain: f.plain}); err != nil {
			break
		}
		for _, file := range files {
			if err == nil {
				err = add(file.Name, file.Data)
			}
		}
	}
	if err == nil {
		err = z.Close()
	}
	if err == nil {
		err = writeReport(sys, f.bundle, b.Bytes())
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
