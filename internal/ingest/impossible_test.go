package ingest

import (
	"strings"
	"testing"

	"soku/internal/measure"
	"soku/internal/measure/finding"
)

// A figure that cannot be is left out, and the result says so; the others are read.
func TestFiguresThatCannotBeAreLeftOut(t *testing.T) {
	iperf3 := text(t, "iperf3-3.12-tcp.json")
	udp := text(t, "iperf3-3.12-udp.txt")
	iperf2 := text(t, "iperf2-server-udp-e.txt")
	for name, c := range map[string]struct {
		text  string
		bps   float64
		count int64 // of figures that cannot be
	}{
		"-nan":                       {text(t, "iperf3-minus-nan.json"), 99742336.16212288, 4},
		"nan":                        {strings.ReplaceAll(text(t, "iperf3-minus-nan.json"), "-nan", "nan"), 99742336.16212288, 4},
		"of Windows":                 {strings.ReplaceAll(text(t, "iperf3-minus-nan.json"), "-nan", "-nan(ind)"), 99742336.16212288, 4},
		"of old Windows":             {strings.ReplaceAll(text(t, "iperf3-minus-nan.json"), "-nan", "-1.#IND"), 99742336.16212288, 4},
		"infinite":                   {strings.ReplaceAll(text(t, "iperf3-minus-nan.json"), "-nan", "Infinity"), 99742336.16212288, 4},
		"in a text":                  {strings.Replace(iperf3, `"system_info":	"`, `"system_info":	"nan, `, 1), 25741356264.73737, 0},
		"an exponent with a blank":   {strings.Replace(text(t, "iperf3-3.1-tcp.json"), "9.39610e+08", "9.39610e 08", 9), 9.39610e8, 0},
		"an exponent without digits": {strings.Replace(iperf3, `"snd_cwnd":	`, `"snd_cwnd":	1e+, "x":	`, 1), 25741356264.73737, 1},
		"a rate":                     {strings.ReplaceAll(text(t, "iperf3-minus-nan.json"), "99742336.16212288", "-nan"), 24953600 * 8 / 2.001445, 5},
		"negative retransmits":       {strings.Replace(iperf3, `"retransmits":	`, `"retransmits":	-1, "x":	`, 1), 25741356264.73737, 1},
		"iperf3's text, jitter":      {strings.Replace(udp, "0.250 ms", "-nan ms", 9), 20.2e6, 1},
		"iperf3's text, counts":      {strings.Replace(udp, "0/154", "160/154", 1), 20.2e6, 1},
		"iperf 2, jitter":            {strings.Replace(iperf2, "0.001 ms 0/1787", "-nan ms 0/1787", 1), 10.5e6, 1},
		"iperf 2, negative counts":   {strings.ReplaceAll(iperf2, "0/1787", "0/-1787"), 10.5e6, 1},
		"nuttcp, counts":             {strings.Replace(text(t, "nuttcp-u.txt"), "0 / 198", "199 / 198", 1), 6.5524e6, 1},
		"mtr, a deviation":           {strings.Replace(text(t, "mtr-r.txt"), "0.0\n", "-nan\n", 1), 0, 1},
		"sockperf, a percentile":     {strings.Replace(text(t, "sockperf-pp.txt"), "percentile 99.900 = ", "percentile 99.900 = -nan\nsockperf: was ", 1), 0, 1},
		"ping, a deviation":          {strings.Replace(text(t, "ping-linux.txt"), "/0.003 ms", "/-nan ms", 1), 0, 0},
	} {
		results, err := read(t, Auto, c.text)
		if err != nil || len(results) != 1 {
			t.Errorf("%s: %d results, %v", name, len(results), err)
			continue
		}
		r := results[0]
		if c.bps != 0 && !close2(r.Summary.GoodputBps, c.bps) {
			t.Errorf("%s: %v bit/s, want %v", name, r.Summary.GoodputBps, c.bps)
		}
		found := r.Findings.With(finding.FiguresAbsent)
		switch {
		case c.count == 0 && len(found) > 0, c.count != 0 && len(found) != 1:
			t.Errorf("%s: %+v", name, r.Findings)
		case c.count > 0:
			if n := found[0].Figures["count"]; n != float64(c.count) {
				t.Errorf("%s: %v figures, want %d", name, n, c.count)
			}
		}
	}
}

func TestNumbersThatNoFigureCanBe(t *testing.T) {
	for text, want := range map[string]bool{
		"nan": true, "-nan": true, "NaN": true, "+inf": true, "-Infinity": true, "-nan(ind)": true, "-1.#IND": true, "1.#INF00": true, "1.#QNAN": true,
		"-1": true, "1e300": true, "1e999": true, " -nan ": true,
		"0": false, "12.5": false, "": false, "x": false, "info": false, "nano": false, "null": false, "1.5#": false, "0x-1": false, "-": false, "ind_": false, "Unknown": false,
	} {
		if got := impossible(text); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

// More datagrams cannot be lost than were sent.
func TestALossOfMoreThanWasSentIsNotPublished(t *testing.T) {
	r := one(t, "iperf3-udp-impossible-loss.json")
	found := r.Findings.With(finding.LossImpossible)
	if r.Test != measure.TestUDP || r.Summary.LossRatio != nil || r.Summary.PacketsLost != 0 || !isMissing(r, finding.NoLoss) || len(found) != 1 {
		t.Fatalf("%+v, %+v", r.Summary, r.Findings)
	}
	if f := found[0].Figures; f["lost"] != 364936.0 || f["sent"] != 17850.0 {
		t.Errorf("%v", f)
	}
	if !close2(r.Summary.GoodputBps, 101038.4) || !close2(*r.Summary.JitterNs, 6354.70373633314) {
		t.Errorf("%v bit/s, jitter %v", r.Summary.GoodputBps, *r.Summary.JitterNs)
	}
	// What was sent is more than what was lost here.
	possible := strings.ReplaceAll(text(t, "iperf3-udp-impossible-loss.json"), "364936", "8000")
	results, err := read(t, Auto, strings.ReplaceAll(possible, "367040", "17850"))
	if err != nil || results[0].Summary.LossRatio == nil || !close2(*results[0].Summary.LossRatio, 8000./17850) {
		t.Errorf("%v %+v", err, results)
	}
}

func TestAnImpossibleDeviationOfMtrIsAbsentAndItsOtherFiguresAreErrors(t *testing.T) {
	report := text(t, "mtr-r.txt")
	target := func(figures string) string {
		return strings.Replace(report, "0.1   0.1   0.1   0.1   0.0\n", figures, 1)
	}
	results, err := read(t, Auto, target("0.1   0.1   0.1   0.1  -nan\n"))
	if err != nil || results[0].Summary.ReportedRTT == nil || results[0].Summary.ReportedRTT.StdDev != nil || len(results[0].Findings.With(finding.FiguresAbsent)) != 1 {
		t.Errorf("a deviation: %v, %+v", err, results)
	}
	for _, figures := range []string{"-nan   0.1   0.1   0.1   0.0\n", "0.1  -nan   0.1   0.1   0.0\n", "0.1   0.1    -1   0.1   0.0\n", "0.1   0.1   0.1   inf   0.0\n"} {
		if _, err := read(t, Auto, target(figures)); err == nil || !strings.Contains(err.Error(), "f:5: mtr's figure") {
			t.Errorf("%q: %v", figures, err)
		}
	}
}
