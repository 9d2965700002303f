package ingest

import (
	"encoding/csv"
	"errors"
	"io"
	"slices"
	"strings"
	"time"

	"soku/internal/engine/latency"
	"soku/internal/measure"
	"soku/internal/measure/finding"
	"soku/internal/measure/option"
)

// Read reads a table in CSV whose first line names the columns, and makes the mapping's
// results from each row. Factors of the mapping are in the results' trials. An error has kind
// file and begins with the file and a line.
func (m *Mapping) Read(s *Source) ([]*measure.Result, error) {
	if len(m.Results) == 0 {
		return nil, m.fail("", "ingest.mapping.nothing", nil)
	}
	rows, err := s.rows()
	if err != nil {
		return nil, err
	}
	header, err := rows.Read()
	if err != nil {
		return nil, csvError(s, err)
	}
	for i := range header {
		header[i] = strings.TrimSpace(header[i])
	}
	if err := m.checkColumns(s, header); err != nil {
		return nil, err
	}
	var out []*measure.Result
	for {
		cells, line, err := s.nextRow(rows)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		row := map[string]string{}
		for i, name := range header {
			row[name] = strings.TrimSpace(cells[i])
		}
		for i := range m.Results {
			made, err := m.row(s, &m.Results[i], row, line, len(out)+1)
			if err != nil {
				return nil, err
			}
			if out = append(out, made...); len(out) > maxRecords {
				return nil, s.fail(line, "ingest.too_many.results", measure.Figures{"limit": maxRecords})
			}
		}
	}
	if len(out) == 0 {
		return nil, s.fail(1, "ingest.table.nothing", nil)
	}
	return out, nil
}

// rows reads the file as CSV. How many cells a row has is bounded first: the reader keeps all
// of a row, which may go over many lines.
func (s *Source) rows() (*csv.Reader, error) {
	cells, quoted, line := 0, false, 1
	for i := range len(s.text) {
		switch c := s.text[i]; {
		case c == '\n':
			if line++; !quoted {
				cells = 0
			}
		case c == '"':
			quoted = !quoted
		case c == ',' && !quoted:
			if cells++; cells == maxColumns {
				return nil, s.fail(line, "ingest.too_many.columns", measure.Figures{"limit": maxColumns})
			}
		}
	}
	return csv.NewReader(strings.NewReader(s.text)), nil
}

// nextRow is the next row of a table and its line; the error is io.EOF at the end.
func (s *Source) nextRow(rows *csv.Reader) (cells []string, line int, err error) {
	cells, err = rows.Read()
	if errors.Is(err, io.EOF) {
		return nil, 0, io.EOF
	}
	if err != nil {
		return nil, 0, csvError(s, err)
	}
	line, _ = rows.FieldPos(0)
	return cells, line, nil
}

func csvError(s *Source, err error) error {
	var parse *csv.ParseError
	switch {
	case errors.Is(err, io.EOF):
		return s.fail(1, "ingest.table.empty", nil)
	case errors.As(err, &parse) && errors.Is(parse.Err, csv.ErrFieldCount):
		return s.fail(parse.Line, "ingest.table.cells", nil)
	case errors.As(err, &parse):
		return s.fail(parse.Line, "ingest.syntax.csv", measure.Figures{"text": short(parse.Err.Error())})
	}
	return s.fail(1, "ingest.syntax.csv", measure.Figures{"text": short(err.Error())})
}

// checkColumns checks that the table has every column that the mapping names.
func (m *Mapping) checkColumns(s *Source, header []string) error {
	need := func(cells ...Cell) error {
		for _, c := range cells {
			for _, name := range []string{c.Column, c.Low, c.High} {
				if name != "" && !slices.Contains(header, name) {
					return s.fail(1, "ingest.table.column", measure.Figures{"column": name, "mapping": m.file.Name(), "columns": firstNames(header)})
				}
			}
		}
		return nil
	}
	err := need(append(slices.Clone(m.Factors), m.Round, m.Repeat, m.Session)...)
	for _, r := range m.Results {
		for _, cells := range []Cells{r.Factors, r.Options, r.Figures, r.Limits, {r.Client, r.Server}} {
			if err == nil {
				err = need(cells...)
			}
		}
	}
	return err
}

// firstNames are the first columns of a table, as many as fit into a message.
func firstNames(columns []string) (names []string) {
	length := 0
	for _, name := range columns {
		name = short(name)
		if length += len(name); length > maxText && len(names) > 0 {
			break
		}
		names = append(names, name)
	}
	return names
}

func (c Cell) text(row map[string]string) string {
	if c.Column != "" {
		return row[c.Column]
	}
	return c.Value
}

// row makes a result from a row, two if a figure is a range, none if the figures' cells are
// empty.
func (m *Mapping) row(s *Source, want *Mapped, row map[string]string, line, record int) ([]*measure.Result, error) {
	parts := []string{""}
	for _, c := range want.Figures {
		if c.isRange() {
			parts = []string{"low", "high"}
		}
	}
	var out []*measure.Result
	for _, part := range parts {
		r, err := m.one(s, want, row, line, record+len(out), part)
		if err != nil {
			return nil, err
		}
		if r != nil {
			out = append(out, r)
		}
	}
	return out, nil
}

func (m *Mapping) one(s *Source, want *Mapped, row map[string]string, line, record int, part string) (*measure.Result, error) {
	r := newReading(measure.Test(want.Test), m.Tool, m.Version, record, line)
	r.Origin.Format, r.Origin.Part, r.Origin.Source, r.Origin.Question = "csv", part, short(m.Source), short(m.Question)
	t := &tableRow{r: r}
	found := false
	for _, c := range want.Figures {
		text := c.text(row)
		switch {
		case part == "low" && c.isRange():
			text = row[c.Low]
		case c.isRange():
			text = row[c.High]
		}
		if text == "" {
			continue
		}
		f, _ := figureOf(c.Name)
		u, _ := f.unit(c.Unit)
		v, ok := f.read(text, u)
		if !ok {
			return nil, s.fail(line, "ingest.table.figure", measure.Figures{"figure": c.Name, "text": short(text), "unit": c.Unit})
		}
		f.put(t, v)
		found = found || f.main
	}
	if !found {
		return nil, nil
	}
	if err := t.finish(s, line); err != nil {
		return nil, err
	}
	r.StartedAt, _ = m.started()
	r.Path.Client.Name, r.Path.Server.Name = short(want.Client.text(row)), short(want.Server.text(row))
	if err := setOptions(s, line, r, want.Options, row); err != nil {
		return nil, err
	}
	r.Trial = &measure.Trial{Label: want.Label, Levels: []measure.Level{}}
	for _, c := range slices.Concat(m.Factors, want.Factors) {
		if text := c.text(row); text != "" {
			r.Trial.Levels = append(r.Trial.Levels, measure.Level{Factor: c.Name, Value: short(text)})
		}
	}
	if err := m.setLimits(s, line, r, want.Limits, row); err != nil {
		return nil, err
	}
	if err := m.setRound(s, line, r, row); err != nil {
		return nil, err
	}
	if part != "" {
		missing(r, finding.OnlyRange)
	}
	m.noteMissing(r)
	return r, nil
}

// finish puts the figures into the members of the test's result.
func (t *tableRow) finish(s *Source, line int) error {
	r := t.r
	missing(r, finding.NoIntervals, finding.NoOptions, finding.NoHostFacts)
	switch r.Test {
	case measure.TestTCP, measure.TestUDP:
		f := emptyFlow(measure.Forward)
		f.Summary = t.flow
		r.Options.Direction = measure.Forward
		if t.bytes > 0 {
			f.Summary.ReceivedBytes, r.Options.Bytes = int64(t.bytes), measure.Size(t.bytes)
		}
		if f.Summary.GoodputBps == 0 && t.bytes > 0 {
			if t.flow.DurationNs <= 0 {
				return s.fail(line, "ingest.table.no_duration", nil)
			}
			f.Summary.GoodputBps = t.bytes * 8e9 / float64(t.flow.DurationNs)
			missing(r, finding.GoodputComputed)
		}
		missing(r, finding.CounterUnknown)
		if r.Test == measure.TestTCP && t.flow.Retransmits == nil {
			missing(r, finding.NoRetransmits)
		}
		if r.Test == measure.TestUDP && t.flow.LossRatio == nil {
			missing(r, finding.NoLoss)
		}
		setFlows(r, f)
		r.Summary.Retransmits = t.flow.Retransmits
		return nil
	case measure.TestLatency:
		r.Options.Own = latency.Options{Protocol: "tcp"}
	}
	r.Summary = t.flow
	if t.rtt != (measure.RTTFigures{}) {
		r.Summary.ReportedRTT = &t.rtt
		if t.rtt.P50 == nil {
			missing(r, finding.NoPercentiles)
		}
	}
	if r.Test == measure.TestConnect {
		r.Connect = &measure.Connect{OpenedPerSecond: t.flow.ConnectionsPerSecond, DurationNs: int64(t.flow.DurationNs)}
	}
	if t.flow.LossRatio == nil {
		missing(r, finding.NoLoss)
	}
	missing(r, finding.NoHistogram, finding.NoBaseline)
	return nil
}

func optionField(test measure.Test, key string) (option.Field, bool) {
	f, ok := option.Of(key)
	return f, ok && f.AppliesTo(test)
}

// setOptions gives a result the options that the mapping names; empty cells are unknown
// options.
func setOptions(s *Source, line int, r *measure.Result, cells Cells, row map[string]string) error {
	for _, c := range cells {
		text := c.text(row)
		f, ok := optionField(r.Test, c.Name)
		if text == "" || !ok {
			continue
		}
		if f.Edit(&r.Options, func(p any) error { return setOption(p, f, text) }) != nil {
			return s.fail(line, "ingest.table.option", measure.Figures{"option": c.Name, "text": short(text)})
		}
		if c.Name == "direction" {
			r.Path.Direction = r.Options.Direction
			for i := range r.Flows {
				r.Flows[i].Direction = r.Options.Direction
			}
		}
	}
	return nil
}

var errNoFit = errors.New("the value does not fit")

// setOption writes the text of a cell into the option that p points to.
func setOption(p any, f option.Field, text string) error {
	if len(f.Enum) > 0 && !slices.Contains(f.Enum, text) {
		return errNoFit
	}
	ok := true
	switch p := p.(type) {
	case interface{ Set(string) error }:
		return p.Set(text)
	case *measure.Direction:
		*p = measure.Direction(text)
	case *string:
		*p = short(text)
	case *int:
		var n int64
		n, ok = count(text)
		*p = int(n)
	case *int64:
		*p, ok = count(text)
	case *float64:
		*p, ok = number(text)
	default:
		ok = false
	}
	if !ok {
		return errNoFit
	}
	return nil
}

// started is the time in the mapping, zero for none.
func (m *Mapping) started() (time.Time, error) {
	if m.Started == "" {
		return time.Time{}, nil
	}
	for _, layout := range []string{time.DateOnly, time.RFC3339, "2006"} {
		if t, err := time.Parse(layout, m.Started); err == nil && t.Year() >= 1970 && t.Year() < 2200 {
			return t.UTC(), nil
		}
	}
	return time.Time{}, m.fail("started", "ingest.mapping.started", measure.Figures{"text": short(m.Started)})
}
