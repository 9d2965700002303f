package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"soku/internal/measure"
	"soku/internal/publish"
	"soku/internal/report"
	"soku/internal/text"
)

// write writes a report in a format, to standard output or to files, which it names. It returns the
// first of these.
func (f reportFlags) write(ctx context.Context, sys *System, r *report.Report, format publish.Format, folder bool) (file string, err error) {
	o := publish.Options{Catalogue: sys.Catalogue, Plain: f.plain}
	if f.output == "" {
		o.Width = sys.StdoutWidth()
		return "", format.Write(sys.Stdout, r, o)
	}
	files, err := writeFormat(ctx, sys, r, format, f.output, folder, o)
	if err != nil {
		return "", err
	}
	fmt.Fprintln(sys.Stdout, sys.Catalogue.Sentence("report.wrote", text.Args{"File": files[0], "More": len(files) - 1}))
	return files[0], nil
}

// writeFormat writes a report in a format to a file, or to a folder under the name of the
// campaign. Further files go to its folder. It returns the names of all.
func writeFormat(ctx context.Context, sys *System, r *report.Report, format publish.Format, output string, folder bool, o publish.Options) (names []string, err error) {
	dir, name := filepath.Dir(output), strings.TrimSuffix(filepath.Base(output), filepath.Ext(output))
	if folder {
		dir, name = output, publish.FileName(r.Campaign)
	}
	o.Print = func(page []byte, format string) ([]byte, error) {
		if err := sys.MkdirAll(dir, 0o755); err != nil {
			return nil, err
		}
		return sys.browser().Print(ctx, dir, page, format)
	}
	files, err := format.Files(r, name, o)
	if err != nil {
		return nil, err
	}
	for i, file := range files {
		path := filepath.Join(dir, file.Name)
		if i == 0 && !folder {
			path = output
		}
		if err := writeReport(sys, path, file.Data); err != nil {
			return nil, err
		}
		names = append(names, path)
	}
	return names, nil
}

// writeReport writes a file and makes its folder.
func writeReport(sys *System, file string, data []byte) error {
	return inFolder(sys, file, func() error { return sys.WriteFile(file, data, 0o644) })
}

// tryReport makes the folder of a file, and fails as writeReport would.
func tryReport(sys *System, file string) error {
	return inFolder(sys, file, func() error { return sys.TryWrite(file) })
}

// inFolder makes the folder of a file, then calls write.
func inFolder(sys *System, file string, write func() error) error {
	err := sys.MkdirAll(filepath.Dir(file), 0o755)
	if err == nil {
		err = write()
	}
	switch {
	case err == nil:
		return nil
	case errors.Is(err, fs.ErrPermission):
		return measure.Fail(measure.KindPermission, "cli.report.not_allowed", measure.Figures{"file": file, "cause": err})
	}
	return measure.Fail(measure.KindStore, "cli.report.write", measure.Figures{"file": file, "cause": err})
}
