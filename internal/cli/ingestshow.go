package cli

import (
	"fmt"
	"strings"

	"soku/internal/measure"
	"soku/internal/text"
)

// printIngested writes what a result has that soku did not measure, where it came
// from and what it lacks.
func printIngested(row rowPrinter, r *measure.Result) {
	s, o := r.Summary, r.Origin
	row("path", "%s, %s", pathText(r), r.Test)
	for _, f := range r.Flows {
		name := "goodput"
		if len(r.Flows) > 1 {
			name = string(f.Direction)
		}
		row(name, "%s, %s", measure.FormatRate(f.Summary.GoodputBps), countedBy(o))
	}
	for _, f := range []struct {
		name string
		text string
		have bool
	}{
		{"moved", fmt.Sprintf("%s sent, %s received", measure.FormatBytes(float64(s.SentBytes)), measure.FormatBytes(float64(s.ReceivedBytes))), s.SentBytes+s.ReceivedBytes > 0},
		{"took", s.DurationNs.String(), s.DurationNs > 0},
		{"accepted", fmt.Sprintf("%.4g connections/s", s.ConnectionsPerSecond), s.ConnectionsPerSecond > 0},
		{"packets", fmt.Sprintf("%.4g/s", s.PacketsPerSecond), s.PacketsPerSecond > 0},
	} {
		if f.have {
			row(f.name, "%s", f.text)
		}
	}
	if s.Retransmits != nil {
		row("resent", "%s", measure.Plural(*s.Retransmits, "segment"))
	}
	if s.LossRatio != nil {
		row("lost", "%.4g %%", *s.LossRatio*100)
	}
	if s.JitterNs != nil {
		row("jitter", "%s", measure.FormatLatency(*s.JitterNs))
	}
	if p := s.RTT; p != nil {
		row("round trip", "median %s, mean %s, p99 %s, of %d single times", measure.FormatLatency(p.P50), measure.FormatLatency(p.Mean), measure.FormatLatency(p.P99), p.Count)
	}
	if text := rttFiguresText(s.ReportedRTT); text != "" {
		row("reported", "%s", text)
	}
	row("from", "%s, line %d, %s", o.File, o.Line, strings.Join(strings.Fields(o.Tool+" "+o.ToolVersion+" "+o.Source), " "))
	if e := o.Other; e != nil {
		row("and", "%s, line %d, the other end", e.File, e.Line)
	}
	row(text.English().Say("label.missing", nil), "%s", text.English().Say("ingest.missing", text.Args{"Missing": text.English().Findings(o.Missing)}))
	printFindings(row, r.Findings)
}

// countedBy says which end's count a goodput is.
func countedBy(o *measure.Origin) string {
	switch {
	case len(o.Missing.With(measure.CodeGoodputOfSender)) > 0:
		return "counted at the sender"
	case len(o.Missing.With(measure.CodeCounterUnknown)) > 0:
		return "not known at which end"
	}
	return "counted at the receiver"
}

// rttFiguresText lists the figures that the source gives.
func rttFiguresText(f *measure.RTTFigures) string {
	if f == nil {
		return ""
	}
	var parts []string
	for _, p := range []struct {
		name string
		v    *float64
	}{
		{"min", f.Min}, {"mean", f.Mean}, {"p50", f.P50}, {"p90", f.P90}, {"p95", f.P95}, {"p99", f.P99}, {"p99.9", f.P999}, {"p99.99", f.P9999}, {"max", f.Max},
	} {
		if p.v != nil {
			parts = append(parts, p.name+" "+measure.FormatLatency(*p.v))
		}
	}
	return strings.Join(parts, ", ")
}
