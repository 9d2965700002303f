package store

import (
	"fmt"
	"strconv"
	"strings"

	"soku/internal/measure"
)

// Headline is the one figure a person looks for in a result: goodput, with loss
// for datagrams, the median round trip with the 99th percentile, connections a second with
// their set-up time, hops with the round trip to the target, or the path MTU. A failed
// trial has its kind of failure instead.
func Headline(r *measure.Result) string {
	if r.Error != nil {
		return "failed: " + strings.ReplaceAll(string(r.Error.Kind), "_", " ")
	}
	s := r.Summary
	switch r.Test {
	case measure.TestConnect:
		text := strconv.FormatFloat(s.ConnectionsPerSecond, 'f', 0, 64) + " connections/s"
		if s.RTT != nil {
			text += fmt.Sprintf(" (set-up %s, p99 %s)", measure.FormatLatency(s.RTT.P50), measure.FormatLatency(s.RTT.P99))
		}
		return text + strings.Replace(lossText(s), " % lost", " % failed", 1)
	case measure.TestTrace:
		return traceLine(r)
	case measure.TestMTU:
		return strconv.Itoa(s.PathMTUBytes) + " bytes"
	case measure.TestLatency, measure.TestPing:
		if s.RTT == nil {
			return reported(s.ReportedRTT) + lossText(s)
		}
		text := fmt.Sprintf("%s (p99 %s)", measure.FormatLatency(s.RTT.P50), measure.FormatLatency(s.RTT.P99))
		return text + lossText(s)
	}
	return measure.FormatRate(s.GoodputBps) + lossText(s)
}

// reported is the headline of an ingested result without a histogram.
func reported(f *measure.RTTFigures) string {
	switch {
	case f != nil && f.P50 != nil && f.P99 != nil:
		return fmt.Sprintf("%s (p99 %s)", measure.FormatLatency(*f.P50), measure.FormatLatency(*f.P99))
	case f != nil && f.P50 != nil:
		return measure.FormatLatency(*f.P50)
	case f != nil && f.Mean != nil:
		return "mean " + measure.FormatLatency(*f.Mean)
	case f != nil && f.Max != nil:
		return "at most " + measure.FormatLatency(*f.Max)
	}
	return "no reply"
}

func traceLine(r *measure.Result) string {
	if r.Trace == nil {
		return "no hops"
	}
	text := measure.Plural(len(r.Trace.Hops), "hop")
	if !r.Trace.Reached || r.Summary.RTT == nil {
		return text + ", target silent"
	}
	return text + ", " + measure.FormatLatency(r.Summary.RTT.P50) + lossText(r.Summary)
}

func lossText(s measure.Summary) string {
	if s.LossRatio == nil || *s.LossRatio == 0 {
		return ""
	}
	return ", " + strconv.FormatFloat(*s.LossRatio*100, 'g', 3, 64) + " % lost"
}
