package ingest

import (
	"strings"
	"testing"

	"soku/internal/measure"
	"soku/internal/measure/finding"
)

// Under load, sockperf asks for a reply to one message of many: 1541 messages were sent, 155
// asked for a reply and got it.
func TestUnderLoadLosesOnlyWhatAskedForAReply(t *testing.T) {
	text := text(t, "sockperf-ul-rtt.txt")
	none := "# dropped messages = 0; # duplicated messages = 0; # out-of-order messages = 0"
	some := "# dropped messages = 3; # duplicated messages = 1; # out-of-order messages = 2"
	for _, c := range []struct {
		text                 string
		sent, received, lost int64
		ratio                float64
	}{
		{text, 155, 155, 0, 0},
		{strings.Replace(text, none, some, 1), 160, 157, 3, 3. / 160},
	} {
		results, err := read(t, Auto, c.text)
		if err != nil {
			t.Fatal(err)
		}
		r := results[0]
		l, s := r.Latency, r.Summary
		if l.Sent != c.sent || l.Received != c.received || l.Lost != c.lost || s.PacketsLost != c.lost || !close2(*s.LossRatio, c.ratio) {
			t.Errorf("%d sent, %d received, %d lost, ratio %v; want %d, %d, %d, %v", l.Sent, l.Received, l.Lost, *s.LossRatio, c.sent, c.received, c.lost, c.ratio)
		}
		if s.ReportedRTT.Count != 155 || *s.ReportedRTT.Mean != 83153 {
			t.Errorf("%+v", s.ReportedRTT)
		}
	}
	results, err := read(t, Auto, strings.Replace(text, "sockperf: "+none+"\n", "", 1))
	if err != nil || results[0].Summary.LossRatio != nil || !isMissing(results[0], finding.NoLoss) {
		t.Errorf("without its line the loss is unknown: %v, %d results", err, len(results))
	}
}

// sockperf's MB is 2^20 bytes: 684688 messages/s of 1400 bytes are 914.157 MB/s and 958.56e6 bytes/s.
func TestSockperfThroughputIsTheSendersCount(t *testing.T) {
	for _, c := range []struct {
		file, label   string
		bps           float64
		sent, packets int64
		port          int
		missing       finding.Code
	}{
		{"sockperf-tp.txt", "udp, sender's count", 41.860 * (1 << 20), 392083 * 14, 392083, 5971, finding.NoLoss},
		{"sockperf-tp-tcp.txt", "tcp, sender's count", 7313.257 * (1 << 20), 1369707 * 1400, 0, 15972, finding.NoRetransmits},
	} {
		r := one(t, c.file)
		s := r.Summary
		if r.Trial.Label != c.label || !close2(s.GoodputBps, c.bps) || s.SentBytes != c.sent || s.PacketsSent != c.packets || s.ReceivedBytes != 0 || r.Options.Port != c.port {
			t.Errorf("%s: %q %+v, port %d", c.file, r.Trial.Label, s, r.Options.Port)
		}
		if !isMissing(r, c.missing) || !isMissing(r, finding.GoodputOfSender) || r.Latency != nil {
			t.Errorf("%s: missing %+v", c.file, r.Origin.Missing)
		}
	}
	giga := strings.Replace(text(t, "sockperf-tp-tcp.txt"), "914.157 MBps (7313.257 Mbps)", "0.914 GBps (7.313 Gbps)", 1)
	if results, err := read(t, Auto, giga); err != nil || !close2(results[0].Summary.GoodputBps, 7.313*1000*(1<<20)) {
		t.Errorf("with --giga: %v, %d results", err, len(results))
	}
}

func TestSockperfWithoutAReplyIsAFailedTest(t *testing.T) {
	if r := one(t, "sockperf-silent.txt"); r.Error == nil || r.Error.Kind != measure.KindUnreachable || r.Latency.Received != 0 {
		t.Errorf("%+v", r.Error)
	}
}
