package ingest

import (
	"strings"
	"time"

	"soku/internal/measure"
)

// ethr reads the output of Ethr at the client and, without -ui, at the server, and the log of
// -o at either end.
func ethr(s *Source) ([]*measure.Result, error) {
	if strings.HasPrefix(strings.TrimSpace(s.text), "{") {
		return s.ethrLog()
	}
	return s.ethrText()
}

// ethrFile collects the runs of one file.
type ethrFile struct {
	s       *Source
	version string
	out     []*measure.Result
	run     *ethrRun
	target  string
	timed   int // runs with a histogram
}

// begin ends the previous run; the next one starts with its first figure.
func (f *ethrFile) begin(line int) error {
	if err := f.end(); err != nil {
		return err
	}
	f.run = &ethrRun{line: line, target: f.target}
	return nil
}

func (f *ethrFile) end() error {
	run := f.run
	f.run = nil
	if run == nil || run.empty() {
		return nil
	}
	if len(f.out) == maxRecords {
		return f.s.fail(run.line, "ingest.too_many.runs", measure.Figures{"tool": "Ethr", "limit": maxRecords})
	}
	if run.setups != nil {
		if f.timed++; f.timed > maxTimed {
			return f.s.fail(run.line, "ingest.too_many.timed_runs", measure.Figures{"tool": "Ethr", "limit": maxTimed})
		}
	}
	f.out = append(f.out, run.result(f.version, len(f.out)+1))
	return nil
}

func (f *ethrFile) results() ([]*measure.Result, error) {
	if err := f.end(); err != nil {
		return nil, err
	}
	if len(f.out) == 0 {
		return nil, f.s.fail(1, "ingest.ethr.nothing", nil)
	}
	return f.out, nil
}

func (s *Source) ethrText() ([]*measure.Result, error) {
	lines, err := s.wholeLines()
	if err != nil {
		return nil, err
	}
	f := &ethrFile{s: s}
	done := true
	for i, line := range lines {
		words := strings.Fields(line)
		switch {
		case strings.HasPrefix(line, "Ethr: ") && strings.Contains(line, "(Version: "):
			_, version, _ := strings.Cut(line, "(Version: ")
			f.version = strings.TrimSuffix(version, ")")
		case strings.HasPrefix(line, "Using destination: "):
			if !done {
				return nil, s.fail(i+1, "ingest.ethr.run_before", nil)
			}
			f.target, done = ethrTarget(line), false
			if err := f.begin(i + 1); err != nil {
				return nil, err
			}
		case strings.HasPrefix(line, "Ethr done"):
			done = true
			if f.run != nil && strings.Contains(line, "connection terminated") {
				f.run.broken = true
			}
		case strings.HasPrefix(line, "[RemoteAddress]"):
			if err := f.begin(i + 1); err != nil {
				return nil, err
			}
			f.run.server = true
		case f.run == nil:
		default:
			if err := f.run.text(s, i+1, line, words); err != nil {
				return nil, err
			}
		}
	}
	if !done {
		return nil, s.cutOff("ingest.cut_off.ethr", nil)
	}
	return f.results()
}

func ethrTarget(line string) string {
	target, _, _ := strings.Cut(strings.TrimPrefix(line, "Using destination: "), ",")
	return short(target)
}

// ethrEntry is a line of the log: a message or figures.
type ethrEntry struct {
	Time, Type, Message, RemoteAddr, Protocol             string
	BitsPerSecond, ConnectionsPerSecond, PacketsPerSecond string
	Avg, Min, P50, P90, P95, P99, P999, P9999, Max        string
}

func (s *Source) ethrLog() ([]*measure.Result, error) {
	docs, err := s.documents()
	if err != nil {
		return nil, err
	}
	f := &ethrFile{s: s}
	for _, d := range docs {
		var e ethrEntry
		if err := s.into(d, &e); err != nil {
			return nil, err
		}
		if e.Time == "" || e.Type == "" {
			return nil, s.fail(d.line, "ingest.ethr.entry", nil)
		}
		if strings.HasPrefix(e.Message, "Using destination: ") {
			f.target = ethrTarget(e.Message)
			if err := f.begin(d.line); err != nil {
				return nil, err
			}
			continue
		}
		at, _ := time.Parse(time.RFC3339, e.Time)
		if e.Type == "TestResult" || e.Type == "LatencyResult" {
			if f.run == nil || f.run.server && !f.run.goesOn(e, at) {
				if err := f.begin(d.line); err != nil {
					return nil, err
				}
				f.run.server = f.target == ""
			}
		}
		if f.run == nil {
			continue
		}
		if f.run.last = at; f.run.startedAt.IsZero() {
			f.run.startedAt = at.UTC()
		}
		if err := f.run.entry(s, d.line, e); err != nil {
			return nil, err
		}
	}
	return f.results()
}

// entry reads one line of the log. Ethr writes the nine figures of a latency row under the
// wrong names: the maximum under P50, and each other figure under the next name. If figures
// are in rising order only after they are moved back, they are moved back.
func (p *ethrRun) entry(s *Source, line int, e ethrEntry) error {
	switch e.Type {
	case "TestResult":
		return p.interval(s, line, e.Protocol, e.BitsPerSecond, e.ConnectionsPerSecond, e.PacketsPerSecond, e.RemoteAddr)
	case "LatencyResult":
		p.protocol, p.remote = e.Protocol, e.RemoteAddr
		row, ok := spans(e.Avg, e.Min, e.P50, e.P90, e.P95, e.P99, e.P999, e.P9999, e.Max)
		if !ok {
			return s.fail(line, "ingest.ethr.latency", nil)
		}
		if moved := append(append(row[:2:2], row[3:]...), row[2]); !rising(row[2:]) && rising(moved[2:]) {
			row = moved
			p.moved = true
		}
		return p.latency(s, line, row)
	case "INFO":
		if name, _ := ethrSetup(e.Message); name != "" || strings.Contains(e.Message, "Sent = ") {
			return p.text(s, line, e.Message, strings.Fields(e.Message))
		}
	}
	return nil
}

func rising(v []float64) bool {
	for i := 1; i < len(v); i++ {
		if v[i] < v[i-1] {
			return false
		}
	}
	return true
}

func spans(texts ...string) ([]float64, bool) {
	out := make([]float64, len(texts))
	for i, t := range texts {
		v, ok := span(t)
		if !ok {
			return nil, false
		}
		out[i] = v
	}
	return out, true
}

// figure reads a rate of Ethr, such as 17.8G; false if it is missing.
func ethrFigure(text string) (v float64, there, ok bool) {
	text = strings.TrimSpace(text)
	if text == "" || text == "--" {
		return 0, false, true
	}
	v, ok = scaledBy(text)
	return v, true, ok
}
