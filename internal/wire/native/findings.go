package native

import (
	"maps"
	"slices"
	"strings"

	"soku/internal/measure"
	"soku/internal/measure/finding"
)

// Limits on the findings that a server sends. A server of the present version sends a
// few, with at most four figures each.
const (
	mostFindings = 64
	mostFigures  = 16
)

// presentableFindings limits a server's findings and removes control characters, so that
// they can be shown and stored. A server of an earlier version sends sentences.
func presentableFindings(findings measure.Findings, sentences []string) measure.Findings {
	if len(findings) == 0 {
		findings = measure.OfSentences(sentences[:min(len(sentences), mostFindings)])
	}
	findings = findings[:min(len(findings), mostFindings)]
	for i, f := range findings {
		findings[i] = presentableFinding(f)
	}
	return findings
}

func presentableFinding(f measure.Finding) measure.Finding {
	f.Code, f.Where = finding.Code(clipName(string(f.Code))), measure.Where(clipName(string(f.Where)))
	if f.Severity != finding.Note {
		f.Severity = finding.Warning
	}
	f.Figures, f.Cause = presentableFigures(f.Figures), presentableFailure(f.Cause, mostCauses)
	return f
}

// presentableFigures keeps the first ones by their keys.
func presentableFigures(figures measure.Figures) measure.Figures {
	keys := slices.Sorted(maps.Keys(figures))
	out := make(measure.Figures, min(len(keys), mostFigures))
	for _, key := range keys[:min(len(keys), mostFigures)] {
		switch v := figures[key].(type) {
		case string:
			out[clipName(key)] = clip(v)
		case []string:
			v = slices.Clone(v[:min(len(v), mostFigures)])
			for i := range v {
				v[i] = clip(v[i])
			}
			out[clipName(key)] = v
		case float64:
			out[clipName(key)] = v
		}
	}
	return out
}

// clipName is clip for a key or a code.
func clipName(s string) string { return strings.Trim(clip(s), " ") }

// presentableTiming does the same to the timing of a server. One of an earlier version
// sends a phrase.
func presentableTiming(t *measure.Timing, phrase string) *measure.Timing {
	if t == nil && phrase != "" {
		t = new(measure.TimingOfPhrase(phrase))
	}
	if t != nil {
		for _, s := range []*string{&t.Loop, &t.Clock, &t.Wait, &t.Socket, &t.Call, &t.Tool} {
			*s = clip(*s)
		}
	}
	return t
}
