package ingest

import (
	"slices"
	"strings"
	"time"

	"soku/internal/measure"
)

// ethr reads the output of Ethr at the client and, without -ui, at the server, and the log of
// -o at either end.
func ethr(s *Source) ([]*measure.Result, error) {
	if s.hasDocuments("ethr", isTextOf("ethr")) {
		return s.ethrLog()
	}
	return s.ethrText()
}

// ethrFile collects the runs of one file.
type ethrFile struct {
	s       *Source
	version string
	runs    []*ethrRun
	run     *ethrRun // at a client the one that is open
	target  string
	port    bool // the target has one
	timed   int  // runs with a histogram

	open map[serverKey]*ethrRun // at a server the newest ones
}

// begin ends the previous run of a client; the next one starts with its first figure.
func (f *ethrFile) begin(line int) error {
	f.run = &ethrRun{line: line, target: f.target, port: f.port}
	return f.add(f.run)
}

// add adds a run to those of the file. A run without figures gives way to it.
func (f *ethrFile) add(run *ethrRun) error {
	if n := len(f.runs); n > 0 && f.runs[n-1].empty() {
		f.runs = f.runs[:n-1]
	}
	if len(f.runs) == maxRecords {
		return f.s.fail(run.line, "ingest.too_many.runs", measure.Figures{"tool": "Ethr", "limit": maxRecords})
	}
	if n := len(f.runs); n > 0 && f.runs[n-1].setups != nil {
		if f.timed++; f.timed > maxTimed {
			return f.s.fail(run.line, "ingest.too_many.timed_runs", measure.Figures{"tool": "Ethr", "limit": maxTimed})
		}
	}
	f.runs = append(f.runs, run)
	return nil
}

func (f *ethrFile) results() (out []*measure.Result) {
	for _, run := range f.runs {
		if !run.empty() {
			out = append(out, run.result(f.version, len(out)+1))
		}
	}
	return out
}

func (s *Source) ethrText() ([]*measure.Result, error) {
	lines, err := s.lines()
	if err != nil {
		return nil, err
	}
	f := &ethrFile{s: s, open: map[serverKey]*ethrRun{}}
	done, server := true, false
	for i, line := range lines {
		switch {
		case strings.HasPrefix(line, "Ethr: ") && strings.Contains(line, "(Version: "):
			_, version, _ := strings.Cut(line, "(Version: ")
			f.version = strings.TrimSuffix(version, ")")
		case strings.HasPrefix(line, "Using destination: "):
			if !done {
				return nil, s.fail(i+1, "ingest.unfinished", nil)
			}
			f.aim(line)
			done, server = false, false
			err = f.begin(i + 1)
		case strings.HasPrefix(line, "Ethr done"):
			done = true
			if f.run != nil && strings.Contains(line, "connection terminated") {
				f.run.broken = true
			}
		case strings.HasPrefix(line, "[RemoteAddress]"):
			server = true
			clear(f.open)
		case server && strings.HasPrefix(line, "["):
			err = f.serverLine(i+1, line)
		case f.run == nil:
		default:
			err = f.run.text(s, i+1, line, strings.Fields(line))
		}
		if err != nil {
			return nil, err
		}
	}
	if !done {
		return nil, s.cutOff("ingest.cut_off.ethr", nil)
	}
	return f.results(), nil
}

// serverLine reads "[    127.0.0.1]    TCP    12.6G        2     --        --  " of the console.
// With several clients at a time it does not show which of them a header begins a test of.
func (f *ethrFile) serverLine(line int, text string) error {
	cells := strings.Fields(strings.NewReplacer("[", " ", "]", " ").Replace(text))
	if len(cells) != 6 || cells[0] == "SUM" {
		return f.s.fail(line, "ingest.ethr.clients", nil)
	}
	v, err := f.s.ethrSecond(line, time.Time{}, cells[0], cells[1], cells[2], cells[3], cells[4], cells[5])
	if err != nil {
		return err
	}
	return f.serverSecond(v)
}

// aim reads "Using destination: HOST, ip: ADDRESS, port: 8888".
func (f *ethrFile) aim(line string) {
	target, _, _ := strings.Cut(strings.TrimPrefix(line, "Using destination: "), ",")
	_, port, _ := strings.Cut(line, ", port: ")
	f.target, f.port = short(target), strings.TrimSpace(port) != ""
}

// ethrEntry is a line of the log: a message or figures.
type ethrEntry struct {
	Time, Type, Message, RemoteAddr, Protocol             string
	BitsPerSecond, ConnectionsPerSecond, PacketsPerSecond string
	AverageLatency                                        string // at a server, of a latency test
	Avg, Min, P50, P90, P95, P99, P999, P9999, Max        string
}

// ethrLog reads a log of one JSON object a line, one at a time: a server's may be long.
func (s *Source) ethrLog() ([]*measure.Result, error) {
	lines, err := s.lines()
	if err != nil {
		return nil, err
	}
	f := &ethrFile{s: s, open: map[serverKey]*ethrRun{}}
	s.json = true
	offset := int64(0)
	for i, line := range lines {
		switch text := strings.TrimSpace(line); {
		case text == "":
		case text[0] != '{':
			s.addStray(i+1, text, len(f.runs))
		default:
			var e ethrEntry
			if err := s.into(document{raw: []byte(line), offset: offset, line: i + 1}, &e); err != nil {
				return nil, err
			}
			if err := f.logEntry(i+1, e); err != nil {
				return nil, err
			}
		}
		offset += int64(len(line)) + 1
	}
	return f.results(), nil
}

func (f *ethrFile) logEntry(line int, e ethrEntry) error {
	if e.Time == "" || e.Type == "" {
		return f.s.fail(line, "ingest.ethr.entry", nil)
	}
	if strings.HasPrefix(e.Message, "Using destination: ") {
		f.aim(e.Message)
		return f.begin(line)
	}
	at, _ := time.Parse(time.RFC3339, e.Time)
	result := e.Type == "TestResult" || e.Type == "LatencyResult"
	if f.target == "" && result {
		if e.RemoteAddr == "[SUM]" {
			return nil // of several clients
		}
		if e.Type == "LatencyResult" {
			return f.serverLatency(f.s, line, at, e)
		}
		v, err := f.s.ethrSecond(line, at, e.RemoteAddr, e.Protocol, e.BitsPerSecond, e.ConnectionsPerSecond, e.PacketsPerSecond, e.AverageLatency)
		if err != nil {
			return err
		}
		return f.serverSecond(v)
	}
	if f.run == nil {
		return nil
	}
	if f.run.startedAt.IsZero() {
		f.run.startedAt = at.UTC()
	}
	return f.run.entry(f.s, line, e)
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
		if moved := append(append(row[:2:2], row[3:]...), row[2]); !slices.IsSorted(row[2:]) && slices.IsSorted(moved[2:]) {
			row = moved
			p.moved = true
		}
		return p.latency(s, line, row)
	case "INFO":
		if read, err := p.routeLine(s, line, e.Message); read || err != nil {
			return err
		}
		if name, _ := ethrSetup(e.Message); name != "" || strings.Contains(e.Message, "Sent = ") {
			return p.text(s, line, e.Message, strings.Fields(e.Message))
		}
	}
	return nil
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

// ethrFigure reads a rate of Ethr, such as 17.8G. there is false if the rate is missing.
func ethrFigure(text string) (v float64, there, ok bool) {
	text = strings.TrimSpace(text)
	if text == "" || text == "--" {
		return 0, false, true
	}
	v, ok = scaledBy(text)
	return v, true, ok
}
