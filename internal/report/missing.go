package report

import (
	"encoding/json"
	"slices"

	"soku/internal/measure"
	"soku/internal/text"
)

// Missing is what ingested results do not have, and how many of them. Its JSON form
// also has the member text, in words.
type Missing struct {
	measure.Finding
	Trials int `json:"trials"`
}

// MarshalJSON writes what is missing as data and in words.
func (m Missing) MarshalJSON() ([]byte, error) {
	type plain Missing
	return json.Marshal(struct {
		plain
		Text string `json:"text"`
	}{plain(m), text.ForPrograms().Finding(m.Finding)})
}

// mostMissing is how much of what is missing a sentence names.
const mostMissing = 5

// missingFrom says what ingested trials lack, and how many of them if not all do. It returns ""
// if they have everything.
func missingFrom(trials int, all []Missing, c *text.Catalogue) string {
	if len(all) == 0 {
		return ""
	}
	var some []string
	for _, m := range all[:min(len(all), mostMissing)] {
		of := m.Trials
		if of >= trials {
			of = 0
		}
		some = append(some, c.Sentence("caveat.missing.one", text.Args{"Missing": c.Finding(m.Finding), "Trials": of}))
	}
	return c.Sentence("caveat.missing", text.Args{"Missing": some, "More": len(all) - len(some)})
}

// missing is that sentence for the trials of all tests.
func (v reportView) missing() string {
	var all []Missing
	for _, t := range v.Tests {
		for _, m := range t.Missing {
			if i := slices.IndexFunc(all, func(o Missing) bool { return o.Equal(m.Finding) }); i >= 0 {
				all[i].Trials += m.Trials
			} else if len(all) < maxWarnings {
				all = append(all, m)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b Missing) int { return b.Trials - a.Trials })
	return missingFrom(v.Ingested, all, v.Catalogue)
}
