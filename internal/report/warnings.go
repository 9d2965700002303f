package report

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"soku/internal/measure"
)

// maxWarnings bounds the list: a damaged or hostile document may carry any
// number of different sentences.
const maxWarnings = 200

// collectWarnings counts the sentences that results carry, the most frequent
// first. Sentences that differ only in figures are one.
func collectWarnings(results []*measure.Result) []Warning {
	var out []Warning
	index := map[string]int{}
	for _, r := range results {
		counted := map[string]bool{}
		for _, text := range r.Warnings {
			shape := shapeOf(text)
			if counted[shape] {
				continue
			}
			counted[shape] = true
			i, known := index[shape]
			if !known {
				i = len(out)
				index[shape] = i
				out = append(out, Warning{Text: text})
			}
			w := &out[i]
			w.Trials++
			w.Alike = w.Alike || w.Text != text
			label, pattern := string(r.Test), r.Path.String()
			if r.Trial != nil {
				label, pattern = cmp.Or(r.Trial.Label, label), cmp.Or(r.Trial.Pattern, pattern)
			}
			w.Tests = including(w.Tests, label)
			w.Patterns = including(w.Patterns, pattern)
		}
	}
	slices.SortStableFunc(out, func(a, b Warning) int {
		return cmp.Or(cmp.Compare(b.Trials, a.Trials), strings.Compare(a.Text, b.Text))
	})
	return out[:min(len(out), maxWarnings)]
}

func including(list []string, text string) []string {
	if slices.Contains(list, text) {
		return list
	}
	list = append(list, text)
	slices.SortFunc(list, natural)
	return list
}

// shapeOf is the sentence without its figures and their unit prefixes.
func shapeOf(text string) string {
	var b strings.Builder
	figure := false
	for _, word := range strings.Fields(text) {
		digits := strings.ContainsFunc(word, unicode.IsDigit)
		if digits {
			word = "#"
		} else if figure && isUnit(word) {
			word = "unit"
		}
		figure = digits
		b.WriteString(word)
		b.WriteByte(' ')
	}
	return b.String()
}

func isUnit(word string) bool {
	word = strings.TrimRight(word, ",;.:)")
	for _, u := range []string{"bit/s", "B", "s"} {
		if rest, ok := strings.CutSuffix(word, u); ok && len(rest) <= 2 {
			return true
		}
	}
	return false
}
