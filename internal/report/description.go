package report

import (
	"slices"
	"time"

	"soku/internal/text"
)

// options are those of the trials, each with its value or its values.
func (t testView) options() []string {
	var out []string
	for _, o := range t.Same {
		out = append(out, t.Sentence("report.option", text.Args{"Key": o.Key, "Value": o.Values[0]}))
	}
	for _, o := range t.Different {
		values := make([]string, len(o.Values))
		for i, v := range o.Values {
			if values[i] = v; v == "" {
				values[i] = t.Sentence("report.option.not_set", nil)
			}
		}
		out = append(out, t.Sentence("report.option.varied", text.Args{"Key": o.Key, "Values": values}))
	}
	return out
}

// mostCauses is how many causes a list of failures has.
const mostCauses = 12

// failures are the sentences of trials that failed. One that several trials share is there
// once, with how many they are; of more than [mostCauses] the first are there.
func (t testView) failures() []string {
	var out []string
	trials := map[string][]Failure{}
	var sentences []string
	for _, f := range t.Failures {
		message, hint := t.Error(f.Error)
		sentence := t.Sentence("report.failure.cause", text.Args{"Message": message, "Hint": hint})
		if trials[sentence] == nil {
			sentences = append(sentences, sentence)
		}
		trials[sentence] = append(trials[sentence], f)
	}
	for i, sentence := range sentences {
		if i == mostCauses {
			return append(out, t.Sentence("report.failures.more", text.Args{"More": len(sentences) - mostCauses}))
		}
		if alike := trials[sentence]; len(alike) > 1 {
			patterns := failedPatterns(alike)
			some := patterns[:min(len(patterns), mostPatterns)]
			out = append(out, t.Sentence("report.failures", text.Args{"Cause": sentence, "Trials": len(alike), "Patterns": some, "More": len(patterns) - len(some)}))
			continue
		}
		f := trials[sentence][0]
		out = append(out, t.Sentence("report.failure", text.Args{"Pattern": f.Pattern, "Round": f.Round, "Repeat": f.Repeat, "Cause": sentence}))
	}
	return out
}

// failedPatterns are the patterns of failures, each once.
func failedPatterns(failures []Failure) (patterns []string) {
	for _, f := range failures {
		patterns = addOnce(patterns, f.Pattern)
	}
	return patterns
}

// reportView is a report with the language that its texts are made in.
type reportView struct {
	*Report
	*text.Catalogue
}

func (r reportView) title() string {
	if r.Title == "" {
		return r.Sentence("report.by_hand", nil)
	}
	return r.Title
}

// mostPlaces is how many zones the head of a report names.
const mostPlaces = 4

// subtitle says how much was measured, between which hosts, where they are, and when.
func (r reportView) subtitle() string {
	var times Times
	if r.Times != nil {
		times = *r.Times
	}
	var names, places []string
	for _, h := range r.Hosts {
		names = addOnce(names, h.Name)
		if c := h.latest.Cloud; c != nil && c.Location() != "" {
			places = addOnce(places, c.Location())
		}
	}
	if len(places) > mostPlaces {
		places = nil
	}
	return r.Sentence("report.subtitle", text.Args{
		"Hosts": names, "Places": places,
		"Missed": times.Missed, "Times": times.Of, "Trials": r.Trials, "Rounds": r.Rounds, "Failed": r.Failed, "Period": r.period(), "Campaign": r.Campaign.ID,
		"Emulated": r.Emulated, "Unfinished": r.Campaign.FinishedAt.IsZero(),
	})
}

const minute = "2006-01-02 15:04"

func (r reportView) period() string {
	if r.undated {
		return r.Sentence("report.undated", nil)
	}
	from, to := r.From.UTC(), r.To.UTC()
	args := text.Args{"From": from.Format(minute), "To": ""}
	switch {
	case from.Format(minute) == to.Format(minute):
	case from.Format(time.DateOnly) == to.Format(time.DateOnly):
		args["To"] = to.Format("15:04")
	default:
		args["To"] = to.Format(minute)
	}
	return r.Sentence("report.period", args)
}

// mostPatterns is how many patterns a warning names.
const mostPatterns = 4

// warnings are the sentences of findings, with the tests and patterns that have them.
func (r reportView) warnings() []string {
	out := make([]string, len(r.Warnings))
	for i, w := range r.Warnings {
		some := w.Patterns[:min(len(w.Patterns), mostPatterns)]
		out[i] = r.Sentence("report.warning", text.Args{
			"Trials": w.Trials, "Finding": r.Finding(w.Finding), "Alike": w.Alike, "Tests": w.Tests, "Patterns": some, "More": len(w.Patterns) - len(some),
		})
	}
	return out
}

// methods are the sentences on how figures and ranks come about.
func (r reportView) methods() []string {
	var out []string
	if r.Ingested < r.Trials {
		out = append(out, r.Sentence("method.throughput", nil))
	}
	if r.Ingested < r.Trials || r.merges() {
		out = append(out, r.Sentence("method.round_trips", nil))
	}
	out = append(out, r.Sentence("method.ranks", nil), r.Sentence("method.failures", nil))
	if r.Ingested > 0 {
		out = append(out, r.Sentence("method.ingested", nil))
	}
	if r.Rounds > 0 && r.Ingested < r.Trials {
		out = append(out, r.Sentence("method.order", text.Args{"Seed": r.Campaign.Seed}))
	}
	for i := range r.Tests {
		t := testView{&r.Tests[i], r.Catalogue}
		for _, m := range t.timings() {
			out = append(out, t.Sentence("method.timed", text.Args{"Label": t.label(), "Method": m}))
		}
	}
	return out
}

// merges reports whether any row has histograms of its trials together.
func (r reportView) merges() bool {
	return slices.ContainsFunc(r.Tests, func(t Test) bool {
		return slices.ContainsFunc(t.Rows, func(row Row) bool {
			for _, h := range row.histograms {
				if h != nil {
					return true
				}
			}
			return false
		})
	})
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
