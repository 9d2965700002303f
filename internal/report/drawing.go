package report

import (
	"soku/internal/measure"
)

// drawing is what the charts show of one trial.
type drawing struct {
	connections []point // a second
	points      []point // goodput, or the round trips of each slice
	sharings    []sharing
	load        loadSeries
	copied      *copySeries // nil: no files were copied
}

// series is one trial over time: rates in bit/s or round trips in ns.
type series struct {
	round, repeat int
	failed        bool
	points        []point
	until         float64 // seconds that the axis shows at least
}

type point struct{ at, value, high float64 } // seconds; high: latency's maximum

// sharing is what each stream of one direction of a trial got.
type sharing struct {
	round, repeat int
	direction     measure.Direction // of a trial that has both
	index         float64           // Jain's
	bps           []float64         // ascending; of many streams evenly spaced ones of that order
	count         int               // streams
}

// copySeries is one trial of the test copy over time: of the whole copy, or of its only
// stage. Each end has its own clock.
type copySeries struct {
	round, repeat int
	value         float64 // of the figure that ranks; NaN without one
	source, sink  *copyEnd
	network       []point // bit/s
	networkBps    float64 // over the whole stage; 0: no network
}

// copyEnd is the disk of one end: reading at the source, writing at the sink.
type copyEnd struct {
	// device is false where the folder has no block device: then rates are those of the
	// files, and there are no operations.
	device           bool
	rate, operations []point // bit/s, operations a second
	bps, perSecond   float64 // over the whole stage
	busy             float64 // share of the stage with an operation in flight, 0 to 1
}

// loadSeries is one trial's round trips over time. Times count from the first
// message, in seconds; the load is there between from and to.
type loadSeries struct {
	round, repeat int
	from, to      float64
	parts         [][]point // before, during and after the load
}
