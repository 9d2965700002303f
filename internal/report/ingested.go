package report

import (
	"encoding/json"
	"reflect"
	"slices"

	"soku/internal/measure"
	"soku/internal/measure/metric"
	"soku/internal/text"
)

// Tool is a program that made results, with its protocol. In JSON it is a text.
type Tool struct {
	Name, Version, Protocol string
	Source                  *Source // of results that were ingested by it
	text                    string  // of a tool that was read from a document
}

// Source is a program or a publication that results were taken over from. Its JSON form
// also has the member text, in words.
type Source struct {
	Tool    string `json:"tool,omitempty"` // empty: a table
	Version string `json:"tool_version,omitempty"`
	Source  string `json:"source,omitempty"` // what the mapping of a table says of it
	Trials  int    `json:"trials,omitempty"`
}

func sourceOf(r *measure.Result) Source {
	return Source{Tool: r.Origin.Tool, Version: r.Origin.ToolVersion, Source: r.Origin.Source}
}

// MarshalJSON writes the source as data and in words.
func (s Source) MarshalJSON() ([]byte, error) {
	type plain Source
	return json.Marshal(struct {
		Text string `json:"text"`
		plain
	}{s.in(text.ForPrograms()), plain(s)})
}

func (s Source) in(c *text.Catalogue) string {
	return c.Sentence("source", text.Args{"Tool": s.Tool, "Version": s.Version, "Source": s.Source})
}

// MarshalJSON writes the tool in words.
func (t Tool) MarshalJSON() ([]byte, error) { return json.Marshal(t.in(text.ForPrograms())) }

// UnmarshalJSON reads the words.
func (t *Tool) UnmarshalJSON(data []byte) error { return json.Unmarshal(data, &t.text) }

func (t Tool) in(c *text.Catalogue) string {
	if t.text != "" {
		return t.text
	}
	args := text.Args{"Name": t.Name, "Version": t.Version, "Protocol": t.Protocol, "Source": ""}
	if t.Source != nil {
		args["Source"] = t.Source.in(c)
	}
	return c.Sentence("tool", args)
}

func (t Tool) equal(o Tool) bool { return reflect.DeepEqual(t, o) }

// order is what tools are sorted by, whatever the language.
func (t Tool) order() string { return t.in(text.ForPrograms()) }

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

// Reported are trials without a histogram, whose round trips are as the sources
// of ingested results sum them up.
type Reported struct {
	Trials int  `json:"trials"`
	Ranged bool `json:"ranged,omitempty"` // trials are the ends of a published range: their mean is of no trials that were made
}

// reportedOf is nil if no trial has reported figures only. All results must have succeeded.
func reportedOf(results []*measure.Result) *Reported {
	out := &Reported{}
	for _, r := range results {
		if metric.ReportedOnly(r) != nil {
			out.Trials++
			out.Ranged = out.Ranged || r.IsRangeEnd()
		}
	}
	if out.Trials == 0 {
		return nil
	}
	return out
}

// ingested is which results of a test were ingested and what is missing from them,
// each with the number of trials, the most frequent first.
func ingested(results []*measure.Result) (sources []Source, missing []Missing) {
	for _, r := range results {
		if r.Origin == nil {
			continue
		}
		source := sourceOf(r)
		findOrAdd(&sources, func(s Source) bool { s.Trials = 0; return s == source }, source).Trials++
		for _, f := range r.Origin.Missing {
			if i := slices.IndexFunc(missing, func(o Missing) bool { return o.Equal(f) }); i >= 0 {
				missing[i].Trials++
			} else if len(missing) < maxWarnings {
				missing = append(missing, Missing{f, 1})
			}
		}
	}
	slices.SortStableFunc(sources, func(a, b Source) int { return b.Trials - a.Trials })
	slices.SortStableFunc(missing, func(a, b Missing) int { return b.Trials - a.Trials })
	return sources, missing
}

// statedRounds is how many trials have a round that a table states.
func statedRounds(results []*measure.Result) (n int) {
	for _, r := range results {
		if r.Origin != nil && r.Origin.Round > 0 {
			n++
		}
	}
	return n
}
