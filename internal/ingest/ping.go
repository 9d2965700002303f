package ingest

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	"soku/internal/measure"
	"soku/internal/measure/finding"
)

// ping reads the output of ping: iputils and busybox on Linux, macOS and BSD,
// and Windows in English and Japanese, that of a router, and Test-Connection of
// PowerShell; several runs in one file are several results.
func ping(s *Source) ([]*measure.Result, error) {
	if isTestConnection(s.text) {
		return s.testConnection()
	}
	return s.runs(func(line string, at, record int) (run, error) {
		target, address, size, ok := pingBegins(line)
		router, isRouter := routerTarget(line)
		switch {
		case !ok && !isRouter:
			return nil, nil
		case record > maxTimed:
			return nil, s.fail(at, "ingest.too_many.runs", measure.Figures{"tool": "ping", "limit": maxTimed})
		case isRouter:
			p := &routerPing{r: newReading(measure.TestPing, "ping", "", record, at)}
			p.r.Path.Server = measure.Endpoint{Name: router, Address: router}
			return p, nil
		}
		p := &pingRun{r: newReading(measure.TestPing, "ping", "", record, at), fine: true}
		p.r.Path.Server = measure.Endpoint{Name: target, Address: address}
		p.r.Options.Size = measure.Size(size)
		return p, nil
	})
}

// pingBegins reads the first line of a run. In Japanese, Windows puts the
// target first, with a space after a bare address: "NAME [ADDRESS]に ping
// を送信しています 32 バイトのデータ:". With -S it names the source after it.
func pingBegins(line string) (target, address string, size int64, ok bool) {
	line = strings.TrimSpace(line)
	rest, unix := strings.CutPrefix(line, "PING ")
	if !unix {
		rest, unix = strings.CutPrefix(line, "PING6(")
	}
	if unix {
		if _, to, v6 := strings.Cut(rest, "-->"); v6 { // PING6(56=40+8+8 bytes) FROM --> TO
			rest = to
		}
		words := strings.Fields(rest)
		if len(words) == 0 {
			return "", "", 0, false
		}
		target, address, _ = strings.Cut(strings.TrimSuffix(words[0], ":"), "(")
		if address == "" && len(words) > 1 && strings.HasPrefix(words[1], "(") {
			address = strings.TrimPrefix(words[1], "(")
		}
		address, _, _ = strings.Cut(address, ")")
		address = cmp.Or(address, target)
		return short(target), short(address), pingSize(words), true
	}
	if rest, ok = strings.CutPrefix(line, "Pinging "); !ok {
		var after string
		rest, after, ok = strings.Cut(line, "ping を送信しています")
		if !ok {
			return "", "", 0, false
		}
		rest, _, _ = strings.Cut(rest, "に")
		rest += " " + after
	}
	words := strings.Fields(strings.NewReplacer("[", " [", "]", "] ").Replace(rest))
	if len(words) == 0 {
		return "", "", 0, false
	}
	target, address = words[0], words[0]
	if len(words) > 1 && strings.HasPrefix(words[1], "[") {
		address = strings.Trim(words[1], "[]")
	}
	return short(target), short(address), pingSize(words), true
}

// pingSize is the payload: the number before "bytes", "data" or バイト. iputils
// writes 56(84), the payload and the packet.
func pingSize(words []string) int64 {
	for i, w := range words[1:] {
		if strings.HasPrefix(w, "bytes") || strings.HasPrefix(w, "data") || strings.HasPrefix(w, "バイト") {
			before, _, _ := strings.Cut(words[i], "(")
			if n, ok := count(before); ok && n <= 65535 {
				return n
			}
		}
	}
	return 0
}

// pingRun is one run while its lines are read.
type pingRun struct {
	r         *measure.Result
	h         *measure.Histogram
	replies   int64
	fine      bool // every reply had a time that can be recorded
	counted   bool // the line of counts was read
	summed    bool // so was the summary line
	wants     bool // if there was a reply the summary is required
	untimed   bool // packets are too small to carry a time stamp
	sent, got int64
	dup       int64
	rtt       measure.RTTFigures
	windows   bool
	startedAt time.Time
}

func (p *pingRun) line(s *Source, at int, line string) error {
	line = strings.TrimSpace(line)
	ms, below, isReply := replyTime(line)
	if p.counted && p.windows && (isReply || windowsCounts(line)) {
		// On Ctrl+Break ping -t prints its counts and continues.
		p.counted, p.summed, p.rtt = false, false, measure.RTTFigures{}
	}
	if p.counted {
		return p.summary(s, at, line)
	}
	if isReply {
		p.replies++
		p.windows = p.windows || below || strings.Contains(line, "TTL=") && !strings.Contains(line, "ttl=")
		p.stamp(line)
		if strings.Contains(line, "(DUP!)") {
			p.dup++
			p.replies--
			return nil
		}
		if below || ms <= 0 {
			p.fine = false
		} else {
			if p.h == nil {
				p.h = measure.NewHistogram()
			}
			p.h.Record(int64(ms * 1e6))
		}
		return nil
	}
	if strings.Contains(line, " bytes from ") && strings.Contains(line, "seq=") {
		p.untimed = true
		return nil
	}
	return p.counts(s, at, line)
}

// timeStampBytes is the payload that iputils needs for its time stamp.
const timeStampBytes = 16

// replyTime reads the time of a reply: "time=0.039 ms", "time<1ms", "時間 =12ms",
// "時間 <1ms". below: the time is an upper bound.
func replyTime(line string) (ms float64, below, ok bool) {
	for _, name := range []string{"time", "時間"} {
		for rest := line; ; { // host names may contain the word, too
			i := strings.Index(rest, name)
			if i < 0 {
				break
			}
			rest = rest[i+len(name):]
			value := strings.TrimLeft(rest, " ")
			if value == "" || value[0] != '=' && value[0] != '<' {
				continue
			}
			number, _, found := strings.Cut(value[1:], "ms")
			v, good := numberOf(number)
			if found && good {
				return v, value[0] == '<', true
			}
		}
	}
	return 0, false, false
}

// windowsCounts matches the line of counts of ping on Windows.
func windowsCounts(line string) bool {
	return strings.Contains(line, "Sent = ") || strings.Contains(line, "送信 = ")
}

// numberOf reads a number in which a comma may stand for the point, as programs write it in other languages.
func numberOf(text string) (float64, bool) {
	v, ok := number(strings.Replace(text, ",", ".", 1))
	return v, ok && v <= 1e9
}

// stamp reads the time of day that ping -D prints before the first reply.
func (p *pingRun) stamp(line string) {
	rest, ok := strings.CutPrefix(line, "[")
	if !ok || !p.startedAt.IsZero() {
		return
	}
	text, _, _ := strings.Cut(rest, "]")
	if v, err := strconv.ParseFloat(text, 64); err == nil && v > 1e6 && v < 1e11 {
		p.startedAt = time.UnixMicro(int64(v * 1e6)).UTC()
	}
}

// counts reads the line with the packets sent and received.
func (p *pingRun) counts(s *Source, at int, line string) error {
	switch {
	case strings.Contains(line, "packets transmitted") && strings.Contains(line, "packet loss"):
		for _, part := range strings.Split(line, ",") {
			words := strings.Fields(part)
			if len(words) < 2 {
				continue
			}
			n, ok := count(strings.TrimLeft(words[0], "+"))
			switch {
			case !ok:
			case strings.HasSuffix(part, "transmitted"):
				p.sent = n
			case strings.Contains(part, "received"):
				p.got = n
			case strings.Contains(part, "duplicates"):
				p.dup = n
			}
		}
	case windowsCounts(line):
		p.windows = true
		for _, part := range strings.FieldsFunc(line, func(r rune) bool { return r == ',' || r == '、' || r == ':' }) {
			name, value, _ := strings.Cut(part, "=")
			words := strings.Fields(value)
			if len(words) == 0 {
				continue
			}
			n, ok := count(words[0])
			if to := map[string]*int64{"Sent": &p.sent, "送信": &p.sent, "Received": &p.got, "受信": &p.got}[strings.TrimSpace(name)]; to != nil {
				*to = n
			}
			if !ok {
				return s.fail(at, "ingest.number.count", measure.Figures{"tool": "ping", "text": short(words[0])})
			}
		}
	default:
		return nil
	}
	if p.sent <= 0 || p.got < 0 || p.got > p.sent {
		return s.fail(at, "ingest.counts", measure.Figures{"tool": "ping", "sent": p.sent, "received": p.got})
	}
	p.counted, p.wants = true, p.got > 0
	return nil
}

// summary reads the last line: "rtt min/avg/max/mdev = a/b/c/d ms", "round-trip
// min/avg/max/stddev = ...", "Minimum = 1ms, Maximum = 2ms, Average = 1ms",
// "最小 = 1ms、最大 = 2ms、平均 = 1ms".
func (p *pingRun) summary(s *Source, at int, line string) error {
	if names, values, ok := strings.Cut(line, " = "); ok && strings.Contains(names, "min/avg/max") {
		values, whole := strings.CutSuffix(values, " ms")
		if i := strings.Index(values, " ms,"); i >= 0 { // iputils adds its pipe figure
			values, whole = values[:i], true
		}
		numbers := strings.Split(values, "/")
		if len(numbers) < 3 || !whole {
			return s.fail(at, "ingest.ping.summary", measure.Figures{"text": short(values)})
		}
		for i, to := range []**float64{&p.rtt.Min, &p.rtt.Mean, &p.rtt.Max, &p.rtt.StdDev} {
			if i >= len(numbers) {
				break
			}
			v, ok := numberOf(numbers[i])
			if !ok && i == 3 && impossible(numbers[i]) {
				break // macOS, of a single reply
			}
			if !ok {
				return s.fail(at, "ingest.number.figure", measure.Figures{"tool": "ping", "text": short(numbers[i])})
			}
			*to = nsOf(v)
		}
		p.summed = true
		return nil
	}
	names := map[string]**float64{
		"Minimum": &p.rtt.Min, "最小": &p.rtt.Min, "Maximum": &p.rtt.Max, "最大": &p.rtt.Max, "Average": &p.rtt.Mean, "平均": &p.rtt.Mean,
	}
	for _, part := range strings.FieldsFunc(line, func(r rune) bool { return r == ',' || r == '、' }) {
		name, value, _ := strings.Cut(part, "=")
		to := names[strings.TrimSpace(name)]
		if to == nil {
			continue
		}
		text, whole := strings.CutSuffix(strings.TrimSpace(value), "ms")
		v, ok := numberOf(text)
		if !ok || !whole {
			return s.fail(at, "ingest.number.figure", measure.Figures{"tool": "ping", "text": short(value)})
		}
		p.summed = true
		if v > 0 { // whole milliseconds: 0 stands for anything below 1
			*to = nsOf(v)
		}
	}
	return nil
}

func (p *pingRun) result(s *Source) (*measure.Result, error) {
	r := p.r
	if p.windows && p.replies < p.got {
		warn(r, finding.RouterRepliesAreLoss)
		p.got, p.wants = p.replies, p.replies > 0
	}
	if size := r.Options.Size; p.windows {
		p.untimed = false
	} else if p.replies == 0 && !p.summed && size > 0 && size < timeStampBytes {
		p.untimed = true // with -q
	}
	if !p.counted {
		if err := s.foreignPing(r.Origin.Line); err != nil {
			return nil, err
		}
	}
	if !p.counted || p.wants && !p.summed && !p.untimed {
		return nil, s.cutOff("ingest.cut_off.ping", measure.Figures{"begin": r.Origin.Line})
	}
	missing(r, finding.NoOptions, finding.NoHostFacts, finding.NoBaseline, finding.NoIntervals)
	r.StartedAt = p.startedAt
	r.Latency = &measure.Latency{Timing: &measure.Timing{Tool: "ping"}, Sent: p.sent, Received: p.got, Lost: p.sent - p.got, Duplicated: p.dup}
	setLoss(&r.Summary, p.sent, p.sent-p.got)
	if p.got > 0 && p.summed {
		p.rtt.Count = p.got
		r.Summary.ReportedRTT = &p.rtt
	}
	switch {
	case p.fine && p.replies > 0 && p.replies == p.got:
		r.Latency.Histogram = p.h
		r.Summary.RTT = p.h.Percentiles()
	case p.got > 0 && !p.summed:
		missing(r, finding.NoTimes)
	case p.got > 0:
		missing(r, finding.NoHistogram, finding.NoPercentiles)
	}
	if p.windows {
		warn(r, finding.WholeMilliseconds)
	}
	return r, nil
}
