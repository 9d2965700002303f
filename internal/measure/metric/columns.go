package metric

import "strings"

// CSVColumn is a column of a CSV report.
type CSVColumn struct {
	Name string
	Part Part
}

// Part is a side of a figure over several trials.
type Part int

// The parts.
const (
	PartFigure Part = iota // the one figure that the combination gives
	PartMean               // absent where only the ends of a range are known
	PartMin                // smallest trial
	PartMax                // largest trial
)

// CSVColumns are the columns that a CSV report has of the metric. Their names
// are part of the format: goodput_mean_bps, rtt_p50_ns.
func (m *Definition) CSVColumns() []CSVColumn {
	if m.CSV == CSVNone {
		return nil
	}
	stem := strings.TrimSuffix(m.Key, "_"+m.Suffix)
	column := func(side string, p Part) CSVColumn { return CSVColumn{stem + "_" + side + "_" + m.Suffix, p} }
	switch m.Over {
	case MeanOfRounds, MeanOfTrials:
		if m.CSV == CSVMean {
			return []CSVColumn{column("mean", PartMean)}
		}
		return []CSVColumn{column("mean", PartMean), column("min", PartMin), column("max", PartMax)}
	case MeanOrEnds:
		return []CSVColumn{{m.Key, PartMean}, column("low", PartMin), column("high", PartMax)}
	case Range:
		return []CSVColumn{column("low", PartMin), column("high", PartMax)}
	}
	return []CSVColumn{{m.Key, PartFigure}}
}

// ReportMember is a member of a row in the JSON form of a report.
type ReportMember struct {
	Path string // members of members separated by dots
	Part Part   // a number
	// Spread is set where it is an object of mean, min, max, cv and n instead.
	Spread bool
}

// ReportMembers are what the JSON form of a report has of the metric. Their names
// are part of the format.
func (m *Definition) ReportMembers() []ReportMember {
	switch {
	case m.Member == "":
		return nil
	case m.Of == nil:
		return []ReportMember{{Path: m.Member, Spread: true}}
	case m.Over == Range:
		return []ReportMember{{Path: m.Member + "_low", Part: PartMin}, {Path: m.Member + "_high", Part: PartMax}}
	}
	return []ReportMember{{Path: m.Member}}
}
