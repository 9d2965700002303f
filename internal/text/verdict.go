package text

import (
	"soku/internal/measure"
	"soku/internal/printable"
)

// evidenceShown is how many figures a summary gives for a verdict.
const evidenceShown = 3

// Bottleneck names what limited a trial; one that this version does not know stays as it is.
func (c *Catalogue) Bottleneck(b measure.Bottleneck) string {
	if !c.Has("verdict.limit." + string(b)) {
		return printable.Line(string(b))
	}
	return c.Sentence("verdict.limit."+string(b), nil)
}

// Probe names a measurement that would tell; one that this version does not know is empty.
func (c *Catalogue) Probe(p measure.Probe) string {
	if !c.Has("verdict.probe." + string(p)) {
		return ""
	}
	return c.Sentence("verdict.probe."+string(p), nil)
}

// VerdictArgs are the arguments of the sentence summary.verdict.
func (c *Catalogue) VerdictArgs(v *measure.Verdict) Args {
	limit := c.Bottleneck(v.LimitedBy)
	if v.LimitedBy == measure.BottleneckNone && v.Confidence == measure.Low {
		limit = c.Sentence("verdict.nothing_found", nil)
	}
	if v.Rate != nil && c.Has("verdict.rate."+string(v.Rate.Source)) {
		limit = c.Sentence("verdict.rate."+string(v.Rate.Source), Args{"Rate": v.Rate.Bps, "Requested": v.Rate.RequestedBps})
	}
	var evidence, or []string
	for _, e := range v.Evidence {
		if text := c.evidence(e); text != "" && len(evidence) < evidenceShown {
			evidence = append(evidence, text)
		}
	}
	for _, b := range v.Alternatives {
		or = append(or, c.Bottleneck(b))
	}
	return Args{"Limit": limit, "Confidence": v.Confidence, "Direction": v.Direction, "Evidence": evidence, "Or": or, "Tell": c.Probe(v.NextMeasurement), "Lifted": v.DurationWithoutLimitNs}
}

// evidence is a comparison as a phrase, or "" if it says nothing without the others, such as
// the number of streams.
func (c *Catalogue) evidence(e measure.Evidence) string {
	if !c.Has("verdict.figure."+e.Figure) || !c.Has("verdict.value."+e.Unit) {
		return ""
	}
	value := func(v float64) string { return c.Sentence("verdict.value."+e.Unit, Args{"V": v}) }
	return c.Sentence("verdict.evidence", Args{
		"Figure": c.Sentence("verdict.figure."+e.Figure, nil), "Value": value(e.Value), "Comparison": e.Comparison,
		"Threshold": value(e.Threshold), "Detail": printable.Line(e.Detail),
	})
}
