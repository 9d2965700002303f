package cli

import (
	"soku/internal/measure"
	"soku/internal/measure/finding"
	"soku/internal/printable"
	"soku/internal/text"
)

// ingestedSummary adds what a result has that soku did not measure, where it came from
// and what is missing.
func ingestedSummary(c *text.Catalogue, out *text.Lines, r *measure.Result) {
	s, o := r.Summary, r.Origin
	out.Row("label.path", "summary.path", text.Args{"Path": pathText(c, r), "Test": r.Test})
	for _, f := range r.Flows {
		label := "label.goodput"
		if len(r.Flows) > 1 {
			label = "label.direction." + string(f.Direction)
		}
		out.Rows(label, goodputIngested(o, f.Summary.GoodputBps))
	}
	if s.SentBytes+s.ReceivedBytes > 0 {
		out.Row("label.moved", "summary.moved", text.Args{"Sent": s.SentBytes, "Received": s.ReceivedBytes})
	}
	if s.DurationNs > 0 {
		out.Row("label.took", "summary.text", text.Args{"Text": s.DurationNs})
	}
	if s.ConnectionsPerSecond > 0 {
		out.Row("label.accepted", "shown.connections", text.Args{"Rate": s.ConnectionsPerSecond})
	}
	if s.PacketsPerSecond > 0 {
		out.Row("label.packets", "shown.packets", text.Args{"Rate": s.PacketsPerSecond})
	}
	if s.Retransmits != nil {
		out.Row("label.resent", "summary.resent", text.Args{"Segments": *s.Retransmits})
	}
	if s.LossRatio != nil {
		out.Row("label.lost", "shown.lost", text.Args{"Percent": *s.LossRatio * 100})
	}
	if s.JitterNs != nil {
		out.Row("label.jitter", "summary.jitter", text.Args{"Jitter": *s.JitterNs})
	}
	if p := s.RTT; p != nil {
		out.Row("label.round_trip", "shown.round_trips", text.Args{"P50": p.P50, "Mean": p.Mean, "P99": p.Supported().P99, "Count": p.Count})
	}
	if figures := reportedFigures(c, s.ReportedRTT); len(figures) > 0 {
		out.Row("label.reported", "summary.text", text.Args{"Text": c.List(figures)})
	}
	out.Row("label.from", "shown.from", text.Args{"File": printable.Words(o.File), "Line": o.Line, "Source": printable.Words(o.Tool + " " + o.ToolVersion + " " + o.Source)})
	if e := o.Other; e != nil {
		out.Row("label.and", "shown.other_end", text.Args{"File": printable.Words(e.File), "Line": e.Line})
	}
	out.Row("label.missing", "ingest.missing", text.Args{"Missing": c.Findings(o.Missing)})
}

// goodputIngested says what a flow's goodput is and which end counted it.
func goodputIngested(o *measure.Origin, bps float64) text.Line {
	switch {
	case len(o.Missing.With(finding.GoodputOfSender)) > 0:
		return text.Line{Key: "shown.goodput.sender", Args: text.Args{"Goodput": bps}}
	case len(o.Missing.With(finding.CounterUnknown)) > 0:
		return text.Line{Key: "shown.goodput.unknown", Args: text.Args{"Goodput": bps}}
	}
	return text.Line{Key: "summary.goodput.received", Args: text.Args{"Goodput": bps}}
}

// reportedFigures are those that the source gives, each with its name.
func reportedFigures(c *text.Catalogue, f *measure.RTTFigures) []string {
	if f == nil {
		return nil
	}
	var out []string
	for _, p := range []struct {
		name  string
		value *float64
	}{
		{"rows.min", f.Min}, {"rows.mean", f.Mean}, {"rows.p50", f.P50}, {"rows.p90", f.P90}, {"rows.p95", f.P95}, {"rows.p99", f.P99},
		{"rows.p99_9", f.P999}, {"rows.p99_99", f.P9999}, {"rows.max", f.Max},
	} {
		if p.value != nil {
			out = append(out, c.Sentence("shown.figure", text.Args{"Name": c.Heading(p.name), "Value": *p.value}))
		}
	}
	return out
}
