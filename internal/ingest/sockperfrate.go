package ingest

import (
	"strings"

	"soku/internal/measure"
)

// sockperfRate is what sockperf throughput prints. It counts at the sender, and its MB, Mb, GB
// and Gb are of 2^20 bytes or bits and 1000 times that.
type sockperfRate struct {
	messages bool // the message rate was read
	sent     int64
	time     float64 // s
	size     int64   // bytes of a message, or 0 if the size is an average or not printed
	perSec   float64
	bps      float64
	hasBps   bool
}

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
		t.bps = v * unit
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
	if bytes := float64(t.sent) * float64(t.size); plausible(bytes) {
		f.Summary.SentBytes = int64(bytes)
	}
	missing(r, measure.CodeGoodputOfSender, measure.CodeNoStreams, measure.CodeRoundedFigures)
	if p.proto == "tcp" {
		missing(r, measure.CodeNoRetransmits)
		r.Options.Length = measure.Size(t.size)
	} else {
		r.Test = measure.TestUDP
		missing(r, measure.CodeNoLoss)
		f.Summary.PacketsSent = t.sent
		r.Options.Size = measure.Size(min(t.size, 65507))
	}
	r.Options.Direction = measure.Forward
	setFlows(r, f)
	return nil
}
