package ingest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"soku/internal/measure"
	"soku/internal/measure/finding"
)

// iperf3 reads the output of iperf3, at the client or at the server: its text, or the documents of
// -J and --json-stream, one or several. 3.16 and 3.17 print a document twice.
func iperf3(s *Source) ([]*measure.Result, error) {
	if !s.hasDocuments("iperf3", hasIperf3Text) {
		return s.iperf3Text()
	}
	docs, err := s.documents()
	if err == nil {
		err = s.onlyDocuments(docs)
	}
	if err != nil {
		return nil, err
	}
	var out []*measure.Result
	last := ""
	for i := 0; i < len(docs); i++ {
		var d iperf3Doc
		line, next := docs[i].line, docs[i].next
		if isEvent(docs[i].raw) {
			n, err := s.iperf3Stream(docs[i:], &d)
			d.streamed = true
			if err != nil {
				return nil, err
			}
			i += n - 1
		} else if err := s.into(docs[i], &d); err != nil {
			return nil, err
		}
		cookie, before := "", last
		if d.Start.Cookie != "" {
			cookie = fmt.Sprint(d.atServer(), d.Start.Cookie)
		}
		last = cookie
		if d.isServersGoodbye() || next && cookie != "" && cookie == before {
			continue
		}
		r, err := s.iperf3Result(&d, len(out)+1, line)
		if err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	return out, nil
}

// hasIperf3Text reports whether a test of iperf3 begins in a text.
func hasIperf3Text(text string) bool {
	return strings.Contains(text, "Connecting to host ") || strings.Contains(text, "Accepted connection from ")
}

// onlyDocuments checks that no test stands as text around documents.
func (s *Source) onlyDocuments(docs []document) error {
	from := int64(0)
	for i := 0; i <= len(docs); i++ {
		to, next := int64(len(s.text)), int64(0)
		if i < len(docs) {
			to, next = docs[i].offset, docs[i].end
		}
		if hasIperf3Text(s.text[from:to]) {
			return s.fail(s.lineAt(from)+1, "ingest.iperf3.mixed", nil)
		}
		from = next
	}
	return nil
}

// isServersGoodbye reports whether a document is the one that a stopped server writes: it has
// no test.
func (d *iperf3Doc) isServersGoodbye() bool {
	return d.Error != "" && d.Start.Test == nil && d.Start.ConnectingTo == nil && d.Start.Accepted == nil && strings.HasPrefix(d.Error, "interrupt")
}

type iperf3Event struct {
	Event string          `json:"event"`
	Data  json.RawMessage `json:"data"`
}

func isEvent(raw json.RawMessage) bool {
	var e iperf3Event
	return json.Unmarshal(raw, &e) == nil && e.Event != ""
}

// iperf3Stream combines the events of one test into a document and returns their number. With
// --json-stream-full-output the whole document follows them and is used instead.
func (s *Source) iperf3Stream(events []document, d *iperf3Doc) (int, error) {
	ended := 0
	for i, doc := range events {
		var e iperf3Event
		if json.Unmarshal(doc.raw, &e) != nil || e.Event == "" || e.Event == "start" && i > 0 {
			if e.Event == "start" && ended == 0 {
				return 0, s.fail(doc.line, "ingest.unfinished", nil)
			}
			if e.Event == "" && ended > 0 {
				*d = iperf3Doc{}
				return i + 1, s.into(doc, d)
			}
			break
		}
		inner := document{raw: e.Data, offset: doc.offset + int64(len(doc.raw)-len(e.Data)) - 1, line: doc.line}
		var err error
		switch e.Event {
		case "start":
			err = s.into(inner, &d.Start)
		case "interval":
			d.Intervals = append(d.Intervals, iperf3Interval{})
			err = s.into(inner, &d.Intervals[len(d.Intervals)-1])
		case "error":
			err = s.into(inner, &d.Error)
		case "end":
			err, ended = s.into(inner, &d.End), i+1
		case "server_output_json":
			d.Server = new(iperf3Doc)
			err, ended = s.into(inner, d.Server), max(ended, i+1)
		default:
			if ended > 0 { // such as server_output_text
				ended = i + 1
			}
		}
		if err != nil {
			return 0, err
		}
	}
	if ended == 0 {
		return 0, s.cutOff("ingest.cut_off.iperf3", nil)
	}
	return ended, nil
}

func (s *Source) iperf3Result(d *iperf3Doc, record, line int) (*measure.Result, error) {
	d.separate()
	version, isIperf3 := strings.CutPrefix(d.Start.Version, "iperf ")
	failed := d.streamed && d.Error != "" && d.Start.Version == "" // it never started
	if !failed && !d.printed && (!isIperf3 || !strings.HasPrefix(version, "3")) {
		return nil, s.fail(line, "ingest.iperf3.version", measure.Figures{"version": short(d.Start.Version)})
	}
	for _, sum := range d.sums() {
		if sum == nil {
			continue
		}
		for _, v := range sum.amounts() {
			if !plausible(v) {
				return nil, s.fail(line, "ingest.iperf3.figure", measure.Figures{"figure": v})
			}
		}
		if sum.takeOut() {
			s.noteImpossible(line)
		}
	}
	r := newReading(measure.TestTCP, "iperf3", version, record, line)
	missing(r, finding.NoBaseline)
	s.iperf3Start(r, d)
	r.Origin.End, r.Origin.Run = measure.EndClient, short(d.Start.Cookie)
	if d.atServer() {
		r.Origin.End = measure.EndServer
	}
	if d.Error != "" {
		r.Error = iperf3Error(d.Error)
	}
	if d.Start.Test == nil {
		if r.Error == nil {
			return nil, s.fail(line, "ingest.iperf3.test_start", nil)
		}
		r.Findings.Add(finding.TestUnknown, "", measure.Figures{"tool": r.Origin.Tool, "test": r.Test})
		return r, nil
	}
	switch d.Start.Test.Protocol {
	case "TCP":
	case "UDP":
		r.Test = measure.TestUDP
	default:
		return nil, s.fail(line, "ingest.iperf3.protocol", measure.Figures{"protocol": short(d.Start.Test.Protocol)})
	}
	iperf3Options(r, d)
	iperf3Flows(r, d)
	if len(r.Flows) == 0 {
		if r.Error == nil {
			return nil, s.fail(line, "ingest.iperf3.sums", nil)
		}
		return r, nil
	}
	iperf3CPU(r, d)
	if d.computed {
		missing(r, finding.GoodputComputed)
	}
	rates := d.receivers
	if len(rates) == 0 {
		rates = d.senders
	}
	for _, v := range rates {
		v.note(r, r.Summary.GoodputBps)
	}
	if r.Summary.PacketsLost > 0 && countsReordered(version) {
		r.Findings.Add(finding.LossCountsReordered, "", measure.Figures{"tool": r.Origin.Tool + " " + r.Origin.ToolVersion})
	}
	return r, nil
}

// countsReordered reports whether a version counts a datagram as lost that comes after a later one: those
// before 3.2.
func countsReordered(version string) bool {
	return strings.HasPrefix(version, "3.0") || version == "3.1" || strings.HasPrefix(version, "3.1.") || strings.HasPrefix(version, "3.1b")
}

func iperf3Error(text string) *measure.Error {
	kind := measure.KindBroken
	switch {
	case strings.Contains(text, "unable to connect"), strings.Contains(text, "unable to send control"):
		kind = measure.KindUnreachable
	case strings.Contains(text, "busy"), strings.Contains(text, "access denied"), strings.Contains(text, "authorization"):
		kind = measure.KindRefused
	}
	return measure.Fail(kind, "ingest.iperf3.reported", measure.Figures{"cause": short(text)})
}

func (s *Source) iperf3Start(r *measure.Result, d *iperf3Doc) {
	st := &d.Start
	switch {
	case st.Timestamp.Millis > 0 && st.Timestamp.Millis < 1e14:
		r.StartedAt = time.UnixMilli(int64(st.Timestamp.Millis)).UTC()
	case st.Timestamp.Seconds > 0 && st.Timestamp.Seconds < 1e11:
		r.StartedAt = time.Unix(int64(st.Timestamp.Seconds), 0).UTC()
	}
	var near, far measure.Endpoint
	if len(st.Connected) > 0 {
		near.Address, far.Address = short(st.Connected[0].LocalHost), short(st.Connected[0].RemoteHost)
	}
	facts := systemFacts(st.System)
	if facts != nil {
		near.Name = facts.Hostname
	} else {
		missing(r, finding.NoHostFacts)
	}
	if st.ConnectingTo != nil {
		far.Name = short(st.ConnectingTo.Host)
		far.Address = cmp.Or(far.Address, far.Name)
	} else if st.Accepted != nil && far.Address == "" {
		far.Address = short(st.Accepted.Host)
	}
	if d.atServer() {
		r.Path.Client, r.Path.Server = far, near
		if facts != nil {
			r.Hosts.Server = &measure.Host{Facts: *facts}
		}
		return
	}
	r.Path.Client, r.Path.Server = near, far
	if facts != nil {
		r.Hosts.Client = &measure.Host{Facts: *facts}
	}
}

func (d *iperf3Doc) atServer() bool { return d.Start.ConnectingTo == nil && d.Start.Accepted != nil }

// systemFacts reads a line of uname -a: system, host, kernel, ..., architecture.
func systemFacts(text string) *measure.Facts {
	words := strings.Fields(short(text))
	if len(words) < 4 {
		return nil
	}
	arch := words[len(words)-1]
	for _, w := range words {
		switch w {
		case "x86_64":
			arch = "amd64"
		case "aarch64":
			arch = "arm64"
		}
	}
	return &measure.Facts{OS: strings.ToLower(words[0]), Hostname: words[1], Kernel: words[2], Arch: arch}
}

func iperf3Options(r *measure.Result, d *iperf3Doc) {
	t, o := d.Start.Test, &r.Options
	o.Streams = int(min(max(t.Streams, 0), 1<<20))
	o.Duration, o.Omit = seconds(min(max(t.Duration, 0), 1e6)), seconds(min(max(t.Omit, 0), 1e6))
	o.Direction = measure.Forward
	if t.Reverse != 0 {
		o.Direction = measure.Reverse
	}
	if d.End.OtherReceived != nil || d.End.OtherSum != nil || d.End.OtherSent != nil {
		o.Direction = measure.Bidirectional
	}
	r.Path.Direction = o.Direction
	amount := t.Bytes
	if t.Blocks > 0 {
		amount = t.Blocks * t.Block
	}
	if amount > 0 && plausible(amount) {
		o.Bytes, o.Duration = measure.Size(amount), 0
	}
	rate := d.Start.Target
	if t.Target != nil {
		rate = *t.Target
	}
	if plausible(rate) {
		o.Rate = measure.Rate(rate * float64(max(o.Streams, 1))) // iperf3's is of each stream
	}
	block := measure.Size(min(max(t.Block, 0), 1<<30))
	if r.Test == measure.TestUDP {
		o.Size = block
	} else {
		o.Length = block
	}
	o.Window = measure.Size(min(max(d.Start.Buffer, 0), 1<<40))
	o.TOS = int(t.TOS) & 0xff
	if c := d.Start.ConnectingTo; c != nil && c.Port > 0 && c.Port < 65536 {
		o.Port = int(c.Port)
	}
}

// iperf3CPU reads iperf3's processor times. A server's document may have the client's time of an
// earlier test, so both are read from a client's document only.
func iperf3CPU(r *measure.Result, d *iperf3Doc) {
	c := d.End.CPU
	wall := float64(r.Summary.DurationNs)
	if c == nil || wall <= 0 || d.Start.Test.Omit > 0 || !plausible(c.Host*wall) || !plausible(c.Remote*wall) {
		return
	}
	host := r.Hosts.Client
	if d.atServer() {
		host = r.Hosts.Server
	}
	if host != nil {
		host.Counters = &measure.Counters{
			WallNs: int64(wall), ProcessUserNs: int64(wall * max(c.HostUser, 0) / 100), ProcessSysNs: int64(wall * max(c.HostSystem, 0) / 100),
			CoresUsed: c.Host / 100,
		}
	}
	if got := max(r.Summary.ReceivedBytes, r.Summary.SentBytes); !d.atServer() && c.Remote > 0 && got > 0 {
		r.Summary.CPUSecPerGB = new((c.Host + c.Remote) / 100 * wall / float64(got))
	}
}
