package metric

import "soku/internal/measure"

// RPM is the responsiveness of a path under load.
var RPM = &Definition{
	Key: "responsiveness_rpm", Help: "round trips per minute under load: 60 s by the mean of the loaded round trips without the slowest twentieth",
	Quantity: QuantityEventRate, Unit: "RPM", Suffix: "rpm", Better: Higher, Over: MeanOfRounds, Member: "latency_under_load.responsiveness_rpm",
	Take: func(r *measure.Result) (float64, bool) { return r.Summary.RPM, r.UnderLoad != nil && r.Summary.RPM > 0 },
	Column: &Column{
		Show: Always, Extra: []ExtraColumn{{Drop: 4}},
	},
}

// UnderLoadFamily is shown in a table of its own.
var UnderLoadFamily = &Family{"Latency under load", "With the option with_latency.", append(
	append([]*Definition{RPM}, statisticsOf("idle_rtt", "round trips before and after the load", IdleRoundTrips, false, loadColumns(map[string]int{"p50": 1, "p99": 5}))...),
	statisticsOf("loaded_rtt", "round trips under load", LoadedRoundTrips, false, loadColumns(map[string]int{"p50": 0, "p99": 2, "max": 6}))...,
)}

func loadColumns(drop map[string]int) map[string]*Column {
	out := map[string]*Column{}
	for _, s := range statistics() {
		if d, shown := drop[s.name]; shown {
			out[s.name] = &Column{Drop: d, Show: Always}
		}
	}
	out["p50"].Scales = 1
	return out
}
