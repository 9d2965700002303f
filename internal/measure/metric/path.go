package metric

import "soku/internal/measure"

// The metrics of connections and of the path that other code names.
var (
	Connections = &Definition{
		Key: "connections_per_second", Help: "connections that the server accepted; that the client opened where no soku server counted",
		Quantity: QuantityEventRate, Unit: "connections/s", Suffix: "per_second", Better: Higher, Over: MeanOfRounds, Member: "connections_per_second",
		Take: func(r *measure.Result) (float64, bool) {
			return r.Summary.ConnectionsPerSecond, r.Test == measure.TestConnect && r.Summary.ConnectionsPerSecond > 0
		},
		Ranks:  someAsFastAsPossible,
		Column: &Column{},
	}
	PathMTU = &Definition{
		Key: "path_mtu_bytes", Help: "largest IP packet that gets through unfragmented",
		Quantity: QuantityBytes, Unit: "bytes", Suffix: "bytes", Better: Higher, Over: MeanOfRounds, CSV: CSVNone, Member: "path_mtu_bytes",
		Take: func(r *measure.Result) (float64, bool) {
			return float64(r.Summary.PathMTUBytes), r.Summary.PathMTUBytes > 0
		},
		Column: &Column{Show: Always, Extra: []ExtraColumn{{Drop: 4, Show: Always}}},
	}
	// Hops has no place in a report's rows, which have the whole route.
	Hops = &Definition{
		Key: "hops", Help: "hops of the path up to the target, or to the last that answers",
		Quantity: QuantityCount, Unit: "hops", Over: MeanOfRounds, CSV: CSVNone,
		Take: func(r *measure.Result) (float64, bool) {
			if r.Trace == nil {
				return 0, false
			}
			return float64(len(r.Trace.Hops)), true
		},
	}
)

// Families of one metric, of the tests connect, mtu and trace.
var (
	ConnectionFamily = &Family{"Connections", "", []*Definition{Connections}}
	PathMTUFamily    = &Family{"Path MTU", "", []*Definition{PathMTU}}
	HopFamily        = &Family{"Hops", "", []*Definition{Hops}}
)

// someAsFastAsPossible reports whether connections per second differ between trials. Where
// every trial had a rate to keep they would all be alike; and an ingested trial
// may tell of set-ups only.
func someAsFastAsPossible(results []*measure.Result) bool {
	for _, r := range results {
		if r.Options.RequestRate == 0 && (r.Origin == nil || r.Summary.ConnectionsPerSecond > 0) {
			return true
		}
	}
	return false
}
