package ingest

import (
	"cmp"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"math"
	"slices"
	"strings"

	"soku/internal/measure"
	"soku/internal/measure/finding"
)

// ntttcpLog is the log of one end of ntttcp, in either format.
type ntttcpLog struct {
	line    int
	sender  bool
	host    string
	version string
	values  map[string]float64 // by element, and element/metric if it has one
	udp     bool
	threads int // 0 if they are not listed
	os      string
	time    float64 // s, of a text
}

// ntttcp reads the logs of ntttcp for Linux (-x and -j) and of NTttcp for
// Windows (-xml), and what both print. Each end writes its own: the receiver's should be used.
func ntttcp(s *Source) ([]*measure.Result, error) {
	read := s.ntttcpXML
	switch {
	case s.hasDocuments("ntttcp", isTextOf("ntttcp")):
		read = s.ntttcpJSON
	case !strings.HasPrefix(strings.TrimSpace(s.text), "<"):
		return s.ntttcpText()
	}
	logs, err := read()
	if err != nil {
		return nil, err
	}
	var out []*measure.Result
	for _, l := range logs {
		r, err := s.ntttcpResult(l, len(out)+1)
		if err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	return out, nil
}

// ntttcpXML reads one log, or several: NTttcp for Windows appends to its file.
func (s *Source) ntttcpXML() ([]*ntttcpLog, error) {
	if err := s.checkTags(); err != nil {
		return nil, err
	}
	d := xml.NewDecoder(strings.NewReader(s.text))
	d.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil } // it is UTF-8 by now
	var logs []*ntttcpLog
	var l *ntttcpLog // the one that is open
	var path []string
	var text strings.Builder
	metric := ""
	for {
		t, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		line, _ := d.InputPos()
		if err != nil {
			if strings.Contains(err.Error(), "unexpected EOF") {
				return nil, s.cutOff("ingest.cut_off.xml", nil)
			}
			return nil, s.fail(line, "ingest.syntax.xml", measure.Figures{"text": short(err.Error())})
		}
		switch t := t.(type) {
		case xml.StartElement:
			if len(path) == 0 {
				if len(logs) == maxRecords {
					return nil, s.fail(line, "ingest.too_many.logs", measure.Figures{"limit": maxRecords})
				}
				l = &ntttcpLog{line: line, values: map[string]float64{}}
				if !l.begin(t) {
					return nil, s.fail(line, "ingest.ntttcp.element", measure.Figures{"element": short(t.Name.Local)})
				}
			}
			if len(l.values) > maxMembers {
				return nil, s.fail(line, "ingest.too_many.members", measure.Figures{"limit": maxMembers})
			}
			if path = append(path, t.Name.Local); len(path) > maxNesting {
				return nil, s.fail(line, "ingest.syntax.nesting", measure.Figures{"limit": maxNesting})
			}
			metric = ""
			for _, a := range t.Attr {
				if a.Name.Local == "metric" {
					metric = a.Value
				}
			}
			text.Reset()
		case xml.CharData:
			text.Write(t)
		case xml.EndElement:
			if err := l.element(s, line, path, metric, strings.TrimSpace(text.String())); err != nil {
				return nil, err
			}
			if path = path[:len(path)-1]; len(path) == 0 {
				logs = append(logs, l)
			}
			text.Reset()
			metric = ""
		}
	}
	if len(logs) == 0 || len(path) > 0 {
		return nil, s.cutOff("ingest.cut_off.xml", nil)
	}
	return logs, nil
}

// checkTags bounds the length of a tag, and with it how many attributes it may have.
func (s *Source) checkTags() error {
	line, rest := 1, s.text
	for {
		before, tag, found := strings.Cut(rest, "<")
		if !found {
			return nil
		}
		line += strings.Count(before, "\n")
		end := strings.IndexByte(tag, '>')
		if end < 0 {
			end = len(tag)
		}
		if end > maxLineBytes {
			return s.fail(line, "ingest.file.long_line", measure.Figures{"line_bytes": end, "limit_bytes": maxLineBytes})
		}
		line += strings.Count(tag[:end], "\n")
		rest = tag[end:]
	}
}

func (l *ntttcpLog) begin(t xml.StartElement) bool {
	l.sender = t.Name.Local == "ntttcps"
	for _, a := range t.Attr {
		switch a.Name.Local {
		case "computername":
			l.host = short(a.Value)
		case "version":
			l.version = a.Value
		}
	}
	return l.sender || t.Name.Local == "ntttcpr"
}

// element reads a leaf element, of the root or of the parameters, by its name.
func (l *ntttcpLog) element(s *Source, line int, path []string, metric, text string) error {
	name := path[len(path)-1]
	switch {
	case len(path) == 2 && name == "thread":
		l.threads++
		return nil
	case len(path) == 3 && path[1] == "parameters":
		if name == "udp" {
			l.udp = text == "True"
		}
		if v, ok := number(text); ok {
			l.values[name] = v
		}
		return nil
	case len(path) != 2 || name == "parameters":
		return nil
	case name == "os":
		l.os = text
		return nil
	}
	return l.set(s, line, name, metric, text)
}

// ntttcpNames are the names in XML of the members of the JSON format that are read.
var ntttcpNames = map[string]string{
	"totalBytes/MB": "total_bytes/MB", "realTime/s": "realtime/s", "runTime": "run_time",
	"throughputs/MB/s": "throughput/MB/s", "throughputs/mbps": "throughput/mbps",
}

// ntttcpNeeded are the values that a result requires.
var ntttcpNeeded = []string{"total_bytes/MB", "realtime/s", "throughput/MB/s", "throughput/mbps"}

// set takes a value by its name, with the metric if it has one.
func (l *ntttcpLog) set(s *Source, line int, name, metric, text string) error {
	if metric != "" {
		name += "/" + metric
	}
	name = cmp.Or(ntttcpNames[name], name)
	if v, ok := number(text); ok {
		l.values[name] = v
	} else if slices.Contains(ntttcpNeeded, name) {
		return s.fail(line, "ingest.ntttcp.value", measure.Figures{"name": short(name), "text": short(text)})
	}
	return nil
}

// ntttcpMember is a value of the JSON form: a text, or a text with its metric.
type ntttcpMember struct {
	Metric string `json:"metric"`
	Value  string `json:"value"`
}

func (s *Source) ntttcpJSON() (logs []*ntttcpLog, err error) {
	docs, err := s.documents()
	if err != nil {
		return nil, err
	}
	if n := strings.Count(s.text, ":"); n > maxMembers {
		return nil, s.fail(1, "ingest.too_many.members", measure.Figures{"limit": maxMembers})
	}
	for _, d := range docs {
		var roots map[string]map[string]json.RawMessage
		if err := s.into(d, &roots); err != nil {
			return nil, err
		}
		l := &ntttcpLog{line: d.line, values: map[string]float64{}}
		root, ok := roots["ntttcps"]
		if l.sender = ok; !ok {
			root, ok = roots["ntttcpr"]
		}
		if !ok {
			return nil, s.fail(d.line, "ingest.ntttcp.nothing", nil)
		}
		for name, raw := range root {
			if err := l.member(s, name, raw); err != nil {
				return nil, err
			}
		}
		logs = append(logs, l)
	}
	return logs, nil
}

func (l *ntttcpLog) member(s *Source, name string, raw json.RawMessage) error {
	var text string
	var one ntttcpMember
	var several []ntttcpMember
	var parameters map[string]string
	switch {
	case name == "threads":
		var threads []json.RawMessage
		if json.Unmarshal(raw, &threads) == nil {
			l.threads = len(threads)
		}
	case json.Unmarshal(raw, &text) == nil:
		switch name {
		case "computername":
			l.host = short(text)
		case "version":
			l.version = text
		case "os":
			l.os = text
		default:
			return l.set(s, 1, name, "", text)
		}
	case json.Unmarshal(raw, &several) == nil:
		for _, m := range several {
			if err := l.set(s, 1, name, m.Metric, m.Value); err != nil {
				return err
			}
		}
	case name == "parameters" && json.Unmarshal(raw, &parameters) == nil:
		l.udp = parameters["udp"] == "True"
		for _, key := range []string{"port", "runTime"} {
			if err := l.set(s, 1, key, "", parameters[key]); err != nil {
				return err
			}
		}
	case json.Unmarshal(raw, &one) == nil:
		return l.set(s, 1, name, one.Metric, one.Value)
	}
	return nil
}

func (s *Source) ntttcpResult(l *ntttcpLog, record int) (*measure.Result, error) {
	v := l.values
	if v["realtime/s"] <= 0 || v["realtime/s"] > 1e6 {
		return nil, s.cutOff("ingest.cut_off.ntttcp_time", nil)
	}
	mbps, ok := v["throughput/mbps"]
	if !ok {
		return nil, s.cutOff("ingest.cut_off.ntttcp_throughput", nil)
	}
	r := l.reading(record)
	l.fill(r, mbps*1e6, thirdDecimal*1e6, v["realtime/s"], ntttcpBytes(v))
	return r, nil
}

// reading is a result of the log without figures.
func (l *ntttcpLog) reading(record int) *measure.Result {
	r := newReading(measure.TestTCP, "ntttcp", l.version, record, l.line)
	missing(r, finding.TimeOfFile, finding.NoIntervals, finding.NoStreams, finding.NoBaseline)
	if l.udp {
		r.Test = measure.TestUDP
		missing(r, finding.NoLoss)
	}
	r.Options.Direction, r.Options.Streams = measure.Forward, l.threads
	scale := 1e9
	if !strings.HasSuffix(l.version, "-linux") {
		scale = 1e6 // NTttcp for Windows writes milliseconds
	}
	r.Options.Duration = measure.Duration(min(l.values["run_time"]*scale, 1e15))
	if p := l.values["port"]; p > 0 && p < 65536 {
		r.Options.Port = int(p)
	}
	return r
}

// fill puts the figures of a run of that many seconds into its result. slack is half of the last digit of bps.
func (l *ntttcpLog) fill(r *measure.Result, bps, slack, length float64, moved int64) {
	f := emptyFlow(measure.Forward)
	var how rounding
	bps, how = bestRate(bps, slack, float64(moved), 0, length, thirdDecimal)
	how.note(r, bps)
	f.Summary.GoodputBps, f.Summary.DurationNs = bps, seconds(length)
	l.ends(r, &f, moved)
	setFlows(r, f)
}

// ntttcpBytes is the number of bytes moved. An MB is 10^6 bytes on Linux and 2^20 on Windows;
// the two throughput figures show which.
func ntttcpBytes(v map[string]float64) int64 {
	if v["throughput/MB/s"] <= 0 {
		return 0
	}
	mb := v["throughput/mbps"] * 1e6 / 8 / v["throughput/MB/s"]
	for _, size := range []float64{1e6, 1 << 20} {
		if math.Abs(mb/size-1) < 0.01 && plausible(v["total_bytes/MB"]*size) {
			return int64(math.Round(v["total_bytes/MB"] * size))
		}
	}
	return 0
}

func (l *ntttcpLog) ends(r *measure.Result, f *measure.Flow, moved int64) {
	host := &measure.Host{Facts: measure.Facts{OS: "windows", Hostname: l.host}}
	if facts := systemFacts(l.os); facts != nil {
		host.Facts = *facts
		host.Facts.Hostname = l.host
	} else if strings.HasSuffix(l.version, "-linux") {
		host.Facts.OS = "linux"
	}
	r.Origin.End = measure.EndServer
	if l.sender {
		r.Origin.End = measure.EndClient
		r.Path.Client.Name, r.Hosts.Client = l.host, host
		f.Summary.SentBytes = moved
		missing(r, finding.GoodputOfSender)
		if n, ok := l.values["packets_retransmitted"]; ok && !l.udp {
			f.Summary.Retransmits = new(int64(n))
			warn(r, finding.RetransmitsOfHost)
		}
		return
	}
	r.Path.Server.Name, r.Hosts.Server = l.host, host
	f.Summary.ReceivedBytes = moved
	missing(r, finding.NoSenderCount)
	if !l.udp {
		missing(r, finding.NoRetransmits)
	}
}
