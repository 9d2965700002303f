package tests_test

import (
	"fmt"
	"strings"

	"soku/internal/measure"
	"soku/internal/tests"
	"soku/internal/text"
)

// A caller asks a descriptor whether the test needs a server, and how it is watched.
func Example() {
	english := text.English()
	for _, t := range []measure.Test{measure.TestTCP, measure.TestPing} {
		d := tests.Of(t)
		fmt.Printf("%s: needs a server %t\n", t, d.Open != nil)
		interval := measure.Progress{Bytes: 125e6, Bps: 1e9, RTT: &measure.Percentiles{Count: 10, Min: 2e5, P50: 3e5, P99: 4e5, Max: 5e5}}
		for _, column := range d.Live(tests.View{}) {
			fmt.Printf("  %s: %s\n", english.Heading(column.Head), strings.TrimSpace(column.Cell(english, interval)))
		}
	}
	// Output:
	// tcp: needs a server true
	//   goodput: 1.000 Gbit/s
	//   received: 125.0 MB
	// ping: needs a server false
	//   replies: 10
	//   min: 200.0 µs
	//   median: 300.0 µs
	//   p99: 400.0 µs
	//   max: 500.0 µs
}
