package ingest

import (
	"strings"

	"soku/internal/engine/latency"
	"soku/internal/measure"
	"soku/internal/measure/finding"
)

// sockperf reads the output of sockperf ping-pong, under-load and throughput, and the files of --full-log.
// Without --full-rtt its round trips are halved; they are doubled.
func sockperf(s *Source) ([]*measure.Result, error) {
	return s.runs(func(line string, at, record int) (run, error) {
		rest, ok := strings.CutPrefix(line, sockperfPrefix+"== version #")
		parameters, isLog := strings.CutPrefix(line, sockperfLogBegins)
		switch {
		case isLog && record > maxTimed:
			return nil, s.fail(at, "ingest.too_many.timed_runs", measure.Figures{"tool": "sockperf", "limit": maxTimed})
		case isLog:
			return sockperfLog(parameters, at, record), nil
		case !ok:
			return nil, nil
		case record > maxRecords:
			return nil, s.fail(at, "ingest.too_many.runs", measure.Figures{"tool": "sockperf", "limit": maxRecords})
		}
		version, _, _ := strings.Cut(rest, " ")
		return &sockperfRun{r: newReading(measure.TestLatency, "sockperf", version, record, at)}, nil
	})
}

// sockperfPrefix is the prefix of most lines.
const sockperfPrefix = "sockperf: "

type sockperfRun struct {
	r      *measure.Result
	proto  string // tcp or udp
	rtt    measure.RTTFigures
	full   bool // figures are whole round trips
	summed bool
	silent bool // there was no reply at all
	got    int64
	scale  float64
	errors sockperfErrors
	rate   sockperfRate
	log    *sockperfPackets // of --full-log
}

// sockperfErrors is the line of dropped messages. In under-load only one message of many asks
// for a reply (--reply-every), so the loss is not the difference of sent and received messages:
// dropped are those that asked and got none.
type sockperfErrors struct {
	known                        bool
	dropped, duplicated, swapped int64
}

func (p *sockperfRun) line(s *Source, at int, line string) error {
	line = strings.TrimSpace(strings.TrimPrefix(line, sockperfPrefix))
	switch {
	case p.log != nil && strings.HasPrefix(line, sockperfLogTable):
		return p.log.header(s, at, line)
	case p.log != nil && p.log.times != nil:
		return p.log.packet(s, at, line)
	case strings.HasPrefix(line, "[") && strings.Contains(line, "IP = "):
		p.path(line)
	case strings.HasPrefix(line, "[Valid Duration]"):
		return p.valid(s, at, line)
	case strings.HasPrefix(line, "====> avg-"):
		return p.average(s, at, line)
	case strings.HasPrefix(line, "# dropped messages"):
		return p.dropped(s, at, line)
	case strings.HasPrefix(line, "No messages were received"):
		p.silent = true
	case strings.HasPrefix(line, "Total of "), strings.HasPrefix(line, "NOTE: test was performed"),
		strings.HasPrefix(line, "Summary: Message Rate"), strings.HasPrefix(line, "Summary: BandWidth"):
		return p.rate.line(s, at, line)
	case strings.HasPrefix(line, "Summary: "):
		p.summed = true
	case strings.HasPrefix(line, "---> "):
		return p.percentile(s, at, line)
	}
	return nil
}

// path reads "[ 0] IP = 127.0.0.1       PORT =  5971 # UDP".
func (p *sockperfRun) path(line string) {
	words := strings.Fields(line)
	for i := 0; i+2 < len(words); i++ {
		if words[i+1] != "=" {
			continue
		}
		switch words[i] {
		case "IP":
			p.r.Path.Server = measure.Endpoint{Address: short(words[i+2])}
		case "PORT":
			if n, ok := count(words[i+2]); ok && n < 65536 {
				p.r.Options.Port = int(n)
			}
		}
	}
	if proto := words[len(words)-1]; proto == "UDP" || proto == "TCP" {
		p.proto = strings.ToLower(proto)
	}
}

// dropped reads "# dropped messages = 0; # duplicated messages = 0; # out-of-order messages = 0".
func (p *sockperfRun) dropped(s *Source, at int, line string) error {
	e := &p.errors
	e.known = true
	for _, part := range strings.Split(line, ";") {
		name, value, _ := strings.Cut(part, "=")
		n, ok := count(value)
		if !ok {
			return s.fail(at, "ingest.number.count", measure.Figures{"tool": "sockperf", "text": short(part)})
		}
		switch {
		case strings.Contains(name, "dropped"):
			e.dropped = n
		case strings.Contains(name, "duplicated"):
			e.duplicated = n
		case strings.Contains(name, "out-of-order"):
			e.swapped = n
		}
	}
	return nil
}

func (p *sockperfRun) valid(s *Source, at int, line string) error {
	for _, part := range strings.FieldsFunc(line, func(r rune) bool { return r == ';' || r == ']' }) {
		name, value, _ := strings.Cut(part, "=")
		value, _, _ = strings.Cut(value, " ")
		v, ok := number(value)
		switch strings.TrimSpace(name) {
		case "RunTime":
			if ok && v < 1e6 {
				p.r.Summary.DurationNs = seconds(v)
			}
		case "ReceivedMessages":
			p.got = int64(v)
		default:
			ok = true
		}
		if !ok {
			return s.fail(at, "ingest.number.figure", measure.Figures{"tool": "sockperf", "text": short(part)})
		}
	}
	return nil
}

// average reads "====> avg-latency=10.973 (std-dev=10.468)", avg-lat in older
// versions and avg-rtt with --full-rtt.
func (p *sockperfRun) average(s *Source, at int, line string) error {
	p.full = strings.HasPrefix(line, "====> avg-rtt")
	p.scale = 2e3
	if p.full {
		p.scale = 1e3
	}
	_, rest, _ := strings.Cut(line, "avg-")
	_, rest, _ = strings.Cut(rest, "=")
	mean, rest, _ := strings.Cut(strings.TrimSpace(rest), " ")
	v, ok := number(mean)
	if !ok {
		return s.fail(at, "ingest.sockperf.average", measure.Figures{"text": short(mean)})
	}
	p.rtt.Mean = new(v * p.scale)
	if _, dev, found := strings.Cut(rest, "std-dev="); found {
		if end := strings.IndexAny(dev, "), "); end >= 0 {
			dev = dev[:end]
		}
		if v, ok := number(dev); ok {
			p.rtt.StdDev = new(v * p.scale)
		}
	}
	return nil
}

// percentile reads "---> percentile 99.900 =   27.820" and the ends,
// "---> <MAX> observation =  971.406".
func (p *sockperfRun) percentile(s *Source, at int, line string) error {
	name, value, _ := strings.Cut(strings.TrimPrefix(line, "---> "), "=")
	f := &p.rtt
	to := map[string]**float64{
		"<MAX> observation": &f.Max, "<MIN> observation": &f.Min,
		"percentile 50.": &f.P50, "percentile 90.": &f.P90, "percentile 95.": &f.P95,
		"percentile 99.": &f.P99, "percentile 99.9": &f.P999, "percentile 99.99": &f.P9999,
	}[strings.TrimRight(strings.TrimSpace(name), "0")] // of two or three decimals
	if to == nil {
		return nil
	}
	v, ok := number(value)
	if !ok && impossible(value) {
		s.noteImpossible(at)
		return nil
	}
	if !ok || p.scale == 0 {
		return s.fail(at, "ingest.sockperf.percentile", measure.Figures{"text": short(value)})
	}
	*to = new(v * p.scale)
	return nil
}

func (p *sockperfRun) result(s *Source) (*measure.Result, error) {
	r := p.r
	missing(r, finding.TimeOfFile, finding.NoIntervals, finding.NoOptions, finding.NoHostFacts, finding.NoBaseline)
	if p.rate.messages {
		return r, p.throughput(s)
	}
	r.Options.Own = latency.Options{Protocol: p.proto}
	if p.log == nil || p.log.times == nil {
		missing(r, finding.NoHistogram)
	}
	if p.silent {
		r.Error = measure.Fail(measure.KindUnreachable, "ingest.sockperf.silent", nil)
		r.Latency = &measure.Latency{Timing: &measure.Timing{Tool: "sockperf"}}
		return r, nil
	}
	if !p.summed && p.log == nil || p.rtt.Mean == nil || p.rtt.Min == nil || p.got <= 0 {
		return nil, s.cutOff("ingest.cut_off.sockperf", nil)
	}
	p.rtt.Count = p.got
	r.Summary.ReportedRTT = &p.rtt
	p.loss()
	if !p.full {
		warn(r, finding.RTTDoubled)
	}
	if p.log != nil {
		return r, p.log.fill(s, r, p.got)
	}
	return r, nil
}

// loss counts the messages that asked for a reply. Those that came out of order have no round
// trip in the figures.
func (p *sockperfRun) loss() {
	r, e := p.r, p.errors
	r.Latency = &measure.Latency{Timing: &measure.Timing{Tool: "sockperf"}, Received: p.got, Duplicated: e.duplicated}
	if !e.known {
		missing(r, finding.NoLoss)
		return
	}
	got := p.got + e.swapped
	sent := got + e.dropped
	r.Latency.Sent, r.Latency.Received, r.Latency.Lost = sent, got, e.dropped
	setLoss(&r.Summary, sent, e.dropped)
	r.Summary.PacketsReordered, r.Summary.PacketsDuplicated = e.swapped, e.duplicated
}

// sockperfRate is what sockperf throughput prints. It counts at the sender, and its MB, Mb, GB
// and Gb are of 2^20 bytes or bits and 1000 times that.
type sockperfRate struct {
	messages bool // the message rate was read
	sent     int64
	time     float64 // s
	size     int64   // bytes of a message, or 0 if the size is an average or not printed
	perSec   float64
	bps      float64
	slack    float64 // of bps
	hasBps   bool
}

// thirdDecimal is half of the last digit of a number with three decimals.
const thirdDecimal = 0.0005

// line reads "Total of 392083 messages sent in 1.000 sec", "NOTE: test was performed, using
// msg-size=14. For ...", "Summary: Message Rate is 391901 [msg/sec]" and "Summary: BandWidth is
// 5.232 MBps (41.860 Mbps)", which is in GBps (Gbps) with --giga.
func (t *sockperfRate) line(s *Source, at int, line string) error {
	words := strings.Fields(line)
	number := func(i int) (v float64, ok bool) {
		if i >= len(words) {
			return 0, false
		}
		return number(strings.TrimLeft(words[i], "("))
	}
	ok := true
	switch {
	case strings.HasPrefix(line, "Total of "):
		var sent float64
		var good bool
		sent, ok = number(2)
		t.time, good = number(6)
		t.sent, ok = int64(sent), ok && good && t.time < 1e7
	case strings.HasPrefix(line, "NOTE: "):
		if strings.Contains(line, "using msg-size=") {
			_, text, _ := strings.Cut(line, "msg-size=")
			text = text[:len(text)-len(strings.TrimLeft(text, "0123456789"))]
			if n, good := count(text); good && n <= 1<<20 {
				t.size = n
			}
		}
	case strings.HasPrefix(line, "Summary: Message Rate is "):
		t.perSec, ok = number(4)
		t.messages = true
	case strings.HasPrefix(line, "Summary: BandWidth is "):
		var v float64
		v, ok = number(5)
		unit := 0.0
		if len(words) > 6 {
			unit = map[string]float64{"Mbps)": 1 << 20, "Gbps)": 1000 << 20}[words[6]]
		}
		t.bps, t.slack = v*unit, thirdDecimal*unit
		t.hasBps, ok = true, ok && unit > 0 && plausible(t.bps)
	}
	if !ok {
		return s.fail(at, "ingest.number.figure", measure.Figures{"tool": "sockperf", "text": short(line)})
	}
	return nil
}

// throughput fills in the result of a throughput test.
func (p *sockperfRun) throughput(s *Source) error {
	r, t := p.r, p.rate
	if !t.hasBps || t.time <= 0 {
		return s.cutOff("ingest.cut_off.sockperf_rate", nil)
	}
	r.Test = measure.TestTCP
	f := emptyFlow(measure.Forward)
	f.Summary.GoodputBps, f.Summary.DurationNs = t.bps, seconds(t.time)
	if bytes := float64(t.sent) * float64(t.size); plausible(bytes) && bytes > 0 {
		f.Summary.SentBytes = int64(bytes)
		var how rounding
		f.Summary.GoodputBps, how = bestRate(t.bps, t.slack, bytes, 0, t.time, thirdDecimal)
		how.note(r, f.Summary.GoodputBps)
	}
	missing(r, finding.GoodputOfSender, finding.NoStreams, finding.RoundedFigures)
	if p.proto == "tcp" {
		missing(r, finding.NoRetransmits)
		r.Options.Length = measure.Size(t.size)
	} else {
		r.Test = measure.TestUDP
		missing(r, finding.NoLoss)
		f.Summary.PacketsSent = t.sent
		r.Options.Size = measure.Size(min(t.size, 65507))
	}
	r.Options.Direction = measure.Forward
	setFlows(r, f)
	return nil
}
