package native

import (
	"maps"
	"slices"
	"strings"

	"soku/internal/measure"
)

// Bounds on the findings that a server sends. A server of the present version sends a
// few, with at most four figures each.
const (
	mostFindings = 64
	mostFigures  = 16
)

// presentableFindings bounds what a server found and removes control characters, so
// that it can be shown and kept. A server of an earlier version sends sentences.
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
	name := func(s string) string { return strings.Trim(clip(s), " ") }
	f.Code, f.Where = measure.Code(name(string(f.Code))), measure.Where(name(string(f.Where)))
	if f.Severity != measure.SeverityNote {
		f.Severity = measure.SeverityWarning
	}
	keys := slices.Sorted(maps.Keys(f.Figures))
	for i, key := range keys {
		value := f.Figures[key]
		delete(f.Figures, key)
		if i >= mostFigures {
			continue
		}
		if s, is := value.(string); is {
			value = clip(s)
		}
		f.Figures[name(key)] = value
	}
	return f
}

// presentableTiming does the same to the timing of a server. One of an earlier version
// sends a phrase.
func presentableTiming(t *measure.Timing, phrase string) *measure.Timing {
	if t == nil && phrase != "" {
		old := measure.TimingOfPhrase(phrase)
		t = &old
	}
	if t != nil {
		for _, s := range []*string{&t.Loop, &t.Clock, &t.Wait, &t.Socket, &t.Call, &t.Tool} {
			*s = clip(*s)
		}
	}
	return t
}
