package ingest

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"soku/internal/measure"
)

// iperf2 reads the output of iperf 2 at the client or the server, with and without -e: versions
// 2.0 with a blank in "0.0- 1.0 sec", and later ones, whose threads print lines of one test in any
// order. Its figures are rounded to three digits.
func iperf2(s *Source) ([]*measure.Result, error) {
	p := &iperf2File{s: s}
	if err := s.each(p.line); err != nil {
		return nil, err
	}
	if err := p.end(); err != nil {
		return nil, err
	}
	return p.out, p.failed()
}

type iperf2File struct {
	s       *Source
	out     []*measure.Result
	atServe bool
	udp     bool
	header  bool // a block has started
	test    *iperf2Test
	message iperf2Message
}

func (p *iperf2File) line(at int, line string) error {
	if text := iperf2FailureIn(line); text != "" {
		return p.failure(at, text)
	}
	switch {
	case strings.HasPrefix(line, "Client connecting to "), strings.HasPrefix(line, "Server listening on "):
		return p.banner(at, line)
	case strings.HasPrefix(line, "["):
		return p.record(at, line)
	}
	return nil
}

// banner reads the first line of a block. A client's connections may be printed before it.
func (p *iperf2File) banner(at int, line string) error {
	serves := strings.HasPrefix(line, "Server")
	if p.header && serves != p.atServe {
		return p.s.fail(at, "ingest.iperf2.both_ways", nil)
	}
	if p.test == nil || p.test.bannered || len(p.test.rows) > 0 {
		if err := p.end(); err != nil {
			return err
		}
	}
	if p.message.late {
		if err := p.failed(); err != nil {
			return err
		}
	}
	p.message.bannered = p.test == nil
	p.header, p.atServe, p.udp = true, serves, strings.Contains(line, "UDP port")
	if p.test != nil {
		p.test.bannered = true
	}
	return nil
}

func (p *iperf2File) record(at int, line string) error {
	id, rest, ok := strings.Cut(line[1:], "]")
	id = strings.TrimSpace(id)
	rest = strings.TrimSpace(rest)
	switch {
	case !ok:
		return nil
	case strings.HasPrefix(rest, "local ") && strings.Contains(rest, " connected with "):
		return p.connection(at, id, rest)
	case !p.header || p.test == nil && id == "SUM":
		return nil
	case strings.HasPrefix(rest, "Server Report:"):
		if p.test != nil {
			p.test.reported[id] = true
		}
		return nil
	}
	interval, after, ok := strings.Cut(rest, " sec ")
	if !ok || !strings.Contains(interval, "-") || !startsWithDigit(after) || strings.HasPrefix(id, "SUM-") || strings.HasPrefix(id, "FD") {
		return nil
	}
	if p.test == nil || id != "SUM" && !p.test.has(id) {
		return p.s.fail(at, "ingest.iperf2.not_connected", measure.Figures{"stream": short(id)})
	}
	if strings.HasSuffix(rest, "datagrams received out-of-order") {
		n, _ := count(strings.Fields(after)[0])
		p.test.reordered[id] = float64(n) // the last one counts the whole time
		return nil
	}
	row, ok := iperf2Figures(interval, after)
	if !ok {
		return p.s.fail(at, "ingest.iperf2.line", nil)
	}
	if row.absent {
		p.s.noteImpossible(at)
	}
	if p.message.about == p.test { // it goes on: the message was its own
		p.test.failure, p.message = p.message.text, iperf2Message{}
	}
	return p.test.add(p.s, at, id, row)
}

// connection reads "local A port P connected with B port Q ...". At a server it starts a test
// if all previous connections have their totals.
func (p *iperf2File) connection(at int, id, rest string) error {
	far := strings.HasPrefix(id, "*") // one of iperf's own, for the way back
	id = strings.TrimPrefix(id, "*")
	if p.test != nil && (p.test.has(id) || p.header && p.atServe && p.test.done()) {
		if err := p.end(); err != nil {
			return err
		}
	}
	if p.test == nil {
		p.test = newIperf2Test(at)
		p.test.bannered = p.header
		p.message.bannered, p.message.late = false, false
	}
	t := p.test
	t.udp = p.udp
	if len(t.ids) >= maxStreams {
		return p.s.fail(at, "ingest.too_many.streams", measure.Figures{"limit": maxStreams})
	}
	t.connect(id)
	words := strings.Fields(rest)
	if len(words) >= 8 {
		t.near, _, _ = strings.Cut(words[1], "%")
		t.far, t.nearPort = words[6], words[3]
		if len(words) > 8 {
			t.farPort = words[8]
		}
	}
	t.reverse = t.reverse || far || strings.Contains(rest, "(reverse)")
	t.duplex = t.duplex || strings.Contains(rest, "(full-duplex)")
	t.bounce = t.bounce || strings.Contains(rest, "(bb ") || strings.Contains(rest, "(bb)")
	if i := strings.Index(rest, " on 20"); i >= 0 && t.startedAt.IsZero() {
		if when, err := time.Parse("2006-01-02 15:04:05 (MST)", strings.TrimSpace(rest[i+4:])); err == nil && strings.HasSuffix(rest, "(UTC)") {
			t.startedAt = when.UTC()
		}
	}
	return nil
}

func (p *iperf2File) end() error {
	t := p.test
	p.test = nil
	if t == nil || !p.header {
		return nil
	}
	t.udp = p.udp
	if t.bounce && p.atServe {
		return nil // only the client has its round trips
	}
	if len(p.out) == maxRecords {
		return p.s.fail(t.line, "ingest.too_many.tests", measure.Figures{"limit": maxRecords})
	}
	if t.failure == "" && p.message.about != t && p.message.text != "" {
		if t.brief() {
			t.failure, p.message = p.message.text, iperf2Message{}
		} else if err := p.failed(); err != nil {
			return err
		}
	}
	var r *measure.Result
	var err error
	switch {
	case t.failure != "":
		r = t.failed(p.atServe, len(p.out)+1)
	case t.bounce:
		r, err = t.bounces(p.s, len(p.out)+1)
	default:
		r, err = t.result(p.s, p.atServe, len(p.out)+1)
	}
	if err == nil {
		p.out = append(p.out, r)
	}
	return err
}

// iperf2Test is the connections of one test.
type iperf2Test struct {
	line                    int
	udp                     bool
	reverse, duplex, bounce bool
	bannered                bool // its block has begun
	ids                     []string
	known                   map[string]bool
	rows                    map[string][]iperf2Row // by ID; of the way back after an asterisk
	whole                   map[string]wholeRow    // of the rows of each ID
	lacking                 int                    // streams without the row of their whole time
	reports                 map[string]iperf2Row
	reported                map[string]bool // the server's report follows
	reordered               map[string]float64
	near, far               string
	nearPort, farPort       string
	startedAt               time.Time
	exact                   bool
	failure                 string // what iperf wrote on standard error
}

func newIperf2Test(line int) *iperf2Test {
	return &iperf2Test{
		line: line, known: map[string]bool{}, rows: map[string][]iperf2Row{}, whole: map[string]wholeRow{}, reports: map[string]iperf2Row{}, reported: map[string]bool{}, reordered: map[string]float64{},
	}
}

func (t *iperf2Test) has(id string) bool { return t.known[strings.TrimPrefix(id, "*")] }

// add adds a row to those of its stream, or as the server's report.
func (t *iperf2Test) add(s *Source, at int, id string, row iperf2Row) error {
	if t.reported[id] && row.datagrams {
		t.reports[id] = row
		delete(t.reported, id)
		return nil
	}
	if len(t.rows[id]) >= maxRecords {
		return s.fail(at, "ingest.too_many.intervals", measure.Figures{"limit": maxRecords})
	}
	t.put(id, row)
	return nil
}

// put adds a row to those of its stream.
func (t *iperf2Test) put(id string, row iperf2Row) {
	stream := id
	if !t.known[id] {
		stream = strings.TrimPrefix(id, "*")
	}
	before := t.hasTotal(stream)
	w := t.whole[id]
	w.take(len(t.rows[id]), row)
	t.whole[id], t.rows[id] = w, append(t.rows[id], row)
	switch after := t.hasTotal(stream); {
	case !t.known[stream] || after == before:
	case after:
		t.lacking--
	default:
		t.lacking++
	}
}

// connect adds a stream.
func (t *iperf2Test) connect(id string) {
	t.ids = append(t.ids, id)
	t.known[id] = true
	t.lacking++
}

// hasTotal reports whether a stream has the row of its whole time. Rows of the way there count first.
func (t *iperf2Test) hasTotal(id string) bool {
	if len(t.rows[id]) == 0 {
		id = "*" + id
	}
	return t.whole[id].ok()
}

// hasTotals reports whether every stream has the row of its whole time.
func (t *iperf2Test) hasTotals() bool { return t.lacking == 0 }

// done reports whether all streams have their totals. The first second of one looks like a total.
func (t *iperf2Test) done() bool {
	for _, id := range t.ids {
		if t.reverse && len(t.rows[id]) == 0 || t.duplex {
			id = "*" + id
		}
		if rows := t.rows[id]; !t.whole[id].ok() || len(rows) == 1 && rows[0].to <= 1.01 && !t.udp {
			return false
		}
	}
	return true
}

// wholeRow finds the row of a stream's whole time; the others are intervals. It is the longest of those
// that begin at 0 and, as threads print, not always the last. Without it the file is truncated.
type wholeRow struct {
	at       int     // its index
	found    bool    // a row begins at 0
	to, last float64 // the ends of the row at that index and of all rows, s
}

func (w *wholeRow) take(at int, row iperf2Row) {
	w.last = max(w.last, row.to)
	if row.from == 0 && (!w.found || row.to >= w.to) {
		w.at, w.found, w.to = at, true, row.to
	}
}

func (w wholeRow) ok() bool {
	const rounding = 0.06 // of times with one decimal
	return w.found && w.to >= w.last-rounding
}

// total is the row of a stream's whole time, and the intervals.
func (t *iperf2Test) total(id string) (sum iperf2Row, intervals []iperf2Row, ok bool) {
	rows, w := t.rows[id], t.whole[id]
	if !w.ok() {
		return sum, nil, false
	}
	intervals = slices.Delete(slices.Clone(rows), w.at, w.at+1)
	slices.SortStableFunc(intervals, func(a, b iperf2Row) int { return cmp.Compare(a.from, b.from) })
	return rows[w.at], intervals, true
}
