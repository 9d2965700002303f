package report

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"unicode"

	"soku/internal/measure"
	"soku/internal/measure/finding"
	"soku/internal/text"
)

// maxWarnings bounds the list: a damaged or hostile document may carry any
// number of different findings.
const maxWarnings = 200

// collectWarnings counts the findings that results carry, the most frequent first.
func collectWarnings(results []*measure.Result) []Warning {
	var out []Warning
	index := map[kind]int{}
	for _, r := range results {
		counted := map[kind]bool{}
		for _, f := range r.Findings {
			k := kindOf(f)
			if counted[k] {
				continue
			}
			counted[k] = true
			i, known := index[k]
			if !known {
				i = len(out)
				index[k] = i
				out = append(out, Warning{Finding: f})
			}
			w := &out[i]
			w.Trials++
			w.Alike = w.Alike || !w.Equal(f)
			label, pattern := string(r.Test), r.Path.String()
			if r.Trial != nil {
				label, pattern = cmp.Or(r.Trial.Label, label), cmp.Or(r.Trial.Pattern, pattern)
			}
			w.Tests = including(w.Tests, label)
			w.Patterns = including(w.Patterns, pattern)
		}
	}
	slices.SortStableFunc(out, func(a, b Warning) int {
		return cmp.Or(cmp.Compare(b.Trials, a.Trials), cmp.Compare(a.Code, b.Code), cmp.Compare(a.Where, b.Where), cmp.Compare(a.Text("text"), b.Text("text")))
	})
	return out[:min(len(out), maxWarnings)]
}

// kind is what findings that are counted together have in common.
type kind struct {
	code  finding.Code
	where measure.Where
	shape string // of a sentence
}

func kindOf(f measure.Finding) kind {
	k := kind{code: f.Code, where: f.Where}
	if f.Code == finding.Text {
		k.shape = shapeOf(f.Text("text"))
	}
	return k
}

// MarshalJSON writes the finding, its sentence and who has it.
func (w Warning) MarshalJSON() ([]byte, error) {
	type plain Warning
	return json.Marshal(struct {
		plain
		Text string `json:"text"`
	}{plain(w), text.ForPrograms().Finding(w.Finding)})
}

func including(list []string, name string) []string {
	if slices.Contains(list, name) {
		return list
	}
	list = append(list, name)
	slices.SortFunc(list, natural)
	return list
}

// shapeOf is the sentence without its figures and their unit prefixes.
func shapeOf(sentence string) string {
	var b strings.Builder
	figure := false
	for _, word := range strings.Fields(sentence) {
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
