package report

import (
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"soku/internal/measure/metric"
	"soku/internal/printable"
)

// CSV writes one row a test and pattern (RFC 4180, UTF-8), figures in the unit that the column's
// name ends with: rates and times in base units, and after these in Mbit/s and ms. Factors are
// columns named factor_NAME. A cell is empty where the test does not measure the figure; after
// those that name the pattern, columns of empty cells are left out.
func (r *Report) CSV(w io.Writer) error {
	return r.writeCSV(w, rowFields(), true, func(l line, write func(line)) { write(l) })
}

// TrialsCSV writes one row a trial and figure (RFC 4180, UTF-8), tests and patterns in the
// order of the report and trials in that of round and repeat. A trial that failed, or has no
// figure, has one row without a figure. Figures are in the unit of their row.
func (r *Report) TrialsCSV(w io.Writer) error {
	return r.writeCSV(w, trialFields(), false, func(l line, write func(line)) {
		for _, l.trial = range l.row.results {
			found := false
			for _, family := range metric.Of(l.trial.Test).Families {
				for _, m := range family.Metrics {
					if v, known := m.Value(l.trial); known && finite(v) != nil && l.trial.Error == nil {
						found, l.metric, l.figure = true, m, v
						write(l)
					}
				}
			}
			if l.metric = nil; !found {
				write(l)
			}
		}
	})
}

// writeCSV writes the columns of the fields, after those that name the pattern. split calls its
// argument for each line that a row of the report becomes. With filled, columns without a value
// are left out.
func (r *Report) writeCSV(w io.Writer, fields []field, filled bool, split func(line, func(line))) error {
	fields = slices.DeleteFunc(fields, func(f field) bool { return f.column == "" })
	if filled {
		fields = slices.DeleteFunc(fields, func(f field) bool { return r.empty(f, split) })
	}
	fields = append(patternFields(r.factors()), fields...)
	out := csv.NewWriter(w)
	cells := make([]string, len(fields))
	for i, f := range fields {
		cells[i] = f.column
	}
	_ = out.Write(cells) // as below, the error is that of out.Error
	r.lines(split, func(l line) {
		for i, f := range fields {
			cells[i] = cellOf(f.value(l))
		}
		_ = out.Write(cells)
	})
	out.Flush()
	return out.Error()
}

// empty reports whether no line has a value of a field.
func (r *Report) empty(f field, split func(line, func(line))) bool {
	found := false
	r.lines(split, func(l line) { found = found || cellOf(f.value(l)) != "" })
	return !found
}

// lines calls write for each line that split makes of the rows.
func (r *Report) lines(split func(line, func(line)), write func(line)) {
	for i := range r.Tests {
		t := &r.Tests[i]
		rows := slices.Concat(t.Rows, t.ControlRows)
		for j := range rows {
			split(line{report: r, test: t, row: &rows[j]}, write)
		}
	}
}

// cellOf writes the value of a field; an absent one as an empty cell.
func cellOf(value any) string {
	switch v := value.(type) {
	case string:
		return csvText(v)
	case float64:
		return exact(v)
	case *float64:
		if v != nil {
			return exact(*v)
		}
		return ""
	case *int:
		return strconv.Itoa(*v)
	case *rank:
		return cellOf(*v)
	case rank:
		if v == 0 {
			return ""
		}
	case nil:
		return ""
	}
	return fmt.Sprint(value)
}

// factors are the factors of all tests, each in the position of the first test that has it.
func (r *Report) factors() []string {
	var out []string
	for _, t := range r.Tests {
		for _, f := range t.Factors {
			out = addOnce(out, f)
		}
	}
	return out
}

// csvText guards a text from outside: a spreadsheet takes a cell that begins
// with one of these, some also in full width, for a formula. Numbers stay as they are.
func csvText(s string) string {
	s = printable.Words(s)
	if first, _ := utf8.DecodeRuneInString(s); s == "" || !strings.ContainsRune("=+-@＝＋－＠", first) {
		return s
	}
	if _, err := strconv.ParseFloat(s, 64); err == nil {
		return s
	}
	return "'" + s
}

// exact writes a figure with ten digits, more than any of them means, and
// without an exponent.
func exact(v float64) string {
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 10, 64), 64)
	if err != nil {
		rounded = v
	}
	return strconv.FormatFloat(rounded, 'f', -1, 64)
}
