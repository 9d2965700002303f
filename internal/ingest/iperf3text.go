package ingest

import (
	"slices"
	"strings"
	"time"

	"soku/internal/measure"
	"soku/internal/measure/finding"
)

// iperf3Text reads what iperf3 prints without -J, at the client or at the server, versions 3.0
// to 3.21. It makes of each test the document that -J would have printed, as far as the text
// has it; its figures are rounded to three digits.
func (s *Source) iperf3Text() ([]*measure.Result, error) {
	f := &iperf3File{s: s}
	err := s.each(func(at int, line string) error { return f.line(at, withoutTimestamp(line)) })
	if err != nil {
		return nil, err
	}
	if err := f.end(true); err != nil {
		return nil, err
	}
	if f.failure != "" {
		if err := f.failed(f.failure, f.at); err != nil {
			return nil, err
		}
	}
	return f.out, nil
}

// iperf3Marks begin the lines that are read. --timestamps puts any text before them.
var iperf3Marks = []string{
	"Connecting to host ", "Accepted connection from ", "Reverse mode, ", "Server listening on ", "Starting Test: ", "Test Complete. ", "Server output:",
	"CPU Utilization: ", "iperf Done.", "iperf3: ", "iperf 3.", "      Cookie: ", "      Target Bitrate: ", "snd_tcp_congestion ", "Time: ", "- - - ", "[",
}

// withoutTimestamp removes what --timestamps put before a line.
func withoutTimestamp(line string) string {
	const longest = 40
	first := len(line)
	for _, mark := range iperf3Marks {
		if i := strings.Index(line[:min(len(line), longest+len(mark))], mark); i >= 0 {
			first = min(first, i)
		}
	}
	if first == len(line) {
		return strings.TrimSpace(line)
	}
	return line[first:]
}

// iperf3File collects the tests of one text.
type iperf3File struct {
	s       *Source
	out     []*measure.Result
	test    *iperf3Test
	failure string // a message about a test that is not known yet
	at      int    // its line
	version string
	system  string
	when    float64
	wasVers bool // the last line was the version
}

func (f *iperf3File) line(at int, line string) error {
	after := func(mark string) (string, bool) { return strings.CutPrefix(line, mark) }
	wasVersion := f.wasVers
	f.wasVers = false
	if f.test != nil && f.test.quoted {
		if line == "" && f.test.finals || strings.HasPrefix(line, "iperf Done.") {
			f.test.quoted, f.test.finals = false, true
		}
		f.test.finals = f.test.finals || strings.HasPrefix(line, "- - - ")
		return nil
	}
	if rest, ok := after("iperf3: "); ok {
		return f.message(at, rest)
	}
	switch {
	case strings.HasPrefix(line, "iperf 3."):
		f.version, f.wasVers = line, true
	case wasVersion && f.system == "":
		f.system = line
	case strings.HasPrefix(line, "Server listening on "):
		return f.end(false)
	case strings.HasPrefix(line, "Connecting to host "), strings.HasPrefix(line, "Accepted connection from "):
		return f.begin(at, line)
	case strings.HasPrefix(line, "Time: "):
		if t, err := time.Parse(time.RFC1123, strings.TrimPrefix(line, "Time: ")); err == nil {
			f.when = float64(t.Unix())
			if f.test != nil {
				f.test.d.Start.Timestamp.Seconds = f.when
			}
		}
	case f.test != nil:
		return f.test.read(f.s, at, line)
	}
	return nil
}

// message reads a message on standard error. It may stand before the lines of its test, which are written
// when the program ends, or among those of another one. It belongs to the test that has not ended.
func (f *iperf3File) message(at int, text string) error {
	t := f.test
	text, isError := strings.CutPrefix(text, "error - ")
	switch {
	case !isError && !strings.HasPrefix(text, "interrupt - the client"):
		return nil // a warning, or the end of a server
	case beginsWithAny(text, "unable to receive cookie", "unable to receive parameters", "unable to start listener"):
		f.s.addStray(at, text, len(f.out)) // a server met a health check, or did not start
		return nil
	case beginsWithAny(text, "unable to connect to server", "the server is busy"):
		if err := f.end(false); err != nil { // no test of this run has begun
			return err
		}
		return f.failed(text, at)
	case t != nil && t.d.Error == "" && !t.ended():
		t.d.Error, t.messageAt = text, at
		return nil
	}
	return f.keep(text, at)
}

// keep keeps a message for a test that follows.
func (f *iperf3File) keep(text string, at int) error {
	if f.failure != "" {
		if err := f.failed(f.failure, f.at); err != nil {
			return err
		}
	}
	f.failure, f.at = text, at
	return nil
}

func beginsWithAny(text string, starts ...string) bool {
	return slices.ContainsFunc(starts, func(s string) bool { return strings.HasPrefix(text, s) })
}

// failed makes a result of a message about a test that printed nothing.
func (f *iperf3File) failed(text string, at int) error {
	return f.add(&iperf3Doc{Error: text, printed: true}, at)
}

func (f *iperf3File) add(d *iperf3Doc, line int) error {
	if len(f.out) == maxRecords {
		return f.s.fail(line, "ingest.too_many.tests", measure.Figures{"limit": maxRecords})
	}
	r, err := f.s.iperf3Result(d, len(f.out)+1, line)
	if err != nil {
		return err
	}
	missing(r, finding.RoundedFigures)
	if !d.verbose {
		missing(r, finding.NoOptions)
	}
	if len(r.Flows) > 0 && len(d.End.Streams) == 0 {
		missing(r, finding.NoStreams)
	}
	f.out = append(f.out, r)
	return nil
}

// begin reads "Connecting to host HOST, port 5201" and "Accepted connection from HOST, port 4711".
func (f *iperf3File) begin(at int, line string) error {
	if err := f.end(false); err != nil {
		return err
	}
	t := &iperf3Test{line: at, ids: map[string]bool{}}
	t.d.printed = true
	t.d.Start.Version, t.d.Start.System, t.d.Start.Timestamp.Seconds = f.version, f.system, f.when
	f.when = 0
	rest, client := strings.CutPrefix(line, "Connecting to host ")
	rest = strings.TrimPrefix(rest, "Accepted connection from ")
	host, port, _ := strings.Cut(rest, ", port ")
	number, _ := count(port)
	if client {
		t.d.Start.ConnectingTo = &iperf3Target{Host: host, Port: float64(number)}
	} else {
		t.d.Start.Accepted = &iperf3Peer{Host: host}
	}
	t.d.Error, t.messageAt, f.failure = f.failure, f.at, ""
	f.test = t
	return nil
}

// end makes the result of the test that is open. A text may end within a server's test, and another test may
// follow one that was stopped.
func (f *iperf3File) end(last bool) error {
	t := f.test
	f.test = nil
	if t == nil {
		return nil
	}
	if text := t.d.Error; text != "" && t.ended() {
		t.d.Error = ""
		if err := f.keep(text, t.messageAt); err != nil {
			return err
		}
	}
	server := t.d.atServer()
	if len(t.rows) == 0 && t.d.Error == "" {
		if last {
			return f.s.cutOff("ingest.cut_off.iperf3_text", measure.Figures{"begin": t.line})
		}
		t.d.Error = "the test has no figures at its end"
	}
	if server && t.headers > 1 && t.d.Error == "" { // its rows were printed twice
		t.d.Error = "the client has terminated"
	}
	t.document()
	return f.add(&t.d, t.line)
}
