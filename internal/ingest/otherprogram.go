package ingest

import (
	_ "embed"
	"strings"

	"soku/internal/measure"
)

//go:embed otherprograms.txt
var otherProgramTable string

// undetected is the error for a file of no known format. It says which export of the program helps, if the
// program is known.
func (s *Source) undetected() error {
	if err := s.foreignPing(1); err != nil {
		return err
	}
	head := s.text[:min(len(s.text), sniffBytes)]
	for line := range strings.Lines(otherProgramTable) {
		cells := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(cells) < 3 || !strings.Contains(head, cells[1]) {
			continue
		}
		export := ""
		if len(cells) > 3 {
			export = cells[3]
		}
		return s.fail(1, "ingest.format.program", measure.Figures{"program": cells[0], "export": export, "instead": cells[2]})
	}
	return s.fail(1, "ingest.format.undetected", measure.Figures{"formats": Formats()[1:]})
}
