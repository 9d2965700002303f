package ingest

import (
	"math"
	"slices"
	"strings"
	"testing"

	"soku/internal/engine/latency"
	"soku/internal/measure"
	"soku/internal/measure/finding"
)

// roundTripsOfText is what a sample prints of round trips, read by hand, in ms. 0: it is not printed.
type roundTripsOfText struct {
	test           measure.Test
	sent, received int64
	loss           float64 // -1: not printed
	min, mean, max float64
	p50, p99       float64
	times          int64 // in the histogram
	server         string
	port           int
	size           measure.Size
	version        string
}

func (c roundTripsOfText) check(t *testing.T, name string, r *measure.Result) {
	t.Helper()
	got := roundTripsOfText{test: r.Test, loss: -1, server: r.Path.Server.Address, port: r.Options.Port, size: r.Options.Size, version: r.Origin.ToolVersion}
	if l := r.Latency; l != nil {
		got.sent, got.received = l.Sent, l.Received
		if l.Histogram != nil {
			got.times = l.Histogram.Count()
		}
	}
	if r.Summary.LossRatio != nil {
		got.loss = *r.Summary.LossRatio
	}
	if f := r.Summary.ReportedRTT; f != nil {
		for from, to := range map[**float64]*float64{&f.Min: &got.min, &f.Mean: &got.mean, &f.Max: &got.max, &f.P50: &got.p50, &f.P99: &got.p99} {
			if *from != nil {
				*to = math.Round(**from) / 1e6
			}
		}
	}
	if got != c {
		t.Errorf("%s:\n%+v, the file says\n%+v", name, got, c)
	}
	if (got.times > 0) != (r.Summary.RTT != nil) || (got.times == 0) != isMissing(r, finding.NoHistogram) && c.received > 0 {
		t.Errorf("%s: %d times, percentiles %v, missing %+v", name, got.times, r.Summary.RTT, r.Origin.Missing)
	}
}

func TestRoundTripsOfOtherProgramsAreRead(t *testing.T) {
	for file, want := range map[string]roundTripsOfText{
		"latte.txt":                {"latency", 65100, 65100, -1, 0, .14645, 0, 0, 0, 0, "", 0, 4, ""},
		"psping-tcp.txt":           {"connect", 4, 3, .25, 1.04, 1.15, 1.31, 0, 0, 3, "10.9.0.4", 443, 0, "2.12"},
		"psping-latency.txt":       {"latency", 1000, 1000, -1, .62, .88, 4.41, 0, 0, 0, "10.9.0.4", 5201, 8192, "2.12"},
		"lagscope.txt":             {"latency", 62110, 62110, -1, .108121, .160711, 4.102002, .152, .301, 0, "10.9.0.4", 6001, 0, "1.0.1"},
		"cps-client.txt":           {"connect", 0, 0, -1, 0, 5.1, 0, 2.2, 30, 0, "", 0, 0, ""},
		"sockperf-full-log.csv":    {"latency", 475, 475, 0, .041992, .088412, .402118, .09031, .150021, 475, "", 0, 64, ""},
		"test-connection-ps51.txt": {"ping", 4, 4, 0, 0, 0, 2, 0, 0, 0, "10.9.0.4", 0, 32, ""},
		"test-connection-ps7.txt":  {"ping", 4, 3, .25, 0, 0, 0, 0, 0, 3, "10.9.0.4", 0, 32, ""},
		"ping-cisco-ios.txt":       {"ping", 5, 4, .2, 3, 4, 9, 0, 0, 0, "10.9.0.4", 0, 0, ""},
		"ping-macos-comma.txt":     {"ping", 3, 3, 0, 28.406, 29.711, 31.549, 0, 0, 3, "192.0.2.206", 0, 56, ""},
	} {
		want.check(t, file, one(t, file))
	}
	if r := one(t, "cps-client.txt"); r.Summary.ConnectionsPerSecond != 19005 || *r.Summary.ReportedRTT.P9999 != 2020e6 || r.Summary.DurationNs != seconds(20.001) {
		t.Errorf("cps: %+v", r.Summary)
	}
	for file, protocol := range map[string]string{"latte.txt": "tcp", "psping-latency.txt": "tcp", "lagscope.txt": "tcp", "sockperf-full-log.csv": "udp"} {
		if got := latency.OptionsOf(one(t, file).Options).Protocol; got != protocol {
			t.Errorf("%s: over %q", file, got)
		}
	}
	for file, warned := range map[string]bool{"test-connection-ps51.txt": true, "test-connection-ps7.txt": true, "ping-cisco-ios.txt": true, "ping-macos-comma.txt": false} {
		if got := len(one(t, file).Findings.With(finding.WholeMilliseconds)) == 1; got != warned {
			t.Errorf("%s: whole milliseconds: %v", file, got)
		}
	}
}

// Other forms that these programs write, and other programs that write so.
func TestOtherFormsOfTheseProgramsAreRead(t *testing.T) {
	psping := text(t, "psping-tcp.txt")
	cisco := text(t, "ping-cisco-ios.txt")
	log := text(t, "sockperf-full-log.csv")
	ps51 := "\nSource        Destination     IPV4Address      IPV6Address                              Bytes    Time(ms)\n------        -----------     -----------      -----------                              -----    --------\n"
	ps7 := text(t, "test-connection-ps7.txt")
	for name, c := range map[string]struct {
		text string
		want []roundTripsOfText
	}{
		"ping, German decimals on Linux": {"PING a (10.0.0.7) 56(84) bytes of data.\n64 bytes from a (10.0.0.7): icmp_seq=1 ttl=57 time=12,5 ms\n\n--- a ping statistics ---\n1 packets transmitted, 1 received, 0% packet loss, time 0ms\nrtt min/avg/max/mdev = 12,500/12,500/12,500/0,000 ms\n",
			[]roundTripsOfText{{"ping", 1, 1, 0, 12.5, 12.5, 12.5, 0, 0, 1, "10.0.0.7", 0, 56, ""}}},
		"PsPing, German decimals": {strings.NewReplacer("1.31ms", "1,31ms", "1.11ms", "1,11ms", "1.04ms", "1,04ms", "1.15ms", "1,15ms").Replace(psping),
			[]roundTripsOfText{{"connect", 4, 3, .25, 1.04, 1.15, 1.31, 0, 0, 3, "10.9.0.4", 443, 0, "2.12"}}},
		"PsPing, ICMP": {"PsPing v2.10 - PsPing\n\nPinging 10.9.0.4 with 32 bytes of data:\n5 iterations (warmup 1) ping test:\nReply from 10.9.0.4: (warmup) 0.95ms\nReply from 10.9.0.4: 0.91ms\nReply from 10.9.0.4: 0.69ms\nRequest timed out.\nReply from 10.9.0.4: 0.94ms\n\n" +
			"Ping statistics for 10.9.0.4:\n  Sent = 4, Received = 3, Lost = 1 (25% loss),\n  Minimum = 0.69ms, Maximum = 0.94ms, Average = 0.85ms\n",
			[]roundTripsOfText{{"ping", 4, 3, .25, .69, .85, .94, 0, 0, 3, "10.9.0.4", 0, 32, "2.10"}}},
		"PsPing without its banner, misspelt, with a histogram": {"UDP latency test connecting to [fd00::4]:5201: Connected\n15 iterations (warmup 5) sending 64 bytes UDP latency test:   0%\nConnected\n15 iterations (warmup 5) sending 64 bytes UDP latency test: 100%\n\n" +
			"UDP roundtrip latency statistics (post warmup):\n  Sent = 10, Size = 64, Total Bytes: 640,\n  Minimum = 0.19ms, Maxiumum = 0.58ms, Average = 0.27ms\n\nLatency\tCount\n0.30\t8\n0.58\t2\n",
			[]roundTripsOfText{{"latency", 10, 10, -1, .19, .27, .58, 0, 0, 0, "fd00::4", 5201, 64, ""}}},
		"PsPing, nothing answers": {psping[:strings.Index(psping, "Connecting to")] + "\nTCP connect statistics for 10.9.0.4:443:\n  Sent = 4, Received = 0, Lost = 4 (100% loss),\n",
			[]roundTripsOfText{{"connect", 4, 0, 1, 0, 0, 0, 0, 0, 0, "10.9.0.4", 443, 0, "2.12"}}},
		"lagscope, a table of percentiles": {text(t, "lagscope.txt")[:strings.Index(text(t, "lagscope.txt"), "09:11:32 INFO: Percentile")] + "\nPercentile\t Latency(us)\n     50% \t 152\n     75% \t 170\n   99.9% \t 301\n\nInterval(usec)\t Frequency\n      0 \t 1\n",
			[]roundTripsOfText{{"latency", 62110, 62110, -1, .108121, .160711, 4.102002, .152, 0, 0, "10.9.0.4", 6001, 0, "1.0.1"}}},
		"Cisco, no answer": {"Sending 5, 100-byte ICMP Echos to 10.9.0.9, timeout is 2 seconds:\n.....\nSuccess rate is 0 percent (0/5)\n",
			[]roundTripsOfText{{"ping", 5, 0, 1, 0, 0, 0, 0, 0, 0, "10.9.0.9", 0, 0, ""}}},
		"Cisco, twice, and below a millisecond": {cisco + strings.NewReplacer("3/4/9", "0/1/1", "80 percent (4/5)", "100 percent (5/5)").Replace(cisco),
			[]roundTripsOfText{{"ping", 5, 4, .2, 3, 4, 9, 0, 0, 0, "10.9.0.4", 0, 0, ""}, {"ping", 5, 5, 0, 0, 1, 1, 0, 0, 0, "10.9.0.4", 0, 0, ""}}},
		"Test-Connection 5.1, two targets, one of which fails": {ps51 +
			"A             b               10.0.0.2                                                  32       3\nTest-Connection : Testing connection to computer 'c' failed: Error due to lack of resources\nA             b               10.0.0.2                                                  32       5\n",
			[]roundTripsOfText{{"ping", 2, 2, 0, 0, 0, 0, 0, 0, 2, "b", 0, 32, ""}, {"ping", 1, 0, 1, 0, 0, 0, 0, 0, 0, "c", 0, 0, ""}}},
		"Test-Connection 5.1, twice": {strings.Repeat(ps51+"A             b               10.0.0.2                                                  32       3\n", 2),
			[]roundTripsOfText{{"ping", 1, 1, 0, 0, 0, 0, 0, 0, 1, "b", 0, 32, ""}, {"ping", 1, 1, 0, 0, 0, 0, 0, 0, 1, "b", 0, 32, ""}}},
		"Test-Connection 7, two targets, one without answer": {ps7 + "\n   Destination: 10.9.0.9\n\nPing Source           Address                   Latency BufferSize Status\n                                                   (ms)        (B)\n---- ------           -------                   ------- ---------- ------\n   1 client1          *                               *          * TimedOut\n",
			[]roundTripsOfText{{"ping", 4, 3, .25, 0, 0, 0, 0, 0, 3, "10.9.0.4", 0, 32, ""}, {"ping", 1, 0, 1, 0, 0, 0, 0, 0, 0, "10.9.0.9", 0, 0, ""}}},
		"sockperf's log of halves": {strings.NewReplacer("avg-rtt=88.412 (std-dev=19.303)", "avg-latency=44.206 (std-dev=9.6515)", "rtt(usec)", "latency(usec)").Replace(log),
			[]roundTripsOfText{{"latency", 475, 475, 0, .083984, .088412, .804236, .18062, .300042, 475, "", 0, 64, ""}}},
		"sockperf's log with times alone": {log[:strings.Index(log, ", rtt(usec)")] + "\n" + strings.Repeat("7, 2.440000000, 2.440100000\n", 475),
			[]roundTripsOfText{{"latency", 475, 475, 0, .041992, .088412, .402118, .09031, .150021, 475, "", 0, 64, ""}}},
		"sockperf's log with the warm-up": {log + "475, 11.940000000, 11.940100000, 116.000\n",
			[]roundTripsOfText{{"latency", 475, 475, 0, .041992, .088412, .402118, .09031, .150021, 0, "", 0, 64, ""}}},
		"latte, twice": {text(t, "latte.txt") + "\n" + strings.Replace(text(t, "latte.txt"), "146.45", "146.46", 1),
			[]roundTripsOfText{{"latency", 65100, 65100, -1, 0, .14645, 0, 0, 0, 0, "", 0, 4, ""}, {"latency", 65100, 65100, -1, 0, .14646, 0, 0, 0, 0, "", 0, 4, ""}}},
		"cps, twice": {strings.Repeat(text(t, "cps-client.txt"), 2),
			slices.Repeat([]roundTripsOfText{{"connect", 0, 0, -1, 0, 5.1, 0, 2.2, 30, 0, "", 0, 0, ""}}, 2)},
	} {
		results, err := read(t, Auto, c.text)
		if err != nil || len(results) != len(c.want) {
			t.Errorf("%s: %d results, %v", name, len(results), err)
			continue
		}
		for i, r := range results {
			c.want[i].check(t, name, r)
			different := i > 0 && results[0].Path.Server != r.Path.Server
			if different && (len(r.Trial.Levels) != 1 || r.Trial.Levels[0] != measure.Level{Factor: "target", Value: r.Path.Server.Name}) {
				t.Errorf("%s: levels %+v", name, r.Trial.Levels)
			}
		}
	}
}

func TestRunsOfTheseProgramsWithoutFiguresAreErrorsOrFailures(t *testing.T) {
	psping := text(t, "psping-tcp.txt")
	for name, c := range map[string]struct{ text, want string }{
		"PsPing, a bandwidth": {"PsPing v2.10 - PsPing\n\nTCP bandwidth test connecting to 10.9.0.4:5201: Connected\n", "a bandwidth test of PsPing"},
		"PsPing, cut off":     {psping[:strings.Index(psping, "TCP connect statistics")], "cut off: PsPing's statistics are missing after the run that begins in line 6"},
		"sockperf, cut off":   {text(t, "sockperf-full-log.csv")[:19000], "less than the 475 packets"},
		"sockperf, a column":  {strings.Replace(text(t, "sockperf-full-log.csv"), "rtt(usec)", "x", 1), `column "x" is not known`},
		"Cisco, cut off":      {"Sending 5, 100-byte ICMP Echos to 10.9.0.9, timeout is 2 seconds:\n.....\n", "cut off: ping's summary"},
		"cps, cut off":        {text(t, "cps-client.txt")[:200], "###ENDCPS"},
		"mtr, a hop":          {strings.Replace(text(t, "mtr.json"), `"Avg"`, `"Av"`, 1), "hop 1 of mtr's report"},
		"mtr, many hops":      {strings.Replace(text(t, "mtr.json"), `"count": 1`, `"count": 256`, 1), "hop 1 of mtr's report"},
	} {
		if _, err := read(t, Auto, c.text); measure.KindOf(err) != measure.KindFile || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	none, err := read(t, Auto, text(t, "cps-client.txt")[:85]+"\n   10.001       40    960        0        0  0 0\n\n!!!NO CONNECTIONS WERE ESTABLISHED!!!\n")
	if err != nil || none[0].Error == nil || none[0].Error.Kind != measure.KindUnreachable {
		t.Errorf("cps without a connection: %v %+v", err, none)
	}
}

func TestARunOfCpsWithoutConnectionsEndsBeforeTheNextRun(t *testing.T) {
	good := text(t, "cps-client.txt")
	none := good[:85] + "\n   10.001       40    960        0        0  0 0\n\n!!!NO CONNECTIONS WERE ESTABLISHED!!!\n"
	whole, refused := runOfLog{19005, ""}, runOfLog{0, measure.KindUnreachable}
	for name, c := range map[string]struct {
		text string
		want []runOfLog
	}{
		"before":  {none + good, []runOfLog{refused, whole}},
		"between": {good + none + good, []runOfLog{whole, refused, whole}},
		"twice":   {none + none, []runOfLog{refused, refused}},
		"only":    {none, []runOfLog{refused}},
	} {
		results, err := read(t, Auto, c.text)
		if err != nil || len(results) != len(c.want) {
			t.Errorf("%s: %d results, want %d, %v", name, len(results), len(c.want), err)
			continue
		}
		for i, r := range results {
			if r.Summary.ConnectionsPerSecond != c.want[i].bps || (r.Error != nil) != (c.want[i].kind != "") {
				t.Errorf("%s: result %d: %v connections per second, %v", name, i+1, r.Summary.ConnectionsPerSecond, r.Error)
			}
		}
	}
}

func TestMtrsOtherReportsAreRead(t *testing.T) {
	column := text(t, "mtr-rwbz-as-column.txt")
	document := text(t, "mtr.json")
	for name, c := range map[string]struct {
		text              string
		target, name      string
		hops              int
		mean, best, worst float64 // ms
		noTarget          bool
	}{
		"the column AS":             {column, "127.0.0.1", "localhost", 1, .1, 0, .2, true},
		"a hop without an answer":   {strings.Replace(column, "  1. AS???    localhost (127.0.0.1) ", "  1. AS???    ???                 100.0     3    0.0   0.0   0.0   0.0   0.0\n  2. AS64500  localhost (127.0.0.1) ", 1), "127.0.0.1", "localhost", 2, .1, 0, .2, true},
		"JSON":                      {document, "localhost", "", 1, .071, .064, .077, true},
		"JSON, a name and address":  {strings.Replace(document, `"localhost"`, `"localhost (127.0.0.1)"`, 1), "127.0.0.1", "localhost", 1, .071, .064, .077, false},
		"JSON, numbers as texts":    {strings.NewReplacer(`"count": 1`, `"count": "1", "ASN": "AS???"`, `"Snt": 3`, `"Snt": "3"`, `"Avg": 0.071`, `"Avg": "0.071"`).Replace(document), "localhost", "", 1, .071, .064, .077, true},
		"JSON, packets of any size": {strings.Replace(document, `"psize": "64"`, `"psize": "rand(28-1500)"`, 1), "localhost", "", 1, .071, .064, .077, true},
	} {
		results, err := read(t, Auto, c.text)
		if err != nil || len(results) != 1 {
			t.Errorf("%s: %d results, %v", name, len(results), err)
			continue
		}
		r := results[0]
		hops := r.Trace.Hops
		last := hops[len(hops)-1]
		if len(hops) != c.hops || last.Nodes[0].Address != c.target || last.Nodes[0].Name != c.name || last.Sent != 3 || !r.Trace.Reached || r.Path.Server.Address != c.target {
			t.Errorf("%s: %+v, to %+v", name, hops, r.Path.Server)
		}
		if f := r.Summary.ReportedRTT; f == nil || !close2(*f.Mean, c.mean*1e6) || !close2(*f.Min, c.best*1e6) || !close2(*f.Max, c.worst*1e6) || isMissing(r, finding.NoTarget) != c.noTarget {
			t.Errorf("%s: %+v, missing %+v", name, f, r.Origin.Missing)
		}
	}
	if results, err := read(t, Auto, document+document); err != nil || len(results) != 2 {
		t.Errorf("two documents: %d results, %v", len(results), err)
	}
}

// A client of iperf 2.0 writes its own line of a UDP test with 9 columns, and the server's report with 14.
func TestTheServersReportInIperf2sCSVIsOfTheSameTest(t *testing.T) {
	const ends, back = "10.0.0.1,4711,10.0.0.2,5001,3,", "10.0.0.2,5001,10.0.0.1,4711,3,"
	own := "20260101000000," + ends + "0.0-10.0,1312500,1050000\n"
	report := "20260101000000," + back + "0.0-10.0,1308090,1046472,0.006,3,893,0.336,0\n"
	intervals := "20260101000000," + ends + "0.0-1.0,131250,1050000\n20260101000000," + ends + "1.0-2.0,131250,1050000\n"
	second := strings.NewReplacer(",4711,", ",4712,", "20260101000000", "20260101001000", "1046472", "1046473").Replace(own + report)
	for name, c := range map[string]struct {
		text    string
		tests   int
		samples int
	}{
		"one":                 {own + report, 1, 0},
		"not turned round":    {own + strings.Replace(report, back, ends, 1), 1, 0},
		"with intervals":      {intervals + own + report, 1, 2},
		"two":                 {own + report + second, 2, 0},
		"two, the same ports": {own + report + own + strings.Replace(report, "1046472", "1046473", 1), 2, 0},
	} {
		results, err := read(t, Auto, c.text)
		if err != nil || len(results) != c.tests {
			t.Errorf("%s: %d results, %v", name, len(results), err)
			continue
		}
		for i, r := range results {
			s := r.Summary
			if r.Test != measure.TestUDP || s.GoodputBps != 1046472+float64(i) || s.SentBytes != 1312500 || s.ReceivedBytes != 1308090 || s.PacketsSent != 893 || s.PacketsLost != 3 || *s.JitterNs != 6000 ||
				len(r.Flows[0].Samples) != c.samples || r.Options.Streams != 1 || isMissing(r, finding.CounterUnknown) || isMissing(r, finding.GoodputOfSender) || r.Path.Server.Address != "10.0.0.2" {
				t.Errorf("%s: %+v, missing %+v", name, s, r.Origin.Missing)
			}
		}
	}
	if r, err := read(t, Auto, own); err != nil || r[0].Test != measure.TestTCP || !isMissing(r[0], finding.CounterUnknown) {
		t.Errorf("without a report: %v %+v", err, r)
	}
}
