package ingest

import (
	"slices"
	"strings"

	"soku/internal/measure"
	"soku/internal/measure/finding"
)

// isTestConnection reports whether a text has a table of Test-Connection.
func isTestConnection(text string) bool {
	for line := range strings.Lines(text[:min(len(text), sniffBytes)]) {
		if isConnectionTable(strings.Fields(line)) {
			return true
		}
	}
	return false
}

// isConnectionTable reports whether words are the header of a table of PowerShell 5.1 or 7.
func isConnectionTable(words []string) bool {
	return len(words) > 5 && (words[0] == "Source" && words[1] == "Destination" && words[len(words)-1] == "Time(ms)" ||
		words[0] == "Ping" && words[1] == "Source" && words[len(words)-1] == "Status")
}

// testConnection reads the tables of PowerShell's Test-Connection, 5.1 and 7: a result for each target of a
// table. Times are whole milliseconds, of which 0 stands for anything below 1.
func (s *Source) testConnection() ([]*measure.Result, error) {
	t := &connectionTables{s: s}
	if err := s.each(t.line); err != nil {
		return nil, err
	}
	several := slices.ContainsFunc(t.runs, func(c *connectionTest) bool { return c.target != t.runs[0].target })
	var out []*measure.Result
	for _, run := range t.runs {
		r := run.result(len(out) + 1)
		if several { // targets are patterns, not repeats of one
			r.Trial = &measure.Trial{Label: labelOf(r), Levels: []measure.Level{{Factor: "target", Value: run.target}}}
		}
		out = append(out, r)
	}
	if len(out) > 0 && s.openEnd() {
		out[len(out)-1].Findings.Add(finding.LastLineOpen, "", nil)
	}
	return out, nil
}

type connectionTables struct {
	s    *Source
	runs []*connectionTest
	open []*connectionTest // those of the table
	to   string            // the target of the table of PowerShell 7
	both bool              // it is one of PowerShell 7
}

// connectionTest is the rows of one target.
type connectionTest struct {
	target, from string
	line         int
	sent, got    int64
	size         int64
	most         float64 // ms
	times        *measure.Histogram
	below        bool // a time is below 1 ms
}

// line reads a header, a row "CLIENT1 10.9.0.4 10.9.0.4 32 2" of 5.1 or "1 client1 10.9.0.4 2 32 Success" of 7,
// and the error of 5.1 for a request without a reply.
func (t *connectionTables) line(at int, line string) error {
	words := strings.Fields(line)
	if to, ok := strings.CutPrefix(strings.TrimSpace(line), "Destination: "); ok {
		t.to, t.open = short(to), nil
		return nil
	}
	if _, rest, ok := strings.Cut(line, "Testing connection to computer '"); ok {
		target, _, ended := strings.Cut(rest, "'")
		if !ended {
			return nil
		}
		run, err := t.of(at, short(target))
		if err == nil {
			run.sent++
		}
		return err
	}
	switch n := len(words); {
	case isConnectionTable(words):
		if t.both = words[0] == "Ping"; !t.both {
			t.open = nil
		}
		return nil
	case n < 4 || t.both && !startsWithDigit(words[0]):
		return nil
	case t.both && words[n-1] != "Success":
		if startsWithDigit(words[n-1]) || t.to == "" {
			return nil
		}
		run, err := t.of(at, t.to)
		if err == nil {
			run.sent, run.from = run.sent+1, short(words[1])
		}
		return err
	case t.both:
		return t.reply(at, t.to, words[1], words[n-3], words[n-2])
	}
	return t.reply(at, words[1], words[0], words[len(words)-1], words[len(words)-2])
}

// reply takes a row with a time. Rows of other texts have no numbers there.
func (t *connectionTables) reply(at int, target, from, time, size string) error {
	ms, ok := count(time)
	bytes, ok2 := count(size)
	if !ok || !ok2 || target == "" || ms > 1e9 || bytes > 65535 {
		return nil
	}
	run, err := t.of(at, short(target))
	if err != nil {
		return err
	}
	run.sent, run.got, run.from, run.size = run.sent+1, run.got+1, short(from), bytes
	run.below, run.most = run.below || ms == 0, max(run.most, float64(ms))
	if run.times == nil {
		run.times = measure.NewHistogram()
	}
	run.times.Record(max(ms*1e6, 1))
	return nil
}

// of is the rows of a target in the table.
func (t *connectionTables) of(at int, target string) (*connectionTest, error) {
	if i := slices.IndexFunc(t.open, func(c *connectionTest) bool { return c.target == target }); i >= 0 {
		return t.open[i], nil
	}
	if len(t.runs) == maxTimed {
		return nil, t.s.fail(at, "ingest.too_many.timed_runs", measure.Figures{"tool": "Test-Connection", "limit": maxTimed})
	}
	run := &connectionTest{target: target, line: at}
	t.open, t.runs = append(t.open, run), append(t.runs, run)
	return run, nil
}

func (c *connectionTest) result(record int) *measure.Result {
	r := newReading(measure.TestPing, "Test-Connection", "", record, c.line)
	r.Path.Server = measure.Endpoint{Name: c.target, Address: c.target}
	r.Path.Client.Name, r.Options.Size = c.from, measure.Size(c.size)
	missing(r, finding.NoOptions, finding.NoHostFacts, finding.NoBaseline, finding.NoIntervals)
	r.Latency = &measure.Latency{Timing: &measure.Timing{Tool: "Test-Connection"}, Sent: c.sent, Received: c.got, Lost: c.sent - c.got}
	setLoss(&r.Summary, c.sent, c.sent-c.got)
	warn(r, finding.WholeMilliseconds)
	switch {
	case c.got > 0 && !c.below:
		r.Latency.Histogram = c.times
		r.Summary.RTT = c.times.Percentiles()
	case c.got > 0:
		missing(r, finding.NoHistogram, finding.NoPercentiles)
		r.Summary.ReportedRTT = &measure.RTTFigures{Count: c.got}
		if c.most > 0 {
			r.Summary.ReportedRTT.Max = nsOf(c.most)
		}
	}
	return r
}
