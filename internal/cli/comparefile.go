package cli

import (
	"fmt"

	"soku/internal/ingest"
	"soku/internal/measure"
	"soku/internal/report"
)

// isFile reports whether a text is the path of a file that exists.
func isFile(sys *System, text string) bool {
	info, err := sys.Stat(text)
	return err == nil && !info.IsDir()
}

// fileChoice has the results in a file: documents of soku, or the output of another program.
// What belongs to no campaign ran one after another, so each is a round of a session of the
// file's own.
func fileChoice(sys *System, path string) (*report.Choice, error) {
	data, modified, err := readBounded(sys, path)
	if err != nil {
		return nil, err
	}
	source, err := ingest.NewSource(path, data, modified)
	if err != nil {
		return nil, err
	}
	results, err := ingest.Read(source)
	if err != nil {
		return nil, err
	}
	choice := report.NewChoice(path, nil)
	for i, r := range results {
		if r.Trial == nil {
			r.Trial = &measure.Trial{Campaign: path, Label: string(r.Test), Round: i + 1, Repeat: 1, Levels: []measure.Level{}}
		}
		if r.ID == "" {
			r.ID = fmt.Sprintf("%s %d", path, i+1)
		}
		choice.Add(r)
	}
	return choice, nil
}
