package ingest

import (
	"strings"
	"testing"

	"soku/internal/measure/finding"
)

// A unit that is too large for the path leaves no digits of the rate. The bytes and the time have them.
func TestARateOfFewDigitsIsComputedOfBytesAndTime(t *testing.T) {
	iperf2 := "------------------------------------------------------------\nClient connecting to 10.0.0.2, TCP port 5001\n" +
		"[  1] local 10.0.0.1 port 4711 connected with 10.0.0.2 port 5001\n[ ID] Interval       Transfer     Bandwidth\n[  1] 0.0000-10.0000 sec  "
	server := "Accepted connection from 10.0.0.1, port 4710\n[  5] local 10.0.0.2 port 5201 connected to 10.0.0.1 port 4711\n[ ID] Interval           Transfer     Bitrate\n" +
		"[  5]   0.00-1.00   sec   384 KBytes  0.00 Gbits/sec\n- - - - - - - - - - - - - - - - - - - - - - - - -\n[ ID] Interval           Transfer     Bitrate\n" +
		"[  5]   0.00-1.00   sec   384 KBytes  0.00 Gbits/sec                  receiver\n"
	sockperf := text(t, "sockperf-tp-tcp.txt")
	for name, c := range map[string]struct {
		text     string
		bps      float64
		computed bool
		rounded  bool
	}{
		"iperf3 -f g":                   {text(t, "iperf3-fg-slow.txt"), 384 * kib * 8, true, false},
		"iperf3 -f G":                   {strings.ReplaceAll(text(t, "iperf3-fg-slow.txt"), "0.00 Gbits/sec", "0.00 GBytes/sec"), 384 * kib * 8, true, false},
		"iperf3 -f t":                   {strings.ReplaceAll(text(t, "iperf3-fg-slow.txt"), "0.00 Gbits/sec", "0.00 Tbits/sec"), 384 * kib * 8, true, false},
		"iperf3 -f m, of two digits":    {strings.ReplaceAll(text(t, "iperf3-fg-slow.txt"), "0.00 Gbits/sec", "3.1 Mbits/sec"), 384 * kib * 8, true, false},
		"iperf3 -f m, of three digits":  {strings.ReplaceAll(text(t, "iperf3-fg-slow.txt"), "0.00 Gbits/sec", "3.15 Mbits/sec"), 3.15e6, false, false},
		"iperf3's server":               {server, 384 * kib * 8, true, false},
		"iperf3 without any bytes":      {strings.NewReplacer("384 KBytes", "0.00 Bytes", "0.00 Gbits/sec", "0.00 bits/sec").Replace(text(t, "iperf3-fg-slow.txt")), 0, false, false},
		"iperf 2":                       {iperf2 + "3.75 MBytes  0.00 Gbits/sec\n", 3.75 * mib * 8 / 10, true, false},
		"iperf 2, both rounded away":    {iperf2 + "0.00 GBytes  0.00 Gbits/sec\n", 0, false, true},
		"iperf 2, both with one digit":  {iperf2 + "0.01 GBytes  0.01 Gbits/sec\n", .01 * gib * 8 / 10, true, true},
		"iperf 2, of its usual digits":  {iperf2 + "3.75 MBytes  3.15 Mbits/sec\n", 3.15e6, false, false},
		"nuttcp":                        {"    0.0125 MB /  10.00 sec =    0.0105 Mbps 0 %TX 0 %RX 0 retrans 20.07 msRTT\n", 0.0105e6, false, false},
		"nuttcp, of two digits":         {"    0.0120 MB /   1.00 sec =    0.0099 Mbps 0 %TX 0 %RX 0 retrans 20.07 msRTT\n", 0.0099e6, false, false},
		"nuttcp, of one digit":          {"    0.0010 MB /  10.00 sec =    0.0008 Mbps 0 %TX 0 %RX 0 retrans 20.07 msRTT\n", .001 * mib * 8 / 10, true, true},
		"sockperf --giga":               {strings.NewReplacer("1369707", "750", "Summary: BandWidth is ", "Summary: BandWidth is 0.000 GBps (0.004 Gbps)\nsockperf: was ").Replace(sockperf), 750 * 1400 * 8 / 2., true, false},
		"netperf UDP_STREAM -f g":       {strings.NewReplacer("10^6bits/sec", "10^9bits/sec", "   1111.03", "      0.00", "99211", "   99").Replace(text(t, "netperf-udp_stream.txt")), 1400 * 99 * 8, true, false},
		"netperf omni -f g":             {strings.NewReplacer("23178.74", "0.00", "10^6bits/s", "10^9bits/s", "2899738624", "28997386").Replace(text(t, "netperf-stream-k.txt")), 0, true, false},
		"NTttcp for Windows, its table": {slowWindows, 262144 * 8 / 10., true, false},
	} {
		results, err := read(t, Auto, c.text)
		if err != nil || len(results) != 1 {
			t.Errorf("%s: %d results, %v", name, len(results), err)
			continue
		}
		r := results[0]
		if c.bps != 0 && !close2(r.Summary.GoodputBps, c.bps) || c.bps == 0 && c.computed && r.Summary.GoodputBps <= 0 {
			t.Errorf("%s: %v bit/s, want %v", name, r.Summary.GoodputBps, c.bps)
		}
		if isMissing(r, finding.GoodputComputed) != c.computed || (len(r.Findings.With(finding.RateRounded)) == 1) != c.rounded {
			t.Errorf("%s: missing %+v, findings %+v", name, r.Origin.Missing, r.Findings)
		}
	}
}

const slowWindows = `Copyright Version 5.39
Network activity progressing...


Thread  Time(s) Throughput(KB/s) Avg B / Compl
======  ======= ================ =============
     0   10.000           25.600     65536.000


#####  Totals:  #####


   Bytes(MEG)    realtime(s) Avg Frame Size Throughput(MB/s)
================ =========== ============== ================
        0.250000      10.000       1450.000            0.025
`
