package report

import (
	"slices"

	"soku/internal/report/outline"
	"soku/internal/text"
)

const (
	mostRuns        = 12 // rows of a table
	mostRunPatterns = 6  // that a row names
)

// runRow is what one run measured, or which trials are missing.
type runRow struct {
	name, from string
	trials     int // 0: none
	patterns   []string
}

// runTable is which run measured what, which patterns of the plan were not measured and which
// trials failed. It has no columns where all patterns were measured in one run, except for the
// few that a caveat names.
func (t testView) runTable() outline.Table {
	if len(t.Runs) == 0 && len(t.NotMeasured) <= mostPatterns {
		return outline.Table{}
	}
	var rows []runRow
	for _, r := range t.Runs[:min(len(t.Runs), mostRuns)] {
		row := runRow{name: t.runName(r), from: t.Sentence("cell.time", text.Args{"At": r.From.UTC().Format(minute)}), trials: r.Trials, patterns: r.Patterns}
		if r.Session != "" || r.Run == 0 && len(t.Ingested) > 0 {
			row.from = text.Absent // of the file
		}
		rows = append(rows, row)
	}
	if len(t.NotMeasured) > 0 {
		rows = append(rows, runRow{name: t.Sentence("cell.not_measured", nil), from: text.Absent, patterns: t.NotMeasured})
	}
	if len(t.Failures) > 0 {
		rows = append(rows, runRow{t.Sentence("cell.failed_trials", nil), text.Absent, len(t.Failures), failedPatterns(t.Failures)})
	}
	out := outline.NewTable(len(rows))
	out.AddText(t.named("column.run", outline.Column{Head: true}), func(i int) string { return rows[i].name })
	if slices.ContainsFunc(rows, func(r runRow) bool { return r.from != text.Absent }) {
		out.AddText(t.named("column.run_from", outline.Column{Drop: 2}), func(i int) string { return rows[i].from })
	}
	out.Add(t.named("column.run_trials", outline.Column{Number: true, Drop: 1}), func(i int) outline.Cell {
		if rows[i].trials == 0 {
			return outline.Cell{Text: text.Absent}
		}
		return countCell(rows[i].trials)
	})
	out.AddText(t.named("column.run_patterns", outline.Column{}), func(i int) string {
		all := rows[i].patterns
		some := t.callEach(all[:min(len(all), mostRunPatterns)])
		return t.Sentence("cell.run_patterns", text.Args{"Patterns": some, "All": len(all), "More": len(all) - len(some)})
	})
	return out
}

// runHeading says what the table of runs has, and how many runs it leaves out.
func (t testView) runHeading() string {
	return t.Sentence("runs.heading", text.Args{"Cut": len(t.Runs) > mostRuns, "Most": mostRuns, "More": len(t.Runs) - mostRuns})
}

// runName is a run as its table names it.
func (t testView) runName(r RunPatterns) string {
	return t.Sentence("cell.run", text.Args{"Run": r.Run, "Session": r.Session, "Unnamed": r.Run == 0 && len(t.Ingested) > 0})
}
