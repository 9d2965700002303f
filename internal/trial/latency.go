package trial

import (
	"soku/internal/engine/latency"
	"soku/internal/measure"
	"soku/internal/measure/finding"
	"soku/internal/tests"
)

// Sample counts from which a percentile of one trial is worth its name: the
// 99th needs some tens of values beyond it to be steady.
const (
	manyRoundTrips = 1000
	someRoundTrips = 100
)

func assembleLatency(r *measure.Result, l *measure.Latency, floor *measure.FloorReading) {
	l.Floor = floor
	r.Latency = l
	s := &r.Summary
	s.LateSends = l.LateSends
	s.PacketsSent, s.PacketsReceived, s.PacketsLost, s.PacketsDuplicated = l.Sent, l.Received, l.Lost, l.Duplicated
	if l.Sent > 0 {
		s.LossRatio = new(float64(l.Lost) / float64(l.Sent))
	}
	if n := len(l.Rows); n > 0 {
		s.DurationNs = measure.Duration(l.Rows[n-1].EndNs - l.Rows[0].StartNs)
	}
	if l.Histogram == nil || l.Histogram.Count() == 0 {
		s.SetConfidence(measure.Low, measure.NewFinding(finding.NoRoundTrip, "", nil))
		return
	}
	s.RTT = l.Histogram.Percentiles()
	if l.RowsCut {
		r.Findings.Add(finding.RowsCut, measure.AtClient, measure.Figures{"rows": len(l.Rows)})
	}
	if l.Application != nil {
		s.ApplicationRTT = l.Application.Percentiles()
	}
	if latency.OptionsOf(r.Options).Spin == "on" {
		warnNotSpinning(l, r)
	}
	if latency.OptionsOf(r.Options).Stamps == latency.StampsSplit {
		warnSplit(l, r)
	}
	s.SetConfidence(latencyConfidence(r.Connect != nil, l))
	if floor != nil {
		s.FloorNs = new(floor.RTT.P50)
		tests.ReportBaseline(r, floor.RTT.P50, nil)
	}
}

// warnNotSpinning reports at which end loops slept though they were to spin.
func warnNotSpinning(l *measure.Latency, r *measure.Result) {
	if t := l.ClientTiming(); !t.Spins() {
		r.Findings.Add(finding.NotSpinning, measure.AtClient, measure.Figures{"wait": t.Wait})
	}
	if t, known := l.EchoTiming(); known && !t.Spins() {
		r.Findings.Add(finding.NotSpinning, measure.AtServer, measure.Figures{"wait": t.Wait})
	}
}

// unsplitShare is the share of round trips without all stamps from which a warning
// says so.
const unsplitShare = 0.01

// warnSplit reports what is missing of a split that was asked for.
func warnSplit(l *measure.Latency, r *measure.Result) {
	if l.Split == nil {
		if l.ClientTiming().StampsDepartures() {
			r.Findings.Add(finding.SplitStampsMissing, "", nil)
		} else {
			r.Findings.Add(finding.SplitUnsupported, measure.AtClient, nil)
		}
		return
	}
	if t, _ := l.EchoTiming(); !t.StampsArrivals() {
		r.Findings.Add(finding.SplitFarKernelUnstamped, measure.AtServer, nil)
	}
	n, of := l.Split.Unsplit, l.Split.Unsplit+l.Split.WholeNs.Count
	if float64(n) > unsplitShare*float64(of) {
		r.Findings.Add(finding.SplitIncomplete, "", measure.Figures{"unsplit": n, "round_trips": of})
	}
}

func latencyConfidence(connections bool, l *measure.Latency) (measure.Confidence, measure.Finding) {
	n := l.Histogram.Count()
	figures := measure.Figures{"round_trips": n}
	if connections {
		figures = measure.Figures{"connections": n}
	}
	switch {
	case n < someRoundTrips:
		return measure.Low, measure.NewFinding(finding.FewForPercentiles, "", figures)
	case n < manyRoundTrips:
		return measure.Medium, measure.NewFinding(finding.FewForTail, "", figures)
	case l.Histogram.Clipped() > 0:
		return measure.Medium, measure.NewFinding(finding.Clipped, "", figures)
	}
	return measure.High, measure.NewFinding(finding.EnoughForTail, "", figures)
}

// assembleUnderLoad adds the latency of the path under load and without load.
func assembleUnderLoad(r *measure.Result, u *measure.UnderLoad) {
	r.UnderLoad = u
	idle := measure.NewHistogram()
	for _, l := range []*measure.Latency{u.Before, u.After} {
		if l != nil && l.Histogram != nil {
			idle.Merge(l.Histogram)
		}
	}
	if idle.Count() > 0 {
		r.Summary.IdleRTT = idle.Percentiles()
	}
	d := u.During
	if d == nil || d.Histogram == nil || d.Histogram.Count() == 0 {
		return
	}
	r.Summary.LoadedRTT, r.Summary.RPM = d.Histogram.Percentiles(), measure.RPM(d.Histogram)
	if share := float64(d.LateSends) / float64(max(d.Sent, 1)); share > lateShare {
		r.Findings.Add(finding.ProbesLate, measure.AtClient, measure.Figures{"late_ratio": share})
	}
}

// lateShare is the share of late messages from which a warning says so.
const lateShare = 0.05
