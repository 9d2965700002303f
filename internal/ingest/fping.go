package ingest

import (
	"strconv"
	"strings"
	"time"

	"soku/internal/measure"
	"soku/internal/measure/finding"
)

// fping reads the output of fping -c, -C, -l and -Q, with or without -q, -D and -s. Each target is
// a result. fping prints times with three digits.
func fping(s *Source) ([]*measure.Result, error) {
	f := &fpingFile{s: s, open: map[string]*fpingRun{}}
	if err := s.each(f.line); err != nil {
		return nil, err
	}
	if len(f.runs) > 0 && !f.summed {
		return nil, s.fail(s.lastLine(), "ingest.fping.no_counts", nil)
	}
	var out []*measure.Result
	for _, run := range f.runs {
		r, err := run.result(s, len(out)+1)
		if err != nil {
			return nil, err
		}
		if len(f.open) > 1 { // targets are patterns, not repeats of one
			r.Trial = &measure.Trial{Label: labelOf(r), Levels: []measure.Level{{Factor: "target", Value: run.target}}}
		}
		out = append(out, r)
	}
	return out, nil
}

type fpingFile struct {
	s      *Source
	runs   []*fpingRun
	open   map[string]*fpingRun // by target
	timed  int                  // runs with a histogram
	summed bool                 // there are counts, or a line of -C

	intervals int // of -Q, each with a time of day before its lines
	ended     int // those of runs that have their total
}

// fpingRun is one target while its lines are read.
type fpingRun struct {
	target    string
	line      int
	startedAt time.Time
	interval  int // the last one of which there are counts
	times     *measure.Histogram
	replies   int64 // with times
	counted   bool  // the line of counts was read
	series    bool  // the line of -C was read
	sent, got int64
	dup       int64
	least     float64 // ms
	mean      float64
	most      float64
}

// line reads "HOST : [0], 64 bytes, 0.038 ms (0.038 avg, 0% loss)", "HOST : xmt/rcv/%loss = 3/3/0%,
// min/avg/max = 0.038/0.041/0.045" and, of -C, "HOST : 0.018 - 0.042". -D puts the time before. With -Q
// there are counts of each interval, after a line "[10:42:31]", and last those of the whole time.
func (f *fpingFile) line(at int, line string) error {
	if len(line) == len("[10:42:31]") && line[0] == '[' && line[9] == ']' {
		f.intervals++
		return nil
	}
	started := time.Time{}
	if rest, ok := strings.CutPrefix(line, "["); ok {
		if stamp, after, found := strings.Cut(rest, "] "); found {
			started, line = fpingTime(stamp), after
		}
	}
	target, rest, ok := strings.Cut(line, " : ")
	target, rest = short(target), strings.TrimSpace(rest)
	if !ok || target == "" || rest == "" {
		return nil
	}
	counts, isCounts := strings.CutPrefix(rest, "xmt/rcv/%loss = ")
	isReply := strings.HasPrefix(rest, "[") || strings.HasPrefix(rest, "duplicate for [")
	times := fpingSeries(rest)
	if !isCounts && !isReply && times == nil {
		return nil
	}
	run, err := f.runOf(target, at, started)
	f.summed = f.summed || !isReply
	switch {
	case err != nil:
		return err
	case isCounts && run.interval < f.intervals:
		run.interval = f.intervals
		return nil
	case isCounts:
		f.ended = f.intervals
		return run.counts(f.s, at, counts)
	case isReply:
		return f.reply(run, at, rest)
	}
	return f.series(run, at, times)
}

// runOf is the run that a line of a target belongs to: a new one if the last one has its total.
func (f *fpingFile) runOf(target string, at int, started time.Time) (*fpingRun, error) {
	run := f.open[target]
	if run != nil && !run.series && !run.counted {
		return run, nil
	}
	if len(f.runs) == maxRecords {
		return nil, f.s.fail(at, "ingest.too_many.runs", measure.Figures{"tool": "fping", "limit": maxRecords})
	}
	run = &fpingRun{target: target, line: at, startedAt: started, interval: f.ended}
	f.open[target], f.runs = run, append(f.runs, run)
	return run, nil
}

// series takes the line of -C.
func (f *fpingFile) series(run *fpingRun, at int, times []float64) error {
	run.series, f.ended = true, f.intervals
	run.sent, run.got, run.replies, run.times = int64(len(times)), 0, 0, nil // those of its single lines are the same
	for _, ms := range times {
		if ms >= 0 {
			run.got++
			if err := f.time(run, at, ms); err != nil {
				return err
			}
		}
	}
	return nil
}

// fpingSeries reads the times of -C in ms, with -1 for a packet without a reply. It returns nil for
// any other line.
func fpingSeries(text string) []float64 {
	var out []float64
	for _, word := range strings.Fields(text) {
		v, ok := numberOf(word)
		switch {
		case word == "-":
			v = -1
		case !ok:
			return nil
		}
		out = append(out, v)
	}
	return out
}

func fpingTime(stamp string) time.Time {
	if v, err := strconv.ParseFloat(stamp, 64); err == nil && v > 1e6 && v < 1e11 {
		return time.UnixMicro(int64(v * 1e6)).UTC()
	}
	return time.Time{}
}

func (f *fpingFile) reply(run *fpingRun, at int, text string) error {
	if strings.HasPrefix(text, "duplicate for ") {
		run.dup++
		return nil
	}
	before, _, found := strings.Cut(text, " ms (")
	if !found {
		return nil // timed out
	}
	ms, ok := numberOf(before[strings.LastIndexByte(before, ' ')+1:])
	if !ok {
		return f.s.fail(at, "ingest.number.figure", measure.Figures{"tool": "fping", "text": short(before)})
	}
	return f.time(run, at, ms)
}

func (f *fpingFile) time(run *fpingRun, at int, ms float64) error {
	run.replies++
	if run.times == nil {
		if f.timed++; f.timed > maxTimed {
			return f.s.fail(at, "ingest.too_many.timed_runs", measure.Figures{"tool": "fping", "limit": maxTimed})
		}
		run.times = measure.NewHistogram()
	}
	run.times.Record(int64(max(ms*1e6, 1)))
	return nil
}

// counts reads "3/3/0%, min/avg/max = 0.038/0.041/0.045".
func (p *fpingRun) counts(s *Source, at int, text string) error {
	counts, times, _ := strings.Cut(text, ", ")
	parts := strings.Split(counts, "/")
	if len(parts) < 3 {
		return s.fail(at, "ingest.number.count", measure.Figures{"tool": "fping", "text": short(counts)})
	}
	sent, ok := count(parts[0])
	got, ok2 := count(parts[1])
	if !ok || !ok2 || got > sent || sent <= 0 {
		return s.fail(at, "ingest.counts", measure.Figures{"tool": "fping", "sent": sent, "received": got})
	}
	p.sent, p.got, p.counted = sent, got, true
	if got == 0 {
		return nil
	}
	times, _ = strings.CutPrefix(times, "min/avg/max = ")
	times, _, _ = strings.Cut(times, ",")
	figures := strings.Split(times, "/")
	if len(figures) != 3 {
		return s.fail(at, "ingest.ping.summary", measure.Figures{"text": short(times)})
	}
	for i, to := range []*float64{&p.least, &p.mean, &p.most} {
		v, ok := numberOf(figures[i])
		if !ok {
			return s.fail(at, "ingest.number.figure", measure.Figures{"tool": "fping", "text": short(figures[i])})
		}
		*to = v
	}
	return nil
}

func (p *fpingRun) result(s *Source, record int) (*measure.Result, error) {
	if !p.counted && !p.series {
		return nil, s.cutOff("ingest.cut_off.ping", measure.Figures{"begin": p.line})
	}
	r := newReading(measure.TestPing, "fping", "", record, p.line)
	r.StartedAt = p.startedAt
	name, address, both := strings.Cut(p.target, " (")
	r.Path.Server = measure.Endpoint{Name: name, Address: name}
	if both {
		r.Path.Server.Address = strings.TrimSuffix(address, ")")
	}
	missing(r, finding.RoundedFigures, finding.NoOptions, finding.NoHostFacts, finding.NoBaseline, finding.NoIntervals)
	lost := p.sent - p.got
	r.Latency = &measure.Latency{Timing: &measure.Timing{Tool: "fping"}, Sent: p.sent, Received: p.got, Lost: lost, Duplicated: p.dup}
	setLoss(&r.Summary, p.sent, lost)
	if p.counted && p.got > 0 {
		r.Summary.ReportedRTT = &measure.RTTFigures{Count: p.got, Min: nsOf(p.least), Mean: nsOf(p.mean), Max: nsOf(p.most)}
	}
	switch {
	case p.replies > 0 && p.replies == p.got:
		r.Latency.Histogram = p.times
		r.Summary.RTT = p.times.Percentiles()
	case p.got > 0:
		missing(r, finding.NoHistogram, finding.NoPercentiles)
	}
	return r, nil
}

// isFping reports whether a text is of fping: one of its lines has counts, or all have times.
func isFping(head string) bool {
	if strings.Contains(head, " : xmt/rcv/%loss = ") || strings.Contains(head, " avg, ") && strings.Contains(head, "% loss)") {
		return true
	}
	seen := 0
	for line := range strings.Lines(head) {
		_, times, ok := strings.Cut(line, " : ")
		if strings.TrimSpace(line) == "" || seen > 0 && !strings.HasSuffix(line, "\n") {
			continue
		}
		if seen++; !ok || fpingSeries(times) == nil {
			return false
		}
	}
	return seen > 0
}
