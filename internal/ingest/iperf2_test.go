package ingest

import (
	"strings"
	"testing"

	"soku/internal/measure"
	"soku/internal/measure/finding"
)

// The figures here were read from the files by hand.
func TestIperf2IsReadInEveryForm(t *testing.T) {
	const fwd, rev = measure.Forward, measure.Reverse
	for file, tests := range map[string][][]flowOfText{
		"iperf2-client-2.0-udp.txt":     {{{fwd, 1.04e6, 1.25 * mib, 1.24 * mib, -1, 893, 5, 0.006, 1, 2}}},
		"iperf2-server-2.0.txt":         {{{fwd, 940e6, 0, 224 * mib, -1, 0, 0, 0, 2, 2}}}, // a total before its last interval
		"iperf2-client-late-banner.txt": {{{fwd, 941e6, 1127 * mib, 0, -1, 0, 0, 0, 2, 0}}},
		"iperf2-client-tcp4.txt":        {{{fwd, (2.68 + 1.84 + 1.99 + 1.65) * 1e9, (643 + 440 + 478 + 399) * mib, 0, -1, 0, 0, 0, 4, 2}}},
		"iperf2-client-rev.txt":         {{{rev, 21.4e9, 0, 4.98 * gib, -1, 0, 0, 0, 1, 2}}},
		"iperf2-client-fd.txt":          {{{fwd, 7.31e9, 1.71 * gib, 0, -1, 0, 0, 0, 1, 2}, {rev, 7.29e9, 0, 1.70 * gib, -1, 0, 0, 0, 1, 2}}},
		"iperf2-client-fd-e.txt": {{
			{fwd, (6.34 + 4.23) * 1e9, 1589137899 + 1011*mib, 0, 41, 0, 0, 0, 2, 0}, // 1.48 GiB, rounded down for each stream
			{rev, (4.51 + 3.37) * 1e9, 0, 1127428915 + 809*mib, -1, 0, 0, 0, 2, 0},  // 1.05 GiB
		}},
		"iperf2-client-trip.txt": {{{fwd, 7.99e9, 1.87 * gib, 0, 10, 0, 0, 0, 1, 2}}},
		"iperf2-client-udp2.txt": {{{fwd, 20e6, 5012192, 5012192, -1, 3408, 1, (0.003 + 0.007) / 2, 2, 2}}}, // twice 2.39 MiB
		"iperf2-server-ways.txt": {
			{{fwd, 8.03e9, 0, 1.87 * gib, -1, 0, 0, 0, 1, 0}},
			{{rev, 13.9e9, 3.26 * gib, 0, 3, 0, 0, 0, 1, 0}},
			{{fwd, (6.34 + 4.23) * 1e9, 0, 1589137899 + 1011*mib, -1, 0, 0, 0, 2, 0}, {rev, (4.52 + 3.39) * 1e9, 1127428915 + 809*mib, 0, 12, 0, 0, 0, 2, 0}},
		},
	} {
		checkFlows(t, file, sample(t, file), tests)
	}
	if r := one(t, "iperf2-client-2.0-udp.txt"); r.Summary.PacketsReordered != 2 {
		t.Errorf("%d out of order", r.Summary.PacketsReordered)
	}
}

// The line of a connection for the way back may have its asterisk, too, instead of the word.
func TestAConnectionOfIperf2ForTheWayBackIsOfAReverseTest(t *testing.T) {
	marked := strings.NewReplacer("[  1] local", "[ *1] local", " (reverse)", "").Replace(text(t, "iperf2-client-rev.txt"))
	results, err := read(t, Auto, marked)
	if err != nil {
		t.Fatal(err)
	}
	if r := results[0]; r.Options.Direction != measure.Reverse || !close2(r.Summary.GoodputBps, 21.4e9) || r.Options.Streams != 1 {
		t.Errorf("%s, %v bit/s, %d streams", r.Options.Direction, r.Summary.GoodputBps, r.Options.Streams)
	}
}

// iperf's own sum is kept where it is another than that of the streams: 8.20 and 8.16 Gbit/s, of
// which rounding explains 0.025.
func TestIperf2sOwnSumIsKept(t *testing.T) {
	r := one(t, "iperf2-client-tcp4.txt")
	f := r.Findings.With(finding.SumDiffers)
	if len(f) != 1 {
		t.Fatalf("findings %+v", r.Findings)
	}
	if sum, streams := f[0].Figures["sum_bps"].(float64), f[0].Figures["goodput_bps"].(float64); !close2(sum, 8.20e9) || !close2(streams, 8.16e9) {
		t.Errorf("%v and %v", sum, streams)
	}
	if r := one(t, "iperf2-server-2.0.txt"); len(r.Findings) != 0 {
		t.Errorf("the same sum: %+v", r.Findings)
	}
}

// iperf 2 sends requests over TCP and prints the round trips as number=mean/min/max/deviation.
func TestIperf2sBounceBackIsALatencyTest(t *testing.T) {
	r := one(t, "iperf2-client-bb.txt")
	f := r.Summary.ReportedRTT
	if r.Trial.Label != "latency" || f == nil || f.Count != 20 || *f.Mean != 39e3 || *f.Min != 17e3 || *f.Max != 375e3 || *f.StdDev != 80e3 || r.Latency.Sent != 20 {
		t.Errorf("%q %+v", r.Trial.Label, f)
	}
	if !isMissing(r, finding.NoLoss) || !isMissing(r, finding.NoPercentiles) || r.Summary.GoodputBps != 0 {
		t.Errorf("%+v", r.Origin.Missing)
	}
}

func TestIperf2TestsBothWaysOfTwoConnectionsAreRefused(t *testing.T) {
	banner := "Client connecting to 10.0.0.2, TCP port 5001\n"
	_, err := read(t, Auto, text(t, "iperf2-server-2.0.txt")+banner)
	if err == nil || !strings.Contains(err.Error(), "in both directions") {
		t.Error(err)
	}
}
