package text

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"soku/internal/measure"
	"soku/internal/measure/finding"
	"soku/internal/printable"
)

// Finding makes the sentence of a finding. Of a code that this version does not know
// it shows code and figures.
func (c *Catalogue) Finding(f measure.Finding) string {
	info, known := finding.Describe(f.Code)
	if !known {
		return c.Sentence("finding.unknown", Args{"Code": f.Code, "Where": f.Where, "Figures": figuresText(f.Figures)})
	}
	args := Args{"where": f.Where}
	for _, figure := range info.Figures {
		args[figure.Key] = f.Figures[figure.Key]
	}
	if f.Cause != nil {
		args["error"] = c.Failure(f.Cause)
	}
	return c.Sentence("finding."+string(f.Code), args)
}

// Findings are the sentences of several.
func (c *Catalogue) Findings(findings measure.Findings) []string {
	out := make([]string, len(findings))
	for i, f := range findings {
		out[i] = c.Finding(f)
	}
	return out
}

func figuresText(figures measure.Figures) string {
	var parts []string
	for _, key := range slices.Sorted(maps.Keys(figures)) {
		parts = append(parts, fmt.Sprintf("%s %v", key, figures[key]))
	}
	return strings.Join(parts, ", ")
}

// Where names the end or the direction that something is about.
func (c *Catalogue) Where(w measure.Where) string {
	if key := "where." + string(w); c.Has(key) {
		return c.Sentence("where."+string(w), nil)
	}
	return printable.Line(string(w))
}
