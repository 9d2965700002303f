package server

import (
	"soku/internal/measure"
	"soku/internal/text"
)

// putInWords adds to what this end counted the sentences that a client of an earlier
// version reads instead of findings and timings.
func putInWords(end *measure.End) {
	end.Warnings = text.ForPrograms().Findings(end.Findings)
	if end.Timing != nil {
		end.Method = text.ForPrograms().Timing(*end.Timing)
	}
}
