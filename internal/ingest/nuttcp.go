package ingest

import (
	"cmp"
	"strings"

	"soku/internal/measure"
	"soku/internal/measure/finding"
)

// nuttcp reads the output of nuttcp at the client, with or without -i, -v and -fparse, over TCP and
// UDP. Its MB is 2^20 bytes. Without -v it names neither the direction nor the ends.
func nuttcp(s *Source) ([]*measure.Result, error) {
	f := &nuttcpFile{s: s}
	if err := s.each(f.line); err != nil {
		return nil, err
	}
	if err := f.end(); err != nil {
		return nil, err
	}
	return f.out, nil
}

type nuttcpFile struct {
	s   *Source
	out []*measure.Result
	run *nuttcpRun
}

// nuttcpRun is one test while its lines are read.
type nuttcpRun struct {
	line           int
	version, far   string // of the receiving end, with -v
	streams, port  int64
	udp            bool
	direction      measure.Direction // empty: not known
	ofSender       bool              // classic mode: the sender's figures
	total          *nuttcpRow
	sent           *nuttcpRow // of the sender, with -v
	intervals      []nuttcpRow
	retransmits    float64
	hasRetransmits bool
	lost, packets  int64
	hasLoss        bool
	problem        string
	reporter       string // the end that reported it
}

type nuttcpRow struct {
	bytes, length, bps float64
	rounding
}

func (f *nuttcpFile) line(at int, line string) error {
	end, rest, verbose := strings.Cut(line, ": ")
	verbose = verbose && (end == "nuttcp-t" || end == "nuttcp-r")
	isRow := strings.Contains(line, " MB / ") || strings.HasPrefix(line, "megabytes=")
	if !verbose && !isRow {
		return nil
	}
	begins := isRow || strings.HasSuffix(rest, ": socket") || strings.Contains(rest, "Info: ")
	failed := strings.Contains(rest, "Error: ")
	if (begins || failed) && f.run != nil && f.run.ended(begins, end) {
		if err := f.end(); err != nil {
			return err
		}
	}
	if f.run == nil {
		f.run = &nuttcpRun{line: at}
	}
	if verbose {
		return f.run.verbose(f.s, at, end, rest)
	}
	final, err := f.run.row(f.s, at, line)
	if err == nil && final {
		err = f.end()
	}
	return err
}

// ended reports whether a run has ended before a line: a run of -v with the figures of both ends, or one that
// failed. The other end may report the failure, too.
func (p *nuttcpRun) ended(begins bool, end string) bool {
	return p.total != nil && p.sent != nil || p.problem != "" && (begins || end == p.reporter)
}

// verbose reads the lines of -v, and messages.
func (p *nuttcpRun) verbose(s *Source, at int, end, text string) error {
	words := strings.Fields(text)
	switch {
	case strings.Contains(text, "Error: "):
		_, problem, _ := strings.Cut(text, "Error: ")
		p.problem, p.reporter = cmp.Or(p.problem, problem), end
	case strings.Contains(text, "transmitter side statistics"):
		p.ofSender = true
	case strings.HasPrefix(text, "v") && strings.HasSuffix(text, ": socket"):
		p.version = strings.TrimSuffix(text[1:], ": socket")
		if p.direction == "" { // the client's own part comes first
			p.direction = measure.Forward
			if end == "nuttcp-r" {
				p.direction = measure.Reverse
			}
		}
	case strings.HasPrefix(text, "buflen="):
		p.parameters(words)
	case strings.HasPrefix(text, "retrans = ") && len(words) == 3:
		p.retransmits, p.hasRetransmits = number(words[2])
	case strings.Contains(text, " drop/pkt "):
		return p.losses(s, at, words)
	case strings.Contains(text, " real seconds = "):
		row, ok := nuttcpTotal(words)
		if !ok {
			return s.fail(at, "ingest.number.figure", measure.Figures{"tool": "nuttcp", "text": short(text)})
		}
		if end == "nuttcp-t" {
			p.sent = &row
		} else {
			p.total = &row
		}
	}
	return nil
}

// parameters reads "buflen=65536, nstream=1, port=5601 tcp -> 127.0.0.1", in which only the sender names
// the other end.
func (p *nuttcpRun) parameters(words []string) {
	for i, w := range words {
		if v, ok := strings.CutPrefix(w, "nstream="); ok {
			p.streams, _ = count(strings.TrimSuffix(v, ","))
		}
		if v, ok := strings.CutPrefix(w, "port="); ok {
			p.port, _ = count(v)
		}
		p.udp = p.udp || w == "udp"
		if w == "->" && i+1 < len(words) {
			p.far = short(words[i+1])
		}
	}
}

// nuttcpTotal reads "2635.8750 MB in 2.00 real seconds = 1348892.21 KB/sec = 11050.1249 Mbps".
func nuttcpTotal(words []string) (row nuttcpRow, ok bool) {
	if len(words) < 12 || words[1] != "MB" || words[11] != "Mbps" {
		return row, false
	}
	return nuttcpFigures(words[0], words[3], words[10])
}

func nuttcpFigures(megabytes, length, mbps string) (row nuttcpRow, ok bool) {
	a, ok1 := number(megabytes)
	b, ok2 := number(length)
	c, ok3 := number(mbps)
	row = nuttcpRow{bytes: a * (1 << 20), length: b}
	row.bps, row.rounding = bestRate(c*1e6, lastDigit(mbps)/2*1e6, row.bytes, lastDigit(megabytes)/2*(1<<20), b, lastDigit(length)/2)
	return row, ok1 && ok2 && ok3 && plausible(row.bytes) && plausible(row.bps) && row.length < 1e7
}

// row reads " 2877.0625 MB /   2.00 sec = 12068.5601 Mbps 25 %TX 15 %RX 0 retrans 0.07 msRTT", in which
// only the whole time has the processors, and "megabytes=1980.2468 real_seconds=2.00 ...".
func (p *nuttcpRun) row(s *Source, at int, line string) (final bool, err error) {
	words := strings.Fields(strings.ReplaceAll(line, "/", " / "))
	var row nuttcpRow
	ok := false
	if strings.HasPrefix(line, "megabytes=") {
		row, ok = p.parsed(words)
		final = true
	} else if len(words) >= 8 && words[1] == "MB" && words[4] == "sec" && words[7] == "Mbps" {
		row, ok = nuttcpFigures(words[0], words[3], words[6])
		final = strings.Contains(line, "%TX")
	}
	if !ok {
		return false, s.fail(at, "ingest.number.figure", measure.Figures{"tool": "nuttcp", "text": short(line)})
	}
	if !final {
		if len(p.intervals) >= maxRecords {
			return false, s.fail(at, "ingest.too_many.intervals", measure.Figures{"limit": maxRecords})
		}
		p.intervals = append(p.intervals, row)
		return false, nil
	}
	p.total = &row
	for i, w := range words {
		if w == "retrans" && i > 0 {
			p.retransmits, p.hasRetransmits = number(words[i-1])
		}
	}
	if i := strings.Index(line, "%RX "); i >= 0 && strings.Contains(line, "drop/pkt") {
		return true, p.losses(s, at, strings.Fields(line[i+4:]))
	}
	return true, nil
}

// losses reads "8367 / 24578 drop/pkt".
func (p *nuttcpRun) losses(s *Source, at int, words []string) error {
	if len(words) < 4 || words[1] != "/" {
		return nil
	}
	lost, ok := count(words[0])
	packets, ok2 := count(words[2])
	switch {
	case (!ok || !ok2 || lost > packets) && impossibleLosses(words[0], words[2]):
		p.udp = true
		s.noteImpossible(at)
		return nil
	case !ok || !ok2:
		return s.fail(at, "ingest.number.count", measure.Figures{"tool": "nuttcp", "text": short(words[0] + " / " + words[2])})
	}
	p.udp, p.lost, p.packets, p.hasLoss = true, lost, packets, true
	return nil
}

// parsed reads the names and values of -fparse.
func (p *nuttcpRun) parsed(words []string) (nuttcpRow, bool) {
	v := map[string]string{}
	for _, w := range words {
		name, value, _ := strings.Cut(w, "=")
		v[name] = value
	}
	if text, there := v["retrans"]; there {
		p.retransmits, p.hasRetransmits = number(text)
	}
	lost, ok := count(v["drop"])
	packets, ok2 := count(v["pkt"])
	if ok && ok2 && lost <= packets {
		p.udp, p.lost, p.packets, p.hasLoss = true, lost, packets, true
	}
	return nuttcpFigures(v["megabytes"], v["real_seconds"], v["rate_Mbps"])
}

func (f *nuttcpFile) end() error {
	p := f.run
	f.run = nil
	if p == nil {
		return nil
	}
	if len(f.out) == maxRecords {
		return f.s.fail(p.line, "ingest.too_many.runs", measure.Figures{"tool": "nuttcp", "limit": maxRecords})
	}
	if p.total == nil && p.problem == "" {
		return f.s.cutOff("ingest.cut_off.nuttcp", nil)
	}
	f.out = append(f.out, p.result(len(f.out)+1))
	return nil
}

func (p *nuttcpRun) result(record int) *measure.Result {
	r := newReading(measure.TestTCP, "nuttcp", p.version, record, p.line)
	if p.udp {
		r.Test = measure.TestUDP
	}
	missing(r, finding.TimeOfFile, finding.NoOptions, finding.NoHostFacts, finding.NoBaseline)
	if p.problem != "" {
		r.Error = measure.Fail(measure.KindBroken, "ingest.nuttcp.reported", measure.Figures{"cause": short(p.problem)})
		if strings.HasPrefix(p.problem, "connect") {
			r.Error.Kind = measure.KindUnreachable
		}
		return r
	}
	direction := cmp.Or(p.direction, measure.Forward)
	if p.direction == "" {
		missing(r, finding.NoDirection)
	}
	r.Path.Direction, r.Options.Direction = direction, direction
	if direction == measure.Reverse {
		r.Path.Client.Address = p.far
	} else {
		r.Path.Server.Address = p.far
	}
	r.Options.Streams = int(min(p.streams, 1<<20))
	if p.port < 65536 {
		r.Options.Port = int(p.port)
	}
	f := emptyFlow(direction)
	p.figures(r, &f)
	setFlows(r, f)
	return r
}

func (p *nuttcpRun) figures(r *measure.Result, f *measure.Flow) {
	v := &f.Summary
	v.GoodputBps, v.DurationNs = p.total.bps, seconds(p.total.length)
	switch {
	case p.ofSender:
		v.SentBytes = int64(p.total.bytes)
		missing(r, finding.GoodputOfSender)
	case p.sent != nil:
		v.ReceivedBytes, v.SentBytes = int64(p.total.bytes), int64(p.sent.bytes)
	default:
		v.ReceivedBytes = int64(p.total.bytes)
		missing(r, finding.NoSenderCount)
	}
	if p.hasRetransmits && !p.udp {
		v.Retransmits = new(int64(p.retransmits))
	} else if !p.udp {
		missing(r, finding.NoRetransmits)
	}
	if p.hasLoss {
		setDatagrams(v, p.packets, p.lost)
	} else if p.udp {
		missing(r, finding.NoLoss)
	}
	at := 0.0
	for _, row := range p.intervals {
		f.Samples = append(f.Samples, measure.Sample{StartNs: int64(at * 1e9), EndNs: int64((at + row.length) * 1e9), ReceivedBytes: int64(row.bytes)})
		at += row.length
	}
	if len(f.Samples) == 0 {
		missing(r, finding.NoIntervals)
	}
	missing(r, finding.NoStreams)
	p.total.note(r, v.GoodputBps)
}
