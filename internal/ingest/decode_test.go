package ingest

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"soku/internal/measure"
	"soku/internal/measure/finding"
	"soku/test/schema"
)

var fileTime = time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)

// sample decodes a file of testdata as given by a user.
func sample(t *testing.T, name string) []*measure.Result {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	s, err := NewSource(name, data, fileTime)
	if err != nil {
		t.Fatal(err)
	}
	results, err := (&Request{Campaign: "x", Format: Auto, Version: "test", Now: fileTime}).Read(s)
	if err != nil {
		t.Fatal(err)
	}
	return results
}

func one(t *testing.T, name string) *measure.Result {
	t.Helper()
	results := sample(t, name)
	if len(results) != 1 {
		t.Fatalf("%s: %d results", name, len(results))
	}
	return results[0]
}

func close2(a, b float64) bool { return math.Abs(a-b) <= 1e-9*math.Max(math.Abs(a), math.Abs(b)) }

// The figures here were read from the files by hand.
func TestThroughputIsWhatTheFileSays(t *testing.T) {
	for _, c := range []struct {
		file           string
		test           measure.Test
		label          string
		bps            float64
		sent, received int64
		streams        int
		samples        int
		missing        finding.Code
	}{
		{"iperf3-3.1-tcp.json", "tcp", "tcp", 9.39610e8, 236126208, 234912024, 1, 2, finding.IntervalsOfSender},
		{"iperf3-3.1-udp.json", "udp", "udp, sender's count", 1.04852e7, 1310720, 0, 1, 1, finding.GoodputOfSender},
		{"iperf3-3.12-tcp.json", "tcp", "tcp", 25741356264.73737, 6438125568, 6438125568, 1, 2, finding.IntervalsOfSender},
		{"iperf3-3.12-reverse.json", "tcp", "tcp reverse", 36358662209.92646, 9087221760, 9089515573, 2, 2, finding.NoRetransmits + "?"},
		{"iperf3-3.12-udp.json", "udp", "udp", 20051910.549392313, 5013504, 5013504, 1, 2, finding.NoBaseline},
		{"iperf3-3.12-udp-reverse.json", "udp", "udp reverse", 40366018.300115086, 5046272, 5046272, 2, 1, finding.NoBaseline},
		{"iperf3-3.21-stream-tcp.json", "tcp", "tcp", 0, 6972506112, 6972637184, 2, 2, finding.IntervalsOfSender},
		{"iperf2-client-tcp.txt", "tcp", "tcp, sender's count", 27.0e9, 6764573491, 0, 1, 2, finding.GoodputOfSender},
		{"iperf2-client-tcp-e.txt", "tcp", "tcp, sender's count", 45.8e9, 0, 0, 2, 2, finding.RoundedFigures},
		{"iperf2-client-udp.txt", "udp", "udp", 10.5e6, 2631925, 2631925, 1, 2, finding.RoundedFigures},
		{"iperf2-client-udp-e.txt", "udp", "udp, sender's count", 10.5e6, 2621440, 0, 1, 2, finding.NoLoss},
		{"iperf2-server-tcp.txt", "tcp", "tcp", 36.6e9, 0, 0, 2, 2, finding.NoSenderCount},
		{"iperf2-server-udp-e.txt", "udp", "udp", 10.5e6, 0, 2631925, 1, 2, finding.NoSenderCount},
		{"iperf2-tcp.csv", "tcp", "tcp", 55197684905, 0, 0, 2, 0, finding.CounterUnknown},
		{"iperf2-tcp-intervals.csv", "tcp", "tcp", 32348184115, 0, 0, 1, 2, finding.CounterUnknown},
		{"ntttcp-r.xml", "tcp", "tcp", 0, 0, 10080616448, 0, 0, finding.NoSenderCount},
		{"ntttcp-s.xml", "tcp", "tcp, sender's count", 26882.998e6, 10083631104, 0, 0, 0, finding.GoodputOfSender},
		{"ntttcp-s.json", "tcp", "tcp, sender's count", 30816.803e6, 11559501824, 0, 0, 0, finding.GoodputOfSender},
		{"ntttcp-ru.json", "udp", "udp", 29900.859e6, 0, 7477296515, 0, 0, finding.NoLoss},
		{"ntttcp-windows.xml", "tcp", "tcp", 1887.437e6, 0, 2359767859, 0, 0, finding.NoRetransmits},
		{"ethr-b.txt", "tcp", "tcp, sender's count", (6.9e9 + 17.8e9 + 21.3e9) / 3, 0, 0, 0, 3, finding.RoundedFigures},
		{"ethr-b2.txt", "tcp", "tcp, sender's count", (17.1e9 + 16.1e9 + 16e9) / 3, 0, 0, 0, 3, finding.GoodputOfSender},
		{"ethr-b.log", "tcp", "tcp, sender's count", (6.9e9 + 17.8e9 + 21.3e9) / 3, 0, 0, 0, 3, finding.NoToolVersion},
		{"netperf-tcp_stream.txt", "tcp", "tcp, sender's count", 13806.12e6, 0, 0, 0, 0, finding.GoodputOfSender},
		{"netperf-tcp_maerts.txt", "tcp", "tcp reverse", 14169.35e6, 0, 0, 0, 0, finding.NoIntervals},
		{"netperf-udp_stream.txt", "udp", "udp", 1111.03e6, 0, 0, 0, 0, finding.NoIntervals},
		{"netperf-stream-k.txt", "tcp", "tcp, sender's count", 23178.74e6, 2899738624, 0, 0, 0, finding.NoRetransmits},
		{"netperf-omni-o-default.csv", "tcp", "tcp, sender's count", 14740.05e6, 0, 0, 0, 0, finding.GoodputOfSender},
	} {
		r := one(t, c.file)
		if r.Test != c.test || r.Trial.Label != c.label {
			t.Errorf("%s: test %s, label %q", c.file, r.Test, r.Trial.Label)
		}
		if c.bps != 0 && !close2(r.Summary.GoodputBps, c.bps) {
			t.Errorf("%s: %v bit/s, the file says %v", c.file, r.Summary.GoodputBps, c.bps)
		}
		if c.sent != 0 && r.Summary.SentBytes != c.sent || c.received != 0 && r.Summary.ReceivedBytes != c.received {
			t.Errorf("%s: %d bytes sent and %d received", c.file, r.Summary.SentBytes, r.Summary.ReceivedBytes)
		}
		if len(r.Flows) != 1 || len(r.Flows[0].Streams) != c.streams || len(r.Flows[0].Samples) != c.samples {
			t.Errorf("%s: %d flows, %d streams, %d samples", c.file, len(r.Flows), len(r.Flows[0].Streams), len(r.Flows[0].Samples))
		}
		if !strings.HasSuffix(string(c.missing), "?") && !isMissing(r, c.missing) {
			t.Errorf("%s: %q is not listed as missing: %+v", c.file, c.missing, r.Origin.Missing)
		}
	}
}

func TestRoundTripsAreWhatTheFileSays(t *testing.T) {
	for _, c := range []struct {
		file           string
		test           measure.Test
		label          string
		min, mean, max float64 // ns; 0: not given
		p50, p99       float64
		sent, received int64
		histogram      bool
	}{
		{"ping-linux.txt", "ping", "ping", 29e3, 35e3, 39e3, 0, 0, 5, 5, true},
		{"ping-linux-q.txt", "ping", "ping", 25e3, 31e3, 38e3, 0, 0, 3, 3, false},
		{"ping6-linux.txt", "ping", "ping", 36e3, 41e3, 51e3, 0, 0, 3, 3, true},
		{"ping-linux-lost.txt", "ping", "ping", 0, 0, 0, 0, 0, 3, 0, false},
		{"ping-windows-en.txt", "ping", "ping", 12e6, 13e6, 14e6, 0, 0, 4, 3, true},
		{"ping-windows-en-utf16.txt", "ping", "ping", 12e6, 13e6, 14e6, 0, 0, 4, 3, true},
		{"ping-windows-ja.txt", "ping", "ping", 12e6, 13e6, 14e6, 0, 0, 4, 3, true},
		{"ping-windows-ja-cp932.txt", "ping", "ping", 12e6, 13e6, 14e6, 0, 0, 4, 3, true},
		{"ping-windows-ja-utf16.txt", "ping", "ping", 12e6, 13e6, 14e6, 0, 0, 4, 3, true},
		{"ping-windows-fast.txt", "ping", "ping", 0, 0, 1e6, 0, 0, 4, 4, false},
		{"ping-windows-unreachable.txt", "ping", "ping", 0, 0, 0, 0, 0, 2, 0, false},
		{"ping-macos.txt", "ping", "ping", 11.941e6, 12.526e6, 13.204e6, 0, 0, 4, 3, true},
		{"ping-bsd6.txt", "ping", "ping", 0.388e6, 0.4e6, 0.412e6, 0, 0, 2, 2, true},
		{"ping-busybox.txt", "ping", "ping", 0.231e6, 0.268e6, 0.305e6, 0, 0, 2, 2, true},
		{"sockperf-pp-rtt.txt", "latency", "latency udp", 9711, 14859, 2122004, 14019, 23964, 36871, 36871, false},
		{"sockperf-pp.txt", "latency", "latency udp", 15314, 21946, 1942812, 21422, 35326, 24946, 24946, false},
		{"sockperf-ul.txt", "latency", "latency udp", 66556, 79010, 89544, 76830, 89544, 4, 4, false},
		{"netperf-omni-k.txt", "latency", "latency", 7e3, 10450, 893e3, 9e3, 20e3, 95160, 95160, false},
		{"netperf-omni-o.csv", "latency", "latency", 7e3, 13050, 882e3, 13e3, 24e3, 76172, 76172, false},
		{"netperf-tcp_rr.txt", "latency", "latency", 0, 1e9 / 65201.26, 0, 0, 0, 65201, 65201, false},
		{"netperf-udp_rr.txt", "latency", "latency udp", 0, 1e9 / 98300.84, 0, 0, 0, 98300, 98300, false},
		{"ethr-l.txt", "latency", "latency", 15496, (101628. + 147931 + 503381 + 325564) / 4, 4705000, 0, 0, 400, 400, false},
		{"ethr-l.log", "latency", "latency", 15496, (101628. + 147931 + 503381 + 325564) / 4, 4705000, 0, 0, 0, 0, false},
		{"ethr-pi.txt", "connect", "connect", 470751, 1317000, 2530000, 470751, 951485, 3, 3, true},
		{"ethr-pi.log", "connect", "connect", 470751, 1317000, 2530000, 470751, 951485, 3, 3, true},
	} {
		r := one(t, c.file)
		if r.Test != c.test || r.Trial.Label != c.label {
			t.Errorf("%s: test %s, label %q", c.file, r.Test, r.Trial.Label)
		}
		f := r.Summary.ReportedRTT
		if f == nil {
			f = &measure.RTTFigures{}
		}
		for name, v := range map[string]struct {
			got  *float64
			want float64
		}{"min": {f.Min, c.min}, "mean": {f.Mean, c.mean}, "max": {f.Max, c.max}, "p50": {f.P50, c.p50}, "p99": {f.P99, c.p99}} {
			if (v.got == nil) != (v.want == 0) || v.got != nil && !close2(*v.got, v.want) {
				got := "absent"
				if v.got != nil {
					got = fmt.Sprint(*v.got)
				}
				t.Errorf("%s: %s is %s, the file says %v", c.file, name, got, v.want)
			}
		}
		if r.Latency.Sent != c.sent || r.Latency.Received != c.received {
			t.Errorf("%s: %d sent, %d received", c.file, r.Latency.Sent, r.Latency.Received)
		}
		if got := r.Latency.Histogram != nil; got != c.histogram || got != (r.Summary.RTT != nil) {
			t.Errorf("%s: a histogram is there: %v", c.file, got)
		}
		if c.received > 0 && !c.histogram && !isMissing(r, finding.NoHistogram) && !isMissing(r, finding.PercentilesOfBlocks) {
			t.Errorf("%s: does not say that it has no histogram", c.file)
		}
	}
}

func TestSingleRoundTripsMakeAnExactHistogram(t *testing.T) {
	r := one(t, "ping-linux.txt")
	if h := r.Latency.Histogram; h.Count() != 5 || math.Abs(h.Mean()-35e3) > 1 || math.Abs(float64(h.Percentile(50))-35e3) > 36 {
		t.Errorf("%d round trips, mean %v, median %v", h.Count(), h.Mean(), h.Percentile(50))
	}
}

func TestARowOfEthrsLogHasItsPercentilesInOrder(t *testing.T) {
	text, log := one(t, "ethr-l.txt"), one(t, "ethr-l.log")
	if len(text.Latency.Rows) != 4 || len(log.Latency.Rows) != 4 {
		t.Fatalf("%d and %d rows", len(text.Latency.Rows), len(log.Latency.Rows))
	}
	for i := range text.Latency.Rows {
		a, b := text.Latency.Rows[i].RTT, log.Latency.Rows[i].RTT
		a.Count, b.Count = 0, 0
		if a != b {
			t.Errorf("row %d: %v on the console, %v in the log", i, a, b)
		}
	}
	if len(log.Findings.With(finding.PercentilesRenamed)) != 1 || len(text.Findings) != 0 {
		t.Errorf("findings: %+v and %+v", log.Findings, text.Findings)
	}
}

func TestConnectionsAreCounted(t *testing.T) {
	for file, want := range map[string]float64{
		"ethr-c.txt": (9900. + 10600 + 5500) / 3, "ethr-c.log": (9900. + 10600 + 5500) / 3, "netperf-tcp_crr.txt": 15122.56,
	} {
		if r := one(t, file); r.Test != measure.TestConnect || !close2(r.Summary.ConnectionsPerSecond, want) {
			t.Errorf("%s: %v connections/s, the file says %v", file, r.Summary.ConnectionsPerSecond, want)
		}
	}
}

func TestPacketsAndLossAreCounted(t *testing.T) {
	r := one(t, "iperf3-3.1-udp.json")
	if r.Summary.PacketsSent != 160 || r.Summary.PacketsLost != 8 || !close2(*r.Summary.LossRatio, 0.05) || !close2(*r.Summary.JitterNs, 42100) {
		t.Errorf("%+v", r.Summary)
	}
	r = one(t, "netperf-udp_stream.txt")
	if r.Summary.PacketsSent != 193083 || r.Summary.PacketsReceived != 99211 || !close2(r.Summary.PacketsPerSecond, 99211) {
		t.Errorf("%+v", r.Summary)
	}
	r = one(t, "ethr-p.txt")
	if !close2(r.Summary.PacketsPerSecond, (124.3e3+140.8e3+160.3e3)/3) || !isMissing(r, finding.NoLoss) {
		t.Errorf("%+v", r.Summary)
	}
	r = one(t, "iperf2-client-udp.txt")
	if r.Summary.PacketsSent != 1787 || *r.Summary.LossRatio != 0 || isMissing(r, finding.GoodputOfSender) {
		t.Errorf("the server's report was not taken: %+v %q", r.Summary, r.Origin.Missing)
	}
}

func TestDirectionsOfIperf3AreDistinguished(t *testing.T) {
	for _, file := range []string{"iperf3-3.12-bidir.json", "iperf3-3.21-bidir.json"} {
		r := one(t, file)
		if len(r.Flows) != 2 || r.Flows[0].Direction != measure.Forward || r.Flows[1].Direction != measure.Reverse || r.Trial.Label != "tcp bidirectional" {
			t.Fatalf("%s: %d flows, %q", file, len(r.Flows), r.Trial.Label)
		}
		for _, f := range r.Flows {
			if len(f.Samples) != 2 || len(f.Streams) != r.Options.Streams || f.Summary.GoodputBps <= 0 {
				t.Errorf("%s %s: %d samples, %d streams", file, f.Direction, len(f.Samples), len(f.Streams))
			}
		}
		if f, b := r.Flows[0].Samples[0], r.Flows[1].Samples[0]; f.SentBytes == 0 || f.ReceivedBytes != 0 || b.ReceivedBytes == 0 || b.SentBytes != 0 {
			t.Errorf("%s: the ends' samples are mixed up: %+v %+v", file, f, b)
		}
		if r.Summary.GoodputBps != r.Flows[0].Summary.GoodputBps+r.Flows[1].Summary.GoodputBps {
			t.Errorf("%s: goodput is not the sum of both", file)
		}
	}
	if r := one(t, "iperf3-3.12-bidir.json"); !close2(r.Flows[0].Summary.GoodputBps, 17680866537.996) || !close2(r.Flows[1].Summary.GoodputBps, 8160762732.54925) {
		t.Errorf("%v and %v", r.Flows[0].Summary.GoodputBps, r.Flows[1].Summary.GoodputBps)
	}
}

func TestTheServersOutputGivesTheReceiversSamples(t *testing.T) {
	r := one(t, "iperf3-3.12-get-server-output.json")
	if len(r.Flows[0].Samples) == 0 || r.Flows[0].Samples[0].ReceivedBytes != 4386652107 || isMissing(r, finding.IntervalsOfSender) {
		t.Errorf("%+v %q", r.Flows[0].Samples, r.Origin.Missing)
	}
}

func TestAServersFileYieldsAllItsTests(t *testing.T) {
	results := sample(t, "iperf3-3.12-server.json")
	var labels []string
	for i, r := range results {
		labels = append(labels, r.Trial.Label)
		if r.Origin.Record != i+1 || r.Path.Server.Name != "vm" || r.Hosts.Server == nil || r.Hosts.Client != nil || r.Summary.CPUSecPerGB != nil {
			t.Errorf("result %d: record %d, path %s", i, r.Origin.Record, r.Path)
		}
	}
	if strings.Join(labels, "|") != "tcp|tcp bidirectional, sender's count|tcp reverse, sender's count|udp|udp reverse, sender's count|tcp" {
		t.Errorf("%q", labels)
	}
	if len(sample(t, "ethr-server.txt")) != 7 || len(sample(t, "iperf2-server-tcp-e.txt")) != 4 || len(sample(t, "ethr-several.log")) != 2 {
		t.Error("tests of one file are joined or torn apart")
	}
}

// A sender knows of no losses and writes 0: a server in a reverse test, and a client that did not
// get the server's figures.
func TestTheLossesOfASenderAreUnknown(t *testing.T) {
	server := sample(t, "iperf3-3.12-server.json")
	document := text(t, "iperf3-3.12-udp.json")
	_, sums, found := strings.Cut(document, `"sum_received":`)
	if !found {
		t.Fatal("no sum of the receiver")
	}
	silent := strings.NewReplacer(`"packets":	153`, `"packets":	0`, `"bytes":	5013504`, `"bytes":	0`).Replace(sums)
	client, err := read(t, Auto, strings.TrimSuffix(document, sums)+silent)
	if err != nil || silent == sums {
		t.Fatal(err)
	}
	for name, r := range map[string]*measure.Result{"server": server[4], "client": client[0]} {
		if s := r.Summary; r.Test != measure.TestUDP || s.LossRatio != nil || s.JitterNs != nil || s.SentBytes == 0 || !isMissing(r, finding.NoLoss) {
			t.Errorf("%s: %+v, missing %+v", name, s, r.Origin.Missing)
		}
	}
	if r := server[3]; r.Summary.LossRatio == nil || isMissing(r, finding.NoLoss) {
		t.Errorf("a server that received: %+v", r.Summary)
	}
}

func TestAFailedTestIsAResultWithItsError(t *testing.T) {
	for _, file := range []string{"iperf3-3.12-refused.json", "iperf3-3.21-stream-refused.json"} {
		data, _ := os.ReadFile(filepath.Join("testdata", file))
		s, _ := NewSource(file, data, fileTime)
		results, err := Decode(s, "iperf3")
		if err != nil || results[0].Error == nil || results[0].Error.Kind != measure.KindUnreachable {
			t.Errorf("%s: %v %v", file, err, results)
			continue
		}
		// The cause is iperf3's message, by which a report counts failures.
		e := results[0].Error
		if cause, _ := e.Figures["cause"].(string); e.Code != "ingest.iperf3.reported" || cause == "" || e.Message != "iperf3: "+cause {
			t.Errorf("%s: %+v", file, e)
		}
	}
}

func TestEverySampleYieldsAValidDocumentWithItsOrigin(t *testing.T) {
	s := schema.Compile(t, "../../docs/reference/result.schema.json")
	files, _ := filepath.Glob("testdata/*.*")
	seen := 0
	for _, file := range files {
		name := filepath.Base(file)
		switch name {
		case "README.md", "ping-linux-de.txt", "fping-stdout-only.txt": // no output of a program, and files that are errors
			continue
		}
		for _, r := range sample(t, name) {
			seen++
			o := r.Origin
			if o.File != name || len(o.SHA256) != 64 || o.Line < 1 || o.Record < 1 || o.Format == "" || o.Tool == "" || len(o.Missing) == 0 || r.StartedAt.IsZero() {
				t.Errorf("%s: origin %+v, started %v", name, o, r.StartedAt)
			}
			if isMissing(r, finding.TimeOfFile) != r.StartedAt.Equal(fileTime) {
				t.Errorf("%s: started %v, missing %q", name, r.StartedAt, o.Missing)
			}
			r.ID = "0"
			r.Trial.Round, r.Trial.Order = 1, 1
			document, err := json.Marshal(r)
			if err != nil {
				t.Fatal(err)
			}
			if err := schema.Check(s, document); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			back := new(measure.Result)
			if err := json.Unmarshal(document, back); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	if seen < 60 {
		t.Errorf("only %d results", seen)
	}
}
