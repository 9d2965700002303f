package tests

import (
	_ "soku/internal/engine/trace"
	"soku/internal/measure"
	"soku/internal/text"
)

var _ = register(Descriptor{
	Test: measure.TestTrace, Summary: traceSummary,
	Table: func(r *measure.Result) []string {
		if r.Trace == nil {
			return nil
		}
		return text.Aligned(TraceTable(r.Trace))
	},
})
