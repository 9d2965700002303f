package metric

import "soku/internal/measure"

// CopyFamily is the figures of copied files, except their goodput.
var CopyFamily = &Family{"File copy", "The test copy. Its goodput is the contents of the files over the whole copy, flushing included.", []*Definition{
	CopyTime,
	{
		Key: "files_per_second", Help: "files copied per second",
		Quantity: QuantityEventRate, Unit: "files/s", Suffix: "per_second", Better: Higher, Over: MeanOfRounds, Member: "files_per_second",
		Take: func(r *measure.Result) (float64, bool) {
			s := copyStage(r)
			if s == nil || s.DurationNs <= 0 {
				return 0, false
			}
			return float64(s.Files) * 1e9 / float64(s.DurationNs), s.Files > 1
		},
		Column: &Column{Drop: 2},
	},
	stageMetric(measure.StageRead, "reading the files alone", 5),
	stageMetric(measure.StageNetwork, "the network alone, from memory to memory", 4),
	stageMetric(measure.StageWrite, "writing the files alone, from memory", 6),
}}

// CopyTime is how long a copy took.
var CopyTime = &Definition{
	Key: "copy_ns", Help: "time from the first file to the last one written and, with sync, flushed",
	Quantity: QuantityTime, Unit: "ns", Suffix: "ns", Better: Lower, Over: MeanOfRounds, Member: "copy_ns",
	Take: func(r *measure.Result) (float64, bool) {
		s := copyStage(r)
		if s == nil {
			return 0, false
		}
		return float64(s.DurationNs), s.DurationNs > 0
	},
	Column: &Column{Show: Always, Drop: 1, Scales: 1, Extra: []ExtraColumn{{Drop: 7}}},
}

// copyStage is the stage that the figures of a copy describe, or nil.
func copyStage(r *measure.Result) *measure.CopyStage {
	if r.Copy == nil {
		return nil
	}
	return r.Copy.Stage()
}

// stageMetric is the rate of a stage that was measured in addition to the whole copy.
func stageMetric(stage, help string, drop int) *Definition {
	return &Definition{
		Key: "copy_" + stage + "_bps", Help: "rate of " + help + ", where the stages were measured apart",
		Quantity: QuantityBitRate, Unit: "bit/s", Suffix: "bps", Better: Higher, Over: MeanOfRounds, Member: "copy_" + stage + "_bps",
		Take: func(r *measure.Result) (float64, bool) {
			if r.Copy == nil || len(r.Copy.Stages) < 2 {
				return 0, false
			}
			s := r.Copy.StageNamed(stage)
			if s == nil {
				return 0, false
			}
			return s.Bps(), s.Bps() > 0
		},
		Column: &Column{Drop: drop},
	}
}
