package cli

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"soku/internal/measure"
	"soku/internal/printable"
	"soku/internal/text"
)

// mostIngestedLines is how many results have a line of their own without --verbose.
const mostIngestedLines = 20

// printIngest writes what was ingested for a person: a line for each of the first results, or of
// all, and once what is missing in some of them. columns is 0 if w is no terminal.
func printIngest(c *text.Catalogue, w io.Writer, columns int, all bool, out *ingestReport) {
	results := 0
	rows := [][]string{append(c.Headings("head.file", "head.line", "head.from", "head.test", "head.pattern", "head.round", "head.figure"), "")}
	var missing measure.Findings
	for _, file := range out.Files {
		for _, r := range file.Results {
			for _, f := range r.Missing {
				missing.AddOnce(f)
			}
			if results++; results > mostIngestedLines && !all {
				continue
			}
			state := ""
			switch {
			case r.Known:
				state = c.Sentence("ingest.known", nil)
			case r.Replaced:
				state = c.Sentence("ingest.replaced", nil)
			case r.Other != "":
				state = c.Sentence("ingest.other", text.Args{"File": r.Other})
			}
			rows = append(rows, []string{file.File, fmt.Sprint(r.Line), cmp.Or(r.Tool, r.Format), r.Label, r.Pattern, fmt.Sprint(r.Round), c.SentenceOf(r.line), state})
		}
	}
	if len(rows) > 1 {
		makePrintable(rows)
		fitIngested(rows, columns)
		PrintTable(w, rows)
		if shown := len(rows) - 1; shown < results {
			fmt.Fprintln(w, c.Sentence("ingest.more", text.Args{"Shown": shown, "All": results}))
		}
		lines := []string{printable.Line(c.Sentence("ingest.missing.some", text.Args{"Missing": c.Findings(missing)}))}
		if columns > 0 {
			lines = broken(lines[0], columns)
		}
		fmt.Fprintln(w, strings.Join(lines, "\n"))
	}
	fmt.Fprintln(w, c.Sentence("ingest.done", text.Args{"New": out.New + out.Replaced, "Known": out.Known, "Campaign": out.Campaign, "DryRun": out.DryRun, "Replaced": out.Replaced}))
	if out.Other > 0 {
		fmt.Fprintln(w, c.Sentence("ingest.other_levels", text.Args{"Results": out.Other}))
	}
	if out.Foreign > 0 {
		var names []string
		for _, file := range out.Files {
			if file.Foreign {
				names = append(names, file.File)
			}
		}
		fmt.Fprintln(w, printable.Line(c.Sentence("ingest.foreign", text.Args{"Count": out.Foreign, "Files": firstOf(names)})))
	}
	if out.New+out.Replaced > 0 && !out.DryRun {
		fmt.Fprintln(w, c.Sentence("ingest.report", text.Args{"Campaign": out.Name}))
	}
}

// The columns of the table of ingested results that may be cut or left out.
const (
	ingestedFile    = 0
	ingestedTool    = 2
	ingestedLabel   = 3
	ingestedPattern = 4
	ingestedRound   = 5
	ingestedFigure  = 6
	ingestedState   = 7
)

// fitIngested makes the rows as wide as the terminal allows, or leaves them whole for a width of
// 0. Cells are printable. What says least goes first; of a path the end stays, which tells files apart.
func fitIngested(rows [][]string, width int) {
	onePattern := !slices.ContainsFunc(rows[1:], func(row []string) bool { return row[ingestedPattern] != rows[1][ingestedPattern] })
	for _, step := range []func(){
		func() {
			for _, row := range rows {
				row[ingestedFigure], _, _ = strings.Cut(row[ingestedFigure], " (")
			}
		},
		func() { cutPaths(rows, width, 22) },
		func() {
			if onePattern {
				leaveOut(rows, ingestedPattern)
			}
		},
		func() { leaveOut(rows, ingestedTool) },
		func() { shrink(rows, width, ingestedState) },
		func() { leaveOut(rows, ingestedRound) },
		func() { shrink(rows, width, ingestedLabel, ingestedPattern) },
		func() { cutPaths(rows, width, leastCell) },
		func() { shrink(rows, width, ingestedFigure) },
	} {
		if width <= 0 || tableWidth(rows) <= width {
			return
		}
		step()
	}
}

// cutPaths cuts the beginnings of paths until the table has width columns, least at least for a path.
func cutPaths(rows [][]string, width, least int) {
	to := max(least, text.ColumnWidths(rows)[ingestedFile]-max(0, tableWidth(rows)-width))
	for _, row := range rows {
		if over := terminal.StringWidth(row[ingestedFile]) - to; over > 0 {
			row[ingestedFile] = terminal.TruncateLeft(row[ingestedFile], over+1, "…")
		}
	}
}
