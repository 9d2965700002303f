package ingest

import (
	"cmp"
	"errors"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"soku/internal/measure"
	"soku/internal/measure/finding"
)

// iperf2CSV reads the output of iperf 2 with -y C. It does not name the end that wrote it: the
// first address of a line is that end's own. The server's report of a UDP test, at a client of iperf 2.0, has
// the addresses the other way round.
func iperf2CSV(s *Source) ([]*measure.Result, error) {
	if _, err := s.lines(); err != nil {
		return nil, err
	}
	rows, err := s.rows()
	if err != nil {
		return nil, err
	}
	rows.FieldsPerRecord, rows.ReuseRecord = -1, true
	var out []*measure.Result
	var test *iperf2Test
	ports := map[string]string{}
	reports := map[string]iperf2Row{}
	failure := "" // on standard error, before the lines of its test, if it has any
	failed := func(t *iperf2Test) error {
		if len(out) == maxRecords {
			return s.fail(t.line, "ingest.too_many.tests", measure.Figures{"limit": maxRecords})
		}
		t.exact, t.failure, failure = true, cmp.Or(t.failure, failure), ""
		out = append(out, t.failed(false, len(out)+1))
		return nil
	}
	end := func() error {
		if test == nil {
			return nil
		}
		if t := test; t.failure != "" || failure != "" && t.brief() {
			test = nil
			clear(ports)
			clear(reports)
			return failed(t)
		}
		if failure != "" {
			if err := failed(newIperf2Test(test.line)); err != nil {
				return err
			}
		}
		if len(out) == maxRecords {
			return s.fail(test.line, "ingest.too_many.tests", measure.Figures{"limit": maxRecords})
		}
		test.udp = test.udp || len(reports) > 0
		maps.Copy(test.reports, reports)
		r, err := test.result(s, false, len(out)+1)
		if err != nil {
			return err
		}
		if len(test.reports) == 0 {
			r.Origin.Missing = slices.DeleteFunc(r.Origin.Missing, func(f measure.Finding) bool {
				return f.Code == finding.GoodputOfSender || f.Code == finding.IntervalsOfSender
			})
			missing(r, finding.CounterUnknown)
		}
		out, test = append(out, r), nil
		clear(ports)
		clear(reports)
		return nil
	}
	for {
		cells, line, err := s.nextRow(rows)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		if text := iperf2FailureIn(cells[0]); text != "" {
			if test != nil && !test.hasTotals() {
				test.failure = strings.Clone(text)
				continue
			}
			if err := end(); err != nil {
				return nil, err
			}
			failure = cmp.Or(failure, strings.Clone(text))
			continue
		}
		if len(cells) == 1 && strings.Contains(cells[0], " failed: ") {
			continue // such as shutdown
		}
		if len(cells) != 9 && len(cells) != 14 {
			return nil, s.fail(line, "ingest.iperf2.columns", measure.Figures{"columns": len(cells)})
		}
		id := cells[5]
		if id == "-1" {
			continue // the sum of the others
		}
		row, ok := iperf2Cells(cells)
		if !ok {
			return nil, s.fail(line, "ingest.iperf2.cell", nil)
		}
		if row.absent {
			s.noteImpossible(line)
		}
		port, known := ports[id]
		if known && len(cells) == 14 && !test.udp && (port == cells[4]+">"+cells[2] || port == cells[2]+">"+cells[4]) {
			reports[id] = row // of the server; a client of iperf 2.0 writes its own lines without datagrams
			continue
		}
		if _, reported := reports[id]; known && (reported || port != cells[2]+">"+cells[4]) ||
			failure != "" && test != nil && test.brief() && row.to > briefTime {
			if err := end(); err != nil {
				return nil, err
			}
		}
		if test == nil {
			test = newIperf2Test(line)
			test.udp, test.exact, test.near, test.far = len(cells) == 14, true, strings.Clone(cells[1]), strings.Clone(cells[3])
			test.startedAt = iperf2Time(cells[0])
		}
		if _, known := ports[id]; !known {
			if len(test.ids) >= maxStreams {
				return nil, s.fail(line, "ingest.too_many.streams", measure.Figures{"limit": maxStreams})
			}
			id = strings.Clone(id)
			ports[id] = cells[2] + ">" + cells[4]
			test.connect(id)
		}
		test.put(id, row)
	}
	if err := end(); err != nil {
		return nil, err
	}
	if failure != "" {
		return out, failed(newIperf2Test(s.lastLine()))
	}
	return out, nil
}

// iperf2Cells reads interval, bytes, bit/s, and of datagrams jitter in ms, lost
// and total, each if it can be; a client that got no report from its server writes a total of -1.
func iperf2Cells(cells []string) (row iperf2Row, ok bool) {
	if row.iperfFigures, ok = readIperfFigures(cells[6], cells[7], cells[8], 1, 1); !ok {
		return row, false
	}
	if len(cells) == 14 {
		row.lost, row.total, row.datagrams = iperfLosses(cells[10], cells[11])
		if v, ok := number(cells[9]); ok {
			row.jitter = &v
		}
		row.absent = row.jitter == nil || !row.datagrams && cells[11] != "-1"
	}
	return row, true
}

// iperf2Time is the time of a line, in an unnamed time zone, taken as UTC. Some versions write
// 1970 for the last line.
func iperf2Time(text string) time.Time {
	text, _, _ = strings.Cut(text, ".")
	if t, err := time.Parse("20060102150405", text); err == nil && t.Year() > 1970 {
		return t
	}
	return time.Time{}
}
