package report_test

import (
	"fmt"
	"log"
	"os"
	"time"

	"soku/internal/measure"
	"soku/internal/measure/option"
	"soku/internal/report"
	"soku/internal/text"
)

// Three rounds compare two paths.
func Example() {
	b := report.NewBuilder(report.Input{Campaign: report.Meta{ID: "01", Name: "Which path is faster?"}}, 6)
	for round := 1; round <= 3; round++ {
		for path, mbits := range map[string]float64{"direct": 900, "tunnel": 400} {
			b.Add(&measure.Result{
				Schema: measure.Schema, ID: fmt.Sprint(path, round), Test: measure.TestTCP, Options: option.Defaults(measure.TestTCP),
				StartedAt: time.Date(2026, 1, 1, 12, round, 0, 0, time.UTC),
				Trial:     &measure.Trial{Campaign: "01", Pattern: path, Label: "tcp", Round: round, Repeat: 1, Levels: []measure.Level{{Factor: "path", Value: path}}},
				Summary:   measure.Summary{GoodputBps: (mbits + float64(round)) * 1e6, Confidence: measure.High},
			})
		}
	}
	r, err := b.Report()
	if err != nil {
		log.Fatal(err)
	}
	if err := r.Text(os.Stdout, text.English(), 80); err != nil {
		log.Fatal(err)
	}
	// Output:
	// Which path is faster?
	// 6 trials in 3 rounds, 2026-01-01 12:01 to 12:03 UTC, campaign 01, not finished
	//
	// tcp: TCP goodput, 1 stream, forward, 10s each
	//   Path direct is fastest: 902.0 Mbit/s, 2.2 × the next, tunnel with 402.0 Mbit/s
	//     (95 % interval 2.2 to 2.3 ×); seen in 3 of 3 rounds.
	//
	//   Figures
	//   path    goodput (Mbit/s)  range (Mbit/s)     CV  trials  confidence
	//   direct             902.0  901.0 to 903.0  0.1 %       3  3 high
	//   tunnel             402.0  401.0 to 403.0  0.2 %       3  3 high
	//
	//   Ranking by goodput, higher is better
	//   rank  pattern  goodput (Mbit/s)  95 % interval (Mbit/s)
	//      1  direct              902.0          899.5 to 904.5
	//      2  tunnel              402.0          399.5 to 404.5
	//     direct: highest of 2 over 3 rounds
	//     tunnel: 55.4 % below direct (95 % interval 55.3 to 55.6 %, seen in 3 of 3
	//       rounds)
}
