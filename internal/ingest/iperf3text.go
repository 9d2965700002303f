package ingest

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"soku/internal/measure"
)

// iperf3Text reads what iperf3 prints without -J, at the client or at the server, versions 3.0
// to 3.21. It makes of each test the document that -J would have printed, as far as the text
// has it; its figures are rounded to three digits.
func (s *Source) iperf3Text() ([]*measure.Result, error) {
	lines, err := s.lines()
	if err != nil {
		return nil, err
	}
	f := &iperf3File{s: s}
	for i, line := range lines {
		if err := f.line(i+1, withoutTimestamp(line)); err != nil {
			return nil, err
		}
	}
	if err := f.end(true); err != nil {
		return nil, err
	}
	if f.failure != "" { // it never connected
		if err := f.failed(); err != nil {
			return nil, err
		}
	}
	if len(f.out) == 0 {
		return nil, s.fail(1, "ingest.iperf3.nothing", nil)
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
	failure string // a message before the test that it is about, as standard error comes first in a file
	at      int    // its line
	version string
	system  string
	when    float64
	wasVers bool // the last line was the version
}

// iperf3Test is one test while its lines are read.
type iperf3Test struct {
	d         iperf3Doc
	line      int
	reverse   bool
	roles     bool // rows have a role: a test in both directions
	udp       bool
	ids       map[string]bool
	finals    bool // the rows at the end follow
	separated bool // the last line was a separator
	headers   int
	quoted    bool // the server's output, in the client's
	done      bool
	rows      []iperf3Row // of the end
	reordered map[string]float64
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

// message reads a message on standard error, whose place among the other lines is not certain.
func (f *iperf3File) message(at int, text string) error {
	t := f.test
	switch text, isError := strings.CutPrefix(text, "error - "); {
	case !isError && !strings.HasPrefix(text, "interrupt - the client"):
		return nil // a warning, or the end of a server
	case t != nil && t.d.Error == "" && !t.done:
		t.d.Error = text
	default:
		if f.failure != "" {
			if err := f.failed(); err != nil {
				return err
			}
		}
		f.failure, f.at = text, at
	}
	return nil
}

// failed makes a result of a message without a test.
func (f *iperf3File) failed() error {
	d := iperf3Doc{Error: f.failure, printed: true}
	f.failure = ""
	return f.add(&d, f.at)
}

func (f *iperf3File) add(d *iperf3Doc, line int) error {
	if len(f.out) == maxRecords {
		return f.s.fail(line, "ingest.too_many.tests", measure.Figures{"limit": maxRecords})
	}
	r, err := f.s.iperf3Result(d, len(f.out)+1, line)
	if err != nil {
		return err
	}
	missing(r, measure.CodeRoundedFigures)
	if !d.verbose {
		missing(r, measure.CodeNoOptions)
	}
	if len(r.Flows) > 0 && len(d.End.Streams) == 0 {
		missing(r, measure.CodeNoStreams)
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
		t.d.Error, f.failure = f.failure, ""
	} else {
		t.d.Start.Accepted = &iperf3Peer{Host: host}
	}
	f.test = t
	return nil
}

// end makes the result of the test that is open. A server's text may end within a test.
func (f *iperf3File) end(last bool) error {
	t := f.test
	f.test = nil
	if t == nil {
		return nil
	}
	server := t.d.atServer()
	if len(t.rows) == 0 && t.d.Error == "" {
		if last || !server {
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

// read reads a line of a test.
func (t *iperf3Test) read(s *Source, at int, line string) error {
	separated := t.separated
	t.separated = separated && (strings.HasPrefix(line, "Test Complete.") || line == "")
	switch {
	case strings.HasPrefix(line, "Reverse mode, "):
		t.reverse = true
	case strings.HasPrefix(line, "Server output:"):
		t.quoted, t.finals = true, false
	case strings.HasPrefix(line, "iperf Done."):
		t.done = true
	case strings.HasPrefix(line, "- - - "):
		t.separated = true
	case strings.HasPrefix(line, "[ ID]"):
		t.header(line, separated)
	case strings.HasPrefix(line, "["):
		return t.bracketed(s, at, line)
	default:
		t.verbose(line)
	}
	return nil
}

// header reads "[ ID] Interval  Transfer  Bandwidth ...". After a separator it begins the rows of
// the end.
func (t *iperf3Test) header(line string, separated bool) {
	t.roles = t.roles || strings.HasPrefix(line, "[ ID][Role]")
	t.udp = t.udp || strings.Contains(line, "Datagrams")
	sends := strings.Contains(line, "Retr") || strings.Contains(line, "Total Datagrams") && !strings.Contains(line, "Jitter")
	switch {
	case separated:
		t.finals = true
	case !t.finals:
		t.headers++
		t.reverse = t.reverse || t.d.atServer() && sends && !t.roles
	}
}

// verbose reads lines of -V.
func (t *iperf3Test) verbose(line string) {
	name, value, _ := strings.Cut(strings.TrimSpace(line), " ")
	value = strings.TrimSpace(value)
	switch {
	case name == "Cookie:":
		t.d.Start.Cookie = value
	case strings.HasPrefix(value, "Bitrate: ") && name == "Target":
		if v, ok := number(strings.TrimPrefix(value, "Bitrate: ")); ok {
			t.d.Start.Target = v
		}
	case name == "snd_tcp_congestion":
		t.d.End.Congestion = value
	case strings.HasPrefix(line, "Starting Test: "):
		t.start(line)
	case strings.HasPrefix(line, "CPU Utilization: ") && t.d.End.CPU == nil:
		t.cpu(line)
	}
}

// start reads "Starting Test: protocol: TCP, 1 streams, 131072 byte blocks, omitting 0 seconds, 2
// second test, tos 0", with an amount of bytes or blocks instead of a time.
func (t *iperf3Test) start(line string) {
	v := &iperf3Parameters{}
	for _, part := range strings.Split(strings.TrimPrefix(line, "Starting Test: "), ", ") {
		words := strings.Fields(part)
		if len(words) < 2 {
			continue
		}
		n, _ := number(words[0])
		m, _ := number(words[1])
		switch {
		case words[0] == "protocol:":
			v.Protocol = words[1]
		case words[1] == "streams":
			v.Streams = n
		case words[1] == "byte":
			v.Block = n
		case words[0] == "omitting":
			v.Omit = m
		case words[1] == "second":
			v.Duration = n
		case strings.HasSuffix(part, "bytes to send"):
			v.Bytes = n
		case strings.HasSuffix(part, "blocks to send"):
			v.Blocks = n
		case words[0] == "tos":
			v.TOS = m
		}
	}
	t.d.Start.Test, t.d.verbose = v, true
}

// cpu reads "CPU Utilization: local/sender 80.1% (0.3%u/79.8%s), remote/receiver 34.2% (...)".
func (t *iperf3Test) cpu(line string) {
	parts := strings.FieldsFunc(strings.TrimPrefix(line, "CPU Utilization: "), func(r rune) bool { return strings.ContainsRune(" %()/us,", r) })
	var figures []float64
	for _, p := range parts {
		if v, ok := number(p); ok {
			figures = append(figures, v)
		}
	}
	if len(figures) == 6 {
		t.d.End.CPU = &iperf3CPUTimes{Host: figures[0], HostUser: figures[1], HostSystem: figures[2], Remote: figures[3]}
	}
}

// document completes the document of a test with the rows of its end.
func (t *iperf3Test) document() {
	d := &t.d
	perDirection := len(t.ids)
	if t.roles {
		perDirection /= 2
	}
	if d.Start.Test == nil && len(t.ids)+len(t.rows) > 0 {
		d.Start.Test = &iperf3Parameters{Protocol: "TCP", Streams: float64(perDirection)}
		if t.udp {
			d.Start.Test.Protocol = "UDP"
		}
	}
	if d.Start.Test == nil {
		return
	}
	if t.onlySends() {
		t.reverse = true
		for i := range d.Intervals {
			*d.Intervals[i].Sum.Sender = true
		}
	}
	if t.reverse {
		d.Start.Test.Reverse = 1
	}
	streams := map[string]*iperf3Stream{}
	var order []*iperf3Stream
	for i := range t.rows {
		row := &t.rows[i]
		sum := t.sum(row)
		if row.id == "SUM" || perDirection <= 1 {
			t.total(row, sum)
		}
		if row.id == "SUM" {
			continue
		}
		v := streams[row.id]
		if v == nil {
			v = &iperf3Stream{}
			streams[row.id], order = v, append(order, v)
		}
		switch row.label {
		case "sender":
			v.Sender = sum
		case "receiver":
			v.Receiver = sum
		default:
			v.UDP = sum
		}
	}
	for _, v := range order {
		d.End.Streams = append(d.End.Streams, *v)
	}
}

// onlySends reports whether a server's rows at the end are a sender's. Versions before 3.7 print a
// receiver's, too, with 0 bytes.
func (t *iperf3Test) onlySends() bool {
	receives := func(r iperf3Row) bool { return r.label != "sender" && (r.label != "receiver" || r.bytes > 0) }
	sends := func(r iperf3Row) bool { return r.label == "sender" && r.bytes > 0 }
	return t.d.atServer() && !t.roles && slices.ContainsFunc(t.rows, sends) && !slices.ContainsFunc(t.rows, receives)
}

// total puts a row that is of all streams of its direction into the document.
func (t *iperf3Test) total(row *iperf3Row, sum *iperf3Sum) {
	e := &t.d.End
	sent, received, both := &e.Sent, &e.Received, &e.Sum
	if row.role == "RX-C" || row.role == "TX-S" {
		sent, received, both = &e.OtherSent, &e.OtherReceived, &e.OtherSum
	}
	switch row.label {
	case "sender":
		*sent = sum
	case "receiver":
		*received = sum
	default:
		*both = sum
		t.received(sum)
	}
	if n, ok := t.reordered[cmp.Or(row.role, "-")]; ok && row.label != "sender" {
		sum.OutOfOrder = &n
	}
}

// received makes of the row at the end of a server before 3.2 the receiver's, with the bytes of
// its intervals: the row has the losses, and 0 bytes.
func (t *iperf3Test) received(sum *iperf3Sum) {
	if !t.d.atServer() || t.reverse || sum.Bytes > 0 {
		return
	}
	got := *sum
	for i := range t.d.Intervals {
		if v := t.d.Intervals[i].Sum; v != nil && !v.Omitted {
			got.Bytes += v.Bytes
		}
	}
	if got.Seconds > 0 {
		got.Bps = got.Bytes * 8 / got.Seconds
	}
	t.d.computed, t.d.End.Received, t.d.End.Sum = true, &got, nil
}
