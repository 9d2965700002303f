package tests

import (
	"fmt"
	"strings"
	"testing"

	"soku/internal/measure"
	"soku/internal/text"
)

func TestTheInterfaceIsInTheTextWhereItStamps(t *testing.T) {
	p := func(ns float64) measure.Percentiles { return measure.Percentiles{P50: ns, P99: 2 * ns, Count: 1000} }
	iface := p(2000)
	var lines text.Lines
	splitSummary(&lines, &measure.Split{
		WholeNs:    p(45_000),
		HostSendNs: p(4000), InterfaceNs: &iface, PathNs: p(21_000), FarHostNs: p(12_000), HostReceiveNs: p(6000), Unsplit: 3,
	})
	want := `split p50: host 4.000 µs + interface 2.000 µs + path 21.00 µs + far host 12.00 µs + host 6.000 µs
      p99: host 8.000 µs + interface 4.000 µs + path 42.00 µs + far host 24.00 µs + host 12.00 µs
      3 round trips lack a timestamp and are not in the split
`
	if got := wordsOf(lines); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

// wordsOf are lines as people read them.
func wordsOf(lines text.Lines) string {
	var b strings.Builder
	for _, l := range lines {
		label, sentence := text.English().Words(l)
		fmt.Fprintf(&b, "%-5s %s\n", label, sentence)
	}
	return b.String()
}

func TestTheTailHasOnlyPercentilesThatTheCountSupports(t *testing.T) {
	for count, want := range map[int]string{
		5: "", 150: "p90", 300: "p95", 3000: "p99", 30_000: "p99.9", 200_000: "p99.99",
	} {
		h := measure.NewHistogram()
		for i := range count {
			h.Record(int64(1000 + i))
		}
		p := h.Percentiles()
		var lines text.Lines
		latencySummary(&lines, &measure.Result{Latency: &measure.Latency{Histogram: h}, Summary: measure.Summary{RTT: p}})
		tail := ""
		for line := range strings.Lines(wordsOf(lines)) {
			if rest, is := strings.CutPrefix(line, "tail"); is {
				tail = rest
			}
		}
		last := ""
		for _, part := range strings.Split(tail, ",") {
			last, _, _ = strings.Cut(strings.TrimSpace(part), " ")
		}
		if last != want {
			t.Errorf("of %d round trips the last percentile is %q, want %q: %s", count, last, want, tail)
		}
	}
}
