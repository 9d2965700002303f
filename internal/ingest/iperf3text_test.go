package ingest

import (
	"strings"
	"testing"

	"soku/internal/measure"
	"soku/internal/measure/finding"
)

const (
	kib = 1 << 10
	mib = 1 << 20
	gib = 1 << 30
)

// flowOfText is what a sample prints of a direction, read by hand. iperf3 counts bytes by 1024 and
// bits by 1000.
type flowOfText struct {
	direction      measure.Direction
	bps            float64
	sent, received float64
	retransmits    int64   // -1: not printed
	packets, lost  int64   // of UDP
	jitter         float64 // ms
	streams        int
	samples        int
}

func (c flowOfText) check(t *testing.T, name string, f measure.Flow) {
	t.Helper()
	s := f.Summary
	retransmits := int64(-1)
	if s.Retransmits != nil {
		retransmits = *s.Retransmits
	}
	jitter := 0.0
	if s.JitterNs != nil {
		jitter = *s.JitterNs / 1e6
	}
	if f.Direction != c.direction || !close2(s.GoodputBps, c.bps) || s.SentBytes != int64(c.sent) || s.ReceivedBytes != int64(c.received) ||
		retransmits != c.retransmits || s.PacketsSent != c.packets || s.PacketsLost != c.lost || !close2(jitter, c.jitter) {
		t.Errorf("%s: %s %v bit/s, sent %d, received %d, %d retransmits, %d packets, %d lost, jitter %v ms\nthe file says %+v",
			name, f.Direction, s.GoodputBps, s.SentBytes, s.ReceivedBytes, retransmits, s.PacketsSent, s.PacketsLost, jitter, c)
	}
	if len(f.Streams) != c.streams || len(f.Samples) != c.samples {
		t.Errorf("%s: %s %d streams, %d samples; want %d and %d", name, f.Direction, len(f.Streams), len(f.Samples), c.streams, c.samples)
	}
}

// checkFlows compares the directions of each test of a file.
func checkFlows(t *testing.T, file string, results []*measure.Result, tests [][]flowOfText) {
	t.Helper()
	if len(results) != len(tests) {
		t.Fatalf("%s: %d results, want %d", file, len(results), len(tests))
	}
	for i, r := range results {
		if len(r.Flows) != len(tests[i]) {
			t.Fatalf("%s: test %d has %d flows", file, i+1, len(r.Flows))
		}
		for j, want := range tests[i] {
			want.check(t, file, r.Flows[j])
		}
	}
}

func TestIperf3sTextIsReadAsItsDocument(t *testing.T) {
	const fwd, rev = measure.Forward, measure.Reverse
	for file, tests := range map[string][][]flowOfText{
		"iperf3-3.12-tcp.txt": {{{fwd, 21.3e9, 4.97 * gib, 4.97 * gib, 63, 0, 0, 0, 1, 2}}},
		"iperf3-3.21-rev.txt": {{{rev, 38.8e9, 9.02 * gib, 9.03 * gib, 23, 0, 0, 0, 2, 2}}},
		"iperf3-3.21-bidir.txt": {{
			{fwd, 13.5e9, 3.16 * gib, 3.16 * gib, 11, 0, 0, 0, 1, 2}, {rev, 17.2e9, 4.02 * gib, 4.01 * gib, 9, 0, 0, 0, 1, 2},
		}},
		"iperf3-3.12-udp.txt":  {{{fwd, 20.2e6, 4.81 * mib, 4.81 * mib, -1, 154, 0, 0.250, 2, 2}}},
		"iperf3-3.12-udpr.txt": {{{rev, 10.1e6, 2.41 * mib, 2.41 * mib, -1, 77, 0, 1.318, 1, 2}}},
		"iperf3-3.21-udpb.txt": {{
			{fwd, 5.11e6, 1.22 * mib, 1.22 * mib, -1, 39, 0, 0.004, 1, 2}, {rev, 5.11e6, 1.22 * mib, 1.22 * mib, -1, 39, 0, 0.015, 1, 2},
		}},
		"iperf3-3.21-ts.txt": {{{fwd, 22569e6, 2.63 * gib, 2.63 * gib, 8, 0, 0, 0, 1, 1}}},
		"iperf3-3.1-udp.txt": {{{fwd, 1.02e6, 248 * kib, 0, -1, 31, 2, 0.082, 1, 2}}},
		"iperf3-3.1-server.txt": {
			{{fwd, 232 * kib * 8 / 2.04, 0, 232 * kib, -1, 31, 2, 0.082, 1, 3}}, // the bytes of its intervals
			{{fwd, 939e6, 0, 116 * mib, -1, 0, 0, 0, 2, 2}},
			{{rev, 912e6, 113 * mib, 0, -1, 0, 0, 0, 1, 1}},
		},
		"iperf3-short.txt": {{{rev, 13.1e9, 45.8 * gib, 45.7 * gib, 4369, 0, 0, 0, 0, 0}}},
		"iperf3-3.12-server.txt": {
			{{fwd, 21.3e9, 0, 4.97 * gib, -1, 0, 0, 0, 1, 2}},
			{{rev, 19.0e9, 4.42 * gib, 0, 60, 0, 0, 0, 2, 2}},
			{{fwd, 9.62e9, 0, 2.24 * gib, -1, 0, 0, 0, 1, 2}, {rev, 10.9e9, 2.54 * gib, 0, 1, 0, 0, 0, 1, 2}},
			{{fwd, 20.2e6, 0, 4.81 * mib, -1, 154, 0, 0.250, 2, 2}},
			{{rev, 10.1e6, 2.41 * mib, 0, -1, 0, 0, 0, 1, 2}}, // the losses are not the sender's to know
			{{fwd, 9.88e9, 0, 2.31 * gib, -1, 0, 0, 0, 1, 3}},
			{{fwd, 5.11e6, 0, 1.22 * mib, -1, 39, 0, 0.048, 1, 2}, {rev, 5.11e6, 1.22 * mib, 0, -1, 0, 0, 0, 1, 2}},
			{{fwd, 13.5e9, 0, 1.58 * gib, -1, 0, 0, 0, 1, 1}},
			{{fwd, 10.6e9, 0, 1.27 * gib, -1, 0, 0, 0, 1, 1}},
			{{fwd, 15.4e9, 0, 1.79 * gib, -1, 0, 0, 0, 1, 2}}, // its client was stopped
		},
	} {
		results := sample(t, file)
		checkFlows(t, file, results, tests)
		for _, r := range results {
			if !isMissing(r, finding.RoundedFigures) || r.Origin.Tool != "iperf3" || r.Origin.Format != "iperf3" {
				t.Errorf("%s: %+v", file, r.Origin)
			}
		}
	}
}

func TestIperf3sTextSaysWhatTheTestWas(t *testing.T) {
	r := one(t, "iperf3-3.12-V.txt")
	if r.Origin.ToolVersion != "3.12" || r.Origin.End != measure.EndClient || r.Origin.Run != "4xzo6hvjjqi36vmecbxv4pq3v3qxkpmrzd4d" || r.StartedAt.Format("2006-01-02 15:04:05") != "2026-11-25 10:16:30" {
		t.Errorf("%+v, started %v", r.Origin, r.StartedAt)
	}
	o := r.Options
	if o.Streams != 1 || o.Length != 131072 || o.Duration.String() != "2s" || o.Port != 15201 || r.Path.Client.Name != "vm" || r.Path.Server.Name != "127.0.0.1" {
		t.Errorf("%+v %+v", o, r.Path)
	}
	// 13.3 % of this host's processor and 36.8 % of the other's for 2.01 s, of 2.31 GiB.
	if c := r.Summary.CPUSecPerGB; c == nil || !close2(*c, (13.3+36.8)/100*2.01e9/float64(r.Summary.ReceivedBytes)) {
		t.Errorf("CPU %v", c)
	}
	if isMissing(r, finding.NoOptions) || isMissing(r, finding.NoHostFacts) || isMissing(r, finding.TimeOfFile) {
		t.Errorf("missing %+v", r.Origin.Missing)
	}
	if r := one(t, "iperf3-3.12-tcp.txt"); !isMissing(r, finding.NoOptions) || !isMissing(r, finding.NoToolVersion) {
		t.Errorf("without -V: missing %+v", r.Origin.Missing)
	}
}

func TestAFailedTestInIperf3sTextIsAResultWithItsError(t *testing.T) {
	refused := text(t, "iperf3-3.12-ref.txt")
	results, err := read(t, Auto, refused+text(t, "iperf3-3.21-int.txt")+text(t, "iperf3-3.12-tcp.txt")+refused)
	if err != nil || len(results) != 4 {
		t.Fatalf("%d results, %v", len(results), err)
	}
	for i, want := range []struct {
		kind measure.Kind
		bps  float64
	}{{measure.KindUnreachable, 0}, {measure.KindBroken, 23.5e9}, {"", 21.3e9}, {measure.KindUnreachable, 0}} {
		r := results[i]
		if (r.Error == nil) != (want.kind == "") || r.Error != nil && r.Error.Kind != want.kind || !close2(r.Summary.GoodputBps, want.bps) {
			t.Errorf("test %d: %v, %v bit/s", i+1, r.Error, r.Summary.GoodputBps)
		}
	}
	if r := results[1]; !strings.Contains(r.Error.Message, "the client has terminated") || !isMissing(r, finding.GoodputOfSender) {
		t.Errorf("%v %+v", r.Error, r.Origin.Missing)
	}
	server := sample(t, "iperf3-3.12-server.txt")
	if r := server[9]; r.Error == nil || server[8].Error != nil {
		t.Errorf("a server whose client was stopped: %v, the test before: %v", r.Error, server[8].Error)
	}
}

// People paste it indented, quoted, after a prompt, with ^C in it, or with blanks of their own.
func TestIperf3sTextIsReadAsPeoplePasteIt(t *testing.T) {
	whole := text(t, "iperf3-3.1-udp.txt")
	interrupted := "user@a:~$ iperf3 -c 10.0.0.1 -t 0\nConnecting to host 10.0.0.1, port 5201\n[  5] local 10.0.0.2 port 4711 connected to 10.0.0.1 port 5201\n[ ID] Interval           Transfer     Bitrate         Retr  Cwnd\n" +
		"[  5]   0.00-1.00   sec   112 MBytes   940 Mbits/sec    0    679 KBytes\n^C[  5]   1.00-1.50   sec  56.0 MBytes   940 Mbits/sec    1    679 KBytes\n- - - - - - - - - - - - - - - - - - - - - - - - -\n[ ID] Interval           Transfer     Bitrate         Retr\n" +
		"[  5]   0.00-1.50   sec   168 MBytes   940 Mbits/sec    1             sender\n[  5]   0.00-1.50   sec  0.00 Bytes  0.00 bits/sec                  receiver\niperf3: interrupt - the client has terminated\nuser@a:~$ \n"
	for name, c := range map[string]struct {
		text    string
		bps     float64
		samples int
		failed  bool
	}{
		"indented":       {"    " + strings.ReplaceAll(whole, "\n", "\n    "), 1.02e6, 2, false},
		"quoted":         {"> " + strings.ReplaceAll(whole, "\n", "\n> "), 1.02e6, 2, false},
		"blanks":         {strings.NewReplacer("[ ID]", "[ ID ]", "[ 20]", "[ 20 ]").Replace(whole), 1.02e6, 2, false},
		"line ends":      {strings.ReplaceAll(whole, "\n", "\r\n"), 1.02e6, 2, false},
		"an interrupted": {interrupted, 940e6, 2, true},
	} {
		results, err := read(t, Auto, c.text)
		if err != nil || len(results) != 1 {
			t.Errorf("%s: %d results, %v", name, len(results), err)
			continue
		}
		if r := results[0]; !close2(r.Summary.GoodputBps, c.bps) || len(r.Flows[0].Samples) != c.samples || (r.Error != nil) != c.failed {
			t.Errorf("%s: %v bit/s, %d samples, %v", name, r.Summary.GoodputBps, len(r.Flows[0].Samples), r.Error)
		}
	}
}
