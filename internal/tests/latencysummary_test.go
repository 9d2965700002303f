package tests

import (
	"fmt"
	"strings"
	"testing"

	"soku/internal/measure"
	"soku/internal/text"
)

func TestTheInterfaceIsInTheTextWhereItStamps(t *testing.T) {
	p := func(ns float64) measure.Percentiles { return measure.Percentiles{P50: ns, P99: 2 * ns} }
	iface := p(2000)
	var lines text.Lines
	splitSummary(&lines, &measure.Split{
		HostSendNs: p(4000), InterfaceNs: &iface, PathNs: p(21_000), FarHostNs: p(12_000), HostReceiveNs: p(6000), Unsplit: 3,
	})
	var b strings.Builder
	for _, l := range lines {
		label, sentence := text.English().Words(l)
		fmt.Fprintf(&b, "%-5s %s\n", label, sentence)
	}
	want := `split p50: host 4.000 µs + interface 2.000 µs + path 21.00 µs + far host 12.00 µs + host 6.000 µs
      p99: host 8.000 µs + interface 4.000 µs + path 42.00 µs + far host 24.00 µs + host 12.00 µs
      3 round trips lack a timestamp and are not in the split
`
	if b.String() != want {
		t.Errorf("got\n%swant\n%s", b.String(), want)
	}
}
