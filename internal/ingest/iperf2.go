package ingest

import (
	"slices"
	"strings"
	"time"

	"soku/internal/measure"
)

// iperf2 reads the output of iperf 2 at the client or the server, with and without -e. Its
// figures are rounded to three digits.
func iperf2(s *Source) ([]*measure.Result, error) {
	lines, err := s.lines()
	if err != nil {
		return nil, err
	}
	p := &iperf2File{s: s}
	for i, line := range lines {
		if err := p.line(i+1, line); err != nil {
			return nil, err
		}
	}
	if err := p.end(); err != nil {
		return nil, err
	}
	if len(p.out) == 0 {
		return nil, s.fail(1, "ingest.iperf2.nothing", nil)
	}
	return p.out, nil
}

type iperf2File struct {
	s       *Source
	out     []*measure.Result
	atServe bool
	udp     bool
	header  bool // a block has started
	test    *iperf2Test
	retry   bool // the table has a column Rtry
	report  bool // the server's report follows
}

// iperf2Test is the connections of one test.
type iperf2Test struct {
	line           int
	udp, receiving bool
	direction      measure.Direction
	ids            []string
	rows           map[string][]iperf2Row
	reports        map[string]iperf2Row
	near, far      string
	port           int
	startedAt      time.Time
	exact          bool
}

type iperf2Row struct {
	from, to, bytes, bps  float64
	retries, lost, total  float64
	jitter                float64 // ms
	hasRetries, datagrams bool
}

func (p *iperf2File) line(at int, line string) error {
	switch {
	case strings.HasPrefix(line, "Client connecting to "), strings.HasPrefix(line, "Server listening on "):
		if err := p.end(); err != nil {
			return err
		}
		serves := strings.HasPrefix(line, "Server")
		if p.header && serves != p.atServe {
			return p.s.fail(at, "ingest.iperf2.both_ways", nil)
		}
		p.header, p.atServe = true, serves
		p.udp = strings.Contains(line, "UDP port")
	case strings.HasPrefix(line, "[ ID] Interval"):
		p.retry = strings.Contains(line, "Rtry")
	case strings.HasPrefix(line, "["):
		return p.record(at, line)
	}
	return nil
}

func (p *iperf2File) record(at int, line string) error {
	id, rest, ok := strings.Cut(line[1:], "]")
	id = strings.TrimSpace(id)
	rest = strings.TrimSpace(rest)
	switch {
	case !ok || !p.header || id == "SUM" || strings.HasPrefix(id, "SUM-") || id == "CT":
		return nil
	case strings.HasPrefix(rest, "local ") && strings.Contains(rest, " connected with "):
		return p.connection(at, id, rest)
	case strings.HasPrefix(rest, "Server Report:"):
		p.report = true
		return nil
	}
	interval, _, ok := strings.Cut(rest, " sec ")
	if !ok || !strings.Contains(interval, "-") {
		return nil
	}
	row, ok := iperf2Figures(rest, p.retry)
	if !ok {
		return p.s.fail(at, "ingest.iperf2.line", nil)
	}
	if p.test == nil || !p.test.has(id) {
		return p.s.fail(at, "ingest.iperf2.not_connected", measure.Figures{"stream": short(id)})
	}
	if p.report && row.datagrams {
		p.test.reports[id], p.report = row, false
		return nil
	}
	if len(p.test.rows[id]) >= maxRecords {
		return p.s.fail(at, "ingest.too_many.intervals", measure.Figures{"limit": maxRecords})
	}
	p.test.rows[id] = append(p.test.rows[id], row)
	return nil
}

// connection reads "local A port P connected with B port Q ...". At a server it starts a test
// if all previous connections have their totals.
func (p *iperf2File) connection(at int, id, rest string) error {
	if p.test != nil && (p.test.has(id) || p.atServe && p.test.done()) {
		if err := p.end(); err != nil {
			return err
		}
	}
	if p.test == nil {
		reverse := strings.Contains(rest, "(reverse)") || strings.HasPrefix(id, "*")
		p.test = &iperf2Test{line: at, udp: p.udp, receiving: p.atServe != reverse, direction: measure.Forward,
			rows: map[string][]iperf2Row{}, reports: map[string]iperf2Row{}}
		if reverse {
			p.test.direction = measure.Reverse
		}
	}
	t := p.test
	if len(t.ids) >= maxStreams {
		return p.s.fail(at, "ingest.too_many.streams", measure.Figures{"limit": maxStreams})
	}
	t.ids = append(t.ids, id)
	t.rows[id] = nil
	words := strings.Fields(rest)
	if len(words) >= 8 {
		t.near, _, _ = strings.Cut(words[1], "%")
		t.far = words[6]
		far := words[3]
		if !p.atServe && len(words) > 8 {
			far = words[8]
		}
		if n, ok := count(far); ok && n < 65536 {
			t.port = int(n)
		}
	}
	if i := strings.Index(rest, " on 20"); i >= 0 && t.startedAt.IsZero() {
		if when, err := time.Parse("2006-01-02 15:04:05 (MST)", strings.TrimSpace(rest[i+4:])); err == nil && strings.HasSuffix(rest, "(UTC)") {
			t.startedAt = when.UTC()
		}
	}
	return nil
}

func (t *iperf2Test) has(id string) bool {
	_, known := t.rows[id]
	return known
}

// iperf2Figures reads "0.0000-1.0000 sec  2.16 GBytes  18.5 Gbits/sec" and what
// follows: jitter and losses of datagrams, or writes and retries with -e.
func iperf2Figures(rest string, retry bool) (row iperf2Row, ok bool) {
	words := strings.Fields(rest)
	if len(words) < 6 || words[1] != "sec" {
		return row, false
	}
	from, to, _ := strings.Cut(words[0], "-")
	var good [4]bool
	row.from, good[0] = number(from)
	row.to, good[1] = number(to)
	row.bytes, good[2] = number(words[2])
	row.bps, good[3] = number(words[4])
	amount, rate := iperfUnit(words[3]), iperfUnit(words[5])
	row.bytes, row.bps = row.bytes*amount, row.bps*rate
	if slices.Contains(good[:], false) || amount == 0 || rate == 0 || row.to < row.from || row.to > 1e7 || !plausible(row.bytes) || !plausible(row.bps) {
		return row, false
	}
	if len(words) >= 9 && words[7] == "ms" && strings.Contains(words[8], "/") {
		lost, total, _ := strings.Cut(words[8], "/")
		var a, b, c bool
		row.jitter, a = number(words[6])
		row.lost, b = number(lost)
		row.total, c = number(total)
		row.datagrams = a && b && c && row.lost <= row.total
		return row, row.datagrams
	}
	if retry && len(words) >= 8 {
		row.retries, row.hasRetries = number(words[7])
	}
	return row, true
}

// iperfUnit: iperf counts bytes by 1024 and bits by 1000.
func iperfUnit(unit string) float64 {
	unit, per, _ := strings.Cut(unit, "/")
	if per != "" && per != "sec" {
		return 0
	}
	bits := strings.HasSuffix(unit, "bits")
	prefix, ok := strings.CutSuffix(unit, "bits")
	if !bits {
		prefix, ok = strings.CutSuffix(unit, "Bytes")
	}
	i := strings.Index("KMGT", prefix)
	if !ok || len(prefix) > 1 || i < 0 {
		return 0
	}
	factor := 1.0
	for range min(len(prefix), 1) * (i + 1) {
		if bits {
			factor *= 1000
		} else {
			factor *= 1024
		}
	}
	if per == "sec" && !bits {
		factor *= 8 // a rate in bytes
	}
	return factor
}

// total is the last line of a stream that begins at 0; the lines before it are intervals.
func total(rows []iperf2Row) (sum iperf2Row, intervals []iperf2Row, ok bool) {
	if len(rows) == 0 || rows[len(rows)-1].from != 0 {
		return sum, nil, false
	}
	return rows[len(rows)-1], rows[:len(rows)-1], true
}

func (t *iperf2Test) done() bool {
	for _, id := range t.ids {
		rows := t.rows[id]
		if _, _, ok := total(rows); !ok || len(rows) == 1 && rows[0].to <= 1.01 && !t.udp {
			return false
		}
	}
	return true
}

func (p *iperf2File) end() error {
	t := p.test
	p.test, p.report = nil, false
	if t == nil {
		return nil
	}
	if len(p.out) == maxRecords {
		return p.s.fail(t.line, "ingest.too_many.tests", measure.Figures{"limit": maxRecords})
	}
	r, err := t.result(p.s, p.atServe, len(p.out)+1)
	if err == nil {
		p.out = append(p.out, r)
	}
	return err
}

func (t *iperf2Test) result(s *Source, atServer bool, record int) (*measure.Result, error) {
	r := newReading(measure.TestTCP, "iperf", "", record, t.line)
	if !t.exact {
		missing(r, measure.CodeRoundedFigures)
	}
	missing(r, measure.CodeNoHostFacts, measure.CodeNoOptions, measure.CodeNoBaseline)
	if t.udp {
		r.Test = measure.TestUDP
	}
	r.StartedAt = t.startedAt
	if r.StartedAt.IsZero() {
		missing(r, measure.CodeTimeOfFile)
	}
	r.Path = measure.Path{Client: measure.Endpoint{Address: short(t.near)}, Server: measure.Endpoint{Address: short(t.far)}, Direction: t.direction}
	if atServer {
		r.Path.Client, r.Path.Server = r.Path.Server, r.Path.Client
	}
	r.Options.Streams, r.Options.Direction, r.Options.Port = len(t.ids), t.direction, t.port
	f := emptyFlow(t.direction)
	if err := t.fill(s, r, &f); err != nil {
		return nil, err
	}
	setFlows(r, f)
	return r, nil
}

// fill adds the streams up, with the receiver's report if there is one.
func (t *iperf2Test) fill(s *Source, r *measure.Result, f *measure.Flow) error {
	sum := &f.Summary
	var packets, lost, jitter, retries float64
	hasRetries, hasLoss := true, true
	for i, id := range t.ids {
		row, intervals, ok := total(t.rows[id])
		if !ok {
			return s.cutOff("ingest.cut_off.iperf2", measure.Figures{"stream": short(id)})
		}
		hasRetries = hasRetries && row.hasRetries
		retries += row.retries
		stream := measure.Stream{Index: i}
		if t.receiving {
			stream.ReceivedBytes = int64(row.bytes)
		} else {
			stream.SentBytes = int64(row.bytes)
		}
		t.samples(f, intervals)
		if report, there := t.reports[id]; there {
			row = report
			stream.ReceivedBytes = int64(report.bytes)
		}
		hasLoss = hasLoss && row.datagrams
		packets, lost, jitter = packets+row.total, lost+row.lost, jitter+row.jitter
		sum.GoodputBps += row.bps
		sum.SentBytes += stream.SentBytes
		sum.ReceivedBytes += stream.ReceivedBytes
		sum.DurationNs = max(sum.DurationNs, seconds(row.to))
		f.Streams = append(f.Streams, stream)
	}
	if !plausible(sum.GoodputBps) || len(t.ids) == 0 {
		return s.fail(t.line, "ingest.iperf2.rates", nil)
	}
	if hasRetries && !t.udp {
		sum.Retransmits = ptr(int64(retries))
	}
	t.noteMissing(r, f, hasRetries, hasLoss)
	if t.udp && hasLoss {
		sum.PacketsSent, sum.PacketsLost, sum.PacketsReceived = int64(packets), int64(lost), int64(packets-lost)
		sum.JitterNs = nsOf(jitter / float64(len(t.ids)))
		if packets > 0 {
			sum.LossRatio = ptr(lost / packets)
		}
		if sum.DurationNs > 0 {
			sum.PacketsPerSecond = (packets - lost) * 1e9 / float64(sum.DurationNs)
		}
	}
	return nil
}

func (t *iperf2Test) noteMissing(r *measure.Result, f *measure.Flow, hasRetries, hasLoss bool) {
	if t.udp && !hasLoss {
		missing(r, measure.CodeNoLoss)
	}
	if !t.udp && !hasRetries {
		missing(r, measure.CodeNoRetransmits)
	}
	if !t.receiving && len(t.reports) < len(t.ids) {
		missing(r, measure.CodeGoodputOfSender)
	}
	if t.receiving {
		missing(r, measure.CodeNoSenderCount)
	}
	switch {
	case len(f.Samples) == 0:
		missing(r, measure.CodeNoIntervals)
	case !t.receiving:
		missing(r, measure.CodeIntervalsOfSender)
	}
}

// samples adds the intervals of a stream to those of the others.
func (t *iperf2Test) samples(f *measure.Flow, intervals []iperf2Row) {
	for i, row := range intervals {
		if i >= len(f.Samples) {
			f.Samples = append(f.Samples, measure.Sample{StartNs: int64(row.from * 1e9), EndNs: int64(row.to * 1e9)})
		}
		v := &f.Samples[i]
		if t.receiving {
			v.ReceivedBytes += int64(row.bytes)
		} else {
			v.SentBytes += int64(row.bytes)
		}
		if row.datagrams {
			v.Packets += int64(row.total - row.lost)
			v.Lost += int64(row.lost)
		}
	}
}
