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
	if c.Has("verdict.rule." + v.Rule) {
		limit = c.Sentence("verdict.rule."+v.Rule, nil)
	}
	if v.Rate != nil && c.Has("verdict.rate."+string(v.Rate.Source)) {
		limit = c.Sentence("verdict.rate."+string(v.Rate.Source), Args{"Rate": v.Rate.Bps, "Requested": v.Rate.RequestedBps})
	}
	var evidence, or []string
	for _, e := range v.Evidence {
		if text := c.evidence(e, false); text != "" && len(evidence) < evidenceShown {
			evidence = append(evidence, text)
		}
	}
	for _, b := range v.Alternatives {
		or = append(or, c.Bottleneck(b))
	}
	return Args{"Limit": limit, "Confidence": v.Confidence, "Direction": v.Direction, "Evidence": evidence, "Or": or, "Tell": c.Probe(v.NextMeasurement), "Lifted": v.DurationWithoutLimitNs}
}

// Compared are the figures of a verdict with the thresholds that they were compared with.
func (c *Catalogue) Compared(v *measure.Verdict) (all []string) {
	for _, e := range v.Evidence {
		if text := c.evidence(e, true); text != "" {
			all = append(all, text)
		}
	}
	return all
}

// Remedy returns what helps against a limit, or "" for one that this version does not know.
func (c *Catalogue) Remedy(r *measure.Remedy) string {
	if r == nil || !c.Has("verdict.remedy."+r.Code) {
		return ""
	}
	return printable.Line(c.Sentence("verdict.remedy."+r.Code, Args(r.Figures)))
}

// evidence is a figure as a phrase, with the threshold if it is compared. It is "" for a figure
// that says nothing without the others, such as the number of streams.
func (c *Catalogue) evidence(e measure.Evidence, compared bool) string {
	if !c.Has("verdict.figure."+e.Figure) || !c.Has("verdict.value."+e.Unit) {
		return ""
	}
	value := func(v float64) string { return c.Sentence("verdict.value."+e.Unit, Args{"V": v}) }
	return c.Sentence("verdict.evidence", Args{
		"Figure": c.Sentence("verdict.figure."+e.Figure, nil), "Value": value(e.Value), "Comparison": e.Comparison,
		"Threshold": value(e.Threshold), "Compared": compared, "Detail": printable.Line(e.Detail),
	})
}
