package ingest

import (
	"slices"
	"strings"
)

// iperf3Test is one test while its lines are read.
type iperf3Test struct {
	d         iperf3Doc
	line      int
	messageAt int // the line of its error
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

// ended reports whether a test has its final lines, so that it has not failed. A client that was stopped
// prints them with 0 bytes for the other end, a server whose client was stopped prints its header again.
func (t *iperf3Test) ended() bool {
	switch {
	case t.done:
		return true
	case t.d.atServer():
		return len(t.rows) > 0 && t.headers < 2
	}
	has := func(label string) bool {
		return slices.ContainsFunc(t.rows, func(r iperf3Row) bool { return r.label == label })
	}
	return has("sender") && has("receiver") && !slices.ContainsFunc(t.rows, func(r iperf3Row) bool { return r.bytes == 0 })
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
	case strings.HasPrefix(line, "[ ID"):
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
	t.roles = t.roles || strings.Contains(line, "[Role]")
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
